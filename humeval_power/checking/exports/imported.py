"""Exports brought into one table of ratings, with what is known of the people who gave them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from collections.abc import Mapping as MappingType
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from humeval_power.checking.cells import (
    COMMA_REMEDY,
    COMMA_RULE,
    LISTED,
    Cells,
    Codes,
    Location,
    Mask,
    cell_problems,
    read_cells,
    read_numbers,
    value_counts,
)
from humeval_power.checking.columns import listing, shortened
from humeval_power.checking.exports.assigned import AssignmentTable, Key
from humeval_power.checking.exports.decoding import DecodedTable, decode
from humeval_power.checking.exports.mapping import (
    EXTRAS,
    FIELDS,
    RATING,
    SLOT,
    TOLD,
    VALUE,
    ErrorWeights,
    Export,
    Mapping,
    RatingColumns,
    literal,
    summed_errors,
)
from humeval_power.checking.exports.rating_blocks import (
    LONGER,
    NEEDED,
    OF_CODE,
    OF_COLUMN,
    RatingBlock,
    column_problems,
    criteria_in_words,
    is_free_text,
    of_column,
    rating_blocks,
    split_columns,
    without_criteria,
)
from humeval_power.checking.rows import KIND, ROW_INDEX, ExportFlow, FlowStep
from humeval_power.errors import InputError, Problem, refusal, refuse

# Answers as numbers: words by the mapping, blank and missing ones left out and counted.

COLUMN = "column of the rating"  # its place among the columns of ratings


def is_check(table: pd.DataFrame) -> Mask:
    """The rows that the export itself calls attention checks."""
    if "kind" not in table:
        return np.zeros(len(table), dtype=np.bool_)
    return read_cells(table["kind"]).each("check".__eq__, np.bool_)


def rated(
    table: pd.DataFrame, mapping: Mapping, *, columns: Sequence[str], source: str
) -> tuple[pd.DataFrame, list[FlowStep], list[Problem]]:
    """Ratings as numbers: words by the mapping, blank and missing answers left out and counted."""
    cells = read_cells(table["rating"])
    words = {text.strip().casefold(): number for text, number in mapping.words.items()}
    plain = [text.strip() for text in cells.texts]
    given = ((text, words.get(text.casefold())) for text in plain)
    meant = Cells(cells.code, tuple(text if n is None else f"{n:.12g}" for text, n in given))
    numbers = read_numbers(meant, missing=("", *mapping.missing))
    blank = cells.blank
    scored = is_check(table) & blank  # an attention check whose answer the platform has scored itself
    blank &= ~scored
    missing = numbers.missing & ~blank & ~scored
    unknown = ~numbers.missing & np.isnan(numbers.value)
    problems = _unknown_words(
        table, unknown, cells, commas=numbers.decimal_comma, columns=columns, source=source
    )
    flow = [FlowStep("read", len(table), "cells for a rating")]
    if blank.any():
        flow.append(FlowStep("dropped", int(blank.sum()), "cell is blank"))
    if missing.any():
        flow.append(FlowStep("dropped", int(missing.sum()), f"no rating ({value_counts(missing, cells)})"))
    left = ~numbers.missing | scored
    flow.append(FlowStep("analysed", int(left.sum()), "ratings"))
    texts = np.array(meant.texts, dtype=object)[meant.code]
    return table.assign(rating=texts)[left], flow, problems


def _unknown_words(
    table: pd.DataFrame, unknown: Mask, cells: Cells, *, commas: Mask, columns: Sequence[str], source: str
) -> list[Problem]:
    """Answers that are no numbers and of which the mapping says nothing, each where it comes first."""
    rows = np.flatnonzero(unknown)
    if not len(rows):
        return []
    values, first, counts = np.unique(cells.code[rows], return_index=True, return_counts=True)
    said = ", ".join(f"{cells.texts[value]!r}" for value in values[np.argsort(-counts)])
    problems = []
    for place in np.argsort(first)[:LISTED]:
        row = int(rows[first[place]])
        times = f" It stands in {int(counts[place]):,} cells." if counts[place] > 1 else ""
        rule, remedy = "is no number.", "Say which number it is (words), or that it is no rating (missing)."
        if commas[row]:
            value = cells.texts[values[place]]
            in_mapping = f'Or say so in the mapping: [words] "{value}" = {value.replace(",", ".")}.'
            rule, remedy = COMMA_RULE, f"{COMMA_REMEDY} {in_mapping}"
        problems.append(
            Problem(
                f"{rule}{times}",
                remedy,
                place=source,
                row=int(table.index[row]),
                column=columns[int(table[COLUMN].iloc[row])],
                value=cells.texts[values[place]],
                has_value=True,
                lacks="points",
            )
        )
    if len(values) > LISTED:
        rule = f"{len(values):,} different answers are no numbers: {shortened(said, width=400)}."
        problems.append(
            Problem(rule, "Say for each which number it is, or that it is no rating.", place=source)
        )
    return problems


# From an export as a platform writes it to a long table: one rating a row, and the flow of what left.


@dataclass(frozen=True, slots=True, eq=False)
class LongTable:
    """Ratings one a row with the columns worker, item and system (or code), criterion (where there is one), rating
    and what was kept; the index is the row of the export. `flow` says what left, first in rows of the export, then
    in ratings. `used` are the columns that were read."""

    frame: pd.DataFrame
    flow: tuple[FlowStep, ...]
    used: tuple[str, ...]


def long_table(
    frame: pd.DataFrame, mapping: Mapping, *, source: str, values: MappingType[str, str] | None = None
) -> LongTable:
    """Bring an export into the shape of one rating a row.

    frame : cells as text, numbered by an index named 'row' as the file counts its rows.
    asked : the question that stands over a column beside its name.
    Raises InputError: columns that are missing, answers in words that have no number, texts that do not come apart:
    every problem at once.
    """
    before: tuple[FlowStep, ...] = ()
    if mapping.errors is not None:
        frame, mapping, before = _of_errors(frame, mapping, mapping.errors, source=source)
    blocks = list(rating_blocks(frame, mapping, values or {}))
    problems = column_problems(frame, mapping, blocks, source=source)
    refuse(problems)
    kept, flow = kept_rows(
        frame, mapping, what="outputs by their errors" if before else "rows of the export"
    )
    flow = (*before, *flow)
    rows = frame.loc[kept]  # once: a survey may have thousands of columns
    parts = [_block(rows, mapping, block, code=code) for code, block in enumerate(blocks)]
    table = pd.concat(parts) if len(parts) > 1 else parts[0]
    table = table.iloc[np.argsort(table.index.to_numpy(), kind="stable")]  # by row, then by column
    table, problems = _taken_apart(table, mapping, source=source)
    problems += _absent_parts(table, source=source)
    refuse(problems)
    columns = [block.column for block in blocks]
    table, more, problems = rated(table, mapping, columns=columns, source=source)
    problems += _blank_parts(table, source=source)
    n_rated = len(table)
    table, wrong = _with_checks(table, rows, mapping, source=source)
    if problems or wrong:
        raise InputError([*problems, *wrong])
    if not len(frame):
        rule = "has the names of its columns, and no row below them."
        raise refusal(rule, "Is this the right file?", place=source)
    if not n_rated:
        lost = "; ".join(
            f"{step.rows:,}: {step.reason}" for step in (*flow, *more) if step.step == "dropped"
        )
        remedy = "Look at the filters and the columns of the mapping."
        raise refusal(f"no rating is left. What left it: {lost}.", remedy, place=source)
    used = dict.fromkeys(name for block in blocks for name in (block.column, *block.columns.values()))
    return LongTable(_ordered(table), (*flow, *more), tuple(used))


def _of_errors(
    frame: pd.DataFrame, mapping: Mapping, errors: ErrorWeights, *, source: str
) -> tuple[pd.DataFrame, Mapping, tuple[FlowStep, ...]]:
    """Rows that are errors as rows that are outputs, with the mapping of these, and the flow of the former."""
    one_rating = replace(mapping, errors=None, where=(), ratings=(RatingColumns(literal(RATING)),))
    rated = frame.assign(**{RATING: ""})
    blocks = list(rating_blocks(rated, one_rating, {}))
    problems = column_problems(rated, replace(one_rating, where=mapping.where), blocks, source=source)
    refuse(problems)
    kept, flow = kept_rows(frame, mapping, what="errors, and outputs without any")
    of = tuple(template.filled({}) for part, template in mapping.columns.items() if part not in EXTRAS)
    outputs = summed_errors(frame.loc[kept], errors, of=of, source=source)
    return outputs, one_rating, flow


def kept_rows(frame: pd.DataFrame, mapping: Mapping, *, what: str) -> tuple[Mask, tuple[FlowStep, ...]]:
    """The rows that the conditions leave, and the flow of rows."""
    kept = np.ones(len(frame), dtype=np.bool_)
    flow = [FlowStep("read", len(frame), what)]
    for one in mapping.where:
        cells = read_cells(frame[one.column])
        meant = {text.casefold() for text in one.values}
        among = cells.each(lambda text: text.casefold() in meant, np.bool_)  # noqa: B023
        gone = kept & (among if one.drop else ~among)
        if gone.any():
            flow.append(
                FlowStep("dropped", int(gone.sum()), f"{one.column} is {value_counts(gone, cells)}")
            )
        kept &= ~gone
    return kept, tuple(flow)


def _block(rows: pd.DataFrame, mapping: Mapping, block: RatingBlock, *, code: int) -> pd.DataFrame:
    made: dict[str, object] = {part: rows[name] for part, name in block.columns.items() if name in rows}
    names = (*FIELDS, *(part for part in TOLD if part != SLOT))
    made |= {part: text for part, text in block.parts.items() if part in names}
    texts = [part for part in OF_COLUMN if part in mapping.split and part in block.parts]
    made |= {of_column(part): block.parts[part] for part in texts}
    cells = rows[block.column]
    if VALUE in block.parts:  # a mark in the column of a rating
        cells = cells.where(cells.fillna("").astype(str).str.strip() == "", block.parts[VALUE])
    made["rating"] = cells
    made |= {name: rows[name] for name in (*mapping.keep, *split_columns(mapping)) if name not in made}
    table = pd.DataFrame({**made, COLUMN: code}, index=rows.index)
    table.index.name = ROW_INDEX
    return table


def _with_checks(
    table: pd.DataFrame, rows: pd.DataFrame, mapping: Mapping, *, source: str
) -> tuple[pd.DataFrame, list[Problem]]:
    """The ratings, and below those of each row of the export the questions with one right answer, as rows of the
    kind 'check'; one that was not answered is none."""
    if not mapping.checks:
        return table, []
    worker = mapping.columns.get("worker")
    if worker is None or worker.parts:
        rule = "questions with one right answer need a column of the worker who gave it."
        return table, [Problem(rule, "Name it in [columns], or leave out [checks].", place=source)]
    wanted = []
    for name, right in mapping.checks.items():
        answers = rows[name].fillna("").astype(str).str.strip()
        answered = (answers != "").to_numpy()
        passed = answers.str.casefold() == right.strip().casefold()
        made = {"worker": rows[worker.filled({})], KIND: "check", "code": name}
        said = pd.DataFrame({**made, "passed": passed.astype(int).astype(str)}, index=rows.index)
        wanted.append(said[answered])
    rated = table if KIND in table else table.assign(**{KIND: "rating"})
    both = pd.concat([rated.astype(object), *wanted]).astype(object).fillna("").astype(str)
    both.index.name = ROW_INDEX
    return both.iloc[np.argsort(both.index.to_numpy(), kind="stable")], []


def _taken_apart(
    table: pd.DataFrame, mapping: Mapping, *, source: str
) -> tuple[pd.DataFrame, list[Problem]]:
    """The parts that stand together in one text."""
    problems: list[Problem] = []
    texts_of = {name: of_column(name) if name in OF_COLUMN else name for name in mapping.split}
    for said, template in mapping.split.items():
        name = texts_of[said]
        if name not in table:
            rule = f"{said} is to be taken apart, and nothing says where it stands."
            problems.append(Problem(rule, "Name its column.", place=source))
            continue
        cells = read_cells(table[name])
        match = [template.match(text.strip()) for text in cells.texts]
        failed = np.array([one is None for one in match])[cells.code] & ~cells.blank
        at = Location(source, said, table.index.to_numpy(dtype=np.int64))
        remedy = "Change the template, or leave these rows out."
        problems += cell_problems(
            failed, cells, at=at, rule=f"is not of the shape {template.text!r}.", remedy=remedy
        )
        unclear = cells.each(template.is_ambiguous)
        rule = f"comes apart by {template.text!r} in more than one way."
        problems += cell_problems(unclear, cells, at=at, rule=rule, remedy=LONGER)
        for part in template.parts:
            texts = np.array([None if one is None else one[part] for one in match], dtype=object)
            table = table.assign(**{part: texts[cells.code]})
    done = [name for said, name in texts_of.items() if said not in (*FIELDS, *mapping.keep)]
    return table.drop(columns=[name for name in done if name in table]), problems


def _absent_parts(table: pd.DataFrame, *, source: str) -> list[Problem]:
    absent = [part for part in _needed(table) if part not in table]
    if not absent:
        return []
    rule = f"nothing says what the {' and the '.join(absent)} of a rating is."
    remedy = (
        "Name a column, a part of the names of the columns of ratings in braces, a text to take apart, or "
        "say it for each slot; or name the code that outputs were shown by."
    )
    return [Problem(rule, remedy, place=source, lacks="column", parts=tuple(absent))]


def _needed(table: pd.DataFrame) -> tuple[str, ...]:
    return OF_CODE if "code" in table else NEEDED


def _blank_parts(table: pd.DataFrame, *, source: str) -> list[Problem]:
    """Ratings of which the cell of the worker, the item, the system or the code is blank."""
    problems = []
    for part in _needed(table):
        blank = read_cells(table[part]).blank
        if part != "worker":
            blank &= ~is_check(table)
        if blank.any():
            rule = f"no {part} in {int(blank.sum()):,} of the ratings: its cell is blank."
            remedy = "Leave these rows out (drop_rows), or take another column."
            row = int(table.index[int(np.argmax(blank))])
            problems.append(Problem(rule, remedy, place=source, row=row, lacks="cell", parts=(part,)))
    return problems


def _ordered(table: pd.DataFrame) -> pd.DataFrame:
    """The columns in one order: what a rating is first, then what was kept."""
    table = table.drop(columns=COLUMN)
    first = [name for name in (*FIELDS, "rating", *EXTRAS) if name in table]
    return table[[*first, *(name for name in table if name not in first)]]


@dataclass(frozen=True, slots=True, eq=False)
class ImportedTable:
    """Ratings of one or more exports, one a row. `of` has for each export what it gave; where there are several,
    the column source says which row is whose. `mapping` is the person's, None where the formats said all.
    `people` are the tables of participants that were joined, and `notices` what did not fit in joining them.
    `decoded` says how the answers fit the assignment, where one was given; `n_withdrawn` how many workers took
    their consent back: nothing of them is in the table."""

    frame: pd.DataFrame
    of: tuple[tuple[Export, LongTable], ...]
    mapping: Mapping | None = None
    people: tuple[Export, ...] = ()
    notices: tuple[str, ...] = ()
    decoded: DecodedTable | None = None
    n_withdrawn: int = 0

    @property
    def flows(self) -> tuple[ExportFlow, ...]:
        """What left each export at which step, and why."""
        return tuple(
            ExportFlow(export.source, export.platform, export.why, (*export.flow, *table.flow))
            for export, table in self.of
        )

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the exports."""
        return tuple(export.source for export, _ in self.of)

    @property
    def part(self) -> Codes:
        """Which export each row stands in, where none has left: (n_rows,)."""
        return np.repeat(np.arange(len(self.of)), [len(one.frame) for _, one in self.of])

    @property
    def is_coded(self) -> bool:
        """Whether outputs are named by codes, and nothing says which item and system each is."""
        return "code" in self.frame and "system" not in self.frame


