from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from memory.errors import StateUnwritable
from memory.event_records import Refused
from memory.events import EventLog
from memory.figures import percentile
from memory.records import Proposal, Rejection
from tests.memory.turns import NOON

ROOT = Path(__file__).parents[2]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    opened = EventLog(tmp_path, lambda: NOON)
    yield opened
    opened.close()


def test_events_are_kept(log: EventLog, tmp_path: Path) -> None:
    """An event comes back as it was, also in another process' log, in order."""
    berlin = NOON.astimezone(timezone(timedelta(hours=1)))
    log.append("began", berlin, conversation="c1", data={"engine": "local", "language": None})
    log.append("no_turn", NOON, conversation="c1", turn_index=3, data={"reason": "noise"})
    log.append("ended", NOON + timedelta(hours=1), conversation="c2")
    other = EventLog(tmp_path, lambda: NOON)
    found = other.events()
    other.close()
    assert [(e.kind, e.at, e.conversation, e.turn_index, e.data) for e in found] == [
        ("began", NOON, "c1", None, {"engine": "local", "language": None}),
        ("no_turn", NOON, "c1", 3, {"reason": "noise"}),
        ("ended", NOON + timedelta(hours=1), "c2", None, {}),
    ]
    assert [e.kind for e in log.events("no_turn")] == ["no_turn"]
    assert [e.kind for e in log.events(conversation="c2")] == ["ended"]
    assert [e.kind for e in log.events(since=berlin + timedelta(seconds=1))] == ["ended"]
    assert log.counts() == {"began": 1, "ended": 1, "no_turn": 1}


@pytest.mark.parametrize("data", [{"text": "I'm vegan"}, {"reason": "noise", "said": 1}])
def test_words_have_no_place_in_it(log: EventLog, data: dict[str, Any]) -> None:
    """A field that a kind doesn't have crashes."""
    with pytest.raises(AssertionError):
        log.append("no_turn", NOON, data=data)


def test_a_name_is_short(log: EventLog) -> None:
    """The name of a model may be a long path: its beginning is kept."""
    log.append("began", NOON, data={"engine": "x" * 500})
    assert log.events()[0].data == {"engine": "x" * 100}


# Several processes --------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from memory.events import EventLog
from memory.figures import percentile
from tests.memory.turns import NOON

log = EventLog(Path(sys.argv[1]), lambda: NOON)
for index in range(40):
    log.append("interrupted", NOON, conversation=sys.argv[2], turn_index=index)
"""


def test_processes_that_start_together_lose_no_event(tmp_path: Path) -> None:
    """Three processes that begin the log at the same moment keep all their events."""
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), f"c{number}"], cwd=ROOT)
        for number in range(3)
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    log = EventLog(tmp_path, lambda: NOON)
    for number in range(3):
        indices = [e.turn_index for e in log.events(conversation=f"c{number}")]
        assert indices == list(range(40))
    log.close()


# Damage -------------------------------------------------------------------------------


def damage(path: Path, how: str) -> bytes:
    content = path.read_bytes()
    if how == "no database":
        content = b"this is no database" * 300
    elif how == "page overwritten":
        content = content[:4096] + b"\xff" * (len(content) - 4096)
    elif how == "cut":
        content = content[:5000]
    path.write_bytes(content)
    return content


@pytest.mark.parametrize("how", ["no database", "page overwritten", "cut"])
def test_a_damaged_log_is_moved_aside(tmp_path: Path, how: str) -> None:
    """A damaged file is kept under another name and named; a new log takes the event."""
    old = EventLog(tmp_path, lambda: NOON)
    for index in range(50):
        old.append("interrupted", NOON, turn_index=index)
    old.close()
    content = damage(tmp_path / "events.db", how)

    log = EventLog(tmp_path, lambda: NOON)
    log.append("ended", NOON)
    assert log.counts() == {"ended": 1}
    [warning] = log.warnings
    assert "events.damaged-20261202T120000.db" in warning
    assert (tmp_path / "events.damaged-20261202T120000.db").read_bytes()[:5000] == content[:5000]
    log.close()


def test_each_damaged_log_keeps_a_name_of_its_own(tmp_path: Path) -> None:
    """Two that are moved aside in one second don't overwrite each other."""
    log = EventLog(tmp_path, lambda: NOON)
    for number in range(3):
        (tmp_path / "events.db").write_bytes(b"damage %d " % number * 600)
        log.append("ended", NOON)
        log.close()
    names = sorted(path.name for path in tmp_path.glob("events.damaged*"))
    assert names == [
        "events.damaged-20261202T120000.db",
        "events.damaged-20261202T120000~2.db",
        "events.damaged-20261202T120000~3.db",
    ]
    log.close()


def test_a_log_that_is_taken_away_is_begun_anew(log: EventLog, tmp_path: Path) -> None:
    """A wipe in another process is seen: nothing is written into a file that has no name."""
    log.append("ended", NOON)
    for path in tmp_path.glob("events.db*"):
        path.unlink()
    log.append("began", NOON)
    assert log.counts() == {"began": 1}
    assert log.warnings == []


def test_a_newer_log_is_left_alone(tmp_path: Path) -> None:
    """A log of a newer version is neither written nor moved."""
    database = sqlite3.connect(tmp_path / "events.db")
    database.execute("PRAGMA user_version = 99")
    database.close()
    content = (tmp_path / "events.db").read_bytes()
    log = EventLog(tmp_path, lambda: NOON)
    with pytest.raises(StateUnwritable, match=r"newer version of Jarvis\. Update"):
        log.append("ended", NOON)
    database = sqlite3.connect(tmp_path / "events.db")
    assert database.execute("PRAGMA user_version").fetchone() == (99,)
    database.close()
    assert len(content) == (tmp_path / "events.db").stat().st_size


