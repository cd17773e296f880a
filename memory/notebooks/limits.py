"""The limits that the notebooks and their reviews keep (spec L1 to L6), each in one place."""

from __future__ import annotations

from datetime import timedelta

ENTRY_CHARS = 300
NOTEBOOKS_CHARS = 2_500
"""Both notebooks together: the texts of all list items."""

QUOTE_CHARS = 12
"""A quote has at least so many."""

REVIEW_SENTENCES = 8
REVIEW_CHANGES = 3
REVIEW_TOKENS_IN = 1_300
REVIEW_TOKENS_OUT = 800

MERGE_AT = 0.8
"""How full the notebooks are when entries are merged."""
MERGE_EVERY = timedelta(hours=12)
