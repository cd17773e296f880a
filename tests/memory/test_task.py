from __future__ import annotations

import asyncio
import errno
import logging
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from memory import store
from memory.asking import NO_MODEL_S, QUESTIONS_A_DAY
from memory.llm.protocol import Llm
from memory.reviewing import QUIET_S
from memory.task import LOOK_EVERY_S
from tests.memory.learning import (
    CITY,
    IN_HAMBURG,
    IS_VEGAN,
    ORDER,
    VEGAN,
    House,
    changes,
    for_a_while,
    go_on,
    gone,
    run,
)

ROOT = Path(__file__).parents[2]
NOTHING = changes()


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


def test_a_full_disk_is_met_before_the_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is asked when the answer could not be kept; what to do is told."""
    real = store.append_lines

    def full(path: Path, records: Sequence[store.Record]) -> None:
        if path.parent.name == "reviews":
            raise store.unwritable(path, OSError(errno.ENOSPC, "full"))
        real(path, records)

    async def main() -> House:
        house = House(tmp_path, changes(IS_VEGAN))
        house.says(VEGAN)
        with monkeypatch.context() as patch:
            patch.setattr(store, "append_lines", full)
            assert "Free some space" in (await house.task().review_now()).faults[0]
            await for_a_while(house.task(), minutes=5)
        assert house.model.questions == []
        await for_a_while(house.task(), minutes=5)
        return house

    assert run(main).entries == ("I'm vegan.",)


def test_a_model_that_is_away_hears_one_question_of_a_review_asked_for(tmp_path: Path) -> None:
    """`jarvis review` with ten conversations and no model does not try it ten times."""

    async def main() -> House:
        house = House(tmp_path, *[gone()] * 20)
        for number in range(10):
            house.says(VEGAN, name=f"c{number}")
        report = await house.task().review_now()
        assert report.faults == ("The model is away. Start it.",)
        return house

    assert len(run(main).model.questions) == 1


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
        assert "switched off" in (await off.review_now()).faults[0]
        assert house.logged("reviewed", "marked", "outcome") == [(0, "switched off")]
        await house.task().review_now()
        return house

    house = run(main)
    assert house.entries == ("I'm vegan.",)
    assert len(house.model.questions) == 1


def test_switched_while_it_runs(tmp_path: Path) -> None:
    """The switch counts at once, both ways: what is handed over while it is off is let go unread."""

    async def main() -> House:
        house = House(tmp_path, changes(IS_VEGAN))
        task = house.task()
        task.switch(learning=False, reflects=True)
        house.says(CITY, name="while")
        await task.review_now()
        assert house.logged("reviewed", "marked", "outcome") == [(0, "switched off")]
        task.switch(learning=True, reflects=True)
        await asyncio.sleep(10)
        house.says(VEGAN, name="after")
        await task.review_now()
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
from memory.reviewing import load
from tests.memory.learning import IN_HAMBURG, IS_VEGAN, CITY, VEGAN, House, add, changes

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


load()  # once, for all children
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


def test_the_document_says_when_it_asks() -> None:
    """docs/jarvis-learning.md has the numbers of the code."""
    page = " ".join((ROOT / "docs" / "jarvis-learning.md").read_text(encoding="utf-8").split())
    assert (
        "after {:.0f}, {:.0f}, {:.0f}, {:.0f}, then {:.0f} seconds of quiet".format(*QUIET_S[1:])
        in page
    )
    assert f"it is asked at most {QUESTIONS_A_DAY} times" in page
    assert f"it looks again after {NO_MODEL_S / 60:.0f} minutes" in page
    assert LOOK_EVERY_S == 600 and "Every ten minutes each looks" in page


TOGETHER = """
import asyncio, os, sys, traceback
from pathlib import Path
from memory.reviewing import load
from tests.memory.learning import IS_VEGAN, VEGAN, House, changes

folder = Path(sys.argv[1])
load()


async def begin():
    house = House(folder)
    for number in range(6):
        house.says(VEGAN, name=f"c{number}")


async def review():
    house = House(folder, *[changes(IS_VEGAN)] * 6)
    while house.reviews.waiting():
        await house.task().review_now()
        await asyncio.sleep(0.02)
    return len(house.model.questions)


async def check(asked):
    house = House(folder)
    assert asked == 6, asked
    assert house.entries == ("I'm vegan.",), house.entries
    assert len(house.ledger.changes()) == 1
    assert len(house.logged("reviewed", "first")) == 6
    assert house.left == [], house.left


def child():
    pid = os.fork()
    if not pid:
        try:
            os._exit(asyncio.run(review()))
        except BaseException:
            traceback.print_exc()
            os._exit(100)
    return pid


# Each house in a process of its own: this one must have no threads when it forks.
if not (pid := os.fork()):
    asyncio.run(begin())
    os._exit(0)
os.waitpid(pid, 0)
pids = [child() for _ in range(3)]
asyncio.run(check(sum(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids)))
"""


def test_processes_that_review_together_ask_once_each(tmp_path: Path) -> None:
    """Three processes, six conversations: six questions, one entry, six lines in the log."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", TOGETHER, str(tmp_path)],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
