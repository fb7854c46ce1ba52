"""`humeval-power import`: exports of annotation platforms as one table of ratings, and logs of harnesses as one of
scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, get_args

import click

from humeval_power.asking.calls import TypedValues
from humeval_power.asking.command import HERE, Use
from humeval_power.asking.declared import Calls, Declaration, Fields, Page, Part
from humeval_power.asking.expressions import Call, call
from humeval_power.asking.form import Next
from humeval_power.asking.vocabulary import PSEUDONYM_SECRET, SCORE, WITHDRAWN
from humeval_power.checking.logs.log import Again
from humeval_power.choices import TITLES, HarnessName, PlatformName
from humeval_power.errors import InputError, Problem
from humeval_power.fields import Field, flag, own, text, word
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.checking.exports.assigned import AssignmentTable
    from humeval_power.files.logs.reading import LogsRead


def _source(*harnesses: str) -> Field:
    platforms: tuple[str, ...] = get_args(PlatformName)
    logs = f"; or whose log: {', '.join(harnesses)}" if harnesses else ""
    return own(
        replace(word((*platforms, *harnesses)), metavar="NAME"),
        "Whose export it is.",
        "Kind of export",
        note=f": {', '.join(platforms)}{logs}. [told from its content]",
        page_help="[told from what is in it]",
        words=TITLES,
        option="from",
    )


_MAPPING = own(
    text("FILE"),
    "A mapping, as a draft of it was edited. [none]",
    "Mapping",
    page_help="A mapping file, where columns do not say enough by themselves.",
    option="map",
)
EXPORTS: Fields = {"mapping": _MAPPING, "platform": _source()}
PSEUDONYMS: Fields = {
    "keep_ids": own(flag(), "Keep the ids of the workers in what is written. [pseudonyms]", usual=False),
    "secret": PSEUDONYM_SECRET,
}
ASSIGNED: Fields = {
    "assignment": replace(FIELDS["assignment"], page_help="Of codes: who was given what."),
    "key": replace(
        FIELDS["key"],
        page_help="Of codes: which code stands for which item and system.",
    ),
    "withdrawn": WITHDRAWN,
}
_LOGS: Fields = {
    "task": own(
        text("NAME", many=True),
        "The task of logs; repeatable. [all]",
        "Tasks",
        page_help="The tasks of logs to read. [all]",
    ),
    "score": replace(
        SCORE,
        **{name: getattr(SCORE, name).replace("[the only one]", "[all]") for name in ("note", "page_help")},
    ),
    "again": own(
        word(Again),
        "A task that a system was given again: read the last, or each as a run.",
        "A task that a system was given again",
        words={"refuse": "is refused", "last": "the last counts", "run": "each is a run"},
        usual="refuse",
    ),
    "system_name": own(
        text("NAME=FILE", many=True),
        "What the system of a log, or of a folder of logs, is called; repeatable. [as the log says]",
        "Names of systems",
        page_help="NAME=FILE, where a log does not say it.",
    ),
    "leave_out": own(
        text("FILE", many=True),
        "A damaged file in a folder of logs to leave out; repeatable. [refused]",
    ),
}


def assignment_of(given: TypedValues) -> AssignmentTable | None:
    """Who sees what when; None where no file says it."""
    from humeval_power.studies.field.files import read_assignment

    return read_assignment(*given["assignment"]) if given["assignment"] else None


def key_and_withdrawn(given: TypedValues) -> dict[str, Any]:
    """What the codes of the assignment stand for, and who withdrew, as arguments."""
    from humeval_power.studies.field.files import read_key, read_withdrawn

    key = given["key"]
    return {"key": None if key is None else read_key(key), "withdrawn": read_withdrawn(*given["withdrawn"])}


def _systems(given: TypedValues) -> dict[str, str]:
    """The names of systems, by their paths."""
    pairs = [text.partition("=") for text in given["system_name"]]
    wrong = [
        text
        for text, (name, _, path) in zip(given["system_name"], pairs, strict=True)
        if not (name and path)
    ]
    if wrong:
        raise click.UsageError(f"--system-name {wrong[0]}: write NAME=FILE, such as base=base.csv.")
    return {path: name for name, _, path in pairs}


def _import(given: TypedValues, calls: Calls) -> None:
    systems = _systems(given)
    files = tuple(given["exports"]) or tuple(systems)
    if not files:
        raise click.UsageError("Give EXPORT..., or say exports in [files] of a study file.")
    logs = _logs(given, files, systems)
    if logs is not None:
        calls.let("result", _scores(logs, given))
        return
    if any(given.given(name) is not None for name in _LOGS):
        raise click.UsageError(
            "--task, --score, --again, --system-name and --leave-out are about logs of models' scores."
        )
    from humeval_power.files.exports.mapping_file import read_mapping
    from humeval_power.files.exports.platforms import read_export

    mapping, output = given["mapping"], given["output"]
    chosen, named = (None, None) if mapping is None else read_mapping(mapping)
    assignment = None if given["draft"] else assignment_of(given)
    is_plain = not (given["draft"] or mapping or given["platform"] or assignment)
    if len(files) == 1 and is_plain:
        from humeval_power.comparisons.preference.files import pairs_imported
        from humeval_power.studies.field.result_import import ImportResult

        if (pairs := pairs_imported(files[0])) is not None:
            of_pairs: Any = ImportResult(table=pairs)
            has_names = "worker" in pairs.frame and not given["keep_ids"]
            calls.let("result", replace(of_pairs, secret=_secret(given)) if has_names else of_pairs)
            return
    exports: list[Any] = [read_export(path, platform=given["platform"] or named) for path in files]
    if given["draft"]:
        if len(exports) > 1:
            raise click.UsageError("A draft is made of one export: name one.")
        calls.let("result", call("hp.exports.draft_mapping", exports[0]))
        return
    if output is not None and Path(output).suffix.lower() == ".toml":
        raise click.UsageError("-o with .toml writes a mapping: add --draft.")
    if given["drop_misfits"] and assignment is None:
        raise click.UsageError("--drop-misfits is about an assignment: add --assignment FILE.")
    how: dict[str, Any] = {"mapping": chosen, "assignment": assignment, **key_and_withdrawn(given)}
    how["drop_misfits"] = given["drop_misfits"]
    expression: Any = calls.let("result", call("hp.exports.import_exports", exports, **how))
    # after all that may be refused, so that no secret is left behind of a run that wrote nothing
    if not given["keep_ids"]:
        calls.let("result", replace(expression, secret=_secret(given)))


def _scores(logs: LogsRead, given: TypedValues) -> Call:
    """One table of the scores of logs."""
    if given["draft"]:
        raise click.UsageError(
            "A log needs no draft: its own names say what is what, or your mapping does."
        )
    result: Any = logs.logs
    how: dict[str, Any] = {"scores": given["score"], "notices": logs.notices}
    one = call("hp.exports.combine_logs", result, tasks=given["task"], again=given["again"], **how)
    return call("hp.exports.import_scores", one)


def _logs(given: TypedValues, files: tuple[str, ...], systems: dict[str, str]) -> LogsRead | None:
    """The logs of models' scores that the files are; None where they are exports of ratings."""
    from humeval_power.files.logs.mapped import is_log_mapping, mapped_logs, read_log_mapping
    from humeval_power.files.logs.reading import HARNESSES, LogsRead, are_logs, logs_in

    platform, mapping, leave_out = (given[name] for name in ("platform", "mapping", "leave_out"))
    if mapping is not None and is_log_mapping(mapping):
        return LogsRead(mapped_logs(files, read_log_mapping(mapping), systems=systems), ())
    harness = next((one for one in HARNESSES if one.name == platform), None)
    if harness is None:
        is_log = platform is None and are_logs(files)
        return logs_in(*files, systems=systems, leave_out=leave_out) if is_log else None
    others = [path for path in files if not Path(path).is_dir() and logs_in(path, harness=platform) is None]
    if others:
        remedy = "Is this the right file? Without --from it is told from the content."
        raise InputError([Problem(f"is no log of {harness.title}.", remedy, path) for path in others])
    return logs_in(*files, harness=platform, systems=systems, leave_out=leave_out)


