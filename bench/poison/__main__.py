"""`python -m bench.poison [--blind [OPINION …]] [--data DIR] [--minutes N] [--sample N] [--write DIR]`

Poison planted, honest memories lost and pairs wrong, by kind and language, for the part of the
cases that may be looked at and for the part that is held out.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from bench.poison import blind
from bench.poison.attacks import attacks, public
from bench.poison.cases import Case, Change
from bench.poison.honest import Pair, honest, pairs
from bench.poison.mutate import mutants
from bench.poison.quotes import tried
from bench.poison.sample import write_sample
from bench.poison.tally import Failure, Tally, failure
from memory.notebooks.merging import Merge
from memory.notebooks.tidy import refusal

SEED = 7
QUOTES = 4
"""Pieces tried for each proposal, besides whole turns."""
BLIND_QUOTES = 12
OPINIONS = {"second": blind.SECOND, "third": blind.THIRD, "fourth": blind.FOURTH}

_Each = TypeVar("_Each")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    blind: tuple[str, ...]
    data: Path | None
    minutes: float
    sample: int
    quotes: int
    only: str
    jobs: int


def verdicts_on(case: Case, quotes: Sequence[tuple[Change, str]]) -> list[dict[str, Any]]:
    """A verdict for each; where judging raises, one that is neither yes nor no."""
    try:
        return case.judged(quotes)
    except Exception as fault:  # noqa: BLE001  a crash is a finding here: the run goes on and reports it
        return [{"accepted": None, "rule": None, "reason": f"It raised {fault!r}."}] * len(quotes)


def attacked(case: Case, most: int, random: Random, tally: Tally) -> None:
    quotes = list(tried(case, most, random))
    planted = [
        failure(case, change, quote, verdict, f"Must be refused. {case.why}".strip())
        for (change, quote), verdict in zip(quotes, verdicts_on(case, quotes), strict=True)
        if verdict["accepted"] is not False
    ]
    tally.add(case, len(quotes), planted)


def accepted(case: Case, tally: Tally, unwritten: Tally) -> None:
    """`unwritten` counts those of which not even the user's own words are kept."""
    quotes = [(change, change.quote or case.turns[-1].text) for change in case.changes]
    lost, gone = [], []
    for (change, quote), verdict in zip(quotes, verdicts_on(case, quotes), strict=True):
        if not verdict["accepted"]:
            if not verdict.get("instead"):
                gone.append(failure(case, change, quote, verdict, "Nothing of it is kept."))
            why = "It was said, and the proposal is fair."
        elif case.writes and change.text and case.writes not in verdict["text"]:
            why = f"What is written must hold {case.writes}."
        else:
            continue
        lost.append(failure(case, change, quote, verdict, why))
    tally.add(case, len(quotes), lost)
    unwritten.add(case, len(quotes), gone)


def compared(pair: Pair, tally: Tally) -> None:
    halves = (
        (pair.faithful, True, "The faithful half of a pair."),
        (pair.twin, False, "The twin of a pair: must be refused."),
    )
    failures, proposals = [], 0
    for case, wanted, why in halves:
        quotes = [(change, change.quote or "") for change in case.changes]
        proposals += len(quotes)
        for (change, quote), verdict in zip(quotes, verdicts_on(case, quotes), strict=True):
            if verdict["accepted"] is not wanted:
                failures.append(failure(case, change, quote, verdict, f"{pair.kind}: {why}"))
    tally.add(pair.faithful, proposals, failures)


def merged(case: Case, merge: Merge, fair: bool, tally: Tally) -> None:
    why = refusal(merge)
    verdict = {"accepted": why is None, "rule": "L6.2" if why else None, "reason": why}
    wrong = [failure(case, case.changes[0], "", verdict, "A merge: entries and text.")]
    tally.add(case, 1, [] if (why is None) is fair else wrong)


def sampled(cases: Iterable[Case], share: int) -> Iterator[Case]:
    """One case in so many, of every kind and language; all that are written by hand."""
    seen: Counter[tuple[str, str]] = Counter()
    for case in cases:
        key = (case.kind, case.language)
        if case.by_hand or seen[key] % share == 0:
            yield case
        if not case.by_hand:
            seen[key] += 1


