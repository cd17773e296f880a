"""Half an hour of calls in a real browser, whose microphone plays what `trial.toml` says.

    python -m bench.trial --data ../shared/data/speech [--out DIR] [--only NAME …]

A real `jarvis serve` with its models, Chromium as a user has it, questions and statements in
three languages, people, noise, pauses, interruptions; the network taken away in mid-call, the
tab closed, the browser killed. Prints beside each other what was played and what the page
shows, then what came of it. It runs in a network namespace of its own (`unshare -n`, so Linux,
and as root or where a user may make one): taking the network down takes down nobody else's.
Needs chromium, and voices that whisper understands: see bench/latency.py.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
import tomllib
import wave
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soxr
from playwright.async_api import Error, Page

from bench.latency import NOTEBOOK, PEER_HZ, pico, ready
from memory.records import Language
from tests.browser import chromium
from voice.audio import decode
from voice.config import load
from voice.equipment import speech_of
from voice.speech.client import Speech
from voice.speech.sound import RATE_HZ

Sound = npt.NDArray[np.float32]

HZ = 16_000
SPEECH_PEAK = 0.4
NOISE_RMS = 0.05
ROOM_RMS = 3e-4
CLIP_S = (2.0, 7.0)
QUIET_AT_END_S = 14.0
BETWEEN_CALLS_S = 6.0
LOOK_EVERY_S = 0.25
LOCALES: dict[Language, str] = {"en": "en-GB", "de": "de-DE", "es": "es-ES"}
PORT = 7791
ROOT = Path(__file__).parents[1]

_TURNS = """() => [...document.querySelectorAll('#turns .turn')].map(
    turn => [turn.classList.contains('u') ? 'you' : 'Jarvis',
             turn.innerText.replace(/\\s+/g, ' ').slice(0, 300)])"""
_STATE = "() => document.querySelector('[role=status]')?.innerText ?? ''"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What is played or done from `at_s` of the call on, for `seconds`."""

    at_s: float
    seconds: float
    what: str
    label: str
    holds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    name: str
    language: Language
    steps: tuple[Step, ...]
    microphone: Path
    seconds: float


