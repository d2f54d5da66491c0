"""Add conjunctions to the index and remove them: each has a block of words, and one posting under its best key."""

from __future__ import annotations

import math

import numpy as np

from silbo.compiled import inner
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
from silbo.matching.fast.kernels.layout import (
    A_NAMED,
    ATTRIBUTE,
    C_ACCESS,
    C_COUNT,
    C_FIRST,
    C_LIST,
    C_NEXT,
    C_PLACE,
    C_SIZE,
    C_SUBSCRIPTION,
    CONJUNCTION,
    CONJUNCTIONS,
    CONSTRAINT,
    DONE,
    EXACT,
    F_ACTIVE,
    FAMILY,
    FREE_CONJUNCTION,
    GROW_CONJUNCTIONS,
    GROW_WORDS,
    L_COUNT,
    L_KEY,
    L_START,
    L_WHAT,
    LIST,
    LISTS,
    LIVE,
    MULTIPLE,
    NEEDED,
    OUT,
    P_BLOCK,
    P_COUNT,
    P_HIGH,
    P_LOW,
    P_PROGRAM,
    P_SIGNATURE,
    P_WHO,
    PLACE,
    POSTING,
    PROGRAM,
    R_FAMILY,
    ROW,
    S_COUNT,
    S_HEAD,
    S_PROGRAM,
    S_ROW,
    SUBSCRIPTION,
    W_COUNT,
    W_LIST,
    W_OWN,
    W_PLACE,
    WIDTH,
    WORDS,
    WORDS_DEAD,
)
from silbo.matching.fast.kernels.lists import enter, file, key_of, room_for, unfile


def add(t, subscription, count, size):
    """Add a conjunction of a subscription; its block is at the beginning of the stream."""
    state = state_of(t)
    conjunctions = conjunctions_of(t)
    words = words_of(t)
    stream = stream_of(t)
    subscriptions = subscriptions_of(t)
    if state[FREE_CONJUNCTION] < 0 and (state[CONJUNCTIONS] + 1) * CONJUNCTION > conjunctions.size:
        return GROW_CONJUNCTIONS
    if state[WORDS] + size > words.size:
        state[NEEDED] = size
        return GROW_WORDS
    first = state[WORDS]
    for i in range(size):
        words[first + i] = stream[i]
    number = state[FREE_CONJUNCTION] if state[FREE_CONJUNCTION] >= 0 else state[CONJUNCTIONS]
    at = number * CONJUNCTION
    following = conjunctions[at + C_NEXT]
    conjunctions[at + C_FIRST] = first
    conjunctions[at + C_COUNT] = count
    conjunctions[at + C_SIZE] = size
    conjunctions[at + C_SUBSCRIPTION] = subscription
    conjunctions[at + C_ACCESS] = best_access(t, first, count)
    room = put(t, number)
    if room != DONE:
        conjunctions[at + C_SUBSCRIPTION] = -1
        conjunctions[at + C_NEXT] = following
        return room
    if state[FREE_CONJUNCTION] >= 0:
        state[FREE_CONJUNCTION] = following
    else:
        state[CONJUNCTIONS] += 1
    state[WORDS] += size
    state[LIVE] += 1
    _count_names(t, first, count, 1)
    head = subscription * SUBSCRIPTION
    conjunctions[at + C_NEXT] = subscriptions[head + S_HEAD]
    subscriptions[head + S_HEAD] = number
    return DONE


@inner
def remove(t, subscription):
    """Remove every conjunction of a subscription."""
    state = state_of(t)
    conjunctions = conjunctions_of(t)
    subscriptions = subscriptions_of(t)
    head = subscription * SUBSCRIPTION
    conjunction = np.int64(subscriptions[head + S_HEAD])
    while conjunction >= 0:
        at = conjunction * CONJUNCTION
        following = np.int64(conjunctions[at + C_NEXT])
        take(t, conjunction)
        _count_names(t, conjunctions[at + C_FIRST], conjunctions[at + C_COUNT], -1)
        state[WORDS_DEAD] += conjunctions[at + C_SIZE]
        state[LIVE] -= 1
        conjunctions[at + C_SUBSCRIPTION] = -1
        conjunctions[at + C_NEXT] = state[FREE_CONJUNCTION]
        state[FREE_CONJUNCTION] = conjunction
        conjunction = following
    subscriptions[head + S_HEAD] = -1
    subscriptions[head + S_COUNT] = 0
    return DONE


@inner
def _count_names(t, first, count, by):
    """Count the constraints that name each attribute; write attributes that none names any more to `out`."""
    words = words_of(t)
    state = state_of(t)
    out = out_of(t)
    attributes = attributes_of(t)
    for i in range(first, first + count * CONSTRAINT, CONSTRAINT):
        attribute = words[i] & 0xFFFFFFFF
        attributes[attribute * ATTRIBUTE + A_NAMED] += by
        if attributes[attribute * ATTRIBUTE + A_NAMED] == 0:
            out[state[OUT]] = attribute
            state[OUT] += 1


