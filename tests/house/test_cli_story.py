"""The whole story as a person types it: from a table of ratings to a power surface and a checklist."""

import csv
import functools
import json
import re
from pathlib import Path

import pytest
from cases import each_case
from click.testing import CliRunner, Result
from places import ROOT

from humeval_power.asking.command_groups import RENAMED
from humeval_power.doors.terminal.main import main

PILOT = ROOT / "data" / "pilot.csv"
SEVEN = (
    "baseline",
    "effect",
    "sd_worker_intercept",
    "sd_worker_slope",
    "sd_item_intercept",
    "sd_item_slope",
    "sd_residual",
)
POWER_FIELDS = (
    "setting",
    "workers",
    "items",
    "ratings_per_item",
    "effect",
    "power",
    "power_low",
    "power_high",
    "type_m",
    "type_s",
    "n_simulations",
    "n_failed",
    "boundary_rate",
)
SURFACE_FILES = {"index.html", "record.json", "table.csv", "surface.png", "surface.svg"}
GRID = ("--workers", "3,10", "--items", "50,100", "--effect", "0.05:0.2:0.05")
SURFACE = ("surface", "--preset", "high,low", *GRID, "--simulations", "300")
PRESET = ("--preset", "high", "--workers", "5", "--items", "30")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], prog_name="humeval-power")


def done(*arguments: object) -> Result:
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    return result


@each_case("group", ["agreement", "compare", "compare accuracy", "judge", "looks", "rank", "report"])
def test_the_help_of_a_group_cuts_no_sentence_short(group: str) -> None:
    _, listed = done(*group.split(), "--help").output.split("Commands:", 1)
    assert "..." not in listed
    assert re.search(r"[.?]$", listed.strip())


