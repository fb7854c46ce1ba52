"""Ratings of outputs: observed thresholds, quality and noise, and systems compared by independent ratings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

import numpy as np

from humeval_power.comparisons.agreement.reliability import VarianceDecomposition
from humeval_power.comparisons.assessment.pairs import (
    Codes,
    ObservedMDE,
    PairTest,
    PairTests,
    RatedOutputs,
    Threshold,
)
from humeval_power.comparisons.assessment.wording import TEST_WORDS
from humeval_power.comparisons.judge.plan import data_efficiency, observed_correlation
from humeval_power.inference.clustered import FEW_DF
from humeval_power.inference.item_bootstrap import Measure
from humeval_power.saying.answer_words import TestedDifference
from humeval_power.saying.chart import Axis, Chart, Level, Series, Spot, Upright
from humeval_power.saying.clustered_words import Independence
from humeval_power.saying.document import Document, Fact, Facts, Paragraph, Prose, Section, Table, prose_of
from humeval_power.saying.numbers import (
    counted,
    decimals,
    interval_words,
    level_of,
    p_cell,
    p_words,
    percent,
    significant,
    significant_interval,
)
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import PaperResult, above, data_entry, flat, pairs_lead, signature, table
from humeval_power.scales import RatingScale

SELECTION = (
    "Difference and p-value come from the same ratings, so the comparisons above a threshold were chosen "
    "by their luck too: this describes what was significant. It is no power and no plan; for those see "
    "'more assessment power' and 'more assessment mde'."
)
ALL = "all"


@dataclass(frozen=True, kw_only=True)
class ObservedThresholds(Result):
    """Thresholds of a collection (the group 'all') and of the groups in it."""

    schema: ClassVar[str] = "humeval_power/observed_mde/1"

    found: Mapping[str, ObservedMDE]
    alpha: float
    remarks: tuple[str, ...] = ()

    @property
    def whole(self) -> ObservedMDE:
        """What all comparisons together show."""
        return self.found[ALL]

    def body(self) -> Document:
        whole = self.whole
        dash = (
            f"A dash: no difference with {whole.fewest_above} comparisons or more at or above it will do."
        )
        share = f"{100 * whole.share:g} % of the comparisons"
        stable = f"No observed difference is so large that {share} from there on were significant"
        if whole.stable is not None:
            large = f"{whole.stable.difference:.4g}"
            stable = f"From an observed difference of {large} on, {share} or more were significant"
        groups = table(
            ((name, each) for name, each in self.found.items() if name != ALL),
            {
                "group": lambda row: row[0],
                "comparisons": lambda row: f"{row[1].n:,}",
                "significant": lambda row: f"{row[1].n_significant:,}",
                "median": lambda row: f"{row[1].median_difference:.4g}",
                "first": lambda row: "-" if row[1].first is None else f"{row[1].first.difference:.4g}",
                "stable": lambda row: "-" if row[1].stable is None else f"{row[1].stable.difference:.4g}",
            },
        )
        return Document(
            "The observed difference from which comparisons were significant",
            lead=f"{stable}. Of {counted(whole.n, 'comparison')} {whole.n_significant:,} have p < {self.alpha:g}; "
            f"the median observed difference is {whole.median_difference:.4g}.",
            headline=(
                _threshold_fact("First", whole.first, whole, "smallest difference that reaches the share"),
                _threshold_fact(
                    "Stable", whole.stable, whole, "from here on every larger difference reaches it"
                ),
            ),
            caveats=(SELECTION,),
            sections=(
                *([Section("Groups", (groups, Paragraph(dash)))] if groups.rows else []),
                Section("Share that is significant", self._pictures()),
            ),
        )

    def _pictures(self) -> tuple[Chart, ...]:
        whole = self.whole
        first = None if whole.first is None else whole.first.difference
        scatter = comparisons_chart(whole.difference, whole.p_value, self.alpha, threshold=first)
        if len(whole.curve) < 2:
            return (scatter,)
        enough = [each for each in whole.curve if each.n_above >= whole.fewest_above]
        parts = (
            (enough, f"{whole.fewest_above} comparisons or more"),
            (whole.curve[len(enough) :], "fewer are left"),
        )
        series = tuple(
            Series.of("steps", name, [(each.difference, 100 * each.rate) for each in part], colour)
            for colour, (part, name) in enumerate(parts)
            if part
        )
        marks = tuple(
            Spot(name, values.difference, 100 * values.rate, colour=colour)
            for colour, (name, values) in enumerate((("first", whole.first), ("stable", whole.stable)), 2)
            if values is not None
        )
        chart = Chart(
            name="thresholds",
            title="From which observed difference are they significant?",
            words="Share of the comparisons with a difference or a larger one that are significant, against the "
            "difference, and the share that is asked for.",
            x=Axis("Observed difference, its size", whole.curve[0].difference, whole.curve[-1].difference),
            y=Axis("Significant, of those at or above it", 0, 103, unit="%"),
            series=series,
            marks=(*marks, Level(f"{100 * whole.share:g} % asked for", 100 * whole.share)),
        )
        return chart, scatter

    def content(self) -> Record:
        return {
            "alpha": self.alpha,
            "share": self.whole.share,
            "fewest_above": self.whole.fewest_above,
            "groups": [{"group": name, **_row(each)} for name, each in self.found.items()],
            "caution": SELECTION,
        }

    def table_rows(self) -> list[Record]:
        return [
            {
                "group": name,
                **_row(each),
                "first": each.first and each.first.difference,
                "stable": each.stable and each.stable.difference,
            }
            for name, each in self.found.items()
        ]


_LEAST_P = 1e-6  # smaller ones are drawn here


def comparisons_chart(
    difference: Sequence[float], p_value: Sequence[float], alpha: float, *, threshold: float | None = None
) -> Chart:
    """Each comparison by the size of its difference and its p-value, with an observed MDE where one is given."""
    sizes, p = np.abs(np.asarray(difference, dtype=float)), np.asarray(p_value, dtype=float)
    parts = ((f"p < {alpha:g}", p < alpha), (f"p at least {alpha:g}", ~(p < alpha)))
    series = tuple(
        Series(
            "points",
            f"{name}: {part.sum():,}",
            tuple(sizes[part].tolist()),
            tuple(np.maximum(p[part], _LEAST_P).tolist()),
            colour=colour,
        )
        for colour, (name, part) in enumerate(parts)
        if part.any()
    )
    mde = () if threshold is None else (Upright(f"observed MDE: {threshold:.3g}", threshold, colour=2),)
    return Chart(
        name="comparisons",
        title="Which differences were significant?",
        words="Each comparison by the size of its observed difference and its p-value, and the level"
        + ("." if threshold is None else "; and the first threshold."),
        x=Axis("Observed difference, its size", 0, 1.02 * float(sizes.max()) or 1),
        y=Axis(
            "p (below 1e-6 drawn there)" if (p < _LEAST_P).any() else "p",
            _LEAST_P / 1.6,
            1.6,
            is_log=True,
        ),
        series=series,
        marks=(Level(f"alpha {alpha:g}", alpha), *mde),
    )


def _row(observed: ObservedMDE) -> Record:
    return {
        "comparisons": observed.n,
        "significant": observed.n_significant,
        "median_difference": observed.median_difference,
        "first": _threshold(observed.first),
        "stable": _threshold(observed.stable),
    }


def _threshold(threshold: Threshold | None) -> Record | None:
    if threshold is None:
        return None
    return {**asdict(threshold), "rate": threshold.rate, "interval": list(threshold.interval)}


def _threshold_fact(label: str, threshold: Threshold | None, observed: ObservedMDE, meaning: str) -> Fact:
    if threshold is None:
        return label, f"none with {observed.fewest_above} comparisons or more at or above it"
    low, high = threshold.interval
    return label, (
        f"{threshold.difference:.4g} ({meaning}: {threshold.n_significant} of {threshold.n_above} at or "
        f"above it are significant, {100 * threshold.rate:.1f} %, interval {percent(low)} to {percent(high)})"
    )


# How much of the variance of ratings is quality and how much is noise, and what a metric can save.

_MOST = 0.99  # correlation: at 1 a metric can be worth endlessly many ratings


@dataclass(frozen=True, slots=True)
class Efficiency:
    """What a metric of this correlation with true quality is worth; the interval is there where gamma's is."""

    correlation: float
    correlation_with_ratings: float
    data_efficiency: float
    interval: tuple[float, float] | None


