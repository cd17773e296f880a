"""The local engine in a pipeline on the virtual clock: what goes in, what comes out, and when."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    TTSAudioRawFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

from memory.records import LANGUAGES, Extract, Language, Prefix, Turn
from tests.fakes.tone_voice import ToneVoice
from voice.engines.answer_language import answer_in, language_of
from voice.engines.language_model import ContextExceeded, Message
from voice.engines.local import LocalEngine
from voice.engines.protocol import Opening, no_notes
from voice.engines.scripted import ScriptedModel
from voice.errors import EngineUnavailable, VoiceFault, WorkerFailed
from voice.frames import (
    AnswerBeganFrame,
    AnswerDoneFrame,
    AnswerFailedFrame,
    AnswerUnderWayFrame,
    HeardFrame,
    SpokenFrame,
    TypedFrame,
)
from voice.records import (
    EngineChanged,
    EngineDescription,
    Guess,
    GuessWithdrawn,
    Heard,
    NotesFound,
    Notice,
    NoTurn,
    Partial,
    SpeechBegan,
    Told,
    UserSaid,
)
from voice.virtual_time import run_virtual

NOW = datetime(2026, 12, 2, 10, 5, tzinfo=UTC)
PREFIX = Prefix(text="You are Jarvis.", sha256="ab" * 32)
DESCRIPTION = EngineDescription(
    name="Built-in", hears="", thinks="a script", speaks="", words_go_to="", costs="nothing"
)
ANSWER = "Your sister's birthday is on March 12, and that is a Friday."

Step = tuple[float, Frame | Turn]


class Sink(FrameProcessor):
    """Keeps what reaches the output, with the time in seconds since the call began."""

    def __init__(self) -> None:
        super().__init__()
        self.came: list[tuple[float, Frame]] = []
        self._began_s = asyncio.get_running_loop().time()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        self.came.append((asyncio.get_running_loop().time() - self._began_s, frame))
        await self.push_frame(frame, direction)


@dataclass
class Outcome:
    """`back` is what came back to the ears."""

    came: list[tuple[float, Frame]]
    back: list[tuple[float, Frame]]
    model: ScriptedModel
    voice: ToneVoice
    notices: list[Notice] = field(default_factory=list)

    def of(self, *kinds: type[Frame]) -> list[Frame]:
        return [frame for _, frame in self.came if isinstance(frame, kinds)]

    def at(self, kind: type[Frame]) -> list[float]:
        return [round(at_s, 3) for at_s, frame in self.came if isinstance(frame, kind)]

    @property
    def spoken(self) -> str:
        return " ".join(f.text for f in self.of(SpokenFrame) if isinstance(f, SpokenFrame))


def call(
    steps: Sequence[Step],
    script: Callable[[Sequence[Message]], str | VoiceFault] = lambda _: ANSWER,
    *,
    voice: ToneVoice | None = None,
    news: Sequence[str | None] = (),
    languages: tuple[Language, ...] = LANGUAGES,
    word_s: float = 0.05,
    notes: Callable[[str], Awaitable[NotesFound | None]] = no_notes,
    small: bool = False,
) -> Outcome:
    """A call in which `steps` happen at their times: frames go in, a Turn is told as heard."""

    async def run() -> Outcome:
        model = ScriptedModel(script, word_s=word_s, small=small)
        tone = voice or ToneVoice()
        to_tell = list(news)
        notices: list[Notice | EngineChanged] = []

        async def next_news() -> str | None:
            return to_tell.pop(0) if to_tell else None

        engine = LocalEngine(model, tone, languages=languages, description=DESCRIPTION)
        processors = await engine.open(
            Opening(
                prefix=PREFIX,
                language="en",
                now=lambda: NOW,
                news=next_news,
                notify=notices.append,
                notes=notes,
            )
        )
        sink, ears = Sink(), Sink()
        worker = PipelineWorker(
            Pipeline([ears, *processors, sink]),
            idle_timeout_secs=None,
            enable_rtvi=False,
            enable_turn_tracking=False,
            params=PipelineParams(audio_in_sample_rate=16_000, audio_out_sample_rate=24_000),
        )
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        running = asyncio.create_task(runner.run())
        began_s = asyncio.get_running_loop().time()
        for at_s, step in steps:
            await asyncio.sleep(began_s + at_s - asyncio.get_running_loop().time())
            if isinstance(step, Turn):
                engine.heard(step)
            else:
                await worker.queue_frame(step)
        await asyncio.sleep(20)
        await worker.cancel()
        await running
        await engine.close()
        return Outcome(
            sink.came, ears.came, model, tone, [n for n in notices if isinstance(n, Notice)]
        )

    return run_virtual(run, epoch_s=NOW.timestamp())


def heard(event: Heard) -> HeardFrame:
    return HeardFrame(event=event)


def began() -> HeardFrame:
    return heard(SpeechBegan(began_ms=0))


def partial(text: str) -> HeardFrame:
    return heard(Partial(text=text, language="en", began_ms=0))


def guess(number: int, text: str, language: Language = "en") -> HeardFrame:
    return heard(
        Guess(number=number, text=text, language=language, began_ms=0, ended_ms=1000, ended_s=1.0)
    )


def withdrawn(number: int) -> HeardFrame:
    return heard(GuessWithdrawn(number=number))


def said(text: str, number: int | None = None, language: Language = "en") -> HeardFrame:
    return heard(
        UserSaid(
            text=text,
            language=language,
            began_ms=0,
            ended_ms=1000,
            guess=number,
            ended_s=0.0,
            decided_s=0.0,
            transcribed_s=0.0,
        )
    )


def turn(text: str, *, interrupted: bool = False) -> Turn:
    return Turn(
        conversation="c1",
        index=1,
        speaker="assistant",
        text=text,
        language="en",
        began_at=NOW,
        ended_at=NOW,
        origin="spoken",
        interrupted=interrupted,
    )


QUESTION = "When is my sister's birthday?"


def test_an_answer_comes_as_the_protocol_says() -> None:
    """Began, started, pieces with their audio behind them, stopped, done: in this order."""
    outcome = call([(1.0, began()), (2.0, said(QUESTION))])
    kinds = outcome.of(
        AnswerBeganFrame,
        TTSStartedFrame,
        SpokenFrame,
        TTSAudioRawFrame,
        TTSStoppedFrame,
        AnswerDoneFrame,
    )
    names = [type(frame).__name__ for frame in kinds]
    pieces = (len(names) - 4) // 2
    assert names == [
        "AnswerBeganFrame",
        "TTSStartedFrame",
        *["SpokenFrame", "TTSAudioRawFrame"] * pieces,
        "TTSStoppedFrame",
        "AnswerDoneFrame",
    ]
    assert pieces >= 2
    assert outcome.spoken == ANSWER
    for spoken, audio in zip(outcome.of(SpokenFrame), outcome.of(TTSAudioRawFrame), strict=True):
        assert isinstance(spoken, SpokenFrame)
        assert isinstance(audio, TTSAudioRawFrame)
        assert spoken.samples == len(audio.audio) // 2
        assert spoken.samples % 960 == 0  # whole chunks of 40 ms
        assert (audio.sample_rate, audio.num_channels, spoken.language) == (24_000, 1, "en")


def test_sound_comes_after_a_few_words() -> None:
    """The first piece is out when three words are sure, not when the sentence is, nor the next
    word."""
    outcome = call([(1.0, began()), (2.0, said(QUESTION))])
    # 0.2 s to the first word, 0.05 s for each further one; a word is sure with the next.
    assert outcome.at(TTSAudioRawFrame)[0] == pytest.approx(2.35, abs=0.03)
    (answer,) = outcome.of(AnswerBeganFrame)
    assert isinstance(answer, AnswerBeganFrame)
    assert answer.first_token_s is not None
    assert answer.first_audio_s > answer.first_token_s
    assert answer.prompt_tokens is not None


def test_a_guess_that_holds_is_let_out_at_once() -> None:
    """What was made since the guess sounds at the very moment the turn is over."""
    outcome = call([(1.0, began()), (2.0, guess(1, QUESTION)), (2.9, said(QUESTION, 1))])
    assert outcome.at(AnswerBeganFrame) == [2.9]
    assert outcome.at(TTSAudioRawFrame)[0] == 2.9
    assert outcome.spoken == ANSWER
    assert len(outcome.model.requests) == 1


def test_a_guess_makes_no_sound_before_the_turn_is_over() -> None:
    """A guess that nobody confirms is never heard."""
    outcome = call([(1.0, began()), (2.0, guess(1, QUESTION))])
    assert outcome.of(AnswerBeganFrame, SpokenFrame, TTSAudioRawFrame) == []


def told_ears(outcome: Outcome) -> list[tuple[float, int, bool]]:
    return [
        (round(at_s, 2), frame.guess, frame.ready)
        for at_s, frame in outcome.back
        if isinstance(frame, AnswerUnderWayFrame)
    ]


def test_the_ears_keep_the_turn_open_until_the_answer_is_ready() -> None:
    """They learn of the answer with the guess, and that it is ready before its first sound is
    made: ending the turn costs no time. Its record keeps when that was."""
    outcome = call([(1.0, began()), (2.0, guess(1, QUESTION)), (3.9, said(QUESTION, 1))])
    [(begun_s, *begun), (ready_s, *ready)] = told_ears(outcome)
    assert (begun, ready) == ([1, False], [1, True])
    assert begun_s == 2.0 < ready_s < 3.0
    [answer] = outcome.of(AnswerBeganFrame)
    assert isinstance(answer, AnswerBeganFrame) and answer.ready_s is not None


def test_an_answer_that_can_t_be_made_keeps_no_turn_open() -> None:
    """A model that fails is as good as one that is ready."""
    outcome = call(
        [(2.0, guess(1, QUESTION)), (3.9, said(QUESTION, 1))],
        lambda _: EngineUnavailable("It is gone."),
    )
    assert [ready for _, _, ready in told_ears(outcome)] == [False, True]


@pytest.mark.parametrize(
    "end", [withdrawn(1), heard(NoTurn(reason="noise", began_ms=0, ended_ms=1))]
)
def test_a_guess_that_is_taken_back_stops_the_model(end: HeardFrame) -> None:
    """Speech went on, or was none: the model is stopped and nothing is said."""
    outcome = call([(1.0, began()), (2.0, guess(1, QUESTION)), (2.25, end)])
    assert outcome.model.stopped == 1
    assert outcome.spoken == ""


def test_who_wants_silence_gets_it() -> None:
    """Nothing is said to "stop", and an answer that was begun before it ends; the model knows of
    it with the next turn."""
    stop = said("Stop.")
    stop.answered = False
    outcome = call([(1.0, said("Tell me a story.")), (2.0, stop), (9.0, said(QUESTION))])
    assert outcome.at(AnswerBeganFrame)[1:] == [pytest.approx(9.35, abs=0.06)]
    assert not any(2.05 < at_s < 9.0 for at_s in outcome.at(TTSAudioRawFrame))
    assert [message.content for message in outcome.model.requests[-1]][-2:] == ["Stop.", QUESTION]


def test_other_words_than_guessed_are_answered_anew() -> None:
    """The turn's words decide, whatever was guessed before."""
    outcome = call(
        [
            (1.0, began()),
            (2.0, guess(1, "When is my")),
            (2.2, withdrawn(1)),
            (3.0, guess(2, "When is my sister's")),
            (3.1, said(QUESTION)),
        ],
        lambda messages: f"You asked: {messages[-1].content}",
    )
    assert outcome.spoken == f"You asked: {QUESTION}"
    assert [request[-1].content for request in outcome.model.requests][-1] == QUESTION
    assert outcome.model.stopped == 2


