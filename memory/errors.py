"""What a caller of memory can meet.

MemoryFault
├── VaultMissing         the vault is not a folder, or may not be read
├── StateUnwritable      the state folder can't be written: full disk, no permission
└── ConversationInUse    another process holds this conversation

Each message says what happened and what to do; it is shown to the user as it is.
"""

from __future__ import annotations


class MemoryFault(Exception):
    """The world failed; the message is for the user."""


class VaultMissing(MemoryFault):
    pass


class StateUnwritable(MemoryFault):
    pass


class ConversationInUse(MemoryFault):
    pass
