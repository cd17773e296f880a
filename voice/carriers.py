"""What brings a file whose content is known beforehand, by its size and sha256.

Here are two carriers, a local folder and the upstream hub over HTTPS; the third is
`voice/packages.py`. None is trusted: what comes is hashed as it comes, and only the hash counts.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import re
import socket
import threading
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

import httpx

from voice.weight_files import CHUNK_BYTES, File, Part, sha256_of

log = logging.getLogger(__name__)

_CONNECT_S = 3.0
_SILENCE_S = 15.0
_HUB_RETRIES = 3

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


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
            self._unreachable[host] = f"can't be reached ({words_of(fault)})"
            return self._unreachable[host]
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            return f"broke off at {partial.length} of {file.bytes} bytes ({words_of(fault)})"
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


def words_of(fault: Exception) -> str:
    return str(fault) or type(fault).__name__