def test_a_state_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    """A log that can't be made is StateUnwritable, with what to do."""
    (tmp_path / "state").write_text("")
    with pytest.raises(StateUnwritable, match="--state"):
        EventLog(tmp_path / "state", lambda: NOON).append("ended", NOON)


def fill(log: EventLog) -> None:
    for _ in range(2_000):
        log.append("began", NOON, data={"engine": "x" * 100})


def test_a_full_disk_is_told(log: EventLog, tmp_path: Path) -> None:
    """A database that may not grow any more says so, and keeps what it has."""
    log.append("ended", NOON)
    assert log._database is not None
    log._database.execute("PRAGMA max_page_count = 1")
    with pytest.raises(StateUnwritable, match="no room left"):
        fill(log)
    assert log.counts()["ended"] == 1


def test_only_the_user_reads_it(log: EventLog, tmp_path: Path) -> None:
    """The log is closed to other users of the machine."""
    log.append("ended", NOON)
    assert (tmp_path / "events.db").stat().st_mode & 0o077 == 0


# What was refused ---------------------------------------------------------------------


def rejection(**fields: Any) -> Rejection:
    proposal = Proposal(
        operation="add",
        notebook="USER.md",
        entry=None,
        text="Ist Veganer.",
        quote="vegan, glaub ich",
    )
    return Rejection(proposal=replace(proposal, **fields), rule="L5.2", reason="No word in common.")


def test_a_refused_proposal_is_kept_with_its_rule(log: EventLog) -> None:
    """What the rules keep out can be read, with the rule; it is the one exception."""
    log.refuse(rejection(), NOON, "c1")
    assert log.rejections() == [
        Refused(
            at=NOON,
            conversation="c1",
            rule="L5.2",
            reason="No word in common.",
            operation="add",
            notebook="USER.md",
            entry=None,
            text="Ist Veganer.",
            quote="vegan, glaub ich",
        )
    ]
    assert log.rejections(since=NOON + timedelta(seconds=1)) == []


def test_what_nobody_sees_shows_in_it(log: EventLog) -> None:
    """Hidden characters and line ends are escaped."""
    log.refuse(rejection(text="Ist\u200b\u202e Veganer.\nUnd"), NOON, "c1")
    assert log.rejections()[0].text == "Ist⟦U+200B +1⟧ Veganer.⟦U+000A⟧Und"


def test_a_refused_secret_is_withheld(log: EventLog) -> None:
    """A refused proposal with a secret in it leaves no word of it in the log."""
    log.refuse(rejection(quote="my password is Summer2026!"), NOON, "c1")
    [refused] = log.rejections()
    assert (refused.text, refused.quote, refused.rule) == (None, None, "L5.2")
    assert "Summer2026" not in str(log.events())


def test_a_long_proposal_is_cut(log: EventLog) -> None:
    """A megabyte does not get into the log."""
    log.refuse(rejection(text="x" * 1_000_000), NOON, "c1")
    assert len(log.rejections()[0].text or "") == 1_000


def test_the_same_refusal_is_kept_once_a_conversation(log: EventLog) -> None:
    """A review that goes on after a crash adds no second line."""
    for conversation in ("c1", "c1", "c2"):
        log.refuse(rejection(), NOON, conversation)
    log.refuse(rejection(text="Ist Vegetarier."), NOON, "c2")
    assert [refused.conversation for refused in log.rejections()] == ["c1", "c2", "c2"]


def test_the_newest_of_a_kind(log: EventLog) -> None:
    """The last event of a kind is found without reading the others."""
    assert log.last("merged") is None
    for outcome, model in (("merged", "a" * 200), ("nothing", "b")):
        log.append("merged", NOON, data={"outcome": outcome, "model": model})
    log.append("ended", NOON)
    newest = log.last("merged")
    assert newest is not None and newest.data["outcome"] == "nothing"
    of_a = log.last("merged", model="a" * 200)
    assert of_a is not None and of_a.data["outcome"] == "merged"


@pytest.mark.parametrize("count", [1, 2, 3, 20, 21])
def test_how_latencies_spread(log: EventLog, count: int) -> None:
    """The same percentiles as are counted elsewhere; from the first instant to before the last."""
    totals = [(37 * n) % 1000 + 100 for n in range(count)]
    for n, total_ms in enumerate(totals):
        stages_ms = {"pause": total_ms // 2, "notes": n}
        log.append(
            "latency",
            NOON + timedelta(hours=n),
            data={"total_ms": total_ms, "stages_ms": stages_ms},
        )
    end = NOON + timedelta(hours=count)
    log.append("latency", end, data={"total_ms": 1, "stages_ms": {}})
    found = log.latency_spread(NOON, end, step_ms=150, steps=4)
    assert found is not None
    assert found.count == count
    assert found.half_ms == percentile(totals, 50)
    assert found.most_ms == percentile(totals, 95)
    assert found.stages_ms == {
        "pause": percentile([each // 2 for each in totals], 50),
        "notes": percentile(list(range(count)), 50),
    }
    assert found.steps == tuple(
        sum(min(3, total // 150) == step for total in totals) for step in range(4)
    )
    assert log.latency_spread(end + timedelta(hours=1), end, step_ms=150, steps=4) is None
    assert [each.data["total_ms"] for each in log.events("latency", until=end)] == totals
