"""Check the constraints of a conjunction one by one against the current message.

A constraint holds only if it is true; unknown (an absent attribute, a value of another kind) does not hold.
"""

from __future__ import annotations

from silbo.compiled import inner
from silbo.matching.fast.kernels import layout
from silbo.matching.fast.kernels.handles import (
    attributes_of,
    failure_of,
    state_of,
    stream_b_of,
    stream_f_of,
    stream_of,
    words_b_of,
    words_f_of,
    words_of,
)
from silbo.matching.fast.kernels.strings import fits, order, same


@inner
def all_hold(t, first, count):
    """Whether every constraint of the block that begins at word `first` holds."""
    state_of(t)[layout.TESTED] += 1
    stream = stream_of(t)
    stream_f = stream_f_of(t)
    words = words_of(t)
    words_f = words_f_of(t)
    attributes = attributes_of(t)
    for at in range(first, first + count * layout.CONSTRAINT, layout.CONSTRAINT):
        meta = words[at]
        op = (meta >> layout.KIND) & 0xFF
        slot = attributes[(meta & 0xFFFFFFFF) * layout.ATTRIBUTE + layout.A_SLOT]
        if slot == 0:
            if op != layout.MISSING:
                return False
            continue
        if op <= layout.MISSING:
            if op == layout.EXISTS:
                continue
            return False
        kind = (stream[slot] >> layout.KIND) & 0xFF
        if op < layout.B_IN:
            if kind != layout.NUMBER:
                return False
            residue = stream[slot] >> layout.RESIDUE
            if op <= layout.N_GE:
                if not number_holds(op, stream_f[slot + 1], residue, words_f[at + 1], meta >> layout.RESIDUE):
                    return False
            else:
                span = words[at + 1]
                start = first + (span & 0xFFFFFFFF)
                if number_in(stream_f[slot + 1], residue, words, words_f, start, span >> 32) != (op == layout.N_IN):
                    return False
        elif op == layout.B_IN:
            if kind != layout.BOOL or (words[at + 1] >> stream[slot + 1]) & 1 == 0:
                return False
        else:
            if kind != layout.STRING:
                return False
            span = stream[slot + 2]
            if not _string_holds(t, op, at, first, stream[slot + 1], span & 0xFFFFFFFF, span >> 32):
                return False
    state_of(t)[layout.PASSED] += 1
    return True


@inner
def hash_of(words, first, span):
    """The hash of a text in the block that begins at word `first`."""
    return words[first + (span & 0xFFFFFFFF) // 8 - 1]


@inner
def number_holds(op, a, residue_a, b, residue_b):
    """Whether an exact comparison of two numbers holds."""
    below = a < b or (a == b and residue_a < residue_b)
    equal = a == b and residue_a == residue_b
    if op == layout.N_EQ:
        return equal
    if op == layout.N_NE:
        return not equal
    if op == layout.N_LT:
        return below
    if op == layout.N_LE:
        return below or equal
    if op == layout.N_GT:
        return not (below or equal)
    return not below


@inner
def number_in(a, residue, words, words_f, start, count):
    """Whether a number is in a sorted list of (double, residue)."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        b, residue_b = words_f[start + 2 * middle], words[start + 2 * middle + 1]
        if b < a or (b == a and residue_b < residue):
            low = middle + 1
        else:
            high = middle
    return low < count and words_f[start + 2 * low] == a and words[start + 2 * low + 1] == residue


@inner
def string_in(hashed, a, at, length, words, words_b, start, count, base):
    """Whether a string is in a list of (hash, span) sorted by hash; a hit is verified byte by byte."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if words[start + 2 * middle] < hashed:
            low = middle + 1
        else:
            high = middle
    while low < count and words[start + 2 * low] == hashed:
        span = words[start + 2 * low + 1]
        if span >> 32 == length and same(a, at, words_b, base + (span & 0xFFFFFFFF), length):
            return True
        low += 1
    return False


@inner
def _string_holds(t, op, at, first, hashed, start, length):
    a = stream_b_of(t)
    words = words_of(t)
    words_b = words_b_of(t)
    failure = failure_of(t)
    span = words[at + 1]
    if op == layout.S_IN or op == layout.S_NOT_IN:
        list_at = first + (span & 0xFFFFFFFF)
        return string_in(hashed, a, start, length, words, words_b, list_at, span >> 32, first * 8) == (
            op == layout.S_IN
        )
    other, length_other = first * 8 + (span & 0xFFFFFFFF), span >> 32
    if op == layout.S_EQ or op == layout.S_NE:
        equal = (
            hashed == hash_of(words, first, span) and length == length_other and same(a, start, words_b, other, length)
        )
        return equal == (op == layout.S_EQ)
    if op <= layout.S_GE:
        ordered = order(a, start, length, words_b, other, length_other)
        if op == layout.S_LT:
            return ordered < 0
        if op == layout.S_LE:
            return ordered <= 0
        if op == layout.S_GT:
            return ordered > 0
        return ordered >= 0
    if op == layout.S_BEGINS or op == layout.S_NOT_BEGINS:
        return fits(layout.BEGINS, a, start, length, words_b, other, length_other, failure) == (op == layout.S_BEGINS)
    if op == layout.S_ENDS or op == layout.S_NOT_ENDS:
        return fits(layout.ENDS, a, start, length, words_b, other, length_other, failure) == (op == layout.S_ENDS)
    return fits(layout.HOLDS, a, start, length, words_b, other, length_other, failure) == (op == layout.S_HOLDS)
