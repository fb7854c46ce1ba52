"""`humeval-power mde`: the smallest effect that a study of this size can find, or margin it can show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from humeval_power.choices import Method
from humeval_power.interfaces.asking.command import StudyCommand, Use
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.adapting import one_pair_or_many
from humeval_power.interfaces.cli.assumptions import source_needed
from humeval_power.interfaces.cli.comparison_options import TypedFamily, comparison_options
from humeval_power.interfaces.cli.effect_options import (
    NO_DIFFERENCE,
    TypedEffects,
    effect_options,
)
from humeval_power.interfaces.cli.options import margin_finding_options, power_target_option
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.run import Run, with_run
from humeval_power.interfaces.cli.study.options import StudyOptions, study_options
from humeval_power.interfaces.cli.study.running import method_option, tell_cells
from humeval_power.interfaces.cli.study.systems import (
    TypedSystems,
    only_systems,
    tell_systems,
    typed_systems,
)
from humeval_power.interfaces.cli.systems_options import AskedSystems, systems_options
from humeval_power.rules import WITH_MARGIN, DecisionRule

if TYPE_CHECKING:
    from humeval_power.reporting.study.detectable import StudyDetectable
    from humeval_power.reporting.study.systems_answers import SystemsDetectable


_TO_START = 0.1  # the difference of a pattern, from which the answer is found in proportion


def _sought(said: Mapping[str, Any], typed: Mapping[str, Any]) -> tuple[str, ...]:
    """The effect; or the margin, at the effect that the study says."""
    if (typed.get("alternative") or said.get("alternative")) in WITH_MARGIN:
        return ("margin", "margin_raw")
    return ("effect", "effect_raw", "effect_latent", "margin", "margin_raw")


@click.command("mde", cls=StudyCommand, use=Use(seeks=_sought, adapts=one_pair_or_many))
@study_options
@field_option("workers", required=True)
@field_option("items", required=True)
@systems_options
@comparison_options
@effect_options(
    "True difference B - A on [0, 1] at which the smallest margin is sought, for non-inferior and "
    "equivalent. [0]"
)
@power_target_option
@margin_finding_options
@method_option
@with_run
@with_result()
@source_needed
def command(
    study: StudyOptions,
    workers: int,
    items: int,
    asked: AskedSystems,
    comparing: TypedFamily,
    effect: TypedEffects | None,
    target: float,
    rule: DecisionRule,
    method: Method,
    run: Run,
) -> StudyDetectable | SystemsDetectable:
    """The smallest effect that a study of this size finds with the target power.

    A difference B - A on [0, 1]; by formula, and proved by simulation. With
    --alternative equivalent or non-inferior it is the smallest margin that such
    a study shows where the true difference is --effect. Of several systems
    (--n-systems 8) it is the difference by which --pattern states their means.
    """
    several = typed_systems(study, asked, comparing, rule)
    if several is not None:
        if effect is not None:
            raise click.UsageError("The difference between systems is what is sought: leave out --effect.")
        return _of_systems(several, workers, items, target, method, run)
    if effect is not None and rule.margin is None:
        raise click.UsageError(
            "The effect is what is sought: --effect and --effect-raw belong to non-inferior and equivalent."
        )
    from humeval_power.api.study_power import study_detectable
    from humeval_power.interfaces.cli.study.typed import typed_study
    from humeval_power.planning.workload import SEARCH_STEPS

    cell, said, scale = typed_study(
        study, workers=workers, items=items, effect=effect or NO_DIFFERENCE, rule=rule
    )
    if method != "analytic":
        tell_cells([cell], run, times=SEARCH_STEPS)
    return study_detectable(
        cell.study,
        power=target,
        method=method,
        n_simulations=run.simulations(),
        seed=run.seed,
        n_jobs=run.n_jobs,
        setting=cell.setting,
        said=said,
        scale=scale,
    )


def _of_systems(
    several: TypedSystems, workers: int, items: int, target: float, method: Method, run: Run
) -> SystemsDetectable:
    from humeval_power.api.systems_power import systems_detectable
    from humeval_power.planning.workload import SEARCH_STEPS

    pattern = several.asked.pattern
    known = several.asked.system_means is not None
    unequal = all(len(set(one.means)) > 1 for one in several.settings.values())
    stated = () if known or (unequal and pattern is None) else (_TO_START,)
    name, parameters = only_systems(several, stated)
    found = several.of(name, parameters, workers, items)
    if method != "analytic" or not found.has_formula:
        tell_systems([found], run, times=SEARCH_STEPS)
    return systems_detectable(
        found,
        power=target,
        method=method,
        n_simulations=run.simulations(),
        seed=run.seed,
        n_jobs=run.n_jobs,
        scale=several.scale,
    )
