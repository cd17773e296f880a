from __future__ import annotations

import errno
import fcntl
import json
import multiprocessing
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory import locks, store
from memory.errors import StateUnwritable

# Appending ----------------------------------------------------------------------------


def test_lines_are_appended(tmp_path: Path) -> None:
    """Records come back as they went in, a line each."""
    path = tmp_path / "a.jsonl"
    records: list[store.Record] = [{"a": "ü\n\u2028"}, {"b": 1}, {"half": "\ud83d"}]
    store.append_lines(path, records[:1])
    store.append_lines(path, records[1:])
    assert [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]] == records


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b""),
        (b'{"a": 1}\n', b'{"a": 1}\n'),
        (b'{"a": 1}', b'{"a": 1}\n'),
        (b'{"a": 1}\n{"b": ', b'{"a": 1}\n'),
        (b'{"a": 1}\n{"b": "\xc3', b'{"a": 1}\n'),
        (b'{"a": 1}\n{"b": 2}', b'{"a": 1}\n{"b": 2}\n'),
        (b'{"a": 1}\n7', b'{"a": 1}\n'),
        (b'{"a": 1}\n\0\0\0\0', b'{"a": 1}\n'),
        (b'{"a": 1}\n' + b"x" * 200_000, b'{"a": 1}\n'),
        (b'{"a": "' + b"x" * 200_000 + b'"}', b'{"a": "' + b"x" * 200_000 + b'"}\n'),
    ],
)
def test_a_torn_line_is_mended_first(tmp_path: Path, before: bytes, after: bytes) -> None:
    """A torn last line goes, a whole one gets its end; the next never merges with it."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(before)
    store.append_lines(path, [{"new": True}])
    assert path.read_bytes() == after + b'{"new": true}\n'


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=9)), min_size=1), st.data())
def test_cut_anywhere_no_earlier_line_is_lost(
    tmp_path_factory: pytest.TempPathFactory, records: list[store.Record], data: st.DataObject
) -> None:
    """After a crash at any byte the lines before it are there, and the next one is too."""
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    content = b"".join(map(store.as_line, records))
    cut = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:cut])
    store.append_lines(path, [{"new": "x"}])
    found = [store.parse_line(line) for line in path.read_bytes().split(b"\n")[:-1]]
    whole = content[:cut].count(b"\n")
    assert found[:whole] == records[:whole]
    assert found[whole:] in ([{"new": "x"}], [records[min(whole, len(records) - 1)], {"new": "x"}])


# Replacing ----------------------------------------------------------------------------


def test_a_page_is_replaced_and_keeps_its_permissions(tmp_path: Path) -> None:
    """The new content stands in the old one's place, with its mode, and nothing else is left."""
    path = tmp_path / "USER.md"
    path.write_bytes(b"old")
    path.chmod(0o640)
    assert store.replace(path, b"new", expected=b"old")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("there", "expected"), [(b"edited", b"old"), (None, b"old"), (b"there", None)]
)
def test_an_edit_in_between_wins(
    tmp_path: Path, there: bytes | None, expected: bytes | None
) -> None:
    """Where the file is not what the writer saw, it stays as it is."""
    path = tmp_path / "USER.md"
    if there is not None:
        path.write_bytes(there)
    assert not store.replace(path, b"new", expected=expected)
    assert (path.read_bytes() if path.exists() else None) == there
    assert len(list(tmp_path.iterdir())) == (there is not None)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """A notebook kept elsewhere is replaced there."""
    (tmp_path / "real.md").write_bytes(b"old")
    (tmp_path / "USER.md").symlink_to("real.md")
    assert store.replace(tmp_path / "USER.md", b"new", expected=b"old")
    assert (tmp_path / "USER.md").is_symlink()
    assert (tmp_path / "real.md").read_bytes() == b"new"


def _count_up(path: Path, times: int) -> None:
    for _ in range(times):
        with locks.locked(path.with_name(".lock")):
            found = path.read_bytes()
            assert store.replace(path, str(int(found) + 1).encode(), expected=found)


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    """Processes that write under the lock never lose each other's writes."""
    path = tmp_path / "n"
    path.write_bytes(b"0")
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=_count_up, args=(path, 25)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert path.read_bytes() == b"75"
    assert list(tmp_path.iterdir()) == [path]


# Pages that are logged before they change ---------------------------------------------


@pytest.mark.parametrize("expected", [b"old", None])
def test_a_staged_page_takes_its_place(tmp_path: Path, expected: bytes | None) -> None:
    """It is there under its name, with the mode of before, and nothing else is left."""
    page, part = tmp_path / "USER.md", tmp_path / ".USER.md.part"
    if expected is not None:
        page.write_bytes(expected)
        page.chmod(0o640)
    store.stage(part, page, b"new")
    assert part.read_bytes() == b"new"
    assert store.commit(part, page, expected=expected)
    assert page.read_bytes() == b"new"
    assert expected is None or page.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [page]


