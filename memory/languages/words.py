"""Words as they are compared: "loves" and "love", "isst" and "esse", "three" and "3" are one.

A language's words stand in `memory/languages/<language>/words.toml`. Nothing here is exact
grammar: stems only have to be the same on both sides of a comparison.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from memory.languages import packaged
from memory.languages.folding import fold, folded

WordKind = Literal["word", "number", "link", "mark"]

# Alternatives begin with different letters or end at a space: linear in the text.
_TOKEN = re.compile(
    r"(?P<link>(?:https?://|www\.)[^\s<>\"]+|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+"
    r"|[a-z0-9-]{2,64}(?:\.[a-z0-9-]{1,64}){0,8}\.[a-z]{2,24}(?:/[^\s<>\"]*)?(?![\w-]))"
    r"|(?P<number>\d+(?:[.,:]\d+)*(?![^\W\d_])(?:\.(?=\s+[^\W\d_]))?)"
    r"|(?P<word>[^\W_]+(?:['-][^\W_]+)*)"
    r"|(?P<mark>\S)"
)
WORDS = re.compile(r"[^\W_]+")
"""Words of folded text, for comparing how two texts run."""

_LETTERS = re.compile(r"[^\W\d_]+")
_SHOUTED_CHARS = 12
_LINK_TAIL = ".,;:!?)'\"]}"


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text.

    `text` is folded, and a contraction is taken apart: "don't" is two words at one place.
    `start` and `end` are offsets in the raw text. `key` is what it is compared by, empty for
    marks and for words that only hold a sentence together. `turned` is 1 for a word that says
    no to its group, as "hate" does to "like". `capital` is whether it was written so.
    """

    text: str
    start: int
    end: int
    kind: WordKind
    key: str = ""
    turned: int = 0
    capital: bool = False


