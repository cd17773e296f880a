"""The page's routes, asked as a browser asks."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.fakes.house import FakeHouse
from voice.errors import CallInProgress, EngineUnavailable, OfferInvalid, VoiceFault, WorkerFailed
from voice.records import StateChanged
from voice.web.house import House
from voice.web.server import STATIC, create_app

ADDRESS = "http://127.0.0.1:8765"
SAME = {"origin": ADDRESS}


@pytest.fixture
async def house() -> AsyncIterator[FakeHouse]:
    shown = FakeHouse()
    yield shown
    await shown.close()


def client(house: House, token: str | None = None) -> httpx.AsyncClient:
    app = create_app(house, port=8765, token=token)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=ADDRESS)


@pytest.fixture
async def browser(house: FakeHouse) -> AsyncIterator[httpx.AsyncClient]:
    async with client(house) as asked:
        yield asked


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/static/styles.css", "/static/icon.svg"])
async def test_parts(browser: httpx.AsyncClient, path: str) -> None:
    """Each part comes under a strict policy and is asked for again the next time."""
    answer = await browser.get(path)
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-cache"
    again = await browser.get(path, headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code in (200, 304)


@pytest.mark.parametrize(
    "part", sorted(str(path.relative_to(STATIC)) for path in STATIC.rglob("*.*"))
)
def test_nothing_from_elsewhere(part: str) -> None:
    """No part of the page names another host, and the page has no script or style inside."""
    rest = (STATIC / part).read_text(encoding="utf-8")
    for name in ("http://www.w3.org/2000/svg", "http://127.0.0.1:"):  # a name, and this machine
        rest = rest.replace(name, "")
    assert "http://" not in rest
    assert "https://" not in rest
    assert "style=" not in rest
    if part.endswith(".html"):
        assert "<style" not in rest
        assert "onclick=" not in rest
        assert rest.count("<script") == rest.count("<script src=") + rest.count("<script type=")


@pytest.mark.parametrize("path", ["/static/../server.py", "/static/%2e%2e/server.py", "/static/no"])
async def test_no_other_files(browser: httpx.AsyncClient, path: str) -> None:
    """Only what lies in the folder of the page is served."""
    assert (await browser.get(path)).status_code == 404


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json"])
async def test_no_documentation_pages(browser: httpx.AsyncClient, path: str) -> None:
    """FastAPI's own pages, which fetch from another host, are off."""
    assert (await browser.get(path)).status_code == 404


async def test_status(house: FakeHouse, browser: httpx.AsyncClient) -> None:
    """The status is the house's, fresh each time."""
    house.shown["loading"] = "the language model, 40 %"
    answer = await browser.get("/api/status")
    assert answer.json()["loading"] == "the language model, 40 %"
    assert answer.json()["call"] is None
    assert answer.headers["cache-control"] == "no-store"


UNREADABLE: dict[str, tuple[str, bytes, int, str]] = {
    "no JSON": ("/api/offer", b"{", 400, "no JSON"),
    "an empty body": ("/api/offer", b"", 400, "no JSON"),
    "not UTF-8": ("/api/chat", b'{"text": "\xff"}', 400, "no JSON"),
    "a list": ("/api/offer", b"[]", 422, "."),
    "no sdp": ("/api/offer", b'{"type": "offer"}', 422, "sdp"),
    "an answer for an offer": ("/api/offer", b'{"sdp": "v=0", "type": "answer"}', 422, "type"),
    "a number for sdp": ("/api/offer", b'{"sdp": 1, "type": "offer"}', 422, "sdp"),
    "no text": ("/api/chat", b"{}", 422, "text"),
    "only spaces": ("/api/chat", b'{"text": "  "}', 422, "text"),
    "too long a text": ("/api/chat", json.dumps({"text": "x" * 8001}).encode(), 422, "8,000"),
    "far too much": ("/api/chat", b" " * 300_000, 413, "too much"),
    "hang up with a list": ("/api/hang-up", b"[]", 422, "."),
}


@pytest.mark.parametrize(
    ("path", "body", "status", "says"), UNREADABLE.values(), ids=list(UNREADABLE)
)
async def test_unreadable(
    house: FakeHouse,
    browser: httpx.AsyncClient,
    path: str,
    body: bytes,
    status: int,
    says: str,
) -> None:
    """What can't be read is refused with a sentence, and nothing happens."""
    headers = {**SAME, "content-type": "application/json"}
    answer = await browser.post(path, content=body, headers=headers)
    assert answer.status_code == status
    assert says in answer.json()["message"]
    assert answer.json()["message"].endswith(".") or status == 413
    assert not house.calls
    assert not house.chats
    assert house.hang_ups == 0


