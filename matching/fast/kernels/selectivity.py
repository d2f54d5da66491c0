"""Statistics for the planner: how often functions are true, and how often either plan would find a conjunction."""

from __future__ import annotations

import numpy as np

from silbo.compiled import inner
from silbo.matching.fast.kernels import layout
from silbo.matching.fast.kernels.constraints import hash_of
from silbo.matching.fast.kernels.handles import (
    attributes_of,
    conjunctions_of,
    families_of,
    programs_of,
    state_of,
    stream_f_of,
    stream_of,
    subscriptions_of,
    words_f_of,
    words_of,
)
from silbo.matching.fast.kernels.machine import truth

SAMPLE = 64  # conjunctions in a survey
MANY = 1 << 30  # the limit of counts in 4-byte fields


@inner
def context_holds(t, row, program):
    """The truth of a program for a row; the last one is cached: consecutive candidates often have the same row."""
    state = state_of(t)
    programs = programs_of(t)
    if state[layout.LAST_ROW] == row and state[layout.LAST_PROGRAM] == program:
        return state[layout.LAST_TRUTH]
    at = program * layout.PROGRAM
    held = truth(
        t, programs[at + layout.R_FIRST], programs[at + layout.R_SIZE], row * state[layout.COLUMNS] * layout.CELL_WORDS
    )
    if programs[at + layout.R_TRIED] < MANY:
        programs[at + layout.R_TRIED] += 1
        programs[at + layout.R_HELD] += held != layout.FALSE
    state[layout.LAST_ROW] = row
    state[layout.LAST_PROGRAM] = program
    state[layout.LAST_TRUTH] = held
    return held


@inner
def survey(t):
    """Count for some random conjunctions how each plan would find them for this publication, whichever plan they use.

    By content: would the list of its access predicate be walked? By context: is its function true, or may it be?
    """
    state = state_of(t)
    conjunctions = conjunctions_of(t)
    subscriptions = subscriptions_of(t)
    programs = programs_of(t)
    families = families_of(t)
    for _ in range(SAMPLE):
        state[layout.DRAWN] = state[layout.DRAWN] * 0x5851F42D4C957F2D + 0x14057B7EF767814F
        conjunction = (
            ((state[layout.DRAWN] >> 33) & 0x3FFFFFFF) % state[layout.CONJUNCTIONS]
            if state[layout.CONJUNCTIONS] > 0
            else 0
        )
        at = conjunction * layout.CONJUNCTION
        if state[layout.CONJUNCTIONS] == 0 or conjunctions[at + layout.C_SUBSCRIPTION] < 0:
            continue
        subscription = conjunctions[at + layout.C_SUBSCRIPTION] * layout.SUBSCRIPTION
        program = subscriptions[subscription + layout.S_PROGRAM]
        family = programs[program * layout.PROGRAM + layout.R_FAMILY] if program >= 0 else -1
        if family < 0:
            continue
        families[family * layout.FAMILY + layout.F_SAMPLED] += 1
        if _is_met_by_content(t, at):
            families[family * layout.FAMILY + layout.F_BY_CONTENT] += 1
        if context_holds(t, np.int64(subscriptions[subscription + layout.S_ROW]), np.int64(program)) != layout.FALSE:
            families[family * layout.FAMILY + layout.F_BY_CONTEXT] += 1


@inner
def _is_met_by_content(t, at):
    stream = stream_of(t)
    stream_f = stream_f_of(t)
    words = words_of(t)
    words_f = words_f_of(t)
    conjunctions = conjunctions_of(t)
    attributes = attributes_of(t)
    access = conjunctions[at + layout.C_ACCESS]
    if access < 0:
        return True
    first = np.int64(conjunctions[at + layout.C_FIRST])
    constraint = first + access * layout.CONSTRAINT
    meta = words[constraint]
    slot = attributes[(meta & 0xFFFFFFFF) * layout.ATTRIBUTE + layout.A_SLOT]
    if slot == 0:
        return False
    op = (meta >> layout.KIND) & 0xFF
    if op == layout.N_EQ:
        return (
            (stream[slot] >> layout.KIND) & 0xFF == layout.NUMBER
            and stream_f[slot + 1] == words_f[constraint + 1]
            and stream[slot] >> layout.RESIDUE == meta >> layout.RESIDUE
        )
    if op == layout.S_EQ:
        hashed = hash_of(words, first, words[constraint + 1])
        return (stream[slot] >> layout.KIND) & 0xFF == layout.STRING and stream[slot + 1] == hashed
    return True
