"""Exports brought into one table of ratings, with what is known of the people who gave them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from humeval_power.checking.cells import Codes
from humeval_power.checking.columns import listing
from humeval_power.checking.exports.assigned import Assigned, Key
from humeval_power.checking.exports.decoding import Decoded, decode
from humeval_power.checking.exports.export import Export
from humeval_power.checking.exports.mapping import Mapping
from humeval_power.checking.exports.rating_blocks import criteria_in_words, is_free_text, without_criteria
from humeval_power.checking.exports.reshape import LongTable, long_table
from humeval_power.checking.rows import ExportFlow, FlowStep
from humeval_power.errors import InputError, Problem


@dataclass(frozen=True, slots=True, eq=False)
class Imported:
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
    decoded: Decoded | None = None
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
    assigned: Assigned | None = None,
    key: Key | None = None,
    drop_misfits: bool = False,
    withdrawn: Collection[str] = (),
) -> Imported:
    """All ratings of the exports, in their order; tables of participants are joined by the worker.

    mapping : where the ratings stand; None takes what each format says by itself.
    assigned, key : who was to see what when, and what the codes stand for: they decode the answers.
    drop_misfits : leave out and count answers that the assignment does not have, which are refused otherwise.
    withdrawn : the workers who took their consent back; all that they gave leaves.

    Raises
    ------
    InputError
        No export with ratings, one that says too little by itself, a person who stands twice in a table of
        participants, or what `long_table` or `decode` refuses; of all exports at once.
    """
    people = tuple(one for one in exports if one.people)
    rated = [one for one in exports if not one.people]
    if not rated:
        raise InputError("There is no export with ratings to import.")
    found: list[tuple[Export, LongTable]] = []
    problems: list[Problem] = [problem for one in people for problem in _twice(one)]
    for export in rated:
        try:
            used, omitted = (mapping, ()) if mapping else _own_mapping(export)
            table = long_table(export.frame, used, source=export.source, asked=export.asked)
            found.append((replace(export, notices=(*export.notices, *omitted)), table))
        except InputError as error:
            problems += error.problems if mapping else [_too_little(export), *error.problems]
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
    whole = Imported(frame, tuple(found), mapping, people, tuple(notices))
    left, part = _without(whole, withdrawn)
    if assigned is None and key is None:
        return left
    return _decoded(left, part, assigned, key, drop_misfits=drop_misfits)


def _without(table: Imported, withdrawn: Collection[str]) -> tuple[Imported, Codes]:
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
    table: Imported, part: Codes, assigned: Assigned | None, key: Key | None, *, drop_misfits: bool
) -> Imported:
    """The table with items and systems in the place of codes.

    Raises
    ------
    InputError
        A table without codes, or what `decode` refuses.
    """
    found = decode(
        table.frame, part=part, sources=table.sources, assigned=assigned, key=key, drop_misfits=drop_misfits
    )
    of = tuple(
        (export, _with_steps(one, flow)) for (export, one), flow in zip(table.of, found.flow, strict=True)
    )
    return replace(table, frame=found.frame, of=of, notices=(*table.notices, *found.notices), decoded=found)


def _with_steps(table: LongTable, steps: tuple[FlowStep, ...]) -> LongTable:
    return replace(table, flow=(*table.flow, *steps))


def _own_mapping(export: Export) -> tuple[Mapping, tuple[str, ...]]:
    """What the format says by itself, without criteria that are in words where others are numbers; what to say."""
    if export.mapping is None:
        raise InputError([Problem("nothing says which columns hold ratings.", "", place=export.source)])
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
