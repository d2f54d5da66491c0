"""The three languages: their syntax, their meaning, and their error messages."""

import copy
import dataclasses
import pickle

import pytest

from silbo import errors
from silbo.context.function import ContextFunction, Scope
from silbo.language import tree
from silbo.matching.filter import Filter


def selected(text, **attributes):
    return Filter.of(text).truth((attributes, {}, {}))


def function(text, *, msg=None, pub=None, this=None):
    return ContextFunction.of(text).truth((msg or {}, pub or {}, this or {}))


# truth


@pytest.mark.parametrize(
    ("text", "attributes", "truth"),
    [
        ("x = 1", {"x": 1}, True),
        ("x = 1", {"x": 1.0}, True),
        ("x = 1", {"x": True}, None),
        ("x = true", {"x": 1}, None),
        ("x = 1", {"x": "1"}, None),
        ("x != 1", {"x": 2}, True),
        ("x != 1", {}, None),
        ("x != 1", {"x": "a"}, None),
        ("not (x = 1)", {"x": 2}, True),
        ("not (x = 1)", {}, None),
        ("not exists x", {}, True),
        ("exists x", {}, False),
        ("exists(x)", {"x": False}, True),
        ("exists ((x))", {"x": 0}, True),
        ("true", {}, True),
        ("false", {}, False),
        ("x = 0", {"x": -0.0}, True),
        ("x = 9007199254740993", {"x": 9007199254740992.0}, False),
        ("x > 9007199254740992.0", {"x": 9007199254740993}, True),
        ("x < 9223372036854775807", {"x": 9.223372036854775807e18}, False),
        ('x < "b"', {"x": "a\U0010ffff"}, True),
        ('x < "\\ue000"', {"x": "\U00010000"}, False),
        ("x <= 5 and x >= 5", {"x": 5}, True),
        ("x < 5", {"x": True}, None),
        ('x prefix "ab"', {"x": "abc"}, True),
        ('x suffix ""', {"x": "abc"}, True),
        ('x contains "bc"', {"x": "abc"}, True),
        ('x contains "cb"', {"x": "abc"}, False),
        ('x prefix "a"', {"x": 1}, None),
        ("x in (1, 2)", {"x": 2.0}, True),
        ("x in (1, 2)", {"x": "1"}, None),
        ("x in (1, 2)", {}, None),
        ("x not in (1, 2)", {"x": 3}, True),
        ("x not in (1, 2)", {"x": "a"}, None),
        ("x in (true)", {"x": 1}, None),
        ("x = 1 or y = 1", {"y": 1}, True),
        ("x = 1 or y = 1", {"y": 2}, None),
        ("x = 1 and y = 1", {"y": 2}, False),
        ("x = 1 and y = 1", {"y": 1}, None),
    ],
)
def test_an_atom_is_true_false_or_unknown(text, attributes, truth):
    assert selected(text, **attributes) is truth


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("not x = 1 and y = 1", "(not (x = 1)) and (y = 1)"),
        ("x = 1 or y = 1 and z = 1", "x = 1 or (y = 1 and z = 1)"),
        ("x = 1 and y = 1 or z = 1", "(x = 1 and y = 1) or z = 1"),
        ("5 < x", "x > 5"),
        ("5 >= x", "x <= 5"),
        ("1 = x", "x = 1"),
        ("x == 1", "x = 1"),
        ("x = 1", "x = 1.0"),
        ("X NOT IN (1)", "not (X in (1))"),
        ("x\t=\r\n1", "x=1"),
        ("x = 'a\"'", 'x = "a\\""'),
        ('x = "\\ud83d\\ude00\\/"', "x = '😀/'"),
        ("x = (1)", "(x) = 1"),
        ("`x` = 1", "x = 1"),
        ("x = 1 or (y = 1 or z = 1)", "x = 1 or y = 1 or z = 1"),
        ("x in ((1), 2)", "x in (1, 2)"),
    ],
)
def test_two_spellings_of_one_filter_are_equal(text, same_as):
    assert Filter.of(text) == Filter.of(same_as)
    assert hash(Filter.of(text)) == hash(Filter.of(same_as))


