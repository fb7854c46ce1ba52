"""Figures of power: what must be in them, and that they are the same on every run."""

import itertools
import subprocess
import sys

import pandas as pd
import pytest
from cases import each_case
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection
from matplotlib.figure import Figure

from humeval_power.errors import InputError
from humeval_power.saying.figure_style import figure_bytes
from humeval_power.studies.power.figures import comparison_figure, surface_figure

LEVELS = ("power 0.8", "power 0.9", "no exaggeration")
EFFECTS = (0.05, 0.1, 0.15, 0.2)


def power_table(
    settings=("high", "low"), workers=(3, 10), items=(50, 100, 500), effects=EFFECTS, per_item=None
) -> pd.DataFrame:
    """Cells with a power that only has to rise with everything."""
    rows = []
    for setting, n_workers, n_items, effect in itertools.product(settings, workers, items, effects):
        power = 1 - 1 / (1 + 40 * effect**2 * n_workers * (n_items / 100) ** 0.3)
        rows.append(
            {
                "setting": setting,
                "workers": n_workers,
                "items": n_items,
                "ratings_per_item": per_item or n_workers,
                "effect": effect,
                "power": power,
                "power_low": power - 0.02 * power,
                "power_high": power + 0.02 * (1 - power),
            }
        )
    return pd.DataFrame(rows)


def panels(figure: Figure) -> list[Axes]:
    """The axes that show data."""
    return [axes for axes in figure.axes if axes.axison]


def data_lines(axes: Axes) -> list:
    return [line for line in axes.lines if line.get_label() not in LEVELS]


