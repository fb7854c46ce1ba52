"""Text for Markdown, with every character that Markdown could act on made plain."""

from __future__ import annotations

import re

from humeval_power.safe_text.visible import one_line

# Whatever Markdown, or the HTML inside it, could read as more than a character. An interval such as
# [0, 1] and the underscores inside a name are left as they are: nothing acts on them.
_SPECIAL = re.compile(
    r"(?P<plain>\[0, 1\](?![\[(:])|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9]))"
    r"|[\\`*_\[\]<|~$]|&(?=[#A-Za-z0-9]+;)|^(?:[#>]|[+=-](?=[\s=-]|$)|\d+(?=[.)](?:\s|$)))"
)


def markdown_text(text: str) -> str:
    """Text on one line, for a paragraph, a list or a cell of a table."""
    return _SPECIAL.sub(_backslashed, one_line(text))


def markdown_code(text: str) -> str:
    """Text on one line as code, between more backticks than stand in it; not for cells of tables."""
    line = one_line(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    edge = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{edge}{line}{edge}{fence}"


def _backslashed(found: re.Match[str]) -> str:
    if found["plain"] is not None:
        return found[0]
    return f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}"
