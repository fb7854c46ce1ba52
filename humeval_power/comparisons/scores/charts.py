"""Charts of a comparison by per-item scores: scores, differences, power by number of items, resamples, primer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from humeval_power.comparisons.scores.comparison import PairComparison, PrimerCell
from humeval_power.comparisons.scores.effect_sizes import (
    Floats,
    PairedTest,
    Resamples,
    TestSettings,
    score_differences,
)
from humeval_power.comparisons.scores.power import RequiredItems, RetrospectivePower, Unit
from humeval_power.comparisons.scores.primer import REMARK, PrimerCounts
from humeval_power.inference.clustered import Direction
from humeval_power.saying.answer_words import of_hundred, share_words, with_names
from humeval_power.saying.chart import Axis, Chart, Level, Mark, Panels, Series, Spot, Upright
from humeval_power.saying.document import (
    Document,
    Fact,
    Facts,
    Listing,
    Paragraph,
    Section,
    Table,
)
from humeval_power.saying.numbers import (
    POWER_LABEL,
    counted,
    level_of,
    p_cell,
    p_words,
    percent,
    power_words,
    significant,
    significant_interval,
)
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record, Result
from humeval_power.studies.power.wording import higher

MOST_BINS = 40
_COLOURS = 8  # that can be told apart


def scores_chart(comparison: PairComparison) -> Chart:
    """How many items have which score under A and under B."""
    a, b = comparison.table.systems
    first, second = comparison.table.column(a), comparison.table.column(b)
    edges = bin_edges(np.concatenate([first, second]))
    counts = [np.histogram(each, edges)[0] for each in (first, second)]
    return Chart(
        name="scores",
        title="Which scores do the systems have?",
        words=f"Histograms of the scores of {a} and of {b}: {_words(comparison, 0)}; {_words(comparison, 1)}.",
        x=Axis(comparison.table.metric, float(edges[0]), float(edges[-1])),
        y=_items(counts),
        series=(_outline(a, edges, counts[0], 0), _outline(b, edges, counts[1], 1)),
        numbers=_numbers(edges, {a: counts[0], b: counts[1]}),
    )


def differences_chart(comparison: PairComparison) -> Chart:
    """How many items differ by how much, with no difference, the mean and the median."""
    a, b = comparison.table.systems
    data, test = comparison.data, comparison.test
    differences = score_differences(comparison.table.column(a), comparison.table.column(b))
    edges = bin_edges(differences)
    count = np.histogram(differences, edges)[0]
    top = _items([count])
    reach = ""
    band: tuple[Series, ...] = ()
    (low, high), what = test.interval, test.estimand.split()[0]
    if what in ("mean", "median", "pseudomedian") and np.isfinite([low, high]).all() and low < high:
        reach = f"; {level_of(test.confidence)} interval of the {test.estimand} shaded"
        band = (Series("band", "interval", (low, high), low=(0.0, 0.0), high=(top.high, top.high)),)
    return Chart(
        name="differences",
        title="By how much do they differ on an item?",
        words=f"Histogram of the differences: {_words(comparison, 2)}{reach}.",
        x=Axis(f"Difference {b} - {a}", min(float(edges[0]), 0.0), max(float(edges[-1]), 0.0)),
        y=top,
        series=(*band, _outline("items", edges, count, 2)),
        marks=(
            Upright("no difference", 0.0),
            Upright("mean", data.difference.mean, 1),
            Upright("median", data.difference.median, 3),
        ),
        numbers=_numbers(edges, {"items": count}),
    )


def retrospective_chart(power: RetrospectivePower) -> Chart:
    """Power against the number of items, simulated with its Monte Carlo band and by formula."""
    simulated = [
        point for point in power.curve if point.interval is not None and math.isfinite(point.power)
    ]  # too many samples of very few items have no test
    whose = "the observed effect" if power.is_observed else "an effect"
    series = [Series.of("line", "by formula", [(each.n, each.formula or 0.0) for each in power.curve], 2)]
    if simulated:
        line = Series.of("line", "simulated", [(each.n, each.power) for each in simulated])
        low, high = zip(*(point.interval for point in simulated if point.interval), strict=True)
        series = [Series("band", "Monte Carlo interval", line.x, low=low, high=high), line, *series]
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
    x = edges.tolist()
    return Series("steps", name, (x[0], *x), (0.0, *count.astype(float).tolist(), 0.0), colour=colour)


def _items(counts: Sequence[Floats]) -> Axis:
    return Axis("Items", 0, max(1.0, 1.05 * max(float(count.max()) for count in counts)), is_whole=True)


def _numbers(edges: Floats, counts: dict[str, Floats]) -> Table:
    return _bins(edges.tolist(), {name: [f"{n:,}" for n in count] for name, count in counts.items()})


def _bins(edges: Sequence[float], cells: Mapping[str, Iterable[str]]) -> Table:
    """A row for each bin of a histogram."""
    names = (f"{significant(low)} to {significant(high)}" for low, high in pairwise(edges))
    return Table(("from, to", *cells), tuple(zip(names, *cells.values(), strict=True)))


def _words(comparison: PairComparison, place: int) -> str:
    data = comparison.data
    one = (data.first, data.second, data.difference)[place]
    return f"{one.name} from {significant(one.minimum)} to {significant(one.maximum)}, mean {significant(one.mean)}"


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
        items_needed, test = self.found, f"paired t test, {self.alternative}, alpha {self.alpha:g}"
        if self.margin is not None:
            test = f"two one-sided t tests, alpha {self.alpha:g} each"
        how = (
            ("Test", test),
            ("SD", f"{self.sd:g} of the differences: the mean is {self.mean / self.sd:.3g} SDs"),
            ("By formula", f"{items_needed.exact_n:.2f} items, rounded up"),
        )
        chart = power_chart(
            (Series.of("line", "by formula", self.curve),),
            at=(items_needed.n, items_needed.power),
            target=self.target,
            words=f"Power against the number of items, {test}: {self.target:g} is reached with "
            f"{counted(items_needed.n, 'item')}.",
        )
        finding = f"find that B scores {abs(self.mean):g} {higher(self.mean)} than A on average"
        if self.margin is not None:
            actual = "they really score alike"
            if self.mean:
                actual = f"B really scores {abs(self.mean):g} {higher(self.mean)}"
            finding = f"show that A and B score alike within {self.margin:g}, if {actual}"
        return Document(
            "Items that the comparison needs",
            lead=f"{counted(items_needed.n, 'item')} would do: then {of_hundred(items_needed.power)} of 100 "
            f"such studies {finding}. By formula.",
            headline=(("Items", f"{items_needed.n:,}"), (POWER_LABEL, power_words(items_needed.power))),
            sections=(Section("", (Facts(how), chart)),),
        )

    def content(self) -> Record:
        return {
            **values(self, "mean", "sd", "margin"),
            "target_power": self.target,
            **values(self, "alpha", "alternative"),
            **asdict(self.found),
        }


@dataclass(frozen=True, kw_only=True)
class PrimerResult(Result):
    """Expected p-values of the bootstrap primer, for given counts exact."""

    schema: ClassVar[str] = "humeval_power/primer_table/1"

    cells: tuple[PrimerCell, ...]

    def body(self) -> Document:
        sizes = dict.fromkeys(cell.n_items for cell in self.cells)
        ending: list[Paragraph | Panels] = []
        if any(cell.n_helped == cell.n_hurt for cell in self.cells):
            ending.append(Paragraph("-: an effect of less than one item"))
        if any(cell.n_helped > cell.n_hurt for cell in self.cells):
            ending.append(primer_panels(self.cells))
        return Document(
            "The p that the bootstrap primer should expect",
            lead="The p to expect is below, by number of items, difference of accuracy, and share of items that "
            "B gets wrong and A right (hurt). It is one-sided and not centred at the null: no test.",
            sections=(
                *(Section(counted(n, "item"), (self._table(n),)) for n in sizes),
                Section("", tuple(ending)),
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

    def content(self) -> Record:
        return {"rows": [asdict(cell) for cell in self.cells]}


def primer_panels(cells: Sequence[PrimerCell]) -> Panels:
    """A panel for each number of items: expected p against the share of items hurt, a line an effect.

    Cells whose effect is less than one item are left out.
    """
    cells = [cell for cell in cells if cell.n_helped > cell.n_hurt]
    words = "Expected p against the share of items hurt, a line for each effect."
    effects = sorted({cell.effect for cell in cells})
    x = Axis("Share of items hurt", 0, max(cell.hurt for cell in cells) or 1.0)
    charts = []
    for n in sorted({cell.n_items for cell in cells}):
        series = []
        for colour, effect in enumerate(effects):
            line = [
                (cell.hurt, cell.p_value) for cell in cells if (cell.n_items, cell.effect) == (n, effect)
            ]
            if line:
                name = f"effect {100 * effect:g} %"
                series.append(Series.of("marked", name, line, colour % _COLOURS))
        y, level = Axis("Primer's p", 0, 0.52), Level("p 0.05", 0.05)
        charts.append(Chart("primer", counted(n, "item"), words, x, y, tuple(series), (level,)))
    return Panels("primer", "Which p does the primer give?", words, tuple(charts))


def _p(cell: PrimerCell | None) -> str:
    if cell is None:
        return ""
    return "-" if cell.n_helped == cell.n_hurt else p_cell(cell.p_value)


# What the resamples of a bootstrap came to, and what they are held against.

_ABOUT = {
    "mean": "Mean of B - A in a resample",
    "median": "Median of B - A in a resample",
    "t": "t of a resample, about the observed mean",
}


def comparison_chart(comparison: PairComparison) -> tuple[Chart, ...]:
    """The resamples of the test that was run, if it is a bootstrap."""
    test = comparison.test
    if test.resamples is None:
        return ()
    resamples, settings = test.resamples, comparison.request.settings
    if test.name == "primer":
        return (primer_chart(resamples, estimate=test.estimate, systems=comparison.names),)
    band = None if resamples.what == "t" else (f"{level_of(test.confidence)} interval", test.interval)
    words, systems = _how_judged(test, resamples, settings), comparison.names
    return (_resamples_chart(resamples, words, estimate=test.estimate, band=band, systems=systems),)


def primer_chart(resamples: Resamples, *, estimate: float, systems: tuple[str, str] = ("A", "B")) -> Chart:
    """The resampled means, those that are not above the null difference shaded: their share is the primer's p."""
    a, b = systems
    words = (
        f"Means of the resamples. In {percent(resamples.not_above)} of them {b} is not ahead of {a} (the mean is "
        f"{significant(resamples.at)} or less): this is the primer's p."
    )
    start, end = resamples.edges[0], resamples.cut
    band = (f"{b} not ahead", (start, end)) if start < end else None
    return _resamples_chart(resamples, words, estimate=estimate, band=band, systems=systems)


