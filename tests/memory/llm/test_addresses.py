from __future__ import annotations

import pytest

from memory.llm.addresses import host_of, is_loopback, is_nearby, with_version


@pytest.mark.parametrize(
    ("url", "loopback", "nearby"),
    [
        ("http://127.0.0.1:11434/v1", True, True),
        ("http://[::1]:8080", True, True),
        ("http://localhost", True, True),
        ("http://LOCALHOST:1", True, True),
        ("http://192.168.0.7:1234", False, True),
        ("http://10.1.2.3", False, True),
        ("http://[fd00::1]", False, True),
        ("http://nas:8080", False, True),
        ("http://nas.local:8080", False, True),
        ("https://api.openai.com/v1", False, False),
        ("https://8.8.8.8", False, False),
        ("https://localhost.evil.example", False, False),
        ("https://127.0.0.1.evil.example", False, False),
        ("http://127.0.0.1@evil.example", False, False),
        ("", False, False),
        ("nonsense", False, False),
        ("http://[::1", False, False),
    ],
)
def test_where_an_address_is(url: str, loopback: bool, nearby: bool) -> None:
    """This machine, the user's own network, or elsewhere; by the host and nothing else."""
    assert (is_loopback(url), is_nearby(url)) == (loopback, nearby)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        (" http://127.0.0.1:11434/ ", "http://127.0.0.1:11434/v1"),
        ("http://x/v1", "http://x/v1"),
        ("http://x/v1/chat/completions", "http://x/v1"),
        ("https://x/api/v1/", "https://x/api/v1"),
        ("http://[::1", "http://[::1"),
    ],
)
def test_an_address_up_to_its_version(url: str, expected: str) -> None:
    """However the user writes it, it ends with its version."""
    assert with_version(url) == expected


def test_host_of() -> None:
    """A name and password before the host are no part of it."""
    assert host_of("http://me:secret@Example.org:80/x") == "example.org"