def test_a_running_guess_with_the_same_words_is_kept() -> None:
    """A turn that names no guess but has its words is answered by what is being made."""
    outcome = call([(1.0, began()), (2.0, guess(1, QUESTION)), (2.1, said(QUESTION))])
    assert len(outcome.model.requests) == 1
    assert outcome.spoken == ANSWER


def test_a_guess_leaves_no_trace_in_the_history() -> None:
    """Only what was said is told to the model later."""
    outcome = call(
        [
            (1.0, began()),
            (2.0, guess(1, "Play some")),
            (2.2, withdrawn(1)),
            (3.0, said("Hello")),
            (9.0, said("And again")),
        ]
    )
    assert [m.content for m in outcome.model.requests[-1] if m.role == "user"] == [
        "Hello",
        "And again",
    ]


def test_barge_in_silences_the_answer() -> None:
    """After an interruption nothing of the old answer comes out, and the model stops."""
    long = " ".join(f"word{index}," for index in range(100))
    outcome = call(
        [(1.0, began()), (2.0, said(QUESTION)), (3.0, InterruptionFrame())], lambda _: long
    )
    interrupted_at = next(
        place for place, (_, f) in enumerate(outcome.came) if isinstance(f, InterruptionFrame)
    )
    after = [frame for _, frame in outcome.came[interrupted_at:]]
    silent = (AnswerBeganFrame, SpokenFrame, TTSAudioRawFrame, TTSStoppedFrame, AnswerDoneFrame)
    assert not any(isinstance(frame, silent) for frame in after)
    assert outcome.at(SpokenFrame)[-1] <= 3.0
    assert outcome.model.stopped == 1