def imported(
    exports: Sequence[Export],
    mapping: Mapping | None = None,
    *,
    assigned: AssignmentTable | None = None,
    key: Key | None = None,
    drop_misfits: bool = False,
    withdrawn: Collection[str] = (),
) -> ImportedTable:
    """All ratings of the exports, in their order; tables of participants are joined by the worker.

    mapping : where the ratings stand; None takes what each format says by itself.
    assigned, key : who was to see what when, and what the codes stand for: they decode the answers.
    drop_misfits : leave out and count answers that the assignment does not have, which are refused otherwise.
    withdrawn : the workers who took their consent back; all that they gave leaves.
    Raises InputError: no export with ratings, one that says too little by itself, a person who stands twice in a
    table of participants, or what `long_table` or `decode` refuses; of all exports at once.
    """
    people = tuple(one for one in exports if one.people)
    rated = [one for one in exports if not one.people]
    if not rated:
        raise InputError("There is no export with ratings to import.")
    pairs: list[tuple[Export, LongTable]] = []
    problems: list[Problem] = [problem for one in people for problem in _twice(one)]
    for export in rated:
        try:
            used, omitted = (mapping, ()) if mapping else _own_mapping(export)
            table = long_table(export.frame, used, source=export.source, values=export.questions)
            pairs.append((replace(export, notices=(*export.notices, *omitted)), table))
        except InputError as error:
            problems += error.problems if mapping else [_too_little(export), *error.problems]
    refuse(problems)
    tables = [one.frame for _, one in pairs]
    if len(pairs) > 1:
        tables = [one.frame.assign(source=export.source) for export, one in pairs]
    frame, notices = pd.concat(tables), []
    weighed = [
        used.errors for used in (mapping or export.mapping for export in rated) if used and used.errors
    ]
    notices += [errors.words() for errors in weighed[:1]]
    for one in people:
        frame, said = _joined(frame, one)
        notices += said
    whole = ImportedTable(frame, tuple(pairs), mapping, people, tuple(notices))
    left, part = _without(whole, withdrawn)
    if assigned is None and key is None:
        return left
    return _decoded(left, part, assigned, key, drop_misfits=drop_misfits)


