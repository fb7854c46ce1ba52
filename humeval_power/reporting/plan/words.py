"""The fixed words of a plan's page: designs, parts of the cost, what varies, and what a deviation is."""

from __future__ import annotations

from collections.abc import Mapping

from humeval_power.choices import DesignKind
from humeval_power.designs import Design
from humeval_power.reporting.numbers import counted

DESIGN_WORDS: Mapping[DesignKind, str] = {
    "crossed": "Every worker rates every item under both systems.",
    "k-per-item": "Each item is rated by {k} of the workers, each of whom rates it under both systems.",
    "split": "Each item is rated by {k} workers under {a} and by {k} others under {b}.",
    "workers-nested": "Half of the workers rate every item under {a}, the other half every item under {b}.",
    "items-nested": "Every worker rates every item; half of the items are shown under {a}, the others "
    "under {b}.",
    "both-nested": "Half of the workers rate half of the items under {a}; the other workers rate the other "
    "items under {b}.",
    "counterbalanced": "Each worker sees each item once: one half of the workers sees one half of the "
    "items under {a} and the rest under {b}, the other workers the other way round.",
}
MANY_DESIGN_WORDS: Mapping[DesignKind, str] = {
    "crossed": "Every worker rates every item under all {all} systems.",
    "k-per-item": "Each item is rated by {k} of the workers, each of whom rates it under all {all} systems.",
    "split": "Each item is rated by {k} workers under each of the {all} systems, by others under another as far as "
    "there are enough.",
}
COST_NAMES = {
    "ratings": "Ratings",
    "attention_checks": "Attention checks",
    "repeats": "Outputs shown once more",
    "rejected_work": "Rejected work, collected again",
    "workers": "Workers, once each",
    "documents": "Documents, once each",
    "items": "Items and outputs",
    "fees": "Platform fees",
}
DEVIATIONS = (
    "Other numbers of workers, items or ratings, or another way of sharing them out.",
    "Another test, alpha, direction or way of fitting.",
    "Leaving out, replacing or correcting ratings by a rule that is not listed above.",
    "Other systems, items from elsewhere, another question to the workers or another scale.",
)
EARLY_LOOK = (
    "Looking at the difference between the systems before all ratings are in, or stopping early or late "
    "because of it."
)
OTHER_LOOK = (
    "Looking at the difference between the systems at other times than the planned looks, or stopping or "
    "going on against their boundaries."
)
SD_WORDS = {
    "sd_worker_intercept": "How high workers rate",
    "sd_worker_slope": "The difference B - A between workers",
    "sd_item_intercept": "How high items are rated",
    "sd_item_slope": "The difference B - A between items",
    "sd_residual": "Ratings beyond that (noise)",
    "sd_worker_item": "What a worker and an item share",
    "sd_document_intercept": "How high documents are rated",
    "sd_document_slope": "The difference B - A between documents",
}
OBSERVED = (
    "This is the difference that the pilot showed, not one that was chosen because it matters. Such an "
    "estimate is uncertain, it is too large where the pilot was followed up because it looked promising, "
    "and power computed for it only restates the pilot's p-value. State the smallest difference of interest."
)
NOT_OBSERVED = (
    "The power is not computed for a difference that was observed. One from a pilot is uncertain, is too "
    "large where the pilot was followed up because it looked promising, and power computed for it only "
    "restates the pilot's p-value."
)


def work_words(design: Design, systems: str) -> str:
    """'9 workers rate 80 items under old and new, with 1 rating of each output: 160 ratings'."""
    documents = f" in {counted(design.n_documents, 'document')}" if design.n_documents else ""
    each = "1 rating" if design.ratings_per_item == 1 else f"{design.ratings_per_item:g} ratings"
    return (
        f"{counted(design.n_workers, 'worker')} rate {counted(design.n_items, 'item')}{documents} under {systems}, "
        f"with {each} of each output: {counted(design.n_ratings, 'rating')}"
    )
