"""Secrets in what was said: keys by their form, passwords and numbers by what they are called."""

from __future__ import annotations

import unicodedata

from memory.languages.folding import Folded, folded
from memory.notebooks.secret import Secret
from memory.notebooks.secret_keys import keys
from memory.notebooks.secret_names import named
from memory.notebooks.secret_numbers import numbers

__all__ = ["Secret", "secret_in", "secrets", "without_secrets"]


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
        *keys(plain.text),
        *(
            Secret(each.kind, *heard.raw_span(each.start, each.end))
            for each in (*numbers(heard.text), *named(heard.text))
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
