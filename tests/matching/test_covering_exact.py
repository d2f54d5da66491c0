"""Covering and disjointness against evaluation: every yes is right, and where the answer is exact no yes is missed."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable
from itertools import combinations, pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silbo.language.tree import And, Not, Or
from silbo.matching.covering.covers import covers, disjoint
from silbo.matching.filter import Filter
from silbo.matching.normal_form import Constraint, conjunctions

LARGEST = sys.float_info.max
HIGHEST = "\U0010ffff"
ORDER = ("<", "<=", ">", ">=")
EQUALITY = ("=", "!=")
PATTERNS = ("prefix", "suffix", "contains")


def examples(count: int) -> settings:
    # the same examples in every run, because some tests count the answers
    return settings(max_examples=count, derandomize=True, database=None, deadline=None)


def literal(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else repr(value)


def listed(*values: object) -> str:
    return f"({', '.join(map(literal, values))})"


# exactness: every pair of single constraints, against every value for which two of them could differ


def constraints(constants: Iterable[object], patterns: tuple[str, ...] = (), pairs: Iterable[tuple] = ()) -> list[str]:
    """Every constraint on x with these constants, and its negation."""
    atoms = ["exists x", "true"]
    for constant in constants:
        operators = EQUALITY if isinstance(constant, bool) else EQUALITY + ORDER
        atoms += [f"x {operator} {literal(constant)}" for operator in operators + patterns]
    atoms += [f"x in {listed(*pair)}" for pair in pairs]
    return atoms + [f"not ({atom})" for atom in atoms]


def bits(text: str, messages: list[dict]) -> int:
    """The messages that a filter selects, as the bits of a number."""
    selects = Filter.of(text).selects
    return sum(1 << i for i, message in enumerate(messages) if selects(message))


def shares(answers: list[tuple[bool, bool]]) -> tuple[float, float]:
    """The shares of covering and of disjoint pairs. If one of them is very small, little was tested."""
    covered, apart = (sum(column) / len(answers) for column in zip(*answers, strict=True))
    return covered, apart


def check_every_pair(texts: list[str], values: Iterable[object]) -> None:
    messages = [{}, *({"x": value} for value in values)]
    filters = [(Filter.of(text), bits(text, messages)) for text in texts]
    answers = []
    for (a, in_a), (b, in_b) in product(filters, repeat=2):
        covered, apart = in_b & ~in_a == 0, in_a & in_b == 0
        assert covers(a, b) is covered, (a, b)
        assert disjoint(a, b) is apart, (a, b)
        answers.append((covered, apart))
    assert all(0.05 < share < 0.95 for share in shares(answers))


OTHER_TYPES = (True, False, 0, "a")


@pytest.mark.parametrize(
    ("letters", "alphabet"),
    [
        ("bd", "abcde"),
        ("\0a", "\0\1ab"),
        ("\0" + HIGHEST, "\0\1\U0010fffe" + HIGHEST),
        ("\U0010fffe" + HIGHEST, "\0\U0010fffd\U0010fffe" + HIGHEST),
        ("\ud7ff\ue000", "\0\ud7fe\ud7ff\ue000\ue001"),
    ],
)
def test_every_pair_of_constraints_on_strings_is_decided_exactly(letters: str, alphabet: str):
    constants = words(letters, 2)
    filters = constraints(constants, PATTERNS, pairwise(constants))
    # two letters longer than the constants, so that a value can begin with one constant and end with another
    check_every_pair(filters, (*OTHER_TYPES, *words(alphabet, 4)))


FRAGMENTS = [
    f"{sign}x {pattern} {literal(text)}"
    for sign, pattern, text in product(("", "not "), ("suffix", "contains"), ("a", "\0", "a\0", "\0a", "\0\0", "a\0\0"))
]


@pytest.mark.parametrize("start", ["", "a", "\0", "a\0", "\0a"])
@pytest.mark.parametrize("length", [1, 2, 4])
def test_ranges_of_few_strings_are_decided_string_by_string(start: str, length: int):
    messages = [{"x": start + "\0" * i} for i in range(length)]
    few = f"x >= {literal(start)} and x < {literal(start + chr(0) * length)}"
    for first, second in product(["true", *FRAGMENTS], FRAGMENTS):
        in_first, in_second = bits(first, messages), bits(second, messages)
        assert covers(second, f"{few} and {first}") is (in_first & ~in_second == 0)
        assert disjoint(second, f"{few} and {first}") is (in_first & in_second == 0)


def words(alphabet: str, longest: int) -> list[str]:
    return ["".join(word) for length in range(longest + 1) for word in product(alphabet, repeat=length)]


NUMBERS = (
    -LARGEST,
    -(2**63),
    -1,
    0,
    5e-324,
    1,
    1.0000000000000002,
    2**53,
    2**53 + 1,
    2**53 + 2,
    2**63 - 1,
    2.0**63,
    LARGEST,
)


def test_every_pair_of_constraints_on_numbers_is_decided_exactly():
    filters = constraints(NUMBERS, (), pairwise(NUMBERS))
    check_every_pair(filters, (*OTHER_TYPES, *(near for number in NUMBERS for near in numbers_near(number))))


def numbers_near(number: float) -> set[float]:
    near = {math.nextafter(float(number), direction) for direction in (-math.inf, math.inf)}
    whole = {math.floor(number) + step for step in (-2, -1, 0, 1, 2)}
    return {number, *filter(math.isfinite, near), *(each for each in whole if -(2**63) <= each < 2**63)}


MIXED = constraints((1, "b", True), (), ((1, 2), ("b", "c"), (True, False))) + [
    f"{sign}x {pattern} {literal(text)}" for sign in ("", "not ") for pattern in PATTERNS for text in ("", "b")
]
MIXED_VALUES = (True, False, 0, 0.5, 1, 1.5, 2, 3, "", "a", "b", "ab", "ba", "aba", "bab", "bb", "c", "cb", "ca", "d")


def test_every_pair_of_constraints_of_different_types_is_decided_exactly():
    check_every_pair(MIXED, MIXED_VALUES)


MIXED_BITS = {text: bits(text, [{}, *({"x": value} for value in MIXED_VALUES)]) for text in MIXED}
ONE_EACH = st.dictionaries(st.sampled_from("xyz"), st.sampled_from(MIXED), min_size=1)


def on(name: str, constraint: str) -> str:
    """The constraint on x, changed to another attribute."""
    return re.sub(r"\bx\b", name, constraint)


def conjunction(constraint_of: dict[str, str]) -> str:
    return " and ".join(on(name, text) for name, text in constraint_of.items())


def test_conjunctions_with_one_constraint_on_each_attribute_are_decided_exactly():
    answers = []

    @examples(400)
    @given(ONE_EACH, ONE_EACH, st.booleans())
    def check(general: dict[str, str], specific: dict[str, str], derived: bool) -> None:
        if derived:
            specific = {**general, **specific}
        a, b = ({name: MIXED_BITS[text] for name, text in each.items()} for each in (general, specific))
        empty = not all(b.values())
        anything = MIXED_BITS["true"]
        covered = empty or all(b.get(name, anything) & ~bits == 0 for name, bits in a.items())
        apart = empty or not all(bits & b.get(name, anything) for name, bits in a.items())
        assert covers(conjunction(general), conjunction(specific)) is covered
        assert disjoint(conjunction(general), conjunction(specific)) is apart
        answers.append((covered, apart))

    check()
    assert all(0.1 < share < 0.9 for share in shares(answers))


# soundness: any filters, against every message of a small world


LETTERS = words("bd", 2)
ATOMS = constraints((0, 1, 1.5, *LETTERS, True), (), ((0, 1), ("b", "bd", "db"))) + [
    f"{sign}x {pattern} {literal(text)}" for sign in ("", "not ") for pattern in PATTERNS for text in LETTERS[1:]
]
WORLD = [None, True, False, -1, 0, 0.5, 1, 1.25, 1.5, 2, *words("bd", 4), "a", "bc", "bcd", "dc", "dcb", "e"]
MESSAGES = [
    {name: value for name, value in (("x", x), ("y", y)) if value is not None} for x, y in product(WORLD, WORLD[::4])
]

named = st.builds(on, st.sampled_from("xxy"), st.sampled_from(ATOMS))
conditions = st.recursive(
    named,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(("and", "or")), inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=6,
)


def check_sound(a: str, b: str) -> tuple[bool, bool]:
    """The answers of `covers` and `disjoint`; each yes is checked with every message."""
    covered, apart = covers(a, b), disjoint(a, b)
    if covered or apart:
        first, second = Filter.of(a), Filter.of(b)
        for message in filter(second.selects, MESSAGES):
            assert not covered or first.selects(message), (a, b, message)
            assert not apart or not first.selects(message), (a, b, message)
    return covered, apart


def test_no_message_contradicts_an_answer_about_filters_of_any_shape():
    answers = []

    @examples(200)
    @given(conditions, conditions)
    def check(a: str, b: str) -> None:
        answers.append(check_sound(a, b))

    check()
    assert all(share > 0.05 for share in shares(answers))


TELLING = [{}, *({"x": value} for value in (*WORLD[1:], *words("abcde", 4)))]
BITS = {atom: bits(atom, TELLING) for atom in ATOMS}
NARROWER = {a: [b for b in ATOMS if BITS[b] & ~BITS[a] == 0] for a in ATOMS}
EXCLUDED = {a: [b for b in ATOMS if BITS[b] & BITS[a] == 0] for a in ATOMS}

rows = st.lists(
    st.lists(st.tuples(st.sampled_from("xxy"), st.sampled_from(ATOMS)), min_size=1, max_size=3), min_size=1, max_size=3
)


def text_of(alternatives: list[list[tuple[str, str]]]) -> str:
    return " or ".join(" and ".join(on(name, atom) for name, atom in row) for row in alternatives)


@st.composite
def tightened(draw: st.DrawFn) -> tuple[str, str]:
    """A filter, and a tighter one derived from it: fewer alternatives, narrower constraints, additional constraints."""
    general = draw(rows)
    kept = draw(st.lists(st.sampled_from(general), min_size=1, max_size=3))
    narrowed = [[(name, draw(st.sampled_from(NARROWER[atom]))) for name, atom in row] for row in kept]
    added = [draw(st.lists(st.tuples(st.sampled_from("xy"), st.sampled_from(ATOMS)), max_size=2)) for _ in kept]
    return text_of(general), text_of([draw(st.permutations(a + b)) for a, b in zip(narrowed, added, strict=True)])


@examples(100)
@given(tightened())
def test_a_filter_covers_every_tightened_form_of_it(pair: tuple[str, str]):
    general, specific = pair
    assert check_sound(general, specific)[0]


@st.composite
def split(draw: st.DrawFn) -> tuple[str, str]:
    """Two filters, each with a constraint that excludes the other's."""
    name, atom = draw(st.sampled_from("xy")), draw(st.sampled_from([each for each in ATOMS if EXCLUDED[each]]))
    excluded = draw(st.sampled_from(EXCLUDED[atom]))
    return f"({text_of(draw(rows))}) and {on(name, atom)}", f"{on(name, excluded)} and ({text_of(draw(rows))})"


