"""What plans with looks say: of a rating study, of independent judgements, and of a pool of comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from humeval_power.comparisons.accuracy.paired import PairedAccuracy
from humeval_power.comparisons.accuracy.wording import WORDING as ACCURACY
from humeval_power.comparisons.assessment.wording import WORDING as ASSESSMENT
from humeval_power.comparisons.preference.wording import WORDING as PREFERENCE
from humeval_power.comparisons.preference.wording import preference_words
from humeval_power.differences import Difference
from humeval_power.errors import InputError
from humeval_power.rules import DecisionRule, claim
from humeval_power.saying.answer_words import finding_words, of_hundred
from humeval_power.saying.chart import Chart, LaterChart
from humeval_power.saying.document import Block, Document, Fact, Facts, Paragraph, Picture, Section, Table
from humeval_power.saying.numbers import POWER_LABEL, counted, interval_words, percent, power_words
from humeval_power.saying.quantities import values
from humeval_power.saying.result import LOOKS_FILE, Record, Result
from humeval_power.saying.stated import table
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.boundaries import Boundaries
from humeval_power.studies.looks.calibration import LooksCalibration
from humeval_power.studies.looks.dropping import DroppingPlan
from humeval_power.studies.looks.figures import (
    boundary_chart,
    budget_chart,
    expected_cost_chart,
    spending_chart,
    stopping_chart,
)
from humeval_power.studies.looks.how_many import (
    PROCEDURE_WORDS,
    PROCEDURES,
    LooksChoice,
    PoolGrowth,
    PoolStudy,
    new_workers_advice,
)
from humeval_power.studies.looks.judgement_plan import (
    AssessmentLooks,
    JudgementPlan,
    OperatingPoint,
    PairedLooks,
)
from humeval_power.studies.looks.rating_looks import LookPlan, LookRow
from humeval_power.studies.looks.repeated import (
    REASONS,
    RepeatedPoint,
    StopExpectation,
    StopWhen,
    few_workers_note,
)
from humeval_power.studies.looks.replicates import LookSource
from humeval_power.studies.looks.stopping_rule import StoppingRule
from humeval_power.studies.looks.systems_looks import (
    StepwiseBoundaries,
    SystemsLookPlan,
    SystemsOperatingPoint,
)
from humeval_power.studies.power.result_several import (
    family_words,
    finds_words,
    means_table,
    power_record,
    share_cell,
)
from humeval_power.studies.power.strategies import Cell
from humeval_power.studies.power.study_content import category_facts, study_content
from humeval_power.studies.power.systems_study import SystemsStudy
from humeval_power.studies.power.wording import accuracy_words
from humeval_power.systems import GOALS, Goal

_UNIT = "difference on [0, 1]"
_EXPECTED_WORDS = "Mean size, or cost, and power against the true effect, with looks and without."
AnyCurve = Callable[[], Sequence[OperatingPoint] | Sequence[SystemsOperatingPoint]]


@dataclass(frozen=True, kw_only=True)
class ScheduleResult(Result):
    """Boundaries of a study with looks."""

    schema: ClassVar[str] = "humeval_power/looks_schedule/1"

    bounds: Boundaries

    def body(self) -> Document:
        return Document(
            "Boundaries of a study with looks",
            lead=f"{counted(self.bounds.n_looks, 'look')}: a study is significant at the first where p <= "
            f"{self.bounds.nominal[0]:.2g}, and at the last where p <= {self.bounds.nominal[-1]:.2g} "
            f"({self.bounds.rule}).",
            sections=(Section("", _boundaries(self.bounds)),),
        )

    def content(self) -> Record:
        """z and nominal p for success and futility, and the error spent."""
        return _boundaries_record(self.bounds)


@dataclass(frozen=True, kw_only=True)
class LooksStudyResult(Result):
    """A rating study with looks: boundaries, errors, the long run.

    `curve` gives the operating characteristics over effects for the picture of the expected cost. Of two systems
    there is what other numbers of looks would do, and what the looks could add; of several there is `about`, the
    study with one look at its end. Of a study that its intervals stop, for the reasons `stop_when`, whose sizes are
    shown in points of the `scale`, the long run is `stops`, and there are no `points`.
    """

    schema: ClassVar[str] = "humeval_power/looks/1"

    plan: LookPlan | SystemsLookPlan
    points: tuple[OperatingPoint | SystemsOperatingPoint, ...]
    setting: str
    said: Difference
    curve: AnyCurve
    choices: tuple[LooksChoice, ...] = ()
    growth: tuple[PoolGrowth, ...] = ()
    about: SystemsStudy | None = None
    currency: str = ""
    remarks: tuple[str, ...] = ()
    stop_when: StopWhen | None = None
    stops: tuple[RepeatedPoint, ...] = ()
    scale: RatingScale | None = None

    def body(self) -> Document:
        plan, about = self.plan, self.about
        several = about is not None
        few = None if self.stop_when is None else few_workers_note(plan.rows[0].n_workers)
        of = "A rating study" if about is None else f"A study of {about.parameters.n_systems} systems"
        facts = study_facts(
            plan,
            str(self.said),
            self.setting,
            tests="" if about is None else family_words(about.family, about.parameters.n_systems),
            stops=("Stops on", "" if self.stop_when is None else self.stop_when.words(self.scale)),
            over=", over all comparisons" if several else "",
        )
        sections = self._of_two(plan) if isinstance(plan, LookPlan) else self._of_several(plan)
        return Document(
            f"{of} with looks before its end",
            lead=self._lead(),
            caveats=() if few is None else (few,),
            sections=(Section("", (Facts(tuple(facts)),)), *sections),
        )

    def _lead(self) -> str:
        plan = self.plan
        if isinstance(plan, LookPlan):
            effect, finds = plan.study.true_effect, finding_words(self.said, plan.study.rule)
        else:
            effect, finds = self._about.effect, finds_words(self._about, self.said, self.scale)
        if self.stop_when is not None:
            planned = min(self.stops, key=lambda point: abs(point.effect - effect))
            why = {
                "equivalence": "the interval lies within {} of no difference",
                "half_width": "the interval reaches at most {} to each side",
            }
            sizes = self.stop_when.sizes(self.scale)
            reasons = ["the difference is decided"] * self.stop_when.decision
            reasons += [why[name].format(size) for name, size in sizes.items()]
            n_workers = plan.rows[-1].n_workers
            return (
                f"Of 100 such studies, {of_hundred(planned.power, planned.power_interval)} would {finds}, "
                f"{of_hundred(planned.fixed_power)} with one look at the end. They stop when "
                f"{' or '.join(reasons)}: on average after {planned.workers:.1f} of {n_workers} workers, "
                f"{percent(1 - planned.workers / n_workers)} fewer."
            )
        there = min(self.points, key=lambda point: abs(point.effect - effect))
        taken = f"{there.expected_size:,.0f} of {plan.study.sizes[-1]:,} ratings"
        if math.isnan(there.power):
            return f"These studies end on average after {taken}."
        interval = there.power_interval if isinstance(there, OperatingPoint) else there.found.interval
        return (
            f"Of 100 such studies, {of_hundred(there.power, interval)} would {finds} with "
            f"{counted(len(plan.rows), 'look')}, {of_hundred(there.fixed_power)} with one look at the end. On "
            f"average they end after {taken}."
        )

    @property
    def _about(self) -> SystemsStudy:
        assert self.about is not None
        return self.about

    def _of_two(self, plan: LookPlan) -> Iterator[Section]:
        yield Section("What is there at each look", (rows_table(plan.rows),))
        yield Section("Boundaries", _boundaries(plan.bounds))
        err = Paragraph(
            "A share of the ratings is not that share of the information: boundaries made for shares of ratings "
            f"would claim something in {percent(plan.count_time_error)} of studies without an effect here if the "
            "variances were known. The p-values are those of Kenward and Roger's t tests, refitted at every look."
        )
        yield Section("False positives", (_errors_table(plan), err))
        if self.stop_when is None:
            points = cast(Sequence[OperatingPoint], self.points)
            needs = Paragraph(
                f"To have the power 0.8 with these looks, the whole study needs {plan.inflation:.3f} times the "
                "information of one without them, were the variances known."
            )
            expected = self._expected("expected_cost", _EXPECTED_WORDS)
            yield Section(
                "Long run", (needs, *_long_run(points, "ratings", _UNIT, expected, self.currency))
            )
        else:
            takes = stops_blocks(self.stops, plan.rows[-1].n_workers, plan.study.rule, self.scale)
            yield Section("What it takes", tuple(takes))
        yield Section("What else could be looked at", tuple(self._others(plan)))

    def _others(self, plan: LookPlan) -> Iterator[Block]:
        """What other numbers of looks would do, and what the looks could add."""
        if self.choices:
            yield Paragraph(
                "How many looks, in equal steps, were the variances known (powers are a little too high):"
            )
            yield table(
                self.choices,
                {
                    "looks": lambda each: str(each.n_looks),
                    "power": lambda each: f"{each.power:.3f}",
                    "ratings, no effect": lambda each: percent(each.expected[0]),
                    "half the effect": lambda each: percent(each.expected[1]),
                    "the effect": lambda each: percent(each.expected[2]),
                    "": lambda each: "<- more save little" if each.recommended else "",
                },
            )
        yield Paragraph("What the looks could add:")
        chosen = plan.study.looks.kind
        yield table(
            self.growth,
            {
                "looks by": lambda each: f"{each.kind}{' *' if each.kind == chosen else ''}",
                "workers at first": lambda each: str(each.first_workers),
                "information at each look": lambda each: ", ".join(
                    map(percent, each.information_shares[:5])
                ),
                "SE at end": lambda each: f"{each.standard_error:.4f}",
                "ratings": lambda each: f"{each.n_ratings:,}",
            },
        )
        advice = new_workers_advice(plan.study, plan.rows)
        if advice is not None:
            yield Paragraph(advice)

    def _of_several(self, plan: SystemsLookPlan) -> Iterator[Section]:
        known = Paragraph(f"Information is that of {' - '.join(reversed(_hardest(plan)))}.")
        yield Section("What is there at each look", (rows_table(plan.rows), known))
        steps = Paragraph(
            "While k comparisons are not shown, each is tested at its share alpha / k. One that is shown stays so; "
            "its share passes to the others, which are tested again at the same look (Maurer and Bretz 2013). The "
            "study ends when each is shown or futile; ending it earlier for any other reason costs power, and no "
            "error."
        )
        yield Section("Levels", (steps, _levels_table(plan.bounds, plan.place)))
        err = Paragraph(
            "A false claim is a difference between two systems that are equal. The worst case is looked for among "
            "groups of equal systems, all other comparisons being shown at the first look."
        )
        yield Section("False claims", (_errors_table(plan), err))
        points = cast(Sequence[SystemsOperatingPoint], self.points)
        goals = [
            goal for goal in GOALS if any(not math.isnan(point.found.shares[goal]) for point in points)
        ]
        rows = tuple(
            (f"{point.effect:.4g}", *(share_cell(point.found.shares[goal]) for goal in goals))
            for point in points
            if point.effect
        )
        expected = self._expected(
            "long_run",
            "Ratings on average, and the power of the goal with looks and without, against the difference that the "
            "true means are stated by.",
        )
        blocks = (
            _goal_table(points, self._about.goal, self.currency),
            Table(("effect", *goals), rows, caption="Each goal, with looks"),
            expected,
        )
        yield Section("Long run", blocks)
        yield Section("True means", (means_table(self._about),), is_detail=True)

    def _expected(self, name: str, words: str) -> Picture:
        """Mean cost, or size, and power against the true effect."""
        plan = self.plan
        cost = math.nan if plan.costs is None else plan.costs[-1]
        end: dict[str, Any] = {"size_at_end": plan.study.sizes[-1], "cost_at_end": cost}
        return _expected_cost(name, self.curve, words=words, **end, currency=self.currency, unit=_UNIT)

    def content(self) -> Record:
        plan, looks = self.plan, self.plan.study.looks
        alike = {
            "understood": str(self.said),
            "looks": {"by": looks.kind, "shares": list(looks.shares)},
            "method": plan.method,
            "at_looks": rows_record(plan.rows),
            "n_simulations": plan.n_simulations,
        }
        of = self._record_of_two(plan) if isinstance(plan, LookPlan) else self._record_of_systems(plan)
        return {**alike, **of}

    def _record_of_two(self, plan: LookPlan) -> Record:
        stops: Record = {}
        if self.stop_when is not None:
            runs = [
                {
                    **_finite(asdict(point)),
                    "reasons": dict(zip(REASONS, point.reasons, strict=True)),
                    "all_workers": plan.rows[-1].n_workers,
                }
                for point in self.stops
            ]
            stops = {"stop_when": asdict(self.stop_when), "stops": runs}
        return {
            "setting": self.setting,
            "parameters": plan.study.parameters.as_dict(),
            "effect": plan.study.true_effect,
            "boundaries": _boundaries_record(plan.bounds),
            "calibration": plan.calibration and asdict(plan.calibration) | {"used": plan.calibration.used},
            "errors_without_effect": [asdict(each) for each in plan.errors],
            "count_time_error_known_variances": plan.count_time_error,
            "inflation_at_power_0.8": _finite_value(plan.inflation),
            "operating_characteristics": _points_record(cast(Sequence[OperatingPoint], self.points)),
            "numbers_of_looks": [
                {
                    **values(each, "n_looks", "power", "recommended"),
                    "expected_share": dict(zip(("none", "half", "planned"), each.expected, strict=True)),
                }
                for each in self.choices
            ],
            "growth": [
                {
                    "by": each.kind,
                    **values(each, "information_shares", "standard_error", "n_ratings"),
                    "workers_at_first_look": each.first_workers,
                }
                for each in self.growth
            ],
            **stops,
        }

    def _record_of_systems(self, plan: SystemsLookPlan) -> Record:
        about, bounds, names = self._about, plan.bounds, plan.study.parameters.names
        return {
            **study_content(Cell(about.setting, about)),
            "effect": about.effect,
            "hardest": list(_hardest(plan)),
            "boundaries": {
                **_rule_record(bounds.rule),
                "correction": bounds.correction,
                "calibration_factor": bounds.calibration,
                "comparisons": [
                    {
                        "first": names[first],
                        "second": names[second],
                        "information": list(bounds.information[place]),
                        # by how many are not shown, from 1
                        "nominal_p": bounds.nominal[:, bounds.row[place]].tolist(),
                    }
                    for place, (first, second) in enumerate(plan.study.pairs)
                ],
            },
            "calibration": plan.calibration and {"used": plan.calibration.used, **asdict(plan.calibration)},
            "errors": [asdict(error) for error in plan.errors],
            "operating_characteristics": [
                {
                    "effect": point.effect,
                    "with_looks": power_record(point.found, about),
                    "one_look": power_record(point.fixed, about),
                    **values(point, "stopping", "reached", "expected_size"),
                    "expected_cost": _finite_value(point.expected_cost),
                }
                for point in cast(Sequence[SystemsOperatingPoint], self.points)
            ],
        }


def _hardest(plan: SystemsLookPlan) -> tuple[str, str]:
    names = plan.study.parameters.names
    first, second = plan.study.pairs[plan.place]
    return names[first], names[second]


def _points_record(points: Sequence[OperatingPoint]) -> list[Record]:
    """Operating characteristics; null where there is no number."""
    records = [_finite(asdict(point)) for point in points]
    return [
        {name: value for name, value in record.items() if name != "corrected_above"} for record in records
    ]


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
    curve: AnyCurve
    plan: JudgementPlan | None = None
    sealed: str = ""
    why_not_sealed: str = ""
    finding: str = "the effect"

    def artefact(self, ending: str) -> str:
        """The sealed plan of looks. Raises InputError: looks that cannot be followed."""
        assert ending in self.endings
        if not self.sealed:
            raise InputError(f"There is no plan to seal. {self.why_not_sealed}")
        return self.sealed

    def files(self) -> Mapping[str, str | bytes]:
        """The sealed plan of looks, which `monitor` follows."""
        return {LOOKS_FILE: self.sealed} if self.sealed else {}

    def body(self) -> Document:
        lines = ("Effect", "Study", *("" for _ in self.words[1:])) if self.words else ("Effect",)
        facts = (
            *zip(lines, (self.understood, *self.words), strict=True),
            ("Looks", f"after {', '.join(f'{size:,}' for size in self.sizes)} judgements"),
            ("Rule", self.bounds.rule.words),
            ("Studies", f"{self.n_simulations:,} simulated at each effect"),
        )
        last = self.sizes[-1]
        expected = _expected_cost(
            "expected_cost", self.curve, words=_EXPECTED_WORDS, size_at_end=last, unit=self.unit
        )
        return Document(
            "Independent judgements with looks before the end",
            lead=self._lead(),
            caveats=(
                "Judgements are taken as independent. Where annotators or items have levels of their own the "
                "false positives are many more: a rating study with looks says how many.",
            ),
            sections=(
                Section("", (Facts(facts),)),
                Section("Boundaries", _boundaries(self.bounds)),
                Section("Long run", _long_run(self.points, "judged", self.unit, expected)),
            ),
        )

    def _lead(self) -> str:
        """How many studies find the largest of the effects, with looks and without, and how soon they end."""
        point = max(self.points, key=lambda each: abs(each.effect))
        found, interval = point.power, point.power_interval
        if not point.effect:
            found, interval = point.rejection_rate, point.rejection_interval
        said = (
            f"Of 100 such studies with {counted(self.bounds.n_looks, 'look')}, {of_hundred(found, interval)} "
            f"would find {self.finding}; they need {point.expected_size:,.0f} of {self.sizes[-1]:,} judgements on "
            "average."
        )
        if not point.effect:
            return said
        return f"{said} With one look at the end it would be {of_hundred(point.fixed_power)}."

    def content(self) -> Record:
        return {
            "understood": self.understood,
            "study": list(self.words),
            "sizes": list(self.sizes),
            "boundaries": _boundaries_record(self.bounds),
            "operating_characteristics": _points_record(self.points),
            "n_simulations": self.n_simulations,
        }


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

    def body(self) -> Document:
        study, size = self.study, np.abs(self.study.differences)
        savings = self._savings
        saved = [_saved(share) for share in savings[-1].values()]
        facts = (
            ("Pool", f"{counted(len(self.names), 'pair')}, {self.source}"),
            ("Truth", f"differences of means 0 to {size.max():.2f} points, median {np.median(size):.2f}"),
            ("Looks", f"{self.n_looks}, Pocock; futility at p > 0.5"),
            ("Studies", f"{study.n_simulations:,} of each pair at each budget"),
        )
        curves = [study.curve(name) for name in PROCEDURES]
        by_budget = tuple(
            (
                f"{budget:,.0f}",
                *(f"{power[row]:.3f}" for _, power in curves),
                *(f"{spent[row]:,.0f}" for spent, _ in curves[1:]),
            )
            for row, budget in enumerate(study.budgets)
        )
        header = ("planned", *PROCEDURE_WORDS.values(), "spent", "spent, futility")
        by_power = []
        for fixed, shares in zip(self.at, savings, strict=True):
            shown = ("not reached" if math.isnan(share) else percent(share) for share in shares.values())
            by_power.append((f"{fixed:,.0f}", *shown))
        heads = ("one look at", *(PROCEDURE_WORDS[name] for name in PROCEDURES[1:]))
        power = budget_chart(
            study,
            "Average power over all pairs against the planned budget, with one look, with looks, and with a stop "
            "for futility.",
        )
        words = "Judgements spent on each pair against the size of its difference."
        spending = spending_chart(study, budget=round(self.at[0]), words=words)
        return Document(
            "What looks save over a pool of comparisons",
            lead=f"Beside the {self.at[-1]:,.0f} judgements of one look, looks {saved[0]} at the same average "
            f"power; with a stop for futility they {saved[1]}.",
            sections=(
                Section("", (Facts(facts),)),
                Section("Average power, and judgements spent", (Table(header, by_budget), power)),
                Section("Saved at the power of one look", (Table(heads, tuple(by_power)), spending)),
            ),
        )

    @property
    def _savings(self) -> list[dict[str, float]]:
        """Shares of the judgements that are saved at the power of one look, at each budget."""
        return [
            {name: self.study.saving(name, budget=budget) for name in PROCEDURES[1:]} for budget in self.at
        ]

    def content(self) -> Record:
        """Power and judgements spent of each pair at each budget, and what is saved at the budgets of one look."""
        study = self.study
        curves = {name: study.curve(name) for name in PROCEDURES}
        return {
            "budgets": study.budgets.tolist(),
            "pairs": [
                {"name": name, "difference": float(value)}
                for name, value in zip(self.names, study.differences, strict=True)
            ],
            "curves": {
                name: {"mean_spent": spent.tolist(), "mean_power": power.tolist()}
                for name, (spent, power) in curves.items()
            },
            "power": dict(zip(PROCEDURES, study.power.tolist(), strict=True)),
            "spent": dict(zip(PROCEDURES, study.spent.tolist(), strict=True)),
            "savings": [
                {"fixed_budget": budget, **_finite(shares)}
                for budget, shares in zip(self.at, self._savings, strict=True)
            ],
            **values(study, "alpha", "n_simulations"),
        }


def _saved(share: float) -> str:
    if math.isnan(share):
        return "do not reach that power"
    return f"save {percent(share)}" if share >= 0 else f"cost {percent(-share)} more"


# What these results say alike: facts, tables, pictures and records.


def study_facts(
    plan: LookPlan | SystemsLookPlan | DroppingPlan,
    understood: str,
    setting: str,
    *,
    tests: str = "",
    stops: Fact,
    over: str,
) -> Iterator[Fact]:
    """What is studied, looked at and decided; `stops` with an empty text is left out, as are no `tests`."""
    yield "Effect", understood
    yield "Setting", setting
    if isinstance(plan, LookPlan):
        yield from category_facts(plan.study.parameters)
    yield "Study", str(plan.study.nested.final)
    if tests:
        yield "Tests", tests
    yield "Looks", str(plan.study.looks)
    if stops[1]:
        yield stops
    yield "Rule", f"{plan.bounds.rule.words}{over}"
    yield "Method", plan.method
    if plan.calibration is not None:
        yield "", calibration_words(plan.calibration)


def calibration_words(calibration: LooksCalibration) -> str:
    """What simulation did to the boundaries."""
    low, high = calibration.worker_sds[0], calibration.worker_sds[-1]
    return (
        f"each level is multiplied by {calibration.used:.3f}, which keeps alpha whatever the SD of workers' "
        f"differences between systems, from {low:.3g} to {high:.3g}: the planned SD would allow "
        f"{calibration.at_plan:.3f}, the worst ({calibration.worst_worker_sd:.3g}) {calibration.worst:.3f}; "
        "more than 1 is never taken"
    )


def rows_table(rows: Sequence[LookRow]) -> Table:
    """What there is at each look."""
    cost = {"cost": lambda look: f"{rows[look].cost:,.0f}"}
    return table(
        range(len(rows)),
        {
            "look": lambda look: str(look + 1),
            "workers": lambda look: f"{rows[look].n_workers:,}",
            "items": lambda look: f"{rows[look].n_items:,}",
            "ratings": lambda look: f"{rows[look].n_ratings:,}",
            **(cost if math.isfinite(rows[0].cost) else {}),
            "of all": lambda look: percent(rows[look].size_share),
            "information": lambda look: percent(rows[look].information_share),
            "SE": lambda look: f"{rows[look].precision.standard_error:.4f}",
            "df": lambda look: f"{rows[look].precision.df:.1f}",
        },
    )


def _boundaries(bounds: Boundaries) -> tuple[Table, Chart]:
    """The boundaries, look by look, with their picture."""
    stops = [math.isfinite(value) for value in bounds.futility]
    futile = {"futile if p >": lambda look: f"{bounds.futility_p[look]:.3f}" if stops[look] else "-"}
    by_look = table(
        range(bounds.n_looks),
        {
            "look": lambda look: str(look + 1),
            "significant if p <=": lambda look: f"{bounds.nominal[look]:.5f}",
            "that is z": lambda look: f"{bounds.efficacy[look]:.3f}",
            **(futile if any(stops) else {}),
            "alpha spent": lambda look: f"{bounds.spent[look]:.4f}",
        },
        "Alpha spent: up to this look, where the statistic is normal.",
    )
    words = (
        "The z-value at each look beyond which a study is significant, or futile, against its information."
    )
    return by_look, boundary_chart(bounds, words=words)


def _errors_table(plan: LookPlan | SystemsLookPlan) -> Table:
    """How often each procedure finds a difference where there is none."""
    return table(
        plan.errors,
        {
            "procedure": lambda each: each.procedure,
            "false positives": lambda each: f"{each.rate:.3f}",
            "interval": lambda each: interval_words(*each.interval, digits=3),
        },
        f"{plan.n_simulations:,} simulated studies without an effect, alpha {plan.bounds.rule.alpha:g}",
    )


def _long_run(
    points: Sequence[OperatingPoint], noun: str, unit: str, expected: Picture, currency: str = ""
) -> tuple[Block, ...]:
    """Operating characteristics, one row an effect; where studies stop, what that takes, and how estimates err."""
    priced = not math.isnan(points[0].expected_cost)
    futile = any(point.futility_rate > 0 for point in points)
    header = ("effect", POWER_LABEL.lower(), "one look", *(("futile",) if futile else ()))
    looks = (f"look {look + 1}" for look in range(min(len(points[0].stopping), 4)))
    rows = tuple(
        (
            f"{point.effect:.4g}",
            power_words(point.power if point.effect else point.rejection_rate),
            power_words(point.fixed_power) if point.effect else "",
            *([f"{point.futility_rate:.3f}"] if futile else []),
            *(f"{share:.2f}" for share in point.stopping[:4]),
            f"{point.expected_size:,.0f}",
            *([f"{point.expected_cost:,.0f}"] if priced else []),
        )
        for point in points
    )
    bias = table(
        points,
        {
            "effect": lambda point: f"{point.effect:.4g}",
            "bias of the estimate": lambda point: f"{point.bias:+z.4f}",
            "corrected for stopping": lambda point: f"{point.corrected_bias:+z.4f}",
            "exaggeration if significant": lambda point: (
                "" if math.isnan(point.type_m) else f"{point.type_m:.2f}"
            ),
        },
    )
    words = "For each true effect the share of studies that end at each look."
    return (
        Table((*header, *looks, noun, *((currency,) if priced else ())), rows),
        Paragraph("'power' without an effect: false positives; shares by last look."),
        stopping_chart(points, unit=unit, words=words),
        expected,
        bias,
    )


_MOST_LEVELS = 5  # numbers of comparisons left that a table shows


def _levels_table(bounds: StepwiseBoundaries, place: int) -> Table:
    """p at or below which a comparison is shown, by the number of comparisons that are not."""
    n = bounds.n_comparisons
    steps = list(range(n, 0, -1))
    if n > _MOST_LEVELS:
        steps = sorted({n, n // 2, n // 4, 2, 1}, reverse=True)
    if bounds.correction != "holm":
        steps = steps[:1]
    futile = bool((bounds.futility_p < 1).any())
    rows = []
    for look in range(bounds.n_looks):
        levels = (f"{bounds.nominal[look, bounds.row[place], left - 1]:.6f}" for left in steps)
        limit = bounds.futility_p[look, bounds.row[place], -1]
        rows.append((str(look + 1), *levels, *([f"{limit:.3f}" if limit < 1 else "-"] if futile else [])))
    header = ("look", *(f"{left} left" for left in steps), *(("futile if p >",) if futile else ()))
    caption = "shown if p <= ..., by how many comparisons are not shown yet"
    return Table(header, tuple(rows), caption=caption)


def _goal_table(points: Sequence[SystemsOperatingPoint], goal: Goal, currency: str) -> Table:
    """The goal with looks and with one, how often it is reached by each look, false claims, and what it takes."""
    priced = not math.isnan(points[0].expected_cost)
    n_looks = min(len(points[0].stopping), 4)
    rows = []
    for point in points:
        shares = point.power, point.fixed_power, *point.reached[:n_looks], point.found.false_claim
        row = [f"{point.effect:.4g}", *map(share_cell, shares), f"{point.expected_size:,.0f}"]
        rows.append((*row, *([f"{point.expected_cost:,.0f}"] if priced else [])))
    by_look = (f"look {look + 1}" for look in range(n_looks))
    header = ("effect", goal, "one look", *by_look, "false", "ratings", *((currency,) if priced else ()))
    words = "look 1, 2, ...: reached by then. false: studies with a false claim."
    return Table(header, tuple(rows), caption=words)


def stops_blocks(
    points: Sequence[StopExpectation], all_workers: int, rule: DecisionRule, scale: RatingScale | None
) -> Iterator[Block]:
    """For each true difference how many workers it takes, what that saves and costs in power; the same if decisions
    alone stopped the study, which is the price of the other reasons; what the interval is worth."""
    width, unit = (1.0, "") if scale is None else (scale.width, ", in points")
    yield table(
        points,
        {
            "effect": lambda point: f"{point.effect * width:.4g}",
            POWER_LABEL.lower(): lambda point: power_words(point.power),
            "one look": lambda point: power_words(point.fixed_power),
            "workers": lambda point: f"{point.workers:.1f}",
            "saved": lambda point: percent(1 - point.workers / all_workers),
            "covers": lambda point: f"{point.coverage:.3f}",
            "bias": lambda point: f"{point.bias * width:+z.4f}",
            "at a decision": lambda point: (
                "" if math.isnan(point.decision_bias) else f"{point.decision_bias * width:+z.4f}"
            ),
        },
        f"by true difference{unit}, of {all_workers} workers",
    )
    yield table(
        points,
        {
            "effect": lambda point: f"{point.effect * width:.4g}",
            "power": lambda point: f"{point.decision_power:.3f}",
            "workers": lambda point: f"{point.decision_workers:.1f}",
        },
        "if decisions alone stopped it",
    )
    of = (
        "'power' without a difference: false positives"
        if rule.margin is None
        else f"'power' is the share of studies that show {claim(rule)}"
    )
    yield Paragraph(
        f"{of}. 'Bias at a decision' is that of estimates where a decision ended the study before the last look. "
        "The interval holds at every look at once, whatever ends the study: also money, or patience. It is wider "
        "than the plain one, which would miss more often than it says."
    )


def rows_record(rows: Sequence[LookRow]) -> list[Record]:
    """What there is at each look."""
    return [
        {
            **values(row, "n_workers", "n_items", "n_ratings", "size_share", "information_share"),
            **values(row.precision, "standard_error", "df"),
            "cost": _finite_value(row.cost),
        }
        for row in rows
    ]


def _boundaries_record(bounds: Boundaries) -> Record:
    """Boundaries: z and nominal p for success and futility, and the error spent. Null: never."""
    return {
        **_rule_record(bounds.rule),
        "information": list(bounds.information),
        "z": [_finite_value(value) for value in bounds.efficacy],
        "nominal_p": [float(value) for value in bounds.nominal],
        "futility_z": [_finite_value(value) for value in bounds.futility],
        "futility_p": [_finite_value(float(value)) for value in bounds.futility_p],
        "spent": [float(value) for value in bounds.spent],
        "calibration_factor": bounds.calibration,
    }


def _rule_record(rule: StoppingRule) -> Record:
    """What boundaries are made by."""
    return {
        "efficacy": str(rule.efficacy),
        "futility": "none" if rule.futility is None else str(rule.futility),
        "alpha": rule.alpha,
        "alternative": rule.alternative,
    }


def _finite_value(value: Any) -> Any:
    """A value of a record: null for a number that is none; tuples are lists."""
    if isinstance(value, tuple):
        return list(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _finite(record: Mapping[str, Any]) -> Record:
    return {name: _finite_value(value) for name, value in record.items()}


def _expected_cost(name: str, curve: AnyCurve, *, words: str, **study: Any) -> Picture:
    """Mean cost, or size, of the `study` against the true effect; the curve is computed where it is drawn."""
    return LaterChart(
        name, lambda: expected_cost_chart(curve(), name=name, words=words, **study), words=words
    )


# Looks at independent judgements in words: what is judged, its true effect, and the unit of that.


class JudgedWords(NamedTuple):
    """Lines about the study, the effect, the unit behind effects, and what is to be found."""

    study: tuple[str, ...]
    effect: str
    unit: str
    finding: str


def judged_words(source: LookSource, effect: float) -> JudgedWords:
    """The words for looks of the package; of others no more than the effect."""
    if isinstance(source, AssessmentLooks):
        scores = source.assessment
        means = f"mean {scores.mean:g} and {scores.mean + scores.effect:g}, SD {scores.sd:g}"
        line = f"{scores.n:,} scores of each system, {means}; Mann-Whitney U"
        return JudgedWords((line,), ASSESSMENT.effect(scores), "points", ASSESSMENT.found(scores))
    if not isinstance(source, PairedLooks):
        return JudgedWords((), f"B - A = {effect:.6g}", "", f"an effect of {effect:.4g}")
    study = source.study
    if isinstance(study, PairedAccuracy):
        line = f"{study.n_items:,} items; {study.agreement.label}; McNemar ({study.test})"
        return JudgedWords((line,), accuracy_words(study.true_effect), "share", ACCURACY.found(study))
    kept = ", kept" if study.ties == "kept" else ""
    line = f"{study.n_judgements:,} judgements, {100 * study.tie_share:g} % ties{kept}; sign test ({study.test})"
    return JudgedWords((line,), preference_words(study), "share", PREFERENCE.found(study))
