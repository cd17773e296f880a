"""What a person does on the page besides talking, in a real Chromium over a real memory."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import axe_playwright_python  # type: ignore[import-untyped]  # it ships no types
import pytest
from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from playwright.async_api import expect

from memory.lessons.records import Lesson
from memory.records import Extract, JournalEntry, Proposal, Rejection
from tests.browser import needs_chromium, serving
from tests.fakes.house import STATUS, FakeHouse, turn
from tests.voice.web.looking import VIEWS, Visit, visiting
from voice.config import load
from voice.hearing.barge_in import _HALF_DUPLEX
from voice.records import (
    EngineChanged,
    EngineDescription,
    ExtractsShown,
    MemoryForgotten,
    MemoryWritten,
    Notice,
    PartialText,
    StateChanged,
    TurnAdded,
)
from voice.web.server import STATIC

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.usefixtures("a_browser")]

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.toml"
    monkeypatch.setenv("JARVIS_CONFIG", str(path))
    return path


def put(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def now() -> datetime:
    return datetime.now(UTC)


def remember(house: FakeHouse, said: str) -> MemoryWritten:
    """It is written; the event is the one that a call tells."""
    [done] = house.memory.remember(said, now(), origin="spoken")
    return MemoryWritten(
        saved=True, notebook=done.notebook, entry=done.entry, reason=None, change=done.change
    )


def fill(house: FakeHouse) -> None:
    """Something in every view."""
    memory = house.memory
    (house.config.vault / "Heating.md").write_text(
        "# Heating\n\n## Boiler\n\nLast service in January.\n", encoding="utf-8"
    )
    memory.remember("Remember that I like green tea.", now(), origin="spoken", conversation="c1")
    memory.remember("Remember that I live in Leipzig.", now(), origin="spoken", conversation="c1")
    memory.undo(memory.changes()[-1].id, now())
    proposal = Proposal(
        operation="add", notebook="USER.md", entry=None, text="Has a dog.", quote="not a dog, no"
    )
    memory.events.refuse(
        Rejection(proposal=proposal, rule="L5.2", reason="The quote speaks of another person."),
        now(),
        "c1",
    )
    memory.journal(JournalEntry(at=now(), title="The boiler", text="It is **old**.", stars=4))
    memory.journal(JournalEntry(at=now(), title="Two", text="Both at once.", kind="insight"))
    teach(house)
    for n in range(12):
        at = now() - timedelta(minutes=n)
        memory.events.append("began", at, conversation=f"c{n}", data={"kind": "call"})
        memory.events.append(
            "latency",
            at,
            conversation=f"c{n}",
            data={"total_ms": 700 + 90 * n, "stages_ms": {"pause": 200, "first_word": 400}},
        )
        memory.events.append("ended", at, conversation=f"c{n}", data={"user_turns": 9})


def teach(house: FakeHouse) -> None:
    """Two lessons that live, one of them from what happened, and one that was taken out."""
    reason = "it holds a password, and Jarvis keeps no secrets."
    for _ in range(2):
        house.memory.events.append("remembered", now(), data={"saved": False, "reason": reason})
    ids = tuple(event.id for event in house.memory.events.events("remembered"))
    for name, text, days in (("a", SHORT, 3), ("b", "Riddles are cut short.", 9), ("c", GONE, 5)):
        made = now() - timedelta(days=days)
        lesson = Lesson(
            id=name * 8, kind="user", text=text, made_at=made, made_by="x",
            events=ids if name == "a" else (),
        )  # fmt: skip
        house.memory.lessons.shelf.add([lesson], made)
    house.memory.lessons.drop("c" * 8, now())


SHORT = "Long answers are interrupted in the evening."
GONE = "Numbers are better given in a list."


async def test_keys_lead_to_every_view() -> None:
    """Ctrl and a digit, Alt and a digit, the digit alone; not while somebody types."""
    async with visiting() as visit:
        page = visit.page
        for n, view in enumerate(VIEWS, start=1):
            for chord in (f"Control+{n}", f"Alt+{n}", str(n)):
                await page.evaluate("location.hash = '#talk'")
                await visit.there("talk")
                await page.locator("#main").focus()
                await page.keyboard.press(chord)
                await visit.there(view)
        await expect(page.locator("#nav [aria-current]")).to_have_text(re.compile("Settings"))
        await visit.to("talk")
        await page.keyboard.press("/")
        await page.keyboard.type("3")
        await expect(page.locator("#text")).to_have_value("3")
        await visit.there("talk")


async def test_remembered_undone_and_put_back() -> None:
    """“Saved” stands under the turn with undo beside it; what is undone is off the disk."""
    async with visiting() as visit:
        page = visit.page
        await visit.start()
        saved = remember(visit.house, "Remember that I like tea.")
        visit.publish(
            TurnAdded(turn=turn(0, "user", "Remember that I like tea.")),
            saved,
            MemoryWritten(
                saved=False, notebook=None, entry=None, reason="English.", change=None, why="secret"
            ),
        )
        card = page.locator(".note.ok")
        await expect(card).to_contain_text("Saved in USER.md")
        await expect(card).to_contain_text("I like tea.")
        await expect(page.locator(".note.no")).to_contain_text("no code, password or key")
        await page.locator("#scroll").focus()
        await page.keyboard.press("u")
        await expect(card).to_contain_text("Taken back")
        assert "tea" not in visit.text()
        await card.get_by_role("button", name="Put it back").click()
        await expect(card).to_contain_text("Saved in USER.md")
        assert "I like tea." in visit.text()
        await card.get_by_role("button", name="Show").click()
        await visit.there("notebooks")
        await expect(page.locator(".en")).to_contain_text("I like tea.")
        await expect(page.locator("#strip")).to_contain_text("Listening")
        await page.locator("#strip").get_by_role("button", name="Hang up").click()
        await visit.state("idle")
        await expect(page.locator("#strip")).to_be_hidden()


async def test_forgotten_and_put_back() -> None:
    """What was forgotten by voice is shown as what is saved, with undo beside it."""
    async with visiting() as visit:
        page = visit.page
        await visit.start()
        visit.house.memory.remember("Remember that I like tea.", now(), origin="spoken")
        [gone] = visit.house.memory.forget("I like tea.", now())
        visit.publish(
            PartialText(speaker="user", text="Forget that I like tea."),
            MemoryForgotten(notebook=gone.notebook, entry=gone.old or "", change=gone.id),
            TurnAdded(turn=turn(0, "user", "Forget that I like tea.")),
        )
        card = page.locator("#turns .turn.u + .card .note.ok")
        await expect(card).to_contain_text("Taken out of USER.md")
        await expect(card).to_contain_text("I like tea.")
        await page.locator("#scroll").focus()
        await page.keyboard.press("u")
        await expect(card).to_contain_text("In USER.md again")
        assert "I like tea." in visit.text()
        await card.get_by_role("button", name="Take out").click()
        await expect(card).to_contain_text("Taken out of USER.md")
        assert "tea" not in visit.text()


async def test_what_an_answer_rests_on() -> None:
    """The extracts that went along stand under the answer, with file and lines, as text."""
    async with visiting() as visit:
        page = visit.page
        await visit.start()
        extract = Extract(
            file="Home/Heating.md", first_line=5, last_line=6, heading="Boiler", text="<b>old</b>"
        )
        note = turn(1, "user", "x", origin="note")
        visit.publish(
            TurnAdded(turn=turn(0, "user", "When is the boiler due?")),
            ExtractsShown(index=2, extracts=(extract,), turn=note),
            TurnAdded(turn=turn(2, "assistant", "In January.")),
        )
        answer = page.locator("#turns .turn.j")
        await answer.locator("summary").click()
        await expect(answer.locator(".ext")).to_contain_text("Home/Heating.md, lines 5–6 · Boiler")
        await expect(answer.locator(".ext")).to_contain_text("<b>old</b>")


async def test_a_recorded_call_says_so() -> None:
    """While a call is recorded a sign stands beside the state, on every view."""
    async with visiting(recorded=True) as visit:
        page = visit.page
        await expect(page.locator(".rec:visible")).to_have_count(0)
        await visit.start()
        await expect(page.locator(".dock .rec")).to_have_text("recording")
        await visit.to("changes")
        await expect(page.locator("#strip .rec")).to_be_visible()


async def test_editing_a_notebook() -> None:
    """The file is edited as it is; it counts at once, and undo is one press away."""
    async with visiting() as visit:
        page = visit.page
        fill(visit.house)
        await visit.to("notebooks")
        row = page.locator(".en").filter(has_text="green tea")
        await expect(row.locator("mark")).to_have_text("Remember that I like green tea.")
        await page.keyboard.press("e")
        field = page.locator("textarea")
        await field.fill(visit.text() + "- Has two cats.\n")
        await expect(page.locator(".edf")).to_contain_text("Not saved yet")
        await page.keyboard.press("Control+s")
        own = page.locator(".en").filter(has_text="Has two cats.")
        await expect(own).to_contain_text("You wrote this in the file.")
        assert "- Has two cats.\n" in visit.text()
        await own.get_by_role("button", name="Take out").click()
        gone = page.locator(".en.gone")
        await expect(gone).to_contain_text("Taken back")
        assert "cats" not in visit.text()
        await gone.get_by_role("button", name="Put it back").click()
        await expect(page.locator(".en.gone")).to_have_count(0)
        assert "Has two cats." in visit.text()
        await row.get_by_role("button", name="Undo").click()
        await expect(page.locator(".en.gone")).to_contain_text("green tea")
        assert "green tea" not in visit.text()


async def test_an_edit_from_outside() -> None:
    """It appears by itself; when it crosses an edit here, both are shown and neither is lost."""
    async with visiting() as visit:
        page = visit.page
        visit.write("- Likes tea.\n")
        await visit.to("notebooks")
        await expect(page.locator(".en")).to_contain_text("Likes tea.")
        visit.write("- Likes tea.\n- Lives in Leipzig.\n")
        await expect(page.locator(".en").nth(1)).to_contain_text("Lives in Leipzig.")
        await page.keyboard.press("e")
        await page.locator("textarea").fill("- Likes coffee.\n")
        visit.write("- Likes tea and milk.\n")
        await expect(page.locator(".err")).to_contain_text("changed elsewhere")
        await expect(page.locator("textarea").first).to_have_value("- Likes coffee.\n")
        await expect(page.locator("textarea").nth(1)).to_have_value("- Likes tea and milk.\n")
        assert visit.text() == "- Likes tea and milk.\n"
        await page.get_by_role("button", name="Save mine").click()
        await expect(page.locator(".en")).to_contain_text("Likes coffee.")
        assert visit.text() == "- Likes coffee.\n"


async def test_what_is_typed_survives_the_window() -> None:
    """An edit that was not saved is there again after the page was loaded anew."""
    async with visiting() as visit:
        page = visit.page
        visit.write("- Likes tea.\n")
        await visit.to("notebooks")
        await page.keyboard.press("e")
        await page.locator("textarea").fill("- Likes tea.\n- And more\n")
        await page.reload()
        await visit.there("notebooks")
        await expect(page.locator(".en")).to_contain_text("Likes tea.")
        await page.locator("#main").focus()
        await page.keyboard.press("e")
        await expect(page.locator("textarea")).to_have_value("- Likes tea.\n- And more\n")


async def test_changes_and_refusals() -> None:
    """The log by kind and by words; which rule refused what; undo and put back in it."""
    async with visiting() as visit:
        page = visit.page
        fill(visit.house)
        await visit.to("changes")
        await expect(page.locator(".ch")).to_have_count(4)
        await page.get_by_role("button", name=re.compile("^Refused")).click()
        await expect(page.locator(".ch")).to_have_count(1)
        await expect(page.locator(".ch")).to_contain_text("Has a dog.")
        await expect(page.locator(".ch")).to_contain_text("Rule L5.2")
        await expect(page.locator(".ch mark")).to_have_text("not a dog, no")
        await page.get_by_role("button", name=re.compile("^All")).click()
        await expect(page.locator(".ch")).to_have_count(4)
        await page.keyboard.press("/")
        await page.keyboard.type("green")
        await expect(page.locator(".ch")).to_have_count(1)
        await page.get_by_role("button", name="Undo: I like green tea.").click()
        await expect(page.locator(".ch")).to_have_count(2)
        assert "green tea" not in visit.text()
        await page.get_by_role("button", name=re.compile("^Put it back")).click()
        await expect(page.locator(".ch")).to_have_count(3)
        assert "green tea" in visit.text()


async def test_journal_search_and_month() -> None:
    """A day with stars, a hit in its note, a month in a sentence and pictures."""
    async with visiting() as visit:
        page = visit.page
        fill(visit.house)
        await visit.to("journal")
        await expect(page.get_by_role("img", name="4 of 5 stars")).to_be_visible()
        await expect(page.locator(".je .md strong")).to_have_text("old")
        await expect(page.locator(".je.ins").first).to_contain_text("Both at once.")
        await visit.to("search")
        await page.locator("#search-words").fill("when was the service of the boiler")
        await expect(page.locator(".hit").first).to_contain_text("Heating")
        await expect(page.locator(".prev")).to_contain_text("Last service in January.")
        await page.get_by_role("button", name="Journal", exact=True).click()
        await expect(page.locator(".hit .place")).to_have_count(1)
        await expect(page.locator(".hit .place")).to_contain_text("daily/")
        await visit.to("month")
        await expect(page.locator(".sum")).to_contain_text("You talked 12 times")
        await expect(page.get_by_role("img", name=re.compile("^Distribution"))).to_be_visible()


async def test_lessons() -> None:
    """A lesson with its curve and what it rests on; forgotten and restored; a pass that reflects; a
    tidy that shows what would go before it goes."""
    async with visiting(screen={"locale": "de-DE"}) as visit:
        page = visit.page
        teach(visit.house)
        old = now() - timedelta(days=900)
        faded = Lesson(id="d" * 8, kind="user", text="Old.", made_at=old, made_by="x", events=())
        visit.house.memory.lessons.shelf.add([faded], old)
        await visit.to("lessons")
        detail = page.locator(".det")
        await expect(page.locator(".li")).to_have_count(3)
        await expect(detail.get_by_role("img", name=re.compile("Punktzahl|Wert"))).to_be_visible()
        await page.get_by_role("button", name=re.compile(SHORT)).click()
        await detail.locator("summary").click()
        await expect(detail.locator(".grounds li")).to_have_text(
            "Du wolltest 2 Mal etwas gemerkt haben, und es wurde nicht gespeichert: es enthält ein "
            "Passwort, und Jarvis behält keine Geheimnisse."
        )
        await detail.get_by_role("button", name="Vergessen").click()
        await expect(page.locator(".li")).to_have_count(2)
        await page.get_by_role("button", name=re.compile("^Vergessen ?2")).click()
        await page.get_by_role("button", name=re.compile(f"{SHORT}$")).click()
        await expect(page.locator(".fg")).to_have_count(1)
        assert SHORT in [each.text for each in visit.house.memory.lessons.live()]
        await page.get_by_role("button", name="Jetzt auswerten").click()
        await expect(page.locator(".said-now")).to_contain_text("nichts Neues")
        await page.get_by_role("button", name="Aufräumen").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("Old.")
        assert len(visit.house.memory.lessons.live()) == 3
        await expect(dialog.get_by_role("button").first).to_be_focused()
        await dialog.get_by_role("button").last.click()
        await expect(page.locator(".fg")).to_have_count(2)
        assert len(visit.house.memory.lessons.live()) == 2


async def test_settings_are_written(settings: Path) -> None:
    """A switch is in the file at once, beside the user's own comments; nonsense is refused."""
    put(settings, "# mine\nlearning = true  # and this\n")
    async with visiting() as visit:
        page = visit.page
        await visit.to("settings")
        await page.get_by_role("switch", name="Learning").uncheck()
        await visit.until(lambda: text_of(settings) == "# mine\nlearning = false  # and this\n")
        await visit.until(lambda: visit.house.config.learning is False)
        await expect(page.get_by_role("status").filter(has_text="starts anew")).to_have_count(0)
        await page.get_by_role("textbox", name="Vault folder").fill("/nowhere")
        await page.get_by_role("button", name="Save: Vault folder").click()
        await expect(page.locator(".fault")).to_contain_text("is no folder")
        await expect(page.locator(".doc")).to_contain_text("Vault")
        assert "vault" not in text_of(settings)
        visit.complaints = [text for text in visit.complaints if "422" not in text]