def _without(table: ImportedTable, withdrawn: Collection[str]) -> tuple[ImportedTable, Codes]:
    """The table without what some workers gave, and which export each row that is left stands in."""
    part = table.part
    if not withdrawn:
        return table, part
    names = table.frame["worker"].astype(str).str.strip()
    gone = names.isin(withdrawn).to_numpy()
    absent = len(set(withdrawn) - set(names.unique()))
    notices = table.notices
    if absent:
        notices += (
            f"WARNING: of {len(withdrawn):,} who withdrew {absent:,} gave nothing in these exports.",
        )
    if not gone.any():
        return replace(table, notices=notices), part
    if gone.all():
        raise InputError("All workers of these exports withdrew: no rating is left.")
    step = "ratings of participants who withdrew"
    counts = np.bincount(part[gone], minlength=len(table.of))
    of = tuple(
        (export, _with_steps(one, (FlowStep("dropped", int(count), step),) if count else ()))
        for (export, one), count in zip(table.of, counts, strict=True)
    )
    n_withdrawn = int(names[gone].nunique())
    left = replace(table, frame=table.frame[~gone], of=of, notices=notices, n_withdrawn=n_withdrawn)
    return left, part[~gone]


def _decoded(
    table: ImportedTable,
    part: Codes,
    assigned: AssignmentTable | None,
    key: Key | None,
    *,
    drop_misfits: bool,
) -> ImportedTable:
    """The table with items and systems in the place of codes.
    Raises InputError: a table without codes, or what `decode` refuses."""
    result = decode(
        table.frame, part=part, sources=table.sources, assigned=assigned, key=key, drop_misfits=drop_misfits
    )
    of = tuple(
        (export, _with_steps(one, flow)) for (export, one), flow in zip(table.of, result.flow, strict=True)
    )
    return replace(
        table, frame=result.frame, of=of, notices=(*table.notices, *result.notices), decoded=result
    )


