"""How a study decides: estimator, degrees of freedom, alternative and alpha, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from humeval_power.errors import InputError

Estimator = Literal["reml", "ml"]
DegreesOfFreedom = Literal["kenward-roger", "satterthwaite", "normal", "min", "bootstrap", "calibrated"]
Analysis = Literal["ratings", "differences"]
Alternative = Literal["two-sided", "greater"]


@dataclass(frozen=True, slots=True)
class DecisionRule:
    """A Wald t test of no difference between two systems.

    `df` names the reference distribution: 'kenward-roger' (t with Kenward and Roger's 1997 df and
    their adjusted standard error), 'satterthwaite' (t, as lmerTest), 'normal' (the |t| > 1.96 of
    much practice), 'min' (t with min(workers, items) - 1 df: never too bold, little power),
    'bootstrap' (t against studies simulated without an effect at the fitted parameters) or 'calibrated'
    (the same at parameters assumed beforehand, and right only if those are).

    `analysis` 'differences' fits each worker's and item's difference B - A alone: what a worker and an
    item share cancels, at the price of ratings without a partner.
    """

    estimator: Estimator = "reml"
    df: DegreesOfFreedom = "kenward-roger"
    alternative: Alternative = "two-sided"
    alpha: float = 0.05
    analysis: Analysis = "ratings"

    def __post_init__(self) -> None:
        for name, words in (
            ("estimator", get_args(Estimator)),
            ("df", get_args(DegreesOfFreedom)),
            ("alternative", get_args(Alternative)),
            ("analysis", get_args(Analysis)),
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

    @property
    def is_simulated(self) -> bool:
        """Whether the reference distribution has to be simulated."""
        return self.df in ("bootstrap", "calibrated")

    def __str__(self) -> str:
        reference = {
            "normal": "normal",
            "bootstrap": "parametric bootstrap",
            "calibrated": "calibrated t",
        }.get(self.df, f"t, {self.df} df")
        of = " of differences" if self.analysis == "differences" else ""
        return f"{self.estimator.upper()}{of}, {reference}, {self.alternative}, alpha {self.alpha:g}"


DEFAULT_RULE = DecisionRule()

# Card et al. (2020) count fits with t > 1.96 after maximum likelihood: one-sided at 0.025.
CARD2020 = DecisionRule(estimator="ml", df="normal", alternative="greater", alpha=0.025)
