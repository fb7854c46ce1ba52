"""What was not independent in a study of ratings, and whether its model knows."""

from __future__ import annotations

from collections.abc import Iterator

from humeval_power.ratings import Ratings
from humeval_power.reporting.document import Section
from humeval_power.reporting.independence import Independence, independence_record, independence_section
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.records import Record


def study_independence(ratings: Ratings) -> tuple[Independence, ...]:
    """What ratings share: workers and items always, documents where they are named."""
    return tuple(_answers(ratings))


def study_independence_section(ratings: Ratings) -> Section:
    """The same as a section."""
    return independence_section(study_independence(ratings))


def study_independence_content(ratings: Ratings) -> list[Record]:
    """The same as plain values."""
    return independence_record(study_independence(ratings))


def _answers(ratings: Ratings) -> Iterator[Independence]:
    workers, items = counted(ratings.n_workers, "worker"), counted(ratings.n_items, "item")
    yield Independence(
        "workers",
        "accounted",
        f"Ratings of one worker are alike, and so are those of one item. The model knows {workers} and {items}, "
        "with their levels and with how they differ between systems.",
    )
    if ratings.n_documents:
        yield Independence(
            "items",
            "accounted",
            f"Items of one document are alike. The model knows {counted(ratings.n_documents, 'document')}.",
        )
    else:
        yield Independence(
            "items",
            "assumed",
            "Items count as independent of each other. Where several are sentences of one document, or turns of "
            "one dialogue, they are not: name the column by --document.",
        )
