"""Charts: the places of values, the same data in every medium, safe text, colours that stand out."""

import re
from dataclasses import replace
from importlib.resources import files
from math import isclose
from xml.etree import ElementTree

import numpy as np
import pytest
from cases import each_case
from hypothesis import given
from hypothesis import strategies as st

from humeval_power.errors import InputError
from humeval_power.saying.chart import (
    Axis,
    Chart,
    EstimateRow,
    EstimateRows,
    LaterChart,
    Level,
    Panels,
    Series,
    Spot,
    Upright,
    tick_step,
)
from humeval_power.saying.document import Document, Section
from humeval_power.saying.render import as_html, as_html_part, as_markdown, as_terminal
from humeval_power.saying.render.svg import COLOURS, WIDTH, frame_of

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script> \" ' & \x1b \u202e \ud800 ]]> $x^2$ \U0001f600" + 60 * "long "
WORKERS = Axis("Workers", 2, 200, is_log=True, is_whole=True)
POWER = Axis("Power", 0, 1)


def chart(name: str = "workers", text: str = "by formula") -> Chart:
    """One of each kind of series and mark."""
    x = (2.0, 5.0, 20.0, 80.0, 200.0)
    y = (0.1, 0.2, 0.5, 0.8, 0.95)
    return Chart(
        name,
        "What would more workers bring?",
        "20 workers have power 0.50; 80 reach 0.8.",
        WORKERS,
        POWER,
        (
            Series(
                "band", "band", x, (), tuple(each - 0.05 for each in y), tuple(each + 0.05 for each in y), 2
            ),
            Series("line", text, x, y),
            Series("steps", "steps", x, y, colour=3),
            Series("points", "points", x[1:4], y[1:4], y[:3], y[2:], 4),
        ),
        (Level("target 0.8", 0.8), Upright("budget", 50.0), Spot("you are here", 20.0, 0.5, 0.45, 0.55)),
        "Made up.",
    )


def shares() -> Chart:
    """One bar of three parts."""
    parts = (("workers", 0, 62), ("items", 62, 92), ("residual", 92, 100))
    series = tuple(
        Series("bars", name, y=(0,), low=(low,), high=(high,), colour=place)
        for place, (name, low, high) in enumerate(parts)
    )
    return Chart(
        "shares", "What?", "Workers.", Axis("Share", 0, 100, "%"), Axis("", 0, 1, names=("all",)), series
    )


def test_an_even_axis_puts_a_value_where_its_share_of_the_range_is():
    assert Axis("x", 10, 30).share(15) == 0.25
    assert Axis("x", 1, 100, is_log=True).share(10) == pytest.approx(0.5)


def test_a_point_of_the_drawing_stands_at_the_scale_of_its_value():
    drawn = chart()
    frame = frame_of(drawn)
    root = ElementTree.fromstring(drawn.svg())
    paths = (each.get("d") for each in root.iter(f"{SVG}path") if each.get("class") == "s0")
    (path,) = (each for each in paths if "L" in each)  # the other is the sample in the legend
    places = [tuple(map(float, pair.split())) for pair in path[1:].split("L")]
    line = drawn.series[1]
    expected = [(frame.across(a), frame.down(b)) for a, b in zip(line.x, line.y, strict=True)]
    assert places == [pytest.approx(each, abs=0.051) for each in expected]  # written to a tenth
    assert (frame.across(2), frame.across(200)) == (frame.left, frame.left + frame.width)
    assert (frame.down(0), frame.down(1)) == (frame.bottom, frame.top)


def test_the_figure_of_a_file_has_the_data_of_the_drawing():
    drawn = chart()
    frame = frame_of(drawn)
    axes = drawn.figure.axes[0]
    line = next(each for each in axes.lines if each.get_label() == "by formula")
    assert tuple(line.get_xdata()) == drawn.series[1].x
    assert tuple(line.get_ydata()) == drawn.series[1].y
    assert (axes.get_xlim(), axes.get_ylim()) == ((2, 200), (0, 1))
    assert axes.get_xscale() == "log"
    assert tuple(axes.get_xticks()) == frame.x.ticks()
    shown = [text.get_text() for text in axes.get_xticklabels()]
    assert shown == [frame.x.tick_text(tick) for tick in frame.x.ticks()]
    legend = [text.get_text() for text in drawn.figure.legends[0].get_texts()]
    assert set(legend) == {"band", "by formula", "steps", "points", "target 0.8", "budget", "you are here"}


