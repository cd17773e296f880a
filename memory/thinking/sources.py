"""What a thought may rest on: the last discoveries and today's journal, without earlier thoughts.

Whether there is anything new is decided here, for free (m36).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import blake2b

from memory.notebooks.review import as_line
from memory.notebooks.tokens import shortened, tokens
from memory.records import JournalRead

DISCOVERIES = 5
"""So many are seen, the latest."""
TODAY_AT_MOST = 20
ENTRY_TOKENS = 150
MATERIAL_TOKENS = 1_300
EMPTY = "(nothing)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """`discoveries` oldest first; `today` are the other entries of the day, in their order."""

    discoveries: tuple[JournalRead, ...]
    today: tuple[JournalRead, ...]

    @property
    def entries(self) -> tuple[JournalRead, ...]:
        return (*self.discoveries, *self.today)

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(map(key_of, self.entries))


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What the model sees: `shown` by number, from 1."""

    discoveries: str
    journal: str
    shown: tuple[JournalRead, ...]


def key_of(entry: JournalRead) -> str:
    """Stands for what an entry says, wherever in its file it stands."""
    said = "\0".join((entry.day.isoformat(), entry.title, " ".join(entry.text.split())))
    return blake2b(said.encode("utf-8", "replace"), digest_size=6).hexdigest()


def text_key(text: str) -> str:
    """Stands for a thought's text: the user may take its tag away, and it stays a thought."""
    said = " ".join(text.split())
    return blake2b(said.encode("utf-8", "replace"), digest_size=6).hexdigest()


def sources(
    latest: Sequence[JournalRead],
    today: Sequence[JournalRead],
    thoughts: Collection[str] = (),
) -> Sources:
    """`latest` are discoveries, newest first; `today` the day's entries, as they stand.
    `thoughts` are keys of texts: what thinking wrote itself is never its input."""
    discoveries = tuple(
        each for each in reversed(latest[:DISCOVERIES]) if text_key(each.text) not in thoughts
    )
    seen = set(map(key_of, discoveries))
    other = [
        each
        for each in today
        if each.kind not in ("insight", "discovery")
        and key_of(each) not in seen
        and text_key(each.text) not in thoughts
    ]
    return Sources(discoveries=discoveries, today=tuple(other[-TODAY_AT_MOST:]))


def material(found: Sources, today: date) -> Material:
    """The entries as lines that nothing in them can end; of too many, the oldest of today's are
    left out first."""
    discoveries, others = list(found.discoveries), list(found.today)
    while True:
        shown = (*discoveries, *others)
        texts = [_shown(number, entry, today) for number, entry in enumerate(shown, start=1)]
        count = len(discoveries)
        if sum(map(tokens, texts)) <= MATERIAL_TOKENS or len(shown) <= 1:
            return Material(
                discoveries="\n".join(texts[:count]) or EMPTY,
                journal="\n".join(texts[count:]) or EMPTY,
                shown=shown,
            )
        (others or discoveries).pop(0)


def _shown(number: int, entry: JournalRead, today: date) -> str:
    when = "" if entry.day == today else f"{entry.day.isoformat()} "
    if entry.time is not None:
        when += f"{entry.time:%H:%M} "
    lines = [f"{when}{as_line(entry.title)}".strip(), *map(as_line, entry.text.splitlines())]
    whole = shortened("\n".join(line for line in lines if line), ENTRY_TOKENS)
    return "\n".join([f"{number}.", *(f"| {line}" for line in whole.splitlines())])
