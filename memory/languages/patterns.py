"""Patterns as a language's TOML file writes them.

`[words]` names lists of words or patterns; `{name}` in a pattern stands for that list. A list
may use those that stand above it. Patterns are folded, so umlauts and accents are welcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from memory.languages.folding import pattern

NEVER = r"[^\s\S]"
"""In the place of an empty list: an alternation of nothing would match everywhere."""

_NAME = re.compile(r"\{([a-z_]+)\}")


class Written:
    """A parsed TOML file, read key by key. Whatever is missing, misspelt or unread raises ValueError."""

    def __init__(
        self, table: Mapping[str, Any], where: str, words: Mapping[str, str] | None = None
    ) -> None:
        self._table = dict(table)
        self.where = where
        self._words = dict(words or {})
        for name, listed in self._table.pop("words", {}).items():
            self._words[name] = f"(?:{'|'.join(self.expanded(listed))})"

    def take(self, key: str, default: Any = None) -> Any:
        if key not in self._table and default is None:
            raise ValueError(f"{self.where} has no {key!r}.")
        return self._table.pop(key, default)

    def table(self, key: str) -> Written:
        """A table of this one, with the same words."""
        return Written(self.take(key), f"{self.where} [{key}]", self._words)

    def tables(self, key: str) -> tuple[Written, ...]:
        return tuple(
            Written(each, f"{self.where} [[{key}]] {each.get('name')}", self._words)
            for each in self.take(key)
        )

    def expanded(self, written: Iterable[str]) -> list[str]:
        """Each pattern folded, with its names filled in."""
        if isinstance(written, str):
            raise ValueError(f"{self.where}: {written!r} stands where a list belongs.")  # noqa: TRY004
        return [pattern(_NAME.sub(self._word, each)) for each in written]

    def listed(self, key: str, default: Any = None) -> list[str]:
        return self.expanded(self.take(key, default))

    def alternation(self, key: str) -> str:
        return "|".join(self.listed(key))

    def finish(self) -> None:
        if self._table:
            raise ValueError(f"{self.where}: nothing reads {', '.join(sorted(self._table))}.")

    def _word(self, match: re.Match[str]) -> str:
        try:
            return self._words[match[1]]
        except KeyError:
            raise ValueError(f"{self.where} has no words {match[1]!r}.") from None
