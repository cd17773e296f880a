"""What goes wrong with a realtime service, and what it means for the call: one table a service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["harmless", "again", "reconnect", "fatal"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an error of the server means for the call, and the sentence for the user.

    "harmless": nothing follows. "again": the response is asked for once more after a
    pause. "reconnect": only a new session helps. "fatal": no try of ours can help.
    """

    verdict: Verdict
    text: str = ""


class SessionRefused(Exception):
    """There is no session; the judgement says whether another try can help."""

    def __init__(self, judgement: Judgement) -> None:
        super().__init__(judgement.text)
        self.judgement = judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorTable:
    """A service's errors. `by_reason` are pieces of a closed socket's reason, in lower case, the
    first that is found decides; a service that puts `type.code` there needs none."""

    by_code: Mapping[str, Judgement]
    by_type: Mapping[str, Judgement] = field(default_factory=dict)
    by_status: Mapping[int, Judgement] = field(default_factory=dict)
    by_reason: tuple[tuple[str, Judgement], ...] = ()

    def judge(self, code: str | None, kind: str | None = None) -> Judgement:
        """By the error's code, else by its type. What nobody knows is harmless: never go deaf."""
        return self.by_code.get(code or "") or self.by_type.get(kind or "") or HARMLESS

    def judge_status(self, status: int, code: str | None = None) -> Judgement:
        """A refused handshake: HTTP status, and the code in its body where there is one."""
        known = self.by_code.get(code or "")
        if known is not None and known is not HARMLESS:
            return known
        return self.by_status.get(status) or Judgement(
            "reconnect", f"The server answered with HTTP status {status}, not with a session."
        )

    def judge_close(self, code: int | None, reason: str) -> Judgement:
        """A closed socket, by its reason: "….invalid_api_key", or a sentence."""
        known = self.by_code.get(reason.rpartition(".")[2].strip())
        if known is not None and known.verdict == "fatal":
            return known
        low = reason.lower()
        for piece, judgement in self.by_reason:
            if piece in low:
                return judgement
        return Judgement("reconnect", f"The connection was closed (code {code or 1006}).")


HARMLESS = Judgement("harmless")
BUSY = Judgement("again", "The server is busy or limits how often it answers. Wait a moment.")
BROKEN = Judgement("again", "The server failed while it answered. Say it once more.")
EXPIRED = Judgement("reconnect", "The session reached the server's time limit.")
QUOTA = Judgement(
    "fatal",
    "The account behind the key has no credit left. Add credit, or use the local engine.",
)
REGION = Judgement(
    "fatal", "The server doesn't serve this country. Use the local engine or another address."
)
ACCOUNT = Judgement(
    "fatal", "The account behind the key is blocked. Ask the provider, or use the local engine."
)
PREFIX = Judgement(
    "fatal",
    "The notebooks are too long for this server (16,384 tokens at most). Shorten USER.md or "
    "MEMORY.md.",
)


def _key(service: str) -> Judgement:
    return Judgement(
        "fatal",
        f"The server refused the key. Check the setting {service}_key, or make a new key.",
    )


def _model(service: str) -> Judgement:
    return Judgement(
        "fatal",
        "The server doesn't know the model, or the key may not use it. Check the setting "
        f"{service}_model.",
    )


def _address(service: str) -> Judgement:
    return Judgement(
        "fatal",
        "Nothing speaks this protocol at this address, or the model is unknown there. "
        f"Check the settings {service}_url and {service}_model.",
    )


OPENAI = ErrorTable(
    by_code={
        "response_cancel_not_active": HARMLESS,
        "conversation_already_has_active_response": HARMLESS,
        "input_audio_buffer_commit_empty": HARMLESS,
        "item_truncate_invalid_item_id": HARMLESS,
        "item_truncate_invalid_audio_end_ms": HARMLESS,
        "item_delete_invalid_item_id": HARMLESS,
        "item_retrieve_invalid_item_id": HARMLESS,
        "item_create_duplicate_item_id": HARMLESS,
        "item_create_invalid_previous_item_id": HARMLESS,
        "invalid_value": HARMLESS,
        "invalid_type": HARMLESS,
        "unknown_parameter": HARMLESS,
        "missing_required_parameter": HARMLESS,
        "invalid_event": HARMLESS,
        "invalid_json": HARMLESS,
        "invalid_tool_call_id": HARMLESS,
        "rate_limit_exceeded": BUSY,
        "rate_limit_error": BUSY,
        "overloaded": BUSY,
        "server_overloaded": BUSY,
        "service_unavailable": BUSY,
        "inference_rate_limit_exceeded": BUSY,
        "server_error": BROKEN,
        "internal_error": BROKEN,
        "session_expired": EXPIRED,
        "session_not_found": EXPIRED,
        "connection_timeout": EXPIRED,
        "invalid_api_key": _key("openai"),
        "missing_api_key": _key("openai"),
        "expired_api_key": _key("openai"),
        "invalid_authentication": _key("openai"),
        "insufficient_quota": QUOTA,
        "billing_hard_limit_reached": QUOTA,
        "billing_not_active": QUOTA,
        "model_not_found": _model("openai"),
        "invalid_model": _model("openai"),
        "insufficient_permissions": _model("openai"),
        "unsupported_country_region_territory": REGION,
        "account_deactivated": ACCOUNT,
        "organization_deactivated": ACCOUNT,
        "string_above_max_length": PREFIX,
        "instructions_too_long": PREFIX,
    },
    by_type={
        "invalid_request_error": HARMLESS,
        "server_error": BROKEN,
        "rate_limit_error": BUSY,
        "tokens": BUSY,
        "requests": BUSY,
        "authentication_error": _key("openai"),
        "permission_error": _model("openai"),
        "insufficient_quota": QUOTA,
    },
    by_status={
        401: _key("openai"),
        402: QUOTA,
        403: _model("openai"),
        404: _address("openai"),
        429: BUSY,
    },
)

# Gemini Live has no error events: it closes the socket, with a sentence as its reason.
GEMINI = ErrorTable(
    by_code={
        "UNAUTHENTICATED": _key("gemini"),
        "API_KEY_INVALID": _key("gemini"),
        "PERMISSION_DENIED": _model("gemini"),
        "NOT_FOUND": _address("gemini"),
        "RESOURCE_EXHAUSTED": BUSY,
        "UNAVAILABLE": BUSY,
        "INTERNAL": BROKEN,
        "DEADLINE_EXCEEDED": EXPIRED,
    },
    by_status={
        400: _address("gemini"),
        401: _key("gemini"),
        403: _key("gemini"),
        404: _address("gemini"),
        429: BUSY,
    },
    by_reason=(
        ("api key not valid", _key("gemini")),
        ("api key expired", _key("gemini")),
        ("api_key_invalid", _key("gemini")),
        ("reported as leaked", _key("gemini")),
        ("unregistered callers", _key("gemini")),
        ("user location is not supported", REGION),
        ("billing", QUOTA),
        ("prepayment credits are depleted", QUOTA),
        ("is not found for api version", _model("gemini")),
        ("not supported for bidigeneratecontent", _model("gemini")),
        ("has been suspended", ACCOUNT),
        ("exceeded your current quota", BUSY),
        ("resource has been exhausted", BUSY),
        ("deadline expired", EXPIRED),
    ),
)
