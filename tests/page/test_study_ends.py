"""What a study's page does while ratings come in and at the end: the work as a picture, withdrawals, a zip."""

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import tomllib
import zipfile
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("starlette")
from in_process_parts import a_client
from places import ROOT
from starlette.testclient import TestClient

from humeval_power.doors.page.serving.chosen_folder import Folder
from humeval_power.doors.page.workspace.pages import Workspace
from humeval_power.doors.page.workspace.stages import (
    ACTS,
    STAGES,
    have_looks_ended,
    is_look_due,
    stage_now,
    stages_done,
)
from humeval_power.doors.page.workspace.studies import Studies, with_answer
from humeval_power.errors import InputError
from tests.cli import run

STALE = "Ratings came in after this analysis"
STUDY = """schema = "humeval_power/study/1"
[effect]
scale = "1:5"
effect_raw = 0.6
[variation]
preset = "high"
[design]
workers = 10
items = 60
ratings_per_item = 3
[files]
"""


SIZES = {"workers": "8", "items": "30", "ratings-per-item": "4"}


def a_study(chosen: Path) -> Path:
    folder = chosen / "mine"
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(STUDY.replace("[files]\n", ""), "utf-8")
    (folder / "ratings.csv").write_bytes((ROOT / "data" / "pilot.csv").read_bytes())
    return chosen


@pytest.fixture
def chosen(tmp_path: Path) -> Path:
    return a_study(tmp_path / "chosen")


@pytest.fixture
def client(tmp_path: Path, chosen: Path) -> TestClient:
    return a_client(tmp_path / "private", chosen)


@pytest.fixture(scope="module")
def with_analysis(tmp_path_factory) -> Path:
    """The folder of the study when its ratings were analysed."""
    folder = tmp_path_factory.mktemp("analysed")
    mine = a_study(folder / "chosen") / "mine"
    head, _, rest = (mine / "study.toml").read_text().partition("[effect]")
    (mine / "study.toml").write_text(f'{head}ratings = "ratings.csv"\n[effect]{rest}')
    client = a_client(folder / "private", folder / "chosen")
    client.post("/act/analyze/mine")
    client.get("/study/mine/decide")
    return mine


@pytest.fixture
def analysed(chosen: Path, with_analysis: Path) -> Path:
    """The same for a test of its own."""
    return shutil.copytree(with_analysis, chosen / "mine", dirs_exist_ok=True)


@pytest.fixture(scope="module")
def with_plan(tmp_path_factory) -> Path:
    """The folder of the study, with a price, when its design was sealed."""
    folder = tmp_path_factory.mktemp("sealed")
    mine = a_study(folder / "chosen") / "mine"
    (mine / "study.toml").write_text((mine / "study.toml").read_text() + "[cost]\ncost_per_rating = 0.1\n")
    client = a_client(folder / "private", folder / "chosen")
    assert client.post("/act/seal/mine", data=SIZES).status_code == 303
    assert "Sealed" in client.get("/study/mine/plan").text
    return mine


@pytest.fixture
def sealed(chosen: Path, with_plan: Path) -> Path:
    """The same for a test of its own."""
    return shutil.copytree(with_plan, chosen / "mine", dirs_exist_ok=True)


def names_in_zip(client, name="mine"):
    """The names of the files in the zip of a study, and its index."""
    answer = client.get(f"/zip/{name}")
    assert answer.status_code == 200
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        start = f"{name}/"
        assert all(one.startswith(start) for one in archive.namelist())
        return {one.removeprefix(start) for one in archive.namelist()}, archive.read(
            f"{start}index.html"
        ).decode()


