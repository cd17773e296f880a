"""Every act of the page by keys alone, in a real Chromium: what Tab reaches, that one sees where one
is, and that no act leaves a person nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import expect

from tests.browser import needs_chromium
from tests.fakes.house import turn
from tests.voice.web.looking import VIEWS, Visit, visiting
from tests.voice.web.test_views import fill, remember
from voice.records import StateChanged, TurnAdded

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.usefixtures("a_browser")]


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.toml"
    monkeypatch.setenv("JARVIS_CONFIG", str(path))
    return path


READY = {
    "talk": "#fact-files .mono", "notebooks": ".nb", "changes": ".ch", "journal": ".je",
    "search": ".hit", "lessons": ".li", "month": ".sum", "settings": ".doc li",
}  # fmt: skip
"""What is there when a view is."""

UNREACHED = """() => {
  const shown = it => it.checkVisibility({visibilityProperty: true}) && !it.disabled && it.tabIndex >= 0;
  const one = it => it.type !== "radio" || it.checked;
  return [...document.querySelectorAll("button, a[href], input, select, textarea, summary")]
    .filter(it => shown(it) && one(it) && !window.met.has(it.outerHTML)).map(it => it.outerHTML.slice(0, 90));
}"""

STEP = """() => {
  const it = document.activeElement;
  if (it === document.body || it.classList.contains("skip")) return "round";
  window.met.add(it.outerHTML); // a view that is drawn anew meanwhile has other elements
  const box = it.getBoundingClientRect();
  const ring = getComputedStyle(it);
  const seen = box.width > 0 && (ring.outlineStyle !== "none" && parseFloat(ring.outlineWidth) >= 2);
  return seen ? "" : `no ring: ${it.outerHTML.slice(0, 90)}`;
}"""

HERE = "document.activeElement.outerHTML.slice(0, 120)"


async def walked(visit: Visit) -> list[str]:
    """What Tab doesn't reach from the top of the page, or reaches without a sign."""
    page = visit.page
    await page.locator("#skip").focus()
    await page.evaluate("window.met = new Set([document.activeElement.outerHTML])")
    found = []
    for _ in range(150):
        await page.keyboard.press("Tab")
        told = await page.evaluate(STEP)
        if told == "round":
            break
        if told:
            found.append(told)
    return [*found, *await page.evaluate(UNREACHED)]


@pytest.mark.parametrize("width", [1280, 360])
async def test_tab_reaches_everything(width: int) -> None:
    """On every view each control is reached by Tab, and a ring shows where one is."""
    async with visiting(screen={"viewport": {"width": width, "height": 800}}) as visit:
        page = visit.page
        fill(visit.house)
        for view in VIEWS:
            await visit.to(view)
            if view == "search":
                await page.keyboard.type("boiler")
            await expect(page.locator(READY[view]).first).to_be_visible()
            assert await walked(visit) == [], view


ACTS: dict[str, tuple[str, str, str, str]] = {
    # view, what has the focus, the key, where it is then
    "undo of an entry": ("notebooks", ".en button", "Enter", ".en.gone button"),
    "put it back": ("notebooks", ".en.gone button", "Enter", ".en"),
    "undo in the log": ("changes", "button[aria-label='Undo: I like green tea.']", "Enter", ".ch"),
    "a kind of change": ("changes", ".seg button >> nth=1", "Enter", ".seg button >> nth=1"),
    "leave the editor": ("notebooks", "[data-edit='USER.md']", "e", "#ed-USER\\.md"),
    "a lesson": ("lessons", ".li >> nth=1", "Space", ".li >> nth=1"),
    "forgotten ones": ("lessons", ".seg button >> nth=1", "Enter", ".seg button >> nth=1"),
    "reflect": ("lessons", "[data-key=reflect]", "Enter", "[data-key=reflect]"),
    "think": ("journal", "[data-key=think]", "Enter", "[data-key=think]"),
    "where to search": ("search", ".seg button >> nth=2", "Enter", ".seg button >> nth=2"),
    "a switch": ("settings", "#set-learning", "Space", "#set-learning"),
    "light or dark": ("settings", "[data-key$=' dark']", "Enter", "[data-key$=' dark']"),
    "check again": ("settings", ".doctor-head button", "Enter", ".doctor-head button"),
}
"""Acts on a view, in the order in which they are done."""


DRAWN_ANEW = """new Promise(done => {
  const look = () => window.was.isConnected ? requestAnimationFrame(look) : done();
  look();
})"""


