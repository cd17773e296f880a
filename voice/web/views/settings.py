"""The settings that a person changes, and what is missing with its remedy.

GET  /api/settings    what they are, what they may be, what the environment says
POST /api/settings    {name: value, …} → the same; written to config.toml
POST /api/doctor      {} → findings; the models themselves are not loaded a second time
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from memory.records import LANGUAGES, Language
from voice.config import Config, config_file
from voice.errors import SettingInvalid
from voice.examining import findings_of
from voice.settings import change, choices, named_by_environment
from voice.web.aside import Aside
from voice.web.house import House
from voice.web.requests import Body, Empty, read

CHOSEN = ("engine", "model", "voice_de", "voice_es", "vad")
WRITTEN = ("llm_url", "llm_model", "openai_voice", "gemini_voice")
SWITCHED = ("learning", "reflect", "think")
SECRET = ("openai_key", "gemini_key")
NEXT_CALL = ("languages", "language", "record", "vad")
SOON = (*SWITCHED, *NEXT_CALL)
"""These count at once or from the next call; the others when Jarvis starts anew."""
RECORDINGS = "recordings"

_SHOWN = (*CHOSEN, *WRITTEN, *SWITCHED, *SECRET, "languages", "language", "vault", "record")


class _Settings(Body):
    engine: str | None = Field(default=None, max_length=40)
    model: str | None = Field(default=None, max_length=40)
    voice_de: str | None = Field(default=None, max_length=40)
    voice_es: str | None = Field(default=None, max_length=40)
    vad: str | None = Field(default=None, max_length=40)
    llm_url: str | None = Field(default=None, max_length=500)
    llm_model: str | None = Field(default=None, max_length=200)
    openai_voice: str | None = Field(default=None, max_length=100)
    gemini_voice: str | None = Field(default=None, max_length=100)
    openai_key: str | None = Field(default=None, max_length=500)
    gemini_key: str | None = Field(default=None, max_length=500)
    learning: bool | None = None
    reflect: bool | None = None
    think: bool | None = None
    record: bool | None = None
    languages: list[Language] | None = None
    language: Literal["auto", "en", "de", "es"] | None = None
    vault: str | None = Field(default=None, max_length=1_000)


def shown(running: Config, began: Config, written: Config) -> dict[str, Any]:
    """`running` are the settings in use, flags included; `began` what the file said at first,
    `written` what it says now."""
    changed = {name for name in _SHOWN if getattr(written, name) != getattr(began, name)}
    old, new = running.shown(), written.shown()
    values = {name: (new if name in changed else old)[name] for name in _SHOWN}
    return {
        "file": str(config_file()),
        "values": {**values, "record": bool(values["record"])},
        "choices": {name: choices(name) for name in CHOSEN},
        "languages": list(LANGUAGES),
        "fixed": [name for name in _SHOWN if named_by_environment(name)],
        "recordings": str(written.record or written.state / RECORDINGS),
        "waits": sorted(changed - set(SOON)),
    }


def _vault(text: str) -> str:
    """The folder as it is written; it must be there. Raises SettingInvalid."""
    path = Path(text.strip()).expanduser()
    if not text.strip() or not path.is_absolute() or not path.is_dir():
        raise SettingInvalid(
            f"“{text.strip()}” is no folder on this computer. Make it first, then name it with its "
            "whole path, as in ~/Notes."
        )
    return text.strip()


def wanted(asked: _Settings, running: Config) -> dict[str, Any]:
    """What goes into the file; None takes a setting out. Raises SettingInvalid."""
    values: dict[str, Any] = asked.model_dump(exclude_unset=True)
    if "record" in values:
        on = values["record"]
        values["record"] = str(running.state / RECORDINGS) if on else None
    if values.get("language") == "auto":
        values["language"] = None
    if values.get("vault") is not None:
        values["vault"] = _vault(values["vault"])
    return values


def routes(house: House, aside: Aside) -> APIRouter:
    router = APIRouter()
    at_first: list[Config] = []

    def began() -> Config:
        if not at_first:
            at_first.append(change({}))
        return at_first[0]

    @router.get("/api/settings")
    async def settings() -> Response:
        return await aside.json(lambda: shown(house.config, began(), change({})))

    @router.post("/api/settings")
    async def save(request: Request) -> Response:
        body = await read(request, _Settings)
        running = house.config
        await aside.run(began)
        written = await aside.run(lambda: change(wanted(body, running)))
        house.take(running.model_copy(update={name: getattr(written, name) for name in SOON}))
        return await aside.json(lambda: shown(house.config, began(), written))

    @router.post("/api/doctor")
    async def doctor(request: Request) -> Response:
        await read(request, Empty)
        found = await findings_of(house.config)
        return await aside.json(lambda: found)

    return router