def _secret(given: TypedValues) -> str:
    """What pseudonyms are made with; the same as long as the file of the secret is there. What is only printed has
    one of its own, or that which is there: none is written without a table.

    Raises click.UsageError: a secret that is not there, and no table to make it with.
    """
    output, secret = given["output"], given["secret"]
    is_printed = output in (None, "-")
    if secret is None and is_printed:
        return token_hex(32)
    from humeval_power.studies.monitor.files import kept_secret, read_secret

    if secret is not None and is_printed and given["format"] != "csv":
        known = read_secret(secret)
        if known is None:
            raise click.UsageError(
                f"--secret {secret}: there is no such file, and a secret is made with a table alone: add -o "
                "FILE.csv."
            )
        return known.key.hex()
    return kept_secret(secret or secret_beside(output, "import")).key.hex()


def secret_beside(output: str | None, command: str) -> Path:
    """Where the secret of what a command writes lies: beside a file, in a folder."""
    written = Path(output or "")
    return written.with_suffix(".secret") if written.suffix else written / f"{command}.secret"


def _of_collection(said: dict[str, Any], _typed: Mapping[str, Any]) -> dict[str, Any]:
    """The exports; and the assignment and its key, where both are there."""
    tables = said.get("assignment") or ()
    files = [*([tables] if isinstance(tables, str) else tables), said.get("key")]
    there = len(files) > 1 and all(path is not None and Path(path).exists() for path in files)
    taken = ("exports", *(("assignment", "key") if there else ()))
    return {name: said[name] for name in taken if name in said}


