"""The page's socket."""

from __future__ import annotations

import pytest

from voice.config import Config
from voice.errors import PortInUse
from voice.serve import listen, who_may_ask


def test_a_port_in_use_is_told_with_the_next_step() -> None:
    """The sentence names the port, where a Jarvis may be running, and how to take another."""
    with listen(0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortInUse, match=f"Port {port} is in use.*--port {port + 1}"):
            listen(port)


def test_only_this_machine_is_answered() -> None:
    """The page is bound to the loopback address."""
    with listen(0) as bound:
        assert bound.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_this_machine_needs_no_token(host: str) -> None:
    """Whoever listens for this machine only asks nobody for a token."""
    assert who_may_ask(Config(host=host)) == (None, None)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.20"])  # noqa: S104 - nothing is bound
def test_other_machines_need_a_token(host: str) -> None:
    """Anything wider has a new token at each start, and this machine's own names."""
    token, names = who_may_ask(Config(host=host))
    again, _ = who_may_ask(Config(host=host))
    assert token is not None
    assert len(token) >= 32
    assert token != again
    assert names


def test_an_address_of_another_machine() -> None:
    """The page can't listen where this computer isn't, and says so."""
    with pytest.raises(PortInUse, match=r"no address of this computer.*--host"):
        listen(0, "192.0.2.1")
