"""A rehearsal: what would come back from the field, as it is collected or as a platform would give it back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from humeval_power.checking.exports.assigned import WholeWork
from humeval_power.checking.rehearsed import RECORD_SCHEMA, rehearsed_worker
from humeval_power.choices import Response
from humeval_power.differences import Difference
from humeval_power.parameters import Parameters
from humeval_power.safe_text import table_csv
from humeval_power.saying.document import Document, Fact, Facts, Points, Section, Table
from humeval_power.saying.numbers import counted
from humeval_power.saying.result import PLAN_FILE, UNKNOWN, Provenance, Record, Result
from humeval_power.scales import RatingScale
from humeval_power.simulation.losses import AT_RANDOM, STRAIGHT
from humeval_power.simulation.rehearsal import Floats, Habits, Mask, RehearsedRatings, World
from humeval_power.studies.plan.plan import Plan

if TYPE_CHECKING:
    import pandas as pd

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
    provenance: Provenance = UNKNOWN

    @cached_property
    def collected(self) -> pd.DataFrame:
        """A row for each rating, repeat and check that was done, as the field gives them back, decoded."""
        import pandas as pd

        frame, drawn = self.work.frame, self.drawn
        is_check = (frame["kind"] == "check").to_numpy()
        criteria = self.plan.criteria or ("",)
        done = (
            drawn.done
            if self.look is None
            else drawn.done & (frame["look"].astype(int) <= self.look).to_numpy()
        )
        parts = []
        for place, criterion in enumerate(criteria):
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
                        "kind": mine["kind"],
                        "code": mine["code"],
                        "slot": mine["slot"],
                        "batch": mine["batch"],
                        "order": mine["order"],
                        "place": mine["place"],
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
        import pandas as pd

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
        """That it is a rehearsal, and what a reader of the table would trip over."""
        said = ["A rehearsal: its workers are called so, and their ratings are nobody's."]
        beyond = int(((self.drawn.rating < 0) | (self.drawn.rating > 1)).sum())
        if beyond:
            said.append(
                f"{counted(beyond, 'rating')} beyond the ends of the scale: a table with them is refused where the "
                "scale is declared."
            )
        return tuple(said)

    def body(self) -> Document:
        """What was drawn from what, and what came back."""
        table = self.collected
        return Document(
            f"A rehearsal: {counted(int((table['kind'] == 'rating').sum()), 'rating')}",
            lead=f"{table['slot'].nunique():,} of {self.work.frame['slot'].nunique():,} workers gave something; "
            "all of it is drawn from the plan.",
            sections=(
                Section("What came back", (Facts(tuple(self._came_back())),)),
                Section("Drawn from", (Facts(tuple(self._world())), Points(tuple(self._assumed())))),
                *(() if self.plan.many is None else (Section("Systems", (_means(self.world),)),)),
            ),
        )

    def _came_back(self) -> Iterator[Fact]:
        frame, table = self.work.frame, self.collected
        for kind in ("rating", "repeat", "check"):
            planned = int((frame["kind"] == kind).sum()) * (
                1 if kind == "check" else max(1, len(self.plan.criteria))
            )
            if planned:
                yield (
                    f"{kind.capitalize()}s",
                    f"{int((table['kind'] == kind).sum()):,} of {planned:,} shown",
                )
        stopped = self._stopped
        if stopped:
            yield "Stopped early", ", ".join(stopped)
        for code, words in ((AT_RANDOM, "Answered at random"), (STRAIGHT, "One answer for all")):
            names = [name for name, kind in zip(self._slots, self.drawn.kind, strict=True) if kind == code]
            if names:
                yield words, ", ".join(names)
        checks = table[table["kind"] == "check"]
        if len(checks):
            yield "Checks passed", f"{int(checks['passed'].sum()):,} of {len(checks):,}"

    @property
    def _slots(self) -> list[str]:
        return list(dict.fromkeys(self.work.frame["slot"]))

    @property
    def _stopped(self) -> list[str]:
        """Slots that did not do all of their batches, each with the last that it did."""
        frame = self.work.frame
        by_slot = frame.assign(done=self.drawn.done).groupby("slot", sort=False)
        sentences = []
        for slot, rows in by_slot:
            if not rows["done"].all():
                last = rows["batch"][rows["done"]].max() if rows["done"].any() else 0
                sentences.append(f"{slot} " + (f"after batch {last}" if last else "before the first batch"))
        return sentences

    def _world(self) -> Iterator[Fact]:
        if self.effect is not None and self.plan.many is None:
            yield "True effect", str(self.effect)
        yield "Design", str(self.plan.design())
        yield "Standard deviations", ", ".join(_deviations(self.world))
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
        table = self.collected
        return {
            "coded": self.coded,
            "look": self.look,
            "n_rows": {kind: int((table["kind"] == kind).sum()) for kind in ("rating", "repeat", "check")},
            "n_workers": int(table["slot"].nunique()),
            "stopped": self._stopped,
            "effect": None if self.effect is None else self.effect.value,
            "design": str(self.plan.design()),
            "response": self._response,
            "scale": None if self.scale is None else asdict(self.scale),
            "criteria": list(self.plan.criteria),
            "parameters": self.world.as_dict(),
            "habits": asdict(self.habits),
        }


def _deviations(world: World) -> Iterator[str]:
    """Each with its name; of several systems the range, where theirs differ."""
    for name, value in world.as_dict().items():
        if name.startswith("sd_"):
            values = value if isinstance(value, list) else [value]
            ends = dict.fromkeys(f"{end:.4g}" for end in (min(values), max(values)))
            yield f"{name} {' to '.join(ends)}"


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _means(world: World) -> Table:
    assert not isinstance(world, Parameters)
    rows = tuple((name, f"{mean:.4g}") for name, mean in zip(world.names, world.means, strict=True))
    return Table(("system", "true mean on [0, 1]"), rows)
