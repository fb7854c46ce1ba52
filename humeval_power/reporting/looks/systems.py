"""What a plan of looks at several systems says: levels by how many comparisons are left, errors, the long run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.inference.looks.stepwise import StepwiseBoundaries
from humeval_power.planning.looks.systems_looks import SystemsLookPlan, SystemsOperatingPoint
from humeval_power.planning.study.surface import Cell
from humeval_power.planning.study.systems_study import SystemsStudy
from humeval_power.reporting.answer_words import of_hundred
from humeval_power.reporting.document import (
    Block,
    Document,
    Fact,
    Facts,
    Paragraph,
    Picture,
    Section,
    Table,
)
from humeval_power.reporting.looks.records import rows_record
from humeval_power.reporting.looks.tables import calibration_words, errors_table, rows_table
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.study.several import (
    family_words,
    goal_words,
    means_table,
    power_record,
    share_cell,
)
from humeval_power.reporting.study.study_content import study_content
from humeval_power.systems import GOALS, Goal

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

STEPS = (
    "While k comparisons are not shown, each is tested at its share alpha / k. One that is shown stays so; its "
    "share passes to the others, which are tested again at the same look (Maurer and Bretz 2013). The study ends "
    "when each is shown or futile; ending it earlier for any other reason costs power, and no error."
)
_MOST_LEVELS = 5  # numbers of comparisons left that a table shows


@dataclass(frozen=True, kw_only=True)
class LooksSystemsResult(Result):
    """A study of several systems with looks. `about` is the study with one look at its end; `curve` gives the long
    run over differences for the picture."""

    schema: ClassVar[str] = "humeval_power/looks_systems/1"

    about: SystemsStudy
    plan: SystemsLookPlan
    points: tuple[SystemsOperatingPoint, ...]
    understood: str
    curve: Callable[[], Sequence[SystemsOperatingPoint]]
    currency: str = ""
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The study at each look, the levels of its comparisons, errors and long run."""
        plan, n = self.plan, self.about.parameters.n_systems
        hardest = " - ".join(reversed(self._hardest))
        levels: tuple[Block, ...] = (Paragraph(STEPS), levels_table(plan.bounds, plan.place))
        return Document(
            f"A study of {n} systems with looks before its end",
            lead=self._lead(),
            sections=(
                Section("", (Facts(tuple(self._facts())),)),
                Section(
                    "What is there at each look",
                    (rows_table(plan), Paragraph(f"Information is that of {hardest}.")),
                ),
                Section("Levels", levels),
                Section("False claims", tuple(self._errors())),
                Section("Long run", tuple(self._long_run())),
                Section("True means", (means_table(self.about),), is_detail=True),
            ),
        )

    @property
    def _hardest(self) -> tuple[str, str]:
        names = self.about.parameters.names
        first, second = self.plan.study.pairs[self.plan.place]
        return names[first], names[second]

    def _lead(self) -> str:
        about, plan = self.about, self.plan
        there = min(self.points, key=lambda point: abs(point.effect - about.effect))
        found, fixed, most = there.found, there.fixed, plan.study.sizes[-1]
        if math.isnan(found.power):
            return f"These studies end on average after {there.expected_size:,.0f} of {most:,} ratings."
        what, looks = (
            goal_words(about.goal, f"{there.effect:.3g} apart", margin=False),
            counted(len(plan.rows), "look"),
        )
        return (
            f"Of 100 such studies, {of_hundred(found.power, found.interval)} would {what} with {looks}, and "
            f"{of_hundred(fixed.power)} with one look at the end. On average they end after "
            f"{there.expected_size:,.0f} of {most:,} ratings."
        )

    def _facts(self) -> Iterator[Fact]:
        about, study = self.about, self.plan.study
        yield "Effect", self.understood
        yield "Setting", about.setting
        yield "Study", str(study.nested.final)
        yield "Tests", family_words(about.family, about.parameters.n_systems)
        yield "Looks", str(study.looks)
        yield "Rule", f"{self.plan.bounds.rule}, over all comparisons"
        yield "Method", self.plan.method
        if self.plan.calibration is not None:
            yield "", calibration_words(self.plan.calibration)

    def _errors(self) -> Iterator[Block]:
        yield errors_table(self.plan)
        yield Paragraph(
            "A false claim is a difference between two systems that are equal. The worst case is looked for among "
            "groups of equal systems, all other comparisons being shown at the first look."
        )

    def _long_run(self) -> Iterator[Block]:
        yield long_run_table(self.points, self.about.goal, self.currency)
        yield goals_table(self.points)

        def draw() -> Figure:
            from humeval_power.reporting.looks.figures import expected_cost_figure

            costs = self.plan.costs
            return expected_cost_figure(
                self.curve(),
                size_at_end=self.plan.study.sizes[-1],
                cost_at_end=math.nan if costs is None else costs[-1],
                currency=self.currency,
                unit="difference on [0, 1]",
            )

        yield Picture(
            "long_run",
            draw,
            words="Ratings on average, and the power of the goal with looks and without, against the difference "
            "that the true means are stated by.",
        )

    def content(self) -> Record:
        """What is there at each look, the levels, errors and the long run."""
        plan, names = self.plan, self.about.parameters.names
        return {
            "understood": self.understood,
            **study_content(Cell(self.about.setting, self.about)),
            "effect": self.about.effect,
            "looks": {"by": plan.study.looks.kind, "shares": list(plan.study.looks.shares)},
            "method": plan.method,
            "hardest": list(self._hardest),
            "boundaries": stepwise_record(
                plan.bounds, [(names[one], names[two]) for one, two in plan.study.pairs]
            ),
            "at_looks": rows_record(plan.rows),
            "calibration": None
            if plan.calibration is None
            else {"used": plan.calibration.used, **asdict(plan.calibration)},
            "errors": [asdict(error) for error in plan.errors],
            "operating_characteristics": [
                {
                    "effect": point.effect,
                    "with_looks": power_record(point.found, self.about),
                    "one_look": power_record(point.fixed, self.about),
                    "stopping": list(point.stopping),
                    "reached": list(point.reached),
                    "expected_size": point.expected_size,
                    "expected_cost": None if math.isnan(point.expected_cost) else point.expected_cost,
                }
                for point in self.points
            ],
            "n_simulations": plan.n_simulations,
        }


