"""Recorded calls give what they must, again and again."""

from __future__ import annotations

import json
import re
import shutil
import time
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from voice.audio import write_wav
from voice.config import Config, load
from voice.engines import realtime_compared
from voice.errors import AudioUnreadable, RecordingInvalid, WeightsMissing
from voice.recorded_service import SERVICE
from voice.recording import Outcome, RecordedCall, read_recording
from voice.records import CallEnded, HandedOver, LatencyMeasured, StateChanged, TurnAdded
from voice.replay import run
from voice.replayed import ReplayResult
from voice.weights import path_of

CALLS = Path(__file__).parents[2] / "fixtures" / "calls"
SPOKEN = (
    "english", "german", "spanish", "interruption", "noise", "long-silence",
    "thirty-one-turns", "typed",
)  # fmt: skip
AGREES_MS = 400  # other processors round Whisper's sums differently


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Settings with an empty vault; the transcriber's weights must be there."""
    settings = load({"vault": tmp_path / "vault", "state": tmp_path / "state"})
    try:
        path_of("whisper-base", settings.weights)
    except WeightsMissing as fault:
        pytest.skip(f"{fault}")
    return settings


def folded(text: str) -> list[str]:
    """Words without case, accents and punctuation."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return re.findall(r"[a-z0-9]+", "".join(c for c in plain if not unicodedata.combining(c)))


def shape(outcome: Outcome) -> dict[str, Any]:
    """What must be equal on every machine; of a cut answer, that its beginning was heard."""
    return {
        "turns": [
            (
                turn.index,
                turn.speaker,
                folded(turn.text)[: 5 if turn.interrupted else None],
                turn.language,
                turn.origin,
                turn.interrupted,
            )
            for turn in outcome.turns
        ],
        "noises": len(outcome.noises),
        "hand_overs": outcome.hand_overs,
        "ended": outcome.ended,
    }


@pytest.mark.weights
def test_what_was_kept_needs_no_model(config: Config, tmp_path: Path) -> None:
    """Once replayed with `keep`, a call gives the same, to the byte, where no weights are."""
    call = tmp_path / "call"
    shutil.copytree(CALLS / "english", call)
    first = run(config, call, keep=True)
    bare = config.model_copy(update={"weights": tmp_path / "nothing here"})
    again = run(bare, call)
    assert again.as_json() == first.as_json()
    assert again.events_json() == first.events_json()


def test_only_a_folder_can_keep(tmp_path: Path) -> None:
    """A file of turns has nothing to be heard."""
    config = load({"vault": tmp_path / "vault", "state": tmp_path / "state"})
    with pytest.raises(RecordingInvalid, match="nothing can be kept"):
        run(config, CALLS / "transcript.jsonl", keep=True)


@pytest.mark.weights
@pytest.mark.parametrize("name", SPOKEN)
def test_a_recorded_call_gives_what_is_expected_of_it(name: str, config: Config) -> None:
    """The turns, the noises, the hand-overs and the end are those in expected.json."""
    call = read_recording(CALLS / name)
    assert isinstance(call, RecordedCall)
    assert call.expected is not None
    outcome = run(config, CALLS / name).outcome()
    assert shape(outcome) == shape(call.expected)
    for turn, expected in zip(outcome.turns, call.expected.turns, strict=True):
        for moment, wanted in (
            (turn.began_at, expected.began_at),
            (turn.ended_at, expected.ended_at),
        ):
            assert abs(moment - wanted) <= timedelta(milliseconds=AGREES_MS)


@pytest.mark.weights
def test_three_runs_of_a_call_are_equal_to_the_byte(config: Config) -> None:
    """Turns, events and latencies do not depend on how busy the machine is."""

    def everything() -> bytes:
        result = run(config, CALLS / "interruption")
        return json.dumps([result.as_json(), result.events_json()]).encode()

    first, second, third = everything(), everything(), everything()
    assert first == second == third


@pytest.mark.weights
def test_the_events_of_a_replay_are_those_of_a_call(config: Config) -> None:
    """States, turns, latencies and the end come in the order that a page would see."""
    result = run(config, CALLS / "typed")
    states = [event.state for event in result.events if isinstance(event, StateChanged)]
    assert states[:6] == [
        "connecting", "listening", "hearing", "thinking", "speaking", "listening",
    ]  # fmt: skip
    assert [e.turn for e in result.events if isinstance(e, TurnAdded)] == list(result.turns)
    assert sum(isinstance(event, LatencyMeasured) for event in result.events) == 1
    assert any(isinstance(event, HandedOver) for event in result.events)
    assert result.events[-1] == CallEnded(reason="hang-up")


@pytest.mark.weights
def test_a_replay_writes_nothing_into_the_users_folders(config: Config, tmp_path: Path) -> None:
    """The vault is read, the state is not touched."""
    page = config.vault / "society" / "jarvis" / "USER.md"
    page.parent.mkdir(parents=True)
    page.write_text("- My sister's birthday is on March 12.\n")
    run(config, CALLS / "typed")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [page]
    assert page.read_text() == "- My sister's birthday is on March 12.\n"


@pytest.mark.weights
def test_a_file_of_sound_is_replayed_too(config: Config, tmp_path: Path) -> None:
    """A wav file is a call in which nobody answers; silence in it is no turn."""
    write_wav(tmp_path / "quiet night.wav", np.zeros(32_000, np.int16))
    result = run(config, tmp_path / "quiet night.wav")
    assert (result.turns, result.hand_overs, result.ended) == ((), (), "hang-up")


# With a voice service -----------------------------------------------------------------

REMOTE = (
    "openai-interruption", "openai-tool", "openai-socket-lost", "openai-given-up",
    "gemini-go-away", "gemini-refused-handle",
)  # fmt: skip


@pytest.fixture
def bare(tmp_path: Path) -> Config:
    """Settings of a machine without models: what was heard is kept with these calls."""
    (tmp_path / "vault").mkdir()
    return load(
        {"vault": tmp_path / "vault", "state": tmp_path / "state", "weights": tmp_path / "none"}
    )


@pytest.mark.parametrize("name", REMOTE)
def test_a_call_with_a_service_is_the_same_again(
    name: str, bare: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Turns with their times, cuts, hand-overs, and every event that the engine sends, to the
    millisecond; the engine is the real one, the wire a recording."""
    for tolerance in ("HEARD_MS", "SOUND_MS", "LATE_MS"):
        monkeypatch.setattr(realtime_compared, tolerance, 1e-3)
    call = read_recording(CALLS / name)
    assert isinstance(call, RecordedCall)
    result = run(bare, CALLS / name)
    assert result.differences == ()
    assert result.outcome() == call.expected


