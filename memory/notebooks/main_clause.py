"""A German clause behind "dass" as a sentence of its own, its verb in second place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory.languages.folding import fold

_SHORTEST_VERB = 3
PERSONS = ("first", "second", "third", "plural")


def main_clause(fact: str, words: Mapping[str, Any]) -> str:
    """“ich seit 2019 in Bremen wohne” → “ich wohne seit 2019 in Bremen”; as it was where
    subject and verb are not sure. `words` are the language's own (`verb_final` in remember.toml);
    of a language without them every fact stays as it was."""
    ending = fact[len(fact.rstrip(".!")) :]
    parts = fact.rstrip(".!").split()
    plain = [fold(part) for part in parts]
    if not words or len(parts) < 3 or any("," in part for part in parts):
        return fact
    subject, persons = _subject(parts, plain, words)
    if not subject or not _is_verb_of(persons, parts[-1], words):
        return fact
    if not _one_clause(parts, plain, subject, persons, words):
        return fact
    verb, left = parts[-1], ""
    prefix = _prefix(parts[-1], words)
    if prefix:
        verb, left = verb[len(prefix) :], f" {prefix}"
    middle = " ".join(parts[subject:-1])
    return f"{' '.join(parts[:subject])} {verb} {middle}{left}{ending}"


def _subject(
    parts: list[str], plain: list[str], words: Mapping[str, Any]
) -> tuple[int, tuple[str, ...]]:
    """How many words the subject in front has, and which persons its verb may be in; 0: unsure."""
    person = words["subjects"].get(plain[0])
    if person and not (plain[0] in words["determiners"] and parts[1][:1].isupper()):
        return 1, (person,) if person != "either" else ("third", "plural")
    either = ("third", "plural")
    if plain[0] in words["determiners"]:
        noun = next((at for at, part in enumerate(parts[1:-1], 1) if part[:1].isupper()), 1)
        if noun <= 3 and noun + 1 < len(parts) and plain[noun + 1] in words["after_subject"]:
            return noun + 1, either
        if len(parts) == 4 and plain[-1] in words["naming"] and noun == 1:
            return 2, either
        return 0, ()
    if plain[0] in words["fronted"] and (
        plain[1] in words["determiners"] or plain[1] in words["subjects"]
    ):
        return 1, either  # “morgen mein Hochzeitstag ist” → “morgen ist mein Hochzeitstag”
    if parts[0][:1].isupper() and plain[1] in words["after_subject"]:
        return 1, ("third",)
    return 0, ()


def _is_verb_of(persons: tuple[str, ...], word: str, words: Mapping[str, Any]) -> bool:
    plain = fold(word)
    return word[:1].islower() and any(
        plain in words[person] or plain.endswith(words["endings"][person]) for person in persons
    )


def _one_clause(
    parts: list[str],
    plain: list[str],
    subject: int,
    persons: tuple[str, ...],
    words: Mapping[str, Any],
) -> bool:
    """Nothing stands inside that begins another clause or is a verb of one."""
    if any(word in words["several_clauses"] for word in plain) or plain[-2] == "zu":
        return False
    inner = plain[subject:-2]
    if any(word in words[person] for word in inner for person in PERSONS):
        return False
    behind_pronoun = subject == 1 and plain[0] in words["subjects"]
    return not any(
        _is_verb_of(persons, parts[at - 1], words)
        if at > subject
        else plain[at] in words["joining"] or not behind_pronoun
        for at in range(subject, len(parts))
        if plain[at] in words["joining"] or plain[at] in words["relative"]
    )


def _prefix(verb: str, words: Mapping[str, Any]) -> str:
    """What a separable verb leaves at the end. A verb that only begins alike has none."""
    plain = fold(verb)
    if plain.startswith(words["inseparable"]):
        return ""
    fitting = [each for each in words["separable"] if verb.lower().startswith(each)]
    prefix = max(fitting, key=len, default="")
    return verb[: len(prefix)] if len(verb) - len(prefix) >= _SHORTEST_VERB else ""
