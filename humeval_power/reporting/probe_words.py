"""What the fit of a very large table says of its random probes, the same in tables, notes and reports."""

from __future__ import annotations


def probe_sentences(probes: float, seed: float, largest: float, effect: float) -> str:
    """Monte Carlo errors of the SDs and of the effect, relative to their standard errors, and what is not
    available without a likelihood."""
    of_deviations, of_effect = _percent(largest), _percent(effect)
    return (
        f"SDs by {probes:,.0f} fixed random probes (seed {seed:.0f}): "
        f"Monte Carlo error at most {of_deviations} of their standard errors, that of the effect {of_effect} of "
        "its own. A table of this size is fitted without evaluating its likelihood: profile intervals, "
        "likelihood ratio tests and a count of its peaks are not available."
    )


def _percent(share: float) -> str:
    return "less than 0.1 %" if share < 0.001 else f"{100 * share:.1f} %"
