"""The lessons of one user, as the rest of the house meets them: for any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.events import EventLog
from memory.lessons import views
from memory.lessons.block import block, chosen
from memory.lessons.digest import facts
from memory.lessons.limits import FLOOR
from memory.lessons.records import EmbedReport, Going, Lesson, TidyLessons
from memory.lessons.score import score
from memory.lessons.shelf import Shelf
from memory.lessons.tidying import Compare, going
from memory.prompts import prompt

if TYPE_CHECKING:
    from memory.embedding import Embedder, Vectors
    from memory.lessons.same import Closeness

FRAME = "lessons.md"
_AT_ONCE = 8


class Lessons:
    """`embedder` gives the model that makes vectors; None where there is none, which is normal."""

    def __init__(self, events: EventLog, embedder: Callable[[], Embedder | None]) -> None:
        self.shelf = Shelf(events)
        self._events = events
        self._embedder = embedder
        self._passing = threading.Lock()

    # Looking ---------------------------------------------------------------------------

    def live(self) -> tuple[Lesson, ...]:
        return self.shelf.lessons(live=True)

    def forgotten(self) -> tuple[Lesson, ...]:
        return self.shelf.lessons(live=False)

    def as_json(self, at: datetime) -> dict[str, Any]:
        """Everything that a view draws: lessons with score and curve, and the forgotten."""
        return views.shelf_json(self.live(), self.forgotten(), self.shelf.block(), at)

    def listed(self, at: datetime, *, forgotten: bool = False) -> list[dict[str, Any]]:
        """One of its two lists: live ones strongest first, forgotten ones newest first."""
        lessons = self.forgotten() if forgotten else self.live()
        return views.listed(lessons, self.shelf.block(), at, forgotten=forgotten)

    def grounds(self, written: str) -> tuple[str, ...]:
        """What happened that a lesson rests on, in lines. Raises NoSuchLesson."""
        events = self._events.with_ids(self.shelf.find(written).events)
        return tuple(fact.text for fact in facts(events))

    def in_prompts(self) -> tuple[str, tuple[Lesson, ...]]:
        """The block behind the notebooks and the lessons in it: the same until the next pass."""
        riding = self.shelf.block()
        return block(riding, frame=prompt(FRAME)), riding

    # Changing --------------------------------------------------------------------------

    def tidy(self, at: datetime, *, dry_run: bool = False) -> TidyLessons:
        """Merge and fade now (F7): exactly what went, or would, and how many stay."""
        with self._passing:
            live = self.live()
            found, waiting = going(live, at, self._compare())
            if dry_run:
                return TidyLessons(
                    at=at, dry_run=True, going=found, live=len(live) - len(found), waiting=waiting
                )

            def line(gone: tuple[Going, ...], left: int) -> dict[str, Any]:
                return {
                    "merged": sum(each.why == "merged" for each in gone),
                    "updated": sum(each.why == "updated" for each in gone),
                    "faded": sum(each.why == "faded" for each in gone),
                    "no_room": sum(each.why == "no room" for each in gone),
                    "live": left,
                    "waiting": waiting,
                }

            gone, left = self.shelf.let_go(
                found, at, block=self._strongest(at), log=line if found else None
            )
            return TidyLessons(at=at, dry_run=False, going=gone, live=left, waiting=waiting)

    def restore(self, written: str, at: datetime) -> Lesson:
        """Make a forgotten lesson count as live again. Raises NoSuchLesson."""
        return self.shelf.restore(written, at, block=self._strongest(at))

    def drop(self, written: str, at: datetime) -> Lesson:
        """The user takes a lesson out: forgotten, and not learned again from what was before.
        Raises NoSuchLesson."""
        found = self.shelf.find(written)
        gone = Going(
            lesson=found,
            why="dropped",
            reason="You took it out.",
            score=score(found, at),
        )
        self.shelf.let_go([gone], at, block=self._strongest(at))
        return self.shelf.find(found.id)

    def embed(
        self, at: datetime, progress: Callable[[int, int], None] = lambda _done, _all: None
    ) -> EmbedReport:
        """Give each lesson that has none a vector of the model on this machine, live ones first."""
        everything = (*self.live(), *self.forgotten())
        model = self._embedder()
        if model is None:
            return EmbedReport(
                model=None, embedded=0, live=len(self.live()), forgotten=len(self.forgotten())
            )
        there = self.shelf.vectors(model.name)
        missing = [each for each in everything if each.id not in there]
        for first in range(0, len(missing), _AT_ONCE):
            batch = missing[first : first + _AT_ONCE]
            rows = model.embed([each.text for each in batch])
            self.shelf.put_vectors(
                model.name, {each.id: row for each, row in zip(batch, rows, strict=True)}
            )
            progress(first + len(batch), len(missing))
        if missing:
            self._events.append(
                "lessons_embedded", at, data={"lessons": len(missing), "model": model.name}
            )
        live = sum(each.is_live for each in everything)
        return EmbedReport(
            model=model.name,
            embedded=len(missing),
            live=live,
            forgotten=len(everything) - live,
        )

    def vectors_of(self, texts: Sequence[str]) -> tuple[str, Vectors] | None:
        """What a lesson is embedded by when it is made (F5)."""
        model = self._embedder()
        return None if model is None or not texts else (model.name, model.embed(texts))

    def _compare(self) -> Compare:
        from memory.lessons.same import comparing

        model = self._embedder()
        return comparing(model.name if model else None, self._vectors(model), closeness_by(model))

    def _vectors(self, model: Embedder | None) -> dict[str, Vectors]:
        return dict(self.shelf.vectors(model.name)) if model else {}

    def _strongest(self, at: datetime) -> Callable[[Sequence[Lesson]], Sequence[Lesson]]:
        return lambda live: chosen(
            [each for each in live if score(each, at) >= FLOOR], at, frame=prompt(FRAME)
        )


def closeness_by(model: Embedder | None) -> Closeness | None:
    """The cosine of two words of this model; each word is embedded once."""
    if model is None:
        return None
    known: dict[str, Vectors] = {}

    def closeness(one: str, other: str) -> float:
        for word in (one, other):
            if word not in known:
                known[word] = model.embed([word.removeprefix("=")])[0]
        return float(known[one] @ known[other])

    return closeness
