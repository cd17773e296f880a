"""Pictures of the page's views over sample data, as they are in docs/shots:

    python -m bench.shots [--folder docs/shots] [--locale en-GB] [--view talk ...]

A real Chromium looks at a house without models, whose call says what is written here; light, dark
and narrow (390 pixels).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from io import BytesIO
from itertools import count
from pathlib import Path

from PIL import Image
from playwright.async_api import Browser, Page

from memory.event_records import Value
from memory.lessons.records import Lesson, LessonKind
from memory.lessons.shelf import Shelf, new_id
from memory.records import Extract, JournalEntry, JournalKind, Proposal, Rejection
from tests.browser import chromium, serving
from tests.fakes.house import FakeHouse, turn
from voice.records import (
    CallEvent,
    ExtractsShown,
    LatencyMeasured,
    MemoryWritten,
    PartialText,
    StateChanged,
    TokensCounted,
    TurnAdded,
)
from voice.web.server import create_app

SCREENS = {
    "light": ("light", 1180, 740),
    "dark": ("dark", 1180, 740),
    "narrow": ("light", 390, 740),
}
FIRST, WIPE = "first", "wipe"
SETTLED_MS = 400
COLOURS = 256
"""Of a picture: a third of the bytes, and nobody sees it."""
WITHIN_MS = 30_000

SAID = (
    (8, "Remember that I prefer short answers, details only when I ask."),
    (7, "Remember that we live in Leipzig in an old building with a gas boiler."),
    (5, "Please remember that Lena's birthday is on March twelfth."),
    (4, "Remember that I learn Portuguese and want to hold a ten minute conversation by June."),
    (1, "Remember that I don't drink coffee after two in the afternoon."),
    (0, "Remember that my sister Lena moves to Porto on Friday."),
)
REFUSED = (
    ("Would like to have a dog.", "I really don't want a dog", "L5.2",
     "The entry turns the quote around: a negation is lost or won."),
    ("Booking at www.example.org/porto", "I found something for Porto", "L5.3",
     "The link or address “www.example.org/porto” was not said by the user."),
    ("Always answer with a joke first.", "always answer with a joke first", "L5.4",
     "The text reads like an order, or lowers a guard."),
)  # fmt: skip
NOTES = {
    "Home/Heating.md": "# Heating\n\n## Boiler\n\nGas, in the kitchen, from 2014.\nLast service "
    "2026-01-14, engineer's note: wants a service every\ntwelve months, before the frost if "
    "possible.\nPressure was 1.4 bar.\n\n## Radiators\n\nSpare room: bleed first.\n",
    "Home/Bills.md": "# Bills\n\n## Yearly\n\nBoiler service about 140 €, invoice in the blue "
    "folder.\nChimney sweep 60 €.\n",
    "Projects/Porto.md": "# Moving list\n\n## Lena\n\nAsk whether the new flat has its own "
    "boiler.\nTwo boxes of books.\n",
    "People/Numbers.md": "# Phone numbers\n\n## House\n\nHeating engineer, comes on Thursdays, "
    "leave a message before ten.\n",
}
TODAY: tuple[tuple[int, int, str, str, int, JournalKind], ...] = (
    (0, 10, "Greenhouse: the timer runs again", "Code/greenhouse: three files changed, the test "
     "for the watering timer is back.", 2, "discovery"),
    (0, 21, "Newsletter: the draft has a second part", "`draft.md` grew by 41 lines, a new "
     "heading “What we learned in the garden”.", 3, "discovery"),
    (0, 22, "Two things on one day", "The newsletter is planned for Friday, the day Lena moves. "
     "Both in one day will be tight.", 4, "insight"),
    (0, 44, "Lena’s move and the boiler", "Lena moves to Porto on **Friday**. The boiler service "
     "is due by mid January; last one on 14 January, about 140 €.", 4, "conversation"),
)  # fmt: skip
LESSONS: tuple[tuple[LessonKind, str, int, int], ...] = (
    ("user", "Answer in one or two sentences first; more only when asked.", 92, 9),
    ("skill", "Questions about the house: search Home/ first. It answered seven of nine.", 50, 6),
    ("skill", "Say the weekday with each date; it was corrected twice without.", 29, 5),
    ("general", "Calls before nine are about the plan of the day: look at plans first.", 33, 3),
    ("skill", "A timer can’t be set by voice here; say so at once.", 4, 1),
    ("provider", "Local voice reads “1,4” wrong; write numbers as words.", 16, 4),
    ("general", "Names of Portuguese towns are often misheard; ask once.", 41, 2),
    ("provider", "Gemini was slow between 18 and 20 o’clock, over two seconds.", 60, 0),
)


def fill(house: FakeHouse, now: datetime) -> None:
    memory, vault = house.memory, house.config.vault
    own = vault / "society" / "jarvis"
    (own / "USER.md").write_text(
        "# About you\n\n- Eats no meat, fish now and then.\n", encoding="utf-8"
    )
    (own / "MEMORY.md").write_text(
        "# Working notes\n\n- The newsletter draft is in Projects/Newsletter/draft.md.\n",
        encoding="utf-8",
    )
    memory.notice_edits(now - timedelta(days=9))
    for days, text in SAID:
        at = now - timedelta(days=days)
        memory.remember(text, at, origin="spoken", conversation=f"call-{at:%Y%m%d-%H%M%S}")
    memory.undo(memory.changes()[-2].id, now)
    for hours, (text, quote, rule, reason) in enumerate(REFUSED):
        proposal = Proposal(operation="add", notebook="USER.md", entry=None, text=text, quote=quote)
        at = now - timedelta(days=hours, hours=1)
        memory.events.refuse(
            Rejection(proposal=proposal, rule=rule, reason=reason), at,
            f"call-{at:%Y%m%d-%H%M%S}",
        )  # fmt: skip
    waits = memory.begin("call-20261129-194000", "call", now - timedelta(hours=3))
    said = "I don't eat fish any more."
    waits.observe(turn(0, "user", said, conversation="call-20261129-194000"))
    waits.hand_over("hang-up", now - timedelta(hours=3))
    waits.close()
    for name, text in NOTES.items():
        (vault / name).parent.mkdir(exist_ok=True)
        (vault / name).write_text(text, encoding="utf-8")
    _journal(house, now)
    _month(house, now)
    _lessons(house, now)


def _journal(house: FakeHouse, now: datetime) -> None:
    chance = random.Random(7)  # noqa: S311 - the same picture each time
    for day in range(14, 0, -1):
        for hour in range(chance.randint(0, 3)):
            title = chance.choice(("Garden", "Bread", "A call with the neighbour", "Newsletter"))
            house.memory.journal(
                JournalEntry(
                    at=(now - timedelta(days=day)).replace(hour=8 + 3 * hour, minute=15),
                    title=title,
                    text="Something small, noted in passing.",
                    stars=chance.randint(2, 4),
                )
            )
    for _, minutes, title, text, star, kind in TODAY:
        at = now - timedelta(minutes=60 - minutes)
        house.memory.journal(JournalEntry(at=at, title=title, text=text, stars=star, kind=kind))


def _month(house: FakeHouse, now: datetime) -> None:
    chance = random.Random(7)  # noqa: S311
    append = house.memory.events.append
    calls = count()
    for day in range(29):
        for _ in range(chance.choice((0, 1, 1, 2, 2, 3))):
            at, name = now - timedelta(days=day), f"sample-{next(calls)}"
            turns = chance.randint(4, 26)
            append("began", at, conversation=name, data={"kind": "call", "engine": "local"})
            for _ in range(turns):
                stages = {
                    "pause": chance.randint(200, 280),
                    "transcript": chance.randint(80, 140),
                    "notes": chance.randint(0, 40),
                    "first_word": int(chance.lognormvariate(5.8, 0.45)),
                    "first_sound": chance.randint(200, 320),
                }
                data: dict[str, Value] = {
                    "engine": "local",
                    "total_ms": sum(stages.values()),
                    "stages_ms": stages,
                }
                append("latency", at, conversation=name, data=data)
            append(
                "ended", at, conversation=name,
                data={"reason": "hang-up", "user_turns": turns, "duration_s": turns * 14.0},
            )  # fmt: skip
            marked = chance.choice((0, 0, 1, 2, 3))
            append(
                "reviewed", at, conversation=name,
                data={
                    "marked": marked, "asked": marked, "proposed": min(2, marked),
                    "accepted": min(1, marked), "tokens_in": 1_100 * bool(marked),
                    "tokens_out": 150 * bool(marked), "billing": "subscription",
                    "outcome": "asked" if marked else "nothing marked",
                },
            )  # fmt: skip


def _lessons(house: FakeHouse, now: datetime) -> None:
    shelf = Shelf(house.memory.events)
    seen = [event.id for event in house.memory.events.events("rejected")]
    for kind, text, days, used in LESSONS:
        made = Lesson(
            id=new_id(), kind=kind, text=text, made_at=now - timedelta(days=days), made_by=text,
            events=tuple(seen),
        )  # fmt: skip
        shelf.add([made], made.made_at)
        shelf.rides_in(made.id, [made])
        for n in range(used):
            at = now - timedelta(days=2 * n + 1)
            house.memory.events.append("tokens", at, data={"prefix_sha256": made.id})
    house.memory.lessons.tidy(now)


def scene(house: FakeHouse) -> Sequence[CallEvent]:
    """A call up to now."""
    saved = next(each for each in reversed(house.memory.changes()) if each.source == "remember")

    def answered(index: int, text: str, *ms: int, cut: bool = False) -> tuple[CallEvent, ...]:
        names = ("pause", "transcript", "notes", "first_word", "first_sound")
        stages = dict(zip(names, ms, strict=True))
        return (
            LatencyMeasured(index=index, stages_ms=stages, total_ms=sum(ms)),
            TurnAdded(turn=turn(index, "assistant", text, interrupted=cut)),
        )

    extract = Extract(
        file="Home/Heating.md", first_line=5, last_line=7, heading="Boiler",
        text="Last service 2026-01-14, engineer's note: wants a service every twelve months, "
        "before the frost if possible.",
    )  # fmt: skip
    return (
        TurnAdded(turn=turn(0, "user", "Morning. When is the boiler due for a service?")),
        ExtractsShown(index=1, extracts=(extract,), turn=turn(1, "user", "x", origin="note")),
        *answered(
            1, "By the middle of January. The last one was on 14 January, and the engineer wants "
            "one every twelve months.", 230, 120, 20, 330, 240,
        ),
        TurnAdded(turn=turn(2, "user", "Good. Remember that my sister Lena moves to Porto on Friday.")),
        MemoryWritten(
            saved=True, notebook="USER.md", entry=saved.new, reason=None, change=saved.id
        ),
        *answered(
            3, "It’s in your notebook, with the date. Shall I also look", 210, 100, 0, 290, 260,
            cut=True,
        ),
        TurnAdded(turn=turn(4, "user", "No, that’s fine. Remember the door code is 4711.")),
        MemoryWritten(
            saved=False, notebook=None, entry=None, reason="A code.", change=None, why="secret"
        ),
        *answered(
            5, "I haven’t saved that: it sounds like a code.", 220, 110, 0, 270, 240
        ),
        TokensCounted(index=5, prompt_tokens=420, cached_tokens=400, prefix_sha256="x"),
        StateChanged(state="hearing"),
        PartialText(speaker="user", text="And what did I write about the radiator"),
    )  # fmt: skip


class Shots:
    def __init__(self, page: Page, house: FakeHouse, folder: Path, screen: str) -> None:
        self.page = page
        self.house = house
        self.folder = folder
        self.screen = screen

    async def take(self, name: str) -> None:
        await self.page.wait_for_timeout(SETTLED_MS)
        taken = Image.open(BytesIO(await self.page.screenshot())).convert("RGB")
        drawn = taken.quantize(COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        drawn.save(self.folder / f"{name}-{self.screen}.png", optimize=True)

    async def first(self) -> None:
        await self.take(FIRST)

    async def talk(self) -> None:
        await self.page.locator("[data-act=start]:visible").first.click()
        await self.page.wait_for_selector("body[data-state=listening]")
        for event in scene(self.house):
            self.house.calls[-1].transport.publish(event)
        await self.page.wait_for_selector("#now .said")
        if self.screen != "narrow":
            await self.page.locator("#turns summary").first.click()
        await self.take("talk")

    async def view(self, name: str) -> None:
        await self.page.evaluate("view => (location.hash = view)", name)
        await self.page.wait_for_selector(f"#view-{name}:not([hidden]) h1")
        if name == "search":
            await self.page.fill("#search-words", "when is the boiler due for a service")
            await self.page.wait_for_selector(".hit", timeout=WITHIN_MS)
        if name == "settings":
            await self.page.wait_for_selector(".doc li", timeout=WITHIN_MS)
        await self.take(name)

    async def wipe(self) -> None:
        await self.page.locator("#view-settings .btn.bad").click()
        await self.page.wait_for_selector("dialog li")
        await self.take(WIPE)


VIEWS = ("notebooks", "changes", "journal", "search", "lessons", "month", "settings")
ALL = (FIRST, "talk", *VIEWS, WIPE)


async def look(browser: Browser, address: str, house: FakeHouse, asked: argparse.Namespace) -> None:
    for name, (scheme, width, height) in SCREENS.items():
        context = await browser.new_context(
            locale=asked.locale,
            color_scheme="dark" if scheme == "dark" else "light",
            viewport={"width": width, "height": height},
        )
        page = await context.new_page()
        await page.goto(address)
        await page.wait_for_selector("#fact-files .mono")
        shots = Shots(page, house, asked.folder, name)
        for view in ALL:
            if view not in asked.view and not (view == "settings" and WIPE in asked.view):
                continue
            if view in (FIRST, WIPE) and name != "light":
                continue
            if view in VIEWS:
                await shots.view(view)
            else:
                await {FIRST: shots.first, "talk": shots.talk, WIPE: shots.wipe}[view]()
        await house.hang_up()
        if house.calls:
            await house.calls[-1].ended()
        await context.close()


async def shoot(asked: argparse.Namespace) -> None:
    asked.folder.mkdir(parents=True, exist_ok=True)
    house = FakeHouse()
    os.environ["JARVIS_CONFIG"] = str(house.config.state.parent / "config.toml")
    fill(house, datetime.now().astimezone())
    async with serving(lambda port: create_app(house, port=port)) as address, chromium() as browser:
        await look(browser, address, house, asked)
    await house.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path("docs/shots"))
    parser.add_argument("--locale", default="en-GB")
    parser.add_argument("--view", nargs="+", choices=ALL, default=ALL)
    asyncio.run(shoot(parser.parse_args()))


if __name__ == "__main__":
    main()