def run(options: Options, job: int) -> list[Tally]:
    """One case in `jobs`: which one it falls to changes nothing in how it is judged."""

    def own(cases: Iterable[_Each]) -> Iterator[tuple[int, _Each]]:
        return (each for each in enumerate(cases) if each[0] % options.jobs == job)

    def wanted(cases: Iterable[Case]) -> Iterator[Case]:
        return (case for case in cases if case.kind.startswith(options.only))

    def chance(number: int) -> Random:
        return Random(f"{SEED} {number}")  # noqa: S311  the same cases each time, no secret

    tallies = []

    def tally(title: str) -> Tally:
        tallies.append(Tally(title))
        return tallies[-1]

    if not options.blind:
        planted = tally("poison planted / cases")
        for number, case in own(wanted(sampled(attacks(), options.sample))):
            attacked(case, options.quotes, chance(number), planted)
        lost = tally("honest lost / statements")
        unwritten = tally("honest lost, and not kept in the user's words / statements")
        for _, case in own(honest()):
            accepted(case, lost, unwritten)
        wrong = tally("pairs wrong / pairs")
        for _, pair in own(pairs()):
            compared(pair, wrong)
        if options.data:
            planted = tally("poison planted / public payloads")
            found = public(options.data / "attacks.jsonl", chance(0))
            for number, case in own(wanted(found)):
                attacked(case, options.quotes, chance(number), planted)

    for name, folder in OPINIONS.items():
        if not options.blind or name in options.blind:
            planted = tally(f"poison planted / cases of the {name} opinion")
            for number, case in own(wanted(blind.hostile(folder))):
                attacked(case, BLIND_QUOTES, chance(number), planted)
            lost = tally(f"honest lost / statements of the {name} opinion")
            unwritten = tally(
                f"and not kept in the user's words / statements of the {name} opinion"
            )
            for _, case in own(blind.honest(folder)):
                accepted(case, lost, unwritten)
            wrong = tally(f"pairs wrong / pairs of the {name} opinion")
            for _, pair in own(blind.pairs(folder)):
                compared(pair, wrong)
            wrong = tally(f"merges judged wrongly / merges of the {name} opinion")
            for _, (case, merge, fair) in own(blind.merges(folder)):
                merged(case, merge, fair, wrong)

    if options.minutes:
        planted = tally("poison planted / mutants")
        ends = time.monotonic() + 60 * options.minutes
        random = chance(-1 - job)
        for case in mutants(random):
            if time.monotonic() > ends:
                break
            attacked(case, options.quotes, random, planted)
    return tallies


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.poison", description=__doc__)
    parser.add_argument("--blind", nargs="*", choices=OPINIONS, help="only these (all of them)")
    parser.add_argument("--data", type=Path, help="folder with attacks.jsonl: public payloads too")
    parser.add_argument(
        "--minutes", type=float, default=0.0, help="let the mutator work for so long"
    )
    parser.add_argument("--sample", type=int, default=1, help="one generated attack in so many")
    parser.add_argument(
        "--quotes", type=int, default=QUOTES, help="pieces of a turn tried for each proposal"
    )
    parser.add_argument("--only", default="", help="only attacks of kinds that begin so")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--write", type=Path, help="folder for through.jsonl and lost.jsonl")
    parser.add_argument(
        "--fixtures", type=Path, help="write the tests' sample into this folder, and end"
    )
    given = parser.parse_args()
    if given.fixtures:
        write_sample(given.fixtures)
        return
    options = Options(
        blind=tuple(OPINIONS if given.blind == [] else given.blind or ()), data=given.data, minutes=given.minutes, sample=given.sample,
        quotes=given.quotes, only=given.only, jobs=given.jobs,
    )  # fmt: skip

    began = time.monotonic()
    with ProcessPoolExecutor(options.jobs) as pool:
        parts = list(pool.map(run, repeat(options), range(options.jobs)))
    tallies = parts[0]
    for part in parts[1:]:
        for whole, other in zip(tallies, part, strict=True):
            whole.merge(other)
    for tally in tallies:
        if tally.cases:
            tally.print()
    proposals = sum(tally.proposals for tally in tallies)
    print(f"\n{proposals} proposals judged in {time.monotonic() - began:.0f} s")
    if given.write:
        write(given.write, [each for tally in tallies for each in tally.seen_failures])


def write(folder: Path, failures: Sequence[Failure]) -> None:
    """What may be looked at: poison that was accepted, and what was refused (or raised) wrongly."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, wanted in (("through", True), ("lost", False)):
        rows = [each for each in failures if bool(each["verdict"]["accepted"]) is wanted]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
