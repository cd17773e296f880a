"""Card numbers and IBANs in a text, written or spoken: known by their digits, and by their sums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memory.languages import digits
from memory.notebooks.secret import Secret, compiled

_CARD_BEGINS: Mapping[int, tuple[str, ...]] = {
    15: ("34", "37"),
    16: ("4", "51", "52", "53", "54", "55", "22", "23", "24", "25", "26", "27", "6", "35"),
}
_IBAN = compiled(r"\b(?P<country>[a-z] ?[a-z]) ?(?P<check>[0-9] ?[0-9])")
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

_LETTERS = compiled(r"([a-z] ?[a-z] ?)(?:[0-9]|\b)")


def numbers(heard: str) -> Iterator[Secret]:
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
    while start < run.start and not (country := country_at(heard, start)):
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


def country_at(heard: str, at: int) -> str:
    """The two letters that an IBAN begins with, as they stand there; empty where none do."""
    letters = _LETTERS.match(heard[at : at + 8])
    found: str = letters[1] if letters else ""
    return found if found.replace(" ", "") in _IBAN_CHARS else ""
