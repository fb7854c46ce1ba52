"""How often two submissions to a leaderboard do alike, counted on a validation set that both have answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from humeval_power.comparisons.accuracy.agreement import KnownAgreement
from humeval_power.errors import InputError, Problem


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
            raise InputError(
                [
                    Problem(
                        f"has no row for the pair {first} and {second}, which are compared.",
                        "Add it: the items that exactly one of them gets right.",
                        place=self.source,
                    )
                ]
            )
        return KnownAgreement(1 - count / self.n_items)
