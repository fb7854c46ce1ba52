"""Real minus signs for documents, where a program would write a hyphen."""

from __future__ import annotations

import re

MINUS = "\u2212"


def with_minus(text: str) -> str:
    """A number as text with a real minus sign."""
    return text.replace("-", MINUS)


def minus_of_numbers(text: str) -> str:
    """A sentence with real minus signs before numbers and in B - A; hyphens stay."""
    return re.sub(r"(?<![\w-])-(?=\d)", MINUS, text).replace("B - A", f"B {MINUS} A")
