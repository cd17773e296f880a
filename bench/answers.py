"""Does it answer from the notebooks? Thirty questions, three languages, each model given.

Prints how many answers hold the fact, in which language they were given, the time to the
first token (the prefix is cached, the question is not) and tokens a second. With `--calls` it
plays ten whole calls (`answers_calls.toml`) instead, by whose first half prompts were tuned.

    python -m bench.answers small=PATH.gguf better=PATH.gguf [--answers] [--repeat 2]
    python -m bench.answers small=PATH.gguf --calls tuned|held [--answers] [--repeat 2]
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
import tomllib
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from bench.answers_calls import (
    NOW,
    Call,
    CountedModel,
    Said,
    played,
    prefix_of,
    read,
    read_phrases,
    show,
)
from bench.answers_calls import report as report_calls
from memory.records import LANGUAGES, Language, Prefix
from voice.engines.answer_language import language_of
from voice.engines.dialogue import Dialogue
from voice.engines.embedded import EmbeddedModel, Sampling
from voice.engines.language_model import Usage
from voice.engines.local import VOICE_TOKENS

_TABLES = Path(__file__).parent
CALLS = _TABLES / "answers_calls.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    language: Language
    ask: str
    holds: tuple[str, ...]
    never: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    question: Question
    text: str
    first_token_s: float
    tokens_per_s: float

    @property
    def right(self) -> bool:
        text = self.text.lower()
        told = any(fact in text for fact in self.question.holds)
        return told and not any(wrong in text for wrong in self.question.never)


def fixture(persona: Path | None) -> tuple[Prefix, tuple[Question, ...]]:
    table = tomllib.loads((_TABLES / "answers.toml").read_text(encoding="utf-8"))
    questions = tuple(
        Question(
            language=row["language"],
            ask=row["ask"],
            holds=tuple(row["holds"]),
            never=tuple(row.get("never", ())),
        )
        for row in table["question"]
    )
    return prefix_of(table["user"], table["memory"], persona), questions


async def no_news() -> None:
    return None


async def measured(
    path: Path, *, persona: Path | None, repeat: int, sampling: Sampling
) -> list[Answer]:
    found, questions = fixture(persona)
    with tempfile.TemporaryDirectory() as states:
        model = EmbeddedModel(path, name=path.stem, states=Path(states), sampling=sampling)
        try:
            answers: list[Answer] = []
            for question in questions * repeat:
                # Each question in a conversation of its own: none can lean on another's answer.
                dialogue = Dialogue(
                    model, prefix=found, now=lambda: NOW, news=no_news, language=question.language
                )
                if not answers:
                    await dialogue.open()
                await dialogue.refresh()
                await dialogue.prefill()
                answers.append(await asked(dialogue, question))
            return answers
        finally:
            await model.close()


async def asked(dialogue: Dialogue, question: Question) -> Answer:
    began_s, first_s, text, usage = time.monotonic(), None, "", Usage()
    async with aclosing(dialogue.answer(question.ask, max_tokens=VOICE_TOKENS)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Usage):
                usage = piece
            if not isinstance(piece, str):
                continue
            first_s = first_s or time.monotonic()
            text += piece
    first_s = first_s or time.monotonic()
    speed = ((usage.output_tokens or 1) - 1) / max(0.001, time.monotonic() - first_s)
    return Answer(question=question, text=text, first_token_s=first_s - began_s, tokens_per_s=speed)


def report(name: str, answers: list[Answer], *, show: bool) -> None:
    if show:
        for answer in answers:
            print("+" if answer.right else "-", answer.question.ask, "→", answer.text)
    right, tongue = [], []
    for language in LANGUAGES:
        own = [answer for answer in answers if answer.question.language == language]
        right.append(f"{language} {sum(a.right for a in own)}/{len(own)}")
        same = sum(language_of(a.text, language, LANGUAGES) == language for a in own)
        tongue.append(f"{language} {same}/{len(own)}")
    print(
        f"{name}: right {sum(a.right for a in answers)}/{len(answers)} ({', '.join(right)}); "
        f"in the language asked: {', '.join(tongue)}; "
        f"{statistics.mean(len(a.text) for a in answers):.0f} characters; "
        f"first word {statistics.median(a.first_token_s for a in answers) * 1000:.0f} ms, "
        f"{statistics.median(a.tokens_per_s for a in answers):.1f} tokens/s"
    )


async def play(
    path: Path, which: str, *, persona: Path | None, repeat: int, sampling: Sampling
) -> tuple[list[Call], list[Said]]:
    """The tuned or the held-out calls, and what was answered in them."""
    calls = [one for one in read(CALLS, persona=persona) if one.held == (which == "held")] * repeat
    with tempfile.TemporaryDirectory() as states:
        model = CountedModel(path, name=path.stem, states=Path(states), sampling=sampling)
        try:
            return calls, await played(model, calls)
        finally:
            await model.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", metavar="NAME=PATH.gguf")
    parser.add_argument("--calls", choices=("tuned", "held"), help="whole calls instead")
    parser.add_argument("--answers", action="store_true", help="print every answer")
    parser.add_argument("--persona", type=Path, help="another text than prompts/persona.md")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--temperature", type=float, default=Sampling().temperature)
    parser.add_argument("--repeat-penalty", type=float, default=Sampling().repeat_penalty)
    options = parser.parse_args()
    sampling = Sampling(temperature=options.temperature, repeat_penalty=options.repeat_penalty)
    for model in options.models:
        name, _, path = model.partition("=")
        if options.calls is not None:
            calls, said = asyncio.run(
                play(
                    Path(path),
                    options.calls,
                    persona=options.persona,
                    repeat=options.repeat,
                    sampling=sampling,
                )
            )
            phrases = read_phrases(CALLS)
            if options.answers:
                show(calls, said, phrases)
            report_calls(f"{name}, {options.calls}", said, phrases)
            continue
        answers = asyncio.run(
            measured(Path(path), persona=options.persona, repeat=options.repeat, sampling=sampling)
        )
        report(name, answers, show=options.answers)


if __name__ == "__main__":
    main()