@pytest.mark.parametrize("at_s", [2.0 + 0.013 * index for index in range(40)])
def test_barge_in_at_any_moment(at_s: float) -> None:
    """Wherever an answer is interrupted, it is silent from there on, and the next one is whole."""
    outcome = call(
        [(1.0, began()), (2.0, said("A?")), (at_s, InterruptionFrame()), (5.0, said("B?"))],
        lambda messages: f"{messages[-1].content} Alpha, beta, gamma, delta, epsilon.",
    )
    place = next(i for i, (_, f) in enumerate(outcome.came) if isinstance(f, InterruptionFrame))
    after = [f.text for _, f in outcome.came[place:] if isinstance(f, SpokenFrame)]
    assert " ".join(after) == "B? Alpha, beta, gamma, delta, epsilon."
    assert sum(isinstance(f, AnswerDoneFrame) for _, f in outcome.came[place:]) == 1


def test_the_history_keeps_what_was_heard() -> None:
    """The model is told the words that were heard of its answer, with a mark behind them."""
    outcome = call(
        [
            (1.0, began()),
            (2.0, said(QUESTION)),
            (3.0, InterruptionFrame()),
            (3.0, turn("Your sister's", interrupted=True)),
            (4.0, said("Only the day.")),
        ]
    )
    assert [(m.role, m.content) for m in outcome.model.requests[-1][3:]] == [
        ("user", QUESTION),
        ("assistant", "Your sister's … [interrupted]"),
        ("user", "Only the day."),
    ]


