"""A decision rule in the words of a methods section, and what SDs of a fit or a plan are of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from humeval_power.rules import Analysis, DecisionRule, DegreesOfFreedom, Estimator
from humeval_power.saying.answer_words import on_scale, points_words, with_names
from humeval_power.saying.numbers import in_words, level_of
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    from humeval_power.studies.power.analytic import HalfwayPower


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
_MODELS: Mapping[Analysis, str] = {
    "ratings": "Linear mixed model of the ratings with crossed random intercepts and random system "
    "differences of workers and of items, all uncorrelated",
    "differences": "Linear mixed model of the differences B - A of each worker on each item, with crossed "
    "random effects of workers and of items; ratings without a partner are left out",
}
_LINEAR_ASSUMPTIONS = (
    "Ratings count as numbers of equal steps, with normal residuals of one variance; workers and items are "
    "random samples of those meant; their effects are normal and uncorrelated; no rating depends on "
    "another beyond sharing its worker or its item."
)

_LATENT_ASSUMPTIONS = (
    "Ratings are ordered categories of a latent variable whose noise has one distribution and one spread for "
    "both systems; the thresholds between categories are the same for every worker; workers and items are random "
    "samples of those meant; their effects are normal and uncorrelated on the latent scale; no rating depends on "
    "another beyond sharing its worker or its item."
)
_LINEARISED: Mapping[DegreesOfFreedom, str] = {
    "kenward-roger": "a t distribution with the Kenward-Roger degrees of freedom and standard error of the model "
    "linearised at its estimates",
    "satterthwaite": "a t distribution with the degrees of freedom of the model linearised at its estimates",
}

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


PARITY = (
    "The margin has to be fixed before the ratings are seen. That systems are as good as each other is "
    "shown by equivalence or non-inferiority, never by a large p-value of a test for a difference."
)


def model_words(rule: DecisionRule) -> str:
    """The model of a rule, as the start of a sentence."""
    if not rule.is_latent:
        return _MODELS[rule.analysis]
    kind = "Cumulative" if rule.family == "ordinal" else "Binary"
    what = "as ordered categories" if rule.family == "ordinal" else "as yes or no"
    return (
        f"{kind} {rule.link} mixed model of the ratings {what} with crossed random intercepts and random system "
        "differences of workers and of items, all uncorrelated"
    )


def estimator_words(rule: DecisionRule) -> str:
    """How the model is fitted."""
    laplace = ", its integrals by Laplace's approximation" if rule.is_latent else ""
    return f"{ESTIMATORS[rule.estimator]}{laplace}"


def reference_of(rule: DecisionRule) -> str:
    """What the statistic is compared with."""
    return (_LINEARISED if rule.is_latent else REFERENCES).get(rule.df, REFERENCES[rule.df])


def assumptions_of(rule: DecisionRule) -> str:
    """What the model takes for granted."""
    return _LATENT_ASSUMPTIONS if rule.is_latent else _LINEAR_ASSUMPTIONS


def reported_words(rule: DecisionRule) -> str:
    """How the reported difference comes from the model; empty where it is a coefficient of it."""
    if not rule.is_latent:
        return ""
    return (
        " The difference reported is that of the expected ratings on [0, 1], over all workers and items; its "
        "interval is the latent one transformed."
    )


def rule_sentence(rule: DecisionRule, *, by_intervals: bool = False) -> str:
    """The model and the test, or the repeated intervals that decide in its place, in two sentences."""
    model = f"{model_words(rule)}, fitted by {estimator_words(rule)}.{reported_words(rule)}"
    if by_intervals:
        return (
            f"{model} Repeated confidence intervals of the difference between the systems by {reference_of(rule)}; "
            f"together they cover it with confidence {level_of(1 - rule.alpha)}."
        )
    if rule.margin is not None:
        return f"{model} {margin_test(rule)}"
    sides = "two-sided" if rule.alternative == "two-sided" else "one-sided (B better than A)"
    test = f"Wald test of the difference between the systems against {reference_of(rule)}"
    return f"{model} {test}, {sides}, alpha {rule.alpha:g}."


def margin_test(rule: DecisionRule) -> str:
    """The one-sided tests of a rule with a margin, and the interval that decides, as a sentence."""
    margin, level = f"{rule.margin:g}", f"{level_of(rule.confidence)} interval"
    against = reference_of(rule).replace("without a difference", "with a difference at the margin")
    if rule.alternative == "equivalent":
        return (
            f"Equivalence within {margin} on [0, 1] by two one-sided Wald tests (Schuirmann 1987) against "
            f"{against}, alpha {rule.alpha:g} each: the {level} of the difference B - A has to lie inside "
            f"-{margin} to {margin}."
        )
    return (
        f"Non-inferiority of B within {margin} on [0, 1] by a one-sided Wald test against {against}, alpha "
        f"{rule.alpha:g}: the lower end of the {level} of the difference B - A has to lie above -{margin}."
    )


def sought_words(rule: DecisionRule) -> str:
    """A rule with a margin whose margin is what is sought."""
    side = "on each side" if rule.alternative == "equivalent" else "one-sided"
    return f"{rule.reference_words}, {rule.alternative}, alpha {rule.alpha:g} {side}; margin sought"


def margin_words(rule: DecisionRule, scale: RatingScale | None) -> str:
    """'0.05 on [0, 1], 0.2 on the scale 1 to 5'; empty without a margin."""
    if rule.margin is None:
        return ""
    said = f"{rule.margin:g} on [0, 1]"
    if scale is None:
        return said
    return (
        f"{said}, {abs(scale.effect_to_raw(rule.margin)):.4g} on the scale {scale.low:g} to {scale.high:g}"
    )


def halfway_words(halfway: HalfwayPower) -> str:
    """The power halfway to the margin, and why to look there."""
    said = [] if halfway.power is None else [f"{halfway.power:.3f}"]
    said += [] if halfway.analytic is None else [f"{halfway.analytic:.3f} by formula"]
    return (
        f"power {', '.join(said)}, if the true difference is {halfway.effect:g}, halfway to the margin. "
        "Power at a true difference of 0 is optimistic: systems are seldom exactly alike."
    )


def hypothesis_words(rule: DecisionRule, systems: tuple[str, str]) -> str:
    """What the study is to show, as a clause."""
    a, b = systems
    return {
        "two-sided": f"the ratings of {a} and {b} differ",
        "greater": f"{b} is rated higher than {a}",
        "equivalent": f"{a} and {b} are rated alike within {rule.margin} on [0, 1]",
        "non-inferior": f"{b} is not rated lower than {a} by {rule.margin} on [0, 1] or more",
    }[rule.alternative]


def default_question(rule: DecisionRule, systems: tuple[str, str]) -> str:
    """The question that a study with this rule answers."""
    a, b = systems
    if rule.margin is None:
        return f"Is {b} rated higher than {a}?"
    if rule.alternative == "equivalent":
        return f"Are {a} and {b} rated alike, within {rule.margin:g} on [0, 1]?"
    return f"Is {b} as good as {a}, or not worse by {rule.margin:g} on [0, 1] or more?"


def claim_words(
    rule: DecisionRule, systems: tuple[str, str], *, by_intervals: bool = False
) -> tuple[str, str]:
    """What will be claimed if the test is significant, or the interval at which a study stops shows it, as a
    sentence, and what otherwise, as one that follows 'Otherwise'."""
    a, b = systems
    if by_intervals:
        where, margin = "if the repeated interval at the look where the study stops", rule.margin
        said = {
            "equivalent": f"{a} and {b} are said to be equivalent within {margin} {where} lies within the margin, "
            f"between -{margin} and {margin}.",
            "non-inferior": f"{b} is said to be non-inferior to {a} within {margin} {where} lies above -{margin}.",
        }
        better = "The systems are said to differ, and the one rated higher to be better,"
        return said.get(rule.alternative, f"{better} {where} excludes 0."), _nothing(rule)
    claim = {
        "two-sided": "The systems are said to differ, and the one rated higher to be better, if the test "
        "is significant.",
        "greater": f"{b} is said to be better than {a} if the test is significant; nothing is claimed for "
        f"{a}.",
        "equivalent": f"{a} and {b} are said to be equivalent within {rule.margin} if both one-sided tests "
        "are significant.",
        "non-inferior": f"{b} is said to be non-inferior to {a} within {rule.margin} if the test is "
        "significant.",
    }[rule.alternative]
    return claim, _nothing(rule)


def _nothing(rule: DecisionRule) -> str:
    if rule.margin is None:
        return "a difference, which does not show that there is none"
    noun = "equivalence" if rule.alternative == "equivalent" else "non-inferiority"
    return f"{noun}, which does not show that the systems differ"


def margin_decision(
    rule: DecisionRule,
    systems: tuple[str, str],
    *,
    interval: tuple[float, float],
    shown: bool,
    scale: RatingScale | None = None,
) -> str:
    """What a finished study has shown, or not, under a rule with a margin."""
    a, b = systems
    assert rule.margin is not None
    width = 1.0 if scale is None else scale.width
    digits = max(0, 3 - math.ceil(math.log10(width))) + 1  # one more: an end may be near the margin
    low, high = (f"{round(end * width, digits) + 0.0:.{digits}f}" for end in interval)
    margin = f"{rule.margin * width:.4g}"
    less, level = f"less than {points_words(rule.margin, scale)}", f"{level_of(rule.confidence)} interval"
    where = on_scale(scale)
    if rule.alternative == "equivalent":
        ends, bounds = f"the {level}, {low} to {high}", f"-{margin} to {margin}"
        if not shown:
            return (
                f"{a} and {b} are not shown to be equivalent, to differ by {less} {where}: {ends}, does not lie "
                f"inside {bounds}. That does not show that they differ."
            )
        holds_zero = interval[0] <= 0 <= interval[1]
        apart = "" if holds_zero else " There is a difference, but a smaller one than the margin."
        return f"{a} and {b} are equivalent: they differ by {less} {where} ({ends}, lies inside {bounds}).{apart}"
    end = f"the lower end of the {level}, {low}"
    if shown:
        return f"{b} is non-inferior to {a}: {less} worse {where} ({end}, lies above -{margin})."
    return (
        f"{b} is not shown to be non-inferior to {a}, {less} worse {where}: {end}, does not lie above -{margin}. "
        f"That does not show that {b} is worse."
    )


def is_too_bold(rule: DecisionRule, n_workers: float) -> bool:
    """Whether the test rejects too often with so few workers."""
    return n_workers < ENOUGH_WORKERS.get(rule.df, 0)


def size_sentence(rule: DecisionRule) -> str:
    """The simulated false-positive rates that belong to the rule, empty where none are known."""
    sizes = SIZE_AT_5_PERCENT.get((rule.estimator, rule.df), {})
    if not sizes or rule.analysis != "ratings" or rule.is_latent:
        return ""
    said = ", ".join(f"{size:.2f} with {workers} workers" for workers, size in sizes.items())
    return (
        f"Simulated two-sided false-positive rates at alpha 0.05 are {said} "
        "(100 items, high-variance setting of Card et al. 2020)."
    )


SD_WORDS = {
    "sd_worker_intercept": "How much workers differ in level",
    "sd_worker_slope": "How much workers differ in B - A",
    "sd_item_intercept": "How much items differ in level",
    "sd_item_slope": "How much items differ in B - A",
    "sd_residual": "The noise of single ratings",
    "sd_worker_item": "How much pairs of a worker and an item differ beyond both",
    "sd_document_intercept": "How much documents differ in level",
    "sd_document_slope": "How much documents differ in B - A",
    "sd_worker": "How much workers differ in level",
    "sd_worker_system": "How much workers differ in what they give a system",
    "sd_item": "How much items differ in level",
    "sd_item_system": "How much items differ in what a system gets on them",
    "sd_document": "How much documents differ in level",
    "sd_document_system": "How much documents differ in what a system gets on them",
}


def sds_in_words(names: Sequence[str], systems: Sequence[str], *, minus: str = "-") -> str:
    """SDs by what they are of, each with its name and what stands behind it, as in 'sd_item (in 2 of 3 fits)'.

    >>> sds_in_words(["sd_item_slope (in 2 of 3 fits)"], ("old", "new"))
    'how much items differ in new - old (sd_item_slope, in 2 of 3 fits)'
    """
    said = []
    for name in names:
        key, _, rest = name.partition(" ")
        of = SD_WORDS.get(key, "")
        if len(systems) == 2:
            of = with_names(of.replace("B - A", f"B {minus} A"), (systems[0], systems[1]))
        of = f"{of[:1].lower()}{of[1:]}".replace("B - A", "the difference of two systems")
        more = f", {rest.strip('()')}" if rest else ""
        said.append(f"{of} ({key}{more})" if of else name)
    return in_words(said)


def zero_words(names: Sequence[str], systems: Sequence[str]) -> str:
    """That these SDs are zero, and what that does not mean."""
    return (
        f"Estimated as exactly zero: {sds_in_words(names, systems)}. That is common in small tables and does not "
        "show that there is no such variation; power planned from a zero is too hopeful."
    )


def apart_words(names: Sequence[str], systems: Sequence[str], known: Sequence[str]) -> str:
    """That a table cannot tell these SDs apart, what is `known` of them, and what that means."""
    also = f" They determine {in_words(known)}." if known else ""
    return (
        f"These ratings cannot tell apart {sds_in_words(names, systems)}.{also} The difference of the systems and "
        "its interval are not affected. Do not plan another number of ratings per item from these SDs."
    )
