"""A collection of published comparisons: what is reported, tau, power under given parameters, the picture."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli import run
from reference.golden import shared_golden
from scipy import stats

from humeval_power.comparisons.survey.result import survey_chart
from humeval_power.comparisons.survey.survey import PublishedComparison, survey
from humeval_power.designs import crossed, k_per_item
from humeval_power.errors import InputError
from humeval_power.parameters import preset
from humeval_power.studies.power.analytic import minimum_detectable_effect
from humeval_power.studies.power.formula import analytic_power, effect_precision

SETTINGS = {"high": preset("high"), "low": preset("low")}
COLLECTION = (
    PublishedComparison(
        "full", effect=0.4, low=1, high=5, items=100, workers=3, ratings_per_item=3, p_value=0.02
    ),
    PublishedComparison("some of them each", effect=0.15, items=50, workers=10, ratings_per_item=3),
    PublishedComparison("no workers", effect=-0.02, items=200, ratings_per_item=5),
    PublishedComparison("effect alone", effect=10, low=0, high=100),
    PublishedComparison("no effect told", items=80, workers=5, ratings_per_item=5),
)


def test_reported_details_are_counted() -> None:
    found = survey(COLLECTION, SETTINGS)
    assert found.reported == {
        "effect": 4,
        "items": 4,
        "workers": 3,
        "ratings_per_item": 4,
        "p_value": 1,
        "scale": 2,
    }


def test_effects_are_scaled_to_the_unit_interval() -> None:
    assert [each.scaled_effect for each in COLLECTION] == [0.1, 0.15, -0.02, 0.1, None]


def test_power_and_detectable_effect_are_those_of_the_design() -> None:
    found = survey(COLLECTION, SETTINGS, effects=(0.1, 0.3))
    full, some = (each for each in found.powers[:2])
    assert found.powers[0].setting == "high"
    crossed_study, part = crossed(3, 100), k_per_item(10, 50, ratings_per_item=3)
    for each, design, own in ((full, crossed_study, 0.1), (some, part, 0.15)):
        precision = effect_precision(preset("high"), design)
        assert each.mde == pytest.approx(minimum_detectable_effect(precision))
        assert each.power == pytest.approx(
            analytic_power(preset("high").with_difference(own), design).power
        )
        assert each.power_at[1] == pytest.approx(
            analytic_power(preset("high").with_difference(0.3), design).power
        )


def test_the_commonest_design_has_the_golden_detectable_effect(shared: Path) -> None:
    golden = shared_golden(shared, "05_mde_wei")["mde_crossed"]
    for row in golden:
        if row["h"] == 1:
            one = PublishedComparison("x", items=row["n"], workers=row["m"], ratings_per_item=row["m"])
            found = survey([one], {"s": SETTINGS[row["setting"]]}).powers[0]
            assert found.mde == pytest.approx(row["mde80"], rel=1e-5)


def test_the_sign_of_an_effect_does_not_change_its_power() -> None:
    one, other = (
        survey([PublishedComparison("x", effect=e, items=60, workers=6, ratings_per_item=6)], SETTINGS)
        .powers[0]
        .power
        for e in (0.2, -0.2)
    )
    assert one == other


def test_what_is_not_reported_leaves_the_power_unknown_unless_it_is_assumed() -> None:
    found = survey(COLLECTION, {"low": preset("low")})
    reasons = {each.comparison.name: each.reason for each in found.powers}
    assert reasons["no workers"] == "workers not reported"
    assert reasons["effect alone"] == "workers, items, ratings per item not reported"
    assert np.isnan(found.powers[2].mde)
    filled = survey(
        COLLECTION, {"low": preset("low")}, if_missing={"workers": 5, "items": 100, "ratings_per_item": 3}
    )
    assert all(each.reason == "" for each in filled.powers)
    assert filled.powers[2].assumed == ("workers",)
    assert filled.powers[0].assumed == ()


def test_a_design_that_cannot_be_is_named_and_not_fatal() -> None:
    found = survey([PublishedComparison("x", items=50, workers=3, ratings_per_item=7)], SETTINGS)
    assert "no such design" in found.powers[0].reason


def test_underpowered_comparisons_are_counted_at_their_own_and_at_given_effects() -> None:
    found = survey(COLLECTION, SETTINGS, effects=(0.05, 0.9))
    # of the three designs known, one comparison does not tell its effect
    below, known = found.share_underpowered("low")
    powers = [each.power for each in found.powers if each.setting == "low" and not np.isnan(each.power)]
    assert (below, known) == (sum(power < 0.8 for power in powers), 2)
    assert found.share_underpowered("low", 0.05) == (3, 3)
    assert found.share_underpowered("low", 0.9) == (0, 3)


def slow_tau(x: list[float], y: list[float]) -> float:
    """Kendall's tau-b by counting pairs."""
    pairs = [(i, j) for i in range(len(x)) for j in range(i)]
    products = [np.sign(x[i] - x[j]) * np.sign(y[i] - y[j]) for i, j in pairs]
    in_x, in_y = (sum(v[i] != v[j] for i, j in pairs) for v in (x, y))
    return float(sum(products) / np.sqrt(in_x * in_y))


