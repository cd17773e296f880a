from __future__ import annotations

from memory import event_records


def test_every_kind_is_documented() -> None:
    """The table at the top of the module names each kind with its fields."""
    text = event_records.__doc__ or ""
    for kind, fields in event_records.FIELDS.items():
        assert f"`{kind}`" in text
        for field in fields:
            assert f"`{field}`" in text
