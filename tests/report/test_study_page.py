"""A study on one page, from its folder or its files, with its pictures and every form beside it."""

import hashlib
import json
import re

import forms_documents as made
import pytest
from cli import run, run_json
from own_scripts import without_own_scripts
from study_files import PLAIN, given, write_ratings, write_study

from humeval_power.asking.output import folder_of
from humeval_power.errors import InputError
from humeval_power.saying.render import as_html
from humeval_power.studies.report.calls import report
from humeval_power.studies.report.documents import CriterionDocuments
from humeval_power.studies.report.page_pictures import known_test


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return write_study(tmp_path_factory.mktemp("page"))


def test_the_folder_of_a_study_says_what_its_files_say(study):
    by_folder = run("report", study, "-q").stdout
    by_name = run(
        "report", *given(study, "parameters", "analysis", "plan", "power", "surface"), "-q"
    ).stdout
    assert by_folder.splitlines()[0] == "Study: new and old, fluency"
    screened = "None of the 8 workers stands out."
    assert screened in by_folder  # the ratings alone tell
    assert " ".join(by_folder.split()).replace(f" {screened}", "") == " ".join(by_name.split())
    assert max(map(len, by_folder.splitlines())) <= 80


def test_the_page_starts_with_the_decision_and_goes_through_the_study(study):
    text = run("report", study, "-q").stdout
    effect = json.loads((study / "analysis.json").read_text())["effect"]
    assert text.splitlines()[1].startswith("new is better than old by ")
    shown = f"{effect['raw']['estimate']:+#.3g}".replace("-", "\u2212")
    assert re.search(rf"^old \u2212 new on the scale 1 to 5\s+{re.escape(shown)}$", text, re.MULTILINE)
    places = [text.index(f"\n{title}\n") for title in ("Plan", "Data", "Decision", "Diagnostics", "Forms")]
    assert places == sorted(places)


def test_the_folder_of_the_page_has_its_pictures_and_every_form(study, tmp_path):
    run("report", study, "-o", tmp_path / "page/", "-q")
    names = {path.name for path in (tmp_path / "page").iterdir()}
    pictures = {"power", "ratings", "effect", "agreement", "workers", "surface"}
    assert {f"{name}.{ending}" for name in pictures for ending in ("png", "svg")} <= names
    forms = {"card2020.html", "heds.html", "arr.html", "aspredicted.html", "osf.html"}
    assert {*forms, "heds.json", "paper.tex", "parameters.json", "index.html", "record.json"} <= names
    page = (tmp_path / "page" / "index.html").read_text()
    assert page.count("<img ") + page.count("<svg ") >= len(pictures)
    assert all(name in page for name in forms)
    counted = json.loads((tmp_path / "page" / "record.json").read_text())["forms"]
    for form in ("card2020", "heds", "arr"):
        left = run_json("report", "check", study, "--form", form)
        assert counted[form]["n_open"] == left["n_open"] > 0


@pytest.mark.slow
def test_no_digest_and_no_folder_of_what_was_read_is_on_a_page(study, tmp_path):
    run("report", study, "-o", tmp_path / "page/", "-q")
    record = json.loads((tmp_path / "page" / "record.json").read_text())
    assert {source["sha256"] for source in record["sources"]} == {None}
    assert "ratings.csv" in {source["name"] for source in record["sources"]}
    for path in (tmp_path / "page").glob("*.*"):
        text = path.read_bytes().decode(errors="replace")
        assert hashlib.sha256((study / "ratings.csv").read_bytes()).hexdigest() not in text, path


def test_strict_ends_with_3_while_a_form_is_open(study):
    run("report", study, "--strict", "-q", code=3)


def test_what_is_left_out_of_a_folder_is_left_out_of_the_page(study, tmp_path):
    (tmp_path / "plan.json").write_bytes((study / "plan.json").read_bytes())
    text = run("report", tmp_path, "-q").stdout
    assert "Planned, not carried out: power 0." in text
    assert "\nPlan\n" in text
    assert "\nDecision\n" not in text
    assert "\nData\n" not in text
    (tmp_path / "plan.json").unlink()
    told = run("report", tmp_path, code=2).stderr
    assert "holds nothing that a report is filled from" in " ".join(told.split())


