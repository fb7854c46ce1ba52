"""Ratings: a checked long table with integer codes, and the flow of rows that led to it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.cells import (
    COMMA_REMEDY,
    COMMA_RULE,
    Cells,
    Ids,
    Location,
    Mask,
    blank_id_problems,
    cell_problems,
    codes_in,
    read_cells,
    read_ids,
    renumbered,
    variant_problems,
)
from humeval_power.checking.cells import MISSING_CODES as MISSING_CODES
from humeval_power.checking.columns import Role, absent_names, bare, close_to, listing, shortened
from humeval_power.checking.origin import (
    INFERRED_SCALE,
    Layout,
    Origin,
    infer_scale,
    origin_of,
    scale_notices,
)
from humeval_power.checking.rehearsed import NOTICE, is_rehearsed
from humeval_power.checking.rows import (
    KIND,
    KINDS,
    ExportFlow,
    FlowStep,
    Rejected,
    Rows,
    Selection,
    kept_notice,
    read_rows,
    select_rows,
    undecided,
)
from humeval_power.checking.structure import (
    Covariate,
    Structure,
    StructureNames,
    assumed_in_reading,
    coding_problems,
    name_problems,
    read_structure,
    role_problems,
    structure_notices,
    systems_apart,
)
from humeval_power.checking.suspects import DOCUMENT_NAMES
from humeval_power.checking.wide import find_table_roles
from humeval_power.designs import Design, from_table
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.safe_text import shell_word
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    import pandas as pd


Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Ratings of one criterion, ready for analysis; one entry for each rating.

    `worker`, `item`, `system` are codes, shape (n_ratings,), into the tuples of names. `rating`,
    shape (n_ratings,), lies on [0, 1], 1 being best. With two systems code 0 is A and code 1 is B, and
    the effect is B - A. The rows of `flow` add up; `notices` say what was assumed and what is unusual.
    `source` names the file.

    `document` (n_ratings,) are codes into `document_names`, None where no column of documents was named;
    `covariates` are what else the model takes into account, in the order named, the order of showing last.
    `origin` says where the ratings stand in their table; None for ratings that were not read. `exports` say what
    left a platform's export before it was such a table.
    """

    worker: Codes
    item: Codes
    system: Codes
    rating: NDArray[np.float64]
    worker_names: tuple[str, ...]
    item_names: tuple[str, ...]
    system_names: tuple[str, ...]
    scale: RatingScale
    criterion: str | None = None
    flow: tuple[FlowStep, ...] = ()
    notices: tuple[str, ...] = ()
    source: str = "table"
    document: Codes | None = None
    document_names: tuple[str, ...] = ()
    covariates: tuple[Covariate, ...] = ()
    origin: Origin | None = None
    exports: tuple[ExportFlow, ...] = ()

    def __repr__(self) -> str:
        criterion = "" if self.criterion is None else f" of {self.criterion!r}"
        return (
            f"{self.n_ratings:,} ratings{criterion} from {self.source}: {listing(self.system_names, limit=8)} "
            f"rated by {self.n_workers:,} workers on {self.n_items:,} items, {self.scale}."
        )

    @property
    def n_ratings(self) -> int:
        """Number of ratings."""
        return len(self.rating)

    @property
    def n_workers(self) -> int:
        """Number of workers."""
        return len(self.worker_names)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.item_names)

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return len(self.system_names)

    @property
    def n_documents(self) -> int:
        """Number of documents; 0 where no column of them was named."""
        return len(self.document_names)

    @property
    def covariate_columns(self) -> NDArray[np.float64]:
        """The columns of all covariates in the model, shape (n_ratings, k)."""
        return np.column_stack([np.empty((self.n_ratings, 0)), *(one.values for one in self.covariates)])

    @property
    def raw_rating(self) -> NDArray[np.float64]:
        """The ratings on the scale they were given on, shape (n_ratings,)."""
        return self.scale.from_unit(self.rating)

    def pair(self, first: str, second: str) -> Ratings:
        """The ratings of two systems: `first` becomes A (code 0) and `second` B (code 1)."""
        problems = pair_problems((first, second), self.system_names, source=self.source)
        refuse(problems)
        if (first, second) == self.system_names:
            return self
        codes = [self.system_names.index(name) for name in (first, second)]
        kept = np.isin(self.system, codes)
        dropped = FlowStep("dropped", int((~kept).sum()), f"system is neither {first!r} nor {second!r}")
        flow = self.flow[:-1] + ((dropped,) if dropped.rows else ())
        chosen = _subset(self, kept, system=np.where(self.system == codes[1], 1, 0))
        if wrong := coding_problems(chosen.covariates, chosen.system, source=self.source):
            raise InputError(wrong)
        of_these = set(_structure(self))
        chosen = replace(
            chosen,
            system_names=(first, second),
            flow=(*flow, FlowStep("analysed", int(kept.sum()))),
            notices=tuple(notice for notice in self.notices if notice not in of_these),
        )
        return replace(chosen, notices=(*chosen.notices, *_structure(chosen)))

    def of_rows(self, kept: Mask) -> Ratings:
        """Some of the ratings (n_ratings,), with codes for the workers, items and documents that occur in them;
        systems keep theirs."""
        return _subset(self, kept, system=self.system)

    def design(self) -> Design:
        """Who rated what under which of the two systems."""
        if self.n_systems != 2:
            raise InputError(
                f"A design compares two systems; there are {self.n_systems}: choose them with pair()."
            )
        return from_table(self.worker, self.item, self.system, document=self.document)


