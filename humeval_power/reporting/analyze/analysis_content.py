"""What is kept of the analysis of a finished study, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from humeval_power.inference.study.wald import standardised_effect
from humeval_power.reporting.analyze.family import family_record
from humeval_power.reporting.records import Record
from humeval_power.reporting.row_flow import flow_record
from humeval_power.reporting.study.fits.fit_content import fit_content

if TYPE_CHECKING:  # documents know the schemas, and need nothing else
    from humeval_power.comparisons import FamilyOfTests
    from humeval_power.estimation.fit import Fit
    from humeval_power.estimation.joint.fit import JointFit
    from humeval_power.estimation.latent.fit import LatentFit
    from humeval_power.inference.looks.stagewise import StagewiseResult
    from humeval_power.inference.study.adjustment import Adjustment
    from humeval_power.inference.study.family_check import FamilyCheck
    from humeval_power.inference.study.many_systems import (
        ModelCheck,
        PairResult,
        SystemsAnalysis,
        VariancesCheck,
    )
    from humeval_power.inference.study.wald import EffectTest
    from humeval_power.planning.analyze import Deviation, LooksTaken, PowerAtInterest
    from humeval_power.planning.power import PowerEstimate
    from humeval_power.ratings import Ratings


def analysis_content(
    ratings: Ratings,
    fit: Fit | LatentFit,
    test: EffectTest,
    *,
    size: PowerEstimate | None = None,
    check: FamilyCheck | None = None,
    interest: PowerAtInterest | None = None,
    deviations: Sequence[Deviation] | None = None,
    agreement: Mapping[str, object] | None = None,
    plan: Mapping[str, object] | None = None,
    sequential: Mapping[str, object] | None = None,
    adjustment: Adjustment | None = None,
    corrected_p: float | None = None,
    tests: FamilyOfTests | None = None,
) -> Record:
    """Everything that is kept of a fit, and what only a finished study has.

    deviations : from the plan, None without one; plan : its file and checksum; sequential : the looks and
        what they make of the result, None for a study with one test; adjustment : what documents and
    covariates change; corrected_p : the p-value after the correction of a family of `tests`, which then
        decides; None where there is one test.
    """
    record = fit_content(ratings, fit, test, size=size, check=check, adjustment=adjustment)
    record["standardised"] = asdict(standardised_effect(fit.parameters)) if fit.converged else None
    record["power_at_interest"] = None if interest is None else asdict(interest)
    record["plan"] = None if plan is None else dict(plan)
    record["deviations"] = None if deviations is None else [asdict(one) for one in deviations]
    record["agreement"] = None if agreement is None else dict(agreement)
    record["sequential"] = None if sequential is None else dict(sequential)
    if sequential is not None and not test.reason:  # the boundary decides, not alpha
        effect = record["effect"]
        assert isinstance(effect, dict)
        record["effect"] = {**effect, "significant": sequential["significant"]}
    if corrected_p is not None and tests is not None:
        effect = record["effect"]
        assert isinstance(effect, dict)
        decided = None if test.reason else corrected_p <= test.rule.alpha
        record["effect"] = {**effect, "corrected_p_value": corrected_p, "significant": decided}
        record["family_of_tests"] = family_record(tests)
    return record


def looks_content(looks: LooksTaken, inference: StagewiseResult) -> Record:
    """The looks of a study, and the inference that takes them into account."""
    state = looks.state
    return {
        "ledger": Path(looks.ledger).name,
        "rule": str(state.rule),
        "by": state.unit,
        "decision": state.looks[-1].decision,
        "significant": looks.shown,
        "inference": asdict(inference),
        "looks": [asdict(look) for look in state.looks],
    }


def comparison_content(
    ratings: Ratings,
    results: Sequence[PairResult],
    *,
    means: Mapping[str, float],
    groups: Sequence[Sequence[str]],
    tests: FamilyOfTests,
) -> Record:
    """Comparisons of several systems; the p-value of each, and that after the correction of the whole family."""
    return {
        "systems": list(ratings.system_names),
        "criterion_name": ratings.criterion,
        "means": dict(means),
        "family_of_tests": family_record(tests),
        "fits": "one for each pair of systems",
        **_adjusted(ratings),
        "pairs": [
            {
                "first": result.first,
                "second": result.second,
                "estimate": result.test.estimate,
                "standard_error": result.test.standard_error,
                "df": result.test.df,
                "p_value": result.test.p_value,
                "corrected_p_value": result.corrected_p,
                "significant": None if result.test.reason else result.significant,
                "reason": result.test.reason or None,
                "interval": list(result.test.interval),
                "boundary": list(result.fit.boundary),
                "not_identified": list(result.fit.not_identified),
                "converged": result.fit.converged,
                "parameters": _pair_parameters(result.fit),
                "simultaneous_interval": _ends(result.simultaneous_interval),
            }
            for result in results
        ],
        "groups": [list(group) for group in groups],
        "rule": asdict(results[0].test.rule),
        "data": {"source": ratings.source},
    }


def _pair_parameters(fit: Fit | LatentFit | JointFit) -> Record | None:
    """Those of the pair's own fit; null for a fit of all systems, which stands in the record once."""
    from humeval_power.estimation.joint.fit import JointFit

    return None if isinstance(fit, JointFit) else dict(fit.parameters.as_dict())


