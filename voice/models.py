"""The models of a house: chosen once, brought and loaded once, let go at the end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from memory import Background, Llm, Memory, warm
from memory.records import Language
from voice import weights
from voice.bringing import bring
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
    hearing_worker,
    look,
    model_of,
    speech_of,
    states_of,
    weights_of,
    wishes_of,
)
from voice.errors import EngineUnavailable, VoiceFault
from voice.hearing.detector import silero
from voice.learning import background_of, embedded_name
from voice.records import EngineDescription
from voice.remotes import remote_engine
from voice.speech.client import Speech
from voice.workers import Worker

log = logging.getLogger(__name__)

WARM_EVERY_S = 2.0


class Models:
    """What hears, thinks and speaks. `config` may be replaced: what is there already stays.

    `loading` says in a few words what is waited for, "" once all is there.
    """

    def __init__(self, config: Config, memory: Memory) -> None:
        self.config = config
        self.loading = "Getting ready"
        self.choice: choose.Choice | None = None
        self.hearing: Worker | None = None
        self.language_model: LanguageModel | None = None
        self._memory = memory
        self._about: EngineDescription
        self._speech: Speech | None = None
        self._spare: LanguageModel | None = None
        self._reviewer: EmbeddedModel | None = None
        self._background: Background | None = None

    # Loading -------------------------------------------------------------------------

    async def load(self, language: Language) -> None:
        """Bring what is missing, load the models, that of `language` first, and work through the
        prefix. Raises VoiceFault."""
        choice = await self._choose()
        await asyncio.to_thread(self._bring, choice)
        self.loading = "Loading the models"
        await self._start(choice, language)
        self.loading = ""

    async def load_for_chat(self) -> LanguageModel:
        """Only the language model: a chat neither hears nor speaks. Raises VoiceFault."""
        choice = self.choice or await self._choose()
        if self.language_model is None:
            await asyncio.to_thread(bring, weights_of(choice), self.config.weights)
            self.language_model = model_of(self.config, choice)
        if self.language_model is None:
            raise EngineUnavailable(
                "The chosen engine only talks. To type, choose a language model: "
                "set JARVIS_ENGINE=local, or name one with JARVIS_LLM_URL."
            )
        return self.language_model

    async def _choose(self) -> choose.Choice:
        found = await look(self.config)
        choice = choose.choose(wishes_of(self.config), found)
        self._about = choose.describe(choice, found, hears=HEARS)
        self.choice = choice
        log.info("engine: %s, %s", choice.kind, choice.model)
        return choice

    def _bring(self, choice: choose.Choice) -> None:
        wanted = ["whisper-base", *weights_of(choice)]

        def tell(name: str, step: str, done_bytes: int, total_bytes: int) -> None:
            del step
            share = 100 * done_bytes // max(1, total_bytes)
            self.loading = f"Bringing {name}: {share} %"

        bring(wanted, self.config.weights, tell)

    async def _start(self, choice: choose.Choice, language: Language) -> None:
        self.hearing = hearing_worker(self.config)
        self._speech = speech_of(self.config)
        self.language_model = model_of(self.config, choice)
        languages = self.config.languages
        first = sorted(languages, key=lambda each: each != language)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.hearing.call("warm", {"languages": first}))
                group.create_task(self._speech.warm(languages))
                group.create_task(asyncio.to_thread(warm))
                if self.config.vad == "silero":
                    group.create_task(asyncio.to_thread(silero))
                if self.language_model is not None:
                    group.create_task(self.language_model.prepare(self._memory.prefix().text))
        except* VoiceFault as faults:
            raise EngineUnavailable(" ".join(map(str, faults.exceptions))) from None
        await asyncio.to_thread(settle)

    async def keep_warm(self, is_quiet: Callable[[], bool]) -> None:
        """Work through a notebook that was edited before the next call has to wait for it."""
        model = self.language_model
        if model is None:
            return
        seen = self._memory.prefix()
        while True:
            await asyncio.sleep(WARM_EVERY_S)
            now_there = await asyncio.to_thread(self._memory.prefix)
            if now_there.sha256 == seen.sha256 or not is_quiet():
                continue
            try:
                await model.prepare(now_there.text)
            except VoiceFault as fault:
                # The next call meets the same fault, and tells it.
                log.warning("the new prefix was not worked through: %s", type(fault).__name__)
            seen = now_there

    async def close(self) -> None:
        for part in (
            self._background,
            self._reviewer,
            self.language_model,
            self._spare,
            self._speech,
            self.hearing,
        ):
            if part is not None:
                await part.close()

    # What answers --------------------------------------------------------------------

    def description(self) -> EngineDescription:
        """Once it is chosen."""
        assert self.choice is not None
        if not self.choice.is_remote and self._speech is None:
            return self._about
        return self.engine().description

    def engine(self) -> Engine:
        """For one call, once all is loaded."""
        assert self.choice is not None
        if self.choice.is_remote:
            return LastingEngine(remote_engine(self.config, self.choice), self._spare_engine)
        assert self.language_model is not None
        return self._local_engine(self.language_model, self._about)

    async def _spare_engine(self) -> Engine:
        """What answers when the service can't: what would without it, if it is here already."""
        config = self.config.model_copy(update={"engine": "local"})
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
        prefix = await asyncio.to_thread(self._memory.prefix)
        await self._spare.prepare(prefix.text)
        return self._local_engine(self._spare, choose.describe(choice, found, hears=HEARS))

    def _local_engine(self, model: LanguageModel, about: EngineDescription) -> LocalEngine:
        assert self._speech is not None
        return LocalEngine(
            model,
            self._speech,
            languages=self.config.languages,
            description=about,
        )

    # What learns ---------------------------------------------------------------------

    async def background(self) -> Llm:
        """The background model of the moment. Raises ModelUnavailable."""
        if self.choice is None:
            await self._choose()
        if self._background is None:
            self._background = background_of(self.config, self.choice, self._embedded_llm)
        return await self._background.model()

    def _embedded_llm(self) -> Llm | None:
        """The built-in model: the one that answers, else one of its own where its weights are."""
        if isinstance(self.language_model, EmbeddedModel):
            return EmbeddedLlm(self.language_model)
        if self._reviewer is None:
            name = embedded_name(self.config, self.choice)
            if name is None:
                return None
            self._reviewer = EmbeddedModel(
                weights.path_of(name, self.config.weights),
                name=name,
                states=states_of(self.config),
            )
        return EmbeddedLlm(self._reviewer)
