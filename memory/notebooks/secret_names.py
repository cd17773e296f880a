"""Spoken secrets, known by what they are called: a name, a joint and a value, as in "my password |
for the wifi is | sunflower".

Names, joints, and what is no value ("my password is too long") are data of each language
(`secrets.toml`); all languages always run.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from memory.languages import digits, packaged
from memory.languages.patterns import NEVER, Written
from memory.notebooks.secret import Secret, compiled, group, mixed
from memory.notebooks.secret_numbers import country_at

_WINDOW_CHARS = 300
_JOINT_WORDS = 7
_VALUE_WORDS = 14
_HINT_WORDS = 6
_UNJOINED_DIGITS = 4
_ACCOUNT_DIGITS = 6
_UNJOINED_TOKEN_CHARS = 5

_OPENING = " \t\"'([{,:="
_CLOSING = ".,;:!?\"')]}"
_ENDING = ".;!?\n"

_Value = Literal["words", "phrase", "digits", "token"]


@dataclass(frozen=True, slots=True)
class _Kind:
    """`before` ends where the value begins, `after` begins where it ends; `around` holds it.

    `joined`: a value that follows without a joint is none.
    """

    kind: str
    value: _Value
    least: int
    joined: bool
    names: Any
    before: Any
    after: Any
    given_as: Any
    around: Any


@dataclass(frozen=True, slots=True)
class _Speech:
    """How one language joins names and secrets."""

    any_name: Any
    no_name: Any
    kinds: tuple[_Kind, ...]
    joint: Any
    filler: Any
    qualifies: Any
    breaks: Any
    none: Any
    state: Any
    goes_on: Any
    not_first: Any


def named(heard: str) -> Iterator[Secret]:
    for speech in _speeches():
        if not speech.any_name.search(heard):
            continue
        no_names = [match.span() for match in speech.no_name.finditer(heard)]
        for kind in speech.kinds:
            yield from _of_kind(heard, speech, kind, no_names)


def _of_kind(
    heard: str, speech: _Speech, kind: _Kind, no_names: list[tuple[int, int]]
) -> Iterator[Secret]:
    spans = [match.span() for match in kind.names.finditer(heard)]
    spans = [span for span in spans if not _crossed(span, no_names)]
    if not spans:
        return
    for _, end in spans:
        yield from _joined(heard, end, speech, kind)
    for match in kind.before.finditer(heard):
        yield from _value(heard, _skip(heard, match.end(), speech), speech, kind, joined=True)
    for match in kind.after.finditer(heard):
        yield from _value_first(heard, match.start(), speech, kind, bare=True)
    for match in kind.given_as.finditer(heard):
        yield from _value_first(heard, match.start(), speech, kind, bare=False)
    for match in kind.around.finditer(heard):
        start, end = match.span(group(match))
        yield from _value_inside(heard, start, end, speech, kind)


def _crossed(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    """Whether one of the spans, which are in order and apart, overlaps this one."""
    start, end = span
    following = bisect_right(spans, (start, end))
    return any(
        first < end and start < last for first, last in spans[max(0, following - 1) : following + 1]
    )


def _joined(heard: str, at: int, speech: _Speech, kind: _Kind) -> Iterator[Secret]:
    """The value behind a name: behind a joint, or at once where its form leaves no doubt."""
    for words in range(_JOINT_WORDS + 1):
        window = heard[at : at + _WINDOW_CHARS]
        if joint := speech.joint.match(window):
            yield from _value(
                heard, _skip(heard, at + joint.end(), speech), speech, kind, joined=True
            )
            return
        found = [*_value(heard, _skip(heard, at, speech), speech, kind, joined=False)]
        if found:
            yield from found
            return
        word = _WORD.match(window)
        if word is None or speech.breaks.fullmatch(word[1]):
            return
        if words == 0 and not speech.qualifies.match(word[1]):
            return
        at += word.end()


_WORD = compiled(r"[ ,]+([^\s,.;:!?=]+)")


def _skip(heard: str, at: int, speech: _Speech) -> int:
    """Past opening quotes and words that say nothing: "is now the word …"."""
    while True:
        while at < len(heard) and heard[at] in _OPENING:
            at += 1
        filler = speech.filler.match(heard[at : at + _WINDOW_CHARS])
        if filler is None or not filler.end():
            return at
        at += filler.end()


def _value(heard: str, at: int, speech: _Speech, kind: _Kind, *, joined: bool) -> Iterator[Secret]:
    token = _token(heard, at)
    if not token or token.startswith("⟦"):
        return
    if kind.value == "digits":
        if kind.joined and not joined:
            return
        country = country_at(heard, at) if joined and kind.least >= _ACCOUNT_DIGITS else ""
        run = digits.run_at(heard, at + len(country))
        least = kind.least if joined else max(kind.least, _UNJOINED_DIGITS)
        if run is not None and len(run.text) >= least:
            yield Secret(kind.kind, at if country else run.start, run.end)
        elif (
            joined
            and len(token) >= kind.least
            and mixed(token)
            and sum(map(str.isdigit, token)) > 1
        ):
            yield Secret(kind.kind, at, at + len(token))
    elif (
        joined or len(token) >= _UNJOINED_TOKEN_CHARS
        if mixed(token) or (token.isdigit() and len(token) >= _UNJOINED_DIGITS)
        else joined and kind.value != "token" and _is_value(heard, at, speech)
    ):
        yield Secret(kind.kind, at, _value_end(heard, at, speech, kind))


def _token(heard: str, at: int) -> str:
    end = at
    while end < len(heard) and not heard[end].isspace() and end - at < _WINDOW_CHARS:
        end += 1
    return heard[at:end].rstrip(_CLOSING)


def _is_value(heard: str, at: int, speech: _Speech) -> bool:
    """Whether a plain word is the secret, and not what is said about it."""
    clause = _clause(heard, at)
    if speech.none.match(clause):
        hint = clause.split()[1:_HINT_WORDS]
        return any(mixed(each) and len(each) >= _UNJOINED_TOKEN_CHARS for each in hint)
    state = speech.state.match(clause)
    if state is None:
        return True
    rest = clause[state.end() :].lstrip(" ,\"')")
    return bool(rest) and not speech.breaks.match(rest) and not speech.goes_on.match(rest)


def _clause(heard: str, at: int) -> str:
    end = at
    while end < len(heard) and end - at < _WINDOW_CHARS:
        if heard[end] == "\n" or (heard[end] in _ENDING and not heard[end + 1 : end + 2].strip()):
            break
        end += 1
    return heard[at:end]


def _value_end(heard: str, at: int, speech: _Speech, kind: _Kind) -> int:
    """Where the secret ends: with the clause, a comma, or when something else begins."""
    clause = _clause(heard, at)
    end = 0
    for _ in range(_VALUE_WORDS if kind.value == "words" else 3 * _VALUE_WORDS):
        token = _token(clause, end)
        end += len(token)
        rest = clause[end:]
        if not rest.strip():
            break
        blank = len(rest) - len(rest.lstrip(" ,\"')" if kind.value == "phrase" else " \t"))
        if not blank or speech.goes_on.match(rest[blank:]):
            break
        end += blank
    return at + len(clause[:end].rstrip(" \t" + _CLOSING)) if end else at


def _value_first(
    heard: str, end: int, speech: _Speech, kind: _Kind, *, bare: bool
) -> Iterator[Secret]:
    """The value before its name: "4711 is my PIN". `bare` words count where the clause begins."""
    start = max(0, end - _WINDOW_CHARS)
    before = heard[start:end].rstrip(" ,\"')")
    if kind.value == "digits":
        found = [*digits.runs(before)][-1:]
        for run in found:
            if run.end < len(before) or len(run.text) < max(kind.least, _UNJOINED_DIGITS):
                continue
            yield Secret(kind.kind, start + run.start, start + run.end)
        return
    token = before[max(before.rfind(" "), before.rfind("\n")) + 1 :].lstrip(_OPENING)
    at = start + len(before) - len(token)
    if not token or "⟦" in token or "⟧" in token:
        return
    leading = heard[start:at].rstrip(" \t\"'(")
    begins = leading[-1:] in (*_ENDING, ",", ":") if leading else start == 0
    if mixed(token) and len(token) >= _UNJOINED_TOKEN_CHARS:
        yield Secret(kind.kind, at, start + len(before))
    elif (
        bare and begins and kind.value != "token"
        and not speech.not_first.fullmatch(token)
        and not speech.none.fullmatch(token)
        and not speech.state.fullmatch(token)
    ):  # fmt: skip
        yield Secret(kind.kind, at, start + len(before))


def _value_inside(
    heard: str, start: int, end: int, speech: _Speech, kind: _Kind
) -> Iterator[Secret]:
    token = heard[start:end].strip(_OPENING + _CLOSING)
    if not token or "⟦" in token:
        return
    if kind.value in ("words", "phrase") and not (
        speech.none.fullmatch(token)
        or speech.state.fullmatch(token)
        or speech.not_first.fullmatch(token)
    ):
        yield Secret(kind.kind, start, end)
    elif (
        kind.value == "digits"
        and (run := digits.run_at(heard, start))
        and len(run.text) >= kind.least
    ):
        yield Secret(kind.kind, start, run.end)


@lru_cache(maxsize=1)
def _speeches() -> tuple[_Speech, ...]:
    return tuple(
        _speech(Written(packaged.load(language, "secrets"), f"{language}/secrets.toml"))
        for language in packaged.LANGUAGES_HERE
        if packaged.has(language, "secrets")
    )


_NAMED = "\0"
"""Where a template has `{named}`."""


def _speech(written: Written) -> _Speech:
    templates = {key: written.take(key, []) for key in ("before", "after", "given_as", "around")}
    kinds = tuple(_kind(each, written, templates) for each in written.take("named"))
    is_, colon = written.alternation("joint"), r"\s*[:=]|'s\b"
    speech = _Speech(
        any_name=compiled("|".join(kind.names.pattern for kind in kinds)),
        no_name=compiled(rf"\b(?:{written.alternation('no_name')})\b"),
        kinds=kinds,
        joint=compiled(rf"[\"')]*(?:{colon}|[ ,]+(?:{is_})\b|[ ,]*[-→]+>? )", longest=True),
        filler=compiled(rf"(?:{written.alternation('filler')})\b[:,]?", longest=True),
        qualifies=compiled(rf"(?:{written.alternation('qualifies')})\b"),
        breaks=compiled(rf"(?:{written.alternation('breaks')})\b"),
        none=compiled(rf"(?:{written.alternation('none')})\b"),
        state=compiled(rf"(?:{written.alternation('state')})\b", longest=True),
        goes_on=compiled(rf"(?:{written.alternation('goes_on')})\b"),
        not_first=compiled(rf"(?:{written.alternation('not_first')})\b"),
    )
    written.finish()
    return speech


def _kind(table: Mapping[str, Any], written: Written, templates: Mapping[str, list[str]]) -> _Kind:
    names = f"(?:{'|'.join(written.expanded(table['names']))})"

    def filled(key: str, form: str) -> Any:
        marked = written.expanded(each.replace("{named}", _NAMED) for each in templates[key])
        joined = "|".join(each.replace(_NAMED, names) for each in marked)
        return compiled(form.format(joined) if joined else NEVER)

    return _Kind(
        kind=table["kind"],
        value=table["value"],
        least=table.get("least", 0),
        joined=table.get("joined", False),
        names=compiled(rf"\b{names}\b", longest=True),
        before=filled("before", r"\b(?:{})\b"),
        after=filled("after", r"\b(?:{})\b"),
        given_as=filled("given_as", r"\b(?:{})\b"),
        around=filled("around", r"\b(?:{})"),
    )
