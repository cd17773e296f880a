"""What an engine sends otherwise than then, in words."""

from __future__ import annotations

from typing import Any

import pytest

from voice.engines.realtime_compared import Difference, differences
from voice.engines.realtime_records import Happened, Passed

Row = tuple[float, Happened, Any]
US = {"by": "us", "code": None, "reason": ""}


def sent(at_ms: float, kind: str, **fields: Any) -> Row:
    return (at_ms, "sent", {"type": kind, **fields})


def sound(at_ms: float, samples: int) -> Row:
    return (at_ms, "sound", {"samples": samples, "until_ms": at_ms})


def item(at_ms: float, name: str, text: str) -> Row:
    return sent(at_ms, "conversation.item.create", item={"id": name, "role": "user", "text": text})


def compared(was: list[Row], now: list[Row]) -> list[str]:
    def passed(rows: list[Row]) -> list[Passed]:
        return [Passed(at_ms, 0, what, body) for at_ms, what, body in rows]

    texts = {"t1": "You are Jarvis. " * 9 + "Be short.", "t2": "You are Jarvis. " * 9 + "Be long."}
    found = differences(passed([*was, END]), passed([*now, END]), texts, 24_000)
    return [each.text for each in found]


END: Row = (90_000, "ended", US)
ASK = sent(1_000, "response.create", event_id="ask_1_3")
CUT = sent(2_000, "conversation.item.truncate", item_id="item_9", audio_end_ms=1_500)
OPENING: Row = (0, "opening", True)
SAME: list[tuple[str, list[Row], list[Row]]] = [
    ("nothing", [], []),
    ("our own numbers", [ASK], [sent(1_000, "response.create", event_id="ask_2_7")]),
    ("an item by another number",
     [item(0, "jarvis_1_2", "Hi"), sent(1, "conversation.item.delete", item_id="jarvis_1_2")],
     [item(0, "jarvis_1_5", "Hi"), sent(1, "conversation.item.delete", item_id="jarvis_1_5")]),
    ("a cut as near as heard truth is", [CUT],
     [sent(2_000, "conversation.item.truncate", item_id="item_9", audio_end_ms=1_540)]),
    ("a little later", [ASK], [(1_250, ASK[1], ASK[2])]),
    ("sound in other portions", [sound(0, 4_000), sound(9, 2_000), ASK], [sound(0, 6_000), ASK]),
    ("a socket that is tried sooner", [(4_000, "opening", True)], [(3_000, "opening", True)]),
    ("what the service did", [(5, "got", "x"), (6, "pong", 3.0)], [(6, "got", "y")]),
]  # fmt: skip
OTHER: list[tuple[str, list[Row], list[Row], list[str]]] = [
    ("one more", [ASK], [ASK, CUT], ["sends conversation.item.truncate, which it did not then"]),
    ("one less", [ASK, CUT], [ASK],
     ['sends conversation.item.truncate no more: {"type": "conversation.item.truncate", '
      '"item_id": "item_9", "audio_end_ms": 1500}']),
    ("a field", [sent(0, "session.update", session={"voice": "ash", "speed": 1})],
     [sent(0, "session.update", session={"voice": "ash", "speed": 2})],
     ["sends session.update with session.speed 2, 1 then"]),
    ("a field that is new", [sent(0, "x", a=1)], [sent(0, "x", a=1, b=[1])],
     ["sends x with b [1], null then"]),
    ("a list", [sent(0, "x", tools=["a", "b"])], [sent(0, "x", tools=["a", "c"])],
     ['sends x with tools[1] "c", "b" then']),
    ("a longer list", [sent(0, "x", tools=["a"])], [sent(0, "x", tools=["a", "c"])],
     ["sends x with tools: 2 of them, 1 then"]),
    ("within a long text", [sent(0, "x", text={"$text": "t1"})],
     [sent(0, "x", text={"$text": "t2"})],
     ['sends x with text " You are Jarvis. Be long.", " You are Jarvis. Be short." then']),
    ("a cut", [CUT], [sent(2_000, "conversation.item.truncate", item_id="item_9", audio_end_ms=900)],
     ["sends conversation.item.truncate at 900 ms, 1500 then"]),
    ("much later, said once", [ASK, CUT], [(1_400, ASK[1], ASK[2]), (2_400, CUT[1], CUT[2])],
     ["sends response.create, 400 ms later than then"]),
    ("much sooner", [ASK], [(500, ASK[1], ASK[2])],
     ["sends response.create, 500 ms sooner than then"]),
    ("less sound", [sound(0, 24_000), ASK], [sound(0, 12_000), ASK],
     ["sends 500 ms of sound, 1000 then"]),
    ("another item deleted",
     [item(0, "jarvis_1_2", "Hi"), item(0, "jarvis_1_3", "Ho"),
      sent(1, "conversation.item.delete", item_id="jarvis_1_2")],
     [item(0, "jarvis_1_2", "Hi"), item(0, "jarvis_1_3", "Ho"),
      sent(1, "conversation.item.delete", item_id="jarvis_1_3")],
     ['sends conversation.item.delete with item_id "the item Ho", "the item Hi" then']),
    ("a socket more", [], [OPENING], ["opens a socket, which it did not then"]),
]  # fmt: skip


@pytest.mark.parametrize(("was", "now"), [row[1:] for row in SAME], ids=[row[0] for row in SAME])
def test_what_is_the_same(was: list[Row], now: list[Row]) -> None:
    """What says nothing about behaviour is no difference."""
    assert compared(was, now) == []


@pytest.mark.parametrize(
    ("was", "now", "told"), [row[1:] for row in OTHER], ids=[row[0] for row in OTHER]
)
def test_what_is_not(was: list[Row], now: list[Row], told: list[str]) -> None:
    """Each difference once, at the place where it begins."""
    assert compared(was, now) == told


def test_sockets_are_compared_one_by_one() -> None:
    """And what differs is told in order of time."""
    recorded = [Passed(0, 0, "opening", True), Passed(9, 1, "opening", True)]
    replayed = [Passed(9, 1, "opening", True), Passed(5, 1, "sent", {"type": "x"})]
    assert differences(recorded, replayed, {}, 16_000) == (
        Difference(0, 0, "opens a socket no more"),
        Difference(5, 1, "sends x, which it did not then"),
    )


def test_what_comes_behind_the_recordings_end_is_not_judged() -> None:
    """It was killed before its call ended."""
    recorded = [Passed(0, 0, "opening", True)]
    replayed = [Passed(0, 0, "opening", True), Passed(2_000, 0, "sent", {"type": "x"})]
    assert differences(recorded, replayed, {}, 16_000) == ()


@pytest.mark.parametrize("ended", [True, False])
def test_sound_that_a_kill_left_unwritten_is_not_judged(ended: bool) -> None:
    """On a socket that was closed it is."""
    was = [Passed(0, 0, "sent", {"type": "x"}), *([Passed(99, 0, "ended", US)] if ended else [])]
    now = [Passed(0, 0, "sent", {"type": "x"}), Passed(50, 0, "sound", {"samples": 99_000})]
    told = [each.text for each in differences(was, now, {}, 16_000)]
    assert any("sends sound" in text for text in told) is ended


def test_a_difference_is_a_line() -> None:
    """In seconds of the call."""
    assert str(Difference(61_250, 2, "sends x")) == "61.250 s, socket 2: sends x"
