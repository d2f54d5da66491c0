"""Conjunctions in and out of the index: a block of words each, and one posting under the best key there is."""

from __future__ import annotations

import math

import numpy as np

from silbo.compiled import inner
from silbo.matching.kernels.grids import place
from silbo.matching.kernels.handles import (
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
    words_b_of,
    words_f_of,
    words_of,
)
from silbo.matching.kernels.layout import (
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
    C_LIST,
    C_NEXT,
    C_PLACE,
    C_SIZE,
    C_SUBSCRIPTION,
    CONJUNCTION,
    CONJUNCTIONS,
    DONE,
    EXACT,
    EXISTS,
    F_ACTIVE,
    FAMILY,
    FREE_CONJUNCTION,
    GRAM,
    GROW_CONJUNCTIONS,
    GROW_WORDS,
    KIND,
    L_COUNT,
    L_KEY,
    L_START,
    L_WHAT,
    LIST,
    LISTS,
    LIVE,
    LONGEST_KEY,
    MISSING,
    MULTIPLE,
    N_EQ,
    N_GE,
    N_GT,
    N_IN,
    N_LE,
    N_LT,
    N_NOT_IN,
    NEEDED,
    NUMBER,
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
    RESIDUE,
    ROW,
    S_BEGINS,
    S_COUNT,
    S_ENDS,
    S_EQ,
    S_HEAD,
    S_HOLDS,
    S_PROGRAM,
    S_ROW,
    SCALAR,
    SEEN,
    STRING,
    SUBSCRIPTION,
    W_COUNT,
    W_LIST,
    W_OWN,
    W_PLACE,
    WIDTH,
    WORDS,
    WORDS_DEAD,
)
from silbo.matching.kernels.lists import enter, file, key_of, room_for, unfile
from silbo.matching.kernels.search import step

# how a way of access divides the messages that have the attribute, by experience: an equality keeps few of them
EQUAL_SHARE, ENDS_SHARE, PART_SHARE, RANGE_SHARE = 0.05, 0.1, 0.2, 0.5


def add(t, subscription, count, size):
    """Take in a conjunction of a subscription: its block stands at the beginning of the stream."""
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
    made = state[FREE_CONJUNCTION] if state[FREE_CONJUNCTION] >= 0 else state[CONJUNCTIONS]
    at = made * CONJUNCTION
    following = conjunctions[at + C_NEXT]
    conjunctions[at + C_FIRST] = first
    conjunctions[at + C_COUNT] = count
    conjunctions[at + C_SIZE] = size
    conjunctions[at + C_SUBSCRIPTION] = subscription
    conjunctions[at + C_ACCESS] = _best_access(t, first, count)
    room = put(t, made)
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
    subscriptions[head + S_HEAD] = made
    return DONE


@inner
def remove(t, subscription):
    """Take out every conjunction of a subscription."""
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
    """Keep count of the constraints that name an attribute; put out those that none names any more."""
    words = words_of(t)
    state = state_of(t)
    out = out_of(t)
    attributes = attributes_of(t)
    for i in range(first, first + count * SCALAR, SCALAR):
        attribute = words[i] & 0xFFFFFFFF
        attributes[attribute * ATTRIBUTE + A_NAMED] += by
        if attributes[attribute * ATTRIBUTE + A_NAMED] == 0:
            out[state[OUT]] = attribute
            state[OUT] += 1


