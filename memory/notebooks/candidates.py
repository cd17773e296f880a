"""What of a conversation is worth a review: turns in, marked sentences out, without secrets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory.notebooks.filter import marked
from memory.notebooks.review import Marked
from memory.notebooks.secrets import without_secrets
from memory.records import Origin, Turn

SAID: frozenset[Origin] = frozenset({"spoken", "typed"})
"""Where the user's own words come from; what was pasted, prefilled or heard back is none."""


def with_previous(turns: Sequence[Turn]) -> Iterator[tuple[Turn, str | None]]:
    """What the user said, each with what Jarvis said just before it."""
    before: Turn | None = None
    for turn in turns:
        if turn.speaker == "user" and turn.origin in SAID:
            yield (
                turn,
                before.text if before is not None and before.speaker == "assistant" else None,
            )
        before = turn


def marked_in(turn: Turn, previous: str | None) -> tuple[Marked, ...]:
    """The sentences of one turn that the filter marks, as they may leave this machine."""
    found = marked(turn.text, language=turn.language, previous=previous)
    if not found:
        return ()
    line = None if previous is None else without_secrets(previous)
    return tuple(
        Marked(
            quote=without_secrets(candidate.quote),
            previous=line,
            said_at=turn.began_at,
            language=turn.language,
            conversation=turn.conversation,
            turn_index=turn.index,
            kind=candidate.kind,
        )
        for candidate in found
    )


def candidates(turns: Sequence[Turn], first: int = 0) -> tuple[Marked, ...]:
    """The marked sentences of the turns from index `first` on."""
    return tuple(
        each
        for turn, previous in with_previous(turns)
        if turn.index >= first
        for each in marked_in(turn, previous)
    )
