"""Outputs, references and labels in plain text files: one a line, files side by side; or columns of one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from humeval_power.checking.columns import close_to
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.files.file_bytes import read_text
from humeval_power.files.tables import read_table

_LISTED = 5  # blank labels that are shown for each file; the rest is counted


@dataclass(frozen=True, slots=True)
class Corpus:
    """Outputs of two systems and the references, segment by segment; `notices` are worth a look."""

    system_a: tuple[str, ...]
    system_b: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    notices: tuple[str, ...]


def read_corpus(
    system_a: str, system_b: str, references: Sequence[str], *, texts: str | None = None
) -> Corpus:
    """Read outputs and references, one segment a line, in the same order in every file; or columns of one table.

    texts : a table with a segment a row, of which the others name columns: by the names in its header, or by
        numbers from 1 where it has none, as `sacrebleu --echo` prints it.

    Raises
    ------
    InputError
        Files that cannot be read, are empty or have different numbers of lines, or columns that are not there: all
        of them at once.
    """
    paths = [system_a, system_b, *references]
    lines = _side_by_side(paths) if texts is None else _columns(texts, paths)
    notices = []
    for path, values in zip(paths, lines, strict=True):
        blank = [number for number, line in enumerate(values, start=1) if not line.strip()]
        if blank:
            some = f"line {blank[0]}" if len(blank) == 1 else f"{len(blank)} lines, the first {blank[0]},"
            verb = "is" if len(blank) == 1 else "are"
            notices.append(f"{path}: {some} {verb} blank, and counted as an empty text.")
    for path, values in zip(paths[:2], lines[:2], strict=True):
        notices += [
            f"{path}: the outputs are those of the reference {reference}, line for line. Is it the right file?"
            for reference, other in zip(references, lines[2:], strict=True)
            if values == other
        ]
    if lines[0] == lines[1]:
        notices.append(
            f"{system_a} and {system_b}: the same outputs, line for line. Are they the right files?"
        )
    return Corpus(tuple(lines[0]), tuple(lines[1]), tuple(map(tuple, lines[2:])), tuple(notices))


def read_labels(gold: str, system_a: str, system_b: str) -> tuple[list[str], list[str], list[str]]:
    """Read true labels and the predictions of both systems, one label a line.

    Raises
    ------
    InputError
        One file given twice; files that cannot be read, of different lengths, or with blank labels: all at once.
    """
    paths = [gold, system_a, system_b]
    lines = [[line.strip() for line in result] for result in _side_by_side(paths)]
    rule = "true labels, A and B are three files; this one was given more than once."
    problems = [
        Problem(rule, "Give each its own file.", path)
        for path in dict.fromkeys(paths)
        if paths.count(path) > 1
    ]
    for path, labels in zip(paths, lines, strict=True):
        blank = [number for number, line in enumerate(labels, start=1) if not line]
        remedy = "Write a label on every line, such as 'none'."
        problems += [Problem("the label is blank.", remedy, path, number) for number in blank[:_LISTED]]
        if len(blank) > _LISTED:
            problems.append(Problem(f"{len(blank) - _LISTED} more labels are blank.", "", path))
    refuse(problems)
    return lines[0], lines[1], lines[2]


def _side_by_side(paths: Sequence[str]) -> list[list[str]]:
    """The lines of every file; all have the same number."""
    result: dict[str, list[str]] = {}
    problems: list[Problem] = []
    for path in dict.fromkeys(paths):
        try:
            result[path] = _lines(path)
        except InputError as error:
            problems += error.problems
    counts = {path: len(lines) for path, lines in result.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{path} has {count:,}" for path, count in counts.items())
        remedy = "Line i of every file must be about the same item; look for lines broken in two."
        problems.append(Problem(f"The files have different numbers of lines: {listed}.", remedy))
    refuse(problems)
    return [result[path] for path in paths]


def _columns(table: str, names: Sequence[str]) -> list[list[str]]:
    """The texts in columns of one table; by their numbers in lines that tabs part."""
    if not all(name.isascii() and name.isdigit() and int(name) for name in names):
        read = read_table(table)
        columns = {str(name): read.frame[name] for name in read.frame.columns}
        if missing := [name for name in dict.fromkeys(names) if name not in columns]:
            rule = "there is no column {}."
            raise InputError(
                [
                    Problem(rule.format(repr(name)), close_to(name, list(columns)), read.source)
                    for name in missing
                ]
            )
        return [["" if cell != cell else str(cell) for cell in columns[name]] for name in names]
    rows = [line.split("\t") for line in _lines(table)]
    most = max(map(int, names))
    problems = [
        Problem(f"has {len(row)} columns; column {most} is named.", "Tabs part the columns.", table, number)
        for number, row in enumerate(rows, start=1)
        if len(row) < most
    ]
    if problems:
        raise InputError(problems[:_LISTED])
    return [[row[int(name) - 1] for row in rows] for name in names]


def _lines(path: str) -> list[str]:
    text = read_text(path)
    # Only \n ends a line: texts may hold other characters that Python takes for ends of lines.
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    if not any(line.strip() for line in lines):
        raise refusal("the file is empty.", "Is this the right file?", place=path)
    return lines
