"""The rating study: see what is in its ratings, and fit them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from humeval_power.choices import DEFAULT_SEED, DEFAULT_SIMULATIONS
from humeval_power.errors import InputError, Problem, refuse
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.sweep.executors import on_executor

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from humeval_power.checking.suspects import Suspect
    from humeval_power.choices import Engine
    from humeval_power.estimation.fit import CorrelatedFactor, Fit
    from humeval_power.estimation.latent.fit import LatentFit
    from humeval_power.parameters import Parameters
    from humeval_power.ratings import Ratings
    from humeval_power.studies.fit.check import CheckResult, Unmodelled
    from humeval_power.studies.fit.fit_result import FitResult
    from humeval_power.studies.fit.intervals import IntervalMethod
    from humeval_power.studies.fit.wald import EffectTest, FamilyCheck
    from humeval_power.studies.power.workload import Ahead, Workload
    from humeval_power.sweep.executors import AnyExecutor


_MOST_TESTED = 100_000  # ratings up to which the term of worker and item is tested unasked


@on_executor
def fit(
    ratings: Ratings,
    *,
    rule: DecisionRule = DEFAULT_RULE,
    engine: Engine = "native",
    worker_item: bool = False,
    correlated: Sequence[CorrelatedFactor] = (),
    intervals: IntervalMethod = "asymptotic",
    assumed: Parameters | None = None,
    n_simulations: int | None = None,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
    strict: bool = False,
    check_families: bool = False,
    diagnostics: bool | None = None,
    ahead: Ahead | None = None,
) -> FitResult:
    """Fit the mixed model to the ratings of two systems, and test their difference.

    The model is rating = b0 + W0 + I0 + (b1 + W1 + I1) x + e on [0, 1], x = -1/2 for system A, +1/2 for B. What
    the ratings carry of documents and covariates is in it too.

    Parameters
    ----------
    ratings : of two systems; the effect is B - A.
    rule : how the difference is tested; its estimator fits the model, and its family says whether ratings
        are numbers or categories: then thresholds, effect and SDs are fitted on a latent scale.
    engine : 'lme4' and 'statsmodels' are slow references.
    worker_item : also estimate what a worker and an item share under both systems.
    correlated : 'worker', 'item' or both, whose intercepts and slopes may then correlate.
    intervals : how the parameters' 95 % intervals are found; 'profile' and 'bootstrap' take longer.
    assumed : parameters under which a rule with df 'calibrated' simulates.
    n_simulations : studies for a rule that simulates, bootstrap intervals and the size of a test of few
        workers; None for the usual number.
    strict : whether a fit that does not converge misses its target.
    check_families : whether ratings on few points, analysed as numbers, are also tested as categories, as a check.
    diagnostics : whether the term of worker and item that the model leaves out is tested; None where
        there are no more than 100,000 ratings.
    ahead : is told of the simulations before they begin, where they may take long; raises to refuse them.

    Returns
    -------
    FitResult
        `fitted` is the `Fit` (a `LatentFit` of categories), `parameters` are its seven, `test` that of the
        effect, `ratings` what was fitted; `to_frame` has a row for each parameter. Everything on [0, 1].

    Raises
    ------
    InputError
        A rule or intervals that an engine or family does not offer, a calibrated rule without assumed
        parameters, ratings that are not of the rule's family.
    FitError
        A table to which the model cannot be fitted.
    """
    from humeval_power.comparisons.agreement.leading import LeadingAlphas
    from humeval_power.estimation.crossed.interaction_score import interaction_test
    from humeval_power.estimation.crossed.problem import CrossedProblem, few_fits
    from humeval_power.estimation.fitting import check_table
    from humeval_power.estimation.fitting import fit as fitted_to
    from humeval_power.saying.result import Provenance
    from humeval_power.studies.fit.fit_result import FitResult, family_remarks
    from humeval_power.studies.fit.intervals import parameter_intervals
    from humeval_power.studies.fit.wald import adjustment, check_engine_df
    from humeval_power.studies.power.calibration import size_of_test
    from humeval_power.studies.power.formula import T_LAW_WORKERS

    if rule.is_latent:
        _refuse_for_categories(rule, engine, worker_item, intervals)
        runs = {"n_simulations": n_simulations, "seed": seed, "n_jobs": n_jobs} if n_simulations else None
        return _fit_of_categories(ratings, rule, correlated, strict, runs)
    check_engine_df(engine, rule, n_ratings=len(ratings.rating))
    asks_interaction = not worker_item and rule.analysis == "ratings"
    is_tested = diagnostics if diagnostics is not None else len(ratings.rating) <= _MOST_TESTED
    problem = None
    if asks_interaction and is_tested:
        check_table(ratings)
        problem = CrossedProblem.of_ratings(ratings)  # for the test and the fits
    with few_fits():
        fitted = fitted_to(
            ratings,
            estimator=rule.estimator,
            engine=engine,
            worker_item=worker_item,
            correlated=correlated,
            problem=problem,
        )
        adjusted = adjustment(fitted, ratings, rule)
        plain = fitted_to(ratings, estimator=rule.estimator, problem=problem) if correlated else fitted
    remarks = [f"{ratings.source}: {notice}" for notice in ratings.notices]
    n_studies = n_simulations or DEFAULT_SIMULATIONS
    runs = {"n_simulations": n_studies, "seed": seed, "n_jobs": n_jobs}
    few = fitted.n_workers < T_LAW_WORKERS and not rule.is_simulated
    if ahead is not None and (n_simulations or rule.is_simulated or intervals == "bootstrap" or few):
        closed = few and intervals != "bootstrap"
        ahead(studies_like(fitted, ratings, rule, closed, n_studies, n_jobs))
    tested = _tested(fitted, ratings, rule, assumed, runs)
    size = None
    if few and not tested.reason:
        size = size_of_test(fitted.parameters, ratings.design(), rule=rule, **runs)
    ranges = None
    if fitted.converged:
        ranges = parameter_intervals(fitted, ratings, method=intervals, **runs)
    shared = None if problem is None else interaction_test(ratings, plain, problem=problem)
    check = family_check(ratings, tested) if check_families else None
    if check is not None:
        remarks += family_remarks(ratings, tested, check)
    drawn = rule.is_simulated or size is not None or (ranges is not None and intervals == "bootstrap")
    return FitResult(
        ratings=ratings,
        fitted=fitted,
        test=tested,
        agreement=LeadingAlphas(ratings),
        intervals=ranges,
        interval_method=intervals,
        size=size,
        interaction=shared,
        interaction_left_out=asks_interaction and not is_tested,
        adjustment=adjusted,
        strict=strict,
        check=check,
        remarks=tuple(remarks),
        provenance=Provenance(seed=seed if drawn else None),
    )


def family_check(ratings: Ratings, tested: EffectTest) -> FamilyCheck | None:
    """The check of ratings on few points that were analysed as numbers; None of others."""
    from humeval_power.studies.fit.wald import check_family, has_few_points

    if tested.rule.is_latent or not has_few_points(ratings):
        return None
    return check_family(ratings, tested.rule)


def _fit_of_categories(
    ratings: Ratings,
    rule: DecisionRule,
    correlated: Sequence[CorrelatedFactor],
    strict: bool,
    runs: dict[str, Any] | None,
) -> FitResult:
    """A fit of categories; the size of its test with few workers is simulated where `runs` says how often."""
    from humeval_power.comparisons.agreement.leading import LeadingAlphas
    from humeval_power.saying.result import Provenance
    from humeval_power.studies.fit.fit_result import FitResult
    from humeval_power.studies.fit.many_systems import asymptotic_intervals, fit_and_test
    from humeval_power.studies.power.calibration import size_of_test
    from humeval_power.studies.power.formula import T_LAW_WORKERS

    fitted, tested = fit_and_test(ratings, rule, correlated=correlated)
    size = None
    if runs is not None and fitted.n_workers < T_LAW_WORKERS and not tested.reason:
        size = size_of_test(fitted.parameters, ratings.design(), rule=rule, **runs)
    return FitResult(
        ratings=ratings,
        fitted=fitted,
        test=tested,
        agreement=LeadingAlphas(ratings),
        intervals=asymptotic_intervals(fitted, ratings) or None,
        size=size,
        strict=strict,
        provenance=Provenance(seed=None if size is None or runs is None else runs["seed"]),
        remarks=tuple(f"{ratings.source}: {notice}" for notice in ratings.notices),
    )


def _refuse_for_categories(
    rule: DecisionRule, engine: Engine, worker_item: bool, intervals: IntervalMethod
) -> None:
    """Refuse what only the linear model has, before anything is fitted."""
    family, problems = f"The family '{rule.family}'", []
    if engine != "native":
        problems.append((" is fitted by the native engine alone.", f"Leave out the engine '{engine}'."))
    if worker_item:
        remedy = "Leave it out, or take the family 'gaussian'."
        problems.append((" has no term of what a worker and an item share.", remedy))
    if intervals != "asymptotic":
        rest = f" has asymptotic intervals of thresholds and SDs; got '{intervals}'."
        problems.append((rest, "The effect's own interval is that of its test."))
    refuse([Problem(family + rest, remedy) for rest, remedy in problems])


def _tested(
    fitted: Fit, ratings: Ratings, rule: DecisionRule, assumed: Parameters | None, runs: dict[str, Any]
) -> EffectTest:
    from humeval_power.estimation.crossed.problem import few_fits
    from humeval_power.studies.fit.wald import difference_test, effect_test
    from humeval_power.studies.power.replication import simulated_test

    if rule.is_simulated and fitted.covariates:
        raise InputError(
            f"Studies are simulated without covariates, so that df '{rule.df}' has no reference for a fit with "
            "them: leave the covariates out, or take kenward-roger df."
        )
    if rule.is_simulated:
        return simulated_test(fitted, ratings.design(), rule, assumed=assumed, **runs)
    if rule.analysis == "ratings":
        return effect_test(fitted, rule)
    with few_fits():
        return difference_test(ratings, rule)


def studies_like(
    fitted: Fit | LatentFit,
    ratings: Ratings,
    rule: DecisionRule,
    closed_form: bool,
    n_simulations: int,
    n_jobs: int,
) -> Workload:
    """The work of simulating studies like one that was fitted; `closed_form` where they may be drawn by
    their mean squares."""
    from humeval_power.studies.power.scenario import RatingStudy
    from humeval_power.studies.power.workload import rating_study_workload, study_workload

    design = ratings.design()
    if not closed_form:
        return study_workload(design, n_simulations=n_simulations, n_jobs=n_jobs)
    study = RatingStudy(fitted.parameters, design, rule=rule)
    return rating_study_workload(study, n_simulations=n_simulations, n_jobs=n_jobs)


def check(
    ratings: Ratings | Sequence[Ratings],
    *,
    table: pd.DataFrame | None = None,
    remarks: Sequence[str] = (),
) -> CheckResult:
    """Describe ratings before anything is fitted: rows, scale, design, systems, what is unusual, and what a
    model of workers and items alone would leave out.

    Parameters
    ----------
    ratings : as `ratings_from_table` reads them, of any number of systems; several for several criteria.
    table : the table that they were read from: its other columns may be documents, sessions, an order of
        showing or time. Without it only the names of the items are looked at.
    remarks : what else to tell, beside the result.

    Returns
    -------
    CheckResult
        Means are on the raw scale, shares between 0 and 1; `to_frame` has a row for each system.

    Raises
    ------
    InputError
        No ratings at all. What is wrong with a table is told when it is read.
    """
    from humeval_power.comparisons.agreement.leading import LeadingAlphas
    from humeval_power.ratings import Ratings
    from humeval_power.studies.fit.check import CheckResult

    checked = (ratings,) if isinstance(ratings, Ratings) else tuple(ratings)
    if not checked:
        raise InputError("There are no ratings to check.")
    unmodelled = tuple(_unmodelled(each, table) for each in checked)
    return CheckResult(
        checked=checked,
        agreement=tuple(map(LeadingAlphas, checked)),
        unmodelled=unmodelled,
        remarks=tuple(remarks),
    )


def _unmodelled(ratings: Ratings, table: pd.DataFrame | None) -> tuple[Unmodelled, ...]:
    """What the model would leave out, and what that would do."""
    import numpy as np

    from humeval_power.checking.rows import first_answers
    from humeval_power.checking.suspects import Suspect, documents_in_names, suspected_columns
    from humeval_power.studies.fit.check import Unmodelled, left_out

    unmodelled = []
    if table is not None and ratings.origin is not None:
        table = first_answers(table.set_axis([str(name).strip() for name in table.columns], axis=1))
        roles = ratings.origin.columns
        taken = [one.name for one in ratings.covariates]
        for suspect in suspected_columns(table, roles, taken=taken):
            if suspect.option == "--document" and ratings.document is not None:
                continue
            again = None if suspect.kind == "time" else _read_with(ratings, table, suspect)
            unmodelled.append(Unmodelled(suspect) if again is None else left_out(suspect, again))
    prefixes = documents_in_names(ratings.item_names)
    nested = ratings.document is not None or any(one.suspect.kind == "documents" for one in unmodelled)
    if prefixes is not None and not nested:
        names = tuple(dict.fromkeys(prefixes))
        of_item = [names.index(prefix) for prefix in prefixes]
        why = f"{ratings.n_items:,} items begin with one of {len(names):,} names, such as {names[0]!r}"
        suspect = Suspect("documents", None, why)
        document = np.array(of_item, dtype=np.int64)[ratings.item]
        grouped = replace(ratings, document=document, document_names=names)
        unmodelled.append(left_out(suspect, grouped))
    return tuple(unmodelled)


def _read_with(ratings: Ratings, table: pd.DataFrame, suspect: Suspect) -> Ratings | None:
    """The same ratings with the suspected column in their model; None where it cannot be read as that."""
    from humeval_power.ratings import ratings_from_table

    assert ratings.origin is not None
    assert suspect.column is not None
    of = ratings.origin.columns
    more: dict[str, Any] = {"covariates": (suspect.column,)}
    if suspect.option != "--covariate":
        more = {suspect.option[2:].replace("-", "_"): suspect.column}
    try:
        return ratings_from_table(
            table,
            worker=of["worker"],
            item=of["item"],
            system=of["system"],
            rating=of["rating"],
            criterion_column=of.get("criterion"),
            criterion=ratings.criterion,
            systems=(ratings.system_names[0], ratings.system_names[1]) if ratings.n_systems == 2 else None,
            scale=ratings.scale,
            missing=ratings.origin.missing,
            rejected_rows="drop" if ratings.origin.left_out else "keep",
            require_pair=False,
            source=ratings.source,
            **more,
        )
    except InputError:
        return None
