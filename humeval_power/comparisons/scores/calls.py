"""Systems compared by a metric's scores of the same items, after there are scores and before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from humeval_power.choices import (
    CURVE_SIMULATIONS,
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    NORMALITY_ALPHA,
    PRIMER_EFFECTS,
    PRIMER_HURT,
    PRIMER_ITEMS,
    PowerBy,
    Procedure,
    Question,
    ScoreCorrection,
)
from humeval_power.errors import InputError
from humeval_power.sweep.executors import on_executor

if TYPE_CHECKING:
    import pandas as pd

    from humeval_power.comparisons.scores.all_pairs import Fails, GateResult
    from humeval_power.comparisons.scores.charts import PrimerCountsResult, PrimerResult, ProspectiveResult
    from humeval_power.comparisons.scores.comparison import Request
    from humeval_power.comparisons.scores.result import PairResult
    from humeval_power.comparisons.scores.result_sets import ManyResult, ScoreCheckResult, SetsResult
    from humeval_power.comparisons.scores.score_table import ScoreTable
    from humeval_power.inference.clustered import Direction
    from humeval_power.sweep.executors import AnyExecutor

Scores: TypeAlias = "ScoreTable | pd.DataFrame"
_HURT = PRIMER_HURT[::2]


def check(tables: Mapping[str, ScoreTable]) -> ScoreCheckResult:
    """What is in a table of scores that no worker gave.

    Parameters
    ----------
    tables : as `read_scores` reads them, by metric.

    Returns
    -------
    ScoreCheckResult
        Mean and spread of each system's scores, columns that look like clusters of items, and what to ask next.
    """
    from humeval_power.comparisons.scores.result_sets import ScoreCheckResult

    return ScoreCheckResult(tables=tuple(tables.values()))


@on_executor
def scores(
    tables: Scores | Mapping[str, Scores],
    *,
    question: Question | None = None,
    procedure: Procedure = "question",
    test: str | None = None,
    alternative: Direction = "two-sided",
    null: float = 0.0,
    alpha: float = 0.05,
    effect: float | None = None,
    margin: float | None = None,
    correction: ScoreCorrection = "holm",
    baseline: str | None = None,
    independent: bool = False,
    n_resamples: int = DEFAULT_RESAMPLES,
    normality_alpha: float = NORMALITY_ALPHA,
    power_by: PowerBy = "bootstrap",
    power_sizes: Sequence[int] = (),
    power: float = 0.8,
    n_simulations: int = CURVE_SIMULATIONS,
    clusters: Sequence[object] | None = None,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
) -> PairResult | ManyResult | SetsResult:
    """Compare systems by a metric's scores of the same items.

    Two systems get a test with its effect sizes and power, more of them a test of each pair, and two on
    several tables (data sets, or metrics of the same items) the number of tables on which B is better.

    Parameters
    ----------
    tables : one row for each item and one column of numbers for each system, A first; or several such by
        name. The effect is B - A.
    question : what is asked, decided before the scores are looked at: one of `QUESTIONS`.
    procedure : 'nlpstattest' tests what the data suggest (Zhu et al. 2020), and says why not to.
    test : its name; None takes the question's own, 'recommended' the one that suits the data too.
    null : difference to test against, in the metric's units.
    effect : difference that matters, for the power; None takes the observed one.
    margin : tests equivalence within this margin too.
    correction, baseline : of many pairs; with a baseline every system is compared with that one only.
    independent : the tables are data sets that do not depend on each other, and no metrics.
    normality_alpha : level of the test of normality, which is shown and decides nothing.
    power_by : simulate the power by resampling the differences, or from a normal law; 'formula' simulates
        nothing.
    power_sizes : numbers of items to give the power for, beside those at hand. None takes a quarter to four
        times as many.
    power : the power for which the number of items is given.
    n_simulations : simulated studies for each number of items.
    clusters : the cluster of each row, such as its passage or document, where the tables do not know them. Items of
        a cluster may be alike: errors are then CR2's, and whole clusters are resampled, flipped and drawn.

    Returns
    -------
    PairResult, ManyResult or SetsResult
        For two systems, for several, and for several tables.

    Raises
    ------
    InputError
        No question, a test that does not answer it, or scores that cannot be compared.
    """
    from humeval_power.comparisons.scores.comparison import Request, checked_question, compare_pair
    from humeval_power.comparisons.scores.effect_sizes import TestSettings
    from humeval_power.comparisons.scores.result import PairResult, is_drawn
    from humeval_power.saying.result import Provenance

    settings = TestSettings(
        null=null, alternative=alternative, alpha=alpha, n_resamples=n_resamples, seed=seed
    )
    request = Request(
        question=checked_question(question, procedure),
        settings=settings,
        test=test,
        effect=effect,
        margin=margin,
        normality_alpha=normality_alpha,
        power_by=power_by,
        power_sizes=tuple(power_sizes),
        power_target=power,
        n_simulations=n_simulations,
    )
    named = {"": tables} if not isinstance(tables, Mapping) else tables
    read = {name: _table(each, clusters) for name, each in named.items()}
    first = next(iter(read.values()))
    if len(read) > 1:
        return _on_sets(read, request, independent=independent, n_jobs=n_jobs)
    if len(first.systems) > 2:
        return _many(first, request, correction=correction, baseline=baseline, n_jobs=n_jobs)
    comparison = compare_pair(first, request, n_jobs=n_jobs)
    return PairResult(
        comparison=comparison, provenance=Provenance(seed=seed if is_drawn(comparison) else None)
    )


def _many(
    table: ScoreTable,
    request: Request,
    *,
    correction: ScoreCorrection,
    baseline: str | None,
    n_jobs: int,
) -> ManyResult:
    """All pairs of several systems, or every system against a baseline."""
    from humeval_power.comparisons.scores.all_pairs import compare_scores
    from humeval_power.comparisons.scores.result_sets import ManyResult
    from humeval_power.saying.result import Provenance

    if request.question is None:
        raise InputError("The procedure 'nlpstattest' compares two systems: --systems A,B.")
    if request.margin is not None or request.effect is not None or request.power_sizes:
        raise InputError("--margin, --effect and --power-sizes are for two systems: --systems A,B.")
    answer = compare_scores(
        table,
        question=request.question,
        settings=request.settings,
        test=request.test,
        correction=correction,
        baseline=baseline,
        n_jobs=n_jobs,
    )
    result = ManyResult(found=answer, table=table, settings=request.settings)
    return replace(result, provenance=Provenance(seed=request.settings.seed if result.is_drawn else None))


def _on_sets(
    tables: Mapping[str, ScoreTable], request: Request, *, independent: bool, n_jobs: int
) -> SetsResult:
    """One pair of systems on several tables."""
    from humeval_power.comparisons.scores.all_pairs import replicability
    from humeval_power.comparisons.scores.comparison import compare_pair
    from humeval_power.comparisons.scores.result import is_drawn
    from humeval_power.comparisons.scores.result_sets import SetsResult
    from humeval_power.saying.progress import progress
    from humeval_power.saying.result import Provenance

    settings = request.settings
    if settings.alternative == "two-sided" or request.question is None:
        raise InputError(
            "To count where B is better, ask a --question in one direction: --alternative greater (or less)."
        )
    comparisons = []
    with progress("Comparing", total=len(tables)) as advance:
        for table in tables.values():
            comparisons.append(compare_pair(table, request, n_jobs=n_jobs))
            advance(1)
    result = replicability(
        [one.test.p_value for one in comparisons],
        combination="fisher" if independent else "bonferroni",
        alpha=settings.alpha,
    )
    return SetsResult(
        names=tuple(tables),
        comparisons=tuple(comparisons),
        found=result,
        provenance=Provenance(seed=settings.seed if any(map(is_drawn, comparisons)) else None),
    )


def _table(scores: Scores, clusters: Sequence[object] | None) -> ScoreTable:
    from humeval_power.clusters import Clusters
    from humeval_power.comparisons.scores.score_table import ScoreTable

    if not isinstance(scores, ScoreTable):
        scores = ScoreTable(scores.to_numpy(dtype=float), tuple(map(str, scores.columns)))
    return scores if clusters is None else replace(scores, clusters=Clusters.of(clusters), suspects=())


def gate(
    table: ScoreTable,
    *,
    margin: float = 0.0,
    fails: Fails = "worse",
    alpha: float = 0.05,
    lower_is_better: bool = False,
) -> GateResult:
    """May a change go in: is the candidate worse than the baseline by more than a margin?

    Parameters
    ----------
    table : scores of the baseline and the candidate, in this order, as `read_scores` reads them.
    margin : how much worse is let through, in the metric's units.
    fails : "worse" fails where it is shown that the candidate is worse by more than the margin; "unproven" where it
        is not shown that it is not (non-inferiority).
    alpha : level of each of the two one-sided t tests; those of clusters take CR2's error and the df of Bell and
        McCaffrey.

    Returns
    -------
    GateResult
        `passed`, both p-values, and the difference with its interval of confidence 1 - 2 alpha.

    Raises
    ------
    InputError
        Other than two systems, a negative margin, or alpha outside (0, 0.5).
    """
    from humeval_power.comparisons.scores.all_pairs import GateResult
    from humeval_power.inference.clustered import clustered_mean

    if len(table.systems) != 2:
        raise InputError(f"Two systems are compared; got {', '.join(table.systems)}.")
    if not margin >= 0:
        raise InputError(f"The margin must be 0 or above; got {margin:g}.")
    if not 0 < alpha < 0.5:
        raise InputError(f"alpha must lie between 0 and 0.5; got {alpha:g}.")
    baseline, candidate = (table.column(name) for name in table.systems)
    better = baseline - candidate if lower_is_better else candidate - baseline
    clustered = clustered_mean(better, table.clusters)
    p_worse, p_not_worse = clustered.p_value(-margin, "less"), clustered.p_value(-margin, "greater")
    if (
        not clustered.standard_error > 0
    ):  # all items, or all clusters, differ alike: of as many signs, all are equal
        extreme = 0.5**clustered.n_clusters
        p_worse = extreme if clustered.estimate < -margin else 1.0
        p_not_worse = extreme if clustered.estimate > -margin else 1.0
    return GateResult(
        systems=(table.systems[0], table.systems[1]),
        metric=table.metric,
        means=(float(baseline.mean()), float(candidate.mean())),
        found=clustered,
        p_worse=p_worse,
        p_not_worse=p_not_worse,
        margin=margin,
        fails=fails,
        alpha=alpha,
        lower_is_better=lower_is_better,
        changed=(int((better > 0).sum()), int((better < 0).sum())) if table.is_binary else None,
        clusters=table.clusters.name if table.clusters is not None else "",
        notices=table.notices,
    )


def prospective(
    effect: float,
    *,
    sd: float,
    power: float = 0.8,
    alternative: Direction = "two-sided",
    alpha: float = 0.05,
    margin: float | None = None,
) -> ProspectiveResult:
    """How many items does a comparison by the paired t test need?

    Parameters
    ----------
    effect : expected mean difference B - A, in the metric's units.
    sd : SD of the items' differences B - A.
    power : target power.
    margin : show equivalence within this margin by two one-sided t tests, `effect` being the true difference.

    Returns
    -------
    ProspectiveResult
        The fewest items by formula (differences are taken as normal), and their power.

    Raises
    ------
    InputError
        No effect, an effect against the direction or outside the margin, or a power that no number has.
    """
    from humeval_power.comparisons.scores.charts import ProspectiveResult
    from humeval_power.comparisons.scores.power import (
        equivalence_power_of,
        required_items,
        required_items_equivalence,
    )
    from humeval_power.comparisons.scores.scenario import t_power

    if margin is not None and not margin > 0:
        raise InputError(f"The margin must be above 0; got {margin:g}.")
    ratio = effect / sd
    if margin is None:
        needed = required_items(ratio, power=power, alpha=alpha, alternative=alternative)
    else:
        needed = required_items_equivalence(margin / sd, ratio=ratio, power=power, alpha=alpha)

    def reached(n: int) -> float:
        if margin is None:
            return t_power(ratio, n, alternative=alternative, alpha=alpha).power
        return equivalence_power_of(n, margin / sd, ratio=ratio, alpha=alpha)

    sizes = sorted({max(2, round(needed.n * twentieths / 20)) for twentieths in range(2, 51)})
    return ProspectiveResult(
        mean=effect,
        sd=sd,
        margin=margin,
        target=power,
        alpha=alpha,
        alternative=alternative,
        found=needed,
        curve=tuple((n, reached(n)) for n in sizes),
    )


def primer(n_items: int, *, helped: int, hurt: int) -> PrimerCountsResult:
    """The bootstrap primer's p of counts, exactly, beside what tests say of them.

    Parameters
    ----------
    n_items : items that both systems answered, scored 0 or 1.
    helped : items on which B is right and A wrong.
    hurt : items on which A is right and B wrong.

    Returns
    -------
    PrimerCountsResult
        P(mean of n draws with replacement <= 0), with the picture of these means (Jansen's primer). It is
        one-sided and not centred at the null: no test.

    Raises
    ------
    InputError
        Counts below zero, or more changed items than items.
    """
    from humeval_power.comparisons.scores.charts import PrimerCountsResult
    from humeval_power.comparisons.scores.primer import primer_counts

    return PrimerCountsResult(found=primer_counts(n_items, helped, hurt))


def primer_table(
    n_items: Sequence[int] = PRIMER_ITEMS,
    *,
    effects: Sequence[float] = PRIMER_EFFECTS,
    hurt: Sequence[float] = _HURT,
) -> PrimerResult:
    """Expected p of the bootstrap primer, exactly.

    Parameters
    ----------
    n_items : numbers of items.
    effects : differences of accuracy B - A, as shares.
    hurt : shares of items on which B is wrong and A right.

    Returns
    -------
    PrimerResult
        The primer's p of each combination: one-sided and not centred at the null, so no test.

    Raises
    ------
    InputError
        Fewer than one item, or shares outside [0, 1].
    """
    from humeval_power.comparisons.scores.charts import PrimerResult
    from humeval_power.comparisons.scores.comparison import primer_table as cells_of

    return PrimerResult(cells=cells_of(n_items, effects=effects, hurt=hurt))
