"""What readers of logs share: the raw log, names of items and runs, scores, and what a harness is."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import math
import os
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from humeval_power.checking.columns import ROLES, listing
from humeval_power.checking.logs.log import Log, LogSample
from humeval_power.choices import TITLES, HarnessName
from humeval_power.errors import InputError, Problem, refusal
from humeval_power.files.exports.platform import plain
from humeval_power.files.file_bytes import decoded, parse_json, read_bytes, unzipped
from humeval_power.files.text_tables import read_delimited

# Names of items in logs that give none, or one to several questions; and the runs of what was samples
# again.

_LONGEST = 60  # characters of a question that is its own name
_DIGITS = 8  # of the digest that ends other names


def item_names(samples: Sequence[tuple[str, str]]) -> list[str]:
    """A name for each sample, the same for the same question in every log.

    samples : of each the name that the log gives it, '' for none, and all that tells its question from others.
        A name of several questions is followed by a digest, and without a name the question is one.
    """
    questions: dict[str, set[str]] = defaultdict(set)
    for name, question in samples:
        questions[name].add(question)
    return [_name(name, question, is_one=len(questions[name]) == 1) for name, question in samples]


def run_numbers(keys: Sequence[Hashable]) -> list[str]:
    """Which time each comes, from 1; '' for all where each comes once."""
    count: Counter[Hashable] = Counter()
    numbers = []
    for key in keys:
        count[key] += 1
        numbers.append(str(count[key]))
    return numbers if len(count) < len(keys) else [""] * len(keys)


def canonical(value: object) -> str:
    """A value of JSON as one text, whatever the order of its names."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _name(name: str, question: str, *, is_one: bool) -> str:
    if not name:
        return _short(question)
    return name if is_one else f"{name} {digest_of(question)[:_DIGITS]}"


def _short(question: str) -> str:
    words = " ".join(question.split())
    if words == question and len(words) <= _LONGEST:
        return words
    return f"{words[: _LONGEST - 20].rstrip()}... {digest_of(question)[:_DIGITS]}"


# A file before it is known whose log it is: its bytes, its lines and its JSON, each read once.

_FIRST = 65_536  # bytes that a format is told from
_COLUMNS = (  # of ragas, MLflow, promptfoo, LangSmith, Braintrust and Langfuse; and in lines of sacreBLEU
    *(b"user_input", b"request", b"Named Scores"),
    *(b"inputs", b"expected", b"trace_id"),
    *(b"|version:", b"|v:"),
)
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_HALF = "The log is cut off here, or was damaged: run the evaluation to its end"


