"""Grids over context rows: where subscribers are, by the two variables that a family of functions reads.

A grid holds one entry for each row that has subscriptions of the family, and is repaired lazily: a context
change puts the row into a queue, and the next match moves it. It only selects candidates, so every bound is
widened by more than arithmetic can lose (`SLACK`), and a row whose degrees are outside the ordinary ranges is near
every publisher.
"""

from __future__ import annotations

import math

import numpy as np

from silbo.compiled import inner
from silbo.matching.fast.kernels import layout
from silbo.matching.fast.kernels.handles import (
    cells_f_of,
    cells_of,
    contexts_of,
    families_f_of,
    families_of,
    lists_of,
    moved_of,
    near_of,
    places_of,
    postings_f_of,
    postings_of,
    pubs_of,
    queue_of,
    state_of,
    stream_f_of,
    stream_of,
)
from silbo.matching.fast.kernels.lists import file, find, key_of, room_for, unfile

FAR = 1 << 40  # cells from the origin: positions further away share the last cell
MOST = 256  # cells on a side: if a box touches more, all rows are walked instead
SLACK = 1e-9  # times the numbers involved: 256 roundings lose a ten-thousandth of that
TINY = 1e-150  # squares of much smaller numbers underflow to 0


@inner
def cell_at(position, size):
    """The number of the cell in which a coordinate lies."""
    cell = position / size
    if cell >= FAR:
        return FAR
    if cell <= -FAR:
        return -FAR
    return int(math.floor(cell))


@inner
def is_on_globe(lon, lat):
    """Whether a longitude and a latitude are in their ordinary ranges."""
    return -180.0 <= lon <= 180.0 and -90.0 <= lat <= 90.0


@inner
def key_at(t, family, x, y):
    """The key of the cell in which a position lies."""
    families = families_of(t)
    families_f = families_f_of(t)
    at = family * layout.FAMILY
    if families[at + layout.F_GEO] != 0 and not is_on_globe(x, y):
        return key_of(t, layout.EVERYWHERE, family, np.int64(0))
    size = families_f[at + layout.F_CELL]
    column = cell_at(x, size)
    line = cell_at(y, size) if families[at + layout.F_THIS_Y] >= 0 else 0
    return key_of(t, layout.GRID + 64 * family, column, line)


@inner
def place(t, row, family):
    """Move a row to the cell of its current position, or out of the grid if it has no position."""
    state = state_of(t)
    postings = postings_of(t)
    postings_f = postings_f_of(t)
    lists = lists_of(t)
    families = families_of(t)
    places = places_of(t)
    cells = cells_of(t)
    cells_f = cells_f_of(t)
    at = family * layout.FAMILY
    here = (row * state[layout.WIDTH] + family) * layout.PLACE
    cell_x = (row * state[layout.COLUMNS] + families[at + layout.F_THIS_X]) * layout.CELL_WORDS
    x, y = cells_f[cell_x], 0.0
    has_position = places[here + layout.W_OWN] >= 0 and (cells[cell_x + 1] >> layout.KIND) & 0xFF == layout.NUMBER
    if families[at + layout.F_THIS_Y] >= 0:
        cell_y = (row * state[layout.COLUMNS] + families[at + layout.F_THIS_Y]) * layout.CELL_WORDS
        y = cells_f[cell_y]
        has_position = has_position and (cells[cell_y + 1] >> layout.KIND) & 0xFF == layout.NUMBER
    old = np.int64(places[here + layout.W_LIST])
    if not has_position:
        if old >= 0:
            unfile(t, old, places[here + layout.W_PLACE])
            places[here + layout.W_LIST] = -1
        return layout.DONE
    key = key_at(t, family, x, y)
    if old < 0 or lists[old * layout.LIST + layout.L_KEY] != key:
        room = room_for(t, key)
        if room != layout.DONE:
            return room
        if old >= 0:
            unfile(t, old, places[here + layout.W_PLACE])
        old = file(t, key, np.int64(0))
        places[here + layout.W_LIST] = old
        places[here + layout.W_PLACE] = lists[old * layout.LIST + layout.L_COUNT] - 1
    posting = (lists[old * layout.LIST + layout.L_START] + places[here + layout.W_PLACE]) * layout.POSTING
    postings_f[posting + layout.P_LOW] = x
    postings_f[posting + layout.P_HIGH] = y
    postings[posting + layout.P_WHO] = (row << 32) | places[here + layout.W_OWN]
    postings[posting + layout.P_PROGRAM] = layout.CELL | family
    return layout.DONE


@inner
def repair(t):
    """Move the rows whose context changed since the last call, in every grid that they are in."""
    state = state_of(t)
    families = families_of(t)
    places = places_of(t)
    contexts = contexts_of(t)
    moved = moved_of(t)
    queue = queue_of(t)
    while contexts[layout.MOVED] > 0:
        row = np.int64(queue[contexts[layout.MOVED] - 1])
        for family in range(state[layout.FAMILIES]):
            if (
                families[family * layout.FAMILY + layout.F_ACTIVE]
                and places[(row * state[layout.WIDTH] + family) * layout.PLACE + layout.W_OWN] >= 0
            ):
                room = place(t, row, family)
                if room != layout.DONE:
                    return room
        moved[row] = 0
        contexts[layout.MOVED] -= 1
    return layout.DONE


