"""How two systems classify the same items: for each true class, the joint table of their predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humeval_power.errors import InputError, Problem

Floats = NDArray[np.float64]
_SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class PairedTables:
    """Probabilities (or shares of items) that add up to 1, shape (K, K, K): true class, prediction of A,
    prediction of B (Card et al. 2020, Table 11). `classes` are their names."""

    probability: Floats
    classes: tuple[str, ...]

    def __post_init__(self) -> None:
        shape, k = self.probability.shape, len(self.classes)
        if k < 2 or shape != (k, k, k):
            raise InputError(f"Tables of {k} classes must have the shape (K, K, K), K >= 2; got {shape}.")
        if not (np.isfinite(self.probability).all() and (self.probability >= 0).all()):
            raise InputError("Probabilities must be numbers of at least 0.")
        if abs(self.probability.sum() - 1) > _SLACK:
            raise InputError(f"The probabilities must add up to 1; got {self.probability.sum():g}.")

    @property
    def confusion_a(self) -> Floats:
        """Probability of each true class and prediction of A, (K, K)."""
        return np.asarray(self.probability.sum(axis=2))

    @property
    def confusion_b(self) -> Floats:
        """The same of B."""
        return np.asarray(self.probability.sum(axis=1))

    @property
    def agreement(self) -> float:
        """Share of items to which both systems give the same label."""
        return float(np.trace(self.probability.sum(axis=0)))

    def shifted(self, share: float) -> PairedTables:
        """Give B a share of the items that A alone has right, the same share in every class.

        Item by item the two predictions are exchanged, so agreement stays as it is, and so do the items
        that both systems have right. A negative share gives A items that B alone has right.
        """
        found = self.probability.copy()
        for true in range(len(self.classes)):
            for wrong in range(len(self.classes)):
                if wrong == true:
                    continue
                only_a, only_b = self.probability[true, true, wrong], self.probability[true, wrong, true]
                moved = share * (only_a if share > 0 else only_b)
                found[true, true, wrong] = only_a - moved
                found[true, wrong, true] = only_b + moved
        return replace(self, probability=found)


def correlated_errors(
    shares: ArrayLike, recalls: ArrayLike, *, correlation: float, classes: Sequence[str] | None = None
) -> PairedTables:
    """Two equally good systems whose being right is correlated alike within every class.

    With correlation 0 errors are independent given the class. Of a class with recall r, each system alone
    has (1 - correlation) r (1 - r) right. Both wrong means the same wrong label; wrong labels are equally
    likely.

    Parameters
    ----------
    shares : (K,), of the items, by true class. recalls : (K,), probability of being right, by true class.

    Raises
    ------
    InputError
        Shares that do not add up to 1, recalls outside [0, 1], a correlation outside [0, 1).
    """
    share, right = _checked(shares, recalls)
    if not 0 <= correlation < 1:
        raise InputError(
            f"The correlation of the systems' errors must lie in [0, 1); got {correlation:g}. At 1 they would "
            "never differ."
        )
    return _symmetric(share, right, alone=(1 - correlation) * right * (1 - right), classes=classes)


def equal_agreement(
    shares: ArrayLike, recalls: ArrayLike, *, agreement: float, classes: Sequence[str] | None = None
) -> PairedTables:
    """Two equally good systems that agree on the same share of the items of every class.

    Raises
    ------
    InputError
        As `correlated_errors`, or an agreement that the recalls do not allow: they need 2 min(r, 1 - r) of
        disagreement at most.
    """
    share, right = _checked(shares, recalls)
    least = float(1 - 2 * np.minimum(right, 1 - right).min())
    if not least - _SLACK <= agreement < 1:
        raise InputError(
            f"An agreement of {agreement:g} in every class is impossible with these recalls: it must lie in "
            f"[{least:.4g}, 1). Take a larger one, or give the correlation of the systems' errors instead."
        )
    return _symmetric(share, right, alone=np.full(len(right), (1 - agreement) / 2), classes=classes)


def binary_recalls(*, prevalence: float, recall: float, precision: float) -> Floats:
    """Recalls of the negative and the positive class, (2,), from what is usually reported.

    Raises
    ------
    InputError
        Shares outside (0, 1), or a precision that would need more false positives than there are negatives.
    """
    given = {"prevalence": prevalence, "recall": recall, "precision": precision}
    problems = [
        Problem(f"The {name} must lie between 0 and 1; got {value:g}.", "Divide by 100.")
        for name, value in given.items()
        if not (0 < value < 1 or (value == 1 and name != "prevalence"))
    ]
    if problems:
        raise InputError(problems)
    false_positives = prevalence * recall * (1 - precision) / precision
    if false_positives > 1 - prevalence:
        least = prevalence * recall / (prevalence * recall + 1 - prevalence)
        raise InputError(
            f"A precision of {precision:g} is impossible: with all items called positive it would be "
            f"{least:.4g}."
        )
    return np.array([1 - false_positives / (1 - prevalence), recall])


def observed_tables(counts: NDArray[np.int64], classes: tuple[str, ...]) -> PairedTables:
    """Observed shares as probabilities of the next test set."""
    return PairedTables(counts / counts.sum(), classes)


def _checked(shares: ArrayLike, recalls: ArrayLike) -> tuple[Floats, Floats]:
    share, right = np.asarray(shares, dtype=np.float64), np.asarray(recalls, dtype=np.float64)
    problems = []
    if share.shape != right.shape or share.ndim != 1 or len(share) < 2:
        problems.append(
            Problem(f"Each class needs a share and a recall; got {share.size} and {right.size}.", "")
        )
    if not ((share > 0).all() and abs(share.sum() - 1) < _SLACK):
        problems.append(Problem(f"Shares must be positive and add up to 1; got {share.tolist()}.", ""))
    if not ((right >= 0) & (right <= 1)).all():
        problems.append(
            Problem(f"Recalls must lie between 0 and 1; got {right.tolist()}.", "Divide by 100.")
        )
    if problems:
        raise InputError(problems)
    return share, right


def _symmetric(
    share: Floats, right: Floats, *, alone: Floats, classes: Sequence[str] | None
) -> PairedTables:
    """alone : (K,), probability given the class that A alone is right; the same for B."""
    k = len(share)
    found = np.zeros((k, k, k))
    for true in range(k):
        found[true, true, true] = right[true] - alone[true]
        for wrong in range(k):
            if wrong != true:
                found[true, true, wrong] = found[true, wrong, true] = alone[true] / (k - 1)
                found[true, wrong, wrong] = (1 - right[true] - alone[true]) / (k - 1)
    weighted = np.maximum(found, 0.0) * share[:, None, None]
    return PairedTables(weighted, tuple(classes or map(str, range(k))))
