"""The end-of-turn model, as we ask it and as pipecat does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pipecat.audio.turn.smart_turn.local_smart_turn_v3 import LocalSmartTurnAnalyzerV3

from voice.audio import decode
from voice.hearing.turn_end import RATE_HZ, TurnJudge

FIXTURES = Path(__file__).parents[3] / "fixtures" / "calls"


@pytest.fixture(scope="module")
def judge() -> TurnJudge:
    return TurnJudge()


@pytest.mark.parametrize("seconds", [0.0, 0.5, 2.0, 9.0])
def test_it_says_what_pipecats_own_says(judge: TurnJudge, seconds: float) -> None:
    """The same sound gives the same probability, but for the rounding of 8-bit weights."""
    call = next(iter(sorted(FIXTURES.glob("english/*.flac"))))
    audio = (decode(call).astype(np.float32) / 32768.0)[: int(seconds * RATE_HZ)]
    theirs = LocalSmartTurnAnalyzerV3()._predict_endpoint(audio)["probability"]
    assert judge.over(audio) == pytest.approx(theirs, abs=0.05)
