"""The ranks of many systems as SVG: a thin row for each, which says its numbers where it is pointed at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from humeval_power.inference.rank.leaderboard import Leaderboard, Place
from humeval_power.reporting.chart import Axis
from humeval_power.reporting.render.svg import COLOURS, WIDTH, svg_element, svg_text, svg_width
from humeval_power.safe_text import cut, html_text

_SIZE, _ROW, _LONGEST = 8.5, 10.0, 26  # of letters, of rows, characters of a name
_TOP, _RIGHT = 20.0, 8.0
_TICK = 13.0


def rank_rows_svg(board: Leaderboard, title: str, words: str, said: Sequence[str]) -> str:
    """Rows of the systems, best on top, in quiet bands of tiers; `said` of each where the pointer rests."""
    places, n = board.places, len(board.places)
    names = [cut(each.system, _LONGEST) for each in places]
    left = 10 + 1.15 * max(svg_width(name, _SIZE) for name in names)
    axis = Axis("Rank", 0.5, n + 0.5, is_whole=True)
    bottom = _TOP + _ROW * n

    def across(rank: float) -> float:
        return left + (WIDTH - left - _RIGHT) * axis.share(rank)

    parts = [*_bands(places), '<g stroke="currentColor" stroke-opacity="0.16">']
    parts += [f'<path d="M{across(tick):.0f} {_TOP:g}V{bottom:g}"/>' for tick in axis.ticks()]
    parts += ["</g>", f'<g fill="currentColor" font-size="{_SIZE:g}">']
    parts += _rows(places, names, said, across, left)
    parts.append(f'</g><g fill="currentColor" font-size="{_TICK:g}">')
    parts += [
        svg_text(axis.tick_text(tick), across(tick), y, anchor="middle")
        for tick in axis.ticks()
        for y in (_TOP - 6, bottom + 16)
    ]
    parts += [svg_text("Rank", across((n + 1) / 2), bottom + 34, anchor="middle"), "</g>"]
    return svg_element(title, words, bottom + 42, "".join(parts))


def _bands(places: Sequence[Place]) -> Iterator[str]:
    """Every second run of systems with the same first tier, in grey."""
    start, shaded = 0, False
    for row in range(1, len(places) + 1):
        if row < len(places) and places[row].tier_low == places[start].tier_low:
            continue
        if shaded:
            y, height = _TOP + _ROW * start, _ROW * (row - start)
            yield (
                f'<rect x="0" y="{y:g}" width="{WIDTH:g}" height="{height:g}" fill="currentColor" '
                'fill-opacity="0.06"/>'
            )
        start, shaded = row, not shaded


def _rows(
    places: Sequence[Place],
    names: Sequence[str],
    said: Sequence[str],
    across: Callable[[float], float],
    left: float,
) -> Iterator[str]:
    """A bar from the lowest to the highest rank and a dot at the expected one, of another colour for those that may
    be first; with a ground that the pointer meets."""
    for row, (each, name, text) in enumerate(zip(places, names, said, strict=True)):
        top, colour = _TOP + _ROW * row, int(each.may_be_first)
        low, high = across(each.rank_low - 0.5), across(each.rank_high + 0.5)
        middle, look = top + _ROW / 2, f'class="f{colour}" fill="{COLOURS[colour]}"'
        yield (
            f'<g class="row"><title>{html_text(text)}</title>'
            f'<path d="M0 {top:g}h{WIDTH:g}v{_ROW:g}H0Z" fill-opacity="0"/>'
            f"{svg_text(name, left - 6, middle + 3, anchor='end')}"
            f'<path d="M{low:.0f} {middle - 2:g}H{high:.0f}v4H{low:.0f}Z" {look} fill-opacity="0.45"/>'
            f'<circle cx="{across(each.expected):.0f}" cy="{middle:g}" r="2.4" {look}/></g>'
        )
