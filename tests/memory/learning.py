"""A house that learns, for tests: a vault, a scripted model and a virtual clock."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from memory.asking import Alone
from memory.conversations import Conversation
from memory.errors import ModelUnavailable
from memory.events import EventLog
from memory.llm.protocol import Llm
from memory.llm.scripted import Answer, ScriptedLlm
from memory.notebooks.ledger import Ledger
from memory.records import Origin, Trigger, Turn
from memory.reviews import Reviews
from memory.task import MemoryTask
from memory.vault import Vault
from tests.memory.stores import OPENED
from voice.virtual_time import VirtualLoop

T = TypeVar("T")
NOON = datetime.fromisoformat("2026-12-02T12:00:00+01:00")

VEGAN = "I'm vegan by the way"
CITY = "I live in Hamburg with my two cats"
ORDER = "set a timer for ten minutes"


def changes(*proposed: dict[str, Any]) -> str:
    return json.dumps({"changes": proposed})


def add(text: str, quote: str, notebook: str = "USER.md") -> dict[str, Any]:
    return {"operation": "add", "notebook": notebook, "entry": None, "text": text, "quote": quote}


IS_VEGAN = add("I'm vegan.", VEGAN)
IN_HAMBURG = add("I live in Hamburg with my two cats.", CITY)


class Floor:
    """The quiet of one conversation: somebody has the floor, or nobody."""

    def __init__(self, taken: bool = False) -> None:
        self._free, self._taken = asyncio.Event(), asyncio.Event()
        self.take() if taken else self.leave()

    def take(self) -> None:
        self._free.clear()
        self._taken.set()

    def leave(self) -> None:
        self._taken.clear()
        self._free.set()

    async def wait(self) -> None:
        await self._free.wait()

    async def broken(self) -> None:
        await self._taken.wait()


class House:
    """A vault, a state folder and a model, on a virtual clock that begins at noon."""

    def __init__(self, folder: Path, *answers: Answer, model: ScriptedLlm | None = None) -> None:
        self.state = folder / "state"
        vault = Vault(folder / "vault")
        vault.check(create=True)
        self.page = vault.folder / "USER.md"
        self.ledger = Ledger(vault, self.state)
        self.reviews = Reviews(self.state)
        self.model = model or ScriptedLlm(answers)
        self.loop = asyncio.get_running_loop()
        self.noon_s = self.loop.time()
        self.events = EventLog(self.state, self.now)
        OPENED.callback(self.events.close)

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.loop.time() - self.noon_s)

    def task(self, **others: Any) -> MemoryTask:
        async def model() -> Llm:
            return self.model

        settings: dict[str, Any] = {
            "state": self.state,
            "ledger": self.ledger,
            "events": self.events,
            "model": model,
            "quiet": Alone(),
            "now": self.now,
        }
        return MemoryTask(**settings | others)

    def says(
        self,
        *texts: str,
        name: str = "c1",
        origin: Origin = "spoken",
        trigger: Trigger = "hang-up",
        close: bool = True,
    ) -> Conversation:
        """A conversation of these sentences, each answered with "Okay.", handed over."""
        conversation = Conversation.begin(self.state, name, "call", self.now())
        go_on(conversation, texts, self.now(), origin)
        conversation.hand_over(trigger, self.now())
        if close:
            conversation.close()
        return conversation

    @property
    def entries(self) -> tuple[str, ...]:
        return self.ledger.entries()["USER.md"]

    def logged(self, kind: Any, *fields: str) -> list[tuple[Any, ...]]:
        return [tuple(e.data.get(f) for f in fields) for e in self.events.events(kind)]

    @property
    def left(self) -> list[str]:
        return sorted(str(p.relative_to(self.state)) for p in self.state.rglob("*.jsonl"))


def go_on(
    conversation: Conversation, texts: Sequence[str], at: datetime, origin: Origin = "spoken"
) -> None:
    index = conversation.next_index
    for text in texts:
        for speaker, said in (("user", text), ("assistant", "Okay.")):
            began_at = at + timedelta(seconds=index)
            conversation.observe(
                Turn(
                    conversation=conversation.id,
                    index=index,
                    speaker=speaker,  # type: ignore[arg-type]
                    text=said,
                    language="en",
                    began_at=began_at,
                    ended_at=began_at + timedelta(seconds=1),
                    origin=origin if speaker == "user" else "spoken",
                )
            )
            index += 1


def run(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main())


async def for_a_while(task: MemoryTask, **time: float) -> None:
    """Let the task run for so long, on the virtual clock."""
    try:
        async with asyncio.timeout(timedelta(**time).total_seconds()):
            await task.run()
    except TimeoutError:
        return


NONSENSE = {
    "prose": "The user seems to be vegan. I would remember that!",
    "half": changes(IS_VEGAN)[:-20],
    "a thousand": changes(*[IS_VEGAN] * 1000),
    "a megabyte": json.dumps({"changes": [add("vegan " * 170_000, VEGAN)]}),
    "another language": "这位用户是素食主义者，我建议记住这一点。",
    "empty": "",
    "spaces": " \n ",
    "brackets": "[" * 5000,
}


def gone(retry_after_s: float | None = None) -> ModelUnavailable:
    return ModelUnavailable("The model is away. Start it.", retry_after_s=retry_after_s)
