"""Match a publication with all subscriptions: collect lists of postings, then walk them in one loop.

Whichever list it is in, a candidate is decided here by its signature, its constraints and its function as
written; only a function that is MAYBE is left to Python. The planner chooses the order of the last two.
"""

from __future__ import annotations

import numpy as np

from silbo.compiled import inner
from silbo.context.writing import note_write, write_cell
from silbo.matching.fast.kernels import layout
from silbo.matching.fast.kernels.constraints import all_hold
from silbo.matching.fast.kernels.grids import repair, rows_near
from silbo.matching.fast.kernels.handles import (
    attributes_of,
    cells_f_of,
    cells_of,
    contexts_of,
    ends_of,
    families_of,
    gathered_of,
    lists_of,
    moved_of,
    near_of,
    out_of,
    places_of,
    postings_f_of,
    postings_of,
    prefetch,
    programs_of,
    pubs_of,
    queue_of,
    slices_f_of,
    slices_of,
    stale_of,
    stamps_of,
    state_of,
    stream_b_of,
    stream_f_of,
    stream_of,
    subscriptions_of,
    words_of,
)
from silbo.matching.fast.kernels.lists import find, key_of
from silbo.matching.fast.kernels.selectivity import context_holds, survey

# always an int64: for a literal or a 4-byte field, numba would compile a function a second time
NOTHING = np.int64(0)

SURVEY = 16  # publications from one survey to the next
EAGER = 64  # the first publications, for each of which there is a survey
GATHERED = 64  # candidates whose memory is prefetched at a time


@inner
def step(hashed, byte):
    """Extend the hash of some bytes by one more byte."""
    return hashed * 0x100000001B3 + byte + 1


def run(t, start, end):
    """Apply the events of the stream in their order: a context change writes cells, a publication is matched.

    Stops before an event for which an array must grow, and after a publication that Python must handle.
    """
    state = state_of(t)
    stream = stream_of(t)
    subscriptions = subscriptions_of(t)
    contexts = contexts_of(t)
    out = out_of(t)
    ends = ends_of(t)
    at = start
    while at < end:
        state[layout.HALTED] = at
        head = stream[at]
        length = stream[at + 1]
        if head & 0xFF == layout.PUBLISH:
            if (
                out.size - state[layout.OUT] < subscriptions.size // layout.SUBSCRIPTION
                or state[layout.PUBLICATIONS] == ends.size
            ):
                return layout.GROW_OUT
            if contexts[layout.MOVED] > 0:
                room = repair(t)
                if room != layout.DONE:
                    return room
            maybe = match(t, at)
            ends[state[layout.PUBLICATIONS]] = state[layout.OUT]
            state[layout.PUBLICATIONS] += 1
            if maybe or (head >> layout.FLAGS) & 1:
                state[layout.HALTED] = at + length
                return layout.PAUSED
        else:
            _write(t, at)
        at += length
    state[layout.HALTED] = end
    return layout.DONE


@inner
def _write(t, at):
    """Write the cells of a context event: floats over floats."""
    state = state_of(t)
    cells_f = cells_f_of(t)
    stream_f = stream_f_of(t)
    stream = stream_of(t)
    contexts = contexts_of(t)
    cells = cells_of(t)
    moved = moved_of(t)
    stale = stale_of(t)
    queue = queue_of(t)
    row = stream[at] >> 32
    count = (stream[at] >> 8) & 0xFFFFFF
    is_changed = False
    for i in range(at + layout.HEAD, at + layout.HEAD + count * layout.SCALAR, layout.SCALAR):
        is_changed |= cells_f[(row * state[layout.COLUMNS] + stream[i]) * layout.CELL_WORDS] != stream_f[i + 1]
    if not is_changed:
        return
    for i in range(at + layout.HEAD, at + layout.HEAD + count * layout.SCALAR, layout.SCALAR):
        write_cell(cells, (row * state[layout.COLUMNS] + stream[i]) * layout.CELL_WORDS, stream[i + 1], stream[i + 2])
    contexts[layout.WRITES] += 1
    note_write(row, layout.VALUES, stale, moved, queue, contexts)


