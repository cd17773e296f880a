"""What answers, by what was wished and what is at hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from voice.engines.choose import (
    BETTER,
    BETTER_TOKENS_PER_S,
    OLLAMA,
    SMALL,
    Choice,
    Found,
    OllamaModel,
    Wishes,
    choose,
    describe,
    pick,
    suggested,
    thinks_first,
)
from voice.errors import EngineUnavailable

GIB = 1 << 30


def model(
    name: str, size: str, gib: float, *, family: str = "", remote: bool = False
) -> OllamaModel:
    return OllamaModel(
        name=name, bytes=int(gib * GIB), parameters=size, family=family, remote=remote
    )


LLAMA_3B = model("llama3.2:3b", "3.2B", 2.0)
LLAMA_8B = model("llama3.1:8b", "8.0B", 4.9)
QWEN3_8B = model("qwen3:8b", "8.2B", 5.2)
CODER_7B = model("qwen2.5-coder:7b", "7.6B", 4.7)
NOMIC = model("nomic-embed-text:latest", "137M", 0.3, family="nomic-bert")
CLOUD = model("gpt-oss:120b-cloud", "116.8B", 0.0, remote=True)

FAST = Found(
    memory_gib=32,
    cores=8,
    small_tokens_per_s=BETTER_TOKENS_PER_S,
    weights=frozenset({SMALL, BETTER}),
)
PLAIN = Found(memory_gib=8, cores=4, weights=frozenset({SMALL}))


@pytest.mark.parametrize(
    ("wishes", "found", "kind", "name"),
    [
        # Nothing but this machine: the built-in model.
        (Wishes(), PLAIN, "embedded", SMALL),
        (Wishes(), Found(), "embedded", SMALL),
        (Wishes(model="better"), PLAIN, "embedded", BETTER),
        (Wishes(model="small"), FAST, "embedded", SMALL),
        # The better one by itself: only when it is here, and all three measures allow it.
        (Wishes(), FAST, "embedded", BETTER),
        (Wishes(), replace(FAST, weights=frozenset({SMALL})), "embedded", SMALL),
        (Wishes(), replace(FAST, memory_gib=6), "embedded", SMALL),
        (Wishes(), replace(FAST, cores=2), "embedded", SMALL),
        (Wishes(), replace(FAST, small_tokens_per_s=21.0), "embedded", SMALL),
        (Wishes(), replace(FAST, small_tokens_per_s=None), "embedded", SMALL),
        # Ollama, when it has a model that can be talked to.
        (Wishes(), replace(PLAIN, ollama=(LLAMA_3B,)), "ollama", "llama3.2:3b"),
        (Wishes(), replace(PLAIN, ollama=()), "embedded", SMALL),
        (Wishes(), replace(PLAIN, ollama=(NOMIC, CLOUD)), "embedded", SMALL),
        (Wishes(model="small"), replace(PLAIN, ollama=(LLAMA_3B,)), "embedded", SMALL),
        (Wishes(llm_model="qwen3:8b"), replace(PLAIN, ollama=(QWEN3_8B,)), "ollama", "qwen3:8b"),
        (
            Wishes(llm_model="mistral"),
            replace(PLAIN, ollama=(model("mistral:latest", "7.2B", 4.1),)),
            "ollama",
            "mistral",
        ),
        # An address.
        (Wishes(llm_url="http://127.0.0.1:8080/v1", llm_model="m"), PLAIN, "address", "m"),
        # OpenAI: by the setting, or by a key under Jarvis' own name. A bare key alone is left
        # alone; whoever sets the engine means that key, too.
        (Wishes(), replace(PLAIN, jarvis_openai_key=True), "openai", "gpt-realtime-2.1"),
        (
            Wishes(engine="openai"),
            replace(PLAIN, jarvis_openai_key=True),
            "openai",
            "gpt-realtime-2.1",
        ),
        (
            Wishes(engine="openai"),
            replace(PLAIN, bare_openai_key=True),
            "openai",
            "gpt-realtime-2.1",
        ),
        (Wishes(engine="local"), replace(PLAIN, jarvis_openai_key=True), "embedded", SMALL),
        # Gemini Live: as OpenAI, and behind it.
        (Wishes(), replace(PLAIN, jarvis_gemini_key=True), "gemini", "gemini-3.8-live"),
        (
            Wishes(engine="gemini"),
            replace(PLAIN, bare_gemini_key=True),
            "gemini",
            "gemini-3.8-live",
        ),
        (
            Wishes(engine="gemini", gemini_model="m"),
            replace(PLAIN, jarvis_gemini_key=True, jarvis_openai_key=True),
            "gemini",
            "m",
        ),
        (
            Wishes(),
            replace(PLAIN, jarvis_gemini_key=True, jarvis_openai_key=True),
            "openai",
            "gpt-realtime-2.1",
        ),
        (
            Wishes(engine="gemini", gemini_url="ws://127.0.0.1:9000/x"),
            PLAIN,
            "gemini",
            "gemini-3.8-live",
        ),
        (Wishes(engine="local"), replace(PLAIN, jarvis_gemini_key=True), "embedded", SMALL),
        (Wishes(), replace(PLAIN, bare_gemini_key=True), "embedded", SMALL),
        (Wishes(), replace(PLAIN, bare_openai_key=True), "embedded", SMALL),
        (
            Wishes(engine="openai", openai_url="ws://127.0.0.1:9000/v1/realtime"),
            PLAIN,
            "openai",
            "gpt-realtime-2.1",
        ),
    ],
)
def test_choice(wishes: Wishes, found: Found, kind: str, name: str) -> None:
    """The first that fits: a chosen engine, an address, Ollama, the built-in model."""
    choice = choose(wishes, found)
    assert (choice.kind, choice.model) == (kind, name)
    assert choice.why.endswith(".")


@pytest.mark.parametrize(
    ("wishes", "found", "says"),
    [
        (Wishes(engine="openai"), PLAIN, "set JARVIS_OPENAI_KEY"),
        (Wishes(engine="gemini"), PLAIN, "set JARVIS_GEMINI_KEY"),
        (Wishes(llm_url="http://127.0.0.1:8080/v1"), PLAIN, "set JARVIS_LLM_MODEL"),
        (Wishes(llm_model="qwen3:8b"), PLAIN, "ollama serve"),
        (
            Wishes(llm_model="qwen3:8b"),
            replace(PLAIN, ollama=(LLAMA_3B,)),
            "`ollama pull qwen3:8b`",
        ),
    ],
)
def test_a_wish_that_cannot_be_met(wishes: Wishes, found: Found, says: str) -> None:
    """It says which setting is missing, or which command brings what is wished."""
    with pytest.raises(EngineUnavailable, match=says):
        choose(wishes, found)


def test_a_bare_key_is_a_hint() -> None:
    """A key in the environment is left alone, and the user is told what it could do."""
    assert "JARVIS_OPENAI_KEY" in choose(Wishes(), replace(PLAIN, bare_openai_key=True)).hint
    assert "JARVIS_GEMINI_KEY" in choose(Wishes(), replace(PLAIN, bare_gemini_key=True)).hint
    assert choose(Wishes(), PLAIN).hint == ""


@pytest.mark.parametrize("engine", ["openai", "gemini"])
def test_whoever_is_billed_is_told(engine: Literal["openai", "gemini"]) -> None:
    """A paid service is named with its bill; a server of one's own is not."""
    keys = replace(PLAIN, jarvis_openai_key=True, jarvis_gemini_key=True)
    choice = choose(Wishes(engine=engine), keys)
    assert choice.is_remote and "bills your key" in choice.hint
    own = Wishes(engine=engine, openai_url="ws://127.0.0.1:1/v1", gemini_url="ws://127.0.0.1:1/x")
    assert choose(own, keys).hint == ""


