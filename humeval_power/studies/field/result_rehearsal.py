"""A rehearsal: what would come back from the field, as it is collected or as a platform would give it back.

The study that is rehearsed: an assignment held against its plan, and the world that ratings are drawn from.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from humeval_power.checking.columns import listing
from humeval_power.checking.exports.assigned import WholeWork
from humeval_power.checking.rehearsed import RECORD_SCHEMA, rehearsed_worker
from humeval_power.checking.rows import KINDS
from humeval_power.choices import Response
from humeval_power.differences import Difference
from humeval_power.errors import InputError, Problem, refuse
from humeval_power.parameters import Parameters
from humeval_power.safe_text import table_csv
from humeval_power.saying.document import Document, Fact, Facts, Points, Section
from humeval_power.saying.numbers import counted
from humeval_power.saying.result import PLAN_FILE, Record, Result
from humeval_power.saying.stated import table
from humeval_power.scales import RatingScale
from humeval_power.simulation.quality_control import USUAL_BEHAVIOUR
from humeval_power.simulation.rehearsal import Fieldwork, Floats, Habits, Mask, RehearsedRatings, World
from humeval_power.simulation.study import AT_RANDOM, STRAIGHT, Losses
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.plan.planned_systems import for_systems, scaled
from humeval_power.systems import SystemsParameters

_DIGITS = 6
_CODED = ("worker", "slot", "batch", "order", "code", "criterion", "rating", "kind", "seconds", "passed")


@dataclass(frozen=True, kw_only=True)
class RehearsalResult(Result):
    """What came back from a rehearsal of a planned study.

    coded : the table is what a platform would give back.
    look : the table ends with what this look needs; None for all of it.
    plan_text : the file of the plan, of which a folder with the rehearsal keeps a copy.
    """

    schema: ClassVar[str] = RECORD_SCHEMA
    endings: ClassVar[tuple[str, ...]] = (".csv",)

    plan: Plan
    work: WholeWork
    world: World
    habits: Habits
    drawn: RehearsedRatings
    response: Response
    effect: Difference | None
    scale: RatingScale | None = None
    coded: bool = False
    look: int | None = None
    plan_text: str | None = None

    @cached_property
    def collected(self) -> pd.DataFrame:
        """A row for each rating, repeat and check that was done, as the field gives them back, decoded."""
        frame, drawn = self.work.frame, self.drawn
        is_check = (frame["kind"] == "check").to_numpy()
        done = drawn.done
        if self.look is not None:
            done = done & (frame["look"].astype(int) <= self.look).to_numpy()
        parts = []
        for place, criterion in enumerate(self.plan.criteria or ("",)):
            given = done & (~np.isnan(drawn.rating[place]) | (is_check & (place == 0)))
            rows = np.flatnonzero(given)
            mine, check = frame.iloc[rows], is_check[rows]
            rating = drawn.rating[place, rows]
            raw = np.array(rating if self.scale is None else self.scale.from_unit(rating))
            raw[check] = self._answers_to_checks(mine["right"], drawn.passed[rows])[check]
            parts.append(
                pd.DataFrame(
                    {
                        "worker": [rehearsed_worker(slot) for slot in mine["slot"]],
                        "item": mine["item"],
                        "system": mine["system"],
                        **({"criterion": np.where(check, "", criterion)} if self.plan.criteria else {}),
                        "rating": raw,
                        **{
                            name: mine[name] for name in ("kind", "code", "slot", "batch", "order", "place")
                        },
                        **{name: mine[name] for name in ("document", "look") if (frame[name] != "").any()},
                        "seconds": np.round(drawn.seconds[rows], 1),
                        "passed": np.where(check, drawn.passed[rows].astype(int).astype(object), ""),
                    }
                ).assign(_row=rows)
            )
        whole = pd.concat(parts).sort_values("_row", kind="stable")
        return whole.drop(columns="_row").reset_index(drop=True)

    def _answers_to_checks(self, right: pd.Series, passed: Mask) -> Floats:
        """What is answered to attention checks that ask for a point of the scale: that one, or an end of the scale
        that it is not; NaN where no point is known."""
        answers = pd.to_numeric(right, errors="coerce").to_numpy(dtype=np.float64)
        low, high = (0.0, 1.0) if self.scale is None else (self.scale.low, self.scale.high)
        other = np.where(answers == low, high, low)
        return np.where(passed | np.isnan(answers), answers, other)

    @property
    def given_back(self) -> pd.DataFrame:
        """The same as a platform gives it back: codes, and neither items nor systems."""
        return self.collected[[name for name in _CODED if name in self.collected]]

    def to_frame(self) -> pd.DataFrame:
        """The collected table; a coded one as a platform gives it back."""
        return (self.given_back if self.coded else self.collected).copy()

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        """The table as CSV."""
        return table_csv(self.to_frame(), digits=_DIGITS)

    def files(self) -> dict[str, str]:
        """Both tables, and the plan to try everything with, so that nothing is written beside the real one."""
        tables = {"ratings.csv": self.collected, "coded.csv": self.given_back}
        plan = {} if self.plan_text is None else {PLAN_FILE: self.plan_text}
        return {**{name: table_csv(table, digits=_DIGITS) for name, table in tables.items()}, **plan}

    @property
    def remarks(self) -> tuple[str, ...]:
        said = ["A rehearsal: its workers are called so, and their ratings are nobody's."]
        beyond = int(((self.drawn.rating < 0) | (self.drawn.rating > 1)).sum())
        if beyond:
            said.append(
                f"{counted(beyond, 'rating')} beyond the ends of the scale: a table with them is refused where the "
                "scale is declared."
            )
        return tuple(said)

    def body(self) -> Document:
        came_back, sections = (
            self.collected,
            [
                Section("What came back", (Facts(tuple(self._came_back())),)),
                Section("Drawn from", (Facts(tuple(self._world())), Points(tuple(self._assumed())))),
            ],
        )
        if isinstance(self.world, SystemsParameters):
            means = zip(self.world.names, self.world.means, strict=True)
            columns = {"system": lambda one: one[0], "true mean on [0, 1]": lambda one: f"{one[1]:.4g}"}
            sections.append(Section("Systems", (table(means, columns),)))
        return Document(
            f"A rehearsal: {counted(int((came_back['kind'] == 'rating').sum()), 'rating')}",
            lead=f"{came_back['slot'].nunique():,} of {self.work.frame['slot'].nunique():,} workers gave "
            "something; all of it is drawn from the plan.",
            sections=tuple(sections),
        )

    def _came_back(self) -> Iterator[Fact]:
        frame, came_back = self.work.frame, self.collected
        for kind in KINDS:
            times = 1 if kind == "check" else max(1, len(self.plan.criteria))
            planned = int((frame["kind"] == kind).sum()) * times
            if planned:
                n = int((came_back["kind"] == kind).sum())
                yield f"{kind.capitalize()}s", f"{n:,} of {planned:,} shown"
        if self._stopped:
            yield "Stopped early", ", ".join(self._stopped)
        slots = dict.fromkeys(frame["slot"])
        for code, words in ((AT_RANDOM, "Answered at random"), (STRAIGHT, "One answer for all")):
            names = [name for name, kind in zip(slots, self.drawn.kind, strict=True) if kind == code]
            if names:
                yield words, ", ".join(names)
        checks = came_back[came_back["kind"] == "check"]
        if len(checks):
            yield "Checks passed", f"{int(checks['passed'].sum()):,} of {len(checks):,}"

    @property
    def _stopped(self) -> list[str]:
        """Slots that did not do all of their batches, each with the last that it did."""
        sentences = []
        for slot, rows in self.work.frame.assign(done=self.drawn.done).groupby("slot", sort=False):
            if not rows["done"].all():
                last = rows["batch"][rows["done"]].max() if rows["done"].any() else 0
                sentences.append(f"{slot} {f'after batch {last}' if last else 'before the first batch'}")
        return sentences

    def _world(self) -> Iterator[Fact]:
        if self.effect is not None and self.plan.many is None:
            yield "True effect", str(self.effect)
        yield "Design", str(self.plan.design())
        sds = {name: value for name, value in self.world.as_dict().items() if name.startswith("sd_")}
        yield "Standard deviations", ", ".join(f"{name} {_range(value)}" for name, value in sds.items())
        yield "Response", f"{self._response}, on {'0 to 1' if self.scale is None else self.scale}"
        if self.plan.criteria:
            yield "Criteria", f"{', '.join(self.plan.criteria)}: each drawn anew from the same parameters"

    @property
    def _response(self) -> str:
        latent = isinstance(self.world, Parameters) and self.world.latent is not None
        return "in categories" if latent else self.response

    def _assumed(self) -> Iterator[str]:
        usual, losses = self.habits.behaviour, self.habits.losses
        shares = losses.shares(quitting="of workers stop after one of their batches, or before the first")
        said = [f"{_percent(share)} {words}" for share, words in shares]
        yield f"{'; '.join(said)}." if said else "Everybody does everything with care."
        yield (
            f"Careful workers pass {_percent(usual.passing)} of attention checks, careless ones "
            f"{_percent(usual.careless_passing)}."
        )
        yield (
            f"An output takes a careful worker {usual.seconds:g} seconds in the median, a careless one "
            f"{usual.careless_pace:g} of that: lognormal, SD of the logarithm {usual.sd_log_worker:g} over "
            f"workers and {usual.sd_log_rating:g} over outputs."
        )
        if (self.work.frame["kind"] == "repeat").any():
            yield "A repeat has the worker and item of the first rating, and a residual of its own."

    def content(self) -> Record:
        """What was drawn from what, and how much came back; no ratings."""
        came_back = self.collected
        return {
            "coded": self.coded,
            "look": self.look,
            "n_rows": {kind: int((came_back["kind"] == kind).sum()) for kind in KINDS},
            "n_workers": int(came_back["slot"].nunique()),
            "stopped": self._stopped,
            "effect": None if self.effect is None else self.effect.value,
            "design": str(self.plan.design()),
            "response": self._response,
            "scale": None if self.scale is None else asdict(self.scale),
            "criteria": list(self.plan.criteria),
            "parameters": self.world.as_dict(),
            "habits": asdict(self.habits),
        }


def _range(value: Any) -> str:
    """A value; of several systems from the least to the most, where theirs differ."""
    every = value if isinstance(value, list) else [value]
    return " to ".join(dict.fromkeys(f"{end:.4g}" for end in (min(every), max(every))))


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


NO_LOSSES = Losses()


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
    problems = [Problem(f"{one}.", "", place=work.source) for one in _differences(plan, work)]
    if problems:
        remedy = "Give the assignment that was made by this plan, or the plan that it was made by."
        problems[-1] = replace(problems[-1], remedy=remedy)
    refuse(problems)
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


def _differences(plan: Plan, work: WholeWork) -> Iterator[str]:
    """In what an assignment is not that of the plan."""
    rows, counts, design = work.planned, plan.counts, plan.design()
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
    shown = work.frame[work.frame["kind"] != "check"]
    n_documents = shown["document"][shown["document"] != ""].nunique()
    if n_documents != counts.n_documents:
        yield f"it has {n_documents:,} documents; the plan has {counts.n_documents:,}"
    elif (shown.groupby("item")["document"].nunique() > 1).any():
        yield "it shows an item in more than one document"
    yield from _other_looks(plan, rows)


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
        need, are = (listing([f"{count:,}" for count in each]) for each in (sizes, planned))
        yield f"its looks need {need} ratings; those of the plan {are}"
