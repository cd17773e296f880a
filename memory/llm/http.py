"""The one place from which questions leave by HTTP, and where its failures become sentences.

Redirects are not followed, so a key goes to its own host and no other. An answer of more
than `ANSWER_BYTES` is not read to its end. Neither keys nor what a server says about a
failure go into messages: servers repeat both what they were sent and by whom.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx

from memory.errors import ModelUnavailable
from memory.llm.addresses import host_of, is_loopback, is_nearby

_log = logging.getLogger(__name__)

ANSWER_BYTES = 4 << 20
_READ_OF_A_FAULT = 4_096
_REFUSED = (400, 422)


@dataclass(frozen=True, slots=True)
class Refused:
    """The server won't take the request as it is; `said` is its reason, in lower case."""

    status: int
    said: str


class Ways:
    """In which way each feature that servers differ in is asked for: 0 is the best.

    `features` gives for each how many ways there are, the last of them to do without it,
    and the words by which a refusal means it. What was refused once is not tried again.
    """

    def __init__(self, features: Mapping[str, tuple[int, tuple[str, ...]]]) -> None:
        self._features = features
        self._now = dict.fromkeys(features, 0)

    def __getitem__(self, feature: str) -> int:
        return self._now[feature]

    @property
    def now(self) -> dict[str, int]:
        return dict(self._now)

    def step(self, refused: Refused, asked: Mapping[str, int]) -> bool:
        """Take the next way of the feature that was refused; False where there is none left.

        `asked` are the ways of the request: another one may have gone on meanwhile.
        """
        for feature, (ways, words) in self._features.items():
            if asked[feature] + 1 < ways and any(word in refused.said for word in words):
                self._now[feature] = max(self._now[feature], asked[feature] + 1)
                return True
        return False


