"""Head-to-head comparisons in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from humeval_power.studies.power.wording import Wording

if TYPE_CHECKING:
    from humeval_power.comparisons.preference.scenario import PanelPreference, Preference


_TIES_HALF = "the effect is the share that prefers B, ties counted half, minus 1/2"


def preference_words(scenario: Preference | PanelPreference) -> str:
    """The true preference as a share of judges."""
    effect = scenario.true_effect
    return f"{effect:.4g}, that is {100 * (0.5 + effect):.4g} % prefer B{_counted(scenario)}"


def _counted(scenario: Preference | PanelPreference) -> str:
    if not scenario.tie_share > 0:
        return ""
    is_without = getattr(scenario, "ties", "") == "excluded"  # a panel counts them half
    return " of those without a tie" if is_without else ", ties counted half"


def _words(scenario: Preference | PanelPreference) -> list[str]:
    """What is asked, for people."""
    from humeval_power.comparisons.preference.scenario import PanelPreference

    if isinstance(scenario, PanelPreference):
        return _panel_words(scenario)
    lines = [
        f"{scenario.n_judgements:,} judgements, each of another worker on another item (independent)",
        f"prefers B {scenario.win_share:.4g}, tie {scenario.tie_share:.4g}, prefers A "
        f"{scenario.loss_share:.4g}",
        f"sign test ({scenario.test}), two-sided, alpha {scenario.alpha:g}; ties {scenario.ties}",
    ]
    if scenario.tie_share > 0 and scenario.ties == "excluded":
        lines.append(
            "the effect is the share that prefers B among those without a tie, minus 1/2: report the ties too"
        )
    elif scenario.tie_share > 0:
        lines.append(_TIES_HALF)
    return lines


def _panel_words(study: PanelPreference) -> list[str]:
    """What is asked, for people."""
    panel, latent = study.panel, study.latent
    won, tied, lost = latent.shares
    noise = "1" if study.link == "probit" else "1.81"
    lines = [
        f"{panel.n_judgements:,} judgements of {panel.n_items:,} items by {panel.n_workers:,} workers, the order "
        "balanced",
        f"prefers B {won:.4g}, tie {tied:.4g}, prefers A {lost:.4g}, over workers and items",
        f"SD of workers {latent.sd_worker:.4g}, of items {latent.sd_item:.4g}, beside a noise of {noise} "
        f"({study.link})",
    ]
    if study.position_bias:
        lines.append(
            f"what is shown first is preferred by {100 * (0.5 + study.position_bias):.4g} % if neither is better"
        )
    lines += [
        f"t test of B's latent strength ({latent.strength:+z.3f}), two-sided, alpha {study.alpha:g}",
        _TIES_HALF,
    ]
    if study.has_formula:
        precision = study.precision
        df = f" with {precision.df:.1f} df" if math.isfinite(precision.df) else ""
        lines.append(f"expected standard error {precision.standard_error:.3f}{df}")
    return lines


def _finding(scenario: Preference | PanelPreference) -> str:
    effect = scenario.true_effect
    share, counted = f"{100 * (0.5 + abs(effect)):.4g} %", _counted(scenario)
    preferred = f"{share} prefer it{counted}"
    if counted.startswith(" of"):
        preferred = f"{share}{counted} prefer it"
    return f"that {'B' if effect > 0 else 'A'} is preferred, if {preferred}"


WORDING = Wording("preference", _words, said=preference_words, finding=_finding, sized="judgements")
