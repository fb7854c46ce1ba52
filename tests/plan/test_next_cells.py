"""Which cells come next: the gain of a cell against slow twins and lme4; fewest first, by counts alone."""

import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humeval_power.designs import Assignment, crossed, from_table, k_per_item
from humeval_power.parameters import Parameters
from humeval_power.studies.plan.under_way import Collecting, PairGains, add_by_gain, fewest_first
from humeval_power.studies.power.formula import effect_precision

SDS = {"sd_worker": 0.11, "sd_item": 0.14, "sd_residual": 0.26}
DONE = np.array([[0, 0], [0, 1], [1, 1], [1, 2], [2, 0], [0, 3]]).T
# computed apart from this program, for these cells of 4 workers and 5 items, of which one each is unseen
VARIANCE = 0.032538851
GAINS = {
    (2, 2): 0.003867651,
    (2, 3): 0.003918685,
    (1, 0): 0.002731221,
    (0, 2): 0.003008795,
    (2, 4): 0.004751951,
    (3, 1): 0.003770083,
    (3, 3): 0.004455514,
    (3, 4): 0.005308779,
}


def gains_of(cells: np.ndarray, shape: tuple[int, int] = (4, 5), **sds: float) -> PairGains:
    return PairGains(cells[0], cells[1], shape, **{**SDS, **sds})


def slow_variance(cells: np.ndarray, sd_worker: float, sd_item: float, sd_residual: float) -> float:
    """1 / (1' V^-1 1) of the paired differences, with V written out."""
    worker, item = cells
    covariance = (
        sd_worker**2 * np.equal.outer(worker, worker)
        + sd_item**2 * np.equal.outer(item, item)
        + 2 * sd_residual**2 * np.eye(len(worker))
    )
    return 1 / np.linalg.inv(covariance).sum()


def with_cells(cells: np.ndarray, *more: tuple[int, int]) -> np.ndarray:
    return np.concatenate([cells, np.array(more, dtype=np.int64).reshape(-1, 2).T], axis=1)


def test_gains_are_those_of_the_published_example() -> None:
    gains = gains_of(DONE)
    assert gains.variance == pytest.approx(VARIANCE, abs=5e-10)
    found = gains.of_cells()
    for cell, gain in GAINS.items():
        assert found[cell] == pytest.approx(gain, abs=5e-10)
    free = np.ones((4, 5), dtype=np.bool_)
    free[tuple(DONE)] = False
    assert add_by_gain(gains, free, np.full(4, 9), 1) == [(3, 4)]
    assert gains.variance == pytest.approx(VARIANCE - GAINS[3, 4], abs=1e-9)
    assert len(add_by_gain(gains, free, np.array([0, 1, 0, 2]), 99)) == 3  # no more than there is room


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=14, unique=True),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=5, unique=True),
    st.sampled_from([0.0, 0.05, 0.3]),
    st.sampled_from([0.0, 0.14]),
)
def test_a_gain_is_the_drop_of_the_variance_that_is_written_out(done, more, sd_worker, sd_item) -> None:
    cells = np.array(done).T
    sds = {"sd_worker": sd_worker, "sd_item": sd_item, "sd_residual": 0.26}
    gains = gains_of(cells, **sds)
    before = slow_variance(cells, **sds)
    assert gains.variance == pytest.approx(before, rel=1e-9)
    first = more[0]
    dropped = before - slow_variance(with_cells(cells, first), **sds)
    assert gains.of_cells()[first] == pytest.approx(dropped, rel=1e-6, abs=1e-12)
    together = before - slow_variance(with_cells(cells, *more), **sds)
    assert gains.of_batch(*np.array(more).T) == pytest.approx(together, rel=1e-6, abs=1e-12)
    for cell in more:  # one after the other: the same identity by steps
        gains.add(*cell)
    assert before - gains.variance == pytest.approx(together, rel=1e-6, abs=1e-12)


def test_the_variance_is_that_of_a_study_by_formula() -> None:
    worker, item = (np.repeat(codes, 2) for codes in DONE)
    design = from_table(worker, item, np.tile([0, 1], DONE.shape[1]))
    parameters = Parameters(
        baseline=0.5,
        effect=0.0,
        sd_worker_intercept=0.2,
        sd_worker_slope=0.11,
        sd_item_intercept=0.1,
        sd_item_slope=0.14,
        sd_residual=0.26,
    )
    assert effect_precision(parameters, design).variance == pytest.approx(gains_of(DONE).variance, rel=1e-9)


