"""The command `monitor`: looks as planned, a ledger that nothing can bend, and the plan's looks in files."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest
from cases import each_case, few_fast
from cli import run
from click.testing import Result
from seven import seven

from humeval_power.asking.study_values import StudyValues
from humeval_power.checking.rehearsed import NOTICE
from humeval_power.designs import crossed
from humeval_power.estimation.crossed import fits
from humeval_power.estimation.fitting import fit
from humeval_power.ratings import ratings_from_table
from humeval_power.rules import DEFAULT_RULE, ComparisonFamily, FamilyOfTests
from humeval_power.saying.render import as_markdown
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import simulate
from humeval_power.studies.analyze.family import LooksTaken
from humeval_power.studies.analyze.result import AnalysisResult
from humeval_power.studies.fit.many_systems import SystemsAnalysis, SystemsComparison
from humeval_power.studies.fit.wald import effect_test
from humeval_power.studies.loading import load_ratings
from humeval_power.studies.looks.boundaries import boundaries
from humeval_power.studies.looks.replicates import nested_designs
from humeval_power.studies.looks.stagewise import StagewiseResult
from humeval_power.studies.looks.stopping_rule import StoppingRule, efficacy_of
from humeval_power.studies.monitor.files import LedgerEntry, read_ledger, read_secret, sealed_line
from humeval_power.studies.monitor.ledger_fields import look_content, start_content
from humeval_power.studies.monitor.state import LookData, TakenLook
from humeval_power.studies.monitor.step import study_monitoring
from humeval_power.studies.monitor.taking import monitor
from humeval_power.studies.plan.files import read_plan, read_plan_file
from humeval_power.studies.plan.result import plan_document
from humeval_power.studies.power.formula import effect_precision

TRUTH = seven(0.55, 0.02, 0.08, 0.05, 0.12, 0.1, 0.18)
WORKERS, ITEMS = 10, 30


def ratings(effect: float, *, seed: int) -> pd.DataFrame:
    made = simulate(
        TRUTH.with_difference(effect), crossed(WORKERS, ITEMS), seed=seed, response="likert", points=5
    )
    return made.to_frame(RatingScale(1, 5, points=5)).replace({"system": {"A": "old", "B": "new"}})


def part(table: pd.DataFrame, n_items: int) -> pd.DataFrame:
    return table[table["item"].isin(sorted(table["item"].unique())[:n_items])]


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A plan of 10 workers, 30 items and 3 looks, planned on the command line from a pilot."""
    folder = tmp_path_factory.mktemp("plan")
    ratings(0.02, seed=1).to_csv(folder / "pilot.csv", index=False)
    words = "--scale 1:5:5 --systems old,new --effect 0.1 --items 30:30 --workers 10:10 --ratings-per-item 10:10"
    words += " --cost-per-rating 0.1 --looks 3 --futility p:0.5 --simulations 100 --date 2026-01-02 -q"
    done = run("plan", folder / "pilot.csv", *words.split(), "-o", folder / "plan.json")
    assert done.exit_code in (0, 3), done.output
    return (folder / "plan.json").read_text()


