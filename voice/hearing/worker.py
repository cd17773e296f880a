"""The hearing worker: Whisper and the end-of-turn model, in a process of their own.

Arguments: the model's folder.

Requests (payload: 16 kHz mono 16-bit samples):
  words, again, partial  {"languages", "language"}
                         → {"text", "language", "sure", "logprob", "no_speech", "again"}
                         or {"superseded": true}
  called_out             {"language", "phrases"} → {"text", "logprob"}: the likeliest of them
  turn_end               {} → {"over": probability that the turn is done}
  warm                   {"languages"} → {}
`words` is a first look at a whole pause; where its "again" is true a second one, `again` with the
same sound, may find other words. Each kind has a lane of its own, so that a final pass doesn't
wait behind a partial one; `words` has two, and once a sound that goes on from there has been sent
a pass ends without its words: it was over a pause that was none.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import ctranslate2
import numpy as np
import numpy.typing as npt
from faster_whisper import WhisperModel
from faster_whisper.tokenizer import Tokenizer

from voice.hearing.turn_end import TurnJudge
from voice.workers import Handler, Header, Message, serve

RATE_HZ = 16_000

Audio = npt.NDArray[np.float32]

# Whisper's window, and how little of it works: max(12 s, the sound and 2 s). With 8 s a turn that
# begins with a little silence is heard twice ("What time is it? What time is it?") or misheard: of 60
# clips with a quiet room in front 5 % were doubled, and word errors were twice those of the whole
# window; with 12 s none, and the errors those of the whole window. Partial text may be as rough, and
# a sound of a second is a word or a hum: there 8 s do, and "mhm" is not taken for words.
_FULL_CONTEXT_S = 30.0
_FINAL_CONTEXT_S = 12.0
_PARTIAL_CONTEXT_S = 8.0
_ONE_WORD_S = 1.2
_MORE_CONTEXT_S = 2.0
# Beam 5 takes a third of English and a fifth of German errors of beam 1.
_FIRST_BEAM = 1
_SECOND_BEAM = 5
_CLEAR_LOGPROB = -0.2
"""Surer than this of the straight path, five of them find nothing else: measured on 60 clips in
three languages, the same word errors at two thirds of the time."""
_LONGEST_PIECE_S = 25.0
_SHORTEST_PIECE_S = 15.0
_SURE = 0.8
_SURE_OF_A_SHORT_ONE = 0.95
_SHORT_S = 1.5
_WORTH_COMPARING = 0.5
_BETTER_LOGPROB = 0.3
_TOKENS_PER_S = 12

Look = Literal["partial", "first", "again"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    text: str
    language: str
    sure: bool
    logprob: float
    no_speech: float
    tokens: int
    again: bool = False

    def header(self) -> Header:
        return {
            "text": self.text,
            "language": self.language,
            "sure": self.sure,
            "logprob": self.logprob,
            "no_speech": self.no_speech,
            "again": self.again,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Encoded:
    """What the encoder made of a sound, and the languages to try, best first; `sure` says whether
    the first was detected for sure."""

    sound: bytes
    features: Any
    languages: tuple[str, ...]
    sure: bool


class Transcriber:
    """Whisper without the 30 seconds of padding, which cost more than the words."""

    def __init__(self, folder: Path) -> None:
        self._whisper = WhisperModel(
            str(folder), device="cpu", compute_type="int8", cpu_threads=1, num_workers=2
        )
        self._pieces: tuple[bytes, list[tuple[int, Transcript]]] = (b"", [])
        self._lock = threading.Lock()
        self._newest = b""
        self._seen: _Encoded | None = None

    def transcribe(
        self, sound: bytes, languages: Sequence[str], language: str, look: Look
    ) -> Transcript | None:
        """Transcribe one turn so far, 16 kHz mono 16-bit. Pieces of a long one are kept, so only
        its end is new. None where the words of more of it were asked for meanwhile."""
        if look == "first":
            self._newest = sound
        audio = _audio(sound)
        done = self._kept(sound)
        start = done[-1][0] if done else 0
        while len(audio) - start > _LONGEST_PIECE_S * RATE_HZ:
            end = start + _quietest(audio[start:])
            piece = self._one(audio[start:end], languages, language, "first")
            if piece.again:
                piece = self._one(audio[start:end], languages, language, "again")
            done.append((end, piece))
            start = end
            self._keep(sound[: 2 * end], done)
        last = self._last(sound, audio[start:], languages, language, look)
        return None if last is None else _joined([piece for _, piece in done] + [last])

    def _kept(self, sound: bytes) -> list[tuple[int, Transcript]]:
        with self._lock:
            kept, pieces = self._pieces
            return list(pieces) if sound.startswith(kept) else []

    def _keep(self, sound: bytes, done: list[tuple[int, Transcript]]) -> None:
        with self._lock:
            self._pieces = (sound, list(done))

    def _superseded(self, sound: bytes) -> bool:
        newest = self._newest
        return len(newest) > len(sound) and newest.startswith(sound)

    def _last(
        self, sound: bytes, audio: Audio, languages: Sequence[str], language: str, look: Look
    ) -> Transcript | None:
        """What a sound ends with. Its encoding can't be broken off, and takes longer than the rest."""
        if look == "again":
            return self._one(audio, languages, language, look)
        if self._superseded(sound):
            return None
        encoded = self._encoded_for(audio, languages, language, look)
        return None if self._superseded(sound) else self._first(encoded, audio, look)

    def _one(self, audio: Audio, languages: Sequence[str], language: str, look: Look) -> Transcript:
        encoded = self._encoded_for(audio, languages, language, look)
        if look != "again":
            return self._first(encoded, audio, look)
        likeliest, *others = encoded.languages
        best = self._generate(encoded, audio, likeliest, _SECOND_BEAM)
        for candidate in others:
            other = self._generate(encoded, audio, candidate, _SECOND_BEAM)
            if other.logprob > best.logprob + _BETTER_LOGPROB:
                best = other
        return best

    def _first(self, encoded: _Encoded, audio: Audio, look: Look) -> Transcript:
        found = self._generate(encoded, audio, encoded.languages[0], _FIRST_BEAM)
        clear = len(encoded.languages) == 1 and found.logprob > _CLEAR_LOGPROB
        return replace(found, again=look == "first" and not clear)

    def _encoded_for(
        self, audio: Audio, languages: Sequence[str], language: str, look: Look
    ) -> _Encoded:
        """Encoding takes longer than finding the words: what a first look encoded is kept for
        the second."""
        seconds = len(audio) / RATE_HZ
        sound = audio.tobytes()
        seen = self._seen
        if look == "again" and seen is not None and seen.sound == sound:
            return seen
        whole = look != "partial" and seconds > _ONE_WORD_S
        least_s = _FINAL_CONTEXT_S if whole else _PARTIAL_CONTEXT_S
        features = self._encode(audio, max(least_s, seconds + _MORE_CONTEXT_S))
        candidates, sure = self._languages(features, languages, language, seconds)
        encoded = _Encoded(sound=sound, features=features, languages=tuple(candidates), sure=sure)
        if look == "first":
            self._seen = encoded
        return encoded

    def _encode(self, audio: Audio, context_s: float) -> Any:
        seconds = min(_FULL_CONTEXT_S, context_s)
        padded = np.zeros(int(seconds * RATE_HZ), np.float32)
        padded[: len(audio)] = audio[: len(padded)]
        mel = self._whisper.feature_extractor(padded, padding=0)[:, : int(seconds * 100)]
        view = ctranslate2.StorageView.from_array(
            np.ascontiguousarray(mel[None].astype(np.float32))
        )
        return self._whisper.model.encode(view)

    def _languages(
        self, encoded: Any, languages: Sequence[str], language: str, seconds: float
    ) -> tuple[list[str], bool]:
        """The languages to try, best first, and whether the first was detected for sure."""
        if len(languages) < 2:
            return [language], True
        found = {token[2:-2]: p for token, p in self._whisper.model.detect_language(encoded)[0]}
        shares = {name: found.get(name, 0.0) for name in languages}
        best = max(shares, key=lambda name: shares[name])
        share = shares[best] / (sum(shares.values()) or 1.0)
        sure = share > (_SURE if seconds >= _SHORT_S else _SURE_OF_A_SHORT_ONE)
        if best == language or sure:
            return [best], sure
        compare = share > _WORTH_COMPARING and seconds >= _SHORT_S
        return ([language, best] if compare else [language]), False

    def _generate(self, encoded: _Encoded, audio: Audio, language: str, beam: int) -> Transcript:
        model = self._whisper.model
        tokenizer = self._tokenizer(language)
        prompt = [*tokenizer.sot_sequence, tokenizer.no_timestamps]
        result = model.generate(
            encoded.features,
            [prompt],
            beam_size=beam,
            max_length=len(prompt) + int(_TOKENS_PER_S * len(audio) / RATE_HZ) + 20,
            return_scores=True,
            return_no_speech_prob=True,
            suppress_blank=True,
        )[0]
        tokens = result.sequences_ids[0]
        logprob = result.scores[0] * len(tokens) / (len(tokens) + 1)
        return Transcript(
            text=tokenizer.decode(tokens).strip(),
            language=language,
            sure=encoded.sure,
            logprob=float(logprob) if math.isfinite(logprob) else -10.0,
            no_speech=float(result.no_speech_prob),
            tokens=len(tokens),
        )

    def likeliest(self, audio: Audio, phrases: Sequence[str], language: str) -> tuple[str, float]:
        """Which of these phrases was said, if one was, and the mean log probability of its tokens.

        A word of 300 ms is often written as a longer one that is known better ("Stopp" as "Stolz",
        "para" as "Bye"). Asked how likely a phrase is the model tells it from others.
        """
        features = self._encode(audio, _PARTIAL_CONTEXT_S)
        tokenizer = self._tokenizer(language)
        prompt = [*tokenizer.sot_sequence, tokenizer.no_timestamps]
        frames = int(_PARTIAL_CONTEXT_S * 50)

        def logprob(phrase: str) -> float:
            tokens = tokenizer.encode(f" {phrase.capitalize()}.")
            [aligned] = self._whisper.model.align(features, prompt, [tokens], frames)
            return float(np.mean(np.log(np.maximum(aligned.text_token_probs, 1e-9))))

        found = {phrase: logprob(phrase) for phrase in phrases}
        best = max(found, key=lambda phrase: found[phrase])
        return best, found[best]

    def _tokenizer(self, language: str) -> Tokenizer:
        return Tokenizer(
            self._whisper.hf_tokenizer,
            self._whisper.model.is_multilingual,
            task="transcribe",
            language=language,
        )


