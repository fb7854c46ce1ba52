"""Several systems with losses: what comes back, how it is fitted, and what a plan makes of it."""

from dataclasses import replace

import numpy as np
import pytest
from cases import each_case, few_fast
from scipy import special

from humeval_power.designs import crossed, from_table, k_per_item, with_documents
from humeval_power.estimation.joint.strands import ContrastFits
from humeval_power.parameters import Parameters, preset
from humeval_power.rules import DEFAULT_RULE, ComparisonFamily
from humeval_power.simulation.study import Losses, suspicious_workers
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.replication import Replication
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.systems_replication import SystemsReplication
from humeval_power.studies.power.systems_study import SystemsStudy
from humeval_power.systems import SystemsParameters

TWO = Parameters(
    baseline=0.6,
    effect=0.2,
    sd_worker_intercept=0.1,
    sd_worker_slope=0.1,
    sd_item_intercept=0.1,
    sd_item_slope=0.1,
    sd_residual=0.2,
)
PAIRS = ComparisonFamily()
LOST = Losses(missing=0.1, quitting=0.2, at_random=0.1, straight_lining=0.1)


def replication(design, n_systems, *, losses=LOST, exclusion="none", pairs=((0, 1),)) -> SystemsReplication:
    parameters = SystemsParameters.of_parameters(TWO, n_systems).with_pattern("one", 0.2)
    return SystemsReplication(
        parameters, design, PAIRS, pairs, DEFAULT_RULE, losses=losses, exclusion=exclusion
    )


@few_fast(
    "design",
    [
        k_per_item(9, 24, ratings_per_item=4, n_systems=3),
        crossed(8, 20, n_systems=3),
        with_documents(k_per_item(9, 24, ratings_per_item=4, n_systems=3), 6),
    ],
)
@each_case("exclusion", ["none", "careless", "suspicious"])
def test_each_pair_is_fitted_as_two_systems_are_to_the_rows_that_are_left(design, exclusion):
    pairs = ((0, 1), (0, 2), (1, 2))
    study = replication(design, 3, exclusion=exclusion, pairs=pairs)
    found = study.fits(2, seed=5)
    for replicate in range(2):
        back, rows = study.collected(5, replicate), design.assignment
        assert 0 < back.kept.sum() < design.n_ratings
        for place, (first, second) in enumerate(pairs):
            of_two = np.flatnonzero(back.kept & ((rows.system == first) | (rows.system == second)))
            worker, item = (
                np.unique(codes[of_two], return_inverse=True)[1] for codes in (rows.worker, rows.item)
            )
            document = None
            if rows.document is not None:
                document = np.unique(rows.document[of_two], return_inverse=True)[1]
            system = (rows.system[of_two] == second).astype(int)
            alone = Replication(
                study.parameters.pair(first, second), from_table(worker, item, system, document=document)
            ).fit(back.rating[of_two][None], alone=True)
            contrasts = found.contrasts
            assert contrasts.estimate[replicate, place] == pytest.approx(alone.estimate[0], rel=1e-5)
            assert contrasts.standard_error[replicate, place] == pytest.approx(
                alone.standard_error[0], rel=1e-4
            )


@each_case("seed", [1, 8, 10, 11])
def test_a_study_that_is_not_settled_beside_others_is_fitted_alone(seed):
    design = k_per_item(3, 2, ratings_per_item=3, n_systems=3)
    pairs = ((0, 1), (0, 2), (1, 2))
    study = replication(design, 3, losses=Losses(missing=0.4), pairs=pairs)
    study = replace(study, parameters=SystemsParameters.of_parameters(preset("high"), 3))
    back = study.collected(seed, 0)
    settled, fits = study.settled_together(back.rating[None], back.kept[None])
    assert not settled.any()
    assert fits == []
    found, alone = study.fits(1, seed=seed), study.fit_alone(back.rating, back.kept)
    for one, other in zip(found.contrasts, alone.contrasts, strict=True):
        assert np.array_equal(one, other, equal_nan=True)


@pytest.mark.slow
@each_case(
    ("losses", "exclusion"),
    [
        (Losses(missing=0.2, quitting=0.2), "none"),
        (Losses(at_random=0.3), "none"),
        (Losses(missing=0.1, at_random=0.2, straight_lining=0.1), "careless"),
    ],
)
def test_two_of_several_have_the_power_of_a_study_of_two(losses, exclusion):
    design, n = k_per_item(12, 24, ratings_per_item=3), 1_000
    two = estimate_power(
        RatingStudy(TWO, design, losses=losses, exclusion=exclusion), n_simulations=n, seed=1
    )
    several = SystemsStudy(
        SystemsParameters.of_parameters(TWO, 2).with_pattern("one", 0.2),
        design,
        losses=losses,
        exclusion=exclusion,
    ).simulated(n_simulations=n, seed=2)
    error = np.sqrt(2 * two.power * (1 - two.power) / n)
    assert abs(two.power - several.power) <= 3.3 * error  # one in a thousand


