"""What plans with looks say: of a rating study, of independent judgements, and of a pool of comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from humeval_power.errors import InputError
from humeval_power.inference.looks.boundaries import Boundaries
from humeval_power.planning.looks.how_many import Growth, LooksChoice, new_workers_advice
from humeval_power.planning.looks.judgement_plan import JudgementPlan
from humeval_power.planning.looks.long_run import OperatingPoint
from humeval_power.planning.looks.pool import PROCEDURES, PoolStudy
from humeval_power.planning.looks.rating_looks import LookPlan
from humeval_power.reporting.answer_words import of_hundred
from humeval_power.reporting.document import Block, Document, Fact, Facts, Paragraph, Picture, Section
from humeval_power.reporting.looks.records import (
    boundaries_record,
    judgements_record,
    looks_record,
    pool_record,
)
from humeval_power.reporting.looks.tables import (
    LONG_RUN,
    bias_table,
    boundaries_table,
    calibration_words,
    choices_table,
    errors_table,
    growth_table,
    points_table,
    pool_table,
    rows_table,
    savings_table,
)
from humeval_power.reporting.numbers import counted, percent
from humeval_power.reporting.records import LOOKS_FILE, Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.study.study_content import category_facts

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

INDEPENDENT = (
    "Judgements are taken as independent. Where annotators or items have levels of their own the false "
    "positives are many more: a rating study with looks says how many."
)
Curve = Callable[[], Sequence[OperatingPoint]]


@dataclass(frozen=True, kw_only=True)
class ScheduleResult(Result):
    """Boundaries of a study with looks."""

    schema: ClassVar[str] = "humeval_power/looks_schedule/1"

    bounds: Boundaries
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The boundaries, look by look, with their picture."""
        return Document(
            "Boundaries of a study with looks",
            lead=f"{counted(self.bounds.n_looks, 'look')}: a study is significant at the first where p <= "
            f"{self.bounds.nominal[0]:.2g}, and at the last where p <= {self.bounds.nominal[-1]:.2g} "
            f"({self.bounds.rule}).",
            sections=(Section("", (boundaries_table(self.bounds), _boundaries(self.bounds))),),
        )

    def content(self) -> Record:
        """z and nominal p for success and futility, and the error spent."""
        return boundaries_record(self.bounds)


