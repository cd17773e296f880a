"""The local engine: a language model behind our own ears and voice, in one processor.

It begins to answer on a guess at the first silence and holds the sound back until the
turn is over. What was made for a turn that went on is thrown away.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, cast

from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    Frame,
    InterruptionFrame,
    StartFrame,
    TTSAudioRawFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from memory.records import Language, Turn
from voice.engines.answer_language import language_of, warm
from voice.engines.dialogue import Ahead, Dialogue, log_usage
from voice.engines.language_model import LanguageModel, Usage
from voice.engines.protocol import Opening, no_notes
from voice.errors import EngineUnavailable, VoiceFault
from voice.frames import (
    AnswerBeganFrame,
    AnswerDoneFrame,
    AnswerFailedFrame,
    AnswerUnderWayFrame,
    HeardFrame,
    SpokenFrame,
    TypedFrame,
)
from voice.records import (
    BargedIn,
    EngineDescription,
    Guess,
    GuessWithdrawn,
    NotesFound,
    Notice,
    NoTurn,
    Partial,
    SpeechBegan,
    Told,
    UserSaid,
)
from voice.speech.clauses import Clauses
from voice.speech.client import Voice
from voice.speech.words import words_of

log = logging.getLogger(__name__)

RATE_HZ = 24_000
VOICE_TOKENS = 320
"""An answer by voice: well over a minute. Answers end with a sentence before that."""

_BYTES_PER_SAMPLE = 2
_OUTPUT_CHUNK_BYTES = RATE_HZ * _BYTES_PER_SAMPLE * 40 // 1000
_ATTEMPTS = 2


class LocalEngine:
    """An Engine for one call. The model and the voice belong to whoever made them: they are
    not closed with it, so that the next call finds them loaded."""

    def __init__(
        self,
        model: LanguageModel,
        voice: Voice,
        *,
        languages: Sequence[Language],
        description: EngineDescription,
    ) -> None:
        self._model = model
        self._voice = voice
        self._languages = tuple(languages)
        self._description = description
        self._dialogue: Dialogue | None = None

    @property
    def description(self) -> EngineDescription:
        names = dict.fromkeys(self._voice.voice_name(language) for language in self._languages)
        return replace(self._description, speaks=", ".join(names))

    async def open(self, opening: Opening) -> list[FrameProcessor]:
        dialogue = Dialogue(
            self._model,
            prefix=opening.prefix,
            now=opening.now,
            news=opening.news,
            earlier=opening.earlier,
            languages=self._languages,
            language=opening.language,
        )
        try:
            async with asyncio.TaskGroup() as group:
                warming = group.create_task(self._voice.warm(self._languages))
                group.create_task(dialogue.open())
                group.create_task(asyncio.to_thread(warm, self._languages))
        except* VoiceFault as faults:
            raise EngineUnavailable(" ".join(str(fault) for fault in faults.exceptions)) from faults
        for warning in warming.result():
            opening.notify(Notice(kind="handled", text=warning))
        self._dialogue = dialogue
        return [
            Answerer(
                dialogue,
                self._voice,
                languages=self._languages,
                language=opening.language,
                notify=opening.notify,
                prefix_sha256=opening.prefix.sha256,
                notes=opening.notes,
            )
        ]

    def heard(self, turn: Turn) -> None:
        if self._dialogue is not None:
            self._dialogue.history.heard(turn)

    async def close(self) -> None:
        self._dialogue = None


@dataclass(frozen=True, slots=True)
class _Piece:
    """`text` as it is shown, `written` as the model wrote it, with the space around it."""

    text: str
    written: str
    language: Language
    audio: bytes


@dataclass(slots=True)
class _Answer:
    """An answer that is being made, held until `released`."""

    said: str
    language: Language
    guess: int | None
    told: Told | None = None
    notes: NotesFound | None = None
    to: UserSaid | None = None
    released: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: bool = False
    made: bool = False
    sent: bool = False
    pieces: asyncio.Queue[_Piece | None] = field(default_factory=asyncio.Queue)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    number: int | None = None
    first_token_s: float | None = None
    ready_s: float | None = None
    usage: Usage = field(default_factory=Usage)
    playing_since_s: float | None = None
    audio_s: float = 0.0
    fault: str = ""

    def audio_left_s(self, now_s: float) -> float:
        """How much of the sound made so far is still to be played."""
        since_s = now_s if self.playing_since_s is None else self.playing_since_s
        return max(0.0, since_s + self.audio_s - now_s)


class Answerer(FrameProcessor):
    """Between the ears and the output. At most one answer is held, and one is let out."""

    takes_sound = False

    def __init__(
        self,
        dialogue: Dialogue,
        voice: Voice,
        *,
        languages: Sequence[Language],
        language: Language,
        notify: Callable[[Notice], None],
        prefix_sha256: str,
        notes: Callable[[str], Awaitable[NotesFound | None]] = no_notes,
    ) -> None:
        super().__init__()
        self._dialogue = dialogue
        self._voice = voice
        self._languages = tuple(languages)
        self._language = language
        self._notify = notify
        self._prefix_sha256 = prefix_sha256
        self._notes = notes
        self._held: _Answer | None = None
        self._out: _Answer | None = None
        self._refreshed: asyncio.Task[None] | None = None
        self._prefilling: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        match frame:
            case InterruptionFrame():
                self._interrupt()
                # A frame of the old answer that the next processor has not looked at yet
                # would be overtaken by the interruption, and be played after it.
                await asyncio.sleep(0)
                await self.push_frame(frame, direction)
            case HeardFrame():
                await self.push_frame(frame, direction)
                await self._hear(frame)
            case TypedFrame():
                await self.push_frame(frame, direction)
                language = language_of(frame.text, self._language, self._languages)
                self._refresh()
                await self._answer(frame.text, language, None, frame.told)
            case StartFrame():
                await self.push_frame(frame, direction)
                self._prefilling = self._spawn(self._prefill_beginning())
            case EndFrame() | CancelFrame():
                self._stop_all()
                await self.push_frame(frame, direction)
            case _:
                await self.push_frame(frame, direction)

    async def cleanup(self) -> None:
        self._stop_all()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await super().cleanup()  # type: ignore[no-untyped-call]

    # What was heard ------------------------------------------------------------------

    async def _hear(self, frame: HeardFrame) -> None:
        match event := frame.event:
            case SpeechBegan():
                self._refresh()
                self._prefill("")
            case Partial():
                self._prefill(event.text.rpartition(" ")[0], event.text)
            case Guess():
                self._stop(self._held)
                await self._tell_ears(event.number, ready=False)
                self._held = self._begin(event.text, event.language, event.number)
            case GuessWithdrawn():
                if self._held is not None and self._held.guess == event.number:
                    self._stop(self._held)
            case UserSaid() if not frame.answered:
                self._stop(self._held)
                await self._silence()
                self._dialogue.history.unanswered(event.text)
            case UserSaid():
                await self._answer(event.text, event.language, event, frame.told)
            case NoTurn():
                self._stop(self._held)
            case BargedIn():
                pass  # the interruption follows, and stops what there is

    async def _answer(
        self, said: str, language: Language, to: UserSaid | None, told: Told | None
    ) -> None:
        """Let out the held answer when it is one to these very words, else begin anew."""
        await self._silence()
        held, self._held = self._held, None
        if held is None or held.said != said or held.fault or to is None or told is not None:
            self._stop(held)
            if told is not None:
                self._dialogue.tell(told)
            held = self._begin(said, language, None, told)
        held.to = to
        self._language = language
        self._refreshed = None
        self._out = held
        held.released.set()

    # Beginning and stopping ----------------------------------------------------------

    def _begin(
        self, said: str, language: Language, guess: int | None, told: Told | None = None
    ) -> _Answer:
        answer = _Answer(said=said, language=language, guess=guess, told=told)
        self._dialogue.language = language
        if self._refreshed is None:
            self._refresh()
        if self._prefilling is not None:
            self._prefilling.cancel()
        answer.tasks = [self._spawn(self._make(answer)), self._spawn(self._send(answer))]
        return answer

    def _stop(self, answer: _Answer | None) -> None:
        if answer is None:
            return
        answer.stopped = True
        for task in answer.tasks:
            task.cancel()
        if self._held is answer:
            self._held = None
        if self._out is answer:
            self._out = None

    def _interrupt(self) -> None:
        if self._out is not None:
            self._number_of(self._out)  # the words were said, also when no answer began
        self._stop(self._out)
        self._dialogue.history.interrupted()

    async def _silence(self) -> None:
        """A new turn ends an older answer, also when nobody barged in."""
        older, now_s = self._out, self._now_s()
        if older is None:
            return
        sounding = not older.sent or older.audio_left_s(now_s) > 0
        self._interrupt()
        if sounding and older.playing_since_s is not None:
            await asyncio.sleep(0)
            await self.push_frame(InterruptionFrame())

    def _stop_all(self) -> None:
        self._stop(self._held)
        self._stop(self._out)
        for task in (self._refreshed, self._prefilling):
            if task is not None:
                task.cancel()

    # Beforehand ----------------------------------------------------------------------

    def _refresh(self) -> None:
        self._refreshed = self._spawn(self._dialogue.refresh())

    def _prefill(self, partial: str, looked_for: str = "", *, alone: bool = False) -> None:
        making = any(answer and not answer.made for answer in (self._held, self._out))
        if making:
            return  # the model has better things to do
        if self._prefilling is not None:
            self._prefilling.cancel()
        after = self._prefill_after(self._refreshed, partial, looked_for, alone=alone)
        self._prefilling = self._spawn(after)

    async def _prefill_beginning(self) -> None:
        """What every call begins with, before anybody speaks: a short question is over before it
        would be worked through."""
        await self._dialogue.refresh()
        await self._dialogue.prefill()

    async def _prefill_after(
        self,
        refreshed: asyncio.Task[None] | None,
        partial: str,
        looked_for: str,
        *,
        alone: bool,
    ) -> None:
        if refreshed is not None:
            await asyncio.wait({refreshed})
        found = await self._look(looked_for) if looked_for else None
        await self._dialogue.prefill(partial, found.block if found else "")
        if alone:
            await self._dialogue.prefill_alone()

    async def _look(self, said: str, told: Told | None = None) -> NotesFound | None:
        """What was searched for by plain code is all that a turn gets (V16)."""
        return self._dialogue.fitted(told.found if told else await self._notes(said))

    # Making --------------------------------------------------------------------------

    async def _make(self, answer: _Answer) -> None:
        refreshed = self._refreshed
        try:
            answer.notes = await self._look(answer.said, answer.told)
            if refreshed is not None:
                await asyncio.wait({refreshed})
            for _ in range(_ATTEMPTS):
                if await self._write(answer):
                    return
            answer.fault = f"The language model gave an empty answer. {_AGAIN}"
        except VoiceFault as fault:
            log.warning("no answer: %s", type(fault).__name__)
            answer.fault = str(fault)
        finally:
            answer.made = True
            answer.pieces.put_nowait(None)
            await self._ready(answer)

    async def _write(self, answer: _Answer) -> bool:
        """The model's words, in clauses, to the voice; False when there were none."""
        clauses = Clauses(words_of(answer.language).abbreviations)
        written = ""
        notes = answer.notes.block if answer.notes else ""
        async with aclosing(
            self._dialogue.answer(answer.said, answer.told, max_tokens=VOICE_TOKENS, notes=notes)
        ) as pieces:
            async for piece in pieces:
                if isinstance(piece, Usage):
                    answer.usage = piece
                    continue
                ahead = ""
                if isinstance(piece, Ahead):
                    ahead, piece = piece.text, ""
                elif answer.first_token_s is None:
                    answer.first_token_s = self._now_s()
                for chunk in clauses.feed(piece, answer.audio_left_s(self._now_s()), ahead):
                    written += chunk
                    await self._speak(answer, chunk, written)
        for chunk in clauses.end():
            written += chunk
            await self._speak(answer, chunk, written)
        log_usage(answer.usage, self._prefix_sha256)
        return bool(written)

    async def _speak(self, answer: _Answer, chunk: str, written: str) -> None:
        language = language_of(written, answer.language, self._languages)
        await self._ready(answer)  # while the sound is made there is time to end the turn
        audio = bytearray()
        sounds_of_chunk = cast("AsyncGenerator[bytes, None]", self._voice.speak(chunk, language))
        async with aclosing(sounds_of_chunk) as sounds:
            async for sound in sounds:
                audio += sound
        # The output plays whole chunks only: what is left over would wait for the next piece.
        audio += bytes(-len(audio) % _OUTPUT_CHUNK_BYTES)
        answer.audio_s += len(audio) / _BYTES_PER_SAMPLE / RATE_HZ
        answer.pieces.put_nowait(_Piece(chunk.strip(), chunk, language, bytes(audio)))

    async def _ready(self, answer: _Answer) -> None:
        """The ears kept the turn open for an answer that was begun on a guess."""
        if answer.guess is None or answer.stopped or answer.ready_s is not None:
            return
        answer.ready_s = self._now_s()
        await self._tell_ears(answer.guess, ready=True)

    async def _tell_ears(self, guess: int, *, ready: bool) -> None:
        frame = AnswerUnderWayFrame(guess=guess, ready=ready)
        await self.push_frame(frame, FrameDirection.UPSTREAM)

    # Letting out ---------------------------------------------------------------------

    async def _send(self, answer: _Answer) -> None:
        await answer.released.wait()
        given = ""
        while (piece := await answer.pieces.get()) is not None:
            if answer.playing_since_s is None:
                await self._push_beginning(answer)
            given += piece.written
            self._dialogue.history.answered(self._number_of(answer), given.rstrip())
            await self._push_piece(answer, piece)
        answer.sent = True
        if answer.playing_since_s is None:
            self._number_of(answer)
            fault = answer.fault or f"Something went wrong with the answer. {_AGAIN}"
            await self._push_of(answer, AnswerFailedFrame(text=fault))
            return
        await self._push_of(answer, TTSStoppedFrame())
        await self._push_of(answer, AnswerDoneFrame())
        if answer.fault:
            # What was said before stays in the transcript, so this is no AnswerFailedFrame.
            self._notify(Notice(kind="stop", text=answer.fault))
        # While it is played there is time to shorten a long conversation, and to read it.
        self._dialogue.shorten()
        self._prefill("", alone=True)

    def _number_of(self, answer: _Answer) -> int:
        """The answer's place in the history, behind the user's words; made when first needed,
        so that the request, which ends with these words, does not hold them twice."""
        if answer.number is None:
            answer.number = self._dialogue.said(answer.said, answer.told)
        return answer.number

    async def _push_beginning(self, answer: _Answer) -> None:
        answer.playing_since_s = self._now_s()
        began = AnswerBeganFrame(
            to=answer.to,
            first_token_s=answer.first_token_s,
            first_audio_s=answer.playing_since_s,
            prompt_tokens=answer.usage.prompt_tokens,
            cached_tokens=answer.usage.cached_tokens,
            ready_s=answer.ready_s,
            extracts=answer.notes.extracts if answer.notes else (),
        )
        await self._push_of(answer, began)
        await self._push_of(answer, TTSStartedFrame())

    async def _push_piece(self, answer: _Answer, piece: _Piece) -> None:
        spoken = SpokenFrame(
            text=piece.text,
            samples=len(piece.audio) // _BYTES_PER_SAMPLE,
            sample_rate_hz=RATE_HZ,
            language=piece.language,
        )
        await self._push_of(answer, spoken)
        if piece.audio:
            audio = TTSAudioRawFrame(audio=piece.audio, sample_rate=RATE_HZ, num_channels=1)
            await self._push_of(answer, audio)

    async def _push_of(self, answer: _Answer, frame: Frame) -> None:
        """Push, unless the answer was stopped while something else was awaited."""
        if not answer.stopped:
            await self.push_frame(frame)

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        # Not pipecat's create_task: cancelled before its first step it leaks the coroutine.
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (bug := task.exception()) is not None:
            log.error("a bug in the local engine", exc_info=bug)

    def _now_s(self) -> float:
        return asyncio.get_running_loop().time()


_AGAIN = "Say it again, or in other words."