def efficiencies(gamma: Measure, correlations: Sequence[float]) -> tuple[Efficiency, ...]:
    """The data efficiency at each correlation; a larger gamma makes it smaller."""
    return tuple(
        Efficiency(
            rho,
            observed_correlation(gamma.value, rho),
            data_efficiency(gamma.value, rho),
            (data_efficiency(gamma.high, rho), data_efficiency(gamma.low, rho))
            if math.isfinite(gamma.low)
            else None,
        )
        for rho in correlations
    )


@dataclass(frozen=True, kw_only=True)
class Decomposition(Result):
    """Quality and noise in ratings, and the data efficiency of metrics of several correlations."""

    schema: ClassVar[str] = "humeval_power/variance_decomposition/1"

    found: VarianceDecomposition
    efficiencies: tuple[Efficiency, ...]
    scale: RatingScale
    source: str = ""

    def body(self) -> Document:
        decomposition, unit = self.found, self.scale.width**2
        lead = "No quality is seen in the variance of the ratings."
        nothing = (
            "Ratings of one output differ as much as those of different ones: no quality is seen, and no metric "
            "can save anything here."
        )
        if not decomposition.at_zero:
            lead = (
                f"{percent(decomposition.reducible.value)} of the variance of the ratings is quality, all that a "
                "metric can explain; the rest is noise between ratings of one output."
            )
        scale = f"{self.scale.low:g} to {self.scale.high:g}"
        variances = (
            ("Total", f"{_shown(decomposition.total, unit)} on the scale {scale}"),
            ("Quality", f"{_shown(decomposition.quality, unit)} between outputs of a system"),
            ("Noise", f"{_shown(decomposition.noise, unit)} between ratings of one output"),
            ("Ratio", f"{_shown(decomposition.gamma)}: noise over quality, gamma in Wei et al. (2022)"),
        )
        read = (
            "Data efficiency 1.2: ratings with the metric as control variate are worth 1.2 times as many without "
            "(Wei et al. 2022, eq. 2). Intervals are 95 %, from items drawn again."
        )
        return Document(
            "Quality and noise in the ratings",
            lead=lead,
            headline=(
                ("Quality", f"{_shown(decomposition.reducible)} of the variance"),
                (
                    "Ratings",
                    f"{decomposition.n_ratings:,} of {counted(decomposition.n_outputs, 'output')} (item and "
                    f"system), {decomposition.n_repeated:,} of them with two or more",
                ),
            ),
            caveats=(nothing,) if decomposition.at_zero else (),
            sections=(
                Section("Variances", (Facts(variances),)),
                Section("What a metric is worth", (self._table(), *self._charts(), Paragraph(read))),
            ),
        )

    def _table(self) -> Table:
        def interval(each: Efficiency) -> str:
            is_known = each.interval is not None and all(map(math.isfinite, each.interval))
            return interval_words(*each.interval, digits=3) if each.interval and is_known else ""

        return table(
            self.efficiencies,
            {
                "correlation with quality": lambda each: f"{each.correlation:g}",
                "with ratings": lambda each: f"{each.correlation_with_ratings:.3f}",
                "data efficiency": lambda each: f"{each.data_efficiency:.3f}",
                "interval": interval,
            },
        )

    def _charts(self) -> Iterator[Chart]:
        if self.found.at_zero:
            return
        gamma, rho = self.found.gamma, tuple(_MOST * place / 60 for place in range(61))
        worth = tuple(data_efficiency(gamma.value, each) for each in rho)
        shown = [each for each in self.efficiencies if 0 <= each.correlation <= _MOST]
        series = [Series("line", "estimate", rho, worth)]
        if math.isfinite(gamma.low):
            low, high = (
                tuple(data_efficiency(end, each) for each in rho) for end in (gamma.high, gamma.low)
            )
            series.insert(0, Series("band", "95 % interval", rho, low=low, high=high))
        if shown:
            points = [(each.correlation, each.data_efficiency) for each in shown]
            series.append(Series.of("points", "asked for", points))
        top = max(value for each in series for value in (*each.y, *each.high))
        yield Chart(
            name="efficiency",
            title="What is a metric worth?",
            words="Data efficiency against the correlation of a metric with true quality, with the interval "
            "that the ratings leave.",
            x=Axis("Correlation of the metric with true quality", 0, 1),
            y=Axis("Data efficiency", 0, 1.05 * top),
            series=tuple(series),
            marks=(Level("no metric", 1.0),),
        )

    def content(self) -> Record:
        record = asdict(self.found)
        del record["seed"]  # stands in the envelope
        return {
            **record,
            "scale_width": self.scale.width,
            "data_efficiency": [asdict(each) for each in self.efficiencies],
            "source": self.source,
        }

    def table_rows(self) -> list[Record]:
        ends = (each.interval or (math.nan, math.nan) for each in self.efficiencies)
        return [flat(replace(each, interval=of)) for each, of in zip(self.efficiencies, ends, strict=True)]


