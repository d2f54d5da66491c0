"""The machine that evaluates context functions: a stack of typed values, SQL's truths, and MAYBE.

A program evaluates its function as written, on exact numbers and on doubles in the written order. `MAYBE`
means that only Python can decide (geometries whose bounds meet); it propagates through `and`, `or` and `not`
like a truth that is not yet known. A clause of the top-level `and` that is neither TRUE nor MAYBE stops the program
(REQUIRE). Clauses of boxes are so common that each form has its own instruction, with the same arithmetic.
"""

from __future__ import annotations

import math

import numpy as np

from silbo.compiled import inner
from silbo.matching.fast.kernels import layout
from silbo.matching.fast.kernels.constraints import number_in, string_in
from silbo.matching.fast.kernels.handles import (
    attributes_of,
    cells_f_of,
    cells_of,
    failure_of,
    heap_b_of,
    heap_f_of,
    heap_of,
    pubs_of,
    stack_f_of,
    stack_of,
    stream_b_of,
    stream_f_of,
    stream_of,
    words_b_of,
    words_f_of,
    words_of,
)
from silbo.matching.fast.kernels.strings import fits, order

DEGREE = layout.EARTH * math.pi / 180  # metres along a meridian


@inner
def truth(t, first, size, row_at):
    """Run the program at word `first` for the context at cell word `row_at`: TRUE, FALSE (or unknown) or MAYBE."""
    words = words_of(t)
    words_f = words_f_of(t)
    stack = stack_of(t)
    maybe = False
    top = -layout.VALUE  # the value on top of the stack
    for at in range(first, first + size, layout.SCALAR):
        head = words[at]
        code = head & 0xFF
        argument = head >> 32
        if code >= layout.WITHIN_SPAN:
            if not _clause_holds(t, code, argument, words_f[at + 1], words[at + 2], row_at):
                return layout.FALSE
        elif code == layout.REQUIRE:
            result = stack[top + layout.V_PAYLOAD]
            top -= layout.VALUE
            if result == layout.MAYBE:
                maybe = True
            elif result != layout.TRUE:
                return layout.FALSE
        elif code <= layout.THIS:
            top += layout.VALUE
            _push(t, code, head, argument, at, first, top, row_at)
        elif code <= layout.GEO_DISTANCE:
            top = _calculate(t, code, argument, top)
        elif code == layout.NOT:
            result = stack[top + layout.V_PAYLOAD]
            if result <= layout.TRUE:
                stack[top + layout.V_PAYLOAD] = layout.TRUE - result
        elif code == layout.AND or code == layout.OR:
            top -= (argument - 1) * layout.VALUE
            stack[top + layout.V_PAYLOAD] = _chain(t, argument, layout.TRUE if code == layout.OR else layout.FALSE, top)
        elif code == layout.COMPARE:
            top -= layout.VALUE
            _set_truth(t, top, _compared(t, argument, top))
        elif code == layout.IN_LIST:
            _set_truth(t, top, _in_list(t, head, at, first, top))
        elif code == layout.IN_SET:
            top -= layout.VALUE
            _set_truth(t, top, _in_set(t, top))
        elif code == layout.PRESENT:
            _set_truth(t, top, layout.TRUE if stack[top + layout.V_KIND] != 0 else layout.FALSE)
        elif code == layout.IS_TRUE:
            _set_truth(
                t, top, stack[top + layout.V_PAYLOAD] if stack[top + layout.V_KIND] == layout.BOOL else layout.UNKNOWN
            )
        elif code == layout.PATTERN:
            top -= layout.VALUE
            _set_truth(t, top, _pattern(t, argument, top))
        elif code == layout.LITERAL:
            top += layout.VALUE
            _set_truth(t, top, argument)
        elif code == layout.POINT:
            top -= layout.VALUE
            _point(t, top)
        elif code == layout.SPATIAL:
            top -= layout.VALUE
            _set_truth(t, top, _spatial(t, top))
    return layout.MAYBE if maybe else layout.TRUE


