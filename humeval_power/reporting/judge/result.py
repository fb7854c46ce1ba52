"""What a judge is worth in human ratings: in a mean, in a study of workers and items, on given data."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.differences import Difference
from humeval_power.inference.judge import FEW, JudgedMean, JudgedMeans
from humeval_power.inference.study.formula import AnalyticPower
from humeval_power.parameters import Parameters
from humeval_power.planning.judge.efficiency import PredictionPower
from humeval_power.planning.judge.study import JudgedStudy
from humeval_power.reporting.document import Document, Fact, Facts, Paragraph, Picture, Section, Table
from humeval_power.reporting.judge.charts import worth_chart
from humeval_power.reporting.numbers import counted, p_cell
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.rules import DecisionRule

if TYPE_CHECKING:  # pandas and Matplotlib are slow to import
    import pandas as pd
    from matplotlib.figure import Figure

ASSUMED = (
    "This holds whatever the judge is worth, if the items that humans rated are a random part of all and "
    "the judge was not tuned on their ratings. Items count as independent: where the same few workers "
    "rate them all, their own differences are not in this interval."
)
PLAIN_HURTS = (
    "Plain prediction-powered inference, which gives the judge weight 1, would be worse than no judge "
    "here: estimate the weight."
)


@dataclass(frozen=True, kw_only=True)
class JudgeMean(Result):
    """How precise a mean of human values is with a judge's help."""

    schema: ClassVar[str] = "humeval_power/judge_mean/1"

    found: PredictionPower
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """What the mean is worth with the judge, and without."""
        found = self.found
        hurts = found.extra and found.plain_variance > found.human_variance
        return Document(
            "What a judge adds to a mean of human values",
            lead=f"{counted(found.n, 'item')} with a human value, {found.extra:,} more with the judge's score, "
            f"correlation {found.correlation:g}.",
            headline=self._facts(),
            caveats=(PLAIN_HURTS,) if hurts else (),
            sections=(Section("", (worth_chart(self.found),)),) if found.extra else (),
        )

    def _facts(self) -> tuple[Fact, ...]:
        found = self.found
        plain = "not defined: it needs items that only the judge has scored"
        if found.extra:
            plain = (
                f"standard error {math.sqrt(found.plain_variance):.4g}: as {found.plain_effective_n:.1f} "
                "human values"
            )
        return (
            (
                "With the judge",
                f"as {found.effective_n:.1f} human values, {found.effective_n - found.n:.1f} more: standard "
                f"error {math.sqrt(found.variance):.4g} at the best weight of the judge, {found.weight:.3f}",
            ),
            ("Humans alone", f"standard error {math.sqrt(found.human_variance):.4g}"),
            ("Weight 1", plain),
        )

    def content(self) -> Record:
        """What was asked, and the variances."""
        found = self.found
        return {
            **asdict(found),
            "weight": found.weight,
            "variance": found.variance,
            "human_variance": found.human_variance,
            "plain_variance": found.plain_variance,
            "effective_n": found.effective_n,
            "plain_effective_n": found.plain_effective_n,
        }


@dataclass(frozen=True, kw_only=True)
class JudgeStudy(Result):
    """Power of a study of workers and items with a judge and without.

    `endless` is the same study with a perfect judge of endless items.
    """

    schema: ClassVar[str] = "humeval_power/judge_study/1"

    found: JudgedStudy
    endless: JudgedStudy
    parameters: Parameters
    effect: Difference
    extra: int
    correlation: float
    rule: DecisionRule
    setting: str = ""
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """What the judge saves, the power with it and without, and the most that any judge can do."""
        found = self.found
        return Document(
            "What a judge saves in a study of workers and items",
            lead=f"Effect: {self.effect}",
            headline=(
                ("Saves", _saved(found)),
                (
                    "With the judge",
                    f"{_power_words(found.judged)}: {found.efficiency:.3f} times the data, with {self.extra:,} "
                    f"more items and correlation {self.correlation:g}",
                ),
                ("Humans alone", _power_words(found.alone)),
                (
                    "At most",
                    f"{self.endless.efficiency:.3f} times the data, from a perfect judge of endless items: "
                    "workers and noise remain",
                ),
            ),
            sections=(
                Section(
                    "", (Facts((("Setting", self.setting or "parameters"), ("Study", str(found.design)))),)
                ),
            ),
        )

    def content(self) -> Record:
        """What was assumed, the powers, and what is saved."""
        found, design = self.found, self.found.design
        return {
            "understood": str(self.effect),
            "setting": self.setting,
            "parameters": self.parameters.as_dict(),
            "rule": asdict(self.rule),
            "extra": self.extra,
            "correlation": self.correlation,
            "workers": design.n_workers,
            "items": design.n_items,
            "ratings_per_item": design.ratings_per_item,
            "effect": found.alone.effect,
            "power_alone": found.alone.power,
            "power_judged": found.judged.power,
            "standard_error_alone": found.alone.precision.standard_error,
            "standard_error_judged": found.judged.precision.standard_error,
            "efficiency": found.efficiency,
            "largest_efficiency": self.endless.efficiency,
            "items_needed": design.n_items if found.fewer is None else found.fewer.n_items,
            "ratings": design.n_ratings,
            "ratings_saved": found.ratings_saved,
        }


