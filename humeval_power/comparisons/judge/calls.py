"""What an automatic judge of further items is worth in human ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from humeval_power.choices import (
    DEFAULT_CONFIDENCE,
    DEFAULT_JUDGE_RUNS,
    DEFAULT_POWER,
    DEFAULT_SEED,
    HUMAN_MEAN,
    MOST_WORKERS,
    Allocation,
    LabelOrigin,
)
from humeval_power.differences import Difference
from humeval_power.errors import InputError, Problem, field_problem, refusal, refuse
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.safe_text import shell_word

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from humeval_power.checking.rows import Rejected
    from humeval_power.clusters import Clusters
    from humeval_power.comparisons.judge.budget import BudgetOption
    from humeval_power.comparisons.judge.plan import JudgeOption, Scores
    from humeval_power.comparisons.judge.result import JudgeMean, JudgeSample, JudgeStudy
    from humeval_power.comparisons.judge.result_answers import JudgeEstimate, JudgeSystems, JudgeWorkers
    from humeval_power.comparisons.judge.result_bias import (
        JudgeAgreement,
        JudgeBias,
        JudgeLength,
        JudgePosition,
    )
    from humeval_power.comparisons.judge.result_check import JudgeCheck, JudgeLabels
    from humeval_power.comparisons.judge.result_plan import JudgeBudget, JudgePlan
    from humeval_power.comparisons.judge.table import JudgedTable
    from humeval_power.comparisons.preference.scenario import Judgements
    from humeval_power.costs import CostModel
    from humeval_power.studies.plan.plan import Plan
    from humeval_power.studies.power.workload import Ahead

_ENDLESS = 10**12  # items
PLAN_SIMULATIONS = 400  # that prove a plan
BUDGET_SIMULATIONS = 100  # that prove what a budget buys


def mean(
    *, n: int, extra: int, correlation: float, sd: float = 1.0, sd_judge: float | None = None
) -> JudgeMean:
    """How precise a mean of independent human values is with a judge's help.

    Parameters
    ----------
    n, extra : items with a human value, and further items with the judge's score alone.
    correlation : of the judge with the human values as they are, noise and all.
    sd, sd_judge : standard deviations of human values and of the judge's scores; the second as the first
        where it is not given.

    Returns
    -------
    JudgeMean
        Variances with the judge and without, and how many human values the mean is worth.

    Raises
    ------
    InputError
        An impossible correlation, number or standard deviation.
    """
    from humeval_power.comparisons.judge.plan import PredictionPower
    from humeval_power.comparisons.judge.result import JudgeMean

    return JudgeMean(found=PredictionPower(n, extra, correlation, sd, sd if sd_judge is None else sd_judge))


def study(
    parameters: Parameters,
    *,
    workers: int,
    items: int,
    effect: float | Difference,
    extra: int,
    correlation: float,
    ratings_per_item: int | None = None,
    rule: DecisionRule = DEFAULT_RULE,
    setting: str = "",
) -> JudgeStudy:
    """How many human ratings a judge saves in a study of workers and items, by formula; `hp.judge.study` says what
    the arguments are. The effect in the parameters is not used; `setting` is their name. InputError: an impossible
    design, correlation or effect."""
    from humeval_power.comparisons.judge.plan import JudgedStudy, judged_study
    from humeval_power.comparisons.judge.result import JudgeStudy

    said = effect if isinstance(effect, Difference) else Difference(effect)
    given = parameters.with_difference(said.value)

    def judged(correlation: float, extra: int) -> JudgedStudy:
        return judged_study(
            given,
            n_workers=workers,
            n_items=items,
            correlation=correlation,
            extra=extra,
            ratings_per_item=ratings_per_item,
            rule=rule,
        )

    result = judged(correlation, extra)
    return JudgeStudy(
        found=result,
        endless=judged(1.0, _ENDLESS),
        parameters=given,
        effect=said,
        extra=extra,
        correlation=correlation,
        rule=rule,
        setting=setting,
        remarks=result.design.notes,
    )


def plan(
    parameters: Parameters,
    *,
    effect: float | Difference,
    extra: int,
    correlation: float | Sequence[float],
    costs: CostModel,
    power: float | None = None,
    budget: Decimal | float | None = None,
    between: float | None = None,
    reliability: float | Sequence[float] | None = None,
    max_runs: int | None = None,
    price_per_score: Decimal | float | Sequence[Decimal | float] = 0,
    workers: tuple[int, int] = (5, MOST_WORKERS),
    max_ratings_per_item: int = 5,
    max_ratings_per_worker: int | None = None,
    rule: DecisionRule = DEFAULT_RULE,
    n_simulations: int | None = None,
    seed: int = DEFAULT_SEED,
    setting: str = "",
    ahead: Ahead | None = None,
) -> JudgePlan | JudgeBudget:
    """How many human labels a study with a judge needs, by how many workers, at the least cost; or what a
    budget buys. `hp.judge.plan` says what the arguments of both are.

    correlation, price_per_score : of the judge; with a budget also of several judges, without the noise of runs.
    budget : the amount that the most powerful study may cost; `between` (the correlation of any two judges, which
        several need), `reliability` (of two runs, of each judge or of all [1]) and `max_runs` [5] are for it.
    n_simulations : studies that prove the plan; 0 leaves the proof out. [400; 100 with a budget]
    ahead : is told of the work of the proof before it begins, and may refuse it.
    InputError: an impossible correlation, power, price or range, no effect, or power and a budget.
    """
    from humeval_power.comparisons.judge.budget import BudgetRequest, JudgePanel, search_budget
    from humeval_power.comparisons.judge.plan import (
        JudgeRequest,
        judged_workload,
        search_plan,
        simulate_judged,
    )
    from humeval_power.comparisons.judge.result_plan import JudgeBudget, JudgePlan
    from humeval_power.saying.result import Provenance
    from humeval_power.studies.power.required import design_of

    said = effect if isinstance(effect, Difference) else Difference(effect)
    correlations = (correlation,) if isinstance(correlation, int | float) else tuple(correlation)
    prices = price_per_score if isinstance(price_per_score, Sequence) else (price_per_score,)

    def proof(
        best: JudgeOption | BudgetOption | None, usual: int, scores: Scores | None = None
    ) -> dict[str, Any]:
        """What the result says of simulated studies, none where they prove nothing, with the effect and setting."""
        n, simulated = usual if n_simulations is None else n_simulations, None
        if best is not None and n and rule.alternative == "two-sided":
            design = design_of(best.counts)
            if ahead is not None:
                ahead(judged_workload(design, extra=best.extra, n_simulations=n))
            simulated = simulate_judged(
                parameters.with_difference(said.value),
                design,
                correlation=correlations[0],
                extra=best.extra,
                n_simulations=n,
                seed=seed,
                scores=scores,
            )
        came = Provenance(seed=None if simulated is None else seed)
        return {"effect": said, "simulated": simulated, "setting": setting, "provenance": came}

    if budget is not None:
        if power is not None:
            raise InputError("A budget buys the most power: give --budget or --power, not both.")
        if reliability is None:
            reliability = 1.0
        reliabilities = (reliability,) if isinstance(reliability, int | float) else tuple(reliability)
        n = len(correlations)
        panel = JudgePanel(
            correlations,
            reliabilities * n if len(reliabilities) == 1 else reliabilities,
            tuple(Decimal(str(one)) for one in prices) * (n if len(prices) == 1 else 1),
            between,
        )
        bought = search_budget(
            BudgetRequest(
                parameters=parameters.with_difference(said.value),
                panel=panel,
                budget=Decimal(str(budget)),
                costs=costs,
                extra=extra,
                workers=workers,
                most_ratings=max_ratings_per_item,
                most_per_worker=max_ratings_per_worker,
                most_runs=DEFAULT_JUDGE_RUNS if max_runs is None else max_runs,
                rule=rule,
            )
        )
        best = bought.judged if bought.helps else None
        runs = () if best is None else best.runs
        return JudgeBudget(
            found=bought,
            **proof(best, BUDGET_SIMULATIONS, lambda truth, rng: panel.scores(truth, runs, rng)),
        )
    if len(correlations) > 1 or len(prices) > 1:
        raise InputError("Several judges are planned within a budget: give --budget.")
    of_budget = {"--reliability": reliability, "--between": between, "--max-runs": max_runs}
    if said_of_it := [option for option, value in of_budget.items() if value is not None]:
        raise InputError(f"{', '.join(said_of_it)}: this is for judges within a budget: give --budget.")
    result = search_plan(
        JudgeRequest(
            parameters=parameters.with_difference(said.value),
            correlation=correlations[0],
            extra=extra,
            costs=costs,
            target=DEFAULT_POWER if power is None else power,
            price_per_score=Decimal(str(prices[0])),
            workers=workers,
            most_ratings=max_ratings_per_item,
            most_per_worker=max_ratings_per_worker,
            rule=rule,
        )
    )
    return JudgePlan(found=result, **proof(result.judged, PLAN_SIMULATIONS))


# What a file supports.


def check(
    path: str | Path,
    *,
    item: str | None = None,
    system: str | None = None,
    worker: str | None = None,
    cluster: str | None = None,
    human: Sequence[str] = (),
    judge: Sequence[str] = (),
    words: Mapping[str, float] | None = None,
    tuned_on: str | None = None,
    labels: LabelOrigin = "unknown",
    half_width: float | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    rejected_rows: Rejected | None = None,
) -> JudgeCheck:
    """What a table of labels and judges' scores supports, and how good each judge is.

    Parameters
    ----------
    path : of the table or the logs, as `read_judged` takes it; labels or judges may be missing.
    item, system, worker, cluster, human, judge, words, tuned_on, rejected_rows : as `read_judged` takes them.
    labels : how the labelled outputs were chosen: 'random' (a random part of all), 'apart' (another
    population, or a
        balanced set) or 'unknown': whether their scores differ from the rest is then looked at.
    half_width : of an interval, for which labels are counted. [half of the present one]
    confidence : of the intervals.

    Returns
    -------
    JudgeCheck
        What is supported and why, the quality of each judge, bias, what it is worth in labels, and the
        commands that the file can be given to; `to_frame` has a row for each judge and measure.

    Raises
    ------
    InputError
        A file that is no table, names of columns that are not there, or cells that are no labels.
    """
    from humeval_power.comparisons.judge.check import check_table
    from humeval_power.comparisons.judge.files import judged_roles, judged_table
    from humeval_power.comparisons.judge.result_check import JudgeCheck, columns_said
    from humeval_power.files.tables import read_decided

    table = read_decided(path, rejected_rows)
    taken = [name for name in (cluster, tuned_on) if name]
    named = {"item": item, "system": system, "worker": worker}
    roles = judged_roles(table, named=named, humans=human, judges=judge, taken=taken)
    read = judged_table(table, roles, cluster=cluster, words=words, tuned_on=tuned_on, may_lack=True)
    said = (
        ("Items", (roles.item,)),
        ("Systems", (roles.system,)),
        ("People", roles.humans),
        ("Raters", (roles.worker,)),
        ("Judges", read.judge_names if roles.long else roles.judges),
        ("Runs", (roles.run,)),
        ("Clusters", (cluster or "",)),
    )
    mapped = [f"{word}={number:g}" for word, number in (words or {}).items()]
    typed = {**named, "cluster": cluster, "tuned-on": tuned_on}
    typed |= {"human": ",".join(human), "judge": ",".join(judge), "words": ",".join(mapped)}
    typed |= {"rejected-rows": rejected_rows}
    return JudgeCheck(
        options=tuple((name, value) for name, value in typed.items() if value),
        found=check_table(read, labels=labels, half_width=half_width, confidence=confidence),
        source=str(path),
        columns=columns_said(said),
        remarks=read.remarks,
    )


def sample(
    table: JudgedTable,
    n: int,
    *,
    systems: Sequence[str] | None = None,
    allocation: Allocation = "proportional",
    pilot: JudgedTable | None = None,
    active: bool = False,
    seed: int = DEFAULT_SEED,
) -> JudgeSample:
    """Which items people rate: drawn with known probabilities by the judges' scores of all.

    Parameters
    ----------
    table : as `read_judged(path, may_lack=True)` gives it: scores of all items. Those of several judges are
        standardised and averaged.
    n : items to draw.
    systems : the two whose difference is asked; of one system its scores are taken.
    allocation : of strata by the score: 'proportional' to their sizes, or 'neyman', to sizes times how the pilot's
        human values vary, which needs a `pilot`.
    active : draw item by item, by how uncertain a judge is whose scores are probabilities of a yes; of one system.
    seed : of the draw.

    Returns
    -------
    JudgeSample
        `to_frame` has a row for each item that was drawn: its stratum and probability, the sizes of the stratum
        and of the sample, as `read_judged(path, sample=...)` takes them.

    Raises
    ------
    InputError
        Too few or too many items, no scores, several systems without two named, or a pilot, judges or scores that
        do not go with what is asked.
    """
    from humeval_power.comparisons.judge.result import JudgeSample
    from humeval_power.comparisons.judge.sampling import plan_sample, sample_size_problem
    from humeval_power.saying.result import Provenance

    pair = table.chosen_pair(systems)
    problems = []
    if why := sample_size_problem(n, len(table.item_names)):
        problems.append(field_problem("--n", n, why))
    if not table.judge_names:
        problems.append(
            Problem(place="--judge", remedy="", rule="the table has no column of a judge's scores.")
        )
    if allocation == "neyman" and pilot is None:
        rule = "how values vary within strata is known from labels alone: give those of a pilot (--pilot FILE)."
        problems.append(field_problem("--allocation", allocation, rule))
    if pilot is not None and (active or allocation != "neyman"):
        problems.append(Problem(place="--pilot", remedy="", rule="is for --allocation neyman."))
    if active and allocation == "neyman":
        problems.append(Problem(place="--active", remedy="", rule="has no strata to allocate labels to."))
    if active and pair is not None:
        rule = "is for the rate of one system: for a difference use strata."
        problems.append(Problem(place="--active", remedy="", rule=rule))
    if active and len(table.judge_names) > 1:
        problems.append(Problem(place="--active", remedy="", rule="takes one judge: name it with --judge."))
    refuse(problems)
    score, of_pilot = table.sampling_score(pair), None
    if pilot is not None:
        of_pilot = pilot.pilot_values(table, pair)
    return JudgeSample(
        found=plan_sample(score, n, pilot=of_pilot, active=active, seed=seed),
        items=table.item_names,
        judges=table.judge_names,
        contrast=table.contrast(pair),
        allocation=allocation,
        remarks=table.remarks,
        provenance=Provenance(seed=seed),
    )


# Estimates with a judge's help from finished data, and how good the judge is.


def estimate(
    human: ArrayLike,
    judge: ArrayLike,
    extra: ArrayLike,
    *,
    clusters: Clusters | None = None,
    estimated: str = HUMAN_MEAN,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = DEFAULT_SEED,
    remarks: Sequence[str] = (),
) -> JudgeEstimate:
    """Estimate a mean, or a mean difference, with a judge's help.

    Parameters
    ----------
    human : (n,), values of the items that humans rated; 0 and 1 are classes.
    judge : (n,) or (n, J), the scores of one judge or of several of the same items.
    extra : (N,) or (N, J), their scores of further items.
    clusters : of the n + N items, rated ones first; None where items are independent.
    estimated : what the mean is of, in words.
    confidence : of the intervals.
    seed : of the assignment of items to folds.
    remarks : what was noticed in reading.

    Returns
    -------
    JudgeEstimate
        From humans alone, with one judge at weight 1, by cross-fitting, and by the method that fits the labels;
        `to_frame` has a row each. Where the judges cannot be used, from humans alone, with the reason.

    Raises
    ------
    InputError
        Fewer than 2 rated items, or values that are not finite.
    """
    import numpy as np

    from humeval_power.comparisons.judge.means import judged_means
    from humeval_power.comparisons.judge.result_answers import JudgeEstimate
    from humeval_power.saying.result import Provenance

    n_judges = 1 if np.ndim(judge) < 2 else np.shape(judge)[1]
    names = tuple(f"judge {place + 1}" for place in range(n_judges)) if n_judges > 1 else ("judge",)
    return JudgeEstimate(
        judges=names,
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
    plan: Plan | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
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
    plan : whose judges are used, and no others, and whose systems are compared where none are named.
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
    from humeval_power.comparisons.judge.means import JudgedMeans
    from humeval_power.comparisons.judge.result_answers import (
        JudgeEstimate,
        JudgeSystems,
        JudgeWorkers,
        judged_answers,
    )
    from humeval_power.comparisons.judge.table import judged_pair, judged_systems
    from humeval_power.saying.result import Provenance

    if plan is not None:
        if plan.judges is None:
            rule = "the plan has no judges."
            raise refusal(rule, "Plan with [judges] in the study file.", place="--plan")
        table = table.as_planned(plan.judges.names, plan.judges.runs)
        systems = plan.systems if systems is None and len(table.system_names) > 1 else systems
    names = table.chosen(systems)
    warnings = () if own is None else _own_family_warning(table, own, confidence)
    came = Provenance(seed=seed)
    if len(names) > 2 or baseline is not None:
        family = judged_systems(table, names, baseline=baseline, confidence=confidence, seed=seed)
        answers = judged_answers(table, family.pairs[0].found)
        return JudgeSystems(
            found=family,
            judges=table.judge_names,
            answers=answers,
            cluster=table.cluster_name,
            warnings=warnings,
            remarks=table.remarks,
            provenance=came,
        )
    pair = table.chosen_pair(names)
    assisted = judged_pair(table, pair, confidence=confidence, seed=seed)
    notices = (*table.remarks, *table.values(pair).notices)
    if isinstance(assisted, JudgedMeans):
        return JudgeEstimate(
            found=assisted,
            estimated=table.contrast(pair),
            judges=table.judge_names,
            panel=table.panel,
            answers=judged_answers(table, assisted),
            cluster=table.cluster_name,
            warnings=warnings,
            remarks=notices,
            provenance=came,
        )
    return JudgeWorkers(
        found=assisted,
        estimated=table.contrast(pair),
        judges=table.judge_names,
        answers=judged_answers(table, assisted),
        cluster=table.cluster_name,
        warnings=warnings,
        remarks=notices,
        provenance=came,
    )


def _own_family_warning(table: JudgedTable, own: Sequence[str], confidence: float) -> tuple[str, ...]:
    """The named warning, where the judge favours its own family."""
    from humeval_power.comparisons.judge.ceiling import own_family_bias
    from humeval_power.comparisons.judge.result_bias import bias_warning

    judges = range(len(table.judge_names))
    bias = [own_family_bias(table.of_judge(place), tuple(own), confidence=confidence) for place in judges]
    several = len(bias) > 1
    said = [(name, bias_warning(one)) for name, one in zip(table.judge_names, bias, strict=True)]
    return tuple(f"{name}: {text}" if several else text for name, text in said if text)


def agreement(
    table: JudgedTable, *, systems: Sequence[str] | None = None, confidence: float = DEFAULT_CONFIDENCE
) -> JudgeAgreement | JudgeLabels:
    """How well judges agree with people, beside how well they agree with each other.

    Parameters
    ----------
    table : as `read_judged` gives it.
    systems : two, about whose differences B - A of items agreement is asked; None takes all outputs.
    confidence : of the intervals, by the jackknife over items or their clusters.

    Returns
    -------
    JudgeAgreement or JudgeLabels
        The first where the table knows who rated: correlations of each judge and of a worker with the mean of
        the other workers, and the ceiling. The second where it does not: how each judge agrees with the labels.

    Raises
    ------
    InputError
        Too few outputs that people rated, or other than two systems.
    """
    from humeval_power.comparisons.judge.ceiling import judge_ceiling
    from humeval_power.comparisons.judge.check import judge_qualities
    from humeval_power.comparisons.judge.result_answers import item_answer
    from humeval_power.comparisons.judge.result_bias import JudgeAgreement
    from humeval_power.comparisons.judge.result_check import JudgeLabels

    names = None if systems is None else table.chosen(systems)
    if names is not None and len(names) != 2:
        raise InputError(f"Differences are of two systems; got {len(names)}.")
    if not table.is_rated_by_workers and names is None:
        qualities = judge_qualities(table, confidence=confidence)
        n_clusters = None if table.clusters is None else table.clusters.n_clusters
        return JudgeLabels(
            judges=qualities,
            confidence=confidence,
            answers=(item_answer(table, qualities[0].n, n_clusters),),
            cluster=table.cluster_name,
            remarks=table.remarks,
        )
    pair = None if names is None else (names[0], names[1])
    ceiling, *others = (
        judge_ceiling(table.of_judge(place), pair, confidence=confidence)
        for place in range(len(table.judge_names))
    )
    return JudgeAgreement(
        found=ceiling,
        judge=table.judge_names[0],
        others=tuple(zip(table.judge_names[1:], others, strict=True)),
        answers=(item_answer(table, ceiling.n_items, ceiling.n_clusters),),
        cluster=table.cluster_name,
        remarks=table.remarks,
    )


def length(table: JudgedTable, *, confidence: float = DEFAULT_CONFIDENCE) -> JudgeLength:
    """Whether a judge goes by how long an output is: what that distorts, and among outputs that people value alike.

    Parameters
    ----------
    table : as `read_judged(path, length=...)` gives it, of one judge; the second question needs 50 outputs that two
        people rated.
    confidence : of the intervals.

    Returns
    -------
    JudgeLength
        Both answers, by Student's t with errors by items or their clusters; `to_frame` has a row each.

    Raises
    ------
    InputError
        No lengths, too few outputs, or several judges.
    """
    from humeval_power.comparisons.judge.result_answers import item_answer
    from humeval_power.comparisons.judge.result_bias import JudgeLength
    from humeval_power.comparisons.judge.surface import length_bias

    _refuse_several(table)
    found = length_bias(table, confidence=confidence)
    return JudgeLength(
        found=found,
        answers=(item_answer(table, found.n_items, found.n_clusters),),
        cluster=table.cluster_name,
        remarks=table.remarks,
    )


def position(judged: Sequence[Judgements], *, confidence: float = DEFAULT_CONFIDENCE) -> JudgePosition:
    """Whether a judge of pairs goes by which output it is shown first.

    Parameters
    ----------
    judged : the verdicts of two systems with items and places, one entry, as `hp.preference.read_judgements` gives
        it; some items in both orders.
    confidence : of the interval.

    Returns
    -------
    JudgePosition
        How many pairs change their verdict with the order, to which place, and the exact sign test.

    Raises
    ------
    InputError
        Verdicts without items or places, or no pair in both orders.
    """
    from humeval_power.comparisons.judge.result_bias import JudgePosition
    from humeval_power.comparisons.judge.surface import position_bias

    if len(judged) != 1:
        raise InputError(
            f"Places are asked of one comparison with a row for each verdict; got {len(judged)}."
        )
    one = judged[0]
    lacking = [
        Problem(f"there is no column of {noun}.", f"Name one {name!r}.")
        for noun, name, there in (
            ("items", "item", one.item is not None),
            ("places in which outputs were shown", "position", one.position is not None),
        )
        if not there
    ]
    if lacking or one.preference is None or one.position is None or one.item is None:
        raise InputError(lacking or "There is no row for each verdict.")
    return JudgePosition(
        found=position_bias(one.preference, one.position, one.item, confidence=confidence),
        remarks=one.notices,
    )


def _refuse_several(table: JudgedTable) -> None:
    from humeval_power.checking.columns import listing

    if len(table.judge_names) > 1:
        rule = f"there are {len(table.judge_names)} judges: {listing(table.judge_names)}."
        raise refusal(rule, f"Ask about one: --judge {shell_word(table.judge_names[0])}")


def bias(
    table: JudgedTable,
    own: Sequence[str],
    *,
    same_scale: bool = False,
    confidence: float = DEFAULT_CONFIDENCE,
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
    from humeval_power.comparisons.judge.ceiling import own_family_bias
    from humeval_power.comparisons.judge.result_answers import item_answer
    from humeval_power.comparisons.judge.result_bias import JudgeBias

    _refuse_several(table)
    result = own_family_bias(
        table, tuple(own), slope="same-scale" if same_scale else "estimated", confidence=confidence
    )
    return JudgeBias(
        found=result,
        answers=(item_answer(table, result.n_items, result.n_clusters),),
        cluster=table.cluster_name,
        remarks=table.remarks,
    )