@pytest.fixture
def plan(sealed: str, tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(sealed)
    return path


def look(plan: Path, table: pd.DataFrame, *words: object) -> Result:
    path = plan.parent / "so_far.csv"
    table.to_csv(path, index=False)
    return run("monitor", path, "--plan", plan, "-q", *words, code=None)


def decision(done: Result) -> str:
    assert done.exit_code == 0, done.output
    return str(json.loads(done.stdout)["decision"])


def test_the_plan_states_its_looks_and_what_they_are_expected_to_take(plan: Path) -> None:
    made = read_plan(plan)
    assert made.looks is not None
    state = study_monitoring(made)
    designs = nested_designs(made.design(), made.looks.looks).designs
    variances = [effect_precision(made.parameters, design).variance for design in designs]
    assert state.fractions == pytest.approx([variances[-1] / variance for variance in variances])
    rule = StoppingRule(efficacy_of("lan-demets-obrien-fleming"), None, 0.05)
    stated = json.loads(plan.read_text())["promise"]["looks"]
    assert stated["nominal"] == pytest.approx(boundaries(rule, state.fractions).nominal, rel=1e-9)
    assert made.expected is not None
    assert made.expected.ratings_if_none < made.design().n_ratings


def test_computed_looks_cannot_be_set_by_hand(plan: Path) -> None:
    document = json.loads(plan.read_text())
    document["promise"]["looks"]["nominal"][0] = 0.05
    plan.write_text(json.dumps(document))
    done = look(plan, part(ratings(0.0, seed=3), 10))
    assert done.exit_code == 2
    assert "looks.nominal" in done.stderr


def test_a_study_goes_through_its_looks_to_the_end(plan: Path) -> None:
    table = ratings(0.06, seed=20)
    seen = [decision(look(plan, part(table, n), "--json")) for n in (10, 20, 30)]
    assert seen[0] == seen[1] == "continue"
    assert seen[2].startswith("end-")
    record = json.loads(run("monitor", "--status", "--plan", plan, "--json", "-q").stdout)
    assert [each["planned"] for each in record["looks"]] == [1, 2, 3]
    assert record["inference"]["interval"][0] < record["inference"]["estimate"]
    assert [entry.kind for entry in read_ledger(plan.with_suffix(".looks.jsonl"))] == ["start"] + [
        "look"
    ] * 3


def test_a_large_effect_stops_the_study_and_the_next_look_is_refused(plan: Path) -> None:
    table, ledger = ratings(0.3, seed=4), plan.with_suffix(".looks.jsonl")
    done = look(plan, part(table, 10))
    # a small p is not printed to the digits of its boundary but said to pass it
    assert "p < 0.001; success needs p <= 0." in done.stdout
    assert ": passed" in said(done)
    assert decision(look(plan, part(table, 10), "--json")) == "stop-success"
    for content in (ledger.read_bytes(), ledger.read_bytes().removesuffix(b"\n")):
        ledger.write_bytes(content)  # also where an editor ate the last newline
        done = look(plan, part(table, 20))
        assert done.exit_code == 2
        assert "was stopped for success at look 1" in done.stderr


def test_the_same_look_again_changes_nothing(plan: Path) -> None:
    table = part(ratings(0.06, seed=20), 10)
    first = look(plan, table)
    before = plan.with_suffix(".looks.jsonl").read_bytes()
    again = look(plan, table.sample(frac=1.0, random_state=1))  # the order of rows is no change
    assert again.stdout == first.stdout
    assert plan.with_suffix(".looks.jsonl").read_bytes() == before


def test_ratings_of_an_earlier_look_may_neither_change_nor_vanish(plan: Path) -> None:
    table = ratings(0.06, seed=20)
    look(plan, part(table, 10))
    before = plan.with_suffix(".looks.jsonl").read_bytes()
    bent = part(table, 20).copy()
    row = bent.index[0]
    bent.loc[row, "rating"] = 1 if bent.loc[row, "rating"] > 2 else 5
    done = look(plan, bent.drop(bent.index[3]))
    assert done.exit_code == 2
    assert "1 rating of an earlier look with another value now: worker 'w01', item 'i01'" in " ".join(
        done.stderr.split()
    )
    assert "1 rating of an earlier look missing now" in " ".join(done.stderr.split())
    assert plan.with_suffix(".looks.jsonl").read_bytes() == before


def test_systems_named_after_the_plan_cannot_change_places_between_looks(tmp_path: Path) -> None:
    pilot, path = tmp_path / "pilot.csv", tmp_path / "plan.json"
    ratings(0.02, seed=1).replace({"system": {"old": "A", "new": "B"}}).to_csv(pilot, index=False)
    words = "--scale 1:5:5 --effect 0.1 --items 30:30 --workers 10:10 --ratings-per-item 10:10 --looks 3 -q"
    run("plan", pilot, *words.split(), "--cost-per-rating", 0.1, "--simulations", 20, "-o", path)
    table = ratings(0.06, seed=20)
    assert look(path, part(table, 10), "--systems", "old,new").exit_code == 0
    ledger = path.with_suffix(".looks.jsonl").read_bytes()
    done = look(path, part(table, 20), "--systems", "new,old")
    assert done.exit_code == 2
    assert "of an earlier look with another value now" in " ".join(done.stderr.split())
    assert path.with_suffix(".looks.jsonl").read_bytes() == ledger
    assert look(path, part(table, 20), "--systems", "old,new").exit_code == 0


def test_a_look_too_early_leaves_no_ledger_behind(plan: Path) -> None:
    done = look(plan, part(ratings(0.06, seed=20), 5))
    assert done.exit_code == 2
    assert "Look 1 is due at 33.3 % of the items" in done.stderr
    assert not plan.with_suffix(".looks.jsonl").exists()


def test_an_early_end_claims_no_more_information_than_there_is(plan: Path) -> None:
    small = ratings(0.02, seed=3)
    decision(look(plan, part(small, 10), "--json"))
    done = look(plan, part(small, 25), "--final")
    said = " ".join(done.stdout.split())
    assert "3 of 3 planned, due at 100 % of the items" in said
    assert "100.0 % of the planned information" not in said
    assert "an early end may have been chosen by what was seen" in said


def test_a_folder_that_is_there_already_is_refused_before_the_look_is_taken(plan: Path) -> None:
    (plan.parent / "look").mkdir()
    (plan.parent / "look" / "index.html").touch()
    refused = look(plan, part(ratings(0.02, seed=3), 10), "-o", plan.parent / "look")
    assert refused.exit_code == 2
    assert not plan.with_suffix(".looks.jsonl").exists()


def test_power_of_a_plan_with_looks_says_that_it_is_for_one_test(plan: Path) -> None:
    done = run("power", "--plan", plan, "--method", "analytic")
    assert "This is the power of one test at the planned end." in done.stderr
    promised = json.loads(plan.read_text())["promise"]["analytic"]
    assert f"it promises {promised:.3f} by formula" in " ".join(done.stderr.split())


@each_case("typed", ["--alpha 0.01", "--ratings-per-item 2", "--response likert", "--workers 5"])
def test_what_a_plan_says_cannot_be_typed_beside_it(typed: str, plan: Path) -> None:
    refused = run("power", "--plan", plan, *typed.split(), code=2)
    assert f"leave out {typed.split()[0]}." in " ".join(refused.stderr.split())


def test_planned_looks_are_not_listed_as_deviations_on_the_page(plan: Path) -> None:
    page = as_markdown(plan_document(read_plan(plan)))
    assert "at other times than the planned looks" in page
    assert "before all ratings are in" not in page


def test_paragraphs_that_tell_the_pilot_as_the_study_are_warned_of(plan: Path) -> None:
    pilot, fitted = plan.parent / "pilot.csv", plan.parent / "fitted.json"
    ratings(0.02, seed=1).to_csv(pilot, index=False)
    words = ["--scale", "1:5:5", "--systems", "old,new", "-q", "-o", fitted]
    run("fit", pilot, *words)
    done = run("report", "--form", "paper", "--parameters", fitted, "--plan", plan)
    assert "these are the ratings of the pilot" in " ".join(done.stderr.split())


def test_the_boundary_of_the_last_look_decides_and_not_alpha(tmp_path: Path) -> None:
    ratings(0.4, seed=1).to_csv(tmp_path / "ratings.csv", index=False)
    study = load_ratings(str(tmp_path / "ratings.csv"), StudyValues({}))
    fitted = fit(study)
    tested = effect_test(fitted, DEFAULT_RULE)
    assert tested.significant
    looks = cast(LooksTaken, SimpleNamespace(shown=False))
    comparison = SystemsComparison("old", "new", fitted, tested, tested.p_value)
    alone = FamilyOfTests(ComparisonFamily(correction="none"), 1)
    analysis = SystemsAnalysis((comparison,), (), alone)
    found = AnalysisResult(ratings=study, analysis=analysis, agreement={}, looks=looks)
    found.__dict__["sequential"] = StagewiseResult(2, 0.061, 0.09, (-0.01, 0.2), 0.95, tested.estimate)
    assert "No difference is shown between new and old (p = 0.061 over all looks)" in found.decision
    assert "is better than" not in found.decision


def test_a_plan_without_looks_says_how_to_plan_them(tmp_path: Path) -> None:
    words = "--preset low --effect 0.2 --items 20 --workers 6 --cost-per-rating 1 --simulations 20 -q"
    other = tmp_path / "other.json"
    run("plan", *words.split(), "-o", other, code=None)
    done = run("monitor", "--status", "--plan", other, code=2)
    assert "The plan has no looks" in done.stderr


def test_text_fits_the_terminal_and_a_folder_has_page_record_table_and_picture(
    plan: Path, tmp_path: Path
) -> None:
    table, out = ratings(0.06, seed=20), tmp_path / "look"
    assert max(map(len, look(plan, part(table, 10)).stdout.splitlines())) <= 80
    done = look(plan, part(table, 20), "-o", out)
    assert done.exit_code == 0, done.output
    names = ["index.html", "looks.png", "looks.svg", "record.json", "table.csv"]
    assert sorted(path.name for path in out.iterdir()) == names
    rows = pd.read_csv(out / "table.csv")
    record = json.loads((out / "record.json").read_text())
    assert rows["p_value"].tolist() == pytest.approx([each["data"]["p_value"] for each in record["looks"]])
    assert record["sources"][0]["name"] == plan.name


def test_the_call_decides_as_the_command_does_and_writes_nothing(plan: Path) -> None:
    table, sealed_plan = ratings(0.06, seed=20), read_plan(plan)
    state = None
    for n_items in (10, 20):
        record = json.loads(look(plan, part(table, n_items), "--json").stdout)
        seen = ratings_from_table(
            part(table, n_items).astype(str), scale=RatingScale(1, 5, points=5), systems=("old", "new")
        )
        found = monitor(seen, sealed_plan, before=state)
        state = found.state
        assert found.look is not None
        assert found.look.decision == record["decision"]
        assert found.look.nominal == pytest.approx(record["look"]["nominal"], rel=1e-12)
        assert found.look.data.p_value == pytest.approx(record["look"]["data"]["p_value"], rel=1e-9)
        assert found.content()["ledger"] is None


@each_case(
    ("words", "said"),
    [
        ("--looks 0.5,0.4,1", "looks must increase"),
        ("--looks some", "--looks is a number such as 3"),
        ("--looks 1", "One look is a plain study"),
        ("--looks 3 --efficacy fast", "fast"),
        ("--looks 2 --alternative equivalent --margin 0.1", "not for a margin"),
        ("--looks 2 --lost 0.1", "cannot be simulated together"),
        ("--looks 2 --looks-by blocks", "blocks"),
    ],
)
def test_looks_that_cannot_be_planned_are_refused(words: str, said: str, tmp_path: Path) -> None:
    size = "--preset low --effect 0.05 --items 20 --workers 6 --cost-per-rating 1 --simulations 20 -q"
    done = run("plan", *size.split(), *words.split(), "-o", tmp_path / "plan.json", code=2)
    assert said in " ".join(done.stderr.split())
    assert not (tmp_path / "plan.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["workers", "ratings"])
def test_looks_may_come_by_workers_or_ratings(kind: str, tmp_path: Path) -> None:
    size = "--preset low --effect 0.1 --items 20 --workers 12 --ratings-per-item 12 --cost-per-rating 1 -q"
    words = f"{size} --looks 2 --looks-by {kind} --simulations 20"
    assert run("plan", *words.split(), "-o", tmp_path / "plan.json", code=None).exit_code in (0, 3)
    state = study_monitoring(read_plan(tmp_path / "plan.json"))
    assert state.shares == (0.5, 1.0)
    assert state.fractions[0] > 0.45  # half of the ratings carry about half of the information or more
    run("assign", "--plan", tmp_path / "plan.json", "-o", tmp_path / "work.csv", "-q")
    table = pd.read_csv(tmp_path / "work.csv")
    assert table["look"].value_counts().tolist() == [240, 240]


def test_the_work_comes_in_the_order_of_the_looks(plan: Path, tmp_path: Path) -> None:
    done = run("assign", "--plan", plan, "-o", tmp_path / "work.csv")
    table = pd.read_csv(tmp_path / "work.csv")
    assert table.groupby("look")["item"].nunique().tolist() == [10, 10, 10]
    assert table.groupby("worker_slot")["look"].agg(lambda looks: looks.is_monotonic_increasing).all()
    assert done.stdout.startswith("Who rates what when")
    printed = run("assign", "--plan", plan).stdout
    assert "collect all of one look before the next" in " ".join(printed.split())


@pytest.mark.long
@pytest.mark.slow
def test_a_monitor_killed_at_any_moment_loses_and_doubles_no_look(plan: Path) -> None:
    table = part(ratings(0.06, seed=20), 10)
    path = plan.parent / "so_far.csv"
    table.to_csv(path, index=False)
    command = [sys.executable, "-m", "humeval_power.doors.terminal.main", "monitor", str(path)]
    command += ["--plan", str(plan), "-q"]
    choose = random.Random(3)
    for _ in range(6):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(choose.uniform(1.0, 4.0))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        entries = read_ledger(plan.with_suffix(".looks.jsonl"))
        assert sum(entry.kind == "look" for entry in entries) <= 1
    assert subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0
    entries = read_ledger(plan.with_suffix(".looks.jsonl"))
    assert [entry.kind for entry in entries] == ["start", "look"]


def said(done: Result) -> str:
    return " ".join((done.stdout + done.stderr).split())


def test_a_lost_secret_is_said_and_can_be_replaced_by_a_recorded_one(plan: Path) -> None:
    table, ledger = ratings(0.06, seed=20), plan.with_suffix(".looks.jsonl")
    first = look(plan, part(table, 10))
    entries = read_ledger(ledger)
    secret_file = plan.with_suffix(".looks.secret")
    secret = read_secret(secret_file)
    assert secret is not None
    assert entries[0].content["secret"] == secret.fingerprint
    assert secret.key.hex() not in ledger.read_text()
    assert f"2 lines, the last with SHA-256 {entries[-1].sha256}" in said(first)
    assert "who holds the secret can seal other looks anew" in said(first)
    before = ledger.read_bytes()
    kept = secret_file.read_text()
    secret_file.write_text(kept.replace(kept[-9:-1], "00000000"))
    wrong = look(plan, part(table, 20))
    assert wrong.exit_code == 2
    assert "is another secret" in said(wrong)
    secret_file.unlink()
    lost = look(plan, part(table, 20))
    assert lost.exit_code == 2
    assert "the chain of looks holds without it" in said(lost)
    assert ledger.read_bytes() == before
    assert not secret_file.exists()
    status = run("monitor", "--status", "--plan", plan)
    assert "is missing, the secret of" in said(status)
    record = look(plan, part(table, 20), "--new-secret", "the disk broke", "--json")
    assert record.exit_code == 0, record.output
    document = json.loads(record.stdout)
    assert "(the disk broke)" in document["look"]["remarks"][-1]
    assert [entry.kind for entry in read_ledger(ledger)] == ["start", "look", "secret", "look"]
    assert document["seal"]["sha256"] == read_ledger(ledger)[-1].sha256
    bent = part(table, 20).copy()
    bent.loc[bent.index[0], "rating"] = 6 - bent.loc[bent.index[0], "rating"]
    bent.loc[bent.index[1], "rating"] = 1 + bent.loc[bent.index[1], "rating"] % 5
    assert "of an earlier look with another value now" in said(look(plan, bent))


def test_without_the_secret_an_analysis_compares_sums_and_says_so(plan: Path) -> None:
    seen = part(ratings(0.4, seed=2), 10)
    assert decision(look(plan, seen, "--json")) == "stop-success"
    done = run("analyze", plan.parent / "so_far.csv", "--plan", plan, "-q")
    assert "Deviations from the plan None." in said(done)  # stopping at a planned look is no deviation
    plan.with_suffix(".looks.secret").unlink()
    done = run("analyze", plan.parent / "so_far.csv", "--plan", plan)
    assert "only counts, estimate and SE were compared" in said(done)
    assert "Deviations from the plan None." not in said(done)
    other = seen.copy()
    other.loc[other.index[0], "rating"] = 1 + other.loc[other.index[0], "rating"] % 5
    other.to_csv(plan.parent / "so_far.csv", index=False)
    refused = run("analyze", plan.parent / "so_far.csv", "--plan", plan, code=2)
    assert "these are not the ratings that the last look saw" in said(refused)


def sealed_anew(ledger: Path, change: Callable[[dict[str, Any]], None], *, keep: bool) -> None:
    """Change the first look, and seal the chain anew without the secret; `keep` the old seals by the secret."""
    entries = read_ledger(ledger)
    contents = [(entry.kind, json.loads(json.dumps(entry.content))) for entry in entries]
    change(contents[1][1])
    write_chain(ledger, contents)
    if keep:
        lines = [json.loads(line) for line in ledger.read_text().splitlines()]
        for line, entry in zip(lines, entries, strict=True):
            line["hmac"] = entry.hmac
        text = (
            json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False) for line in lines
        )
        ledger.write_text("".join(f"{line}\n" for line in text))
    assert len(read_ledger(ledger)) == len(entries)  # the chain itself holds


def better(content: dict[str, Any]) -> None:
    content["look"]["data"].update(p_value=0.001, estimate=0.3)


@pytest.mark.parametrize("keep", [False, True])
def test_a_look_that_was_changed_and_sealed_anew_is_noticed(plan: Path, keep: bool) -> None:
    table, ledger = ratings(0.06, seed=20), plan.with_suffix(".looks.jsonl")
    look(plan, part(table, 10))
    sealed_anew(ledger, better, keep=keep)
    before = ledger.read_bytes()
    for done in (
        run("monitor", "--status", "--plan", plan, code=2),
        look(plan, part(table, 10)),
        look(plan, part(table, 20)),
    ):
        assert done.exit_code == 2
        assert "line 2 is not sealed with the secret of this study" in said(done).replace(
            "line 1", "line 2"
        )
    assert ledger.read_bytes() == before
    plan.with_suffix(".looks.secret").unlink()
    status = run("monitor", "--status", "--plan", plan)
    assert "its lines could have been sealed anew" in said(status)


def test_an_analysis_notices_a_look_that_was_sealed_anew_or_says_that_it_could_be(plan: Path) -> None:
    assert decision(look(plan, part(ratings(0.4, seed=2), 10), "--json")) == "stop-success"
    ledger, words = (
        plan.with_suffix(".looks.jsonl"),
        ("analyze", plan.parent / "so_far.csv", "--plan", plan),
    )

    def later(content: dict[str, Any]) -> None:
        content["time"] = "2020-01-02T00:00:00+00:00"

    sealed_anew(ledger, later, keep=True)
    refused = run(*words, code=2)
    assert "is not sealed with the secret of this study" in said(refused)
    plan.with_suffix(".looks.secret").unlink()
    done = run(*words)
    assert "could have been sealed anew" in said(done)


def test_a_new_secret_seals_what_was_there_from_then_on(plan: Path) -> None:
    table, ledger = ratings(0.06, seed=20), plan.with_suffix(".looks.jsonl")
    look(plan, part(table, 10))
    plan.with_suffix(".looks.secret").unlink()
    record = look(plan, part(table, 20), "--new-secret", "the disk broke", "--json")
    assert (
        "the lines before could have been sealed anew" in json.loads(record.stdout)["look"]["remarks"][-1]
    )
    run("monitor", "--status", "--plan", plan)
    sealed_anew(ledger, better, keep=True)
    refused = run("monitor", "--status", "--plan", plan, code=2)
    assert "line 3 is not sealed with the secret of this study" in said(refused)


def test_a_look_at_a_rehearsal_begins_with_it(plan: Path) -> None:
    table = part(ratings(0.06, seed=20), 10)
    for name, mark in (("rehearsal", "rehearsal-"), ("study", "p-")):
        changed = table.assign(worker=mark + table["worker"].astype(str))
        changed.to_csv(plan.parent / f"{name}.csv", index=False)
        words = (
            plan.parent / f"{name}.csv",
            "--plan",
            plan,
            "--ledger",
            plan.parent / f"{name}.jsonl",
            "-q",
        )
        printed = run("monitor", *words).stdout
        assert (NOTICE in printed) is (name == "rehearsal")


def test_monitor_leaves_a_file_that_is_no_ledger_as_it_is(plan: Path) -> None:
    path, content = plan.parent / "other", b"my notes\nsecond line without its end"
    path.write_bytes(content)
    before = sorted(each.name for each in plan.parent.iterdir())
    for words in (["--status"], [plan.parent / "pilot.csv", "--scale", "1:5:5"]):
        part(ratings(0.06, seed=20), 10).to_csv(plan.parent / "pilot.csv", index=False)
        done = run("monitor", *words, "--plan", plan, "--ledger", path, "-q", code=2)
        assert "is no ledger of looks" in said(done)
    assert path.read_bytes() == content
    assert sorted(each.name for each in plan.parent.iterdir()) == sorted([*before, "pilot.csv"])


def good_lines(plan: Path) -> list[tuple[str, dict[str, object]]]:
    sealed = read_plan_file(plan)
    start = study_monitoring(sealed.plan)
    data = LookData(200, 10, 10, 1 / 3, 90.0, 0.06, 0.1, 12.0, 0.5)
    taken = TakenLook(1, 1, data, 0.4, 0.001, 1.0, "continue", {"design": 0.5, "trend": 0.2, "null": 0.1})
    return [
        ("start", start_content(sealed.checksum, start, RatingScale(1, 5, points=5), "0" * 16)),
        ("look", look_content(taken, new_rows={"a" * 16: "b" * 16}, time="2026-01-02")),
    ]


WRONG = [
    (0, "scale", "1 to 5"),
    (0, "scale", [5, 1]),
    (0, "shares", {"a": 1}),
    (0, "shares", [0.5, 0.4]),
    (0, "factor", None),
    (0, "plan_sha256", 7),
    (0, "secret", "x"),
    (0, "maximum_information", True),
    (1, "look", []),
    (1, "look.data", "none"),
    (1, "look.data.p_value", "0.01"),
    (1, "look.data.p_value", 1.5),
    (1, "look.data.n_ratings", 2.5),
    (1, "look.data.standard_error", 0),
    (1, "look.data.df", -1),
    (1, "look.data.final", 1),
    (1, "look.number", 2),
    (1, "look.planned", "first"),
    (1, "look.decision", "stop"),
    (1, "look.conditional_power", {"design": None}),
    (1, "look.remarks", "late"),
    (1, "new_rows", [1, 2]),
    (1, "new_rows", {"a": "b"}),
    (1, "time", 2026),
    (1, "extra", 1),
]


@few_fast(("row", "field", "value"), WRONG, fast=3)
def test_a_good_chain_with_wrong_values_names_line_and_field(
    plan: Path, row: int, field: str, value: object
) -> None:
    lines = good_lines(plan)
    ledger = plan.with_suffix(".looks.jsonl")
    write_chain(ledger, lines)
    run("monitor", "--status", "--plan", plan, "-q")
    *above, name = field.split(".")
    at: dict[str, object] = json.loads(json.dumps(lines[row][1]))
    lines[row] = (lines[row][0], at)
    for key in above:
        at = at[key]  # type: ignore[assignment]
    at[name] = value
    write_chain(ledger, lines)
    done = run("monitor", "--status", "--plan", plan, "-q", code=2)
    assert f"row {row + 1}, column '{field}" in said(done)


def write_chain(path: Path, lines: list[tuple[str, dict[str, object]]]) -> None:
    before: LedgerEntry | None = None
    text = b""
    for kind, content in lines:
        line, before = sealed_line(kind, content, before)
        text += line
    path.write_bytes(text)


def test_a_look_at_a_fit_that_did_not_converge_decides_nothing_and_writes_nothing(
    plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fits, "MAX_STEPS", 1)
    part(ratings(0.1, seed=3), 10).iloc[3:].to_csv(tmp_path / "r.csv", index=False)
    result = run("monitor", tmp_path / "r.csv", "--plan", plan, code=1)
    said = " ".join(result.output.split())
    assert "This look decides nothing: the fit did not converge" in said
    assert "p =" not in said
    assert not list(tmp_path.glob("*.jsonl"))
