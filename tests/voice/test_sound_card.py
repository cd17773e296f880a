"""The machine's own devices: what is told where there are none."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from voice import sound_card
from voice.errors import SoundUnavailable
from voice.sound_card import MiniaudioCard


@pytest.fixture(autouse=True)
def no_devices(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither a sound server nor a card: the same on every machine that runs this."""
    if sys.platform != "linux":
        pytest.skip("only Linux lets its sound server be hidden")
    monkeypatch.setenv("PULSE_SERVER", f"unix:{tmp_path}/nobody")
    monkeypatch.setitem(sound_card._BACKENDS, "linux", ("PULSEAUDIO",))


def test_a_machine_without_a_microphone_says_what_to_do() -> None:
    """A sentence, not a number; and the browser is named."""
    with pytest.raises(SoundUnavailable, match=r"microphone can't be opened.*jarvis serve"):
        MiniaudioCard().listen(lambda _: None)


def test_a_machine_without_a_loudspeaker_says_what_to_do() -> None:
    """As above."""
    with pytest.raises(SoundUnavailable, match="loudspeaker can't be opened"):
        MiniaudioCard().speak(bytes)


def test_a_name_that_no_device_has() -> None:
    """The name is in the sentence."""
    with pytest.raises(SoundUnavailable, match='"Jabra"'):
        MiniaudioCard(microphone="Jabra").listen(lambda _: None)


def test_the_environment_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user set for PulseAudio stands; what is set for a moment goes again."""
    monkeypatch.delenv("PULSE_LATENCY_MSEC", raising=False)
    with pytest.raises(SoundUnavailable):
        MiniaudioCard().listen(lambda _: None)
    assert "PULSE_LATENCY_MSEC" not in os.environ
