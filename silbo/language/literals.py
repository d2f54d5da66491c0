"""Names, numbers and strings as they stand in the text, turned into what they mean."""

from __future__ import annotations

import math
import re

from silbo.errors import ExpressionError
from silbo.language.languages import Language
from silbo.language.tokens import PLAIN_NAME
from silbo.language.tree import Constant, Name, Namespace
from silbo.model.values import LARGEST_INT, SMALLEST_INT, checked_name

NAMESPACES: tuple[Namespace, ...] = ("msg", "pub", "this", "sub")

ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", **{c: c for c in "\"'\\/"}}

PLAIN = re.compile(PLAIN_NAME)


def name(text: str, start: int, end: int, language: Language) -> Name:
    """The name between start and end of the text, in the namespace that the language gives it."""
    written = text[start:end]
    beginning, dot, rest = written.partition(".")
    namespace = next((each for each in NAMESPACES if dot and each == beginning), None)
    if language.is_filter:
        if namespace:
            raise ExpressionError(text, start, end, _no_namespace_here(namespace, rest))
        return Name("attribute", _plain(written, text, start, end))
    if namespace not in language.namespaces:
        raise ExpressionError(
            text,
            start,
            end,
            f"every name in a {language.title} begins with one of: {language.prefixes} (lower case); "
            "a string stands in quotes",
        )
    assert namespace is not None
    return Name(namespace, _plain(rest, text, start, end))


def _no_namespace_here(namespace: Namespace, rest: str) -> str:
    instead = (
        f"write {rest} here, or use context=" if namespace == "msg" else f"use context= for what reads {namespace}."
    )
    return f"a content filter sees only the message's attributes; {instead} (a name with a dot is quoted: `…`)"


def _plain(written: str, text: str, start: int, end: int) -> str:
    if written.startswith("`"):
        written = written[1:-1].replace("``", "`")
    elif not PLAIN.fullmatch(written):
        raise ExpressionError(text, start, end, "backticks quote a whole name; expected one pair around all of it")
    return checked_name(written, f"column {start + 1}")


def number(text: str, start: int, end: int) -> Constant:
    """A number as in JSON: a fraction or an exponent makes it a float."""
    written = text[start:end]
    if set(written) & set(".eE"):
        value: int | float = float(written)
        if not math.isfinite(value):
            raise ExpressionError(text, start, end, "too large for a double; expected at most 1.7976931348623157e308")
    else:
        value = int(written) if len(written) <= 20 else LARGEST_INT + 1
        if not SMALLEST_INT <= value <= LARGEST_INT:
            raise ExpressionError(
                text, start, end, "expected an integer in [-2^63, 2^63-1]; a fraction makes it a float"
            )
    return Constant("number", value)


def string(text: str, start: int, end: int) -> Constant:
    """A quoted string with JSON's escapes, and the single quote's."""

    def unescaped(found: re.Match[str]) -> str:
        escape = found[1]
        if escape in ESCAPES:
            return ESCAPES[escape]
        if escape[0] == "u" and len(escape) == 5:
            return chr(int(escape[1:], 16))
        at = start + 1 + found.start()
        raise ExpressionError(
            text, at, at + 2, "unknown escape; expected one of: \\\" \\' \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX"
        )

    value = ESCAPE.sub(unescaped, text[start + 1 : end - 1])
    try:
        # \ud83d\ude00 is one character in JSON: join the pairs, and refuse a half.
        joined = value.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise ExpressionError(
            text, start, end, "a lone surrogate is no character; expected a pair \\uD8..\\uDC.."
        ) from None
    return Constant("string", joined)