def ratings_from_table(
    table: pd.DataFrame,
    *,
    worker: str | None = None,
    item: str | None = None,
    system: str | None = None,
    rating: str | None = None,
    criterion_column: str | None = None,
    criterion: str | None = None,
    systems: tuple[str, str] | None = None,
    scale: RatingScale | str | Sequence[float] | None = None,
    lower_is_better: bool = False,
    missing: Collection[str] = MISSING_CODES,
    rejected_rows: Rejected | None = None,
    require_pair: bool = True,
    compares_systems: bool = True,
    document: str | None = None,
    covariates: Sequence[str] = (),
    order_column: str | None = None,
    source: str = "table",
    notices: tuple[str, ...] = (),
    layout: Layout | None = None,
    exports: tuple[ExportFlow, ...] = (),
) -> Ratings:
    """Check a long table, one rating per row, and return its ratings.

    Parameters
    ----------
    table : one row for each rating. Rows are counted as a spreadsheet does (the header is row 1), or
        by the index if that is named 'row'.
    worker, item, system, rating, criterion_column : the columns; None finds them by name.
    criterion : which criterion to keep where the table has several.
    systems : the pair (A, B) to compare; the effect is B - A.
    scale : the scale the ratings were given on: a record, text such as "1:5", or the bounds (1, 5); None takes it
        from the data.
    lower_is_better : the direction of the scale, where higher ratings are worse.
    missing : the cells that mean 'no rating'. Their rows are dropped and counted.
    rejected_rows : what to do with rows that a column of states, such as AssignmentStatus, marks as rejected,
        returned or unfinished: 'drop' leaves them out and counts them in the flow, 'keep' analyses them and
        says so; None refuses a table that has any.
    require_pair : whether more than two systems without `systems` are an error.
    compares_systems : whether systems are to be compared; else any number of them will do, and a single worker or
        item, or ratings that are all the same, are no error.
    document, covariates, order_column : columns that the model takes into account: the document that an item
        is part of; numbers or categories such as position, length or group of workers; and which output
        was shown first, as the place (1 or 2; of K systems up to K) of the rated one or the system that was
        first. Each has a value for every rating that is analysed.
    source, notices, layout, exports : the name of the file, what was assumed in reading it, how the table lies in
        it, and what left the platform's export that it was made of.

    Raises
    ------
    InputError
        Every problem of the table at once, each with its row, value, rule and remedy.
    """
    table = table.set_axis([str(name).strip() for name in table.columns], axis=1)
    named: dict[Role, str | None] = {
        "worker": worker,
        "item": item,
        "system": system,
        "rating": rating,
        "criterion": criterion_column,
    }
    structure = StructureNames(document, tuple(covariates), order_column)
    columns, wide = find_table_roles(
        table, named=named, source=source, missing=missing, taken=structure.taken
    )
    misnamed = name_problems(structure, list(table.columns), source=source)
    of_role = {str(role): name for role, name in columns.of_role().items()}
    misnamed += role_problems(structure, of_role, source=source)
    refuse(misnamed)
    if table.empty:
        raise refusal("the table has a header but no rows.", "Add ratings.", place=source)
    require_pair = require_pair and compares_systems
    declared = None if scale is None else RatingScale.of(scale)
    if lower_is_better and declared is not None:
        declared = replace(declared, higher_is_better=False)
    rows = read_rows(table, columns, missing=missing, source=source)
    selection = select_rows(rows, criterion=criterion, systems=systems, rejected_rows=rejected_rows)
    if wide:
        undecided = system_problems(rows, systems, selection.kept, require_pair=require_pair)
        raise InputError([*wide, *undecided])
    apart = _systems_apart(table, rows, selection.of_criterion, document)
    problems = find_problems(
        rows,
        selection,
        apart=apart,
        criterion=criterion,
        systems=systems,
        scale=declared,
        require_pair=require_pair,
        rejected_rows=rejected_rows,
        compares_systems=compares_systems,
    )
    more, wrong = read_structure(
        table,
        structure,
        kept=selection.kept,
        system=rows.ids["system"],
        pair=systems,
        rows=rows.at["rating"].rows,
        missing=missing,
        source=source,
    )
    if problems or wrong:
        raise InputError([*problems, *wrong])
    # All systems of the criterion tell the scale, so that it is the same for every pair of them.
    given = rows.numbers.value[selection.of_criterion & np.isfinite(rows.numbers.value)]
    used = declared or infer_scale(given, higher_is_better=not lower_is_better)
    chosen = _chosen(rows, selection, used, systems=systems, structure=more)
    if wrong := coding_problems(chosen.covariates, chosen.system, source=source):
        raise InputError(wrong)
    said = [NOTICE] if is_rehearsed(chosen.worker_names) else []
    said += [] if apart is None else [f"WARNING: {apart}"]
    said += [*notices, *columns.notices, *_stripped(rows)]
    said += _direction(systems, chosen.system_names) if compares_systems else []
    said += kept_notice(rows.refused, selection.kept)
    said += scale_notices(used, given, lower_is_better_said=lower_is_better)
    said += _structure(chosen, compares_systems=compares_systems)
    said += assumed_in_reading(chosen.document, structure, chosen.item, chosen.covariates)
    origin = origin_of(rows, document=document, rejected_rows=rejected_rows, layout=layout)
    return replace(chosen, notices=tuple(said), source=source, origin=origin, exports=exports)