@inner
def put(t, conjunction):
    """File a conjunction: under its subscriber's row if a grid finds that, else under its access predicate."""
    conjunctions = conjunctions_of(t)
    subscriptions = subscriptions_of(t)
    lists = lists_of(t)
    postings = postings_of(t)
    postings_f = postings_f_of(t)
    at = conjunction * CONJUNCTION
    head = conjunctions[at + C_SUBSCRIPTION] * SUBSCRIPTION
    row = np.int64(subscriptions[head + S_ROW])
    family = _grid_of(t, subscriptions[head + S_PROGRAM])
    key = key_of(ROW + 64 * family, row, np.int64(0)) if family >= 0 else _access_key(t, at)
    room = room_for(t, key)
    if room != DONE:
        return room
    what = np.int64(0) if family >= 0 else _what(t, at)
    found = file(t, key, what)
    conjunctions[at + C_LIST] = found
    conjunctions[at + C_PLACE] = lists[found * LIST + L_COUNT] - 1
    posting = (lists[found * LIST + L_START] + conjunctions[at + C_PLACE]) * POSTING
    postings[posting + P_SIGNATURE] = _signature(t, at)
    postings[posting + P_WHO] = (row << 32) | conjunction
    flags = MULTIPLE if subscriptions[head + S_COUNT] > 1 else 0
    postings[posting + P_PROGRAM] = (
        (subscriptions[head + S_PROGRAM] + 1) | flags | np.int64(conjunctions[at + C_COUNT]) << P_COUNT
    )
    postings[posting + P_BLOCK] = np.int64(conjunctions[at + C_SUBSCRIPTION]) << 32 | conjunctions[at + C_FIRST]
    postings_f[posting + P_LOW] = -math.inf
    postings_f[posting + P_HIGH] = math.inf
    if family < 0:
        # in a list that another way or attribute began, the number at hand is not of this attribute
        if lists[found * LIST + L_WHAT] == what:
            _narrow(t, at, posting)
            if _sharpen(t, at, posting):
                postings[posting + P_PROGRAM] |= EXACT
        _count_access(t, at, 1)
        return DONE
    return _stand(t, conjunction, row, family, found)


@inner
def _stand(t, conjunction, row, family, own):
    """See to it that the row of a conjunction just filed stands in the family's grid; else undo the filing."""
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
    """Take a conjunction's posting out of wherever it is filed."""
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
        _count_access(t, at, -1)
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
    """Begin to change a family's plan: take its conjunctions out of where they are."""
    conjunctions = conjunctions_of(t)
    for conjunction in range(state_of(t)[CONJUNCTIONS]):
        if _is_of_family(t, conjunction, family):
            take(t, conjunction)
            conjunctions[conjunction * CONJUNCTION + C_LIST] = -1
    families_of(t)[family * FAMILY + F_ACTIVE] = active
    return DONE


@inner
def file_family(t, family):
    """Go on: file them under the new plan. Those that are in are known by their list, so it may be called again."""
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
    """Fill a new, empty table of keys from the lists; a list that is free holds nothing."""
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


@inner
def _signature(t, at):
    """A bit for each attribute that the conjunction needs."""
    words = words_of(t)
    conjunctions = conjunctions_of(t)
    first = conjunctions[at + C_FIRST]
    signature = 0
    for i in range(first, first + conjunctions[at + C_COUNT] * SCALAR, SCALAR):
        if (words[i] >> KIND) & 0xFF != MISSING:
            signature |= 1 << (words[i] & 63)
    return signature


@inner
def _best_access(t, first, count):
    """The constraint that the fewest messages are expected to meet, or -1 if none finds anything."""
    state = state_of(t)
    words = words_of(t)
    attributes = attributes_of(t)
    best, least = -1, math.inf
    for i in range(count):
        meta = words[first + i * SCALAR]
        op = (meta >> KIND) & 0xFF
        if op == MISSING:
            continue
        base = (meta & 0xFFFFFFFF) * ATTRIBUTE
        # how often messages have the attribute; before there are messages, how often filters name it tells it
        often = (attributes[base + A_SEEN] + attributes[base + A_NAMED] + 1) / (state[SEEN] + state[LIVE] + 1)
        expected = often * _share(op, words[first + i * SCALAR + 2] >> 32)
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
    constraint = conjunctions[at + C_FIRST] + conjunctions[at + C_ACCESS] * SCALAR
    words = words_of(t)
    op = (words[constraint] >> KIND) & 0xFF
    has_text = words[constraint + 2] >> 32 > 0
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
def _what(t, at):
    """The way of access and the attribute, as one word."""
    conjunctions = conjunctions_of(t)
    if conjunctions[at + C_ACCESS] < 0:
        return ALWAYS << 32
    constraint = conjunctions[at + C_FIRST] + conjunctions[at + C_ACCESS] * SCALAR
    words = words_of(t)
    way = _way(t, at)
    if way == A_EQUAL:
        op = (words[constraint] >> KIND) & 0xFF
        way += 32 * (NUMBER if op == N_EQ else STRING if op == S_EQ else BOOL)
    return way << 32 | (words[constraint] & 0xFFFFFFFF)


