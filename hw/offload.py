"""Offload: what fits the device is matched there, the rest by a software index beside it.

To the broker it is one index: a superset comes out, and `decision` decides what the device found. Each conjunction of a
filter has a t-SID; a subscription for which there is no room goes to software, and stays there: room that comes
back is for later ones. A verb that fails changes nothing here, and to forget a subscription never fails. What the
device did of it nobody knows: before it is asked again, it is initialised and told everything anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Protocol

from silbo.context.table import ContextTable
from silbo.errors import DeviceError, DeviceFull
from silbo.hw.context_rows import ContextMemory, ContextRows
from silbo.hw.fit import Fit, fit
from silbo.hw.words import Word, Words
from silbo.matching.boxes import Box
from silbo.matching.candidates import Candidates, Deciding, Found, SubscriptionRow
from silbo.model.notification import Publication
from silbo.model.values import Context

NOBODY: Found = ((), ())


class MatchingUnit(ContextMemory, Protocol):
    """The driver, as far as it is needed here."""

    def register(self, words: Sequence[int], *, osid: int, row: int | None) -> int:
        """Take a subscription in, in the context of a row if one is named; its t-SID, or `DeviceFull`."""

    def remove(self, tsid: int) -> None:
        """Forget a subscription."""

    def match(self, position: tuple[int, int] | None, words: Sequence[int]) -> list[int]:
        """The t-SIDs that a publication matches."""

    def init(self) -> None:
        """Forget everything."""

    def close(self) -> None:
        """Let the device go."""


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
    box: Box | None  # the one whose row it is matched in
    row: int | None
    conjunctions: list[_Conjunction] = field(default_factory=list)


class Offload:
    """`Deciding`, over a device and an index that is made for the first subscription which needs it."""

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
        self._made = 0
        self._matches = 0
        self._is_known = True  # what the device holds is what stands here
        self._is_closed = False

    # subscriptions

    def add(self, row: SubscriptionRow) -> None:
        """Take a new subscription in: onto the device if it fits and finds room, else into software."""
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
        """Forget a subscription, wherever it is."""
        placed = self._placed.get(row)
        if placed is not None:
            self._withdraw(row, placed)
            del self._placed[row]
            return
        assert self._index is not None
        self._index.remove(row)
        self._in_software -= 1

    def _place(self, row: SubscriptionRow, wanted: Fit) -> _Placed | None:
        """Put a subscription onto the device, or leave the device as it was; None if there is no room."""
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
        """Where there is no row left, or no axis, a subscription is matched on the device by its content alone."""
        self._made += 1
        if box is None:
            return _Placed(self._made, None, None)
        number = self._rows.take(row.subscriber, box, self._contexts[row.subscriber])
        if number is None:
            return _Placed(self._made, None, None)
        undo.callback(self._rows.release, row.subscriber, box)
        return _Placed(self._made, box, number)

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
        """Take a subscription off the device, whole."""
        if not self._is_closed:
            # it ends here whatever the device says: one that failed is told anew what is left
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
        """At most one write of one row of the device; nothing for who is not matched in context there."""
        if not self._is_closed:
            with self._asking():
                self._rows.set_context(subscriber, context)
        if self._index is not None:
            self._index.set_context(subscriber, context)

    # publications

    def candidates(self, batch: Sequence[Publication]) -> Iterator[Iterable[SubscriptionRow]]:
        """For each publication what the device found, and what the index did."""
        return ([*sure, *others] for sure, others in self.found(batch))

    def found(self, batch: Sequence[Publication]) -> Iterator[Found]:
        """For each publication the rows that the index decided; what it left open, and what the device found."""
        # all at once: if the device fails nobody has been notified yet
        matched = [self._matched(publication) for publication in batch]
        return (
            (sure, [*others, *rows])
            for rows, (sure, others) in zip(matched, self._found_in_software(batch), strict=True)
        )

    def _matched(self, publication: Publication) -> Iterable[SubscriptionRow]:
        """The rows that the device found, each once, whichever of its conjunctions."""
        words = self._words.of(publication.attributes)
        if not words:
            return ()  # every subscription on the device wants one at least
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
        """Ask the device, which knows what stands here; after an error other than that it is full, nobody knows."""
        if not self._is_known:
            self._tell_anew()
        try:
            yield
        except DeviceFull:
            raise
        except BaseException:
            self._is_known = False
            raise

    def _tell_anew(self) -> None:
        self._unit.init()
        self._rows.write_anew(self._contexts)
        self._by_tsid.clear()
        for row, placed in self._placed.items():
            for each in placed.conjunctions:
                self._register(row, placed, each)
        self._is_known = True

    def stats(self) -> dict[str, Any]:
        """What the index tells, and how many subscriptions, t-SIDs, words and rows are in use."""
        told = self._index.stats() if self._index is not None and hasattr(self._index, "stats") else {}
        offload = {
            "device": len(self._placed),
            "software": self._in_software,
            "tsids": len(self._by_tsid),
            "words": len(self._words),
            "rows": len(self._rows),
            "matches": self._matches,
        }
        return {**told, "offload": offload}

    def close(self) -> None:
        """Let the device go; what sat there can still be forgotten, even if the device answers no more."""
        self._unit.close()
        self._is_closed = True
