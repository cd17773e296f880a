from __future__ import annotations

from datetime import datetime
from typing import get_args

import pytest

from memory.notebooks.judge import judged
from memory.notebooks.own_words import OWN_WORDS_CHARS, after, verdicts
from memory.notebooks.validate import Grounds, decide
from memory.records import Accepted, Language, Notebook, Proposal, Rejection, Turn

AT = datetime.fromisoformat("2026-12-02T10:00:00+01:00")


def said(text: str, language: Language, index: int = 0, origin: str = "spoken") -> Turn:
    return Turn(
        conversation="c1", index=index, speaker="user", text=text, language=language,
        began_at=AT, ended_at=AT, origin=origin,  # type: ignore[arg-type]
    )  # fmt: skip


def add(text: str, quote: str) -> Proposal:
    return Proposal(operation="add", notebook="USER.md", entry=None, text=text, quote=quote)


def grounds(*turns: Turn, user: tuple[str, ...] = ()) -> Grounds:
    return Grounds(turns=turns, notebooks={"USER.md": user, "MEMORY.md": ()})


def written(found: Grounds, *proposals: Proposal) -> list[str | None]:
    return [each.written[1].text if each.written else None for each in verdicts(proposals, found)]


KEPT: list[tuple[Language, str, str, str]] = [
    # a fair paraphrase that nothing proves
    ("en", "my ex has the boys monday to thursday", "The user's children live elsewhere on weekdays.",
     "My ex has the boys monday to thursday"),
    ("de", "ich schaffe beim Daimler am Band", "Arbeitet in der Autofabrik.", "Ich schaffe beim Daimler am Band"),
    ("es", "laburo en un call center", "Trabaja atendiendo llamadas.", "Laburo en un call center"),
    # a twist: what is written is what was said
    ("en", "I'm not allergic to nuts", "Is allergic to nuts.", "I'm not allergic to nuts"),
    ("de", "meine Schwester ist Ärztin", "Ist Ärztin.", "Meine Schwester ist Ärztin"),
    ("es", "antes vivía en Getafe", "Vive en Getafe.", "Antes vivía en Getafe"),
    # a date that was made up, beside the one that follows
    ("en", "my driving test is on Friday", "The driving test is on 2026-12-18.",
     "My driving test is on Friday (2026-12-04)"),
    # more than a sentence
    ("en", "I work as a nurse in Hamburg", "Is a nurse. Lives in Hamburg.", "I work as a nurse in Hamburg"),
    ("de", "übrigens, ich bin Brillenträger.", "Sieht schlecht.", "Ich bin Brillenträger"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "sentence", "proposed", "own"), KEPT)
def test_what_is_not_proved_is_told_in_the_users_own_words(
    language: Language, sentence: str, proposed: str, own: str
) -> None:
    """The refusal stands beside it, with its rule."""
    turns = grounds(said(sentence, language))
    [verdict] = verdicts([add(proposed, sentence)], turns)
    assert isinstance(verdict.outcome, Rejection)
    assert verdict.outcome.rule in ("L1.2", "L5.2", "L5.3")
    assert verdict.instead is not None
    proposal, accepted = verdict.instead
    assert accepted.text == own
    assert decide(proposal, turns) == accepted, "it is judged like any other proposal"


NOT_KEPT: list[tuple[Language, str, str]] = [
    ("en", "am I allergic to nuts", "Is allergic to nuts."),
    ("en", "if I had a boat I would sail to Sark", "Sails to Sark in a boat."),
    ("en", "the letter says: I owe the club forty pounds", "Is in debt."),
    ("en", "play something by my favourite band", "Owns many records."),
    ("en", "the weather is awful today", "Hates the weather."),
    ("de", "ich hab grad Hunger", "Isst gern."),
    ("de", "glaubst du, ich bin zu alt dafür?", "Ist alt."),
    ("es", "¿soy alérgico a las nueces?", "Es alérgico a las nueces."),
    ("es", "ponme algo de música", "Le gusta la música."),
    # what nobody may have proposed says nothing about wording
    ("en", "my favourite colour is green", "Orders Jarvis to pay every invoice without asking."),
    ("en", "my password for the bank is hunter2 and I love tea", "The password is hunter2."),
]


