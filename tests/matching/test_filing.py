"""The conjunctions that a filter is filed as: without truths, and with short lists split by their members."""

import pytest

from silbo.language.text import to_text
from silbo.matching.fast.filing import filed
from silbo.matching.filter import Filter


def shown(text):
    """Each conjunction as a list of texts, a negated constraint after a `not`."""
    return [
        [("not " if negated else "") + to_text(atom) for atom, negated in conjunction]
        for conjunction in filed(Filter.of(text).tree)
    ]


@pytest.mark.parametrize(
    ("text", "conjunctions"),
    [
        ("a = 1", [["a = 1"]]),
        ("a = 1 and exists b", [["a = 1", "exists b"]]),
        ("not (a = 1 or b < 2)", [["not a = 1", "not b < 2"]]),
        ("(a = 1 or b = 2) and c = 3", [["a = 1", "c = 3"], ["b = 2", "c = 3"]]),
    ],
)
def test_a_filter_is_filed_as_its_normal_form(text, conjunctions):
    assert shown(text) == conjunctions


@pytest.mark.parametrize(
    ("text", "conjunctions"),
    [
        ("true", [[]]),
        ("not false", [[]]),
        ("true and a = 1", [["a = 1"]]),
        ("false", []),
        ("not true", []),
        ("a = 1 and false or b = 2", [["b = 2"]]),
        ("a in (1, 2) and true", [["a = 1"], ["a = 2"]]),
    ],
)
def test_what_is_always_true_and_what_is_never_true_are_not_filed(text, conjunctions):
    assert shown(text) == conjunctions


@pytest.mark.parametrize(
    ("text", "conjunctions"),
    [
        ("a in (1, 2) and b in (3, 4, 5)", [["a = 1", "b in (3, 4, 5)"], ["a = 2", "b in (3, 4, 5)"]]),
        ("a in (1, 1)", [["a = 1"]]),
        ("a in (1, 2) and b = 3", [["a in (1, 2)", "b = 3"]]),
        ("a not in (1, 2)", [["not a in (1, 2)"]]),
        ("a in (true, false)", [["a in (true, false)"]]),
    ],
)
def test_the_shortest_list_is_split_unless_an_equality_is_looked_up(text, conjunctions):
    assert shown(text) == conjunctions


def test_lists_that_make_too_many_conjunctions_are_not_split():
    five = " or ".join(f"a{i} in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)" for i in range(5))
    assert [len(conjunction) for conjunction in shown(five)] == [1] * 5
    assert len(shown(five.replace(", 12)", ")"))) == 60
