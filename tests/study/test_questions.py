"""The questions that every scenario answers, asked of scenarios whose answers are known."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from humeval_power.comparisons.questions import Questions
from humeval_power.designs import crossed
from humeval_power.errors import InputError
from humeval_power.fields import own, real, whole
from humeval_power.parameters import preset
from humeval_power.rules import DecisionRule
from humeval_power.scenarios.contract import ComputedPower, Replicates, draw_in_blocks
from humeval_power.studies.power.analytic import TOLERANCE, minimum_detectable_effect
from humeval_power.studies.power.calls import power
from humeval_power.studies.power.formula import analytic_power, effect_precision
from humeval_power.studies.power.questions import (
    answer,
    detectable_effect,
    required_n,
    scenario_surface,
    ways_of,
)
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.wording import Wording


@dataclass(frozen=True)
class KnownMean:
    """A z test of a mean with a known SD of 1: everything about it is in textbooks."""

    n: int
    true_effect: float
    alpha: float = 0.05

    def with_effect(self, effect: float) -> KnownMean:
        return replace(self, true_effect=effect)

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        return draw_in_blocks(self._block, n, seed=seed, first=first, n_jobs=n_jobs)

    def _block(self, rng: np.random.Generator, size: int) -> Replicates:
        estimate = self.true_effect + rng.standard_normal(size) / math.sqrt(self.n)
        p_value = 2 * stats.norm.sf(np.abs(estimate) * math.sqrt(self.n))
        blank = np.full(size, math.nan)
        status = np.zeros(size, dtype=np.int64)
        return Replicates(estimate, blank, blank, p_value, status, np.zeros((size, 0), dtype=bool))

    def computed(self) -> ComputedPower:
        z = stats.norm.isf(self.alpha / 2)
        right = float(stats.norm.sf(z - self.true_effect * math.sqrt(self.n)))
        wrong = float(stats.norm.cdf(-z - self.true_effect * math.sqrt(self.n)))
        return ComputedPower(right, right + wrong, math.nan, wrong / (right + wrong), "the normal", True)


@dataclass(frozen=True)
class SignTest(KnownMean):
    """A one-sided exact sign test: its power is a saw in the number of trials."""

    def computed(self) -> ComputedPower:
        critical = int(stats.binom.isf(self.alpha, self.n, 0.5)) + 1
        power = float(stats.binom.sf(critical - 1, self.n, 0.5 + self.true_effect))
        return ComputedPower(power, power, math.nan, 0.0, "enumeration", True)


def test_the_detectable_effect_of_a_z_test_is_the_textbook_s() -> None:
    expected = (stats.norm.isf(0.025) + stats.norm.isf(0.2)) / math.sqrt(50)
    found = detectable_effect(KnownMean(50, 0.1), largest=3.0)
    assert found.effect == pytest.approx(expected, abs=1e-5)  # the search's resolution
    assert found.interval is None


def test_a_dip_of_the_power_lies_below_the_detectable_effect() -> None:
    asked: list[float] = []

    @dataclass(frozen=True)
    class Dipped(KnownMean):
        def computed(self) -> ComputedPower:
            asked.append(self.true_effect)
            found = super().computed()
            return replace(found, power=0.7) if 1.2 < self.true_effect < 1.4 else found

    found = detectable_effect(Dipped(50, 0.1), largest=3.0)
    assert found.effect == pytest.approx(1.4, abs=1e-5)  # where the power was last below the target
    assert len(asked) < 90  # a fixed grid and five zooms; a command must not need seconds for them


def test_by_simulation_its_interval_holds_the_textbook_s() -> None:
    expected = (stats.norm.isf(0.025) + stats.norm.isf(0.2)) / math.sqrt(50)
    found = detectable_effect(KnownMean(50, 0.1), largest=3.0, by="simulation", n_simulations=4000)
    assert found.interval is not None
    assert found.interval[0] < expected < found.interval[1]
    assert found.interval[1] - found.interval[0] < 0.03


def test_the_required_size_of_a_z_test_is_the_textbook_s() -> None:
    expected = math.ceil(((stats.norm.isf(0.025) + stats.norm.isf(0.2)) / 0.2) ** 2)
    assert required_n(lambda n: KnownMean(n, 0.2)).n == expected


def test_a_saw_is_searched_beyond_its_first_tooth() -> None:
    found = required_n(lambda n: SignTest(n, 0.15)).n
    powers = {n: SignTest(n, 0.15).computed().power for n in range(5, 200)}
    last_below = max(n for n, power in powers.items() if power < 0.8)
    assert found == last_below + 1
    assert min(n for n, power in powers.items() if power >= 0.8) < found  # the first tooth is lower


def test_a_size_beyond_the_search_is_no_answer() -> None:
    found = required_n(lambda n: KnownMean(n, 0.001), highest=100)
    assert found.n is None
    assert found.power == pytest.approx(KnownMean(100, 0.001).computed().power)


@pytest.mark.parametrize("power", [0.05, 1.0, -1.0])
def test_a_target_that_is_no_goal_is_refused(power: float) -> None:
    with pytest.raises(InputError, match="target power must lie between"):
        detectable_effect(KnownMean(50, 0.1), largest=1.0, power=power)


def test_an_effect_out_of_reach_is_refused_with_the_power_that_there_is() -> None:
    with pytest.raises(InputError, match=r"largest possible effect, 0\.01"):
        detectable_effect(KnownMean(50, 0.1), largest=0.01)


def test_what_cannot_be_computed_is_simulated() -> None:
    @dataclass(frozen=True)
    class Opaque(KnownMean):
        computed = property()  # type: ignore[assignment]

    result = answer(Opaque(50, 0.4), by=("computed",), n_simulations=200)
    assert result.computed is None
    assert result.simulated is not None


def test_a_surface_has_a_row_for_each_cell_in_order() -> None:
    cells = [({"n": n}, KnownMean(n, effect)) for n in (20, 80) for effect in (0.1, 0.3)]
    rows = scenario_surface(cells)
    assert [(row["n"], row["effect"]) for row in rows] == [(20, 0.1), (20, 0.3), (80, 0.1), (80, 0.3)]
    assert rows[3]["power"] == KnownMean(80, 0.3).computed().power


def build(n: int, effect: float, given: Mapping[str, Any]) -> KnownMean:
    return KnownMean(n, effect, given["alpha"])


QUESTIONS = Questions(
    "known-mean",
    Wording("known_mean", lambda scenario: [f"a z test, alpha {scenario.alpha:g}"]),
    n=own(whole(2), "Size."),
    effect=own(real(), "Effect."),
    fields={"alpha": own(real(), "Level.", usual=0.05)},
    build=build,
    largest_effect=lambda _given: 2.0,
    no_program="is a scenario of this test.",
)
GROUP = click.Group("known-mean", commands=QUESTIONS.commands())


def asked(*words: str) -> str:
    done = CliRunner().invoke(GROUP, words)
    assert done.exit_code == 0, done.output
    if "--json" not in words:  # a record holds the command as typed, however long
        assert max(map(len, done.stdout.splitlines()), default=0) <= 80
    return done.stdout


def test_power_shows_both_ways_and_json_holds_the_same() -> None:
    text = asked("power", "--n", "50", "--effect", "0.4")
    assert "Computed" in text
    assert "Simulated" in text
    record = json.loads(asked("power", "--n", "50", "--effect", "0.4", "--json"))
    assert record["schema"] == "humeval_power/known_mean_power/1"
    assert record["computed"]["power"] == pytest.approx(KnownMean(50, 0.4).computed().power)
    assert record["simulated"]["interval"][0] < record["simulated"]["power"]


def test_mde_and_size_answer_each_other() -> None:
    mde = json.loads(asked("mde", "--n", "50", "--json"))["found"][0]["effect"]
    size = json.loads(asked("size", "--effect", f"{mde:.6f}", "--json"))["found"]["n"]
    assert size in (50, 51)
    assert "n = " in asked("size", "--effect", "0.5")


def test_a_size_that_is_not_reached_ends_with_3() -> None:
    done = CliRunner().invoke(GROUP, ["size", "--effect", "0.001", "--highest", "50"])
    assert done.exit_code == 3
    assert "none up to 50" in done.stdout


def test_a_surface_writes_its_files(tmp_path: Path) -> None:
    asked("surface", "--n", "20,50", "--effect", "0.1:0.5:0.1", "-o", str(tmp_path / "s"))
    assert sorted(path.name for path in (tmp_path / "s").iterdir()) == [
        "index.html",
        "record.json",
        "surface.png",
        "surface.svg",
        "table.csv",
    ]
    assert len(json.loads((tmp_path / "s" / "record.json").read_text())["rows"]) == 10


def rating_study(effect: float = 0.1, **own: Any) -> RatingStudy:
    return RatingStudy(preset("low").with_difference(effect), crossed(12, 60), **own)


def test_a_rating_study_answers_the_questions_of_all_scenarios_by_its_formula() -> None:
    study = rating_study()
    found = power(study, n_simulations=2000)
    expected = analytic_power(study.parameters, study.design)
    assert found.analytic == expected
    assert found.simulated is not None
    low, high = found.simulated.interval
    assert low - TOLERANCE < expected.power < high + TOLERANCE
    assert "12 workers x 60 items" in str(found)


def test_its_detectable_effect_by_the_shared_search_is_that_of_its_own_root() -> None:
    study = rating_study()
    shared = detectable_effect(study, largest=1.0)
    precision = effect_precision(study.parameters, study.design)
    assert shared.by == "computed"
    assert shared.effect == pytest.approx(minimum_detectable_effect(precision), abs=2e-6)


@pytest.mark.parametrize(
    "own",
    [
        {"response": "likert", "points": 5},
        {"rule": DecisionRule(df="calibrated")},
        {"rule": DecisionRule(analysis="differences")},
    ],
)
def test_a_rating_study_that_the_formula_does_not_describe_is_simulated(own: dict[str, Any]) -> None:
    assert ways_of("analytic", rating_study(**own)) == ("simulation",)
    assert ways_of("both", rating_study()) == ("computed", "simulation")
