"""A leaderboard as tables, pictures and plain values: the same for scores and for battles."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.columns import listing, shortened
from humeval_power.clusters import Clusters
from humeval_power.comparisons.rank.last_board import Changes, LastBoard, changes
from humeval_power.comparisons.rank.leaderboard import (
    MOST_LETTERED,
    BattleRanking,
    BoardPlace,
    FurtherData,
    Leaderboard,
    RankPair,
    ScoreRanking,
    alpha_of_looks,
)
from humeval_power.safe_text import cut, html_text
from humeval_power.saying.answer_words import of_hundred
from humeval_power.saying.chart import Axis, Chart, EstimateRow, EstimateRows, Series
from humeval_power.saying.document import Drawing, Facts, Paragraph, Picture, Section, Table, prose_of
from humeval_power.saying.numbers import (
    counted,
    level_of,
    p_cell,
    percent,
    significant,
    significant_interval,
)
from humeval_power.saying.quantities import values
from humeval_power.saying.render.svg import COLOURS, WIDTH, svg_element, svg_text, svg_width
from humeval_power.saying.result import Record
from humeval_power.saying.stated import PaperResult, data_entry, signature, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PAIRS = 28  # that a terminal lists without being asked
MOST_LISTED = 325  # that a page lists, and a record by their names: those of 26 systems
_MOST_ROWS = 40  # systems with a row of the picture each
_MOST_MOVES = 20  # systems whose ranks are shown beside those of before
_HALF = 0.3  # of a rank, on each side of a line
LAW = {
    "holm": "Holm's method for both directions of every pair",
    "max-t": "the law of the largest t of all pairs, stepping down",
    "signs": "random signs of the clusters, stepping down, with no difference imposed",
}


@dataclass(frozen=True, kw_only=True)
class RankResult(PaperResult):
    """Systems in an order, with what the data leave open; subclasses say what they were ranked by."""

    found: BattleRanking | ScoreRanking
    last: LastBoard | None = None

    @property
    def changes(self) -> Changes | None:
        """What is new since the last board."""
        return changes(self.found.board, self.last)

    def prose(self, passage: str, **facts: object) -> str:
        """A passage of the template, with what is known of every board."""
        board = self.found.board
        confidence = None if board.look is None else percent(1 - alpha_of_looks(board.alpha, board.look))
        facts |= {"board": board, "confidence": confidence, "law": LAW[board.test]}
        breaks = listing([str(rank) for rank in board.breaks], limit=6) if board.breaks else ""
        written = prose_of(__package__, "rank.md.j2", breaks=breaks, ranking=self.found, **facts)
        return written(passage)

    def sections(
        self, estimates: Section, own: Iterable[Section], *, more: str, pairs: str
    ) -> tuple[Section, ...]:
        """All of the answer, the subclass's `own` before the pairs; `more` is what more of would tell, `pairs`
        what their differences are of."""
        board = self.found.board
        return (
            estimates,
            *_changes_sections(self.changes),
            Section("How to read this", (Paragraph(self.prose("reading")),)),
            *_more_section(board.more, more, len(board.places)),
            *own,
            _pairs_section(board, pairs),
        )

    @abstractmethod
    def paragraph(self) -> str: ...

    def paper(self) -> tuple[str, ...]:
        return (self.paragraph(),)

    def table_rows(self) -> list[Record]:
        return [
            {
                name: None if isinstance(value, float) and math.isinf(value) else value
                for name, value in asdict(each).items()
                if name != "chances"
            }
            | {"chance_best": each.best}
            for each in self.found.board.places
        ]

    def board_numbers(self) -> Record:
        """Places and pairs, and what is new since the last board."""
        board, changed = self.found.board, self.changes
        is_long = board.n_pairs > MOST_LISTED
        pairs = _pair_columns(board) if is_long else [asdict(each) for each in board.pairs]
        return {
            **values(board, "alpha", "test", "look", "n_draws", "n_parts", "n_tiers", "breaks"),
            "only_system": board.only,
            "may_be_first": [each.system for each in board.places if each.may_be_first],
            "systems": [
                {**row, "chances": list(each.chances)}
                for row, each in zip(self.table_rows(), board.places, strict=True)
            ],
            "pairs": pairs,
            "last_board": changed
            and {
                **values(changed.last, "source", "look"),
                "n_compared": changed.n_compared,
                "moves": [values(each, "system", "before", "now") for each in changed.moves],
                **values(changed, "joined", "left"),
            },
        }

    def figure(self) -> Figure:
        return ranks_chart(self.found.board).figure


def board_lead(board: Leaderboard) -> str:
    """Which systems hold the best, in how many pairs a difference is shown, how wide ranks are; or one system's."""
    n, alpha = len(board.places), f"alpha {board.alpha:.4g}"
    if board.only is not None:
        one = next(each for each in board.places if each.system == board.only)
        return (
            f"{shortened(one.system)} has rank {rank_words(one)} of {n}: {one.rank_low - 1:,} systems are shown to "
            f"be better and {n - one.rank_high:,} to be worse ({alpha})."
        )
    apart = f"{board.n_apart:,}" if board.n_apart else "none"
    shown = f"A difference is shown in {apart} of {board.n_pairs:,} pairs ({alpha})"
    if board.n_parts > 1:
        parts = [sum(each.part == part for each in board.places) for part in range(board.n_parts)]
        sizes = ", ".join(map(str, parts[:-1])) + f" and {parts[-1]}"
        return (
            f"{n} systems fall into {board.n_parts} parts that never met, of {sizes}: each is a board of its own. "
            f"{shown}."
        )
    first = [each.system for each in board.places if each.may_be_first]
    confidence = level_of(1 - board.alpha)
    if board.n_pairs == 1:
        best, other = (shortened(each.system) for each in board.places)
        if board.n_apart:
            return f"{best} is shown to be better than {other} (two-sided test, {alpha})."
        alone = f" Asked only which of the two is best, the answer is {best}, with {confidence} confidence."
        return (
            f"{best} stands above {other}, but no difference is shown (two-sided test, {alpha})."
            + alone * (len(first) == 1)
        )
    width = median(each.width for each in board.places)
    typical = f"ranks typically span {width:g} places" if width > 1 else "ranks are typically known exactly"
    best = f"one of {len(first)}: {listing(first, limit=6)}"
    if len(first) <= 2:
        best = " or ".join(map(shortened, first))
    return f"With {confidence} confidence the best of {n} systems is {best}. {shown}; {typical}."


