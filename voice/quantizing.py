"""A language model's matrices in a form that this machine multiplies faster.

The 0.5B as its makers publish it holds most of its matrices as Q5_0, which llama.cpp multiplies
one row at a time; of IQ4_NL and Q8_0 it does several at once. What is changed and what it costs:
docs/decisions/0017.

Formats: ggml's docs/gguf.md and ggml-common.h. Each step is an elementwise operation of IEEE
single precision in a fixed order, so every machine and every numpy makes the same bytes.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]

BLOCK = 32
"""Weights that share a scale."""

_BLOCKS_AT_ONCE = 4096  # what is worked on stays in a core's own cache


def quicker(source: Path, target: Path) -> None:
    """Rewrite a GGUF file: attention's Q5_0 as Q8_0, which loses next to nothing, the rest of
    Q5_0 and the output matrix as IQ4_NL. Everything else stays as it is."""
    content = np.memmap(source, np.uint8, mode="r")
    header, tensors, data_at = _read(content.data)
    ends = [*(tensor.offset for tensor in tensors[1:]), len(content) - data_at]
    with target.open("wb") as file, ThreadPoolExecutor(min(os.cpu_count() or 1, 4)) as pool:
        file.write(header)
        offset = 0
        for tensor, end in zip(tensors, ends, strict=True):
            file.write(tensor.described(offset))
            offset += _aligned(tensor.made_bytes(end - tensor.offset))
        file.write(bytes(-file.tell() % _ALIGNMENT))
        for tensor, end in zip(tensors, ends, strict=True):
            stored = content[data_at + tensor.offset : data_at + end]
            for piece in _made(tensor, stored, pool):
                file.write(piece)
            file.write(bytes(-file.tell() % _ALIGNMENT))
        file.flush()
        os.fsync(file.fileno())


def _made(tensor: _Tensor, stored: Bytes, pool: Executor) -> Iterator[bytes]:
    if tensor.becomes == tensor.kind:
        yield stored.tobytes()
        return
    reads = _from_q5_0 if tensor.kind == _Q5_0 else _from_q8_0
    packs = iq4_nl if tensor.becomes == _IQ4_NL else q8_0
    size = _BLOCK_BYTES[tensor.kind]
    blocks = stored[: tensor.blocks * size].reshape(-1, size)
    pieces = (blocks[at : at + _BLOCKS_AT_ONCE] for at in range(0, tensor.blocks, _BLOCKS_AT_ONCE))
    yield from pool.map(lambda piece: packs(reads(piece)).tobytes(), pieces)


# The file -----------------------------------------------------------------------------

_Q5_0, _Q8_0, _IQ4_NL = 6, 8, 20
_BLOCK_BYTES = {_Q5_0: 22, _Q8_0: 34, _IQ4_NL: 18}
_ALIGNMENT = 32
_FIXED_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_STRING, _ARRAY = 8, 9


@dataclass(frozen=True, slots=True)
class _Tensor:
    """`shape` as it stands in the file, the length of a row first; `offset` in its data."""

    name: str
    shape: tuple[int, ...]
    kind: int
    offset: int

    @property
    def becomes(self) -> int:
        if self.name == "output.weight" and self.kind in (_Q5_0, _Q8_0):
            return _IQ4_NL
        if self.kind != _Q5_0 or self.name == "token_embd.weight":  # looked up, not multiplied by
            return self.kind
        return _Q8_0 if ".attn_" in self.name else _IQ4_NL

    @property
    def blocks(self) -> int:
        return prod(self.shape) // BLOCK

    def made_bytes(self, stored_bytes: int) -> int:
        if self.becomes == self.kind:
            return stored_bytes
        return self.blocks * _BLOCK_BYTES[self.becomes]

    def described(self, offset: int) -> bytes:
        name = self.name.encode()
        numbers = (len(self.shape), *self.shape, self.becomes, offset)
        return struct.pack(f"<Q{len(name)}sI{len(self.shape)}QIQ", len(name), name, *numbers)


def _aligned(size: int) -> int:
    return size + -size % _ALIGNMENT


def _read(content: memoryview) -> tuple[bytes, list[_Tensor], int]:
    """The file's header without its tensors, these by their offset, and where their data begins."""
    at = _Cursor(content)
    assert bytes(content[:4]) == b"GGUF", "its hash was checked"
    tensors, values = at.take("8xQQ")
    for _ in range(values):
        at.text()
        at.skip(*at.take("I"))
    header = bytes(content[: at.place])
    found = []
    for _ in range(tensors):
        name, (dimensions,) = at.text(), at.take("I")
        found.append(_Tensor(name, at.take(f"{dimensions}Q"), *at.take("IQ")))
    return header, sorted(found, key=lambda tensor: tensor.offset), _aligned(at.place)


