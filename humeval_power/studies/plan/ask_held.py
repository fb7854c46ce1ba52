"""`--plan FILE` and `--amend "reason"`: commands that are held to a plan, and the way to change it."""

from __future__ import annotations

import datetime
import math
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, overload

import click

from humeval_power.asking.command import study_in_use, was_typed
from humeval_power.asking.output import INDEX, note, replace_file
from humeval_power.asking.study_values import StudyValues
from humeval_power.asking.vocabulary import SECRET_HELP
from humeval_power.fields import own, text
from humeval_power.saying.result import LOOKS_FILE, PLAN_FILE
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.studies.plan.plan import Plan


def plan_path(_ctx: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Of a folder that `plan -o` or `looks -o` wrote the plan in it; a file as it is."""
    if value is None or not Path(value).is_dir():
        return value
    names = [name for name in (PLAN_FILE, LOOKS_FILE) if (Path(value) / name).is_file()]
    return str(Path(value) / (names or [PLAN_FILE])[0])


AMEND = own(
    text("REASON"),
    "Accept changes made by hand to the plan, and add them to its history with this reason.",
    further=True,
)
LEDGER_SECRET = own(
    text("FILE"),
    SECRET_HELP,
    note=": that of the ledger's digests. [beside the ledger]",
    further=True,
)


@overload
def load_plan(path: str, amend: str | None = None) -> Plan: ...


@overload
def load_plan(path: None, amend: str | None = None) -> None: ...


@overload
def load_plan(path: str | None, amend: str | None = None) -> Plan | None: ...


def load_plan(path: str | None, amend: str | None = None) -> Plan | None:
    """The plan of --plan, None without one; --amend rewrites its file as a whole or not at all. Raises
    InputError: a file that is no plan, or one that was changed by hand where there is no --amend."""
    if path is None:
        if amend is not None:
            raise click.UsageError("--amend needs --plan PATH: the plan that was changed.")
        return None
    from humeval_power.asking.output import compiled_kernels
    from humeval_power.studies.plan.files import amend_plan, read_plan

    with compiled_kernels():
        if amend is None:
            return read_plan(path)
        plan, text = amend_plan(path, amend, date=datetime.date.today())
    replace_file(path, text)
    note(_amended(path, plan))
    return plan


def amend_followed(path: str, amend: str | None) -> None:
    """Rewrite the file of a plan of either kind where there is --amend. Raises InputError: what `load_plan`
    raises."""
    if amend is None:
        return
    from humeval_power.files.file_bytes import read_text
    from humeval_power.studies.plan.files import schema_of
    from humeval_power.studies.plan.files_looks import amend_looks
    from humeval_power.studies.plan.sealed_content import LOOKS_SCHEMA

    if schema_of(read_text(path), place=path) != LOOKS_SCHEMA:
        load_plan(path, amend)
        return
    plan, text = amend_looks(path, amend, date=datetime.date.today())
    replace_file(path, text)
    known = plan.promised is not None
    note(
        f"Amended: {path}.{'' if known else ' Its power has not been simulated for the plan as it is now.'}"
    )


def table_by_plan(plan: Plan, study: StudyValues) -> StudyValues:
    """How to read ratings of a planned study: with the plan's systems and scale, unless others are typed."""
    scale = study.scale
    if scale is None and plan.scale is not None:
        scale = plan.scale.bounds
    lower = study.lower_is_better or (plan.scale is not None and not plan.scale.higher_is_better)
    systems = study.systems or (plan.pair if plan.many is None else None)
    return study.with_(systems=systems, scale=scale, lower_is_better=lower)


def plan_reference(path: str) -> dict[str, object]:
    """Which plan a record belongs to: its file's name and its seal."""
    from humeval_power.studies.plan.files import read_plan_file

    return {"file": Path(path).name, "checksum": read_plan_file(path).checksum}


def _amended(path: str, plan: Plan) -> str:
    said = f"Amended: {path}. Power by formula is now {plan.predicted.analytic:.3f}."
    if math.isnan(plan.predicted.simulated):
        said += " It has not been simulated for the plan as it is now."
    beside = (Path(path).with_suffix(".md"), Path(path).with_suffix(".html"), Path(path).with_name(INDEX))
    pages = [page.name for page in beside if page.is_file()]
    if pages:
        said += f" {' and '.join(pages)} beside it still show{'s' * (len(pages) == 1)} the plan before."
    return said


def refuse_beside_plan(study: StudyValues, beside: Collection[str]) -> None:
    """What a plan says cannot be typed beside it: it would be lost.

    beside : sections of the study that may be.
    """
    ctx = click.get_current_context()
    source = study_in_use(ctx)
    of_file = {} if source is None else source.places  # what the plan was made from
    given = [name for name in study.typed if name != "plan" and FIELDS[name].section not in beside]
    options = [option for name in given if (option := study.option(name)) not in of_file]
    if was_typed(ctx, "compat"):
        options.append("--compat")
    if options:
        raise click.UsageError(
            f"--plan has the parameters, the size, the effect and the test: leave out {', '.join(options)}."
        )
