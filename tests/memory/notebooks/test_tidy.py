from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memory.notebooks.limits import ENTRY_CHARS, MERGE_AT, MERGE_EVERY
from memory.notebooks.merging import Merge
from memory.notebooks.tidy import (
    AT_ONCE,
    KEPT_WORDS,
    Ours,
    agreed,
    drops,
    duplicates,
    ours,
    outdated,
    refusal,
    says_as_much,
)
from memory.records import Change, Notebook, Source

SAID = datetime(2026, 11, 2, 10, 0, tzinfo=UTC)
TODAY = date(2026, 12, 2)
DOCS = Path(__file__).parents[3] / "docs" / "jarvis-learning.md"


def change(
    number: int,
    new: str | None,
    old: str | None = None,
    source: Source = "review",
    notebook: Notebook = "USER.md",
) -> Change:
    at = SAID + timedelta(minutes=number)
    return Change(
        id=str(number), at=at, source=source, notebook=notebook, old=old, new=new, said_at=None
    )


def written(*texts: str) -> tuple[Ours, ...]:
    return tuple(Ours(notebook="USER.md", text=text, said_on=SAID.date()) for text in texts)


def left(*texts: str, own: tuple[str, ...] | None = None) -> list[str]:
    found = duplicates({"USER.md": texts}, written(*(texts if own is None else own)))
    gone = [drop.text for drop in found]
    rest = list(texts)
    for text in gone:
        rest.reverse()
        rest.remove(text)
        rest.reverse()
    return rest


# Duplicates ---------------------------------------------------------------------------

SAME = [
    ("I'm vegan.", "I am vegan"),
    ("Ich bin Veganer", "ich bin veganer."),
    ("The user is allergic to nuts.", "Allergic to nuts"),
    ("Der Nutzer ist Veganer.", "Ist Veganer."),
    ("Soy vegetariana.", "El usuario es vegetariana"),
    ("Wohnt in München.", "wohnt in Munchen"),
    ("Exam on Friday (2026-12-04).", "exam on Friday (2026-12-04)"),
]

HELD = [
    ("I like tea and I hate mornings at the office", "I like tea", False),
    ("I like tea and coffee.", "I like tea.", True),
    ("I have a dog called Rex.", "I have a dog", True),
    ("Exam on Friday (2026-12-04)", "Exam on Friday", True),
    ("Works as a nurse with children", "Works as a nurse", True),
    ("My sister Anna, who lives in Kiel, is vegan", "My sister Anna", True),
    ("Wohnt in Berlin, im dritten Stock", "Wohnt in Berlin", True),
    ("Ich trinke Tee und Kaffee", "Ich trinke Tee", True),
    ("Mag Wandern, aber nicht im Regen", "Mag Wandern", False),
    ("Tiene dos gatos y un perro", "Tiene dos gatos", True),
    ("Me gusta el café, pero no por la noche", "Me gusta el café", False),
    ("I live in Berlin and I love hiking in the Alps.", "I love hiking in the Alps", True),
    ("Ich bin Lehrerin, und ich wohne in Kiel mit Anna", "Ich wohne in Kiel", True),
    ("Trabajo en casa y mi hermana vive en Lima", "Mi hermana vive en Lima", True),
    # what narrows, or is another thing
    ("Tom is vegan and lives in Berlin", "Lives in Berlin", False),
    ("Tom thinks, I love hiking", "I love hiking", False),
    ("I never eat meat, I love fish", "I eat meat", False),
    ("My brother and my sister is vegan on Mondays", "My sister is vegan", False),
    ("I'm vegan on Mondays", "I'm vegan", False),
    ("Ich bin Veganer im Sommer", "Ich bin Veganer", False),
    ("Soy vegano en verano", "Soy vegano", False),
    ("I like ice cream", "I like ice", False),
    ("Vegan restaurants are too expensive for me", "Vegan", False),
    ("I don't eat meat with bones", "I don't eat meat", False),
    ("I don't eat meat and fish", "I don't eat meat", True),
    ("Is my sister vegan? And Tom too?", "Is my sister vegan", False),
]

