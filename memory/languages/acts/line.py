"""The words of a text, and where in it the acts stand."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from memory.languages.acts.records import LIKING
from memory.languages.acts.table import Acts, joined
from memory.languages.words import Word

STOPS = frozenset(".!?…")

_STRETCH_ENDS = STOPS | frozenset(";:–—-")

_SHORT_PHRASE = 4
_SPARED = (
    ("repair", "not_repair"),
    ("used", "reacts"),
    ("hedge", "not_hedge"),
    ("reported", "filler"),
    ("attitude", "filler"),
    ("claimed", "asks_you"),
    ("unreal", "asks_you"),
    ("condition", "asks_you"),
    ("question_first", "cleft"),
    ("question", "cleft"),
)
"""Acts, and those whose words do not do them."""


class Line:
    """Asked for by the place of a word. An `entry` is a text of the notebooks."""

    def __init__(
        self,
        acts: Acts,
        words: tuple[Word, ...],
        *,
        raw: str,
        entry: bool,
        cuts: tuple[int, ...],
    ) -> None:
        self.acts = acts
        self.raw = raw
        self.entry = entry
        self.cues = frozenset(
            next((at for at, word in enumerate(words) if word.start >= cut), 0) for cut in cuts
        )
        self.text, self.starts = joined(words)
        self.found = {
            act: tuple(self._word_span(*span) for span in acts.spans(act, self.text))
            for act in acts.acts
        }
        for act, spans in self._found_in_stretches(words):
            self.found[act] = tuple(sorted({*self.found[act], *spans}))
        for act, other in _SPARED:
            self.found[act] = tuple(
                (start, end)
                for start, end in self.found[act]
                if not any(begin < end and stop > start for begin, stop in self.found[other])
            )
        self.found["thinking"] = tuple(
            (start, end)
            for start, end in self.found["thinking"]
            if not any(start < stop and end > begin for begin, stop in self.found["filler"])
        )
        self.words = self._with_senses(words)
        self.quoted = frozenset(
            at
            for at in range(2, len(self.words))
            if self.is_(at, "user")
            and self.is_(at - 1, "copula")
            and not (acts.verb_second and self.is_(at, "we"))
            and not entry
        )
        self.rivals = frozenset(
            end - 1 for _, end in self.found["rival"] if not self._in_a_place(end - 1)
        )
        self.no_words = self._negations()
        self.against = self._turned()

    def _found_in_stretches(
        self, words: tuple[Word, ...]
    ) -> Iterator[tuple[str, list[tuple[int, int]]]]:
        """What is told by how a text begins or ends, also behind and in front of "okay one more
        thing - "."""
        edges = [-1]
        for at, word in enumerate(words):
            if word.text in _STRETCH_ENDS or (
                word.text == ","
                and self.acts.search("openers", joined(words[edges[-1] + 1 : at])[0])
            ):
                edges.append(at)
        if len(edges) == 1:
            return
        stretches = [
            (first + 1, joined(words[first + 1 : last])[0])
            for first, last in pairwise([*edges, len(words)])
            if last > first + 1
        ]
        for act in self.acts.anchored:
            yield (
                act,
                [
                    (first, last)
                    for begins, text in stretches
                    for start, end in self.acts.spans(act, text)
                    for first, last in (
                        self._word_span(self.starts[begins] + start, self.starts[begins] + end),
                    )
                ],
            )

    def put_right(self, before: int) -> Iterator[int]:
        """The last word that carries meaning, as often as it was stammered; of a date all."""
        last = max((at for at in range(before) if self.words[at].key), default=-1)
        at = last
        while at >= 0 and self.words[at].key == self.words[last].key:
            yield at
            at -= 1
        dated = self.is_(last, "of_a_date") or self.is_(at, "of_a_date")
        if dated or self.words[last].kind == "number":
            while at >= 0 and (self.words[at].kind == "number" or self.is_(at, "of_a_date")):
                yield at
                at -= 1

    def _with_senses(self, words: tuple[Word, ...]) -> tuple[Word, ...]:
        """ "like" where it is a verb, and "can't stand", carry what liking is compared by."""
        changed = list(words)
        for sense, begin, stop in self.acts.senses(self.text):
            _, end = self._word_span(begin, stop)
            changed[end - 1] = replace(words[end - 1], key=sense, turned=0)
        for start, end in self.found["against"]:
            for at in range(start, end):
                if end - start <= _SHORT_PHRASE:  # a longer one holds what is disliked
                    changed[at] = replace(words[at], key="", turned=0)
            changed[end - 1] = replace(words[end - 1], key=LIKING, turned=0)
        return tuple(changed)

    def _word_span(self, start: int, end: int) -> tuple[int, int]:
        first = bisect_right(self.starts, start) - 1
        return max(0, first), max(first + 1, bisect_right(self.starts, max(start, end - 1)))

    def is_(self, at: int, name: str) -> bool:
        return 0 <= at < len(self.words) and self.words[at].text in self.acts.listed(name)

    def touches(self, act: str, first: int, last: int) -> bool:
        return any(start < last and end > first for start, end in self.found[act])

    def within(self, act: str, first: int, last: int) -> bool:
        text, _ = joined(self.words[first:last])
        return self.acts.search(act, text)

    def _in_a_place(self, at: int) -> bool:
        """ "Zieht auf dem Balkon Tomaten": an article behind a preposition compares nothing."""
        return self.acts.verb_second and any(
            self.is_(at - 1, name) for name in ("prepositions", "phrase_opens")
        )

    def _negations(self) -> frozenset[int]:
        covered = {
            at
            for act in ("not_no", "stopped", "tag", "repair")
            for start, end in self.found[act]
            for at in range(start, end)
            if act != "repair" or start
        }
        for start, end in self.found["against"]:
            covered.update(range(start, end))
        found = {
            at
            for at, word in enumerate(self.words)
            if word.text in self.acts.listed("no")
            and at not in covered
            and not self._is_particle(at)
        }
        after = {
            at
            for at in range(min(found, default=0), len(self.words))
            if self.is_(at, "no_after_no")
        }
        return frozenset(found | after if self.touches("neither", 0, len(self.words)) else found)

    def _is_particle(self, at: int) -> bool:
        """A "no" that answers, and denies nothing in its own sentence."""
        if not self.is_(at, "particle"):
            return False
        opens = (
            at == 0
            or self.words[at - 1].text in STOPS
            or (self.words[at - 1].kind == "mark" or self.is_(at - 1, "particle"))
        )
        if not opens:
            return False
        if at + 1 >= len(self.words):
            return True
        following = self.words[at + 1]
        return (
            following.kind == "mark"
            or following.text in self.acts.listed("particle_before")
            or following.text in self.acts.listed("particle")
        )

    def _turned(self) -> Mapping[int, int]:
        """Words whose group is denied by themselves or by the phrase they stand in."""
        turned = {at: 1 for at, word in enumerate(self.words) if word.turned}
        for start, _ in self.found["against"]:
            turned[start] = 1
        return turned
