"""Persona and notebooks as the text in front of every conversation (V7, L1.6).

What stands in a file stands in the prefix to the letter, with these exceptions, so that a
notebook can't break out of its frame:

- line ends become newlines, and empty lines at the beginning and the end go;
- control and invisible characters (zero-width, direction, tags, variation selectors and
  others that nobody sees) are shown as ⟦U+200B⟧, a run of them as ⟦U+200B +7⟧; those that
  emoji, and scripts with joined letters, are made of stay;
- the `<` of the frame's own marks and of models' control marks (`<|im_end|>`, `</USER.md>`,
  `<s>` …) becomes ‹, and the `[` of `[INST]` and its kind becomes ⟦;
- of a file of more than 8,000 characters the first lines are taken that fit, whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from string import Template

from memory.notebooks.page import Page
from memory.records import Prefix

NOTEBOOK_CHARS = 8_000
EMPTY = "(nothing yet)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the model sees of a page."""

    lines: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def prefix(frame: str, persona: Page, user: Page, memory: Page, lessons: str = "") -> Prefix:
    """The prefix: `frame` with $persona, $user and $memory in their places, and behind it the
    block of lessons as it stands.

    The same pages give the same bytes, always. A frame with another variable, or without
    one of these, is our mistake: ValueError.
    """
    shown = {"persona": show(persona), "user": show(user), "memory": show(memory)}
    text = fill(frame, {name: page.text or EMPTY for name, page in shown.items()}) + lessons
    return Prefix(
        text=text,
        sha256=sha256(text.encode()).hexdigest(),
        warnings=tuple(warning for page in shown.values() for warning in page.warnings),
    )


def fill(prompt: str, values: dict[str, str]) -> str:
    """The prompt with its variables; each is there, and none else, or ValueError."""
    template = Template(prompt)
    named = set(template.get_identifiers())
    if named != values.keys():
        raise ValueError(f"the prompt's variables are {sorted(named)}, not {sorted(values)}")
    return template.substitute(values)


def show(page: Page) -> Shown:
    """The page's lines as the model sees them, and warnings about what it doesn't."""
    lines: list[str] = []
    hidden: list[int] = []
    marks: list[int] = []
    for number, line in enumerate(page.lines, start=1):
        seen = show_hidden(line)
        safe = disarm(seen)
        if seen != line:
            hidden.append(number)
        if safe != seen:
            marks.append(number)
        lines.append(safe)
    written = [at for at, line in enumerate(lines) if line.strip()]
    first, last = (written[0], written[-1] + 1) if written else (0, 0)
    kept, left_out = _bounded(page, lines[first:last], first)
    warnings = [*page.warnings]
    if hidden:
        warnings.append(
            f"{page.name}, {_lines(hidden)}: characters that nobody sees. Jarvis sees a "
            "mark in their place; delete them if you did not put them there."
        )
    if marks:
        warnings.append(
            f"{page.name}, {_lines(marks)}: control marks of language models. They were "
            "made harmless; delete them if you did not put them there."
        )
    return Shown(lines=tuple(kept), warnings=(*warnings, *left_out))


def _lines(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:5])) + (" …" if len(numbers) > 5 else "")
    return f"line {shown}" if len(numbers) == 1 else f"lines {shown}"


def _bounded(page: Page, lines: list[str], skipped: int) -> tuple[list[str], list[str]]:
    """The lines that fit, and a warning about the others."""
    chars = sum(map(len, lines)) + max(0, len(lines) - 1)
    if chars <= NOTEBOOK_CHARS:
        return lines, []
    kept: list[str] = []
    room = NOTEBOOK_CHARS
    for line in lines:
        if len(line) > room:
            break
        kept.append(line)
        room -= len(line) + 1
    if not kept:
        # One endless line: its beginning, up to a word's end, is better than nothing.
        beginning = lines[0][: NOTEBOOK_CHARS - 2]
        return [f"{beginning.rpartition(' ')[0] or beginning} …"], [
            f"{page.name} is {chars:,} characters long, and Jarvis takes {NOTEBOOK_CHARS:,}: "
            f"its line {skipped + 1} was cut. Shorten it, and break it into lines."
        ]
    return kept, [
        f"{page.name} is {chars:,} characters long, and Jarvis takes {NOTEBOOK_CHARS:,}: from "
        f"line {skipped + len(kept) + 1} on it was left out. Shorten it."
    ]


