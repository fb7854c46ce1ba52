"""What a plan is made of: the search, its costs, its assurance; and its rehearsal."""

from humeval_power.assumptions import Assumed as Assumed
from humeval_power.costs import cost_of as cost_of
from humeval_power.exclusions import ExclusionRules as ExclusionRules
from humeval_power.files.file_bytes import read_fee as read_fee
from humeval_power.simulation.quality_control import Behaviour as Behaviour
from humeval_power.simulation.rehearsal import Habits as Habits
from humeval_power.studies.field.calls import rehearse as rehearse
from humeval_power.studies.plan.calls import systems_pilot as systems_pilot
from humeval_power.studies.plan.candidates import SearchSpace as SearchSpace
from humeval_power.studies.plan.files import read_plan as read_plan
from humeval_power.studies.plan.plan import ParameterSource as ParameterSource
from humeval_power.studies.plan.plan import Plan as Plan
from humeval_power.studies.plan.planned_systems import PlannedSystems as PlannedSystems
from humeval_power.studies.plan.planned_systems import SystemsPilot as SystemsPilot
from humeval_power.studies.plan.planned_systems import for_systems as for_systems
from humeval_power.studies.plan.request import PlanRequest as PlanRequest
from humeval_power.studies.plan.request import PlanResult as PlanResult
from humeval_power.studies.power.assurance import assurance as assurance
from humeval_power.studies.power.assurance import safe_parameters as safe_parameters
from humeval_power.studies.power.files import read_joint as read_joint
from humeval_power.studies.power.files import usual_assumptions as usual_assumptions
from humeval_power.study_counts import StudyCounts as StudyCounts
from humeval_power.uncertainty import VarianceUncertainty as VarianceUncertainty