def _shown(measure: Measure, unit: float = 1.0) -> str:
    if not math.isfinite(measure.value):
        return "not defined: no quality is seen"
    value = f"{unit * measure.value:.4g}"
    if math.isnan(measure.low):
        return f"{value} (no interval: {measure.reason or 'not defined'})"
    if not math.isfinite(measure.low):
        return f"{value} (no interval: in nearly every resample there is no quality)"
    if not math.isfinite(measure.high):
        return f"{value} ({unit * measure.low:.4g} and up: in some resamples there is no quality)"
    return f"{value} ({unit * measure.low:.4g} to {unit * measure.high:.4g})"


def _shared(code: Codes, system: Codes) -> tuple[int, int, int]:
    """How many there are, the most ratings of one, and how many of them stand under two systems or more."""
    kinds, place = np.unique(code, return_inverse=True)
    both = np.unique(np.stack([place, system]), axis=1)
    n_systems = np.bincount(both[0], minlength=len(kinds))
    return len(kinds), int(np.bincount(place).max()), int((n_systems > 1).sum())


def label_of(tests: PairTests, rated: RatedOutputs) -> str:
    """The test in words."""
    if rated.cluster is None:
        return TEST_WORDS[tests.test]
    statistic = "P(B > A) by placements" if tests.test == "mann-whitney" else "difference of the means"
    return f"{statistic}, errors robust to {rated.cluster_name} (CR2)"