@dataclass(frozen=True, kw_only=True)
class LooksStudyResult(Result):
    """A rating study with looks: boundaries, errors, the long run.

    `curve` gives the operating characteristics over effects for the picture of the expected cost.
    """

    schema: ClassVar[str] = "humeval_power/looks/1"

    plan: LookPlan
    points: tuple[OperatingPoint, ...]
    choices: tuple[LooksChoice, ...]
    growth: tuple[Growth, ...]
    setting: str
    understood: str
    curve: Curve
    currency: str = ""
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The study at each look, its boundaries, errors and long run, and what other looks would do."""
        plan = self.plan
        return Document(
            "A rating study with looks before its end",
            lead=self._lead(),
            sections=(
                Section("", (Facts(tuple(self._facts())),)),
                Section("What is there at each look", (rows_table(plan),)),
                Section("Boundaries", (boundaries_table(plan.bounds), _boundaries(plan.bounds))),
                Section("False positives", tuple(self._errors())),
                Section("Long run", tuple(self._long_run())),
                Section("What else could be looked at", tuple(self._others())),
            ),
        )

    def _lead(self) -> str:
        study = self.plan.study
        there = min(self.points, key=lambda point: abs(point.effect - study.true_effect))
        return (
            f"Of 100 such studies, {of_hundred(there.power, there.power_interval)} would find the difference with "
            f"{counted(len(self.plan.rows), 'look')}, {of_hundred(there.fixed_power)} with one look at the end. On "
            f"average they end after {there.expected_size:,.0f} of {study.sizes[-1]:,} ratings."
        )

    def _facts(self) -> Iterator[Fact]:
        study = self.plan.study
        yield "Effect", self.understood
        yield "Setting", self.setting
        yield from category_facts(study.parameters)
        yield "Study", str(study.nested.final)
        yield "Looks", str(study.looks)
        yield "Rule", str(self.plan.bounds.rule)
        yield "Method", self.plan.method
        if self.plan.calibration is not None:
            yield "", calibration_words(self.plan.calibration)

    def _errors(self) -> Iterator[Block]:
        yield errors_table(self.plan)
        yield Paragraph(
            "Ratings are not information: with known variances the boundaries for shares of ratings would err "
            f"{self.plan.count_time_error:.3f} of the time here. The p-values are those of Kenward and Roger's t "
            "tests, refitted at every look."
        )

    def _long_run(self) -> Iterator[Block]:
        yield Paragraph(
            f"To have the power 0.8 with these looks, the whole study needs {self.plan.inflation:.3f} times the "
            "information of one without them (z-values)."
        )
        yield points_table(self.points, noun="ratings", currency=self.currency)
        costs = self.plan.costs
        yield from _long_run_pictures(
            self.points,
            self.curve,
            size=self.plan.study.sizes[-1],
            cost=math.nan if costs is None else costs[-1],
            currency=self.currency,
            unit="difference on [0, 1]",
        )
        yield bias_table(self.points)

    def _others(self) -> Iterator[Block]:
        if self.choices:
            yield Paragraph("How many looks, in equal steps (z-values):")
            yield choices_table(self.choices)
        yield Paragraph("What the looks could add:")
        yield growth_table(self.growth, self.plan.study.looks.kind)
        advice = new_workers_advice(self.plan.study, self.plan.rows)
        if advice is not None:
            yield Paragraph(advice)

    def content(self) -> Record:
        """What is there at each look, boundaries, errors and operating characteristics."""
        record = looks_record(
            self.plan, self.points, choices=self.choices, growth=self.growth, setting=self.setting
        )
        return {"understood": self.understood, **record}


@dataclass(frozen=True, kw_only=True)
class LooksJudgementsResult(Result):
    """Independent judgements with looks; `words` say what is judged, `sizes` how many at each look.

    `plan` is what `monitor` follows and `sealed` the text of its file; None and '' where there is none, and
    `why_not_sealed` says why.
    """

    schema: ClassVar[str] = "humeval_power/looks_judgements/1"
    endings: ClassVar[tuple[str, ...]] = (".json",)

    bounds: Boundaries
    points: tuple[OperatingPoint, ...]
    sizes: tuple[int, ...]
    words: tuple[str, ...]
    understood: str
    unit: str
    n_simulations: int
    curve: Curve
    plan: JudgementPlan | None = None
    sealed: str = ""
    why_not_sealed: str = ""
    finding: str = "the effect"
    provenance: Provenance = UNKNOWN

    def artefact(self, ending: str) -> str:
        """The sealed plan of looks.

        Raises
        ------
        InputError
            Looks that cannot be followed.
        """
        assert ending in self.endings
        if not self.sealed:
            raise InputError(f"There is no plan to seal. {self.why_not_sealed}")
        return self.sealed

    def files(self) -> Mapping[str, str | bytes]:
        """The sealed plan of looks, which `monitor` follows."""
        return {LOOKS_FILE: self.sealed} if self.sealed else {}

    def body(self) -> Document:
        """The comparison, its boundaries and long run."""
        facts = [("Effect", self.understood)]
        facts += [("Study" if number == 0 else "", line) for number, line in enumerate(self.words)]
        facts += [
            ("Looks", f"after {', '.join(f'{size:,}' for size in self.sizes)} judgements"),
            ("Rule", str(self.bounds.rule)),
            ("Studies", f"{self.n_simulations:,} simulated at each effect"),
        ]
        pictures = _long_run_pictures(self.points, self.curve, size=self.sizes[-1], unit=self.unit)
        long_run = (points_table(self.points, noun="judged"), *pictures, bias_table(self.points))
        return Document(
            "Independent judgements with looks before the end",
            lead=_answer(
                self.points, self.bounds, f"find {self.finding}", f"{self.sizes[-1]:,} judgements"
            ),
            caveats=(INDEPENDENT,),
            sections=(
                Section("", (Facts(tuple(facts)),)),
                Section("Boundaries", (boundaries_table(self.bounds), _boundaries(self.bounds))),
                Section("Long run", long_run),
            ),
        )

    def content(self) -> Record:
        """Boundaries and operating characteristics."""
        record = judgements_record(
            self.bounds,
            self.points,
            sizes=self.sizes,
            words=self.words,
            n_simulations=self.n_simulations,
        )
        return {"understood": self.understood, **record}


@dataclass(frozen=True, kw_only=True)
class LooksPoolResult(Result):
    """Average power against budget over many pairs of systems; savings are told at the budgets `at`."""

    schema: ClassVar[str] = "humeval_power/looks_pool/1"

    study: PoolStudy
    names: tuple[str, ...]
    n_looks: int
    at: tuple[float, ...]
    source: str
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The pool, its power by budget, and what looks save."""
        size = np.abs(self.study.differences)
        saved = [_saved(self.study.saving(name, budget=self.at[-1])) for name in PROCEDURES[1:]]
        facts = (
            ("Pool", f"{counted(len(self.names), 'pair')}, {self.source}"),
            ("Truth", f"differences of means 0 to {size.max():.2f} points, median {np.median(size):.2f}"),
            ("Looks", f"{self.n_looks}, Pocock; futility at p > 0.5"),
            ("Studies", f"{self.study.n_simulations:,} of each pair at each budget"),
        )
        budget = Picture(
            "budget",
            self._budget_figure,
            words="Average power over all pairs against the planned budget, with one look, with looks, and with "
            "a stop for futility.",
        )
        spending = Picture(
            "spending",
            self._spending_figure,
            words="Judgements spent on each pair against the size of its difference.",
        )
        return Document(
            "What looks save over a pool of comparisons",
            lead=f"Beside the {self.at[-1]:,.0f} judgements of one look, looks {saved[0]} at the same average "
            f"power; with a stop for futility they {saved[1]}.",
            sections=(
                Section("", (Facts(facts),)),
                Section("Average power, and judgements spent", (pool_table(self.study), budget)),
                Section(
                    "Saved at the power of one look", (savings_table(self.study, at=self.at), spending)
                ),
            ),
        )

    def _budget_figure(self) -> Figure:
        from humeval_power.reporting.looks.pool_figures import budget_figure

        return budget_figure(self.study)

    def _spending_figure(self) -> Figure:
        from humeval_power.reporting.looks.pool_figures import spending_figure

        return spending_figure(self.study, budget=round(self.at[0]))

    def content(self) -> Record:
        """Power and judgements spent of each pair at each budget, and the savings."""
        return pool_record(self.study, names=self.names, at=self.at)


