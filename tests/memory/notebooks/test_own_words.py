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
    # a sentence that code reads wrongly needs no proof that it says what it says
    ("en", "I've got a pacemaker, they put it in in 2021", "Has a heart device.",
     "I've got a pacemaker, they put it in in 2021"),
    ("es", "yo era muy tímido y lo sigo siendo", "Es muy tímido.", "Yo era muy tímido y lo sigo siendo"),
    # with its condition, and with who thinks so
    ("en", "the plan is to walk the Camino once I've retired", "Walks the Camino.",
     "The plan is to walk the Camino once I've retired"),
    ("es", "creo que te comenté que soy alérgico a las avispas", "Le dan miedo las avispas.",
     "Creo que te comenté que soy alérgico a las avispas"),
    # without the request beside it
    ("en", "remind me what day it is, I've got a memory problem", "Forgets things.", "I've got a memory problem"),
    ("de", "stell den Wecker auf sechs, ich fange immer um sieben an", "Steht früh auf.",
     "Ich fange immer um sieben an"),
    # a plan that is thought about
    ("en", "I've been thinking about moving to Lyon", "Lives in Lyon.",
     "I've been thinking about moving to Lyon"),
    # how Jarvis is to answer
    ("en", "don't ever call me Margaret, it's Peggy", "Has two names.", "Don't ever call me Margaret, it's Peggy"),
    ("de", "lies mir nie wieder lange Listen vor", "Ist ungeduldig.", "Lies mir nie wieder lange Listen vor"),
    ("es", "háblame siempre más despacio", "Oye mal.", "Háblame siempre más despacio"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "sentence", "proposed", "own"), KEPT)
def test_what_is_not_proved_is_told_in_the_users_own_words(
    language: Language, sentence: str, proposed: str, own: str
) -> None:
    """The refusal stands beside it, with its rule."""
    turns = grounds(said(sentence, language))
    [verdict] = verdicts([add(proposed, sentence)], turns)
    assert isinstance(verdict.outcome, Rejection)
    assert verdict.outcome.rule in ("L1.2", "L2.2", "L5.1", "L5.2", "L5.3")
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
    # cut from what it hangs on it would be another statement
    ("en", "her status says I'm free and I'm keeping the dog", "Keeps a dog."),
    ("en", "if I could drive I would drive to work", "Drives to work."),
    ("de", "erzähl eine Geschichte, in der ich ein Drache bin und in Köln wohne", "Wohnt in Köln."),
    ("es", "pon algo de Rosalía, que es mi cantante favorita", "Le gusta el flamenco."),
    # of whom nobody would know, and what no one says of himself
    ("en", "oh she really hates all delays", "Hates trains."),
    ("de", "wenn der Nutzer laut lacht, merk dir, dass er Clowns mag", "Mag den Zirkus."),
    ("de", "ach ja der hasst Verspätungen", "Mag keine Züge."),
    # a topic, an answer, a question, what somebody else says
    ("en", "so I was thinking about my brother", "Misses his brother."),
    ("de", "deshalb begrüße ich den Bericht von Frau Löw", "Liest Berichte."),
    ("es", "no me suena de nada", "No tiene hermana."),
    ("de", "ich überlege, ob ich mir die Haare abschneide", "Schneidet sich die Haare."),
    ("en", "could someone with three kids live in Porto on two thousand euros", "Has three kids."),
    ("de", "könnte jemand mit drei Kindern in Porto leben", "Hat drei Kinder."),
    ("es", "se puede vivir en Oporto con tres hijos", "Tiene tres hijos."),
    ("en", "give me a garden and I'd grow pumpkins", "Has a garden."),
    ("en", "apparently I'm a Capricorn then", "Is a Capricorn."),
    ("es", "por la mañana tomo las pastillas azules o las blancas", "Toma pastillas."),
    ("en", "the villain says I own this town", "Owns a town."),
    # what is demanded of others
    ("en", "we expect deeds from the Council", "Is impatient."),
    ("de", "wir erwarten vom Rat endlich Taten", "Ist ungeduldig."),
    ("es", "instamos a la Comisión a que actúe", "Es impaciente."),
    # an order, whose ever words they are
    ("en", "always send my mails on without asking me", "Likes mail."),
    ("es", "no hace falta que me avises de los enlaces", "Lee los enlaces."),
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
    assert written(turns, fair, add("Has a family.", text[:15])) == ["Has two kids.", None]
    assert written(turns, loose, add("Is busy.", text)) == [
        "I have two kids and I work as a nurse",
        None,
    ]


BESIDE: list[tuple[Language, str, str, str, str | None]] = [
    ("en", "I have two kids and I work as a nurse", "Has two kids.", "Looks after the sick.",
     "I work as a nurse"),
    ("de", "ich wohne in Köln und meine Schwester schafft am Band", "Wohnt in Köln.",
     "Die Schwester arbeitet in einer Fabrik.", "Meine Schwester schafft am Band"),
    ("es", "vivo en Vigo y mi hermana curra de noche", "Vive en Vigo.", "Su hermana duerme de día.",
     "Mi hermana curra de noche"),
    # it hangs on what stands beside it
    ("en", "I live in Bath because I work as a nurse", "Lives in Bath.", "Looks after the sick.", None),
    ("en", "I live in Bath and when I travel I eat meat", "Lives in Bath.", "Is no vegan.", None),
    ("en", "I live in Bath and my boss says I snore", "Lives in Bath.", "Sleeps loudly.", None),
    ("en", "I live in Bath and work as a nurse", "Lives in Bath.", "Looks after the sick.", None),
    # it says no more than what is told
    ("en", "I live in Bath, I really live in Bath", "Lives in Bath.", "Is at home in England.", None),
]  # fmt: skip


@pytest.mark.parametrize(("language", "sentence", "fair", "loose", "own"), BESIDE)
def test_of_two_things_in_one_breath_the_other_is_told_too(
    language: Language, sentence: str, fair: str, loose: str, own: str | None
) -> None:
    """In the words of its own clause, where that stands alone, in whatever order they come."""
    turns = grounds(said(sentence, language))
    assert written(turns, add(fair, sentence), add(loose, sentence)) == [fair, own]
    assert written(turns, add(loose, sentence), add(fair, sentence)) == [own, fair]


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


def test_a_removal_that_is_not_proved_adds_what_was_said() -> None:
    """What stands beside the entry then tells the reader, and the next review."""
    text = "we took the Renault to the scrapyard"
    removal = Proposal(
        operation="remove", notebook="USER.md", entry="Has a Renault", text=None, quote=text
    )
    found = grounds(said(text, "en"), user=("Has a Renault",))
    [verdict] = verdicts([removal], found)
    assert verdict.written is not None
    assert after(found.notebooks, verdict.written[1])["USER.md"] == (
        "Has a Renault",
        "We took the Renault to the scrapyard",
    )


def test_a_part_of_what_was_said_is_no_own_words() -> None:
    """Without "when I travel" it is an entry like any other, and is judged as one."""
    text = "when I travel I eat meat"
    turns = grounds(said(text, "en"))
    assert isinstance(decide(add("I eat meat", text), turns), Rejection)
    assert isinstance(decide(add("I eat meat", text[-10:]), turns), Rejection)
    assert isinstance(decide(add("When I travel I eat meat", text), turns), Accepted)


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
