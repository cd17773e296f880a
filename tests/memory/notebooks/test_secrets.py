"""Secrets, by the tables in fixtures/secrets/."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.languages import packaged
from memory.notebooks.secrets import secret_in, secrets, without_secrets

TABLES = Path(__file__).parents[3] / "fixtures" / "secrets"


def table(name: str) -> dict[str, list[str]]:
    return tomllib.loads((TABLES / f"{name}.toml").read_text(encoding="utf-8"))


NAMES = ("keys", *packaged.LANGUAGES_HERE)
SECRET = [
    (kind, text.replace("·", ""))
    for name in NAMES
    for kind, texts in table(name).items()
    if kind != "none"
    for text in texts
]
HARMLESS = [text for name in NAMES for text in table(name)["none"]]


@pytest.mark.parametrize(("kind", "text"), SECRET)
def test_a_secret_is_named_and_taken_out(kind: str, text: str) -> None:
    """What is secret goes, no more and no less, and its kind stands in its place."""
    said = text.replace("«", "").replace("»", "")
    before, _, rest = text.partition("«")
    after = rest.partition("»")[2]
    assert secret_in(said) == kind
    assert without_secrets(said) == f"{before}⟦{kind}⟧{after}"


@pytest.mark.parametrize("text", HARMLESS)
def test_not_everything_that_sounds_like_it_is_a_secret(text: str) -> None:
    """Talk about passwords, other codes and numbers stay as they are."""
    assert secret_in(text) is None
    assert without_secrets(text) == text


def named_kinds(language: str) -> set[str]:
    return {each["kind"] for each in packaged.load(language, "secrets")["named"]}


@pytest.mark.parametrize("language", packaged.LANGUAGES_HERE)
def test_each_kind_has_sentences_in_each_language(language: str) -> None:
    """A kind that a language names is shown in its table."""
    assert named_kinds(language) <= table(language).keys()


def test_each_kind_of_key_has_an_example() -> None:
    """A pattern of a key that nothing shows is not known to work."""
    kinds = {each["name"] for each in packaged.load(".", "secrets")["kind"]}
    assert kinds == table("keys").keys() - {"none"}


@pytest.mark.parametrize(
    "text",
    [
        "my pass\u200bword is sunflower",
        "my p\u00adin is 4711",
        "my PIN is 4\u200d7\u200d1\u200d1",
        "ｍｙ ｐａｓｓｗｏｒｄ ｉｓ ｓｕｎｆｌｏｗｅｒ",
        "MI CONTRASEÑA ES GIRASOL",
        "mi contrasen\u0303a es girasol",
        "die PIN fu\u0308rs Handy ist 4711",
        "my AKIA\u200bIOSFODNN7EXAMPLE",
    ],
)
def test_hidden_characters_hide_no_secret(text: str) -> None:
    """Invisible, wide and combining characters change nothing."""
    assert secret_in(text) is not None


def test_all_secrets_of_a_text_go() -> None:
    """One secret does not cover for the next."""
    assert without_secrets("my pin is 4711. my password is tiger! the cvv is 123") == (
        "my pin is ⟦a PIN⟧. my password is ⟦a password⟧! the cvv is ⟦a card's security code⟧"
    )


@given(st.text(max_size=200))
def test_any_text_may_come(text: str) -> None:
    """Whatever is said, what is left holds no secret of the same kind, and the rest is untouched."""
    found = secrets(text)
    assert all(0 <= each.start < each.end <= len(text) for each in found)
    assert (secret_in(text) is None) == (without_secrets(text) == text)


PIECES: list[Any] = [
    "my password", "is", "pin", "4711", "four", " ", ", ", "für", "mein passwort", "contraseña", "es",
    "⟦a PIN⟧", "\u200b", "«", "=", "key", "DE89", "://", "tiger", "and", "to", "auf", "ﬁ", "İ", "ß",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=20).map(" ".join))
def test_what_was_taken_out_is_not_taken_out_again(text: str) -> None:
    """Taking out is done at once: of what is left, the marks are no secret."""
    once = without_secrets(text)
    for secret in secrets(once):
        assert not once[secret.start : secret.end].strip().startswith("⟦")


LONG_CHARS = 100_000


@pytest.mark.parametrize(
    "piece",
    ["my password is tiger ", "my password for the ", "one ", "4111 ", "de89 ", "is my pin ", "code for the phone ",
     "passwort für das ", "-----BEGIN PRIVATE KEY-----", "a://b:", "dass mein passwort ", "x"],
)  # fmt: skip
def test_a_long_text_takes_time_in_proportion(piece: str) -> None:
    """Four times the text, some four times the work: the least processor time of three, generously
    bounded."""

    def once(text: str) -> float:
        began = time.process_time()
        secrets(text)
        return time.process_time() - began

    def seconds(chars: int) -> float:
        text = (piece * (chars // len(piece) + 1))[:chars]
        return min(once(text) for _ in range(3))

    seconds(1_000)
    assert seconds(LONG_CHARS) < 10 * max(seconds(LONG_CHARS // 4), 0.05)
