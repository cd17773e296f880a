"""Voice to voice through the whole pipeline: end of speech to the first sample of the answer.

A real `jarvis serve` in its own process, and a WebRTC peer that talks to it as the page
does: it plays spoken questions as its microphone and listens to what comes back. Zero is
the moment at which the last voiced sample of the question was sent; the end is the moment
at which the first voiced sample of the answer arrived, and 45 ms for a browser's jitter
buffer, which the peer has none of. A sound card comes on top.

Questions in the German voice of espeak-ng are not understood well enough to measure anything
but their being misheard: German ones want `pico2wave` (Debian's libttspico-utils), which
whisper understands, and Spanish ones Kokoro's weights (`jarvis models --bring kokoro
kokoro-voices`). With `--data` people speak too: short clips of the speech data, in whatever
they say, which is hardly ever a question and often no whole sentence.

    python -m bench.latency --models small,better --per-language 14 --data ../shared/data/speech
"""

from __future__ import annotations

import argparse
import asyncio
import fractions
import json
import shutil
import statistics
import sys
import tempfile
from collections import deque
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import numpy.typing as npt
import soxr
from aiortc import MediaStreamTrack, RTCPeerConnection, RTCSessionDescription
from av import AudioFrame, AudioResampler

from memory.records import Language
from voice.audio import decode
from voice.config import load
from voice.transports.webrtc import InOrder

Samples = npt.NDArray[np.int16]
PEER_HZ = 48_000
PICO = "pico2wave"
FRAME = PEER_HZ // 50
VOICED_DBFS = -45.0
QUIET_S = 2.0
BROWSER_MS = 45  # Chromium's jitter buffer in calls with this page: 30 to 45 ms
CLIP_S = (1.2, 5.0)
SOONEST_MS = 150
HEADROOM_DB = 37.0

NOTEBOOK = """# About me

- My name is Robin and I live in Leipzig.
- My sister Lena's birthday is on May third.
- My brother Tom works as a nurse in Hamburg.
- I am allergic to peanuts.
- I drink my coffee black.
- My dentist is Doctor Weber.
- My dog is called Bruno.
- I want to run a marathon in October.
- My car is a blue Skoda.
- I play the cello on Thursdays.
"""

QUESTIONS: dict[Language, tuple[str, ...]] = {
    "en": (
        "When is my sister's birthday?",
        "Where do I live?",
        "What is my dog called?",
        "What does my brother do for work?",
        "How do I like my coffee?",
        "Who is my dentist?",
        "What colour is my car?",
        "Which instrument do I play?",
        "When do I play the cello?",
        "What do I want to do in October?",
        "What is my sister's name?",
        "Where does my brother work?",
        "Can you tell me what the capital of Peru is?",
        "What could I cook tonight?",
    ),
    "de": (
        "Wann hat meine Schwester Geburtstag?",
        "Wo wohne ich?",
        "Wie heißt mein Hund?",
        "Was macht mein Bruder beruflich?",
        "Wie trinke ich meinen Kaffee?",
        "Wer ist mein Zahnarzt?",
        "Welche Farbe hat mein Auto?",
        "Welches Instrument spiele ich?",
        "Wann spiele ich Cello?",
        "Was habe ich im Oktober vor?",
        "Wie heißt meine Schwester?",
        "Wo arbeitet mein Bruder?",
        "Was ist die Hauptstadt von Österreich?",
        "Was könnte ich heute Abend kochen?",
    ),
    "es": (
        "¿Cuándo es el cumpleaños de mi hermana?",
        "¿Dónde vivo?",
        "¿Cómo se llama mi perro?",
        "¿En qué trabaja mi hermano?",
        "¿Cómo tomo el café?",
        "¿Quién es mi dentista?",
        "¿De qué color es mi coche?",
        "¿Qué instrumento toco?",
        "¿Cuándo toco el violonchelo?",
        "¿Qué quiero hacer en octubre?",
        "¿Cómo se llama mi hermana?",
        "¿Dónde trabaja mi hermano?",
        "¿Cuál es la capital de Perú?",
        "¿Qué podría cocinar esta noche?",
    ),
}


@dataclass
class Row:
    language: Language
    question: str
    total_ms: float
    stages_ms: dict[str, int] = field(default_factory=dict)
    answer: str = ""


