"""Sentences of a turn, with their places in the raw text.

Punctuation first (sentencex). A transcript without it is cut where its words tell: before a
request, and after one where the speaker goes on about themselves. What hangs on a condition or
on a verb of saying or thinking stays in one piece with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import re2
import sentencex

from memory.languages import packaged, patterns
from memory.languages.folding import fold, folded
from memory.languages.words import WORDS, lexicons, tells_language

_REACH_CHARS = 48
_SHORTEST_CUT_CHARS = 10
_PIECE_CHARS = 2000
_BOUNDARY_LANGUAGES = ("de", "en", "es")
_MAY_END = re.compile(r"[^\w\s,;:'’\"()/&%$€#+*=<>-]")
_AT_THE_END = " \t\r\n.!?…"
_WHOLE_WORD = re.compile(r"[^\W\d_]{3,}[.!?…]+[\"'»”)]*\s*$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` is `raw[start:end]` of the turn, without white space around it.

    `within` is where the sentence stands that this is a clause of; its own place, where cues
    cut nothing.
    """

    start: int
    end: int
    text: str
    within: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Cues:
    language: str
    any: Any
    request: Any
    statement: Any
    opens_request: Any
    whole: Any
    glue: Any
    subject: Any
    done: Any
    ordinal: Any


@lru_cache(maxsize=1)
def _cues() -> tuple[_Cues, ...]:
    found = []
    for language in packaged.LANGUAGES_HERE:
        if not packaged.has(language, "sentences"):
            continue
        written = patterns.Written(
            packaged.load(language, "sentences"), f"{language}/sentences.toml"
        )
        written = written.table("cues")
        request, statement = written.alternation("request"), written.alternation("statement")
        found.append(
            _Cues(
                language=language,
                any=re2.compile(rf"\b(?:{request}|{statement})\b"),
                request=re2.compile(rf"\b(?:{request})\b"),
                statement=re2.compile(rf"\b(?:{statement})\b"),
                opens_request=re2.compile(
                    rf"^\W*(?:(?:{written.alternation('opening')})\b\W*)*"
                    rf"(?:{request}|{written.alternation('question')})\b"
                ),
                whole=re2.compile(rf"\b(?:{written.alternation('whole')})\b"),
                subject=re2.compile(
                    rf"(?:^|(?:^|\W)(?:{written.alternation('clause')}) )"
                    rf"(?:{written.alternation('subject')}) $"
                ),
                done=re2.compile(rf"(?:{written.alternation('done') or patterns.NEVER})\b"),
                ordinal=re2.compile(
                    rf"(?:^|\W)(?:{written.alternation('before_ordinal') or patterns.NEVER}) \d{{1,2}}\.$"
                ),
                glue=re2.compile(rf"(?:^|\W)(?:{written.alternation('glue')})[\s,:'\"]*$"),
            )
        )
        written.finish()
    return tuple(found)


def sentences(text: str, language: str | None = None) -> tuple[Sentence, ...]:
    """`language` only helps with abbreviations and ordinals; cues of all languages count."""
    return tuple(
        clause
        for start, end in _by_punctuation(text, language)
        for clause in _by_cues(text, start, end)
    )


def opens_request(text: str) -> bool:
    """Whether the text begins with a request or a question, in any language."""
    said = fold(text)
    return any(cues.opens_request.search(said) for cues in _cues())


def _by_punctuation(text: str, language: str | None) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        if _MAY_END.search(line.rstrip(_AT_THE_END)) is None:  # so it is with most transcripts
            yield start, start + len(line)
            start += len(line)
            continue
        found = {each: ends(each, line) for each in _BOUNDARY_LANGUAGES}
        agreed = set.intersection(*found.values())
        if len(agreed) < max(map(len, found.values())):  # "ago." is an abbreviation in Spanish
            told = language or tells_language(line)
            agreed = found.get(told or "", agreed)
        begin = 0
        for end in sorted(set().union(*found.values())):
            if _is_ordinal(line[max(0, end - _REACH_CHARS) : end], line[end : end + _REACH_CHARS]):
                continue
            if end in agreed or _ends_before_lower_case(line, begin, end):
                yield start + begin, start + end
                begin = end
        start += len(line)


def _is_ordinal(before: str, behind: str) -> bool:
    """ "Am 19. März", not "am 19. Und du?"."""
    said = fold(before.rstrip())
    if not said.endswith("."):
        return False
    languages = [cues.language for cues in _cues() if cues.ordinal.search(said)]
    following = WORDS.match(fold(behind.lstrip())) if languages else None
    return following is not None and any(
        following[0] not in lexicons()[language].function for language in languages
    )


def ends(language: str, line: str) -> set[int]:
    """Where sentences end in a line. sentencex takes quadratic time over quotation marks that nobody
    closes, so it sees a long line in pieces; the ends of pieces are blanks, and no ends of
    sentences for that."""
    there = {len(line)}
    start = 0
    while start < len(line):
        stop = len(line)
        if stop - start > _PIECE_CHARS:
            blank = line.rfind(" ", start + 1, start + _PIECE_CHARS)
            stop = blank + 1 if blank > 0 else start + _PIECE_CHARS
        found = sentencex.get_sentence_boundaries(language, line[start:stop])
        there.update(start + boundary["end_index"] for boundary in found[:-1])
        start = stop
    return there


def _ends_before_lower_case(line: str, start: int, end: int) -> bool:
    return (
        end < len(line)
        and line[end].islower()
        and _WHOLE_WORD.search(line[max(start, end - _REACH_CHARS) : end]) is not None
    )


def _by_cues(text: str, start: int, end: int) -> Iterator[Sentence]:
    said = text[start:end]
    within = (end - len(said.lstrip()), start + len(said.rstrip()))
    piece = folded(said)
    cuts = [start, *(start + piece.at[cut] for cut in _cuts(piece.text)), end]
    for first, last in pairwise(cuts):
        stripped = text[first:last].strip()
        if stripped:
            at = text.index(stripped, first)
            yield Sentence(at, at + len(stripped), stripped, within)


def _cuts(clause: str) -> list[int]:
    """Where the folded `clause` comes apart, in rising order."""
    if len(clause) < 2 * _SHORTEST_CUT_CHARS:
        return []
    cuts: set[int] = set()
    for cues in _cues():
        if not cues.any.search(clause, _SHORTEST_CUT_CHARS) or cues.whole.search(clause):
            continue
        cuts.update(_free(cues, cues.request, clause))
        if cues.opens_request.search(clause):
            cuts.update(_free(cues, cues.statement, clause))
    kept: list[int] = []
    for cut in sorted(cuts):
        if cut - (kept[-1] if kept else 0) >= _SHORTEST_CUT_CHARS:
            kept.append(cut)
    return kept


def _free(cues: _Cues, cue: Any, clause: str) -> Iterator[int]:
    for match in cue.finditer(clause):
        at = match.start()
        before = clause[max(0, at - _REACH_CHARS) : at]
        if not at or cues.glue.search(before):
            continue
        if cues.done.match(clause[at : at + _REACH_CHARS]) and _does_it(cues, clause, at):
            continue
        yield at


def _does_it(cues: _Cues, clause: str, at: int) -> bool:
    """ "My parents | call me": who is named in front does it."""
    begin = max(0, at - _REACH_CHARS)
    cut_off = "…" if begin else ""
    return cues.subject.search(f"{cut_off}{clause[begin:at]}") is not None
