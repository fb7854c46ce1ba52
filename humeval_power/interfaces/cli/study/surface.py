"""`humeval-power surface`: power over a grid of studies, as table and figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from humeval_power.assumptions import Assumptions
from humeval_power.differences import Difference, understood
from humeval_power.interfaces.cli.effect_options import (
    TypedEffects,
    effect_needed,
    effect_options,
    warn_beyond,
)
from humeval_power.interfaces.cli.numbers import number_list
from humeval_power.interfaces.cli.options import (
    force_option,
    jobs_option,
    json_option,
    quiet_option,
    rule_options,
    seed_option,
    simulations_option,
)
from humeval_power.interfaces.cli.output import note, refuse_to_overwrite, say, wrapped, write_directory
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.study.options import (
    StudyOptions,
    grid_options,
    load_settings,
    source_needed,
    study_options,
)
from humeval_power.interfaces.cli.study.running import (
    CARD2020_UNIT,
    compat_option,
    end_if_failed,
    precision_option,
    run_cells,
    strict_option,
)
from humeval_power.interfaces.cli.text import text_table
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.planning.power import DEFAULT_SEED
from humeval_power.planning.study.surface import list_cells
from humeval_power.reporting.numbers import decimals
from humeval_power.reporting.records import result_row, surface_record
from humeval_power.reporting.rule_words import PARITY
from humeval_power.rules import CARD2020, DEFAULT_RULE, DecisionRule, claim
from humeval_power.safe_text import table_csv

FILES = ("surface.csv", "surface.png", "surface.svg", "surface.json")


@click.command("surface", cls=Command)
@study_options
@click.option(
    "--workers", metavar="LIST", required=True, callback=number_list(int), help="Such as 3,10 or 5:30:5."
)
@click.option(
    "--items", metavar="LIST", required=True, callback=number_list(int), help="Such as 50,100,500."
)
@effect_options(
    "True differences B - A on [0, 1], such as 0.05:0.2:0.05. [0 and half of the margin with --margin]",
    many="0.05:0.2:0.05",
)
@rule_options
@compat_option
@click.option(
    "--compare",
    type=click.Choice(["card2020"]),
    help="Draw the same studies decided as Card et al. (2020) did beside your rule's.",
)
@simulations_option
@precision_option
@seed_option
@jobs_option
@click.option("--dry-run", is_flag=True, help="List the size of the grid and stop.")
@strict_option
@json_option
@click.option("-o", "--output", metavar="DIR", help="Write surface.csv, .png, .svg and .json to DIR.")
@force_option
@quiet_option
@source_needed
@effect_needed
def command(
    study: StudyOptions,
    workers: tuple[int, ...],
    items: tuple[int, ...],
    effect: TypedEffects | None,
    rule: DecisionRule,
    compat: str | None,
    compare: str | None,
    simulations: int | None,
    precision: float | None,
    seed: int | None,
    jobs: int | None,
    dry_run: bool,
    strict: bool,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """Power over settings x workers x items x effects, as table and figure.

    Every cell uses the same random numbers, so that curves are smooth. The
    table goes to standard output, the files to --output.
    """
    if compat and compare:
        raise click.UsageError(
            "--compat decides every study in the old way, --compare draws both: choose one."
        )
    if (compat or compare) and rule.margin is not None:
        raise click.UsageError("Card et al. (2020) test for a difference: leave out --margin.")
    if output is not None:
        refuse_to_overwrite([Path(output) / name for name in FILES], force=force)
    settings = load_settings(study)
    unit = CARD2020_UNIT if compat else 1.0
    said = _effects(effect, rule, settings, unit)
    warn_beyond(settings, said)
    rules = [CARD2020 if compat else rule, *([CARD2020] if compare else [])]
    cells = [
        cell
        for decided in rules
        for cell in list_cells(
            settings.by_name,
            workers=workers,
            items=items,
            effects=[difference.value for difference in said],
            rule=decided,
            **grid_options(study, settings),
        )
    ]
    if dry_run:
        say(f"{len(cells)} cells, {len(settings.by_name)} settings")
        return
    results = run_cells(cells, simulations=simulations, precision=precision, seed=seed, jobs=jobs)
    rows = [result_row(result, effect_unit=unit) for result in results]
    if compare:
        for row, result in zip(rows, results, strict=True):
            row["rule"] = "card2020" if result.cell.study.rule == CARD2020 else str(result.cell.study.rule)
    used = DEFAULT_SEED if seed is None else seed
    document = surface_record(
        results,
        rows,
        settings=settings.by_name,
        rules=rules,
        seed=used,
        effect_unit=unit,
        command=typed_command(),
    )
    document = {"understood": understood(said), **document}
    if output is not None:
        write_directory(output, _files(rows, document), force=force)
        note(f"Written to {output}: {', '.join(FILES)}")
    text = f"{wrapped(understood(said), bullet='Effect   ')}\n\n{surface_text(rows, rule=rule)}"
    say(to_json(document) if as_json else text, nl=not as_json)
    end_if_failed(results, strict=strict)


def _effects(
    typed: TypedEffects | None, rule: DecisionRule, settings: Assumptions, unit: float
) -> tuple[Difference, ...]:
    """The true differences of the grid; halfway to a margin is always looked at beside 0."""
    scale = settings.scale
    if typed is None:
        assert rule.halfway is not None  # an effect or a margin is asked for before
        return Difference(0.0, scale), Difference(rule.halfway, scale)
    if unit != 1.0:
        return tuple(Difference(unit * value, scale) for value in typed.coefficients(unit))
    found = typed.on(scale)
    if rule.halfway is not None and rule.halfway not in [difference.value for difference in found]:
        note(
            f"Power near a true difference of 0 is optimistic; add {rule.halfway:g} to --effect, which is "
            "halfway to the margin."
        )
    return found


def _files(rows: list[dict[str, object]], document: dict[str, object]) -> dict[str, str | bytes]:
    import pandas as pd

    from humeval_power.reporting.study.surface_figure import comparison_figure, figure_bytes, surface_figure

    table = pd.DataFrame(rows)
    label = None if document["effect_unit"] == 1.0 else "Coefficient under -1/+1 coding (half of B - A)"
    if "rule" in table:
        figure = comparison_figure(table, effect_label=label)
    else:
        figure = surface_figure(table, effect_label=label)
    return {
        "surface.csv": table_csv(table, digits=10),
        "surface.png": figure_bytes(figure, "png"),
        "surface.svg": figure_bytes(figure, "svg"),
        "surface.json": to_json(document),
    }


def _half_width(row: Mapping[str, Any]) -> float:
    return float(row["power_high"] - row["power_low"]) / 2


def surface_text(rows: Sequence[Mapping[str, Any]], *, rule: DecisionRule = DEFAULT_RULE) -> str:
    """The table for people: 80 columns; '+-' is half the Monte Carlo interval of the power. Under a rule
    with a margin there is no type M and S."""
    worth = rule.margin is None
    header = ["setting", "workers", "items", "k", "effect", "power", "+-"]
    header += [*(["type M", "type S"] if worth else []), "at zero"]
    lines = [
        [
            str(row["setting"]) + (" *" if row.get("rule") == "card2020" else ""),
            f"{row['workers']}",
            f"{row['items']}",
            f"{row['ratings_per_item']:g}",
            f"{row['effect']:g}",
            f"{row['power']:.3f}",
            f"{_half_width(row):.3f}",
            *([decimals(row["type_m"], 2), decimals(row["type_s"], 3)] if worth else []),
            f"{row['boundary_rate']:.2f}",
        ]
        for row in rows
    ]
    text = text_table(header, lines, indent="")
    if any("rule" in row for row in rows):
        text += "\n* decided as Card et al. (2020): maximum likelihood, t > 1.96"
    if not worth:
        text += (
            f"\n{wrapped(f'Power to show {claim(rule)} on [0, 1]; effect: the true difference. {PARITY}')}"
        )
    return text