def lead_of(tests: PairTests, rated: RatedOutputs) -> str:
    """What is shown of one pair, or in how many of several a difference is."""
    pair, confidence = tests.pairs[0], 1 - tests.alpha
    if len(tests.pairs) > 1:
        groups = f" in {counted(len(rated.groups), 'group')}" if len(rated.groups) > 1 else ""
        better = [
            above(each.a, each.b, each.difference) for each in tests.pairs if each.corrected_p < tests.alpha
        ]
        how = f"alpha {tests.alpha:g}, corrected by Holm"
        return (
            f"{pairs_lead(better, len(tests.pairs), how)} Without the correction it would be "
            f"{tests.n_significant:,}. {counted(len(rated.rating), 'rating')} of "
            f"{counted(len(rated.systems), 'system')}{groups}; {label_of(tests, rated)}."
        )
    shown = pair.p_value < tests.alpha
    if shown and tests.test == "mann-whitney" and pair.is_torn:
        more = "more" if pair.superiority > 0.5 else "less"
        return (
            f"A rating of {pair.b} is {more} often higher than one of {pair.a} than lower, which is shown "
            f"({p_words(pair.p_value)}), although the mean is {'higher' if pair.difference > 0 else 'lower'}."
        )
    return str(
        TestedDifference(
            (pair.a, pair.b),
            pair.difference,
            pair.interval,
            pair.p_value,
            shown,
            confidence,
            ("is rated", "was rated"),
            ending=" on average",
            unit=" points",
        )
    )


MOST_PAIRS = 60  # that a terminal lists without being asked


