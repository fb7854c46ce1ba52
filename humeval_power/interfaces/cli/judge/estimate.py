"""`humeval-power judge estimate`: a mean or a difference from human values and a judge's scores."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.cli.numbers import RealNumber
from humeval_power.interfaces.cli.options import rejected_rows_option, result_options, seed_option
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.text import text_table
from humeval_power.interfaces.formats.documents.reading import to_json

if TYPE_CHECKING:
    from humeval_power.checking.submissions import Rejected
    from humeval_power.inference.judge import JudgedMeans
    from humeval_power.interfaces.formats.tables import SourceTable

Floats = NDArray[np.float64]
SCHEMA = "humeval_power/judge_estimate/1"
ASSUMED = (
    "This holds whatever the judge is worth, if the items that humans rated are a random part of all and "
    "the judge was not tuned on their ratings. Items count as independent: where the same few workers "
    "rate them all, their own differences are not in this interval."
)

PLAIN_HURTS = (
    "Plain prediction-powered inference, which gives the judge weight 1, would be worse than no judge "
    "here: estimate the weight."
)


class Values(NamedTuple):
    """Human values and the judge's scores of the items that have both, the judge's of the others, and
    what is estimated, in words."""

    human: Floats
    judge: Floats
    extra: Floats
    what: str


@click.command("estimate", cls=Command)
@click.argument("file", metavar="TABLE")
@click.option("--systems", metavar="A,B", help="The two systems to compare; the effect is B - A.")
@rejected_rows_option
@click.option(
    "--confidence",
    type=RealNumber(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of the intervals.",
)
@seed_option
@result_options
def command(
    file: str,
    systems: str | None,
    rejected_rows: Rejected | None,
    confidence: float,
    seed: int | None,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """Estimate with a judge's help: from a table of human values and judge scores.

    TABLE has a row for each rating or each output: 'item', 'judge', 'human'
    (blank where no human rated it) and, for a comparison, 'system'. Several
    rows of an output are averaged.
    """
    from humeval_power.inference.judge import FEW, judged_means

    if output is not None:
        refuse_to_overwrite([output], force=force)
    values = _values(file, systems, rejected_rows)
    used = 1 if seed is None else seed
    found = judged_means(values.human, values.judge, values.extra, confidence=confidence, seed=used)
    if found.n < FEW:
        note(
            f"With {found.n} human values (fewer than {FEW}) the judge's weight is itself uncertain; the gain "
            "may be less than the standard errors say."
        )
    record = {"schema": SCHEMA, "estimated": values.what, **asdict(found), "efficiency": found.efficiency}
    record |= {"assumptions": ASSUMED, "command": typed_command()}
    emit(to_json(record) if as_json else _text(values, found), output=output, force=force)


def _text(values: Values, found: JudgedMeans) -> str:
    percent = f"{100 * found.confidence:g} % interval"
    rows = [
        [
            name,
            f"{each.estimate:.4g}",
            f"{each.standard_error:.4g}",
            f"{each.interval[0]:.4g} to {each.interval[1]:.4g}",
            f"{each.weight:.3f}",
            f"{each.p_value:.4f}",
        ]
        for name, each in (
            ("humans alone", found.human),
            ("judge, weight 1", found.plain),
            ("judge, weight estimated", found.tuned),
        )
    ]
    lines = [
        wrapped(
            f"{values.what}: {found.n:,} items with human values, {found.extra:,} more with the judge's "
            f"scores; correlation of judge and humans {found.correlation:.3f}."
        ),
        "",
        text_table(["", "estimate", "SE", percent, "weight", "p"], rows, indent=""),
        "",
        wrapped(
            f"The judge is worth {found.efficiency:.2f} times the human values (weight cross-fitted, "
            f"Student's interval on {found.n - 1} df)."
        ),
    ]
    if found.efficiency < 1:
        lines.append(wrapped("It made the estimate less precise here: use the humans alone."))
    if found.plain_hurts:
        lines.append(wrapped(PLAIN_HURTS))
    return "\n".join([*lines, wrapped(ASSUMED)])


def _values(file: str, systems: str | None, rejected_rows: Rejected | None) -> Values:
    from humeval_power.interfaces.cli.loading import read_decided
    from humeval_power.interfaces.formats.columns import NumberColumn, read_numbers_of

    table = read_decided(file, rejected_rows)
    numbers = read_numbers_of(
        table,
        [
            NumberColumn(("human", "rating", "human rating", "score"), may_be_blank=True),
            NumberColumn(("judge", "metric", "prediction", "judge score")),
        ],
    )
    item, system = _ids(table, "item"), _ids(table, "system")
    if item is None:
        raise InputError(f"{table.source}: there is no column 'item'.")
    human, judge = numbers["human"], numbers["judge"]
    if system is None or (systems is None and len(np.unique(system)) == 1):
        chosen = np.zeros(len(item), dtype=np.int64)
        return _means(item, chosen, human, judge, 1, "Mean human value")
    names = _pair(table.source, np.unique(system), systems)
    kept = np.isin(system, names)
    code = (system[kept] == names[1]).astype(np.int64)
    what = f"Mean difference {names[1]} - {names[0]}"
    return _means(item[kept], code, human[kept], judge[kept], 2, what)


def _pair(source: str, present: NDArray[np.str_], systems: str | None) -> list[str]:
    names = [str(name) for name in present] if systems is None else [s.strip() for s in systems.split(",")]
    absent = [name for name in names if name not in present]
    if len(names) != 2 or absent:
        rule = f"the systems are {', '.join(map(str, present))}; two of them are needed."
        raise InputError([Problem(rule, "Name them: --systems A,B", place=source)])
    return names


def _ids(table: SourceTable, name: str) -> NDArray[np.str_] | None:
    columns = {str(column).strip().casefold(): column for column in table.frame.columns}
    if name not in columns:
        return None
    ids = table.frame[columns[name]].astype(str).str.strip().to_numpy(dtype=str)
    blank = np.flatnonzero(ids == "")
    if len(blank):
        rows = table.frame.index.to_numpy()[blank[:5]]
        raise InputError(
            [Problem(f"the {name} is blank.", "Fill it in.", table.source, int(row), name) for row in rows]
        )
    return ids


def _means(
    item: NDArray[np.str_],
    code: NDArray[np.int64],
    human: Floats,
    judge: Floats,
    n_systems: int,
    what: str,
) -> Values:
    """Means of each item under each system; items that lack one of the judge's are no use."""
    items, place = np.unique(item, return_inverse=True)
    key, cells = place * n_systems + code, len(items) * n_systems
    rated = np.isfinite(human)

    def averaged(values: Floats, kept: NDArray[np.bool_]) -> Floats:
        count = np.bincount(key[kept], minlength=cells)
        total = np.bincount(key[kept], values[kept], cells)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        table = mean.reshape(len(items), n_systems)
        return np.asarray(table[:, 0] if n_systems == 1 else table[:, 1] - table[:, 0])

    of_human, of_judge = averaged(human, rated), averaged(judge, np.ones(len(judge), dtype=bool))
    usable = np.isfinite(of_judge)
    if not usable.all():
        note(f"{int((~usable).sum()):,} items lack the judge's score of one system and are left out.")
    both = usable & np.isfinite(of_human)
    return Values(of_human[both], of_judge[both], of_judge[usable & ~both], what)
