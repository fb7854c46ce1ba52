"""The part of `analyze` that goes through several criteria of one table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import click

from humeval_power.checking.cells import read_cells, read_ids
from humeval_power.checking.columns import close_to
from humeval_power.checking.roles import find_roles
from humeval_power.errors import InputError, Problem
from humeval_power.inference.study.many_systems import FamilyCorrection, correct
from humeval_power.interfaces.cli.loading import check_ratings
from humeval_power.interfaces.cli.options import TableOptions
from humeval_power.interfaces.cli.output import wrapped
from humeval_power.interfaces.cli.text import text_table
from humeval_power.interfaces.formats.tables import SourceTable, read_table
from humeval_power.ratings import Ratings
from humeval_power.reporting.numbers import p_cell
from humeval_power.rules import DecisionRule

criteria_option = click.option(
    "--criteria", metavar="NAMES", help="Analyse several criteria, one by one: 'all', or A,B,..."
)
correct_criteria_option = click.option(
    "--correct-criteria",
    type=click.Choice(get_args(FamilyCorrection)),
    default="none",
    show_default=True,
    help="Correct p over every comparison of every criterion (bh: false discovery rate).",
)


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """One comparison under one criterion, with its p-value corrected over the whole family; NaN, and no
    decision, where the comparison has no test."""

    criterion: str
    first: str
    second: str
    estimate: float
    p_value: float
    corrected_p_value: float
    significant: bool | None


def load_criteria(path: str, table: TableOptions, wanted: str, *, require_pair: bool) -> dict[str, Ratings]:
    """The ratings of each criterion asked for, by name, in the order asked or that of the table.

    Raises
    ------
    InputError
        A table without a criterion column, names it does not have, or problems of its rows.
    """
    found = read_table(path)
    known = _criteria_of(found, table)
    names = list(known) if wanted == "all" else [part.strip() for part in wanted.split(",") if part.strip()]
    unknown = [
        Problem(f"there is no criterion {name!r}.", close_to(name, known), place=found.source)
        for name in names
        if name not in known
    ]
    if unknown:
        raise InputError(unknown)
    return {
        name: check_ratings(
            found, replace(table, criterion=name), require_pair=require_pair, tell=position == 0
        )
        for position, name in enumerate(dict.fromkeys(names))
    }


def _criteria_of(found: SourceTable, table: TableOptions) -> Sequence[str]:
    frame = found.frame.set_axis([str(name).strip() for name in found.frame.columns], axis=1)
    named: dict[Any, str | None] = {
        "worker": table.worker,
        "item": table.item,
        "system": table.system,
        "rating": table.rating,
        "criterion": table.criterion_column,
    }
    column = find_roles(list(frame.columns), named=named, source=found.source).criterion
    if column is None:
        raise InputError(
            [
                Problem(
                    "there is no column of criteria.",
                    "Name it with --criterion-column COLUMN, or leave out --criteria.",
                    place=found.source,
                )
            ]
        )
    return read_ids(read_cells(frame[column])).names


def family_rows(
    records: Mapping[str, Mapping[str, Any]], correction: FamilyCorrection, *, rule: DecisionRule
) -> list[FamilyRow]:
    """Every comparison of every criterion, corrected as one family of raw p-values."""
    found: list[tuple[str, str, str, float, float]] = []
    for criterion, record in records.items():
        if "pairs" in record:
            for one in record["pairs"]:
                found.append((criterion, one["first"], one["second"], one["estimate"], one["p_value"]))
        else:
            a, b = record["systems"]
            effect = record["effect"]
            found.append((criterion, a, b, effect["estimate"], effect["p_value"]))
    corrected = correct([one[4] for one in found], correction)
    return [
        FamilyRow(*one, float(p), None if math.isnan(p) else bool(p <= rule.alpha))
        for one, p in zip(found, corrected, strict=True)
    ]


def family_text(rows: Sequence[FamilyRow], correction: FamilyCorrection) -> str:
    """The table over all criteria, and what was corrected for."""
    n_criteria = len({row.criterion for row in rows})
    words = {"bh": "Benjamini and Hochberg's false discovery rate"}.get(correction, correction)
    head = f"All criteria: {len(rows)} comparisons under {n_criteria} criteria; " + (
        "p not corrected over criteria (--correct-criteria)"
        if correction == "none"
        else f"raw p corrected by {words} over all of them; this correction replaces the one within a criterion"
    )
    table = text_table(
        ["criterion", "difference", "estimate", "p", "corrected"],
        [
            [
                row.criterion,
                f"{row.second} - {row.first}",
                f"{row.estimate:.4f}",
                p_cell(row.p_value),
                p_cell(row.corrected_p_value) + (" *" if row.significant else "  "),
            ]
            for row in rows
        ],
    )
    return wrapped(head) + "\n\n" + table
