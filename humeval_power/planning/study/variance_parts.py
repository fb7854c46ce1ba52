"""What the variance of the estimated difference consists of: workers, items, documents, noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from humeval_power.parameters import Parameters
from humeval_power.study_counts import StudyCounts

Part = Literal["workers", "items", "documents", "residual", "pairs of worker and item"]


def variance_parts(parameters: Parameters, counts: StudyCounts) -> Mapping[Part, float]:
    """The variance on [0, 1] that each adds in a regular study of two systems; they add up to that of the estimate.

    What workers, items and documents add is how far they differ about the difference of the systems. Where the same
    worker rates both outputs of an item, what is peculiar to the two of them cancels.
    """
    coded = parameters.recoded()
    ratings = counts.n_items * counts.ratings_per_item
    found: dict[Part, float] = {
        "workers": coded.sd_worker_slope**2 / counts.n_workers,
        "items": coded.sd_item_slope**2 / counts.n_items,
    }
    if counts.n_documents:
        found["documents"] = coded.sd_document_slope**2 / counts.n_documents
    found["residual"] = 2 * coded.sd_residual**2 / ratings
    if not counts.paired and coded.sd_worker_item:
        found["pairs of worker and item"] = 2 * coded.sd_worker_item**2 / ratings
    return found
