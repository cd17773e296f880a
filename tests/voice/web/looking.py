"""A tab that looks at a house in a real browser, and what it did besides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Browser, Page, Request, expect

from tests.browser import chromium, serving
from tests.fakes.house import FakeHouse
from voice.web.server import create_app

VIEWS = ("talk", "notebooks", "changes", "journal", "search", "lessons", "month", "settings")


class Visit:
    def __init__(self, page: Page, house: FakeHouse, address: str) -> None:
        self.page = page
        self.house = house
        self.address = address
        self.elsewhere: list[str] = []
        self.complaints: list[str] = []
        page.on("request", self._requested)
        page.on("pageerror", lambda fault: self.complaints.append(str(fault)))
        page.on(
            "console",
            lambda said: (
                self.complaints.append(said.text) if said.type in ("error", "warning") else None
            ),
        )

    def _requested(self, request: Request) -> None:
        if not request.url.startswith(self.address):
            self.elsewhere.append(request.url)

    async def look(self, view: str = "talk") -> None:
        await self.page.goto(f"{self.address}/#{view}")
        await expect(self.page.locator("#fact-files .mono")).to_have_count(1)

    async def to(self, view: str) -> None:
        """By its key, as a person does."""
        await self.page.keyboard.press(f"Control+{VIEWS.index(view) + 1}")
        await self.there(view)

    async def there(self, view: str) -> None:
        await expect(self.page.locator(f"#view-{view}")).to_be_visible()

    async def state(self, state: str) -> None:
        await expect(self.page.locator("body")).to_have_attribute("data-state", state)

    async def start(self) -> None:
        await self.page.locator("[data-act=start]:visible").first.click()
        await self.state("listening")

    def publish(self, *events: Any) -> None:
        for event in events:
            self.house.calls[-1].transport.publish(event)

    async def until(self, happened: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not happened():
                await self.page.evaluate("new Promise(requestAnimationFrame)")

    @property
    def folder(self) -> str:
        return str(self.house.config.vault / "society" / "jarvis")

    def text(self, name: str = "USER.md") -> str:
        path = self.house.config.vault / "society" / "jarvis" / name
        return path.read_text(encoding="utf-8")

    def write(self, text: str, name: str = "USER.md") -> None:
        path = self.house.config.vault / "society" / "jarvis" / name
        path.write_text(text, encoding="utf-8")


_browsers: list[Browser] = []


@asynccontextmanager
async def one_browser() -> AsyncIterator[None]:
    """While this is open it is the browser of all visits. It asks for the microphone, and each visit
    has its own answer, and nothing that an earlier one left."""
    async with chromium(refuse_microphone=True) as browser:
        _browsers.append(browser)
        yield
        _browsers.remove(browser)


@asynccontextmanager
async def visiting(
    *, refuse_microphone: bool = False, screen: dict[str, Any] | None = None, **house: Any
) -> AsyncIterator[Visit]:
    """A house, a server before it and a browser that looks at it; nothing may be complained
    about, and nothing asked of anybody else."""
    shown = FakeHouse(**house)
    permissions = [] if refuse_microphone else ["microphone"]
    async with serving(lambda port: create_app(shown, port=port)) as address:
        context = await _browsers[0].new_context(
            **{"locale": "en-GB", "permissions": permissions, **(screen or {})}
        )
        context.set_default_timeout(10_000)
        try:
            visit = Visit(await context.new_page(), shown, address)
            await visit.look()
            yield visit
        finally:
            await context.close()
            await shown.close()
        assert visit.elsewhere == []
        assert visit.complaints == []
