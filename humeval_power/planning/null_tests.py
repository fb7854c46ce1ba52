"""Studies without an effect, and what many tests answer to the same ratings."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from humeval_power.designs import Assignment
from humeval_power.inference.common_tests import COMMON_TESTS, TwoSided
from humeval_power.inference.replication import Replication, StudyFits
from humeval_power.rules import DecisionRule
from humeval_power.scenarios.rating_study import RatingStudy

MIXED_MODEL_TESTS: dict[str, tuple[str, DecisionRule]] = {
    "kenward-roger": ("Mixed model, Kenward-Roger", DecisionRule(df="kenward-roger")),
    "satterthwaite": ("Mixed model, Satterthwaite", DecisionRule(df="satterthwaite")),
    "min": ("Mixed model, min df", DecisionRule(df="min")),
    "differences": ("Mixed model of differences", DecisionRule(analysis="differences")),
    "wald-z": ("Mixed model, Wald z", DecisionRule(df="normal")),
    "card2020": ("Card et al. (ML, Wald z)", DecisionRule(estimator="ml", df="normal")),
}
NULL_TESTS = (*MIXED_MODEL_TESTS, *COMMON_TESTS)
OWN_RULE = "rule"

_Kind = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class NullTest:
    """A test made ready for a design: a mixed model has a `study`, whose rule is two-sided or has a
    margin; any other is the common test of this name."""

    name: str
    label: str
    is_rule: bool
    is_defined: bool
    study: RatingStudy | None = None


@dataclass(frozen=True, slots=True)
class NullStudies:
    """Studies without an effect, and the tests to apply to each of them."""

    source: Replication
    tests: tuple[NullTest, ...]

    def answers(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> list[TwoSided]:
        """What each test says of studies `first` to `first + n - 1`: NaN where a fit failed, and no
        study at all for a test that the design does not allow. Each kind of fit is made once."""
        responses = self.source.responses(n, seed=seed, first=first)
        fits: dict[_Kind, StudyFits] = {}
        for test in self.tests:
            if test.study is not None and test.is_defined and _kind(test.study) not in fits:
                fits[_kind(test.study)] = test.study.replication.fit(responses, n_jobs=n_jobs)
        rows = self.source.design.assignment

        def answer(test: NullTest) -> TwoSided:
            if not test.is_defined:
                return TwoSided(np.empty(0), np.empty(0))
            if test.study is None:
                return COMMON_TESTS[test.name].run(responses, rows)
            return _decide(test.study, fits[_kind(test.study)])

        if n_jobs == 1:
            return [answer(test) for test in self.tests]
        with ThreadPoolExecutor(n_jobs) as pool:
            return list(pool.map(answer, self.tests))


def null_studies(
    source: Replication, names: Sequence[str], *, rule: DecisionRule, level: float
) -> NullStudies:
    """Make tests ready, each two-sided at `level`, or with the margin and alpha of `rule` if it has one,
    which the common tests do not know: those are left out then. The planned rule is always there: under
    its own name if it is one of MIXED_MODEL_TESTS, and first if `names` do not place it."""
    own = name_of(rule)
    chosen = names if own in names else (own, *names)
    ready = []
    for name in dict.fromkeys(chosen):
        if name in COMMON_TESTS and rule.margin is not None:
            continue
        if name in COMMON_TESTS:
            test = COMMON_TESTS[name]
            ready.append(NullTest(name, test.label, False, test.is_defined(source.design.assignment)))
            continue
        label, decided = MIXED_MODEL_TESTS.get(
            name, (f"Planned: {rule.estimator.upper()}, {rule.df}", rule)
        )
        decided = replace(decided, **_decision(rule, level))
        study = RatingStudy(source.parameters, source.design, decided, source.response, source.points)
        is_defined = decided.analysis == "ratings" or has_differences(source.design.assignment)
        ready.append(NullTest(name, label, name == own, is_defined, study))
    return NullStudies(source, tuple(ready))


def name_of(rule: DecisionRule) -> str:
    """The name among MIXED_MODEL_TESTS of a rule, whatever its alpha, alternative and margin."""
    for name, (_, known) in MIXED_MODEL_TESTS.items():
        known = replace(known, alpha=rule.alpha, alternative=rule.alternative, margin=rule.margin)
        if known == rule:
            return name
    return OWN_RULE


def _decision(rule: DecisionRule, level: float) -> dict[str, Any]:
    """How all tests decide: two-sided at `level`, or as the rule with its margin does."""
    if rule.margin is None:
        return {"alpha": level, "alternative": "two-sided"}
    return {"alpha": rule.alpha, "alternative": rule.alternative, "margin": rule.margin}


def has_differences(rows: Assignment) -> bool:
    """Whether differences B - A within a worker and an item are there for 2 workers and 2 items."""
    n_items = int(rows.item.max()) + 1
    pair = rows.worker * np.int64(n_items) + rows.item
    both = np.intersect1d(pair[rows.system == 0], pair[rows.system == 1])
    return min(len(np.unique(both // n_items)), len(np.unique(both % n_items))) >= 2


def _kind(study: RatingStudy) -> _Kind:
    """Studies that share a kind share their fits."""
    return study.rule.estimator, study.rule.analysis, study.replication.by_iteration


def _decide(study: RatingStudy, fits: StudyFits) -> TwoSided:
    replicates = study.decide(fits)
    p_value = np.where(replicates.usable, replicates.p_value, np.nan)
    return TwoSided(p_value, np.sign(replicates.estimate))
