"""Looks at a study before its end: boundaries, false positives, power, expected cost."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from humeval_power.choices import DEFAULT_SEED, DEFAULT_SIMULATIONS, POOL_BUDGETS
from humeval_power.errors import HumevalPowerError
from humeval_power.saying.progress import in_steps, progress
from humeval_power.sweep.executors import on_executor

if TYPE_CHECKING:
    from humeval_power.costs import CostModel
    from humeval_power.differences import Difference
    from humeval_power.ratings import Ratings
    from humeval_power.scales import RatingScale
    from humeval_power.studies.looks.calibration import Calibrate
    from humeval_power.studies.looks.judgement_plan import JudgementPlan, OperatingPoint, ScoreLaws
    from humeval_power.studies.looks.repeated import RepeatedPoint, StopWhen
    from humeval_power.studies.looks.replicates import LookSource, RatingLooks
    from humeval_power.studies.looks.result import (
        LooksJudgementsResult,
        LooksPoolResult,
        LooksStudyResult,
        ScheduleResult,
    )
    from humeval_power.studies.looks.result_anytime import AnytimeResult
    from humeval_power.studies.looks.result_dropping import DroppingResult
    from humeval_power.studies.looks.stopping_rule import StoppingRule
    from humeval_power.studies.looks.systems_looks import SystemsLooks
    from humeval_power.sweep.executors import AnyExecutor
    from humeval_power.systems import Goal

POOL_TOLD_AT = (1200, 3600)
POOL_SIMULATIONS = 1000


def schedule(rule: StoppingRule, shares: Sequence[float]) -> ScheduleResult:
    """Boundaries of a study that is looked at when it has these shares of its information, the last being 1.

    Returns
    -------
    ScheduleResult
        `bounds` has z and nominal p for success and futility at each look.

    Raises
    ------
    InputError
        Shares that do not rise to 1, or a rule that has no boundaries for them.
    """
    from humeval_power.studies.looks.boundaries import boundaries
    from humeval_power.studies.looks.result import ScheduleResult

    return ScheduleResult(bounds=boundaries(rule, list(shares)))


@on_executor
def study(
    source: RatingLooks | SystemsLooks,
    rule: StoppingRule,
    *,
    goal: Goal = "pair",
    effects: Sequence[float] | None = None,
    cost: CostModel | None = None,
    calibration: Calibrate = "auto",
    setting: str = "parameters",
    said: Difference | None = None,
    n_simulations: int | None = None,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
    remarks: Sequence[str] = (),
    stop_when: StopWhen | None = None,
    scale: RatingScale | None = None,
) -> LooksStudyResult:
    """A rating study with looks: information and boundaries at each, careless procedures, the long run.

    Parameters
    ----------
    source : the study, its looks and its true effect; of several systems its comparisons and true means.
    rule : boundaries; of several systems with the alpha of all comparisons together.
    goal : what counts as power among several systems.
    effects : true differences on [0, 1] for the table of the long run; None for none, half and all of the
        study's.
    calibration : 'auto' corrects the boundaries by simulation where fewer than 10 workers are there at the first
        look.
    setting, said : how the parameters are called, and the effect as it was said.
    remarks : what was noticed in reading.
    stop_when : for which reasons repeated confidence intervals stop the study, of two systems; the boundaries are
        then always calibrated.
    scale : in whose points differences and the sizes of `stop_when` are shown.

    Returns
    -------
    LooksStudyResult
        `plan` (boundaries, what is there at each look), `points` (operating characteristics), with `stop_when`
        `stops` in their place.

    Raises
    ------
    InputError
        Looks at which a difference cannot be estimated, boundaries that several comparisons do not have, or a goal
        that these means do not have.
    """
    from humeval_power.differences import Difference
    from humeval_power.saying.result import Provenance
    from humeval_power.studies.looks.how_many import compare_growth, compare_numbers_of_looks
    from humeval_power.studies.looks.rating_looks import LookSchedule, check_stopping, plan_looks
    from humeval_power.studies.looks.repeated import check_offered, check_study, repeated_points
    from humeval_power.studies.looks.replicates import RatingLooks
    from humeval_power.studies.looks.result import LooksStudyResult
    from humeval_power.studies.looks.systems_looks import hardest_place, plan_systems_looks
    from humeval_power.studies.power.systems_goals import Truth
    from humeval_power.studies.power.systems_power import check_goal
    from humeval_power.studies.power.systems_study import SystemsStudy

    how: dict[str, Any] = {"cost": cost, "calibration": calibration, "n_simulations": n_simulations}
    how |= {"seed": seed, "n_jobs": n_jobs}
    currency = "" if cost is None else cost.currency
    if isinstance(source, RatingLooks):
        effect = source.true_effect
        if stop_when is not None:
            how["calibration"] = "always"
            LookSchedule(source.looks, rule.efficacy, rule.futility, stop_when=stop_when).rule(source.rule)
            check_offered(several=False, exclusions=False, documents=False, settings=(source.parameters,))
            source = source.as_numbers()
            check_study(source)
        plan = plan_looks(source, rule, **how)
        stops: tuple[RepeatedPoint, ...] = ()
        if stop_when is not None:
            check_stopping(source, plan.bounds, stop_when, source.rule, scale=scale)
            usual = (0.0, effect / 2, effect, 1.5 * effect)
            stops = repeated_points(
                source,
                plan.bounds,
                stop_when,
                source.rule,
                effects=tuple(effects) if effects is not None else tuple(dict.fromkeys(usual)),
                n_simulations=plan.n_simulations,
                seed=plan.seed,
                costs=plan.costs,
                n_jobs=n_jobs,
            )
        plain = stop_when is None
        return LooksStudyResult(
            plan=plan,
            stop_when=stop_when,
            stops=stops,
            scale=scale,
            points=tuple(plan.at(_effects(effects, effect), n_jobs=n_jobs)) if plain else (),
            setting=setting,
            said=said or Difference(effect),
            curve=lambda: plan.at(_curve(effect), n_jobs=n_jobs),
            choices=tuple(compare_numbers_of_looks(source, rule)) if plain and effect else (),
            growth=tuple(compare_growth(source)),
            currency=currency,
            remarks=tuple(remarks),
            provenance=Provenance(seed=plan.seed),
        )
    if stop_when is not None:
        check_offered(several=True, exclusions=False, documents=False)
    check_goal(Truth(source.parameters, source.pairs, source.rule), goal)
    several = plan_systems_looks(source, rule, place=hardest_place(source), **how)
    about = SystemsStudy(
        source.parameters,
        source.nested.final,
        family=source.family,
        rule=source.rule,
        goal=goal,
        response=source.response,
        points=source.points,
        setting=setting,
    )
    return LooksStudyResult(
        plan=several,
        points=tuple(several.at(_effects(effects, about.effect), goal=goal, n_jobs=n_jobs)),
        setting=setting,
        said=said or Difference(about.effect, systems=None),
        curve=lambda: several.at(_curve(about.effect), goal=goal, n_jobs=n_jobs),
        about=about,
        scale=scale,
        currency=currency,
        remarks=(*remarks, *source.parameters.notes),
        provenance=Provenance(seed=several.seed),
    )


@on_executor
def dropping(
    source: SystemsLooks,
    rule: StoppingRule,
    *,
    stop_when: StopWhen | None = None,
    goal: Goal = "best",
    cost: CostModel | None = None,
    setting: str = "parameters",
    understood: str | None = None,
    scale: RatingScale | None = None,
    n_simulations: int | None = None,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
    remarks: Sequence[str] = (),
) -> DroppingResult:
    """Several systems, of which each look drops those that another one beats, until one is shown to be the best.

    Parameters
    ----------
    source : the study, its looks by workers and its true means; all pairs, fitted in pairs, without correction.
    rule : boundaries by a spending function, with the alpha of the claim.
    stop_when : decision, and sizes at which those left are a top group.
    setting, understood : how the parameters and the effect are called.
    scale : whose points the sizes of `stop_when` are shown in.

    Returns
    -------
    DroppingResult
        `plan` has the levels (`bounds`) and the long run at several true means (`points`, `ties`).

    Raises
    ------
    InputError
        Studies in which systems cannot be dropped, all that is wrong at once.
    """
    from humeval_power.saying.result import Provenance
    from humeval_power.studies.looks.dropping import plan_dropping
    from humeval_power.studies.looks.result_dropping import DroppingResult

    effect = source.parameters.stated_effect
    plan = plan_dropping(
        source,
        rule,
        stop_when=stop_when,
        goal=goal,
        cost=cost,
        n_simulations=n_simulations,
        seed=seed,
        n_jobs=n_jobs,
    )
    return DroppingResult(
        plan=plan,
        setting=setting,
        understood=understood or f"{effect:.6g} on [0, 1]",
        scale=scale,
        remarks=(*remarks, *source.parameters.notes),
        provenance=Provenance(seed=plan.seed),
    )


@on_executor
def judgements(
    source: LookSource,
    rule: StoppingRule,
    *,
    effect: float,
    effects: Sequence[float] | None = None,
    words: Sequence[str] | None = None,
    understood: str | None = None,
    unit: str | None = None,
    systems: tuple[str, str] = ("A", "B"),
    created: datetime.date | None = None,
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
) -> LooksJudgementsResult:
    """Independent judgements with looks: `PairedLooks` of preferences or accuracies, `AssessmentLooks` of scores.

    Parameters
    ----------
    source : what is judged, and when it is looked at.
    effect, effects : the planned effect, and those for the table of the long run, in the units of the source.
    words, understood, unit : how the study and its effect are put into words; None for the words that there are.
    systems : A and B as the judgements will call them.
    created : the date in the sealed plan; today if not given.

    Returns
    -------
    LooksJudgementsResult
        `bounds`, and `points`, the operating characteristics at each effect. `plan` is what `monitor` follows, and
        `sealed` the text of its file; None and '' for looks that cannot be followed, such as at another test.

    Raises
    ------
    InputError
        A rule that has no boundaries for these looks, or an effect that cannot be.
    """
    from humeval_power.saying.result import Provenance
    from humeval_power.studies.looks.boundaries import boundaries
    from humeval_power.studies.looks.judgement_plan import operating_characteristics
    from humeval_power.studies.looks.result import LooksJudgementsResult, judged_words

    said = judged_words(source, effect)
    sizes = tuple(source.sizes)
    bounds = boundaries(rule, [size / sizes[-1] for size in sizes])

    def at(wanted: Sequence[float]) -> list[OperatingPoint]:
        return operating_characteristics(
            source, bounds, effects=wanted, n_simulations=n_simulations, seed=seed, n_jobs=n_jobs
        )

    points = at(_effects(effects, effect))
    plan, why_not = _followed(source, rule, systems, effect, points, n_simulations, seed)
    sealed = ""
    if plan is not None:
        from humeval_power.studies.plan.sealed_schema import looks_plan_to_json

        sealed = looks_plan_to_json(plan, created=created or datetime.date.today())

    def possible(wanted: float) -> bool:
        try:
            source.with_effect(wanted)
        except HumevalPowerError:
            return False
        return True

    return LooksJudgementsResult(
        bounds=bounds,
        points=tuple(points),
        plan=plan,
        sealed=sealed,
        why_not_sealed=why_not,
        sizes=sizes,
        words=said.study if words is None else tuple(words),
        understood=understood or said.effect,
        unit=said.unit if unit is None else unit,
        finding=said.finding,
        n_simulations=n_simulations,
        curve=lambda: at(list(filter(possible, _curve(effect)))),
        provenance=Provenance(seed=seed),
    )


@on_executor
def pool(
    pairs: Sequence[ScoreLaws],
    *,
    budgets: Sequence[int] = POOL_BUDGETS,
    at: Sequence[float] = POOL_TOLD_AT,
    n_looks: int = 3,
    source: str = "pairs of systems",
    remarks: Sequence[str] = (),
    n_simulations: int = POOL_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
) -> LooksPoolResult:
    """Average power against budget over many pairs of systems, as Wei, Kocmi and Federmann (2022).

    Parameters
    ----------
    pairs : samples or laws of scores of two systems each.
    budgets : planned judgements of a comparison, both systems together.
    at : budgets of a single look at which savings are told.
    source : what the pairs are, in words.
    remarks : what was noticed in reading them.

    Returns
    -------
    LooksPoolResult
        `study` has the power and the judgements spent of each pair at each budget, under three procedures.
    """
    from humeval_power.saying.result import Provenance
    from humeval_power.studies.looks.how_many import pool_study, wei_rules
    from humeval_power.studies.looks.result import LooksPoolResult

    with progress("Pairs and budgets", total=len(pairs) * len(budgets)) as advance:
        result = pool_study(
            pairs,
            budgets=budgets,
            rules=wei_rules(n_looks),
            n_simulations=n_simulations,
            seed=seed,
            n_jobs=n_jobs,
            progress=in_steps(advance),
        )
    return LooksPoolResult(
        study=result,
        names=tuple(pair.name for pair in pairs),
        n_looks=n_looks,
        at=tuple(at),
        source=source,
        remarks=tuple(remarks),
        provenance=Provenance(seed=seed),
    )


def anytime(ratings: Ratings, *, narrowest_at: int = 10, alpha: float = 0.05) -> AnytimeResult:
    """An interval of B - A that holds after every worker, where each rated items of his own.

    Parameters
    ----------
    ratings : of two systems, in the order in which workers came.
    narrowest_at : workers at which the interval is narrowest; it must not depend on the ratings.
    alpha : chance that the interval ever misses.

    Returns
    -------
    AnytimeResult
        `steps`, the interval after each worker; `last`, after all of them; `price`.

    Raises
    ------
    InputError
        Items that several workers rated, that lack a system, or unequal numbers of them.
    """
    from humeval_power.studies.looks.result_anytime import (
        AnytimeResult,
        sequence,
        tuned_spread,
        worker_differences,
    )

    a, b = ratings.system_names
    g = tuned_spread(narrowest_at, alpha)
    return AnytimeResult(
        systems=(a, b),
        scale=ratings.scale,
        source=ratings.source,
        steps=sequence(worker_differences(ratings), g, alpha),
        narrowest_at=narrowest_at,
        g=g,
        alpha=alpha,
    )


def _followed(
    source: LookSource,
    rule: StoppingRule,
    systems: tuple[str, str],
    effect: float,
    points: Sequence[OperatingPoint],
    n_simulations: int,
    seed: int,
) -> tuple[JudgementPlan | None, str]:
    """The plan that `monitor` follows; or why there is none."""
    from humeval_power.errors import InputError
    from humeval_power.studies.looks.judgement_plan import (
        AssessmentLooks,
        PairedLooks,
        judgement_plan,
        promised_power,
    )

    if not isinstance(source, AssessmentLooks | PairedLooks):
        return None, "Only looks at scores, preferences and accuracies can be followed."
    promised = promised_power(points, effect, n_simulations=n_simulations, seed=seed)
    try:
        return judgement_plan(source, rule, systems=systems, promised=promised), ""
    except InputError as error:
        return None, str(error)


def _effects(typed: Sequence[float] | None, effect: float) -> tuple[float, ...]:
    """The effects of the table: those typed, or none, half and all of the planned one."""
    return tuple(typed) if typed is not None else tuple(dict.fromkeys((0.0, effect / 2, effect)))


def _curve(effect: float) -> tuple[float, ...]:
    """The effects of the picture: 0 to 1.5 times the planned one."""
    return tuple(effect * step / 6 for step in range(10))
