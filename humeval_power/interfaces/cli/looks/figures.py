"""The pictures that the commands of `humeval-power looks` write."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from humeval_power.inference.looks.boundaries import Boundaries
from humeval_power.planning.looks.long_run import OperatingPoint

_NAMES = ("boundaries", "stopping", "expected_cost")


def figure_paths(directory: str) -> list[Path]:
    """The files that `figure_files` will have."""
    return [Path(directory) / f"{name}.{kind}" for name in _NAMES for kind in ("png", "svg")]


def figure_files(
    bounds: Boundaries,
    points: Sequence[OperatingPoint],
    curve: Sequence[OperatingPoint],
    *,
    sizes: Sequence[int],
    costs: Sequence[float] | None = None,
    unit: str = "",
    currency: str = "",
) -> dict[str, str | bytes]:
    """The pictures by file name: `points` are shown one by one, `curve` as a line over effects."""
    from humeval_power.reporting.figure_style import figure_bytes
    from humeval_power.reporting.looks.figures import (
        boundary_figure,
        expected_cost_figure,
        stopping_figure,
    )

    at_end = math.nan if costs is None else costs[-1]
    drawn = (
        boundary_figure(bounds),
        stopping_figure(points, unit=unit),
        expected_cost_figure(
            curve, size_at_end=sizes[-1], cost_at_end=at_end, currency=currency, unit=unit
        ),
    )
    files: dict[str, str | bytes] = {}
    for name, figure in zip(_NAMES, drawn, strict=True):
        files[f"{name}.png"] = figure_bytes(figure, "png")
        files[f"{name}.svg"] = figure_bytes(figure, "svg")
    return files
