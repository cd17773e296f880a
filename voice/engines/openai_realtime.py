"""OpenAI Realtime, and any server that speaks its protocol (spec V5).

pipecat's service brings the protocol's events, the place in the pipeline and its life
cycle. Turn taking, reconnecting, truncation and errors are ours: left alone it answers
twice, goes deaf after an error or a drop, and tells the provider that sound was heard
which nobody played.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import soxr
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    TTSAudioRawFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.openai.realtime import events
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService

from memory.records import Turn
from voice.engines.protocol import Opening
from voice.engines.realtime_link import Link, SessionRefused, open_link
from voice.engines.realtime_rules import (
    ANSWER_HZ,
    LETTERS_PER_S,
    MICROPHONE_HZ,
    OPENAI_URL,
    Alignment,
    Delete,
    Item,
    Judgement,
    Microphone,
    Truncate,
    address_fault,
    cut,
    host_of,
    is_loopback,
    is_open_to_listeners,
    judge,
    played_of,
    seed,
    time_is_due,
    time_told,
    with_model,
)
from voice.errors import EngineUnavailable
from voice.frames import (
    AnswerBeganFrame,
    AnswerDoneFrame,
    AnswerFailedFrame,
    HeardFrame,
    SpokenFrame,
    TypedFrame,
)
from voice.records import (
    BargedIn,
    EngineDescription,
    Notice,
    NoTurn,
    SpeechBegan,
    UserSaid,
)

log = logging.getLogger(__name__)

_MIN_COMMIT_MS = 100  # the server refuses less
_LASTING_S = 60.0  # a session that lasted so long was no failed try

# How often, and with which pauses, a session and an answer are tried.
_CONNECTS = 7
_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 8.0
_ASKS = 3
_ASK_PAUSE_S = 1.0
_ANSWER_S = 20.0
_CANCELLING_S = 0.5


@dataclass(slots=True)
class _UserTurn:
    """A turn that is being spoken. Its sound goes out as it comes, at 24 kHz."""

    began_ms: int
    samples: int = 0
    resampler: soxr.ResampleStream = field(
        # A stream of its own per turn, flushed at its end: no sample is lost between turns.
        default_factory=lambda: soxr.ResampleStream(
            MICROPHONE_HZ, ANSWER_HZ, 1, dtype="int16", quality="LQ"
        )
    )

    def resampled(self, audio: bytes, *, last: bool = False) -> bytes:
        samples = np.frombuffer(audio, dtype="<i2")
        out: bytes = self.resampler.resample_chunk(samples, last=last).tobytes()
        self.samples += len(out) // 2
        return out


@dataclass(slots=True, kw_only=True)
class _Answer:
    """One response, from our asking for it until the transcript has kept it."""

    to: UserSaid | None
    event_id: str
    link: Link
    questions: int
    alignment: Alignment
    response: str | None = None
    alive: bool = True
    begun: bool = False
    complete: bool = False
    settled: bool = False
    first_token_s: float | None = None
    items: list[Item] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Question:
    to: UserSaid | None
    text: str


class OpenAIRealtimeEngine:
    """An `Engine`. `played_samples`, when set, tells how much of the answer came out of the output.

    With it an interrupted answer is cut at once and to the sample; without it, at the last
    word that `heard` tells.
    """

    def __init__(
        self,
        *,
        key: str = "",
        url: str = OPENAI_URL,
        model: str = "gpt-realtime-2.1",
        voice: str = "marin",
    ) -> None:
        self.played_samples: Callable[[], int] | None = None
        self._key = key
        self._url = url
        self._model = model
        self._voice = voice
        self._session: _Session | None = None

    @property
    def description(self) -> EngineDescription:
        host = host_of(self._url) or self._url
        exposed = is_open_to_listeners(self._url)
        if is_loopback(host):
            goes_to, costs = f"the server at {host}, on this machine", "what that server costs"
        else:
            goes_to, costs = host, "billed to your key, the whole conversation at each answer"
        return EngineDescription(
            name="OpenAI Realtime",
            hears=f"{self._model}; this machine writes down what you say as well",
            thinks=self._model,
            speaks=f"{self._model}, voice {self._voice}",
            words_go_to=goes_to,
            costs=costs,
            warning=(
                f"The connection to {host} is not encrypted: others on the way can listen."
                if exposed
                else ""
            ),
            better="Use a wss:// address." if exposed else "",
        )

    async def open(self, opening: Opening) -> list[FrameProcessor]:
        fault = address_fault(self._url, self._key)
        if fault:
            raise EngineUnavailable(fault)
        session = _Session(
            key=self._key,
            url=with_model(self._url, self._model),
            model=self._model,
            voice=self._voice,
            opening=opening,
            played_samples=lambda: self.played_samples() if self.played_samples else None,
        )
        try:
            await session.begin()
        except SessionRefused as refused:
            raise EngineUnavailable(
                f"OpenAI Realtime at {host_of(self._url)} can't be used. {refused.judgement.text}"
            ) from refused
        self._session = session
        return [session]

    def heard(self, turn: Turn) -> None:
        if self._session is not None:
            self._session.heard(turn)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.end()


class _Session(OpenAIRealtimeLLMService):
    """The call's one processor; the sockets under it come and go."""

    def __init__(
        self,
        *,
        key: str,
        url: str,
        model: str,
        voice: str,
        opening: Opening,
        played_samples: Callable[[], int | None],
    ) -> None:
        # Frozen for the whole call: tools, then instructions, are the prefix that the
        # server caches, and one byte that changes makes it count everything anew.
        self._properties = events.SessionProperties(
            model=model,
            output_modalities=["audio"],
            instructions=opening.prefix.text,
            audio=events.AudioConfiguration(
                input=events.AudioInput(format=events.PCMAudioFormat(), turn_detection=False),
                output=events.AudioOutput(format=events.PCMAudioFormat(), voice=voice),
            ),
        )
        self._properties.tools = []  # none yet; its constructor would leave an empty list out
        # Without the instructions: pipecat logs those that it knows of, notebooks and all.
        known = self._properties.model_copy(update={"instructions": None})
        super().__init__(
            api_key=key,
            settings=OpenAIRealtimeLLMService.Settings(model=model, session_properties=known),
        )
        self.base_url = url
        self._opening = opening
        self._played_samples = played_samples
        self._link: Link | None = None
        self._strikes = 0
        self._closing = False
        self._fatal = ""
        self._wanted = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._pumping: asyncio.Task[None] | None = None
        self._microphone = Microphone()
        self._turn: _UserTurn | None = None
        self._turns: list[Turn] = list(opening.earlier)
        self._told_at: datetime | None = None
        self._news: list[str] = []
        self._news_told = 0
        self._outcome: str | None = None
        self._questions: list[_Question] = []
        self._answer: _Answer | None = None
        self._unkept: deque[_Answer] = deque()
        self._owed = False
        self._asks = 0
        self._letters_per_s = LETTERS_PER_S
        self._emission = asyncio.Lock()
        self._watchdog: asyncio.TimerHandle | None = None
        self._retry: asyncio.TimerHandle | None = None

    # Life ---------------------------------------------------------------------------------

    async def begin(self) -> None:
        """The first session, before there is a pipeline. Raises SessionRefused."""
        self._adopt(await self._new_link())

    async def end(self) -> None:
        await self._disconnect()

    async def _connect(self) -> None:
        """pipecat's set-up: the first session is there already."""
        if self._running is None:
            self._running = self.create_task(self._run())

    async def _disconnect(self) -> None:
        """pipecat's end, cancellation and clean-up, and ours: whichever comes first."""
        self._closing = True
        self._disarm()
        for task in (self._running, self._pumping):
            if task is not None and not task.done():
                await self.cancel_task(task, timeout=_CANCELLING_S)
        self._running = self._pumping = None
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    async def _run(self) -> None:
        while not self._closing:
            link = self._link
            if link is None:
                if not await self._reconnect():
                    await self._wanted.wait()
                continue
            self._pumping = self.create_task(link.pump())
            await self._receive(link)
            await self.cancel_task(self._pumping)
            if not self._closing:
                await self._lost(link)

    async def _new_link(self) -> Link:
        return await open_link(self.base_url, await self._auth_headers(), self._properties)

    async def _auth_headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}

    def _adopt(self, link: Link) -> None:
        """A new session learns what was said, and gets what is being said."""
        self._link = link
        self._told_at = None
        self._news_told = 0
        if not self._questions:
            self._outcome = None  # the user has heard of it
        self._tell_what_changed()
        for speaker, text in seed(self._turns, [question.text for question in self._questions]):
            self._tell(speaker, text)
        if self._turn is not None:
            began_ms = self._turn.began_ms
            if began_ms < self._microphone.first_ms:
                log.warning(
                    "the first %d ms of a long turn can't be sent again",
                    self._microphone.first_ms - began_ms,
                )
            self._turn = _UserTurn(began_ms)
            self._send_sound(self._turn, self._microphone.since(began_ms))
        if self._questions:
            self._ask()

    async def _lost(self, link: Link) -> None:
        self._link = None
        self._disarm()
        log.warning("the session was lost: %s", link.end.text)
        if asyncio.get_running_loop().time() - link.began_s >= _LASTING_S:
            self._strikes = 0
        answer, self._answer = self._answer, None
        self._owed = False
        if answer is not None and answer.alive and answer.begun:
            await self._finish(answer, None)
        if link.end.verdict == "fatal":
            self._fatal = self._fatal or link.end.text
        if not self._fatal:
            self._notify(
                "handled",
                "The connection to the voice service was lost. Reconnecting; what you say "
                "meanwhile is kept.",
            )

    async def _reconnect(self) -> bool:
        """Bounded tries with growing pauses. False: given up, and the user was told."""
        judgement = Judgement("reconnect")
        while not self._fatal and self._strikes < _CONNECTS:
            if self._strikes:
                pause_s = _FIRST_PAUSE_S * 2 ** (self._strikes - 1)
                # Spread, so that not every client comes back at once.
                await asyncio.sleep(
                    min(pause_s, _LONGEST_PAUSE_S) * random.uniform(0.75, 1.25)  # noqa: S311
                )
            self._strikes += 1
            await self._gather_news()
            try:
                link = await self._new_link()
            except SessionRefused as refused:
                judgement = refused.judgement
                if judgement.verdict == "fatal":
                    self._fatal = judgement.text
                continue
            self._notify("handled", "Connected again; the conversation goes on.")
            if self._questions and not self._count_ask():
                await self._fail("The voice service broke off each time it should answer this.")
            self._adopt(link)
            return True
        self._strikes = 0
        self._wanted.clear()
        reason = self._fatal or judgement.text
        self._notify(
            "stop", f"The voice service can't be reached any more. {reason} {_WHAT_TO_DO}".strip()
        )
        if self._questions:
            await self._fail("This was not answered: there is no connection to the voice service.")
        return False

    def _notify(self, kind: str, text: str) -> None:
        self._opening.notify(Notice(kind="stop" if kind == "stop" else "handled", text=text))

    def _warn_if_realtime_service_emits_no_turn_frames(self, emits_turn_frames: bool) -> None:
        """Turns are the ears', as they should be: nothing to warn of."""

    # What the server says -------------------------------------------------------------------

    async def _receive(self, link: Link) -> None:
        """Until the socket is closed."""
        while (event := await link.receive()) is not None:
            try:
                await self._handle(event)
            except Exception:
                # One event that trips us must not make the rest of the call deaf.
                log.exception("an event of type %s was not handled", event.type)

    async def _handle(self, event: events.ServerEvent) -> None:
        match event:
            case events.ResponseAudioDelta():
                await self._on_sound(event)
            case events.ResponseAudioTranscriptDelta():
                self._on_words(event)
            case events.ResponseCreated():
                self._on_created(event)
            case events.ResponseDone():
                await self._on_done(event.response)
            case events.ErrorEvent():
                await self._on_error(event.error)
            case _:
                pass

    def _of(self, response: str) -> _Answer | None:
        """The answer that this belongs to, when its sound may still come out."""
        answer = self._answer
        if answer is None or answer.response != response:
            return None
        self._watch()
        return answer if answer.alive else None

    def _on_created(self, event: events.ResponseCreated) -> None:
        answer = self._answer
        if answer is not None and answer.response is None:
            answer.response = event.response.id
            for old in [old for old in self._unkept if not old.alive]:
                self._settle(old, 0)  # interrupted, and nobody told that a word was heard
            self._unkept = deque(kept for kept in self._unkept if kept.alive)
            return
        log.warning("a response that nobody asked for is cancelled")
        self._send(events.ResponseCancelEvent())

    def _on_words(self, event: events.ResponseAudioTranscriptDelta) -> None:
        answer = self._of(event.response_id)
        if answer is None:
            return
        answer.first_token_s = answer.first_token_s or asyncio.get_running_loop().time()
        _item_of(answer, event.item_id, event.content_index)
        answer.alignment.add_text(event.delta)

    async def _on_sound(self, event: events.ResponseAudioDelta) -> None:
        answer = self._of(event.response_id)
        if answer is None:
            return
        sound = base64.b64decode(event.delta)
        item = _item_of(answer, event.item_id, event.content_index)
        async with self._emission:
            if not answer.alive:
                return
            if not answer.begun:
                await self._begin(answer)
            item.samples += len(sound) // 2
            for part in answer.alignment.add_sound(len(sound) // 2):
                if part.piece is not None:
                    await self._speak(answer, part.piece.text, part.piece.samples)
                await self.push_frame(
                    TTSAudioRawFrame(
                        audio=sound[: 2 * part.samples], sample_rate=ANSWER_HZ, num_channels=1
                    )
                )
                sound = sound[2 * part.samples :]

    async def _begin(self, answer: _Answer) -> None:
        now_s = asyncio.get_running_loop().time()
        answer.begun = True
        answer.first_token_s = answer.first_token_s or now_s
        self._unkept.append(answer)
        del self._questions[: answer.questions]
        await self.push_frame(
            AnswerBeganFrame(to=answer.to, first_token_s=answer.first_token_s, first_audio_s=now_s)
        )
        await self.push_frame(TTSStartedFrame())

    async def _speak(self, answer: _Answer, text: str, samples: int) -> None:
        language = answer.to.language if answer.to else self._opening.language
        await self.push_frame(
            SpokenFrame(text=text, samples=samples, sample_rate_hz=ANSWER_HZ, language=language)
        )

    async def _finish(self, answer: _Answer, usage: events.Usage | None) -> None:
        details = usage.input_token_details if usage else None
        async with self._emission:
            if not answer.alive:
                return
            answer.complete = True
            rest = answer.alignment.rest()
            if rest is not None:
                await self._speak(answer, rest.text, rest.samples)
            await self.push_frame(TTSStoppedFrame())
            await self.push_frame(
                AnswerDoneFrame(
                    prompt_tokens=usage.input_tokens if usage else None,
                    cached_tokens=details.cached_tokens if details else None,
                )
            )
        self._letters_per_s = answer.alignment.pace

    async def _on_done(self, response: events.Response) -> None:
        answer = self._answer
        if answer is not None and answer.response == response.id:
            self._answer = None
            self._disarm()
            _log_usage(response, self._opening.prefix.sha256)
            await self._answer_ended(answer, response)
        if self._owed and self._answer is None:
            self._owed = False
            if self._questions:
                self._ask()

    async def _answer_ended(self, answer: _Answer, response: events.Response) -> None:
        error = _error_of(response)
        judgement = judge(error.get("code"), error.get("type"))
        if not answer.alive:
            self._forget_unheard(answer, response)
        elif answer.begun:
            self._strikes = 0
            await self._finish(answer, response.usage)
            if judgement.verdict == "fatal":
                await self._give_up(judgement.text)
        elif judgement.verdict == "fatal":
            await self._give_up(judgement.text)
        elif not self._owed:
            await self._ask_later(
                judgement.text
                or "The voice service gave an answer without sound. Say it once more."
            )

    async def _on_error(self, error: events.RealtimeError) -> None:
        judgement = judge(error.code, error.type)
        log.info("the server reports %s: %s", error.code or error.type, judgement.verdict)
        log.debug("its message: %s", error.message)
        answer = self._answer
        refused = answer is not None and (
            error.event_id == answer.event_id
            or (answer.response is None and not error.event_id and judgement.verdict != "harmless")
        )
        if error.code == "response_cancel_not_active":
            if answer is not None and not answer.alive:
                self._answer = None
                await self._on_done(events.Response())
        elif error.code == "conversation_already_has_active_response":
            if answer is not None and answer.response is None:
                # Another response runs: ours is owed once it is done. If that never
                # comes, the watchdog stands.
                self._answer = None
                self._owed = True
        elif judgement.verdict == "fatal":
            await self._give_up(judgement.text)
        elif judgement.verdict == "reconnect":
            if self._link is not None:
                self._link.abort()
        elif refused:
            self._answer = None
            self._disarm()
            await self._ask_later(
                judgement.text or f"The voice service refused to answer: {error.message}"
            )

    async def _give_up(self, text: str) -> None:
        """No try of ours can help: say so, and answer nothing any more."""
        self._fatal = text
        if self._link is not None:
            self._link.abort()

    # What the user does ---------------------------------------------------------------------

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        heard = frame.event if isinstance(frame, HeardFrame) else None
        if isinstance(frame, HeardFrame | TypedFrame) and isinstance(heard, UserSaid | None):
            self._outcome = frame.told.note if frame.told else None
        if isinstance(heard, BargedIn):
            await self._interrupt()
        await super().process_frame(frame, direction)
        if direction is not FrameDirection.DOWNSTREAM:
            return
        match heard:
            case SpeechBegan(began_ms=began_ms):
                self._open_turn(began_ms)
            case NoTurn():
                self._drop_turn()
            case UserSaid():
                await self._on_question(_Question(heard, heard.text))
            case _:
                pass
        if isinstance(frame, TypedFrame):
            await self._on_question(_Question(None, frame.text))

    async def _handle_interruption(self) -> None:
        await self._interrupt()

    async def _send_user_audio(self, frame: InputAudioRawFrame) -> None:
        assert frame.sample_rate == MICROPHONE_HZ and frame.num_channels == 1
        self._microphone.append(frame.audio)
        if self._turn is not None:
            self._send_sound(self._turn, frame.audio)

    def _open_turn(self, began_ms: int) -> None:
        self._drop_turn()
        self._turn = _UserTurn(began_ms)
        self._microphone.hold(began_ms)
        self._send_sound(self._turn, self._microphone.since(began_ms))

    def _drop_turn(self) -> None:
        turn, self._turn = self._turn, None
        self._microphone.release()
        if turn is not None and turn.samples:
            self._send(events.InputAudioBufferClearEvent())

    def _send_sound(self, turn: _UserTurn, audio: bytes, *, last: bool = False) -> None:
        """Into the turn's stream, and to the server when there is one: a lost part is sent again."""
        if self._link is None:
            return
        sound = turn.resampled(audio, last=last)
        if sound:
            self._send(events.InputAudioBufferAppendEvent(audio=base64.b64encode(sound).decode()))

    async def _on_question(self, question: _Question) -> None:
        if self._link is not None:
            await self._gather_news()
        # Nothing is awaited from here to the asking, or a lost session could come between.
        self._disarm_retry()
        self._asks = 0
        self._questions.append(question)
        turn = self._turn if question.to is not None else None
        if turn is not None:
            self._turn = None
            self._microphone.release()
        if self._fatal:
            await self._fail(f"This was not answered. {self._fatal} {_WHAT_TO_DO}")
        elif self._link is None:
            self._wanted.set()  # the next session is told these words, and asked
        else:
            self._tell_what_changed()
            self._hand_in(question, turn)
            self._ask()

    async def _gather_news(self) -> None:
        news = await self._opening.news()
        if news:
            self._news.append(news)

    def _tell_what_changed(self) -> None:
        now = self._opening.now()
        if self._told_at is None or time_is_due(self._told_at, now):
            self._told_at = now
            self._tell("system", time_told(now))
        for news in self._news[self._news_told :]:
            self._tell("system", news)
        self._news_told = len(self._news)
        if self._outcome:
            self._tell("system", self._outcome)

    def _hand_in(self, question: _Question, turn: _UserTurn | None) -> None:
        if turn is not None:
            self._send_sound(turn, b"", last=True)
            if turn.samples * 1000 >= _MIN_COMMIT_MS * ANSWER_HZ:
                self._send(events.InputAudioBufferCommitEvent())
                return
            self._send(events.InputAudioBufferClearEvent())
        self._tell("user", question.text)

    async def _interrupt(self) -> None:
        """The answer stops here, and the server learns what was heard of it."""
        async with self._emission:
            self._disarm_retry()
            self._owed = False
            self._questions.clear()
            unkept = [kept for kept in self._unkept if kept.alive]
            answer = self._answer
            if answer is not None and answer.alive:
                answer.alive = False
                self._send(events.ResponseCancelEvent())
            for kept in unkept:
                kept.alive = False
            played = self._played_samples() if unkept else None
            if played is not None:
                for kept in unkept:
                    self._settle(kept, played)
                    played = 0
        if unkept:
            # What was pushed in this very moment lies in the next processor's inbox, where
            # an interruption overtakes it; let it be taken in, to be thrown away with the rest.
            await asyncio.sleep(0)

    # Asking -----------------------------------------------------------------------------------

    def _ask(self) -> None:
        """Ask for one response to what waits; never while another runs."""
        active = self._answer
        if active is not None:
            if active.alive and not active.begun:
                active.alive = False  # more was said before a sound came: one answer to both
                self._send(events.ResponseCancelEvent())
            self._owed = True
            return
        link = self._link
        assert link is not None and self._questions
        event = events.ResponseCreateEvent()
        self._answer = _Answer(
            to=self._questions[-1].to,
            event_id=event.event_id,
            link=link,
            questions=len(self._questions),
            alignment=Alignment(self._letters_per_s),
        )
        self._send(event)
        self._watch()

    def _count_ask(self) -> bool:
        self._asks += 1
        return self._asks < _ASKS

    async def _ask_later(self, reason: str) -> None:
        """The same question once more after a pause, or a failure when that was tried enough."""
        if not self._questions:
            return
        if not self._count_ask():
            await self._fail(reason)
            return
        pause_s = _ASK_PAUSE_S * 2 ** (self._asks - 1)
        self._retry = asyncio.get_running_loop().call_later(pause_s, self._ask_again)

    def _ask_again(self) -> None:
        self._retry = None
        if self._link is not None and self._questions and self._answer is None:
            self._ask()

    async def _fail(self, text: str) -> None:
        self._questions.clear()
        self._asks = 0
        await self.push_frame(AnswerFailedFrame(text=text))

    def _watch(self) -> None:
        """A session that owes an answer and is silent for so long counts as lost."""
        if self._watchdog is not None:
            self._watchdog.cancel()
        link = self._link
        if link is not None:
            self._watchdog = asyncio.get_running_loop().call_later(_ANSWER_S, link.abort)

    def _disarm(self) -> None:
        self._disarm_retry()
        if self._watchdog is not None:
            self._watchdog.cancel()
            self._watchdog = None

    def _disarm_retry(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None

    # History ----------------------------------------------------------------------------------

    def heard(self, turn: Turn) -> None:
        self._turns.append(turn)
        answer = self._kept_as(turn) if turn.speaker == "assistant" else None
        if answer is None:
            return
        if self._link is not None and answer.link is not self._link:
            self._tell("assistant", turn.text)  # this session was seeded before it was kept
        elif turn.interrupted:
            if answer.alive and answer is self._answer:
                self._send(events.ResponseCancelEvent())
            answer.alive = False
            self._settle(answer, played_of(answer.alignment.pieces, turn.text))

    def _kept_as(self, turn: Turn) -> _Answer | None:
        """The answer that became this turn. Older ones became none, so they go as well."""
        text = " ".join(turn.text.split())
        for number, answer in enumerate(self._unkept):
            if answer.alignment.text.startswith(text):
                for _ in range(number + 1):
                    self._unkept.popleft()
                return answer
        return None

    def _settle(self, answer: _Answer, played_samples: int) -> None:
        """Cut an answer at the server to what was heard, once."""
        link = self._link
        if answer.settled or link is None or answer.link is not link:
            return
        answer.settled = True
        for step in cut(answer.items, played_samples, complete=answer.complete):
            match step:
                case Truncate(item, content_index, audio_end_ms):
                    self._send(
                        events.ConversationItemTruncateEvent(
                            item_id=item, content_index=content_index, audio_end_ms=audio_end_ms
                        )
                    )
                case Delete(item):
                    self._send(events.ConversationItemDeleteEvent(item_id=item))
        if answer in self._unkept:
            self._unkept.remove(answer)

    def _forget_unheard(self, answer: _Answer, response: events.Response) -> None:
        """Items of a cancelled answer of which no sound was passed on."""
        named = [item.id for item in response.output or [] if item.type == "message"]
        known = [item.id for item in answer.items]
        unheard = (
            [item for item in named if item not in known] if answer.begun else {*named, *known}
        )
        for item in unheard:
            self._send(events.ConversationItemDeleteEvent(item_id=item))

    def _tell(self, role: str, text: str) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        item = events.ConversationItem.model_validate(
            {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        )
        self._send(events.ConversationItemCreateEvent(item=item))

    def _send(self, event: events.ClientEvent) -> None:
        """Without a session nothing is sent: the next one is told everything anew."""
        if self._link is not None:
            self._link.send(event)


_WHAT_TO_DO = "Say something to try again, or choose the local engine."


def _item_of(answer: _Answer, item: str, content_index: int) -> Item:
    for known in answer.items:
        if known.id == item:
            return known
    answer.items.append(Item(item, content_index))
    return answer.items[-1]


def _error_of(response: events.Response) -> dict[str, str]:
    details = response.status_details if isinstance(response.status_details, dict) else {}
    error = details.get("error")
    return error if isinstance(error, dict) else {}


def _log_usage(response: events.Response, prefix_sha256: str) -> None:
    usage = response.usage
    details = usage.input_token_details if usage else None
    log.info(
        "response %s: %s of %s prompt tokens cached, prefix %s",
        response.status,
        details.cached_tokens if details else "unknown",
        usage.input_tokens if usage else "unknown",
        prefix_sha256,
    )
