from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from memory.conversations import Conversation
from memory.errors import ModelUnavailable
from memory.events import EventLog
from memory.llm.protocol import Llm, Reply
from memory.llm.scripted import Answer, ScriptedLlm
from memory.notebooks.ledger import Ledger
from memory.records import Accepted, Change, Origin, Trigger, Turn
from memory.reviews import NONSENSE_TRIES, WAITS, Reviews
from memory.task import QUESTIONS_A_DAY, Alone, MemoryTask, ReviewReport
from memory.vault import Vault
from voice.virtual_time import VirtualLoop

T = TypeVar("T")
ROOT = Path(__file__).parents[2]
NOON = datetime.fromisoformat("2026-12-02T12:00:00+01:00")

VEGAN = "I'm vegan by the way"
CITY = "I live in Hamburg with my two cats"
ORDER = "set a timer for ten minutes"


def changes(*proposed: dict[str, Any]) -> str:
    return json.dumps({"changes": proposed})


def add(text: str, quote: str, notebook: str = "USER.md") -> dict[str, Any]:
    return {"operation": "add", "notebook": notebook, "entry": None, "text": text, "quote": quote}


IS_VEGAN = add("I'm vegan.", VEGAN)
IN_HAMBURG = add("I live in Hamburg with my two cats.", CITY)


class Floor:
    """The quiet of one conversation: somebody has the floor, or nobody."""

    def __init__(self, taken: bool = False) -> None:
        self._free, self._taken = asyncio.Event(), asyncio.Event()
        self.take() if taken else self.leave()

    def take(self) -> None:
        self._free.clear()
        self._taken.set()

    def leave(self) -> None:
        self._taken.clear()
        self._free.set()

    async def wait(self) -> None:
        await self._free.wait()

    async def broken(self) -> None:
        await self._taken.wait()


class House:
    """A vault, a state folder and a model, on a virtual clock that begins at noon."""

    def __init__(self, folder: Path, *answers: Answer, model: ScriptedLlm | None = None) -> None:
        self.state = folder / "state"
        vault = Vault(folder / "vault")
        vault.check(create=True)
        self.page = vault.folder / "USER.md"
        self.ledger = Ledger(vault, self.state)
        self.reviews = Reviews(self.state)
        self.model = model or ScriptedLlm(answers)
        self.loop = asyncio.get_running_loop()
        self.noon_s = self.loop.time()
        self.events = EventLog(self.state, self.now)

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.loop.time() - self.noon_s)

    def task(self, **others: Any) -> MemoryTask:
        async def model() -> Llm:
            return self.model

        settings: dict[str, Any] = {
            "state": self.state,
            "ledger": self.ledger,
            "events": self.events,
            "model": model,
            "quiet": Alone(),
            "now": self.now,
        }
        return MemoryTask(**settings | others)

    def says(
        self,
        *texts: str,
        name: str = "c1",
        origin: Origin = "spoken",
        trigger: Trigger = "hang-up",
        close: bool = True,
    ) -> Conversation:
        """A conversation of these sentences, each answered with "Okay.", handed over."""
        conversation = Conversation.begin(self.state, name, "call", self.now())
        go_on(conversation, texts, self.now(), origin)
        conversation.hand_over(trigger, self.now())
        if close:
            conversation.close()
        return conversation

    @property
    def entries(self) -> tuple[str, ...]:
        return self.ledger.entries()["USER.md"]

    def logged(self, kind: Any, *fields: str) -> list[tuple[Any, ...]]:
        return [tuple(e.data.get(f) for f in fields) for e in self.events.events(kind)]

    @property
    def left(self) -> list[str]:
        return sorted(str(p.relative_to(self.state)) for p in self.state.rglob("*.jsonl"))


def go_on(
    conversation: Conversation, texts: Sequence[str], at: datetime, origin: Origin = "spoken"
) -> None:
    index = len(conversation.turns)
    for text in texts:
        for speaker, said in (("user", text), ("assistant", "Okay.")):
            began_at = at + timedelta(seconds=index)
            conversation.observe(
                Turn(
                    conversation=conversation.id,
                    index=index,
                    speaker=speaker,  # type: ignore[arg-type]
                    text=said,
                    language="en",
                    began_at=began_at,
                    ended_at=began_at + timedelta(seconds=1),
                    origin=origin if speaker == "user" else "spoken",
                )
            )
            index += 1