def test_bars_are_as_wide_as_their_parts_and_touch():
    drawn = shares()
    frame = frame_of(drawn)
    root = ElementTree.fromstring(drawn.svg())
    bars = root.find(f"{SVG}svg").iter(f"{SVG}rect")
    widths = [float(bar.get("width")) + 1 for bar in bars]  # a gap of 1 sets them apart
    assert widths == [pytest.approx(frame.width * part, abs=0.11) for part in (0.62, 0.30, 0.08)]
    of_figure = drawn.figure.axes[0].containers
    assert [each.patches[0].get_width() for each in of_figure] == [62, 30, 8]


def matrix(*, named: bool) -> Chart:
    """Of three systems the first is above the last alone."""
    first, names = (0, ("a", "b", "c")) if named else (1, ())
    y = Axis("", 0, 3, names=names) if named else Axis("Place", 0.5, 3.5, is_reversed=True)
    above = Series("cells", "above", y=(first,), low=(2.5,), high=(3.5,))
    below = Series("cells", "below", y=(first + 2,), low=(0.5,), high=(1.5,), colour=1)
    return Chart("pairs", "Who?", "The first.", Axis("Place", 0.5, 3.5), y, (above, below))


@pytest.mark.parametrize("named", [True, False])
def test_cells_fill_their_row_and_column_from_the_top(named):
    drawn = matrix(named=named)
    frame, across = frame_of(drawn), []
    root = ElementTree.fromstring(drawn.svg())
    for path in root.find(f"{SVG}svg").iter(f"{SVG}path"):
        across.append([float(each) for each in re.findall(r"[\d.]+", path.get("d"))])
    (left, top, right, bottom, _), (left_below, top_below, *_) = across
    assert (left, right) == pytest.approx(
        (frame.left + frame.width * 2 / 3, frame.left + frame.width), abs=0.06
    )
    assert (top, bottom) == pytest.approx((frame.top, frame.top + frame.height / 3), abs=0.06)
    assert (left_below, top_below) == pytest.approx(
        (frame.left, frame.top + frame.height * 2 / 3), abs=0.06
    )
    axes = drawn.figure.axes[0]
    above = axes.containers[0].patches[0]
    place = axes.transLimits.transform([above.get_xy(), (above.get_x() + 1, above.get_y() + 1)])
    assert sorted(place[:, 0]) == pytest.approx([2 / 3, 1])
    assert sorted(place[:, 1]) == pytest.approx([2 / 3, 1])  # of the height, from below


def panels() -> Panels:
    """Two charts of one kind: a line over the same x, with a caption each."""
    charts = tuple(
        Chart(
            "panels",
            title,
            "Two.",
            Axis("Items", 0, 100, is_whole=True),
            POWER,
            (
                Series.of("marked", "power", ((20.0, low), (80.0, 0.9))),
                Series.of("line", title, ((0, 0), (100, 1)), 1),
            ),
            (Level("target", 0.8),),
            f"from {low:g}",
        )
        for title, low in (("few", 0.2), ("many", 0.6))
    )
    return Panels("panels", "How does power rise?", "Two of them.", charts)


