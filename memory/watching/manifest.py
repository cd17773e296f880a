"""What each file of a project held when the journal was told: `<state>/watch/seen.json`.

Digests only. A restart tells what changed meanwhile, and nothing twice.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path

from memory import store

log = logging.getLogger(__name__)

VERSION = 1


class Manifest:
    """The caller holds the lock of the watch."""

    def __init__(self, state: Path) -> None:
        self._path = state / "watch" / "seen.json"
        self._trees: dict[str, dict[str, str]] | None = None

    def told(self, root: Path) -> dict[str, str] | None:
        """Digest by path; None for a folder that was never watched."""
        return self._read().get(str(root))

    def keep(self, root: Path, told: dict[str, str]) -> None:
        """Raises StateUnwritable."""
        trees = self._read()
        if trees.get(str(root)) == told:
            return
        trees[str(root)] = dict(told)
        content = json.dumps({"version": VERSION, "trees": trees}).encode()
        with store.writing(self._path):
            before = self._path.read_bytes() if self._path.exists() else None
        store.replace(self._path, content, expected=before)

    def _read(self) -> dict[str, dict[str, str]]:
        if self._trees is None:
            self._trees = _trees(self._path)
        return self._trees


def _trees(path: Path) -> dict[str, dict[str, str]]:
    """Empty where there is none; a damaged one is begun anew, and nothing old is told."""
    try:
        found = json.loads(path.read_bytes())
        if found["version"] != VERSION:
            return {}
        return {
            str(root): {str(name): str(digest) for name, digest in files.items()}
            for root, files in found["trees"].items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        log.warning("%s could not be read; changes are told from now on", path)
        return {}