@inner
def match(t, at):
    """Match one publication of the stream; returns whether a candidate is left to Python."""
    state = state_of(t)
    stream = stream_of(t)
    attributes = attributes_of(t)
    pubs = pubs_of(t)
    families = families_of(t)
    entries = (stream[at] >> 8) & 0xFFFF
    first = at + layout.HEAD
    stop = first + entries * layout.SCALAR
    sent = (stream[at] >> 24) & 0xFFFF
    signature = np.int64(0)
    for i in range(first, stop, layout.SCALAR):
        attribute = stream[i] & 0xFFFFFFFF
        attributes[attribute * layout.ATTRIBUTE + layout.A_SLOT] = i
        attributes[attribute * layout.ATTRIBUTE + layout.A_SEEN] += 1
        signature |= 1 << (attribute & 63)
    for i in range(stop, stop + sent * layout.SCALAR, layout.SCALAR):
        pubs[stream[i] & 0xFFFFFFFF] = i
    state[layout.LAST_ROW] = -1
    count = _collect(t, first, stop)
    for family in range(state[layout.FAMILIES]):
        if families[family * layout.FAMILY + layout.F_ACTIVE]:
            count = _collect_near(t, family, count)
    maybe = _scan(t, count, signature)
    is_due = state[layout.EVENTS] < EAGER or state[layout.EVENTS] % SURVEY == 0
    if is_due and state[layout.FAMILIES] > 0 and state[layout.STAGE] == layout.WHOLE:
        survey(t)
    for i in range(first, stop, layout.SCALAR):
        attributes[(stream[i] & 0xFFFFFFFF) * layout.ATTRIBUTE + layout.A_SLOT] = 0
    for i in range(stop, stop + sent * layout.SCALAR, layout.SCALAR):
        pubs[stream[i] & 0xFFFFFFFF] = 0
    state[layout.EVENTS] += 1
    state[layout.SEEN] += 1
    return maybe


@inner
def _take(t, way, what, detail, number, count):
    """Add the list under a key to the slices, if there is one. There is room for every list once.

    If another attribute or way of access began the list under the same key, the number must not be compared with
    its intervals: NaN passes them all.
    """
    found = find(t, key_of(t, way, what, detail))
    if found >= 0 and lists_of(t)[found * layout.LIST + layout.L_WHAT] != (way << 32 | what):
        number = np.nan
    return _take_list(t, found, number, count)


@inner
def _take_list(t, found, number, count):
    """Add a list to the slices, unless this publication has added it already."""
    lists = lists_of(t)
    events = state_of(t)[layout.EVENTS]
    if found < 0 or lists[found * layout.LIST + layout.L_SEEN] == events:
        return count
    slices = slices_of(t)
    lists[found * layout.LIST + layout.L_SEEN] = events
    slices[count * layout.SLICE + layout.M_START] = lists[found * layout.LIST + layout.L_START]
    slices[count * layout.SLICE + layout.M_COUNT] = lists[found * layout.LIST + layout.L_COUNT]
    slices_f_of(t)[count * layout.SLICE + layout.M_NUMBER] = number
    return count + 1


