"""Covering and disjointness: whether a filter selects every message that another one selects, or none of them."""

from __future__ import annotations

import json
import sys

from silbo.language.form import attr
from silbo.matching.covering.covers import covers, disjoint
from silbo.matching.filter import Filter
from silbo.matching.normal_form import conjunctions

LARGEST = sys.float_info.max
HIGHEST = "\U0010ffff"
PATTERNS = ("prefix", "suffix", "contains")


def literal(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else repr(value)


def listed(*values: object) -> str:
    return f"({', '.join(map(literal, values))})"


def same(a: str, b: str) -> bool:
    return covers(a, b) and covers(b, a)


# numbers


def test_a_lower_bound_covers_every_higher_one():
    assert covers("x > 1", "x > 2")
    assert not covers("x > 2", "x > 1")


def test_a_closed_bound_covers_the_open_one_at_the_same_number():
    assert covers("x >= 1", "x > 1")
    assert not covers("x > 1", "x >= 1")


def test_an_open_bound_is_the_closed_one_at_the_next_number():
    assert same("x >= 1.0000000000000002", "x > 1.0")
    assert same("x > 0", "x >= 5e-324")
    assert disjoint("x > 1.0", "x < 1.0000000000000002")


def test_integers_between_two_doubles_count():
    assert not disjoint("x > 9007199254740992", "x < 9007199254740994")
    assert same("x > 9007199254740992 and x < 9007199254740994", "x = 9007199254740993")
    assert same("x > 9223372036854775807", "x >= 9223372036854775808.0")
    assert same("x < -9223372036854775808", "x <= -9223372036854777856.0")


def test_nothing_lies_beyond_the_largest_double():
    for nothing in (f"x > {LARGEST!r}", f"x < {-LARGEST!r}"):
        assert covers("false", nothing)
        assert disjoint("true", nothing)
    assert covers(f"x <= {LARGEST!r}", "x != 5")
    assert same(f"x < {LARGEST!r}", f"x != {LARGEST!r}")


def test_the_type_of_a_number_and_the_sign_of_zero_do_not_matter():
    assert same("x = 1", "x = 1.0")
    assert same("x >= 0", "x >= -0.0")
    assert not covers("x = 9007199254740993", "x = 9007199254740992.0")


def test_inequality_covers_filters_that_exclude_the_number():
    assert covers("x != 5", "x > 5")
    assert covers("x != 5", "x in (1, 2)")
    assert not covers("x != 5", "x >= 5")
    assert covers("x != 5", "x not in (4, 5, 6)")


def test_a_list_covers_its_members_and_lies_within_its_bounds():
    assert covers("x in (1, 2, 3)", "x in (3, 1, 1)")
    assert covers("x in (1, 2, 3)", "x = 2.0")
    assert covers("x <= 3", "x in (1, 2, 3)")
    assert not covers("x < 3", "x in (1, 2, 3)")
    assert disjoint("x in (1, 2, 3)", "x not in (1, 2, 3)")
    assert same("x in (0, 5e-324)", "x >= 0 and x <= 5e-324")


# strings


def test_a_prefix_covers_every_longer_prefix():
    assert covers('x prefix "ab"', 'x prefix "abc"')
    assert not covers('x prefix "abc"', 'x prefix "ab"')
    assert disjoint('x prefix "ab"', 'x prefix "ac"')


def test_a_prefix_is_a_range_of_strings():
    assert same('x prefix "ab"', 'x >= "ab" and x < "ac"')
    assert covers('x prefix "ab"', 'x in ("ab", "abz")')
    assert disjoint('x prefix "ab"', 'x < "ab"')


def test_a_prefix_of_the_highest_character_has_no_upper_bound():
    assert same(f"x prefix {literal(HIGHEST)}", f"x >= {literal(HIGHEST)}")
    assert same(f"x prefix {literal('a' + HIGHEST)}", f"x >= {literal('a' + HIGHEST)} and x < {literal('b')}")


def test_the_surrogates_are_no_gap_between_two_characters():
    assert same('x prefix "a\ud7ff"', 'x >= "a\ud7ff" and x < "a\ue000"')
    assert disjoint('x > "\ud7ff" and not x prefix "\ud7ff"', 'x < "\ue000"')


def test_the_next_string_ends_with_nul():
    assert same('x > "a"', r'x >= "a\u0000"')
    assert disjoint('x > "a"', r'x < "a\u0000"')
    assert same(r'x <= "a\u0000\u0000" and x >= "a"', r'x in ("a", "a\u0000", "a\u0000\u0000")')


def test_every_string_begins_with_ends_with_and_contains_the_empty_one():
    for pattern in PATTERNS:
        assert same(f'x {pattern} ""', 'x >= ""')
        assert covers("false", f'not (x {pattern} "")')
    assert covers("false", 'x < ""')


def test_a_suffix_covers_every_longer_suffix():
    assert covers('x suffix "c"', 'x suffix "bc"')
    assert not covers('x suffix "bc"', 'x suffix "c"')
    assert disjoint('x suffix "ac"', 'x suffix "bc"')
    assert disjoint('x suffix "bc"', 'not (x suffix "c")')


def test_contains_covers_filters_whose_strings_always_contain_the_part():
    for specific in ('x = "abc"', 'x prefix "abc"', 'x suffix "abc"', 'x contains "abc"', 'x in ("b", "bb")'):
        assert covers('x contains "b"', specific)
        assert disjoint('not (x contains "b")', specific)
    assert not covers('x contains "b"', 'x >= "b"')
    assert not covers('x suffix "b"', 'x contains "b"')


def test_contains_covers_a_range_in_which_every_string_has_the_part():
    assert covers('x contains "b"', r'x >= "ab" and x < "ac"')
    assert not covers('x contains "b"', 'x >= "ab" and x <= "ac"')
    assert covers(f"x contains {literal(HIGHEST)}", f"x >= {literal(HIGHEST)}")
    assert not covers(f"x contains {literal(HIGHEST * 2)}", f"x >= {literal(HIGHEST)}")


def test_negation_reverses_covering():
    assert covers('not (x contains "ab")', 'not (x contains "a")')
    assert covers('not (x suffix "ab")', 'not (x suffix "b")')
    assert covers('not (x suffix "b")', 'not (x contains "b")')
    assert covers('x != "ab"', 'not (x contains "a")')
    assert not covers('not (x contains "a")', 'not (x contains "ab")')


def test_a_list_is_narrowed_by_every_other_constraint():
    assert covers('x = "ab"', 'x in ("ab", "b", "ac") and x contains "a" and x suffix "b"')
    assert covers("false", 'x in ("ab", "b") and not (x contains "b")')
    assert disjoint(r'x <= "\u0000\u0000\u0000" and x suffix "\u0000\u0000"', 'x in ("", "a")')


# types, absence, bools, constants


def test_a_comparison_is_true_only_for_values_of_its_type():
    assert disjoint("x != 5", 'x != "a"')
    assert disjoint("x != 5", "x != true")
    assert disjoint('not (x prefix "a")', "not (x = 1)")
    assert not covers("x != 5", 'x = "a"')
    assert covers("false", 'x = 1 and x = "1"')


def test_only_exists_covers_values_of_every_type():
    for specific in ("x = 1", "x != true", 'x prefix "a"', 'not (x contains "a")', "x not in (1, 2)"):
        assert covers("exists x", specific)
        assert disjoint("not exists x", specific)
        assert not covers(specific, "exists x")
    assert not covers("exists x", "exists y")


def test_nothing_but_not_exists_and_true_covers_an_absent_name():
    assert covers("true", "not exists x")
    assert covers("not exists x", "not exists x and y = 1")
    assert covers("false", "not exists x and x != 1")
    for general in ("not (x = 1)", "exists x", 'not (x suffix "a")', "x not in (true, false)"):
        assert not covers(general, "not exists x")


def test_bools_are_two_values_and_not_numbers():
    assert same("x != true", "x = false")
    assert same("x in (true)", "not (x = false)")
    assert covers("false", "x not in (true, false)")
    assert disjoint("x = 1", "x = true")


def test_true_covers_everything_and_false_is_covered_by_everything():
    assert covers("true", "x = 1")
    assert not covers("x = 1", "true")
    assert covers("x = 1", "false")
    assert covers("x = 1", "not true or x = 1 and true")
    assert disjoint("false", "true")
    assert not disjoint("true", "true")


# conjunctions and alternatives


def test_more_constraints_are_covered_by_fewer():
    assert covers("x > 1", 'x > 1 and y = "a"')
    assert not covers('x > 1 and y = "a"', "x > 1")
    assert disjoint("x > 1 and y = 1", "x > 1 and y = 2")
    assert not disjoint("x > 1", "y = 2")


def test_a_conjunction_that_selects_nothing_is_covered_and_disjoint():
    assert covers("y = 1", "x > 2 and x < 1")
    assert covers("y = 1", 'x > 2 and x < 1 or y = 1 and z = "a"')
    assert disjoint("true", 'x suffix "a" and x suffix "b"')


def test_every_alternative_must_be_covered():
    assert covers("x > 0 or y = 1", "x > 5 or y = 1 and z = 2")
    assert not covers("x > 0 or y = 1", "x > 5 or z = 2")
    assert disjoint("x = 1 or x = 2", "x = 3 or x = 4")
    assert not disjoint("x = 1 or x = 2", "x = 3 or x = 2")


def test_filters_in_python_and_parsed_filters_are_compared_like_text():
    assert covers(attr.x > 1, Filter.of("x > 2"))
    assert disjoint(Filter.of("x > 1"), ~(attr.x > 1))


# the normal form


def test_the_normal_form_has_the_conjunctions_from_left_to_right():
    tree = Filter.of("not (a = 1 and exists b) and (c < 2 or true)").tree
    shown = [[(each.attribute, each.negated) for each in row] for row in conjunctions(tree)]
    assert shown == [
        [("a", True), ("c", False)],
        [("a", True), (None, False)],
        [("b", True), ("c", False)],
        [("b", True), (None, False)],
    ]


# the largest filters


def characters(first: int, count: int, step: int = 1) -> list[str]:
    return [chr(0x100 + i) for i in range(first, first + count * step, step)]


def test_the_largest_filters_are_compared_without_a_blow_up():
    def varied(members: list[str], first: int) -> str:
        parts = " or ".join(f"not x contains {literal(each)}" for each in characters(first, 64))
        return f"x in {listed(*members).replace(' ', '')} and ({parts}) and y != 3"

    everywhere = varied(characters(0, 500), 3000)
    last_only = " or ".join(f"not x contains {literal(each)} and y = 2" for each in characters(4000, 63))
    assert covers(f"{last_only} or exists x", everywhere)
    assert disjoint(everywhere, varied(characters(600, 500), 3100))


def test_filters_of_64_attributes_are_compared_without_a_blow_up():
    def wide(low: int, high: int) -> str:
        plain = [f"a{i} > {low}" for i in range(58)]
        either = [f"(b{i} > {low} or b{i} < {high})" for i in range(6)]
        return " and ".join(plain + either)

    assert covers(wide(1, 0), wide(2, -1))
    assert not covers(wide(2, -1), wide(1, 0))
    assert disjoint(wide(1, 0), wide(1, 0).replace("a57 >", "a57 <="))


def test_constants_of_the_longest_permitted_length_are_compared_fast():
    longest = 4096 - len('x contains ""')
    for text in ("a" * longest, HIGHEST * longest):
        assert covers(f'x contains "{text}"', f'x prefix "{text}"')
    nuls = "\0" * 1900
    assert disjoint(f'x < "{nuls}"', f'x suffix "{nuls}"')
    assert covers("false", f'x < "{nuls}" and x contains "{nuls}"')