def test_constants_of_different_types_make_different_filters():
    assert len({Filter.of("x = 1"), Filter.of("x = true"), Filter.of('x = "1"')}) == 3


# arithmetic


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("this.x -5 = 2", True),
        ("this.x - -5 = 12", True),
        ("-this.x = -7", True),
        ("- 5 = -5", True),
        ("2 + 3 * 4 = 14", True),
        ("(2 + 3) * 4 = 20", True),
        ("20 - 5 - 3 = 12", True),
        ("16 / 4 / 2 = 2", True),
        ("-2 * -3 = 6", True),
        ("1 / 0 = 1", None),
        ("sqrt(-1) = 1", None),
        ("1e308 * 10 > 1", None),
        ("1e308 * 10 - 1e308 * 10 = 0", None),
        ("min(3, 1 / 0) = 3", None),
        ("min(3, 1, 2) = 1 and max(3, 1, 2) = 3", True),
        ("abs(-9007199254740993) = 9007199254740992", True),
        ("this.big = 9007199254740993", True),
        ("this.big + 0 = 9007199254740993", False),
        ("distance(0, 0, 3, 4) = 5", True),
        ("GEO_DISTANCE(0, 0, 0, 1) > 111195 and geo_distance(0, 0, 0, 1) < 111196", True),
        ("geo_distance(13.4, 52.5, 13.4, 52.5) = 0", True),
        ("geo_distance(0, 0, 180, 0) > 20015086", True),
        ('1 < "a"', None),
        ('this.x + 1 = "a"', None),
        ("this.x + this.name = 1", None),
        ("this.gone = 1", None),
        ("this.vip", True),
        ("not this.vip", False),
        ("this.x", None),
        ("this.vip + 1 = 2", None),
    ],
)
def test_arithmetic_uses_doubles_and_is_unknown_if_the_result_is_not_finite(text, truth):
    assert function(text, this={"x": 7, "name": "a", "vip": True, "big": 2**53 + 1}) is truth


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("msg.s in this.names", True),
        ("msg.n in this.names", None),
        ("msg.gone in this.names", None),
        ("msg.s in this.empty", False),
        ("msg.n in this.empty", False),
        ("msg.gone in this.empty", None),
        ("this.names in this.empty", None),
        ("msg.s in this.x", None),
        ("msg.n + 1 in this.numbers", True),
        ("true in this.numbers", None),
        ("this.names = this.names", None),
        ("exists this.empty", True),
    ],
)
def test_membership_in_a_set_variable(text, truth):
    from silbo.model.values import checked_context

    this = checked_context({"names": ["a", "b"], "numbers": [3, 4], "empty": [], "x": 1})
    assert function(text, msg={"s": "a", "n": 2}, this=this) is truth


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("within(pub.p, this.square)", True),
        ('within(point(2, 2), geometry("POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))"))', True),
        ("within(point(pub.x, 3), this.square)", False),
        ("within(this.square, pub.p)", False),
        ("intersects(this.square, pub.p)", True),
        ("within(msg.p, this.square)", None),
        ("within(pub.x, this.square)", None),
        ("within(point(1 / 0, 1), this.square)", None),
        ("not within(pub.gone, this.square)", None),
    ],
)
def test_geometry_is_planar_and_the_border_counts(text, truth):
    from shapely import Point, box

    from silbo.model.values import checked_context

    pub = checked_context({"p": Point(2, 1), "x": 1})
    this = checked_context({"square": box(0, 0, 2, 2)})
    assert function(text, msg={"p": "POINT (1 1)"}, pub=pub, this=this) is truth


def test_a_scope_reads_the_contexts_of_the_subscriber_and_the_publisher():
    scope = Scope.of('sub.ward = this.ward and msg.kind = "alarm"')
    assert scope.admits({"kind": "alarm"}, {"ward": 3}, {"ward": 3.0}) is True
    assert scope.admits({"kind": "alarm"}, {}, {"ward": 3}) is None


