"""The ears' core over real sound, with scripted answers from the models."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory.records import Language
from tests.fakes.playing import Playing
from voice.audio import RATE_HZ, Samples, decode
from voice.errors import WorkerFailed
from voice.hearing.detector import FRAME_BYTES, Judge, VoiceDetector
from voice.hearing.endpoint import EndpointSettings
from voice.hearing.listen import hear_samples
from voice.hearing.listener import HearingSettings, Listener
from voice.hearing.scripted import ScriptedHearing
from voice.records import (
    BargedIn,
    Guess,
    GuessWithdrawn,
    Heard,
    NoTurn,
    Partial,
    SpeechBegan,
    UserSaid,
)

SPOKEN = Path(__file__).parents[3] / "fixtures" / "hearing"
DYING = WorkerFailed("Hearing ended with code -9.")


def recorded(name: str) -> Samples:
    return decode(SPOKEN / f"{name}.flac")


def room(seconds: float, level: float = 6.0) -> Samples:
    noise = np.random.default_rng(2).normal(0, level, int(seconds * RATE_HZ))
    samples: Samples = noise.astype(np.int16)
    return samples


def joined(*parts: Samples) -> Samples:
    samples: Samples = np.concatenate(parts)
    return samples


def fan() -> Samples:
    """Ten seconds of low-passed noise."""
    noise = np.random.default_rng(3).normal(0, 1, 10 * RATE_HZ)
    smooth = np.convolve(noise, np.ones(24) / 24, "same")
    samples: Samples = (smooth / np.abs(smooth).max() * 8000).astype(np.int16)
    return samples


def keyboard() -> Samples:
    """A click of 8 ms five times a second."""
    generator = np.random.default_rng(4)
    samples = np.zeros(10 * RATE_HZ)
    for start in range(1000, len(samples) - 200, RATE_HZ // 5):
        at = start + int(generator.integers(0, 1500))
        samples[at : at + 128] += generator.normal(0, 9000, 128)[: len(samples[at : at + 128])]
    return samples.clip(-32_000, 32_000).astype(np.int16)


def hum() -> Samples:
    times = np.arange(10 * RATE_HZ) / RATE_HZ
    waves = np.sum([np.sin(2 * np.pi * 50 * n * times) / n for n in range(1, 8)], axis=0)
    samples: Samples = (waves * 3000).astype(np.int16)
    return samples


def melody() -> Samples:
    notes = [262, 294, 330, 349, 392, 440, 494, 523] * 5
    times = np.arange(RATE_HZ // 4) / RATE_HZ
    tones = [np.sin(2 * np.pi * hz * times) * np.exp(-3 * times) for hz in notes]
    return (np.concatenate(tones) * 9000).astype(np.int16)


def heard_by(
    worker: ScriptedHearing,
    samples: Samples,
    *,
    answering: bool = False,
    judge: Judge = "silero",
    endpoint: EndpointSettings | None = None,
    partial_every_ms: int = 750,
    ask_after_ms: int = 0,
    language: Language = "en",
) -> list[Heard]:
    """Every event in `samples`, each question answered before the next frame."""

    async def listen() -> list[Heard]:
        events: list[Heard] = []
        async with asyncio.TaskGroup() as tasks:
            listener = Listener(
                worker,
                HearingSettings(
                    judge=judge,
                    partial_every_ms=partial_every_ms,
                    ask_after_ms=ask_after_ms,
                    endpoint=endpoint or EndpointSettings(),
                ),
                ("en", "de", "es"),
                language,
                tell=events.append,
                spawn=tasks.create_task,
                now=lambda: listener.position_ms / 1000,
            )
            listener.answering(answering)
            pcm = samples.tobytes()
            for start in range(0, len(pcm) - FRAME_BYTES + 1, FRAME_BYTES):
                listener.frame(pcm[start : start + FRAME_BYTES])
                await listener.settle()
            await listener.finish()
        return events

    return asyncio.run(listen())


def kinds(events: list[Heard]) -> list[str]:
    return [type(event).__name__ for event in events]


@pytest.mark.parametrize("noise", [fan, keyboard, hum, melody, lambda: room(10)])
@pytest.mark.parametrize("answering", [False, True])
def test_noise_is_no_turn(noise: Callable[[], Samples], answering: bool) -> None:
    """Fan, keyboard, hum, music and an empty room: no turn, no interruption, no question."""
    worker = ScriptedHearing(["Thank you for watching!"])
    assert heard_by(worker, noise(), answering=answering) == []
    assert worker.asked == []


def louder(samples: Samples, by_db: float) -> Samples:
    return (samples * 10 ** (by_db / 20)).clip(-32_000, 32_000).astype(np.int16)


@pytest.mark.parametrize(
    ("by_db", "around", "turns"),
    [
        (0, 6.0, 2),
        (-6, 6.0, 2),  # whoever turns away
        (-20, 6.0, 1),  # a television across the room
        (0, 900.0, 1),  # no louder than what was before
    ],
)
def test_thanks_out_of_the_room(by_db: float, around: float, turns: int) -> None:
    """What a transcriber hears in every crowd counts where it stands out as the user does."""
    worker = ScriptedHearing(["What time does the museum open tomorrow?", "Thank you very much."])
    question, thanks = recorded("museum"), louder(recorded("museum")[:RATE_HZ], by_db)
    quiet, noisy = room(3), room(4, around)
    events = heard_by(worker, joined(quiet, question, noisy, thanks, noisy[: 2 * RATE_HZ]))
    assert kinds(events).count("UserSaid") == turns
    if turns == 1:
        last = [event for event in events if isinstance(event, NoTurn)][-1]
        assert last.reason == "words that are often invented, out of the room"


@pytest.mark.parametrize("judge", ["silero", "webrtcvad"])
def test_a_spoken_question(judge: Judge) -> None:
    """A question from sample 0: it begins, is guessed, and is told with its guess."""
    worker = ScriptedHearing(["What time does the museum open tomorrow?"])
    events = heard_by(worker, joined(recorded("museum"), room(1.5)), judge=judge)
    assert isinstance(events[0], SpeechBegan) and events[0].began_ms == 0
    said = events[-1]
    assert isinstance(said, UserSaid)
    assert said.text == "What time does the museum open tomorrow?"
    guesses = [event for event in events if isinstance(event, Guess)]
    assert said.guess == guesses[-1].number and guesses[-1].text == said.text
    assert kinds(events).count("GuessWithdrawn") == len(guesses) - 1
    assert abs(said.ended_ms - len(recorded("museum")) / 16) <= 160
    assert 0.2 <= said.decided_s - said.ended_s <= 0.45


def test_no_sample_of_the_first_word_is_lost() -> None:
    """The sound that is transcribed holds the recording whole, and what came before it."""
    worker = ScriptedHearing(["What time does the museum open tomorrow?"])
    heard_by(worker, joined(room(1), recorded("museum"), room(1.5)))
    sound = np.frombuffer(next(p for k, p in reversed(worker.asked) if k == "words"), np.int16)
    spoken = recorded("museum")[: RATE_HZ // 2]
    found = np.correlate(sound.astype(float), spoken.astype(float), "valid")
    assert RATE_HZ * 0.2 <= int(np.argmax(found)) <= RATE_HZ * 0.7
    assert found.max() == pytest.approx(float(np.square(spoken.astype(float)).sum()), rel=0.01)


@pytest.mark.parametrize(
    ("language", "unfinished", "whole"),
    [
        ("en", "I would like to book a table for.", "I would like to book a table for four."),
        ("de", "Ich möchte einen Tisch für.", "Ich möchte einen Tisch für vier."),
        ("es", "Quiero una mesa para.", "Quiero una mesa para cuatro."),
    ],
)
@pytest.mark.parametrize("over", [0.1, 0.98])
def test_a_thinking_pause(language: Language, unfinished: str, whole: str, over: float) -> None:
    """1.3 s of silence behind a preposition keep the turn open, whatever the voice does."""
    worker = ScriptedHearing([unfinished] * 3 + [whole], over=[over] * 6 + [0.95])
    samples = joined(recorded("table_for_four"), room(2.5))
    events = heard_by(worker, samples, partial_every_ms=0, language=language)
    assert kinds(events).count("UserSaid") == 1
    assert isinstance(events[-1], UserSaid) and events[-1].ended_ms > 3500
    assert any(isinstance(event, GuessWithdrawn) for event in events)


@pytest.mark.parametrize("over", [0.95, 0.6])
def test_late_questions_are_fewer_and_the_same(over: float) -> None:
    """Models that are asked two frames before a turn may end are asked about the very sound that
    they would have been asked about at once, and the turn is the same; pauses that end before
    cost nothing."""
    museum = recorded("museum")
    samples = joined(museum, room(0.12), museum, room(0.12), museum, room(2.5))
    asked, ends = [], []
    for after_ms in (0, 280):
        worker = ScriptedHearing(["We meet at the museum tomorrow, and then we eat."], over=[over])
        events = heard_by(worker, samples, partial_every_ms=0, ask_after_ms=after_ms)
        ends.append([(e.began_ms, e.ended_ms, e.text) for e in events if isinstance(e, UserSaid)])
        asked.append(worker.asked)
    at_once, late = asked
    assert ends[0] == ends[1] and len(ends[0]) == 1
    assert set(late) < set(at_once)
    assert [kind for kind, _ in late].count("words") == 1


def test_a_sentence_read_with_a_pause_is_one_turn() -> None:
    """Half a second behind words that end like a sentence: what comes then is the same turn, and is
    transcribed with what was before, since no answer could be heard yet."""
    worker = ScriptedHearing(["We meet at the museum."])
    museum = recorded("museum")
    samples = joined(museum, room(0.5), museum)
    events = asyncio.run(hear_samples(samples, worker))
    assert kinds(events).count("UserSaid") == 1 and kinds(events).count("SpeechBegan") == 1
    assert kinds(events).count("Guess") == kinds(events).count("GuessWithdrawn") + 1
    assert max(len(sound) for _, sound in worker.asked) >= 2 * len(samples)


def test_partial_results() -> None:
    """While somebody speaks the words so far are told, each new version once."""
    worker = ScriptedHearing(["What time?"], partials=["What time", "What time does the museum"])
    events = heard_by(worker, joined(recorded("museum"), room(1.5)))
    partials = [event.text for event in events if isinstance(event, Partial)]
    assert partials and len(set(partials)) == len(partials)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Stop.", ["SpeechBegan", "BargedIn", "Guess", "UserSaid"]),
        ("Mm-hmm.", ["SpeechBegan", "NoTurn"]),
        ("", ["SpeechBegan", "NoTurn"]),
        ("Thank you for watching!", ["SpeechBegan", "NoTurn"]),
    ],
)
def test_into_an_answer(text: str, expected: list[str]) -> None:
    """A spoken "stop" interrupts the answer; "mhm" and inventions leave it alone."""
    samples = joined(room(0.5), recorded("stop"), room(2.5))
    events = heard_by(ScriptedHearing([text], partials=[text]), samples, answering=True)
    assert [kind for kind in kinds(events) if kind != "Partial"] == expected


@pytest.mark.parametrize(
    ("text", "logprob", "stops"),
    [("Him?", -0.88, False), ("Tomorrow.", -0.3, True), ("Stopp.", -1.1, True)],
)
def test_a_doubtful_word_stops_no_answer(text: str, logprob: float, stops: bool) -> None:
    """What a hum became is doubted; a word of stopping is believed."""
    samples = joined(room(0.5), recorded("stop"), room(2.5))
    worker = ScriptedHearing([{"text": text, "logprob": logprob}])
    assert ("BargedIn" in kinds(heard_by(worker, samples, answering=True))) is stops


def test_interruption_comes_while_the_voice_lasts() -> None:
    """A sentence spoken into the answer stops it long before the sentence is over."""
    worker = ScriptedHearing(["What time?"], partials=["What time does"])
    events = heard_by(worker, joined(recorded("museum"), room(1.5)), answering=True)
    assert kinds(events).count("BargedIn") == 1
    order = kinds(events)
    assert order.index("BargedIn") < order.index("UserSaid")
    assert "Guess" not in order[: order.index("BargedIn")]


def test_a_worker_that_dies_is_asked_again() -> None:
    """Two deaths cost nothing but time."""
    worker = ScriptedHearing([DYING, DYING, "Stop."])
    events = heard_by(worker, joined(recorded("stop"), room(2)))
    assert isinstance(events[-1], UserSaid) and events[-1].text == "Stop."


def test_a_worker_that_stays_dead_is_told() -> None:
    """A turn that can't be transcribed ends as none, with the reason."""
    events = heard_by(ScriptedHearing([DYING]), joined(recorded("stop"), room(2)))
    assert isinstance(events[-1], NoTurn) and "code -9" in events[-1].reason


