"""The test of a panel's preference: against a dense twin, other programs, and what cannot be fitted."""

import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import each_case, few_fast
from cli import run as run_command
from cli import run_json
from preference.panels import TABLES, Table, drawn
from reference.preference_twin import Twin
from scipy import optimize, stats

from humeval_power.comparisons.preference.latent_scale import (
    PanelModel,
    PanelTest,
    StrengthTest,
    panel_test,
)
from humeval_power.estimation.latent.engine import LatentProblem, fit_latent_batch
from humeval_power.latent import Link


def link_of(name: str) -> Link:
    return "logit" if name.startswith("logit") else "probit"


def shown(table: Table, *, link: Link = "probit", position: bool = True, **changed: Any) -> PanelTest:
    at = table.position if position else None
    return panel_test(
        table.worker, table.item, table.outcome.astype(float), position=at, link=link, **changed
    )


def strength_of(found: PanelTest) -> StrengthTest:
    assert found.strength is not None, found.problem
    return found.strength


@few_fast("name", TABLES, fast=4)
@pytest.mark.parametrize("position", [True, False])
def test_the_test_is_that_of_the_dense_twin(name: str, position: bool) -> None:
    table, link = TABLES[name], link_of(name)
    found = strength_of(shown(table, link=link, position=position))
    twin = Twin(table.worker, table.item, table.outcome, table.position if position else None, link)
    here = found.latent.sd_worker, found.latent.sd_item
    lowest = twin.at(here)[0]
    around = [np.abs(np.array(here) + step) for step in (0.05 * np.indices((3, 3)).reshape(2, -1).T - 0.05)]
    far = np.array(np.meshgrid([0.0, 0.3, 0.7, 1.2, 2.5], [0.0, 0.3, 0.7, 1.2, 2.5])).reshape(2, -1).T
    assert all(twin.at(sd)[0] >= lowest - 1e-7 for sd in (*around, *far))
    for component, value in enumerate(here):  # at a minimum, or at zero
        step = np.eye(2)[component] * 1e-3 * value
        slope = twin.at(here + step)[0] - twin.at(here - step)[0]
        assert abs(slope) < 1e-5
    estimate, _, error, df = twin.test(np.array(here))
    assert found.latent.strength == pytest.approx(estimate, rel=1e-6)
    assert found.standard_error == pytest.approx(error, rel=1e-6)
    assert found.df == pytest.approx(df, rel=1e-5)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(estimate / error), df), rel=1e-4)
    if twin.ties:
        assert found.latent.threshold == pytest.approx(twin.at(here)[1][0], rel=1e-6)


def test_what_does_not_repeat_is_left_out_and_said() -> None:
    table = drawn(11, 6, 60, threshold=0.3, share=1.0)
    once = np.arange(0, 360, 7)  # few judgements of an item
    items = Table(*(column[once] for column in table))
    single = items._replace(item=np.arange(len(once)))
    found = shown(single)
    assert strength_of(found).latent.sd_item == 0
    assert "No item has two judgements: how items vary is part of the noise." in found.left_out
    twin = Twin(single.worker, single.item, single.outcome, single.position)
    sd = np.array([strength_of(found).latent.sd_worker, 0.0])
    assert all(twin.at((s, 0.0))[0] >= twin.at(sd)[0] - 1e-7 for s in (0.0, 0.9 * sd[0], 1.1 * sd[0], 1.0))
    estimate, _, error, df = twin.test(sd, (True, False))
    assert strength_of(found).latent.strength == pytest.approx(estimate, rel=1e-5)
    assert strength_of(found).df == pytest.approx(df, rel=1e-5)
    assert strength_of(found).standard_error == pytest.approx(error, rel=1e-5)


def test_one_worker_and_one_item_hold_for_themselves() -> None:
    outcome = np.array([1.0, -1, 1, 1, 0, 1])
    alone, several = np.zeros(6, dtype=np.int64), np.arange(6)
    for worker, item, said in ((alone, several, "one worker"), (several, alone, "one item")):
        found = panel_test(worker, item, outcome)
        assert found.strength is None
        assert not found.problem
        assert any(said in reason for reason in found.left_out)
        assert math.isnan(found.p_value)  # the exact sign test of the judgements is right here