# names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a.b = 1", {"a.b"}),
        ("in.x = 1", {"in.x"}),
        ("x.in = 1", {"x.in"}),
        ("`in` = 1", {"in"}),
        ("`pub.x` = 1", {"pub.x"}),
        ("Pub.x = 1", {"Pub.x"}),
        ("msg = 1", {"msg"}),
        ("min = 1 and point = 2", {"min", "point"}),
        ("`a``b` = 1", {"a`b"}),
        ("`é ü` = 1", {"é ü"}),
        ("not`x`=1", {"x"}),
    ],
)
def test_names_of_attributes(text, names):
    assert Filter.of(text).variables("attribute") == names


def test_keywords_and_quoted_names_are_allowed_after_a_namespace():
    read = ContextFunction.of("pub.in = 1 and pub.`a b` = 1 and this.x.y = 1 and exists msg.not")
    assert read.variables("pub") == {"in", "a b"}
    assert read.variables("this") == {"x.y"}
    assert read.variables("msg") == {"not"}


# errors: each has a caret below the position


@pytest.mark.parametrize(
    ("kind", "text", "marked", "said"),
    [
        (Filter, "temperature >> 30", ">>", "unknown operator; expected one of: = != < <="),
        (Filter, "x = 1 && y = 2", "&&", "write `and`"),
        (Filter, "x <> 1", "<>", "write `!=`"),
        (Filter, "!x", "!", "write `not`"),
        (Filter, "1 < x < 5", "<", "write 1 < x and x < 5"),
        (Filter, "x = ", "", "expected one of: a name, a number"),
        (Filter, "(x = 1", "", "and, or, )"),
        (Filter, "x = 1)", ")", "and, or, the end of the text"),
        (Filter, "x y", "y", "expected one of: not, = !="),
        (Filter, "x", "x", "write x = true, or exists x"),
        (Filter, "5", "5", "a constant alone"),
        (Filter, "x = y", "y", 'a string must be in quotes, "y"; a second attribute is compared in context='),
        (Filter, "x = null", "null", "there is no null"),
        (Filter, "x LIKE 'a'", "LIKE", "write prefix, suffix or contains"),
        (Filter, "x ~ 'a'", "~", "no regular expressions"),
        (Filter, "x = 1;", ";", "remove it"),
        (Filter, "x in [1]", "[", "a list stands in parentheses"),
        (Filter, "x = “a”", "“", "straight quotes"),
        (Filter, "x\u00a0= 1", "\u00a0", "U+00A0 (no-break space)"),
        (Filter, "x = 'it''s'", "'s'", "inside a string a quote is written"),
        (Filter, "in = 3", "in", "stands in backticks: `in`"),
        (Filter, "x exists", "exists", "write exists before the name"),
        (ContextFunction, "pub.x ** 2 = 1", "*", "there is no power"),
        (Scope, "sub.role = admin", "admin", "a string must be in quotes"),
        (ContextFunction, "this. x = 1", ".", "without blanks"),
        (Filter, "x + 1 = 2", "x + 1", "no arithmetic"),
        (Filter, "x = - 5", "- 5", "no arithmetic"),
        (Filter, "abs(x) = 1", "abs", "no functions"),
        (Filter, "pub.x = 1", "pub.x", "use context= for what reads pub."),
        (Filter, "msg.x = 1", "msg.x", "write x here, or use context="),
        (Filter, "pub.`x` = 1", "pub.`x`", "context="),
        (Filter, "a.`b` = 1", "a.`b`", "quote a whole name"),
        (Filter, "x prefix 5", "5", "never takes a number"),
        (Filter, "x < true", "true", "never takes a bool"),
        (Filter, '"a" prefix x', '"a"', "attribute on the left"),
        (Filter, "1 = 2", "1", "two constants"),
        (Filter, "x in ()", "()", "the list is empty; expected 1 to 1,000 constants"),
        (ContextFunction, "pub.x not in ( )", "( )", "the list is empty"),
        (Filter, 'lower(x) = "a"', "lower", "a content filter has no functions"),
        (Filter, "x = 1 and exists", "", "the text ends here; expected one of: a name, ("),
        (Filter, "x = @t", "@", "@ is not expected here (names begin with a letter); expected a name, a number"),
        (Filter, "x @ t", "@", "unknown operator (names begin with a letter); expected one of: = !="),
        (Filter, "x in (1, 'a')", "'a'", "one type"),
        (Filter, "x in (1, y)", "y", "a constant"),
        (Filter, "x in y", "y", "a list of constants"),
        (Filter, "exists 5", "5", "takes a name"),
        (Filter, "x = 01", "01", "as in JSON"),
        (Filter, "x = 5m", "5m", "as in JSON"),
        (Filter, "x = .5", ".5", "as in JSON"),
        (Filter, "x = 9223372036854775808", "9223372036854775808", "2^63-1"),
        (Filter, "x = 1e999", "1e999", "too large"),
        (Filter, 'x = "abc', '"', "no closing quote"),
        (Filter, "`abc = 1", "`", "no closing quote"),
        (Filter, 'x = "a\\q"', "\\q", "unknown escape"),
        (Filter, 'x = "\\u12"', "\\u", "unknown escape"),
        (Filter, 'x = "\\ud800"', '"\\ud800"', "lone surrogate"),
        (Filter, "é = 1", "é", "`backticks`"),
        (Filter, "x = 1 \\", "\\", "inside a string"),
        (Filter, "and = 1", "and", "not expected here"),
        (Filter, "x = (y = 1)", "y", "expected"),
        (ContextFunction, "x = 1", "x", "pub., this., msg."),
        (ContextFunction, "sub.x = 1", "sub.x", "pub., this., msg."),
        (ContextFunction, "Pub.x = 1", "Pub.x", "lower case"),
        (ContextFunction, "`pub.x` = 1", "`pub.x`", "pub., this., msg."),
        (Scope, "pub.x = 1", "pub.x", "sub., this., msg."),
        (ContextFunction, "foo(pub.x) = 1", "foo", "unknown function; expected one of: abs, min"),
        (ContextFunction, "abs(1, 2) = 1", "abs", "takes 1 argument, here are 2"),
        (ContextFunction, "min(1) = 1", "min", "at least 2"),
        (ContextFunction, "pub.x + 1", "pub.x + 1", "compare it"),
        (ContextFunction, "abs(pub.x)", "abs", "compare it"),
        (ContextFunction, "pub.x + 'a' = 1", "'a'", "never takes a string"),
        (ContextFunction, "pub.x in (this.s)", "this.s", "without it"),
        (ContextFunction, "pub.x in msg.y", "msg.y", "never a set"),
        (ContextFunction, "within(pub.x, 5)", "5", "expected a geometry"),
        (ContextFunction, 'within(pub.x, geometry("x"))', '"x"', "no WKT"),
        (ContextFunction, 'within(pub.x, geometry("POINT EMPTY"))', '"POINT EMPTY"', "empty geometry"),
        (ContextFunction, "point(1, 2) = 1", "point(1, 2)", "only inside within"),
        (ContextFunction, "pub.x = within(pub.a, pub.b)", "within(pub.a, pub.b)", "is a condition"),
        (ContextFunction, "exists (pub.x + 1)", "pub.x + 1", "takes a name"),
    ],
)
def test_an_error_marks_its_position_and_says_what_was_expected(kind, text, marked, said):
    with pytest.raises(errors.ExpressionError) as refused:
        kind.of(text)
    error = refused.value
    assert said in error.reason
    if marked:
        assert text[error.start : error.end].startswith(marked) or text[error.start :].startswith(marked)
    header, line, carets = str(error).splitlines()
    assert header == f"cannot read this {kind.language.title}:"
    assert line == text.replace("\u00a0", " ")
    assert carets.index("^") == error.start