def criteria_notices(criteria: Sequence[Ratings]) -> list[tuple[str, ...]]:
    """What to know of each criterion; of scales that were taken from the ratings one sentence says all."""
    notices, scales = [each.notices for each in criteria], [each.scale for each in criteria]
    inferred = {one for each in notices for one in each if one.startswith(INFERRED_SCALE)}
    if len(inferred) < 2 or any(scale.source != "inferred" for scale in scales):
        return notices
    said = (
        "The scale of each criterion is taken from its ratings, and they differ. If all were rated on one "
        "scale, declare it with --scale LOW:HIGH (and --lower-is-better)."
    )
    if len(set(scales)) == 1:
        said = (
            f"The scale of each criterion is taken from its ratings: {scales[0]}. If it is another one, declare "
            "it with --scale LOW:HIGH or --lower-is-better."
        )
    return [(said, *(one for one in each if one not in inferred)) for each in notices]


def _systems_apart(table: pd.DataFrame, rows: Rows, counted: Mask, document: str | None) -> str | None:
    """What to ask where documents may be part of the names of systems, among all systems of the table."""
    ids = rows.ids
    counted = counted & (ids["system"].code >= 0) & (ids["item"].code >= 0)
    if not counted.any():
        return None
    taken = {place.column for place in rows.at.values()}
    names = [str(name) for name in table.columns if bare(str(name)) in DOCUMENT_NAMES]
    names = [
        name for name in dict.fromkeys([document or "", *names]) if name in table and name not in taken
    ]
    read = {
        name: read_ids(read_cells(table[name])) for name in names if list(table.columns).count(name) == 1
    }
    documents = {
        name: (one.code[counted], one.names) for name, one in read.items() if (one.code[counted] >= 0).all()
    }
    system, item = ids["system"], ids["item"]
    return systems_apart(system.code[counted], item.code[counted], system.names, documents)


