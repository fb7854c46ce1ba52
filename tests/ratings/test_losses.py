"""Losses take the shares that they promise, from the rows that they should, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from humeval_power.designs import Assignment, crossed, items_nested, k_per_item
from humeval_power.errors import InputError
from humeval_power.estimation.crossed.fits import fit_batch
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.parameters import preset
from humeval_power.simulation.study import (
    AT_RANDOM,
    CAREFUL,
    STRAIGHT,
    Losses,
    careless_responses,
    collect,
    draw_ratings,
    draw_workers,
    lose_rows,
    remaining,
    replicate_generator,
    suspicious_workers,
)

DESIGN = k_per_item(20, 100, ratings_per_item=3)
ROWS = DESIGN.assignment
SHARE = st.floats(0, 0.45)
SEEDS = st.integers(0, 2**16)


def kept_rows(losses, seed, design=DESIGN, **options):
    rng = replicate_generator(seed, 0)
    return lose_rows(design.assignment, losses, rng, n_workers=design.n_workers, **options)


def in_band(count, n, share):
    """Whether a binomial count lies where it does with probability 0.998."""
    low, high = stats.binom.interval(0.998, n, share)
    return low <= count <= high


@given(SEEDS)
def test_without_losses_everything_comes_back_unchanged(seed):
    rating = draw_ratings(preset("high").recoded(), DESIGN, replicate_generator(seed, 0))
    back = collect(rating, ROWS, Losses(), replicate_generator(seed, 1), n_workers=20)
    assert back.kept.all()
    assert (back.kind == CAREFUL).all()
    assert not back.excluded.any()
    np.testing.assert_array_equal(back.rating, rating)
    left = remaining(ROWS, back.kept)
    for name in ("worker", "item", "system"):
        np.testing.assert_array_equal(getattr(left, name), getattr(ROWS, name))


def test_ratings_go_missing_at_the_asked_rate():
    lost = sum(int((~kept_rows(Losses(missing=0.1), seed)).sum()) for seed in range(50))
    assert in_band(lost, 50 * DESIGN.n_ratings, 0.1)


def test_workers_quit_at_the_asked_rate_and_quitters_always_lose_something():
    quitters = 0
    for seed in range(200):
        lost = np.bincount(ROWS.worker[~kept_rows(Losses(quitting=0.3), seed)], minlength=20)
        quitters += int((lost > 0).sum())
    assert in_band(quitters, 200 * 20, 0.3)


def test_the_quitting_point_is_uniform_from_nothing_done_to_one_left():
    design = crossed(50, 5)  # 10 ratings each
    done = []
    for seed in range(100):
        count = np.bincount(
            design.assignment.worker[kept_rows(Losses(quitting=0.99), seed, design)], minlength=50
        )
        done += [int(n) for n in count if n < 10]
    assert stats.chisquare(np.bincount(done, minlength=10)).pvalue > 0.001


def test_quitters_work_item_by_item_in_their_own_random_order():
    design = crossed(40, 6)
    rows = design.assignment
    kept = kept_rows(Losses(quitting=0.99), 3, design)
    first_items = set()
    for worker in range(40):
        mine = kept & (rows.worker == worker)
        both = np.bincount(rows.item[mine], minlength=6)
        assert (both == 1).sum() <= 1  # only the item at which the worker stopped is half done
        if mine.sum() in (2, 3):
            first_items.add(int(both.argmax()))
    assert len(first_items) > 1


def test_a_planned_order_of_work_is_followed():
    design = crossed(30, 8)
    rows = design.assignment
    position = 2 * (7 - rows.item) + rows.system  # the last item first
    kept = kept_rows(Losses(quitting=0.9), 1, design, position=position)
    for worker in range(30):
        mine = rows.worker == worker
        n_done = int((kept & mine).sum())
        assert set(position[kept & mine]) == set(range(n_done))


@given(SHARE, SHARE, SHARE, SHARE, SEEDS)
def test_a_larger_share_loses_what_a_smaller_one_loses(
    missing, more_missing, quitting, more_quitting, seed
):
    small = kept_rows(Losses(missing=missing, quitting=quitting), seed)
    large = kept_rows(Losses(missing=missing + more_missing, quitting=quitting + more_quitting), seed)
    assert not (large & ~small).any()


def test_careless_workers_come_at_the_asked_rates():
    losses = Losses(at_random=0.2, straight_lining=0.1)
    kinds = np.concatenate([draw_workers(20, losses, replicate_generator(5, i)) for i in range(300)])
    assert in_band(int((kinds == AT_RANDOM).sum()), len(kinds), 0.2)
    assert in_band(int((kinds == STRAIGHT).sum()), len(kinds), 0.1)


@given(st.floats(0, 0.49), st.floats(0, 0.49), SEEDS)
def test_only_careless_workers_answer_otherwise_and_straight_liners_say_one_thing(random, straight, seed):
    losses = Losses(at_random=random, straight_lining=straight)
    rng = replicate_generator(seed, 0)
    kind = draw_workers(20, losses, rng)
    rating = rng.random(DESIGN.n_ratings)
    answered = careless_responses(rating, ROWS.worker, kind, rng)
    careful = kind[ROWS.worker] == CAREFUL
    np.testing.assert_array_equal(answered[careful], rating[careful])
    assert not (answered[~careful] == rating[~careful]).any()
    for worker in np.flatnonzero(kind == STRAIGHT):
        assert len(set(answered[ROWS.worker == worker])) == 1


@pytest.mark.parametrize("points", [2, 5, 7])
def test_random_answers_are_uniform_over_the_points_of_the_scale(points):
    worker = np.zeros(20_000, dtype=np.int64)
    rng = replicate_generator(1, points)
    levels = np.arange(points) / (points - 1)
    answers = careless_responses(np.full(20_000, 0.5), worker, np.array([AT_RANDOM]), rng, levels=levels)
    category = np.round(answers * (points - 1)).astype(int)
    np.testing.assert_allclose(category / (points - 1), answers, atol=1e-12)
    assert stats.chisquare(np.bincount(category, minlength=points)).pvalue > 0.001


def test_random_answers_around_the_midpoint_follow_a_triangle():
    rng = replicate_generator(1, 0)
    rating, worker = np.zeros(5000), np.zeros(5000, dtype=np.int64)
    answers = careless_responses(rating, worker, np.array([AT_RANDOM]), rng, answers="midpoint")
    assert stats.kstest(answers, stats.triang(0.5).cdf).pvalue > 0.001


def test_the_same_generator_gives_the_same_losses_and_another_others():
    losses = Losses(missing=0.1, quitting=0.2, at_random=0.2, straight_lining=0.1)
    rating = np.random.default_rng(0).random(DESIGN.n_ratings)
    one, same, other = (
        collect(rating, ROWS, losses, replicate_generator(9, child), n_workers=20) for child in (4, 4, 5)
    )
    for name in ("rating", "kept", "kind", "excluded"):
        np.testing.assert_array_equal(getattr(one, name), getattr(same, name))
    assert (one.kept != other.kept).any()


@pytest.mark.parametrize("exclusion", ["none", "careless", "suspicious"])
def test_nothing_that_is_given_is_changed(exclusion):
    rating = np.random.default_rng(0).random(DESIGN.n_ratings)
    arrays = (rating, ROWS.worker, ROWS.item, ROWS.system)
    before = [array.copy() for array in arrays]
    losses = Losses(missing=0.1, quitting=0.5, at_random=0.3, straight_lining=0.3)
    back = collect(rating, ROWS, losses, replicate_generator(1, 0), n_workers=20, exclusion=exclusion)
    remaining(ROWS, back.kept)
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_excluding_careless_workers_leaves_exactly_the_careful_ones():
    losses = Losses(at_random=0.3, straight_lining=0.3)
    rating = np.random.default_rng(0).random(DESIGN.n_ratings)
    back = collect(rating, ROWS, losses, replicate_generator(2, 0), n_workers=20, exclusion="careless")
    np.testing.assert_array_equal(back.excluded, back.kind != CAREFUL)
    np.testing.assert_array_equal(back.kept, (back.kind == CAREFUL)[ROWS.worker])


def test_screening_finds_straight_liners_and_random_answers_where_items_differ_much():
    # items differ ten times as much as the noise: careful workers correlate near 1, random ones near 0
    rng = np.random.default_rng(7)
    design = crossed(30, 40)
    rows = design.assignment
    careful = 0.5 * rng.standard_normal(40)[rows.item] + 0.05 * rng.standard_normal(design.n_ratings)
    kind = np.repeat([CAREFUL, AT_RANDOM, STRAIGHT], [20, 5, 5])
    rating = careless_responses(careful, rows.worker, kind, rng)
    everything = np.ones(design.n_ratings, dtype=bool)
    found = suspicious_workers(rating, rows, everything, n_workers=30, min_agreement=0.5)
    np.testing.assert_array_equal(found, kind != CAREFUL)


def test_agreement_is_the_correlation_with_the_mean_of_the_others_within_systems():
    # the twin: worker by worker, output by output
    rng = np.random.default_rng(3)
    rating, kept = rng.random(DESIGN.n_ratings), rng.random(DESIGN.n_ratings) < 0.8
    agreement = np.full(20, np.nan)
    for worker in range(20):
        own, others = [], []
        for system in (0, 1):
            pairs = []
            for row in np.flatnonzero(kept & (ROWS.worker == worker) & (ROWS.system == system)):
                same = kept & (ROWS.item == ROWS.item[row]) & (ROWS.system == system)
                same &= ROWS.worker != worker
                if same.any():
                    pairs.append((rating[row], rating[same].mean()))
            centred = np.array(pairs) - np.mean(pairs, axis=0)
            own += list(centred[:, 0])
            others += list(centred[:, 1])
        agreement[worker] = np.corrcoef(own, others)[0, 1]
    for limit in (-0.2, 0.0, 0.2):
        found = suspicious_workers(rating, ROWS, kept, n_workers=20, min_agreement=limit)
        np.testing.assert_array_equal(found, agreement < limit)


def test_screening_does_not_look_at_the_difference_between_the_systems():
    rating = np.random.default_rng(3).random(DESIGN.n_ratings)
    everything = np.ones(DESIGN.n_ratings, dtype=bool)
    own_difference = np.random.default_rng(4).normal(size=20)[ROWS.worker] * ROWS.system
    plain, shifted = (
        suspicious_workers(values, ROWS, everything, n_workers=20, min_agreement=0.1)
        for values in (rating, rating + 0.3 * ROWS.system)
    )
    np.testing.assert_array_equal(plain, shifted)
    alone = np.where(ROWS.worker == 0, own_difference, 0.0)  # a worker who disagrees about the systems only
    with_dissent = suspicious_workers(rating + alone, ROWS, everything, n_workers=20, min_agreement=0.1)
    assert with_dissent[0] == plain[0]


def test_workers_with_few_or_unshared_ratings_are_not_judged():
    rows = Assignment(
        *(np.array(codes) for codes in ([0, 0, 0, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5, 6], [0, 1] * 3 + [0]))
    )
    rating = np.array([0.5, 0.5, 0.5, 0.1, 0.2, 0.3, 0.4])
    found = suspicious_workers(rating, rows, np.ones(7, dtype=bool), n_workers=3, min_agreement=0.9)
    assert not found.any()


def test_remaining_rows_are_numbered_anew_without_gaps():
    kept = (ROWS.worker % 2 == 1) & (ROWS.item % 3 != 0)
    left = remaining(ROWS, kept)
    assert left is not None
    assert set(left.worker) == set(range(10))
    assert set(left.item) == set(range(len(set(ROWS.item[kept]))))
    odd, which = np.unique(ROWS.worker[kept], return_inverse=True)
    np.testing.assert_array_equal(odd[left.worker], odd[which])


@pytest.mark.parametrize(
    "kept", [ROWS.worker == 3, ROWS.item == 5, ROWS.system == 1, np.zeros(DESIGN.n_ratings, dtype=bool)]
)
def test_nothing_remains_of_one_worker_one_item_or_one_system(kept):
    assert remaining(ROWS, kept) is None


def test_shares_outside_zero_to_one_are_refused_together():
    with pytest.raises(InputError) as caught:
        Losses(missing=-0.1, quitting=1.0, at_random=float("nan"), straight_lining=0.2, answers="high")
    text = str(caught.value)
    for piece in (
        "'missing': value -0.1",
        "'quitting': value 1.0",
        "'at_random'",
        "must be one of uniform, midpoint",
    ):
        assert piece in text
    assert "straight_lining" not in text
    with pytest.raises(InputError, match="together must stay below 1"):
        Losses(at_random=0.6, straight_lining=0.4)
    with pytest.raises(InputError, match="exclusion must be one of none, careless, suspicious"):
        collect(
            np.zeros(8),
            crossed(2, 2).assignment,
            Losses(),
            replicate_generator(1, 0),
            n_workers=2,
            exclusion="all",
        )


def test_a_design_in_which_items_have_one_system_each_loses_rows_too():
    design = items_nested(6, 10)
    kept = kept_rows(Losses(quitting=0.9), 1, design)
    assert 0 < kept.sum() < design.n_ratings


def estimates(losses, exclusion, n=300):
    """Estimated differences of simulated studies with a true difference of 0.2, each fitted to its rows."""
    truth = preset("low").with_difference(0.2).recoded()
    design = crossed(12, 30)
    rows, found = design.assignment, []
    for child in range(n):
        rng = replicate_generator(11, child)
        rating = draw_ratings(truth, design, rng)
        back = collect(rating, rows, losses, rng, n_workers=12, exclusion=exclusion)
        left = remaining(rows, back.kept)
        if left is not None:
            problem = CrossedProblem.of_design(left.worker, left.item, left.system)
            fit = fit_batch(problem, back.rating[back.kept][None], start=np.full(4, 0.1))
            found.append(float(fit.estimate[0]))
    return np.array(found)


@pytest.mark.slow
def test_careless_workers_dilute_the_effect_by_their_share_and_excluding_them_restores_it():
    # A careless worker's expected difference is 0, so the mean is (1 - share) of the true one. Three
    # standard errors of the mean of 300 studies.
    losses = Losses(at_random=0.2, straight_lining=0.1, quitting=0.1, missing=0.05)
    for exclusion, expected in (("none", 0.2 * 0.7), ("careless", 0.2)):
        found = estimates(losses, exclusion)
        assert abs(found.mean() - expected) < 3 * found.std() / np.sqrt(len(found))


def test_a_study_without_losses_is_fitted_to_the_last_digit_as_before():
    truth, design = preset("high").with_difference(0.1).recoded(), k_per_item(8, 30, ratings_per_item=3)
    rows = design.assignment
    rng = replicate_generator(3, 0)
    rating = draw_ratings(truth, design, rng)
    back = collect(rating, rows, replace(Losses(), answers="midpoint"), rng, n_workers=8)
    left = remaining(rows, back.kept)
    assert left is not None
    before, after = (
        fit_batch(
            CrossedProblem.of_design(table.worker, table.item, table.system),
            values[None],
            start=np.full(4, 0.1),
        )
        for table, values in ((rows, rating), (left, back.rating[back.kept]))
    )
    assert before.estimate[0] == after.estimate[0]
    assert before.standard_error_adjusted[0] == after.standard_error_adjusted[0]
