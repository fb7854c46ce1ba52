"""Every field of every file that a study writes is named in docs/files.md."""

import csv
import json
import re

import pytest
from cases import each_case
from click.testing import CliRunner
from every_command import GOLDEN
from places import ROOT
from study_files import FORMS, given, run, write_pictures, write_ratings, write_study

from humeval_power.doors.terminal.main import main

KEPT = json.loads(GOLDEN.read_text())
PAGE = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
DESCRIBED = set(re.findall(r"[a-z][a-z_0-9]*", " ".join(re.findall(r"`[^`\n]+`", PAGE))))
# Described elsewhere (the parameters of the model, a plan in its schema), or names that users choose.
INSIDE = {
    "parameters",
    "versions",
    "settings",
    "standard_errors",
    "intervals",
    "strata",
    "quantiles",
    "means",
    "costs",
    "cost_parts",
    "analytic_power",
    "standard_deviations",
    "sealed",
    "published",
    "document",
    "system_means",
    "worker_levels",
    "comparisons",
    "boundary_rates",
}
# The records that the page describes field by field, by their names in tests/every_command.py.
RECORDS = (
    *(
        "check",
        "fit",
        "fit differences",
        "fit ml",
        "power",
        "power k",
        "power card",
        "mde",
        "size",
        "surface",
    ),
    *(
        "plan",
        "assign",
        "assign many",
        "assign plan",
        "analyze plan",
        "analyze",
        "analyze many",
        "calibrate",
    ),
    *("report check", "report template", "parameters list", "import", "resample"),
)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study with everything that commands write about it."""
    folder = write_study(tmp_path_factory.mktemp("files"))
    write_pictures(folder)
    run("assign", "--plan", folder / "plan.json", "--checks", "0.1", "-o", folder / "assignment.json")
    run("assign", "--workers", 3, "--items", 4, "--n-systems", 3, "-o", folder / "systems.json")
    run(
        "assign",
        "--plan",
        folder / "plan.json",
        "-o",
        folder / "assignment.csv",
        "--key",
        folder / "key.csv",
    )
    words = "--preset high --effect 0.3 --items 20:40:20 --workers 6 --cost-per-rating 0.1 --simulations 20"
    run("plan", *words.split(), "-o", folder / "plan", code=3)
    check = run("report", "check", *given(folder, "analysis"), "--form", "heds", "--json")
    (folder / "report-check.json").write_text(check.stdout, encoding="utf-8")
    exported = folder / "exported.json"
    run("report", *given(folder, "analysis"), "--form", "parameters", "-o", exported)
    run("parameters", "add", exported, "--library", folder / "library.json")
    several = write_ratings(folder / "several.csv")
    text = several.read_text(encoding="utf-8")
    third = (
        write_ratings(folder / "third.csv", seed=9).read_text(encoding="utf-8").replace(",new,", ",newest,")
    )
    several.write_text(text + "".join(line for line in third.splitlines(True) if ",newest," in line))
    run("analyze", several, "--scale", "1:5", "--all-pairs", "-o", folder / "pairs.json")
    run(
        *("release", folder / "ratings.csv", "--scale", "1:5", "--parameters", exported),
        *("--secret-text", "a key that is long enough", "-o", folder / "bundle"),
    )
    return folder


def names_in(document: object) -> set[str]:
    if isinstance(document, list):
        return set().union(*map(names_in, document))
    if not isinstance(document, dict):
        return set()
    inner = (names_in(value) for name, value in document.items() if name not in INSIDE)
    return set(document) | set().union(*inner)


@pytest.fixture(scope="module")
def looked_at(study):
    """A study with looks beside the other: plan, one look at all ratings, analysis."""
    folder = study / "looks"
    folder.mkdir()
    words = (
        "--scale 1:5 --effect 0.3 --items 20 --workers 6 --cost-per-rating 0.1 --looks 2 --simulations 20"
    )
    plan = folder / "plan"
    done = CliRunner().invoke(
        main, ["plan", str(study / "ratings.csv"), *words.split(), "-o", str(plan)], catch_exceptions=False
    )
    assert done.exit_code in (0, 3), done.output
    look = run("monitor", study / "ratings.csv", "--plan", plan, "--final", "--json")
    (folder / "monitor.json").write_text(look.stdout, encoding="utf-8")
    run("analyze", study / "ratings.csv", "--plan", plan, "-o", folder / "analysis.json")
    first, *_, last = (folder / "plan" / "plan.looks.jsonl").read_text(encoding="utf-8").splitlines()
    (folder / "start.json").write_text(first, encoding="utf-8")
    (folder / "look.json").write_text(last, encoding="utf-8")
    for kind, size in (
        ("scores", "--n 40 --effect 5"),
        ("accuracy", "--n 40 --effect 0.1 --agreement 0.7"),
    ):
        sealed = folder / f"{kind}.json"
        run("looks", kind, *size.split(), "--looks", "2", "--simulations", "20", "-o", sealed)
    run("looks", "preference", "--n", 40, "--effect", 0.2, "--simulations", 20, "-o", folder / "judged")
    judged = folder / "judged.csv"
    judged.write_text("wins,ties,losses\n24,6,10\n")
    look = run("monitor", judged, "--plan", folder / "judged", "--json")
    (folder / "judged.json").write_text(look.stdout, encoding="utf-8")
    ledger = (folder / "judged" / "looks.looks.jsonl").read_text(encoding="utf-8").splitlines()
    for name, line in zip(("judged-start.json", "judged-look.json"), ledger, strict=True):
        (folder / name).write_text(line, encoding="utf-8")
    return folder


LOOKED_AT = {
    "plan/record.json": "humeval_power/plan_search/2",
    "monitor.json": "humeval_power/monitor/2",
    "analysis.json": "humeval_power/analysis/1",
    "start.json": "humeval_power/look_ledger/3",
    "look.json": "humeval_power/look_ledger/3",
    "scores.json": "humeval_power/looks_plan/1",
    "accuracy.json": "humeval_power/looks_plan/1",
    "judged/looks.json": "humeval_power/looks_plan/1",
    "judged.json": "humeval_power/monitor/2",
    "judged-start.json": "humeval_power/look_ledger/3",
    "judged-look.json": "humeval_power/look_ledger/3",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOKED_AT)
def test_every_field_of_a_study_with_looks_is_described(looked_at, name):
    document = json.loads((looked_at / name).read_text(encoding="utf-8"))
    assert document["schema"] == LOOKED_AT[name]
    assert f"`{document['schema']}`" in PAGE
    if name.endswith("look.json"):
        document["content"]["new_rows"] = len(document["content"]["new_rows"])
    assert names_in(document) - DESCRIBED == set()


def test_every_field_of_a_scenario_is_described():
    words = "accuracy mde --n 200 --baseline-accuracy 0.9 --overlap glue --json"
    document = json.loads(run(*words.split()).stdout)
    document["given"] = None  # the command's own options
    assert names_in(document) - DESCRIBED == set()


@each_case("name", RECORDS)
def test_every_field_of_a_record_is_described(name):
    """As tests/house/test_every_command.py holds it to what it was."""
    record = KEPT[name]["record"]
    assert f"`{record['schema']}`" in PAGE
    assert names_in(record) - DESCRIBED == set()


DOCUMENTS = {
    "parameters.json": "humeval_power/parameters/1",
    "exported.json": "humeval_power/parameters/1",
    "power.json": "humeval_power/power/1",
    "surface/record.json": "humeval_power/surface/1",
    "plan/record.json": "humeval_power/plan_search/2",
    "assignment.json": "humeval_power/assignment/1",
    "systems.json": "humeval_power/assignment/1",
    "analysis.json": "humeval_power/analysis/1",
    "pairs.json": "humeval_power/analysis/1",
    "report-check.json": "humeval_power/report_check/1",
    "library.json": "humeval_power/parameter_library/1",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_field_of_a_file_is_described(study, name):
    document = json.loads((study / name).read_text(encoding="utf-8"))
    assert document["schema"] == DOCUMENTS[name]
    assert f"`{document['schema']}`" in PAGE
    assert names_in(document) - DESCRIBED == set()


@pytest.mark.slow
def test_every_field_of_the_plan_itself_is_named_and_described_in_its_schema(study):
    plan = json.loads((study / "plan.json").read_text(encoding="utf-8"))
    schema = json.loads((ROOT / "docs" / "plan.schema.json").read_text())
    assert set(plan) - DESCRIBED == set()
    assert set(plan) == set(schema["properties"])
    assert set(plan["study"]) <= set(schema["$defs"]["Study"]["properties"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plan/table.csv", "assignment.csv", "key.csv", "bundle/ratings.csv"])
def test_every_column_of_a_table_is_described(study, name):
    with (study / name).open(encoding="utf-8", newline="") as file:
        columns = next(csv.reader(file))
    assert len(columns) >= 3
    assert set(columns) - DESCRIBED == set()


@pytest.mark.slow
def test_every_part_of_an_element_of_the_web_form_is_described(study):
    run("report", *given(study, *FORMS["heds"]), "--form", "heds", "-o", study / "heds.json", "--force")
    elements = json.loads((study / "heds.json").read_text(encoding="utf-8"))
    parts = set().union(*map(set, elements.values()))
    assert parts == {"data", "control", "number", "text"}
    assert parts <= DESCRIBED


@pytest.mark.slow
def test_every_file_of_a_study_has_its_place_on_the_page(study):
    made_here = {
        "pilot",
        "third",
        "several",
        "pairs",
        "exported",
        "report-check",
        "judged-start",
        "judged-look",
    }
    stems = {path.stem for path in study.rglob("*") if path.is_file()} - made_here
    assert {stem for stem in stems if stem not in PAGE} == set()