@dataclass(slots=True)
class Seen:
    """What the page showed, each turn in its last wording with the second at which it came."""

    turns: dict[int, tuple[float, str, str]] = field(default_factory=dict)
    states: list[tuple[float, str]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def answers_between(self, begins_s: float, ends_s: float) -> str:
        return " ".join(
            text
            for at, who, text in self.turns.values()
            if who == "Jarvis" and begins_s <= at < ends_s
        ).lower()


class Sounds:
    """The sound of a step: said by a voice, by a person, or noise."""

    def __init__(self, data: Path, speech: Speech) -> None:
        self._data, self._speech = data, speech
        rows = [json.loads(line) for line in (data / "manifest.jsonl").read_text().splitlines()]
        self._clips: dict[str, Iterator[dict[str, Any]]] = {
            language: iter(
                [
                    row
                    for row in rows
                    if row["file"].startswith(f"{language}/")
                    and row.get("transcript")
                    and CLIP_S[0] < row["seconds"] < CLIP_S[1]
                ]
            )
            for language in LOCALES
        }

    async def of(self, step: dict[str, Any], language: Language) -> tuple[str, Sound]:
        if "say" in step:
            return step["say"], _loud(await self._said(step["say"], step.get("in", language)))
        if "clip" in step:
            row = next(self._clips[step["clip"]])
            return f"[person] {row['transcript']}", _loud(_read(self._data / row["file"]))
        found = next((self._data / "noise").glob(f"*{step['noise']}*"))
        sound = np.resize(_read(found), int(step["seconds"] * HZ)).astype(np.float32)
        level = float(np.sqrt(np.mean(sound**2)))
        return f"[{found.stem}]", _times(sound, NOISE_RMS / max(level, 1e-6))

    async def _said(self, text: str, language: Language) -> Sound:
        if language == "de":
            spoken, hz = await pico(text), PEER_HZ
        else:
            pcm = b"".join([piece async for piece in self._speech.speak(text, language)])
            spoken, hz = np.frombuffer(pcm, "<i2"), RATE_HZ
        resampled: Sound = soxr.resample(spoken.astype(np.float32) / 32768, hz, HZ)
        return resampled


def _read(file: Path) -> Sound:
    return _times(decode(file).astype(np.float32), 1 / 32768)


def _loud(sound: Sound) -> Sound:
    return _times(sound, SPEECH_PEAK / max(float(np.abs(sound).max()), 1e-6))


def _times(sound: Sound, factor: float) -> Sound:
    return (sound * factor).astype(np.float32)


async def scripted(call: dict[str, Any], sounds: Sounds, folder: Path) -> Script:
    at_s, steps, heard = 0.0, [], []
    for row in call["steps"]:
        at_s += row["after"]
        what = next(key for key in ("say", "clip", "noise", "act") if key in row)
        if what == "act":
            seconds, label = row.get("seconds", 0.0), row["act"]
        else:
            label, sound = await sounds.of(row, call["language"])
            seconds = len(sound) / HZ
            heard.append((at_s, sound))
        steps.append(
            Step(
                at_s=at_s,
                seconds=seconds,
                what=what,
                label=label,
                holds=tuple(row.get("holds", ())),
            )
        )
        at_s += seconds
    whole_s = at_s + QUIET_AT_END_S
    track = np.random.default_rng(1).normal(0, ROOM_RMS, int(whole_s * HZ)).astype(np.float32)
    for begins_s, sound in heard:
        first = int(begins_s * HZ)
        track[first : first + len(sound)] += sound
    path = folder / f"{call['name'].replace(' ', '-')}.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(HZ)
        file.writeframes((np.clip(track, -1, 1) * 32767).astype("<i2").tobytes())
    return Script(
        name=call["name"],
        language=call["language"],
        steps=tuple(steps),
        microphone=path,
        seconds=whole_s,
    )


async def held(script: Script, address: str, folder: Path) -> Seen:
    seen = Seen()
    async with chromium(microphone=script.microphone) as browser:
        page = await browser.new_page(locale=LOCALES[script.language])
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        page.on(
            "console",
            lambda said: seen.complaints.append(said.text) if said.type == "error" else None,
        )
        await page.goto(address)
        await page.locator("[data-act=start]:visible").first.click()
        began_s = time.monotonic()
        acts = [step for step in script.steps if step.what == "act"]
        while (now_s := time.monotonic() - began_s) < script.seconds:
            if acts and now_s >= acts[0].at_s:
                if await _done(acts.pop(0), page, script, seen, now_s):
                    continue
                return seen
            await _looked(page, seen, now_s)
            await asyncio.sleep(LOOK_EVERY_S)
        await page.screenshot(path=folder / f"{script.microphone.stem}.png")
    return seen


async def _looked(page: Page, seen: Seen, now_s: float) -> None:
    try:
        for place, (who, text) in enumerate(await page.evaluate(_TURNS)):
            came_s = seen.turns[place][0] if place in seen.turns else now_s
            seen.turns[place] = (came_s, who, text)
        state = await page.evaluate(_STATE)
    except Error as error:
        state = f"(no look at the page: {str(error)[:80]})"
    if not seen.states or seen.states[-1][1] != state:
        seen.states.append((now_s, state))


async def _done(act: Step, page: Page, script: Script, seen: Seen, now_s: float) -> bool:
    """Whether there is a page left to look at."""
    if act.label == "network":
        await _ip("link", "set", "lo", "down")
        await asyncio.sleep(act.seconds / 2)
        await _looked(page, seen, now_s + act.seconds / 2)
        await asyncio.sleep(act.seconds / 2)
        await _ip("link", "set", "lo", "up")
        return True
    if act.label == "close":
        await page.close(run_before_unload=False)
    elif act.label == "kill":
        await _ran("pkill", "-9", "-f", str(script.microphone))
    return False


async def _ip(*words: str) -> None:
    if await _ran("ip", *words):
        raise SystemExit(f"ip {' '.join(words)} failed.")


async def _ran(*words: str) -> int:
    return await (await asyncio.create_subprocess_exec(*words)).wait()


@asynccontextmanager
async def jarvis(folder: Path, flags: Sequence[str]) -> AsyncIterator[asyncio.subprocess.Process]:
    log = (folder / "serve.log").open("w")
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "voice", "serve", "--no-open", "--port", str(PORT), "--engine", "local",
        *_places(folder), *flags, stdout=log, stderr=log, cwd=ROOT,
    )  # fmt: skip
    try:
        await ready(f"http://127.0.0.1:{PORT}", server)
        yield server
    finally:
        if server.returncode is None:
            server.terminate()
        await server.wait()
        log.close()