def _adjusted(ratings: Ratings) -> Record:
    """What else is in each fit; nothing for workers and items alone."""
    if not (ratings.n_documents or ratings.covariates):
        return {}
    names = [one.name for one in ratings.covariates]
    return {"adjusted_for": {"n_documents": ratings.n_documents, "covariates": names}}


def systems_content(
    ratings: Ratings, analysis: SystemsAnalysis, *, agreement: Mapping[str, object] | None = None
) -> Record:
    """`comparison_content` with the model, the counts and the scale of the ratings, the means, SDs and common df of
    a joint fit (else null), the comparisons with the other kind of variances, and the agreement of workers."""
    record = comparison_content(
        ratings,
        analysis.results,
        means={one.system: one.mean for one in analysis.means},
        groups=analysis.groups,
        tests=analysis.tests,
    )
    joint = analysis.joint
    if joint is not None:
        record["fits"] = "one for all systems"
    record["max_t_df"] = analysis.common_df
    ratings_of = np.bincount(ratings.system, minlength=ratings.n_systems).tolist()
    record["system_means"] = [
        {**asdict(one), "n_ratings": n} for one, n in zip(analysis.means, ratings_of, strict=True)
    ]
    record["joint_fit"] = None if joint is None else _joint(joint)
    record["variances_check"] = None if analysis.check is None else _check(analysis.check)
    other = analysis.other_model
    record["model_check"] = None if other is None else {"model": other.model, **_by_check(other)}
    erring = analysis.family_error
    if erring is not None and erring.n_simulations:
        record["family_error"] = asdict(erring)
    record["agreement"] = None if agreement is None else dict(agreement)
    return {**record, **_counts(ratings)}


def _counts(ratings: Ratings) -> Record:
    """How much was rated, on which scale, and which rows were left out; an output is an item under a system."""
    outputs = len(np.unique(ratings.item * np.int64(ratings.n_systems) + ratings.system))
    return {
        "n_ratings": ratings.n_ratings,
        "n_workers": ratings.n_workers,
        "n_items": ratings.n_items,
        "n_outputs": outputs,
        "ratings_per_item": ratings.n_ratings / outputs,
        "scale": asdict(ratings.scale),
        **flow_record(ratings),
        "notices": list(ratings.notices),
    }


def _check(check: VariancesCheck) -> Record:
    return {
        "variances": check.variances,
        "likelihood_ratio": check.statistic,
        "df": check.df,
        "p_value_asymptotic": check.p_value,
        **_by_check(check),
        "joint_fit": None if check.fit is None else _joint(check.fit),
    }


def _by_check(check: VariancesCheck | ModelCheck) -> Record:
    """The comparisons of a check, and which of them come out otherwise."""
    return {
        "reason": check.reason or None,
        "decided_otherwise": [list(pair) for pair in check.parted],
        "pairs": [
            {
                "first": one.first,
                "second": one.second,
                "estimate": one.test.estimate,
                "standard_error": one.test.standard_error,
                "df": one.test.df,
                "p_value": one.test.p_value,
                "corrected_p_value": one.corrected_p,
                "significant": None if one.test.reason else one.significant,
            }
            for one in check.results
        ],
    }


def _joint(joint: JointFit) -> Record:
    return {
        "variances": joint.variances,
        "standard_deviations": dict(joint.standard_deviations),
        "criterion": joint.criterion,
        "boundary": list(joint.boundary),
        "not_identified": list(joint.not_identified),
        "converged": joint.converged,
        "n_optima": joint.n_optima,
        "closed_form": joint.closed_form,
        "n_ratings": joint.n_ratings,
        "n_workers": joint.n_workers,
        "n_items": joint.n_items,
    }


def _ends(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else list(interval)
