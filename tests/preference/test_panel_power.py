"""Power of a panel: the formula against simulation, and what the command says."""

import math
from typing import Any

import numpy as np
import pytest
from cases import each_case, few_fast
from cli import run as run_command
from cli import run_json

from humeval_power.comparisons.preference.latent_scale import Panel
from humeval_power.comparisons.preference.scenario import PanelPreference, Preference
from humeval_power.errors import InputError
from humeval_power.studies.power.estimate import estimate_power

VARIED = {"sd_worker": 0.4, "sd_item": 0.5}


def study(n: int, workers: int, items: int, preference: float, **given: Any) -> PanelPreference:
    return PanelPreference(Panel(n, workers, items), preference=preference, **{**VARIED, **given})


@pytest.mark.slow
@few_fast(
    "scenario",
    [
        study(150, 5, 30, 0.2, tie_share=0.2),
        study(200, 10, 50, 0.15, tie_share=0.3, position_bias=0.1),
        study(150, 150, 50, 0.12, sd_worker=0.0),
        study(200, 10, 200, 0.15, link="logit", sd_worker=0.7, sd_item=0.0),
    ],
    ids=["complete", "several per item, bias", "workers once", "items once, logit"],
    fast=1,
)
def test_the_formula_is_near_what_studies_find(scenario: PanelPreference) -> None:
    computed, drawn = scenario.computed(), estimate_power(scenario, n_simulations=384, seed=4)
    # Laplace's estimates are drawn to zero a little: .05 besides 3 Monte Carlo errors.
    allowed = 0.05 + 3 * math.sqrt(computed.power * (1 - computed.power) / 384)
    assert drawn.power == pytest.approx(computed.power, abs=allowed)
    assert drawn.mean_estimate == pytest.approx(scenario.true_effect, abs=0.02)
    assert drawn.n_failed == 0


@pytest.mark.slow
@pytest.mark.parametrize("given", [{}, {"position_bias": 0.1}, {"sd_worker": 0.0, "sd_item": 0.0}])
def test_no_preference_is_found_at_most_as_often_as_agreed(given: dict[str, float]) -> None:
    scenario = study(150, 5, 30, 0.0, tie_share=0.2, **given)
    found = estimate_power(scenario, n_simulations=1024, seed=7)
    # At most 7 %: 3 Monte Carlo errors above that are .024.
    assert found.rejection_rate <= 0.07 + 3 * math.sqrt(0.07 * 0.93 / 1024)
    assert found.rejection_rate < 0.07


def test_independent_judgements_have_the_power_of_the_sign_test() -> None:
    # Each of another worker on another item: what the panel reports is the exact sign test.
    scenario = PanelPreference(Panel(60, 60, 60), preference=0.15)
    drawn = estimate_power(scenario, n_simulations=1024, seed=2)
    exact = Preference(60, preference=0.15).computed().power
    assert drawn.power == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 1024))


def test_more_of_everything_gives_more_power() -> None:
    base = study(200, 8, 50, 0.12, tie_share=0.2).computed().power
    assert study(400, 8, 100, 0.12, tie_share=0.2).computed().power > base
    assert study(200, 20, 50, 0.12, tie_share=0.2).computed().power > base
    assert study(200, 8, 50, 0.2, tie_share=0.2).computed().power > base
    assert study(200, 8, 50, 0.12, tie_share=0.2, sd_worker=0.8).computed().power < base


def test_a_preference_for_a_has_the_same_power() -> None:
    one, other = (study(200, 8, 50, sign * 0.12, tie_share=0.2).computed() for sign in (1, -1))
    assert other.power == pytest.approx(one.power, rel=1e-9)
    assert other.type_m == pytest.approx(one.type_m, rel=1e-6)


def test_exaggeration_by_formula_is_that_of_simulated_studies() -> None:
    scenario = study(150, 5, 30, 0.2, tie_share=0.2)
    drawn = estimate_power(scenario, n_simulations=384, seed=4)
    assert drawn.type_m == pytest.approx(scenario.computed().type_m, abs=0.06)


