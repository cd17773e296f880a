"""Secrets in what was said: keys by their form, passwords and numbers by what they are called.

Keys, cards and IBANs are known by how they look. A spoken secret has a name, a joint and a
value: "my password | for the wifi is | sunflower". Names, joints, and what is no value ("my
password is too long") are data of each language (`secrets.toml`); all languages always run.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import re2

from memory.languages import digits, packaged
from memory.languages.folding import Folded, folded
from memory.languages.patterns import NEVER, Written

_WINDOW_CHARS = 300
_JOINT_WORDS = 7
_VALUE_WORDS = 14
_HINT_WORDS = 6
_UNJOINED_DIGITS = 4
_ACCOUNT_DIGITS = 6
_UNJOINED_TOKEN_CHARS = 5

_NO_LANGUAGE = "."
_OPENING = " \t\"'([{,:="
_CLOSING = ".,;:!?\"')]}"
_ENDING = ".;!?\n"

_Value = Literal["words", "phrase", "digits", "token"]


@dataclass(frozen=True, slots=True)
class Secret:
    """`kind` in words, "a password"; `start` and `end` (excluded) in the raw text."""

    kind: str
    start: int
    end: int


def secret_in(text: str) -> str | None:
    """What kind of secret the text holds, "a password"; None for none."""
    found = secrets(text)
    return found[0].kind if found else None


def without_secrets(text: str) -> str:
    """The text with each secret replaced by its kind: `my PIN is ⟦a PIN⟧`."""
    pieces, at = [], 0
    for secret in secrets(text):
        pieces += [text[at : secret.start], f"⟦{secret.kind}⟧"]
        at = secret.end
    return "".join([*pieces, text[at:]])


def secrets(text: str) -> tuple[Secret, ...]:
    """All of them, in order; those that overlap become one, called after the first."""
    plain = _plain(text)
    heard = folded(plain.text)
    found = [
        *_keys(plain.text),
        *(
            Secret(each.kind, *heard.raw_span(each.start, each.end))
            for each in (*_numbers(heard.text), *_named(heard.text))
        ),
    ]
    chosen: list[Secret] = []
    for secret in sorted(found, key=lambda each: (each.start, -each.end)):
        if chosen and secret.start < chosen[-1].end:
            before = chosen.pop()
            secret = Secret(before.kind, before.start, max(before.end, secret.end))
        chosen.append(secret)
    return tuple(Secret(each.kind, *plain.raw_span(each.start, each.end)) for each in chosen)


def _plain(text: str) -> Folded:
    """The text in compatibility form, case kept, without characters that nobody sees."""
    if text.isascii():
        return Folded(text, tuple(range(len(text))), text)
    letters = ["" if _hidden(letter) else unicodedata.normalize("NFKC", letter) for letter in text]
    at = tuple(index for index, letter in enumerate(letters) for _ in letter)
    return Folded("".join(letters), at, text)


def _hidden(letter: str) -> bool:
    kind = unicodedata.category(letter)
    return kind == "Cf" or (kind == "Mn" and not unicodedata.combining(letter))


def _compiled(pattern: str, *, longest: bool = False) -> Any:
    options = re2.Options()
    options.max_mem = 1 << 26
    options.longest_match = longest
    return re2.compile(pattern, options=options)


def _mixed(value: str) -> bool:
    """A letter and a digit in one word: nobody says that by chance."""
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


# Keys ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Key:
    kind: str
    pattern: Any
    mixed: bool


@lru_cache(maxsize=1)
def _key_kinds() -> tuple[_Key, ...]:
    return tuple(
        _Key(each["name"], _compiled(each["pattern"]), each.get("mixed", False))
        for each in packaged.load(_NO_LANGUAGE, "secrets")["kind"]
    )


def _group(match: Any) -> int:
    """The group that matched; the whole match where none did."""
    return next((index for index, value in enumerate(match.groups(), 1) if value), 0)


_KEY_LIKE = _compiled(r"[!-~]{12}|-----BEGIN|://|=")
"""No key is without one of these, and few sentences are with one."""


def _keys(plain: str) -> Iterator[Secret]:
    if not _KEY_LIKE.search(plain):
        return
    for key in _key_kinds():
        for match in key.pattern.finditer(plain):
            group = _group(match)
            if not key.mixed or _mixed(match[group]):
                yield Secret(key.kind, *match.span(group))


# Cards and accounts ---------------------------------------------------------------------

_CARD_BEGINS: Mapping[int, tuple[str, ...]] = {
    15: ("34", "37"),
    16: ("4", "51", "52", "53", "54", "55", "22", "23", "24", "25", "26", "27", "6", "35"),
}
_IBAN = _compiled(r"\b(?P<country>[a-z] ?[a-z]) ?(?P<check>[0-9] ?[0-9])")
_IBAN_CHARS = {
    "ad": 24, "ae": 23, "al": 28, "at": 20, "az": 28, "ba": 20, "be": 16, "bg": 22, "bh": 22,
    "br": 29, "by": 28, "ch": 21, "cr": 22, "cy": 28, "cz": 24, "de": 22, "dk": 18, "do": 28,
    "ee": 20, "eg": 29, "es": 24, "fi": 18, "fo": 18, "fr": 27, "gb": 22, "ge": 22, "gi": 23,
    "gl": 18, "gr": 27, "gt": 28, "hr": 21, "hu": 28, "ie": 22, "il": 23, "iq": 23, "is": 26,
    "it": 27, "jo": 30, "kw": 30, "kz": 20, "lb": 28, "lc": 32, "li": 21, "lt": 20, "lu": 20,
    "lv": 21, "mc": 27, "md": 24, "me": 22, "mk": 19, "mr": 27, "mt": 31, "mu": 30, "nl": 18,
    "no": 15, "pk": 24, "pl": 28, "ps": 29, "pt": 25, "qa": 29, "ro": 24, "rs": 22, "sa": 24,
    "sc": 31, "se": 24, "si": 19, "sk": 24, "sm": 27, "st": 25, "sv": 28, "tl": 23, "tn": 24,
    "tr": 26, "ua": 29, "va": 22, "vg": 24, "xk": 20,
}  # fmt: skip


def _numbers(heard: str) -> Iterator[Secret]:
    for run in digits.runs(heard):
        yield from _cards(run)
        yield from _spoken_iban(heard, run)
    yield from _written_ibans(heard)


def _cards(run: digits.Run) -> Iterator[Secret]:
    at = 0
    while at < len(run.text):
        for count, begins in _CARD_BEGINS.items():
            number = run.text[at : at + count]
            whole = len(number) == count and _whole(run, at, at + count)
            if whole and number.startswith(begins) and _luhn(number):
                yield Secret("a card number", run.starts[at], run.ends[at + count - 1])
                at += count - 1
                break
        at += 1


def _whole(run: digits.Run, start: int, end: int) -> bool:
    """Whether the digits from `start` to `end` are not a piece of a longer written number."""
    before = start == 0 or run.starts[start] > run.ends[start - 1]
    after = end == len(run.text) or run.starts[end] > run.ends[end - 1]
    return before and after


def _luhn(number: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(number)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _spoken_iban(heard: str, run: digits.Run) -> Iterator[Secret]:
    """Two letters, then only digits, as a German or Spanish account is read out."""
    start, country = max(0, run.start - 4), ""
    while start < run.start and not (country := _country(heard, start)):
        start += 1
    if start + len(country) != run.start:
        return
    country = country.replace(" ", "")
    digits_left = _IBAN_CHARS.get(country, 0) - 2
    if 0 < digits_left <= len(run.text) and _checks(country + run.text[:digits_left]):
        yield Secret("an IBAN", start, run.ends[digits_left - 1])


def _written_ibans(heard: str) -> Iterator[Secret]:
    for match in _IBAN.finditer(heard):
        country = match["country"].replace(" ", "")
        chars = _IBAN_CHARS.get(country)
        if chars is None:
            continue
        iban, at = "", match.start()
        while at < len(heard) and len(iban) < chars and (heard[at].isalnum() or heard[at] in " -"):
            iban += heard[at] if heard[at].isalnum() else ""
            at += 1
        if len(iban) == chars and iban.isascii() and _checks(iban):
            yield Secret("an IBAN", match.start(), at)


def _checks(iban: str) -> bool:
    """ISO 7064, mod 97-10."""
    turned = iban[4:] + iban[:4]
    return int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1


# What has a name ------------------------------------------------------------------------


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


def _named(heard: str) -> Iterator[Secret]:
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
        start, end = match.span(_group(match))
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


_WORD = _compiled(r"[ ,]+([^\s,.;:!?=]+)")


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
        country = _country(heard, at) if joined and kind.least >= _ACCOUNT_DIGITS else ""
        run = digits.run_at(heard, at + len(country))
        least = kind.least if joined else max(kind.least, _UNJOINED_DIGITS)
        if run is not None and len(run.text) >= least:
            yield Secret(kind.kind, at if country else run.start, run.end)
        elif (
            joined
            and len(token) >= kind.least
            and _mixed(token)
            and sum(map(str.isdigit, token)) > 1
        ):
            yield Secret(kind.kind, at, at + len(token))
    elif (
        joined or len(token) >= _UNJOINED_TOKEN_CHARS
        if _mixed(token) or (token.isdigit() and len(token) >= _UNJOINED_DIGITS)
        else joined and kind.value != "token" and _is_value(heard, at, speech)
    ):
        yield Secret(kind.kind, at, _value_end(heard, at, speech, kind))


def _country(heard: str, at: int) -> str:
    """The two letters that an IBAN begins with, as they stand there; empty where none do."""
    letters = _LETTERS.match(heard[at : at + 8])
    found: str = letters[1] if letters else ""
    return found if found.replace(" ", "") in _IBAN_CHARS else ""


_LETTERS = _compiled(r"([a-z] ?[a-z] ?)(?:[0-9]|\b)")


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
        return any(_mixed(each) and len(each) >= _UNJOINED_TOKEN_CHARS for each in hint)
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
    if _mixed(token) and len(token) >= _UNJOINED_TOKEN_CHARS:
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
        any_name=_compiled("|".join(kind.names.pattern for kind in kinds)),
        no_name=_compiled(rf"\b(?:{written.alternation('no_name')})\b"),
        kinds=kinds,
        joint=_compiled(rf"[\"')]*(?:{colon}|[ ,]+(?:{is_})\b|[ ,]*[-→]+>? )", longest=True),
        filler=_compiled(rf"(?:{written.alternation('filler')})\b[:,]?", longest=True),
        qualifies=_compiled(rf"(?:{written.alternation('qualifies')})\b"),
        breaks=_compiled(rf"(?:{written.alternation('breaks')})\b"),
        none=_compiled(rf"(?:{written.alternation('none')})\b"),
        state=_compiled(rf"(?:{written.alternation('state')})\b", longest=True),
        goes_on=_compiled(rf"(?:{written.alternation('goes_on')})\b"),
        not_first=_compiled(rf"(?:{written.alternation('not_first')})\b"),
    )
    written.finish()
    return speech


def _kind(table: Mapping[str, Any], written: Written, templates: Mapping[str, list[str]]) -> _Kind:
    names = f"(?:{'|'.join(written.expanded(table['names']))})"

    def filled(key: str, form: str) -> Any:
        marked = written.expanded(each.replace("{named}", _NAMED) for each in templates[key])
        joined = "|".join(each.replace(_NAMED, names) for each in marked)
        return _compiled(form.format(joined) if joined else NEVER)

    return _Kind(
        kind=table["kind"],
        value=table["value"],
        least=table.get("least", 0),
        joined=table.get("joined", False),
        names=_compiled(rf"\b{names}\b", longest=True),
        before=filled("before", r"\b(?:{})\b"),
        after=filled("after", r"\b(?:{})\b"),
        given_as=filled("given_as", r"\b(?:{})\b"),
        around=filled("around", r"\b(?:{})"),
    )
