"""Lists of postings by key: an open-addressing table from keys to lists, and the slices that hold them.

Conjunctions are filed here under their access predicate, or under their subscriber's row; rows of contexts
are filed under their grid's cell. A key is a hash: different things with the same key share a list, and the
check of each posting tells them apart. A full list moves to a larger slice at the end of the postings;
compaction reclaims the old slice.
"""

from __future__ import annotations

import numpy as np

from silbo.compiled import inner
from silbo.matching.fast.kernels import layout
from silbo.matching.fast.kernels.handles import (
    conjunctions_of,
    keys_of,
    lists_of,
    places_of,
    postings_of,
    state_of,
)


@inner
def key_of(t, way, what, detail):
    """The key of a way of access and two words; never 0, which marks an empty place."""
    return mixed(state_of(t)[layout.SEED], way, what, detail)


@inner
def mixed(seed, way, what, detail):
    """A hash of four words. Each index has its own seed, so nobody can predict which constants collide."""
    word = np.int64(way) * 0x2545F4914F6CDD1D + what * 0x1D8E4E27C47D124F + seed
    word ^= (word >> 31) & 0x1FFFFFFFF
    word = word * 0x369DEA0F31A53F85 + detail
    word ^= (word >> 29) & 0x7FFFFFFFF
    word *= 0x2127599BF4325C37
    word ^= (word >> 32) & 0xFFFFFFFF
    return word if word != 0 else 1


@inner
def find(t, key):
    """The list under a key, or -1."""
    keys = keys_of(t)
    mask = keys.size // 2 - 1
    at = key & mask
    while keys[2 * at] != 0:
        if keys[2 * at] == key:
            return keys[2 * at + 1]
        at = (at + 1) & mask
    return -1


@inner
def grown(capacity):
    """The new capacity of a full list: twice the old one if it is short, half as much again if it is long."""
    return 2 * capacity if 0 < capacity < 8 else capacity + capacity // 2 + 1


@inner
def room_for(t, key):
    """DONE if one more posting under the key has room, else the status that says which array must grow."""
    state = state_of(t)
    postings = postings_of(t)
    keys = keys_of(t)
    lists = lists_of(t)
    if 2 * (state[layout.KEYS] + 1) > keys.size // 2:
        return layout.GROW_KEYS
    found = find(t, key)
    if found < 0:
        if state[layout.FREE_LIST] < 0 and (state[layout.LISTS] + 1) * layout.LIST > lists.size:
            return layout.GROW_LISTS
        state[layout.NEEDED] = 1
    elif lists[found * layout.LIST + layout.L_COUNT] == lists[found * layout.LIST + layout.L_CAPACITY]:
        state[layout.NEEDED] = grown(lists[found * layout.LIST + layout.L_CAPACITY])
    else:
        state[layout.NEEDED] = 0
    if (state[layout.POSTINGS] + state[layout.NEEDED]) * layout.POSTING > postings.size:
        return layout.GROW_POSTINGS
    return layout.DONE


@inner
def file(t, key, what):
    """Make a place for one more posting under a key, and return its list; the place is the list's last. Needs room."""
    state = state_of(t)
    postings = postings_of(t)
    lists = lists_of(t)
    found = find(t, key)
    if found < 0:
        found = _new_list(t, key)
        lists[found * layout.LIST + layout.L_WHAT] = what
    at = found * layout.LIST
    if lists[at + layout.L_COUNT] == lists[at + layout.L_CAPACITY]:
        capacity = grown(lists[at + layout.L_CAPACITY])
        start = state[layout.POSTINGS]
        old = lists[at + layout.L_START] * layout.POSTING
        for i in range(lists[at + layout.L_COUNT] * layout.POSTING):
            postings[start * layout.POSTING + i] = postings[old + i]
        lists[at + layout.L_START] = start
        lists[at + layout.L_CAPACITY] = capacity
        state[layout.POSTINGS] += capacity
    lists[at + layout.L_COUNT] += 1
    state[layout.POSTINGS_LIVE] += 1
    return found


@inner
def _new_list(t, key):
    state = state_of(t)
    lists = lists_of(t)
    number = state[layout.FREE_LIST]
    if number >= 0:
        state[layout.FREE_LIST] = lists[number * layout.LIST + layout.L_START]
    else:
        number = state[layout.LISTS]
        state[layout.LISTS] += 1
    at = number * layout.LIST
    lists[at + layout.L_START] = 0
    lists[at + layout.L_COUNT] = 0
    lists[at + layout.L_CAPACITY] = 0
    lists[at + layout.L_KEY] = key
    lists[at + layout.L_SEEN] = -1
    enter(t, key, number)
    state[layout.KEYS] += 1
    return number


@inner
def enter(t, key, number):
    """Add a key to the table, which must not contain it."""
    keys = keys_of(t)
    mask = keys.size // 2 - 1
    at = key & mask
    while keys[2 * at] != 0:
        at = (at + 1) & mask
    keys[2 * at] = key
    keys[2 * at + 1] = number


@inner
def unfile(t, found, place):
    """Remove a posting: the last one of its list takes its place, and the record that points to that one is updated."""
    state = state_of(t)
    postings = postings_of(t)
    lists = lists_of(t)
    conjunctions = conjunctions_of(t)
    places = places_of(t)
    at = found * layout.LIST
    lists[at + layout.L_COUNT] -= 1
    state[layout.POSTINGS_LIVE] -= 1
    last = lists[at + layout.L_COUNT]
    start = lists[at + layout.L_START]
    if place != last:
        here, there = (start + place) * layout.POSTING, (start + last) * layout.POSTING
        for i in range(layout.POSTING):
            postings[here + i] = postings[there + i]
        program = postings[here + layout.P_PROGRAM]
        who = postings[here + layout.P_WHO]
        if program & layout.CELL:
            row = who >> 32
            places[(row * state[layout.WIDTH] + (program & 0xFFFFFFFF)) * layout.PLACE + layout.W_PLACE] = place
        else:
            conjunctions[(who & 0xFFFFFFFF) * layout.CONJUNCTION + layout.C_PLACE] = place
    if last == 0:
        _leave(t, lists[at + layout.L_KEY])
        state[layout.KEYS] -= 1
        lists[at + layout.L_CAPACITY] = 0
        lists[at + layout.L_START] = state[layout.FREE_LIST]
        state[layout.FREE_LIST] = found


@inner
def _leave(t, key):
    """Remove a key; the keys after it move up, so that no search ends too early."""
    keys = keys_of(t)
    mask = keys.size // 2 - 1
    at = key & mask
    while keys[2 * at] != key:
        at = (at + 1) & mask
    hole = at
    at = (at + 1) & mask
    while keys[2 * at] != 0:
        home = keys[2 * at] & mask
        if ((at - home) & mask) >= ((at - hole) & mask):
            keys[2 * hole] = keys[2 * at]
            keys[2 * hole + 1] = keys[2 * at + 1]
            hole = at
        at = (at + 1) & mask
    keys[2 * hole] = 0
    keys[2 * hole + 1] = 0
