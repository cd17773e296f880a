"""What the OpenAI Realtime engine decides, without a socket, a clock or a pipeline."""

from __future__ import annotations

import ipaddress
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from memory.records import Turn
from voice.heard import Piece

# Errors -------------------------------------------------------------------------------

Verdict = Literal["harmless", "again", "reconnect", "fatal"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an error of the server means for the call, and the sentence for the user.

    "harmless": nothing follows. "again": the response is asked for once more after a
    pause. "reconnect": only a new session helps. "fatal": no try of ours can help.
    """

    verdict: Verdict
    text: str = ""


_HARMLESS = Judgement("harmless")
_KEY = Judgement(
    "fatal", "The server refused the key. Check the setting openai_key, or make a new key."
)
_QUOTA = Judgement(
    "fatal",
    "The account behind the key has no credit left. Add credit, or use the local engine.",
)
_MODEL = Judgement(
    "fatal",
    "The server doesn't know the model, or the key may not use it. Check the setting openai_model.",
)
_REGION = Judgement(
    "fatal", "The server doesn't serve this country. Use the local engine or another address."
)
_ACCOUNT = Judgement(
    "fatal", "The account behind the key is blocked. Ask the provider, or use the local engine."
)
_PREFIX = Judgement(
    "fatal",
    "The notebooks are too long for this server (16,384 tokens at most). Shorten USER.md or MEMORY.md.",
)
_BUSY = Judgement("again", "The server is busy or limits how often it answers. Wait a moment.")
_BROKEN = Judgement("again", "The server failed while it answered. Say it once more.")
_EXPIRED = Judgement("reconnect", "The session reached the server's time limit.")

BY_CODE: Mapping[str, Judgement] = {
    "response_cancel_not_active": _HARMLESS,
    "conversation_already_has_active_response": _HARMLESS,
    "input_audio_buffer_commit_empty": _HARMLESS,
    "item_truncate_invalid_item_id": _HARMLESS,
    "item_truncate_invalid_audio_end_ms": _HARMLESS,
    "item_delete_invalid_item_id": _HARMLESS,
    "item_retrieve_invalid_item_id": _HARMLESS,
    "item_create_duplicate_item_id": _HARMLESS,
    "invalid_value": _HARMLESS,
    "unknown_parameter": _HARMLESS,
    "missing_required_parameter": _HARMLESS,
    "invalid_event": _HARMLESS,
    "rate_limit_exceeded": _BUSY,
    "rate_limit_error": _BUSY,
    "overloaded": _BUSY,
    "server_overloaded": _BUSY,
    "service_unavailable": _BUSY,
    "server_error": _BROKEN,
    "internal_error": _BROKEN,
    "inference_rate_limit_exceeded": _BUSY,
    "session_expired": _EXPIRED,
    "session_not_found": _EXPIRED,
    "connection_timeout": _EXPIRED,
    "invalid_api_key": _KEY,
    "missing_api_key": _KEY,
    "expired_api_key": _KEY,
    "invalid_authentication": _KEY,
    "insufficient_quota": _QUOTA,
    "billing_hard_limit_reached": _QUOTA,
    "billing_not_active": _QUOTA,
    "model_not_found": _MODEL,
    "invalid_model": _MODEL,
    "insufficient_permissions": _MODEL,
    "unsupported_country_region_territory": _REGION,
    "account_deactivated": _ACCOUNT,
    "organization_deactivated": _ACCOUNT,
    "string_above_max_length": _PREFIX,
    "instructions_too_long": _PREFIX,
}
BY_TYPE: Mapping[str, Judgement] = {
    "invalid_request_error": _HARMLESS,
    "server_error": _BROKEN,
    "rate_limit_error": _BUSY,
    "tokens": _BUSY,
    "requests": _BUSY,
    "authentication_error": _KEY,
    "permission_error": _MODEL,
    "insufficient_quota": _QUOTA,
}
BY_STATUS: Mapping[int, Judgement] = {
    401: _KEY,
    402: _QUOTA,
    403: _MODEL,
    404: Judgement(
        "fatal",
        "Nothing speaks the Realtime protocol at this address, or the model is unknown there. "
        "Check the settings openai_url and openai_model.",
    ),
    429: _BUSY,
}


def judge(code: str | None, kind: str | None = None) -> Judgement:
    """By the error's code, else by its type. What nobody knows is harmless: never go deaf."""
    return BY_CODE.get(code or "") or BY_TYPE.get(kind or "") or _HARMLESS


def judge_status(status: int, code: str | None = None) -> Judgement:
    """A refused handshake: HTTP status, and the code in its body where there is one."""
    known = BY_CODE.get(code or "")
    if known is not None and known is not _HARMLESS:
        return known
    return BY_STATUS.get(status) or Judgement(
        "reconnect", f"The server answered with HTTP status {status}, not with a session."
    )


def judge_close(code: int | None, reason: str) -> Judgement:
    """A closed socket. Servers put `type.code` into the reason: "….invalid_api_key"."""
    known = BY_CODE.get(reason.rpartition(".")[2].strip())
    if known is not None and known.verdict == "fatal":
        return known
    return Judgement("reconnect", f"The connection was closed (code {code or 1006}).")


# Addresses ----------------------------------------------------------------------------

OPENAI_URL = "wss://api.openai.com/v1/realtime"


def host_of(url: str) -> str:
    return urlsplit(url).hostname or ""


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def needs_key(url: str) -> bool:
    host = host_of(url)
    return host == "openai.com" or host.endswith(".openai.com")


def is_open_to_listeners(url: str) -> bool:
    """Words and sound would cross a network without encryption."""
    return urlsplit(url).scheme == "ws" and not is_loopback(host_of(url))


def with_model(url: str, model: str) -> str:
    """The address of a session. What the query already holds stays, its model wins."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    query.setdefault("model", model)
    return urlunsplit(parts._replace(query=urlencode(query)))


def address_fault(url: str, key: str) -> str:
    """Why a session can't even be tried, as a sentence; empty when it can."""
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss") or not parts.hostname:
        return f"{url!r} is no address of a Realtime server: it begins with wss:// (or ws:// on this machine). Correct the setting openai_url."
    if needs_key(url) and not key:
        return "OpenAI Realtime needs a key, and none is set. Put yours into JARVIS_OPENAI_KEY or openai_key in config.toml, or use the local engine."
    if key and is_open_to_listeners(url):
        return f"The key would cross the network unencrypted to {parts.hostname}. Use a wss:// address, or remove openai_key if that server needs none."
    return ""


# The microphone -----------------------------------------------------------------------

MICROPHONE_HZ = 16_000
IDLE_S = 10
HELD_S = 300


class Microphone:
    """The last sound of the microphone: 16 kHz, 16 bit, mono.

    `IDLE_S` seconds are kept, and from a held position on everything up to `HELD_S`, so
    that a turn can be sent once more when its session is lost.
    """

    def __init__(self) -> None:
        self._chunks: deque[bytes] = deque()
        self._end = 0
        self._kept = 0
        self._held: int | None = None

    def append(self, audio: bytes) -> None:
        self._chunks.append(audio)
        self._end += len(audio) // 2
        self._kept += len(audio) // 2
        while self._chunks and self._kept - len(self._chunks[0]) // 2 >= self._wanted():
            self._kept -= len(self._chunks.popleft()) // 2

    def _wanted(self) -> int:
        idle = IDLE_S * MICROPHONE_HZ
        if self._held is None:
            return idle
        return min(HELD_S * MICROPHONE_HZ, max(idle, self._end - self._held))

    def hold(self, from_ms: int) -> None:
        self._held = from_ms * MICROPHONE_HZ // 1000

    def release(self) -> None:
        self._held = None

    @property
    def first_ms(self) -> int:
        """The position of the oldest sound that is left."""
        return (self._end - self._kept) * 1000 // MICROPHONE_HZ

    def since(self, from_ms: int) -> bytes:
        """From that position of the stream until now, or what is left of it."""
        first = self._end - self._kept
        skip = max(0, from_ms * MICROPHONE_HZ // 1000 - first)
        return b"".join(self._chunks)[2 * skip :]


# Words and sound of an answer ---------------------------------------------------------

ANSWER_HZ = 24_000
LETTERS_PER_S = 15.0
_PIECE_S = 0.4


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of an answer's sound. With `piece` it begins a new piece of its text."""

    samples: int
    piece: Piece | None


class Alignment:
    """Shares the words of an answer out over its sound.

    The server tells words and sound apart and never how they belong together; words come
    first. So each piece of whole words gets the time that its letters take at the pace of
    the voice, `letters_per_s`, which the answers before have shown.
    """

    def __init__(self, letters_per_s: float) -> None:
        self._letters_per_s = letters_per_s
        self._pending = ""
        self._left = 0
        self._overrun = 0
        self._samples = 0
        self._letters = 0
        self.pieces: list[Piece] = []

    def add_text(self, text: str) -> None:
        self._pending += text
        self._letters += len(text)

    def add_sound(self, samples: int) -> list[Part]:
        self._samples += samples
        parts: list[Part] = []
        while samples > 0:
            piece = self._next_piece() if self._left == 0 else None
            if self._left == 0:
                # Sound without words so far: the next piece makes up for it.
                self._overrun += samples
                parts.append(Part(samples, None))
                break
            taken = min(samples, self._left)
            self._left -= taken
            samples -= taken
            parts.append(Part(taken, piece))
        return parts

    def _next_piece(self) -> Piece | None:
        whole, _, begun_word = self._pending.rpartition(" ")
        words = whole.split()
        taken: list[str] = []
        while words and self._seconds(taken) < _PIECE_S:
            taken.append(words.pop(0))
        if not taken:
            return None
        self._pending = " ".join([*words, begun_word])
        self._left = max(1, round(self._seconds(taken) * ANSWER_HZ))
        piece = Piece(" ".join(taken), self._left + self._overrun)
        self._overrun = 0
        self.pieces.append(piece)
        return piece

    def _seconds(self, words: Sequence[str]) -> float:
        return sum(len(word) + 1 for word in words) / self._letters_per_s

    def rest(self) -> Piece | None:
        """The words that are left when all sound is there: heard when all of it was."""
        text = " ".join(self._pending.split())
        self._pending = ""
        if not text:
            return None
        piece = Piece(text, 0)
        self.pieces.append(piece)
        return piece

    @property
    def text(self) -> str:
        words = [word for piece in self.pieces for word in piece.text.split()]
        return " ".join([*words, *self._pending.split()])

    @property
    def pace(self) -> float:
        """Letters per second of the whole answer; what was given where it says nothing."""
        if self._letters < 20 or self._samples < ANSWER_HZ:
            return self._letters_per_s
        return min(30.0, max(8.0, self._letters * ANSWER_HZ / self._samples))


def played_of(pieces: Sequence[Piece], heard: str) -> int:
    """How many samples had been played at the least when exactly these words were heard.

    The way back from `voice.heard.heard_text`, with its own rule for the words of a piece.
    """
    left = len(heard.split())
    samples = 0
    for piece in pieces:
        words = piece.text.split()
        if left >= len(words):
            left -= len(words)
            samples += piece.samples
            if left == 0:
                return samples
            continue
        letters = sum(len(word) + 1 for word in words)
        spoken = sum(len(word) + 1 for word in words[:left])
        return samples + -(-spoken * piece.samples // letters)
    return samples


# What was heard of an answer -----------------------------------------------------------


@dataclass(slots=True)
class Item:
    """A part of an answer at the server, and how many samples of it have come."""

    id: str
    content_index: int
    samples: int = 0


@dataclass(frozen=True, slots=True)
class Truncate:
    item: str
    content_index: int
    audio_end_ms: int


@dataclass(frozen=True, slots=True)
class Delete:
    item: str


def cut(
    items: Sequence[Item], played_samples: int, *, complete: bool
) -> tuple[Truncate | Delete, ...]:
    """How the server's history is made to hold only what was heard.

    `complete`: all of the answer's sound has come. When not, its last item may be longer
    at the server than here, so it is cut even when all that came was played.
    """
    cuts: list[Truncate | Delete] = []
    left = played_samples
    for item in items:
        played = min(left, item.samples)
        left -= played
        if played == 0:
            cuts.append(Delete(item.id))
        elif played < item.samples or (item is items[-1] and not complete):
            cuts.append(Truncate(item.id, item.content_index, played * 1000 // ANSWER_HZ))
    return tuple(cuts)


# What a new session is told ------------------------------------------------------------

SEED_CHARS = 24_000


def seed(turns: Sequence[Turn], waiting: Sequence[str]) -> list[tuple[str, str]]:
    """The conversation so far as (speaker, text), the latest `SEED_CHARS` of it.

    `waiting` are the user's words without an answer, which the turns may hold or not yet.
    """
    said = [(str(turn.speaker), turn.text) for turn in turns]
    tail: list[str] = []
    for speaker, text in reversed(said):
        if speaker != "user":
            break
        tail.insert(0, text.strip())
    for text in waiting:
        if text.strip() in tail:
            tail.remove(text.strip())
        else:
            said.append(("user", text))
    chars = 0
    kept: list[tuple[str, str]] = []
    for speaker, text in reversed(said):
        chars += len(text)
        if kept and chars > SEED_CHARS:
            break
        kept.insert(0, (speaker, text))
    return kept


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August",
    "September", "October", "November", "December",
)  # fmt: skip
_TIME_HOLDS = timedelta(minutes=30)


def time_told(now: datetime) -> str:
    """Date and time as the model is told, in the user's own zone."""
    offset = now.strftime("%z")
    return (
        f"It is {_DAYS[now.weekday()]}, {now.day} {_MONTHS[now.month - 1]} {now.year}, "
        f"{now:%H:%M} (UTC{offset[:3]}:{offset[3:5]})."
    )


def time_is_due(told: datetime, now: datetime) -> bool:
    """Rarely: each item is paid for again with every answer."""
    return now - told >= _TIME_HOLDS or now.date() != told.date()