def _places(folder: Path) -> tuple[str, ...]:
    return ("--vault", str(folder / "vault"), "--state", str(folder / "state"))


def resident_mb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) // 1024


def answered(script: Script, seen: Seen) -> list[tuple[Step, bool]]:
    """Each question whose answer is known, and whether one came before the next step but one."""
    asked = []
    begins = [step.at_s for step in script.steps] + [script.seconds, script.seconds]
    for place, step in enumerate(script.steps):
        if step.holds:
            answer = seen.answers_between(step.at_s + step.seconds, begins[place + 1] + 2.0)
            asked.append((step, any(fact in answer for fact in step.holds)))
    return asked


def side_by_side(script: Script, seen: Seen) -> str:
    rows = [(step.at_s, f"> {step.what:5} {step.label}") for step in script.steps]
    rows += [(at, f"  {who:6} {text}") for at, who, text in seen.turns.values()]
    lines = [f"{at:7.1f} {row}" for at, row in sorted(rows, key=lambda row: row[0])]
    if any(step.what == "act" for step in script.steps):
        lines.append("states: " + " | ".join(f"{at:.0f} {text[:60]}" for at, text in seen.states))
    lines += [f"complaint: {text[:200]}" for text in seen.complaints]
    return "\n".join(lines)


async def run(data: Path, folder: Path, only: Sequence[str], flags: Sequence[str]) -> None:
    table = tomllib.loads((ROOT / "bench/trial.toml").read_text(encoding="utf-8"))
    for line in NETWORK:
        await _ip(*line.split())
    home = folder / "vault/society/jarvis"
    home.mkdir(parents=True)
    (home / "USER.md").write_text(NOTEBOOK, encoding="utf-8")
    speech = speech_of(load({"voice_es": "kokoro"}))
    sounds = Sounds(data, speech)
    scripts = [
        await scripted(call, sounds, folder)
        for call in table["call"]
        if not only or call["name"] in only
    ]
    await speech.close()
    right, seconds, complaints = [], 0.0, 0
    async with jarvis(folder, flags) as server:
        before_mb = resident_mb(server.pid)
        for script in scripts:
            seen = await held(script, f"http://127.0.0.1:{PORT}", folder)
            print(f"\n## {script.name}, {script.seconds:.0f} s\n{side_by_side(script, seen)}")
            right += answered(script, seen)
            seconds += script.seconds
            complaints += len(seen.complaints)
            await asyncio.sleep(BETWEEN_CALLS_S)
            if server.returncode is not None:
                raise SystemExit("The server ended.")
            print(f"resident {resident_mb(server.pid)} MB (at the start {before_mb})", flush=True)
    for words in (("pending",), ("changes",), ("stats",)):
        print(f"\n$ jarvis {' '.join(words)}")
        sys.stdout.flush()
        await _ran(sys.executable, "-m", "voice", *words, *_places(folder))
    print((home / "USER.md").read_text(encoding="utf-8"))
    wrong = [step.label for step, is_right in right if not is_right]
    print(
        f"{len(scripts)} calls, {seconds / 60:.1f} minutes; {len(right) - len(wrong)} of "
        f"{len(right)} questions answered right; complaints of the page: {complaints}"
    )
    print("not right: " + " | ".join(wrong))


NETWORK = (
    "link set lo up",
    "link add outside type veth peer name inside",
    "addr add 10.77.0.1/24 dev outside",
    "link set outside up",
    "link set inside up",
)
"""Chromium makes no call where there is nothing but "lo"."""


def in_own_network() -> None:
    """Starts this command anew where "lo" is nobody else's."""
    if "JARVIS_TRIAL" in os.environ:
        return
    os.environ["JARVIS_TRIAL"] = "1"
    alone = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
    os.execvp(alone[0], [*alone, sys.executable, "-m", "bench.trial", *sys.argv[1:]])  # noqa: S606


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    options.add_argument("--data", type=Path, required=True, help="folder with manifest.jsonl")
    options.add_argument("--out", type=Path, help="keeps sound, pictures and state here")
    options.add_argument("--only", nargs="*", default=[], help="names of calls")
    options.add_argument("--serve", nargs="*", default=[], help="more flags for jarvis serve")
    chosen = options.parse_args()
    in_own_network()
    with tempfile.TemporaryDirectory() as made:
        folder = chosen.out or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        asyncio.run(run(chosen.data, folder, chosen.only, chosen.serve))


if __name__ == "__main__":
    main()
