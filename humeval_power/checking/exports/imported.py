"""Exports brought into one table of ratings, with what is known of the people who gave them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from humeval_power.checking.columns import listing
from humeval_power.checking.exports.export import Export
from humeval_power.checking.exports.mapping import Mapping
from humeval_power.checking.exports.reshape import LongTable, long_table
from humeval_power.checking.rows import ExportFlow
from humeval_power.errors import InputError, Problem


@dataclass(frozen=True, slots=True, eq=False)
class Imported:
    """Ratings of one or more exports, one a row. `of` has for each export what it gave; where there are several,
    the column source says which row is whose. `mapping` is the person's, None where the formats said all.
    `people` are the tables of participants that were joined, and `notices` what did not fit in joining them."""

    frame: pd.DataFrame
    of: tuple[tuple[Export, LongTable], ...]
    mapping: Mapping | None = None
    people: tuple[Export, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def flows(self) -> tuple[ExportFlow, ...]:
        """What left each export at which step, and why."""
        return tuple(
            ExportFlow(export.source, export.platform, export.why, (*export.flow, *table.flow))
            for export, table in self.of
        )

    @property
    def is_coded(self) -> bool:
        """Whether outputs are named by codes, and nothing says which item and system each is."""
        return "code" in self.frame and "system" not in self.frame


def imported(exports: Sequence[Export], mapping: Mapping | None = None) -> Imported:
    """All ratings of the exports, in their order; tables of participants are joined by the worker.

    mapping : where the ratings stand; None takes what each format says by itself.

    Raises
    ------
    InputError
        No export with ratings, one that says too little by itself, a person who stands twice in a table of
        participants, or what `long_table` refuses; of all exports at once.
    """
    people = tuple(one for one in exports if one.people)
    rated = [one for one in exports if not one.people]
    if not rated:
        raise InputError("There is no export with ratings to import.")
    found: list[tuple[Export, LongTable]] = []
    problems: list[Problem] = [problem for one in people for problem in _twice(one)]
    for export in rated:
        try:
            used = _mapping_of(export, mapping)
            found.append((export, long_table(export.frame, used, source=export.source, asked=export.asked)))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    tables = [one.frame for _, one in found]
    if len(found) > 1:
        tables = [one.frame.assign(source=export.source) for export, one in found]
    frame, notices = pd.concat(tables), []
    weighed = [
        used.errors for used in (mapping or export.mapping for export in rated) if used and used.errors
    ]
    notices += [errors.words() for errors in weighed[:1]]
    for one in people:
        frame, said = _joined(frame, one)
        notices += said
    return Imported(frame, tuple(found), mapping, people, tuple(notices))


def _mapping_of(export: Export, mapping: Mapping | None) -> Mapping:
    used = mapping or export.mapping
    if used is None:
        rule = f"an export of {export.platform} does not say by itself where its ratings stand."
        raise InputError([Problem(rule, "Write a draft of a mapping, and edit it.", place=export.source)])
    return used


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