async def test_the_focus_stays() -> None:
    """After an act the focus is on the same control, or on what took its place."""
    async with visiting() as visit:
        page = visit.page
        fill(visit.house)
        for name, (view, control, key, then) in ACTS.items():
            await visit.to(view)
            root = page.locator(f"#view-{view}")
            await root.locator(control).first.focus()
            await page.evaluate("window.was = document.activeElement")
            await page.keyboard.press(key)
            await page.evaluate(DRAWN_ANEW)
            there = root.locator(then).and_(page.locator(":focus"))
            await expect(there, name).to_have_count(1)


async def test_dialogs_give_the_focus_back() -> None:
    """What opened a dialog has the focus when it is closed; inside, Tab stays inside."""
    async with visiting() as visit:
        page = visit.page
        fill(visit.house)
        await visit.to("settings")
        opener = page.get_by_role("button", name="Show what would go")
        await opener.focus()
        await page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_role("button", name="Keep everything")).to_be_focused()
        for _ in range(8):
            await page.keyboard.press("Tab")
            inside = "document.activeElement.closest('dialog') || document.activeElement === document.body"
            assert await page.evaluate(f"Boolean({inside})")
        await page.keyboard.press("Escape")
        await expect(opener).to_be_focused()
        await page.locator(".foot .keys").focus()
        await page.keyboard.press("Enter")
        await expect(dialog).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.locator(".foot .keys")).to_be_focused()
        await opener.focus()
        await page.keyboard.press("Enter")
        await dialog.get_by_role("textbox").fill("wipe")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(dialog).to_contain_text("Jarvis knows nothing about you now")
        await page.keyboard.press("Enter")
        await expect(dialog).to_be_hidden()
        await expect(opener).to_be_focused()


async def test_a_call_by_keys() -> None:
    """Start, mute, stop, type, undo, put back, hang up, start again; nothing but keys."""
    async with visiting() as visit:
        page = visit.page
        await page.get_by_role("button", name="Start talking").focus()
        await page.keyboard.press("Enter")
        await visit.state("listening")
        await expect(page.locator("#scroll")).to_be_focused()
        saved = remember(visit.house, "Remember that I like tea.")
        visit.publish(
            TurnAdded(turn=turn(0, "user", "Remember that I like tea.")),
            saved,
            StateChanged(state="speaking"),
        )
        card = page.locator(".note.ok")
        await card.get_by_role("button", name="Undo").focus()
        await page.keyboard.press("Enter")
        await expect(card.get_by_role("button", name="Put it back")).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(card).to_contain_text("Saved in USER.md")
        await page.keyboard.press("Control+3")
        await visit.there("changes")
        await page.keyboard.press("m")
        await expect(page.locator("#strip-mute")).to_have_text("Unmute")
        await page.keyboard.press("Control+Enter")
        await visit.state("idle")
        await page.keyboard.press("1")
        await visit.there("talk")
        await expect(page.locator("#main")).to_be_focused()
        await page.locator("#again").focus()
        await page.keyboard.press("Enter")
        await visit.state("listening")
        await page.locator("#hang").focus()
        await page.keyboard.press("Enter")
        await visit.state("idle")
        await expect(page.locator("#again")).to_be_focused()


LIVE: dict[str, tuple[Literal["status", "alert", "log"], str]] = {
    "#say": ("status", "polite"),
    "#shout": ("alert", "assertive"),
    "[role=log]": ("log", "polite"),
}


async def test_what_a_screen_reader_hears() -> None:
    """Finished turns go into a log, states that can't be heard are said, a lost line is shouted; what
    is half said is not spoken; every view is named where one comes to it."""
    async with visiting() as visit:
        page = visit.page
        for selector, (role, live) in LIVE.items():
            region = page.locator(selector)
            await expect(region).to_have_role(role)
            assert await region.get_attribute("aria-live") in (None, live)
        await expect(page.locator("#now")).to_have_attribute("aria-live", "off")
        say, shout = page.locator("#say"), page.locator("#shout")
        await visit.start()
        await expect(say).to_have_text("Listening")
        await page.evaluate(
            """window.shown = "disconnected";
               Object.defineProperty(RTCPeerConnection.prototype, "connectionState",
                 {get: () => window.shown})"""
        )
        await expect(shout).to_contain_text("Reconnecting")
        await page.evaluate("window.shown = 'connected'")
        await visit.state("listening")
        for view, name in (("changes", "Changes"), ("month", "Month"), ("talk", "Talk")):
            await visit.to(view)
            await expect(say).to_have_text(name)
            await expect(page.locator("#main")).to_be_focused()
            await expect(
                page.locator(f"#view-{view}").get_by_role("heading", level=1)
            ).to_have_count(1)
