"""Pieces for the words of a question: the rarest words first, in a bounded number of steps.

FTS5 gives the pieces that hold a word; how much a word tells is known from the table of words.
Every piece with a rare word is looked at; common words only where they meet rare ones, or each
other. So a question costs the same over a thousand notes and over a million.
"""

from __future__ import annotations

import json
import math
import sqlite3
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, time

from memory.index.compounds import asks_for, is_compound, rests
from memory.index.forms import SPELLED, as_part, spelled, stems
from memory.index.query import Term, terms
from memory.index.records import Hit, Where
from memory.index.schema import JOURNAL_FROM
from memory.index.words import folder_word, one_spelling

PIECES_LOOKED_AT = 1000
"""How many pieces the rare words of a question may have together."""

# How many common words are asked for among the pieces with rare ones; of the others the pieces
# themselves tell.
_COMMON_AMONG_RARE = 2
_COMMON_TOGETHER = 250
_WEIGHED = 120
_WORDS_A_TERM = 48
_BEGINNING_CHARS = 3

# How much of a word's weight another word has that is found for it.
_SPELLED, _STEM, _JOINED, _COMPOUND, _BEGINNING = 1.0, 0.9, 0.95, 0.7, 0.6

_BM25_K, _BM25_B = 1.2, 0.4
_TYPICAL_WORDS = 45
_HEADING_COUNTS = 2.0
_WORD_BYTES = array("I").itemsize


@dataclass(slots=True)
class Asked:
    """A term as the index knows it: numbers of words with their weight, and how many pieces hold
    it at most. `all_of` have to stand in a piece one behind the other."""

    term: Term
    words: dict[int, float]
    all_of: tuple[int, ...] = ()
    pieces: int = 0
    weight: float = 0.0

    def match(self) -> str:
        """As FTS5 reads it; words are numbers, so nothing in it needs a quotation."""
        together = " AND ".join(map(str, self.all_of))
        each = [str(word) for word in self.words]
        return f"({' OR '.join([*each, *([f'({together})'] if together else [])])})"


@dataclass(slots=True)
class Found:
    """Pieces by number, each with the set of terms (as bits) that it was found by.

    `wanted` are the numbers of words with the terms that they stand for, each with its weight.
    """

    terms: list[Asked]
    pieces: dict[int, int] = field(default_factory=dict)
    wanted: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    asked_for: float = 1.0

    def __post_init__(self) -> None:
        for at, each in enumerate(self.terms):
            for word, weight in each.words.items():
                self.wanted.setdefault(word, []).append((at, weight))
        self.asked_for = sum(each.weight for each in self.terms) or 1.0

    def add(self, pieces: Iterable[int], bits: int) -> None:
        held = self.pieces
        for piece in pieces:
            held[piece] = held.get(piece, 0) | bits


def search(
    database: sqlite3.Connection,
    question: str,
    *,
    where: Where,
    limit: int,
    beginnings: bool,
    folder: str = "",
    also: Sequence[int] = (),
) -> tuple[Hit, ...]:
    """The best pieces, best first. `beginnings` also finds words that begin as a term does.

    `folder` ends with a slash; only files in it are found. `also` are pieces that are given
    whatever words they hold, behind the others where they hold none.
    """
    asked = _resolved(database, terms(question), beginnings=beginnings)
    found = _gathered(database, asked, _Within.of(database, where, folder), limit)
    best = _weighed(database, found, limit)
    known = {hit.piece for hit in best}
    more = _also(database, found, [piece for piece in also if piece not in known], where, folder)
    return (*best, *more)


# Words --------------------------------------------------------------------------------


