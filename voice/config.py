"""The settings, read once: flags, then environment (`JARVIS_…`), then `config.toml`."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from memory.records import LANGUAGES, Language
from voice.errors import SettingInvalid

DEFAULT_VAULT = Path("~/Jarvis")


def config_file() -> Path:
    """`JARVIS_CONFIG`, else `config.toml` in the user's configuration folder."""
    named = os.environ.get("JARVIS_CONFIG")
    return Path(named) if named else platformdirs.user_config_path("jarvis") / "config.toml"


class Config(BaseSettings):
    """Every setting of Jarvis. Secrets are never logged: see `shown()`."""

    model_config = SettingsConfigDict(env_prefix="JARVIS_", frozen=True, extra="forbid")

    vault: Path = DEFAULT_VAULT
    state: Path = Field(default_factory=lambda: platformdirs.user_state_path("jarvis"))
    weights: Path = Field(
        default_factory=lambda: platformdirs.user_cache_path("jarvis") / "weights"
    )

    engine: Literal["auto", "local", "openai", "gemini"] = "auto"
    model: Literal["auto", "small", "better"] = "auto"
    llm_url: str = ""
    llm_model: str = ""
    llm_key: str = ""

    openai_key: str = ""
    openai_url: str = "wss://api.openai.com/v1/realtime"
    openai_model: str = "gpt-realtime-2.1"
    openai_voice: str = "marin"

    gemini_key: str = ""
    gemini_url: str = (
        "wss://generativelanguage.googleapis.com/ws/"
        "google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
    )
    gemini_model: str = "gemini-3.8-live"
    gemini_voice: str = "Aoede"

    learning: bool = True
    """Off: nothing is marked, reviewed or written, but for what the user asks to be remembered."""
    background: str = "auto"
    background_url: str = ""
    background_model: str = ""
    background_key: str = ""
    anthropic_key: str = ""
    google_key: str = ""
    openrouter_key: str = ""

    reflect: bool = True
    """Off: no lessons are made by itself; `jarvis reflect` still does (F7)."""

    watch: Annotated[tuple[Path, ...], NoDecode] = ()
    """Folders whose projects are watched while `jarvis serve` or `talk` runs, and by `jarvis watch`."""
    think: bool = True
    """Off: nobody thinks by itself; `jarvis think` still does."""
    think_every_s: Annotated[float, Field(ge=1)] = 60
    think_calls_a_day: Annotated[int, Field(ge=0)] = 24
    think_tokens_a_day: Annotated[int, Field(ge=0)] = 40_000

    languages: Annotated[tuple[Language, ...], NoDecode] = LANGUAGES
    language: Language | None = None
    voice_es: Literal["auto", "kokoro", "espeak"] = "auto"
    voice_de: Literal["auto", "piper", "espeak"] = "auto"
    vad: Literal["silero", "webrtcvad"] = "silero"

    port: Annotated[int, Field(ge=1, le=65535)] = 7788
    host: str = "127.0.0.1"
    """Where the page listens. Anything but this machine's own address wants a token (S1)."""
    record: Path | None = None

    @model_validator(mode="before")
    @classmethod
    def _split_languages(cls, values: Any) -> Any:
        given = values.get("languages") if isinstance(values, dict) else None
        if isinstance(given, str):
            values = {**values, "languages": [part.strip() for part in given.split(",")]}
        return values

    @field_validator("watch", mode="before")
    @classmethod
    def _split_watch(cls, given: Any) -> Any:
        if isinstance(given, str):
            return tuple(part for part in given.split(os.pathsep) if part)
        return given

    @field_validator("watch")
    @classmethod
    def _at_home(cls, given: tuple[Path, ...]) -> tuple[Path, ...]:
        return tuple(each.expanduser().absolute() for each in given)

    @model_validator(mode="after")
    def _language_is_enabled(self) -> Config:
        if not self.languages:
            raise ValueError("languages: name at least one of en, de, es")
        if self.language is not None and self.language not in self.languages:
            raise ValueError(f"language: {self.language} is not among languages")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the library's signature
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, _TomlFile(settings_cls)

    def shown(self) -> dict[str, Any]:
        """The settings as they may be printed: a key shows only that it is there."""
        values = self.model_dump(mode="json")
        return {
            name: ("set" if value else "") if name.endswith("_key") else value
            for name, value in values.items()
        }


class _TomlFile(PydanticBaseSettingsSource):
    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        path = config_file()
        try:
            return tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
            raise SettingInvalid(
                f"{path} can't be read: {fault}. Mend the file, or move it away to begin anew."
            ) from fault


def load(flags: Mapping[str, Any] | None = None) -> Config:
    """The settings; raises SettingInvalid, which names each setting that is wrong."""
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    try:
        config = Config(**given)
    except ValidationError as fault:
        wrong = "; ".join(
            f"{'.'.join(map(str, error['loc'])) or 'settings'}: {error['msg']}"
            for error in fault.errors()
        )
        raise SettingInvalid(
            f"A setting can't be used: {wrong}. Settings come from flags, from JARVIS_… in "
            f"the environment, and from {config_file()}."
        ) from fault
    return config.model_copy(
        update={
            name: getattr(config, name).expanduser().absolute()
            for name in ("vault", "state", "weights")
        }
    )
