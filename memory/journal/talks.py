"""What a conversation leaves in the journal: a short entry, if it held something (J1).

No model takes part. It is filed under the day on which it was said (m14); a talk over midnight
leaves an entry on each day.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import Literal

from memory.days import day_of
from memory.languages.words import language_of, lexicons
from memory.notebooks.candidates import SAID, candidates
from memory.notebooks.edit import one_line
from memory.notebooks.secrets import secrets, without_secrets
from memory.records import JournalEntry, Origin, Turn

ENOUGH_TURNS = 4
"""So many turns of the user's that say something are worth an entry by themselves."""
ENOUGH_WORDS = 4
"""A turn says something with so many words that mean something."""
TURNS_SHOWN = 12
REMEMBERED_SHOWN = 5
LINE_CHARS = 160
_SECRET_CHARS = 4

# Turns that were shown to the model and said by nobody.
_SHOWN: frozenset[Origin] = frozenset({"note", "tool"})
_NAMES = {"call": "Call", "chat": "Chat"}


def entries_of(
    turns: Sequence[Turn], kind: Literal["call", "chat"], remembered: Collection[str]
) -> tuple[JournalEntry, ...]:
    """An entry for each day of the talk that held something. `remembered` are entries that were
    written into the notebooks because the user asked, in these turns."""
    found = []
    for _, group in groupby(turns, key=lambda turn: day_of(turn.began_at)):
        of_day = tuple(group)
        said = tuple(turn for turn in of_day if turn.origin not in _SHOWN)
        looked_up = len(said) < len(of_day)
        entry = _entry(said, kind, tuple(remembered), looked_up=looked_up) if said else None
        if entry is not None:
            found.append(entry)
            remembered = ()
    return tuple(found)


def _entry(
    turns: tuple[Turn, ...],
    kind: Literal["call", "chat"],
    remembered: tuple[str, ...],
    *,
    looked_up: bool,
) -> JournalEntry | None:
    """`looked_up` is whether an answer rested on the user's notes."""
    marked = {each.turn_index: each.quote for each in reversed(candidates(turns))}
    words = ENOUGH_WORDS // 2 if looked_up else ENOUGH_WORDS
    telling = [turn for turn in turns if turn.index in marked or _says(turn, words)]
    enough = len(telling) >= (1 if looked_up else ENOUGH_TURNS)
    if not (marked or remembered or enough):
        return None
    title = next(iter((*remembered, *(marked[index] for index in sorted(marked)))), None)
    shown = _shown(turns, {turn.index for turn in telling})
    minutes = round((turns[-1].ended_at - turns[0].began_at).total_seconds() / 60)
    known = _secrets(turns)
    lines = [
        f"{_NAMES[kind]}, {_counted(minutes, 'minute')}, {_counted(len(turns), 'turn')}.",
        "",
        *(
            f"- {'You' if turn.speaker == 'user' else 'Jarvis'}: {_line(turn.text, known)}"
            for turn in shown
        ),
        *(f"- Remembered: {_line(text, known)}" for text in remembered[:REMEMBERED_SHOWN]),
    ]
    return JournalEntry(
        at=turns[0].began_at,
        title=one_line(title or telling[0].text),
        text="\n".join(lines),
        kind="conversation",
    )


def _says(turn: Turn, words: int) -> bool:
    if turn.speaker != "user" or turn.origin not in SAID:
        return False
    lexicon = lexicons()[language_of(turn.text, turn.language)]
    return sum(1 for word in lexicon.words(turn.text) if word.key) >= words


def _shown(turns: Sequence[Turn], telling: Collection[int]) -> list[Turn]:
    """What the user said that says something, each with the answer to it; the first of them."""
    shown: list[Turn] = []
    is_answer = False
    for turn in turns:
        if turn.index in telling or (is_answer and turn.speaker == "assistant" and turn.text):
            shown.append(turn)
        is_answer = turn.index in telling
    return shown[:TURNS_SHOWN]


def _secrets(turns: Sequence[Turn]) -> dict[str, str]:
    """What was called a secret in some turn, with its kind: in another one it has no name."""
    found = {}
    for turn in turns:
        for each in secrets(turn.text):
            value = turn.text[each.start : each.end].strip()
            if len(value) >= _SECRET_CHARS:
                found[value] = each.kind
    return found


def _line(text: str, known: Mapping[str, str]) -> str:
    line = one_line(without_secrets(text))
    for value, kind in known.items():
        line = line.replace(value, f"⟦{kind}⟧")
    if len(line) <= LINE_CHARS:
        return line
    return f"{line[: LINE_CHARS - 2].rpartition(' ')[0] or line[: LINE_CHARS - 2]} …"


def _counted(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"