# What nobody sees ---------------------------------------------------------------------

_HIDDEN = (
    # control characters, but for the tab
    r"\x00-\x08\x0a-\x1f\x7f-\x9f"
    # soft hyphen, joiners, fillers, vowel signs without a shape, direction marks
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    # half surrogates; format controls of hieroglyphs, shorthand and music
    r"\ud800-\udfff\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    # tags and the other variation selectors
    r"\U000e0000-\U000e0fff"
)
_EMOJI = (
    r"[©®\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935"
    r"\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_EMOJI_DRESSED = rf"{_EMOJI}\ufe0f?[\U0001f3fb-\U0001f3ff]?"
_JOINING_LETTER = (
    r"[\u0620-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff\u1820-\u18af]"
)
_SEEN_OR_HIDDEN = re.compile(
    # the flags of England, Scotland and Wales are tags behind a black flag
    r"\U0001f3f4\U000e0067\U000e0062"
    r"(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)"
    r"\U000e007f"
    rf"|{_EMOJI}\ufe0e"
    rf"|{_EMOJI_DRESSED}(?:\u200d{_EMOJI_DRESSED})*"
    r"|[0-9#*]\ufe0f\u20e3"
    # letters that are joined, or kept apart, on purpose
    rf"|(?<={_JOINING_LETTER})[\u200c\u200d](?={_JOINING_LETTER}|[ \t]|$)"
    rf"|(?P<hidden>[{_HIDDEN}]+)"
)


def show_hidden(line: str) -> str:
    """The line with what nobody sees made visible."""
    return _SEEN_OR_HIDDEN.sub(_mark, line)


def _mark(match: re.Match[str]) -> str:
    run = match["hidden"]
    if run is None:
        return match.group()
    more = f" +{len(run) - 1}" if len(run) > 1 else ""
    return f"⟦U+{ord(run[0]):04X}{more}⟧"


# What a model takes for more than text ------------------------------------------------

_FRAME_NAMES = r"user\.md|memory\.md|news|lessons|notes"
_CONTROL_NAMES = (
    r"s|bos|eos|pad|unk|mask|cls|sep|sys|system|user|assistant|model|inst|instructions?"
    r"|start_of_turn|end_of_turn|think|thinking|tools?|tool_\w+|function\w*|fim_\w+|repo_name"
    r"|file_sep|unused\d+|extra_id_\d+|im_start|im_end|endoftext|eot_id|end_of_text"
)
_LESS = "[<＜﹤]"
_MARKS = re.compile(
    # <|im_start|> and its kind, with the full-width bar too, also across the line's end
    rf"{_LESS}(?=\s*+(?:[|｜]|$))"
    # the frame's own marks, and marks like <s>, </think>, <start_of_turn>
    rf"|{_LESS}(?=\s*+[/\\]?+\s*+(?:{_FRAME_NAMES}|{_CONTROL_NAMES})\b(?:[\s=][^<>＞]*)?\s*+[/\\]?+\s*+(?:[>＞﹥]|$))"
    # <<SYS>>
    rf"|{_LESS}(?=\s*+{_LESS}\s*+/?\s*+sys)|(?<={_LESS}){_LESS}(?=\s*+/?\s*+sys)",
    re.IGNORECASE,
)
_BRACKETS = re.compile(
    r"\[(?=\s*/?\s*(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|gMASK|sop|CLS|SEP|MASK)\s*\])"
)


def disarm(text: str) -> str:
    """The text without a mark that ends its frame or a turn."""
    return _BRACKETS.sub("⟦", _MARKS.sub("‹", text))
