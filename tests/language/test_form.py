"""The Python form: the same trees as the text, and help for what Python cannot express."""

import pickle
import typing

import pytest
import shapely

import silbo
from silbo import ContextFunction, Filter, Scope, attr, errors, fn, msg, pub, sub, this


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (attr.x == 1, "x = 1"),
        (attr.x == True, "x = true"),  # noqa: E712  # builds a comparison with the constant true
        (attr.x != "a", 'x != "a"'),
        (5 < attr.x, "x > 5"),
        ((attr.x >= 1) & (attr.y < 2) & (attr.z > 3), "x >= 1 and y < 2 and z > 3"),
        ((attr.x >= 1) & ((attr.y < 2) & (attr.z > 3)), "x >= 1 and (y < 2 and z > 3)"),
        ((attr.x == 1) | (attr.y == 2) & (attr.z == 3), "x = 1 or y = 2 and z = 3"),
        (((attr.x == 1) | (attr.y == 2)) & (attr.z == 3), "(x = 1 or y = 2) and z = 3"),
        (~(attr.x == 1), "not x = 1"),
        (~attr.x.is_in(1, 2), "x not in (1, 2)"),
        (attr.x.is_in(["a", "b"]), 'x in ("a", "b")'),
        (attr.x.is_in("ab"), 'x in ("ab")'),
        (
            attr.x.prefix("a") & attr.y.suffix("b") & attr.z.contains("c"),
            'x prefix "a" and y suffix "b" and z contains "c"',
        ),
        (attr.x.exists() & ~attr.y.exists(), "exists x and not exists y"),
        (attr["a.b"] == 1, "a.b = 1"),
        (attr["pub.x"] == 1, "`pub.x` = 1"),
        (attr["in"] == 1, "`in` = 1"),
        (attr["a`b"] == 1, "`a``b` = 1"),
        (attr.x == -5, "x = -5"),
        (silbo.true, "true"),
        (silbo.false | (attr.x == 1), "false or x = 1"),
    ],
)
def test_a_filter_in_python_equals_the_one_in_text(form, text):
    assert Filter.of(form) == Filter.of(text)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (abs(pub.x - this.x) <= 20, "abs(pub.x - this.x) <= 20"),
        (fn.abs(pub.x) <= 20, "abs(pub.x) <= 20"),
        (pub.x >= this.x - 20, "pub.x >= this.x - 20"),
        (2 * pub.x + 1 - pub.y / 4 > 0, "2 * pub.x + 1 - pub.y / 4 > 0"),
        (1 - (pub.x - 2) > 0, "1 - (pub.x - 2) > 0"),
        (1 / pub.x + -this.y < 3, "1 / pub.x + -this.y < 3"),
        (fn.min(pub.x, 1, 2) == fn.max(this.x, 0), "min(pub.x, 1, 2) = max(this.x, 0)"),
        (fn.sqrt(pub.x) < fn.distance(0, 0, this.x, this.y), "sqrt(pub.x) < distance(0, 0, this.x, this.y)"),
        (
            fn.geo_distance(pub.lon, pub.lat, this.lon, this.lat) <= 500,
            "geo_distance(pub.lon, pub.lat, this.lon, this.lat) <= 500",
        ),
        (msg.symbol.is_in(this.holdings), "msg.symbol in this.holdings"),
        (this.vip & ~pub.closed | this.admin, "this.vip and not pub.closed or this.admin"),
        (fn.within(pub.where, this.zone), "within(pub.where, this.zone)"),
        (
            fn.within(fn.point(pub.x, 2), silbo.geometry("POINT (1 2)")),
            'within(point(pub.x, 2), geometry("POINT (1 2)"))',
        ),
        (fn.within(shapely.Point(1, 2), this.a), 'within(geometry("POINT (1 2)"), this.a)'),
        (fn.intersects(this.a, fn.geometry(shapely.Point(1, 2))), 'intersects(this.a, geometry("POINT (1.0 2.0)"))'),
        (pub["in"].exists(), "exists pub.in"),
    ],
)
def test_a_function_in_python_equals_the_one_in_text(form, text):
    assert ContextFunction.of(form) == ContextFunction.of(text)


def test_a_scope_in_python_equals_the_one_in_text():
    assert Scope.of((sub.role != "guest") & (sub.ward == this.ward)) == Scope.of(
        'sub.role != "guest" and sub.ward = this.ward'
    )


