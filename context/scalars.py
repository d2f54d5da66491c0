"""Values encoded as words for kernels: exact numbers, hashed strings with their bytes, sorted sets.

A meta word holds an id or a block in bits 0-31, a kind in 32-39, flags in 40-47 and the residue in 48-63.
A number is a double and a residue: the difference between an integer beyond 2^53 and its double. Pairs are ordered
first by the double, then by the residue, which is exactly the order of the numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from silbo.model.values import Scalar, ValueSet

ABSENT, NUMBER, BOOL, STRING, SET, SHAPE = 0, 1, 2, 3, 4, 5  # kinds
KIND, FLAGS, RESIDUE = 32, 40, 48  # shifts in a meta word
INT = 1  # flag: the number was given as an int

EXACT = 2**53  # integers up to this magnitude are exact as doubles


def encoded_number(value: float) -> tuple[float, int]:
    """The double and the residue of a number."""
    number = float(value)
    return number, 0 if -EXACT <= value <= EXACT else int(value) - int(number)


def bits(number: float) -> int:
    """A double's bits as a signed word."""
    return int(np.float64(number).view(np.int64))


def string_block(value: str) -> np.ndarray[Any, Any]:
    """A string's block: its length in bytes in the upper half of a word, then its bytes."""
    data = value.encode()
    return np.concatenate([np.array([len(data) << 32], np.int64), packed(data)])


def packed(data: bytes) -> np.ndarray[Any, Any]:
    """Bytes as words; the last word is padded with zeros."""
    return np.frombuffer(data + b"\0" * (-len(data) % 8), np.int64)


def set_block(value: ValueSet) -> np.ndarray[Any, Any]:
    """A set's block: the number of members and their kind, then the members. Bools are one mask."""
    members = list(value)
    kind = {None: ABSENT, "number": NUMBER, "bool": BOOL, "string": STRING}[value.kind]
    head = np.array([len(members), kind], np.int64)
    if kind == BOOL:
        return np.append(head, bool_mask(members))
    return np.concatenate([head, listed(kind, members, head.size)])


def bool_mask(members: Iterable[Scalar]) -> np.int64:
    """A mask of bools: bit 0 for false, bit 1 for true."""
    mask: np.int64 = np.int64(sum({1 << int(member) for member in members}))
    return mask


def listed(kind: int, members: Sequence[Scalar], before: int) -> np.ndarray[Any, Any]:
    """Members in a form that can be searched: numbers in order; strings by hash, with the spans of their bytes.

    `before` is the number of words in the block before the list: spans count bytes from the block's beginning.
    """
    if kind == NUMBER:
        numbers = sorted({encoded_number(member) for member in members})  # type: ignore[arg-type]  # all are numbers
        return np.array([word for number, residue in numbers for word in (bits(number), residue)], np.int64)
    texts = sorted({str(member) for member in members}, key=hash)
    start = (before + 2 * len(texts)) * 8
    words: list[int] = []
    encoded = [text.encode() for text in texts]
    for text, data in zip(texts, encoded, strict=True):
        words += (hash(text), start | len(data) << 32)
        start += len(data)
    return np.concatenate([np.array(words, np.int64), packed(b"".join(encoded))])
