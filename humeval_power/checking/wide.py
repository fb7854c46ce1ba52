"""Tables with a column of ratings for each criterion, worker or system, in the place of one column of ratings."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from humeval_power.checking.cells import MISSING_CODES, read_cells, read_ids, read_numbers
from humeval_power.checking.columns import ROLES, Columns, Role, bare, find_columns, find_roles, listing
from humeval_power.errors import InputError, Problem
from humeval_power.safe_text import shell_word

if TYPE_CHECKING:
    import pandas as pd


# Names of what is rated: columns of these are criteria, whoever gave them.
CRITERIA = {
    *("accuracy", "adequacy", "appropriateness", "clarity", "coherence", "consistency", "correctness"),
    *("creativity", "engagement", "factuality", "faithfulness", "fluency", "grammar", "grammaticality"),
    *("helpfulness", "informativeness", "meaning", "naturalness", "overall", "quality", "readability"),
    *("relevance", "safety", "score", "simplicity", "style", "truthfulness", "understandability"),
    "usefulness",
}
_QUESTION = re.compile(r"(q|question|criterion|answer|rating|score|item|aspect|dimension)\d*")
_LEAST_SHARE = 0.5  # of the width of the scale that the ratings of one worker or system span
_FEWEST_STEPS = 2  # from the lowest rating to the highest: right and wrong may be what a metric says
_LARGEST = 100  # points of a scale
_ALL_BUT_RATING = tuple(column for role, column in ROLES.items() if role != "rating")


def columns_of_criteria(
    table: pd.DataFrame,
    *,
    named: Mapping[Role, str | None],
    source: str,
    missing: Collection[str],
    taken: Collection[str] = (),
) -> tuple[str, ...]:
    """Columns that may hold the ratings of one criterion each, none where the table has a column of ratings.

    Such a column has numbers alone, which differ within a worker, within an item and between workers who
    judged the same output: what is told of a worker, an item or an output is no rating of it. Columns that
    look like an order of showing, sessions or time are none.
    """
    from humeval_power.checking.suspects import suspected_columns

    known = [str(name) for name in table.columns]
    if named.get("rating") is not None or table.empty:
        return ()
    names = {str(role): name for role, name in named.items()}
    optional = replace(ROLES["rating"], required=False)
    try:
        columns = find_columns(known, [*_ALL_BUT_RATING, optional], named=names, source=source, taken=taken)
    except InputError:
        return ()
    if "rating" in columns.of or "criterion" in columns.of:
        return ()
    of_role = {role: columns.of[role] for role in ("worker", "item", "system")}
    left_out = {one.column for one in suspected_columns(table, of_role, taken=tuple(taken))}
    free = [name for name in known if name not in {*of_role.values(), *taken, *left_out}]
    worker, item, system = (read_ids(read_cells(table[of_role[role]])).code for role in of_role)
    output = item * (int(system.max()) + 1) + system
    return tuple(
        name
        for name in free
        if known.count(name) == 1 and _are_ratings(table[name], (worker, item, output), missing=missing)
    )


def columns_side_by_side(table: pd.DataFrame) -> tuple[Role, tuple[str, ...]] | None:
    """Columns that hold the ratings of one worker or of one system each, and which of them; None where none do."""
    for role in ("worker", "system"):
        if chosen := _columns_of_each(table, role):
            return role, chosen
    return None


def _columns_of_each(table: pd.DataFrame, one: Literal["worker", "system"]) -> tuple[str, ...]:
    """Columns that hold the ratings of one worker or system each, in a table with a row for all of them; none where
    it has a column of these or of ratings, or may be another table.

    Such columns hold points of one scale and nothing else, and are called like no part of a rating, no criterion,
    no question and no count. A column of words that repeats from row to row may be what is sought, whatever its
    name.
    """
    from humeval_power.checking.suspects import COUNT_NAMES

    known = [str(name) for name in table.columns]
    sought, rating = (replace(ROLES[role], required=False) for role in (one, "rating"))
    others = [ROLES[role] for role in ("worker", "item", "system", "criterion") if role != one]
    try:
        columns = find_columns(known, [*others, sought, rating], source="").of
    except InputError:
        return ()
    if table.empty or len(set(known)) < len(known) or {one, "rating"} & set(columns):
        return ()
    codes = {role: read_ids(read_cells(table[name])).code for role, name in columns.items()}
    if len(np.unique(np.column_stack(list(codes.values())), axis=0)) < len(table):
        return ()
    chosen, spans = [], []
    for name in known:
        if name in columns.values() or bare(name) in COUNT_NAMES:
            continue
        numbers = read_numbers(read_cells(table[name]), missing=MISSING_CODES)
        given = numbers.value[~numbers.missing]
        if np.isnan(given).any():
            if _may_be_sought(table[name], codes):
                return ()
        elif len(given):
            chosen.append(name)
            spans.append((given.min(), given.max(), bool((given == np.round(given)).all())))
    if len(chosen) < 2 or any(bare(name) in CRITERIA for name in chosen):
        return ()
    if one == "system" and any(_QUESTION.fullmatch(bare(name)) for name in chosen):
        return ()
    low, high = min(span[0] for span in spans), max(span[1] for span in spans)
    one_scale = all(top - bottom >= _LEAST_SHARE * (high - low) for bottom, top, _ in spans)
    of_points = all(whole for *_, whole in spans) and high - low >= _FEWEST_STEPS
    return tuple(chosen) if one_scale and of_points and low >= -_LARGEST and high <= _LARGEST else ()


def _may_be_sought(column: pd.Series, codes: Mapping[str, np.ndarray]) -> bool:
    """Whether every row has a word, and words repeat from row to row that are not those of an item, a worker or a
    system."""
    words = read_ids(read_cells(column)).code
    if (words < 0).any():
        return False
    n_words = len(np.unique(words))
    is_told_apart = any(
        len(np.unique(np.column_stack([codes[role], words]), axis=0)) == len(np.unique(codes[role]))
        for role in codes
        if role != "criterion"
    )
    return not is_told_apart and n_words <= len(words) / 2


def find_table_roles(
    table: pd.DataFrame,
    *,
    named: Mapping[Role, str | None],
    source: str,
    missing: Collection[str],
    taken: Collection[str] = (),
) -> tuple[Columns, tuple[Problem, ...]]:
    """The columns of a table by their roles; and where it has a column for each criterion in the place of one of
    ratings the problem that this is, with the first of them as the ratings.
    Raises InputError: as `find_roles`."""
    known = [str(name) for name in table.columns]
    try:
        return find_roles(known, named=named, source=source, taken=taken), ()
    except InputError:
        wide = columns_of_criteria(table, named=named, source=source, missing=missing, taken=taken)
        if not wide:
            raise
    columns = find_roles(known, named={**named, "rating": wide[0]}, source=source, taken=taken)
    return columns, (_wide_problem(wide, known, source),)


def _wide_problem(wide: Sequence[str], known: Sequence[str], source: str) -> Problem:
    one = f"--rating {shell_word(wide[0])}"
    if len(wide) == 1:
        return Problem(
            f"no column was found for: rating. The columns are: {listing(known)}.",
            f"Is {wide[0]!r} the rating? {one}",
            place=source,
        )
    names = "all" if any("," in name for name in wide) else shell_word(",".join(wide))
    return Problem(
        f"there is no column of ratings, but what may be ratings of {len(wide)} criteria, a column for each: "
        f"{listing(wide)}.",
        f"'analyze' takes them all: --criteria {names}; or choose one: {one}",
        place=source,
    )


def _are_ratings(column: pd.Series, levels: Sequence[np.ndarray], *, missing: Collection[str]) -> bool:
    """Whether a column has numbers alone, which differ within each of the levels: codes of shape (n,)."""
    numbers = read_numbers(read_cells(column), missing=missing)
    given = ~numbers.missing
    values = numbers.value[given]
    if not values.size or np.isnan(values).any():
        return False
    return all(_differ_within(level[given], values) for level in levels)


def _differ_within(level: np.ndarray, values: np.ndarray) -> bool:
    pairs = np.unique(np.column_stack([level, values]), axis=0)
    return len(pairs) > len(np.unique(level))
