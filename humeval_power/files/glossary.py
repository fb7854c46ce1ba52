"""The glossary of the documentation, which comes along with the package."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_NAME = "glossary.md"


@cache
def glossary() -> dict[str, str]:
    """What each word means; words that mean the same stand together, with commas."""
    beside = Path(__file__).with_name(_NAME)
    place = beside if beside.exists() else Path(__file__).resolve().parents[2] / "docs" / _NAME
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", place.read_text(encoding="utf-8"), re.MULTILINE)
    return {_plain(words): _plain(meaning) for words, meaning in rows if words != "Word"}


def _plain(text: str) -> str:
    """The text without the marks of Markdown."""
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text).replace("**", "").replace("`", "")
