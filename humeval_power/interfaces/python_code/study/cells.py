"""The study that is asked about: parameters at the true effect, design, rule, response and losses."""

from __future__ import annotations

from humeval_power.interfaces.python_code.effects import Effect
from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call, quoted
from humeval_power.interfaces.python_code.settings import Setting, Settings
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import GapError, Typed

CARD2020_UNIT = 2.0  # their effect is a coefficient under -1/+1: half the difference between systems
NONE = Effect(0.0)


def named_effect(said: Effect, source: Source) -> Effect:
    """The effect under a name, where it was said in points: a result tells both."""
    if said.said is None:
        return said
    name = source.let("effect", said.said)
    return Effect(Code(f"{name}.value"), name)


def refuse_latent(typed: Typed) -> None:
    """An effect on the latent scale is turned into a difference by a search that has no public call."""
    if "effect_latent" in typed:
        typed.refuse(["effect_latent"], "is turned into a difference by a search without a public call")


def at_effect(
    typed: Typed, settings: Settings, said: Effect, source: Source, *, known: bool = True
) -> Value:
    """The parameters at the true difference, in categories where shares were typed."""
    setting = settings.only
    if "shares" in typed and typed["shares"] is not None:
        there = in_categories(typed, settings, said.value if known else None)
        parameters: Value = Code(f"{source.let('in_categories', there)}.by_name[{quoted(setting.name)}]")
    else:
        parameters = setting.parameters
    if isinstance(parameters, Code):
        return Call("with_difference", (said.value,), {}, parameters)
    assert isinstance(parameters, Call)
    if len(parameters.named) > 1:
        parameters = source.let("typed", parameters)
    return Call("with_difference", (said.value,), {}, parameters)


def in_categories(typed: Typed, settings: Settings, difference: Value) -> Call:
    """The assumptions with ratings in categories of the shares that were typed."""
    return call(
        "hp.models.in_categories",
        assumptions(settings),
        list(typed["shares"]),
        link=typed.given("link"),
        difference=None if difference == 0 else difference,
    )


def assumptions(settings: Settings, systems: Value = None) -> Call:
    """Everything that is assumed, with the scale and the systems that were typed."""
    entries = [
        call("hp.plans.Assumed", entry.name, entry.parameters) if entry.name == "typed" else entry.assumed
        for entry in settings.entries
    ]
    typed_scale = settings.scale if settings.scale is not None and settings.scale.text == "scale" else None
    return call("hp.Assumptions", entries, typed_scale=typed_scale, typed_systems=systems)


def family_of(typed: Typed, setting: Setting) -> str:
    """As what ratings arise: of the shares, else of the parameters."""
    shares = typed["shares"]
    if shares is None:
        return setting.family
    return "binary" if len(shares) == 2 else "ordinal"


def response_of(typed: Typed, settings: Settings) -> dict[str, Value]:
    """How ratings are given, and on how many points."""
    response, points = typed.given("response"), typed["points"]
    if response != "likert":
        return {"response": response}
    if points is None:
        if settings.scale is None:
            raise GapError("points: no scale is known")
        points = Code(f"{settings.scale}.points")
    return {"response": response, "points": points}