async def test_each_setting_by_hand(settings: Path, tmp_path: Path) -> None:
    """Engine, voice, languages, vault folder, microphone, recording and what it does by itself: each
    is changed on the page, and counts when the page says so."""
    (tmp_path / "Other").mkdir()
    async with visiting() as visit:
        page = visit.page
        await visit.to("settings")
        anew = page.get_by_role("status").filter(has_text="starts anew")
        await page.get_by_role("radio", name=re.compile("^On this computer")).check()
        await expect(anew).to_contain_text("Engine")
        await page.get_by_label("German voice").select_option("espeak")
        await expect(anew).to_contain_text("German voice")
        await page.get_by_role("textbox", name="Vault folder").fill(str(tmp_path / "Other"))
        await page.keyboard.press("Enter")
        await expect(anew).to_contain_text("Vault folder")
        await page.get_by_role("checkbox", name="Español").uncheck()
        await visit.until(lambda: visit.house.config.languages == ("en", "de"))
        await page.get_by_role("switch", name="Record").check()
        await visit.until(lambda: visit.house.config.record is not None)
        for name in ("lessons", "thinking"):
            await page.get_by_role("switch", name=re.compile(f"Auto mode: {name}")).uncheck()
        await visit.until(lambda: not (visit.house.config.reflect or visit.house.config.think))
        started = load()
        assert started.engine == "local"
        assert started.voice_de == "espeak"
        assert started.vault == tmp_path / "Other"
        await page.context.clear_permissions()
        await page.reload()
        await expect(page.locator("#set-microphone option")).to_have_count(1)
        await page.context.grant_permissions(["microphone"])
        await page.get_by_role("button", name="Try it").click()
        await expect(page.locator("#set-microphone option")).not_to_have_count(1)
        await page.locator("#set-microphone").select_option(index=1)
        chosen = await page.locator("#set-microphone").input_value()
        await page.evaluate(
            """() => { const own = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
                 navigator.mediaDevices.getUserMedia = asked => ((window.asked = asked), own(asked)) }"""
        )
        await visit.to("talk")
        await visit.start()
        assert await page.evaluate("asked.audio.deviceId.ideal") == chosen