@dataclass(frozen=True, kw_only=True)
class JudgeEstimate(Result):
    """A mean or a difference from human values and a judge's scores; `estimated` says which, in words."""

    schema: ClassVar[str] = "humeval_power/judge_estimate/1"

    found: JudgedMeans
    estimated: str
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @property
    def _named(self) -> tuple[tuple[str, JudgedMean], ...]:
        found = self.found
        return (
            ("humans alone", found.human),
            ("judge, weight 1", found.plain),
            ("judge, weight estimated", found.tuned),
        )

    def body(self) -> Document:
        """The estimate, three ways, and what it rests on."""
        found, best = self.found, self.found.tuned
        return Document(
            self.estimated,
            lead=f"{counted(found.n, 'item')} with human values, {found.extra:,} more with the judge's scores; "
            f"correlation of judge and humans {found.correlation:.3f}.",
            headline=(
                (
                    "With the judge",
                    f"{best.estimate:.4g}, {100 * found.confidence:g} % interval "
                    f"{_interval(best.interval)}",
                ),
                (
                    "Worth",
                    f"{found.efficiency:.2f} times the human values (weight cross-fitted, Student's interval on "
                    f"{found.n - 1} df)",
                ),
            ),
            caveats=self._caveats(),
            sections=(
                Section("With the judge and without", (self._table(), self._picture())),
                Section("What must hold", (Paragraph(ASSUMED),)),
            ),
        )

    def _caveats(self) -> tuple[str, ...]:
        found = self.found
        said = {
            f"With {found.n} human values (fewer than {FEW}) the judge's weight is itself uncertain; the gain "
            "may be less than the standard errors say.": found.n < FEW,
            "The judge made the estimate less precise here: use the humans alone.": found.efficiency < 1,
            PLAIN_HURTS: found.plain_hurts,
        }
        return tuple(text for text, holds in said.items() if holds)

    def _table(self) -> Table:
        rows = [
            (
                name,
                f"{each.estimate:.4g}",
                f"{each.standard_error:.4g}",
                _interval(each.interval),
                f"{each.weight:.3f}",
                p_cell(each.p_value),
            )
            for name, each in self._named
        ]
        header = ("", "estimate", "SE", f"{100 * self.found.confidence:g} % interval", "weight", "p")
        return Table(header, tuple(rows))

    def _picture(self) -> Picture:
        return Picture(
            "estimates",
            self._figure,
            words="The estimate with its interval: from humans alone, with the judge at weight 1, and at the "
            "estimated weight.",
        )

    def _figure(self) -> Figure:
        from humeval_power.reporting.judge.figures import estimates_figure

        return estimates_figure(self._named, what=self.estimated, confidence=self.found.confidence)

    def content(self) -> Record:
        """The three estimates and what they rest on."""
        found = asdict(self.found)
        del found["seed"]  # stands in the envelope
        return {
            "estimated": self.estimated,
            **found,
            "efficiency": self.found.efficiency,
            "assumptions": ASSUMED,
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each of the three estimates."""
        import pandas as pd

        rows = []
        for _, each in self._named:
            row = asdict(each)
            row["low"], row["high"] = row.pop("interval")
            rows.append(row)
        return pd.DataFrame(rows)


def _interval(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.4g} to {ends[1]:.4g}"


def _saved(found: JudgedStudy) -> str:
    if found.fewer is None:
        return "nothing: with one item less the power is lower than without the judge"
    return (
        f"{found.ratings_saved:,} of {found.design.n_ratings:,} ratings for the same power: "
        f"{found.fewer.n_items:,} items instead of {found.design.n_items:,}"
    )


def _power_words(analytic: AnalyticPower) -> str:
    rough = "; rough, with so few workers" if analytic.is_rough else ""
    error, df = analytic.precision.standard_error, analytic.precision.df
    return f"power {analytic.power:.3f} (SE {error:.4f}, df {df:.1f}{rough})"
