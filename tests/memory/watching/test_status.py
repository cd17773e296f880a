from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from memory import locks
from memory.watching import status
from memory.watching.status import Seen, WatchedFolder, WatchStatus

AT = datetime(2026, 2, 5, 18, 42, tzinfo=UTC)
STATUS = WatchStatus(
    pid=1,
    began_at=AT,
    updated_at=AT,
    folders=(WatchedFolder(path="/code", kind="project", state="watching", files=3),),
    seen=1,
    last_seen=Seen(at=AT, path="/code/a.py", what="changed"),
)


def test_another_process_reads_the_status(tmp_path: Path) -> None:
    """What it watches and last saw; and whether it still runs, by its lock."""
    assert status.read(tmp_path) is None
    status.folder(tmp_path).mkdir()
    with locks.locked(status.lock_of(tmp_path)):
        status.write(tmp_path, STATUS)
        found = status.read(tmp_path)
        assert found is not None
        assert found.running
        assert found.last_seen == STATUS.last_seen
        assert found.as_json()["folders"][0]["path"] == "/code"
    ended = status.read(tmp_path)
    assert ended == STATUS
    assert not status.lock_of(tmp_path).exists()


def test_a_damaged_status_is_none(tmp_path: Path) -> None:
    """A crash or another version leaves no traceback."""
    status.folder(tmp_path).mkdir()
    (status.folder(tmp_path) / "status.json").write_text('{"pid": "x"}', encoding="utf-8")
    assert status.read(tmp_path) is None
