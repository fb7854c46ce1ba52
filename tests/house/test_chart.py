"""Charts: the places of values, the same data in every medium, safe text, colours that stand out."""

import re
from importlib.resources import files
from math import isclose
from xml.etree import ElementTree

import pytest
from cases import each_case
from hypothesis import given
from hypothesis import strategies as st

from humeval_power.errors import InputError
from humeval_power.saying.chart import Axis, Chart, LaterChart, Level, Series, Spot, Upright, tick_step
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
