"""From a changed file to what is recalled: each link of the chain, and what is wrong with it (J6)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from memory import Memory, WatchStatus
from memory.errors import MemoryFault
from voice.config import Config

Level = Literal["works", "careful", "broken"]
_TITLE_WORDS = 8
_TRIED = 5
_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """`remedy` is what to do; empty where nothing is to be done."""

    subject: str
    level: Level
    text: str
    remedy: str = ""


def links(memory: Memory, config: Config, now: datetime) -> list[Link]:
    """Folders, watch, journal, index, recall, thinking, in the order in which a change passes."""
    return [
        *_folders(config),
        *_watch(memory.watch_status(), config),
        *_journal(memory, config, now),
        *_recall(memory),
        *_thinking(memory, config, now),
    ]


def _folders(config: Config) -> Iterator[Link]:
    for folder in config.watch:
        if not folder.is_dir():
            yield Link(
                subject="Watched", level="broken", text=f"{folder} is not there",
                remedy="Plug in its drive, make the folder, or change watch in the settings.",
            )  # fmt: skip
        elif not os.access(folder, os.R_OK | os.X_OK):
            yield Link(
                subject="Watched", level="broken", text=f"{folder} may not be read",
                remedy="Change its permissions, or change watch in the settings.",
            )  # fmt: skip


def _watch(status: WatchStatus | None, config: Config) -> Iterator[Link]:
    if status is None or not status.running:
        if config.watch:
            yield Link(
                subject="Watch", level="broken",
                text="folders are set, and no process watches them",
                remedy="Run `jarvis watch`; while `jarvis serve` runs it watches by itself.",
            )  # fmt: skip
        else:
            yield Link(
                subject="Watch", level="works", text="no folder is watched",
                remedy="`jarvis watch DIR` journals what changes in your projects.",
            )  # fmt: skip
        return
    seen = status.last_seen
    projects = sum(1 for folder in status.folders if folder.kind == "project")
    watches = f"process {status.pid} watches {projects} folders"
    if seen:
        watches = (
            f"process {status.pid} watches {projects} folders, "
            f"last seen {seen.at.astimezone():%Y-%m-%d %H:%M}"
        )
    yield Link(subject="Watch", level="works", text=watches)
    for folder in status.folders:
        if folder.state == "gone":
            yield Link(
                subject="Watch", level="broken", text=f"{folder.path} is gone",
                remedy="It is taken up again when it is back.",
            )  # fmt: skip
        if folder.left_out:
            yield Link(
                subject="Watch", level="careful",
                text=f"{folder.path} holds {folder.left_out:,} more than can be watched",
                remedy="Watch a folder further down, or name what is noise in a .gitignore.",
            )  # fmt: skip
    unwatched = set(config.watch) - {Path(folder.path) for folder in status.folders}
    unwatched = {
        each
        for each in unwatched
        if not any(each.resolve().is_relative_to(folder.path) for folder in status.folders)
    }
    for each in sorted(unwatched):
        yield Link(
            subject="Watch", level="careful", text=f"{each} is set, and not watched",
            remedy="`jarvis watch --stop`, then `jarvis watch`.",
        )  # fmt: skip
    for fault in status.faults:
        yield Link(subject="Watch", level="careful", text=fault)


def _journal(memory: Memory, config: Config, now: datetime) -> Iterator[Link]:
    days = memory.journal_days()
    folder = config.vault / "society" / "jarvis" / "daily"
    nearest = next(each for each in (folder, *folder.parents) if each.exists())
    if not os.access(nearest, os.W_OK) or not nearest.is_dir():
        yield Link(
            subject="Journal", level="broken", text=f"{nearest} can't be written",
            remedy="Change its permissions.",
        )  # fmt: skip
    warning = memory.journal_day(now.date()).warning
    if warning:
        yield Link(subject="Journal", level="broken", text=warning)
    kept = f"{len(days)} days, the last {days[0].isoformat()}" if days else f"{len(days)} days"
    yield Link(subject="Journal", level="works", text=kept)


def _recall(memory: Memory) -> Iterator[Link]:
    """The index is sound and current, and a newest entry is really found."""
    try:
        sound = not memory.index.path.exists() or memory.index.is_sound()
        memory.index.check()
        files, pieces = memory.index.counts()
    except MemoryFault as fault:
        yield Link(subject="Index", level="broken", text=str(fault))
        return
    if sound:
        text = f"{files:,} files, {pieces:,} pieces"
        yield Link(subject="Index", level="works", text=text)
    else:
        text = f"was damaged and was built anew: {files:,} files, {pieces:,} pieces"
        yield Link(subject="Index", level="careful", text=text)
    yield from _unread(memory)
    newest = memory.latest(_TRIED)
    if not newest:
        yield Link(subject="Recall", level="works", text="there is nothing in the journal to find")
        return
    for entry in newest:
        hits = memory.recall(" ".join(entry.text.split()[:_TITLE_WORDS]), limit=50)
        if any(hit.file == entry.file for hit in hits):
            yield Link(subject="Recall", level="works", text="finds the journal's newest entries")
            return
        if hits:  # else its words are so common that nobody could find it by them
            break
    yield Link(
        subject="Recall", level="broken",
        text=f"does not find the newest entries, in {newest[0].file}",
        remedy="Delete the index (index.db in the state folder): it is built anew.",
    )  # fmt: skip


def _unread(memory: Memory) -> Iterator[Link]:
    """Files that a search passes over in silence."""
    unread = sorted(memory.index.unread().items())
    for name, reason in unread[:_NAMED]:
        yield Link(
            subject="Index", level="careful", text=f"{name} is not searched: {reason}",
            remedy="If it is a note, save it as plain text, in parts if it is long.",
        )  # fmt: skip
    if len(unread) > _NAMED:
        text = f"{len(unread) - _NAMED} more files are not searched"
        yield Link(subject="Index", level="careful", text=text)


def _thinking(memory: Memory, config: Config, now: datetime) -> Iterator[Link]:
    if not (config.think and config.learning):
        switch = "think" if config.learning else "learning"
        yield Link(
            subject="Thoughts", level="works", text=f"switched off ({switch} = false)",
        )  # fmt: skip
        return
    found = memory.thoughts(now)
    spent = (
        f"{found.spent.calls} of {config.think_calls_a_day} calls, {found.spent.tokens:,} of "
        f"{config.think_tokens_a_day:,} tokens in 24 hours"
    )
    if found.failures:
        yield Link(
            subject="Thoughts", level="broken",
            text=f"{found.model} gave no answer {found.failures} times; {spent}",
            remedy="`jarvis think` tries now, and tells why.",
        )  # fmt: skip
    elif found.spent.calls >= config.think_calls_a_day:
        yield Link(
            subject="Thoughts", level="careful", text=f"the cap is reached: {spent}",
            remedy="Wait, or raise think_calls_a_day.",
        )  # fmt: skip
    else:
        text = f"never yet; {spent}"
        if found.at:
            text = f"last {found.at:%Y-%m-%d %H:%M} ({found.outcome}); {spent}"
        yield Link(subject="Thoughts", level="works", text=text)
