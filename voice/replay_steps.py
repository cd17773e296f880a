"""What a replay does once the recording's ears are on their way: files, the call, its review.

Nothing of the user's is written: notebooks are copied into a temporary vault beside a
temporary state, and both are gone when the replay is over.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from memory import Alone, Llm, Memory, RecordedReviewer, warm
from memory.records import HandOver, Trigger
from voice.config import Config
from voice.errors import RecordingInvalid
from voice.recorder import keep_hearing
from voice.recording import RecordedCall, RecordedTranscript, read_recording
from voice.records import CallEvent
from voice.replay import HearingWorker
from voice.replayed import Clock, ReplayResult
from voice.requests import Requests
from voice.triggers import Triggers
from voice.virtual_time import begin_epoch


async def replayed(
    config: Config, path: Path, worker: HearingWorker, *, real_time: bool, keep: bool
) -> ReplayResult:
    """As `voice.replay.run`."""
    recording = _read(path, keep=keep)
    answers = _answers(path)
    began_at = (
        recording.turns[0].began_at
        if isinstance(recording, RecordedTranscript)
        else recording.began_at
    )
    begin_epoch(began_at.timestamp())
    with tempfile.TemporaryDirectory(prefix="jarvis-replay-", dir=_in_memory()) as scratch:
        vault, state = Path(scratch) / "vault", Path(scratch) / "state"
        _copy_notebooks(config.vault, vault)
        clock = Clock(began_at)
        # On a virtual clock nobody waits for rules that are read when they are needed.
        warming = asyncio.create_task(asyncio.to_thread(warm)) if real_time else None
        memory = Memory.open(vault, state, clock.now)
        try:
            if isinstance(recording, RecordedTranscript):
                result = await _replay_transcript(recording, memory, clock)
            else:
                result = await _replay_sound(
                    recording, worker, config, memory, clock, real_time=real_time,
                    keep_in=path if keep else None,
                )  # fmt: skip
            if warming is not None:
                await warming
            return await _reviewed(result, memory, clock, answers)
        finally:
            memory.close()


async def _replay_sound(
    recording: RecordedCall,
    worker: HearingWorker,
    config: Config,
    memory: Memory,
    clock: Clock,
    *,
    real_time: bool,
    keep_in: Path | None,
) -> ReplayResult:
    """What was kept with the recording is known, and the worker asked for the rest."""
    # Loading pipecat takes as long as the worker needs to load its models: both at once.
    from voice.hearing.kept import KeptHearing
    from voice.replay_call import replay_call

    heard = dict(recording.hearing)
    if not heard:
        await worker.ready()
        if real_time:
            await worker.get().call("warm", {"languages": recording.languages})
    ears = KeptHearing(recording.hearing, worker.get, heard.__setitem__)
    result = await replay_call(recording, ears, config, memory, clock, real_time=real_time)
    if keep_in is not None:
        await asyncio.to_thread(keep_hearing, keep_in, heard)
    return result


def _read(path: Path, *, keep: bool) -> RecordedCall | RecordedTranscript:
    recording = read_recording(path)
    if keep and not (path.is_dir() and isinstance(recording, RecordedCall)):
        raise RecordingInvalid(f"{path} is no recorded call's folder: nothing can be kept there.")
    return recording


def _in_memory() -> Path | None:
    """Where what is gone in a moment need not wait for a disk; None where there is no such place."""
    shared = Path("/dev/shm")  # noqa: S108 - the folder in it gets a name of its own, for its owner only
    return shared if os.access(shared, os.W_OK | os.X_OK) else None


def _copy_notebooks(vault: Path, copy: Path) -> None:
    """The user's notebooks as they are now; a vault that isn't there is an empty one."""
    source, target = vault / "society" / "jarvis", copy / "society" / "jarvis"
    target.mkdir(parents=True)
    for name in ("persona.md", "USER.md", "MEMORY.md"):
        page = source / name
        if page.is_file() and page.resolve().is_relative_to(vault.resolve()):
            shutil.copyfile(page, target / name)


def _answers(path: Path) -> list[str]:
    """The reviewer's answers that were recorded with the call: `reviews.jsonl` beside it."""
    file = (path if path.is_dir() else path.parent) / "reviews.jsonl"
    if not file.is_file():
        return []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        return [json.dumps(json.loads(line), ensure_ascii=False) for line in lines if line.strip()]
    except (OSError, ValueError) as fault:
        raise RecordingInvalid(
            f"{file} can't be read: {fault}. It holds one answer of the reviewer a line, as JSON."
        ) from fault


async def _reviewed(
    result: ReplayResult, memory: Memory, clock: Clock, answers: list[str]
) -> ReplayResult:
    """Review what was handed over, by the code of a live one. No model is asked: the recorded
    answers are given in their order, and where there are none the reviewer changes nothing."""
    reviewer = RecordedReviewer(answers)

    async def model() -> Llm:
        return reviewer

    task = memory.task(model=model, quiet=Alone(), now=clock.now)
    report = await task.review_now()
    return replace(result, reviewed=report, changes=memory.changes())


async def _replay_transcript(
    recording: RecordedTranscript, memory: Memory, clock: Clock
) -> ReplayResult:
    """Turns alone go to the triggers and to memory, each when it ended. Silence hands over
    and the conversation goes on, since its turns did. What is to be
    remembered or forgotten is."""
    loop = asyncio.get_running_loop()
    triggers = Triggers()
    hand_overs: list[HandOver] = []
    conversation = memory.begin(recording.turns[0].conversation, "call", clock.now())
    events: list[CallEvent] = []
    requests = Requests(
        memory, memory.session(), conversation.id, now=clock.now, emit=events.append
    )

    async def hand_over(trigger: Trigger) -> None:
        given = await asyncio.to_thread(conversation.hand_over, trigger, clock.now())
        if given is not None:
            hand_overs.append(given)

    async def quiet_until(at: datetime) -> None:
        silence_s = triggers.silence_at_s
        until_s = loop.time() + (at - clock.now()).total_seconds()
        if silence_s is not None and silence_s < until_s:
            await asyncio.sleep(silence_s - loop.time())
            triggers.silence_passed()
            await hand_over("silence")
        await clock.reach(at)

    triggers.state_changed("listening", loop.time())
    for turn in recording.turns:
        await quiet_until(turn.began_at)
        if turn.speaker == "assistant":
            triggers.state_changed("speaking", loop.time())
        await clock.reach(turn.ended_at)
        await asyncio.to_thread(conversation.observe, turn)
        if turn.speaker == "user":
            await requests.turn(turn.text, turn.origin)
        triggers.state_changed("listening", loop.time())
        if triggers.turn_added(turn, loop.time()):
            await hand_over("30 turns")
    await hand_over("hang-up")
    conversation.close()
    return ReplayResult(
        turns=recording.turns,
        noises=(),
        hand_overs=tuple(hand_overs),
        latencies=(),
        events=tuple(events),
        ended="hang-up",
        length_s=clock.passed_s(),
    )
