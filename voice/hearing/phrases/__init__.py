"""Words of each language that the ears listen for, one TOML file a language."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from memory.records import Language
from voice.hearing.wording import Phrases


@cache
def phrases(language: Language) -> Phrases:
    """The file `<language>.toml` beside this one."""
    text = resources.files(__name__).joinpath(f"{language}.toml").read_text("utf-8")
    return Phrases(**{name: frozenset(words) for name, words in tomllib.loads(text).items()})
