"""Encode filters and events as words in a stream, which the index passes to the kernels.

A conjunction becomes a block of constraints, followed by its lists and strings; a publication becomes a
head, the scalars of its known attributes and of the publisher's known variables, and the bytes of its strings.
Names that no filter and no function mentions are left out, since nothing reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from silbo.context.scalars import EXACT, bool_mask, encoded_number, listed, set_block
from silbo.language import tree
from silbo.matching.fast.kernels import layout
from silbo.matching.fast.names import Names
from silbo.matching.normal_form import FilterAtom
from silbo.model.geometry import Geometry
from silbo.model.values import Attributes, Context, Scalar, ValueSet

Literal: TypeAlias = tuple[FilterAtom, bool]  # an atom, and whether it is negated: then it must be false

Numbers: TypeAlias = np.ndarray[Any, Any]

IS_NUMBER, IS_BOOL, IS_STRING = layout.NUMBER << layout.KIND, layout.BOOL << layout.KIND, layout.STRING << layout.KIND

NUMBERS = {
    "=": layout.N_EQ,
    "!=": layout.N_NE,
    "<": layout.N_LT,
    "<=": layout.N_LE,
    ">": layout.N_GT,
    ">=": layout.N_GE,
}
STRINGS = {
    "=": layout.S_EQ,
    "!=": layout.S_NE,
    "<": layout.S_LT,
    "<=": layout.S_LE,
    ">": layout.S_GT,
    ">=": layout.S_GE,
}
PATTERNS = {
    ("prefix", False): layout.S_BEGINS,
    ("suffix", False): layout.S_ENDS,
    ("contains", False): layout.S_HOLDS,
    ("prefix", True): layout.S_NOT_BEGINS,
    ("suffix", True): layout.S_NOT_ENDS,
    ("contains", True): layout.S_NOT_HOLDS,
}
OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


class Encoder:
    """Writes into its own stream. Only names in `attributes` and `variables` are encoded."""

    def __init__(self, attributes: Names, variables: Names, size: int = 4_096) -> None:
        self.attributes = attributes
        self.variables = variables
        self.stream = np.zeros(size, np.int64)
        self._view()

    def _view(self) -> None:
        # memoryviews write single items several times as fast as arrays
        self._words: Any = self.stream.data
        self._doubles: Any = self.stream.view(np.float64).data
        self._bytes: Any = self.stream.view(np.uint8).data

    def make_room(self, words: int) -> None:
        """Enlarge the stream, to this size at least."""
        stream = np.zeros(max(words, 2 * self.stream.size), np.int64)
        stream[: self.stream.size] = self.stream
        self.stream = stream
        self._view()

    # conjunctions

    def conjunction(self, constraints: Sequence[Literal]) -> tuple[int, int]:
        """Write a conjunction's block at the beginning of the stream; returns its numbers of constraints and words."""
        end = len(constraints) * layout.CONSTRAINT
        if end > len(self._words):
            self.make_room(end)
        for i, (atom, negated) in enumerate(constraints):
            end = self._constraint(atom, negated, i * layout.CONSTRAINT, end)
        return len(constraints), end

    def _constraint(self, atom: FilterAtom, negated: bool, at: int, end: int) -> int:
        """Write one constraint; returns the new end of the block."""
        if type(atom) is tree.Compare and atom.right.kind == "number" and not negated:  # type: ignore[union-attr]
            # most constraints have this form: a few look-ups are faster than the `match` statement
            value: Any = atom.right.value  # type: ignore[union-attr]
            number = self.attributes.ids[atom.left.name]  # type: ignore[union-attr]
            if -EXACT <= value <= EXACT:
                self._words[at] = number | NUMBERS[atom.operator] << layout.KIND
                self._doubles[at + 1] = value
                return end
        match atom:
            case tree.Compare(operator, tree.Name(_, name), tree.Constant(kind, value)):
                return self._comparison(OPPOSITE[operator] if negated else operator, name, kind, value, at, end)
            case tree.Pattern(operator, tree.Name(_, name), tree.Constant(_, value)):
                return self._text(PATTERNS[operator, negated], name, str(value), at, end)
            case tree.In(tree.Name(_, name), tuple() as members):
                return self._membership(name, members, at, end, negated=negated)
            case tree.Exists(tree.Name(_, name)):
                self._put(at, self.attributes.ids[name], layout.MISSING if negated else layout.EXISTS)
                return end
            case _:
                raise AssertionError(f"a filter cannot contain {atom}")

    def _put(self, at: int, attribute: int, operator: int, payload: int = 0) -> None:
        self._words[at] = attribute | operator << layout.KIND
        self._words[at + 1] = payload

    def _comparison(self, operator: str, name: str, kind: str, value: Any, at: int, end: int) -> int:
        if kind == "number":
            number, residue = encoded_number(value)
            self._words[at] = self.attributes.ids[name] | NUMBERS[operator] << layout.KIND | residue << layout.RESIDUE
            self._doubles[at + 1] = number
            return end
        if kind == "bool":
            admitted = value is (operator == "=")
            self._put(at, self.attributes.ids[name], layout.B_IN, 1 << int(admitted))
            return end
        return self._text(STRINGS[operator], name, value, at, end)

    def _text(self, operator: int, name: str, value: str, at: int, end: int) -> int:
        data = value.encode()
        start, size = (end + 1) * 8, len(data)
        self._put(at, self.attributes.ids[name], operator, start | size << 32)
        following = end + 1 + -(-size // 8)
        if following > len(self._words):
            self.make_room(following)
        self._words[following - 1] = 0  # the last word is padded with zeros
        self._words[end] = hash(value)
        self._bytes[start : start + size] = data
        return following

    def _membership(self, name: str, members: tuple[tree.Constant, ...], at: int, end: int, *, negated: bool) -> int:
        values: Sequence[Scalar] = list(dict.fromkeys(member.value for member in members))
        kind = members[0].kind
        if kind == "bool":
            mask = int(bool_mask(values))
            self._put(at, self.attributes.ids[name], layout.B_IN, 3 - mask if negated else mask)
            return end
        code = layout.NUMBER if kind == "number" else layout.STRING
        operator = (
            (layout.N_NOT_IN if negated else layout.N_IN)
            if kind == "number"
            else (layout.S_NOT_IN if negated else layout.S_IN)
        )
        self._put(at, self.attributes.ids[name], operator, end | len(values) << 32)
        return self._append(listed(code, values, end), end)

    def _append(self, block: np.ndarray[Any, Any], end: int) -> int:
        if end + block.size > len(self._words):
            self.make_room(end + block.size)
        self.stream[end : end + block.size] = block
        return end + block.size

    # events

    def context(self, row: int, cells: Sequence[tuple[int, float]], at: int) -> int:
        """Write a change of floats in a row's cells, given by their columns; returns where it ends."""
        end = at + layout.HEAD + layout.SCALAR * len(cells)
        if end > len(self._words):
            self.make_room(end)
        words = self._words
        words[at] = layout.SET_CONTEXT | len(cells) << 8 | row << 32
        words[at + 1] = end - at
        for i, (column, value) in enumerate(cells):
            here = at + layout.HEAD + layout.SCALAR * i
            words[here] = column
            self._doubles[here + 1] = value
            words[here + 2] = IS_NUMBER
        return end

    def contexts(self, rows: Numbers, columns: Sequence[tuple[int, Numbers]], at: int) -> int:
        """Write changes of floats in many rows, one event each; returns where they end."""
        length = layout.HEAD + layout.SCALAR * len(columns)
        end = at + length * rows.size
        if end > len(self._words):
            self.make_room(end)
        events = self.stream[at:end].reshape(rows.size, length)
        events[:, 0] = layout.SET_CONTEXT | len(columns) << 8 | rows.astype(np.int64) << 32
        events[:, 1] = length
        for i, (column, values) in enumerate(columns):
            here = layout.HEAD + layout.SCALAR * i
            events[:, here] = column
            events[:, here + 1] = np.ascontiguousarray(values, np.float64).view(np.int64)
            events[:, here + 2] = IS_NUMBER
        return end

    def publication(self, attributes: Attributes, offered: Context, at: int = 0, *, pause: bool = False) -> int:
        """Write a publication at word `at` of the stream; returns where it ends."""
        try:
            return self._publication(attributes, offered, at, pause)
        except (IndexError, ValueError):
            # the stream was too short; if that is not the reason, the second try raises again
            self.make_room(at + _most_words(attributes, offered))
            return self._publication(attributes, offered, at, pause)

    def _publication(self, attributes: Attributes, offered: Context, at: int, pause: bool) -> int:
        first = at + layout.HEAD
        text = (first + layout.SCALAR * (len(attributes) + len(offered))) * 8
        known, text = self._scalars(attributes, self.attributes.numbers, first, text)
        sent = 0
        if offered and self.variables.numbers:
            sent, text = self._scalars(offered, self.variables.numbers, first + known * layout.SCALAR, text)
        end = (text + 7) // 8
        self._words[at] = layout.PUBLISH | known << 8 | sent << 24 | int(pause) << layout.FLAGS
        self._words[at + 1] = end - at
        self._words[end - 1]  # raises IndexError if the stream is too short
        return end

    def _scalars(self, values: Mapping[str, Any], metas: Mapping[str, int], at: int, text: int) -> tuple[int, int]:
        """Write the values whose names have ids; returns how many, and where the text ends.

        It is one loop with local names, numbers first, because it runs for every publish.
        """
        words, doubles = self._words, self._doubles
        first = at
        for name, value in values.items():
            meta = metas.get(name)
            if meta is None:
                continue
            kind = type(value)
            if kind is float:
                words[at] = meta
                doubles[at + 1] = value
            elif kind is int:
                words[at] = meta
                doubles[at + 1] = value
                if not -EXACT <= value <= EXACT:
                    words[at] = meta | encoded_number(value)[1] << layout.RESIDUE
            elif kind is str:
                data = value.encode()
                words[at] = meta ^ IS_NUMBER | IS_STRING
                words[at + 1] = hash(value)
                words[at + 2] = text | len(data) << 32
                self._bytes[text : text + len(data)] = data
                text += len(data)
            elif kind is bool:
                words[at] = meta ^ IS_NUMBER | IS_BOOL
                words[at + 1] = int(value)
            else:
                text = self._block(value, meta ^ IS_NUMBER, at, text)  # the id alone
            at += layout.SCALAR
        return (at - first) // layout.SCALAR, text

    def _block(self, value: ValueSet | Geometry, number: int, at: int, text: int) -> int:
        """Write a publisher's set or geometry; returns where the text ends."""
        start = (text + 7) // 8
        self._words[at + 2] = start
        if isinstance(value, Geometry):
            self._words[at] = number | layout.SHAPE << layout.KIND
            for i, bound in enumerate(value.bounds, start):
                self._doubles[i] = bound
            return (start + 4) * 8
        self._words[at] = number | layout.SET << layout.KIND
        block = set_block(value)
        if start + block.size > len(self._words):
            raise IndexError
        self.stream[start : start + block.size] = block
        return (start + block.size) * 8


def _most_words(attributes: Attributes, offered: Context) -> int:
    """The most words that a publication can need."""
    values = [*attributes.values(), *offered.values()]
    members = [each for value in values if isinstance(value, ValueSet) for each in value]
    text = sum(4 * len(value) + 8 for value in (*values, *members) if isinstance(value, str))
    return layout.HEAD + 16 * len(values) + 2 * len(members) + text // 8 + 16
