"""A real Chromium for tests of the page, and the server it looks at.

    async with serving(make_app) as address, chromium() as browser: ...

Without a browser the tests that need one are skipped, and say how to get it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI
from playwright.async_api import Browser, async_playwright, expect

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    """The browser's path: JARVIS_CHROMIUM, or a usual name on the path."""
    given = os.environ.get("JARVIS_CHROMIUM")
    if given:
        return given
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


# A busy machine is slow, not wrong: what does not come in this time does not come.
expect.set_options(timeout=20_000)

needs_chromium = pytest.mark.skipif(
    find_chromium() is None,
    reason="no Chromium found: install one (Debian: apt-get install chromium), "
    "or say where it is with JARVIS_CHROMIUM=/path/to/chromium",
)


@asynccontextmanager
async def chromium(
    *, microphone: Path | None = None, refuse_microphone: bool = False
) -> AsyncIterator[Browser]:
    """Headless, with a microphone that plays a wav file once (else beeps), or with none allowed."""
    path = find_chromium()
    assert path is not None
    flags = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--autoplay-policy=user-gesture-required",
        "--use-fake-device-for-media-stream",
    ]
    if not refuse_microphone:
        flags.append("--use-fake-ui-for-media-stream")
    if microphone is not None:
        flags.append(f"--use-file-for-fake-audio-capture={microphone}%noloop")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, headless=True, args=flags)
        try:
            yield browser
        finally:
            await browser.close()


class _Server(uvicorn.Server):
    """Leaves the process's signals alone and tells when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


@asynccontextmanager
async def serving(make_app: Callable[[int], FastAPI]) -> AsyncIterator[str]:
    """Serve `make_app(port)` on a free loopback port of this loop; gives the address."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    config = uvicorn.Config(
        make_app(port), log_level="warning", lifespan="off", ws="none", timeout_graceful_shutdown=1
    )
    server = _Server(config)
    task = asyncio.create_task(server._serve([listener]))
    await server.listening.wait()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await task
