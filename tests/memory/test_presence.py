from __future__ import annotations

from pathlib import Path

import pytest

from memory.errors import StateUnwritable
from memory.presence import NAME, Presence


def entered(state: Path) -> Presence:
    presence = Presence(state)
    presence.enter()
    return presence


def test_many_may_be_there_and_one_may_be_alone(tmp_path: Path) -> None:
    """Any number use a state; alone is who has no other beside it, and only for a while."""
    one, other = entered(tmp_path), entered(tmp_path)
    with one.alone() as alone:
        assert not alone
    other.leave()
    with one.alone() as alone:
        assert alone
        with pytest.raises(StateUnwritable, match="being wiped"):
            entered(tmp_path)
    entered(tmp_path).leave()
    with one.alone() as alone:
        assert alone


def test_who_was_never_there_can_be_alone_and_leaves_nothing(tmp_path: Path) -> None:
    """A wipe of a folder that was not opened takes its own lock away again."""
    with Presence(tmp_path / "state").alone() as alone:
        assert alone
    assert list((tmp_path / "state").iterdir()) == []


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    """Who only looks makes no state folder; once it is there, entering again counts."""
    state = tmp_path / "state"
    presence = entered(state)
    assert not state.exists()
    state.mkdir()
    presence.enter()
    assert (state / NAME).exists()
    with Presence(state).alone() as alone:
        assert not alone
