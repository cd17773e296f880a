"""The main job on real input: asked aloud in a browser, answered aloud from the notebook."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import re
import socket
import sqlite3
import sys
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import pytest
from playwright.async_api import Page, expect

from tests.browser import chromium, needs_chromium
from voice import config as settings
from voice.audio import decode
from voice.equipment import hearing_worker, speech_of
from voice.hearing.listen import hear

pytestmark = [pytest.mark.weights, pytest.mark.browser, needs_chromium]

NOTEBOOK = """# About me

- My name is Robin and I live in Leipzig.
- My sister Lena has her birthday on May third.
- I drink my coffee black.
"""
ANSWERED_MS = 90_000  # a machine that does other things at the same time is slow, not wrong

# Keeps what the browser received, from its own decoder, as a WebM file.
RECORD = """
() => {
  const Peer = window.RTCPeerConnection;
  window.received = [];
  window.RTCPeerConnection = class extends Peer {
    constructor(...args) {
      super(...args);
      this.addEventListener("track", ({ track }) => {
        if (track.kind !== "audio") return;
        const recorder = new MediaRecorder(new MediaStream([track]));
        recorder.ondataavailable = ({ data }) => window.received.push(data);
        recorder.start(200);
      });
    }
  };
}
"""
RECEIVED = """
async () => {
  const bytes = new Uint8Array(await new Blob(window.received).arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768)
    text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(text);
}
"""


# A microphone that says a clip when it is told to: `say("name")`.
MICROPHONE = """
clips => {
  let into = null;
  navigator.mediaDevices.getUserMedia = async () => {
    const context = new AudioContext();
    await context.resume();
    into = context.createMediaStreamDestination();
    const room = context.createConstantSource(); // a microphone never gives nothing
    room.offset.value = 0.0001;
    room.connect(into);
    room.start();
    return into.stream;
  };
  window.say = async name => {
    const bytes = Uint8Array.from(atob(clips[name]), letter => letter.charCodeAt(0));
    const source = into.context.createBufferSource();
    source.buffer = await into.context.decodeAudioData(bytes.buffer);
    source.connect(into);
    source.start();
  };
}
"""


async def said(text: str) -> bytes:
    """These words by the English voice, as samples of 16 bits, 24 kHz."""
    speech = speech_of(settings.load())
    spoken = b"".join([chunk async for chunk in speech.speak(text, "en")])
    await speech.close()
    return spoken


async def wav_of(text: str) -> bytes:
    """The same as a file."""
    spoken = await said(text)
    sink = io.BytesIO()
    with wave.open(sink, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(24_000)
        file.writeframes(spoken)
    return sink.getvalue()


async def speak_question(target: Path, text: str) -> None:
    """A wav file for the browser's microphone: four seconds of nothing, the question, nothing."""
    spoken = await said(text)
    room = np.random.default_rng(1).normal(0, 8, 24_000 * 40).astype(np.int16)
    question = np.frombuffer(spoken, np.int16)
    room[96_000 : 96_000 + len(question)] += question
    with wave.open(str(target), "wb") as sink:
        sink.setnchannels(1)
        sink.setsampwidth(2)
        sink.setframerate(24_000)
        sink.writeframes(room.tobytes())


@dataclass(frozen=True)
class Running:
    address: str
    process: asyncio.subprocess.Process