OPENS = "What time does the museum open tomorrow?"


def looked_twice(
    first: str, second: str | dict[str, Any] | WorkerFailed, *, answering: bool = False
) -> list[Heard]:
    """A question whose first transcript is unsure."""
    worker = ScriptedHearing([{"text": first, "logprob": -0.4, "again": True}], again=[second])
    samples = joined(recorded("museum"), room(2))
    events = heard_by(worker, samples, answering=answering, partial_every_ms=0, ask_after_ms=280)
    assert [kind for kind, _ in worker.asked].count("again") >= 1
    return [event for event in events if not isinstance(event, SpeechBegan | BargedIn)]


@pytest.mark.parametrize(
    ("first", "second", "guesses"),
    [
        (OPENS, OPENS, [OPENS]),
        (OPENS, "What time does, the Museum open tomorrow?", [OPENS]),
        (OPENS, "What time does the museum often tomorrow?", [OPENS, "…"]),
        (OPENS, "What time does the museum open tomorrow.", [OPENS, "…"]),
        (OPENS, DYING, [OPENS]),
        ("", OPENS, [OPENS]),
    ],
    ids=["the same", "but for a comma", "other words", "no question", "none", "words at last"],
)
def test_a_second_look(first: str, second: str | WorkerFailed, guesses: list[str]) -> None:
    """A guess is told after the first look, and stands unless the second finds other words."""
    events = looked_twice(first, second)
    told = [str(second) if text == "…" else text for text in guesses]
    assert [event.text for event in events if isinstance(event, Guess)] == told
    assert kinds(events).count("GuessWithdrawn") == len(told) - 1
    said = events[-1]
    assert isinstance(said, UserSaid)
    assert (said.text, said.guess) == (told[-1], events[-2].number)  # type: ignore[union-attr]


