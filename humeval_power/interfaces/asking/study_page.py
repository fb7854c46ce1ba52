"""What pages about a study ask first, and where their answers lead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from humeval_power.fields import Field
from humeval_power.interfaces.asking.declared import Part
from humeval_power.interfaces.asking.form import Next
from humeval_power.interfaces.asking.options import link_of
from humeval_power.interfaces.asking.vocabulary import (
    FURTHER_PRICES,
    FURTHER_PRICES_TITLE,
    ONE_PRICE,
    PRICES,
    PRICES_NOTE,
)
from humeval_power.study import FIELDS, SECTIONS

EFFECTS = ("effect_raw", "effect", "effect_latent")
_WAYS = ("preset", "parameters", "values")
SIZE = Part("The size of the study", ("workers", "items", "ratings_per_item", "n_systems"))
VARIATION = Part(SECTIONS["variation"].title, _WAYS, SECTIONS["variation"].note, one_of=_WAYS)
EFFECT = Part(SECTIONS["effect"].title, ("scale", *EFFECTS), SECTIONS["effect"].note, one_of=EFFECTS)
FURTHER_COSTS = Part(FURTHER_PRICES_TITLE, FURTHER_PRICES, folded=True)
TEST = Part(SECTIONS["test"].title, ("family", "alternative", "margin_raw", "margin", "alpha"))


def costs(*more: str) -> tuple[Part, ...]:
    """Prices, and `more` beside them."""
    return (
        Part(SECTIONS["cost"].title, (*PRICES, *more), PRICES_NOTE, one_of=ONE_PRICE),
        FURTHER_COSTS,
    )


def untouched(fields: Mapping[str, Field], **starts: str) -> dict[str, Field]:
    """The fields without the values with which a page begins, but for `starts`."""
    return {
        name: replace(one, start=starts.get(name, ""), slider=None if one.start else one.slider)
        for name, one in fields.items()
    }


# What goes along from question to question: all but the size, which the next one asks anew.
_SECTIONS = ("ratings", "variation", "effect", "systems", "test", "losses", "cost")
CARRIED = (*(link_of(name, one) for name, one in FIELDS.items() if one.section in _SECTIONS), "power")
TO_PLAN = Next(
    ("plan",),
    "Find the cheapest design, and seal the plan",
    CARRIED,
    sets={"items": "50:300:25", "max-workers": "40", "cost-per-rating": "0.10"},
)
TO_POWER = Next(("power",), "Power of one size")
TO_MDE = Next(("mde",), "What is the smallest difference that it finds?")
TO_SIZE = Next(("size",), "How many workers are enough?", sets={"find": "workers"})
TO_SURFACE = Next(
    ("surface",),
    "A picture over many sizes",
    tuple(name for name in CARRIED if name != "power"),
    sets={"workers": "5:40:5", "items": "50,100,200"},
)
TO_LOOKS = Next(("looks", "study"), "Look at the ratings before the end")
