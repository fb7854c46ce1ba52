"""Find workers who do not care by their ratings alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humeval_power.designs import Assignment, Codes

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

MIN_JUDGED = 4  # ratings of a worker below which nothing is said about the worker
_NO_VARIANCE = 1e-12  # sums of squares on [0, 1] below this are rounding


def suspicious_workers(
    rating: Floats, rows: Assignment, kept: Mask, *, n_workers: int, min_agreement: float = 0.0
) -> Mask:
    """Workers whom a check of the ratings alone would exclude, shape (n_workers,).

    Those with at least four ratings that are all the same, or that correlate with the mean of the other
    workers' ratings of the same outputs by less than `min_agreement`. Both are centred within each
    system first: otherwise workers who see the difference between the systems as the others do would be
    kept, the estimated difference exaggerated, and false positives more frequent. Outputs that nobody
    else rated do not count. With few ratings per worker, or items that hardly differ, this also hits
    careful workers.
    """
    worker, value = rows.worker[kept], rating[kept]
    n_systems = max(int(rows.system.max()) + 1, 2)
    output = n_systems * rows.item[kept] + rows.system[kept]
    count = np.bincount(worker, minlength=n_workers)
    lowest, highest = np.full(n_workers, np.inf), np.full(n_workers, -np.inf)
    np.minimum.at(lowest, worker, value)
    np.maximum.at(highest, worker, value)
    constant = (count >= MIN_JUDGED) & (lowest == highest)
    sums, raters = np.bincount(output, value), np.bincount(output)
    inverse = np.unique(worker * np.int64(len(sums)) + output, return_inverse=True)[1]
    own, times = np.bincount(inverse, value)[inverse], np.bincount(inverse)[inverse]
    others = raters[output] - times
    shared = others > 0
    consensus = (sums[output] - own)[shared] / others[shared]
    stratum = n_systems * worker[shared] + rows.system[kept][shared]
    agreement = _correlation_by(worker[shared], stratum, value[shared], consensus, n_workers)
    return np.asarray(constant | (agreement < min_agreement))


def _correlation_by(worker: Codes, stratum: Codes, a: Floats, b: Floats, n_workers: int) -> Floats:
    """Pearson correlation of each worker, pooled within strata; NaN for few entries or no variance."""
    size = np.bincount(stratum)

    def centered(values: Floats) -> Floats:
        mean = np.bincount(stratum, values) / np.maximum(size, 1)
        return np.asarray(values - mean[stratum])

    a, b = centered(a), centered(b)
    ab, aa, bb = (np.bincount(worker, product, n_workers) for product in (a * b, a * a, b * b))
    count = np.bincount(worker, minlength=n_workers)
    enough = (count >= MIN_JUDGED) & (aa > _NO_VARIANCE) & (bb > _NO_VARIANCE)
    return np.where(enough, ab / np.sqrt(np.where(enough, aa * bb, 1.0)), np.nan)
