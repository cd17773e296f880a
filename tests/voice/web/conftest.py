"""Tests in a browser run on one event loop, so that one browser serves them all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.voice.web.looking import one_browser

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        ours = item.path.is_relative_to(HERE) and item.get_closest_marker("browser")
        if ours and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def a_browser() -> AsyncIterator[None]:
    async with one_browser():
        yield
