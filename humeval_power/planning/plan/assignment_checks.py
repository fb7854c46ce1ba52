"""What is asked of an assignment, checked before any of it is laid out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np

from humeval_power.choices import MAX_RATE as MAX_RATE
from humeval_power.designs import Codes, Design
from humeval_power.errors import DesignError, Problem
from humeval_power.planning.plan.session_order import PresentationOrder


def checked_names(design: Design, names: Sequence[str]) -> tuple[str, ...]:
    """The names of the items, if there is a different one for each."""
    if len(names) != design.n_items:
        raise DesignError(f"The design has {design.n_items} items; {len(names)} item names were given.")
    blank = [number for number, name in enumerate(names, start=1) if not name.strip()]
    if blank:
        raise DesignError(f"Item name {blank[0]} is blank.")
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if first.setdefault(name, number) != number:
            raise DesignError(f"Item names {first[name]} and {number} are the same: {name!r}.")
    return tuple(names)


def check_options(
    seed: int,
    batch_size: int | None,
    order: str,
    check_rate: float,
    repeat_rate: float,
    replacement_slots: int,
    systems: Sequence[str],
    n_systems: int,
) -> None:
    """Raise DesignError with every option that is out of its range."""
    problems = [
        Problem(f"{name} must be a whole number of at least {least}; got {value}.", "")
        for name, value, least in (
            ("seed", seed, 0),
            ("batch_size", 1 if batch_size is None else batch_size, 1),
            ("replacement_slots", replacement_slots, 0),
        )
        if not isinstance(value, int | np.integer) or value < least
    ]
    problems += [
        Problem(f"{name} must be a share of the ratings from 0 to {MAX_RATE}; got {rate}.", "")
        for name, rate in (("check_rate", check_rate), ("repeat_rate", repeat_rate))
        if not 0 <= rate <= MAX_RATE
    ]
    words = get_args(PresentationOrder)
    if order not in words:
        problems.append(Problem(f"order must be one of {', '.join(words)}; got {order!r}.", ""))
    problems += _name_problems(systems, n_systems)
    if problems:
        raise DesignError(problems)


def _name_problems(systems: Sequence[str], n_systems: int) -> list[Problem]:
    """Too few or too many names of systems, or some that are blank or the same."""
    twice = next((name for name in systems if list(systems).count(name) > 1), None)
    blank = not all(name.strip() for name in systems)
    if len(systems) == n_systems and twice is None and not blank:
        return []
    if n_systems == 2:
        return [Problem(f"The two systems need two names; got {', '.join(systems)}.", "")]
    wrong = f"these are {len(systems)}"
    if len(systems) == n_systems:
        wrong = "one is blank" if blank else f"{twice!r} is there twice"
    return [Problem(f"The {n_systems} systems need {n_systems} names: {wrong}.", "")]


def check_shown(slots: Sequence[str], loads: Codes, repeats: Codes, checks: Codes, *, limit: int) -> None:
    """Raise DesignError if a slot is shown more than the limit, repeats and checks included."""
    shown = loads + repeats + checks
    worst = int(shown.argmax())
    if shown[worst] <= limit:
        return
    if loads[worst] > limit:
        remedy = "Let fewer workers rate each item (ratings_per_item), or use fewer items."
    else:
        remedy = (
            f"The ratings leave room for {limit - loads[worst]} more: lower the rates of repeats and "
            "checks, or give each worker fewer ratings."
        )
    raise DesignError(
        f"Slot {slots[worst]} would be shown {shown[worst]} texts and checks (ratings: {loads[worst]}, "
        f"repeats: {repeats[worst]}, checks: {checks[worst]}), above the limit of {limit} "
        f"(max_ratings_per_worker). {remedy}"
    )
