"""The manifest of the weights, and how it and sizes are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.voice.tiny_weight import COMPANION, CONTENT, manifest_text, sha256
from voice.weights import parse, shipped, size_words, weights_folder


def test_the_shipped_manifest_fits() -> None:
    """Every weight has a licence, an upstream and a way to be brought, and no two share a file."""
    known = shipped()
    paths = [file.path for weight in known.weight for file in weight.file]
    assert len(paths) == len(set(paths))
    for weight in known.weight:
        assert weight.licence
        assert weight.upstream
        main_file = weight.path in [file.path for file in weight.file]
        assert main_file or all(file.path.startswith(f"{weight.path}/") for file in weight.file)
        for whole in weight.file:
            for file in whole.ingredients or (whole,):
                assert file.hub.startswith("https://")
    names = {weight.name for weight in known.weight}
    assert {"whisper-base", "qwen-0.5b", "qwen-1.5b", "smollm2-135m", "kokoro"} <= names


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ((f"bytes = {len(CONTENT)}\n", "bytes = 7\n"), "another size than the whole"),
        (('path = "tiny/model.bin"', 'path = "../model.bin"'), "pattern"),
        (('path = "tiny/model.bin"', 'path = "/tmp/model.bin"'), "pattern"),
        ((sha256(COMPANION), "no hash"), "pattern"),
        (('hub = ""', 'hub = "http://example.org/x"'), "pattern"),
        (('hub = ""', 'recipe = "kokoro voices"'), "needs ingredients"),
        (("licence", "license"), "license"),
        (('["folder", "hub", "packages"]', '["post"]'), "folder"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(change: tuple[str, str], reason: str) -> None:
    """Sizes must add up, paths stay below the folder, addresses are safe, keys are known."""
    text = manifest_text()
    assert parse(text).named("tiny").bytes == len(CONTENT) + len(COMPANION)
    assert change[0] in text
    with pytest.raises(ValueError, match=reason):
        parse(text.replace(*change))


def test_the_folder_is_named_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JARVIS_WEIGHTS moves the weights; without it they lie in the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert weights_folder().name == "weights"
    monkeypatch.setenv("JARVIS_WEIGHTS", str(tmp_path / "elsewhere"))
    assert weights_folder() == tmp_path / "elsewhere"


@pytest.mark.parametrize(
    ("size", "words"),
    [(17, "17 bytes"), (2_300, "2 kB"), (491_400_064, "491 MB"), (1_117_320_768, "1.1 GB")],
)
def test_sizes_are_said_as_people_say_them(size: int, words: str) -> None:
    """Sizes are decimal, as shops and disks count."""
    assert size_words(size) == words
