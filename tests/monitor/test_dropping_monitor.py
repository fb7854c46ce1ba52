"""A plan whose looks drop systems, walked from its seal to its report, a stage at a time."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli import run

from humeval_power.errors import InputError
from humeval_power.ratings import Ratings, ratings_from_table
from humeval_power.scales import RatingScale
from humeval_power.studies.fit.many_systems import of_common_workers
from humeval_power.studies.looks.repeated import StopWhen
from humeval_power.studies.monitor.dropping import DroppingMonitoring, DropTaken, over_dropping_looks
from humeval_power.studies.monitor.followed import data_of, monitoring_of, take
from humeval_power.studies.plan.files import read_plan
from humeval_power.studies.plan.result_sections import _proof

STUDY = """\
schema = "humeval_power/study/1"
question = "Which is best?"
systems = [{systems}]
[ratings]
scale = "1:5"
[variation]
preset = "low"
[effect]
pattern = "{pattern}"
effect_raw = {effect}
[search]
items_range = [{items}]
workers_range = [12]
ratings_per_item_range = [12]
[cost]
cost_per_rating = 0.1
[looks]
looks = "0.5,0.75,1"
drop_systems = true
"""


def planned(
    place: Path,
    n_systems: int,
    *,
    pattern: str = "one",
    effect: float = 1.0,
    items: int = 24,
    more: str = "",
) -> Path:
    """A sealed plan."""
    names = ", ".join(f'"s{k}"' for k in range(1, n_systems + 1))
    text = STUDY.format(systems=names, pattern=pattern, effect=effect, items=items) + more
    (place / "study.toml").write_text(text)
    found = run(
        "plan", "--study", place / "study.toml", "-o", place / "plan.json", "--json", code=None
    )  # 3: short of its power
    (place / "found.json").write_text(found.stdout)
    return place / "plan.json"


def walked(place: Path, seed: int) -> list[dict[str, Any]]:
    """Stage after stage given out, rated and looked at until the study ends; what monitor said at each look."""
    plan, key, said, stages = place / "plan.json", place / "key.csv", [], list[Any]()
    for look in (1, 2, 3):
        stage, ratings = place / f"stage{look}.csv", place / f"ratings{look}.csv"
        given = run("assign", "--plan", plan, "-o", stage, "--key", key).stdout
        assert "ratings, if no system is dropped. In the table" in " ".join(given.split())
        stages += ["--assignment", stage]
        run("simulate", "--plan", plan, *stages, "--key", key, "--seed", seed, "-o", ratings)
        table = pd.read_csv(ratings)
        table["worker"] = table["worker"].str.removeprefix("rehearsal-")
        table.to_csv(ratings, index=False)
        said.append(json.loads(run("monitor", ratings, "--plan", plan, "--json").stdout))
        if said[-1]["decision"] != "continue":
            break
    return said


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("drop")
    planned(place, 4)
    (place / "said.json").write_text(json.dumps(walked(place, 3)))
    return place


def said_in(folder: Path) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = json.loads((folder / "said.json").read_text())
    return said


def test_the_plan_seals_that_systems_are_dropped_and_what_that_saves(folder: Path) -> None:
    sealed = json.loads((folder / "plan.json").read_text())
    study = {
        name: sealed["study"][name]
        for name in ("drop_systems", "looks_by", "efficacy", "goal", "correction")
    }
    assert study == {
        "drop_systems": True,
        "looks_by": "workers",
        "efficacy": "kim-demets:2",
        "goal": "best",
        "correction": "none",
    }
    plan = read_plan(folder / "plan.json")
    assert plan.drops_systems
    assert 0 < plan.looks.interval_factor < 1
    assert [one.name for one in plan.drops] == ["as planned", "two lead", "all equal"]
    assert plan.drops[0].best_named == plan.predicted.simulated
    assert plan.drops[0].saved > plan.drops[-1].saved
    found = json.loads((folder / "found.json").read_text())
    assert found["looks"]["drops"][0]["stages"] == list(plan.drops[0].stages)
    osf = " ".join(run("report", "--plan", folder / "plan.json", "--form", "osf").stdout.split())
    assert "hold the best with 95 % confidence" in osf
    assert "Nothing is dropped by its rank" in osf
    assert "p-values are not corrected" not in osf


def test_each_stage_has_the_systems_that_are_left_and_whole_blocks(folder: Path) -> None:
    said = said_in(folder)
    assert said[-1]["best"] == "s4"
    gone: set[str] = set()
    key = pd.read_csv(folder / "key.csv").set_index("code")["system"]
    for look, one in enumerate(said, start=1):
        stage = pd.read_csv(folder / f"stage{look}.csv")
        assert set(stage["look"]) == {look}
        systems = stage["code"].map(key)
        assert set(systems) == {"s1", "s2", "s3", "s4"} - gone
        blocks = systems.groupby([stage["worker_slot"], stage["item"]]).nunique()
        assert set(blocks) == {4 - len(gone)}
        orders = stage.groupby("worker_slot")["order"].agg(["min", "max", "size"])
        assert (orders["min"] == 1).all()
        assert (orders["max"] == orders["size"]).all()
        before = gone
        gone = {name for name, at in one["dropped_at"].items() if at}
        assert before <= gone  # who was dropped stays out
        assert set(one["left"]) == {"s1", "s2", "s3", "s4"} - gone
    assert gone
    refused = run("assign", "--plan", folder / "plan.json", "-o", folder / "more.csv", code=2)
    assert "nothing is left to be rated" in refused.stderr


def test_a_look_is_reproduced_from_its_ledger_and_changed_ratings_are_refused(folder: Path) -> None:
    last = len(said_in(folder))
    again = run("monitor", folder / f"ratings{last}.csv", "--plan", folder / "plan.json")
    assert "was taken before" in " ".join(again.stderr.split())
    assert "s4 is shown to be the best of 4 systems" in " ".join(again.stdout.split())
    status = json.loads(run("monitor", "--plan", folder / "plan.json", "--status", "--json").stdout)
    assert status["dropped_at"] == said_in(folder)[-1]["dropped_at"]
    ledger = next(folder.glob("*.jsonl"))
    text = ledger.read_text()
    ledger.write_text(text.replace('"best":"s4"', '"best":"s1"'))
    try:
        refused = run("monitor", "--plan", folder / "plan.json", "--status", code=2)
        assert "chain of looks is broken" in " ".join(refused.stderr.split())
    finally:
        ledger.write_text(text)


def test_the_analysis_and_its_report_say_who_is_the_best_and_who_was_dropped(folder: Path) -> None:
    said = said_in(folder)
    ratings = folder / f"ratings{len(said)}.csv"
    record = json.loads(run("analyze", ratings, "--plan", folder / "plan.json", "--json").stdout)
    assert record["looks"]["best"] == "s4"
    assert record["looks"]["dropped_at"] == said[-1]["dropped_at"]
    assert record["deviations"] == []  # ratings of dropped systems are not missing
    assert record["family_of_tests"]["drop_result"] == "s4 is shown to be the best of 4 systems."
    inference = {(one["first"], one["second"]): one for one in record["looks"]["inference"]}
    for pair in record["pairs"]:
        one = inference[pair["first"], pair["second"]]
        assert pair["estimate"] == pytest.approx(one["estimate"])
        assert pair["significant"] == (one["shown_at"] is not None)
        low, high = one["interval"]
        assert low < one["estimate"] < high
    said_of_it = run("analyze", ratings, "--plan", folder / "plan.json").stdout
    assert "Differences are in points of the scale 1 to 5." in said_of_it
    assert (
        "Differences are in points of the scale 1 to 5, and on [0, 1] beside."
        in said_of_it.partition("\nLooks\n")[2]
    )
    (folder / "analysis.json").write_text(json.dumps(record))
    paper = run("report", folder / "analysis.json", "--plan", folder / "plan.json", "--form", "paper")
    words = " ".join(paper.stdout.split())
    assert "s4 is shown to be the best of 4 systems." in words
    assert "dropped and rated no more" in words
    assert "without correction" not in words
    heds = " ".join(run("report", folder / "analysis.json", "--plan", folder / "plan.json").stdout.split())
    assert "passed its share of alpha" not in heds


# One look after the other, in Python.


def study_ratings(plan_file: Path, means: dict[str, float], *, seed: int, sd: float = 0.05) -> Ratings:
    """All systems rated by all workers."""
    plan = read_plan(plan_file)
    rng = np.random.default_rng(seed)
    workers, items = plan.counts.n_workers, plan.counts.n_items
    own = {(w, s): rng.normal(0, 0.03) for w in range(workers) for s in means}
    rows = [
        (f"w{w:02d}", f"i{i:02d}", s, 1 + 4 * np.clip(means[s] + own[w, s] + rng.normal(0, sd), 0, 1))
        for w in range(workers)
        for i in range(items)
        for s in means
    ]
    table = pd.DataFrame(rows, columns=["worker", "item", "system", "rating"])
    return ratings_from_table(table, scale=RatingScale(1, 5, source="declared"), require_pair=False)


def until(ratings: Ratings, workers: int, gone: dict[str, int]) -> Ratings:
    """The ratings of the first workers, of systems that are gone only those of as many workers."""
    most = np.array([gone.get(name, workers) for name in ratings.system_names])
    return ratings.of_rows(ratings.worker < np.minimum(most[ratings.system], workers))


def test_a_comparison_stays_as_it_was_when_one_of_its_systems_was_dropped(folder: Path) -> None:
    plan = read_plan(folder / "plan.json")
    whole = study_ratings(folder / "plan.json", {"s1": 0.2, "s2": 0.58, "s3": 0.6, "s4": 0.6}, seed=4)
    state = monitoring_of(plan)
    state = take(state, data_of(until(whole, 6, {}), plan))
    assert isinstance(state, DroppingMonitoring)
    assert state.left == ("s2", "s3", "s4")
    then = state.looks[0].data.pairs[0]
    after = take(state, data_of(until(whole, 9, {"s1": 6}), plan))
    assert isinstance(after, DroppingMonitoring)
    assert after.looks[1].data.pairs[0] == then
    assert after.looks[1].pairs[0] == state.looks[0].pairs[0]
    assert after.looks[1].remarks == ()
    first = of_common_workers(until(whole, 9, {"s1": 6}).pair("s1", "s2"))
    assert first.n_workers == 6
    # ratings of a dropped system that come all the same are not used, and it is said
    late = take(state, data_of(until(whole, 9, {}), plan))
    assert late.looks[1].data.pairs[0] == then
    assert "ratings of s1 came or changed after it was dropped" in late.looks[1].remarks[0]
    assert late.left == after.left


def test_systems_that_are_alike_end_as_a_top_group_where_that_is_planned(folder: Path) -> None:
    plan = read_plan(folder / "plan.json")
    whole = study_ratings(folder / "plan.json", {"s1": 0.2, "s2": 0.6, "s3": 0.6, "s4": 0.6}, seed=5)
    start = replace(monitoring_of(plan), stop_when=StopWhen(True, equivalence=0.2))
    state = take(start, data_of(until(whole, 6, {}), plan))
    assert isinstance(state, DroppingMonitoring)
    assert state.looks[0].decision == "stop-equivalence"
    assert state.left == ("s2", "s3", "s4")
    wide = replace(start, stop_when=StopWhen(True, half_width=0.2))
    assert take(wide, data_of(until(whole, 6, {}), plan)).looks[0].decision == "stop-half-width"
    with pytest.raises(InputError, match="no test holds after that"):
        take(state, data_of(until(whole, 9, {"s1": 6}), plan))


def test_where_nobody_is_beaten_all_are_left_and_that_shows_nothing(folder: Path) -> None:
    plan = read_plan(folder / "plan.json")
    whole = study_ratings(folder / "plan.json", {f"s{k}": 0.6 for k in range(1, 5)}, seed=7, sd=0.2)
    state = monitoring_of(plan)
    for workers in (6, 9, 12):
        state = take(state, data_of(until(whole, workers, {}), plan))
    assert isinstance(state, DroppingMonitoring)
    assert state.looks[-1].decision == "end-nothing-shown"
    assert len(state.left) == 4
    assert state.best is None
    shown = [one for one in over_dropping_looks(state) if one.shown_at is not None]
    assert shown == []
    assert all(one.p_value > 0.05 for one in over_dropping_looks(state))


def test_a_look_of_three_workers_drops_nobody(folder: Path) -> None:
    plan = read_plan(folder / "plan.json")
    whole = study_ratings(folder / "plan.json", {f"s{k}": 0.6 for k in range(1, 5)}, seed=7)
    with pytest.raises(InputError, match="3 workers are too few to drop a system by"):
        take(monitoring_of(plan), data_of(until(whole, 3, {}), plan), unplanned="curious")


def test_fewer_workers_at_the_end_use_less_of_the_error(folder: Path) -> None:
    plan = read_plan(folder / "plan.json")
    whole = study_ratings(folder / "plan.json", {f"s{k}": 0.6 for k in range(1, 5)}, seed=7, sd=0.2)
    begun = take(monitoring_of(plan), data_of(until(whole, 6, {}), plan))
    early = take(begun, data_of(until(whole, 8, {}), plan, final=True)).looks[-1]
    full = take(begun, data_of(until(whole, 12, {}), plan)).looks[-1]
    assert isinstance(early, DropTaken)
    assert early.decision == "end-nothing-shown"
    for fewer, all_of_them in zip(early.pairs, full.pairs, strict=True):
        assert fewer.fraction < all_of_them.fraction == 1.0
        assert fewer.nominal < all_of_them.nominal
        assert fewer.drop < all_of_them.drop


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (('looks = "0.5,0.75,1"', 'looks = "0.25,0.6,1"'), "first look has 3 workers"),
        (('looks = "0.5,0.75,1"\n', ""), "needs looks"),
        (('pattern = "one"', 'pattern = "one"\ngoal = "any"'), "looks for the best system"),
        (('"s1", "s2", "s3"', '"s1", "s2"'), "three systems or more"),
    ],
)
def test_a_plan_that_cannot_drop_systems_is_refused_in_words(
    tmp_path: Path, changed: tuple[str, str], words: str
) -> None:
    text = STUDY.format(systems='"s1", "s2", "s3"', pattern="one", effect=1.0, items=24)
    assert changed[0] in text
    (tmp_path / "study.toml").write_text(text.replace(*changed))
    refused = run("plan", "--study", tmp_path / "study.toml", "-o", tmp_path / "plan.json", code=2)
    assert words in " ".join(refused.stderr.split())
    assert not (tmp_path / "plan.json").exists()


@pytest.mark.slow
def test_eight_systems_of_which_four_or_more_are_dropped_end_with_the_best(tmp_path: Path) -> None:
    planned(tmp_path, 8, effect=0.7, items=40)
    said = walked(tmp_path, 14)
    assert said[-1]["best"] == "s8"
    assert len(said) == 3
    assert sum(at is not None for at in said[1]["dropped_at"].values()) >= 4
    ratings = tmp_path / f"ratings{len(said)}.csv"
    assert len(pd.read_csv(ratings)) < 8 * 12 * 40
    run("analyze", ratings, "--plan", tmp_path / "plan.json", "-o", tmp_path / "analysis.json")
    for form in ("paper", "heds", "arr"):
        text = run(
            "report", tmp_path / "analysis.json", "--plan", tmp_path / "plan.json", "--form", form
        ).stdout
        assert "s8" in text


def test_a_plan_that_drops_systems_does_not_blame_its_formula(folder: Path) -> None:
    plan = read_plan(folder / "plan.json")
    far = replace(plan.predicted, analytic=0.99, simulated=0.6, interval=(0.58, 0.62))
    (said,) = _proof(replace(plan, predicted=far))
    assert "rates all systems to the end" in said
