"""The three kinds of comparison by scores, from a request to a result: a pair, many systems, several tables."""

from __future__ import annotations

from collections.abc import Mapping

from humeval_power.choices import ScoreCorrection
from humeval_power.comparisons.scores.all_pairs import compare_scores, replicability
from humeval_power.comparisons.scores.comparison import Request, compare_pair
from humeval_power.comparisons.scores.result import ManyResult, PairResult, are_drawn, is_drawn
from humeval_power.comparisons.scores.result_sets import SetsResult
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.errors import InputError
from humeval_power.saying.progress import progress
from humeval_power.saying.result import Provenance


def pair(table: ScoreTable, request: Request, *, n_jobs: int) -> PairResult:
    """One pair of systems."""
    comparison = compare_pair(table, request, n_jobs=n_jobs)
    seed = request.settings.seed if is_drawn(comparison) else None
    return PairResult(comparison=comparison, provenance=Provenance(seed=seed))


def many(
    table: ScoreTable,
    request: Request,
    *,
    correction: ScoreCorrection,
    baseline: str | None,
    n_jobs: int,
) -> ManyResult:
    """All pairs of several systems, or every system against a baseline."""
    if request.question is None:
        raise InputError("The procedure 'nlpstattest' compares two systems: --systems A,B.")
    if request.margin is not None or request.effect is not None or request.power_sizes:
        raise InputError("--margin, --effect and --power-sizes are for two systems: --systems A,B.")
    settings = request.settings
    found = compare_scores(
        table,
        question=request.question,
        settings=settings,
        test=request.test,
        correction=correction,
        baseline=baseline,
        n_jobs=n_jobs,
    )
    seed = settings.seed if are_drawn(found) else None
    return ManyResult(found=found, table=table, settings=settings, provenance=Provenance(seed=seed))


def on_sets(
    tables: Mapping[str, ScoreTable], request: Request, *, independent: bool, n_jobs: int
) -> SetsResult:
    """One pair of systems on several tables."""
    if request.settings.alternative == "two-sided" or request.question is None:
        raise InputError(
            "To count where B is better, ask a --question in one direction: --alternative greater (or less)."
        )
    comparisons = []
    with progress("Comparing", total=len(tables)) as advance:
        for table in tables.values():
            comparisons.append(compare_pair(table, request, n_jobs=n_jobs))
            advance(1)
    found = replicability(
        [one.test.p_value for one in comparisons],
        combination="fisher" if independent else "bonferroni",
        alpha=request.settings.alpha,
    )
    seed = request.settings.seed if any(map(is_drawn, comparisons)) else None
    return SetsResult(
        names=tuple(tables),
        comparisons=tuple(comparisons),
        found=found,
        provenance=Provenance(seed=seed),
    )
