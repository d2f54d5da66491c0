"""Content that consists of strings: prefixes, suffixes, substrings and whole words, with the names of `numbers`.

Words are made of syllables, so that a pattern selects some of them. Half of the words in messages have a random number
appended, so that the index has not seen them before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from silbo.bench.numbers import attribute, attribute_name, drawn_names
from silbo.language import tree
from silbo.matching.filter import Filter

if TYPE_CHECKING:
    import numpy as np

    from silbo.model.values import Scalar

WORDS = 1_000
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou"]
CONSTRAINTS, ATTRIBUTES = 4, 16  # the most of a filter, and of a message
OPERATORS = ("prefix", "suffix", "contains", "=")


def vocabulary(chance: np.random.Generator) -> list[str]:
    """Words of three to five syllables."""
    return ["".join(chance.choice(SYLLABLES, chance.integers(3, 6))) for _ in range(WORDS)]


def string_filters(chance: np.random.Generator, words: list[str], count: int) -> list[Filter]:
    """Conjunctions of patterns over distinct attributes."""
    names = drawn_names(chance, chance.integers(1, CONSTRAINTS + 1, count))
    return [_conjunction(chance, words, each) for each in names]


def string_messages(chance: np.random.Generator, words: list[str], count: int) -> list[dict[str, Scalar]]:
    """Messages with distinct attributes whose values are words."""
    names = drawn_names(chance, chance.integers(1, ATTRIBUTES + 1, count))
    return [{attribute_name(name): _said(chance, words) for name in each} for each in names]


def _said(chance: np.random.Generator, words: list[str]) -> str:
    word = words[chance.integers(WORDS)]
    return word if chance.random() < 0.5 else f"{word}{chance.integers(10**9)}"


def _conjunction(chance: np.random.Generator, words: list[str], names: list[int]) -> Filter:
    atoms = tuple(_pattern(words, name, draw) for name, draw in zip(names, chance.random((len(names), 3)), strict=True))
    text = " and ".join(f'{atom.left.name} {atom.operator} "{atom.right.value}"' for atom in atoms)  # type: ignore[union-attr]
    return Filter(atoms[0] if len(atoms) == 1 else tree.And(atoms), text)


def _pattern(
    words: list[str], name: int, draw: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> tree.Compare | tree.Pattern:
    """A constraint with one of the four operators, and a matching part of a word."""
    word = words[int(draw[0] * WORDS)]
    size = 2 + int(draw[1] * 3)
    match OPERATORS[int(draw[2] * len(OPERATORS))]:
        case "prefix":
            return tree.Pattern("prefix", attribute(name), tree.Constant("string", word[:size]))
        case "suffix":
            return tree.Pattern("suffix", attribute(name), tree.Constant("string", word[-size:]))
        case "contains":
            return tree.Pattern("contains", attribute(name), tree.Constant("string", word[1 : 1 + size]))
        case _:
            return tree.Compare("=", attribute(name), tree.Constant("string", word))
