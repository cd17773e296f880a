"""The page in a real Chromium, with a house whose calls are real but hold no models."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pipecat.frames.frames import InterruptionFrame, TTSAudioRawFrame, TTSStartedFrame
from playwright.async_api import expect

from tests.browser import needs_chromium
from tests.fakes.house import BEGAN, STATUS, tone_bytes, turn
from tests.voice.web.looking import Visit, visiting
from voice.errors import EngineUnavailable, WorkerFailed
from voice.records import (
    HandedOver,
    LatencyMeasured,
    NothingSaid,
    Notice,
    PartialText,
    State,
    StateChanged,
    TokensCounted,
    TurnAdded,
)
from voice.transports.browser import OUT_HZ
from voice.transports.page_messages import Muted, Stop, Typed

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.usefixtures("a_browser")]

STATES: dict[State, str] = {
    "listening": "Listening",
    "hearing": "Hearing you",
    "thinking": "Thinking",
    "speaking": "Speaking",
    "reconnecting": "Reconnecting",
}


# What a peer connection says of itself is `window.shown`, while that is set.
SHOWN = """
shown => {
  const own = Object.getOwnPropertyDescriptor(RTCPeerConnection.prototype, "connectionState").get;
  Object.defineProperty(RTCPeerConnection.prototype, "connectionState",
    { get() { return window.shown ?? own.call(this); } });
  window.shown = shown;
}
"""


async def test_first_visit() -> None:
    """The first visit says what answers, what it can't do, and where words and files go."""
    async with visiting(hints=["Piper voices sound better: `jarvis models`."]) as visit:
        page = visit.page
        await expect(page.get_by_role("button", name="Start talking")).to_be_visible()
        await expect(page.locator("#fact-engine")).to_contain_text("Don’t trust its facts")
        await expect(page.locator("#fact-engine code")).to_have_text("ollama pull qwen3:4b")
        await expect(page.locator("#fact-words")).to_contain_text("This computer only.")
        await expect(page.locator("#fact-files")).to_contain_text("~/Notes/society/jarvis/")
        await expect(page.locator("#hints")).to_contain_text("Piper")
        await expect(page.locator("#side")).to_contain_text("The first minute")
        assert await page.locator("#nav a").count() == 8


async def test_a_call() -> None:
    """Start, talk, be answered, hang up: the whole way with real sound both ways."""
    async with visiting(tone_s=30) as visit:
        page = visit.page
        await visit.start()
        call = visit.house.calls[-1]
        await call.beep.hears.wait()
        await visit.until(lambda: call.transport.played_ms > 300)
        loud = "document.querySelector('#voice').srcObject.getAudioTracks()[0].readyState"
        assert await page.evaluate(loud) == "live"
        visit.publish(StateChanged(state="hearing"), PartialText(speaker="user", text="When is"))
        await expect(page.locator("#now .said")).to_have_text("When is")
        visit.publish(PartialText(speaker="user", text="When is lunch?"))
        await expect(page.locator("#now .said")).to_have_text("When is lunch?")
        visit.publish(TurnAdded(turn=turn(0, "user", "When is lunch?")))
        await expect(page.locator("#now .said")).to_have_count(0)
        visit.publish(
            LatencyMeasured(
                index=1,
                stages_ms={"pause": 230, "transcript": 120, "first_word": 330, "first_sound": 240},
                total_ms=920,
            ),
            TokensCounted(index=1, prompt_tokens=200, cached_tokens=150, prefix_sha256="ab"),
            TurnAdded(turn=turn(1, "assistant", "At <b>noon</b>, as", interrupted=True)),
            HandedOver(first_index=0, last_index=1, trigger="30 turns"),
        )
        answer = page.locator("#turns .turn.j")
        await expect(answer.locator(".said")).to_contain_text("At <b>noon</b>, as you cut in")
        await expect(answer.locator("summary")).to_contain_text("0.92 s")
        await answer.locator("summary").click()
        await expect(answer.locator("dd").first).to_have_text("0.23 s")
        side = page.locator("#side")
        await expect(side).to_contain_text("75%")
        await expect(side).to_contain_text("Half under 0.92 s")
        await expect(side).to_contain_text("2 turns")
        await page.get_by_role("button", name="Hang up").click()
        await visit.state("idle")
        await call.ended()
        assert await call.over == "hang-up"
        await expect(page.locator("#turns .turn")).to_have_count(2)
        await expect(page.locator(".err")).to_have_count(0)
        await visit.start()  # and again
        assert len(visit.house.calls) == 2


