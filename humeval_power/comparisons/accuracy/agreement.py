"""How often two systems are right or wrong together: known, predicted from history, or assumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from humeval_power.errors import InputError, refusal

FITTED_ACCURACIES = (0.8, 1.0)  # where the regressions of the paper have seen pairs


class AgreementSource(Protocol):
    """What says on which share of the items two systems get different results."""

    @property
    def label(self) -> str:
        """In words, for people."""
        ...

    @property
    def needs_baseline(self) -> bool:
        """Whether the accuracy of the baseline must be known."""
        ...

    def disagreement(self, baseline: float, difference: float) -> float:
        """Share of items that exactly one system gets right."""
        ...


@dataclass(frozen=True, slots=True)
class KnownAgreement:
    """A share of items, such as that on the validation set, on which both are right or both wrong."""

    share: float
    needs_baseline: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise InputError(f"An agreement is a share of the items, between 0 and 1; got {self.share:g}.")

    @property
    def label(self) -> str:
        """In words."""
        return f"right or wrong together on {100 * self.share:.4g} % of the items"

    def disagreement(self, baseline: float, difference: float) -> float:  # noqa: ARG002
        """What is left."""
        return 1 - self.share


@dataclass(frozen=True, slots=True)
class OverlapRegression:
    """Agreement from a regression on past pairs: constant + a * smaller accuracy + b * |difference|
    (Card et al. 2020, App. E.2.1). `seen`: the accuracies that the pairs had."""

    name: str
    constant: float
    per_accuracy: float
    per_difference: float
    seen: tuple[float, float] = FITTED_ACCURACIES
    needs_baseline: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """In words."""
        return f"as a regression on pairs of {self.name} systems predicts it"

    def disagreement(self, baseline: float, difference: float) -> float:
        """One minus the predicted agreement."""
        worse = baseline + min(difference, 0.0)
        predicted = self.constant + self.per_accuracy * worse + self.per_difference * abs(difference)
        return 1 - predicted


@dataclass(frozen=True, slots=True)
class AssumedAgreement:
    """No prior: items that both get right are as many as the accuracies allow ('most': the agreement is
    the largest), as few ('least'), or half-way ('middle', after Lachenbruch 1992)."""

    assumed: Literal["middle", "least", "most"]
    needs_baseline: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """In words."""
        return {
            "middle": "half-way between the least and the most possible (Lachenbruch 1992)",
            "least": "the least that the accuracies allow (worst case)",
            "most": "the most that the accuracies allow (best case)",
        }[self.assumed]

    def disagreement(self, baseline: float, difference: float) -> float:
        """p_A + p_B - 2 p_both."""
        other = baseline + difference
        fewest, most = max(baseline + other - 1, 0.0), min(baseline, other)
        both = {"middle": (fewest + most) / 2, "least": fewest, "most": most}[self.assumed]
        return max(baseline + other - 2 * both, abs(difference))


# Full precision where the authors' notebook has it: eq. (2) of the paper rounds too much to reproduce
# its Table 9. SQuAD 2.0 is their Table 6.
OVERLAP: Mapping[str, OverlapRegression] = {
    "glue": OverlapRegression("GLUE", 0.41422307, 0.58187475, -0.46624237),
    "squad": OverlapRegression("SQuAD 2.0", 0.4339, 0.5932, -1.2849),
}


# Counted on a validation set that two submissions to a leaderboard have answered.


@dataclass(frozen=True, slots=True)
class ValidationPairs:
    """Of `n_items` items of the validation set, those that exactly one of two submissions gets right.

    `differing` is by the keys of both (`Submission.key`), in either order; `source` names the table.
    """

    n_items: int
    differing: Mapping[frozenset[str], int]
    source: str = "pairs"

    def agreement(self, first: str, second: str) -> KnownAgreement:
        """The share of the items on which both are right or both wrong."""
        count = self.differing.get(frozenset((first, second)))
        if count is None:
            raise refusal(
                f"has no row for the pair {first} and {second}, which are compared.",
                "Add it: the items that exactly one of them gets right.",
                place=self.source,
            )
        return KnownAgreement(1 - count / self.n_items)
