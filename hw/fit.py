"""What fits the device: of a filter the equalities of each conjunction, of a context function the box.

The device compares words and looks whether a position is in a box; both only choose candidates. A filter sits there
if each of its conjunctions has 1 to 16 different equalities, all of them or none: with one conjunction in software the
subscription would be looked at there anyway. Everything else that it says is left to `decision`. Whether there is
room is not asked here: `offload` finds out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from silbo.context.function import ContextFunction
from silbo.hw.words import Word
from silbo.language import tree
from silbo.language.text import to_text
from silbo.matching.boxes import Box, box_of
from silbo.matching.filter import Filter
from silbo.matching.normal_form import Conjunction, Constraint, conjunctions

MOST = 16  # filters of one subscription of the device

Where: TypeAlias = Literal["device", "software"]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a subscription, where it runs, and why: in plain words, for people."""

    what: Literal["conjunction", "constraint", "context"]
    text: str
    where: Where
    why: str


@dataclass(frozen=True, slots=True)
class ConjunctionFit:
    """A conjunction, and the different words that its equalities ask for."""

    conjunction: Conjunction
    words: tuple[Word, ...]

    @property
    def fits(self) -> bool:
        """Whether the device can be asked for it."""
        return 1 <= len(self.words) <= MOST

    def parts(self, where: Where) -> Iterator[Part]:
        """The conjunction, and what the device cannot tell of it."""
        yield Part("conjunction", _text(*self.conjunction), where, self._why(where))
        if where == "device":
            for constraint in self.conjunction:
                if _word(constraint) is None:
                    yield Part(
                        "constraint", _text(constraint), "software", "no equality: checked where the device says yes"
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
    """What of a subscription can run on the device."""

    conjunctions: tuple[ConjunctionFit, ...]
    function: ContextFunction | None
    found: Box | None  # in the function, of whatever kind

    @property
    def is_on_device(self) -> bool:
        """Whether the subscription sits on the device, if there is room."""
        return all(each.fits for each in self.conjunctions)

    @property
    def where(self) -> Where:
        """Where candidates of it are found."""
        return "device" if self.is_on_device else "software"

    @property
    def box(self) -> Box | None:
        """The box that the device looks into, if there is one."""
        return self.found if self.found is not None and self.is_on_device and not self.found.is_geo else None

    def parts(self) -> Iterator[Part]:
        """Every part, from left to right."""
        for each in self.conjunctions:
            yield from each.parts(self.where)
        if self.function is not None:
            yield Part("context", str(self.function), "device" if self.box else "software", self._why_context())

    def _why_context(self) -> str:
        if not self.is_on_device:
            return "the filter is in software, and its context is looked at there"
        if self.found is None:
            return "no box around the subscriber (abs(pub.x - this.x) <= 20 and …) in clauses that must all be true"
        if self.found.is_geo:
            return "a box in metres on the globe, which is none in degrees near the poles and where 180 meets -180"
        axes = " and ".join(f"pub.{axis.pub} around this.{axis.this}" for axis in self.found.axes)
        return (
            f"a box: {axes}, each way {self.found.reach:g} at most, rounded outwards; checked where the device says yes"
        )


def fit(filter: Filter, function: ContextFunction | None = None) -> Fit:
    """What of a subscription can run on the device."""
    return Fit(
        tuple(ConjunctionFit(each, _words(each)) for each in conjunctions(filter.tree)),
        function,
        None if function is None else box_of(function.tree),
    )


def _words(conjunction: Conjunction) -> tuple[Word, ...]:
    words = (_word(constraint) for constraint in conjunction)
    return tuple(dict.fromkeys(word for word in words if word is not None))


def _word(constraint: Constraint) -> Word | None:
    """The word that an equality asks for; `not a != 1` is one."""
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
