"""What of raw ratings was not independent, and how a test of them was told."""

from __future__ import annotations

import numpy as np

from humeval_power.inference.assessment.pairs import Codes, PairTests, RatedOutputs
from humeval_power.inference.clustered import FEW_DF
from humeval_power.reporting.independence import Independence
from humeval_power.reporting.numbers import decimals

_STRATA = (
    "Where outputs were drawn in strata, such as a fixed share of each document or of each bin of a metric, the "
    "test counts what lies between strata as noise, and is too cautious."
)


def independence_of_rated(rated: RatedOutputs, found: PairTests) -> tuple[Independence, ...]:
    """Of items and of workers: what is shared, and whether the test knows it."""
    known = () if rated.cluster is None else (_clusters(rated, found),)
    return (*known, _items(rated), _workers(rated))


def _clusters(rated: RatedOutputs, found: PairTests) -> Independence:
    least = min((pair.df for pair in found.pairs if pair.df is not None), default=float("nan"))
    text = (
        f"Ratings of one {rated.cluster_name} belong together. Errors are robust to whatever they share (CR2, at "
        f"least {decimals(least, 1)} df); "
        + (
            "Mann-Whitney's P(B > A) is tested by placements (Brunner and Munzel 2000; Obuchowski 1997)."
            if found.test == "mann-whitney"
            else "the mean difference is tested by Student's t."
        )
    )
    if not least >= FEW_DF:
        text += f" Below {FEW_DF:g} degrees of freedom this is no more than a hint."
    return Independence("items", "accounted", text)


def _items(rated: RatedOutputs) -> Independence:
    if rated.item is None:
        text = "The table does not say which items were rated: all ratings count as of other items. "
        return Independence("items", "assumed", text + _STRATA)
    n, most, shared = _shared(rated.item, rated.system)
    text = f"The ratings are of {n:,} items, up to {most:,} of one"
    if shared:
        text += (
            f"; {shared:,} items were rated under more than one system. The test does not pair them, and hard "
            "items count as noise: 'compare scores' pairs them."
        )
    else:
        text += ". No item was rated under two systems."
    return Independence("items", "assumed", f"{text} {_STRATA}")


def _workers(rated: RatedOutputs) -> Independence:
    if rated.worker is None:
        text = (
            "The table does not say who rated: all ratings count as independent. Where a worker rates many outputs "
            "they are not, and the test is too bold."
        )
        return Independence("workers", "assumed", text)
    n, most, _ = _shared(rated.worker, rated.system)
    known = rated.cluster is not None
    text = f"{n:,} workers gave up to {most:,} ratings each" + (
        f". The test knows what ratings of one {rated.cluster_name} share, and nothing else."
        if known
        else ", which count as independent. A strict worker, or one who likes a system, moves many of them: "
        "the test is then too bold. 'fit' and 'analyze' know workers and items; --cluster COLUMN is robust to "
        "one of both."
    )
    return Independence("workers", "assumed", text)


def _shared(code: Codes, system: Codes) -> tuple[int, int, int]:
    """How many there are, the most ratings of one, and how many of them stand under two systems or more."""
    kinds, place = np.unique(code, return_inverse=True)
    both = np.unique(np.stack([place, system]), axis=1)
    n_systems = np.bincount(both[0], minlength=len(kinds))
    return len(kinds), int(np.bincount(place).max()), int((n_systems > 1).sum())