def board_section(
    board: Leaderboard, value: str, axis: str, extra: tuple[str, dict[str, str]] | None = None
) -> Section:
    """A row for each system, best first, and the pictures; `extra` is a column with a cell for each system."""
    places = [each for each in board.places if board.only in (None, each.system)]
    is_whole = board.only is None  # of one system, tiers and the first have tests of their own
    columns: dict[str, Callable[[BoardPlace], str]] = {"system": lambda each: shortened(each.system)}
    if board.n_parts > 1:
        columns["part"] = lambda each: str(each.part + 1)
    columns[value] = lambda each: significant(each.value)
    columns["interval"] = lambda each: _interval(each.low, each.high)
    if extra is not None:
        name, cells = extra
        columns[name] = lambda each: cells[each.system]
    columns["ranks"] = rank_words
    if is_whole:
        columns["first"] = lambda each: "may be" if each.may_be_first else "no"
        if board.has_letters:
            columns["group"] = lambda each: each.letters or "-"
        else:
            columns["tiers"] = lambda each: _range(each.tier_low, each.tier_high)
    columns["P(best)"] = lambda each: chance_words(each.best)
    ranks = "ranks hold for all at once" if is_whole else "its ranks hold for all its pairs at once"
    caption = f"{level_of(1 - board.alpha)} intervals, each of a system by itself; {ranks}."
    many = len(board.places) > _MOST_ROWS
    pictures: tuple[Picture, ...] = ()
    if is_whole:
        pictures = (_ranks_drawing(board),) if many else (values_chart(board, axis), ranks_chart(board))
    return Section(
        "Leaderboard", (table(places, columns, caption, searchable=many and is_whole), *pictures)
    )


