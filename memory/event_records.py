"""What the event log keeps: events of these kinds, with these fields.

Never what was said, with one exception: a proposal that was refused is kept with its text
and its quote (`rejected`), so that the user can see what the rules keep out. Hidden
characters are escaped there, and where the rule is about secrets the words are left out.

| kind           | data                                                                   |
|----------------|------------------------------------------------------------------------|
| `began`        | `kind` (call, chat), `engine`, `language`, `prefix_sha256`             |
| `ended`        | `reason`, `turns`, `user_turns`, `duration_s`                          |
| `latency`      | `engine`, `total_ms`, `stages_ms` (name → ms)                          |
| `tokens`       | `engine`, `prompt_tokens`, `cached_tokens`, `prefix_sha256`            |
| `microphone`   | `frames` of 20 ms, and how many were `delivered`, `missing`, `dropped` or still `waiting`; `waited_most` at once; `reasons` (why missing or dropped → frames) |
| `no_turn`      | `reason`, `duration_ms`                                                |
| `interrupted`  | `heard_ms`                                                             |
| `handed_over`  | `first`, `last`, `trigger`                                             |
| `engine_fault` | `engine`, `fault` (the exception's name; gave up: another engine went on) |
| `reviewed`     | `first`, `last`, `marked`, `corrections` (of them), `asked` (sentences that the model saw), `proposed`, `accepted`, `rejected`, `tokens_in`, `tokens_out`, `model`, `billing`, `outcome` (nothing marked, asked, given up, switched off) |
| `rejected`     | `rule`, `reason`, `operation`, `notebook`, `entry`, `text`, `quote`    |
| `review_failed`| `first`, `last`, `model`, `billing`, `fault` (unavailable, nonsense), `tries`, `next_at`, `tokens_in`, `tokens_out` |
| `remembered`   | `saved`, `notebook`, `reason`                                          |
| `merged`       | `outcome` (asking, before the call; merged, nothing, nonsense, unavailable, gave way), `groups`, `accepted`, `entries`, `tokens_in`, `tokens_out`, `model`, `billing` |
| `tidied`       | `duplicates`, `outdated`, `placed`                                     |
| `thought`      | `outcome` (asking, before the call, with the most it may cost; noted, nothing, repeat, refused, nonsense, unavailable, gave way), `rule`, `stars`, `tokens_in`, `tokens_out`, `model`, `billing`, `next_at`, `entries` (hashes of what was new), `text` (a hash), `language`, `words` (hashes), `denies` |
| `tool`         | `name`, `outcome` (done, nothing found, failed), `duration_ms`         |
| `reflected`    | `outcome` (asking, before the call; else as in lessons/records.py), `auto`, `read`, `last` and `providers_last` (the newest event that was read), `made`, `refused`, `tokens_in`, `tokens_out`, `model`, `billing` |
| `lesson_made`  | `lesson` (its id), `lesson_kind`, `events` (how many it rests on), `model` |
| `lesson_refused` | `rule`, `reason`                                                     |
| `lesson_merged`| `lesson`, `into`, `method`, `figure`, `threshold`, `corroborates`      |
| `lesson_forgotten` | `lesson`, `why`, `reason`, `score`, `into`                         |
| `lesson_restored` | `lesson`                                                            |
| `lessons_tidied` | `merged`, `updated`, `faded`, `no_room`, `live`, `waiting`           |
| `lessons_embedded` | `lessons`, `model`                                                 |

`turn_index` is the turn that an event belongs to, where there is one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from memory.notebooks.prefix import show_hidden
from memory.notebooks.secrets import secret_in
from memory.records import Rejection

Kind = Literal[
    "began",
    "ended",
    "latency",
    "tokens",
    "microphone",
    "no_turn",
    "interrupted",
    "handed_over",
    "engine_fault",
    "reviewed",
    "rejected",
    "review_failed",
    "remembered",
    "merged",
    "tidied",
    "tool",
    "thought",
    "reflected",
    "lesson_made",
    "lesson_refused",
    "lesson_merged",
    "lesson_forgotten",
    "lesson_restored",
    "lessons_tidied",
    "lessons_embedded",
]
Value = str | int | float | bool | None | Mapping[str, int]

FIELDS: Mapping[Kind, frozenset[str]] = {
    "began": frozenset({"kind", "engine", "language", "prefix_sha256"}),
    "ended": frozenset({"reason", "turns", "user_turns", "duration_s"}),
    "latency": frozenset({"engine", "total_ms", "stages_ms"}),
    "tokens": frozenset({"engine", "prompt_tokens", "cached_tokens", "prefix_sha256"}),
    "microphone": frozenset(
        {"frames", "delivered", "missing", "dropped", "waiting", "waited_most", "reasons"}
    ),
    "no_turn": frozenset({"reason", "duration_ms"}),
    "interrupted": frozenset({"heard_ms"}),
    "handed_over": frozenset({"first", "last", "trigger"}),
    "engine_fault": frozenset({"engine", "fault"}),
    "reviewed": frozenset(
        {
            "first", "last", "marked", "corrections", "asked", "proposed", "accepted", "rejected",
            "tokens_in", "tokens_out", "model", "billing", "outcome",
        }
    ),
    "rejected": frozenset({"rule", "reason", "operation", "notebook", "entry", "text", "quote"}),
    "review_failed": frozenset(
        {
            "first", "last", "model", "billing", "fault", "tries", "next_at", "tokens_in",
            "tokens_out",
        }
    ),
    "remembered": frozenset({"saved", "notebook", "reason"}),
    "merged": frozenset(
        {
            "outcome", "groups", "accepted", "entries", "tokens_in", "tokens_out", "model",
            "billing",
        }
    ),
    "tidied": frozenset({"duplicates", "outdated", "placed"}),
    "tool": frozenset({"name", "outcome", "duration_ms"}),
    "thought": frozenset(
        {
            "outcome", "rule", "stars", "tokens_in", "tokens_out", "model", "billing", "next_at",
            "entries", "text", "language", "words", "denies",
        }
    ),
    "reflected": frozenset(
        {
            "outcome", "auto", "read", "last", "providers_last", "made", "refused", "tokens_in",
            "tokens_out", "model", "billing",
        }
    ),
    "lesson_made": frozenset({"lesson", "lesson_kind", "events", "model"}),
    "lesson_refused": frozenset({"rule", "reason"}),
    "lesson_merged": frozenset(
        {"lesson", "into", "method", "figure", "threshold", "corroborates"}
    ),
    "lesson_forgotten": frozenset({"lesson", "why", "reason", "score", "into"}),
    "lesson_restored": frozenset({"lesson"}),
    "lessons_tidied": frozenset({"merged", "updated", "faded", "no_room", "live", "waiting"}),
    "lessons_embedded": frozenset({"lessons", "model"}),
}  # fmt: skip
NAME_CHARS = 100
_REFUSED_CHARS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    id: int
    kind: str
    at: datetime
    conversation: str | None
    turn_index: int | None
    data: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A refused proposal as the log keeps it; None where the rule is about secrets."""

    at: datetime
    conversation: str | None
    rule: str
    reason: str
    operation: str
    notebook: str
    entry: str | None
    text: str | None
    quote: str | None


