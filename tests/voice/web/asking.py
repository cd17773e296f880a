"""The page's app asked as a browser asks, without one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from tests.fakes.house import FakeHouse
from voice.web.server import create_app

ADDRESS = "http://127.0.0.1:8765"
SAME = {"origin": ADDRESS}


class Asker:
    """Asks one house. A failure is an answer as well."""

    def __init__(self, house: FakeHouse, client: httpx.AsyncClient) -> None:
        self.house = house
        self.client = client

    async def get(self, path: str) -> httpx.Response:
        return await self.client.get(path)

    async def post(self, path: str, body: Any) -> httpx.Response:
        return await self.client.post(path, json=body, headers=SAME)

    async def json(self, path: str) -> Any:
        answer = await self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def write(self, name: str, text: str) -> None:
        path = self.house.config.vault / "society" / "jarvis" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def text(self, name: str) -> str:
        path = self.house.config.vault / "society" / "jarvis" / name
        return path.read_text(encoding="utf-8")


@asynccontextmanager
async def asking(**house: Any) -> AsyncIterator[Asker]:
    shown = FakeHouse(**house)
    transport = httpx.ASGITransport(create_app(shown, port=8765))
    try:
        async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as client:
            yield Asker(shown, client)
    finally:
        await shown.close()
