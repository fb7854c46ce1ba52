"""Text for an HTML page, whatever stands in it."""

from __future__ import annotations

from html import escape

from humeval_power.safe_text.visible import one_line


def html_text(text: str) -> str:
    """The text on one line, for an element or a quoted attribute."""
    return escape(one_line(text))
