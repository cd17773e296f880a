from __future__ import annotations

from pathlib import Path

import pytest

from memory.llm.addresses import host_of
from memory.llm.programs import PROGRAMS
from memory.llm.providers import providers

TABLE = providers()


def test_every_program_is_a_login() -> None:
    """The logins of the table are the programs that can be asked."""
    assert {name for name, row in TABLE.items() if row.kind == "login"} == set(PROGRAMS)


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.kind == "key"])
def test_a_key_has_a_host_a_model_and_a_dated_price(name: str) -> None:
    """What is billed is named with its price and the day on which that was seen."""
    row = TABLE[name]
    assert row.url.startswith("https://") and host_of(row.url)
    assert row.model and row.company
    assert row.price_in and row.price_out and row.as_of
    assert row.price_in <= row.price_out


def test_what_is_local_goes_to_nobody() -> None:
    """A local model has no company, and no price."""
    for row in TABLE.values():
        if row.kind == "local":
            assert (row.company, row.price_in, row.price_out) == ("", None, None)


DOCS = (Path(__file__).parents[3] / "docs" / "jarvis-learning.md").read_text("utf-8")


@pytest.mark.parametrize("name", TABLE)
def test_the_docs_name_every_provider(name: str) -> None:
    """The table of the docs is that of the code: names, models, prices, days."""
    row = TABLE[name]
    price = f"{row.price_in:.2f} / {row.price_out:.2f} ({row.as_of})" if row.price_in else "–"
    cells = next(line for line in DOCS.splitlines() if line.startswith(f"| `{name}` |")).split("|")
    assert cells[3].strip() == row.model
    assert cells[4].strip() == price


def test_the_docs_name_the_programs_questions() -> None:
    """How each program is asked stands in the docs."""
    for program in PROGRAMS.values():
        if program.status is not None:
            assert f"`{program.command} {' '.join(program.status)}`" in DOCS
