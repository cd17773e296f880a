"""What changed in a project, and the journal's entry about it (J4).

Names and words of files are anybody's: they stand in code spans, in one line each, without
what nobody sees; the journal takes secrets out.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from memory.notebooks.edit import one_line
from memory.notebooks.prefix import show_hidden
from memory.notebooks.secrets import without_secrets
from memory.records import JournalEntry

FILES_SHOWN = 8
LINES_SHOWN = 2
LINES_SHOWN_IN_ALL = 6
LINE_CHARS = 120
NAME_CHARS = 100
TEXT_BYTES = 64 * 1024
"""Of a larger file only its name is told."""
_LINES_COMPARED = 2_000
_LINES_READ = 60
_PROJECT_CHARS = 40

_WORD = re.compile(r"[^\W\d_]{3,}")
_ODD = re.compile(r"[^\w .+@~()-]+")
_TICKS = re.compile(r"`+")

What = Literal["changed", "new", "gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A file that changed. `path` is relative to its project; line counts are None where they
    are not known; `lines` are some of its new ones."""

    path: str
    what: What
    added: int | None = None
    removed: int | None = None
    lines: tuple[str, ...] = ()


def text_of(content: bytes | None) -> str | None:
    """The text of a file that is small and text; None for any other."""
    if content is None or len(content) > TEXT_BYTES or b"\0" in content:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def changed(path: str, what: What, before: str | None, after: str | None) -> Changed:
    """A change of a file, with its new lines where both texts are known."""
    if after is None or (before is None and what != "new"):
        return Changed(path=path, what=what)
    old, new = (before or "").splitlines(), after.splitlines()
    if max(len(old), len(new)) > _LINES_COMPARED:
        return Changed(path=path, what=what)
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    added = [
        line for tag, _, _, a, b in blocks if tag in ("insert", "replace") for line in new[a:b]
    ]
    removed = sum(b - a for tag, a, b, _, _ in blocks if tag in ("delete", "replace"))
    # Lines are told where they say something; a secret may go over several.
    shown = without_secrets("\n".join(added[:_LINES_READ])).splitlines()
    telling = [line.strip() for line in shown if len(_WORD.findall(line)) >= 2]
    return Changed(
        path=path,
        what=what,
        added=len(added),
        removed=removed,
        lines=tuple(_shortened(line, LINE_CHARS) for line in telling[:LINES_SHOWN]),
    )


def discovery(project: str, found: Sequence[Changed], at: datetime) -> JournalEntry:
    """The journal's entry about one project's changes."""
    name = _plain(project)
    counted = Counter(each.what for each in found)
    kinds: tuple[What, ...] = get_args(What)
    counts = ", ".join(f"{counted[what]} {what}" for what in kinds if counted[what])
    if len(found) == 1:
        counts = f"{_plain(found[0].path.rpartition('/')[2])} {found[0].what}"
    lines: list[str] = []
    excerpts = 0
    # What was written most says most.
    ranked = sorted(found, key=lambda each: (-(each.added or 0), each.path))
    for each in ranked[:FILES_SHOWN]:
        told = f"- {code(each.path, NAME_CHARS)} {each.what}{_counts(each)}"
        shown = each.lines[: max(0, LINES_SHOWN_IN_ALL - excerpts)]
        excerpts += len(shown)
        words = "; ".join(code(line, LINE_CHARS) for line in shown)
        lines.append(f"{told}: {words}" if shown else told)
    if len(found) > FILES_SHOWN:
        lines.append(f"- and {len(found) - FILES_SHOWN} more")
    return JournalEntry(
        at=at,
        title=f"{name}: {counts}",
        text="\n".join(lines),
        tags=(project,),
        kind="discovery",
    )


def _counts(each: Changed) -> str:
    if each.added is None or each.removed is None:
        return ""
    return f" (+{each.added} −{each.removed} lines)"


def code(text: str, most: int) -> str:
    """The text as a code span of one line: nothing in it is markup, a tag or a link."""
    inside = _shortened(text, most)
    longest = max((len(run) for run in _TICKS.findall(inside)), default=0)
    ticks = "`" * (longest + 1)
    space = " " if inside.startswith("`") or inside.endswith("`") else ""
    return f"{ticks}{space}{inside}{space}{ticks}"


def _shortened(text: str, most: int) -> str:
    line = show_hidden(one_line(text)).replace("\t", " ")
    return line if len(line) <= most else line[: most - 2].rstrip() + " …"


def _plain(name: str) -> str:
    """A name outside of a code span: letters, digits and what is harmless."""
    return _ODD.sub("-", show_hidden(one_line(name))).strip(" -")[:_PROJECT_CHARS] or "…"


# When it is told ----------------------------------------------------------------------

SETTLE_S = 5.0
SETTLE_AT_MOST_S = 60.0
CALM_S = 1800.0


def due_s(first_s: float, last_s: float, told_s: float | None) -> float:
    """When a project's changes are told: soon after the first, then at most every half hour.

    Given when the first and the last untold change came, and when it was told before.
    """
    settled = min(last_s + SETTLE_S, first_s + SETTLE_AT_MOST_S)
    return settled if told_s is None else max(settled, told_s + CALM_S)
