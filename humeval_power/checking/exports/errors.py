"""Annotated errors as ratings: a row for each error, and minus the sum of its weights for each output."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType

import pandas as pd

from humeval_power.checking.cells import LISTED
from humeval_power.checking.columns import close_to
from humeval_power.checking.rows import ROW_INDEX
from humeval_power.errors import InputError, Problem

RATING = "rating"  # the column that the sums are put in
# Freitag et al. (2021), Table 2; the first that fits counts.
MQM_WEIGHTS: MappingType[str, float] = MappingProxyType(
    {
        "no-error | *": 0.0,
        "no error | *": 0.0,
        "* | no-error": 0.0,
        "* | no error": 0.0,
        "non-translation* | *": 25.0,
        "fluency/punctuation* | minor": 0.1,
        "* | critical": 5.0,
        "* | major": 5.0,
        "* | minor": 1.0,
        "* | neutral": 0.0,
    }
)


@dataclass(frozen=True, slots=True)
class ErrorWeights:
    """How errors become a rating: minus the sum of their weights, so that higher is better.

    `category` and `severity` are columns. The keys of `weights` are 'category | severity' with * for any text, case
    apart; of those that fit, the first counts.

    Raises
    ------
    InputError
        A key of another shape.
    """

    category: str = "category"
    severity: str = "severity"
    weights: MappingType[str, float] = field(default_factory=lambda: MQM_WEIGHTS)

    def __post_init__(self) -> None:
        wrong = [key for key in self.weights if len(key.split("|")) != 2]
        if wrong:
            raise InputError(
                f"{wrong[0]!r} is no kind of error: write 'category | severity', with * for any of them."
            )

    def weight_of(self, category: str, severity: str) -> float | None:
        """The weight of an error; None where no key fits."""
        said = (category.strip().casefold(), severity.strip().casefold())
        for key, weight in self.weights.items():
            patterns = (part.strip().casefold() for part in key.split("|"))
            if all(fnmatchcase(text, pattern) for text, pattern in zip(said, patterns, strict=True)):
                return weight
        return None

    def words(self) -> str:
        """What was weighed how, and by whom."""
        said = ", ".join(f"{key.replace(' | ', '/')} {weight:g}" for key, weight in self.weights.items())
        source = " (Freitag et al. 2021)" if dict(self.weights) == dict(MQM_WEIGHTS) else ""
        return f"A rating is minus the sum of the weights of its errors, so that higher is better: {said}{source}."


def summed_errors(
    frame: pd.DataFrame, errors: ErrorWeights, *, of: tuple[str, ...], source: str
) -> pd.DataFrame:
    """One row for each output and annotator, numbered by its first error, with the column RATING.

    frame : a row for each error, or for an output without any; cells are text.
    of : the columns that tell one output of one annotator from others.

    Raises
    ------
    InputError
        Columns that are not there, and errors that no weight is given for.
    """
    known = [str(name) for name in frame.columns]
    absent = [name for name in (errors.category, errors.severity) if name not in frame]
    if absent:
        raise InputError(
            [
                Problem(
                    f"there is no column {name!r}, which should tell errors.",
                    close_to(name, known),
                    place=source,
                )
                for name in absent
            ]
        )
    kinds = frame[[errors.category, errors.severity]].fillna("").astype(str)
    found = kinds.drop_duplicates()
    weights = {pair: errors.weight_of(*pair) for pair in found.itertuples(index=False, name=None)}
    problems = [
        Problem(
            f"no weight is given for an error of the category {pair[0]!r} and this severity.",
            "Give one in [errors.weights].",
            place=source,
            row=int(row),
            column=errors.severity,
            value=pair[1],
            has_value=True,
        )
        for row, pair in zip(found.index, found.itertuples(index=False, name=None), strict=True)
        if weights[pair] is None
    ]
    if problems:
        raise InputError(problems[:LISTED])
    table = pd.Series(weights, name=RATING, dtype=float).rename_axis(list(kinds.columns)).reset_index()
    weight = kinds.merge(table, how="left", on=list(kinds.columns))[RATING].to_numpy()
    groups = (
        frame.assign(**{RATING: weight})
        .reset_index(names=ROW_INDEX)
        .groupby(list(of), sort=False, dropna=False)
    )
    sums = groups[RATING].sum()
    summed = groups.first().drop(columns=RATING).reset_index().set_index(ROW_INDEX)
    summed[RATING] = [f"{-total + 0.0:.12g}" for total in sums]
    return summed
