"""One microphone's frames in, the events of hearing out: the core of the ears, without pipecat."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memory.records import Language
from voice.errors import WorkerFailed
from voice.hearing.asking import Asked, Questions
from voice.hearing.barge_in import BargeIn
from voice.hearing.detector import FRAME_BYTES, Judge, VoiceDetector
from voice.hearing.endpoint import (
    AskAgain,
    Began,
    Cut,
    Decision,
    Endpointer,
    EndpointSettings,
    Lasting,
    Over,
    Paused,
    Resumed,
    Voice,
)
from voice.hearing.kept_sound import KeptSound
from voice.hearing.open_turn import OpenTurn, Words, is_same
from voice.hearing.phrases import phrases
from voice.hearing.surroundings import Surroundings
from voice.hearing.wording import ending, is_clear, words
from voice.playback import Playback
from voice.records import (
    BargedIn,
    Guess,
    GuessWithdrawn,
    Heard,
    NoTurn,
    Partial,
    SpeechBegan,
    UserSaid,
)

log = logging.getLogger(__name__)

_SILENCE_KEPT_MS = 200
_CALLED_OUT_MS = 900
"""Longer is no word that is called out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HearingSettings:
    """`judge` decides what is a voice; `partial_every_ms` 0 means no partial results."""

    judge: Judge = "silero"
    partial_every_ms: int = 750
    barge_in_answer_ms: int = 600
    """How long the transcriber may take to tell words from "mhm" before a lasting voice counts."""
    ask_after_ms: int = 0
    """Silence before the models are asked about a pause, as it was when it began. At once, an
    answer can begin on a guess; where nobody waits for one (the clock stands still while models
    work), most pauses within a sentence need no model."""
    endpoint: EndpointSettings = field(default_factory=EndpointSettings)


