"""The parts of a page: paragraphs, lists, tables and pictures, as HTML that needs nothing from elsewhere."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path


def whole(title: str, style: str, body: Iterable[str]) -> str:
    """A page."""
    head = f'<head><meta charset="utf-8"><title>{escape(title)}</title><style>{style}</style></head>'
    return "\n".join(["<!DOCTYPE html>", '<html lang="en">', head, "<body>", *body, "</body>", "</html>", ""])


def heading(text: str, level: int = 2) -> str:
    """A heading."""
    return f"<h{level}>{escape(text)}</h{level}>"


def paragraph(text: str) -> str:
    """A paragraph."""
    return f"<p>{escape(text)}</p>"


def listed(items: Iterable[str]) -> str:
    """A list."""
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def tabled(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(each)}</td>" for each in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def folded(summary: str, content: str) -> str:
    """What is shown when somebody asks for it."""
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def picture(path: Path, caption: str) -> str:
    """A PNG file, within the page."""
    data = b64encode(path.read_bytes()).decode("ascii")
    return (
        f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(path.name)}: {escape(caption)}</figcaption></figure>"
    )
