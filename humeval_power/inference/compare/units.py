"""Evaluation units: groups of items that have one metric value together (Zhu et al. 2020, definition 1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError
from humeval_power.inference.compare.result import Floats

UnitStatistic = Literal["mean", "median"]
Output = TypeVar("Output")


def evaluation_units(n_items: int, *, size: int, shuffle_seed: int | None = None) -> NDArray[np.int64]:
    """Positions of the items of each unit, shape (n_units, size).

    Adjacent items, or random ones where a seed is given. Items left over are in no unit: a smaller unit
    would have another variance.

    Raises
    ------
    InputError
        A size below 1, or so large that there are fewer than two units.
    """
    if size < 1 or n_items // size < 2:
        raise InputError(
            f"A unit size of {size:,} must leave at least 2 units, and there are {n_items:,} items."
        )
    n_units = n_items // size
    order = np.arange(n_items)
    if shuffle_seed is not None:
        order = np.random.default_rng(shuffle_seed).permutation(n_items)
    return np.asarray(order[: n_units * size].reshape(n_units, size))


def unit_scores(scores: Floats, units: NDArray[np.int64], *, by: UnitStatistic = "mean") -> Floats:
    """Mean or median of each unit; scores (n_items,) or (n_items, n_systems), units first in the result."""
    return np.asarray(np.mean(scores[units], axis=1) if by == "mean" else np.median(scores[units], axis=1))


def unit_metric(
    metric: Callable[[Sequence[Output], Sequence[Output]], float],
    units: NDArray[np.int64],
    *,
    outputs: Sequence[Output],
    references: Sequence[Output],
) -> Floats:
    """A metric of the user's computed on each unit, such as a corpus BLEU of 15 sentences; shape (n_units,).

    metric : from the outputs and the references of a unit to one number.

    Raises
    ------
    InputError
        As many outputs as references are needed, and a finite number from the metric for every unit.
    """
    if len(outputs) != len(references):
        raise InputError(
            f"Each output needs its reference; got {len(outputs):,} outputs and {len(references):,} references."
        )
    found = np.array(
        [metric([outputs[i] for i in unit], [references[i] for i in unit]) for unit in units], dtype=float
    )
    bad = np.flatnonzero(~np.isfinite(found))
    if len(bad):
        raise InputError(f"The metric gave no finite number for unit {bad[0] + 1} of {len(units):,}.")
    return found
