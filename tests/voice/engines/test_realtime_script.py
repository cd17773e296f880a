"""When a recorded service says what it said."""

from __future__ import annotations

from typing import Any

import pytest

from voice.engines.realtime_records import Happened, Passed
from voice.engines.realtime_script import LATER_MS, Cue, cues, kind_of, pong_ms


def passed(*rows: tuple[float, Happened, Any]) -> list[Passed]:
    return [Passed(at_ms, 0, what, body) for at_ms, what, body in rows]


COMMIT = {"type": "input_audio_buffer.commit"}
ASK = {"type": "response.create"}
CLEAR = {"type": "input_audio_buffer.clear"}
GONE = {"by": "service", "code": 1006, "reason": ""}
SCRIPT = cues(
    passed(
        (100, "opening", True),
        (200, "opened", True),
        (250, "got", "hello"),
        (1000, "sound", {"samples": 9, "until_ms": 1200}),
        (1300, "sent", COMMIT),
        (1300, "sent", ASK),
        (1700, "got", "answer"),
        (1750, "pong", 20.0),
        (1800, "sent", CLEAR),
        (1900, "got", "more"),
        (2000, "sent", ASK),
        (2600, "ended", GONE),
    )
)


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (ASK, "response.create"),
        ({"setup": {}}, "setup"),
        ({"realtimeInput": {"activityEnd": {}}}, "realtimeInput.activityEnd"),
        ({"serverContent": {"turnComplete": True}}, "serverContent.turnComplete"),
        ("{half", "no event"),
        ({}, "no event"),
    ],
)
def test_a_kind_is_a_word_or_two(event: Any, kind: str) -> None:
    """In either protocol."""
    assert kind_of(event) == kind


@pytest.mark.parametrize(
    ("number", "sent_ms", "due_ms"),
    [
        # What is said unasked comes as long after the opening as it did.
        (0, {("opened", 0): 50}, 100),
        # An answer follows its question, however late that is.
        (1, {("opened", 0): 0, ("response.create", 0): 5_000}, 5_400),
        (1, {("opened", 0): 0}, None),
        (1, {("opened", 0): 0, ("response.create", 1): 5_000}, None),
        # What came behind another event of ours follows that; if that doesn't come, the question.
        (2, {("response.create", 0): 5_000, ("input_audio_buffer.clear", 0): 5_600}, 5_700),
        (2, {("response.create", 0): 5_000}, 5_600 + LATER_MS),
        # So does the end of a socket.
        (3, {("response.create", 0): 5_000, ("response.create", 1): 6_000}, 6_600),
    ],
)
def test_what_a_service_says_follows_what_it_was_told(
    number: int, sent_ms: dict[tuple[str, int], float], due_ms: float | None
) -> None:
    """As much later as in the call."""
    assert SCRIPT[number].due_ms(sent_ms) == due_ms


def test_only_the_service_is_in_the_script() -> None:
    """Our own closing is ours to do again, or not."""
    assert [cue.body for cue in SCRIPT] == ["hello", "answer", "more", GONE]
    ours = {"by": "us", "code": None, "reason": ""}
    assert cues(passed((0, "opened", True), (9, "ended", ours))) == []


def test_a_cue_says_both_of_its_places() -> None:
    """The second "response.create" is another place than the first."""
    assert SCRIPT[3] == Cue(
        what="ended",
        body=GONE,
        behind=("response.create", 1),
        after_ms=600,
        cause=("response.create", 1),
        cause_ms=600,
    )


PONGS = passed((100, "pong", 20.0), (900, "pong", None), (2_000, "pong", 30.0))


@pytest.mark.parametrize(
    ("at_ms", "took_ms"),
    [(50, 0.0), (100, 20.0), (800, 20.0), (897, None), (1_900, None), (2_500, 30.0)],
)
def test_a_pong_takes_what_the_last_one_took(at_ms: float, took_ms: float | None) -> None:
    """One that never came stays away until the next that did."""
    assert pong_ms(PONGS, at_ms) == took_ms
