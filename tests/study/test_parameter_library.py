"""The library of parameters: figures that can be planned from, and their sources."""

import csv
import json
import math
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from cases import each_case, few_fast
from cli import run
from places import ROOT

from humeval_power.designs import crossed
from humeval_power.files.documents.reading import read_parameters
from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.studies.power.files import read_library, shipped_library
from humeval_power.studies.power.formula import analytic_power
from humeval_power.studies.power.parameter_library import LIBRARY_SCHEMA, LibraryEntry, upper_worker_slope
from humeval_power.studies.power.required import counts_power
from humeval_power.study_counts import StudyCounts
from humeval_power.uncertainty import VarianceUncertainty

SHIPPED = shipped_library()
FITS = [entry for entry in SHIPPED if entry.plannable]
NOT_TO_PLAN = [entry for entry in SHIPPED if not entry.plannable]
FREE = ("Apache-2.0", "MIT", "CC BY")
HOSTILE = ("<script>", "=cmd()", "100 % _a_ & b", "two\nlines", "שלום")
PILOT = ROOT / "data" / "pilot.csv"


def name_of(entry: LibraryEntry) -> str:
    return entry.name


@pytest.fixture(autouse=True)
def no_own_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Tests neither see nor change the library of whoever runs them."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def test_there_are_enough_fits_and_every_setting_of_card() -> None:
    assert len(FITS) >= 8
    assert {"card2020-high", "card2020-low"} <= {entry.name for entry in NOT_TO_PLAN}
    assert len(NOT_TO_PLAN) == 2 + 6


@each_case("entry", SHIPPED, ids=name_of)
def test_every_entry_says_where_it_comes_from_and_what_it_is_worth(entry: LibraryEntry) -> None:
    assert all((entry.summary, entry.paper, entry.data, entry.licence, entry.worth))
    if entry.plannable:
        assert entry.licence.startswith(FREE)
        assert entry.worker
        assert entry.item
        assert entry.worth == f"honest fit of public ratings made with: {(entry.document or {})['command']}"
    else:
        assert "not slopes" in entry.worth
        assert "Do not plan from them" in entry.worth


@each_case("entry", FITS, ids=name_of)
def test_what_is_shown_can_be_planned_from(entry: LibraryEntry, tmp_path: Path) -> None:
    path = tmp_path / "parameters.json"
    run("parameters", "show", entry.name, "--json", "-o", path)
    parameters, document = read_parameters(path, allow_not_identified=bool(entry.not_identified))
    assert document["library"]["licence"] == entry.licence
    assert document["library"]["command"] == (entry.document or {})["command"]
    design = crossed(20, 50)
    assert 0 < analytic_power(parameters.with_difference(0.05), design).power < 1
    drawn = VarianceUncertainty.from_dict(document["uncertainty"]).draw(np.random.default_rng(1), 100)
    assert np.isfinite(drawn).all()
    limit = upper_worker_slope(entry, 0.8)
    assert limit is not None
    assert limit > parameters.sd_worker_slope


@pytest.mark.slow
def test_a_plan_with_assurance_can_be_made_from_an_entry(tmp_path: Path) -> None:
    path = tmp_path / "parameters.json"
    run("parameters", "show", "wmt23-zhen-hwtsc-gpt4", "--json", "-o", path)
    done = run(
        "plan", "--parameters", path, "--effect", "0.05", "--items", "100", "--assurance", "0.8",
        "--cost-per-rating", "0.1", "--simulations", "100", "--json", "-q",
    )  # fmt: skip
    assert done.exit_code in (0, 3), done.stderr
    assert json.loads(done.stdout)


def test_where_figures_are_not_identified_planning_refuses(tmp_path: Path) -> None:
    path = tmp_path / "parameters.json"
    run("parameters", "show", "dialogue-fluent", "--json", "-o", path)
    study = ("--workers", "10", "--items", "20", "--effect", "0.1", "--simulations", "20")
    run("power", "--parameters", path, *study, code=2)
    run("power", "--parameters", path, "--allow-not-identified", *study)
    text = run("parameters", "show", "dialogue-fluent").stdout
    assert text.count("not identified") == 3
    assert "sd_item_intercept^2" in text


