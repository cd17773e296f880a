"""A recorded call through the same code as a live one, on a virtual clock (V14).

Nothing of the user's is written: notebooks are copied into a temporary vault beside a
temporary state, and both are gone when the replay is over.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from memory import Alone, Llm, Memory, RecordedReviewer, warm
from memory.records import HandOver, Trigger
from voice.config import Config
from voice.errors import RecordingInvalid
from voice.recorder import keep_hearing
from voice.recording import (
    Answered,
    RecordedCall,
    RecordedTranscript,
    read_recording,
)
from voice.records import CallEvent
from voice.replayed import Clock, ReplayResult
from voice.requests import Requests
from voice.triggers import Triggers
from voice.virtual_time import run_virtual
from voice.weights import path_of
from voice.workers import Worker


def run(config: Config, path: Path, *, real_time: bool = False, keep: bool = False) -> ReplayResult:
    """Replay the recorded call at `path`. Not for a process that does anything else meanwhile.
    `keep` puts what was heard beside it, so that the next replay needs no model.

    Raises RecordingInvalid, AudioUnreadable, VaultMissing, and what the hearing worker raises.
    """
    recording = read_recording(path)
    if keep and not (path.is_dir() and isinstance(recording, RecordedCall)):
        raise RecordingInvalid(f"{path} is no recorded call's folder: nothing can be kept there.")
    answers = _answers(path)
    began_at = (
        recording.turns[0].began_at
        if isinstance(recording, RecordedTranscript)
        else recording.began_at
    )
    with tempfile.TemporaryDirectory(prefix="jarvis-replay-") as scratch:
        vault, state = Path(scratch) / "vault", Path(scratch) / "state"
        _copy_notebooks(config.vault, vault)

        async def main() -> ReplayResult:
            clock = Clock(began_at)
            # On a virtual clock nobody waits for rules that are read when they are needed.
            warming = asyncio.create_task(asyncio.to_thread(warm)) if real_time else None
            memory = Memory.open(vault, state, clock.now)
            try:
                if isinstance(recording, RecordedTranscript):
                    result = await _replay_transcript(recording, memory, clock)
                else:
                    hearing = Hearing(config, recording.hearing)
                    result = await hearing.replay(recording, memory, clock, real_time=real_time)
                    if keep:
                        await asyncio.to_thread(keep_hearing, path, hearing.answers)
                if warming is not None:
                    await warming
                return await _reviewed(result, memory, clock, answers)
            finally:
                memory.close()

        if real_time:
            return asyncio.run(main())
        # No socket is waited for, and the worker only under at_work(): no grace is needed.
        return run_virtual(main, epoch_s=began_at.timestamp(), grace_s=0)


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


class Hearing:
    """The ears of one replay: what was kept with the recording, and a worker for the rest.

    `answers` is everything that was asked for in it. With nothing kept the worker is started
    beforehand; else it is started by the first question that was not kept, if there is one.
    """

    def __init__(self, config: Config, known: Mapping[str, Answered]) -> None:
        self._config = config
        self._known = known
        self._worker: Worker | None = None
        self.answers = dict(known)

    def _make(self) -> Worker:
        if self._worker is None:
            self._worker = Worker(
                "voice.hearing.worker",
                str(path_of("whisper-base", self._config.weights)),
                title="The hearing worker",
            )
        return self._worker

    async def replay(
        self, recording: RecordedCall, memory: Memory, clock: Clock, *, real_time: bool
    ) -> ReplayResult:
        try:
            starting = None if self._known else asyncio.create_task(self._make().start())
            while starting and self._make().pid is None and not starting.done():  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0)
            # Loading pipecat takes as long as the worker needs to load its models: both at once.
            from voice.hearing.kept import KeptHearing
            from voice.replay_call import replay_call

            if starting is not None:
                await starting
            if real_time and not self._known:
                await self._make().call("warm", {"languages": recording.languages})
            ears = KeptHearing(self._known, self._make, self.answers.__setitem__)
            return await replay_call(
                recording, ears, self._config, memory, clock, real_time=real_time
            )
        finally:
            if self._worker is not None:
                await self._worker.close()


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