@examples(100)
@given(split())
def test_filters_with_constraints_that_exclude_each_other_are_disjoint(pair: tuple[str, str]):
    assert check_sound(*pair)[1]
    assert disjoint(*reversed(pair))


constants = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(2**53 - 2, 2**53 + 2),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=4),
    st.text(alphabet="\0a\ud7ff\ue000" + HIGHEST, max_size=4),
    st.booleans(),
)


def near(constant: object) -> Iterable[object]:
    """Values close to a constant; for a string also those that begin with it, contain it, or end with it."""
    if isinstance(constant, bool):
        return (True, False)
    if not isinstance(constant, str):
        return numbers_near(constant)
    around = ("", "\0", "a", HIGHEST)
    return {constant[:-1], constant[1:], *(before + constant + after for before in around for after in around)}


@st.composite
def close_pairs(draw: st.DrawFn) -> tuple[str, str, list[dict]]:
    """Two filters over the same few constants, and the messages near them."""
    shared = draw(st.lists(constants, min_size=1, max_size=3))
    strings = [each for each in shared if isinstance(each, str)]
    pool = constraints(shared, (), combinations(strings, 2))
    pool += [f"{sign}x {p} {literal(each)}" for sign in ("", "not ") for p in PATTERNS for each in strings]
    both = [" and ".join(draw(st.lists(st.sampled_from(pool), min_size=1, max_size=3))) for _ in range(2)]
    return *both, [{}, *({"x": value} for constant in shared for value in near(constant))]


def test_no_message_near_the_constants_contradicts_an_answer():
    answers = []

    @examples(200)
    @given(close_pairs())
    def check(pair: tuple[str, str, list[dict]]) -> None:
        a, b, messages = pair
        covered, apart = covers(a, b), disjoint(a, b)
        for message in filter(Filter.of(b).selects, messages):
            assert not covered or Filter.of(a).selects(message)
            assert not apart or not Filter.of(a).selects(message)
        answers.append((covered, apart))

    check()
    assert all(share > 0.1 for share in shares(answers))


@examples(100)
@given(conditions)
def test_the_normal_form_selects_the_same_messages_as_the_filter(text: str):
    original = Filter.of(text)
    form = Filter(Or(tuple(And(tuple(map(condition, row))) for row in conjunctions(original.tree))), text)
    assert all(form.selects(message) is original.selects(message) for message in MESSAGES[::3])


def condition(constraint: Constraint):
    return Not(constraint.atom) if constraint.negated else constraint.atom
