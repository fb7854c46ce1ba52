"""Comparisons by a corpus metric in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from humeval_power.studies.power.wording import Wording

if TYPE_CHECKING:
    from humeval_power.comparisons.corpus.scenario import CorpusStudy


def _words(scenario: CorpusStudy) -> list[str]:
    flips = f"{scenario.n_flips:,} random flips" if scenario.test == "flips" else "normal distribution"
    return [
        f"{scenario.n_sentences:,} sentences, P0 = {scenario.zero_share:g}, b0 = {scenario.scale:g}",
        f"randomisation test ({flips}), alpha {scenario.alpha:g}; "
        f"SD of the difference {scenario.standard_error:.3g}",
    ]


def _said(scenario: CorpusStudy) -> str:
    return f"B - A = {WORDING.shown(scenario.true_effect)} of the metric"


WORDING = Wording(
    "corpus",
    _words,
    "points",
    _said,
    verb="scores",
    sized="sentences",
)
