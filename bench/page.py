"""How late the page makes a call's event loop, and how soon it is painted:

    JARVIS_WEIGHTS=... python -m bench.page [--notes 1000] [--visits 2]

A real Chromium opens the page of a real house with all its models, over a filled vault and event
log. It begins a call, in which recorded speech is heard and answered over and over, and visits
every view in turn, each until it has shown what it shows; the settings with the doctor's findings.
Meanwhile the loop that carries the call is due every 5 ms, and what it is late by is counted, for
each time that it was due; once before, without the visits, too. It fails where nothing was said.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.async_api import Page

from memory import Memory
from memory.records import JournalEntry
from tests.browser import chromium, serving
from voice.audio import decode
from voice.config import Config
from voice.house import House
from voice.logs import forward_loguru, set_up
from voice.web.server import create_app

STEP_S = 0.005
SPOKEN = Path(__file__).parents[1] / "fixtures/calls/english/microphone.flac"
HEARD_HZ = 16_000
SHOWN = {
    "notebooks": ".en",
    "changes": ".ch",
    "journal": ".je",
    "search": ".hit",
    "lessons": "#view-lessons h1",
    "month": "#view-month svg",
    "settings": "#view-settings .doc li",
    "talk": "#side",
}
"""Each view, and what is there when all was fetched."""
PAUSE_MS = 1_500


def fill(memory: Memory, vault: Path, notes: int) -> None:
    """A vault of so many notes, two months of journal, a month of events, 200 changes."""
    now = datetime.now(UTC)
    folder = vault / "Notes"
    folder.mkdir()
    for n in range(notes):
        text = f"# Note {n}\n\n" + f"The boiler, the garden and the bread of week {n}. " * 40
        (folder / f"note-{n}.md").write_text(text, encoding="utf-8")
    for n in range(60):
        at = now - timedelta(days=n)
        for _ in range(4):
            memory.journal(JournalEntry(at=at, title=f"Day {n}", text="A quiet **day**."))
    for n in range(100):
        at = now - timedelta(hours=n)
        [done] = memory.remember(f"Remember that I own {n} red hats.", at, origin="spoken")
        if done.change and n:
            memory.undo(done.change, at)
    for n in range(3_000):
        memory.events.append(
            "latency",
            now - timedelta(minutes=10 * n),
            conversation=f"c{n}",
            data={"total_ms": 700 + n % 900, "stages_ms": {"pause": 250, "first_word": 400}},
        )


def speech(target: Path, seconds: int) -> None:
    """A wav file for the browser's microphone: the fixture's speech, over and over."""
    sound = decode(SPOKEN).astype("<i2").tobytes()
    times = 1 + seconds * HEARD_HZ * 2 // len(sound)
    with wave.open(str(target), "wb") as sink:
        sink.setnchannels(1)
        sink.setsampwidth(2)
        sink.setframerate(HEARD_HZ)
        sink.writeframes(sound * times)


@asynccontextmanager
async def late(into: list[float]) -> AsyncIterator[None]:
    """What this loop is late by, in milliseconds, each time that it is due while this is open.
    A loop that stands still for a second was due 200 times."""

    async def watch() -> None:
        loop = asyncio.get_running_loop()
        due_s = loop.time()
        while True:
            due_s += STEP_S
            await asyncio.sleep(due_s - loop.time())
            now_s = loop.time()
            into.append(1_000 * (now_s - due_s))
            while due_s + STEP_S <= now_s:
                due_s += STEP_S
                into.append(1_000 * (now_s - due_s))

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
        for view, shown in SHOWN.items():
            await page.evaluate("view => (location.hash = view)", view)
            await page.wait_for_selector(f"#view-{view}:not([hidden])")
            if view == "search":
                await page.fill("#search-words", "")
                await page.fill("#search-words", "the boiler of week 12")
            if view == "settings" and await page.locator(shown).count():
                await page.locator(".doctor-head button").click()
                await page.wait_for_selector(".doctor-head button:disabled", state="detached")
            await page.locator(shown).first.wait_for()
            await page.wait_for_timeout(PAUSE_MS)


def row(name: str, found: list[float]) -> str:
    parts = statistics.quantiles(found, n=1_000)
    return f"{name:32}{parts[499]:8.2f}{parts[949]:8.2f}{parts[989]:8.2f}{max(found):9.1f}{len(found):9,}"


async def measure(folder: Path, notes: int, visits: int) -> str:
    (folder / "vault").mkdir()
    house = House(
        Config(
            vault=folder / "vault", state=folder / "state", engine="local", model="small",
            language="en", record=None, watch=(),
        )
    )  # fmt: skip
    try:
        await asyncio.to_thread(fill, house.memory, house.config.vault, notes)
        await asyncio.to_thread(house.memory.index.check)
        await house.load()
        microphone = folder / "microphone.wav"
        alone_s = PAUSE_MS * len(SHOWN) / 1_000
        speech(microphone, 60 + int(alone_s) + visits * 60)
        quiet: list[float] = []
        visited: list[float] = []
        async with (
            serving(lambda port: create_app(house, port=port)) as address,
            chromium(microphone=microphone) as browser,
        ):
            context = await browser.new_context(viewport={"width": 1280, "height": 900})
            page = await context.new_page()
            paints = [await painted_ms(page, address) for _ in range(5)]
            await page.wait_for_timeout(1_000)
            await page.locator("[data-act=start]:visible").first.click()
            await page.wait_for_selector("#turns .turn.u", timeout=60_000)
            async with late(quiet):
                await page.wait_for_timeout(1_000 * alone_s)
            async with late(visited):
                await visit(page, visits)
            turns = await page.locator("#turns .turn.u").count()
            # The context goes first: a page that closes hangs up.
            await context.close()
    finally:
        await house.close()
    if turns < 2 * visits:
        raise SystemExit(f"Nothing was shown: {turns} turns were heard meanwhile.")
    return "\n".join(
        (
            f"{notes:,} notes, 60 days of journal, 200 changes, 3,000 answers in the log; "
            f"{turns} turns heard",
            f"first paint: {statistics.median(paints):.0f} ms (5 times, the slowest {max(paints):.0f})",
            "",
            f"{'event loop late by, ms':32}{'p50':>8}{'p95':>8}{'p99':>8}{'most':>9}{'due':>9}",
            row("in a call", quiet),
            row("in a call, every view visited", visited),
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--notes", type=int, default=1_000)
    parser.add_argument("--visits", type=int, default=2)
    asked = parser.parse_args()
    set_up(40)
    forward_loguru()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        print(asyncio.run(measure(Path(folder), asked.notes, asked.visits)))


if __name__ == "__main__":
    main()
