"""Gemini Live, over its own websocket."""

from __future__ import annotations

from memory.records import Prefix
from voice.engines.gemini_core import GeminiCore, GeminiSetup
from voice.engines.realtime_addresses import GEMINI_URL, with_query
from voice.engines.realtime_engine import Account, Provider
from voice.engines.realtime_errors import GEMINI
from voice.engines.realtime_socket import Address
from voice.engines.realtime_times import Pongs
from voice.tools import Tool

_LIFETIME_S = 600.0  # what a connection lasts, about; a GoAway comes a minute ahead
_EARNED = 3


def _address(account: Account) -> Address:
    # The key as the service wants it; whoever logs an address names its host only.
    url = with_query(account.url, key=account.key) if account.key else account.url
    return Address(url=url, errors=GEMINI, setting="gemini_url")


def _greeting(
    prefix: Prefix, account: Account, tools: tuple[Tool, ...], handle: str | None
) -> GeminiSetup:
    return GeminiSetup(prefix, model=account.model, voice=account.voice, tools=tools, handle=handle)


GEMINI_LIVE = Provider(
    name="Gemini Live",
    setting="gemini",
    account=Account(key="", url=GEMINI_URL, model="gemini-3.8-live", voice="Aoede"),
    costs="billed to your key, the whole conversation at each answer; without billing "
    "Google may use what is said to improve its products",
    core=GeminiCore,
    address=_address,
    greeting=_greeting,
    overlaps=False,  # a handle is refused while its last socket is open
    pongs=Pongs(needed=_EARNED),  # they were seen to take half a minute
    lifetime_s=_LIFETIME_S,
)
