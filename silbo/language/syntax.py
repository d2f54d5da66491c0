"""Read text by the grammar, or point at the first place that does not fit it.

The grammar is `grammar.lark`; lark makes the parser when the first expression is read. The result is
lark's own tree of tokens with their places; `meaning` turns it into ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from silbo.errors import ExpressionError
from silbo.language.hints import strange_word
from silbo.language.languages import Language
from silbo.language.tokens import KEYWORDS, Lexeme

if TYPE_CHECKING:
    from lark import Lark, Tree

    Parsed: TypeAlias = Tree[Lexeme] | Lexeme

READ_AGAIN = 400  # tokens

EXPECTED = {
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": "a string",
    "TRUE": "true",
    "FALSE": "false",
    "NOT": "not",
    "_EXISTS": "exists",
    "PREDICATE": "within, intersects",
    "OPERATOR": "= != < <= > >= prefix suffix contains",
    "_IN": "in",
    "AND": "and",
    "OR": "or",
    "PLUS": "+",
    "MINUS": "-",
    "SIGN": "-",
    "STAR": "*",
    "SLASH": "/",
    "_LPAR": "(",
    "_RPAR": ")",
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


def read(text: str, lexemes: Sequence[Lexeme], language: Language) -> Parsed:
    """The syntax tree of a text's tokens, or an `ExpressionError` that points at the fault."""
    from lark import UnexpectedToken

    try:
        tree: Any = _parser().parse(lexemes)  # its leaves are what our lexer gave
        return cast("Parsed", tree)
    except UnexpectedToken as error:
        token: Any = error.token  # one of ours, or lark's own at the end
        place = len(lexemes) if token.type == "$END" else lexemes.index(token)
        # the parser may have reduced before it saw that the token is wrong, and forgot what else could
        # follow. Asking it anew means reading again, which is for texts of ordinary length only.
        accepted = _accepted(lexemes[:place]) if place <= READ_AGAIN else error.expected
        raise _pointing(text, lexemes, place, _listed(accepted, language)) from None


def span(node: Parsed) -> tuple[int, int]:
    """Where a node begins and ends in the text."""
    first = last = node
    while not isinstance(first, Lexeme):
        first = first.children[0]
    while not isinstance(last, Lexeme):
        last = last.children[-1]
    return first.start, last.end


def _pointing(text: str, lexemes: Sequence[Lexeme], place: int, expected: str) -> ExpressionError:
    """The fault at a token that did not fit, or at the end of the text."""
    if place == len(lexemes):
        return ExpressionError(text, len(text), len(text), f"the text ends here; expected {expected}")
    token = lexemes[place]
    hint = _hint(token, lexemes[place - 1] if place else None)
    return ExpressionError(text, token.start, token.end, f"not expected here{hint}; expected {expected}")


def _accepted(lexemes: Sequence[Lexeme]) -> set[str]:
    """The tokens that could follow these."""
    parser: Any = _parser().parse_interactive(cast("Any", lexemes))
    parser.exhaust_lexer()
    return cast("set[str]", parser.accepts())


def _hint(token: Lexeme, previous: Lexeme | None) -> str:
    if token.type == "STRING" and previous is not None and previous.type == "STRING":
        return " (inside a string a quote is written \\' or \\\")"
    if token.type == "STAR" and previous is not None and previous.type == "STAR":
        return " (there is no power)"
    known = strange_word(token.text) if token.type in ("NAME", "_EXISTS") else None
    if known is None and token.text.lower() in KEYWORDS:
        known = f"a name that equals a keyword stands in backticks: `{token.text}`"
    return f" ({known})" if known else ""


def _listed(accepted: set[str], language: Language) -> str:
    left_out = {"PLUS", "MINUS", "SIGN", "STAR", "SLASH", "PREDICATE"} if language.is_filter else set()
    if "OPERATOR" in accepted:
        left_out.add("_LPAR")  # behind a name it would begin a call: not what is missing
    known = [EXPECTED[terminal] for terminal in EXPECTED if terminal in accepted - left_out]
    return "one of: " + ", ".join(known) if len(known) > 1 else "".join(known)