@pytest.mark.r
def test_lme4_has_the_same_variance_at_these_deviations() -> None:
    rscript = shutil.which("Rscript")
    assert rscript is not None
    cells = with_cells(DONE, (3, 4))
    program = f"""
    suppressMessages(library(lme4))
    d <- data.frame(w = factor(c({",".join(map(str, cells[0]))})), i = factor(c({",".join(map(str, cells[1]))})))
    d$y <- seq_len(nrow(d)) %% 3
    parts <- lFormula(y ~ 1 + (1 | w) + (1 | i), d,
      control = lmerControl(check.nobs.vs.nlev = "ignore", check.nobs.vs.nRE = "ignore"))
    f <- do.call(mkLmerDevfun, parts)
    sd <- sapply(names(parts$reTrms$cnms), function(n) if (n == "w") {SDS["sd_worker"]} else {SDS["sd_item"]})
    noise <- 2 * {SDS["sd_residual"]}^2
    invisible(f(sd / sqrt(noise)))
    cat(format(noise * chol2inv(environment(f)$pp$RX())[1, 1], digits = 15))
    """
    done = subprocess.run([rscript, "-e", program], capture_output=True, text=True, check=True)
    assert float(done.stdout) == pytest.approx(VARIANCE - GAINS[3, 4], abs=5e-10)


def collecting(design, rows: Assignment | None = None, **changes) -> Collecting:
    used = design.assignment if rows is None else rows
    shown = np.zeros((design.n_items, design.n_systems), dtype=np.bool_)
    shown[design.assignment.item, design.assignment.system] = True
    seen = np.zeros((design.n_workers, design.n_items), dtype=np.bool_)
    seen[used.worker, used.item] = True
    usual = {
        "rows": used,
        "room": np.full(design.n_workers, 10**6),
        "shown": shown,
        "rates": np.ones((design.n_workers, design.n_systems), dtype=np.bool_),
        "seen": seen,
        "together": np.arange(design.n_items),
        "whole": True,
    }
    return Collecting(**{**usual, **changes})


def left_of(design, lost_workers: int, share: float, seed: int) -> Assignment:
    """The rows of a study of which the last workers do only a share, whole items."""
    rows = design.assignment
    rng = np.random.default_rng(seed)
    gone = rows.worker >= design.n_workers - lost_workers
    place = rng.random((design.n_workers, design.n_items))[rows.worker, rows.item]
    kept = ~gone | (place < share)
    return Assignment(rows.worker[kept], rows.item[kept], rows.system[kept])


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 50), st.integers(1, 3), st.sampled_from([2, 3]), st.integers(1, 60))
def test_fewest_come_first_and_no_worker_meets_an_item_twice(seed, lost, n_systems, cells) -> None:
    design = k_per_item(8, 30, ratings_per_item=2, n_systems=n_systems, seed=seed)
    rows = left_of(design, lost, 0.25, seed)
    room = np.where(np.arange(8) < 8 - lost, 10**6, 0)
    found = collecting(design, rows, room=room)
    chosen = fewest_first(found, cells * n_systems, np.random.default_rng(seed))
    assert len(chosen.item) == cells * n_systems
    assert (chosen.worker < 8 - lost).all()
    met = np.concatenate([rows.worker * 30 + rows.item, chosen.worker * 30 + chosen.item])
    assert (np.unique(met, return_counts=True)[1] == n_systems).all()  # new ones whole, and nobody twice
    before = np.bincount(rows.item, minlength=30) // n_systems
    after = before + np.bincount(chosen.item, minlength=30) // n_systems
    added = after > before
    # an item that got one had no more than any that got none: it was among the fewest
    assert after[added].max() - 1 <= after.min()
    loads = np.bincount(np.concatenate([rows.worker, chosen.worker]), minlength=8)[: 8 - lost]
    fresh = np.bincount(chosen.worker, minlength=8)[: 8 - lost]
    assert fresh[loads.argmin()] > 0 or fresh.sum() < n_systems * 8 or np.ptp(loads) <= 2 * n_systems


