"""Calls as they are written to disk: what is written is read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from memory.records import Turn
from voice.engines.realtime_records import Seen
from voice.recorded_service import SERVICE
from voice.recorded_sound import read_sound
from voice.recorder import Recorder
from voice.recording import (
    MICROPHONE,
    RATE_HZ,
    Arrival,
    Outcome,
    Piece,
    RecordedAnswer,
    RecordedCall,
    RecordedTyped,
    read_recording,
)
from voice.records import (
    CallEnded,
    EngineDescription,
    HandedOver,
    Notice,
    NoTurn,
    StateChanged,
    TurnAdded,
    UserSaid,
)

BEGAN_AT = datetime(2026, 12, 1, 9, tzinfo=UTC)
BEGAN_S = 1000.0
ENGINE = EngineDescription(
    name="local", hears="Whisper", thinks="Qwen", speaks="hibari", words_go_to="here", costs="0"
)
SECOND = np.arange(RATE_HZ, dtype="<i2").tobytes()


def turn(index: int = 0, **other: Any) -> Turn:
    fields: dict[str, Any] = {
        "conversation": "c1",
        "index": index,
        "speaker": "user",
        "text": "Hello.",
        "language": "en",
        "began_at": BEGAN_AT + timedelta(seconds=index),
        "ended_at": BEGAN_AT + timedelta(seconds=index + 1),
        "origin": "spoken",
    }
    return Turn(**{**fields, **other})


def said(text: str = "Hello.", decided_s: float = BEGAN_S + 2) -> UserSaid:
    return UserSaid(
        text=text,
        language="en",
        began_ms=500,
        ended_ms=1500,
        guess=None,
        ended_s=decided_s - 0.4,
        decided_s=decided_s,
        transcribed_s=decided_s + 0.1,
    )


def recorder(folder: Path, notify: Callable[[Notice], None] = lambda _: None) -> Recorder:
    return Recorder(
        folder,
        conversation="c1",
        began_at=BEGAN_AT,
        began_s=BEGAN_S,
        language="en",
        languages=("en", "de"),
        engine=ENGINE,
        notify=notify,
        note="at the desk",
    )


def read_call(folder: Path) -> RecordedCall:
    call = read_recording(folder)
    assert isinstance(call, RecordedCall)
    return call


# Writing, then reading ----------------------------------------------------------------


async def test_a_recorded_call_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Sound, answers, typed turns and the outcome come back, each at its position."""
    writer = recorder(tmp_path / "call")
    writer.microphone(SECOND, BEGAN_S + 1)
    writer.heard(said())
    writer.answer_began(said(), BEGAN_S + 2.3, BEGAN_S + 2.6, said().ended_s + 0.45)
    writer.spoken("On the twelfth", 24_000, 24_000, "en")
    writer.spoken("of March.", 12_000, 24_000, "en")
    writer.answer_ended()
    writer.typed("Thanks.", False, BEGAN_S + 5)
    writer.answer_began(None, None, BEGAN_S + 5.5)
    writer.spoken("Any time.", 6_000, 24_000, "en")
    writer.heard(NoTurn(reason="noise", began_ms=7000, ended_ms=7300))
    writer.event(StateChanged(state="listening"))
    writer.event(TurnAdded(turn=turn()))
    writer.event(HandedOver(first_index=0, last_index=0, trigger="hang-up"))
    writer.event(CallEnded(reason="hang-up"))
    await writer.close()

    assert read_call(tmp_path / "call") == RecordedCall(
        conversation="c1",
        began_at=BEGAN_AT,
        language="en",
        languages=("en", "de"),
        engine=ENGINE,
        note="at the desk",
        ended="hang-up",
        microphone=SECOND,
        answers=(
            RecordedAnswer(
                turn=0,
                language="en",
                delay_ms=600,
                first_word_ms=300,
                pieces=(
                    Piece(text="On the twelfth", duration_ms=1000),
                    Piece(text="of March.", duration_ms=500),
                ),
                ready_ms=450,
            ),
            RecordedAnswer(
                turn=1,
                language="en",
                delay_ms=500,
                first_word_ms=None,
                pieces=(Piece(text="Any time.", duration_ms=250),),
            ),
        ),
        typed=(RecordedTyped(at_ms=5000, text="Thanks.", pasted=False),),
        expected=Outcome(
            turns=(turn(),),
            noises=(NoTurn(reason="noise", began_ms=7000, ended_ms=7300),),
            hand_overs=(HandedOver(first_index=0, last_index=0, trigger="hang-up"),),
            ended="hang-up",
        ),
    )
    assert sorted(path.name for path in (tmp_path / "call").iterdir()) == [
        "answers.jsonl",
        "call.json",
        "expected.json",
        "microphone.flac",
        "typed.jsonl",
    ]


async def test_a_recording_that_was_killed_holds_what_came_before(tmp_path: Path) -> None:
    """Without a close the sound is there to the last whole sample, and whole lines count."""
    writer = recorder(tmp_path / "call")
    writer.microphone(SECOND, BEGAN_S + 1)
    writer.typed("Thanks.", True, BEGAN_S + 1)
    with (tmp_path / "call" / "microphone.pcm").open("ab") as torn:
        torn.write(b"\x07")
    with (tmp_path / "call" / "typed.jsonl").open("a") as torn_text:
        torn_text.write('{"at_ms": 2000, "te')
    call = read_call(tmp_path / "call")
    assert call.microphone == SECOND
    assert call.typed == (RecordedTyped(at_ms=1000, text="Thanks.", pasted=True),)
    assert call.ended is None
    await writer.close()


