"""`size` and `surface` of a rating study, as programs."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.interfaces.python_code.designs import documents_of
from humeval_power.interfaces.python_code.effects import difference_of, effect_of
from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call, quoted
from humeval_power.interfaces.python_code.rules import rule_of
from humeval_power.interfaces.python_code.runs import run_of
from humeval_power.interfaces.python_code.settings import Settings, settings_of
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.study.cells import (
    CARD2020_UNIT,
    NONE,
    family_of,
    in_categories,
    named_effect,
    refuse_latent,
    response_of,
)
from humeval_power.interfaces.python_code.study.systems import (
    is_of_systems,
    systems_size,
    systems_surface,
)
from humeval_power.interfaces.python_code.typed import GapError, Typed


def size(typed: Typed, source: Source) -> None:
    """The fewest workers, items, documents or ratings per item for a target power."""
    if is_of_systems(typed):
        systems_size(typed, source)
        return
    refuse_latent(typed)
    typed.refuse(["response", "points", "design"], "is not looked at")
    typed.allow("max_ratings_per_worker")
    settings = settings_of(typed, source)
    said = named_effect(effect_of(typed, settings.scale) or NONE, source)
    setting = settings.only
    parameters: Value = setting.parameters
    if typed["shares"] is not None:
        known = source.let("in_categories", in_categories(typed, settings, said.value))
        parameters = Code(f"{known}.by_name[{quoted(setting.name)}]")
    rule = rule_of(typed, settings.scale, family=family_of(typed, setting), link=setting.link)
    sought, per_item = typed["sought"], typed["ratings_per_item"]
    found = call(
        "hp.study_size",
        source.named("parameters", parameters),
        sought,
        effect=said.stated,
        workers=typed["workers"],
        items=typed["items"],
        ratings_per_item=None if sought == "ratings-per-item" else per_item,
        paired=typed.given("paired"),
        documents=documents_of(typed),
        power=typed.given("target"),
        rule=None if rule is None else source.named("rule", rule),
        method=typed.given("method"),
        scale=settings.scale,
        **run_of(typed),
    )
    source.let("result", found)


def surface(typed: Typed, source: Source) -> None:
    """Power over settings, sizes and effects."""
    if is_of_systems(typed):
        systems_surface(typed, source)
        return
    refuse_latent(typed)
    settings = settings_of(typed, source)
    card = typed["compat"] is not None
    families = {family_of(typed, entry) for entry in settings.entries}
    family = "gaussian" if card or len(families) > 1 else families.pop()
    rule: Value = rule_of(typed, settings.scale, family=family, link=settings.entries[0].link)
    rule = Code("hp.CARD2020") if card else rule
    if rule is not None and typed["effect"] is None and typed["effect_raw"] is None:
        rule = source.let("rule", rule)
    effects, said = _effects(typed, settings, rule, source)
    known = _known(typed, settings, effects, source)
    cells = _cells(typed, settings, known, effects, rule)
    whole: Value = source.let("cells", cells)
    if typed["compare"] is not None:
        card_cells = _cells(typed, settings, known, effects, Code("hp.CARD2020"))
        whole = Code(f"{whole} + {source.let('card2020', card_cells)}")
    found = call(
        "hp.study_surface",
        whole,
        **run_of(typed, "precision"),
        settings=known,
        said=said,
        effect_unit=CARD2020_UNIT if card else None,
        strict=typed.given("strict"),
        draw=typed.given("draw"),
        along=typed.given("along"),
    )
    source.let("result", found)


def _effects(
    typed: Typed, settings: Settings, rule: Value, source: Source
) -> tuple[Sequence[Value], Value]:
    """The differences on [0, 1], and how they were said where that is more."""
    points, values = typed["effect_raw"], typed["effect"]
    if points is not None:
        said = source.let("effects", [difference_of(one, settings.scale) for one in points])
        return [Code(f"{said}[{place}].value") for place in range(len(points))], said
    if values is None:
        effects: list[Value] = [0.0, Code(f"{rule}.halfway")]
    else:
        unit = CARD2020_UNIT if typed["compat"] else 1.0
        effects = [unit * value for value in values]
    if settings.scale is None:
        return effects, None
    return effects, [call("hp.Difference", one, settings.scale) for one in effects]


def _known(typed: Typed, settings: Settings, effects: Sequence[Value], source: Source) -> Value:
    """The parameters by name; in categories, where shares were typed, as they are at the effect."""
    if typed["shares"] is None:
        return source.let("settings", settings.by_name)
    if typed["compat"] is None and len(effects) > 1:
        raise GapError("shares: over several effects")
    difference = None if typed["compat"] else effects[0]
    return Code(f"{source.let('in_categories', in_categories(typed, settings, difference))}.by_name")


def _cells(typed: Typed, settings: Settings, known: Value, effects: Sequence[Value], rule: Value) -> Call:
    return call(
        "hp.study.list_cells",
        known,
        workers=list(typed["workers"]),
        items=list(typed["items"]),
        effects=effects,
        ratings_per_item=typed["ratings_per_item"],
        paired=typed.given("paired"),
        kind=typed["design"],
        max_ratings_per_worker=typed["max_ratings_per_worker"],
        rule=rule,
        documents=documents_of(typed),
        **response_of(typed, settings),
    )
