"""Text for an HTML page, whatever stands in it."""

from __future__ import annotations

from html import escape


def html_text(text: str) -> str:
    """The text on one line, with what HTML would read as markup escaped."""
    return escape(" ".join(text.split()))
