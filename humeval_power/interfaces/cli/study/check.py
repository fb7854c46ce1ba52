"""`humeval-power check`: what is in a table of ratings, and what is wrong with it."""

from __future__ import annotations

from dataclasses import asdict, replace

import click

from humeval_power.checking.columns import Role, find_columns
from humeval_power.interfaces.cli.loading import load_ratings
from humeval_power.interfaces.cli.options import TableOptions, result_options, table_options
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.text import text_table
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.interfaces.formats.tables import read_table
from humeval_power.ratings import Ratings
from humeval_power.reporting.study.table_summary import Spread, TableSummary, summarise_table
from humeval_power.safe_text import one_line, shell_word

SCHEMA = "humeval_power/check/1"


@click.command("check", cls=Command)
@click.argument("file", metavar="FILE")
@table_options
@result_options
def command(file: str, table: TableOptions, as_json: bool, output: str | None, force: bool) -> None:
    """Show what is in a table of ratings, and all that is wrong with it.

    FILE is CSV, TSV, JSON Lines, Parquet or Excel, with one rating per row;
    - is standard input. Ends with 0 if the table is fine, with 2 if not.
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    several = [] if table.criterion is not None else criteria_in(file, table)
    chosen = [replace(table, criterion=name) for name in several] or [table]
    checked = [load_ratings(file, one, require_pair=False, tell=False) for one in chosen]
    if as_json:
        documents = [check_record(ratings, summarise_table(ratings)) for ratings in checked]
        document = documents[0] if len(documents) == 1 else {"schema": SCHEMA, "criteria": documents}
        text = to_json(document)
    else:
        text = "\n\n\n".join(check_text(ratings, summarise_table(ratings)) for ratings in checked)
    emit(text, output=output, force=force)
    if len(checked) > 1:
        note(
            f"{len(checked)} criteria, each by itself. To 'fit' one, name it: "
            f"--criterion {shell_word(several[0])}"
        )


def criteria_in(file: str, table: TableOptions) -> list[str]:
    """Names of the criteria, where a file that can be read again has more than one."""
    if file == "-":
        return []
    found = read_table(file)
    named: dict[Role, str | None] = {"criterion": table.criterion_column}
    for role in ("worker", "item", "system", "rating"):
        named[role] = getattr(table, role)
    columns = find_columns([str(name).strip() for name in found.frame.columns], named=named, source=file)
    if columns.criterion is None:
        return []
    cells = found.frame.set_axis([str(name).strip() for name in found.frame.columns], axis=1)
    names = sorted({str(cell).strip() for cell in cells[columns.criterion].dropna()} - {""})
    return names if len(names) > 1 else []


def check_record(ratings: Ratings, summary: TableSummary) -> dict[str, object]:
    """The check as plain values."""
    scale = ratings.scale
    return {
        "schema": SCHEMA,
        "data": {"source": ratings.source},
        "criterion_name": ratings.criterion,
        "scale": asdict(scale),
        "flow": [asdict(step) for step in ratings.flow],
        **summary.as_dict(),
        "notices": list(ratings.notices),
    }


def check_text(ratings: Ratings, summary: TableSummary) -> str:
    """The check for people, at most 80 characters wide."""
    parts = [
        one_line(
            f"Ratings in {ratings.source}"
            + (f", criterion {ratings.criterion}" if ratings.criterion else "")
        ),
        "Rows\n" + _flow(ratings),
        "Scale\n" + _scale(ratings, summary),
        "Design\n" + _design(summary),
        "Systems (means on the raw scale)\n" + _systems(summary),
    ]
    if ratings.notices:
        parts.append("Notes\n" + "\n".join(wrapped(notice, bullet="  - ") for notice in ratings.notices))
    return "\n\n".join(parts)


def _flow(ratings: Ratings) -> str:
    width = max(len(f"{step.rows:,}") for step in ratings.flow)
    return "\n".join(
        wrapped(
            f"{step.rows:>{width},} {step.step}" + (f": {step.reason}" if step.reason else ""),
            bullet="  ",
        )
        for step in ratings.flow
    )


def _scale(ratings: Ratings, summary: TableSummary) -> str:
    scale = ratings.scale
    origin = "as declared" if scale.source == "declared" else "taken from the ratings"
    facts = [
        (f"ratings at the low end ({scale.low:g})", _percent(summary.share_at_low)),
        (f"ratings at the high end ({scale.high:g})", _percent(summary.share_at_high)),
        ("different ratings", f"{summary.n_values:,}"),
    ]
    return f"  {scale}, {origin}\n{_facts(facts)}"


def _design(summary: TableSummary) -> str:
    facts = [
        ("workers", f"{summary.n_workers:,}"),
        ("items", f"{summary.n_items:,}"),
        ("systems", f"{summary.n_systems:,}"),
        ("ratings", f"{summary.n_ratings:,}"),
        ("ratings per worker", _spread(summary.ratings_per_worker)),
        ("ratings per item and system", _spread(summary.ratings_per_item_and_system)),
    ]
    if summary.n_systems > 1:
        seen = "both systems" if summary.n_systems == 2 else "two systems or more"
        facts += [
            (f"worker-item pairs that saw {seen}", _percent(summary.share_paired)),
            ("items rated under one system only", f"{summary.n_items_one_system:,}"),
            ("workers who rated one system only", f"{summary.n_workers_one_system:,}"),
        ]
    connected = "yes" if summary.n_parts == 1 else f"no, {summary.n_parts:,} separate parts"
    facts += [
        ("repeated ratings, beyond the first in a cell", f"{summary.n_repeats:,}"),
        ("workers and items connected by ratings", connected),
    ]
    return _facts(facts)


def _facts(facts: list[tuple[str, str]]) -> str:
    return "\n".join(f"  {label:<48}{value}" for label, value in facts)


def _systems(summary: TableSummary) -> str:
    return text_table(
        ["system", "ratings", "workers", "items", "mean"],
        [
            [s.system, f"{s.n_ratings:,}", f"{s.n_workers:,}", f"{s.n_items:,}", f"{s.mean:.4g}"]
            for s in summary.systems
        ],
    )


def _spread(spread: Spread) -> str:
    if spread.minimum == spread.maximum:
        return f"{spread.minimum:,} each"
    return f"{spread.minimum:,} to {spread.maximum:,}, median {spread.median:,g}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
