"""Max-t by the joint model with few workers errs more often than it says: the result says so, and how often."""

import numpy as np
import pandas as pd
import pytest
from cases import few_fast

from humeval_power.estimation.joint.fit import fit_joint
from humeval_power.ratings import Ratings, ratings_from_table
from humeval_power.rules import DEFAULT_RULE, ComparisonFamily, SystemVariances
from humeval_power.scales import RatingScale
from humeval_power.studies.analyze.calls import analyze
from humeval_power.studies.fit import joint_comparison as module
from humeval_power.studies.fit.joint_comparison import compare_jointly

SYSTEMS = ("a", "b", "c")


def rated(seed: int, *, n_workers: int = 5, n_items: int = 8, effect: float = 0.0) -> Ratings:
    rng = np.random.default_rng(seed)
    own = rng.normal(size=(n_workers, 3)) + effect * np.arange(3)
    rows = [
        (f"w{worker}", f"i{item}", name, float(own[worker, place] + rng.normal()))
        for worker in range(n_workers)
        for item in range(n_items)
        for place, name in enumerate(SYSTEMS)
    ]
    table = pd.DataFrame(rows, columns=["worker", "item", "system", "rating"])
    return ratings_from_table(table, scale=RatingScale(-20, 20), systems=SYSTEMS)


def family(variances: SystemVariances) -> ComparisonFamily:
    return ComparisonFamily(model="joint", variances=variances, correction="max-t")


def test_an_error_is_a_comparison_that_the_analysis_finds_significant() -> None:
    outcomes = set()
    for seed in (2, 3):
        ratings = rated(seed, effect=0.8)
        found = compare_jointly(ratings, rule=DEFAULT_RULE, family=family("own"))
        pairs = [(one.first, one.second) for one in found.results]
        fitted = fit_joint(ratings, variances="own", names=SYSTEMS)
        erring = module._errs(fitted, module._contrasts_of(ratings, pairs), DEFAULT_RULE)
        assert erring is any(one.significant for one in found.results)
        outcomes.add(erring)
    assert outcomes == {True, False}


@few_fast(("variances", "n_workers"), [("own", 5), ("own", 20), ("common", 5)], fast=1)
def test_the_result_says_how_often_it_errs_and_what_keeps_its_level(
    monkeypatch: pytest.MonkeyPatch, variances: SystemVariances, n_workers: int
) -> None:
    monkeypatch.setattr(module, "_N_STUDIES", 4)
    ratings = rated(1, n_workers=n_workers, n_items=4)
    found = analyze(ratings, family=family(variances), diagnostics=False)
    said = " ".join(str(found).split())
    is_rough = variances == "own" and n_workers < 20
    assert (found.analysis.family_error is not None) is is_rough
    assert (
        "With 5 workers max-t can err up to twice as often as alpha 0.05 says: of 4 studies" in said
    ) is is_rough
    assert ("Holm's correction keeps its level: --correction holm." in said) is is_rough
    assert ("hold together with at least 95 % confidence" in said) is (variances == "common")
    assert ("family_error" in found.record()) is is_rough


def test_a_study_that_is_too_large_to_simulate_is_not_given_a_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_RATINGS", 50)
    found = analyze(rated(1, n_items=4), family=family("own"), diagnostics=False)
    assert "can err up to twice as often as alpha 0.05 says. Holm's" in " ".join(str(found).split())
