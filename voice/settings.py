"""`config.toml` changed by the page: one setting after the other, the user's comments kept."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import tomlkit
from tomlkit.exceptions import TOMLKitError

from voice.config import Config, config_file, load
from voice.errors import SettingInvalid

_HEAD = "# Settings of Jarvis. Flags and JARVIS_… in the environment come before these.\n\n"


def choices(name: str) -> tuple[str, ...]:
    """What a setting with a few values may be."""
    return tuple(map(str, get_args(Config.model_fields[name].annotation)))


def named_by_environment(name: str) -> bool:
    """Whether the environment says it: then the file doesn't count."""
    return f"JARVIS_{name.upper()}" in os.environ


def with_settings(text: str, values: Mapping[str, Any]) -> str:
    """The file's text with these settings; None takes one out. Everything else stays to the
    letter. Raises SettingInvalid where the text is no TOML."""
    try:
        document = tomlkit.parse(text or _HEAD)
    except TOMLKitError as fault:
        raise SettingInvalid(
            f"{config_file()} can't be read: {fault}. Mend the file, then change settings here."
        ) from fault
    for name, value in values.items():
        if value is None:
            document.pop(name, None)
        elif name in document and document[name] == value:
            continue
        elif name in document:
            document[name] = value
        else:
            document.append(name, tomlkit.item(value))
    return tomlkit.dumps(document)


def change(values: Mapping[str, Any]) -> Config:
    """Write these settings, and give all as they are now. Nothing is written unless every
    setting of the file can be used: SettingInvalid. Times and comments of others stay."""
    if not values:
        return load()
    path = config_file()
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as fault:
        raise SettingInvalid(f"{path} can't be read: {fault}. Mend the file first.") from fault
    after = with_settings(before, values)
    load(tomllib.loads(after))
    if after != before:
        _replace(path, after)
    return load()


def _replace(path: Path, text: str) -> None:
    """Whole or not at all; only the user may read it, for it may hold a key."""
    target = path.resolve()
    part = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as fault:
        part.unlink(missing_ok=True)
        raise SettingInvalid(
            f"{path} can't be written: {fault.strerror or fault}. Nothing was changed."
        ) from fault
