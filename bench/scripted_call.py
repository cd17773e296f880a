"""A call whose answers are scripted, for benchmarks of everything around them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from memory import Memory
from memory.records import LANGUAGES
from tests.fakes.tone_voice import ToneVoice
from voice.call import Call, CallSetup
from voice.engines.local import LocalEngine
from voice.engines.scripted import ScriptedModel
from voice.hearing.asking import Asked
from voice.hearing.ears import Ears
from voice.hearing.kept import KeptHearing
from voice.hearing.listener import HearingSettings
from voice.recorder import Recorder
from voice.recording import RecordedCall, RecordedTyped
from voice.records import EngineDescription
from voice.transports.recording import RecordingProcessor, RecordingTransport

SPOKEN = Path(__file__).parents[1] / "fixtures/calls/english/microphone.flac"
ABOUT = EngineDescription(
    name="Script", hears="", thinks="", speaks="", words_go_to="nowhere", costs="nothing"
)


def recorded(
    began_at: datetime, microphone: bytes = b"", typed: tuple[RecordedTyped, ...] = ()
) -> RecordedCall:
    """What is said in it: 16 kHz, 16 bit, mono, and what is typed."""
    return RecordedCall(
        conversation="c1",
        began_at=began_at,
        language="en",
        languages=LANGUAGES,
        engine=ABOUT,
        note="",
        ended="hang-up",
        microphone=microphone,
        answers=(),
        typed=typed,
        expected=None,
    )


def scripted_call(
    line: RecordingTransport,
    hearing: Asked,
    model: ScriptedModel,
    memory: Memory,
    now: Callable[[], datetime],
    voice: ToneVoice | None = None,
    recorder: Recorder | None = None,
) -> Call:
    """With a recorder as `jarvis serve --record` writes it; whoever made it closes it."""
    if recorder is not None:
        worker = hearing
        hearing = KeptHearing({}, lambda: worker, recorder.answered)
    return Call(
        CallSetup(
            transport=line,
            ears=Ears(hearing, HearingSettings(), LANGUAGES, "en"),
            engine=LocalEngine(model, voice or ToneVoice(), languages=LANGUAGES, description=ABOUT),
            conversation=memory.begin("c1", "call", now()),
            memory=memory,
            session=memory.session(),
            language="en",
            now=now,
            watch=recorder.event if recorder else lambda _: None,
            recorder=RecordingProcessor(recorder, line.playback) if recorder else None,
        )
    )
