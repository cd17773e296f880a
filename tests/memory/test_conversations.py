from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory import conversations, store
from memory.conversations import Conversation, recover, unreadable
from memory.errors import ConversationInUse, StateUnwritable
from memory.records import HandOver
from memory.reviews import Reviews, Waiting
from tests.memory.turns import NOON, turn

LATER = NOON + timedelta(hours=1)


def pending(state: Path) -> list[Waiting]:
    return Reviews(state).waiting()


def spans(marks: list[HandOver]) -> list[tuple[int, int, str]]:
    return [(mark.first_index, mark.last_index, mark.trigger) for mark in marks]


def texts_handed_over(state: Path) -> list[str]:
    return [turn.text for waiting in pending(state) for turn in waiting.handed_over]


def calls_file(state: Path, name: str = "c1.jsonl") -> Path:
    path = state / "calls" / name
    path.parent.mkdir(exist_ok=True)
    return path


def test_each_hand_over_holds_the_turns_since_the_last(tmp_path: Path) -> None:
    """A hand-over holds exactly the turns that none before it held."""
    conversation = Conversation.begin(tmp_path, "c1", "call", NOON)
    marks = []
    for batch in (range(3), range(3, 5), range(5, 5), range(5, 6)):
        for index in batch:
            conversation.observe(turn(index))
        marks.append(conversation.hand_over("30 turns", NOON + timedelta(minutes=batch.stop)))
    conversation.close()

    assert [mark and (mark.first_index, mark.last_index) for mark in marks] == [
        (0, 2), (3, 4), None, (5, 5),
    ]  # fmt: skip
    waiting = pending(tmp_path)
    assert [p.hand_over for p in waiting] == [mark for mark in marks if mark]
    assert [t for p in waiting for t in p.handed_over] == [turn(index) for index in range(6)]
    assert {p.kind for p in waiting} == {"call"}
    assert recover(tmp_path, LATER) == []


def test_indices_may_leave_gaps(tmp_path: Path) -> None:
    """Turns are handed over by their index, also when some indices are missing."""
    conversation = Conversation.begin(tmp_path, "c1", "call", NOON)
    for index in (0, 3, 4, 9):
        conversation.observe(turn(index))
    assert spans([m for m in [conversation.hand_over("silence", NOON)] if m]) == [(0, 9, "silence")]
    conversation.close()
    assert [t.index for t in pending(tmp_path)[0].handed_over] == [0, 3, 4, 9]


def test_a_turn_out_of_order_is_our_mistake(tmp_path: Path) -> None:
    """A turn of another conversation, or one that is not newer, crashes."""
    conversation = Conversation.begin(tmp_path, "c1", "call", NOON)
    conversation.observe(turn(1))
    for wrong in (turn(1), turn(0), turn(2, conversation="c2")):
        with pytest.raises(AssertionError):
            conversation.observe(wrong)
    conversation.close()


IDS = [
    "../c1",
    "a/b",
    ".",
    "..",
    ".c1",
    "a\nb",
    "x" * 300,
    "x" * 299 + "y",
    "Anruf vom 5.",
    "\ud800",
    "%2E",
    "",
]


@pytest.mark.parametrize("name", IDS)
def test_any_id_stays_in_the_folder(tmp_path: Path, name: str) -> None:
    """An id is a name of somebody else's; its file lies in the folder, and is read again."""
    conversation = Conversation.begin(tmp_path / "state", name, "call", NOON)
    conversation.observe(turn(0, conversation=name))
    conversation.close()
    assert [path.parent for path in tmp_path.rglob("*.jsonl")] == [tmp_path / "state" / "calls"]
    assert [mark.conversation for mark in recover(tmp_path / "state", LATER)] == [name]


def test_ids_do_not_share_a_file(tmp_path: Path) -> None:
    """Two ids are two files."""
    for name in IDS:
        conversation = Conversation.begin(tmp_path, name, "call", NOON)
        conversation.observe(turn(0, conversation=name))
        conversation.close()
    assert len(recover(tmp_path, LATER)) == len(IDS)