def run(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main())


async def for_a_while(task: MemoryTask, **time: float) -> None:
    """Let the task run for so long, on the virtual clock."""
    try:
        async with asyncio.timeout(timedelta(**time).total_seconds()):
            await task.run()
    except TimeoutError:
        return


# One review ---------------------------------------------------------------------------


def test_what_was_said_is_learned_once(tmp_path: Path) -> None:
    """A marked sentence makes one question; its change is written, and the transcript goes."""

    async def main() -> tuple[House, ReviewReport]:
        house = House(tmp_path, Reply(text=changes(IS_VEGAN), tokens_in=900, tokens_out=40))
        house.says(ORDER, VEGAN)
        report = await house.task().review_now()
        assert await house.task().review_now() == ReviewReport()
        return house, report

    house, report = run(main)
    assert house.entries == ("I'm vegan.",)
    assert len(house.model.questions) == 1
    assert house.left == []
    [reviewed] = report.reviewed
    assert [m.quote for m in reviewed.marked] == [VEGAN]
    [change] = reviewed.changes
    assert (change.conversation, change.turn_index, change.source) == ("c1", 2, "review")
    assert house.logged(
        "reviewed", "first", "last", "marked", "asked", "proposed", "accepted", "rejected",
        "tokens_in", "tokens_out", "model", "billing", "outcome",
    ) == [(0, 3, 1, 1, 1, 1, 0, 900, 40, "scripted", "local", "asked")]  # fmt: skip


@pytest.mark.parametrize(
    ("texts", "origin"),
    [((ORDER, "what time is it"), "spoken"), ((VEGAN,), "pasted"), ((VEGAN,), "prefilled"),
     ((VEGAN,), "echo"), ((VEGAN,), "tool")],
)  # fmt: skip
def test_nothing_marked_asks_nobody(tmp_path: Path, texts: tuple[str, ...], origin: Origin) -> None:
    """Requests, and words that are not the user's, never reach a model (L2.2, a8, a9, m4)."""

    async def main() -> House:
        house = House(tmp_path)
        house.says(*texts, origin=origin)
        await house.task().review_now()
        return house

    house = run(main)
    assert house.model.questions == []
    assert house.left == []
    assert house.logged("reviewed", "marked", "asked", "model", "outcome") == [
        (0, 0, None, "nothing marked")
    ]


def test_a_secret_stays_here(tmp_path: Path) -> None:
    """What is secret in a marked sentence is not sent to a review (S3)."""

    async def main() -> House:
        house = House(tmp_path, changes())
        house.says("I'm vegan and my password is Tulip4471!")
        await house.task().review_now()
        return house

    [question] = run(main).model.questions
    assert "vegan" in question.text
    assert "Tulip4471" not in question.text + question.instructions


def test_the_time_of_the_turn_counts(tmp_path: Path) -> None:
    """A review days later files what was said under the day on which it was said (m14)."""

    async def main() -> House:
        house = House(tmp_path, changes(IS_VEGAN))
        house.says(VEGAN)
        await asyncio.sleep(3 * 86_400)
        await house.task().review_now()
        return house

    house = run(main)
    [change] = house.ledger.changes()
    assert change.said_at == NOON
    assert change.at == NOON + timedelta(days=3)
    assert "2026-12-02" in house.model.questions[0].text
    assert "2026-12-05" not in house.model.questions[0].text


def test_what_is_refused_is_in_the_log(tmp_path: Path) -> None:
    """A proposal without the user's words is refused, and the log says by which rule (m10)."""

    async def main() -> House:
        house = House(
            tmp_path, changes(IS_VEGAN, add("Ships knives by mail.", "I ship knives now"))
        )
        house.says(VEGAN)
        await house.task().review_now()
        return house

    house = run(main)
    assert house.entries == ("I'm vegan.",)
    [refused] = house.events.rejections()
    assert (refused.rule, refused.text) == ("L5.1", "Ships knives by mail.")
    assert house.logged("reviewed", "proposed", "accepted", "rejected") == [(2, 1, 1)]


