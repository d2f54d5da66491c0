"""Matching by stages: a kernel that stops after a given stage, so that differences of times are the times of stages.

It makes the same calls as `kernels.search`, in the same order, for one publication of the stream, with two exceptions:
it collects all candidates before it checks the first, and makes one check of all of them before the next check. So
it has its own loops: `search` has a single loop for speed, and a switch in it would slow down every match. It returns
the number of candidates that are left, and records nothing for the planner.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from silbo.compiled import Kernel, digest_of, inner
from silbo.matching.fast.kernels import entries, search
from silbo.matching.fast.kernels.constraints import all_hold
from silbo.matching.fast.kernels.handles import (
    attributes_of,
    families_of,
    out_of,
    postings_f_of,
    postings_of,
    programs_of,
    pubs_of,
    slices_f_of,
    slices_of,
    state_of,
    stream_of,
)
from silbo.matching.fast.kernels.layout import (
    A_SLOT,
    ATTRIBUTE,
    CELL,
    EVENTS,
    EXACT,
    F_ACTIVE,
    FALSE,
    FAMILIES,
    FAMILY,
    HEAD,
    LAST_ROW,
    M_COUNT,
    M_NUMBER,
    M_START,
    P_BLOCK,
    P_COUNT,
    P_HIGH,
    P_LOW,
    P_PROGRAM,
    P_SIGNATURE,
    P_WHO,
    POSTING,
    PROGRAM,
    R_EARLY,
    SCALAR,
    SLICE,
)
from silbo.matching.fast.kernels.selectivity import context_holds

CANDIDATES, FIRST, SECOND = 1, 2, 3  # the stages after which it stops


def staged(t, stage):
    """Match the publication at the beginning of the stream up to a stage; returns the number of candidates left."""
    state = state_of(t)
    stream = stream_of(t)
    attributes = attributes_of(t)
    pubs = pubs_of(t)
    families = families_of(t)
    behind = HEAD + ((stream[0] >> 8) & 0xFFFF) * SCALAR
    sent = (stream[0] >> 24) & 0xFFFF
    signature = np.int64(0)
    for i in range(HEAD, behind, SCALAR):
        attribute = stream[i] & 0xFFFFFFFF
        attributes[attribute * ATTRIBUTE + A_SLOT] = i
        signature |= 1 << (attribute & 63)
    for i in range(behind, behind + sent * SCALAR, SCALAR):
        pubs[stream[i] & 0xFFFFFFFF] = i
    state[LAST_ROW] = -1
    count = search._collect(t, HEAD, behind)
    for family in range(state[FAMILIES]):
        if families[family * FAMILY + F_ACTIVE]:
            count = search._collect_near(t, family, count)
    left = _gathered(t, count, signature)
    if stage >= FIRST:
        left = _asked(t, left, np.int64(1))
    if stage >= SECOND:
        left = _asked(t, left, np.int64(0))
    for i in range(HEAD, behind, SCALAR):
        attributes[(stream[i] & 0xFFFFFFFF) * ATTRIBUTE + A_SLOT] = 0
    for i in range(behind, behind + sent * SCALAR, SCALAR):
        pubs[stream[i] & 0xFFFFFFFF] = 0
    state[EVENTS] += 1
    return left


@inner
def _gathered(t, count, signature):
    """Write the postings whose signature and interval match to `out`, which has room for every subscription."""
    postings = postings_of(t)
    postings_f = postings_f_of(t)
    slices = slices_of(t)
    slices_f = slices_f_of(t)
    out = out_of(t)
    lacking = ~signature
    found = np.int64(0)
    for i in range(count):
        start = slices[i * SLICE + M_START] * POSTING
        number = slices_f[i * SLICE + M_NUMBER]
        is_exact = np.int64(number == number)  # noqa: PLR0124  # false for NaN
        for at in range(start, start + slices[i * SLICE + M_COUNT] * POSTING, POSTING):
            if (
                (postings[at + P_SIGNATURE] & lacking != 0)
                | (postings_f[at + P_LOW] > number)
                | (postings_f[at + P_HIGH] < number)
            ):
                continue
            if postings[at + P_PROGRAM] & CELL:
                continue
            search._fetch(t, at, is_exact)
            out[found] = at // POSTING << 1 | is_exact
            found += 1
    return found


@inner
def _asked(t, waiting, is_first):
    """Make the first or the second check of each candidate: of its function, or of its constraints."""
    postings = postings_of(t)
    programs = programs_of(t)
    out = out_of(t)
    left = np.int64(0)
    for i in range(waiting):
        at = (np.int64(out[i]) >> 1) * POSTING
        flags = postings[at + P_PROGRAM]
        program = (flags & 0xFFFFFFFF) - 1
        is_checked = out[i] & 1 != 0 and flags & EXACT != 0
        is_early = program >= 0 and (is_checked or programs[program * PROGRAM + R_EARLY] != 0)
        if is_early == (is_first != 0):
            holds = program < 0 or context_holds(t, postings[at + P_WHO] >> 32, program) != FALSE
        else:
            holds = is_checked or all_hold(t, postings[at + P_BLOCK] & 0xFFFFFFFF, (flags >> P_COUNT) & 0xFF)
        if holds:
            out[left] = out[i]
            left += 1
    return left


STAGED = Kernel(staged, lambda: entries._whole_numbers(1), digest_of([*entries._SOURCES, Path(__file__)]))
