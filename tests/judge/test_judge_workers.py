"""A judge in the rating model: the fit without it, a dense twin, lmerTest, coverage, the command."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cli import refusal_of, run, run_json
from scipy import stats

from humeval_power.clusters import Clusters
from humeval_power.comparisons.judge.assisted import RatedItems, rated_means
from humeval_power.comparisons.judge.files import read_judged
from humeval_power.comparisons.judge.means import judged_means
from humeval_power.comparisons.judge.result_answers import without_judges
from humeval_power.errors import FitError, InputError
from humeval_power.estimation.fitting import fit
from humeval_power.inference.corrections import correct


def drawn(
    seed: int,
    *,
    n_workers: int = 6,
    n_items: int = 40,
    extra: int = 300,
    sd_item: float = 0.5,
    kept: float = 1.0,
    effect: float = 0.2,
) -> RatedItems:
    """Ratings on any scale, and a judge from 0 to 100 of correlation .8 with the items' differences."""
    rng = np.random.default_rng(seed)
    total = n_items + extra
    quality = rng.standard_normal(total)
    judged = 0.8 * quality + 0.6 * rng.standard_normal(total)
    level = rng.standard_normal(total)
    scores = np.stack([50 + 8 * level - 5 * judged, 50 + 8 * level + 5 * judged], axis=1)
    worker, item, system = (
        codes.ravel() for codes in np.meshgrid(range(n_workers), range(n_items), range(2), indexing="ij")
    )
    mean = effect + (0.2 * rng.standard_normal(n_workers))[worker] + sd_item * quality[item]
    rating = 3 + mean * (system - 0.5) + 0.3 * level[item] + 0.5 * rng.standard_normal(len(worker))
    rows = rng.random(len(worker)) < kept
    return RatedItems(worker[rows], item[rows], system[rows], rating[rows], scores)


def columns_of(rated: RatedItems) -> np.ndarray:
    """Intercept, system, the judge's level and its difference times the system, all centred over all items."""
    judge, level = rated.judged, rated.scores.mean(axis=1)
    judge, level = (each - each.mean() for each in (judge, level))
    half = rated.system - 0.5
    return np.column_stack([np.ones(len(half)), half, level[rated.item], judge[rated.item] * half])


def test_without_the_judge_it_is_the_fit_of_the_rating_model() -> None:
    rated = drawn(1, kept=0.8)
    found = rated_means(rated).human
    plain = fit(
        SimpleNamespace(worker=rated.worker, item=rated.item, system=rated.system, rating=rated.rating)
    )
    assert found.estimate == pytest.approx(plain.parameters.effect, rel=1e-6)
    assert found.standard_error == pytest.approx(plain.standard_error_adjusted, rel=1e-5)
    assert found.df == pytest.approx(plain.df_kenward_roger, rel=1e-4)
    assert found.sd_item == pytest.approx(plain.parameters.sd_item_slope, rel=1e-4)


