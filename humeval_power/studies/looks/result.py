"""What plans with looks say: of a rating study, of independent judgements, and of a pool of comparisons.

What looks that drop systems say of themselves: levels, the long run, and the record of both.
"""

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
from humeval_power.errors import InputError
from humeval_power.saying.answer_words import of_hundred
from humeval_power.saying.document import Block, Document, Fact, Facts, Paragraph, Picture, Section, Table
from humeval_power.saying.numbers import counted, percent
from humeval_power.saying.quantities import values
from humeval_power.saying.result import LOOKS_FILE, UNKNOWN, Provenance, Record, Result
from humeval_power.saying.stated import table
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.boundaries import Boundaries
from humeval_power.studies.looks.dropping import DropExpectation, DroppingPlan
from humeval_power.studies.looks.how_many import (
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
from humeval_power.studies.looks.rating_looks import LookPlan
from humeval_power.studies.looks.repeated import REASONS, RepeatedPoint, StopWhen, few_workers_note
from humeval_power.studies.looks.replicates import LookSource
from humeval_power.studies.looks.systems_looks import (
    StepwiseBoundaries,
    SystemsLookPlan,
    SystemsOperatingPoint,
)
from humeval_power.studies.looks.tables import (
    LONG_RUN,
    bias_table,
    boundaries_record,
    boundaries_table,
    calibration_words,
    choices_table,
    errors_table,
    finite,
    growth_table,
    points_table,
    pool_table,
    rows_record,
    rows_table,
    rule_record,
    savings_table,
    stops_blocks,
    stops_lead,
)
from humeval_power.studies.power.result_several import family_words, means_table, power_record, share_cell
from humeval_power.studies.power.strategies import Cell
from humeval_power.studies.power.study_content import category_facts, study_content
from humeval_power.studies.power.systems_study import SystemsStudy
from humeval_power.studies.power.wording import accuracy_words
from humeval_power.systems import GOALS, Goal, goal_words

INDEPENDENT = (
    "Judgements are taken as independent. Where annotators or items have levels of their own the false "
    "positives are many more: a rating study with looks says how many."
)
AnyCurve = Callable[[], Sequence[OperatingPoint] | Sequence[SystemsOperatingPoint]]


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

    `curve` gives the operating characteristics over effects for the picture of the expected cost. Of two systems
    there is what other numbers of looks would do, and what the looks could add; of several there is `about`, the
    study with one look at its end. Of a study that its intervals stop, for the reasons `stop_when`, whose sizes are
    shown in points of the `scale`, the long run is `stops`, and there are no `points`.
    """

    schema: ClassVar[str] = "humeval_power/looks/1"

    plan: LookPlan | SystemsLookPlan
    points: tuple[OperatingPoint | SystemsOperatingPoint, ...]
    setting: str
    understood: str
    curve: AnyCurve
    choices: tuple[LooksChoice, ...] = ()
    growth: tuple[PoolGrowth, ...] = ()
    about: SystemsStudy | None = None
    currency: str = ""
    remarks: tuple[str, ...] = ()
    stop_when: StopWhen | None = None
    stops: tuple[RepeatedPoint, ...] = ()
    scale: RatingScale | None = None
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The study at each look, its boundaries, errors and long run, and what other looks would do."""
        of = (
            "A rating study"
            if self.about is None
            else f"A study of {self.about.parameters.n_systems} systems"
        )
        few = None if self.stop_when is None else few_workers_note(self.plan.rows[0].n_workers)
        return Document(
            f"{of} with looks before its end",
            lead=self._lead(),
            caveats=() if few is None else (few,),
            sections=(Section("", (Facts(tuple(self._facts())),)), *self._sections()),
        )

    def _lead(self) -> str:
        plan = self.plan
        effect = plan.study.true_effect if isinstance(plan, LookPlan) else self._about.effect
        if self.stop_when is not None:
            planned = min(self.stops, key=lambda point: abs(point.effect - effect))
            return stops_lead(planned, self.stop_when, plan.rows[-1].n_workers, self.scale)
        there = min(self.points, key=lambda point: abs(point.effect - effect))
        taken = f"{there.expected_size:,.0f} of {plan.study.sizes[-1]:,} ratings"
        if math.isnan(there.power):
            return f"These studies end on average after {taken}."
        if isinstance(there, OperatingPoint):
            interval, does = there.power_interval, "find the difference"
        else:
            interval = there.found.interval
            does = goal_words(self._about.goal, f"{there.effect:.3g} apart", margin=False)
        return (
            f"Of 100 such studies, {of_hundred(there.power, interval)} would {does} with "
            f"{counted(len(plan.rows), 'look')}, {of_hundred(there.fixed_power)} with one look at the end. On "
            f"average they end after {taken}."
        )

    @property
    def _about(self) -> SystemsStudy:
        assert self.about is not None
        return self.about

    def _facts(self) -> Iterator[Fact]:
        plan, about = self.plan, self.about
        yield "Effect", self.understood
        yield "Setting", self.setting
        if isinstance(plan, LookPlan):
            yield from category_facts(plan.study.parameters)
        yield "Study", str(plan.study.nested.final)
        if about is not None:
            yield "Tests", family_words(about.family, about.parameters.n_systems)
        yield "Looks", str(plan.study.looks)
        if self.stop_when is not None:
            yield "Stops on", self.stop_when.words(self.scale)
        yield "Rule", f"{plan.bounds.rule.words}{'' if about is None else ', over all comparisons'}"
        yield "Method", plan.method
        if plan.calibration is not None:
            yield "", calibration_words(plan.calibration)

    def _sections(self) -> Iterator[Section]:
        plan = self.plan
        if isinstance(plan, LookPlan):
            yield Section("What is there at each look", (rows_table(plan),))
            yield Section("Boundaries", (boundaries_table(plan.bounds), _boundaries(plan.bounds)))
            err = Paragraph(
                "Ratings are not information: with known variances the boundaries for shares of ratings would err "
                f"{plan.count_time_error:.3f} of the time here. The p-values are those of Kenward and Roger's t "
                "tests, refitted at every look."
            )
            yield Section("False positives", (errors_table(plan), err))
            if self.stop_when is None:
                yield Section("Long run", tuple(self._long_run(plan)))
            else:
                all_workers = plan.rows[-1].n_workers
                takes = stops_blocks(self.stops, all_workers, plan.study.rule, self.scale)
                yield Section("What it takes", tuple(takes))
            others: list[Block] = []
            if self.choices:
                others += [
                    Paragraph("How many looks, in equal steps (z-values):"),
                    choices_table(self.choices),
                ]
            others += [
                Paragraph("What the looks could add:"),
                growth_table(self.growth, plan.study.looks.kind),
            ]
            advice = new_workers_advice(plan.study, plan.rows)
            if advice is not None:
                others.append(Paragraph(advice))
            yield Section("What else could be looked at", tuple(others))
            return
        known = Paragraph(f"Information is that of {' - '.join(reversed(_hardest(plan)))}.")
        yield Section("What is there at each look", (rows_table(plan), known))
        yield Section("Levels", (Paragraph(STEPS), levels_table(plan.bounds, plan.place)))
        err = Paragraph(
            "A false claim is a difference between two systems that are equal. The worst case is looked for among "
            "groups of equal systems, all other comparisons being shown at the first look."
        )
        yield Section("False claims", (errors_table(plan), err))
        points = cast(Sequence[SystemsOperatingPoint], self.points)
        goals = long_run_table(points, self._about.goal, self.currency), goals_table(points)
        yield Section("Long run", (*goals, self._expected("long_run", _GOALS_WORDS)))
        yield Section("True means", (means_table(self._about),), is_detail=True)

    def _long_run(self, plan: LookPlan) -> Iterator[Block]:
        points = cast(Sequence[OperatingPoint], self.points)
        yield Paragraph(
            f"To have the power 0.8 with these looks, the whole study needs {plan.inflation:.3f} times the "
            "information of one without them (z-values)."
        )
        yield points_table(points, noun="ratings", currency=self.currency)
        yield Paragraph(f"{LONG_RUN}.")
        yield _stopping(points, _UNIT)
        yield self._expected("expected_cost", _EXPECTED_WORDS)
        yield bias_table(points)

    def _expected(self, name: str, words: str) -> Picture:
        """Mean cost, or size, and power against the true effect."""
        costs = self.plan.costs
        cost = math.nan if costs is None else costs[-1]
        return _expected_cost(
            name,
            self.curve,
            words=words,
            size_at_end=self.plan.study.sizes[-1],
            cost_at_end=cost,
            currency=self.currency,
            unit=_UNIT,
        )

    def content(self) -> Record:
        """What is there at each look, boundaries, errors and operating characteristics."""
        plan, looks = self.plan, self.plan.study.looks
        alike = {
            "understood": self.understood,
            "looks": {"by": looks.kind, "shares": list(looks.shares)},
            "method": plan.method,
            "at_looks": rows_record(plan.rows),
            "n_simulations": plan.n_simulations,
        }
        if isinstance(plan, LookPlan):
            return {**alike, **self._record_of_two(plan)}
        return {**alike, **self._record_of_systems(plan)}

    def _record_of_two(self, plan: LookPlan) -> Record:
        stops: Record = {}
        if self.stop_when is not None:
            all_workers = plan.rows[-1].n_workers
            runs = [
                {
                    **{name: finite(value) for name, value in asdict(point).items()},
                    "reasons": dict(zip(REASONS, point.reasons, strict=True)),
                    "all_workers": all_workers,
                }
                for point in self.stops
            ]
            stops = {"stop_when": asdict(self.stop_when), "stops": runs}
        return {
            "setting": self.setting,
            "parameters": plan.study.parameters.as_dict(),
            "effect": plan.study.true_effect,
            "boundaries": boundaries_record(plan.bounds),
            "calibration": plan.calibration and asdict(plan.calibration) | {"used": plan.calibration.used},
            "errors_without_effect": [asdict(each) for each in plan.errors],
            "count_time_error_known_variances": plan.count_time_error,
            "inflation_at_power_0.8": finite(plan.inflation),
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
                **rule_record(bounds.rule),
                "correction": bounds.correction,
                "calibration_factor": bounds.calibration,
                "comparisons": [
                    {
                        "first": names[first],
                        "second": names[second],
                        "information": list(bounds.information[place]),
                        "nominal_p": bounds.nominal[:, place].tolist(),  # by how many are not shown, from 1
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
                    "expected_cost": finite(point.expected_cost),
                }
                for point in cast(Sequence[SystemsOperatingPoint], self.points)
            ],
        }


_UNIT = "difference on [0, 1]"
_EXPECTED_WORDS = "Mean size, or cost, and power against the true effect, with looks and without."
_GOALS_WORDS = (
    "Ratings on average, and the power of the goal with looks and without, against the difference that the true "
    "means are stated by."
)


def _hardest(plan: SystemsLookPlan) -> tuple[str, str]:
    names = plan.study.parameters.names
    first, second = plan.study.pairs[plan.place]
    return names[first], names[second]


def _points_record(points: Sequence[OperatingPoint]) -> list[Record]:
    """Operating characteristics; null where there is no number."""
    return [
        {
            name: finite(value) if not isinstance(value, tuple) else list(value)
            for name, value in asdict(point).items()
            if name != "corrected_above"
        }
        for point in points
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
    provenance: Provenance = UNKNOWN

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
        """The comparison, its boundaries and long run."""
        facts = [("Effect", self.understood)]
        facts += [("Study" if number == 0 else "", line) for number, line in enumerate(self.words)]
        facts += [
            ("Looks", f"after {', '.join(f'{size:,}' for size in self.sizes)} judgements"),
            ("Rule", self.bounds.rule.words),
            ("Studies", f"{self.n_simulations:,} simulated at each effect"),
        ]
        long_run = (
            points_table(self.points, noun="judged"),
            Paragraph(f"{LONG_RUN}."),
            _stopping(self.points, self.unit),
            _expected_cost(
                "expected_cost",
                self.curve,
                words=_EXPECTED_WORDS,
                size_at_end=self.sizes[-1],
                unit=self.unit,
            ),
            bias_table(self.points),
        )
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
        return {
            "understood": self.understood,
            "study": list(self.words),
            "sizes": list(self.sizes),
            "boundaries": boundaries_record(self.bounds),
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
            lambda: _figures().budget_figure(self.study),
            words="Average power over all pairs against the planned budget, with one look, with looks, and with "
            "a stop for futility.",
        )
        spending = Picture(
            "spending",
            lambda: _figures().spending_figure(self.study, budget=round(self.at[0])),
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

    def content(self) -> Record:
        """Power and judgements spent of each pair at each budget, and what is saved at the budgets of one look."""
        study = self.study
        curves = {name: study.curve(name) for name in PROCEDURES}
        saved = [
            {name: finite(study.saving(name, budget=budget)) for name in PROCEDURES[1:]}
            for budget in self.at
        ]
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
                {"fixed_budget": budget, **shares} for budget, shares in zip(self.at, saved, strict=True)
            ],
            **values(study, "alpha", "n_simulations"),
        }


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


def _figures() -> Any:
    """The pictures of this room; Matplotlib is loaded where one is drawn."""
    from humeval_power.studies.looks import figures

    return figures


def _boundaries(bounds: Boundaries) -> Picture:
    words = (
        "The z-value at each look beyond which a study is significant, or futile, against its information."
    )
    return Picture("boundaries", lambda: _figures().boundary_figure(bounds), words=words)


def _stopping(points: Sequence[OperatingPoint], unit: str) -> Picture:
    words = "For each true effect the share of studies that end at each look."
    return Picture("stopping", lambda: _figures().stopping_figure(points, unit=unit), words=words)


def _expected_cost(name: str, curve: AnyCurve, *, words: str, **study: Any) -> Picture:
    """Mean cost, or size, of the `study` against the true effect; the curve is computed where it is drawn."""
    return Picture(name, lambda: _figures().expected_cost_figure(curve(), **study), words=words)


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


# What a plan of looks at several systems says: levels by how many comparisons are left, errors, the long
# run.

STEPS = (
    "While k comparisons are not shown, each is tested at its share alpha / k. One that is shown stays so; its "
    "share passes to the others, which are tested again at the same look (Maurer and Bretz 2013). The study ends "
    "when each is shown or futile; ending it earlier for any other reason costs power, and no error."
)
_MOST_LEVELS = 5  # numbers of comparisons left that a table shows


def levels_table(bounds: StepwiseBoundaries, place: int) -> Table:
    """p at or below which a comparison is shown, by the number of comparisons that are not."""
    n = bounds.n_comparisons
    steps = list(range(n, 0, -1))
    if n > _MOST_LEVELS:
        steps = sorted({n, n // 2, n // 4, 2, 1}, reverse=True)
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
    by_look = (f"look {look + 1}" for look in range(n_looks))
    header = ("effect", goal, "(one look)", *by_look, "false")
    rows = []
    for point in points:
        row = [f"{point.effect:.4g}", share_cell(point.power), share_cell(point.fixed_power)]
        row += [share_cell(share) for share in point.reached[:n_looks]]
        row += [share_cell(point.found.false_claim), f"{point.expected_size:,.0f}"]
        row += [f"{point.expected_cost:,.0f}"] if priced else []
        rows.append(tuple(row))
    words = "look 1, 2, ...: reached by then. false: studies with a false claim."
    return Table((*header, "ratings", *((currency,) if priced else ())), tuple(rows), caption=words)


def goals_table(points: Sequence[SystemsOperatingPoint]) -> Table:
    """Every goal that these means have, with looks."""
    goals = [goal for goal in GOALS if any(not math.isnan(point.found.shares[goal]) for point in points)]
    rows = [
        (f"{point.effect:.4g}", *(share_cell(point.found.shares[goal]) for goal in goals))
        for point in points
        if point.effect
    ]
    return Table(("effect", *goals), tuple(rows), caption="Each goal, with looks")


RULE = (
    "At each look every two systems that are left are compared by the ratings of these two alone. A system is "
    "dropped where one that is left beats it at the drop level; it is rated no more. The best is named, and the "
    "study ends, where one system beats all that are left at the claim level, or is left alone. Before a claim "
    "those left hold the best with {confidence:g} % confidence."
)
NOT_BY_RANK = (
    "Nothing is dropped by its rank: dropping the worse half at each look can name a best one falsely in 16 % of "
    "studies. Ratings that are saved are not used to look earlier or to add workers."
)
PROVED = (
    "That those left hold the best is proved for z-values and calibrated by simulation for few workers; that a "
    "claim errs in at most {alpha:g} % of studies is checked by simulation, not proved."
)


def drop_rule(alpha: float) -> str:
    """How systems are dropped and the best is named."""
    return RULE.format(confidence=100 * (1 - alpha))


def drop_levels_table(plan: DroppingPlan) -> Table:
    """What a comparison must reach at each look; of the hardest to find."""
    bounds, at = plan.bounds, plan.place
    return table(
        range(len(bounds.drop)),
        {
            "look": lambda look: str(look + 1),
            "dropped at p <=": lambda look: f"{bounds.drop[look, at]:.5f}",
            "best named at p <=": lambda look: f"{bounds.claim[look, at]:.5f}",
            "intervals": lambda look: f"{100 * (1 - bounds.interval[look, at]):.3f} %",
        },
        caption="p is two-sided; the intervals of all pairs cover together at every look.",
    )


def expectation_blocks(points: Sequence[DropExpectation]) -> Iterator[Block]:
    """How studies end with each true means, and what that takes."""

    def of_best(point: DropExpectation, share: float) -> str:
        """Of means that tie none is the best."""
        return f"{share:.3f}" if point.means.count(max(point.means)) == 1 else "-"

    group = {"top group": lambda point: f"{point.top_group:.3f}"}
    yield table(
        points,
        {
            "if": lambda point: point.name,
            "best named": lambda point: of_best(point, point.best_named),
            "(no looks)": lambda point: of_best(point, point.fixed_named),
            "false claim": lambda point: f"{point.false_claim:.3f}",
            "best dropped": lambda point: f"{point.best_dropped:.3f}",
            **(group if any(point.top_group for point in points) else {}),
            "ratings": lambda point: f"{point.ratings:,.0f}",
            "saved": lambda point: percent(point.saved),
        },
    )
    looks = range(len(points[0].left))
    yield Table(
        ("ratings of each stage if", *(f"to look {look + 1}" for look in looks), "systems left"),
        tuple(
            (
                point.name,
                *(f"{stage:,.0f}" for stage in point.stages),
                ", ".join(f"{left:.1f}" for left in point.left),
            )
            for point in points
        ),
    )
    yield Paragraph(
        f"Means of {points[0].n_simulations:,} simulated studies. '(no looks)': all workers rate all systems, "
        "and the winner is tested against the runner-up. Where several tie for the best every claim is false, and "
        "a best one is dropped where one of them named beforehand is."
    )


def worst_sentence(plan: DroppingPlan) -> str:
    """How often the plan errs where it errs most."""
    claim, drop = plan.worst_claim, plan.worst_drop
    return (
        f"at worst a false claim in {100 * claim.false_claim:.1f} % of studies ({claim.name}), and a best one "
        f"dropped in {100 * drop.best_dropped:.1f} % ({drop.name}); simulated"
    )


def drop_record(plan: DroppingPlan) -> Record:
    """Levels of the hardest comparison, calibration, errors and the long run as plain values."""
    bounds, at = plan.bounds, plan.place
    return {
        "drop_levels": bounds.drop[:, at].tolist(),
        "claim_levels": bounds.claim[:, at].tolist(),
        "interval_levels": bounds.interval[:, at].tolist(),
        "interval_calibration": asdict(plan.interval_calibration),
        "drops": [asdict(point) for point in plan.points],
        "ties": [asdict(point) for point in plan.ties],
    }


@dataclass(frozen=True, kw_only=True)
class DroppingResult(Result):
    """A study of several systems whose looks drop them."""

    schema: ClassVar[str] = "humeval_power/looks_dropping/1"

    plan: DroppingPlan
    setting: str
    understood: str
    scale: RatingScale | None = None
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The rule, its levels, its errors, its long run."""
        plan, alpha = self.plan, self.plan.bounds.rule.alpha
        few, point = few_workers_note(plan.rows[0].n_workers), plan.planned
        lead = (
            f"Of 100 such studies, {of_hundred(point.best_named, point.interval)} would name the best system, "
            f"{of_hundred(point.fixed_named)} with all systems rated to the end. They take on average "
            f"{point.ratings:,.0f} of {plan.study.sizes[-1]:,} ratings, {percent(point.saved)} fewer."
        )
        return Document(
            f"A study of {plan.study.parameters.n_systems} systems whose looks drop them",
            lead=lead,
            caveats=() if few is None else (few,),
            sections=(
                Section("", (Facts(tuple(self._facts())),)),
                Section("The rule", (Paragraph(drop_rule(alpha)), Paragraph(NOT_BY_RANK))),
                Section("What is there at each look, if no system is dropped", (rows_table(plan),)),
                Section("Levels", (drop_levels_table(plan), Paragraph(PROVED.format(alpha=100 * alpha)))),
                Section("Long run", tuple(expectation_blocks(plan.points))),
                Section(
                    "Where systems tie for the best", tuple(expectation_blocks(plan.ties)), is_detail=True
                ),
            ),
        )

    def _facts(self) -> Iterator[Fact]:
        plan = self.plan
        yield "Effect", self.understood
        yield "Setting", self.setting
        yield "Study", str(plan.study.nested.final)
        yield "Looks", str(plan.study.looks)
        sizes = plan.stop_when.sizes(self.scale)
        if sizes:
            yield "Top group", top_group_words(sizes)
        yield "Rule", f"{plan.bounds.rule.words}; {counted(len(plan.study.pairs), 'comparison')}"
        yield "Method", plan.method
        yield "", calibration_words(plan.calibration)
        yield "Intervals", calibration_words(plan.interval_calibration)
        yield "Errors", worst_sentence(plan)

    def content(self) -> Record:
        """What is there at each look, levels, errors and the long run."""
        plan, looks = self.plan, self.plan.study.looks
        return {
            "understood": self.understood,
            "setting": self.setting,
            "parameters": plan.study.parameters.as_dict(),
            "looks": {"by": looks.kind, "shares": list(looks.shares)},
            "stop_when": asdict(plan.stop_when),
            "at_looks": rows_record(plan.rows),
            "calibration": asdict(plan.calibration),
            **drop_record(plan),
            "n_simulations": plan.n_simulations,
        }


def top_group_words(sizes: dict[str, str]) -> str:
    """When those left are said to be a top group."""
    why = []
    if "equivalence" in sizes:
        why.append(f"the intervals of all pairs left lie within {sizes['equivalence']} of no difference")
    if "half_width" in sizes:
        why.append(f"they all reach at most {sizes['half_width']} to each side")
    return f"the study also ends where {', or '.join(why)}"
