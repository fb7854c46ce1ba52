"""What the forms of a study ask alike, from the fields of the study: ratings, difference, systems, test, prices."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from humeval_power.interfaces.asking.form import Control, Group
from humeval_power.interfaces.asking.parameters import TO_PLAN_FROM
from humeval_power.interfaces.asking.vocabulary import (
    FURTHER_PRICES,
    FURTHER_PRICES_TITLE,
    ONE_PRICE,
    PRICES,
    PRICES_NOTE,
)
from humeval_power.interfaces.page.words import by_labels
from humeval_power.study import FIELDS, SECTIONS, option_of

START_PRESET, START_SCALE, START_POINTS = (FIELDS[name].start for name in ("preset", "scale", "effect_raw"))


def of(name: str, **others: Any) -> Control:
    """The control of a field of the study, with what differs in a form."""
    one = FIELDS[name]
    known = Control(
        option_of(name)[2:],
        one.label,
        one.unit,
        one.slider,
        one.step,
        one.start,
        on_page(one.help),
        one.words,
    )
    return replace(known, **others)


def on_page(help: str) -> str:
    """What is said of an option in the words of the page: other options by their labels."""
    labels = {
        option_of(name)[2:]: one.label.removeprefix("Or ") for name, one in FIELDS.items() if one.label
    }
    return re.sub(r"; see \u201c[^\u201d]*\u201d\.", ".", by_labels(help, labels))


SETTINGS = {
    "high": "Careful: workers and items differ much (Card et al. 2020)",
    "low": "Hopeful: workers and items differ little (Card et al. 2020)",
    **TO_PLAN_FROM,
}
PRESET = of("preset", labels={"": "none of these", **SETTINGS})
PARAMETERS = of("parameters")
VALUES = of("values")
SCALE, LOWER = of("scale"), of("lower_is_better")


def known(*more: Control, note: str = SECTIONS["variation"].note) -> Group:
    """Where the variances come from; `more` are other ways to say it."""
    ways = (PRESET, PARAMETERS, VALUES, *more)
    return Group(SECTIONS["variation"].title, ways, note, one_of=tuple(each.option for each in ways))


def difference() -> Group:
    """The scale, and the effect in one of its units."""
    units = tuple(of(name) for name in ("effect_raw", "effect", "effect_latent"))
    section = SECTIONS["effect"]
    return Group(section.title, (SCALE, *units), section.note, one_of=tuple(each.option for each in units))


WORKERS, ITEMS, PER_ITEM = of("workers"), of("items"), of("ratings_per_item")
N_SYSTEMS, DOCUMENTS, TARGET, ALTERNATIVE = of("n_systems"), of("documents"), of("power"), of("alternative")
_RUN = (
    Control("simulations", "Simulated studies", "studies", help="More of them narrow the interval."),
    Control("seed", "Seed of the random numbers", help="The same seed gives the same numbers."),
    Control("half-width", "Simulate until the power is known to +-"),
    Control("method", "How it is computed"),
)


def money(*more: Control, start: str = "") -> tuple[Group, ...]:
    """What a rating costs; `start` is the price of a rating at first."""
    prices = [of(name, start=start) if name == "cost_per_rating" else of(name) for name in PRICES]
    one_of = tuple(option_of(name)[2:] for name in ONE_PRICE)
    return (
        Group(SECTIONS["cost"].title, (*prices, *more), PRICES_NOTE, one_of=one_of),
        Group(FURTHER_PRICES_TITLE, tuple(map(of, FURTHER_PRICES)), folded=True),
    )


def _folded(title: str, *names: str) -> Group:
    return Group(title, tuple(map(of, names)), folded=True)


SYSTEMS = _folded(
    *("Several systems", "systems", "pattern", "system_means", "goal", "comparisons", "baseline", "model"),
    "correction",
)
KIND = _folded("Kind of ratings", "family", "shares", "link", "response", "points")
IN_DOCUMENTS = _folded("Documents", "documents", "items_per_document")
DESIGN = _folded("Who rates what", "paired", "design", "max_ratings_per_worker")
LOSSES = _folded(
    SECTIONS["losses"].title, "lost", "quitting", "careless", "at_random", "straight_lining", "exclusion"
)
_RULE = map(of, ("alternative", "margin_raw", "margin", "alpha", "estimator", "df", "analysis"))
TEST = Group(
    SECTIONS["test"].title,
    (*_RULE, Control("compat", "Decide as", labels={"card2020": "Card et al. (2020)"})),
    folded=True,
)
RUN = Group("The simulation", _RUN, folded=True)


def but(group: Group, *options: str) -> Group:
    """A group without some of its controls."""
    return replace(group, controls=tuple(each for each in group.controls if each.option not in options))
