"""Before there are scores: how many items, what power, and what the bootstrap primer would say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from humeval_power.interfaces.cli.family import ACCURACIES, Family
from humeval_power.interfaces.cli.numbers import RealNumber, number_list
from humeval_power.interfaces.cli.options import (
    alpha_option,
    force_option,
    json_option,
    quiet_option,
    result_options,
)
from humeval_power.interfaces.cli.output import (
    emit,
    note,
    refuse_to_overwrite,
    say,
    wrapped,
    write_directory,
)
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.text import text_table
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.planning.compare.primer import PRIMER_EFFECTS, PRIMER_HURT, PRIMER_ITEMS, PrimerCell
from humeval_power.safe_text import table_csv
from humeval_power.scenarios.contract import Scenario

PRIMER_FILES = ("primer.csv", "primer.json", "primer.png", "primer.svg")
_direction = click.option(
    "--direction",
    type=click.Choice(("two-sided", "greater", "less")),
    default="two-sided",
    show_default=True,
    help="Both directions, or only B above (greater) or below (less) A.",
)
_sd = click.option(
    "--sd",
    type=RealNumber(min=0, min_open=True),
    required=True,
    help="SD of the items' differences B - A.",
)


def _build(n: int, effect: float, given: Mapping[str, Any]) -> Scenario:
    from humeval_power.scenarios.compare.scores import NormalScores

    return NormalScores(n, effect, given["sd"], given["test"], given["direction"], given["alpha"])


def _words(scenario: Scenario) -> list[str]:
    from humeval_power.scenarios.compare.scores import NormalScores

    assert isinstance(scenario, NormalScores)
    test = "paired t test" if scenario.test == "t" else "Wilcoxon signed-rank test"
    return [
        f"{scenario.n:,} items, differences with SD {scenario.sd:g}",
        f"{test}, {scenario.direction}, alpha {scenario.alpha:g}",
    ]


FAMILY = Family(
    name="compare",
    options=(
        _sd,
        click.option(
            "--test",
            type=click.Choice(("t", "wilcoxon")),
            default="t",
            show_default=True,
            help="The test that will be used.",
        ),
        _direction,
        alpha_option,
    ),
    build=_build,
    size_help="Items of the test set.",
    effect_help="True mean difference B - A, in the metric's units.",
    largest_effect=lambda given: 10.0 * float(given["sd"]),
    words=_words,
)


@click.command("prospective", cls=Command)
@click.option("--mean", type=RealNumber(), required=True, help="Expected mean difference B - A.")
@_sd
@click.option(
    "--power",
    "target",
    type=RealNumber(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Target power.",
)
@_direction
@alpha_option
@click.option(
    "--margin", type=RealNumber(), help="Show equivalence within this margin instead of a difference."
)
@result_options
def prospective_command(
    mean: float,
    sd: float,
    target: float,
    direction: Any,
    alpha: float,
    margin: float | None,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """How many items does the comparison need?

    For the paired t test, by formula: differences are taken as normal. With
    --margin for two one-sided t tests of equivalence, where --mean is the true
    difference, 0 at best.
    """
    from humeval_power.errors import InputError
    from humeval_power.planning.compare.power import required_items, required_items_equivalence
    from humeval_power.reporting.compare.record import PROSPECTIVE_SCHEMA
    from humeval_power.reporting.records import versions

    if output is not None:
        refuse_to_overwrite([output], force=force)
    if margin is not None and not margin > 0:
        raise InputError(f"The margin must be above 0; got {margin:g}.")
    if margin is None:
        found = required_items(mean / sd, power=target, alpha=alpha, direction=direction)
        goal = f"to find a mean difference of {mean:g} (SD {sd:g}, that is {mean / sd:.3g} SDs)"
        test = f"paired t test, {direction}, alpha {alpha:g}"
    else:
        found = required_items_equivalence(margin / sd, ratio=mean / sd, power=target, alpha=alpha)
        goal = f"to show |B - A| < {margin:g} where B - A is {mean:g} (SD {sd:g})"
        test = f"two one-sided t tests, alpha {alpha:g} each"
    record = {
        "schema": PROSPECTIVE_SCHEMA,
        "mean": mean,
        "sd": sd,
        "margin": margin,
        "target_power": target,
        "alpha": alpha,
        "direction": direction,
        "n": found.n,
        "exact_n": found.exact_n,
        "power": found.power,
        "versions": versions(),
        "command": typed_command(),
    }
    text = "\n".join(
        [
            f"Items  {found.n:,}  (by formula {found.exact_n:.2f})",
            wrapped(f"{goal}, with power {target:g}", bullet="       "),
            f"Power  {found.power:.4f} with {found.n:,} items",
            f"Test   {test}",
        ]
    )
    emit(to_json(record) if as_json else text, output=output, force=force)


def _joined(values: tuple[float, ...]) -> str:
    return ",".join(f"{value:g}" for value in values)


@click.command("primer-table", cls=Command)
@click.option(
    "--n",
    metavar="LIST",
    default=_joined(PRIMER_ITEMS),
    show_default=True,
    callback=number_list(int, least=2, most=1_000_000),
    help="Numbers of items.",
)
@click.option(
    "--effect",
    metavar="LIST",
    default=_joined(PRIMER_EFFECTS),
    show_default=True,
    callback=number_list(float, least=0, most=1),
    help="Differences of accuracy B - A, as shares.",
)
@click.option(
    "--hurt",
    metavar="LIST",
    default=_joined(PRIMER_HURT[::2]),
    show_default=True,
    callback=number_list(float, least=0, most=1),
    help="Shares of items on which B is wrong and A right.",
)
@json_option
@click.option("-o", "--output", metavar="DIR", help="Write the table and its picture to DIR.")
@force_option
@quiet_option
def primer_command(
    n: tuple[int, ...],
    effect: tuple[float, ...],
    hurt: tuple[float, ...],
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """Expected p of the bootstrap primer, exactly.

    By number of items, difference of accuracy and share of items that B gets
    wrong and A right. The primer's p is one-sided and not centred at the null:
    read it as the primer does, not as a test.
    """
    from humeval_power.planning.compare.primer import primer_table
    from humeval_power.reporting.compare.record import primer_record

    if output is not None:
        refuse_to_overwrite([Path(output) / name for name in PRIMER_FILES], force=force)
    ACCURACIES.check(effect)
    cells = primer_table(n, effects=effect, hurt=hurt)
    document = to_json(primer_record(cells, command=typed_command()))
    if output is not None:
        write_directory(output, _primer_files(cells, document), force=force)
        note(f"Written to {output}: {', '.join(PRIMER_FILES)}")
    say(document if as_json else _primer_text(cells), nl=not as_json)


def _primer_text(cells: tuple[PrimerCell, ...]) -> str:
    """A table for each number of items: shares hurt down, effects across."""
    blocks = []
    for size in dict.fromkeys(cell.n_items for cell in cells):
        mine = [cell for cell in cells if cell.n_items == size]
        effects = list(dict.fromkeys(cell.effect for cell in mine))
        found = {(cell.hurt, cell.effect): cell for cell in mine}
        rows = [
            [f"{share:.3g}", *(_p(found.get((share, effect))) for effect in effects)]
            for share in dict.fromkeys(cell.hurt for cell in mine)
        ]
        header = ["hurt", *(f"effect {100 * effect:.3g} %" for effect in effects)]
        blocks.append(f"{size:,} items\n" + text_table(header, rows))
    if any(cell.n_helped == cell.n_hurt for cell in cells):
        blocks.append("-: an effect of less than one item")
    return "\n\n".join(blocks)


def _p(cell: PrimerCell | None) -> str:
    if cell is None:
        return ""
    if cell.n_helped == cell.n_hurt:
        return "-"
    return "< .0001" if cell.p_value < 0.0001 else f"{cell.p_value:.4f}"


def _primer_files(cells: tuple[PrimerCell, ...], document: str) -> dict[str, str | bytes]:
    from dataclasses import asdict

    import pandas as pd

    from humeval_power.reporting.compare.figures import primer_figure
    from humeval_power.reporting.figure_style import figure_bytes

    figure = primer_figure(cells)
    table = pd.DataFrame([asdict(cell) for cell in cells])
    return {
        "primer.csv": table_csv(table, digits=10),
        "primer.json": document,
        "primer.png": figure_bytes(figure, "png"),
        "primer.svg": figure_bytes(figure, "svg"),
    }
