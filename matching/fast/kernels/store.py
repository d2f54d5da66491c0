"""Add conjunctions to the index and remove them: each has a block of words, and one posting under its best key."""

from __future__ import annotations

import math

import numpy as np

from silbo.compiled import inner
from silbo.matching.fast.kernels import layout
from silbo.matching.fast.kernels.access import (
    access_key,
    best_access,
    count_access,
    narrow,
    sharpen,
    signature_of,
    what_of,
)
from silbo.matching.fast.kernels.grids import place
from silbo.matching.fast.kernels.handles import (
    attributes_of,
    conjunctions_of,
    families_of,
    lists_of,
    out_of,
    places_of,
    postings_f_of,
    postings_of,
    programs_of,
    state_of,
    stream_of,
    subscriptions_of,
    words_of,
)
from silbo.matching.fast.kernels.lists import enter, file, key_of, room_for, unfile


def add(t, subscription, count, size):
    """Add a conjunction of a subscription; its block is at the beginning of the stream."""
    state = state_of(t)
    conjunctions = conjunctions_of(t)
    words = words_of(t)
    stream = stream_of(t)
    subscriptions = subscriptions_of(t)
    if state[layout.FREE_CONJUNCTION] < 0 and (state[layout.CONJUNCTIONS] + 1) * layout.CONJUNCTION > conjunctions.size:
        return layout.GROW_CONJUNCTIONS
    if state[layout.WORDS] + size > words.size:
        state[layout.NEEDED] = size
        return layout.GROW_WORDS
    first = state[layout.WORDS]
    for i in range(size):
        words[first + i] = stream[i]
    number = state[layout.FREE_CONJUNCTION] if state[layout.FREE_CONJUNCTION] >= 0 else state[layout.CONJUNCTIONS]
    at = number * layout.CONJUNCTION
    following = conjunctions[at + layout.C_NEXT]
    conjunctions[at + layout.C_FIRST] = first
    conjunctions[at + layout.C_COUNT] = count
    conjunctions[at + layout.C_SIZE] = size
    conjunctions[at + layout.C_SUBSCRIPTION] = subscription
    conjunctions[at + layout.C_ACCESS] = best_access(t, first, count)
    room = put(t, number)
    if room != layout.DONE:
        conjunctions[at + layout.C_SUBSCRIPTION] = -1
        conjunctions[at + layout.C_NEXT] = following
        return room
    if state[layout.FREE_CONJUNCTION] >= 0:
        state[layout.FREE_CONJUNCTION] = following
    else:
        state[layout.CONJUNCTIONS] += 1
    state[layout.WORDS] += size
    state[layout.LIVE] += 1
    _count_names(t, first, count, 1)
    head = subscription * layout.SUBSCRIPTION
    conjunctions[at + layout.C_NEXT] = subscriptions[head + layout.S_HEAD]
    subscriptions[head + layout.S_HEAD] = number
    return layout.DONE


@inner
def remove(t, subscription):
    """Remove every conjunction of a subscription."""
    state = state_of(t)
    conjunctions = conjunctions_of(t)
    subscriptions = subscriptions_of(t)
    head = subscription * layout.SUBSCRIPTION
    conjunction = np.int64(subscriptions[head + layout.S_HEAD])
    while conjunction >= 0:
        at = conjunction * layout.CONJUNCTION
        following = np.int64(conjunctions[at + layout.C_NEXT])
        take(t, conjunction)
        _count_names(t, conjunctions[at + layout.C_FIRST], conjunctions[at + layout.C_COUNT], -1)
        state[layout.WORDS_DEAD] += conjunctions[at + layout.C_SIZE]
        state[layout.LIVE] -= 1
        conjunctions[at + layout.C_SUBSCRIPTION] = -1
        conjunctions[at + layout.C_NEXT] = state[layout.FREE_CONJUNCTION]
        state[layout.FREE_CONJUNCTION] = conjunction
        conjunction = following
    subscriptions[head + layout.S_HEAD] = -1
    subscriptions[head + layout.S_COUNT] = 0
    return layout.DONE


@inner
def _count_names(t, first, count, by):
    """Count the constraints that name each attribute; write attributes that none names any more to `out`."""
    words = words_of(t)
    state = state_of(t)
    out = out_of(t)
    attributes = attributes_of(t)
    for i in range(first, first + count * layout.CONSTRAINT, layout.CONSTRAINT):
        attribute = words[i] & 0xFFFFFFFF
        attributes[attribute * layout.ATTRIBUTE + layout.A_NAMED] += by
        if attributes[attribute * layout.ATTRIBUTE + layout.A_NAMED] == 0:
            out[state[layout.OUT]] = attribute
            state[layout.OUT] += 1


