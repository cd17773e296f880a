"""The page's socket."""

from __future__ import annotations

import pytest

from voice.errors import PortInUse
from voice.serve import listen


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