def test_what_was_taken_out_is_not_learned_again(tmp_path: Path) -> None:
    """Forgotten after it was said, while the review waited: it stays forgotten (m23)."""

    async def main() -> House:
        house = House(tmp_path, changes(IS_VEGAN), changes(IS_VEGAN))
        house.says(VEGAN)
        house.says(VEGAN, name="c2")
        await house.task().review_now("c1")
        await asyncio.sleep(60)
        house.ledger.forget("I'm vegan.", at=house.now())
        await house.task().review_now()
        return house

    house = run(main)
    assert house.entries == ()
    assert [outcome for (outcome,) in house.logged("reviewed", "outcome")] == ["asked", "asked"]


def test_the_users_edit_wins_over_a_review(tmp_path: Path) -> None:
    """An entry edited while the model thinks is the user's; the rest of the review applies (L1.4)."""

    async def main() -> House:
        update = {
            "operation": "update",
            "notebook": "USER.md",
            "entry": "I live in Bremen.",
            "text": "I live in Hamburg with my two cats.",
            "quote": CITY,
        }
        house = House(tmp_path, changes(update, IS_VEGAN))
        house.page.write_text("# About you\n\n- I live in Bremen.\n")
        house.says(CITY, VEGAN)
        house.model.hold()
        asking = asyncio.create_task(house.task().review_now())
        await house.model.asked.wait()
        house.page.write_text("# About you\n\n- I live in Bremen, for good.\n")
        house.model.release()
        await asking
        return house

    house = run(main)
    assert house.entries == ("I live in Bremen, for good.", "I'm vegan.")
    assert house.logged("reviewed", "accepted", "rejected") == [(1, 1)]


def test_a_call_of_thirty_turns_is_reviewed_while_it_goes_on(tmp_path: Path) -> None:
    """In mid-call the turns handed over are reviewed, those that follow by the next review."""

    async def main() -> House:
        house = House(tmp_path, changes(IS_VEGAN), changes(IN_HAMBURG))
        conversation = house.says(VEGAN, *[ORDER] * 29, trigger="30 turns", close=False)
        running = asyncio.create_task(house.task().run())
        await house.model.asked.wait()
        house.model.asked.clear()
        go_on(conversation, [ORDER, CITY], house.now())
        await asyncio.sleep(1)
        assert house.entries == ("I'm vegan.",)
        assert house.left == ["calls/c1.jsonl", "reviews/c1.jsonl"]
        conversation.hand_over("hang-up", house.now())
        conversation.close()
        await house.task().review_now()
        running.cancel()
        return house

    house = run(main)
    assert house.entries == ("I'm vegan.", "I live in Hamburg with my two cats.")
    assert [CITY in question.text for question in house.model.questions] == [False, True]
    assert [
        VEGAN in question.text.rpartition("What was said")[2] for question in house.model.questions
    ] == [True, False]
    assert house.logged("reviewed", "first", "last") == [(0, 59), (60, 63)]
    assert house.left == []


def test_a_sleeping_task_is_woken(tmp_path: Path) -> None:
    """A hand-over is reviewed at once when the task is told of it."""

    async def main() -> float:
        house = House(tmp_path, changes(IS_VEGAN))
        task = house.task()
        running = asyncio.create_task(task.run())
        await asyncio.sleep(30)
        house.says(VEGAN)
        task.wake()
        await house.model.asked.wait()
        running.cancel()
        return house.loop.time() - house.noon_s

    assert run(main) == pytest.approx(30, abs=0.1)


# Failures -----------------------------------------------------------------------------

NONSENSE = {
    "prose": "The user seems to be vegan. I would remember that!",
    "half": changes(IS_VEGAN)[:-20],
    "a thousand": changes(*[IS_VEGAN] * 1000),
    "a megabyte": json.dumps({"changes": [add("vegan " * 170_000, VEGAN)]}),
    "another language": "这位用户是素食主义者，我建议记住这一点。",
    "empty": "",
    "spaces": " \n ",
    "brackets": "[" * 5000,
}


