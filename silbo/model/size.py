"""The size of a message as msgpack, computed without packing it, so that the broker does not need msgpack."""

from __future__ import annotations

from collections.abc import Mapping


def packed_size(attributes: Mapping[str, object], payload: bytes | None) -> int:
    """The msgpack size of the attributes plus that of the payload, if there is one."""
    pairs = sum(_text(name) + _scalar(value) for name, value in attributes.items())
    return (1 if len(attributes) < 16 else 3) + pairs + (0 if payload is None else _binary(payload))


def _scalar(value: object) -> int:
    if type(value) is str:
        return _text(value)
    if type(value) is int:
        return _integer(value)
    return 1 if type(value) is bool else 9


def _text(value: str) -> int:
    size = len(value.encode())
    return size + (1 if size < 32 else _head(size))


def _binary(value: bytes) -> int:
    return len(value) + _head(len(value))


def _head(size: int) -> int:
    """The size of the header before a string or bytes of this size."""
    return 2 if size < 1 << 8 else 3 if size < 1 << 16 else 5


def _integer(value: int) -> int:
    if -32 <= value < 128:
        return 1
    bits = value.bit_length() if value >= 0 else (-value - 1).bit_length() + 1  # the sign takes one
    return 1 + next(size for size in (1, 2, 4, 8) if bits <= 8 * size)
