"""The request's shape: what grows, what is cut, what is dropped."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from memory.records import Speaker, Turn
from voice.engines.embedded import rendered
from voice.engines.history import History, room_chars
from voice.engines.language_model import Message
from voice.engines.told import time_told

NOW = datetime(2026, 12, 2, 10, 5, tzinfo=UTC)
PREFIX = "You are Jarvis.\n<USER.md>\n- My sister Anna was born on March 12.\n</USER.md>\n"


def turn(speaker: Speaker, text: str, *, interrupted: bool = False) -> Turn:
    return Turn(
        conversation="c1",
        index=0,
        speaker=speaker,
        text=text,
        language="en",
        began_at=NOW,
        ended_at=NOW,
        origin="spoken",
        interrupted=interrupted,
    )


def history(*, room: int = 10_000, earlier: tuple[Turn, ...] = ()) -> History:
    return History(PREFIX, room_chars=room, earlier=earlier)


def told(of: History) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in of.messages()[1:]]


def exchange(of: History, said: str, answer: str) -> int:
    number = of.said(said)
    of.answered(number, answer)
    return number


def test_time_comes_behind_the_prefix() -> None:
    """The request is: the prefix to the byte, the time, then what was said."""
    one = history()
    one.tell_time(NOW)
    assert one.messages("Hello") == [
        Message("system", PREFIX),
        Message("system", "It is Wednesday, 2 December 2026, 10:05."),
        Message("user", "Hello"),
    ]


def test_time_is_told_every_ten_minutes() -> None:
    """A clock that was told less than ten minutes ago is not told again."""
    one = history()
    for minutes in (0, 3, 9, 10, 15, 20):
        one.tell_time(NOW + timedelta(minutes=minutes))
    times = [NOW, NOW + timedelta(minutes=10), NOW + timedelta(minutes=20)]
    assert told(one) == [("system", time_told("local", time)) for time in times]


def test_a_clock_that_was_set_back_is_told() -> None:
    """After the wall clock went back the time is told anew."""
    one = history()
    one.tell_time(NOW)
    one.tell_time(NOW - timedelta(hours=1))
    assert len(told(one)) == 2


def test_an_answer_that_was_heard_stays_as_the_model_wrote_it() -> None:
    """Heard to its end, an answer keeps the model's own bytes, so that the cache holds."""
    one = history()
    exchange(one, "When?", "On March 12,\n in spring.")
    one.heard(turn("assistant", "On March 12, in spring."))
    assert told(one) == [("user", "When?"), ("assistant", "On March 12,\n in spring.")]


def test_an_interrupted_answer_is_cut_to_what_was_heard() -> None:
    """Behind the words that were heard stands a mark, and the rest is gone."""
    one = history()
    exchange(one, "Tell me a story.", "Once there was a dog. It had a cat.")
    one.interrupted()
    assert told(one) == [("user", "Tell me a story.")]
    one.heard(turn("assistant", "Once there was", interrupted=True))
    assert told(one) == [
        ("user", "Tell me a story."),
        ("assistant", "Once there was … [interrupted]"),
    ]


def test_an_answer_that_nobody_heard_is_gone() -> None:
    """Interrupted before its first sample: only the user's words remain (v7)."""
    one = history()
    exchange(one, "Tell me a story.", "Once there was a dog.")
    one.interrupted()
    exchange(one, "Stop.", "Fine.")
    one.heard(turn("assistant", "Fine."))
    assert told(one) == [
        ("user", "Tell me a story."),
        ("user", "Stop."),
        ("assistant", "Fine."),
    ]


def test_what_was_heard_belongs_to_the_answer_that_holds_its_words() -> None:
    """Of two open answers the one with these words is cut, the other waits."""
    one = history()
    exchange(one, "A?", "Alpha beta gamma.")
    exchange(one, "B?", "Delta epsilon.")
    one.heard(turn("assistant", "Alpha beta", interrupted=True))
    assert told(one)[1] == ("assistant", "Alpha beta … [interrupted]")
    one.heard(turn("assistant", "Delta", interrupted=True))
    assert told(one)[3] == ("assistant", "Delta … [interrupted]")


