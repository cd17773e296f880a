"""Kokoro through kokoro-onnx: natural, but each piece takes half of its length to make."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
from kokoro_onnx import Kokoro as Model
from numpy.typing import NDArray

from memory.records import Language
from voice.speech.sound import Sound

_LANGUAGES: dict[Language, str] = {"en": "en-us", "es": "es"}
_STYLE_SHAPE = (-1, 1, 256)
_MOST_THREADS = 4


class Kokoro:
    rate_hz = 24_000
    gain = 1.0
    by_clause = True

    def __init__(self, model: str, voice: str, language: Language) -> None:
        self._language = _LANGUAGES[language]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(_MOST_THREADS, os.cpu_count() or 1)
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._style = _style(Path(voice))
        with tempfile.TemporaryDirectory() as folder:
            # kokoro-onnx insists on an archive of voices; the style is handed over with each text.
            archive = Path(folder) / "voices.npz"
            np.savez(archive, voice=self._style)
            self._model = Model.from_session(session, str(archive))
            self._model.voices.close()

    def say(self, text: str) -> Sound:
        if not self._model.tokenizer.phonemize(text, self._language):
            return np.zeros(0, np.float32)
        sound, _rate = self._model.create(text, self._style, lang=self._language, trim=False)
        return np.asarray(sound, np.float32)


def _style(path: Path) -> NDArray[np.float32]:
    """A voice from a file of plain floats, or the first one of an archive."""
    if path.suffix in (".npz", ".npy"):
        loaded = np.load(path)
        loaded = loaded if isinstance(loaded, np.ndarray) else loaded[loaded.files[0]]
        return np.asarray(loaded, np.float32).reshape(_STYLE_SHAPE)
    return np.fromfile(path, "<f4").reshape(_STYLE_SHAPE)
