"""The power of one study, by formula and by simulation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cached_property
from typing import ClassVar

import numpy as np

from humeval_power.assumptions import Assumptions
from humeval_power.choices import ANONYMOUS, CORRECTIONS
from humeval_power.costs import Cost, CostModel, cost_of
from humeval_power.differences import Difference
from humeval_power.saying.answer_words import (
    axis_unit,
    of_hundred,
    points_words,
    share_words,
    simulated_words,
    spread_words,
)
from humeval_power.saying.document import Block, Document, Fact, Facts, Paragraph, Section
from humeval_power.saying.numbers import BY_FORMULA, POWER_LABEL, counted, percent, power_words
from humeval_power.saying.quantities import values
from humeval_power.saying.result import NO_POWER, POWER_SCHEMA, UNKNOWN, Provenance, Record, Result
from humeval_power.saying.rule_words import PARITY, halfway_words, is_too_bold, margin_words, sds_in_words
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import NO_LOSSES
from humeval_power.studies.power.analytic import (
    HalfwayPower,
    ceiling_with_both,
    disagree,
)
from humeval_power.studies.power.assurance import PowerSpread, power_spread
from humeval_power.studies.power.charts import (
    CLAIM,
    POWER,
    amount,
    cost_chart,
    curse_chart,
    effect_chart,
    estimates_chart,
    growth_charts,
    money_facts,
    splits_chart,
    spots,
    target_line,
    variance_chart,
)
from humeval_power.studies.power.estimate import PowerEstimate, Tally
from humeval_power.studies.power.formula import AnalyticPower
from humeval_power.studies.power.growth import TARGET, Designs, Growth, counts_of, splits_of
from humeval_power.studies.power.outlook import (
    Bottleneck,
    Outlook,
    WithoutDocuments,
    bottleneck_words,
    find_bottleneck,
    pair_ceilings,
)
from humeval_power.studies.power.result_several import (
    enough_words,
    facts_of_several,
    finds_words,
    goals_table,
    power_record,
    precision_words,
    several_sections,
)
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.strategies import Cell, CellResult
from humeval_power.studies.power.study_content import (
    approximate_words,
    beyond_pilot,
    failure_remarks,
    result_row,
    study_content,
    study_facts,
    study_notes,
    too_many_failed,
)
from humeval_power.studies.power.systems_goals import SystemsPower
from humeval_power.studies.power.systems_study import SystemsSizes, SystemsStudy

# What stands around a study's power, as a record: the numbers of its pictures.


def outlook_record(outlook: Outlook, bottleneck: Bottleneck | None) -> Record:
    """Only what there is: a design that counts do not describe has its estimates alone."""
    record: Record = {"target_power": TARGET}
    for name in ("workers", "items"):
        growth: Growth | None = getattr(outlook, name)
        if growth is not None:
            record[name] = {
                "sizes": list(growth.sizes),
                "power": list(growth.powers),
                "endless": None if growth.ceiling is None else growth.ceiling.power,
                "enough": growth.enough,
            }
    if outlook.effects is not None:
        record["effects"] = asdict(outlook.effects)
    if outlook.parts is not None:
        record["variance"] = dict(outlook.parts)
    if bottleneck is not None:
        record["more"] = {
            "factor": bottleneck.factor,
            "worker": bottleneck.more_workers,
            "tenth_of_items": bottleneck.more_items,
            "rating_per_item": bottleneck.more_ratings,
            "document": bottleneck.more_documents,
        }
    if outlook.spending is not None:
        spending, priced = outlook.spending, outlook.spending.priced
        record["costs"] = costs = values(spending, "unit", "cost", "budget")
        if priced is not None:
            costs["cost"] = str(priced.total)
            costs["cost_parts"] = {name: str(part) for name, part in priced.parts.items()}
        costs |= values(spending, "front", "more_workers", "more_items", "splits")
    record["estimates"] = asdict(outlook.estimates)
    if outlook.curse is not None:
        record["winners_curse"] = asdict(outlook.curse)
    return record


_ALL = 0.99  # power that is not worth calling a limit
_TIMES, _SPLITS = 5, 12  # times as many workers as now, and how many numbers of them, share a sum
_WORTH = 0.01  # power that another split of the same sum must add to be told


@dataclass(frozen=True, kw_only=True)
class StudyPower(Result):
    """How often a study finds its effect, reaches its goal or shows its claim.

    `analytic` is None where the formula does not describe the study, `simulated` where nothing was
    simulated. `said` is the effect as it was understood; `effect_unit` the difference on [0, 1] that an
    effect of 1 stands for. `left_out` is what leaving documents out of the analysis would do; `assumed` all that
    may be assumed of the variances; `costs` are prices, `budget` what may be spent: an amount at these prices, else
    a number of ratings. With `strict`, more than 1 % of
    failed fits miss the target.
    """

    schema: ClassVar[str] = POWER_SCHEMA

    cell: Cell
    analytic: AnalyticPower | SystemsPower | None
    simulated: PowerEstimate | SystemsPower | None
    halfway: HalfwayPower | None
    said: Difference
    scale: RatingScale | None = None
    effect_unit: float = 1.0
    strict: bool = False
    left_out: WithoutDocuments | None = None
    assumed: Assumptions | None = None
    costs: CostModel | None = None
    budget: Decimal | None = None
    notes: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @property
    def _has_margin(self) -> bool:
        return self.cell.study.rule.margin is not None

    def body(self) -> Document:
        """How many of 100 such studies succeed, what would change that, the numbers, and how they came about."""
        study, analytic, simulated = self.cell.study, self.analytic, self.simulated
        of, finds = "", "shows what it claims" if self._has_margin else "finds this effect"
        headline: list[Fact] = []
        if simulated is not None:
            power = power_words(simulated.power, simulated.interval)
            headline.append((POWER_LABEL, "none" if simulated.too_many_failed else power))
        if analytic is not None:
            headline.append((BY_FORMULA, power_words(analytic.power)))
        blocks: list[Block] = [Facts(tuple(self._facts()))]
        if self._has_margin:
            blocks.append(Paragraph(PARITY))
        sections: tuple[Section, ...] = ()
        if isinstance(study, SystemsStudy):
            of, finds = f" of {study.parameters.n_systems} systems", "reaches its goal"
            assert not isinstance(analytic, AnalyticPower)
            assert not isinstance(simulated, PowerEstimate)
            blocks.insert(0, goals_table(study, analytic, simulated, self.scale))
            sections = tuple(several_sections(study, analytic, simulated, self.scale))
        return Document(
            f"How often this study{of} {finds}",
            lead=" ".join(self._lead()),
            headline=tuple(headline),
            caveats=tuple(self._cautions()),
            sections=(Section("", tuple(blocks)), *sections),
            pages=self._pictures,
        )

    @cached_property
    def outlook(self) -> Outlook | None:
        """What stands around the power of two systems by formula; None without one."""
        study = self.cell.study
        if not isinstance(self.analytic, AnalyticPower) or isinstance(study, SystemsStudy):
            return None
        return Outlook(study, self.analytic, self.costs, self.budget)

    @cached_property
    def splits(self) -> Designs | None:
        """Of several systems, designs that cost what may be spent, or what the study costs; None where nothing was
        said of money, there is no formula, or counts do not say the design."""
        study = self.cell.study
        counts = counts_of(study.design)
        asked = self.costs is not None or self.budget is not None
        if not (isinstance(study, SystemsStudy) and asked and self.analytic is not None and counts):
            return None
        cost = self._cost
        limit = self.budget if self.budget is not None else cost if isinstance(cost, int) else cost.total
        sizes = np.geomspace(2, _TIMES * counts.n_workers, _SPLITS).round().astype(np.int64)
        return splits_of(SystemsSizes(study, counts), np.unique(sizes), self.costs, float(limit))

    @cached_property
    def bottleneck(self) -> Bottleneck | None:
        """What holds the design back; None where there is nothing to find, or counts do not say the design."""
        outlook, study = self.outlook, self.cell.study
        if outlook is None or outlook.counts is None or outlook.like is None:
            return None
        assert isinstance(study, RatingStudy)
        ceilings = pair_ceilings(study.parameters, outlook.counts, target=TARGET, rule=study.rule)
        return find_bottleneck(outlook.counts, power_of=outlook.like.power_of, ceilings=ceilings)

    @cached_property
    def spread(self) -> PowerSpread | None:
        """The power by formula under all that may be assumed of the variances; None where they are chosen."""
        outlook, study = self.outlook, self.cell.study
        if self.assumed is None:
            return None
        if isinstance(study, SystemsStudy):
            return None if self.analytic is None else power_spread(study, self.assumed)
        return (
            None if outlook is None or outlook.counts is None else power_spread(outlook.study, self.assumed)
        )

    def _pictures(self) -> Iterator[Section]:
        """What pages show and terminals leave out."""
        outlook, analytic, simulated = self.outlook, self.analytic, self.simulated
        if (
            outlook is None
            or not isinstance(analytic, AnalyticPower)
            or isinstance(simulated, SystemsPower)
        ):
            return
        y = CLAIM if self._has_margin else POWER
        more = [*growth_charts(outlook, analytic, simulated, y=y)]
        if outlook.effects is not None:
            effect = axis_unit(self.scale)[0] * analytic.effect
            size = points_words(analytic.effect, self.scale, digits=3)
            more.append(
                effect_chart(
                    outlook.effects,
                    analytic.effect,
                    (target_line(), *spots(effect, f"this study: {size},", analytic, simulated)),
                    title="What if the true difference is another?",
                    direction=self.said.direction,
                    scale=self.scale,
                    power=analytic.power,
                )
            )
        if more:
            yield Section("What would change it", tuple(more))
        costs = (*cost_chart(outlook, analytic, simulated, y=y), *splits_chart(outlook, analytic, y=y))
        if costs:
            yield Section("What it costs", costs)
        bottleneck, counts = self.bottleneck, outlook.counts
        held: list[Block] = [*variance_chart(outlook, "" if bottleneck is None else bottleneck.factor)]
        if bottleneck is not None and counts is not None:
            held.append(Paragraph(bottleneck_words(bottleneck, counts)))
        if held:
            yield Section("What holds it back", tuple(held), is_detail=bottleneck is not None)
        estimates = estimates_chart(
            outlook, analytic, self.cell.study.rule, direction=self.said.direction, scale=self.scale
        )
        yield Section("What would be seen", (*estimates, *curse_chart(outlook, analytic, simulated)))

    def _lead(self) -> Iterator[str]:
        study, simulated, analytic = self.cell.study, self.simulated, self.analytic
        finds = finds_words(study, self.said, self.scale)
        corrected = ""
        if isinstance(study, SystemsStudy) and study.family.correction != "none":
            n_tests = len(study.family.pairs(study.parameters.names))
            corrected = (
                f", after {CORRECTIONS[study.family.correction].words} over {counted(n_tests, 'test')}"
            )
        if simulated is not None and simulated.too_many_failed:
            yield "There is no power: too many of the simulated studies could not be fitted."
        elif simulated is not None:
            between = simulated_words(simulated.n_simulations, simulated.interval)
            yield f"Of 100 such studies, {of_hundred(simulated.power)} would {finds}{corrected}; {between}."
        elif analytic is not None:
            chance = of_hundred(analytic.power)
            yield f"Of 100 such studies, {chance} would {finds}{corrected}, by formula."
        if isinstance(analytic, AnalyticPower) and not analytic.is_rough:
            yield from self._changes()
        elif isinstance(analytic, SystemsPower) and isinstance(study, SystemsStudy):
            yield from enough_words(study)
        if self.spread is not None:
            yield from spread_words(**asdict(self.spread))

    def _changes(self) -> Iterator[str]:
        """How many workers or items would do, and what no number of them exceeds."""
        outlook = self.outlook
        if outlook is None or outlook.counts is None or outlook.workers is None or outlook.items is None:
            return
        fewest = outlook.workers.enough
        if fewest is not None and is_too_bold(self.cell.study.rule, fewest):
            fewest = None
        sizes = [(fewest, "worker"), (outlook.items.enough, "item")]
        would = [counted(enough, noun) for enough, noun in sizes if enough is not None]
        if would:
            yield f"{' or '.join(would)} would do for {of_hundred(TARGET)} of 100."
        items, workers = outlook.items.ceiling, outlook.workers.ceiling
        if items is None or workers is None:
            return
        documents, study = outlook.counts.n_documents, self.cell.study
        of = " of these documents" if documents else ""
        n_workers, n_items = outlook.counts.n_workers, outlook.counts.n_items
        limits = [
            f"with {those} it is {of_hundred(limit.power)} at most, however many {others}"
            for limit, those, others in (
                (items, counted(n_workers, "worker"), f"items{of} they rate"),
                (workers, counted(n_items, "item"), "workers rate them"),
            )
            if limit.power <= _ALL
        ]
        if limits:
            yield f"{'; '.join(limits)}.".capitalize()
        if documents and isinstance(study, RatingStudy):
            both = ceiling_with_both(study.parameters, n_documents=documents, rule=study.rule)
            if both.power <= _ALL:
                most = of_hundred(both.power)
                yield f"With {documents} documents it is at most {most}, whatever the items and workers."

    def _facts(self) -> Iterator[Fact]:
        """What significant estimates are like, the power halfway to a margin, the price of losses and of documents,
        what the study costs; then what was asked, and how formula and simulation came to their powers."""
        study, analytic, simulated = self.cell.study, self.analytic, self.simulated
        result = analytic if simulated is None else simulated
        if result is not None and not self._has_margin and math.isfinite(result.type_m):
            wrong = share_words(result.type_s)
            if isinstance(simulated, PowerEstimate) and not simulated.counts.n_wrong:
                wrong = f"none of {simulated.counts.n_right:,}"
            elif isinstance(simulated, SystemsPower) and not result.type_s:
                wrong = f"none of {simulated.n_simulations:,} studies"
            yield (
                "If significant",
                f"the estimate exaggerates {result.type_m:.2f} times on average (type M), with the wrong sign in "
                f"{wrong} (type S)",
            )
        if isinstance(result, SystemsPower) and isinstance(study, SystemsStudy):
            yield from facts_of_several(result, study.family, study.rule.alpha)
        if self.halfway is not None:
            yield "Halfway", halfway_words(self.halfway)
        if analytic is not None and simulated is not None and self._has_losses:
            cost = analytic.power - simulated.power
            yield "As planned", f"the power is {power_words(analytic.power)}; the losses cost {cost:.3f}"
        if self.left_out is not None:
            yield "Documents", str(self.left_out)
        if self.costs is not None or self.budget is not None:
            if isinstance(study, SystemsStudy):
                yield from money_facts(self._cost, self.budget)
                if self.splits is not None and analytic is not None:
                    unit = "ratings" if self.costs is None else self.costs.currency
                    yield from _better_split(self.splits, analytic.power, unit)
            else:
                yield from _cost_facts(self.outlook, analytic)
        coefficient = study.true_effect / self.effect_unit
        coded = "" if self.effect_unit == 1 else f" (coefficient {coefficient:g} under -1/+1 coding)"
        yield "Effect", f"{self.said}{coded}"
        if self._has_margin:
            yield "Margin", margin_words(study.rule, self.scale)
        yield from study_facts(self.cell)
        if study.response != "gaussian":
            yield "Response", study.response + (f" of {study.points} points" if study.points else "")
        if isinstance(analytic, SystemsPower):
            yield "Formula", precision_words(analytic)
        elif analytic is not None:
            precision = analytic.precision
            rough = "; rough, with so few workers" if analytic.is_rough else ""
            behind = f"SE {precision.standard_error:.4f}, df {precision.df:.1f}{rough}"
            yield "Formula", behind + approximate_words(study)
        if simulated is not None:
            yield from _simulated_facts(simulated, self.said.systems or ANONYMOUS)

    def _cautions(self) -> Iterator[str]:
        analytic, simulated = self.analytic, self.simulated
        yield from beyond_pilot(self.assumed, self.said)
        if analytic is None or simulated is None or self._has_losses:
            return
        if disagree(analytic, simulated):
            rough = isinstance(analytic, AnalyticPower) and analytic.is_rough
            why = "with so few workers the formula is rough" if rough else "the formula is off here"
            yield (
                f"Formula and simulation differ by more than Monte Carlo error and 0.02: {why}; "
                "trust the simulation."
            )

    @property
    def _has_losses(self) -> bool:
        return self.cell.study.losses != NO_LOSSES

    @property
    def _cost(self) -> Cost | int:
        """What the study costs at its prices; without any how many ratings it is."""
        design = self.cell.study.design
        return design.n_ratings if self.costs is None else cost_of(design, self.costs)

    def content(self) -> Record:
        """The power with what it was computed from; `power` is the simulated one where there is one."""
        study, analytic, simulated = self.cell.study, self.analytic, self.simulated
        shown = simulated or PowerEstimate(Tally(), study.true_effect, study.rule.alpha)
        record = {
            "understood": str(self.said),
            **result_row(CellResult(self.cell, shown), effect_unit=self.effect_unit),
            "difference": study.true_effect,
            **study_content(self.cell),
        }
        if isinstance(simulated, PowerEstimate):
            record |= values(simulated, "rejection_rate", "mean_estimate", "boundary_rates")
        if simulated is not None:
            record["failure_rate"] = simulated.failure_rate
        elif analytic is not None:
            record |= values(analytic, "power", "type_m", "type_s")
        if isinstance(study, SystemsStudy):
            record["analytic"] = power_record(analytic, study)
            record["simulated"] = power_record(simulated, study)
            cost, budget = self._cost, None if self.budget is None else float(self.budget)
            costs: Record = {"unit": "ratings", "cost": cost, "budget": budget}
            if not isinstance(cost, int):
                parts = {name: str(part) for name, part in cost.parts.items()}
                costs |= {"unit": cost.currency, "cost": str(cost.total), "cost_parts": parts}
            if not isinstance(cost, int) or budget is not None:  # of two systems the outlook has it
                record["costs"] = costs
                if self.splits is not None:
                    costs["splits"] = asdict(self.splits)
        elif isinstance(analytic, AnalyticPower):
            record["analytic"] = {
                **values(analytic, "power", "type_m", "type_s"),
                **values(analytic.precision, "standard_error", "df"),
            }
        if self.left_out is not None:
            record["without_documents"] = asdict(self.left_out)
        if self.halfway is not None:
            record["halfway_to_margin"] = asdict(self.halfway)
        if self.spread is not None:
            record["spread"] = asdict(self.spread)
        if self.outlook is not None:
            record["outlook"] = outlook_record(self.outlook, self.bottleneck)
        return record

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was noticed on the way, and failed fits."""
        failures = () if self.simulated is None else failure_remarks([self.simulated])
        return (*self.notes, *study_notes(self.cell.study), *failures)

    @property
    def missed(self) -> str:
        """That too many of the simulated studies could not be fitted."""
        if self.simulated is None or not too_many_failed([self.simulated], strict=self.strict):
            return ""
        return NO_POWER


