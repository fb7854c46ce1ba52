"""Looks at independent judgements in words: what is judged, its true effect, and the unit of that."""

from __future__ import annotations

from typing import NamedTuple

from humeval_power.reporting.accuracy.wording import WORDING as ACCURACY
from humeval_power.reporting.assessment.wording import WORDING as ASSESSMENT
from humeval_power.reporting.preference.wording import WORDING as PREFERENCE
from humeval_power.reporting.preference.wording import preference_words
from humeval_power.reporting.questions.wording import accuracy_words
from humeval_power.scenarios.accuracy.paired import PairedAccuracy
from humeval_power.scenarios.looks.judgements import AssessmentLooks, PairedLooks
from humeval_power.scenarios.looks.replicates import LookSource


class JudgedWords(NamedTuple):
    """Lines about the study, the effect, the unit behind effects, and what is to be found."""

    study: tuple[str, ...]
    effect: str
    unit: str
    finding: str


def judged_words(source: LookSource, effect: float) -> JudgedWords:
    """The words for looks of the package; of others no more than the effect."""
    if isinstance(source, AssessmentLooks):
        scores = source.assessment
        means = f"mean {scores.mean:g} and {scores.mean + scores.effect:g}, SD {scores.sd:g}"
        line = f"{scores.n:,} scores of each system, {means}; Mann-Whitney U"
        return JudgedWords((line,), ASSESSMENT.effect(scores), "points", ASSESSMENT.found(scores))
    if not isinstance(source, PairedLooks):
        return JudgedWords((), f"B - A = {effect:.6g}", "", f"an effect of {effect:.4g}")
    study = source.study
    if isinstance(study, PairedAccuracy):
        line = f"{study.n_items:,} items; {study.agreement.label}; McNemar ({study.test})"
        return JudgedWords((line,), accuracy_words(study.true_effect), "share", ACCURACY.found(study))
    kept = ", kept" if study.ties == "kept" else ""
    line = f"{study.n_judgements:,} judgements, {100 * study.tie_share:g} % ties{kept}; sign test ({study.test})"
    return JudgedWords((line,), preference_words(study), "share", PREFERENCE.found(study))