def test_a_half_rated_item_is_not_counted_as_rated() -> None:
    design = crossed(3, 2)
    rows = Assignment(
        np.array([0, 0, 1]), np.array([0, 0, 1]), np.array([0, 1, 0])
    )  # item 1 has half a pair
    chosen = fewest_first(collecting(design, rows), 2, np.random.default_rng(1))
    assert chosen.item.tolist() == [1, 1]


def test_sets_that_belong_together_are_given_as_a_whole() -> None:
    design = k_per_item(6, 12, ratings_per_item=2)
    rows = left_of(design, 2, 0.0, 1)
    together = np.repeat(np.arange(4), 3)
    met = collecting(design, rows, together=together, room=np.array([99, 99, 99, 99, 0, 0]))
    chosen = fewest_first(met, 18, np.random.default_rng(1))
    for worker in np.unique(chosen.worker):
        mine = chosen.item[chosen.worker == worker]
        sets, times = np.unique(together[mine], return_counts=True)
        assert (times == 6).all()
        # nobody gets a document of which they met an item
        assert not met.seen[worker][np.isin(together, sets)].any()


def test_where_systems_are_rated_apart_the_output_with_the_fewest_comes_next() -> None:
    design = k_per_item(8, 12, ratings_per_item=2, paired=False)
    rows = design.assignment
    kept = rows.worker < 6
    left = Assignment(rows.worker[kept], rows.item[kept], rows.system[kept])
    n = int((~kept).sum())
    room = np.array([99] * 6 + [0, 0])
    chosen = fewest_first(collecting(design, left, whole=False, room=room), n, np.random.default_rng(2))
    assert len(chosen.item) == n
    cells = np.concatenate([left.worker * 12 + left.item, chosen.worker * 12 + chosen.item])
    assert len(np.unique(cells)) == len(cells)  # nobody meets an item under both
    counts = np.bincount(np.concatenate([left.item * 2 + left.system, chosen.item * 2 + chosen.system]))
    assert counts.min() == 2


def test_workers_who_see_one_system_go_on_with_it_and_nobody_gets_more_than_there_is_room() -> None:
    design = k_per_item(4, 6, ratings_per_item=1, paired=False)
    rates = np.array([[True, False], [True, False], [False, True], [False, True]])
    found = collecting(
        design,
        Assignment(*np.zeros((3, 0), dtype=np.int64)),
        whole=False,
        rates=rates,
        room=np.array([2, 3, 0, 4]),
    )
    chosen = fewest_first(found, 100, np.random.default_rng(3))
    assert rates[chosen.worker, chosen.system].all()
    assert np.bincount(chosen.worker, minlength=4).tolist() == [2, 3, 0, 4]


def test_the_same_seed_gives_the_same_cells_and_another_others() -> None:
    design = k_per_item(8, 30, ratings_per_item=2)
    found = collecting(design, left_of(design, 2, 0.25, 4))
    one, same, other = (fewest_first(found, 20, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one.item, same.item)
    assert np.array_equal(one.worker, same.worker)
    assert not np.array_equal(one.item, other.item)


def test_fewest_first_is_near_the_largest_gain_after_dropouts() -> None:
    """Of what random cells lose it loses little; a study of 10 workers and 60 items, of whom three leave."""
    design = k_per_item(10, 60, ratings_per_item=2, seed=3)
    rows = left_of(design, 3, 0.25, 5)
    room = np.array([10**6] * 7 + [0] * 3)
    n = design.n_ratings - len(rows.item)
    found = collecting(design, rows, room=room)
    first = rows.system == 0

    def gains() -> PairGains:
        return PairGains(rows.worker[first], rows.item[first], (10, 60), **SDS)

    chosen = fewest_first(found, n, np.random.default_rng(1))
    pairs = chosen.system == 0
    fewest = gains().variance - gains().of_batch(chosen.worker[pairs], chosen.item[pairs])
    by_gain = gains()
    assert len(add_by_gain(by_gain, ~found.seen, room, n // 2)) == n // 2
    greedy = by_gain.variance
    assert greedy <= fewest * (1 + 1e-12)
    assert fewest < greedy * 1.005