@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE.keys())
def test_nonsense_costs_nothing_but_time(tmp_path: Path, answer: str) -> None:
    """The notebooks stay as they were, the review waits and says so, and is tried again (L4.4)."""

    async def main() -> tuple[House, ReviewReport]:
        house = House(tmp_path, answer, changes(IS_VEGAN))
        before = house.page.read_bytes()
        house.says(VEGAN)
        report = await house.task().review_now()
        assert house.page.read_bytes() == before
        [waiting] = house.reviews.waiting()
        assert waiting.failures[-1].fault == "nonsense"
        await for_a_while(house.task(), hours=1)
        return house, report

    house, report = run(main)
    assert report.reviewed == () and len(report.faults) == 1
    assert house.logged("review_failed", "fault", "tries", "model") == [("nonsense", 1, "scripted")]
    assert house.entries == ("I'm vegan.",)
    assert house.left == []


@pytest.mark.parametrize(
    "answer", ['{"changes": []}', "[]", "None.", "Nichts.", "nada", "```json\n[]\n```"]
)
def test_nothing_is_an_answer(tmp_path: Path, answer: str) -> None:
    """A reviewer that has nothing to say closes the review, and "none" is no memory (m36)."""

    async def main() -> House:
        house = House(tmp_path, answer)
        house.says(VEGAN)
        await house.task().review_now()
        return house

    house = run(main)
    assert (house.entries, house.left) == ((), [])
    assert house.logged("reviewed", "proposed", "outcome") == [(0, "asked")]


def test_a_model_that_only_talks_nonsense_is_given_up(tmp_path: Path) -> None:
    """After five answers that are none the review is closed, and the log says so."""

    async def main() -> House:
        house = House(tmp_path, *["?"] * 20)
        house.says(VEGAN)
        await for_a_while(house.task(), days=5)
        return house

    house = run(main)
    assert len(house.model.questions) == NONSENSE_TRIES
    assert [tries for (tries,) in house.logged("review_failed", "tries")] == [1, 2, 3, 4, 5]
    assert house.logged("reviewed", "outcome", "accepted", "model") == [("given up", 0, "scripted")]
    assert house.left == []


def test_another_model_begins_anew(tmp_path: Path) -> None:
    """What one model made of it does not count against the next."""

    async def main() -> House:
        house = House(tmp_path, *["?"] * (NONSENSE_TRIES - 1))
        house.says(VEGAN)
        for _ in range(NONSENSE_TRIES - 1):
            await house.task().review_now()
        house.model = ScriptedLlm(["?", changes(IS_VEGAN)], name="better")
        await house.task().review_now()
        await house.task().review_now()
        return house

    assert run(main).entries == ("I'm vegan.",)


def gone(retry_after_s: float | None = None) -> ModelUnavailable:
    return ModelUnavailable("The model is away. Start it.", retry_after_s=retry_after_s)


def test_a_provider_that_is_away_is_asked_ever_more_rarely(tmp_path: Path) -> None:
    """The waits grow, also across restarts; then everything is reviewed, once."""

    async def main() -> tuple[House, list[float]]:
        house = House(tmp_path, *[gone()] * 6, *[changes()] * 3)
        for number in range(3):
            house.says(VEGAN, name=f"c{number}")
        asked_at = []
        while len(house.model.questions) < 9:
            house.model.asked.clear()
            # A task that is ended and begun again each time: what it knows is on disk.
            running = asyncio.create_task(house.task().run())
            await house.model.asked.wait()
            asked_at.append(house.loop.time() - house.noon_s)
            await asyncio.sleep(0.5)
            running.cancel()
        return house, asked_at

    house, asked_at = run(main)
    expected = timedelta()
    for number, wait in enumerate(WAITS):
        assert asked_at[number] == pytest.approx(expected.total_seconds(), abs=10)
        expected += wait
    assert house.left == []
    assert [tries for (tries,) in house.logged("review_failed", "tries")] == [1, 1, 1, 2, 2, 2]
    assert len(house.logged("reviewed", "outcome")) == 3


