"""What a turn asks plain code to do: forget, search, tell what is known, hang up (V16); and what
nobody here can do, of which a small model would say that it is done."""

from __future__ import annotations

import asyncio
import logging
import tomllib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from string import Template
from typing import Protocol

from memory import (
    OWN_WORDS,
    Hit,
    Memory,
    Request,
    RequestKind,
    Session,
    notes_block,
    picked,
    prompt,
    requested,
    speaks_of_forgetting,
    speaks_of_parting,
)
from memory.errors import AmbiguousEntry, MemoryFault, NoSuchChange
from memory.records import LANGUAGES, Change, Extract, Language, Origin
from voice.reading_out import aloud, is_of_a_day, place
from voice.records import CallEvent, MemoryForgotten, MemoryWritten, NotesFound, Notice, Told
from voice.remembering import Remembering

log = logging.getLogger(__name__)

_WORDS = tomllib.loads(prompt("requests.toml"))

LAST_SAVED_TURNS = 3
"""“Forget that” means what was saved, for so many turns of the user's; later it is an idiom."""

READ_OUT_ENTRIES = 6
"""About half a minute of speech; the page shows all."""

FOUND_AT_MOST = 3

_PICKED_FROM = 3

WORDS_THAT_COUNT = 2
"""A model may ask what is meant, so the turn before the last counts too."""


class Part(Protocol):
    def __call__(self, *, added: bool) -> None: ...


