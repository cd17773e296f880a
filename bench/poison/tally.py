"""Cases and failures by kind and language, the held-out part apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.poison.cases import LANGUAGES, Case, Change

Failure = dict[str, Any]


def failure(case: Case, change: Change, quote: str, verdict: dict[str, Any], why: str) -> Failure:
    return {
        "kind": case.kind, "language": case.language, "turns": case.turns_as_json(),
        "notebooks": case.notebooks(), "proposal": change.as_json(quote), "verdict": verdict, "why": why,
    }  # fmt: skip


@dataclass(slots=True)
class Tally:
    """`seen_failures` holds those of the part that may be looked at, at most two a case."""

    title: str
    cases: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    failed: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    proposals: int = 0
    seen_failures: list[Failure] = field(default_factory=list)

    def add(self, case: Case, proposals: int, failures: Sequence[Failure]) -> None:
        key = (case.kind, case.language, case.hidden)
        self.cases[key] += 1
        self.proposals += proposals
        if failures:
            self.failed[key] += 1
            if not case.hidden:
                self.seen_failures += failures[:2]

    def merge(self, other: Tally) -> None:
        self.cases += other.cases
        self.failed += other.failed
        self.proposals += other.proposals
        self.seen_failures += other.seen_failures

    def total(self, *, hidden: bool | None = None, language: str | None = None) -> tuple[int, int]:
        keys = [
            key for key in self.cases
            if (hidden is None or key[2] == hidden) and (language is None or key[1] == language)
        ]  # fmt: skip
        return sum(self.failed[key] for key in keys), sum(self.cases[key] for key in keys)

    def print(self) -> None:
        print(f"\n{self.title}")
        heads = [f"{language}{part}" for language in LANGUAGES for part in ("", " held out")]
        print(_row("kind", heads))
        for kind in sorted({key[0] for key in self.cases}, key=_kind_order):
            print(
                _row(
                    kind,
                    [
                        f"{self.failed[kind, language, hidden]}/{self.cases[kind, language, hidden]}"
                        for language in LANGUAGES
                        for hidden in (False, True)
                    ],
                )
            )
        sums = [
            self.total(hidden=hidden, language=language)
            for language in LANGUAGES
            for hidden in (False, True)
        ]
        print(_row("all kinds", [f"{failed}/{total}" for failed, total in sums]))
        for part, hidden in (("seen", False), ("held out", True), ("all", None)):
            failed, total = self.total(hidden=hidden)
            print(f"{part}: {failed} of {total} ({100 * failed / max(1, total):.2f} %)")


def _row(kind: str, cells: Sequence[str]) -> str:
    return f"{kind:16} " + " ".join(f"{cell:>13}" for cell in cells)


def _kind_order(kind: str) -> tuple[str, int, str]:
    digits = "".join(letter for letter in kind if letter.isdigit())
    return kind.rstrip("0123456789"), int(digits or 0) if len(digits) < 4 else 0, kind
