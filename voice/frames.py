"""The frames of ours that travel through the pipeline beside pipecat's own."""

from __future__ import annotations

from dataclasses import dataclass

from pipecat.frames.frames import DataFrame, InputAudioRawFrame, SystemFrame

from memory.records import Extract, Language
from voice.intake import Intake
from voice.records import Heard, Told, UserSaid


@dataclass(kw_only=True)
class MicrophoneFrame(InputAudioRawFrame):
    """20 ms of the microphone, which came at `arrived_s` of the loop's clock.

    The ears tell `intake` that they heard it, the tap that it passed the engine.
    """

    arrived_s: float
    intake: Intake


@dataclass
class HeardFrame(SystemFrame):
    """Ears to engine and tap: an event of hearing. A system frame, so that none waits.

    `told` is what the model is told with the user's words: what became of their wish to
    have something remembered. Not `answered`: the user wants silence, and gets it.
    """

    event: Heard
    told: Told | None = None
    answered: bool = True


@dataclass
class AnswerUnderWayFrame(SystemFrame):
    """Engine to ears: an answer to this guess is being made, or (`ready`) could be heard any
    moment now. In between its turn stays open."""

    guess: int
    ready: bool


@dataclass
class TypedFrame(SystemFrame):
    """A turn that the user typed in mid-call. `pasted` as the page told it, `told` as above."""

    text: str
    pasted: bool = False
    told: Told | None = None


@dataclass
class SpokenFrame(DataFrame):
    """Engine to tap, in front of the audio it belongs to: a piece of the answer.

    It travels in order with the audio through the output's queue, so that whoever stands
    behind the output sees it at the moment its first sample is played.
    """

    text: str
    samples: int
    sample_rate_hz: int
    language: Language | None = None


@dataclass
class AnswerBeganFrame(DataFrame):
    """In front of an answer's first audio. `to` is the turn it answers, if it was spoken.

    The engine's own stages in seconds of the loop's clock: when the language model gave
    its first token and when the first audio was handed to the output. `ready_s`: when an answer
    that was begun on a guess let its turn end. `extracts` are what of the notes went into its
    request.
    """

    to: UserSaid | None
    first_token_s: float | None
    first_audio_s: float
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    ready_s: float | None = None
    extracts: tuple[Extract, ...] = ()


@dataclass
class AnswerDoneFrame(DataFrame):
    """Behind an answer's last audio. Token counts where they are known only now, and the prefix
    that they rode behind where it is another than the call began with."""

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    prefix_sha256: str | None = None


@dataclass
class AnswerFailedFrame(SystemFrame):
    """No answer can be given to this turn; `text` is for the user."""

    text: str