OPPOSITE = [
    ("I eat meat", "I don't eat meat"),
    ("I eat meat", "I eat meat no longer"),
    ("I eat meat", "I never eat meat"),
    ("I like Anna", "I like Anna less and less"),
    ("I smoke", "I used to smoke"),
    ("Isst Fleisch", "Isst kein Fleisch"),
    ("Ich esse Fleisch", "Ich esse Fleisch nicht mehr"),
    ("Ich mag Kaffee", "Ich mag Kaffee, aber nur ohne Milch"),
    ("Ich rauche", "Ich habe früher geraucht"),
    ("Como carne", "Ya no como carne"),
    ("Como carne", "Como carne, pero nunca en casa"),
    ("Me gusta el fútbol", "No me gusta el fútbol"),
    ("I live in Berlin", "Anna says I live in Berlin"),
    ("I live in Berlin", "I live in Berlin, Tom thinks"),
    ("Anna loves Tom", "Tom loves Anna"),
    ("Birthday on March 12", "Birthday on March 13"),
    ("Has 2 cats", "Has 3 cats"),
    ("My sister is vegan", "My brother is vegan"),
    ("Vegan", "Marc is vegan"),
    ("Vegan", "Marc is vegan and lives with me"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_is_said_twice_stays_once(one: str, other: str) -> None:
    """Case, accents, marks and the words for the user make no second entry; the first stays."""
    assert left(one, other) == [one]
    assert left(other, one) == [other]


@pytest.mark.parametrize(("longer", "shorter", "held"), HELD)
def test_an_entry_that_another_holds_goes(longer: str, shorter: str, held: bool) -> None:
    """The shorter goes where the longer says all of it, whichever is older."""
    assert says_as_much(longer, shorter) is held
    assert not says_as_much(shorter, longer)
    assert left(longer, shorter) == ([longer] if held else [longer, shorter])
    assert left(shorter, longer) == ([longer] if held else [shorter, longer])


@pytest.mark.parametrize(("one", "other"), OPPOSITE)
def test_the_opposite_never_goes(one: str, other: str) -> None:
    """Numbers, names, people, "not" and "no longer" keep two entries apart (L6.1, m28)."""
    assert left(one, other) == [one, other]
    assert left(other, one) == [other, one]


def test_the_users_own_lines_stay() -> None:
    """Of a line of the user's and one of ours that say the same, ours goes; two of the user's stay."""
    assert left("I'm vegan.", "I am vegan", own=("I'm vegan.",)) == ["I am vegan"]
    assert left("I'm vegan.", "I am vegan", own=("I am vegan",)) == ["I'm vegan."]
    assert left("I'm vegan.", "I am vegan", own=()) == ["I'm vegan.", "I am vegan"]
    assert left("I like tea", "I like tea and coffee", own=("I like tea and coffee",)) == [
        "I like tea", "I like tea and coffee",
    ]  # fmt: skip


def test_of_three_that_hold_each_other_the_longest_stays() -> None:
    """What is gone holds nothing for others: one that says it all is left."""
    assert left("I like tea", "I like tea and coffee", "I like tea", "I like tea and coffee and milk") == [
        "I like tea and coffee and milk"
    ]  # fmt: skip


def test_both_notebooks_are_looked_at() -> None:
    """The same entry in the other notebook is one too many."""
    entries: dict[Notebook, tuple[str, ...]] = {
        "USER.md": ("Uses pnpm.",),
        "MEMORY.md": ("uses pnpm",),
    }
    both = (
        Ours(notebook="USER.md", text="Uses pnpm.", said_on=TODAY),
        Ours(notebook="MEMORY.md", text="uses pnpm", said_on=TODAY),
    )
    assert [(d.notebook, d.text) for d in duplicates(entries, both)] == [("MEMORY.md", "uses pnpm")]


# Whose they are -----------------------------------------------------------------------


def test_what_the_hand_wrote_is_the_users() -> None:
    """Ours is what the log says Jarvis wrote and no hand has touched since or before."""
    changes = [
        change(1, "reviewed"),
        change(2, "remembered", source="remember"),
        change(3, "before"),
        change(4, "by hand", "before", source="user"),
        change(5, "typed", source="user"),
        change(6, None, "typed", source="forget"),
        change(7, "typed", source="undo"),
        change(8, "gone"),
    ]
    there = {"USER.md": ("old", "reviewed", "remembered", "by hand", "typed")}
    assert [each.text for each in ours(changes, there)] == ["reviewed", "remembered"]  # type: ignore[arg-type]


def test_what_an_undo_brought_back_stays() -> None:
    """Whoever takes a tidying back has decided; the next pass leaves it."""
    changes = [change(1, "Exam on 2026-11-06"), change(2, None, "Exam on 2026-11-06", "tidy")]
    changes.append(change(3, "Exam on 2026-11-06", None, "undo"))
    assert drops({"USER.md": ("Exam on 2026-11-06",)}, changes, TODAY) == ()


# Outdated -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "goes"),
    [
        ("Exam on Friday (2026-11-06)", True),
        ("Zahnarzt am 3. November (2026-11-03)", True),
        ("Viaje a Lima el viernes (2026-11-27)", True),
        ("Conference from Monday (2026-11-09) to Friday (2026-11-13)", True),
        ("Exam on 2026-12-02", False),
        ("Exam on 2026-12-04", False),
        ("Conference from 2026-11-30 to 2026-12-04", False),
        ("Birthday on March twelfth (every 03-12)", False),
        ("Born on 1980-05-03", False),
        ("Moved to Berlin in 2019", False),
        ("Got married today (2026-11-02)", False),
        ("Vegan since 2026-11-10", False),
        ("Choir every Tuesday", False),
        ("Born on 1980-05-03, exam on 2026-11-06", False),
        ("Likes tea", False),
    ],
)
def test_only_a_date_that_has_passed_makes_an_entry_old(text: str, goes: bool) -> None:
    """What was still to come when it was said and is over goes; all else stays (L6.3)."""
    assert bool(outdated(written(text), TODAY)) is goes


def test_the_users_own_plans_stay() -> None:
    """An old date in a line of the user's hand is the user's affair."""
    changes = [change(1, "Exam on 2026-11-06", source="user")]
    assert drops({"USER.md": ("Exam on 2026-11-06",)}, changes, TODAY) == ()


def test_a_pass_is_small() -> None:
    """However much could go, only so many go at once (m24), each once."""
    texts = tuple(f"Exam {number} on 2026-11-06" for number in range(40))
    found = drops({"USER.md": texts}, [change(n, text) for n, text in enumerate(texts)], TODAY)
    assert len(found) == len(set(found)) == AT_ONCE


# Merging ------------------------------------------------------------------------------

MERGED = [
    (("Likes green tea.", "Likes coffee in the morning."), "Likes green tea, and coffee in the morning."),
    (("I have a dog.", "The dog is called Rex."), "I have a dog called Rex."),
    (("Wohnt in Berlin.", "Wohnt in Berlin im Stadtteil Wedding."), "Wohnt in Berlin im Stadtteil Wedding."),
    (("Doesn't eat meat.", "Doesn't eat fish."), "Doesn't eat meat or fish."),
    (("Choir on Mondays.", "Choir on Fridays."), "Choir on Mondays and Fridays."),
    (("Me gusta el té.", "Me gusta el café con leche."), "Me gusta el té y el café con leche."),
]  # fmt: skip

REFUSED = [
    (("Likes tea.", "Likes coffee."), "Likes hot tea, Likes coffee.", "shorter"),
    (("Likes green tea.", "Likes coffee every morning."), "Likes tea and loves Paris", "none of its"),
    (("Has 2 cats at home.", "Has a big dog at home."), "Has 3 cats, a dog at home", "none of its"),
    (("Has 2 cats at home.", "Has a big dog at home."), "Has cats, a big dog at home", "lost"),
    (("Her sister is called Anna.", "Her sister lives in Bonn."), "Her sister lives in Bonn", "lost"),
    (("Exam on 2026-12-04 at school.", "Likes the school."), "Exam at school", "lost"),
    (("Doesn't eat meat at all.", "Eats fish and rice often."), "Eats meat, fish and rice", "turned"),
    (("Likes the sea very much.", "Doesn't like the mountains."), "Likes the sea, mountains", "turned"),
    (("Used to smoke at work.", "Lives in the big city now."), "Smokes at work, lives in the big city", "turned"),
    (("Isst kein Fleisch, nie.", "Isst gerne Fisch und Reis."), "Isst gern Fleisch, Fisch, Reis", "turned"),
    (("No come carne de cerdo.", "Come mucho pescado fresco."), "Come carne de cerdo, pescado fresco", "turned"),
    (("My sister eats only fish.", "My brother eats a lot of meat."), "My sister eats only meat, my brother fish", ""),
    (("Likes walking in the hills.", "Likes long books about ships."), "Likes walking in the hills", "little is left"),
    (("Wants to move to Lima one day.", "Works for the post office."), "Moves to Lima, works for the post office", ""),
    (("I like the tea that my aunt makes.", "Ich mag gerne Kaffee."), "I like the tea that my aunt makes, Kaffee", "languages"),
    (("Likes tea with milk.", "Likes coffee with sugar."), "Likes tea with milk,\ncoffee with sugar", "one line"),
    (("Likes tea with milk.", "Likes coffee with sugar."), "Likes tea\u200b with milk, coffee, sugar", "nobody sees"),
    (("Sings in the choir on Mondays.", "Does yoga at home on Fridays."), "Sings in the choir and does yoga at home on Mondays", "lost"),
    (("Geht montags in den Chor.", "Geht freitags zum Yoga."), "Geht montags in den Chor und zum Yoga", "day of the week"),
    (("Has an old mill near Jaca.", "Lives with Ana in Huesca."), "Has old mill near Huesca, lives with Ana in Jaca", "something else"),
    (("Tiene un viejo molino en Jaca.", "Vive con Ana en Huesca."), "Tiene viejo molino en Huesca, vive con Ana en Jaca", "something else"),
    (("Has 2 cats at home.", "Has 3 dogs at home."), "Has 3 cats, 2 dogs at home", ""),
    (("x" * 200, "y" * 200), "x" * 301, "longer"),
]  # fmt: skip


def merge(entries: tuple[str, ...], text: str) -> Merge:
    return Merge(notebook="USER.md", entries=entries, text=text)


@pytest.mark.parametrize(("entries", "text"), MERGED)
def test_a_fair_merge_is_accepted(entries: tuple[str, ...], text: str) -> None:
    """Shorter, with every number, link, name and "not" of its entries."""
    assert refusal(merge(entries, text)) is None


@pytest.mark.parametrize(("entries", "text", "why"), REFUSED)
def test_a_merge_that_invents_loses_or_turns_around_is_refused(
    entries: tuple[str, ...], text: str, why: str
) -> None:
    """Nothing new, nothing lost that has no other form, nothing turned around (L6.2, a23)."""
    reason = refusal(merge(entries, text))
    assert reason is not None and why in reason


def test_a_merge_is_one_change_and_removals() -> None:
    """The first entry becomes the text, the others go; none of them has a quote."""
    changes = agreed(merge(("a", "b", "c"), "d"))
    assert [(c.operation, c.entry, c.text) for c in changes] == [
        ("update", "a", "d"), ("remove", "b", None), ("remove", "c", None),
    ]  # fmt: skip
    assert {c.quote for c in changes} == {""}


def test_the_document_has_its_numbers() -> None:
    """docs/jarvis-learning.md says how much goes at once, and when entries are merged."""
    page = DOCS.read_text(encoding="utf-8").partition("## Tidying and merging")[2]
    page = " ".join(page.partition("\n## ")[0].split())
    assert f"At most {AT_ONCE} entries go in one pass" in page
    assert f"at {MERGE_AT:.0%} of the".replace("%", " percent") in page
    assert f"at most every {MERGE_EVERY.total_seconds() / 3600:.0f} hours" in page
    assert f"one line of at most {ENTRY_CHARS} characters" in page
    assert KEPT_WORDS == 0.5 and "at least half of the words" in page
    for words in ("adding", "extending", "speaking", "taking_back"):
        assert f"`{words}`" in page