def _with_steps(table: LongTable, steps: tuple[FlowStep, ...]) -> LongTable:
    return replace(table, flow=(*table.flow, *steps))


def _own_mapping(export: Export) -> tuple[Mapping, tuple[str, ...]]:
    """What the format says by itself, without criteria that are in words where others are numbers; what to say."""
    if export.mapping is None:
        raise refusal("nothing says which columns hold ratings.", place=export.source)
    left = criteria_in_words(export.frame, export.mapping)
    said = tuple(
        f"WARNING: {name!r} is left out: its answers are text."
        if is_free_text(name, answers)
        else f"WARNING: the criterion {name!r} is left out: its answers are words "
        f"({listing(list(answers), limit=5)}; {answers.total():,} in all). "
        "To read it, say the number of each under [words] of a mapping: "
        f"{export.draft}."
        for name, answers in left.items()
    )
    return without_criteria(export.mapping, left), said


def _too_little(export: Export) -> Problem:
    rule = f"is read as {export.platform} ({export.why}), which does not say all by itself."
    remedy = f"Write a mapping, edit it, and import with it (--map mapping.toml): {export.draft}."
    return Problem(rule, remedy, place=export.source)


def _twice(people: Export) -> list[Problem]:
    """People who stand in a table of participants more than once, with other things said of them."""
    known = people.frame.drop_duplicates()
    again = known[known["worker"].duplicated()]
    return [
        Problem(
            "stands in another row too, with something else.",
            "Keep the row that counts.",
            place=people.source,
            row=int(row),
            column=str(people.person),
            value=str(name),
            has_value=True,
        )
        for row, name in zip(again.index.to_numpy(), again["worker"].head(5), strict=False)
    ]


def _joined(frame: pd.DataFrame, people: Export) -> tuple[pd.DataFrame, list[str]]:
    """The ratings with what the table of participants says of their worker."""
    known = people.frame.drop_duplicates().set_index("worker")
    workers = frame["worker"].astype(str)
    unknown = sorted(set(workers) - set(map(str, known.index)))
    without = len(set(map(str, known.index)) - set(workers))
    added = {name: workers.map(known[name]).fillna("") for name in known.columns if name not in frame}
    notices = []
    if unknown:
        notices.append(
            f"WARNING: {len(unknown):,} of {workers.nunique():,} workers are not in {people.source}."
            f" {listing([f'{name!r}' for name in unknown], limit=3)}"
        )
    if without:
        notices.append(f"{without:,} participants of {people.source} gave no ratings.")
    return frame.assign(**added), notices