async def test_wipe() -> None:
    """It lists what goes, begins on the harmless button, wants the word, and shows what is gone."""
    async with visiting() as visit:
        page = visit.page
        fill(visit.house)
        await visit.to("settings")
        await expect(page.locator(".doc li").first).to_be_visible()
        await page.get_by_role("button", name="Show what would go").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("Notebooks")
        await expect(dialog).to_contain_text("Change log")
        await expect(dialog.get_by_role("button", name="Keep everything")).to_be_focused()
        sure = dialog.get_by_role("button", name=re.compile("^Wipe"))
        await expect(sure).to_be_disabled()
        await dialog.get_by_role("textbox").fill("wipe")
        await sure.click()
        await expect(dialog).to_contain_text("Jarvis knows nothing about you now")
        await dialog.get_by_role("button", name="Close").click()
        await visit.to("changes")
        await expect(page.locator("#view-changes")).to_contain_text("Nothing yet.")
        assert (visit.house.config.vault / "Heating.md").exists()


ELSEWHERE = """
address => Promise.all([
  fetch(`${address}/api/notebooks`).then(() => "read", () => "refused"),
  fetch(`${address}/api/forget`, {method: "POST", mode: "no-cors", body: '{"entry": "I like tea."}'})
    .then(() => "sent", () => "refused"),
  fetch(`${address}/api/forget`, {method: "POST", body: '{"entry": "I like tea."}',
    headers: {"content-type": "application/json"}}).then(() => "read", () => "refused"),
  new Promise(done => {
    const lines = new EventSource(`${address}/api/events`);
    lines.onopen = () => done("read");
    lines.onerror = () => done("refused");
  }),
  new Promise(done => {
    const script = document.createElement("script");
    script.src = `${address}/static/app.js`;
    script.onload = () => done("read");
    script.onerror = () => done("refused");
    document.head.append(script);
  }),
])
"""