@pytest.mark.parametrize(
    ("retry_after_s", "asked_twice_in"), [(None, 60.0), (7200.0, 7200.0), (0.0, 60.0)]
)
def test_a_provider_says_when(
    tmp_path: Path, retry_after_s: float | None, asked_twice_in: float
) -> None:
    """A limit that the provider names is kept."""

    async def main() -> float:
        house = House(tmp_path, gone(retry_after_s), changes())
        house.says(VEGAN)
        running = asyncio.create_task(house.task().run())
        await house.model.asked.wait()
        house.model.asked.clear()
        await house.model.asked.wait()
        running.cancel()
        return house.loop.time() - house.noon_s

    assert run(main) == pytest.approx(asked_twice_in, abs=2)


def test_a_model_that_never_answers_is_left(tmp_path: Path) -> None:
    """A client without a timeout of its own is cancelled, and the review waits."""

    async def main() -> House:
        house = House(tmp_path, changes(IS_VEGAN))
        house.says(VEGAN)
        house.model.hold()
        report = await house.task().review_now()
        assert "no answer within" in report.faults[0]
        return house

    house = run(main)
    assert house.model.cancelled == 1
    assert house.logged("review_failed", "fault") == [("unavailable",)]
    assert house.left == ["calls/c1.jsonl", "reviews/c1.jsonl"]


def test_no_model_at_hand(tmp_path: Path) -> None:
    """Without any model the review waits, and says what to do; what needs none is closed."""

    async def none() -> Llm:
        raise ModelUnavailable("There is no background model. Log in to one.")

    async def main() -> House:
        house = House(tmp_path)
        house.says(VEGAN)
        house.says(ORDER, name="c2")
        report = await house.task(model=none).review_now()
        assert report.faults == ("There is no background model. Log in to one.",)
        await for_a_while(house.task(model=none), hours=2)
        return house

    assert run(main).left == ["calls/c1.jsonl"]


def test_a_day_has_its_questions(tmp_path: Path) -> None:
    """No heartbeat asks a model without end: a day's questions are counted (m36)."""

    async def main() -> tuple[int, int]:
        house = House(tmp_path, *[changes()] * 100)
        for number in range(QUESTIONS_A_DAY + 10):
            house.says(VEGAN, name=f"c{number:02}")
        await for_a_while(house.task(), hours=23)
        first_day = len(house.model.questions)
        await for_a_while(house.task(), hours=2)
        return first_day, len(house.model.questions)

    assert run(main) == (QUESTIONS_A_DAY, QUESTIONS_A_DAY + 10)


def test_a_clock_that_is_set_back_holds_nothing_up(tmp_path: Path) -> None:
    """A next try years ahead is tried now."""

    async def main() -> House:
        house = House(tmp_path, gone(), changes(IS_VEGAN))
        house.says(VEGAN)
        await house.task().review_now()
        house.noon_s += 10 * 365 * 86_400
        await for_a_while(house.task(), minutes=1)
        return house

    assert run(main).entries == ("I'm vegan.",)


def test_a_notebook_that_cannot_be_written_costs_no_second_question(tmp_path: Path) -> None:
    """The answer is kept until the notebook can be changed again."""

    async def main() -> House:
        house = House(tmp_path, changes(IS_VEGAN))
        house.says(VEGAN)
        house.page.write_bytes(b"- caf\xe9\n")
        report = await house.task().review_now()
        assert "UTF-8" in report.faults[0]
        house.page.write_text("- café\n")
        await for_a_while(house.task(), hours=1)
        return house

    house = run(main)
    assert house.entries == ("café", "I'm vegan.")
    assert len(house.model.questions) == 1
    assert len(house.logged("reviewed", "outcome")) == 1