def test_the_zip_has_all_that_a_reader_needs_and_no_secret(client, chosen):
    mine = chosen / "mine"
    secrets = (
        "key.csv",
        "seed.txt",
        "plan.secret",
        "plan.ledger.secret",
        "ratings.secret",
        "forms/x.secret",
    )
    kept = ("exports/raw.csv", "notes.txt", "answers.toml", "texts.csv", "plan.ledger.jsonl")
    shared = (
        *("plan.json", "forms/assignment.csv", "forms/html/w1.html"),
        *("analysis/index.html", "analysis/record.json", "reports/paper.html"),
    )
    for name in (*secrets, *kept, *shared):
        (mine / name).parent.mkdir(exist_ok=True, parents=True)
        (mine / name).write_text("{}")
    head, _, rest = (mine / "study.toml").read_text().partition("[effect]")
    files = (
        'ratings = "ratings.csv"\nkey = "key.csv"\nexports = "exports/raw.csv"\nfindings = "analysis"\n'
        'outputs = "texts.csv"\nassignment = ["forms/assignment.csv"]\nanswers = "answers.toml"\n'
    )
    (mine / "study.toml").write_text(f'{head}{files}plan = "plan.json"\n[effect]{rest}')
    assert "cannot be read" not in client.get("/study/mine/question").text
    answer = client.get("/zip/mine")
    assert answer.headers["content-disposition"].endswith('filename="mine.zip"')
    names, index = names_in_zip(client)
    assert names == {"index.html", "study.toml", *shared}
    assert [f'href="{name}"' in index for name in shared] == [True] * len(shared)
    digest = hashlib.sha256((mine / "ratings.csv").read_bytes()).hexdigest()
    assert digest in index
    assert "Not there yet" not in index
    assert answer.content == client.get("/zip/mine").content
    (mine / "plan.json").unlink()
    (mine / "plan").mkdir()
    for name in ("plan.json", "index.html", "looks.secret", ".secret"):
        (mine / "plan" / name).write_text("x")
    (mine / "study.toml").write_text((mine / "study.toml").read_text().replace("plan.json", "plan"))
    names, _ = names_in_zip(client)
    assert names == {
        *("index.html", "study.toml", "plan/plan.json", "plan/index.html"),
        *shared[1:],
    }
    assert client.get("/zip/nobody").status_code in (404, 422)
    assert client.get("/zip/mine/..%2F..%2Fetc").status_code in (404, 422)


@pytest.mark.long
@pytest.mark.slow
def test_an_analysis_that_names_people_is_no_part_of_the_zip(client, chosen):
    mine = chosen / "mine"
    head, _, rest = (mine / "study.toml").read_text().partition("[effect]")
    (mine / "study.toml").write_text(f'{head}ratings = "ratings.csv"\n[effect]{rest}')
    client.post("/act/analyze/mine")
    client.get("/study/mine/decide")
    names, index = names_in_zip(client)
    assert {"analysis/index.html", "analysis/record.json", "analysis/table.csv"} <= names
    assert "The paper text and checklists: write them at Report." in index
    client.post("/act/write/mine", data={"form": "study"})
    page = client.get("/study/mine/report?form=study").text
    assert "Not in it yet" not in page
    names, index = names_in_zip(client)
    forms = {"index.html", "heds.html", "heds.json", "arr.html", "card2020.html", "paper.tex"}
    assert {f"reports/{name}" for name in forms} <= names
    assert "Not there yet" not in index
    rows = (mine / "ratings.csv").read_text().replace("w01,", "A1B2C3D4E5F6G7,")
    (mine / "ratings.csv").write_text(rows)
    client.post("/act/analyze/mine")
    page = client.get("/study/mine/report").text
    assert "The analysis, as it names an MTurk id" in page
    names, index = names_in_zip(client)
    assert not [name for name in names if name.startswith("analysis/")]
    assert "SHA-256" not in index  # from which few known ids can be found by trying


def test_the_work_is_drawn_before_ratings_come_in(client, sealed):
    assert client.post("/act/assign/mine").status_code == 303
    client.get("/study/mine/collect")
    assert (sealed / "key.csv").is_file()
    page = TestClient(client.app).get("/study/mine/collect").text
    assert "Who rates what" in page
    assert "<svg" in page
    assert re.search(r"8\s+workers share 30 items", page)


