"""Estimates with a judge's help from finished data, and how good the judge is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from humeval_power.choices import DEFAULT_SEED
from humeval_power.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from humeval_power.clusters import Clusters
    from humeval_power.inference.judge.table import JudgedTable
    from humeval_power.reporting.judge.agreement import JudgeAgreement
    from humeval_power.reporting.judge.bias import JudgeBias
    from humeval_power.reporting.judge.estimate import JudgeEstimate
    from humeval_power.reporting.judge.systems import JudgeSystems
    from humeval_power.reporting.judge.workers import JudgeWorkers


def estimate(
    human: ArrayLike,
    judge: ArrayLike,
    extra: ArrayLike,
    *,
    clusters: Clusters | None = None,
    estimated: str = "Mean human value",
    confidence: float = 0.95,
    seed: int = DEFAULT_SEED,
    remarks: Sequence[str] = (),
) -> JudgeEstimate:
    """Estimate a mean, or a mean difference, with a judge's help.

    Parameters
    ----------
    human, judge : (n,), values of the items that humans rated, and the judge's scores of the same.
    extra : (N,), the judge's scores of further items.
    clusters : of the n + N items, rated ones first; None where items are independent.
    estimated : what the mean is of, in words.
    confidence : of the intervals.
    seed : of the assignment of items to folds.
    remarks : what was noticed in reading.

    Returns
    -------
    JudgeEstimate
        From humans alone, with the judge at weight 1 and at the estimated weight; `to_frame` has a row each.

    Raises
    ------
    InputError
        Fewer than 3 rated or 2 further items, values that are not finite, or human values all alike.
    """
    from humeval_power.inference.judge.means import judged_means
    from humeval_power.reporting.judge.estimate import JudgeEstimate
    from humeval_power.reporting.result import Provenance

    return JudgeEstimate(
        found=judged_means(human, judge, extra, clusters=clusters, confidence=confidence, seed=seed),
        estimated=estimated,
        cluster=None if clusters is None else clusters.name,
        remarks=tuple(remarks),
        provenance=Provenance(seed=seed),
    )


def estimate_table(
    table: JudgedTable,
    *,
    systems: Sequence[str] | None = None,
    baseline: str | None = None,
    own: Sequence[str] | None = None,
    confidence: float = 0.95,
    seed: int = DEFAULT_SEED,
) -> JudgeEstimate | JudgeWorkers | JudgeSystems:
    """Estimate a mean, a difference or those of all pairs of systems, with a judge's help.

    Where the table knows who rated, the human part is the rating model with the judge as a covariate of items,
    tested with Kenward and Roger's (1997) df; else the means of outputs are used as `estimate` does.

    Parameters
    ----------
    table : as `read_judged` gives it.
    systems : which to compare, two or more; None takes all of the table. The effect is the second minus the
        first.
    baseline : the system that the others are compared with; None compares all pairs.
    own : systems of the judge's own family: a bias towards them is looked for, and warned of by its name.
    confidence : of the intervals.
    seed : of the assignment of items, or of whole clusters, to folds.

    Returns
    -------
    JudgeEstimate, JudgeWorkers or JudgeSystems
        The second where the table knows who rated, the third for three systems or more.

    Raises
    ------
    InputError
        Systems that are not there, too few workers, rated or further items, or values all alike.
    FitError
        Ratings to which the model cannot be fitted.
    """
    from humeval_power.inference.judge.means import JudgedMeans
    from humeval_power.inference.judge.systems import judged_pair, judged_systems
    from humeval_power.reporting.judge.answers import judged_answers
    from humeval_power.reporting.judge.estimate import JudgeEstimate
    from humeval_power.reporting.judge.systems import JudgeSystems
    from humeval_power.reporting.judge.workers import JudgeWorkers
    from humeval_power.reporting.result import Provenance

    names = table.chosen(systems)
    warnings = () if own is None else _own_family_warning(table, own, confidence)
    came = Provenance(seed=seed)
    if len(names) > 2 or baseline is not None:
        family = judged_systems(table, names, baseline=baseline, confidence=confidence, seed=seed)
        answers = judged_answers(table, family.pairs[0].found)
        return JudgeSystems(
            found=family,
            answers=answers,
            cluster=table.cluster_name,
            warnings=warnings,
            remarks=table.remarks,
            provenance=came,
        )
    pair = (names[0], names[1]) if len(names) == 2 else None
    found = judged_pair(table, pair, confidence=confidence, seed=seed)
    told = (*table.remarks, *table.values(pair).notices)
    if isinstance(found, JudgedMeans):
        return JudgeEstimate(
            found=found,
            estimated=table.contrast(pair),
            answers=judged_answers(table, found),
            cluster=table.cluster_name,
            warnings=warnings,
            remarks=told,
            provenance=came,
        )
    return JudgeWorkers(
        found=found,
        estimated=table.contrast(pair),
        answers=judged_answers(table, found),
        cluster=table.cluster_name,
        warnings=warnings,
        remarks=told,
        provenance=came,
    )


def _own_family_warning(table: JudgedTable, own: Sequence[str], confidence: float) -> tuple[str, ...]:
    """The named warning, where the judge favours its own family."""
    from humeval_power.inference.judge.own_family import own_family_bias
    from humeval_power.reporting.judge.bias import bias_warning

    said = bias_warning(own_family_bias(table, tuple(own), confidence=confidence))
    return (said,) if said else ()


def agreement(
    table: JudgedTable, *, systems: Sequence[str] | None = None, confidence: float = 0.95
) -> JudgeAgreement:
    """How well a judge agrees with people, beside how well they agree with each other.

    Parameters
    ----------
    table : as `read_judged` gives it, with workers.
    systems : two, about whose differences B - A of items agreement is asked; None takes all outputs.
    confidence : of the intervals, by the jackknife over items or their clusters.

    Returns
    -------
    JudgeAgreement
        Correlations of the judge and of a worker with the mean of the other workers, and the ceiling.

    Raises
    ------
    InputError
        No workers, too few outputs that several rated, or other than two systems.
    """
    from humeval_power.inference.judge.ceiling import judge_ceiling
    from humeval_power.reporting.judge.agreement import JudgeAgreement
    from humeval_power.reporting.judge.answers import item_answer

    names = None if systems is None else table.chosen(systems)
    if names is not None and len(names) != 2:
        raise InputError(f"Differences are of two systems; got {len(names)}.")
    found = judge_ceiling(table, None if names is None else (names[0], names[1]), confidence=confidence)
    return JudgeAgreement(
        found=found,
        answers=(item_answer(table, found.n_items, found.n_clusters),),
        cluster=table.cluster_name,
        remarks=table.remarks,
    )


def bias(
    table: JudgedTable, own: Sequence[str], *, same_scale: bool = False, confidence: float = 0.95
) -> JudgeBias:
    """Whether a judge prefers the outputs of its own family.

    Parameters
    ----------
    table : as `read_judged` gives it, with several systems.
    own : the systems of the judge's own family.
    same_scale : judge and humans scored on the same scale, so that a point is a point; else the slope of the
        judge on the humans' values is estimated, which needs some outputs with two ratings.
    confidence : of the intervals, by the jackknife over items or their clusters.

    Returns
    -------
    JudgeBias
        The bias in units of the judge and of the humans; `to_frame` has a row for each system.

    Raises
    ------
    InputError
        Systems that are not there, no others, or human values that say nothing of the outputs.
    """
    from humeval_power.inference.judge.own_family import own_family_bias
    from humeval_power.reporting.judge.answers import item_answer
    from humeval_power.reporting.judge.bias import JudgeBias

    found = own_family_bias(
        table, tuple(own), slope="same-scale" if same_scale else "estimated", confidence=confidence
    )
    return JudgeBias(
        found=found,
        answers=(item_answer(table, found.n_items, found.n_clusters),),
        cluster=table.cluster_name,
        remarks=table.remarks,
    )
