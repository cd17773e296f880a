"""What the page, and the terminal in its place, sends besides sound."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

log = logging.getLogger(__name__)

_TYPED_CHARS = 8_000
_MESSAGE_CHARS = 65_536


@dataclass(frozen=True, slots=True)
class Typed:
    """A turn typed in mid-call; `pasted` when it was put in from the clipboard."""

    text: str
    pasted: bool


@dataclass(frozen=True, slots=True)
class HangUp:
    pass


@dataclass(frozen=True, slots=True)
class Stop:
    """Be quiet now: the answer ends here, as after a barge-in."""


@dataclass(frozen=True, slots=True)
class Muted:
    """The page sends silence from now on, or the microphone again."""

    on: bool


FromPage = Typed | HangUp | Stop | Muted


class _Message(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", str_strip_whitespace=True)


class _Typed(_Message):
    type: Literal["typed"]
    text: str = Field(min_length=1, max_length=_TYPED_CHARS)
    pasted: bool = False


class _HangUp(_Message):
    type: Literal["hang_up"]


class _Stop(_Message):
    type: Literal["stop"]


class _Mute(_Message):
    type: Literal["mute"]
    on: bool


class Played(_Message):
    """`rtp` is the RTP timestamp that plays at `at_ms` of the page's clock; `latency_ms` is what
    the device adds behind it. `cancels`: the microphone's echo cancellation is on."""

    type: Literal["played"]
    ms: float = Field(ge=0, allow_inf_nan=False)
    rtp: int | None = Field(default=None, ge=0, lt=1 << 32)
    at_ms: float = Field(default=0, ge=0, allow_inf_nan=False)
    latency_ms: float = Field(default=0, ge=0, le=5_000, allow_inf_nan=False)
    cancels: bool = False


class Ping(_Message):
    type: Literal["ping"]


_inbound: TypeAdapter[_Typed | _HangUp | _Stop | _Mute | Played | Ping] = TypeAdapter(
    Annotated[
        _Typed | _HangUp | _Stop | _Mute | Played | Ping,
        Field(discriminator="type"),
    ]
)


def read(message: str | bytes) -> FromPage | Played | Ping | None:
    """A message off the page's channel; None, and a line in the log, where it is none of ours."""
    if not isinstance(message, str) or len(message) > _MESSAGE_CHARS:
        log.warning("the page sent what is no message of ours (%d long)", len(message))
        return None
    try:
        found = _inbound.validate_json(message)
    except ValidationError as fault:
        # Without the input: a message may hold what was typed.
        kinds = ", ".join(error["type"] for error in fault.errors(include_input=False))
        log.warning("the page sent a message that is not understood: %s", kinds)
        return None
    match found:
        case _Typed():
            return Typed(found.text, found.pasted)
        case _HangUp():
            return HangUp()
        case _Stop():
            return Stop()
        case _Mute():
            return Muted(found.on)
        case Played() | Ping():
            return found
