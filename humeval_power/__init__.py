"""Power analysis, planning and reporting for human evaluations of language systems.

The public names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from humeval_power.designs import Design as Design
    from humeval_power.designs import both_nested as both_nested
    from humeval_power.designs import counterbalanced as counterbalanced
    from humeval_power.designs import crossed as crossed
    from humeval_power.designs import items_nested as items_nested
    from humeval_power.designs import k_per_item as k_per_item
    from humeval_power.designs import workers_nested as workers_nested
    from humeval_power.errors import HumevalPowerError as HumevalPowerError
    from humeval_power.errors import InputError as InputError
    from humeval_power.estimation.fit import Fit as Fit
    from humeval_power.estimation.fitting import fit as fit
    from humeval_power.inference.wald import EffectTest as EffectTest
    from humeval_power.inference.wald import effect_test as effect_test
    from humeval_power.parameters import Parameters as Parameters
    from humeval_power.parameters import preset as preset
    from humeval_power.planning.analytic import analytic_power as analytic_power
    from humeval_power.planning.calibration import size_of_test as size_of_test
    from humeval_power.planning.power import PowerEstimate as PowerEstimate
    from humeval_power.planning.power import estimate_power as estimate_power
    from humeval_power.planning.surface import power_surface as power_surface
    from humeval_power.ratings import Ratings as Ratings
    from humeval_power.ratings import ratings_from_table as ratings_from_table
    from humeval_power.rules import CARD2020 as CARD2020
    from humeval_power.rules import DecisionRule as DecisionRule
    from humeval_power.scales import RatingScale as RatingScale
    from humeval_power.scenarios.rating_study import RatingStudy as RatingStudy
    from humeval_power.scenarios.scenario import Replicates as Replicates
    from humeval_power.scenarios.scenario import Scenario as Scenario
    from humeval_power.simulation.study import simulate as simulate

_PUBLIC = {
    "designs": (
        "Design",
        "both_nested",
        "counterbalanced",
        "crossed",
        "items_nested",
        "k_per_item",
        "workers_nested",
    ),
    "errors": ("HumevalPowerError", "InputError"),
    "estimation.fit": ("Fit",),
    "estimation.fitting": ("fit",),
    "inference.wald": ("EffectTest", "effect_test"),
    "parameters": ("Parameters", "preset"),
    "planning.analytic": ("analytic_power",),
    "planning.calibration": ("size_of_test",),
    "planning.power": ("PowerEstimate", "estimate_power"),
    "planning.surface": ("power_surface",),
    "ratings": ("Ratings", "ratings_from_table"),
    "rules": ("CARD2020", "DecisionRule"),
    "scales": ("RatingScale",),
    "scenarios.rating_study": ("RatingStudy",),
    "scenarios.scenario": ("Replicates", "Scenario"),
    "simulation.study": ("simulate",),
}
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names}

__version__ = "0.1.0"
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
