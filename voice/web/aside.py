"""What the page reads, beside the event loop that carries a call.

Two threads of their own: however much the page asks for, no turn of a call waits for a thread,
and the answer is ready as bytes when it comes back to the loop.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from fastapi import Response

from memory import brief_turns

T = TypeVar("T")

THREADS = 2
NEVER_KEPT = {"cache-control": "no-store"}


class Aside:
    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="page")

    async def run(self, work: Callable[[], T]) -> T:
        with brief_turns():
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def json(self, work: Callable[[], Any]) -> Response:
        """What `work` gives, as JSON. It raises what `work` raises."""
        body = await self.run(lambda: as_json(work()))
        return Response(body, media_type="application/json", headers=NEVER_KEPT)


def as_json(value: Any) -> bytes:
    """UTF-8; half a surrogate pair, which a file name or a paste may hold, stays escaped."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