def test_the_prefix_is_the_same_in_every_request() -> None:
    """Whatever is guessed, said or typed, each request begins with the prefix (V7)."""
    outcome = call(
        [
            (1.0, guess(1, "Hi")),
            (2.0, said("Hi", 1)),
            (9.0, TypedFrame(text="Hello?")),
            (19.0, said("Bye")),
        ]
    )
    assert {request[0] for request in outcome.model.requests} == {Message("system", PREFIX.text)}
    assert len(outcome.model.requests) == 3


def test_a_typed_turn_is_answered_aloud() -> None:
    """Who types hears the answer; it answers no spoken turn."""
    outcome = call([(1.0, TypedFrame(text=QUESTION))])
    assert outcome.spoken == ANSWER
    (answer,) = outcome.of(AnswerBeganFrame)
    assert isinstance(answer, AnswerBeganFrame)
    assert answer.to is None


def test_a_new_turn_ends_an_answer_that_still_sounds() -> None:
    """A turn in mid-answer, without a barge-in before it, interrupts by itself."""
    outcome = call([(1.0, said("A?")), (2.5, TypedFrame(text="B?"))])
    assert outcome.at(InterruptionFrame) == [2.5]
    assert len(outcome.of(AnswerBeganFrame)) == 2


def test_a_new_turn_after_the_answer_interrupts_nothing() -> None:
    """Once the answer has been played there is nothing to stop."""
    outcome = call([(1.0, said("A?")), (19.0, said("B?"))])
    assert outcome.of(InterruptionFrame) == []
    assert len(outcome.of(AnswerDoneFrame)) == 2


def test_news_is_asked_when_speech_begins() -> None:
    """What changed in a notebook reaches the very turn during which it is read."""
    news = "USER.md, new: - My sister moved."
    outcome = call([(1.0, began()), (2.0, said(QUESTION))], news=[news])
    assert [message.content for message in outcome.model.requests[0][3:]] == [news, QUESTION]


def test_the_users_beginning_is_worked_through_while_they_speak() -> None:
    """What the call begins with is read before anybody speaks, then each partial text but its last
    word."""
    outcome = call([(1.0, began()), (1.8, partial("When is my")), (2.5, said(QUESTION))])
    (beginning, _), *others = outcome.model.prefills
    assert [message.role for message in beginning] == ["system", "system", "system"]
    assert [text for _, text in others][:2] == ["", "When is"]


@pytest.mark.parametrize("small", [True, False])
def test_what_a_question_alone_begins_with_is_read_behind_an_answer(small: bool) -> None:
    """A small model may have to be asked again without the conversation, which is read first."""
    outcome = call([(1.0, began()), (2.0, said(QUESTION))], small=small)
    assert bool(outcome.model.prefills_aside) is small
    conversation, _ = outcome.model.prefills[-1]
    assert conversation[-1] == Message("assistant", ANSWER)
    for messages, _ in outcome.model.prefills_aside:
        assert QUESTION not in [message.content for message in messages]


