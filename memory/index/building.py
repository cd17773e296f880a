"""Files into the index's rows, and out again. Whoever calls has opened a transaction."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath

from memory.index import words as wording
from memory.index.forms import keys
from memory.index.records import Kind
from memory.index.schema import JOURNAL_FROM
from memory.journal import page as journal_page
from memory.notes.cutting import Piece, cut
from memory.notes.reading import Read, Unread, read_note
from memory.records import LANGUAGES, JournalRead, Language

_FILES_A_WRITE = 200
_CHARS_A_WRITE = 4_000_000

_ALL_LANGUAGES = (1 << len(LANGUAGES)) - 1
_BETWEEN = "\n"
_LANGUAGE_CHARS = 4000
"""So much of a note tells its language."""
_TOPICS = "/topics/"
# What the journal writes into a topic's file: the entry is found in its day.
_TOPIC_LINE = re.compile(r"^- \d{4}-\d\d-\d\d .*\]\(\.\./daily/.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cutting:
    """How long pieces are, and how far one reaches into the next, in characters."""

    chars: int = 400
    overlap: int = 80


class Vocabulary:
    """The index's words while it is written: their numbers, and in how many pieces each is.

    `write` puts into the index what became of them. One that begins with an empty index never
    asks it.
    """

    def __init__(self, database: sqlite3.Connection, *, empty: bool) -> None:
        self._database = database
        self._empty = empty
        self._known: dict[str, tuple[int, int]] = {}
        self._numbers: dict[int, str] = {}
        self._more: Counter[int] = Counter()
        self._new: dict[int, int] = {}  # a new word's number, with its languages
        self._seen: dict[int, int] = {}  # an old word's number, with new languages
        [(last,)] = database.execute("SELECT COALESCE(MAX(id), 0) FROM word")
        self._next: int = last + 1

    def numbers(self, found: list[str], languages: int) -> array[int]:
        """A piece's words as numbers; it counts as one piece of each."""
        if not self._empty:
            self._look_up(found)
        numbers = array("I", [self._number(word, languages) for word in found])
        self._more.update(set(numbers))
        return numbers

    def _look_up(self, found: list[str]) -> None:
        missing = [word for word in dict.fromkeys(found) if word not in self._known]
        for word, number, languages in self._database.execute(
            "SELECT word, id, languages FROM word WHERE word IN (SELECT value FROM json_each(?))",
            (json.dumps(missing),),
        ):
            self._known[word] = (number, languages)
            self._numbers[number] = word

    def _number(self, word: str, languages: int) -> int:
        known = self._known.get(word)
        if known is None:
            number = self._next
            self._next += 1
            self._new[number] = languages
        elif known[1] | languages == known[1]:
            return known[0]
        else:
            number, languages = known[0], known[1] | languages
            if number in self._new:
                self._new[number] = languages
            else:
                self._seen[number] = languages
        self._known[word] = (number, languages)
        self._numbers[number] = word
        return number

    def without(self, numbers: Iterable[int]) -> None:
        """One piece less for each of these words."""
        self._more.subtract(set(numbers))

    def write(self) -> None:
        database = self._database
        database.executemany(
            "INSERT INTO word (id, word, pieces, languages) VALUES (?, ?, 0, ?)",
            ((number, self._numbers[number], found) for number, found in self._new.items()),
        )
        database.executemany(
            "UPDATE word SET languages = ? WHERE id = ?",
            ((found, number) for number, found in self._seen.items()),
        )
        database.executemany(
            "INSERT OR IGNORE INTO form (key, word) VALUES (?, ?)",
            sorted(
                (key, number)
                for number, found in (*self._new.items(), *self._seen.items())
                for key in keys(self._numbers[number], _languages(found))
            ),
        )
        database.executemany(
            "UPDATE word SET pieces = pieces + ? WHERE id = ?",
            ((more, number) for number, more in self._more.items() if more),
        )
        self._drop([number for number, more in self._more.items() if more < 0])
        self._more.clear()
        self._new.clear()
        self._seen.clear()

    def _drop(self, lessened: list[int]) -> None:
        """What no piece holds any more is gone, with every way to it."""
        for number in lessened:
            for word, languages in self._database.execute(
                "SELECT word, languages FROM word WHERE id = ? AND pieces <= 0", (number,)
            ).fetchall():
                self._database.executemany(
                    "DELETE FROM form WHERE key = ? AND word = ?",
                    ((key, number) for key in keys(word, _languages(languages))),
                )
                self._database.execute("DELETE FROM word WHERE id = ?", (number,))
                self._known.pop(word, None)