@asynccontextmanager
async def jarvis(vault: Path, state: Path) -> AsyncIterator[Running]:
    """`jarvis serve` as a user starts it, once its models are loaded."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "voice", "serve", "--no-open", "--port", str(port),
        "--vault", str(vault), "--state", str(state),
        "--engine", "local", "--model", "small", "--language", "en",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "JARVIS_LLM_MODEL": "", "JARVIS_LLM_URL": ""},
    )  # fmt: skip
    assert server.stdout is not None
    said = []
    try:
        async with asyncio.timeout(180):
            # The files' place is the last line but the warnings: then everything is loaded.
            async for line in server.stdout:
                said.append(line.decode())
                if line.startswith(b"Files"):
                    break
            else:
                pytest.fail("jarvis ended: " + "".join(said))
        yield Running(f"http://127.0.0.1:{port}", server)
    finally:
        if server.returncode is None:
            server.terminate()
        await server.wait()


@asynccontextmanager
async def called(folder: Path, words: str, *scripts: str) -> AsyncIterator[Page]:
    """A call in a browser whose microphone says these words, if any; USER.md is NOTEBOOK."""
    notebook = folder / "vault/society/jarvis/USER.md"
    notebook.parent.mkdir(parents=True)
    notebook.write_text(NOTEBOOK)
    spoken = folder / "spoken.wav"
    if words:
        await speak_question(spoken, words)
    async with (
        jarvis(folder / "vault", folder / "state") as running,
        chromium(microphone=spoken if words else None) as browser,
    ):
        page = await browser.new_page()
        for script in scripts:
            await page.add_init_script(script)
        await page.goto(running.address)
        await page.get_by_role("button", name="Start talking").first.click()
        yield page


async def answered(page: Page) -> None:
    turns = page.locator("#turns > .turn")
    await expect(turns.nth(1)).to_be_visible(timeout=ANSWERED_MS)


async def test_the_birthday_is_asked_aloud_and_answered_aloud(tmp_path: Path) -> None:
    """The question is written on the page, and what the browser played holds the birthday."""
    async with called(tmp_path, "When is my sister's birthday?", f"({RECORD})()") as page:
        await answered(page)
        transcript = await page.locator("#turns").inner_text()
        received = base64.b64decode(await page.evaluate(RECEIVED))
        await page.locator("#hang").click()
        await expect(page.locator("#hang")).to_be_hidden(timeout=15_000)
    assert re.search(r"sister'?s birthday", transcript, re.IGNORECASE), transcript
    sound = tmp_path / "received.webm"
    sound.write_bytes(received)
    words = await understood(sound)
    assert re.search(r"\bmay\b", words), (words, transcript)
    assert re.search(r"\b(third|3rd|3)\b", words), (words, transcript)
    assert [mark["trigger"] for mark in logged(tmp_path / "state", "handed_over")] == ["hang-up"]


async def test_remember_that_is_in_the_notebook_before_it_is_answered(tmp_path: Path) -> None:
    """Said aloud, it stands in USER.md when the answer begins, and on the page with its place."""
    notebook = tmp_path / "vault/society/jarvis/USER.md"
    async with called(tmp_path, "Please remember that my dog is called Rex.") as page:
        saved = page.locator("#turns > .card")
        await expect(saved).to_contain_text("Saved in USER.md", timeout=ANSWERED_MS)
        lines = notebook.read_text().splitlines()
        await answered(page)
        transcript = await page.locator("#turns").inner_text()
    assert re.search(r"remember that my dog", transcript, re.IGNORECASE), transcript
    assert re.fullmatch(r"- My dog is called Rex\.?", lines[-1]), (lines, transcript)
    assert lines[:-1] == NOTEBOOK.splitlines()


async def test_speech_cuts_an_answer_short(tmp_path: Path) -> None:
    """Who speaks into an answer silences it; the page says that it was cut, and the new question is
    written and answered."""
    clips = {
        # A long answer: on a busy machine words that are spoken into it are understood seconds later.
        "ask": await wav_of("Please count slowly from one to forty."),
        "cut": await wav_of("Wait a moment, please stop. When is my sister's birthday?"),
    }
    sounds = {name: base64.b64encode(clip).decode() for name, clip in clips.items()}
    async with called(tmp_path, "", f"({MICROPHONE})({json.dumps(sounds)})") as page:
        await expect(page.locator("#word")).to_have_text("Listening", timeout=ANSWERED_MS)
        await page.evaluate("say('ask')")
        speaking = page.locator("body[data-state=speaking]")
        await expect(speaking).to_have_count(1, timeout=ANSWERED_MS)
        await page.evaluate("say('cut')")
        await expect(page.locator("#turns .turn.j .cut")).to_be_visible(timeout=ANSWERED_MS)
        asked = page.locator("#turns .turn.u").nth(1)
        await expect(asked).to_contain_text("birthday", timeout=ANSWERED_MS)
        await expect(page.locator("#turns .turn.j").nth(1)).to_be_visible(timeout=ANSWERED_MS)


def logged(state: Path, kind: str) -> list[dict[str, object]]:
    """What the event log holds of this kind, oldest first."""
    with closing(sqlite3.connect(state / "events.db")) as database:
        rows = database.execute("SELECT data FROM events WHERE kind = ? ORDER BY id", (kind,))
        return [json.loads(data) for (data,) in rows]


async def understood(sound: Path) -> str:
    decode(sound)
    worker = hearing_worker(settings.load())
    try:
        turns = await hear(sound, worker, language="en", languages=("en",))
    finally:
        await worker.close()
    return " ".join(turn.text for turn in turns).lower()


async def test_the_page_tells_who_answers(tmp_path: Path) -> None:
    """Before a word is said the page names the model, what it can't, and the next step."""
    (tmp_path / "vault").mkdir()
    async with jarvis(tmp_path / "vault", tmp_path / "state") as running:
        async with httpx.AsyncClient() as client:
            status = (await client.get(f"{running.address}/api/status")).json()
        assert status["ready"]
        assert "0.5B" in status["engine"]["thinks"]
        assert "health" in status["engine"]["warning"]
        assert status["engine"]["better"]


async def test_a_process_that_is_killed_in_mid_call_loses_no_turn(tmp_path: Path) -> None:
    """At the next start the turns so far are handed over, once; at the one after, nothing."""
    vault, state = tmp_path / "vault", tmp_path / "state"
    vault.mkdir()
    async with jarvis(vault, state) as running, chromium() as browser:
        page = await browser.new_page()
        await page.goto(running.address)
        await page.get_by_role("button", name="Start talking").first.click()
        await expect(page.locator("#word")).to_have_text("Listening", timeout=30_000)
        await page.locator("#text").fill("Who was here before the lights went out?")
        await page.keyboard.press("Enter")
        await expect(page.locator("#turns > li").first).to_be_visible(timeout=30_000)
        await on_disk(page, state, "before the lights went out")
        running.process.kill()
        await running.process.wait()
    assert logged(state, "reviewed") == []
    for _ in range(2):
        async with jarvis(vault, state) as running, chromium() as browser:
            page = await browser.new_page()
            await page.goto(running.address)
            await nothing_left(page, state)
        (reviewed,) = logged(state, "reviewed")
        assert (reviewed["first"], reviewed["outcome"]) == (0, "nothing marked")


async def nothing_left(page: Page, state: Path) -> None:
    """Until every transcript was handed over and reviewed: then it is gone."""
    async with asyncio.timeout(60):
        while any((state / "calls").glob("*.jsonl")):
            await page.evaluate("() => new Promise(requestAnimationFrame)")


async def on_disk(page: Page, state: Path, words: str) -> None:
    """Until a transcript holds these words: they are synced beside the answer, not before it."""
    async with asyncio.timeout(30):
        while not any(words in path.read_text() for path in (state / "calls").glob("*.jsonl")):
            # Each round trip to the page gives the disk its time.
            await page.evaluate("() => new Promise(requestAnimationFrame)")
