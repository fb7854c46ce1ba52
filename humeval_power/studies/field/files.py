"""Files of the field: assignment, key of codes, withdrawals, outputs to be rated, and texts of attention checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from humeval_power.checking.columns import bare
from humeval_power.checking.exports.assigned import AssignmentTable, Key, assigned_of, key_of
from humeval_power.checking.outputs import Outputs, outputs_of_table
from humeval_power.errors import InputError, Problem
from humeval_power.files.file_bytes import read_text
from humeval_power.files.tables import read_table
from humeval_power.safe_text import table_csv
from humeval_power.saying.document import Document, Section, Table
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result, Source
from humeval_power.scales import RatingScale
from humeval_power.studies.field.form import CheckText, Content, RatingForm, needs_slider, rows_shown
from humeval_power.studies.field.uploads import UPLOADERS
from humeval_power.studies.plan.assignment import numbered
from humeval_power.studies.plan.result_assignment import AssignmentResult

if TYPE_CHECKING:
    import pandas as pd


_HEADER = 1_000  # bytes that hold the names of columns


def read_assignment(*paths: str | Path) -> AssignmentTable:
    """Read who sees what when: the table of an assignment, and those of spares that took over.

    Raises
    ------
    InputError
        A file that is none, such as a key or ratings, or that is not whole: all problems at once.
    """
    tables = [read_table(path) for path in paths]
    return assigned_of([(one.frame, one.source) for one in tables])


def read_key(path: str | Path) -> Key:
    """Read what the codes of an assignment stand for.

    Raises
    ------
    InputError
        A file that is none, such as an assignment or ratings, or that is not whole.
    """
    table = read_table(path)
    return key_of(table.frame, source=table.source)


def looks_like_key(path: str | Path) -> bool:
    """Whether there is a file that begins as a key does, whole or not."""
    if str(path) == "-" or not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        header = file.read(_HEADER).replace(b"\0", b"").splitlines()[:1]
    return bool(header) and all(name in header[0] for name in (b"code", b"item", b"system"))


def read_withdrawn(*paths: str | Path) -> tuple[str, ...]:
    """The workers in files, one a line, who took their consent back.

    Raises
    ------
    InputError
        A file without any, or that holds what is no list of ids.
    """
    names: dict[str, None] = {}
    for path in paths:
        lines = [line.strip() for line in read_text(path).splitlines()]
        if not any(lines):
            raise InputError(
                [Problem("names nobody.", "Write the id of a worker on each line.", str(path))]
            )
        names |= dict.fromkeys(filter(None, lines))
    return tuple(names)


# Outputs to be rated, read: a table of any format, or a folder of texts.

_SOURCE = "source"  # the folder, or file, of what stands above the outputs


def read_outputs(path: str | Path) -> Outputs:
    """The outputs in a table, or in a folder.

    A table (CSV, JSON Lines, Excel, Parquet) has a column for each system, or one output a row. A folder has a
    folder for each system with a file for each item (SYSTEM/ITEM.txt), or a file for each system with a line for
    each item (SYSTEM.txt); `source` in the place of a system is what stands above.

    Raises
    ------
    InputError
        What cannot be read, and outputs that are missing, empty or there twice: all at once.
    """
    folder = Path(path)
    if not folder.is_dir():
        table = read_table(path)
        return outputs_of_table(table.frame, origin=table.source)
    inside = [one for one in sorted(folder.iterdir()) if not one.name.startswith(".")]
    folders, files = [one for one in inside if one.is_dir()], [one for one in inside if one.is_file()]
    if folders and files:
        rule = f"holds folders ({folders[0].name}) and files ({files[0].name})."
        remedy = "Give each system a folder with a file for each item, or a file with a line for each item."
        raise InputError([Problem(rule, remedy, place=str(path))])
    if not inside:
        raise InputError([Problem("is empty.", "Give each system a folder or a file.", place=str(path))])
    return _of_folders(folders, folder.name) if folders else _of_files(files, folder.name)


def _of_folders(folders: Sequence[Path], origin: str) -> Outputs:
    """A file for each item, in a folder for each system."""
    texts: dict[tuple[str, str], str] = {}
    sources: dict[str, str] = {}
    problems: list[Problem] = []
    for folder in folders:
        files = sorted(one for one in folder.iterdir() if one.is_file() and not one.name.startswith("."))
        for file in files:
            if folder.name == _SOURCE:
                sources[_name(file)] = _text(file, problems)
            elif (_name(file), folder.name) in texts:
                rule = f"the item {_name(file)!r} has two files."
                problems.append(Problem(rule, "Keep one.", place=str(file)))
            else:
                texts[_name(file), folder.name] = _text(file, problems)
    items = tuple(sorted({item for item, _ in texts}))
    problems += [
        Problem(f"there is a source of {item!r}, and no output.", "", place=f"{origin}/{_SOURCE}")
        for item in sources
        if item not in items
    ]
    systems = tuple(one.name for one in folders if one.name != _SOURCE)
    return _checked(origin, items, systems, texts, sources, problems, named=True)


def _of_files(files: Sequence[Path], origin: str) -> Outputs:
    """A line for each item, in a file for each system."""
    problems: list[Problem] = []
    lines: dict[str, list[str]] = {}
    for file in files:
        if _name(file) in lines:
            problems.append(
                Problem(f"the system {_name(file)!r} has two files.", "Keep one.", place=str(file))
            )
            continue
        text = _text(file, problems)
        lines[_name(file)] = text.removesuffix("\n").split("\n") if text else []
    counts = {name: len(of_file) for name, of_file in lines.items()}
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        rule = f"the files have not the same number of lines: {said}."
        problems.append(Problem(rule, "Line n of each is of item n.", place=origin))
        raise InputError(problems)
    items = numbered("i", max(counts.values(), default=0))
    above = dict(zip(items, lines.pop(_SOURCE, []), strict=False))
    texts = {
        (item, system): text
        for system, of_file in lines.items()
        for item, text in zip(items, of_file, strict=True)
    }
    return _checked(origin, items, tuple(lines), texts, above, problems, named=False)


def _checked(
    origin: str,
    items: tuple[str, ...],
    systems: tuple[str, ...],
    texts: Mapping[tuple[str, str], str],
    sources: Mapping[str, str],
    problems: Sequence[Problem],
    *,
    named: bool,
) -> Outputs:
    try:
        outputs = Outputs(origin, items, systems, texts, sources, named=named)
    except InputError as error:
        raise InputError([*problems, *error.problems]) from None
    if problems:
        raise InputError(problems)
    return outputs


def _text(file: Path, problems: list[Problem]) -> str:
    """The text of a file; why it cannot be read is added to the problems."""
    try:
        return read_text(file).replace("\r\n", "\n")
    except InputError as error:
        problems += error.problems
        return ""


def _name(file: Path) -> str:
    """What a file is named after: the item or the system."""
    return file.name.removesuffix(".txt")


def read_check_texts(path: str | Path) -> tuple[CheckText, ...]:
    """Attention checks of a table: the columns text and right (a whole number), and source if there is one.

    Raises
    ------
    InputError
        A file that is no such table, with every row that is wrong.
    """
    table = read_table(path)
    frame = table.frame.fillna("").astype(str)
    names = {bare(str(name)): str(name) for name in frame.columns}
    absent = [name for name in ("text", "right") if name not in names]
    if absent:
        rule = f"there is no column {' and no column '.join(map(repr, absent))}."
        raise InputError(
            [Problem(rule, "An attention check has a text and its right answer.", table.source)]
        )
    checks, problems = [], []
    sources = frame[names["source"]] if "source" in names else [""] * len(frame)
    for row, text, right, source in zip(
        frame.index, frame[names["text"]], frame[names["right"]], sources, strict=True
    ):
        point = right.strip()
        if not text.strip():
            problems.append(Problem("the text is blank.", "", table.source, int(row)))
        if not point.removeprefix("-").isdecimal():
            rule = "the right answer is a point of the scale, a whole number."
            problems.append(
                Problem(rule, "", table.source, int(row), names["right"], right, has_value=True)
            )
        else:
            checks.append(CheckText(text, int(point), source))
    if problems:
        raise InputError(problems)
    return tuple(checks)


# Files to upload: what each platform takes of an assignment, and the table to follow it by.

ASSIGNMENT = "assignment.csv"


@dataclass(frozen=True, kw_only=True)
class UploadResult(Result):
    """An assignment with the files to upload: a folder for each platform, and beside them the assignment by codes.
    Nothing in them names a system."""

    schema: ClassVar[str] = "humeval_power/uploads/1"
    files_alone: ClassVar[bool] = True

    assignment: AssignmentResult
    form: RatingForm
    platforms: tuple[str, ...]
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """What is uploaded, and how the work is laid out."""
        assigned = self.assignment.body()
        rows = tuple((UPLOADERS[name].title, f"{name}/", self._count(name)) for name in self.platforms)
        uploaded = Section(
            "What is uploaded",
            (Table(("platform", "folder", "files"), rows, "Each has a README.md: what to do."),),
        )
        return replace(assigned, sections=(uploaded, *assigned.sections))

    def _count(self, name: str) -> str:
        return f"{sum(file.startswith(f'{name}/') for file in self._files):,}"

    def content(self) -> Record:
        """The rows as the coordinator follows them, and what is uploaded."""
        record = self.assignment.content()
        rows = [
            {name: None if value == "" else value for name, value in row.items()}
            for row in self.to_frame().to_dict("records")
        ]
        criteria = [one.criterion for one in self.form.questions]
        return {**record, "rows": rows, "criteria": criteria, "platforms": list(self.platforms)}

    def to_frame(self) -> pd.DataFrame:
        """A row for each thing that a worker is shown, with the codes of checks and their right answers."""
        return rows_shown(self.assignment.to_frame(), self.form)

    def files(self) -> Mapping[str, Content]:
        """What is uploaded, in a folder for each platform, and the assignment."""
        return self._files

    @cached_property
    def _files(self) -> Mapping[str, Content]:
        made = {
            f"{name}/{file}": content
            for name in self.platforms
            for file, content in UPLOADERS[name].write(self.form).items()
        }
        return {ASSIGNMENT: table_csv(self.to_frame()), **made}

    def key(self) -> pd.DataFrame:
        """What the codes stand for: for the coordinator alone."""
        return self.assignment.key()

    def key_csv(self) -> str:
        """The file of the key."""
        return self.assignment.key_csv()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is said beside the result."""
        of_platforms = (said for name in self.platforms for said in UPLOADERS[name].remarks(self.form))
        return (*self.assignment.remarks, *self._looks(), *of_platforms)

    def _looks(self) -> Iterator[str]:
        """Of a plan with looks: where workers have to wait."""
        plan = self.assignment.assignment
        if plan.look is not None and (plan.look == 1).any():
            last = int(plan.batch[plan.look == 1].max())
            yield (
                f"The plan has {int(plan.look.max())} looks: let workers stop after their batches of the first one "
                f"(batch {last} at the latest; the column look of {ASSIGNMENT} says which) until it was taken."
            )

    def with_command(self, command: str, sources: tuple[Source, ...]) -> Self:  # noqa: ARG002
        """The same: the command and its files may hold the seed and the systems."""
        return self


def platform_problems(platforms: Sequence[str], scale: RatingScale) -> list[Problem]:
    """Platforms that are not known, and those that have no sliders where the scale needs one."""
    problems = [
        Problem(f"There is no platform {name!r} to upload to; there are {', '.join(UPLOADERS)}.", "")
        for name in platforms
        if name not in UPLOADERS
    ]
    if needs_slider(scale):
        problems += [
            Problem(
                f"{UPLOADERS[name].title} has no sliders, and the scale {scale} needs one.", "Take points."
            )
            for name in platforms
            if name in UPLOADERS and not UPLOADERS[name].sliders
        ]
    return problems
