"""A family of tests in words, and as a record: every table, note, picture and sentence says it so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from humeval_power.comparisons import ComparisonFamily, Correction, FamilyOfTests
from humeval_power.inference.study.wald import EffectTest
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.records import Record


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One comparison in short: second - first on [0, 1], and its p-value before and after the correction of its
    family. `significant` is None where there is no test."""

    criterion: str | None
    first: str
    second: str
    estimate: float
    standard_error: float
    low: float
    high: float
    df: float
    p_value: float
    corrected_p_value: float
    significant: bool | None


def comparison_row(
    criterion: str | None,
    pair: tuple[str, str],
    test: EffectTest,
    corrected_p: float,
    *,
    interval: tuple[float, float] | None = None,
) -> ComparisonRow:
    """The row of a comparison; `interval` is a simultaneous one in the place of the test's own."""
    low, high = interval or test.interval
    decided = None if test.reason else corrected_p <= test.rule.alpha
    estimate, error = test.estimate, test.standard_error
    return ComparisonRow(
        criterion, *pair, estimate, error, low, high, test.df, test.p_value, corrected_p, decided
    )


_AFTER: Mapping[Correction, str] = {
    "holm": "after Holm's correction over",
    "bonferroni": "after Bonferroni's correction over",
    "bh": "after Benjamini and Hochberg's correction of the false discovery rate over",
    "max-t": "after the single-step max-t correction over",
    "none": "without correction for",
}


def family_words(tests: FamilyOfTests) -> str:
    """How p-values are corrected, and over what: 'after Holm's correction over 28 comparisons'."""
    looks = f" and {counted(tests.n_looks, 'look')}" if tests.n_looks else ""
    return f"{_AFTER[tests.family.correction]} {_over(tests)}{looks}"


def _over(tests: FamilyOfTests) -> str:
    n_criteria, family = len(tests.criteria), tests.family
    if n_criteria > 1 and family.over == "criterion" and family.correction != "none":
        return "the comparisons of each criterion by themselves"
    if not n_criteria:
        return counted(tests.n_tests, "comparison")
    of_criteria = "1 criterion" if n_criteria == 1 else f"{n_criteria:,} criteria"
    if tests.n_tests == n_criteria:
        return of_criteria
    return f"{counted(tests.n_tests, 'comparison')} under {of_criteria}"


def family_record(tests: FamilyOfTests) -> Record:
    """The family as plain values, with the number of its tests and the criteria that they are of."""
    record = {**asdict(tests.family), "n_tests": tests.n_tests, "criteria": list(tests.criteria)}
    return {**record, "n_looks": tests.n_looks} if tests.n_looks else record


def family_of_record(record: Mapping[str, object]) -> FamilyOfTests:
    """The family that `family_record` wrote."""
    values = dict(record)
    n_tests, criteria = values.pop("n_tests"), values.pop("criteria")
    assert isinstance(n_tests, int)
    n_looks = values.pop("n_looks", 0)
    assert isinstance(criteria, list)
    assert isinstance(n_looks, int)
    family = ComparisonFamily(**values)  # type: ignore[arg-type]
    return FamilyOfTests(family, n_tests, tuple(map(str, criteria)), n_looks)
