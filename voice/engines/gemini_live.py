"""Gemini Live, over its own websocket (spec V5)."""

from __future__ import annotations

from pipecat.processors.frame_processor import FrameProcessor

from memory.records import Prefix, Turn
from voice.engines.gemini_core import GeminiCore, GeminiSetup
from voice.engines.protocol import Opening
from voice.engines.realtime_addresses import (
    GEMINI_URL,
    address_fault,
    host_of,
    is_loopback,
    with_query,
)
from voice.engines.realtime_errors import GEMINI, SessionRefused
from voice.engines.realtime_session import GaveUp, RealtimeSession, Service, Struggles
from voice.engines.realtime_socket import Address
from voice.errors import EngineUnavailable
from voice.records import EngineDescription

LIFETIME_S = 600.0
"""What a connection lasts, about; a GoAway comes a minute ahead."""


class GeminiLiveEngine:
    """An `Engine`. `gave_up` and `struggles` as in `RealtimeSession`."""

    def __init__(
        self,
        *,
        key: str = "",
        url: str = GEMINI_URL,
        model: str = "gemini-3.8-live",
        voice: str = "Aoede",
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
        here = is_loopback(host)
        return EngineDescription(
            name="Gemini Live",
            hears=f"{self._model}; this machine writes down what you say as well",
            thinks=self._model,
            speaks=f"{self._model}, voice {self._voice}",
            words_go_to=f"the server at {host}, on this machine" if here else host,
            costs="what that server costs"
            if here
            else "billed to your key, the whole conversation at each answer; without billing "
            "Google may use what is said to improve its products",
        )

    async def open(self, opening: Opening) -> list[FrameProcessor]:
        fault = address_fault(self._url, self._key, setting="gemini", name="Gemini Live")
        if fault:
            raise EngineUnavailable(fault)
        core = GeminiCore(prefix=opening.prefix, language=opening.language, earlier=opening.earlier)
        service = self._service(opening, core)
        session = RealtimeSession(
            service, core, opening, gave_up=self.gave_up, struggles=self.struggles
        )
        try:
            await session.begin()
        except SessionRefused as refused:
            raise EngineUnavailable(
                f"Gemini Live at {host_of(self._url)} can't be used. {refused.judgement.text}"
            ) from refused
        self._session = session
        return [session]

    def _service(self, opening: Opening, core: GeminiCore) -> Service:
        def setup(prefix: Prefix) -> GeminiSetup:
            return GeminiSetup(
                prefix,
                model=self._model,
                voice=self._voice,
                tools=opening.tools,
                handle=core.handle,
            )

        return Service(
            name="Gemini Live",
            address=Address(
                # As the service wants it; whoever logs an address names its host only.
                url=with_query(self._url, key=self._key) if self._key else self._url,
                errors=GEMINI,
                setting="gemini_url",
            ),
            greeting=setup,
            overlaps=False,  # a handle is refused while its last socket is open
            pings=False,  # its pongs were seen to take half a minute
            lifetime_s=LIFETIME_S,
        )

    def heard(self, turn: Turn) -> None:
        if self._session is not None:
            self._session.heard(turn)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.end()
