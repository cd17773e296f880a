"""What the OpenAI Realtime engine decides: errors, addresses, words to sound, cuts, seeds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import Speaker, Turn
from voice.engines.realtime_rules import (
    HELD_S,
    IDLE_S,
    MICROPHONE_HZ,
    SEED_CHARS,
    Alignment,
    Delete,
    Item,
    Microphone,
    Truncate,
    Verdict,
    address_fault,
    cut,
    is_open_to_listeners,
    judge,
    judge_close,
    judge_status,
    played_of,
    seed,
    time_is_due,
    time_told,
    with_model,
)
from voice.heard import Piece, heard_text

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
    judgement = judge(code, kind)
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
    assert judge_status(status, code).verdict == verdict


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
    assert judge_close(code, reason).verdict == verdict


ADDRESSES = [
    ("wss://api.openai.com/v1/realtime", "wss://api.openai.com/v1/realtime?model=m"),
    ("ws://127.0.0.1:9000/v1/realtime?a=1", "ws://127.0.0.1:9000/v1/realtime?a=1&model=m"),
    ("ws://[::1]:9/x?model=other", "ws://[::1]:9/x?model=other"),
    ("wss://host/x?", "wss://host/x?model=m"),
]


@pytest.mark.parametrize(("url", "session"), ADDRESSES)
def test_the_model_joins_the_query_that_is_there(url: str, session: str) -> None:
    """An address keeps its own query, and a model named there wins."""
    assert with_model(url, "m") == session


FAULTS = [
    ("wss://api.openai.com/v1/realtime", "k", ""),
    ("wss://api.openai.com/v1/realtime", "", "needs a key"),
    ("wss://eu.api.openai.com/v1/realtime", "", "needs a key"),
    ("ws://127.0.0.1:9000/v1/realtime", "", ""),
    ("ws://127.0.0.1:9000/v1/realtime", "k", ""),
    ("ws://localhost:9000/v1/realtime", "k", ""),
    ("ws://192.168.1.7/v1/realtime", "", ""),
    ("ws://192.168.1.7/v1/realtime", "k", "unencrypted"),
    ("wss://192.168.1.7/v1/realtime", "k", ""),
    ("https://api.openai.com/v1/realtime", "k", "no address"),
    ("ws://", "k", "no address"),
    ("", "k", "no address"),
]


@pytest.mark.parametrize(("url", "key", "words"), FAULTS)
def test_an_address_that_cannot_work_is_told_before_it_is_tried(
    url: str, key: str, words: str
) -> None:
    """A key never crosses a network in the clear; other servers need none."""
    fault = address_fault(url, key)
    assert words in fault and bool(fault) == bool(words)


def test_an_unencrypted_address_elsewhere_is_open_to_listeners() -> None:
    """Loopback and wss are not."""
    assert is_open_to_listeners("ws://192.168.1.7/x")
    assert not is_open_to_listeners("wss://192.168.1.7/x")
    assert not is_open_to_listeners("ws://127.0.0.9/x")


# The microphone ---------------------------------------------------------------------------


def numbered(first: int, count: int) -> bytes:
    return b"".join(
        (number % 65536).to_bytes(2, "little") for number in range(first, first + count)
    )


def test_the_microphone_gives_back_sound_from_a_position_on() -> None:
    """Positions are the stream's own, to the sample."""
    microphone = Microphone()
    for at in range(0, 16_000, 320):
        microphone.append(numbered(at, 320))
    assert microphone.since(990) == numbered(15_840, 160)
    assert microphone.since(0) == numbered(0, 16_000)
    assert microphone.since(1000) == microphone.since(5000) == b""


@pytest.mark.parametrize(
    ("held_from_s", "fed_s", "kept_s"),
    [(None, 60, IDLE_S), (1, 60, 59), (0, 2 * HELD_S, HELD_S), (59, 60, IDLE_S)],
)
def test_what_the_microphone_keeps_is_bounded(
    held_from_s: int | None, fed_s: int, kept_s: int
) -> None:
    """Ten seconds, or all of a turn up to five minutes."""
    microphone = Microphone()
    second = bytes(2 * MICROPHONE_HZ)
    for at in range(fed_s):
        if at == held_from_s:
            microphone.hold(at * 1000)
        microphone.append(second)
    assert len(microphone.since(0)) == kept_s * len(second)
    assert microphone.first_ms == (fed_s - kept_s) * 1000
    microphone.release()
    microphone.append(second)
    assert len(microphone.since(0)) == IDLE_S * len(second)


# Words and sound --------------------------------------------------------------------------

WORDS = st.lists(st.text(alphabet="abcdefü", min_size=1, max_size=9), min_size=1, max_size=30)


@given(words=WORDS, chunks=st.lists(st.integers(1, 30_000), max_size=20), ahead=st.integers(0, 9))
def test_each_word_and_each_sample_comes_out_once_in_order(
    words: list[str], chunks: list[int], ahead: int
) -> None:
    """However words and sound are interleaved, and wherever the words are torn."""
    alignment = Alignment(15.0)
    text = " ".join(words)
    letters = iter(text)
    for _ in range(ahead):
        alignment.add_text(next(letters, ""))
    samples = played = declared = 0
    for chunk in chunks:
        alignment.add_text(next(letters, "") + next(letters, "") + next(letters, ""))
        for part in alignment.add_sound(chunk):
            if part.piece is not None:
                assert declared <= played
                declared += part.piece.samples
            played += part.samples
        samples += chunk
        assert played == samples
    alignment.add_text("".join(letters))
    alignment.rest()
    assert " ".join(piece.text for piece in alignment.pieces) == text == alignment.text
    assert all(piece.text for piece in alignment.pieces)


