"""What a study of several systems says beyond one of two: its goals, its comparisons, its means, and its curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial

import numpy as np

from humeval_power.choices import CORRECTIONS
from humeval_power.differences import Difference
from humeval_power.errors import HumevalPowerError
from humeval_power.rules import ComparisonFamily
from humeval_power.saying.answer_words import (
    axis_unit,
    finding_words,
    of_hundred,
    on_scale,
    points_words,
    rate_words,
    share_words,
)
from humeval_power.saying.chart import Axis, Chart, LaterChart, Series, Upright
from humeval_power.saying.document import Fact, Paragraph, Section, Table, table
from humeval_power.saying.numbers import counted, interval_words, level_of, percent, power_words
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record
from humeval_power.saying.rule_words import is_too_bold
from humeval_power.scales import RatingScale
from humeval_power.studies.power.charts import POWER, spots, target_line
from humeval_power.studies.power.growth import TARGET, counts_of
from humeval_power.studies.power.strategies import AnyStudy, TwoSystems
from humeval_power.studies.power.systems_goals import SystemsPower
from humeval_power.studies.power.systems_study import SystemsStudy, required_systems_size
from humeval_power.systems import GOAL_WORDS, GOALS, Goal, goal_words

_MODELS = {
    "own": "all systems in one fit, with variances of each system's own",
    "common": "all systems in one fit, with variances that all systems share",
}


_EFFECTS, _SIZES = 12, 8  # points of the curves, each of many comparisons
_TIMES = 5  # as many workers as now
_LOG2_POINTS = 10  # right to about 0.01, which is finer than a line
_CLOSE = "By formula, to about 1 of 100."
_MOST_MEANS = 24  # systems whose means a terminal shows
_GOAL_COLOURS = (0, 3, 4, 5, 7)  # 1 and 2 are of what is marked


def finds_words(study: AnyStudy | TwoSystems, said: Difference, scale: RatingScale | None = None) -> str:
    """What the studies do that the power counts: 'find that new is 0.4 points better than old on a scale ...', or
    'find any one pair that is 0.4 points apart on a scale ...'."""
    if isinstance(study, SystemsStudy):
        scale = scale or said.scale
        apart = f"{points_words(said.value, scale, digits=3)} apart {on_scale(scale)}"
        return goal_words(study.goal, apart, margin=study.rule.margin is not None)
    return finding_words(said, study.rule, scale)


def family_words(family: ComparisonFamily, n_systems: int) -> str:
    """The tests made together, their model and correction."""
    n = n_systems * (n_systems - 1) // 2 if family.comparisons == "all-pairs" else n_systems - 1
    against = (
        "all pairs"
        if family.comparisons == "all-pairs"
        else f"every other system against {family.baseline}"
    )
    model = "each pair by its own fit" if family.model == "pairwise" else _MODELS[family.variances]
    return f"{counted(n, 'comparison')}, {against}; {model}; {CORRECTIONS[family.correction].words}"


def assumed_words(study: SystemsStudy) -> str:
    """What is taken of how workers and items differ about the systems."""
    values = study.parameters
    levels = (
        f"what a worker gives all systems alike has SD {values.sd_worker:.3g}, an item {values.sd_item:.3g}"
    )
    if values.has_documents:
        levels += f", a document {values.sd_document:.3g}"
    shared = f"{levels}, the noise of a rating {values.sd_residual:.3g}"
    if not values.is_alike:
        return f"Assumed on [0, 1]: {shared}; each system has SDs of its own (see the table)."
    return (
        f"Assumed on [0, 1]: {shared}; any two systems differ alike (compound symmetry): what a worker gives one "
        f"system beyond that has SD {values.sd_worker_system[0]:.3g}, an item {values.sd_item_system[0]:.3g}"
        + (f", a document {values.sd_document_system[0]:.3g}." if values.has_documents else ".")
    )


def means_table(study: SystemsStudy) -> Table:
    """The true means that were assumed, highest first, with the SDs of each system where they differ."""
    known = study.parameters
    columns: dict[str, Callable[[int], str]] = {
        "system": lambda place: known.names[place],
        "assumed mean": lambda place: f"{known.means[place]:.4f}",
    }
    if not known.is_alike:
        columns["worker x system"] = lambda place: f"{known.sd_worker_system[place]:.4f}"
        columns["item x system"] = lambda place: f"{known.sd_item_system[place]:.4f}"
    if not known.is_alike and known.has_documents:
        columns["document x system"] = lambda place: f"{known.sd_document_system[place]:.4f}"
    return table(sorted(range(known.n_systems), key=lambda place: -known.means[place]), columns)


def share_cell(share: float) -> str:
    """A share in a table; 'none' where there can be none."""
    return "none" if math.isnan(share) else power_words(share)


def goals_table(
    study: SystemsStudy,
    analytic: SystemsPower | None,
    simulated: SystemsPower | None,
    scale: RatingScale | None,
) -> Table:
    """Every goal by formula and as simulated, differences in points of the scale."""
    apart = f"{points_words(study.effect, scale, digits=3)} apart"
    margin = study.rule.margin is not None
    columns: dict[str, Callable[[Goal], str]] = {
        "goal": str,
        "what it is": lambda goal: goal_words(goal, apart, margin=margin),
    }
    if analytic is not None:
        columns["formula"] = lambda goal: share_cell(analytic.shares[goal])
    if simulated is not None:
        shares, interval_of = simulated.shares, simulated.interval_of
        columns["simulated"] = lambda goal: share_cell(shares[goal])
        columns["95 % interval"] = lambda goal: (
            "" if math.isnan(shares[goal]) else interval_words(*interval_of(shares[goal]), digits=3)
        )
    return table(GOALS, columns)


def pairs_table(
    study: SystemsStudy, analytic: SystemsPower | None, simulated: SystemsPower | None
) -> Table:
    """Every comparison with its true difference and how often it is found."""
    result = analytic or simulated
    assert result is not None
    names, means = study.parameters.names, study.parameters.means
    header = ["difference", "assumed", "SE", "df"]
    header += ["formula"] if analytic is not None else []
    header += ["simulated"] if simulated is not None else []
    rows = []
    for place, (first, second) in enumerate(result.pairs):
        row = [f"{names[second]} - {names[first]}", f"{means[second] - means[first]:.4f}"]
        row += [f"{result.standard_error[place]:.4f}", f"{result.df[place]:.1f}"]
        row += [share_cell(one.per_comparison[place]) for one in (analytic, simulated) if one is not None]
        rows.append(tuple(row))
    return Table(tuple(header), tuple(rows))


def enough_words(study: SystemsStudy) -> Iterator[str]:
    """How many workers, or items, would do by formula; of designs that counts describe, without documents."""
    counts = counts_of(study.design)
    if counts is None or not counts.paired or counts.n_documents or not can_draw(study):
        return
    if study.rule.tail >= TARGET:  # which no difference at all would reach
        return
    workers = required_systems_size(study, "workers", counts, power=TARGET, proves=False).counts
    items = required_systems_size(study, "items", counts, power=TARGET, proves=False).counts
    is_bold = workers is not None and is_too_bold(study.rule, workers.n_workers)
    would = [] if workers is None or is_bold else [counted(workers.n_workers, "worker")]
    would += [] if items is None else [counted(items.n_items, "item")]
    goal = of_hundred(TARGET)
    if would:
        yield f"{' or '.join(would)} would do for {goal} of 100."
    elif not is_bold:
        yield f"Neither more workers nor more items alone would do for {goal} of 100."


def several_sections(
    study: SystemsStudy,
    analytic: SystemsPower | None,
    simulated: SystemsPower | None,
    scale: RatingScale | None,
) -> Iterator[Section]:
    """What was assumed, how power changes, the true means and every comparison."""
    yield Section("", (Paragraph(assumed_words(study)),))
    if analytic is not None and can_draw(study):
        words = "How many of 100 such studies reach each goal, by formula, against the difference that the true "
        words += "means are stated by."
        charts = [
            LaterChart("power", lambda: goals_chart(study, analytic, simulated, scale=scale), words=words)
        ]
        if sizes := sizes_of(study):
            words = "How many of 100 such studies reach the goal, by formula, over the number of workers."
            make = partial(workers_chart, study, sizes, analytic, simulated)
            charts.append(LaterChart("workers", make, words=words))
        yield Section("What would change it", tuple(charts))
    long = study.parameters.n_systems > _MOST_MEANS
    yield Section("True means", (means_table(study),), is_detail=long)
    yield Section("Comparisons", (pairs_table(study, analytic, simulated),), is_detail=True)


def facts_of_several(power: SystemsPower, family: ComparisonFamily, alpha: float) -> Iterator[Fact]:
    """What else a study of several finds or claims, where its tests have the level `alpha`."""
    if not math.isnan(power.false_claim):
        planned = f"; at most {level_of(alpha)} was planned" if family.limits_errors else ""
        yield (
            "Errors",
            f"{_studies(power.false_claim, power)} claim something untrue of a pair (family-wise error){planned}",
        )
    if not math.isnan(power.wrong_sign):
        yield (
            "Wrong sign",
            f"{_studies(power.wrong_sign, power)} find a difference with the wrong sign",
        )
    if not math.isnan(power.top_group):
        yield "Top group", f"{power.top_group:.2f} systems on average are not shown to be below the highest"
    if power.best_margin is not None:
        low, high = power.best_margin.interval
        by_pairs = power.shares["best"]  # NaN where only some pairs are compared
        yield (
            "Best - second",
            f"{power.best_margin.estimate:.4f} on average, Hsu's interval {interval_words(low, high)}; this "
            f"interval shows the best to be the best in {_studies(power.best_margin.shown, power)}"
            + ("" if math.isnan(by_pairs) else f", the tests of pairs in {percent(by_pairs)}"),
        )


def _studies(share: float, power: SystemsPower) -> str:
    n = power.n_simulations
    if not n:
        return f"{share_words(share)} of studies"
    return (
        f"{rate_words(share, power.interval_of(share))} of studies" if share else f"none of {n:,} studies"
    )


def precision_words(power: SystemsPower) -> str:
    """Standard errors and df of the comparisons by formula."""
    return f"SE {_range(power.standard_error, 4)}, df {_range(power.df, 1)}"


def _range(values: tuple[float, ...], digits: int) -> str:
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return low if low == high else f"{low} to {high}"


def several_content(study: SystemsStudy) -> Record:
    """What only a record of several systems holds of the study."""
    return {
        "n_systems": study.parameters.n_systems,
        "goal": study.goal,
        "family": asdict(study.family),
        "assumed": list(study.parameters.notes),
    }


def power_record(value: object, study: SystemsStudy) -> Record | None:
    """Every share of a power, with the Monte Carlo intervals of simulated ones; None where there is none."""
    if not isinstance(value, SystemsPower):
        return None
    names = study.parameters.names
    of_pairs = {
        "power": value.per_comparison,
        "type_m": value.type_m_of,
        "type_s": value.type_s_of,
        "boundary_rate": value.boundary_rate_of,
        "standard_error": value.standard_error,
        "df": value.df,
    }
    record: Record = {
        **values(value, "power", "type_m", "type_s", "boundary_rate"),
        "goals": {goal: value.shares[goal] for goal in GOALS},
        **values(value, "false_claim", "wrong_sign", "top_group"),
        "pairs": [
            {
                "first": names[a],
                "second": names[b],
                **{name: each[place] for name, each in of_pairs.items()},
            }
            for place, (a, b) in enumerate(value.pairs)
        ],
    }
    if value.n_simulations:
        record["intervals"] = {goal: list(value.interval_of(value.shares[goal])) for goal in GOALS}
        record |= values(value, "n_simulations", "n_failed", "best_margin")
    return record


def can_draw(study: SystemsStudy) -> bool:
    """Whether there are curves by formula: of true differences that can be drawn together to nothing."""
    if study.rule.margin is not None or not study.has_formula or study.effect <= 0:
        return False
    try:
        study.with_effect(study.effect).by_formula(log2_points=1)
    except HumevalPowerError:
        return False
    return True


def goals_chart(
    study: SystemsStudy,
    power: SystemsPower | None = None,
    simulated: SystemsPower | None = None,
    *,
    target: float = TARGET,
    scale: RatingScale | None = None,
) -> Chart:
    """Power of every goal against the stated difference, up to twice that of the study."""
    effect = study.effect
    effects = tuple((2 * effect * np.arange(1, _EFFECTS + 1) / _EFFECTS).tolist())
    powers = [study.with_effect(one).by_formula(log2_points=_LOG2_POINTS) for one in effects]
    factor, unit = axis_unit(scale)
    differences, here = tuple(factor * one for one in effects), factor * effect
    series = []
    for goal, colour in zip(GOALS, _GOAL_COLOURS, strict=True):
        shares = tuple(each.shares[goal] for each in powers)
        if not any(map(math.isnan, shares)):
            series.append(Series("line", GOAL_WORDS[goal].name, differences, shares, colour=colour))
    said = f"At a true difference of {points_words(effect, scale, digits=3)}"
    if power is not None:
        said += f" {of_hundred(power.power)} of 100 such studies find {GOAL_WORDS[study.goal].name}"
    last = of_hundred(powers[-1].shares[study.goal])
    return Chart(
        "power",
        "What if the systems differ by more, or less?",
        f"{said}, at twice as much {last}." if power is not None else f"{said} the answer lies.",
        Axis(f"True difference, {unit}", 0.0, differences[-1]),
        POWER,
        tuple(series),
        (
            target_line(target),
            Upright(f"here: {here:.3g}", here),
            *spots(here, f"this study, {GOAL_WORDS[study.goal].name}:", power, simulated),
        ),
        _CLOSE,
    )


def sizes_of(study: SystemsStudy) -> tuple[int, ...]:
    """Numbers of workers for a curve; none where counts do not say the design, or ratings are not paired."""
    counts = counts_of(study.design)
    if counts is None or not counts.paired:
        return ()
    complete = counts.ratings_per_item == counts.n_workers
    low = 2 if complete else max(2, counts.ratings_per_item)
    high = max(_TIMES * counts.n_workers, low + 1)
    if not complete:
        high = max(min(high, counts.n_items * counts.ratings_per_item), counts.n_workers)
    spread = np.geomspace(low, high, _SIZES).round().astype(int)
    return tuple(np.unique(np.append(spread, counts.n_workers)).tolist())


def workers_chart(
    study: SystemsStudy, sizes: tuple[int, ...], power: SystemsPower, simulated: SystemsPower | None
) -> Chart:
    """Power of the study's goal over the number of workers."""
    from humeval_power.studies.power.systems_power import systems_formula

    counts = counts_of(study.design)
    assert counts is not None  # else there are no sizes
    complete = counts.ratings_per_item == counts.n_workers
    powers = []
    for size in sizes:
        k = size if complete else counts.ratings_per_item
        other = replace(counts, n_workers=size, ratings_per_item=k)
        curve = systems_formula(
            study.parameters, other, study.family, study.rule, study.goal, log2_points=_LOG2_POINTS
        )
        powers.append(curve.power)
    here = counts.n_workers
    return Chart(
        "workers",
        "What would more workers bring?",
        f"With {here:,} workers {of_hundred(power.power)} of 100 such studies find {GOAL_WORDS[study.goal].name}; "
        f"with {sizes[-1]:,} {of_hundred(powers[-1])}.",
        Axis("Workers", sizes[0], sizes[-1], is_log=True, is_whole=True),
        POWER,
        (Series("line", f"with {counts.n_items:,} items", sizes, tuple(powers)),),
        (target_line(), *spots(here, f"this study, {GOAL_WORDS[study.goal].name}:", power, simulated)),
        f"{_CLOSE} The axis is logarithmic.",
    )
