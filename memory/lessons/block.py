"""The strongest lessons as they ride in prompts, after the notebooks (F1)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memory.lessons.limits import BLOCK_LESSONS, BLOCK_TOKENS
from memory.lessons.records import Lesson
from memory.lessons.score import score
from memory.notebooks.prefix import disarm, fill, show_hidden
from memory.notebooks.tokens import tokens


def chosen(live: Sequence[Lesson], at: datetime, *, frame: str) -> tuple[Lesson, ...]:
    """The strongest that fit into the budget, strongest first. One that is too long is passed
    over for the next. Made at a pass and kept until the next, so that no byte changes in between.
    """
    ranked = sorted(live, key=lambda each: (-score(each, at), each.made_at, each.id))
    taken: list[Lesson] = []
    for lesson in ranked:
        if len(taken) == BLOCK_LESSONS:
            break
        if tokens(block([*taken, lesson], frame=frame)) <= BLOCK_TOKENS:
            taken.append(lesson)
    return tuple(taken)


def block(lessons: Sequence[Lesson], *, frame: str) -> str:
    """What stands in the prompt; empty without lessons. `frame` is `prompts/lessons.md`."""
    if not lessons:
        return ""
    lines = [f"- {disarm(show_hidden(' '.join(each.text.split())))}" for each in lessons]
    return fill(frame, {"lessons": "\n".join(lines)})
