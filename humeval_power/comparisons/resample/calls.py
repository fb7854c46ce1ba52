"""Power of any test on studies drawn from a study's own ratings."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from humeval_power.choices import DEFAULT_SEED
from humeval_power.differences import Difference
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.saying.progress import in_steps, progress
from humeval_power.sweep.executors import on_executor

if TYPE_CHECKING:
    from humeval_power.comparisons.resample.result import ResampleResult
    from humeval_power.comparisons.resample.scenario import ResampledRatings, Unit
    from humeval_power.ratings import Ratings
    from humeval_power.studies.power.workload import Ahead, Workload
    from humeval_power.sweep.executors import AnyExecutor

SIMULATIONS = 1000


@on_executor
def resample(
    ratings: Ratings,
    *,
    unit: Unit = "both",
    tests: Sequence[str] = ("mixed",),
    workers: Sequence[int] | None = None,
    items: Sequence[int] | None = None,
    n_ratings: Sequence[int] | None = None,
    shift: float | Difference | None = None,
    rule: DecisionRule = DEFAULT_RULE,
    n_simulations: int = SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
    ahead: Ahead | None = None,
) -> ResampleResult:
    """Count how often tests find an effect in studies drawn with replacement from ratings.

    ratings : of two systems; the effect is B - A.
    unit : what is drawn: 'rating', 'item', 'worker', or 'both' workers and items.
    tests : 'mixed' under `rule`, or common tests such as 'mann-whitney'; all decide the same studies.
    workers, items, n_ratings : sizes to draw, every combination; None for as many as there are.
    shift : the true difference B - A on [0, 1] that the studies shall have; None for the observed one,
        whose power only restates the p-value.
    ahead : is told of the work before it begins; raises to refuse it.
    ResampleResult
        `cells` hold each scenario with its `PowerEstimate`; `to_frame` has a row for each. Powers are shares.
    Raises InputError: an unknown test, or a size that is not drawn.
    """
    from humeval_power.comparisons.resample.result import ResampledCell, ResampleResult
    from humeval_power.comparisons.resample.scenario import ResampledRatings, ResampledTable
    from humeval_power.saying.result import Provenance
    from humeval_power.studies.power.estimate import estimate_powers, progress_in_units
    from humeval_power.studies.power.workload import NOTHING

    said = Difference(shift, ratings.scale) if isinstance(shift, int | float) else shift
    said = (
        None if said is None else replace(said, systems=(ratings.system_names[0], ratings.system_names[1]))
    )
    first = ResampledRatings(
        ResampledTable.of(ratings),
        by=unit,
        test=tests[0],
        shift=None if said is None else said.value,
        points=ratings.scale.points,
        rule=rule,
    )
    sizes = itertools.product(workers or (None,), items or (None,), n_ratings or (None,))
    scenarios = [
        replace(first, workers=m, items=n, ratings=k, test=test) for m, n, k in sizes for test in tests
    ]
    if ahead is not None:
        work = NOTHING
        for each in scenarios:
            work += _work_of(each, ratings, n_simulations, n_jobs)
        ahead(work)
    studies = len(scenarios) * n_simulations
    with progress("Drawing", total=studies) as advance:
        result = estimate_powers(
            [[each] for each in scenarios],
            n_simulations=n_simulations,
            seed=seed,
            n_jobs=n_jobs,
            progress=progress_in_units(in_steps(advance), studies),
        )
    cells = tuple(
        ResampledCell(each, estimate) for each, (estimate,) in zip(scenarios, result, strict=True)
    )
    return ResampleResult(ratings=ratings, cells=cells, shift=said, provenance=Provenance(seed=seed))


def _work_of(cell: ResampledRatings, ratings: Ratings, n_simulations: int, n_jobs: int) -> Workload:
    """Of drawing and testing studies of a cell."""
    from humeval_power.studies.power.workload import table_workload

    size = cell.size
    m, n = size.get("workers", ratings.n_workers), size.get("items", ratings.n_items)
    share = m * n / (ratings.n_workers * ratings.n_items)
    drawn = 2.0 * size["ratings"] if "ratings" in size else ratings.n_ratings * share
    return table_workload(drawn, min(m, n), n_simulations=n_simulations, n_jobs=n_jobs)
