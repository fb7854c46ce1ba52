"""What is in a table of ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from humeval_power.errors import InputError

if TYPE_CHECKING:
    from humeval_power.ratings import Ratings
    from humeval_power.reporting.study.check import CheckResult


def check(ratings: Ratings | Sequence[Ratings], *, remarks: Sequence[str] = ()) -> CheckResult:
    """Describe ratings before anything is fitted: rows, scale, design, systems, and what is unusual.

    Parameters
    ----------
    ratings : as `ratings_from_table` reads them, of any number of systems; several for several criteria.
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
    from humeval_power.ratings import Ratings
    from humeval_power.reporting.study.check import CheckResult

    checked = (ratings,) if isinstance(ratings, Ratings) else tuple(ratings)
    if not checked:
        raise InputError("There are no ratings to check.")
    return CheckResult(checked=checked, remarks=tuple(remarks))
