"""How each language says what is written: one TOML file each."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable
from importlib import resources

from memory.records import Language
from voice.speech.clauses import Abbreviations
from voice.speech.preparation import Words


@functools.cache
def words_of(language: Language) -> Words:
    text = resources.files(__name__).joinpath(f"{language}.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    parts_of_closing = _parts(data["closing_abbreviations"])
    last_of_closing = _parts(key.split()[-1] for key in data["closing_abbreviations"])
    return Words(
        abbreviations=Abbreviations(
            open=_parts(data["abbreviations"]) | (parts_of_closing - last_of_closing),
            closing=last_of_closing,
            numbering=_parts(data["numbering"]),
            months=frozenset(month.lower() for month in data["dates"]["months"]),
            ordinals="ordinals" in data["dates"],
        ),
        expansions=data["abbreviations"],
        closing_expansions=data["closing_abbreviations"],
        numbering=data["numbering"],
        minus=data["numbers"]["minus"],
        to=data["numbers"]["to"],
        hundreds=data["numbers"].get("hundreds", {}),
        fractions=data["fractions"],
        units={unit: (one, many) for unit, (one, many) in data["units"].items()},
        currencies={sign: (one, many) for sign, (one, many) in data["currencies"].items()},
        and_cents=data["numbers"]["and_cents"],
        and_fraction=data["numbers"]["and_fraction"],
        scales=tuple(data["numbers"]["scales"]),
        scale_joint=data["numbers"]["scale_joint"],
        symbols=data["symbols"],
        at=data["addresses"]["at"],
        dot=data["addresses"]["dot"],
        slash=data["addresses"]["slash"],
        months=tuple(data["dates"]["months"]),
        date=data["dates"]["date"],
        date_without_year=data["dates"]["date_without_year"],
        numeric_dates=tuple(data["dates"]["numeric_dates"]),
        days=tuple(data["dates"].get("days", ())),
        ordinal_endings=data["dates"].get("ordinals", {}),
        hour=data["times"]["hour"],
        full_hour=data["times"]["full_hour"],
        hour_words=tuple(data["times"]["hour_words"]),
    )


def _parts(abbreviations: Iterable[str]) -> frozenset[str]:
    """What stands between spaces, in lower case: "p. ej." is "p." and "ej."."""
    return frozenset(part for key in abbreviations for part in key.lower().split())