def _chosen(
    rows: Rows,
    selection: Selection,
    scale: RatingScale,
    *,
    systems: tuple[str, str] | None,
    structure: Structure,
) -> Ratings:
    """The selected rows, with codes for the names that occur in them."""
    kept, ids = selection.kept, rows.ids
    everything = Ratings(
        ids["worker"].code,
        ids["item"].code,
        ids["system"].code,
        scale.to_unit(rows.numbers.value),
        ids["worker"].names,
        ids["item"].names,
        ids["system"].names,
        scale,
        criterion=_only_name(ids.get("criterion"), kept),
        flow=selection.flow,
        document=None if structure.document is None else structure.document.code,
        document_names=() if structure.document is None else structure.document.names,
        covariates=structure.covariates,
    )
    present = codes_in(ids["system"].code[kept])
    names = systems or tuple(ids["system"].names[code] for code in present)
    new_code = np.zeros(everything.n_systems, dtype=np.int64)
    new_code[[everything.system_names.index(name) for name in names]] = np.arange(len(names))
    return replace(_subset(everything, kept, system=new_code[ids["system"].code]), system_names=names)


def _subset(ratings: Ratings, kept: Mask, *, system: Codes) -> Ratings:
    """The kept rows with the given system codes, and only the workers, items and documents that occur in
    them; covariates are coded anew."""
    workers, worker = renumbered(ratings.worker[kept])
    items, item = renumbered(ratings.item[kept])
    return replace(
        ratings,
        worker=worker.astype(np.int64),
        item=item.astype(np.int64),
        system=system[kept].astype(np.int64),
        rating=ratings.rating[kept],
        worker_names=tuple(ratings.worker_names[code] for code in workers),
        item_names=tuple(ratings.item_names[code] for code in items),
        covariates=tuple(one.of_rows(kept, system) for one in ratings.covariates),
        **_documents(ratings, kept),
    )


def _documents(ratings: Ratings, kept: Mask) -> dict[str, Any]:
    """The fields of the documents that occur in the kept rows."""
    if ratings.document is None:
        return {}
    documents, document = renumbered(ratings.document[kept])
    names = tuple(ratings.document_names[code] for code in documents)
    return {"document": document.astype(np.int64), "document_names": names}


def _structure(ratings: Ratings, *, compares_systems: bool = True) -> list[str]:
    return structure_notices(
        ratings.worker,
        ratings.item,
        ratings.system,
        ratings.rating,
        worker_names=ratings.worker_names,
        n_items=ratings.n_items,
        n_systems=ratings.n_systems,
        compares_systems=compares_systems,
    )


def _stripped(rows: Rows) -> list[str]:
    return [
        f"Blanks around {ids.n_stripped:,} ids in column {rows.at[role].column!r} were removed."
        for role, ids in rows.ids.items()
        if ids.n_stripped
    ]


def _direction(systems: tuple[str, str] | None, names: tuple[str, ...]) -> list[str]:
    if systems is not None or len(names) != 2:
        return []
    a, b = names
    turned = shell_word(f"{b},{a}")
    return [f"The effect is {b} - {a}; --systems {turned} turns it round."]


def _only_name(ids: Ids | None, kept: Mask) -> str | None:
    if ids is None:
        return None
    codes = codes_in(ids.code[kept])
    return ids.names[codes[0]] if len(codes) == 1 and codes[0] >= 0 else None


# What is wrong with the rows of a table: every problem, with its place and its remedy.