def _resolved(
    database: sqlite3.Connection, asked: tuple[Term, ...], *, beginnings: bool
) -> list[Asked]:
    [(total,)] = database.execute("SELECT COALESCE(MAX(value), 0) FROM meta WHERE name = 'pieces'")
    pieces = int(total)
    wanted: dict[str, list[tuple[int, float]]] = {}
    for at, term in enumerate(asked):
        for key, weight in _keys(term):
            wanted.setdefault(key, []).append((at, weight))
    words: list[dict[int, tuple[float, int]]] = [{} for _ in asked]
    for key, word, count in _words_under(database, list(wanted)):
        for at, weight in wanted[key]:
            _better(words[at], word, weight, count)
    for at, term in enumerate(asked):
        for word, count in _compounds_with(database, term):
            _better(words[at], word, _COMPOUND, count)
    if beginnings:
        for at, term in enumerate(asked):
            for word, count in _beginning_with(database, term):
                _better(words[at], word, _BEGINNING, count)
    return [_asked(database, term, words[at], pieces) for at, term in enumerate(asked)]


def _better(words: dict[int, tuple[float, int]], word: int, weight: float, count: int) -> None:
    if weight > words.get(word, (0.0, 0))[0]:
        words[word] = (weight, count)


def _keys(term: Term) -> Iterable[tuple[str, float]]:
    if term.dense:
        return
    for key in spelled(term.word):
        yield key, _SPELLED
    for key in stems(term.word):
        yield key, _STEM
    for joined in term.joined:
        for key in spelled(joined):
            yield key, _JOINED


def _words_under(
    database: sqlite3.Connection, keys: Sequence[str]
) -> Iterable[tuple[str, int, int]]:
    yield from database.execute(
        "SELECT form.key, word.id, word.pieces FROM form JOIN word ON word.id = form.word"
        " WHERE form.key IN (SELECT value FROM json_each(?))",
        (json.dumps(keys),),
    )


def _compounds_with(database: sqlite3.Connection, term: Term) -> Iterable[tuple[int, int]]:
    asked = None if term.dense or term.parts else as_part(term.word)
    if asked is None:
        return
    key, stands = asked
    found = database.execute(
        "SELECT word.id, word.word, word.pieces FROM form JOIN word ON word.id = form.word"
        " WHERE form.key = ? ORDER BY word.pieces DESC LIMIT ?",
        (key, 4 * _WORDS_A_TERM),
    ).fetchall()
    around = [
        (number, count, [(each, *split) for each in stands for split in rests(word, each)])
        for number, word, count in found
    ]
    wanted = {
        each
        for _, _, splits in around
        for _, before, behind in splits
        for each in (*asks_for(before), *asks_for(behind))
    }
    known = {key for key, _, _ in _words_under(database, [f"{SPELLED}{each}" for each in wanted])}
    words = {key.removeprefix(SPELLED) for key in known}
    for number, count, splits in around:
        if any(is_compound(each, before, behind, words) for each, before, behind in splits):
            yield number, count


def _beginning_with(database: sqlite3.Connection, term: Term) -> Iterable[tuple[int, int]]:
    if term.dense or len(term.word) < _BEGINNING_CHARS:
        return
    for key in spelled(term.word):
        yield from database.execute(
            "SELECT word.id, word.pieces FROM form JOIN word ON word.id = form.word"
            " WHERE form.key > ? AND form.key < ? LIMIT ?",
            (key, key + "\U0010ffff", 4 * _WORDS_A_TERM),
        )


def _asked(
    database: sqlite3.Connection,
    term: Term,
    words: dict[int, tuple[float, int]],
    pieces: int,
) -> Asked:
    best = sorted(words.items(), key=lambda each: (-each[1][0], -each[1][1]))[:_WORDS_A_TERM]
    found = Asked(term, {word: weight for word, (weight, _) in best})
    found.pieces = sum(count for _, (_, count) in best)
    if term.parts:
        there = dict(_exactly(database, term.parts))
        if len(there) == len(set(term.parts)):
            found.all_of = tuple(there[part][0] for part in term.parts)
            found.pieces += min(count for _, count in there.values())
    found.pieces = min(found.pieces, max(pieces, 1))
    found.weight = math.log(1 + (pieces - found.pieces + 0.5) / (found.pieces + 0.5))
    return found


