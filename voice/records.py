"""What flows through a call, as frozen records.

Positions named `*_ms` count along the microphone's own stream, in milliseconds since its
first frame. `*_s` are seconds of the event loop's clock. Levels are 0 to 1.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from memory.records import Extract, Language, Origin, Turn

State = Literal[
    "connecting", "listening", "hearing", "thinking", "speaking", "reconnecting", "ended"
]
EndReason = Literal["hang-up", "silence", "page gone", "engine failed", "error"]


# What the ears tell ------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechBegan:
    """Somebody speaks; the first sound of it was at `began_ms`."""

    began_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Partial:
    """What was understood so far of a turn that still goes on. The last word may change."""

    text: str
    language: Language
    began_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """The first silence: the turn may be over, and these would be its words.

    Valid until `GuessWithdrawn` with the same number (speech went on) or until a
    `UserSaid` that names it. `ended_s` is when the last voiced frame arrived.
    """

    number: int
    text: str
    language: Language
    began_ms: int
    ended_ms: int
    ended_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessWithdrawn:
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSaid:
    """The turn is over, and these are its words.

    `guess` is the number of the guess with exactly these words, when one stands.
    `ended_s` is when the last voiced frame arrived, `decided_s` when the turn was called
    over, `transcribed_s` when its words were there: the latencies are counted from these.
    `origin` is "echo" where the words may be Jarvis' own, come back: they prove nothing.
    """

    text: str
    language: Language
    began_ms: int
    ended_ms: int
    guess: int | None
    ended_s: float
    decided_s: float
    transcribed_s: float
    origin: Origin = "spoken"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoTurn:
    """What sounded like speech was none: noise, music, a cough, or invented words."""

    reason: str
    began_ms: int
    ended_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BargedIn:
    """The user spoke into the answer, and meant it: the answer stops here."""

    began_ms: int


Heard = SpeechBegan | Partial | Guess | GuessWithdrawn | UserSaid | NoTurn | BargedIn


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What became of what a turn asked plain code to do, for whoever answers it.

    `note` is for the model: how to answer, and `lasting`, which also later answers must know.
    `said` is the same as Jarvis says it, by language; `whole`: the turn asked for nothing besides,
    so that these words are the whole answer. `found` is what was searched for: it goes into this
    one request, and nothing else is looked up for it.
    """

    note: str
    said: dict[Language, str]
    whole: bool
    lasting: str = ""
    found: NotesFound | None = None


# What a call tells the page, the terminal, a recording --------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChanged:
    state: State
    type: str = "state"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialText:
    """Replaces what was shown before for this turn; `speaker` as in Turn."""

    speaker: str
    text: str
    type: str = "partial"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAdded:
    turn: Turn
    type: str = "turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingSaid:
    """A partial text that was shown came to nothing: take it away."""

    type: str = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyMeasured:
    """Milliseconds from the user's last sound; stages add up to `total_ms`.

    Stages: pause (until the turn was called over), transcript, first_word, first_sound.
    A stage that was overlapped whole by an earlier one counts 0.
    `index` is the answer's turn.
    """

    index: int
    stages_ms: dict[str, int] = field(default_factory=dict)
    total_ms: int = 0
    type: str = "latency"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensCounted:
    """What an answer's request cost and which prefix it rode behind (V7); None: not told."""

    index: int
    prompt_tokens: int | None
    cached_tokens: int | None
    prefix_sha256: str
    type: str = "tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    user: float
    assistant: float
    type: str = "level"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something the user should know: what happened, what it means, what to do.

    `kind` is "stop" for what ends or blocks, "handled" for what was dealt with.
    """

    kind: Literal["stop", "handled"]
    text: str
    type: str = "notice"


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOver:
    first_index: int
    last_index: int
    trigger: str
    type: str = "handed_over"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryWritten:
    """What became of a wish to have something remembered. `change` undoes it.

    Not saved: `reason` is a sentence and `why` says the same in a word; `waits`: kept until
    there is room.
    """

    saved: bool
    notebook: str | None
    entry: str | None
    reason: str | None
    change: str | None
    why: str | None = None
    waits: bool = False
    type: str = "remembered"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryForgotten:
    """An entry was taken out because the user asked for it. `change` undoes it."""

    notebook: str
    entry: str
    change: str
    type: str = "forgotten"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractsShown:
    """The extracts of notes and journal that the answer `index` rests on, before it is heard.

    `turn` is the same as the transcript keeps it, with the origin "note": what stood in a note
    proves nothing about the user when they read it aloud.
    """

    index: int
    extracts: tuple[Extract, ...]
    turn: Turn
    type: str = "extracts"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesFound:
    """What the notes say to one turn: `block` for the model, with this one answer only."""

    block: str
    extracts: tuple[Extract, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChanged:
    """From here on another engine answers, because of `reason` (a sentence)."""

    engine: EngineDescription
    reason: str
    type: str = "engine"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded:
    reason: EndReason
    type: str = "ended"


CallEvent = (
    StateChanged
    | PartialText
    | TurnAdded
    | NothingSaid
    | LatencyMeasured
    | TokensCounted
    | Level
    | Notice
    | HandedOver
    | MemoryWritten
    | MemoryForgotten
    | ExtractsShown
    | EngineChanged
    | CallEnded
)


def event_json(event: CallEvent) -> dict[str, Any]:
    """The form in which the page, `--json` and a recording get an event."""
    if isinstance(event, TurnAdded):
        return {"type": event.type, "turn": event.turn.as_json()}
    if isinstance(event, ExtractsShown):
        return {
            "type": event.type,
            "index": event.index,
            "extracts": [asdict(extract) for extract in event.extracts],
        }
    return asdict(event)


# What answers -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineDescription:
    """What answers, in words for the page, the terminal and the log.

    `warning` is what this engine can't do well, `better` the one step to something
    better; both empty where there is nothing to say.
    """

    name: str
    hears: str
    thinks: str
    speaks: str
    words_go_to: str
    costs: str
    warning: str = ""
    better: str = ""
