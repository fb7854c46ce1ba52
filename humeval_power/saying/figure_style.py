"""One look for every figure, and figures as bytes that are the same on every run."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import matplotlib
from matplotlib.figure import Figure

from humeval_power.safe_text import FONT

FigureFormat = Literal["png", "svg", "pdf"]

# Okabe and Ito's colours for any colour vision, without their yellow, which is lost on white paper;
# each goes with its own marker and dashes, so that a grey print says the same.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
Dashes = tuple[float, tuple[float, ...]] | Literal["-"]
DASHES: tuple[Dashes, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (5, 1.5, 1.2, 1.5)),
    (0, (8, 2)),
    (0, (3, 1.2, 1.2, 1.2, 1.2, 1.2)),
    (0, (2.5, 1)),
    (0, (8, 1.5, 1.2, 1.5)),
)
INK, QUIET, GRID = "#222222", "#595959", "#E4E4E4"
PNG_DPI = 200

STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": [FONT],  # comes with matplotlib: the same glyphs on every machine
    "font.size": 7.5,
    "axes.titlesize": 7.5,
    "axes.labelsize": 8.0,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.3,
    "lines.markersize": 3.6,
    "legend.fontsize": 7.5,
    "legend.title_fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "legend.columnspacing": 1.4,
    "legend.handletextpad": 0.5,
    "text.parse_math": False,  # a setting may be called $x
    "svg.fonttype": "path",
    "svg.hashsalt": "humeval_power",
    "pdf.fonttype": 42,
}
NO_DATE: dict[str, dict[str, str | None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": "humeval_power"},
    "pdf": {"CreationDate": None, "Creator": "humeval_power", "Producer": None},
}


@contextmanager
def house_style() -> Iterator[None]:
    """Matplotlib's own defaults with STYLE on top, whatever the user has set; restored afterwards."""
    with matplotlib.rc_context(), warnings.catch_warnings():
        # Names show what the font lacks as codes (`picture_text`); a caller's own title may not.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from")
        matplotlib.rcdefaults()
        for name, value in STYLE.items():
            matplotlib.rcParams[name] = value  # type: ignore[index]
        yield


def figure_bytes(figure: Figure, format: FigureFormat) -> bytes:
    """The figure as a file's content: PNG at 200 dpi, SVG with text as outlines, or PDF.

    The bytes hold no date and depend on the figure and on matplotlib's version alone.
    """
    content = io.BytesIO()
    with house_style():
        figure.savefig(content, format=format, dpi=PNG_DPI, metadata=NO_DATE[format])
    return content.getvalue()