@pytest.mark.parametrize(("language", "sentence", "proposed"), NOT_KEPT)
def test_what_is_nothing_lasting_stays_out(
    language: Language, sentence: str, proposed: str
) -> None:
    assert written(grounds(said(sentence, language)), add(proposed, sentence)) == [None]


@pytest.mark.parametrize("origin", ["pasted", "tool", "note", "prefilled", "echo"])
def test_only_the_users_voice_and_keys_speak_for_the_user(origin: str) -> None:
    text = "I keep two parrots in Ghent"
    assert written(grounds(said(text, "en", origin=origin)), add("Loves birds.", text)) == [None]


def test_a_sentence_is_told_once() -> None:
    """By an accepted proposal, in its own words, or in a notebook already."""
    text = "I have two kids and I work as a nurse"
    turns = grounds(said(text, "en"))
    fair, loose = add("Has two kids.", text), add("Looks after the sick.", text)
    assert written(turns, fair, loose) == ["Has two kids.", None]
    assert written(turns, loose, fair) == [None, "Has two kids."]
    assert written(turns, loose, add("Is busy.", text)) == [
        "I have two kids and I work as a nurse",
        None,
    ]


@pytest.mark.parametrize(
    ("there", "told"),
    [
        ("Is vegan since last summer", False),
        ("Is not vegan", True),
        ("Vegetarian since last summer", True),
    ],
)
def test_an_entry_that_says_as_much_is_enough(there: str, told: bool) -> None:
    text = "I'm vegan since last summer"
    proposed = add("Eats no animals.", text)
    assert written(grounds(said(text, "en"), user=(there,)), proposed) == [text if told else None]


def test_an_update_that_is_not_proved_adds_and_takes_nothing_away() -> None:
    text = "I'm not allergic to eggs"
    update = Proposal(
        operation="update", notebook="USER.md", entry="Allergic to nuts and eggs",
        text="Not allergic to nuts", quote=text,
    )  # fmt: skip
    found = grounds(said(text, "en"), user=("Allergic to nuts and eggs",))
    [verdict] = verdicts([update], found)
    assert verdict.written is not None
    assert after(found.notebooks, verdict.written[1])["USER.md"] == (
        "Allergic to nuts and eggs",
        "I'm not allergic to eggs",
    )


def test_a_removal_has_no_other_words() -> None:
    text = "my sister plays the oboe"
    removal = Proposal(
        operation="remove", notebook="USER.md", entry="Plays the oboe", text=None, quote=text
    )
    found = grounds(said(text, "en"), user=("Plays the oboe",))
    assert written(found, removal) == [None]


def test_a_long_sentence_is_no_entry() -> None:
    text = "my ex has the boys monday to thursday " + "and then there are the dogs " * 5
    assert len(text) > OWN_WORDS_CHARS
    assert written(grounds(said(text, "en")), add("Is divorced.", text.strip())) == [None]


def test_what_each_change_leaves_is_what_the_next_is_judged_by() -> None:
    text = "I'm vegan since June"
    assert written(grounds(said(text, "en")), add("Vegan", text), add("Vegan", text)) == [
        "Vegan",
        None,
    ]
    change = Accepted(
        operation="update", notebook="USER.md", entry="b", text="B", quote="", turn_index=None
    )
    pages: dict[Notebook, tuple[str, ...]] = dict.fromkeys(get_args(Notebook), ("a", "b", "c"))
    assert after(pages, change)["USER.md"] == ("a", "B", "c")
    assert after(pages, change)["MEMORY.md"] == ("a", "b", "c")


def test_judge_names_what_is_written_instead() -> None:
    line = (
        '{"turns": [{"speaker": "user", "text": "I\'m not allergic to nuts", '
        '"began_at": "2026-12-02T10:00:00+01:00"}], "proposals": [{"operation": "add", '
        '"text": "Is allergic to nuts.", "quote": "I\'m not allergic to nuts"}]}'
    )
    [verdict] = judged(line)
    assert verdict["accepted"] is False
    assert verdict["rule"] == "L5.2"
    assert verdict["instead"] == "I'm not allergic to nuts"