async def test_states() -> None:
    """Each state has its word; muted is shown while the microphone sends silence."""
    async with visiting() as visit:
        page = visit.page
        await visit.start()
        for state, word in STATES.items():
            visit.publish(StateChanged(state=state))
            await expect(page.locator("#word")).to_have_text(word)
            await expect(page.locator("#stop")).to_be_enabled(
                enabled=state in ("thinking", "speaking")
            )
        visit.publish(StateChanged(state="listening"))
        await visit.state("listening")
        await page.keyboard.press("m")
        await expect(page.locator("#word")).to_have_text("Muted")
        await expect(page.locator("#mute")).to_have_attribute("aria-pressed", "true")
        call = visit.house.calls[-1]
        await visit.until(lambda: Muted(on=True) in call.said)
        since = len(call.beep.heard)
        await visit.until(lambda: call.beep.loudest(since + 25, since + 75) < 50)
        await page.keyboard.press("m")
        await visit.state("listening")
        await visit.until(lambda: Muted(on=False) in call.said)
        visit.publish(PartialText(speaker="user", text="Hm"), NothingSaid())
        await expect(page.locator("#now .turn")).to_have_count(0)


async def test_keyboard() -> None:
    """Space starts, Esc stops the voice from the text field too, Ctrl Enter hangs up."""
    async with visiting() as visit:
        page = visit.page
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog")).to_contain_text("Single keys")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_be_hidden()
        await page.keyboard.press("Space")
        await visit.state("listening")
        visit.publish(StateChanged(state="speaking"))
        await visit.state("speaking")
        await page.keyboard.press("/")
        await expect(page.locator("#text")).to_be_focused()
        await page.keyboard.press("Escape")
        call = visit.house.calls[-1]
        await visit.until(lambda: Stop() in call.said)
        await page.keyboard.type("m / ?")
        await expect(page.locator("#text")).to_have_value("m / ?")
        await page.keyboard.press("Control+Enter")
        assert await call.over == "hang-up"


async def test_single_keys_off() -> None:
    """Someone who steers by voice can turn the single keys off, and it stays so."""
    async with visiting() as visit:
        page = visit.page
        await page.get_by_role("button", name="Keys").click()
        await page.get_by_role("switch").uncheck()
        await page.get_by_role("button", name="Close").click()
        await visit.look()
        await page.locator("#scroll").focus()
        await page.keyboard.press("/")
        await page.keyboard.press("Space")
        await expect(page.locator("#text")).not_to_be_focused()
        await visit.state("idle")
        await expect(page.locator("kbd.single, .single kbd").first).to_be_hidden()


async def test_typing_in_a_call() -> None:
    """In a call a typed turn takes the call's own line, and pasting is told."""
    async with visiting() as visit:
        page = visit.page
        await visit.start()
        await page.locator("#text").fill("When is lunch?")
        await page.keyboard.press("Enter")
        await expect(page.locator("#turns")).to_contain_text("You wrote: When is lunch?")
        await page.locator("#text").fill("copied")
        await page.locator("#text").select_text()
        await page.keyboard.press("Control+x")
        await page.keyboard.press("Control+v")
        await page.keyboard.press("Enter")
        await expect(page.locator("#turns")).to_contain_text("pasted")
        assert visit.house.calls[-1].said == [Typed("When is lunch?", False), Typed("copied", True)]
        assert visit.house.chats == []


async def test_typing_without_a_call() -> None:
    """Without a call a typed turn is answered all the same, and a failure loses no word."""
    async with visiting(ready=False, loading="the language model, 40 %") as visit:
        page = visit.page
        await page.locator("#text").fill("Hello")
        await page.keyboard.press("Enter")
        await expect(page.locator("#turns")).to_contain_text("You wrote: Hello")
        await expect(page.locator("#turns .turn.u small")).to_have_text("typed")
        assert visit.house.chats == [("Hello", False)]
        visit.house.late_fault = WorkerFailed("The language model ended. Start Jarvis again.")
        await page.locator("#text").fill("And now?")
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator(".notice")).to_contain_text("The language model ended.")
        visit.house.fault = EngineUnavailable("The model is not there. Run `ollama pull x`.")
        await page.locator("#text").fill("Still there?")
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator(".err.main code")).to_have_text("ollama pull x")
        await expect(page.locator("#text")).to_have_value("Still there?")
        visit.complaints = [text for text in visit.complaints if "503" not in text]


