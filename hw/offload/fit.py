"""Which parts of a subscription fit the device: the equalities of its filter, and the box of its context function.

The device compares words and tests whether a position is in a box; both only choose candidates. A filter goes to the
device if each of its conjunctions has 1 to 16 different equalities, else the whole filter stays in software: one
conjunction in software would need it there anyway. All other conditions are left to `decision`. Whether the device
has room is left to `offload`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from silbo.context.function import ContextFunction
from silbo.hw.offload.words import Word
from silbo.language import tree
from silbo.language.text import to_text
from silbo.matching.fast.boxes import Box, box_of
from silbo.matching.filter import Filter
from silbo.matching.normal_form import Conjunction, Constraint, conjunctions

MOST = 16  # different equalities of a conjunction on the device: filters of its t-SID

Where: TypeAlias = Literal["device", "software"]


@dataclass(frozen=True, slots=True)
class FitPart:
    """A part of a subscription, where it runs, and why, as text for the user."""

    what: Literal["conjunction", "constraint", "context"]
    text: str
    where: Where
    why: str


@dataclass(frozen=True, slots=True)
class ConjunctionFit:
    """A conjunction, and the different words of its equalities."""

    conjunction: Conjunction
    words: tuple[Word, ...]

    @property
    def fits(self) -> bool:
        """Whether the device can register it."""
        return 1 <= len(self.words) <= MOST

    def parts(self, where: Where) -> Iterator[FitPart]:
        """Yield the conjunction, and its constraints that the device does not check."""
        yield FitPart("conjunction", _text(*self.conjunction), where, self._why(where))
        if where == "device":
            for constraint in self.conjunction:
                if _word(constraint) is None:
                    yield FitPart(
                        "constraint", _text(constraint), "software", "no equality: checked for each candidate"
                    )

    def _why(self, where: Where) -> str:
        found = f"{len(self.words)} {'equality' if len(self.words) == 1 else 'equalities'}"
        if not self.words:
            return "no equality, and the device compares nothing else"
        if not self.fits:
            return f"{found}, and the device takes {MOST} at most"
        return found if where == "device" else f"{found}, but another conjunction does not fit"


@dataclass(frozen=True, slots=True)
class Fit:
    """Which parts of a subscription can run on the device."""

    conjunctions: tuple[ConjunctionFit, ...]
    function: ContextFunction | None
    found: Box | None  # the function's box, on the plane or on the globe

    @property
    def is_on_device(self) -> bool:
        """Whether the subscription is registered on the device, if there is room."""
        return all(each.fits for each in self.conjunctions)

    @property
    def where(self) -> Where:
        """Whether the device or software finds its candidates."""
        return "device" if self.is_on_device else "software"

    @property
    def box(self) -> Box | None:
        """The box that the device tests, if there is one."""
        return self.found if self.found is not None and self.is_on_device and not self.found.is_geo else None

    def parts(self) -> Iterator[FitPart]:
        """Yield every part, from left to right."""
        for each in self.conjunctions:
            yield from each.parts(self.where)
        if self.function is not None:
            yield FitPart("context", str(self.function), "device" if self.box else "software", self._why_context())

    def _why_context(self) -> str:
        if not self.is_on_device:
            return "the filter is in software, and the context function is evaluated there"
        if self.found is None:
            return "no box around the subscriber (abs(pub.x - this.x) <= 20 and …) in clauses that must all be true"
        if self.found.is_geo:
            return "a box in metres on the globe, which is no box in degrees near the poles and at the 180th meridian"
        axes = " and ".join(f"pub.{axis.pub} around this.{axis.this}" for axis in self.found.axes)
        return f"a box: {axes}, each way {self.found.reach:g} at most, rounded outwards; checked for each candidate"


def fit(filter: Filter, function: ContextFunction | None = None) -> Fit:
    """Return which parts of a subscription can run on the device."""
    return Fit(
        tuple(ConjunctionFit(each, _words(each)) for each in conjunctions(filter.tree)),
        function,
        None if function is None else box_of(function.tree),
    )


def _words(conjunction: Conjunction) -> tuple[Word, ...]:
    words = (_word(constraint) for constraint in conjunction)
    return tuple(dict.fromkeys(word for word in words if word is not None))


def _word(constraint: Constraint) -> Word | None:
    """The word of an equality (`not a != 1` is one too); None for other constraints."""
    match constraint:
        case Constraint(tree.Compare("=", tree.Name(_, name), tree.Constant(kind, value)), False) | Constraint(
            tree.Compare("!=", tree.Name(_, name), tree.Constant(kind, value)), True
        ):
            return name, kind, value
        case _:
            return None


def _text(*constraints: Constraint) -> str:
    atoms = [tree.Not(each.atom) if each.negated else each.atom for each in constraints]
    return to_text(tree.conjunction(atoms))
