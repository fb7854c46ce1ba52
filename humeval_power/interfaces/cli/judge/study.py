"""`humeval-power judge study`: how many human ratings a judge saves in a study of workers and items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from humeval_power.assumptions import Assumptions
from humeval_power.interfaces.cli.assumptions import (
    Sources,
    parameter_options,
    read_assumptions,
    scale_options,
)
from humeval_power.interfaces.cli.effect_options import TypedEffects, effect_options, warn_beyond
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import result_options, rule_options
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.required_options import Command, needs
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.study.options import only_setting, source_needed
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.parameters import Parameters
from humeval_power.rules import DecisionRule
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    from humeval_power.planning.judge.study import JudgedStudy
    from humeval_power.planning.study.analytic import AnalyticPower

SCHEMA = "humeval_power/judge_study/1"
_ENDLESS = 10**12  # items

correlation_option = click.option(
    "--correlation",
    type=RealNumber(-1, 1),
    required=True,
    help="Correlation of the judge with what humans say; see above which.",
)
extra_option = click.option(
    "--extra", type=WholeNumber(min=0), required=True, help="Items scored by the judge alone."
)


@click.command("study", cls=Command)
@parameter_options
@scale_options
@click.option("--workers", type=WholeNumber(), required=True, help="Number of workers.")
@click.option("--items", type=WholeNumber(), required=True, help="Number of items that the workers rate.")
@click.option(
    "--ratings-per-item", type=WholeNumber(), help="Ratings of an item under each system. [every worker]"
)
@effect_options("True difference B - A on [0, 1].")
@extra_option
@correlation_option
@rule_options
@result_options
@source_needed
@needs("--effect or --effect-raw", ("effect", "effect_raw"))
def command(
    sources: Sources,
    scale: RatingScale | None,
    workers: int,
    items: int,
    ratings_per_item: int | None,
    effect: TypedEffects,
    extra: int,
    correlation: float,
    rule: DecisionRule,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """How many human ratings does a judge save in a study of workers and items?

    The correlation is that of the judge's difference on an item with the
    item's true difference. The judge cannot foretell how workers differ, nor
    the noise of their ratings: what those contribute stays.
    """
    from humeval_power.interfaces.cli.study.running import kernels_for
    from humeval_power.planning.judge.study import judged_study
    from humeval_power.planning.study.surface import list_cells

    if output is not None:
        refuse_to_overwrite([output], force=force)
    assumed = read_assumptions(sources, scale)
    said = effect.one(assumed.scale)
    warn_beyond(assumed, [said])
    setting, given = _assumed(assumed, said.value)
    cell = list_cells(
        {setting: given},
        workers=[workers],
        items=[items],
        effects=[said.value],
        ratings_per_item=ratings_per_item,
        rule=rule,
    )[0]

    def judged(correlation: float, extra: int) -> JudgedStudy:
        return judged_study(
            given,
            n_workers=workers,
            n_items=items,
            correlation=correlation,
            extra=extra,
            ratings_per_item=ratings_per_item,
            rule=rule,
        )

    with kernels_for([cell]):
        found, endless = judged(correlation, extra), judged(1.0, _ENDLESS)
    for remark in found.design.notes:
        note(remark)
    record = {
        "understood": str(said),
        "schema": SCHEMA,
        "setting": setting,
        "parameters": given.as_dict(),
        "rule": asdict(rule),
        "extra": extra,
        "correlation": correlation,
        **_found(found, endless),
        "command": typed_command(),
    }
    text = _text(record, found, endless)
    emit(to_json(record) if as_json else text, output=output, force=force)


def _assumed(settings: Assumptions, effect: float) -> tuple[str, Parameters]:
    setting, given = only_setting(settings)
    return setting, given.with_difference(effect)


def _found(found: JudgedStudy, endless: JudgedStudy) -> dict[str, object]:
    design = found.design
    return {
        "workers": design.n_workers,
        "items": design.n_items,
        "ratings_per_item": design.ratings_per_item,
        "effect": found.alone.effect,
        "power_alone": found.alone.power,
        "power_judged": found.judged.power,
        "standard_error_alone": found.alone.precision.standard_error,
        "standard_error_judged": found.judged.precision.standard_error,
        "efficiency": found.efficiency,
        "largest_efficiency": endless.efficiency,
        "items_needed": design.n_items if found.fewer is None else found.fewer.n_items,
        "ratings": design.n_ratings,
        "ratings_saved": found.ratings_saved,
    }


def _text(record: Mapping[str, object], found: JudgedStudy, endless: JudgedStudy) -> str:
    saves = "nothing: with one item less the power is lower than without the judge"
    if found.fewer is not None:
        saves = (
            f"{found.ratings_saved:,} of {found.design.n_ratings:,} ratings for the same power: "
            f"{found.fewer.n_items:,} items instead of {found.design.n_items:,}"
        )
    facts = [
        ("Effect", str(record["understood"])),
        ("Setting", str(record["setting"])),
        ("Study", str(found.design)),
        ("Alone", _power_words(found.alone)),
        (
            "Judged",
            f"{_power_words(found.judged)}: {found.efficiency:.3f} times the data, with {record['extra']:,} "
            f"more items and correlation {record['correlation']:g}",
        ),
        (
            "At most",
            f"{endless.efficiency:.3f} times the data, from a perfect judge of endless items: workers and "
            "noise remain",
        ),
        ("Saves", saves),
    ]
    return "\n".join(wrapped(words, bullet=f"{label:<11}") for label, words in facts)


def _power_words(analytic: AnalyticPower) -> str:
    rough = "; rough, with so few workers" if analytic.is_rough else ""
    error, df = analytic.precision.standard_error, analytic.precision.df
    return f"power {analytic.power:.3f}  (SE {error:.4f}, df {df:.1f}{rough})"