async def test_loading() -> None:
    """Start may be pressed at once: the call begins, so that what is said meanwhile stands in line,
    and the page says what it waits for."""
    async with visiting(ready=False, loading="the language model, 40 %") as visit:
        page = visit.page
        await expect(page.locator("#ask")).to_contain_text("the language model, 40 %")
        await page.get_by_role("button", name="Start talking").click()
        await visit.state("preparing")
        await expect(page.locator("#word")).to_have_text("Getting ready")
        await expect(page.locator("#hint")).to_have_text(
            "the language model, 40 %. Speak already: what you say is kept."
        )
        visit.house.shown["loading"] = "the language model, 90 %"
        await expect(page.locator("#hint")).to_contain_text("the language model, 90 %")
        [call] = visit.house.calls
        await visit.until(lambda: call.transport.microphone.waiting_s > 0.5)
        assert not call.beep.heard
        visit.house.loaded()
        await visit.state("listening")
        await visit.until(lambda: len(call.beep.heard) > 25)


async def test_hanging_up_while_it_loads() -> None:
    """Who has had enough of waiting hangs up, and no call begins later."""
    async with visiting(ready=False, loading="the language model") as visit:
        await visit.page.get_by_role("button", name="Start talking").click()
        await visit.state("preparing")
        await visit.page.get_by_role("button", name="Hang up").click()
        await visit.state("idle")
        await visit.until(lambda: all(call.over.done() for call in visit.house.calls))
        visit.house.loaded()
        await expect(visit.page.locator("#ask")).to_contain_text("Your browser asks once")
        await visit.state("idle")
        assert not any(call.beep.heard for call in visit.house.calls)


async def test_microphone_refused() -> None:
    """A refused microphone is said in words, with what to do."""
    async with visiting(refuse_microphone=True) as visit:
        page = visit.page
        await page.get_by_role("button", name="Start talking").click()
        alert = page.get_by_role("alert").filter(has_text="microphone")
        await expect(alert).to_contain_text("doesn’t let this page use the microphone")
        await alert.get_by_role("button", name="Type instead").click()
        await expect(page.locator("#text")).to_be_focused()
        await visit.state("idle")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("NotFoundError", "No microphone was found"),
        ("NotReadableError", "Another program holds the microphone"),
        ("NotAllowedError", "doesn’t let this page use the microphone"),
        ("WeirdError", "The browser says: no such thing."),
        (None, "This browser can’t make calls"),
    ],
)
async def test_microphone_faults(fault: str | None, words: str) -> None:
    """Each way in which a microphone can be missing has its own words."""
    async with visiting() as visit:
        page = visit.page
        await page.evaluate(
            """fault => Object.defineProperty(navigator, "mediaDevices", {value: fault && {
                getUserMedia: async () => { throw new DOMException("no such thing", fault) }}})""",
            fault,
        )
        await page.get_by_role("button", name="Start talking").click()
        await expect(page.locator(".err.main")).to_contain_text(words)


async def test_nothing_is_chosen_yet() -> None:
    """Before an engine is chosen the page is there already, and fills in later."""
    async with visiting(engine=None, ready=False, loading="looking around") as visit:
        await expect(visit.page.locator("#fact-engine")).to_have_text("Looking …")
        visit.house.shown["engine"] = STATUS["engine"]
        visit.house.loaded()
        await expect(visit.page.locator("#fact-engine")).to_contain_text("Built-in")