def _saved(share: float) -> str:
    if math.isnan(share):
        return "do not reach that power"
    return f"save {percent(share)}" if share >= 0 else f"cost {percent(-share)} more"


def _answer(points: Sequence[OperatingPoint], bounds: Boundaries, finds: str, size: str) -> str:
    """How many studies find the largest of the effects, with looks and without, and how soon they end."""
    point = max(points, key=lambda each: abs(each.effect))
    looks = counted(bounds.n_looks, "look")
    spent = f"they need {point.expected_size:,.0f} of {size} on average"
    if not point.effect:
        errs = of_hundred(point.rejection_rate, point.rejection_interval)
        return f"Of 100 such studies with {looks}, {errs} would {finds}; {spent}."
    return (
        f"Of 100 such studies with {looks}, {of_hundred(point.power, point.power_interval)} would {finds}; "
        f"{spent}. With one look at the end it would be {of_hundred(point.fixed_power)}."
    )


def _boundaries(bounds: Boundaries) -> Picture:
    def draw() -> Figure:
        from humeval_power.reporting.looks.figures import boundary_figure

        return boundary_figure(bounds)

    return Picture(
        "boundaries",
        draw,
        words="The z-value at each look beyond which a study is significant, or futile, against its information.",
    )


def _long_run_pictures(
    points: Sequence[OperatingPoint],
    curve: Curve,
    *,
    size: float,
    cost: float = math.nan,
    currency: str = "",
    unit: str,
) -> Iterator[Block]:
    def stopping() -> Figure:
        from humeval_power.reporting.looks.figures import stopping_figure

        return stopping_figure(points, unit=unit)

    def expected() -> Figure:
        from humeval_power.reporting.looks.figures import expected_cost_figure

        return expected_cost_figure(
            curve(), size_at_end=size, cost_at_end=cost, currency=currency, unit=unit
        )

    yield Paragraph(f"{LONG_RUN}.")
    yield Picture(
        "stopping", stopping, words="For each true effect the share of studies that end at each look."
    )
    yield Picture(
        "expected_cost",
        expected,
        words="Mean size, or cost, and power against the true effect, with looks and without.",
    )
