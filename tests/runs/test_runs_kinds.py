"""What labels, names and scores say of the kind of runs."""

import math

import numpy as np
import pytest
from cases import each_case
from runs.tables import crossed_scores, nested_scores, table_of
from scipy import stats

from humeval_power.comparisons.runs.testing import named_kind, read_kind


@each_case(
    ("column", "kind"),
    [
        ("Prompt_ID", "crossed"),
        ("prompt template", "crossed"),
        ("seed", "crossed"),
        ("sample_id", "nested"),
        ("Generations", "nested"),
        ("run", None),
        ("run_id", None),
    ],
)
def test_names_speak_for_a_kind_or_say_nothing(column: str, kind: str | None) -> None:
    assert named_kind(column) == kind


def test_the_evidence_is_that_of_an_analysis_of_variance() -> None:
    scores = nested_scores(np.random.default_rng(1), n=12, runs=4)
    found = read_kind(table_of(scores, column="run"))
    values = scores.mean(axis=1)
    centered = values - values.mean(axis=1, keepdims=True)  # items out: columns against the rest
    between = 12 * np.sum(centered.mean(axis=0) ** 2) / 3
    rest = np.sum((centered - centered.mean(axis=0)) ** 2) / (11 * 3)
    assert found.p_level == pytest.approx(stats.f.sf(between / rest, 3, 33), rel=1e-9)
    assert found.kind is None


def test_evidence_against_generations_is_rare_where_there_is_none_and_sure_where_there_is() -> None:
    rng = np.random.default_rng(2)
    level = [read_kind(table_of(nested_scores(rng, n=15))).p_level for _ in range(1000)]
    low, high = stats.binom.interval(0.998, 1000, 0.05)
    assert low <= sum(p <= 0.05 for p in level) <= high
    assert read_kind(table_of(crossed_scores(rng, n=60, sd_prompt=0.5))).looks_shared


def test_scores_without_noise_and_incomplete_tables_have_no_evidence() -> None:
    assert math.isnan(read_kind(table_of(np.ones((5, 2, 3)))).p_level)
    scores = nested_scores(np.random.default_rng(3), n=10, runs=3)
    for item in range(10):
        scores[item, :, item % 3] = np.nan
    found = read_kind(table_of(scores))
    assert (found.layout, found.n_complete) == ("own labels", 0)
    assert math.isnan(found.p_slope)