class RawLog:
    """A regular file that may be a log; `source` is what messages call it. Only its beginning is read at first."""

    def __init__(self, path: Path, source: str) -> None:
        self.path, self.source = path, source

    @cached_property
    def head(self) -> bytes:
        """The beginning of the content, unpacked where it is gzip, without blanks before it."""
        try:
            with self.path.open("rb") as file:
                start = file.read(_FIRST)
            if start.startswith(_GZIP):
                with gzip.open(self.path) as packed:
                    start = packed.read(_FIRST)
        except (OSError, EOFError, zlib.error):
            return b""
        return start.removeprefix(b"\xef\xbb\xbf").lstrip(b" \r\n\t")

    @property
    def may_be_log(self) -> bool:
        """Whether it starts as JSON, as an archive, or with a column that only tables of harnesses have."""
        header = self.head.split(b"\n", 1)[0]
        return header.startswith((b"{", b"[", _ZIP)) or any(column in header for column in _COLUMNS)

    @property
    def is_zip(self) -> bool:
        """Whether it is an archive, such as Inspect's .eval files."""
        return self.head.startswith(_ZIP)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The members of an archive; none of what is no archive, or a broken one."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                return tuple(archive.namelist())
        except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
            return ()  # names that are no text raise a ValueError

    @cached_property
    def first(self) -> dict[str, Any]:
        """The first object of a file of JSON lines or of an array; {} where there is none that can be read."""
        text = self.head.decode("utf-8", "ignore")
        if not text.startswith(("{", "[")):
            return {}
        line = text.split("\n", 1)[0]
        try:
            if text.startswith("{") and len(line) < len(text):
                document = parse_json(line, place=self.source, any_number=True)
            else:
                document = self.records[0][1] if self.records else {}
        except InputError:
            return {}
        return document if isinstance(document, dict) else {}

    @cached_property
    def content(self) -> bytes:
        """All bytes, unpacked where they are gzip."""
        return unzipped(read_bytes(self.path), source=self.source)

    @cached_property
    def sha256(self) -> str:
        """The digest of the bytes."""
        return hashlib.sha256(self.content).hexdigest()

    @cached_property
    def archive(self) -> zipfile.ZipFile:
        """The archive, in memory."""
        return zipfile.ZipFile(io.BytesIO(self.content))

    @cached_property
    def text(self) -> str:
        """The whole text."""
        return decoded(self.content, place=self.source)

    @cached_property
    def json(self) -> Any:
        """The value of the whole text. Raises InputError: a text that is no JSON, with the line."""
        return parse_json(self.text, place=self.source, hint=f"{_HALF}.", any_number=True)

    @cached_property
    def records(self) -> list[tuple[int, dict[str, Any]]]:
        """The objects of a file of JSON lines, each with its line; or of an array, with its place.
        Raises InputError: lines that are no JSON objects, all of them."""
        if self.text.lstrip().startswith("["):
            result = list(enumerate(self.json, start=1))
        else:
            result, problems = [], list[Problem]()
            for row, line in enumerate(self.text.split("\n"), start=1):
                if not line.strip():
                    continue
                try:
                    value = parse_json(
                        line,
                        place=self.source,
                        row=row,
                        hint=f"{_HALF}, or delete this line.",
                        any_number=True,
                    )
                    result.append((row, value))
                except InputError as error:
                    problems += error.problems
            if problems:
                raise InputError(problems[:5])
        wrong = [row for row, value in result if not isinstance(value, dict)]
        if wrong:
            rule = "is no JSON object, {...}: every sample is one."
            raise refusal(rule, "Is this the right file?", self.source, wrong[0])
        return result

    @cached_property
    def rows(self) -> list[tuple[int, dict[str, Any]]]:
        """The same of any table: of JSON lines, of an array, or of text with a header, each with its row."""
        if self.head.startswith((b"{", b"[")):
            return self.records
        frame, _ = read_delimited(self.text, source=self.source)
        cells = frame.to_dict("records")
        return [
            (int(row), {str(name): cell for name, cell in one.items()})
            for row, one in zip(frame.index, cells, strict=True)
        ]

    def beside(self, name: str) -> RawLog:
        """Another file of the same folder."""
        parent = os.path.dirname(self.source)
        return RawLog(self.path.with_name(name), os.path.join(parent, name))


def text_of(value: object) -> str | None:
    """A scalar of JSON as text; None for null, lists and objects."""
    return None if value is None or isinstance(value, list | dict) else plain(value)


def texts_in(record: object) -> dict[str, str]:
    """The scalars of an object as texts; {} of anything else."""
    if not isinstance(record, dict):
        return {}
    return {str(name): text for name, value in record.items() if (text := text_of(value))}


def number_of(value: object) -> float | None:
    """A score as a number: yes or no is 1 or 0; None for what is no finite number."""
    if isinstance(value, bool | int | float) and math.isfinite(value):
        return float(value)
    return None


_REPEATED = "What was asked again is a run of its item: it was answered anew (--nested)."
_WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
_MISSING = {"", "nan", "none", "null"}


def first_row(raw: RawLog) -> Mapping[str, Any]:
    """The first row of a table of answers: of JSON lines, of an array, or of text with commas; {} of a table with
    workers or systems, which is no harness's."""
    values: Mapping[str, Any] = raw.first
    if not raw.head.startswith((b"{", b"[")):
        table = csv.reader(io.StringIO(raw.head.decode("utf-8", "ignore"), newline=""))
        try:
            header, row = next(table), next(table)
        except (csv.Error, StopIteration):
            return {}
        values = dict.fromkeys(header) | dict(
            zip(header, row, strict=False)
        )  # a long row may be cut off here
    taken = any(ROLES[role].fits(str(name)) for name in values for role in ("worker", "system"))
    return {} if taken else values


