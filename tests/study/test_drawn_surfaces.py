"""Surfaces of power, type M and type S: over sizes or effects, and over lists of what is assumed."""

import csv
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import few_fast
from cli import run, run_json
from scipy import stats
from test_surface_figure import data_lines, legend_words, panels, power_table

from humeval_power.comparisons.accuracy.agreement import KnownAgreement
from humeval_power.comparisons.accuracy.paired import PairedAccuracy
from humeval_power.errors import InputError
from humeval_power.saying.document import QUANTITIES, Drawn
from humeval_power.saying.figure_style import figure_bytes
from humeval_power.studies.power.figures import curve_figure, surface_figure

ACCURACY = ("accuracy", "surface", "--n", "200,400,800", "--effect", "0.01,0.03")
BLEU = ("corpus", "surface", "--n", "500,2000", "--effect", "1")
STUDY = ("surface", "--preset", "high", "--workers", "3,10", "--items", "20,40", "--simulations", "200")


def cells(
    n: tuple[int, ...] = (100, 200, 400), effects: tuple[float, ...] = (0.1, 0.2), **lists: Any
) -> list:
    """Rows whose numbers can be told apart."""
    rows = []
    for place, values in enumerate(itertools.product(n, effects, *lists.values())):
        size, effect, *assumed = values
        row = {"n": size, "effect": effect, **dict(zip(lists, assumed, strict=True))}
        known = {"power": 0.001 * place, "power_low": 0.0, "power_high": 0.5}
        rows.append({**row, **known, "type_m": 1 + 0.01 * place, "type_s": 0.0001 * place})
    return rows


@few_fast("draw", list(QUANTITIES), fast=1)
def test_every_cell_is_a_point_of_its_panel(draw: Drawn) -> None:
    rows = cells(agreement=(0.8, 0.9), baseline=(0.5, 0.6, 0.7))
    figure = curve_figure(rows, effect_label="x", lists=("agreement", "baseline"), draw=draw, along="n")
    shown = panels(figure)
    of_panels = list(itertools.product((0.5, 0.6, 0.7), (0.8, 0.9)))
    assert [axes.get_title(loc="left") for axes in shown] == [
        f"agreement {agreement}, baseline {baseline}" for baseline, agreement in of_panels
    ]
    for axes, (baseline, agreement) in zip(shown, of_panels, strict=True):
        for line, effect in zip(data_lines(axes), (0.1, 0.2), strict=True):
            wanted = [
                (row["n"], row[QUANTITIES[draw].column])
                for row in rows
                if (row["agreement"], row["baseline"], row["effect"]) == (agreement, baseline, effect)
            ]
            assert np.allclose(line.get_xydata(), wanted)
    assert legend_words(figure)[:2] == ["effect 0.1", "effect 0.2"]
    assert figure_bytes(figure, "png").startswith(b"\x89PNG")


def test_more_sizes_than_effects_run_along_x_by_themselves() -> None:
    assert legend_words(curve_figure(cells(), effect_label="x"))[0] == "effect 0.1"
    assert legend_words(curve_figure(cells(n=(100, 200)), effect_label="x"))[0] == "n = 100"
    one = curve_figure(cells(effects=(0.1,), p0=(0.1, 0.2)), effect_label="x", lists=("p0",))
    assert legend_words(one)[:2] == ["p0 0.1", "p0 0.2"]


def test_a_long_range_of_sizes_is_logarithmic_and_a_strong_exaggeration_too() -> None:
    rows = cells(n=(10, 100, 1000, 10_000))
    (axes,) = panels(curve_figure(rows, effect_label="x", along="n"))
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    rows[0]["type_m"] = 40.0
    (axes,) = panels(curve_figure(rows, effect_label="x", along="n", draw="type-m"))
    assert axes.get_yscale() == "log"
    assert axes.get_ylim()[1] > 40


def test_what_cannot_be_told_apart_is_refused() -> None:
    for rows, lists, words in (
        ([], (), "no cells"),
        (cells(p0=tuple(range(5))), ("p0",), "4 panels side by side apart; got 5 values of p0"),
        (cells(n=tuple(range(9)), effects=tuple(np.arange(9) / 9)), (), "8 lines apart; got 9 sizes"),
        (cells(a=(1, 2), b=(1, 2), c=(1, 2)), ("a", "b", "c"), "three of"),
    ):
        with pytest.raises(InputError, match=words):
            curve_figure(rows, effect_label="x", lists=lists)
    nothing = [{**row, "type_m": float("nan")} for row in cells()]
    with pytest.raises(InputError, match="Only a test for a difference"):
        curve_figure(nothing, effect_label="x", draw="type-m")


