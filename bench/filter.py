"""How good and how fast the free filter is, on public sentences and on our own.

    python -m bench.filter --data ../shared/data [--show 20]

Requests wrongly marked per source, disclosures and corrections marked, the sentences labelled
by hand in `bench/labelled/`, speed on one core, and texts that a slow pattern would choke on.
Rows of `bench/struck.jsonl` really say something lasting, or correct the assistant, and are no
false marks. `--show` prints as many of the false marks and of the missed ones. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from memory.notebooks.filter import marked, rules
from memory.records import LANGUAGES

HERE = Path(__file__).parent
SPEED_GOAL = 5_000

# What a slow pattern or a careless loop would take quadratic time for.
WORST = {
    "one word": "a",
    "a false start": "i i'm my ",
    "requests without a stop": "find me a place i'm vegan ",
    "a list of relatives": "my mother and my sister's friend ",
    "negations": "no not never ",
    "full stops": "a.",
    "ends of words": "aaaa. ",
    "quotation marks": "\" ' ",
    "blanks": " ",
    "dots, then blanks": "." * 500 + " " * 9_500,
    "lines": "i live in bonn\n",
    "letters with marks": "e\u0301",
    "emoji": "\U0001f469\u200d\U0001f680",
    "German cues": "such mir was ich bin vegan ",
    "Spanish cues": "busca un sitio soy vegano ",
}

Row = dict[str, Any]


def rows(path: Path) -> list[Row]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def is_marked(row: Row) -> bool:
    previous = row.get("previous_assistant_turn") or row.get("previous")
    return bool(marked(row["text"], previous=previous))


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "–"


def show(title: str, texts: Sequence[str], number: int) -> None:
    if number and texts:
        print(f"\n{title}, {min(number, len(texts))} of {len(texts)}:\n")
        for text in random.Random(1).sample(texts, min(number, len(texts))):  # noqa: S311 - no secret
            print(f"- {text}")


def requests(data: Path, struck: frozenset[str], number: int) -> None:
    print("\n## Requests wrongly marked\n")
    print(
        "| language | source | sentences | struck | wrongly marked | % |\n|---|---|---|---|---|---|"
    )
    shown: list[str] = []
    for language in LANGUAGES:
        asked = [r for r in rows(data / f"requests_{language}.jsonl") if not r.get("may_disclose")]
        kept = [row for row in asked if row["id"] not in struck]
        left_out = Counter(row["source"] for row in asked if row["id"] in struck)
        wrong = [row for row in kept if is_marked(row)]
        shown += [f"{row['id']} {row['text']}" for row in wrong]
        by_source = Counter(row["source"] for row in wrong)
        for source, count in Counter(row["source"] for row in kept).most_common():
            hits = by_source[source]
            cells = (language, source, count, left_out[source], hits, percent(hits, count))
            print("|", " | ".join(map(str, cells)), "|")
    show("Wrongly marked", shown, number)


def disclosures(data: Path, number: int) -> None:
    print("\n## Disclosures, tier A\n\n| language | sentences | marked | % |\n|---|---|---|---|")
    missed: list[str] = []
    for language in LANGUAGES:
        said = [r for r in rows(data / f"disclosures_{language}.jsonl") if r["tier"] == "A"]
        lost = [row for row in said if not is_marked(row)]
        missed += [f"{row['id']} {row['text']}" for row in lost]
        found = len(said) - len(lost)
        print(f"| {language} | {len(said)} | {found} | {percent(found, len(said))} |")
    show("Not marked", missed, number)


def corrections(data: Path, number: int) -> None:
    print(
        "\n## Corrections\n\n| language | which | sentences | marked | % |\n|---|---|---|---|---|"
    )
    missed: list[str] = []
    for language in LANGUAGES:
        said = rows(data / f"corrections_{language}.jsonl")
        of_oneself = [row for row in said if row["kind"] == "self_repair_in_question"]
        of_jarvis = [row for row in said if row["kind"] != "self_repair_in_question"]
        with_previous = [row for row in of_jarvis if row.get("previous_assistant_turn")]
        groups = {
            "of the assistant": of_jarvis,
            "of these, with the turn before": with_previous,
            "of oneself, in a question": of_oneself,
        }
        for name, group in groups.items():
            found = sum(map(is_marked, group))
            print(
                f"| {language} | {name} | {len(group)} | {found} | {percent(found, len(group))} |"
            )
        missed += [f"{row['id']} {row['text']}" for row in of_jarvis if not is_marked(row)]
    show("Not marked", missed, number)


def labelled(number: int) -> None:
    print("\n## Labelled by hand\n")
    print("| language | sentences | right % | worth marking | marked % | not worth it | marked |")
    print("|---|---|---|---|---|---|---|")
    wrong: list[str] = []
    for language in LANGUAGES:
        said = rows(HERE / "labelled" / f"{language}.jsonl")
        worth = [row for row in said if row["marked"]]
        others = [row for row in said if not row["marked"]]
        found, too_many = sum(map(is_marked, worth)), sum(map(is_marked, others))
        right = percent(found + len(others) - too_many, len(said))
        print(
            f"| {language} | {len(said)} | {right} | {len(worth)} "
            f"| {percent(found, len(worth))} | {len(others)} | {too_many} |"
        )
        wrong += [f"{language} {row['text']}" for row in said if is_marked(row) != row["marked"]]
    show("Wrong", wrong, number)


def seconds(work: Callable[[], object]) -> float:
    """Processor time, so that others on this machine don't count."""
    began = time.process_time()
    work()
    return time.process_time() - began


def run(texts: Iterable[str]) -> None:
    for text in texts:
        marked(text)


def speed(data: Path) -> None:
    texts = [
        row["text"]
        for kind in ("requests", "disclosures")
        for language in LANGUAGES
        for row in rows(data / f"{kind}_{language}.jsonl")
    ]
    random.Random(1).shuffle(texts)  # noqa: S311 - no secret
    rules.cache_clear()
    print("\n## Speed\n\n| what | value |\n|---|---|")
    print(f"| reading the rules | {1000 * seconds(rules):.0f} ms |")
    number = sum(len(each.rules) for each in rules())
    patterns = sum(len(each.claims) + len(each.objections) + len(each.before) for each in rules())
    print(f"| rules, patterns | {number}, {patterns} |")
    for name in ("first pass", "second pass"):
        rate = len(texts) / seconds(lambda: run(texts))
        print(
            f"| {name}, three languages mixed, sentences a second (aim {SPEED_GOAL}) | {rate:.0f} |"
        )


def linear() -> None:
    print("\n## Worst texts\n\n| text | 10 kB, ms | 100 kB, ms | ratio |\n|---|---|---|---|")
    for name, piece in WORST.items():
        times = []
        for size in (10_000, 100_000):
            text = piece * (size // len(piece.encode()))
            marked(text)
            times.append(1000 * seconds(lambda text=text: marked(text)))  # type: ignore[misc]
        print(f"| {name} | {times[0]:.1f} | {times[1]:.1f} | {times[1] / max(times[0], 0.1):.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--show", type=int, default=0, metavar="N")
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.error(f"There is no folder {options.data}; name the data with --data.")
    struck = frozenset(row["id"] for row in rows(HERE / "struck.jsonl"))
    speed(options.data)
    requests(options.data, struck, options.show)
    disclosures(options.data, options.show)
    corrections(options.data, options.show)
    labelled(options.show)
    linear()


if __name__ == "__main__":
    main()
