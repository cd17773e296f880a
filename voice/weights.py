"""The models' weights: which there are, and where they lie.

`weights.toml` names each file by its size and sha256; `voice/bringing.py` brings it from
wherever it can be had. Files lie in the user's cache folder, shared between clones, and
appear there whole or not at all. At each start they are checked by size; by hash when they
are brought, when somebody placed them by hand, and on demand. What a check found is noted
in `.checked/`, with the file's time, so that it need not be repeated.

    python -m voice.weights whisper-base qwen-0.5b
"""

from __future__ import annotations

import argparse
import functools
import json
import logging
import os
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import platformdirs
from pydantic import ConfigDict, TypeAdapter

from voice.errors import VoiceFault, WeightsMissing
from voice.weight_files import File, RelativePath, sha256_of

log = logging.getLogger(__name__)

CarrierKind = Literal["folder", "hub", "packages"]
Condition = Literal["present", "missing", "damaged"]


# What there is ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """One model's weights. `path` is what a caller opens: a folder, or the main file."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: str
    path: RelativePath
    purpose: str
    licence: str
    upstream: str
    file: tuple[File, ...]

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.file)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """All weights, and the carriers in the order in which they are tried."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    carriers: tuple[CarrierKind, ...]
    weight: tuple[Weight, ...]

    def named(self, name: str) -> Weight:
        for weight in self.weight:
            if weight.name == name:
                return weight
        known = ", ".join(weight.name for weight in self.weight)
        raise WeightsMissing(f"There are no weights called {name!r}. There are: {known}.")


def parse(text: str) -> Manifest:
    """A manifest from its TOML; raises ValueError where it does not fit."""
    return TypeAdapter(Manifest).validate_python(tomllib.loads(text))


@functools.cache
def shipped() -> Manifest:
    """The manifest that ships with Jarvis."""
    return parse(resources.files("voice").joinpath("weights.toml").read_text(encoding="utf-8"))


def weights_folder() -> Path:
    """`JARVIS_WEIGHTS`, else the user's cache folder: every clone of Jarvis shares it."""
    named = os.environ.get("JARVIS_WEIGHTS")
    if named:
        return Path(named).expanduser().absolute()
    return platformdirs.user_cache_path("jarvis") / "weights"


# What is here -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """One file on disk. `verified` says that its hash was checked since it last changed."""

    path: Path
    bytes: int
    sha256: str
    state: Condition
    verified: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightState:
    """One model's weights on disk, as `jarvis models` shows them.

    `state` is the worst of its files. `path` is what a caller opens.
    """

    name: str
    state: Condition
    verified: bool
    bytes: int
    path: Path
    purpose: str
    licence: str
    upstream: str
    files: tuple[FileState, ...]

    def as_json(self) -> dict[str, Any]:
        values = asdict(self) | {"path": str(self.path)}
        values["files"] = [asdict(file) | {"path": str(file.path)} for file in self.files]
        return values


class Progress(Protocol):
    def __call__(self, name: str, step: str, done_bytes: int, total_bytes: int) -> None:
        """`done_bytes` of the weights `name` are here; `step` says in words what goes on."""


def no_progress(name: str, step: str, done_bytes: int, total_bytes: int) -> None:
    """Shows nothing."""


def state_of(
    name: str, folder: Path | None = None, *, manifest: Manifest | None = None
) -> WeightState:
    """How these weights stand, judged by size and by what earlier checks found."""
    weight = (manifest or shipped()).named(name)
    root = folder or weights_folder()
    files = tuple(file_state(root, file) for file in weight.file)
    conditions = [file.state for file in files]
    return WeightState(
        name=weight.name,
        state=next((bad for bad in ("damaged", "missing") if bad in conditions), "present"),
        verified=all(file.verified for file in files),
        bytes=weight.bytes,
        path=root / weight.path,
        purpose=weight.purpose,
        licence=weight.licence,
        upstream=weight.upstream,
        files=files,
    )


def verify(
    name: str,
    folder: Path | None = None,
    progress: Progress = no_progress,
    *,
    manifest: Manifest | None = None,
) -> WeightState:
    """Read every file of these weights and compare its hash; nothing is changed or removed."""
    weight = (manifest or shipped()).named(name)
    root = folder or weights_folder()
    done = 0
    for file in weight.file:
        check(root, weight, file, progress, done)
        done += file.bytes
    return state_of(name, root, manifest=manifest)


def path_of(name: str, folder: Path | None = None, *, manifest: Manifest | None = None) -> Path:
    """What a caller opens: a folder for whisper-base, else the file.

    Raises WeightsMissing, with what to do, unless everything is here by size.
    """
    state = state_of(name, folder, manifest=manifest)
    if state.state == "present":
        return state.path
    wrong = "; ".join(
        f"{file.path} is missing" if file.state == "missing" else f"{file.path} {file.reason}"
        for file in state.files
        if file.state != "present"
    )
    raise WeightsMissing(
        f"The weights {name} are not here: {wrong}. "
        f"Bring them ({size_words(state.bytes)}): {sys.executable} -m voice.weights {name}"
    )


def models_report(
    folder: Path | None = None,
    verify_hashes: bool = False,
    progress: Progress = no_progress,
    *,
    manifest: Manifest | None = None,
) -> list[WeightState]:
    """Every weight there is and how it stands; with `verify_hashes`, what is here is read whole."""
    known = manifest or shipped()
    return [
        verify(weight.name, folder, progress, manifest=known)
        if verify_hashes
        else state_of(weight.name, folder, manifest=known)
        for weight in known.weight
    ]


