"""Agreement of raters: read a table, report it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from humeval_power.checking.cells import MISSING_CODES
from humeval_power.checking.columns import ROLES, Role, close_to, listing
from humeval_power.choices import DEFAULT_SEED
from humeval_power.errors import InputError, Problem
from humeval_power.ratings import Ratings
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    from humeval_power.comparisons.agreement.result_report import AgreementReport
    from humeval_power.files.tables import SourceTable

ONE_SYSTEM = "all outputs"  # what the only system is called where a table has none
_SYSTEM = "system"


def read_rated(
    path: str | Path,
    *,
    raters: Sequence[str] | None = None,
    missing: Collection[str] | None = None,
    scale: RatingScale | str | Sequence[float] | None = None,
    **columns: Any,
) -> Ratings:
    """Ratings of a table, one a row or a column for each rater; a column of systems is not needed.

    Parameters
    ----------
    path : of the file; '-' is standard input.
    raters : columns of the raters, where each has one; a row is then an output.
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
    if raters is not None:
        found = _long(found, raters, columns.get("item"))

    def has(role: Role) -> bool:
        names = (str(name).strip() for name in found.frame.columns)
        return columns.get(role) is not None or any(ROLES[role].fits(name) for name in names)

    if not has("worker") and not has("rating"):
        known = listing([str(name) for name in found.frame.columns], limit=8)
        raise InputError(
            [
                Problem(
                    f"no column says who rated, or what. The columns are: {known}.",
                    "Name them: --worker COLUMN --rating COLUMN; where each rater has a column: --raters A,B,C",
                    place=found.source,
                )
            ]
        )
    if not has("system"):
        found = found._replace(frame=found.frame.assign(**{_SYSTEM: ONE_SYSTEM}))
    return ratings_of(
        found,
        require_pair=False,
        require_variation=False,
        missing=(*MISSING_CODES, *(missing or ())),
        scale=scale,
        **columns,
    )


def _long(found: SourceTable, raters: Sequence[str], item: str | None) -> SourceTable:
    """A row for each rating, of a table with a column for each rater; rows are numbered where none names them."""
    frame = found.frame.set_axis([str(name).strip() for name in found.frame.columns], axis=1)
    unknown = [name for name in raters if list(frame.columns).count(name) != 1]
    problems = [
        Problem(
            f"there is no single column {name!r}.", close_to(name, list(frame.columns)), place=found.source
        )
        for name in unknown
    ]
    if len(set(raters)) < 2:
        problems.append(Problem("one rater is named, and agreement is of two or more.", "--raters A,B,C"))
    if problems:
        raise InputError(problems)
    rest = [name for name in frame.columns if name not in raters]
    kept = [name for name in rest if name == item or ROLES["item"].fits(name) or ROLES["system"].fits(name)]
    if item is None and not any(ROLES["item"].fits(name) for name in kept):
        frame, kept = frame.assign(item=[f"row {row}" for row in frame.index]), [*kept, "item"]
    long = frame.melt(
        id_vars=kept, value_vars=list(dict.fromkeys(raters)), var_name="worker", value_name="rating"
    )
    return found._replace(frame=long, layout=None)


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
        rule = "all ratings are by one rater, and agreement is of two or more."
        remedy = "Let a second rater rate some of the same outputs. Is the column of raters right? --worker COLUMN"
        raise InputError([Problem(rule, remedy, place=ratings.source)])
    found = system_agreements(ratings, confidence=confidence, seed=seed, compatible=compatible)
    if not any(one.found.n_outputs for one in found):
        rule = "no output was rated by two raters, so that nothing tells how they agree."
        remedy = "Let two raters or more rate the same outputs; an output is an item under one system."
        raise InputError([Problem(rule, remedy, place=ratings.source)])
    return AgreementReport(
        rows=found,
        source=ratings.source,
        notices=ratings.notices,
        confidence=confidence,
        provenance=Provenance(seed=seed),
    )
