"""The study that is rehearsed: an assignment held against its plan, and the world that ratings are drawn from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from humeval_power.checking.columns import listing
from humeval_power.checking.exports.assigned import WholeWork
from humeval_power.choices import Response
from humeval_power.designs import Design
from humeval_power.errors import InputError, Problem
from humeval_power.parameters import Parameters
from humeval_power.scales import RatingScale
from humeval_power.simulation.losses import Losses
from humeval_power.simulation.quality_control import USUAL_BEHAVIOUR
from humeval_power.simulation.rehearsal import Fieldwork, Habits, World
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.plan.planned_systems import for_systems, scaled
from humeval_power.systems import SystemsParameters

NO_LOSSES = Losses()
_REMEDY = "Give the assignment that was made by this plan, or the plan that it was made by."


def world_of(
    plan: Plan,
    *,
    parameters: Parameters | SystemsParameters | None = None,
    effect: float | None = None,
    means: Sequence[float] | None = None,
) -> World:
    """What ratings are drawn from: the plan's parameters at its effect, unless others are given.

    parameters : how ratings vary, in the place of the plan's; their own difference or means count for nothing.
    effect : the true difference B - A on [0, 1]; of several systems the plan's means are drawn apart or together
        to be made of it.
    means : true means of several systems.

    Raises InputError: means of a plan of two systems, an effect that the means cannot be made of, or another number
    of systems.
    """
    if plan.many is None:
        if isinstance(parameters, SystemsParameters) or means is not None:
            raise InputError(
                "This plan is of two systems: give the parameters of two, and their difference."
            )
        return (parameters or plan.parameters).with_difference(plan.effect if effect is None else effect)
    known = plan.many.parameters
    used = _of_systems(parameters, known)
    if means is not None:
        if effect is not None:
            raise InputError("Give the means of the systems or an effect, not both.")
        if len(means) != used.n_systems:
            raise InputError(f"Give one mean for each of the {used.n_systems} systems; got {len(means)}.")
        return used.with_means(means)
    if effect is None:
        moved = known
    elif not plan.effect:
        raise InputError("The plan has no effect that its means are made of: give the means themselves.")
    else:
        moved = scaled(plan.many, effect / plan.effect).parameters
    centre = math.fsum(used.means) / used.n_systems - math.fsum(moved.means) / moved.n_systems
    return used.with_means([mean + centre for mean in moved.means])


def _of_systems(given: World | None, known: SystemsParameters) -> SystemsParameters:
    if given is None:
        return known
    if isinstance(given, Parameters):
        return SystemsParameters.of_parameters(given, names=known.names)
    return for_systems(given, known.names)


def usual_habits(
    plan: Plan, *, losses: Losses = NO_LOSSES, passing: float | None = None, seconds: float | None = None
) -> Habits:
    """Habits of workers where little is said: an output takes the seconds that the plan's prices are made of."""
    if seconds is None and plan.costs is not None and plan.costs.seconds_per_rating is not None:
        seconds = float(plan.costs.seconds_per_rating)
    said = {
        name: value for name, value in (("passing", passing), ("seconds", seconds)) if value is not None
    }
    return Habits(losses=losses, behaviour=replace(USUAL_BEHAVIOUR, **said))


def planned_response(
    world: World, scale: RatingScale | None, response: Response | None, points: int | None
) -> tuple[Response, int | None]:
    """How ratings are given, and on how many points: on those of the scale, else cut to its ends.

    Raises InputError: other points than the scale has, or points of ratings that arise in categories.
    """
    if isinstance(world, Parameters) and world.latent is not None:
        if points is not None or response is not None:
            raise InputError(
                "The plan's ratings arise in categories: leave out the response and its points."
            )
        return "gaussian", None
    of_scale = None if scale is None else scale.points
    if points is not None and of_scale is not None and points != of_scale:
        raise InputError(f"The scale has {of_scale} points, not {points}.")
    used = points or of_scale
    if response is None:
        response = "clipped" if used is None else "likert"
    return response, used if response == "likert" else None


def check_look(plan: Plan, look: int) -> None:
    """Refuse a look that the plan does not have."""
    if plan.looks is None:
        raise InputError("The plan has no looks: leave out the look.")
    if not 1 <= look <= plan.looks.looks.n_looks:
        raise InputError(f"The plan has the looks 1 to {plan.looks.looks.n_looks}; got {look}.")