def test_a_second_look_that_finds_nothing() -> None:
    """The guess is withdrawn, and the sound was no turn."""
    events = looked_twice("Thank you so much.", {"text": "", "logprob": -2.0})
    assert kinds(events) == ["Guess", "GuessWithdrawn", "NoTurn"]


@pytest.mark.parametrize(("answering", "looks"), [(True, 0), (False, 1)])
def test_a_sign_of_listening_needs_no_second_look(answering: bool, looks: int) -> None:
    """The answer that it came into waits to go on; by itself it may be other words."""
    unsure = {"text": "Okay.", "logprob": -0.4, "again": True}
    worker = ScriptedHearing([unsure], again=["Okay."])
    samples = joined(recorded("museum"), room(2))
    heard_by(worker, samples, answering=answering, partial_every_ms=0)
    assert [kind for kind, _ in worker.asked].count("again") == looks


def test_a_second_look_into_an_answer() -> None:
    """While Jarvis speaks nothing is guessed before the words are sure."""
    events = looked_twice("What time does the museum hope.", OPENS, answering=True)
    assert [event.text for event in events if isinstance(event, Guess)] == [OPENS]


def test_a_minute_without_a_pause_is_two_turns() -> None:
    """A very long turn is cut; together the two hold every sample."""
    worker = ScriptedHearing(["What time does the museum open?"])
    # 1.9 s of speech over and over, without room for a pause between.
    samples = joined(*[recorded("museum")[: int(1.85 * RATE_HZ)]] * 6, room(1.5))
    limits = EndpointSettings(most_turn_ms=6000, cut_window_ms=2000, stop_ms=600)
    events = heard_by(worker, samples, endpoint=limits, partial_every_ms=0)
    ends = [event for event in events if isinstance(event, UserSaid)]
    begins = [event for event in events if isinstance(event, SpeechBegan)]
    assert len(ends) == len(begins) >= 2
    assert begins[1].began_ms == ends[0].ended_ms
    order = [kind for kind in kinds(events) if kind in ("SpeechBegan", "UserSaid")]
    assert order == ["SpeechBegan", "UserSaid"] * len(ends)


