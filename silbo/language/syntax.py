"""Read text by the grammar, or point at the first place that does not fit it.

The grammar is `grammar.lark`; lark makes the parser when the first expression is read. The result is
lark's own tree of tokens with their places; `meaning` turns it into ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from silbo.errors import ExpressionError
from silbo.language.tokens import Lexeme

if TYPE_CHECKING:
    from lark import Lark, Tree, UnexpectedToken

    Parsed: TypeAlias = Tree[Lexeme] | Lexeme

OPERATORS = ("=", "==", "!=", "<", "<=", ">", ">=", "prefix", "suffix", "contains")
KNOWN_OPERATORS = "= != < <= > >= prefix suffix contains in"

# what people write who come from elsewhere
HINTS = {
    "&&": "write `and`",
    "&": "write `and`",
    "||": "write `or`",
    "|": "write `or`",
    "!": "write `not`",
    "~": "write `not`",
    "<>": "write `!=`",
    "===": "write `=`",
    "=>": "write `>=`",
    "=<": "write `<=`",
    "%": "there is no remainder",
    "^": "there is no power",
}

EXPECTED = {
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": "a string",
    "TRUE": "true",
    "FALSE": "false",
    "NOT": "not",
    "EXISTS": "exists",
    "PREDICATE": "within, intersects",
    "OPERATOR": "= != < <= > >= prefix suffix contains",
    "IN": "in",
    "AND": "and",
    "OR": "or",
    "PLUS": "+",
    "MINUS": "-",
    "SIGN": "-",
    "STAR": "*",
    "SLASH": "/",
    "LPAR": "(",
    "RPAR": ")",
    "_COMMA": "a comma",
    "$END": "the end",
}


@cache
def _parser() -> Lark:
    from importlib.resources import files

    from lark import Lark
    from lark.lexer import Lexer

    class Tokens(Lexer):
        """The tokens were made before: hand them on."""

        def __init__(self, _configuration: object) -> None:
            pass  # lark passes its terminals; ours are in `tokens`

        def lex(self, data: Any) -> Any:  # type: ignore[override]  # what a lexer of one's own has
            # lark reads a token's type and hands the token on; its own class costs a microsecond each.
            return iter(data)

    grammar = files("silbo.language").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer=Tokens, maybe_placeholders=False)


def read(text: str, lexemes: Sequence[Lexeme]) -> Parsed:
    """The syntax tree of a text's tokens, or an `ExpressionError` that points at the fault."""
    from lark import UnexpectedToken

    try:
        tree: Any = _parser().parse(lexemes)  # its leaves are what our lexer gave
        return cast("Parsed", tree)
    except UnexpectedToken as error:
        raise _pointing(text, error) from None


def span(node: Parsed) -> tuple[int, int]:
    """Where a node begins and ends in the text."""
    first = last = node
    while not isinstance(first, Lexeme):
        first = first.children[0]
    while not isinstance(last, Lexeme):
        last = last.children[-1]
    return first.start, last.end


def _pointing(text: str, error: UnexpectedToken) -> ExpressionError:
    token: Any = error.token  # one of ours, or lark's own at the end
    expected = _listed(error.accepts or error.expected)
    if token.type == "$END":
        return ExpressionError(text, len(text), len(text), f"the text ends here; expected {expected}")
    if token.type == "OPERATOR" and token.text.lower() not in OPERATORS:
        return ExpressionError(text, token.start, token.end, unknown_operator(token.text))
    return ExpressionError(text, token.start, token.end, f"not expected here; expected {expected}")


def unknown_operator(operator: str) -> str:
    """What to say of an operator that does not exist."""
    hint = f" ({HINTS[operator]})" if operator in HINTS else ""
    return f"unknown operator{hint}; expected one of: {KNOWN_OPERATORS}"


def _listed(accepts: Iterable[str]) -> str:
    known = [EXPECTED[terminal] for terminal in EXPECTED if terminal in accepts]
    return "one of: " + ", ".join(known) if len(known) > 1 else "".join(known)
