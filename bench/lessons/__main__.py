"""Lessons, measured: `python -m bench.lessons [pairs] [years] [week] [month] [kills] [wipe] [--rounds N]`."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.lessons.month import month
from memory.door import Memory
from memory.embedding import at_hand
from memory.events import EventLog
from memory.lessons.door import Lessons, closeness_by
from memory.lessons.limits import FLOOR, HALF_LIFE_DAYS, LIVE_AT_MOST
from memory.lessons.records import KINDS, Alike, Going, Lesson
from memory.lessons.same import by_meaning, by_words, thresholds_of
from memory.lessons.score import score
from memory.lessons.shelf import Shelf
from tests.memory.learning import House, for_a_while, run

PAIRS = Path(__file__).parent / "pairs.jsonl"
BEGIN = datetime(2026, 1, 1, 9, tzinfo=UTC)
DAY = timedelta(days=1)


def pairs() -> None:
    """300 labelled pairs: paraphrases found, near misses merged."""
    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    methods: dict[str, Callable[[dict[str, Any]], Alike]] = {
        "words": lambda row: by_words(row["one"], row["other"])
    }
    model = at_hand()
    limits = thresholds_of(model.name) if model else None
    if model is not None and limits is not None:
        ones = model.embed([row["one"] for row in rows])
        others = model.embed([row["other"] for row in rows])
        cosines = {
            row["one"] + row["other"]: float(a @ b)
            for row, a, b in zip(rows, ones, others, strict=True)
        }
        closeness = closeness_by(model)
        methods["vectors"] = lambda row: by_meaning(
            row["one"], row["other"], cosines[row["one"] + row["other"]], limits, closeness
        )
        worst = max(cosines[r["one"] + r["other"]] for r in rows if not r["same"])
        bare = [r for r in rows if r["same"] and cosines[r["one"] + r["other"]] > worst]
        print(f"a bare threshold at no false merge: {len(bare)} of 150 paraphrases")
    for name, judge in methods.items():
        for part, chosen in (("all", rows), ("held out", [row for row in rows if row["held"]])):
            found: Counter[tuple[str, bool]] = Counter()
            total: Counter[tuple[str, bool]] = Counter()
            for row in chosen:
                total[row["language"], row["same"]] += 1
                found[row["language"], row["same"]] += judge(row).same
            told = ", ".join(
                f"{language} {found[language, True]}/{total[language, True]}"
                for language in ("en", "de", "es")
            )
            share = sum(n for (_, same), n in found.items() if same) / sum(
                n for (_, same), n in total.items() if same
            )
            false = sum(n for (_, same), n in found.items() if not same)
            print(f"{name:<8} {part:<9} paraphrases {share:.0%} ({told}), false merges {false}")


def years() -> None:
    """Five years of days: a guess a week, and lessons that are confirmed every month."""
    worst = max(
        abs(score(_lesson("x", kind, BEGIN), BEGIN + n * HALF_LIFE_DAYS[kind] * DAY) - 0.5**n)
        for kind in KINDS
        for n in range(8)
    )
    things = ["recipes", "trains", "films", "books", "music", "birds", "garden", "taxes", "maps"]
    with tempfile.TemporaryDirectory() as folder:
        log = EventLog(Path(folder), lambda: BEGIN)
        lessons = Lessons(log, lambda: None)
        made, most, event = 0, 0, 0
        rng = random.Random(7)  # noqa: S311 - a simulation
        for day in range(5 * 365):
            at = BEGIN + day * DAY
            new = []
            if day % 7 == 0:
                word = f"{rng.choice(things)} of Town{day:04}x"
                new.append((KINDS[day // 7 % 4], f"Questions about {word} were answered badly"))
            if day % 30 == 0:
                new += [(kind, f"Long answers get interrupted, as {kind} shows") for kind in KINDS]
            for kind, text in new:
                event += 1
                made += 1
                lesson = _lesson(f"l{made}", kind, at, text, events=(event,), made_by=f"p{made}")
                lessons.shelf.add([lesson], at)
            if new or day % 7 == 3:
                most = max(most, lessons.tidy(at).live)
        end = BEGIN + 5 * 365 * DAY
        live, gone = lessons.live(), lessons.forgotten()
        confirmed = [each for each in live if each.text.startswith("Long answers")]
        old = [e for e in live if e.text.startswith("Questions") and e.made_at < end - 400 * DAY]
        log.close()
    print(f"half-lives: largest error {worst:.1e}")
    print(
        f"five years: {made} made, {len(live)} live + {len(gone)} forgotten = {len(live) + len(gone)}"
    )
    print(f"most live at once {most} (budget {LIVE_AT_MOST}), floor {FLOOR}")
    told = ", ".join(f"{e.kind} {score(e, end):.2f} ({len(e.corroborations)})" for e in confirmed)
    print(f"confirmed monthly, at the end: {told}")
    print(f"guesses older than 400 days still live: {len(old)}")


def _lesson(name: str, kind: Any, at: datetime, text: str = "x", **others: Any) -> Lesson:
    return Lesson(
        **{"id": name, "kind": kind, "text": text, "made_at": at, "made_by": "p"} | others
    )


def _at_work(state: Path, ready: Any, seed: int) -> None:
    log = EventLog(state, lambda: BEGIN)
    lessons = Lessons(log, lambda: None)
    rng = random.Random(seed)  # noqa: S311
    ready.set()
    at = BEGIN + 40 * DAY
    while True:
        at += DAY
        live, gone = lessons.live(), lessons.forgotten()
        if len(live) > 3 and rng.random() < 0.5:
            newer, older = live[-1], live[0]
            alike = Alike(method="words", figure=0.9, threshold=0.65)
            merge = Going(
                lesson=newer,
                why="merged",
                reason="x",
                score=1,
                into=older.id,
                alike=alike,
                counts=True,
            )
            fade = Going(lesson=live[1], why="faded", reason="x", score=0)
            lessons.shelf.let_go([merge, fade], at, block=lambda all_of: all_of[:8])
        elif gone:
            lessons.shelf.restore(rng.choice(gone).id, at, block=lambda all_of: all_of[:8])


def kills(rounds: int) -> None:
    """kill −9 at a random instant of merging, fading and restoring."""
    context = multiprocessing.get_context("fork")
    rng = random.Random(3)  # noqa: S311
    names = {f"l{number}" for number in range(12)}
    lost = twice = torn = 0
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        log = EventLog(state, lambda: BEGIN)
        Shelf(log).add(
            [_lesson(n, "user", BEGIN, f"About {n}", events=(1,)) for n in sorted(names)], BEGIN
        )
        log.close()
        for number in range(rounds):
            ready = context.Event()
            child = context.Process(target=_at_work, args=(state, ready, number))
            child.start()
            ready.wait(30)
            time.sleep(rng.random() * 0.02)
            assert child.pid is not None
            os.kill(child.pid, signal.SIGKILL)
            child.join()
            log = EventLog(state, lambda: BEGIN)
            found = Shelf(log).lessons()
            counts = log.counts()
            log.close()
            lost += len(names - {each.id for each in found})
            backing = Counter(
                c.source for each in found if each.is_live for c in each.corroborations
            )
            twice += (
                len(found) - len({each.id for each in found}) + sum(n - 1 for n in backing.values())
            )
            gone = sum(not each.is_live for each in found)
            torn += counts.get("lesson_forgotten", 0) - counts.get("lesson_restored", 0) != gone
    print(
        f"kill -9, {rounds} rounds: {lost} lost, {twice} twice, {torn} where log and lessons differ"
    )


def _wiping(vault: Path, state: Path, ready: Any) -> None:
    memory = Memory.open(vault, state, lambda: BEGIN)
    ready.set()
    memory.wipe(BEGIN)
    os._exit(0)


def wipe(rounds: int) -> None:
    """kill −9 during a wipe: after the next start no byte is found, raw."""
    context = multiprocessing.get_context("fork")
    rng = random.Random(5)  # noqa: S311
    word, left, refused = b"zebrafinch", 0, 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            vault, state = Path(folder) / "vault", Path(folder) / "state"
            vault.mkdir()
            memory = Memory.open(vault, state, lambda: BEGIN)
            memory.lessons.shelf.add([_lesson("a", "user", BEGIN, "A zebrafinch")], BEGIN)
            memory.remember_text("I love my zebrafinch", BEGIN)
            memory.close()
            for number in range(20):
                (state / "calls").mkdir(exist_ok=True)
                (state / "calls" / f"c{number}.jsonl").write_bytes(word * 500)
            ready = context.Event()
            child = context.Process(target=_wiping, args=(vault, state, ready))
            child.start()
            ready.wait(30)
            time.sleep(rng.random() * 0.2)
            assert child.pid is not None
            os.kill(child.pid, signal.SIGKILL)
            child.join()
            begun = (state / "wiping.json").exists() or not (state / "events.db").exists()
            if not begun:
                refused += 1
                continue
            Memory.open(vault, state, lambda: BEGIN).close()
            left += sum(word in p.read_bytes() for p in Path(folder).rglob("*") if p.is_file())
    print(
        f"kill -9 in a wipe, {rounds} rounds ({refused} before it began): {left} files with the word"
    )


def week() -> None:
    """A week by itself on the virtual clock: a lively day, then a quiet one, in turn."""

    async def live() -> None:
        answer = {"kind": "user", "text": "The user often interrupts long answers", "facts": [1]}
        house = House(Path(folder), *[json.dumps({"lessons": [answer]})] * 99)
        lessons = Lessons(house.events, lambda: None)
        task = house.task(lessons=lessons)
        idle_calls = 0
        for hour in range(7 * 24):
            before = len(house.model.questions)
            lively = hour // 24 % 2 == 0
            for _ in range(4 if lively else 0):
                house.events.append("interrupted", house.now(), data={"heard_ms": 9_000})
            await for_a_while(task, hours=1)
            # What the caps put off is new until it was asked about.
            if not lively and hour % 24 > 12:
                idle_calls += len(house.model.questions) - before
        days: dict[str, Counter[str]] = {}
        for event in house.events.events("reflected"):
            day = days.setdefault(event.at.date().isoformat(), Counter())
            day["passes"] += event.data["outcome"] != "asking"
            day["tokens"] += event.data["tokens_in"] + event.data["tokens_out"]
        print(
            f"a week by itself: {len(house.model.questions)} calls, at most "
            f"{max(day['passes'] for day in days.values())} passes and "
            f"{max(day['tokens'] for day in days.values())} tokens a day, {idle_calls} calls with "
            f"nothing new, {len(lessons.live())} live lesson(s)"
        )

    with tempfile.TemporaryDirectory() as folder:
        run(live)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "what", nargs="*", default=["pairs", "years", "week", "month", "kills", "wipe"]
    )
    parser.add_argument("--rounds", type=int, default=1_000)
    given = parser.parse_args()
    for what in given.what:
        if what == "pairs":
            pairs()
        elif what == "years":
            years()
        elif what == "kills":
            kills(given.rounds)
        elif what == "week":
            week()
        elif what == "month":
            month()
        elif what == "wipe":
            wipe(max(1, given.rounds // 10))
        else:
            parser.error(f"{what} is none of pairs, years, week, month, kills, wipe")


if __name__ == "__main__":
    main()
