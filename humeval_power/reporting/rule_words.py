"""A decision rule in the words of a methods section."""

from __future__ import annotations

from collections.abc import Mapping

from humeval_power.rules import Analysis, DecisionRule, DegreesOfFreedom, Estimator

ESTIMATORS: Mapping[Estimator, str] = {
    "reml": "restricted maximum likelihood (REML)",
    "ml": "maximum likelihood (ML)",
}
REFERENCES: Mapping[DegreesOfFreedom, str] = {
    "kenward-roger": "a t distribution with Kenward-Roger degrees of freedom and standard error",
    "satterthwaite": "a t distribution with Satterthwaite degrees of freedom",
    "normal": "the standard normal distribution",
    "min": "a t distribution with min(workers, items) - 1 degrees of freedom",
    "bootstrap": "its distribution in studies simulated without a difference at the fitted parameters",
    "calibrated": "its distribution in studies simulated without a difference at parameters assumed "
    "beforehand",
}
MODELS: Mapping[Analysis, str] = {
    "ratings": "Linear mixed model of the ratings with crossed random intercepts and random system "
    "differences of workers and of items, all uncorrelated",
    "differences": "Linear mixed model of the differences B - A of each worker on each item, with crossed "
    "random effects of workers and of items; ratings without a partner are left out",
}
ASSUMPTIONS = (
    "Ratings count as numbers of equal steps, with normal residuals of one variance; workers and items are "
    "random samples of those meant; their effects are normal and uncorrelated; no rating depends on "
    "another beyond sharing its worker or its item."
)

# Two-sided false-positive rates at alpha 0.05 by number of workers, simulated with 100 items and the
# high-variance setting of Card et al. (2020, Table 16): 100,000 REML studies, 20,000 ML studies.
SIZE_AT_5_PERCENT = {
    ("reml", "kenward-roger"): {2: 0.102, 3: 0.072, 5: 0.057, 10: 0.052},
    ("reml", "satterthwaite"): {2: 0.117, 3: 0.073, 5: 0.057, 10: 0.052},
    ("reml", "normal"): {2: 0.256, 3: 0.166, 5: 0.108, 10: 0.073, 20: 0.057},
    ("ml", "normal"): {2: 0.323, 3: 0.212, 5: 0.135, 10: 0.081, 20: 0.062},
}
# Workers from which the false-positive rate is near alpha; the other references keep it with fewer.
ENOUGH_WORKERS: Mapping[DegreesOfFreedom, int] = {"kenward-roger": 5, "satterthwaite": 5, "normal": 20}


def rule_sentence(rule: DecisionRule) -> str:
    """The model and the test in two sentences."""
    sides = "two-sided" if rule.alternative == "two-sided" else "one-sided (B better than A)"
    return (
        f"{MODELS[rule.analysis]}, fitted by {ESTIMATORS[rule.estimator]}. Wald test of the difference "
        f"between the systems against {REFERENCES[rule.df]}, {sides}, alpha {rule.alpha:g}."
    )


def is_too_bold(rule: DecisionRule, n_workers: float) -> bool:
    """Whether the test rejects too often with so few workers."""
    return n_workers < ENOUGH_WORKERS.get(rule.df, 0)


def size_sentence(rule: DecisionRule) -> str:
    """The simulated false-positive rates that belong to the rule, empty where none are known."""
    sizes = SIZE_AT_5_PERCENT.get((rule.estimator, rule.df), {})
    if not sizes or rule.analysis != "ratings":
        return ""
    said = ", ".join(f"{size:.2f} with {workers} workers" for workers, size in sizes.items())
    return (
        f"Simulated two-sided false-positive rates at alpha 0.05 are {said} "
        "(100 items, high-variance setting of Card et al. 2020)."
    )