def test_a_conversation_without_turns_leaves_no_file(tmp_path: Path) -> None:
    """A call in which nothing was said leaves nothing behind, closed or killed."""
    Conversation.begin(tmp_path, "closed", "call", NOON).close()
    calls_file(tmp_path, "killed.jsonl").write_bytes(
        b'{"conversation": {"version": 1, "id": "killed", "kind": "call", "began_at": "x"}}\n'
    )
    calls_file(tmp_path, "torn.jsonl").write_bytes(b'{"conversation": {"ver')
    calls_file(tmp_path, "zeros.jsonl").write_bytes(bytes(40))
    assert unreadable(tmp_path) == []
    assert recover(tmp_path, LATER) == []
    assert list((tmp_path / "calls").iterdir()) == []


def test_text_survives_to_the_letter(tmp_path: Path) -> None:
    """Line separators, half surrogates and quotes in a turn come back as they went in."""
    texts = ["a\nb", "a\u2028b\x85c", '"{}"', "\ud83d", "\x00", "🙂"]
    conversation = Conversation.begin(tmp_path, "c1", "chat", NOON)
    for index, text in enumerate(texts):
        conversation.observe(turn(index, text))
    conversation.hand_over("hang-up", NOON)
    conversation.close()
    assert texts_handed_over(tmp_path) == texts
    assert calls_file(tmp_path).read_bytes().count(b"\n") == len(texts) + 2


# Crashes ------------------------------------------------------------------------------


def written(state: Path, turns: int = 7, marks_after: tuple[int, ...] = (2, 4)) -> bytes:
    """A conversation of seven turns and two hand-overs; the last two turns are left."""
    conversation = Conversation.begin(state, "c1", "call", NOON)
    for index in range(turns):
        conversation.observe(turn(index))
        if index in marks_after:
            conversation.hand_over("30 turns", NOON + timedelta(seconds=index))
    conversation.close()
    return calls_file(state).read_bytes()


def test_a_crash_at_any_byte_loses_no_turn_and_doubles_none(tmp_path: Path) -> None:
    """Cut anywhere: each turn that was whole on disk is handed over once, in order."""
    content = written(tmp_path / "whole", turns=3, marks_after=(0,))
    expected = {}
    for cut in range(len(content) + 1):
        left = content.replace(b'"c1"', b'"c%04d"' % cut)[: cut + 3 * content[:cut].count(b'"c1"')]
        calls_file(tmp_path, f"c{cut:04d}.jsonl").write_bytes(left)
        whole = [json.loads(line) for line in _whole_lines(left)]
        expected[f"c{cut:04d}"] = [r["turn"]["text"] for r in whole if "turn" in r]
    for _ in range(2):  # the second start finds nothing to do
        recover(tmp_path, LATER)
        found: dict[str, list[str]] = {name: [] for name in expected}
        for waiting in pending(tmp_path):
            found[waiting.hand_over.conversation] += [turn.text for turn in waiting.handed_over]
        assert found == expected
    assert unreadable(tmp_path) == []


def test_after_a_crash_at_any_byte_a_conversation_goes_on(tmp_path: Path) -> None:
    """What is written next never merges with what a crash left of the last line."""
    content = written(tmp_path / "whole", turns=2, marks_after=())
    last_line_at = content.rindex(b"\n", 0, -1) + 1
    for cut in range(last_line_at, len(content) + 1):
        state = tmp_path / str(cut)
        state.mkdir()
        calls_file(state).write_bytes(content[:cut])
        conversation = Conversation.begin(state, "c1", "call", LATER)
        conversation.observe(turn(10, "after the crash"))
        conversation.hand_over("hang-up", LATER + timedelta(hours=1))
        conversation.close()
        whole = [json.loads(line) for line in _whole_lines(content[:cut])]
        expected = [record["turn"]["text"] for record in whole if "turn" in record]
        assert texts_handed_over(state) == [*expected, "after the crash"]
        assert unreadable(state) == []


def _whole_lines(content: bytes) -> list[bytes]:
    lines = content.split(b"\n")
    try:
        json.loads(lines[-1])
    except ValueError:
        lines.pop()
    return lines


