"""`humeval-power collect`: a study while it is collected."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from humeval_power.fields import flag, own, text
from humeval_power.interfaces.asking.declared import Calls, Declared
from humeval_power.interfaces.asking.import_ import (
    ASSIGNED,
    EXPORTS,
    assignment_of,
    key_and_withdrawn,
    secret_beside,
)
from humeval_power.interfaces.asking.resolve import scale_of
from humeval_power.interfaces.asking.study_values import StudyValues
from humeval_power.interfaces.asking.subject import Subject
from humeval_power.interfaces.cli.field.withdraw import withdraw
from humeval_power.interfaces.cli.plan.options import load_plan, plan_path
from humeval_power.interfaces.python_code.expressions import call
from humeval_power.interfaces.python_code.typed import Typed
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.reporting.field.workers import Names


def _status(given: Typed, calls: Calls) -> None:
    from humeval_power.interfaces.formats.exports.mapping_file import read_mapping
    from humeval_power.interfaces.formats.exports.platforms import read_export

    mapping, scale = given["mapping"], given["scale"]
    assignment: Any = assignment_of(given)
    if assignment is None:
        raise click.UsageError("Say who was to see what: --assignment FILE.")
    planned = load_plan(given["plan"])
    if planned is not None and scale is not None:
        raise click.UsageError("The plan says this itself: leave out --scale.")
    chosen, named = (None, None) if mapping is None else read_mapping(mapping)
    exports: list[Any] = [
        read_export(path, platform=given["platform"] or named) for path in given["exports"]
    ]
    how: dict[str, Any] = {
        **key_and_withdrawn(given),
        "mapping": chosen,
        "scale": scale_of(StudyValues.of(given.context)) if planned is None else planned.scale,
        "rules": None if planned is None or planned.rules is None else planned.rules.rules,
    }
    found: Any = calls.let("result", call("hp.exports.follow_collection", exports, assignment, **how))
    calls.let("result", replace(found, names=_names(given)))


def _names(given: Typed) -> Names:
    """How workers are named: by their ids on a terminal alone."""
    from humeval_power.interfaces.formats.monitor.secret import kept_secret
    from humeval_power.reporting.field.workers import Names

    secret, output = given["secret"], given["output"]
    if given["keep_ids"]:
        return Names()
    if secret is None and output in (None, "-"):
        return Names(hidden=bool(given["as_json"]) or given["format"] != "terminal")
    return Names(kept_secret(secret or secret_beside(output, "collect")).key.hex())


STATUS = Declared(
    ("collect", "status"),
    """Who has done what, what is missing, and which spares to call.

    RATINGS are what the platform has given back so far, as 'import' takes it:
    a file or many, finished or not. Nothing here depends on which system an
    output is of, so that it may be looked at as often as you like. The terminal
    names workers as the platform does; what is written has pseudonyms.
    """,
    {
        "exports": replace(FIELDS["exports"], kind=text("RATINGS...", many=True), needed=True),
        **ASSIGNED,
        "plan": replace(FIELDS["plan"], help="The plan of the study: scale and rules."),
        **EXPORTS,
        "keep_ids": own(flag(), "Write the ids of the workers. [shown only, not written]", usual=False),
        "secret": own(
            text("FILE"),
            "Secret of the pseudonyms: that of 'import' gives the same ones. [beside -o]",
        ),
        "scale": replace(
            FIELDS["scale"], help="Scale of the ratings, such as 1:5. [from the plan, or the data]"
        ),
    },
    _status,
    arguments=("exports",),
    endings=(".csv",),
    of_study=True,
    read_as={"plan": plan_path},
    no_program="makes pseudonyms with a secret that the command keeps; hp.exports has its calls.",
)
SUBJECT = Subject(
    "collect",
    """A study while it is collected.

    What these commands show never depends on which system an output is of.
    """,
    (STATUS, withdraw),
)
command = SUBJECT.command()
