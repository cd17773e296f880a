"""What was seen of a session, as lines and back."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from voice.engines.realtime_lines import Lines, whole
from voice.engines.realtime_records import Seen, What

LONG = "Her sister Ana was born on the third of May. " * 40
SOUND = bytes(range(200)) * 2


def b64(sound: bytes) -> str:
    return base64.b64encode(sound).decode()


class Kept:
    """An answer's sound in one piece, as it stands in a recording."""

    def __init__(self) -> None:
        self.sound = b""
        self.lines = Lines(began_s=10.0, keep=self.keep)
        self.written: list[dict[str, Any]] = []

    def keep(self, sound: bytes) -> int:
        first = len(self.sound) // 2
        self.sound += sound
        return first

    def samples(self, first: int, count: int) -> bytes:
        return self.sound[2 * first : 2 * (first + count)]

    def see(self, what: What, body: Any, at_s: float = 11.0, socket: int | None = 0) -> None:
        self.written += self.lines.of(Seen(at_s=at_s, what=what, body=body, socket=socket))

    def bodies(self, what: str) -> list[Any]:
        return [line[what] for line in self.written if what in line]

    def whole(self, what: str) -> list[Any]:
        texts = {text["name"]: text["is"] for text in self.bodies("text")}
        return [whole(body, texts, self.samples) for body in self.bodies(what)]


OPENAI_SOUND = {"type": "response.output_audio.delta", "item_id": "i", "delta": b64(SOUND)}
GEMINI_SOUND = {
    "serverContent": {
        "modelTurn": {"parts": [{"inlineData": {"mimeType": "audio/pcm", "data": b64(SOUND)}}]}
    }
}
SAME = [
    OPENAI_SOUND,
    GEMINI_SOUND,
    {"type": "session.updated", "session": {"instructions": LONG, "tools": []}},
    {"type": "response.output_audio_transcript.delta", "delta": "abcd"},
    {"setupComplete": {}},
    ["no event"],
]  # fmt: skip


@pytest.mark.parametrize("event", SAME)
def test_what_was_kept_is_what_was_on_the_wire(event: Any) -> None:
    """Sound and long texts stand elsewhere, and come back."""
    kept = Kept()
    kept.see("got", json.dumps(event))
    kept.see("got", json.dumps(event))
    assert kept.whole("got") == [event, event]
    assert len(json.dumps(kept.bodies("got"))) < 500
    assert len(kept.bodies("text")) <= 1


def test_what_is_no_json_is_kept_as_it_is() -> None:
    """A broken event is an event."""
    kept = Kept()
    kept.see("got", "{half")
    assert kept.whole("got") == ["{half"]


@pytest.mark.parametrize("event", [
    {"type": "input_audio_buffer.append", "audio": b64(SOUND)},
    {"realtimeInput": {"audio": {"data": b64(SOUND), "mimeType": "audio/pcm;rate=16000"}}},
])  # fmt: skip
def test_our_microphone_is_counted(event: Any) -> None:
    """It is recorded anyway: what was sent in one go is one line, in front of what came next."""
    kept = Kept()
    for at_s in (11.0, 11.02, 11.04):
        kept.see("sent", json.dumps(event), at_s)
    kept.see("got", "{}", 11.03, socket=1)
    kept.see("sent", '{"type": "x"}', 11.05)
    assert kept.written == [
        {"at_ms": 1030, "socket": 1, "got": {}},
        {"at_ms": 1000, "socket": 0, "sound": {"samples": 600, "until_ms": 1040}},
        {"at_ms": 1050, "socket": 0, "sent": {"type": "x"}},
    ]


def test_sound_that_nothing_followed_is_told_at_the_end() -> None:
    """No sample is left out of the count."""
    kept = Kept()
    kept.see("sent", json.dumps({"type": "input_audio_buffer.append", "audio": b64(SOUND)}))
    assert kept.written == []
    assert [line["sound"]["samples"] for line in kept.lines.rest()] == [200]


@pytest.mark.parametrize(
    ("took_s", "written"),
    [
        ([0.05, 0.06, 0.05], [50]),
        ([0.05, 0.2, 0.21, 0.05], [50, 200, 50]),
        ([0.05, None, None, 0.05], [50, None, 50]),
        ([1.0, 1.2, 1.4], [1000, 1400]),
    ],
)
def test_a_pong_is_written_where_it_differs(
    took_s: list[float | None], written: list[float | None]
) -> None:
    """A call has thousands of them."""
    kept = Kept()
    for each in took_s:
        kept.see("pong", each)
    assert kept.bodies("pong") == written


def test_tokens_are_hidden_and_handles_renamed() -> None:
    """A handle opens a session; its name says which one it was."""
    kept = Kept()
    for handle in ("AQ.secret", "AQ.other", "AQ.secret"):
        update = {"sessionResumptionUpdate": {"newHandle": handle, "resumable": True}}
        kept.see("got", json.dumps(update))
    kept.see("got", json.dumps({"session": {"client_secret": {"value": "ek_1"}, "token": None}}))
    kept.see("sent", json.dumps({"setup": {"sessionResumption": {"handle": "AQ.other"}}}))
    text = json.dumps(kept.written)
    assert "AQ." not in text and "ek_1" not in text
    names = [body["sessionResumptionUpdate"]["newHandle"] for body in kept.bodies("got")[:3]]
    assert names == ["handle-1", "handle-2", "handle-1"]
    assert kept.bodies("sent")[0]["setup"]["sessionResumption"]["handle"] == "handle-2"


@pytest.mark.parametrize(
    "key", ["sk-proj-abcd1234efgh", "sk-ab**********wxyz", "AIza" + "Sy0" * 10, "ek_68af296e8e40"]
)
def test_a_key_that_a_service_says_is_hidden(key: str) -> None:
    """Whoever's it is."""
    kept = Kept()
    kept.see("got", json.dumps({"type": "error", "error": {"message": f"Incorrect key: {key}."}}))
    assert kept.bodies("got")[0]["error"]["message"] == "Incorrect key: …."


def test_a_renamed_handle_keeps_its_name() -> None:
    """A replay sees some of them only."""
    kept = Kept()
    kept.see("sent", json.dumps({"setup": {"sessionResumption": {"handle": "handle-7"}}}))
    assert kept.bodies("sent")[0]["setup"]["sessionResumption"]["handle"] == "handle-7"
