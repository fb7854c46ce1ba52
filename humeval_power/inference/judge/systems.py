"""All pairs of several systems, or each against a baseline, with a judge's help; p-values by Holm (1979)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from scipy import special

from humeval_power.errors import HumevalPowerError, InputError
from humeval_power.inference.corrections import correct
from humeval_power.inference.judge.means import JudgedMean, JudgedMeans, judged_means
from humeval_power.inference.judge.rated import RatedEstimate, RatedMeans, rated_means
from humeval_power.inference.judge.table import JudgedTable

Basis = Literal["workers", "values"]


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """The difference second - first with the judge and without; `holm_p` is corrected for all pairs, and so is
    `simultaneous`, the interval at 1 - (1 - confidence) / pairs (Bonferroni)."""

    first: str
    second: str
    found: JudgedMeans | RatedMeans
    holm_p: float
    simultaneous: tuple[float, float]

    @property
    def human(self) -> JudgedMean | RatedEstimate:
        """From humans alone."""
        return self.found.human

    @property
    def judged(self) -> JudgedMean | RatedEstimate:
        """With the judge, at the estimated weight."""
        return self.found.judged if isinstance(self.found, RatedMeans) else self.found.tuned


@dataclass(frozen=True, slots=True)
class JudgedSystems:
    """The pairs in the order of the systems; `basis` says whether workers are in the model."""

    systems: tuple[str, ...]
    pairs: tuple[JudgedPair, ...]
    basis: Basis
    confidence: float
    seed: int
    baseline: str | None = None


def judged_pair(
    table: JudgedTable, pair: tuple[str, str] | None, *, confidence: float, seed: int
) -> JudgedMeans | RatedMeans:
    """One difference, or one mean: by the rating model where workers are known, else from the means of outputs."""
    if table.is_rated_by_workers:
        return rated_means(table.rated(pair), confidence=confidence)
    values = table.values(pair)
    return judged_means(
        values.human,
        values.judge,
        values.extra,
        clusters=values.clusters,
        confidence=confidence,
        seed=seed,
    )


def judged_systems(
    table: JudgedTable,
    systems: tuple[str, ...],
    *,
    baseline: str | None = None,
    confidence: float = 0.95,
    seed: int = 1,
) -> JudgedSystems:
    """Every pair of the systems, or every system against the baseline.

    Raises
    ------
    InputError
        A baseline that is none of the systems, or a pair that cannot be compared, which is named.
    """
    if baseline is not None and baseline not in systems:
        raise InputError(f"The baseline {baseline!r} is none of the systems {', '.join(systems)}.")
    pairs = list(combinations(systems, 2))
    if baseline is not None:
        pairs = [(baseline, other) for other in systems if other != baseline]
    found = []
    for pair in pairs:
        try:
            found.append(judged_pair(table, pair, confidence=confidence, seed=seed))
        except HumevalPowerError as error:
            raise type(error)(f"{pair[1]} - {pair[0]}: {error}") from None
    estimates = [one.judged if isinstance(one, RatedMeans) else one.tuned for one in found]
    corrected = correct([one.p_value for one in estimates], "holm")
    tail = (1 - confidence) / 2 / len(pairs)
    return JudgedSystems(
        systems,
        tuple(
            JudgedPair(*pair, means, float(p), _interval(estimate, tail))
            for pair, means, estimate, p in zip(pairs, found, estimates, corrected, strict=True)
        ),
        "workers" if table.is_rated_by_workers else "values",
        confidence,
        seed,
        baseline,
    )


def _interval(estimate: JudgedMean | RatedEstimate, tail: float) -> tuple[float, float]:
    reach = -float(special.stdtrit(estimate.df, tail)) * estimate.standard_error
    return estimate.estimate - reach, estimate.estimate + reach
