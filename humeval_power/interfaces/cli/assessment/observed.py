"""`humeval-power da observed-mde`: from which observed difference on comparisons were significant."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from humeval_power.errors import InputError
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import alpha_option, result_options
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.text import text_table
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.planning.assessment import FEWEST_ABOVE, SHARE, ObservedMDE, Threshold, observed_mde

SCHEMA = "humeval_power/observed_mde/1"
SELECTION = (
    "Difference and p-value come from the same ratings, so the comparisons above a threshold were chosen "
    "by their luck too: this describes what was significant. It is no power and no plan; for those see "
    "'da power' and 'da mde'."
)


@click.command("observed-mde", cls=Command)
@click.argument("file", metavar="COMPARISONS")
@click.option("--by", metavar="COLUMN", help="Look at each group of this column by itself too.")
@click.option(
    "--share",
    type=RealNumber(0, 1, min_open=True, max_open=True),
    default=SHARE,
    show_default=True,
    help="Share of comparisons above the threshold that must be significant.",
)
@click.option(
    "--fewest-above",
    type=WholeNumber(min=1),
    default=FEWEST_ABOVE,
    show_default=True,
    help="Comparisons that must lie at or above a threshold for it to count.",
)
@alpha_option
@result_options
def command(
    file: str,
    by: str | None,
    share: float,
    fewest_above: int,
    alpha: float,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """From which observed difference on were comparisons significant?

    COMPARISONS is a table with a row for each comparison of two systems, its
    observed difference ('difference' or 'diff') and its p-value ('p').
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    groups = _groups(file, by)
    found = {
        name: observed_mde(difference, p, alpha=alpha, share=share, fewest_above=fewest_above)
        for name, (difference, p) in groups.items()
    }
    record = {
        "schema": SCHEMA,
        "alpha": alpha,
        "share": share,
        "fewest_above": fewest_above,
        "groups": [{"group": name, **_row(each)} for name, each in found.items()],
        "caution": SELECTION,
        "command": typed_command(),
    }
    emit(to_json(record) if as_json else _text(found, alpha), output=output, force=force)


def _groups(file: str, by: str | None) -> dict[str, tuple[Any, Any]]:
    from humeval_power.interfaces.formats.columns import NumberColumn, read_numbers_of
    from humeval_power.interfaces.formats.tables import read_table

    table = read_table(file)
    for notice in table.notices:
        note(f"{table.source}: {notice}")
    values = read_numbers_of(
        table,
        [
            NumberColumn(("difference", "diff", "absdiff", "|diff|", "abs difference", "effect", "delta")),
            NumberColumn(("p", "p value", "p-value", "pval"), low=0.0, high=1.0),
        ],
    )
    difference, p = values["difference"], values["p"]
    groups = {"all": (difference, p)}
    if by is not None:
        if by not in table.frame.columns:
            raise InputError(f"{table.source}: there is no column {by!r}, which --by names.")
        names = table.frame[by].astype(str).to_numpy()
        order = sorted(set(names), key=lambda name: (-int((names == name).sum()), name))
        groups.update({name: (difference[names == name], p[names == name]) for name in order})
    return groups


def _row(found: ObservedMDE) -> dict[str, object]:
    return {
        "comparisons": found.n,
        "significant": found.n_significant,
        "median_difference": found.median_difference,
        "first": _threshold(found.first),
        "stable": _threshold(found.stable),
    }


def _threshold(threshold: Threshold | None) -> dict[str, object] | None:
    if threshold is None:
        return None
    return {**asdict(threshold), "rate": threshold.rate, "interval": list(threshold.interval)}


def _text(found: dict[str, ObservedMDE], alpha: float) -> str:
    whole = found["all"]
    lines = [
        wrapped(
            f"{whole.n:,} comparisons, {whole.n_significant:,} with p < {alpha:g}; the median observed "
            f"difference is {whole.median_difference:.4g}."
        ),
        _sentence("First", whole.first, whole, "smallest difference that reaches the share"),
        _sentence("Stable", whole.stable, whole, "from here on every larger difference reaches it"),
    ]
    if len(found) > 1:
        rows = [
            [
                name,
                f"{each.n:,}",
                f"{each.n_significant:,}",
                f"{each.median_difference:.4g}",
                _short(each.first),
                _short(each.stable),
            ]
            for name, each in list(found.items())[1:]
        ]
        header = ["group", "comparisons", "significant", "median", "first", "stable"]
        lines += ["", text_table(header, rows, indent="")]
        why = f"A dash: no difference with {whole.fewest_above} comparisons or more at or above it will do."
        lines.append(wrapped(why))
    return "\n".join([*lines, "", wrapped(SELECTION, bullet="Caution   ")])


def _sentence(label: str, threshold: Threshold | None, found: ObservedMDE, meaning: str) -> str:
    if threshold is None:
        text = (
            f"none: no difference with {found.fewest_above} comparisons or more at or above it has "
            f"{100 * found.share:g} % of them significant"
        )
    else:
        low, high = threshold.interval
        text = (
            f"{threshold.difference:.4g}  ({meaning}: {threshold.n_significant} of {threshold.n_above} at or "
            f"above it are significant, {100 * threshold.rate:.1f} %, interval {100 * low:.0f} to "
            f"{100 * high:.0f} %)"
        )
    return wrapped(text, bullet=f"{label:<10}")


def _short(threshold: Threshold | None) -> str:
    return "-" if threshold is None else f"{threshold.difference:.4g}"
