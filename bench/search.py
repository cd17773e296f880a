"""How fast the index is, and what it takes: search, first index, one changed note, any string.

    python -m bench.search [--data ../shared/data] [--pieces 100000] [--pieces 1000000]
        [--notes 20000] [--queries 100000]

Pieces are drawn from the words of the vaults in --data, as often as they stand there, with rare
words of their own besides, as names and numbers are in notes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import string
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from memory.index import Index, schema
from memory.index.building import Vocabulary
from memory.index.search import search
from memory.index.words import never_meant, words
from memory.vault import Vault

QUESTIONS = 2000
HOSTILE = [
    '"', "'", "*", "(", ")", ":", "^", "-", "+", "~", "NEAR(", " AND ", " OR ", " NOT ", "{", "}",
    "\\", "\0", "%", "_", ";", "--", "/*", "text:", "found MATCH", "1=1", "\ufeff", "\u202e", "\ud800",
    "𝕏", "我", "ß", "İ", "ﬁ", "a\u0301" * 9, "C++", "10:30", "#", "@", "http://a.b/c?d=e&f", "🙂", "\r\n",
]  # fmt: skip


def texts(data: Path) -> list[str]:
    return [
        path.read_text(encoding="utf-8", errors="replace")
        for path in sorted((data / "vaults").rglob("*.md"))
    ]


def sentences(read: list[str]) -> list[list[str]]:
    never = never_meant()
    lines = (line for text in read for line in text.splitlines())
    found = ([word for word in words(line) if word not in never] for line in lines)
    return [sentence for sentence in found if len(sentence) >= 4]


def rare(rng: random.Random) -> str:
    """As names are: the more notes, the more of them."""
    return "".join(rng.choices(string.ascii_lowercase, k=rng.randint(4, 8)))


def piece_of(spoken: list[list[str]], rng: random.Random) -> list[str]:
    found = list(itertools.chain(*(rng.choice(spoken) for _ in range(4))))[:50]
    return [*found, rare(rng), str(rng.randint(0, 99_999))]


def filled(path: Path, spoken: list[list[str]], count: int) -> list[list[str]]:
    """An index of so many pieces; a piece in a thousand is given back."""
    rng = random.Random(7)  # noqa: S311 - the same each time
    kept = []
    with closing(schema.opened(path)) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        schema.create(database)
        database.execute("BEGIN")
        vocabulary = Vocabulary(database, empty=True)
        database.execute(
            "INSERT INTO file (id, name, modified_ns, changed_ns, bytes, inode, digest)"
            " VALUES (1, 'a.md', 0, 0, 0, 0, x'')"
        )
        for number in range(1, count + 1):
            held = piece_of(spoken, rng)
            if number % (count // 1000) == 0:
                kept.append(held)
            numbers = vocabulary.numbers(held, 1)
            database.execute(
                "INSERT INTO piece (id, file, first_line, last_line, heading, text, words,"
                " heading_words, content) VALUES (?, 1, 1, 1, '', ?, ?, 0, x'')",
                (number, " ".join(held), numbers.tobytes()),
            )
            database.execute(
                "INSERT INTO found (rowid, words) VALUES (?, ?)",
                (number, " ".join(map(str, dict.fromkeys(numbers)))),
            )
        vocabulary.write()
        database.execute("INSERT INTO meta VALUES ('pieces', ?)", (str(count),))
        database.execute("INSERT INTO found (found) VALUES ('optimize')")
        schema.create_indexes(database)
        database.execute("COMMIT")
    return kept


def asked(kept: list[list[str]], spoken: list[list[str]]) -> Iterator[str]:
    """Half of a piece's own words, in the way of a question, half of words from anywhere."""
    rng = random.Random(11)  # noqa: S311 - the same each time
    for number in range(QUESTIONS):
        many = rng.randint(2, 8)
        if number % 2:
            yield " ".join(rng.sample(rng.choice(kept), many))
        else:
            yield " ".join(rng.choice(rng.choice(spoken)) for _ in range(many))


