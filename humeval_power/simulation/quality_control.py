"""Rules for leaving workers out, applied to a simulated study with its checks, repeats and times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.designs import Assignment, Codes, Design
from humeval_power.errors import InputError, field_problem
from humeval_power.exclusions import ExclusionRules, RuleName
from humeval_power.simulation.careless import USUAL_BEHAVIOUR, Behaviour, checks_failed, seconds_taken
from humeval_power.simulation.losses import AT_RANDOM, Losses, careless_responses
from humeval_power.worker_statistics import (
    agreement_over_items,
    failed_share,
    mean_by,
    median_by,
    same_answer_share,
)

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityControl:
    """Rules for leaving workers out, and what they can be seen by: each worker's number of attention `checks` and
    of `repeats` (outputs shown again), and how workers behave."""

    rules: ExclusionRules
    checks: int = 0
    repeats: int = 0
    behaviour: Behaviour = USUAL_BEHAVIOUR

    def __post_init__(self) -> None:
        problems = [
            field_problem(name, getattr(self, name), "must be a whole number of at least 0.")
            for name in ("checks", "repeats")
            if getattr(self, name) < 0
        ]
        needed: dict[RuleName, int] = {"failed-checks": self.checks, "repeats": self.repeats}
        problems += [
            field_problem(name, self.rules.limits[name], f"needs {what} to be seen: there are none.")
            for name, what in (("failed-checks", "attention checks"), ("repeats", "outputs shown again"))
            if name in self.rules.limits and needed[name] == 0
        ]
        if problems:
            raise InputError(problems)


def with_repeats(design: Design, repeats: int) -> tuple[Assignment, Codes]:
    """The rows of a design with the `repeats` first ratings of each worker once more at the end, and the rows
    that these repeat."""
    rows = design.assignment
    order = np.argsort(rows.worker, kind="stable")
    place = np.arange(len(order)) - np.searchsorted(rows.worker[order], rows.worker[order])
    again = np.sort(order[place < repeats])
    both = np.concatenate([np.arange(len(rows.worker)), again])
    document = None if rows.document is None else rows.document[both]
    return Assignment(rows.worker[both], rows.item[both], rows.system[both], document), again


def controlled(
    control: QualityControl,
    rating: Floats,
    repeated: Floats,
    again: Codes,
    rows: Assignment,
    kept: Mask,
    kind: Codes,
    rng: np.random.Generator,
    *,
    losses: Losses,
    levels: Floats | None,
) -> Mask:
    """Which workers the rules leave out, shape (n_workers,).

    Parameters
    ----------
    rating : (n_ratings,) as they were given, of careless workers too; `kept` those that were given.
    repeated : (n_repeats,) what careful workers would answer to the rows `again` when shown again. Who rates at
        random does so again.
    kind : (n_workers,), as `draw_workers` gives.
    """
    n_workers = len(kind)
    anew = careless_responses(
        repeated, rows.worker[again], np.where(kind == AT_RANDOM, kind, 0), rng,
        answers=losses.answers, levels=levels,
    )  # fmt: skip
    straight = (kind > AT_RANDOM)[rows.worker[again]]
    anew = np.where(straight, rating[again], anew)
    failed = checks_failed(kind, control.checks, control.behaviour, rng)
    seconds = seconds_taken(rows.worker, kind, control.behaviour, rng)
    seen = kept[again]
    worker, item, system = rows.worker[kept], rows.item[kept], rows.system[kept]
    output = item * np.int64(system.max(initial=0) + 1) + system
    limits = control.rules.limits
    statistics: dict[RuleName, Floats] = {}
    if "failed-checks" in limits:
        statistics["failed-checks"] = failed_share(failed, np.full(n_workers, control.checks))
    if "repeats" in limits:
        apart = np.abs(anew - rating[again])[seen]
        statistics["repeats"] = mean_by(rows.worker[again][seen], apart, n_workers)
    if "seconds" in limits:
        statistics["seconds"] = median_by(worker, seconds[kept], n_workers)
    if "same-answer" in limits:
        statistics["same-answer"] = same_answer_share(worker, rating[kept], n_workers)
    if "agreement" in limits:
        _, found = agreement_over_items(worker, item, output, rating[kept], n_workers)
        statistics["agreement"] = found
    if not statistics:
        return np.zeros(n_workers, dtype=np.bool_)
    return control.rules.left_out(statistics)
