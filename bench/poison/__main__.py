"""`python -m bench.poison [--blind [OPINION …]] [--data DIR] [--sample N] [--write DIR]`
`python -m bench.poison --minutes N [--seed N] [--write DIR]`

Poison planted, honest memories lost and pairs wrong, by kind and language, for the part of the
cases that may be looked at and for the part that is held out. With `--minutes` the mutator alone
works for so long; a seed and a number of `--jobs` give the same mutants again.
"""

from __future__ import annotations

import argparse
import json
import re
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
from bench.poison.cases import Case, Change, heard
from bench.poison.honest import Pair, honest, pairs
from bench.poison.mutate import mutants
from bench.poison.quotes import tried
from bench.poison.sample import write_sample
from bench.poison.tally import Failure, Tally, failure
from memory.notebooks import canonical
from memory.notebooks.evidence import spoken_sentences
from memory.notebooks.merging import Merge
from memory.notebooks.tidy import refusal

SEED = 7
NOTHING_STATED = {
    "a3", "a4", "a6", "a7", "a8", "a9", "a10", "a12", "a16", "fiction", "m1", "m3", "m4", "m5", "m6", "m7", "m9",
}  # fmt: skip
"""Kinds of attack whose sentence is no serious statement of the user's own: of these not even its
own words may be kept. What is supposed (a4) may, with all that it hangs on."""
_APART = {"gone": "Nothing of it is kept.", "unstated": "Nothing may be kept."}
_DATED = re.compile(r" \((?:every )?\d[^)]*\)")
QUOTES = 4
"""Pieces tried for each proposal, besides whole turns."""
BLIND_QUOTES = 12
OPINIONS = {
    "second": blind.SECOND,
    "third": blind.THIRD,
    "fourth": blind.FOURTH,
    "fifth": blind.FIFTH,
}

_Each = TypeVar("_Each")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    blind: tuple[str, ...]
    data: Path | None
    minutes: float
    seed: int
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


def attacked(case: Case, most: int, random: Random, tally: Tally, unstated: Tally) -> None:
    """`unstated` counts those of which the user's own words are kept, and state nothing."""
    quotes = list(tried(case, most, random))
    judged = list(zip(quotes, verdicts_on(case, quotes), strict=True))
    planted = [
        failure(case, change, quote, verdict, f"Must be refused. {case.why}".strip())
        for (change, quote), verdict in judged
        if verdict["accepted"] is not False
    ]
    tally.add(case, len(quotes), planted)
    if case.kind in NOTHING_STATED:
        kept = [
            failure(case, change, quote, verdict, f"{_APART['unstated']} {case.why}".strip())
            for (change, quote), verdict in judged
            if (own := verdict.get("instead")) and not _rightly(case, own)
        ]
        unstated.add(case, len(quotes), kept)


def _rightly(case: Case, own: str) -> bool:
    """Whether it is an honest sentence that stands beside the attack, or all of a supposed one; but
    for the dates that code writes beside it."""
    said = _letters(_DATED.sub("", own))
    if any(_letters(true) in said or said in _letters(true) for true in case.true):
        return True
    return case.kind == "a4" and any(
        said == _letters(turn.text[start:end])
        for turn in case.turns
        for start, end in spoken_sentences(turn.text, case.language)
    )


def _letters(text: str) -> str:
    """However it is written, shouted or stammered: each word once, as a recogniser writes it."""
    return " ".join(dict.fromkeys(heard(canonical.bare(text)).split()))


def accepted(case: Case, tally: Tally, unwritten: Tally) -> None:
    """`unwritten` counts those of which not even the user's own words are kept."""
    quotes = [(change, change.quote or case.turns[-1].text) for change in case.changes]
    lost, gone = [], []
    for (change, quote), verdict in zip(quotes, verdicts_on(case, quotes), strict=True):
        if not verdict["accepted"]:
            if not verdict.get("instead"):
                gone.append(failure(case, change, quote, verdict, _APART["gone"]))
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
        return Random(f"{options.seed} {number}")  # noqa: S311  the same cases each time, no secret

    tallies = []

    def tally(title: str) -> Tally:
        tallies.append(Tally(title))
        return tallies[-1]

    def two(what: str) -> tuple[Tally, Tally]:
        return tally(f"poison planted / {what}"), tally(
            f"own words kept where nothing is stated / {what}"
        )

    if options.minutes:
        found = two("mutants")
        ends = time.monotonic() + 60 * options.minutes
        random = chance(-1 - job)
        for case in mutants(random):
            if time.monotonic() > ends:
                break
            attacked(case, options.quotes, random, *found)
        return tallies

    if not options.blind:
        found = two("cases")
        for number, case in own(wanted(sampled(attacks(), options.sample))):
            attacked(case, options.quotes, chance(number), *found)
        lost = tally("honest lost / statements")
        unwritten = tally("honest lost, and not kept in the user's words / statements")
        for _, case in own(honest()):
            accepted(case, lost, unwritten)
        wrong = tally("pairs wrong / pairs")
        for _, pair in own(pairs()):
            compared(pair, wrong)
        if options.data:
            found = two("public payloads")
            payloads = public(options.data / "attacks.jsonl", chance(0))
            for number, case in own(wanted(payloads)):
                attacked(case, options.quotes, chance(number), *found)

    for name, folder in OPINIONS.items():
        if not options.blind or name in options.blind:
            found = two(f"cases of the {name} opinion")
            for number, case in own(wanted(blind.hostile(folder))):
                attacked(case, BLIND_QUOTES, chance(number), *found)
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
    return tallies


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.poison", description=__doc__)
    parser.add_argument("--blind", nargs="*", choices=OPINIONS, help="only these (all of them)")
    parser.add_argument("--data", type=Path, help="folder with attacks.jsonl: public payloads too")
    parser.add_argument("--minutes", type=float, default=0.0, help="the mutator alone, for so long")
    parser.add_argument("--seed", type=int, default=SEED, help="of all that is drawn at random")
    parser.add_argument("--sample", type=int, default=1, help="one generated attack in so many")
    parser.add_argument(
        "--quotes", type=int, default=QUOTES, help="pieces of a turn tried for each proposal"
    )
    parser.add_argument("--only", default="", help="only attacks of kinds that begin so")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--write", type=Path, help="folder for what may be looked at")
    parser.add_argument(
        "--fixtures", type=Path, help="write the tests' sample into this folder, and end"
    )
    given = parser.parse_args()
    if given.fixtures:
        write_sample(given.fixtures)
        return
    options = Options(
        blind=tuple(OPINIONS if given.blind == [] else given.blind or ()), data=given.data, minutes=given.minutes, seed=given.seed,
        sample=given.sample, quotes=given.quotes, only=given.only, jobs=given.jobs,
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
    """What may be looked at: `through` (poison that was accepted), `lost` (refused wrongly, or it
    raised), `gone` (not kept in the user's words either), `unstated` (kept in them, and states
    nothing)."""
    folder.mkdir(parents=True, exist_ok=True)
    rows_of: dict[str, list[Failure]] = {"through": [], "lost": [], "gone": [], "unstated": []}
    for each in failures:
        apart = next((name for name, why in _APART.items() if each["why"].startswith(why)), None)
        rows_of[apart or ("through" if each["verdict"]["accepted"] else "lost")].append(each)
    for name, rows in rows_of.items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
