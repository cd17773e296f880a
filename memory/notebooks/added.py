"""Whether an entry adds what was not said, in words too small to carry a meaning of their own.

"Also", "always", "all" and "still" change what is said as much as a noun does, and can't be
listed to the last. Which small words an entry may need that were not said can: those that hold a
sentence together and name the user.
"""

from __future__ import annotations

from memory.notebooks.case import Case, Refusal

_HOLDING = (
    "may_add", "articles", "prepositions", "copula", "auxiliaries", "verbs", "no", "genitive", "of", "and",
    "that", "relative", "as", "dative", "infinitive", "contrast",
    "user", "user_too", "user_object", "user_mine", "user_named", "third", "third_mine", "third_thing",
)  # fmt: skip
"""Lists of words that an entry may have of its own."""

_COMPARED = (
    "used",
    "stopped",
    "not_used",
    "hedge",
    "hedge_light",
    "restriction",
    "glue",
    "polite",
    "against",
)
"""Acts whose words are compared by what they mean."""  # fmt: skip


def adds_nothing(case: Case) -> Refusal | None:
    """Of words without a meaning of their own; `all_of_it_said` looks at the others."""
    if case.new is None or case.directive:
        return None
    lists = case.acts
    plain = lists.lexicon.without_accent
    said = {
        plain(word.text)
        for reading in (case.evidence.reading, *case.evidence.before, *([case.old] if case.old else []))
        for word in reading.words
    }  # fmt: skip
    compared = {at for act in _COMPARED for span in case.new.found[act] for at in range(*span)}
    for at, word in enumerate(case.new.words):
        free = lists.holds(word.text, _HOLDING)
        if word.kind != "word" or word.key or free or at in compared:
            continue
        if plain(word.text) not in said:
            return Refusal("L5.2", f"“{word.text}” was not said.")
    return None