@pytest.mark.parametrize(
    ("models", "memory_gib", "cores", "name"),
    [
        ((), 32, 8, None),
        ((LLAMA_3B, LLAMA_8B), 32, 8, "llama3.1:8b"),
        ((LLAMA_3B, LLAMA_8B), 32, 4, "llama3.2:3b"),  # too slow to talk to
        ((LLAMA_3B, LLAMA_8B), 8, 8, "llama3.2:3b"),  # no room
        ((LLAMA_3B,), 32, 2, None),
        ((LLAMA_3B, QWEN3_8B), 32, 16, "llama3.2:3b"),  # it would think before it speaks
        ((QWEN3_8B,), 32, 16, "qwen3:8b"),  # better than none
        ((LLAMA_3B, CODER_7B), 32, 8, "llama3.2:3b"),
        ((NOMIC, CLOUD), 64, 16, None),
        ((model("smollm2:135m", "134.52M", 0.27),), 32, 8, None),  # below the built-in one
        ((model("llama3.1:70b", "70.6B", 40),), 256, 64, None),  # nobody waits that long
        ((model("mystery", "", 2.2),), 32, 8, "mystery"),  # judged by its bytes
    ],
)
def test_pick(
    models: tuple[OllamaModel, ...], memory_gib: float, cores: int, name: str | None
) -> None:
    """The largest that can be talked to in time, and runs on this machine."""
    picked = pick(models, memory_gib=memory_gib, cores=cores)
    assert (picked.name if picked else None) == name


