from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from watchfiles._rust_notify import WatchfilesRustInternalError

from memory.watching.notifier import Notifier, Telling, told_by_system


def refuse(fault: Exception) -> Notifier:
    def tell(folders: Sequence[str]) -> Telling:
        raise fault

    return Notifier(tell)


def test_the_system_tells_of_single_folders(tmp_path: Path) -> None:
    """A change in a watched folder is told, what happens below it is not."""
    (tmp_path / "sub").mkdir()
    notifier = Notifier()
    notifier.watch([tmp_path])
    (tmp_path / "sub" / "b.md").write_text("x", encoding="utf-8")
    (tmp_path / "a.md").write_text("x", encoding="utf-8")
    told, everything = notifier.wait(5.0)
    assert str(tmp_path / "a.md") in told
    assert str(tmp_path / "sub" / "b.md") not in told
    assert not everything
    notifier.close()


@pytest.mark.parametrize(
    "fault",
    [
        OSError("OS file watch limit reached. about [...]"),
        OSError(28, "No space left on device"),
        WatchfilesRustInternalError("Error creating recommended watcher: Too many open files"),
    ],
)
def test_at_the_systems_limit_everything_is_looked_at(
    tmp_path: Path, fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says so, with what to do, and looks again and again."""
    monkeypatch.setattr("memory.watching.notifier.POLL_S", 0.0)
    notifier = refuse(fault)
    notifier.watch([tmp_path])
    assert notifier.method == "polling"
    assert "max_user_watches" in str(notifier.fault)
    assert notifier.wait(0.0) == (set(), True)


def test_another_fault_is_told_too(tmp_path: Path) -> None:
    """A system without notifications, say."""
    notifier = refuse(OSError("not supported here"))
    notifier.watch([tmp_path])
    assert "not supported here" in str(notifier.fault)


def test_a_folder_that_went_is_unsure(tmp_path: Path) -> None:
    """It is no fault: whoever watches looks again."""
    notifier = Notifier()
    notifier.watch([tmp_path / "none"])
    assert notifier.is_unsure
    assert notifier.fault is None
    notifier.watch([tmp_path])
    assert not notifier.is_unsure
    assert notifier.method == "notified"
    notifier.close()


def test_a_limit_is_not_kept_quiet(tmp_path: Path) -> None:
    """The library raises for a folder that it can't watch."""
    with pytest.raises(OSError):  # noqa: PT011 - the library's words are its own
        told_by_system([str(tmp_path / "none")])


def test_whoever_waits_returns_when_it_is_stopped(tmp_path: Path) -> None:
    """From another thread, at once."""
    for notifier in (Notifier(), refuse(OSError("limit"))):
        notifier.watch([tmp_path])
        waiting = threading.Thread(target=notifier.wait, args=(60.0,))
        waiting.start()
        notifier.stop()
        waiting.join(10.0)
        assert not waiting.is_alive()
        notifier.close()
