"""`humeval-power release`: an anonymised bundle of a study, to publish."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from humeval_power.asking.calls import TypedValues
from humeval_power.asking.declared import Calls, Declaration
from humeval_power.asking.expressions import call
from humeval_power.asking.vocabulary import (
    LICENCE,
    OUTPUT_HELP,
    PARAMETERS_FILE,
    PLAN_FILE,
    PSEUDONYM_SECRET,
    RATINGS,
    STRICT_HELP,
)
from humeval_power.fields import flag, own, text
from humeval_power.studies.plan.ask_held import plan_path


def _release(given: TypedValues, calls: Calls) -> None:
    from humeval_power.studies.release.files import documents_of, key_path, rows_of, secret_of, write_bundle

    key, key_file, output = given["key"], given["key_file"], given["output"]
    if key is not None and key_file is not None:
        raise click.UsageError("Give --secret-text or --secret, not both.")
    if output == "-":
        raise click.UsageError("--output names a directory here; it cannot be standard output.")
    secret_file = None if output is None or key is not None else key_path(key_file, output)
    documents: Any = documents_of(given["parameters"], given["plan_file"], given["include"])
    rows: Any = rows_of(given)
    made = secret_file is not None and not secret_file.exists()
    secret = key if key is not None else secret_of(secret_file)
    options = call(
        "hp.release",
        rows,
        key=secret,
        pseudonymise=[kind for kind in ("item", "system") if given[f"pseudonymise_{kind}s"]],
        documents=documents,
        licence=(given["licence"] or "").strip() or None,
        checked=given["checked"],
        strict=given["strict"],
    )
    expression: Any = calls.let("result", options)
    if output is not None and not expression.target_missed:
        new = secret_file if made else None
        write_bundle(Path(output), expression.bundle, force=given["force"], secret=secret, secret_file=new)
        calls.let(
            "result", replace(expression, folder=output, key_file=str(secret_file or ""), key_is_new=made)
        )


DECLARED = Declaration(
    ("release",),
    """Write an anonymised bundle of a study, to publish.

    RATINGS is a table as 'check' reads it; all its criteria and systems are
    released, but of its columns only those needed. Workers get pseudonyms
    and the rows an order that only the key can undo. The directory --output
    gets ratings.csv, README.md, SHA256SUMS and what is added. Without
    --output, says what would be released. The key stays with you.
    """,
    {
        "ratings": own(text("RATINGS"), "", needed=True),
        **RATINGS,
        "keep": own(text("COLUMN", many=True), "Release this column too; repeatable."),
        "pseudonymise_items": own(flag(), "Give items pseudonyms too.", usual=False),
        "pseudonymise_systems": own(flag(), "Give systems pseudonyms too.", usual=False),
        "key": own(
            text("TEXT"),
            "Secret as text that the pseudonyms are made with. [that of the file]",
            option="secret-text",
        ),
        "key_file": replace(PSEUDONYM_SECRET, option="secret"),
        "parameters": PARAMETERS_FILE,
        "plan_file": replace(PLAN_FILE, option="plan"),
        "include": own(text("FILE", many=True), "Another file to add; repeatable."),
        "licence": LICENCE,
        "checked": own(
            text("NAME", many=True),
            "You looked at this column or file: short ids in it are there by chance ('names': the names of "
            "columns and files); repeatable.",
        ),
        "strict": own(
            flag(), STRICT_HELP, note=": there is a warning. Nothing is then written.", usual=False
        ),
        "output": own(text("PATH"), OUTPUT_HELP, also="-o"),
        "force": own(flag(), "Overwrite what is there.", usual=False),
    },
    _release,
    arguments=("ratings",),
    read_as={"plan_file": plan_path},
    writes=False,
    no_program="writes the files to publish; hp.release is its call.",
)
command = DECLARED.command()
