"""Hints in error messages for users who write the syntax of SQL, Python, JSON or MQTT."""

from __future__ import annotations

import unicodedata

OPERATORS = "= != < <= > >= prefix suffix contains in"

OF_OPERATORS = {
    "&&": "write `and`",
    "&": "write `and`",
    "||": "write `or`",
    "|": "write `or`, or abs(…) in a context function",
    "!": "write `not`",
    "~": "there are no regular expressions: write prefix, suffix or contains",
    "=~": "there are no regular expressions: write prefix, suffix or contains",
    "!~": "there are no regular expressions: write not (x contains …)",
    "<>": "write `!=`",
    "===": "write `=`",
    "=>": "write `>=`",
    "=<": "write `<=`",
    "%": "there is no remainder",
    "^": "there is no power",
    ";": "nothing ends with it: remove it",
    "#": "there are no topics and no comments: name attributes",
    "$": "names begin with a letter",
    "@": "names begin with a letter",
    ":=": "write `=`",
    ":": "write `=`",
    "?": "there are no parameters: write the constant",
}

NO_NULL = "there is no null: write exists x, or not exists x"

OF_WORDS = {
    "like": "write prefix, suffix or contains",
    "ilike": "write prefix, suffix or contains",
    "matches": "there are no regular expressions: write prefix, suffix or contains",
    "regexp": "there are no regular expressions: write prefix, suffix or contains",
    "startswith": "write prefix",
    "starts": "write prefix",
    "endswith": "write suffix",
    "ends": "write suffix",
    "between": "write x >= a and x <= b",
    "is": "write =, or exists x, or not exists x",
    "exists": "write exists before the name: exists x",
    "null": NO_NULL,
    "none": NO_NULL,
    "nil": NO_NULL,
    "undefined": NO_NULL,
}

OF_CHARACTERS = {
    "[": "a list stands in parentheses: in (1, 2)",
    "{": "a list stands in parentheses: in (1, 2)",
    "]": "a list stands in parentheses: in (1, 2)",
    "}": "a list stands in parentheses: in (1, 2)",
    "\\": "a backslash stands only inside a string",
    "≥": "write >=",
    "≤": "write <=",
    "≠": "write !=",
    "“": 'write straight quotes: "…"',
    "”": 'write straight quotes: "…"',
    "‘": "write straight quotes: '…'",
    "’": "write straight quotes: '…'",
    ".": "a dot joins the parts of a name, without blanks around it",
    **dict.fromkeys("\"'`", "this string has no closing quote: add it"),
}


def unknown_operator(operator: str, *, is_operand: bool = False) -> str:
    """The message for an operator that does not exist; `is_operand`: a name or a constant was expected there."""
    hint = f" ({OF_OPERATORS[operator]})" if operator in OF_OPERATORS else ""
    if is_operand:
        return f"{operator} is not expected here{hint}; expected a name, a number, a string, true or false"
    return f"unknown operator{hint}; expected one of: {OPERATORS}"


def strange_character(character: str) -> str:
    """The message for a character that begins no token."""
    if character in OF_CHARACTERS:
        return f"{character} is not expected here; {OF_CHARACTERS[character]}"
    if not character.isprintable() or character.isspace():
        name = unicodedata.name(character, "a control character")
        return f"U+{ord(character):04X} ({name.lower()}) is no blank here; expected space, tab or a line break"
    return f"{character!r} is not expected here; names of other characters stand in `backticks`"


def strange_word(word: str) -> str | None:
    """A hint for a name where none is expected, if it is a word of another language."""
    return OF_WORDS.get(word.lower())
