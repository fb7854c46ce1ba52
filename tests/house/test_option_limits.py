"""Every numeric option of every command refuses what is no usable number, by the name that was typed."""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from option_tree import BASE, NOT_NUMBERS, Trial, leaves, numeric_options, write_files
from places import ROOT

from humeval_power.asking.command_groups import as_typed
from humeval_power.doors.terminal.main import main
from humeval_power.fields import MOST_VALUES

NO_NUMBERS = ("", "nan", "inf", "-inf", "1e-320", "1e308", "-1e308", "1e400", "9" * 26, "twenty")
NO_LISTS = ("nan", "inf", "1e-320", "1e308", "9" * 26, "1:1000000000000", "0:1:1e-12", "1,,2", ",")
# These decide by themselves which words they know; the first is a list of tests, not of numbers.
TRIED = ("-1", "0", "1", "1000000000", "1e-9", "0.5")
FEW_TRIED = ("-1", "0", "1", "3")  # numbers of repetitions: many of them only take long
LISTS_TRIED = ("-1", "0", "1000000000", "1e-9")
SCALES = ("1:1000000000", "0:1e-9", "-1:0")
# Some extreme values of these still take too long, or are refused without the option's name.
UNTRIED = ()
REPEATS = {"--simulations", "--resamples", "--swaps", "--flips", "--subsets"}
OTHER = {("resample", "--tests"), ("power", "--values")}
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


@pytest.mark.slow
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


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raise where the block takes longer."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def valid(words: str, command: object) -> list[Trial]:
    found = []
    for name, values in numeric_options(command):  # type: ignore[arg-type]
        if (words, name) in NOT_NUMBERS:
            continue
        lists, scale = "1,,2" in values, "5:1" in values
        tried = SCALES if scale else LISTS_TRIED if lists else FEW_TRIED if name in REPEATS else TRIED
        found += [Trial(words, name, value) for value in tried]
    return found


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("words", [words for words in COMMANDS if words in BASE])
def test_an_extreme_value_is_answered_or_refused_by_its_name_in_time_and_without_nan(
    words: str, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    for number, trial in enumerate(valid(words, COMMANDS[words])):
        typed = trial.words(ROOT)
        as_json = number % 3 == 2 and any("--json" in option.opts for option in COMMANDS[words].params)
        with within(60 if number == 0 else 20):  # the first may have to compile
            result = CliRunner().invoke(main, [*typed, "--json"] if as_json else typed)
        shown = f"{trial}: {result.output} {result.exception!r}"
        if "Your function failed" in result.output:  # the example's own limits
            assert result.exit_code == 1
            continue
        assert result.exception is None or isinstance(result.exception, SystemExit), shown
        assert result.exit_code in (0, 2, 3), shown
        assert not re.search(
            r"(?<![A-Za-z])(nan|NaN|inf|Infinity|None(?! possible| of these))(?![A-Za-z])", result.output
        ), shown
        if result.exit_code == 2 and "more data are needed" not in result.output:
            said = result.output.split("Error:", 1)[-1]
            beside = {word.split("=")[0] for word in typed if word.startswith("--")}
            assert any(option in said for option in {trial.option, *beside}), shown


def test_what_does_not_fit_is_refused_with_its_gigabytes() -> None:
    result = CliRunner().invoke(main, Trial("assessment power", "--n", "1000000000").words(ROOT))
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
