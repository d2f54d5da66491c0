"""The context functions in use: one program for each, and a grid family for those that have a box.

A function is identified by its text, and its subscriptions are counted. Functions that compare the same variables
over distances of the same order of magnitude share a family and its grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from silbo.context.function import ContextFunction
from silbo.language import tree
from silbo.matching.fast.boxes import Axis, Box, box_of
from silbo.matching.fast.kernels import layout
from silbo.matching.fast.programs import Program

if TYPE_CHECKING:
    from silbo.matching.fast.index import FastIndex

MAX_FAMILIES = 16  # each costs 16 bytes for every context row, and a check for every publication
WAITING = -1  # the number of a family without a grid
SMALLEST = -30  # a reach up to this power of 2 means equality, apart from rounding

FamilyKey: TypeAlias = tuple[bool, tuple[Axis, ...], int]


@dataclass(slots=True, eq=False)
class Family:
    """Functions that can share a grid. While all grids are taken, the family waits and is found by content."""

    key: FamilyKey
    programs: set[int] = field(default_factory=set)
    subscriptions: int = 0
    reach: float = 0.0  # the greatest reach of its functions so far; by the key, all are of the same order
    number: int = WAITING
    is_active: bool = False
    looked_at: float = 0.0  # cells and rows that a recent walk over its grid read, on average

    def described(self) -> dict[str, object]:
        """The family's entry in `stats`."""
        is_geo, axes, _ = self.key
        return {
            "variables": [f"pub.{axis.pub} and this.{axis.this}" for axis in axes],
            "reach": self.reach,
            "unit": "metres" if is_geo else "as the variables",
            "subscriptions": self.subscriptions,
            "plan": "context first" if self.is_active else "content first",
        }


@dataclass(slots=True)
class _Use:
    """A function in use."""

    program: int
    family: Family | None
    subscriptions: int = 0


