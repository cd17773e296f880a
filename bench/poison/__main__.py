"""`python -m bench.poison [--data DIR] [--minutes N] [--sample N] [--write DIR]`

Poison planted, honest memories lost and pairs wrong, by kind and language, for the part of the
cases that may be looked at and for the part that is held out.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from bench.poison.attacks import attacks, public
from bench.poison.cases import LANGUAGES, Case, Change
from bench.poison.honest import honest, pairs
from bench.poison.mutate import mutants
from bench.poison.quotes import tried
from bench.poison.sample import write_sample

SEED = 7
QUOTES = 4
"""Pieces tried for each proposal, besides whole turns."""


class Tally:
    """Cases and failures by kind and language, the held-out part apart."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.cases: Counter[tuple[str, str, bool]] = Counter()
        self.failed: Counter[tuple[str, str, bool]] = Counter()
        self.seen_failures: list[dict[str, Any]] = []
        self.proposals = 0

    def add(self, case: Case, failures: Sequence[dict[str, Any]]) -> None:
        key = (case.kind, case.language, case.hidden)
        self.cases[key] += 1
        if failures:
            self.failed[key] += 1
            if not case.hidden:
                self.seen_failures += failures

    def total(self, *, hidden: bool | None = None, language: str | None = None) -> tuple[int, int]:
        keys = [
            key for key in self.cases
            if (hidden is None or key[2] == hidden) and (language is None or key[1] == language)
        ]  # fmt: skip
        return sum(self.failed[key] for key in keys), sum(self.cases[key] for key in keys)

    def print(self) -> None:
        print(f"\n{self.title}")
        print(
            f"{'kind':16} "
            + " ".join(
                f"{language + part:>13}" for language in LANGUAGES for part in ("", " held out")
            )
        )
        for kind in sorted({key[0] for key in self.cases}, key=_kind_order):
            cells = [
                f"{self.failed[kind, language, hidden]}/{self.cases[kind, language, hidden]}"
                for language in LANGUAGES for hidden in (False, True)
            ]  # fmt: skip
            print(f"{kind:16} " + " ".join(f"{cell:>13}" for cell in cells))
        parts = [
            (part, self.total(hidden=hidden))
            for part, hidden in (("seen", False), ("held out", True), ("all", None))
        ]
        for part, (failed, total) in parts:
            print(f"{part}: {failed} of {total} ({100 * failed / max(1, total):.2f} %)")


def _kind_order(kind: str) -> tuple[str, int, str]:
    digits = "".join(letter for letter in kind if letter.isdigit())
    return kind.rstrip("0123456789"), int(digits or 0) if len(digits) < 4 else 0, kind


def failure(
    case: Case, change: Change, quote: str, verdict: dict[str, Any], why: str
) -> dict[str, Any]:
    return {
        "kind": case.kind, "language": case.language, "turns": case.turns_as_json(),
        "notebooks": case.notebooks(), "proposal": change.as_json(quote), "verdict": verdict, "why": why,
    }  # fmt: skip


def verdicts_on(case: Case, quotes: Sequence[tuple[Change, str]]) -> list[dict[str, Any]]:
    """A verdict for each; where judging raises, one that is neither yes nor no."""
    try:
        return case.judged(quotes)
    except Exception as fault:  # noqa: BLE001  a crash is a finding here: the run goes on and reports it
        return [{"accepted": None, "rule": None, "reason": f"It raised {fault!r}."}] * len(quotes)


def attacked(case: Case, most: int, random: Random, tally: Tally) -> None:
    quotes = list(tried(case, most, random))
    verdicts = verdicts_on(case, quotes)
    tally.proposals += len(quotes)
    planted = [
        failure(case, change, quote, verdict, f"Must be refused. {case.why}")
        for (change, quote), verdict in zip(quotes, verdicts, strict=True)
        if verdict["accepted"] is not False
    ]
    tally.add(case, planted[:2])


def accepted(case: Case, tally: Tally) -> None:
    quotes = [(change, change.quote or case.turns[-1].text) for change in case.changes]
    verdicts = verdicts_on(case, quotes)
    tally.proposals += len(quotes)
    lost = [
        failure(case, change, quote, verdict, "It was said, and the proposal is fair.")
        for (change, quote), verdict in zip(quotes, verdicts, strict=True)
        if not verdict["accepted"]
    ]
    tally.add(case, lost)


def sampled(cases: Iterable[Case], share: int) -> Iterator[Case]:
    """One case in so many, of every kind and language; all that are written by hand."""
    seen: Counter[tuple[str, str]] = Counter()
    for case in cases:
        key = (case.kind, case.language)
        if case.by_hand:
            yield case
            continue
        if seen[key] % share == 0:
            yield case
        seen[key] += 1


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.poison", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with attacks.jsonl: public payloads too")
    parser.add_argument(
        "--minutes", type=float, default=0.0, help="let the mutator work for so long"
    )
    parser.add_argument("--sample", type=int, default=1, help="one generated attack in so many")
    parser.add_argument(
        "--quotes", type=int, default=QUOTES, help="pieces of a turn tried for each proposal"
    )
    parser.add_argument("--only", help="only kinds that begin so")
    parser.add_argument("--write", type=Path, help="folder for through.jsonl and lost.jsonl")
    parser.add_argument(
        "--fixtures", type=Path, help="write the tests' sample into this folder, and end"
    )
    options = parser.parse_args()
    if options.fixtures:
        write_sample(options.fixtures)
        return
    random = Random(SEED)  # noqa: S311  the same cases each time, no secret

    poison = Tally("poison planted / cases")
    cases: Iterable[Case] = attacks()
    if options.data:
        cases = itertools.chain(cases, public(options.data / "attacks.jsonl", random))
    for case in sampled(cases, options.sample):
        if not options.only or case.kind.startswith(options.only):
            attacked(case, options.quotes, random, poison)

    mutated = Tally("poison planted / mutants")
    ends = time.monotonic() + 60 * options.minutes
    for case in mutants(random):
        if time.monotonic() > ends:
            break
        attacked(case, options.quotes, random, mutated)

    lost = Tally("honest lost / statements")
    for case in honest():
        accepted(case, lost)

    wrong = Tally("pairs wrong / pairs")
    for pair in pairs():
        faithful, twin = pair.faithful, pair.twin
        halves = [
            (faithful, True, "The faithful half of a pair."),
            (twin, False, "The twin of a pair: must be refused."),
        ]
        failures = []
        for case, wanted, why in halves:
            quotes = [(change, change.quote or "") for change in case.changes]
            for (change, quote), verdict in zip(quotes, verdicts_on(case, quotes), strict=True):
                if verdict["accepted"] is not wanted:
                    failures.append(failure(case, change, quote, verdict, f"{pair.kind}: {why}"))
        wrong.add(faithful, failures)

    for tally in (poison, mutated, lost, wrong):
        if tally.cases:
            tally.print()
    print(f"\n{poison.proposals + mutated.proposals} hostile proposals")
    if options.write:
        options.write.mkdir(parents=True, exist_ok=True)
        twins = [each for each in wrong.seen_failures if each["verdict"]["accepted"]]
        halves_lost = [each for each in wrong.seen_failures if not each["verdict"]["accepted"]]
        _write(
            options.write / "through.jsonl", [*poison.seen_failures, *mutated.seen_failures, *twins]
        )
        _write(options.write / "lost.jsonl", [*lost.seen_failures, *halves_lost])


def _write(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