def test_answers_that_only_authors_know_are_kept_one_by_one(client, analysed):
    mine = analysed
    page = client.get("/study/mine/report?form=answers").text
    asked = re.findall(r'<textarea name="([^"]+)"', page)
    assert len(asked) > 30
    assert "resources" in asked
    assert "Write it into the folder" not in page
    said = 'Section 4: "new" against \\ baseline'
    assert client.post("/answers/mine", data={"resources": said}).status_code == 303
    assert 'answers = "answers.toml"' in (mine / "study.toml").read_text()
    assert tomllib.loads((mine / "answers.toml").read_text()) == {"report": {"resources": said}}
    page = client.get("/study/mine/report?form=answers").text
    assert "Answered (1)" in page
    assert said.partition(":")[0] in client.get("/study/mine/report?form=heds").text
    before = (mine / "answers.toml").read_text()
    wrong = client.post("/answers/mine", data={'heds."9.9.9"': "x", "paper": "y"})
    assert wrong.status_code == 422
    assert client.post("/answers/mine", data={"a = 1\nb": "x"}).status_code == 422
    assert client.post("/answers/mine", data={"a]": "x"}).status_code == 422
    assert (mine / "answers.toml").read_text() == before
    (mine / "answers.toml").write_text(before + "# by hand, meanwhile\n")
    client.post("/answers/mine", data={"paper": "here"})
    assert tomllib.loads((mine / "answers.toml").read_text())["report"]["paper"] == "here"
    assert "by hand, meanwhile" in (mine / "answers.toml").read_text()
    for broken in (b"no toml", b"\xff = 1"):
        (mine / "answers.toml").write_bytes(broken)
        assert client.post("/answers/mine", data={"paper": "y"}).status_code == 422
        assert (mine / "answers.toml").read_bytes() == broken
    (mine / "answers.toml").write_text(before)
    client.post("/answers/mine", data={"resources": " "})
    assert tomllib.loads((mine / "answers.toml").read_text()) == {"report": {}}


ANSWERS = """# Answers of one study.

[report]
# known: 360 ratings
paper = "" # a link
when = 2024-01-02
[report.heds]
"2.1" = ["data", "text"]
long = \"\"\"
two
lines\"\"\"
"""


def test_an_answer_changes_its_own_line_alone():
    made = with_answer(ANSWERS, "paper", "here")
    assert made == ANSWERS.replace('paper = "" # a link', 'paper = "here"')
    assert with_answer(made, "paper", "") == ANSWERS.replace('paper = "" # a link\n', "")
    assert with_answer(ANSWERS, 'heds."2.1"', "data") == ANSWERS.replace('["data", "text"]', '"data"')
    assert tomllib.loads(with_answer(ANSWERS, 'heds."2.2"', "x"))["report"]["heds"]["2.2"] == "x"
    whole = with_answer(ANSWERS, "heds.long", "one")  # of several lines: the file is written anew
    before = tomllib.loads(ANSWERS)["report"]
    assert tomllib.loads(whole)["report"] == {**before, "heds": {"2.1": ["data", "text"], "long": "one"}}
    assert with_answer("", "paper", "x") == '[report]\npaper = "x"\n'
    assert tomllib.loads(with_answer('title = "a"\n', "paper", "x")) == {
        "title": "a",
        "report": {"paper": "x"},
    }


def test_a_study_in_another_script_is_taken_and_none_is_renamed_while_a_command_writes(
    client, chosen, monkeypatch
):
    (chosen / "研究 1").mkdir()
    (chosen / "研究 1" / "study.toml").write_text(STUDY.replace("[files]\n", ""), "utf-8")
    answer = client.get("/zip/研究 1")
    assert answer.status_code == 200
    assert "filename*=UTF-8''%E7%A0%94%E7%A9%B6_1.zip" in answer.headers["content-disposition"]
    monkeypatch.setattr(Workspace, "_is_writing", lambda _self, _name: True)
    assert client.post("/rename/mine", data={"name": "other"}).status_code == 422
    assert (chosen / "mine").is_dir()