@inner
def _collect(t, first, stop):
    """Collect the lists of every attribute of the message, for each way of access in use; returns how many."""
    stream = stream_of(t)
    stream_f = stream_f_of(t)
    attributes = attributes_of(t)
    count = _take(t, layout.ALWAYS, NOTHING, NOTHING, 0.0, NOTHING)
    for i in range(first, stop, layout.SCALAR):
        attribute = stream[i] & 0xFFFFFFFF
        base = attribute * layout.ATTRIBUTE
        kind = (stream[i] >> layout.KIND) & 0xFF
        number = 0.0
        if kind == layout.NUMBER:
            # intervals are doubles: for a number with a residue NaN, which passes them all, is compared instead
            number = stream_f[i + 1] if stream[i] >> layout.RESIDUE == 0 else np.nan
        if attributes[base + layout.A_ANY] > 0:
            count = _take(t, layout.A_ANY, attribute, NOTHING, 0.0, count)
        if kind == layout.NUMBER and attributes[base + layout.A_NUMBER] > 0:
            count = _take(t, layout.A_NUMBER, attribute, NOTHING, number, count)
        if attributes[base + layout.A_EQUAL] > 0:
            bits = NOTHING if kind == layout.NUMBER and stream_f[i + 1] == 0.0 else stream[i + 1]
            count = _take(t, layout.A_EQUAL + 32 * kind, attribute, bits, number, count)
        if kind == layout.STRING:
            if attributes[base + layout.A_STRING] > 0:
                count = _take(t, layout.A_STRING, attribute, NOTHING, 0.0, count)
            if (
                attributes[base + layout.A_PREFIX]
                + attributes[base + layout.A_SUFFIX]
                + attributes[base + layout.A_GRAM]
                > 0
            ):
                count = _collect_patterns(t, attribute, stream[i + 2] & 0xFFFFFFFF, stream[i + 2] >> 32, count)
    return count


@inner
def _collect_patterns(t, attribute, start, length, count):
    """Collect the lists of a string's prefixes, suffixes and parts, for the lengths in use."""
    attributes = attributes_of(t)
    text = stream_b_of(t)
    base = attribute * layout.ATTRIBUTE
    ahead = back = NOTHING
    for j in range(min(length, layout.LONGEST_KEY)):
        ahead = step(ahead, text[start + j])
        back = step(back, text[start + length - 1 - j])
        if (attributes[base + layout.A_PREFIXES] >> j) & 1:
            count = _take(t, layout.A_PREFIX + 32 * j, attribute, ahead, 0.0, count)
        if (attributes[base + layout.A_SUFFIXES] >> j) & 1:
            count = _take(t, layout.A_SUFFIX + 32 * j, attribute, back, 0.0, count)
    if attributes[base + layout.A_GRAM] > 0:
        for at in range(start, start + length):
            part = NOTHING
            for j in range(min(start + length - at, layout.GRAM)):
                part = step(part, text[at + j])
                if (attributes[base + layout.A_GRAMS] >> j) & 1:
                    count = _take(t, layout.A_GRAM + 32 * j, attribute, part, 0.0, count)
    return count


@inner
def _collect_near(t, family, count):
    """Collect the rows' own lists for the rows near the publisher, or for all rows if all may be near."""
    state = state_of(t)
    places = places_of(t)
    families = families_of(t)
    lists = lists_of(t)
    near = near_of(t)
    found = rows_near(t, family)
    if found < 0:
        families[family * layout.FAMILY + layout.F_LOOKED] += moved_of(t).size
    for i in range(found if found >= 0 else moved_of(t).size):
        own = near[i] if found >= 0 else places[(i * state[layout.WIDTH] + family) * layout.PLACE + layout.W_OWN]
        count = _take_list(t, own, 0.0, count)
        if own >= 0:
            families[family * layout.FAMILY + layout.F_WALKED] += lists[own * layout.LIST + layout.L_COUNT]
    families[family * layout.FAMILY + layout.F_WALKS] += 1
    return count


