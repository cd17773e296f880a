"""JSON in whatever a model answered."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from memory.languages import packaged
from memory.languages.folding import fold

ANSWER_CHARS = 32_768
"""Ten times what 800 tokens come to; a longer answer is not read."""

_STARTS_TRIED = 64
_START = re.compile(r"[\[{]")
_END = re.compile(r"[\]}]")
_THOUGHT = "</think>"
_FENCE = re.compile(r"```[a-z]*")
_WORD = re.compile(r"\w+")
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The JSON objects and lists of an answer, outermost only.

    With a `fault` there is none that counts, and the sentence says why. `nothing` is true
    of an answer that says in words that there is nothing.
    """

    values: tuple[Any, ...] = ()
    fault: str | None = None
    nothing: bool = False


def json_in(text: str) -> Found:
    """It never raises, and takes linear time, whatever came."""
    answer = text.rpartition(_THOUGHT)[2].strip()
    if not answer:
        return Found(fault="The answer is empty.")
    if len(answer) > ANSWER_CHARS:
        return Found(fault=f"The answer has {len(answer):,} characters; asked for were some lines.")
    values, cut_off = _values(answer)
    if values:
        return Found(values=tuple(values))
    if cut_off:
        return Found(fault="The answer is cut off: its JSON has no end.")
    plain = _FENCE.sub("", answer)
    if said_plainly(plain) and says_nothing(plain):
        return Found(nothing=True)
    return Found(fault="The answer holds no JSON.")


def _values(text: str) -> tuple[list[Any], bool]:
    """What is whole, and whether the last is cut off."""
    values: list[Any] = []
    at = 0
    for _ in range(_STARTS_TRIED):
        start = _START.search(text, at)
        if start is None:
            break
        try:
            value, at = _DECODER.raw_decode(text, start.start())
        except json.JSONDecodeError as fault:
            if fault.msg.startswith("Unterminated string") or not _END.search(text, fault.pos):
                return values, True
            at = start.end()
        except (ValueError, RecursionError):  # a number of a thousand digits, a thousand brackets
            at = start.end()
        else:
            values.append(value)
    return values, False


@cache
def _nothing() -> frozenset[str]:
    """The ways to say that there is nothing, as folded words."""
    return frozenset(
        said_plainly(phrase)
        for language in ("", *packaged.LANGUAGES_HERE)
        for phrase in packaged.load(language, "nothing")["phrases"]
    )


def said_plainly(text: str) -> str:
    return " ".join(_WORD.findall(fold(text)))


def says_nothing(text: str) -> bool:
    """ "None", "Keine Änderungen.", "nada", "无": words for nothing are never a memory."""
    plain = said_plainly(text)
    return not plain or plain in _nothing()


def key_of(name: object) -> str:
    return re.sub(r"[\s-]+", "_", str(name).strip().casefold())


def field(item: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The first of these fields that is there, as text; None where each is missing, null,
    empty, or no text. Names are compared without case."""
    keys = {key_of(key): value for key, value in item.items()}
    for name in names:
        value = keys.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            continue
        said = str(value).strip()
        if said and said.casefold() != "null" and _is_utf8(said):
            return said
    return None


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can spell
        return False
    return True
