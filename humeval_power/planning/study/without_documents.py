"""How often a planned study would find what is not there, if its documents were left out of the analysis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from humeval_power.planning.power import DEFAULT_SEED, estimate_power

if TYPE_CHECKING:
    from humeval_power.scenarios.study import RatingStudy


N_SIMULATED = 10_000  # studies drawn by their mean squares, which takes a few milliseconds


@dataclass(frozen=True, slots=True)
class WithoutDocuments:
    """The rate of false positives of an analysis that leaves the documents out; of the rule's claim where it
    has a margin and the true difference lies there. `n_simulations` is 0 where the rate is by formula."""

    rate: float
    alpha: float
    n_simulations: int

    def __str__(self) -> str:
        how = f"{self.n_simulations:,} simulated studies" if self.n_simulations else "by formula"
        return (
            f"left out of the analysis they would raise false positives from {100 * self.alpha:g} % to "
            f"{100 * self.rate:.2g} % ({how})"
        )


def without_documents(study: RatingStudy, *, seed: int = DEFAULT_SEED) -> WithoutDocuments | None:
    """By simulation where studies are drawn by their mean squares, else by formula; None for a study without
    documents, and where neither describes it."""
    from humeval_power.inference.study.left_out import false_positives_without_documents

    if study.design.n_documents == 0 or study.rule.is_simulated:
        return None
    null = replace(study, ignore_documents=True).with_effect(study.rule.null_effect)
    if null.replication.by_mean_squares and null.rule.estimator == "reml":
        found = estimate_power(null, n_simulations=N_SIMULATED, seed=seed)
        return WithoutDocuments(found.rejection_rate, study.alpha, N_SIMULATED)
    if not study.has_formula:
        return None
    rate = false_positives_without_documents(study.parameters, study.design, rule=study.rule)
    return WithoutDocuments(rate, study.alpha, 0)
