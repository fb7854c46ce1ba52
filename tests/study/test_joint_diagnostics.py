"""Predictions of a joint fit and the means without a worker, against dense matrices and a worker who decides."""

import functools
from dataclasses import replace

import numpy as np
import pytest
from cases import few_fast
from cli import run
from test_joint_fit import random_table
from test_many_systems import ratings_of

from humeval_power.estimation.joint.fit import fit_joint
from humeval_power.files.documents.reading import to_json
from humeval_power.ratings import Ratings
from humeval_power.rules import ComparisonFamily
from humeval_power.saying.render import as_terminal
from humeval_power.studies.analyze.calls import analyze
from humeval_power.studies.analyze.diagnostics import diagnose_jointly, screening_sentence
from humeval_power.studies.analyze.result import AnalysisResult
from humeval_power.studies.analyze.system_diagnostics import influence_words, spread_chart

NAMES = ("p", "q", "r", "s")


@functools.cache
def analysed(model: str) -> AnalysisResult:
    return analyze(table_of_four(), family=ComparisonFamily(model=model))


@functools.cache
def table_of_four() -> Ratings:
    """An incomplete table of four systems."""
    return ratings_of(random_table(11, m=6, n=15, K=4, kept=0.7), NAMES)


@pytest.fixture(scope="module")
def four() -> Ratings:
    return table_of_four()


def dense(ratings, fitted):
    """Means and predicted effects by V^-1 of all ratings."""
    sds, K = fitted.standard_deviations, ratings.n_systems

    def own(noun, k):
        kind = f"sd_{noun}_system"
        return sds[kind if fitted.variances == "common" else f"{kind} of {ratings.system_names[k]}"] ** 2

    parts = []
    for noun, code, n in (
        ("worker", ratings.worker, ratings.n_workers),
        ("item", ratings.item, ratings.n_items),
    ):
        parts.append((np.eye(n)[code], np.full(n, sds[f"sd_{noun}"] ** 2)))
        both = np.eye(n * K)[code * K + ratings.system]
        parts.append((both, np.tile([own(noun, k) for k in range(K)], n)))
    v = sds["sd_residual"] ** 2 * np.eye(ratings.n_ratings)
    v += sum((z * variance) @ z.T for z, variance in parts)
    x = np.eye(K)[ratings.system]
    inverse = np.linalg.inv(v)
    means = np.linalg.solve(x.T @ inverse @ x, x.T @ inverse @ ratings.rating)
    rest = inverse @ (ratings.rating - x @ means)
    return means, [variance * (z.T @ rest) for z, variance in parts]


@pytest.mark.parametrize("variances", ["common", "own"])
def test_predictions_are_those_of_dense_matrices(four, variances):
    fitted = fit_joint(four, variances=variances, names=NAMES)
    found = diagnose_jointly(four, fitted).predictions
    means, effects = dense(four, fitted)
    assert means == pytest.approx(fitted.means, abs=1e-8)
    told = (found.workers, found.worker_systems.ravel(), found.items, found.item_systems.ravel())
    for mine, twin in zip(told, effects, strict=True):
        assert mine == pytest.approx(twin, abs=1e-8)
    assert found.fitted + found.residual == pytest.approx(four.rating, abs=1e-12)
    whole = means[four.system] + effects[0][four.worker] + effects[2][four.item]
    whole += effects[1][four.worker * 4 + four.system] + effects[3][four.item * 4 + four.system]
    assert found.fitted == pytest.approx(whole, abs=1e-8)