def level_dbfs(samples: Samples) -> float:
    if not len(samples):
        return -120.0
    power = float(np.mean((samples.astype(np.float64) / 32768) ** 2))
    return 10 * float(np.log10(power + 1e-12))


def last_voiced(samples: Samples, rate_hz: int) -> int:
    """The sample behind the last 10 ms that are within 35 dB of the loudest."""
    step = rate_hz // 100
    levels = [level_dbfs(samples[i : i + step]) for i in range(0, len(samples), step)]
    peak = max(levels)
    return (max(i for i, level in enumerate(levels) if level > peak - 35) + 1) * step


def headroom_db(samples: Samples) -> float:
    """How far the quietest tenth of a recording lies below its loudest 10 ms."""
    step = PEER_HZ // 100
    levels = [level_dbfs(samples[i : i + step]) for i in range(0, len(samples), step)]
    return max(levels) - float(np.percentile(levels, 10))


class Microphone(MediaStreamTrack):
    """Sends what was queued, else faint noise, 20 ms at a time in real time."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self._queued: deque[tuple[Samples, asyncio.Future[float] | None]] = deque()
        self._sent = 0
        self._began: float | None = None
        self._noise = np.random.default_rng(1)

    def say(self, samples: Samples) -> asyncio.Future[float]:
        """The loop's time at which the last voiced sample was sent."""
        end = last_voiced(samples, PEER_HZ)
        done: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        for at in range(0, len(samples), FRAME):
            frame = samples[at : at + FRAME]
            frame = np.pad(frame, (0, FRAME - len(frame)))
            self._queued.append((frame, done if at < end <= at + FRAME else None))
        return done

    async def recv(self) -> AudioFrame:
        loop = asyncio.get_running_loop()
        if self._began is None:
            self._began = loop.time()
        await asyncio.sleep(max(0.0, self._began + self._sent / PEER_HZ - loop.time()))
        ended = None
        samples = self._noise.normal(0, 6, FRAME).astype(np.int16)
        if self._queued:
            spoken, ended = self._queued.popleft()
            samples = samples + spoken
        frame = AudioFrame.from_ndarray(samples[None, :], layout="mono")
        frame.sample_rate = PEER_HZ
        frame.pts = self._sent
        frame.time_base = fractions.Fraction(1, PEER_HZ)
        self._sent += FRAME
        if ended is not None:
            ended.set_result(loop.time())
        return frame


