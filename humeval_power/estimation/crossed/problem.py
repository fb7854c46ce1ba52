"""A table of ratings as the engine takes it: crossproducts of what its design alone decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array

from humeval_power.errors import InputError
from humeval_power.estimation.fit import structure_of
from humeval_power.kernels.crossed import dense
from humeval_power.kernels.crossed.crossproducts import response_products, sparse_gram, with_outer_base
from humeval_power.kernels.crossed.even_designs import EvenDesign, even_design
from humeval_power.kernels.crossed.likelihood import Gram

if TYPE_CHECKING:
    from humeval_power.kernels.large.design import Large


# Which of the engine's ways takes a fit: dense matrices that need nothing compiled, or the kernels.

DENSE_GAMMA = 1e3  # relative variances beyond which one dense matrix loses digits that the kernels keep
_SMALL_DESIGN = 300  # columns of workers and items up to which a dense fit takes a tenth of a second
_FEW = 6  # such fits take no longer than loading the kernels
_fits: ContextVar[int | None] = ContextVar("few_fits", default=None)


@contextmanager
def few_fits(count: int = 1) -> Iterator[None]:
    """Within the block, which fits a table `count` times, a small one is fitted by dense matrices if that is
    quicker than loading the kernels. Outside of such blocks tables are fitted by the thousand, by the kernels."""
    token = _fits.set(count)
    try:
        yield
    finally:
        _fits.reset(token)


def by_dense_matrices(gram: Gram) -> bool:
    """Whether fits of this design are found by dense matrices here."""
    count, columns = _fits.get(), dense.n_columns(gram)
    return count is not None and count <= _FEW and columns <= _SMALL_DESIGN


def by_dense_design(gram: Gram, gamma: NDArray[np.float64]) -> bool:
    """Whether what a design alone says is found by one dense matrix."""
    return bool(dense.n_columns(gram) <= _SMALL_DESIGN and gamma.max() <= DENSE_GAMMA)


Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# The order of variance components in every array of this package; those of documents follow where there are any.
COMPONENTS = ("sd_worker_intercept", "sd_worker_slope", "sd_item_intercept", "sd_item_slope")
DOCUMENT_COMPONENTS = ("sd_document_intercept", "sd_document_slope")
EFFECT = np.array([0.0, 1.0])

CHUNK = 64  # replicates a thread takes at a time
_MANY_COLUMNS = 400  # outer columns from which sparse factors are faster than one dense block
# Floating-point operations of a factor whose parts are all dense, beyond which fits iterate.
_MOST_WORK = 2.5e9
_MOST_SPARSE_WORK = 5e8  # the same of a sparse factor, which comes with work of another kind


class RatingTable(Protocol):
    """Codes 0, 1, ... of worker, item and system (0 or 1) and ratings on [0, 1], all of shape (n,).

    A table may have more: `document`, codes or None, and `covariate_columns` (n, k).
    """

    @property
    def worker(self) -> Codes: ...
    @property
    def item(self) -> Codes: ...
    @property
    def system(self) -> Codes: ...
    @property
    def rating(self) -> Floats: ...


class Levels(NamedTuple):
    """One random factor: the level of each row, and its columns (rows, q)."""

    codes: Codes
    columns: Floats


@dataclass(frozen=True, eq=False)
class CrossedProblem:
    """What depends on the design alone. The factor with most levels is eliminated, the others are dense.

    design : crossproducts whose memory is proportional to the rows; `gram` has the dense one as well.
    factors : workers, items and, where there are any, documents.
    x : (rows, p), the columns of the fixed effects: intercept and x, or the weights alone where differences
        are analysed, and those of covariates.
    inner : which of the factors is eliminated.
    is_difference : whether the rows are differences B - A, so that the first column is the effect.
    weights : (rows, n_ratings) sparse, from ratings to the rows that are fitted; None if those are the
        ratings themselves.
    log_det : what the transformation of the ratings into rows adds to -2 log likelihood.
    """

    design: Gram
    factors: tuple[Levels, ...]
    x: Floats
    inner: int
    is_difference: bool = False
    weights: csr_array | None = None
    log_det: float = 0.0

    @classmethod
    def of_design(
        cls,
        worker: Codes,
        item: Codes,
        system: Codes,
        *,
        document: Codes | None = None,
        covariates: Floats | None = None,
    ) -> CrossedProblem:
        """Crossproducts for rows of integer codes, x = -1/2 for system 0 and +1/2 for system 1.

        document : (n,); covariates : (n, k), further columns of fixed effects.
        """
        columns = np.column_stack([np.ones(len(system)), system - 0.5])
        x = columns if covariates is None else np.column_stack([columns, covariates])
        return cls.of_levels([Levels(codes, columns) for codes in _given(worker, item, document)], x)

    @classmethod
    def of_ratings(cls, ratings: RatingTable) -> CrossedProblem:
        """The same for a table, with its documents and covariates."""
        return cls.of_design(ratings.worker, ratings.item, ratings.system, **structure_of(ratings))

    @classmethod
    def of_differences(
        cls,
        worker: Codes,
        item: Codes,
        system: Codes,
        *,
        document: Codes | None = None,
        covariates: Floats | None = None,
    ) -> CrossedProblem:
        """The differences B - A of each worker and item that has both systems, weighted by their
        precision where cells hold several ratings: an intercept alone, for workers, items and documents too.

        An item is that of its document; covariates (n, k) are differences as well, and those that never
        differ within a pair have cancelled.

        Raises
        ------
        InputError
            No worker rated an item under both systems, or differences of fewer than 2 workers or items.
        """
        n_items = int(item.max()) + 1
        n_documents = 1 if document is None else int(document.max()) + 1
        pair = worker * np.int64(n_items) + item
        if document is not None:
            pair = pair * np.int64(n_documents) + document
        count = np.stack([np.bincount(pair[system == s], minlength=int(pair.max()) + 1) for s in (0, 1)])
        kept = np.flatnonzero(count.min(axis=0) > 0)
        of_pair = (kept // n_documents // n_items, kept // n_documents % n_items, kept % n_documents)
        workers, items, documents = (np.unique(codes) for codes in of_pair)
        if min(len(workers), len(items)) < 2:
            raise InputError(
                "An analysis of differences needs at least 2 workers and 2 items with ratings of both "
                f"systems by the same worker; there are {len(workers)} and {len(items)}. "
                "Analyse the ratings instead."
            )
        # variance of a difference, relative to that of two single ratings: (1/nA + 1/nB) / 2
        weight = np.sqrt(2.0 / (1.0 / count[0, kept] + 1.0 / count[1, kept]))
        row = np.searchsorted(kept, pair)
        used = np.flatnonzero((row < len(kept)) & (kept[np.minimum(row, len(kept) - 1)] == pair))
        sign = np.where(system[used] == 1, 1.0, -1.0)
        value = sign * weight[row[used]] / count[system[used], pair[used]]
        weights = csr_array((value, (row[used], used)), shape=(len(kept), len(pair)))
        codes = [np.searchsorted(*both) for both in zip((workers, items, documents), of_pair, strict=True)]
        x = weight[:, None]
        if covariates is not None and covariates.shape[1]:
            differences = np.asarray(weights @ covariates)
            x = np.column_stack([x, differences[:, np.abs(differences).max(axis=0) > 1e-12]])
        levels = [Levels(each, weight[:, None]) for each in codes[: 2 if document is None else 3]]
        return replace(cls.of_levels(levels, x), weights=weights, is_difference=True)

    def with_interaction(self, worker: Codes, item: Codes, share: float) -> CrossedProblem:
        """The same model with a further random effect of each worker-item pair, of variance `share`
        relative to the residual's.

        Within a pair of n ratings the covariance I + share J has the inverse square root
        I - (1 - 1 / sqrt(1 + n share)) J / n: ratings and columns so transformed follow the model
        without the effect.
        """
        pair = np.unique(worker * np.int64(int(item.max()) + 1) + item, return_inverse=True)[1]
        count = np.bincount(pair)
        shrink = (1.0 - 1.0 / np.sqrt(1.0 + count * share)) / count
        n = len(pair)
        membership = csr_array((np.ones(n), (np.arange(n), pair)), shape=(n, len(count)))
        averaging = membership @ (membership * shrink[None, :]).T
        weights = csr_array(eye_array(n, format="csr") - averaging)
        levels = [factor._replace(columns=np.asarray(weights @ factor.columns)) for factor in self.factors]
        changed = self.of_levels(levels, np.asarray(weights @ self.x))
        log_det = float(np.log1p(count * share).sum())
        return replace(changed, weights=weights, log_det=log_det)

    @classmethod
    def of_levels(cls, factors: Sequence[Levels], x: Floats) -> CrossedProblem:
        """Crossproducts for any columns of two factors or three, workers first, items second."""
        sizes = [int(factor.codes.max()) for factor in factors]
        inner = max((1, 0, 2)[: len(sizes)], key=sizes.__getitem__)  # of equals the items
        kept = tuple(
            Levels(np.ascontiguousarray(codes, dtype=np.int64), columns) for codes, columns in factors
        )
        outer = [factor for place, factor in enumerate(kept) if place != inner]
        design = sparse_gram(
            np.stack([factor.codes for factor in outer]),
            kept[inner].codes,
            outer_columns=np.stack([factor.columns for factor in outer]),
            inner_columns=kept[inner].columns,
            x=x,
        )
        return cls(design, kept, x, inner)

    @cached_property
    def gram(self) -> Gram:
        """All crossproducts; the dense one, outer columns by outer columns, is built when first asked for."""
        return with_outer_base(self.design)

    @cached_property
    def even(self) -> EvenDesign | None:
        """The design in the form in which many replicates are fitted side by side, if it is even."""
        return even_design(self.design, *self.rows())

    @cached_property
    def is_large(self) -> bool:
        """Whether sparse factors fit the table, as its shape alone decides; else one dense outer block does."""
        n_outer, qa, _ = self.design.outer_block.shape
        return bool(n_outer * qa > _MANY_COLUMNS)

    @cached_property
    def is_iterative(self) -> bool:
        """Whether the table is so large that it is fitted by conjugate gradients and probes: its shape alone
        decides, by what the factor of its connected parts would cost if each of them were dense, and if that is
        too much by what it costs as it is."""
        n_outer, qa, _ = self.design.outer_block.shape
        kinds, width = (1, qa) if self.design.coupled else (qa, 1)

        def work(levels: Codes) -> float:
            return float(kinds * ((levels * float(width)) ** 3).sum() / 3.0)

        if work(np.array([n_outer])) <= _MOST_WORK:
            return False
        from humeval_power.kernels.crossed.crossproducts import connected_levels

        if work(connected_levels(self.design)) <= _MOST_WORK:
            return False
        return self.large.fronts.work > _MOST_SPARSE_WORK

    @cached_property
    def large(self) -> Large:
        """The design as sparse factors take it."""
        from humeval_power.kernels.large.design import large_design

        return large_design(self.design)

    @property
    def outer(self) -> tuple[int, ...]:
        """The factors that are not eliminated, in the kernel's order."""
        return tuple(place for place in range(len(self.factors)) if place != self.inner)

    @property
    def contrast(self) -> Floats:
        """The weights (p,) of the fixed effects that give the effect."""
        weights = np.zeros(self.x.shape[1])
        weights[0 if self.is_difference else 1] = 1.0
        return weights

    @property
    def n_components(self) -> int:
        """Number of variance components but the residual's, of ratings: two of each factor."""
        return 2 * len(self.factors)

    @property
    def components(self) -> tuple[str, ...]:
        """Their names, in the order of every array of this package."""
        return (*COMPONENTS, *DOCUMENT_COMPONENTS)[: self.n_components]

    def to_kernel(self, components: Floats) -> Floats:
        """Reorder the last axis from workers, items, documents to outer types first."""
        return components[..., self._kernel_order]

    def from_kernel(self, components: Floats) -> Floats:
        """Its inverse."""
        return components[..., np.argsort(self._kernel_order)]

    @property
    def _kernel_order(self) -> list[int]:
        q = self.factors[0].columns.shape[1]
        return [place * q + column for place in (*self.outer, self.inner) for column in range(q)]

    def rows(self) -> tuple[Codes, Codes, Floats, Floats, Floats]:
        """What `response_products` takes of the rows: outer and inner codes and columns, and x."""
        outer = [self.factors[place] for place in self.outer]
        codes, columns = (np.stack(part) for part in zip(*outer, strict=True))
        inner = self.factors[self.inner]
        return codes, inner.codes, columns, inner.columns, self.x

    def products(self, responses: Floats) -> tuple[Floats, ...]:
        """The fields of kernels.crossed.Response for ratings of shape (replicates, n_ratings)."""
        if self.weights is not None:
            responses = np.ascontiguousarray((self.weights @ responses.T).T)
        by_dense = by_dense_matrices(self.design)
        if by_dense:
            return dense.response_products(self.design, *self.rows(), responses)
        products: tuple[Floats, ...] = response_products(
            self.design, *self.rows(), np.ascontiguousarray(responses)
        )
        return products


def _given(*codes: Codes | None) -> list[Codes]:
    return [each for each in codes if each is not None]
