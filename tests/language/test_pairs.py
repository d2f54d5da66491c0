"""The grammar, the evaluator and the oracle against closures that share no code with them."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import assume, given, settings

import silbo.testing
from silbo.context.function import ContextFunction, Scope
from silbo.errors import BoundExceeded
from silbo.language.text import compact
from silbo.matching.filter import Filter
from silbo.matching.oracle import truth as oracle_truth
from silbo.model.values import checked_attributes, checked_context
from silbo.testing import pools, spelling, strategies
from silbo.testing.expressions import FUNCTION_WORDS, filter_pair, function_pair, scope_pair
from silbo.testing.filters import filter_atom
from silbo.testing.fragments import MAX_DEPTH, MAX_TEXT, ConditionPiece, composed, negation
from silbo.testing.functions import function_atom

LANGUAGES = [(Filter, filter_pair), (ContextFunction, function_pair), (Scope, scope_pair)]
SIZES = [
    (Filter, filter_atom, ConditionPiece.fits_filter),
    (ContextFunction, lambda random: function_atom(random, FUNCTION_WORDS), ConditionPiece.fits_function),
]
ORACLE = {1: True, 0: None, -1: False}
PAIRS = 300  # for each language and seed
SITUATIONS = 6  # for each pair


def situations(random, count=80):
    """Plain values for the closures, and the same values after silbo's checks for the engines."""
    for _ in range(count):
        plain = pools.attributes(random), pools.context(random), pools.context(random)
        yield plain, (checked_attributes(plain[0]), checked_context(plain[1]), checked_context(plain[2]))


def by_oracle(expression, bindings):
    msg, other, this = bindings
    spaces = {"attribute": msg, "msg": msg, "pub": other, "sub": other, "this": this}
    return ORACLE[oracle_truth(expression.tree, lambda name: spaces[name.namespace].get(name.name))]


def agreed_truth(pair, expression, plain, checked):
    """The truth value on which the closure, the evaluator and the oracle agree; fails if they differ."""
    expected = pair.truth(*plain)
    got = {"evaluation": expression.truth(checked), "oracle": by_oracle(expression, checked)}
    assert got == {"evaluation": expected, "oracle": expected}, (pair.text, plain)
    return expected


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("language", "draw"), LANGUAGES)
def test_every_generated_expression_means_what_its_closure_says(language, draw, seed):
    random = Random(seed)
    known = list(situations(random))
    found = Counter()
    for _ in range(PAIRS):
        pair = draw(random)
        expression = language.of(pair.text)
        for plain, checked in random.sample(known, SITUATIONS):
            if pair.is_borderline(*plain):
                found["discarded"] += 1
            else:
                found[agreed_truth(pair, expression, plain, checked)] += 1
    share = PAIRS * SITUATIONS // 10
    assert min(found[True], found[False], found[None]) > share
    assert found["discarded"] < share


@pytest.mark.parametrize(("language", "draw"), LANGUAGES)
def test_an_expression_printed_and_read_again_is_the_same(language, draw):
    random = Random(17)
    for _ in range(PAIRS):
        expression = language.of(draw(random).text)
        printed = str(expression)
        dense = compact(printed)
        assert language.of(printed) == language.of(dense) == expression
        assert str(language.of(printed)) == printed
        assert len(dense) <= len(printed)


@pytest.mark.parametrize(
    "text",
    [
        f"x='{chr(0) * 4_000}'",
        " or ".join(["a=1 and b=2 and c=3 and d=4 and e=5 and f=6 and g=7"] * 64),
        "x in(" + ",".join(["1e9"] * 1_000) + ")",
        "x='" + '"' * 4_090 + "'",
    ],
)
def test_a_densely_written_expression_can_be_printed_and_read_again(text):
    expression = Filter.of(text)
    assert len(str(expression)) <= MAX_TEXT
    assert Filter.of(str(expression)) == expression


@pytest.mark.parametrize(("language", "draw"), LANGUAGES)
def test_the_generated_texts_use_all_of_the_syntax(language, draw):
    random = Random(3)
    texts = [draw(random).text for _ in range(800)]
    signs = ["`", "'", '"', "\\u", "\\ud83d", "\\'", "\t", "\r", "\n", "==", "!=", "((", "``"]
    numbers = ["-0", "-5", "e+", "E-", "9223372036854775807", "-9223372036854775808", "9007199254740993"]
    words = ["not in", "NOT ", "exists", "exists(", "Or", "prefix", "suffix", "contains", "true", "FALSE"]
    calls = ["abs(", "min(", "max(", "sqrt(", "distance(", "geo_distance(", "within(", "point(", "geometry("]
    names = ["- ", "--", "this.in", "this.true", "this.this.x", "msg.pub.x", "msg.`", "msg.NOT"]
    wanted = [*signs, *numbers, *words, *(() if language is Filter else (*calls, *names))]
    assert [each for each in wanted if not any(each in text for text in texts)] == []


@pytest.mark.parametrize(("language", "atom", "fits"), SIZES)
def test_expressions_within_the_bounds_are_accepted_and_larger_ones_are_refused(language, atom, fits):
    random = Random(11)
    found = Counter()
    for _ in range(PAIRS // 2):
        condition = composed(random, lambda: atom(random), random.choice((2, 6, 12, 24, 40, 70)))
        while random.random() < 0.9 and condition.depth <= MAX_DEPTH:
            condition = random.choice((condition.parenthesised(), negation(random, condition)))
        text = spelling.dense_text(condition.tokens)
        assert is_read(language, text) == fits(condition), text
        found[fits(condition)] += 1
    assert min(found[True], found[False]) > PAIRS // 20


def is_read(language, text):
    try:
        language.of(text)
    except BoundExceeded:
        return False
    return True


@pytest.mark.parametrize(("language", "draw"), LANGUAGES)
def test_the_same_seed_gives_the_same_pairs(language, draw):
    first, second = Random(5), Random(5)
    assert [draw(first).text for _ in range(50)] == [draw(second).text for _ in range(50)]


QUICK = settings(max_examples=60, deadline=None)


@QUICK
@given(strategies.filter_pairs(), strategies.attributes())
def test_filters_drawn_by_hypothesis_agree_with_their_closures(pair, attributes):
    plain = attributes, {}, {}
    agreed_truth(pair, Filter.of(pair.text), plain, (checked_attributes(attributes), {}, {}))


@QUICK
@given(strategies.context_function_pairs(), strategies.attributes(), strategies.contexts(), strategies.contexts())
def test_functions_drawn_by_hypothesis_agree_with_their_closures(pair, attributes, published, own):
    assume(not pair.is_borderline(attributes, published, own))
    checked = checked_attributes(attributes), checked_context(published), checked_context(own)
    agreed_truth(pair, ContextFunction.of(pair.text), (attributes, published, own), checked)


@QUICK
@given(strategies.scopes(), strategies.context_functions(), strategies.filters())
def test_texts_drawn_by_hypothesis_can_be_read(scope, function, filter):
    assert Scope.of(scope).text == scope
    assert ContextFunction.of(function).text == function
    assert Filter.of(filter).text == filter


MODULES = ["arithmetic", "expressions", "filters", "fragments", "functions", "operators", "places", "pools", "spelling"]


@pytest.mark.parametrize("module", MODULES)
def test_the_closures_share_no_code_with_what_they_check(module):
    source = Path(silbo.testing.__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
    imported = [node.module or "" for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    assert not [name for name in imported if name.startswith(("silbo.language", "silbo.matching", "silbo.context"))]
