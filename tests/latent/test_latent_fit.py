"""Fits of ratings in categories through the public call: other programs, recovery, what is said of them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from category_tables import FIVE, drawn_frame, drawn_ratings

import humeval_power as hp
from humeval_power.checking.structure import numeric
from humeval_power.errors import FitError, InputError
from humeval_power.estimation.latent.fit import fit_latent
from humeval_power.latent import Latent
from humeval_power.ratings import Ratings, ratings_from_table
from humeval_power.rules import DecisionRule, Estimator
from humeval_power.scales import RatingScale
from humeval_power.studies.fit.fit_result import FitResult

SDS = ("sd_worker_intercept", "sd_worker_slope", "sd_item_intercept", "sd_item_slope")


@pytest.fixture(scope="module")
def cases(shared: Path) -> dict[str, Any]:
    """Data sets with the results of glmmTMB, glmer and clmm."""
    return dict(json.loads((shared / "golden" / "20_ordinal_logistic.json").read_text())["cases"])


def of_case(case: dict[str, Any]) -> Ratings:
    frame = pd.DataFrame(
        {
            "worker": [f"w{code}" for code in case["worker"]],
            "item": [f"i{code}" for code in case["item"]],
            "system": ["A" if x < 0 else "B" for x in case["x"]],
            "rating": case["y"],
        }
    )
    return ratings_from_table(frame, scale=RatingScale.parse(f"1:{case['categories']}"))


def fitted_case(case: dict[str, Any], estimator: Estimator) -> FitResult:
    df = "kenward-roger" if estimator == "reml" else "normal"
    family = "binary" if case["categories"] == 2 else "ordinal"
    rule = DecisionRule(family=family, link=case["link"], estimator=estimator, df=df)
    return hp.fit(of_case(case), rule=rule)


@pytest.mark.parametrize("name", ["bin_balanced", "bin_singular"])
def test_binary_reml_is_that_of_glmmtmb(cases: dict[str, Any], name: str) -> None:
    expected = cases[name]["glmmTMB_REML"]
    fitted = fitted_case(cases[name], "reml").fitted
    # glmmTMB searches log SDs: near zero the criterion is what can be compared
    assert fitted.criterion <= expected["minus2loglik"] + 1e-6
    assert fitted.criterion == pytest.approx(expected["minus2loglik"], abs=1e-5)
    assert fitted.latent.effect == pytest.approx(expected["effect"], rel=2e-4)
    # glmmTMB adds the uncertainty of the SDs, in which the adjusted error goes its own way
    assert fitted.standard_error == pytest.approx(expected["se_effect"], rel=0.03)
    assert -fitted.latent.thresholds[0] == pytest.approx(expected["intercept"], rel=2e-3)


@pytest.mark.parametrize("name", ["bin_balanced", "ord5_balanced", "ord5_logit_sparse"])
def test_maximum_likelihood_is_that_of_glmer_and_clmm(cases: dict[str, Any], name: str) -> None:
    case = cases[name]
    expected = case["glmer_ML"] if case["categories"] == 2 else case["clmm_ML"]
    fitted = fitted_case(case, "ml").fitted
    assert fitted.criterion == pytest.approx(expected["minus2loglik"], abs=2e-3)
    assert fitted.latent.effect == pytest.approx(expected["effect"], rel=2e-3)
    for sd in SDS:
        assert getattr(fitted.latent, sd) == pytest.approx(expected[sd], abs=5e-3)


def test_parameters_come_back_from_their_own_ratings() -> None:
    fitted = fit_latent(drawn_ratings(FIVE, 40, 80, seed=3), family="ordinal")
    latent = fitted.latent
    assert latent.effect == pytest.approx(FIVE.effect, abs=3.5 * fitted.standard_error)
    for k, threshold in enumerate(FIVE.thresholds):
        error = fitted.standard_errors[f"threshold_{k + 1}"]
        assert latent.thresholds[k] == pytest.approx(threshold, abs=3.5 * error)
    for name in SDS:
        assert getattr(latent, name) == pytest.approx(
            getattr(FIVE, name), abs=3.5 * fitted.standard_errors[name]
        )


def test_two_points_are_the_same_as_ordinal_and_as_binary() -> None:
    yes_no = drawn_ratings(replace(FIVE, thresholds=(0.2,), scores=(0.0, 1.0)), 10, 30, seed=1)
    assert (
        fit_latent(yes_no, family="binary").latent.effect
        == fit_latent(yes_no, family="ordinal").latent.effect
    )


def test_turning_the_scale_round_changes_nothing_but_the_names_of_the_points() -> None:
    frame = drawn_frame(FIVE, 8, 20, seed=7)
    up = ratings_from_table(frame, scale=RatingScale.parse("1:5"))
    turned = frame.assign(rating=6 - frame["rating"])
    down = ratings_from_table(turned, scale=RatingScale.parse("1:5", higher_is_better=False))
    one, other = (fit_latent(table, family="ordinal") for table in (up, down))
    assert one.latent.thresholds == pytest.approx(other.latent.thresholds, rel=1e-9)
    assert [getattr(one.latent, sd) for sd in SDS] == pytest.approx(
        [getattr(other.latent, sd) for sd in SDS]
    )
    assert one.latent.effect == pytest.approx(other.latent.effect, rel=1e-9)


def test_an_unused_point_drops_out_and_changes_no_other_number() -> None:
    frame = drawn_frame(FIVE, 8, 25, seed=2)
    gap = frame.assign(rating=frame["rating"].replace({4: 5, 5: 6}))  # nobody gives a 4
    whole = fit_latent(ratings_from_table(frame, scale=RatingScale.parse("1:5")), family="ordinal")
    holed = fit_latent(ratings_from_table(gap, scale=RatingScale.parse("1:6")), family="ordinal")
    assert holed.unused == (4.0,)
    assert whole.unused == ()
    assert holed.latent.effect == pytest.approx(whole.latent.effect, rel=1e-9)
    assert np.allclose(holed.latent.thresholds, whole.latent.thresholds)
    assert holed.latent.difference != pytest.approx(whole.latent.difference, rel=1e-3)  # other values


def test_a_covariate_that_moves_ratings_is_found_and_narrows_nothing_else() -> None:
    frame = drawn_frame(FIVE, 12, 40, seed=4)
    rng = np.random.default_rng(9)
    place = rng.normal(size=len(frame))
    ratings = ratings_from_table(frame, scale=RatingScale.parse("1:5"))
    moved = np.clip(ratings.rating + 0.25 * np.round(0.7 * place), 0, 1)
    with_place = replace(ratings, rating=moved, covariates=(numeric("place", place),))
    found = fit_latent(with_place, family="ordinal")
    (effect,) = found.covariates
    assert effect.estimate > 4 * effect.standard_error
    assert effect.label.startswith("place, per SD")
    without = fit_latent(replace(with_place, covariates=()), family="ordinal")
    assert found.criterion < without.criterion - 20


def test_documents_are_a_factor_of_their_own() -> None:
    ratings = drawn_ratings(FIVE, 8, 24, seed=5)
    grouped = replace(
        ratings, document=ratings.item // 4, document_names=tuple(f"d{code}" for code in range(6))
    )
    found = fit_latent(grouped, family="ordinal")
    assert {"sd_document_intercept", "sd_document_slope"} <= set(found.standard_errors)
    assert found.standard_errors.keys() > fit_latent(ratings, family="ordinal").standard_errors.keys()


def test_noise_alone_has_sds_of_zero_without_errors() -> None:
    worker, item, system = (codes.ravel() for codes in np.indices((8, 20, 2)))
    system = np.where(system == 0, "A", "B")
    for seed in range(20):
        rating = np.random.default_rng(seed).integers(1, 6, len(worker))
        frame = pd.DataFrame({"worker": worker, "item": item, "system": system, "rating": rating})
        found = fit_latent(ratings_from_table(frame, scale=RatingScale.parse("1:5")), family="ordinal")
        if len(found.boundary) == len(SDS):
            break
    assert set(found.boundary) == set(SDS)
    assert all(np.isnan(found.standard_errors[name]) for name in SDS)
    assert found.standard_errors["effect"] > 0


def test_one_rating_a_cell_leaves_items_and_noise_unseparated() -> None:
    ratings = drawn_ratings(FIVE, 6, 30, seed=6)
    kept = ratings.worker == ratings.item % 6
    frame = pd.DataFrame(
        {
            "worker": ratings.worker[kept],
            "item": ratings.item[kept],
            "system": np.where(ratings.system[kept] == 0, "A", "B"),
            "rating": ratings.raw_rating[kept],
        }
    )
    found = fit_latent(ratings_from_table(frame, scale=RatingScale.parse("1:5")), family="ordinal")
    assert set(found.not_identified) == {"sd_item_intercept", "sd_item_slope"}


def test_an_engine_and_terms_of_the_linear_model_alone_are_refused_at_once() -> None:
    ratings = drawn_ratings(FIVE, 4, 8, seed=1)
    rule = DecisionRule(family="ordinal")
    with pytest.raises(InputError) as caught:
        hp.fit(ratings, rule=rule, engine="lme4", worker_item=True, intervals="profile")
    assert [line.split(" ")[3] for line in str(caught.value).splitlines()] == ["is", "has", "has"]


def test_a_worker_alone_is_refused_as_by_the_linear_model() -> None:
    ratings = drawn_ratings(FIVE, 4, 30, seed=1)
    with pytest.raises(InputError, match="At least 2 workers are needed"):
        fit_latent(replace(ratings, worker=np.zeros_like(ratings.worker)), family="ordinal")


def test_systems_that_hardly_overlap_have_a_word_instead_of_a_number() -> None:
    apart = replace(FIVE, effect=14.0, thresholds=(-3.0, 3.0), scores=(0.0, 0.5, 1.0))
    with pytest.raises(FitError, match=r"separated completely|runs away"):
        fit_latent(drawn_ratings(apart, 4, 20, seed=1), family="ordinal")


def test_the_document_of_parameters_is_read_back_to_the_digit(tmp_path: Path) -> None:
    from humeval_power.files.documents.reading import read_parameters, to_json

    result = hp.fit(drawn_ratings(FIVE, 6, 20, seed=8), rule=DecisionRule(family="ordinal", link="logit"))
    path = tmp_path / "parameters.json"
    path.write_text(to_json(result.record()))
    parameters, document = read_parameters(path)
    assert parameters == result.parameters
    assert isinstance(parameters.latent, Latent)
    assert document["categories"]["ratings"] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert document["family"] == "ordinal"


def test_the_frame_has_what_was_fitted_with_its_errors() -> None:
    result = hp.fit(drawn_ratings(FIVE, 6, 20, seed=8), rule=DecisionRule(family="ordinal"))
    frame = result.to_frame().set_index("parameter")
    assert list(frame.index[:5]) == ["threshold_1", "threshold_2", "threshold_3", "threshold_4", "effect"]
    assert frame.loc["threshold_2", "value"] == result.fitted.latent.thresholds[1]
    assert frame.loc["threshold_2", "low"] < frame.loc["threshold_2", "value"]
    assert frame.loc["effect", "standard_error"] == result.fitted.standard_errors["effect"]


def test_the_size_of_the_test_with_few_workers_is_simulated_where_asked_for() -> None:
    ratings, rule = drawn_ratings(FIVE, 3, 12, seed=5), DecisionRule(family="ordinal")
    assert hp.fit(ratings, rule=rule).size is None
    result = hp.fit(ratings, rule=rule, n_simulations=40, seed=3)
    assert result.size is not None
    assert 0 <= result.size.rejection_rate < 0.3
    assert result.provenance.seed == 3
