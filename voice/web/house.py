"""What stands behind the page, as one Protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, Protocol

from memory import Memory, ReflectReport, WipeReport
from voice.config import Config


class House(Protocol):
    @property
    def memory(self) -> Memory:
        """The user's memory; for any thread."""
        ...

    @property
    def config(self) -> Config:
        """The settings that it runs with."""
        ...

    def status(self) -> dict[str, Any]:
        """As JSON: "engine" (an EngineDescription's fields, None until one is chosen), "languages" (["en", …]),
        "language", "vault" (the user's folder, as text), "notebooks" ({"USER.md":
        {"entries": n, "chars": n}, …}), "ready", "loading" (what is being loaded, in words),
        "call" (None or {"began_at": ISO time, "recorded": bool}), "notices" ([{"kind", "text"}])
        and "hints" (sentences)."""
        ...

    async def offer(
        self, sdp: str, type: str, take_over: bool, goes_on: datetime | None
    ) -> dict[str, str]:
        """Begin a call and give the answer, {"sdp", "type"}.

        `goes_on` names the page's own call whose line broke, by when it began: it ends, if it
        still runs, and the new one is told what was said there. Raises CallInProgress when
        another runs and `take_over` is False, OfferInvalid, or another VoiceFault when nothing
        can answer.
        """
        ...

    def chat(self, text: str, pasted: bool) -> AsyncIterator[dict[str, Any]]:
        """One typed turn without a call: the events that it causes, as `event_json` gives them."""
        ...

    def take(self, config: Config) -> None:
        """Go on with these settings from the next call."""
        ...

    async def reflect(self) -> ReflectReport:
        """A pass over the event log, now; it gives way to conversations."""
        ...

    async def wipe(self) -> WipeReport:
        """Clear everything that Jarvis knows. Raises WipeRefused while a call runs."""
        ...

    async def think(self) -> str:
        """Look for an insight, now: what came of it, as a sentence."""
        ...

    async def hang_up(self) -> None:
        """End the call, if one runs."""
        ...