def shown_steps(n_comparisons: int) -> list[int]:
    """Numbers of comparisons left at which levels are told: from all to one."""
    if n_comparisons <= _MOST_LEVELS:
        return list(range(n_comparisons, 0, -1))
    return sorted({n_comparisons, n_comparisons // 2, n_comparisons // 4, 2, 1} - {0}, reverse=True)


def levels_table(bounds: StepwiseBoundaries, place: int) -> Table:
    """p at or below which a comparison is shown, by the number of comparisons that are not."""
    steps = shown_steps(bounds.n_comparisons)
    if bounds.correction != "holm":
        steps = steps[:1]
    futile = bool((bounds.futility_p < 1).any())
    header = ("look", *(f"{left} left" for left in steps), *(("futile if p >",) if futile else ()))
    rows = []
    for look in range(bounds.n_looks):
        row = [str(look + 1), *(f"{bounds.nominal[look, place, left - 1]:.6f}" for left in steps)]
        limit = bounds.futility_p[look, place, -1]
        row += [f"{limit:.3f}" if limit < 1 else "-"] if futile else []
        rows.append(tuple(row))
    return Table(
        header, tuple(rows), caption="shown if p <= ..., by how many comparisons are not shown yet"
    )


def long_run_table(points: Sequence[SystemsOperatingPoint], goal: Goal, currency: str) -> Table:
    """The goal with looks and with one, how often it is reached by each look, false claims, and what it takes."""
    priced = not math.isnan(points[0].expected_cost)
    n_looks = min(len(points[0].stopping), 4)
    header = (
        "effect",
        goal,
        "(one look)",
        *(f"by look {look + 1}" for look in range(n_looks)),
        "false claims",
    )
    rows = []
    for point in points:
        row = [f"{point.effect:.4g}", share_cell(point.power), share_cell(point.fixed_power)]
        row += [share_cell(share) for share in point.reached[:n_looks]]
        row += [share_cell(point.found.false_claim), f"{point.expected_size:,.0f}"]
        row += [f"{point.expected_cost:,.0f}"] if priced else []
        rows.append(tuple(row))
    return Table((*header, "ratings", *((currency,) if priced else ())), tuple(rows))


def goals_table(points: Sequence[SystemsOperatingPoint]) -> Table:
    """Every goal that these means have, with looks."""
    goals = [goal for goal in GOALS if any(not math.isnan(point.found.shares[goal]) for point in points)]
    rows = [
        (f"{point.effect:.4g}", *(share_cell(point.found.shares[goal]) for goal in goals))
        for point in points
        if point.effect
    ]
    return Table(("effect", *goals), tuple(rows), caption="Each goal, with looks")


def stepwise_record(bounds: StepwiseBoundaries, pairs: Sequence[tuple[str, str]]) -> Record:
    """The levels of every comparison, by the number of comparisons that are not shown, from 1."""
    rule = bounds.rule
    return {
        "efficacy": str(rule.efficacy),
        "futility": "none" if rule.futility is None else str(rule.futility),
        "alpha": rule.alpha,
        "alternative": rule.alternative,
        "correction": bounds.correction,
        "calibration_factor": bounds.calibration,
        "comparisons": [
            {
                "first": first,
                "second": second,
                "information": list(bounds.information[place]),
                "nominal_p": bounds.nominal[:, place].tolist(),
            }
            for place, (first, second) in enumerate(pairs)
        ],
    }
