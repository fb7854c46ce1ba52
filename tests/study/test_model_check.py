"""Comparisons of several systems are checked by the other model, and a warning says where the two part."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from humeval_power.inference.corrections import correct
from humeval_power.ratings import ratings_from_table
from humeval_power.rules import DEFAULT_RULE, ComparisonFamily, DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.studies.analyze.calls import analyze, analyze_criteria
from humeval_power.studies.fit import joint_comparison as model_check
from humeval_power.studies.fit.joint_comparison import compare_jointly
from humeval_power.studies.fit.many_systems import compare_systems

JOINT, PAIRS = ComparisonFamily(model="joint"), ComparisonFamily(model="pairwise")


def two_machines_and_a_human(seed: int, gap: float = 0.06):
    """Each worker thinks much the same of both machines, not of the human: only fits in pairs see it."""
    rng = np.random.default_rng(seed)
    workers, items = 6, 40
    machine = rng.normal(0, 0.1, workers)
    item = rng.normal(0, 0.1, items)
    rows = []
    for w in range(workers):
        for i in range(items):
            for name, mean, own in (
                ("m1", 0.4, machine[w]),
                ("m2", 0.4 + gap, machine[w]),
                ("human", 0.7, 0),
            ):
                rating = mean + own + item[i] + rng.normal(0, 0.08)
                rows.append((f"w{w}", f"i{i}", name, f"{np.clip(rating, 0, 1):.4f}"))
    table = pd.DataFrame(rows, columns=["worker", "item", "system", "rating"])
    return ratings_from_table(table, scale=RatingScale(0, 1), require_pair=False)


@pytest.fixture(scope="module")
def apart():
    return two_machines_and_a_human(3)


@pytest.fixture(scope="module")
def joint(apart):
    return analyze(apart, family=JOINT, diagnostics=False)


@pytest.mark.parametrize(("family", "model"), [(JOINT, "pairwise"), (PAIRS, "joint")])
def test_the_check_is_the_other_model_on_the_same_ratings(apart, joint, family, model):
    result = joint if family == JOINT else analyze(apart, family=family, diagnostics=False)
    found = result.analysis.other_model
    other = replace(family, model=model)
    if model == "pairwise":
        alone = compare_systems(apart, rule=DEFAULT_RULE, family=other)
    else:
        alone = compare_jointly(apart, rule=DEFAULT_RULE, family=other).results
    assert [one.corrected_p for one in found.results] == [one.corrected_p for one in alone]
    assert found.model == model


def test_where_the_models_part_a_warning_says_so_in_words_and_record(joint):
    result = joint
    lead = {(one.first, one.second): one.significant for one in result.analysis.results}
    check = {(one.first, one.second): one.significant for one in result.analysis.other_model.results}
    parted = tuple(pair for pair in lead if lead[pair] != check[pair])
    assert parted == (("m1", "m2"),)  # by construction: the joint model spreads what the machines share
    assert check["m1", "m2"]
    assert result.analysis.other_model.parted == parted
    assert any("depends on the model: by fits in pairs" in one for one in result.remarks)
    assert result.content()["model_check"]["decided_otherwise"] == [["m1", "m2"]]
    assert "By fits in pairs 1 of 3 comparisons comes out differently" in " ".join(str(result).split())


@pytest.mark.slow
def test_over_criteria_the_check_is_corrected_over_all_of_its_tests_too(apart):
    by_name = {"one": apart, "two": two_machines_and_a_human(4, gap=0.01)}
    found = analyze_criteria(by_name, family=JOINT)
    raw = [p for result in found.results.values() for p in result.p_values("other_model")]
    corrected = [one.corrected_p for r in found.results.values() for one in r.analysis.other_model.results]
    assert corrected == correct(raw, "holm").tolist()


def test_max_t_is_checked_by_holm_in_pairs(apart):
    found = analyze(apart, family=replace(JOINT, correction="max-t"), diagnostics=False)
    raw = [one.test.p_value for one in found.analysis.other_model.results]
    assert [one.corrected_p for one in found.analysis.other_model.results] == correct(raw, "holm").tolist()


def test_what_the_joint_model_does_not_know_has_no_check(apart):
    rule = DecisionRule(estimator="ml", df="satterthwaite")
    assert analyze(apart, rule=rule, family=PAIRS, diagnostics=False).analysis.other_model is None


def test_a_check_that_takes_too_long_is_left_out_and_said(apart, monkeypatch):
    monkeypatch.setattr(model_check, "MOST_WORK", 17)
    result = analyze(apart, family=JOINT, diagnostics=False)
    assert result.analysis.other_model.results == ()
    said = "not checked by fits in pairs: that takes longer than all the rest; --model pairwise shows it."
    assert said in " ".join(str(result).split())
    assert result.content()["model_check"]["reason"]
