"""What tests opened, to be closed when they are over."""

from __future__ import annotations

from contextlib import ExitStack

OPENED = ExitStack()
