"""The files that `report` is filled from: named by options, or given one by one and told by what is in them."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.command import is_study
from humeval_power.asking.output import RECORD, note, remark
from humeval_power.asking.study_file import read_study
from humeval_power.errors import InputError, Problem
from humeval_power.files.documents.reading import KINDS
from humeval_power.saying.result import (
    ANALYSES_SCHEMA,
    ANALYSIS_SCHEMA,
    IMPORT_SCHEMA,
    PARAMETERS_SCHEMA,
    POWER_SCHEMA,
    SURFACE_SCHEMA,
)
from humeval_power.saying.values import listed
from humeval_power.study import FILE_NAME

if TYPE_CHECKING:
    from humeval_power.asking.calls import TypedValues
    from humeval_power.ratings import Ratings
    from humeval_power.studies.report.config import ReportConfig
    from humeval_power.studies.report.documents import CriterionDocuments

_PLAN = "humeval_power/plan/"
_HEDS = "heds-"
_ENVELOPE = ("versions", "command", "seed", "sources")  # what analyses of several criteria say once for all
_TABLE = re.compile(r"\.(csv|tsv|jsonl|xlsx|parquet)(\.gz)?$")
_ANSWERS = re.compile(r"^\s*\[\s*report\b", re.MULTILINE)
_USUAL = (
    ("plan.json", "plan/plan.json"),
    ("analysis.json", "analysis/record.json"),
    ("parameters.json",),
    ("power.json", "power/record.json"),
    ("surface",),
    ("import.json", "import/record.json"),
    ("ratings.csv", "ratings.tsv", "ratings.xlsx", "ratings.parquet"),
    ("answers.toml", "humeval.toml"),
)


@dataclass(frozen=True, slots=True)
class Sources:
    """Paths by what is in them: documents, the authors' configuration, and a file of the HEDS form.

    criterion : the one to report, where the analysis has several.
    """

    parameters: str | None = None
    analysis: str | None = None
    surface: str | None = None
    power: str | None = None
    plan: str | None = None
    imported: str | None = None
    config: str | None = None
    heds: str | None = None
    ratings: str | None = None
    criterion: str | None = None

    @property
    def documents(self) -> dict[str, str]:
        """The documents that were given, by kind."""
        result = {
            name: getattr(self, name)
            for name in ("parameters", "analysis", "surface", "power", "plan", "imported")
        }
        return {name: path for name, path in result.items() if path is not None}

    @property
    def names(self) -> dict[str, str]:
        """What the documents are called where they are named as sources."""
        return {kind: Path(path).name for kind, path in self.documents.items()}


def sources_of(given: TypedValues) -> Sources:
    """The files that options name, with those that were given as arguments, told by what is in them."""
    named = {field.name: given[field.name] for field in fields(Sources)}
    return with_files(Sources(**named), given["files"])


def with_files(sources: Sources, paths: Sequence[str]) -> Sources:
    """The sources with files that are told by what is in them.

    Raises InputError: every file that is none of them, and every second file of a kind.
    """
    problems: list[Problem] = []
    if not paths and sources == Sources() and Path(FILE_NAME).is_file():
        paths = [FILE_NAME]
    for path in (inner for each in paths for inner in _within(each)):
        try:
            kind = _kind(path)
        except InputError as error:
            problems += error.problems
            continue
        taken = getattr(sources, kind)
        if taken is not None:
            rule = f"is a second file of the kind {kind!r}, beside {taken}."
            problems.append(Problem(rule, "Give one of each kind.", place=path))
        sources = replace(sources, **{kind: path})
    if problems:
        raise InputError(problems)
    return sources


def _of_study(path: str) -> list[str]:
    """The files that a study names, as far as they are there; a rehearsal's ratings where there are no others."""
    said = read_study(path).values
    note(f"Study: {path}.")
    places = [said.get(name) for name in ("plan", "findings", "ratings", "answers")]
    there = [str(place) for place in places if place is not None and Path(place).exists()]
    rehearsal = said.get("rehearsal")
    if said.get("ratings") not in there and rehearsal is not None and Path(rehearsal).exists():
        there.append(str(rehearsal))
    if not there:
        rule = "names no plan, findings or ratings that are there."
        raise InputError(
            [Problem(rule, "Run 'plan' and 'analyze' first, or say in [files] where they are.", place=path)]
        )
    return [
        next(
            (str(inner) for inner in (Path(each) / "plan.json", Path(each) / RECORD) if inner.is_file()),
            each,
        )
        for each in there
    ]