@inner
def _access_key(t, at):
    """The key of the list in which a message that may match finds the conjunction."""
    way = _way(t, at)
    if way == ALWAYS:
        return key_of(ALWAYS, np.int64(0), np.int64(0))
    conjunctions = conjunctions_of(t)
    words = words_of(t)
    first = conjunctions[at + C_FIRST]
    constraint = first + conjunctions[at + C_ACCESS] * SCALAR
    attribute = words[constraint] & 0xFFFFFFFF
    if way == A_EQUAL:
        op = (words[constraint] >> KIND) & 0xFF
        if op == N_EQ:
            bits = np.int64(0) if words_f_of(t)[constraint + 1] == 0.0 else words[constraint + 1]
            return key_of(A_EQUAL + 32 * NUMBER, attribute, bits)
        if op == S_EQ:
            return key_of(A_EQUAL + 32 * STRING, attribute, words[constraint + 1])
        # of a bool: the mask 1 admits false alone, the mask 2 true alone
        return key_of(A_EQUAL + 32 * BOOL, attribute, words[constraint + 1] - 1)
    if way == A_PREFIX or way == A_SUFFIX or way == A_GRAM:
        span = words[constraint + 2]
        return _text_key(t, way, attribute, first * 8 + (span & 0xFFFFFFFF), span >> 32)
    return key_of(way, attribute, np.int64(0))


@inner
def _text_key(t, way, attribute, start, length):
    """The key of a prefix, of a suffix read backwards, or of the first bytes of a part."""
    text = words_b_of(t)
    used = min(length, GRAM if way == A_GRAM else LONGEST_KEY)
    hashed = np.int64(0)
    for i in range(used):
        hashed = step(hashed, text[start + length - 1 - i] if way == A_SUFFIX else text[start + i])
    return key_of(way + 32 * (used - 1), attribute, hashed)


@inner
def _count_access(t, at, by):
    """Keep count of the attribute's postings of this way of access, so that messages look up no more than there is."""
    way = _way(t, at)
    if way == ALWAYS:
        return
    conjunctions = conjunctions_of(t)
    words = words_of(t)
    attributes = attributes_of(t)
    constraint = conjunctions[at + C_FIRST] + conjunctions[at + C_ACCESS] * SCALAR
    base = (words[constraint] & 0xFFFFFFFF) * ATTRIBUTE
    attributes[base + way] += by
    if way >= A_PREFIX:
        lengths = base + way - A_PREFIX + A_PREFIXES
        if attributes[base + way] == 0:
            attributes[lengths] = 0
        elif by > 0:
            used = min(words[constraint + 2] >> 32, GRAM if way == A_GRAM else LONGEST_KEY)
            attributes[lengths] |= 1 << (used - 1)


@inner
def _narrow(t, at, posting):
    """Put into the posting the interval in which its access attribute's number must lie."""
    way = _way(t, at)
    if way != A_NUMBER:
        return
    conjunctions = conjunctions_of(t)
    words = words_of(t)
    words_f = words_f_of(t)
    postings_f = postings_f_of(t)
    first = conjunctions[at + C_FIRST]
    attribute = words[first + conjunctions[at + C_ACCESS] * SCALAR] & 0xFFFFFFFF
    for i in range(first, first + conjunctions[at + C_COUNT] * SCALAR, SCALAR):
        op = (words[i] >> KIND) & 0xFF
        if words[i] & 0xFFFFFFFF != attribute:
            continue
        low, high = -math.inf, math.inf
        if op == N_EQ or op == N_GT or op == N_GE:
            low = words_f[i + 1]
        if op == N_EQ or op == N_LT or op == N_LE:
            high = words_f[i + 1]
        if op == N_IN:
            start, count = first + (words[i + 2] & 0xFFFFFFFF), words[i + 2] >> 32
            low, high = words_f[start], words_f[start + 2 * (count - 1)]
        postings_f[posting + P_LOW] = max(postings_f[posting + P_LOW], low)
        postings_f[posting + P_HIGH] = min(postings_f[posting + P_HIGH], high)


@inner
def _sharpen(t, at, posting):
    """Make the interval of a posting say exactly what its only constraint says, if it can; whether it does."""
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
