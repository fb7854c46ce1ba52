"""The looks that a plan allows: when, by which boundaries, and what they expect of the information."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from scipy import special

from humeval_power.designs import Design
from humeval_power.errors import InputError
from humeval_power.parameters import Parameters
from humeval_power.rules import DecisionRule

if TYPE_CHECKING:
    from humeval_power.inference.looks.boundaries import Boundaries
    from humeval_power.inference.looks.futility import Futility
    from humeval_power.inference.looks.stopping_rule import Efficacy, StoppingRule
    from humeval_power.scenarios.looks.looks import Looks


@dataclass(frozen=True, slots=True)
class LookSchedule:
    """When a study is looked at and what stops it. Level and alternative are those of the study's test.

    `factor` multiplies the nominal levels: a calibration by simulation, for few workers (1: none).
    """

    looks: Looks
    efficacy: Efficacy
    futility: Futility | None = None
    factor: float = 1.0

    def __post_init__(self) -> None:
        if self.looks.n_looks < 2:
            raise InputError(
                "A schedule needs at least 2 looks, the last included; one look is a plain study."
            )
        if self.looks.kind == "blocks":
            raise InputError(
                "A plan's looks come by items, workers or ratings: blocks of new workers with new items are "
                "designs of their own, which 'looks study' judges."
            )
        if not 0 < self.factor <= 1.5:
            raise InputError(
                f"A calibration factor must lie above 0 and be at most 1.5; got {self.factor:g}."
            )

    def rule(self, decision: DecisionRule) -> StoppingRule:
        """The stopping rule of a study that decides by `decision`.

        Raises
        ------
        InputError
            A rule with a margin.
        """
        from humeval_power.inference.looks.stopping_rule import StoppingRule

        if decision.margin is not None:
            raise InputError(
                "Looks are planned for tests of a difference, not for a margin: leave out one."
            )
        return StoppingRule(self.efficacy, self.futility, decision.alpha, decision.alternative)


class LookInformation(NamedTuple):
    """What each look knows: shares of the final information, and that, 1 / variance of the effect on [0, 1]."""

    fractions: tuple[float, ...]
    maximum: float


def look_information(
    parameters: Parameters, design: Design, looks: Looks, *, places: tuple[int, int] | None = None
) -> LookInformation:
    """Information at the looks, exactly, for the parameters assumed; `places` are those of the two systems in a
    design of several."""
    from humeval_power.inference.study.formula import effect_precision
    from humeval_power.inference.study.pair_designs import pair_design
    from humeval_power.scenarios.looks.looks import nested_designs

    designs = nested_designs(design, looks).designs
    if places is not None and design.n_systems > 2:
        designs = tuple(pair_design(each, *places) for each in designs)
    known = [1.0 / effect_precision(parameters, each).variance for each in designs]
    return LookInformation(tuple(each / known[-1] for each in known), known[-1])


def planned_boundaries(
    schedule: LookSchedule, decision: DecisionRule, information: LookInformation, *, effect: float
) -> Boundaries:
    """Boundaries at the planned looks. `effect` on [0, 1] is what the study is powered for."""
    from humeval_power.inference.looks.boundaries import boundaries

    drift = abs(effect) * information.maximum**0.5
    found = boundaries(schedule.rule(decision), information.fractions, drift=drift)
    return found.scaled(schedule.factor)


def power_with_looks(fixed: float, bounds: Boundaries) -> float:
    """Power with looks from that of the same study with one test at its end.

    The drift is that of a z test with this power, so that what few workers cost is in it; the looks then cost
    what they cost a z test (recursive integration).
    """
    from humeval_power.inference.looks.boundaries import success

    tail = bounds.rule.alpha / 2 if bounds.two_sided else bounds.rule.alpha
    drift = float(special.ndtri(min(max(fixed, 1e-12), 1 - 1e-12)) - special.ndtri(tail))
    return min(success(bounds, max(drift, 0.0)), 1.0)  # the integration may end a rounding above it
