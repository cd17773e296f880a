from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memory import conversations, reviews, store
from memory.conversations import Conversation
from memory.errors import StateUnwritable
from memory.records import Proposal
from memory.reviews import (
    LONGEST_WAIT,
    NONSENSE_TRIES,
    WAITS,
    Failure,
    Fault,
    Proposed,
    Reviews,
    Waiting,
    next_try,
)
from tests.memory.turns import NOON, turn

LATER = NOON + timedelta(hours=1)
ANSWER = Proposed(
    proposals=(
        Proposal(
            operation="add", notebook="USER.md", entry=None, text="Ich bin Veganer.", quote="„🙂“"
        ),
    ),
    marked=3,
    asked=2,
    model="m",
    billing="local",
    tokens_in=900,
    tokens_out=None,
)


def failure(fault: Fault = "unavailable", model: str = "m", minutes: int = 0) -> Failure:
    at = NOON + timedelta(minutes=minutes)
    return Failure(at=at, fault=fault, model=model, message="?", next_at=at + timedelta(minutes=5))


def said(state: Path, *batches: int, name: str = "c1", over: bool = True) -> Conversation:
    """A conversation with a hand-over after each batch of so many turns."""
    conversation = Conversation.begin(state, name, "call", NOON)
    index = 0
    for size in batches:
        for _ in range(size):
            conversation.observe(turn(index, conversation=name))
            index += 1
        conversation.hand_over("30 turns", NOON + timedelta(seconds=index))
    if over:
        conversation.close()
    return conversation


def spans(waiting: list[Waiting]) -> list[tuple[int, int]]:
    return [(w.hand_over.first_index, w.hand_over.last_index) for w in waiting]


def files(state: Path) -> list[str]:
    return sorted(str(path.relative_to(state)) for path in state.rglob("*.jsonl"))


def test_a_hand_over_waits_with_what_was_said_before_it(tmp_path: Path) -> None:
    """Each hand-over waits by itself; the turns before it are there to be looked up."""
    said(tmp_path, 3, 2)
    first, second = Reviews(tmp_path).waiting()
    assert [t.index for t in first.turns] == [0, 1, 2]
    assert [t.index for t in second.turns] == [0, 1, 2, 3, 4]
    assert [t.index for t in second.handed_over] == [3, 4]
    assert first.key != second.key


def test_what_waits_says_how_much_is_marked(tmp_path: Path) -> None:
    """The sentences that a review would be about are counted, of the turns handed over only."""
    conversation = Conversation.begin(tmp_path, "c1", "call", NOON)
    for index, text in enumerate(
        ("I'm vegan by the way", "Okay.", "set a timer", "Done.", "I live in Kiel")
    ):
        conversation.observe(turn(index, text))
        if index in (1, 3):
            conversation.hand_over("silence", NOON + timedelta(minutes=index))
    conversation.hand_over("hang-up", LATER)
    conversation.close()
    assert [waiting.marked for waiting in Reviews(tmp_path).waiting()] == [1, 0, 1]


def test_oldest_first_and_by_conversation(tmp_path: Path) -> None:
    """What waits is listed by the time of its hand-over, or for one conversation."""
    said(tmp_path, 4, name="b")
    said(tmp_path, 2, 4, name="a")
    reviews = Reviews(tmp_path)
    assert [w.hand_over.conversation for w in reviews.waiting()] == ["a", "b", "a"]
    assert spans(reviews.waiting("a")) == [(0, 1), (2, 5)]
    assert reviews.waiting("c") == []


def test_what_is_reviewed_waits_no_more(tmp_path: Path) -> None:
    """A reviewed hand-over is gone for every process, while its conversation goes on."""
    conversation = said(tmp_path, 3, 2, over=False)
    reviews = Reviews(tmp_path)
    [first, second] = reviews.waiting()
    reviews.reviewed(first)
    assert spans(Reviews(tmp_path).waiting()) == [(3, 4)]
    assert reviews.fresh(first) is None
    assert reviews.fresh(second) == second
    reviews.reviewed(second)
    assert not reviews.finish("c1")
    conversation.observe(turn(5))
    conversation.hand_over("hang-up", LATER)
    conversation.close()
    assert spans(reviews.waiting()) == [(5, 5)]


def test_an_answer_is_kept_until_it_is_applied(tmp_path: Path) -> None:
    """The answer comes back as it was, and waits for nothing."""
    said(tmp_path, 3)
    reviews = Reviews(tmp_path)
    [waiting] = reviews.waiting()
    reviews.failed(waiting, failure())
    reviews.asking(waiting, NOON, "m")
    reviews.proposed(waiting, ANSWER)
    [again] = Reviews(tmp_path).waiting()
    assert again.proposed == ANSWER
    assert again.failures == (failure(),)
    assert again.next_at is None


