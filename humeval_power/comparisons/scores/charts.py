"""Charts of a comparison by per-item scores: the scores, their differences, power by number of items."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from humeval_power.comparisons.scores.answers import Floats, PairedTest, score_differences
from humeval_power.comparisons.scores.comparison import PairComparison, PrimerCell
from humeval_power.comparisons.scores.power import RequiredItems, RetrospectivePower, Unit
from humeval_power.inference.clustered import Direction
from humeval_power.saying.answer_words import of_hundred
from humeval_power.saying.chart import Axis, Chart, Level, Mark, Series, Spot, Upright
from humeval_power.saying.document import Block, Document, Fact, Facts, Paragraph, Picture, Section, Table
from humeval_power.saying.numbers import POWER_LABEL, counted, level_of, p_cell, power_words, significant
from humeval_power.saying.result import Record, Result
from humeval_power.studies.power.wording import higher

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_BINS = 40
_IN_POINTS = ("mean", "median", "pseudomedian")


def scores_chart(comparison: PairComparison) -> Chart:
    """How many items have which score under A and under B."""
    a, b = comparison.table.systems
    first, second = comparison.table.column(a), comparison.table.column(b)
    edges = bin_edges(np.concatenate([first, second]))
    counts = [np.histogram(each, edges)[0] for each in (first, second)]
    series = tuple(
        _outline(name, edges, count, colour)
        for colour, (name, count) in enumerate(zip((a, b), counts, strict=True))
    )
    return Chart(
        name="scores",
        title="Which scores do the systems have?",
        words=f"Histograms of the scores of {a} and of {b}: {_words(comparison, 0)}; {_words(comparison, 1)}.",
        x=Axis(comparison.table.metric, float(edges[0]), float(edges[-1])),
        y=_items(counts),
        series=series,
        numbers=_numbers(edges, {a: counts[0], b: counts[1]}),
    )


def differences_chart(comparison: PairComparison) -> Chart:
    """How many items differ by how much, with no difference, the mean and the median."""
    a, b = comparison.table.systems
    data, test = comparison.data, comparison.test
    differences = score_differences(comparison.table.column(a), comparison.table.column(b))
    edges = bin_edges(differences)
    count = np.histogram(differences, edges)[0]
    low, high = min(float(edges[0]), 0.0), max(float(edges[-1]), 0.0)
    marks: tuple[Mark, ...] = (
        Upright("no difference", 0.0),
        Upright("mean", data.difference.mean, 1),
        Upright("median", data.difference.median, 3),
    )
    ends = _interval(test)
    reach = "" if ends is None else f"; {level_of(test.confidence)} interval of the {test.estimand} shaded"
    top = _items([count])
    band = (
        ()
        if ends is None
        else (Series("band", "interval", ends, low=(0.0, 0.0), high=(top.high, top.high)),)
    )
    return Chart(
        name="differences",
        title="By how much do they differ on an item?",
        words=f"Histogram of the differences: {_words(comparison, 2)}{reach}.",
        x=Axis(f"Difference {b} - {a}", low, high),
        y=top,
        series=(*band, _outline("items", edges, count, 2)),
        marks=marks,
        numbers=_numbers(edges, {"items": count}),
    )


def retrospective_chart(power: RetrospectivePower) -> Chart:
    """Power against the number of items, simulated with its Monte Carlo band and by formula."""
    n = tuple(float(point.n) for point in power.curve)
    simulated = [
        point for point in power.curve if point.interval is not None and math.isfinite(point.power)
    ]  # too many samples of very few items have no test
    whose = "the observed effect" if power.is_observed else "an effect"
    series = [
        Series("line", "by formula", n, tuple(point.formula or 0.0 for point in power.curve), colour=2)
    ]
    if simulated:
        sizes = tuple(float(point.n) for point in simulated)
        low, high = zip(*(point.interval for point in simulated if point.interval), strict=True)
        line = Series("line", "simulated", sizes, tuple(point.power for point in simulated))
        series = [Series("band", "Monte Carlo interval", sizes, low=low, high=high), line, *series]
    is_known = math.isfinite(power.at.power)
    here = power.at.power if is_known else power.at.formula or 0.0
    return power_chart(
        tuple(series),
        at=(power.at.n, here),
        target=power.target,
        of=power.unit,
        words=f"Power against the number of {power.unit} for {whose} of {significant(power.effect)} "
        f"({power.effect_words}): {here:.2f}{'' if is_known else ' by formula'} with the {power.at.n:,} "
        f"{power.unit} at hand.",
    )


def power_chart(
    series: tuple[Series, ...],
    *,
    at: tuple[int, float],
    target: float,
    words: str,
    of: Unit = "items",
) -> Chart:
    """Power against the number of items or clusters, `at` one of which it is marked."""
    n = [x for each in series for x in each.x]
    return Chart(
        name="power",
        title=f"How many {of} find it?",
        words=words,
        x=Axis(of.capitalize(), 0, max(n), is_whole=True),
        y=Axis(POWER_LABEL, 0, 1),
        series=series,
        marks=(Spot(f"{at[0]:,} {of}: power {at[1]:.2f}", *at), Level(f"target {target:g}", target)),
    )


def bin_edges(values: Floats) -> Floats:
    """Bins by Freedman and Diaconis (1981), at most 40; whole steps where the scores have few values."""
    distinct = np.unique(values)
    if 2 <= len(distinct) <= 20:
        step = float(np.diff(distinct).min())
        if (distinct[-1] - distinct[0]) / step <= MOST_BINS:
            return np.arange(distinct[0] - step / 2, distinct[-1] + step, step)
    edges = np.histogram_bin_edges(values, bins="fd" if np.ptp(values) > 0 else 1)
    if len(edges) > MOST_BINS + 1:
        edges = np.histogram_bin_edges(values, bins=MOST_BINS)
    return np.asarray(edges)


def _outline(name: str, edges: Floats, count: Floats, colour: int) -> Series:
    """A histogram as the line around it."""
    x = (edges[0], *edges.tolist())
    return Series(
        "steps", name, tuple(map(float, x)), (0.0, *count.astype(float).tolist(), 0.0), colour=colour
    )


def _items(counts: Sequence[Floats]) -> Axis:
    return Axis("Items", 0, max(1.0, 1.05 * max(float(count.max()) for count in counts)), is_whole=True)


def _numbers(edges: Floats, counts: dict[str, Floats]) -> Table:
    rows = tuple(
        (
            f"{significant(low)} to {significant(high)}",
            *(f"{count[place]:,}" for count in counts.values()),
        )
        for place, (low, high) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
    )
    return Table(("from, to", *counts), rows)


def _words(comparison: PairComparison, place: int) -> str:
    data = comparison.data
    one = (data.first, data.second, data.difference)[place]
    return f"{one.name} from {significant(one.minimum)} to {significant(one.maximum)}, mean {significant(one.mean)}"


def _interval(test: PairedTest) -> tuple[float, float] | None:
    """The interval of the test, where it has one in units of the scores."""
    low, high = test.interval
    if test.estimand.split()[0] in _IN_POINTS and np.isfinite([low, high]).all() and low < high:
        return (float(low), float(high))
    return None


# How many items a comparison needs, and the p that the bootstrap primer would expect.


@dataclass(frozen=True, kw_only=True)
class ProspectiveResult(Result):
    """The items that find a mean difference, or show equivalence within `margin`; `curve` is the power by
    number of items."""

    schema: ClassVar[str] = "humeval_power/compare_prospective/2"

    mean: float
    sd: float
    margin: float | None
    target: float
    alpha: float
    alternative: Direction
    found: RequiredItems
    curve: tuple[tuple[int, float], ...]

    def body(self) -> Document:
        items_needed = self.found
        return Document(
            "Items that the comparison needs",
            lead=f"{counted(items_needed.n, 'item')} would do: then {of_hundred(items_needed.power)} of 100 "
            f"such studies {self._finding()}. By formula.",
            headline=(
                ("Items", f"{items_needed.n:,}"),
                (POWER_LABEL, power_words(items_needed.power)),
            ),
            sections=(Section("", (Facts(self._how()), self._chart())),),
        )

    def _finding(self) -> str:
        amount = f"{abs(self.mean):g} {higher(self.mean)}"
        if self.margin is None:
            return f"find that B scores {amount} than A on average"
        actual = f"B really scores {amount}" if self.mean else "they really score alike"
        return f"show that A and B score alike within {self.margin:g}, if {actual}"

    def _how(self) -> tuple[Fact, ...]:
        return (
            ("Test", self._test()),
            ("SD", f"{self.sd:g} of the differences: the mean is {self.mean / self.sd:.3g} SDs"),
            ("By formula", f"{self.found.exact_n:.2f} items, rounded up"),
        )

    def _test(self) -> str:
        if self.margin is None:
            return f"paired t test, {self.alternative}, alpha {self.alpha:g}"
        return f"two one-sided t tests, alpha {self.alpha:g} each"

    def _chart(self) -> Chart:
        n, powers = zip(*self.curve, strict=True)
        return power_chart(
            (Series("line", "by formula", tuple(map(float, n)), powers),),
            at=(self.found.n, self.found.power),
            target=self.target,
            words=f"Power against the number of items, {self._test()}: {self.target:g} is reached with "
            f"{counted(self.found.n, 'item')}.",
        )

    def content(self) -> Record:
        """What was asked, and the items."""
        return {
            "mean": self.mean,
            "sd": self.sd,
            "margin": self.margin,
            "target_power": self.target,
            "alpha": self.alpha,
            "alternative": self.alternative,
            **asdict(self.found),
        }


@dataclass(frozen=True, kw_only=True)
class PrimerResult(Result):
    """Expected p-values of the bootstrap primer, for given counts exact."""

    schema: ClassVar[str] = "humeval_power/primer_table/1"

    cells: tuple[PrimerCell, ...]

    def body(self) -> Document:
        sizes = dict.fromkeys(cell.n_items for cell in self.cells)
        return Document(
            "The p that the bootstrap primer should expect",
            lead="The p to expect is below, by number of items, difference of accuracy, and share of items that "
            "B gets wrong and A right (hurt). It is one-sided and not centred at the null: no test.",
            sections=(
                *(Section(counted(n, "item"), (self._table(n),)) for n in sizes),
                Section("", tuple(self._ending())),
            ),
        )

    def _table(self, n: int) -> Table:
        mine = [cell for cell in self.cells if cell.n_items == n]
        effects = list(dict.fromkeys(cell.effect for cell in mine))
        cells = {(cell.hurt, cell.effect): cell for cell in mine}
        rows = tuple(
            (f"{share:.3g}", *(_p(cells.get((share, effect))) for effect in effects))
            for share in dict.fromkeys(cell.hurt for cell in mine)
        )
        return Table(("hurt", *(f"effect {100 * effect:.3g} %" for effect in effects)), rows)

    def _ending(self) -> Iterator[Block]:
        if any(cell.n_helped == cell.n_hurt for cell in self.cells):
            yield Paragraph("-: an effect of less than one item")
        if any(cell.n_helped > cell.n_hurt for cell in self.cells):
            words = "Expected p against the share of items hurt, a line for each effect."
            yield Picture("primer", self._figure, words=words)

    def _figure(self) -> Figure:
        from humeval_power.comparisons.scores.figures import primer_figure

        return primer_figure(self.cells)

    def content(self) -> Record:
        return {"rows": [asdict(cell) for cell in self.cells]}


def _p(cell: PrimerCell | None) -> str:
    if cell is None:
        return ""
    return "-" if cell.n_helped == cell.n_hurt else p_cell(cell.p_value)
