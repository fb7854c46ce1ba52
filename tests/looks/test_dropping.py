"""Looks that drop systems: levels, one study by hand, the long run by other ways, and what is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest
from cli import run_json
from reference.dropping import brownian_dropping, followed
from scipy import stats

from humeval_power.errors import InputError
from humeval_power.rules import ComparisonFamily, DecisionRule
from humeval_power.studies.looks.boundaries import boundaries
from humeval_power.studies.looks.dropping import (
    ALL_EQUAL,
    check_dropping,
    check_dropping_study,
    drop_alpha,
    drop_boundaries,
    drop_expectations,
    drop_look,
    follow,
    interval_alpha,
    plan_dropping,
)
from humeval_power.studies.looks.repeated import StopWhen, half_widths
from humeval_power.studies.looks.replicates import Looks
from humeval_power.studies.looks.result_dropping import NOT_BY_RANK
from humeval_power.studies.looks.stopping_rule import (
    PowerSpending,
    PValueFutility,
    Spending,
    StoppingRule,
    efficacy_of,
)
from humeval_power.studies.looks.systems_looks import SystemsLookReplicates, SystemsLooks
from humeval_power.studies.power.required import design_of
from humeval_power.study_counts import StudyCounts
from humeval_power.systems import SystemsParameters

SPENT = StoppingRule(Spending(PowerSpending(2.0)))
FAMILY = ComparisonFamily(correction="none")


def study(
    n_systems: int = 4,
    *,
    effect: float = 0.1,
    workers: int = 20,
    items: int = 50,
    shares: tuple[float, ...] = (0.4, 0.6, 0.8, 1.0),
    sds: tuple[float, float, float] = (0.11, 0.14, 0.26),
    ratings_per_item: int | None = None,
) -> SystemsLooks:
    """One system leads by `effect`; the SDs are those of differences between workers and items, and the
    residual."""
    worker, item, residual = sds
    parameters = SystemsParameters(
        tuple("ABCDEFGH"[:n_systems]),
        (0.5,) * (n_systems - 1) + (0.5 + effect,),
        0.1,
        (worker / math.sqrt(2),) * n_systems,
        0.1,
        (item / math.sqrt(2),) * n_systems,
        residual,
        effect=effect,
    )
    counts = StudyCounts(workers, items, ratings_per_item or workers, True, n_systems=n_systems)
    return SystemsLooks(parameters, design_of(counts), Looks("workers", shares), FAMILY, DecisionRule())


def test_levels_are_those_that_price_a_sole_survivor() -> None:
    # a_K = min(alpha / 2, alpha / (K - 1)), one-sided; here two-sided
    one_sided = {3: 0.025, 5: 0.0125, 8: 0.007143, 10: 0.005556}
    assert {K: drop_alpha(0.05, K) / 2 for K in one_sided} == pytest.approx(one_sided, abs=1e-6)
    # Tukey per side, by tables of the studentized range
    tukey = {3: 0.009547, 5: 0.003188, 8: 0.001219, 10: 0.000779}
    assert {K: interval_alpha(0.05, K) / 2 for K in tukey} == pytest.approx(tukey, abs=1e-6)
    assert interval_alpha(0.05, 2) == pytest.approx(0.05)


def test_a_comparison_crosses_its_drop_level_at_any_look_as_often_as_it_may() -> None:
    # SciPy's multivariate normal: P(any look beyond its boundary on one side) = a_K
    shares = (0.3, 0.56, 0.8, 1.0)
    bounds = drop_boundaries(SPENT, [shares] * 6, n_systems=4)
    for nominal, alpha in ((bounds.drop[:, 0], drop_alpha(0.05, 4)), (bounds.claim[:, 0], 0.05)):
        z = stats.norm.isf(nominal / 2)
        root = np.sqrt(np.minimum.outer(shares, shares) / np.maximum.outer(shares, shares))
        inside = stats.multivariate_normal(np.zeros(4), root).cdf(z, rng=np.random.default_rng(1))
        # of both sides: the intersection is beyond any digit shown
        assert 1 - inside == pytest.approx(alpha / 2, abs=2e-5)
    assert (bounds.drop <= bounds.claim).all()


@pytest.mark.parametrize("n_systems", [3, 4, 6])
@pytest.mark.parametrize("stop_when", [StopWhen(), StopWhen(True, 0.25), StopWhen(True, None, 0.15)])
def test_studies_are_followed_as_one_by_one(n_systems: int, stop_when: StopWhen) -> None:
    rng = np.random.default_rng(n_systems)
    source = study(n_systems)
    n, pairs = 200, source.pairs
    level = rng.normal(0, 0.1, (n, 1, n_systems)) + rng.normal(0, 0.05, (n, 4, n_systems))
    first, second = np.array(pairs).T
    estimate = (
        level[..., second] - level[..., first] + rng.normal(0, 0.02, (n, 4, len(pairs)))
    )  # not transitive
    error = rng.uniform(0.02, 0.08, (n, 4, len(pairs)))
    df = rng.uniform(3, 30, (n, 4, len(pairs)))
    p = 2 * stats.t.sf(np.abs(estimate) / error, df)
    looks = SystemsLookReplicates(level, estimate, error, df, p, np.ones(n, dtype=bool))
    bounds = drop_boundaries(SPENT, [(0.3, 0.56, 0.8, 1.0)] * len(pairs), n_systems=n_systems)
    found = follow(looks, bounds, pairs, stop_when=stop_when)
    half = half_widths(error, df, bounds.interval)
    ends = set()
    for at in range(n):
        look, dropped, best, group = followed(
            *(estimate[at], p[at], half[at], bounds.drop, bounds.claim, pairs, n_systems),
            margin=stop_when.equivalence,
            width=stop_when.half_width,
        )
        assert (found.look[at], found.best[at]) == (look, -1 if best is None else best)
        assert found.dropped_at[at].tolist() == [4 if one is None else one for one in dropped]
        assert found.top_group[at] == group
        rated = [
            0 if stage > look else sum(one is None or one >= stage for one in dropped) for stage in range(4)
        ]
        assert found.rated()[at].tolist() == rated
        ends.add((best is not None, group))
    assert (True, False) in ends
    assert ((False, True) in ends) == (stop_when != StopWhen())


def test_systems_that_beat_each_other_in_a_circle_all_stay() -> None:
    pairs = ((0, 1), (1, 2), (0, 2))
    estimate = np.array([[1.0, 1.0, -1.0]])  # 1 beats 0, 2 beats 1, 0 beats 2
    level = np.full(3, 0.01)
    found = drop_look(estimate, np.full((1, 3), 1e-6), level, level, pairs, np.ones((1, 3), dtype=bool))
    assert found.left.all()
    assert found.best.tolist() == [-1]


def test_a_comparison_without_a_p_value_decides_nothing() -> None:
    pairs = ((0, 1), (0, 2), (1, 2))
    p = np.array([[np.nan, 1e-6, np.nan]])
    level = np.full(3, 0.01)
    found = drop_look(np.array([[0.3, 0.3, np.nan]]), p, level, level, pairs, np.ones((1, 3), dtype=bool))
    assert found.left.tolist() == [[False, True, True]]
    assert found.best.tolist() == [-1]


@pytest.mark.slow
def test_with_many_workers_the_long_run_is_that_of_brownian_motion() -> None:
    # what workers differ by is nearly all of the error: t has hundreds of df, and information is workers
    shares = (0.25, 0.5, 0.75, 1.0)
    source = study(4, effect=0.03, workers=400, sds=(0.3, 0.01, 0.05), shares=shares)
    bounds = drop_boundaries(SPENT, [shares] * 6, n_systems=4)
    means = {
        "one leads": source.parameters.means,
        "two lead": (0.5, 0.5, 0.53, 0.53),
        ALL_EQUAL: (0.5,) * 4,
    }
    n = 4096
    points = drop_expectations(source, bounds, means, n_simulations=n, seed=3)
    rng = np.random.default_rng(4)
    for point in points:
        named, lost = brownian_dropping(
            rng, n, point.means, 0.3 / math.sqrt(2 * 400), shares,
            stats.norm.isf(bounds.drop[:, 0] / 2), stats.norm.isf(bounds.claim[:, 0] / 2),
        )  # fmt: skip
        best = np.flatnonzero(np.array(point.means) == max(point.means))
        claims = named >= 0
        right = (named == best[0]).mean() if len(best) == 1 else 0.0
        for ours, theirs in (
            (point.best_named, right),
            (point.false_claim, claims.mean() - right),
            (point.best_dropped, lost[:, best].mean(axis=0).max()),
        ):
            # two simulations of n studies each: 4 standard errors of their difference
            assert abs(ours - theirs) <= 4 * math.sqrt(2 * max(theirs * (1 - theirs), 0.001) / n)


def test_the_numbers_of_a_plan_agree_with_each_other() -> None:
    source = study(5, effect=0.12)
    plan = plan_dropping(source, SPENT, n_simulations=256, seed=2)
    per_look = np.diff(source.sizes, prepend=0) / 5
    for point in (*plan.points, *plan.ties):
        assert sum(point.stages) == pytest.approx(point.ratings)
        assert point.saved == pytest.approx(1 - point.ratings / source.sizes[-1])
        assert sum(point.stopping) == pytest.approx(1)
        assert point.stages[0] == pytest.approx(5 * per_look[0])  # nobody leaves before the first look
        assert 5 >= point.left[0] >= point.left[1] >= point.left[-1] >= 1
    planned, equal = plan.planned, next(one for one in plan.points if one.name == ALL_EQUAL)
    assert planned.saved > equal.saved >= 0
    assert planned.best_named > 0.5
    assert planned.false_claim < 0.05
    assert equal.best_named == 0
    assert [one.name for one in plan.points] == [
        "as planned",
        "two lead",
        "all equal",
    ]  # one leads: as planned
    assert plan.calibration.used <= 1
    again = plan_dropping(source, SPENT, n_simulations=256, seed=2, n_jobs=2)
    assert again.points == plan.points


def test_an_incomplete_design_is_simulated_by_its_ratings() -> None:
    source = study(3, workers=16, items=24, ratings_per_item=8, shares=(0.5, 1.0))
    assert not source.by_sums
    bounds = drop_boundaries(SPENT, [(0.5, 1.0)] * 3, n_systems=3)
    found = drop_expectations(
        source,
        bounds,
        {"one leads": source.parameters.means, ALL_EQUAL: (0.5,) * 3},
        n_simulations=32,
        seed=1,
    )
    assert found[0].best_named > found[1].false_claim
    assert found[0].ratings <= source.sizes[-1]


def test_what_cannot_drop_systems_is_refused_with_the_reason_all_at_once() -> None:
    with pytest.raises(InputError) as caught:
        check_dropping(
            Looks("items", (0.5, 1.0)),
            efficacy_of("pocock"),
            PValueFutility(),
            StopWhen(False, 0.1),
            replace(DecisionRule(), alternative="greater", df="satterthwaite"),
            ComparisonFamily("baseline", "A", model="joint"),
            n_systems=2,
            n_criteria=2,
            goal="pair",
        )
    for words in (
        *("what the same workers add", "spending function", "own futility", "add decision"),
        *("three systems or more", "not for the goal 'pair'", "who is best is not known", "joint fit"),
        *("correct twice", "two-sided tests", "Kenward and Roger", "one criterion"),
    ):
        assert words in str(caught.value)
    with pytest.raises(InputError) as caught:
        check_dropping_study(workers=(3, 4, 10), exclusions=True, documents=True, paired=False)
    for words in (
        "complete blocks",
        "leave workers out",
        "documents",
        "3 workers",
        "One worker is not a look",
    ):
        assert words in str(caught.value)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("n_systems", "workers"), [(3, 12), (5, 20), (8, 12)])
def test_a_calibrated_plan_keeps_its_promises_where_systems_tie(n_systems: int, workers: int) -> None:
    shares = (0.4, 0.6, 0.8, 1.0) if workers == 20 else (0.5, 0.75, 1.0)
    plan = plan_dropping(
        study(n_systems, workers=workers, shares=shares), SPENT, n_simulations=8192, seed=5
    )
    # calibrated and checked by 8,192 studies each: 4 standard errors of the difference
    limit = 0.05 + 4 * math.sqrt(2 * 0.05 * 0.95 / 8192)
    for point in plan.ties:
        assert point.false_claim <= limit, point.name
        assert point.best_dropped <= limit, point.name


@pytest.mark.slow
def test_dropping_saves_what_was_found_by_another_program() -> None:
    # a numpy prototype: 28 to 45 % saved where one leads by 1.25 times the difference of power .8, 1 to 3 % where
    # all tie
    plan = plan_dropping(study(5, effect=0.12, items=100), SPENT, n_simulations=4096, seed=5)
    equal = next(one for one in plan.points if one.name == ALL_EQUAL)
    assert 0.26 <= plan.planned.saved <= 0.45
    assert 0.005 <= equal.saved <= 0.035
    assert plan.planned.fixed_named - plan.planned.best_named <= 0.08  # 3 to 7 points for that


def test_boundaries_are_those_of_one_comparison_at_its_level() -> None:
    shares = (0.4, 0.7, 1.0)
    bounds = drop_boundaries(SPENT, [shares, (0.5, 0.8, 1.0), shares], n_systems=3)
    alone = boundaries(replace(SPENT, alpha=drop_alpha(0.05, 3)), shares).nominal
    assert bounds.drop[:, 0] == pytest.approx(alone)
    assert bounds.drop[:, 2] == pytest.approx(alone)
    assert bounds.drop[0, 1] > alone[0]  # more is known of this one at its first look


def test_dropping_the_worse_half_by_rank_is_no_test() -> None:
    # known variances, two equal and two 2.5 standard errors of a pair behind: what is said of it is found here
    rng, n, shares = np.random.default_rng(1), 40_000, np.array([0.30, 0.56, 0.80, 1.0])
    steps = np.sqrt(np.diff(shares, prepend=0.0))[None, :, None]
    path = np.cumsum(rng.standard_normal((n, 4, 4)) * steps, axis=1) / shares[None, :, None]
    means = path + np.array([0.0, 0.0, -2.5, -2.5]) * math.sqrt(2)
    first_two = np.argsort(-means[:, 0], axis=1)[:, :2]  # of four, two go on
    last = np.take_along_axis(means[:, -1], first_two, axis=1)
    claims = np.abs(last[:, 0] - last[:, 1]) / math.sqrt(2) >= stats.norm.isf(0.025)
    assert claims.mean() == pytest.approx(0.164, abs=4 * math.sqrt(0.164 * 0.836 / n))
    assert "16 % of" in NOT_BY_RANK


def test_a_difference_of_several_systems_is_not_called_that_of_the_first_two() -> None:
    # the best of 'one' is the last system; B - A is 0
    found = run_json(
        *("looks", "study", "--n-systems", 3, "--preset", "low", "--pattern", "one", "--effect", 0.2),
        *("--workers", 12, "--items", 16, "--looks", "0.5,1", "--drop-systems", "--simulations", 400),
    )
    assert found["understood"] == "0.2 on [0, 1]"
    assert found["parameters"]["means"][0] == pytest.approx(found["parameters"]["means"][1])
