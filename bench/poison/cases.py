"""A case: what was said, what is proposed, and whether it may be written.

The sentences are in `<language>/*.toml`; each case goes through `memory.notebooks.judge` as
`jarvis judge` takes it.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from memory.notebooks.judge import judged

HERE = Path(__file__).parent
LANGUAGES = ("en", "de", "es")
AT = datetime.fromisoformat("2026-12-02T10:00:00+01:00")
"""A Wednesday: when the first turn of every case begins."""

HIDDEN_PARTS = 3
"""One part of so many is held out: whoever mends the validator does not see it."""


@dataclass(frozen=True, slots=True)
class Said:
    """One turn: `origin` as in `memory.records.Turn`; "assistant" is what Jarvis said."""

    text: str
    speaker: str = "user"
    origin: str = "spoken"

    @classmethod
    def parse(cls, written: str) -> Said:
        """From "user: …", "assistant: …", or an origin, as in "pasted: …"."""
        who, _, text = written.partition(": ")
        if who in ("user", "assistant"):
            return cls(text, who)
        if who == "tool":
            return cls(text, "assistant", "tool")
        return cls(text, "user", who)


@dataclass(frozen=True, slots=True)
class Change:
    """A proposal. Without a quote, an attack tries every quote it can find."""

    text: str | None
    entry: str | None = None
    quote: str | None = None
    notebook: str = "USER.md"

    @property
    def operation(self) -> str:
        if self.entry is None:
            return "add"
        return "remove" if self.text is None else "update"

    def as_json(self, quote: str) -> dict[str, Any]:
        return {
            "operation": self.operation,
            "notebook": self.notebook,
            "entry": self.entry,
            "text": self.text,
            "quote": quote,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """`group` names the sentence that it was made from: what is held out is held out by group, one
    in `parts`. `writes` must stand in what is written. The first turn begins at `at`. `true` are honest
    sentences beside an attack: the user's own words of these may be kept."""

    kind: str
    language: str
    group: str
    turns: tuple[Said, ...]
    changes: tuple[Change, ...]
    why: str
    entries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_hand: bool = False
    at: datetime = AT
    writes: str | None = None
    parts: int = HIDDEN_PARTS
    true: tuple[str, ...] = ()

    @property
    def hidden(self) -> bool:
        digest = hashlib.sha256(f"{self.language} {self.group}".encode()).digest()
        return digest[0] % self.parts == 0

    def notebooks(self) -> dict[str, str]:
        return {
            name: "".join(f"- {entry}\n" for entry in listed)
            for name, listed in self.entries.items()
        }

    def turns_as_json(self) -> list[dict[str, Any]]:
        turns, at = [], self.at
        for index, said in enumerate(self.turns):
            ended = at + timedelta(seconds=3)
            turns.append(
                {
                    "conversation": "c1",
                    "index": index,
                    "speaker": said.speaker,
                    "text": said.text,
                    "language": self.language,
                    "began_at": at.isoformat(),
                    "ended_at": ended.isoformat(),
                    "origin": said.origin,
                    "interrupted": False,
                }
            )
            at = ended + timedelta(seconds=1)
        return turns

    def judged(self, quotes: Sequence[tuple[Change, str]]) -> list[dict[str, Any]]:
        """The verdict on each change with each quote."""
        line = {
            "turns": self.turns_as_json(),
            "notebooks": self.notebooks(),
            "proposals": [change.as_json(quote) for change, quote in quotes],
        }
        return judged(json.dumps(line, ensure_ascii=False))


@cache
def table(language: str, name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / language / f"{name}.toml").read_text(encoding="utf-8"))


def row_case(row: Mapping[str, Any], language: str, group: str) -> Case:
    """A hand-written row: `kind`, `turns`, `add`, `update`, `remove`, `quote`, `user`, `memory`."""
    notebook = row.get("notebook", "USER.md")
    quote = row.get("quote")
    adds = [row["add"]] if isinstance(row.get("add"), str) else row.get("add", [])
    removes = [row["remove"]] if isinstance(row.get("remove"), str) else row.get("remove", [])
    updates = row.get("update", [])
    if updates and isinstance(updates[0], str):
        updates = [updates]
    changes = [
        *(Change(text, None, quote, notebook) for text in adds),
        *(Change(new, old, quote, notebook) for old, new in updates),
        *(Change(None, old, quote, notebook) for old in removes),
    ]
    assert changes, row
    entries = {"USER.md": tuple(row.get("user", ())), "MEMORY.md": tuple(row.get("memory", ()))}
    turns = tuple(Said.parse(written) for written in row["turns"])
    return Case(
        kind=row.get("kind", "honest"), language=language, group=group, turns=turns,
        changes=tuple(changes), why=row.get("why", ""), entries=entries, by_hand=True,
    )  # fmt: skip


# As it is heard -------------------------------------------------------------------------

_LOST = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "á": "a", "é": "e", "í": "i", "ó": "o", "ú": "u",
     "ñ": "n", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "¿": "", "¡": ""}
)  # fmt: skip


def written(text: str) -> str:
    """As somebody types it."""
    return text[:1].upper() + text[1:] + ("" if text[-1:] in ".?!" else ".")


def heard(text: str) -> str:
    """As a recogniser writes it: no case, no punctuation, no umlauts or accents."""
    plain = text.translate(_LOST).lower()
    return " ".join("".join(letter for letter in plain if letter not in '.,;:!?"').split())


def in_style(case: Case, style: str) -> Case:
    """The same with the user's spoken turns as they are heard."""
    if style != "heard":
        return case
    turns = tuple(
        replace(said, text=heard(said.text))
        if (said.speaker, said.origin) == ("user", "spoken")
        else said
        for said in case.turns
    )
    changes = tuple(
        replace(change, quote=heard(change.quote)) if change.quote else change
        for change in case.changes
    )
    return replace(case, turns=turns, changes=changes)
