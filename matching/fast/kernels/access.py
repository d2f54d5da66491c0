"""Access predicates: the constraint under which a conjunction is filed, its key, and the interval in its posting.

A message that may match finds the conjunction by one of its attributes: by a value, by the ends or a part of a
string, or by the attribute's presence and the interval in which its number must lie.
"""

from __future__ import annotations

import math

import numpy as np

from silbo.compiled import inner
from silbo.matching.fast.kernels import layout
from silbo.matching.fast.kernels.constraints import hash_of
from silbo.matching.fast.kernels.handles import (
    attributes_of,
    conjunctions_of,
    postings_f_of,
    state_of,
    words_b_of,
    words_f_of,
    words_of,
)
from silbo.matching.fast.kernels.lists import key_of
from silbo.matching.fast.kernels.search import step

# estimates: the share of the messages with the attribute that a way of access selects; an equality selects few
EQUAL_SHARE, ENDS_SHARE, PART_SHARE, RANGE_SHARE = 0.05, 0.1, 0.2, 0.5


@inner
def signature_of(t, at):
    """A bit for each attribute that the conjunction needs."""
    words = words_of(t)
    conjunctions = conjunctions_of(t)
    first = conjunctions[at + layout.C_FIRST]
    signature = 0
    for i in range(first, first + conjunctions[at + layout.C_COUNT] * layout.CONSTRAINT, layout.CONSTRAINT):
        if (words[i] >> layout.KIND) & 0xFF != layout.MISSING:
            signature |= 1 << (words[i] & 63)
    return signature


@inner
def best_access(t, first, count):
    """The constraint that the fewest messages are expected to satisfy, or -1 if none can be looked up."""
    state = state_of(t)
    words = words_of(t)
    attributes = attributes_of(t)
    best, least = -1, math.inf
    for i in range(count):
        meta = words[first + i * layout.CONSTRAINT]
        op = (meta >> layout.KIND) & 0xFF
        if op == layout.MISSING:
            continue
        base = (meta & 0xFFFFFFFF) * layout.ATTRIBUTE
        # how often messages have the attribute; before there are messages, estimated by how often filters name it
        often = (attributes[base + layout.A_SEEN] + attributes[base + layout.A_NAMED] + 1) / (
            state[layout.SEEN] + state[layout.LIVE] + 1
        )
        expected = often * _share(op, words[first + i * layout.CONSTRAINT + 1] >> 32)
        if expected < least:
            best, least = i, expected
    return best


@inner
def _share(op, length):
    if op == layout.N_EQ or op == layout.S_EQ:
        return EQUAL_SHARE
    if op == layout.B_IN or op == layout.N_IN or layout.N_LT <= op <= layout.N_GE:
        return RANGE_SHARE
    if length > 0 and (op == layout.S_BEGINS or op == layout.S_ENDS):
        return ENDS_SHARE
    if length > 0 and op == layout.S_HOLDS:
        return PART_SHARE
    return 1.0


@inner
def _way(t, at):
    """How the access predicate of a conjunction is looked up: one of an attribute's ways, or ALWAYS."""
    conjunctions = conjunctions_of(t)
    if conjunctions[at + layout.C_ACCESS] < 0:
        return layout.ALWAYS
    constraint = conjunctions[at + layout.C_FIRST] + conjunctions[at + layout.C_ACCESS] * layout.CONSTRAINT
    words = words_of(t)
    op = (words[constraint] >> layout.KIND) & 0xFF
    has_text = words[constraint + 1] >> 32 > 0
    if op == layout.N_EQ or op == layout.S_EQ or (op == layout.B_IN and 0 < words[constraint + 1] < 3):
        return layout.A_EQUAL
    if op == layout.EXISTS or op == layout.B_IN:
        return layout.A_ANY
    if op <= layout.N_NOT_IN:
        return layout.A_NUMBER
    if op == layout.S_BEGINS and has_text:
        return layout.A_PREFIX
    if op == layout.S_ENDS and has_text:
        return layout.A_SUFFIX
    if op == layout.S_HOLDS and has_text:
        return layout.A_GRAM
    return layout.A_STRING


@inner
def what_of(t, at):
    """The way of access and the attribute, as one word."""
    conjunctions = conjunctions_of(t)
    if conjunctions[at + layout.C_ACCESS] < 0:
        return layout.ALWAYS << 32
    constraint = conjunctions[at + layout.C_FIRST] + conjunctions[at + layout.C_ACCESS] * layout.CONSTRAINT
    words = words_of(t)
    way = _way(t, at)
    if way == layout.A_EQUAL:
        op = (words[constraint] >> layout.KIND) & 0xFF
        way += 32 * (layout.NUMBER if op == layout.N_EQ else layout.STRING if op == layout.S_EQ else layout.BOOL)
    return way << 32 | (words[constraint] & 0xFFFFFFFF)