class Lexicon:
    """The words of one language."""

    def __init__(self, language: str) -> None:
        table = packaged.load(language, "words")
        self.language = language
        self._two_letter_umlauts = bool(table["two_letter_umlauts"])
        self._undouble = bool(table["undouble"])
        self._shortest = int(table["shortest_stem"])
        self._suffixes = tuple(fold(each) for each in table["suffixes"])
        self._prefixes = tuple(fold(each) for each in table["prefixes"])
        self._sounds = tuple((fold(old), fold(new)) for old, new in table["sounds"])
        self._apart = {
            fold(key): tuple(fold(value).split()) for key, value in table["apart"].items()
        }
        self._accented = dict(table["accented"])
        self._without_accent = {
            self.plain(kept): self.plain(fold(raw)) for raw, kept in self._accented.items()
        }
        self.function = self.forms(table["function"])
        self._whole = self.forms(table["whole"])
        self._irregular = {
            self.plain(fold(form)): self.plain(fold(base))
            for base, forms in table["irregular"].items()
            for form in (base, *forms)
        }
        for base, forms in table["irregular"].items():
            for form in (base, *forms):
                self._irregular.setdefault(
                    self._stem(self.plain(fold(form)), regular=True), self.plain(fold(base))
                )
        self.letters = frozenset(table["letters"])
        self.numbers = dict(_numbers(table["numbers"]))
        self._longest_number = max(len(phrase.split()) for phrase in self.numbers)
        self._group: dict[str, tuple[str, int]] = {}
        for turned, name in ((0, "groups"), (1, "against")):
            for group, members in table[name].items():
                for member in members:
                    self._group[self.stem(fold(member))] = (f"={group}", turned)
        self.glue = self.keys(table["glue"])
        self.glue_of_manner = self.keys(table["glue_of_manner"])
        self.broad = self.keys(table["broad"])
        self.labels = self.forms(table["labels"])
        self.known = frozenset(self._irregular) | self.function | self.labels | set(self.numbers)

    def forms(self, written: Iterable[str]) -> frozenset[str]:
        """Words of a list, as `Word.text` has them in the languages' spellings."""
        return frozenset(self.plain(fold(each)) for each in written)

    def keys(self, written: Iterable[str]) -> frozenset[str]:
        return frozenset(self.key(fold(each))[0] for each in written)

    def plain(self, text: str) -> str:
        """A folded word without what transcripts spell in two ways."""
        if self._two_letter_umlauts:
            for two, one in (("ae", "a"), ("oe", "o"), ("ue", "u")):
                text = text.replace(two, one)
        return text

    def stem(self, text: str) -> str:
        return self._stem(self.plain(text))

    def _stem(self, text: str, *, regular: bool = False) -> str:
        if not regular and text in self._irregular:
            return self._irregular[text]
        if text in self._whole:
            return text
        text = text.replace("-", "")
        before = ""
        while before != text:
            before = text
            for suffix in self._suffixes:
                if text.endswith(suffix) and len(text) - len(suffix) >= self._shortest:
                    text = text[: len(text) - len(suffix)]
                    break
        for prefix in self._prefixes:
            if text.startswith(prefix) and len(text) - len(prefix) >= self._shortest:
                text = text[len(prefix) :]
                break
        if self._undouble and len(text) > self._shortest and text[-1] == text[-2]:
            text = text[:-1]
        if self._two_letter_umlauts and text.endswith("el"):  # sammelt, sammle
            text = f"{text[:-2]}l"
        for old, new in self._sounds:
            if not old.endswith("$"):
                text = text.replace(old, new)
            elif text.endswith(old[:-1]):
                text = text.removesuffix(old[:-1]) + new
        return text if regular else self._irregular.get(text, text)

    @lru_cache(maxsize=8192)  # noqa: B019 - three lexicons live as long as the process
    def key(self, text: str) -> tuple[str, int]:
        """What a folded word is compared by, and whether it says no to its group."""
        plain = self.plain(text)
        if plain in self.function or not plain[0].isalnum():
            return "", 0
        stem = self._stem(plain)
        return self._group.get(stem, (stem, 0))

    def without_accent(self, word: str) -> str:
        """A word of `words` as a transcript without accents has it."""
        return self._without_accent.get(word, word)

    def words(self, text: str) -> tuple[Word, ...]:
        return tuple(self._with_numbers(list(self._words(text))))

    def _words(self, text: str) -> Iterator[Word]:
        piece = folded(text)
        shouted = _shouted(text)
        for match in _TOKEN.finditer(piece.text):
            kind: WordKind = match.lastgroup  # type: ignore[assignment]
            token = match.group()
            start, end = piece.raw_span(match.start(), match.end())
            if kind == "link":
                token = token.rstrip(_LINK_TAIL)
                yield Word(token, start, end, kind, key=f"@{token}")
            elif kind == "number":
                yield Word(token, start, end, kind, key=f"#{_number(token)}")
            elif kind == "word":
                raw = text[start:end]
                run = bisect_right(shouted, (start, len(text)))
                loud = run > 0 and start < shouted[run - 1][1]
                capital = raw[:1].isupper() and not loud
                token = self._accented.get(raw.lower(), token)
                for part in self.parts(token):
                    key, turned = self.key(part)
                    yield Word(self.plain(part), start, end, kind, key, turned, capital)
            else:
                yield Word(token, start, end, kind)

    def parts(self, token: str) -> tuple[str, ...]:
        if token in self._apart:
            return self._apart[token]
        stem, mark, tail = token.rpartition("'")
        if mark and f"'{tail}" in self._apart:
            return (*self.parts(stem), *self._apart[f"'{tail}"]) if stem else (token,)
        return (token.replace("'", ""),) if mark else (token,)

    def _with_numbers(self, words: list[Word]) -> Iterator[Word]:
        at = 0
        while at < len(words):
            for length in range(min(self._longest_number, len(words) - at), 0, -1):
                phrase = " ".join(word.text for word in words[at : at + length])
                if phrase in self.numbers:
                    yield Word(
                        phrase,
                        words[at].start,
                        words[at + length - 1].end,
                        "number",
                        key=f"#{self.numbers[phrase]}",
                    )
                    at += length
                    break
            else:
                yield words[at]
                at += 1