class Peer:
    """A page without a browser."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._pc = RTCPeerConnection()
        self.microphone = Microphone()
        self.events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.voiced_at: asyncio.Queue[float] = asyncio.Queue()
        self.last_voiced_s = 0.0
        self._listening: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        self._pc.addTrack(self.microphone)
        channel = self._pc.createDataChannel("jarvis")

        @channel.on("message")
        def message(text: str) -> None:
            if text.startswith("{"):
                self.events.put_nowait(json.loads(text))

        @channel.on("open")
        def opened() -> None:
            self._ping = asyncio.create_task(self._keep_alive(channel))

        @self._pc.on("track")
        def track(track: MediaStreamTrack) -> None:
            if track.kind == "audio":
                self._listening = asyncio.create_task(self._listen(track))

        await self._pc.setLocalDescription(await self._pc.createOffer())
        local = self._pc.localDescription
        async with httpx.AsyncClient(timeout=30) as client:
            reply = await client.post(
                f"{self._base_url}/api/offer",
                json={"sdp": local.sdp, "type": local.type},
                headers={"origin": self._base_url},
            )
            reply.raise_for_status()
        answer = reply.json()
        for transceiver in self._pc.getTransceivers():
            receiver: Any = transceiver.receiver
            receiver._RTCRtpReceiver__jitter_buffer = InOrder()
        await self._pc.setRemoteDescription(
            RTCSessionDescription(sdp=answer["sdp"], type=answer["type"])
        )

    async def _keep_alive(self, channel: Any) -> None:
        while channel.readyState == "open":
            channel.send('{"type": "ping"}')
            await asyncio.sleep(1)

    async def _listen(self, track: MediaStreamTrack) -> None:
        loop = asyncio.get_running_loop()
        resampler = AudioResampler(format="s16", layout="mono", rate=PEER_HZ)
        step = PEER_HZ // 100
        while True:
            frame = await track.recv()
            assert isinstance(frame, AudioFrame)
            arrived_s = loop.time()
            for mono in resampler.resample(frame):
                samples = mono.to_ndarray().reshape(-1).astype(np.int16)
                for at in range(0, len(samples), step):
                    if level_dbfs(samples[at : at + step]) > VOICED_DBFS:
                        heard_s = arrived_s - (len(samples) - at) / PEER_HZ
                        if heard_s - self.last_voiced_s > 0.3:
                            self.voiced_at.put_nowait(arrived_s)
                        self.last_voiced_s = heard_s

    async def close(self) -> None:
        if self._listening:
            self._listening.cancel()
        await self._pc.close()


def recorded_speech(
    data: Path, per_language: int, languages: list[Language]
) -> list[tuple[Language, str, Samples]]:
    """Short clips of people, quiet enough that one can tell where the voice ends."""
    rows = [json.loads(line) for line in (data / "manifest.jsonl").read_text().splitlines()]
    found: list[tuple[Language, str, Samples]] = []
    for language in languages:
        clips = [
            row
            for row in rows
            if row["file"].startswith(f"{language}/")
            and row.get("transcript")
            and CLIP_S[0] <= row["seconds"] <= CLIP_S[1]
        ]
        mine = 0
        for row in clips:
            spoken = soxr.resample(decode(data / row["file"]), 16_000, PEER_HZ).astype(np.int16)
            if mine < per_language and headroom_db(spoken) > HEADROOM_DB:
                found.append((language, row["transcript"], spoken))
                mine += 1
    return found


async def spoken_questions(
    per_language: int, languages: list[Language]
) -> list[tuple[Language, str, Samples]]:
    """The questions as sound, in voices that are understood: hibari's, Pico's in German, and
    Kokoro's in Spanish."""
    from voice.equipment import speech_of

    speech = speech_of(load({"voice_es": "kokoro"}))
    questions: list[tuple[Language, str, Samples]] = []
    for language in languages:
        for text in QUESTIONS[language][:per_language]:
            if language == "de":
                questions.append((language, text, await pico(text)))
                continue
            pcm = b"".join([chunk async for chunk in speech.speak(text, language)])
            resampler = AudioResampler(format="s16", layout="mono", rate=PEER_HZ)
            frame = AudioFrame.from_ndarray(
                np.frombuffer(pcm, dtype=np.int16)[None, :], layout="mono"
            )
            frame.sample_rate = 24_000
            parts = [
                part.to_ndarray().reshape(-1)
                for source in (frame, None)
                for part in resampler.resample(source)
            ]
            questions.append((language, text, np.concatenate(parts)))
    await speech.close()
    return questions


async def pico(text: str) -> Samples:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "question.wav"
        made = await asyncio.create_subprocess_exec(PICO, "-l", "de-DE", "-w", str(path), text)
        if await made.wait():
            raise SystemExit(f"{PICO} failed.")
        spoken: Samples = soxr.resample(decode(path), 16_000, PEER_HZ).astype(np.int16)
    return spoken


async def ask_all(
    model: str, language: Language, questions: list[tuple[Language, str, Samples]], extra: list[str]
) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault"
        (vault / "society/jarvis").mkdir(parents=True)
        (vault / "society/jarvis/USER.md").write_text(NOTEBOOK)
        port = 7790
        command = [
            sys.executable, "-m", "voice", "serve", "--no-open", "--port", str(port),
            "--vault", str(vault), "--state", str(Path(folder) / "state"),
            "--engine", "local", "--model", model, "--language", language, *extra,
        ]  # fmt: skip
        log = (Path(folder) / "serve.log").open("w")
        server = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=log)
        base_url = f"http://127.0.0.1:{port}"
        try:
            await ready(base_url, server)
            return await talk(base_url, questions)
        except BaseException:
            log.flush()
            sys.stderr.write((Path(folder) / "serve.log").read_text()[-3000:])
            raise
        finally:
            server.terminate()
            await server.wait()