def row_of(
    kind: Kind,
    at: datetime,
    conversation: str | None,
    turn_index: int | None,
    data: Mapping[str, Value],
) -> tuple[Any, ...]:
    limit = _REFUSED_CHARS if kind == "rejected" else NAME_CHARS
    fields = {
        name: value[:limit] if isinstance(value, str) else value for name, value in data.items()
    }
    assert fields.keys() <= FIELDS[kind], f"{kind} has no {fields.keys() - FIELDS[kind]}"
    return (kind, stored(at), conversation, turn_index, json.dumps(fields))


def event_of(row: tuple[Any, ...]) -> Event:
    number, kind, at, conversation, turn_index, data = row
    return Event(
        id=number,
        kind=kind,
        at=datetime.fromisoformat(at),
        conversation=conversation,
        turn_index=turn_index,
        data=json.loads(data),
    )


def refusal_of(rejection: Rejection) -> dict[str, str | None]:
    """The data of a `rejected` event: what it would have written, so that anybody can read it."""
    proposal = rejection.proposal
    words = {"entry": proposal.entry, "text": proposal.text, "quote": proposal.quote}
    is_secret = any(word and secret_in(word) for word in words.values())
    return {
        "rule": rejection.rule,
        "reason": rejection.reason[:_REFUSED_CHARS],
        "operation": proposal.operation,
        "notebook": proposal.notebook,
        **{
            name: None if is_secret or word is None else show_hidden(word)[:_REFUSED_CHARS]
            for name, word in words.items()
        },
    }


def stored(at: datetime) -> str:
    """A time as the tables hold it: it sorts as text."""
    assert at.tzinfo is not None
    return at.astimezone(UTC).isoformat(timespec="microseconds")
