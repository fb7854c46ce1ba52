"""Power analysis, planning and reporting for human evaluations of language systems.

The public names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from humeval_power.assumptions import Assumed as Assumed
    from humeval_power.assumptions import Assumptions as Assumptions
    from humeval_power.assumptions import assumptions_of as assumptions_of
    from humeval_power.costs import CostModel as CostModel
    from humeval_power.costs import cost_of as cost_of
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
    from humeval_power.estimation.joint_fit import JointFit as JointFit
    from humeval_power.estimation.joint_fit import fit_joint as fit_joint
    from humeval_power.fees import PlatformFee as PlatformFee
    from humeval_power.inference.agreement.agreement import agreement as agreement
    from humeval_power.inference.agreement.reliability import (
        intraclass_correlations as intraclass_correlations,
    )
    from humeval_power.inference.agreement.repeatability import repeatability as repeatability
    from humeval_power.inference.agreement.variance_decomposition import (
        variance_decomposition as variance_decomposition,
    )
    from humeval_power.inference.analyze.blups import predicted_effects as predicted_effects
    from humeval_power.inference.analyze.influence import leave_item_groups_out as leave_item_groups_out
    from humeval_power.inference.analyze.influence import leave_one_worker_out as leave_one_worker_out
    from humeval_power.inference.analyze.screening import screen_workers as screen_workers
    from humeval_power.inference.looks.boundaries import Boundaries as Boundaries
    from humeval_power.inference.looks.boundaries import boundaries as boundaries
    from humeval_power.inference.looks.futility import BetaSpendingFutility as BetaSpendingFutility
    from humeval_power.inference.looks.futility import ConditionalPowerFutility as ConditionalPowerFutility
    from humeval_power.inference.looks.futility import PValueFutility as PValueFutility
    from humeval_power.inference.looks.spending import HwangShihDeCani as HwangShihDeCani
    from humeval_power.inference.looks.spending import ObrienFlemingSpending as ObrienFlemingSpending
    from humeval_power.inference.looks.spending import PocockSpending as PocockSpending
    from humeval_power.inference.looks.spending import PowerSpending as PowerSpending
    from humeval_power.inference.looks.spending import TabulatedSpending as TabulatedSpending
    from humeval_power.inference.looks.stagewise import LookEstimate as LookEstimate
    from humeval_power.inference.looks.stagewise import stagewise_inference as stagewise_inference
    from humeval_power.inference.looks.stopping_rule import FixedLevels as FixedLevels
    from humeval_power.inference.looks.stopping_rule import HaybittlePeto as HaybittlePeto
    from humeval_power.inference.looks.stopping_rule import Spending as Spending
    from humeval_power.inference.looks.stopping_rule import StoppingRule as StoppingRule
    from humeval_power.inference.looks.stopping_rule import WangTsiatis as WangTsiatis
    from humeval_power.inference.study.intervals import parameter_intervals as parameter_intervals
    from humeval_power.inference.study.many_systems import SystemsAnalysis as SystemsAnalysis
    from humeval_power.inference.study.many_systems import compare_jointly as compare_jointly
    from humeval_power.inference.study.many_systems import compare_systems as compare_systems
    from humeval_power.inference.study.wald import EffectTest as EffectTest
    from humeval_power.inference.study.wald import effect_test as effect_test
    from humeval_power.interfaces.formats.study.presets import library_entry as library_entry
    from humeval_power.interfaces.formats.study.presets import preset as preset
    from humeval_power.parameters import Parameters as Parameters
    from humeval_power.planning.assessment import observed_mde as observed_mde
    from humeval_power.planning.judge.efficiency import data_efficiency as data_efficiency
    from humeval_power.planning.looks.rating_looks import LookPlan as LookPlan
    from humeval_power.planning.looks.rating_looks import plan_looks as plan_looks
    from humeval_power.planning.plan.assignment import assign as assign
    from humeval_power.planning.plan.assignment_table import AssignmentPlan as AssignmentPlan
    from humeval_power.planning.plan.assurance import assurance as assurance
    from humeval_power.planning.plan.assurance import safe_parameters as safe_parameters
    from humeval_power.planning.plan.candidates import SearchSpace as SearchSpace
    from humeval_power.planning.plan.plan import ParameterSource as ParameterSource
    from humeval_power.planning.plan.plan import Plan as Plan
    from humeval_power.planning.plan.request import PlanRequest as PlanRequest
    from humeval_power.planning.plan.request import PlanResult as PlanResult
    from humeval_power.planning.plan.search_and_prove import make_plan as make_plan
    from humeval_power.planning.power import PowerEstimate as PowerEstimate
    from humeval_power.planning.power import estimate_power as estimate_power
    from humeval_power.planning.questions import answer as answer
    from humeval_power.planning.questions import detectable_effect as detectable_effect
    from humeval_power.planning.questions import required_n as required_n
    from humeval_power.planning.questions import scenario_surface as scenario_surface
    from humeval_power.planning.study.analytic import analytic_power as analytic_power
    from humeval_power.planning.study.analytic import minimum_detectable_effect as minimum_detectable_effect
    from humeval_power.planning.study.calibration import calibrate as calibrate
    from humeval_power.planning.study.calibration import size_of_test as size_of_test
    from humeval_power.planning.study.many_systems import many_systems_power as many_systems_power
    from humeval_power.planning.study.required import required_size as required_size
    from humeval_power.planning.study.surface import power_surface as power_surface
    from humeval_power.planning.survey import survey as survey
    from humeval_power.ratings import Ratings as Ratings
    from humeval_power.ratings import ratings_from_table as ratings_from_table
    from humeval_power.rules import CARD2020 as CARD2020
    from humeval_power.rules import DecisionRule as DecisionRule
    from humeval_power.scales import RatingScale as RatingScale
    from humeval_power.scenarios.accuracy.paired import PairedAccuracy as PairedAccuracy
    from humeval_power.scenarios.accuracy.unpaired import UnpairedAccuracy as UnpairedAccuracy
    from humeval_power.scenarios.assessment.scenario import DirectAssessment as DirectAssessment
    from humeval_power.scenarios.computed import Computable as Computable
    from humeval_power.scenarios.computed import ComputedPower as ComputedPower
    from humeval_power.scenarios.contingency.scenario import ContingencyStudy as ContingencyStudy
    from humeval_power.scenarios.contract import Replicates as Replicates
    from humeval_power.scenarios.contract import Scenario as Scenario
    from humeval_power.scenarios.corpus import CorpusStudy as CorpusStudy
    from humeval_power.scenarios.functions import FunctionScenario as FunctionScenario
    from humeval_power.scenarios.looks.judgements import AssessmentLooks as AssessmentLooks
    from humeval_power.scenarios.looks.judgements import PairedLooks as PairedLooks
    from humeval_power.scenarios.looks.looks import Looks as Looks
    from humeval_power.scenarios.looks.looks import equal_looks as equal_looks
    from humeval_power.scenarios.looks.ratings import RatingLooks as RatingLooks
    from humeval_power.scenarios.preference import Preference as Preference
    from humeval_power.scenarios.resample import ResampledRatings as ResampledRatings
    from humeval_power.scenarios.study import RatingStudy as RatingStudy
    from humeval_power.simulation.losses import Losses as Losses
    from humeval_power.simulation.study import simulate as simulate
    from humeval_power.study_counts import StudyCounts as StudyCounts
    from humeval_power.uncertainty import VarianceUncertainty as VarianceUncertainty

_PUBLIC = {
    "assumptions": (
        "Assumed",
        "Assumptions",
        "assumptions_of",
    ),
    "costs": (
        "CostModel",
        "cost_of",
    ),
    "designs": (
        "Design",
        "both_nested",
        "counterbalanced",
        "crossed",
        "items_nested",
        "k_per_item",
        "workers_nested",
    ),
    "errors": (
        "HumevalPowerError",
        "InputError",
    ),
    "estimation.fit": ("Fit",),
    "estimation.fitting": ("fit",),
    "estimation.joint_fit": (
        "JointFit",
        "fit_joint",
    ),
    "fees": ("PlatformFee",),
    "inference.agreement.agreement": ("agreement",),
    "inference.agreement.reliability": ("intraclass_correlations",),
    "inference.agreement.repeatability": ("repeatability",),
    "inference.agreement.variance_decomposition": ("variance_decomposition",),
    "inference.analyze.blups": ("predicted_effects",),
    "inference.analyze.influence": (
        "leave_item_groups_out",
        "leave_one_worker_out",
    ),
    "inference.analyze.screening": ("screen_workers",),
    "inference.looks.boundaries": (
        "Boundaries",
        "boundaries",
    ),
    "inference.looks.futility": (
        "BetaSpendingFutility",
        "ConditionalPowerFutility",
        "PValueFutility",
    ),
    "inference.looks.spending": (
        "HwangShihDeCani",
        "ObrienFlemingSpending",
        "PocockSpending",
        "PowerSpending",
        "TabulatedSpending",
    ),
    "inference.looks.stagewise": (
        "LookEstimate",
        "stagewise_inference",
    ),
    "inference.looks.stopping_rule": (
        "FixedLevels",
        "HaybittlePeto",
        "Spending",
        "StoppingRule",
        "WangTsiatis",
    ),
    "inference.study.intervals": ("parameter_intervals",),
    "inference.study.many_systems": (
        "SystemsAnalysis",
        "compare_jointly",
        "compare_systems",
    ),
    "inference.study.wald": (
        "EffectTest",
        "effect_test",
    ),
    "interfaces.formats.study.presets": (
        "library_entry",
        "preset",
    ),
    "parameters": ("Parameters",),
    "planning.assessment": ("observed_mde",),
    "planning.judge.efficiency": ("data_efficiency",),
    "planning.looks.rating_looks": (
        "LookPlan",
        "plan_looks",
    ),
    "planning.plan.assignment": ("assign",),
    "planning.plan.assignment_table": ("AssignmentPlan",),
    "planning.plan.assurance": (
        "assurance",
        "safe_parameters",
    ),
    "planning.plan.candidates": ("SearchSpace",),
    "planning.plan.plan": (
        "ParameterSource",
        "Plan",
    ),
    "planning.plan.request": (
        "PlanRequest",
        "PlanResult",
    ),
    "planning.plan.search_and_prove": ("make_plan",),
    "planning.power": (
        "PowerEstimate",
        "estimate_power",
    ),
    "planning.questions": (
        "answer",
        "detectable_effect",
        "required_n",
        "scenario_surface",
    ),
    "planning.study.analytic": (
        "analytic_power",
        "minimum_detectable_effect",
    ),
    "planning.study.calibration": (
        "calibrate",
        "size_of_test",
    ),
    "planning.study.many_systems": ("many_systems_power",),
    "planning.study.required": ("required_size",),
    "planning.study.surface": ("power_surface",),
    "planning.survey": ("survey",),
    "ratings": (
        "Ratings",
        "ratings_from_table",
    ),
    "rules": (
        "CARD2020",
        "DecisionRule",
    ),
    "scales": ("RatingScale",),
    "scenarios.accuracy.paired": ("PairedAccuracy",),
    "scenarios.accuracy.unpaired": ("UnpairedAccuracy",),
    "scenarios.assessment.scenario": ("DirectAssessment",),
    "scenarios.computed": (
        "Computable",
        "ComputedPower",
    ),
    "scenarios.contingency.scenario": ("ContingencyStudy",),
    "scenarios.corpus": ("CorpusStudy",),
    "scenarios.functions": ("FunctionScenario",),
    "scenarios.looks.judgements": (
        "AssessmentLooks",
        "PairedLooks",
    ),
    "scenarios.looks.looks": (
        "Looks",
        "equal_looks",
    ),
    "scenarios.looks.ratings": ("RatingLooks",),
    "scenarios.preference": ("Preference",),
    "scenarios.resample": ("ResampledRatings",),
    "scenarios.contract": (
        "Replicates",
        "Scenario",
    ),
    "scenarios.study": ("RatingStudy",),
    "simulation.losses": ("Losses",),
    "simulation.study": ("simulate",),
    "study_counts": ("StudyCounts",),
    "uncertainty": ("VarianceUncertainty",),
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
