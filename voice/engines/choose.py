"""Which engine and which language model answer, from the settings and what is at hand.

Words leave this machine, and a key is billed, only when the user chose that: by the
setting, or by a key stored under Jarvis' own name. A key that merely lies in the
environment is worth a hint and nothing more, until the engine is chosen by the setting.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from voice.errors import EngineUnavailable
from voice.records import EngineDescription

OLLAMA = "http://127.0.0.1:11434"
OPENAI_HOST = "api.openai.com"
GOOGLE_HOST = "generativelanguage.googleapis.com"

SMALL, BETTER = "qwen-0.5b", "qwen-1.5b"
TITLES = {SMALL: "Qwen2.5-Coder 0.5B", BETTER: "Qwen2.5-Coder 1.5B"}

BETTER_MEMORY_GIB = 8.0
BETTER_CORES = 4
BETTER_TOKENS_PER_S = 40.0
"""So fast must the small model have been for the better one to be taken by itself: it writes
half as fast, and its first sound should still come within a second (at 20 it took 1.1 s)."""

_LEAST_BILLIONS = 1.0
_MOST_BILLIONS = 14.0
_BILLIONS_PER_CORE = 1.0
_SHARE_OF_MEMORY = 0.6
_MEMORY_PER_SIZE = 1.2
_GIB = 1 << 30

_NO_CHAT = re.compile(r"embed|minilm|bge-|rerank|guard|ocr|whisper|-base\b|:.*text\b", re.I)
_NO_CHAT_FAMILIES = frozenset({"bert", "nomic-bert", "bge"})
_THINKS_FIRST = re.compile(r"\br1\b|qwq|think|reason|gpt-oss|magistral|qwen3(?!.*instruct)", re.I)
_FOR_CODE = re.compile(r"code", re.I)
_PARAMETERS = re.compile(r"(\d+(?:\.\d+)?)\s*([bm])", re.I)


def is_openai(url: str) -> bool:
    """Whether this is OpenAI's own server: only there do its keys go."""
    return urlsplit(url).hostname == OPENAI_HOST