async def test_loading_failed() -> None:
    """Where loading failed a start tries again, and the reason is said once."""
    stop = {"kind": "stop", "text": "The weights can't be brought. Connect to a network."}
    async with visiting(ready=False, loading="", notices=[stop]) as visit:
        page = visit.page
        await expect(page.locator("#messages .notice")).to_contain_text("can't be brought")
        visit.house.failing = "The disk is full. Make room, then start again."
        await page.get_by_role("button", name="Start talking").click()
        await expect(page.locator("#after .notice")).to_contain_text("The disk is full.")
        await visit.state("idle")
        await expect(page.locator(".err.main")).to_have_count(0)


async def test_no_network() -> None:
    """A browser without any network has no address to call from, and the page says so."""
    async with visiting() as visit:
        await visit.page.evaluate(
            """Object.defineProperty(RTCPeerConnection.prototype, "localDescription",
                 {get: () => ({type: "offer", sdp: "v=0"})})"""
        )
        await visit.page.get_by_role("button", name="Start talking").click()
        await expect(visit.page.locator(".err.main")).to_contain_text("without a network")


async def test_the_engine_fails() -> None:
    """The sentence of an engine that can't be reached is shown as it is."""
    async with visiting() as visit:
        visit.house.fault = EngineUnavailable("Ollama doesn't answer. Start it, then try again.")
        await visit.page.get_by_role("button", name="Start talking").click()
        alert = visit.page.locator(".err.main")
        await expect(alert).to_contain_text("Ollama doesn't answer. Start it, then try again.")
        visit.house.fault = None
        await alert.get_by_role("button", name="Try again").click()
        await visit.state("listening")
        visit.complaints = [text for text in visit.complaints if "503" not in text]


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("page gone", "The microphone is gone"),
        ("silence", "It was quiet for five minutes"),
        ("engine failed", "What answers has failed"),
        ("error", "The call ended"),
    ],
)
async def test_how_a_call_ended(reason: Any, words: str) -> None:
    """A call that ends by itself says why."""
    async with visiting() as visit:
        await visit.start()
        visit.publish(Notice(kind="handled", text="Gemini doesn’t answer. It goes on here."))
        await expect(visit.page.locator(".notice b")).to_have_text("Gemini doesn’t answer.")
        visit.house.calls[-1].hang_up(reason)
        await expect(visit.page.locator(".err.main")).to_contain_text(words)
        await visit.state("idle")


async def test_the_server_is_gone() -> None:
    """A server that stopped is said in words, and found again by itself."""
    async with visiting() as visit:
        page = visit.page
        await page.route("**/api/*", lambda route: route.abort())
        await page.get_by_role("button", name="Start talking").click()
        await expect(page.locator(".err.main")).to_contain_text("Jarvis doesn’t answer")
        await visit.state("idle")
        await page.unroute("**/api/*")
        await expect(page.locator(".err.main")).to_have_count(0)
        visit.complaints = [text for text in visit.complaints if "ERR_FAILED" not in text]


async def test_the_server_goes_in_mid_call() -> None:
    """The page says who is gone and what to do, and goes on by itself where the call was."""
    async with visiting() as visit:
        page = visit.page
        await visit.start()
        await page.route("**/api/*", lambda route: route.abort())
        await page.evaluate(SHOWN, "disconnected")
        await expect(page.locator(".err.main")).to_contain_text("Jarvis doesn’t answer")
        await visit.state("reconnecting")
        await page.evaluate("window.shown = undefined")
        await page.unroute("**/api/*")
        await expect(page.locator(".err.main")).to_have_count(0)
        await visit.state("listening")
        assert visit.house.gone_on == [None, BEGAN]
        visit.complaints = [text for text in visit.complaints if "ERR_FAILED" not in text]


async def test_a_line_that_broke() -> None:
    """It is tried again by itself: a new call goes on from what was said, which stays on the page."""
    async with visiting() as visit:
        page = visit.page
        await visit.start()
        visit.publish(TurnAdded(turn=turn(0, "user", "Hello there.")))
        await expect(page.locator("#turns")).to_contain_text("Hello there.")
        await page.route("**/api/offer", lambda route: route.abort())
        await page.evaluate(SHOWN, "failed")
        await expect(page.locator(".main")).to_contain_text("The line broke")
        await visit.state("reconnecting")
        await page.evaluate("window.shown = undefined")
        await page.unroute("**/api/offer")
        await expect(page.locator("#after .notice")).to_contain_text("The line is back")
        await visit.state("listening")
        await expect(page.locator("#turns")).to_contain_text("Hello there.")
        assert visit.house.gone_on == [None, BEGAN]
        visit.publish(TurnAdded(turn=turn(0, "user", "Where was I?")))
        await expect(page.locator("#after .notice")).to_have_count(0)
        visit.complaints = [text for text in visit.complaints if "ERR_FAILED" not in text]


