"""`jarvis serve`: the page on this machine, and the house behind it."""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import socket
import sys
import webbrowser
from collections.abc import Callable

import uvicorn

from voice.config import Config
from voice.errors import PortInUse, VoiceFault
from voice.house import House
from voice.logs import forward_loguru
from voice.web.server import create_app

HOST = "127.0.0.1"
_OWN = (HOST, "localhost", "::1")


def run(config: Config, *, say: Callable[[str], None], open_browser: bool) -> None:
    """Serve until Ctrl-C. Raises PortInUse, and what the house raises when it is built."""
    forward_loguru()
    listener = listen(config.port, config.host)
    try:
        asyncio.run(_serve(config, listener, say, open_browser))
    finally:
        listener.close()


def listen(port: int, host: str = HOST) -> socket.socket:
    """The page's socket, bound before anything is loaded, so that a taken port is told at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as fault:
        listener.close()
        if fault.errno == errno.EADDRINUSE:
            raise PortInUse(
                f"Port {port} is in use, perhaps by a Jarvis that runs already: look at "
                f"http://{HOST}:{port}. Or take another one: jarvis serve --port {port + 1}"
            ) from fault
        if fault.errno == errno.EACCES:
            raise PortInUse(
                f"Port {port} may not be used by this user. Take one above 1023: "
                "jarvis serve --port 7788"
            ) from fault
        if fault.errno == errno.EADDRNOTAVAIL or isinstance(fault, socket.gaierror):
            raise PortInUse(
                f"{host} is no address of this computer. Name one of its own, or 0.0.0.0 for all: "
                "jarvis serve --host 0.0.0.0"
            ) from fault
        raise
    listener.listen(128)
    return listener


async def _serve(
    config: Config, listener: socket.socket, say: Callable[[str], None], open_browser: bool
) -> None:
    house = House(config)
    token, names = who_may_ask(config)
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(house, port=config.port, token=token, names=names),
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=2,
        )
    )
    url = f"http://{HOST}:{config.port}" + (f"/?token={token}" if token else "")
    try:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(server.serve(sockets=[listener]))
            say(f"Jarvis is at {url} (Ctrl-C ends it)")
            if token:
                say(
                    f"Other machines reach it at http://{address_of(config.host)}:{config.port}"
                    f"/?token={token} and see all that Jarvis knows: give that address to nobody "
                    "else. Browsers allow the microphone only on this computer, or behind https."
                )
            if open_browser and _has_browser():
                webbrowser.open(url)
            loading = group.create_task(_load(house, say))
            await serving
            loading.cancel()
    finally:
        await house.close()


def who_may_ask(config: Config) -> tuple[str | None, frozenset[str] | None]:
    """The token and the names for other machines; None and None where only this one may ask."""
    if config.host in _OWN:
        return None, None
    name = socket.gethostname().lower()
    return secrets.token_urlsafe(24), frozenset({name, f"{name.partition('.')[0]}.local"})


def address_of(host: str) -> str:
    """The address that others use; of a page that listens everywhere, this machine's name."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - it is compared with, not bound to
        return f"{socket.gethostname().lower().partition('.')[0]}.local"
    return f"[{host}]" if ":" in host else host


async def _load(house: House, say: Callable[[str], None]) -> None:
    try:
        await house.load()
    except VoiceFault as fault:
        # The page stays up and says the same: somebody may mend it and press the button.
        say(str(fault))
        return
    for line in house.introduction():
        say(line)


def _has_browser() -> bool:
    """A browser with a window: without a screen `webbrowser` would take a text one."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
