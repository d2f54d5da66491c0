"""Names, numbers and strings as they stand in the text, turned into what they mean."""

from __future__ import annotations

import math
import re

from silbo.errors import ExpressionError, InvalidValue
from silbo.language.languages import Language
from silbo.language.tokens import PLAIN_NAME, Tokens
from silbo.language.tree import Constant, Name, Namespace
from silbo.model.values import LARGEST_INT, SMALLEST_INT, checked_name

NAMESPACES: tuple[Namespace, ...] = ("msg", "pub", "this", "sub")

ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", **{c: c for c in "\"'\\/"}}

PLAIN = re.compile(PLAIN_NAME)

REMEMBERED = 4_096  # names: the same ones stand in many texts, and their trees share one node
_names: dict[str, Name] = {}


def name(tokens: Tokens, token: int, language: Language) -> Name:
    """The name that a token is, in the namespace that the language gives it."""
    written = tokens.words[token]
    known = _names.get(written)
    if known is None or known.namespace not in language.namespaces:
        known = _name(tokens, token, language)
        if len(_names) >= REMEMBERED:
            _names.clear()
        _names[written] = known
    return known


def _name(tokens: Tokens, token: int, language: Language) -> Name:
    written = tokens.words[token]
    beginning, dot, rest = written.partition(".")
    namespace = next((each for each in NAMESPACES if dot and each == beginning), None)
    if language.is_filter:
        if namespace:
            raise tokens.error(_no_namespace_here(namespace, rest), token)
        return Name("attribute", _plain(written, tokens, token))
    if namespace not in language.namespaces:
        raise tokens.error(
            f"every name in a {language.title} begins with one of: {language.prefixes} (lower case); "
            "a string must be in quotes",
            token,
        )
    assert namespace is not None
    return Name(namespace, _plain(rest, tokens, token))


def _no_namespace_here(namespace: Namespace, rest: str) -> str:
    instead = (
        f"write {rest} here, or use context=" if namespace == "msg" else f"use context= for what reads {namespace}."
    )
    return f"a content filter sees only the message's attributes; {instead} (a name with a dot is quoted: `…`)"


def _plain(written: str, tokens: Tokens, token: int) -> str:
    if written.startswith("`"):
        written = written[1:-1].replace("``", "`")
    elif not PLAIN.fullmatch(written):
        raise tokens.error("backticks quote a whole name; expected one pair around all of it", token)
    try:
        return checked_name(written, "")
    except InvalidValue:
        pass
    return checked_name(written, f"column {tokens.span(token)[0] + 1}")  # raises again, and says where


def number(tokens: Tokens, token: int) -> Constant:
    """A number as in JSON: a fraction or an exponent makes it a float."""
    written = tokens.words[token]
    if "." in written or "e" in written or "E" in written:
        value: int | float = float(written)
        if not math.isfinite(value):
            raise tokens.error("too large for a double; expected at most 1.7976931348623157e308", token)
    else:
        value = int(written) if len(written) <= 20 else LARGEST_INT + 1
        if not SMALLEST_INT <= value <= LARGEST_INT:
            raise tokens.error("expected an integer in [-2^63, 2^63-1]; a fraction makes it a float", token)
    return Constant("number", value)


def string(tokens: Tokens, token: int) -> Constant:
    """A quoted string with JSON's escapes, and the single quote's."""
    written = tokens.words[token]
    if "\\" not in written:
        return Constant("string", written[1:-1])

    def unescaped(found: re.Match[str]) -> str:
        escape = found[1]
        if escape in ESCAPES:
            return ESCAPES[escape]
        if escape[0] == "u" and len(escape) == 5:
            return chr(int(escape[1:], 16))
        at = tokens.span(token)[0] + 1 + found.start()
        raise ExpressionError(
            tokens.text, at, at + 2, "unknown escape; expected one of: \\\" \\' \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX"
        )

    value = ESCAPE.sub(unescaped, written[1:-1])
    try:
        # \ud83d\ude00 is one character in JSON: join the pairs, and refuse a half.
        joined = value.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise tokens.error("a lone surrogate is not a character; expected a pair \\uD8..\\uDC..", token) from None
    return Constant("string", joined)
