"""What is wrong with the rows of a table: every problem, with its place and its remedy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from humeval_power.checking.cells import (
    COMMA_REMEDY,
    COMMA_RULE,
    Ids,
    Mask,
    blank_id_problems,
    cell_problems,
    codes_in,
    variant_problems,
)
from humeval_power.checking.columns import absent_names, close_to, listing
from humeval_power.checking.rows import KIND, KINDS, Rejected, Rows, Selection, undecided
from humeval_power.errors import Problem
from humeval_power.safe_text import shell_word
from humeval_power.scales import RatingScale


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
    problems += [replace(one, remedy=f"{apart} Else {one.remedy}") for one in wrong] if apart else wrong
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
            f"{shell_word(present[0])}; or choose two, A and B (the effect is B - A): --systems {example}",
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
    return absent_names(pair, known, "system", place=source)


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
    problems = cell_problems(
        wrong & numbers.decimal_comma,
        rows.cells,
        at=at,
        rule=COMMA_RULE,
        remedy=COMMA_REMEDY,
    )
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
