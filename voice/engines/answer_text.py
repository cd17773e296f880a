"""What a small model writes beside its answer is kept from being spoken.

It names itself in front, copies the frame's tags, the mark of an interrupted answer or
that of a date that recurs ("(every 03-12)"), thinks aloud, writes the user's next turn, repeats itself, or never ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

LONG_CHARS = 1200
"""Behind so much the answer ends with its sentence."""

_TOKEN = re.compile(r"\s*\S+(?=\s)")
_ROLE = re.compile(r"(?:jarvis|assistant|answer|antwort|respuesta|asistente)\s*:\s*", re.I)
_OTHERS_TURN = re.compile(r"^(?:user|human|system|nutzer|benutzer|usuario)\s*:$", re.I)
_THOUGHT = re.compile(r"<think>.*?</think>\s*", re.S)
_THOUGHT_BEGINS = re.compile(r"<(?:t(?:h(?:i(?:n(?:k(?:>.*)?)?)?)?)?)?$", re.S)
_RECURS = re.compile(r"\s*\(every \d\d-\d\d\)")
_RECURS_BEGINS = re.compile(r"\s*\((?:e|ev|eve|ever|every)?\s*[\d-]*$")
_TAG = re.compile(r"</?[a-z][\w.-]*>|<\|?\w*\|?>|\[interrupted\]", re.I)
_SENTENCE_END = re.compile(r"[.!?…:][\"'”’»)\]]*$")
_REPEATED_WORDS = 4
_LOOP_TURNS = 3
_LOOP_LEAST_WORDS = 6
_LOOP_LONGEST_WORDS = 12


@dataclass(slots=True)
class AnswerText:
    """One answer, fed as it is written; whole words come out as soon as they are sure.

    `over` says that nothing worth hearing follows: the model can be stopped.
    """

    long_chars: int = LONG_CHARS
    over: bool = False
    _raw: str = ""
    _begun: bool = False
    _given_chars: int = 0
    _held: list[str] = field(default_factory=list)
    _sentence: list[str] = field(default_factory=list)
    _sentences: list[list[str]] = field(default_factory=list)
    _words: list[str] = field(default_factory=list)

    def feed(self, piece: str) -> str:
        if self.over:
            return ""
        self._raw = _RECURS.sub("", _THOUGHT.sub("", self._raw + piece))
        if _THOUGHT_BEGINS.search(self._raw) or _RECURS_BEGINS.search(self._raw):
            return ""
        out = ""
        while not self.over and (match := _TOKEN.match(self._raw)):
            self._raw = self._raw[match.end() :]
            out += self._word(match.group())
        return out

    @property
    def ahead(self) -> str:
        """What was written behind that, and is not sure yet."""
        return "" if self.over else "".join(self._held) + self._raw

    def end(self) -> str:
        """The rest, when the model ended by itself."""
        if self.over:
            return ""
        rest, self._raw = _THOUGHT_BEGINS.sub("", self._raw), ""
        out = self._word(rest.rstrip()) if rest.strip() else ""
        return out + ("" if self.over else self._release())

    def _word(self, token: str) -> str:
        if not self._begun:
            token = _ROLE.sub("", token.lstrip())
        elif _OTHERS_TURN.match(token.strip()) and (not self._sentence or "\n" in token):
            self.over = True
            return ""
        token = _TAG.sub("", token)
        if not token.strip():
            return ""
        self._begun = True
        return self._checked(token)

    def _checked(self, token: str) -> str:
        """The token and what was held before it, or nothing while a repetition may be on."""
        word = token.strip().strip(".,;:!?…\"'*_").lower()
        self._held.append(token)
        if word:
            self._sentence.append(word)
            self._words.append(word)
        if self._in_a_loop():
            self.over = True
            return ""
        ends = bool(_SENTENCE_END.search(token))
        sentence = self._sentence
        if len(sentence) >= _REPEATED_WORDS and ends and sentence in self._sentences:
            self.over = True
            return ""
        if ends:
            self._sentences.append(sentence)
            self._sentence = []
        elif any(earlier[: len(sentence)] == sentence for earlier in self._sentences):
            return ""
        out = self._release()
        if ends and self._given_chars > self.long_chars:
            self.over = True
        return out

    def _release(self) -> str:
        out = "".join(self._held)
        self._held.clear()
        self._given_chars += len(out)
        return out

    def _in_a_loop(self) -> bool:
        for length in range(1, _LOOP_LONGEST_WORDS + 1):
            turns = max(_LOOP_TURNS, -(-_LOOP_LEAST_WORDS // length))
            tail = self._words[-length * turns :]
            if len(tail) < length * turns:
                return False
            if tail == tail[-length:] * turns:
                return True
        return False