DRAWN = """canvas => {
  const { width, height } = canvas;
  const own = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  own.drawImage(canvas, 0, 0);
  const { data } = own.getImageData(0, 0, width, height);
  const rows = new Set();
  for (let at = 3; at < data.length; at += 4) if (data[at] > 60) rows.add(Math.floor(at / 4 / width));
  return rows.size;
}"""
"""How high the voice line is, in pixels."""


async def test_the_level_is_seen() -> None:
    """While the microphone beeps the voice line rises and falls with it."""
    async with visiting() as visit:
        page = visit.page
        await visit.start()
        visit.publish(StateChanged(state="hearing"))
        await visit.state("hearing")
        line = page.locator("#line")
        heights: set[int] = set()
        async with asyncio.timeout(10):
            while max(heights, default=0) < 2 * min(heights, default=1):
                heights.add(await line.evaluate(DRAWN))
                await page.evaluate("new Promise(requestAnimationFrame)")
        assert max(heights) > 8


async def test_another_site_reaches_nothing() -> None:
    """A page of another origin reads nothing and changes nothing: by request, form-like request, event
    stream or script; nor does it frame this one."""
    async with visiting() as visit:
        page = visit.page
        visit.house.memory.remember("Remember that I like tea.", now(), origin="spoken")
        before = visit.text()
        other = FastAPI()

        @other.get("/")
        def evil() -> HTMLResponse:
            return HTMLResponse(f"<title>evil</title><iframe src='{visit.address}/'></iframe>")

        async with serving(lambda _: other) as elsewhere:
            await page.goto(elsewhere)
            told = await page.evaluate(ELSEWHERE, visit.address)
            framed = page.frames[1]
            assert await framed.locator("#main").count() == 0
        assert set(told) == {"refused"}
        assert visit.text() == before
        visit.elsewhere, visit.complaints = [], []