@inner
def _clause_holds(t, code, argument, constant, packed, row_at):
    """Whether a box clause is true: `abs(pub.a - this.b) <= c`, `pub.a <= this.b + c`, or a distance `<= c`."""
    stream = stream_of(t)
    stream_f = stream_f_of(t)
    pubs = pubs_of(t)
    cells = cells_of(t)
    cells_f = cells_f_of(t)
    slot = pubs[argument & 0xFFFF]
    cell = row_at + (packed & 0xFFFF) * layout.CELL_WORDS
    if (
        slot == 0
        or (stream[slot] >> layout.KIND) & 0xFF != layout.NUMBER
        or (cells[cell + 1] >> layout.KIND) & 0xFF != layout.NUMBER
    ):
        return False
    a, b = stream_f[slot + 1], cells_f[cell]
    comparison = (packed >> 48) & 0xF
    if code == layout.WITHIN_SPAN:
        return _is_within(abs(a - b), constant, comparison)
    if code == layout.SHIFTED:
        bound = b + constant
        if not math.isfinite(bound):
            return False
        residue = stream[slot] >> layout.RESIDUE
        if a == bound:
            return _is_of(comparison, residue)
        return (a < bound) == (comparison == layout.LT or comparison == layout.LE)
    slot = pubs[(argument >> 16) & 0xFFFF]
    cell = row_at + ((packed >> 16) & 0xFFFF) * layout.CELL_WORDS
    if (
        slot == 0
        or (stream[slot] >> layout.KIND) & 0xFF != layout.NUMBER
        or (cells[cell + 1] >> layout.KIND) & 0xFF != layout.NUMBER
    ):
        return False
    c, d = stream_f[slot + 1], cells_f[cell]
    if code == layout.WITHIN_GEO:
        return not _is_beyond(c, d, constant) and _is_within(geo_distance(a, c, b, d), constant, comparison)
    return _is_within(math.sqrt((a - b) * (a - b) + (c - d) * (c - d)), constant, comparison)


@inner
def _is_beyond(lat1, lat2, metres):
    """Whether the latitudes alone are clearly farther apart: this is common, and saves six trigonometric calls."""
    apart = abs(lat1 - lat2) * DEGREE
    return abs(lat1) <= 90.0 and abs(lat2) <= 90.0 and apart > metres * (1 + 1e-6) + 1.0


@inner
def _is_within(distance, constant, comparison):
    """Whether a distance is finite, and `<=` or `<` a constant."""
    return math.isfinite(distance) and (distance < constant or (distance == constant and comparison == layout.LE))


@inner
def _is_of(comparison, order_of_both):
    """Whether a comparison is true for two values with this order: negative, zero or positive."""
    if comparison == layout.EQ:
        return order_of_both == 0
    if comparison == layout.NE:
        return order_of_both != 0
    if comparison == layout.LT:
        return order_of_both < 0
    if comparison == layout.LE:
        return order_of_both <= 0
    if comparison == layout.GT:
        return order_of_both > 0
    return order_of_both >= 0


@inner
def _set_truth(t, top, result):
    stack = stack_of(t)
    stack[top + layout.V_KIND] = layout.TRUTH
    stack[top + layout.V_PAYLOAD] = result


@inner
def _chain(t, count, decisive, top):
    """The `and` or `or` of the truths from `top` on: the decisive one, else maybe, else unknown, else the other."""
    stack = stack_of(t)
    found = layout.TRUE - decisive
    for i in range(count):
        each = stack[top + i * layout.VALUE + layout.V_PAYLOAD]
        if each == decisive:
            return decisive
        found = max(found, each) if each >= layout.UNKNOWN else found
    return found


