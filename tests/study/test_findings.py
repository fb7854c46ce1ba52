"""The findings of several systems: table, picture, record and frame say the same, in every medium."""

import re

import numpy as np
import pytest
from test_cli_many_systems import CRITERIA, NAMES, frame

from humeval_power.ratings import ratings_from_table
from humeval_power.rules import ComparisonFamily, DecisionRule
from humeval_power.saying.document import Table
from humeval_power.saying.render import as_html, as_latex, as_markdown, as_terminal
from humeval_power.saying.render.terminal import table_lines
from humeval_power.scales import RatingScale
from humeval_power.studies.analyze.calls import analyze, analyze_criteria
from humeval_power.studies.analyze.family import Unit
from humeval_power.studies.analyze.figures import heat_map_chart, ranking_chart
from humeval_power.studies.analyze.findings import chance_cell, rank_words

JOINT = ComparisonFamily(model="joint")
HOSTILE = (
    "<b>bold</b>",
    "a, b; \\c_{d} & $x$ 100%",
    "a system of a name that has sixty characters, all told",
    "😀",
)


def ratings_of(seed, names=NAMES, scale=None, criterion=None):
    scale = scale or RatingScale.parse("1:5")
    table = frame(seed, names)
    table["rating"] = scale.from_unit(table["rating"].to_numpy()).round(4)
    table = table.astype(str)
    if criterion is not None:
        table = table.assign(criterion=criterion)
    return ratings_from_table(table, criterion=criterion, scale=scale, require_pair=False)


@pytest.fixture(scope="module", params=["pairwise", "joint"])
def single(request):
    return analyze(ratings_of(1), family=ComparisonFamily(model=request.param))


@pytest.fixture(scope="module")
def several():
    by_name = {name: ratings_of(seed, criterion=name) for seed, name in enumerate(CRITERIA)}
    return analyze_criteria(by_name, lambda one: analyze(one, family=JOINT), family=JOINT)


def shown(result):
    """The rows of the findings as the table has them: name and cells by their heads."""
    [section] = [one for one in result.body().sections if one.title == "Findings"]
    [table] = [block for block in section.blocks if isinstance(block, Table)]
    return table


def drawn(chart):
    """Name, mean and interval of each row of a panel."""
    means, reach = {}, {}
    for each in chart.series:
        if each.kind == "points":
            means |= dict(zip(each.y, each.x, strict=True))
        else:
            reach[each.y[0]] = each.x
    return {name: (means[place], reach.get(place)) for place, name in enumerate(chart.y.names)}


def test_table_picture_record_and_frame_hold_the_same_rows(single):
    record = single.record()["findings"]["rows"]
    table, told = shown(single), single.findings_frame()
    (chart,) = ranking_chart([single.findings]).charts
    picture, columns = drawn(chart), dict(chart.columns)
    assert list(columns["group"]) == [row["groups"] for row in record]
    assert list(columns["rank"]) == [rank_words(row["rank_low"], row["rank_high"]) for row in record]
    assert list(columns["P(best)"]) == [chance_cell(row["best"]) for row in record]
    assert [row[0] for row in table.rows] == [row["system"] for row in record] == list(told["system"])
    for cells, row, (_, kept) in zip(table.rows, record, told.iterrows(), strict=True):
        said = dict(zip(table.header, cells, strict=True))
        assert said["mean"] == f"{row['mean']:.2f}"
        assert kept["mean"] == row["mean"] == picture[row["system"]][0]
        if single.analysis.joint is not None:
            assert said["95 % interval"] == f"{row['low']:.2f} to {row['high']:.2f}"
            assert picture[row["system"]][1] == (row["low"], row["high"])
        else:
            assert "95 % interval" not in said
        assert said["group"] == row["groups"] == kept["groups"]
        assert said["rank"] == rank_words(row["rank_low"], row["rank_high"])
        assert said["P(best)"] == chance_cell(row["best"])
        assert kept["best"] == row["best"]


def test_the_findings_are_points_of_a_declared_scale_best_first(single):
    record = single.record()
    unit_means = {one["system"]: one["mean"] for one in record["system_means"]}
    rows = record["findings"]["rows"]
    assert [row["mean"] for row in rows] == pytest.approx(
        [1 + 4 * unit_means[row["system"]] for row in rows]
    )
    assert [row["mean"] for row in rows] == sorted((row["mean"] for row in rows), reverse=True)
    assert record["findings"]["unit"] == "in points of the scale 1 to 5"


