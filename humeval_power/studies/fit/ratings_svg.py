"""How ratings are spread over their scale as SVG: upright bars for each system, with its mean."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from humeval_power.safe_text import cut
from humeval_power.saying.chart import Axis
from humeval_power.saying.numbers import significant, with_minus
from humeval_power.saying.render.svg import COLOURS, WIDTH, svg_element, svg_text, svg_width
from humeval_power.scales import RatingScale

# Where the bars of a picture of ratings begin and end.

MOST_ROWS = 12  # systems that one picture shows
_MOST_VALUES, _BINS = 21, 20
Floats = NDArray[np.float64]


def rating_edges(ratings: Floats, scale: RatingScale | None) -> Floats:
    """Bins around each different value where there are few, else equal ones over all ratings."""
    values = np.unique(np.round(ratings, 9))
    if scale is not None and scale.points is not None and scale.points <= _MOST_VALUES:
        values = np.union1d(values, np.linspace(scale.low, scale.high, scale.points).round(9))
    if len(values) > _MOST_VALUES:
        low, high = (0.0, 1.0) if scale is None else (scale.low, scale.high)
        return np.linspace(min(low, float(values[0])), max(high, float(values[-1])), _BINS + 1)
    step = float(np.diff(values).min()) if len(values) > 1 else 1.0
    return np.unique(np.concatenate([values - step / 2, values + step / 2]).round(9))


_SIZE = 13.0
_LEFT, _RIGHT, _TOP = 42.0, 14.0, 4.0
_ROW, _BARS = 66.0, 42.0  # heights of a row and of its bars
_GAP = 0.08  # between bars, in their width


def ratings_svg(
    by_system: Mapping[str, NDArray[np.float64]], scale: RatingScale | None, title: str, words: str
) -> str:
    """A row of bars for each system: the share of its ratings at each value."""
    shown = dict(list(by_system.items())[:MOST_ROWS])
    edges = rating_edges(np.concatenate(list(shown.values())), scale)
    axis = Axis("Rating", float(edges[0]), float(edges[-1]))
    shares = [np.histogram(ratings, edges)[0] / len(ratings) for ratings in shown.values()]
    most = max(float(each.max()) for each in shares)
    parts = []

    def across(value: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * axis.share(value)

    for row, ((name, ratings), share) in enumerate(zip(shown.items(), shares, strict=True)):
        top = _TOP + _ROW * row
        base, mean = top + 18 + _BARS, float(ratings.mean())
        sentence = f"mean {with_minus(significant(mean))}"
        room = int((WIDTH - _LEFT - _RIGHT - svg_width(sentence, _SIZE)) / (0.56 * _SIZE)) - 1
        parts.append(_words(cut(name, max(room, 8)), _LEFT, top + 13))
        parts.append(
            f'<g class="f1" fill="{COLOURS[1]}">{svg_text(sentence, WIDTH - _RIGHT, top + 13, anchor="end")}</g>'
        )
        parts.append(_words(f"{100 * most:.0f} %", _LEFT - 5, base - _BARS + 10, anchor="end"))
        bars = "".join(
            f"M{across(low) + _GAP * (across(high) - across(low)):.1f} {base:.1f}v-{_BARS * part / most:.1f}"
            f"h{(1 - 2 * _GAP) * (across(high) - across(low)):.1f}V{base:.1f}z"
            for low, high, part in zip(edges[:-1].tolist(), edges[1:].tolist(), share.tolist(), strict=True)
            if part > 0
        )
        parts.append(f'<path d="{bars}" class="f0" fill="{COLOURS[0]}"/>')
        parts.append(
            f'<path d="M{_LEFT:.1f} {base:.1f}H{WIDTH - _RIGHT:.1f}" stroke="currentColor" stroke-opacity="0.5"/>'
        )
        parts.append(
            f'<path d="M{across(mean):.1f} {base:.1f}v-{_BARS:.1f}" class="s1" stroke="{COLOURS[1]}" '
            'stroke-width="2"/>'
        )
    bottom = _TOP + _ROW * len(shown)
    values = (edges[:-1] + edges[1:]) / 2
    ticks = values.tolist() if len(values) <= 7 else list(axis.ticks())
    for tick in ticks:
        text = with_minus(f"{tick:g}") if len(values) <= 7 else axis.tick_text(tick)
        parts.append(_words(text, across(tick), bottom + 10, anchor="middle"))
    lower = "" if scale is None or scale.higher_is_better else ", lower is better"
    parts.append(_words(f"Rating{lower}", WIDTH / 2, bottom + 28, anchor="middle"))
    height = bottom + 36
    if len(by_system) > len(shown):
        parts.append(_words(f"The first {len(shown)} of {len(by_system):,} systems", 4, bottom + 46))
        height += 18
    return svg_element(title, words, height, "".join(parts))


def _words(text: str, x: float, y: float, *, anchor: str = "") -> str:
    return f'<g fill="currentColor">{svg_text(text, x, y, anchor=anchor)}</g>'