class HttpEdge:
    """Posts JSON to one provider.

    `title` and `model` are for sentences, and so is `missing_model`: what to do where the
    provider does not have the model. Raises ModelUnavailable for an address that is none.
    """

    def __init__(
        self,
        url: str,
        *,
        title: str,
        model: str,
        headers: Mapping[str, str],
        missing_model: str = "Choose another with background_model.",
    ) -> None:
        self._url = url.rstrip("/")
        self._title = title
        self._model = model
        self._missing_model = missing_model
        if not self._url.startswith(("http://", "https://")) or not host_of(self._url):
            raise ModelUnavailable(
                f"“{url}” is no address of a background model. It looks like "
                "http://127.0.0.1:8080/v1; set background_url."
            )
        self._client = httpx.AsyncClient(
            headers=dict(headers),
            follow_redirects=False,
            # A proxy of the environment must not see what stays in the house.
            trust_env=not is_nearby(self._url),
            timeout=None,  # noqa: S113  # the whole exchange has one, in ask()
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def ask(
        self, path: str, body: Callable[[], Mapping[str, Any]], ways: Ways, timeout_s: float
    ) -> Any:
        """The answer's JSON. A request that is refused is put in the next way, all within
        `timeout_s`. Raises ModelUnavailable."""
        try:
            async with asyncio.timeout(timeout_s):
                while True:
                    asked = ways.now
                    answer = await self._post(path, body())
                    if not isinstance(answer, Refused):
                        return answer
                    if not ways.step(answer, asked):
                        raise self._refusal(answer)
        except TimeoutError:
            raise ModelUnavailable(
                f"{self._title} did not answer within {timeout_s:g} seconds. "
                "It is asked again later; look whether it is overloaded."
            ) from None

    async def _post(self, path: str, body: Mapping[str, Any]) -> Any | Refused:
        try:
            status, headers, content = await self._exchange(path, body)
        except httpx.ConnectError:
            raise ModelUnavailable(self._unreachable()) from None
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            raise ModelUnavailable(
                f"The connection to {self._title} broke ({type(fault).__name__}). "
                "It is asked again later; look at the network."
            ) from None
        if status == 200:
            return self._parsed(content)
        _log.debug("%s answered with status %d", self._title, status)
        said = content[:_READ_OF_A_FAULT].decode(errors="replace").lower()
        if status in _REFUSED:
            return Refused(status, said)
        raise self._failure(status, headers, said)

    async def _exchange(
        self, path: str, body: Mapping[str, Any]
    ) -> tuple[int, httpx.Headers, bytes]:
        async with self._client.stream(
            "POST",
            f"{self._url}{path}",
            content=_encoded(body),
            headers={"content-type": "application/json"},
        ) as response:
            content = bytearray()
            async for piece in response.aiter_bytes():
                content += piece
                if len(content) > ANSWER_BYTES:
                    raise ModelUnavailable(
                        f"{self._title} sent more than {ANSWER_BYTES >> 20} MiB for an answer of a "
                        "few lines. Look what stands at its address."
                    )
            return response.status_code, response.headers, bytes(content)

    def _parsed(self, content: bytes) -> Any:
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise self.no_answer() from None

    def no_answer(self) -> ModelUnavailable:
        return ModelUnavailable(
            f"What stands at {_shown(self._url)} does not answer as {self._title} does. "
            "Check the address in background_url."
        )

    def _refusal(self, refused: Refused) -> ModelUnavailable:
        """The failure for a request that can't be put in another way."""
        if "api key" in refused.said or "api_key" in refused.said:  # Google says 400 to a wrong key
            return self._wrong_key(refused.status)
        if "model" in refused.said and "not" in refused.said:
            return self._unknown_model()
        return ModelUnavailable(
            f"{self._title} refused the question ({refused.status}). Choose another model with "
            "background_model, or another provider with background."
        )

    def _unreachable(self) -> str:
        if is_loopback(self._url):
            return (
                f"Nothing answers at {_shown(self._url)}, where {self._title} should be. Start it, or "
                "choose another with background."
            )
        return (
            f"{self._title} can't be reached at {_shown(self._url)}. Look at the network; it is "
            "asked again later."
        )

    def _wrong_key(self, status: int) -> ModelUnavailable:
        return ModelUnavailable(
            f"{self._title} does not accept the key ({status}). Check the key, or make a new one "
            "there."
        )

    def _unknown_model(self) -> ModelUnavailable:
        return ModelUnavailable(
            f"{self._title} knows no model “{self._model}”. {self._missing_model}"
        )

    def _failure(self, status: int, headers: httpx.Headers, said: str) -> ModelUnavailable:
        title = self._title
        wait_s = retry_after_s(headers.get("retry-after"), datetime.now(UTC))
        if 300 <= status < 400:
            return ModelUnavailable(
                f"{title} sends elsewhere ({status}), which is not followed: a key goes to its own "
                "host only. Set background_url to the final address."
            )
        if status == 401:
            return self._wrong_key(status)
        if status == 402 or (status == 429 and "insufficient_quota" in said):
            return ModelUnavailable(
                f"There is no credit left at {title} ({status}). Add some there, or choose another "
                "provider with background."
            )
        if status == 403:
            return ModelUnavailable(
                f"{title} does not allow this key the model “{self._model}” (403). Check what the "
                "key may do, or choose another model with background_model."
            )
        if status == 404:
            return self._unknown_model()
        if status == 429:
            return ModelUnavailable(
                f"{title} asks for a pause: its limit is reached (429). It is asked again later.",
                retry_after_s=wait_s,
            )
        if status >= 500:
            return ModelUnavailable(
                f"{title} has a fault of its own ({status}). It is asked again later.",
                retry_after_s=wait_s,
            )
        return ModelUnavailable(
            f"{title} answered with status {status}. Check its address and the model."
        )


def _encoded(body: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair in what was typed
        return json.dumps(body).encode()


def _shown(url: str) -> str:
    """Host and port, without a name or password that stand before them."""
    return urlsplit(url).netloc.rpartition("@")[2]


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """Retry-After as seconds (RFC 9110, 10.2.3): a number or a date; None where it is neither."""
    if not value:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (at.replace(tzinfo=at.tzinfo or UTC) - now).total_seconds())
