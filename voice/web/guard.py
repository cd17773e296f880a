"""Who may reach the page: this machine's own browser at this page's own address.

`refusal` decides from what a request says of itself. Against other sites' pages it looks
at Origin and Sec-Fetch-*, against a foreign name that resolves to this machine (DNS
rebinding) at Host, against other users of a machine or a network at the token.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import parse_qsl, urlencode

from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "media-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)

_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"microphone=(self), camera=(), geolocation=()"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """`token`, when set, must come once in the address and later in a cookie.

    `wide`: other machines may ask too, at this one's addresses as numbers or by `names`. Such a
    number can't be made to mean another machine, as a foreign name can.
    """

    port: int
    token: str | None = None
    wide: bool = False
    names: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        assert self.token or not self.wide, "whoever lets others in needs a token"

    @property
    def hosts(self) -> frozenset[str]:
        names = ("127.0.0.1", "localhost", "[::1]")
        with_port = {f"{name}:{self.port}" for name in names}
        return frozenset(with_port | set(names) if self.port == 80 else with_port)

    def knows(self, host: str) -> bool:
        """Whether `host`, in small letters, is an address of this page's."""
        if host in self.hosts:
            return True
        name, colon, port = host.rpartition(":")
        if not self.wide or not colon or port != str(self.port):
            return False
        return name in self.names or _is_number(name)

    @property
    def cookie(self) -> str:
        """Cookies don't tell ports apart, so the name does."""
        return f"jarvis-{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a request says of itself. Headers are None where absent."""

    method: str
    host: str | None
    origin: str | None = None
    fetch_site: str | None = None
    fetch_mode: str | None = None
    content_type: str | None = None
    cookie: str | None = None
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    message: str


def _is_number(name: str) -> bool:
    try:
        ip_address(name[1:-1] if name.startswith("[") and name.endswith("]") else name)
    except ValueError:
        return False
    return True


def _same(given: str | None, wanted: str) -> bool:
    return given is not None and hmac.compare_digest(given.encode(), wanted.encode())


def refusal(asked: Asked, policy: Policy) -> Refusal | None:
    """Why this request gets no answer, or None."""
    host = (asked.host or "").lower()
    if not policy.knows(host):
        return Refusal(403, f"This page answers only at http://127.0.0.1:{policy.port}/.")
    if asked.method not in ("GET", "HEAD", "POST"):
        return Refusal(405, "This page knows GET, HEAD and POST only.")
    if asked.origin is not None and asked.origin.lower() != f"http://{host}":
        return Refusal(403, "Another site's page asked. Only Jarvis' own page may.")
    navigating = asked.method == "GET" and asked.fetch_mode == "navigate"
    if asked.fetch_site in ("cross-site", "same-site") and not navigating:
        return Refusal(403, "Another site's page asked. Only Jarvis' own page may.")
    if asked.method == "POST":
        if asked.origin is None and asked.fetch_site != "same-origin":
            return Refusal(
                403, "The request doesn't say which page it comes from (Origin is missing)."
            )
        kind = (asked.content_type or "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return Refusal(415, "Send JSON (content-type: application/json).")
    if policy.token is not None and not (
        _same(asked.cookie, policy.token) or _same(asked.token, policy.token)
    ):
        return Refusal(
            401, "This page is guarded. Open the address with ?token=… that Jarvis printed."
        )
    return None


class Guard:
    """ASGI middleware: refuses what `refusal` refuses and sets the headers of every answer."""

    def __init__(self, app: ASGIApp, policy: Policy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *_HEADERS]}
            await send(message)

        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        asked = _asked(scope, self._policy, dict(query).get("token"))
        refused = refusal(asked, self._policy)
        if refused is not None:
            await _answer(send_guarded, refused.status, refused.message)
        elif self._policy.token is not None and asked.method == "GET" and asked.token is not None:
            # On to the same address without the token, so that it isn't left in view.
            rest = urlencode([(name, value) for name, value in query if name != "token"])
            place = scope["path"] + (f"?{rest}" if rest else "")
            cookie = (
                f"{self._policy.cookie}={self._policy.token}; Path=/; HttpOnly; SameSite=Strict"
            )
            headers = ((b"location", place.encode()), (b"set-cookie", cookie.encode()))
            await _answer(send_guarded, 303, "", headers)
        else:
            await self._app(scope, receive, send_guarded)


def _asked(scope: Scope, policy: Policy, token: str | None) -> Asked:
    headers = _single(scope)
    return Asked(
        method=scope["method"],
        host=headers.get("host"),
        origin=headers.get("origin"),
        fetch_site=headers.get("sec-fetch-site"),
        fetch_mode=headers.get("sec-fetch-mode"),
        content_type=headers.get("content-type"),
        cookie=_cookie(headers.get("cookie", ""), policy.cookie),
        token=token,
    )


def _single(scope: Scope) -> Mapping[str, str]:
    """Headers by name. One that comes twice is joined, and so fits no rule."""
    headers: dict[str, str] = {}
    for name_bytes, value_bytes in scope["headers"]:
        name, value = name_bytes.decode("latin-1").lower(), value_bytes.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _cookie(header: str, name: str) -> str | None:
    try:
        morsel = SimpleCookie(header).get(name)
    except CookieError:
        return None
    return morsel.value if morsel is not None else None


async def _answer(
    send: Send, status: int, text: str, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    body = text.encode()
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", b"text/plain; charset=utf-8"),
                (b"content-length", str(len(body)).encode()),
                (b"cache-control", b"no-store"),
                *headers,
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})
