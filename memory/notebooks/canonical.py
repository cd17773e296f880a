"""Text in its canonical form: what looks alike is alike, and what nobody sees is found.

A canonical text is NFC, with plain quotes and dashes, and one space where there was any white
space. It keeps a map back to the raw text, since what is quoted stands there to the letter.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from memory.notebooks.prefix import disarm, show_hidden

_PLAIN = (
    dict.fromkeys("’‘ʼ`´‛ʹ′", "'")
    | dict.fromkeys("“”„«»‟″", '"')
    | dict.fromkeys("‐‑‒–—−", "-")
    | {"…": "..."}
)
_EDGE = " \t\"'.,;:!?…-–—()[]„“”«»‚‘’"

# A break-out: headings, fences, quotes, tables and rules at the beginning, tags and links.
_MARKUP = re.compile(
    r"^\s*(?:#{1,6}\s|>|```|~~~|\||[-*_=]{3,}\s*$|[-*+]\s|\d{1,9}[.)]\s|\[[ xX]\]|\[\^?[^\]]*\]:)"
    r"|```|<!--|-->|</?[a-zA-Z!?][^<>]*>?|\]\(|!\[|\[\[|\]\]|\{\{|\}\}|\$\{|<%|%>|&(?:#\d+|#x[0-9a-f]+|[a-z]{2,8});"
    r"|\\[nrtux]|javascript:|data:text",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"^\s*(?:system|assistant|developer|tool|human|user|jarvis)\s*[:>]", re.IGNORECASE
)
_FANCY = re.compile(
    "[\uff01-\uff5e\U0001d400-\U0001d7ff\u2460-\u24ff\u2100-\u214f\u1d00-\u1dbf\u02b0-\u02ff"
    "\u2070-\u209f\ufb00-\ufb4f\U0001f100-\U0001f1e5\u3000-\u303f\u3200-\u33ff]"
)


@dataclass(frozen=True, slots=True)
class Canonical:
    """`at` tells, for each character of `text`, where it began in `raw`."""

    text: str
    at: tuple[int, ...]
    raw: str

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """Where the canonical characters from `start` to `end` (excluded) stand in the raw text."""
        if start >= end:
            here = self.at[start] if start < len(self.at) else len(self.raw)
            return here, here
        following = bisect_right(self.at, self.at[end - 1])
        return self.at[start], self.at[following] if following < len(self.at) else len(self.raw)


@lru_cache(maxsize=64)
def canonical(raw: str) -> Canonical:
    letters: list[str] = []
    at: list[int] = []
    for index, cluster in _clusters(raw):
        if cluster.isspace():
            if letters and letters[-1] != " ":
                letters.append(" ")
                at.append(index)
            continue
        plain = "".join(_PLAIN.get(each, each) for each in unicodedata.normalize("NFC", cluster))
        letters.extend(plain)
        at.extend([index] * len(plain))
    return Canonical("".join(letters), tuple(at), raw)


def _clusters(raw: str) -> list[tuple[int, str]]:
    """Each character with the marks that it carries."""
    if raw.isascii():
        return list(enumerate(raw))
    found: list[tuple[int, str]] = []
    start = 0
    for index in range(1, len(raw) + 1):
        if index == len(raw) or not unicodedata.combining(raw[index]) or index - start > 8:
            found.append((start, raw[start:index]))
            start = index
    return found if raw else []


def plain(text: str) -> str:
    """An entry in the form in which it is written: canonical, no space around it."""
    return canonical(text).text.strip()


def bare(text: str) -> str:
    """The canonical text in one case, without the marks around it: for comparing."""
    return canonical(text).text.lower().strip(_EDGE)


# What may not be in an entry ----------------------------------------------------------


def hidden(text: str) -> str | None:
    """The first character that nobody sees, as in "U+200B"."""
    shown = show_hidden(text.replace("\t", " "))
    if shown != text.replace("\t", " "):
        mark = re.search(r"⟦(U\+[0-9A-F]{4,6})", shown)
        return mark[1] if mark else "a control character"
    for letter in text:
        if unicodedata.category(letter) in ("Cf", "Co", "Cn", "Cs") and ord(letter) > 0x7F:
            if letter in "\u200d\ufe0f":  # emoji are made of these; show_hidden has judged them
                continue
            return f"U+{ord(letter):04X}"
    return None


def disguised(text: str) -> str | None:
    """The first word that mixes scripts, or is written in letters made to look like others."""
    if text.isascii():
        return None
    fancy = _FANCY.search(text)
    if fancy:
        return fancy.group()
    for word in re.findall(r"[^\W\d_]+(?:[-.'@/][^\W\d_]+)*", text):
        if len(_scripts(word)) > 1:
            return str(word)
    return None


def foreign(text: str) -> str | None:
    """The first word in another script than Latin."""
    for word in re.findall(r"[^\W\d_]+", text):
        if _scripts(word) - {"LATIN"}:
            return str(word)
    return None


def _scripts(word: str) -> set[str]:
    return {
        unicodedata.name(letter, "UNKNOWN").split()[0]
        for letter in word
        if letter.isalpha() and not unicodedata.combining(letter)
    }


def breaks_out(text: str) -> str | None:
    """Markup, or a mark of a language model, that would end the entry or its frame."""
    if disarm(text) != text:
        return "a control mark"
    found = _MARKUP.search(text) or _ROLE.search(text)
    return found.group().strip() or "a mark" if found else None