def fieldwork(plan: Plan, work: WholeWork) -> Fieldwork:
    """The assignment as numbers.

    Raises InputError: an assignment that is not of this plan: everything that differs, at once.
    """
    design = plan.design()
    problems = [
        Problem(f"{values}.", _REMEDY if last else "", place=work.source)
        for values, last in _with_last(list(_differences(plan, design, work)))
    ]
    if problems:
        raise InputError(problems)
    frame = work.frame
    worker, slots = pd.factorize(frame["slot"])
    shown = (frame["kind"] != "check").to_numpy()
    items = np.unique(frame["item"][shown].to_numpy(dtype=str))
    place = {name: code for code, name in enumerate(items.tolist())}
    item = np.array(
        [
            place.get(name, -1) if is_shown else -1
            for name, is_shown in zip(frame["item"], shown, strict=True)
        ]
    )
    systems = {name: code for code, name in enumerate(plan.systems)}
    system = np.array([systems.get(name, -1) for name in frame["system"]], dtype=np.int64)
    batch = frame["batch"].to_numpy(dtype=np.int64)
    last = np.full(len(slots), batch.max(), dtype=np.int64)
    for slot, first in work.first_taken.items():
        last[slots.get_loc(slot)] = first - 1
    of_item = None
    if plan.counts.n_documents:
        of = frame[shown].drop_duplicates("item").set_index("item")["document"]
        of_item = pd.factorize(of.loc[items], sort=True)[0].astype(np.int64)
    return Fieldwork(
        worker.astype(np.int64), batch, item.astype(np.int64), system, last,
        len(items), plan.counts.n_documents, of_item,
    )  # fmt: skip


def _with_last(names: list[str]) -> Iterator[tuple[str, bool]]:
    """Each with whether it is the last, which tells what to do."""
    return ((one, place == len(names)) for place, one in enumerate(names, start=1))


def _differences(plan: Plan, design: Design, work: WholeWork) -> Iterator[str]:
    """In what an assignment is not that of the plan."""
    rows, counts = work.planned, plan.counts
    added, rows = rows[rows["added"]], rows[~rows["added"]]
    strange = sorted(set(added["item"]) - set(rows["item"]))
    if strange:
        yield f"ratings of items were added that it does not have: {listing(strange, limit=8)}"
    systems = set(rows["system"])
    if systems != set(plan.systems):
        yield (f"it has the systems {listing(sorted(systems))}; the plan has {listing(list(plan.systems))}")
    for what, values, planned in (
        ("worker slots", rows["slot"].nunique(), counts.n_workers),
        ("items", rows["item"].nunique(), counts.n_items),
        ("ratings", len(rows), design.n_ratings),
    ):
        if values > planned or (values < planned and not plan.drops_systems):
            yield f"it has {values:,} {what}; the plan has {planned:,}"
    planned_rows = design.assignment
    theirs = np.sort(rows.groupby(["item", "system"]).size().to_numpy())
    ours = np.sort(
        np.unique(planned_rows.item * design.n_systems + planned_rows.system, return_counts=True)[1]
    )
    if len(rows) == design.n_ratings and not np.array_equal(theirs, ours):
        yield (
            f"its outputs get {theirs.min():,} to {theirs.max():,} ratings each; those of the plan get "
            f"{ours.min():,} to {ours.max():,}"
        )
    yield from _other_documents(plan, work)
    yield from _other_looks(plan, rows)


def _other_documents(plan: Plan, work: WholeWork) -> Iterator[str]:
    planned = plan.counts.n_documents
    shown = work.frame[work.frame["kind"] != "check"]
    n_documents = shown["document"][shown["document"] != ""].nunique()
    if n_documents != planned:
        yield f"it has {n_documents:,} documents; the plan has {planned:,}"
    elif (shown.groupby("item")["document"].nunique() > 1).any():
        yield "it shows an item in more than one document"


def _other_looks(plan: Plan, rows: pd.DataFrame) -> Iterator[str]:
    of_plan = plan.look_of_ratings()
    has_looks = bool((rows["look"] != "").any())
    if of_plan is None or not has_looks:
        if (of_plan is None) is has_looks:
            yield "it has looks; the plan has none" if of_plan is None else "it has no looks; the plan has"
        return
    planned = np.bincount(of_plan)[1:].tolist()
    sizes = [int((rows["look"] == str(look)).sum()) for look in range(1, len(planned) + 1)]
    fewer = plan.drops_systems and all(size <= most for size, most in zip(sizes, planned, strict=True))
    if sizes != planned and not fewer:  # dropped systems are rated no more, and later stages come later
        yield f"its looks need {_numbers(sizes)} ratings; those of the plan {_numbers(planned)}"


def _numbers(counts: list[int]) -> str:
    return listing([f"{count:,}" for count in counts])
