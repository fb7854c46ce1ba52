"""Plans of items that were drawn from a pool: the variance by hand, `more items`, and what is refused."""

import json
import math

import numpy as np
import pytest
from cli import run

import humeval_power as hp
from humeval_power.checking.outputs import ScoredOutputs
from humeval_power.designs import crossed, k_per_item
from humeval_power.inference.chosen_items import (
    explained_by_draw,
    item_sd_factor,
    over_the_pool,
    systems_over_the_pool,
)
from humeval_power.parameters import PRESETS, Parameters
from humeval_power.studies.power.formula import effect_precision, power_at
from humeval_power.systems import SystemsParameters

TRUTH = Parameters(
    baseline=0.5,
    effect=0.1,
    sd_worker_intercept=0.1,
    sd_worker_slope=0.08,
    sd_item_intercept=0.12,
    sd_item_slope=0.26,
    sd_residual=0.16,
)


def drawn(n: int, systems: tuple[str, ...] = ("old", "new"), size: int = 300, same: int = 30):
    """The chosen items of a pool of which some outputs are identical."""
    rng = np.random.default_rng(2)
    names = tuple(f"d{number}" for number in range(size))
    texts = {
        (name, system): name if number < same else name + system
        for number, name in enumerate(names)
        for system in systems
    }
    scores = rng.normal(size=(size, len(systems)))
    return hp.items.choose(ScoredOutputs(names, systems, scores, texts, "outputs.csv", "chrf"), n)


@pytest.mark.parametrize("estimand", ["pool", "population"])
def test_the_variance_is_that_of_the_formula_by_hand(estimand: str) -> None:
    pool, rho, m, n = drawn(60).pool, 0.6, 9, 60
    N, r2 = 270, rho**2 * explained_by_draw(pool)
    factor = item_sd_factor(pool, explained=explained_by_draw(pool), correlation=rho, estimand=estimand)
    like = 1 / N if estimand == "population" else 0.0
    plain = 0.08**2 / m + 0.26**2 * ((1 - r2) * (1 / n - 1 / N) + like) + 2 * 0.16**2 / (n * m)
    made = effect_precision(over_the_pool(TRUTH, factor, 1.0), crossed(m, n))
    assert made.variance == pytest.approx(plain, rel=1e-10)
    # a tenth of the pool differs by nothing: its whole error is a tenth smaller
    real = effect_precision(over_the_pool(TRUTH, factor, 0.9), crossed(m, n))
    assert real.variance == pytest.approx(0.81 * plain, rel=1e-10)
    assert real.df == pytest.approx(made.df)
    sparse = k_per_item(12, n, ratings_per_item=3, seed=1)
    scaled = over_the_pool(TRUTH, 0.5, 1.0)
    assert effect_precision(scaled, sparse).variance < effect_precision(TRUTH, sparse).variance


def test_a_census_leaves_items_out_and_no_metric_saves_what_is_rated_alone() -> None:
    whole = drawn(270).pool
    for rho in (0.0, 0.9):
        assert item_sd_factor(whole, explained=0.9, correlation=rho, estimand="pool") == 0.0
        assert item_sd_factor(whole, explained=0.9, correlation=rho, estimand="population") == 1.0
    pool = drawn(60).pool
    plain = item_sd_factor(pool, explained=0.9, correlation=0.0, estimand="pool")
    assert plain == pytest.approx(math.sqrt(1 - 60 / 270))
    assert item_sd_factor(pool, explained=0.9, correlation=0.0, estimand="population") == pytest.approx(1)


def test_what_the_draw_explains_is_what_more_items_says() -> None:
    for found in (drawn(60), drawn(40, ("a", "b", "c"))):
        assert explained_by_draw(found.pool) == pytest.approx(found.explained)
        factors = found.item_factors
        assert factors is not None
        for estimand in ("pool", "population"):
            again = item_sd_factor(
                found.pool,
                explained=explained_by_draw(found.pool),
                correlation=found.correlation,
                estimand=estimand,
            )
            assert factors[estimand] == pytest.approx(again)


def test_each_pair_of_several_systems_is_that_of_two() -> None:
    own = tuple(sd / math.sqrt(2) for sd in (0.08,) * 3)
    of_item = tuple(sd / math.sqrt(2) for sd in (0.26,) * 3)
    three = SystemsParameters(("a", "b", "c"), (0.5, 0.5, 0.6), 0.1, own, 0.12, of_item, 0.16)
    one = systems_over_the_pool(three, 0.7, 0.9).pair(0, 2).recoded()
    other = over_the_pool(three.pair(0, 2), 0.7, 0.9)
    for name in ("sd_worker_slope", "sd_item_slope", "sd_residual"):
        assert getattr(one, name) == pytest.approx(getattr(other, name))


PLAN = (
    *("plan", "--effect", 0.1, "--preset", "low", "--workers", "6:9:3", "--ratings-per-item", "2:6:2"),
    *("--cost-per-rating", 0.1, "--simulations", 200),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory):
    place = tmp_path_factory.mktemp("pool")
    drawn(60).to_frame().to_csv(place / "chosen.csv", index=False)
    return place


def test_the_command_takes_the_saving_into_all_that_it_says(folder) -> None:
    words = (*PLAN, "--systems", "old,new", "--items", 60, "--scale", "1:5")
    saved = (*words, "--pool", folder / "chosen.csv", "--metric-correlation", 0.7)
    record = json.loads(run(*saved, "-o", folder / "plan.json", "--json", code=None).stdout)
    pool = hp.items.read_pool(folder / "chosen.csv")
    factor = item_sd_factor(pool, explained=explained_by_draw(pool), correlation=0.7, estimand="pool")
    sealed = hp.plans.read_plan(folder / "plan.json")
    known = over_the_pool(PRESETS["low"], factor, 0.9)
    assert sealed.parameters.sd_item_slope == pytest.approx(known.sd_item_slope)
    assert sealed.parameters.sd_worker_slope == pytest.approx(known.sd_worker_slope)
    said = f"over chosen.csv: SD of items' differences x {factor:.3f}, all SDs x 0.900 (identical outputs)"
    assert said in sealed.source.name
    assert said in json.dumps(record)
    at = effect_precision(known, sealed.design())
    expected = power_at(sealed.effect, at, rule=sealed.rule).power
    assert sealed.predicted.analytic == pytest.approx(expected, abs=1e-6)
    for words in ((*saved,), ("report", "--plan", folder / "plan.json", "--form", "osf")):
        assert said in " ".join(run(*words, code=None).stdout.split())


def test_what_a_plan_over_a_pool_has_no_answer_for_is_refused_at_once(folder) -> None:
    picked = hp.items.read_pool(folder / "chosen.csv")
    table = hp.items.choose(
        ScoredOutputs(picked.items, picked.systems, picked.scores, None, "outputs.csv", "chrf"),
        picked=list(picked.chosen_items),
    ).to_frame()
    table.to_csv(folder / "picked.csv", index=False)
    words = (*PLAN, "--systems", "old,new", "--pool", folder / "picked.csv", "--items", "40:80:20")
    said = " ".join(run(*words, code=2).stderr.split())
    assert "picked and not drawn" in said
    assert "60 items are chosen; the plan searches other numbers" in said
    shares = (
        *PLAN,
        "--systems",
        "old,new",
        "--items",
        60,
        "--pool",
        folder / "chosen.csv",
        "--scale",
        "1:5",
    )
    said = " ".join(run(*shares, "--shares", "0.1,0.2,0.4,0.2,0.1", code=2).stderr.split())
    assert "what a draw saves was worked out for means" in said