def test_failures_are_counted_across_restarts(tmp_path: Path) -> None:
    """Every failure is there after a restart; the last says when to try again."""
    said(tmp_path, 3)
    reviews = Reviews(tmp_path)
    [waiting] = reviews.waiting()
    for number, (fault, model) in enumerate(
        [("nonsense", "a"), ("nonsense", "b"), ("unavailable", "b")]
    ):
        reviews.asking(waiting, NOON + timedelta(minutes=number), model)
        reviews.failed(waiting, failure(fault, model, number))  # type: ignore[arg-type]
    [again] = Reviews(tmp_path).waiting()
    assert (again.tries, again.nonsense_of("b"), again.nonsense_of("c")) == (3, 1, 0)
    assert again.next_at == NOON + timedelta(minutes=7)


def test_a_question_that_a_crash_ended_is_a_try(tmp_path: Path) -> None:
    """The first is tried again at once; what kills Jarvis each time is tried ever more rarely."""
    said(tmp_path, 3)
    reviews = Reviews(tmp_path)
    [waiting] = reviews.waiting()
    found = []
    for number in range(3):
        reviews.asking(waiting, NOON + timedelta(days=number), "m")
        [again] = Reviews(tmp_path).waiting()
        found.append((again.tries, again.failures[-1].fault, again.next_at))
    assert found == [
        (1, "crash", NOON),
        (2, "crash", NOON + timedelta(days=1) + WAITS[0]),
        (3, "crash", NOON + timedelta(days=2) + WAITS[1]),
    ]


def test_giving_way_counts_for_nothing(tmp_path: Path) -> None:
    """A question that was taken back is no try."""
    said(tmp_path, 3)
    reviews = Reviews(tmp_path)
    [waiting] = reviews.waiting()
    reviews.asking(waiting, NOON, "m")
    reviews.gave_way(waiting)
    assert reviews.waiting() == [waiting]


@pytest.mark.parametrize(
    ("tries", "retry_after_s", "expected"),
    [
        *[(number, None, wait) for number, wait in enumerate(WAITS, start=1)],
        (100, None, WAITS[-1]),
        (1, 30.0, WAITS[0]),
        (1, 7200.0, timedelta(hours=2)),
        (3, -5.0, WAITS[2]),
        (1, float("nan"), WAITS[0]),
        (1, float("inf"), WAITS[0]),
        (1, 1e300, LONGEST_WAIT),
    ],
)
def test_waits_grow(tries: int, retry_after_s: float | None, expected: timedelta) -> None:
    """The wait grows with the failures, and is never shorter than the provider asks for."""
    assert next_try(tries, NOON, retry_after_s) == NOON + expected


def test_a_conversation_leaves_when_it_is_over_and_reviewed(tmp_path: Path) -> None:
    """calls/ holds conversations not yet reviewed, and no file is left behind."""
    said(tmp_path, 3, 2)
    reviews = Reviews(tmp_path)
    for waiting in reviews.waiting():
        assert not reviews.finish("c1")
        reviews.reviewed(waiting)
    assert reviews.finish("c1")
    assert files(tmp_path) == []
    assert reviews.finish("c1")


def test_turns_that_nobody_handed_over_stay(tmp_path: Path) -> None:
    """What a killed process left is there for the next start."""
    conversation = said(tmp_path, 3, over=False)
    conversation.observe(turn(3))
    conversation.close()
    reviews = Reviews(tmp_path)
    [waiting] = reviews.waiting()
    reviews.reviewed(waiting)
    assert not reviews.finish("c1")
    assert [m.first_index for m in conversations.recover(tmp_path, LATER)] == [3]
    [waiting] = reviews.waiting()
    assert spans([waiting]) == [(3, 3)]
    reviews.reviewed(waiting)
    assert reviews.finish("c1")


STEPS = ("append_lines", "remove", "remove")


@pytest.mark.parametrize("died_before", range(len(STEPS)))
@pytest.mark.parametrize("begun_again", [False, True])
def test_no_crash_while_it_leaves_makes_a_second_review(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, died_before: int, begun_again: bool
) -> None:
    """Whatever step a crash comes before, nothing waits afterwards, also under the old id."""
    said(tmp_path, 3)
    reviews = Reviews(tmp_path)
    reviews.reviewed(reviews.waiting()[0])
    steps = 0

    def step(real: object) -> object:
        def dying(*args: object) -> None:
            nonlocal steps
            if steps == died_before:
                raise KeyboardInterrupt
            steps += 1
            real(*args)  # type: ignore[operator]

        return dying

    with monkeypatch.context() as patch:
        patch.setattr(store, "append_lines", step(store.append_lines))
        patch.setattr(store, "remove", step(store.remove))
        with pytest.raises(KeyboardInterrupt):
            reviews.finish("c1")
    assert Reviews(tmp_path).waiting() == []
    if begun_again:
        conversation = Conversation.begin(tmp_path, "c1", "call", LATER)
        conversation.observe(turn(7))
        conversation.hand_over("hang-up", LATER)
        conversation.close()
        [waiting] = Reviews(tmp_path).waiting()
        assert spans([waiting]) == [(7, 7)]
        reviews.reviewed(waiting)
    assert reviews.finish("c1")
    assert files(tmp_path) == []


