"""Statistics for the planner: how often functions are true, and how often either plan would find a conjunction."""

from __future__ import annotations

import numpy as np

from silbo.compiled import inner
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
from silbo.matching.fast.kernels.layout import (
    A_SLOT,
    ATTRIBUTE,
    C_ACCESS,
    C_FIRST,
    C_SUBSCRIPTION,
    CELL_WORDS,
    COLUMNS,
    CONJUNCTION,
    CONJUNCTIONS,
    CONSTRAINT,
    DRAWN,
    F_BY_CONTENT,
    F_BY_CONTEXT,
    F_SAMPLED,
    FALSE,
    FAMILY,
    KIND,
    LAST_PROGRAM,
    LAST_ROW,
    LAST_TRUTH,
    N_EQ,
    NUMBER,
    PROGRAM,
    R_FAMILY,
    R_FIRST,
    R_HELD,
    R_SIZE,
    R_TRIED,
    RESIDUE,
    S_EQ,
    S_PROGRAM,
    S_ROW,
    STRING,
    SUBSCRIPTION,
)
from silbo.matching.fast.kernels.machine import truth

SAMPLE = 64  # conjunctions in a survey
MANY = 1 << 30  # the limit of counts in 4-byte fields


@inner
def context_holds(t, row, program):
    """The truth of a program for a row; the last one is cached: consecutive candidates often have the same row."""
    state = state_of(t)
    programs = programs_of(t)
    if state[LAST_ROW] == row and state[LAST_PROGRAM] == program:
        return state[LAST_TRUTH]
    at = program * PROGRAM
    held = truth(t, programs[at + R_FIRST], programs[at + R_SIZE], row * state[COLUMNS] * CELL_WORDS)
    if programs[at + R_TRIED] < MANY:
        programs[at + R_TRIED] += 1
        programs[at + R_HELD] += held != FALSE
    state[LAST_ROW] = row
    state[LAST_PROGRAM] = program
    state[LAST_TRUTH] = held
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
        state[DRAWN] = state[DRAWN] * 0x5851F42D4C957F2D + 0x14057B7EF767814F
        conjunction = ((state[DRAWN] >> 33) & 0x3FFFFFFF) % state[CONJUNCTIONS] if state[CONJUNCTIONS] > 0 else 0
        at = conjunction * CONJUNCTION
        if state[CONJUNCTIONS] == 0 or conjunctions[at + C_SUBSCRIPTION] < 0:
            continue
        subscription = conjunctions[at + C_SUBSCRIPTION] * SUBSCRIPTION
        program = subscriptions[subscription + S_PROGRAM]
        family = programs[program * PROGRAM + R_FAMILY] if program >= 0 else -1
        if family < 0:
            continue
        families[family * FAMILY + F_SAMPLED] += 1
        if _is_met_by_content(t, at):
            families[family * FAMILY + F_BY_CONTENT] += 1
        if context_holds(t, np.int64(subscriptions[subscription + S_ROW]), np.int64(program)) != FALSE:
            families[family * FAMILY + F_BY_CONTEXT] += 1


@inner
def _is_met_by_content(t, at):
    stream = stream_of(t)
    stream_f = stream_f_of(t)
    words = words_of(t)
    words_f = words_f_of(t)
    conjunctions = conjunctions_of(t)
    attributes = attributes_of(t)
    access = conjunctions[at + C_ACCESS]
    if access < 0:
        return True
    first = np.int64(conjunctions[at + C_FIRST])
    constraint = first + access * CONSTRAINT
    meta = words[constraint]
    slot = attributes[(meta & 0xFFFFFFFF) * ATTRIBUTE + A_SLOT]
    if slot == 0:
        return False
    op = (meta >> KIND) & 0xFF
    if op == N_EQ:
        return (
            (stream[slot] >> KIND) & 0xFF == NUMBER
            and stream_f[slot + 1] == words_f[constraint + 1]
            and stream[slot] >> RESIDUE == meta >> RESIDUE
        )
    if op == S_EQ:
        hashed = hash_of(words, first, words[constraint + 1])
        return (stream[slot] >> KIND) & 0xFF == STRING and stream[slot + 1] == hashed
    return True