async def test_a_line_that_broke_is_left() -> None:
    async with visiting() as visit:
        page = visit.page
        await visit.start()
        await page.route("**/api/offer", lambda route: route.abort())
        await page.evaluate(SHOWN, "failed")
        await page.get_by_role("button", name="Leave it").click()
        await visit.state("idle")
        await expect(page.locator(".main")).to_have_count(0)
        await page.evaluate("window.shown = undefined")
        await page.unroute("**/api/offer")
        await visit.start()
        assert visit.house.gone_on == [None, None]
        visit.complaints = [text for text in visit.complaints if "ERR_FAILED" not in text]


async def test_a_line_that_comes_back() -> None:
    """While the server knows of the call it is waited for, and goes on."""
    async with visiting() as visit:
        page = visit.page
        await visit.start()
        await page.evaluate(
            """window.shown = "disconnected";
               Object.defineProperty(RTCPeerConnection.prototype, "connectionState",
                 {get: () => window.shown})"""
        )
        await visit.state("reconnecting")
        await expect(page.locator("#hint")).to_contain_text("I try to get it back")
        await page.evaluate("window.shown = 'connected'")
        await visit.state("listening")


async def test_interrupting_silences_the_page_at_once() -> None:
    """Held, the page's own volume is 0 before what it has buffered is over; going on, or the next
    answer, is heard at full volume again; an interrupted answer never comes back."""
    async with visiting(tone_s=30) as visit:
        page = visit.page
        await visit.start()
        call = visit.house.calls[-1]
        playback = call.transport.playback

        async def volume(of: float) -> None:
            await expect(page.locator("#voice")).to_have_js_property("volume", of)

        await visit.until(lambda: call.transport.played_ms > 300)
        await volume(1)
        playback.lower()
        await volume(0.2)
        playback.go_on()
        await volume(1)
        playback.hold()
        await volume(0)
        playback.go_on()
        await volume(1)
        await call.worker.queue_frame(InterruptionFrame())
        await volume(0)
        await visit.until(lambda: not playback.sounding())
        assert call.beep.interrupted
        assert await page.evaluate("document.querySelector('#voice').volume") == 0
        await call.beep.push_frame(TTSStartedFrame())
        await call.beep.push_frame(TTSAudioRawFrame(tone_bytes(5), OUT_HZ, 1))
        await volume(1)
        await visit.until(playback.sounding)


async def test_another_window() -> None:
    """There is one call; a second window may take it over, and the first says so."""
    async with visiting() as visit:
        await visit.start()
        context = visit.page.context
        other = Visit(await context.new_page(), visit.house, visit.address)
        await other.look()
        await other.page.keyboard.press("Space")
        await expect(other.page.locator(".err.main")).to_contain_text("runs in another window")
        await other.page.get_by_role("button", name="Take it over here").click()
        await other.state("listening")
        await expect(visit.page.locator(".err.main")).to_contain_text("went to another window")
        await visit.state("idle")
        assert len(visit.house.calls) == 2
        await other.page.close()
        assert await visit.house.calls[-1].over == "page gone"


async def test_a_closed_tab_hangs_up() -> None:
    """Closing the tab ends the call at once."""
    async with visiting() as visit:
        await visit.start()
        call = visit.house.calls[-1]
        await visit.page.goto("about:blank")
        async with asyncio.timeout(2):
            assert await call.over == "page gone"
        assert call.transport.because == "closed"
        visit.elsewhere = [url for url in visit.elsewhere if url != "about:blank"]


async def test_order_of_turns() -> None:
    """A turn that is finished late stands where it was spoken."""
    async with visiting() as visit:
        await visit.start()
        visit.publish(
            TurnAdded(turn=turn(0, "user", "zero")),
            TurnAdded(turn=turn(2, "user", "two")),
            TurnAdded(turn=turn(1, "assistant", "one")),
        )
        said = visit.page.locator("#turns .said")
        await expect(said).to_have_text(["zero", "one", "two"])


