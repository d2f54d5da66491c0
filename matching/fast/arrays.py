"""The arrays that kernels work on: this module owns them, enlarges them, and passes them on.

Kernels get a handle of addresses (in the checked mode, of the arrays themselves), so an array must stay alive and
in place as long as a handle refers to it: only `Arrays` replaces an array, and it then rebuilds the handle.
"""

from __future__ import annotations

from secrets import randbits
from typing import TYPE_CHECKING, Any

import numpy as np

from silbo.compiled import CHECKED
from silbo.context.cells import Cells
from silbo.matching.fast.kernels import layout
from silbo.matching.fast.kernels.handles import ARRAYS
from silbo.model.values import MAX_STRING

# the initial size of each array; `Cells` owns those of the contexts
FIRST_SIZES = {
    "state": layout.STATE,
    "words": 4_096,
    "postings": 256 * layout.POSTING,
    "keys": 2 * 512,
    "lists": 256 * layout.LIST,
    "conjunctions": 256 * layout.CONJUNCTION,
    "subscriptions": 256 * layout.SUBSCRIPTION,
    "stamps": 256,
    "attributes": 64 * layout.ATTRIBUTE,
    "pubs": 64,
    "programs": 16 * layout.PROGRAM,
    "families": layout.FAMILY,
    "places": 0,
    "slices": 256 * layout.SLICE,
    "near": 1_024,
    "stack": layout.DEPTH * layout.VALUE,
    "failure": MAX_STRING + 1,  # a pattern may be a value, not only a constant
    "gathered": 64,
    "out": 8_192,  # no filter names more attributes
    "ends": 4_096,
}
STRIDES = {
    "postings": layout.POSTING,
    "lists": layout.LIST,
    "conjunctions": layout.CONJUNCTION,
    "subscriptions": layout.SUBSCRIPTION,
    "attributes": layout.ATTRIBUTE,
    "programs": layout.PROGRAM,
    "families": layout.FAMILY,
}
ADOPTED = {
    "contexts": "state",
    "cells": "words",
    "heap": "heap",
    "moved": "moved",
    "stale": "stale",
    "queue": "queue",
}
VIEWS = {"_f": np.float64, "_b": np.uint8}


class Arrays:
    """Each array is an attribute. Its name with `_f` or `_b` is a view of the same memory as doubles or bytes."""

    def __init__(self, cells: Cells) -> None:
        self.handle: Any = None
        self._cells = cells
        self.generation = -1  # of the contexts' arrays in the handle
        self._held: dict[str, np.ndarray[Any, Any]] = {}
        for name, size in FIRST_SIZES.items():
            self._hold(name, np.zeros(size, ARRAYS[name]))
        self.state[[layout.FREE_CONJUNCTION, layout.FREE_LIST]] = -1
        self.state[layout.SEED] = randbits(63)
        self.adopt(np.zeros(64, np.int64))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> np.ndarray[Any, Any]: ...

    @property
    def nbytes(self) -> int:
        """Memory of all arrays, without those of the contexts."""
        return sum(self._held[name].nbytes for name in FIRST_SIZES)

    def replace(self, name: str, array: np.ndarray[Any, Any]) -> None:
        """Replace an array by another."""
        self._hold(name, array)
        self._make_handle()

    def grow(self, name: str, size: int) -> None:
        """Enlarge an array that is shorter than `size`, by a quarter or more."""
        old = self._held[name]
        if size > old.size:
            records = -(-max(size, old.size + old.size // 4) // STRIDES.get(name, 1))
            new = np.zeros(records * STRIDES.get(name, 1), old.dtype)
            new[: old.size] = old
            self.replace(name, new)

    def adopt(self, stream: np.ndarray[Any, Any]) -> None:
        """Put a stream and the current arrays of the contexts into the handle."""
        self._hold("stream", stream)
        for name, theirs in ADOPTED.items():
            self._hold(name, getattr(self._cells, theirs))
        self.generation = self._cells.generation
        self.state[layout.COLUMNS] = self._cells.width
        self._make_handle()

    def _hold(self, name: str, array: np.ndarray[Any, Any]) -> None:
        for suffix, dtype in {"": array.dtype, **VIEWS}.items():
            if name + suffix in ARRAYS:
                self._held[name + suffix] = array.view(dtype) if suffix else array
                setattr(self, name + suffix, self._held[name + suffix])

    def _make_handle(self) -> None:
        if not ARRAYS.keys() <= self._held.keys():
            return
        arrays = [self._held[name] for name in ARRAYS]
        if CHECKED:
            self.handle = tuple(arrays)
        else:
            self.handle = np.array([word for array in arrays for word in (array.ctypes.data, array.size)], np.int64)