def file_state(root: Path, file: File) -> FileState:
    path = root / file.path
    try:
        stat = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return FileState(path=path, bytes=file.bytes, sha256=file.sha256, state="missing")
    except OSError as fault:
        return FileState(
            path=path,
            bytes=file.bytes,
            sha256=file.sha256,
            state="damaged",
            reason=f"can't be read: {fault.strerror}",
        )
    if stat.st_size != file.bytes:
        return FileState(
            path=path,
            bytes=file.bytes,
            sha256=file.sha256,
            state="damaged",
            reason=f"has {stat.st_size} bytes instead of {file.bytes}",
        )
    digest = _noted(root, file, stat)
    if digest not in (None, file.sha256):
        return FileState(
            path=path,
            bytes=file.bytes,
            sha256=file.sha256,
            state="damaged",
            reason=f"has another content: its sha256 is {digest}",
        )
    return FileState(
        path=path,
        bytes=file.bytes,
        sha256=file.sha256,
        state="present",
        verified=digest is not None,
    )


def check(root: Path, weight: Weight, file: File, progress: Progress, done: int) -> None:
    """Hash one file, if it is here with the right size, and note what was found."""
    path = root / file.path
    try:
        stat = path.stat()
        if stat.st_size != file.bytes:
            return
        step = f"checking {path.name}"
        digest = sha256_of(
            path, lambda read: progress(weight.name, step, done + read, weight.bytes)
        )
    except OSError as fault:
        log.info("%s can't be checked: %s", file.path, fault)
        return
    note(root, file, stat, digest)


def _note_path(root: Path, file: File) -> Path:
    return root / ".checked" / f"{file.path}.json"


def note(root: Path, file: File, stat: os.stat_result, digest: str) -> None:
    """Remember a file's hash for as long as the file is not touched."""
    path = _note_path(root, file)
    text = json.dumps({"bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": digest})
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)
    except OSError as fault:  # a shared folder that only others may write: it is checked again
        log.info("the check of %s could not be noted: %s", file.path, fault)


def _noted(root: Path, file: File, stat: os.stat_result) -> str | None:
    try:
        note = json.loads(_note_path(root, file).read_text(encoding="utf-8"))
        if (note["bytes"], note["mtime_ns"]) == (stat.st_size, stat.st_mtime_ns):
            return str(note["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # no note, or none that can be read: the file counts as not checked
    return None


# Words --------------------------------------------------------------------------------


def size_words(size: int) -> str:
    """A number of bytes as people say it."""
    for unit, one in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= one:
            return f"{size / one:.{1 if unit == 'GB' else 0}f} {unit}"
    return f"{size} bytes"


# The command --------------------------------------------------------------------------


@contextmanager
def terminal_progress() -> Iterator[Progress]:
    """A bar on standard error where that is a terminal, else a line for each of the weights."""
    if not sys.stderr.isatty():
        yield _lines_of_progress()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.progress import Progress as Bars
    from rich.table import Column

    tasks: dict[str, TaskID] = {}
    with Bars(
        TextColumn(
            "{task.description}",
            markup=False,
            table_column=Column(no_wrap=True, overflow="ellipsis"),
        ),
        BarColumn(bar_width=20),
        DownloadColumn(table_column=Column(no_wrap=True)),
        TransferSpeedColumn(table_column=Column(no_wrap=True)),
        TimeRemainingColumn(table_column=Column(no_wrap=True)),
        console=Console(file=sys.stderr),
    ) as bars:

        def show(name: str, step: str, done_bytes: int, total_bytes: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total_bytes)
            bars.update(
                tasks[name],
                completed=done_bytes,
                total=total_bytes,
                description=f"{name}: {step}",
            )

        yield show


def _lines_of_progress() -> Progress:
    begun: set[str] = set()

    def show(name: str, step: str, done_bytes: int, total_bytes: int) -> None:  # noqa: ARG001 - the protocol
        if name not in begun:
            begun.add(name)
            print(f"{name}, {size_words(total_bytes)}: {step} ...", file=sys.stderr, flush=True)

    return show


def main(arguments: Sequence[str] | None = None) -> int:
    """Bring the weights that are named; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m voice.weights", description="Bring models' weights to this machine."
    )
    names = [weight.name for weight in shipped().weight]
    parser.add_argument("name", nargs="+", help=f"one or more of: {', '.join(names)}")
    parser.add_argument("--folder", type=Path, help="where they belong (default: the setting)")
    parser.add_argument("--source", type=Path, help="a folder that may hold them already")
    given = parser.parse_args(arguments)
    # The workers that only ask for a path need neither.
    from voice import config
    from voice.bringing import bring

    try:
        folder = given.folder or config.load().weights
        before = [state_of(name, folder) for name in given.name]
        began = time.monotonic()
        with terminal_progress() as progress:
            bring(given.name, folder, progress, sources=(given.source,) if given.source else None)
    except VoiceFault as fault:
        print(fault, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped. Started again, it goes on from here.", file=sys.stderr)
        return 130
    brought = [state for state in before if not (state.state == "present" and state.verified)]
    if brought:
        size = size_words(sum(state.bytes for state in brought))
        print(
            f"{', '.join(state.name for state in brought)}: {size} in {folder}, "
            f"{time.monotonic() - began:.0f} s."
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