def test_users_turns_are_not_added_twice() -> None:
    """The transcript tells the user's turn as well; it is in the history by then."""
    one = history()
    one.said("Hello")
    one.heard(turn("user", "Hello"))
    assert told(one) == [("user", "Hello")]


def test_a_failed_session_s_turns_come_first() -> None:
    """What another engine had heard is where the conversation begins."""
    earlier = (turn("user", "Hi."), turn("assistant", "Hello Dan", interrupted=True))
    assert told(history(earlier=earlier)) == [
        ("user", "Hi."),
        ("assistant", "Hello Dan … [interrupted]"),
    ]


def test_news_is_appended_and_outlives_shortening() -> None:
    """News is newer than the prefix, so it stays when older turns are dropped."""
    one = history(room=400)
    one.tell_time(NOW)
    exchange(one, "q" * 100, "a" * 100)
    one.tell_news("USER.md, new: - I moved to Kiel.")
    exchange(one, "r" * 100, "b" * 100)
    assert one.shorten()
    exchange(one, "s", "c")
    assert told(one)[0] == ("system", "USER.md, new: - I moved to Kiel.")
    assert ("user", "q" * 100) not in told(one)


def test_shortening_never_begins_with_an_answer() -> None:
    """What is kept begins with the user's words."""
    one = history(room=600)
    for index in range(8):
        exchange(one, f"{index} {'q' * 50}", f"{index} {'a' * 50}")
        one.heard(turn("assistant", f"{index} {'a' * 50}"))
    assert one.shorten()
    roles = [role for role, _ in told(one)]
    assert roles
    assert roles == ["user", "assistant"] * (len(roles) // 2)


def test_an_answer_that_was_dropped_can_still_be_given_and_heard() -> None:
    """An answer under way while its question is dropped disturbs nothing."""
    one = history(room=10)
    number = one.said("q" * 100)
    assert one.shorten()
    one.answered(number, "too late")
    one.heard(turn("assistant", "too late"))
    assert told(one) == []


@pytest.mark.parametrize(
    ("context_tokens", "prefix_chars", "room"),
    [
        (8192, 2_000, 10_000),  # a large context still bounds the conversation
        (4096, 3_000, 5_960),
        (4096, 16_000, 600),  # never nothing
    ],
)
def test_room(context_tokens: int, prefix_chars: int, room: int) -> None:
    """Prefix, conversation and answer fit together, counted on the safe side."""
    assert room_chars(context_tokens, "x" * prefix_chars) == room


@pytest.mark.parametrize("seed", range(3))
def test_a_thousand_turns(seed: int) -> None:
    """One prefix over 1,000 turns; each request extends the one before, but for cuts and steps.

    Steps are rare: the cache is lost once in many turns, never at each.
    """
    random_ = random.Random(seed)  # noqa: S311 - a seeded walk, no secret
    one = history(room=4_000)
    now, before, steps = NOW, "", 0
    begin = rendered(one.messages())
    for index in range(1_000):
        now += timedelta(seconds=random_.randint(5, 240))
        shortened = one.shorten()
        steps += shortened
        one.tell_time(now)
        one.tell_language(random_.choice(["Auf Deutsch."] * 9 + ["In English."]))
        if random_.random() < 0.02:
            one.tell_news(f"USER.md, new: - fact {index}")
        said = " ".join("wort" for _ in range(random_.randint(1, 30))) + f" {index}"
        request = rendered(one.messages(said))
        assert request.startswith(begin)
        assert shortened or request.startswith(before)
        number = one.said(said)
        answer = " ".join("Antwort" for _ in range(random_.randint(1, 40))) + f" {index}."
        one.answered(number, answer)
        if random_.random() < 0.1:
            one.interrupted()
            heard = answer.split()[: random_.randint(0, 5)]
            if heard:
                one.heard(turn("assistant", " ".join(heard), interrupted=True))
        else:
            one.heard(turn("assistant", answer))
        before = rendered(one.messages())
        assert before.startswith(request)
    assert 0 < steps < 1_000 / 5


def test_notes_stand_in_one_request_and_never_in_the_history() -> None:
    """What goes before them is to the byte what it was without, over 1,000 turns (N1)."""
    plain, noted = history(), history()
    plain.tell_time(NOW)
    noted.tell_time(NOW)
    for number in range(1_000):
        said = f"Question {number}?"
        notes = f"<notes>\n[note {number}]\nSecret {number}.\n</notes>"
        *before, last = noted.messages(said, notes)
        assert last == Message("user", f"{notes}\n\n{said}")
        assert rendered(before) == rendered(plain.messages(said)[:-1])
        for one in (plain, noted):
            exchange(one, said, f"Answer {number}.")
            one.shorten()
    assert noted.messages() == plain.messages()
    assert noted.messages()[0] == Message("system", PREFIX)
    assert "Secret" not in rendered(noted.messages())


def test_a_turn_without_notes_is_asked_as_before() -> None:
    """Where nothing was found the request is to the byte what it was."""
    assert history().messages("Hello", "") == history().messages("Hello")


def test_what_was_answered_to_other_words() -> None:
    """An answer to these very words is no other's; of one that was cut the whole counts."""
    one = history(earlier=(turn("user", "Who?"), turn("assistant", "Anna.")))
    exchange(one, "A?", "Alpha beta gamma.")
    one.interrupted()
    one.heard(turn("assistant", "Alpha", interrupted=True))
    exchange(one, "B?", "Delta.")
    assert one.answers_to_others("B?") == ["Anna.", "Alpha beta gamma."]
    assert one.answers_to_others("C?") == ["Anna.", "Alpha beta gamma.", "Delta."]


def test_a_question_asked_alone() -> None:
    """Without what was said, but with all that was told: time, news, and last the language."""
    one = history()
    one.tell_time(NOW)
    one.tell_language("In English.")
    exchange(one, "A?", "Alpha.")
    one.tell_news("USER.md, new: - I moved to Kiel.")
    assert [message.content for message in one.messages("B?", alone=True)] == [
        PREFIX,
        time_told("local", NOW),
        "USER.md, new: - I moved to Kiel.",
        "In English.",
        "B?",
    ]


def test_an_example_goes_with_its_language() -> None:
    """Behind the line that tells it, in every request, and again with another language."""
    german = (Message("user", "Mein Rad ist grün."), Message("assistant", "Dein Rad ist grün."))
    one = history()
    one.tell_language("Auf Deutsch.", german)
    exchange(one, "A?", "Alpha.")
    one.tell_language("Auf Deutsch.", german)
    assert told(one)[:3] == [
        ("system", "Auf Deutsch."),
        ("user", "Mein Rad ist grün."),
        ("assistant", "Dein Rad ist grün."),
    ]
    assert len(told(one)) == 5
    assert one.answers_to_others("A?") == ["Dein Rad ist grün."]
    assert one.messages("B?", alone=True)[1:] == [
        Message("system", "Auf Deutsch."),
        *german,
        Message("user", "B?"),
    ]


def test_what_is_hidden_is_never_shown_and_still_heard() -> None:
    """The model doesn't see it, but it counts as an answer to something else."""
    one = history()
    number = one.said("Turn on the lamp.", hidden=True)
    one.answered(number, "I can't do that here.")
    one.heard(turn("assistant", "I can't do that here."))
    exchange(one, "A?", "Alpha.")
    assert told(one) == [("user", "A?"), ("assistant", "Alpha.")]
    assert one.answers_to_others("A?") == ["I can't do that here."]