def test_workers_that_are_their_items_vary_once() -> None:
    codes = np.repeat(np.arange(8), 4)
    outcome = np.tile([1.0, -1, 1, 1, 0, 1, -1, -1], 4)
    found = panel_test(codes, codes, outcome)
    assert strength_of(found).latent.sd_item == 0
    assert any("their variation is one" in reason for reason in found.left_out)


def test_an_order_that_never_changes_is_left_out() -> None:
    table = TABLES["ties"]
    found = shown(table._replace(position=np.full(len(table.position), 0.5)))
    assert any("B was always shown first" in reason for reason in found.left_out)
    assert strength_of(found).first_preferred is None
    assert strength_of(found).p_value == pytest.approx(
        strength_of(shown(table, position=False)).p_value, rel=1e-9
    )


@each_case("name", TABLES)
@each_case("alpha", [0.01, 0.05, 0.5])
def test_the_interval_of_the_probability_never_contradicts_the_test(name: str, alpha: float) -> None:
    found = strength_of(shown(TABLES[name], link=link_of(name), alpha=alpha))
    low, high = found.preferred_interval
    assert low < found.preferred < high
    assert (low > 0.5 or high < 0.5) == (found.p_value < alpha)


def test_exchanging_the_systems_mirrors_everything() -> None:
    table = TABLES["uneven"]
    one = strength_of(shown(table))
    other = strength_of(shown(table._replace(outcome=-table.outcome, position=-table.position)))
    assert other.latent.strength == pytest.approx(-one.latent.strength, abs=1e-6)
    assert other.p_value == pytest.approx(one.p_value, rel=1e-4)
    assert other.preferred == pytest.approx(1 - one.preferred, abs=1e-6)
    # Shown first is now A where it was B; what is shown first is preferred as often.
    assert other.first_preferred == pytest.approx(one.first_preferred, abs=1e-6)


def test_without_variation_the_shares_of_the_model_are_those_of_the_table() -> None:
    # Position left out and both SDs estimated as 0: threshold and strength fit two shares exactly.
    rng = np.random.default_rng(21)
    worker, item = (each.ravel() for each in np.meshgrid(range(4), range(25)))
    for _ in range(20):
        outcome = rng.permutation(np.repeat([-1, 0, 1], [30, 20, 50]))
        found = strength_of(panel_test(worker, item, outcome.astype(float)))
        if found.latent.sd_worker == found.latent.sd_item == 0:
            assert found.latent.shares == pytest.approx((0.5, 0.2, 0.3), abs=1e-7)
            assert found.preferred == pytest.approx(0.6, abs=1e-7)
            return
    raise AssertionError("no table without variation")


# What cannot be fitted


@each_case(
    ("outcomes", "positions", "said"),
    [
        ([1] * 12, None, "every judgement prefers B"),
        ([-1] * 12, None, "every judgement prefers A"),
        ([0] * 12, None, "every judgement is a tie"),
        ([1, 0] * 6, None, "nobody prefers A"),
        ([1, -1] * 6, [0.5, -0.5] * 6, "all who saw the same output first agree"),
        ([1, 1, -1, 1] * 3, [0.5, -0.5] * 6, "all who saw the same output first agree"),
    ],
)
def test_separation_is_said_and_the_sign_tests_take_over(
    outcomes: list[int], positions: list[float] | None, said: str
) -> None:
    worker, item = np.repeat(np.arange(3), 4), np.tile(np.arange(4), 3)
    at = None if positions is None else np.array(positions)
    found = panel_test(worker, item, np.array(outcomes, dtype=float), position=at)
    assert found.strength is None
    assert said in found.problem
    assert {each.unit for each in found.majorities} == {"worker", "item"}
    assert found.p_value == max(each.p_value for each in found.majorities)
    if set(outcomes) == {1}:
        assert [each.prefer_b for each in found.majorities] == [3, 4]
        assert found.p_value == pytest.approx(2 * 0.5**3)


