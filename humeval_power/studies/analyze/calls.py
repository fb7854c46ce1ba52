"""A finished study, decided as planned: two systems, several, or several criteria."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Literal, cast

from humeval_power.choices import DEFAULT_ESTIMAND, DEFAULT_SEED, DEFAULT_SIMULATIONS
from humeval_power.errors import FitError, InputError, Problem, refusal, refuse
from humeval_power.files.private_files import ledger_path
from humeval_power.ratings import Ratings
from humeval_power.rules import (
    DEFAULT_FAMILY,
    DEFAULT_RULE,
    MAX_T_OVER_CRITERIA,
    ComparisonFamily,
    DecisionRule,
)
from humeval_power.studies.analyze.family import Deviation, LooksTaken
from humeval_power.studies.field.worker_quality import WorkerExclusion
from humeval_power.studies.fit.calls import family_check, studies_like
from humeval_power.studies.monitor.files import read_ledger, row_digests, secret_path
from humeval_power.studies.monitor.followed import data_of, monitoring_of, same_sums
from humeval_power.studies.monitor.ledger_fields import state_of
from humeval_power.studies.monitor.systems import as_planned
from humeval_power.studies.monitor.taking import check_same_pool, secret_of_rows
from humeval_power.studies.plan.plan import Plan
from humeval_power.sweep.executors import on_executor

if TYPE_CHECKING:
    from humeval_power.choices import Estimand
    from humeval_power.comparisons.agreement.reliability import IntraclassCorrelation
    from humeval_power.estimation.fit import CorrelatedFactor
    from humeval_power.estimation.joint.fit import JointFit
    from humeval_power.item_pool import ItemPool
    from humeval_power.studies.analyze.diagnostics import Diagnostics, JointDiagnostics
    from humeval_power.studies.analyze.family import PowerAtInterest
    from humeval_power.studies.analyze.result import AnalysisResult, PairDetail
    from humeval_power.studies.analyze.result_criteria import CriteriaResult
    from humeval_power.studies.fit.fit_blocks import AnyFit
    from humeval_power.studies.fit.many_systems import SystemsAnalysis
    from humeval_power.studies.power.workload import Ahead
    from humeval_power.sweep.executors import AnyExecutor


@on_executor
def analyze(
    ratings: Ratings,
    *,
    plan: Plan | None = None,
    rule: DecisionRule | None = None,
    family: ComparisonFamily | None = None,
    effect: float | None = None,
    looks: LooksTaken | None = None,
    correlated: Sequence[CorrelatedFactor] = (),
    exclusion: WorkerExclusion | None = None,
    pool: ItemPool | None = None,
    estimand: Estimand | None = None,
    plan_source: Mapping[str, object] | None = None,
    diagnostics: bool = True,
    check_families: bool = False,
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
    ahead: Ahead | None = None,
) -> AnalysisResult:
    """Decide a finished study, and say what differs from its plan.

    Parameters
    ----------
    ratings : of two systems or more; for a planned study on the plan's scale and with its systems.
    plan : the plan to hold the study against.
    rule : the test; None takes the plan's. Another one than the plan's is a deviation.
    family : of several systems, which comparisons are made, by which model and correction; None takes the plan's,
        else all pairs with Holm's correction. Of two systems it says by its baseline which is subtracted. With the
        joint model the other kind of variances is shown as a check.
    effect : of two systems, the smallest difference B - A on [0, 1] that would matter, above 0. [the plan's]
    looks : those of a plan that has looks, when the study has ended: their boundaries decide.
    correlated : of two systems, 'worker', 'item' or both, whose intercepts and slopes may correlate.
    exclusion : the workers whom rules leave out (`exclude_workers`); a plan that seals rules needs it. The result
        is that of the others, and shows that of all beside it.
    pool : the items that these were drawn from, as `items.read_pool` reads it: its strata, probabilities and scores
        are taken into account, and the result says what it is about.
    estimand : with a pool, whether the result is about it ('pool', as is usual) or about items like these
        ('population').
    plan_source : the file and checksum of the plan, for the record.
    diagnostics : whether to predict workers and items, and to leave out each of the busiest workers.
    check_families : of two systems, as of `fit`.
    n_simulations, n_jobs, executor : of the simulated size of the test of two systems, which is looked at with few
        workers.
    seed : of these, and of the simulated chances of ranks of several systems.
    ahead : is told of these simulations before they begin; raises to refuse them.

    Returns
    -------
    AnalysisResult
        Its `decision` in words; `to_frame` has a row for each comparison, on [0, 1]; deviations; agreement. Of
        several systems `findings` have a row for each: mean, interval, group, rank and the chance of being best, in
        points of the scale.

    Raises
    ------
    InputError
        A rule whose reference distribution is simulated, a plan with looks without those taken, or one with
        documents for ratings without them; what decides two systems asked of several; one system, or none of the
        baseline's name.
    FitError
        Ratings that determine nothing.
    """
    from humeval_power.saying.result import Provenance
    from humeval_power.studies.analyze.family import deviations, estimand_deviations, family_deviations
    from humeval_power.studies.analyze.result import AnalysisResult, comparison_rows
    from humeval_power.studies.analyze.result_conditions import WithAndWithout, exclusion_deviations
    from humeval_power.studies.fit.joint_comparison import check_other_model, compare_jointly, family_error
    from humeval_power.studies.fit.many_systems import compare_in_pairs
    from humeval_power.studies.fit.over_pool import analyse_over_pool, of_pool
    from humeval_power.studies.fit.ranks import SimulatedRanks, simulate_ranks
    from humeval_power.studies.monitor.followed import check_pool_at_looks, decided_by_looks

    if ratings.n_systems == 2 and family is not None and (plan is None or plan.many is None):
        ratings, family = ratings.pair(*family.pairs(ratings.system_names)[0]), None
    rule = rule or (DEFAULT_RULE if plan is None else plan.rule)
    if rule.is_simulated:
        raise InputError(f"For --df {rule.df} use 'fit': its reference distribution is simulated there.")
    if ratings.n_systems > 2 and family is None:
        family = (None if plan is None else plan.family) or DEFAULT_FAMILY
    if family is not None:
        given = {"effect": effect, "correlated": correlated, "check_families": check_families}
        if only_pairs := [name for name, value in given.items() if value not in (None, (), [], False)]:
            raise InputError(
                f"{', '.join(only_pairs)}: for two systems; {ratings.source} has {ratings.n_systems}. Choose two "
                "with ratings.pair(A, B)."
            )
    if ratings.n_systems < 2:
        raise InputError(f"{ratings.source} has one system; at least two are needed.")
    is_joint = family is not None and family.model == "joint"
    if is_joint and (ratings.document is not None or ratings.covariates):
        raise InputError(
            "The joint model of several systems has no documents and no covariates: compare in pairs (--model "
            "pairwise), each of which has them, or leave the columns out."
        )
    if plan is not None and plan.looks is not None and looks is None:
        raise InputError("The plan has looks: its result takes those that were taken into account.")
    if plan is not None:
        plan.check_documents(ratings)
    if plan is not None and pool is not None and not pool.by_hand:
        estimand = estimand or plan.estimand
    if pool is not None:
        beside = {
            "Correlated intercepts and slopes are not offered with a pool: what having rated items takes off its "
            "variance was worked out for independent ones.": bool(correlated),
            "The joint model of several systems is not offered with a pool: strata and the metric explain another "
            "part of each two systems' items, and it takes these as alike; take --model pairwise.": is_joint,
        }
        refuse([Problem(rule, "Or leave out the pool.") for rule, is_so in beside.items() if is_so])
        if looks is not None and plan is not None:
            check_pool_at_looks(plan, pool)
            if (estimand or DEFAULT_ESTIMAND) != (plan.estimand or DEFAULT_ESTIMAND):
                raise InputError(
                    "The looks are about what the plan says (estimand), and so is the result: leave out --estimand."
                )
        ratings = of_pool(ratings, pool, rule)
    elif estimand is not None:
        raise InputError(
            "An estimand is named of a pool of items: give --pool, the file that they were drawn into."
        )
    if exclusion is not None:  # it knows whether its rules are those of the plan
        by_plan = plan is not None and plan.exclusion_rules == exclusion.rules
        exclusion = replace(exclusion, sealed=by_plan)
    elif plan is not None and plan.exclusion_rules:
        rules = f"The plan leaves out workers by its rules {plan.exclusion_rules}"
        raise InputError(f"{rules}: give what they do to these workers.")
    whole = ratings
    ratings = whole if exclusion is None else exclusion.remaining(whole)

    def compared(these: Ratings, *, check: bool) -> SystemsAnalysis:
        if family is None:
            return _of_two(these, rule, correlated)
        if family.model == "pairwise":
            dropped = plan is not None and plan.drops_systems
            return compare_in_pairs(these, rule=rule, family=family, common_workers=dropped)
        return compare_jointly(these, rule=rule, family=family, check=check)

    analysis, over_pool = compared(ratings, check=looks is None), None
    if pool is not None:
        dropped = plan is not None and plan.drops_systems
        analysis, over_pool = analyse_over_pool(ratings, analysis, pool, estimand, common_workers=dropped)
    changed = None
    if exclusion is not None:
        everybody = analysis if ratings is whole else compared(whole, check=False)
        if pool is not None and ratings is not whole:
            everybody, _ = analyse_over_pool(whole, everybody, pool, estimand)
        changed = WithAndWithout(
            exclusion,
            (ratings.n_workers, whole.n_workers),
            (ratings.n_ratings, whole.n_ratings),
            comparison_rows(whole.criterion, everybody),
        )
    departures = None
    if plan is not None:
        departures = (
            *deviations(plan, whole, rule, looks=looks),
            *exclusion_deviations(exclusion, str(plan.exclusion_rules)),
            *(() if family is None else family_deviations(plan, family)),
            *estimand_deviations(plan, None if over_pool is None else over_pool.scope),
            *(() if looks is None else looks.departures),
        )
    result = AnalysisResult(
        ratings=ratings,
        analysis=analysis,
        agreement=_agreement(ratings, analysis if family is None else None),
        deviations=departures,
        looks=looks,
        plan=None if plan_source is None else dict(plan_source),
        exclusion=changed,
        over_pool=over_pool,
    )
    if family is None:
        interest = _interest(effect, plan, result)
        detail = _detail(result, interest, check_families, n_simulations, seed, n_jobs, ahead)
        return replace(
            result,
            detail=detail,
            diagnostics=_diagnostics(result) if diagnostics else None,
            provenance=Provenance(seed=None if detail.size is None else seed),
        )
    if looks is not None and plan is not None:
        analysis = decided_by_looks(analysis, looks.of_several, plan, ratings)
    elif pool is None:  # the other model would be of the rated items
        analysis = replace(analysis, other_model=check_other_model(ratings, analysis, rule))
    if analysis.joint is not None and family.correction == "max-t":
        pairs = [(one.first, one.second) for one in analysis.results]
        erring = family_error(ratings, analysis.joint, pairs, rule, seed=seed)
        analysis = replace(analysis, family_error=erring)
    return replace(
        result,
        analysis=analysis,
        ranks=SimulatedRanks(reason=NO_RANKS)
        if plan is not None and plan.drops_systems
        else simulate_ranks(analysis, seed=seed),
        diagnostics=_joint_diagnostics(ratings, analysis.joint) if diagnostics else None,
        provenance=Provenance(seed=seed),
    )


NO_RANKS = "systems were dropped at looks of their own, so that no ranking is fair to all of them"


def _of_two(
    ratings: Ratings, rule: DecisionRule, correlated: Sequence[CorrelatedFactor]
) -> SystemsAnalysis:
    """The one comparison of two systems, by a fit of its own."""
    from humeval_power.estimation.crossed.problem import few_fits
    from humeval_power.rules import FamilyOfTests
    from humeval_power.studies.fit.many_systems import SystemsAnalysis, SystemsComparison, fit_and_test

    a, b = ratings.system_names
    with few_fits():
        fitted, tested = fit_and_test(ratings, rule, correlated=correlated)
    comparison = SystemsComparison(a, b, fitted, tested, tested.p_value)
    return SystemsAnalysis((comparison,), (), FamilyOfTests(ComparisonFamily(correction="none"), 1))


def _detail(
    result: AnalysisResult,
    interest: PowerAtInterest | None,
    check_families: bool,
    n_simulations: int,
    seed: int,
    n_jobs: int,
    ahead: Ahead | None,
) -> PairDetail:
    """What is known of two systems beside their test."""
    from humeval_power.estimation.crossed.problem import few_fits
    from humeval_power.studies.analyze.result import PairDetail
    from humeval_power.studies.fit.many_systems import asymptotic_intervals
    from humeval_power.studies.fit.wald import adjustment
    from humeval_power.studies.power.calibration import size_of_test
    from humeval_power.studies.power.formula import T_LAW_WORKERS

    ratings, fitted, tested = result.ratings, result.fitted, result.tested
    rule, size = tested.rule, None
    with few_fits():
        adjusted = adjustment(fitted, ratings, rule)
    if fitted.n_workers < T_LAW_WORKERS and not (tested.reason or rule.is_latent or result.over_pool):
        if ahead is not None:
            ahead(studies_like(fitted, ratings, rule, True, n_simulations, n_jobs))
        simulation = {"n_simulations": n_simulations, "seed": seed, "n_jobs": n_jobs}
        size = size_of_test(fitted.parameters, ratings.design(), rule=rule, **simulation)
    return PairDetail(
        asymptotic_intervals(fitted, ratings),
        size,
        interest,
        adjusted,
        family_check(ratings, tested) if check_families else None,
    )


def _joint_diagnostics(ratings: Ratings, fitted: JointFit | None) -> JointDiagnostics | None:
    """By the fit of all systems, or where each pair has its own by one of ratings as numbers with common variances;
    None where there is no such fit."""
    from humeval_power.estimation.joint.fit import fit_joint
    from humeval_power.saying.progress import progress
    from humeval_power.studies.analyze.diagnostics import MOST_REFITS, diagnose_jointly

    if ratings.document is not None or ratings.covariates:
        return None
    try:
        fitted = fitted or fit_joint(ratings, names=ratings.system_names)
        with progress("Leaving workers out", total=min(ratings.n_workers, MOST_REFITS)) as advance:
            return diagnose_jointly(ratings, fitted, advance=advance)
    except (FitError, InputError):
        return None


def analyze_criteria(
    by_name: Mapping[str, Ratings],
    each: Callable[[Ratings], AnalysisResult] | None = None,
    *,
    family: ComparisonFamily | None = None,
    plan: Plan | None = None,
    exclusion: WorkerExclusion | None = None,
) -> CriteriaResult:
    """Analyse several criteria one by one, and correct over all their comparisons as one family of tests.

    Parameters
    ----------
    by_name : the ratings of each criterion.
    each : how one criterion is analysed, such as `analyze` with options; None takes it by the family.
    family : the correction, and whether it covers the tests of all criteria or those of each; the same that
        `each` compares several systems by. None takes the plan's, or the usual one.
    plan : of several criteria, to hold these against; where `each` is given that holds the rest.
    exclusion : as of `analyze`, by the answers on all criteria; where `each` is given that applies it.

    Returns
    -------
    CriteriaResult
        The `results` by criterion, whose corrected p-values are those of the whole family; `to_frame` has a row
        for each comparison.

    Raises
    ------
    InputError
        max-t over several criteria, whose correlation is not known; a criterion that was analysed by another
        family, or decided by looks.
    FitError
        Ratings of a criterion, which is named, that determine nothing.
    """
    from humeval_power.saying.result import Provenance
    from humeval_power.studies.analyze.result_criteria import CriteriaResult

    family = family or (None if plan is None else plan.family) or DEFAULT_FAMILY
    if family.correction == "max-t" and family.over == "all" and len(by_name) > 1:
        raise InputError(MAX_T_OVER_CRITERIA)
    results: dict[str, AnalysisResult] = {}
    for name, ratings in by_name.items():
        try:
            if each is not None:
                results[name] = each(ratings)
            else:
                of_systems = family if ratings.n_systems > 2 else None
                results[name] = analyze(ratings, plan=plan, family=of_systems, exclusion=exclusion)
        except FitError as error:
            raise FitError(f"Criterion {name!r}: {error}") from error
        results[name].check_family(family)
    seeds = [one.provenance.seed for one in results.values() if one.provenance.seed is not None]
    drawn = Provenance(seed=seeds[0] if seeds else None)
    if family.over == "all":
        results = _corrected_over_all(results, family)
    departures = None
    if plan is not None:
        from humeval_power.studies.analyze.family import criteria_deviations, family_deviations

        departures = (*criteria_deviations(plan, tuple(by_name)), *family_deviations(plan, family))
    return CriteriaResult(results=results, family=family, deviations=departures, provenance=drawn)


def _corrected_over_all(
    results: Mapping[str, AnalysisResult], family: ComparisonFamily
) -> dict[str, AnalysisResult]:
    """The results with p-values that are corrected over the comparisons of all criteria.

    So are those of the checks by the other variances and the other model, where a criterion without one counts with
    its own.
    """
    from humeval_power.inference.corrections import correct
    from humeval_power.rules import FamilyOfTests
    from humeval_power.studies.fit.many_systems import CorrectedP

    def corrected(by: Literal["", "check", "other_model"]) -> Iterator[float]:
        raw = [p for result in results.values() for p in result.p_values(by)]
        return iter(correct(raw, family.correction).tolist())

    p_values = corrected(""), corrected("check"), corrected("other_model")
    n_tests = [len(result.p_values()) for result in results.values()]
    tests = FamilyOfTests(family, sum(n_tests), tuple(results))
    return {
        name: result.recorrected(tests, CorrectedP(*(list(islice(p, n)) for p in p_values)))
        for (name, result), n in zip(results.items(), n_tests, strict=True)
    }


def _interest(effect: float | None, plan: Plan | None, result: AnalysisResult) -> PowerAtInterest | None:
    from humeval_power.studies.analyze.family import power_at_interest
    from humeval_power.studies.power.formula import EffectPrecision

    ratings, fitted, tested = result.ratings, result.fitted, result.tested
    wanted = plan.effect if effect is None and plan is not None else effect
    if wanted is None or tested.reason:
        return None
    smallest = min(fitted.n_workers, fitted.n_items) - 1
    # the df with which the standard error is known, also where the rule refers to the normal
    dfs = (tested.df, fitted.df_kenward_roger, fitted.df_satterthwaite)
    df = next(filter(math.isfinite, dfs), fitted.df_satterthwaite)
    known = EffectPrecision(tested.standard_error**2, df, smallest, fitted.n_workers)
    return power_at_interest(
        wanted, fitted.parameters, known, ratings.design(), rule=tested.rule, plan=plan
    )


def _agreement(ratings: Ratings, of_two: SystemsAnalysis | None) -> dict[str, object]:
    """That of workers; the intraclass correlations are those of a fit of two systems."""
    from humeval_power.comparisons.agreement.agreement import (
        agreement,
        leading_level,
        repeatability,
        shared_ratings,
    )
    from humeval_power.comparisons.agreement.reliability import intraclass_correlations
    from humeval_power.comparisons.agreement.result_report import agreement_record

    correlations: tuple[IntraclassCorrelation, ...] = ()
    if of_two is not None:
        fitted = cast("AnyFit", of_two.results[0].fit)
        per_output = ratings.design().ratings_per_item
        correlations = intraclass_correlations(fitted, ratings_per_output=per_output)
    level = leading_level(shared_ratings(ratings))
    return agreement_record(agreement(ratings), repeatability(ratings), correlations, level=level)


def _diagnostics(result: AnalysisResult) -> Diagnostics | None:
    """Those of the linear model, also where the test is of categories: predictions and refits are on [0, 1]."""
    from humeval_power.estimation.fitting import fit
    from humeval_power.estimation.latent.fit import LatentFit
    from humeval_power.saying.progress import progress
    from humeval_power.studies.analyze.diagnostics import diagnose, most_left_out

    ratings, fitted, tested = result.ratings, result.fitted, result.tested
    if tested.reason or fitted.correlations:  # predictions are those of uncorrelated effects
        return None
    linear = fit(ratings, estimator=fitted.estimator) if isinstance(fitted, LatentFit) else fitted
    rule = replace(tested.rule, family="gaussian")
    most = most_left_out(ratings, replace(rule, analysis="ratings"), linear)
    with progress("Leaving workers out", total=most) as advance:
        return diagnose(linear, ratings, rule, advance=advance)


# The ledger of a finished study with looks, held against the ratings that are analysed.


def looks_of_study(
    plan: Plan,
    plan_path: str,
    ledger: str | None,
    ratings: Ratings,
    *,
    secret: str | None = None,
    exclusion: WorkerExclusion | None = None,
    pool: ItemPool | None = None,
) -> LooksTaken:
    """Read the ledger of a study with looks, and check that these are the ratings of its last look.

    ratings : all of them; looks see also those of workers whom the `exclusion` leaves out of their tests.
    pool : that the rated items were drawn from, with which the looks were taken.

    Raises InputError: another pool, no looks, a study that has not ended, or ratings that its last look did
    not see.
    """
    from humeval_power.studies.plan.files import read_plan_file

    path = ledger_path(plan_path, ledger)
    checksum = read_plan_file(plan_path).checksum
    entries, secret_file = read_ledger(path), secret_path(path, secret)
    if plan.many is not None:
        ratings = as_planned(ratings, plan)
    state = state_of(entries, monitoring_of(plan), checksum, place=path, by=ratings.scale)
    check_same_pool(state, pool, path)
    taken = LooksTaken(state=state.monitoring, ledger=path)
    key, unchecked = secret_of_rows(state, entries, path, secret_file), [*state.changes]
    if key is not None:
        same = dict(row_digests(ratings, plan.systems, key)) == state.rows
    else:  # by sums, which is said
        last = state.monitoring.last.data
        tested = ratings if exclusion is None else exclusion.remaining(ratings)
        same = same_sums(data_of(tested, plan, final=last.final, pool=pool), last)
        said = (
            f"{secret_file} is missing: only counts, estimate and SE were compared with the last look's, and the "
            f"lines of {path} could have been sealed anew"
        )
        unchecked.append(("ratings", "each as the last look saw it", said))
    if not same:
        rule = "these are not the ratings that the last look saw."
        raise refusal(rule, f"Analyse those; {path} tells.", ratings.source)
    return replace(taken, unchecked=tuple(Deviation(*one) for one in unchecked))