def _languages(bits: int) -> tuple[Language, ...]:
    return tuple(language for at, language in enumerate(LANGUAGES) if bits >> at & 1)


class Writer:
    """Puts files into the index and takes them out. `kind_of` tells what a file is."""

    def __init__(
        self,
        database: sqlite3.Connection,
        kind_of: Callable[[str], Kind | None],
        cutting: Cutting,
        *,
        empty: bool = False,
    ) -> None:
        self._database = database
        self._kind_of = kind_of
        self._cutting = cutting
        self._vocabulary = Vocabulary(database, empty=empty)
        self._taken: set[bytes] = set()
        self._more = 0
        self.took = False
        """Whether something that was in the index is in it no longer."""
        self._next: dict[Kind, int] = {
            "notes": _behind(database, 0, JOURNAL_FROM),
            "journal": _behind(database, JOURNAL_FROM, 1 << 62),
        }

    def put(self, name: str, read: Read | Unread) -> None:
        """A file as it is now, in place of what the index held of it."""
        digest = digest_of(read)
        old = self._database.execute(
            "SELECT id, digest FROM file WHERE name = ?", (name,)
        ).fetchone()
        if old is None:
            file = self._database.execute(
                "INSERT INTO file (name, modified_ns, changed_ns, bytes, inode, digest)"
                " VALUES (?, 0, 0, 0, 0, ?)",
                (name, digest),
            ).lastrowid
            assert file is not None
        else:
            file = old[0]
        self._database.execute(
            "UPDATE file SET modified_ns = ?, changed_ns = ?, bytes = ?, inode = ?, digest = ?,"
            " unread = ? WHERE id = ?",
            (*read.stamp, digest, read.reason if isinstance(read, Unread) else None, file),
        )
        if old is not None:
            if old[1] == digest:
                return
            self._take_pieces(file)
        kind = self._kind_of(name)
        if isinstance(read, Read) and kind is not None:
            self._add_pieces(file, name, kind, read.text)

    def take(self, name: str) -> bool:
        """A file out of the index; False where it was in none."""
        found = self._database.execute("SELECT id FROM file WHERE name = ?", (name,)).fetchone()
        if found is None:
            return False
        self._take_pieces(found[0])
        self._database.execute("DELETE FROM file WHERE id = ?", found)
        return True

    def write(self) -> None:
        """What was counted goes into the index; before each commit."""
        self._vocabulary.write()
        if self.took:
            self._database.execute("INSERT OR REPLACE INTO meta VALUES ('unclean', '1')")
        self._database.executemany(
            "DELETE FROM vector WHERE content = :content"
            " AND NOT EXISTS (SELECT 1 FROM piece WHERE piece.content = :content)",
            ({"content": content} for content in self._taken),
        )
        self._taken.clear()
        self._database.execute(
            "INSERT INTO meta VALUES ('pieces', :more)"
            " ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + :more",
            {"more": self._more},
        )
        self._more = 0

    def _take_pieces(self, file: int) -> None:
        self.took = True
        rows = self._database.execute(
            "SELECT id, words, content FROM piece WHERE file = ?", (file,)
        ).fetchall()
        self._more -= len(rows)
        for piece, blob, content in rows:
            self._taken.add(content)
            numbers = array("I", blob)
            self._vocabulary.without(numbers)
            self._database.execute(
                "INSERT INTO found (found, rowid, words) VALUES ('delete', ?, ?)",
                (piece, _as_words(numbers)),
            )
        self._database.execute("DELETE FROM piece WHERE file = ?", (file,))

    def _add_pieces(self, file: int, name: str, kind: Kind, text: str) -> None:
        if kind == "journal" and _TOPICS in name:
            text = _TOPIC_LINE.sub("", text)
        never = wording.never_meant()
        language = wording.language_of(wording.words(text[:_LANGUAGE_CHARS]))
        languages = 1 << LANGUAGES.index(language) if language else _ALL_LANGUAGES
        stem = PurePosixPath(name).stem
        entries = _entries(stem, text) if kind == "journal" else ()
        pieces = cut(
            text, chars=self._cutting.chars, overlap=self._cutting.overlap, language=language
        ) or (Piece("", 1, 1, stem),)
        folders = [
            wording.folder_word(f"{folder}/")
            for folder in PurePosixPath(name).parents
            if folder.parts
        ]
        for piece in pieces:
            entry = _entry_at(entries, piece.first_line)
            heading = (entry.title or piece.heading) if entry else piece.heading
            above = _meant(wording.words(f"{stem}{_BETWEEN}{heading}"), never)
            numbers = self._vocabulary.numbers(
                [*above, *_meant(wording.words(piece.text), never), *folders], languages
            )
            self._more += 1
            number = self._next[kind]
            self._next[kind] += 1
            self._database.execute(
                "INSERT INTO piece (id, file, first_line, last_line, heading, text, words,"
                " heading_words, content, day, time, stars)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    number, file, piece.first_line, piece.last_line, heading, piece.text,
                    numbers.tobytes(), len(above), content_of(name, heading, piece.text),
                    *_when(entry),
                ),
            )  # fmt: skip
            self._database.execute(
                "INSERT INTO found (rowid, words) VALUES (?, ?)", (number, _as_words(numbers))
            )


