"""How much of the variance of ratings is quality and how much is noise, and what a metric can save."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.inference.agreement.variance_decomposition import VarianceDecomposition
from humeval_power.inference.item_bootstrap import Measure
from humeval_power.planning.judge.efficiency import data_efficiency, observed_correlation
from humeval_power.reporting.document import Document, Facts, Paragraph, Picture, Section, Table
from humeval_power.reporting.numbers import counted, interval_words, percent
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.scales import RatingScale

if TYPE_CHECKING:  # pandas and Matplotlib are slow to import
    import pandas as pd
    from matplotlib.figure import Figure

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
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The share that a metric can explain, the variances, and what metrics would save."""
        found = self.found
        return Document(
            "Quality and noise in the ratings",
            lead="No quality is seen in the variance of the ratings."
            if found.at_zero
            else f"{percent(found.reducible.value)} of the variance of the ratings is quality, all that a metric "
            "can explain; the rest is noise between ratings of one output.",
            headline=(
                ("Quality", f"{_shown(found.reducible)} of the variance"),
                (
                    "Ratings",
                    f"{found.n_ratings:,} of {counted(found.n_outputs, 'output')} (item and system), "
                    f"{found.n_repeated:,} of them with two or more",
                ),
            ),
            caveats=(_NO_QUALITY,) if found.at_zero else (),
            sections=(
                Section("Variances", (self._variances(),)),
                Section("What a metric is worth", (self._table(), self._picture(), Paragraph(_READ))),
            ),
        )

    def _variances(self) -> Facts:
        found, unit = self.found, self.scale.width**2
        scale = f"{self.scale.low:g} to {self.scale.high:g}"
        return Facts(
            (
                ("Total", f"{_shown(found.total, unit)} on the scale {scale}"),
                ("Quality", f"{_shown(found.quality, unit)} between outputs of a system"),
                ("Noise", f"{_shown(found.noise, unit)} between ratings of one output"),
                ("Ratio", f"{_shown(found.gamma)}: noise over quality, gamma in Wei et al. (2022)"),
            )
        )

    def _table(self) -> Table:
        rows = [
            (
                f"{each.correlation:g}",
                f"{each.correlation_with_ratings:.3f}",
                f"{each.data_efficiency:.3f}",
                ""
                if each.interval is None or not _ends(each)
                else interval_words(*each.interval, digits=3),
            )
            for each in self.efficiencies
        ]
        header = ("correlation with quality", "with ratings", "data efficiency", "interval")
        return Table(header, tuple(rows))

    def _picture(self) -> Picture:
        return Picture(
            "efficiency",
            self._figure,
            words="Data efficiency against the correlation of a metric with true quality, with the interval "
            "that the ratings leave.",
        )

    def _figure(self) -> Figure:
        from humeval_power.reporting.assessment.figures import efficiency_figure

        return efficiency_figure(self.found.gamma, self.efficiencies)

    def content(self) -> Record:
        """The variances on [0, 1] squared, and the efficiencies."""
        found = asdict(self.found)
        del found["seed"]  # stands in the envelope
        return {
            **found,
            "scale_width": self.scale.width,
            "data_efficiency": [asdict(each) for each in self.efficiencies],
            "source": self.source,
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each correlation."""
        import pandas as pd

        rows = []
        for each in self.efficiencies:
            low, high = each.interval or (math.nan, math.nan)
            rows.append({**asdict(each), "low": low, "high": high})
        return pd.DataFrame(rows).drop(columns="interval")


def _ends(each: Efficiency) -> bool:
    return each.interval is not None and all(math.isfinite(end) for end in each.interval)


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
