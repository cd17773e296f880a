from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.memory.stores import OPENED


@pytest.fixture(autouse=True)
def stores_are_closed() -> Iterator[None]:
    yield
    OPENED.close()