@pytest.mark.parametrize(
    ("there", "expected"), [(b"edited", b"old"), (None, b"old"), (b"there", None)]
)
@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_save_in_between_stays_and_so_does_the_staged_page(
    tmp_path: Path, there: bytes | None, expected: bytes | None, can_exchange: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """What somebody else has saved is the page; what was staged waits to be looked at again."""
    if not can_exchange:
        monkeypatch.setattr(store, "_renameat2", None)
    page, part = tmp_path / "USER.md", tmp_path / ".USER.md.part"
    if there is not None:
        page.write_bytes(there)
    store.stage(part, page, b"new")
    assert not store.commit(part, page, expected=expected)
    assert (page.read_bytes() if page.exists() else None) == there
    assert part.read_bytes() == b"new"


def test_without_an_exchange_of_names_a_page_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Systems that can't exchange two names replace the page in one step."""
    monkeypatch.setattr(store, "_renameat2", None)
    page, part = tmp_path / "USER.md", tmp_path / ".USER.md.part"
    page.write_bytes(b"old")
    store.stage(part, page, b"new")
    assert store.commit(part, page, expected=b"old")
    assert (page.read_bytes(), list(tmp_path.iterdir())) == (b"new", [page])


@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't tell who has it open")
def test_a_file_that_is_being_written_is_not_settled(tmp_path: Path) -> None:
    """It is waited for, then told; readers make no difference."""
    path = tmp_path / "USER.md"
    path.write_bytes(b"a")
    with path.open("rb"):
        assert store.read_settled(path) == (b"a", True)
    with path.open("ab", buffering=0) as held:
        held.write(b"b")
        assert store.read_settled(path) == (b"ab", False)
    assert store.read_settled(path) == (b"ab", True)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no leases")
def test_a_disk_that_refuses_leases_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Network disks say of every file that somebody has it open, of our own too."""

    def refuse(_fd: int, command: int, _argument: int = 0) -> int:
        if command == fcntl.F_SETLEASE:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return 0

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    monkeypatch.setattr(store, "_UNTOLD", set())
    page, part = tmp_path / "USER.md", tmp_path / ".USER.md.part"
    page.write_bytes(b"old")
    assert store.read_settled(page) == (b"old", False)
    store.stage(part, page, b"new")
    assert store.commit(part, page, expected=b"old")
    assert store.read_settled(page) == (b"new", True)


def test_a_file_that_is_missing_is_waited_for_where_it_should_be(tmp_path: Path) -> None:
    """In the end it is missing."""
    assert store.read_settled(tmp_path / "USER.md") == (None, True)
    assert store.read_settled(tmp_path / "USER.md", awaited=True) == (None, True)


def test_what_is_set_aside_has_a_name_of_its_own(tmp_path: Path) -> None:
    """Nothing that was set aside before is replaced."""
    page = tmp_path / "USER.md"
    for number in range(3):
        part = tmp_path / ".USER.md.part"
        part.write_bytes(b"%d" % number)
        store.set_aside(part, page)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "USER (saved meanwhile).md": b"0",
        "USER (saved meanwhile 2).md": b"1",
        "USER (saved meanwhile 3).md": b"2",
    }


def test_text_is_appended_whole_or_not_at_all(tmp_path: Path) -> None:
    """What is there stays; where there is no room nothing of the new text stays."""
    path = tmp_path / "a.md"
    store.append_text(path, "ä\n")
    store.append_text(path, "b")
    assert path.read_text("utf-8") == "ä\nb"
    with pytest.raises(StateUnwritable, match="no room left"):
        store.append_text(Path("/dev/full"), "x")


# The disk fails -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "part"),
    [
        (errno.ENOSPC, "no room left on its disk. Free some space"),
        (errno.EDQUOT, "quota is used up. Free some space"),
        (errno.EROFS, "read-only. Choose another folder with --state"),
        (errno.EACCES, "no permission"),
        (errno.ENAMETOOLONG, "File name too long. Choose another folder"),
    ],
)
def test_a_failing_disk_is_told_in_a_sentence(code: int, part: str) -> None:
    """The message names the file, the reason and the remedy."""
    with (
        pytest.raises(StateUnwritable, match=r"/state/c1\.jsonl can't be written") as caught,
        store.writing(Path("/state/c1.jsonl")),
    ):
        raise OSError(code, os.strerror(code))
    assert part in str(caught.value)


def test_a_full_disk_is_told() -> None:
    """Appending where there is no room is StateUnwritable."""
    with pytest.raises(StateUnwritable, match="no room left"):
        store.append_lines(Path("/dev/full"), [{"a": 1}])


def test_a_page_that_finds_no_room_leaves_the_old_one(tmp_path: Path) -> None:
    """When the new page can't be written the old one stands, and no part of the new one."""
    path = tmp_path / "USER.md"
    path.write_bytes(b"old")
    (tmp_path / ".USER.md.tmp").symlink_to("/dev/full")
    with pytest.raises(StateUnwritable, match="no room left"):
        store.replace(path, b"new", expected=b"old")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
