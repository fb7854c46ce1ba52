"""`analyze` with more than two systems or several criteria: text, JSON, pictures and refusals."""

import functools
import json

import numpy as np
import pandas as pd
import pytest
from cases import few_fast
from click.testing import CliRunner
from statsmodels.stats.multitest import multipletests
from test_joint_fit import random_table

from humeval_power.comparisons.agreement.agreement import agreement
from humeval_power.doors.terminal.main import main
from humeval_power.ratings import ratings_from_table
from humeval_power.rules import ComparisonFamily, DecisionRule
from humeval_power.safe_text import file_stems
from humeval_power.scales import RatingScale
from humeval_power.studies.analyze.family import Unit
from humeval_power.studies.analyze.figures import heat_map_chart
from humeval_power.studies.analyze.findings import order_of
from humeval_power.studies.fit.joint_comparison import compare_jointly
from humeval_power.studies.fit.many_systems import compare_in_pairs
from humeval_power.studies.report.fact_record import study_facts
from humeval_power.studies.report.fact_words import StudyWords

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")
CRITERIA = ("fluency", "adequacy")


def frame(seed, names=NAMES):
    rows = random_table(seed, m=6, n=14, K=len(names), kept=0.6)
    return pd.DataFrame(
        {
            "worker": [f"w{code}" for code in rows.worker],
            "item": [f"i{code}" for code in rows.item],
            "system": [names[code] for code in rows.system],
            "rating": np.clip(rows.rating, 0, 1).round(3),
        }
    )


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Five systems under two criteria in one file."""
    path = tmp_path_factory.mktemp("many") / "study.csv"
    parts = [frame(seed).assign(criterion=name) for seed, name in enumerate(CRITERIA)]
    pd.concat(parts).to_csv(path, index=False)
    return path


@functools.cache
def run(*words, code=0):
    """What `analyze` says of a file, once: several tests read the same answer."""
    result = CliRunner().invoke(main, ["analyze", *map(str, words), "--scale", "0:1", "-q"])
    assert result.exit_code == code, result.output
    return result


def fluency(study):
    table = pd.read_csv(study, dtype=str)
    return ratings_from_table(table, criterion="fluency", scale=RatingScale(0, 1), require_pair=False)


def test_the_joint_record_has_the_numbers_of_the_joint_comparison(study):
    words = ("--criterion", "fluency", "--all-pairs", "--model", "joint", "--correction", "max-t", "--json")
    said = json.loads(run(study, *words, "--system-variances", "common").stdout)
    family = ComparisonFamily(model="joint", correction="max-t", variances="common")
    found = compare_jointly(fluency(study), rule=DecisionRule(), family=family)
    assert said["schema"] == "humeval_power/analysis/1"
    assert said["family_of_tests"]["model"] == "joint"
    assert said["max_t_df"] == pytest.approx(found.common_df)
    assert len(said["pairs"]) == 10
    for pair, one in zip(said["pairs"], found.results, strict=True):
        assert pair["corrected_p_value"] == pytest.approx(one.corrected_p)
        assert pair["simultaneous_interval"] == pytest.approx(list(one.simultaneous_interval))
    assert [one["mean"] for one in said["system_means"]] == pytest.approx([o.mean for o in found.means])
    assert said["joint_fit"]["standard_deviations"]["sd_worker"] >= 0


def test_own_variances_lead_and_the_record_has_the_common_ones_as_a_check(study):
    words = ("--criterion", "fluency", "--all-pairs", "--model", "joint", "--json")
    own = json.loads(run(study, *words).stdout)
    common = json.loads(run(study, *words, "--system-variances", "common").stdout)
    assert own["joint_fit"]["variances"] == "own"
    assert own["joint_fit"]["standard_deviations"]["sd_worker_system of alpha"] >= 0
    for one, other in ((own, common), (common, own)):
        check = one["variances_check"]
        assert check["joint_fit"]["criterion"] == pytest.approx(other["joint_fit"]["criterion"])
        for pair, same in zip(check["pairs"], other["pairs"], strict=True):
            assert pair["corrected_p_value"] == pytest.approx(same["corrected_p_value"])
        apart = [
            [a["first"], a["second"]]
            for a, b in zip(one["pairs"], other["pairs"], strict=True)
            if a["significant"] != b["significant"]
        ]
        assert check["decided_otherwise"] == apart
    assert own["variances_check"]["df"] == 8


@pytest.mark.slow
@few_fast("leads", ["common", "own"])
def test_a_decision_that_depends_on_the_variances_is_warned_of_and_shown(study, leads):
    words = (study, "--criterion", "fluency", "--all-pairs", "--model", "joint")
    said = json.loads(run(*words, "--json").stdout)
    p_values = [
        (one["corrected_p_value"], other["corrected_p_value"])
        for one, other in zip(said["pairs"], said["variances_check"]["pairs"], strict=True)
    ]
    between = sum(max(p_values, key=lambda both: abs(both[0] - both[1]))) / 2
    more = ("--system-variances", leads, "--alpha", between)
    parted = json.loads(run(*words, *more, "--json").stdout)["variances_check"]["decided_otherwise"]
    assert parted
    typed = ["analyze", *map(str, words), *map(str, more), "--scale", "0:1"]
    text = " ".join(CliRunner().invoke(main, [*typed, "--details"]).output.split())
    assert "WARNING: " in text
    assert "out differently (corrected p)" in text
    first, second = parted[0]
    assert f"{second} - {first} (p" in text or f"{first} - {second} (p" in text
    assert "asymptotic" in text
    assert ("worker x system item x system" in text) == (leads == "own")


def test_variances_are_for_the_joint_model(study):
    words = ("--criterion", "fluency", "--all-pairs", "--system-variances", "common")
    assert "add --model joint" in run(study, *words, code=2).output


def test_pairwise_fits_are_the_default_and_their_record_keeps_its_fields(study):
    said = json.loads(run(study, "--criterion", "fluency", "--baseline", "gamma", "--json").stdout)
    assert said["family_of_tests"]["model"] == "pairwise"
    assert said["fits"] == "one for each pair of systems"
    assert said["joint_fit"] is None
    assert said["variances_check"] is None
    assert said["family_of_tests"]["baseline"] == "gamma"
    assert {pair["first"] for pair in said["pairs"]} == {"gamma"}
    assert set(said) >= {"systems", "criterion_name", "means", "family_of_tests", "groups", "rule", "data"}


@few_fast("model", ["pairwise", "joint"], fast=1)
def test_five_systems_are_readable_within_80_columns_and_the_model_is_named(study, model):
    text = run(study, "--criterion", "fluency", "--all-pairs", "--model", model).stdout
    assert max(map(len, text.splitlines())) <= 80
    told = {"pairwise": "each pair by its own fit", "joint": "all systems in one fit"}[model]
    assert told in " ".join(text.split())
    assert "share a letter" in text
    for name in NAMES:
        assert name in text


def test_long_names_are_numbered_and_written_out_once_below(tmp_path):
    names = tuple(f"a system with a rather long name {letter}" for letter in "xyz")
    path = tmp_path / "long.csv"
    frame(3, names).to_csv(path, index=False)
    text = run(path, "--all-pairs", "--model", "joint", "--details").stdout
    assert "[1] - [2]" in text
    assert max(map(len, text.splitlines())) <= 80
    short = run(path, "--all-pairs", "--model", "joint").stdout
    below = " ".join(short.partition("Findings")[2].split())
    assert all(below.count(name[-6:]) == 1 for name in names)


@pytest.mark.slow
def test_several_criteria_are_corrected_as_one_family_of_raw_p_values(study):
    words = ("--criteria", "all", "--all-pairs", "--correction", "bh", "--json")
    said = json.loads(run(study, *words).stdout)
    assert said["schema"] == "humeval_power/analyses/1"
    assert [one["criterion_name"] for one in said["criteria"]] == sorted(CRITERIA)
    pairs = [pair for one in said["criteria"] for pair in one["pairs"]]
    assert said["family_of_tests"]["n_tests"] == len(pairs) == 20
    expected = multipletests([pair["p_value"] for pair in pairs], method="fdr_bh")[1]
    assert [pair["corrected_p_value"] for pair in pairs] == pytest.approx(expected)
    assert all(one["family_of_tests"] == said["family_of_tests"] for one in said["criteria"])
    single = json.loads(run(study, "--criterion", "fluency", "--all-pairs", "--json").stdout)
    for pair, alone in zip(said["criteria"][1]["pairs"], single["pairs"], strict=True):
        assert pair["p_value"] == alone["p_value"]


def test_two_systems_under_several_criteria_keep_their_whole_analysis(study):
    words = ("--criteria", "fluency,adequacy", "--systems", "alpha,beta", "--simulations", "50")
    result = run(study, *words, "--correction", "bonferroni")
    assert "after Bonferroni's correction over 2 criteria" in result.stdout
    assert result.stdout.count("No difference is shown") + result.stdout.count("is better than") == 2
    assert result.stdout.index("fluency: Effect beta - alpha") < result.stdout.index(
        "adequacy: Effect beta - alpha"
    )
    said = json.loads(run(study, *words, "--correction", "bonferroni", "--json").stdout)
    for one in said["criteria"]:
        effect = one["effect"]
        assert one["schema"] == "humeval_power/analysis/1"
        assert effect["corrected_p_value"] == pytest.approx(min(1, 2 * effect["p_value"]))
        assert effect["significant"] == (effect["corrected_p_value"] <= 0.05)


def test_unknown_criteria_and_tables_without_any_are_refused(study, tmp_path):
    result = run(study, "--criteria", "fluensy,style", "--all-pairs", code=2)
    assert "'fluensy'" in result.stderr
    assert "'style'" in result.stderr
    assert "fluency" in result.stderr
    path = tmp_path / "plain.csv"
    frame(0).to_csv(path, index=False)
    assert "no column of criteria" in run(path, "--criteria", "all", "--all-pairs", code=2).stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--all-pairs", "--correction", "max-t"), "(--model joint), or take holm"),
        (("--all-pairs", "--baseline", "alpha"), "not both"),
        (("--model", "joint"), "add --all-pairs or --baseline"),
        (("--correct-over", "criterion", "--all-pairs"), "add --criteria all"),
        (("--correction", "holm"), "add --all-pairs, --baseline SYSTEM or --criteria all"),
        (("--criterion", "fluency", "--comparisons", "baseline"), "(--baseline NAME)"),
        (("--comparisons", "all-pairs", "--baseline", "alpha"), "not both"),
        (("--criteria", "all", "--criterion", "fluency", "--all-pairs"), "not both"),
        (("--criterion", "fluency", "--baseline", "zeta"), "There is no system 'zeta'"),
        (
            ("--criterion", "fluency", "--all-pairs", "--model", "joint", "--analysis", "differences"),
            "no analysis of differences",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused_with_the_remedy(study, words, told):
    assert told in " ".join(run(study, *words, code=2).stderr.split())


@pytest.mark.long
@pytest.mark.slow
def test_pictures_of_several_systems_are_a_heat_map_for_each_criterion(study, tmp_path):
    folder = tmp_path / "pictures"
    run(study, "--criteria", "all", "--all-pairs", "-o", folder)
    written = {path.name for path in folder.iterdir()}
    assert {f"{name}-heat_map.{kind}" for name in CRITERIA for kind in ("png", "svg")} <= written
    assert {"index.html", "record.json", "table.csv", "fluency-intervals.png"} <= written
    assert len(pd.read_csv(folder / "table.csv")) == 20
    before = (folder / "fluency-heat_map.png").read_bytes()
    run.__wrapped__(study, "--criteria", "all", "--all-pairs", "-o", folder, "--force")
    assert (folder / "fluency-heat_map.png").read_bytes() == before
    result = run(study, "--criteria", "all", "--all-pairs", "-o", folder, code=2)
    assert "--force" in result.stderr


def test_criteria_whose_files_would_have_one_name_are_numbered():
    assert file_stems(["a b", "a_b", "c/d"], nameless="x") == ["1-a_b", "2-a_b", "c_d"]
    assert file_stems(["Style", "style", "..."], nameless="criterion") == [
        "1-Style",
        "2-style",
        "criterion",
    ]


def test_each_cell_of_the_map_shows_the_difference_and_is_darker_for_a_smaller_p(study):
    analysis = compare_in_pairs(fluency(study), rule=DecisionRule())
    chart = heat_map_chart(analysis, Unit(RatingScale(0, 1)), order_of(analysis))
    cells = [(text.split("\n")[0], each) for each in chart.series for text in each.texts]
    assert len(cells) == len(analysis.results) == 10
    assert sorted(text.lstrip("+\u2212") for text, _ in cells) == sorted(
        f"{abs(one.test.estimate):.3f}" for one in analysis.results
    )
    apart = sum(one.significant for one in analysis.results)
    assert sum(each.colour == 0 for _, each in cells) == apart
    assert f"{apart} of 10 comparisons" in chart.words
    strengths = [each.strength for each in chart.series]
    assert [each.name for each in chart.series][-1] == "corrected p > 0.05"
    assert strengths == sorted(strengths, reverse=True)


def test_the_map_against_a_baseline_has_one_column_with_system_minus_baseline(study):
    family = ComparisonFamily(comparisons="baseline", baseline="delta")
    analysis = compare_in_pairs(fluency(study), rule=DecisionRule(), family=family)
    chart = heat_map_chart(analysis, Unit(RatingScale(0, 1)), order_of(analysis), criterion="fluency")
    shown = {
        chart.y.names[int(row)]: text.split("\n")[0]
        for each in chart.series
        for row, text in zip(each.y, each.texts, strict=True)
    }
    for one in analysis.results:
        assert shown[one.second] == f"{one.test.estimate:+.3f}".replace("-", "\u2212")
    assert chart.x.places == ((1.0, "delta"),)


def test_the_report_says_which_fit_and_which_correction_decided(study):
    words = ("--criterion", "fluency", "--all-pairs")
    how = ("--model", "joint", "--correction", "max-t", "--json", "--system-variances", "common")
    joint = json.loads(run(study, *words, *how).stdout)
    together = StudyWords(study_facts(joint)).test()
    assert "of the ratings of all 5 systems together" in together
    assert "max-t correction" in together
    alone = StudyWords(
        study_facts(json.loads(run(study, *words, "--model", "pairwise", "--json").stdout))
    ).test()
    assert "fitted to the ratings of each pair of systems by itself" in alone
    assert "after Holm's correction over 10 comparisons (Holm 1979)" in alone


@few_fast("model", ["pairwise", "joint"], fast=1)
def test_the_record_counts_what_was_rated_and_how_far_workers_agree(study, model):
    said = json.loads(
        run(study, "--criterion", "fluency", "--all-pairs", "--model", model, "--json").stdout
    )
    table = pd.read_csv(study, dtype=str).query("criterion == 'fluency'")
    assert (said["n_ratings"], said["n_workers"], said["n_items"]) == (
        len(table),
        table["worker"].nunique(),
        table["item"].nunique(),
    )
    outputs = len(table[["item", "system"]].drop_duplicates())
    assert (said["n_outputs"], said["ratings_per_item"]) == (outputs, len(table) / outputs)
    counts = {one["system"]: one["n_ratings"] for one in said["system_means"]}
    assert counts == table["system"].value_counts().to_dict()
    assert (said["scale"]["low"], said["scale"]["high"]) == (0, 1)
    measures = {one["measure"]: one["value"] for one in said["agreement"]["between"]}
    alone = agreement(fluency(study))
    assert measures["Krippendorff's alpha, ordinal"] == alone[0].alpha_ordinal.value
    assert measures["Krippendorff's alpha, interval within beta"] == next(
        one.alpha_interval.value for one in alone if one.system == "beta"
    )


def test_ratings_that_repeat_a_pattern_are_analysed_without_a_warning_of_overflow(tmp_path):
    rows = [f"w{w},i{i},s{s},{1 + (w + i + s) % 5}" for w in range(5) for i in range(6) for s in range(3)]
    path = tmp_path / "regular.csv"
    path.write_text("worker,item,system,rating\n" + "\n".join(rows) + "\n")
    result = CliRunner().invoke(
        main, ["analyze", str(path), "--scale", "1:5", "--model", "joint", "--all-pairs"]
    )
    assert result.exit_code == 0, result.output
    assert "none of 3 differences is shown" in " ".join(result.output.split())
    power = "power --workers 10 --items 30 --effect 0.1 --n-systems 3 --method analytic --pilot"
    result = CliRunner().invoke(main, [*power.split(), str(path)])
    assert result.exit_code == 0, result.output
