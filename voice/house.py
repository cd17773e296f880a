"""What stands behind the page and the chat: models loaded once, one call at a time."""

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

from memory import Background, Llm, ReflectReport, ReviewReport, WipeReport, warm
from memory.errors import MemoryFault, WipeRefused
from memory.records import Language, Turn
from voice import weights
from voice.bringing import bring
from voice.call import Call, CallSetup, CallTransport
from voice.chat import Chat
from voice.collector import settle
from voice.config import Config
from voice.engines import choose
from voice.engines.background import EmbeddedLlm
from voice.engines.embedded import EmbeddedModel
from voice.engines.language_model import LanguageModel
from voice.engines.lasting import LastingEngine
from voice.engines.local import LocalEngine
from voice.engines.protocol import Engine
from voice.equipment import (
    HEARS,
    first_language,
    hearing_worker,
    look,
    model_of,
    speech_of,
    states_of,
    weights_of,
    wishes_of,
)
from voice.errors import CallInProgress, EngineUnavailable, VoiceFault
from voice.going_on import LastCall
from voice.hearing.asking import Asked
from voice.hearing.detector import silero
from voice.hearing.ears import Ears
from voice.hearing.kept import KeptHearing
from voice.hearing.listener import HearingSettings
from voice.learning import background_of, embedded_name
from voice.own_memory import now, open_memory
from voice.quiet import QuietHouse
from voice.recorder import Recorder
from voice.records import (
    CallEnded,
    CallEvent,
    EngineDescription,
    HandedOver,
    Notice,
    event_json,
)
from voice.remotes import remote_engine
from voice.speech.client import Speech
from voice.tending import Tending
from voice.transports.browser import BrowserTransport
from voice.transports.page_messages import FromPage, HangUp, Muted, Stop, Typed
from voice.transports.recording import RecordingProcessor
from voice.workers import Worker

log = logging.getLogger(__name__)

