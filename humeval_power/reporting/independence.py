"""The question that every report of a comparison answers: what was not independent?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from humeval_power.checking.cluster_columns import ClusterSuspect
from humeval_power.inference.clustered import FEW_DF, ClusteredMean
from humeval_power.reporting.document import Points, Section
from humeval_power.reporting.numbers import decimals, significant
from humeval_power.reporting.records import Record

Source = Literal["items", "runs", "workers", "judges"]
State = Literal["accounted", "assumed"]

TITLE = "What was not independent?"


@dataclass(frozen=True, slots=True)
class Independence:
    """One answer: what may be alike, whether the analysis takes it into account, and what is said of it."""

    of: Source
    state: State
    text: str


def clustered_items(found: ClusteredMean, name: str) -> Independence:
    """Items in clusters that the analysis knows."""
    sizes = (
        "of equal size" if found.largest * found.n_clusters == found.n else f"of up to {found.largest:,}"
    )
    text = (
        f"The {found.n:,} items come in {found.n_clusters:,} clusters ({name}), {sizes}. Errors are robust to "
        f"whatever items of a cluster share (CR2, {decimals(found.df, 1)} df): "
        f"the standard error is {significant(found.standard_error)}, and {significant(found.independent_error)} "
        "as if the items were independent."
    )
    if found.is_rough:
        text += (
            f" Below {FEW_DF:g} degrees of freedom this is no more than a hint: the clusters are too few, or one "
            "of them rules."
        )
    return Independence("items", "accounted", text)


def assumed_items(n: int, suspects: Sequence[ClusterSuspect] = ()) -> Independence:
    """Items that count as independent because nobody said otherwise."""
    text = (
        f"The {n:,} items count as independent. Where several belong to one passage, document or template they are "
        "not, and the interval is too short: name the column by --cluster."
    )
    return Independence("items", "assumed", " ".join([text, *(each.sentence() for each in suspects)]))


def independence_section(answers: Sequence[Independence]) -> Section:
    """The question with its answers, one point each."""
    return Section(TITLE, (Points(tuple(each.text for each in answers)),))


def independence_record(answers: Sequence[Independence]) -> list[Record]:
    """The same as plain values, for the key `independence`."""
    return [asdict(each) for each in answers]
