"""Speech events in, turns out: the transcript of one conversation.

pipecat's own transcript comes late and out of order when a realtime service answers, so
this one is kept by us: a turn gets its index when it is complete, an answer that somebody
spoke into is cut first, and so the order is that in which turns began.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory.records import Extract, Language, Origin, Speaker, Turn
from voice.heard import Piece, heard_samples, heard_text
from voice.records import (
    CallEvent,
    ExtractsShown,
    LatencyMeasured,
    NothingSaid,
    PartialText,
    State,
    StateChanged,
    TokensCounted,
    TurnAdded,
    UserSaid,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerBegan:
    """`to` is the spoken turn that is answered, None for a typed one. Times as in AnswerBeganFrame."""

    to: UserSaid | None
    first_token_s: float | None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    extracts: tuple[Extract, ...] = ()


def note_turn(extracts: tuple[Extract, ...], conversation: str, index: int, at: datetime) -> Turn:
    """What was shown of notes, as a conversation keeps it."""
    return Turn(
        conversation=conversation,
        index=index,
        speaker="assistant",
        text="\n\n".join(extract.text for extract in extracts),
        language=None,
        began_at=at,
        ended_at=at,
        origin="note",
    )


@dataclass(slots=True)
class _Answer:
    began: AnswerBegan
    index: int
    language: Language | None = None
    began_at: datetime | None = None
    first_position: int = 0
    given_samples: int = 0
    done: bool = False
    prompt_tokens: int | None = None
    cached_tokens: int | None = None


class Transcript:
    """Pure state: each call takes the present as `at` (aware) and, where needed, `now_s`.

    Every method returns the events that follow, in order. `played` is the output's own
    position (`voice.playback`); None where an output can't tell, and what came out of it
    counts as heard.
    """

    def __init__(
        self,
        conversation: str,
        *,
        prefix_sha256: str = "",
        first_index: int = 0,
        played: Callable[[], int] | None = None,
    ) -> None:
        self._conversation = conversation
        self._prefix_sha256 = prefix_sha256
        self._next = first_index
        self._played = played
        self._state: State = "connecting"
        self._answer: _Answer | None = None
        self._pieces: list[Piece] = []
        self._partial_shown = False

    @property
    def state(self) -> State:
        return self._state

    @property
    def answer_open(self) -> bool:
        return self._answer is not None

    @property
    def heard_samples(self) -> int:
        """How much of the present answer was heard by now; 0 where there is none."""
        return self._heard_of(self._answer) if self._answer else 0

    def opened(self) -> list[CallEvent]:
        return self._turn_to("listening")

    def speech_began(self) -> list[CallEvent]:
        # While an answer plays this may still be noise: the answer goes on until BargedIn.
        return [] if self._answer else self._turn_to("hearing")

    def partial(self, text: str) -> list[CallEvent]:
        if not text:
            return []
        self._partial_shown = True
        return [PartialText(speaker="user", text=text)]

    def barged_in(self, *, at: datetime) -> list[CallEvent]:
        return [*self._cut(at), *self._turn_to("hearing")]

    def nothing_said(self) -> list[CallEvent]:
        events = self._clear_partial()
        if self._state == "hearing":
            events += self._turn_to("listening")
        return events

    def user_said(self, said: UserSaid, *, at: datetime, now_s: float) -> list[CallEvent]:
        """A spoken turn is complete; its own times are reckoned back from the present."""
        ended_at = at - timedelta(seconds=max(0.0, now_s - said.ended_s))
        began_at = ended_at - timedelta(milliseconds=said.ended_ms - said.began_ms)
        turn = self._user_turn(said.text, said.language, began_at, ended_at, said.origin, cut_at=at)
        self._partial_shown = False
        return [*turn, *self._turn_to("thinking")]

    def typed(self, text: str, *, pasted: bool, at: datetime) -> list[CallEvent]:
        origin: Origin = "pasted" if pasted else "typed"
        return [
            *self._user_turn(text, None, at, at, origin, cut_at=at),
            *self._turn_to("thinking"),
        ]

    def answer_began(self, began: AnswerBegan, *, at: datetime) -> list[CallEvent]:
        events = [*self._cut(at), *self._extracts(began.extracts, at)]
        self._answer = _Answer(
            began=began,
            index=self._next,
            prompt_tokens=began.prompt_tokens,
            cached_tokens=began.cached_tokens,
        )
        return events

    def piece(self, text: str, samples: int, language: Language | None) -> list[CallEvent]:
        """The next piece of the answer begins to play."""
        answer = self._answer
        if answer is None:
            return []
        self._pieces.append(Piece(text, samples))
        answer.language = answer.language or language
        shown = " ".join(piece.text for piece in self._pieces)
        return [PartialText(speaker="assistant", text=shown)]

    def given(
        self, samples: int, *, position: int | None = None, at: datetime, now_s: float
    ) -> list[CallEvent]:
        """The output let out so many samples of the answer; `position` is where they stand in
        what it was given. The first ones measure the latency."""
        answer = self._answer
        if answer is None:
            return []
        answer.given_samples += samples
        if answer.began_at is not None:
            return []
        answer.began_at = at
        answer.first_position = position or 0
        return [*self._turn_to("speaking"), *self._latency(answer, now_s)]

    def answer_done(
        self,
        *,
        at: datetime,
        prompt_tokens: int | None = None,
        cached_tokens: int | None = None,
        prefix_sha256: str | None = None,
    ) -> list[CallEvent]:
        """The answer has left the output whole. Some engines count its tokens only now, and tell
        which prefix a session that followed another was given."""
        answer = self._answer
        if answer is None:
            return []
        if prompt_tokens is not None:
            answer.prompt_tokens, answer.cached_tokens = prompt_tokens, cached_tokens
        if prefix_sha256 is not None:
            self._prefix_sha256 = prefix_sha256
        answer.done = True
        return self.heard_to_its_end(at=at)

    @property
    def ending(self) -> bool:
        """The answer has left the output and is still being heard."""
        return self._answer is not None and self._answer.done

    def heard_to_its_end(self, *, at: datetime) -> list[CallEvent]:
        """Asked for as long as `ending`: the turn, once the last of it was heard."""
        answer = self._answer
        if answer is None or not answer.done or self._heard_of(answer) < answer.given_samples:
            return []
        text = " ".join(piece.text for piece in self._pieces).strip()
        return [*self._assistant_turn(answer, text, at, interrupted=False), *self._rest()]

    def interrupted(self, *, at: datetime) -> list[CallEvent]:
        """The answer was stopped, by a voice or by a key; only what was heard stays."""
        if self._answer is None:
            return []
        return [*self._cut(at), *self._rest()]

    def stopped(self) -> list[CallEvent]:
        """A key stopped what Jarvis was about to say, before there was sound."""
        return self._turn_to("listening") if self._state == "thinking" else []

    def failed(self) -> list[CallEvent]:
        self._drop_answer()
        return self._rest()

    def unanswered(self) -> list[CallEvent]:
        """Nothing is said to what was said last."""
        return self._rest()

    def ended(self, *, at: datetime) -> list[CallEvent]:
        return [*self._cut(at), *self._clear_partial(), *self._turn_to("ended")]

    def searched(self, extracts: tuple[Extract, ...], answer: Turn) -> list[CallEvent]:
        """What the model searched for while it made this answer, which is added already."""
        if not extracts:
            return []
        turn = note_turn(extracts, self._conversation, self._next, answer.ended_at)
        self._next += 1
        return [ExtractsShown(index=answer.index, extracts=extracts, turn=turn)]

    # ------------------------------------------------------------------------------

    def _extracts(self, extracts: tuple[Extract, ...], at: datetime) -> list[CallEvent]:
        if not extracts:
            return []
        turn = note_turn(extracts, self._conversation, self._next, at)
        self._next += 1
        return [ExtractsShown(index=self._next, extracts=extracts, turn=turn)]

    def _turn_to(self, state: State) -> list[CallEvent]:
        if state == self._state or self._state == "ended":
            return []
        self._state = state
        return [StateChanged(state=state)]

    def _rest(self) -> list[CallEvent]:
        return self._turn_to("listening") if self._state != "hearing" else []

    def _clear_partial(self) -> list[CallEvent]:
        shown, self._partial_shown = self._partial_shown, False
        return [NothingSaid()] if shown else []

    def _heard_of(self, answer: _Answer) -> int:
        played = self._played() if self._played is not None else None
        return heard_samples(answer.first_position, answer.given_samples, played)

    def _drop_answer(self) -> None:
        self._answer = None
        self._pieces = []

    def _cut(self, at: datetime) -> list[CallEvent]:
        answer = self._answer
        if answer is None:
            return []
        text = heard_text(self._pieces, self._heard_of(answer))
        return self._assistant_turn(answer, text, at, interrupted=True)

    def _assistant_turn(
        self, answer: _Answer, text: str, at: datetime, *, interrupted: bool
    ) -> list[CallEvent]:
        self._drop_answer()
        if not text:
            # Nothing of it was heard, so it was never said.
            return []
        began_at = answer.began_at or at
        return [
            self._added("assistant", text, answer.language, began_at, at, "spoken", interrupted),
            TokensCounted(
                index=answer.index,
                prompt_tokens=answer.prompt_tokens,
                cached_tokens=answer.cached_tokens,
                prefix_sha256=self._prefix_sha256,
            ),
        ]

    def _user_turn(
        self,
        text: str,
        language: Language | None,
        began_at: datetime,
        ended_at: datetime,
        origin: Origin,
        *,
        cut_at: datetime,
    ) -> list[CallEvent]:
        return [
            *self._cut(cut_at),
            self._added("user", text, language, began_at, ended_at, origin, interrupted=False),
        ]

    def _added(
        self,
        speaker: Speaker,
        text: str,
        language: Language | None,
        began_at: datetime,
        ended_at: datetime,
        origin: Origin,
        interrupted: bool,
    ) -> TurnAdded:
        turn = Turn(
            conversation=self._conversation,
            index=self._next,
            speaker=speaker,
            text=text,
            language=language,
            began_at=began_at,
            ended_at=ended_at,
            origin=origin,
            interrupted=interrupted,
        )
        self._next += 1
        return TurnAdded(turn=turn)

    def _latency(self, answer: _Answer, now_s: float) -> list[CallEvent]:
        said, first_token_s = answer.began.to, answer.began.first_token_s
        if said is None:
            return []
        marks = [said.ended_s, said.decided_s, said.transcribed_s, first_token_s, now_s]
        stages: dict[str, int] = {}
        reached = marks[0] or 0.0
        for name, mark in zip(
            ("pause", "transcript", "first_word", "first_sound"), marks[1:], strict=True
        ):
            until = max(reached, mark) if mark is not None else reached
            stages[name] = round((until - reached) * 1000)
            reached = until
        return [
            LatencyMeasured(
                index=answer.index,
                stages_ms=stages,
                total_ms=sum(stages.values()),
            )
        ]