@pytest.mark.parametrize(
    ("fault", "status", "kind"),
    [
        (CallInProgress("A call runs in another window."), 409, "call in progress"),
        (OfferInvalid("The offer can't be read."), 422, "offer invalid"),
        (EngineUnavailable("The model is not there."), 503, "engine failed"),
        (WorkerFailed("Hearing did not start."), 503, "failed"),
    ],
)
@pytest.mark.parametrize(
    ("path", "body"),
    [("/api/offer", {"sdp": "v=0", "type": "offer"}), ("/api/chat", {"text": "Hello"})],
)
async def test_faults(
    house: FakeHouse,
    browser: httpx.AsyncClient,
    path: str,
    body: dict[str, Any],
    fault: VoiceFault,
    status: int,
    kind: str,
) -> None:
    """A fault's own sentence reaches the page, with a status of its own."""
    house.fault = fault
    answer = await browser.post(path, json=body, headers=SAME)
    assert answer.status_code == status
    assert answer.json() == {"error": kind, "message": str(fault)}


async def test_broken_offer(browser: httpx.AsyncClient) -> None:
    """An offer that is none is told apart from an engine that failed."""
    answer = await browser.post("/api/offer", json={"sdp": "v=0", "type": "offer"}, headers=SAME)
    assert answer.status_code == 422
    assert answer.json()["error"] == "offer invalid"


async def test_chat(house: FakeHouse, browser: httpx.AsyncClient) -> None:
    """A typed turn is answered in events, one a line, without a call."""
    answer = await browser.post(
        "/api/chat", json={"text": " Grüß dich ", "pasted": True}, headers=SAME
    )
    assert answer.headers["content-type"] == "application/x-ndjson"
    events = [json.loads(line) for line in answer.text.splitlines()]
    assert [event["turn"]["speaker"] for event in events] == ["user", "assistant"]
    assert events[0]["turn"]["origin"] == "pasted"
    assert house.chats == [("Grüß dich", True)]


async def test_chat_without_events(house: FakeHouse, browser: httpx.AsyncClient) -> None:
    """No event at all is an empty answer."""
    house.chat_events = []
    answer = await browser.post("/api/chat", json={"text": "Hello"}, headers=SAME)
    assert (answer.status_code, answer.content) == (200, b"")


async def test_chat_that_breaks_off(house: FakeHouse, browser: httpx.AsyncClient) -> None:
    """A fault in mid-answer comes as the last event."""
    house.chat_events = [StateChanged(state="thinking")]
    house.late_fault = WorkerFailed("The language model ended with code 1.")
    answer = await browser.post("/api/chat", json={"text": "Hello"}, headers=SAME)
    first, last = (json.loads(line) for line in answer.text.splitlines())
    assert first["type"] == "state"
    assert last == {
        "type": "notice",
        "kind": "stop",
        "text": "The language model ended with code 1.",
    }


async def test_hang_up(house: FakeHouse, browser: httpx.AsyncClient) -> None:
    """Hanging up is asked of the house."""
    answer = await browser.post("/api/hang-up", json={}, headers=SAME)
    assert answer.json() == {"ended": True}
    assert house.hang_ups == 1


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/api/status", {"host": "evil.example:8765"}, 403),
        ("/", {"host": "evil.example:8765"}, 403),
        ("/static/app.js", {"origin": "http://evil.example"}, 403),
    ],
)
async def test_guarded(
    browser: httpx.AsyncClient, path: str, headers: dict[str, str], status: int
) -> None:
    """The guard stands before every route, and its answers carry the policy too."""
    answer = await browser.get(path, headers=headers)
    assert answer.status_code == status
    assert "default-src 'none'" in answer.headers["content-security-policy"]


async def test_cross_site_posts(house: FakeHouse, browser: httpx.AsyncClient) -> None:
    """Another site's form can't hang up."""
    answer = await browser.post("/api/hang-up", json={}, headers={"origin": "http://evil.example"})
    assert answer.status_code == 403
    answer = await browser.post("/api/hang-up", data={"x": "y"}, headers=SAME)
    assert answer.status_code == 415
    assert house.hang_ups == 0


async def test_token(house: FakeHouse) -> None:
    """The token in the address becomes a cookie and leaves the address."""
    async with client(house, token="s3cret") as browser:
        assert (await browser.get("/")).status_code == 401
        assert (await browser.get("/static/app.js")).status_code == 401
        assert (await browser.get("/?token=wrong")).status_code == 401
        opened = await browser.get("/?lang=de&token=s3cret")
        assert opened.status_code == 303
        assert opened.headers["location"] == "/?lang=de"
        cookie = opened.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert (await browser.get("/")).status_code == 200
        assert (await browser.post("/api/hang-up", json={}, headers=SAME)).status_code == 200
