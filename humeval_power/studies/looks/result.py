"""What plans with looks say: of a rating study, of independent judgements, and of a pool of comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

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
from humeval_power.saying.result import LOOKS_FILE, UNKNOWN, Provenance, Record, Result
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.boundaries import Boundaries
from humeval_power.studies.looks.how_many import (
    PROCEDURES,
    LooksChoice,
    PoolGrowth,
    PoolStudy,
    new_workers_advice,
)
from humeval_power.studies.looks.judgement_plan import JudgementPlan, OperatingPoint
from humeval_power.studies.looks.judgements import AssessmentLooks, PairedLooks
from humeval_power.studies.looks.rating_looks import LookPlan
from humeval_power.studies.looks.repeated import RepeatedPoint, StopWhen, few_workers_note
from humeval_power.studies.looks.replicates import LookSource
from humeval_power.studies.looks.stepwise import StepwiseBoundaries
from humeval_power.studies.looks.systems_looks import SystemsLookPlan, SystemsOperatingPoint
from humeval_power.studies.looks.tables import (
    LONG_RUN,
    bias_table,
    boundaries_record,
    boundaries_table,
    calibration_words,
    choices_table,
    errors_table,
    growth_table,
    judgements_record,
    looks_record,
    points_table,
    pool_record,
    pool_table,
    rows_record,
    rows_table,
    savings_table,
    stops_blocks,
    stops_lead,
    stops_record,
)
from humeval_power.studies.power.result_several import (
    family_words,
    means_table,
    power_record,
    share_cell,
)
from humeval_power.studies.power.study_content import category_facts, study_content
from humeval_power.studies.power.surface import Cell
from humeval_power.studies.power.systems_study import SystemsStudy
from humeval_power.studies.power.wording import accuracy_words
from humeval_power.systems import GOALS, Goal, goal_words

if TYPE_CHECKING:
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
    curve: Callable[[], Sequence[OperatingPoint] | Sequence[SystemsOperatingPoint]]
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
        return Document(
            f"{of} with looks before its end",
            lead=self._lead() if self.stop_when is None else self._lead_of_stops(self.stop_when),
            caveats=self._caveats(),
            sections=(Section("", (Facts(tuple(self._facts())),)), *self._sections()),
        )

    def _lead(self) -> str:
        effect = self.plan.study.true_effect if isinstance(self.plan, LookPlan) else self._about.effect
        there = min(self.points, key=lambda point: abs(point.effect - effect))
        taken = f"{there.expected_size:,.0f} of {self.plan.study.sizes[-1]:,} ratings"
        if math.isnan(there.power):
            return f"These studies end on average after {taken}."
        if isinstance(there, OperatingPoint):
            interval, does = there.power_interval, "find the difference"
        else:
            interval = there.found.interval
            does = goal_words(self._about.goal, f"{there.effect:.3g} apart", margin=False)
        return (
            f"Of 100 such studies, {of_hundred(there.power, interval)} would {does} with "
            f"{counted(len(self.plan.rows), 'look')}, {of_hundred(there.fixed_power)} with one look at the end. On "
            f"average they end after {taken}."
        )

    def _lead_of_stops(self, stop_when: StopWhen) -> str:
        assert isinstance(self.plan, LookPlan)
        effect = self.plan.study.true_effect
        there = min(self.stops, key=lambda point: abs(point.effect - effect))
        return stops_lead(there, stop_when, self.plan.rows[-1].n_workers, self.scale)

    def _caveats(self) -> tuple[str, ...]:
        if self.stop_when is None:
            return ()
        note = few_workers_note(self.plan.rows[0].n_workers)
        return () if note is None else (note,)

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
        yield "Rule", f"{plan.bounds.rule}{'' if about is None else ', over all comparisons'}"
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
            yield Section("What else could be looked at", tuple(self._others(plan)))
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

        def draw() -> Figure:
            from humeval_power.studies.looks.figures import expected_cost_figure

            costs = self.plan.costs
            return expected_cost_figure(
                self.curve(),
                size_at_end=self.plan.study.sizes[-1],
                cost_at_end=math.nan if costs is None else costs[-1],
                currency=self.currency,
                unit=_UNIT,
            )

        return Picture(name, draw, words=words)

    def _others(self, plan: LookPlan) -> Iterator[Block]:
        if self.choices:
            yield Paragraph("How many looks, in equal steps (z-values):")
            yield choices_table(self.choices)
        yield Paragraph("What the looks could add:")
        yield growth_table(self.growth, plan.study.looks.kind)
        advice = new_workers_advice(plan.study, plan.rows)
        if advice is not None:
            yield Paragraph(advice)

    def content(self) -> Record:
        """What is there at each look, boundaries, errors and operating characteristics."""
        plan = self.plan
        if isinstance(plan, LookPlan):
            points = cast(Sequence[OperatingPoint], self.points)
            record = looks_record(
                plan, points, choices=self.choices, growth=self.growth, setting=self.setting
            )
            if self.stop_when is not None:
                record |= {"stop_when": asdict(self.stop_when), "stops": stops_record(self.stops, plan)}
        else:
            record = _record_of_systems(
                plan, self._about, cast(Sequence[SystemsOperatingPoint], self.points)
            )
        return {"understood": self.understood, **record}


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


def _record_of_systems(
    plan: SystemsLookPlan, about: SystemsStudy, points: Sequence[SystemsOperatingPoint]
) -> Record:
    names = about.parameters.names
    return {
        **study_content(Cell(about.setting, about)),
        "effect": about.effect,
        "looks": {"by": plan.study.looks.kind, "shares": list(plan.study.looks.shares)},
        "method": plan.method,
        "hardest": list(_hardest(plan)),
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
                "with_looks": power_record(point.found, about),
                "one_look": power_record(point.fixed, about),
                "stopping": list(point.stopping),
                "reached": list(point.reached),
                "expected_size": point.expected_size,
                "expected_cost": None if math.isnan(point.expected_cost) else point.expected_cost,
            }
            for point in points
        ],
        "n_simulations": plan.n_simulations,
    }


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
            ("Rule", str(self.bounds.rule)),
            ("Studies", f"{self.n_simulations:,} simulated at each effect"),
        ]
        long_run = (
            points_table(self.points, noun="judged"),
            Paragraph(f"{LONG_RUN}."),
            _stopping(self.points, self.unit),
            Picture("expected_cost", self._expected_figure, words=_EXPECTED_WORDS),
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

    def _expected_figure(self) -> Figure:
        from humeval_power.studies.looks.figures import expected_cost_figure

        return expected_cost_figure(self.curve(), size_at_end=self.sizes[-1], unit=self.unit)

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
        from humeval_power.studies.looks.figures import budget_figure

        return budget_figure(self.study)

    def _spending_figure(self) -> Figure:
        from humeval_power.studies.looks.figures import spending_figure

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
        from humeval_power.studies.looks.figures import boundary_figure

        return boundary_figure(bounds)

    return Picture(
        "boundaries",
        draw,
        words="The z-value at each look beyond which a study is significant, or futile, against its information.",
    )


def _stopping(points: Sequence[OperatingPoint], unit: str) -> Picture:
    def draw() -> Figure:
        from humeval_power.studies.looks.figures import stopping_figure

        return stopping_figure(points, unit=unit)

    return Picture(
        "stopping", draw, words="For each true effect the share of studies that end at each look."
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


# What a plan of looks at several systems says: levels by how many comparisons are left, errors, the long
# run.

STEPS = (
    "While k comparisons are not shown, each is tested at its share alpha / k. One that is shown stays so; its "
    "share passes to the others, which are tested again at the same look (Maurer and Bretz 2013). The study ends "
    "when each is shown or futile; ending it earlier for any other reason costs power, and no error."
)
_MOST_LEVELS = 5  # numbers of comparisons left that a table shows


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
