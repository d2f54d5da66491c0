"""Access predicates: the constraint under which a conjunction is filed, its key, and the interval in its posting.

A message that may match finds the conjunction by one of its attributes: by a value, by the ends or a part of a
string, or by the attribute's presence and the interval in which its number must lie.
"""

from __future__ import annotations

import math

import numpy as np

from silbo.compiled import inner
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
from silbo.matching.fast.kernels.layout import (
    A_ANY,
    A_EQUAL,
    A_GRAM,
    A_NAMED,
    A_NUMBER,
    A_PREFIX,
    A_PREFIXES,
    A_SEEN,
    A_STRING,
    A_SUFFIX,
    ALWAYS,
    ATTRIBUTE,
    B_IN,
    BOOL,
    C_ACCESS,
    C_COUNT,
    C_FIRST,
    CONSTRAINT,
    EXISTS,
    GRAM,
    KIND,
    LIVE,
    LONGEST_KEY,
    MISSING,
    N_EQ,
    N_GE,
    N_GT,
    N_IN,
    N_LE,
    N_LT,
    N_NOT_IN,
    NUMBER,
    P_HIGH,
    P_LOW,
    RESIDUE,
    S_BEGINS,
    S_ENDS,
    S_EQ,
    S_HOLDS,
    SEEN,
    STRING,
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
    first = conjunctions[at + C_FIRST]
    signature = 0
    for i in range(first, first + conjunctions[at + C_COUNT] * CONSTRAINT, CONSTRAINT):
        if (words[i] >> KIND) & 0xFF != MISSING:
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
        meta = words[first + i * CONSTRAINT]
        op = (meta >> KIND) & 0xFF
        if op == MISSING:
            continue
        base = (meta & 0xFFFFFFFF) * ATTRIBUTE
        # how often messages have the attribute; before there are messages, estimated by how often filters name it
        often = (attributes[base + A_SEEN] + attributes[base + A_NAMED] + 1) / (state[SEEN] + state[LIVE] + 1)
        expected = often * _share(op, words[first + i * CONSTRAINT + 1] >> 32)
        if expected < least:
            best, least = i, expected
    return best


@inner
def _share(op, length):
    if op == N_EQ or op == S_EQ:
        return EQUAL_SHARE
    if op == B_IN or op == N_IN or N_LT <= op <= N_GE:
        return RANGE_SHARE
    if length > 0 and (op == S_BEGINS or op == S_ENDS):
        return ENDS_SHARE
    if length > 0 and op == S_HOLDS:
        return PART_SHARE
    return 1.0


@inner
def _way(t, at):
    """How the access predicate of a conjunction is looked up: one of an attribute's ways, or ALWAYS."""
    conjunctions = conjunctions_of(t)
    if conjunctions[at + C_ACCESS] < 0:
        return ALWAYS
    constraint = conjunctions[at + C_FIRST] + conjunctions[at + C_ACCESS] * CONSTRAINT
    words = words_of(t)
    op = (words[constraint] >> KIND) & 0xFF
    has_text = words[constraint + 1] >> 32 > 0
    if op == N_EQ or op == S_EQ or (op == B_IN and 0 < words[constraint + 1] < 3):
        return A_EQUAL
    if op == EXISTS or op == B_IN:
        return A_ANY
    if op <= N_NOT_IN:
        return A_NUMBER
    if op == S_BEGINS and has_text:
        return A_PREFIX
    if op == S_ENDS and has_text:
        return A_SUFFIX
    if op == S_HOLDS and has_text:
        return A_GRAM
    return A_STRING


@inner
def what_of(t, at):
    """The way of access and the attribute, as one word."""
    conjunctions = conjunctions_of(t)
    if conjunctions[at + C_ACCESS] < 0:
        return ALWAYS << 32
    constraint = conjunctions[at + C_FIRST] + conjunctions[at + C_ACCESS] * CONSTRAINT
    words = words_of(t)
    way = _way(t, at)
    if way == A_EQUAL:
        op = (words[constraint] >> KIND) & 0xFF
        way += 32 * (NUMBER if op == N_EQ else STRING if op == S_EQ else BOOL)
    return way << 32 | (words[constraint] & 0xFFFFFFFF)


@inner
def access_key(t, at):
    """The key of the list in which messages that may match find the conjunction."""
    way = _way(t, at)
    if way == ALWAYS:
        return key_of(t, ALWAYS, np.int64(0), np.int64(0))
    conjunctions = conjunctions_of(t)
    words = words_of(t)
    first = conjunctions[at + C_FIRST]
    constraint = first + conjunctions[at + C_ACCESS] * CONSTRAINT
    attribute = words[constraint] & 0xFFFFFFFF
    if way == A_EQUAL:
        op = (words[constraint] >> KIND) & 0xFF
        if op == N_EQ:
            bits = np.int64(0) if words_f_of(t)[constraint + 1] == 0.0 else words[constraint + 1]
            return key_of(t, A_EQUAL + 32 * NUMBER, attribute, bits)
        if op == S_EQ:
            return key_of(t, A_EQUAL + 32 * STRING, attribute, hash_of(words, first, words[constraint + 1]))
        # a bool: mask 1 admits only false, mask 2 only true
        return key_of(t, A_EQUAL + 32 * BOOL, attribute, words[constraint + 1] - 1)
    if way == A_PREFIX or way == A_SUFFIX or way == A_GRAM:
        span = words[constraint + 1]
        return _text_key(t, way, attribute, first * 8 + (span & 0xFFFFFFFF), span >> 32)
    return key_of(t, way, attribute, np.int64(0))


@inner
def _text_key(t, way, attribute, start, length):
    """The key of a prefix, of a suffix read backwards, or of the first bytes of a part."""
    text = words_b_of(t)
    used = min(length, GRAM if way == A_GRAM else LONGEST_KEY)
    hashed = np.int64(0)
    for i in range(used):
        hashed = step(hashed, text[start + length - 1 - i] if way == A_SUFFIX else text[start + i])
    return key_of(t, way + 32 * (used - 1), attribute, hashed)


@inner
def count_access(t, at, by):
    """Update the number of the attribute's postings for this way of access; messages skip ways that have none."""
    way = _way(t, at)
    if way == ALWAYS:
        return
    conjunctions = conjunctions_of(t)
    words = words_of(t)
    attributes = attributes_of(t)
    constraint = conjunctions[at + C_FIRST] + conjunctions[at + C_ACCESS] * CONSTRAINT
    base = (words[constraint] & 0xFFFFFFFF) * ATTRIBUTE
    attributes[base + way] += by
    if way >= A_PREFIX:
        lengths = base + way - A_PREFIX + A_PREFIXES
        if attributes[base + way] == 0:
            attributes[lengths] = 0
        elif by > 0:
            used = min(words[constraint + 1] >> 32, GRAM if way == A_GRAM else LONGEST_KEY)
            attributes[lengths] |= 1 << (used - 1)


@inner
def narrow(t, at, posting):
    """Narrow the posting's interval to one in which its access attribute's number must lie."""
    way = _way(t, at)
    if way != A_NUMBER:
        return
    conjunctions = conjunctions_of(t)
    words = words_of(t)
    words_f = words_f_of(t)
    postings_f = postings_f_of(t)
    first = conjunctions[at + C_FIRST]
    attribute = words[first + conjunctions[at + C_ACCESS] * CONSTRAINT] & 0xFFFFFFFF
    for i in range(first, first + conjunctions[at + C_COUNT] * CONSTRAINT, CONSTRAINT):
        op = (words[i] >> KIND) & 0xFF
        if words[i] & 0xFFFFFFFF != attribute:
            continue
        low, high = -math.inf, math.inf
        if op == N_EQ or op == N_GT or op == N_GE:
            low = words_f[i + 1]
        if op == N_EQ or op == N_LT or op == N_LE:
            high = words_f[i + 1]
        if op == N_IN:
            start, count = first + (words[i + 1] & 0xFFFFFFFF), words[i + 1] >> 32
            low, high = words_f[start], words_f[start + 2 * (count - 1)]
        postings_f[posting + P_LOW] = max(postings_f[posting + P_LOW], low)
        postings_f[posting + P_HIGH] = min(postings_f[posting + P_HIGH], high)


@inner
def sharpen(t, at, posting):
    """Make a posting's interval equivalent to its only constraint, if possible; returns whether it is."""
    conjunctions = conjunctions_of(t)
    words = words_of(t)
    postings_f = postings_f_of(t)
    if conjunctions[at + C_COUNT] != 1:
        return False
    constraint = conjunctions[at + C_FIRST]
    op = (words[constraint] >> KIND) & 0xFF
    if words[constraint] >> RESIDUE != 0:
        return False
    number = words_f_of(t)[constraint + 1]
    if op == N_EQ:
        postings_f[posting + P_LOW] = number
        postings_f[posting + P_HIGH] = number
    elif op == N_LT:
        postings_f[posting + P_HIGH] = np.nextafter(number, -math.inf)
    elif op == N_GT:
        postings_f[posting + P_LOW] = np.nextafter(number, math.inf)
    else:
        return op == N_LE or op == N_GE
    return True
