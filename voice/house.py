"""What stands behind the page and the chat: one call at a time, one chat, and what learns."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from memory import ReflectReport, ReviewReport, WipeReport, warm
from memory.errors import MemoryFault, WipeRefused
from memory.records import Turn
from voice.call import Call, CallSetup, CallTransport
from voice.chat import Chat
from voice.config import Config
from voice.engines.lasting import LastingEngine
from voice.engines.protocol import Engine
from voice.equipment import first_language
from voice.errors import CallInProgress, VoiceFault
from voice.going_on import LastCall
from voice.hearing.asking import Asked
from voice.hearing.ears import Ears
from voice.hearing.kept import KeptHearing
from voice.hearing.listener import HearingSettings
from voice.models import Models
from voice.own_memory import now, open_memory
from voice.quiet import QuietHouse
from voice.recorder import Recorder
from voice.records import CallEnded, CallEvent, HandedOver, Notice, event_json
from voice.tending import Tending
from voice.transports.browser import BrowserTransport
from voice.transports.page_messages import FromPage, HangUp, Muted, Stop, Typed
from voice.transports.recording import RecordingProcessor

log = logging.getLogger(__name__)

CLOSING_S = 10.0
WIPE_TRIES = 6
WIPE_AGAIN_S = 0.5


def new_id(kind: str, at: datetime, taken: Callable[[str], bool] = lambda _: False) -> str:
    """A name that sorts by time: "call-20261202-100000"."""
    name = f"{kind}-{at:%Y%m%d-%H%M%S}"
    names = itertools.chain([name], (f"{name}-{n}" for n in itertools.count(2)))
    return next(each for each in names if not taken(each))


class Line(CallTransport, Protocol):
    """A transport at whose other end somebody also presses keys: the page, the terminal."""

    def messages(self) -> AsyncIterator[FromPage]:
        """What they ask for, in order, until they are gone."""
        ...

    async def close(self) -> None: ...


class House:
    """Made on a running loop. `load` once, in the background; `close` once."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self.memory = open_memory(config)
        self.memory.recover(now())
        self._language = first_language(config)
        self._models = Models(config, self.memory)
        self._fault = ""
        self._is_ready = False
        self._loaded: asyncio.Task[None] | None = None
        self._call: Call | None = None
        self._call_began_at: datetime | None = None
        self._last_call = LastCall()
        self._calling: asyncio.Task[None] | None = None
        self._chat: Chat | None = None
        self._chatting: asyncio.Task[None] | None = None
        self._chat_opening = asyncio.Lock()
        self._warming: asyncio.Task[None] | None = None
        self._quiet = QuietHouse()
        self._reviewing: asyncio.Task[None] | None = None
        self.reviews = self.memory.task(
            model=self._models.background,
            quiet=self._quiet,
            now=now,
            learning=config.learning,
            reflects=config.reflect,
        )
        self.tending = Tending(config, self.memory, self._models.background, self._quiet)

    # Loading -------------------------------------------------------------------------

    async def load(self) -> None:
        """Bring what is missing, load the models, work through the prefix. Raises VoiceFault."""
        if self._loaded is None or (self._loaded.done() and self._fault):
            self._fault = ""
            self._loaded = asyncio.create_task(self._load())
        await asyncio.shield(self._loaded)

    async def _load(self) -> None:
        try:
            await self._models.load(self._language)
        except VoiceFault as fault:
            self._fault = str(fault)
            self.tending.start()  # folders and thoughts need none of these models
            raise
        self._is_ready = True
        self.learn()
        self.tending.start()
        self._warming = asyncio.create_task(self._models.keep_warm(lambda: self._quiet.is_quiet))

    def learn(self) -> None:
        """Review what was handed over, from now on, whenever it is quiet."""
        if self._reviewing is None:
            self._reviewing = asyncio.create_task(self.reviews.run())

    async def review(self, conversation: str | None = None) -> ReviewReport:
        """Review what waits, now."""
        return await self.reviews.review_now(conversation)

    async def reflect(self) -> ReflectReport:
        """A pass over the event log, now; it gives way to conversations."""
        return await self.reviews.reflect_now()

    async def wipe(self) -> WipeReport:
        """Clear everything that Jarvis knows (S4); the page's chat ends with it. Raises
        WipeRefused while a call runs."""
        async with self._chat_opening:
            if self._chat is not None and self._chatting is not None:
                await self._chat.end()
                self._chatting.cancel()
                await asyncio.gather(self._chatting, return_exceptions=True)
                self._chat = self._chatting = None
        for _ in range(WIPE_TRIES - 1):
            # What the chat left is looked through by a review that has just begun: a moment's work.
            with contextlib.suppress(WipeRefused):
                return await asyncio.to_thread(self.memory.wipe, now())
            if self._call is not None:
                break
            await asyncio.sleep(WIPE_AGAIN_S)
        return await asyncio.to_thread(self.memory.wipe, now())

    async def think(self) -> str:
        """Look for an insight, now: what came of it, as a sentence. Raises ModelUnavailable."""
        found = await self.tending.think()
        return found.reason or (found.entry.text if found.entry else "")

    def take(self, config: Config) -> None:
        """Go on with these settings: what learns and thinks at once, what speaks from the next call."""
        self._config = self._models.config = config
        self.reviews.switch(learning=config.learning, reflects=config.reflect)
        self.tending.take(config)

    def _kept(self, event: CallEvent) -> None:
        """What a conversation left on disk is work for the reviews."""
        if isinstance(event, HandedOver | CallEnded):
            self.reviews.wake()

    def introduction(self) -> list[str]:
        """What answers, for the terminal."""
        about = self._models.description()
        lines = [
            f"Engine   {about.name}",
            f"Hears    {about.hears}",
            f"Thinks   {about.thinks}",
            *([f"Speaks   {about.speaks}"] if about.speaks else []),
            f"Words    {about.words_go_to}; costs {about.costs}",
            f"Files    {self._config.vault}",
        ]
        lines += [text for text in (about.warning, about.better) if text]
        lines += self.memory.prefix().warnings
        return lines

    # The page's door -----------------------------------------------------------------

    @property
    def config(self) -> Config:
        return self._config

    def status(self) -> dict[str, Any]:
        choice = self._models.choice
        notebooks = {
            summary.name: {"entries": summary.entries, "chars": summary.chars}
            for summary in self.memory.notebooks()
        }
        warnings = [
            *self.memory.prefix().warnings,
            *self.memory.events.warnings,
            *self.tending.faults,
        ]
        return {
            "engine": asdict(self._models.description()) if choice else None,
            "languages": list(self._config.languages),
            "language": self._language,
            "vault": _at_home(self._config.vault),
            "notebooks": notebooks,
            "ready": self._is_ready,
            "loading": self._models.loading,
            "call": {
                "began_at": self._call_began_at.isoformat(),
                "recorded": self._config.record is not None,
            }
            if self._call_began_at
            else None,
            "notices": [
                *([{"kind": "stop", "text": self._fault}] if self._fault else []),
                *({"kind": "handled", "text": text} for text in warnings),
            ],
            "hints": [choice.hint] if choice and choice.hint else [],
        }

    async def offer(
        self, sdp: str, type: str, take_over: bool, goes_on: datetime | None
    ) -> dict[str, str]:
        if self._calling is not None and not self._calling.done():
            own = goes_on is not None and goes_on == self._call_began_at
            if not (take_over or own):
                raise CallInProgress("A call runs in another window.")
            await self.hang_up()
        transport = BrowserTransport(self._config.state)
        answer = await transport.answer(sdp, type)
        earlier = self._last_call.turns_of(goes_on, asyncio.get_running_loop().time())
        self._call_began_at = now()
        self._last_call.begins(self._call_began_at, earlier)
        self._calling = asyncio.create_task(self._run_call(transport, earlier))
        return answer

    async def talk(self, line: Line) -> None:
        """A call over this line, from here to its end. Whatever fails is told on the line."""
        assert self._calling is None or self._calling.done(), "one call at a time"
        self._call_began_at = now()
        self._calling = asyncio.create_task(self._run_call(line))
        await asyncio.shield(self._calling)

    async def hang_up(self) -> None:
        if self._calling is None or self._calling.done():
            return
        if self._call is not None:
            self._call.hang_up()
        else:
            self._calling.cancel()
        await asyncio.wait([self._calling], timeout=CLOSING_S)

    async def chat(self, text: str, pasted: bool) -> AsyncIterator[dict[str, Any]]:
        async with self._chat_opening:
            if self._chat is None:
                self._chat = await self.new_chat()
                self._chatting = asyncio.create_task(self._chat.run())
        async with aclosing(self._chat.say(text, pasted=pasted)) as events:
            async for event in events:
                yield event_json(event)

    async def new_chat(self, emit: Callable[[CallEvent], None] = lambda _: None) -> Chat:
        """A typed conversation that is open; whoever asks runs and ends it."""
        if self._models.language_model is None and self._loaded is not None:
            await self.load()
        model = await self._models.load_for_chat()
        at = now()

        def told(event: CallEvent) -> None:
            self._kept(event)
            emit(event)

        chat = Chat(
            model,
            self.memory,
            self.memory.session(),
            self.memory.begin(self._name("chat", at), "chat", at),
            now=now,
            languages=self._config.languages,
            language=self._language,
            emit=told,
            answering=self._quiet.talking,
        )
        await asyncio.gather(chat.open(), asyncio.to_thread(warm))
        self.learn()
        return chat

    async def close(self) -> None:
        """Hang up, hand over, and let the models go."""
        await self.hang_up()
        if self._chat is not None:
            await self._chat.end()
        await self.tending.close()
        begun = (self._chatting, self._loaded, self._warming, self._reviewing)
        tasks = [task for task in begun if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._models.close()
        await asyncio.to_thread(self.memory.close)

    # A call --------------------------------------------------------------------------

    async def _run_call(self, transport: Line, earlier: tuple[Turn, ...] = ()) -> None:
        try:
            with self._quiet.talking():
                await self._talk(transport, earlier)
        except (VoiceFault, MemoryFault) as fault:
            log.warning("the call failed: %s", fault)
            transport.publish(Notice(kind="stop", text=str(fault)))
        finally:
            self._call = None
            self._call_began_at = None
            self._last_call.over(asyncio.get_running_loop().time())
            await transport.close()

    async def _talk(self, transport: Line, earlier: tuple[Turn, ...]) -> None:
        await self.load()
        at = now()
        session = await asyncio.to_thread(self.memory.session)
        engine = self._models.engine()
        name = self._name("call", at)
        recorder = self._recorder(name, engine, transport)
        ears = self._ears(recorder)
        if recorder is not None:
            if isinstance(engine, LastingEngine):
                engine.watched(recorder.service)
            await asyncio.to_thread(self.memory.recorded_in, recorder.folder)

        def watch(event: CallEvent) -> None:
            self._kept(event)
            self._last_call.event(event)
            if recorder is not None:
                recorder.event(event)

        call = self._call = Call(
            CallSetup(
                transport=transport,
                ears=ears,
                engine=engine,
                conversation=await asyncio.to_thread(self.memory.begin, name, "call", at),
                memory=self.memory,
                session=session,
                earlier=earlier,
                language=self._language,
                now=now,
                watch=watch,
                recorder=RecordingProcessor(recorder, transport.playback) if recorder else None,
            )
        )
        listening = asyncio.create_task(_obey(transport, call, recorder))
        try:
            result = await call.run()
        finally:
            listening.cancel()
            if recorder is not None:
                await recorder.close()
        # The next call begins in the language that this one settled on.
        self._language = ears.language
        log.info("call %s: %d turns, %s", name, result.turns, result.reason)

    def _ears(self, recorder: Recorder | None) -> Ears:
        worker = self._models.hearing
        assert worker is not None
        hearing: Asked = worker
        if recorder is not None:
            hearing = KeptHearing({}, lambda: worker, recorder.answered)
        return Ears(
            hearing,
            HearingSettings(judge=self._config.vad),
            self._config.languages,
            self._language,
        )

    def _recorder(self, name: str, engine: Engine, transport: Line) -> Recorder | None:
        if self._config.record is None:
            return None
        # Its position 0 is the microphone's first sound, which came before the call was ready.
        began_s = transport.microphone.began_s
        at = now() - timedelta(seconds=asyncio.get_running_loop().time() - began_s)
        return Recorder(
            self._config.record / name,
            conversation=name,
            began_at=at,
            began_s=began_s,
            language=self._language,
            languages=self._config.languages,
            engine=engine.description,
            notify=transport.publish,
        )

    def _name(self, kind: str, at: datetime) -> str:
        folder = self._config.state / "calls"
        return new_id(kind, at, lambda name: (folder / f"{name}.jsonl").exists())


async def _obey(transport: Line, call: Call, recorder: Recorder | None) -> None:
    """What the page or the terminal asks for while the call runs."""
    async for message in transport.messages():
        match message:
            case Typed(text=text, pasted=pasted):
                await call.typed(text, pasted=pasted)
            case Stop():
                if recorder is not None:
                    recorder.stopped(asyncio.get_running_loop().time())
                await call.stop_voice()
            case Muted(on=on):
                call.mute(on)
            case HangUp():
                call.hang_up()


def _at_home(path: Path) -> str:
    """The path as people write it."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
