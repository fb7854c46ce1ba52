"""`--shares` and `--effect-latent`: studies whose ratings arise in categories, and what analyses them."""

from __future__ import annotations

from dataclasses import replace

import click

from humeval_power.assumptions import Assumptions, in_categories
from humeval_power.differences import Difference
from humeval_power.errors import HumevalPowerError
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.effect_options import TypedEffects
from humeval_power.interfaces.cli.output import note
from humeval_power.latent import LARGEST_EFFECT, Latent, Link
from humeval_power.rules import DecisionRule

Shares = tuple[float, ...]


shares_option = field_option("shares")


def settled(
    settings: Assumptions, shares: Shares | None, link: Link, effect: TypedEffects
) -> list[tuple[Assumptions, Difference]]:
    """For each effect that was typed the parameters, in categories of these shares, and the difference.

    Raises
    ------
    click.UsageError
        A latent effect of ratings that are numbers.
    ParametersError
        Shares that the parameters leave no room for, or a latent effect that cannot be.
    """
    if effect.latent:
        return [_at_latent_effect(settings, shares, link, value) for value in effect.values]
    found = [said.between(settings.systems) for said in effect.on(settings.scale)]
    if shares is None:
        return [(settings, said) for said in found]
    return [(in_categories(settings, shares, link=link, difference=said.value), said) for said in found]


def settled_once(
    settings: Assumptions, shares: Shares | None, link: Link, effect: TypedEffects
) -> tuple[Assumptions, Difference]:
    """The same for a command that takes one effect."""
    return settled(settings, shares, link, effect)[0]


def without_effect(settings: Assumptions, shares: Shares | None, link: Link) -> Assumptions:
    """The parameters in categories of these shares where systems do not differ."""
    return settings if shares is None else in_categories(settings, shares, link=link)


def _at_latent_effect(
    settings: Assumptions, shares: Shares | None, link: Link, effect: float
) -> tuple[Assumptions, Difference]:
    if len(settings.entries) != 1:
        raise click.UsageError("--effect-latent is of one set of parameters; give one.")
    if shares is None:
        latent = settings.entries[0].parameters.latent
        if latent is None:
            raise click.UsageError("--effect-latent is of ratings in categories: add --shares.")
        said = Difference(
            replace(latent, effect=effect).difference, settings.scale, systems=settings.systems
        )
        return settings, said

    def at(difference: float) -> tuple[Assumptions, Latent]:
        found = in_categories(settings, shares, link=link, difference=difference)
        latent = found.entries[0].parameters.latent
        assert latent is not None
        return found, latent

    same, latent = at(0.0)
    if effect == 0:
        return same, Difference(0.0, settings.scale, systems=settings.systems)

    from scipy import optimize

    def gap(difference: float) -> float:
        try:
            return at(difference)[1].effect - effect
        except HumevalPowerError:  # beyond what the shares allow
            return LARGEST_EFFECT if effect > 0 else -LARGEST_EFFECT

    guess = replace(latent, effect=effect).difference
    low, high = sorted((guess / 2, max(-0.99, min(0.99, 1.5 * guess))))
    difference = float(optimize.brentq(gap, low, high, xtol=1e-9))
    return at(difference)[0], Difference(difference, settings.scale, systems=settings.systems)


def analysed_as(rule: DecisionRule, settings: Assumptions) -> DecisionRule:
    """The rule with the family in which the ratings arise, where none was typed; it is told.

    Parameters that disagree, or that are numbers, leave the rule as it is.
    """
    latents = [entry.parameters.latent for entry in settings.entries]
    first = latents[0] if latents else None
    if first is None or any(each is None or each.family != first.family for each in latents):
        return rule
    ctx = click.get_current_context()
    typed = [
        name
        for name in ("family", "link")
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
    ]
    if "family" in typed or rule.analysis == "differences":
        return rule if "link" in typed else replace(rule, link=first.link)
    note(
        f"Ratings arise in categories, and are analysed as family '{first.family}'; --family gaussian analyses "
        "them as numbers."
    )
    return replace(rule, family=first.family, link=rule.link if "link" in typed else first.link)
