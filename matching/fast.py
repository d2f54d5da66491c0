"""The fast index: conjunctions under access predicates, contexts in cells, both decided by compiled kernels.

It gives rows that the kernels decided by the expressions as written, and rows of which they could not tell
(`decision` has the last word there). Python here does what is done once for each verb: names to ids, slots,
growth, compaction; what is done for each posting is in `kernels`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from silbo.context.table import ContextTable
from silbo.language import tree
from silbo.matching.arrays import Arrays
from silbo.matching.candidates import Found, SubscriptionRow
from silbo.matching.columns import Columns
from silbo.matching.compaction import pack_postings, pack_words
from silbo.matching.encoding import Encoder, Literal
from silbo.matching.filing import filed
from silbo.matching.functions import Family, Functions
from silbo.matching.kernels import entries, layout
from silbo.matching.kernels.layout import (
    A_NAMED,
    ATTRIBUTE,
    CONJUNCTION,
    DONE,
    FAMILY,
    LIST,
    OUT,
    PAUSED,
    POSTING,
    PUBLICATIONS,
    SUBSCRIPTION,
)
from silbo.matching.names import Names
from silbo.matching.normal_form import named
from silbo.matching.planner import Plan, Planner
from silbo.model.notification import Publication
from silbo.model.values import Attributes, Context

Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.int32]]  # of subscriptions

OUT_ROOM = 65_536
NOBODY: Numbers = np.zeros(0, np.int32)


class FastIndex:
    """`Candidates` by compiled kernels, over the contexts of one table.

    `plan` is 'measured': content first or context first, whichever is cheaper; one of the two alone is for
    comparisons.
    """

    def __init__(self, contexts: ContextTable, plan: Plan = "measured") -> None:
        self._run, self._add, self._change = entries.made()
        self.contexts = contexts
        self._cells = contexts.with_cells()
        self.arrays = Arrays(self._cells)
        self.attributes, self.variables = Names(), Names()
        self._encoder = Encoder(self.attributes, self.variables)
        self._functions = Functions(self)
        self._planner = Planner(self, plan)
        self._rows: list[Any] = []  # by number; None where it is free
        self._free: list[int] = []
        self._state: Any = self.arrays.state.data  # never replaced
        self.changes = 0

    # subscriptions

    def add(self, row: SubscriptionRow) -> None:
        """Take a new subscription in."""
        self.file(row, filed(row.filter.tree))

    def file(self, row: SubscriptionRow, literals: Sequence[Sequence[Literal]]) -> None:
        """Take a new subscription in, given the conjunctions that its filter is filed as."""
        self.changes += 1
        program = -1 if row.function is None else self._functions.take(row.function)
        slot = self._slot(row)
        fields: Any = self.arrays.subscriptions.data
        at = slot * SUBSCRIPTION
        fields[at + layout.S_HEAD] = -1
        fields[at + layout.S_ROW] = self.contexts.row(row.subscriber)
        fields[at + layout.S_PROGRAM] = program
        fields[at + layout.S_COUNT] = len(literals)
        for conjunction in literals:
            kept = [each for each in conjunction if not isinstance(each[0], tree.Truth)]
            if len(kept) < len(conjunction) and any(atom == tree.Truth(negated) for atom, negated in conjunction):
                continue  # it can never be true
            for atom, _ in kept:
                name = named(atom)  # type: ignore[arg-type]  # no truths are left
                if name not in self.attributes.ids:
                    self.attribute(name)
            self._call(self._add, slot, *self._encoder.conjunction(kept))

    def remove(self, row: SubscriptionRow) -> None:
        """Forget a subscription."""
        self.changes += 1
        slot = row.slot
        state = self._state
        state[layout.OUT] = 0
        self._call(self._change, entries.REMOVE, slot, 0)
        self._rows[slot] = None
        self._free.append(slot)
        if row.function is not None:
            self._functions.release(row.function)
        for attribute in self.arrays.out[: state[layout.OUT]].tolist() if state[layout.OUT] else ():
            name = self.attributes.of(attribute)
            if name is not None:
                self.forget_attribute(name)
        if state[layout.POSTINGS] > 2 * state[layout.POSTINGS_LIVE] + 4_096:
            pack_postings(self.arrays)
        if 2 * state[layout.WORDS_DEAD] > state[layout.WORDS] + 8_192:
            pack_words(self.arrays)

    def _slot(self, row: SubscriptionRow) -> int:
        if self._free:
            slot = self._free.pop()
            self._rows[slot] = row
        else:
            slot = len(self._rows)
            self._rows.append(row)
            if (slot + 1) * SUBSCRIPTION > self.arrays.subscriptions.size:
                self.arrays.grow("subscriptions", (slot + 1) * SUBSCRIPTION)
                self.arrays.grow("stamps", self.arrays.subscriptions.size // SUBSCRIPTION)
        row.slot = slot
        return slot

    # what functions read

    @property
    def context_rows(self) -> int:
        """How many rows of contexts there is room for."""
        return self._cells.rows

    def column(self, name: str) -> int | None:
        """The column of a subscriber's variable, if there is one left."""
        return self.contexts.column(name)

    def attribute(self, name: str) -> int:
        """The id of an attribute, a new one if nobody named it before."""
        number = self.attributes.ids.get(name)
        if number is None:
            number = self.attributes.take(name)
            self.arrays.grow("attributes", len(self.attributes) * ATTRIBUTE)
            self.arrays.attributes[number * ATTRIBUTE : (number + 1) * ATTRIBUTE] = 0
        return number

    def variable(self, name: str) -> int:
        """The id of a publisher's variable, a new one if no function read it before."""
        number = self.variables.ids.get(name)
        if number is None:
            number = self.variables.take(name)
            self.arrays.grow("pubs", len(self.variables))
        return number

    def forget_attribute(self, name: str) -> None:
        """Give an attribute's id free, if no function reads it and no filter names it."""
        number = self.attributes.ids[name]
        if self.arrays.attributes[number * ATTRIBUTE + A_NAMED] == 0 and not self._functions.reads(name):
            self.attributes.forget(name)

    # publications

    def set_context(self, subscriber: str, context: Context) -> None:
        """Nothing: the kernels read the table's own cells."""

    def candidates(self, batch: Sequence[Publication]) -> Iterator[Iterable[SubscriptionRow]]:
        """For each publication the rows that get it, and those of which only `decision` can tell, together."""
        return ([*sure, *others] for sure, others in self.found(batch))

    def found(self, batch: Sequence[Publication]) -> Iterator[Found]:
        """For each publication the rows that get it, and those of which only `decision` can tell."""
        for publication in batch:
            sure, maybe = self.match(publication.attributes, publication.offered)
            yield self.rows_of(sure), self.rows_of(maybe)

    def rows_of(self, slots: Numbers) -> list[SubscriptionRow]:
        """The subscriptions with these numbers."""
        rows = self._rows
        return [rows[slot] for slot in slots.tolist()] if slots.size else []  # none of them is free

    def match(self, attributes: Attributes, offered: Context) -> tuple[Numbers, Numbers]:
        """The numbers of the subscriptions that get a message, and of those of which only Python can tell."""
        end = self._encoder.publication(attributes, offered)
        state, arrays = self._state, self.arrays
        state[OUT] = state[PUBLICATIONS] = 0
        if self._cells.generation != arrays.generation or self._encoder.stream is not arrays.stream:
            self._adopt()
        status = self._run(arrays.handle, 0, end)
        if status > PAUSED:
            status = self._call(self._run, 0, end)
        hits = arrays.out[: state[OUT]].copy()
        self._planner.count(1)
        if status == DONE:
            return hits, NOBODY
        return hits[hits >= 0], -1 - hits[hits < 0]

    def columns(self) -> Columns:
        """A batch for `apply`, empty."""
        return Columns(self.attributes, self.variables, self._cells.columns)

    def apply(self, batch: Columns) -> Iterator[tuple[Numbers, Numbers]]:
        """For each publication of a batch what `match` gives, with the contexts as they are at its place.

        The kernel runs ahead up to the next publication that something must be asked of: of one with `pause`, or
        with candidates of which only Python can tell, the contexts in the table are those of its place until
        the next one is taken.
        """
        state, arrays, at = self._state, self.arrays, 0
        while at < batch.size:
            state[OUT] = state[PUBLICATIONS] = 0
            arrays.adopt(batch.stream)
            self._functions.make_places()
            status = self._run(arrays.handle, at, batch.size)
            at = state[layout.HALTED]
            # a run that filled `out` goes on with an empty one
            if status > PAUSED and not (status == layout.GROW_OUT and state[PUBLICATIONS]):
                self._grow(status)
            self.contexts.take_writes()
            hits, ends = arrays.out[: state[OUT]].copy(), arrays.ends[: state[PUBLICATIONS]].tolist()
            self._planner.count(len(ends))
            yield from self._parts(hits, ends)

    def _parts(self, hits: Numbers, ends: list[int]) -> Iterator[tuple[Numbers, Numbers]]:
        start = 0
        for end in ends:
            part = hits[start:end]
            yield (part, NOBODY) if part.size == 0 or part.min() >= 0 else (part[part >= 0], -1 - part[part < 0])
            start = end

    def row(self, slot: int) -> SubscriptionRow:
        """The subscription with this number."""
        row: SubscriptionRow = self._rows[slot]
        return row

    # kernels

    def _call(self, kernel: Any, *arguments: int) -> int:
        """Call a kernel; where something must grow first, let it grow and call again."""
        while True:
            if self._cells.generation != self.arrays.generation or self._encoder.stream is not self.arrays.stream:
                self._adopt()
            status: int = kernel(self.arrays.handle, *arguments)
            if status <= PAUSED:
                return status
            self._grow(status)

    def _adopt(self) -> None:
        self.arrays.adopt(self._encoder.stream)
        self._functions.make_places()

    def _grow(self, status: int) -> None:
        arrays, state = self.arrays, self.arrays.state
        match status:
            case layout.GROW_POSTINGS if 2 * state[layout.POSTINGS] > 3 * state[layout.POSTINGS_LIVE] + 2_048:
                pack_postings(arrays)
            case layout.GROW_POSTINGS:
                arrays.grow("postings", int(state[layout.POSTINGS] + state[layout.NEEDED]) * POSTING)
            case layout.GROW_KEYS:
                arrays.replace("keys", np.zeros(2 * arrays.keys.size, np.int64))
                self._change(arrays.handle, entries.REHASH, 0, 0)
            case layout.GROW_LISTS:
                arrays.grow("lists", arrays.lists.size + LIST)
                arrays.grow("slices", layout.SLICE * (arrays.lists.size // LIST))
            case layout.GROW_WORDS:
                arrays.grow("words", int(state[layout.WORDS] + state[layout.NEEDED]))
            case layout.GROW_CONJUNCTIONS:
                arrays.grow("conjunctions", arrays.conjunctions.size + CONJUNCTION)
            case layout.GROW_OUT:
                # room for all subscriptions once, and for the hits of many publications of a batch
                arrays.grow("out", arrays.subscriptions.size // SUBSCRIPTION + OUT_ROOM)
                arrays.grow("ends", int(state[layout.PUBLICATIONS]) + 1)
            case _:
                raise AssertionError(f"no kernel answers {status}")

    # plans

    @property
    def families(self) -> Iterable[Family]:
        """The families of functions that have a grid."""
        return self._functions.families

    def share_out(self) -> None:
        """Give grids to the families that most subscriptions have."""
        self._functions.share_out()

    def change_plan(self, family: Family, *, active: bool) -> None:
        """Find the subscriptions of a family through its grid, or through their content again."""
        family.is_active = active
        if family.subscriptions:
            self._cells.track(wanted=True)
            self._call(self._change, entries.UNFILE_FAMILY, family.number, int(active))
            self._call(self._change, entries.FILE_FAMILY, family.number, 0)
        else:
            self.arrays.families[family.number * FAMILY + layout.F_ACTIVE] = active
        self.track()

    def begins_with_grid(self) -> bool:
        """Whether a new family is found through its grid from the start."""
        return self._planner.plan_of_new == "context"

    def track(self) -> None:
        """Let the contexts note who moves, if there is a grid that wants to know."""
        self._cells.track(wanted=any(each.is_active for each in self.families))

    # figures

    def __len__(self) -> int:
        return len(self._rows) - len(self._free)

    def stats(self) -> dict[str, Any]:
        """The plan, and what the kernels counted."""
        state = self.arrays.state
        return {
            **self._planner.stats(),
            "candidates": int(state[layout.CANDIDATES]),
            "visited": int(state[layout.VISITED]),
            "index_bytes": self.arrays.nbytes + self._cells.nbytes,
        }
