"""What goes past the scribe, and what it keeps."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pipecat.frames.frames import Frame
from pipecat.processors.frame_processor import FrameDirection

from memory import Memory
from voice.frames import HeardFrame, TypedFrame
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
from voice.requests import Requests
from voice.scribe import Scribe

AT = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)
ASKS, ORDINARY = "remember that i'm vegan", "what's a good film"


class Listening(Scribe):
    """Keeps what it passes on, and what was on disk by then."""

    def __init__(self, requests: Requests, page: Path) -> None:
        super().__init__(requests)
        self.page = page
        self.passed: list[Frame] = []
        self.on_disk: list[str] = []

    async def push_frame(
        self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM
    ) -> None:
        self.passed.append(frame)
        self.on_disk.append(self.page.read_text())


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[tuple[Memory, Path]]:
    memory = Memory.open(tmp_path / "vault", tmp_path / "state", lambda: AT, create=True)
    yield memory, tmp_path / "vault/society/jarvis/USER.md"
    memory.close()


def scribe(folder: tuple[Memory, Path]) -> Listening:
    memory, page = folder
    return Listening(
        Requests(memory, memory.session(), "c1", now=lambda: AT, emit=lambda _: None), page
    )


def guess(text: str) -> Guess:
    return Guess(number=1, text=text, language="en", began_ms=0, ended_ms=900, ended_s=0.9)


def said(text: str) -> UserSaid:
    return UserSaid(
        text=text, language="en", began_ms=0, ended_ms=900, guess=1, ended_s=0.9,
        decided_s=1.0, transcribed_s=1.0,
    )  # fmt: skip


async def through(listening: Listening, frame: Frame) -> list[Frame]:
    before = len(listening.passed)
    await listening.process_frame(frame, FrameDirection.DOWNSTREAM)
    return listening.passed[before:]


async def test_a_guess_at_a_wish_is_not_answered_ahead(folder: tuple[Memory, Path]) -> None:
    """Its outcome is not known yet; any other guess goes on."""
    listening = scribe(folder)
    assert await through(listening, HeardFrame(event=guess(ASKS))) == []
    ordinary = HeardFrame(event=guess(ORDINARY))
    assert await through(listening, ordinary) == [ordinary]
    assert "vegan" not in listening.page.read_text()


async def test_a_spoken_turn_carries_its_outcome(folder: tuple[Memory, Path]) -> None:
    """When it is passed on, what could be saved is on disk."""
    listening = scribe(folder)
    [frame] = await through(listening, HeardFrame(event=said(ASKS)))
    assert isinstance(frame, HeardFrame)
    assert frame.told is not None and "I'm vegan" in frame.told.note
    assert "- I'm vegan\n" in listening.on_disk[-1]
    [frame] = await through(listening, HeardFrame(event=said(ORDINARY)))
    assert isinstance(frame, HeardFrame) and frame.told is None


async def answered(listening: Listening, *events: Heard) -> bool:
    """Whether the last of them is."""
    for event in events:
        [frame] = await through(listening, HeardFrame(event=event))
    assert isinstance(frame, HeardFrame)
    return frame.answered


async def test_stop_is_not_answered(folder: tuple[Memory, Path]) -> None:
    """Who wants silence gets it, in any language, and no answer is begun on a guess at it."""
    listening = scribe(folder)
    assert await through(listening, HeardFrame(event=guess("Stop."))) == []
    for stop in ("Stop.", "Stopp.", "¡Para!"):
        assert not await answered(listening, said(stop))
    assert await answered(listening, said("Stop the clock at nine."))


async def test_no_is_a_reply_but_into_an_answer(folder: tuple[Memory, Path]) -> None:
    """What came to nothing leaves no trace: the next "no" may be one."""
    listening = scribe(folder)
    assert await answered(listening, said("No."))
    assert not await answered(listening, BargedIn(began_ms=0), said("No."))
    assert await answered(listening, said("No."))
    noise = NoTurn(reason="noise", began_ms=0, ended_ms=100)
    assert await answered(listening, BargedIn(began_ms=0), noise, said("No."))


@pytest.mark.parametrize(("pasted", "saved"), [(False, True), (True, False)])
async def test_a_typed_turn_too_unless_it_was_pasted(
    folder: tuple[Memory, Path], pasted: bool, saved: bool
) -> None:
    """The page tells how the words came in."""
    listening = scribe(folder)
    [frame] = await through(listening, TypedFrame(text=ASKS, pasted=pasted))
    assert isinstance(frame, TypedFrame)
    assert (frame.told is not None) is saved
    assert ("vegan" in listening.on_disk[-1]) is saved


@pytest.mark.parametrize(
    "event",
    [
        SpeechBegan(began_ms=0),
        Partial(text=ASKS, language="en", began_ms=0),
        GuessWithdrawn(number=1),
    ],
    ids=lambda event: type(event).__name__,
)
async def test_all_else_goes_past(folder: tuple[Memory, Path], event: Heard) -> None:
    """Half a sentence asks for nothing."""
    frame = HeardFrame(event=event)
    listening = scribe(folder)
    assert await through(listening, frame) == [frame]
    assert frame.told is None
    assert "vegan" not in listening.page.read_text()
