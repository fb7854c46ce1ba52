"""`survey` and `resample`, as programs."""

from __future__ import annotations

from humeval_power.interfaces.python_code.effects import difference_of
from humeval_power.interfaces.python_code.expressions import Code, Value, call
from humeval_power.interfaces.python_code.rules import rule_of
from humeval_power.interfaces.python_code.runs import run_of
from humeval_power.interfaces.python_code.settings import settings_of
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.tables import ratings_of
from humeval_power.interfaces.python_code.typed import Typed


def survey(typed: Typed, source: Source) -> None:
    """What published comparisons report, and could have found."""
    settings = settings_of(typed, source)
    points, values = typed["effect_raw"], typed["effect"]
    effects: Value = None
    if points is not None:
        effects = [difference_of(one, settings.scale) for one in points]
    elif settings.scale is not None:
        usual = (0.05, 0.1, 0.2)
        effects = [call("hp.Difference", one, settings.scale) for one in values or usual]
    elif values is not None:
        effects = list(values)
    source.let("comparisons, notices", call("hp.models.read_comparisons", typed["file"]))
    assumed = {
        "workers": typed["if_no_workers"],
        "items": typed["if_no_items"],
        "ratings_per_item": typed["if_no_ratings"],
    }
    known = {name: number for name, number in assumed.items() if number is not None}
    found = call(
        "hp.survey",
        Code("comparisons"),
        settings.by_name,
        effects=effects,
        if_missing=known or None,
        rule=rule_of(typed, settings.scale),
    )
    source.let("result", found)


def resample(typed: Typed, source: Source) -> None:
    """Power of tests on studies drawn from ratings."""
    ratings = ratings_of(typed, source)
    lists = {name: typed.given(name) for name in ("tests", "workers", "items")}
    shift: Value = typed["shift"]
    if typed["shift_raw"] is not None:
        shift = difference_of(typed["shift_raw"], Code(f"{ratings}.scale"))
    rule = call("hp.DecisionRule", df=typed.given("df"), alpha=typed.given("alpha"))
    found = call(
        "hp.resample",
        ratings,
        by=typed.given("by"),
        **{name: None if one is None else list(one) for name, one in lists.items()},
        n_ratings=None if typed["ratings"] is None else list(typed["ratings"]),
        shift=shift,
        rule=rule if rule.named else None,
        **run_of(typed),
    )
    source.let("result", found)