def test_where_lower_is_better_the_best_has_the_lowest_points_and_differences_their_sign():
    scale = RatingScale.parse("0:100", higher_is_better=False)
    result = analyze(ratings_of(1, NAMES[:3], scale), family=JOINT, diagnostics=False)
    rows = result.findings.rows
    assert [one.mean for one in rows] == sorted(one.mean for one in rows)
    assert all(one.low < one.mean < one.high for one in rows)
    assert rows[0].best == max(one.best for one in rows)
    first = result.ranking.pairs[0]
    assert first.left == rows[0].system
    assert first.estimate == pytest.approx(rows[0].mean - rows[1].mean)
    assert first.interval[0] < first.estimate < first.interval[1]
    assert "lower is better" in result.findings.unit.words


def test_a_scale_that_is_taken_from_the_ratings_is_shown_in_its_points():
    table = frame(1, NAMES[:3]).eval("rating = 1 + 4 * rating")
    ratings = ratings_from_table(table.astype({"rating": str}), require_pair=False)
    result = analyze(ratings, diagnostics=False)
    assert (ratings.scale.source, ratings.scale.low, ratings.scale.high) == ("inferred", 1, 5)
    assert result.findings.unit.words == "in points of the scale 1 to 5"
    means = table.groupby("system")["rating"].mean().to_dict()
    assert {one.system: one.mean for one in result.findings.rows} == pytest.approx(means)


def test_differences_and_the_map_have_the_order_and_the_sign_of_the_table(single):
    order = [one.system for one in single.findings.rows]
    table = next(
        block
        for section in single.body().sections
        if section.title == "Differences"
        for block in section.blocks
        if isinstance(block, Table)
    )
    expected = [(a, b) for place, a in enumerate(order) for b in order[place + 1 :]]
    assert [row[0] for row in table.rows] == [f"{a} - {b}" for a, b in expected]
    if single.analysis.joint is not None:  # plain means of an incomplete table may lie otherwise
        assert all(float(row[1]) >= 0 for row in table.rows)
    chart = heat_map_chart(single.analysis, single.ranking.unit, single.ranking.shown_order)
    assert [name.split("\N{NO-BREAK SPACE}")[1] for name in chart.y.names] == order
    cells = {}
    for each in chart.series:
        for row, low, text in zip(each.y, each.low, each.texts, strict=True):
            place = (order[round(low - 0.5)], order[int(row)])
            cells[place] = float(text.split("\n")[0].replace("\u2212", "-"))
    assert set(cells) == set(expected)
    means = {one.system: one.mean for one in single.findings.rows}
    for one in single.ranking.pairs:
        assert cells[one.left, one.right] == pytest.approx(one.estimate, abs=0.0051)
        if single.analysis.joint is not None:
            assert one.estimate == pytest.approx(means[one.left] - means[one.right])


def test_one_sided_tests_keep_their_direction():
    rule = DecisionRule(alternative="greater")
    result = analyze(ratings_of(1, NAMES[:3]), rule=rule, diagnostics=False)
    tested = {(one.second, one.first): 4 * one.test.estimate for one in result.analysis.results}
    assert {(one.left, one.right): one.estimate for one in result.ranking.pairs} == pytest.approx(tested)


def test_against_a_baseline_the_differences_are_findings_without_ranks():
    family = ComparisonFamily(comparisons="baseline", baseline="gamma", model="joint")
    result = analyze(ratings_of(1, NAMES[:3]), family=family, diagnostics=False)
    text = as_terminal(result.body())
    assert "alpha - gamma" in text
    assert " rank " not in text
    assert "P(best)" in text
    assert all(one.right == "gamma" for one in result.ranking.pairs)


def test_criteria_share_the_order_of_the_first_and_have_a_panel_each(several):
    first = several.results[CRITERIA[0]].analysis
    order = sorted(first.means, key=lambda one: -one.mean)
    table = shown(several)
    assert [row[0] for row in table.rows] == [one.system for one in order]
    assert [label for label, _ in table.spans] == list(CRITERIA)
    panels = ranking_chart(several.findings).charts
    assert [chart.title for chart in panels] == list(CRITERIA)
    start = 1
    for chart, found, (_, width) in zip(panels, several.findings, table.spans, strict=True):
        assert [mean for mean, _ in drawn(chart).values()] == [one.mean for one in found.rows]
        assert [row[start] for row in table.rows] == [f"{one.mean:.2f}" for one in found.rows]
        start += width
    told = several.findings_frame()
    assert list(told["criterion"]) == [name for name in CRITERIA for _ in NAMES]
    for one, found in zip(several.record()["criteria"], several.findings, strict=True):
        assert [row["mean"] for row in one["findings"]["rows"]] == [row.mean for row in found.rows]


def test_a_system_that_a_criterion_lacks_has_dashes_there():
    by_name = {name: ratings_of(0, NAMES[:n], criterion=name) for name, n in (("one", 3), ("two", 4))}
    result = analyze_criteria(
        by_name, lambda one: analyze(one, family=JOINT, diagnostics=False), family=JOINT
    )
    table = shown(result)
    assert table.rows[-1][0] == NAMES[3]
    assert set(table.rows[-1][1 : 1 + table.spans[0][1]]) == {"-"}
    assert "-" not in table.rows[-1][1 + table.spans[0][1] :]


