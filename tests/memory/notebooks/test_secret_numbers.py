from __future__ import annotations

import pytest

from memory.notebooks.secret_numbers import country_at, numbers

NUMBERS = [
    ("pay with 4111 1111 1111 1111 please", ["4111 1111 1111 1111"]),
    ("4111 1111 1111 1112", []),  # the sum is wrong
    ("94111 1111 1111 11113", []),  # a piece of a longer number
    ("de89 3704 0044 0532 0130 00", ["de89 3704 0044 0532 0130 00"]),
    ("de88 3704 0044 0532 0130 00", []),
]


@pytest.mark.parametrize(("heard", "found"), NUMBERS)
def test_a_card_and_an_account_are_known_by_their_sums(heard: str, found: list[str]) -> None:
    assert list({heard[each.start : each.end] for each in numbers(heard)}) == found


@pytest.mark.parametrize(
    ("heard", "country"), [("de 89", "de "), ("d e 89", "d e "), ("xx 89", "")]
)
def test_an_iban_begins_with_its_country(heard: str, country: str) -> None:
    assert country_at(heard, 0) == country