@pytest.mark.parametrize("text", ["", " \t\r\n"])
def test_an_empty_text_says_to_write_true(text):
    with pytest.raises(errors.ExpressionError, match="write `true`"):
        Filter.of(text)


def test_a_lone_surrogate_in_the_text_is_refused():
    with pytest.raises(errors.ExpressionError, match="lone surrogate"):
        Filter.of('x = "\ud800"')


def test_the_caret_of_a_long_text_stays_near_its_place():
    with pytest.raises(errors.ExpressionError) as refused:
        Filter.of("x = 1 and " * 50 + "y >> 2")
    line, carets = str(refused.value).splitlines()[-2:]
    assert len(line) < 140
    assert line[carets.index("^") :].startswith(">> 2")


# bounds


def chain(joined, count):
    return joined.join(f"x{i} = {i}" for i in range(count))


def sum_of(count):
    """A function of 2 * count + 1 nodes."""
    return " + ".join(["pub.x"] * count) + " = 1"


@pytest.mark.parametrize(
    ("kind", "error", "longest", "too_long"),
    [
        (Filter, errors.TextTooLong, "x = 1" + " " * 4_091, "x = 1" + " " * 4_092),
        (Filter, errors.TooDeep, "(" * 32 + "x = 1" + ")" * 32, "(" * 33 + "x = 1" + ")" * 33),
        (Filter, errors.TooDeep, "not " * 32 + "x = 1", "not " * 33 + "x = 1"),
        (Filter, errors.TooDeep, "(" * 32 + "x in (1)" + ")" * 32, "(" * 32 + "x in ((1))" + ")" * 32),
        (ContextFunction, errors.TooDeep, "-" * 32 + "pub.x = 1", "-" * 33 + "pub.x = 1"),
        (
            ContextFunction,
            errors.TooDeep,
            "-" * 16 + "abs(" * 16 + "pub.x" + ")" * 16 + " = 1",
            "-" * 16 + "abs(" * 17 + "pub.x" + ")" * 17 + " = 1",
        ),
        (
            ContextFunction,
            errors.TooDeep,
            "- pub.x + 1 = " + "abs(" * 32 + "pub.x" + ")" * 32,
            "- pub.x + 1 = " + "abs(" * 33 + "pub.x" + ")" * 33,
        ),
        (
            ContextFunction,
            errors.TooDeep,
            "1 = - 5 * " + "abs(" * 32 + "pub.x" + ")" * 32,
            "1 = - 5 * " + "abs(" * 33 + "pub.x" + ")" * 33,
        ),
        (Filter, errors.TooManyConjunctions, chain(" or ", 64), chain(" or ", 65)),
        (
            Filter,
            errors.TooManyConjunctions,
            " and ".join(["(a = 1 or b = 1)"] * 6),
            " and ".join(["(a = 1 or b = 1)"] * 7),
        ),
        (Filter, errors.TooManyConjunctions, f"not ({chain(' and ', 64)})", f"not ({chain(' and ', 65)})"),
        (Filter, errors.TooManyConstraints, chain(" and ", 64), chain(" and ", 65)),
        (Filter, errors.TooManyConstraints, f"not ({chain(' or ', 64)})", f"not ({chain(' or ', 65)})"),
        (Filter, errors.TooManyConstraints, " and ".join(["true"] * 64), " and ".join(["true"] * 65)),
        (ContextFunction, errors.TooManyNodes, "not " + sum_of(127), sum_of(128)),
        (Scope, errors.TooManyNodes, " and ".join(["sub.x"] * 128), " and ".join(["sub.x"] * 129)),
        (
            ContextFunction,
            errors.TooManyNodes,
            " or ".join(["pub.x in (1, 2, 3)"] * 64),
            " or ".join(["pub.x in (1, 2, 3)"] * 65),
        ),
        (Filter, errors.TooManyMembers, f"x in ({','.join(['1'] * 1_000)})", f"x in ({','.join(['1'] * 1_001)})"),
    ],
)
def test_each_bound_on_expressions_has_its_own_error(kind, error, longest, too_long):
    kind.of(longest)
    with pytest.raises(error) as refused:
        kind.of(too_long)
    assert isinstance(refused.value, errors.BoundExceeded)
    assert refused.value.found > refused.value.limit


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("pub.x", 1),
        ("true", 1),
        ("not pub.x", 2),
        ("pub.x = -5", 3),
        ("pub.x = - 5", 4),
        ("pub.x = ((5))", 3),
        ("pub.x in (1, 2, (3))", 3),
        ("pub.x not in (1)", 4),
        ("pub.x in this.s", 3),
        ("exists (pub.x)", 2),
        ("min(pub.x, 1, 2) = 1", 6),
        ("pub.a and pub.b and pub.c", 5),
        ('within(point(1, 2), geometry("POINT (1 2)"))', 6),
    ],
)
def test_every_node_as_written_is_counted(text, nodes):
    from silbo.language.bounds import nodes as counted
    from silbo.language.tokens import tokens

    assert counted(tokens(text).types) == nodes


