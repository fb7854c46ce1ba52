"""`humeval-power survey`: what a collection of published comparisons reports, and could have found."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from humeval_power.interfaces.cli.output import wrapped
from humeval_power.interfaces.cli.text import text_table

if TYPE_CHECKING:
    from humeval_power.planning.survey import KendallTau, Survey, SurveyedPower
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humeval_power.differences import understood
from humeval_power.interfaces.cli.assumptions import (
    Sources,
    parameter_options,
    read_assumptions,
    scale_options,
)
from humeval_power.interfaces.cli.effect_options import TypedEffects, effect_options, warn_beyond
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import force_option, json_option, quiet_option, rule_options
from humeval_power.interfaces.cli.output import note, refuse_to_overwrite, say, write_directory
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.study.options import source_needed
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.rules import DecisionRule
from humeval_power.safe_text import table_csv
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    from humeval_power.planning.survey import Comparison, Survey


FLATTERED = (
    "Power at its own effect flatters a comparison: of the effects that get published the lucky ones are "
    "too large. The columns for given effects do not."
)
_DETAIL_WORDS = {
    "effect": "effect",
    "items": "number of items",
    "workers": "number of workers",
    "ratings_per_item": "ratings per item",
    "p_value": "p-value",
    "scale": "scale",
}


def survey_text(found: Survey) -> str:
    """What is reported, the correlation of effect and size, and what could have been found."""
    lines = [f"{found.n:,} comparisons. Reported:"]
    lines.append(
        text_table(
            [],
            [
                [_DETAIL_WORDS[name], f"{count:,}", f"{100 * count / found.n:.0f} %"]
                for name, count in found.reported.items()
            ],
        )
    )
    lines += ["", *_tau_lines(found)]
    header = ["setting", "known", "at own effect", *(f"at {effect:g}" for effect in found.effects)]
    rows = []
    for setting in dict.fromkeys(each.setting for each in found.powers):
        cells = [found.share_underpowered(setting, effect) for effect in (None, *found.effects)]
        rows.append([setting, f"{cells[-1][1]:,}", *map(_share, cells)])
    lines += ["", "Share of the comparisons of known power in which it is below 0.8:"]
    lines.append(text_table(header, rows))
    lines += ["", *_mde_lines(found), *_unknown_lines(found.powers)]
    return "\n".join([*lines, wrapped(FLATTERED)])


def _tau_lines(found: Survey) -> list[str]:
    if found.signed is None or found.absolute is None:
        return ["Too few comparisons report effect and items for a correlation of the two."]
    signed, absolute = _tau(found.signed), _tau(found.absolute)
    return [
        wrapped(
            f"Kendall's tau of effect and number of items, over {found.signed.n:,} comparisons: {signed}; of "
            f"the size of the effect: {absolute}. A negative one can mean that small studies were published "
            "for their large effects only."
        )
    ]


def _tau(found: KendallTau) -> str:
    return f"{found.tau:.3f} (p = {found.p_value:.3f})"


def _share(counts: tuple[int, int]) -> str:
    below, known = counts
    return "-" if known == 0 else f"{100 * below / known:.0f} %"


def _mde_lines(found: Survey) -> list[str]:
    lines = []
    for setting in dict.fromkeys(each.setting for each in found.powers):
        known = [each for each in found.powers if each.setting == setting and not each.reason]
        if known:
            middle = median(each.mde for each in known)
            rough = sum(each.is_rough for each in known)
            few = f" ({rough} have fewer than 5 workers, where the formula is rough)" if rough else ""
            text = f"{setting}: the middle one of {len(known)} finds {middle:.3f} with power 0.8{few}."
            lines.append(wrapped(text))
    return lines


def _unknown_lines(powers: tuple[SurveyedPower, ...]) -> list[str]:
    first = powers[0].setting
    reasons = [each.reason for each in powers if each.setting == first and each.reason]
    counts = {reason: reasons.count(reason) for reason in dict.fromkeys(reasons)}
    if not counts:
        return []
    shown = "; ".join(
        f"{count} ({reason})" for reason, count in sorted(counts.items(), key=lambda c: -c[1])[:4]
    )
    more = f"; and {len(counts) - 4} other reasons" if len(counts) > 4 else ""
    return [wrapped(f"Power unknown: {shown}{more}. --if-no-workers, --if-no-ratings fill in.")]


SCHEMA = "humeval_power/survey/1"
USUAL = TypedEffects("--effect", (0.05, 0.1, 0.2))
FILES = ("survey.csv", "survey.png", "survey.svg", "survey.json")


@click.command("survey", cls=Command)
@click.argument("file", metavar="COMPARISONS")
@parameter_options
@scale_options
@effect_options("Differences on [0, 1] to ask the power for. [0.05,0.1,0.2]", many="0.05,0.1")
@click.option("--if-no-workers", type=WholeNumber(min=2), help="Assume so many where none is reported.")
@click.option("--if-no-items", type=WholeNumber(min=2), help="Assume so many where none is reported.")
@click.option("--if-no-ratings", type=WholeNumber(min=1), help="Ratings per item, where none is reported.")
@rule_options
@json_option
@click.option("-o", "--output", metavar="DIR", help="Write survey.csv, .png, .svg and .json to DIR.")
@force_option
@quiet_option
@source_needed
def command(
    file: str,
    sources: Sources,
    scale: RatingScale | None,
    effect: TypedEffects | None,
    if_no_workers: int | None,
    if_no_items: int | None,
    if_no_ratings: int | None,
    rule: DecisionRule,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """What do published comparisons report, and what could they have found?

    COMPARISONS is a table with a row for each comparison and any of the
    columns name, effect, low and high (the scale), items, workers,
    ratings_per_item, p. Cells may be blank: that is part of the question.
    """
    from humeval_power.interfaces.cli.compiling import compiled_kernels
    from humeval_power.interfaces.formats.survey import read_comparisons
    from humeval_power.planning.survey import survey

    if output is not None:
        refuse_to_overwrite([Path(output) / name for name in FILES], force=force)
    settings = read_assumptions(sources, scale)
    said = (effect or USUAL).on(settings.scale)
    warn_beyond(settings, said)
    comparisons, notices = read_comparisons(file)
    for notice in notices:
        note(notice)
    assumed = {"workers": if_no_workers, "items": if_no_items, "ratings_per_item": if_no_ratings}
    with compiled_kernels():
        found = survey(
            comparisons,
            settings.by_name,
            effects=[difference.value for difference in said],
            if_missing={name: number for name, number in assumed.items() if number is not None},
            rule=rule,
        )
    record = {"understood": understood(said), **_record(found, rule)}
    if output is not None:
        write_directory(output, _files(comparisons, found, record), force=force)
        note(f"Written to {output}: {', '.join(FILES)}")
    text = f"{wrapped(understood(said), bullet='Effect   ')}\n\n{survey_text(found)}"
    say(to_json(record) if as_json else text, nl=not as_json)


def _rows(found: Survey) -> list[dict[str, object]]:
    return [
        {
            "name": each.comparison.name,
            "setting": each.setting,
            "scaled_effect": each.comparison.scaled_effect,
            "items": each.comparison.items,
            "workers": each.comparison.workers,
            "ratings_per_item": each.comparison.ratings_per_item,
            "assumed": " ".join(each.assumed),
            "mde80": each.mde,
            "power_at_own_effect": each.power,
            **{
                f"power_at_{effect:g}": power
                for effect, power in zip(found.effects, each.power_at, strict=True)
            },
            "rough": each.is_rough,
            "reason": each.reason,
        }
        for each in found.powers
    ]


def _record(found: Survey, rule: DecisionRule) -> dict[str, object]:
    from humeval_power.reporting.records import versions

    settings = dict.fromkeys(each.setting for each in found.powers)
    return {
        "schema": SCHEMA,
        "comparisons": found.n,
        "reported": dict(found.reported),
        "kendall": None if found.signed is None else asdict(found.signed),
        "kendall_absolute": None if found.absolute is None else asdict(found.absolute),
        "underpowered": {
            setting: {
                "at_own_effect": _counts(found, setting, None),
                **{f"at_{effect:g}": _counts(found, setting, effect) for effect in found.effects},
            }
            for setting in settings
        },
        "rows": _rows(found),
        "rule": asdict(rule),
        "caution": FLATTERED,
        "versions": versions(),
        "command": typed_command(),
    }


def _counts(found: Survey, setting: str, effect: float | None) -> dict[str, int]:
    below, known = found.share_underpowered(setting, effect)
    return {"underpowered": below, "known": known}


def _files(comparisons: list[Comparison], found: Survey, record: dict[str, object]) -> dict[str, Any]:
    import pandas as pd

    from humeval_power.reporting.figure_style import figure_bytes
    from humeval_power.reporting.survey import survey_figure

    figure = survey_figure(comparisons, found)
    return {
        "survey.csv": table_csv(pd.DataFrame(_rows(found)), digits=10),
        "survey.png": figure_bytes(figure, "png"),
        "survey.svg": figure_bytes(figure, "svg"),
        "survey.json": to_json(record),
    }