@pytest.mark.parametrize("name", ["openai-socket-lost", "gemini-refused-handle"])
def test_three_runs_with_a_service_are_equal_to_the_byte(name: str, bare: Config) -> None:
    """Also where sockets were lost and tried again after a while."""
    runs = {
        json.dumps([result.as_json(), result.events_json(), [*map(str, result.differences)]])
        for result in (run(bare, CALLS / name) for _ in range(3))
    }
    assert len(runs) == 1


def lines_of(call: Path) -> list[dict[str, Any]]:
    return list(map(json.loads, (call / SERVICE).read_text(encoding="utf-8").splitlines()))


def changed(tmp_path: Path, name: str, change: Callable[[list[dict[str, Any]]], None]) -> Path:
    """A copy of a recorded call in which something else was sent, as if by another engine."""
    call = tmp_path / name
    shutil.copytree(CALLS / name, call)
    lines = lines_of(call)
    change(lines)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (call / SERVICE).write_text(text, encoding="utf-8")
    return call


def sent(lines: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(line for line in lines if line.get("sent", {}).get("type") == kind)


def cut_elsewhere(lines: list[dict[str, Any]]) -> None:
    sent(lines, "conversation.item.truncate")["sent"]["audio_end_ms"] -= 500


def never_cancelled(lines: list[dict[str, Any]]) -> None:
    lines.remove(sent(lines, "response.cancel"))


def another_voice(lines: list[dict[str, Any]]) -> None:
    sent(lines, "session.update")["sent"]["session"]["audio"]["output"]["voice"] = "ash"


def told_more(lines: list[dict[str, Any]]) -> None:
    commit = sent(lines, "input_audio_buffer.commit")
    extra = {**commit, "sent": {"type": "session.update", "session": {"speed": 2}}}
    lines.insert(lines.index(commit), extra)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            cut_elsewhere,
            r"7\.\d+ s, socket 0: sends conversation.item.truncate at \d+ ms, \d+ then",
        ),
        (never_cancelled, r"socket 0: sends response.cancel, which it did not then"),
        (another_voice, r'session.update with session.audio.output.voice "marin", "ash" then'),
        (told_more, r'sends session.update no more: {"type": "session.update", "session"'),
    ],
)
def test_what_is_sent_otherwise_is_told(
    tmp_path: Path, bare: Config, change: Callable[[list[dict[str, Any]]], None], told: str
) -> None:
    """When, on which socket, and what; the replay goes on."""
    result = run(bare, changed(tmp_path, "openai-interruption", change))
    [difference] = result.differences
    assert re.search(told, str(difference)), difference
    assert [turn.text for turn in result.turns][-1] == "Ten past ten."