@pytest.mark.parametrize(
    ("text", "error", "start"),
    [
        ("(" * 33 + "x = 1 and é", errors.TooDeep, 32),
        ("(" * 33 + "x >> 1", errors.TooDeep, 32),
        ("x >> 1 and " + "(" * 33, errors.ExpressionError, 2),
        ("x = y and é", errors.ExpressionError, 10),  # a character that begins no token, before anything is read
        ("x = y and z", errors.ExpressionError, 4),
        ("x = y and = 1", errors.ExpressionError, 10),  # syntax before meaning
    ],
)
def test_of_several_faults_the_first_of_the_earliest_stage_is_reported(text, error, start):
    with pytest.raises(errors.ExpressionError) as refused:
        Filter.of(text)
    assert type(refused.value) is error
    assert refused.value.start == start


@pytest.mark.parametrize("text", ["x = 1", "pub.speed = 1", "msg.speed = 1", "sub.speed = 1", "`pub.speed` = 1"])
def test_a_language_refuses_its_foreign_names_also_after_another_language_has_read_them(text):
    readers = {
        "x": {Filter},
        "pub": {ContextFunction},
        "sub": {Scope},
        "msg": {ContextFunction, Scope},
        "`pub": {Filter},
    }
    accepting = readers[text.split(".")[0].split(" ")[0]]
    for kind in (Filter, ContextFunction, Scope, Filter, ContextFunction):
        if kind in accepting:
            kind.of(text)
        else:
            with pytest.raises(errors.ExpressionError):
                kind.of(text + " ")


