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


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What a fit predicts for each worker and item, the effect without each worker, and the workers' checks."""

    predictions: Predictions
    influence: Influence
    workers: tuple[WorkerCheck, ...]


def diagnose(
    fitted: Fit, ratings: Ratings, rule: DecisionRule, *, advance: Callable[[int], None] | None = None
) -> Diagnostics:
    """Predict, refit without each of the busiest workers, and screen; `advance` is called after each refit."""
    return Diagnostics(
        predicted_effects(fitted, ratings),
        leave_one_worker_out(
            ratings, rule=replace(rule, analysis="ratings"), largest=MOST_LEFT_OUT, advance=advance
        ),
        screen_workers(ratings),
    )
