"""`humeval-power assign`: who rates what when, as a table that can be carried out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from humeval_power.designs import DesignKind
from humeval_power.interfaces.cli.options import result_options, seed_option
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite
from humeval_power.interfaces.cli.plan.assign_options import Takeover, assignment_options, size_options
from humeval_power.interfaces.cli.plan.options import load_plan
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.work_ahead import refuse_work
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.interfaces.formats.file_bytes import read_text
from humeval_power.planning.plan.assignment import assign
from humeval_power.planning.plan.assignment_table import AssignmentPlan, replacement_table
from humeval_power.planning.plan.session_order import KINDS, PresentationOrder
from humeval_power.planning.power import DEFAULT_SEED
from humeval_power.planning.study.designs_of import build_design
from humeval_power.planning.workload import study_workload
from humeval_power.reporting.records import versions
from humeval_power.safe_text import table_csv

if TYPE_CHECKING:
    import pandas as pd

ASSIGNMENT_SCHEMA = "humeval_power/assignment/1"


@click.command("assign", cls=Command)
@size_options
@assignment_options
@seed_option
@result_options
def command(
    plan: str | None,
    amend: str | None,
    workers: int | None,
    items: int | None,
    ratings_per_item: int | None,
    paired: bool | None,
    kind: DesignKind | None,
    max_ratings_per_worker: int | None,
    systems: tuple[str, str] | None,
    item_names: str | None,
    batch_size: int | None,
    order: PresentationOrder,
    checks: float,
    repeats: float,
    replacements: int,
    takeovers: tuple[Takeover, ...],
    key: str | None,
    seed: int | None,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """Say who rates what when, as a table (CSV, or JSON).

    Slots w01, w02, ... are filled by workers as they come. With --key the table
    names outputs by their codes alone. When a worker drops out, run the same
    command again with --replace.
    """
    _check_paths(output, key, force=force)
    typed = {
        "--workers": workers,
        "--items": items,
        "--ratings-per-item": ratings_per_item,
        "--paired/--unpaired": paired,
        "--design": kind,
        "--systems": systems,
    }
    _check_typed(typed, planned=plan is not None)
    planned = load_plan(plan, amend)
    if planned is not None:
        design, systems = planned.design(), planned.systems
        seed = planned.seed if seed is None else seed
        looks = planned.look_of_ratings()
        max_ratings_per_worker = max_ratings_per_worker or planned.max_ratings_per_worker
    else:
        looks = None
        design = build_design(
            workers or 0,
            items or 0,
            ratings_per_item,
            paired=paired is not False,
            kind=kind,
            max_ratings_per_worker=max_ratings_per_worker,
        )
    refuse_work(study_workload(design, n_simulations=1), n_simulations=1)
    assignment = assign(
        design,
        seed=DEFAULT_SEED if seed is None else seed,
        batch_size=batch_size,
        order=order,
        check_rate=checks,
        repeat_rate=repeats,
        replacement_slots=replacements,
        max_ratings_per_worker=max_ratings_per_worker,
        system_names=systems or ("A", "B"),
        item_names=None if item_names is None else _read_names(item_names),
        looks=looks,
    )
    table = _wanted_rows(assignment, takeovers)
    _summarise(assignment, key=key)
    codes: dict[str, str | bytes] = {}
    if key is not None:
        table = table.drop(columns="system")
        codes[key] = table_csv(assignment.key())
    as_json = as_json or (output or "").lower().endswith(".json")
    text = to_json(_document(assignment, table, blind=key is not None)) if as_json else table_csv(table)
    emit(text, output=output, force=force, exact=not as_json, beside=codes)


def _check_paths(output: str | None, key: str | None, *, force: bool) -> None:
    """Refuse before any work what could not be written after it."""
    written = [path for path in (output, key) if path is not None]
    if key == "-":
        raise click.UsageError("--key needs a file of its own: the table goes to standard output.")
    if len(written) == 2 and Path(written[0]).resolve() == Path(written[1]).resolve():
        raise click.UsageError("--output and --key must be two files.")
    refuse_to_overwrite(written, force=force)


def _check_typed(typed: Mapping[str, object], *, planned: bool) -> None:
    """A study is planned or typed, not half of each."""
    given = [option for option, value in typed.items() if value is not None]
    if planned and given:
        raise click.UsageError(f"The plan says this itself: leave out {', '.join(given)}.")
    if not planned and not {"--workers", "--items"} <= set(given):
        raise click.UsageError("Give --plan FILE, or --workers and --items.")


def _read_names(path: str) -> list[str]:
    """The lines of a file without the blanks around them; blank lines at the end do not count."""
    text = read_text(path)
    return [line.strip() for line in text.rstrip().split("\n")] if text.strip() else []


def _wanted_rows(plan: AssignmentPlan, takeovers: tuple[Takeover, ...]) -> pd.DataFrame:
    """The whole table, or the work of the spares alone."""
    import pandas as pd

    if not takeovers:
        return plan.to_frame()
    return pd.concat(
        [replacement_table(plan, spare, slot, first_batch=batch) for spare, slot, batch in takeovers],
        ignore_index=True,
    )


def _document(plan: AssignmentPlan, table: pd.DataFrame, *, blind: bool) -> dict[str, object]:
    """The table as a document; a blind one is without the seed, which makes the codes."""
    origin = {} if blind else {"seed": plan.seed, "command": typed_command()}
    rows = [
        {name: None if value == "" else value for name, value in row.items()}
        for row in table.to_dict("records")
    ]
    return {
        "schema": ASSIGNMENT_SCHEMA,
        "design": str(plan.design),
        "systems": list(plan.systems),
        **origin,
        "worker_slots": list(plan.slots),
        "replacement_slots": list(plan.replacements),
        "versions": versions(),
        "rows": rows,
    }


def _summarise(plan: AssignmentPlan, *, key: str | None) -> None:
    secret = "" if key is None else " (keep it with the key: it makes the codes)"
    note(f"{plan.design}; seed {plan.seed}{secret}")
    for remark in plan.design.notes:
        note(remark)
    for line in _load_lines(plan):
        note(line)
    if plan.look is not None:
        needed = np.bincount(plan.look)[1:]
        parts = "; ".join(f"look {look}: {count:,} rows" for look, count in enumerate(needed, start=1))
        note(f"In the order of the plan's looks: {parts}. Collect all of one look before the next.")
    if plan.replacements:
        note(
            f"In reserve: {', '.join(plan.replacements)}. When a slot such as {plan.slots[0]} drops out, "
            f"repeat this command with --replace {plan.replacements[0]}={plan.slots[0]}."
        )


def _load_lines(plan: AssignmentPlan) -> Iterator[str]:
    """The whole in a sentence, then how many worker slots get how much."""
    counts = [plan.loads(kind) for kind in range(len(KINDS))]
    total = ", ".join(_counted(int(count.sum()), kind) for count, kind in zip(counts, KINDS, strict=True))
    yield f"{len(plan.worker):,} rows: {total}."
    loads = np.column_stack([*counts, plan.n_batches])
    different, slots = np.unique(loads, axis=0, return_counts=True)
    for row, count in zip(different, slots, strict=True):
        shown = ", ".join(_counted(int(n), kind) for n, kind in zip(row[:-1], KINDS, strict=True))
        yield f"{_counted(int(count), 'worker slot')}: {shown}; {_counted(int(row[-1]), 'batch')}."


def _counted(count: int, noun: str) -> str:
    plural = "" if count == 1 else "es" if noun.endswith("ch") else "s"
    return f"{count:,} {noun}{plural}"
