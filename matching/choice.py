"""Choose the index of a core: by name, by the environment variable SILBO_INDEX, over a device, or a given one.

A core asks `ChosenIndex` only, and does not know which index it has. An index that is chosen by name is built for the
first subscription, so that a process that only publishes does not wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from silbo.compiled import check_compiler, is_compiler_installed
from silbo.context.table import ContextTable
from silbo.errors import InvalidValue
from silbo.matching.candidates import Candidates, Deciding, Found, SubscriptionRow
from silbo.matching.plain import PlainIndex
from silbo.model.notification import Publication
from silbo.model.values import Context

if TYPE_CHECKING:
    from silbo.matching.fast.index import FastIndex
    from silbo.matching.fast.planner import Plan

# 'fast-content' and 'fast-context' have a fixed plan, for comparisons
INDEXES: Mapping[str, Plan] = {
    "fast": "measured",
    "fast-content": "content",
    "fast-context": "context",
    "plain": "content",
}
DEVICES = ("sim", "pynq", "auto")
OPENING = "silbo.hw.offload.opening"  # a room above this one, loaded by its name when a device is asked for

Finder: TypeAlias = Callable[[Sequence[Publication]], Iterable[Found]]
IndexLike: TypeAlias = Candidates | Literal["fast", "fast-content", "fast-context", "plain"]


class DeviceIndex(Deciding, Protocol):
    """An index over a device."""

    def stats(self) -> dict[str, Any]:
        """Statistics, under the key `offload`."""

    def close(self) -> None:
        """Release the device."""


# takes the table of contexts and a function that makes the software index; returns None if no device is available
Maker: TypeAlias = Callable[[ContextTable, Callable[[], Candidates]], DeviceIndex | None]
OffloadLike: TypeAlias = Literal["sim", "pynq", "auto"] | Maker


class ChosenIndex:
    """The index of a core, over one table of contexts.

    `index` is an index or the name of one (see INDEXES); the default is the environment variable `SILBO_INDEX`.
    `offload` names a device, or is a function that makes the index over one. `index` then gets the subscriptions
    that the device does not take.
    """

    def __init__(self, index: IndexLike | None = None, offload: OffloadLike | None = None) -> None:
        self.contexts = ContextTable()
        self._wanted = checked_index(index)
        self._index: Candidates | None = None if isinstance(self._wanted, str) else self._wanted
        self._fast: FastIndex | None = None
        # finds for each publication the rows that match, and the rows that are only candidates
        self.finder: Finder = nobody_found
        self._device = None if offload is None else maker_of(offload)(self.contexts, self._made_beside)
        if self._device is not None:
            self._index = self._device
        # the built-in indexes read contexts in the table; a device or a given index has its own copy
        self.listens_to_contexts = self._index is not None
        if self._index is not None:
            self.finder = finder_of(self._index)

    @property
    def index(self) -> Candidates:
        """The index that finds candidates."""
        if self._index is None:
            self._index = self.made(str(self._wanted))
            self.finder = finder_of(self._index)
        return self._index

    def _made_beside(self) -> Candidates:
        """The index for the subscriptions that the device does not take."""
        return self.made(self._wanted) if isinstance(self._wanted, str) else self._wanted

    def made(self, wanted: str) -> Candidates:
        """A new index of this name."""
        if wanted == "plain":
            return PlainIndex()
        from silbo.matching.fast.index import FastIndex  # imports numba, so only once there is a subscription

        self._fast = FastIndex(self.contexts, INDEXES[wanted])
        return self._fast

    @property
    def is_prepared(self) -> bool:
        """Whether the index is loaded and compiled, so that a subscription does not wait for it."""
        return not isinstance(self._wanted, str) or self._wanted == "plain" or self._fast is not None

    def prepare(self) -> None:
        """Load or compile what the index needs."""
        if not self.is_prepared:
            from silbo.matching.fast import index as fast  # noqa: F401  # loaded here and not under a lock
            from silbo.matching.fast.kernels import entries

            entries.made()

    def set_context(self, subscriber: str, context: Context) -> None:
        """Tell an index that has its own copy of the contexts about a change."""
        if self.listens_to_contexts:
            self.index.set_context(subscriber, context)

    @property
    def fast(self) -> FastIndex | None:
        """The index that matches several publications in one call, if this is one and no device is before it."""
        return self._fast if self._device is None else None

    def stats(self) -> dict[str, Any]:
        """The plan, and the other statistics of the index."""
        index: Any = self._index
        return {"plan": "content first", **(index.stats() if hasattr(index, "stats") else {})}

    def close(self) -> None:
        """Release the device, if there is one."""
        if self._device is not None:
            self._device.close()


class NoIndex:
    """An index that finds nobody: for a core that applies the rules while another system matches."""

    def add(self, row: SubscriptionRow) -> None:
        """Do nothing: the subscription is matched elsewhere."""

    def remove(self, row: SubscriptionRow) -> None:
        """Do nothing: the subscription is matched elsewhere."""

    def set_context(self, subscriber: str, context: Context) -> None:
        """Do nothing: the context is used elsewhere."""

    def found(self, batch: Sequence[Publication]) -> Iterator[Found]:
        """No rows, for each publication."""
        return repeat(([], []), len(batch))

    def candidates(self, batch: Sequence[Publication]) -> Iterator[Iterable[SubscriptionRow]]:
        """No rows, for each publication."""
        return repeat((), len(batch))


def finder_of(index: Candidates) -> Finder:
    """The function of an index that finds rows: its own if it decides candidates, else all are only candidates."""
    if isinstance(index, Deciding):
        return index.found
    # lazily, since the delivery of one publication may end a subscription
    return lambda batch: zip(repeat([]), index.candidates(batch))  # `repeat` does not end


def nobody_found(batch: Sequence[Publication]) -> Iterable[Found]:
    """No rows: there has never been a subscription."""
    return repeat(([], []), len(batch))


def checked_index(index: IndexLike | None) -> Candidates | str:
    """An index, or the validated name of one."""
    wanted = os.environ.get("SILBO_INDEX", usual_index()) if index is None else index
    if isinstance(wanted, str) and wanted not in INDEXES:
        raise InvalidValue("index", f"expected one of {', '.join(INDEXES)}, not {wanted!r}.")
    if isinstance(wanted, str) and wanted != "plain":
        check_compiler()
    return wanted


def usual_index() -> str:
    """The name of the default index: 'fast', or 'plain' where numba is not installed."""
    return "fast" if is_compiler_installed() else "plain"


def maker_of(offload: OffloadLike) -> Maker:
    """The maker itself, or the one of the device with this name."""
    if callable(offload):
        return offload
    if offload not in DEVICES:
        raise InvalidValue("offload", f"expected one of {', '.join(DEVICES)}, not {offload!r}.")
    return partial(import_module(OPENING).opened, offload)