def test_an_answer_that_was_stopped_by_hand_is_stopped_again(tmp_path: Path, bare: Config) -> None:
    """At its time: this one was not stopped then, so the service hears of it now."""
    call = changed(tmp_path, "openai-interruption", lambda _: None)
    (call / "stops.jsonl").write_text('{"at_ms": 5000}\n')
    result = run(bare, call)
    answer = result.turns[1]
    assert answer.interrupted and len(answer.text.split()) < 6
    assert (answer.ended_at - result.turns[0].began_at).total_seconds() == pytest.approx(4, abs=0.1)
    assert any("5.000 s, socket 0: sends response.cancel" in str(d) for d in result.differences)


def test_a_call_that_was_killed_is_replayed_as_far_as_it_went(tmp_path: Path, bare: Config) -> None:
    """The service says nothing any more; the call ends with its sound."""

    def killed(lines: list[dict[str, Any]]) -> None:
        del lines[next(n for n, line in enumerate(lines) if line["at_ms"] > 6_000) :]

    result = run(bare, changed(tmp_path, "openai-interruption", killed))
    assert result.ended == "hang-up"
    assert result.turns[1].text.startswith("Once there was a fisherman")
    assert result.differences == ()


# Without sound ------------------------------------------------------------------------

BEGAN_AT = datetime(2026, 12, 1, 9, tzinfo=UTC)


def said(
    index: int, at_s: float, speaker: str = "user", origin: str = "spoken", lasts_s: float = 2
) -> dict[str, Any]:
    began_at = BEGAN_AT + timedelta(seconds=at_s)
    return {
        "conversation": "c1",
        "index": index,
        "speaker": speaker,
        "text": f"Sentence {index}.",
        "language": "en",
        "began_at": began_at.isoformat(),
        "ended_at": (began_at + timedelta(seconds=lasts_s)).isoformat(),
        "origin": origin,
        "interrupted": False,
    }


def transcript(tmp_path: Path, turns: list[dict[str, Any]]) -> ReplayResult:
    path = tmp_path / "turns.json"
    path.write_text(json.dumps(turns))
    return run(load({"vault": tmp_path / "vault", "state": tmp_path / "state"}), path)


def hand_overs(result: ReplayResult) -> list[tuple[int, int, str]]:
    return [(each.first_index, each.last_index, each.trigger) for each in result.hand_overs]