def _has_direction(outcome: np.ndarray, position: np.ndarray | None) -> bool:
    """Whether a change of (threshold, strength, bias) raises no probability but some: by linear programming."""
    x = (
        np.ones((len(outcome), 1))
        if position is None
        else np.column_stack([np.ones(len(outcome)), position])
    )
    ties = (outcome == 0).any()
    rows = []
    for each, o in zip(x, outcome, strict=True):
        for sign in (1, -1):
            if o == 0:
                rows.append([1.0, *(sign * each)])
        if o != 0:
            rows.append([-1.0, *(o * each)])
    A = np.array(rows)
    if not ties:
        A = A[:, 1:]
    found = optimize.linprog(-A.sum(axis=0), A_ub=-A, b_ub=np.zeros(len(A)), bounds=[(-1, 1)] * A.shape[1])
    return bool(-found.fun > 1e-9)


@pytest.mark.slow
def test_separation_is_what_linear_programming_finds() -> None:
    rng = np.random.default_rng(5)
    seen = {True: 0, False: 0}
    for _ in range(300):
        n = int(rng.integers(3, 8))
        outcome = rng.choice([-1, 0, 1] if rng.random() < 0.6 else [-1, 1], size=n)
        position = rng.choice([0.5, -0.5], size=n) if rng.random() < 0.7 else None
        if not outcome.any() or (position is not None and len(set(position.tolist())) < 2):
            continue
        codes = np.arange(n)
        found = bool(PanelModel.of(codes, codes, position).separated(outcome[None])[0])
        assert found == _has_direction(outcome, position), (outcome, position)
        seen[found] += 1
    assert min(seen.values()) > 30


# The command


def text_of(path: str, *words: str) -> str:
    result = run_command("preference", "test", path, *words)
    assert max(map(len, result.output.splitlines())) <= 80
    return " ".join(result.stdout.split())


def test_a_table_with_repeated_workers_gets_the_test_of_a_panel(tmp_path: Path) -> None:
    table = drawn(12, 8, 30, threshold=0.5, sds=(1.5, 0.3), strength=0.7)
    path = table.write(tmp_path / "j.csv")
    text = text_of(path)
    assert "are not independent" in text
    assert "t test, workers and items" in text
    assert "the one to report" in text
    only = run_json("preference", "test", path)["comparisons"][0]
    expected = strength_of(shown(table))
    assert only["independent"] is False
    assert only["panel"]["strength"]["p_value"] == pytest.approx(expected.p_value)
    assert only["p_value"] == only["panel"]["strength"]["p_value"] > only["p_sign_exact"]
    assert only["panel"]["strength"]["preferred"] == pytest.approx(expected.preferred)
    logit = run_json("preference", "test", path, "--link", "logit")["comparisons"][0]["panel"]["strength"]
    # The scales differ by about 1.7, the probabilities hardly.
    assert logit["estimate"] > 1.4 * expected.latent.strength
    assert logit["preferred"] == pytest.approx(expected.preferred, abs=0.02)


def test_what_cannot_be_fitted_is_said_with_a_way_out(tmp_path: Path) -> None:
    table = drawn(1, 5, 6)
    path = table._replace(outcome=np.ones(30, dtype=np.int64)).write(tmp_path / "j.csv")
    text = text_of(path)
    assert "every judgement prefers B" in text
    assert "exact sign test" in text
    only = run_json("preference", "test", path)["comparisons"][0]
    assert only["panel"]["strength"] is None
    assert only["p_value"] == pytest.approx(2 * 0.5**5)


def test_judgements_that_repeat_a_pair_are_counted(tmp_path: Path) -> None:
    table = TABLES["ties"]
    twice = Table(*(np.concatenate([column, column[:7]]) for column in table))
    assert "7 judgements of a worker and an item that were there before" in text_of(
        twice.write(tmp_path / "j.csv")
    )


# Other programs


