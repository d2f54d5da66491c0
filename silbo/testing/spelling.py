"""Write the words of an expression in every way the languages allow.

Names with and without backticks, strings with and without escapes, numbers in all their forms,
keywords in any case, blanks of all four sorts or none. Nothing here uses the parser: the
rules are stated a second time, so that a wrong rule on either side shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from random import Random

from silbo.testing.chance import seldom

KEYWORDS = frozenset(
    ["and", "or", "not", "in", "exists", "prefix", "suffix", "contains", "within", "intersects", "true", "false"]
)
NAMESPACES = ("msg", "pub", "this", "sub")

PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
WORD_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")

BLANKS = ("  ", "\t", "\n", "\r\n", " \t ", "\r")
SHORT_ESCAPES = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "/": "/", "'": "'", '"': '"', "\\": "\\"}


def keyword(random: Random, word: str) -> str:
    """A keyword or a function's name, in any case."""
    style = random.random()
    if style < 0.7:
        return word
    if style < 0.85:
        return word.upper()
    return "".join(random.choice((c.lower(), c.upper())) for c in word)


def attribute(random: Random, name: str) -> str:
    """A name in a filter: in backticks if it is not a plain name, is a keyword, or begins with a namespace."""
    beginning, dot, _ = name.partition(".")
    reserved = name.lower() in KEYWORDS or (bool(dot) and beginning in NAMESPACES)
    plain = PLAIN_NAME.fullmatch(name) and not reserved
    return quoted(name) if not plain or seldom(random, 0.15) else name


def variable(random: Random, namespace: str, name: str) -> str:
    """A name in a function or scope: after a namespace a keyword needs no backticks."""
    bare = PLAIN_NAME.fullmatch(name) and not seldom(random, 0.15)
    return f"{namespace}.{name if bare else quoted(name)}"


def quoted(name: str) -> str:
    """A name in backticks; one inside is doubled."""
    return "`" + name.replace("`", "``") + "`"


def constant(random: Random, value: bool | float | str) -> str:
    """A constant of any type."""
    if isinstance(value, bool):
        return keyword(random, "true" if value else "false")
    if isinstance(value, str):
        return string(random, value)
    return number(random, value)


def number(random: Random, value: float) -> str:
    """A number as in JSON: a fraction or an exponent makes it a float, so an int has one form."""
    if isinstance(value, int):
        return random.choice(("0", "0", "-0")) if value == 0 else str(value)
    written = _float(random, value)
    return written.replace("e", random.choice("eE"))


def _float(random: Random, value: float) -> str:
    style = random.random()
    if style < 0.5:
        return repr(value)
    if style < 0.7:
        return f"{value:.17e}"
    if abs(value) >= 1e15 or not value.is_integer():
        return repr(value) if "e" in repr(value) else repr(value) + random.choice(("0", "e0", "E-0", "e+00"))
    whole = f"{value:.0f}"  # keeps the sign of -0.0
    forms = [f"{whole}.0", f"{whole}e0", f"{whole}.000e+0", f"{whole}.0e-00"]
    # no number begins with two zeros
    return random.choice(forms if value == 0 else [*forms, f"{whole}0e-1", f"{whole}00.0e-02"])


def string(random: Random, value: str) -> str:
    """A string in either quotes; what must be escaped is, and now and then what need not be."""
    quote = random.choice("\"'")
    eagerness = random.choice((0.0, 0.0, 0.2, 1.0))
    return quote + "".join(_character(random, c, quote, eagerness) for c in value) + quote


def _character(random: Random, character: str, quote: str, eagerness: float) -> str:
    if character not in (quote, "\\") and not seldom(random, eagerness):
        return character
    if character in SHORT_ESCAPES and not seldom(random, 0.3):
        return "\\" + SHORT_ESCAPES[character]
    units = character.encode("utf-16-be")
    digits = (units[i : i + 2].hex() for i in range(0, len(units), 2))
    return "".join("\\u" + random.choice((each, each.upper())) for each in digits)


def text(random: Random, tokens: Iterable[str]) -> str:
    """The tokens with blanks between them, none where none is needed."""
    dense, wild = random.choice(((0.05, 0.05), (0.3, 0.3), (1.0, 0.0)))
    written = [_blank(random, dense, wild) if seldom(random, 0.1) else ""]
    last = ""
    for token in tokens:
        blank = _blank(random, dense, wild) if last else ""
        written += [blank or (" " if _must_part(last, token) else ""), token]
        last = token
    written.append(_blank(random, dense, wild) if seldom(random, 0.1) else "")
    return "".join(written)


def dense_text(tokens: Iterable[str]) -> str:
    """The tokens with no more blanks than they need."""
    written = []
    last = ""
    for token in tokens:
        written += [" ", token] if _must_part(last, token) else [token]
        last = token
    return "".join(written)


def _must_part(left: str, right: str) -> bool:
    return bool(left) and left[-1] in WORD_CHARACTERS and right[0] in WORD_CHARACTERS


def _blank(random: Random, dense: float, wild: float) -> str:
    if seldom(random, dense):
        return ""
    return random.choice(BLANKS) if seldom(random, wild) else " "
