"""How kernels access the arrays: each function takes one handle and opens the arrays that it needs.

Passing an array costs time at every call; a handle is one array, of addresses and
sizes, and opening one of its arrays is two loads. In the checked mode the handle is a tuple of the arrays
themselves, so that the bounds of every access are checked. `matching.arrays` owns the memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from silbo.compiled import CHECKED, inner

WORDS, DOUBLES, BYTES, FIELDS = np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.uint8), np.dtype(np.int32)

# every array that a kernel may open, in the order of the handle; `_f` and `_b` are other views of one memory
ARRAYS: dict[str, np.dtype[Any]] = {
    "state": WORDS,
    "stream": WORDS, "stream_f": DOUBLES, "stream_b": BYTES,
    "words": WORDS, "words_f": DOUBLES, "words_b": BYTES,
    "postings": WORDS, "postings_f": DOUBLES,
    "keys": WORDS, "lists": WORDS, "conjunctions": FIELDS, "subscriptions": FIELDS, "stamps": WORDS,
    "attributes": FIELDS, "pubs": FIELDS, "programs": FIELDS,
    "families": WORDS, "families_f": DOUBLES, "places": FIELDS,
    "contexts": WORDS, "cells": WORDS, "cells_f": DOUBLES, "heap": WORDS, "heap_f": DOUBLES, "heap_b": BYTES,
    "moved": BYTES, "stale": BYTES, "queue": FIELDS,
    "slices": WORDS, "slices_f": DOUBLES, "near": FIELDS, "stack": WORDS, "stack_f": DOUBLES, "failure": FIELDS,
    "gathered": WORDS, "out": FIELDS, "ends": WORDS,
}  # fmt: skip


def _opener(number: int, dtype: np.dtype[Any]) -> Callable[..., Any]:
    """The function that opens the array with this number. It is inlined into its caller, not compiled separately."""
    if CHECKED:

        def opened(t):
            return t[number]

        return inner(opened)
    array = types.Array(_NUMBA[dtype], 1, "C")

    @intrinsic
    def opener(_context, t):
        def code(context, builder, signature, arguments):
            words = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            address, size = (
                builder.load(builder.gep(words, [context.get_constant(types.intp, 2 * number + i)])) for i in range(2)
            )
            made = context.make_array(array)(context, builder)
            width = context.get_constant(types.intp, dtype.itemsize)
            data = builder.inttoptr(address, made.data.type)
            populate_array(made, data=data, shape=[size], strides=[width], itemsize=width, meminfo=None)
            return made._getvalue()

        return array(t), code

    return opener


_NUMBA = {WORDS: types.int64, DOUBLES: types.float64, BYTES: types.uint8, FIELDS: types.int32}

OPENERS = {name: _opener(number, dtype) for number, (name, dtype) in enumerate(ARRAYS.items())}

state_of = OPENERS["state"]
stream_of, stream_f_of, stream_b_of = OPENERS["stream"], OPENERS["stream_f"], OPENERS["stream_b"]
words_of, words_f_of, words_b_of = OPENERS["words"], OPENERS["words_f"], OPENERS["words_b"]
postings_of, postings_f_of = OPENERS["postings"], OPENERS["postings_f"]
keys_of, lists_of = OPENERS["keys"], OPENERS["lists"]
conjunctions_of, subscriptions_of, stamps_of = OPENERS["conjunctions"], OPENERS["subscriptions"], OPENERS["stamps"]
attributes_of, pubs_of, programs_of = OPENERS["attributes"], OPENERS["pubs"], OPENERS["programs"]
families_of, families_f_of, places_of = OPENERS["families"], OPENERS["families_f"], OPENERS["places"]
contexts_of, cells_of, cells_f_of = OPENERS["contexts"], OPENERS["cells"], OPENERS["cells_f"]
heap_of, heap_f_of, heap_b_of = OPENERS["heap"], OPENERS["heap_f"], OPENERS["heap_b"]
moved_of, stale_of, queue_of = OPENERS["moved"], OPENERS["stale"], OPENERS["queue"]
slices_of, slices_f_of, near_of = OPENERS["slices"], OPENERS["slices_f"], OPENERS["near"]
stack_of, stack_f_of, failure_of = OPENERS["stack"], OPENERS["stack_f"], OPENERS["failure"]
gathered_of, out_of, ends_of = OPENERS["gathered"], OPENERS["out"], OPENERS["ends"]


@intrinsic
def prefetch(_context, array, index):  # noqa: ARG001  # the type of `index` is given below
    """Fetch a word's memory into the caches, without waiting for it."""

    def code(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        call = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        place = builder.bitcast(builder.gep(data, [arguments[1]]), pointer)
        # for reading, into every level of cache, data and not code
        builder.call(call, [place, *(ir.Constant(number, each) for each in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.int64), code


def handle_type() -> Any:
    """The numba type of a handle."""
    arrays = [types.Array(_NUMBA[dtype], 1, "C") for dtype in ARRAYS.values()]
    return types.Tuple(arrays) if CHECKED else types.Array(types.int64, 1, "C")
