"""The typed conversation (V3): the same memory and the same rules as a call."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from datetime import datetime

from memory import Conversation, Memory, Session
from memory.records import Language, Origin, Speaker, Turn
from voice.engines.dialogue import Dialogue
from voice.engines.language_model import LanguageModel
from voice.errors import VoiceFault
from voice.keeping import Keeper, news_of
from voice.looking import Looking
from voice.records import (
    CallEvent,
    ExtractsShown,
    NotesFound,
    Notice,
    PartialText,
    State,
    StateChanged,
    TokensCounted,
    TurnAdded,
)
from voice.requests import Requests
from voice.turns import note_turn


class Chat:
    """One typed conversation. `run` beside it; `say` for each line; `end` once."""

    def __init__(
        self,
        model: LanguageModel,
        memory: Memory,
        session: Session,
        conversation: Conversation,
        *,
        now: Callable[[], datetime],
        languages: Sequence[Language],
        language: Language,
        emit: Callable[[CallEvent], None] = lambda _: None,
        answering: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._answering = answering
        self._now = now
        self._language = language
        self._model = model
        self._session = session
        self._dialogue = Dialogue(
            model,
            prefix=session.prefix,
            now=now,
            news=news_of(session),
            languages=languages,
            language=language,
        )
        self._conversation = conversation
        self._keeper = Keeper(conversation, memory.events, now=now, emit=emit)
        self._requests = Requests(memory, session, conversation.id, now=now, emit=self._happened)
        self._looking = Looking(memory, notify=self._happened)
        self._happenings: list[CallEvent] = []
        self._next = 0
        self._spoken: Counter[Speaker] = Counter()
        self._busy = asyncio.Lock()
        self._began_s = asyncio.get_running_loop().time()

    async def open(self) -> None:
        """Load the model; raises EngineUnavailable or WorkerFailed."""
        await self._dialogue.open()
        self._keeper.began("chat", self._model.name, self._language, self._session.prefix)
        self._state("listening")

    async def run(self) -> None:
        """Writes, and watches for five quiet minutes, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keeper.run())
            group.create_task(self._watch_silence())

    async def say(self, text: str, *, pasted: bool = False) -> AsyncGenerator[CallEvent, None]:
        """One turn: the events that it causes, as in a call. Closing it early cuts the answer."""
        async with self._busy:
            with self._answering():
                async with aclosing(self._said(text, "pasted" if pasted else "typed")) as events:
                    async for event in events:
                        yield event

    async def _said(self, text: str, origin: Origin) -> AsyncGenerator[CallEvent, None]:
        began_at = self._now()
        yield self._turn("user", text, began_at, origin=origin)
        yield self._state("thinking")
        told = await self._requests.turn(text, origin)
        happenings, self._happenings = self._happenings, []
        for event in happenings:
            yield event
        looked = told.found if told else await self._looking(text, patient=True)
        found = self._dialogue.fitted(looked)
        if found is not None:
            yield self._shown(found)
        given, whole, answer_at = "", False, None
        try:
            notes = found.block if found else ""
            async with aclosing(self._dialogue.reply(text, told, notes)) as pieces:
                async for piece in pieces:
                    answer_at = answer_at or self._now()
                    given += piece
                    yield PartialText(speaker="assistant", text=given.strip())
            whole = True
        except VoiceFault as fault:
            self._keeper.engine_fault(self._model.name, fault)
            yield Notice(kind="stop", text=str(fault))
        finally:
            # Kept before the next event goes out: whoever reads may leave here.
            added = self._answer(given.strip(), answer_at, whole)
        if added is not None:
            yield added
        yield self._state("listening")

    def _answer(self, text: str, began_at: datetime | None, whole: bool) -> TurnAdded | None:
        if began_at is None or not text:
            return None
        added = self._turn("assistant", text, began_at, origin="typed", interrupted=not whole)
        # Nobody counted tokens, but the prefix was in a request: so were its lessons.
        asked = TokensCounted(
            index=added.turn.index,
            prompt_tokens=None,
            cached_tokens=None,
            prefix_sha256=self._session.prefix.sha256,
        )
        self._keeper.tokens(asked, self._model.name)
        return added

    def _shown(self, found: NotesFound) -> ExtractsShown:
        """What the notes say is kept in front of the answer, with the origin that proves nothing."""
        index = self._next
        turn = note_turn(found.extracts, self._conversation.id, index, self._now())
        self._next += 1
        self._keeper.turn(turn)
        return ExtractsShown(index=index + 1, extracts=found.extracts, turn=turn)

    def _happened(self, event: CallEvent) -> None:
        self._happenings.append(event)

    async def end(self) -> None:
        self._keeper.hand_over("hang-up")
        lasted_s = asyncio.get_running_loop().time() - self._began_s
        turns, user_turns = self._spoken.total(), self._spoken["user"]
        self._keeper.ended("hang-up", lasted_s, turns=turns, user_turns=user_turns)
        await self._keeper.settled()
        await self._looking.close()
        await asyncio.to_thread(self._conversation.close)

    def _turn(
        self,
        speaker: Speaker,
        text: str,
        began_at: datetime,
        *,
        origin: Origin,
        interrupted: bool = False,
    ) -> TurnAdded:
        turn = Turn(
            conversation=self._conversation.id,
            index=self._next,
            speaker=speaker,
            text=text,
            language=None,
            began_at=began_at,
            ended_at=self._now(),
            origin=origin,
            interrupted=interrupted,
        )
        self._next += 1
        self._spoken[speaker] += 1
        self._keeper.turn(turn)
        return TurnAdded(turn=turn)

    def _state(self, state: State) -> StateChanged:
        self._keeper.state_changed(state)
        return StateChanged(state=state)

    async def _watch_silence(self) -> None:
        while True:
            await self._keeper.silence()
            self._keeper.hand_over("silence")
