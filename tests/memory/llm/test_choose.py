from __future__ import annotations

import re
from dataclasses import replace

import pytest

from memory.llm.addresses import is_nearby
from memory.llm.choose import (
    Choice,
    Engine,
    Found,
    LocalModel,
    NoModel,
    Wishes,
    billions_in,
    choose,
)
from memory.llm.providers import providers

TABLE = providers()

TINY = LocalModel(name="qwen-0.5b", billions=0.5)
LLAMA = LocalModel(name="llama3.2:3b", billions=3.2)
OPENAI = Engine(company="OpenAI")
OWN = Engine(url="http://127.0.0.1:1234/v1", model="mistral:7b")
ALL = frozenset({"claude", "codex", "gemini"})


def at_hand(
    *,
    logins: str = "",
    programs: str = "",
    keys: str = "",
    engine: Engine | None = None,
    ollama: tuple[LocalModel, ...] | None = None,
    embedded: LocalModel | None = TINY,
) -> Found:
    connected = frozenset(logins.split())
    return Found(
        programs=connected | frozenset(programs.split()),
        logins=connected,
        keys=frozenset(keys.split()),
        engine=engine,
        ollama=ollama,
        embedded=embedded,
    )


def chosen(found: Found, **wishes: str) -> str:
    """The choice in short: provider, who pays, the model."""
    choice = choose(Wishes(**wishes), found, TABLE)
    if isinstance(choice, NoModel):
        return "off" if choice.off else "nothing"
    return f"{choice.provider} {choice.billing} {choice.model}"


BY_ITSELF = [
    # what is there, what is taken
    (at_hand(), "embedded local qwen-0.5b"),
    (at_hand(embedded=None), "nothing"),
    # with nothing but one key, that key's cheap model
    (at_hand(keys="openai"), "openai metered gpt-6-luna"),
    (at_hand(keys="anthropic"), "anthropic metered claude-haiku-5-5"),
    (at_hand(keys="google"), "google metered gemini-3.5-flash-lite"),
    (at_hand(keys="openrouter"), "openrouter metered openai/gpt-6-luna"),
    (at_hand(keys="openai", engine=OPENAI), "openai metered gpt-6-luna"),
    # of several keys the one that the conversation uses, else the cheapest
    (at_hand(keys="google openai"), "openai metered gpt-6-luna"),
    (at_hand(keys="anthropic google", engine=Engine(company="Google")), "google metered gemini-3.5-flash-lite"),
    # a key whose owner nobody named is used for nothing
    (at_hand(keys="background"), "embedded local qwen-0.5b"),
    (at_hand(keys="engine"), "embedded local qwen-0.5b"),
    # what runs here costs nothing
    (at_hand(keys="openai", ollama=(LLAMA,)), "ollama local llama3.2:3b"),
    (at_hand(keys="openai", engine=OPENAI, ollama=(LLAMA,)), "ollama local llama3.2:3b"),
    (at_hand(ollama=()), "embedded local qwen-0.5b"),
    # what the conversation runs on comes before another one here
    (at_hand(engine=OWN, ollama=(LLAMA,)), "address local mistral:7b"),
    (at_hand(engine=OWN, keys="openai"), "address local mistral:7b"),
    (at_hand(engine=Engine(url="https://llm.example/v1", model="m"), keys="engine"), "address metered m"),
    (at_hand(engine=Engine(url="http://nas.local/v1", model="m"), keys="engine"), "address local m"),
    # while a subscription is connected, no key is billed
    (at_hand(logins="codex", keys="openai", engine=OPENAI), "codex subscription gpt-6-luna"),
    (at_hand(logins="claude codex gemini", keys="openai anthropic", engine=OPENAI), "codex subscription gpt-6-luna"),
    (at_hand(logins="claude", keys="openai", engine=OPENAI), "embedded local qwen-0.5b"),
    (at_hand(logins="claude", keys="anthropic"), "embedded local qwen-0.5b"),
    (at_hand(logins="claude", keys="openai", ollama=(LLAMA,)), "ollama local llama3.2:3b"),
    (at_hand(logins="gemini", engine=Engine(url="https://llm.example/v1", model="m"), keys="engine"), "embedded local qwen-0.5b"),
    # a subscription at a company that no words go to is no place to send them by itself
    (at_hand(logins="claude codex gemini"), "embedded local qwen-0.5b"),
    (at_hand(logins="claude", engine=OWN), "address local mistral:7b"),
    # a program that is not logged in is as good as none
    (at_hand(programs="claude codex gemini", keys="openai", engine=OPENAI), "openai metered gpt-6-luna"),
]  # fmt: skip


