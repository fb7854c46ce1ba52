"""What a collection of published comparisons is: spread, sizes, kinds, tests and bold type, and its picture."""

import json
from pathlib import Path

import pandas as pd
import pytest
from cli import run, run_json

from humeval_power.comparisons.survey.result import survey_chart
from humeval_power.comparisons.survey.survey import (
    PublishedComparison,
    Share,
    describe,
    read_comparisons,
    survey,
)
from humeval_power.parameters import preset

ROOT = Path(__file__).parents[2]
CARD2020 = ROOT / "examples" / "papers" / "card2020_repository" / "num_items_vs_effect_size.csv"
HEADER = "paper,type,effect,items,workers,ratings_per_item,tested,bold\n"


def written(folder: Path, *rows: str) -> Path:
    path = folder / "papers.csv"
    path.write_text(HEADER + "\n".join(rows) + "\n")
    return path


def test_the_table_of_card_et_al_has_the_numbers_that_they_printed() -> None:
    # Section 5.1: 117 comparisons from 41 papers, s.d. .12, 69 % with 100 items or fewer, 18 % with over 200,
    # 57 % with 3 ratings per item, and missing are 34 % (ratings per item), 28 % (workers), 7 % (items).
    record = run_json("survey", CARD2020, "--preset", "high")
    described, reported = record["described"], record["reported"]
    assert (record["comparisons"], described["papers"]) == (117, 41)
    assert round(described["effects"]["sd"], 2) == 0.12
    up_to = {most: share["count"] / share["known"] for most, share in described["up_to"].items()}
    assert (round(up_to["100"], 2), round(1 - up_to["200"], 2)) == (0.69, 0.18)
    commonest = described["sizes"]["ratings_per_item"]
    assert (commonest["commonest"], round(commonest["n_commonest"] / commonest["n"], 2)) == (3, 0.57)
    missing = {name: round(1 - count / 117, 2) for name, count in reported.items()}
    assert (missing["ratings_per_item"], missing["workers"], missing["items"]) == (0.34, 0.28, 0.07)


def test_description_is_that_of_pandas() -> None:
    table = pd.read_csv(CARD2020)
    found = describe(read_comparisons(CARD2020)[0])
    assert found.effects is not None
    spread = table["diff"].describe()
    assert (found.effects.mean, found.effects.sd, found.effects.middle) == pytest.approx(
        (spread["mean"], spread["std"], spread["50%"])
    )
    for name, column in (("items", "Examples"), ("workers", "Tot.Ann"), ("ratings_per_item", "Ann.Per.Ex")):
        known = table[column].dropna()
        sizes = found.sizes[name]
        assert (sizes.n, sizes.low, sizes.high) == (len(known), known.min(), known.max())
        assert sizes.middle == known.median()
        assert sizes.commonest == known.mode().iloc[0]
        assert sizes.n_commonest == (known == sizes.commonest).sum()


def test_what_nobody_tells_is_not_described() -> None:
    found = describe([PublishedComparison("x")])
    assert (found.papers, found.effects, found.tested, found.bold) == (None, None, None, None)
    assert not found.sizes
    assert not found.up_to
    assert not found.kinds
    one = describe([PublishedComparison("x", effect=0.1)]).effects
    assert one is not None
    assert one.sd is None


def test_kinds_tests_and_bold_type_are_counted_among_those_that_tell(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "a,rating,0.1,100,3,3,yes,no",
        "a,rating,0.1,unspecified,1,N/A,No,yes",
        "b,choice,,50,not reported,3,TRUE,",
        "b,,,50,2,2,-,x",
    )
    comparisons, _ = read_comparisons(path)
    found = describe(comparisons)
    assert found.kinds == {"rating": 2, "choice": 1}
    assert (found.tested, found.bold) == (Share(2, 3), Share(2, 3))
    assert found.papers == 2
    assert [each.workers for each in comparisons] == [3, 1, None, 2]
    told = run("survey", path, "--preset", "low").stdout
    assert "2 of 3 that tell (67 %) report a test" in told
    assert "4 comparisons from 2 papers" in told
    assert max(map(len, told.splitlines())) <= 80


def test_one_worker_is_reported_and_has_no_power(tmp_path: Path) -> None:
    record = run_json("survey", written(tmp_path, "a,x,0.1,50,1,1,yes,yes"), "--preset", "low")
    assert record["reported"]["workers"] == 1
    assert record["rows"][0]["mde80"] is None
    assert "no such design" in record["rows"][0]["reason"]


def test_a_table_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("id,worker_rating\n1,5\n")
    assert (
        "no column tells anything of a comparison" in run("survey", path, "--preset", "low", code=2).stderr
    )


def test_columns_that_are_not_used_are_named(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("paper,items,metric,<b>x\na,50,fluency,1\n")
    assert "Not used: metric, <b>x." in run("survey", path, "--preset", "low").stderr


def test_a_line_joins_studies_of_as_many_workers_alone() -> None:
    sizes = [(3, 3, 50), (3, 3, 200), (10, 10, 50), (10, 10, 100), (10, 5, 300)]
    collection = [
        PublishedComparison(f"{place}", effect=0.1, workers=workers, ratings_per_item=each, items=items)
        for place, (workers, each, items) in enumerate(sizes)
    ]
    found = survey(collection, {"low": preset("low")})
    drawn = {each.x for each in survey_chart(collection, found).series if each.kind == "line"}
    assert {(50, 200), (50, 100), (300,)} <= drawn
    assert not any({50, 300} <= set(x) or {100, 200} <= set(x) for x in drawn)


def test_hostile_words_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    path = written(tmp_path, "<script>alert(1)</script>,<img src=x>,0.1,50,3,3,yes,no")
    run("survey", path, "--preset", "low", "-o", tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text()
    assert "<script>alert" not in page
    assert "<img src=x>" not in page
    assert json.loads((tmp_path / "out" / "record.json").read_text())["described"]["kinds"] == {
        "<img src=x>": 1
    }