class _Cursor:
    def __init__(self, content: memoryview) -> None:
        self._content = content
        self.place = 0

    def take(self, form: str) -> tuple[int, ...]:
        taken = struct.unpack_from(f"<{form}", self._content, self.place)
        self.place += struct.calcsize(f"<{form}")
        return taken

    def text(self) -> str:
        (length,) = self.take("Q")
        self.place += length
        return bytes(self._content[self.place - length : self.place]).decode()

    def skip(self, kind: int) -> None:
        if kind == _STRING:
            self.text()
        elif kind != _ARRAY:
            self.place += _FIXED_BYTES[kind]
        else:
            inner, length = self.take("IQ")
            if inner in _FIXED_BYTES:
                self.place += _FIXED_BYTES[inner] * length
            else:
                for _ in range(length):
                    self.skip(inner)


# Blocks: a column each, so that what is done to one is done to all --------------------


def _scales(stored: Bytes) -> Floats:
    return stored[:, :2].copy().view("<f2")[:, 0].astype(np.float32)


def _from_q5_0(stored: Bytes) -> Floats:
    """n × 22 bytes as 32 × n weights."""
    low = stored[:, 6:].T
    fifth = np.unpackbits(stored[:, 2:6], axis=1, bitorder="little").T << 4
    levels = np.concatenate((low & 15, low >> 4)) | fifth
    weights: Floats = (levels.astype(np.float32) - np.float32(16)) * _scales(stored)
    return weights


def _from_q8_0(stored: Bytes) -> Floats:
    """n × 34 bytes as 32 × n weights."""
    return stored[:, 2:].view(np.int8).T.astype(np.float32) * _scales(stored)


def q8_0(blocks: Floats) -> Bytes:
    """32 × n weights as n × 34 bytes: a half-precision scale, then whole numbers."""
    scale = (np.abs(blocks).max(0) / np.float32(127)).astype("<f2")
    packed = np.empty((blocks.shape[1], 34), np.uint8)
    packed[:, :2] = scale.view(np.uint8).reshape(-1, 2)
    levels = np.rint(blocks * _inverse(scale.astype(np.float32)))
    packed[:, 2:] = np.clip(levels, -127, 127).astype(np.int8).T.view(np.uint8)
    return packed


_LEVELS = np.array(
    [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.float32
)
"""IQ4_NL's sixteen values, which its scale is multiplied by."""

_REACH = 140
_NEAREST = np.searchsorted(
    (_LEVELS[1:] + _LEVELS[:-1]) / 2, np.arange(-_REACH, _REACH + 1, dtype=np.float32)
).astype(np.uint8)
"""The level next to each whole number from -140 to 140."""

_VALUES = _LEVELS[_NEAREST]

_TARGETS = tuple(np.float32(each) for each in range(-131, -118, 4))
"""What a block's largest weight is tried as: about the lowest level."""


def iq4_nl(blocks: Floats) -> Bytes:
    """32 × n weights as n × 18 bytes: a half-precision scale, then each weight's level in four
    bits, the first sixteen low."""
    scale = _scale(blocks).astype("<f2")
    levels = _NEAREST[_places(blocks, _inverse(scale.astype(np.float32)))]
    packed = np.empty((blocks.shape[1], 18), np.uint8)
    packed[:, :2] = scale.view(np.uint8).reshape(-1, 2)
    packed[:, 2:] = (levels[: BLOCK // 2] | levels[BLOCK // 2 :] << 4).T
    return packed


def _scale(blocks: Floats) -> Floats:
    """Of some scales for each block the one that errs least, by squares that weigh with the
    weight's own."""
    largest = np.take_along_axis(blocks, np.abs(blocks).argmax(0)[None], 0)[0]
    inverse = _inverse(largest)
    cubes = blocks * blocks * blocks
    best = found = np.zeros(blocks.shape[1], np.float32)
    for target in _TARGETS:
        values = _VALUES[_places(blocks, target * inverse)]
        fit = _sum(cubes * values)
        values *= blocks
        scale = fit * _inverse(_sum(values * values))
        better = fit * scale > best
        best = np.where(better, fit * scale, best)
        found = np.where(better, scale, found)
    return cast("Floats", found)


def _places(blocks: Floats, inverse: Floats) -> npt.NDArray[np.intp]:
    """Of each weight, over its block's scale, in the tables of whole numbers."""
    scaled = np.clip(np.rint(blocks * inverse), -_REACH, _REACH)
    places: npt.NDArray[np.intp] = scaled.astype(np.intp) + _REACH
    return places


def _inverse(values: Floats) -> Floats:
    """0 of 0."""
    return np.divide(np.float32(1), values, out=np.zeros_like(values), where=values != 0)


def _sum(rows: Floats) -> Floats:
    """Row by row, since numpy's own order of adding is nobody's promise."""
    total: Floats = rows[0].copy()
    for row in rows[1:]:
        total += row
    return total