@pytest.mark.parametrize(
    "use",
    [
        lambda: bool(attr.x == 1),
        lambda: (attr.x == 1) and (attr.y == 2),
        lambda: not attr.x,
        lambda: 1 < attr.x < 5,
        lambda: attr.x in [1, 2],
        lambda: 1 if attr.x == 1 else 2,
    ],
)
def test_python_cannot_decide_a_condition_and_the_error_has_the_right_spelling(use):
    with pytest.raises(errors.FormError, match="Write & for `and`"):
        use()


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda: attr.x == None, r"~attr\.x\.exists\(\)"),  # noqa: E711  # it raises
        (lambda: attr.a.b, r'attr\["a\.b"\]'),
        (lambda: attr.x.startswith("a"), "prefix, suffix"),
        (lambda: pub.x**2, r"pub\.x \* pub\.x"),
        (lambda: min(pub.x, this.x), r"fn\.min"),
        (lambda: Filter.of(5), r"built from silbo\.attr; not int"),
        (lambda: Scope.of(5), r"built from silbo\.sub, silbo\.this, silbo\.msg"),
    ],
)
def test_the_error_for_a_common_mistake_has_the_right_spelling(use, said):
    with pytest.raises(errors.FormError, match=said):
        use()


def test_names_have_no_other_attributes():
    assert not hasattr(attr.x, "to_pylist")


def test_the_error_for_in_with_a_variable_names_is_in():
    with pytest.raises(errors.FormError, match=r"is_in\(this\.holdings\)"):
        _ = msg.symbol in this.holdings


@pytest.mark.parametrize(
    "use",
    [
        lambda: attr.x > 1 & attr.y,  # & binds tighter than >
        lambda: (attr.x == 1) & 5,
        lambda: attr.x == [1, 2],
        lambda: (attr.x == 1) == 5 or attr.x + (attr.y == 1),
        lambda: Filter.of(attr.x + 1),
        lambda: ContextFunction.of(5),
        (pub.x + 1).exists,
        lambda: msg.x.is_in(this.a + 1),
        lambda: fn.within(5, this.a),
        lambda: list(attr.x),
    ],
)
def test_a_form_that_means_nothing_is_refused(use):
    with pytest.raises(errors.SilboError):
        use()


@pytest.mark.parametrize("constant", [float("nan"), 2**63, "\ud800"])
def test_a_constant_is_checked_like_any_value(constant):
    with pytest.raises(errors.InvalidValue):
        attr.x == constant  # noqa: B015  # it raises


def test_the_python_form_has_the_same_bounds_as_the_text():
    deep = attr.x == 1
    with pytest.raises(errors.TooDeep):
        Filter.of(nested(deep, 40))
    with pytest.raises(errors.TooDeep):
        nested(deep, 5_000)
    with pytest.raises(errors.TooManyNodes):
        sum((pub.x for _ in range(300)), pub.x) > 0  # noqa: B015  # it raises
    with pytest.raises(errors.TooManyConjunctions):
        Filter.of(any_of(attr.x == i for i in range(65)))
    with pytest.raises(errors.TextTooLong):
        any_of(attr.x == i for i in range(5_000))
    with pytest.raises(errors.TextTooLong):
        Filter.of(attr.x.is_in(range(10_000, 11_000)))


def nested(condition, times):
    for _ in range(times):
        condition = ~(condition & (attr.y == 1))
    return condition


def any_of(conditions):
    first, *rest = conditions
    for condition in rest:
        first = first | condition
    return first


def test_a_list_of_a_thousand_fits_in_python_too():
    assert len(Filter.of(attr.x.is_in(range(1_000))).tree.members) == 1_000


def test_expressions_can_be_pickled():
    for expression in (Filter.of("x = 1"), ContextFunction.of("pub.x = 1"), Scope.of("sub.x = 1")):
        assert pickle.loads(pickle.dumps(expression)) == expression


def test_forms_print_as_their_text():
    assert repr((attr.x == 1) & attr.y.exists()) == "<x = 1 and exists y>"
    assert repr(abs(pub.x - 1)) == "<abs(pub.x - 1)>"


def test_calling_an_expression_class_says_to_call_of():
    with pytest.raises(silbo.FormError, match=r"silbo\.Filter\.of\("):
        silbo.Filter("x = 1")


@pytest.mark.parametrize(
    ("calculate", "reason"),
    [
        (lambda: silbo.pub.x % 2, "there is no remainder"),
        (lambda: 2 % silbo.pub.x, "there is no remainder"),
        (lambda: silbo.pub.x // 2, "there is no division without a fraction"),
        (lambda: 2 // silbo.pub.x, "there is no division without a fraction"),
        (lambda: 2**silbo.pub.x, "there is no power"),
    ],
)
def test_an_operator_that_the_languages_lack_is_refused_by_name(calculate, reason):
    with pytest.raises(silbo.FormError, match=reason):
        calculate()


def test_completion_offers_only_the_public_names():
    assert sorted(dir(silbo.fn)) == sorted(silbo.fn.__all__)
    offered = {name for name in dir(silbo.attr.x) if not name.startswith("_")}
    assert offered == {"prefix", "suffix", "contains", "is_in", "exists"}


def test_the_type_of_a_condition_says_that_bool_raises():
    assert typing.get_type_hints(type(silbo.attr.x == 1).__bool__)["return"] is typing.NoReturn