def test_tau_is_that_of_all_pairs_and_its_p_value_is_scipys() -> None:
    rng = np.random.default_rng(1)
    items = [int(n) for n in rng.choice([50, 100, 200], 40)]
    effects = [float(e) for e in rng.normal(0.05, 0.1, 40)]
    found = survey(
        [PublishedComparison("x", effect=e, items=n) for e, n in zip(effects, items, strict=True)], SETTINGS
    )
    assert found.signed is not None
    assert found.absolute is not None
    assert found.signed.tau == pytest.approx(slow_tau(effects, items))
    assert found.absolute.tau == pytest.approx(slow_tau([abs(e) for e in effects], items))
    assert found.signed.p_value == pytest.approx(stats.kendalltau(effects, items).pvalue)
    assert found.signed.n == 40


def test_too_few_or_constant_sizes_have_no_tau() -> None:
    assert survey(COLLECTION[:2], SETTINGS).signed is None
    same = [PublishedComparison("x", effect=e, items=100) for e in (0.1, 0.2, 0.3, 0.4)]
    assert survey(same, SETTINGS).signed is None


@pytest.mark.parametrize("options", [{"comparisons": ()}, {"if_missing": {"raters": 3}}])
def test_nothing_to_look_at_is_refused(options: dict) -> None:
    with pytest.raises(InputError):
        survey(options.pop("comparisons", COLLECTION), SETTINGS, **options)


def test_every_comparison_with_effect_and_items_is_a_point_of_the_picture() -> None:
    found = survey(COLLECTION, SETTINGS)
    chart = survey_chart(COLLECTION, found)
    points = chart.series[-1]
    assert list(zip(points.x, points.y, strict=True)) == [(100, 0.1), (50, 0.15), (200, -0.02)]
    labels = [each.name for each in chart.series if each.name]
    assert labels[-1] == "comparison"
    assert len(labels) == 3


def test_the_picture_has_the_same_bytes_twice() -> None:
    found = survey(COLLECTION, SETTINGS)
    one, other = (survey_chart(COLLECTION, found).content("png") for _ in range(2))
    assert one == other


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "papers.csv"
    rows = [
        (c.name, c.effect, c.low, c.high, c.items, c.workers, c.ratings_per_item, c.p_value)
        for c in COLLECTION
    ]
    columns = ["paper", "effect", "low", "high", "items", "workers", "ratings per item", "p"]
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    return path


def test_the_command_tells_shares_tau_and_power(table: Path) -> None:
    found = run("survey", str(table), "--preset", "high,low")
    assert re.search(r"number of workers +3 +60 %", found.stdout)
    assert "Kendall's tau" in found.stdout
    assert "flatters" in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= 80


def test_the_json_record_holds_every_comparison_under_every_setting(table: Path) -> None:
    record = json.loads(
        run("survey", str(table), "--preset", "high,low", "--effect", "0.1", "--json").stdout
    )
    assert record["schema"] == "humeval_power/survey/1"
    assert len(record["rows"]) == 10
    expected = survey(COLLECTION, SETTINGS, effects=(0.1,))
    assert record["rows"][0]["power_at_0.1"] == pytest.approx(expected.powers[0].power_at[0])
    assert record["underpowered"]["low"]["at_0.1"]["known"] == 3


def test_all_problems_of_a_table_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "papers.csv"
    path.write_text("effect,low,high,items,workers,tested\n0.1,1,5,2.5,3,maybe\nlots,1,5,1,0,no\n")
    said = run("survey", path, "--preset", "low", code=2).stderr
    assert "row 2" in said
    assert "'lots'" in said
    assert "whole number" in said
    assert "at least 2" in said
    assert "at least 1" in said
    assert "'maybe': must be yes or no." in said


def test_an_effect_wider_than_its_scale_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "papers.csv"
    path.write_text("effect,low,high,items\n0.1,1,5,50\n12,1,5,100\n3,,,10\n1,5,1,10\n")
    said = run("survey", path, "--preset", "low", code=2).stderr
    assert "row 3" in said
    assert "row 4" in said
    assert "row 5" in said


def test_blank_rows_are_no_comparisons(tmp_path: Path) -> None:
    table = tmp_path / "papers.csv"
    table.write_text("name,effect,items\nX,0.1,50\n,,\nY,0.2,60\n , ,\n")
    done = run("survey", table, "--preset", "high", "--json")
    assert json.loads(done.stdout)["comparisons"] == 2
    assert "Blank rows are left out: 2." in done.stderr


def test_a_table_of_means_is_told_what_its_power_needs(tmp_path: Path) -> None:
    path = tmp_path / "paper.csv"
    path.write_text("name,mean_a,mean_b,workers,items,p\nours,3.4,3.7,5,50,.03\n", encoding="utf-8")
    missing = run("survey", path, code=2).stderr
    assert "--preset typical" in missing
    assert "--pilot" not in missing  # which this command has not
    told = run("survey", path, "--preset", "typical", "--scale", "1:5")
    assert "no column 'effect': the difference of the two means" in " ".join(told.stderr.split())
    said = " ".join(told.stdout.split())
    assert "enough for its power to be known (ratings per item not reported)" in said
    assert "--if-no-workers, --if-no-items, --if-no-ratings" in said
