"""Statistics of each worker's own work, from arrays; none of them knows which system an output is from.

An output is known by its code alone. Codes may be exchanged between the systems of any item, for that item only:
every statistic stays what it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

MIN_ANSWERS = 10  # ratings (of agreement: items) of a worker below which chance alone explains a statistic
_NO_VARIANCE = 1e-12  # sums of squares on [0, 1] below this are rounding
_DIGITS = 12  # answers that differ by less than this many decimals are the same answer


def failed_share(failed: Codes, seen: Codes) -> Floats:
    """Share of the attention checks seen that were failed, NaN without any; shapes (n_workers,)."""
    return np.where(seen > 0, failed / np.maximum(seen, 1), np.nan)


def mean_by(group: Codes, values: Floats, n_groups: int) -> Floats:
    """Mean of each group, NaN where it is empty; shape (n_groups,)."""
    count = np.bincount(group, minlength=n_groups)
    return np.where(count > 0, np.bincount(group, values, n_groups) / np.maximum(count, 1), np.nan)


def median_by(group: Codes, values: Floats, n_groups: int) -> Floats:
    """Median of the known values of each group, NaN where there are none; shape (n_groups,)."""
    known = np.isfinite(values)
    order = np.lexsort((values[known], group[known]))
    ordered, of = values[known][order], group[known][order]
    start, end = np.searchsorted(of, np.arange(n_groups)), np.searchsorted(of, np.arange(n_groups), "right")
    medians = np.full(n_groups, np.nan)
    some = end > start
    middle = start[some] + end[some]
    medians[some] = (ordered[(middle - 1) // 2] + ordered[middle // 2]) / 2
    return medians


def same_answer_share(worker: Codes, rating: Floats, n_workers: int, *, least: int = MIN_ANSWERS) -> Floats:
    """Share of a worker's ratings that are the one most frequent answer, shape (n_workers,).

    NaN with fewer than `least` ratings. It is 1 for who straight-lines (the long string of Johnson 2005,
    whatever the order of the outputs).
    """
    count = np.bincount(worker, minlength=n_workers)
    _, answer = np.unique(np.round(rating, _DIGITS), return_inverse=True)
    if not len(answer):
        return np.full(n_workers, np.nan)
    pair, times = np.unique(worker * np.int64(answer.max() + 1) + answer, return_counts=True)
    most = np.zeros(n_workers, dtype=np.int64)
    np.maximum.at(most, pair // np.int64(answer.max() + 1), times)
    return np.where(count >= least, most / np.maximum(count, 1), np.nan)


def agreement_over_items(
    worker: Codes,
    item: Codes,
    output: Codes,
    rating: Floats,
    n_workers: int,
    *,
    stratum: Codes | None = None,
    least: int = MIN_ANSWERS,
) -> tuple[Codes, Floats]:
    """Correlation of each worker's mean rating of an item with that of the others, and the items it is over.

    It is a person-total correlation (Donlon and Fischer 1968; Curran 2016). An item counts for a worker who
    rated any of its outputs, if others rated every one of them. The others' rating of an item is the mean over
    all its outputs, each being the mean of its ratings by the others: with every system in it alike it says
    nothing of the difference between systems, and so the correlation does not favour workers who see that
    difference as the others do. Items with fewer outputs than others have do not count, nor do items with
    one output, which would tell of their system.

    Parameters
    ----------
    worker, item, output, rating : (n_ratings,); an output belongs to one item.
    stratum : (n_ratings,) of the item, within which means are taken out, such as the criterion.
    least : items below which the correlation is NaN, as it is where either side does not vary.

    Returns
    -------
    Number of items and correlation, shape (n_workers,) each.
    """
    if not len(rating):
        return np.zeros(n_workers, dtype=np.int64), np.full(n_workers, np.nan)
    _, output = np.unique(output, return_inverse=True)
    n_outputs, n_items = int(output.max()) + 1, int(item.max()) + 1
    cell_key, cell = np.unique(worker * np.int64(n_outputs) + output, return_inverse=True)
    cell_sum, cell_count = np.bincount(cell, rating), np.bincount(cell)
    of_worker, of_output = np.divmod(cell_key, n_outputs)
    item_of = np.empty(n_outputs, dtype=np.int64)
    item_of[output] = item
    outputs_of = np.bincount(item_of, minlength=n_items)
    output_sum, output_count = np.bincount(output, rating), np.bincount(output)
    output_mean = output_sum / output_count
    # an item for a worker: the mean of the outputs' means, with the worker's own part taken out of each
    meeting_key, meeting = np.unique(
        of_worker * np.int64(n_items) + item_of[of_output], return_inverse=True
    )
    meeting_worker, meeting_item = np.divmod(meeting_key, n_items)
    others = output_count[of_output] - cell_count
    without = (output_sum[of_output] - cell_sum) / np.maximum(others, 1)
    moved = np.bincount(meeting, without - output_mean[of_output])
    consensus = (np.bincount(item_of, output_mean, n_items)[meeting_item] + moved) / outputs_of[
        meeting_item
    ]
    own = np.bincount(meeting, cell_sum / cell_count) / np.bincount(meeting)
    alone = np.bincount(meeting, others == 0) > 0
    full = outputs_of[meeting_item] == max(int(outputs_of.max()), 2)
    used = ~alone & full
    who = meeting_worker[used]
    group = who
    if stratum is not None:
        stratum_of = np.empty(n_items, dtype=np.int64)
        stratum_of[item] = stratum
        group = who * np.int64(stratum.max() + 1) + stratum_of[meeting_item[used]]
    a, b = centred(own[used], group), centred(consensus[used], group)
    ab, aa, bb = (np.bincount(who, part, n_workers) for part in (a * b, a * a, b * b))
    count = np.bincount(who, minlength=n_workers)
    defined = (count >= least) & (aa > _NO_VARIANCE) & (bb > _NO_VARIANCE)
    return count, np.where(defined, ab / np.sqrt(np.where(defined, aa * bb, 1.0)), np.nan)


def centred(values: Floats, group: Codes) -> Floats:
    """The values less the mean of their group."""
    if not len(values):
        return values
    size = np.maximum(np.bincount(group), 1)
    return np.asarray(values - (np.bincount(group, values) / size)[group])