def legend_words(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_every_cell_of_the_table_is_a_point_of_the_figure():
    table = power_table()
    figure = surface_figure(table)
    assert legend_words(figure) == ["50 items", "100 items", "500 items", "power 0.8"]  # the default target
    drawn = sorted(
        (round(x, 9), round(y, 9))
        for axes in panels(figure)
        for line in data_lines(axes)
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    )
    assert drawn == sorted(zip(table["effect"].round(9), table["power"].round(9), strict=True))


def test_each_panel_has_the_line_at_the_target_and_a_band_for_each_line():
    figure = surface_figure(power_table(), target=0.9)
    assert len(panels(figure)) == 4
    for axes in panels(figure):
        targets = [line for line in axes.lines if line.get_label() in LEVELS]
        assert [line.get_ydata()[0] for line in targets] == [0.9]
        bands = [band for band in axes.collections if isinstance(band, FillBetweenPolyCollection)]
        assert len(bands) == len(data_lines(axes)) == 3


def test_bands_lie_between_the_monte_carlo_bounds():
    table = power_table(settings=("high",), workers=(3,), items=(50,))
    band = panels(surface_figure(table))[0].collections[0]
    heights = {round(y, 9) for y in band.get_paths()[0].vertices[:, 1]}
    assert heights == set(table["power_low"].round(9)) | set(table["power_high"].round(9))


def test_lines_differ_in_marker_and_dashes_and_not_in_colour_alone():
    figure = surface_figure(power_table(items=(10, 20, 30, 40, 50, 60, 70, 80)))
    lines = data_lines(panels(figure)[0])
    assert len({line.get_marker() for line in lines}) == 8
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == 8


@pytest.mark.slow
@pytest.mark.parametrize("image", ["png", "svg", "pdf"])
def test_the_bytes_are_the_same_twice(image):
    table = power_table(settings=("high",), workers=(3,))
    assert figure_bytes(surface_figure(table), image) == figure_bytes(surface_figure(table), image)


@pytest.mark.slow
def test_the_svg_is_the_same_in_another_process_and_holds_no_date():
    program = (
        "import sys; sys.path[:0] = ['tests', 'tests/study']; from test_surface_figure import *\n"
        "sys.stdout.buffer.write(figure_bytes(surface_figure(power_table(workers=(3,))), 'svg'))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    svg = figure_bytes(surface_figure(power_table(workers=(3,))), "svg")
    assert run.stdout == svg
    assert b"<dc:date>" not in svg


@pytest.mark.slow
def test_drawing_changes_nothing_for_the_users_own_figures_and_loads_no_pyplot():
    program = (
        "import sys, matplotlib; sys.path[:0] = ['tests', 'tests/study']; from test_surface_figure import *\n"
        "names = set(matplotlib.rcParams) - {'backend'}  # reading the backend loads pyplot\n"
        "before = {name: matplotlib.rcParams[name] for name in names}\n"
        "figure_bytes(surface_figure(power_table()), 'png')\n"
        "assert {name: matplotlib.rcParams[name] for name in names} == before\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_settings", "n_workers", "n_items", "n_effects"),
    [(1, 1, 1, 1), (2, 1, 1, 1), (1, 3, 1, 1), (2, 3, 4, 1), (6, 6, 8, 4), (1, 1, 8, 2), (3, 1, 1, 4)],
)
@pytest.mark.parametrize("width", [None, 3.3])
def test_any_shape_of_surface_is_drawn_without_a_warning(n_settings, n_workers, n_items, n_effects, width):
    table = power_table(
        settings=[f"setting {i}" for i in range(n_settings)],
        workers=[2, 3, 5, 10, 20, 50][:n_workers],
        items=[10, 25, 50, 100, 200, 500, 1000, 2000][:n_items],
        effects=EFFECTS[:n_effects],
    )
    assert figure_bytes(surface_figure(table, width=width, title="A title " * 9), "png")[:4] == b"\x89PNG"


def test_a_single_column_figure_is_as_wide_as_a_column():
    figure = surface_figure(power_table(("high",), (3,)), width=3.3)
    assert figure.get_figwidth() == 3.3


def test_one_effect_puts_items_on_the_x_axis():
    figure = surface_figure(power_table(effects=(0.1,)))
    assert list(data_lines(panels(figure)[0])[0].get_xdata()) == [50, 100, 500]
    assert legend_words(figure)[:2] == ["3 workers", "10 workers"]
    assert figure._suptitle.get_text() == "Power: difference 0.1"


def test_names_that_matplotlib_could_read_as_mathematics_are_drawn_as_they_are():
    table = power_table(
        settings=("$x_1$ | <b>", "cost $5", "系统"), workers=(3,), items=(50,), effects=(0.1, 0.2)
    )
    assert b"<svg" in figure_bytes(surface_figure(table, title="100 % & $y$"), "svg")


def test_ratings_per_item_are_named_where_workers_share_the_items():
    titles = [
        axes.get_title(loc="left") for axes in panels(surface_figure(power_table(("a",), per_item=3)))
    ]
    assert titles == ["3 workers", "10 workers, 3 per item"]


def compared() -> pd.DataFrame:
    honest, bold = power_table(), power_table()
    for name in ("power", "power_low", "power_high"):
        bold[name] = bold[name] ** 0.5
    return pd.concat([honest.assign(rule="REML, Kenward-Roger"), bold.assign(rule="card2020")])


def test_a_comparison_draws_both_rules_in_every_panel_and_the_claim_dashed():
    figure = comparison_figure(compared())
    assert legend_words(figure)[:2] == ["Card et al. (2020): ML, t > 1.96", "REML, Kenward-Roger"]
    for axes in panels(figure):
        lines = [line for line in axes.lines if line.get_label() in legend_words(figure)[:2]]
        assert [line.get_linestyle() for line in lines] == ["--"] * 3 + ["-"] * 3


def test_a_comparison_writes_the_widest_gap_of_each_panel_into_it():
    table = compared()
    panel = table[(table["setting"] == "high") & (table["workers"] == 3)]
    wide = panel.pivot(index=["effect", "items"], columns="rule", values="power")
    gap = wide["card2020"] - wide["REML, Kenward-Roger"]
    claimed, kept = wide.loc[gap.idxmax(), "card2020"], wide.loc[gap.idxmax(), "REML, Kenward-Roger"]
    assert f"{claimed:.2f} → {kept:.2f}" in panels(comparison_figure(table))[0].get_title(loc="left")


def test_a_surface_with_two_rules_is_drawn_as_a_comparison():
    table = compared()
    assert legend_words(surface_figure(table)) == legend_words(comparison_figure(table))


@each_case(
    ("draw", "table", "words"),
    [
        (surface_figure, power_table().drop(columns="power_low"), "lacks power_low"),
        (surface_figure, power_table().iloc[:0], "no rows"),
        (surface_figure, power_table(items=range(10, 100, 10)), "8 lines apart; this table has 9"),
        (comparison_figure, power_table(), "'rule' with two values"),
        (comparison_figure, compared()[lambda t: t["effect"] == 0.1], "several effects"),
    ],
)
def test_tables_that_cannot_be_drawn_are_refused_with_the_reason(draw, table, words):
    with pytest.raises(InputError, match=words):
        draw(table)