@inner
def _scan(t, count, signature):
    """Decide every posting of the collected slices; returns whether a candidate is left to Python.

    Most postings fail at their signature, most others at the interval, both of which are in the posting
    itself. The remaining candidates need the conjunction's block and the subscriber's cells, elsewhere in memory:
    some are gathered first, so that the memory of one is fetched while others are examined.
    """
    state = state_of(t)
    postings = postings_of(t)
    postings_f = postings_f_of(t)
    slices = slices_of(t)
    slices_f = slices_f_of(t)
    gathered = gathered_of(t)
    lacking = ~signature
    visited = waiting = np.int64(0)
    maybe = False
    for i in range(count):
        start = slices[i * layout.SLICE + layout.M_START] * layout.POSTING
        number = slices_f[i * layout.SLICE + layout.M_NUMBER]
        is_exact = np.int64(number == number)  # noqa: PLR0124  # false for NaN, which passes every interval
        visited += slices[i * layout.SLICE + layout.M_COUNT]
        for at in range(start, start + slices[i * layout.SLICE + layout.M_COUNT] * layout.POSTING, layout.POSTING):
            # `|`, not `or`: one branch that is mostly taken instead of three that are hard to predict
            if (
                (postings[at + layout.P_SIGNATURE] & lacking != 0)
                | (postings_f[at + layout.P_LOW] > number)
                | (postings_f[at + layout.P_HIGH] < number)
            ):
                continue
            gathered[waiting] = at << 1 | is_exact
            waiting += 1
            _fetch(t, at, is_exact)
            if waiting == GATHERED:
                maybe |= _decide(t, waiting)
                waiting = np.int64(0)
    maybe |= _decide(t, waiting)
    state[layout.VISITED] += visited
    return maybe


@inner
def _fetch(t, at, is_exact):
    """Prefetch the memory that is needed to decide a candidate."""
    postings = postings_of(t)
    flags = postings[at + layout.P_PROGRAM]
    if not (is_exact != 0 and flags & layout.EXACT != 0):
        prefetch(words_of(t), postings[at + layout.P_BLOCK] & 0xFFFFFFFF)
    if flags & 0xFFFFFFFF != 0:
        prefetch(cells_of(t), (postings[at + layout.P_WHO] >> 32) * state_of(t)[layout.COLUMNS] * layout.CELL_WORDS)


@inner
def _decide(t, waiting):
    """Decide the gathered candidates; returns whether one is left to Python.

    A measurement can stop at an earlier stage: then the candidates that are left are counted, and not written.
    """
    state = state_of(t)
    postings = postings_of(t)
    programs = programs_of(t)
    gathered = gathered_of(t)
    stamps = stamps_of(t)
    out = out_of(t)
    event = state[layout.EVENTS] + 1
    found = state[layout.OUT]
    stage = state[layout.STAGE]  # comparing it costs nothing: it is the same for all candidates
    maybe = False
    for i in range(waiting):
        at = gathered[i] >> 1
        flags = postings[at + layout.P_PROGRAM]
        if flags & layout.CELL:
            continue
        state[layout.CANDIDATES] += 1
        if stage == layout.COLLECT:
            found += 1
            continue
        program = (flags & 0xFFFFFFFF) - 1
        held = layout.TRUE
        is_checked = gathered[i] & 1 != 0 and flags & layout.EXACT != 0
        if program >= 0 and (is_checked or programs[program * layout.PROGRAM + layout.R_EARLY]):
            held = context_holds(t, postings[at + layout.P_WHO] >> 32, program)
            program = np.int64(-1)
            if stage == layout.FIRST_CHECK:
                found += held != layout.FALSE
                continue
        if held != layout.FALSE and not is_checked:
            block = postings[at + layout.P_BLOCK]
            if not all_hold(t, block & 0xFFFFFFFF, (flags >> layout.P_COUNT) & 0xFF):
                continue
        if stage == layout.FIRST_CHECK:
            found += 1
            continue
        if program >= 0:
            held = context_holds(t, postings[at + layout.P_WHO] >> 32, program)
        if held != layout.FALSE:
            subscription = postings[at + layout.P_BLOCK] >> 32
            if flags & layout.MULTIPLE:
                if stamps[subscription] == event:
                    continue
                stamps[subscription] = event
            out[found] = subscription if held == layout.TRUE else -1 - subscription
            found += 1
            maybe = maybe or held == layout.MAYBE
    state[layout.OUT] = found
    return maybe
