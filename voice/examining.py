"""The doctor in a process of its own, for a house that has calls to carry: to load and to ask
every part would hold the call's loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

from voice.config import Config, load
from voice.errors import SettingInvalid
from voice.workers import Header, Message, Worker, serve


async def findings_of(config: Config) -> list[dict[str, Any]]:
    """What `examine` finds without models, as JSON. Raises WorkerFailed."""
    worker = Worker(__name__, title="The doctor")
    try:
        _, found = await worker.call("examine", {"settings": config.model_dump(mode="json")})
    finally:
        await worker.close()
    findings: list[dict[str, Any]] = json.loads(found)
    return findings


def _examine(header: Header, _: bytes) -> Iterator[Message]:
    from voice.doctor import Finding, examine  # not in the house's own process

    try:
        found = asyncio.run(examine(load(header["settings"]), models=False))
    except SettingInvalid as fault:  # config.toml, since the house began
        found = [Finding(subject="Settings", level="broken", text=str(fault))]
    yield {}, json.dumps([each.as_json() for each in found]).encode()


if __name__ == "__main__":
    serve({"examine": _examine})