@given(
    steps=st.lists(st.sampled_from(["observe", "hand over", "crash", "recover"]), max_size=25),
    torn=st.integers(1, 60),
)
@settings(max_examples=60, deadline=None)
def test_crashes_between_any_two_writes(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], torn: int
) -> None:
    """Whatever order of turns, hand-overs, crashes and starts: once each, in order."""
    state = tmp_path_factory.mktemp("state")
    conversation = Conversation.begin(state, "c1", "call", NOON)
    said: list[str] = []
    now = NOON
    for step in steps:
        now += timedelta(seconds=1)
        match step:
            case "observe":
                conversation.observe(turn(len(said)))
                said.append(turn(len(said)).text)
            case "hand over":
                conversation.hand_over("30 turns", now)
            case "crash":
                _die(conversation, torn)
                conversation = Conversation.begin(state, "c1", "call", now)
            case "recover":  # by another process: this one is alive
                assert recover(state, now) == []
    _die(conversation, torn)
    recover(state, now + timedelta(seconds=1))
    assert texts_handed_over(state) == said
    assert recover(state, now) == []


def _die(conversation: Conversation, torn: int) -> None:
    """What a death in the middle of writing the next turn leaves."""
    line = store.as_line({"turn": turn(99, conversation=conversation.id).as_json()})
    with conversation._path.open("ab") as file:
        file.write(line[:torn])
    assert conversation._holder is not None
    conversation._holder.release()


CHILD = """
import sys
from pathlib import Path
from memory.conversations import Conversation
from tests.memory.turns import NOON, turn

conversation = Conversation.begin(Path(sys.argv[1]), "c1", "call", NOON)
for index in range(1_000):
    conversation.observe(turn(index))
    if index == 3:
        conversation.hand_over("30 turns", NOON)
    print(index, flush=True)
    sys.stdin.readline()
"""


