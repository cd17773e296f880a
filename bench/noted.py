"""Does it answer from the notes? Twenty questions, three languages, the model given.

Prints how many answers hold the fact with what was looked up and without, and the time to the
first token: of turns with extracts, of the same where they were read while the user still spoke,
and of small talk, for which nothing is looked up.

    python -m bench.noted MODEL.gguf [--answers] [--quick]

`--quick` asks each question once, with what was looked up.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
import tomllib
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory import Memory
from memory.records import Prefix
from voice.engines.dialogue import Dialogue
from voice.engines.embedded import EmbeddedModel
from voice.engines.local import VOICE_TOKENS
from voice.looking import Looking

NOW = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)
SMALL_TALK = ("Good morning!", "Thanks a lot!", "Guten Abend!", "Vielen Dank!", "¡Muchas gracias!")


async def no_news() -> None:
    return None


async def answered(
    model: EmbeddedModel, prefix: Prefix, row: dict[str, Any], block: str, *, ahead: bool
) -> tuple[str, float]:
    """A new conversation's answer, and seconds to its first token."""
    dialogue = Dialogue(model, prefix=prefix, now=lambda: NOW, news=no_news)
    await dialogue.open()
    dialogue.language = row["language"]
    await dialogue.refresh()
    await dialogue.prefill(row["ask"].rpartition(" ")[0] if ahead else "", block if ahead else "")
    await asyncio.sleep(3.0 if ahead else 0.5)  # the rest of the sentence, and the pause
    began_s, first_s, text = time.monotonic(), 0.0, ""
    async with aclosing(
        dialogue.answer(row["ask"], max_tokens=VOICE_TOKENS, notes=block)
    ) as pieces:
        async for piece in pieces:
            if isinstance(piece, str):
                first_s = first_s or time.monotonic() - began_s
                text += piece
    return text, first_s


async def measure(path: Path, folder: Path, *, show: bool, quick: bool) -> None:
    table = tomllib.loads((Path(__file__).parent / "noted.toml").read_text(encoding="utf-8"))
    for name, text in table["notes"].items():
        note = folder / "vault" / name
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(text, encoding="utf-8")
    memory = Memory.open(folder / "vault", folder / "state", lambda: NOW)
    model = EmbeddedModel(path, name="small", states=folder / "states")
    prefix = memory.prefix()
    firsts: dict[str, list[float]] = {"with": [], "ahead": [], "without": [], "small talk": []}
    right = {"with": 0, "without": 0}
    found = 0
    by_language: dict[str, list[bool]] = {}
    for row in table["question"]:
        fitted = Dialogue(model, prefix=prefix, now=lambda: NOW, news=no_news).fitted
        noted = fitted(await Looking(memory, notify=print)(row["ask"], patient=True))
        found += noted is not None
        ways = {"with": noted.block if noted else "", **({} if quick else {"without": ""})}
        for way, block in ways.items():
            text, first_s = await answered(model, prefix, row, block, ahead=False)
            firsts[way].append(first_s)
            holds = any(fact in text.lower() for fact in row["holds"])
            right[way] += holds
            if way == "with":
                by_language.setdefault(row["language"], []).append(holds)
            if show:
                print(
                    f"{'right' if holds else 'WRONG':<6}{way:<8}{row['ask']}  ->  {text}",
                    flush=True,
                )
        if noted and not quick:
            _, first_s = await answered(model, prefix, row, noted.block, ahead=True)
            firsts["ahead"].append(first_s)
    for said in SMALL_TALK[: 2 if quick else None]:
        assert await Looking(memory, notify=print)(said) is None
        _, first_s = await answered(model, prefix, {"ask": said, "language": "en"}, "", ahead=False)
        firsts["small talk"].append(first_s)
    await model.close()
    memory.close()
    total = len(table["question"])
    print(
        f"{found} of {total} found; right with notes {right['with']}, without "
        f"{'not asked' if quick else right['without']}"
    )
    print(", ".join(f"{name} {sum(held)} of {len(held)}" for name, held in by_language.items()))
    for way, seconds in ((way, all_) for way, all_ in firsts.items() if all_):
        print(f"first token, {way:<12} median {statistics.median(seconds) * 1000:6.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--answers", action="store_true", help="print each answer")
    parser.add_argument("--quick", action="store_true", help="each question once")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        asyncio.run(measure(wanted.model, Path(scratch), show=wanted.answers, quick=wanted.quick))


if __name__ == "__main__":
    main()
