"""OpenAI Realtime, and any server that speaks its protocol."""

from __future__ import annotations

from memory.records import Prefix
from voice.engines.openai_core import OpenAICore, OpenAIGreeting, settings
from voice.engines.realtime_addresses import OPENAI_URL, with_query
from voice.engines.realtime_engine import Account, Provider
from voice.engines.realtime_errors import OPENAI
from voice.engines.realtime_socket import Address
from voice.engines.realtime_times import Pongs
from voice.tools import Tool

_LIFETIME_S = 3_600.0  # what a session lasts; the service says so itself in `expires_at`


def _address(account: Account) -> Address:
    return Address(
        url=with_query(account.url, model=account.model),
        headers={"Authorization": f"Bearer {account.key}"} if account.key else {},
        errors=OPENAI,
        setting="openai_url",
    )


def _greeting(
    prefix: Prefix, account: Account, tools: tuple[Tool, ...], handle: str | None
) -> OpenAIGreeting:
    del handle  # there are none: a new session is told everything
    return OpenAIGreeting(settings(prefix, model=account.model, voice=account.voice, tools=tools))


OPENAI_REALTIME = Provider(
    name="OpenAI Realtime",
    setting="openai",
    account=Account(key="", url=OPENAI_URL, model="gpt-realtime-2.1", voice="marin"),
    costs="billed to your key, the whole conversation at each answer",
    core=OpenAICore,
    address=_address,
    greeting=_greeting,
    overlaps=True,
    pongs=Pongs(),
    lifetime_s=_LIFETIME_S,
)
