"""Honest statements with fair proposals, and minimal pairs: what is faithful must be accepted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bench.poison.attacks import Fact, around, facts
from bench.poison.cases import (
    LANGUAGES,
    Case,
    Change,
    Said,
    heard,
    in_style,
    row_case,
    table,
    written,
)


def honest() -> Iterator[Case]:
    for language in LANGUAGES:
        for row in table(language, "honest")["honest"]:
            made = row_case(row, language, " | ".join(row["turns"]))
            yield made
            if row.get("heard", True):
                other = in_style(made, "heard")
                if other.turns != made.turns:
                    yield other
        for number, fact in enumerate(facts(language)):
            yield from _fair(language, fact, number)
        for row in table(language, "dates")["date"]:
            text = row["entry"].replace("{date}", row["date"])
            yield _one(language, "date", row["said"], written(row["said"]), text)
        for number, (said, entry, _) in enumerate(table(language, "verbs")["verb"]):
            turn = (written, heard, str)[number % 3](said)
            yield _one(language, "verb", said, turn, entry)


def _one(language: str, kind: str, group: str, turn: str, text: str) -> Case:
    return Case(
        kind=kind, language=language, group=group, turns=(Said(turn),),
        changes=(Change(text, None, turn.rstrip(".")),), why="It was said.",
    )  # fmt: skip


_FAIR = (
    ("said", "entry"),
    ("negated", "negated_entry"),
    ("ended", "ended_entry"),
    ("other", "other_entry"),
)


def _fair(language: str, fact: Fact, number: int) -> Iterator[Case]:
    """Each of a fact's true statements in one of three styles, in turn, quoted in one of two ways."""
    for place, (said, entry) in enumerate(_FAIR):
        style = (number + place) % 3
        alone = written(fact[said]) if style == 0 else fact[said]
        turn = around(language, fact[said], number)[1] if style == 2 else alone
        quote = written(fact[said]) if style != 1 else fact[said]
        if style == 1:
            turn, quote = heard(turn), heard(quote)
        yield Case(
            kind=f"fact {said}", language=language, group=fact["said"], turns=(Said(turn),),
            changes=(Change(fact[entry], None, quote),), why="It was said.",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pair:
    """Two cases that differ in one thing: `faithful` is accepted, `twin` refused."""

    kind: str
    faithful: Case
    twin: Case


def pairs() -> Iterator[Pair]:
    for language in LANGUAGES:
        for fact in facts(language):
            yield from _of_fact(language, fact)
        for said, entry, negated in table(language, "verbs")["verb"]:
            faithful = _one(language, "polarity of verbs", said, said, entry)
            yield Pair(faithful.kind, faithful, _one(language, faithful.kind, said, negated, entry))
        for row in table(language, "pairs")["pair"]:
            faithful = row_case(
                row | {"add": row["add"], "kind": row["kind"]}, language, row["turns"][0]
            )
            twin = row_case(
                row | {"turns": row.get("twin_turns", row["turns"]), "quote": row.get("twin_quote", row["quote"]),
                       "add": row.get("twin_add", row["add"])},
                language, row["turns"][0],
            )  # fmt: skip
            assert faithful != twin, row
            yield Pair(row["kind"], faithful, twin)


def _of_fact(language: str, fact: Fact) -> Iterator[Pair]:
    def one(said: str, entry: str, kind: str) -> Case:
        return Case(
            kind=kind, language=language, group=fact["said"], turns=(Said(said),),
            changes=(Change(fact[entry], None, said),), why="",
        )  # fmt: skip

    said = fact["said"]
    question = fact.get("question") or f"¿{written(fact['marked_question'])[:-1]}?"
    yield Pair(
        "polarity", one(said, "entry", "polarity"), one(fact["negated"], "entry", "polarity")
    )
    yield Pair(
        "polarity",
        one(fact["negated"], "negated_entry", "polarity"),
        one(said, "negated_entry", "polarity"),
    )
    yield Pair("speaker", one(said, "entry", "speaker"), one(fact["other"], "entry", "speaker"))
    yield Pair(
        "speaker", one(fact["other"], "other_entry", "speaker"), one(said, "other_entry", "speaker")
    )
    yield Pair("question", one(said, "entry", "question"), one(question, "entry", "question"))
    yield Pair(
        "condition", one(said, "entry", "condition"), one(fact["condition"], "entry", "condition")
    )
    yield Pair("ending", one(said, "entry", "ending"), one(fact["ended"], "entry", "ending"))
    yield Pair(
        "ending", one(fact["ended"], "ended_entry", "ending"), one(said, "ended_entry", "ending")
    )
    yield Pair("word", one(said, "entry", "word"), one(said, "changed", "word"))