def _resamples_chart(
    resamples: Resamples,
    words: str,
    *,
    estimate: float,
    band: tuple[str, tuple[float, float]] | None,
    systems: tuple[str, str],
) -> Chart:
    """How many resamples came to what; what they are held against and the estimate are marked, a part is shaded."""
    top = 1.05 * 100 * max(resamples.shares)
    if resamples.what == "t":
        marks: tuple[Mark, ...] = (Upright("observed t", resamples.at, 1),)
    else:
        null_is = "no difference" if resamples.at == 0 else f"null difference {resamples.at:g}"
        marks = (Upright(null_is, resamples.at), Upright(f"observed {resamples.what}", estimate, 1))
    marked = (mark.x for mark in marks if isinstance(mark, Upright))
    places = [resamples.edges[0], resamples.edges[-1], *marked]
    low, high = min(places), max(places)
    room = 0.02 * (high - low) or 0.5
    shaded = () if band is None else (Series("band", band[0], band[1], low=(0.0, 0.0), high=(top, top)),)
    steps = Series(
        "steps",
        "resamples",
        (resamples.edges[0], *resamples.edges),
        (0.0, *(100 * each for each in resamples.shares), 0.0),
    )
    return Chart(
        name="resamples",
        title="What did the resamples come to?",
        words=words,
        x=Axis(with_names(_ABOUT[resamples.what], systems), low - room, high + room),
        y=Axis("Resamples", 0, top, unit="%"),
        series=(*shaded, steps),
        marks=marks,
        numbers=_bins(resamples.edges, {"resamples": [f"{100 * each:.2f} %" for each in resamples.shares]}),
    )