def log_of_rows(
    raw: RawLog,
    *,
    request: str,
    question: tuple[str, ...],
    answer: str,
    label: str,
    metric: Callable[[str], str | None],
    fields: Callable[[Mapping[str, Any]], Mapping[str, str]],
    rows: Sequence[tuple[int, Mapping[str, Any]]] | None = None,
) -> Log:
    """The log in such a table.

    request : the column that names the item. question : those that tell it from others.
    answer, label : those of the system's answer and of the right one.
    metric : the name of the metric in a column; None for a column that holds none.
    fields : of a row what the data set says of the item, metrics perhaps among it.
    rows : the rows in the place of those of the file.
    Raises InputError: a row in which nothing was asked, or a table without scores.
    """
    rows = raw.rows if rows is None else rows
    problems = [
        Problem(f"has nothing at {request!r}, which names its item.", "Fill it in.", raw.source, row)
        for row, record in rows
        if not canonical(record.get(request) or "").strip()
    ]
    if problems:
        raise InputError(problems[:5])
    names = [str(name) for name in dict.fromkeys(name for _, record in rows for name in record)]
    metrics, words = {}, []
    for name in names:
        known = metric(name)
        if known is None:
            continue
        if all(is_score(record.get(name)) for _, record in rows):
            metrics[name] = known
        else:
            words.append(known)
    if not metrics:
        rule = "has no column of scores, with a number in every row or nothing."
        raise refusal(rule, f"Its columns are {listing(names)}.", raw.source)
    questions = [canonical([record.get(name) for name in question]) for _, record in rows]
    shown = item_names([("", canonical(record[request])) for _, record in rows])
    items = item_names(list(zip(shown, questions, strict=True)))
    runs = run_numbers(items)
    samples = [
        LogSample(
            item,
            {known: score_of(record.get(name)) for name, known in metrics.items()},
            run,
            row,
            {name: text for name, text in fields(record).items() if name not in metrics},
            digest_of(words_of),
            text_of(record.get(label)),
            text_of(record.get(answer)),
        )
        for (row, record), item, run, words_of in zip(rows, items, runs, questions, strict=True)
    ]
    notices = [_REPEATED] if any(runs) else []
    if words:
        notices.append(f"No scores, as they are no numbers: {listing(words)}.")
    return Log("", "", tuple(samples), notices=tuple(notices))


def is_score(value: object) -> bool:
    """Whether a cell is a number, yes or no, or nothing."""
    if isinstance(value, str):
        return value.strip().casefold() in _MISSING or score_of(value) is not None
    return value is None or isinstance(value, bool | int | float)


def score_of(value: object) -> float | None:
    """A cell as a number: true and yes are 1; None for nothing."""
    if not isinstance(value, str):
        return number_of(value)
    word = value.strip().casefold()
    if word in _WORDS:
        return _WORDS[word]
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


# What the program knows of a harness: its name, how its logs are told, and how they are read.


class Harness(NamedTuple):
    """A program that evaluates models and logs every sample.

    known_by : why a file is a log of it; None where it is none.
    parts : the logs in a file that is known, one for each system and task; what every log says is added to them.
    files, written_by : what is read, and how one comes by it; names in backquotes.
    item : what is the item, and after a semicolon the run.
    proved : by files of which version, and when; or by what else.
    names_system : whether its files name the system.
    """

    name: HarnessName
    known_by: Callable[[RawLog], str | None]
    parts: Callable[[RawLog], Iterable[Log]]
    files: str
    written_by: str
    item: str
    proved: str
    names_system: bool = True

    @property
    def title(self) -> str:
        """What people call it."""
        return TITLES[self.name]

    def read(self, raw: RawLog, why: str) -> Iterator[Log]:
        """The logs in a file that is known by this."""
        unseen = (_UNSEEN.format(title=self.title),) if self.proved == DOCUMENTED else ()
        for log in self.parts(raw):
            yield replace(
                log,
                source=raw.source,
                harness=self.title,
                why=why,
                sha256=raw.sha256,
                notices=(*unseen, *log.notices),
            )


DOCUMENTED = "by its documentation; no file was seen"
_UNSEEN = (
    "{title}: read as its documentation says, by a program that has seen no file of it. Compare the means with "
    "those that it shows."
)


def object_in(value: object) -> dict[str, Any]:
    """An object, or the object that a cell holds as JSON; {} for anything else."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = parse_json(value, place="", any_number=True)
        except InputError:
            return {}
    return value if isinstance(value, dict) else {}
