"""A notebook's text with one entry added, changed or taken out.

Only the lines that the change touches change: line ends, a byte order mark, the bullets and
the indentation of the file's own list stay what they are (L1.3).
"""

from __future__ import annotations

import contextlib
import re
import unicodedata
from codecs import BOM_UTF8
from collections import Counter

from memory.errors import NotebookUnwritable
from memory.notebooks.page import BLOCK_ID, ITEM_MARK, Entry, Page, escaped, read_page, read_text

# The model reads these lines too, so they hold nothing that it could take for a fact.
BEGINNINGS = {
    "USER.md": "# About you\n<!-- One short sentence a line, each behind a dash. -->\n",
    "MEMORY.md": "# Working notes\n<!-- One short sentence a line, each behind a dash. -->\n",
}

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_END = re.compile(r"\r\n|\r|\n")
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_HALF = re.compile(r"[\ud800-\udfff]")
_BULLET = re.compile(r"(?P<indent>[ \t]*)(?:(?P<bullet>[-*+])|(?P<number>\d{1,9})(?P<dot>[.)]))")


def editable(name: str, content: bytes | None) -> Page:
    """The page, if it can be changed without harm; no file is an empty page.

    Raises NotebookUnwritable for what is not clean UTF-8: writing it would change letters
    that the user never touched.
    """
    return _clean(read_page(name, content or b""))


def clean_text(name: str, content: bytes) -> str:
    """The text of a file that is appended to. Raises NotebookUnwritable as `editable` does."""
    return _clean(read_text(name, content)).text


def _clean(page: Page) -> Page:
    if page.warnings:
        raise NotebookUnwritable(
            f"{page.name} can't be changed as it is. {page.warnings[0]} Nothing was changed in it."
        )
    return page


def as_bytes(page: Page, before: bytes | None) -> bytes:
    """The page for the disk; the byte order mark of the file that it replaces stays."""
    mark = BOM_UTF8 if (before or b"").startswith(BOM_UTF8) else b""
    return mark + page.text.encode()


def one_line(text: str) -> str:
    """The text as an entry can hold it: line breaks and control characters become spaces."""
    return _HALF.sub("�", _BREAKS.sub(" ", text)).strip()


