"""A scenario of one's own: two functions in Python, or MODULE:FUNCTION on the command line."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cases import each_case
from click.testing import CliRunner, Result
from places import ROOT
from scipy import stats

from humeval_power.comparisons.scenario.ask import command
from humeval_power.comparisons.scenario.functions import FunctionScenario
from humeval_power.errors import HumevalPowerError, InputError
from humeval_power.studies.power.estimate import estimate_power

EXAMPLE = ROOT / "examples" / "own_scenario.py"


def normal_data(rng: np.random.Generator, n: int, effect: float) -> np.ndarray:
    return rng.normal(effect, 1, n)


def t_test(data: np.ndarray) -> tuple[float, float]:
    return float(data.mean()), float(stats.ttest_1samp(data, 0).pvalue)


def make(n: int = 30, effect: float = 0.4) -> FunctionScenario:
    return FunctionScenario(normal_data, t_test, n=n, effect=effect)


@pytest.mark.slow
def test_the_power_is_that_of_the_noncentral_t() -> None:
    found = estimate_power(make(), n_simulations=2000)
    critical, center = stats.t.isf(0.025, 29), 0.4 * np.sqrt(30)
    expected = stats.nct.sf(critical, 29, center)
    assert found.power == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 2000))


def test_the_opening_example_of_card_has_its_exact_power() -> None:
    # Card et al. 2020, Fig. 1: 65 % prefer B, a sign test of 100 people: exact binomial power .8276
    def drawn(rng: np.random.Generator, n: int, effect: float) -> tuple[int, int]:
        return int(rng.binomial(n, 0.5 + effect)), n

    def sign(data: tuple[int, int]) -> tuple[float, float]:
        return data[0] / data[1] - 0.5, min(
            1.0, 2 * stats.binom.cdf(min(data[0], data[1] - data[0]), data[1], 0.5)
        )

    found = estimate_power(FunctionScenario(drawn, sign, n=100, effect=0.15), n_simulations=2000)
    assert found.power == pytest.approx(0.8276, abs=4 * np.sqrt(0.83 * 0.17 / 2000))


def test_study_i_belongs_to_the_seed_alone() -> None:
    whole = make().draw(20, seed=5)
    part = make().draw(7, seed=5, first=9, n_jobs=3)
    assert (whole.estimate[9:16] == part.estimate).all()


def test_a_p_value_of_nan_is_a_failure_and_not_a_negative_result() -> None:
    scenario = FunctionScenario(normal_data, lambda data: (data.mean(), np.nan), n=5, effect=0.1)
    found = estimate_power(scenario, n_simulations=10)
    assert found.n_failed == 10
    assert np.isnan(found.power)


def test_another_size_or_effect_is_another_scenario() -> None:
    assert make().with_size(50).n == 50
    assert make().with_effect(0.2).true_effect == 0.2


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (lambda _data: 1 / 0, "ZeroDivisionError.*|failed in study 3"),
        (lambda data: data.mean(), "two numbers"),
        (lambda _data: (1.0, 2.0), "between 0 and 1"),
    ],
)
def test_a_function_that_breaks_its_promise_is_named_with_the_study(test, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(HumevalPowerError, match=words) as told:
        FunctionScenario(normal_data, test, n=5, effect=0.1).draw(1, seed=8, first=3)
    assert "study 3 of seed 8" in str(told.value)


@pytest.mark.parametrize("values", [{"n": 0}, {"effect": np.inf}, {"alpha": 1.0}])
def test_impossible_settings_are_refused(values: dict) -> None:
    with pytest.raises(InputError):
        FunctionScenario(normal_data, t_test, **{"n": 5, "effect": 0.1, **values})


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, list(arguments))


def test_the_command_runs_a_file_and_asks_for_the_power_by_itself() -> None:
    options = ["--n", "60", "--effect", "0.3", "--simulations", "200"]
    short = run(f"{EXAMPLE}:make", *options, "--json")
    long = run(f"{EXAMPLE}:make", "power", *options, "--json")
    assert short.exit_code == 0, short.output
    one, other = json.loads(short.stdout), json.loads(long.stdout)
    assert one["schema"] == "humeval_power/scenario_power/1"
    assert one["simulated"] == other["simulated"]


def test_a_function_of_size_and_effect_can_return_any_scenario(tmp_path: Path) -> None:
    path = tmp_path / "assessed.py"
    path.write_text(
        "from humeval_power.comparisons.assessment.scenario import DirectAssessment\n"
        "def make(n, effect):\n    return DirectAssessment(n, effect=effect)\n"
    )
    found = run(f"{path}:make", "size", "--effect", "2", "--power", "0.95", "--json")
    assert json.loads(found.stdout)["found"]["n"] == 1623


def test_alpha_can_be_given_to_a_function_scenario() -> None:
    options = ["--n", "60", "--effect", "0.3", "--simulations", "200", "--json"]
    loose, strict = (
        json.loads(run(f"{EXAMPLE}:make", *options, "--alpha", alpha).stdout)["simulated"]["power"]
        for alpha in ("0.2", "0.001")
    )
    assert strict < loose


@pytest.mark.slow
def test_a_module_is_found_where_the_command_is_run(tmp_path: Path) -> None:
    (tmp_path / "my_own_study.py").write_text(EXAMPLE.read_text())
    program = "from humeval_power.comparisons.scenario.ask import command; command()"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            program,
            "my_own_study:make",
            "--n",
            "40",
            "--effect",
            "0.5",
            "--simulations",
            "50",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "my_own_study:make, n = 40" in done.stdout


@each_case(
    ("spec", "words"),
    [
        ("nothing", "MODULE:FUNCTION"),
        ("no_such_module_here:make", "no module"),
        ("no_such_file.py:make", "no file"),
        (f"{EXAMPLE}:absent", "has no 'absent'"),
        (f"{EXAMPLE}:TIES", "neither"),
    ],
)
def test_a_scenario_that_cannot_be_had_is_refused_in_words(spec: str, words: str) -> None:
    found = run(spec, "--n", "10", "--effect", "0.1")
    assert isinstance(found.exception, InputError), found.output
    assert words in str(found.exception)


def test_a_function_that_makes_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "otherwise.py"
    path.write_text("def make():\n    return 7\n")
    found = run(f"{path}:make", "--n", "10", "--effect", "0.1")
    assert "returned a int, which is no scenario" in str(found.exception)


def test_size_and_effect_are_never_ignored(tmp_path: Path) -> None:
    # A function without arguments cannot take the size of a scenario that is no FunctionScenario.
    path = tmp_path / "sized.py"
    path.write_text(
        "from humeval_power.comparisons.preference.scenario import Preference\n"
        "def fixed():\n    return Preference(50, preference=0.1)\n"
        "def optional(n=50, effect=0.1):\n    return Preference(n, preference=effect)\n"
    )
    refused = run(f"{path}:fixed", "--n", "100", "--effect", "0.15")
    assert isinstance(refused.exception, InputError)
    done = run(f"{path}:optional", "--n", "100", "--effect", "0.15")
    assert "0.828" in done.stdout  # Card et al. 2020, Figure 1: enumerated


def test_a_file_with_a_mistake_is_told_in_words(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("import numpy\nmake = numpy.nothing_of_that_name\n")
    found = run(f"{path}:make", "--n", "10", "--effect", "0.1")
    assert isinstance(found.exception, HumevalPowerError)
    assert "AttributeError" in str(found.exception)


@pytest.mark.slow
def test_the_example_runs_and_its_power_rises_with_its_size() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLE)],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    powers = [float(line.split("power ")[1].split()[0]) for line in done.stdout.splitlines()]
    assert powers == sorted(powers)
    assert len(powers) == 4