def _how_judged(test: PairedTest, resamples: Resamples, settings: TestSettings) -> str:
    if resamples.what == "t":
        tails = {
            "two-sided": "p is twice the smaller part",
            "greater": "p is the part at it or above",
            "less": "p is the part at it or below",
        }[settings.alternative]
        return (
            "t of the resamples, each in its own errors about the observed mean: where t lies without a "
            f"difference. {percent(resamples.not_above)} of them are at the observed t of "
            f"{significant(resamples.at)} or below; {tails}."
        )
    away = f"as far from the observed {resamples.what} as that is from the null difference"
    side = {
        "two-sided": f"p is the share of resamples at least {away}, on either side",
        "greater": f"p is the share of resamples above it and at least {away}",
        "less": f"p is the share of resamples below it and at least {away}",
    }[settings.alternative]
    return (
        f"{resamples.what.capitalize()}s of the resamples, about the observed {resamples.what} of "
        f"{significant(test.estimate)}; {percent(resamples.not_above)} of them are at the null difference or "
        f"below. The test moves them to the null difference: {side}."
    )


@dataclass(frozen=True, kw_only=True)
class PrimerCountsResult(Result):
    """The primer's p of counts, exactly, beside the tests of the same counts."""

    schema: ClassVar[str] = "humeval_power/primer/1"

    found: PrimerCounts

    def body(self) -> Document:
        counts = self.found
        picture = primer_chart(counts.resamples, estimate=counts.difference)
        changed = f"--only-b {counts.n_helped} --only-a {counts.n_hurt} --n {counts.n_items}"
        following = Listing(f"humeval-power compare accuracy test {changed}")
        return Document(
            "The bootstrap primer's p",
            lead=f"B is not ahead in {share_words(counts.p_value)} of the resamples of "
            f"{counted(counts.n_items, 'item')}: the primer's {p_words(counts.p_value)}, exactly.",
            caveats=(REMARK,),
            sections=(
                Section("", (Facts(self._facts()), picture)),
                Section("What tests say of these counts", (self._tests(), following)),
            ),
        )

    def _facts(self) -> tuple[Fact, ...]:
        counts = self.found
        same = counts.n_items - counts.n_helped - counts.n_hurt
        return (
            (
                "Items",
                f"{counts.n_items:,}: B right and A wrong on {counts.n_helped:,} (helped), A right and B wrong on "
                f"{counts.n_hurt:,} (hurt), no difference on {same:,}",
            ),
            ("B - A", f"{100 * counts.difference:+.4g} points of accuracy"),
            ("Resamples, 95 %", f"{significant_interval(*counts.interval)}, the middle of their means"),
            (
                "Sums of exactly 0",
                f"{share_words(counts.share_of_zero)} of the resamples; the primer counts them as not helped",
            ),
        )

    def _tests(self) -> Table:
        counts = self.found
        rows = (
            ("McNemar, mid-p", "two-sided", p_cell(counts.mid_p)),
            ("McNemar, exact conditional", "two-sided", p_cell(counts.exact_p)),
            ("sign test", "one-sided, B better", p_cell(counts.sign_p)),
            ("the primer's p", "one-sided, B better", p_cell(counts.p_value)),
        )
        return Table(("test", "alternative", "p"), rows)

    def content(self) -> Record:
        return {**asdict(self.found), "difference": self.found.difference}

    def table_rows(self) -> list[Record]:
        row = self.content()
        del row["resamples"]
        del row["interval"]
        low, high = self.found.interval
        return [{**row, "low": low, "high": high}]