def test_a_failing_model_is_told_and_tried_again() -> None:
    """No answer gives a sentence for the user; the next turn asks again."""
    answers: list[str | VoiceFault] = [WorkerFailed("The language model's process ended."), "Yes."]
    outcome = call([(1.0, said("A?")), (3.0, said("B?"))], lambda _: answers.pop(0))
    (failed,) = outcome.of(AnswerFailedFrame)
    assert isinstance(failed, AnswerFailedFrame)
    assert failed.text == "The language model's process ended."
    assert outcome.spoken == "Yes."


def test_a_guess_that_failed_is_tried_again_when_the_turn_is_over() -> None:
    """A fault while guessing is nobody's loss."""
    answers: list[str | VoiceFault] = [WorkerFailed("It died."), "Yes."]
    outcome = call([(1.0, guess(1, "A?")), (2.0, said("A?", 1))], lambda _: answers.pop(0))
    assert outcome.of(AnswerFailedFrame) == []
    assert outcome.spoken == "Yes."


def test_an_empty_answer_is_asked_for_twice_then_told() -> None:
    """A model that says nothing gets a second chance; then the user hears of it."""
    answers = ["", "", "", "Yes."]
    outcome = call([(1.0, said("A?")), (5.0, said("B?"))], lambda _: answers.pop(0))
    assert len(outcome.of(AnswerFailedFrame)) == 1
    assert outcome.spoken == "Yes."


def test_a_voice_that_dies_in_mid_answer() -> None:
    """What was said before stands; the user is told, and the next answer is whole."""
    voice = ToneVoice(breaks_at="Friday")
    outcome = call([(1.0, said("A?")), (9.0, said("B?"))], voice=voice)
    assert outcome.of(AnswerFailedFrame) == []
    assert [notice.text for notice in outcome.notices] == ["The speech worker ended with code 1."]
    assert len(outcome.of(AnswerDoneFrame)) == 2
    assert outcome.spoken.endswith(ANSWER)


def test_a_conversation_too_long_for_the_model_is_shortened() -> None:
    """When the server says that it is too long, the older part goes and the turn is answered."""

    def script(messages: Sequence[Message]) -> str | VoiceFault:
        return ContextExceeded("too long") if len(messages) > 7 else "Yes."

    steps = [(1.0 + 3 * index, said(f"{index}?")) for index in range(6)]
    outcome = call(steps, script)
    assert outcome.of(AnswerFailedFrame) == []
    assert len(outcome.of(AnswerDoneFrame)) == 6


def test_a_question_too_long_for_the_model_is_told() -> None:
    """Where nothing can be dropped the user hears what the model holds."""
    outcome = call([(1.0, TypedFrame(text="word " * 9))], lambda _: ContextExceeded("too long"))
    (failed,) = outcome.of(AnswerFailedFrame)
    assert isinstance(failed, AnswerFailedFrame)
    assert failed.text.startswith("That text is too long for a script")


def test_an_answer_is_spoken_in_its_own_language() -> None:
    """A German question that is answered in English is spoken by the English voice."""
    outcome = call(
        [(1.0, said("Wann hat meine Schwester Geburtstag?", language="de"))], lambda _: ANSWER
    )
    assert {language for _, language in outcome.voice.spoken} == {"en"}


def test_the_model_is_told_in_which_language_to_answer() -> None:
    """Once behind the time, and again when the user changes the language; never twice."""
    outcome = call(
        [
            (1.0, said("Hello there")),
            (9.0, said("And again")),
            (18.0, said("Und jetzt auf Deutsch", language="de")),
        ]
    )
    told = [message.content for message in outcome.model.requests[-1] if message.role == "system"]
    assert told[2:] == [answer_in("en"), answer_in("de")]
    assert outcome.model.requests[-1][-2:] == (
        Message("system", answer_in("de")),
        Message("user", "Und jetzt auf Deutsch"),
    )


