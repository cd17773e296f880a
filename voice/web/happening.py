"""What changes, as one stream of server-sent events: the names of what to look at anew.

    data: ["notebooks", "changes"]

Files are looked at once a second, from a thread, and only while somebody listens. What the
page does by itself needs no telling: what it changed, it changes here as well.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from voice.config import config_file
from voice.web.aside import NEVER_KEPT, Aside
from voice.web.house import House

EVERY_S = 1.0
ALIVE_EVERY = 15  # looks; a line that nobody sees keeps proxies and the browser from giving up

Stamp = tuple[int, int]


def places(vault: Path, state: Path) -> Mapping[str, Sequence[Path]]:
    """The files and folders behind each name."""
    own = vault / "society" / "jarvis"
    return {
        "notebooks": (own / "USER.md", own / "MEMORY.md"),
        "changes": (own / "changes.jsonl",),
        "reviews": (state / "reviews", state / "calls"),
        "journal": (own / "daily", own / "topics", state / "watching"),
        "events": (state / "events.db", state / "events.db-wal"),
        "settings": (config_file(),),
    }


def stamp(path: Path) -> Stamp:
    """Changes when the file does, or a file of the folder."""
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    newest, size = found.st_mtime_ns, found.st_size
    if path.is_dir():
        try:
            with os.scandir(path) as files:
                for each in files:
                    inner = each.stat(follow_symlinks=False)
                    newest, size = max(newest, inner.st_mtime_ns), size + inner.st_size
        except OSError:
            return (newest, size)
    return (newest, size)


def changed(
    watched: Mapping[str, Sequence[Path]], before: Mapping[Path, Stamp]
) -> tuple[list[str], dict[Path, Stamp]]:
    """The names whose files are others than `before`, and how they are now."""
    now = {path: stamp(path) for paths in watched.values() for path in paths}
    names = [
        name
        for name, paths in watched.items()
        if any(before.get(path, now[path]) != now[path] for path in paths)
    ]
    return names, now


async def stream(
    watched: Mapping[str, Sequence[Path]], aside: Aside, every_s: float = EVERY_S
) -> AsyncIterator[bytes]:
    seen: dict[Path, Stamp] = {}
    quiet = 0
    yield b": here\n\n"
    while True:
        before = seen
        names, seen = await aside.run(lambda known=before: changed(watched, known))  # type: ignore[misc]  # a default argument binds the loop's variable
        quiet = 0 if names else quiet + 1
        if names:
            yield f"data: {json.dumps(names)}\n\n".encode()
        elif quiet % ALIVE_EVERY == 0:
            yield b": still here\n\n"
        await asyncio.sleep(every_s)


def routes(house: House, aside: Aside) -> APIRouter:
    router = APIRouter()
    watched = places(house.config.vault, house.config.state)

    @router.get("/api/events")
    async def events() -> StreamingResponse:
        return StreamingResponse(
            stream(watched, aside), media_type="text/event-stream", headers=NEVER_KEPT
        )

    return router