@inner
def _push(t, code, head, argument, at, first, top, row_at):
    """Push a constant, an attribute or a variable on the stack; its kind is 0 if it is absent."""
    stream = stream_of(t)
    words = words_of(t)
    attributes = attributes_of(t)
    pubs = pubs_of(t)
    cells = cells_of(t)
    stack = stack_of(t)
    if code == layout.CONSTANT:
        stack[top + layout.V_KIND] = (head >> 8) & 0xFF
        stack[top + layout.V_PAYLOAD] = words[at + 1]
        stack[top + layout.V_RESIDUE] = ((head & 0xFFFF0000) << 32) >> 48
        stack[top + layout.V_BUFFER] = layout.WORD_BYTES
        if stack[top + layout.V_KIND] == layout.SHAPE:
            stack[top + layout.V_OFFSET] = first + (words[at + 2] & 0xFFFFFFFF)
        else:
            stack[top + layout.V_OFFSET] = first * 8 + (words[at + 2] & 0xFFFFFFFF)
        stack[top + layout.V_LENGTH] = words[at + 2] >> 32
        return
    if code == layout.THIS:
        cell = row_at + argument * layout.CELL_WORDS
        meta = cells[cell + 1]
        kind = (meta >> layout.KIND) & 0xFF
        stack[top + layout.V_KIND] = kind
        stack[top + layout.V_PAYLOAD] = cells[cell]
        stack[top + layout.V_RESIDUE] = meta >> layout.RESIDUE
        stack[top + layout.V_BUFFER] = layout.HEAP_BYTES
        block = meta & 0xFFFFFFFF
        stack[top + layout.V_OFFSET] = (block + 1) * 8 if kind == layout.STRING else block
        return
    slot = pubs[argument] if code == layout.PUB else attributes[argument * layout.ATTRIBUTE + layout.A_SLOT]
    if slot == 0:
        stack[top + layout.V_KIND] = 0
        return
    meta = stream[slot]
    stack[top + layout.V_KIND] = (meta >> layout.KIND) & 0xFF
    stack[top + layout.V_PAYLOAD] = stream[slot + 1]
    stack[top + layout.V_RESIDUE] = meta >> layout.RESIDUE
    stack[top + layout.V_BUFFER] = layout.STREAM_BYTES
    stack[top + layout.V_OFFSET] = stream[slot + 2] & 0xFFFFFFFF
    stack[top + layout.V_LENGTH] = stream[slot + 2] >> 32


@inner
def _calculate(t, code, count, top):
    """Replace the operands by the result of double arithmetic, absent if it is not finite; returns the new top."""
    stack = stack_of(t)
    stack_f = stack_f_of(t)
    top -= (count - 1) * layout.VALUE
    for i in range(count):
        if stack[top + i * layout.VALUE + layout.V_KIND] != layout.NUMBER:
            stack[top + layout.V_KIND] = 0
            return top
    a = stack_f[top + layout.V_PAYLOAD]
    b = stack_f[top + layout.VALUE + layout.V_PAYLOAD] if count > 1 else 0.0
    if code == layout.ADD:
        a += b
    elif code == layout.SUBTRACT:
        a -= b
    elif code == layout.MULTIPLY:
        a *= b
    elif code == layout.DIVIDE:
        a /= b
    elif code == layout.NEGATIVE:
        a = -a
    elif code == layout.ABS:
        a = abs(a)
    elif code == layout.SQRT:
        a = math.sqrt(a) if a >= 0.0 else math.nan
    elif code == layout.MIN:
        for i in range(1, count):
            a = min(a, stack_f[top + i * layout.VALUE + layout.V_PAYLOAD])
    elif code == layout.MAX:
        for i in range(1, count):
            a = max(a, stack_f[top + i * layout.VALUE + layout.V_PAYLOAD])
    else:
        c, d = stack_f[top + 2 * layout.VALUE + layout.V_PAYLOAD], stack_f[top + 3 * layout.VALUE + layout.V_PAYLOAD]
        a = (
            geo_distance(a, b, c, d)
            if code == layout.GEO_DISTANCE
            else math.sqrt((a - c) * (a - c) + (b - d) * (b - d))
        )
    stack[top + layout.V_KIND] = layout.NUMBER if math.isfinite(a) else 0
    stack_f[top + layout.V_PAYLOAD] = a
    stack[top + layout.V_RESIDUE] = 0
    return top


@inner
def geo_distance(lon1, lat1, lon2, lat2):
    """The great-circle distance in metres by the haversine formula; the arguments are degrees."""
    phi1, phi2 = math.radians(lat1), math.radians(lat2)
    half_phi, half_lambda = (phi2 - phi1) / 2, (math.radians(lon2) - math.radians(lon1)) / 2
    # 2, but not a constant: with a constant the compiler emits a product, which differs in its last bit from libm's pow
    two = 2.0 + 0.0 * lon1
    a = math.pow(math.sin(half_phi), two) + math.cos(phi1) * math.cos(phi2) * math.pow(math.sin(half_lambda), two)
    return 2 * layout.EARTH * math.asin(math.sqrt(min(1.0, a)))


