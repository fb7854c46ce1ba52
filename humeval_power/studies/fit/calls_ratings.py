"""What is in a table of ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from humeval_power.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from humeval_power.checking.suspects import Suspect
    from humeval_power.ratings import Ratings
    from humeval_power.studies.fit.check import CheckResult
    from humeval_power.studies.power.unmodelled import Unmodelled


def check(
    ratings: Ratings | Sequence[Ratings],
    *,
    table: pd.DataFrame | None = None,
    remarks: Sequence[str] = (),
) -> CheckResult:
    """Describe ratings before anything is fitted: rows, scale, design, systems, what is unusual, and what a
    model of workers and items alone would leave out.

    Parameters
    ----------
    ratings : as `ratings_from_table` reads them, of any number of systems; several for several criteria.
    table : the table that they were read from: its other columns may be documents, sessions, an order of
        showing or time. Without it only the names of the items are looked at.
    remarks : what else to tell, beside the result.

    Returns
    -------
    CheckResult
        Means are on the raw scale, shares between 0 and 1; `to_frame` has a row for each system.

    Raises
    ------
    InputError
        No ratings at all. What is wrong with a table is told when it is read.
    """
    from humeval_power.comparisons.agreement.leading import LeadingAlphas
    from humeval_power.ratings import Ratings
    from humeval_power.studies.fit.check import CheckResult

    checked = (ratings,) if isinstance(ratings, Ratings) else tuple(ratings)
    if not checked:
        raise InputError("There are no ratings to check.")
    unmodelled = tuple(_unmodelled(each, table) for each in checked)
    return CheckResult(
        checked=checked,
        agreement=tuple(map(LeadingAlphas, checked)),
        unmodelled=unmodelled,
        remarks=tuple(remarks),
    )


def _unmodelled(ratings: Ratings, table: pd.DataFrame | None) -> tuple[Unmodelled, ...]:
    """What the model would leave out, and what that would do."""
    from humeval_power.checking.rows import first_answers
    from humeval_power.checking.suspects import Suspect, documents_in_names, suspected_columns
    from humeval_power.studies.power.unmodelled import Unmodelled, left_out_covariate, left_out_documents

    unmodelled = []
    if table is not None and ratings.origin is not None:
        table = first_answers(table.set_axis([str(name).strip() for name in table.columns], axis=1))
        roles = ratings.origin.columns
        taken = [one.name for one in ratings.covariates]
        for suspect in suspected_columns(table, roles, taken=taken):
            if suspect.option == "--document" and ratings.document is not None:
                continue
            again = None if suspect.kind == "time" else _read_with(ratings, table, suspect)
            if again is None:
                unmodelled.append(Unmodelled(suspect))
            elif suspect.option == "--document":
                unmodelled.append(left_out_documents(suspect, again))
            else:
                unmodelled.append(left_out_covariate(suspect, again))
    prefixes = documents_in_names(ratings.item_names)
    nested = ratings.document is not None or any(one.suspect.kind == "documents" for one in unmodelled)
    if prefixes is not None and not nested:
        names = tuple(dict.fromkeys(prefixes))
        of_item = [names.index(prefix) for prefix in prefixes]
        why = f"{ratings.n_items:,} items begin with one of {len(names):,} names, such as {names[0]!r}"
        suspect = Suspect("documents", None, why)
        grouped = replace(ratings, document=_codes_of(of_item)[ratings.item], document_names=names)
        unmodelled.append(left_out_documents(suspect, grouped))
    return tuple(unmodelled)


def _codes_of(of_item: Sequence[int]) -> Any:
    import numpy as np

    return np.array(of_item, dtype=np.int64)


def _read_with(ratings: Ratings, table: pd.DataFrame, suspect: Suspect) -> Ratings | None:
    """The same ratings with the suspected column in their model; None where it cannot be read as that."""
    from humeval_power.ratings import ratings_from_table

    assert ratings.origin is not None
    assert suspect.column is not None
    of = ratings.origin.columns
    more: dict[str, Any] = {"covariates": (suspect.column,)}
    if suspect.option != "--covariate":
        more = {suspect.option[2:].replace("-", "_"): suspect.column}
    try:
        return ratings_from_table(
            table,
            worker=of["worker"],
            item=of["item"],
            system=of["system"],
            rating=of["rating"],
            criterion_column=of.get("criterion"),
            criterion=ratings.criterion,
            systems=(ratings.system_names[0], ratings.system_names[1]) if ratings.n_systems == 2 else None,
            scale=ratings.scale,
            missing=ratings.origin.missing,
            rejected_rows="drop" if ratings.origin.left_out else "keep",
            require_pair=False,
            source=ratings.source,
            **more,
        )
    except InputError:
        return None
