"""The questions that every scenario answers: power, detectable effect, required size, surface."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from humeval_power.choices import DEFAULT_SEED, DEFAULT_SIMULATIONS, HIGHEST, Method
from humeval_power.errors import InputError
from humeval_power.scenarios.contract import ComputedPower, Scenario, is_computable
from humeval_power.studies.power.estimate import (
    PowerEstimate,
    Progress,
    check_simulation,
    estimate_power,
    estimate_powers,
)


def smallest_true(test: Callable[[int], bool], lowest: int, highest: int) -> int | None:
    """Smallest value in the range for which a monotone test holds, None if there is none."""
    value, step = lowest, 1
    while value < highest and not test(value):
        value, step = min(value + step, highest), 2 * step
    if not test(value):
        return None
    low, high = max(lowest, value - step), value
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if test(middle) else (middle + 1, high)
    return high


By = Literal["computed", "simulation"]
GRID = 40  # effects looked at from the largest down: the power may be a saw in the effect too
_ZOOM = 8  # and within the step where the power was last too low
SAFETY = 64  # sizes beyond the answer that must reach the target too
_RESOLUTION = 1e-6  # of the largest effect
_STEPS = 14  # of a bisection by simulation


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """Power of one scenario: as computed (None where it cannot be) and as simulated (None if not asked)."""

    scenario: Scenario
    computed: ComputedPower | None
    simulated: PowerEstimate | None


@dataclass(frozen=True, slots=True)
class Detectable:
    """The smallest effect found with probability `power`, in the scenario's units.

    `interval` is the 95 % Monte Carlo interval, None where the power is computed.
    """

    effect: float
    interval: tuple[float, float] | None
    power: float
    by: By
    method: str


@dataclass(frozen=True, slots=True)
class RequiredN:
    """The smallest size that reaches `target`, and its power; `n` is None if `highest` does not."""

    n: int | None
    target: float
    power: float
    interval: tuple[float, float] | None
    by: By
    method: str
    highest: int


def ways_of(method: Method, scenario: Scenario, *, is_search: bool = False) -> tuple[By, ...]:
    """How a question is answered: what cannot be computed is simulated, and a search or a surface that can
    be computed is simulated for those alone who ask for it."""
    if method == "simulate" or not is_computable(scenario):
        return ("simulation",)
    return ("computed", "simulation") if method == "both" and not is_search else ("computed",)


def answer(
    scenario: Scenario,
    *,
    by: Sequence[By] = ("computed", "simulation"),
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    precision: float | None = None,
    progress: Progress | None = None,
) -> QuestionAnswer:
    """Power of a scenario in the ways asked for; what cannot be computed is simulated."""
    computed = _computed(scenario, by)
    if "simulation" not in by and computed is not None:
        return QuestionAnswer(scenario, computed, None)
    simulated = estimate_power(
        scenario,
        n_simulations=n_simulations,
        seed=seed,
        n_jobs=n_jobs,
        precision=precision,
        progress=progress,
    )
    return QuestionAnswer(scenario, computed, simulated)


def _computed(scenario: Scenario, by: Sequence[By]) -> ComputedPower | None:
    return scenario.computed() if "computed" in by and is_computable(scenario) else None


def detectable_effect(
    scenario: Scenario,
    *,
    largest: float,
    power: float = 0.8,
    by: By = "computed",
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
) -> Detectable:
    """Smallest effect with the target power that every larger effect up to `largest` has too.

    Exact tests have a saw-tooth power, so the answer is where the power was last below the target.
    By simulation: bisection with the same random numbers for every effect; the interval is where the
    limits of the Wilson interval pass the target.

    Raises InputError: a target outside (0, 1) or not above alpha, or no effect up to `largest` that reaches
    it.
    """
    check_target(power, scenario.alpha)
    if by == "computed" and is_computable(scenario):
        return _computed_effect(scenario, largest, power)
    effect, interval, _ = bisected_effect(
        scenario, largest=largest, power=power, n_simulations=n_simulations, seed=seed, n_jobs=n_jobs
    )
    return Detectable(
        effect, interval, power, "simulation", f"{n_simulations:,} simulations for each effect"
    )


def bisected_effect(
    scenario: Scenario,
    *,
    largest: float,
    power: float,
    n_simulations: int,
    seed: int,
    n_jobs: int,
    steps: tuple[int, int, int] = (_STEPS, _STEPS, _STEPS),
) -> tuple[float, tuple[float, float], PowerEstimate]:
    """Where the simulated power passes a target, where the limits of its interval do, and what was simulated
    last; the same random numbers for every effect.

    steps : of the bisection for the power, and for the upper and the lower end of its interval.
    Raises InputError: no effect up to `largest` reaches the target.
    """
    check_simulation(n_simulations, None)
    known: dict[float, PowerEstimate] = {}

    def simulated(effect: float) -> PowerEstimate:
        if effect not in known:
            at = scenario.with_effect(effect)
            known[effect] = estimate_power(at, n_simulations=n_simulations, seed=seed, n_jobs=n_jobs)
        return known[effect]

    last = simulated(largest)
    if not last.power >= power:
        raise _out_of_reach(largest, last.power, power)
    edges = []
    for pick, count in enumerate(steps):
        low, high = 0.0, largest
        for _ in range(count):
            middle = (low + high) / 2
            last = simulated(middle)
            value = (last.power, last.interval[1], last.interval[0])[pick]
            low, high = (low, middle) if value >= power else (middle, high)
        edges.append(high)
    return edges[0], (edges[1], edges[2]), last


def _computed_effect(scenario: Scenario, largest: float, power: float) -> Detectable:
    assert is_computable(scenario)

    def reached(effect: float) -> bool:
        at = scenario.with_effect(effect)
        assert is_computable(at)
        return at.computed().power >= power - 1e-12

    top = scenario.with_effect(largest)
    assert is_computable(top)
    best = top.computed()
    if not best.power >= power - 1e-12:
        raise _out_of_reach(largest, best.power, power)
    low, high, steps = 0.0, largest, GRID
    while high - low > _RESOLUTION * largest:
        grid = np.linspace(low, high, steps + 1)
        last = steps - 1
        while last > 0 and reached(float(grid[last])):
            last -= 1
        low, high, steps = float(grid[last]), float(grid[last + 1]), _ZOOM
    at = scenario.with_effect(high)
    assert is_computable(at)
    return Detectable(high, None, power, "computed", at.computed().method)


def required_n(
    make: Callable[[int], Scenario],
    *,
    power: float = 0.8,
    lowest: int = 2,
    highest: int = HIGHEST,
    by: By = "computed",
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
) -> RequiredN:
    """Smallest size whose scenario has the target power, and whose successors have it too.

    make : gives the scenario of a size; an InputError means that this size is not possible.
    Raises InputError: a target outside (0, 1) or not above alpha.
    """
    answers: dict[int, QuestionAnswer] = {}
    first = make(highest)
    check_target(power, first.alpha)
    computes = by == "computed" and is_computable(first)
    way: By = "computed" if computes else "simulation"

    def power_of(n: int) -> float:
        if n not in answers:
            answers[n] = answer(make(n), by=(way,), n_simulations=n_simulations, seed=seed, n_jobs=n_jobs)
        return _power(answers[n])

    def reached(n: int) -> bool:
        return power_of(n) >= power - 1e-12

    n = _smallest(reached, lowest, highest, exact=computes)
    shown = highest if n is None else n
    value = power_of(shown)
    simulated, computed = answers[shown].simulated, answers[shown].computed
    method = f"{n_simulations:,} simulations for each size" if computed is None else computed.method
    interval = None if simulated is None else simulated.interval
    return RequiredN(n, power, value, interval, way, method, highest)


def _smallest(reached: Callable[[int], bool], lowest: int, highest: int, *, exact: bool) -> int | None:
    """The smallest size that will do; where power is exact, look beyond it for teeth of the saw."""
    high = smallest_true(reached, lowest, highest)
    while exact and high is not None:
        failing = [n for n in range(high + 1, min(high + SAFETY, highest) + 1) if not reached(n)]
        if not failing:
            break
        high = min(failing[-1] + 1, highest)
    return high


def scenario_surface(
    cells: Sequence[tuple[Mapping[str, object], Scenario]],
    *,
    by: Sequence[By] = ("computed",),
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> list[dict[str, object]]:
    """One row for each cell: its labels, `effect`, `power`, `power_low`, `power_high` (the Monte Carlo
    interval; the power itself where it is computed), `type_m`, `type_s`, `n_simulations`, `n_failed`,
    `method`. Every cell uses the same children of the seed."""
    scenarios = [scenario for _, scenario in cells]
    known = [_computed(scenario, by) for scenario in scenarios]
    drawn = [place for place, computed in enumerate(known) if "simulation" in by or computed is None]
    estimates = estimate_powers(
        [[scenarios[place]] for place in drawn],
        n_simulations=n_simulations,
        seed=seed,
        n_jobs=n_jobs,
        progress=progress,
    )
    simulated = {place: values for place, (values,) in zip(drawn, estimates, strict=True)}
    answers = [
        QuestionAnswer(scenario, computed, simulated.get(place))
        for place, (scenario, computed) in enumerate(zip(scenarios, known, strict=True))
    ]
    return [
        {**labels, "effect": scenario.true_effect, **_row(results)}
        for (labels, scenario), results in zip(cells, answers, strict=True)
    ]


def _row(result: QuestionAnswer) -> dict[str, object]:
    simulated, computed = result.simulated, result.computed
    if simulated is not None:
        return {**simulated.as_row(), "method": "simulation"}
    assert computed is not None
    return {
        "power": computed.power,
        "power_low": computed.power,
        "power_high": computed.power,
        "type_m": computed.type_m,
        "type_s": computed.type_s,
        "n_simulations": 0,
        "n_failed": 0,
        "method": computed.method,
    }


def _power(result: QuestionAnswer) -> float:
    if result.computed is not None:
        return result.computed.power
    assert result.simulated is not None
    return result.simulated.power


def check_target(power: float, least: float, *, gives: str = "alpha") -> None:
    """Refuse a target power that is no goal: at most `least`, which `gives` explains, or 1."""
    if not least < power < 1:
        raise InputError(
            f"The target power must lie between {least:g} ({gives}) and 1; got {power:g}. Usual is 0.8 or 0.9."
        )


def _out_of_reach(largest: float, best: float, power: float) -> InputError:
    known = "" if math.isnan(best) else f" (power {best:.3f})"
    return InputError(
        f"Even the largest possible effect, {largest:.4g}, is not found with power {power:g}{known}: "
        "more data are needed."
    )
