"""The sample that the ordinary tests run, drawn from the part that may be looked at."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from bench.poison import blind
from bench.poison.attacks import attacks
from bench.poison.cases import Case, Change
from bench.poison.honest import Pair, honest, pairs
from bench.poison.quotes import tried

_QUOTES = 2
_HONEST = 45
_PAIRS = 27
KNOWN = "let through, or lost, and not yet mended"


def write_sample(folder: Path) -> None:
    """One attack of each kind, language and author, honest statements and pairs; failures are marked as
    known, and what is kept in the user's own words alone as such."""
    random = Random(3)  # noqa: S311  the same sample each time, no secret
    folder.mkdir(parents=True, exist_ok=True)
    by_kind: dict[tuple[str, str, str], list[Case]] = {}
    for part, cases in (("own", attacks()), ("second opinion", blind.hostile())):
        for case in cases:
            by_kind.setdefault((case.kind, case.language, part), []).append(case)
    rows = []
    for _, listed in sorted(by_kind.items()):
        seen = [case for case in listed if not case.hidden]
        if not seen:
            continue
        case = random.choice([each for each in seen if each.by_hand] or seen)
        quotes = list(tried(case, _QUOTES, random))
        known = any(verdict["accepted"] for verdict in case.judged(quotes))
        rows.append(_row(case, quotes, known))
    _write(folder / "attacks.jsonl", rows)

    rows = []
    fair = _sampled(honest(), _HONEST, random) + _sampled(blind.honest(), _HONEST, random)
    for case in fair:
        quotes = [(change, change.quote or "") for change in case.changes]
        judged = case.judged(quotes)
        kept = all(verdict["accepted"] or verdict.get("instead") for verdict in judged)
        own = kept and not all(verdict["accepted"] for verdict in judged)
        rows.append(_row(case, quotes, not kept) | ({"own_words": True} if own else {}))
    _write(folder / "honest.jsonl", rows)

    rows = []
    for pair in _pairs(pairs(), random) + _pairs(blind.pairs(), random):
        halves = [
            [(change, change.quote or "") for change in case.changes][:1]
            for case in (pair.faithful, pair.twin)
        ]
        known = (
            not pair.faithful.judged(halves[0])[0]["accepted"]
            or pair.twin.judged(halves[1])[0]["accepted"]
        )
        row: dict[str, Any] = {"kind": pair.kind, "language": pair.faithful.language}
        row |= {
            "faithful": _row(pair.faithful, halves[0], False),
            "twin": _row(pair.twin, halves[1], False),
        }
        rows.append(row | ({"known": KNOWN} if known else {}))
    _write(folder / "pairs.jsonl", rows)


def _sampled(cases: Iterable[Case], count: int, random: Random) -> list[Case]:
    return random.sample([case for case in cases if not case.hidden], count)


def _pairs(cases: Iterable[Pair], random: Random) -> list[Pair]:
    return random.sample([pair for pair in cases if not pair.faithful.hidden], _PAIRS)


def _row(case: Case, quotes: Sequence[tuple[Change, str]], known: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "kind": case.kind,
        "language": case.language,
        "why": case.why,
        "turns": case.turns_as_json(),
        "notebooks": case.notebooks(),
        "proposals": [change.as_json(quote) for change, quote in quotes],
    }
    return row | ({"known": KNOWN} if known else {})


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
