"""What `corpus estimate` and `corpus test` say to people, in lines of at most 80 characters."""

from __future__ import annotations

from humeval_power.estimation.delta_laplace import DeltaLaplace
from humeval_power.estimation.sentence_counts import METRIC_NAMES, SentenceCounts
from humeval_power.estimation.swap_effects import Additivity
from humeval_power.inference.randomisation_test import RandomisationTest
from humeval_power.interfaces.cli.output import wrapped

LEAST_CORRELATION = 0.95
SLOPE_OFF = 0.1  # from 1
SCALE_OFF = 1.1  # ratio of the two estimates of b0


def _metric_facts(counts: SentenceCounts) -> list[tuple[str, str]]:
    a, b = counts.values
    name = METRIC_NAMES[counts.metric]
    return [
        ("Metric", f"{name} of A {a:.2f}, of B {b:.2f}; B - A = {b - a:+.2f} on {len(counts):,} sentences"),
        ("", counts.signature),
    ]


def estimate_text(counts: SentenceCounts, fit: DeltaLaplace, check: Additivity) -> str:
    """What swaps do, whether their effects add up, and what to type next."""
    facts = _metric_facts(counts)
    p0 = f"{fit.zero_share:.3f}  (SE {fit.zero_share_error:.3f})  share of swaps that change nothing"
    facts.append(("P0", p0))
    if fit.zero_share == 1:
        facts.append(("b0", "none: A and B count alike in every sentence, so there is nothing to test."))
        return _lines(facts)
    facts += [
        (
            "b0",
            f"{fit.scale:.1f}  (SE {fit.scale_error:.1f})  by maximum likelihood, as Card et al. (2020)",
        ),
        ("", f"{fit.matched_scale:.1f}  matching the spread of the effects: for power"),
        ("Null SD", f"{fit.null_sd:.3f}  of the difference when sentences are swapped at random"),
        (
            "Adding up",
            f"true effect of {len(check.true):,} random swaps against the sum of single ones: "
            f"correlation {check.correlation:.3f}, slope {check.slope:.3f}, rms error {check.error:.3f}",
        ),
    ]
    facts += [("Caution", text) for text in cautions(fit, check)]
    how = f"--p0 {fit.zero_share:.3g} --b0 {fit.matched_scale:.3g}"
    # On a line of its own, so that it can be copied whole.
    return f"{_lines(facts)}\nNext:\n  humeval-power corpus power --n {len(counts)} --effect 1 {how}"


def cautions(fit: DeltaLaplace, check: Additivity) -> list[str]:
    """What a reader must know before planning with these estimates."""
    found = []
    if check.correlation < LEAST_CORRELATION or abs(check.slope - 1) > SLOPE_OFF:
        found.append(
            "single effects do not add up here, so that power computed from them is off; "
            "more sentences make them add up better."
        )
    ratio = fit.matched_scale / fit.scale
    if not 1 / SCALE_OFF < ratio < SCALE_OFF:
        tails = "heavier" if ratio > 1 else "lighter"
        found.append(
            f"the effects have {tails} tails than a Laplace distribution; plan with b0 = "
            f"{fit.matched_scale:.1f}, which has their spread."
        )
    return found


def test_text(counts: SentenceCounts, result: RandomisationTest, alpha: float) -> str:
    """The randomisation test and its verdict."""
    how = f"all {result.n_swaps:,} swaps" if result.exact else f"{result.n_swaps:,} random swaps"
    verdict = "significant" if result.p_value <= alpha else "not significant"
    p = f"p = {result.p_value:.4g}: {verdict} at {alpha:g}"
    facts = [*_metric_facts(counts), ("Test", f"paired randomisation, {how}"), ("Result", p)]
    if result.p_interval is not None:
        low, high = result.p_interval
        facts.append(("", f"with endless swaps p lies between {low:.4g} and {high:.4g} (95 %)"))
    return _lines(facts)


def _lines(facts: list[tuple[str, str]]) -> str:
    return "\n".join(wrapped(text, bullet=f"{label:<10}") for label, text in facts)
