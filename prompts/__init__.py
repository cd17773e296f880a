"""Prompts as text with $variables; the code that fills them is in `memory` and `voice`."""