@pytest.mark.parametrize("entry", NOT_TO_PLAN, ids=name_of)
def test_what_is_no_parameter_is_shown_but_not_handed_on(entry: LibraryEntry, tmp_path: Path) -> None:
    assert "As published" in run("parameters", "show", entry.name).stdout
    done = run("parameters", "show", entry.name, "--json", "-o", tmp_path / "p.json", code=2)
    assert "cannot be planned from" in done.stderr
    assert not (tmp_path / "p.json").exists()


def test_figures_of_card_are_those_printed(shared: Path) -> None:
    by_name = {entry.name: entry for entry in SHIPPED}
    with (shared / "published" / "card2020_table16_variance_settings.csv").open() as file:
        for row in csv.DictReader(file):
            shown = by_name[f"card2020-{row['setting']}"].published["Table 16"]
            assert {name: shown[name] for name in row if name != "setting"} == {
                name: float(value) for name, value in row.items() if name != "setting"
            }


@pytest.mark.slow
@pytest.mark.parametrize("entry", FITS, ids=name_of)
def test_fits_are_found_again_by_their_own_command(
    entry: LibraryEntry, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = entry.document or {}
    monkeypatch.chdir(shared_data)
    words = shlex.split(document["command"])[1:]
    done = run(*words, "--json", "-q", *(("--simulations", "20") if document["n_workers"] < 5 else ()))
    again = json.loads(done.stdout)
    # Both stop where the likelihood is flat to about 1e-9; an SD is known to its square root at worst.
    for name in PARAMETER_NAMES:
        if name not in entry.not_identified:
            assert again["parameters"][name] == pytest.approx(document["parameters"][name], abs=1e-6)
    for name in ("boundary", "not_identified", "n_ratings", "n_workers", "n_items", "data", "systems"):
        assert again[name] == document[name]
    for name in ("estimate", "standard_error"):
        assert again["effect"][name] == pytest.approx(document["effect"][name], abs=1e-6)


def test_no_row_of_a_table_is_in_the_library() -> None:
    text = json.dumps([entry.as_dict() for entry in SHIPPED])
    assert max(map(len, json.loads(json.dumps([(e.document or {}).get("flow", []) for e in SHIPPED])))) < 6
    assert "rating,criterion" not in text


def test_the_list_fits_the_terminal_and_names_every_entry() -> None:
    text = run("parameters", "list").stdout
    assert max(map(len, text.splitlines())) <= 80
    rows = text.splitlines()[text.splitlines().index("") + 2 :]
    assert [line.split()[0] for line in rows[: len(SHIPPED)]] == [e.name for e in SHIPPED]
    document = json.loads(run("parameters", "list", "--json").stdout)
    assert document["schema"] == LIBRARY_SCHEMA
    assert all(math.isfinite(len(entry["name"])) for entry in document["entries"])


@each_case("entry", SHIPPED, ids=name_of)
def test_the_command_that_an_entry_shows_runs(
    entry: LibraryEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = " ".join(run("parameters", "show", entry.name).stderr.split())
    commands = re.findall(r"humeval-power (more parameters show .*)", told)
    assert len(commands) == entry.plannable
    for command in commands:
        run(*shlex.split(command))


@pytest.mark.parametrize("kind", ["points", "slider", "penalties"])
def test_the_typical_fit_asks_for_neither_most_nor_least_of_its_kind(kind: str) -> None:
    known = [each for each in FITS if each.kind == kind and not each.not_identified]
    power = {
        each.name: counts_power(each.parameters.with_difference(0.06), StudyCounts(20, 100, 3))
        for each in known
        if each.parameters is not None
    }
    by_power = sorted(power, key=lambda name: power[name])
    standing = {each.standing: each.name for each in known if each.standing}
    assert standing["typical"] in by_power[(len(by_power) - 1) // 2 : len(by_power) // 2 + 1]
    assert standing["hopeful"] == by_power[-1]


def test_an_unknown_name_gets_an_offer() -> None:
    done = run("parameters", "show", "pplm-fluency-rerenk", code=2)
    assert "Did you mean 'pplm-fluency-rerank'?" in " ".join(done.stderr.split())


@few_fast("name", HOSTILE, fast=1)
def test_own_entries_of_any_name_are_added_and_found(name: str, tmp_path: Path) -> None:
    fitted, library, again = (tmp_path / f"{stem}.json" for stem in ("fitted", "own", "again"))
    run("fit", PILOT, "-o", fitted, "--scale", "1:5")
    run("parameters", "add", fitted, "--library", library, "--name", name, "--source", name)
    assert [entry.name for entry in read_library(library)] == [name]
    run("parameters", "show", name, "--library", library, "--json", "-o", again)
    document = json.loads(again.read_text(encoding="utf-8"))
    assert document["library"]["paper"] == name
    assert document["parameters"] == json.loads(fitted.read_text())["parameters"]
    for action in (("list",), ("show", name)):
        told = run("parameters", *action, "--library", library).stdout
        assert name.split()[0] in told


def test_an_own_entry_is_replaced_only_by_force(tmp_path: Path) -> None:
    fitted, library = tmp_path / "fitted.json", tmp_path / "own.json"
    run("fit", PILOT, "-o", fitted)
    run("parameters", "add", fitted, "--library", library)
    before = library.read_bytes()
    run("parameters", "add", fitted, "--library", library, code=2)
    assert library.read_bytes() == before
    run("parameters", "add", fitted, "--library", library, "--force")
    assert [entry.name for entry in read_library(library)] == ["fitted"]
    run("parameters", "add", fitted, "--library", library, "--name", "card2020-high", code=2)


def test_without_a_file_named_the_own_library_is_among_the_settings(tmp_path: Path) -> None:
    fitted = tmp_path / "fitted.json"
    run("fit", PILOT, "-o", fitted)
    run("parameters", "add", fitted)
    assert "fitted" in run("parameters", "list").stdout


@each_case(
    ("content", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "is no library"),
        (json.dumps({"schema": LIBRARY_SCHEMA}), "no list of 'entries'"),
        (json.dumps({"schema": LIBRARY_SCHEMA, "entries": [{"name": "a"}, 3]}), "'summary' is missing"),
        (
            json.dumps(
                {
                    "schema": LIBRARY_SCHEMA,
                    "entries": [{"name": "a", "summary": "b", "worth": "c", "document": {"schema": "x"}}],
                }
            ),
            "must have the schema",
        ),
    ],
)
def test_a_damaged_library_is_told_what_is_wrong(content: str, said: str, tmp_path: Path) -> None:
    library = tmp_path / "own.json"
    library.write_text(content)
    done = run("parameters", "list", "--library", library, code=2)
    assert said in " ".join(done.stderr.split())


@each_case(
    "arguments", [("show",), ("add",), ("list", "x"), ("list", "--name", "x"), ("add", "x", "--json")]
)
def test_what_does_not_go_together_is_a_usage_error(arguments: tuple[str, ...]) -> None:
    run("parameters", *arguments, code=2)


def test_an_entry_is_planned_from_by_its_name() -> None:
    entry = next(entry for entry in SHIPPED if entry.document and not entry.not_identified)
    words = "--workers 8 --items 60 --effect 0.05 --method analytic --json -q"
    done = run("power", "--preset", entry.name, *words.split())
    assert (
        json.loads(done.stdout)["parameters"]["sd_residual"] == entry.document["parameters"]["sd_residual"]
    )


@pytest.mark.parametrize("name", ["high,nobody", "card2020-wmt19", "ted-ende"])
def test_what_cannot_be_planned_from_is_no_preset(name: str) -> None:
    done = run("power", "--preset", name, "--workers", "8", "--items", "60", "--effect", "0.05", code=2)
    assert "Traceback" not in done.stderr