async def test_a_long_call() -> None:
    """A long transcript keeps the page small, follows the newest and lets one read back."""
    async with visiting(screen={"viewport": {"width": 320, "height": 568}}) as visit:
        page = visit.page
        await visit.start()
        visit.publish(*(TurnAdded(turn=turn(i, "user", f"line {i} " * 8)) for i in range(400)))
        await expect(page.locator("#turns")).to_contain_text("line 399")
        assert await page.locator("#turns .turn").count() == 300
        await expect(page.locator("#older")).to_be_visible()
        await expect(page.locator("#turns .turn").last).to_be_in_viewport()
        wide = "document.querySelector('#scroll').scrollWidth"
        assert await page.evaluate(wide) <= 320
        assert await page.evaluate("document.documentElement.scrollWidth") <= 320
        await page.locator("#scroll").evaluate("it => it.scrollTo(0, 0)")
        await expect(page.locator("#newest")).to_be_visible()
        visit.publish(TurnAdded(turn=turn(400, "user", "the newest")))
        await expect(page.locator("#turns")).to_contain_text("the newest")
        assert await page.locator("#scroll").evaluate("it => it.scrollTop") < 100
        await page.locator("#newest").click()
        await expect(page.locator("#turns .turn").last).to_be_in_viewport()
        for button in ("#stop", "#mute", "#hang", "#text"):
            await expect(page.locator(button)).to_be_in_viewport(ratio=1)
        await visit.state("listening")


async def test_languages_and_theme() -> None:
    """The page speaks the browser's language, changes on request, and remembers it."""
    async with visiting(screen={"color_scheme": "dark"}) as visit:
        page = visit.page
        root = page.locator("html")
        await expect(root).to_have_attribute("data-theme", "dark")
        await page.locator(".lang").select_option("de")
        await expect(page.get_by_role("button", name="Gespräch beginnen")).to_be_visible()
        await expect(root).to_have_attribute("lang", "de")
        await page.get_by_role("button", name="Hell oder dunkel").click()
        await expect(root).to_have_attribute("data-theme", "light")
        await visit.look()
        await expect(root).to_have_attribute("data-theme", "light")
        await expect(page.get_by_role("button", name="Gespräch beginnen")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_contrast_and_names(theme: str) -> None:
    """Every visible text stands out from its ground by 4.5 to 1, and every control has a name."""
    async with visiting(screen={"color_scheme": theme}) as visit:
        page = visit.page
        assert await page.evaluate(FAINT) == []
        await visit.start()
        visit.publish(
            TurnAdded(turn=turn(0, "user", "Hello", origin="typed")),
            TurnAdded(turn=turn(1, "assistant", "Hello, as", interrupted=True)),
            Notice(kind="stop", text="It stopped. Try `this`."),
            Notice(kind="handled", text="It was handled. Go on."),
            StateChanged(state="speaking"),
        )
        await visit.state("speaking")
        await expect(page.locator(".notice")).to_have_count(2)
        assert await page.evaluate(FAINT) == []
        nameless = await page.evaluate(
            """[...document.querySelectorAll("button, input, select, a, summary")].filter(it =>
                 it.checkVisibility() && !(it.getAttribute("aria-label") || it.textContent.trim() ||
                 it.labels?.length)).map(it => it.outerHTML)"""
        )
        assert nameless == []


FAINT = """(() => {
  const paint = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = colour => {
    paint.clearRect(0, 0, 1, 1); paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const light = c => { const [r, g, b] = c.map(v => { v /= 255;
    return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 });
    return .2126 * r + .7152 * g + .0722 * b };
  const ground = it => { for (; it; it = it.parentElement) {
    const c = rgba(getComputedStyle(it).backgroundColor); if (c[3] === 255) return c }
    return [255, 255, 255, 255] };
  const faint = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const it = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !it.checkVisibility() || it.closest(".vh, :disabled, noscript"))
      continue;
    const [a, b] = [light(rgba(getComputedStyle(it).color)), light(ground(it))].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) faint.push(`${walk.currentNode.data.trim()}: ${ratio.toFixed(2)}`);
  }
  return faint;
})()"""
