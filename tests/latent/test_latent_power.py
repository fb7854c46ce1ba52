"""Power of studies whose ratings arise in categories: simulated, analysed as categories or numbers, by formula."""

from dataclasses import replace

import numpy as np
import pytest

from humeval_power.designs import Design, crossed, k_per_item
from humeval_power.errors import InputError
from humeval_power.kernels.latent.moments import observed_variances
from humeval_power.latent import Latent, Link
from humeval_power.parameters import STANDARD_DEVIATIONS, Parameters, preset
from humeval_power.rules import DecisionRule
from humeval_power.studies.fit.wald import LatentScale
from humeval_power.studies.power.analytic import simulated_margin
from humeval_power.studies.power.assurance import assurance, safe_parameters
from humeval_power.studies.power.calibration import CATEGORY_TESTS, calibrate
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.formula import analytic_power
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.study_counts import StudyCounts
from humeval_power.uncertainty import VarianceUncertainty

FIVE = Parameters.of_latent(
    Latent.of_shares(
        (0.05, 0.1, 0.2, 0.4, 0.25),
        sd_worker_intercept=0.08,
        sd_worker_slope=0.05,
        sd_item_intercept=0.1,
        sd_item_slope=0.08,
        difference=0.1,
    )
)
YES_NO = Parameters.of_latent(
    Latent.of_shares((0.3, 0.7), sd_worker_slope=0.05, sd_item_intercept=0.1, difference=0.1)
)
ORDINAL = DecisionRule(family="ordinal")
SMALL = crossed(5, 12)


def latent_of(parameters: Parameters) -> Latent:
    assert parameters.latent is not None
    return parameters.latent


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_the_scale_of_many_fits_is_that_of_each(link: Link) -> None:
    fits = [replace(latent_of(FIVE), link=link, effect=effect) for effect in (-0.7, 0.0, 0.4, 2.0)]
    fits[2] = replace(fits[2], sd_item_intercept=1.5)
    scale = LatentScale(
        np.array([fit.thresholds for fit in fits]),
        np.array([fit.variance for fit in fits]),
        np.array(fits[0].scores),
        link == "logit",
    )
    effect = np.array([fit.effect for fit in fits])
    assert np.allclose(scale.difference(effect), [fit.difference for fit in fits], atol=1e-6)
    moved = [fit.with_difference(0.2).effect for fit in fits]
    assert np.allclose(scale.effect_of(0.2), moved, atol=1e-5)
    assert np.allclose(scale.effect_of(-0.2), -np.array(moved), atol=1e-5)
    assert np.isinf(scale.effect_of(1.01)).all()
    assert np.allclose(scale.per_unit(effect) * effect, scale.difference(effect))


def test_a_category_that_a_study_does_not_use_counts_for_nothing() -> None:
    edge = LatentScale(np.array([[-np.inf, -0.5, 0.5, 0.5]]), np.array([0.4]), np.linspace(0, 1, 5), False)
    used = LatentScale(np.array([[-0.5, 0.5]]), np.array([0.4]), np.array([0.25, 0.5, 1.0]), False)
    assert edge.difference(np.array([0.6])) == pytest.approx(used.difference(np.array([0.6])))


@pytest.mark.parametrize("parameters", [FIVE, YES_NO], ids=["ordinal", "binary"])
def test_a_replicate_does_not_depend_on_how_many_are_drawn(parameters: Parameters) -> None:
    rule = DecisionRule(family=latent_of(parameters).family)
    study = RatingStudy(parameters, SMALL, rule=rule)
    whole = study.draw(6, seed=5)
    part = study.draw(3, seed=5, first=2, n_jobs=2)
    assert np.array_equal(whole.p_value[2:5], part.p_value, equal_nan=True)
    assert whole.boundary.shape == (6, 4)
    assert np.isfinite(whole.p_value[whole.status == 0]).all()


