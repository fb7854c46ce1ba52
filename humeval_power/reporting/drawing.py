"""A picture that has a small SVG of its own for pages; files of it are drawn by Matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from humeval_power.reporting.document import Picture, Table

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure


class Drawing(Picture):
    """A picture with a `title`, drawn twice: `svg` for a page, `draw` for files; `numbers` are its table, if any;
    one that `is_tall` scrolls in a frame of its own.

    The SVG holds presentation attributes and classes alone, as that of a chart: a page's style sheet has the say.
    """

    def __init__(
        self,
        name: str,
        draw: Callable[[], Figure],
        svg: Callable[[], str],
        *,
        title: str,
        words: str,
        caption: str = "",
        numbers: Table | None = None,
        is_tall: bool = False,
    ) -> None:
        super().__init__(name, draw, words=words, caption=caption)
        self.title, self.svg, self._numbers = title, svg, numbers
        self.is_tall = is_tall

    def named(self, name: str) -> Drawing:
        """The same picture under another name."""
        return Drawing(
            name,
            self._draw,
            self.svg,
            title=self.title,
            words=self.words,
            caption=self.caption,
            numbers=self._numbers,
            is_tall=self.is_tall,
        )

    def table(self) -> Table | None:
        """What it shows in numbers; None where they stand elsewhere or are too many."""
        return self._numbers
