"""A language model's file rewritten: to the same bytes everywhere, and hardly another model."""

from __future__ import annotations

import hashlib
import random
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from voice.quantizing import BLOCK, Bytes, Floats, iq4_nl, q8_0, quicker

F32, Q5_0, Q8_0, IQ4_NL = 0, 6, 8, 20
LEVELS = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def gguf(tensors: list[tuple[str, int, int, bytes]]) -> bytes:
    """Tensors of `rows` × 64, with values of each sort in the header."""
    values = [
        text("general.architecture") + struct.pack("<I", 8) + text("qwen2"),
        text("tokens") + struct.pack("<IIQ", 9, 8, 2) + text("ä") + text(""),
        text("numbers") + struct.pack("<IIQ3i", 9, 5, 3, 1, 2, 3),
        text("eps") + struct.pack("<If", 6, 1e-6),
    ]
    described, data = b"", b""
    for name, kind, rows, content in tensors:
        described += text(name) + struct.pack("<IQQIQ", 2, 64, rows, kind, len(data))
        data += content + bytes(-len(content) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values)) + b"".join(values)
    head += described
    return head + bytes(-len(head) % 32) + data


def q5_0(weights: Floats) -> bytes:
    """Packed one weight after the other, as ggml-common.h draws it."""
    packed = b""
    for block in weights.reshape(-1, BLOCK):
        scale = np.float16(block[np.abs(block).argmax()] / -16)
        levels = [min(31, max(0, round(float(w) / float(scale)) + 16)) for w in block]
        fifth = sum((level >> 4) << at for at, level in enumerate(levels))
        low = bytes(levels[at] & 15 | (levels[at + 16] & 15) << 4 for at in range(16))
        packed += scale.tobytes() + struct.pack("<I", fifth) + low
    return packed


def from_q5_0(content: bytes) -> Floats:
    weights = []
    for at in range(0, len(content), 22):
        (scale,) = np.frombuffer(content[at : at + 2], np.float16)
        (fifth,) = struct.unpack_from("<I", content, at + 2)
        low = content[at + 6 : at + 22]
        levels = [low[i] & 15 for i in range(16)] + [low[i] >> 4 for i in range(16)]
        weights += [
            float(scale) * (each + (fifth >> i & 1) * 16 - 16) for i, each in enumerate(levels)
        ]
    return np.array(weights, np.float32)


def from_q8_0(content: bytes) -> Floats:
    blocks = [content[at : at + 34] for at in range(0, len(content), 34)]
    scales = [float(np.frombuffer(block[:2], np.float16)[0]) for block in blocks]
    levels = [np.frombuffer(block[2:], np.int8).astype(np.float32) for block in blocks]
    return np.concatenate([scale * each for scale, each in zip(scales, levels, strict=True)])


def from_iq4_nl(content: bytes) -> Floats:
    weights = []
    for at in range(0, len(content), 18):
        (scale,) = np.frombuffer(content[at : at + 2], np.float16)
        low = content[at + 2 : at + 18]
        levels = [each & 15 for each in low] + [each >> 4 for each in low]
        weights += [float(scale) * LEVELS[level] for level in levels]
    return np.array(weights, np.float32)


def off(found: Floats, wanted: Floats) -> float:
    return float(np.sqrt(np.mean((found - wanted) ** 2) / np.mean(wanted**2)))


def drawn(rows: int, seed: int = 1) -> Floats:
    chance = random.Random(seed)  # noqa: S311  the same on every Python
    return np.array([[chance.gauss(0, 0.02) for _ in range(64)] for _ in range(rows)], np.float32)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.gguf"
    first, second, third = (drawn(8, seed) for seed in range(3))
    path.write_bytes(
        gguf(
            [
                ("output.weight", Q8_0, 8, q8_0(first.reshape(-1, BLOCK).T).tobytes()),
                ("token_embd.weight", Q5_0, 8, q5_0(second)),
                ("blk.0.attn_q.weight", Q5_0, 8, q5_0(first)),
                ("blk.0.attn_v.weight", Q8_0, 8, q8_0(third.reshape(-1, BLOCK).T).tobytes()),
                ("blk.0.ffn_up.weight", Q5_0, 8, q5_0(third)),
                ("blk.0.ffn_norm.weight", F32, 1, drawn(1).tobytes()),
            ]
        )
    )
    return path