class Listener:
    """Fed with 20 ms frames by `frame`, tells events through `tell`, in the contract's order.

    `spawn` starts a task that its owner waits for; `now` is the clock of the `*_s` fields.
    At most one partial pass is under way at a time, and one final pass with one waiting, but for
    those of earlier pauses of the same turn: nobody waits for these.
    """

    def __init__(
        self,
        worker: Asked,
        settings: HearingSettings,
        languages: Sequence[Language],
        language: Language,
        *,
        tell: Callable[[Heard], None],
        spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
        now: Callable[[], float],
    ) -> None:
        self._questions = Questions(worker, languages)
        self._settings = settings
        self._languages = tuple(languages)
        self._language = language
        self._tell = tell
        self._spawn = spawn
        self._now = now
        self._detector = VoiceDetector(settings.judge)
        self._endpointer = Endpointer(settings.endpoint)
        self._sound = KeptSound()
        self._surroundings = Surroundings()
        self._turns: deque[OpenTurn] = deque()
        self._turn: OpenTurn | None = None
        self._numbers = 0
        self._partial: asyncio.Task[None] | None = None
        self._final: asyncio.Task[None] | None = None
        self._wording: OpenTurn | None = None
        self._wanted: OpenTurn | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._barging = BargeIn(languages)

    def attach(self, playback: Playback, notify: Callable[[str], None]) -> None:
        """What Jarvis' voice comes out of, to tell it apart and to lower it; before the first
        frame. `notify` gets what the user should know."""
        self._barging.attach(playback, notify)

    def spoke(self, text: str) -> None:
        """What Jarvis' present answer says, as far as it is being played."""
        self._barging.spoke(text)

    @property
    def language(self) -> Language:
        """The session's: of the last turn whose language was detected for sure."""
        return self._language

    @property
    def position_ms(self) -> int:
        return self._endpointer.position_ms

    @property
    def kept_bytes(self) -> int:
        """How much sound is held."""
        return len(self._sound) + sum(len(turn.audio) for turn in self._turns)

    def answering(self, speaks: bool) -> None:
        """Jarvis begins or stops to speak."""
        self._barging.answering = speaks

    def hold(self, guess: int) -> None:
        """An answer to this guess is being made: the turn stays open meanwhile."""
        self._endpointer.hold(guess)

    def release(self, guess: int) -> None:
        """That answer is ready to be heard, or there will be none."""
        self._endpointer.release(guess)

    def frame(self, pcm: bytes, came_s: float | None = None) -> None:
        """The next 20 ms: 640 bytes of 16 kHz mono 16-bit; `came_s` is when, if not now."""
        assert len(pcm) == FRAME_BYTES
        self._sound.add(pcm)
        sound = self._detector.frame(pcm, turn_open=self._endpointer.turn_open)
        before = self._endpointer.voice
        waits = self._asking_partial or self._asking_final
        sound, silenced = self._barging.frame(sound, waits=waits)
        if silenced and self._turn is not None:
            self._ask_partial(self._turn)
        decisions = self._endpointer.frame(sound, answering=self._barging.stoppable)
        at_s = self._now() if came_s is None else came_s
        self._sound.came(self._endpointer.position_ms, at_s)
        if not self._answering:
            self._surroundings.frame(self._endpointer.position_ms, sound.level_dbfs)
        for decision in decisions:
            self._follow(decision, before)
        turn = self._turn
        if turn is None:
            self._sound.forget_before(self.position_ms - self._settings.endpoint.preroll_ms - 1000)
            return
        self._ask_when_due(turn)
        turn.voice = self._endpointer.voice
        turn.last_voice_ms = self._endpointer.last_voice_ms
        self._barging.heard(turn, pausing=self._endpointer.pausing)
        self._show_progress(turn)

    async def settle(self) -> None:
        """Wait until no answer is awaited."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def finish(self) -> None:
        """The microphone is off: an open turn ends here, and its words are waited for."""
        before = self._endpointer.voice
        for decision in self._endpointer.flush():
            self._follow(decision, before)
        await self.settle()

    def waiting(self) -> set[asyncio.Task[None]]:
        """The tasks that wait for answers."""
        return set(self._tasks)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._spawn(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # Decisions --------------------------------------------------------------------------

    def _follow(self, decision: Decision, before: Voice) -> None:
        turn = self._turn
        match decision:
            case Began():
                self._open(decision.began_ms, decision.audio_from_ms)
            case Paused() if turn is not None:
                turn.last_voice_ms = decision.ended_ms
                turn.voice = before
                turn.pause = decision.number
                due_ms = decision.ended_ms + self._settings.ask_after_ms
                late = due_ms > self.position_ms and not self._answering
                turn.questions_due_ms = due_ms if late else self.position_ms
                turn.asked_to_ms = self.position_ms if late else None
            case AskAgain() if turn is not None:
                self._ask_turn_end(turn, decision.number, self.position_ms)
            case Resumed() if turn is not None:
                turn.pause = turn.questions_due_ms = turn.asked_to_ms = None
                if not turn.went_on:
                    self._barging.more_came()
                turn.went_on = True
                self._withdraw(turn)
            case Lasting() if turn is not None:
                turn.lasting = True
                turn.lasting_since_ms = self.position_ms
                self._ask_partial(turn)
            case Over() if turn is not None:
                turn.voice = before
                self._close(turn, decision, self.position_ms)
            case Cut() if turn is not None:
                turn.voice = before
                self._withdraw(turn)
                over = Over(ended_ms=decision.at_ms, number=None, worth_words=True, why="flushed")
                self._close(turn, over, decision.at_ms)
                self._open(decision.at_ms, decision.at_ms)

    def _open(self, began_ms: int, audio_from_ms: int) -> None:
        self._numbers += 1
        turn = OpenTurn(
            number=self._numbers,
            began_ms=began_ms,
            audio_from_ms=audio_from_ms,
            last_words_ms=began_ms,
        )
        self._turn = turn
        self._turns.append(turn)
        self._sound.forget_before(audio_from_ms)
        self._say(turn, SpeechBegan(began_ms=began_ms))

    def _withdraw(self, turn: OpenTurn) -> None:
        if turn.told_guess is not None:
            self._say(turn, GuessWithdrawn(number=turn.told_guess))
            turn.told_guess = turn.told_words = None
        if self._wanted is turn:
            self._wanted = None

    def _close(self, turn: OpenTurn, over: Over, heard_to_ms: int) -> None:
        self._turn = None
        turn.over = over
        turn.last_voice_ms = over.ended_ms
        turn.decided_s = self._now()
        turn.ended_s = self._came_s(over.ended_ms)
        if not over.worth_words:
            self._nothing(turn, "too short for a word")
            return
        known = turn.guessed.get(over.number) if over.number is not None else None
        if known is not None:
            self._conclude(turn, known)
            return
        to_ms = min(heard_to_ms, over.ended_ms + _SILENCE_KEPT_MS)
        turn.audio = self._sound.between(turn.audio_from_ms, to_ms)
        if over.number is None or not self._asking_final:
            self._ask_words(turn)

    def _came_s(self, position_ms: int) -> float:
        came_s = self._sound.came_s(position_ms)
        return self._now() if came_s is None else came_s

    def _conclude(self, turn: OpenTurn, found: Words) -> None:
        over = turn.over
        assert over is not None
        if found.nothing is not None:
            self._nothing(turn, found.nothing)
            return
        whose = self._barging.whose(turn, found, self.position_ms)
        if whose == "own":
            self._nothing(turn, "Jarvis' own voice")
            self._barging.got_through()
            return
        if turn.answered_into and not turn.barged:
            if self._barging.only_listens(found):
                self._nothing(turn, "only a sign of listening")
                return
            self._barge_in(turn)
        if found.sure:
            self._language = found.language
        self._surroundings.said(turn.began_ms, over.ended_ms, turn.voice.level_dbfs)
        guess = turn.told_guess if turn.told_guess == over.number else None
        if guess is None:
            self._withdraw(turn)
        self._end(
            turn,
            UserSaid(
                text=found.text,
                language=found.language,
                began_ms=turn.began_ms,
                ended_ms=over.ended_ms,
                guess=guess,
                ended_s=turn.ended_s,
                decided_s=turn.decided_s,
                transcribed_s=self._now(),
                origin="spoken" if whose == "user" else "echo",
            ),
        )

    def _nothing(self, turn: OpenTurn, reason: str) -> None:
        assert turn.over is not None
        self._withdraw(turn)
        if turn.answered_into:
            self._barging.nothing_meant()
        self._end(
            turn,
            NoTurn(reason=reason, began_ms=turn.began_ms, ended_ms=turn.over.ended_ms),
        )

    def _end(self, turn: OpenTurn, event: UserSaid | NoTurn) -> None:
        log.debug("turn %d: %s", turn.number, type(event).__name__)
        self._say(turn, event)
        turn.closed = True
        turn.audio = b""
        self._tell_in_order()

    def _say(self, turn: OpenTurn, event: Heard) -> None:
        turn.events.append(event)
        self._tell_in_order()

    def _tell_in_order(self) -> None:
        """A turn's events come after the end of the one before, also when that is late."""
        while self._turns:
            first = self._turns[0]
            events, first.events = first.events, []
            for event in events:
                self._tell(event)
            if not first.closed:
                return
            self._turns.popleft()

    # While a voice lasts ------------------------------------------------------------------

    def _barge_in(self, turn: OpenTurn) -> None:
        if not turn.barged:
            turn.barged = True
            self._barging.stopped()
            self._say(turn, BargedIn(began_ms=turn.began_ms))

    def _weigh(self, turn: OpenTurn, found: Words, *, whole: bool) -> None:
        if self._barging.ends_answer(turn, found, self.position_ms, whole=whole):
            self._barge_in(turn)

    def _show_progress(self, turn: OpenTurn) -> None:
        settings = self._settings
        waits_ms = self.position_ms - max(turn.lasting_since_ms, turn.last_words_ms)
        undecided = turn.lasting and not turn.barged and self._answering
        if undecided and waits_ms >= settings.barge_in_answer_ms and self._asking_partial:
            self._barge_in(turn)  # the transcriber is too slow: a lasting voice has to do
            return
        every_ms = 240 if undecided else settings.partial_every_ms
        if not every_ms or self._endpointer.pausing or turn.voice.voiced_ms < 200:
            return
        if self.position_ms - turn.last_words_ms >= every_ms:
            self._ask_partial(turn)

    # Questions to the worker ------------------------------------------------------------

    @property
    def _answering(self) -> bool:
        return self._barging.answering

    @property
    def _asking_partial(self) -> bool:
        return self._partial is not None and not self._partial.done()

    @property
    def _asking_final(self) -> bool:
        return self._final is not None and not self._final.done()

    def _ask_partial(self, turn: OpenTurn) -> None:
        if self._asking_partial or self._asking_final:
            return
        turn.last_words_ms = self.position_ms
        self._compare_loudness(turn)
        audio = self._sound.between(turn.audio_from_ms, self.position_ms)
        self._partial = self._start(self._understand_part(turn, audio))

    def _compare_loudness(self, turn: OpenTurn) -> None:
        around, usual = self._surroundings.before(turn.began_ms), self._surroundings.usual_dbfs
        if around is not None:
            turn.above_room_db = turn.voice.level_dbfs - around
        if usual is not None:
            turn.below_usual_db = usual - turn.voice.level_dbfs

    async def _understand_part(self, turn: OpenTurn, audio: bytes) -> None:
        try:
            found = await self._questions.words("partial", turn, self._language, audio)
        except WorkerFailed as fault:
            log.warning("a partial result is missing: %s", fault)
            return
        if found is not None and turn is self._turn and not self._endpointer.pausing:
            self._learn(turn, found)

    def _learn(self, turn: OpenTurn, found: Words) -> None:
        """Words of a turn that goes on."""
        self._weigh(turn, found, whole=False)
        said = " ".join(words(found.text)) if found.nothing is None else ""
        self._endpointer.words_came(changed=said != turn.shown)
        # In a pause its own words come next, and an engine that reads these would keep them waiting.
        if said and said != turn.shown and not self._endpointer.pausing:
            self._say(
                turn, Partial(text=found.text, language=found.language, began_ms=turn.began_ms)
            )
        turn.shown = said

    def _ask_when_due(self, turn: OpenTurn) -> None:
        if turn.questions_due_ms is not None and self.position_ms >= turn.questions_due_ms:
            assert turn.pause is not None
            turn.questions_due_ms = None
            to_ms = self.position_ms if turn.asked_to_ms is None else turn.asked_to_ms
            self._ask_turn_end(turn, turn.pause, to_ms)
            self._ask_words(turn)

    def _ask_words(self, turn: OpenTurn) -> None:
        if self._asking_final and self._wording is not turn:
            if self._wanted is None or self._wanted.over is None:
                self._wanted = turn
            return
        # The pass that is under way may be over a pause of this turn that was none.
        self._wording = turn
        self._final = self._start(self._understand_all(turn))

    async def _understand_all(self, turn: OpenTurn) -> None:
        """Final passes, one after the other, while one is wanted."""
        mine = asyncio.current_task()
        await self._understand(turn)
        while self._final is mine:
            waiting = next((late for late in self._turns if late.over and not late.closed), None)
            wanted, self._wanted = waiting or self._wanted, None
            if wanted is None or wanted.closed:
                return
            self._wording = wanted
            await self._understand(wanted)

    async def _understand(self, turn: OpenTurn) -> None:
        number = turn.over.number if turn.over is not None else turn.pause
        if turn.over is None and number is None:
            return  # speech went on before its words were asked for
        to_ms = self.position_ms if turn.asked_to_ms is None else turn.asked_to_ms
        audio = turn.audio or self._sound.between(turn.audio_from_ms, to_ms)
        turn.last_words_ms = self.position_ms
        self._compare_loudness(turn)
        try:
            known = turn.guessed.get(number) if number is not None else None
            found = known or await self._called_out(
                turn, await self._looked(turn, number, audio), audio
            )
        except WorkerFailed as fault:
            if turn.over is not None and _is_at(turn, number):
                log.error("a turn is lost: %s", fault)  # noqa: TRY400  the fault carries the story
                self._nothing(turn, f"could not be transcribed: {fault}")
            return
        if found is None:
            return  # the words of a later pause of this turn are under way
        if not _is_at(turn, number):
            if turn.over is None:
                self._learn(turn, found)  # speech went on meanwhile: as good as a partial result
            return
        if turn.over is not None:
            self._conclude(turn, found)
            return
        assert number is not None
        turn.guessed[number] = found
        self._endpointer.words_came(changed=True)
        self._believe(turn, number, found)

    async def _looked(self, turn: OpenTurn, number: int | None, audio: bytes) -> Words | None:
        """The words of a sound, as `Questions.words`. A guess is told after the first look: an answer to it takes longer
        to be made than the second one, which takes it back only where it finds other words."""
        language = self._language
        first = await self._questions.words_for_sure("words", turn, language, audio)
        if first is None or not first.again or not _is_at(turn, number):
            return first
        if self._answering and first.text and self._barging.is_sign(first):
            return first  # "mhm" into an answer: it waits to go on
        if turn.over is None and first.nothing is None and turn.told_guess is None:
            assert number is not None
            self._guess(turn, number, first)
        try:
            second = await self._questions.words_for_sure("again", turn, language, audio)
        except WorkerFailed as fault:
            log.warning("no second look at a turn's words: %s", fault)
            return first
        told = turn.told_words
        if second is None or told is None or turn.told_guess != number:
            return second
        if second.nothing is None and is_same(second, told):
            return replace(second, text=told.text)
        self._withdraw(turn)
        return second

    async def _called_out(self, turn: OpenTurn, found: Words | None, audio: bytes) -> Words | None:
        """Instead of words that mean nothing in an answer the word of stopping that was called into
        it, if it was one."""
        into_answer = self._answering and not turn.barged
        if found is None or not into_answer or turn.voice.voiced_ms > _CALLED_OUT_MS:
            return found
        if found.nothing is None and is_clear(found.text, found.logprob):
            return found
        try:
            return await self._questions.called_out(turn, self._language, audio) or found
        except WorkerFailed as fault:
            log.warning("a short word is not looked at again: %s", fault)
            return found

    def _believe(self, turn: OpenTurn, number: int, found: Words) -> None:
        """A pause's words, for good: whether it ends the turn depends on them."""
        self._endpointer.worded(
            number,
            "finished"
            if found.nothing is not None
            else ending(found.text, phrases(found.language)),
        )
        if found.nothing is None and turn.told_guess is None:
            self._weigh(turn, found, whole=True)
            self._guess(turn, number, found)

    def _guess(self, turn: OpenTurn, number: int, found: Words) -> None:
        if self._answering and not turn.barged:
            return  # a sign of listening: nothing to answer
        if self._barging.whose(turn, found, self.position_ms) == "own":
            return
        turn.told_guess, turn.told_words = number, found
        ended_ms = self._endpointer.last_voice_ms
        self._say(
            turn,
            Guess(
                number=number,
                text=found.text,
                language=found.language,
                began_ms=turn.began_ms,
                ended_ms=ended_ms,
                ended_s=self._came_s(ended_ms),
            ),
        )

    def _ask_turn_end(self, turn: OpenTurn, number: int, to_ms: int) -> None:
        audio = self._sound.between(max(turn.audio_from_ms, to_ms - 8000), to_ms)
        self._start(self._judge_turn_end(turn.number, number, self.position_ms, audio))

    async def _judge_turn_end(self, of: int, number: int, at_ms: int, audio: bytes) -> None:
        try:
            over = await self._questions.over(of, at_ms, audio)
        except WorkerFailed as fault:
            log.warning("no word on whether a turn is over: %s", fault)
            return
        log.debug("pause %d ends the turn with probability %.2f", number, over)
        self._endpointer.judged(number, over)


def _is_at(turn: OpenTurn, number: int | None) -> bool:
    """Whether this turn's n-th pause, or its end without one, still waits for its words."""
    if turn.over is not None:
        return turn.over.number == number and not turn.closed
    return number is not None and turn.pause == number
