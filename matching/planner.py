"""Which way subscriptions are found: by their content first, or by their subscribers' contexts first.

The kernels survey conjunctions at random, whichever plan they are in: would content have met this one,
and does its context function hold? From both shares follow the costs of both plans, and a family of functions
changes its plan when the other is clearly cheaper. Within a plan the same is asked of each function: is it
to be looked at before the residual constraints, or behind them?
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from silbo.matching.kernels import layout
from silbo.matching.kernels.layout import ATTRIBUTE, FAMILY, PROGRAM

if TYPE_CHECKING:
    from silbo.matching.fast import FastIndex
    from silbo.matching.functions import Family

Plan: TypeAlias = Literal["measured", "content", "context"]

FIRST, EVERY = 64, 512  # publications between two looks: the first, and later ones
ENOUGH = 512  # conjunctions surveyed before a family's plan may change
FADING = 0.98  # how much of what a grid took is remembered from look to look, when it is not in use
MANY = 2**20  # publications
CLEARLY = 2.0  # times cheaper: a change moves every conjunction of the family

# nanoseconds, measured on one machine; only their proportions count
VISIT = 45.0  # a posting that content brings up; about half of them are candidates
CHECK = 20.0  # a posting that the grid brings up, with its row
GRID = 3_000.0  # to begin with a grid
LOOK = 6.0  # a cell, or a row in a cell, that is looked at
FUNCTION, CLAUSE, CONSTRAINTS = 150.0, 40.0, 50.0


class Planner:
    """Looks at the survey from time to time."""

    def __init__(self, index: FastIndex, plan: Plan = "measured") -> None:
        self._index = index
        self.plan_of_new = plan
        self._left = FIRST  # publications until it looks again

    def count(self, publications: int) -> None:
        """So many more publications were matched."""
        self._left -= publications
        if self._left <= 0:
            self._left = EVERY
            self.plan()

    def plan(self) -> None:
        """Change what is clearly not the best."""
        if self.plan_of_new == "measured":
            self._index.share_out()
            for family in list(self._index.families):
                self._plan_family(family)
        self._plan_order()
        self._forget()

    def _forget(self) -> None:
        """Halve the counts of attributes before they grow out of their fields."""
        arrays = self._index.arrays
        if arrays.state[layout.SEEN] > MANY:
            arrays.state[layout.SEEN] //= 2
            arrays.attributes.reshape(-1, ATTRIBUTE)[:, layout.A_SEEN] //= 2

    def _plan_family(self, family: Family) -> None:
        words = self._index.arrays.families[family.number * FAMILY : (family.number + 1) * FAMILY]
        counts = words[layout.F_SAMPLED : layout.F_LOOKED + 1]
        sampled, by_content, by_context, walks, walked, looked = counts.tolist()
        if sampled < ENOUGH:
            return
        # a grid in use counts what it brings up; without one, the survey must do, and what it took when it was in use
        near = walked / walks if family.is_active and walks else family.subscriptions * by_context / sampled
        family.looked_at = looked / walks if family.is_active and walks else FADING * family.looked_at
        content = VISIT * family.subscriptions * by_content / sampled
        context = GRID + CHECK * near + LOOK * family.looked_at
        wanted = CLEARLY * content >= context if family.is_active else CLEARLY * context < content
        # what was seen long ago counts less and less: half of it each time
        counts //= 2
        if wanted != family.is_active:
            self._index.change_plan(family, active=wanted)

    def _plan_order(self) -> None:
        """For each function: before the constraints, or behind them."""
        state = self._index.arrays.state
        programs = self._index.arrays.programs.reshape(-1, PROGRAM)
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
        """The plan in words, and the grids."""
        families = list(self._index.families)
        active = sum(family.subscriptions for family in families if family.is_active)
        total = len(self._index)
        plan = "content first" if active == 0 else "context first" if active == total else "mixed"
        grids = [family.described() for family in families]
        return {"plan": plan, "context_first": active, "content_first": total - active, "families": grids}