def searching(folder: Path, spoken: list[list[str]], count: int) -> None:
    path = folder / f"{count}.db"
    began = time.perf_counter()
    kept = filled(path, spoken, count)
    took_s = time.perf_counter() - began
    with closing(schema.opened(path)) as database:
        for where in ("notes", "all"):
            took = []
            for question in asked(kept, spoken):
                began = time.perf_counter()
                search(database, question, where=where, limit=10, beginnings=where == "all")
                took.append(1000 * (time.perf_counter() - began))
            took.sort()
            name = "whole words" if where == "notes" else "word beginnings too"
            print(
                f"search over {count:,} pieces, {name:<20} p50 {statistics.median(took):6.1f} ms  "
                f"p95 {took[int(0.95 * len(took))]:6.1f} ms  max {took[-1]:6.1f} ms"
            )
    print(f"  ({path.stat().st_size / 1e6:,.0f} MB, made in {took_s:.0f} s)")


def indexing(folder: Path, read: list[str], count: int) -> None:
    rng = random.Random(3)  # noqa: S311 - the same each time
    vault = folder / "vault"
    lines = [line for text in read for line in text.splitlines() if len(line) > 30]
    for number in range(count):
        path = vault / f"folder {number % 150}" / f"note {number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        body = "\n\n".join(f"{rng.choice(lines)} {rare(rng)}" for _ in range(rng.randint(3, 12)))
        path.write_text(f"# {rare(rng)}\n\n{body}\n", encoding="utf-8")
    index = Index(folder / "state", Vault(vault))
    began, used = time.perf_counter(), time.process_time()
    index.check()
    files, pieces = index.counts()
    print(
        f"first index of {files:,} notes, {pieces:,} pieces: {time.perf_counter() - began:.1f} s "
        f"({time.process_time() - used:.1f} s of work)"
    )
    began = time.perf_counter()
    index.refresh()
    print(f"look whether one of {files:,} changed: {1000 * (time.perf_counter() - began):.0f} ms")
    took = []
    for number in range(50):
        path = vault / f"folder {number}" / f"note {number}.md"
        path.write_text(
            path.read_text(encoding="utf-8") + f"\n\nNews {rare(rng)}.\n", encoding="utf-8"
        )
        began = time.perf_counter()
        index.update([path])
        took.append(1000 * (time.perf_counter() - began))
    took.sort()
    print(f"one note changed: p50 {took[25]:.1f} ms, p95 {took[47]:.1f} ms")
    index.close()


def hostile(folder: Path, read: list[str], count: int, data: Path) -> None:
    rng = random.Random(5)  # noqa: S311 - the same each time
    attacks = [
        json.loads(line)["text"]
        for line in (data / "attacks.jsonl").read_text(encoding="utf-8").split("\n")
        if line
    ]
    vault = folder / "small"
    vault.mkdir()
    for number, text in enumerate(read[:200]):
        (vault / f"{number}.md").write_text(text, encoding="utf-8")
    index = Index(folder / "small state", Vault(vault))
    index.check()
    failed = 0
    pool = [*HOSTILE, *" ".join(read)[:200_000].split()]
    for number in range(count):
        if number % 4 == 0:
            query = rng.choice(attacks)
        elif number % 4 == 1:
            query = "".join(chr(rng.randrange(0x110000)) for _ in range(rng.randint(0, 30)))
        else:
            query = rng.choice(("", " ")).join(rng.choices(pool, k=rng.randint(1, 12)))
        try:
            index.search(query, fresh=False, where=rng.choice(("notes", "journal", "all")))
        except Exception as fault:  # noqa: BLE001 - what is counted here
            failed += 1
            print(f"  {query!r}: {fault!r}")
    print(f"random and hostile queries: {count:,}, exceptions: {failed}")
    index.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--pieces", type=int, action="append")
    parser.add_argument("--notes", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=100_000)
    given = parser.parse_args()
    read = texts(given.data)
    spoken = sentences(read)
    with tempfile.TemporaryDirectory() as named:
        folder = Path(named)
        for count in given.pieces or (100_000, 1_000_000):
            if count:
                searching(folder, spoken, count)
        if given.notes:
            indexing(folder, read, given.notes)
        if given.queries:
            hostile(folder, read, given.queries, given.data)


if __name__ == "__main__":
    main()
