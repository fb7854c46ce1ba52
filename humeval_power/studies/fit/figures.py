"""Pictures of ratings and of a fit: the effect, categories, who rated what, and how ratings are spread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, MultipleLocator
from numpy.typing import ArrayLike, NDArray

from humeval_power.checking.columns import shortened
from humeval_power.errors import InputError
from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.safe_text import picture_text
from humeval_power.saying.figure_style import COLOURS, GRID, INK, QUIET, house_style
from humeval_power.saying.numbers import level_of
from humeval_power.scales import RatingScale
from humeval_power.studies.fit.check import MOST_ROWS, rating_edges
from humeval_power.studies.fit.wald import EffectTest
from humeval_power.studies.fit.who_rated_what import CellMap


def effect_figure(
    tested: EffectTest,
    systems: tuple[str, ...],
    scale: RatingScale | None = None,
    *,
    interest: float | None = None,
    width: float = 4.6,
) -> Figure:
    """A dot at the difference B - A, a bar over its interval; the raw scale is the upper axis.

    The line is a difference of 0; with a margin, differences within it are shaded (all above minus the
    margin under non-inferiority). Dashed is `interest`, the smallest difference that would matter.
    """
    low, high = tested.interval
    with house_style():
        figure = Figure(figsize=(width, 1.25), layout="constrained")
        axes = figure.subplots()
        axes.plot([low, high], [0, 0], color=COLOURS[0], linewidth=2.2, solid_capstyle="butt", zorder=3)
        axes.plot([tested.estimate], [0], "o", color=COLOURS[0], markersize=6, zorder=4, gid="estimate")
        axes.axvline(0, color=INK, linewidth=0.9, zorder=2)
        ends = [low, high, 0.0]
        if tested.rule.margin is not None:
            ends += [-tested.rule.margin, tested.rule.margin]
        elif interest is not None:
            ends += [-interest, interest]
            for end in (-interest, interest):
                axes.axvline(end, color=QUIET, linewidth=0.9, linestyle=(0, (5, 1.5)), gid="interest")
        edge = 0.12 * (max(ends) - min(ends) or 1.0)
        axes.set_xlim(min(ends) - edge, max(ends) + edge)
        _shade_margin(axes, tested)
        axes.set_ylim(-1, 1)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_locator(MaxNLocator(7))
        a, b = (shortened(picture_text(name), width=24) for name in systems)
        level = f"{level_of(tested.rule.confidence)} interval"
        dashed = "" if interest is None or tested.rule.margin is not None else "; dashed: what would matter"
        axes.set_xlabel(f"Difference {b} - {a} on [0, 1], {level}{dashed}")
        for place, name, side in ((0.005, a, "left"), (0.995, b, "right")):
            words = axes.annotate(
                f"{name} better", (place, 0.95), xycoords="axes fraction", va="top", ha=side, color=QUIET
            )
            words.set_in_layout(False)  # a long name may be cut, the axis may not
            words.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.8})
        _raw_axis(axes, scale)
    return figure


def _shade_margin(axes: Axes, tested: EffectTest) -> None:
    margin = tested.rule.margin
    if margin is None:
        return
    above = margin if tested.rule.alternative == "equivalent" else axes.get_xlim()[1]
    axes.axvspan(-margin, above, color=COLOURS[2], alpha=0.14, linewidth=0, gid="margin")
    for end in {-margin, above} & {-margin, margin}:
        axes.axvline(end, color=COLOURS[2], linewidth=0.9, linestyle=(0, (2, 1.5)))


def _raw_axis(axes: Axes, scale: RatingScale | None) -> None:
    if scale is None or (scale.low, scale.high) == (0, 1):
        return
    points = scale.effect_to_raw(1)
    upper = axes.secondary_xaxis("top", functions=(_times(points), _times(1 / points)))
    upper.xaxis.set_major_locator(MaxNLocator(7))
    upper.set_xlabel(f"in points of the scale {scale.low:g} to {scale.high:g}")


def _times(factor: float) -> Callable[[ArrayLike], ArrayLike]:
    return lambda values: np.asarray(values, dtype=float) * factor


# How often each category was used, as observed and as fitted: two stacked bars for each system.

_HEIGHTS = (4.15, 3.4, 2.0, 1.25)  # of the bars: A observed and fitted, B observed and fitted
_THICK = 0.62
_NARROW = 0.06  # a share below which its rating is not written into the bar


def categories_figure(
    fitted: LatentFit, systems: tuple[str, ...], points: Sequence[str], *, width: float = 4.6
) -> Figure:
    """For each system the shares of its ratings, worst first, above those that the fit expects.

    systems : the names of A and B.
    points : the categories as rated, worst first.
    """
    rows = [shares for system in (0, 1) for shares in (fitted.shares[system], fitted.latent.shares(system))]
    shades = [colormaps["cividis"](place) for place in np.linspace(0.12, 0.95, len(points))]
    with house_style():
        figure = Figure(figsize=(width, 2.1), layout="constrained")
        axes = figure.subplots()
        for height, shares in zip(_HEIGHTS, rows, strict=True):
            left = 0.0
            for share, shade, point in zip(shares, shades, points, strict=True):
                axes.barh(height, share, _THICK, left=left, color=shade, edgecolor="white", linewidth=0.6)
                if share >= _NARROW:
                    dark = 0.3 * shade[0] + 0.6 * shade[1] + 0.1 * shade[2] < 0.5
                    look = {
                        "ha": "center",
                        "va": "center",
                        "color": "white" if dark else INK,
                        "fontsize": 7,
                    }
                    axes.text(left + share / 2, height, picture_text(point), **look)  # type: ignore[arg-type]
                left += share
        names = [shortened(picture_text(name), width=24) for name in systems]
        axes.set_yticks(_HEIGHTS, ["observed", "fitted", "observed", "fitted"])
        for name, height in zip(names, (4.62, 2.47), strict=True):
            axes.text(0, height, name, color=INK, va="bottom", fontsize=7.5)
        axes.set_ylim(0.8, 5.1)
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_locator(MultipleLocator(0.25))
        axes.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("Share of the ratings, worst rating left")
    return figure


# Who rated what, as a picture: a grid of workers and items, ordered so that blocks and gaps show.

_SHADES = ("#C6DBEF", "#6BAED6", "#2F7FBC", "#08407E")
_TWO = (COLOURS[1], COLOURS[2], COLOURS[0])  # A only, B only, both
_MOST_NAMES = 24  # workers whose names stand at their rows


def assignment_figure(grid: CellMap, worker_names: tuple[str, ...], *, width: float = 5.2) -> Figure:
    """A row for each worker, or each group of workers, and a column for each item, or group of items.

    grid : levels, shape (rows, columns).
    worker_names : of all workers, by code; shown at the rows where there are few.
    """
    n_rows = len(grid.levels)
    colours = _TWO if grid.is_pair else _SHADES[-len(grid.labels) :]
    with house_style():
        height = 0.85 + min(max(0.11 * n_rows, 0.5), 3.6)
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots()
        shown = ListedColormap(["white", *colours])
        axes.imshow(grid.levels, cmap=shown, vmin=0, vmax=len(colours), aspect="auto", interpolation="none")
        axes.grid(False)
        axes.tick_params(length=0)
        axes.set_xticks([])
        if n_rows <= _MOST_NAMES and not grid.is_binned:
            names = [shortened(picture_text(worker_names[code]), width=20) for code in grid.worker_order]
            axes.set_yticks(range(n_rows), names, fontsize=6)
        else:
            axes.set_yticks([])
        workers, items = grid.axis_words
        axes.set_ylabel(workers)
        axes.set_xlabel(items)
        handles = []
        for level in grid.shown:
            label = shortened(picture_text(grid.labels[level - 1]), width=30)
            handles.append(Patch(facecolor=colours[level - 1], edgecolor=GRID, label=label))
        figure.legend(handles=handles, loc="outside upper center", ncols=4, fontsize=6.5, labelcolor=QUIET)
    return figure


# How ratings are spread over their scale, as a picture: a row of bars for each system.

Floats = NDArray[np.float64]


def ratings_figure(
    by_system: Mapping[str, Floats], scale: RatingScale | None, *, width: float = 4.6
) -> Figure:
    """A row for each system: the share of its ratings at each value, and its mean as a line.

    Ratings of more than 21 different values are counted in 20 bins.

    Parameters
    ----------
    by_system : raw ratings by the name of the system; of more than 12 the first are shown.
    scale : the scale that they were given on; None for [0, 1].

    Raises
    ------
    InputError
        No system.
    """
    shown = dict(list(by_system.items())[:MOST_ROWS])
    if not shown:
        raise InputError("There are no ratings to draw.")
    edges = rating_edges(np.concatenate(list(shown.values())), scale)
    with house_style():
        height = 0.72 + 0.62 * len(shown)
        figure = Figure(figsize=(width, height), layout="constrained")
        rows = np.atleast_1d(figure.subplots(len(shown), 1, sharex=True, sharey=True))
        for axes, (name, ratings) in zip(rows, shown.items(), strict=True):
            _draw(axes, name, ratings, edges)
        rows[0].set_ylim(bottom=0)
        rows[0].yaxis.set_major_locator(MaxNLocator(2))
        rows[0].yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
        lower = "" if scale is None or scale.higher_is_better else ", lower is better"
        figure.supxlabel(f"Rating{lower}", fontsize=8)
        if len(by_system) > len(shown):
            note = f"The first {len(shown)} of {len(by_system):,} systems"
            figure.suptitle(note, fontsize=7.5, color=QUIET)
    return figure


def _draw(axes: Axes, name: str, ratings: Floats, edges: Floats) -> None:
    counts, _ = np.histogram(ratings, edges)
    middles, widths = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
    axes.bar(middles, counts / len(ratings), width=0.84 * widths, color=COLOURS[0], alpha=0.75)
    mean = float(ratings.mean())
    axes.axvline(mean, color=COLOURS[1], linewidth=1.3)
    axes.set_title(shortened(picture_text(name), width=32), loc="left", color=INK, pad=2)
    axes.set_title(f"mean {mean:.4g}", loc="right", color=COLOURS[1], pad=2)
