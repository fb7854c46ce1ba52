"""`humeval-power release`: an anonymised bundle of a study, to publish."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from humeval_power.api.release import release
from humeval_power.interfaces.asking.study_values import StudyValues, study_fields
from humeval_power.interfaces.cli.options import (
    COLUMNS_OF_MODEL,
    TABLE,
    TABLE_OPTIONS,
    force_option,
    output_option,
)
from humeval_power.interfaces.cli.plan.options import plan_path
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.reporting.release.result import ReleaseResult


@click.command("release", cls=Command, no_program="writes the files to publish; hp.release is its call.")
@click.argument("file", metavar="RATINGS")
@study_fields(*TABLE, but=COLUMNS_OF_MODEL, **TABLE_OPTIONS)
@click.option("--keep", metavar="COLUMN", multiple=True, help="Release this column too; repeatable.")
@click.option("--pseudonymise-items", is_flag=True, help="Give items pseudonyms too.")
@click.option("--pseudonymise-systems", is_flag=True, help="Give systems pseudonyms too.")
@click.option("--key", metavar="TEXT", help="Secret as text that the pseudonyms are made with. [--secret]")
@click.option(
    "--secret",
    "key_file",
    metavar="FILE",
    help="File with the secret; made at random where there is none. [OUTPUT.key]",
)
@click.option("--parameters", metavar="FILE", help="Parameters that 'fit -o' wrote, for others' plans.")
@click.option("--plan", "plan_file", metavar="PATH", callback=plan_path, help="The plan of the study.")
@click.option("--include", metavar="FILE", multiple=True, help="Another file to add; repeatable.")
@click.option("--licence", metavar="TEXT", help="Licence of the ratings, such as 'CC BY 4.0'.")
@click.option(
    "--checked",
    metavar="NAME",
    multiple=True,
    help="You looked at this column or file: short ids in it are there by chance ('names': the names of "
    "columns and files); repeatable.",
)
@click.option("--strict", is_flag=True, help="Write nothing and end with 3 if there is a warning.")
@output_option
@force_option
@with_result(writes=False)
def command(
    file: str,
    study: StudyValues,
    keep: tuple[str, ...],
    pseudonymise_items: bool,
    pseudonymise_systems: bool,
    key: str | None,
    key_file: str | None,
    parameters: str | None,
    plan_file: str | None,
    include: tuple[str, ...],
    licence: str | None,
    checked: tuple[str, ...],
    strict: bool,
    output: str | None,
    force: bool,
) -> ReleaseResult:
    """Write an anonymised bundle of a study, to publish.

    RATINGS is a table as 'check' reads it; all its criteria and systems are
    released, but of its columns only those needed. Workers get pseudonyms
    and the rows an order that only the key can undo. The directory --output
    gets ratings.csv, README.md, SHA256SUMS and what is added. Without
    --output, says what would be released. The key stays with you.
    """
    if key is not None and key_file is not None:
        raise click.UsageError("Give --key or --secret, not both.")
    if output == "-":
        raise click.UsageError("--output names a directory here; it cannot be standard output.")
    from humeval_power.interfaces.cli.release.files import (
        documents_of,
        key_path,
        rows_of,
        secret_of,
        write_bundle,
    )

    secret_file = None if output is None or key is not None else key_path(key_file, output)
    documents = documents_of(parameters, plan_file, include)
    rows = rows_of(file, study, keep)
    made = secret_file is not None and not secret_file.exists()
    secret = key if key is not None else secret_of(secret_file)
    chosen = [("item", pseudonymise_items), ("system", pseudonymise_systems)]
    found = release(
        rows,
        key=secret,
        pseudonymise=[kind for kind, wanted in chosen if wanted],
        documents=documents,
        licence=(licence or "").strip() or None,
        checked=checked,
        strict=strict,
    )
    if output is None or found.target_missed:
        return found
    new = secret_file if made else None
    write_bundle(Path(output), found.bundle, force=force, secret=secret, secret_file=new)
    return replace(found, folder=output, key_file=str(secret_file or ""), key_is_new=made)
