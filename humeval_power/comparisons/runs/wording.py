"""Plans of comparisons over repeated runs in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from humeval_power.runs_parameters import RunsParameters
from humeval_power.saying.numbers import counted, decimals, significant
from humeval_power.studies.power.wording import Wording, accuracy_words, higher, right_on

if TYPE_CHECKING:
    from humeval_power.comparisons.runs.scenario import RunsCeiling, RunsPlan, RunsScenario

_FAR = 0.01  # share of a standard deviation by which a realised one is said to be another


def _words(scenario: RunsScenario) -> list[str]:
    from humeval_power.comparisons.runs.scenario import ceilings

    return [
        items_words(scenario.plan),
        runs_words(scenario.plan, scenario.parameters),
        test_words(scenario),
        *varying(scenario.parameters, scenario.plan),
        *_changed(scenario),
        *(ceiling_words(each, scenario.parameters) for each in ceilings(scenario)),
    ]


def _said(scenario: RunsScenario) -> str:
    if scenario.parameters.family == "binary":
        return accuracy_words(scenario.effect)
    return f"B - A = {scenario.effect:.4g} in the unit of the scores"


def items_words(plan: RunsPlan) -> str:
    """How many items there are, and in which clusters."""
    if not plan.has_clusters:
        return f"{plan.n_items:,} items, answered by both systems"
    sizes = plan.sizes
    low, high = int(sizes[0]), int(sizes[-1])
    each = f"{low}" if low == high else f"{low} to {high}"
    return f"{plan.n_items:,} items in {len(sizes):,} clusters of {each}, answered by both systems"


def runs_words(plan: RunsPlan, parameters: RunsParameters) -> str:
    """How many runs there are, and how many calls they make."""
    calls = plan.n_items * (plan.runs_a + plan.runs_b)
    if parameters.kind == "crossed":
        return f"{plan.runs_a:,} prompts (or seeds), the same for all items: {calls:,} calls"
    if plan.runs_a == plan.runs_b:
        return f"{counted(plan.runs_a, 'run')} of each item by each system: {calls:,} calls"
    return f"{counted(plan.runs_a, 'run')} of each item by A, {plan.runs_b:,} by B: {calls:,} calls"


def test_words(scenario: RunsScenario) -> str:
    """Which test is made, at which level."""
    plan, df = scenario.plan, decimals(scenario.precision.df, 1)
    if scenario.parameters.kind == "crossed":
        model = "crossed logit model" if scenario.parameters.family == "binary" else "crossed mixed model"
        test = f"{model}, prompts and items as samples, expected df {df}"
    elif plan.has_clusters:
        test = f"CR2 t test of the items' mean difference, df {df}"
    else:
        test = f"paired t test of the items' mean difference, df {df}"
    margin = "" if plan.margin is None else f" within {plan.margin:g}"
    return f"{test}; {plan.alternative}{margin}, alpha {plan.alpha:g}"


def varying(parameters: RunsParameters, plan: RunsPlan) -> Iterator[str]:
    """What scores vary by."""
    of = parameters
    if of.kind == "nested":
        yield (
            f"SD of items' true differences {of.sd_item:.4g}; of single runs {of.sd_run_a:.4g} (A) and "
            f"{of.sd_run_b:.4g} (B)"
        )
    else:
        unit = " on log odds" if of.family == "binary" else ""
        rest = "" if of.family == "binary" else f", of single scores {of.sd_residual:.4g}"
        yield (
            f"SD of prompts' own differences {of.sd_prompt_slope:.4g}, of items' {of.sd_item:.4g}{rest}{unit}"
        )
    if of.icc and plan.has_clusters:
        yield f"intra-cluster correlation of items' true differences {of.icc:.4g}"
    elif of.icc:
        yield (
            f"every item of a cluster of its own: the intra-cluster correlation {of.icc:.4g} then costs nothing; "
            "--cluster-size says otherwise"
        )
    if of.family == "binary":
        yield f"share that is right, halfway between A and B: {of.baseline:.4g}"


def ceiling_words(ceiling: RunsCeiling, parameters: RunsParameters) -> str:
    """What no more of something can exceed."""
    runs = "prompts" if parameters.kind == "crossed" else "runs"
    rest = f"as many {runs}" if ceiling.endless == "items" else "the same items"
    return f"with endless {ceiling.endless} and {rest}: power {ceiling.power:.3f}"


def _changed(scenario: RunsScenario) -> Iterator[str]:
    """Where right and wrong answers cannot vary as was said."""
    from humeval_power.comparisons.runs.scenario import NestedRuns

    if not isinstance(scenario, NestedRuns):
        return
    for name in ("sd_item", "sd_run_a", "sd_run_b"):
        said, realised = (getattr(of, name) for of in (scenario.parameters, scenario.realised))
        if abs(realised - said) > _FAR * max(said, realised):
            yield (
                f"{name} {said:.4g} is not possible with these shares and the other deviations; taken: "
                f"{significant(realised)}"
            )


def _finding(scenario: RunsScenario) -> str:
    if scenario.parameters.family == "binary":
        return right_on(scenario.effect)
    return f"that B scores {abs(scenario.effect):.4g} {higher(scenario.effect)} than A on average"


class _RunsWording(Wording):
    def found(self, scenario: Any) -> str:
        """What a study is to find; with a margin, that it holds, and at which difference."""
        margin, effect = scenario.plan.margin, scenario.effect
        if margin is None:
            return super().found(scenario)
        actual = (
            f"B really scores {abs(effect):.4g} {higher(effect)}" if effect else "they really score alike"
        )
        if scenario.plan.alternative == "equivalent":
            return f"that A and B score alike within {margin:g}, if {actual}"
        return f"that B does not score {margin:g} lower than A or worse, if {actual}"


WORDING = _RunsWording("runs", _words, said=_said, finding=_finding, sized="items")
