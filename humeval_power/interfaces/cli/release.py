"""`humeval-power release`: an anonymised bundle of a study, to publish."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import Any

import click

from humeval_power.checking.columns import Role
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.options import (
    TableOptions,
    force_option,
    output_option,
    quiet_option,
    table_options,
)
from humeval_power.interfaces.cli.output import note, refuse_to_overwrite, say, wrapped, write_set
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import EXIT_TARGET_MISSED
from humeval_power.interfaces.cli.text import text_table
from humeval_power.interfaces.formats.documents.reading import read_parameters
from humeval_power.interfaces.formats.file_bytes import read_bytes, read_text
from humeval_power.interfaces.formats.monitor.secret import SECRET_SCHEMA
from humeval_power.interfaces.formats.plan.plan_file import read_plan
from humeval_power.interfaces.formats.tables import read_table
from humeval_power.ratings import MISSING_CODES
from humeval_power.reporting.release.bundle import Bundle, release_bundle
from humeval_power.reporting.release.rows import ReleaseRows, release_rows
from humeval_power.scales import RatingScale


@click.command("release", cls=Command)
@click.argument("file", metavar="RATINGS")
@table_options
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
@click.option("--plan", "plan_file", metavar="FILE", help="The plan of the study.")
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
@quiet_option
def command(
    file: str,
    table: TableOptions,
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
) -> None:
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
    secret_file = None if output is None or key is not None else _key_path(key_file, output)
    documents = _documents(parameters, plan_file, include)
    rows = _read(file, table, keep)
    made = secret_file is not None and not secret_file.exists()
    secret = key if key is not None else _secret(secret_file)
    chosen = [("item", pseudonymise_items), ("system", pseudonymise_systems)]
    bundle = release_bundle(
        rows,
        key=secret,
        pseudonymise=[kind for kind, wanted in chosen if wanted],
        documents=documents,
        licence=(licence or "").strip() or None,
        checked=checked,
    )
    for warning in bundle.warnings:
        note(f"WARNING: {warning}")
    if strict and bundle.warnings:
        note("Nothing was written.")
        sys.exit(EXIT_TARGET_MISSED)
    if output is not None:
        _write(Path(output), bundle, force=force, secret=secret, secret_file=secret_file if made else None)
    say(_summary(rows, bundle, output, secret_file, made=made))


def _read(file: str, table: TableOptions, keep: tuple[str, ...]) -> ReleaseRows:
    found = read_table(file)
    named: dict[Role, str | None] = {
        "worker": table.worker,
        "item": table.item,
        "system": table.system,
        "rating": table.rating,
        "criterion": table.criterion_column,
    }
    return release_rows(
        found.frame,
        named=named,
        keep=keep,
        criterion=table.criterion,
        systems=table.systems,
        scale=RatingScale.parse(table.scale) if table.scale is not None else None,
        lower_is_better=table.lower_is_better,
        missing=(*MISSING_CODES, *table.missing),
        rejected_rows=table.rejected_rows,
        source=found.source,
    )


def _documents(parameters: str | None, plan: str | None, include: tuple[str, ...]) -> dict[str, bytes]:
    """The bytes of the files to add, by the name that they get; parameters and plan are checked first."""
    paths: list[tuple[str, str]] = []
    if parameters is not None:
        read_parameters(parameters, allow_not_identified=True)
        paths.append(("parameters.json", parameters))
    if plan is not None:
        read_plan(plan)
        paths.append(("plan.json", plan))
    paths += [(Path(path).name, path) for path in include]
    documents: dict[str, bytes] = {}
    for name, path in paths:
        if name.casefold() in {other.casefold() for other in documents}:
            raise InputError(f"Two files of the bundle would be called {name!r}; rename one.")
        if Path(path).is_dir():
            raise InputError(f"{path} is a directory; include its files one by one.")
        documents[name] = read_bytes(path)
    return documents


def _key_path(key_file: str | None, output: str) -> Path:
    path = Path(key_file) if key_file is not None else Path(f"{output.rstrip('/')}.key")
    if path.resolve().is_relative_to(Path(output).resolve()):
        raise InputError(f"The key {path} would lie in the bundle; choose another --secret.")
    return path


def _secret(path: Path | None) -> str:
    """The secret of a key file, or a new one where there is no file. A file that this program made says what it
    is, so that no bundle takes it in."""
    if path is None or not path.exists():
        return secrets.token_hex(32)
    return read_text(path).removeprefix(SECRET_SCHEMA).strip()


def _write(directory: Path, bundle: Bundle, *, force: bool, secret: str, secret_file: Path | None) -> None:
    """Write the bundle with its new key: both or none, and nothing unfinished in the directory."""
    if directory.is_dir() and any(directory.iterdir()) and not force:
        raise InputError(f"{directory} is not empty. Choose another --output, or add --force.")
    refuse_to_overwrite([directory / name for name in bundle.files], force=force)
    others = sorted(path.name for path in directory.glob("*") if path.name not in bundle.files)
    if others:
        note(f"WARNING: {directory} also holds {', '.join(others)}, which is no part of the bundle.")
    files: dict[Path, str | bytes] = {directory / name: bundle.files[name] for name in bundle.files}
    private = [] if secret_file is None else [secret_file]
    files |= dict.fromkeys(private, f"{SECRET_SCHEMA} {secret}\n")
    write_set(files, force=force, private=private, published=directory)


def _summary(
    rows: ReleaseRows, bundle: Bundle, output: str | None, secret_file: Path | None, *, made: bool
) -> str:
    head = f"{rows.source}: {rows.n_ratings:,} ratings of {len(rows.names('worker')):,} workers"
    if output is None:
        head += " would be released; name a directory with -o"
    else:
        head += f" released to {output}"
    lines: list[Any] = [wrapped(head + ".")]
    table = [["column", "different values", "apostrophes"]]
    table += [
        [name, f"{len(rows.names(name)):,}", f"{bundle.n_formulas.get(name, 0):,}"] for name in rows.columns
    ]
    lines.append(text_table(table[0], table[1:]))
    if bundle.n_formulas:
        lines.append(wrapped("Apostrophes: before cells that a spreadsheet would run as formulas."))
    if rows.left_out:
        lines.append(wrapped(f"Left out: {', '.join(rows.left_out)}."))
    lines.append(wrapped(f"Files: {', '.join(sorted(bundle.files))}."))
    if secret_file is not None:
        verb = "The key was written to" if made else "The key was taken from"
        lines.append(wrapped(f"{verb} {secret_file}: keep it, and do not publish it."))
    return "\n\n".join(lines)