def content_of(name: str, heading: str, text: str) -> bytes:
    """What a piece's vector is kept under, whichever piece it is."""
    return _digest(meant_by(name, heading, text))


def meant_by(name: str, heading: str, text: str) -> str:
    """The text whose meaning a piece has."""
    title = PurePosixPath(name).stem.replace("-", " ").replace("_", " ")
    return f"{title}. {heading}\n{text}"


def digest_of(read: Read | Unread) -> bytes:
    """What tells one content of a file from another."""
    content = read.text if isinstance(read, Read) else f"\0{read.reason}"
    return _digest(content)


def _digest(content: str) -> bytes:
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _behind(database: sqlite3.Connection, first: int, end: int) -> int:
    [(last,)] = database.execute("SELECT MAX(id) FROM piece WHERE id >= ? AND id < ?", (first, end))
    return first + 1 if last is None else last + 2  # a gap: pieces of two files are no neighbours


def _meant(found: list[str], never: frozenset[str]) -> list[str]:
    return [word for word in found if word not in never]


def _as_words(numbers: array[int]) -> str:
    return " ".join(map(str, dict.fromkeys(numbers)))


def _entries(stem: str, text: str) -> tuple[JournalRead, ...]:
    try:
        day = date.fromisoformat(stem)
    except ValueError:
        return ()
    return journal_page.read(day, text)


def _entry_at(entries: tuple[JournalRead, ...], line: int) -> JournalRead | None:
    return next((each for each in entries if each.first_line <= line <= each.last_line), None)


def _when(entry: JournalRead | None) -> tuple[str | None, str | None, int | None]:
    if entry is None:
        return None, None, None
    at = entry.time.isoformat(timespec="minutes") if entry.time else None
    return entry.day.isoformat(), at, entry.stars


def portions(folder: Path, names: list[str]) -> Iterator[list[tuple[str, Read | Unread | None]]]:
    """Files as they are now, so many at a time: a slow disk is waited for before a
    transaction is opened, and the texts of a large vault are never in memory together."""
    some: list[tuple[str, Read | Unread | None]] = []
    chars = 0
    for name in names:
        content = read_note(folder, name)
        some.append((name, content))
        chars += len(content.text) if isinstance(content, Read) else 0
        if len(some) == _FILES_A_WRITE or chars > _CHARS_A_WRITE:
            yield some
            some, chars = [], 0
    if some:
        yield some