class Requests:
    """Of one conversation. A turn is first looked at for what is to be remembered.

    `part` ends the call once the answer was heard, and is told whether the turn that asks for it
    is in the transcript by then; None in a chat, where a farewell is answered like anything else.
    `shown` gets what a model searched for itself.
    """

    def __init__(
        self,
        memory: Memory,
        session: Session,
        conversation: str,
        *,
        now: Callable[[], datetime],
        emit: Callable[[CallEvent], None],
        part: Part | None = None,
        shown: Callable[[tuple[Extract, ...]], None] = lambda _: None,
    ) -> None:
        self._memory = memory
        self._remembering = Remembering(memory, session, conversation, now=now, emit=self._seen)
        self._now = now
        self._emit = emit
        self._part = part
        self._shown = shown
        self._last_words: deque[str] = deque(maxlen=WORDS_THAT_COUNT)
        self._turn_number = 0
        self._last_saved: tuple[int, str] | None = None
        self._to_pick: tuple[str, ...] = ()

    def is_asked(self, text: str) -> bool:
        if self._remembering.is_asked(text):
            return True
        return self._wanted(text) is not None or bool(self._to_pick and picked(text) is not None)

    async def turn(self, text: str, origin: Origin) -> Told | None:
        """A turn of the user's, in its final words: what became of what it asks.

        None where it asks for nothing. On return it is done, and on disk.
        """
        self._turn_number += 1
        if origin in OWN_WORDS:
            self._last_words.append(text)
        told = await self._remembering.turn(text, origin)
        if told is not None or origin not in OWN_WORDS:
            self._to_pick = ()
            return told
        try:
            return await self._asked(text, spoken=origin == "spoken")
        except Exception:
            # A mistake of ours in the rules must not cost the turn that they read.
            log.exception("a turn could not be looked at for what it asks to have done")
            return None

    def _seen(self, event: CallEvent) -> None:
        if isinstance(event, MemoryWritten) and event.change and event.entry:
            self._last_saved = (self._turn_number, event.entry)  # "forget that" points at it
        self._emit(event)

    def _wanted(self, text: str, *, spoken: bool = True) -> Request | None:
        wanted = requested(text, spoken=spoken)
        if wanted is None:
            return None
        if wanted.kind == "farewell" and self._part is None:
            return None
        if wanted.kind == "forget last" and self._saved_lately() is None:
            return None
        return wanted

    def _saved_lately(self) -> str | None:
        if self._last_saved is None:
            return None
        number, entry = self._last_saved
        return entry if self._turn_number - number <= LAST_SAVED_TURNS else None

    async def _asked(self, text: str, *, spoken: bool) -> Told | None:
        to_pick, self._to_pick = self._to_pick, ()
        places = picked(text) if to_pick else None
        if places is not None:
            return await self._picked([to_pick[at] for at in places if at < len(to_pick)])
        wanted = self._wanted(text, spoken=spoken)
        if wanted is None:
            return None
        match wanted.kind:
            case "forget" | "forget if known":
                return await self._forget(wanted)
            case "forget last":
                last, self._last_saved = self._saved_lately(), None
                return await self._gone([last] if last else [], wanted)
            case "forget all":
                return _told("everything", whole=wanted.whole)
            case "about me":
                return await self._about(whole=wanted.whole)
            case "search notes" | "search journal" | "search all":
                return await self._search(wanted)
            case "act" | "remind" | "look up":
                return _told(wanted.kind, whole=wanted.whole)
            case "farewell":
                assert self._part is not None
                self._part(added=False)
                return _told("farewell", whole=True)

    # What a model asks for -------------------------------------------------------------

    async def forget_for_model(self, entry: str) -> str | None:
        """What became of it, for the model; None where the user's last words ask for no such
        thing: what a model asks for may come from a note."""
        if not any(map(speaks_of_forgetting, self._last_words)):
            return None
        wanted = Request(kind="forget", topic=entry, language="en", whole=False)
        told = await self._forget(wanted)
        assert told is not None
        return told.note

    def part_for_model(self) -> bool:
        if self._part is None or not any(map(speaks_of_parting, self._last_words)):
            return False
        self._part(added=True)
        return True

    async def known_for_model(self) -> str:
        return (await self._about(whole=False)).note

    async def find_for_model(self, words: str, kind: RequestKind) -> str | None:
        """The extracts as a note is shown to a model, None for nothing."""
        wanted = Request(kind=kind, topic=words, language="en", whole=False)
        found = (await self._search(wanted)).found
        if found is None:
            return None
        self._shown(found.extracts)
        return found.block

    # Forgetting ------------------------------------------------------------------------

    async def _forget(self, wanted: Request) -> Told | None:
        try:
            changes = await asyncio.to_thread(self._memory.forget, wanted.topic, self._now())
        except AmbiguousEntry as several:
            self._to_pick = several.entries[:_PICKED_FROM]
            return _told("several", whole=wanted.whole, topic=wanted.topic, entries=self._to_pick)
        except NoSuchChange:
            if wanted.kind == "forget if known":
                return None
            return _told("unknown", whole=wanted.whole, topic=wanted.topic)
        except MemoryFault as fault:
            return _told("fault", whole=wanted.whole, reason=str(fault))
        return self._read_back(changes, whole=wanted.whole)

    async def _picked(self, entries: Sequence[str]) -> Told:
        if not entries:
            return _told("kept", whole=True)
        return await self._gone(entries, None)

    async def _gone(self, entries: Sequence[str], wanted: Request | None) -> Told:
        whole = wanted is None or wanted.whole
        changes: list[Change] = []
        try:
            for entry in entries:
                changes += await asyncio.to_thread(self._memory.forget, entry, self._now())
        except NoSuchChange:
            pass  # somebody took it out meanwhile
        except MemoryFault as fault:
            return _told("fault", whole=whole, reason=str(fault))
        if not changes:
            return _told("unknown", whole=whole, topic=", ".join(entries))
        return self._read_back(changes, whole=whole)

    def _read_back(self, changes: Sequence[Change], *, whole: bool) -> Told:
        for change in changes:
            self._emit(
                MemoryForgotten(notebook=change.notebook, entry=change.old or "", change=change.id)
            )
        return _told("gone", whole=whole, entries=[change.old or "" for change in changes])

    # Telling ---------------------------------------------------------------------------

    async def _about(self, *, whole: bool) -> Told:
        notebooks = await asyncio.to_thread(self._memory.entries)
        entries = [entry for listed in notebooks.values() for entry in listed]
        if not entries:
            return _told("nothing", whole=whole)
        told = _told("about", whole=whole, entries=entries)
        more = len(entries) - READ_OUT_ENTRIES
        if more <= 0:
            return told
        read_out = _told("about", whole=whole, entries=entries[:READ_OUT_ENTRIES])
        said = {
            language: f"{read_out.said[language]} "
            + Template(_WORDS["said"][language]["more"]).substitute(count=more)
            for language in LANGUAGES
        }
        return replace(told, said=said)

    async def _search(self, wanted: Request) -> Told:
        try:
            hits = await asyncio.to_thread(self._hits, wanted)
        except MemoryFault as fault:
            self._emit(Notice(kind="stop", text=str(fault)))
            hits = ()
        if not hits:
            return _told("nowhere", whole=wanted.whole, topic=wanted.topic)
        extracts = tuple(
            Extract(
                file=hit.file,
                first_line=hit.first_line,
                last_line=hit.last_line,
                heading=hit.heading,
                text=hit.text,
            )
            for hit in hits
        )
        told = _told("found", whole=wanted.whole, topic=wanted.topic)
        best = next((each for each in extracts if _read_out(each, wanted.topic, "en")), extracts[0])
        kind = "found on" if is_of_a_day(best) else "found"
        said = {
            language: Template(_WORDS["said"][language][kind]).substitute(
                place=place(best), text=_read_out(best, wanted.topic, language)
            )
            for language in LANGUAGES
        }
        found = NotesFound(block=notes_block(extracts), extracts=extracts)
        return replace(told, said=said, found=found)

    def _hits(self, wanted: Request) -> tuple[Hit, ...]:
        """Both in turn where both are meant: each has its own best."""
        found: list[tuple[Hit, ...]] = []
        if wanted.kind != "search journal":
            found.append(self._memory.notes(wanted.topic, FOUND_AT_MOST))
        if wanted.kind != "search notes":
            found.append(self._memory.recall(wanted.topic, FOUND_AT_MOST))
        return tuple(hit for each in zip_longest(*found) for hit in each if hit)[:FOUND_AT_MOST]


def _read_out(extract: Extract, topic: str, language: Language) -> str:
    return aloud(extract, topic, _WORDS["by"][language])


def _told(
    kind: str,
    *,
    whole: bool,
    entries: Iterable[str] = (),
    topic: str = "",
    reason: str = "",
) -> Told:
    listed = list(entries)
    aloud = " ".join(entry if entry[-1:] in ".!?…" else f"{entry}." for entry in listed)
    quoted = "; ".join(f'"{entry}"' for entry in listed)
    return Told(
        note=Template(_WORDS["told"][kind]).substitute(entries=quoted, topic=topic, reason=reason),
        said={
            language: Template(_WORDS["said"][language][kind]).safe_substitute(entries=aloud)
            for language in LANGUAGES
        },
        whole=whole,
        lasting=Template(_WORDS["lasting"].get(kind, "")).substitute(entries=quoted),
    )
