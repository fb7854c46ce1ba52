"""What several sets of assumptions ask for, each on its own, and which of them asks for most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def most_demanding(found: Sequence[Alone]) -> str:
    """The entry that cannot reach the target, the least powerful of them; else the one that costs most."""

    def demand(one: Alone) -> tuple[bool, Decimal, float]:
        missed = one.counts is None
        return missed, Decimal(0) if missed or one.cost is None else one.cost, -one.best

    return max(found, key=demand).name


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