@pytest.mark.parametrize(
    ("text", "expected", "language"),
    [
        ("The capital of", "de", "en"),
        ("Deine Schwester hat", "en", "de"),
        ("Tu hermana cumple", "en", "es"),
        ("Anna.", "de", "de"),
        ("Dr. Lindner.", "es", "es"),
        ("Am 12. März.", "de", "de"),
    ],
)
def test_language_of_an_answer(text: str, expected: Language, language: Language) -> None:
    """The user's language, unless the words are surely another's."""
    assert language_of(text, expected, LANGUAGES) == language


def test_one_language_alone_is_never_left() -> None:
    """With one language enabled everything is spoken in it."""
    outcome = call([(1.0, said("Hallo?"))], lambda _: ANSWER, languages=("de",))
    assert {language for _, language in outcome.voice.spoken} == {"de"}


def test_what_goes_through_is_passed_on() -> None:
    """Sound of the microphone and events of hearing go on to the output and the tap."""
    sound = InputAudioRawFrame(audio=bytes(640), sample_rate=16_000, num_channels=1)
    outcome = call([(1.0, sound), (1.0, began()), (1.5, said(QUESTION))])
    assert len(outcome.of(InputAudioRawFrame)) == 1
    assert len(outcome.of(HeardFrame)) == 2


def test_a_model_that_can_t_be_loaded_ends_the_opening() -> None:
    """The engine says why it can't be opened, in the world's words."""

    class Broken(ScriptedModel):
        async def prepare(self, prefix: str) -> None:
            raise WorkerFailed("The language model did not start. It said: no memory")

    async def run() -> None:
        engine = LocalEngine(
            Broken(lambda _: ""), ToneVoice(), languages=LANGUAGES, description=DESCRIPTION
        )

        async def no_news() -> None:
            return None

        await engine.open(
            Opening(
                prefix=PREFIX, language="en", now=lambda: NOW, news=no_news, notify=lambda _: None
            )
        )

    with pytest.raises(EngineUnavailable, match="did not start"):
        asyncio.run(run())


def test_it_says_who_speaks() -> None:
    """The description names the voices that were really loaded, each once."""
    engine = LocalEngine(
        ScriptedModel(lambda _: ""), ToneVoice(), languages=("en", "de"), description=DESCRIPTION
    )
    assert engine.description.speaks == "a tone (en), a tone (de)"


EXTRACT = Extract(
    file="family.md", first_line=3, last_line=3, heading="", text="Anna was born on March 12."
)
FOUND = NotesFound(block="<notes>\nAnna was born on March 12.\n</notes>", extracts=(EXTRACT,))


class Shelf:
    """Notes that answer what speaks of a sister, and what was looked up in them."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, words: str) -> NotesFound | None:
        self.asked.append(words)
        await asyncio.sleep(0.005)
        return FOUND if "sister" in words else None


def test_notes_are_read_while_the_user_still_speaks() -> None:
    """Found with half a sentence they are worked through ahead; the answer names them (N1)."""
    shelf = Shelf()
    outcome = call(
        [
            (1.0, began()),
            (1.8, partial("When is my sister's")),
            (3.0, guess(1, QUESTION)),
            (3.3, said(QUESTION, 1)),
        ],
        notes=shelf,
    )
    ahead = [partly for _, partly in outcome.model.prefills]
    assert f"{FOUND.block}\n\nWhen is my" in ahead
    [request] = outcome.model.requests
    assert request[-1] == Message("user", f"{FOUND.block}\n\n{QUESTION}")
    [frame] = outcome.of(AnswerBeganFrame)
    assert isinstance(frame, AnswerBeganFrame)
    assert frame.extracts == (EXTRACT,)
    assert shelf.asked == ["When is my sister's", QUESTION]


def test_extracts_stay_in_their_own_request() -> None:
    """The next request holds what was said, and no extract of the one before (N1)."""
    outcome = call([(1.0, said(QUESTION)), (8.0, said("And who rules Mongolia?"))], notes=Shelf())
    first, second = outcome.model.requests
    assert FOUND.block in first[-1].content
    assert FOUND.block not in " ".join(message.content for message in second)
    assert Message("user", QUESTION) in second


def test_what_plain_code_searched_for_is_all_that_a_turn_gets() -> None:
    """A turn with an order of its own is not looked up again (V16)."""
    shelf = Shelf()
    told = Told(note="Found.", said=dict.fromkeys(LANGUAGES, "Found."), whole=False, found=FOUND)
    frame = said("Search my notes for my sister")
    frame.told = told
    outcome = call([(1.0, frame)], notes=shelf)
    assert shelf.asked == []
    assert FOUND.block in outcome.model.requests[0][-1].content