def test_words_take_the_time_that_the_voice_takes_for_them() -> None:
    """At the right pace the last word begins within half a second of the end."""
    text = " ".join(f"word{number:02}" for number in range(50))
    alignment = Alignment(len(text) / 20)
    alignment.add_text(text + " ")
    for _ in range(100):
        alignment.add_sound(4_800)
    spread = sum(piece.samples for piece in alignment.pieces)
    assert abs(spread - 20 * 24_000) <= 12_000
    assert abs(alignment.pace - len(text) / 20) < 0.1


PIECES = st.lists(
    st.builds(
        lambda words, samples: Piece(" ".join(words), samples), WORDS, st.integers(1, 48_000)
    ),
    min_size=1,
    max_size=6,
)


@given(pieces=PIECES, share=st.floats(0, 1))
def test_the_position_of_what_was_heard_is_the_first_that_gives_it(
    pieces: list[Piece], share: float
) -> None:
    """`played_of` undoes `heard_text`, and never claims more than was played."""
    played = int(share * sum(piece.samples for piece in pieces))
    heard = heard_text(pieces, played)
    position = played_of(pieces, heard)
    assert position <= played
    assert heard_text(pieces, position) == heard


# Cuts -------------------------------------------------------------------------------------

ITEMS = (("a", 24_000), ("b", 48_000), ("c", 24_000))
CUTS: list[tuple[int, bool, tuple[Truncate | Delete, ...]]] = [
    (0, True, (Delete("a"), Delete("b"), Delete("c"))),
    (12_000, True, (Truncate("a", 0, 500), Delete("b"), Delete("c"))),
    (24_000, True, (Delete("b"), Delete("c"))),
    (24_024, True, (Truncate("b", 0, 1), Delete("c"))),
    (95_999, True, (Truncate("c", 0, 999),)),
    (96_000, True, ()),
    (99_000, True, ()),
    (96_000, False, (Truncate("c", 0, 1000),)),
    (24_000, False, (Delete("b"), Delete("c"))),
]


@pytest.mark.parametrize(("played", "complete", "steps"), CUTS)
def test_history_is_cut_to_what_was_played(
    played: int, complete: bool, steps: tuple[Truncate | Delete, ...]
) -> None:
    """Whole items stay, one is truncated, what was not played at all is deleted."""
    items = [Item(name, 0, samples) for name, samples in ITEMS]
    assert cut(items, played, complete=complete) == steps


# Seeds ------------------------------------------------------------------------------------

NOW = datetime(2026, 3, 1, 9, 5, tzinfo=timezone(timedelta(hours=-3, minutes=-30)))


def turn(speaker: Speaker, text: str) -> Turn:
    return Turn(
        conversation="c", index=0, speaker=speaker, text=text, language="en",
        began_at=NOW, ended_at=NOW, origin="spoken",
    )  # fmt: skip


U, A = turn("user", "Hi"), turn("assistant", "Hello")
SEEDS: list[tuple[list[Turn], list[str], list[tuple[str, str]]]] = [
    ([], [], []),
    ([U, A], [], [("user", "Hi"), ("assistant", "Hello")]),
    ([U, A], ["Hi"], [("user", "Hi"), ("assistant", "Hello"), ("user", "Hi")]),
    ([U], ["Hi"], [("user", "Hi")]),
    ([U, U], ["Hi", "Hi"], [("user", "Hi"), ("user", "Hi")]),
    ([U], ["Hi", "Hi"], [("user", "Hi"), ("user", "Hi")]),
    ([U], ["And?"], [("user", "Hi"), ("user", "And?")]),
]


@pytest.mark.parametrize(("turns", "waiting", "items"), SEEDS)
def test_a_new_session_is_told_each_turn_once(
    turns: list[Turn], waiting: list[str], items: list[tuple[str, str]]
) -> None:
    """Words that wait for an answer stand last, whether the transcript has them yet or not."""
    assert seed(turns, waiting) == items


def test_a_long_conversation_is_told_from_its_end() -> None:
    """The latest turns fit the limit, and the last one is always there."""
    told = seed([turn("user", "x" * 1000) for _ in range(100)], [])
    assert len(told) == SEED_CHARS // 1000
    assert seed([turn("user", "x" * 2 * SEED_CHARS)], []) == [("user", "x" * 2 * SEED_CHARS)]


def test_the_time_is_told_in_the_user_s_own_zone() -> None:
    """Day, date, hour and offset."""
    assert time_told(NOW) == "It is Sunday, 1 March 2026, 09:05 (UTC-03:30)."
    assert time_told(NOW.astimezone(UTC)) == "It is Sunday, 1 March 2026, 12:35 (UTC+00:00)."


@pytest.mark.parametrize(("minutes", "due"), [(0, False), (29, False), (30, True), (895, True)])
def test_the_time_is_told_again_rarely(minutes: int, due: bool) -> None:
    """After half an hour, and when the day changed."""
    assert time_is_due(NOW, NOW + timedelta(minutes=minutes)) == due
    before_midnight = NOW.replace(hour=23, minute=59)
    assert time_is_due(before_midnight, before_midnight + timedelta(minutes=1))