def test_the_same_ratings_are_analysed_as_categories_and_as_numbers() -> None:
    as_categories, as_numbers = RatingStudy(FIVE, SMALL, rule=ORDINAL), RatingStudy(FIVE, SMALL)
    ratings = as_numbers.replication.responses(8, seed=3)
    assert np.array_equal(ratings, as_categories.replication.responses(8, seed=3))
    assert set(np.unique(ratings)) <= set(latent_of(FIVE).scores)
    one, other = (study.draw(8, seed=3) for study in (as_categories, as_numbers))
    # both estimate the same difference of expected ratings
    assert np.allclose(one.estimate, other.estimate, atol=0.05)
    assert np.corrcoef(one.estimate, other.estimate)[0, 1] > 0.95
    assert not as_numbers.shifts


def test_t_is_that_of_the_latent_scale_and_margins_move_there() -> None:
    study = RatingStudy(FIVE, SMALL, rule=ORDINAL)
    fits = study.replication.fits(6, seed=2)
    found = study.decide(fits)
    assert np.allclose(found.estimate / found.standard_error, fits.estimate / fits.adjusted)
    rule = DecisionRule(family="ordinal", alternative="non-inferior", margin=0.1)
    shown = study.decide(fits, rule)
    assert fits.scale is not None
    t = (fits.estimate + fits.scale.effect_of(0.1)) / fits.adjusted
    order = np.argsort(t)
    assert (np.diff(shown.p_value[order]) <= 0).all()


def test_a_margin_that_a_study_just_shows_is_shown() -> None:
    rule = DecisionRule(family="ordinal", alternative="equivalent", margin=1.0)
    study = RatingStudy(FIVE.with_difference(0.0), SMALL, rule=rule)
    found = simulated_margin(study, power=0.5, n_simulations=9, seed=4)
    wider, narrower = (
        study.decide(study.replication.fits(9, seed=4), replace(rule, margin=found.effect * factor)).p_value
        for factor in (1.001, 0.999)
    )
    assert (wider <= 0.05).sum() == 5
    assert (narrower <= 0.05).sum() == 4


def test_ratings_get_lost_and_careless_ones_stay_in_the_categories() -> None:
    from humeval_power.simulation.study import Losses

    losses = Losses(missing=0.2, at_random=0.3)
    study = RatingStudy(FIVE, SMALL, rule=ORDINAL, losses=losses)
    ratings = study.replication.responses(20, seed=1)
    assert set(np.unique(ratings)) <= set(latent_of(FIVE).scores)
    found = study.draw(4, seed=1)
    assert len(found) == 4


def test_fits_that_fail_are_no_power() -> None:
    rare = Parameters.of_latent(Latent.of_shares((0.01, 0.99), sd_item_intercept=0.01))
    study = RatingStudy(rare, crossed(3, 4), rule=DecisionRule(family="binary"))
    found = estimate_power(study, n_simulations=20, seed=1)
    assert found.failure_rate > 0.2
    assert np.isnan(found.power)