class Late(ScriptedHearing):
    """Its first `words` wait for `gate`."""

    def __init__(self, words: list[str | dict[str, Any]]) -> None:
        super().__init__(words)
        self.gate = asyncio.Event()
        self._asked_before = False

    async def call(
        self, kind: str, header: dict[str, Any] | None = None, payload: bytes = b""
    ) -> tuple[dict[str, Any], bytes]:
        reply = await super().call(kind, header, payload)
        if kind == "words" and not self._asked_before:
            self._asked_before = True
            await self.gate.wait()
        return reply


def heard_late(worker: Late, samples: Samples, comes_at: int) -> list[Heard]:
    """Every event in `samples`, where no frame waits for an answer and the gate opens at a sample."""

    async def listen() -> list[Heard]:
        events: list[Heard] = []
        async with asyncio.TaskGroup() as tasks:
            listener = Listener(
                worker,
                HearingSettings(partial_every_ms=0),
                ("en",),
                "en",
                tell=events.append,
                spawn=tasks.create_task,
                now=lambda: listener.position_ms / 1000,
            )
            pcm = samples.tobytes()
            for start in range(0, len(pcm) - FRAME_BYTES + 1, FRAME_BYTES):
                if start >= comes_at * 2:
                    worker.gate.set()
                listener.frame(pcm[start : start + FRAME_BYTES])
                for _ in range(9):
                    await asyncio.sleep(0)
            worker.gate.set()
            await listener.finish()
        return events

    return asyncio.run(listen())