def refused(*arguments: object) -> str:
    """The message of a command that ends with 2 and prints no result, on one line."""
    result = run(*arguments)
    assert result.exit_code == 2, (result.exit_code, result.stderr)
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return " ".join(result.stderr.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `fit -o` and `surface -o` leave behind."""
    path = tmp_path_factory.mktemp("story")
    done("fit", PILOT, "--scale", "1:5", "-o", path / "parameters.json")
    done(*SURFACE, "-o", path / "surface")
    return path


@pytest.fixture(scope="module")
def parameters(folder: Path) -> Path:
    return folder / "parameters.json"


# -- each step -----------------------------------------------------------------------------------------


def test_fit_writes_the_promised_fields(parameters: Path) -> None:
    document = json.loads(parameters.read_text())
    assert document["schema"] == "humeval_power/parameters/1"
    assert set(document["parameters"]) == {*SEVEN, "coding"}
    assert document["parameters"]["coding"] == [-0.5, 0.5]
    assert {"estimate", "standard_error", "df", "p_value", "interval"} <= set(document["effect"])
    assert (document["n_ratings"], document["n_workers"], document["n_items"]) == (360, 10, 60)
    assert (document["estimator"], document["converged"]) == ("reml", True)
    assert (document["boundary"], document["not_identified"]) == ([], [])
    assert document["systems"] == ["baseline", "new"]
    assert document["data"] == {"source": "pilot.csv"}  # no digest: ratings are found from one by trying
    assert {"criterion", "scale", "flow", "versions"} <= set(document)
    # In a table where each worker sees an item under both systems the effect is the difference of means.
    assert document["effect"]["raw"]["estimate"] == pytest.approx(622 / 180 - 571 / 180, abs=1e-9)


def test_fit_prints_the_same_document_as_it_writes(parameters: Path) -> None:
    printed = json.loads(done("fit", PILOT, "--scale", "1:5", "--json").stdout)
    written = json.loads(parameters.read_text())
    for document in (printed, written):
        del document["command"]
    # The first fit of a process is by dense matrices, later ones may be by kernels: equal but for rounding.
    assert _rounded(printed) == _rounded(written)


def _rounded(value: object) -> object:
    """The value with its floats to ten digits."""
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


def test_simulate_gives_a_table_that_can_be_checked_and_fitted(parameters: Path, tmp_path: Path) -> None:
    size = ("--parameters", parameters, "--workers", 8, "--items", 30, "--ratings-per-item", 2)
    answers = ("--response", "likert", "--scale", "1:5")
    done("simulate", *size, *answers, "--seed", 1, "-o", tmp_path / "study.csv")
    rows = list(csv.DictReader((tmp_path / "study.csv").read_text().splitlines()))
    assert len(rows) == 2 * 30 * 2
    assert list(rows[0]) == ["worker", "item", "system", "rating"]
    assert {float(row["rating"]) for row in rows} <= {1, 2, 3, 4, 5}
    assert "Usable  120" in done("check", tmp_path / "study.csv", "--scale", "1:5").stdout
    assert json.loads(done("fit", tmp_path / "study.csv", "--scale", "1:5", "--json").stdout)["converged"]
    printed = (*size, *answers, "--format", "csv")
    again = done("simulate", *printed, "--seed", 1).stdout
    assert again == (tmp_path / "study.csv").read_text()
    assert again != done("simulate", *printed, "--seed", 2).stdout


def test_surface_writes_four_files_that_agree(folder: Path) -> None:
    written = folder / "surface"
    assert {path.name for path in written.iterdir()} == SURFACE_FILES
    rows = list(csv.DictReader((written / "table.csv").read_text().splitlines()))
    document = json.loads((written / "record.json").read_text())
    assert tuple(rows[0]) == POWER_FIELDS
    assert len(rows) == len(document["rows"]) == 2 * 2 * 2 * 4
    powers = [row["power"] for row in document["rows"]]
    assert [float(row["power"]) for row in rows] == pytest.approx(powers, rel=1e-9)  # 10 digits in CSV
    assert document["settings"]["high"]["sd_worker_slope"] == 0.11  # Card et al. (2020), Table 16
    assert (written / "surface.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (written / "surface.svg").read_text()[:1000]


def test_power_rises_with_the_effect_on_the_surface(folder: Path) -> None:
    rows = json.loads((folder / "surface" / "record.json").read_text())["rows"]
    for start in range(0, len(rows), 4):
        powers = [row["power"] for row in rows[start : start + 4]]
        assert powers == sorted(powers)


def test_the_compatible_surface_takes_effects_as_halves() -> None:
    small = ("surface", "--preset", "low", "--workers", 3, "--items", 50, "--simulations", 200, "--json")
    document = json.loads(done(*small, "--effect", 0.1, "--compat", "card2020").stdout)
    assert (document["effect_unit"], document["rows"][0]["effect"]) == (2.0, 0.1)
    assert (document["rule"]["estimator"], document["rule"]["df"]) == ("ml", "normal")
    compared = json.loads(done(*small, "--effect", 0.2, "--compare", "card2020").stdout)
    assert compared["rows"][1]["power"] == document["rows"][0]["power"]


@pytest.mark.parametrize(("name", "start"), [("report.md", "# Report"), ("report.html", "<!doctype html>")])
def test_report_is_written_in_both_forms(folder: Path, tmp_path: Path, name: str, start: str) -> None:
    files = (folder / "parameters.json", folder / "surface", "--form", "card2020")
    result = done("report", *files, "-o", tmp_path / name)
    text = (tmp_path / name).read_text()
    assert result.stdout.startswith("Reporting checklist: baseline and new")
    assert "11 of 25 fields are filled" in result.stdout
    assert text.lower().startswith(start.lower())
    assert "0.0708" in text  # the effect
    assert "sd_worker_slope" in text
    assert "Instructions" in text


def test_what_the_files_do_not_tell_stays_open(folder: Path) -> None:
    text = done("report", folder / "parameters.json", "--form", "card2020").stdout
    assert "[x] Number of workers: 10" in text
    assert "[ ] Instructions" in text


# -- output --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [("check", PILOT), ("mde", *PRESET, "--simulations", 200)], ids=lambda words: words[0]
)
def test_standard_output_carries_the_document_alone(arguments: tuple[object, ...]) -> None:
    quiet = done(*arguments, "--json", "--quiet")
    json.loads(quiet.stdout)
    assert quiet.stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "study",
    [
        ("--preset", "high", "--workers", "5"),
        ("--preset", "high", "--workers", "6", "--ratings-per-item", "2"),
        ("--preset", "low", "--workers", "5", "--response", "likert", "--points", "5"),
    ],
    ids=["complete", "two ratings per item", "likert"],
)
def test_the_number_of_jobs_changes_no_byte(study: tuple[str, ...], tmp_path: Path) -> None:
    common = ("surface", *study, "--items", "20", "--effect", "0.1,0.2", "--simulations", "400")
    for jobs in (1, 2):
        done(*common, "--jobs", jobs, "-o", tmp_path / str(jobs))
    for name in ("table.csv", "surface.png", "surface.svg"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_nothing_is_overwritten_unless_forced(folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text("mine")
    cases = (
        ("fit", PILOT, "-o", kept),
        ("simulate", *PRESET, "-o", kept),
        ("power", *PRESET, "--effect", 0.1, "-o", kept),
        ("report", "--parameters", folder / "parameters.json", "-o", kept),
    )
    for arguments in cases:
        assert "exists already. Choose another name, or add --force." in refused(*arguments)
        assert kept.read_text() == "mine"
    before = (folder / "surface" / "surface.png").stat().st_mtime_ns
    assert "record.json exist already" in refused(*SURFACE, "-o", folder / "surface")
    assert (folder / "surface" / "surface.png").stat().st_mtime_ns == before
    done("fit", PILOT, "-o", kept, "--force")
    assert json.loads(kept.read_text())["n_ratings"] == 360


# -- what is refused, and in which words ---------------------------------------------------------------


@each_case("text", ["x", "0.2:0.1:0.05", "0.05:0.2:0", "0.05:0.2", ""])
def test_a_bad_list_of_effects_is_explained(text: str) -> None:
    message = refused("surface", *PRESET, "--effect", text)
    assert f"give numbers such as 0.05,0.1 or 0.05:0.2:0.05; got {text!r}." in message


def test_a_bad_list_of_workers_is_explained() -> None:
    message = refused("surface", "--preset", "high", "--workers", "3.5", "--items", 50, "--effect", 0.1)
    assert "give whole numbers such as 3,10" in message
    assert "got '3.5'." in message


@pytest.mark.parametrize("name", ["power", "surface", "mde", "simulate"])
def test_parameters_must_come_from_somewhere(name: str) -> None:
    effect = () if name in ("mde", "simulate") else ("--effect", 0.1)
    message = refused(name, "--workers", 5, "--items", 30, *effect)
    assert "--parameters FILE (written by 'fit -o')" in message
    assert "--preset" in message


def test_an_unknown_preset_is_named_with_those_that_exist() -> None:
    message = refused("power", "--preset", "usual", "--workers", 5, "--items", 30, "--effect", 0.1)
    assert (
        "there is no preset 'usual'; there are typical, high, low, and what 'more parameters list' names."
        in message
    )


def test_a_file_of_another_kind_is_refused(folder: Path) -> None:
    size = ("--workers", 5, "--items", 30, "--effect", 0.1)
    message = refused("power", "--parameters", folder / "surface" / "record.json", *size)
    assert "has the schema 'humeval_power/surface/1'; 'humeval_power/parameters/1' is needed." in message
    assert "Write one with: humeval-power fit RATINGS -o parameters.json" in message
    message = refused("report", "--power-file", folder / "parameters.json")
    assert "'humeval_power/power/1' is needed." in message


@each_case(
    ("words", "old", "new"),
    [(words, old, new) for words, names in RENAMED.items() for old, new in names.items()],
)
def test_an_option_that_was_renamed_is_refused_with_its_new_name(words: str, old: str, new: str) -> None:
    assert f"Error: {old} is now called {new}." in refused(*words.split(), old, "x")
    assert f"{new} " in _whole_help(words)


@functools.cache
def _whole_help(words: str) -> str:
    short = run(*words.split(), "--help").stdout
    return run(*words.split(), "--help-all").stdout if "--help-all" in short else short


def test_a_file_of_another_version_is_refused(parameters: Path, tmp_path: Path) -> None:
    later = tmp_path / "later.json"
    later.write_text(parameters.read_text().replace("parameters/1", "parameters/2"))
    message = refused("power", "--parameters", later, "--workers", 5, "--items", 30, "--effect", 0.1)
    assert "has the schema 'humeval_power/parameters/2'" in message


def test_a_missing_parameter_is_named(parameters: Path, tmp_path: Path) -> None:
    document = json.loads(parameters.read_text())
    del document["parameters"]["sd_residual"]
    document["parameters"]["sd_item_slope"] = "large"
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps(document))
    message = refused("power", "--parameters", broken, "--workers", 5, "--items", 30, "--effect", 0.1)
    assert "parameter 'sd_residual' is missing." in message


@each_case(
    ("arguments", "words"),
    [
        (("fit", "nowhere.csv"), "There is no file 'nowhere.csv'."),
        (("report",), "Give at least one FILE"),
        (("report", "--surface", "nowhere"), "There is no file 'nowhere'"),
        (("power", *PRESET, "--effect", 0.1, "--ratings-per-item", 6), "6 different workers; there are 5."),
        (
            ("power", "--preset", "high", "--workers", 1, "--items", 9, "--effect", 0.1),
            "--workers must be a whole number of at least 2",
        ),
        (("power", *PRESET, "--effect", 0.1, "--response", "likert"), "A Likert response needs --points."),
        (("fit", PILOT, "--estimator", "ml"), "df 'kenward-roger' is defined for REML fits"),
        (("surface", *PRESET), "Give --effect or --effect-raw."),
        (("surfaces",), "No such command 'surfaces'."),
    ],
)
def test_what_is_wrong_is_said_with_a_remedy(arguments: tuple[object, ...], words: str) -> None:
    assert words in refused(*arguments)


def test_a_size_that_cannot_be_reached_ends_with_3_and_the_reason(parameters: Path) -> None:
    result = run("size", "--parameters", parameters, "--find", "items", "--workers", 5, "--effect", 0.05)
    assert result.exit_code == 3
    assert "No number of items will do" in " ".join(result.stdout.split())
