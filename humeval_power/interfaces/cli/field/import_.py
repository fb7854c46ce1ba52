"""`humeval-power import`: exports of annotation platforms as one table of ratings, and logs of harnesses as one of
scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import click

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.asking.command import HERE, StudyCommand, Use
from humeval_power.interfaces.cli.field.options import FieldFiles, LogReading, field_options, log_options
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.interfaces.formats.logs.reading import LogsFound
    from humeval_power.reporting.field.imported import DraftResult, ImportResult
    from humeval_power.reporting.field.scores_imported import ScoresImportResult


def _assigned(said: dict[str, Any], _typed: Mapping[str, Any]) -> dict[str, Any]:
    """The assignment and its key, where both are there."""
    tables = said.get("assignment") or ()
    files = [*([tables] if isinstance(tables, str) else tables), said.get("key")]
    there = len(files) > 1 and all(path is not None and Path(path).exists() for path in files)
    return {name: said[name] for name in ("assignment", "key")} if there else {}


_USE = Use(adapts=_assigned, writes="ratings", updates=lambda _result: {"ratings": HERE})


@click.command(
    "import",
    cls=StudyCommand,
    use=_USE,
    no_program="makes pseudonyms with a secret that the command keeps; hp.exports has its calls.",
)
@click.argument("files", metavar="EXPORT...", nargs=-1)
@log_options
@click.option("--draft", is_flag=True, help="Draft the mapping of an export; -o mapping.toml writes it.")
@click.option("--keep-ids", is_flag=True, help="Keep the ids of the workers. [pseudonyms]")
@click.option(
    "--secret", metavar="FILE", help="Secret of the pseudonyms, made where there is none. [beside -o]"
)
@field_options
@click.option(
    "--drop-misfits",
    is_flag=True,
    help="Leave out, and count, answers that the assignment does not have. [refused]",
)
@with_result(endings=(".csv", ".toml"))
def command(
    files: tuple[str, ...],
    mapping: str | None,
    draft: bool,
    platform: str | None,
    keep_ids: bool,
    secret: str | None,
    drop_misfits: bool,
    reading: LogReading,
    field: FieldFiles,
) -> ImportResult | DraftResult | ScoresImportResult:
    """Bring exports of a platform into one table, a rating a row; or logs of
    models' scores, an answer a row.

    -o ratings.csv writes it. What kind of export it is, is told from its
    content. Where columns and words do not say enough, --draft -o mapping.toml
    writes what is known and what is missing; edit it, and give it by --map.
    Nothing leaves without being counted: the flow of rows is the result.

    What workers rated under codes is decoded with --assignment and --key: item
    and system of each answer, and which answers are repeats and attention
    checks. These stay in the table, and no analysis takes them as ratings.

    Logs of evaluation harnesses, or folders with those of several models, give
    system, item, run, metrics and what may be clusters of items: -o scores.csv.
    Other logs need a mapping.
    """
    from humeval_power.api.field import draft_mapping, import_exports, import_scores
    from humeval_power.checking.logs.combined import combine_logs
    from humeval_power.interfaces.formats.exports.mapping_file import read_mapping
    from humeval_power.interfaces.formats.exports.platforms import read_export

    files = files or tuple(reading.systems)
    if not files:
        raise click.UsageError("Missing argument 'EXPORT...'.")
    logs = _logs(files, platform, mapping, reading)
    if logs is not None:
        if draft:
            raise click.UsageError(
                "A log needs no draft: its own names say what is what, or your mapping does."
            )
        return import_scores(
            combine_logs(
                logs.logs,
                tasks=reading.task,
                scores=reading.score,
                again=reading.again,
                notices=logs.notices,
            )
        )
    if reading != LogReading():
        raise click.UsageError(
            "--task, --score, --again, --system and --leave-out are about logs of models' scores."
        )
    chosen, named = (None, None) if mapping is None else read_mapping(mapping)
    output = click.get_current_context().params["output"]
    if len(files) == 1 and not (draft or mapping or platform or field.assignment):
        from humeval_power.interfaces.formats.preference import pairs_imported
        from humeval_power.reporting.field.imported import ImportResult

        if (pairs := pairs_imported(files[0])) is not None:
            of_pairs = ImportResult(table=pairs)
            is_named = "worker" in pairs.frame and not keep_ids
            return replace(of_pairs, secret=_secret(output, secret)) if is_named else of_pairs
    exports = [read_export(path, platform=platform or named) for path in files]
    if draft:
        if len(exports) > 1:
            raise click.UsageError("A draft is made of one export: name one.")
        return draft_mapping(exports[0])
    if output is not None and Path(output).suffix.lower() == ".toml":
        raise click.UsageError("-o with .toml writes a mapping: add --draft.")
    if drop_misfits and field.assignment is None:
        raise click.UsageError("--drop-misfits is about an assignment: add --assignment FILE.")
    found = import_exports(
        exports,
        mapping=chosen,
        assignment=field.assignment,
        key=field.key,
        drop_misfits=drop_misfits,
        withdrawn=field.withdrawn,
    )
    # after all that may be refused, so that no secret is left behind of a run that wrote nothing
    return found if keep_ids else replace(found, secret=_secret(output, secret))


def _logs(
    files: tuple[str, ...], platform: str | None, mapping: str | None, reading: LogReading
) -> LogsFound | None:
    """The logs of models' scores that the files are; None where they are exports of ratings."""
    from humeval_power.interfaces.formats.logs.harnesses import HARNESSES
    from humeval_power.interfaces.formats.logs.mapped import mapped_logs
    from humeval_power.interfaces.formats.logs.mapping_file import is_log_mapping, read_log_mapping
    from humeval_power.interfaces.formats.logs.reading import LogsFound, are_logs, logs_in

    if mapping is not None and is_log_mapping(mapping):
        return LogsFound(mapped_logs(files, read_log_mapping(mapping), systems=reading.systems), ())
    harness = next((one for one in HARNESSES if one.name == platform), None)
    if harness is None:
        is_log = platform is None and are_logs(files)
        return logs_in(*files, systems=reading.systems, leave_out=reading.leave_out) if is_log else None
    others = [path for path in files if not Path(path).is_dir() and logs_in(path, harness=platform) is None]
    if others:
        remedy = "Is this the right file? Without --from it is told from the content."
        raise InputError([Problem(f"is no log of {harness.title}.", remedy, path) for path in others])
    return logs_in(*files, harness=platform, systems=reading.systems, leave_out=reading.leave_out)


def _secret(output: str | None, secret: str | None) -> str:
    """What pseudonyms are made with; the same as long as the file of the secret is there. What is only printed has
    one of its own, or that which is there: none is written without a table.

    Raises
    ------
    click.UsageError
        A secret that is not there, and no table to make it with.
    """
    is_printed = output in (None, "-")
    if secret is None and is_printed:
        return token_hex(32)
    from humeval_power.interfaces.formats.monitor.secret import kept_secret, read_secret

    if secret is not None and is_printed and click.get_current_context().params["format"] != "csv":
        known = read_secret(secret)
        if known is None:
            raise click.UsageError(
                f"--secret {secret}: there is no such file, and a secret is made with a table alone: add -o "
                "FILE.csv."
            )
        return known.key.hex()
    written = Path(output or "")
    beside = written.with_suffix(".secret") if written.suffix else written / "import.secret"
    return kept_secret(secret or beside).key.hex()
