"""Only this machine's own browser, at this page's own address, gets an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from voice.web.guard import Asked, Policy, refusal

OPEN = Policy(port=8765)
GUARDED = Policy(port=8765, token="s3cret")
WIDE = Policy(port=8765, token="s3cret", wide=True, names=frozenset({"desk.local"}))
GET = Asked(method="GET", host="127.0.0.1:8765")
POST = Asked(
    method="POST",
    host="127.0.0.1:8765",
    origin="http://127.0.0.1:8765",
    content_type="application/json",
)

ANSWERED = {
    "a browser's first look": GET,
    "by name": replace(GET, host="localhost:8765"),
    "by name in capitals": replace(GET, host="LOCALHOST:8765"),
    "by IPv6": replace(GET, host="[::1]:8765"),
    "the page's own fetch": replace(GET, origin="http://127.0.0.1:8765", fetch_site="same-origin"),
    "typed into the address bar": replace(GET, fetch_site="none", fetch_mode="navigate"),
    "a link on another site": replace(GET, fetch_site="cross-site", fetch_mode="navigate"),
    "HEAD": replace(GET, method="HEAD"),
    "the page's own POST": POST,
    "POST with a charset": replace(POST, content_type="Application/JSON; charset=utf-8"),
    "POST without Origin, same by Sec-Fetch-Site": replace(
        POST, origin=None, fetch_site="same-origin"
    ),
}

REFUSED = {
    "a name that resolves to this machine": (replace(GET, host="evil.example:8765"), 403),
    "the right name before another": (replace(GET, host="127.0.0.1.evil.example:8765"), 403),
    "another port": (replace(GET, host="127.0.0.1:8766"), 403),
    "no port": (replace(GET, host="127.0.0.1"), 403),
    "no host": (replace(GET, host=None), 403),
    "an empty host": (replace(GET, host=""), 403),
    "a host given twice": (replace(GET, host="127.0.0.1:8765, evil.example"), 403),
    "a user before the host": (replace(GET, host="evil@127.0.0.1:8765"), 403),
    "another loopback address": (replace(GET, host="127.0.0.2:8765"), 403),
    "another site's GET": (replace(GET, origin="https://evil.example"), 403),
    "a page on another port": (replace(GET, origin="http://127.0.0.1:3000"), 403),
    "https where there is none": (replace(GET, origin="https://127.0.0.1:8765"), 403),
    "a sandboxed page": (replace(GET, origin="null"), 403),
    "localhost's page to 127.0.0.1": (replace(GET, origin="http://localhost:8765"), 403),
    "another site's image": (replace(GET, fetch_site="cross-site", fetch_mode="no-cors"), 403),
    "another port's image": (replace(GET, fetch_site="same-site", fetch_mode="no-cors"), 403),
    "another site's POST": (replace(POST, origin="https://evil.example"), 403),
    "another site's form": (
        replace(POST, origin=None, fetch_site="cross-site", fetch_mode="navigate"),
        403,
    ),
    "a POST that says nothing of itself": (replace(POST, origin=None), 403),
    "a POST typed by hand": (replace(POST, origin=None, fetch_site="none"), 403),
    "a form's POST": (replace(POST, content_type="application/x-www-form-urlencoded"), 415),
    "a text POST": (replace(POST, content_type="text/plain"), 415),
    "a POST without a type": (replace(POST, content_type=None), 415),
    "a type that only begins like JSON": (replace(POST, content_type="application/jsonp"), 415),
    "PUT": (replace(POST, method="PUT"), 405),
    "DELETE": (replace(POST, method="DELETE"), 405),
    "a preflight": (replace(GET, method="OPTIONS"), 405),
    "TRACE": (replace(GET, method="TRACE"), 405),
}


@pytest.mark.parametrize("asked", ANSWERED.values(), ids=ANSWERED)
def test_answered(asked: Asked) -> None:
    """The page's own browser is let in."""
    assert refusal(asked, OPEN) is None


@pytest.mark.parametrize(("asked", "status"), REFUSED.values(), ids=REFUSED)
def test_refused(asked: Asked, status: int) -> None:
    """Everything else is told why not, in a sentence."""
    refused = refusal(asked, OPEN)
    assert refused is not None
    assert refused.status == status
    assert refused.message.endswith(".")


@pytest.mark.parametrize(
    ("asked", "let_in"),
    [
        (replace(GET, token="s3cret"), True),
        (replace(GET, cookie="s3cret"), True),
        (replace(POST, cookie="s3cret"), True),
        (replace(GET, cookie="stale", token="s3cret"), True),
        (GET, False),
        (POST, False),
        (replace(GET, token=""), False),
        (replace(GET, token="s3cre"), False),
        (replace(GET, token="s3cretx"), False),
        (replace(GET, token="sécret"), False),
        (replace(GET, cookie="S3CRET"), False),
    ],
)
def test_token(asked: Asked, let_in: bool) -> None:
    """With a token set, only its holder is let in."""
    refused = refusal(asked, GUARDED)
    assert (refused is None) == let_in
    if refused is not None:
        assert refused.status == 401
        assert "s3cret" not in refused.message


def test_a_token_opens_no_other_host() -> None:
    """The token does not replace the check of the host."""
    assert refusal(replace(GET, host="evil.example:8765", token="s3cret"), GUARDED) is not None


def test_port_80() -> None:
    """A browser leaves out port 80, so there the bare name is right."""
    assert refusal(Asked(method="GET", host="localhost"), Policy(port=80)) is None


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8765", None),
        ("192.168.1.20:8765", None),
        ("[fe80::1]:8765", None),
        ("desk.local:8765", None),
        ("desk:8765", 403),
        ("evil.example:8765", 403),
        ("192.168.1.20.evil.example:8765", 403),
        ("192.168.1.20:80", 403),
        ("192.168.1.20", 403),
        ("[fe80::1:8765", 403),
    ],
)
def test_other_machines(host: str, status: int | None) -> None:
    """Who lets other machines in answers at numbers and its own names, never at a foreign one."""
    asked = replace(GET, host=host, cookie="s3cret")
    found = refusal(asked, WIDE)
    assert (found.status if found else None) == status
    without = refusal(replace(asked, cookie=None), WIDE)
    assert without is not None
    assert without.status == (status or 401)


def test_nobody_is_let_in_without_a_token() -> None:
    """A policy for other machines without a token can't be made."""
    with pytest.raises(AssertionError):
        Policy(port=8765, wide=True)