DECLARED = Declaration(
    ("import",),
    """Bring exports of a platform into one table, a rating a row; or logs of
    models' scores, an answer a row.

    -o ratings.csv writes it. What kind of export it is, is told from its
    content. Where columns and words do not say enough, --draft -o mapping.toml
    writes what is known and what is missing; edit it, and give it with --map.
    Nothing leaves without being counted: the flow of rows is the result.

    What workers rated under codes is decoded with --assignment and --key: item
    and system of each answer, and which answers are repeats and attention
    checks. These stay in the table, and no analysis takes them as ratings.

    Logs of evaluation harnesses, or folders with those of several models, give
    system, item, run, metrics and what may be clusters of items: -o scores.csv.
    Other logs need a mapping.
    """,
    {
        "exports": replace(
            FIELDS["exports"],
            kind=text("EXPORT...", many=True),
            label="Exports",
            page_help="One file or several of the same kind; or a folder of logs in the folder of the page.",
        ),
        "mapping": _MAPPING,
        "platform": _source(*get_args(HarnessName)),
        **_LOGS,
        "draft": own(flag(), "Draft the mapping of an export, which a file of TOML keeps.", usual=False),
        **PSEUDONYMS,
        **ASSIGNED,
        "drop_misfits": own(
            flag(),
            "Leave out, and count, answers that the assignment does not have. [refused]",
            usual=False,
        ),
    },
    _import,
    Page(
        "Bring exports, or logs",
        "Makes one table, a rating a row, of what a crowd platform or a survey tool exported; or of the logs that "
        "a harness wrote of several models.",
        (
            Part("The exports", ("exports", "platform", "mapping")),
            Part("Of logs", ("task", "score", "again", "system_name"), folded=True),
            Part("What workers were given", ("assignment", "key", "withdrawn"), folded=True),
        ),
        (
            Next(("check",), "Check the ratings", carries=("scale",), brings={"ratings": "ratings.csv"}),
            Next(
                ("analyze",), "Analyse the ratings", carries=("scale",), brings={"ratings": "ratings.csv"}
            ),
            Next(("compare", "scores"), "Compare the scores", brings={"files": "scores.csv"}),
            Next(("runs", "check"), "Are there runs?", brings={"table": "scores.csv"}),
        ),
        "ratings",
        hides=("draft", "secret"),
    ),
    arguments=("exports",),
    endings=(".csv", ".toml"),
    of_study=True,
    use=Use(adapts=_of_collection, writes="ratings", updates=lambda _result: {"ratings": HERE}),
    no_program="makes pseudonyms with a secret that the command keeps; hp.exports has its calls.",
)
command = DECLARED.command()