async def ready(base_url: str, server: asyncio.subprocess.Process) -> None:
    async with asyncio.timeout(240), httpx.AsyncClient() as client:
        while server.returncode is None:
            try:
                if (await client.get(f"{base_url}/api/status")).json()["ready"]:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.25)
    raise SystemExit("The server ended before it was ready.")


async def talk(base_url: str, questions: list[tuple[Language, str, Samples]]) -> list[Row]:
    loop = asyncio.get_running_loop()
    peer = Peer(base_url)
    await peer.connect()
    rows: list[Row] = []
    await asyncio.sleep(3)
    for language, text, samples in questions:
        while not peer.voiced_at.empty():
            peer.voiced_at.get_nowait()
        ended_s = await peer.microphone.say(samples)
        row = Row(language, text, float("nan"))
        rows.append(row)
        try:
            async with asyncio.timeout(20):
                row.total_ms = (await peer.voiced_at.get() - ended_s) * 1000 + BROWSER_MS
        except TimeoutError:
            sys.stderr.write(f"no answer: {text}\n")
        # The next question comes when the answer is over and two seconds were quiet.
        while (quiet_s := loop.time() - peer.last_voiced_s) < QUIET_S:  # noqa: ASYNC110 - each sound moves the end
            await asyncio.sleep(QUIET_S - quiet_s)
        while not peer.events.empty():
            event = peer.events.get_nowait()
            if event["type"] == "latency":
                row.stages_ms = event["stages_ms"]
            elif event["type"] == "turn" and event["turn"]["speaker"] == "assistant":
                row.answer = event["turn"]["text"]
        sys.stderr.write(f"{row.total_ms:6.0f} ms  {text}  ->  {row.answer}  {row.stages_ms}\n")
    await peer.close()
    return rows


def percentile(values: list[float], share: float) -> float:
    return float(np.percentile(values, share * 100)) if values else float("nan")


def table(title: str, rows: list[Row]) -> str:
    given = [row.total_ms for row in rows if row.total_ms == row.total_ms]
    # Sooner than anything can be said is an answer to the first half of a clip.
    answered = [total_ms for total_ms in given if total_ms > SOONEST_MS]
    stages = {
        name: statistics.median([row.stages_ms[name] for row in rows if name in row.stages_ms])
        for name in ("pause", "transcript", "first_word", "first_sound")
        if any(name in row.stages_ms for row in rows)
    }
    parts = " | ".join(
        f"{stages.get(n, float('nan')):.0f}"
        for n in ("pause", "transcript", "first_word", "first_sound")
    )
    return (
        f"| {title} | {len(answered)}/{len(rows)} | {len(given) - len(answered)} | {percentile(answered, 0.5):.0f} | "
        f"{percentile(answered, 0.95):.0f} | {min(answered, default=float('nan')):.0f} | {parts} |"
    )


async def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--models", default="small,better")
    options.add_argument("--languages", default="en,de,es")
    options.add_argument("--per-language", type=int, default=14)
    options.add_argument("--data", type=Path, help="folder with manifest.jsonl")
    options.add_argument("--serve", nargs="*", default=[], help="more flags for jarvis serve")
    chosen = options.parse_args()
    languages: list[Language] = chosen.languages.split(",")
    can_ask = [each for each in languages if each != "de" or shutil.which(PICO)]
    if can_ask != languages:
        sys.stderr.write(f"No German questions: {PICO} is not there.\n")
    asked = await spoken_questions(chosen.per_language, can_ask)
    said = recorded_speech(chosen.data, chosen.per_language, languages) if chosen.data else []
    print(
        "| model, language | answered | cut in | p50 ms | p95 ms | best | pause | transcript | first word | first sound |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for model in chosen.models.split(","):
        rows: dict[str, list[Row]] = {"questions": [], "people": []}
        for language in languages:
            for what, all_of_them in (("questions", asked), ("people", said)):
                mine = [each for each in all_of_them if each[0] == language]
                if mine:
                    got = await ask_all(model, language, mine, chosen.serve)
                    rows[what] += got
                    print(table(f"{model}, {language}, {what}", got), flush=True)
        for what, got in (*rows.items(), ("all", [*chain(*rows.values())])):
            if got:
                print(table(f"**{model}, {what}**", got), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