@inner
def access_key(t, at):
    """The key of the list in which messages that may match find the conjunction."""
    way = _way(t, at)
    if way == layout.ALWAYS:
        return key_of(t, layout.ALWAYS, np.int64(0), np.int64(0))
    conjunctions = conjunctions_of(t)
    words = words_of(t)
    first = conjunctions[at + layout.C_FIRST]
    constraint = first + conjunctions[at + layout.C_ACCESS] * layout.CONSTRAINT
    attribute = words[constraint] & 0xFFFFFFFF
    if way == layout.A_EQUAL:
        op = (words[constraint] >> layout.KIND) & 0xFF
        if op == layout.N_EQ:
            bits = np.int64(0) if words_f_of(t)[constraint + 1] == 0.0 else words[constraint + 1]
            return key_of(t, layout.A_EQUAL + 32 * layout.NUMBER, attribute, bits)
        if op == layout.S_EQ:
            return key_of(
                t, layout.A_EQUAL + 32 * layout.STRING, attribute, hash_of(words, first, words[constraint + 1])
            )
        # a bool: mask 1 admits only false, mask 2 only true
        return key_of(t, layout.A_EQUAL + 32 * layout.BOOL, attribute, words[constraint + 1] - 1)
    if way == layout.A_PREFIX or way == layout.A_SUFFIX or way == layout.A_GRAM:
        span = words[constraint + 1]
        return _text_key(t, way, attribute, first * 8 + (span & 0xFFFFFFFF), span >> 32)
    return key_of(t, way, attribute, np.int64(0))


@inner
def _text_key(t, way, attribute, start, length):
    """The key of a prefix, of a suffix read backwards, or of the first bytes of a part."""
    text = words_b_of(t)
    used = min(length, layout.GRAM if way == layout.A_GRAM else layout.LONGEST_KEY)
    hashed = np.int64(0)
    for i in range(used):
        hashed = step(hashed, text[start + length - 1 - i] if way == layout.A_SUFFIX else text[start + i])
    return key_of(t, way + 32 * (used - 1), attribute, hashed)


@inner
def count_access(t, at, by):
    """Update the number of the attribute's postings for this way of access; messages skip ways that have none."""
    way = _way(t, at)
    if way == layout.ALWAYS:
        return
    conjunctions = conjunctions_of(t)
    words = words_of(t)
    attributes = attributes_of(t)
    constraint = conjunctions[at + layout.C_FIRST] + conjunctions[at + layout.C_ACCESS] * layout.CONSTRAINT
    base = (words[constraint] & 0xFFFFFFFF) * layout.ATTRIBUTE
    attributes[base + way] += by
    if way >= layout.A_PREFIX:
        lengths = base + way - layout.A_PREFIX + layout.A_PREFIXES
        if attributes[base + way] == 0:
            attributes[lengths] = 0
        elif by > 0:
            used = min(words[constraint + 1] >> 32, layout.GRAM if way == layout.A_GRAM else layout.LONGEST_KEY)
            attributes[lengths] |= 1 << (used - 1)


@inner
def narrow(t, at, posting):
    """Narrow the posting's interval to one in which its access attribute's number must lie."""
    way = _way(t, at)
    if way != layout.A_NUMBER:
        return
    conjunctions = conjunctions_of(t)
    words = words_of(t)
    words_f = words_f_of(t)
    postings_f = postings_f_of(t)
    first = conjunctions[at + layout.C_FIRST]
    attribute = words[first + conjunctions[at + layout.C_ACCESS] * layout.CONSTRAINT] & 0xFFFFFFFF
    for i in range(first, first + conjunctions[at + layout.C_COUNT] * layout.CONSTRAINT, layout.CONSTRAINT):
        op = (words[i] >> layout.KIND) & 0xFF
        if words[i] & 0xFFFFFFFF != attribute:
            continue
        low, high = -math.inf, math.inf
        if op == layout.N_EQ or op == layout.N_GT or op == layout.N_GE:
            low = words_f[i + 1]
        if op == layout.N_EQ or op == layout.N_LT or op == layout.N_LE:
            high = words_f[i + 1]
        if op == layout.N_IN:
            start, count = first + (words[i + 1] & 0xFFFFFFFF), words[i + 1] >> 32
            low, high = words_f[start], words_f[start + 2 * (count - 1)]
        postings_f[posting + layout.P_LOW] = max(postings_f[posting + layout.P_LOW], low)
        postings_f[posting + layout.P_HIGH] = min(postings_f[posting + layout.P_HIGH], high)


@inner
def sharpen(t, at, posting):
    """Make a posting's interval equivalent to its only constraint, if possible; returns whether it is."""
    conjunctions = conjunctions_of(t)
    words = words_of(t)
    postings_f = postings_f_of(t)
    if conjunctions[at + layout.C_COUNT] != 1:
        return False
    constraint = conjunctions[at + layout.C_FIRST]
    op = (words[constraint] >> layout.KIND) & 0xFF
    if words[constraint] >> layout.RESIDUE != 0:
        return False
    number = words_f_of(t)[constraint + 1]
    if op == layout.N_EQ:
        postings_f[posting + layout.P_LOW] = number
        postings_f[posting + layout.P_HIGH] = number
    elif op == layout.N_LT:
        postings_f[posting + layout.P_HIGH] = np.nextafter(number, -math.inf)
    elif op == layout.N_GT:
        postings_f[posting + layout.P_LOW] = np.nextafter(number, math.inf)
    else:
        return op == layout.N_LE or op == layout.N_GE
    return True
