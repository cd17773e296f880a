"""The text files of a recorded call, as they are parsed.

What does not fit the format is `RecordingInvalid`, with the file and the line.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from voice.errors import RecordingInvalid

log = logging.getLogger(__name__)

FORMAT = 2
"""1 knew no voice service and no time that hearing takes; it is still read."""

_M = TypeVar("_M", bound=BaseModel)


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Engine(Strict):
    name: str
    hears: str
    thinks: str
    speaks: str
    words_go_to: str
    costs: str
    warning: str = ""
    better: str = ""


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as fault:
        raise RecordingInvalid(f"{path} is not text in UTF-8, so it holds no turns.") from fault
    except OSError as fault:
        raise RecordingInvalid(f"{path} can't be read: {fault.strerror}.") from fault


def parsed(model: type[_M], text: str, path: Path, line: int | None = None) -> _M:
    try:
        return model.model_validate_json(text)
    except ValidationError as fault:
        first = fault.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        place = str(path) if line is None else f"{path}, line {line}"
        if where == "format":
            raise RecordingInvalid(
                f"{place}: format {first['input']!r} is not known here (this version reads "
                f"{FORMAT}). Update Jarvis."
            ) from fault
        raise RecordingInvalid(
            f"{place} does not fit the format of a recorded call: "
            f"{f'{where}: ' if where else ''}{first['msg']}. See docs/recorded-calls.md."
        ) from fault


def lines_of(model: type[_M], path: Path) -> list[_M]:
    """One record a line. A last line without its end was cut by a kill and is left out."""
    if not path.exists():
        return []
    lines = text_of(path).split("\n")
    torn = lines.pop()
    records = [
        parsed(model, line, path, number) for number, line in enumerate(lines, 1) if line.strip()
    ]
    if torn.strip():
        try:
            records.append(model.model_validate_json(torn))
        except ValidationError:
            if not records:
                raise RecordingInvalid(
                    f"{path} holds neither JSON nor JSON lines. See docs/recorded-calls.md."
                ) from None
            log.warning("%s: the last line was cut off and is left out", path)
    return records
