"""OpenAI Realtime, and any server that speaks its protocol (spec V5)."""

from __future__ import annotations

from pipecat.processors.frame_processor import FrameProcessor

from memory.records import Prefix, Turn
from voice.engines.openai_core import OpenAICore, OpenAIGreeting, settings
from voice.engines.protocol import Opening
from voice.engines.realtime_addresses import (
    OPENAI_URL,
    address_fault,
    host_of,
    is_loopback,
    is_open_to_listeners,
    with_query,
)
from voice.engines.realtime_errors import OPENAI, SessionRefused
from voice.engines.realtime_session import GaveUp, RealtimeSession, Service, Struggles
from voice.engines.realtime_socket import Address
from voice.errors import EngineUnavailable
from voice.records import EngineDescription

LIFETIME_S = 3_600.0
"""What a session lasts; the service says so itself in `expires_at`."""


class OpenAIRealtimeEngine:
    """An `Engine`. `gave_up` and `struggles` as in `RealtimeSession`."""

    def __init__(
        self,
        *,
        key: str = "",
        url: str = OPENAI_URL,
        model: str = "gpt-realtime-2.1",
        voice: str = "marin",
    ) -> None:
        self.gave_up: GaveUp | None = None
        self.struggles: Struggles | None = None
        self._key = key
        self._url = url
        self._model = model
        self._voice = voice
        self._session: RealtimeSession | None = None

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
        fault = address_fault(self._url, self._key, setting="openai", name="OpenAI Realtime")
        if fault:
            raise EngineUnavailable(fault)
        core = OpenAICore(prefix=opening.prefix, language=opening.language, earlier=opening.earlier)
        session = RealtimeSession(
            self._service(opening), core, opening, gave_up=self.gave_up, struggles=self.struggles
        )
        try:
            await session.begin()
        except SessionRefused as refused:
            raise EngineUnavailable(
                f"OpenAI Realtime at {host_of(self._url)} can't be used. {refused.judgement.text}"
            ) from refused
        self._session = session
        return [session]

    def _service(self, opening: Opening) -> Service:
        def greeting(prefix: Prefix) -> OpenAIGreeting:
            return OpenAIGreeting(
                settings(prefix, model=self._model, voice=self._voice, tools=opening.tools)
            )

        return Service(
            name="OpenAI Realtime",
            address=Address(
                url=with_query(self._url, model=self._model),
                headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
                errors=OPENAI,
                setting="openai_url",
            ),
            greeting=greeting,
            overlaps=True,
            pings=True,
            lifetime_s=LIFETIME_S,
        )

    def heard(self, turn: Turn) -> None:
        if self._session is not None:
            self._session.heard(turn)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.end()