@pytest.mark.parametrize(
    ("parameters", "options", "words"),
    [
        (preset("high").recoded(), {"rule": ORDINAL}, "these parameters give none"),
        (FIVE, {"response": "likert", "points": 5}, "in categories already"),
        (FIVE, {"rule": DecisionRule(family="binary")}, "ratings of two values"),
    ],
)
def test_studies_that_cannot_be_are_refused(
    parameters: Parameters, options: dict[str, object], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        RatingStudy(parameters, SMALL, **options)  # type: ignore[arg-type]


def test_rounded_numbers_can_be_analysed_as_categories() -> None:
    study = RatingStudy(preset("low").recoded(), SMALL, rule=ORDINAL, response="likert", points=5)
    assert (study.draw(3, seed=1).status == 0).all()


def test_the_variances_of_draws_are_those_of_each_setting() -> None:
    latent = latent_of(FIVE)
    others = [
        latent.with_deviations(sd_worker_slope=0.5),
        latent.with_deviations(sd_item_intercept=1.0, sd_worker_intercept=0.0),
    ]
    drawn = np.array([[getattr(each, name) ** 2 for each in others] for name in STANDARD_DEVIATIONS[:4]])
    found = observed_variances(
        np.array(latent.thresholds),
        np.array(latent.scores),
        latent.effect,
        latent.variance,
        drawn,
        logit=False,
    )
    for column, each in enumerate(others):
        expected = Parameters.of_latent(each)
        names = (*STANDARD_DEVIATIONS, "sd_worker_item")
        assert np.allclose(
            np.sqrt(found[:, column]), [getattr(expected, name) for name in names], atol=1e-9
        )
        assert expected.difference == pytest.approx(FIVE.difference, abs=1e-9)


def test_assurance_lies_around_the_power_of_the_estimates() -> None:
    latent = latent_of(FIVE)
    variances = np.array([getattr(latent, name) ** 2 for name in STANDARD_DEVIATIONS[:4]])
    # a pilot so large that nothing is left uncertain
    sure = VarianceUncertainty.of_latent_information(
        np.diag(1e12 / variances**2), variances, n_workers=10**6, n_items=10**6
    )
    counts = StudyCounts(10, 50, 10, paired=True)
    found = assurance(sure, counts, effect=FIVE.difference, latent=latent, n_draws=50)
    expected = analytic_power(FIVE, crossed(10, 50)).power
    assert found.powers.min() == pytest.approx(expected, abs=0.01)
    assert found.powers.max() == pytest.approx(expected, abs=0.01)
    unsure = VarianceUncertainty.of_latent_information(
        np.diag(10 / variances**2), variances, n_workers=6, n_items=30
    )
    assert np.ptp(assurance(unsure, counts, effect=0.1, latent=latent, n_draws=200).powers) > 0.1
    safe = safe_parameters(FIVE, unsure, confidence=0.8)
    assert latent_of(safe).sd_worker_slope > latent.sd_worker_slope
    assert safe.difference == pytest.approx(FIVE.difference)


def test_another_slope_of_workers_on_the_scale_is_found_on_the_latent_one() -> None:
    other = FIVE.with_worker_slope(0.12)
    assert other.sd_worker_slope == pytest.approx(0.12)
    assert latent_of(other).shares(0) == pytest.approx(latent_of(FIVE).shares(0))
    assert latent_of(FIVE.with_worker_slope(0.0)).sd_worker_slope == 0


def test_calibration_shows_the_test_of_categories_and_that_of_its_peers() -> None:
    found = calibrate(
        FIVE,
        k_per_item(5, 12, ratings_per_item=3),
        rule=ORDINAL,
        tests=("categories", "categories-wald-z", "kenward-roger"),
        n_simulations=6,
    )
    assert [each.test for each in found] == ["categories", "categories-wald-z", "kenward-roger"]
    assert [each.is_rule for each in found] == [True, False, False]
    assert found[0].label == "Ordinal model, Kenward-Roger"
    with pytest.raises(InputError, match="There is no test"):
        calibrate(preset("low"), SMALL, tests=list(CATEGORY_TESTS), n_simulations=2)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameters", "design", "n"),
    [(FIVE, crossed(8, 40), 1000), (YES_NO, crossed(10, 100), 600)],
    ids=["ordinal", "binary"],
)
def test_the_formula_tells_the_power_of_both_analyses(
    parameters: Parameters, design: Design, n: int
) -> None:
    study = parameters.with_difference(0.06)
    by_formula = analytic_power(study, design).power
    for rule in (DecisionRule(), DecisionRule(family=latent_of(study).family)):
        low, high = estimate_power(
            RatingStudy(study, design, rule=rule), n_simulations=n, seed=3, n_jobs=2
        ).interval
        assert low - 0.03 <= by_formula <= high + 0.03
