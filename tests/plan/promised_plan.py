"""Plans for tests whose predicted power and cost are the true ones, as a file of a plan must have them."""

from dataclasses import replace

from humeval_power.costs import cost_of
from humeval_power.studies.plan.plan import Plan


def promised(plan: Plan) -> Plan:
    """The plan with the power and the cost that it really has."""
    cost = None if plan.costs is None else cost_of(plan.design(), plan.costs).total
    predicted = replace(plan.predicted, analytic=plan.recomputed_power())
    return replace(plan, predicted=predicted, cost=cost)