@inner
def put(t, conjunction):
    """File a conjunction: under its subscriber's row if a grid finds that row, else under its access predicate."""
    conjunctions = conjunctions_of(t)
    subscriptions = subscriptions_of(t)
    lists = lists_of(t)
    postings = postings_of(t)
    postings_f = postings_f_of(t)
    at = conjunction * CONJUNCTION
    head = conjunctions[at + C_SUBSCRIPTION] * SUBSCRIPTION
    row = np.int64(subscriptions[head + S_ROW])
    family = _grid_of(t, subscriptions[head + S_PROGRAM])
    key = key_of(t, ROW + 64 * family, row, np.int64(0)) if family >= 0 else access_key(t, at)
    room = room_for(t, key)
    if room != DONE:
        return room
    what = np.int64(0) if family >= 0 else what_of(t, at)
    found = file(t, key, what)
    conjunctions[at + C_LIST] = found
    conjunctions[at + C_PLACE] = lists[found * LIST + L_COUNT] - 1
    posting = (lists[found * LIST + L_START] + conjunctions[at + C_PLACE]) * POSTING
    postings[posting + P_SIGNATURE] = signature_of(t, at)
    postings[posting + P_WHO] = (row << 32) | conjunction
    flags = MULTIPLE if subscriptions[head + S_COUNT] > 1 else 0
    postings[posting + P_PROGRAM] = (
        (subscriptions[head + S_PROGRAM] + 1) | flags | np.int64(conjunctions[at + C_COUNT]) << P_COUNT
    )
    postings[posting + P_BLOCK] = np.int64(conjunctions[at + C_SUBSCRIPTION]) << 32 | conjunctions[at + C_FIRST]
    postings_f[posting + P_LOW] = -math.inf
    postings_f[posting + P_HIGH] = math.inf
    if family < 0:
        # in a list that another way of access or attribute began, messages compare a number of another attribute
        if lists[found * LIST + L_WHAT] == what:
            narrow(t, at, posting)
            if sharpen(t, at, posting):
                postings[posting + P_PROGRAM] |= EXACT
        count_access(t, at, 1)
        return DONE
    return _stand(t, conjunction, row, family, found)


@inner
def _stand(t, conjunction, row, family, own):
    """Ensure that the row of a conjunction just filed is in the family's grid; undo the filing if there is no room."""
    places = places_of(t)
    conjunctions = conjunctions_of(t)
    here = (row * state_of(t)[WIDTH] + family) * PLACE
    if places[here + W_COUNT] == 0:
        places[here + W_OWN] = own
        room = place(t, row, family)
        if room != DONE:
            places[here + W_OWN] = -1
            unfile(t, own, conjunctions[conjunction * CONJUNCTION + C_PLACE])
            return room
    places[here + W_COUNT] += 1
    return DONE


@inner
def take(t, conjunction):
    """Remove a conjunction's posting from its list."""
    state = state_of(t)
    conjunctions = conjunctions_of(t)
    subscriptions = subscriptions_of(t)
    places = places_of(t)
    at = conjunction * CONJUNCTION
    head = conjunctions[at + C_SUBSCRIPTION] * SUBSCRIPTION
    row = np.int64(subscriptions[head + S_ROW])
    family = _grid_of(t, subscriptions[head + S_PROGRAM])
    unfile(t, np.int64(conjunctions[at + C_LIST]), conjunctions[at + C_PLACE])
    if family < 0:
        count_access(t, at, -1)
        return
    here = (row * state[WIDTH] + family) * PLACE
    places[here + W_COUNT] -= 1
    if places[here + W_COUNT] == 0:
        places[here + W_OWN] = -1
        if places[here + W_LIST] >= 0:
            unfile(t, np.int64(places[here + W_LIST]), places[here + W_PLACE])
            places[here + W_LIST] = -1


@inner
def unfile_family(t, family, active):
    """Begin a change of a family's plan: remove the postings of its conjunctions."""
    conjunctions = conjunctions_of(t)
    for conjunction in range(state_of(t)[CONJUNCTIONS]):
        if _is_of_family(t, conjunction, family):
            take(t, conjunction)
            conjunctions[conjunction * CONJUNCTION + C_LIST] = -1
    families_of(t)[family * FAMILY + F_ACTIVE] = active
    return DONE


@inner
def file_family(t, family):
    """Finish a change of plan: file the conjunctions that have no list, under the new plan. May be called again."""
    conjunctions = conjunctions_of(t)
    for conjunction in range(state_of(t)[CONJUNCTIONS]):
        if conjunctions[conjunction * CONJUNCTION + C_LIST] < 0 and _is_of_family(t, conjunction, family):
            room = put(t, conjunction)
            if room != DONE:
                conjunctions[conjunction * CONJUNCTION + C_LIST] = -1
                return room
    return DONE


@inner
def _is_of_family(t, conjunction, family):
    subscription = conjunctions_of(t)[conjunction * CONJUNCTION + C_SUBSCRIPTION]
    if subscription < 0:
        return False
    program = subscriptions_of(t)[subscription * SUBSCRIPTION + S_PROGRAM]
    return program >= 0 and programs_of(t)[program * PROGRAM + R_FAMILY] == family


@inner
def rehash(t):
    """Fill a new, empty table of keys from the lists; a free list is empty."""
    lists = lists_of(t)
    for each in range(state_of(t)[LISTS]):
        if lists[each * LIST + L_COUNT] > 0:
            enter(t, lists[each * LIST + L_KEY], each)
    return DONE


@inner
def _grid_of(t, program):
    """The family through whose grid a program's subscriptions are found, or -1."""
    if program < 0:
        return -1
    family = np.int64(programs_of(t)[program * PROGRAM + R_FAMILY])
    if family < 0 or families_of(t)[family * FAMILY + F_ACTIVE] == 0:
        return -1
    return family