def find_problems(
    rows: Rows,
    selection: Selection,
    *,
    criterion: str | None,
    systems: tuple[str, str] | None,
    scale: RatingScale | None,
    require_pair: bool,
    rejected_rows: Rejected | None = None,
    apart: str | None = None,
    compares_systems: bool = True,
) -> list[Problem]:
    """Every reason why these rows cannot be analysed, in the order in which a reader meets them.

    apart : what to ask where documents may be part of the names of systems, of which there are then too many.
    compares_systems : else a single worker or item, or ratings that are all the same, are no error.
    """
    problems = _criterion_problems(rows, criterion)
    if rejected_rows is None:
        problems += undecided(rows.refused, selection.chosen, source=rows.at["rating"].source)
    wrong = system_problems(rows, systems, selection.kept, require_pair=require_pair)
    if apart:
        wrong = [
            replace(one, remedy=f"{apart} Else {one.remedy[:1].lower()}{one.remedy[1:]}") for one in wrong
        ]
    problems += wrong
    if not selection.kept.any() and not problems:
        lost = "; ".join(f"{step.rows:,} dropped: {step.reason}" for step in selection.flow[1:-1])
        remedy = "Are the columns and the codes for missing ratings right?"
        problems.append(Problem(f"no rating is left ({lost}).", remedy, place=rows.at["rating"].source))
    problems += _kind_problems(rows, selection.kept)
    problems += _id_problems(rows, selection.kept)
    problems += _rating_problems(rows, selection.kept, scale)
    return problems + (_size_problems(rows, selection.kept) if compares_systems else [])


def _criterion_problems(rows: Rows, wanted: str | None) -> list[Problem]:
    source = rows.at["system"].source
    ids = rows.ids.get("criterion")
    known = ids.names if ids else ()
    if wanted is not None and wanted not in known:
        remedy = close_to(wanted, known) if known else "Name its column with --criterion-column COLUMN"
        return [Problem(f"there is no criterion {wanted!r}.", remedy, place=source)]
    if wanted is not None or ids is None or len(known) < 2:
        return []
    return [
        Problem(
            f"there are {len(known)} criteria: {_counted(ids, ids.code >= 0)}.",
            f"'analyze' takes them all: --criteria all; or choose one: --criterion {shell_word(known[0])}",
            place=source,
            column=rows.at["criterion"].column,
        )
    ]


def system_problems(
    rows: Rows, pair: tuple[str, str] | None, kept: Mask, *, require_pair: bool
) -> list[Problem]:
    """Whether the pair is there; without one, whether the table has just two systems, where it must."""
    if pair is None and not require_pair:
        return []
    ids, at = rows.ids["system"], rows.at["system"]
    present = [ids.names[code] for code in codes_in(ids.code[kept]) if code >= 0]
    if pair is not None:
        problems = pair_problems(pair, ids.names, source=at.source)
        return problems or [
            Problem(f"no rating of system {name!r} is left.", "Choose another pair.", place=at.source)
            for name in pair
            if present and name not in present
        ]
    if len(present) in (0, 2):
        return []
    if len(present) == 1:
        rule = f"two systems are compared, but there is only one: {_counted(ids, kept)}."
        remedy = "Is this the right column? --system COLUMN"
        return [Problem(rule, remedy, place=at.source, column=at.column)]
    example = shell_word(f"{present[0]},{present[1]}")
    return [
        Problem(
            f"there are {len(present)} systems: {_counted(ids, kept)}.",
            f"'analyze' compares them all: --all-pairs, or each with one of them: --baseline "
            f"{shell_word(present[0])} (with --model joint -o FILE.json it writes what 'power' and 'plan' take); "
            f"or choose two, A and B (the effect is B - A): --systems {example}",
            place=at.source,
            column=at.column,
        )
    ]


def pair_problems(pair: tuple[str, str], known: tuple[str, ...], *, source: str) -> list[Problem]:
    """Whether a pair names two different systems that are there."""
    if pair[0] == pair[1]:
        return [Problem(f"a system cannot be compared with itself: {pair[0]!r}.", "", place=source)]
    if len(known) == 2 and not set(pair) & set(known):
        rule = f"there are no systems {pair[0]!r} and {pair[1]!r}, but {known[0]!r} and {known[1]!r}."
        names = shell_word(",".join(known))
        remedy = f"If they are called so here, name them in that order: --systems {names}, or the other way round."
        return [Problem(rule, remedy, place=source)]
    problems = absent_names(pair, known, "system", place=source)
    if len(known) == 2 and len(problems) == 1 and problems[0].remedy.startswith("There are"):
        other = next(name for name in known if name not in pair)
        names = shell_word(",".join(name if name in known else other for name in pair))
        remedy = f"{problems[0].remedy} If it is called {other!r} here, name both so: --systems {names}."
        return [replace(problems[0], remedy=remedy)]
    return problems