def test_the_titles_of_the_stages_are_those_of_the_documentation(client):
    page = client.get("/study/mine/question").text
    titles = [stage.title for stage in STAGES]
    assert titles == ["Question", "Size", "Plan", "Collect", "Stop early?", "Decide", "Report"]
    assert re.findall(r'<a href="/study/mine/\w+".*?<span>([\w ?]+)</span>.*?</a></li>', page) == titles


def test_who_withdrew_leaves_the_ratings(client, chosen):
    mine = chosen / "mine"
    head, _, rest = (mine / "study.toml").read_text().partition("[effect]")
    (mine / "assignment.csv").write_text("slot,item\nw1,i1\n")
    (mine / "study.toml").write_text(f'{head}ratings = "ratings.csv"\n[effect]{rest}')
    workers = sorted({line.split(",")[0] for line in (mine / "ratings.csv").read_text().splitlines()[1:]})
    assert "Somebody withdrew" in client.get("/study/mine/collect").text
    client.post("/act/withdraw/mine", data={"withdrawn": " \n"})
    assert not (mine / "withdrawn.txt").exists()
    client.post("/act/withdraw/mine", data={"withdrawn": f"{workers[0]}\n {workers[2]} "})
    page = client.get("/study/mine/collect").text
    left = sorted({line.split(",")[0] for line in (mine / "ratings-2.csv").read_text().splitlines()[1:]})
    assert 'ratings = "ratings-2.csv"' in (mine / "study.toml").read_text()
    assert left == [worker for worker in workers if worker not in (workers[0], workers[2])], page
    client.post("/act/withdraw/mine", data={"withdrawn": "nobody"})
    assert "nobody" in client.get("/study/mine/collect").text
    assert not (mine / "ratings-3.csv").exists()
    assert 'ratings = "ratings-2.csv"' in (mine / "study.toml").read_text()
    assert (mine / "withdrawn.txt").read_text() == f"{workers[0]}\n{workers[2]}\n"
    before = {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()}
    client.post("/act/withdraw/mine", data={"withdrawn": f"nobody\n{workers[1]}"})
    client.get("/study/mine/collect")
    assert {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()} == before


def test_an_analysis_of_ratings_before_says_so_until_it_is_made_again(client, analysed):
    mine = analysed
    for stage in ("decide", "report"):
        assert STALE not in client.get(f"/study/mine/{stage}").text
    lines = (mine / "ratings.csv").read_text().splitlines(keepends=True)
    turned = lines[1].rstrip().rpartition(",")
    (mine / "ratings.csv").write_text(
        "".join([lines[0], f"{turned[0]},{6 - int(turned[2])}\n", *lines[2:]])
    )
    for stage in ("decide", "report?form=paper", "report?form=heds", "report?form=answers"):
        page = client.get(f"/study/mine/{stage}").text
        assert page.count(STALE) == 1, stage
        assert page.count('action="/act/analyze/mine') == 1, stage
    assert "Decide: analyse the ratings" in client.get("/").text
    said = "The table of ratings is not the one that was analysed"
    for form in ("paper", "heds", "arr", "card2020", "study"):
        assert said in client.get(f"/study/mine/report?form={form}").text, form
    client.post("/act/analyze/mine")
    for stage in ("decide", "report?form=paper"):
        page = client.get(f"/study/mine/{stage}").text
        assert STALE not in page
        assert said not in page


