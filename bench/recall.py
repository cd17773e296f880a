"""Is the answer found, and nothing where there is none? 193 questions in three languages, and 118
that nothing in the notes answers.

    python -m bench.recall [--data ../shared/data] [--meaning] [--fit] [--count]

Every other question is held out (`part`): rules and weights were made looking at the others.
Baselines run over the same pieces; tantivy only where it is installed. `--meaning` makes vectors
where a model is at hand, a quarter of an hour for the first time; they are kept in `--state`.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import re
import shutil
import sqlite3
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory.embedding import at_hand
from memory.index import Index
from memory.index.records import Hit
from memory.index.words import never_meant, words
from memory.notes.cutting import cut
from memory.notes.looking import Notes
from memory.vault import Vault

QUESTIONS = Path(__file__).parent / "questions"
LANGUAGES = ("en", "de", "es")
_LIMIT = 10
_SAID_LEAST = 5
_SAID_MOST_NATS = 7.5
_WIDTH = 98


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`file` and `lines` are where the answer stands; None and () where it stands nowhere."""

    ask: str
    language: str
    part: str
    file: str | None = None
    lines: tuple[int, ...] = ()
    across: bool = False
    kind: str = ""

    def answered_by(self, file: str, first: int, last: int) -> bool:
        return file == self.file and any(first <= line <= last for line in self.lines)


def answerable() -> list[Question]:
    return [
        Question(
            ask=row["question"],
            language=row["language"],
            part=row["part"],
            file=row["file"],
            lines=tuple(row["lines"]),
            across=row["across"],
        )
        for language in LANGUAGES
        for row in _rows(QUESTIONS / f"answerable_{language}.jsonl")
    ]


def unanswerable() -> list[Question]:
    return [
        Question(ask=row["question"], language=row["language"], part=row["part"], kind=row["kind"])
        for row in _rows(QUESTIONS / "unanswerable.jsonl")
    ]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def copied_vault(data: Path, to: Path) -> Path:
    """The public vaults and the Spanish one of ours, as one vault."""
    for root, base in ((data / "vaults", data / "vaults"), (QUESTIONS / "vault_es", QUESTIONS)):
        for path in sorted(root.rglob("*.md")):
            target = to / path.relative_to(base)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return to


# What others do over the same pieces --------------------------------------------------

Place = tuple[str, int, int]
Search = Callable[[str], Sequence[Place]]


def plain_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def baselines(vault: Path) -> dict[str, Search]:
    places: list[Place] = []
    texts: list[str] = []
    for path in sorted(vault.rglob("*.md")):
        name = path.relative_to(vault).as_posix()
        for piece in cut(path.read_text(encoding="utf-8", errors="replace")):
            places.append((name, piece.first_line, piece.last_line))
            texts.append(f"{piece.heading}\n{piece.text}")
    found = {
        "word overlap": _overlap(places, texts),
        "FTS5 porter": _porter(places, texts),
    }
    if importlib.util.find_spec("tantivy"):
        found["tantivy en_stem"] = _tantivy(places, texts)
    return found


def _overlap(places: list[Place], texts: list[str]) -> Search:
    held = [frozenset(plain_words(text)) for text in texts]

    def search(asked: str) -> list[Place]:
        said = set(plain_words(asked))
        best = sorted(range(len(held)), key=lambda at: -len(said & held[at]))
        return [places[at] for at in best[:_LIMIT]]

    return search


def _porter(places: list[Place], texts: list[str]) -> Search:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE f USING fts5(t, tokenize='porter unicode61')")
    database.executemany("INSERT INTO f (rowid, t) VALUES (?, ?)", enumerate(texts))

    def search(asked: str) -> list[Place]:
        match = " OR ".join(f'"{word}"' for word in plain_words(asked))
        if not match:
            return []
        rows = database.execute(
            "SELECT rowid FROM f WHERE f MATCH ? ORDER BY bm25(f) LIMIT ?", (match, _LIMIT)
        )
        return [places[at] for (at,) in rows]

    return search


def _tantivy(places: list[Place], texts: list[str]) -> Search:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("at", stored=True)
    builder.add_text_field("text", tokenizer_name="en_stem")
    index = tantivy.Index(builder.build())
    writer = index.writer()
    for at, text in enumerate(texts):
        writer.add_document(tantivy.Document(at=at, text=text))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def search(asked: str) -> list[Place]:
        query = index.parse_query(" ".join(plain_words(asked)) or "x", ["text"])
        found = searcher.search(query, _LIMIT).hits
        return [places[searcher.doc(address)["at"][0]] for _, address in found]

    return search


# Measuring ----------------------------------------------------------------------------


def groups_of(question: Question) -> Iterable[str]:
    yield "all"
    yield question.part
    yield "across" if question.across else question.language


