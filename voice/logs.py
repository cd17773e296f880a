"""Logging: ours by the standard library, pipecat's loguru forwarded to it."""

from __future__ import annotations

import logging
import os
import sys


class _Standard:
    """A loguru sink that hands each record to the standard logger of the same name."""

    def write(self, message: object) -> None:
        record = message.record  # type: ignore[attr-defined]
        logging.getLogger(record["name"]).log(record["level"].no, record["message"])


def set_up(level: int) -> None:
    """Log to standard error from `level` on.

    pipecat prints whole prompts at DEBUG, notebooks included, so what is forwarded of it
    never goes below INFO.
    """
    # Read by loguru at import: without it a first line could slip out before we are asked.
    os.environ.setdefault("LOGURU_AUTOINIT", "0")
    logging.basicConfig(
        level=level, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    for noisy in ("httpx", "httpcore", "aiortc", "aioice", "uvicorn", "websockets"):
        logging.getLogger(noisy).setLevel(max(level, logging.WARNING))


def forward_loguru(level: int = logging.INFO) -> None:
    """Called once pipecat is imported, by whoever runs a pipeline."""
    from loguru import logger

    logger.remove()
    logger.add(_Standard(), level=max(level, logging.INFO), format="{message}")
