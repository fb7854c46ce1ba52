"""What is said of a mean whose values come in clusters: caveats, a record, and sentences for a paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from humeval_power.checking.suspects import ClusterSuspect
from humeval_power.clusters import Clusters
from humeval_power.inference.clustered import FEW_DF, ClusteredMean
from humeval_power.saying.document import Points, Section
from humeval_power.saying.numbers import decimals, percent, significant
from humeval_power.saying.result import Record

PAPER = "For a paper"


def cluster_caveats(mean: ClusteredMean | None, alpha: float = 1.0) -> tuple[str, ...]:
    """What must be known before so few clusters, or one that rules, are believed; `alpha` of a test that swaps."""
    if mean is None:
        return ()
    caveats = []
    if mean.is_rough:
        caveats.append(
            f"{mean.n_clusters:,} clusters, the largest with {percent(mean.largest / mean.n)} of the items, "
            f"give {decimals(mean.df, 1)} degrees of freedom: below {FEW_DF:g} an interval is no more than a hint."
        )
    if 2.0 ** (1 - mean.n_clusters) > alpha:
        least = 2.0 ** (1 - mean.n_clusters)
        caveats.append(
            f"Swapping {mean.n_clusters:,} whole clusters cannot give a p-value below {least:.3g}, whatever the "
            "answers are."
        )
    return tuple(caveats)


def in_clusters(clusters: Clusters | ClusteredMean | None, name: str | None = None) -> str:
    """' in 40 clusters (passage)', or nothing; of a mean with the name of its clusters."""
    if clusters is None or (name := clusters.name if isinstance(clusters, Clusters) else name) is None:
        return ""
    return f" in {clusters.n_clusters:,} clusters ({name})"


def paper_error(mean: ClusteredMean | None, of: str) -> str:
    """How the interval was found, as a sentence."""
    if mean is None:
        return f"The interval is Student's, from the {of} of the items, which count as independent."
    return (
        f"The interval is cluster-robust (CR2 of the {of}, Student's t with {decimals(mean.df, 1)} degrees of "
        "freedom; Bell and McCaffrey 2002)."
    )


def cluster_record(mean: ClusteredMean | None, name: str | None) -> Record | None:
    """The clustered mean as plain values; None where there are no clusters."""
    if mean is None or name is None:
        return None
    values = {
        **asdict(mean),
        "design_effect": mean.design_effect,
        "effective_n": mean.effective_n,
    }
    plain = {
        key: None if isinstance(value, float) and math.isnan(value) else value
        for key, value in values.items()
    }
    return {"name": name, **plain}


# The question that every report of a comparison answers: what was not independent?

Source = Literal["items", "runs", "workers", "judges"]
State = Literal["accounted", "assumed"]

TITLE = "What counts as independent?"


@dataclass(frozen=True, slots=True)
class Independence:
    """One answer: what may be alike, whether the analysis takes it into account, and what is said of it."""

    of: Source
    state: State
    text: str


def clustered_items(mean: ClusteredMean, name: str) -> Independence:
    """Items in clusters that the analysis knows."""
    sizes = "of equal size" if mean.largest * mean.n_clusters == mean.n else f"of up to {mean.largest:,}"
    text = (
        f"The {mean.n:,} items come in {mean.n_clusters:,} clusters ({name}), {sizes}. Errors are robust to "
        f"whatever items of a cluster share (CR2, {decimals(mean.df, 1)} df): "
        f"the standard error is {significant(mean.standard_error)}, and {significant(mean.independent_error)} "
        "as if the items were independent."
    )
    if mean.is_rough:
        text += (
            f" Below {FEW_DF:g} degrees of freedom this is no more than a hint: the clusters are too few, or one "
            "of them rules."
        )
    return Independence("items", "accounted", text)


def assumed_items(n: int, suspects: Sequence[ClusterSuspect] = ()) -> Independence:
    """Items that count as independent because nobody said otherwise."""
    if suspects:
        doubt = " ".join(each.sentence() for each in suspects)
    else:
        doubt = (
            "Where several belong to one passage, document or template they are not, and the interval is too "
            "short: name the column with --cluster."
        )
    return Independence("items", "assumed", f"The {n:,} items count as independent. {doubt}")


def independence_section(answers: Sequence[Independence]) -> Section:
    """The question with its answers, one point each."""
    return Section(TITLE, (Points(tuple(each.text for each in answers)),))


def independence_record(answers: Sequence[Independence]) -> list[Record]:
    """The same as plain values, for the key `independence`."""
    return [asdict(each) for each in answers]
