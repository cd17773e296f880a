"""What a house learns with: whose keys go where, and which model is at hand."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from memory import Llm, Question
from memory.errors import ModelUnavailable
from memory.llm.choose import Choice as Chosen
from memory.llm.choose import NoModel
from memory.llm.scripted import ScriptedLlm
from tests.fakes.llm_server import LlmServer
from voice.config import Config, load
from voice.engines import choose
from voice.learning import background_of, embedded_name


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings, keys, programs or Ollama of this machine."""
    monkeypatch.setenv("JARVIS_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))
    with socket.socket() as ollama:
        if not ollama.connect_ex(("127.0.0.1", 11434)):
            pytest.skip("an Ollama runs on this machine")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "lying about")


def config(tmp_path: Path, **flags: Any) -> Config:
    return load({"weights": tmp_path / "weights", **flags})


def talks(kind: Any, model: str = "model", address: str = "") -> choose.Choice:
    return choose.Choice(kind=kind, model=model, address=address, why="", hint="")


async def chosen(
    settings: Config, choice: choose.Choice | None, embedded: Llm | None = None
) -> Chosen | NoModel:
    background = background_of(settings, choice, lambda: embedded)
    try:
        return await background.choice()
    finally:
        await background.close()


CHOSEN: list[tuple[str, dict[str, Any], choose.Choice | None, tuple[str, str] | None]] = [
    ("nothing at hand", {}, None, None),
    ("a key that lies about is not used", {}, talks("openai"), None),
    ("the cheap model of the key that talks", {"openai_key": "k"}, talks("openai"),
     ("openai", "metered")),
    ("a key for another server is not OpenAI's",
     {"openai_key": "k", "openai_url": "wss://voice.example/v1/realtime"}, talks("openai"), None),
    ("a key of the user's", {"anthropic_key": "k"}, None, ("anthropic", "metered")),
    ("the server that talks", {}, talks("address", "qwen", "http://127.0.0.1:8080"),
     ("address", "local")),
    ("an address of the user's",
     {"background_url": "http://127.0.0.1:8081", "background_model": "cheap", "anthropic_key": "k"},
     talks("address", "qwen", "http://127.0.0.1:8080"), ("address", "local")),
    ("the built-in model that talks", {}, talks("embedded", choose.SMALL), ("embedded", "local")),
    ("off", {"background": "off", "anthropic_key": "k"}, talks("embedded", choose.SMALL), None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("flags", "choice", "expected"), [row[1:] for row in CHOSEN], ids=[row[0] for row in CHOSEN]
)
async def test_who_is_asked_and_who_pays(
    tmp_path: Path,
    flags: dict[str, Any],
    choice: choose.Choice | None,
    expected: tuple[str, str] | None,
) -> None:
    """Settings and the engine decide; each key goes to its own provider only (L4.3)."""
    found = await chosen(config(tmp_path, **flags), choice)
    if expected is None:
        assert isinstance(found, NoModel) and found.why
    else:
        assert isinstance(found, Chosen), found.why
        assert (found.provider, found.billing) == expected


async def test_the_servers_key_goes_to_that_server(tmp_path: Path) -> None:
    """With its model, and with no other key."""
    async with LlmServer() as server:
        server.will_answer("{}")
        settings = config(
            tmp_path, llm_url=server.url, llm_model="qwen", llm_key="its own", anthropic_key="k"
        )
        background = background_of(settings, talks("address", "qwen", server.url), lambda: None)
        model = await background.model()
        await model.ask(Question(instructions="x", text="y", max_tokens=10))
        await background.close()
        [request] = [each for each in server.requests if each.method == "POST"]
    assert request.headers["authorization"] == "Bearer its own"
    assert request.body["model"] == "qwen"


async def test_the_built_in_model_is_handed_on(tmp_path: Path) -> None:
    """The house's own, and none where it has none."""
    built_in = ScriptedLlm(["{}"])
    small = talks("embedded", choose.SMALL)
    background = background_of(config(tmp_path), small, lambda: built_in)
    assert await background.model() is built_in
    with pytest.raises(ModelUnavailable):
        await background_of(config(tmp_path), small, lambda: None).model()


def test_the_built_in_model_that_answers_also_reviews(tmp_path: Path) -> None:
    """Else the best whose weights are here; else none."""
    assert embedded_name(config(tmp_path), talks("embedded", choose.BETTER)) == choose.BETTER
    assert embedded_name(config(tmp_path), talks("openai")) is None
    assert embedded_name(config(tmp_path), None) is None
