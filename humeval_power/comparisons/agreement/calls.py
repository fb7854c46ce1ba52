"""Agreement of raters: read a table, report it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from humeval_power.checking.cells import MISSING_CODES
from humeval_power.checking.columns import ROLES
from humeval_power.choices import DEFAULT_SEED
from humeval_power.errors import InputError, Problem
from humeval_power.ratings import Ratings
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    from humeval_power.comparisons.agreement.result_report import AgreementReport

ONE_SYSTEM = "all outputs"  # what the only system is called where a table has none
_SYSTEM = "system"


def read_rated(
    path: str | Path,
    *,
    missing: Collection[str] | None = None,
    scale: RatingScale | str | Sequence[float] | None = None,
    **columns: Any,
) -> Ratings:
    """Ratings of a table, one a row or a column for each rater; a column of systems is not needed.

    Parameters
    ----------
    path : of the file; '-' is standard input.
    missing : further cells that mean 'no rating'.
    scale : of the ratings, such as "1:5". [from the data]
    columns : names of columns and the rest of what `hp.read_ratings` takes.

    Raises
    ------
    InputError
        A file that cannot be read, or every problem of its table at once.
    """
    from humeval_power.files.tables import ratings_of, read_rating_table

    found = read_rating_table(path)
    names = [str(name).strip() for name in found.frame.columns]
    if columns.get("system") is None and not any(ROLES["system"].fits(name) for name in names):
        frame = found.frame.copy()
        frame[_SYSTEM] = ONE_SYSTEM
        found = found._replace(frame=frame)
    codes = (*MISSING_CODES, *(missing or ()))
    return ratings_of(found, require_pair=False, missing=codes, scale=scale, **columns)


def report(
    ratings: Ratings,
    *,
    confidence: float = 0.95,
    compatible: bool = False,
    seed: int = DEFAULT_SEED,
) -> AgreementReport:
    """How far raters agree: these raters on other outputs, and other raters like them.

    Krippendorff's alpha (nominal, ordinal, interval), kappa, Gwet's AC1, shares of equal ratings and intraclass
    correlations, within each system.

    Parameters
    ----------
    ratings : of one criterion, as `read_rated` gives them.
    confidence : of the intervals.
    compatible : give the F interval of ICC(2,1) that other packages print as well, of complete tables.
    seed : of the draws and of the bootstrap over items.

    Returns
    -------
    AgreementReport
        `to_frame` has a row for each system and measure.

    Raises
    ------
    InputError
        A single rater, or no output that two raters rated.
    """
    from humeval_power.comparisons.agreement.claims import system_agreements
    from humeval_power.comparisons.agreement.result_report import AgreementReport
    from humeval_power.saying.result import Provenance

    if ratings.n_workers < 2:
        raise InputError(
            [
                Problem(
                    "has ratings of one rater, and agreement is of two or more.",
                    "Let a second rater rate some of the same outputs.",
                    place=ratings.source,
                )
            ]
        )
    found = system_agreements(ratings, confidence=confidence, seed=seed, compatible=compatible)
    if not any(one.found.n_outputs for one in found):
        raise InputError(
            [
                Problem(
                    "has no output that two raters rated, so that their agreement cannot be told.",
                    "Let two raters or more rate the same outputs. An output is an item under one system.",
                    place=ratings.source,
                )
            ]
        )
    return AgreementReport(
        rows=found,
        source=ratings.source,
        notices=ratings.notices,
        confidence=confidence,
        provenance=Provenance(seed=seed),
    )
