"""The first version's policy, which exists only here: a review every six turns of the user and
at each hang-up, over everything said since the last one.

Its question held instructions, two notebooks of 4,000 characters each and the transcript, about
6,000 tokens together; its answer up to eight changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memory.notebooks.tokens import tokens
from memory.records import Turn

USER_TURNS = 6
CHANGES = 8
NOTEBOOK_CHARS = 4_000
INSTRUCTIONS_TOKENS = 3_500
"""What is left of the 6,000 when full notebooks and a short transcript are taken off."""

_ENTRY = "- Der Nutzer trinkt morgens am liebsten grünen Tee und liest dabei die Zeitung.\n"
_CHANGE = (
    '{"operation": "add", "notebook": "USER.md", "entry": null, "text": "Der Nutzer trinkt '
    'morgens am liebsten grünen Tee und liest dabei die Zeitung.", "quote": "ich trinke morgens '
    'am liebsten grünen tee"}, '
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstVersion:
    """Tokens in are counted; tokens out are those of eight changes, what it was allowed."""

    reviews: int
    tokens_in: int
    tokens_out: int


def review_month(calls: Iterable[tuple[Turn, ...]]) -> FirstVersion:
    notebooks = 2 * tokens((_ENTRY * NOTEBOOK_CHARS)[:NOTEBOOK_CHARS])
    reviews = [
        INSTRUCTIONS_TOKENS + notebooks + tokens("\n".join(turn.text for turn in part))
        for turns in calls
        for part in _parts(turns)
    ]
    return FirstVersion(
        reviews=len(reviews),
        tokens_in=sum(reviews),
        tokens_out=len(reviews) * tokens(_CHANGE * CHANGES),
    )


def _parts(turns: tuple[Turn, ...]) -> Iterator[list[Turn]]:
    part: list[Turn] = []
    said = 0
    for turn in turns:
        if turn.speaker == "user" and said == USER_TURNS:
            yield part
            part, said = [], 0
        part.append(turn)
        said += turn.speaker == "user"
    if part:
        yield part
