"""How well and how fast the ears hear, on real recordings.

    python bench/hearing.py --data ../shared/data/speech

Word error rates of the whole path (voice detection, turn taking, transcription) beside the
bare model on the same files in the same run, as they are and behind a second of a quiet room, as
in a call; turns out of noise; what an idle call and a talking one cost; how long the words of a
turn take. Prints Markdown.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
from faster_whisper import WhisperModel

from memory.records import LANGUAGES, Language
from voice.audio import RATE_HZ, Samples, decode
from voice.hearing.detector import FRAME_BYTES
from voice.hearing.listen import hear_samples
from voice.hearing.listener import HearingSettings, Listener
from voice.records import Heard, UserSaid
from voice.weights import path_of
from voice.workers import Worker

# Transcripts that people wrote; the others came from a recogniser.
WRITTEN = ("dataset", "file name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    path: Path
    language: Language
    transcript: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    clips: int
    words: int
    ours: float
    bare: float
    worse: tuple[float, float]
    """Ours less the bare model's: the middle 95 % of clips drawn again and again."""
    turns: int


DRAWS = 10_000
ROOM_S = 1.0


def interval(truth: Sequence[str], ours: Sequence[str], bare: Sequence[str]) -> tuple[float, float]:
    """How much worse ours is, by a paired bootstrap over the clips."""
    lengths = np.array([len(text.split()) for text in truth])
    more = np.array(
        [
            (jiwer.wer(t, o) - jiwer.wer(t, b)) * len(t.split())
            for t, o, b in zip(truth, ours, bare, strict=True)
        ]
    )
    drawn = np.random.default_rng(0).integers(0, len(truth), (DRAWS, len(truth)))
    worse = more[drawn].sum(axis=1) / lengths[drawn].sum(axis=1)
    low, high = np.percentile(worse, (2.5, 97.5))
    return float(low), float(high)


def normalised(text: str) -> str:
    """Lower case without accents and punctuation, for both sides alike; "2.30pm" and "2 30 p.m." are one."""
    folded = unicodedata.normalize("NFD", text.casefold())
    plain = "".join(c for c in folded if c.isascii() or c == "ß")
    return re.sub(r"\b([ap]) m\b", r"\1m", " ".join(re.findall(r"[0-9]+|[a-zß]+", plain)))


def clips(data: Path) -> tuple[list[Clip], list[Path]]:
    """Spoken clips whose transcript somebody wrote, and clips of noise."""
    rows = [json.loads(line) for line in (data / "manifest.jsonl").read_text().splitlines()]
    spoken = [
        Clip(path=data / row["file"], language=row["lang"], transcript=row["transcript"])
        for row in rows
        if row.get("transcript_origin") in WRITTEN
    ]
    return spoken, [data / row["file"] for row in rows if row["file"].startswith("noise/")]


def said(events: Sequence[Heard]) -> list[UserSaid]:
    return [event for event in events if isinstance(event, UserSaid)]


async def word_errors(
    spoken: Sequence[Clip],
    worker: Worker,
    whisper: WhisperModel,
    *,
    before: Samples,
    verbose: bool,
) -> dict[Language, Errors]:
    """Each clip behind `before`."""
    table: dict[Language, Errors] = {}
    for language in LANGUAGES:
        of_language = [clip for clip in spoken if clip.language == language]
        truth, ours, bare, turns = [], [], [], 0
        for clip in of_language:
            samples = np.concatenate([before, decode(clip.path)])
            heard = said(await hear_samples(samples, worker, language=language))
            turns += len(heard)
            audio = samples.astype(np.float32) / 32768.0
            segments, _ = await asyncio.to_thread(whisper.transcribe, audio, language=language)
            truth.append(normalised(clip.transcript))
            ours.append(normalised(" ".join(turn.text for turn in heard)))
            bare.append(normalised(" ".join(segment.text for segment in segments)))
            if verbose and ours[-1] != truth[-1]:
                print(f"{clip.path.name}\n  {truth[-1]}\n  {ours[-1]}\n  {bare[-1]}", flush=True)
        table[language] = Errors(
            clips=len(of_language),
            words=sum(len(text.split()) for text in truth),
            ours=jiwer.wer(truth, ours),
            bare=jiwer.wer(truth, bare),
            worse=interval(truth, ours, bare),
            turns=turns,
        )
    return table


