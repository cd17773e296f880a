"""What the embedded model leaves on disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from voice.engines.model_states import (
    is_whole,
    measured_speed,
    model_identity,
    prune,
    seal,
    state_name,
)


def test_a_state_belongs_to_one_model_prefix_and_setting() -> None:
    """Any other model, prefix or setting has a state of its own; the same has the same."""
    names = {
        state_name(identity, prefix, settings)
        for identity in ("a", "b")
        for prefix in ("p", "p ")
        for settings in ("s", "t")
    }
    assert len(names) == 8
    assert state_name("a", "p", "s") in names


def test_models_are_told_apart_by_content(tmp_path: Path) -> None:
    """Size, beginning and end of the file make its identity; its name and time don't."""
    one, same, other = tmp_path / "one", tmp_path / "same", tmp_path / "other"
    one.write_bytes(bytes(3 << 20))
    same.write_bytes(bytes(3 << 20))
    other.write_bytes(bytes((3 << 20) - 1) + b"x")
    assert model_identity(one) == model_identity(same)
    assert model_identity(one) != model_identity(other)


def saved(folder: Path, name: str, size: int, at_s: int) -> Path:
    state = folder / f"{name}.kv"
    state.write_bytes(os.urandom(size))
    seal(state)
    os.utime(state, (at_s, at_s))
    return state


@pytest.mark.parametrize("damage", ["truncated", "changed", "unsealed", "gone"])
def test_a_damaged_state_is_never_restored(tmp_path: Path, damage: str) -> None:
    """Only a state whose digest fits is whole: the server would abort on another one."""
    state = saved(tmp_path, "a", 100, 1)
    assert is_whole(state)
    content = state.read_bytes()
    match damage:
        case "truncated":
            state.write_bytes(content[:50])
        case "changed":
            state.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        case "unsealed":
            state.with_suffix(".sha256").unlink()
        case _:
            state.unlink()
    assert not is_whole(state)


@pytest.mark.parametrize(
    ("keep", "keep_bytes", "left"),
    [
        (3, 10_000, {"d", "c", "b"}),
        (1, 10_000, {"d"}),
        (3, 250, {"d", "c"}),
        (3, 10, {"d"}),  # the newest stays, however large
    ],
)
def test_old_states_are_pruned(tmp_path: Path, keep: int, keep_bytes: int, left: set[str]) -> None:
    """The states used last are kept, few and of bounded size; their seals go with them."""
    for at_s, name in enumerate("abcd"):
        saved(tmp_path, name, 100, at_s)
    (tmp_path / "leftover.kv").write_bytes(b"x")
    os.utime(tmp_path / "leftover.kv", (0, 0))
    prune(tmp_path, keep=keep, keep_bytes=keep_bytes)
    assert {path.stem for path in tmp_path.glob("*.kv")} == left
    assert {path.stem for path in tmp_path.glob("*.sha256")} == left


@pytest.mark.parametrize("content", [None, "{broken", "[]", '{"m": "fast"}', '{"n": 3}'])
def test_an_unknown_speed(tmp_path: Path, content: str | None) -> None:
    """Without a readable measurement the speed is unknown."""
    if content is not None:
        (tmp_path / "speed.json").write_text(content)
    assert measured_speed(tmp_path, "m") is None
