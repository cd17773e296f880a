"""For all tests."""

from __future__ import annotations

from hypothesis import settings

# How long an example takes is the machine's affair.
settings.register_profile("untimed", settings(), deadline=None)
settings.load_profile("untimed")
