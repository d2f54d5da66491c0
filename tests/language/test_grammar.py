"""The grammar in grammar.lark and the reader that silbo uses: both accept the same texts and build the same trees."""

import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silbo import ContextFunction, Filter, Scope, SilboError
from silbo.language.expression import _tree
from silbo.testing import lark_reader, strategies
from silbo.testing.expressions import filter_pair, function_pair, scope_pair

LANGUAGES = {"content_filter": Filter.language, "context_function": ContextFunction.language, "scope": Scope.language}
PAIRS = {"content_filter": filter_pair, "context_function": function_pair, "scope": scope_pair}
LONGEST = 160  # code points; lark takes about 0.1 ms for each


def silbos_tree(text, start):
    """The tree as text, so that 1, 1.0 and -0.0 differ; None for a refused text."""
    try:
        return repr(_tree(text, LANGUAGES[start]))
    except SilboError:
        return None


def larks_tree(text, start):
    try:
        return repr(lark_reader.read(text, start))
    except lark_reader.NotInLanguage:
        return None


def is_accepted_by_both(text, start):
    ours = silbos_tree(text, start)
    assert larks_tree(text, start) == ours, (text, start)
    return ours is not None


def generated(random):
    """A random start rule, and a text of its language."""
    while True:
        start = random.choice(lark_reader.STARTS)
        text = PAIRS[start](random, random.randint(1, 3)).text
        if len(text) <= LONGEST:
            return start, text


def test_generated_texts_have_the_same_tree():
    random = Random(1)
    assert all(is_accepted_by_both(text, start) for start, text in (generated(random) for _ in range(120)))


@settings(max_examples=40, deadline=None)
@given(
    st.one_of(
        st.tuples(st.just("content_filter"), strategies.filters(2)),
        st.tuples(st.just("context_function"), strategies.context_functions(2)),
        st.tuples(st.just("scope"), strategies.scopes(2)),
    )
)
def test_texts_drawn_by_hypothesis_have_the_same_tree(drawn):
    start, text = drawn
    if len(text) <= LONGEST:
        assert is_accepted_by_both(text, start)


TOKEN = re.compile(r"[A-Za-z0-9_.]+|[<>=!]+|\s+|.", re.DOTALL)
PIECES = [
    "",
    "(",
    ")",
    "-",
    "+",
    " ",
    "not ",
    "`",
    "'",
    '"',
    ".",
    "1",
    "e",
    " in ",
    "=",
    "x",
    "exists ",
    ",",
    "\\",
    "true",
]


def mutated(random, text):
    """The text with one or two characters or tokens deleted, swapped, replaced or inserted."""
    parts = TOKEN.findall(text) if random.random() < 0.5 else list(text)
    for _ in range(random.randint(1, 2)):
        i, j = random.randrange(len(parts)), random.randrange(len(parts))
        match random.randrange(4):
            case 0:
                parts[i] = ""
            case 1:
                parts[i], parts[j] = parts[j], parts[i]
            case 2:
                parts[i] = random.choice(PIECES)
            case _:
                parts.insert(i, random.choice(PIECES))
    return "".join(parts)


def test_mutated_texts_are_accepted_by_both_or_refused_by_both():
    random = Random(2)
    drawn = [generated(random) for _ in range(300)]
    accepted = [is_accepted_by_both(mutated(random, text), start) for start, text in drawn]
    assert 40 < sum(accepted) < 260  # some mutations keep a text valid and some do not