def test_a_stage_of_texts_says_what_is_missing_and_what_a_worker_will_see(client, sealed):
    mine = sealed
    rows = [f"i{place},old {place},new {place}" for place in range(30)]
    (mine / "texts.csv").write_text("\n".join(["item,A,B", *rows[:10], ""]))
    text = (mine / "study.toml").read_text()
    text = re.sub(
        r'(schema = ".*"\n)', r'\1outputs = "texts.csv"\n[form]\nupload = ["prolific"]\n', text, count=1
    )
    (mine / "study.toml").write_text(text)
    page = client.get("/study/mine/collect").text
    assert (
        "10 items in the file, and 30 in the sealed plan: bring the other 20 too, or plan for 10." in page
    )
    assert "Write the forms" not in page
    (mine / "texts.csv").write_text("\n".join(["item,A,B", *rows, ""]))
    page = client.get("/study/mine/collect").text
    assert "in the sealed plan" not in page
    assert "Prolific, and which form?" in page
    assert "Write the forms" not in page
    shown = re.search(r'<details class="folded preview" .*?</details>', page, re.DOTALL)[0]
    words = " ".join(re.sub(r"<[^>]*>", " ", shown).split())
    assert "How good is this text? 1 2 3 4 5" in words
    assert "old 0" in words
    assert "the title, the instructions, the question, no words for the points of the scale." in words
    options = dict(re.findall(r'<option value="([^"]*prolific)"[^>]*>([^<]*)', page))
    assert options == {
        "html, prolific": "Prolific, with Rating form (HTML)",
        "qualtrics, prolific": "Prolific, with Qualtrics",
        "potato, prolific": "Prolific, with Potato",
        "google-forms, prolific": "Prolific, with Google Forms",
        "prolific": "prolific",
    }
    (mine / "hello.txt").write_text("Rate as you read.")
    text = text.replace(
        'upload = ["prolific"]',
        'upload = ["html", "prolific"]\nlabels = "1=bad,5=good"\ntitle = "My texts"\ninstructions = "hello.txt"',
    )
    (mine / "study.toml").write_text(text)
    page = client.get("/study/mine/collect").text
    shown = re.search(r'<details class="folded preview" .*?</details>', page, re.DOTALL)[0]
    words = " ".join(re.sub(r"<[^>]*>", " ", shown).split())
    assert "My texts Rate as you read. old 0 How good is this text? 1 bad 2 3 4 5 good" in words
    assert (
        "These are the default texts: the question. To change them, open \u201cWhat workers see\u201d."
        in words
    )
    assert "Workers never see which system wrote it." in words
    client.post("/act/assign/mine")
    client.get("/study/mine/collect")
    page = client.get("/study/mine/collect").text
    form = (mine / "forms" / "html" / "w01.html").read_text()
    assert [said in form for said in ("My texts", "Rate as you read.", "good", "bad")] == [True] * 4
    for field, value in (("Places", "8, one for each worker slot"), ("Title of the study", "My texts")):
        assert f"<dt>{field}</dt><dd>{value}</dd>" in page
    assert page.count("<dt>URL of the study</dt>") == 1  # of the pages alone, which are the forms here
    assert "<dt>Completion code</dt>" in page
    acts = ("Bring the answers back", "<h2>Files</h2>", "Rehearse the analysis", "Write the forms again")
    places = [page.index(act) for act in acts]
    assert places == sorted(places)  # what comes next stands first


