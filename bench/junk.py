"""`python -m bench.junk [--data DIR] [--requests N] [--seed N] [--show]`

A thousand requests and fifty true statements, one conversation each, through the filter and the
judge, with a reviewer that proposes whatever is marked: word for word, and in the third person.
Prints how many requests leave an entry (m7: at most one), and how many statements do.
"""

from __future__ import annotations

import argparse
import json
import re
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Any

from bench.poison.cases import Case, Change, Said, heard
from memory.notebooks.filter import marked
from memory.notebooks.limits import REVIEW_SENTENCES
from memory.records import LANGUAGES, Language

DATA = Path("../shared/data")
REQUESTS = 1_000

Person = Sequence[Sequence[str]]
"""Pattern and replacement, one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """`entry` is what a fair reviewer would write, for a statement; `source` names a request."""

    language: Language
    said: str
    entry: str | None = None
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    conversation: Conversation
    marked: int
    word_for_word: tuple[str, ...]
    third_person: tuple[str, ...]

    @property
    def left(self) -> bool:
        return bool(self.word_for_word or self.third_person)


def requests(folder: Path, count: int, random: Random) -> Iterator[Conversation]:
    """In turn from each source of each language; none that may say something lasting."""
    sources: dict[tuple[Language, str], list[str]] = {}
    for language in LANGUAGES:
        text = (folder / f"requests_{language}.jsonl").read_text(encoding="utf-8")
        for line in text.split("\n"):
            row: dict[str, Any] = json.loads(line) if line else {"may_disclose": True}
            if not row.get("may_disclose"):
                sources.setdefault((language, row["source"]), []).append(row["text"])
    for listed in sources.values():
        random.shuffle(listed)
    by_language = {
        language: cycle([key for key in sources if key[0] == language]) for language in LANGUAGES
    }
    turn = cycle(LANGUAGES)
    for language in islice(turn, count):
        while not sources[key := next(by_language[language])]:
            pass
        yield Conversation(language=language, said=sources[key].pop(), source=key[1])


def statements(table: dict[str, Any]) -> Iterator[Conversation]:
    for part in table["statement"]:
        for said, entry in part["said"]:
            yield Conversation(language=part["language"], said=said, entry=entry)


def through(each: Conversation, person: Person = (), *, filtered: bool = True) -> Outcome:
    """Unfiltered, the reviewer also sees what the filter would have kept from it."""
    quotes = [candidate.quote for candidate in marked(each.said, language=each.language)]
    word_for_word: list[str] = []
    third: list[str] = []
    for quote in quotes[:REVIEW_SENTENCES] if filtered else [each.said]:
        text = each.entry or in_third_person(quote, person)
        for change, found in (
            (Change(quote[:1].upper() + quote[1:]), word_for_word), (Change(text), third),
        ):  # fmt: skip
            case = Case(
                kind="m7", language=each.language, group=each.said, turns=(Said(each.said), Said("Okay.", "assistant")),
                changes=(change,), why="",
            )  # fmt: skip
            [verdict] = case.judged([(change, quote)])
            if verdict["accepted"]:
                found.append(verdict["text"])
    return Outcome(
        conversation=each, marked=len(quotes), word_for_word=tuple(word_for_word), third_person=tuple(third),
    )  # fmt: skip


def in_third_person(text: str, person: Person) -> str:
    for pattern, becomes in person:
        text = re.sub(pattern, becomes, text, flags=re.IGNORECASE)
    return text[:1].upper() + text[1:]


def report(title: str, outcomes: Sequence[Outcome]) -> None:
    print(f"\n{title:24} {'all':>6} {'marked':>7} {'kept':>6} {'verbatim':>9} {'third p.':>9}")
    for language in (*LANGUAGES, None):
        own = [each for each in outcomes if language in (None, each.conversation.language)]
        counts = Counter[str]()
        for each in own:
            counts["marked"] += each.marked > 0
            counts["kept"] += each.left
            counts["verbatim"] += bool(each.word_for_word)
            counts["third"] += bool(each.third_person)
        print(
            f"{language or 'all':24} {len(own):6} {counts['marked']:7} {counts['kept']:6} "
            f"{counts['verbatim']:9} {counts['third']:9}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.junk", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder with requests_*.jsonl")
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--seed", type=int, default=1, help="which requests are drawn")
    parser.add_argument("--show", action="store_true", help="print what was kept, and what not")
    options = parser.parse_args()
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    random = Random(options.seed)  # noqa: S311  the same requests each time, no secret

    began = time.monotonic()
    drawn = list(requests(options.data, options.requests, random))
    asked = [through(each, table["person"][each.language]) for each in drawn]
    bare = [through(each, table["person"][each.language], filtered=False) for each in drawn]
    true = list(statements(table))
    told = [through(each) for each in true]
    spoken = [through(replace(each, said=heard(each.said))) for each in true]
    report("requests", asked)
    report("requests, unfiltered", bare)
    report("statements", told)
    report("statements, as heard", spoken)
    print(f"\n{time.monotonic() - began:.0f} s")
    if options.show:
        for name, outcomes in (("junk", asked), ("unfiltered", bare)):
            for outcome in outcomes:
                if outcome.left:
                    source = outcome.conversation.source
                    print(name, source, outcome.word_for_word, outcome.third_person)
        for outcome in (*told, *spoken):
            if not outcome.left:
                why = "refused" if outcome.marked else "not marked"
                print("lost", why, outcome.conversation.said)


if __name__ == "__main__":
    main()