def _shouted(text: str) -> list[tuple[int, int]]:
    """Where capitals tell nothing about names: runs of words that have no small letter."""
    runs: list[tuple[int, int]] = []
    first = last = -1
    for match in _LETTERS.finditer(text):
        if match.group().isupper():
            first, last = (match.start() if last < 0 else first), match.end()
        elif last >= 0:
            runs.append((first, last))
            last = -1
    if last >= 0:
        runs.append((first, last))
    return [run for run in runs if run[1] - run[0] > _SHOUTED_CHARS]


def _number(token: str) -> str:
    whole, point, rest = token.rstrip(".").replace(",", ".").partition(".")
    if point and len(rest) == 3 and rest.isdigit():  # 2.500 and 2,500
        return (whole + rest).lstrip("0") or "0"
    return token.rstrip(".").replace(",", ".").lstrip("0") or "0"


def _numbers(table: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Number words up to 99, from the ones, the tens and how they are put together."""
    ones = {fold(word): value for word, value in table["ones"].items()}
    tens = {fold(word): value for word, value in table["tens"].items()}
    yield from ((fold(word), value) for word, value in table["others"].items())
    yield from ones.items()
    yield from tens.items()
    for joined in table["joined"]:
        for ten, tens_value in tens.items():
            for one, value in ones.items():
                if 0 < value < 10:
                    yield joined.format(ten=ten, one=one), tens_value + value


@lru_cache(maxsize=1)
def lexicons() -> Mapping[str, Lexicon]:
    return {
        language: Lexicon(language)
        for language in packaged.LANGUAGES_HERE
        if packaged.has(language, "words")
    }


@lru_cache(maxsize=1)
def _only_here() -> Mapping[str, frozenset[str]]:
    """Small words of each language that are none in the others."""
    known = lexicons()
    return {
        language: lexicon.function.difference(
            *(other.function for name, other in known.items() if name != language)
        )
        for language, lexicon in known.items()
    }


def _plain_words(text: str, lexicon: Lexicon) -> list[str]:
    return [
        lexicon.plain(each)
        for match in _TOKEN.finditer(fold(text))
        if match.lastgroup == "word"
        for each in lexicon.parts(match.group())
    ]


def language_of(text: str, hint: str | None = None) -> str:
    """The language whose small words stand in the text; `hint` where they don't tell."""
    scores = {}
    for language, lexicon in lexicons().items():
        own = _only_here()[language]
        texts = _plain_words(text, lexicon)
        scores[language] = sum((each in own) + (each in lexicon.function) for each in texts)
    best = max(scores.values())
    tied = [language for language, score in scores.items() if score == best]
    if len(tied) == 1:
        return tied[0]
    if hint in tied:
        return hint
    return max(tied, key=lambda language: _looks(text, lexicons()[language]))


def _looks(text: str, lexicon: Lexicon) -> int:
    """How much of the text this language's word list and letters know."""
    return sum(each in lexicon.known for each in _plain_words(text, lexicon)) + sum(
        letter in lexicon.letters for letter in text.lower()
    )


def tells_language(text: str) -> str | None:
    """The one language that the text's small words are of; None where they don't tell."""
    scores = sorted(
        (
            sum(each in _only_here()[language] for each in _plain_words(text, lexicon)),
            language,
        )
        for language, lexicon in lexicons().items()
    )
    return scores[-1][1] if scores[-1][0] > max(0, *(score for score, _ in scores[:-1])) else None


def other_language(text: str, said: str, language: str) -> bool:
    """Whether the text's small words are those of another language than the one it was said in."""
    ours = lexicons()[language]
    there = set(_plain_words(said, ours))
    scores = {}
    for name, lexicon in lexicons().items():
        words = [
            each
            for each in _plain_words(text, lexicon)
            if each in _only_here()[name] and each not in there and each not in ours.known
        ]
        scores[name] = len(words)
    own = sum(each in _only_here()[language] for each in _plain_words(text, ours))
    return any(score > own for name, score in scores.items() if name != language)