def _ranks_drawing(board: Leaderboard) -> Drawing:
    """The ranks of many systems: rows on a page, a ribbon in files."""
    title = "Which ranks may they have?"
    words = (
        f"The ranks that tests of all pairs leave each of {counted(len(board.places), 'system')}, and a dot at the "
        "expected one; those that may be first have another colour, and bands are tiers. Point at a row for its "
        "numbers."
    )

    def svg() -> str:
        said = [
            f"{each.system}: rank {rank_words(each)}, expected {each.expected:.1f}, tier "
            f"{_range(each.tier_low, each.tier_high)}, P(best) {chance_words(each.best)}"
            for each in board.places
        ]
        return rank_rows_svg(board, title, words, said)

    return Drawing("ranks", lambda: ranks_chart(board).figure, svg, title=title, words=words, is_tall=True)


def _changes_sections(changed: Changes | None) -> Iterator[Section]:
    """What is other than on the last board, where there is one."""
    if changed is None:
        return
    last, moves = changed.last, changed.moves
    name = shortened(last.source) + (f", look {last.look}" if last.look else "")
    said = [f"{len(moves):,} of {counted(changed.n_compared, 'system')} have other ranks"]
    for first in moves[:1]:
        said.append(f"{shortened(first.system)} had {_range(*first.before)} and has {_range(*first.now)}")
    for systems, verb in ((changed.joined, "joined"), (changed.left, "left")):
        said += [f"{listing(list(systems), limit=6)} {verb}"] if systems else []
    words = f"Beside the last board ({name}): {'; '.join(said)}."
    if changed.joined or changed.left:
        words += " Ranks count the systems of their own board."
    caption = "* no rank in common; a narrower range is what more data bring."
    if len(moves) > _MOST_MOVES:
        caption = f"The {_MOST_MOVES} that changed most; {caption}"
    shown = table(
        moves[:_MOST_MOVES],
        {
            "system": lambda each: shortened(each.system),
            "ranks then": lambda each: _range(*each.before),
            "now": lambda each: _range(*each.now),
            "change": lambda each: each.direction + (" *" if each.is_apart else "  "),
        },
        caption,
    )
    yield Section("Since the last board", (Paragraph(words), *([shown] if moves else [])))


def _pairs_section(board: Leaderboard, unit: str) -> Section:
    """The pairs that were tested, of many systems only neighbours, with intervals that hold for all of them."""
    shortened_to = board.n_pairs > MOST_LISTED and board.only is None
    caption = (
        f"{unit}; intervals of all pairs at once; corrected by {LAW[board.test]}; "
        f"* significant at alpha {board.alpha:.4g}."
    )
    if shortened_to:
        of = counted(board.n_pairs, "pair")
        caption = f"Neighbours in the order, of {of} that were tested; the record has all. {caption}"
    pairs = tuple(board.neighbours if shortened_to else board.pairs)
    shown = table(
        pairs,
        {
            "pair": lambda each: f"{shortened(each.better, width=24)} - {shortened(each.worse, width=24)}",
            "difference": lambda each: significant(each.difference),
            "interval": lambda each: significant_interval(each.low, each.high),
            "p": lambda each: p_cell(each.p_value),
            "corrected": lambda each: p_cell(each.corrected_p) + (" *" if each.significant else "  "),
        },
        caption,
    )
    title = "Neighbours" if shortened_to else "Each pair"
    picture = [pairs_chart(board)] if board.only is None and board.n_apart and len(board.places) > 2 else []
    return Section(title, (*picture, shown), is_detail=len(pairs) > MOST_PAIRS)