class Functions:
    """Maintains the arrays `programs`, `families`, `places` and `pubs` of the index."""

    def __init__(self, index: FastIndex) -> None:
        self._index = index
        self._uses: dict[str, _Use] = {}
        self._free_programs: list[int] = []
        self._pub_users: dict[str, int] = {}
        self._msg_users: dict[str, int] = {}
        self._families: dict[FamilyKey, Family] = {}
        self.families: list[Family] = []  # the families that have a grid
        self._free_numbers: list[int] = list(range(MAX_FAMILIES))[::-1]

    def reads(self, attribute: str) -> bool:
        """Whether a function reads this attribute of messages."""
        return attribute in self._msg_users

    def take(self, function: ContextFunction) -> int:
        """Count one more subscription with this function, and return the number of its program."""
        use = self._uses.get(function.text)
        if use is None:
            use = self._uses[function.text] = self._made(function)
        use.subscriptions += 1
        if use.family is not None:
            use.family.subscriptions += 1
        return use.program

    def release(self, function: ContextFunction) -> None:
        """Count one subscription with this function less; after the last one, remove the function."""
        use = self._uses[function.text]
        use.subscriptions -= 1
        if use.family is not None:
            use.family.subscriptions -= 1
        if use.subscriptions == 0:
            del self._uses[function.text]
            self._forget(use, function)

    # programs

    def _made(self, function: ContextFunction) -> _Use:
        for name in function.variables("msg"):
            self._msg_users[name] = self._msg_users.get(name, 0) + 1
        for name in function.variables("pub"):
            self._pub_users[name] = self._pub_users.get(name, 0) + 1
        for name in function.variables("this"):
            self._index.contexts.use_column(name, 1)
        number = self._store(Program(function.tree, self._numbered))
        box = box_of(function.tree)
        family = None if box is None or self._lacks_column(box) else self._joined(number, box)
        return _Use(number, family)

    def _numbered(self, name: tree.Name) -> int | None:
        """The id of an attribute or of a publisher's variable, or the column of a subscriber's variable."""
        match name.namespace:
            case "msg":
                return self._index.attribute(name.name)
            case "this":
                return self._index.column(name.name)
            case _:
                return self._index.variable(name.name)

    def _store(self, program: Program) -> int:
        """Append a program's block to `words`, and write its record into `programs`; returns its number."""
        arrays = self._index.arrays
        words = program.words()
        first = int(arrays.state[layout.WORDS])
        arrays.grow("words", first + words.size)
        arrays.words[first : first + words.size] = words
        arrays.state[layout.WORDS] += words.size
        number = self._free_programs.pop() if self._free_programs else len(self._uses)
        arrays.grow("programs", (number + 1) * layout.PROGRAM)
        # a program as cheap as a box is evaluated before the constraints, until the planner has measured it
        record = [first, program.size, -1, int(program.is_cheap), 0, 0, words.size, 0]
        arrays.programs[number * layout.PROGRAM : (number + 1) * layout.PROGRAM] = record
        return number

    def _forget(self, use: _Use, function: ContextFunction) -> None:
        arrays = self._index.arrays
        at = use.program * layout.PROGRAM
        arrays.state[layout.WORDS_DEAD] += arrays.programs[at + layout.R_WORDS]
        arrays.programs[at + layout.R_WORDS] = arrays.programs[at + layout.R_SIZE] = 0
        self._free_programs.append(use.program)
        if use.family is not None:
            self._leave(use.family, use.program)
        for name in function.variables("pub"):
            if _one_less(self._pub_users, name) and name in self._index.variables.ids:
                self._index.variables.forget(name)
        for name in function.variables("this"):
            self._index.contexts.use_column(name, -1)
        for name in function.variables("msg"):
            if _one_less(self._msg_users, name) and name in self._index.attributes.ids:
                self._index.forget_attribute(name)

    # families

    def _joined(self, program: int, box: Box) -> Family:
        """Add a program that has no subscriptions yet to its family, and return the family."""
        key = box.is_geo, box.axes, _order(box)
        family = self._families.get(key)
        if family is None:
            family = self._families[key] = Family(key)
        family.programs.add(program)
        family.reach = max(family.reach, box.reach)
        if family.number == WAITING and self._free_numbers:
            self._give_grid(family)
        if family.number != WAITING:
            self._index.arrays.programs[program * layout.PROGRAM + layout.R_FAMILY] = family.number
            self._write(family)
        return family

    def _leave(self, family: Family, program: int) -> None:
        family.programs.remove(program)
        if not family.programs:
            if family.number != WAITING:
                self._give_up_grid(family)
            del self._families[family.key]

    def _give_grid(self, family: Family) -> None:
        """Give a family a grid. Its subscriptions stay filed by content until its plan changes."""
        family.number = self._free_numbers.pop()
        self.families.append(family)
        self._update_programs(family)
        self._write(family)
        if self._index.begins_with_grid():
            self._index.change_plan(family, active=True)

    def _give_up_grid(self, family: Family) -> None:
        """Free a family's grid. Its subscriptions are found by content from now on."""
        if family.is_active:
            self._index.change_plan(family, active=False)
        at = family.number * layout.FAMILY
        self._index.arrays.families[at : at + layout.FAMILY] = 0
        self.families.remove(family)
        self._free_numbers.append(family.number)
        family.number = WAITING
        self._update_programs(family)
        self._index.track()

    def _update_programs(self, family: Family) -> None:
        programs = self._index.arrays.programs
        for program in family.programs:
            programs[program * layout.PROGRAM + layout.R_FAMILY] = family.number

    def _write(self, family: Family) -> None:
        is_geo, axes, order = family.key
        arrays = self._index.arrays
        state = arrays.state
        if state[layout.FAMILIES] <= family.number:
            arrays.grow("families", (family.number + 1) * layout.FAMILY)
            state[layout.FAMILIES] = family.number + 1
        at = family.number * layout.FAMILY
        whole = [int(family.is_active), int(is_geo)]
        for axis in (*axes, None)[:2]:
            whole += [-1, -1] if axis is None else [self._index.variable(axis.pub), self._index.column(axis.this) or 0]
        arrays.families[at : at + len(whole)] = whole
        arrays.families_f[at + layout.F_CELL] = 2.0**order
        arrays.families_f[at + layout.F_REACH] = family.reach
        self.make_places()

    def give_next_grid(self) -> None:
        """Give a grid to the largest waiting family; if none is free, take the grid of a much smaller family."""
        if len(self._families) == len(self.families):
            return
        waiting = (family for family in self._families.values() if family.number == WAITING)
        largest = max(waiting, key=_subscriptions)
        if not self._free_numbers:
            smallest = min(self.families, key=_subscriptions)
            if largest.subscriptions <= 2 * smallest.subscriptions + 16:
                return
            self._give_up_grid(smallest)
        self._give_grid(largest)

    def _lacks_column(self, box: Box) -> bool:
        return any(axis.this not in self._index.contexts.with_cells().columns for axis in box.axes)

    def make_places(self) -> None:
        """Ensure that every context row has a place for every family."""
        arrays = self._index.arrays
        families, width = int(arrays.state[layout.FAMILIES]), int(arrays.state[layout.WIDTH])
        rows = self._index.context_rows
        arrays.grow("near", rows)
        if families == 0 or arrays.places.size == rows * max(width, families) * layout.PLACE:
            return
        places = np.tile(np.array([-1, 0, -1, 0], np.int32), rows * families).reshape(rows, families, layout.PLACE)
        if width:
            old = arrays.places.reshape(-1, width, layout.PLACE)
            places[: len(old), :width] = old
        arrays.replace("places", places.reshape(-1))
        arrays.state[layout.WIDTH] = families


def _subscriptions(family: Family) -> int:
    return family.subscriptions


def _order(box: Box) -> int:
    """The exponent of the grid's cell size: the least power of 2 that the reach does not exceed."""
    reach = math.degrees(box.reach / layout.EARTH) if box.is_geo else box.reach
    # variables that must be equal usually hold a number of something, such as a room: a cell for each integer
    return math.ceil(math.log2(reach)) if reach > 2.0**SMALLEST else 0


def _one_less(users: dict[str, int], name: str) -> bool:
    """Count one user less; returns whether it was the last."""
    users[name] -= 1
    if users[name] == 0:
        del users[name]
        return True
    return False