@inner
def put(t, conjunction):
    """File a conjunction: under its subscriber's row if a grid finds that row, else under its access predicate."""
    conjunctions = conjunctions_of(t)
    subscriptions = subscriptions_of(t)
    lists = lists_of(t)
    postings = postings_of(t)
    postings_f = postings_f_of(t)
    at = conjunction * layout.CONJUNCTION
    head = conjunctions[at + layout.C_SUBSCRIPTION] * layout.SUBSCRIPTION
    row = np.int64(subscriptions[head + layout.S_ROW])
    family = _grid_of(t, subscriptions[head + layout.S_PROGRAM])
    key = key_of(t, layout.ROW + 64 * family, row, np.int64(0)) if family >= 0 else access_key(t, at)
    room = room_for(t, key)
    if room != layout.DONE:
        return room
    what = np.int64(0) if family >= 0 else what_of(t, at)
    found = file(t, key, what)
    conjunctions[at + layout.C_LIST] = found
    conjunctions[at + layout.C_PLACE] = lists[found * layout.LIST + layout.L_COUNT] - 1
    posting = (lists[found * layout.LIST + layout.L_START] + conjunctions[at + layout.C_PLACE]) * layout.POSTING
    postings[posting + layout.P_SIGNATURE] = signature_of(t, at)
    postings[posting + layout.P_WHO] = (row << 32) | conjunction
    flags = layout.MULTIPLE if subscriptions[head + layout.S_COUNT] > 1 else 0
    postings[posting + layout.P_PROGRAM] = (
        (subscriptions[head + layout.S_PROGRAM] + 1)
        | flags
        | np.int64(conjunctions[at + layout.C_COUNT]) << layout.P_COUNT
    )
    postings[posting + layout.P_BLOCK] = (
        np.int64(conjunctions[at + layout.C_SUBSCRIPTION]) << 32 | conjunctions[at + layout.C_FIRST]
    )
    postings_f[posting + layout.P_LOW] = -math.inf
    postings_f[posting + layout.P_HIGH] = math.inf
    if family < 0:
        # in a list that another way of access or attribute began, messages compare a number of another attribute
        if lists[found * layout.LIST + layout.L_WHAT] == what:
            narrow(t, at, posting)
            if sharpen(t, at, posting):
                postings[posting + layout.P_PROGRAM] |= layout.EXACT
        count_access(t, at, 1)
        return layout.DONE
    return _stand(t, conjunction, row, family, found)


@inner
def _stand(t, conjunction, row, family, own):
    """Ensure that the row of a conjunction just filed is in the family's grid; undo the filing if there is no room."""
    places = places_of(t)
    conjunctions = conjunctions_of(t)
    here = (row * state_of(t)[layout.WIDTH] + family) * layout.PLACE
    if places[here + layout.W_COUNT] == 0:
        places[here + layout.W_OWN] = own
        room = place(t, row, family)
        if room != layout.DONE:
            places[here + layout.W_OWN] = -1
            unfile(t, own, conjunctions[conjunction * layout.CONJUNCTION + layout.C_PLACE])
            return room
    places[here + layout.W_COUNT] += 1
    return layout.DONE


@inner
def take(t, conjunction):
    """Remove a conjunction's posting from its list."""
    state = state_of(t)
    conjunctions = conjunctions_of(t)
    subscriptions = subscriptions_of(t)
    places = places_of(t)
    at = conjunction * layout.CONJUNCTION
    head = conjunctions[at + layout.C_SUBSCRIPTION] * layout.SUBSCRIPTION
    row = np.int64(subscriptions[head + layout.S_ROW])
    family = _grid_of(t, subscriptions[head + layout.S_PROGRAM])
    unfile(t, np.int64(conjunctions[at + layout.C_LIST]), conjunctions[at + layout.C_PLACE])
    if family < 0:
        count_access(t, at, -1)
        return
    here = (row * state[layout.WIDTH] + family) * layout.PLACE
    places[here + layout.W_COUNT] -= 1
    if places[here + layout.W_COUNT] == 0:
        places[here + layout.W_OWN] = -1
        if places[here + layout.W_LIST] >= 0:
            unfile(t, np.int64(places[here + layout.W_LIST]), places[here + layout.W_PLACE])
            places[here + layout.W_LIST] = -1


@inner
def unfile_family(t, family, active):
    """Begin a change of a family's plan: remove the postings of its conjunctions."""
    conjunctions = conjunctions_of(t)
    for conjunction in range(state_of(t)[layout.CONJUNCTIONS]):
        if _is_of_family(t, conjunction, family):
            take(t, conjunction)
            conjunctions[conjunction * layout.CONJUNCTION + layout.C_LIST] = -1
    families_of(t)[family * layout.FAMILY + layout.F_ACTIVE] = active
    return layout.DONE


@inner
def file_family(t, family):
    """Finish a change of plan: file the conjunctions that have no list, under the new plan. May be called again."""
    conjunctions = conjunctions_of(t)
    for conjunction in range(state_of(t)[layout.CONJUNCTIONS]):
        if conjunctions[conjunction * layout.CONJUNCTION + layout.C_LIST] < 0 and _is_of_family(t, conjunction, family):
            room = put(t, conjunction)
            if room != layout.DONE:
                conjunctions[conjunction * layout.CONJUNCTION + layout.C_LIST] = -1
                return room
    return layout.DONE


@inner
def _is_of_family(t, conjunction, family):
    subscription = conjunctions_of(t)[conjunction * layout.CONJUNCTION + layout.C_SUBSCRIPTION]
    if subscription < 0:
        return False
    program = subscriptions_of(t)[subscription * layout.SUBSCRIPTION + layout.S_PROGRAM]
    return program >= 0 and programs_of(t)[program * layout.PROGRAM + layout.R_FAMILY] == family


@inner
def rehash(t):
    """Fill a new, empty table of keys from the lists; a free list is empty."""
    lists = lists_of(t)
    for each in range(state_of(t)[layout.LISTS]):
        if lists[each * layout.LIST + layout.L_COUNT] > 0:
            enter(t, lists[each * layout.LIST + layout.L_KEY], each)
    return layout.DONE


@inner
def _grid_of(t, program):
    """The family through whose grid a program's subscriptions are found, or -1."""
    if program < 0:
        return -1
    family = np.int64(programs_of(t)[program * layout.PROGRAM + layout.R_FAMILY])
    if family < 0 or families_of(t)[family * layout.FAMILY + layout.F_ACTIVE] == 0:
        return -1
    return family
