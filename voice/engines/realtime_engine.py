"""The engine of a service that hears, thinks and speaks elsewhere (spec V5)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass

from pipecat.processors.frame_processor import FrameProcessor

from memory.records import Prefix, Turn
from voice.engines.protocol import Opening
from voice.engines.realtime_addresses import (
    address_fault,
    bare_address,
    host_of,
    is_loopback,
    is_open_to_listeners,
)
from voice.engines.realtime_core import RealtimeCore
from voice.engines.realtime_errors import SessionRefused
from voice.engines.realtime_records import Seen, Witness
from voice.engines.realtime_session import RealtimeSession
from voice.engines.realtime_sessions import GaveUp, Struggles
from voice.engines.realtime_socket import Address, Connect, Greeting, Service, websocket
from voice.engines.realtime_times import Pongs
from voice.engines.realtime_witness import seen_opening, witnessed
from voice.errors import EngineUnavailable
from voice.records import EngineDescription
from voice.tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Where one user's sessions are had, and how they shall be."""

    key: str
    url: str
    model: str
    voice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A service, or servers that speak its protocol. `setting` is its name in the settings,
    `costs` what its own host takes. `account` is what holds where the settings say nothing.
    `greeting` begins a session, with the handle of the one that it carries on. The rest as in
    `Service`."""

    name: str
    setting: str
    account: Account
    costs: str
    core: type[RealtimeCore]
    address: Callable[[Account], Address]
    greeting: Callable[[Prefix, Account, tuple[Tool, ...], str | None], Greeting]
    overlaps: bool
    pongs: Pongs
    lifetime_s: float


class RealtimeEngine:
    """An `Engine`. `gave_up` and `struggles` as in `Sessions`, `connected` and `spread` as
    in `Service`. `witness` sees what passes, but for the key."""

    def __init__(
        self,
        provider: Provider,
        *,
        key: str = "",
        url: str = "",
        model: str = "",
        voice: str = "",
    ) -> None:
        self.gave_up: GaveUp | None = None
        self.struggles: Struggles | None = None
        self.witness: Witness | None = None
        self.connected: Connect | None = None
        self.spread: Callable[[], float] = lambda: random.uniform(0.75, 1.25)  # noqa: S311
        self._provider = provider
        usual = provider.account
        self._account = Account(
            key=key,
            url=url or usual.url,
            model=model or usual.model,
            voice=voice or usual.voice,
        )
        self._session: RealtimeSession | None = None

    @property
    def description(self) -> EngineDescription:
        account = self._account
        host = host_of(account.url) or account.url
        here = is_loopback(host)
        exposed = is_open_to_listeners(account.url)
        return EngineDescription(
            name=self._provider.name,
            hears=f"{account.model}; this machine writes down what you say as well",
            thinks=account.model,
            speaks=f"{account.model}, voice {account.voice}",
            words_go_to=f"the server at {host}, on this machine" if here else host,
            costs="what that server costs" if here else self._provider.costs,
            warning=(
                f"The connection to {host} is not encrypted: others on the way can listen."
                if exposed
                else ""
            ),
            better="Use a wss:// address." if exposed else "",
        )

    async def open(self, opening: Opening) -> list[FrameProcessor]:
        provider, account = self._provider, self._account
        fault = address_fault(
            account.url, account.key, setting=provider.setting, name=provider.name
        )
        if fault and self.connected is None:
            raise EngineUnavailable(fault)
        if self.witness is not None:
            opening = self._seen(opening, self.witness)
        core = provider.core(
            prefix=opening.prefix, language=opening.language, earlier=opening.earlier
        )
        session = RealtimeSession(
            self._service(opening), core, opening, gave_up=self.gave_up, struggles=self.struggles
        )
        try:
            await session.begin()
        except SessionRefused as refused:
            raise EngineUnavailable(
                f"{provider.name} at {host_of(account.url)} can't be used. {refused.judgement.text}"
            ) from refused
        self._session = session
        return [session]

    def _service(self, opening: Opening) -> Service:
        provider, account = self._provider, self._account

        def greeting(prefix: Prefix, handle: str | None) -> Greeting:
            return provider.greeting(prefix, account, opening.tools, handle)

        connected = self.connected or websocket
        if self.witness is not None:
            connected = witnessed(connected, self.witness, account.key)
        return Service(
            name=provider.name,
            address=provider.address(account),
            connected=connected,
            spread=self.spread,
            greeting=greeting,
            overlaps=provider.overlaps,
            pongs=provider.pongs,
            lifetime_s=provider.lifetime_s,
        )

    def _seen(self, opening: Opening, witness: Witness) -> Opening:
        account = self._account
        about = {
            "name": self._provider.setting,
            "url": bare_address(account.url),
            "model": account.model,
            "voice": account.voice,
        }
        witness(Seen(at_s=asyncio.get_running_loop().time(), what="service", body=about))
        return seen_opening(opening, witness)

    def heard(self, turn: Turn) -> None:
        if self._session is not None:
            self._session.heard(turn)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.end()
