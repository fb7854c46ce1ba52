"""What a judge will be worth in human ratings: in a mean, in a study of workers and items."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

from humeval_power.checking.columns import listing
from humeval_power.choices import Allocation
from humeval_power.comparisons.judge.plan import JudgedStudy, PredictionPower
from humeval_power.comparisons.judge.sampling import SamplePlan
from humeval_power.differences import Difference
from humeval_power.parameters import Parameters
from humeval_power.rules import DecisionRule
from humeval_power.saying.answer_words import finding_words, of_hundred
from humeval_power.saying.chart import Axis, Chart, Level, Series, Spot
from humeval_power.saying.document import Document, Facts, Paragraph, Section
from humeval_power.saying.numbers import counted, percent, power_words, significant
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import table
from humeval_power.studies.power.formula import AnalyticPower

# What a mean is worth in human values, by the number of items that the judge has scored.


def worth_chart(power: PredictionPower) -> Chart:
    """Human values that the mean is worth against the items that only the judge has scored."""
    most = max(3 * power.extra, 2 * power.n)
    extra = sorted({1 + round((most - 1) * place / 59) for place in range(60)})
    at = [replace(power, extra=each) for each in extra]
    best, plain = [each.effective_n for each in at], [each.plain_effective_n for each in at]
    x = tuple(map(float, extra))
    return Chart(
        name="worth",
        title="How many human values does the judge save?",
        words="Human values that the mean is worth, against the number of items that only the judge has scored: "
        f"{power.effective_n:.0f} with {power.extra:,}.",
        x=Axis("Items scored by the judge alone", 0, most, is_whole=True),
        y=Axis("Worth, in human values", 0, 1.05 * max(*best, *plain, power.n), is_whole=True),
        series=(
            Series("line", "best weight", x, tuple(best)),
            Series("line", "weight 1", x, tuple(plain), colour=2),
        ),
        marks=(
            Spot(f"this plan: {power.effective_n:.0f}", power.extra, power.effective_n),
            Level(f"humans alone: {power.n:,}", power.n),
        ),
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

    def body(self) -> Document:
        power = self.found
        lead = (
            f"The judge adds nothing to {counted(power.n, 'human value')}: it has scored no further items."
        )
        plain = "not defined: it needs items that only the judge has scored"
        if power.extra:
            lead = (
                f"With the judge's scores of {counted(power.extra, 'further item')}, {power.n:,} human values "
                f"are worth {power.effective_n:,.0f}, if judge and humans correlate {power.correlation:g}."
            )
            plain = (
                f"standard error {math.sqrt(power.plain_variance):.4g}: as {power.plain_effective_n:.1f} "
                "human values"
            )
        best = (
            f"as {power.effective_n:.1f} human values, {power.effective_n - power.n:.1f} more: standard "
            f"error {math.sqrt(power.variance):.4g} at the best weight of the judge, {power.weight:.3f}"
        )
        alone = f"standard error {math.sqrt(power.human_variance):.4g}"
        hurts = power.extra and power.plain_variance > power.human_variance
        return Document(
            "What a judge adds to a mean of human values",
            lead=lead,
            headline=(("With the judge", best), ("Humans alone", alone), ("Weight 1", plain)),
            caveats=(PLAIN_HURTS,) if hurts else (),
            sections=(Section("", (worth_chart(power),)),) if power.extra else (),
        )

    def content(self) -> Record:
        worth = ("human_variance", "plain_variance", "effective_n", "plain_effective_n")
        return {**asdict(self.found), **values(self.found, "weight", "variance", *worth)}


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

    def body(self) -> Document:
        study, design = self.found, self.found.design
        saved = "The judge saves no ratings"
        if study.fewer is not None:
            saved = (
                f"The judge saves {study.ratings_saved:,} of {design.n_ratings:,} ratings: "
                f"{study.fewer.n_items:,} items with it have the power of {design.n_items:,} without"
            )
        with_judge = (
            f"{_power_words(study.judged)}: {study.efficiency:.3f} times the data, with {self.extra:,} "
            f"more items and correlation {self.correlation:g}"
        )
        most = (
            f"{self.endless.efficiency:.3f} times the data, from a perfect judge of endless items: "
            "workers and noise remain"
        )
        alone = ("Humans alone", _power_words(study.alone))
        asked = (
            ("Effect", str(self.effect)),
            ("Setting", self.setting or "parameters"),
            ("Study", str(design)),
        )
        return Document(
            "What a judge saves in a study of workers and items",
            lead=f"{saved}. With the judge and all {counted(design.n_items, 'item')}, "
            f"{of_hundred(study.judged.power)} of 100 such studies {finding_words(self.effect, self.rule)}, "
            f"without it {of_hundred(study.alone.power)}; by formula.",
            headline=(("With the judge", with_judge), alone, ("At most", most)),
            sections=(Section("", (Facts(asked),)),),
        )

    def content(self) -> Record:
        study, design = self.found, self.found.design
        return {
            "understood": str(self.effect),
            "parameters": self.parameters.as_dict(),
            **values(self, "setting", "rule", "extra", "correlation"),
            "workers": design.n_workers,
            "items": design.n_items,
            "ratings_per_item": design.ratings_per_item,
            "effect": study.alone.effect,
            "power_alone": study.alone.power,
            "power_judged": study.judged.power,
            "standard_error_alone": study.alone.precision.standard_error,
            "standard_error_judged": study.judged.precision.standard_error,
            "efficiency": study.efficiency,
            "largest_efficiency": self.endless.efficiency,
            "items_needed": design.n_items if study.fewer is None else study.fewer.n_items,
            "ratings": design.n_ratings,
            "ratings_saved": study.ratings_saved,
        }


def _power_words(analytic: AnalyticPower) -> str:
    rough = "; rough, with so few workers" if analytic.is_rough else ""
    error, df = analytic.precision.standard_error, analytic.precision.df
    return f"power {power_words(analytic.power)} (SE {error:.4f}, df {df:.1f}{rough})"


# Which outputs people rate: strata, how many of each were drawn, and what to do next.

RATE_THESE = (
    "Have these items rated, and no others in their place: an item that cannot be rated is left blank. 'judge "
    "estimate' takes the file with --sample."
)
ACTIVE_PRICE = (
    "This is more precise than strata only where the judge's doubt is right. A judge that is sure and noisy, of "
    "outputs that people are divided over, makes it less precise than labels of outputs drawn alike."
)


@dataclass(frozen=True, kw_only=True)
class JudgeSample(Result):
    """The items that were drawn, with their strata and probabilities."""

    schema: ClassVar[str] = "humeval_power/judge_sample/1"

    found: SamplePlan
    items: tuple[str, ...]
    judges: tuple[str, ...]
    contrast: str
    allocation: Allocation = "proportional"
    remarks: tuple[str, ...] = ()

    def body(self) -> Document:
        plan = self.found
        drawn = f"{counted(len(plan.chosen), 'item')} of {len(self.items):,}"
        several = len(self.judges) > 1
        judges = f"the scores of {len(self.judges)} judges" if several else "the judge's score"
        if plan.active:
            lead = f"{drawn} were drawn, with larger probabilities where the judge is less certain."
        elif len(plan.drawn) == 1:
            lead = f"{drawn} were drawn alike: {judges} {'make' if several else 'makes'} no strata."
        else:
            how = "" if self.allocation == "proportional" else " times how the pilot's labels vary in it"
            lead = (
                f"{drawn} were drawn from {len(plan.drawn)} strata by {judges}, of each stratum in proportion to "
                f"its size{how}."
            )
        facts = [("For", self.contrast), ("Judges", listing(self.judges))]
        if math.isfinite(plan.explained) and len(plan.drawn) > 1:
            facts.append(
                (
                    "Strata",
                    f"take away {percent(plan.explained)} of what the scores vary: so much of what the judge's "
                    "squared correlation with people promises",
                )
            )
        chance = [plan.probability[plan.strata.code == place] for place in range(len(plan.drawn))]
        columns: dict[str, Callable[[int], str]] = {
            "stratum": lambda place: str(place + 1),
            "scores": lambda place: _range(plan.strata.low[place], plan.strata.high[place]),
            "items": lambda place: f"{plan.strata.size[place]:,}",
            "drawn": lambda place: f"{plan.drawn[place]:,}",
            "probability": lambda place: _range(float(chance[place].min()), float(chance[place].max())),
        }
        use = (RATE_THESE, ACTIVE_PRICE) if plan.active else (RATE_THESE,)
        return Document(
            "Which outputs people rate",
            lead=lead,
            headline=tuple(facts),
            sections=(
                Section("" if plan.active else "Strata", (table(range(len(plan.drawn)), columns),)),
                Section("How to use it", tuple(map(Paragraph, use))),
            ),
        )

    def content(self) -> Record:
        plan = self.found
        return {
            "contrast": self.contrast,
            "judges": list(self.judges),
            "allocation": None if plan.active else self.allocation,
            "active": plan.active,
            "items": len(self.items),
            "explained": plan.explained,
            "strata": [
                {
                    "stratum": place + 1,
                    "size": int(plan.strata.size[place]),
                    "drawn": int(plan.drawn[place]),
                    "low": float(plan.strata.low[place]),
                    "high": float(plan.strata.high[place]),
                }
                for place in range(len(plan.drawn))
            ],
            "rows": [
                {
                    "item": self.items[place],
                    "stratum": int(plan.strata.code[place]) + 1,
                    "probability": float(plan.probability[place]),
                    "stratum_size": int(plan.strata.size[plan.strata.code[place]]),
                    "sample_size": len(plan.chosen),
                }
                for place in plan.chosen.tolist()
            ],
        }


def _range(low: float, high: float) -> str:
    if math.isnan(low):
        return "none"
    return significant(low) if low == high else f"{significant(low)} to {significant(high)}"
