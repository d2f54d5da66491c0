"""Strings as UTF-8 bytes: equality, order (which is that of code points) and patterns, all in linear time."""

from __future__ import annotations

import numpy as np

from silbo.compiled import inner
from silbo.matching.fast.kernels import layout

SHORT = 16  # bytes: a pattern up to this length is compared at each place, which is linear as well


@inner
def same(a, at, b, bt, length):
    """Whether `length` bytes of two buffers are equal."""
    for i in range(length):
        if a[at + i] != b[bt + i]:
            return False
    return True


@inner
def order(a, at, length_a, b, bt, length_b):
    """Negative, zero or positive if the first string is less than, equal to or greater than the second."""
    for i in range(min(length_a, length_b)):
        if a[at + i] != b[bt + i]:
            return np.int64(a[at + i]) - np.int64(b[bt + i])
    return length_a - length_b


@inner
def fits(pattern, a, at, length_a, b, bt, length_b, failure):
    """Whether the first string begins with, ends with or contains the second."""
    if length_b > length_a:
        return False
    if pattern == layout.BEGINS:
        return same(a, at, b, bt, length_b)
    if pattern == layout.ENDS:
        return same(a, at + length_a - length_b, b, bt, length_b)
    if length_b <= SHORT:
        for i in range(length_a - length_b + 1):
            if same(a, at + i, b, bt, length_b):
                return True
        return False
    return _holds_long(a, at, length_a, b, bt, length_b, failure)


@inner
def _holds_long(a, at, length_a, b, bt, length_b, failure):
    """Search by Knuth, Morris and Pratt: in linear time, whatever the strings are."""
    failure[0] = 0
    matched = 0
    for i in range(1, length_b):
        while matched > 0 and b[bt + i] != b[bt + matched]:
            matched = failure[matched - 1]
        if b[bt + i] == b[bt + matched]:
            matched += 1
        failure[i] = matched
    matched = 0
    for i in range(length_a):
        while matched > 0 and a[at + i] != b[bt + matched]:
            matched = failure[matched - 1]
        if a[at + i] == b[bt + matched]:
            matched += 1
        if matched == length_b:
            return True
    return False
