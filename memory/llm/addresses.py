"""What an address says about where it is."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

_NEARBY = (".local", ".lan", ".internal", ".home.arpa", ".localhost")


def host_of(url: str) -> str:
    """The host in lower case; empty where the address is none."""
    try:
        return urlsplit(url.strip()).hostname or ""
    except ValueError:  # a bracket without its other half
        return ""


def is_loopback(url: str) -> bool:
    """This machine."""
    host = host_of(url)
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def is_nearby(url: str) -> bool:
    """This machine, or one of the user's own network, where nobody bills by the token."""
    host = host_of(url)
    try:
        return ip_address(host).is_private
    except ValueError:
        return bool(host) and ("." not in host or host.endswith(_NEARBY))


def with_version(url: str) -> str:
    """The address of an OpenAI-compatible server up to and with its version: a bare host
    gets "/v1"."""
    address = url.strip().rstrip("/").removesuffix("/chat/completions")
    try:
        return address if urlsplit(address).path else f"{address}/v1"
    except ValueError:
        return address