async def test_what_waits_and_how_full() -> None:
    """The gauge says how full the notebooks are; what waits for review stands with its words, what
    waits for room as the line that it will be."""
    async with visiting(screen={"locale": "de-DE"}) as visit:
        page = visit.page
        memory = visit.house.memory
        talk = memory.begin("call-20261129-194000", "call", now())
        said = "I don't eat fish any more."
        talk.observe(turn(0, "user", said, conversation="call-20261129-194000"))
        talk.hand_over("hang-up", now())
        talk.close()
        visit.write("".join(f"- Knows the number {n} by heart.\n" for n in range(100, 183)))
        memory.notice_edits(now())
        memory.remember("Remember that I like green tea.", now(), origin="spoken")
        await visit.to("notebooks")
        gauge = page.get_by_role("meter", name="Wie voll die Notizbücher sind")
        assert int(await gauge.get_attribute("aria-valuenow") or 0) > 2_000
        await expect(page.locator(".gauge h2")).to_contain_text("von 2.500 Zeichen")
        await expect(page.locator(".wait q")).to_have_text(said)
        await expect(page.locator(".wait")).to_contain_text("I like green tea.")


async def test_hostile_text_is_text() -> None:
    """A notebook, a journal and a note full of scripts show them, and none of them runs."""
    evil = "<script>window.hit=1</script><img src=x onerror=window.hit=1>"
    async with visiting() as visit:
        page = visit.page
        house = visit.house
        visit.write(f"- Likes {evil}\n")
        house.memory.journal(JournalEntry(at=now(), title=evil, text=evil, tags=("x",)))
        (house.config.vault / "Evil.md").write_text(f"# {evil}\n\nboiler {evil}\n")
        for view in VIEWS:
            await visit.to(view)
            if view == "search":
                await page.locator("#search-words").fill("boiler")
                await expect(page.locator(".prev")).to_contain_text("<script>")
                await page.locator("#main").focus()
            if view in ("notebooks", "journal"):
                await expect(page.locator(f"#view-{view}")).to_contain_text("onerror")
        assert await page.evaluate("window.hit") is None
        assert await page.locator("main script, main img").count() == 0


