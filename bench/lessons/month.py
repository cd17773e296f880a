"""A month lived with it: the calls of `fixtures/month` go through memory on a moving clock, are
reviewed, and reflected on by itself; then one tidies, misses a lesson, and gets it back."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from pathlib import Path

from memory.asking import Alone
from memory.door import Memory
from memory.lessons.limits import AUTO_PASSES_A_DAY, AUTO_TOKENS_A_DAY
from memory.llm.protocol import Billing, Llm, Question, Reply
from memory.records import Turn
from voice.recording import RecordedTranscript, read_recording
from voice.virtual_time import run_virtual

CALLS = Path(__file__).parents[2] / "fixtures" / "month"
NIGHT = timedelta(hours=14)
HEARD_MS = 9_000
_SENTENCE = re.compile(r"^User: (?P<quote>.{12,})$", re.MULTILINE)


class Reviewer:
    """Proposes each marked sentence as it was said, and one that nobody said; of interruptions,
    a lesson. So reviews accept and refuse, and reflecting has something to read."""

    name = "a reviewer of the bench"
    billing: Billing = "local"
    uses_this_cpu = False
    small = False

    def __init__(self) -> None:
        self.reflected_on: list[str] = []

    async def ask(self, question: Question) -> Reply:
        if "lessons" in json.dumps(question.schema):
            self.reflected_on.append(question.text)
            lesson = {
                "kind": "user",
                "text": "The user often interrupts long answers",
                "facts": [1],
            }
            return Reply(text=json.dumps({"lessons": [lesson]}))
        quotes = [found["quote"] for found in _SENTENCE.finditer(question.text)][:2]
        proposed = [
            {
                "operation": "add",
                "notebook": "USER.md",
                "entry": None,
                "text": quote,
                "quote": quote,
            }
            for quote in quotes
        ]
        invented = {
            "operation": "add",
            "notebook": "USER.md",
            "entry": None,
            "text": "Owns a yacht in Monaco.",
            "quote": quotes[0] if quotes else "nothing of the kind was said",
        }
        return Reply(text=json.dumps({"changes": [*proposed, invented]}))

    async def close(self) -> None:
        pass


def month() -> None:
    calls = sorted((_turns(path) for path in CALLS.glob("*.jsonl")), key=lambda t: t[0].began_at)
    began_at = calls[0][0].began_at
    reviewer = Reviewer()

    async def model() -> Llm:
        return reviewer

    async def live() -> None:
        loop = asyncio.get_running_loop()
        began_s = loop.time()

        def now() -> datetime:
            return began_at + timedelta(seconds=round(loop.time() - began_s, 3))

        memory = Memory.open(Path(folder) / "vault", Path(folder) / "state", now, create=True)
        task = memory.task(model=model, quiet=Alone(), now=now)
        working = asyncio.create_task(task.run())
        for turns in calls:
            await asyncio.sleep((turns[0].began_at - now()).total_seconds())
            _call(memory, turns)
            task.wake()
        await asyncio.sleep(NIGHT.total_seconds())
        asked = len(reviewer.reflected_on)
        await asyncio.sleep(timedelta(days=7).total_seconds())
        idle = len(reviewer.reflected_on) - asked
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        _report(memory, calls, asked=asked, idle=idle)
        _missed(memory, now())
        memory.close()

    with tempfile.TemporaryDirectory() as folder:
        run_virtual(live, epoch_s=began_at.timestamp())


def _turns(path: Path) -> tuple[Turn, ...]:
    recording = read_recording(path)
    assert isinstance(recording, RecordedTranscript)
    return recording.turns


def _call(memory: Memory, turns: tuple[Turn, ...]) -> None:
    """Every other answer was cut off."""
    first = turns[0]
    conversation = memory.begin(first.conversation, "call", first.began_at)
    memory.events.append("began", first.began_at, conversation=conversation.id, data={})
    for turn in turns:
        conversation.observe(turn)
        if turn.speaker == "assistant" and turn.index % 4 == 1:
            memory.events.append(
                "interrupted",
                turn.ended_at,
                conversation=conversation.id,
                turn_index=turn.index,
                data={"heard_ms": HEARD_MS},
            )
    last = turns[-1].ended_at
    conversation.hand_over("hang-up", last)
    memory.events.append(
        "ended",
        last,
        conversation=conversation.id,
        data={"reason": "hang-up", "turns": len(turns), "user_turns": 1, "duration_s": 60.0},
    )
    conversation.close()


def _report(memory: Memory, calls: list[tuple[Turn, ...]], *, asked: int, idle: int) -> None:
    days: dict[str, Counter[str]] = defaultdict(Counter)
    for event in memory.events.events("reflected"):
        day = days[event.at.date().isoformat()]
        day["passes"] += event.data["outcome"] != "asking"
        day["tokens"] += event.data["tokens_in"] + event.data["tokens_out"]
    passes = max((day["passes"] for day in days.values()), default=0)
    tokens = max((day["tokens"] for day in days.values()), default=0)
    assert passes <= AUTO_PASSES_A_DAY and tokens <= AUTO_TOKENS_A_DAY
    assert idle == 0
    written = len(memory.changes())
    print(
        f"a month lived: {len(calls)} calls, {written} entries written, "
        f"{len(memory.events.rejections())} refused, {asked} reflections asked, at most {passes} "
        f"passes and {tokens} tokens a day; in the quiet week after it {idle} calls"
    )


def _missed(memory: Memory, at: datetime) -> None:
    """Years later everything faded; one lesson is missed, and comes back for good."""
    lessons = memory.lessons
    live = len(lessons.live())
    later = at + timedelta(days=1500)
    first = lessons.tidy(later, dry_run=True)
    went = lessons.tidy(later)
    gone = lessons.forgotten()
    assert gone and len(gone) >= len(first.going) > 0
    back = lessons.restore(gone[0].id, later)
    again = lessons.tidy(later + timedelta(days=1))
    assert back.id in {lesson.id for lesson in lessons.live()}
    assert back.id not in {each.lesson.id for each in again.going}
    print(
        f"  {live} live lesson(s); 1,500 days later a tidy-up lets {len(went.going)} go, as the dry "
        f"run said ({len(first.going)}); one is restored and stays through the next"
    )
