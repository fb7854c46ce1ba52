"""Every numeric option of every command refuses what is no usable number, by the name that was typed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from option_tree import Trial, leaves, numeric_options, write_files

from humeval_power.interfaces.cli.main import main
from humeval_power.interfaces.cli.numbers import MOST_VALUES
from humeval_power.interfaces.cli.option_names import as_typed

ROOT = Path(__file__).resolve().parents[1]
NO_NUMBERS = ("", "nan", "inf", "-inf", "1e-320", "1e308", "-1e308", "1e400", "9" * 26, "twenty")
NO_LISTS = ("nan", "inf", "1e-320", "1e308", "9" * 26, "1:1000000000000", "0:1:1e-12", "1,,2", ",")
# These decide by themselves which words they know; the first is a list of tests, not of numbers.
OTHER = {("resample", "--test"), ("power", "--values")}
NO_BASE = {
    "parameters",
    "report check",
    "accuracy estimate",
    "contingency estimate",
    "check",
    "monitor",
    "release",
}


def refused(words: str, command: object) -> list[Trial]:
    found = []
    for name, values in numeric_options(command):  # type: ignore[arg-type]
        lists = values is not None and "1,,2" in values
        scale = values is not None and "5:1" in values
        if (words, name) in OTHER or scale:
            continue
        found += [Trial(words, name, value) for value in (NO_LISTS if lists else NO_NUMBERS)]
    return found


COMMANDS = {words: command for words, command in leaves() if words not in NO_BASE}


@pytest.mark.parametrize("words", COMMANDS)
def test_a_value_that_is_no_usable_number_ends_with_2_and_names_its_option(
    words: str, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for trial in refused(words, COMMANDS[words]):
        result = CliRunner().invoke(main, trial.words(ROOT))
        shown = f"{trial}: {result.output} {result.exception!r}"
        assert isinstance(result.exception, SystemExit), shown
        assert result.exit_code == 2, shown
        assert trial.option in result.output, shown
        assert "Traceback" not in result.output, shown
    assert not list(tmp_path.iterdir())


def test_ten_to_the_twelve_simulations_are_refused_with_the_time_that_they_take(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    simulating = [
        words
        for words, command in COMMANDS.items()
        if any("--simulations" in option.opts for option in command.params)
    ]
    assert len(simulating) > 25
    wrong = []
    for words in simulating:
        trial = Trial(words, "--simulations", "1000000000000")
        result = CliRunner().invoke(main, trial.words(ROOT))
        said = re.search(r"would take about [\d,]+ (years|days|hours)", " ".join(result.output.split()))
        if result.exit_code != 2 or said is None or "--simulations" not in result.output:
            wrong.append(f"{trial}: {result.output} {result.exception!r}")
    assert not wrong, "\n".join(wrong)


def test_what_does_not_fit_is_refused_with_its_gigabytes() -> None:
    result = CliRunner().invoke(main, Trial("da power", "--n", "1000000000").words(ROOT))
    assert result.exit_code == 2, result.output
    assert re.search(r"about [\d,]+ GB of memory; [\d,.]+ GB are free", " ".join(result.output.split()))


def test_a_list_with_too_many_values_is_refused_before_it_is_made() -> None:
    words = [
        "surface",
        "--preset",
        "high",
        "--workers",
        "3",
        "--items",
        f"2:{MOST_VALUES + 2}",
        "--effect",
        "0.1",
    ]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert "10,000 values" in result.output


def test_messages_have_the_names_that_were_typed() -> None:
    command = dict(leaves())["power"]
    assert as_typed("n_workers must be 2", command, []) == "--workers must be 2"
    assert as_typed("column 'n_workers' is blank", command, []) == "column 'n_workers' is blank"
    assert as_typed("ratings_per_item is 3", command, []) == "--ratings-per-item is 3"
    assert (
        as_typed("It must be below 1; got 7.", command, ["--effect", "7"])
        == "--effect: It must be below 1; got 7."
    )
    assert as_typed("It must be below 1; got 7.", command, ["--effect", "7", "--margin=7"]).startswith("It")