def test_nothing_lost_is_the_study_as_it_was():
    study = replication(k_per_item(9, 24, ratings_per_item=4, n_systems=3), 3, losses=Losses())
    lost = replication(k_per_item(9, 24, ratings_per_item=4, n_systems=3), 3, losses=Losses(missing=1e-12))
    assert study.fits(3, seed=1).contrasts.estimate == pytest.approx(
        lost.fits(3, seed=1).contrasts.estimate, rel=1e-5
    )


def test_careless_workers_take_power_and_leaving_them_out_gives_some_back():
    parameters = SystemsParameters.of_parameters(preset("low"), 4).with_pattern("one", 0.08)
    of = {
        (losses.careless, exclusion): SystemsStudy(
            parameters, crossed(20, 40, n_systems=4), losses=losses, exclusion=exclusion
        )
        .simulated(n_simulations=300)
        .power
        for losses, exclusion in (
            (Losses(), "none"),
            (Losses(at_random=0.4), "none"),
            (Losses(at_random=0.4), "careless"),
        )
    }
    assert of[0.4, "none"] < of[0.4, "careless"] < of[0.0, "none"]


def test_a_check_of_ratings_tells_more_than_two_systems_apart():
    """A worker who sees the systems as the others do and their items not at all is no good judge of items."""
    design = crossed(6, 30, n_systems=4)
    rows, rng = design.assignment, np.random.default_rng(1)
    of_output = rng.standard_normal((30, 4)) + 5 * np.arange(4)
    rating = of_output[rows.item, rows.system] + 0.3 * rng.standard_normal(len(rows.worker))
    blind = rows.worker == 0
    rating[blind] = 5 * rows.system[blind] - rng.standard_normal(blind.sum())
    kept = np.ones(len(rating), dtype=bool)
    agreement = [
        suspicious_workers(rating, rows, kept, n_workers=6, min_agreement=0.5)[worker]
        for worker in range(6)
    ]
    assert agreement == [True, False, False, False, False, False]


def test_a_half_width_is_reached_by_more_studies_of_the_same_seed():
    parameters = SystemsParameters.of_parameters(preset("high"), 3).with_pattern("one", 0.25)
    study = SystemsStudy(parameters, crossed(15, 30, n_systems=3))
    found = study.simulated(n_simulations=200, precision=0.02)
    low, high = found.interval
    assert found.n_simulations > 200
    assert (high - low) / 2 <= 0.02
    assert study.simulated(n_simulations=found.n_simulations).power == pytest.approx(found.power, rel=1e-12)


@each_case(
    "family", [PAIRS, ComparisonFamily(model="joint"), ComparisonFamily(model="joint", variances="common")]
)
def test_studies_that_lost_ratings_are_fitted_side_by_side_as_each_is_by_itself(family):
    """The rows of a study alone are fitted by other matrices. So few workers are left in some that nothing can be
    fitted, or variances are zero; and neither portions nor jobs change a byte."""
    design = k_per_item(4, 14, ratings_per_item=2, n_systems=3, paired=False)
    study = replace(
        replication(design, 3, losses=Losses(missing=0.2, quitting=0.6), pairs=((0, 1), (0, 2), (1, 2))),
        family=family,
    )
    n = 60
    together = study.fits(n, seed=1)
    backs = [study.collected(1, one) for one in range(n)]
    settled, _ = study.settled_together(
        np.stack([back.rating for back in backs]), np.stack([back.kept for back in backs])
    )
    assert 10 < settled.sum() < n
    alone = [study.fit_alone(back.rating, back.kept) for back in backs]
    contrasts = ContrastFits.joined([one.contrasts for one in alone])
    assert np.array_equal(together.contrasts.status, contrasts.status)
    assert np.array_equal(together.contrasts.boundary, contrasts.boundary)
    fine = contrasts.status == 0
    assert contrasts.boundary[fine].any()
    assert np.allclose(together.means[fine], np.concatenate([one.means for one in alone])[fine], atol=1e-12)
    for fast, slow in zip(together.contrasts[:5], contrasts[:5], strict=True):
        # a search that ends within 1e-8 of the least criterion leaves a flat one's variances apart by its root
        assert np.allclose(fast[fine], slow[fine], rtol=1e-3, equal_nan=True)
    decisions = [
        np.abs(one.estimate) > -special.stdtrit(one.kenward_roger, 0.025) * one.adjusted
        for one in (together.contrasts, contrasts)
    ]
    assert np.array_equal(*decisions)
    part = study.fits(23, seed=1, first=8, n_jobs=3)
    for whole, some in zip(
        (together.means, *together.contrasts), (part.means, *part.contrasts), strict=True
    ):
        assert whole[8:31].tobytes() == some.tobytes()
