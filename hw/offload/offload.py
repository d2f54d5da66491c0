"""Offload: subscriptions that fit are matched on the device, and the others by a software index.

To the broker this is one index: it finds a superset of the matches, and `decision` evaluates the device's candidates.
Each conjunction of a filter has a t-SID. A subscription for which the device has no room goes to software and stays
there: room that becomes free is for later ones. A verb that fails changes no table here, and removing a subscription
never fails. After a failure the state of the device is unknown: before its next use it is initialised, and all
subscriptions and contexts are written to it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Protocol

from silbo.context.table import ContextTable
from silbo.errors import DeviceError, DeviceFull
from silbo.hw.offload.context_rows import ContextMemory, ContextRows
from silbo.hw.offload.fit import Fit, fit
from silbo.hw.offload.words import Word, Words
from silbo.matching.candidates import Candidates, Deciding, Found, SubscriptionRow
from silbo.matching.fast.boxes import Box
from silbo.model.notification import Publication
from silbo.model.values import Context

NOBODY: Found = ((), ())


class MatchingUnit(ContextMemory, Protocol):
    """The methods of the driver that this module uses."""

    def register(self, words: Sequence[int], *, osid: int, row: int | None) -> int:
        """Register a subscription, in the context of a row if one is given; its t-SID. Raises `DeviceFull`."""

    def remove(self, tsid: int) -> None:
        """Remove a subscription."""

    def match(self, position: tuple[int, int] | None, words: Sequence[int]) -> list[int]:
        """The t-SIDs that a publication matches."""

    def init(self) -> None:
        """Remove all subscriptions and contexts."""

    def close(self) -> None:
        """Close the device."""


@dataclass(slots=True)
class _Conjunction:
    """A conjunction on the device."""

    words: tuple[Word, ...]
    numbers: list[int]
    tsid: int = 0


@dataclass(slots=True)
class _Placed:
    """A subscription on the device."""

    osid: int
    box: Box | None  # its box, if it is matched in context
    row: int | None
    conjunctions: list[_Conjunction] = field(default_factory=list)


class Offload:
    """A `Deciding` index over a device and a software index, which is made for the first subscription that needs it."""

    def __init__(self, unit: MatchingUnit, contexts: ContextTable, make_index: Callable[[], Candidates]) -> None:
        self._unit = unit
        self._contexts = contexts
        self._make_index = make_index
        self._index: Candidates | None = None
        self._words = Words()
        self._rows = ContextRows(unit)
        self._placed: dict[SubscriptionRow, _Placed] = {}
        self._by_tsid: dict[int, SubscriptionRow] = {}
        self._in_software = 0
        self._osids = 0  # given so far
        self._matches = 0
        self._is_known = True  # the device holds what the tables here say
        self._is_closed = False

    # subscriptions

    def add(self, row: SubscriptionRow) -> None:
        """Add a subscription: to the device if it fits and there is room, else to software."""
        wanted = fit(row.filter, row.function)
        placed = self._place(row, wanted) if wanted.is_on_device else None
        if placed is not None:
            self._placed[row] = placed
            return
        if self._index is None:
            self._index = self._make_index()
        self._index.add(row)
        self._in_software += 1

    def remove(self, row: SubscriptionRow) -> None:
        """Remove a subscription from the device or from software."""
        placed = self._placed.get(row)
        if placed is not None:
            self._withdraw(row, placed)
            del self._placed[row]
            return
        assert self._index is not None
        self._index.remove(row)
        self._in_software -= 1

    def _place(self, row: SubscriptionRow, wanted: Fit) -> _Placed | None:
        """Register a subscription on the device. If there is no room, leave the device as it was and return None."""
        with ExitStack() as undo, self._asking():
            placed = self._with_row(row, wanted.box, undo)
            try:
                for each in wanted.conjunctions:
                    conjunction = self._with_numbers(each.words, undo)
                    self._register(row, placed, conjunction)
                    undo.callback(self._unregister, conjunction)
                    placed.conjunctions.append(conjunction)
            except DeviceFull:
                return None
            undo.pop_all()
            return placed

    def _with_row(self, row: SubscriptionRow, box: Box | None, undo: ExitStack) -> _Placed:
        """Give the subscription a context row; if no row or axis is free, the device matches it by content alone."""
        self._osids += 1
        if box is None:
            return _Placed(self._osids, None, None)
        number = self._rows.take(row.subscriber, box, self._contexts[row.subscriber])
        if number is None:
            return _Placed(self._osids, None, None)
        undo.callback(self._rows.release, row.subscriber, box)
        return _Placed(self._osids, box, number)

    def _with_numbers(self, words: tuple[Word, ...], undo: ExitStack) -> _Conjunction:
        numbers = []
        for word in words:
            numbers.append(self._words.take(word))
            undo.callback(self._words.release, word)
        return _Conjunction(words, numbers)

    def _register(self, row: SubscriptionRow, placed: _Placed, conjunction: _Conjunction) -> None:
        conjunction.tsid = self._unit.register(conjunction.numbers, osid=placed.osid, row=placed.row)
        self._by_tsid[conjunction.tsid] = row

    def _unregister(self, conjunction: _Conjunction) -> None:
        del self._by_tsid[conjunction.tsid]
        if self._is_known:
            with self._asking():
                self._unit.remove(conjunction.tsid)

    def _withdraw(self, row: SubscriptionRow, placed: _Placed) -> None:
        """Remove all conjunctions of a subscription from the device."""
        if not self._is_closed:
            # it is removed here even if the device fails: the device is then written again without it
            with suppress(DeviceError), self._asking():
                for each in placed.conjunctions:
                    self._unit.remove(each.tsid)
        for each in placed.conjunctions:
            del self._by_tsid[each.tsid]
            for word in each.words:
                self._words.release(word)
        if placed.box is not None:
            self._rows.release(row.subscriber, placed.box)

    # contexts

    def set_context(self, subscriber: str, context: Context) -> None:
        """Write one row of the device at most, and none if no subscription of this subscriber has a box there."""
        if not self._is_closed:
            with self._asking():
                self._rows.set_context(subscriber, context)
        if self._index is not None:
            self._index.set_context(subscriber, context)

    # publications

    def candidates(self, batch: Sequence[Publication]) -> Iterator[Iterable[SubscriptionRow]]:
        """Yield for each publication the rows that the device and the software index found."""
        return ([*sure, *others] for sure, others in self.found(batch))

    def found(self, batch: Sequence[Publication]) -> Iterator[Found]:
        """Yield for each publication the rows that the index has decided, and the candidates of index and device."""
        # match the whole batch first: if the device fails, no subscriber has been notified yet
        matched = [self._matched(publication) for publication in batch]
        return (
            (sure, [*others, *rows])
            for rows, (sure, others) in zip(matched, self._found_in_software(batch), strict=True)
        )

    def _matched(self, publication: Publication) -> Iterable[SubscriptionRow]:
        """The rows that the device found, each once even if several of its conjunctions match."""
        words = self._words.of(publication.attributes)
        if not words:
            return ()  # every subscription on the device has at least one word
        with self._asking():
            tsids = self._unit.match(self._rows.position(publication.offered), words)
            if not self._by_tsid.keys() >= set(tsids):
                raise DeviceError(f"the device found t-SIDs {tsids}, which were not all registered. Publish again.")
        self._matches += len(tsids)
        return dict.fromkeys(self._by_tsid[tsid] for tsid in tsids)

    def _found_in_software(self, batch: Sequence[Publication]) -> Iterable[Found]:
        if self._index is None:
            return repeat(NOBODY, len(batch))
        if isinstance(self._index, Deciding):
            return self._index.found(batch)
        return (((), rows) for rows in self._index.candidates(batch))

    # the device

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Use the device, written again first if its state is unknown. Any error but `DeviceFull` makes it unknown."""
        if not self._is_known:
            self._write_again()
        try:
            yield
        except DeviceFull:
            raise
        except BaseException:
            self._is_known = False
            raise

    def _write_again(self) -> None:
        self._unit.init()
        self._rows.write_all(self._contexts)
        self._by_tsid.clear()
        for row, placed in self._placed.items():
            for each in placed.conjunctions:
                self._register(row, placed, each)
        self._is_known = True

    def stats(self) -> dict[str, Any]:
        """The statistics of the index, and the number of subscriptions, t-SIDs, words and rows in use."""
        of_index = self._index.stats() if self._index is not None and hasattr(self._index, "stats") else {}
        offload = {
            "device": len(self._placed),
            "software": self._in_software,
            "tsids": len(self._by_tsid),
            "words": len(self._words),
            "rows": len(self._rows),
            "matches": self._matches,
        }
        return {**of_index, "offload": offload}

    def close(self) -> None:
        """Close the device. Its subscriptions can still be removed, even if it no longer answers."""
        self._unit.close()
        self._is_closed = True
