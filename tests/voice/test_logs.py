"""Logging never shows a prompt."""

from __future__ import annotations

import logging

import pytest
from loguru import logger

from voice.logs import forward_loguru


@pytest.mark.parametrize("asked", [logging.DEBUG, logging.INFO])
def test_pipecat_never_logs_below_info(asked: int, caplog: pytest.LogCaptureFixture) -> None:
    """At DEBUG pipecat prints whole prompts, notebooks included: they are not forwarded."""
    forward_loguru(asked)
    with caplog.at_level(logging.DEBUG):
        logger.debug("the whole notebook")
        logger.info("a call began")
    assert [record.message for record in caplog.records] == ["a call began"]
