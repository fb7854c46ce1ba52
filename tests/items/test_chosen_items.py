"""From a pool to a result: choose, assign, analyze, and what is refused on the way."""

import functools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from cli import run

import humeval_power as hp
from humeval_power.checking.outputs import pool_of_table, pool_table, scored_of_table
from humeval_power.errors import InputError
from humeval_power.inference.item_sampling import draw_from_strata, uneven_strata
from humeval_power.rules import DEFAULT_RULE
from humeval_power.studies.fit.over_pool import of_pool

SETTING = {"worker": 0.08, "item": 0.26, "residual": 0.16}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A folder with outputs.csv, chosen.csv and ratings.csv of a pool of 240 items, a tenth of them identical."""
    folder = tmp_path_factory.mktemp("pool")
    rng = np.random.default_rng(7)
    f = rng.normal(size=240)
    d = 0.08 + SETTING["item"] * (0.6 * f + 0.8 * rng.normal(size=240))
    rows = [
        (f"d{i:03d}", system, f"text {i}" if i % 10 == 0 else f"text {i} {system}", level)
        for i in range(240)
        for system, level in (("old", 0.0), ("new", float(f[i])))
    ]
    outputs = pd.DataFrame(rows, columns=["item", "system", "text", "metric"])
    outputs.to_csv(folder / "outputs.csv", index=False)
    run(
        "more", "items", folder / "outputs.csv", "--n", 60, "--score", "metric", "-o", folder / "chosen.csv"
    )
    chosen = hp.items.read_pool(folder / "chosen.csv")
    slope = rng.normal(0, SETTING["worker"], 8)
    ratings = [
        (
            f"w{w}",
            name,
            system,
            0.5 + x * (d[int(name[1:])] + slope[w]) + rng.normal(0, SETTING["residual"]),
        )
        for w in range(8)
        for name in chosen.chosen_items
        for system, x in (("old", -0.5), ("new", 0.5))
    ]
    table = pd.DataFrame(ratings, columns=["worker", "item", "system", "rating"])
    table["page"] = table["item"].str[1:].astype(int) // 7
    table.to_csv(folder / "ratings.csv", index=False)
    return folder


def analyze(study, *more, pool="chosen.csv", code=0):
    """What an analysis over the pool says."""
    asked = () if pool is None else ("--pool", study / pool)
    return run("analyze", study / "ratings.csv", "--systems", "old,new", *asked, *more, code=code)


@functools.cache
def analysed(study, *more, pool="chosen.csv"):
    """Its record, computed once."""
    return json.loads(analyze(study, *more, "--json", pool=pool).stdout)


def test_the_file_of_a_pool_is_read_as_it_was_written(study):
    pool = hp.items.read_pool(study / "chosen.csv")
    again = pool_of_table(pool_table(pool).astype(str), source="again")
    assert again.items == pool.items
    assert again.chosen_items == pool.chosen_items
    np.testing.assert_array_equal(again.stratum, pool.stratum)
    np.testing.assert_allclose(again.probability, pool.probability, rtol=1e-15)
    np.testing.assert_allclose(again.scores, pool.scores)
    assert (pool.n_items, pool.n_chosen, pool.n_strata, pool.identical_share) == (240, 60, 5, 0.1)


def test_an_analysis_says_what_it_is_about(study):
    pool, like = analysed(study), analysed(study, "--estimand", "population")
    plain = analysed(study, pool=None)
    assert pool["pool"]["sentence"] == (
        "This is about the 240 items of chosen.csv, of which 60 were drawn and rated."
    )
    assert like["pool"]["sentence"].startswith("This is about items like the 240 of chosen.csv")
    assert "pool" not in plain
    assert pool["effect"]["estimate"] == like["effect"]["estimate"] != plain["effect"]["estimate"]
    assert pool["effect"]["standard_error"] < like["effect"]["standard_error"]
    # a score that correlates .6 and a pool of which a quarter is rated: clearly narrower than as if drawn from many
    assert pool["effect"]["standard_error"] < 0.9 * plain["effect"]["standard_error"]


def test_python_gives_what_the_command_gives(study):
    ratings = hp.read_ratings(study / "ratings.csv", systems=("old", "new"))
    result = hp.analyze(ratings, pool=hp.items.read_pool(study / "chosen.csv"), diagnostics=False)
    by_study = hp.Study(pool=str(study / "chosen.csv"), estimand="population")
    assert "items like the 240" in hp.analyze(ratings, by_study, diagnostics=False).decision
    same = analysed(study)
    assert result.tested.estimate == same["effect"]["estimate"]
    assert result.decision.endswith("of which 60 were drawn and rated.")


def test_a_report_says_what_the_result_is_about(study, tmp_path):
    findings = tmp_path / "analysis.json"
    analyze(study, "-o", findings)
    said = run("report", findings, "--form", "paper")
    assert "240 items of chosen.csv, of which 60 were drawn" in " ".join(said.stdout.split())


def test_workers_get_the_chosen_items_and_strata_evenly(study, tmp_path):
    pool = hp.items.read_pool(study / "chosen.csv")
    table = tmp_path / "assignment.csv"
    run(
        *("assign", "--pool", study / "chosen.csv", "--workers", 6, "--ratings-per-item", 2),
        *("--systems", "old,new", "-o", table),
    )
    rows = pd.read_csv(table)
    assert set(rows["item"]) == set(pool.chosen_items)
    stratum = {name: pool.stratum[pool.places[name]] for name in pool.chosen_items}
    counts = pd.crosstab(rows["worker_slot"], rows["item"].map(stratum)) / 2
    assert np.ptp(counts.to_numpy()) <= 2  # of 4 items of a stratum for each worker on average


def test_assign_refuses_a_size_that_is_not_that_of_the_draw(study):
    said = run("assign", "--pool", study / "chosen.csv", "--workers", 6, "--items", 50, code=2)
    assert "60 items are chosen; the study has 50" in " ".join(said.output.split())


def test_picked_items_say_that_they_stand_for_themselves(study, tmp_path):
    chosen = hp.items.read_pool(study / "chosen.csv").chosen_items
    names = tmp_path / "names.txt"
    names.write_text("\n".join(chosen))
    picked = tmp_path / "picked.csv"
    said = run("more", "items", study / "outputs.csv", "--picked", names, "-o", picked)
    assert "says nothing of the pool" in " ".join(said.stdout.split())
    record = analysed(study, pool=picked)
    assert record["pool"]["estimand"] == "these"
    assert record["pool"]["sentence"].startswith("This is about these 60 items only")
    refused = analyze(study, "--estimand", "population", pool=picked, code=2)
    assert "about them only" in " ".join(refused.output.split())


def test_ratings_of_other_items_are_refused_and_of_identical_ones_left_out(study, tmp_path):
    pool = hp.items.read_pool(study / "chosen.csv")
    table = pd.read_csv(study / "ratings.csv")
    beside = next(name for name in pool.items if not pool.chosen[pool.places[name]] and int(name[1:]) % 10)
    same = next(name for name in pool.items if int(name[1:]) % 10 == 0)
    file = tmp_path / "more.csv"

    def with_item(name):
        extra = table[table["item"] == table["item"][0]].assign(item=name)
        pd.concat([table, extra]).to_csv(file, index=False)
        return run(
            "analyze", file, "--systems", "old,new", "--pool", study / "chosen.csv", "--json", code=None
        )

    refused = with_item(beside)
    assert refused.exit_code == 2
    assert f"1 rated item beside those that chosen.csv has as chosen: {beside}" in " ".join(
        refused.output.split()
    )
    assert with_item("elsewhere").exit_code == 2
    left_out = with_item(same)
    assert left_out.exit_code == 0
    plain = analysed(study)
    assert json.loads(left_out.stdout)["effect"] == plain["effect"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--family", "ordinal"), "have no estimate over a pool"),
        (("--df", "min"), "Kenward and Roger"),
        (("--correlated", "worker"), "Correlated intercepts and slopes are not offered with a pool: what"),
        (("--document", "page"), "items of one document are alike"),
        (("--covariate", "page"), "what they are over its other items is not known"),
    ],
)
def test_what_has_no_estimate_over_a_pool_is_refused(study, more, message):
    said = analyze(study, *more, code=2)
    assert message in " ".join(said.output.split())


def test_an_estimand_without_a_pool_is_refused(study):
    said = analyze(study, "--estimand", "population", pool=None, code=2)
    assert "give --pool" in said.output


def test_every_problem_of_a_pool_is_named_at_once():
    table = pd.DataFrame(
        {
            "item": ["a", "a", "c", "", "e"],
            "chosen": ["1", "2", "0", "x", "1"],
            "probability": [".5", ".5", "high", ".5", ".5"],
        },
        index=pd.RangeIndex(2, 7, name="row"),
    )
    with pytest.raises(InputError) as caught:
        pool_of_table(table, source="pool.csv")
    said = str(caught.value)
    for part in (
        "row 3: item 'a'",
        "row 3, column 'chosen'",
        "row 4, column 'probability'",
        "row 5",
        "'x'",
    ):
        assert part in said, part


def test_items_that_could_never_be_drawn_and_replaced_ones_are_refused():
    def refused(**columns):
        with pytest.raises(InputError) as caught:
            pool_of_table(pd.DataFrame(columns), source="pool.csv")
        return str(caught.value)

    items = [f"i{place}" for place in range(8)]
    chosen = [1, 1, 0, 0, 1, 1, 0, 0]
    assert "could never be drawn" in refused(item=items, chosen=chosen, probability=[0.5] * 7 + [0.0])
    strata = [1, 1, 1, 1, 2, 2, 2, 2]
    said = refused(item=items, chosen=[1, 1, 1, 0, 1, 0, 0, 0], stratum=strata, probability=[0.5] * 8)
    assert "has 3 chosen of 4 items" in said
    assert "at least 2 show how items of it differ" in said
    said = refused(item=items, chosen=chosen, probability=[0.25] * 8)  # as where half of the rows are lost
    assert "4 of 8 items are chosen, and each was drawn with the probability 0.25" in said


def test_half_a_file_of_items_drawn_at_random_is_refused():
    outputs = hp.items.choose(
        scored_of_table(
            pd.DataFrame({"item": [f"i{p}" for p in range(90)], "A": "a", "B": "b"}).assign(
                A=[f"a{p}" for p in range(90)]
            ),
            source="outputs.csv",
            score=None,
        ),
        30,
    )
    table = outputs.to_frame()
    assert pool_of_table(table, source="pool.csv").n_items == 90
    with pytest.raises(InputError, match="Give the whole file of the draw"):
        pool_of_table(table.head(60), source="pool.csv")


def test_systems_that_a_pool_was_not_drawn_for_are_refused(study, tmp_path):
    file = tmp_path / "other.csv"
    table = pd.read_csv(study / "ratings.csv")
    table.assign(system=table["system"].replace("new", "newer")).to_csv(file, index=False)
    said = run("analyze", file, "--systems", "old,newer", "--pool", study / "chosen.csv", code=2)
    assert (
        "chosen.csv has no scores of newer: it leaves out outputs that are the same under old, new"
        in " ".join(said.output.split())
    )


def test_tables_of_outputs_and_of_items_say_the_same():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(6, 2)).round(3)
    wide = pd.DataFrame({"item": list("abcdef"), "chrf_A": scores[:, 0], "B-chrf": scores[:, 1]})
    long = pd.DataFrame(
        [(name, s, scores[i, k]) for i, name in enumerate("abcdef") for k, s in enumerate("AB")],
        columns=["item", "system", "chrf"],
    )
    one = scored_of_table(wide, source="wide", score="chrf")
    other = scored_of_table(long, source="long", score="chrf")
    assert (one.items, one.systems) == (other.items, other.systems) == (tuple("abcdef"), ("A", "B"))
    np.testing.assert_array_equal(one.scores, other.scores)
    turned = scored_of_table(long, source="long", score="chrf", systems=("B", "A"))
    np.testing.assert_array_equal(turned.scores, scores[:, ::-1])


def test_several_systems_are_compared_over_the_pool():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(200, 3))
    wide = pd.DataFrame(
        {"item": [f"i{p}" for p in range(200)], **{f"m_{s}": scores[:, k] for k, s in enumerate("ABC")}}
    )
    pool = hp.items.choose(scored_of_table(wide, source="pool", score="m"), 40).pool
    rows = [
        (f"w{w}", name, s, 0.5 + 0.1 * scores[pool.places[name], k] * 0 + 0.1 * k + rng.normal(0, 0.15))
        for w in range(6)
        for name in pool.chosen_items
        for k, s in enumerate("ABC")
    ]
    ratings = hp.ratings_from_table(
        pd.DataFrame(rows, columns=["worker", "item", "system", "rating"]), require_pair=False
    )
    result = hp.analyze(ratings, pool=pool, diagnostics=False)
    assert [one.estimate for one in result.over_pool.estimates] == [
        one.test.estimate for one in result.analysis.results
    ]
    assert len(result.over_pool.estimates) == 3
    assert "This is about the 200 items" in result.decision
    with pytest.raises(InputError, match="joint model"):
        hp.analyze(ratings, pool=pool, family=hp.models.ComparisonFamily(model="joint"))


def test_a_plan_seals_what_the_result_is_about(study, tmp_path):
    plan = tmp_path / "plan.json"
    run(
        *(
            "plan",
            "--preset",
            "low",
            "--effect",
            0.1,
            "--items",
            60,
            "--workers",
            8,
            "--ratings-per-item",
            8,
        ),
        *("--systems", "old,new", "--estimand", "population", "--cost-per-rating", 0.1),
        *("--simulations", 100, "-o", plan),
        code=None,
    )
    assert json.loads(plan.read_text())["study"]["estimand"] == "population"
    assert hp.plans.read_plan(plan).estimand == "population"
    ratings = (study / "ratings.csv", "--plan", plan)
    followed = json.loads(run("analyze", *ratings, "--pool", study / "chosen.csv", "--json").stdout)
    assert followed["pool"]["estimand"] == "population"
    about = "what the result is about"
    assert about not in [one["what"] for one in followed["deviations"]]
    other = json.loads(
        run("analyze", *ratings, "--pool", study / "chosen.csv", "--estimand", "pool", "--json").stdout
    )
    assert about in [one["what"] for one in other["deviations"]]
    without = json.loads(run("analyze", *ratings, "--json").stdout)
    assert about in [one["what"] for one in without["deviations"]]


def test_strata_that_are_drawn_out_of_proportion_are_refused(study):
    pool = hp.items.read_pool(study / "chosen.csv")
    ratings = hp.read_ratings(study / "ratings.csv", systems=("old", "new"))
    assert of_pool(ratings, pool, DEFAULT_RULE) is ratings
    table = pool_table(pool)
    first = table[
        (table["stratum"].astype(str) == "1") & (table["chosen"].astype(str).isin(["1", "yes", "True"]))
    ]
    fewer = pool.chosen & ~np.isin(pool.items, first["item"].tolist()[:6])
    uneven = replace(pool, chosen=fewer)
    left = ratings.of_rows(~np.isin(np.array(ratings.item_names)[ratings.item], first["item"].tolist()[:6]))
    with pytest.raises(InputError, match=r"than in proportion, as by Neyman's allocation"):
        of_pool(left, uneven, DEFAULT_RULE)


def test_draws_in_proportion_are_even_and_neymans_are_not():
    rng = np.random.default_rng(3)
    for _ in range(80):
        sizes = rng.integers(5, 200, rng.integers(2, 6))
        stratum = np.repeat(np.arange(len(sizes)), sizes)
        n = int(rng.integers(2 * len(sizes) + 2, max(sizes.sum() // 2, 2 * len(sizes) + 3)))
        chosen = np.zeros(len(stratum), dtype=bool)
        chosen[draw_from_strata(stratum, n, rng)[0]] = True
        assert not len(uneven_strata(stratum, chosen))
    # two halves, of which one differs three times as much: 1 and 3 of 4 are drawn from each
    stratum, chosen = np.repeat([0, 1], 100), np.zeros(200, dtype=bool)
    chosen[:10], chosen[100:130] = True, True
    assert uneven_strata(stratum, chosen).tolist() == [0, 1]
    chosen[:100] = True  # a stratum of what must be seen is taken as a whole
    assert not len(uneven_strata(stratum, chosen))


def test_one_variance_of_all_strata_is_wrong_by_as_much_as_the_refusal_says():
    # Neyman: n_h as W_h s_h; the variance of the mean is (sum W s)^2 / n, by a common variance of all items
    # sum W^2 / n_h times the mean square within strata
    rng, n_h, spread = np.random.default_rng(5), np.array([10, 30]), np.array([1.0, 3.0])
    values = [rng.normal(0, sd, (20_000, n)) for sd, n in zip(spread, n_h, strict=True)]
    means = sum(0.5 * one.mean(axis=1) for one in values)
    within = sum((n - 1) * one.var(axis=1, ddof=1) for one, n in zip(values, n_h, strict=True)) / (40 - 2)
    common = (0.25 / n_h).sum() * within.mean()
    assert common / means.var() == pytest.approx(2.33, rel=0.05)