def test_a_terminal_shows_criteria_below_each_other_and_paper_side_by_side(several):
    table = shown(several)
    lines = table_lines(table, width=80).split("\n")
    assert max(map(len, lines)) <= 80
    assert [line.strip() for line in lines if line.strip() in CRITERIA] == list(CRITERIA)
    wide = table_lines(table, width=160).split("\n")
    assert len(wide) == 2 + len(NAMES)
    heads = [wide[0].index(name) for name in CRITERIA]
    assert heads == [found.start() for found in re.finditer("mean", wide[1])]
    latex = as_latex(several.body())
    for name in CRITERIA:
        assert f"\\multicolumn{{5}}{{c}}{{{name}}}" in latex
    assert "\\cmidrule(lr){2-6} \\cmidrule(lr){7-11}" in latex
    assert as_html(several.body()).count('colspan="5"') == len(CRITERIA)
    markdown = as_markdown(several.body())
    assert all(f"**{name}**" in markdown for name in CRITERIA)


def test_wide_tables_are_cut_between_spans():
    table = Table(("n", *"abcdef"), (tuple("1234567"),), caption="c", spans=(("x", 2), ("y", 3), ("z", 1)))
    assert [part.header for part in table.parts(lambda part: len(part.header) <= 5)] == [
        ("n", "a", "b"),
        ("n", "c", "d", "e", "f"),
    ]
    assert [part.spans for part in table.parts()] == [(("x", 2),), (("y", 3),), (("z", 1),)]
    assert [part.caption for part in table.parts()] == ["c", "", ""]
    assert table.parts(lambda part: bool(part.header))[0].rows == table.rows


def test_a_screen_holds_the_systems_and_criteria_and_the_rest_is_for_details(several):
    short, whole = as_terminal(several.body()), as_terminal(several.body(), details=True)
    assert short.count("\n") < 80
    assert max(map(len, whole.split("\n"))) <= 80
    for one in several.systems[CRITERIA[0]].pairs:
        assert f"{one.left} - {one.right}" in whole


@pytest.mark.slow
def test_two_screens_hold_eight_systems_and_three_criteria():
    names = [f"system{number}" for number in range(8)]
    by_name = {name: ratings_of(seed, names, criterion=name) for seed, name in enumerate("abc")}
    result = analyze_criteria(by_name, lambda one: analyze(one, family=JOINT), family=JOINT)
    short, whole = as_terminal(result.body()), as_terminal(result.body(), details=True)
    assert short.count("\n") < 100
    assert max(map(len, whole.split("\n"))) <= 80
    assert "system0 - system1" not in short or "system1 - system0" not in short
    for one in result.systems["a"].pairs:
        assert f"{one.left} - {one.right}" in whole


@pytest.mark.slow
def test_hostile_names_are_shown_in_every_medium():
    result = analyze(ratings_of(1, HOSTILE), family=JOINT)
    assert max(map(len, as_terminal(result.body(), details=True).split("\n"))) <= 80
    page = as_html(result.body())
    assert "<b>bold</b>" not in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    for picture in result.document().pictures:
        assert picture.content("png").startswith(b"\x89PNG")
    assert "\\_" in as_latex(result.body())


@pytest.mark.parametrize(
    ("scale", "digits", "words"),
    [
        ("1:5", 2, "in points of the scale 1 to 5"),
        ("0:100", 1, "in points of the scale 0 to 100"),
        ("0:1", 3, "in points of the scale 0 to 1"),
        ("-3:3", 2, "in points of the scale -3 to 3"),
    ],
)
def test_decimals_follow_the_width_of_the_scale(scale, digits, words):
    unit = Unit(RatingScale.parse(scale))
    assert (unit.digits, unit.words) == (digits, words)
    assert unit.mean(0.5) == pytest.approx(np.mean([unit.scale.low, unit.scale.high]))
    assert unit.difference(0.25) == pytest.approx(unit.scale.width / 4)


def test_the_folder_has_the_findings_for_a_spreadsheet_and_for_a_paper(several):
    files = several.files()
    lines = files["findings.csv"].splitlines()
    assert len(lines) == 1 + len(CRITERIA) * len(NAMES)
    told = several.findings_frame()
    assert [line.split(",")[1] for line in lines[1:]] == list(told["system"])
    paper = re.sub(r"\\multicolumn\{1\}\{r\}\{((?:[^{}]|\{\})*)\}", r"\1", files["findings.tex"])
    assert paper.count("\\begin{tabular}") == 1
    assert paper.count("\\begin{table*}") == 1
    for row in shown(several).rows:
        cells = " & ".join(row).replace("<", "\\textless{}").replace(">", "\\textgreater{}")
        assert cells in paper