def _simulated_facts(estimate: PowerEstimate | SystemsPower, systems: tuple[str, str]) -> Iterator[Fact]:
    share = f" ({percent(estimate.failure_rate)}; they count as not significant)" * bool(estimate.n_failed)
    fits = f"{estimate.n_simulations:,} simulated, {estimate.n_failed:,} failed{share}"
    if estimate.too_many_failed:
        yield "Fits", fits
        return
    if isinstance(estimate, SystemsPower):
        kept = f"{percent(estimate.boundary_rate)} of the fits, which are kept"
        found = kept if estimate.boundary_rate else "none of the fits"
        yield "Boundary", f"a variance is estimated as zero in {found}"
    else:
        zero = [f"{name} (in {percent(rate)})" for name, rate in estimate.boundary_rates.items() if rate]
        some = f"in some fits, which are kept, an SD is estimated as zero: {sds_in_words(zero, systems)}"
        yield "Boundary", some if zero else "no SD is estimated as zero in any fit"
    yield "Fits", f"{fits}; the power's interval is the 95 % Monte Carlo one"


def _cost_facts(outlook: Outlook | None, analytic: AnalyticPower | SystemsPower | None) -> Iterator[Fact]:
    """What the study costs, what is left of the budget, and a better split of the same sum."""
    spending = None if outlook is None else outlook.spending
    if spending is None:
        return
    unit, budget = spending.unit, spending.budget
    cost = round(spending.cost) if spending.priced is None else spending.priced
    yield from money_facts(cost, None if budget is None else Decimal(str(budget)))
    if analytic is not None:
        yield from _better_split(spending.splits, analytic.power, unit)


def _better_split(splits: Designs, power: float, unit: str) -> Iterator[Fact]:
    """The most powerful design for the same sum, where it is worth telling."""
    if not len(splits) or splits.power[splits.best] < power + _WORTH:
        return
    best = splits.best
    yield (
        "Same sum",
        f"{splits.workers[best]:,} workers and {splits.items[best]:,} items would have power "
        f"{power_words(splits.power[best])} for {amount(splits.cost[best], unit)}",
    )
