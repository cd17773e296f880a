"""What a realtime session decides whatever its protocol: turns, answers, cuts, what is told anew.

Nothing here waits, sends or knows the time: things happen (`speech_began`, `asked`,
`interrupted`, `lost`, …) and `take` gives what is to be done about them, in order. A
protocol is a subclass that says each of them in its own events.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from datetime import datetime

from memory.records import Language, Prefix, Turn
from voice.engines.realtime_dialect import Dialect
from voice.engines.realtime_records import (
    TIMERS,
    Answer,
    Arm,
    Began,
    Effect,
    Ended,
    Event,
    Failed,
    Lose,
    Note,
    Question,
    RunTool,
    Send,
    Silence,
    Sound,
    Spoke,
    Timer,
    Usage,
    Want,
)
from voice.engines.realtime_seed import Said, ToolUse, seed, time_is_due
from voice.engines.realtime_sound import (
    LETTERS_PER_S,
    Alignment,
    Item,
    Microphone,
    UserTurn,
    played_of,
)
from voice.engines.told import time_told, told

ASKS = 3
ASK_PAUSE_S = 1.0
MOST_TOOL_ROUNDS = 6
"""So often may one answer ask for tools; a model that never stops would be billed for ever."""

_MOST_CONTINUED = 2


class RealtimeCore(Dialect):
    """`rate_hz` is what the service wants from the microphone, `answer_s` how long it may be
    silent when it owes an answer. `handle` names the session to the service, so that another can
    carry it on; None where there is no such thing."""

    rate_hz: int
    handle: str | None = None
    answer_s: float = 20.0

    def __init__(self, *, prefix: Prefix, language: Language, earlier: Sequence[Turn] = ()) -> None:
        self.prefix = prefix
        self.connected = False
        self.session = 0
        self._language = language
        self._effects: list[Effect] = []
        self._ids = 0
        self._microphone = Microphone()
        self._turn: UserTurn | None = None
        self._turns: list[Turn] = list(earlier)
        self._uses: list[ToolUse] = []
        self._told_at: datetime | None = None
        self._news: list[str] = []
        self._news_told = 0
        self._questions: list[Question] = []
        self._answer: Answer | None = None
        self._broken: Answer | None = None
        self._unkept: deque[Answer] = deque()
        self._owed = False
        self._asks = 0
        self._awaited: set[str] = set()
        self._letters_per_s = LETTERS_PER_S

    # For whoever carries it out -----------------------------------------------------------

    def take(self) -> list[Effect]:
        effects, self._effects = self._effects, []
        return effects

    @property
    def is_quiet(self) -> bool:
        """Nobody speaks, nothing is owed, and nothing is being played."""
        playing = any(answer.alive for answer in self._unkept)
        return self.is_between_answers and self._turn is None and not playing

    @property
    def is_between_answers(self) -> bool:
        """No answer is on its way: another session can take over without losing a word."""
        return self._answer is None and self._broken is None and not self._questions

    @property
    def is_waiting(self) -> bool:
        """Somebody speaks or waits: a dead line must be found at once."""
        return self._turn is not None or self._answer is not None

    @property
    def is_owed(self) -> bool:
        """An answer was asked for and is not over."""
        return self._answer is not None

    @property
    def unanswered(self) -> tuple[Question, ...]:
        return tuple(self._questions)

    # Sessions -----------------------------------------------------------------------------

    def adopt(self, at: datetime, prefix: Prefix | None = None) -> None:
        """A new session: it learns what was said, and gets what is being said. With `prefix`, the
        notebooks as they are now stand in its instructions."""
        self.session += 1
        self.connected = True
        self._told_at = None
        self._news_told = 0
        if prefix is not None:
            self.prefix = prefix
            self._news.clear()
        if self._broken is not None and self._questions:
            self._end(self._broken, Usage())  # more was said: that comes first
        waiting = [question.text for question in self._questions]
        self._tell_what_changed(at)
        self._introduce(self._history(waiting))
        for question in self._questions:
            if question.told is not None:
                self._tell("system", question.told.note)
        self._resend()
        if not self._awaited:
            self._resume()

    def _history(self, waiting: Sequence[str]) -> list[Said | ToolUse]:
        """What a new session does not know yet."""
        return seed(self._turns, waiting, self._uses)

    def forget_resumption(self) -> bool:
        """The service refused to resume its session; False where nothing was resumed."""
        return False

    def lost(self) -> None:
        """The session is gone."""
        self.connected = False
        self._disarm()
        answer, self._answer = self._answer, None
        self._owed = False
        if answer is None or not answer.alive:
            return
        self._awaited = {use.call_id for use in answer.calls if use.output is None}
        if not answer.begun:
            return
        if answer.continued < _MOST_CONTINUED:
            self._broken = answer
        else:
            self._end(answer, Usage())

    def renewed(self) -> None:
        """Another session takes over from one that still lives, between two answers."""
        self.connected = False
        self._disarm()

    def interrupted_for_good(self) -> None:
        """Somebody else answers from now on."""
        if self._broken is not None:
            self._end(self._broken, Usage())
        self._questions.clear()
        self._turn = None

    def gave_up(self, text: str) -> None:
        """There is no session, and none is tried for: what waits gets no answer here."""
        broken, self._broken = self._broken, None
        if broken is not None:
            self._end(broken, Usage())
        if self._questions:
            self._fail(text)

    def count_ask(self) -> bool:
        """Another try at what waits; False when that was tried enough."""
        self._asks += 1
        return self._asks < ASKS

    def fail(self, text: str) -> None:
        self._fail(text)

    # What the user does -------------------------------------------------------------------

    def audio(self, sound: bytes) -> None:
        """16 kHz, 16 bit, mono, without a hole."""
        self._microphone.append(sound)
        if self._turn is not None and self.connected:
            self._turn_sound(self._turn, sound)

    def speech_began(self, began_ms: int) -> None:
        self._drop_turn()
        self._turn = UserTurn(began_ms, self.rate_hz)
        self._microphone.hold(began_ms)
        if self.connected:
            self._turn_sound(self._turn, self._microphone.since(began_ms))

    def worth(self) -> None:
        """The open turn has words: it will hardly turn out to be noise."""
        return

    def no_turn(self) -> None:
        self._drop_turn()

    def hushed(self, text: str) -> None:
        """The turn asks for silence: the service learns its words, and nothing is asked."""
        self._drop_turn()
        if self.connected:
            self._tell("user", text)

    def asked(self, question: Question, at: datetime, news: str | None = None) -> None:
        self._arm("retry", None)
        self._asks = 0
        self._awaited.clear()
        if self._broken is not None and self.connected:
            self._end(self._broken, Usage())
        if news:
            self._news.append(news)
        self._questions.append(question)
        turn = self._turn if question.to is not None else None
        if turn is not None:
            self._turn = None
            self._microphone.release()
        if not self.connected:
            self._do(Want())  # the next session is told these words, and asked
            return
        self._tell_what_changed(at)
        if question.told is not None:
            self._tell("system", question.told.note)
        self._hand_in(question, turn)
        self._ask()

    def news(self, news: str) -> None:
        """What changed in the notebooks while there was no session."""
        self._news.append(news)

    def interrupted(self, played_samples: int | None) -> bool:
        """The answer stops here. With `played_samples` the service learns at once what was heard
        of it; else from the turn that is kept. True when an answer was stopped."""
        self._arm("retry", None)
        self._owed = False
        self._awaited.clear()
        self._questions.clear()
        self._do(Silence())
        unkept = [kept for kept in self._unkept if kept.alive]
        answer, self._broken = self._answer, None
        if answer is not None and answer.alive:
            answer.alive = False
            self._cancel(answer)
        for kept in unkept:
            kept.alive = False
        if played_samples is not None:
            for kept in unkept:
                self._settle(kept, played_samples)
                played_samples = 0
        return bool(unkept)

    def heard(self, turn: Turn) -> None:
        """A turn as the transcript keeps it."""
        self._turns.append(turn)
        answer = self._kept_as(turn) if turn.speaker == "assistant" else None
        if answer is None:
            return
        if self.connected and answer.session != self.session:
            self._tell("assistant", turn.text)  # this session was seeded before it was kept
        elif turn.interrupted:
            if answer.alive and answer is self._answer:
                self._cancel(answer)
            answer.alive = False
            self._settle(answer, played_of(answer.alignment.pieces, turn.text))

    def fired(self, timer: Timer) -> None:
        if timer == "answer":
            self._do(Lose())
        elif self.connected and self._questions and self._answer is None:
            self._ask()

    def tool_done(self, call_id: str, output: str) -> None:
        """A tool's result, for whichever session there is now."""
        use = next((use for use in self._uses if use.call_id == call_id), None)
        if use is None or use.output is not None:
            return
        use.output = output
        answer = self._answer
        if answer is not None and use in answer.calls:
            self._tell_result(use)
            self._after_tools(answer)
        elif self.connected and use.session == self.session:
            self._tell_result(use)
        elif self.connected:
            self._tell_use(use)
        if call_id in self._awaited:
            self._awaited.discard(call_id)
            if self.connected and not self._awaited:
                self._resume()

    # Shared steps -------------------------------------------------------------------------

    def _do(self, *effects: Effect) -> None:
        self._effects += effects

    def _send(self, event: Event) -> None:
        """Without a session nothing is sent: the next one is told everything anew."""
        if self.connected:
            self._do(Send(event))

    def _id(self, kind: str) -> str:
        self._ids += 1
        return f"{kind}_{self.session}_{self._ids}"

    def _arm(self, timer: Timer, after_s: float | None) -> None:
        self._do(Arm(timer, after_s))

    def _disarm(self) -> None:
        for timer in TIMERS:
            self._arm(timer, None)

    def _drop_turn(self) -> None:
        turn, self._turn = self._turn, None
        self._microphone.release()
        if turn is not None:
            self._turn_dropped(turn)

    def _resend(self) -> None:
        """A turn that is being spoken goes to the new session from its first sample on."""
        if self._turn is None:
            return
        began_ms = self._turn.began_ms
        if began_ms < self._microphone.first_ms:
            left_out = self._microphone.first_ms - began_ms
            self._do(Note(f"the first {left_out} ms of a long turn can't be sent again"))
        self._turn = UserTurn(began_ms, self.rate_hz)
        self._turn_sound(self._turn, self._microphone.since(began_ms))

    def _tell_what_changed(self, at: datetime) -> None:
        if self._told_at is None or time_is_due(self._told_at, at):
            self._told_at = at
            self._tell("system", time_told("realtime", at))
        for news in self._news[self._news_told :]:
            self._tell("system", news)
        self._news_told = len(self._news)

    # Asking and answering -----------------------------------------------------------------

    def _ask(self) -> None:
        """Ask for one response to what waits; never while another runs."""
        active = self._answer
        if active is not None:
            if active.alive and not active.begun:
                active.alive = False  # more was said before a sound came: one answer to both
                self._cancel(active)
            if self._answer is not None:
                self._owed = True
                return
        self._answer = Answer(
            questions=tuple(self._questions),
            ask_id=self._id("ask"),
            session=self.session,
            alignment=Alignment(self._letters_per_s),
        )
        self._request(self._answer)
        self._arm("answer", self.answer_s)

    def _resume(self) -> None:
        """What the last session still owed."""
        broken, self._broken = self._broken, None
        if broken is not None:
            self._continue(broken)
        elif self._questions and self._answer is None:
            self._ask()

    def _continue(self, answer: Answer) -> None:
        """The rest of an answer that broke off, from the new session."""
        spoken = " ".join(piece.text for piece in answer.alignment.pieces)
        answer.continued += 1
        answer.generated = False
        answer.session = self.session
        answer.response = None
        answer.calls.clear()
        answer.notes_item = None
        answer.alignment.forget_unspoken()
        answer.items = [
            Item(self._tell("assistant", spoken), 0, answer.alignment.samples, words=spoken)
        ]
        self._tell("system", told("realtime", "go_on"))
        answer.ask_id = self._id("ask")
        self._answer = answer
        self._request(answer)
        self._arm("answer", self.answer_s)

    def _answer_of(self, response: str | None) -> Answer | None:
        """The answer that this belongs to, when its sound may still come out."""
        answer = self._answer
        if answer is None or answer.response != response:
            return None
        self._arm("answer", self.answer_s)
        return answer if answer.alive else None

    def _words(self, answer: Answer, text: str, now_s: float) -> None:
        answer.first_token_s = answer.first_token_s or now_s
        answer.alignment.add_text(text)

    def _sound(self, answer: Answer, item: Item, sound: bytes, now_s: float) -> None:
        if not answer.begun:
            answer.begun = True
            answer.first_token_s = answer.first_token_s or now_s
            self._unkept.append(answer)
            del self._questions[: len(answer.questions)]
            notes = answer.notes
            self._do(Began(answer.to, answer.first_token_s, notes.extracts if notes else ()))
        item.samples += len(sound) // 2
        for part in answer.alignment.add_sound(len(sound) // 2):
            if part.piece is not None:
                self._speak(answer, part.piece.text, part.piece.samples)
            self._do(Sound(sound[: 2 * part.samples]))
            sound = sound[2 * part.samples :]

    def _speak(self, answer: Answer, text: str, samples: int) -> None:
        language = answer.to.language if answer.to else self._language
        self._do(Spoke(text, samples, language))

    def _end(self, answer: Answer, usage: Usage) -> None:
        """All of an answer's sound is there, or all that will come."""
        if self._broken is answer:
            self._broken = None
        if not answer.alive or answer.complete:
            return
        answer.complete = True
        rest = answer.alignment.rest()
        if rest is not None:
            self._speak(answer, rest.text, rest.samples)
        self._do(Ended(usage))
        self._letters_per_s = answer.alignment.pace

    def _ask_what_is_owed(self) -> None:
        if self._owed and self._answer is None:
            self._owed = False
            if self._questions:
                self._ask()

    def _ask_later(self, reason: str) -> None:
        """The same question once more after a pause, or a failure when that was tried enough."""
        if not self._questions:
            return
        if not self.count_ask():
            self._fail(reason)
            return
        self._arm("retry", ASK_PAUSE_S * 2 ** (self._asks - 1))

    def _fail(self, text: str) -> None:
        self._questions.clear()
        self._asks = 0
        self._do(Failed(text))

    # Tools --------------------------------------------------------------------------------

    def _tool_called(self, answer: Answer, call_id: str, name: str, arguments: str) -> None:
        use = ToolUse(
            call_id=call_id,
            name=name,
            arguments=arguments,
            after=len(self._turns),
            session=self.session,
        )
        self._uses.append(use)
        answer.calls.append(use)
        self._do(RunTool(call_id, name, arguments))

    # History ------------------------------------------------------------------------------

    def _kept_as(self, turn: Turn) -> Answer | None:
        """The answer that became this turn. Older ones became none, so they go as well."""
        text = " ".join(turn.text.split())
        for number, answer in enumerate(self._unkept):
            if answer.alignment.text.startswith(text):
                for _ in range(number + 1):
                    self._unkept.popleft()
                return answer
        return None

    def _settle(self, answer: Answer, played_samples: int) -> None:
        """Cut an answer at the service to what was heard, once."""
        if answer.settled or not self.connected or answer.session != self.session:
            return
        answer.settled = True
        self._cut(answer, played_samples)
        if answer in self._unkept:
            self._unkept.remove(answer)