def test_the_analysis_is_rehearsed_before_anybody_has_rated(client, chosen, with_plan):
    mine = chosen / "mine"
    assert client.post("/act/rehearse/mine").status_code == 422
    shutil.copytree(with_plan, mine, dirs_exist_ok=True)
    assert "Rehearse the analysis on drawn ratings" not in client.get("/study/mine/collect").text
    client.post("/act/assign/mine")
    client.get("/study/mine/collect")
    assert "Rehearse the analysis on drawn ratings" in client.get("/study/mine/collect").text
    answer = client.post("/act/rehearse/mine", data={"rehearsed": "drawn"})
    assert answer.headers["location"] == "/study/mine/collect?rehearsed=drawn"
    for _ in range(2):  # the draw, then its analysis
        page = client.get(answer.headers["location"]).text
    assert (mine / "rehearsal.csv").is_file()
    assert "Nobody gave these ratings, and nothing is decided." in page
    assert "These ratings were drawn in a rehearsal: nobody gave them." in page
    assert "Effect B - A" in page
    assert "nothing is decided" not in client.get("/study/mine/collect").text
    assert not (mine / "analysis").exists()
    assert not (mine / "ratings-2.csv").exists()


def test_a_withdrawal_by_the_id_of_the_platform_lasts_and_no_id_leaves_the_study(client, sealed):
    mine = sealed
    (mine / "ratings.csv").unlink()
    client.post("/act/assign/mine")
    client.get("/study/mine/collect")
    drawn = mine / "drawn.csv"
    words = "simulate --coded -q --plan plan --assignment field/assignment.csv --key key.csv -o"
    with contextlib.chdir(mine):
        run(*words.split(), drawn)
    ids = {f"w{place:02d}": f"{place:02d}7e5751f75143a5f61deb{place:02d}" for place in range(1, 9)}
    table = pd.read_csv(drawn)
    drawn.unlink()
    answers = [f"answers-{slot}-{person}.csv" for slot, person in ids.items()]
    for name, (slot, person) in zip(answers, ids.items(), strict=True):
        table[table["slot"] == slot].assign(worker=person).to_csv(mine / name, index=False)
    page = client.get("/study/mine/collect").text
    version = re.search(r'name="version" value="(\w+)"', page)[1]
    sent = {"version": version, "exports": ", ".join(answers)}
    assert client.post("/study/mine/collect", data=sent).status_code == 303
    client.post("/act/import/mine")
    client.get("/study/mine/collect")
    first = pd.read_csv(mine / "ratings.csv")
    assert first["worker"].nunique() == 8
    text = (mine / "ratings.csv").read_text()
    assert not [person for person in ids.values() if person in text]
    assert all(name in source for source, name in zip(first["source"], first["worker"], strict=True))

    client.post("/act/withdraw/mine", data={"withdrawn": ids["w03"]})
    client.get("/study/mine/collect")
    second = pd.read_csv(mine / "ratings-2.csv")
    assert set(second["worker"]) < set(first["worker"])
    assert second["worker"].nunique() == 7
    assert 'ratings = "ratings-2.csv"' in (mine / "study.toml").read_text()
    client.post("/act/import/mine")  # as when more answers came in
    client.get("/study/mine/collect")
    again = pd.read_csv(mine / "ratings-2.csv")
    assert set(again["worker"]) == set(second["worker"])
    made_up = first["worker"].iloc[0]
    assert client.post("/act/withdraw/mine", data={"withdrawn": made_up}).status_code == 422

    client.post("/act/analyze/mine")
    client.get("/study/mine/decide")
    names, index = names_in_zip(client)
    assert "analysis/record.json" in names
    assert "our suggestion" not in index
    form = client.get("/study/mine/report?form=heds").text
    assert "Recruitment" in form
    assert "Through none" not in form
    with zipfile.ZipFile(io.BytesIO(client.get("/zip/mine").content)) as archive:
        given = b"".join(archive.read(one) for one in archive.namelist())
    assert not [person for person in ids.values() if person.encode() in given]
    assert b"export-1.csv" in given


