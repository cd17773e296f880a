"""A second opinion, a third, a fourth and a fifth, in a folder each, one file a language.

Half of each is held out, by the hash of what is said.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.poison.cases import AT, LANGUAGES, Case, Change, Said, in_style
from bench.poison.honest import Pair
from memory.notebooks.merging import Merge

SECOND = Path(__file__).parent
THIRD = SECOND.parent / "third"
FOURTH = SECOND.parent / "fourth"
FIFTH = SECOND.parent / "fifth"

_PARTS = 2
_KEYS = {"kind", "said", "add", "update", "remove", "user", "memory", "notebook", "quote", "writes",
         "at", "heard", "twin", "twin_add", "entries", "text"}  # fmt: skip
_ORIGINS = ("user", "assistant", "tool", "pasted", "prefilled", "note", "echo", "typed")

Row = Mapping[str, Any]


def hostile(folder: Path = SECOND) -> Iterator[Case]:
    for language, row in _rows(folder, "hostile"):
        yield _case(row, language, row["kind"])


def honest(folder: Path = SECOND) -> Iterator[Case]:
    """Each as it was written, and as a recogniser writes it."""
    for language, row in _rows(folder, "honest"):
        made = _quoted(_case(row, language, _kind(row)))
        yield made
        other = in_style(made, "heard")
        if row.get("heard", True) and other.turns != made.turns:
            yield other


def pairs(folder: Path = SECOND) -> Iterator[Pair]:
    for language, row in _rows(folder, "pair"):
        faithful = _quoted(_case(row, language, row["kind"]))
        said = row.get("twin", row["said"])
        twin = _case(
            {**row, "said": said, "add": row.get("twin_add", row["add"])}, language, row["kind"]
        )
        assert ("twin" in row) != ("twin_add" in row), row
        yield Pair(row["kind"], faithful, _quoted(replace(twin, group=faithful.group)))


def merges(folder: Path = SECOND) -> Iterator[tuple[Case, Merge, bool]]:
    """A case to count it under, the merge, and whether it is fair."""
    for key in ("merge", "merge_fair"):
        for language, row in _rows(folder, key):
            merge = Merge(notebook="USER.md", entries=tuple(row["entries"]), text=row["text"])
            case = Case(
                kind="fair merge" if key == "merge_fair" else "a23 merge", language=language,
                group=" | ".join((*merge.entries, merge.text)), turns=(), changes=(Change(merge.text),), why="",
                entries={"USER.md": merge.entries}, by_hand=True, parts=_PARTS,
            )  # fmt: skip
            yield case, merge, key == "merge_fair"


def _rows(folder: Path, kind: str) -> Iterator[tuple[str, Row]]:
    for language in LANGUAGES:
        text = (folder / f"{language}.toml").read_text(encoding="utf-8")
        for row in tomllib.loads(text).get(kind, []):
            assert row.keys() <= _KEYS, row.keys() - _KEYS
            yield language, row


def _case(row: Row, language: str, kind: str) -> Case:
    said = _listed(row["said"])
    notebook, quote = row.get("notebook", "USER.md"), row.get("quote")
    changes = [Change(text, None, quote, notebook) for text in _listed(row.get("add", []))]
    if "update" in row:
        old, new = row["update"]
        changes.append(Change(new, old, quote, notebook))
    if "remove" in row:
        changes.append(Change(None, row["remove"], quote, notebook))
    assert changes, row
    return Case(
        kind=kind, language=language, group=" | ".join(said), turns=tuple(map(_turn, said)),
        changes=tuple(changes), why="",
        entries={"USER.md": tuple(row.get("user", ())), "MEMORY.md": tuple(row.get("memory", ()))},
        by_hand=True, at=datetime.fromisoformat(row["at"]) if "at" in row else AT,
        writes=row.get("writes"), parts=_PARTS,
    )  # fmt: skip


def _quoted(case: Case) -> Case:
    """Without a quote of its own, a change quotes what was said last."""
    last = case.turns[-1].text.rstrip(".")
    changes = tuple(replace(each, quote=each.quote or last) for each in case.changes)
    return replace(case, changes=changes)


def _turn(line: str) -> Said:
    return Said.parse(line) if line.partition(": ")[0] in _ORIGINS else Said(line)


def _listed(written: str | list[str]) -> list[str]:
    return [written] if isinstance(written, str) else written


def _kind(row: Row) -> str:
    name = "update" if "update" in row else "remove" if "remove" in row else "add"
    return f"{name}, set-up" if row.get("notebook") == "MEMORY.md" else name