def test_the_same_text_is_parsed_once():
    assert Filter.of("x = 1 and y = 2") is Filter.of("x = 1 and y = 2")


# text and tree


@pytest.mark.parametrize(
    "node", [tree.Constant("number", 1), tree.Compare("=", tree.Name("msg", "x"), tree.Constant("number", 1))]
)
def test_a_node_cannot_be_changed(node):
    for field in dataclasses.fields(node):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(node, field.name, None)


def test_a_node_is_pickled_and_copied_with_its_parts():
    node = Filter.of('x = 1 and y < "a"').tree
    for same in (pickle.loads(pickle.dumps(node)), copy.deepcopy(node)):
        assert same == node
        assert hash(same) == hash(node)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("x=1 AND(y<2 OR not z>'a')", 'x = 1 and (y < 2 or not z > "a")'),
        ("not(x in(1,2))", "x not in (1, 2)"),
        ("not not x=1", "not not x = 1"),
        ("`in`=1", "`in` = 1"),
        ("x = 'a\\n\"'", 'x = "a\\n\\""'),
        ("x = 1e2", "x = 100.0"),
        ("x = -0.0", "x = -0.0"),
    ],
)
def test_a_tree_is_printed_in_one_spelling(text, printed):
    assert str(Filter.of(text)) == printed
    assert str(Filter.of(printed)) == printed


@pytest.mark.parametrize(
    "text",
    [
        "pub.a - (pub.b - pub.c) > 1",
        "(pub.a + pub.b) * -pub.c / 2 <= - 5",
        "--pub.x = - -5",
        "-(pub.a + 1) = 2",
        'within(point(pub.x, this.y), geometry("POINT (1 1)"))',
        "not (pub.a or pub.b and not pub.c)",
        "pub.`a b` = 1 and msg.x.y in this.s",
        "abs(pub.x - this.x) <= 20",
    ],
)
def test_text_to_tree_to_text_is_stable(text):
    assert str(ContextFunction.of(text)) == text
    assert ContextFunction.of(str(ContextFunction.of(text))) == ContextFunction.of(text)
