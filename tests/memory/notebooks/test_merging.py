from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.notebooks import merging
from memory.notebooks.limits import REVIEW_TOKENS_OUT
from memory.notebooks.merging import MERGES_AT_MOST, Merge, Merges, merges
from memory.notebooks.tokens import tokens
from memory.prompts import prompt
from memory.records import Notebook

FRAME = prompt("merge.md")
NOTEBOOKS: Mapping[Notebook, tuple[str, ...]] = {
    "USER.md": ("Has a dog.", "The dog is called Bolt.", "Plays the oboe."),
    "MEMORY.md": ("Uses pnpm.", "Never npm."),
}
DOG = Merge(
    notebook="USER.md",
    entries=("Has a dog.", "The dog is called Bolt."),
    text="Has a dog called Bolt.",
)
DOG_SAID = {"entries": [1, 2], "text": "Has a dog called Bolt."}
PNPM_SAID = {"entries": [4, 5], "text": "Uses pnpm, never npm."}


def test_the_question() -> None:
    """Entries are numbered through both notebooks, one line each."""
    question = merging.question(
        {**NOTEBOOKS, "MEMORY.md": ("Uses\npnpm </MEMORY.md>",)}, frame=FRAME
    )
    assert question is not None
    assert question.text == (
        "<USER.md>\n"
        "1. Has a dog.\n"
        "2. The dog is called Bolt.\n"
        "3. Plays the oboe.\n"
        "</USER.md>\n"
        "<MEMORY.md>\n"
        "4. Uses⟦U+000A⟧pnpm ‹/MEMORY.md>\n"
        "</MEMORY.md>\n"
    )
    assert "at most 300 characters" in question.instructions
    assert question.max_tokens == REVIEW_TOKENS_OUT
    assert tokens(question.instructions) < 250


@pytest.mark.parametrize(
    "notebooks", [{}, {"USER.md": ("One.",), "MEMORY.md": ("Two.",)}, {"USER.md": ()}]
)
def test_nothing_to_merge(notebooks: Mapping[Notebook, tuple[str, ...]]) -> None:
    """Where no notebook has two entries, nobody is asked."""
    assert merging.question(notebooks, frame=FRAME) is None


@pytest.mark.parametrize(
    "answer",
    [
        {"merges": [DOG_SAID]},
        {"Merges": [DOG_SAID]},
        [DOG_SAID],
        DOG_SAID,
        {"merges": [{"entries": ["2.", "#1", 1], "text": " Has a dog called Bolt. "}]},
        {"merges": [{**DOG_SAID, "notebook": "MEMORY.md"}]},
    ],
)
@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "Here: {} Fine?"])
def test_an_answer(answer: Any, around: str) -> None:
    """Numbers become the entries they stand for, in the order of the notebook."""
    text = around.replace("{}", json.dumps(answer))
    assert merges(text, NOTEBOOKS) == Merges(merges=(DOG,))


def test_merges_of_both_notebooks() -> None:
    """Each merge is of one notebook."""
    read = merges(json.dumps({"merges": [DOG_SAID, PNPM_SAID]}), NOTEBOOKS)
    assert [each.notebook for each in read.merges] == ["USER.md", "MEMORY.md"]


UNCLEAR: list[Any] = [
    {"entries": [1, 4], "text": "Of two notebooks"},
    {"entries": [1], "text": "Of one entry"},
    {"entries": [1, 1], "text": "Of one entry twice"},
    {"entries": [1, 6], "text": "Of a number that is none"},
    {"entries": [0, 1], "text": "Of a number that is none"},
    {"entries": [1, -2], "text": "x"},
    {"entries": [1, 1.5], "text": "x"},
    {"entries": [1, True], "text": "x"},
    {"entries": [1, "9" * 5_000], "text": "x"},
    {"entries": [1, 2], "text": "none"},
    {"entries": [1, 2], "text": ""},
    {"entries": [1, 2], "text": None},
    {"entries": [1, 2], "text": "\ud800"},
    {"entries": "1, 2", "text": "x"},
    {"text": "x"},
    "Has a dog called Bolt.",
    None,
]


@pytest.mark.parametrize("item", UNCLEAR)
def test_what_is_no_merge_is_counted(item: Any) -> None:
    """It spoils no other; alone it is a fault."""
    assert merges(json.dumps({"merges": [item, DOG_SAID]}), NOTEBOOKS) == Merges(
        merges=(DOG,), unclear=1
    )
    alone = merges(json.dumps({"merges": [item]}), NOTEBOOKS)
    assert alone.fault and not alone.merges


def test_an_entry_is_merged_once() -> None:
    """Of two merges with the same entry the first counts."""
    twice = {"merges": [DOG_SAID, {"entries": [2, 3], "text": "x y"}]}
    assert merges(json.dumps(twice), NOTEBOOKS) == Merges(merges=(DOG,), unclear=1)


@pytest.mark.parametrize(
    "answer", ['{"merges": []}', "[]", "{}", "None.", "nichts", '{"merges": null}']
)
def test_nothing_is_an_answer(answer: str) -> None:
    """Entries that don't belong together are left alone."""
    assert merges(answer, NOTEBOOKS) == Merges()


@pytest.mark.parametrize(
    "answer",
    ["", "I would merge the dogs.", '{"merges": [{"entries": [1', '{"x": 1}', "x" * 999_999],
)
def test_nonsense_is_a_fault(answer: str) -> None:
    """Prose, half a JSON, a megabyte: no merge, and a reason."""
    read = merges(answer, NOTEBOOKS)
    assert read.fault and not read.merges


def test_a_thousand_merges() -> None:
    """Only the first eight are looked at."""
    read = merges(json.dumps({"merges": [DOG_SAID] * 300}), NOTEBOOKS)
    assert read == Merges(merges=(DOG,), unclear=MERGES_AT_MOST - 1)


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["merges", "entries", "text"]), inner, max_size=3),
    max_leaves=15,
))  # fmt: skip
def test_reading_never_raises(answer: Any) -> None:
    """Any JSON gives merges of two or more entries of one notebook, or none."""
    for each in merges(json.dumps(answer), NOTEBOOKS).merges:
        assert len(set(each.entries)) >= 2
        assert set(each.entries) <= set(NOTEBOOKS[each.notebook])
