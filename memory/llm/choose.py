"""Which background model is asked, and who pays (spec L4.3, S3).

1. While a subscription is logged in, no key is billed by the token: neither when it was
   chosen nor by itself.
2. Learning adds no new place that words go to. By itself Jarvis takes a provider only where
   the conversation's words go anyway, where the user stored a key under Jarvis' own name, or
   on this machine. Any other is taken when the setting names it.

So, with `background` on "auto", the first of these that is there:

    an address of the user's (`background_url`)
    the subscription at the company that the conversation talks through
    the server that the conversation's own language model runs on
    Ollama on this machine
    the cheap model of a key that Jarvis was given; of several, the one that the conversation
      uses, else the cheapest
    the built-in model
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from memory.llm.addresses import host_of, is_loopback, is_nearby, with_version
from memory.llm.protocol import Billing

AUTO, OFF, ADDRESS = "auto", "off", "address"
OLLAMA, EMBEDDED = "ollama", "embedded"

SMALL_BILLIONS = 2.0
"""Up to so many parameters a model is asked about one sentence at a time."""
MOST_BILLIONS = 9.0
"""Of Ollama's models the largest up to this is taken: a larger one would hold up the machine."""

_NO_CHAT = re.compile(r"embed|minilm|bge-|rerank|guard|ocr|whisper", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A row of `models.toml`. Prices are US dollars a million tokens, as seen on `as_of`."""

    name: str
    kind: Literal["login", "key", "local"]
    company: str
    title: str
    model: str
    url: str = ""
    price_in: float | None = None
    price_out: float | None = None
    as_of: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """The settings of the same names. `background` is "auto", "off" or a provider's name."""

    background: str = AUTO
    background_url: str = ""
    background_model: str = ""

    @property
    def wished(self) -> str:
        return self.background.strip().lower() or AUTO


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What the conversation's words go to: a company by name, or a server and its model."""

    company: str = ""
    url: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """`billions` of parameters; None where nobody says."""

    name: str
    billions: float | None = None

    @property
    def small(self) -> bool:
        return self.billions is not None and self.billions <= SMALL_BILLIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What is at hand.

    `programs` are on the PATH, `logins` those of them with a subscription. `keys` names the
    providers whose key is stored under Jarvis' own name, "background" and "engine" among
    them for the addresses. `ollama` is None where none answers.
    """

    programs: frozenset[str] = frozenset()
    logins: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    engine: Engine | None = None
    ollama: tuple[LocalModel, ...] | None = None
    embedded: LocalModel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """`provider` is a row of the table, or "address". `key` names the key that goes to `url`,
    and is empty where none does. `why` and `hint` are sentences for the user."""

    provider: str
    title: str
    model: str
    billing: Billing
    url: str = ""
    key: str = ""
    small: bool = False
    why: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoModel:
    """Nothing is asked: reviews wait. `off` is true where the user wants it so."""

    why: str
    off: bool = False


def choose(wishes: Wishes, found: Found, providers: Mapping[str, Provider]) -> Choice | NoModel:
    wished = wishes.wished
    if wished == OFF:
        return NoModel(off=True, why="The background model is switched off (background = off).")
    if wished == AUTO:
        return _by_itself(wishes, found, providers)
    if wished == ADDRESS:
        if not wishes.background_url:
            return NoModel(why="background = address needs background_url: the server's address.")
        return _by_itself(wishes, found, providers)
    provider = providers.get(wished)
    if provider is None:
        names = ", ".join([AUTO, OFF, ADDRESS, *providers])
        return NoModel(why=f"background = {wished} is no provider. Choose one of: {names}.")
    if provider.kind == "login":
        return _login(provider, wishes, found, "by your setting")
    if provider.kind == "key":
        if found.logins:
            return _instead_of(provider, wishes, found, providers)
        return _key(provider, wishes, found, "by your setting")
    if provider.name == OLLAMA:
        return _ollama(provider, wishes, found, "by your setting")
    return _embedded(found, "by your setting")


def _instead_of(
    chosen: Provider, wishes: Wishes, found: Found, providers: Mapping[str, Provider]
) -> Choice | NoModel:
    """What is asked in the place of a key that rests."""
    instead = _by_itself(replace(wishes, background_model=""), found, providers)
    reason = _no_key_is_billed(found, providers)
    why = f"{instead.why} {_upper(chosen.title)} was chosen, but {reason}."
    if isinstance(instead, NoModel):
        return replace(instead, why=why)
    hint = _hint(found, providers) if instead.provider == EMBEDDED else ""
    return replace(instead, why=why, hint=hint)


def _by_itself(wishes: Wishes, found: Found, providers: Mapping[str, Provider]) -> Choice | NoModel:
    if wishes.background_url:
        return _address(
            wishes.background_url, wishes.background_model, "background", found, providers,
            "by your setting",
        )  # fmt: skip
    engine = found.engine or Engine()
    for provider in providers.values():
        if provider.name in found.logins and provider.company == engine.company:
            return _login(
                provider, wishes, found, "your words go there anyway, and it costs nothing more"
            )
    if engine.url:
        there = _address(
            engine.url, wishes.background_model or engine.model, "engine", found, providers,
            "it is what you talk to",
        )  # fmt: skip
        if isinstance(there, Choice):
            return there
    if found.ollama:
        here = _ollama(providers[OLLAMA], wishes, found, "Ollama runs on this machine")
        if isinstance(here, Choice):
            return here
    owned = [each for each in providers.values() if each.kind == "key" and each.name in found.keys]
    if owned and not found.logins:
        provider = min(
            owned, key=lambda each: (each.company != engine.company, each.price_in or 0.0)
        )
        return _key(provider, wishes, found, "it is the key that Jarvis was given")
    built_in = _embedded(found, "nothing better is set up")
    hint = _hint(found, providers)
    if isinstance(built_in, NoModel):
        return NoModel(why=f"{built_in.why} {hint}".strip())
    if owned:
        return replace(
            built_in, hint=f"{_upper(_no_key_is_billed(found, providers))}. {hint}".strip()
        )
    return replace(built_in, hint=hint)


def _login(provider: Provider, wishes: Wishes, found: Found, why: str) -> Choice | NoModel:
    if provider.name not in found.programs:
        return NoModel(
            why=f"background = {provider.name}, but there is no program `{provider.name}` on the "
            "PATH. Install it and log in, or choose another."
        )
    if provider.name not in found.logins:
        return NoModel(
            why=f"background = {provider.name}, but `{provider.name}` is not logged in to a "
            "subscription. Log in with it, or choose another."
        )
    return Choice(
        provider=provider.name,
        title=provider.title,
        model=wishes.background_model or provider.model,
        billing="subscription",
        why=f"Reviews go to {provider.title}: {why}.",
    )


def _key(provider: Provider, wishes: Wishes, found: Found, why: str) -> Choice | NoModel:
    key = provider.name if provider.name in found.keys else "background"
    if key not in found.keys:
        return NoModel(
            why=f"background = {provider.name} needs a key: set background_key, or choose another."
        )
    return Choice(
        provider=provider.name,
        title=provider.title,
        model=wishes.background_model or provider.model,
        billing="metered",
        url=provider.url,
        key=key,
        why=f"Reviews go to {provider.title}, by the token: {why}.",
    )


def _address(
    url: str,
    model: str,
    key: str,
    found: Found,
    providers: Mapping[str, Provider],
    why: str,
) -> Choice | NoModel:
    url = with_version(url)
    host = host_of(url)
    if not url.startswith(("http://", "https://")) or not host:
        return NoModel(
            why=f"“{url}” is no address of a background model. It looks like "
            "http://127.0.0.1:8080/v1; set background_url."
        )
    if not model:
        return NoModel(why=f"Which model of {host} shall be asked? Set background_model.")
    metered = key in found.keys and not is_nearby(url)
    if metered and found.logins:
        return NoModel(why=f"{host} is not asked: {_no_key_is_billed(found, providers)}.")
    return Choice(
        provider=ADDRESS,
        title="this machine's server" if is_loopback(url) else host,
        model=model,
        billing="metered" if metered else "local",
        url=url,
        key=key if key in found.keys else "",
        small=(size := billions_in(model)) is not None and size <= SMALL_BILLIONS,
        why=f"Reviews go to {model} at {host}: {why}.",
    )


def _ollama(provider: Provider, wishes: Wishes, found: Found, why: str) -> Choice | NoModel:
    if found.ollama is None:
        return NoModel(why="No Ollama answers on this machine. Start it with `ollama serve`.")
    wanted = wishes.background_model
    if wanted:
        picked = next((m for m in found.ollama if m.name in (wanted, f"{wanted}:latest")), None)
        if picked is None:
            return NoModel(why=f"Ollama does not have {wanted} yet: run `ollama pull {wanted}`.")
    else:
        picked = _picked(found.ollama)
        if picked is None:
            return NoModel(why="Ollama has no model to talk to: run `ollama pull llama3.2:3b`.")
    return Choice(
        provider=OLLAMA,
        title=provider.title,
        model=picked.name,
        billing="local",
        url=provider.url,
        small=picked.small,
        why=f"Reviews go to {picked.name}: {why}.",
    )


def _picked(models: tuple[LocalModel, ...]) -> LocalModel | None:
    """The largest that does not hold up the machine, else the smallest."""
    chatting = [each for each in models if not _NO_CHAT.search(each.name)]
    sized = [(each.billions or 0.0, each.name, each) for each in chatting]
    light = [each for each in sized if each[0] <= MOST_BILLIONS]
    if light:
        return max(light, key=lambda each: each[:2])[2]
    return min(sized, key=lambda each: each[:2])[2] if sized else None


def _embedded(found: Found, why: str) -> Choice | NoModel:
    if found.embedded is None:
        return NoModel(why="There is no background model: the built-in one is not on this machine.")
    return Choice(
        provider=EMBEDDED,
        title="the built-in model",
        model=found.embedded.name,
        billing="local",
        small=found.embedded.small,
        why=f"Reviews go to the built-in model: {why}.",
    )


def _no_key_is_billed(found: Found, providers: Mapping[str, Provider]) -> str:
    titles = " and ".join(providers[name].title for name in sorted(found.logins))
    return f"while {titles} is connected, no key is billed by the token"


def _hint(found: Found, providers: Mapping[str, Provider]) -> str:
    if "background" in found.keys:
        names = ", ".join(each.name for each in providers.values() if each.kind == "key")
        return f"Whose is background_key? Say it with background: {names}, or with background_url."
    installed = [each for each in providers.values() if each.name in found.programs]
    ready = [each for each in installed if each.name in found.logins] or installed
    if not ready:
        return ""
    return (
        f"Better in one step: background = {ready[0].name} asks {ready[0].title}; the marked "
        f"sentences then go to {ready[0].company}."
    )


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


_BILLIONS = re.compile(r"(?<![\d.])(\d{1,4}(?:\.\d{1,3})?)\s?([bm])(?![a-z])", re.IGNORECASE)


def billions_in(name: str) -> float | None:
    """The size that a model's name tells: "llama3.2:3b", "smollm2:135m"."""
    match = _BILLIONS.search(name)
    if match is None:
        return None
    return float(match[1]) / (1000 if match[2].lower() == "m" else 1)