@pytest.mark.parametrize("variances", ["common", "own"])
def test_means_without_a_worker_are_those_of_the_other_rows(four, variances):
    fitted = fit_joint(four, variances=variances, names=NAMES)
    found = diagnose_jointly(four, fitted)
    assert [one.worker for one in found.left_out] == list(four.worker_names)
    for code, one in enumerate(found.left_out):
        rows = four.of_rows(four.worker != code)
        means, _ = dense(rows, fitted)
        change = (means - means.mean()) - (fitted.means - fitted.means.mean())
        most = int(np.argmax(np.abs(change)))
        assert one.shift == pytest.approx(change[most], abs=1e-8)
        assert (one.system, one.best) == (NAMES[most], NAMES[int(np.argmax(means))])
        pairs = [(i, j) for i in range(4) for j in range(i)]
        before, after = fitted.means, means
        assert one.swapped == sum((before[i] - before[j]) * (after[i] - after[j]) < 0 for i, j in pairs)
        assert one.n_ratings == int((four.worker == code).sum())


def test_a_worker_who_decides_which_system_is_best_is_named(four):
    rating = four.rating + np.where((four.worker == 2) & (four.system == 1), 3.0, 0.0)
    loud = replace(four, rating=rating)
    found = diagnose_jointly(loud, fit_joint(loud, names=NAMES))
    assert found.best == "q"
    deciding = next(one for one in found.left_out if one.worker == "w2")
    assert deciding.system == "q"
    assert deciding.shift < 0
    assert abs(deciding.shift) == max(abs(one.shift) for one in found.left_out)


def test_only_the_busiest_workers_are_left_out_and_the_rest_is_counted(four):
    fitted = fit_joint(four, names=NAMES)
    found = diagnose_jointly(four, fitted, largest=2)
    count = np.bincount(four.worker)
    assert min(one.n_ratings for one in found.left_out) >= np.sort(count)[-2]
    assert found.n_not_tried == 4
    told = []
    diagnose_jointly(four, fitted, advance=told.append)
    assert told == [1] * 6


def test_a_worker_who_alone_rated_a_system_cannot_be_left_out(four):
    kept = (four.system != 3) | (four.worker == 0)
    rows = four.of_rows(kept)
    found = diagnose_jointly(rows, fit_joint(rows, names=NAMES))
    assert found.left_out[0].reason == "nobody else rated s"
    assert all(not one.reason for one in found.left_out[1:])


@few_fast("model", ["joint", "pairwise"], fast=1)
def test_the_analysis_its_record_and_the_page_show_the_diagnostics(four, model, tmp_path):
    result = analysed(model)
    text = " ".join(as_terminal(result.body(), details=True).split())
    assert influence_words(result.diagnostics, result.ranking.unit) in text
    assert " ".join(screening_sentence(result.diagnostics.workers).split()) in text
    record = result.record()["diagnostics"]
    assert len(record["without_worker"]) == len(record["workers"]) == 6
    assert record["worker_levels"]["w3"] == result.diagnostics.predictions.workers[3]
    assert {"spread", "residuals"} <= {picture.name for picture in result.document().pictures}
    assert record["influence"] == influence_words(result.diagnostics, result.ranking.unit)
    path = tmp_path / "analysis.json"
    path.write_text(to_json(result.record()), "utf-8")
    told = run("report", path, "--format", "markdown", "-q")
    assert record["screening"] in told.stdout
    assert record["influence"].split(";")[0].replace("-", "\\-") in told.stdout.replace("\u2212", "-")
    without = analyze(four, family=ComparisonFamily(model=model), diagnostics=False)
    assert without.record()["diagnostics"] is None
    assert "Diagnostics" not in as_terminal(without.body(), details=True)


def test_dots_are_the_predictions_of_those_who_rated_a_system(four):
    result = analysed("joint")
    panels = spread_chart(result.diagnostics, four, result.ranking.unit, result.ranking.shown_order)
    dots = panels.charts[0].series[0]
    for place, name in enumerate(result.ranking.shown_order):
        code = NAMES.index(name)
        raters = np.unique(four.worker[four.system == code])
        expected = [
            result.ranking.unit.difference(result.diagnostics.predictions.worker_systems[w, code])
            for w in raters
        ]
        drawn = [x for x, y in zip(dots.x, dots.y, strict=True) if y == place]
        assert sorted(drawn) == pytest.approx(sorted(expected))
