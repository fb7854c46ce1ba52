"""The power of one study of several systems, by formula and by simulation, for every goal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from humeval_power.costs import Cost, CostModel, cost_of
from humeval_power.planning.study.analytic import TOLERANCE
from humeval_power.planning.study.systems_power import SystemsPower
from humeval_power.planning.study.systems_study import SystemsStudy
from humeval_power.reporting.chart import LaterChart
from humeval_power.reporting.document import Block, Document, Fact, Facts, Paragraph, Section
from humeval_power.reporting.numbers import interval_words
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import NO_POWER, UNKNOWN, Provenance, Result
from humeval_power.reporting.study.spending_charts import money_facts
from humeval_power.reporting.study.study_content import STRICT
from humeval_power.reporting.study.systems_charts import can_draw, goals_chart, sizes_of, workers_chart
from humeval_power.reporting.study.systems_words import (
    assumed_words,
    goals_table,
    means_table,
    pairs_table,
    power_record,
    reached_words,
    study_facts,
    study_record,
)

_MOST_MEANS = 24  # systems whose means a terminal shows


@dataclass(frozen=True, kw_only=True)
class SystemsPowerResult(Result):
    """How often a study of several systems reaches each goal.

    `analytic` is None where no formula describes the study, `simulated` where nothing was simulated. `costs` are
    prices, `budget` what may be spent: an amount at these prices, else a number of ratings. With `strict`, more
    than 1 % of failed fits miss the target.
    """

    schema: ClassVar[str] = "humeval_power/systems-power/1"

    study: SystemsStudy
    analytic: SystemsPower | None
    simulated: SystemsPower | None
    strict: bool = False
    costs: CostModel | None = None
    budget: Decimal | None = None
    notes: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The power in each way, every goal, what was assumed, and what stands behind the numbers."""
        study = self.study
        blocks: list[Block] = [
            goals_table(study, self.analytic, self.simulated),
            Facts(tuple(self._facts())),
        ]
        long = study.parameters.n_systems > _MOST_MEANS
        sections = [
            Section("", tuple(blocks)),
            Section("", (Paragraph(assumed_words(study)),)),
            *self._pictures(),
            Section("True means", (means_table(study),), is_detail=long),
            Section("Comparisons", (pairs_table(study, self.analytic, self.simulated),), is_detail=True),
        ]
        return Document(
            f"How often this study of {study.parameters.n_systems} systems finds what is true of them",
            lead=reached_words(study, self.analytic, self.simulated),
            headline=tuple(self._powers()),
            caveats=tuple(self._cautions()),
            sections=tuple(sections),
        )

    def _pictures(self) -> Iterator[Section]:
        """What pages show: made when they do, as each point of a curve is of many comparisons."""
        study, analytic, simulated = self.study, self.analytic, self.simulated
        if analytic is None or not can_draw(study):
            return
        charts = [
            LaterChart(
                "power",
                lambda: goals_chart(study, analytic, simulated),
                words="Power of every goal by formula against the difference that the true means are stated by.",
            )
        ]
        if sizes := sizes_of(study):
            charts.append(
                LaterChart(
                    "workers",
                    lambda: workers_chart(study, sizes, analytic, simulated),
                    words=f"Power of the goal '{study.goal}' by formula over the number of workers.",
                )
            )
        yield Section("What would change it", tuple(charts))

    def _powers(self) -> Iterator[Fact]:
        simulated = self.simulated
        if simulated is not None and simulated.too_many_failed:
            yield "Power", "none"
        elif simulated is not None:
            yield "Power", f"{simulated.power:.3f} ({interval_words(*simulated.interval, digits=3)})"
        if self.analytic is not None:
            yield "By formula", f"{self.analytic.power:.3f}"

    def _facts(self) -> Iterator[Fact]:
        yield from study_facts(self.study)
        found = self.simulated or self.analytic
        assert found is not None
        if not math.isnan(found.false_claim):
            yield (
                "Errors",
                f"{found.false_claim:.3f} of studies claim something untrue of a pair (family-wise error)",
            )
        if not math.isnan(found.wrong_sign):
            yield "Sign", f"{found.wrong_sign:.4f} of studies find a difference with the wrong sign"
        if not math.isnan(found.top_group):
            yield "Top group", f"{found.top_group:.2f} systems on average are not told from the highest"
        yield from self._best(found)
        if self.analytic is not None:
            errors, df = self.analytic.standard_error, self.analytic.df
            yield "Formula", f"SE {_range(errors, 4)}, df {_range(df, 1)}"
        if self.simulated is not None:
            failed = f"{self.simulated.n_simulations:,} simulated, {self.simulated.n_failed:,} failed"
            yield "Fits", f"{failed}; beside each share its 95 % Monte Carlo interval"
        yield from money_facts(self._cost, self.budget)

    @property
    def _cost(self) -> Cost | int:
        """What the study costs at its prices; without any how many ratings it is."""
        design = self.study.design
        return design.n_ratings if self.costs is None else cost_of(design, self.costs)

    @staticmethod
    def _best(found: SystemsPower) -> Iterator[Fact]:
        margin = found.best_margin
        if margin is None:
            return
        low, high = margin.interval
        yield (
            "Best - second",
            f"{margin.estimate:.4f} on average, Hsu's interval {interval_words(low, high)}; it shows the best to "
            f"be best in {margin.shown:.3f} of studies",
        )

    def _cautions(self) -> Iterator[str]:
        analytic, simulated = self.analytic, self.simulated
        if analytic is None or simulated is None:
            return
        low, high = simulated.interval
        if not low - TOLERANCE <= analytic.power <= high + TOLERANCE:
            yield (
                "Formula and simulation differ by more than Monte Carlo error and 0.02: the formula is off here; "
                "trust the simulation."
            )

    def content(self) -> Record:
        """The power with what it was computed from; `power` is the simulated one where there is one."""
        names = self.study.parameters.names
        found = self.simulated or self.analytic
        assert found is not None
        low, high = found.interval
        return {
            "power": found.power,
            "power_low": low,
            "power_high": high,
            "analytic": power_record(self.analytic, names),
            "simulated": power_record(self.simulated, names),
            **study_record(self.study),
            **self._cost_record(),
        }

    def _cost_record(self) -> Record:
        """What the study costs, where there are prices or a budget."""
        cost, budget = self._cost, None if self.budget is None else float(self.budget)
        if isinstance(cost, int):
            return {} if budget is None else {"costs": {"unit": "ratings", "cost": cost, "budget": budget}}
        found: Record = {"unit": cost.currency, "cost": str(cost.total), "budget": budget}
        found["cost_parts"] = {name: str(part) for name, part in cost.parts.items()}
        return {"costs": found}

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was noticed on the way, and failed fits."""
        said = [*self.notes, *self.study.parameters.notes, *self.study.design.notes]
        if self.simulated is not None and self.simulated.n_failed:
            said.append(f"{self.simulated.n_failed:,} fits failed. They count as having found nothing.")
        return tuple(said)

    @property
    def missed(self) -> str:
        """That too many of the simulated studies could not be fitted."""
        found = self.simulated
        if found is None:
            return ""
        too_many = found.failure_rate > STRICT if self.strict else found.too_many_failed
        return NO_POWER if too_many else ""


def _range(values: tuple[float, ...], digits: int) -> str:
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return low if low == high else f"{low} to {high}"