def test_strong_preferences_are_decided_by_the_sign_tests() -> None:
    drawn = study(40, 4, 10, 0.45).draw(64, seed=1)
    separated = ~np.isfinite(drawn.df)
    assert separated.any()
    assert drawn.usable.all()
    assert drawn.p_value[separated].min() == pytest.approx(2 * 0.5**4)  # four workers all for B


@each_case(
    ("wrong", "said"),
    [
        ({"sd_worker": -1.0}, "at least 0"),
        ({"alpha": 1.0}, "alpha"),
        ({"tie_share": 1.0}, "below 1"),
        ({"link": "cauchit"}, "no link"),
        ({"position_bias": 0.5}, "position bias"),
        ({"preference": 0.5}, "leaves nobody"),
    ],
)
def test_impossible_panels_are_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        PanelPreference(Panel(100, 5, 20), **{"preference": 0.1, **wrong})


# The command

PANEL = ("--workers", "10", "--judgements-per-item", "3", "--sd-worker", "0.4", "--sd-item", "0.5")


def text_of(*words: str) -> str:
    result = run_command("preference", *words)
    assert max(map(len, result.output.splitlines())) <= 80
    return " ".join(result.stdout.split())


def test_the_command_answers_for_a_panel() -> None:
    quick = ("--simulations", "24", "--jobs", "1")
    record = run_json(
        "preference", "power", "--n", "90", "--effect", "0.1", "--tie-share", "0.2", *PANEL, *quick
    )
    expected = study(90, 10, 30, 0.1, tie_share=0.2).computed()
    assert record["computed"]["power"] == pytest.approx(expected.power)
    assert record["simulated"]["n_simulations"] == 24
    text = text_of("mde", "--n", "90", "--tie-share", "0.2", *PANEL)
    assert "90 judgements of 30 items by 10 workers" in text
    found = run_json("preference", "size", "--effect", "0.2", *PANEL)
    n = found["n"] if "n" in found else found["found"]["n"]
    assert study(n, 10, -(-n // 3), 0.2).computed().power >= 0.8
    rows = run_json("preference", "surface", "--n", "60,90", "--effect", "0.1,0.2", *PANEL)["rows"]
    assert len(rows) == 4


def test_so_many_workers_and_items_give_no_more_judgements_than_pairs() -> None:
    words = ("--workers", "4", "--items", "5", "--sd-worker", "0.4", "--sd-item", "0.5")
    result = run_command("preference", "size", "--effect", "0.05", *words, code=3)
    assert "none up to 20" in result.stdout
    assert (
        "20 pairs"
        in run_command("preference", "power", "--n", "21", "--effect", "0.1", *words, code=2).stderr
    )


@each_case(
    ("words", "said"),
    [
        ("--workers 5", ("--sd-worker",)),
        ("--items 20", ("--sd-item",)),
        ("--workers 5 --judgements-per-item 3", ("--sd-worker", "--sd-item")),
        ("--sd-worker 0.4", ("Give --workers",)),
        ("--sd-item 0.4", ("--judgements-per-item too",)),
        ("--position-bias 0.1", ("belongs to workers",)),
        ("--items 20 --judgements-per-item 5 --sd-item 0.1", ("say the same",)),
        ("--workers 2 --judgements-per-item 3 --sd-worker 0.1 --sd-item 0.1", ("different workers",)),
        (
            "--workers 5 --sd-worker 0.4 --tie-rule kept --test mid-p",
            ("--tie-rule belongs", "--test belongs"),
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(words: str, said: tuple[str, ...]) -> None:
    error = run_command(
        "preference", "power", "--n", "100", "--effect", "0.1", *words.split(), code=2
    ).stderr
    for each in said:
        assert each in " ".join(error.split())


def test_as_many_workers_as_judgements_are_the_sign_test() -> None:
    text = text_of("power", "--n", "50", "--effect", "0.2", "--workers", "50", "--simulations", "50")
    assert "sign test (exact)" in text