def test_the_estimate_is_generalised_least_squares_at_the_judges_mean() -> None:
    rated = drawn(2, kept=0.7)
    found = rated_means(rated)
    x, best = columns_of(rated), found.judged
    half = rated.system - 0.5
    # intercepts are not shown: take them from a search of the dense likelihood
    from scipy.optimize import minimize

    same_worker = rated.worker[:, None] == rated.worker
    same_item = rated.item[:, None] == rated.item
    halves = np.outer(half, half)

    def parts(intercepts: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        worker, item = intercepts
        cov = (
            (worker**2 + best.sd_worker**2 * halves) * same_worker
            + (item**2 + best.sd_item**2 * halves) * same_item
            + best.sd_residual**2 * np.eye(len(half))
        )
        inverse = np.linalg.inv(cov)
        phi = np.linalg.inv(x.T @ inverse @ x)
        beta = phi @ x.T @ inverse @ rated.rating
        left = rated.rating - x @ beta
        criterion = np.linalg.slogdet(cov)[1] - np.linalg.slogdet(phi)[1] + left @ inverse @ left
        return float(criterion), beta, phi

    ends = minimize(lambda v: parts(v)[0], [0.1, 0.1], method="Nelder-Mead").x
    _, beta, phi = parts(ends)
    assert best.estimate == pytest.approx(beta[1], abs=1e-4)
    assert best.weights[0] == pytest.approx(beta[3], rel=1e-3)
    # Kenward and Roger's correction is not in phi, which is therefore a little smaller
    more = beta[3] ** 2 * np.var(rated.judged, ddof=1) / len(rated.judged)
    assert best.standard_error == pytest.approx(np.sqrt(phi[1, 1] + more), rel=0.02)
    assert best.standard_error >= np.sqrt(phi[1, 1] + more) * (1 - 1e-4)


LMER = """
suppressMessages({library(lmerTest); library(jsonlite)})
path <- commandArgs(trailingOnly = TRUE)
d <- as.data.frame(fromJSON(path[1]))
m <- lmer(y ~ x + h + gx + (1 | w) + (0 + x | w) + (1 | i) + (0 + x | i), data = d,
          control = lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9)))
s <- coef(summary(m, ddf = "Kenward-Roger"))
row <- function(n) unname(as.list(s[n, c("Estimate", "Std. Error", "df")]))
write(toJSON(list(x = row("x"), gx = row("gx")), auto_unbox = TRUE, digits = 12), path[2])
"""


@pytest.mark.long
@pytest.mark.r
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_lmer_test_agrees_on_the_adjusted_effect(tmp_path: Path) -> None:
    rated = drawn(3, kept=0.85)
    x = columns_of(rated)
    table = {
        "y": rated.rating.tolist(),
        **{name: x[:, place].tolist() for place, name in ((1, "x"), (2, "h"), (3, "gx"))},
        "w": [f"w{code}" for code in rated.worker],
        "i": [f"i{code}" for code in rated.item],
    }
    given, taken, script = (tmp_path / name for name in ("in.json", "out.json", "fit.R"))
    given.write_text(json.dumps(table))
    script.write_text(LMER)
    rscript = shutil.which("Rscript")
    assert rscript is not None
    subprocess.run([rscript, str(script), str(given), str(taken)], check=True, capture_output=True)
    answer = json.loads(taken.read_text())
    found = rated_means(rated).judged
    estimate, error, df = answer["x"]
    assert found.estimate == pytest.approx(estimate, rel=1e-4)
    assert found.weights[0] == pytest.approx(answer["gx"][0], rel=1e-3)
    centre = found.weights[0] ** 2 * np.var(rated.judged, ddof=1) / len(rated.judged)
    assert found.standard_error**2 == pytest.approx(error**2 + centre, rel=1e-3)
    joined = (error**2 + centre) ** 2 / (error**4 / df + centre**2 / (len(rated.judged) - 1))
    assert found.df == pytest.approx(joined, rel=5e-3)


def test_the_scale_of_ratings_and_of_the_judge_do_not_matter() -> None:
    rated = drawn(4)
    found = rated_means(rated).judged
    moved = rated_means(replace(rated, rating=10 + 20 * rated.rating, scores=rated.scores / 50 - 1)).judged
    assert moved.estimate == pytest.approx(20 * found.estimate, rel=1e-6)
    assert moved.df == pytest.approx(found.df, rel=1e-5)
    assert moved.weights[0] == pytest.approx(1000 * found.weights[0], rel=1e-5)


def test_a_mean_of_one_system_is_on_the_scale_of_the_ratings() -> None:
    rated = drawn(5)
    first = rated.system == 0
    one = RatedItems(
        rated.worker[first],
        rated.item[first],
        rated.system[first],
        rated.rating[first],
        rated.scores[:, :1],
    )
    found = rated_means(one)
    # complete and balanced: the mean of the ratings
    assert found.human.estimate == pytest.approx(rated.rating[first].mean(), rel=1e-9)
    assert abs(found.judged.estimate - found.human.estimate) < 3 * found.human.standard_error


def test_clusters_widen_what_is_known_of_the_judges_mean() -> None:
    rated = drawn(6)
    codes = np.random.default_rng(1).permutation(np.arange(len(rated.scores)) % 25)
    found = rated_means(replace(rated, clusters=Clusters.of(list(codes))))
    assert found.n_clusters == 25
    assert found.judged.sd_cluster >= 0
    assert np.isnan(rated_means(rated).judged.sd_cluster)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scores": np.random.default_rng(0).normal(size=(41, 2))}, "judge alone has scored"),
        ({"clusters": Clusters.of([0] * 40 + [1] * 300)}, "one cluster"),
    ],
)
def test_data_without_an_answer_are_refused(change: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        rated_means(replace(drawn(7), **change))


def test_a_judge_that_says_nothing_leaves_the_workers_alone() -> None:
    rated = drawn(7)
    alone = rated_means(rated).human
    found = rated_means(replace(rated, scores=np.full((340, 2), 50.0)))
    assert found.reason.startswith("The judge says the same")
    assert found.judged == found.human
    assert (found.human.estimate, found.human.df) == pytest.approx((alone.estimate, alone.df), rel=1e-9)


def test_a_copy_of_a_judge_is_left_out() -> None:
    rated = drawn(7)
    one = rated_means(rated)
    copied = np.stack([rated.scores, 3 * rated.scores + 1], axis=-1)
    found = rated_means(replace(rated, scores=copied))
    assert (found.used, found.judged.weights) == ((0,), (one.judged.weights[0], 0.0))
    assert found.judged.interval == one.judged.interval
    said = " ".join(without_judges(("first", "second"), found))
    assert said.startswith("second: left out, as a copy")


def test_ratings_without_noise_are_refused() -> None:
    rated = drawn(8)
    with pytest.raises(FitError):
        rated_means(replace(rated, rating=rated.system * 1.0 + rated.item % 2))


@pytest.mark.slow
@pytest.mark.parametrize(("n_workers", "n_items"), [(3, 30), (6, 20), (12, 50)])
def test_intervals_cover_as_often_as_they_say(n_workers: int, n_items: int) -> None:
    runs, hits, squares, errors = 300, np.zeros(2), np.zeros(2), np.zeros(2)
    for seed in range(runs):
        found = rated_means(drawn(1000 + seed, n_workers=n_workers, n_items=n_items))
        both = (found.human, found.judged)
        hits += [each.interval[0] <= 0.2 <= each.interval[1] for each in both]
        squares += [(each.estimate - 0.2) ** 2 for each in both]
        errors += [each.standard_error**2 for each in both]
    low, high = stats.binom.interval(0.999, runs, 0.95)
    assert (hits >= low).all()
    assert (hits <= high).all()
    assert squares[1] < squares[0]
    # 300 squares know a variance to a third at four standard errors
    assert squares == pytest.approx(errors, rel=4 * np.sqrt(2 / runs))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Three systems, 30 items rated by 4 of 6 workers, 150 judged alone, in passages."""
    rng = np.random.default_rng(1)
    rows = []
    for item in range(180):
        for code, system in enumerate(["A", "B", "C"]):
            quality = 0.4 * code + 0.5 * rng.normal()
            score = round(50 + 10 * quality + 3 * rng.normal(), 1)
            workers = rng.permutation(6)[:4] if item < 30 else [None]
            for worker in workers:
                human = "" if worker is None else round(3 + quality + 0.4 * rng.normal(), 2)
                name = "" if worker is None else f"w{worker}"
                rows.append((f"i{item:03}", f"p{item % 20}", system, name, human, score))
    path = tmp_path / "judged.csv"
    columns = ["item", "passage", "system", "worker", "human", "judge"]
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    return path


def test_the_command_compares_all_pairs_of_systems(table: Path) -> None:
    found = run("judge", "estimate", table).stderr
    assert "--cluster passage" in " ".join(found.split())
    record = run_json("judge", "estimate", table, "--cluster", "passage")
    assert record["basis"] == "workers"
    assert [(pair["first"], pair["second"]) for pair in record["pairs"]] == [
        ("A", "B"),
        ("A", "C"),
        ("B", "C"),
    ]
    p = [pair["judged"]["p_value"] for pair in record["pairs"]]
    assert [pair["holm_p"] for pair in record["pairs"]] == pytest.approx(
        correct(np.array(p), "holm").tolist()
    )
    assert "cluster:passage:20" in record["signature"]
    assert {answer["of"] for answer in record["independence"]} == {"workers", "items", "judges"}


def test_the_command_takes_workers_into_account_unless_told_not_to(table: Path) -> None:
    by_model = run_json("judge", "estimate", table, "--systems", "A,B")
    expected = rated_means(read_judged(table).rated(("A", "B")))
    assert by_model["judged"]["estimate"] == pytest.approx(expected.judged.estimate)
    options = ("--systems", "A,B", "--average-workers", "--cluster", "passage", "--json")
    averaged = run("judge", "estimate", table, *options)
    assert "count as interchangeable" in " ".join(averaged.stderr.split())
    values = read_judged(table, cluster="passage").values(("A", "B"))
    means = judged_means(values.human, values.judge, values.extra, clusters=values.clusters)
    record = json.loads(averaged.stdout)
    assert record["tuned"]["interval"] == pytest.approx(list(means.tuned.interval))
    assert record["n_clusters"] == 20


def test_a_baseline_leaves_the_pairs_with_it(table: Path) -> None:
    record = run_json("judge", "estimate", table, "--baseline", "B")
    assert [(pair["first"], pair["second"]) for pair in record["pairs"]] == [("B", "A"), ("B", "C")]
    assert "none of the systems" in run("judge", "estimate", table, "--baseline", "X", code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--worker", "rater"), "there is no column 'rater', which --worker names"),
        (("--cluster", "pasage"), "Did you mean 'passage'?"),
        (("--systems", "A,X"), "the systems are A, B, C"),
        (("--systems", "A"), "two of them are needed"),
    ],
)
def test_names_that_are_not_there_are_refused(table: Path, arguments: tuple, words: str) -> None:
    assert words in refusal_of("judge", "estimate", table, *arguments)


def test_ratings_of_nobody_are_refused_with_their_rows(table: Path) -> None:
    frame = pd.read_csv(table, dtype=str, keep_default_na=False)
    frame.loc[3, "worker"] = ""
    frame.to_csv(table, index=False)
    error = refusal_of("judge", "estimate", table)
    assert "row 5" in error
    assert "there is a human value, but no worker" in error
