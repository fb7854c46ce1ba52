"""Complete balanced studies by their mean squares, with documents above the items or without."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.designs import Design
from humeval_power.kernels.crossed import balanced, balanced_documents
from humeval_power.rules import Analysis, Estimator

Floats = NDArray[np.float64]


class FittedSquares(NamedTuple):
    """Fits from mean squares, one for each replicate (last axis); `zero` (components, n) marks those at zero.
    Satterthwaite's df is NaN for maximum likelihood."""

    standard_error: Floats
    satterthwaite: Floats
    kenward_roger: Floats
    zero: NDArray[np.bool_]
    status: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BalancedStudy:
    """A balanced design, and how its mean squares are drawn, computed and fitted; with `ignore_documents`
    they are fitted as if the items stood alone."""

    design: Design
    analysis: Analysis = "ratings"
    estimator: Estimator = "reml"
    ignore_documents: bool = False

    @cached_property
    def _size(self) -> balanced.Size:
        return balanced.Size(self.design.n_workers, self.design.n_items, self.design.n_repeats)

    @cached_property
    def _documents(self) -> balanced_documents.Size:
        return documents_size(self.design)

    @property
    def _by_difference(self) -> bool:
        return self.analysis == "differences"

    def precision(self, variances: Floats) -> tuple[float, float]:
        """Variance of the estimated difference and its df at assumed variances, in the order of the fitted
        components and the residual's last."""
        if self.design.n_documents:
            expected = balanced_documents.expected_mean_squares(self._documents, variances)
            df = balanced_documents.degrees_of_freedom(self._documents)
            variance = balanced_documents.effect_variance(expected, self._documents)
            return float(variance), float(balanced_documents.kenward_roger_df(expected, df))
        expected = balanced.expected_mean_squares(self._size, variances)
        found = balanced.kenward_roger_df(expected, balanced.degrees_of_freedom(self._size))
        return float(balanced.effect_variance(expected, self._size)), float(found)

    def drawn(
        self, rng: np.random.Generator, variances: Floats, *, n: int, interaction: float = 0.0
    ) -> tuple[Floats, Floats]:
        """Mean squares of n Gaussian studies, and the errors of their estimates."""
        if self.design.n_documents:
            return balanced_documents.draw_mean_squares(
                rng,
                size=self._documents,
                expected=balanced_documents.expected_mean_squares(self._documents, variances),
                n_replicates=n,
                interaction=interaction,
                of_differences=self._by_difference,
            )
        expected = balanced.expected_mean_squares(self._size, variances)
        if self._by_difference:
            return balanced.draw_difference_squares(rng, size=self._size, expected=expected, n_replicates=n)
        return balanced.draw_mean_squares(
            rng, size=self._size, expected=expected, n_replicates=n, interaction=interaction
        )

    def squares(self, responses: Floats) -> tuple[Floats, Floats]:
        """Mean squares and differences of ratings (n, n_ratings) in the order of the assignment."""
        table = responses.reshape(len(responses), *self._size[:2], 2, self._size.repeats)
        if self.design.document_of_item is not None:
            table = table[:, :, np.argsort(self.design.document_of_item, kind="stable")]
            squares = (
                balanced_documents.difference_squares
                if self._by_difference
                else balanced_documents.mean_squares
            )
            return squares(table, self.design.n_documents)
        if self._by_difference:
            return balanced.difference_squares(table)
        found, difference, _ = balanced.mean_squares(table)
        return found, difference

    def fitted(self, squares: Floats) -> FittedSquares:
        """Fits from mean squares: REML in closed form, maximum likelihood by iteration (without documents)."""
        if self.design.n_documents:
            if not self.ignore_documents:
                return self._fitted_with_documents(squares)
            squares = balanced_documents.without_documents(squares, self._documents)
        df = (balanced.difference_df if self._by_difference else balanced.degrees_of_freedom)(self._size)
        strata = balanced.pool(squares, df)
        expected, zero = strata.expected, strata.pooled
        status = np.zeros(squares.shape[1], dtype=np.int64)
        satterthwaite = balanced.satterthwaite_df(strata, df)
        if self.estimator == "ml":
            from humeval_power.kernels.crossed.balanced_ml import maximum_likelihood

            by_row, steps = maximum_likelihood(
                np.ascontiguousarray(squares.T), df, np.ascontiguousarray(expected.T)
            )
            expected, status = by_row.T, (steps < 0).astype(np.int64)
            zero = expected[:4] <= expected[4]
            satterthwaite = np.full(squares.shape[1], np.nan)
        error = np.sqrt(balanced.effect_variance(expected, self._size))
        return FittedSquares(error, satterthwaite, balanced.kenward_roger_df(expected, df), zero, status)

    def _fitted_with_documents(self, squares: Floats) -> FittedSquares:
        of_size = (
            balanced_documents.difference_df
            if self._by_difference
            else balanced_documents.degrees_of_freedom
        )
        df = of_size(self._documents)
        strata = balanced_documents.pool(squares, df)
        return FittedSquares(
            np.sqrt(balanced_documents.effect_variance(strata.expected, self._documents)),
            balanced_documents.satterthwaite_df(strata, df),
            balanced_documents.kenward_roger_df(strata.expected, df),
            strata.zero,
            np.zeros(squares.shape[1], dtype=np.int64),
        )


def documents_size(design: Design) -> balanced_documents.Size:
    """The size of a balanced design with documents."""
    each = design.n_items // design.n_documents
    return balanced_documents.Size(design.n_workers, design.n_documents, each, design.n_repeats)