def test_a_killed_process_hands_over_at_the_next_start_once(tmp_path: Path) -> None:
    """Killed in mid-call: what it said it had kept is handed over, once."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    with child:
        assert child.stdin is not None
        assert child.stdout is not None
        for index in range(7):
            assert child.stdout.readline() == f"{index}\n"
            if index == 6:
                break
            child.stdin.write("\n")
            child.stdin.flush()
        assert recover(tmp_path, LATER) == [], "the child lives and holds its conversation"
        with pytest.raises(ConversationInUse, match="another process"):
            Conversation.begin(tmp_path, "c1", "call", NOON)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()

    assert spans(recover(tmp_path, LATER)) == [(4, 6, "hang-up")]
    assert recover(tmp_path, LATER) == []
    assert texts_handed_over(tmp_path) == [turn(index).text for index in range(7)]


def test_processes_that_start_together_recover_once(tmp_path: Path) -> None:
    """Of several that recover at the same moment, one hands over each conversation."""
    names = [f"c{number}" for number in range(12)]
    for name in names:
        conversation = Conversation.begin(tmp_path, name, "call", NOON)
        conversation.observe(turn(0, conversation=name))
        conversation.close()
    with ThreadPoolExecutor(4) as pool:
        recovered = list(pool.map(lambda _: recover(tmp_path, LATER), range(4)))
    assert sorted(mark.conversation for marks in recovered for mark in marks) == sorted(names)
    assert len(pending(tmp_path)) == len(names)


# What else lies there -----------------------------------------------------------------

FOREIGN = {
    "text": b"Dear diary\n",
    "binary": b"\x89PNG\r\n\x1a\n\x00\x00",
    "other json": b'{"a": 1}\n',
    "list": b"[1]\n",
    "deep": b"[" * 100_000,
    "copied": b'{"conversation": {"version": 1, "id": "c1", "kind": "call", "began_at": "x"}}\n',
    "newer": b'{"conversation": {"version": 2, "id": "newer", "kind": "call"}}\n',
    "header gone": b'xx\n{"turn": {}}\n',
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files_are_left_alone_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """A file that is no conversation of ours stays to the byte, and a warning names it."""
    path = calls_file(tmp_path, f"{name}.jsonl")
    path.write_bytes(FOREIGN[name])
    with caplog.at_level(logging.WARNING):
        assert recover(tmp_path, LATER) == []
    assert path.name in caplog.text
    assert [path.name in sentence for sentence in unreadable(tmp_path)] == [True]
    assert path.read_bytes() == FOREIGN[name]
    assert pending(tmp_path) == []


def test_a_damaged_line_costs_only_itself(tmp_path: Path) -> None:
    """Turns around a damaged line are handed over; the line is named and stays."""
    lines = written(tmp_path).split(b"\n")
    lines[2] = b'{"turn": {"text": "half'
    calls_file(tmp_path).write_bytes(b"\n".join(lines))
    recover(tmp_path, LATER)
    assert texts_handed_over(tmp_path) == [turn(i).text for i in (0, 2, 3, 4, 5, 6)]
    assert ["Line 3 of" in sentence for sentence in unreadable(tmp_path)] == [True]


def test_a_lost_mark_hands_over_its_own_turns_again_and_no_others(tmp_path: Path) -> None:
    """Where a mark in the middle was destroyed, no turn comes under two that stand."""
    lines = written(tmp_path).split(b"\n")
    assert b"handed_over" in lines[4]
    lines[4] = b"\x00" * len(lines[4])
    calls_file(tmp_path).write_bytes(b"\n".join(lines))
    assert spans(recover(tmp_path, LATER)) == [(0, 2, "hang-up"), (5, 6, "hang-up")]
    assert sorted(texts_handed_over(tmp_path)) == [turn(index).text for index in range(7)]


def test_lines_of_a_later_issue_are_skipped(tmp_path: Path) -> None:
    """A line with a key that is not known here is neither damage nor a turn."""
    written(tmp_path)
    store.append_lines(calls_file(tmp_path), [{"reviewed": {"first": 0, "last": 2}}])
    assert spans(recover(tmp_path, LATER)) == [(5, 6, "hang-up")]
    assert unreadable(tmp_path) == []


def test_nothing_there_is_nothing_to_do(tmp_path: Path) -> None:
    """A state folder that was never used is normal."""
    assert recover(tmp_path / "none", LATER) == []
    assert pending(tmp_path / "none") == []
    assert unreadable(tmp_path / "none") == []


# The disk fails -----------------------------------------------------------------------

FULL_DISK = """
import resource, sys
from pathlib import Path
from memory.conversations import Conversation
from memory.errors import StateUnwritable
from tests.memory.turns import NOON, turn

state = Path(sys.argv[1])
conversation = Conversation.begin(state, "c1", "call", NOON)
conversation.observe(turn(0))
path = state / "calls" / "c1.jsonl"
room = path.stat().st_size + 100
resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
refused = 0
for index in (1, 2):
    try:
        conversation.observe(turn(index))
    except StateUnwritable as fault:
        assert "can't be written" in str(fault), fault
        refused += 1
try:
    conversation.hand_over("30 turns", NOON)
except StateUnwritable:
    refused += 1
assert path.stat().st_size == room - 100, "half a line stayed"
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
conversation.observe(turn(3))
mark = conversation.hand_over("hang-up", NOON)
conversation.close()
print(refused, mark.first_index, mark.last_index)
"""


def test_a_full_disk_loses_no_turn_once_there_is_room_again(tmp_path: Path) -> None:
    """Turns that were refused are written, in order, with the first that gets through."""
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout.split() == ["3", "0", "3"], done.stderr
    assert texts_handed_over(tmp_path) == [turn(index).text for index in range(4)]


def test_a_state_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    """A state folder that can't be made is StateUnwritable, with what to do."""
    (tmp_path / "state").write_text("")
    with pytest.raises(StateUnwritable, match="--state"):
        Conversation.begin(tmp_path / "state", "c1", "call", NOON)


def test_only_the_user_reads_conversations(tmp_path: Path) -> None:
    """What was said is closed to other users of the machine."""
    written(tmp_path / "state")
    assert calls_file(tmp_path / "state").stat().st_mode & 0o077 == 0
    assert (tmp_path / "state" / "calls").stat().st_mode & 0o077 == 0


def test_the_format_has_a_version() -> None:
    """Files say which version of the format they are in."""
    assert conversations.VERSION == 1