@dataclass(frozen=True, kw_only=True)
class RatedPairs(PaperResult):
    """The tests of all pairs of systems of a table of ratings, by group."""

    schema: ClassVar[str] = "humeval_power/assessment_test/1"

    found: PairTests
    rated: RatedOutputs

    @property
    def remarks(self) -> tuple[str, ...]:
        source = self.rated.source
        return tuple(f"{source}: {each}" for each in (*self.rated.notices, *self.found.left_out))

    def answer(self) -> Document:
        tests, one = self.found, len(self.found.pairs) == 1
        pairs = Section("Each pair", tuple(self._pairs()), is_detail=len(tests.pairs) > MOST_PAIRS)
        return Document(
            "Systems compared by independent ratings",
            lead=lead_of(self.found, self.rated),
            headline=tuple(self._headline(tests.pairs[0])) if one else (),
            caveats=tuple(self._caveats()),
            sections=(
                Section("Systems", (self._systems(tests.pairs[0]),)) if one else pairs,
                Section("Ratings" if one else "Differences and p-values", tuple(self._pictures())),
            ),
        )

    def _headline(self, pair: PairTest) -> Iterator[Fact]:
        reach = f"{level_of(1 - self.found.alpha)} interval {significant_interval(*pair.interval)}"
        yield "Difference", f"{significant(pair.difference)} ({reach}, {self._interval()})"
        yield "p", f"{p_cell(pair.p_value)} ({label_of(self.found, self.rated)})"
        yield "P(B > A)", f"{pair.superiority:.4f}, ties counted half"

    def _systems(self, pair: PairTest) -> Table:
        rows = (
            ("A", pair.a, f"{pair.n_a:,}", significant(pair.mean_a), significant(pair.sd_a)),
            ("B", pair.b, f"{pair.n_b:,}", significant(pair.mean_b), significant(pair.sd_b)),
        )
        return Table(("", "system", "ratings", "mean", "SD"), rows)

    def _interval(self) -> str:
        if self.rated.cluster is not None:
            return "CR2"
        return "Student" if self.found.test == "student" else "Welch"

    def _caveats(self) -> Iterator[str]:
        if self.rated.cluster is None:
            yield (
                "Every rating counts as independent, as is usual in direct assessment. Where a worker or an item "
                "has several ratings they are not: see below."
            )
        if self.found.test == "mann-whitney" and any(pair.is_torn for pair in self.found.pairs):
            yield (
                "A rank test compares which rating of a pair is higher, not means: where both point in different "
                "directions (marked !), say which one was planned."
            )
        elif self.found.test == "mann-whitney" and any(map(self._is_split, self.found.pairs)):
            yield (
                "The p-value is of which rating of a pair is higher, the interval of the difference of means: here "
                "one shows a difference and the other does not. Say which one was planned."
            )
        if any(math.isnan(pair.p_value) for pair in self.found.pairs):
            is_clustered = self.rated.cluster is not None
            alike = "all ratings of a system lie in one cluster, or " if is_clustered else ""
            yield f"No p-value: {alike}the ratings do not vary, and there is nothing to judge by."
        if len(self.found.pairs) > 1:
            yield "A pair that is not significant is not shown to be alike; intervals are of each pair by itself."

    def _pairs(self) -> Iterator[Table]:
        """A table for each group."""
        torn = self.found.test == "mann-whitney"
        said = (
            f"Difference of the mean ratings with its interval ({self._interval()}); * significant at alpha "
            f"{self.found.alpha:g} after Holm's correction of all pairs."
        )
        for group in dict.fromkeys(pair.group for pair in self.found.pairs):
            yield table(
                (pair for pair in self.found.pairs if pair.group == group),
                {
                    "pair": lambda pair: f"{pair.b} - {pair.a}",
                    "difference": lambda pair: significant(pair.difference),
                    "interval": lambda pair: significant_interval(*pair.interval),
                    "P(first > second)": lambda pair: (
                        f"{pair.superiority:.3f}" + ("!" if torn and pair.is_torn else "")
                    ),
                    "p": lambda pair: p_cell(pair.p_value),
                    "Holm": lambda pair: (
                        p_cell(pair.corrected_p) + (" *" if pair.corrected_p < self.found.alpha else "  ")
                    ),
                },
                f"{group}. {said}" if group else said,
            )

    def _is_split(self, pair: PairTest) -> bool:
        """Whether the interval of the means and the test of ranks say different things."""
        low, high = pair.interval
        if math.isnan(low) or math.isnan(pair.p_value):
            return False
        return (low > 0 or high < 0) != (pair.p_value < self.found.alpha)

    def _pictures(self) -> Iterator[Chart]:
        pairs = self.found.pairs
        if len(pairs) > 1:
            tested = [pair for pair in pairs if not math.isnan(pair.p_value)]
            if tested:
                sizes, p_values = zip(*((pair.difference, pair.p_value) for pair in tested), strict=True)
                yield comparisons_chart(sizes, p_values, self.found.alpha)
            return
        series = []
        for colour, name in enumerate((pairs[0].a, pairs[0].b)):
            ratings = self.rated.rating[self.rated.system == self.rated.systems.index(name)]
            values, counts = np.unique(ratings, return_counts=True)
            shares = 100 * np.cumsum(counts) / len(ratings)
            x, y = (float(values[0]), *values.tolist()), (0.0, *shares.tolist())
            series.append(Series("steps", f"{'AB'[colour]}: {name}", x, y, colour=colour))
        low, high = float(self.rated.rating.min()), float(self.rated.rating.max())
        yield Chart(
            name="ratings",
            title="Which ratings do the systems get?",
            words="Share of the ratings of A and of B that are at most as high as each rating.",
            x=Axis("Rating", low, high if high > low else low + 1),
            y=Axis("Ratings up to it", 0, 100, unit="%"),
            series=tuple(series),
        )

    @property
    def _prose(self) -> Prose:
        tests, rated, pair = self.found, self.rated, self.found.pairs[0]
        least = min((each.df for each in tests.pairs if each.df is not None), default=math.nan)
        return prose_of(
            __package__,
            "ratings.md.j2",
            tests=tests,
            rated=rated,
            pair=pair,
            is_clustered=rated.cluster is not None,
            least=decimals(least, 1),
            is_hint=not least >= FEW_DF,
            few_df=FEW_DF,
            of_items=None if rated.item is None else _shared(rated.item, rated.system),
            of_workers=None if rated.worker is None else _shared(rated.worker, rated.system),
            label=label_of(tests, rated),
            level=level_of(1 - tests.alpha),
            interval=significant_interval(*pair.interval),
            p=p_words(pair.p_value),
            systems=counted(len(rated.systems), "system"),
            pairs=counted(len(tests.pairs), "pair"),
            ratings=counted(len(rated.rating), "rating"),
            significant=significant,
        )

    def independence(self) -> tuple[Independence, ...]:
        prose = self._prose
        known = (
            () if self.rated.cluster is None else (Independence("items", "accounted", prose("clusters")),)
        )
        items = Independence("items", "assumed", prose("items"))
        return *known, items, Independence("workers", "assumed", prose("workers"))

    def paper(self) -> tuple[str, ...]:
        return (self._prose("paper"),)

    @property
    def signature(self) -> str:
        tests, rated = self.found, self.rated
        n_clusters = None if rated.cluster is None else len(set(rated.cluster.tolist()))
        return signature(
            model="independent-ratings",
            coding="b-a",
            test=tests.test,
            continuity="no" if tests.test == "mann-whitney" and not tests.continuity else None,
            alpha=tests.alpha,
            two=True,
            n=len(rated.rating),
            cluster=(rated.cluster_name or None, n_clusters),
            k=len(rated.systems) if len(rated.systems) > 2 else None,
            corr="holm" if len(tests.pairs) > 1 else None,
            data=data_entry(rated.sha256),
        )

    def numbers(self) -> Record:
        tests, rated = self.found, self.rated
        return {
            **values(rated, "systems", "notices"),
            "n_ratings": len(rated.rating),
            **values(tests, "test", "continuity", "alpha", "baseline", "n_significant", "left_out"),
            "cluster": rated.cluster_name or None,
            "n_significant_corrected": tests.n_corrected,
            "pairs": [asdict(pair) for pair in tests.pairs],
        }

    def table_rows(self) -> list[Record]:
        groups = ["group"] if len(self.rated.groups) > 1 else []
        return [
            {
                **values(pair, *groups),
                "system_a": pair.a,
                "system_b": pair.b,
                **values(pair, "n_a", "n_b", "mean_a", "mean_b", "difference"),
                "low": pair.interval[0],
                "high": pair.interval[1],
                "superiority": pair.superiority,
                "p": pair.p_value,
                "corrected_p": pair.corrected_p,
            }
            for pair in self.found.pairs
        ]