def test_our_own_mistake_ends_no_call(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A bug in one review is logged, and the task goes on; the question counts as a try."""

    async def main() -> House:
        house = House(tmp_path, changes(IS_VEGAN))
        house.says(VEGAN)
        tries = iter([ZeroDivisionError(), None])

        async def model() -> Llm:
            if fault := next(tries):
                raise fault
            return house.model

        await for_a_while(house.task(model=model), minutes=5)
        return house

    with caplog.at_level(logging.ERROR):
        house = run(main)
    assert house.entries == ("I'm vegan.",)
    assert "ZeroDivisionError" in caplog.text


# Quiet --------------------------------------------------------------------------------


def local(*answers: Answer) -> ScriptedLlm:
    return ScriptedLlm(answers, uses_this_cpu=True)


def test_a_local_model_waits_for_quiet(tmp_path: Path) -> None:
    """While somebody speaks or waits for an answer a model on this CPU is not asked (V11)."""

    async def main() -> House:
        house = House(tmp_path, model=local(changes(IS_VEGAN)))
        floor = Floor(taken=True)
        house.says(VEGAN)
        running = asyncio.create_task(house.task(quiet=floor).run())
        await asyncio.sleep(1000)
        assert house.model.questions == []
        floor.leave()
        await house.model.asked.wait()
        await asyncio.sleep(1)
        running.cancel()
        return house

    assert run(main).entries == ("I'm vegan.",)


def test_it_gives_way_to_whoever_speaks(tmp_path: Path) -> None:
    """The question is cancelled when somebody speaks, counts for nothing, and is asked again."""

    async def main() -> tuple[House, list[float]]:
        house = House(tmp_path, model=local(changes(IS_VEGAN)))
        floor = Floor()
        house.says(VEGAN)
        house.model.hold()
        running = asyncio.create_task(house.task(quiet=floor).run())
        pauses = []
        for number in range(1, 5):
            await house.model.asked.wait()
            house.model.asked.clear()
            await asyncio.sleep(3)
            floor.take()
            await asyncio.sleep(4)
            assert house.model.cancelled == number
            floor.leave()
            left_s = house.loop.time()
            await house.model.asked.wait()
            pauses.append(house.loop.time() - left_s)
        house.model.release()
        await asyncio.sleep(1)
        running.cancel()
        return house, pauses

    house, pauses = run(main)
    assert house.entries == ("I'm vegan.",)
    assert pauses == pytest.approx([2, 5, 15, 30], abs=0.5)
    assert house.logged("review_failed", "fault") == []


def test_a_model_elsewhere_does_not_wait(tmp_path: Path) -> None:
    """A provider's model uses nothing of this CPU: it is asked in mid-sentence."""

    async def main() -> House:
        house = House(tmp_path, changes(IS_VEGAN))
        house.says(VEGAN)
        await house.task(quiet=Floor(taken=True)).review_now()
        return house

    assert run(main).entries == ("I'm vegan.",)


def test_hanging_up_on_the_task_is_no_failure(tmp_path: Path) -> None:
    """Jarvis ended in the middle of a question: at the next start it is asked at once."""

    async def main() -> House:
        house = House(tmp_path, changes(IS_VEGAN))
        house.says(VEGAN)
        house.model.hold()
        running = asyncio.create_task(house.task().run())
        await house.model.asked.wait()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert house.reviews.waiting()[0].failures == ()
        house.model.release()
        await for_a_while(house.task(), seconds=5)
        return house

    assert run(main).entries == ("I'm vegan.",)


# Tidying ------------------------------------------------------------------------------


def remembered(house: House, *texts: str) -> None:
    """Entries that Jarvis wrote."""
    for text in texts:
        [written] = house.ledger.write(
            [
                Accepted(
                    operation="add",
                    notebook="USER.md",
                    entry=None,
                    text=text,
                    quote=text,
                    turn_index=0,
                )
            ],
            source="remember",
            at=house.now(),
        )
        assert isinstance(written, Change)


FULL = tuple(
    f"Owns painting number {number} of the series {'about harbours ' * 12}" for number in range(11)
)


def test_what_is_said_twice_and_what_is_over_goes_by_itself(tmp_path: Path) -> None:
    """An entry of ours that a line of the user's says as well, and a passed plan of ours, go for
    free; the user's lines stay; it can be undone (L6.1, L6.3)."""
    by_hand = ("Fond of ships and harbours", "fond of ships and harbours", "Exam on 2026-11-02")

    async def main() -> House:
        house = House(tmp_path)
        remembered(house, "Fond of ships", "Has a dog", "Exam on 2026-12-03")
        house.page.write_text(house.page.read_text() + "".join(f"- {line}\n" for line in by_hand))
        await for_a_while(house.task(), minutes=1)
        assert house.entries == ("Has a dog", "Exam on 2026-12-03", *by_hand)
        await for_a_while(house.task(), days=3)
        assert house.entries == ("Has a dog", *by_hand)
        last = house.ledger.changes()[-1]
        assert (last.source, last.old) == ("tidy", "Exam on 2026-12-03")
        house.ledger.undo(last.id, at=house.now())
        await for_a_while(house.task(), days=3)
        return house

    house = run(main)
    assert "Exam on 2026-12-03" in house.entries
    assert house.logged("tidied", "duplicates", "outdated", "placed") == [(1, 0, 0), (0, 1, 0)]
    assert house.model.questions == []


def merges(*groups: tuple[list[int], str]) -> str:
    return json.dumps({"merges": [{"entries": entries, "text": text} for entries, text in groups]})


def test_nearly_full_notebooks_are_merged(tmp_path: Path) -> None:
    """One call; a fair merge is written and can be undone, an unfair one is refused and logged;
    then what waited finds room (L6.2, L3.3)."""

    async def main() -> House:
        house = House(tmp_path, merges(
            ([1, 2], "Owns painting number 0 and number 1 of the series " + "about harbours " * 12),
            ([3, 4], "Owns painting number 7 of the series " + "about harbours " * 12),
        ))  # fmt: skip
        remembered(house, *FULL)
        [waits] = house.ledger.write(
            [
                Accepted(
                    operation="add", notebook="USER.md", entry=None,
                    text="Sails " * 25, quote="Sails", turn_index=0,
                )
            ],
            source="remember",
            at=house.now(),
        )  # fmt: skip
        assert not isinstance(waits, Change)
        await for_a_while(house.task(), hours=30)
        return house

    house = run(main)
    assert len(house.model.questions) == 1
    assert len(house.entries) == len(FULL)
    assert house.entries[0].startswith("Owns painting number 0 and number 1 of")
    assert house.entries[-1].startswith("Sails Sails")
    assert [refused.rule for refused in house.events.rejections()] == ["L6.2"]
    assert house.logged("merged", "outcome", "groups", "accepted") == [
        ("asking", None, None), ("merged", 2, 1),
    ]  # fmt: skip
    assert house.logged("tidied", "placed") == [(1,)]


def test_a_merge_asks_at_most_every_twelve_hours(tmp_path: Path) -> None:
    """Not again for the same entries, and after a change only when twelve hours are over."""

    async def main() -> list[int]:
        house = House(tmp_path, *[merges()] * 20)
        remembered(house, *FULL)
        counts = []
        for hours, is_news in ((1, False), (20, True), (1, True), (5, False), (13, False)):
            await for_a_while(house.task(), hours=hours)
            counts.append(len(house.model.questions))
            if is_news:
                remembered(house, f"Sails on ship {hours}")
        return counts

    assert run(main) == [1, 1, 2, 2, 3]


def test_a_merge_never_erases_what_came_meanwhile(tmp_path: Path) -> None:
    """Entries edited or written while the model thinks stay as they are (m18)."""

    async def main() -> tuple[House, tuple[str, ...]]:
        text = "Owns painting number 0 and number 1 of the series " + "about harbours " * 12
        house = House(tmp_path, merges(([1, 2], text)))
        remembered(house, *FULL)
        house.model.hold()
        tidying = asyncio.create_task(house.task().tidy_now())
        await house.model.asked.wait()
        edited = house.page.read_text().replace("number 1 of", "number 1, sold, of") + "- Sails\n"
        house.page.write_text(edited)
        before = house.entries
        house.model.release()
        report = await tidying
        assert "edited" in report.refused[0].reason
        return house, before

    house, before = run(main)
    assert house.entries == before


def test_the_users_own_lines_are_not_merged(tmp_path: Path) -> None:
    """What the user wrote is not even shown to the merging model (L1.3)."""

    async def main() -> House:
        house = House(tmp_path, merges())
        house.page.write_text("- My own line, as I want it\n")
        house.ledger.notice_edits(house.now())
        remembered(house, *FULL)
        await house.task().tidy_now()
        return house

    [question] = run(main).model.questions
    assert "My own line" not in question.text


@pytest.mark.parametrize("answer", [*NONSENSE.values(), gone()], ids=[*NONSENSE, "away"])
def test_a_merge_that_fails_changes_nothing(tmp_path: Path, answer: Answer) -> None:
    """Whatever the model answers, the notebooks stay as they were."""

    async def main() -> House:
        house = House(tmp_path, answer)
        remembered(house, *FULL)
        before = house.page.read_bytes()
        await house.task().tidy_now()
        assert house.page.read_bytes() == before
        return house

    outcomes = [outcome for (outcome,) in run(main).logged("merged", "outcome")]
    assert outcomes[0] == "asking" and outcomes[1] in ("nonsense", "nothing", "unavailable")


# The switch ---------------------------------------------------------------------------


def test_switched_off_nothing_is_marked_or_asked(tmp_path: Path) -> None:
    """What was said while learning is off is let go unread; what waited before goes on waiting."""

    async def main() -> House:
        house = House(tmp_path, changes(IS_VEGAN))
        house.says(VEGAN, name="before")
        await asyncio.sleep(10)
        off = house.task(learning=False)
        house.says(CITY, name="while")
        await off.review_now()
        assert house.left == ["calls/before.jsonl"]
        assert house.logged("reviewed", "marked", "outcome") == [(0, "switched off")]
        await house.task().review_now()
        return house

    house = run(main)
    assert house.entries == ("I'm vegan.",)
    assert len(house.model.questions) == 1


# Processes ----------------------------------------------------------------------------


def test_two_tasks_ask_once(tmp_path: Path) -> None:
    """Two processes that look at the same moment: one of them reviews."""

    async def main() -> House:
        house = House(tmp_path, changes(IS_VEGAN), changes(IS_VEGAN))
        house.says(VEGAN)
        await asyncio.gather(*(for_a_while(house.task(), minutes=30) for _ in range(2)))
        return house

    house = run(main)
    assert house.entries == ("I'm vegan.",)
    assert len(house.model.questions) == 1


KILLED = """
import asyncio, os, sys, traceback
from pathlib import Path
from memory import store
from memory.events import EventLog
from memory.notebooks.filter import marked
from memory.notebooks.tokens import tokens
from tests.memory.test_task import IN_HAMBURG, IS_VEGAN, CITY, VEGAN, House, add, changes

ANSWER = changes(IS_VEGAN, IN_HAMBURG, add("Ships knives by mail.", "I ship knives now"))


def dies_at(step):
    left = step

    def dying(real):
        def call(*args, **kwargs):
            nonlocal left
            left -= 1
            if left == 0:
                os._exit(9)
            result = real(*args, **kwargs)
            left -= 1
            if left == 0:
                os._exit(9)
            return result
        return call

    for owner, name in ((store, "append_lines"), (store, "commit"), (store, "remove"), (EventLog, "append")):
        setattr(owner, name, dying(getattr(owner, name)))


async def review(folder, step):
    house = House(folder, ANSWER)
    if step:
        house.says(VEGAN, CITY)
        dies_at(step)
    await house.task().review_now()


def in_child(folder, step):
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        asyncio.run(review(folder, step))
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


async def check(folder):
    house = House(folder)
    expected = ("I'm vegan.", "I live in Hamburg with my two cats.")
    assert house.entries == expected, house.entries
    assert len(house.ledger.changes()) == 2
    assert house.logged("reviewed", "accepted", "rejected") == [(2, 1)], house.logged("reviewed", "outcome")
    assert len(house.events.rejections()) == 1
    assert house.left == [], house.left
    assert house.reviews.waiting() == []


marked(VEGAN), tokens(VEGAN)  # loaded once, for all children
step = 1
while True:
    folder = Path(sys.argv[1]) / str(step)
    folder.mkdir()
    died = in_child(folder, step)
    assert died in (0, 9), died
    assert in_child(folder, 0) == 0
    asyncio.run(check(folder))
    if died == 0:
        break
    step += 1
print(step)
"""


def test_no_kill_makes_a_second_review_or_loses_one(tmp_path: Path) -> None:
    """Killed before and after each write of a review and started again: each turn is reviewed
    once, each change written once, each line logged once, and no file is left."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20
