"""Looks at scores, preferences and accuracy by a sealed plan: from planning to the stop, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import few_fast
from cli import run
from click.testing import Result
from scipy import stats

from humeval_power.studies.plan.files_looks import read_judgement_plan

KINDS = {
    "preference": "preference --n 200 --effect 0.1 --tie-share 0.2",
    "scores": "scores --n 100 --effect 5",
    "accuracy": "accuracy --n 240 --effect 0.08 --agreement 0.7",
}
SIZES = {"preference": (50, 100, 150, 200), "scores": (50, 100, 150, 200), "accuracy": (60, 120, 180, 240)}
COMMON = (
    "--looks 4 --efficacy lan-demets-obrien-fleming --systems old,new --simulations 50 --date 2026-01-02 -q"
)


def judged(kind: str, *, effect: float = 0.0, n: int = 300, seed: int = 1) -> pd.DataFrame:
    """Judgements of nobody twice."""
    rng = np.random.default_rng(seed)
    if kind == "preference":
        chances = [0.4 + effect, 0.4 - effect, 0.2]
        words = rng.choice(["B", "A", "tie"], p=chances, size=n)
        return pd.DataFrame({"worker": [f"w{i}" for i in range(n)], "preference": words})
    if kind == "scores":
        of_new = np.arange(n) % 2 == 1
        score = (75 - rng.gamma(1, 20, n) + 50 * effect * of_new).round(1)
        return pd.DataFrame(
            {
                "worker": [f"w{i}" for i in range(n)],
                "system": np.where(of_new, "new", "old"),
                "score": score,
            }
        )
    old = rng.random(n) < 0.7
    new = np.where(rng.random(n) < 0.7, old, rng.random(n) < 0.7 + effect)
    return pd.DataFrame(
        {"item": [f"i{i}" for i in range(n)], "old": old.astype(int), "new": new.astype(int)}
    )


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("looks")
    for kind, words in KINDS.items():
        run("looks", *words.split(), *COMMON.split(), "-o", folder / f"{kind}.json")
    return {kind: (folder / f"{kind}.json").read_text() for kind in KINDS}


@pytest.fixture
def plans(sealed: dict[str, str], tmp_path: Path) -> dict[str, Path]:
    for kind, text in sealed.items():
        (tmp_path / f"{kind}.json").write_text(text)
    return {kind: tmp_path / f"{kind}.json" for kind in sealed}


def look(plan: Path, table: pd.DataFrame, *words: object) -> Result:
    path = plan.parent / "so_far.csv"
    table.to_csv(path, index=False)
    return run("monitor", path, "--plan", plan, "-q", *words, code=None)


def record(done: Result) -> dict:
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@few_fast("kind", KINDS, fast=1)
def test_a_study_without_a_difference_goes_through_its_looks_to_the_end(kind, plans) -> None:
    table = judged(kind, seed=4)
    for number, size in enumerate(SIZES[kind], start=1):
        found = record(look(plans[kind], table[:size], "--json"))
        assert found["look"]["planned"] == number
        assert found["look"]["fraction"] == pytest.approx(size / SIZES[kind][-1])
    assert found["decision"] == "end-nothing-shown"
    assert found["inference"]["p_value"] > 0.05
    low, high = found["inference"]["interval"]
    assert low < found["inference"]["estimate"] < high
    assert 0 < found["false_positive_chance"] <= 0.053
    so_far = plans[kind].parent / "so_far.csv"
    again = run("monitor", so_far, "--plan", plans[kind], "--json")
    assert "taken before, at the same judgements" in again.stderr
    assert record(again)["looks"] == found["looks"]
    status = run("monitor", "--plan", plans[kind], "--status", "--json", "-q")
    assert record(status)["looks"] == found["looks"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_clear_difference_stops_early(kind, plans) -> None:
    table = judged(kind, effect=0.3)
    taken = []
    for size in SIZES[kind]:
        found = record(look(plans[kind], table[:size], "--json"))
        taken.append(found["decision"])
        if taken[-1] != "continue":
            break
    assert taken[-1] == "stop-success"
    assert len(taken) < 4
    assert found["inference"]["p_value"] < 0.05
    refused = look(plans[kind], table[: SIZES[kind][-1]])
    assert refused.exit_code == 2
    assert "no test holds after that" in refused.stderr


def test_each_look_has_the_test_of_its_plan(plans) -> None:
    for kind in KINDS:
        table = judged(kind)[: SIZES[kind][0]]
        found = record(look(plans[kind], table, "--json"))["look"]["data"]
        if kind == "preference":
            wins, losses = ((table["preference"] == each).sum() for each in "BA")
            assert (found["n_b"], found["n_a"]) == (wins, losses)
            expected = stats.binomtest(wins, wins + losses).pvalue
        elif kind == "scores":
            a, b = (table.loc[table["system"] == each, "score"] for each in ("old", "new"))
            expected = stats.mannwhitneyu(a, b, method="asymptotic").pvalue
            u = stats.mannwhitneyu(b, a).statistic
            assert found["estimate"] == pytest.approx(u / len(a) / len(b) - 0.5)
            assert found["difference"] == pytest.approx(b.mean() - a.mean())
            wald = abs(stats.brunnermunzel(a, b).statistic)
            assert abs(found["estimate"]) / found["standard_error"] == pytest.approx(wald)
        else:
            b, c = ((table["new"] > table["old"]).sum(), (table["new"] < table["old"]).sum())
            less = stats.binom.cdf(min(b, c) - 1, b + c, 0.5)
            expected = 2 * less + stats.binom.pmf(min(b, c), b + c, 0.5)
        assert found["p_value"] == pytest.approx(expected, rel=1e-9)


def test_changed_and_missing_judgements_are_refused(plans) -> None:
    for kind, column in (("preference", "preference"), ("scores", "score"), ("accuracy", "new")):
        table = judged(kind, seed=4)
        record(look(plans[kind], table[: SIZES[kind][0]], "--json"))
        changed = table[: SIZES[kind][1]].copy()
        other = {
            "preference": "tie",
            "scores": 3.5,
            "accuracy": 1 - changed.loc[0, "new"] if column == "new" else 0,
        }
        changed.loc[0, column] = other[kind]
        if kind == "preference":
            changed.loc[0, column] = "tie" if table.loc[0, column] != "tie" else "A"
        done = look(plans[kind], changed)
        assert done.exit_code == 2
        assert "1 judgement of an earlier look with another value now" in done.stderr
        done = look(plans[kind], table[1 : SIZES[kind][1] + 1])
        assert "1 judgement of an earlier look missing now" in done.stderr


def test_rows_without_names_are_told_by_how_many_there_are(plans) -> None:
    table = judged("preference", seed=4)[["preference"]].assign(note="x")
    record(look(plans["preference"], table[:50], "--json"))
    shuffled = table[:100].sample(frac=1, random_state=1)
    assert record(look(plans["preference"], shuffled, "--json"))["look"]["number"] == 2
    done = look(plans["preference"], table[:150].replace({"preference": {"B": "A"}}))
    assert done.exit_code == 2
    assert "missing now" in done.stderr


@pytest.mark.parametrize("kind", ["preference", "scores"])
def test_several_judgements_of_a_worker_are_refused_with_what_to_do(kind, plans) -> None:
    table = judged(kind)[: SIZES[kind][0]]
    table.loc[2, "worker"] = table.loc[0, "worker"]
    done = look(plans[kind], table)
    assert done.exit_code == 2
    said = " ".join(done.stderr.split())
    assert "1 worker with several judgements" in said
    assert "plan a rating study with looks" in said


def test_a_rating_study_is_not_followed_by_a_plan_of_looks(plans) -> None:
    path = plans["scores"].parent / "so_far.csv"
    judged("scores")[:50].to_csv(path, index=False)
    done = run("analyze", path, "--plan", plans["scores"], code=2)
    assert "follow it with 'monitor'" in " ".join(done.stderr.split())


def test_a_ledger_of_another_plan_is_refused(plans) -> None:
    record(look(plans["preference"], judged("preference")[:50], "--json"))
    other = plans["preference"].with_suffix(".looks.jsonl")
    done = look(plans["accuracy"], judged("accuracy")[:60], "--ledger", other)
    assert done.exit_code == 2
    assert "was started for another plan" in done.stderr


def test_a_plan_that_was_changed_by_hand_needs_an_amendment(plans) -> None:
    path = plans["preference"]
    document = json.loads(path.read_text())
    document["preference"]["n_judgements"] = 400
    path.write_text(json.dumps(document))
    done = look(path, judged("preference")[:100])
    assert done.exit_code == 2
    assert "preference.n_judgements: 200 -> 400" in done.stderr
    done = look(path, judged("preference")[:100], "--amend", "The budget was doubled.", "--json")
    assert record(done)["look"]["planned"] == 1
    plan = read_judgement_plan(path)
    assert plan.n == 400
    assert plan.promised is None
    assert json.loads(path.read_text())["history"][0]["reason"] == "The budget was doubled."
    document = json.loads(path.read_text())
    document["looks"]["nominal"][0] = 0.05
    path.write_text(json.dumps(document))
    done = look(path, judged("preference")[:100], "--amend", "We like it.")
    assert "looks.nominal" in done.stderr
    assert "is computed, not set" in done.stderr


def test_more_judgements_than_planned_are_more_information(plans) -> None:
    table = judged("preference", seed=4)
    for size in (50, 100, 150):
        record(look(plans["preference"], table[:size], "--json"))
    last = record(look(plans["preference"], table[:260], "--json"))["look"]
    assert last["fraction"] == pytest.approx(1.3)
    assert any("taken at 130 %" in remark for remark in last["remarks"])


def test_an_early_end_and_an_unplanned_look_spend_their_part(plans) -> None:
    table = judged("preference", seed=4)
    plan = plans["preference"]
    extra = record(look(plan, table[:40], "--unplanned", "A reviewer asked.", "--json"))["look"]
    assert (extra["planned"], extra["reason"]) == (None, "A reviewer asked.")
    ended = record(look(plan, table[:120], "--final", "--json"))
    assert ended["decision"] == "end-nothing-shown"
    assert ended["look"]["fraction"] == pytest.approx(0.6)