def same_key(text: str) -> str:
    """Equal for texts that differ only in Unicode form or in spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def find(page: Page, text: str) -> Entry | None:
    """The first entry with this text; failing that, the one that differs only in spaces or
    in Unicode form."""
    for entry in page.entries:
        if entry.text == text:
            return entry
    key = same_key(text)
    alike = [entry for entry in page.entries if same_key(entry.text) == key]
    return alike[0] if len(alike) == 1 else None


# Changes ------------------------------------------------------------------------------


def add(page: Page, text: str) -> Page:
    """The page with a new entry behind the last one of its main list.

    Raises NotebookUnwritable where the file has no place for it.
    """
    text = one_line(text)
    if not page.text.strip():
        # Blank lines that are there stay behind the entry.
        beginning = BEGINNINGS.get(page.name, "")
        return _checked(page, f"{beginning}- {escaped(text)}\n{page.text}", added=text)
    places = _places(page, escaped(text))
    for place in places[:-1]:
        # A comment or code that is never closed, say, swallows an entry at the end.
        with contextlib.suppress(NotebookUnwritable):
            return _checked(page, place, added=text)
    return _checked(page, places[-1], added=text)


def update(page: Page, entry: Entry, text: str) -> Page:
    """The page with this entry's text replaced; its mark, its box and its block id stay.

    The entry's text becomes one line. What else the item holds stays.
    """
    text = one_line(text)
    lines = _LINE.findall(page.text)
    first, last = entry.line - 1, entry.last - 1
    mark = ITEM_MARK.match(_END.sub("", lines[first]))
    assert mark is not None
    space = "" if mark[0].endswith((" ", "\t")) else " "
    block_id = BLOCK_ID.search(_END.sub("", lines[last]))
    end = _END.search(lines[last])
    lines[first : last + 1] = [
        mark[0]
        + space
        + escaped(text)
        + (block_id[0] if block_id else "")
        + (end[0] if end else "")
    ]
    return _checked(page, "".join(lines), added=text, removed=entry.text)


def remove(page: Page, entry: Entry) -> Page:
    """The page without this entry's lines, and without a second blank line in their place.

    Raises NotebookUnwritable for an item that holds more than its text: items beneath it
    say something too.
    """
    if entry.holds_more:
        raise NotebookUnwritable(
            f"“{entry.text}” in {page.name} has other lines beneath it that would lose their "
            "place. Take it out in your editor."
        )
    lines = _LINE.findall(page.text)
    first, behind = entry.line - 1, entry.last
    if behind == len(lines) and not _END.search(lines[-1]) and first > 0:
        lines[first - 1] = _END.sub("", lines[first - 1])
    blank_above = first == 0 or not lines[first - 1].strip()
    if behind < len(lines):
        if blank_above and not lines[behind].strip():
            behind += 1
    elif first > 0 and blank_above and entry.line != entry.list_line:
        first -= 1  # the list keeps its entries apart
    del lines[first:behind]
    return _checked(page, "".join(lines), removed=entry.text)


def _checked(
    page: Page, text: str, *, added: str | None = None, removed: str | None = None
) -> Page:
    """The page with this text, which must hold the entries of before and the change."""
    changed = read_page(page.name, text.encode())
    expected = Counter(entry.text for entry in page.entries)
    if removed is not None:
        expected[removed] -= 1
    if added is not None:
        expected[added] += 1
    holding = _holding(page)
    if added is not None and removed is not None and removed in holding:
        holding[added] += 1
    if (
        changed.warnings
        or Counter(entry.text for entry in changed.entries) != +expected
        or _holding(changed) - holding  # what stood behind it would become a part of the entry
    ):
        raise NotebookUnwritable(
            f"{page.name} is written in a way that leaves no place for this change: look for a "
            "comment (<!--, %%), front matter or a code block that is never closed. Nothing was "
            "changed in it."
        )
    return changed


def _holding(page: Page) -> Counter[str]:
    return Counter(entry.text for entry in page.entries if entry.holds_more)


# Places -------------------------------------------------------------------------------


def _places(page: Page, text: str) -> list[str]:
    """The page with this entry behind its main list, at its end and at its beginning."""
    lines = _LINE.findall(page.text)
    places = []
    last = _last_of_main_list(page)
    if last is not None:
        is_loose = last.line != last.list_line and not lines[last.line - 2].strip()
        new = _mark_after(_END.sub("", lines[last.line - 1])) + text
        places.append(_inserted(lines, last.end, new, apart=is_loose))
    written = max(number for number, line in enumerate(lines, start=1) if line.strip())
    before = lines[written - 1].strip()
    follows = before.startswith("#") or before.endswith("-->")
    is_apart = not follows and written == len(lines)
    return [
        *places,
        _inserted(lines, len(lines), f"- {text}", apart=is_apart),
        _inserted(lines, len(lines), f"- {text}", apart=True),
        _inserted(lines, 0, f"- {text}", apart=True),
    ]


def _last_of_main_list(page: Page) -> Entry | None:
    """The last entry of the list where new ones go: the one with the most entries, and
    rather facts than tasks."""
    lists: dict[int, list[Entry]] = {}
    for entry in page.entries:
        if entry.depth == 0:
            lists.setdefault(entry.list_line, []).append(entry)
    if not lists:
        return None
    lines = page.lines

    def rank(entries: list[Entry]) -> tuple[bool, int]:
        marks = (ITEM_MARK.match(lines[entry.line - 1]) for entry in entries)
        is_tasks = all(mark is not None and mark["box"] for mark in marks)
        return not is_tasks, len(entries)

    return max(lists.values(), key=rank)[-1]


def _mark_after(line: str) -> str:
    """The mark of an item that follows this one."""
    mark = ITEM_MARK.match(line)
    bullet = _BULLET.match(line)
    assert mark is not None and bullet is not None
    written = mark[0].removesuffix(mark["box"] or "")
    space = written[bullet.end() :] or " "
    own = bullet["bullet"] or f"{int(bullet['number']) + 1}{bullet['dot']}"
    return bullet["indent"] + own + space


def _inserted(lines: list[str], at: int, new: str, *, apart: bool) -> str:
    """The lines with `new` behind the first `at` of them, with a blank line between if `apart`."""
    ends = [found[0] for line in lines if (found := _END.search(line))]
    end = ends[0] if ends else "\n"
    head, tail = lines[:at], lines[at:]
    if not head:
        return "".join([new, end, *([end] if apart else []), *tail])
    own = _END.search(head[-1])
    if own:
        end = own[0]
    blank = end if apart else ""
    if own:
        return "".join([*head, blank, new, end, *tail])
    before = _END.search(head[-2]) if len(head) > 1 else None
    end = before[0] if before else end
    return "".join([*head, end, end if apart else "", new])


def changed(page: Page, old: str | None, new: str | None) -> Page:
    """The page with `new` in the place of the entry `old`; as it is where that is not there."""
    if old is None:
        assert new is not None
        return add(page, new)
    entry = find(page, old)
    if entry is None:
        return page
    return remove(page, entry) if new is None else update(page, entry, new)


def changed_if_it_can(page: Page, old: str | None, new: str | None) -> Page:
    """As `changed`, with what may be there already, or be overtaken by an edit."""
    if new is not None and find(page, new):
        return page
    entry = None if old is None else find(page, old)
    if entry is not None and new is None and entry.holds_more:
        return page
    return changed(page, old, new)


def is_in_effect(page: Page, old: str | None, new: str | None) -> bool:
    if new is not None:
        return find(page, new) is not None
    assert old is not None
    return find(page, old) is None
