"""`report check`, Word documents and parameters for the next study: what goes in comes out again."""

import json
import re
import shlex
import shutil
import subprocess
import zipfile

import pytest
from cases import each_case, few_fast
from cli import run_json
from study_files import FORMS, PLAIN, given, run, write_ratings, write_study

from humeval_power.files.documents.reading import read_parameters

CHECKED = [form for form in FORMS if form != "paper"]
needs_pandoc = pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not installed")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return write_study(tmp_path_factory.mktemp("check"))


@pytest.fixture(autouse=True)
def no_own_library(monkeypatch, tmp_path):
    """Tests neither see nor change the library of whoever runs them."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def markdown(*words):
    return run("report", *words, "--format", "markdown").stdout


def files_of(study, form):
    return [word for word in given(study, *FORMS[form]) if not str(word).startswith("--")]


@pytest.mark.slow
@pytest.mark.parametrize("form", CHECKED)
def test_the_open_fields_are_those_that_the_report_leaves_open(study, form):
    listed = json.loads(run("report", "check", *files_of(study, form), "--form", form, "--json").stdout)
    text = markdown(*given(study, *FORMS[form]), "--form", form)
    assert listed["n_open"] == text.count("**Open.**") > 0
    assert listed["n_to_check"] == text.count("**Check.**")
    assert all(
        one["field"] and one["mark"] in ("open", "check") and one["hint"] for one in listed["fields"]
    )


@few_fast("form", CHECKED, fast=1)
def test_files_are_told_by_what_is_in_them_as_by_their_options(study, form):
    by_content = run("report", "check", *files_of(study, form), "--form", form)
    by_option = run("report", "check", *given(study, *FORMS[form]), "--form", form)
    assert by_content.stdout == by_option.stdout
    assert max(map(len, by_content.stdout.splitlines())) <= 80


@pytest.mark.parametrize("form", CHECKED)
def test_open_fields_end_with_3_under_strict_alone(study, form):
    run("report", "check", *files_of(study, form), "--form", form)
    run("report", "check", *files_of(study, form), "--form", form, "--strict", code=3)


@pytest.mark.slow
def test_a_hint_is_a_line_of_the_configuration_that_closes_the_field(study, tmp_path):
    listed = json.loads(run("report", "check", study / "plan.json", "--form", "heds", "--json").stdout)
    lines = {one["field"]: one["hint"] for one in listed["fields"] if one["mark"] == "open"}
    config = tmp_path / "humeval.toml"
    for field, hint in lines.items():
        found = re.search(r'In your answers: (\[.*\]) (\S+) = "..."(?:, one of: ([^;,]+).*)?$', hint)
        assert found is not None, field
        table, name, option = found.groups()
        option = "Welsh" if option and option.startswith("languages") else option
        answer = f'"{option or "An answer."}"'
        config.write_text(f"{table.replace('criteria.criterion', 'criteria.any')}\n{name} = {answer}\n")
        left = run(
            "report", "check", study / "plan.json", "--answers", config, "--form", "heds", "--json"
        ).stdout
        still = [one["field"] for one in json.loads(left)["fields"] if one["mark"] == "open"]
        assert field not in still, hint


def test_a_file_of_the_web_form_is_checked_as_it_was_filled_in(study, tmp_path):
    saved = tmp_path / "datacard.json"
    run("report", *given(study, *FORMS["heds"]), "--form", "heds", "-o", saved)
    before = json.loads(run("report", "check", saved, "--json").stdout)
    assert before["form"] == "heds"
    assert before["n_fields"] == 62
    element = "heds-paper_and_resources-paper-experiment_identification"
    document = json.loads(saved.read_text())
    document[element]["data"][""] = "The second of two."  # was a suggestion with its mark
    saved.write_text(json.dumps(document))
    after = json.loads(run("report", "check", saved, "--json").stdout)
    assert {one["field"] for one in before["fields"]} - {one["field"] for one in after["fields"]} == {
        "1.1.2"
    }
    assert "1.1.2" in run("report", "check", saved).stdout or after["n_to_check"] < before["n_to_check"]


def test_what_a_file_of_the_web_form_leaves_open_is_filled_from_the_study(study, tmp_path):
    empty = tmp_path / "datacard.json"
    empty.write_text(json.dumps({"heds-criteria-criterion": {"data": {}, "control": {"fluency": True}}}))
    alone = json.loads(run("report", "check", empty, "--json").stdout)
    filled = json.loads(run("report", "check", empty, *files_of(study, "heds"), "--json").stdout)
    direct = json.loads(run("report", "check", *files_of(study, "heds"), "--form", "heds", "--json").stdout)
    assert alone["n_open"] == 62
    assert filled["n_filled"] == direct["n_filled"] > 10


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Name at least one FILE"),
        (["analysis.json", "analysis.json"], "is a second file of the kind 'analysis'"),
        (["ratings.csv"], "Name at least one FILE"),
        (["surface/record.json", "surface"], "is a second file of the kind 'surface'"),
        (["nothing.json"], "There is no file 'nothing.json'"),
        (["record.json"], "is nothing that a report is filled from"),
        (["analysis.json", "--form", "osf"], "give a plan"),
    ],
)
def test_what_cannot_be_checked_is_an_error_in_words(study, words, said, monkeypatch):
    monkeypatch.chdir(study)
    (study / "record.json").write_text('{"schema": "humeval_power/plan_search/2"}')
    told = " ".join(run("report", "check", *words, code=2).stderr.split())
    assert said in told


def test_options_before_the_word_check_are_not_lost_in_silence(study):
    told = run("report", "--form", "heds", "check", study / "plan.json", code=2).stderr
    assert "report check" in told


def test_the_plan_answers_items_of_the_checklist_that_were_open(study):
    alone = json.loads(run("report", "check", study / "analysis.json", "--json").stdout)
    planned = run("report", "check", study / "analysis.json", study / "plan.json", "--json").stdout
    closed = {one["field"] for one in alone["fields"]} - {
        one["field"] for one in json.loads(planned)["fields"]
    }
    assert closed == {"power", "power_assumptions"}
    text = markdown(*given(study, "analysis", "plan"), "--form", "card2020")
    assert "+0.12 on [0, 1] (+0.48 on the scale 1 to 5), by the plan." in text
    assert "Departures:" in text
    with_power = markdown(*given(study, "analysis", "plan", "power", "surface"), "--form", "card2020")
    assert "+0.12 on [0, 1] (+0.48 on the scale 1 to 5), by the plan." in with_power
    assert "| setting | workers | items | ratings per item |" in with_power


@each_case("kind", ["parameters", "analysis", "power", "surface", "plan"])
@each_case("form", ["card2020", "heds", "arr", "paper"])
def test_a_report_can_be_written_from_any_one_file(study, form, kind):
    text = markdown(*given(study, kind), "--form", form)
    assert "None" not in text.replace("None of its numbers", "")
    assert "nan" not in text.split()


@needs_pandoc
@few_fast("form", FORMS, fast=1)
def test_a_word_document_says_what_the_markdown_says(study, form, tmp_path):
    run("report", *given(study, *FORMS[form]), "--form", form, "-o", tmp_path / "report.docx")
    run("report", *given(study, *FORMS[form]), "--form", form, "-o", tmp_path / "report.md")
    word = plain(tmp_path / "report.docx", "docx")
    markdown = plain(tmp_path / "report.md", "commonmark+pipe_tables+task_lists")
    assert len(word) > 150
    command = str(tmp_path / "report.md")  # each tells the command that wrote it, which differs in its file
    assert [one for one in markdown if one not in word and not command.endswith(one)] == []


def plain(path, kind):
    """The words of a document; boxes of lists are written by each format in its own way."""
    done = subprocess.run(
        ["pandoc", "--from", kind, "--to", "plain", path], capture_output=True, check=True, text=True
    )
    return re.sub(r"[☐☒\-│\s]+", " ", done.stdout).split()


@needs_pandoc
def test_a_word_document_holds_the_picture_of_the_surface(study, tmp_path):
    report = ("report", *given(study, "analysis", "surface"), "--form", "card2020")
    run(*report, "-o", tmp_path / "report.docx")
    run(*report, "-o", tmp_path / "report")
    with zipfile.ZipFile(tmp_path / "report.docx") as word:
        pictures = [name for name in word.namelist() if name.startswith("word/media/")]
        assert [word.read(name) for name in pictures] == [
            (tmp_path / "report" / "surface.png").read_bytes()
        ]


def test_without_pandoc_a_word_document_is_refused_with_a_remedy(study, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    told = run("report", *given(study, "analysis"), "-o", tmp_path / "report.docx", code=2).stderr
    assert "pandoc" in told
    assert ".html or .md" in " ".join(told.split())
    assert not (tmp_path / "report.docx").exists()


def test_parameters_go_from_a_report_through_the_library_into_the_next_plan(study, tmp_path):
    config, exported = tmp_path / "humeval.toml", tmp_path / "exported.json"
    config.write_text('[report]\ntitle = "Two summarisers"\npaper = "Doe (2026)"\nlicence = "CC BY 4.0"\n')
    options = ("--form", "parameters", "--answers", config, "-o", exported)
    run("report", *given(study, "analysis"), *options)
    document = json.loads(exported.read_text())
    assert document["library"]["paper"] == "Doe (2026)"
    assert "notices" not in document  # they can name workers
    run("parameters", "add", exported)
    shown = run("parameters", "show", "ratings-fluency").stdout
    assert "Two summarisers" in shown
    assert "CC BY 4.0" in shown
    planned = tmp_path / "from-library.json"
    run("parameters", "show", "ratings-fluency", "--json", "-o", planned)
    analysis = json.loads((study / "analysis.json").read_text())
    assert read_parameters(planned)[0].as_dict() == analysis["parameters"]
    told = json.loads(planned.read_text())["library"]
    assert {name: told[name] for name in document["library"]} == document["library"]
    sizes = ("--workers", "8", "--items", "24", "--effect", "0.1", "--simulations", "50", "--json")
    powers = {
        json.loads(run("power", "--parameters", path, *sizes).stdout)["power"]
        for path in (planned, exported)
    }
    assert len(powers) == 1


def test_the_commands_shown_for_an_entry_of_a_named_library_work(study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("parameters", "add", study / "parameters.json", "--library", "my library.json", "--name", "mine")
    shown = run("parameters", "show", "mine", "--library", "my library.json").stderr
    line = re.search(r"humeval-power (more parameters show .*)", " ".join(shown.split()))
    assert line is not None
    run(*shlex.split(line[1]))
    assert read_parameters(tmp_path / "parameters.json")


def test_a_second_export_keeps_what_the_first_one_said(study, tmp_path):
    first, again = tmp_path / "first.json", tmp_path / "again.json"
    run("report", *given(study, "parameters"), "--form", "parameters", "-o", first)
    run("report", "--parameters", first, "--form", "parameters", "-o", again)
    assert json.loads(first.read_text()) == json.loads(again.read_text())


def test_parameters_are_not_exported_from_a_plan(study):
    told = run("report", *given(study, "plan"), "--form", "parameters", code=2).stderr
    assert "give an analysis, or the parameters of a fit" in " ".join(told.split())


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """An analysis of two criteria of one table."""
    folder = tmp_path_factory.mktemp("several")
    parts = [
        write_ratings(folder / f"{name}.csv", PLAIN._replace(criterion=name), seed=seed).read_text()
        for name, seed in (("clarity", 5), ("fluency", 6))
    ]
    table = folder / "ratings.csv"
    table.write_text(parts[0] + parts[1].partition("\n")[2])
    run("analyze", table, "--scale", "1:5", "--criteria", "all", "-o", folder / "analysis.json")
    return folder


def test_heds_asks_for_each_criterion_of_an_analysis_of_several(several):
    one = markdown(*given(several, "analysis"), "--form", "heds", "--criterion", "clarity")
    both = markdown(*given(several, "analysis"), "--form", "heds")
    assert "## Criteria: clarity" in one
    assert "## Criteria: fluency" not in one
    assert "## Criteria: clarity" in both
    assert "## Criteria: fluency" in both
    listed = json.loads(
        run("report", "check", several / "analysis.json", "--form", "heds", "--json").stdout
    )
    assert {one["criterion"] for one in listed["fields"]} == {None, "clarity", "fluency"}


def test_every_form_takes_all_criteria_of_an_analysis_or_one(several):
    told = run("report", *given(several, "analysis"), "--criterion", "style", code=2).stderr
    assert "has no criterion 'style'" in " ".join(told.split())
    document = json.loads((several / "analysis.json").read_text())
    estimates = {
        one["criterion_name"]: f"{one['effect']['estimate']:+#.3g}".replace("-", "\u2212")
        for one in document["criteria"]
    }
    assert list(estimates) == ["clarity", "fluency"]
    text = markdown(*given(several, "analysis"), "--form", "paper", "--criterion", "fluency")
    assert estimates["fluency"] in text
    assert "for clarity and fluency" not in text
    both = markdown(*given(several, "analysis"), "--form", "paper")
    assert "for clarity and fluency in a human evaluation" in both
    for name, estimate in estimates.items():
        assert estimate in both.partition(f"## Results: {name}")[2].partition("## Results")[0]
    for form in ("card2020", "arr"):
        answers = run_json("report", *given(several, "analysis"), "--form", form)
        alone = run_json("report", *given(several, "analysis"), "--form", form, "--criterion", "fluency")
        assert answers["n_filled"] == alone["n_filled"]
        shared = {one["field"]: one["answer"] for one in answers["fields"]}
        own = {one["field"]: one["answer"] for one in alone["fields"]}
        effect = "effect" if form == "card2020" else "C3"
        assert all(f"{name}: " in shared[effect] for name in estimates)
        settings = "test" if form == "card2020" else "B6"
        assert "fluency: " not in own[settings]
    told = run("report", *given(several, "analysis"), "--form", "parameters", code=2).stderr
    assert "several criteria: clarity, fluency." in " ".join(told.split())


def test_the_folders_of_plan_and_analyze_are_taken_for_their_files(study, tmp_path):
    folder = tmp_path / "analysis"
    folder.mkdir()
    (folder / "record.json").write_bytes((study / "analysis.json").read_bytes())
    named = run("report", "--findings", folder, "--form", "paper").stdout
    told = run("report", folder, "--form", "paper").stdout
    assert named == told == run("report", "--findings", study / "analysis.json", "--form", "paper").stdout
