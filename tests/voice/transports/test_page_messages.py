from __future__ import annotations

import json

import pytest

from voice.transports.page_messages import HangUp, Muted, Ping, Played, Stop, Typed, read


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"type": "typed", "text": " When is lunch? "}, Typed("When is lunch?", pasted=False)),
        ({"type": "typed", "text": "a\nb", "pasted": True}, Typed("a\nb", pasted=True)),
        ({"type": "stop"}, Stop()),
        ({"type": "mute", "on": True}, Muted(on=True)),
        ({"type": "hang_up"}, HangUp()),
        ({"type": "ping"}, Ping(type="ping")),
        ({"type": "played", "ms": 1234.5}, Played(type="played", ms=1234.5)),
        ("ping: 17", None),
        ("[1, 2]", None),
        ("{", None),
        (b"ping", None),
        ({"type": "typed", "text": "   "}, None),
        ({"type": "typed", "text": "x" * 8001}, None),
        ({"type": "typed", "text": 7}, None),
        ({"type": "mute", "on": "yes"}, None),
        ({"type": "unknown"}, None),
        ({"type": "signalling", "message": {"type": "trackStatus"}}, None),
        ({"type": "played", "ms": -1}, None),
        ("x" * 66_000, None),
    ],
)
def test_what_the_page_sends(message: object, expected: object) -> None:
    """What is no message of ours is left out, whatever is wrong with it."""
    sent = message if isinstance(message, str | bytes) else json.dumps(message)
    assert read(sent) == expected


def test_what_was_typed_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A message that is not understood leaves its kind of fault in the log, not its words."""
    assert read('{"type": "typed", "text": "my secret", "extra": "my secret"}') is None
    assert "not understood" in caplog.text
    assert "my secret" not in caplog.text
