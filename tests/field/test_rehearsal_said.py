"""Ratings of a rehearsal are said to be that on every page and table that is made of them, before all else."""

import numpy as np
import pandas as pd
from cases import few_fast

from humeval_power.checking.rehearsed import NOTICE
from humeval_power.ratings import Ratings, ratings_from_table
from humeval_power.rules import ComparisonFamily
from humeval_power.saying.render import as_html
from humeval_power.scales import RatingScale
from humeval_power.studies.analyze.calls import analyze
from humeval_power.studies.report.caveats import as_planned


def rated(*systems: str, mark: str = "rehearsal-") -> Ratings:
    rng = np.random.default_rng(5)
    rows = [
        (f"{mark}w{worker}", f"i{item}", system, int(rng.integers(1, 6)))
        for worker in range(5)
        for item in range(8)
        for system in systems
    ]
    table = pd.DataFrame(rows, columns=["worker", "item", "system", "rating"])
    return ratings_from_table(table, scale=RatingScale(1, 5, points=5), systems=systems)


def test_the_page_of_two_systems_begins_with_it() -> None:
    page = as_html(analyze(rated("old", "new"), diagnostics=False).document())
    assert NOTICE in page
    assert page.index(NOTICE) < page.index("Effect new - old")


def test_no_report_says_that_a_rehearsal_was_carried_out() -> None:
    assert (
        as_planned({"notices": [NOTICE]}) == "This is a rehearsal: drawn ratings were analysed as planned."
    )
    assert as_planned({"notices": ["Another."]}) == "The study was carried out and analysed as planned."
    assert as_planned({}) == as_planned({"notices": []})


@few_fast("mark", ["rehearsal-", "p-"], fast=1)
def test_the_page_and_the_table_of_four_systems_begin_with_it(mark: str) -> None:
    found = analyze(rated("a", "b", "c", "d", mark=mark), family=ComparisonFamily(), diagnostics=False)
    page, table = as_html(found.document()), found.files()["findings.tex"]
    assert (NOTICE in page) is (NOTICE in table) is (mark == "rehearsal-")
    if NOTICE in table:
        assert page.index(NOTICE) < page.index("Findings")
        assert f"caption{{{NOTICE}" in table
