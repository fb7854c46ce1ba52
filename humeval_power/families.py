"""Which tests of several systems are made together, and how they are corrected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

from humeval_power.choices import CORRECTIONS
from humeval_power.errors import InputError

Comparisons = Literal["all-pairs", "baseline"]
Correction = Literal["holm", "bonferroni", "max-t", "bh", "none"]
CorrectOver = Literal["all", "criterion"]
SystemModel = Literal["pairwise", "joint"]
SystemVariances = Literal["common", "own"]
JOINT_DOCUMENTS = (
    "The joint model of all systems has no document effects, so that with items out of documents its standard "
    "errors would be too small: fit the systems in pairs (--model pairwise), which has them."
)


MAX_T_OVER_CRITERIA = (
    "max-t needs the correlation of all tests, and that between criteria is not known: correct with --correction "
    "holm over all of them, or with max-t within each (--correct-over criterion)."
)


@dataclass(frozen=True, slots=True)
class ComparisonFamily:
    """Which tests are made together, by which model and correction: chosen once, carried by every result.

    `comparisons` are every pair, or every other system against `baseline`. `model` is a fit for each pair, or
    one of all systems with the `variances` of each system its own or common to all. `correction` is Holm's (1979),
    Bonferroni's, the largest of the correlated t statistics ('max-t', joint model only), Benjamini and
    Hochberg's (1995) false discovery rate ('bh') or none. `over` says what it covers where there are several
    criteria: all tests of all of them, or those of each criterion by themselves.

    Raises
    ------
    InputError
        An unknown word, a baseline beside all pairs, or max-t for fits in pairs.

    Examples
    --------
    >>> ComparisonFamily(comparisons="baseline", baseline="b").pairs(["a", "b", "c"])
    [('b', 'a'), ('b', 'c')]
    """

    comparisons: Comparisons = "all-pairs"
    baseline: str | None = None
    correction: Correction = "holm"
    model: SystemModel = "pairwise"
    variances: SystemVariances = "own"  # the error rates that decided it: docs/many-systems.md
    over: CorrectOver = "all"

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be one of {', '.join(words)}; got {getattr(self, name)!r}."
            for name, words in (
                ("comparisons", get_args(Comparisons)),
                ("correction", get_args(Correction)),
                ("model", get_args(SystemModel)),
                ("variances", get_args(SystemVariances)),
                ("over", get_args(CorrectOver)),
            )
            if getattr(self, name) not in words
        ]
        if self.baseline is not None and self.comparisons == "all-pairs":
            problems.append(
                f"A baseline is for comparisons with it, not for all pairs; got {self.baseline!r}."
            )
        if self.correction == "max-t" and self.model == "pairwise":
            problems.append(
                "The correction max-t needs the correlation of the comparisons, which fits in pairs do not "
                "give. Fit the systems together (--model joint), or take holm."
            )
        if problems:
            raise InputError(" ".join(problems))

    @property
    def limits_errors(self) -> bool:
        """Whether the correction limits the chance of claiming anything untrue at all."""
        return CORRECTIONS[self.correction].limits == "any"

    def criterion_alpha(self, alpha: float, n_criteria: int) -> float:
        """The level of one criterion where all are corrected together: its share of alpha, as if the others found
        as much as it does."""
        return alpha / n_criteria if self.over == "all" and self.limits_errors else alpha

    def pairs(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """The comparisons (first, second), of which each is second - first.

        Raises
        ------
        InputError
            Fewer than two systems, no baseline to compare with, or one that is none of the systems.
        """
        if len(names) < 2:
            raise InputError(f"At least two systems are needed; the table has {len(names)}.")
        if self.comparisons == "all-pairs":
            return list(combinations(names, 2))
        known = f"the systems are {', '.join(names)}."
        if self.baseline is None:
            raise InputError(
                f"Name the system that the others are compared with (--baseline NAME); {known}"
            )
        if self.baseline not in names:
            raise InputError(
                f"There is no system {self.baseline!r} to compare with; {known} Name one of them: --baseline NAME."
            )
        return [(self.baseline, name) for name in names if name != self.baseline]


DEFAULT_FAMILY = ComparisonFamily()


@dataclass(frozen=True, slots=True)
class FamilyOfTests:
    """The tests that were corrected together: how they were chosen, and how many there are.

    `criteria` are those whose tests are in it, empty where it is of one criterion alone. A comparison
    without a test counts as one of the `n_tests`. `n_looks` is the number of looks that all were tested at, 0 for
    one test at the end. `drop_result` says what looks that drop systems have found, '' where they are planned; None
    where looks drop none. All pairs and looks are then corrected by these looks.
    """

    family: ComparisonFamily
    n_tests: int
    criteria: tuple[str, ...] = ()
    n_looks: int = 0
    drop_result: str | None = None

    @property
    def is_corrected(self) -> bool:
        """Whether p-values are corrected, by a correction or by looks that drop systems."""
        return self.family.correction != "none" or self.drop_result is not None
