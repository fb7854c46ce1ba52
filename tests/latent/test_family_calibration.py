"""The rates of docs/calibration.md are those of its script, and no test of few workers is too bold."""

from __future__ import annotations

import importlib
import re

import pytest
from places import ROOT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "condition", "workers"), [("five boxes", "complete", 5), ("yes and no", "documents", 5)]
)
def test_the_page_shows_what_the_script_finds(
    kind: str, condition: str, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    script = importlib.import_module("make_family_calibration")
    found = script.cell(kind, condition, workers, script.STUDIES)
    place = script.CONDITIONS.index(condition)
    for test in script.TESTS:
        (row,) = re.findall(
            rf"^\| {kind} \| {workers} \| {test} \| (.*) \|$", script.PAGE.read_text(), re.MULTILINE
        )
        shown = float(row.split(" | ")[place].strip("*").removesuffix(" %"))
        # the page is from one version of the search, which may end a hair elsewhere in another
        assert 100 * found[test][0] == pytest.approx(shown, abs=0.51)
    assert found["categories"][0] <= script.MOST