def cpu_s(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", text)
    assert found is not None
    return int(found.group(1)) / 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    seconds: float
    ears_cores: float
    worker_cores: float
    events: list[Heard]


async def live(samples: Samples, worker: Worker) -> Cost:
    """Feed samples at the pace at which they were spoken."""
    loop = asyncio.get_running_loop()
    heard: list[Heard] = []
    assert worker.pid is not None
    pcm = samples.astype("<i2").tobytes()
    async with asyncio.TaskGroup() as tasks:
        listener = Listener(
            worker,
            HearingSettings(),
            LANGUAGES,
            "en",
            tell=heard.append,
            spawn=tasks.create_task,
            now=loop.time,
        )
        ears, child, began = time.process_time(), cpu_s(worker.pid), loop.time()
        for number, start in enumerate(range(0, len(pcm) - FRAME_BYTES + 1, FRAME_BYTES), 1):
            await asyncio.sleep(max(0.0, began + number * 0.02 - loop.time()))
            listener.frame(pcm[start : start + FRAME_BYTES])
        await listener.finish()
    seconds = loop.time() - began
    return Cost(
        seconds=seconds,
        ears_cores=(time.process_time() - ears) / seconds,
        worker_cores=(cpu_s(worker.pid) - child) / seconds,
        events=heard,
    )


def room(seconds: float) -> Samples:
    noise: Samples = np.random.default_rng(0).normal(0, 20, int(seconds * RATE_HZ)).astype(np.int16)
    return noise


def percentiles(values: Sequence[float]) -> str:
    ordered = sorted(values)
    high = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"{statistics.median(ordered):.0f} / {high:.0f}"


async def measure(data: Path, *, talk: int, verbose: bool) -> None:
    spoken, noise = clips(data)
    folder = path_of("whisper-base")
    whisper = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=2)
    worker = Worker("voice.hearing.worker", str(folder), title="Hearing")
    await worker.start()
    await worker.call("warm", {"languages": LANGUAGES})
    assert worker.pid is not None
    print("| language | clips | words | turns | ours WER % | bare model WER % | worse by, 95 % |")
    print("|---|---|---|---|---|---|---|")
    for where, before_s in (("", 0.0), (", in a room", ROOM_S)):
        before = room(before_s)
        table = await word_errors(spoken, worker, whisper, before=before, verbose=verbose)
        for language, row in table.items():
            print(
                f"| {language}{where} | {row.clips} | {row.words} | {row.turns} "
                f"| {row.ours * 100:.1f} | {row.bare * 100:.1f} "
                f"| {row.worse[0] * 100:+.1f} to {row.worse[1] * 100:+.1f} |",
                flush=True,
            )
    print("\n| noise | seconds | turns |\n|---|---|---|", flush=True)
    for path in noise:
        samples = decode(path)
        heard = said(await hear_samples(samples, worker))
        words = "; ".join(turn.text for turn in heard)
        print(f"| {path.stem} | {len(samples) / RATE_HZ:.0f} | {len(heard)} {words} |", flush=True)
    idle = await live(room(10), worker)
    short = [clip for clip in spoken if clip.language == "en"][:talk]
    talking = await live(
        np.concatenate([part for clip in short for part in (decode(clip.path), room(1.5))]), worker
    )
    turns = said(talking.events)
    print("\n| call | ears, cores | worker, cores |\n|---|---|---|")
    print(f"| idle, {idle.seconds:.0f} s | {idle.ears_cores:.3f} | {idle.worker_cores:.3f} |")
    print(
        f"| talking, {talking.seconds:.0f} s | {talking.ears_cores:.3f} "
        f"| {talking.worker_cores:.3f} |"
    )
    print(f"\nMemory: worker {memory_mb(worker.pid):.0f} MB.\n")
    print("| ms after the last sound, p50 / p95 | |\n|---|---|")
    rows: dict[str, list[float]] = {
        "turn called over": [1000 * (turn.decided_s - turn.ended_s) for turn in turns],
        "words there": [1000 * (turn.transcribed_s - turn.ended_s) for turn in turns],
        "words after the decision": [
            1000 * (turn.transcribed_s - turn.decided_s) for turn in turns
        ],
    }
    for name, values in rows.items():
        print(f"| {name} ({len(values)} turns) | {percentiles(values)} |")
    load: tuple[Any, ...] = os.getloadavg()
    print(f"\n{os.cpu_count()} cores, load {load[0]:.1f} over the last minute.")
    await worker.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with manifest.jsonl")
    parser.add_argument("--talk", type=int, default=13, help="clips of the talking call")
    parser.add_argument("--verbose", action="store_true", help="print each clip with an error")
    options = parser.parse_args()
    asyncio.run(measure(options.data, talk=options.talk, verbose=options.verbose))


if __name__ == "__main__":
    main()
