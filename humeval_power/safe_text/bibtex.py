"""Text for a field of a BibTeX entry, between braces."""

from __future__ import annotations

from humeval_power.safe_text.latex import latex_text


def bibtex_text(text: str) -> str:
    r"""LaTeX without braces of its own: BibTeX counts \{ as a brace, and a style would change capitals."""
    return latex_text(text).replace(r"\{", r"\symbol{123}").replace(r"\}", r"\symbol{125}")
