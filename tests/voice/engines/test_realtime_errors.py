"""What an error of a realtime service means for the call, row by row."""

from __future__ import annotations

import pytest

from voice.engines.realtime_errors import GEMINI, OPENAI, ErrorTable, Judgement, Verdict

ERRORS: list[tuple[str | None, str | None, Verdict]] = [
    ("response_cancel_not_active", "invalid_request_error", "harmless"),
    ("conversation_already_has_active_response", "invalid_request_error", "harmless"),
    ("input_audio_buffer_commit_empty", "invalid_request_error", "harmless"),
    ("item_truncate_invalid_item_id", "invalid_request_error", "harmless"),
    ("a_new_code", "invalid_request_error", "harmless"),
    ("a_new_code", "a_new_type", "harmless"),
    (None, None, "harmless"),
    ("rate_limit_exceeded", "rate_limit_error", "again"),
    ("rate_limit_exceeded", "tokens", "again"),
    (None, "server_error", "again"),
    ("a_new_code", "rate_limit_error", "again"),
    ("session_expired", "invalid_request_error", "reconnect"),
    ("invalid_api_key", "invalid_request_error", "fatal"),
    ("insufficient_quota", "insufficient_quota", "fatal"),
    (None, "authentication_error", "fatal"),
    ("model_not_found", "invalid_request_error", "fatal"),
    ("unsupported_country_region_territory", "request_forbidden", "fatal"),
]


@pytest.mark.parametrize(("code", "kind", "verdict"), ERRORS)
def test_an_error_is_judged_by_its_code_then_by_its_type(
    code: str | None, kind: str | None, verdict: Verdict
) -> None:
    """What nobody knows is harmless; what ends a call comes with a sentence."""
    judgement = OPENAI.judge(code, kind)
    assert judgement.verdict == verdict
    assert bool(judgement.text) == (verdict != "harmless")


STATUSES: list[tuple[int, str | None, Verdict]] = [
    (401, None, "fatal"),
    (403, "unsupported_country_region_territory", "fatal"),
    (404, None, "fatal"),
    (429, None, "again"),
    (429, "insufficient_quota", "fatal"),
    (429, "invalid_value", "again"),
    (500, None, "reconnect"),
    (503, None, "reconnect"),
]


@pytest.mark.parametrize(("status", "code", "verdict"), STATUSES)
def test_a_refused_handshake_is_judged_by_code_and_status(
    status: int, code: str | None, verdict: Verdict
) -> None:
    """A quota that is used up answers 429 as well, and waiting doesn't help there."""
    assert OPENAI.judge_status(status, code).verdict == verdict


CLOSES: list[tuple[int | None, str, Verdict]] = [
    (None, "", "reconnect"),
    (1000, "", "reconnect"),
    (1011, "keepalive ping timeout", "reconnect"),
    (1001, "session_expired", "reconnect"),
    (3000, "invalid_request_error.invalid_api_key", "fatal"),
    (4000, "invalid_request_error.model_not_found", "fatal"),
    (3000, "invalid_request_error.rate_limit_exceeded", "reconnect"),
]


@pytest.mark.parametrize(("code", "reason", "verdict"), CLOSES)
def test_a_closed_socket_is_judged_by_its_reason(
    code: int | None, reason: str, verdict: Verdict
) -> None:
    """Only a reason that no new session can mend is fatal."""
    assert OPENAI.judge_close(code, reason).verdict == verdict


@pytest.mark.parametrize(
    ("code", "judgement"), sorted(OPENAI.by_code.items()), ids=sorted(OPENAI.by_code)
)
def test_each_documented_code_is_judged_by_its_row(code: str, judgement: Judgement) -> None:
    """Whatever the error's type says; and what stops the call says what to do."""
    for kind in (None, "invalid_request_error", "server_error", "a_new_type"):
        assert OPENAI.judge(code, kind) is judgement
    assert bool(judgement.text) == (judgement.verdict != "harmless")


GEMINI_CLOSES: list[tuple[int | None, str, Verdict]] = [
    (1000, "", "reconnect"),
    (1001, "", "reconnect"),
    (None, "", "reconnect"),
    (1006, "", "reconnect"),
    (1007, "Request contains an invalid argument.", "reconnect"),
    (1007, "API key not valid. Please pass a valid API key.", "fatal"),
    (1008, "models/x is not found for API version v1beta, or is not supported", "fatal"),
    (1008, "Operation is not implemented, or supported, or enabled.", "reconnect"),
    (1008, "Your API key was reported as leaked. Please use another API key.", "fatal"),
    (1011, "Internal error encountered.", "reconnect"),
    (1011, "Deadline expired before operation could complete.", "reconnect"),
    (1011, "You exceeded your current quota, please check your plan", "again"),
    (1011, "Resource has been exhausted (e.g. check quota).", "again"),
    (1007, "User location is not supported for the API use.", "fatal"),
]


@pytest.mark.parametrize(("code", "reason", "verdict"), GEMINI_CLOSES)
def test_a_socket_that_gemini_closes_is_judged_by_its_sentence(
    code: int | None, reason: str, verdict: Verdict
) -> None:
    """What a new key or setting must mend is fatal, all else is tried again."""
    assert GEMINI.judge_close(code, reason).verdict == verdict


@pytest.mark.parametrize("table", [OPENAI, GEMINI], ids=["OpenAI", "Gemini"])
def test_what_nobody_knows_does_not_end_the_call(table: ErrorTable) -> None:
    """An unknown code is harmless, an unknown status or close is tried again."""
    assert table.judge("a_new_code", "a_new_type").verdict == "harmless"
    assert table.judge_status(418).verdict == "reconnect"
    assert table.judge_close(4999, "a new reason").verdict == "reconnect"
