"""Files with one prediction or label for each item: a line each, or a table with a column of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from humeval_power.checking.columns import Column, find_columns, listing
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.files.file_bytes import decoded, is_text, read_bytes, unzipped
from humeval_power.files.tables import SourceTable, source_name, table_of, texts_of
from humeval_power.saying.numbers import counted

Values = Literal["prediction", "label"]
ITEM = Column(
    ("item", "id", "idx", "index", "item_id", "example", "example_id", "question_id", "qid", "guid"),
    required=False,
)
PREDICTION_NAMES = ("prediction", "predictions", "pred", "predicted", "answer")
LABEL_NAMES = ("label", "labels", "gold", "correct")
_VALUE: dict[Values, Column] = {
    "prediction": Column((*PREDICTION_NAMES, "label", "labels", "correct"), option="--column"),
    "label": Column((*LABEL_NAMES, *PREDICTION_NAMES)),
}
RIGHT = {"1": True, "1.0": True, "true": True, "right": True, "correct": True, "yes": True}
WRONG = {"0": False, "0.0": False, "false": False, "wrong": False, "incorrect": False, "no": False}
SHOWN = 5


@dataclass(frozen=True, slots=True)
class PredictionLines:
    """The text of each prediction in the order of the file; `items` is None where the file has no ids.

    `rows` are the lines of the file, for messages. `table` is what a table was read from, with the columns of the
    items and of the predictions; None for one prediction a line.
    """

    source: str
    values: tuple[str, ...]
    rows: tuple[int, ...]
    items: tuple[str, ...] | None
    table: SourceTable | None = None
    item_column: str | None = None
    value_column: str | None = None


def read_predictions(
    path: str | Path, *, column: str | None = None, role: Values = "prediction"
) -> PredictionLines:
    """Read predictions or labels.

    A file that ends with .txt, or whose first line has no separator, holds one a line; any other is a
    table (CSV, TSV, JSON Lines, Excel, Parquet) with a column of them and perhaps one of ids.
    Raises InputError: a file that cannot be read, a column that cannot be found, or ids that occur twice.
    """
    content = unzipped(read_bytes(path), source=source_name(path))
    lines = _lines(content, Path(path))
    if lines is not None:
        head = _VALUE[role].fits(lines[0])
        values = [line.strip() for line in lines[int(head) :]]
        rows = range(1 + int(head), len(lines) + 1)
        return PredictionLines(Path(path).name, tuple(values), tuple(rows), None)
    table = table_of(content, source=source_name(path))
    wanted = [_VALUE[role], ITEM]
    named: dict[str, str | None] = {role: column}
    others = [name for name in map(str, table.frame.columns) if not ITEM.fits(name)]
    if len(table.frame.columns) == 2 and len(others) == 1:
        named = {role: column or others[0]}  # whatever it is called
    of = find_columns(table.frame.columns, wanted, named=named, source=table.source).of
    identity = of.get("item")
    items = texts_of(table, identity)
    result = PredictionLines(
        table.source,
        tuple(texts_of(table, of[role]) or ()),
        tuple(int(row) for row in table.frame.index),
        None if items is None else tuple(items),
        table,
        identity,
        of[role],
    )
    _refuse_repeated(result, identity)
    return result


def right_answers(
    predictions: Sequence[PredictionLines], labels: PredictionLines | None
) -> tuple[tuple[bool, ...], ...]:
    """Whether each prediction is right, one tuple for each file, in the order of the labels.

    Items are matched by id where every file has ids, and by position where none has. Without labels the
    files themselves must say right or wrong: 1 and 0, true and false, correct and incorrect.
    Raises InputError: files that do not belong together, or cells that are neither right nor wrong; all problems.
    """
    files = [*predictions, *([labels] if labels is not None else [])]
    reference = files[-1]
    aligned = [_aligned(each, reference) for each in files]
    problems = [problem for answers in aligned for problem in answers[1]]
    refuse(problems)
    columns = [result[0] for result in aligned]
    if labels is not None:
        blank = [row for row, text in zip(labels.rows, labels.values, strict=True) if not text]
        if blank:
            rule = f"{len(blank):,} labels are blank."
            raise refusal(rule, "Every item needs its label.", labels.source, blank[0])
        gold = columns.pop()
        return tuple(
            tuple(guess == truth for guess, truth in zip(each, gold, strict=True)) for each in columns
        )
    known = RIGHT | WRONG
    for file in predictions:
        for row, text in zip(file.rows, file.values, strict=True):
            if text.casefold() not in known and len(problems) < SHOWN:
                rule, remedy = "this says neither right nor wrong.", "Write 1 or 0, or give --gold FILE."
                problems.append(Problem(rule, remedy, file.source, row, value=text, has_value=True))
    refuse(problems)
    return tuple(tuple(known[text.casefold()] for text in each) for each in columns)


def _lines(content: bytes, path: Path) -> list[str] | None:
    """The lines of a file with one prediction a line; None for a table."""
    if not is_text(content):
        return None
    text = decoded(content, place=path.name)
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    first = lines[0].strip()
    if path.suffix != ".txt" and (first.startswith("{") or any(mark in first for mark in ",;\t")):
        return None
    if not text.strip():
        raise refusal("the file is empty.", "Is this the right file?", path.name)
    return lines


def _refuse_repeated(lines: PredictionLines, identity: str | None) -> None:
    if lines.items is None or len(set(lines.items)) == len(lines.items):
        return
    seen: set[str] = set()
    problems: list[Problem] = []
    for row, item in zip(lines.rows, lines.items, strict=True):
        if item in seen and len(problems) < SHOWN:
            rule = "this item has a prediction already."
            problems.append(Problem(rule, "Keep one.", lines.source, row, identity, item, has_value=True))
        seen.add(item)
    raise InputError(problems)


def _aligned(file: PredictionLines, reference: PredictionLines) -> tuple[tuple[str, ...], list[Problem]]:
    """The predictions in the order of the reference's items, and what prevents that."""
    if (file.items is None) != (reference.items is None):
        without, having = (file, reference) if file.items is None else (reference, file)
        rule = f"there is no column with the ids of the items, but {having.source} has one."
        remedy = f"Name it one of: {listing(ITEM.names)}; or leave it out everywhere."
        return (), [Problem(rule, remedy, without.source)]
    if file.items is None or reference.items is None:
        if len(file.values) == len(reference.values):
            return file.values, []
        rule = f"there are {len(file.values):,} predictions, but {len(reference.values):,} in {reference.source}."
        return (), [Problem(rule, "One line for each item, in the same order.", file.source)]
    by_item = dict(zip(file.items, file.values, strict=True))
    missing = [item for item in reference.items if item not in by_item]
    extra = sorted(set(file.items) - set(reference.items))
    problems: list[Problem] = []
    if missing:
        rule = (
            f"lacks {counted(len(missing), 'item')} of {reference.source}: {listing(missing, limit=SHOWN)}."
        )
        problems.append(Problem(rule, "Both systems must answer every item.", file.source))
    if extra:
        rule = f"has {counted(len(extra), 'item')} that {reference.source} lacks: {listing(extra, limit=SHOWN)}."
        problems.append(Problem(rule, "Leave them out, or add them there.", file.source))
    return (() if problems else tuple(by_item[item] for item in reference.items)), problems
