"""The fast index: conjunctions under access predicates and contexts in cells, matched by compiled kernels.

It returns the rows that match, decided by the kernels with the expressions as written, and the rows that they
could not decide, which `decision` evaluates. The Python code here does the work that each call needs once: names to
ids, slots, growth, compaction. The work for each posting is in `kernels`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from silbo.context.table import ContextTable
from silbo.matching.candidates import Found, SubscriptionRow
from silbo.matching.fast.arrays import Arrays
from silbo.matching.fast.compaction import pack_postings, pack_words
from silbo.matching.fast.encoded_batch import EncodedBatch
from silbo.matching.fast.encoding import Encoder, Literal
from silbo.matching.fast.filing import filed
from silbo.matching.fast.functions import Family, Functions
from silbo.matching.fast.kernels import entries, layout
from silbo.matching.fast.names import Names
from silbo.matching.fast.planner import Plan, Planner
from silbo.matching.normal_form import named
from silbo.model.notification import Publication
from silbo.model.values import Attributes, Context

Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.int32]]  # slots of subscriptions

OUT_ROOM = 65_536
NOBODY: Numbers = np.zeros(0, np.int32)


class FastIndex:
    """`Candidates` by compiled kernels, over the contexts of one table.

    `plan` is 'measured' (content first or context first, whichever is cheaper); 'content' and 'context' fix it,
    for comparisons.
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
        self._rows: list[Any] = []  # by slot; None if the slot is free
        self._free: list[int] = []
        self._state: Any = self.arrays.state.data  # never replaced
        self.changes = 0

    # subscriptions

    def add(self, row: SubscriptionRow) -> None:
        """Add a subscription."""
        self.file(row, filed(row.filter.tree))

    def file(self, row: SubscriptionRow, literals: Sequence[Sequence[Literal]]) -> None:
        """Add a subscription, given the conjunctions that its filter is filed as."""
        self.changes += 1
        program = -1 if row.function is None else self._functions.take(row.function)
        slot = self._slot(row)
        fields: Any = self.arrays.subscriptions.data
        at = slot * layout.SUBSCRIPTION
        fields[at + layout.S_HEAD] = -1
        fields[at + layout.S_ROW] = self.contexts.row(row.subscriber)
        fields[at + layout.S_PROGRAM] = program
        fields[at + layout.S_COUNT] = len(literals)
        for conjunction in literals:
            self._call(self._add, slot, *self._encoded(conjunction))

    def _encoded(self, conjunction: Sequence[Literal]) -> tuple[int, int]:
        try:
            return self._encoder.conjunction(conjunction)
        except KeyError:  # one of its attributes has no id yet
            for atom, _ in conjunction:
                self.attribute(named(atom))  # type: ignore[arg-type]  # no truths are filed
            return self._encoder.conjunction(conjunction)

    def remove(self, row: SubscriptionRow) -> None:
        """Remove a subscription."""
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
            if (slot + 1) * layout.SUBSCRIPTION > self.arrays.subscriptions.size:
                self.arrays.grow("subscriptions", (slot + 1) * layout.SUBSCRIPTION)
                self.arrays.grow("stamps", self.arrays.subscriptions.size // layout.SUBSCRIPTION)
        row.slot = slot
        return slot

    # what functions read

    @property
    def context_rows(self) -> int:
        """The number of context rows that have cells."""
        return self._cells.rows

    def column(self, name: str) -> int | None:
        """The column of a subscriber's variable, added if it has none; None if all columns are in use."""
        return self.contexts.column(name)

    def attribute(self, name: str) -> int:
        """The id of an attribute, assigned now if it has none."""
        number = self.attributes.ids.get(name)
        if number is None:
            number = self.attributes.take(name)
            self.arrays.grow("attributes", len(self.attributes) * layout.ATTRIBUTE)
            self.arrays.attributes[number * layout.ATTRIBUTE : (number + 1) * layout.ATTRIBUTE] = 0
        return number

    def variable(self, name: str) -> int:
        """The id of a publisher's variable, assigned now if it has none."""
        number = self.variables.ids.get(name)
        if number is None:
            number = self.variables.take(name)
            self.arrays.grow("pubs", len(self.variables))
        return number

    def forget_attribute(self, name: str) -> None:
        """Free an attribute's id, if no function reads it and no filter names it."""
        number = self.attributes.ids[name]
        if self.arrays.attributes[number * layout.ATTRIBUTE + layout.A_NAMED] == 0 and not self._functions.reads(name):
            self.attributes.forget(name)

    # publications

    def set_context(self, subscriber: str, context: Context) -> None:
        """Do nothing: the kernels read the table's own cells."""

    def candidates(self, batch: Sequence[Publication]) -> Iterator[Iterable[SubscriptionRow]]:
        """Yield for each publication the rows that get it, together with those that only `decision` can decide."""
        return ([*sure, *others] for sure, others in self.found(batch))

    def found(self, batch: Sequence[Publication]) -> Iterator[Found]:
        """Yield for each publication the rows that get it, and those that only `decision` can decide."""
        return map(self._found, batch)

    def _found(self, publication: Publication) -> Found:
        sure, maybe = self.match(publication.attributes, publication.offered)
        return self.rows_of(sure), self.rows_of(maybe)

    def rows_of(self, slots: Numbers) -> list[SubscriptionRow]:
        """The subscriptions in these slots."""
        rows = self._rows
        return [rows[slot] for slot in slots.tolist()] if slots.size else []  # none of the slots is free

    def match(self, attributes: Attributes, offered: Context) -> tuple[Numbers, Numbers]:
        """The slots of the subscriptions that get a message, and of those that only Python can decide."""
        end = self._encoder.publication(attributes, offered)
        state, arrays = self._state, self.arrays
        state[layout.OUT] = state[layout.PUBLICATIONS] = 0
        if self._cells.generation != arrays.generation or self._encoder.stream is not arrays.stream:
            self._adopt()
        status = self._run(arrays.handle, 0, end)
        if status > layout.PAUSED:
            status = self._call(self._run, 0, end)
        hits = arrays.out[: state[layout.OUT]].copy()
        self._planner.count(1)
        if status == layout.DONE:
            return hits, NOBODY
        return hits[hits >= 0], -1 - hits[hits < 0]

    def encoded_batch(self) -> EncodedBatch:
        """An empty batch for `apply`."""
        return EncodedBatch(self.attributes, self.variables, self._cells.columns)

    def apply(self, batch: EncodedBatch) -> Iterator[tuple[Numbers, Numbers]]:
        """Yield for each publication of a batch what `match` returns, with the contexts at its place in the batch.

        The kernel runs ahead, and stops after a publication with `pause`, or with candidates that only Python can
        decide. For such a publication, the contexts in the table are those at its place until the caller asks for
        the next one.
        """
        state, arrays, at = self._state, self.arrays, 0
        while at < batch.size:
            state[layout.OUT] = state[layout.PUBLICATIONS] = 0
            arrays.adopt(batch.stream)
            self._functions.make_places()
            status = self._run(arrays.handle, at, batch.size)
            at = state[layout.HALTED]
            # if `out` is full after some publications, the next run continues with an empty one
            if status > layout.PAUSED and not (status == layout.GROW_OUT and state[layout.PUBLICATIONS]):
                self._grow(status)
            self.contexts.take_writes()
            hits, ends = arrays.out[: state[layout.OUT]].copy(), arrays.ends[: state[layout.PUBLICATIONS]].tolist()
            self._planner.count(len(ends))
            yield from self._parts(hits, ends)

    def _parts(self, hits: Numbers, ends: list[int]) -> Iterator[tuple[Numbers, Numbers]]:
        start = 0
        for end in ends:
            part = hits[start:end]
            yield (part, NOBODY) if part.size == 0 or part.min() >= 0 else (part[part >= 0], -1 - part[part < 0])
            start = end

    def row(self, slot: int) -> SubscriptionRow:
        """The subscription in this slot."""
        row: SubscriptionRow = self._rows[slot]
        return row

    # kernels

    def _call(self, kernel: Any, *arguments: int) -> int:
        """Call a kernel; as long as an array is too small, enlarge it and call again."""
        while True:
            if self._cells.generation != self.arrays.generation or self._encoder.stream is not self.arrays.stream:
                self._adopt()
            status: int = kernel(self.arrays.handle, *arguments)
            if status <= layout.PAUSED:
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
                arrays.grow("postings", int(state[layout.POSTINGS] + state[layout.NEEDED]) * layout.POSTING)
            case layout.GROW_KEYS:
                arrays.replace("keys", np.zeros(2 * arrays.keys.size, np.int64))
                self._change(arrays.handle, entries.REHASH, 0, 0)
            case layout.GROW_LISTS:
                arrays.grow("lists", arrays.lists.size + layout.LIST)
                arrays.grow("slices", layout.SLICE * (arrays.lists.size // layout.LIST))
            case layout.GROW_WORDS:
                arrays.grow("words", int(state[layout.WORDS] + state[layout.NEEDED]))
            case layout.GROW_CONJUNCTIONS:
                arrays.grow("conjunctions", arrays.conjunctions.size + layout.CONJUNCTION)
            case layout.GROW_OUT:
                # room for all subscriptions once, and for the hits of many publications of a batch
                arrays.grow("out", arrays.subscriptions.size // layout.SUBSCRIPTION + OUT_ROOM)
                arrays.grow("ends", int(state[layout.PUBLICATIONS]) + 1)
            case _:
                raise AssertionError(f"no kernel returns {status}")

    # plans

    @property
    def families(self) -> Iterable[Family]:
        """The families of functions that have a grid."""
        return self._functions.families

    def give_next_grid(self) -> None:
        """Give a grid to the largest family that waits for one."""
        self._functions.give_next_grid()

    def change_plan(self, family: Family, *, active: bool) -> None:
        """Find the subscriptions of a family through its grid, or through their content again."""
        family.is_active = active
        if family.subscriptions:
            self._cells.track(wanted=True)
            self._call(self._change, entries.UNFILE_FAMILY, family.number, int(active))
            self._call(self._change, entries.FILE_FAMILY, family.number, 0)
        else:
            self.arrays.families[family.number * layout.FAMILY + layout.F_ACTIVE] = active
        self.track()

    def begins_with_grid(self) -> bool:
        """Whether a new family is found through its grid from the start."""
        return self._planner.plan_of_new == "context"

    def track(self) -> None:
        """Let the cells queue the rows that move, if a grid is in use."""
        self._cells.track(wanted=any(each.is_active for each in self.families))

    # figures

    def __len__(self) -> int:
        return len(self._rows) - len(self._free)

    def stats(self) -> dict[str, Any]:
        """The plan, and the counters of the kernels."""
        state = self.arrays.state
        return {
            **self._planner.stats(),
            "candidates": int(state[layout.CANDIDATES]),
            "visited": int(state[layout.VISITED]),
            "index_bytes": self.arrays.nbytes + self._cells.nbytes,
        }
