"""Whether an analysis can be trusted: predictions for workers and items, what it owes to each, who to look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from humeval_power.estimation.fit import Fit
from humeval_power.inference.analyze.blups import Predictions, predicted_effects
from humeval_power.inference.analyze.influence import (
    MOST_REFITS,
    MOST_REFITTED,
    Influence,
    is_by_one_step,
    leave_one_worker_out,
)
from humeval_power.inference.analyze.screening import WorkerCheck, screen_workers
from humeval_power.ratings import Ratings
from humeval_power.rules import DecisionRule

_LEAST_LEFT_OUT = 3


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What a fit predicts for each worker and item, the effect without each worker, and the workers' checks."""

    predictions: Predictions
    influence: Influence
    workers: tuple[WorkerCheck, ...]


def most_left_out(ratings: Ratings, rule: DecisionRule, fitted: Fit) -> int:
    """How many workers are left out: all where that is one step each, else few of tables with long refits."""
    if is_by_one_step(ratings, rule, fitted, n_left_out=ratings.n_workers):
        return ratings.n_workers
    affordable = max(MOST_REFITTED // ratings.n_ratings, _LEAST_LEFT_OUT)
    return min(affordable, MOST_REFITS, ratings.n_workers)


def diagnose(
    fitted: Fit, ratings: Ratings, rule: DecisionRule, *, advance: Callable[[int], None] | None = None
) -> Diagnostics:
    """Predict, leave out each worker or each of the busiest, and screen; `advance` is called for each of them."""
    of_ratings = replace(rule, analysis="ratings")
    return Diagnostics(
        predicted_effects(fitted, ratings),
        leave_one_worker_out(
            ratings,
            rule=of_ratings,
            largest=most_left_out(ratings, of_ratings, fitted),
            fitted=fitted if rule.analysis == "ratings" else None,
            advance=advance,
        ),
        screen_workers(ratings),
    )
