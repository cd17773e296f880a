"""Where a quote stands: one sentence of one turn in which the user spoke, and what it proves.

What a turn holds is evidence by its origin alone. A turn that repeats what was just heard, or
what was on the screen, is none, whatever its origin says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from memory.languages.acts import Clause, Reading, read
from memory.languages.folding import fold
from memory.languages.sentences import sentences
from memory.languages.words import WORDS, lexicons
from memory.notebooks.canonical import bare, canonical
from memory.notebooks.limits import QUOTE_CHARS
from memory.records import Turn

TYPED_CHARS = 400
SPOKEN_CHARS = 1_200
"""A longer turn is a text that somebody brought, not something said."""

SCREEN_CHARS = 240
"""An answer of Jarvis' that is longer may be read aloud from the page."""

ECHO_TURNS = 2
_ECHO_SHARE = 0.75
_SCREEN_SHARE = 0.7
_HEARD_SHARE = 0.85
_HEARD_WORDS = 6
_ECHO_WORDS = 3
_PLACES = 4
_RUN_WORDS = 4
_SCREEN_READ_CHARS = 20_000
_COMPARED_WORDS = 4_000

_OTHERS = {
    "assistant": "Jarvis said it, not the user",
    "tool": "it stands in a tool's result",
    "note": "it stands in a note",
    "pasted": "it was pasted",
    "prefilled": "it was filled in for the user",
    "echo": "it is Jarvis' own voice, heard back",
}


@dataclass(frozen=True, slots=True)
class NoEvidence:
    """Why the quote proves nothing; `rule` is the promise."""

    rule: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A quote that was found.

    `quote` and `sentence` are slices of the turn's raw text. `reading` is of the sentence, and
    `touched` are the clauses that the quote stands in, whole. `before` are the readings of the
    turn's earlier sentences, `turn_reading` the one of the whole turn; `at_word` is where the
    sentence begins in it.
    """

    turn: Turn
    quote: str
    sentence: str
    reading: Reading
    touched: tuple[Clause, ...]
    before: tuple[Reading, ...]
    turn_reading: Reading
    first_word: int
    last_word: int


def found(quote: str, turns: Sequence[Turn]) -> Iterator[Evidence | NoEvidence]:
    """Each place where the quote stands, the latest first; or why there is none."""
    wanted = bare(quote)
    if len(wanted) < QUOTE_CHARS:
        yield NoEvidence("L5.1", f"The quote is shorter than {QUOTE_CHARS} characters.")
        return
    nowhere = True
    for position in range(len(turns) - 1, -1, -1):
        turn = turns[position]
        text = canonical(turn.text).text.lower() if len(turn.text) < 200_000 else ""
        if wanted not in text:
            continue
        nowhere = False
        unfit = _unfit(turn)
        if unfit:
            yield NoEvidence("L5.1", unfit)
        elif is_echo(turn.text, turns, position):
            yield NoEvidence("L5.1", "The turn repeats what Jarvis had just said.")
        else:
            yield from _places(wanted, turn, turns, position)
    if nowhere:
        yield NoEvidence("L5.1", "The quote does not stand in what the user said.")


def _unfit(turn: Turn) -> str | None:
    """Why the turn can't be evidence, by its origin and its form."""
    if turn.speaker != "user":
        return f"The quote proves nothing: {_OTHERS.get(turn.origin, _OTHERS['assistant'])}."
    if turn.origin not in ("spoken", "typed"):
        return f"The quote proves nothing: {_OTHERS[turn.origin]}."
    if len(turn.text.strip().splitlines()) > 1:
        return "The quote proves nothing: it stands in a text of several lines."
    if len(turn.text) > (SPOKEN_CHARS if turn.origin == "spoken" else TYPED_CHARS):
        return "The quote proves nothing: it stands in a long text, as if pasted."
    return None


def fit(turn: Turn) -> bool:
    return _unfit(turn) is None