def test_lists_of_what_is_assumed_give_the_powers_of_single_scenarios(tmp_path: Path) -> None:
    out = tmp_path / "grid"
    run(
        *ACCURACY,
        "--agreement",
        "0.9,0.95",
        "--baseline-accuracy",
        "0.6,0.7",
        "--draw",
        "type-m",
        "-o",
        f"{out}/",
    )
    rows = json.loads((out / "record.json").read_text())["rows"]
    assert len(rows) == 2 * 2 * 3 * 2
    for row in rows:
        alone = PairedAccuracy(
            row["n"],
            difference=row["effect"],
            agreement=KnownAgreement(row["agreement"]),
            baseline=row["baseline"],
        ).computed()
        assert (row["power"], row["type_m"]) == pytest.approx((alone.power, alone.type_m))
    table = list(csv.DictReader((out / "table.csv").read_text().splitlines()))
    assert [float(row["agreement"]) for row in table] == [row["agreement"] for row in rows]
    assert "Exaggeration of significant estimates" in (out / "index.html").read_text()


def test_a_list_of_one_is_as_a_number() -> None:
    one = run_json(*BLEU, "--p0", "0.2", "--b0", "26")["rows"]
    assert set(one[0]) == {
        *("n", "effect", "power", "power_low", "power_high", "type_m", "type_s"),
        *("n_simulations", "n_failed", "method"),
    }
    many = run_json(*BLEU, "--p0", "0.1,0.2", "--b0", "26")["rows"]
    assert [{**row, "p0": 0.2} for row in one] == many[2:]


def test_power_by_normal_theory_is_what_the_surface_of_bleu_holds() -> None:
    # Card et al. (2020), section 4, with the exact variance of the effects: E[d^2] = (1 - P0)(2 b^2 + mu^2).
    for row in run_json(*BLEU, "--b0", "15,50")["rows"]:
        n, b0, p0, effect = row["n"], row["b0"], 0.13, row["effect"]
        mean = -2 * effect / (n * (1 - p0))
        square = (1 - p0) * (2 * (b0 / n) ** 2 + mean**2)
        error = np.sqrt(n * (square - ((1 - p0) * mean) ** 2)) / 2
        cut = stats.norm.isf(0.025) * np.sqrt(n * square) / 2
        assert row["power"] == pytest.approx(stats.norm.sf((cut - effect) / error), abs=1e-4)


def test_all_combinations_that_cannot_be_are_told_at_once() -> None:
    said = run(*ACCURACY, "--agreement", "0.98,0.99", code=2).stderr
    assert "+0.03 is impossible" in said
    assert said.count("impossible") == 2
    assert "give numbers such as" in run(*ACCURACY, "--agreement", "0.9,x", code=2).stderr


def test_without_an_effect_there_is_no_figure_of_exaggeration(tmp_path: Path) -> None:
    said = run(
        "accuracy", "surface", "--n", "200", "--effect", "0", "--agreement", "0.9", "--draw", "type-s"
    )
    assert "No figure. Only a test for a difference that is there" in said.stdout
    run(*STUDY, "--effect", "0", "--draw", "type-m", "-o", tmp_path / "s")
    assert not (tmp_path / "s" / "surface.png").exists()


@pytest.mark.parametrize("draw", ["type-m", "type-s"])
def test_a_surface_of_studies_draws_its_errors_over_items(draw: Drawn) -> None:
    table = power_table().assign(
        type_m=lambda rows: 1 / rows["power"], type_s=lambda rows: 0.1 - rows["power"] / 9
    )
    figure = surface_figure(table, draw=draw, along="items")
    assert legend_words(figure)[0] == "difference 0.05"
    column = QUANTITIES[draw].column
    drawn = sorted(y for axes in panels(figure) for line in data_lines(axes) for y in line.get_ydata())
    assert drawn == pytest.approx(sorted(table[column]))
    with pytest.raises(InputError, match=f"lacks {column}"):
        surface_figure(power_table(), draw=draw)


def test_a_study_without_anything_to_compare_is_a_point() -> None:
    table = power_table(items=(50,), effects=(0.1,)).assign(type_s=0.01)
    assert figure_bytes(surface_figure(table, draw="type-s"), "png").startswith(b"\x89PNG")


def test_what_is_drawn_in_its_own_way_takes_no_draw() -> None:
    words = (*STUDY, "--effect", "0.1,0.2", "--compare", "card2020", "--draw", "type-m")
    assert "Leave out --draw and --x" in run(*words, code=2).stderr


def test_errors_of_several_systems_are_drawn_too(tmp_path: Path) -> None:
    words = (*STUDY, "--effect", "0.1,0.2", "--n-systems", "3", "--draw", "type-m")
    run(*words, "-o", tmp_path / "type_m.svg")
    assert "Type M: exaggeration" in (tmp_path / "type_m.svg").read_text()


def test_a_value_of_a_list_that_cannot_be_is_told_by_its_option() -> None:
    said = run(*BLEU, "--p0", "0.1,1.2", "--b0", "0,26", code=2).stderr
    assert "--p0 must lie in [0, 1], a share; got 1.2." in said
    assert "--b0 must be a positive number; got 0." in said
