"""Whether an analysis can be trusted: predictions for workers and items, what it owes to each, who to look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from humeval_power.estimation.fit import Fit
from humeval_power.inference.analyze.blups import Predictions, predicted_effects
from humeval_power.inference.analyze.influence import Influence, leave_one_worker_out
from humeval_power.inference.analyze.screening import WorkerCheck, screen_workers
from humeval_power.ratings import Ratings
from humeval_power.rules import DecisionRule

MOST_LEFT_OUT = 50  # workers left out one by one, the busiest first
_LEAST_LEFT_OUT = 3
_REFITTED = 2_500_000  # ratings that all refits together may have: beyond, fewer workers are left out


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What a fit predicts for each worker and item, the effect without each worker, and the workers' checks."""

    predictions: Predictions
    influence: Influence
    workers: tuple[WorkerCheck, ...]


def most_left_out(ratings: Ratings) -> int:
    """How many workers are left out one by one: fewer of tables whose refits take long."""
    affordable = max(_REFITTED // ratings.n_ratings, _LEAST_LEFT_OUT)
    return min(affordable, MOST_LEFT_OUT, ratings.n_workers)


def diagnose(
    fitted: Fit, ratings: Ratings, rule: DecisionRule, *, advance: Callable[[int], None] | None = None
) -> Diagnostics:
    """Predict, refit without each of the busiest workers, and screen; `advance` is called after each refit."""
    return Diagnostics(
        predicted_effects(fitted, ratings),
        leave_one_worker_out(
            ratings,
            rule=replace(rule, analysis="ratings"),
            largest=most_left_out(ratings),
            fitted=fitted if rule.analysis == "ratings" else None,
            advance=advance,
        ),
        screen_workers(ratings),
    )