async def test_a_notebook_of_ten_megabytes() -> None:
    """It is shown in part, can't be edited here, and the page goes on."""
    async with visiting() as visit:
        page = visit.page
        visit.write("- a line that is like all the others\n" * 280_000)
        await visit.to("notebooks")
        await expect(page.locator("#view-notebooks .en")).to_have_count(50)
        await page.keyboard.press("e")
        await expect(page.locator("#view-notebooks")).to_contain_text("Shorten it.")
        await expect(page.locator("textarea")).not_to_be_editable()


# The words ------------------------------------------------------------------------------------


def words() -> dict[str, list[str]]:
    text = (STATIC / "words.js").read_text(encoding="utf-8")
    table = text[text.index("{", text.index("WORDS")) :].rstrip().rstrip(";")
    found: dict[str, list[str]] = json.loads(re.sub(r",\s*\}$", "}", table))
    return found


def test_one_table_of_words() -> None:
    """Each word is there in three languages, with the same places to fill."""
    for key, row in words().items():
        assert len(row) == 3, key
        assert all(text.strip() for text in row), key
        assert len({tuple(sorted(re.findall(r"\{\w+\}", text))) for text in row}) == 1, key


def test_every_word_is_in_the_table() -> None:
    """What the modules and the page ask for is in the table; the page's English is the table's."""
    table = words()
    for path in [*STATIC.rglob("*.js")]:
        for key in re.findall(r"\bt\(\s*[\"'`]([\w.]+)[\"'`]", path.read_text(encoding="utf-8")):
            assert key in table, f"{path.name}: {key}"
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    for key, text in re.findall(r'data-t="([\w.]+)"[^>]*>([^<]*)<', page):
        assert text == table[key][0], key


SENTENCE = re.compile(r"^[A-Z][a-z]+(?: [a-z’']+)+[.…?]?$|[a-z]{2} [a-z]{2,}.*[.!?…]$")


@pytest.mark.parametrize("path", sorted(STATIC.rglob("*.js")), ids=lambda path: path.name)
def test_no_words_outside_the_table(path: Path) -> None:
    """No module holds a sentence of its own."""
    if path.name == "words.js" or path.parent.name == "sentences":
        return
    code = re.sub(
        r"/\*.*?\*/|(?<!:)//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    assert [
        text for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', code) if SENTENCE.search(text)
    ] == []


async def test_what_the_house_says_is_said_in_german() -> None:
    """What answers, what it can't, what happens in a call; a sentence without a row stays English
    and says so to a screen reader."""
    engine = {
        **STATUS["engine"],
        "thinks": "Qwen2.5-Coder 0.5B, on this computer",
        "warning": "The built-in model is very small: don't trust its facts.",
        "better": "Better in one step: `ollama pull x`, then start Jarvis again.",
    }
    async with visiting(screen={"locale": "de-DE"}, engine=engine) as visit:
        page = visit.page
        fact = page.locator("#fact-engine")
        await expect(fact).to_contain_text("Eingebaut: Qwen2.5-Coder 0.5B, auf diesem Rechner.")
        await expect(fact).to_contain_text("Verlass dich nicht auf seine Angaben.")
        await expect(fact.locator("code")).to_have_text("ollama pull x")
        await expect(page.locator("#fact-words")).to_contain_text("Nur dieser Rechner.")
        await expect(page.locator("#fact-words")).to_contain_text("Kosten: nichts.")
        await visit.start()
        about = EngineDescription(
            name="Built-in", hears="", thinks="", speaks="", words_go_to="", costs="nothing"
        )
        visit.publish(
            Notice(kind="handled", text=_HALF_DUPLEX),
            EngineChanged(engine=about, reason="Nobody has translated this."),
        )
        half, changed = (page.locator("#after .notice").nth(i) for i in (0, 1))
        await expect(half).to_contain_text("Jarvis hört sich selbst im Mikrofon")
        await expect(half).to_contain_text("Nimm Kopfhörer")
        await expect(changed).to_contain_text("Ab jetzt antwortet Eingebaut")
        await expect(changed.locator("[lang=en]")).to_have_text("Nobody has translated this.")
        await expect(page.locator(".engine:visible")).to_have_text("Eingebaut")