def test_late_words_keep_the_order() -> None:
    """A turn's words that come after the next one began are told before it."""
    samples = joined(recorded("stop"), room(2), recorded("stop"), room(2))
    events = heard_late(Late(["Stop."]), samples, len(samples))
    order = [kind for kind in kinds(events) if not kind.startswith("Guess")]
    assert order == ["SpeechBegan", "UserSaid"] * 2


@pytest.mark.parametrize(
    ("behind_ms", "first", "told"),
    [
        (-300, "Stop.", ["Stop."]),
        (150, "Stop.", []),
        (1500, "Stop.", []),
        (1500, {"superseded": True}, []),
        (-300, {"superseded": True}, []),
    ],
)
def test_late_words_of_an_earlier_pause(
    behind_ms: int, first: str | dict[str, Any], told: list[str]
) -> None:
    """What is understood of a pause once speech went on is a partial result, but for the next
    pause: its own words come at once, and an engine would read others beside them. These wait for
    no others, and a worker that has been asked for them may leave the others away."""
    said = joined(recorded("stop"), room(0.2), recorded("stop"))
    comes_at = len(said) + RATE_HZ * behind_ms // 1000
    events = heard_late(Late([first, "Stop. Stop."]), joined(said, room(2)), comes_at)
    assert [event.text for event in events if isinstance(event, Partial)] == told
    [turn] = [event for event in events if isinstance(event, UserSaid)]
    assert turn.text == "Stop. Stop."
    assert turn.transcribed_s == turn.decided_s <= turn.ended_s + 0.5


async def test_a_recording_gives_the_same_events_each_time() -> None:
    """Three runs over one recording, one list of events."""
    samples = joined(room(0.5), recorded("museum"), room(1.5), recorded("stop"))
    runs = [
        await hear_samples(samples, ScriptedHearing(["What time?", "What time?", "Stop."]))
        for _ in range(3)
    ]
    assert runs[0] == runs[1] == runs[2]
    assert kinds(runs[0]).count("UserSaid") == 2


