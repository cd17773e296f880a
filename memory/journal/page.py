"""The journal's pages as text: a file a day, a file a topic (J1, J2).

    # 2026-02-05

    ## 18:42 ★★★ A title

    The text.

    #discovery #garden

Between the headings stands whatever the user likes: it is read as it is, and never written anew.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import date, time
from typing import get_args

from memory.days import day_of
from memory.notebooks.edit import one_line
from memory.notebooks.prefix import show_hidden
from memory.notebooks.secrets import without_secrets
from memory.records import JournalEntry, JournalKind, JournalRead

TITLE_CHARS = 80
TAGS_AT_MOST = 8
TAG_CHARS = 60
STARS = 3
"""Of an entry whose importance nobody judged."""

KINDS: tuple[JournalKind, ...] = get_args(JournalKind)

_LINE_END = re.compile(r"\r\n|\r|\n")
# A line like these would begin another entry, or hide what follows.
_BREAKING = r"(?=\s*(?:#|```|~~~|<!--|%%|(?:-{3,}|={3,}|\.{3})\s*$))"
_BREAKS_OUT = re.compile(f"^{_BREAKING}", re.MULTILINE)
_ESCAPED = re.compile(rf"^\\{_BREAKING}", re.MULTILINE)
_HEAD = re.compile(
    r"##(?!#)[ \t]*(?:(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)\b)?[ \t]*"
    r"(?P<stars>[★⭐]{1,5})?[☆ \t]*(?P<title>.*)"
)
_TITLE = re.compile(r"#(?!#)")
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})")
_TAGS = re.compile(r"[ \t]*#[^\s#]+(?:[ \t]+#[^\s#]+)*[ \t]*")
_NO_SLUG = re.compile(r"[\W_]+")
_LINK_MARKS = re.compile(r"([\\\[\]<>`])")


def slug(tag: str) -> str:
    """A topic's name as a tag and as a file: letters and digits of any script, and hyphens.

    Empty where nothing of it is left.
    """
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", tag).casefold())
    found = _NO_SLUG.sub("-", plain).strip("-")[:TAG_CHARS]
    while len(found.encode("utf-8", "replace")) > 2 * TAG_CHARS:
        found = found[:-1]
    return found.strip("-")


def slugs(tags: tuple[str, ...]) -> tuple[str, ...]:
    """The topics of an entry, each once; a kind of entry is none."""
    found = dict.fromkeys(slug(tag) for tag in tags)
    return tuple(each for each in found if each and each not in KINDS)[:TAGS_AT_MOST]


def heading(day: date) -> str:
    return f"# {day.isoformat()}\n\n"


def lines(entry: JournalEntry) -> str:
    """An entry as it is written: no secret is in it, and nothing in it begins another entry."""
    assert 1 <= entry.stars <= 5, "one to five stars"
    head = f"## {entry.at:%H:%M} {'★' * entry.stars} {_title(entry.title)}".rstrip()
    text = "\n".join(
        show_hidden(one_line(line)) for line in _LINE_END.split(without_secrets(entry.text.strip()))
    )
    kinds = () if entry.kind == "note" else (entry.kind,)
    tags = " ".join(f"#{tag}" for tag in (*kinds, *slugs(entry.tags)))
    parts = (head, _BREAKS_OUT.sub(r"\\", text), tags)
    return "\n\n".join(part for part in parts if part) + "\n"


def _title(title: str) -> str:
    head = show_hidden(one_line(without_secrets(title)))
    if len(head) > TITLE_CHARS:
        head = head[: TITLE_CHARS - 2].rpartition(" ")[0].rstrip() or head[: TITLE_CHARS - 2]
        head += " …"
    return head


def topic_heading(tag: str) -> str:
    return f"# {tag}\n\n"


def topic_line(entry: JournalEntry) -> str:
    """An entry's line in the file of a topic: when, and a link to its day."""
    title = _LINK_MARKS.sub(r"\\\1", _title(entry.title)) or "…"
    day = day_of(entry.at).isoformat()
    return f"- {day} {entry.at:%H:%M} {'★' * entry.stars} [{title}](../daily/{day}.md)\n"


# Reading ------------------------------------------------------------------------------


def read(day: date, text: str) -> tuple[JournalRead, ...]:
    """The entries of a day's file in their order; what stands before the first is one too."""
    found = []
    for first, block in _blocks(_LINE_END.split(text)):
        entry = _entry(day, first, block)
        if entry is not None:
            found.append(entry)
    return tuple(found)


def _blocks(all_lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Lines from one heading to the next, with the number of their first."""
    first = _behind_front_matter(all_lines)
    block: list[str] = []
    fence = ""
    for number, line in enumerate(all_lines[first - 1 :], start=first):
        mark = _FENCE.match(line)
        if mark is not None and (not fence or mark["mark"].startswith(fence)):
            fence = "" if fence else mark["mark"]
        if not fence and _HEAD.match(line):
            yield first, block
            first, block = number, []
        block.append(line)
    yield first, block


def _behind_front_matter(all_lines: list[str]) -> int:
    if all_lines and all_lines[0].rstrip() == "---":
        for number, line in enumerate(all_lines[1:], start=2):
            if line.rstrip() in ("---", "..."):
                return number + 1
    return 1


def _entry(day: date, first: int, block: list[str]) -> JournalRead | None:
    head = _HEAD.fullmatch(block[0]) if block else None
    if head is None and block and _TITLE.match(block[0]):
        block, first = block[1:], first + 1
    body = block[1:] if head else block
    begins = first + (1 if head else 0)
    while body and not body[-1].strip():
        body = body[:-1]
    last = begins + len(body) - 1
    tags: tuple[str, ...] = ()
    if body and _TAGS.fullmatch(body[-1]):
        tags = tuple(tag.removeprefix("#") for tag in body[-1].split())
        body = body[:-1]
    text = _ESCAPED.sub("", "\n".join(body)).strip()
    if head is None and not text:
        return None
    kind: JournalKind = next((each for each in KINDS if each in tags), "note")
    return JournalRead(
        day=day,
        time=time(int(head["hour"]), int(head["minute"])) if head and head["hour"] else None,
        title=head["title"].strip() if head else "",
        text=text,
        stars=len(head["stars"]) if head and head["stars"] else STARS,
        tags=tuple(tag for tag in tags if tag not in KINDS),
        kind=kind,
        first_line=first,
        last_line=max(first, last),
    )
