"""What several sets of assumptions ask for, each on its own."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import numpy as np

from humeval_power.parameters import Parameters
from humeval_power.planning.plan.candidates import Candidates, list_candidates
from humeval_power.planning.plan.request import Alone, PlanRequest
from humeval_power.planning.plan.workers_out import WorkersOut


def each_alone(
    request: PlanRequest, settings: Mapping[str, Parameters], out: WorkersOut
) -> tuple[Alone, ...]:
    """The design that each entry would be planned with, by formula; `settings` have the effect of interest, and
    the shares `out` of the workers are left out."""
    return tuple(_alone(request, name, parameters, out) for name, parameters in settings.items())


def _alone(request: PlanRequest, name: str, parameters: Parameters, out: WorkersOut) -> Alone:
    candidates = list_candidates(
        {name: parameters},
        request.space,
        request.costs,
        rule=request.rule,
        losses=request.losses,
        out=out,
    )
    power = candidates.worst_power
    within = np.ones(len(power), dtype=bool)
    if request.budget is not None:
        within = candidates.cents <= int(request.budget * 100)
    best = float(power[within].max()) if within.any() else 0.0
    enough = np.flatnonzero(within & (power >= request.target))
    if not len(enough):
        return Alone(name, None, None, best)
    index = int(enough[_cheapest(candidates, enough)])
    return Alone(name, candidates.counts(index), Decimal(int(candidates.cents[index])) / 100, best)


def _cheapest(candidates: Candidates, places: np.ndarray) -> int:
    """Of these designs the cheapest, and of equally cheap ones the most powerful."""
    return int(np.lexsort((-candidates.worst_power[places], candidates.cents[places]))[0])
