"""What passed between a call and its voice service, as it is read."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from voice.errors import RecordingInvalid
from voice.recorded_service import SERVICE, RecordedService, read_service

ABOUT = (
    '{"at_ms": 0, "service": {"name": "openai", "url": "wss://a.example", "model": "m", '
    '"voice": "v"}}'
)
ENGINE = (
    '{"at_ms": 9, "engine": {"name": "Script", "hears": "h", "thinks": "t", "speaks": "s", '
    '"words_go_to": "here", "costs": "nothing"}}'
)


def read(folder: Path, *lines: str) -> RecordedService:
    (folder / SERVICE).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    recorded = read_service(folder)
    assert recorded is not None
    return recorded


def test_lines_come_in_the_order_of_their_times(tmp_path: Path) -> None:
    """Sound and pongs are written later than they were; what is of one moment keeps its order."""
    recorded = read(
        tmp_path,
        ABOUT,
        '{"at_ms": 5, "socket": 0, "sent": {"type": "a"}}',
        '{"at_ms": 5, "socket": 0, "got": {"type": "b"}}',
        '{"at_ms": 1.5, "socket": 0, "sound": {"samples": 9, "until_ms": 4}}',
        '{"at_ms": 2, "socket": 1, "pong": null}',
    )
    assert [(each.at_ms, each.socket, each.what) for each in recorded.passed] == [
        (1.5, 0, "sound"),
        (2, 1, "pong"),
        (5, 0, "sent"),
        (5, 0, "got"),
    ]
    assert recorded.passed[1].body is None


def test_what_stands_elsewhere_is_found(tmp_path: Path) -> None:
    """Texts behind the line that names them too; sound that was lost is silence."""
    recorded = read(
        tmp_path,
        ABOUT,
        '{"at_ms": 1, "socket": 0, "got": {"text": {"$text": "t"}, "delta": {"$sound": [0, 3]}}}',
        '{"at_ms": 1, "text": {"name": "t", "is": "You are Jarvis."}}',
        '{"at_ms": 2, "given": {"kind": "prefix", "question": null, "answer": {"$text": "t"}, '
        '"took_ms": 0}}',
        ENGINE,
    )
    silence = base64.b64encode(bytes(6)).decode()
    assert recorded.whole(recorded.passed[0].body) == {"text": "You are Jarvis.", "delta": silence}
    assert recorded.given[0].answer == "You are Jarvis."
    assert recorded.spare is not None and recorded.spare.name == "Script"


BROKEN = [
    ("no service", ['{"at_ms": 0, "socket": 0, "opening": true}'], "no line says which service"),
    ("another service", [ABOUT.replace("openai", "other")], "line 1.*service.name"),
    ("two things", [ABOUT, '{"at_ms": 1, "socket": 0, "opening": true, "opened": true}'],
     "line 2.*says one thing"),
    ("nothing", [ABOUT, '{"at_ms": 1, "socket": 0}'], "line 2.*says one thing"),
    ("no socket", [ABOUT, '{"at_ms": 1, "got": {}}'], "line 2.*on which socket"),
    ("a socket too many", [ABOUT.replace('"at_ms": 0', '"at_ms": 0, "socket": 1')],
     "line 1.*on which socket"),
    ("an unknown field", [ABOUT, '{"at_ms": 1, "socket": 0, "said": {}}'], "line 2.*said"),
    ("a text that is not there", [ABOUT, '{"at_ms": 1, "socket": 0, "got": {"$text": "t"}}'],
     "the text 't' is not in it"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "told"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN]
)
def test_what_does_not_fit_is_named(tmp_path: Path, lines: list[str], told: str) -> None:
    """With the file and the line."""
    with pytest.raises(RecordingInvalid, match=told) as fault:
        read(tmp_path, *lines)
    assert SERVICE in str(fault.value)


def test_a_call_without_a_service_has_none(tmp_path: Path) -> None:
    """As all calls of format 1."""
    assert read_service(tmp_path) is None