@inner
def _compared(t, comparison, top):
    """The truth of a comparison of the values at `top` and above it; unknown if their kinds do not fit."""
    stack = stack_of(t)
    stack_f = stack_f_of(t)
    other = top + layout.VALUE
    kind = stack[top + layout.V_KIND]
    if kind != stack[other + layout.V_KIND]:
        return layout.UNKNOWN
    if kind == layout.NUMBER:
        a, b = stack_f[top + layout.V_PAYLOAD], stack_f[other + layout.V_PAYLOAD]
        if a == b:
            ordered = stack[top + layout.V_RESIDUE] - stack[other + layout.V_RESIDUE]
        else:
            ordered = np.int64(-1) if a < b else np.int64(1)
    elif kind == layout.STRING:
        ordered = _strings_order(t, comparison, top, other)
    elif kind == layout.BOOL and comparison <= layout.NE:
        ordered = stack[top + layout.V_PAYLOAD] - stack[other + layout.V_PAYLOAD]
    else:
        return layout.UNKNOWN
    return layout.TRUE if _is_of(comparison, ordered) else layout.FALSE


@inner
def _strings_order(t, comparison, top, other):
    stream_b = stream_b_of(t)
    words_b = words_b_of(t)
    heap_b = heap_b_of(t)
    stack = stack_of(t)
    if comparison <= layout.NE and stack[top + layout.V_PAYLOAD] != stack[other + layout.V_PAYLOAD]:
        return 1  # different hashes, so different strings
    a = _buffer(stack[top + layout.V_BUFFER], stream_b, words_b, heap_b)
    b = _buffer(stack[other + layout.V_BUFFER], stream_b, words_b, heap_b)
    return order(a, stack[top + layout.V_OFFSET], _length(t, top), b, stack[other + layout.V_OFFSET], _length(t, other))


