"""Rehearsals: a planned study as it is assigned, drawn for every family, and refused where it is another's."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import each_case, few_fast
from cli import run, run_json
from planned_studies import (
    HOSTILE,
    TRUTH,
    assigned,
    in_categories,
    of_documents,
    of_systems,
    of_two,
    table,
    with_looks,
    written,
)
from reference.rehearsal_twin import rehearse_slowly

from humeval_power.checking.exports.assigned import assigned_of, whole_work
from humeval_power.errors import InputError
from humeval_power.estimation.fitting import fit
from humeval_power.files.tables import read_ratings
from humeval_power.latent import Latent
from humeval_power.ratings import ratings_from_table
from humeval_power.scales import RatingScale
from humeval_power.simulation.quality_control import Behaviour
from humeval_power.simulation.rehearsal import Habits
from humeval_power.simulation.rehearsal import rehearse as drawn
from humeval_power.simulation.study import Losses
from humeval_power.studies.field.calls import rehearse
from humeval_power.studies.field.result_rehearsal import fieldwork, world_of
from humeval_power.studies.fit.many_systems import fit_and_test
from humeval_power.studies.plan.calls import assign_work
from humeval_power.studies.plan.plan import Plan
from humeval_power.study_counts import StudyCounts

FAMILIES: dict[str, Callable[[], Plan]] = {
    "two systems": of_two,
    "paired by nobody": lambda: of_two(StudyCounts(6, 12, 3, paired=False)),
    "what a worker and an item share": lambda: of_two(parameters=replace(TRUTH, sd_worker_item=0.1)),
    "four systems of hostile names": of_systems,
    "four systems, two criteria": lambda: of_systems(criteria=("fluency", "is it, <b>true</b>?")),
    "four systems, documents": lambda: of_systems(n_documents=4),
    "documents": of_documents,
    "five categories": in_categories,
    "yes or no": lambda: in_categories(
        latent=Latent(thresholds=(0.2,), sd_item_intercept=0.4), scale="0:1"
    ),
    "looks": with_looks,
    "equivalence": lambda: of_two(
        effect=0.0, rule=replace(of_two().rule, alternative="equivalent", margin=0.1)
    ),
    "on 0 to 100": lambda: of_two(scale=replace(of_two().scale, low=0.0, high=100.0, points=None)),
    "no scale": lambda: of_two(scale=None),
}
OF_ONE_PAIR = [name for name in FAMILIES if not name.startswith("four")]
SPOILED = Habits(losses=Losses(missing=0.1, quitting=0.4, at_random=0.2, straight_lining=0.2))


@each_case("name", FAMILIES)
def test_a_rehearsal_has_the_rows_of_the_assignment_and_ratings_of_the_scale(name: str) -> None:
    plan = FAMILIES[name]()
    frame = assigned(plan).to_frame()
    found = rehearse(plan, frame).to_frame()
    n_criteria = max(1, len(plan.criteria))
    shown = frame[frame["kind"] != "check"]
    assert len(found) == n_criteria * len(shown) + int((frame["kind"] == "check").sum())
    for criterion in plan.criteria or (None,):
        mine = found if criterion is None else found[found["criterion"] == criterion]
        mine = mine[mine["kind"] != "check"]
        same = ("item", "system", "code", "batch", "order", "kind", "place")
        for theirs, ours in (("worker_slot", "slot"), *zip(same, same, strict=True)):
            assert mine[ours].astype(str).tolist() == shown[theirs].astype(str).tolist(), ours
    low, high = (0, 1) if plan.scale is None else (plan.scale.low, plan.scale.high)
    rating = found["rating"][found["kind"] != "check"].to_numpy(dtype=float)
    assert np.isfinite(rating).all()
    assert low <= rating.min() < rating.max() <= high
    if plan.scale is not None and plan.scale.points:
        assert np.allclose(rating, np.round(rating))
    assert (found["seconds"] > 0).all()
    checks = found[found["kind"] == "check"]
    assert set(checks["passed"]) <= {0, 1}
    assert checks["rating"].isna().all()
    assert set(found["worker"]) == {f"rehearsal-{slot}" for slot in frame["worker_slot"]}


@few_fast("name", OF_ONE_PAIR, fast=1)
def test_a_rehearsed_table_is_analysed_by_its_plan(name: str, tmp_path: Path) -> None:
    plan = FAMILIES[name]()
    rehearsed = tmp_path / "ratings.csv"
    rehearsed.write_text(str(rehearse(plan, assigned(plan).to_frame()).artefact(".csv")), encoding="utf-8")
    document = "document" if plan.counts.n_documents else None
    ratings = read_ratings(rehearsed, systems=plan.pair, scale=plan.scale or "0:1", document=document)
    assert ratings.n_ratings == plan.design().n_ratings
    assert any("rehearsal" in notice for notice in ratings.notices)


@pytest.mark.parametrize(
    "name",
    [
        *("two systems", "what a worker and an item share", "documents"),
        *("four systems, two criteria", "four systems, documents"),
    ],
)
def test_a_rehearsal_is_that_of_plain_loops(name: str) -> None:
    plan = FAMILIES[name]()
    work = fieldwork(plan, whole_work(assigned_of([(assigned(plan).to_frame(), "assignment")])))
    world = world_of(plan)
    found = drawn(world, work, SPOILED, seed=8, n_criteria=2, response="likert", points=5)
    for criterion in range(2):
        slowly = rehearse_slowly(world, work, SPOILED, seed=8, criterion=criterion, points=5)
        rating, done, passed, seconds = (np.array(column) for column in zip(*slowly, strict=True))
        assert np.allclose(found.rating[criterion], rating, equal_nan=True, atol=1e-12)
        assert found.done.tolist() == done.tolist()
        assert found.passed.tolist() == passed.tolist()
        assert np.allclose(found.seconds, seconds)
    assert 0 < found.done.mean() < 1
    assert len(set(found.kind.tolist())) > 1


def test_the_same_seed_gives_the_same_bytes_and_another_one_others() -> None:
    plan, frame = of_two(), assigned(of_two()).to_frame()
    made = [rehearse(plan, frame, habits=SPOILED, seed=seed).artefact(".csv") for seed in (4, 4, 5)]
    assert made[0] == made[1] != made[2]


def test_checks_are_answered_by_the_point_that_they_ask_for_or_by_another_one() -> None:
    plan = of_two(StudyCounts(6, 60, 6))
    frame = assigned(plan, check_rate=0.2).to_frame()
    is_check = frame["kind"] == "check"
    frame["right"] = ""
    frame.loc[is_check, "right"] = (["1", "4", "5"] * len(frame))[: int(is_check.sum())]
    found = rehearse(plan, frame, habits=Habits(behaviour=Behaviour(passing=0.6))).to_frame()
    checks = found[found["kind"] == "check"]
    right = frame["right"][is_check].astype(float).to_numpy()
    assert ((checks["rating"] == right).to_numpy() == (checks["passed"] == 1).to_numpy()).all()
    assert checks["rating"].between(1, 5).all()
    assert 0 < checks["passed"].mean() < 1


def test_who_stops_stops_after_a_batch() -> None:
    plan = of_two(StudyCounts(6, 30, 6))
    frame = assigned(plan).to_frame()
    found = rehearse(plan, frame, habits=Habits(losses=Losses(quitting=0.9))).to_frame()
    for slot, rows in frame.groupby("worker_slot"):
        done = found[found["slot"] == slot]
        assert done["order"].tolist() == list(range(1, len(done) + 1))
        last = done["batch"].max() if len(done) else 0
        assert len(done) == int((rows["batch"] <= last).sum())
    assert found["slot"].nunique() > 0
    assert len(found) < len(frame)


def test_a_spare_that_is_called_in_changes_nothing_of_what_the_others_did(tmp_path: Path) -> None:
    plan = of_two(StudyCounts(6, 30, 6))
    files = written(tmp_path, plan)
    habits = ("--quitting", 0.5, "--at-random", 0.2, "--straight-lining", 0.2, "--lost", 0.05)
    words = (
        "simulate",
        "--plan",
        files.plan,
        "--key",
        files.key,
        *habits,
        "--assignment",
        files.assignment,
    )
    run(*words, "-o", tmp_path / "before.csv")
    before = table(tmp_path / "before.csv")
    by_slot = before.groupby("slot")["batch"].max().astype(int)
    slot = by_slot.index[by_slot < 4][0]
    spare = assigned(plan, blind=True, takeovers=(("r01", slot, int(by_slot[slot]) + 1),))
    (tmp_path / "spare.csv").write_text(str(spare.artefact(".csv")), encoding="utf-8")
    run(*words, "--assignment", tmp_path / "spare.csv", "-o", tmp_path / "after.csv")
    after = table(tmp_path / "after.csv")
    assert after[after["slot"] != "r01"].reset_index(drop=True).equals(before)
    assert set(after["batch"][after["slot"] == "r01"].astype(int)) <= set(range(int(by_slot[slot]) + 1, 20))


def test_a_slot_that_is_taken_over_ends_before_the_spare_begins() -> None:
    plan = of_two(StudyCounts(6, 30, 6))
    spare = assigned(plan, takeovers=(("r01", "w02", 3), ("r02", "w03", 1))).to_frame()
    found = assigned_of([(spare, "spare"), (assigned(plan).to_frame(), "whole")])
    back = rehearse(plan, found).to_frame()
    assert back["batch"][back["slot"] == "w02"].max() == 2
    assert back["batch"][back["slot"] == "r01"].min() == 3
    assert not (back["slot"] == "w03").any()
    rated = back[back["kind"] == "rating"]
    assert len(rated) == plan.design().n_ratings


def test_what_is_there_at_a_look_is_the_start_of_the_whole(tmp_path: Path) -> None:
    files = written(tmp_path, with_looks())
    words = ("simulate", "--plan", files.plan, "--key", files.key, "--assignment", files.assignment)
    run(*words, "--look", 1, "-o", tmp_path / "one.csv")
    run(*words, "-o", tmp_path / "all.csv")
    one, whole = table(tmp_path / "one.csv"), table(tmp_path / "all.csv")
    assert whole[whole["look"] == "1"].reset_index(drop=True).equals(one)
    assert 0 < len(one) < len(whole)
    refused = run(*words, "--look", 3, code=2)
    assert "looks 1 to 2; got 3" in refused.stderr


def test_a_rehearsed_look_does_not_come_into_the_ledger_of_the_study(tmp_path: Path) -> None:
    files = written(tmp_path / "study", with_looks())
    words = ("simulate", "--plan", files.plan, "--key", files.key, "--assignment", files.assignment)
    run(*words, "--look", 1, "-o", tmp_path / "one.csv")
    ledger = files.plan.with_suffix(".looks.jsonl")
    for typed in ((), ("--ledger", ledger)):
        refused = run("monitor", tmp_path / "one.csv", "--plan", files.plan, *typed, code=2)
        assert "were drawn in a rehearsal" in refused.stderr
        assert "--ledger rehearsal.jsonl" in refused.stderr
    assert not ledger.exists()
    run("monitor", tmp_path / "one.csv", "--plan", files.plan, "--ledger", tmp_path / "rehearsal.jsonl")
    assert (tmp_path / "rehearsal.jsonl").exists()


def test_a_folder_of_a_rehearsal_has_a_plan_of_its_own(tmp_path: Path) -> None:
    files = written(tmp_path / "study", with_looks())
    words = ("simulate", "--plan", files.plan, "--key", files.key, "--assignment", files.assignment)
    run(*words, "-o", tmp_path / "rehearsal/")
    assert (tmp_path / "rehearsal" / "plan.json").read_bytes() == files.plan.read_bytes()
    run(
        "monitor",
        tmp_path / "rehearsal" / "ratings.csv",
        "--plan",
        tmp_path / "rehearsal",
        "--unplanned",
        "a trial",
    )
    assert (tmp_path / "rehearsal" / "plan.looks.jsonl").exists()
    assert not files.plan.with_suffix(".looks.jsonl").exists()


def test_the_coded_table_has_neither_items_nor_systems(tmp_path: Path) -> None:
    files = written(tmp_path, of_systems(criteria=("a", "b")))
    words = ("simulate", "--plan", files.plan, "--key", files.key, "--assignment", files.assignment)
    run(*words, "--coded", "-o", tmp_path / "coded.csv")
    coded = table(tmp_path / "coded.csv")
    assert list(coded) == [
        "worker",
        "slot",
        "batch",
        "order",
        "code",
        "criterion",
        "rating",
        "kind",
        "seconds",
        "passed",
    ]
    text = (tmp_path / "coded.csv").read_text(encoding="utf-8")
    assert not any(name in text for name in HOSTILE)
    run(*words, "-o", tmp_path / "plain.csv")
    plain = table(tmp_path / "plain.csv")
    assert plain[list(coded)].equals(coded)


def test_without_a_key_a_blind_assignment_is_refused_and_an_open_one_is_not(tmp_path: Path) -> None:
    plan = of_two()
    files = written(tmp_path, plan)
    words = ("simulate", "--plan", files.plan, "--assignment")
    refused = run(*words, files.assignment, "-o", tmp_path / "x.csv", code=2)
    assert "names outputs by codes alone" in refused.stderr
    assert "--key FILE" in refused.stderr
    assert not (tmp_path / "x.csv").exists()
    (tmp_path / "open.csv").write_text(str(assigned(plan).artefact(".csv")), encoding="utf-8")
    run(*words, tmp_path / "open.csv", "-o", tmp_path / "x.csv")
    run(*words, files.assignment, "--key", files.key, "-o", tmp_path / "y.csv")
    opened, blind = (table(tmp_path / name).drop(columns="code") for name in ("x.csv", "y.csv"))
    assert opened.equals(blind)


def _cut(files: tuple[Path, ...]) -> None:
    text = files[1].read_text(encoding="utf-8")
    files[1].write_text("".join(text.splitlines(keepends=True)[:-9]), encoding="utf-8")


def _holes(files: tuple[Path, ...]) -> None:
    lines = files[1].read_text(encoding="utf-8").splitlines(keepends=True)
    files[1].write_text("".join(lines[:5] + lines[7:]), encoding="utf-8")


def _other_seed(files: tuple[Path, ...]) -> None:
    files[2].write_text(assigned(of_two(), seed=99).key_csv(), encoding="utf-8")


def _swapped_items(files: tuple[Path, ...]) -> None:
    key = table(files[2])
    key["item"] = key["item"].to_numpy()[::-1]
    key.to_csv(files[2], index=False)


def _doubled(files: tuple[Path, ...]) -> None:
    key = table(files[2])
    pd.concat([key, key.assign(system="new")]).to_csv(files[2], index=False)


def _other_study(files: tuple[Path, ...]) -> None:
    other = assigned(of_two(StudyCounts(7, 14, 3)), blind=True)
    files[1].write_text(str(other.artefact(".csv")), encoding="utf-8")
    files[2].write_text(other.key_csv(), encoding="utf-8")


def _other_systems(files: tuple[Path, ...]) -> None:
    other = assigned(of_two(systems=("old", "newer")), blind=True)
    files[1].write_text(str(other.artefact(".csv")), encoding="utf-8")
    files[2].write_text(other.key_csv(), encoding="utf-8")


def _exchanged(files: tuple[Path, ...]) -> None:
    first, second = files[1].read_bytes(), files[2].read_bytes()
    files[1].write_bytes(second)
    files[2].write_bytes(first)


def _ratings(files: tuple[Path, ...]) -> None:
    files[1].write_text("worker,item,system,rating\na,b,old,3\n", encoding="utf-8")


def _words(files: tuple[Path, ...]) -> None:
    frame = table(files[1])
    frame.loc[3, "batch"], frame.loc[4, "kind"] = "first", "Rating"
    frame.to_csv(files[1], index=False)


@few_fast(
    ("spoil", "said"),
    [
        (_cut, ["ratings; the plan has 72"]),
        (_holes, ["the order of a slot counts 1, 2, 3", "w01"]),
        (_other_seed, ["none of the 24 codes", "that of another study"]),
        (_swapped_items, ["stand for another item in the key"]),
        (_doubled, ["this code stands for another output too"]),
        (
            _other_study,
            ["7 worker slots; the plan has 6", "14 items; the plan has 12", "84 ratings; the plan has 72"],
        ),
        (_other_systems, ["newer"]),
        (_exchanged, ["This looks like a key"]),
        (_ratings, ["worker_slot", "This looks like a table of ratings"]),
        (_words, ["row 5, column 'batch'", "row 6, column 'kind'"]),
    ],
    fast=1,
)
def test_what_is_not_of_this_plan_is_told_at_once(
    spoil: Callable[[tuple[Path, ...]], None], said: list[str], tmp_path: Path
) -> None:
    files = written(tmp_path, of_two())
    spoil(files)
    out = tmp_path / "out.csv"
    refused = run(
        *(
            "simulate",
            "--plan",
            files.plan,
            "--assignment",
            files.assignment,
            "--key",
            files.key,
            "-o",
            out,
        ),
        code=2,
    )
    text = " ".join(refused.stderr.split())
    for words in said:
        assert words in text
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--plan", "{plan}"), "--assignment FILE"),
        (("--plan", "{plan}", "--assignment", "{assignment}", "--workers", 5), "leave out --workers"),
        (
            ("--plan", "{plan}", "--assignment", "{assignment}", "--key", "{key}", "--scale", "1:7"),
            "leave out the scale",
        ),
        (
            ("--plan", "{plan}", "--assignment", "{assignment}", "--key", "{key}", "--points", 7),
            "has 5 points, not 7",
        ),
        (
            ("--plan", "{plan}", "--assignment", "{assignment}", "--key", "{key}", "--look", 1),
            "has no looks",
        ),
        (("--preset", "low", "--workers", 5, "--items", 9, "--coded"), "--plan PATH"),
        (("--preset", "low"), "--workers; --items"),
    ],
)
def test_options_that_do_not_belong_together_are_refused(
    words: tuple[object, ...], said: str, tmp_path: Path
) -> None:
    files = written(tmp_path, of_two())
    typed = [str(word).format(**files._asdict()) for word in words]
    assert said in " ".join(run("simulate", *typed, code=2).stderr.split())


def test_the_world_can_be_another_than_the_plans(tmp_path: Path) -> None:
    files = written(tmp_path, of_two())
    words = ("simulate", "--plan", files.plan, "--key", files.key, "--assignment", files.assignment)
    found = run_json(*words, "--effect-raw", -0.8, "--preset", "high", "--response", "gaussian")
    assert found["effect"] == pytest.approx(-0.2)
    assert found["parameters"]["sd_residual"] != TRUTH.sd_residual
    assert found["response"] == "gaussian"
    assert run_json(*words)["effect"] == pytest.approx(0.1)


def test_the_means_of_several_systems_can_be_others() -> None:
    plan = of_systems()
    assert plan.many is not None
    usual = world_of(plan)
    assert usual.means == plan.many.parameters.means
    none = world_of(plan, effect=0.0)
    assert max(none.means) == pytest.approx(min(none.means))
    twice = world_of(plan, effect=0.2)
    assert max(twice.means) - min(twice.means) == pytest.approx(0.2)
    assert world_of(plan, means=(0.1, 0.2, 0.3, 0.4)).means == (0.1, 0.2, 0.3, 0.4)
    other = world_of(plan, parameters=replace(TRUTH, baseline=0.3, sd_residual=0.3))
    assert other.sd_residual == 0.3
    assert max(other.means) - min(other.means) == pytest.approx(0.1)
    assert math.fsum(other.means) / 4 == pytest.approx(0.3)
    with pytest.raises(InputError, match="of two systems"):
        world_of(of_two(), means=(0.1, 0.2))
    with pytest.raises(InputError, match="one mean for each of the 4"):
        world_of(plan, means=(0.1, 0.2))


def test_a_large_rehearsal_has_the_variances_of_its_plan() -> None:
    plan = of_two(StudyCounts(80, 120, 80))
    frame = assigned(plan, check_rate=0.0, repeat_rate=0.0, batch_size=None).to_frame()
    found = rehearse(plan, frame, response="gaussian", seed=2).to_frame()
    fitted = fit(ratings_from_table(found, systems=plan.pair, scale=RatingScale(-99.0, 99.0)))
    width = 4 / 198
    for name, known in TRUTH.as_dict().items():
        if name.startswith("sd_"):
            assert getattr(fitted.parameters, name) == pytest.approx(width * known, rel=0.25), name
    assert fitted.parameters.difference == pytest.approx(width * 0.1, abs=width * 0.03)


def test_repeats_differ_by_twice_the_residual_variance_and_nothing_else() -> None:
    plan = of_two(StudyCounts(60, 100, 60))
    frame = assigned(plan, check_rate=0.0, repeat_rate=0.2, batch_size=None).to_frame()
    found = rehearse(plan, frame, response="gaussian", seed=2).to_frame()
    first = found[found["kind"] == "rating"].set_index(["slot", "code"])["rating"]
    again = found[found["kind"] == "repeat"].set_index(["slot", "code"])["rating"]
    differences = (again - first.loc[again.index]).to_numpy(dtype=float) / 4
    expected = 2 * TRUTH.sd_residual**2
    error = expected * math.sqrt(2 / len(differences))
    assert abs(np.mean(differences**2) - expected) < 4 * error


def test_checks_and_seconds_are_as_assumed() -> None:
    plan = of_two(StudyCounts(200, 200, 20))
    frame = assigned(plan, check_rate=0.2, repeat_rate=0.0, batch_size=None).to_frame()
    behaviour = Behaviour(passing=0.9, careless_passing=0.3, seconds=30)
    habits = Habits(behaviour=behaviour, losses=Losses(at_random=0.5))
    back = rehearse(plan, frame, habits=habits, seed=2)
    slots = dict.fromkeys(back.work.frame["slot"])
    careless = {slot for slot, kind in zip(slots, back.drawn.kind, strict=True) if kind}
    found = back.to_frame()
    is_careless = found["slot"].isin(careless)
    checks = found["kind"] == "check"
    for mine, share in ((is_careless, 0.3), (~is_careless, 0.9)):
        passed = found["passed"][checks & mine].to_numpy(dtype=float)
        assert abs(passed.mean() - share) < 4 * math.sqrt(share * (1 - share) / len(passed))
    seconds = np.log(found["seconds"][~is_careless].to_numpy())
    assert seconds.mean() == pytest.approx(math.log(30), abs=4 * 0.3 / math.sqrt(100))
    assert seconds.var() == pytest.approx(0.3**2 + 0.5**2, rel=0.15)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", ["two systems", "five categories"])
def test_rehearsed_studies_find_the_effect_as_often_as_the_plan_says(name: str) -> None:
    plan = {"two systems": of_two, "five categories": in_categories}[name](StudyCounts(8, 40, 8))
    found = assigned_of([(assigned(plan, check_rate=0.1, repeat_rate=0.1).to_frame(), "assignment")])
    n = 300
    significant = 0
    for seed in range(n):
        response = "gaussian" if name == "two systems" else None
        back = rehearse(plan, found, response=response, seed=seed).to_frame()
        wide = RatingScale(-99.0, 99.0) if name == "two systems" else plan.scale
        ratings = ratings_from_table(back, systems=plan.pair, scale=wide)
        significant += fit_and_test(ratings, plan.rule)[1].significant
    expected = plan.recomputed_power()
    assert 0.3 < expected < 0.95
    assert abs(significant / n - expected) < 4 * math.sqrt(expected * (1 - expected) / n)


def test_what_assign_work_made_is_taken_as_its_table_is() -> None:
    plan = of_two()
    for blind in (False, True):
        made = assign_work(plan, blind=blind)
        key = made.key() if blind else None
        apart = rehearse(plan, made.to_frame(), key=key).to_frame()
        assert rehearse(plan, made).to_frame().equals(apart)


def test_a_study_file_rehearses_what_its_plan_assumes_and_not_its_pilot(tmp_path: Path) -> None:
    files = written(tmp_path, of_two(StudyCounts(6, 12, 3)))
    words = ("--plan", files.plan, "--assignment", files.assignment, "--key", files.key)
    run("simulate", *words, "-o", tmp_path / "by-plan.csv")
    rows = [
        f"w{w},i{i},{s},{1 + (w + i * p) % 5}"
        for w in range(4)
        for i in range(9)
        for p, s in enumerate("ABC")
    ]
    (tmp_path / "pilot.csv").write_text(
        "\n".join(["worker,item,system,rating", *rows, ""]), encoding="utf-8"
    )
    (tmp_path / "study.toml").write_text(
        'schema = "humeval_power/study/1"\n[files]\npilot = "pilot.csv"\nplan = "plan.json"\n'
        'assignment = ["assignment.csv"]\nkey = "key.csv"\n',
        encoding="utf-8",
    )
    run("simulate", tmp_path / "study.toml", "-o", tmp_path / "by-study.csv")
    assert (tmp_path / "by-study.csv").read_bytes() == (tmp_path / "by-plan.csv").read_bytes()


def test_several_systems_are_rehearsed_as_a_pilot_of_them_says(tmp_path: Path) -> None:
    names = ("base", "large", "small")
    files = written(tmp_path, of_systems(names))
    rng = np.random.default_rng(4)
    pilot = pd.DataFrame(
        [(f"w{w}", f"i{i}", s, rng.integers(1, 6)) for w in range(6) for i in range(12) for s in names],
        columns=["worker", "item", "system", "rating"],
    )
    pilot.to_csv(tmp_path / "pilot.csv", index=False)
    words = ("--plan", files.plan, "--assignment", files.assignment, "--key", files.key)
    run(
        "simulate",
        *words,
        "--pilot",
        tmp_path / "pilot.csv",
        "--scale",
        "1:5",
        "-o",
        tmp_path / "drawn.csv",
    )
    drawn_of = table(tmp_path / "drawn.csv")
    assert set(drawn_of["system"][drawn_of["kind"] == "rating"]) == set(names)