@pytest.mark.parametrize(("found", "expected"), BY_ITSELF)
def test_by_itself(found: Found, expected: str) -> None:
    """The first that is there, in the order of the docstring."""
    assert chosen(found) == expected
    assert chosen(found, background=" AUTO ") == expected


EVERYTHING = at_hand(
    logins="claude codex gemini",
    keys="openai anthropic google openrouter background engine",
    engine=OPENAI,
    ollama=(LLAMA, LocalModel(name="nomic-embed-text", billions=0.1)),
)
NO_LOGIN = replace(EVERYTHING, logins=frozenset())

BY_SETTING = [
    ({"background": "off"}, EVERYTHING, "off"),
    ({"background": "claude"}, EVERYTHING, "claude subscription haiku"),
    ({"background": "codex"}, EVERYTHING, "codex subscription gpt-6-luna"),
    ({"background": "gemini"}, EVERYTHING, "gemini subscription flash-lite"),
    ({"background": "claude", "background_model": "sonnet"}, EVERYTHING, "claude subscription sonnet"),
    ({"background": "ollama"}, EVERYTHING, "ollama local llama3.2:3b"),
    ({"background": "embedded"}, EVERYTHING, "embedded local qwen-0.5b"),
    ({"background": "anthropic"}, NO_LOGIN, "anthropic metered claude-haiku-5-5"),
    ({"background": "openai", "background_model": "gpt-x"}, NO_LOGIN, "openai metered gpt-x"),
    ({"background": "google"}, at_hand(keys="background"), "google metered gemini-3.5-flash-lite"),
    # chosen, but a subscription is connected: the key rests
    ({"background": "openai"}, EVERYTHING, "codex subscription gpt-6-luna"),
    ({"background": "anthropic"}, at_hand(logins="claude", keys="anthropic"), "embedded local qwen-0.5b"),
    # chosen, and not there: nothing else is asked in its place
    ({"background": "claude"}, NO_LOGIN, "nothing"),
    ({"background": "claude"}, at_hand(keys="openai"), "nothing"),
    ({"background": "anthropic"}, at_hand(keys="openai"), "nothing"),
    ({"background": "ollama"}, at_hand(), "nothing"),
    ({"background": "ollama"}, at_hand(ollama=()), "nothing"),
    ({"background": "ollama", "background_model": "phi4"}, EVERYTHING, "nothing"),
    ({"background": "ollama", "background_model": "llama3.2"}, at_hand(ollama=(LocalModel(name="llama3.2:latest"),)), "ollama local llama3.2:latest"),
    ({"background": "embedded"}, at_hand(embedded=None), "nothing"),
    ({"background": "chatgpt"}, EVERYTHING, "nothing"),
    ({"background": "address"}, EVERYTHING, "nothing"),
    # an address of the user's
    ({"background_url": "http://127.0.0.1:8080", "background_model": "m"}, EVERYTHING, "address local m"),
    ({"background": "address", "background_url": "http://nas.local:8080", "background_model": "m"}, EVERYTHING, "address local m"),
    ({"background_url": "https://llm.example/v1", "background_model": "m"}, NO_LOGIN, "address metered m"),
    ({"background_url": "https://llm.example/v1", "background_model": "m"}, at_hand(logins="claude"), "address local m"),
    ({"background_url": "https://llm.example/v1", "background_model": "m"}, EVERYTHING, "nothing"),
    ({"background_url": "http://127.0.0.1:8080"}, EVERYTHING, "nothing"),
    ({"background_url": "localhost:8080", "background_model": "m"}, EVERYTHING, "nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("wishes", "found", "expected"), BY_SETTING)
def test_by_setting(wishes: dict[str, str], found: Found, expected: str) -> None:
    """What the user chose is taken or named as missing; no metered key steps in for it."""
    assert chosen(found, **wishes) == expected


KEYS = ("", "openai", "anthropic google", "openrouter background", "engine background openai")
ENGINES = (None, OPENAI, OWN, Engine(url="https://llm.example/v1", model="m"))
SETTINGS = (
    {},
    {"background_url": "https://llm.example/v1", "background_model": "m"},
    *({"background": name} for name in ("auto", "address", *TABLE)),
)


@pytest.mark.parametrize("logins", ["claude", "codex", "gemini", "claude codex gemini"])
@pytest.mark.parametrize("keys", KEYS)
def test_no_key_is_billed_while_a_subscription_is_connected(logins: str, keys: str) -> None:
    """Whatever else is there and whatever is set: nothing metered, and no key goes out but to
    a server of the user's own."""
    for engine in ENGINES:
        for ollama in (None, (LLAMA,)):
            for settings in SETTINGS:
                found = at_hand(logins=logins, keys=keys, engine=engine, ollama=ollama)
                choice = choose(Wishes(**settings), found, TABLE)
                if isinstance(choice, Choice):
                    assert choice.billing in ("subscription", "local")
                    assert choice.key == "" or is_nearby(choice.url)


@pytest.mark.parametrize("keys", KEYS)
def test_a_key_goes_to_its_own_host_only(keys: str) -> None:
    """A provider's address gets that provider's key, or the one the user gave for it."""
    for engine in ENGINES:
        for settings in SETTINGS:
            choice = choose(Wishes(**settings), at_hand(keys=keys, engine=engine), TABLE)
            if isinstance(choice, Choice) and choice.key:
                assert choice.key in (choice.provider, "background", "engine")
                if choice.key == "engine":
                    assert engine is not None and choice.url == engine.url
                if choice.provider in TABLE:
                    assert choice.url == TABLE[choice.provider].url


@pytest.mark.parametrize(("found", "_expected"), BY_ITSELF)
def test_learning_adds_no_place_by_itself(found: Found, _expected: str) -> None:
    """Words go where they go anyway, to whom a key was given for, or nowhere."""
    choice = choose(Wishes(), found, TABLE)
    if not isinstance(choice, Choice) or choice.provider == "address":
        return
    company = TABLE[choice.provider].company
    talks_to = found.engine.company if found.engine else ""
    owned = {TABLE[name].company for name in found.keys if name in TABLE}
    assert company in {"", talks_to} | owned


@pytest.mark.parametrize(
    ("models", "picked"),
    [
        ((LocalModel(name="a:1b", billions=1.0), LLAMA), "llama3.2:3b"),
        ((LLAMA, LocalModel(name="big:70b", billions=70.0)), "llama3.2:3b"),
        ((LocalModel(name="b:70b", billions=70.0), LocalModel(name="a:32b", billions=32.0)), "a:32b"),
        ((LocalModel(name="mxbai-embed-large", billions=0.3), LocalModel(name="x")), "x"),
        ((LocalModel(name="nomic-embed-text", billions=0.1),), None),
    ],
)  # fmt: skip
def test_which_of_ollamas(models: tuple[LocalModel, ...], picked: str | None) -> None:
    """The largest that does not hold up the machine, else the smallest; none that only embeds."""
    choice = choose(Wishes(background="ollama"), at_hand(ollama=models), TABLE)
    assert (choice.model if isinstance(choice, Choice) else None) == picked


@pytest.mark.parametrize(
    ("model", "small"),
    [("llama3.2:1b", True), ("qwen2.5:1.5b", True), ("llama3.2:3b", False), ("gpt-x", False)],
)
def test_small_models_are_asked_in_small(model: str, small: bool) -> None:
    """Up to two billion parameters, where the name or the server says it."""
    named = choose(
        Wishes(background_url="http://127.0.0.1:1", background_model=model), at_hand(), TABLE
    )
    listed = choose(
        Wishes(background="ollama"),
        at_hand(ollama=(LocalModel(name=model, billions=billions_in(model)),)),
        TABLE,
    )
    assert isinstance(named, Choice) and isinstance(listed, Choice)
    assert (named.small, listed.small) == (small, small)
    built_in = choose(Wishes(background="embedded"), at_hand(), TABLE)
    assert isinstance(built_in, Choice) and built_in.small


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("llama3.2:3b", 3.0),
        ("smollm2:135m", 0.135),
        ("3.2B", 3.2),
        ("qwen2.5-coder-1.5b-instruct-q4", 1.5),
        ("mixtral:8x7b", 7.0),
        ("gpt-6-luna", None),
        ("mistral", None),
        ("x:4bit", None),
    ],
)
def test_the_size_in_a_name(name: str, billions: float | None) -> None:
    """A number before a b or an m that stands alone."""
    assert billions_in(name) == billions


