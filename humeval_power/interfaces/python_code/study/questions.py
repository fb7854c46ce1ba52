"""`power` and `mde` of a rating study, as programs."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import Code, Value, call, stated
from humeval_power.interfaces.python_code.runs import run_of
from humeval_power.interfaces.python_code.settings import look_into
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.study.cells import CARD2020_UNIT, losses_of, one_study
from humeval_power.interfaces.python_code.study.systems import (
    is_of_systems,
    systems_mde,
    systems_power,
)
from humeval_power.interfaces.python_code.typed import Typed


def power(typed: Typed, source: Source) -> None:
    """How often a study finds its effect."""
    if typed["plan"] is not None:
        _planned(typed, source)
    elif is_of_systems(typed):
        systems_power(typed, source)
    else:
        found = one_study(typed, source)
        unit = CARD2020_UNIT if typed["compat"] else None
        told = {**found.told, "effect_unit": unit, "strict": typed.given("strict")}
        run = run_of(typed, "method", "precision")
        function = "hp.study.study_power" if any(one is not None for one in told.values()) else "hp.power"
        source.let("result", call(function, found.study, **run, **told))


def mde(typed: Typed, source: Source) -> None:
    """The smallest effect that a study finds, or margin that it shows."""
    if is_of_systems(typed):
        systems_mde(typed, source)
        return
    found = one_study(typed, source, finds_margin=True)
    target = typed.given("target")
    run = run_of(typed, "method")
    told = any(one is not None for one in found.told.values())
    function = "hp.study.study_detectable" if told else "hp.detectable_effect"
    source.let("result", call(function, found.study, power=target, **run, **found.told))


def _planned(typed: Typed, source: Source) -> None:
    """The study of a plan, which has everything but the losses."""
    typed.refuse(["amend"], "changes the plan")
    plan = source.let("plan", call("hp.plans.read_plan", typed["plan"]))
    run = run_of(typed, "method", "precision")
    strict = typed.given("strict")
    if look_into(typed["plan"]).get("systems_planned") is not None:
        source.let(
            "result", call("hp.study.systems_power", Code(f"{plan}.systems_study()"), **run, strict=strict)
        )
        return
    losses = stated(losses_of(typed))
    study: Value = Code(f"{plan}.study()")
    if losses:
        source.imports("from dataclasses import replace")
        study = source.let("study", call("replace", study, **losses))
    said = call("hp.Difference", Code(f"{plan}.effect"), Code(f"{plan}.scale"))
    told = {"said": said, "scale": Code(f"{plan}.scale"), "strict": strict}
    source.let("result", call("hp.study.study_power", study, **run, **told))
