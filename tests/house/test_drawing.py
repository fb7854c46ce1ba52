"""Pictures with an SVG of their own: what they show is what they were given, whatever the names."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from humeval_power.saying.chart import ENDS, EstimateRow, EstimateRows
from humeval_power.saying.document import Document, Section
from humeval_power.saying.render import as_html_part, as_terminal
from humeval_power.scales import RatingScale
from humeval_power.studies.fit.figures import ratings_chart
from humeval_power.studies.fit.who_rated_what import CellMap, assignment_chart

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script> \" ' & \x1b \u202e \ud800 ]]> $x^2$ \U0001f600" + 60 * "long "


def rows(n: int, name: str = "w") -> EstimateRows:
    return EstimateRows(
        tuple(
            EstimateRow(f"{name}{k}", k / n - 0.3, k / n - 0.4, k / n - 0.2, k > n / 2) for k in range(n)
        ),
        nouns="workers",
        x_label="Difference",
        usual_label="usual",
        marked_label=f"marked {name}",
        whole=0.1,
        whole_label="all",
        whole_interval=(0.0, 0.2),
    )


def grid(name: str) -> CellMap:
    levels = np.array([[0, 1, 1, 0], [2, 2, 0, 1], [3, 0, 0, 0]], dtype=np.int8)
    labels = (f"{name} only", "B only", "both")
    return CellMap(levels, labels, True, np.ones(3, int), np.ones(4, int), np.arange(3), np.arange(4))


def hostile() -> list[str]:
    ratings = {HOSTILE: np.array([1.0, 2, 2]), "B": np.array([3.0, 3])}
    return [
        rows(4, HOSTILE).chart("rows", title=HOSTILE, words=HOSTILE).svg(),
        assignment_chart(grid(HOSTILE), (HOSTILE, "b", "c"), "who", HOSTILE, HOSTILE).svg(),
        ratings_chart(ratings, RatingScale(1, 5), words=HOSTILE).svg(),
    ]


@pytest.mark.parametrize("place", range(3))
def test_names_of_any_kind_make_no_element_and_no_style(place: int) -> None:
    svg = hostile()[place]
    tags = {each.tag.removeprefix(SVG) for each in ElementTree.fromstring(svg).iter()}
    assert tags <= {"svg", "title", "desc", "g", "path", "rect", "circle", "text"}
    assert not re.search(r"\b(style|id|href|on[a-z]+)=", svg.replace("alert", ""))


def test_every_row_has_its_marker_and_its_interval() -> None:
    root = ElementTree.fromstring(rows(12).chart("rows", title="t", words="w").svg())
    lines = [each for each in root.iter(f"{SVG}path") if re.fullmatch(r"s[01]", each.get("class", ""))]
    assert len(lines) == 12
    assert sum(each.get("class") == "s1" for each in lines) == sum(row.marked for row in rows(12).rows)


def test_of_many_rows_the_ends_are_shown_with_what_is_between() -> None:
    all_rows = rows(100)
    shown = all_rows.shown
    assert len(shown) == 2 * ENDS + 1
    assert [row.value for row in shown if row] == sorted((row.value for row in shown if row), reverse=True)
    chart = all_rows.chart("rows", title="t", words="w")
    assert chart.caption == "40 more workers between, 19 of them marked"
    assert chart.y.names[ENDS] == "... 40 more"
    assert len(all_rows.table().rows) == 2 * ENDS


def test_the_cells_of_a_grid_cover_as_many_places_as_there_are() -> None:
    chart = assignment_chart(grid("A"), ("a", "b", "c"), "who", "t", "w")
    levels, covered = grid("A").levels, np.zeros((3, 4), dtype=int)
    for each, level in zip(chart.series, (1, 2, 3), strict=True):
        for row, low, high in zip(each.y, each.low, each.high, strict=True):
            covered[int(row), int(low) : int(high)] += level
    assert (covered == levels).all()
    assert chart.table().rows == (("A only", "3"), ("B only", "2"), ("both", "1"))


def test_bars_of_ratings_are_as_high_as_their_shares() -> None:
    drawn = ratings_chart({"A": np.array([1.0, 1, 1, 2])}, RatingScale(1, 2, points=2))
    root = ElementTree.fromstring(drawn.svg())
    first, second = (float(each.get("height")) for each in root.find(f"{SVG}svg").iter(f"{SVG}rect"))
    assert first == pytest.approx(3 * second, rel=0.01)
    assert "mean 1.25" in drawn.svg()
    assert drawn.table().rows == (("A", "1.25", "75 %", "25 %"),)


def test_a_page_shows_the_svg_and_the_numbers_and_a_terminal_neither() -> None:
    drawing = rows(3).chart("workers", title="How do workers differ?", words="Three of them.")
    document = Document("T", sections=(Section("S", (drawing,)),))
    page = as_html_part(document)
    assert "<svg" in page
    assert "data:image" not in page
    assert "<summary>Numbers</summary>" in page
    assert "How do workers differ?" in page
    assert "svg" not in as_terminal(document)


def test_rows_that_stand_in_an_order_of_their_own_keep_it_and_are_all_shown() -> None:
    given = tuple(EstimateRow(f"{k}", float(k % 3), -1.0, 3.0) for k in range(70))
    all_rows = EstimateRows(given, nouns="comparisons", x_label="Difference", is_ordered=False)
    assert all_rows.shown == given