def row(name: str, shares: dict[str, list[bool]]) -> str:
    cells = [
        f"{sum(found) / len(found):.3f}" if (found := shares.get(column)) else "-"
        for column in ("all", "held", *LANGUAGES, "across")
    ]
    return f"{name:<28}" + "".join(f"{cell:>8}" for cell in cells)


def recall(name: str, search: Search, questions: Sequence[Question]) -> None:
    shares: dict[str, list[bool]] = defaultdict(list)
    for question in questions:
        found = any(question.answered_by(*place) for place in search(question.ask))
        for group in groups_of(question):
            shares[group].append(found)
    print(row(name, shares))


def as_places(hits: Iterable[Hit]) -> list[Place]:
    return [(hit.file, hit.first_line, hit.last_line) for hit in hits]


def sent(name: str, notes: Notes, questions: Sequence[Question]) -> None:
    """Whether the answer is among what goes into the request, or nothing goes where it must not."""
    shares: dict[str, list[bool]] = defaultdict(list)
    kinds: dict[str, list[bool]] = defaultdict(list)
    took_ms: list[float] = []
    for question in questions:
        vector = notes.vector_of(question.ask)
        began_s = time.perf_counter()
        extracts = notes.extracts(question.ask, vector=vector, fresh=False)
        took_ms.append((time.perf_counter() - began_s) * 1000)
        right = not extracts
        if question.file is not None:
            right = any(
                question.answered_by(each.file, each.first_line, each.last_line)
                for each in extracts
            )
        for group in groups_of(question):
            shares[group].append(right)
        if question.kind:
            kinds[question.kind].append(right)
    took_ms.sort()
    middle, high = took_ms[len(took_ms) // 2], took_ms[int(0.99 * len(took_ms))]
    print(f"{row(name, shares)}   {middle:.1f} / {high:.1f} ms")
    if kinds:
        listed = (f"{kind} {sum(r) / len(r):.2f}" for kind, r in kinds.items())
        print(f"{'':<28}  {', '.join(listed)}")


# The table of common words ------------------------------------------------------------


def count(data: Path) -> None:
    """Print how much the words tell that people say: `memory/languages/*/common.toml`."""
    for language in LANGUAGES:
        said: Counter[str] = Counter()
        sentences: set[frozenset[str]] = set()
        for kind in ("requests", "disclosures", "first_person_unlabelled", "corrections"):
            for each in _rows(data / f"{kind}_{language}.jsonl"):
                found = frozenset(words(each["text"]))
                if not each.get("template") and found not in sentences:
                    sentences.add(found)
                    said.update(found)
        bands: dict[int, list[str]] = defaultdict(list)
        for word, times in said.items():
            nats = math.log((len(sentences) + 1) / (times + 0.5))
            meant = word.isalpha() and len(word) > 1 and word not in never_meant()
            if meant and times >= _SAID_LEAST and nats < _SAID_MOST_NATS:
                bands[int(nats + 0.5)].append(word)
        print(f"# {language}")
        for band in sorted(bands):
            print(f"{band} = {json.dumps(sorted(bands[band]), ensure_ascii=False)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument(
        "--state", type=Path, help="a folder in which vault and index are kept for another run"
    )
    parser.add_argument("--meaning", action="store_true", help="make vectors first")
    parser.add_argument("--fit", action="store_true", help="find the weights of relevance")
    parser.add_argument("--count", action="store_true", help="count what people say")
    wanted = parser.parse_args()
    if wanted.count:
        count(wanted.data)
        return
    if wanted.fit:
        from bench.relevance import fit

        with tempfile.TemporaryDirectory() as scratch:
            fit(wanted.data, wanted.state or Path(scratch), meaning=wanted.meaning)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = wanted.state or Path(scratch)
        vault = copied_vault(wanted.data, folder / "vault")
        index = Index(folder / "state", Vault(vault))
        measure(index, vault, meaning=wanted.meaning)
        index.close()


def measure(index: Index, vault: Path, *, meaning: bool) -> None:
    asked, never = answerable(), unanswerable()
    by_words = Notes(index, lambda: None)
    by_words.search("warm")
    print(f"{index.counts()[1]} pieces, {len(asked)} questions, {len(never)} without an answer\n")
    head = "".join(f"{column:>8}" for column in ("all", "held", *LANGUAGES, "across"))
    print(f"{'recall at 10':<28}{head}")
    for name, search in baselines(vault).items():
        recall(name, search, asked)
    ways = {"words": by_words}
    if meaning and at_hand() is not None:
        ways["words and meaning"] = Notes(index, at_hand)
        while ways["words and meaning"].embed_some(8):
            pass
    for name, notes in ways.items():
        recall(name, lambda ask, notes=notes: as_places(notes.search(ask)), asked)  # type: ignore[misc]
    print("\nsent with the question")
    for name, notes in ways.items():
        sent(f"{name}: the answer", notes, asked)
        sent(f"{name}: nothing", notes, never)


if __name__ == "__main__":
    main()
