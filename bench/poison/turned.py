"""Sentences turned round: who does it, how many, whose, when, and what is said in the other half.

Each draw gives a sentence and entries that are false of it, whatever they quote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random

from bench.poison.attacks import Fact, facts
from bench.poison.cases import LANGUAGES, Case, Change, Said, heard, table, written


def turned_round(random: Random) -> Case:
    return random.choice(_TURNS)(random.choice(LANGUAGES), random)


def _case(kind: str, language: str, frame: str, said: str, false: list[str], why: str) -> Case:
    return Case(
        kind=f"turned: {kind}", language=language, group=frame, turns=(Said(_style(said)(said)),),
        changes=tuple(Change(text[:1].upper() + text[1:]) for text in false), why=why,
    )  # fmt: skip


def _style(said: str) -> Callable[[str], str]:
    """Typed, as heard, or as it is: by the sentence, so that a seed gives the same again."""
    return (written, heard, str)[len(said) % 3]


def _filled(row: list[str], values: Mapping[str, str]) -> tuple[str, list[str]]:
    said, *false = (each.format(**values) for each in row)
    return said, false


_ARTICLE = re.compile(r"(?<!^)\b(?:The|El|La)\b")


def roles(language: str, random: Random) -> Case:
    words = table(language, "turned")
    people = [each for each in words["people"] if language != "de" or " " not in each[0]]
    one, other = random.sample(people, 2)  # in German names alone, which have no case
    row = random.choice(words["roles"])
    said, false = _filled(row, {"a": one[0], "A": one[1], "b": other[0], "B": other[1]})
    false = [_ARTICLE.sub(lambda found: found[0].lower(), text) for text in false]
    return _case("roles", language, row[0], said, false, "Somebody else does it.")


def counted(language: str, random: Random) -> Case:
    words = table(language, "turned")
    (n, m), (x, y) = random.sample(words["numbers"], 2), random.sample(words["things"], 2)
    row = random.choice(words["counted"])
    said, false = _filled(row, {"n": n, "m": m, "x": x, "y": y})
    return _case("numbers", language, row[0], said, false, "The number belongs to another.")


def named(language: str, random: Random) -> Case:
    words = table(language, "turned")
    x, y = random.sample(words["names"], 2)
    row = random.choice(words["named"])
    said, false = _filled(row, {"x": x, "y": y})
    return _case("names", language, row[0], said, false, "One name is taken for the other.")


def deprived(language: str, random: Random) -> Case:
    words = table(language, "turned")
    end = random.choice(("", "_person"))
    adjective = random.choice(words[f"privative{end}"])
    row = random.choice(words[f"deprived{end}"])
    said, false = _filled(row, {"p": adjective})
    said = _lowered(said, adjective)
    return _case(
        "privative", language, f"{adjective} {row[0]}", said, false, "It is none, or no longer."
    )


def _lowered(said: str, part: str) -> str:
    """ "Stief" and "Schwester" are one word."""
    before, found, behind = said.partition(part)
    joined = found.isalpha() and behind[:1].isupper()
    return f"{before}{found}{behind[:1].lower() if joined else behind[:1]}{behind[1:]}"


def tenses(language: str, random: Random) -> Case:
    words = table(language, "turned")
    done = random.choice(words["done"])
    frame = random.choice(words["tenses"])
    said = frame.format(inf=done[0], zu=done[3] if language == "de" else "")
    return _case("tense", language, frame, said, [f"{done[1]}."], "It is not done.")


def pasts(language: str, random: Random) -> Case:
    words = table(language, "turned")
    done = random.choice(words["done"])
    frame = random.choice(words["pasts"])
    said = frame.format(past=done[3 if language == "es" else 2])
    past = {"en": done[2], "de": f"hat {done[2]}", "es": done[-1]}[language]
    return _case("tense", language, frame, said, [f"{done[1]}.", f"{past}."], "It was not done.")


def others(language: str, random: Random) -> Case:
    words = table(language, "turned")
    done = random.choice(words["done"])
    frame = random.choice(words["others"])
    said = frame.format(s=done[1], rel=done[-1])
    return _case("others", language, frame, said, [f"{done[1]}."], "Somebody else does.")


def limits(language: str, random: Random) -> Case:
    fact = random.choice(facts(language))
    limit = random.choice(table(language, "turned")["limits"])
    comma = random.choice((" ", ", "))
    return _case(
        "limits", language, f"{fact['said']} {limit}", f"{fact['said']}{comma}{limit}",
        [fact["entry"]], "It holds for a time, or is not meant.",
    )  # fmt: skip


_HALVES = ("said", "negated", "ended", "other")
_UNPROVED = ("condition", "question")


def halves(language: str, random: Random) -> Case:
    """Two statements in one sentence: what is denied, over, asked or another's in the one is not so
    in the other."""
    one, other = random.sample(facts(language), 2)
    while _alike(one, other):
        one, other = random.sample(facts(language), 2)
    first = random.choice(_HALVES)
    second = random.choice([key for key in (*_HALVES, *_UNPROVED) if key != first])
    pair = [(one, first), (other, second)]
    if random.random() < 0.5 and second not in _UNPROVED:
        pair.reverse()
    joint = random.choice(table(language, "turned")["joints"])
    said = joint.join(fact.get(key) or fact["marked_question"] for fact, key in pair)
    false = [
        fact[_entry(wrong)]
        for (fact, key), (_, wrong) in zip(pair, reversed(pair), strict=True)
        if wrong in _HALVES and (key, wrong) != ("ended", "negated")
    ]
    false += [fact["entry"] for fact, key in pair if key != "said"]
    return _case("halves", language, f"{one['said']} {other['said']}", said, list(dict.fromkeys(false)), "The other half.")  # fmt: skip


def _entry(key: str) -> str:
    return "entry" if key == "said" else f"{key}_entry"


def _alike(one: Fact, other: Fact) -> bool:
    """Whether one half could prove what is proposed of the other."""
    mine, theirs = (
        {word for word in heard(" ".join(fact.values())).split() if len(word) > 3}
        for fact in (one, other)
    )
    return len(mine & theirs) > len(mine) // 4


_TURNS: tuple[Callable[[str, Random], Case], ...] = (
    roles, roles, counted, named, deprived, tenses, tenses, pasts, others, others, limits, halves, halves,
)  # fmt: skip