def tensors(path: Path) -> dict[str, tuple[int, bytes]]:
    """Read back by what was written: kind and bytes of each tensor."""
    content = path.read_bytes()
    names = [b"output.weight", b"token_embd.weight", b"blk.0.attn_q.weight"]
    names += [b"blk.0.attn_v.weight", b"blk.0.ffn_up.weight", b"blk.0.ffn_norm.weight"]
    described = {}
    for name in names:
        at = content.index(name) + len(name)
        dimensions, width, rows, kind, offset = struct.unpack_from("<IQQIQ", content, at)
        assert (dimensions, width, offset % 32) == (2, 64, 0)
        described[name.decode()] = (kind, rows, offset)
        data_at = at + 32
    data_at += -data_at % 32
    sizes = {F32: 4 * 32, Q5_0: 22, Q8_0: 34, IQ4_NL: 18}
    return {
        name: (kind, content[data_at + offset :][: rows * 2 * sizes[kind]])
        for name, (kind, rows, offset) in described.items()
    }


def test_what_is_multiplied_slowly_is_written_anew(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.gguf"
    quicker(source, target)
    before, after = tensors(source), tensors(target)
    kinds = {name: (before[name][0], kind) for name, (kind, _) in after.items()}
    assert kinds == {
        "output.weight": (Q8_0, IQ4_NL),
        "token_embd.weight": (Q5_0, Q5_0),
        "blk.0.attn_q.weight": (Q5_0, Q8_0),
        "blk.0.attn_v.weight": (Q8_0, Q8_0),
        "blk.0.ffn_up.weight": (Q5_0, IQ4_NL),
        "blk.0.ffn_norm.weight": (F32, F32),
    }
    for name in ("token_embd.weight", "blk.0.attn_v.weight", "blk.0.ffn_norm.weight"):
        assert after[name] == before[name]
    for name, was, now, most in (
        ("blk.0.attn_q.weight", from_q5_0, from_q8_0, 0.01),
        ("blk.0.ffn_up.weight", from_q5_0, from_iq4_nl, 0.09),
        ("output.weight", from_q8_0, from_iq4_nl, 0.09),
    ):
        assert off(now(after[name][1]), was(before[name][1])) < most
    head = source.read_bytes()[: source.read_bytes().index(b"eps")]
    assert target.read_bytes().startswith(head)


def test_every_machine_makes_the_same_bytes(source: Path, tmp_path: Path) -> None:
    """The manifest holds the hash of what is made: a step that rounds elsewhere would show here."""
    target = tmp_path / "target.gguf"
    quicker(source, target)
    assert (
        hashlib.sha256(target.read_bytes()).hexdigest()
        == "9920ee8add623c7a4cd813009c5a365a6e6fc2d04569c53b9504bb0543987d63"
    )


@pytest.mark.parametrize("make", [iq4_nl, q8_0])
def test_blocks_of_nothing_stay_nothing(make: Callable[[Floats], Bytes]) -> None:
    packed = make(np.zeros((BLOCK, 3), np.float32)).tobytes()
    read = from_iq4_nl if make is iq4_nl else from_q8_0
    assert not read(packed).any()


def test_a_scale_that_errs_less_is_found() -> None:
    """Compared with the plain one, which takes the largest weight for the lowest level."""
    weights = drawn(200)
    blocks = weights.reshape(-1, BLOCK)
    found = from_iq4_nl(iq4_nl(blocks.T).tobytes()).reshape(blocks.shape)
    largest = np.take_along_axis(blocks, np.abs(blocks).argmax(1)[:, None], 1)
    scales = largest / LEVELS[0]
    plain = np.array(LEVELS, np.float32)[
        np.abs(blocks[:, :, None] / scales[:, :, None] - np.array(LEVELS)).argmin(2)
    ]
    assert off(found, blocks) < off(plain * scales, blocks) * 0.97
