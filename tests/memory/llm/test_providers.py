from __future__ import annotations

import pytest

from memory.llm.addresses import host_of
from memory.llm.command_line import PROGRAMS
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
