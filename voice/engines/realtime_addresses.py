"""Addresses of realtime services: what may go where."""

from __future__ import annotations

import ipaddress
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

OPENAI_URL = "wss://api.openai.com/v1/realtime"
GEMINI_URL = (
    "wss://generativelanguage.googleapis.com/ws/"
    "google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
)
_PAID = ("openai.com", "googleapis.com")


def host_of(url: str) -> str:
    return urlsplit(url).hostname or ""


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def needs_key(url: str) -> bool:
    """A paid service itself, not a server that speaks its protocol."""
    host = host_of(url)
    return any(host == each or host.endswith(f".{each}") for each in _PAID)


def is_open_to_listeners(url: str) -> bool:
    """Words and sound would cross a network without encryption."""
    return urlsplit(url).scheme == "ws" and not is_loopback(host_of(url))


def with_query(url: str, **given: str) -> str:
    """The address of a session. What the query already holds stays, and wins."""
    parts = urlsplit(url)
    query = {**given, **dict(parse_qsl(parts.query, keep_blank_values=True))}
    return urlunsplit(parts._replace(query=urlencode(query)))


def bare_address(url: str) -> str:
    """Without query and user, which may hold keys."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))


def address_fault(url: str, key: str, *, setting: str, name: str) -> str:
    """Why a session can't even be tried, as a sentence; empty when it can. `setting` is the
    service's name in the settings, `name` its name for people."""
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss") or not parts.hostname:
        return (
            f"{url!r} is no address of a {name} server: it begins with wss:// (or ws:// on this "
            f"machine). Correct the setting {setting}_url."
        )
    if needs_key(url) and not key:
        return (
            f"{name} needs a key, and none is set. Put yours into JARVIS_{setting.upper()}_KEY or "
            f"{setting}_key in config.toml, or use the local engine."
        )
    if key and is_open_to_listeners(url):
        return (
            f"The key would cross the network unencrypted to {parts.hostname}. Use a wss:// "
            f"address, or remove {setting}_key if that server needs none."
        )
    return ""