HAND_OVERS = [
    ("one turn", [said(0, 0)], [(0, 0, "hang-up")]),
    ("a long silence between two", [said(0, 0), said(1, 1000)],
     [(0, 0, "silence"), (1, 1, "hang-up")]),
    ("just below five minutes", [said(0, 0), said(1, 301)], [(0, 1, "hang-up")]),
    ("the end of an answer begins the silence",
     [said(0, 0), said(1, 3, "assistant", lasts_s=200), said(2, 490)], [(0, 2, "hang-up")]),
    ("two silences", [said(0, 0), said(1, 400), said(2, 800)],
     [(0, 0, "silence"), (1, 1, "silence"), (2, 2, "hang-up")]),
    ("thirty turns", [said(n, n * 3) for n in range(30)], [(0, 29, "30 turns")]),
    ("thirty-one turns", [said(n, n * 3) for n in range(31)],
     [(0, 29, "30 turns"), (30, 30, "hang-up")]),
    ("answers don't count",
     [said(n, n * 3, "user" if n % 2 else "assistant") for n in range(58)],
     [(0, 57, "hang-up")]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("turns", "expected"), [row[1:] for row in HAND_OVERS], ids=[row[0] for row in HAND_OVERS]
)
def test_a_transcript_is_handed_over_by_the_rules_of_a_call(
    tmp_path: Path, turns: list[dict[str, Any]], expected: list[tuple[int, int, str]]
) -> None:
    """Each turn is handed over once, and the trigger is named."""
    result = transcript(tmp_path, turns)
    assert hand_overs(result) == expected
    assert result.handed_over == expected[-1][2]


def test_a_transcripts_turns_come_out_as_they_went_in(tmp_path: Path) -> None:
    """Origin, language and times are the recording's own: evidence rests on them."""
    turns = [
        said(0, 0, origin="pasted"),
        said(1, 3, "assistant", origin="tool"),
        {**said(2, 6, origin="echo"), "language": None, "interrupted": True},
    ]
    assert transcript(tmp_path, turns).as_json()["turns"] == turns


def test_real_time_takes_as_long_as_the_call_took(tmp_path: Path) -> None:
    """On a real clock the result is the same, and it is not there before its time."""
    path = tmp_path / "turns.json"
    turns = [said(0, 0, lasts_s=0.1), said(1, 0.2, lasts_s=0.1)]
    path.write_text(json.dumps(turns))
    config = load({"vault": tmp_path / "vault", "state": tmp_path / "state"})
    began_s = time.monotonic()
    slow = run(config, path, real_time=True)
    assert time.monotonic() - began_s >= 0.3
    assert slow.as_json() == run(config, path).as_json()


def test_the_json_of_a_replay_has_the_fixed_form(tmp_path: Path) -> None:
    """The keys of the specification, and no others."""
    assert transcript(tmp_path, [said(0, 0)]).as_json() == {
        "turns": [said(0, 0)],
        "marked": 0,
        "reviews": 0,
        "changes": [],
        "rejections": [],
        "handed_over": "hang-up",
        "latency_ms": {},
    }


# Reviews ------------------------------------------------------------------------------

VEGAN = "I'm vegan, by the way."
PROPOSED = {
    "operation": "add", "notebook": "USER.md", "entry": None, "text": "I'm vegan.", "quote": VEGAN,
}  # fmt: skip


def reviewed(tmp_path: Path, turns: list[dict[str, Any]], *answers: str) -> dict[str, Any]:
    (tmp_path / "reviews.jsonl").write_text("".join(f"{answer}\n" for answer in answers))
    return transcript(tmp_path, turns).as_json()


def test_a_replay_reviews_with_the_answers_that_were_recorded(tmp_path: Path) -> None:
    """What they propose is judged by the code of a live review; no model is asked."""
    refused = {**PROPOSED, "text": "Is the king of Spain."}
    turns = [{**said(0, 0), "text": VEGAN}, {**said(1, 3), "text": "set a timer"}]
    result = reviewed(tmp_path, turns, json.dumps({"changes": [PROPOSED, refused]}))
    assert (result["marked"], result["reviews"]) == (1, 1)
    [change] = result["changes"]
    assert (change["new"], change["source"], change["conversation"]) == (
        "I'm vegan.", "review", "c1",
    )  # fmt: skip
    [rejection] = result["rejections"]
    assert rejection["rule"].startswith("L5") and rejection["reason"]
    assert rejection["proposal"]["text"] == "Is the king of Spain."
    assert result == reviewed(tmp_path, turns, json.dumps({"changes": [PROPOSED, refused]}))


def test_without_recorded_answers_a_review_changes_nothing(tmp_path: Path) -> None:
    """It is counted all the same, and so is what was marked."""
    result = transcript(tmp_path, [{**said(0, 0), "text": VEGAN}]).as_json()
    assert (result["marked"], result["reviews"], result["changes"]) == (1, 1, [])


def test_a_replay_remembers_what_is_asked(tmp_path: Path) -> None:
    """As in a live call: on the spot, and from the user's own words only."""
    turns = [
        {**said(0, 0), "text": "Remember that I fly to Rome tomorrow."},
        {**said(1, 3, "assistant"), "text": "Remember that you like tea."},
        {**said(2, 6, origin="pasted"), "text": "Remember that I love AcmeBank."},
    ]
    result = transcript(tmp_path, turns)
    [change] = result.as_json()["changes"]
    assert (change["new"], change["source"]) == (
        "I fly to Rome tomorrow (2026-12-02).", "remember",
    )  # fmt: skip
    assert [event["type"] for event in result.events_json()] == ["remembered"]


def test_a_replay_sees_the_notebooks_and_leaves_them(tmp_path: Path) -> None:
    """What stands there already is not written again."""
    page = tmp_path / "vault" / "society" / "jarvis" / "USER.md"
    page.parent.mkdir(parents=True)
    page.write_text("- I'm vegan.\n")
    turns = [{**said(0, 0), "text": VEGAN}]
    result = reviewed(tmp_path, turns, json.dumps({"changes": [PROPOSED]}))
    assert [each["rule"] for each in result["rejections"]] == ["L6.1"]
    assert not any(each["source"] == "review" for each in result["changes"])
    assert page.read_text() == "- I'm vegan.\n"


def test_recorded_answers_that_are_none_are_named(tmp_path: Path) -> None:
    """Before anything is replayed, with the file."""
    with pytest.raises(RecordingInvalid, match=r"reviews\.jsonl"):
        reviewed(tmp_path, [said(0, 0)], "I would remember that!")


def test_the_transcript_fixture_is_handed_over_twice(tmp_path: Path) -> None:
    """Thirty-two turns: at the thirtieth, and the rest at the end."""
    result = run(load({"vault": tmp_path, "state": tmp_path}), CALLS / "transcript.jsonl")
    assert hand_overs(result) == [(0, 58, "30 turns"), (59, 63, "hang-up")]


def test_latencies_are_medians_of_their_stages() -> None:
    """One figure for each stage and one for the whole."""
    stages = [(200, 0, 300, 100), (240, 10, 500, 150), (900, 0, 310, 120)]
    result = ReplayResult(
        turns=(),
        noises=(),
        hand_overs=(),
        latencies=tuple(
            LatencyMeasured(
                index=index,
                stages_ms=dict(
                    zip(("pause", "transcript", "first_word", "first_sound"), row, strict=True)
                ),
                total_ms=sum(row),
            )
            for index, row in enumerate(stages)
        ),
        events=(),
        ended="hang-up",
        length_s=1.0,
    )
    assert result.as_json()["latency_ms"] == {
        "pause": 240,
        "transcript": 0,
        "first_word": 310,
        "first_sound": 120,
        "total": 900,
    }
    assert result.handed_over is None


BROKEN = [
    ("a wav with a broken header", "call.wav", b"RIFF\x00\x00\x00\x00WAVEjunk", AudioUnreadable),
    ("an empty file", "call.wav", b"", AudioUnreadable),
    ("an empty transcript", "call.json", b"", RecordingInvalid),
    ("not a recording", "call.txt", b"Dear Anna, how are you?", AudioUnreadable),
]


@pytest.mark.parametrize(
    ("name", "content", "fault"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN]
)
def test_what_is_no_recording_is_refused_before_anything_starts(
    tmp_path: Path, name: str, content: bytes, fault: type[Exception]
) -> None:
    """The error names the file."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(fault, match=name):
        run(load({"vault": tmp_path, "state": tmp_path}), tmp_path / name)


def test_weights_that_are_missing_are_named(tmp_path: Path) -> None:
    """Without a transcriber there is no replay of sound, and the error says how to get one."""
    config = load({"vault": tmp_path, "state": tmp_path, "weights": tmp_path / "nowhere"})
    with pytest.raises(WeightsMissing, match="whisper-base"):
        run(config, CALLS / "noise")