@inner
def _length(t, at):
    """The length in bytes of a string on the stack. A subscriber's is read from the heap here, since few need it."""
    stack = stack_of(t)
    if stack[at + layout.V_BUFFER] == layout.HEAP_BYTES:
        return heap_of(t)[stack[at + layout.V_OFFSET] // 8 - 1] >> 32
    return stack[at + layout.V_LENGTH]


@inner
def _buffer(which, stream_b, words_b, heap_b):
    if which == layout.STREAM_BYTES:
        return stream_b
    if which == layout.WORD_BYTES:
        return words_b
    return heap_b


@inner
def _pattern(t, pattern, top):
    stream_b = stream_b_of(t)
    words_b = words_b_of(t)
    heap_b = heap_b_of(t)
    stack = stack_of(t)
    failure = failure_of(t)
    other = top + layout.VALUE
    if stack[top + layout.V_KIND] != layout.STRING or stack[other + layout.V_KIND] != layout.STRING:
        return layout.UNKNOWN
    a = _buffer(stack[top + layout.V_BUFFER], stream_b, words_b, heap_b)
    b = _buffer(stack[other + layout.V_BUFFER], stream_b, words_b, heap_b)
    holds = fits(
        pattern,
        a, stack[top + layout.V_OFFSET], _length(t, top),
        b, stack[other + layout.V_OFFSET], _length(t, other),
        failure,
    )  # fmt: skip
    return layout.TRUE if holds else layout.FALSE


@inner
def _in_list(t, head, at, first, top):
    """The truth of membership in a list of constants; a list of bools is a mask."""
    stream_b = stream_b_of(t)
    words = words_of(t)
    words_f = words_f_of(t)
    words_b = words_b_of(t)
    heap_b = heap_b_of(t)
    stack = stack_of(t)
    stack_f = stack_f_of(t)
    kind = (head >> 8) & 0xFF
    if stack[top + layout.V_KIND] != kind:
        return layout.UNKNOWN
    if kind == layout.BOOL:
        return (words[at + 1] >> stack[top + layout.V_PAYLOAD]) & 1
    span = words[at + 2]
    return _member(t, kind, top, stack, stack_f, stream_b, words_b, heap_b, words, words_f, words_b,
                   first + (span & 0xFFFFFFFF), span >> 32, first * 8)  # fmt: skip


@inner
def _in_set(t, top):
    """The truth of membership in a set-valued variable: a block of its length and kind, then its members."""
    stream = stream_of(t)
    stream_f = stream_f_of(t)
    stream_b = stream_b_of(t)
    words_b = words_b_of(t)
    heap = heap_of(t)
    heap_f = heap_f_of(t)
    heap_b = heap_b_of(t)
    stack = stack_of(t)
    stack_f = stack_f_of(t)
    other = top + layout.VALUE
    kind = stack[top + layout.V_KIND]
    if kind == 0 or kind > layout.STRING or stack[other + layout.V_KIND] != layout.SET:
        return layout.UNKNOWN
    sent = stack[other + layout.V_BUFFER] == layout.STREAM_BYTES
    items = stream if sent else heap
    items_f = stream_f if sent else heap_f
    items_b = stream_b if sent else heap_b
    block = stack[other + layout.V_OFFSET]
    count, members = items[block] & 0xFFFFFFFF, items[block + 1]
    if count == 0:
        return layout.FALSE
    if members != kind:
        return layout.UNKNOWN
    if kind == layout.BOOL:
        return (items[block + 2] >> stack[top + layout.V_PAYLOAD]) & 1
    return _member(t, kind, top, stack, stack_f, stream_b, words_b, heap_b, items, items_f, items_b,
                   block + 2, count, block * 8)  # fmt: skip


@inner
def _member(t, kind, top, stack, stack_f, stream_b, words_b, heap_b, items, items_f, items_b, start, count, base):
    if kind == layout.NUMBER:
        found = number_in(stack_f[top + layout.V_PAYLOAD], stack[top + layout.V_RESIDUE], items, items_f, start, count)
    else:
        a = _buffer(stack[top + layout.V_BUFFER], stream_b, words_b, heap_b)
        found = string_in(
            stack[top + layout.V_PAYLOAD],
            a,
            stack[top + layout.V_OFFSET],
            _length(t, top),
            items,
            items_b,
            start,
            count,
            base,
        )
    return layout.TRUE if found else layout.FALSE


@inner
def _point(t, top):
    """Replace the two numbers at `top` and above it by a point, with x as payload and y as residue."""
    stack = stack_of(t)
    stack_f = stack_f_of(t)
    other = top + layout.VALUE
    fits_both = stack[top + layout.V_KIND] == layout.NUMBER and stack[other + layout.V_KIND] == layout.NUMBER
    stack[top + layout.V_KIND] = layout.SHAPE if fits_both else 0
    stack[top + layout.V_BUFFER] = -1
    stack_f[top + layout.V_RESIDUE] = stack_f[other + layout.V_PAYLOAD]


@inner
def _spatial(t, top):
    """FALSE for shapes whose bounds do not meet; otherwise MAYBE, since only Python can decide."""
    stack = stack_of(t)
    other = top + layout.VALUE
    if stack[top + layout.V_KIND] != layout.SHAPE or stack[other + layout.V_KIND] != layout.SHAPE:
        return layout.UNKNOWN
    for axis in range(2):
        low_a = _bound(t, axis, top)
        high_a = _bound(t, axis + 2, top)
        low_b = _bound(t, axis, other)
        high_b = _bound(t, axis + 2, other)
        if high_a < low_b or high_b < low_a:
            return layout.FALSE
    return layout.MAYBE


@inner
def _bound(t, which, at):
    """The least x, least y, greatest x or greatest y of a shape on the stack."""
    stream_f = stream_f_of(t)
    words_f = words_f_of(t)
    heap_f = heap_f_of(t)
    stack = stack_of(t)
    stack_f = stack_f_of(t)
    buffer, start = stack[at + layout.V_BUFFER], stack[at + layout.V_OFFSET]
    if buffer == layout.STREAM_BYTES:
        return stream_f[start + which]
    if buffer == layout.WORD_BYTES:
        return words_f[start + which]
    if buffer == layout.HEAP_BYTES:
        return heap_f[start + which]
    return stack_f[at + (layout.V_PAYLOAD if which % 2 == 0 else layout.V_RESIDUE)]
