"""How late the page makes a call's event loop, and how soon it is painted:

    python -m bench.page [--notes 1000] [--visits 2]

A real Chromium opens the page over a filled vault and event log, begins a call (sound both ways,
without models) and visits every view in turn. Meanwhile the loop that carries the call asks every
5 ms to be woken, and what it is late by is counted; once before, without the visits, too.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from playwright.async_api import Page

from memory.records import JournalEntry
from tests.browser import chromium, serving
from tests.fakes.house import FakeHouse
from voice.web.server import create_app

STEP_S = 0.005
VIEWS = ("notebooks", "changes", "journal", "search", "lessons", "month", "settings", "talk")
PAUSE_MS = 1_500


def fill(house: FakeHouse, notes: int) -> None:
    """A vault of so many notes, two months of journal, a month of events, 200 changes."""
    now = datetime.now(UTC)
    folder = house.config.vault / "Notes"
    folder.mkdir()
    for n in range(notes):
        text = f"# Note {n}\n\n" + f"The boiler, the garden and the bread of week {n}. " * 40
        (folder / f"note-{n}.md").write_text(text, encoding="utf-8")
    for n in range(60):
        at = now - timedelta(days=n)
        for _ in range(4):
            house.memory.journal(JournalEntry(at=at, title=f"Day {n}", text="A quiet **day**."))
    for n in range(100):
        at = now - timedelta(hours=n)
        [done] = house.memory.remember(f"Remember that I own {n} red hats.", at, origin="spoken")
        if done.change:
            house.memory.undo(done.change, at)
    for n in range(3_000):
        house.memory.events.append(
            "latency",
            now - timedelta(minutes=10 * n),
            conversation=f"c{n}",
            data={"total_ms": 700 + n % 900, "stages_ms": {"pause": 250, "first_word": 400}},
        )


@asynccontextmanager
async def late(into: list[float]) -> AsyncIterator[None]:
    """What this loop is late by, in milliseconds, while this is open."""

    async def watch() -> None:
        loop = asyncio.get_running_loop()
        while True:
            due_s = loop.time() + STEP_S
            await asyncio.sleep(STEP_S)
            into.append(1_000 * (loop.time() - due_s))

    task = asyncio.create_task(watch())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def painted_ms(page: Page, address: str) -> float:
    await page.goto(address)
    await page.wait_for_function(
        "performance.getEntriesByName('first-contentful-paint').length > 0"
    )
    found: float = await page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    )
    return found


async def visit(page: Page, times: int) -> None:
    for _ in range(times):
        for view in VIEWS:
            await page.evaluate("view => (location.hash = view)", view)
            await page.wait_for_selector(f"#view-{view}:not([hidden])")
            if view == "search":
                await page.fill("#search-words", "the boiler of week 12")
            await page.wait_for_timeout(PAUSE_MS)


def row(name: str, found: list[float]) -> str:
    parts = statistics.quantiles(found, n=1_000)
    return f"{name:32}{parts[499]:8.2f}{parts[949]:8.2f}{parts[989]:8.2f}{max(found):9.1f}{len(found):9,}"


async def measure(notes: int, visits: int) -> str:
    house = FakeHouse(tone_s=600)
    fill(house, notes)
    house.memory.index.check()  # as the house does when serving starts
    quiet: list[float] = []
    visited: list[float] = []
    async with serving(lambda port: create_app(house, port=port)) as address, chromium() as browser:
        context = await browser.new_context(viewport={"width": 1280, "height": 900})
        page = await context.new_page()
        paints = [await painted_ms(page, address) for _ in range(5)]
        await page.wait_for_timeout(1_000)
        await page.locator("[data-act=start]:visible").first.click()
        await page.wait_for_selector("body[data-state=listening]")
        await house.calls[-1].beep.hears.wait()
        async with late(quiet):
            await page.wait_for_timeout(PAUSE_MS * len(VIEWS))
        async with late(visited):
            await visit(page, visits)
        # The context goes first: a page that closes hangs up.
        await context.close()
    await house.close()
    return "\n".join(
        (
            f"{notes:,} notes, 60 days of journal, 200 changes, 3,000 answers in the log",
            f"first paint: {statistics.median(paints):.0f} ms (5 times, the slowest {max(paints):.0f})",
            "",
            f"{'event loop late by, ms':32}{'p50':>8}{'p95':>8}{'p99':>8}{'most':>9}{'samples':>9}",
            row("in a call", quiet),
            row("in a call, every view visited", visited),
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=1_000)
    parser.add_argument("--visits", type=int, default=2)
    asked = parser.parse_args()
    print(asyncio.run(measure(asked.notes, asked.visits)))


if __name__ == "__main__":
    main()