def is_google(url: str) -> bool:
    """Whether this is Google's own server: only there do its keys go."""
    return urlsplit(url).hostname == GOOGLE_HOST


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaModel:
    """A model as Ollama lists it. `parameters` as it says: "3.2B"; `remote` runs elsewhere."""

    name: str
    bytes: int
    parameters: str = ""
    family: str = ""
    remote: bool = False

    @property
    def billions(self) -> float:
        """How many parameters, from what is said or else from the size (about 4.5 bits each)."""
        said = _PARAMETERS.search(self.parameters) or _PARAMETERS.search(self.name)
        if said is None:
            return self.bytes / 0.56e9
        return float(said[1]) / (1000 if said[2].lower() == "m" else 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the settings say; the names are those of `voice.config.Config`."""

    engine: Literal["auto", "local", "openai", "gemini"] = "auto"
    model: Literal["auto", "small", "better"] = "auto"
    llm_url: str = ""
    llm_model: str = ""
    openai_url: str = f"wss://{OPENAI_HOST}/v1/realtime"
    openai_model: str = "gpt-realtime-2.1"
    gemini_url: str = f"wss://{GOOGLE_HOST}/"
    gemini_model: str = "gemini-3.8-live"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What is at hand. `ollama` is None where none answers; `weights` are those on this
    machine; `small_tokens_per_s` was measured at an earlier start (`measured_speed`)."""

    jarvis_openai_key: bool = False
    bare_openai_key: bool = False
    jarvis_gemini_key: bool = False
    bare_gemini_key: bool = False
    ollama: tuple[OllamaModel, ...] | None = None
    weights: frozenset[str] = frozenset()
    memory_gib: float = 4.0
    cores: int = 2
    small_tokens_per_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """`kind` says what thinks. `model` is a name in the weights' manifest ("embedded"), or a
    server's ("ollama", "address", "openai", "gemini"); `address` is empty for the embedded one. `why`
    and `hint` are sentences for the user."""

    kind: Literal["embedded", "ollama", "address", "openai", "gemini"]
    model: str
    address: str = ""
    why: str
    hint: str = ""

    @property
    def is_remote(self) -> bool:
        """A service that hears, thinks and speaks itself."""
        return self.kind in ("openai", "gemini")


def choose(wishes: Wishes, found: Found) -> Choice:
    """Raises EngineUnavailable, with what to do, for a wish that can't be met."""
    if wishes.engine == "openai" or (wishes.engine == "auto" and found.jarvis_openai_key):
        return _openai(wishes, found)
    if wishes.engine == "gemini" or (wishes.engine == "auto" and found.jarvis_gemini_key):
        return _gemini(wishes, found)
    if wishes.llm_url:
        return _address(wishes, found)
    if wishes.llm_model or (wishes.model == "auto" and found.ollama):
        picked = _ollama(wishes, found)
        if picked is not None:
            return picked
    return _embedded(wishes, found)


def _openai(wishes: Wishes, found: Found) -> Choice:
    own_server = not is_openai(wishes.openai_url)
    if not (found.jarvis_openai_key or found.bare_openai_key or own_server):
        raise EngineUnavailable(
            "The engine openai was chosen, but there is no key for it: set JARVIS_OPENAI_KEY, "
            "or choose the local engine with JARVIS_ENGINE=local."
        )
    chosen = "by your setting" if wishes.engine == "openai" else "because JARVIS_OPENAI_KEY is set"
    return Choice(
        kind="openai",
        model=wishes.openai_model,
        address=wishes.openai_url,
        why=f"OpenAI Realtime answers, {chosen}.",
        hint=_hint_of_billing("OpenAI", own_server=own_server),
    )


def _gemini(wishes: Wishes, found: Found) -> Choice:
    own_server = not is_google(wishes.gemini_url)
    if not (found.jarvis_gemini_key or found.bare_gemini_key or own_server):
        raise EngineUnavailable(
            "The engine gemini was chosen, but there is no key for it: set JARVIS_GEMINI_KEY, "
            "or choose the local engine with JARVIS_ENGINE=local."
        )
    chosen = "by your setting" if wishes.engine == "gemini" else "because JARVIS_GEMINI_KEY is set"
    return Choice(
        kind="gemini",
        model=wishes.gemini_model,
        address=wishes.gemini_url,
        why=f"Gemini Live answers, {chosen}.",
        hint=_hint_of_billing("Google", own_server=own_server),
    )


def _hint_of_billing(company: str, *, own_server: bool) -> str:
    if own_server:
        return ""
    return (
        f"{company} hears the call and bills your key, the whole conversation again at each answer. "
        "JARVIS_ENGINE=local keeps both on this computer."
    )


def _address(wishes: Wishes, found: Found) -> Choice:
    if not wishes.llm_model:
        raise EngineUnavailable(
            f"JARVIS_LLM_URL names {wishes.llm_url}, but not which model there: set "
            "JARVIS_LLM_MODEL to its name."
        )
    return Choice(
        kind="address",
        model=wishes.llm_model,
        address=wishes.llm_url,
        why=f"{wishes.llm_model} at {wishes.llm_url} answers, by your setting.",
        hint=_hint_of_key(found),
    )


def _ollama(wishes: Wishes, found: Found) -> Choice | None:
    if wishes.llm_model:
        if found.ollama is None:
            raise EngineUnavailable(
                f"JARVIS_LLM_MODEL asks for {wishes.llm_model}, but no Ollama answers at "
                f"{OLLAMA}. Start it with `ollama serve`, or set JARVIS_LLM_URL to another server."
            )
        if not any(_same_name(model.name, wishes.llm_model) for model in found.ollama):
            raise EngineUnavailable(
                f"Ollama does not have {wishes.llm_model} yet: run `ollama pull {wishes.llm_model}`."
            )
        return Choice(
            kind="ollama",
            model=wishes.llm_model,
            address=OLLAMA,
            why=f"{wishes.llm_model} answers through Ollama, by your setting.",
        )
    picked = pick(found.ollama or (), memory_gib=found.memory_gib, cores=found.cores)
    if picked is None:
        return None
    return Choice(
        kind="ollama",
        model=picked.name,
        address=OLLAMA,
        why=f"Ollama runs here, and {picked.name} is the largest of its models that this "
        "computer should answer with in time. Another one: JARVIS_LLM_MODEL.",
        hint=_hint_of_key(found),
    )


def pick(models: tuple[OllamaModel, ...], *, memory_gib: float, cores: int) -> OllamaModel | None:
    """The largest chat model that fits this machine; one that answers at once before one that
    thinks first, one for talk before one for code. None when there is none."""
    fitting = [model for model in models if _fits(model, memory_gib, cores)]
    return max(
        fitting,
        key=lambda model: (
            not _THINKS_FIRST.search(model.name),
            not _FOR_CODE.search(model.name),
            model.billions,
            model.name,
        ),
        default=None,
    )


def thinks_first(name: str) -> bool:
    """Whether a model of this name thinks before it answers, unless it is told not to."""
    return _THINKS_FIRST.search(name) is not None


def _fits(model: OllamaModel, memory_gib: float, cores: int) -> bool:
    most = min(_MOST_BILLIONS, cores * _BILLIONS_PER_CORE)
    chat = not _NO_CHAT.search(model.name) and model.family not in _NO_CHAT_FAMILIES
    needs_gib = model.bytes * _MEMORY_PER_SIZE / _GIB
    return (
        chat
        and not model.remote
        and _LEAST_BILLIONS <= model.billions <= most
        and needs_gib <= memory_gib * _SHARE_OF_MEMORY
    )


def _same_name(listed: str, wanted: str) -> bool:
    return listed == wanted or listed == f"{wanted}:latest"


def _embedded(wishes: Wishes, found: Found) -> Choice:
    if wishes.model != "auto":
        return Choice(
            kind="embedded",
            model=SMALL if wishes.model == "small" else BETTER,
            why=f"The built-in {wishes.model} model answers, by your setting.",
            hint=_hint_of_key(found),
        )
    able = _runs_better(found)
    if able and BETTER in found.weights:
        return Choice(
            kind="embedded",
            model=BETTER,
            why="The better built-in model answers: it is here, and this computer is fast enough.",
            hint=_hint_of_key(found),
        )
    return Choice(
        kind="embedded",
        model=SMALL,
        why="The built-in model answers: nothing else is set up.",
        hint=_hint_of_key(found),
    )


def _runs_better(found: Found) -> bool:
    return (
        found.memory_gib >= BETTER_MEMORY_GIB
        and found.cores >= BETTER_CORES
        and (found.small_tokens_per_s or 0.0) >= BETTER_TOKENS_PER_S
    )


def _hint_of_key(found: Found) -> str:
    if found.bare_openai_key and not found.jarvis_openai_key:
        return (
            "There is an OPENAI_API_KEY in your environment. Jarvis leaves it alone; to talk "
            "through OpenAI, which bills it and hears you, set JARVIS_OPENAI_KEY."
        )
    if found.bare_gemini_key and not found.jarvis_gemini_key:
        return (
            "There is a key for Gemini at hand, from the environment or for background work. Calls "
            "leave it alone; to talk through Google, which bills it and hears you, set "
            "JARVIS_GEMINI_KEY."
        )
    return ""


# In words -----------------------------------------------------------------------------


def describe(choice: Choice, found: Found, *, hears: str) -> EngineDescription:
    """The local engine in words; `speaks` is filled in by it when the voices are loaded."""
    if choice.kind == "embedded":
        return EngineDescription(
            name="Built-in",
            hears=hears,
            thinks=f"{TITLES[choice.model]}, on this computer",
            speaks="",
            words_go_to="this computer only",
            costs="nothing",
            warning="The built-in model is very small: don't trust its facts. It makes up what it "
            "doesn't know, and gets health questions wrong.",
            better=_better(choice, found),
        )
    here = is_here(choice.address)
    host = urlsplit(choice.address).hostname or choice.address
    return EngineDescription(
        name="Ollama" if choice.kind == "ollama" else "Local",
        hears=hears,
        thinks=f"{choice.model}, on this computer" if here else f"{choice.model}, at {host}",
        speaks="",
        words_go_to="this computer only" if here else f"{host}, as text",
        costs="nothing" if here else f"what {host} takes",
    )


def _better(choice: Choice, found: Found) -> str:
    if found.ollama is not None:
        return f"Better in one step: `ollama pull {suggested(found)}`, then start Jarvis again."
    if choice.model == SMALL and found.memory_gib >= BETTER_MEMORY_GIB / 2:
        return "Better in one step: start with JARVIS_MODEL=better (1.1 GB; it answers slower)."
    return (
        f"Better in one step: install Ollama, then `ollama pull {suggested(found)}` and start "
        "Jarvis again."
    )


def suggested(found: Found) -> str:
    """A model of Ollama's that `pick` would take on this machine."""
    for name, billions, gib in (("llama3.1:8b", 8.0, 4.9), ("llama3.2:3b", 3.2, 2.0)):
        fits = gib * _MEMORY_PER_SIZE <= found.memory_gib * _SHARE_OF_MEMORY
        if fits and billions <= found.cores * _BILLIONS_PER_CORE:
            return name
    return "qwen2.5:1.5b"


def is_here(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    return host == "localhost" or host == "::1" or host.startswith("127.")