FOREIGN = [
    # SQL, and JMS selectors
    "SELECT * FROM t WHERE x = 1", "x IS NULL", "x IS NOT NULL", "x BETWEEN 1 AND 5", "x LIKE 'a%'", "x <> 1",
    "x = 'it''s'", "x NOT IN (1, 2)", "NOT x = 1", "x IN (SELECT 1)", "x = 1 -- why", "x = TRUE", "x < TRUE", "FALSE >= x", "x prefix 5", "JMSType = 'car' AND c = 'b'",
    "JMSPriority >= 4", "JMSXGroupID = 'g' OR (a > 1 AND b <= 2.)", "age * 2 > 5", "x = 0x1F", "x = 57L", "x = 1.5e3d",
    # Python, C, JSON
    "x == 1", "x != 1 and not y == 2", "1 < x < 5", "x in [1, 2]", "x in (1,)", "x in ()", "x is None", "'a' in x",
    "x if y else z", "lambda x: x", "x ** 2 = 4", "x // 2 = 1", "x % 2 = 0", "x && y", "!x", "x = 1;", '{"x": 1}', "x = r'a'",
    "x = 1_000", "x = 'a' 'b'", 'x = """a"""', "f(x) = 1", "x = 1 # c",
    # filters in the style of SIENA and Elvin
    'string what = "x"', "x any", "price > 10 price < 20", "class =^ foo", "exists(x)", "require(x)", "begins-with(x, 'a')",
    'x prefix "a" and x suffix "b"', 'x contains "" or x >= 1', "PREFIX prefix 'a'", "x *= 'a'", "x >* 'abc'",
    # names, blanks and characters
    "größe = 1", "`größe` = 1", "x\u00a0= 1", "x = “a”", "x ≥ 1", "x\x00= 1", "x = '\x00'", "x = '😀'", "``=1", "`a``b` = 1",
    "a.`b` = 1", "a . b = 1", "a..b = 1", ".a = 1", "a. = 1", "in = 1", "in.x = 1", "x.in = 1", "IN.x=1", "not`x`=1", "notx=1",
    "ſ = 1", "exiſts x", "x \u0130n (1)", "`" + "é" * 127 + "x` = 1", "`" + "é" * 128 + "` = 1", "x\v= 1", "x = '\ud800'",
    # numbers and strings in odd forms
    *(f"x = {number}" for number in (
        "01", "-01", "1.", ".5", "-.5", "+1", "-0", "-0.0", "1e5", "1E+05", "1e", "1e+", "- 1", "--1", "(-1)", "((1))", "1e999",
        "1e-999", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "NaN",
        "Infinity", "1.7976931348623157e308", "1.8e308", "0x10", "1,5", "１", "٣", "1 000", "9" * 400, "1" + "0" * 400 + ".0",
    )),
    *(f"x = {string}" for string in (
        '"\\u00e9"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\ude00\\ud83d"', '"\\x41"', '"\\u12"', "'\\''", '"\\\'"', "'\"'",
        '"a\nb"', '"\\\n"', '"', "'a\"", '"\\"', '"\\\\"', "''",
    )),
    # functions and scopes
    "pub.x", "sub.x", "this.x", "msg.x", "Pub.x", "pub. x", "pub.`x y`", "pub.in = 1", "`pub.x` = 1", "pub.x = sub.x", "pub",
    "pub.x -5 = 1", "pub.x - 5 = 1", "pub.x = - 5", "pub.x--5 = 1", "-pub.x = 1", "-(pub.x) = 1", "- -5 = this.x", "(5) + 1 = 2",
    "abs(pub.x) < 1", "ABS (this.x) < 1", "abs(this.x, 1) = 1", "min(1) = 1", "max(1, this.x, 3) = 1", "abs('a') = 1",
    "abs() = 1", "distance(1, 2, 3) = 1", "distance(1, 2, 3, this.x) < 5", "sqrt(this.x = 1)", "abs(this.x)", "this.x + 'a' = 1",
    "this.x < true", "true < this.x", "true = this.x", "true = false", "true and this.x", "(true) = this.x", "1 < 'a'", "1 = true",
    "this.x in this.y", "this.x in (this.y)", "this.x in msg.y", "1 in this.s", "true in this.s", "this.x in (1, 'a')",
    "this.x in ((1), (2))", "this.x in (-1, - 1)", "(this.x) in (true, FALSE)", "this.x + 1 in (2)", "(1) in (1)",
    "exists this.x", "exists ((this.x))", "exists this.x + 1", "exists 5", "exists", "not not this.x", "not", "this.x not this.y",
    "within(this.a, this.b)", "within (this.a, point(1, 2))", "within(this.a)", "within(this.a, 5)", "within(point(1), this.a)",
    "intersects(geometry('POINT (1 2)'), (this.a))", "intersects(geometry(('POINT (1 2)')), this.a)", "within = 1",
    "within(geometry('POINT'), this.a)", "within(geometry('POINT EMPTY'), this.a)", "within(geometry(this.a), this.b)",
    "within(this.a, this.b) = true", "(within(this.a, this.b))", "point(1, 2) = 1", "geometry('POINT (1 2)')", "", " ", "()", "(true)",
    "this.x prefix this.y", "'abc' prefix this.x", "'abc' prefix 'a'", "this.x prefix 5", "5 prefix this.x", "this.x contains (('a'))",
]  # fmt: skip


@pytest.mark.parametrize("start", lark_reader.STARTS)
def test_texts_of_other_languages_are_accepted_by_both_or_refused_by_both(start):
    accepted = [text for text in FOREIGN if is_accepted_by_both(text, start)]
    assert 20 < len(accepted) < len(FOREIGN) / 2


@pytest.mark.parametrize(
    ("start", "longest", "too_long"),
    [
        ("content_filter", "x = 1" + " " * 4_091, "x = 1" + " " * 4_092),
        ("content_filter", "(" * 32 + "x = 1" + ")" * 32, "(" * 33 + "x = 1" + ")" * 33),
        ("content_filter", "not " * 32 + "x = 1", "not " * 33 + "x = 1"),
        ("content_filter", "(" * 32 + "x in (1)" + ")" * 32, "(" * 32 + "x in ((1))" + ")" * 32),
        ("content_filter", " or ".join(["x=1"] * 64), " or ".join(["x=1"] * 65)),
        ("content_filter", "not(" + " or ".join(["x=1"] * 64) + ")", "not(" + " or ".join(["x=1"] * 65) + ")"),
        ("content_filter", "&".join(["(a=1|b=1)"] * 6), "&".join(["(a=1|b=1)"] * 7)),
        ("context_function", "-" * 32 + "pub.x=1", "-" * 33 + "pub.x=1"),
        ("context_function", "-pub.x=" + "abs(" * 32 + "1" + ")" * 32, "-pub.x=" + "abs(" * 33 + "1" + ")" * 33),
        ("context_function", "-1-" + "abs(" * 32 + "1" + ")" * 32 + "=1", "-1-" + "abs(" * 33 + "1" + ")" * 33 + "=1"),
        ("scope", " and ".join(["sub.x"] * 128), " and ".join(["sub.x"] * 129)),
    ],
)
def test_both_have_the_same_bounds(start, longest, too_long):
    longest, too_long = (text.replace("&", " and ").replace("|", " or ") for text in (longest, too_long))
    assert is_accepted_by_both(longest, start)
    assert not is_accepted_by_both(too_long, start)


def test_the_documentation_shows_the_grammar():
    page = (Path(__file__).parents[2] / "docs" / "language.md").read_text(encoding="utf-8")
    assert f"```\n{lark_reader.grammar()}```\n" in page