def rank_words(place: BoardPlace) -> str:
    """'2' or '2 to 4'."""
    return _range(place.rank_low, place.rank_high)


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


def _interval(low: float, high: float) -> str:
    """An interval of which one end may be open."""
    if math.isinf(low) and math.isinf(high):
        return "none"
    return significant_interval(low, high)


def chance_words(chance: float) -> str:
    """A chance from draws, of which the last ones cannot be told from none."""
    return "< 0.001" if chance < 0.001 else "> 0.999" if chance > 0.999 else f"{chance:.3f}"


def values_chart(board: Leaderboard, axis: str) -> Chart:
    """Each system's value with its interval, best on top; an open end is drawn to the edge."""
    rows = tuple(
        EstimateRow(shortened(each.system, width=24), each.value, each.low, each.high)
        for each in board.places
    )
    return EstimateRows(rows, "systems", axis, null=None, is_ordered=False).chart(
        "leaderboard",
        title="How good are the systems?",
        words=f"{counted(len(rows), 'system')} with their {level_of(1 - board.alpha)} intervals, the best on top.",
    )


def ranks_chart(board: Leaderboard) -> Chart:
    """The ranks that the tests leave each system, with the expected rank: a row each, or of many a ribbon."""
    places, n = board.places, len(board.places)
    names = tuple(shortened(each.system, width=24) for each in places)
    numbers = table(
        places,
        {
            "system": lambda each: shortened(each.system, width=24),
            "ranks": rank_words,
            "expected rank": lambda each: f"{each.expected:.2f}",
            "P(best)": lambda each: chance_words(each.best),
        },
    )
    title = "Which ranks may they have?"
    words = (
        f"The ranks that tests of all pairs leave each of {counted(n, 'system')}, with the expected rank."
    )
    if n <= _MOST_ROWS:
        rows = tuple(
            EstimateRow(
                name, each.expected, each.rank_low - _HALF, each.rank_high + _HALF, each.may_be_first
            )
            for name, each in zip(names, places, strict=True)
        )
        chart = EstimateRows(rows, "", "Rank", "", "may be first", null=None, is_ordered=False).chart(
            "ranks", title=title, words=words
        )
        return replace(chart, x=Axis("Rank", 0.5, n + 0.5, is_whole=True), numbers=numbers)
    at = tuple(map(float, range(1, n + 1)))
    low, high = zip(*((float(each.rank_low), float(each.rank_high)) for each in places), strict=True)
    series = (
        Series("band", "ranks", x=at, low=low, high=high),
        Series("line", "expected rank", at, tuple(each.expected for each in places), colour=1),
        Series.of(
            "points",
            "may be first",
            [(x, 1.0) for x, each in zip(at, places, strict=True) if each.may_be_first],
            2,
        ),
    )
    x = Axis("System, in the order of the estimates", 1, n, is_whole=True)
    return Chart("ranks", title, words, x, Axis("Rank", 1, n, is_whole=True), series, numbers=numbers)


def pairs_chart(board: Leaderboard) -> Chart:
    """The order matrix: in the row of each system those that it is shown to be better and worse than, by their
    places."""
    places, n = board.places, len(board.places)
    apart = np.zeros((n, n), dtype=np.int64)
    rows, columns = (of[board.tested.significant] for of in (board.tested.rows, board.tested.columns))
    apart[rows, columns], apart[columns, rows] = 1, -1
    many = n > MOST_LETTERED
    first = 1.0 if many else 0.0  # the number of the first row
    names = tuple(f"{place} {shortened(each.system, width=24)}" for place, each in enumerate(places, 1))
    better, worse = (apart > 0).sum(axis=1), (apart < 0).sum(axis=1)
    size = np.bincount([each.part for each in places])[[each.part for each in places]]
    return Chart(
        "pairs",
        "Who is shown to be better than whom?",
        f"A row and a column for each of {n} systems in the order of the estimates; in "
        f"{board.n_apart:,} of {counted(board.n_pairs, 'pair')} a difference is shown.",
        Axis("Place of the other system", 0.5, n + 0.5, is_whole=True),
        Axis("Place", 0.5, n + 0.5, is_whole=True, is_reversed=True)
        if many
        else Axis("", 0, n, names=names),
        (
            *(
                Series("cells", name, y=tuple(first + row for row in at), low=low, high=high, colour=colour)
                for name, sign, colour in (("shown to be better", 1, 0), ("shown to be worse", -1, 1))
                for at, low, high in [_runs(apart == sign)]
                if at
            ),
            Series("line", "", (1.0, float(n)), (first, first + n - 1), colour=7),
        ),
        numbers=Table(
            ("system", "better than", "worse than", "not told apart"),
            tuple(
                (name, f"{up}", f"{down}", f"{of - 1 - up - down}")
                for name, up, down, of in zip(names, better, worse, size, strict=True)
            ),
        ),
    )


