"""A typed conversation with a model: what is asked, what comes, what stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime

import pytest

from memory.records import LANGUAGES, Prefix
from voice.engines.answer_language import answer_in
from voice.engines.dialogue import Dialogue
from voice.engines.language_model import ContextExceeded, Message
from voice.engines.scripted import ScriptedModel
from voice.engines.small_model import example
from voice.engines.told import time_told
from voice.errors import EngineUnavailable, VoiceFault, WorkerFailed
from voice.records import Told

NOW = datetime(2026, 12, 2, 10, 5, tzinfo=UTC)
PREFIX = Prefix(text="You are Jarvis.", sha256="ab" * 32)


def dialogue(
    script: Callable[[Sequence[Message]], str | VoiceFault], *, news: Sequence[str | None] = ()
) -> tuple[Dialogue, ScriptedModel]:
    to_tell = list(news)

    async def next_news() -> str | None:
        return to_tell.pop(0) if to_tell else None

    model = ScriptedModel(script, first_s=0, word_s=0)
    return Dialogue(model, prefix=PREFIX, now=lambda: NOW, news=next_news), model


async def replied(to: Dialogue, said: str) -> str:
    return "".join([piece async for piece in to.reply(said)])


async def test_a_conversation_is_told_whole() -> None:
    """Prefix, time, language, news, then the turns in order."""
    chat, model = dialogue(lambda _: "Yes, of course.", news=[None, "USER.md, new: - I moved."])
    await chat.open()
    assert model.prefix == PREFIX.text
    assert await replied(chat, "Are you there?") == "Yes, of course."
    assert await replied(chat, "Where do I live?") == "Yes, of course."
    assert model.requests[-1] == (
        Message("system", PREFIX.text),
        Message("system", time_told("local", NOW)),
        Message("system", answer_in("en")),
        Message("user", "Are you there?"),
        Message("assistant", "Yes, of course."),
        Message("system", "USER.md, new: - I moved."),
        Message("user", "Where do I live?"),
    )


async def test_the_language_of_what_was_typed_is_answered() -> None:
    """A German line asks for a German answer; two words change nothing."""
    chat, model = dialogue(lambda _: "Ja.")
    await replied(chat, "Wann hat meine Schwester Geburtstag?")
    await replied(chat, "Bruno Weber?")
    told = [message.content for message in model.requests[-1] if message.role == "system"]
    assert told[2:] == [answer_in("de")]


async def test_an_answer_left_early_stays_as_far_as_it_came() -> None:
    """Who stops reading stops the model, and the history holds what was shown."""
    chat, model = dialogue(lambda _: "one two three four five six")
    async with aclosing(chat.reply("Count to six, please.")) as pieces:
        shown = [await anext(pieces), await anext(pieces)]
    assert model.stopped == 1
    assert chat.history.messages()[-1] == Message("assistant", "".join(shown))


async def test_a_fault_leaves_the_conversation_as_it_was() -> None:
    """The question can be asked again; the model is told it once."""
    answers: list[str | VoiceFault] = [WorkerFailed("It died."), "Fine."]
    chat, model = dialogue(lambda _: answers.pop(0))
    with pytest.raises(WorkerFailed):
        await replied(chat, "How are you?")
    assert await replied(chat, "How are you?") == "Fine."
    assert [m.content for m in model.requests[-1] if m.role == "user"] == ["How are you?"]


async def test_an_empty_answer_is_a_fault() -> None:
    """Nothing is no answer."""
    chat, _ = dialogue(lambda _: " ")
    with pytest.raises(EngineUnavailable, match="empty answer"):
        await replied(chat, "How are you?")


async def test_notebooks_too_long_for_the_model() -> None:
    """The opening says which files to shorten."""

    class Small(ScriptedModel):
        async def prepare(self, prefix: str) -> None:
            raise ContextExceeded("too long")

    async def no_news() -> None:
        return None

    chat = Dialogue(Small(lambda _: ""), prefix=PREFIX, now=lambda: NOW, news=no_news)
    with pytest.raises(EngineUnavailable, match=r"Shorten USER\.md or MEMORY\.md"):
        await chat.open()


def small(
    script: Callable[[Sequence[Message]], str | VoiceFault],
) -> tuple[Dialogue, ScriptedModel]:
    async def no_news() -> None:
        return None

    model = ScriptedModel(script, first_s=0, word_s=0, small=True)
    return Dialogue(model, prefix=PREFIX, now=lambda: NOW, news=no_news), model


@pytest.mark.parametrize(
    ("said_again", "alone"),
    [
        ("Ich bin fertig. Ja.", "Dein Hund heißt Rex."),
        ("The user says my dog is called Rex.", "Dein Hund heißt Rex."),
        ("Ich bin fertig.", "Ich bin fertig."),  # what it says alone as well is its answer
    ],
)
async def test_a_small_model_that_falls_into_what_it_said_is_asked_again(
    said_again: str, alone: str
) -> None:
    """Nothing of what it said to another question, or in another language, comes out; it is
    asked without the conversation, once."""
    answers = ["Ich bin fertig.", said_again, alone]
    chat, model = small(lambda _: answers.pop(0))
    await replied(chat, "Hör bitte damit auf.")
    assert await replied(chat, "Wie heißt mein Hund?") == alone
    assert model.asides == [False, False, True]  # the conversation stays in the model
    assert model.requests[-1] == (
        Message("system", PREFIX.text),
        Message("system", time_told("local", NOW)),
        Message("system", answer_in("de")),
        *example("de"),
        Message("user", "Wie heißt mein Hund?"),
    )
    assert [m.content for m in chat.history.messages() if m.role == "assistant"][-2:] == [
        "Ich bin fertig.",
        alone,
    ]


async def test_the_same_question_may_have_the_same_answer() -> None:
    """Who asks twice is told twice, and the model is asked once each time."""
    chat, model = small(lambda _: "Your dog is called Rex.")
    for _ in range(2):
        assert await replied(chat, "What is my dog called?") == "Your dog is called Rex."
    assert len(model.requests) == 2


async def test_a_larger_model_may_repeat_itself() -> None:
    """It has its reasons."""
    chat, model = dialogue(lambda _: "I have done that already.")
    for said in ("Do it now.", "Do the other thing."):
        assert await replied(chat, said) == "I have done that already."
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    ("whole", "lasting", "told"),
    [
        (True, "New: I moved.", ["New: I moved."]),
        (True, "", []),
        (False, "New: I moved.", ["Say that it is saved."]),
    ],
)
async def test_a_small_model_learns_what_lasts(whole: bool, lasting: str, told: list[str]) -> None:
    """How to tell an outcome it is told only where it is asked to answer: it would go on with it."""
    chat, model = small(lambda _: "Fine.")
    outcome = Told(
        note="Say that it is saved.",
        said=dict.fromkeys(LANGUAGES, "Saved."),
        whole=whole,
        lasting=lasting,
    )
    async with aclosing(chat.reply("Remember that I moved.", outcome)) as pieces:
        assert "".join([piece async for piece in pieces]).startswith("Saved.")
    await replied(chat, "What do you think of it?")
    system = [m.content for m in model.requests[-1] if m.role == "system"]
    assert system[3:] == told
    seen = Message("user", "Remember that I moved.") in model.requests[-1]
    assert seen is not whole