def texts_of(svg: str) -> list[str]:
    return [each.text for each in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_panels_say_once_what_is_the_same_in_all_and_show_the_data_of_each():
    drawn = panels()
    texts = texts_of(drawn.svg())
    for text in ("Items", "Power", "few", "many", "from 0.2", "from 0.6", "power", "target"):
        assert texts.count(text) == (2 if text in ("few", "many") else 1), (
            text
        )  # titles, and names in the legend
    root = ElementTree.fromstring(drawn.svg())
    left, right = ([float(each.get("x")), float(each.get("width"))] for each in root.findall(f"{SVG}svg"))
    assert left[0] + left[1] < right[0] < right[0] + right[1] < float(root.get("viewBox").split()[2])
    figure = drawn.figure
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["few", "many"]
    assert [axes.get_title(loc="right") for axes in figure.axes] == ["from 0.2", "from 0.6"]
    for axes, chart in zip(figure.axes, drawn.charts, strict=True):
        line = next(each for each in axes.lines if each.get_label() == "power")
        assert tuple(line.get_ydata()) == chart.series[0].y
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["power", "few", "target", "many"]
    table = drawn.table()
    assert table.header == ("", "Items", "power", "few", "many")
    assert ("few", "20", "0.2", "", "") in table.rows
    assert ("many", "80", "0.9", "", "") in table.rows


def heat_map() -> Chart:
    """Three systems; a cell is too narrow for one of its texts."""
    names = ("1 a", "2 b", "3 c")
    x = Axis("Column", 0.5, 3.5, places=((1.0, "1"), (2.0, "2"), (3.0, "3")))
    strong = Series("cells", "sure", y=(1.0,), low=(0.5,), high=(1.5,), texts=("+0.52\n0.004",))
    weak = Series(
        "cells",
        "not",
        y=(2.0, 2.0),
        low=(0.5, 1.5),
        high=(1.5, 2.5),
        strength=0.2,
        texts=("+0.1", 90 * "long"),
    )
    return Chart("map", "Who?", "One.", x, Axis("", 0, 3, names=names), (strong, weak))


def test_cells_hold_their_texts_where_there_is_room_and_the_table_all_of_them():
    drawn = heat_map()
    shown = [text.get_text() for text in drawn.figure.axes[0].texts]
    assert shown == ["+0.52\n0.004", "+0.1"]
    texts = texts_of(drawn.svg())
    assert {"+0.52", "0.004", "+0.1"} <= set(texts)
    assert 90 * "long" not in texts
    assert drawn.table().header == ("", "1", "2", "3")
    assert drawn.table().rows[1:] == (("2 b", "+0.52, p 0.004", "", ""), ("3 c", "+0.1", 90 * "long", ""))
    root = ElementTree.fromstring(drawn.svg())
    on_dark = [each for each in root.iter(f"{SVG}g") if each.get("class") == "on"]
    assert [text.text for each in on_dark for text in each] == [
        "+0.52",
        "0.004",
    ]  # those on the strong colour


def test_the_strength_of_a_colour_is_its_opacity():
    root = ElementTree.fromstring(heat_map().svg())
    opacity = {
        each.get("fill-opacity") for each in root.iter(f"{SVG}path") if each.get("class") == "f0 edged"
    }
    assert opacity == {None, "0.2"}
    alphas = {bars.patches[0].get_alpha() for bars in heat_map().figure.axes[0].containers}
    assert alphas == {1.0, 0.2}


def test_texts_beside_rows_stand_at_the_height_of_their_row_with_a_heading():
    rows = EstimateRows((EstimateRow("a", 1.0), EstimateRow("b", 2.0)), "", "Mean", is_ordered=False)
    plain = rows.chart("rows", title="t", words="w")
    drawn = replace(plain, columns=(("rank", ("1 to 2", "2")), ("P(best)", ("0.9", "0.1"))))
    places = {each.text: each for each in ElementTree.fromstring(drawn.svg()).iter(f"{SVG}text")}
    for name, texts in (("a", ("1 to 2", "0.9")), ("b", ("2", "0.1"))):
        for text in texts:
            assert float(places[text].get("y")) == pytest.approx(float(places[name].get("y")), abs=1)
    assert float(places["P(best)"].get("y")) < float(places["0.9"].get("y"))
    assert {"rank", "2", "0.1"} <= {text.get_text() for text in drawn.figure.axes[0].texts}
    assert drawn.table().header[-2:] == ("rank", "P(best)")
    assert drawn.table().rows[0][-2:] == ("1 to 2", "0.9")


def test_an_axis_above_runs_as_the_one_below_also_backwards():
    x = Axis("on [0, 1]", -0.1, 0.3)
    series = (Series("points", "p", (0.1,), (0.0,)),)
    for sign in (1, -1):
        top = Axis("points", *sorted((sign * -0.4, sign * 1.2)), is_reversed=sign < 0)
        drawn = Chart("top", "t", "w", x, Axis("", 0, 1, names=("",)), series, top=top)
        assert top.share(sign * 0.4) == pytest.approx(x.share(0.1))
        below, above = drawn.figure.axes
        assert above.get_xlim() == pytest.approx(tuple(4 * sign * each for each in below.get_xlim()))
        assert "points" in texts_of(drawn.svg())


def test_points_that_are_many_are_one_path_with_a_dot_for_each_place():
    x = tuple(np.linspace(0, 1, 5000))
    many = Series("points", "a rating", x, x, strength=0.1)
    drawn = Chart("cloud", "t", "w", Axis("x", 0, 1), Axis("y", 0, 1), (many,))
    frame = frame_of(drawn)
    root = ElementTree.fromstring(drawn.svg())
    (path,) = (each for each in root.iter(f"{SVG}path") if each.get("stroke-linecap"))
    dots = {tuple(map(int, dot.split())) for dot in re.findall(r"M([\d ]+)h0", path.get("d"))}
    assert dots == {
        (round(float(f"{frame.across(a):.0f}")), round(float(f"{frame.down(a):.0f}"))) for a in x
    }
    assert len(drawn.figure.axes[0].lines[0].get_xdata()) == 5000


def test_columns_stand_on_nothing_and_are_as_wide_as_their_ends():
    bins = Series("columns", "", y=(0.5, 0.25), low=(0.0, 2.0), high=(2.0, 4.0))
    drawn = Chart("hist", "t", "w", Axis("x", 0, 4), Axis("share", 0, 1), (bins,))
    frame = frame_of(drawn)
    first, second = ElementTree.fromstring(drawn.svg()).find(f"{SVG}svg").iter(f"{SVG}rect")
    assert float(first.get("height")) == pytest.approx(frame.height / 2, abs=0.1)
    assert float(second.get("y")) + float(second.get("height")) == pytest.approx(frame.bottom, abs=0.1)
    assert float(first.get("width")) + 1 == pytest.approx(frame.width / 2, abs=0.2)
    assert [bar.get_height() for bar in drawn.figure.axes[0].patches] == [0.5, 0.25]
    assert drawn.table().rows == (("0 to 2", "0.5"), ("2 to 4", "0.25"))


def test_ticks_of_its_own_keep_their_texts_and_none_lie_over_each_other():
    axis = Axis("Items", 10, 1000, is_log=True, places=tuple((n, f"{n:,}") for n in (10, 11, 100, 1000)))
    assert axis.ticks() == (10, 11, 100, 1000)
    assert axis.ticks(40) == (10, 100, 1000)
    assert axis.tick_text(1000) == "1,000"
    assert Axis("x", 0, 1, places=()).ticks() == ()


def test_long_names_of_few_rows_stand_in_two_lines():
    names = ("short", "a name of several words that is too long for one line", 80 * "x")
    bars = Series("bars", "n", y=(0.0, 1.0, 2.0), low=(0,) * 3, high=(1.0, 2.0, 3.0))
    drawn = Chart("rows", "t", "w", Axis("x", 0, 3), Axis("", 0, 3, names=names), (bars,))
    lines = [
        each for each in texts_of(drawn.svg()) if "a name" in each or "too long" in each or "xx" in each
    ]
    assert lines == ["a name of several words that", "is too long for one line", 25 * "x" + "..."]
    shown = [label.get_text() for label in drawn.figure.axes[0].get_yticklabels()]
    assert shown[1].count("\n") == 1
    assert shown[2].endswith("...")


def test_the_table_has_the_numbers_of_the_series_and_the_marks():
    table = chart().table()
    assert table.header == ("Workers", "band", "by formula", "steps", "points")
    assert table.rows[2] == ("20", "0.45 to 0.55", "0.5", "0.5", "0.5 (0.2 to 0.8)")
    assert "you are here" in table.caption
    assert shares().table().rows == (("workers", "62"), ("items", "30"), ("residual", "8"))


def test_the_table_of_a_long_curve_keeps_thirteen_points_and_both_ends():
    x = tuple(map(float, range(100)))
    curve = Chart("c", "c", "c", Axis("x", 0, 99), Axis("y", 0, 99), (Series("line", "l", x, x),))
    rows = curve.table().rows
    assert (len(rows), rows[0][0], rows[-1][0]) == (13, "0", "99")


def test_what_is_drawn_has_no_style_no_script_no_id_and_is_well_formed():
    for svg in (chart(text=HOSTILE).svg(), shares().svg()):
        root = ElementTree.fromstring(svg)
        for each in root.iter():
            assert not {"style", "id", "href", "onload"} & set(each.attrib)
            assert each.tag.removeprefix(SVG) in (
                "svg",
                "g",
                "path",
                "rect",
                "circle",
                "text",
                "title",
                "desc",
            )
        assert root.get("role") == "img"
        assert root.find(f"{SVG}title").text
        assert root.find(f"{SVG}desc").text


def test_hostile_names_are_shown_and_do_not_act():
    drawn = chart(text=HOSTILE)
    named = Chart(drawn.name, HOSTILE, HOSTILE, drawn.x, drawn.y, drawn.series, drawn.marks, HOSTILE)
    page = as_html(Document("Charts", sections=(Section("A", (named,)),)))
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "\x1b" not in page
    root = ElementTree.fromstring(named.svg())
    assert root.find(f"{SVG}title").text.startswith("<script>alert(1)</script>")
    assert b"<script" not in named.content("svg")
    named.content("png")


def test_ten_charts_on_a_page_keep_out_of_each_others_way():
    ten = tuple(chart(f"chart{place}") for place in range(10))
    page = as_html(Document("Charts", sections=(Section("A", ten),)))
    assert page.count('<figure class="chart">') == 10
    assert page.count("<summary>Numbers</summary>") == 10
    assert " id=" not in page
    assert " style=" not in page
    assert "<img" not in page


def test_a_part_of_a_page_draws_without_a_style_sheet():
    part = as_html_part(Document("Charts", sections=(Section("A", (chart(),)),)))
    assert f'stroke="{COLOURS[0]}"' in part
    assert 'fill="currentColor"' in part


def test_a_file_stands_by_itself_with_its_style_inside():
    file = chart().content("svg")
    root = ElementTree.fromstring(file)
    assert file.startswith(b"<?xml")
    assert root.find(f"{SVG}style") is not None
    assert root.find(f"{SVG}rect").get("fill") == "#ffffff"
    assert chart().content("png").startswith(b"\x89PNG")


def test_terminals_leave_charts_out_and_other_media_name_their_file():
    document = Document("Charts", sections=(Section("A", (chart(),)),))
    assert as_terminal(document) == "Charts"
    assert "![20 workers have power 0.50; 80 reach 0.8.](workers.png)" in as_markdown(
        document, pictures=True
    )
    assert "power 0.50" not in as_markdown(document)


def test_text_keeps_inside_the_drawing():
    # letters are at most 0.62 of their size wide on average in the fonts of pages
    for drawn in (chart(text=60 * "w"), shares()):
        for each in ElementTree.fromstring(drawn.svg()).iter(f"{SVG}text"):
            if each.get("text-anchor") is None:
                assert float(each.get("x")) + 0.5 * 13 * len(each.text) <= WIDTH + 4


@given(low=st.floats(-1e6, 1e6), span=st.floats(1e-6, 1e6))
def test_ticks_of_an_even_axis_are_few_round_and_inside(low, span):
    axis = Axis("x", low, low + span) if low + span > low else Axis("x", 0, span)
    ticks = axis.ticks()
    assert 2 <= len(ticks) <= 6
    slack = 1e-6 * (axis.high - axis.low)
    assert axis.low - slack <= ticks[0] < ticks[-1] <= axis.high + slack
    step = tick_step(axis.high - axis.low)
    mantissa = step / 10.0 ** round(float(f"{step:e}".split("e")[1]))
    assert any(isclose(mantissa, each, rel_tol=1e-6) for each in (1, 2, 2.5, 5, 10))
    assert len({axis.tick_text(tick) for tick in ticks}) == len(ticks)


@given(low=st.floats(1e-3, 1e4), factor=st.floats(2.5, 1e6))
def test_ticks_of_a_logarithmic_axis_are_few_and_inside(low, factor):
    axis = Axis("x", low, low * factor, is_log=True)
    ticks = axis.ticks()
    assert 1 <= len(ticks) <= 7
    assert all(axis.low * 0.999 <= tick <= axis.high * 1.001 for tick in ticks)
    assert len({axis.tick_text(tick) for tick in ticks}) == len(ticks)


def test_ticks_of_counts_are_whole():
    assert Axis("Workers", 2, 5, is_whole=True).ticks() == (2, 3, 4, 5)
    assert Axis("Cost", 0, 1000, "USD").ticks() == (0, 200, 400, 600, 800, 1000)
    assert [Axis("x", 0, 0.5).tick_text(tick) for tick in Axis("x", 0, 0.5).ticks()] == [
        *("0.0", "0.1", "0.2", "0.3", "0.4", "0.5")
    ]
    assert [Axis("x", -1, 0.25).tick_text(tick) for tick in Axis("x", -1, 0.25).ticks()] == [
        *("\u22121.00", "\u22120.75", "\u22120.50", "\u22120.25", "0.00", "0.25")
    ]


@each_case(
    "make",
    [
        lambda: Axis("x", 1, 1),
        lambda: Axis("x", 0, float("nan")),
        lambda: Axis("x", 0, 1, is_log=True),
        lambda: Series("line", "l", (1.0,), (1.0, 2.0)),
        lambda: Series("line", "l", (), ()),
        lambda: Series("line", "l", (1.0,), (float("nan"),)),
        lambda: Series("band", "b", (1.0,), (), (1.0,)),
    ],
)
def test_what_cannot_be_drawn_is_refused(make):
    with pytest.raises(InputError):
        make()


def contrast(first: str, second: str) -> float:
    """Relative luminance ratio of WCAG 2.2, 1.4.3."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def themes() -> dict[str, dict[str, str]]:
    """The variables of the style sheet: in the light, in the dark, on paper."""
    css = files("humeval_power.saying.render").joinpath("templates/page.css").read_text()
    found = [
        dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in re.findall(r":root \{([^}]*)\}", css)
    ]
    return dict(zip(("light", "dark", "print"), found, strict=True))


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_every_colour_stands_out_from_the_paper(theme):
    colours = themes()[theme]
    for place in range(8):
        assert contrast(colours[f"c{place}"], colours["paper"]) >= 3, place  # WCAG 2.2, 1.4.11 for graphics
    for name in ("ink", "quiet"):
        assert contrast(colours[name], colours["paper"]) >= 4.5  # and 1.4.3 for text


def test_the_colours_without_a_style_sheet_are_those_of_the_light_one():
    light = themes()["light"]
    assert [light[f"c{place}"] for place in range(8)] == [colour.lower() for colour in COLOURS]


def test_a_chart_that_is_made_later_is_made_once_and_where_it_is_shown():
    made = []

    def make() -> Chart:
        made.append(1)
        return chart()

    later = LaterChart("power", make, words="Power.")
    document = Document("Charts", sections=(Section("A", (later,)),))
    as_terminal(document)
    assert not made
    page = as_html(document)
    assert page == as_html(Document("Charts", sections=(Section("A", (chart("power"),)),)))
    assert later.content("svg") == chart().content("svg")
    assert later.named("other").figure is later.chart.figure
    assert made == [1]