def _exactly(
    database: sqlite3.Connection, words: Sequence[str]
) -> Iterable[tuple[str, tuple[int, int]]]:
    for word, number, count in database.execute(
        "SELECT word, id, pieces FROM word WHERE word IN (SELECT value FROM json_each(?))",
        (json.dumps(words),),
    ):
        yield word, (number, count)


# Pieces -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Within:
    """Which pieces may be found: a range of numbers, and a word that all of them have."""

    first: int
    behind: int
    word: int | None = None

    @classmethod
    def of(cls, database: sqlite3.Connection, where: Where, folder: str) -> _Within:
        first, behind = {
            "notes": (0, JOURNAL_FROM),
            "journal": (JOURNAL_FROM, 1 << 62),
            "all": (0, 1 << 62),
        }[where]
        if not folder:
            return cls(first, behind)
        there = dict(_exactly(database, [folder_word(folder)]))
        number = there[folder_word(folder)][0] if there else 0  # no word has number 0
        return cls(first, behind, number)


def _gathered(
    database: sqlite3.Connection, asked: list[Asked], within: _Within, limit: int
) -> Found:
    found = Found(asked)
    order = sorted(
        (at for at in range(len(asked)) if asked[at].pieces), key=lambda at: asked[at].pieces
    )
    rare: list[int] = []
    looked_at = 0
    for at in order:
        if looked_at + asked[at].pieces > PIECES_LOOKED_AT:
            break
        looked_at += asked[at].pieces
        rare.append(at)
        found.add(_holding(database, asked[at].match(), within), 1 << at)
    common = order[len(rare) :]
    if rare:
        among = " OR ".join(asked[at].match() for at in rare)
        for at in common[:_COMMON_AMONG_RARE]:
            found.add(_holding(database, f"({among}) AND {asked[at].match()}", within), 1 << at)
    if len(found.pieces) < limit:
        _add_common(database, found, common, within, limit)
    return found


def _add_common(
    database: sqlite3.Connection, found: Found, common: list[int], within: _Within, limit: int
) -> None:
    """Pieces with several common words: the rarest of them together; more of them where there
    are too many pieces to look at, fewer where there are too few."""
    many = max(_COMMON_TOGETHER, limit)
    together = min(3, len(common))
    was_widened = False
    while together:
        asked = [found.terms[at] for at in common[:together]]
        match = " AND ".join(each.match() for each in asked)
        pieces = list(_holding(database, match, within, many))
        if len(pieces) == many and together < len(common) and not was_widened:
            together += 1
            continue
        found.add(pieces, sum(1 << at for at in common[:together]))
        if len(found.pieces) >= limit:
            return
        together -= 1
        was_widened = True


def _holding(
    database: sqlite3.Connection, match: str, within: _Within, limit: int = PIECES_LOOKED_AT
) -> Iterable[int]:
    if within.word is not None:
        match = f"({match}) AND {within.word}"
    return (
        piece
        for (piece,) in database.execute(
            "SELECT rowid FROM found WHERE found MATCH ? AND rowid >= ? AND rowid < ?"
            " ORDER BY rowid DESC LIMIT ?",
            (match, within.first, within.behind, limit),
        )
    )


def _weighed(database: sqlite3.Connection, found: Found, limit: int) -> tuple[Hit, ...]:
    best = list(_by_promise(found))
    scored: list[tuple[float, _Row]] = []
    many = max(_WEIGHED, limit)
    for start in range(0, len(best), many):
        some = ((_score(found, row), row) for row in _rows(database, best[start : start + many]))
        scored += [(score, row) for score, row in some if score > 0]
        # Only where a run that does not stand there to the letter took too many.
        if len(scored) >= limit:
            break
    scored.sort(key=lambda each: (-each[0], each[1][1], each[1][2]))
    return tuple(_hit(found, row) for _, row in scored[:limit])