@pytest.mark.parametrize(
    ("name", "thinks"),
    [
        ("qwen3:4b", True),
        ("qwen3:4b-instruct-2507", False),
        ("deepseek-r1:8b", True),
        ("gpt-oss:20b", True),
        ("llama3.2:3b", False),
        ("gemma3:4b", False),
    ],
)
def test_who_thinks_first(name: str, thinks: bool) -> None:
    """Models that think before they answer are known by their names."""
    assert thinks_first(name) is thinks


@pytest.mark.parametrize("memory_gib", [2, 4, 8, 16, 32])
@pytest.mark.parametrize("cores", [2, 4, 8, 16])
def test_what_is_suggested_would_be_taken(memory_gib: float, cores: int) -> None:
    """The one step to something better leads there: the named model is one we would pick."""
    found = Found(memory_gib=memory_gib, cores=cores)
    sizes = {"llama3.1:8b": LLAMA_8B, "llama3.2:3b": LLAMA_3B}
    named = suggested(found)
    offered = sizes.get(named, model("qwen2.5:1.5b", "1.5B", 0.93))
    if memory_gib > 2:
        assert pick((offered,), memory_gib=memory_gib, cores=cores) == offered


def test_the_built_in_model_is_described_honestly() -> None:
    """It says what it is, that nothing leaves the machine, what it can't, and what is better."""
    described = describe(choose(Wishes(), PLAIN), PLAIN, hears="faster-whisper base")
    assert described.thinks == "Qwen2.5-Coder 0.5B, on this computer"
    assert described.words_go_to == "this computer only"
    assert "don't trust its facts" in described.warning
    assert "health questions wrong" in described.warning
    assert "makes up what it doesn't know" in described.warning
    assert "JARVIS_MODEL=better" in described.better


@pytest.mark.parametrize(
    ("found", "choice_model", "step"),
    [
        (PLAIN, SMALL, "JARVIS_MODEL=better"),
        (PLAIN, BETTER, "install Ollama, then `ollama pull llama3.2:3b`"),
        (Found(memory_gib=2), SMALL, "install Ollama"),
        (replace(PLAIN, ollama=()), SMALL, "`ollama pull llama3.2:3b`"),
    ],
)
def test_the_one_step_to_something_better(found: Found, choice_model: str, step: str) -> None:
    """One step, the nearest: what is here already, else the better model, else Ollama."""
    choice = Choice(kind="embedded", model=choice_model, why=".")
    assert step in describe(choice, found, hears="").better


@pytest.mark.parametrize(
    ("address", "goes_to", "costs"),
    [
        (OLLAMA, "this computer only", "nothing"),
        ("http://localhost:8080/v1", "this computer only", "nothing"),
        ("https://llm.example/v1", "llm.example, as text", "what llm.example takes"),
        ("http://192.168.1.5:8080/v1", "192.168.1.5, as text", "what 192.168.1.5 takes"),
    ],
)
def test_where_words_go(address: str, goes_to: str, costs: str) -> None:
    """An address on this machine keeps the words here; any other is named (S3)."""
    choice = Choice(kind="address", model="m", address=address, why=".")
    described = describe(choice, PLAIN, hears="")
    assert (described.words_go_to, described.costs) == (goes_to, costs)
    assert described.warning == ""
