"""Words: two values are one word exactly where the language calls them equal."""

import pytest
from hypothesis import given

from silbo.hw.offload.words import Words
from silbo.language import tree
from silbo.matching.filter import Filter
from silbo.model.values import KINDS
from silbo.testing.strategies import scalars


@given(scalars(), scalars())
def test_two_values_are_one_word_exactly_where_the_language_calls_them_equal(a, b):
    words = Words()
    words.take(("n", KINDS[type(a)], a))
    equal = Filter(tree.Compare("=", tree.Name("attribute", "n"), tree.Constant(KINDS[type(a)], a)), "n = …")
    assert bool(words.of({"n": b})) == equal.selects({"n": b})


@pytest.mark.parametrize(("a", "b"), [(1, 1.0), (0, -0.0), (2**53, float(2**53)), ("x", "x"), (True, True)])
def test_one_word(a, b):
    words = Words()
    assert words.of({"n": b}) == []
    assert [words.take(("n", KINDS[type(a)], a))] == words.of({"n": b})


@pytest.mark.parametrize(("a", "b"), [(1, True), (0, False), ("1", 1), (2**53 + 1, float(2**53)), ("a", "a ")])
def test_two_words(a, b):
    words = Words()
    words.take(("n", KINDS[type(a)], a))
    assert words.of({"n": b}) == []


def test_a_word_is_forgotten_with_its_last_user_and_its_number_is_used_again():
    words = Words()
    number = words.take(("a", "number", 1))
    assert words.take(("a", "number", 1.0)) == number
    other = words.take(("b", "number", 1))
    words.release(("a", "number", 1))
    assert sorted(words.of({"a": 1, "b": 1, "c": 1})) == sorted([number, other])
    words.release(("a", "number", 1))
    assert words.of({"a": 1, "b": 1}) == [other]
    assert words.take(("c", "string", "x")) == number
    assert words.of({"a": 1}) == []
    assert len(words) == 2
