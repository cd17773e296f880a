from __future__ import annotations

import os
from pathlib import Path

import pytest

from voice.web.aside import Aside
from voice.web.happening import changed, stream


@pytest.mark.parametrize(
    ("act", "names"),
    [
        (lambda _: None, []),
        (lambda folder: (folder / "USER.md").write_text("- Likes tea.\n"), ["notebooks"]),
        (lambda folder: (folder / "USER.md").unlink(), ["notebooks"]),
        (lambda folder: (folder / "daily" / "2026-12-02.md").write_text("longer"), ["journal"]),
        (lambda folder: (folder / "daily" / "2026-12-03.md").write_text(""), ["journal"]),
    ],
)
def test_what_changed_is_named(tmp_path: Path, act: object, names: list[str]) -> None:
    """A file that was edited, made or deleted is told by the name of what shows it."""
    (tmp_path / "daily").mkdir()
    (tmp_path / "USER.md").write_text("- Likes milk.\n")
    (tmp_path / "daily" / "2026-12-02.md").write_text("short")
    watched = {"notebooks": (tmp_path / "USER.md",), "journal": (tmp_path / "daily",)}
    for path in (tmp_path / "USER.md", tmp_path / "daily" / "2026-12-02.md", tmp_path / "daily"):
        os.utime(path, (1, 1))
    first, seen = changed(watched, {})
    assert first == []
    assert callable(act)
    act(tmp_path)
    found, seen = changed(watched, seen)
    assert found == names
    assert changed(watched, seen)[0] == []


async def test_the_stream_tells_and_goes_on(tmp_path: Path) -> None:
    """Whoever listens hears of an edit, and that somebody is there."""
    page = tmp_path / "USER.md"
    told = stream({"notebooks": (page,)}, Aside(), every_s=0)
    assert await anext(told) == b": here\n\n"
    page.write_text("- Likes tea.\n")
    lines = []
    async for line in told:
        lines.append(line)
        if line.startswith(b"data") or len(lines) > 3:
            break
    page.write_text("- Likes tea and milk.\n")
    async for line in told:
        lines.append(line)
        if line == b'data: ["notebooks"]\n\n':
            break
    await told.aclose()  # type: ignore[attr-defined]  # it is a generator
