"""Where ratings come from: the file, its columns, and which of its rows were read as what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from humeval_power.scales import RatingScale, likert_points

if TYPE_CHECKING:
    from humeval_power.checking.cells import Mask
    from humeval_power.checking.rows import Rejected, Rows

TableKind = Literal["delimited", "json lines", "excel", "parquet"]
Encoding = Literal["UTF-8", "UTF-8-BOM", "UTF-16"]


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table lies in its file. `path` is as typed, '' where the table came from no file; `separator` and
    `encoding` are those of text."""

    kind: TableKind
    separator: str = ""
    encoding: Encoding = "UTF-8"
    path: str = ""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where ratings stand in their table, for another program to read the same ones.

    `columns` are those of the worker, item, system, rating, criterion and document, as far as there are;
    `missing` the cells of the rating, without blanks around them, that were read as no rating; `left_out` the
    cells of columns of states and kinds whose rows were left out. `layout` is None where the table came from no
    file.
    """

    columns: Mapping[str, str]
    missing: tuple[str, ...]
    left_out: tuple[tuple[str, tuple[str, ...]], ...]
    layout: Layout | None


def origin_of(
    rows: Rows, *, document: str | None, rejected_rows: Rejected | None, layout: Layout | None
) -> Origin:
    """What the rows of a table say of where they stand."""
    from humeval_power.checking.rows import KIND

    columns = {str(role): place.column for role, place in rows.at.items()}
    if document is not None:
        columns["document"] = document
    refused = rows.refused if rejected_rows == "drop" else ()
    left_out = tuple((one.column, _different(one.mask, one.cells.code, one.cells.texts)) for one in refused)
    if rows.kinds is not None and rows.kinds.left_out:
        left_out = (*left_out, (KIND, rows.kinds.left_out))
    missing = _different(rows.numbers.missing, rows.cells.code, rows.cells.texts)
    return Origin(columns, tuple(dict.fromkeys(("", *missing))), left_out, layout)


def _different(rows: Mask, code: np.ndarray, texts: tuple[str, ...]) -> tuple[str, ...]:
    """The different cells of some rows, without blanks around them."""
    return tuple(dict.fromkeys(texts[one].strip() for one in np.unique(code[rows])))


# The rating scale taken from the ratings themselves, where the user declares none.

Bounds = tuple[float, float]

# Scales in common use. The first that holds every rating is taken.
WHOLE_SCALES: tuple[Bounds, ...] = ((0, 1), (1, 5), (1, 7), (0, 10), (-1, 1), (-2, 2), (-3, 3))
CONTINUOUS_SCALES: tuple[Bounds, ...] = ((0, 1), (1, 5), (1, 7), (0, 10))
PERCENT: Bounds = (0, 100)


def infer_scale(rating: NDArray[np.float64], *, higher_is_better: bool) -> RatingScale:
    """The common scale that holds all ratings, shape (n,), or else their range; 1 wide where all are equal."""
    low, high = float(rating.min()), float(rating.max())
    whole = bool((rating == np.round(rating)).all())
    bottom, top = _common_scale(low, high, whole=whole) or (low, high if high > low else low + 1)
    points = likert_points(bottom, top) if whole else None
    return RatingScale(
        float(bottom), float(top), points=points, higher_is_better=higher_is_better, source="inferred"
    )


INFERRED_SCALE = "The scale is taken from the ratings"


def scale_notices(
    scale: RatingScale, rating: NDArray[np.float64], *, lower_is_better_said: bool
) -> list[str]:
    """What a reader must know about the scale and the raw ratings on it, shape (n,)."""
    low, high = float(rating.min()), float(rating.max())
    notices = []
    if scale.source == "inferred":
        direction = "" if lower_is_better_said else ", higher is better"
        run = "" if (low, high) == (scale.low, scale.high) else f", which run from {low:g} to {high:g}"
        notices.append(
            f"{INFERRED_SCALE}{run}: {scale}{direction}. "
            "If it is another one, declare it with --scale LOW:HIGH or --lower-is-better."
        )
    elif high - low < scale.width / 2:
        notices.append(
            f"The ratings run from {low:g} to {high:g}, less than half of the declared scale "
            f"{scale.low:g} to {scale.high:g}. Is --scale right?"
        )
    if scale.points is not None:
        step = scale.width / (scale.points - 1)
        position = (rating - scale.low) / step
        n_between = int((np.abs(position - np.round(position)) > 1e-9).sum())
        if n_between:
            notices.append(
                f"{n_between:,} of {len(rating):,} ratings lie between the {scale.points} points "
                f"of the scale {scale.low:g} to {scale.high:g}."
            )
    return notices


def _common_scale(low: float, high: float, *, whole: bool) -> Bounds | None:
    for bounds in WHOLE_SCALES if whole else CONTINUOUS_SCALES:
        if bounds[0] <= low and high <= bounds[1]:
            return bounds
    # A highest rating of, say, 15 speaks for a scale of its own, not for 0 to 100.
    return PERCENT if low >= PERCENT[0] and PERCENT[1] / 2 < high <= PERCENT[1] else None