SENTENCES = [
    (at_hand(keys="openai"), {}, "Reviews go to OpenAI, by the token: it is the key that Jarvis was given.", ""),
    (at_hand(logins="codex", engine=OPENAI), {}, "Reviews go to your ChatGPT subscription: your words go there anyway, and it costs nothing more.", ""),
    (at_hand(), {}, "Reviews go to the built-in model: nothing better is set up.", ""),
    (
        at_hand(programs="claude"), {}, "Reviews go to the built-in model: nothing better is set up.",
        "Better in one step: background = claude asks your Claude subscription; the marked sentences then go to Anthropic.",
    ),
    (
        at_hand(logins="claude", keys="openai", engine=OPENAI), {}, "Reviews go to the built-in model: nothing better is set up.",
        "While your Claude subscription is connected, no key is billed by the token. Better in one step: background = claude asks your Claude subscription; the marked sentences then go to Anthropic.",
    ),
    (
        at_hand(logins="claude", keys="openai", engine=OPENAI), {"background": "openai"},
        "Reviews go to the built-in model: nothing better is set up. OpenAI was chosen, but while your Claude subscription is connected, no key is billed by the token.",
        "Better in one step: background = claude asks your Claude subscription; the marked sentences then go to Anthropic.",
    ),
    (at_hand(keys="background"), {}, "Reviews go to the built-in model: nothing better is set up.", "Whose is background_key? Say it with background: anthropic, openai, google, openrouter, or with background_url."),
]  # fmt: skip


