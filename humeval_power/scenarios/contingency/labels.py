"""Labels of the same items: the true ones and those of two systems, counted by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.columns import listing
from humeval_power.errors import InputError, Problem
from humeval_power.kernels.metrics.confusion import OF_A_CLASS

_LISTED = 12  # classes in a message


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of the same items as codes (n_items, 3): true class, prediction of A, prediction of B, counted from 0
    in the order of `classes`, which is sorted."""

    codes: NDArray[np.int64]
    classes: tuple[str, ...]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Numbers of items, (K, K, K) [true class, prediction of A, of B]."""
        k = len(self.classes)
        true, a, b = self.codes.T
        return np.bincount((true * k + a) * k + b, minlength=k**3).reshape(k, k, k).astype(np.int64)


def coded(gold: Sequence[str], system_a: Sequence[str], system_b: Sequence[str]) -> Labels:
    """Labels as codes.

    Raises
    ------
    InputError
        Lists of different lengths, or a single class.
    """
    if not len(gold) == len(system_a) == len(system_b):
        raise InputError(
            f"Every item needs a true label and two predictions; got {len(gold)}, {len(system_a)} and "
            f"{len(system_b)}."
        )
    classes, codes = np.unique(np.array([gold, system_a, system_b]), return_inverse=True)
    if len(classes) < 2:
        raise InputError("There is only one class in these labels; a metric needs at least two.")
    return Labels(codes.reshape(3, -1).T.astype(np.int64), tuple(str(name) for name in classes))


def counted(
    gold: Sequence[str], system_a: Sequence[str], system_b: Sequence[str]
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Numbers of items, (K, K, K) [true class, prediction of A, of B], and the classes in sorted order.

    Raises
    ------
    InputError
        What `coded` raises.
    """
    labels = coded(gold, system_a, system_b)
    return labels.counts, labels.classes


def place_of_positive(metric: str, classes: tuple[str, ...], label: str | None) -> int:
    """Where the positive class is; without a label it is '1', and 0 if the metric has none.

    Raises
    ------
    InputError
        A label that is no class, or none where the metric needs one.
    """
    wanted = "1" if label is None else label
    if wanted in classes:
        return classes.index(wanted)
    if label is None and metric not in OF_A_CLASS:
        return 0
    known = listing(classes, limit=_LISTED)
    rule = f"The {metric} of which class? The classes are {known}."
    if label is not None:
        rule = f"There is no class {label!r}; the classes are {known}."
    raise InputError([Problem(rule, "Name one with --positive, or take macro-f1.")])


def foreign_labels(counts: NDArray[np.int64], classes: tuple[str, ...]) -> tuple[str, ...]:
    """Say which predicted labels no item has: usually a slip, and macro-F1 counts each as a class of 0."""
    foreign = [name for name, items in zip(classes, counts.sum(axis=(1, 2)), strict=True) if not items]
    if not foreign:
        return ()
    return (
        f"No item has the true label {listing(foreign, limit=_LISTED)}, which a system predicts. Each such label "
        "is a class whose F1 is 0 for both systems in macro-F1; if it is a slip, correct it.",
    )