def is_said(text: str, *, spoken: bool) -> bool:
    """One line, and no longer than what people say or type at once."""
    limit = SPOKEN_CHARS if spoken else TYPED_CHARS
    return len(text.strip().splitlines()) <= 1 and len(text) <= limit


def _places(
    wanted: str, turn: Turn, turns: Sequence[Turn], position: int
) -> Iterator[Evidence | NoEvidence]:
    whole = canonical(turn.text)
    text = whole.text.lower()
    if len(text) != len(whole.text):  # a letter that grows in lower case: compare as written
        text = whole.text
    at = -1
    seen = False
    for _ in range(_PLACES):
        at = text.find(wanted, at + 1)
        if at < 0:
            break
        start, end = whole.raw_span(at, at + len(wanted))
        seen = True
        yield _evidence(start, end, turn, turns, position)
    if not seen:
        yield NoEvidence("L5.1", "The quote does not stand in what the user said.")


def _evidence(
    start: int, end: int, turn: Turn, turns: Sequence[Turn], position: int
) -> Evidence | NoEvidence:
    spans = spoken_sentences(turn.text, turn.language)
    held = next((span for span in spans if span[0] <= start and end <= span[1]), None)
    if held is None:
        return NoEvidence("L5.1", "The quote is put together from two sentences.")
    sentence = turn.text[held[0] : held[1]]
    cues = tuple(
        each.start - held[0]
        for each in sentences(turn.text, turn.language)
        if held[0] < each.start < held[1]
    )
    reading = read(sentence, turn.language, cuts=cues)
    inside = [
        at
        for at, word in enumerate(reading.words)
        if word.end > start - held[0] and word.start < end - held[0]
    ]
    if not inside:
        return NoEvidence("L5.1", "The quote holds no word.")
    touched = tuple(
        clause
        for clause in reading.clauses
        if clause.first <= inside[-1] and clause.last > inside[0]
    )
    widened = range(touched[0].first, touched[-1].last)
    if _heard_before(reading, widened, turns, position):
        return NoEvidence("L5.1", "The user repeats what Jarvis had just said.")
    if _on_screen(reading, widened, turns, position):
        return NoEvidence("L5.1", "The user read it aloud: it stood on the screen.")
    whole = read(turn.text, turn.language)
    return Evidence(
        turn=turn,
        quote=turn.text[start:end],
        sentence=sentence,
        reading=reading,
        touched=touched,
        before=tuple(
            read(turn.text[first:last], turn.language) for first, last in spans if last <= held[0]
        ),
        turn_reading=whole,
        first_word=sum(word.end <= held[0] for word in whole.words),
        last_word=sum(word.start < held[1] for word in whole.words),
    )


def spoken_sentences(text: str, language: str | None) -> list[tuple[int, int]]:
    """Where the turn's sentences stand, as far as marks end them; cues alone divide nothing."""
    spans: list[tuple[int, int]] = []
    for sentence in sentences(text, language):
        between = text[spans[-1][1] - 1 : sentence.start] if spans else ""
        if spans and not set(between) & set(".!?…\n:;"):
            spans[-1] = (spans[-1][0], sentence.end)
        else:
            spans.append((sentence.start, sentence.end))
    return spans


# What was heard or seen before --------------------------------------------------------


def is_echo(text: str, turns: Sequence[Turn], position: int) -> bool:
    """Whether the turn at `position` resembles what Jarvis had just said, garbled too."""
    said = _words(text)
    if len(said) < _ECHO_WORDS:
        return False
    here = turns[position]
    heard = _just_heard(turns[:position])
    heard += [
        turn
        for turn in turns[position + 1 : position + 3]
        if _was_spoken(turn) and turn.began_at <= here.ended_at
    ]
    return any(
        _resembles(said, _words(turn.text), _ECHO_SHARE) or _holds(said, _words(turn.text))
        for turn in heard
    )


def _just_heard(turns: Sequence[Turn]) -> list[Turn]:
    return [turn for turn in turns if _was_spoken(turn)][-ECHO_TURNS:]