def test_looks_are_done_when_none_is_to_come_and_wait_for_ratings_that_none_has_seen(chosen):
    mine = chosen / "mine"
    text = (mine / "study.toml").read_text().replace("[effect]", '[looks]\nlooks = "2"\n[effect]')
    head, _, rest = text.partition("[looks]")
    (mine / "study.toml").write_text(f'{head}plan = "plan.json"\nratings = "ratings.csv"\n[looks]{rest}')
    (mine / "plan.json").write_text("{}")
    ratings, ledger = mine / "ratings.csv", mine / "plan.looks.jsonl"

    def now():
        study = Studies(Folder(chosen)).open("mine")
        return is_look_due(study), have_looks_ended(study), stage_now(study), "look" in stages_done(study)

    n_rows = len(ratings.read_text().splitlines()) - 1

    def looked(*decisions, withdrawn=0):
        """Looks of which each has seen an equal part of the ratings that are there."""
        contents = [
            {
                "look": {"decision": one},
                "new_rows": {f"{number} {row}": "" for row in range(n_rows // len(decisions))},
            }
            for number, one in enumerate(decisions)
        ]
        gone = {"n_workers": 1, "rows": [f"0 {row}" for row in range(withdrawn)]}
        lines = [json.dumps({"content": one}) for one in (*contents, gone)]
        ledger.write_text("\n".join(lines))

    assert now() == (True, False, "look", False)
    looked("continue")
    assert now() == (False, False, "collect", False)
    os.utime(ratings, (ledger.stat().st_mtime + 9,) * 2)  # copied, or saved again
    assert now() == (False, False, "collect", False)
    text = ratings.read_text()
    ratings.write_text(f"{text}w99,i01,A,3\n")  # more ratings came in
    os.utime(ratings, (ledger.stat().st_mtime - 9,) * 2)
    assert now() == (True, False, "look", False)
    ratings.write_text("".join(text.splitlines(keepends=True)[:-6]))
    looked("continue", withdrawn=6)
    assert now() == (False, False, "collect", False)
    looked("continue", withdrawn=7)
    assert now() == (True, False, "look", False)
    ratings.write_text(text)
    looked("continue", "end-success")
    assert now() == (False, True, "decide", True)
    (mine / "assignment.csv").write_text("slot\n")
    (mine / "late.csv").write_text(f"{text}w99,i01,A,3\n")
    named = (mine / "study.toml").read_text()
    more = 'assignment = ["assignment.csv"]\nexports = ["late.csv"]\n[looks]'
    (mine / "study.toml").write_text(named.replace("[looks]", more))
    assert now() == (False, True, "decide", True)  # though an answer came in after the ratings were taken
    with pytest.raises(InputError, match="The last look ended the study"):
        ACTS["import"].words(Studies(Folder(chosen)).open("mine"), {})


@pytest.mark.slow
def test_before_a_look_it_is_said_how_much_of_what_it_needs_is_in(client, chosen):
    mine = chosen / "mine"
    (mine / "ratings.csv").unlink()
    with contextlib.chdir(mine):
        text = (mine / "study.toml").read_text() + '[looks]\nlooks = "2"\n[cost]\ncost_per_rating = 0.1\n'
        (mine / "study.toml").write_text(text)
        seal = "plan study.toml --workers 8 --items 30 --ratings-per-item 4 --simulations 40 -q -o plan/"
        run(*seal.split(), code=None)  # its power is another matter
        run(*["assign", "--plan", "plan", "-q", "-o", "assignment.csv", "--key", "key.csv"])
        drawn = "simulate --coded -q --plan plan --assignment assignment.csv --key key.csv -o drawn.csv"
        run(*drawn.split())
    rows = pd.read_csv(mine / "drawn.csv", dtype=str)
    rows.head(100).to_csv(mine / "part.csv", index=False)
    (mine / "ratings.csv").write_text("worker,item,system,rating\nw1,i1,A,3\n")
    files = 'plan = "plan"\nassignment = ["assignment.csv"]\nkey = "key.csv"\nexports = ["part.csv"]\n'
    (mine / "study.toml").write_text(f'{text}[files]\n{files}ratings = "ratings.csv"\n')
    table = pd.read_csv(mine / "assignment.csv", dtype=str)
    first = table[table["look"] == "1"]
    pairs = set(zip(first["worker_slot"], first["code"], strict=True))
    done = sum(
        pair in pairs for pair in zip(*(rows.head(100)[name] for name in ("slot", "code")), strict=True)
    )
    assert 0 < done < len(first)
    page = client.get("/study/mine/look").text
    assert f"Look 1 needs {len(first)} answers, of which {done} are in." in page
    button = re.search(r"<button[^>]*>Take look 1</button>", page)[0]
    assert "quiet" in button
    assert "taken now it may be the last one" in page


def test_spares_do_what_lost_workers_left_by_a_click(client, chosen):
    mine = chosen / "mine"
    text = (mine / "study.toml").read_text()
    (mine / "ratings.csv").unlink()
    texts = "".join(f"i{k},old {k},new {k}\n" for k in range(1, 61))
    (mine / "texts.csv").write_text(f"item,A,B\n{texts}")
    more = '[files]\noutputs = "texts.csv"\n[cost]\ncost_per_rating = 0.1\n[form]\nupload = ["html"]\n'
    (mine / "study.toml").write_text(text + more)
    client.post("/act/seal/mine", data={"workers": "10", "items": "60", "ratings-per-item": "3"})
    client.get("/study/mine/plan")
    client.post("/act/assign/mine")
    client.get("/study/mine/collect")
    drawn = mine / "drawn.csv"
    words = "simulate --coded -q --plan plan --assignment forms/assignment.csv --key key.csv -o"
    with contextlib.chdir(mine):
        run(*words.split(), drawn)
    table = pd.read_csv(drawn).assign(worker=lambda one: one["slot"])
    drawn.unlink()
    (first, lost, broken), others = table["slot"].unique()[:3], table["slot"].unique()[3:]
    left = [table[table["slot"].isin([first, *others])], table[table["slot"] == broken].head(5)]
    pd.concat(left).to_csv(mine / "answers.csv", index=False)
    save_exports(client, "answers.csv")
    page = client.get("/study/mine/collect").text
    assert "Work that nobody finishes" in page
    assert "Spares to call" not in page
    assert f'name="replace" value="r01={broken}"> {broken}: begun' in page
    assert client.post("/act/spares/mine").status_code == 422
    client.post("/act/spares/mine", data={"replace": ["r01=nobody"]})
    assert "nobody" in client.get("/study/mine/collect").text
    assert not (mine / "spares").exists()
    client.post("/act/spares/mine", data={"replace": [f"r01={broken}", f"r02={lost}"]})
    page = client.get("/study/mine/collect").text
    assert "forms/assignment.csv, spares/assignment.csv" in re.sub(
        r'[\[\]"]', "", (mine / "study.toml").read_text()
    )
    assert {path.name for path in (mine / "spares" / "html").glob("*.html")} == {"r01.html", "r02.html"}
    assert "spares/html" in page
    with contextlib.chdir(mine):
        run(*words.split(), drawn, "--assignment", "spares/assignment.csv")
    taken = pd.read_csv(drawn).assign(worker=lambda one: one["slot"])
    drawn.unlink()
    spares = taken[taken["slot"].isin(["r01", "r02"])]
    assert len(spares) == (table["slot"] == broken).sum() + (table["slot"] == lost).sum()
    spares.to_csv(mine / "more.csv", index=False)
    save_exports(client, "answers.csv, more.csv")
    assert f"{len(table):,} of {len(table):,} answers are in" in client.get("/study/mine/collect").text
    client.post("/act/import/mine")
    client.get("/study/mine/collect")
    assert len(pd.read_csv(mine / "ratings.csv")) == len(table)


def save_exports(client, names):
    page = client.get("/study/mine/collect").text
    version = re.search(r'name="version" value="(\w+)"', page)[1]
    sent = {"version": version, "exports": names}
    assert client.post("/study/mine/collect", data=sent).status_code == 303