def test_ratings_that_are_not_those_of_the_analysis_are_said(study):
    told = " ".join(run("report", study / "analysis.json", study / "pilot.csv").stderr.split())
    assert "pilot.csv has 144 ratings as read here, the analysis has 139" in told


@pytest.mark.slow
def test_several_criteria_are_told_one_after_the_other(tmp_path):
    parts = [
        write_ratings(tmp_path / f"{name}.csv", PLAIN._replace(criterion=name), seed=seed).read_text()
        for name, seed in (("clarity", 5), ("fluency", 6))
    ]
    (tmp_path / "ratings.csv").write_text(parts[0] + parts[1].partition("\n")[2])
    analysis = tmp_path / "analysis.json"
    run("analyze", tmp_path / "ratings.csv", "--scale", "1:5", "--criteria", "all", "-o", analysis, "-q")
    text = run("report", tmp_path, "-q").stdout
    run("report", tmp_path, "-o", tmp_path / "page/", "-q")
    record = json.loads((tmp_path / "page" / "record.json").read_text())
    assert [row["criterion"] for row in record["rows"]] == ["clarity", "fluency"]
    assert set(record["forms"]) == {"heds", "arr", "card2020", "paper", "parameters-1", "parameters-2"}
    assert text.index("clarity: Decision") < text.index("fluency: Data") < text.index("fluency: Decision")
    assert {"effect-1.png", "effect-2.png", "ratings-1.png", "ratings-2.png", "heds.json"} <= {
        path.name for path in (tmp_path / "page").iterdir()
    }


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"converged": False}, "There is no result: the model could not be fitted."),
        (
            {"effect": {**made.ANALYSIS["effect"], "reason": "the df do not exist"}},
            "Nothing is decided: the df",
        ),
        ({}, "No difference is shown between "),
    ],
)
def test_nothing_is_decided_beyond_what_the_analysis_decides(changed, said):
    found = report(CriterionDocuments(analysis={**made.ANALYSIS, **changed}))
    assert said in found.document().lead
    assert " is better than " not in found.document().lead
    names = {picture.name for picture in found.document().pictures}
    assert ("effect" in names) == (not changed.get("effect"))


def test_the_picture_of_the_effect_is_of_the_documents_own_test():
    tested, effect = known_test(made.ANALYSIS), made.ANALYSIS["effect"]
    assert tested is not None
    assert (tested.estimate, list(tested.interval)) == (effect["estimate"], effect["interval"])
    assert tested.rule.alpha == effect["rule"]["alpha"]
    assert known_test({**made.ANALYSIS, "effect": {**effect, "interval": None}}) is None


def test_agreement_of_other_workers_has_its_own_value_in_table_and_picture():
    entry = {"measure": "Krippendorff's alpha, ordinal", "value": 0.31, "interval": [0.2, 0.4]}
    entry |= {"value_other": 0.152, "interval_other": [0.012, 0.394]}
    study = {**made.ANALYSIS, "agreement": {"between": [entry], "within": []}}
    found = report(CriterionDocuments(analysis=study))
    (picture,) = [one for one in found.document().pictures if one.name == "agreement"]
    assert picture.table().rows == ((entry["measure"], "0.152", "0.012 to 0.394"),)
    assert "0.152 (0.012 to 0.394)" in as_html(found.document())


def test_no_documents_are_no_study():
    for nothing in ((), (CriterionDocuments(),)):
        with pytest.raises(InputError, match="nothing to report"):
            report(*nothing)


def test_hostile_names_stay_names_on_the_page():
    found = report(made.HOSTILE_DOCUMENTS)
    page = without_own_scripts(as_html(found.document()))
    assert "<script" not in page
    assert "שלום" in page
    pages = {name: content for name, content in folder_of(found).items() if name.endswith(".html")}
    assert len(pages) == 6
    assert all("<script" not in without_own_scripts(str(content)) for content in pages.values())