SAID = {
    "The text holds an AWS key.": "Der Text enthält einen Schlüssel für AWS.",
    "The user corrected Jarvis once in one conversation.": (
        "Du hast Jarvis ein Mal in einem Gespräch berichtigt."
    ),
    "Engine failing failed 3 times (timeout).": "Das Modell failing versagte 3 Mal (timeout).",
    "Your notebooks are too long for Qwen2.5: it holds about 2,457 words in all. Shorten USER.md or "
    "MEMORY.md.": "Deine Notizbücher sind zu lang für Qwen2.5: Es fasst insgesamt etwa 2.457 Wörter. "
    "Kürze USER.md oder MEMORY.md.",
    "http://127.0.0.1:1/v1 has no model x: it gave no reason. Run `ollama pull x`.": (
        "http://127.0.0.1:1/v1 hat kein Modell x: ohne Angabe von Gründen. `ollama pull x` holt es."
    ),
    "Piper was chosen to speak German, but piper-tts is not installed: install it beside jarvis. "
    "ESpeak speaks instead.": "Piper war als Stimme für Deutsch gewählt, aber piper-tts ist nicht "
    "installiert: Installiere es neben jarvis. Stattdessen spricht ESpeak.",
    "The weights x (hears: speech to text) could not be brought. Tried:\n  hub for a, b: can't be "
    "reached (no name server answers)\n  /w/a  1500000 bytes  sha256 ab\n    https://hub/x": (
        "Das Modell x ließ sich nicht holen. Versucht wurde:\nModellsammlung im Netz für a, b: nicht zu "
        "erreichen (kein Namensserver antwortet)\n/w/a  1500000 Bytes  sha256 ab\n    https://hub/x"
    ),
    "1 entry, 1,639 characters": "Einträge: 1, Zeichen: 1.639",
    "15% full": "15\u00a0% voll",
    "4.5 GiB free where /x is": "4,5 GiB frei, wo /x liegt",
}
"""What the house says, and how German says it."""


async def test_sentences_are_found_with_their_values() -> None:
    """A sentence within a sentence, a phrase that became one, lines, and numbers as German writes them."""
    async with visiting(screen={"locale": "de-DE"}) as visit:
        told = await visit.page.evaluate(
            """async texts => {
                 const { houseWords } = await import("/static/i18n.js");
                 return texts.map(houseWords).map(({ text, lang }) => lang === "en" ? null : text.replace(/ +\\n/g, "\\n"));
               }""",
            list(SAID),
        )
        assert dict(zip(SAID, told, strict=True)) == SAID


WRITTEN = {
    "en-US": "1,234 0.50 75% $0.012 $1,234.50 12K 1.50 30 min 9:05 PM",
    "en-GB": "1,234 0.50 75% $0.012 $1,234.50 12k 1.50 30 mins 21:05",
    "de-DE": "1.234 0,50 75 % 0,012 $ 1.234,50 $ 12.345 1,50 30 Min. 21:05",
    "es-ES": "1234 0,50 75 % 0,012 $ 1234,50 $ 12 mil 1,50 30 min 21:05",
}
"""A count, a score, a share, two sums, tokens in short, seconds, a length of time, a time of day."""


@pytest.mark.parametrize("locale", WRITTEN)
async def test_numbers_as_the_language_writes_them(locale: str) -> None:
    """Separators, percent signs, sums and times follow the page's language and its country."""
    async with visiting(screen={"locale": locale}) as visit:
        written = await visit.page.evaluate(
            """async () => {
                 const { t, number, percent, dollars, short, seconds, span, clock } =
                   await import("/static/i18n.js");
                 return [t("took", { n: 1234 }).split(/\\s/)[0], number(0.5, 2), percent(0.75),
                   dollars(0.012), dollars(1234.5), short(12345), seconds(1500), span(1800),
                   clock("2026-12-02T21:05:00")].join(" ").replace(/\\s/g, " ");
               }"""
        )
        assert written == WRITTEN[locale]