@inner
def rows_near(t, family):
    """Collect in `near` the lists of the rows that may be in reach of the publisher; returns how many, -1 for all."""
    stream = stream_of(t)
    stream_f = stream_f_of(t)
    pubs = pubs_of(t)
    families = families_of(t)
    families_f = families_f_of(t)
    at = family * layout.FAMILY
    slot_x = pubs[families[at + layout.F_PUB_X]]
    has_y = families[at + layout.F_PUB_Y] >= 0
    slot_y = pubs[families[at + layout.F_PUB_Y]] if has_y else 0
    if slot_x == 0 or (stream[slot_x] >> layout.KIND) & 0xFF != layout.NUMBER:
        return 0
    if has_y and (slot_y == 0 or (stream[slot_y] >> layout.KIND) & 0xFF != layout.NUMBER):
        return 0
    x = stream_f[slot_x + 1]
    y = stream_f[slot_y + 1] if has_y else 0.0
    reach = families_f[at + layout.F_REACH]
    if families[at + layout.F_GEO] != 0:
        return _near_on_globe(t, family, x, y, reach)
    wide_x = reach + SLACK * (reach + abs(x)) + TINY
    wide_y = reach + SLACK * (reach + abs(y)) + TINY
    size = families_f[at + layout.F_CELL]
    line, last_line = (cell_at(y - wide_y, size), cell_at(y + wide_y, size)) if has_y else (np.int64(0), np.int64(0))
    return _collect(t, family, x, wide_x, line, last_line, y, wide_y, np.int64(0), size)


@inner
def _near_on_globe(t, family, lon, lat, reach):
    """The same with a reach in metres: meridians converge towards the poles, and longitudes wrap around."""
    postings = postings_of(t)
    lists = lists_of(t)
    families_f = families_f_of(t)
    near = near_of(t)
    if not is_on_globe(lon, lat):
        return -1
    size = families_f[family * layout.FAMILY + layout.F_CELL]
    angle = reach / layout.EARTH * (1 + SLACK) + SLACK
    wide_lat = math.degrees(angle) * (1 + SLACK)
    room = math.cos(math.radians(lat))
    wide_lon = 360.0
    if abs(lat) + wide_lat < 90.0 and math.sin(angle) < room:
        wide_lon = math.degrees(math.asin(math.sin(angle) / room)) * (1 + 1e-6) + SLACK
    if not wide_lat < 180.0:
        return -1
    line, last_line = cell_at(lat - wide_lat, size), cell_at(lat + wide_lat, size)
    count = np.int64(0)
    everywhere = find(t, key_of(t, layout.EVERYWHERE, family, np.int64(0)))
    if everywhere >= 0:
        if lists[everywhere * layout.LIST + layout.L_COUNT] > near.size:
            return -1
        for i in range(lists[everywhere * layout.LIST + layout.L_COUNT]):
            posting = (lists[everywhere * layout.LIST + layout.L_START] + i) * layout.POSTING
            if postings[posting + layout.P_PROGRAM] == layout.CELL | family:
                near[count] = postings[posting + layout.P_WHO] & 0xFFFFFFFF
                count += 1
    if wide_lon >= 180.0:
        return _collect(t, family, 0.0, 180.0, line, last_line, lat, wide_lat, count, size)
    for turn in range(-1, 2):
        west, east = max(lon + turn * 360.0 - wide_lon, -180.0), min(lon + turn * 360.0 + wide_lon, 180.0)
        if west <= east and count >= 0:
            count = _collect(
                t, family, (west + east) / 2, (east - west) / 2 + SLACK, line, last_line, lat, wide_lat, count, size
            )
    return count


@inner
def _collect(t, family, x, wide_x, line, last_line, y, wide_y, count, size):
    """Add the rows in the box, from the cells that it touches; returns the new count, -1 if there are too many."""
    postings = postings_of(t)
    postings_f = postings_f_of(t)
    lists = lists_of(t)
    families = families_of(t)
    near = near_of(t)
    column, last_column = cell_at(x - wide_x, size), cell_at(x + wide_x, size)
    # compared separately: the product of two large numbers may overflow
    if last_column - column >= MOST or last_line - line >= MOST:
        return -1
    looked = family * layout.FAMILY + layout.F_LOOKED
    for i in range(column, last_column + 1):
        for j in range(line, last_line + 1):
            families[looked] += 1
            found = find(t, key_of(t, layout.GRID + 64 * family, i, j))
            if found < 0:
                continue
            families[looked] += lists[found * layout.LIST + layout.L_COUNT]
            start = lists[found * layout.LIST + layout.L_START] * layout.POSTING
            for at in range(
                start, start + lists[found * layout.LIST + layout.L_COUNT] * layout.POSTING, layout.POSTING
            ):
                # a key is a hash: skip postings of other families, and postings that are not in a cell
                if postings[at + layout.P_PROGRAM] != layout.CELL | family:
                    continue
                if (
                    abs(postings_f[at + layout.P_LOW] - x) <= wide_x
                    and abs(postings_f[at + layout.P_HIGH] - y) <= wide_y
                ):
                    if count == near.size:
                        return -1
                    near[count] = postings[at + layout.P_WHO] & 0xFFFFFFFF
                    count += 1
    return count
