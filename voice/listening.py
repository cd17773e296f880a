"""`jarvis hear`: the turns in audio files, each file with its own outcome."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from voice.config import Config
from voice.equipment import first_language, hearing_worker
from voice.errors import AudioUnreadable
from voice.hearing.listen import HeardTurn, hear
from voice.hearing.listener import HearingSettings

Outcome = list[HeardTurn] | AudioUnreadable


async def hear_files(config: Config, files: Sequence[Path]) -> list[tuple[Path, Outcome]]:
    """A file that can't be read is an outcome, and the others are heard all the same.

    Raises WeightsMissing and WorkerFailed.
    """
    worker = hearing_worker(config)
    outcomes: list[tuple[Path, Outcome]] = []
    try:
        for path in files:
            try:
                turns = await hear(
                    path,
                    worker,
                    language=first_language(config),
                    languages=config.languages,
                    settings=HearingSettings(judge=config.vad),
                )
            except AudioUnreadable as fault:
                outcomes.append((path, fault))
            else:
                outcomes.append((path, turns))
    finally:
        await worker.close()
    return outcomes
