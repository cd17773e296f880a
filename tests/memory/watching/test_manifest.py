from __future__ import annotations

from pathlib import Path

import pytest

from memory.watching.manifest import Manifest


def test_what_was_told_is_kept(tmp_path: Path) -> None:
    """By folder, across restarts; a folder that was never watched is unknown."""
    (tmp_path / "watch").mkdir()
    Manifest(tmp_path).keep(Path("/code"), {"a.py": "1"})
    Manifest(tmp_path).keep(Path("/docs"), {})
    again = Manifest(tmp_path)
    assert again.told(Path("/code")) == {"a.py": "1"}
    assert again.told(Path("/docs")) == {}
    assert again.told(Path("/other")) is None


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b'{"version": 9, "trees": {}}', b'{"version": 1, "trees": [1]}']
)
def test_a_damaged_file_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    """Nothing old is told then."""
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "seen.json").write_bytes(content)
    manifest = Manifest(tmp_path)
    assert manifest.told(Path("/code")) is None
    manifest.keep(Path("/code"), {"a.py": "1"})
    assert Manifest(tmp_path).told(Path("/code")) == {"a.py": "1"}