def _was_spoken(turn: Turn) -> bool:
    """By Jarvis: what of a note was shown with its answer is no voice."""
    return turn.speaker == "assistant" and turn.origin != "note"


def _holds(said: list[str], heard: list[str]) -> bool:
    """Whether what was heard stands whole in a longer turn."""
    longer = len(said) > len(heard) >= _HEARD_WORDS
    return longer and _resembles(heard, said, _ECHO_SHARE)


def _heard_before(reading: Reading, widened: range, turns: Sequence[Turn], position: int) -> bool:
    """Whether the quote's own clauses come from what was just heard, word for word."""
    said = _words(" ".join(reading.words[at].text for at in widened))
    if len(said) < _HEARD_WORDS:
        return False
    heard = [_words(turn.text) for turn in _just_heard(turns[:position])]
    return any(
        _resembles(said, words, _HEARD_SHARE) or any(True for _ in _runs(said, words, _HEARD_WORDS))
        for words in heard
    )


def _on_screen(reading: Reading, widened: range, turns: Sequence[Turn], position: int) -> bool:
    """Whether most of it, or a run of words that it has a part in, stood where the user could read
    it."""
    plain = lexicons()[reading.language].without_accent
    parts = [
        (part, at in widened, bool(word.key))
        for at, word in enumerate(reading.words)
        if word.kind != "mark"
        for part in _words(plain(word.text))
    ]
    said = [part for part, quoted, _ in parts if quoted]
    for other, turn in enumerate(turns):
        shown = turn.origin in ("tool", "note", "pasted", "prefilled") or (
            turn.speaker == "assistant" and len(turn.text) > SCREEN_CHARS and other < position
        )
        if not shown or other == position:
            continue
        words = [
            plain(part.text)
            for part in lexicons()[reading.language].words(turn.text[:_SCREEN_READ_CHARS])
            if part.kind != "mark"
        ]
        words = _words(" ".join(words))
        if len(said) >= _ECHO_WORDS and _resembles(said, words, _SCREEN_SHARE):
            return True
        for at in _runs([part for part, _, _ in parts], words, _RUN_WORDS):
            run = parts[at : at + _RUN_WORDS]
            if any(quoted for _, quoted, _ in run) and sum(keyed for _, _, keyed in run) >= 2:
                return True
    return False


def _runs(said: list[str], shown: list[str], length: int) -> Iterator[int]:
    """Where so many words of `said` in a row stand in `shown` too."""
    runs = {tuple(shown[at : at + length]) for at in range(len(shown) - length + 1)}
    return (at for at in range(len(said) - length + 1) if tuple(said[at : at + length]) in runs)


def _words(text: str) -> list[str]:
    return WORDS.findall(fold(text[:40_000]))[:_COMPARED_WORDS]


def _resembles(said: list[str], heard: list[str], share: float) -> bool:
    """Whether most of `said` stands, in its order and close together, in `heard`."""
    if not said or not heard:
        return False
    if len(said) > 120:
        said = said[:120]
    places: dict[str, list[int]] = {}
    for at, word in enumerate(heard):
        places.setdefault(word, []).append(at)
    rare = [word for word in said if 0 < len(places.get(word, ())) <= 8]
    if not rare:
        return False
    width = len(said) + max(2, len(said) // 3)
    tried: set[int] = set()
    for word in rare[:12]:
        for place in places[word]:
            begin = max(0, place - said.index(word) - 2)
            if begin // 3 in tried:
                continue
            tried.add(begin // 3)
            window = heard[begin : begin + width]
            match = SequenceMatcher(None, said, window, autojunk=False)
            if sum(block.size for block in match.get_matching_blocks()) >= share * len(said):
                return True
            letters, shown = " ".join(said), " ".join(window[: len(said)])
            if len(letters) < 400 and _alike(letters, shown) >= 0.8:
                return True
    return False


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