CLOSING_S = 10.0
WIPE_TRIES = 6
WIPE_AGAIN_S = 0.5
WARM_EVERY_S = 2.0


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
        self._loading = "Getting ready"
        self._fault = ""
        self._ready = asyncio.Event()
        self._loaded: asyncio.Task[None] | None = None
        self._choice: choose.Choice | None = None
        self._about: EngineDescription
        self._model: LanguageModel | None = None
        self._spare: LanguageModel | None = None
        self._hearing: Worker | None = None
        self._speech: Speech | None = None
        self._call: Call | None = None
        self._call_began_at: datetime | None = None
        self._last_call = LastCall()
        self._calling: asyncio.Task[None] | None = None
        self._chat: Chat | None = None
        self._chatting: asyncio.Task[None] | None = None
        self._chat_opening = asyncio.Lock()
        self._warming: asyncio.Task[None] | None = None
        self._quiet = QuietHouse()
        self._reviewer: EmbeddedModel | None = None
        self._background: Background | None = None
        self._reviewing: asyncio.Task[None] | None = None
        self.reviews = self.memory.task(
            model=self._background_model,
            quiet=self._quiet,
            now=now,
            learning=config.learning,
            reflects=config.reflect,
        )
        self.tending = Tending(config, self.memory, self._background_model, self._quiet)

    # Loading -------------------------------------------------------------------------

    async def load(self) -> None:
        """Bring what is missing, load the models, work through the prefix. Raises VoiceFault."""
        if self._loaded is None or (self._loaded.done() and self._fault):
            self._fault = ""
            self._loaded = asyncio.create_task(self._load())
        await asyncio.shield(self._loaded)

    async def _load(self) -> None:
        try:
            await self._choose()
            await asyncio.to_thread(self._bring)
            self._loading = "Loading the models"
            await self._start()
        except VoiceFault as fault:
            self._fault = str(fault)
            self.tending.start()  # folders and thoughts need none of these models
            raise
        self._loading = ""
        self._ready.set()
        self.learn()
        self.tending.start()
        if self._model is not None:
            self._warming = asyncio.create_task(self._keep_warm(self._model))

    def learn(self) -> None:
        """Review what was handed over, from now on, whenever it is quiet."""
        if self._reviewing is None:
            self._reviewing = asyncio.create_task(self.reviews.run())

    async def _background_model(self) -> Llm:
        if self._choice is None:
            await self._choose()
        if self._background is None:
            self._background = background_of(self._config, self._choice, self._embedded_llm)
        return await self._background.model()

    def _embedded_llm(self) -> Llm | None:
        """The built-in model: the one that answers, else one of its own where its weights are."""
        if isinstance(self._model, EmbeddedModel):
            return EmbeddedLlm(self._model)
        if self._reviewer is None:
            name = embedded_name(self._config, self._choice)
            if name is None:
                return None
            self._reviewer = EmbeddedModel(
                weights.path_of(name, self._config.weights),
                name=name,
                states=states_of(self._config),
            )
        return EmbeddedLlm(self._reviewer)

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
        self._config = config
        self.reviews.switch(learning=config.learning, reflects=config.reflect)
        self.tending.take(config)

    def _kept(self, event: CallEvent) -> None:
        """What a conversation left on disk is work for the reviews."""
        if isinstance(event, HandedOver | CallEnded):
            self.reviews.wake()

    async def _choose(self) -> None:
        found = await look(self._config)
        choice = choose.choose(wishes_of(self._config), found)
        self._about = choose.describe(choice, found, hears=HEARS)
        self._choice = choice
        log.info("engine: %s, %s", choice.kind, choice.model)

    def _bring(self) -> None:
        assert self._choice is not None
        wanted = ["whisper-base", *weights_of(self._choice)]

        def tell(name: str, step: str, done_bytes: int, total_bytes: int) -> None:
            del step
            share = 100 * done_bytes // max(1, total_bytes)
            self._loading = f"Bringing {name}: {share} %"

        bring(wanted, self._config.weights, tell)

    async def _start(self) -> None:
        assert self._choice is not None
        self._hearing = hearing_worker(self._config)
        self._speech = speech_of(self._config)
        self._model = model_of(self._config, self._choice)
        languages = self._config.languages
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(
                    self._hearing.call("warm", {"languages": self._in_order(languages)})
                )
                group.create_task(self._speech.warm(languages))
                group.create_task(asyncio.to_thread(warm))
                if self._config.vad == "silero":
                    group.create_task(asyncio.to_thread(silero))
                if self._model is not None:
                    group.create_task(self._model.prepare(self.memory.prefix().text))
        except* VoiceFault as faults:
            raise EngineUnavailable(" ".join(map(str, faults.exceptions))) from None
        await asyncio.to_thread(settle)

    async def _keep_warm(self, model: LanguageModel) -> None:
        """Work through a notebook that was edited before the next call has to wait for it."""
        seen = self.memory.prefix()
        while True:
            await asyncio.sleep(WARM_EVERY_S)
            now_there = await asyncio.to_thread(self.memory.prefix)
            if now_there.sha256 == seen.sha256 or not self._quiet.is_quiet:
                continue
            try:
                await model.prepare(now_there.text)
            except VoiceFault as fault:
                # The next call meets the same fault, and tells it.
                log.warning("the new prefix was not worked through: %s", type(fault).__name__)
            seen = now_there

    def _in_order(self, languages: tuple[Language, ...]) -> list[Language]:
        return sorted(languages, key=lambda language: language != self._language)

    def introduction(self) -> list[str]:
        """What answers, for the terminal."""
        about = self._description()
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

    def _description(self) -> EngineDescription:
        assert self._choice is not None
        if not self._choice.is_remote and self._speech is None:
            return self._about
        return self._engine().description

    # The page's door -----------------------------------------------------------------

    @property
    def config(self) -> Config:
        return self._config

    def status(self) -> dict[str, Any]:
        chosen = self._choice is not None
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
            "engine": asdict(self._description()) if chosen else None,
            "languages": list(self._config.languages),
            "language": self._language,
            "vault": _at_home(self._config.vault),
            "notebooks": notebooks,
            "ready": self._ready.is_set(),
            "loading": self._loading,
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
            "hints": [self._choice.hint] if self._choice and self._choice.hint else [],
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
        await self._load_for_chat()
        assert self._model is not None
        at = now()

        def told(event: CallEvent) -> None:
            self._kept(event)
            emit(event)

        chat = Chat(
            self._model,
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

    async def _load_for_chat(self) -> None:
        """Only the language model: a chat neither hears nor speaks."""
        if self._choice is None:
            await self._choose()
        assert self._choice is not None
        if self._model is None and self._loaded is not None:
            await self.load()
        if self._model is None:
            await asyncio.to_thread(bring, weights_of(self._choice), self._config.weights)
            self._model = model_of(self._config, self._choice)
        if self._model is None:
            raise EngineUnavailable(
                "The chosen engine only talks. To type, choose a language model: "
                "set JARVIS_ENGINE=local, or name one with JARVIS_LLM_URL."
            )

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
        for part in (
            self._background,
            self._reviewer,
            self._model,
            self._spare,
            self._speech,
            self._hearing,
        ):
            if part is not None:
                await part.close()
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
        worker = self._hearing
        assert worker is not None
        at = now()
        session = await asyncio.to_thread(self.memory.session)
        engine = self._engine()
        name = self._name("call", at)
        recorder = self._recorder(name, engine, transport)
        hearing: Asked = worker
        if recorder is not None:
            hearing = KeptHearing({}, lambda: worker, recorder.answered)
            if isinstance(engine, LastingEngine):
                engine.watched(recorder.service)
        ears = Ears(
            hearing,
            HearingSettings(judge=self._config.vad),
            self._config.languages,
            self._language,
        )
        if recorder is not None:
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

    def _engine(self) -> Engine:
        assert self._choice is not None
        if self._choice.is_remote:
            return LastingEngine(remote_engine(self._config, self._choice), self._spare_engine)
        assert self._model is not None
        return self._local_engine(self._model, self._about)

    async def _spare_engine(self) -> Engine:
        """What answers when the service can't: what would without it, if it is here already."""
        config = self._config.model_copy(update={"engine": "local"})
        found = await look(config)
        choice = choose.choose(wishes_of(config), found)
        for name in weights_of(choice):
            if weights.state_of(name, config.weights).state != "present":
                raise EngineUnavailable(
                    f"The built-in model is not on this computer: `jarvis models --bring {name}` "
                    "brings it, for the next time."
                )
        if self._spare is None:
            self._spare = model_of(config, choice)
        assert self._spare is not None
        prefix = await asyncio.to_thread(self.memory.prefix)
        await self._spare.prepare(prefix.text)
        return self._local_engine(self._spare, choose.describe(choice, found, hears=HEARS))

    def _local_engine(self, model: LanguageModel, about: EngineDescription) -> LocalEngine:
        assert self._speech is not None
        return LocalEngine(
            model,
            self._speech,
            languages=self._config.languages,
            description=about,
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
