"""What is never told as a change: temporary files, build output, secrets, a project's .gitignore.

Paths are relative to the watched folder, with slashes; a folder's ends with one.
"""

from __future__ import annotations

import fnmatch
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from pathspec import GitIgnoreSpec


@dataclass(frozen=True, slots=True)
class Rules:
    """The lines of one ignore file. `base` is its folder, "" for the watched one, else "a/b/"."""

    base: str
    spec: GitIgnoreSpec


def rules(base: str, lines: Iterable[str]) -> Rules:
    """Lines that are no pattern are left out, as git does."""
    try:
        return Rules(base, GitIgnoreSpec.from_lines(lines))
    except ValueError:
        return Rules(base, GitIgnoreSpec.from_lines(filter(_is_pattern, lines)))


def _is_pattern(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads(files("memory.watching").joinpath("ignored.toml").read_text("utf-8"))


@cache
def _always() -> GitIgnoreSpec:
    kinds = ("temporary", "made", "programs", "secret")
    return GitIgnoreSpec.from_lines(line for kind in kinds for line in _data()[kind])


def is_mark(name: str) -> bool:
    """Whether a folder that holds this name is a project."""
    return _any_of("marks").fullmatch(name) is not None


def is_build_output(name: str) -> bool:
    """Whether a folder of this name, directly in a project, is what a build made."""
    return _any_of("build").fullmatch(name) is not None


@cache
def _any_of(kind: str) -> re.Pattern[str]:
    return re.compile("|".join(map(fnmatch.translate, _data()[kind])))


def is_ignored(path: str, stack: Iterable[Rules]) -> bool:
    """Whether the path is left out. Its folder is not, and `stack` holds the rules from the
    watched folder down to it: the deepest that says something decides."""
    if _always().match_file(path.rsplit("/", 2)[-2] + "/" if path.endswith("/") else _name(path)):
        return True
    for each in reversed(tuple(stack)):
        said = each.spec.check_file(path.removeprefix(each.base)).include
        if said is not None:
            return said
    return False


def _name(path: str) -> str:
    return path.rpartition("/")[2]