def _within(path: str) -> list[str]:
    """The files of a study's folder by their usual names; a file, or the folder of a surface, is itself."""
    if path.lower().endswith(".toml") and is_study(path):
        return _of_study(path)
    folder = Path(path)
    if not folder.is_dir() or _surface_file(folder) is not None:
        return [path]
    paths = [folder / name for names in _USUAL for name in names if (folder / name).exists()]
    if _schema_of(folder / RECORD) == IMPORT_SCHEMA:
        paths.append(folder / RECORD)
    return [str(each) for each in paths] or [record_in(path)]


def _schema_of(record: Path) -> object:
    """What a folder's record is of, None where there is none."""
    from humeval_power.files.file_bytes import read_object

    return read_object(record).get("schema") if record.is_file() else None


def record_in(path: str) -> str:
    """Of a folder that a command's -o wrote the record in it; a file as it is."""
    record = Path(path) / RECORD
    return str(record) if record.is_file() else path


def record_of(_ctx: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """A click callback: the file that is meant, of a folder the record in it."""
    return None if value is None else record_in(value)


def _kind(path: str) -> str:
    if Path(path).is_dir():
        if _surface_file(Path(path)) is None:
            remedy = "Files of a study are told by their names, such as analysis.json and plan.json."
            raise InputError([Problem("holds nothing that a report is filled from.", remedy, place=path)])
        return "surface"
    if _TABLE.search(path.lower()):
        return "ratings"
    if _is_answers(path):
        return "config"
    from humeval_power.files.file_bytes import read_object

    document = read_object(path)
    schema = document.get("schema")
    if isinstance(schema, str):
        if schema.startswith(_PLAN):
            return "plan"
        if schema in KINDS:
            return KINDS[schema].source
    elif any(str(name).startswith(_HEDS) for name in document):
        return "heds"
    rule = "is nothing that a report is filled from."
    remedy = "Give what 'fit', 'analyze', 'plan' or 'power --json' wrote, or a file of the HEDS form."
    raise InputError([Problem(rule, remedy, place=path)])


def _is_answers(path: str) -> bool:
    """Whether a file is one of answers, by its name or by the table that it has."""
    if Path(path).suffix.lower() == ".toml":
        return True
    from humeval_power.files.file_bytes import read_text

    is_text = Path(path).suffix.lower() != ".json" and Path(path).is_file()
    return is_text and _ANSWERS.search(read_text(path)) is not None


def read_criteria(sources: Sources) -> tuple[CriterionDocuments, ...]:
    """The documents of a study, once for each criterion of its analysis.

    Raises
    ------
    InputError
        A file that cannot be read or is of another kind, or a criterion that is not there.
    """
    from humeval_power.studies.report.documents import CriterionDocuments

    if not sources.documents and sources.ratings is not None:
        return tuple(CriterionDocuments(criterion_name=name) for name in _criteria_of(sources.ratings))
    plan, checksum = None, None
    if sources.plan is not None:
        from humeval_power.studies.plan.files import read_plan_file

        read = read_plan_file(sources.plan)
        plan, checksum = read.plan, read.checksum
    shared = CriterionDocuments(
        parameters=_document(sources.parameters, PARAMETERS_SCHEMA),
        surface=_surface(sources.surface),
        power=_document(sources.power, POWER_SCHEMA),
        plan=plan,
        plan_checksum=checksum,
        names=sources.names,
        imported=_document(sources.imported, IMPORT_SCHEMA),
    )
    criteria = [replace(shared, analysis=analysis) for analysis in _analyses(sources)]
    if sources.ratings is not None:
        from humeval_power.studies.report.caveats import CHANGED

        content = Path(sources.ratings).read_bytes()
        criteria = [
            one
            if one.analysis is None or is_of_ratings(one.analysis, content)
            else replace(
                one, analysis={**one.analysis, "notices": [CHANGED, *listed(one.analysis, "notices")]}
            )
            for one in criteria
        ]
    _tell_other_import(criteria[0])
    return tuple(replace(one, ratings=_ratings(sources.ratings, one)) for one in criteria)


def is_of_ratings(analysis: Mapping[str, Any], content: bytes) -> bool:
    """Whether an analysis was made of a table with these bytes; so of one that does not say of what it was made."""
    known = {str(one["sha256"]) for one in listed(analysis, "sources") if one.get("sha256")}
    return not known or hashlib.sha256(content).hexdigest() in known


def _tell_other_import(documents: CriterionDocuments) -> None:
    """Whether another table was analysed than the one that was imported."""
    imported, flow = documents.imported, listed(documents.study, "flow")
    if imported is None or not flow or flow[0]["rows"] == imported["n_ratings"]:
        return
    note(
        f"WARNING: {documents.name('imported')} tells of {imported['n_ratings']:,} ratings, the analysis has read "
        f"{flow[0]['rows']:,} rows: is it of another table?"
    )


def _analyses(sources: Sources) -> list[dict[str, Any] | None]:
    path, wanted = sources.analysis, sources.criterion
    if path is None and wanted is not None:
        raise click.UsageError("--criterion chooses one of an analysis: give --findings FILE.")
    if path is None:
        return [None]
    from humeval_power.files.documents.reading import checked_document
    from humeval_power.files.file_bytes import read_object

    document = read_object(path)
    is_several = document.get("schema") == ANALYSES_SCHEMA
    schema = ANALYSES_SCHEMA if is_several else ANALYSIS_SCHEMA
    document = checked_document(document, schema=schema, place=path)
    shared = {name: document[name] for name in _ENVELOPE if name in document}
    analyses = [{**shared, **one} for one in document["criteria"]] if is_several else [document]
    names = [one.get("criterion_name") for one in analyses]
    if wanted is None:
        return list(analyses)
    if wanted not in names:
        rule = f"has no criterion {wanted!r}; it has {', '.join(map(str, names))}."
        raise InputError([Problem(rule, "", place=path)])
    return [analyses[names.index(wanted)]]


def _document(path: str | None, schema: str) -> dict[str, Any] | None:
    """The document at `path`, None where none was given."""
    from humeval_power.files.documents.reading import read_document

    return None if path is None else read_document(path, schema=schema)


def _surface(path: str | None) -> dict[str, Any] | None:
    """The document of a surface, None where none was given."""
    if path is None:
        return None
    file = _surface_file(Path(path)) if Path(path).is_dir() else Path(path)
    if file is None:
        raise InputError(f"{path} holds no surface; give what 'surface -o' wrote.")
    from humeval_power.files.documents.reading import read_document

    return read_document(file, schema=SURFACE_SCHEMA)


def _surface_file(folder: Path) -> Path | None:
    """The record of a folder that `surface` wrote, None where there is none."""
    file = folder / RECORD
    return file if _schema_of(file) == SURFACE_SCHEMA else None


def _ratings(path: str | None, documents: CriterionDocuments) -> Ratings | None:
    """The ratings that the analysis, or the plan, is of; None where none were given."""
    if path is None:
        return None
    from humeval_power.files.tables import read_criteria, read_ratings
    from humeval_power.saying.values import listed, scale_of

    study, plan = documents.study, documents.plan
    systems = tuple(listed(study, "systems")) or (() if plan is None else plan.systems)
    scale = scale_of(study) or (None if plan is None else plan.scale)
    pair = systems if len(systems) == 2 else None
    named: dict[str, Any] = {"scale": scale, "systems": pair, "require_pair": pair is not None}
    criterion = documents.criterion
    ratings = (
        read_ratings(path, **named)
        if criterion is None
        else read_criteria(path, [criterion], **named)[criterion]
    )
    analysed = study.get("n_ratings")
    if analysed is not None and analysed != ratings.n_ratings:
        note(
            f"WARNING: {Path(path).name} has {ratings.n_ratings:,} ratings as read here, the analysis has "
            f"{analysed:,}: analyse again if the table has changed since. Pictures of the ratings show the former."
        )
    return ratings


def _criteria_of(path: str) -> tuple[str | None, ...]:
    """The names of the criteria in a table of ratings, a single None where it has no column of them."""
    from humeval_power.checking.cells import read_cells, read_ids
    from humeval_power.checking.columns import find_roles
    from humeval_power.files.tables import read_rating_table

    table = read_rating_table(path)
    frame = table.frame.set_axis([str(name).strip() for name in table.frame.columns], axis=1)
    column = find_roles(list(frame.columns), named={}, source=table.source).criterion
    return (None,) if column is None else tuple(read_ids(read_cells(frame[column])).names)


# The authors' own answers: read from the file of a study, and from what is remembered of earlier ones.

_FORGET = "Correct the file of what is remembered; or add --no-memory, or 'report remember --forget all'."

_REMEDY = "Give a file of answers, with a table [report] and the answers below it."


def memory_path() -> Path:
    """The file of answers that are the same in every study, in the folder of the user's settings."""
    return Path(click.get_app_dir("humeval-power")) / "answers.toml"


def read_memory(*, wanted: bool = True) -> ReportConfig:
    """What is remembered; nothing where nothing is, or where it is not wanted."""
    from humeval_power.studies.report.config import NO_CONFIG

    place = memory_path()
    if not wanted or not place.is_file():
        return NO_CONFIG
    try:
        return read_config(str(place)).to_remember()
    except InputError as error:
        problems = [replace(one, remedy=f"{one.remedy} {_FORGET}".strip()) for one in error.problems]
        raise InputError(problems) from None


def own_answers(path: str | None, *, memory: ReportConfig) -> ReportConfig | None:
    """The answers of the study, completed by those that are remembered; None where there are none.

    What comes from memory is said.
    """
    from humeval_power.studies.report.config import NO_CONFIG

    own = None if path is None else read_config(path)
    both = (own or NO_CONFIG).with_memory(memory)
    if both.remembered:
        remark(
            f"Remembered from earlier studies: {', '.join(both.remembered)} ({memory_path()}). Do they hold for "
            "this one? --no-memory leaves them out."
        )
        return both
    return own


def read_config(path: str) -> ReportConfig:
    """The authors' own answers.

    Raises InputError: a file that is no TOML or has no table [report], and every answer that cannot be, each with
    its line.
    """
    from humeval_power.files.file_bytes import read_text, toml_values
    from humeval_power.studies.report.config import ReportConfig

    text = read_text(path)
    table: Any = toml_values(text, place=path, hint=_REMEDY).get("report")
    if not isinstance(table, dict):
        raise InputError([Problem("has no table [report].", _REMEDY, place=path)])
    with telling_file(path, text):
        return ReportConfig.from_mapping(table)


@contextmanager
def telling_file(path: str | None, text: str | None = None) -> Iterator[None]:
    """Problems with answers are told with the name of their file, and with the line of their key."""
    from humeval_power.files.file_bytes import read_text, toml_lines

    try:
        yield
    except InputError as error:
        if path is None or not all((one.place or "").startswith("[report") for one in error.problems):
            raise
        lines = toml_lines(read_text(path) if text is None else text)
        placed = sorted(((_line(one, lines), one) for one in error.problems), key=lambda pair: pair[0])
        raise InputError(
            [replace(one, place=f"{path}, {f'line {at}' if at else one.place}") for at, one in placed]
        ) from None


def _line(problem: Problem, lines: Mapping[tuple[str, ...], int]) -> int:
    """The line of the problem's key, or of the nearest table around it; 0 where neither is known."""
    from humeval_power.files.file_bytes import toml_path

    names = ("report", *toml_path(problem.column or ""))
    return next((lines[names[:depth]] for depth in range(len(names), 1, -1) if names[:depth] in lines), 0)


def kept_answers(path: str) -> ReportConfig | None:
    """The answers of a file that is to be written anew, None where there is no file yet.

    Raises InputError: as for `read_config`; or more than answers in it, which would be lost.
    """
    if not Path(path).is_file():
        return None
    from humeval_power.files.file_bytes import read_text, toml_values

    others = [name for name in toml_values(read_text(path), place=path, hint=_REMEDY) if name != "report"]
    if others:
        rule = f"holds {', '.join(map(repr, others))} beside [report], which would be lost."
        raise InputError([Problem(rule, "Name another file.", place=path)])
    return read_config(path)


def same_file(one: str, other: str) -> bool:
    """Whether two names lead to one file that is there."""
    return os.path.isfile(one) and os.path.isfile(other) and os.path.samefile(one, other)
