"""Direct assessment: Gamma ratings, vectorised Mann-Whitney, computed power, and the command `assessment`."""

import json
from pathlib import Path

import numpy as np
import pytest
from cases import each_case, few_fast
from click.testing import CliRunner, Result
from reference.golden import shared_golden
from scipy import integrate, stats

from humeval_power.comparisons.assessment.ask import command as da
from humeval_power.comparisons.assessment.scenario import (
    DirectAssessment,
    GammaScores,
    rank_probabilities,
    score_tests,
)
from humeval_power.errors import InputError
from humeval_power.kernels.metrics.sign_flips import mann_whitney_counts
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.questions import required_n

RNG = np.random.default_rng(2022)


def slow_counts(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """U and the tie term as they are defined: every pair, every group of equal values."""
    u = sum(float(y > x) + 0.5 * float(y == x) for x in a for y in b)
    sizes = np.unique(np.concatenate([a, b]), return_counts=True)[1].astype(float)
    return u, float((sizes**3 - sizes).sum())


@pytest.mark.parametrize("levels", [2, 5, 40, None])
def test_counts_of_all_rows_are_those_of_every_pair(levels: int | None) -> None:
    a, b = RNG.normal(size=(30, 9)), RNG.normal(0.5, 1, size=(30, 13))
    if levels is not None:
        a, b = np.round(levels * a), np.round(levels * b)
    u, ties = mann_whitney_counts(a, b)
    assert [*zip(u, ties, strict=True)] == [slow_counts(x, y) for x, y in zip(a, b, strict=True)]


def test_signed_zeros_tie() -> None:
    u, ties = mann_whitney_counts(np.array([[0.0, -0.0]]), np.array([[-0.0, 0.0, 0.0]]))
    assert (u[0], ties[0]) == (3.0, 120.0)


def test_the_input_of_the_counts_is_left_as_it_was() -> None:
    a, b = RNG.normal(size=(2, 4)), RNG.normal(size=(2, 4))
    kept = a.copy(), b.copy()
    mann_whitney_counts(a, b)
    assert (a == kept[0]).all()
    assert (b == kept[1]).all()


@pytest.mark.parametrize("continuity", [True, False])
def test_mann_whitney_agrees_with_scipy(continuity: bool) -> None:
    a, b = RNG.integers(0, 12, (40, 25)) / 4, RNG.integers(0, 14, (40, 31)) / 4
    found = score_tests(a, b, test="mann-whitney", continuity=continuity)
    scipy = [
        stats.mannwhitneyu(y, x, method="asymptotic", use_continuity=continuity)
        for x, y in zip(a, b, strict=True)
    ]
    assert found.p_value == pytest.approx([each.pvalue for each in scipy], rel=1e-12)
    assert found.claim == pytest.approx([np.sign(each.statistic - 25 * 31 / 2) for each in scipy])


@pytest.mark.parametrize(("test", "equal"), [("student", True), ("welch", False)])
def test_t_tests_agree_with_scipy(test: str, equal: bool) -> None:
    a, b = RNG.gamma(1, 25, (20, 12)), RNG.gamma(2, 15, (20, 18))
    found = score_tests(a, b, test=test)  # type: ignore[arg-type]
    scipy = stats.ttest_ind(b, a, axis=1, equal_var=equal)
    assert found.p_value == pytest.approx(scipy.pvalue, rel=1e-10)
    assert found.df == pytest.approx(np.broadcast_to(scipy.df, 20))
    assert found.estimate / found.standard_error == pytest.approx(scipy.statistic)


@pytest.mark.parametrize("test", ["mann-whitney", "welch", "student"])
def test_ratings_that_are_all_alike_have_no_test(test: str) -> None:
    same = np.full((1, 5), 70.0)
    found = score_tests(same, same, test=test)  # type: ignore[arg-type]
    assert not found.usable[0]


def test_the_error_has_the_shape_and_scale_of_the_paper_with_mu_its_own_mean(shared: Path) -> None:
    golden = shared_golden(shared, "05_mde_wei")["gamma_75_25"]
    ratings = GammaScores(75, 25)
    assert ratings.law == (golden["k"], golden["theta"])
    assert ratings.share_below == pytest.approx(golden["p_below0"], rel=1e-12)


def test_read_literally_the_formula_turns_a_mean_of_75_into_one_of_25(shared: Path) -> None:
    golden = shared_golden(shared, "05_mde_wei")["gamma_literal_mu75"]
    literal = stats.gamma((75 / 25) ** 2, scale=25**2 / 75)
    assert (literal.kwds["scale"], 100 - literal.mean()) == pytest.approx(
        (golden["theta"], golden["mean_score"])
    )


@each_case("below", ["leave", "clip", "truncate"])
@each_case(("mean", "sd"), [(75, 25), (60, 22), (85, 20), (55, 26)])
def test_ratings_have_their_mean_and_sd_whatever_is_done_below_the_scale(
    below: str, mean: float, sd: float
) -> None:
    ratings = GammaScores(mean, sd, below=below)  # type: ignore[arg-type]
    drawn = ratings.draw(np.random.default_rng(1), (400_000,))
    # 5 standard errors of a mean; an sd of a skewed law is known to about 1 %
    assert drawn.mean() == pytest.approx(mean, abs=5 * sd / np.sqrt(len(drawn)))
    assert drawn.std() == pytest.approx(sd, rel=0.01)
    assert (drawn.min() < 0) == (below == "leave")
    assert (drawn == 0).any() == (below == "clip")


@pytest.mark.parametrize("below", ["leave", "clip", "truncate"])
def test_nodes_give_the_mean_and_the_variance(below: str) -> None:
    ratings = GammaScores(70, 27, below=below)  # type: ignore[arg-type]
    error, weight = ratings.nodes()
    mean = weight @ error
    # 200 nodes of Gauss and Legendre: six digits of the second moment
    assert (weight.sum(), mean) == pytest.approx((1, 30), rel=1e-8)
    assert weight @ (error - mean) ** 2 == pytest.approx(27**2, rel=1e-5)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"mean": 100, "sd": 20}, "inside the scale"),
        ({"mean": 75, "sd": 0}, "above 0"),
        ({"mean": 75, "sd": 40, "below": "truncate"}, "No Gamma law cut off"),
        ({"mean": 75, "sd": 60, "below": "clip"}, "No Gamma law clipped"),
    ],
)
def test_impossible_ratings_are_refused(values: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        GammaScores(**values)


def test_rank_probabilities_are_lehmanns_integrals() -> None:
    a, b = GammaScores(75, 25), GammaScores(79, 21)
    of_a = stats.gamma(1, scale=25)
    of_b = stats.gamma((21 / 21) ** 2, scale=21)

    def integral(function) -> float:  # type: ignore[no-untyped-def]
        return float(integrate.quad(function, 0, np.inf, epsabs=1e-12, limit=400)[0])

    found = rank_probabilities(a, b)
    assert found.p1 == pytest.approx(integral(lambda e: of_b.pdf(e) * of_a.sf(e)), abs=1e-9)
    assert found.p2 == pytest.approx(integral(lambda e: of_a.pdf(e) * of_b.cdf(e) ** 2), abs=1e-9)
    assert found.p3 == pytest.approx(integral(lambda e: of_b.pdf(e) * of_a.sf(e) ** 2), abs=1e-9)


def test_alike_systems_have_the_null_moments_of_u() -> None:
    same = GammaScores(70, 20)
    found = rank_probabilities(same, same)
    assert (found.p1, found.p2, found.p3) == pytest.approx((1 / 2, 1 / 3, 1 / 3), abs=1e-9)


def test_computed_power_of_mann_whitney_is_the_golden_one(shared: Path) -> None:
    for row in shared_golden(shared, "05_mde_wei")["mwu_gamma_mean75_sd25"]:
        found = DirectAssessment(row["N"], effect=row["delta"], continuity=False)
        assert 1 - rank_probabilities(found.a, found.b).p1 == pytest.approx(row["p1"], abs=1e-9)
        assert found.computed().rejection_rate == pytest.approx(row["power"], abs=1e-9)


def test_sizes_for_95_percent_power_are_the_golden_ones(shared: Path) -> None:
    golden = shared_golden(shared, "05_mde_wei")
    for effect, size in golden["N_per_system_power95"].items():
        found = required_n(
            lambda n, d=float(effect): DirectAssessment(n, effect=d, continuity=False), power=0.95
        )
        assert found.n == size
    for effect, size in golden["N_z"].items():
        found = required_n(
            lambda n, d=float(effect): DirectAssessment(n, effect=d, test="student"), power=0.95
        )
        assert found.n == pytest.approx(size, abs=3)  # t instead of z: one to three ratings more


@pytest.mark.slow
def test_simulated_power_of_the_paper_sized_comparison() -> None:
    # 2 points, 600 ratings of each system: .5907 by formula; 8,192 studies, 4 standard errors
    found = estimate_power(DirectAssessment(600, effect=2), n_simulations=8192, seed=3)
    assert found.power == pytest.approx(0.5907, abs=4 * np.sqrt(0.59 * 0.41 / 8192))


def random_assessments() -> list[DirectAssessment]:
    """Twenty settings of all kinds, reproducible."""
    rng = np.random.default_rng(20)
    made = []
    for number in range(20):
        mean = rng.uniform(55, 85)
        sd = rng.uniform(0.4, 0.75) * (100 - mean)
        made.append(
            DirectAssessment(
                int(rng.integers(60, 300)),
                mean=mean,
                sd=sd,
                effect=rng.uniform(0.1, 0.5) * sd * rng.choice([-1, 1]),
                sd_b=None if number % 3 else 1.1 * sd,
                test=("mann-whitney", "welch", "student")[number % 3],
                below=("leave", "clip", "truncate")[number // 3 % 3],
                alpha=(0.05, 0.01)[number % 2],
            )
        )
    return made


@few_fast("scenario", random_assessments(), ids=str, fast=2)
def test_the_formula_agrees_with_simulation(scenario: DirectAssessment) -> None:
    computed = scenario.computed()
    simulated = estimate_power(scenario, n_simulations=4096, seed=7)
    error = np.sqrt(computed.power * (1 - computed.power) / 4096)
    # skewed ratings of 60 and more: normal theory is good to a point and a half
    assert simulated.power == pytest.approx(computed.power, abs=4 * error + 0.015)
    if computed.power > 0.1:
        assert simulated.type_m == pytest.approx(computed.type_m, rel=0.05)


@pytest.mark.parametrize("test", ["mann-whitney", "welch", "student"])
def test_no_effect_rejects_at_the_nominal_rate(test: str) -> None:
    found = estimate_power(DirectAssessment(200, test=test), n_simulations=8192, seed=5)  # type: ignore[arg-type]
    low, high = stats.binom.interval(0.998, 8192, 0.05)
    assert low <= found.counts.n_right + found.counts.n_wrong <= high


@pytest.mark.slow
def test_a_longer_run_extends_a_shorter_one_and_jobs_do_not_matter() -> None:
    scenario = DirectAssessment(5000, effect=2)  # two small blocks
    whole = scenario.draw(500, seed=4, n_jobs=2)
    part = scenario.draw(60, seed=4, first=400)
    assert (whole.p_value[400:460] == part.p_value).all()
    assert (whole.claim[400:460] == part.claim).all()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(da, list(arguments))


def test_the_command_gives_the_power_of_the_paper_and_what_it_assumes() -> None:
    found = run("power", "--n", "600", "--effect", "2", "--method", "analytic")
    assert found.exit_code == 0, found.output
    assert "0.591" in found.stdout
    assert "1.8 % of A's" in found.stdout
    assert "left as they are" in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= 80


def test_the_command_finds_sizes_and_effects() -> None:
    size = json.loads(run("size", "--effect", "2", "--power", "0.95", "--json").stdout)
    assert (size["schema"], size["found"]["n"]) == ("humeval_power/assessment_size/1", 1623)
    mde = json.loads(run("mde", "--n", "1623", "--power", "0.95", "--json").stdout)
    assert mde["found"][0]["effect"] == pytest.approx(2, abs=1e-3)


def test_a_mean_outside_the_scale_is_refused() -> None:
    found = run("power", "--n", "600", "--effect", "30")
    assert isinstance(found.exception, InputError)
    assert "inside the scale" in str(found.exception)
