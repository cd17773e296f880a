"""Is the turn over? Smart Turn v3, the model that comes with pipecat, asked without pipecat.

Importing pipecat takes a worker as long as loading all of its models.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
from faster_whisper.feature_extractor import FeatureExtractor

RATE_HZ = 16_000
WINDOW_S = 8

Audio = npt.NDArray[np.float32]

_MODEL = Path("audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx")
_LEAST_VARIANCE = 1e-7


class TurnJudge:
    """One thread: two would take the core that transcribes."""

    def __init__(self) -> None:
        options = onnxruntime.SessionOptions()
        options.inter_op_num_threads = options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(_bundled()), options)
        self._features = FeatureExtractor(chunk_length=WINDOW_S)

    def over(self, audio: Audio) -> float:
        """The probability that the turn is done, from its last 8 s of 16 kHz sound."""
        window = np.zeros(WINDOW_S * RATE_HZ, np.float32)
        heard = audio[-len(window) :]
        if len(heard):
            window[-len(heard) :] = heard
        # As the model was trained: silence in front, and the whole of one loudness.
        window = (window - window.mean()) / np.sqrt(window.var() + _LEAST_VARIANCE)
        mel = self._features(window.astype(np.float32), padding=0)[:, : WINDOW_S * 100]
        [probability, *_] = self._session.run(
            None, {"input_features": mel[None].astype(np.float32)}
        )
        return float(np.asarray(probability).ravel()[0])


def _bundled() -> Path:
    found = find_spec("pipecat")
    assert found is not None and found.origin is not None
    return Path(found.origin).parent / _MODEL