def _r(script: str, path: Path) -> dict[str, Any]:
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("Rscript is not installed")
    found = subprocess.run([program, "-e", script, str(path)], capture_output=True, text=True, check=False)
    if "there is no package" in found.stderr:
        pytest.skip(found.stderr)
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout[found.stdout.index("{") :])


def _write(table: Table, path: Path) -> Path:
    columns = np.column_stack(table)
    np.savetxt(path, columns, delimiter=",", header="worker,item,outcome,position", comments="", fmt="%g")
    return path


@pytest.mark.r
@pytest.mark.parametrize("name", ["no ties", "nothing varies", "logit, no ties, uneven"])
def test_without_ties_it_is_glmmtmb_with_reml(name: str, tmp_path: Path) -> None:
    table, link = TABLES[name], link_of(name)
    found = _r(
        f"""suppressMessages(library(glmmTMB)); d <- read.csv(commandArgs(TRUE)[1])
        d$win <- as.integer(d$outcome > 0)
        f <- glmmTMB(win ~ 1 + position + (1 | worker) + (1 | item), family = binomial({link}),
            REML = TRUE, data = d)
        v <- VarCorr(f)$cond
        cat(sprintf('{{"effect": %.10f, "bias": %.10f, "criterion": %.10f, "worker": %.10f, "item": %.10f}}',
            fixef(f)$cond[1], fixef(f)$cond[2], -2 * as.numeric(logLik(f)), sqrt(v$worker[1]), sqrt(v$item[1])))""",
        _write(table, tmp_path / "d.csv"),
    )
    here = strength_of(shown(table, link=link)).latent
    twin = Twin(table.worker, table.item, table.outcome, table.position, link)
    # glmmTMB keeps the constant of the two fixed effects; it searches logarithms of SDs, so that near zero only
    # the criterion can be compared.
    criterion = twin.at((here.sd_worker, here.sd_item))[0] - 2 * math.log(2 * math.pi)
    assert criterion == pytest.approx(found["criterion"], abs=1e-4)
    assert here.strength == pytest.approx(found["effect"], abs=1e-3)
    assert here.position_bias == pytest.approx(found["bias"], abs=1e-3)
    if min(found["worker"], found["item"]) > 0.05:
        assert here.sd_worker == pytest.approx(found["worker"], abs=1e-4)
        assert here.sd_item == pytest.approx(found["item"], abs=1e-4)


@pytest.mark.r
def test_with_ties_the_maximum_likelihood_is_that_of_clmm(tmp_path: Path) -> None:
    # Two free thresholds are the symmetric ones and a strength: -(t + strength) and t - strength.
    table = TABLES["ties"]
    found = _r(
        """suppressMessages(library(ordinal)); d <- read.csv(commandArgs(TRUE)[1])
        d$y <- ordered(d$outcome); d$w <- factor(d$worker); d$i <- factor(d$item)
        m <- clmm(y ~ position + (1 | w) + (1 | i), link = "probit", data = d)
        b <- coef(m); v <- VarCorr(m)
        cat(sprintf('{"low": %.10f, "high": %.10f, "bias": %.10f, "logLik": %.10f, "w": %.10f, "i": %.10f}',
            b[1], b[2], b[3], as.numeric(logLik(m)), sqrt(v$w[1]), sqrt(v$i[1])))""",
        _write(table, tmp_path / "d.csv"),
    )
    batch = fit_latent_batch(
        LatentProblem.of_preferences(table.worker, table.item, position=table.position),
        table.outcome[None] + 1,
        n_categories=3,
        link="probit",
        restricted=False,
    )
    assert batch.criterion[0] == pytest.approx(-2 * found["logLik"], abs=1e-3)
    assert batch.effect[0] == pytest.approx(-(found["low"] + found["high"]) / 2, abs=1e-3)
    assert batch.thresholds[0, 1] == pytest.approx((found["high"] - found["low"]) / 2, abs=1e-3)
    assert batch.coefficients[0, 1] == pytest.approx(found["bias"], abs=1e-3)
    assert batch.sd[0] == pytest.approx((found["w"], found["i"]), abs=2e-3)
