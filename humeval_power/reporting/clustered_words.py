"""What is said of a mean whose values come in clusters: caveats, a record, and sentences for a paper."""

from __future__ import annotations

import math
from dataclasses import asdict

from humeval_power.inference.clustered import FEW_DF, ClusteredMean
from humeval_power.reporting.numbers import decimals, percent
from humeval_power.reporting.records import Record

PAPER = "For a paper"


def cluster_caveats(found: ClusteredMean | None, alpha: float = 1.0) -> tuple[str, ...]:
    """What must be known before so few clusters, or one that rules, are believed; `alpha` of a test that swaps."""
    if found is None:
        return ()
    caveats = []
    if found.is_rough:
        caveats.append(
            f"{found.n_clusters:,} clusters, the largest with {percent(found.largest / found.n)} of the items, "
            f"give {decimals(found.df, 1)} degrees of freedom: below {FEW_DF:g} an interval is no more than a hint."
        )
    if 2.0 ** (1 - found.n_clusters) > alpha:
        least = 2.0 ** (1 - found.n_clusters)
        caveats.append(
            f"Swapping {found.n_clusters:,} whole clusters cannot give a p-value below {least:.3g}, whatever the "
            "answers are."
        )
    return tuple(caveats)


def few_clusters(found: ClusteredMean | None, name: str | None) -> str:
    """' in 40 clusters (passage)', or nothing."""
    return "" if found is None or name is None else f" in {found.n_clusters:,} clusters ({name})"


def paper_error(found: ClusteredMean | None, of: str) -> str:
    """How the interval was found, as a sentence."""
    if found is None:
        return f"The interval is Student's, from the {of} of the items, which count as independent."
    return (
        f"The interval is cluster-robust (CR2 of the {of}, Student's t with {decimals(found.df, 1)} degrees of "
        "freedom; Bell and McCaffrey 2002)."
    )


def cluster_record(found: ClusteredMean | None, name: str | None) -> Record | None:
    """The clustered mean as plain values; None where there are no clusters."""
    if found is None or name is None:
        return None
    values = {
        **asdict(found),
        "design_effect": found.design_effect,
        "effective_n": found.effective_n,
    }
    plain = {
        key: None if isinstance(value, float) and math.isnan(value) else value
        for key, value in values.items()
    }
    return {"name": name, **plain}
