"""The journal's file of one day: `<vault>/society/jarvis/daily/2026-02-05.md` (J2, m21).

    # 2026-02-05

    ## 18:42 ★★★ A title

    The text.

It can only be appended to. What somebody wrote into it stays to the letter.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import Path

from memory import store
from memory.days import day_of
from memory.notebooks.edit import clean_text, one_line
from memory.vault import Vault

TITLE_CHARS = 80
STARS = 3
"""Of an entry whose importance nobody judged."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_ENDS_APART = re.compile(r"\n[ \t]*\n$")
# A line like these would begin another entry, or hide what follows.
_BREAKS_OUT = re.compile(r"^(?=\s*(?:#|```|~~~|<!--|%%|(?:-{3,}|={3,}|\.{3})\s*$))", re.MULTILINE)


def file_of(vault: Vault, day: date) -> Path:
    return vault.folder / "daily" / f"{day.isoformat()}.md"


def entry(at: datetime, title: str, text: str, *, stars: int = STARS) -> str:
    """An entry's lines. `stars` are one to five."""
    assert 1 <= stars <= 5, "one to five stars"
    head = one_line(title)
    if len(head) > TITLE_CHARS:
        head = head[: TITLE_CHARS - 2].rpartition(" ")[0].rstrip() or head[: TITLE_CHARS - 2]
        head += " …"
    lines = "\n".join(one_line(line) for line in _LINE_END.split(text.strip()))
    return (
        f"## {at:%H:%M} {'★' * stars} {head}".rstrip() + f"\n\n{_BREAKS_OUT.sub(_ESCAPE, lines)}\n"
    )


_ESCAPE = r"\\"


def append(
    vault: Vault, at: datetime, title: str, text: str, *, stars: int = STARS, once: bool = False
) -> Path:
    """Put an entry at the end of its day's file, synced; the file, and its heading, are made.

    `once` leaves out what stands there already, to the letter: for a writer that may have
    crashed behind it. Raises StateUnwritable, NotebookUnwritable (a file that is no UTF-8).
    """
    path = file_of(vault, day_of(at))
    new = entry(at, title, text, stars=stars)
    store.make_folder(path.parent)
    with store.locked(path.parent / ".lock"):
        with store.writing(path):
            content = path.read_bytes() if path.exists() else b""
        written = clean_text(path.name, content)
        there = _LINE_END.sub("\n", written)
        if once and new in there:
            return path
        if not there.strip():
            new = f"# {day_of(at).isoformat()}\n\n{new}"
        elif not _ENDS_APART.search(there):
            new = f"\n{new}" if there.endswith("\n") else f"\n\n{new}"
        found = _LINE_END.search(written)
        store.append_text(path, new.replace("\n", found[0] if found else "\n"))
    return path
