"""How many tokens a review's question has: `python -m bench.review_size`.

Full notebooks (2,500 characters) and half-full ones, three and eight long sentences with long
lines of Jarvis', counted by cl100k.
"""

from __future__ import annotations

from datetime import UTC, datetime

from memory.notebooks import review
from memory.notebooks.limits import NOTEBOOKS_CHARS
from memory.notebooks.review import Marked
from memory.notebooks.tokens import tokens
from memory.prompts import prompt
from memory.records import Language, Notebook

AT = datetime(2026, 11, 25, 18, 0, tzinfo=UTC)

WORDS: dict[Language, tuple[str, str, str]] = {
    # an entry, a sentence, a line of Jarvis'
    "en": (
        "Sings alto in the choir of St. Bride's on Tuesdays and drives there with Mrs. Okafor",
        "and since the operation my father-in-law can't drive any more so i take him to physio on mondays",
        "I'm sorry to hear that. Is there anything about your Mondays that I should keep in mind?",
    ),
    "de": (
        "Singt dienstags Alt im Kirchenchor von St. Ägidien und fährt mit Frau Okafor dorthin",
        "und seit der operation kann mein schwiegervater nicht mehr fahren also bringe ich ihn montags zur krankengymnastik",
        "Das tut mir leid. Gibt es etwas an deinen Montagen, was ich in Zukunft berücksichtigen soll?",
    ),
    "es": (
        "Canta de contralto los martes en el coro de San Gil y va en coche con la señora Okafor",
        "y desde la operación mi suegro ya no puede conducir así que los lunes lo llevo a rehabilitación",
        "Lo siento mucho. ¿Hay algo de tus lunes que deba tener en cuenta a partir de ahora?",
    ),
}  # fmt: skip


def notebooks(entry: str, chars: int) -> dict[Notebook, tuple[str, ...]]:
    count = chars // (len(entry) + 4)
    entries = tuple(f"{entry} {number:03}" for number in range(count))
    return {"USER.md": entries[: count // 2], "MEMORY.md": entries[count // 2 :]}


def main() -> None:
    print("| language | notebooks | sentences | tokens | entries shown | Jarvis' lines |")
    print("|---|---|---|---|---|---|")
    for language, (entry, sentence, previous) in WORDS.items():
        for share, count in ((0.5, 3), (1.0, 3), (1.0, 8)):
            pages = notebooks(entry, int(NOTEBOOKS_CHARS * share))
            marked = [
                Marked(
                    quote=f"{sentence} {number}",
                    previous=previous,
                    said_at=AT,
                    language=language,
                    conversation="c1",
                    turn_index=number,
                )
                for number in range(count)
            ]
            question = review.question(marked, pages, AT, frame=prompt("review.md"))
            assert question is not None
            size = tokens(question.instructions) + tokens(question.text)
            entries = [each for page in pages.values() for each in page]
            shown = sum(f"- {each}\n" in question.text for each in entries)
            lines = question.text.count("Jarvis:")
            print(
                f"| {language} | {share:.0%} | {count} | {size:,} | {shown}/{len(entries)} "
                f"| {lines}/{count} |"
            )


if __name__ == "__main__":
    main()
