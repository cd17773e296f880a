"""espeak-ng through ctypes: robotic, and there in 3 ms in any language.

The library is GPL-3.0 and stays in the worker process. It holds one voice for the whole
process, which is therefore set again for each sentence. It also carries some state from one
sentence to the next: the same text differs by a few samples.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any, ClassVar

import espeakng_loader
import numpy as np

from memory.records import Language
from voice.speech.sound import Sound

# From espeak-ng's speak_lib.h.
_OUTPUT_SYNCHRONOUS = 2
_INITIALIZE_DONT_EXIT = 0x8000
_POSITION_CHARACTER = 1
_CHARS_UTF8 = 1
_PARAMETER_RATE = 1
_OK = 0

_SynthCallback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p
)


@functools.cache
def _library() -> tuple[Any, int]:
    """The initialized library and its rate in Hz."""
    library = ctypes.CDLL(espeakng_loader.get_library_path())
    library.espeak_SetSynthCallback.argtypes = [_SynthCallback]
    library.espeak_SetSynthCallback.restype = None
    library.espeak_Synth.argtypes = [
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_uint,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.c_uint,
        ctypes.POINTER(ctypes.c_uint),
        ctypes.c_void_p,
    ]
    data_path = str(espeakng_loader.get_data_path()).encode()
    rate_hz = library.espeak_Initialize(_OUTPUT_SYNCHRONOUS, 0, data_path, _INITIALIZE_DONT_EXIT)
    if rate_hz <= 0:
        raise RuntimeError(f"espeak-ng found no voices in {data_path.decode()}.")
    return library, rate_hz


class Espeak:
    """`words_per_minute` were chosen by what Whisper understood of them."""

    gain = 0.8
    by_clause = False
    _voices: ClassVar[dict[Language, tuple[str, int]]] = {
        "en": ("en-us", 150),
        "de": ("de", 135),
        "es": ("es", 150),
    }

    def __init__(self, language: Language) -> None:
        self._voice, self._words_per_minute = self._voices[language]
        self._library, self.rate_hz = _library()

    def say(self, text: str) -> Sound:
        pieces: list[Sound] = []
        if text[-1:].isalnum():
            text += ","  # without a mark it would fall as at the end of a sentence

        def keep(samples: Any, count: int, _events: int | None) -> int:
            if samples and count:
                block = np.ctypeslib.as_array(samples, (count,)).astype(np.float32)
                pieces.append(block / np.float32(32768))
            return 0

        if self._library.espeak_SetVoiceByName(self._voice.encode()) != _OK:
            raise RuntimeError(f"espeak-ng has no voice {self._voice}.")
        self._library.espeak_SetParameter(_PARAMETER_RATE, self._words_per_minute, 0)
        callback = _SynthCallback(keep)  # must live until espeak_Synth returns
        self._library.espeak_SetSynthCallback(callback)
        encoded = text.replace("\0", " ").encode()
        status = self._library.espeak_Synth(
            encoded, len(encoded) + 1, 0, _POSITION_CHARACTER, 0, _CHARS_UTF8, None, None
        )
        if status != _OK:
            raise RuntimeError(f"espeak-ng could not speak: status {status}.")
        return np.concatenate(pieces) if pieces else np.zeros(0, np.float32)