def test_silero_sleeps_while_nobody_speaks() -> None:
    """An idle call runs the cheap gate alone; a voice wakes the judge, who is never quite sure."""
    detector = VoiceDetector()

    def judged(sound: bytes) -> list[bool]:
        starts = range(0, len(sound), FRAME_BYTES)
        frames = [sound[start : start + FRAME_BYTES] for start in starts]
        return [detector.frame(pcm, turn_open=False).probability > 0 for pcm in frames]

    # Half the time at most, in noise that the gate is unsure of.
    assert sum(judged(room(5).tobytes())) <= 125
    assert judged(recorded("museum")[: RATE_HZ // 2].tobytes())[-1]


def test_buffers_are_bounded() -> None:
    """Minutes without a turn leave no more sound behind than a few seconds hold."""

    async def listen() -> int:
        async with asyncio.TaskGroup() as tasks:
            listener = Listener(
                ScriptedHearing([""]),
                HearingSettings(),
                ("en",),
                "en",
                tell=lambda _: None,
                spawn=tasks.create_task,
                now=lambda: 0.0,
            )
            for _ in range(50 * 120):
                listener.frame(bytes(FRAME_BYTES))
            return listener.kept_bytes

    assert asyncio.run(listen()) <= 3 * RATE_HZ * 2


def spoken_into(
    samples: Samples,
    said: str | dict[str, Any],
    partial: str | None = None,
    called_out: Mapping[str, float] | None = None,
) -> tuple[list[Heard], list[str]]:
    """What is heard, and what the answer's voice did, when `samples` come into an answer;
    `partial` are the words while the voice lasts, where they are others; `called_out` is how
    likely words of stopping are."""
    steps = Playing()
    if partial is None:
        partial = said if isinstance(said, str) else str(said["text"])
    worker = ScriptedHearing([said], partials=[partial], called_out=called_out)

    async def listen() -> list[Heard]:
        events: list[Heard] = []

        def tell(event: Heard) -> None:
            events.append(event)
            steps.stopped = steps.stopped or isinstance(event, BargedIn)

        async with asyncio.TaskGroup() as tasks:
            listener = Listener(
                worker,
                HearingSettings(),
                ("en", "de", "es"),
                "en",
                tell=tell,
                spawn=tasks.create_task,
                now=lambda: listener.position_ms / 1000,
            )
            listener.attach(steps, lambda _: None)
            pcm = joined(room(4.0, 2.0), samples, room(2.0, 2.0)).astype("<i2").tobytes()
            for at in range(0, len(pcm) - FRAME_BYTES + 1, FRAME_BYTES):
                listener.frame(pcm[at : at + FRAME_BYTES])
                await listener.settle()
            await listener.finish()
        return events

    return asyncio.run(listen()), steps.taken


@pytest.mark.parametrize(
    ("said", "stops"),
    [
        ("Stop.", True),
        ("Stopp.", True),
        ("Para.", True),
        ("Mhm.", False),
        ("Genau.", False),
        ("Vale.", False),
        ("", False),
    ],
)
def test_an_answer_is_stopped_by_words(said: str, stops: bool) -> None:
    """A voice lowers and silences it; words end it, and a sign of listening lets it go on."""
    voice = recorded("stop")
    events, steps = spoken_into(voice, said)
    assert steps[:2] == ["lower", "hold"]
    assert any(isinstance(event, BargedIn) for event in events) is stops
    assert ("go on" in steps) is not stops


@pytest.mark.parametrize(
    ("written", "likely", "said"),
    [
        ({"text": "Him?", "logprob": -1.3}, {"stop": -1.0}, "Stop."),
        ({"text": "Him?", "logprob": -1.3}, {"hold on": -2.0, "stop": -3.0}, "Hold on."),
        ({"text": "Him?", "logprob": -1.3}, {"stop": -2.3}, None),
        ({"text": "Subscribe."}, {"quiet": -0.5}, "Quiet."),
        ({"text": "Mhm."}, {"stop": -0.5}, None),
    ],
)
def test_a_word_of_stopping_that_is_written_as_another(
    written: dict[str, Any], likely: dict[str, float], said: str | None
) -> None:
    """Called into an answer it is short, and read as a word that the transcriber knows better: it
    counts where it is likely enough. A sign of listening that was read for sure stays one."""
    events, steps = spoken_into(recorded("stop"), written, called_out=likely)
    assert [event.text for event in events if isinstance(event, UserSaid)] == (
        [said] if said else []
    )
    assert any(isinstance(event, BargedIn) for event in events) is (said is not None)
    assert ("go on" in steps) is (said is None)


def test_words_that_make_no_sense_yet() -> None:
    """While somebody speaks the answer stays silent, whatever the first half second sounds like."""
    events, steps = spoken_into(recorded("museum"), "What time does the museum open?", "Mhm.")
    assert any(isinstance(event, BargedIn) for event in events)
    assert steps == ["lower", "hold"]