@pytest.mark.parametrize(("found", "wishes", "why", "hint"), SENTENCES)
def test_in_words(found: Found, wishes: dict[str, str], why: str, hint: str) -> None:
    """The choice says why, and what would be better in one step."""
    choice = choose(Wishes(**wishes), found, TABLE)
    assert isinstance(choice, Choice)
    assert (choice.why, choice.hint) == (why, hint)


@pytest.mark.parametrize(
    ("wishes", "found", "sentence"),
    [
        ({"background": "claude"}, at_hand(), "there is no program `claude` on the PATH"),
        ({"background": "claude"}, at_hand(programs="claude"), "is not logged in to a subscription"),
        ({"background": "openai"}, at_hand(), "needs a key: set background_key"),
        ({"background": "x"}, at_hand(), "Choose one of: auto, off, address, claude, codex"),
        ({"background": "address"}, at_hand(), "needs background_url"),
        ({"background_url": "http://127.0.0.1:1"}, at_hand(), "Set background_model"),
        ({"background": "ollama"}, at_hand(), "Start it with `ollama serve`"),
        ({"background": "ollama"}, at_hand(ollama=()), "run `ollama pull llama3.2:3b`"),
        ({"background_url": "https://llm.example/v1", "background_model": "m"}, EVERYTHING, "llm.example is not asked: while your Claude subscription and"),
        ({}, at_hand(embedded=None), "the built-in one is not on this machine"),
    ],
)  # fmt: skip
def test_what_is_missing_in_words(wishes: dict[str, str], found: Found, sentence: str) -> None:
    """Where nothing can be asked, the sentence says what to do."""
    choice = choose(Wishes(**wishes), found, TABLE)
    assert isinstance(choice, NoModel)
    assert re.search(re.escape(sentence), choice.why)
