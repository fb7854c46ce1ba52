"""Preferences: the sign test with ties, its exact power, and judgements that are not independent."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import each_case
from cli import run as run_command
from cli import run_json
from click.testing import Result
from scipy import stats

from humeval_power.comparisons.preference.files import read_judgements
from humeval_power.comparisons.preference.latent_scale import design_effect, independent_range
from humeval_power.comparisons.preference.scenario import (
    Preference,
    judgements_for,
    preference_p,
    smallest_gap,
)
from humeval_power.errors import InputError
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.questions import required_n
from tests.reference.golden import shared_golden

TIES = ("excluded", "split", "kept")
TESTS = ("exact", "mid-p", "asymptotic")
EXACT = 1e-12  # enumeration against enumeration


def study(n: int, win: float, loss: float, ties: str = "excluded", test: str = "exact") -> Preference:
    decided = win + loss
    effect = (win - loss) / 2 / (decided if ties == "excluded" else 1)
    return Preference(n, preference=effect, tie_share=1 - decided, ties=ties, test=test)  # type: ignore[arg-type]


# The tests of one table


def test_without_ties_all_treatments_are_the_binomial_test() -> None:
    for won in range(31):
        expected = stats.binomtest(won, 30, 0.5).pvalue
        for ties in TIES:
            found = preference_p(won, 30 - won, 30, ties=ties, test="exact")  # type: ignore[arg-type]
            assert float(found) == pytest.approx(expected, abs=1e-12)


def test_excluded_ties_leave_the_sign_test_of_the_others() -> None:
    found = float(preference_p(45, 25, 100, ties="excluded", test="exact"))
    assert found == pytest.approx(stats.binomtest(45, 70, 0.5).pvalue)


def test_kept_ties_give_the_score_test_of_a_mean() -> None:
    # -1, 0, +1 with mean (W - L) / n and, without a preference, the variance (W + L) / n.
    z = (45 - 25) / math.sqrt(45 + 25)
    found = float(preference_p(45, 25, 100, ties="kept", test="asymptotic"))
    assert found == pytest.approx(2 * stats.norm.sf(z))


def test_split_ties_give_the_naive_variance() -> None:
    found = float(preference_p(45, 25, 100, ties="split", test="asymptotic"))
    assert found == pytest.approx(2 * stats.norm.sf(20 / math.sqrt(100)))
    exact = float(preference_p(45, 24, 100, ties="split", test="exact"))
    # 31 ties: the distance 21 is attained by no count of 100, so 22 is the next.
    assert exact == pytest.approx(2 * stats.binom.cdf(39, 100, 0.5))


def test_a_published_style_table_of_judgements(shared: Path) -> None:
    golden = shared_golden(shared, "10b_clmm_h2h")["h2h"]
    won, lost, n = golden["W"], golden["L"], golden["W"] + golden["L"] + golden["T"]
    for ties, test, expected in (
        ("excluded", "exact", golden["binom_exact_excl"]),
        ("kept", "asymptotic", 2 * stats.norm.sf(golden["z_mcnemar"])),
        ("split", "asymptotic", 2 * stats.norm.sf(golden["z_naive_split"])),
    ):
        found = float(preference_p(won, lost, n, ties=ties, test=test))  # type: ignore[arg-type]
        assert found == pytest.approx(expected, rel=1e-12)


@each_case("test", TESTS)
@each_case("n", [1, 4, 9, 40, 1000])
def test_the_smallest_gap_is_where_the_p_value_passes_alpha(test: str, n: int) -> None:
    gap = smallest_gap(n, test=test, alpha=0.05)  # type: ignore[arg-type]
    p_values = preference_p(np.arange(n + 1), np.zeros(n + 1, dtype=int), n, ties="split", test=test)  # type: ignore[arg-type]
    assert [bool(p <= 0.05) for p in p_values] == [difference >= gap for difference in range(n + 1)]


# Power


def test_the_opening_example_of_card_et_al(shared: Path) -> None:
    # Fig. 1: 65 % prefer B; over 80 % power with 100 people, about 30 % with 25.
    golden = shared_golden(shared, "04_type_ms")
    for table, share in (("binomial_p065", 0.65), ("binomial_p06", 0.6)):
        rows = {row["_row"]: row for row in golden[table]}
        for n in (key for key in rows["size"] if key != "_row"):
            found = Preference(int(n), preference=share - 0.5).computed()
            assert found.rejection_rate == pytest.approx(rows["power_two_sided"][n], abs=EXACT)
            assert found.power == pytest.approx(rows["power_correct_sign"][n], abs=EXACT)
            assert found.type_m == pytest.approx(rows["type_m"][n], rel=1e-10)
            assert found.type_s == pytest.approx(rows["type_s"][n], rel=1e-6)
            size = Preference(int(n), preference=0.0).computed().rejection_rate
            assert size == pytest.approx(rows["size"][n], abs=EXACT)
    assert round(Preference(100, preference=0.15).computed().power, 4) == 0.8276
    assert round(Preference(25, preference=0.15).computed().rejection_rate, 4) == 0.3063


def test_power_with_ties(shared: Path) -> None:
    for row in shared_golden(shared, "10b_clmm_h2h")["h2h_iid_power"]:
        n, win, loss = row["n"], row["pw"], row["pl"]
        for ties, test, field in (
            ("excluded", "exact", "exact_excluded"),
            ("kept", "exact", "exact_excluded"),
            ("excluded", "asymptotic", "asymptotic_excluded"),
            ("kept", "asymptotic", "asymptotic_excluded"),
            ("split", "asymptotic", "naive_split_halfscore"),
        ):
            found = study(n, win, loss, ties, test).computed()
            assert found.rejection_rate == pytest.approx(row[field], abs=EXACT)
        # Ties given to a system at random: a binomial count without ties.
        random = Preference(n, preference=(win - loss) / 2).computed()
        assert random.rejection_rate == pytest.approx(row["ties_randomly_assigned"], abs=EXACT)
        if win > loss:
            needed = judgements_for(win_share=win, loss_share=loss)
            assert needed == pytest.approx(row["n_for_80_connett"])
            assert needed == pytest.approx(row["n_for_80_exclude_formula"])
        else:
            assert judgements_for(win_share=win, loss_share=loss) == math.inf


def test_the_formula_is_near_the_required_size() -> None:
    found = required_n(lambda n: study(n, 0.45, 0.25, "kept", "asymptotic"), highest=1000)
    assert judgements_for(win_share=0.45, loss_share=0.25) == pytest.approx(134.97, abs=0.005)
    assert found.n == pytest.approx(135, abs=6)  # the saw of whole counts


@each_case("ties", TIES)
@each_case("test", TESTS)
def test_power_is_the_sum_over_every_table(ties: str, test: str) -> None:
    n, win, loss = 17, 0.5, 0.2
    scenario = study(n, win, loss, ties, test)
    right = wrong = size = 0.0
    for won in range(n + 1):
        for lost in range(n + 1 - won):
            p = float(preference_p(won, lost, n, ties=ties, test=test))  # type: ignore[arg-type]
            if p <= 0.05:
                chance = stats.multinomial.pmf([won, lost, n - won - lost], n, [win, loss, 1 - win - loss])
                right += chance * (won > lost)
                wrong += chance * (won < lost)
                size += chance * abs(won - lost) / 2 / (won + lost if ties == "excluded" else n)
    found = scenario.computed()
    assert found.power == pytest.approx(right, abs=EXACT)
    assert found.rejection_rate == pytest.approx(right + wrong, abs=EXACT)
    assert found.type_m == pytest.approx(size / (right + wrong) / scenario.true_effect, rel=1e-10)
    assert found.type_s == pytest.approx(wrong / (right + wrong), abs=EXACT)


@each_case("setting", range(20))
def test_enumeration_agrees_with_simulation(setting: int) -> None:
    rng = np.random.default_rng([9, setting])
    win, loss, _tie = rng.dirichlet([4, 3, 3])
    scenario = study(int(rng.integers(10, 1500)), win, loss, TIES[setting % 3], TESTS[setting % 4 % 3])
    exact, drawn = scenario.computed(), estimate_power(scenario, n_simulations=8192, seed=setting)
    # 4.5 standard errors: one of 20 settings x 2 numbers errs with probability below 3e-4.
    for found, expected in ((drawn.power, exact.power), (drawn.rejection_rate, exact.rejection_rate)):
        allowed = 4.5 * math.sqrt(expected * (1 - expected) / 8192) + 1e-4
        assert found == pytest.approx(expected, abs=allowed)
    if exact.power > 0.05:
        assert drawn.type_m == pytest.approx(exact.type_m, rel=0.1)


def test_splitting_ties_with_the_naive_variance_is_cautious() -> None:
    # 70 % ties and no preference: a test of 5 % that rejects .04 %.
    size = study(200, 0.15, 0.15, "split", "asymptotic").computed().rejection_rate
    assert size == pytest.approx(0.000384671757219112, abs=EXACT)
    assert study(200, 0.15, 0.15, "kept", "asymptotic").computed().rejection_rate > 0.045


def test_excluding_ties_changes_the_question() -> None:
    excluded, kept = study(100, 0.45, 0.25, "excluded"), study(100, 0.45, 0.25, "kept")
    assert excluded.true_effect == pytest.approx(0.45 / 0.70 - 0.5)
    assert kept.true_effect == pytest.approx(0.1)
    assert excluded.computed().power == pytest.approx(kept.computed().power)
    for each in (excluded, kept):
        assert (each.win_share, each.loss_share) == pytest.approx((0.45, 0.25))


def test_very_many_judgements_are_approximated_and_say_so() -> None:
    found = study(20_000_000, 0.3502, 0.35, "excluded").computed()
    assert not found.exact
    assert "Duffy" in found.method
    assert found.power == pytest.approx(study(20_000_000, 0.3502, 0.35, "kept").computed().power)
    with pytest.raises(InputError, match="Split ties"):
        study(20_000_000, 0.3502, 0.35, "split").computed()


def test_standard_errors_are_those_of_the_estimates() -> None:
    for ties in TIES:
        drawn = study(400, 0.45, 0.25, ties).draw(4096, seed=3)
        # Mean of estimated variances against the variance of estimates: 1 / sqrt(2 x 4096) relative error.
        assert float((drawn.standard_error**2).mean()) == pytest.approx(drawn.estimate.var(), rel=0.06)


@each_case(
    ("wrong", "said"),
    [
        ({"n_judgements": 0}, "at least one judgement"),
        ({"tie_share": 1.0}, "below 1"),
        ({"preference": 0.6}, "impossible"),
        ({"preference": 0.4, "tie_share": 0.5, "ties": "kept"}, "at most 0.25"),
        ({"ties": "ignored"}, "Choose excluded"),
        ({"test": "t"}, "Choose mid-p"),
        ({"alpha": 0.0}, "alpha must lie"),
    ],
)
def test_impossible_studies_are_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        Preference(**{"n_judgements": 50, "preference": 0.1, **wrong})
    assert said in str(caught.value)


# Judgements that are not independent


def test_independent_judgements_have_a_design_effect_of_one() -> None:
    preference = np.random.default_rng(2).integers(-1, 2, 500).astype(float)
    alone = np.arange(500)
    assert design_effect(alone, alone, preference) == pytest.approx(1.0)
    assert design_effect(alone, alone, np.ones(500)) == 1.0


def test_the_design_effect_is_near_its_expectation() -> None:
    # Variance Tw^2 / m + Ti^2 / n + s^2 / (n k) over that of n k independent judgements, 20 x 50, every
    # worker on every item; a mean of 40 studies, whose spread is about .4.
    rng = np.random.default_rng(4)
    worker, item = np.divmod(np.arange(1000), 50)
    found = []
    for _ in range(40):
        own, of_item = rng.normal(0, 0.4, 20), rng.normal(0, 0.2, 50)
        found.append(design_effect(worker, item, own[worker] + of_item[item] + rng.normal(0, 0.7, 1000)))
    variances = 0.16, 0.04, 0.49
    expected = (0.16 / 20 + 0.04 / 50 + 0.49 / 1000) / (sum(variances) / 1000)
    assert np.mean(found) == pytest.approx(expected, rel=0.12)


def test_independent_judgements_lie_in_their_range_as_often_as_is_said() -> None:
    rng = np.random.default_rng(5)
    worker, item = np.divmod(np.arange(60), 10)
    inside = 0
    for _ in range(100):
        preference = rng.integers(-1, 2, 60).astype(float)
        low, high = independent_range(worker, item, preference, n_shuffles=199)
        inside += low <= design_effect(worker, item, preference) <= high
    assert inside >= stats.binom.ppf(0.001, 100, 0.9)


# The command


def run(*arguments: str, code: int = 0) -> Result:
    return run_command("preference", *arguments, code=code)


def record_of(*arguments: str) -> dict[str, Any]:
    return run_json("preference", *arguments)


def text_of(*arguments: str) -> str:
    result = run(*arguments)
    assert max(map(len, result.output.splitlines())) <= 80
    return result.stdout


def test_the_command_answers_the_four_questions() -> None:
    quick = ("--simulations", "200", "--jobs", "1")
    record = record_of("power", "--n", "100", "--effect", "0.15", *quick)
    assert record["schema"] == "humeval_power/preference_power/1"
    assert record["computed"]["power"] == pytest.approx(0.827584995748751)
    assert "Smallest effect (MDE)" in text_of(
        "mde", "--n", "100", "--tie-share", "0.3", "--tie-rule", "kept"
    )
    assert "n = " in text_of("size", "--effect", "0.15")
    rows = record_of("surface", "--n", "50,100", "--effect", "0.1,0.15")["rows"]
    assert len(rows) == 4


def test_counts_are_tested_with_every_treatment_of_ties() -> None:
    record = record_of("test", "--wins", "45", "--ties", "30", "--losses", "25")
    only = record["comparisons"][0]
    assert record["schema"] == "humeval_power/preference_test/1"
    assert only["tie_share"] == pytest.approx(0.3)
    assert only["p_sign_exact"] == pytest.approx(stats.binomtest(45, 70, 0.5).pvalue)
    assert only["p_ties_kept"] < only["p_ties_split"]
    assert "Report the share of ties" in text_of("test", "--wins", "45", "--ties", "30", "--losses", "25")
    assert "Report the share of ties" not in text_of("test", "--wins", "5", "--losses", "1")


def test_few_judgements_claim_no_dependence_that_chance_would_show(tmp_path: Path) -> None:
    # Every worker and every item is balanced, so the moment estimate is far below one.
    path = tmp_path / "few.csv"
    rows = [f"w{w},i{i},{'B' if (w + i) % 2 else 'A'}" for w in range(4) for i in range(6)]
    path.write_text("worker,item,preference\n" + "\n".join(rows) + "\n")
    text = " ".join(text_of("test", str(path)).split())
    assert "cannot be told from these 24" in text
    assert "not independent" not in text
    only = record_of("test", str(path))["comparisons"][0]
    low, high = only["design_effect_if_independent"]
    assert only["design_effect"] < high
    assert 0 <= low < 1 < high


def test_a_table_without_repeats_is_independent(tmp_path: Path) -> None:
    path = tmp_path / "j.csv"
    path.write_text("worker,item,preference\nw1,i1,win\nw2,i2,loss\nw3,i3,draw\nw4,i4,1\n")
    only = record_of("test", str(path))["comparisons"][0]
    assert only["independent"] is True
    assert only["panel"] is None
    assert (only["wins"], only["ties"], only["losses"]) == (2, 1, 1)


def test_repeats_of_items_alone_ask_for_the_workers(tmp_path: Path) -> None:
    path = tmp_path / "j.csv"
    path.write_text("item,preference\ni1,A\ni1,B\ni2,A\n")
    assert "name the worker and the item" in " ".join(text_of("test", str(path)).split())


def test_a_table_of_counts_gives_a_test_for_each_row(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text("name,wins,ties,losses\nfluency,45,30,25\ncoherence,20,60,20\n")
    assert text_of("test", str(path)).count("sign test, ties excluded, exact") == 2
    assert [each.name for each in read_judgements(path)] == ["fluency", "coherence"]


def test_a_folder_holds_a_row_for_each_comparison_and_the_picture(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text("name,wins,ties,losses\nfluency,45,30,25\n$x$ <b>,0,60,0\n")
    run("test", str(path), "-o", str(tmp_path / "out"))
    names = {each.name for each in (tmp_path / "out").iterdir()}
    assert names == {"index.html", "record.json", "table.csv", "preference.png", "preference.svg"}
    assert len((tmp_path / "out" / "table.csv").read_text().splitlines()) == 3


@each_case(
    ("text", "said"),
    [
        ("wins,losses\n3,x\n", "is not a number. Write a whole number"),
        ("worker,item,preference\nw1,i1,maybe\n", "no preference"),
        ("worker,item\nw1,i1\n", "neither a column of preferences"),
        ("worker,item,preference\nw1,,A\n", "the item is blank"),
        ("worker,item,preference\nw1,i1,A\nW1,i2,B\n", "look like one worker"),
        ("worker,item,winner,order\nw1,i1,A,2\n", "which output was shown first"),
        ("worker,item,winner,order\nw1,i1,left,A\n", "a side is no system"),
    ],
)
def test_tables_that_are_not_understood_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read_judgements(path)


def test_every_problem_of_a_table_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("worker,item,winner,position\n,i1,A,A\nw2,,tie,B\nw3,i3,perhaps,B\nw4,i4,B,sixth\n")
    with pytest.raises(InputError) as caught:
        read_judgements(path)
    places = {(problem.row, problem.column) for problem in caught.value.problems}
    assert places == {(2, "worker"), (3, "item"), (4, "winner"), (5, "position")}


@each_case(("cell", "first"), [("A", -0.5), ("b", 0.5), ("B first", 0.5), ("AB", -0.5), ("B-A", 0.5)])
def test_the_order_of_presentation_is_read(tmp_path: Path, cell: str, first: float) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"worker,item,winner,shown first\nw1,i1,A,{cell}\n")
    (only,) = read_judgements(path)
    assert only.position is not None
    assert only.position.tolist() == [first]


@pytest.mark.parametrize("wrong", [(), ("--wins", "3"), ("t.csv", "--wins", "3", "--losses", "2")])
def test_test_needs_a_table_or_counts(wrong: tuple[str, ...]) -> None:
    run("test", *wrong, code=2)


def test_no_judgements_are_refused() -> None:
    assert "no judgements" in run("test", "--wins", "0", "--losses", "0", code=2).stderr


def test_battles_of_several_systems_are_no_preferences_of_two(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"
    path.write_text("model_a,model_b,winner\nx,y,A\ny,z,B\nz,x,tie\n")
    with pytest.raises(InputError, match="rank battles"):
        read_judgements(path)
    path.write_text("model_a,model_b,winner\nx,y,A\nx,y,B\nx,y,tie\n")
    assert read_judgements(path)[0].n == 3


def _shown_in_both_orders(path: Path) -> list[tuple[str, str, str, str, str]]:
    """8 workers on 12 items, each pair in one of two orders; the choice is a side, a system's name or a tie."""
    rng = np.random.default_rng(3)
    rows = []
    for worker, item in itertools.product(range(8), range(12)):
        shown = ("bart", "pegasus") if (worker + item) % 2 else ("pegasus", "bart")
        choice = rng.choice(["system_a", "B", shown[0], shown[1], "tie"])
        rows.append((f"w{worker}", f"i{item}", *shown, str(choice)))
    lines = ["worker,item,system_a,system_b,choice", *(",".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return rows


def test_two_systems_that_change_places_are_read_by_their_names(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    rows = _shown_in_both_orders(path)
    sides = {"system_a": 0, "B": 1}
    won = [
        choice if choice not in sides else shown[sides[choice]]
        for *_, a, b, choice in rows
        for shown in [(a, b)]
    ]
    judged = read_judgements(path)[0]
    assert (judged.losses, judged.wins, judged.ties) == tuple(
        won.count(name) for name in ("bart", "pegasus", "tie")
    )
    assert judged.position is not None
    assert judged.position.tolist() == [0.5 if row[2] == "pegasus" else -0.5 for row in rows]
    turned = read_judgements(path, systems=("pegasus", "bart"))[0]
    assert (turned.wins, turned.losses) == (judged.losses, judged.wins)
    assert turned.position is not None
    assert turned.position.tolist() == (-judged.position).tolist()


def test_the_place_is_in_the_model_and_the_output_says_which_system_is_which(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    _shown_in_both_orders(path)
    found = run("test", str(path))
    assert "pegasus against bart" in found.output
    assert "Shown first preferred with probability" in " ".join(found.output.split())
    assert "--systems pegasus,bart turns it round" in " ".join(found.output.split())
    path.write_text("system_a,system_b,choice\nx,y,x\ny,x,B\nx,y,tie\ny,x,y\n")
    alone = " ".join(run("test", str(path)).output.split())
    assert "Shown first preferred in 2 of 3 judgements without a tie" in alone


def test_of_several_systems_two_are_named_and_the_others_counted(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"
    path.write_text("model_a,model_b,winner\nx,y,A\ny,z,B\nz,x,tie\ny,x,x\n")
    assert "Name two: --systems x,y; or rank them all" in " ".join(
        run("test", str(path), code=2).stderr.split()
    )
    judged = read_judgements(path, systems=("x", "y"))[0]
    assert (judged.wins, judged.ties, judged.losses) == (0, 0, 2)
    assert "2 rows that compare other systems are left out." in judged.notices
    assert "no system 'q'" in run("test", str(path), "--systems", "x,q", code=2).stderr


def test_import_brings_pairs_under_our_names_and_the_same_is_found_in_them(tmp_path: Path) -> None:
    path, brought = tmp_path / "pairs.csv", tmp_path / "preferences.csv"
    rows = _shown_in_both_orders(path)
    path.write_text(
        path.read_text().replace("worker,item,system_a,system_b", "annotator,prompt,model_1,model_2")
    )
    said = run_command("import", path, "-o", brought)
    assert "96 preferences imported" in said.output
    lines = brought.read_text().splitlines()
    assert lines[0] == "worker,item,system_a,system_b,preference"
    assert {line.rpartition(",")[2] for line in lines[1:]} == {"bart", "pegasus", "tie"}
    assert not any(line.startswith("w0,") for line in lines), "workers have pseudonyms"
    assert len(lines) == 1 + len(rows)
    before, after = (read_judgements(each)[0] for each in (path, brought))
    assert (after.wins, after.ties, after.losses) == (before.wins, before.ties, before.losses)
    assert after.position is not None
    assert before.position is not None
    assert after.position.tolist() == before.position.tolist()
