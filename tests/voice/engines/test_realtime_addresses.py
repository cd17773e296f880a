"""What may go to which address."""

from __future__ import annotations

import pytest

from voice.engines.realtime_addresses import (
    GEMINI_URL,
    address_fault,
    is_open_to_listeners,
    with_query,
)

ADDRESSES = [
    ("wss://api.openai.com/v1/realtime", "wss://api.openai.com/v1/realtime?model=m"),
    ("ws://127.0.0.1:9000/v1/realtime?a=1", "ws://127.0.0.1:9000/v1/realtime?model=m&a=1"),
    ("ws://[::1]:9/x?model=other", "ws://[::1]:9/x?model=other"),
    ("wss://host/x?", "wss://host/x?model=m"),
]


@pytest.mark.parametrize(("url", "session"), ADDRESSES)
def test_the_model_joins_the_query_that_is_there(url: str, session: str) -> None:
    """An address keeps its own query, and a model named there wins."""
    assert with_query(url, model="m") == session


FAULTS = [
    ("wss://api.openai.com/v1/realtime", "k", ""),
    ("wss://api.openai.com/v1/realtime", "", "needs a key"),
    (GEMINI_URL, "", "needs a key"),
    (GEMINI_URL, "k", ""),
    ("wss://eu.api.openai.com/v1/realtime", "", "needs a key"),
    ("ws://127.0.0.1:9000/v1/realtime", "", ""),
    ("ws://127.0.0.1:9000/v1/realtime", "k", ""),
    ("ws://localhost:9000/v1/realtime", "k", ""),
    ("ws://192.168.1.7/v1/realtime", "", ""),
    ("ws://192.168.1.7/v1/realtime", "k", "unencrypted"),
    ("wss://192.168.1.7/v1/realtime", "k", ""),
    ("https://api.openai.com/v1/realtime", "k", "no address"),
    ("ws://", "k", "no address"),
    ("", "k", "no address"),
]


@pytest.mark.parametrize(("url", "key", "words"), FAULTS)
def test_an_address_that_cannot_work_is_told_before_it_is_tried(
    url: str, key: str, words: str
) -> None:
    """A key never crosses a network in the clear; other servers need none."""
    fault = address_fault(url, key, setting="openai", name="OpenAI Realtime")
    assert words in fault and bool(fault) == bool(words)


def test_an_unencrypted_address_elsewhere_is_open_to_listeners() -> None:
    """Loopback and wss are not."""
    assert is_open_to_listeners("ws://192.168.1.7/x")
    assert not is_open_to_listeners("wss://192.168.1.7/x")
    assert not is_open_to_listeners("ws://127.0.0.9/x")
