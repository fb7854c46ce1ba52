"""How a study decides: estimator, degrees of freedom, alternative, alpha and margin, as one value.

Which tests of several systems are made together, and how they are corrected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

from humeval_power.choices import CORRECTIONS
from humeval_power.errors import InputError
from humeval_power.latent import Family, Link

Estimator = Literal["reml", "ml"]
DegreesOfFreedom = Literal["kenward-roger", "satterthwaite", "normal", "min", "bootstrap", "calibrated"]
Analysis = Literal["ratings", "differences"]
Alternative = Literal["two-sided", "greater", "non-inferior", "equivalent"]
WITH_MARGIN: tuple[Alternative, ...] = ("non-inferior", "equivalent")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRule:
    """A Wald t test of the difference between two systems.

    `family` says as what ratings are analysed: numbers with normal noise ('gaussian'), or categories of a
    latent variable ('ordinal', or 'binary' for two of them) with link `link`. Effects and margins are
    differences of expected ratings on [0, 1] for each.

    `df` names the reference distribution: 'kenward-roger' (t with Kenward and Roger's 1997 df and
    their adjusted standard error), 'satterthwaite' (t, as lmerTest), 'normal' (the |t| > 1.96 of
    much practice), 'min' (t with min(workers, items) - 1 df: never too bold, little power),
    'bootstrap' (t against studies simulated without an effect at the fitted parameters) or 'calibrated'
    (the same at parameters assumed beforehand, and right only if those are).

    `analysis` 'differences' fits each worker's and item's difference B - A alone: what a worker and an
    item share cancels, at the price of ratings without a partner.

    `alternative` 'non-inferior' is to show that B - A > -margin, 'equivalent' that -margin < B - A <
    margin (two one-sided tests: Schuirmann 1987), `margin` being a difference on [0, 1] that was fixed
    before the ratings were seen. `alpha` is then that of each one-sided test: the interval that decides
    has confidence 1 - 2 alpha.

    Examples
    --------
    >>> DecisionRule(alternative="equivalent", margin=0.1).halfway
    0.05
    """

    estimator: Estimator = "reml"
    df: DegreesOfFreedom = "kenward-roger"
    alternative: Alternative = "two-sided"
    alpha: float = 0.05
    analysis: Analysis = "ratings"
    margin: float | None = None
    family: Family = "gaussian"
    link: Link = "probit"

    def __post_init__(self) -> None:
        for name, words in (
            ("estimator", get_args(Estimator)),
            ("df", get_args(DegreesOfFreedom)),
            ("alternative", get_args(Alternative)),
            ("analysis", get_args(Analysis)),
            ("family", get_args(Family)),
            ("link", get_args(Link)),
        ):
            if getattr(self, name) not in words:
                raise InputError(f"{name} must be one of {', '.join(words)}; got {getattr(self, name)!r}.")
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha must lie between 0 and 1; got {self.alpha}.")
        if self.estimator == "ml" and self.df not in ("satterthwaite", "normal", "min"):
            raise InputError(
                f"df '{self.df}' is defined for REML fits; use estimator 'reml', or df 'satterthwaite', "
                "'normal' or 'min' with 'ml'."
            )
        if self.is_latent and self.analysis != "ratings":
            raise InputError(
                f"Differences are analysed as numbers; family {self.family!r} analyses ratings."
            )
        if self.alternative not in WITH_MARGIN:
            if self.margin is not None:
                raise InputError(
                    f"A margin belongs to the alternatives {' and '.join(WITH_MARGIN)}; '{self.alternative}' "
                    f"has none; got {self.margin:g}."
                )
            return
        if self.margin is None or not 0 < self.margin <= 1:
            got = "none" if self.margin is None else f"{self.margin:g}"
            raise InputError(
                f"The alternative '{self.alternative}' needs a margin: the smallest difference B - A that "
                f"would matter, above 0 and at most 1, fixed before the ratings are seen; got {got}."
            )
        if self.alpha >= 0.5:
            raise InputError(
                f"alpha must lie below 0.5 for '{self.alternative}', whose interval has confidence "
                f"1 - 2 alpha; got {self.alpha}."
            )

    @property
    def is_latent(self) -> bool:
        """Whether ratings are analysed as categories."""
        return self.family != "gaussian"

    @property
    def is_simulated(self) -> bool:
        """Whether the reference distribution has to be simulated."""
        return self.df in ("bootstrap", "calibrated")

    @property
    def tail(self) -> float:
        """Probability beyond the critical value on one side: alpha, or half of it if two-sided."""
        return self.alpha / 2 if self.alternative == "two-sided" else self.alpha

    @property
    def confidence(self) -> float:
        """Of the two-sided interval whose ends agree with the decision."""
        return 1 - 2 * self.tail

    @property
    def null_effect(self) -> float:
        """The true difference at which the false positives are counted: 0, or minus the margin (the
        upper margin of an equivalence is its mirror image)."""
        return 0.0 if self.margin is None else -self.margin

    @property
    def halfway(self) -> float | None:
        """The difference halfway to the margin, at which to look besides 0; None without a margin."""
        if self.margin is None:
            return None
        return self.margin / 2 if self.alternative == "equivalent" else -self.margin / 2

    def can_show(self, effect: float) -> bool:
        """Whether a study can be large enough to show its claim where the true difference is `effect`."""
        if self.margin is None:
            return effect != 0 if self.alternative == "two-sided" else effect > 0
        return effect > -self.margin and (self.alternative == "non-inferior" or effect < self.margin)

    @property
    def reference_words(self) -> str:
        """Estimator and reference distribution in short."""
        reference = {
            "normal": "normal",
            "bootstrap": "parametric bootstrap",
            "calibrated": "calibrated t",
        }.get(self.df, f"t, {self.df} df")
        of = " of differences" if self.analysis == "differences" else ""
        if self.is_latent:
            of = f" of {self.family} ratings ({self.link})"
        return f"{self.estimator.upper()}{of}, {reference}"

    def __str__(self) -> str:
        claim, level = str(self.alternative), f"alpha {self.alpha:g}"
        if self.margin is not None:
            claim += f" within {self.margin:g}"
            level += " on each side" if self.alternative == "equivalent" else " one-sided"
        return f"{self.reference_words}, {claim}, {level}"


def claim(rule: DecisionRule) -> str:
    """What a rule with a margin is to show: 'equivalence within 0.05'; 'a difference' for any other."""
    if rule.margin is None:
        return "a difference"
    noun = "equivalence" if rule.alternative == "equivalent" else "non-inferiority"
    return f"{noun} within {rule.margin:g}"


DEFAULT_RULE = DecisionRule()

# Card et al. (2020) count fits with t > 1.96 after maximum likelihood: one-sided at 0.025.
CARD2020 = DecisionRule(estimator="ml", df="normal", alternative="greater", alpha=0.025)


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

    def places(self, names: Sequence[str]) -> tuple[tuple[int, int], ...]:
        """The same comparisons as places of the systems among all of them."""
        place = {name: code for code, name in enumerate(names)}
        return tuple((place[first], place[second]) for first, second in self.pairs(names))


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