def _by_promise(found: Found) -> Iterable[int]:
    """Pieces with the weightiest terms first, of the same terms the newest."""
    groups: dict[int, list[int]] = {}
    for piece, bits in found.pieces.items():
        groups.setdefault(bits, []).append(piece)
    promise = {
        bits: sum(each.weight for at, each in enumerate(found.terms) if bits >> at & 1)
        for bits in groups
    }
    for bits in sorted(groups, key=lambda bits: (-promise[bits], bits)):
        yield from sorted(groups[bits], reverse=True)


def _also(
    database: sqlite3.Connection, found: Found, pieces: Sequence[int], where: Where, folder: str
) -> tuple[Hit, ...]:
    if not pieces:
        return ()
    hits = [_hit(found, row) for row in _rows(database, pieces)]
    return tuple(hit for hit in hits if hit.file.startswith(folder) and where in ("all", hit.kind))


_Row = tuple[int, str, int, int, str, str, bytes, int, str | None, str | None, int | None]


def _rows(database: sqlite3.Connection, pieces: Sequence[int]) -> Iterable[_Row]:
    return database.execute(
        "SELECT piece.id, file.name, first_line, last_line, heading, text, words, heading_words,"
        " day, time, stars FROM piece JOIN file ON file.id = piece.file"
        " WHERE piece.id IN (SELECT value FROM json_each(?))",
        (json.dumps(pieces),),
    )


def _stands_together(each: Asked, numbers: array[int], text: str) -> bool:
    """Whether the term's parts follow each other in the piece."""
    if each.term.dense:
        return each.term.word in one_spelling(text)
    parts = array("I", each.all_of)
    return any(
        numbers[at : at + len(parts)] == parts
        for at, number in enumerate(numbers)
        if number == parts[0]
    )


def _held(found: Found, row: _Row) -> Iterable[tuple[Asked, float, float]]:
    """The terms that a piece holds: how often, a heading's word twice, and how exactly."""
    blob, in_heading = row[6], row[7]
    numbers = array("I", blob)
    times = [0.0] * len(found.terms)
    exact = [0.0] * len(found.terms)
    wanted = found.wanted
    for place, number in enumerate(numbers):
        if number in wanted:
            counts = _HEADING_COUNTS if place < in_heading else 1.0
            for at, weight in wanted[number]:
                times[at] += counts * weight
                exact[at] = max(exact[at], weight)
    for at, each in enumerate(found.terms):
        if each.all_of and _stands_together(each, numbers, "\n".join((row[1], row[4], row[5]))):
            times[at] += 1.0
            exact[at] = max(exact[at], _JOINED)
        if times[at]:
            yield each, times[at], exact[at]


def _score(found: Found, row: _Row) -> float:
    """BM25; 0 where the piece was found by a run that does not stand in it."""
    length = 1 - _BM25_B + _BM25_B * (len(row[6]) / _WORD_BYTES) / _TYPICAL_WORDS
    return sum(
        each.weight * times * (_BM25_K + 1) / (times + _BM25_K * length)
        for each, times, _ in _held(found, row)
    )


def _hit(found: Found, row: _Row) -> Hit:
    piece, name, first, last, heading, text, _, _, day, at, stars = row
    held = [(each.term.word, each.weight * exact) for each, _, exact in _held(found, row)]
    return Hit(
        file=name,
        first_line=first,
        last_line=last,
        heading=heading,
        text=text,
        score=_score(found, row),
        kind="journal" if piece >= JOURNAL_FROM else "notes",
        piece=piece,
        share=sum(weight for _, weight in held) / found.asked_for,
        matched=tuple(word for word, _ in held),
        weights=tuple(weight for _, weight in held),
        day=date.fromisoformat(day) if day else None,
        time=time.fromisoformat(at) if at else None,
        stars=stars,
    )
