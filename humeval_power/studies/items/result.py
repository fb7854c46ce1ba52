"""The items that were chosen from a pool, and what the draw wins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from humeval_power.checking.outputs import pool_table
from humeval_power.choices import Estimand
from humeval_power.inference.chosen_items import item_sd_factor
from humeval_power.inference.item_sampling import items_of_equal_power
from humeval_power.item_pool import ItemPool
from humeval_power.parameters import PRESETS, Parameters
from humeval_power.safe_text import table_csv
from humeval_power.saying.document import Document, Fact, Facts, Paragraph, Points, Section, Table
from humeval_power.saying.numbers import counted, percent
from humeval_power.saying.quantities import values
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result
from humeval_power.saying.stated import table

if TYPE_CHECKING:
    import pandas as pd

Method = Literal["strata", "cube", "simple", "picked"]
CORRELATIONS = (0.3, 0.5, 0.7)  # shown beside the one that is assumed


@dataclass(frozen=True, slots=True)
class Gain:
    """What a draw wins if the metric correlates so: `items` drawn so do what the chosen number drawn at random do,
    with the same workers; `saved` is the share of the ratings that this saves, below 0 where it costs some."""

    setting: str
    correlation: float
    explained: float
    items: float
    saved: float


def setting_gains(
    pool: ItemPool,
    *,
    explained: float,
    correlation: float,
    workers: int,
    ratings_per_item: int,
    parameters: Parameters | None,
) -> tuple[Gain, ...]:
    """The gains at the assumed correlation and at others; in the published settings without `parameters`."""
    settings = dict(PRESETS) if parameters is None else {"your parameters": parameters}
    n = pool.n_chosen
    lost = pool.n_strata if pool.n_strata > 1 else len(pool.systems)
    gains = []
    for rho in dict.fromkeys((correlation, *CORRELATIONS)):
        for setting, known in settings.items():
            coded = known.recoded()
            items = items_of_equal_power(
                n,
                workers,
                explained=rho**2 * explained,
                n_strata=lost,
                ratings_per_item=ratings_per_item,
                sd_worker=coded.sd_worker_slope,
                sd_item=coded.sd_item_slope,
                sd_residual=coded.sd_residual,
                pool=float((~pool.identical).sum()),
            )
            gains.append(Gain(setting, rho, rho**2 * explained, items, 1.0 - items / n))
    return tuple(gains)


@dataclass(frozen=True, kw_only=True)
class ChosenItems(Result):
    """Items that were drawn from a pool, or picked; `pool` is what later steps take.

    method : strata of the predicted difference, the cube method, a simple random draw, or picked by others.
    explained : the share of the predicted difference's variance that the draw takes away.
    gains : what it wins over a simple random draw of as many items; none of a draw without a metric.
    knows_texts : whether identical outputs could be found.
    seed : of the draw; None of picked items.
    """

    schema: ClassVar[str] = "humeval_power/chosen_items/1"
    endings: ClassVar[tuple[str, ...]] = (".csv",)

    pool: ItemPool
    method: Method
    metric: str | None = None
    explained: float = 0.0
    correlation: float = 0.0
    gains: tuple[Gain, ...] = ()
    knows_texts: bool = True
    seed: int | None = None
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        sections = (
            Section("The draw", tuple(self._draw())),
            Section("What the metric wins", tuple(self._wins())),
            Section("Next", (Points(tuple(self._next())),)),
        )
        return Document(
            "Which items to rate",
            lead=self._lead(),
            headline=tuple(self._facts()),
            caveats=tuple(self._caveats()),
            sections=tuple(filter(lambda each: each.blocks, sections)),
        )

    def _lead(self) -> str:
        pool, metric = self.pool, self.metric
        of = f"{pool.n_chosen:,} of {counted(pool.n_items, 'item')}"
        if self.method == "picked":
            return (
                f"Rate these {of}: they were picked and not drawn, so that every result will be about these items "
                "only, and says nothing of the pool."
            )
        how = {
            "strata": f"drawn from {pool.n_strata} strata of what {metric} predicts",
            "cube": f"drawn so that their means of {metric} are those of the pool, for every pair of systems",
            "simple": "drawn at random",
        }[self.method]
        said = f"Rate these {of}, {how}."
        if same := int(pool.identical.sum()):
            have = "has" if same == 1 else "have"
            said += f" Another {same:,} {have} identical outputs, which need no rating."
        saved = [max(gain.saved, 0.0) for gain in self.gains if gain.correlation == self.correlation]
        if saved:
            ends = dict.fromkeys((percent(min(saved)), percent(max(saved))))
            said += (
                f" If {metric} correlates {self.correlation:g} with people's differences on an item, drawing so "
                f"saves {' to '.join(ends)} of the ratings, beside a simple random draw."
            )
        return said

    def _facts(self) -> Iterator[Fact]:
        pool = self.pool
        yield "Items of the pool", f"{pool.n_items:,}"
        yield "Systems", ", ".join(pool.systems)
        if self.knows_texts:
            same = f"{int(pool.identical.sum()):,} ({percent(pool.identical_share)})"
            yield "With identical outputs", same
        yield "To rate", f"{pool.n_chosen:,}"
        if self.seed is not None:
            yield "Seed", str(self.seed)

    def _caveats(self) -> Iterator[str]:
        if not self.knows_texts:
            yield (
                "There are no texts in the table, so that identical outputs are not found. They need no rating: "
                "leaving them out is often the largest saving of all."
            )
        missing = ~np.isfinite(self.pool.scores).all(axis=1) & ~self.pool.identical
        if missing.any() and self.method != "picked":
            yield f"{counted(int(missing.sum()), 'item')} without a score for every system."
        if self.metric is not None and self.method == "simple":
            yield f"{self.metric} tells no items apart: they are drawn at random."

    def _draw(self) -> Iterator[Table | Facts]:
        pool = self.pool
        if self.method != "strata":
            return
        predicted = pool.scores[:, 1] - pool.scores[:, 0]

        def reach(number: int) -> str:
            known = predicted[(pool.stratum == number) & np.isfinite(predicted)]
            return f"{known.min():.4g} to {known.max():.4g}" if len(known) else "no score"

        yield table(
            range(pool.n_strata),
            {
                "stratum": lambda number: f"{number + 1}",
                f"{self.metric}, {pool.systems[1]} - {pool.systems[0]}": reach,
                "items": lambda number: f"{(pool.stratum == number).sum():,}",
                "to rate": lambda number: f"{pool.chosen[pool.stratum == number].sum():,}",
                "probability": lambda number: f"{pool.probability[pool.stratum == number][0]:.4f}",
            },
        )

    def _wins(self) -> Iterator[Table | Paragraph]:
        if not self.gains:
            return
        settings = list(dict.fromkeys(gain.setting for gain in self.gains))
        rows: dict[float, list[str]] = {}
        for gain in self.gains:
            assumed = " (assumed)" if gain.correlation == self.correlation else ""
            row = rows.setdefault(
                gain.correlation, [f"{gain.correlation:g}{assumed}", percent(gain.explained)]
            )
            sign = "-" if gain.saved >= 0 else "+"
            row.append(f"{gain.items:.0f} ({sign}{percent(abs(gain.saved))})")
        caption = (
            f"How many items drawn so do what {self.pool.n_chosen:,} drawn at random do: the same power with the "
            "same workers."
        )
        if len(settings) > 1:
            caption += " 'high' and 'low' are published settings in which workers and items differ much and little."
        heads = ("correlation", "explained", *(f"items, {setting}" for setting in settings))
        yield Table(heads, tuple(map(tuple, rows.values())), caption)
        yield Paragraph(
            "The correlation is that of the metric's difference with the true difference of an item, not the "
            "published one over systems: of text metrics .1 to .25 on one item, of a score by people about .45. "
            "What workers differ in and the noise of ratings stay as they are, whatever items are chosen."
        )

    def _next(self) -> Iterator[str]:
        yield (
            "Keep this file. humeval-power assign --pool FILE gives its items to workers; humeval-power analyze "
            "RATINGS --pool FILE takes its strata, probabilities and scores."
        )
        factors = self.item_factors
        if factors is None:
            yield "Results name their items as the only ones that they are about."
            return
        yield (
            "Results are about this pool of items (--estimand pool), or about items like these (--estimand "
            "population): say which before you see ratings."
        )
        yield (
            f"To plan: the SD of items' differences (sd_item_slope) counts {factors['pool']:.2f} times for this "
            f"pool, {factors['population']:.2f} times for items like these; humeval-power plan --pool takes it."
        )
        if self.pool.identical_share:
            real = 1.0 - self.pool.identical_share
            yield (
                f"A difference over the pool is {1 / real:.3f} times as large among the items that are rated: plan "
                "with that one."
            )

    @property
    def item_factors(self) -> dict[str, float] | None:
        """How much of the SD of items' differences is left, beside a simple draw from endless items, for either
        estimand, at the assumed correlation; None of picked items."""
        if self.method == "picked":
            return None
        known = {"explained": self.explained, "correlation": self.correlation}
        return {one: item_sd_factor(self.pool, estimand=one, **known) for one in get_args(Estimand)}

    def content(self) -> Record:
        pool = self.pool
        rows = [
            {name: None if value != value else value for name, value in row.items()}
            for row in pool_table(pool).to_dict("records")
        ]
        return {
            **values(self, "method", "metric"),
            "systems": list(pool.systems),
            "items": pool.n_items,
            "identical": int(pool.identical.sum()) if self.knows_texts else None,
            "chosen": pool.n_chosen,
            "strata": pool.n_strata,
            **values(self, "explained", "correlation"),
            "gains": [asdict(gain) for gain in self.gains],
            "item_factors": self.item_factors,
            "rows": rows,
            **({} if self.seed is None else {"seed": self.seed}),
        }

    def to_frame(self) -> pd.DataFrame:
        return pool_table(self.pool)

    def artefact(self, ending: str) -> str:
        assert ending in self.endings
        return table_csv(pool_table(self.pool))