def _quietest(audio: Audio) -> int:
    """Where to cut a long turn: the middle of the quietest 200 ms, 15 to 25 s in."""
    step = RATE_HZ // 10
    begin, end = int(_SHORTEST_PIECE_S * RATE_HZ), int(_LONGEST_PIECE_S * RATE_HZ)
    places = range(begin, end - 2 * step, step)
    return step + min(places, key=lambda at: float(np.square(audio[at : at + 2 * step]).sum()))


def _joined(pieces: list[Transcript]) -> Transcript:
    if len(pieces) == 1:
        return pieces[0]
    tokens = sum(piece.tokens for piece in pieces) or 1
    longest = max(pieces, key=lambda piece: piece.tokens)
    return Transcript(
        text=" ".join(piece.text for piece in pieces if piece.text),
        language=longest.language,
        sure=longest.sure,
        logprob=sum(piece.logprob * piece.tokens for piece in pieces) / tokens,
        no_speech=min(piece.no_speech for piece in pieces),
        tokens=tokens,
        again=pieces[-1].again,
    )


def _audio(payload: bytes) -> Audio:
    return np.frombuffer(payload, np.int16).astype(np.float32) / 32768.0


def main() -> None:
    transcriber = Transcriber(Path(sys.argv[1]))
    judge = TurnJudge()

    def words(look: Look) -> Handler:
        def answer(header: Header, payload: bytes) -> Iterator[Message]:
            found = transcriber.transcribe(payload, header["languages"], header["language"], look)
            yield {"superseded": True} if found is None else found.header(), b""

        return answer

    def called_out(header: Header, payload: bytes) -> Iterator[Message]:
        text, logprob = transcriber.likeliest(
            _audio(payload), header["phrases"], header["language"]
        )
        yield {"text": text, "logprob": logprob}, b""

    def turn_end(_: Header, payload: bytes) -> Iterator[Message]:
        yield {"over": judge.over(_audio(payload))}, b""

    def warm(header: Header, _: bytes) -> Iterator[Message]:
        # Noise: silence would end before the decoder has run.
        noise = np.random.default_rng(0).normal(0, 300, RATE_HZ).astype(np.int16)
        languages = header["languages"]
        transcriber.transcribe(noise.tobytes(), languages, languages[0], "partial")
        judge.over(_audio(noise.tobytes()))
        yield {}, b""

    serve(
        {
            "words": words("first"),
            "again": words("again"),
            "partial": words("partial"),
            "called_out": called_out,
            "turn_end": turn_end,
            "warm": warm,
        },
        lanes={"words": 2},
    )


if __name__ == "__main__":
    main()