@pytest.mark.parametrize("locale", ["de-DE", "es-ES"])
async def test_no_english_is_left(locale: str) -> None:
    """No view shows a word of the table in English, nor a sentence of the house: why a rule
    refused, what the doctor found, what is wrong with a notebook."""
    async with visiting(screen={"locale": locale}) as visit:
        page = visit.page
        fill(visit.house)
        folder = visit.house.config.vault / "society/jarvis"
        (folder / "MEMORY.md").write_bytes("- Köln\n".encode("cp1252"))
        english = {
            row[0] for row in words().values() if row[0] not in row[1:] and "{" not in row[0]
        }
        for view in VIEWS:
            await visit.to(view)
            await expect(page.locator(f"#view-{view} h1")).to_have_count(1)
            if view == "notebooks":
                await expect(page.locator("#view-notebooks .err")).to_contain_text("cp1252")
            if view == "settings":
                await expect(page.locator(".doc li").first).to_be_visible()
            if view != "talk":  # what the fake house says there is nobody's
                await expect(
                    page.locator(f"#view-{view} [lang=en]:visible:not(.rad *)")
                ).to_have_count(0)
            shown = await page.evaluate(TEXTS)
            assert english & set(shown) == set(), view


TEXTS = """(() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walk.nextNode()) {
    const {data, parentElement: it} = walk.currentNode;
    if (data.trim() && it.checkVisibility() && !it.closest("[lang=en], noscript")) found.push(data.trim());
  }
  return found;
})()"""


# Accessible -----------------------------------------------------------------------------------

SCREENS: dict[str, dict[str, Any]] = {
    "wide": {},
    "narrow": {"viewport": {"width": 360, "height": 740}},
}
THEMES = ("light", "dark")
THEME = "to => dispatchEvent(new CustomEvent('jarvis:theme', {detail: to}))"
FITS = "document.documentElement.scrollWidth <= innerWidth"


async def faults(visit: Visit) -> list[str]:
    """What axe finds on the page as it stands, light and dark, and whether it is too wide."""
    page = visit.page
    if await page.evaluate("typeof axe") == "undefined":
        await page.evaluate(AXE)
    found = [] if await page.evaluate(FITS) else ["wider than the screen"]
    for theme in THEMES:
        await page.evaluate(THEME, theme)
        told = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        found += [
            f"{theme} {each['impact']} {each['id']}: {node['target']} {node['html'][:120]}"
            for each in told["violations"]
            for node in each["nodes"]
        ]
    return found


@pytest.mark.parametrize("screen", SCREENS.values(), ids=list(SCREENS))
async def test_axe_finds_nothing(screen: dict[str, Any]) -> None:
    """On no view, in a call and outside, wide or narrow, light or dark; nor where something is
    opened, crossed or refused."""
    async with visiting(screen=screen) as visit:
        page = visit.page
        fill(visit.house)
        assert await faults(visit) == []
        await visit.start()
        saved = remember(visit.house, "Remember that I like milk.")
        extract = Extract(file="A.md", first_line=5, last_line=6, heading="B", text="old")
        visit.publish(
            TurnAdded(turn=turn(0, "user", "Remember that I like milk.")),
            saved,
            MemoryWritten(
                saved=False, notebook=None, entry=None, reason="No.", change=None, why="secret"
            ),
            ExtractsShown(index=1, extracts=(extract,), turn=turn(1, "user", "x", origin="note")),
            TurnAdded(turn=turn(2, "assistant", "It is in your notebook,", interrupted=True)),
            Notice(kind="stop", text="It stopped. Try `this`."),
            Notice(kind="handled", text="It was handled. Go on."),
            StateChanged(state="speaking"),
        )
        await expect(page.locator(".note.ok")).to_be_visible()
        await expect(page.locator(".notice")).to_have_count(2)
        for view in VIEWS:
            await visit.to(view)
            await expect(page.locator(f"#view-{view} h1")).to_have_count(1)
            if view == "search":
                await page.locator("#search-words").fill("boiler")
                await expect(page.locator(".hit").first).to_be_visible()
            if view == "settings":
                await expect(page.locator(".doc li").first).to_be_visible()
            assert await faults(visit) == [], view
        await page.get_by_role("button", name="Show what would go").click()
        await expect(page.get_by_role("dialog")).to_be_visible()
        assert await faults(visit) == []
        await page.keyboard.press("Escape")
        await page.locator("#main").focus()
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog")).to_be_visible()
        assert await faults(visit) == []
        await page.keyboard.press("Escape")
        await visit.to("lessons")
        await page.get_by_role("button", name=re.compile("^Forgotten")).click()
        await expect(page.locator(".fg")).to_have_count(1)
        assert await faults(visit) == []
        await visit.to("notebooks")
        await page.keyboard.press("e")
        await page.locator("textarea").fill("- Mine.\n")
        visit.write("- Theirs.\n")
        await expect(page.locator("textarea")).to_have_count(2)
        assert await faults(visit) == []
