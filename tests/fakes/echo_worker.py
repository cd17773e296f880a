"""A worker child for the tests of voice/workers.py: `python -m tests.fakes.echo_worker [MOOD]`."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator

from voice.workers import Header, Message, serve

_opened = threading.Event()


def echo(header: Header, payload: bytes) -> Iterator[Message]:
    yield header, payload


def count(header: Header, payload: bytes) -> Iterator[Message]:
    for number in range(header["to"]):
        yield {"number": number}, b""


def wait(header: Header, payload: bytes) -> Iterator[Message]:
    """Answers only after `open` was asked for."""
    _opened.wait()
    yield {"waited": True}, payload


def open_(header: Header, payload: bytes) -> Iterator[Message]:
    _opened.set()
    yield {}, b""


def chatter(header: Header, payload: bytes) -> Iterator[Message]:
    print("a library's banner")
    os.write(1, b"\x00\x00and bytes of a C library")
    yield header, payload


def break_(header: Header, payload: bytes) -> Iterator[Message]:
    raise ValueError("this can't be done")


def die(header: Header, payload: bytes) -> Iterator[Message]:
    print("about to fall over", file=sys.stderr, flush=True)
    os._exit(3)


def nice(header: Header, payload: bytes) -> Iterator[Message]:
    yield {"nice": os.nice(0)}, b""


def spins(header: Header, payload: bytes) -> Iterator[Message]:
    yield {"spins": os.environ.get("GOMP_SPINCOUNT")}, b""


def nothing(header: Header, payload: bytes) -> Iterator[Message]:
    yield from ()


if __name__ == "__main__":
    mood = sys.argv[1] if len(sys.argv) > 1 else "willing"
    if mood == "broken":
        print("the model's file is damaged", file=sys.stderr)
        sys.exit(1)
    if mood == "noisy":
        print("Loading the model, please wait …", flush=True)
    if mood == "stuck":
        threading.Event().wait()
    serve(
        {
            "echo": echo,
            "count": count,
            "wait": wait,
            "open": open_,
            "chatter": chatter,
            "break": break_,
            "die": die,
            "nice": nice,
            "spins": spins,
            "nothing": nothing,
        },
        {"mood": mood},
        niceness=5,
    )