def test_one_process_reviews_at_a_time(tmp_path: Path) -> None:
    """Who comes second is told so."""
    with Reviews(tmp_path).reviewing() as first, Reviews(tmp_path).reviewing() as second:
        assert (first, second) == (True, False)
    with Reviews(tmp_path).reviewing() as third:
        assert third


def test_a_damaged_line_costs_only_itself(tmp_path: Path) -> None:
    """An answer that can't be read is asked for again; what is reviewed stays reviewed."""
    said(tmp_path, 3, 2)
    reviews = Reviews(tmp_path)
    first, second = reviews.waiting()
    reviews.reviewed(first)
    reviews.proposed(second, ANSWER)
    path = tmp_path / "reviews" / "c1.jsonl"
    path.write_bytes(
        path.read_bytes().replace(b'"local"', b'"gift"') + b'{"failed": {"first": 3, "l'
    )
    [waiting] = reviews.waiting()
    assert (spans([waiting]), waiting.proposed, waiting.tries) == ([(3, 4)], None, 0)
    reviews.reviewed(waiting)
    assert reviews.waiting() == []


def test_a_damaged_transcript_is_kept(tmp_path: Path) -> None:
    """A file with a line that nobody could read is not removed, and not reviewed again."""
    said(tmp_path, 3)
    path = tmp_path / "calls" / "c1.jsonl"
    path.write_bytes(path.read_bytes() + b"\xff\xff\n")
    reviews = Reviews(tmp_path)
    reviews.reviewed(reviews.waiting()[0])
    assert not reviews.finish("c1")
    assert reviews.waiting() == []
    assert files(tmp_path) == ["calls/c1.jsonl"]
    assert len(conversations.unreadable(tmp_path)) == 1


@pytest.mark.parametrize("content", ['{"reviews": {"version": 99, "id": "c1"}}\n', None])
def test_progress_that_is_not_known_stops_the_review(tmp_path: Path, content: str | None) -> None:
    """A file of a newer version, or one that may not be read: better no review than a second."""
    said(tmp_path, 3)
    path = tmp_path / "reviews" / "c1.jsonl"
    path.parent.mkdir()
    if content is None:
        path.mkdir()
    else:
        path.write_text(content)
    said(tmp_path, 3, name="c2")
    progress = Reviews(tmp_path)
    assert [w.hand_over.conversation for w in progress.waiting()] == ["c2"]
    [fault] = progress.unreadable()
    assert "Update Jarvis" in fault or "can't be read" in fault
    with pytest.raises(StateUnwritable):
        progress.waiting_in(tmp_path / "calls" / "c1.jsonl")


def test_progress_without_its_conversation_goes(tmp_path: Path) -> None:
    """Whoever takes a transcript away takes its review along."""
    said(tmp_path, 3)
    said(tmp_path, 3, name="c2")
    reviews = Reviews(tmp_path)
    for waiting in reviews.waiting():
        reviews.failed(waiting, failure())
    (tmp_path / "calls" / "c1.jsonl").unlink()
    reviews.finish_rest()
    assert files(tmp_path) == ["calls/c2.jsonl", "reviews/c2.jsonl"]


def test_any_id_has_its_file(tmp_path: Path) -> None:
    """An id is somebody else's name: its progress stays in the folder."""
    for name in ("../x", "", "a\nb", "x" * 300):
        said(tmp_path, 2, name=name)
    reviews = Reviews(tmp_path)
    for waiting in reviews.waiting():
        reviews.reviewed(waiting)
        assert reviews.finish(waiting.hand_over.conversation)
    assert files(tmp_path) == []


def test_only_the_user_reads_it(tmp_path: Path) -> None:
    """Answers hold what was said: their folder is closed to others."""
    said(tmp_path, 2)
    with Reviews(tmp_path).reviewing():
        assert (tmp_path / "reviews").stat().st_mode & 0o077 == 0


DOCS = Path(__file__).parents[2] / "docs" / "jarvis-learning.md"


def test_the_document_names_every_line_and_number() -> None:
    """docs/jarvis-learning.md lists the keys of the file, and the waits."""
    page = DOCS.read_text(encoding="utf-8")
    table = page.partition("`<state>/reviews/<id>.jsonl`")[2].partition("A line that")[0]
    for kind in ("reviews", "asked", "gave_way", "failed", "proposed", "judged", "reviewed"):
        assert f'{{"{kind}": {{' in (reviews.__doc__ or "")
        assert f"| `{kind}` |" in table
    minutes, hours = timedelta(minutes=1), timedelta(hours=1)
    assert (minutes, 5 * minutes, 20 * minutes, hours, 4 * hours, 12 * hours) == WAITS
    assert "it waits 1 minute, 5, 20 minutes, 1 hour, 4, then 12 hours" in page
    assert f"{LONGEST_WAIT.days} days at most" in page
    assert f"after {NONSENSE_TRIES} such answers of one model" in page
