"""The order of the processors, nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameProcessor

MICROPHONE_HZ = 16_000
SPEAKER_HZ = 24_000


def build(
    source: FrameProcessor,
    ears: FrameProcessor,
    scribe: FrameProcessor,
    engine: Sequence[FrameProcessor],
    sink: FrameProcessor,
    tap: FrameProcessor,
    recorder: FrameProcessor | None = None,
) -> PipelineWorker:
    """`recorder` stands in front of the output, where an answer is still whole."""
    recorders = [] if recorder is None else [recorder]
    return PipelineWorker(
        Pipeline([source, ears, scribe, *engine, *recorders, sink, tap]),
        # pipecat's own idle timer would end the call before ours is due.
        idle_timeout_secs=None,
        enable_rtvi=False,
        enable_turn_tracking=False,
        params=PipelineParams(
            audio_in_sample_rate=MICROPHONE_HZ,
            audio_out_sample_rate=SPEAKER_HZ,
            enable_metrics=False,
            enable_usage_metrics=False,
        ),
    )