def _kind_problems(rows: Rows, kept: Mask) -> list[Problem]:
    """Ratings of which a collected table does not say whether they are repeats."""
    if rows.kinds is None or not (blank := kept & rows.kinds.blank).any():
        return []
    at = rows.at["rating"]
    first = int(at.rows[int(np.argmax(blank))])
    rule = f"no kind in {int(blank.sum()):,} of the ratings; it is one of {listing(KINDS)}."
    return [Problem(rule, "Fill it in.", place=at.source, row=first, column=KIND)]


def _id_problems(rows: Rows, kept: Mask) -> list[Problem]:
    problems = []
    for role, ids in rows.ids.items():
        at = rows.at[role]
        if role != "criterion":
            problems += blank_id_problems(ids, kept, role=role, at=at)
        # Other spellings of a system or criterion would be dropped as another one: look at all rows.
        looked_at = kept if role in ("worker", "item") else np.ones_like(kept)
        problems += variant_problems(ids, looked_at, role=role, at=at)
    return problems


def _rating_problems(rows: Rows, kept: Mask, scale: RatingScale | None) -> list[Problem]:
    numbers, at = rows.numbers, rows.at["rating"]
    wrong = kept & np.isnan(numbers.value)
    problems = _comma_problems(np.flatnonzero(wrong & numbers.decimal_comma), rows.cells, at)
    problems += cell_problems(
        wrong & ~numbers.decimal_comma,
        rows.cells,
        at=at,
        rule="a rating must be a number.",
        remedy="Correct it, or if it means 'no rating', declare it with --missing VALUE.",
    )
    if scale is not None:
        problems += cell_problems(
            kept & ((numbers.value < scale.low) | (numbers.value > scale.high)),
            rows.cells,
            at=at,
            rule=f"a rating must lie on the declared scale {scale.low:g} to {scale.high:g}.",
            remedy="Correct it, declare another --scale, or declare it as missing with --missing VALUE.",
        )
    return problems


def _comma_problems(rows: Codes, cells: Cells, at: Location) -> list[Problem]:
    """One problem of all ratings with a decimal comma: what is to be done is the same for each of them."""
    if not len(rows):
        return []
    more = f" ({len(rows) - 1:,} more rows with a comma.)" if len(rows) > 1 else ""
    first = int(rows[0])
    return [
        Problem(
            f"{COMMA_RULE}{more}",
            COMMA_REMEDY,
            place=at.file_of(first),
            row=int(at.rows[first]),
            column=at.column,
            value=shortened(cells.texts[cells.code[first]]),
            has_value=True,
        )
    ]


def _size_problems(rows: Rows, kept: Mask) -> list[Problem]:
    """At least two workers, two items and two different ratings, or no variance can be estimated."""
    problems = []
    for role in ("worker", "item"):
        codes = rows.ids[role].code[kept]
        if codes.size and codes_in(codes[codes >= 0]).size == 1:
            at = rows.at[role]
            rule = f"there is only one {role}; at least 2 are needed to see how much {role}s differ."
            remedy = f"Is this the right column? --{role} COLUMN"
            problems.append(Problem(rule, remedy, place=at.source, column=at.column))
    value = rows.numbers.value[kept]
    value = value[np.isfinite(value)]
    if value.size and value.min() == value.max():
        at = rows.at["rating"]
        rule = f"all {value.size:,} ratings are {value[0]:g}; without differences nothing can be estimated."
        remedy = "Is this the right column? --rating COLUMN"
        problems.append(Problem(rule, remedy, place=at.source, column=at.column))
    return problems


def _counted(ids: Ids, mask: Mask) -> str:
    codes, counts = np.unique(ids.code[mask & (ids.code >= 0)], return_counts=True)
    return listing([f"{ids.names[code]} ({count:,})" for code, count in zip(codes, counts, strict=True)])