async def test_an_answer_stopped_by_hand_is_kept(tmp_path: Path) -> None:
    """A replay stops it again."""
    writer = recorder(tmp_path / "call")
    writer.stopped(BEGAN_S + 4.5)
    writer.stopped(BEGAN_S + 9)
    await writer.close()
    assert read_call(tmp_path / "call").stops_ms == (4_500, 9_000)


async def test_when_the_microphones_sound_came_is_kept(tmp_path: Path) -> None:
    """Sound that came late, or in a burst behind a pause, stands as the ears got it."""
    writer = recorder(tmp_path / "call")
    writer.microphone(SECOND, BEGAN_S + 1.3)  # the page was asked for its microphone
    writer.microphone(SECOND, BEGAN_S + 2.32)
    writer.microphone(SECOND, BEGAN_S + 4.0)  # the network stood still
    writer.microphone(SECOND, BEGAN_S + 4.3)  # and what waited came at once
    await writer.close()
    call = read_call(tmp_path / "call")
    assert call.microphone == 4 * SECOND
    assert call.arrivals == (Arrival(0, 300), Arrival(2_000, 1_000), Arrival(3_000, 300))
    late_ms = [call.late_at(position_ms) for position_ms in (0, 1_999, 2_000, 2_999, 9_000)]
    assert late_ms == [300, 300, 1_000, 1_000, 300]


async def test_a_call_without_a_microphone_is_recorded_too(tmp_path: Path) -> None:
    """Somebody who only types leaves no sound, and the call is readable."""
    writer = recorder(tmp_path / "call")
    writer.typed("Hello.", False, BEGAN_S + 3)
    await writer.close()
    call = read_call(tmp_path / "call")
    assert (call.microphone, call.duration_ms) == (b"", 3000)


async def test_what_a_service_says_is_part_of_a_recording(tmp_path: Path) -> None:
    """And where it can't be written the user is told; the rest is kept."""
    told: list[Notice] = []
    writer = recorder(tmp_path / "call", told.append)
    about = {"name": "gemini", "url": "wss://a.example", "model": "m", "voice": "v"}
    writer.service(Seen(at_s=BEGAN_S, what="service", body=about))
    writer.service(Seen(at_s=BEGAN_S + 1, what="opening", body=True, socket=0))
    await writer.close()
    service = read_call(tmp_path / "call").service
    assert service is not None and told == []
    assert (service.name, service.passed[0].at_ms) == ("gemini", 1000)

    writer = recorder(tmp_path / "other", told.append)
    (tmp_path / "other" / SERVICE).mkdir()
    writer.service(Seen(at_s=BEGAN_S, what="service", body=about))
    writer.microphone(SECOND, BEGAN_S + 1)
    await writer.close()
    assert ["no longer recorded" in notice.text for notice in told] == [True]
    assert len(read_sound(tmp_path / "other", MICROPHONE, RATE_HZ)) == len(SECOND)


async def test_an_interrupted_answer_is_kept_whole(tmp_path: Path) -> None:
    """What the engine had said counts, not what was heard: a replay interrupts it again."""
    writer = recorder(tmp_path / "call")
    for number in range(2):
        writer.heard(said())
        writer.answer_began(said(), None, BEGAN_S + 2.5)
        writer.spoken(f"Answer {number}", 24_000, 24_000, "en")
        writer.answer_ended()
        writer.answer_ended()
    await writer.close()
    assert [(a.turn, a.text) for a in read_call(tmp_path / "call").answers] == [
        (0, "Answer 0"),
        (1, "Answer 1"),
    ]


async def test_an_answer_without_sound_is_not_recorded(tmp_path: Path) -> None:
    """An answer that was stopped before its first piece leaves no line."""
    writer = recorder(tmp_path / "call")
    writer.answer_began(said(), None, BEGAN_S + 2.5)
    await writer.close()
    assert read_call(tmp_path / "call").answers == ()


async def test_only_the_user_may_look_into_a_recording(tmp_path: Path) -> None:
    """The folder is closed to others."""
    writer = recorder(tmp_path / "deep" / "call")
    await writer.close()
    assert (tmp_path / "deep" / "call").stat().st_mode & 0o077 == 0


async def test_a_folder_that_cannot_be_written_ends_the_recording_and_says_so(
    tmp_path: Path,
) -> None:
    """The call goes on unrecorded; one notice tells why."""
    (tmp_path / "call").write_text("in the way")
    notices: list[Notice] = []
    writer = recorder(tmp_path / "call", notices.append)
    writer.microphone(SECOND, BEGAN_S + 1)
    writer.typed("Hello.", False, BEGAN_S + 1)
    await writer.close()
    [notice] = notices
    assert notice.kind == "handled"
    assert "no longer recorded" in notice.text


# Reading what others broke ------------------------------------------------------------
