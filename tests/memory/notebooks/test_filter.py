from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.languages import packaged
from memory.notebooks.filter import ORDER, VETOES, marked, meeting, rules
from memory.records import LANGUAGES

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "fixtures" / "filter"
EXAMPLES: dict[str, dict[str, Any]] = {
    rule: examples
    for path in sorted(FIXTURES.glob("*.toml"))
    for rule, examples in tomllib.loads(path.read_text(encoding="utf-8")).items()
}
NAMES = [rule.name for language in rules() for rule in language.rules]


def test_every_language_has_rules() -> None:
    assert set(packaged.LANGUAGES_HERE) == set(LANGUAGES)
    assert {name.split(".")[0] for name in NAMES} == set(LANGUAGES)


def test_names_are_unique() -> None:
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_has_examples(name: str) -> None:
    """A rule without sentences that show it, and sentences that must not match, is not done."""
    assert EXAMPLES[name]["marked"]
    assert EXAMPLES[name]["not_marked"]
    assert EXAMPLES[name].keys() <= {"marked", "not_marked", "previous"}


def test_examples_name_rules() -> None:
    assert EXAMPLES.keys() <= set(NAMES)


def examples(kind: str) -> list[tuple[str, str, str | None]]:
    return [
        (name, sentence, each.get("previous"))
        for name, each in EXAMPLES.items()
        for sentence in each.get(kind, ())
    ]


@pytest.mark.parametrize(("name", "sentence", "previous"), examples("marked"))
def test_marked(name: str, sentence: str, previous: str | None) -> None:
    """The rule itself marks its example, and the quote is the user's words to the letter."""
    candidates = marked(sentence, previous=previous)
    assert candidates
    assert any(name in meeting(each.quote, previous=previous) for each in candidates)
    assert all(each.quote in sentence for each in candidates)


@pytest.mark.parametrize(("name", "sentence", "previous"), examples("not_marked"))
def test_not_marked(name: str, sentence: str, previous: str | None) -> None:
    """A near miss of one rule is not marked by another either."""
    assert marked(sentence, previous=previous) == ()


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("i'm allergic to nuts find me a restaurant", ["i'm allergic to nuts"]),
        ("find me a restaurant i'm allergic to nuts", ["i'm allergic to nuts"]),
        ("i'm vegan find me a restaurant", ["i'm vegan find me a restaurant"]),
        ("I'm vegan. Find me a restaurant.", ["I'm vegan."]),
        ("Set an alarm for seven. My sister's name is Ana! Thanks.", ["My sister's name is Ana!"]),
        ("I’M ALLERGIC TO NUTS", ["I’M ALLERGIC TO NUTS"]),
        ("  i live in bonn  \n\n and i have two cats ", ["i live in bonn", "and i have two cats"]),
        ("i live in bonn\ti love it here", ["i live in bonn\ti love it here"]),
        ("my wife’s name is Zoë 👩‍🚀 she likes ﬁsh", ["my wife’s name is Zoë 👩‍🚀 she likes ﬁsh"]),
        ("", []),
        ("?!", []),
        ("\x00\u2028\u200b", []),
    ],
)
def test_quotes(text: str, quotes: list[str]) -> None:
    """A quote is one sentence of the turn, to the letter. A request beside it stays out, unless
    the rest would be too short to be evidence."""
    assert [each.quote for each in marked(text)] == quotes


def test_a_correction_needs_something_to_correct() -> None:
    """A bare "no" marks only what contradicts something that Jarvis said."""
    assert marked("no on wednesday") == ()
    assert [each.kind for each in marked("no on wednesday", previous="It is on Tuesday.")] == [
        "correction"
    ]


@pytest.mark.parametrize("language", [None, "en", "de", "es", "fr"])
def test_the_language_is_a_hint(language: str | None) -> None:
    """The rules of every language run, whatever language the turn is said to be in."""
    assert marked("i'm allergic to nuts", language=language)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300), st.none() | st.text(max_size=50))
def test_any_text(text: str, previous: str | None) -> None:
    """Whatever was said, quotes stand in it to the letter, and none is empty."""
    for each in marked(text, previous=previous):
        assert each.quote in text
        assert each.quote == each.quote.strip() != ""


def test_documented() -> None:
    """The page about learning names every kind, veto and key of a rule."""
    page = (ROOT / "docs" / "jarvis-learning.md").read_text(encoding="utf-8")
    section = page.split("## Step one")[1].split("\n## ")[0]
    for word in (*VETOES, *ORDER, "patterns", "unless", "despite", "after", "not_after"):
        assert word in section
