"""The parts of a page: paragraphs, lists, tables and pictures, as HTML without external resources."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

STYLE = """
body { font: 16px/1.5 Georgia, serif; color: #22303c; background: #fbfaf7 }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1, h2, h3 { font-family: system-ui, sans-serif; line-height: 1.2 }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #d9d5cb }
table { border-collapse: collapse; margin: 1rem 0; font: 14px/1.4 system-ui, sans-serif }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #e3e1db; text-align: right }
th { border-bottom: 2px solid #b9c0c8 }
td:first-child, th:first-child { text-align: left } figure { margin: 1.5rem 0 } img { max-width: 100% }
figcaption { font: 13px/1.4 system-ui, sans-serif; color: #5b6670 } summary { cursor: pointer }
"""


def whole(title: str, body: Iterable[str]) -> str:
    """A whole page."""
    head = f'<head><meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style></head>'
    return "\n".join(["<!DOCTYPE html>", '<html lang="en">', head, "<body>", *body, "</body>", "</html>", ""])


def marked(text: str) -> str:
    """Text as HTML; text in backticks becomes code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def heading(text: str, level: int = 2) -> str:
    """A heading."""
    return f"<h{level}>{marked(text)}</h{level}>"


def paragraph(text: str) -> str:
    """A paragraph."""
    return f"<p>{marked(text)}</p>"


def listed(items: Iterable[str]) -> str:
    """A list."""
    return "<ul>" + "".join(f"<li>{marked(item)}</li>" for item in items) + "</ul>"


def tabled(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    head = "".join(f"<th>{marked(each)}</th>" for each in heads)
    body = "".join("<tr>" + "".join(f"<td>{marked(each)}</td>" for each in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def folded(summary: str, content: str) -> str:
    """A part that is hidden until the reader opens it."""
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def picture(path: Path, caption: str) -> str:
    """A PNG file, embedded in the page."""
    data = b64encode(path.read_bytes()).decode("ascii")
    return (
        f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(path.name)}: {marked(caption)}</figcaption></figure>"
    )
