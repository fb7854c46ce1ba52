"""From which observed difference on comparisons of a collection were significant."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.comparisons.agreement.reliability import VarianceDecomposition
from humeval_power.comparisons.assessment.collection import ObservedMDE, Threshold
from humeval_power.comparisons.judge.plan import data_efficiency, observed_correlation
from humeval_power.inference.item_bootstrap import Measure
from humeval_power.saying.chart import Axis, Chart, Level, Series, Spot, Upright
from humeval_power.saying.document import Document, Fact, Facts, Paragraph, Section, Table
from humeval_power.saying.numbers import counted, interval_words, percent
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import table
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    import pandas as pd

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
        pages = [Section("Share that is significant", self._pictures())]
        groups = [Section("Groups", (self._groups(), Paragraph(dash)))] if len(self.found) > 1 else []
        return Document(
            "From which observed difference on comparisons were significant",
            lead=self._lead(),
            headline=(
                _threshold_fact("First", whole.first, whole, "smallest difference that reaches the share"),
                _threshold_fact(
                    "Stable", whole.stable, whole, "from here on every larger difference reaches it"
                ),
            ),
            caveats=(SELECTION,),
            sections=(*groups, *pages),
        )

    def _lead(self) -> str:
        whole = self.whole
        share = f"{100 * whole.share:g} % of the comparisons"
        stable = f"No observed difference is so large that {share} from there on were significant"
        if whole.stable is not None:
            large = f"{whole.stable.difference:.4g}"
            stable = f"From an observed difference of {large} on, {share} or more were significant"
        return (
            f"{stable}. Of {counted(whole.n, 'comparison')} {whole.n_significant:,} have p < {self.alpha:g}; the "
            f"median observed difference is {whole.median_difference:.4g}."
        )

    def _groups(self) -> Table:
        return table(
            ((name, each) for name, each in self.found.items() if name != ALL),
            {
                "group": lambda row: row[0],
                "comparisons": lambda row: f"{row[1].n:,}",
                "significant": lambda row: f"{row[1].n_significant:,}",
                "median": lambda row: f"{row[1].median_difference:.4g}",
                "first": lambda row: _short(row[1].first),
                "stable": lambda row: _short(row[1].stable),
            },
        )

    def _pictures(self) -> tuple[Chart, ...]:
        whole = self.whole
        scatter = comparisons_chart(
            whole.difference, whole.p_value, self.alpha, threshold=_difference(whole.first)
        )
        if len(whole.curve) < 2:
            return (scatter,)
        enough = [each for each in whole.curve if each.n_above >= whole.fewest_above]
        parts = (
            (enough, f"{whole.fewest_above} comparisons or more"),
            (whole.curve[len(enough) :], "fewer are left"),
        )
        series = tuple(
            Series(
                "steps",
                name,
                tuple(each.difference for each in part),
                tuple(100 * each.rate for each in part),
                colour=colour,
            )
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
            title="From which observed difference on is it significant?",
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
                "first": _difference(each.first),
                "stable": _difference(each.stable),
            }
            for name, each in self.found.items()
        ]


_LEAST_P = 1e-6  # smaller ones are drawn here


def comparisons_chart(
    difference: Sequence[float], p_value: Sequence[float], alpha: float, *, threshold: float | None = None
) -> Chart:
    """Each comparison by the size of its difference and its p-value, with an observed MDE where one is given."""
    known = [(abs(size), p) for size, p in zip(difference, p_value, strict=True)]
    parts = (
        (f"p < {alpha:g}", [(size, p) for size, p in known if p < alpha]),
        (f"p at least {alpha:g}", [(size, p) for size, p in known if not p < alpha]),
    )
    series = tuple(
        Series(
            "points",
            f"{name}: {len(part):,}",
            tuple(size for size, _ in part),
            tuple(max(p, _LEAST_P) for _, p in part),
            colour=colour,
        )
        for colour, (name, part) in enumerate(parts)
        if part
    )
    mde = () if threshold is None else (Upright(f"observed MDE: {threshold:.3g}", threshold, colour=2),)
    return Chart(
        name="comparisons",
        title="Which differences were significant?",
        words="Each comparison by the size of its observed difference and its p-value, and the level"
        + ("." if threshold is None else "; and the first threshold."),
        x=Axis("Observed difference, its size", 0, 1.02 * max(size for size, _ in known) or 1),
        y=Axis(
            "p (below 1e-6 drawn there)" if any(p < _LEAST_P for _, p in known) else "p",
            _LEAST_P / 1.6,
            1.6,
            is_log=True,
        ),
        series=series,
        marks=(Level(f"alpha {alpha:g}", alpha), *mde),
    )


def _difference(threshold: Threshold | None) -> float | None:
    return None if threshold is None else threshold.difference


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


def _short(threshold: Threshold | None) -> str:
    return "-" if threshold is None else f"{threshold.difference:.4g}"


# How much of the variance of ratings is quality and how much is noise, and what a metric can save.

_MOST = 0.99  # correlation: at 1 a metric can be worth endlessly many ratings
_READ = (
    "Data efficiency 1.2: ratings with the metric as control variate are worth 1.2 times as many without "
    "(Wei et al. 2022, eq. 2). Intervals are 95 %, from items drawn again."
)
_NO_QUALITY = (
    "Ratings of one output differ as much as those of different ones: no quality is seen, and no metric can "
    "save anything here."
)


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
        decomposition = self.found
        charts = () if decomposition.at_zero else (self._chart(),)
        return Document(
            "Quality and noise in the ratings",
            lead="No quality is seen in the variance of the ratings."
            if decomposition.at_zero
            else f"{percent(decomposition.reducible.value)} of the variance of the ratings is quality, all "
            f"that a metric "
            "can explain; the rest is noise between ratings of one output.",
            headline=(
                ("Quality", f"{_shown(decomposition.reducible)} of the variance"),
                (
                    "Ratings",
                    f"{decomposition.n_ratings:,} of {counted(decomposition.n_outputs, 'output')} (item and "
                    f"system), "
                    f"{decomposition.n_repeated:,} of them with two or more",
                ),
            ),
            caveats=(_NO_QUALITY,) if decomposition.at_zero else (),
            sections=(
                Section("Variances", (self._variances(),)),
                Section("What a metric is worth", (self._table(), *charts, Paragraph(_READ))),
            ),
        )

    def _variances(self) -> Facts:
        decomposition, unit = self.found, self.scale.width**2
        scale = f"{self.scale.low:g} to {self.scale.high:g}"
        return Facts(
            (
                ("Total", f"{_shown(decomposition.total, unit)} on the scale {scale}"),
                ("Quality", f"{_shown(decomposition.quality, unit)} between outputs of a system"),
                ("Noise", f"{_shown(decomposition.noise, unit)} between ratings of one output"),
                ("Ratio", f"{_shown(decomposition.gamma)}: noise over quality, gamma in Wei et al. (2022)"),
            )
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

    def _chart(self) -> Chart:
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
            at = tuple(each.correlation for each in shown)
            series.append(Series("points", "asked for", at, tuple(each.data_efficiency for each in shown)))
        top = max(value for each in series for value in (*each.y, *each.high))
        return Chart(
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

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        rows = []
        for each in self.efficiencies:
            low, high = each.interval or (math.nan, math.nan)
            rows.append({**asdict(each), "low": low, "high": high})
        return pd.DataFrame(rows).drop(columns="interval")


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
