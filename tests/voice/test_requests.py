"""Forgetting, telling what is known, and hanging up, in a running conversation."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory import Memory, prompt
from memory.records import LANGUAGES, JournalEntry
from voice.reading_out import READ_OUT_CHARS
from voice.records import CallEvent, MemoryForgotten
from voice.requests import LAST_SAVED_TURNS, READ_OUT_ENTRIES, Requests

AT = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)


class Talk:
    def __init__(self, folder: Path) -> None:
        self.events: list[CallEvent] = []
        self.parted: list[bool] = []
        self.page = folder / "vault/society/jarvis/USER.md"
        self.memory = Memory.open(folder / "vault", folder / "state", lambda: AT, create=True)
        self.session = self.memory.session()
        self.requests = Requests(
            self.memory,
            self.session,
            "c1",
            now=lambda: AT,
            emit=self.events.append,
            part=self._part,
        )

    def _part(self, *, added: bool) -> None:
        self.parted.append(added)

    async def hears(self, text: str, language: str = "en") -> str | None:
        told = await self.requests.turn(text, "spoken")
        return None if told is None else told.said[language]  # type: ignore[index]

    def knows(self, *entries: str) -> None:
        self.page.write_text("".join(f"- {entry}\n" for entry in entries))

    def notes(self, text: str | None) -> None:
        """house.md holds this, or is gone."""
        page = self.page.parents[2] / "house.md"
        page.unlink() if text is None else page.write_text(text)

    @property
    def forgotten(self) -> list[str]:
        return [each.entry for each in self.events if isinstance(each, MemoryForgotten)]


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    made = Talk(tmp_path)
    yield made
    made.memory.close()


@pytest.mark.parametrize(
    ("said", "language", "answer"),
    [
        ("Please forget that I'm vegan.", "en", "Forgotten. It said: I'm vegan."),
        ("vergiss bitte meinen Hund", "de", "Vergessen. Da stand: Mein Hund heißt Rex."),
        ("Borra la entrada sobre Lisboa", "es", "Olvidado. Decía: Viajo a Lisboa en mayo."),
    ],
)
async def test_an_entry_is_forgotten_and_read_back(
    talk: Talk, said: str, language: str, answer: str
) -> None:
    """It is out of the file before the answer, and one undo brings it back."""
    talk.knows("I'm vegan.", "Mein Hund heißt Rex.", "Viajo a Lisboa en mayo.")
    assert talk.requests.is_asked(said)
    if said.startswith("vergiss"):
        said = "Vergiss, dass mein Hund Rex heißt."
    assert await talk.hears(said, language) == answer
    [entry] = talk.forgotten
    assert entry not in talk.page.read_text() and entry in answer
    [event] = [each for each in talk.events if isinstance(each, MemoryForgotten)]
    talk.memory.undo(event.change, AT)
    assert entry in talk.page.read_text()


async def test_what_stands_nowhere_can_not_be_forgotten(talk: Talk) -> None:
    """That is said, and an idiom is left to the model."""
    talk.knows("I'm vegan.")
    assert await talk.hears("Forget that I live in Rome.") == (
        "Nothing like that stands in your notebooks."
    )
    assert await talk.hears("Forget the weather.") is None
    assert talk.page.read_text() == "- I'm vegan.\n" and talk.forgotten == []


@pytest.mark.parametrize(
    ("pick", "answer", "left"),
    [
        ("The second one, please.", "Forgotten. It said: My sister's dog is Max.", 1),
        ("both", "Forgotten. It said: My dog is Rex. My sister's dog is Max.", 0),
        ("None of them.", "All right, I keep them.", 2),
        ("What's a good film?", None, 2),
    ],
)
async def test_of_several_the_user_picks(
    talk: Talk, pick: str, answer: str | None, left: int
) -> None:
    """They are read out first; nothing goes before the user has chosen."""
    talk.knows("My dog is Rex.", "My sister's dog is Max.")
    assert await talk.hears("Delete the entry about dog.") == (
        "That could be one of these: My dog is Rex. My sister's dog is Max. Which one?"
    )
    assert talk.forgotten == []
    assert await talk.hears(pick) == answer
    assert len(talk.memory.entries()["USER.md"]) == left
    assert not talk.requests.is_asked("The first one.")


@pytest.mark.parametrize(
    ("said", "language", "answer"),
    [
        ("Turn on the lamp.", "en", "I can't do that here."),
        ("Stell einen Timer auf zehn Minuten.", "de", "Klingeln oder dich zu einer Zeit erinnern"),
        ("¿Qué tiempo hace hoy?", "es", "No puedo mirar fuera"),
    ],
)
async def test_what_nobody_here_can_do_is_not_said_to_be_done(
    talk: Talk, said: str, language: str, answer: str
) -> None:
    """Neither by Jarvis itself nor, as far as it is told, by a model (V16)."""
    assert talk.requests.is_asked(said)
    told = await talk.hears(said, language)
    assert told is not None and told.startswith(answer)
    assert await talk.hears(f"{said} And tell me a joke.", language) is not None


async def test_that_is_what_was_saved_last(talk: Talk) -> None:
    """A moment ago; where nothing was, "forget that" is an idiom."""
    assert not talk.requests.is_asked("Forget that.")
    assert await talk.hears("Forget that.") is None
    await talk.hears("Remember that I like tea.")
    assert talk.requests.is_asked("forget that again")
    assert await talk.hears("Forget that.") == "Forgotten. It said: I like tea."
    assert await talk.hears("Forget that.") is None
    await talk.hears("Remember that I like coffee.")
    for _ in range(LAST_SAVED_TURNS):
        await talk.hears("Tell me a joke.")
    assert await talk.hears("Forget that.") is None
    assert talk.memory.entries()["USER.md"] == ("I like coffee.",)


async def test_what_was_forgotten_is_news_to_the_session(talk: Talk) -> None:
    """The prefix is older: the model hears that the entry no longer holds."""
    talk.knows("I'm vegan.")
    talk.session.news()
    await talk.hears("Forget that I'm vegan.")
    news = talk.session.news()
    assert news is not None and "I'm vegan." in news


async def test_everything_is_not_cleared_by_voice(talk: Talk) -> None:
    """A misheard word must not cost a memory."""
    talk.knows("I'm vegan.")
    answer = await talk.hears("Forget everything you know about me.")
    assert answer is not None and "jarvis wipe" in answer
    assert talk.page.read_text() == "- I'm vegan.\n"


async def test_what_is_known_is_told(talk: Talk) -> None:
    """As much as can be listened to; the model gets all of it."""
    assert await talk.hears("What do you know about me?") == "I know nothing about you yet."
    entries = [f"I have {number} cats." for number in range(READ_OUT_ENTRIES + 2)]
    talk.knows(*entries)
    told = await talk.requests.turn("Was weißt du über mich?", "spoken")
    assert told is not None and told.whole
    assert "I have 5 cats." in told.said["de"] and "I have 6 cats." not in told.said["de"]
    assert told.said["de"].endswith("Und 2 weitere. Du kannst sie auf der Seite lesen.")
    assert all(entry in told.note for entry in entries)


async def test_a_farewell_parts(talk: Talk) -> None:
    """Once it is the whole turn."""
    assert await talk.hears("Say goodbye to my sister.") is None
    assert talk.parted == []
    assert await talk.hears("Danke, tschüss!", "de") == "Auf Wiederhören!"
    assert talk.parted == [False]


@pytest.mark.parametrize("origin", ["pasted", "prefilled", "note", "echo", "tool"])
async def test_only_the_user_asks(talk: Talk, origin: str) -> None:
    """What was pasted, or heard back, forgets nothing and ends nothing."""
    talk.knows("I'm vegan.")
    for text in ("Forget that I'm vegan.", "Goodbye."):
        assert await talk.requests.turn(text, origin) is None  # type: ignore[arg-type]
    assert talk.page.read_text() == "- I'm vegan.\n" and talk.parted == []


async def test_a_notebook_that_is_gone_is_told(talk: Talk) -> None:
    """Nothing is claimed that did not happen."""
    talk.page.parent.rename(talk.page.parent.with_name("away"))
    talk.page.parents[2].rename(talk.page.parents[2].with_name("elsewhere"))
    assert await talk.hears("Forget that I'm vegan.") == (
        "I couldn't. Something went wrong with the file."
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_outcome_can_be_said(language: str) -> None:
    """In every language the same ones."""
    words = tomllib.loads(prompt("requests.toml"))
    assert set(words["said"][language]) == {*words["told"], "more", "found on"}


@pytest.fixture
def boiler(talk: Talk) -> None:
    talk.notes("# Heating\n\nThe boiler engineer is Mrs Okafor. She comes in May.\n")
    at = datetime(2026, 12, 1, 18, 0, tzinfo=UTC)
    talk.memory.journal(
        JournalEntry(at=at, title="A talk", text="We spoke about the boiler and its noise.")
    )


@pytest.mark.parametrize(
    ("said", "language", "answer"),
    [
        ("Search my notes for the boiler.", "en", "In house, Heating it says: The boiler engineer"),
        ("such in meinen notizen nach boiler", "de", "In house, Heating steht: The boiler"),
        ("What does my journal say about the boiler?", "en", "On 2026-12-01: We"),
    ],
)
@pytest.mark.usefixtures("boiler")
async def test_what_was_searched_for_is_read_out(
    talk: Talk, said: str, language: str, answer: str
) -> None:
    """With the place; the model gets the extracts for this one answer."""
    assert talk.requests.is_asked(said)
    told = await talk.requests.turn(said, "spoken")
    assert told is not None and told.whole and told.found is not None
    assert told.said[language].startswith(answer)  # type: ignore[index]
    assert "boiler" in told.found.block
    assert told.found.extracts[0].file in ("house.md", "society/jarvis/daily/2026-12-01.md")


@pytest.mark.usefixtures("boiler")
async def test_what_stands_nowhere_is_not_made_up(talk: Talk) -> None:
    """Nothing found is said so."""
    told = await talk.requests.turn("Search everywhere for my passport.", "spoken")
    assert told is not None and told.found is None
    assert told.said["en"] == "I found nothing about that."
    talk.notes(None)
    assert await talk.hears("Search my notes for the boiler.") == "I found nothing about that."


@pytest.mark.usefixtures("boiler")
async def test_a_long_piece_is_read_to_the_end_of_a_sentence(talk: Talk) -> None:
    """Nobody listens to a page."""
    talk.notes("# Heating\n\n" + "The boiler hums again today. " * 30)
    answer = await talk.hears("Search my notes for the boiler.")
    assert answer is not None and len(answer) < READ_OUT_CHARS + 40
    assert answer.endswith("today.")


@pytest.mark.usefixtures("boiler")
async def test_properties_and_pictures_are_not_read_out(talk: Talk) -> None:
    """They are for the eye: the next piece has the words."""
    properties = "---\ntitle: Boiler\ntags:\n- boiler\n- heating\n---\n"
    talk.notes(f"{properties}![boiler](/boiler.webp)\n\n## Service\n\nThe boiler wants oil.\n")
    assert await talk.hears("Search my notes for the boiler.") == (
        "In house, Service it says: The boiler wants oil."
    )