def _runs(cells: NDArray[np.bool_]) -> tuple[tuple[int, ...], tuple[float, ...], tuple[float, ...]]:
    """The rows of runs of cells that are set, and the edges of the runs."""
    steps = np.diff(np.pad(cells.astype(np.int64), ((0, 0), (1, 1))), axis=1)
    rows, starts = np.nonzero(steps > 0)
    ends = np.nonzero(steps < 0)[1]
    return tuple(rows.tolist()), tuple((starts + 0.5).tolist()), tuple((ends + 0.5).tolist())


def _more_section(more: FurtherData | None, what: str, n_systems: int) -> Iterator[Section]:
    """How many more items, tasks or battles show a difference; `what` they are."""
    if more is None:
        return
    first, second = shortened(more.first), shortened(more.second)
    often = f"{of_hundred(more.power)} times in 100"

    def enough(number: float) -> str:
        times = f"{significant(float(f'{number:.3g}'))} times as many"
        return f"{'these' if number <= 1 else times} {what} would"

    facts = [("The first two", f"{first} and {second} are told apart")]
    if not more.is_apart:
        at_end = f"they may also be alike, which no number of {what} would show"
        if more.at_end is not None:
            at_end = f"if only by the near end of their interval, {enough(more.at_end)}"
        said = f"{enough(more.times)} tell {first} and {second} apart {often} if they differ as estimated"
        facts = [("The first two", f"{said}; {at_end}")]
        if more.votes is not None:
            facts.append(("Or", f"{more.votes:,.0f} battles between just these two, in both orders"))
    if more.alone is not None and n_systems > 2:
        alone = f"{enough(more.alone)} show {first} above all others {often} if all differ as estimated"
        facts.append(("The first alone", alone))
    large = "A difference that stands out is estimated too large on average, so that these numbers are too small"
    yield Section("How many more?", (Facts((*facts, ("", large))),))


def _pair_columns(board: Leaderboard) -> Record:
    """A list for each field of the pairs; systems by their places in the board, from 0."""
    columns: dict[str, list[object]] = {field.name: [] for field in fields(RankPair)}
    for each in board.pairs:
        for name, column in columns.items():
            value = getattr(each, name)
            column.append(float(f"{value:.7g}") if isinstance(value, float) else value)
    return columns | {"better": board.tested.rows.tolist(), "worse": board.tested.columns.tolist()}


def board_signature(
    board: Leaderboard, model: Record, *, n: int, clusters: Clusters | None, sha256: str
) -> str:
    """The line for a paper: the model's entries, then what all leaderboards have."""
    return signature(
        **model,
        alpha=float(f"{board.alpha:.4g}"),
        n=n,
        k=len(board.places),
        cluster=clusters,
        corr=board.test,
        only=board.only,
        look=board.look,
        seed=board.seed,
        data=data_entry(sha256),
    )


# The ranks of many systems as SVG: a thin row for each, which says its numbers where it is pointed at.

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


def _bands(places: Sequence[BoardPlace]) -> Iterator[str]:
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
    places: Sequence[BoardPlace],
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
