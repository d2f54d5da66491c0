"""Choose how subscriptions are found: by their content first, or by their subscribers' contexts first.

The kernels survey random conjunctions, whichever plan they are in: would the content have found this one,
and is its context function true? The two shares give the costs of both plans, and a family of functions
changes its plan when the other is clearly cheaper. Within a plan, the planner also chooses for each function
whether it is evaluated before or after the residual constraints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from silbo.matching.fast.kernels import layout

if TYPE_CHECKING:
    from silbo.matching.fast.functions import Family
    from silbo.matching.fast.index import FastIndex

Plan: TypeAlias = Literal["measured", "content", "context"]

FIRST, EVERY = 64, 512  # publications before the first planning, and between later ones
ENOUGH = 512  # conjunctions surveyed before a family's plan may change
FADING = 0.98  # at each planning, the remembered cost of a grid that is not in use is multiplied by this
MANY = 2**20  # publications after which the counts of attributes are halved
CLEARLY = 2.0  # times cheaper: a change moves every conjunction of the family

# nanoseconds, measured on one machine; only their proportions count
VISIT = 45.0  # a posting found by content; about half of them are candidates
CHECK = 20.0  # a posting found by the grid, with its row
GRID = 3_000.0  # the fixed cost of using a grid
LOOK = 6.0  # a cell, or a row in a cell, that is read
FUNCTION, CLAUSE, CONSTRAINTS = 150.0, 40.0, 50.0


class Planner:
    """Evaluates the survey from time to time, and changes plans."""

    def __init__(self, index: FastIndex, plan: Plan = "measured") -> None:
        self._index = index
        self.plan_of_new = plan
        self._left = FIRST  # publications until the next planning

    def count(self, publications: int) -> None:
        """Count publications that were matched, and call `plan` when it is time."""
        self._left -= publications
        if self._left <= 0:
            self._left = EVERY
            self.plan()

    def plan(self) -> None:
        """Change every plan and order that is clearly not the best."""
        if self.plan_of_new == "measured":
            self._index.give_next_grid()
            for family in list(self._index.families):
                self._plan_family(family)
        self._plan_order()
        self._halve_counts()

    def _halve_counts(self) -> None:
        """Halve the counts of attributes before they overflow their fields."""
        arrays = self._index.arrays
        if arrays.state[layout.SEEN] > MANY:
            arrays.state[layout.SEEN] //= 2
            arrays.attributes.reshape(-1, layout.ATTRIBUTE)[:, layout.A_SEEN] //= 2

    def _plan_family(self, family: Family) -> None:
        words = self._index.arrays.families[family.number * layout.FAMILY : (family.number + 1) * layout.FAMILY]
        counts = words[layout.F_SAMPLED : layout.F_LOOKED + 1]
        sampled, by_content, by_context, walks, walked, looked = counts.tolist()
        if sampled < ENOUGH:
            return
        # a grid in use counts what it finds; otherwise the survey and the grid's remembered cost give an estimate
        near = walked / walks if family.is_active and walks else family.subscriptions * by_context / sampled
        family.looked_at = looked / walks if family.is_active and walks else FADING * family.looked_at
        content = VISIT * family.subscriptions * by_content / sampled
        context = GRID + CHECK * near + LOOK * family.looked_at
        wanted = CLEARLY * content >= context if family.is_active else CLEARLY * context < content
        # halved each time, so that old observations count less and less
        counts //= 2
        if wanted != family.is_active:
            self._index.change_plan(family, active=wanted)

    def _plan_order(self) -> None:
        """Choose for each function whether it is evaluated before or after the constraints."""
        state = self._index.arrays.state
        programs = self._index.arrays.programs.reshape(-1, layout.PROGRAM)
        tried, held = programs[:, layout.R_TRIED], programs[:, layout.R_HELD]
        known = (tried >= 32) & (programs[:, layout.R_SIZE] > 0)
        if not known.any():
            return
        passed = (state[layout.PASSED] + 1) / (state[layout.TESTED] + 1)
        cost = np.where(programs[:, layout.R_SIZE] <= 4 * layout.SCALAR, CLAUSE, FUNCTION)
        early = cost + CONSTRAINTS * held / np.maximum(tried, 1)
        late = CONSTRAINTS + cost * passed
        programs[:, layout.R_EARLY] = np.where(known, early < late, programs[:, layout.R_EARLY])
        programs[known, layout.R_TRIED] //= 2
        programs[known, layout.R_HELD] //= 2
        state[[layout.TESTED, layout.PASSED]] //= 2

    def stats(self) -> dict[str, Any]:
        """The plan as text, and the families that have a grid."""
        families = list(self._index.families)
        active = sum(family.subscriptions for family in families if family.is_active)
        total = len(self._index)
        plan = "content first" if active == 0 else "context first" if active == total else "mixed"
        grids = [family.described() for family in families]
        return {"plan": plan, "context_first": active, "content_first": total - active, "families": grids}
