"""The context functions in use: one program for each, and a grid family for those that have a box.

A function is known by its text and counted by the subscriptions that have it. Functions share a family,
and a grid, where they compare the same variables over distances of the same order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from silbo.context.function import ContextFunction
from silbo.language import tree
from silbo.matching.boxes import Axis, Box, box_of
from silbo.matching.kernels import layout
from silbo.matching.kernels.layout import FAMILY, PLACE, PROGRAM
from silbo.matching.programs import Program

if TYPE_CHECKING:
    from silbo.matching.fast import FastIndex

MAX_FAMILIES = 16  # each costs 16 bytes a context row, and a look at every publication
SMALLEST = -100  # the least power of 2 that a cell may have as its size

FamilyKey: TypeAlias = tuple[bool, tuple[Axis, ...], int]


@dataclass(slots=True)
class Family:
    """Functions that one grid serves."""

    number: int
    key: FamilyKey
    subscriptions: int = 0
    reach: float = 0.0  # the farthest of its functions so far; of the same order, by the key
    is_active: bool = False

    def described(self) -> dict[str, object]:
        """What `stats` tells of it."""
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
    """A function in use; one that has a box may wait for a family."""

    program: int
    subscriptions: int
    box: Box | None
    family: Family | None


class Functions:
    """Keeps `programs`, `families`, `places` and `pubs` of the index's arrays."""

    def __init__(self, index: FastIndex) -> None:
        self._index = index
        self._uses: dict[str, _Use] = {}
        self._free_programs: list[int] = []
        self._pub_users: dict[str, int] = {}
        self._msg_users: dict[str, int] = {}
        self.families: dict[FamilyKey, Family] = {}
        self._free_families: list[int] = list(range(MAX_FAMILIES))[::-1]

    def reads(self, attribute: str) -> bool:
        """Whether some function reads an attribute of messages."""
        return attribute in self._msg_users

    def take(self, function: ContextFunction) -> int:
        """The program of a function, for one more subscription."""
        use = self._uses.get(function.text)
        if use is None:
            use = self._uses[function.text] = self._made(function)
        use.subscriptions += 1
        if use.family is not None:
            use.family.subscriptions += 1
        return use.program

    def release(self, function: ContextFunction) -> None:
        """One subscription less has this function."""
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
        program = Program(function.tree, self._numbered)
        number = self._store(program)
        box = box_of(function.tree)
        family = None if box is None else self._family(box)
        self._index.arrays.programs[number * PROGRAM + layout.R_FAMILY] = -1 if family is None else family.number
        return _Use(number, 0, box, family)

    def _numbered(self, name: tree.Name) -> int | None:
        """The id of an attribute or a publisher's variable, the column of a subscriber's."""
        match name.namespace:
            case "msg":
                return self._index.attribute(name.name)
            case "this":
                return self._index.column(name.name)
            case _:
                return self._index.variable(name.name)

    def _store(self, program: Program) -> int:
        """Put a program's block among the words, and its record among the programs."""
        arrays = self._index.arrays
        words = program.words()
        first = int(arrays.state[layout.WORDS])
        arrays.grow("words", first + words.size)
        arrays.words[first : first + words.size] = words
        arrays.state[layout.WORDS] += words.size
        number = self._free_programs.pop() if self._free_programs else len(self._uses)
        arrays.grow("programs", (number + 1) * PROGRAM)
        # what is as cheap as a box comes before the constraints, until the planner knows better
        record = [first, program.size, -1, int(program.is_cheap), 0, 0, words.size, 0]
        arrays.programs[number * PROGRAM : (number + 1) * PROGRAM] = record
        return number

    def _forget(self, use: _Use, function: ContextFunction) -> None:
        arrays = self._index.arrays
        at = use.program * PROGRAM
        arrays.state[layout.WORDS_DEAD] += arrays.programs[at + layout.R_WORDS]
        arrays.programs[at + layout.R_WORDS] = arrays.programs[at + layout.R_SIZE] = 0
        self._free_programs.append(use.program)
        if use.family is not None and use.family.subscriptions == 0:
            self._forget_family(use.family)
        for name in function.variables("pub"):
            if _one_less(self._pub_users, name) and name in self._index.variables.ids:
                self._index.variables.forget(name)
        for name in function.variables("this"):
            self._index.contexts.use_column(name, -1)
        for name in function.variables("msg"):
            if _one_less(self._msg_users, name) and name in self._index.attributes.ids:
                self._index.forget_attribute(name)

    # families

    def _family(self, box: Box) -> Family | None:
        if self._lacks_column(box):
            return None
        key = _key(box)
        family = self.families.get(key)
        if family is None:
            if not self._free_families:
                return None
            family = self.families[key] = Family(self._free_families.pop(), key)
            family.is_active = self._index.begins_with_grid()
            self._index.track()
        family.reach = max(family.reach, box.reach)
        self._write(family)
        return family

    def _write(self, family: Family) -> None:
        is_geo, axes, order = family.key
        arrays = self._index.arrays
        state = arrays.state
        if state[layout.FAMILIES] <= family.number:
            arrays.grow("families", (family.number + 1) * FAMILY)
            state[layout.FAMILIES] = family.number + 1
        at = family.number * FAMILY
        whole = [int(family.is_active), int(is_geo)]
        for axis in (*axes, None)[:2]:
            whole += [-1, -1] if axis is None else [self._index.variable(axis.pub), self._index.column(axis.this) or 0]
        arrays.families[at : at + len(whole)] = whole
        arrays.families_f[at + layout.F_CELL] = 2.0**order
        arrays.families_f[at + layout.F_REACH] = family.reach
        self.make_places()

    def share_out(self) -> None:
        """Let the largest group of functions that wait have the family of a much smaller one."""
        waiting: dict[FamilyKey, list[_Use]] = {}
        for use in self._uses.values():
            if use.box is not None and use.family is None and not self._lacks_column(use.box):
                waiting.setdefault(_key(use.box), []).append(use)
        if not waiting or not self.families:
            return
        group = max(waiting.values(), key=_subscriptions)
        smallest = min(self.families.values(), key=lambda family: family.subscriptions)
        if self._free_families or _subscriptions(group) > 2 * smallest.subscriptions + 16:
            if not self._free_families:
                self._retire(smallest)
            for use in group:
                self._join(use)

    def _lacks_column(self, box: Box) -> bool:
        return any(axis.this not in self._index.contexts.with_cells().columns for axis in box.axes)

    def _retire(self, family: Family) -> None:
        """Find its subscriptions by content from now on."""
        if family.is_active:
            self._index.change_plan(family, active=False)
        for use in self._uses.values():
            if use.family is family:
                use.family = None
                self._index.arrays.programs[use.program * PROGRAM + layout.R_FAMILY] = -1
        self._forget_family(family)

    def _join(self, use: _Use) -> None:
        assert use.box is not None
        use.family = self._family(use.box)
        if use.family is not None:
            use.family.subscriptions += use.subscriptions
            self._index.arrays.programs[use.program * PROGRAM + layout.R_FAMILY] = use.family.number

    def _forget_family(self, family: Family) -> None:
        arrays = self._index.arrays
        at = family.number * FAMILY
        arrays.families[at : at + FAMILY] = 0
        del self.families[family.key]
        self._free_families.append(family.number)
        self._index.track()

    def make_places(self) -> None:
        """See to it that every context row has a place for every family."""
        arrays = self._index.arrays
        families, width = int(arrays.state[layout.FAMILIES]), int(arrays.state[layout.WIDTH])
        rows = self._index.context_rows
        arrays.grow("near", rows)
        if families == 0 or arrays.places.size == rows * max(width, families) * PLACE:
            return
        places = np.tile(np.array([-1, 0, -1, 0], np.int32), rows * families).reshape(rows, families, PLACE)
        if width:
            old = arrays.places.reshape(-1, width, PLACE)
            places[: len(old), :width] = old
        arrays.replace("places", places.reshape(-1))
        arrays.state[layout.WIDTH] = families


def _key(box: Box) -> FamilyKey:
    return box.is_geo, box.axes, _order(box)


def _subscriptions(group: list[_Use]) -> int:
    return sum(use.subscriptions for use in group)


def _order(box: Box) -> int:
    """The power of 2 that the reach does not exceed: of the same order, the same grid."""
    reach = math.degrees(box.reach / layout.EARTH) if box.is_geo else box.reach
    if reach <= 2.0**SMALLEST:
        return SMALLEST
    return math.ceil(math.log2(reach))


def _one_less(users: dict[str, int], name: str) -> bool:
    """Count one user less; whether it was the last."""
    users[name] -= 1
    if users[name] == 0:
        del users[name]
        return True
    return False
