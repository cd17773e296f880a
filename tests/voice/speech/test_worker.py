"""The worker's own rules, in this process, with the voice that needs no weights."""

from __future__ import annotations

import subprocess
import sys

from voice.speech.choice import VoiceChoice
from voice.speech.worker import SpeechWorker


def test_a_cancelled_utterance_ends_before_its_next_sentence() -> None:
    worker = SpeechWorker({"de": VoiceChoice(synthesizer="espeak")})
    request = {"utterance": 7, "language": "de", "text": "Eins. Zwei. Drei."}
    replies = worker.speak(request, b"")
    next(replies)
    list(worker.cancel({"utterance": 7}, b""))
    assert list(replies) == []


def test_cancelling_comes_before_speaking() -> None:
    """A request that is cancelled while it waits makes no sound, and others are not touched."""
    worker = SpeechWorker({"de": VoiceChoice(synthesizer="espeak")})
    list(worker.cancel({"utterance": 7}, b""))
    texts = [
        list(worker.speak({"utterance": number, "language": "de", "text": "Eins."}, b""))
        for number in (6, 7, 8)
    ]
    assert [bool(replies) for replies in texts] == [True, False, True]


def test_the_synthesizers_stay_in_the_worker() -> None:
    """The call's own process loads neither espeak-ng (GPL) nor a model."""
    heavy = "{'espeakng_loader', 'hibari', 'kokoro_onnx', 'phonemizer', 'onnxruntime', 'piper'}"
    code = f"import sys, voice.speech.client; print(sorted({heavy} & set(sys.modules)))"
    told = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    assert told.strip() == "[]"
