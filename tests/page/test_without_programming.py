"""What somebody who does not program finds on a study's page: files, keys, what is bound, what is suggested."""

import csv
import html
import io
import json
import re
import shutil
import zipfile
from pathlib import Path
from random import Random

import pytest
from cases import every_case, few_fast

pytest.importorskip("starlette")
from in_process_parts import a_client, said, save, version
from starlette.testclient import TestClient

from humeval_power.asking.study_file import parsed_study
from humeval_power.doors.page.answers import Work, answer
from humeval_power.doors.page.requests import FORMS
from humeval_power.doors.page.workspace.stages import BY_KEY, REPORTS, STAGES, looks_taken
from humeval_power.doors.page.workspace.studies import OpenedStudy

STUDY = """schema = "humeval_power/study/1"
[files]
plan = "plan"
ratings = "ratings.csv"
key = "key.csv"
assignment = ["forms/assignment.csv"]
findings = "analysis"
[question]
question = "Which is better?"
[ratings]
scale = "1:5"
[systems]
systems = ["old", "new"]
[variation]
preset = ["typical"]
[effect]
effect_raw = 0.6
[design]
workers = 25
items = 40
ratings_per_item = 3
[cost]
cost_per_rating = 0.1
"""
SIZES = {"workers": "8", "items": "30", "ratings-per-item": "4"}


def a_study(folder: Path) -> Path:
    (folder / "mine").mkdir(parents=True)
    (folder / "mine" / "study.toml").write_text(STUDY, encoding="utf-8")
    return folder


@pytest.fixture
def chosen(tmp_path: Path) -> Path:
    return a_study(tmp_path / "chosen")


@pytest.fixture
def client(tmp_path: Path, chosen: Path) -> TestClient:
    return a_client(tmp_path / "private", chosen)


@pytest.fixture(scope="module")
def with_plan(tmp_path_factory) -> Path:
    """The folder of the study when its design was sealed."""
    folder = tmp_path_factory.mktemp("sealed")
    client = a_client(folder / "private", a_study(folder / "chosen"))
    assert client.post("/act/seal/mine", data=SIZES).status_code == 303
    client.get("/study/mine/plan")
    return folder / "chosen" / "mine"


@pytest.fixture
def sealed(chosen: Path, with_plan: Path) -> Path:
    """The same for a test of its own."""
    return shutil.copytree(with_plan, chosen / "mine", dirs_exist_ok=True)


def read(page: str) -> str:
    """What a person reads."""
    shown = re.sub(r"<(pre|code|style|script)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", shown)


def test_the_size_says_between_what_it_lies_in_sight(client):
    page = client.get("/study/mine/size").text
    lead = read(re.search(r'<p class="answer">.*?</p>', page, re.DOTALL)[0])
    found = re.search(
        r"How much workers and items vary is assumed: (.+?) to (.+?) of 100 may find it", lead
    )
    assert found
    assert "a pilot of 10 workers and 30 items" in lead
    assert "0.15" not in lead


def test_a_file_that_is_only_to_be_written_is_no_value_of_its_field(client, chosen):
    page = client.get("/study/mine/decide").text
    assert re.search(r'id="field-ratings" name="ratings" value=""', page)
    assert save(client, "mine/decide", ratings="").status_code == 303
    assert said(chosen)["ratings"] == "ratings.csv"
    (chosen / "mine" / "ratings.csv").write_text("worker,item,system,rating\nw,i,old,1\n")
    assert 'value="ratings.csv"' in client.get("/study/mine/decide").text
    save(client, "mine/decide", ratings="")
    assert "ratings" not in said(chosen)


def test_what_nobody_has_set_is_called_a_suggestion(client):
    client.post("/studies/new", data={"name": "fresh"})
    page = client.get("/study/fresh/size").text
    assert page.count("our suggestion") == 4  # preset, workers, items, ratings of each
    assert "Typical: as public ratings" in page
    seen = version(page)
    client.post("/study/fresh/size", data={"version": seen, "workers": "12"})
    assert client.get("/study/fresh/size").text.count("our suggestion") == 3


def test_a_search_and_its_sealing_are_read_as_a_person_reads(client, chosen):
    client.post("/act/search/mine")
    page = client.get("/study/mine/plan").text
    text = read(page)
    assert re.search(r"such studies find it (more than )?\d+ of 100", text)
    assert "0.6 points" in text
    assert "Power at" not in text
    # two reasons for one design are one card
    cards = re.findall(r'<li(?: class="first")?>\s*<h2>([^<]+)</h2>(.*?)</li>', page, re.DOTALL)
    numbers = [re.findall(r"<dd>([^<]+)</dd>", text) for _, text in cards]
    assert len({tuple(each) for each in numbers}) == len(cards) >= 1
    assert cards[0][0] == "The cheapest that reaches 80 of 100"
    assert "such studies would find a difference of 0.6 points" in text
    # it says what it binds before the button, and folds prices after it
    assert page.index("Sealing a design binds you") < page.index("Seal this one")
    assert page.index("Read this first") < page.index("Seal this one")
    assert page.count("Read this first") == 1
    assert 'id="field-cost_per_rating"' in page
    sizes = dict(
        re.findall(
            r'<input type="hidden" name="(workers|items|ratings-per-item|documents)" value="(\d+)">', page
        )
    )
    client.post("/act/seal/mine", data=sizes)
    page = client.get("/study/mine/plan").text
    folded = re.search(
        r'<details class="more"><summary>To look for another design.*?</details>\s*'
        r'<p><button form="search-again".*?</details>',
        page,
        re.DOTALL,
    )
    assert 'id="field-cost_per_rating"' in folded[0]
    assert page.lower().count("other designs") == 1  # folded, beside the prices that find them
    assert "One test decides: REML, t, kenward-roger df, two-sided, alpha 0.05." in read(page)
    assert 'id="saved"' in page
    assert "plan/plan.json" in page
    assert "The plan is sealed" in client.get("/study/mine/size").text
    # each form shows itself after another was written
    client.post("/act/write/mine", data={"form": "osf"})
    assert (chosen / "mine" / "reports" / "osf.html").is_file()
    shown = {form: client.get(f"/study/mine/report?form={form}").text for form in REPORTS}
    assert f"{REPORTS['osf']}, as it was written last." in read(shown["osf"])
    assert len({read(text.partition('class="answered"')[2]) for text in shown.values()}) == len(REPORTS)


def test_caveats_stand_in_the_document_of_a_command_and_above_the_buttons_of_a_study():
    words = (
        "plan --preset high --effect 0.3 --items 40 --max-workers 20 --cost-per-rating 0.1 --simulations 50"
    )
    alone = answer(Work(tuple(words.split())), lambda _: None)
    in_study = answer(Work(tuple(words.split()), texts=(("empty.txt", ""),)), lambda _: None)
    assert ("Read this first" in alone.html, alone.caveats) == (True, ())
    assert "Read this first" not in in_study.html
    assert len(in_study.caveats) > 1
    assert all(text.partition("(")[0] in html.unescape(alone.html) for text in in_study.caveats)


@pytest.mark.usefixtures("sealed")
def test_a_sealed_study_says_what_was_sealed_and_offers_no_other_size(client):
    save(client, "mine/size", workers="9")  # for another version
    with every_case() as cases:
        for stage in ("question", "size", "plan"):
            with cases.case(stage):
                _says_what_was_sealed(client, stage)


def _says_what_was_sealed(client: TestClient, stage: str) -> None:
    page = client.get(f"/study/mine/{stage}").text
    assert "8 workers share 30 items under old and new, each output rated 4 times" in read(page)
    assert re.search(
        r"Of 100 such studies, .+ would find that new is 0\.6 points better than old", read(page)
    )
    assert "would do" not in read(page)
    assert 'aria-labelledby="find"' not in page
    shown = re.sub(r"<details\b.*?</details>", "", page, flags=re.DOTALL)
    assert 'id="field-' not in re.sub(r"<details class=\"more\">.*</details>", "", page, flags=re.DOTALL)
    if stage != "plan":
        assert f'href="/study/mine/{stage}?open=power"' in shown
        again = client.get(f"/study/mine/{stage}?open=power").text
        assert 'id="field-' in again
        assert "holds when that is sealed at Plan" in again


def test_what_is_sealed_is_never_another_version_once_ratings_have_come_in(client, sealed):
    (sealed / "ratings.csv").write_text("worker,item,system,rating\nw1,i1,old,3\n", encoding="utf-8")
    for stage in ("question", "size"):
        page = client.get(f"/study/mine/{stage}").text
        assert "8 workers share 30 items" in read(page)
        assert "ratings have come in: it stays as it is" in read(page)
        assert "open=power" not in page
    assert "Look for other designs" not in client.get("/study/mine/plan").text


def test_a_plan_that_was_changed_by_hand_is_not_called_sealed(client, sealed):
    place = sealed / "plan" / "plan.json"
    place.write_text(place.read_text("utf-8").replace('"workers": 8', '"workers": 7'), encoding="utf-8")
    page = client.get("/study/mine/size")
    assert page.status_code == 200
    assert "The plan in the folder is not one that was sealed" in read(page.text)
    assert "7 workers rate" not in read(page.text)


def test_what_a_pilot_holds_is_said_and_nothing_is_called_a_suggestion_then(client, chosen):
    client.post("/studies/summarisers")
    page = client.get("/study/two summarisers/size").text
    part = read(page.partition('class="pilot"')[2].partition("</section>")[0])
    assert "Read pilot.csv" in part
    assert "360 ratings, 10 workers, 60 items, 2 systems" in part
    # the same by lme4 in tests/study/test_answer_first.py
    assert "new is rated 0.28 points higher than baseline on a scale from 1 to 5" in part
    assert "-0.06 to 0.63" in part
    client.post("/studies/new", data={"name": "fresh"})
    assert "(our suggestion)" in client.get("/study/fresh/question").text
    shutil.copy(chosen / "two summarisers" / "pilot.csv", chosen / "fresh" / "pilot.csv")
    seen = version(client.get("/study/fresh/size").text)
    client.post("/study/fresh/size", data={"version": seen, "pilot": "pilot.csv"})
    for stage in ("question", "size"):
        assert "our suggestion" not in client.get(f"/study/fresh/{stage}").text
    assert "As in your pilot" in client.get("/study/fresh/size").text


def test_the_least_it_costs_is_no_crowd_with_next_to_nothing_to_rate(client):
    save(client, "mine/size", effect_raw="0.3", ratings_per_item="1")
    page = client.get("/study/mine/size?open=budget").text
    said = re.search(r"would do, for (\d+) workers and (\d+) items", read(page))
    workers, items = int(said[1]), int(said[2])
    assert 2 * items >= 20 * workers
    assert "only designs count in which each gives 20 ratings or more" in read(page)
    trade = page.partition("Or fewer people, with more to rate each")[2].partition("</section>")[0]
    fewer = dict(re.findall(r'name="(workers|items)" value="(\d+)"', trade))
    assert int(fewer["workers"]) == -(-workers // 2)
    assert int(fewer["items"]) > items
    client.post("/study/mine/size", data={"version": version(page), "open": "power", **fewer})
    found = re.search(r"Of 100 such studies, (\d+) would find", read(client.get("/study/mine/size").text))
    assert 80 <= int(found[1]) <= 82
    save(client, "mine/plan", cost_per_worker="3")
    assert "Or fewer people" not in client.get("/study/mine/size?open=budget").text


def test_of_a_pilot_of_several_systems_it_is_said_what_there_is(client, chosen):
    draw = Random(3)
    cells = [(w, i, system) for w in range(5) for i in range(9) for system in ("a", "bb", "ccc")]
    rows = [f"w{w},i{i},{system},{draw.randint(1, 5)}" for w, i, system in cells]
    (chosen / "mine" / "three.csv").write_text(
        "\n".join(["worker,item,system,rating", *rows]), encoding="utf-8"
    )
    save(client, "mine/question", systems="a, bb, ccc")
    save(client, "mine/size", pilot="three.csv", preset="")
    part = read(
        client.get("/study/mine/size").text.partition('class="pilot"')[2].partition("</section>")[0]
    )
    assert "135 ratings, 5 workers, 9 items, 3 systems" in part
    assert "higher than" not in part


def test_what_the_study_asks_and_what_workers_are_asked_have_different_names(client):
    study = client.get("/study/mine/question").text
    workers = client.get("/study/mine/collect").text
    assert '<label for="field-question">What the study is to find out</label>' in study
    assert "What workers are asked</label>" in workers


@pytest.mark.parametrize("stage", ["question", "size", "plan"])
def test_no_help_says_its_label_again_and_no_fold_opens_onto_folds(client, stage):
    page = client.get(f"/study/mine/{stage}").text
    labels = dict(re.findall(r'<label for="field-([\w-]+)">([^<]+)</label>', page))
    helps = dict(re.findall(r'id="field-([\w-]+)-help">([^<]+)</p>', page))
    asked = set(BY_KEY[stage].fields)
    assert asked <= set(helps) | {"max_workers"}
    for name in asked:
        words = set(re.findall(r"\w+", helps[name].lower()))
        assert not words <= set(re.findall(r"\w+", labels[name].lower())) | {"the", "of", "a"}, name
    assert '<details class="more"' not in page
    assert page.count('<details class="group"') >= len(BY_KEY[stage].sections)


@pytest.mark.parametrize("name", ["ratings", "exports"])
def test_nothing_is_sealed_once_ratings_have_come_in(client, sealed, name):
    mine = sealed
    before = (mine / "plan" / "plan.json").read_bytes()
    (mine / "ratings.csv").write_text("worker,item,system,rating\nw1,i1,old,3\n", encoding="utf-8")
    if name == "exports":
        text = (mine / "study.toml").read_text(encoding="utf-8")
        text = text.replace('ratings = "ratings.csv"', 'ratings = "later.csv"\nexports = ["ratings.csv"]')
        (mine / "study.toml").write_text(text, encoding="utf-8")
    refused = client.post("/act/seal/mine", data={**SIZES, "workers": "6"})
    assert "Ratings have come in" in read(refused.text)
    client.get("/study/mine/plan")
    assert (mine / "plan" / "plan.json").read_bytes() == before


def test_ratings_that_were_brought_tick_no_stage_that_nobody_has_done(client, chosen):
    mine = chosen / "mine"
    (mine / "study.toml").write_text(
        'schema = "humeval_power/study/1"\n[files]\nratings = "ratings.csv"\n', encoding="utf-8"
    )
    (mine / "ratings.csv").write_text("worker,item,system,rating\nw1,i1,old,3\nw1,i1,new,4\n", "utf-8")
    page = client.get("/study/mine/decide").text
    assert re.findall(r"<span>(\w+)</span>(?:(?!</li>).)*, done", page, re.DOTALL) == ["Collect"]


def fill(chosen: Path) -> None:
    mine = chosen / "mine"
    for name in (
        "plan/plan.json",
        "plan/index.html",
        "forms/html/w01.html",
        "forms/assignment.csv",
        "key.csv",
    ):
        (mine / name).parent.mkdir(parents=True, exist_ok=True)
        (mine / name).write_text(f"<script>alert('{name}')</script>")
    (mine / "forms" / "html" / "README.md").write_text(
        "1. Give each worker <b>one page</b>.\n2. Bring them back.\n"
    )
    (mine / "ratings.csv").write_text("worker,item,system,rating\nw,i,old,1\n")
    (mine / "ratings.secret").write_text("secret")
    text = (mine / "study.toml").read_text()
    (mine / "study.toml").write_text(text + '[form]\nupload = ["html"]\n')


def test_files_are_listed_with_what_they_are_for_and_keys_apart(client, chosen):
    fill(chosen)
    page = client.get("/study/mine/collect").text
    files, keys = page.split("Keys, for you alone")
    assert "Rating form (HTML): what the platform, or each worker, gets." in files
    assert "Give each worker &lt;b&gt;one page&lt;/b&gt;." in files
    assert "forms/assignment.csv" in files
    assert "path=key.csv" not in files
    assert "path=key.csv" in keys
    assert "path=ratings.secret" in keys
    assert "path=seed.txt" not in page  # it is not there
    assert str(chosen / "mine") in keys


def test_a_listed_file_is_taken_and_no_other(client, chosen):
    fill(chosen)
    taken = client.get("/file/mine?path=plan/index.html")
    assert taken.headers["content-disposition"].startswith("attachment")
    assert taken.headers["content-type"] == "application/octet-stream"  # never a page of this origin
    assert taken.content == (chosen / "mine" / "plan" / "index.html").read_bytes()
    with zipfile.ZipFile(io.BytesIO(client.get("/file/mine?path=forms/html").content)) as archive:
        assert sorted(archive.namelist()) == ["html/README.md", "html/w01.html"]
    (chosen / "mine" / "notes.csv").write_text("mine")
    for path in ("notes.csv", "study.toml", "../mine/key.csv", "/etc/passwd", "forms", "plan", ""):
        assert client.get("/file/mine", params={"path": path}).status_code == 404, path


def test_a_listed_file_that_leads_outside_is_not_taken(client, chosen):
    fill(chosen)
    (chosen.parent / "secret.txt").write_text("SECRET")
    (chosen / "mine" / "key.csv").unlink()
    (chosen / "mine" / "key.csv").symlink_to(chosen.parent / "secret.txt")
    (chosen / "mine" / "forms" / "html" / "more.html").symlink_to(chosen.parent / "secret.txt")
    assert "path=key.csv" not in client.get("/study/mine/collect").text
    assert client.get("/file/mine?path=key.csv").status_code == 404
    zipped = client.get("/file/mine?path=forms/html")
    assert b"SECRET" not in zipped.content
    assert zipped.status_code in (404, 422)


def test_each_criterion_has_a_field_for_its_question(client, chosen):
    text = (chosen / "mine" / "study.toml").read_text()
    (chosen / "mine" / "study.toml").write_text(
        text.replace('scale = "1:5"', 'scale = "1:5"\ncriteria = ["fluency", "adequacy"]')
    )
    page = client.get("/study/mine/collect").text
    assert "What workers are asked about fluency" in page
    assert "What workers are asked about adequacy" in page
    save(client, "mine/collect", **{"ask-0": "How fluent = natural, is it?", "ask-1": ""})
    first, second = said(chosen)["questions"]
    assert first == "fluency=How fluent = natural, is it?"
    assert second.startswith("adequacy=How good") or second.endswith("(adequacy)")
    assert "How fluent = natural, is it?</textarea>" in client.get("/study/mine/collect").text
    before = (chosen / "mine" / "study.toml").read_bytes()
    save(
        client,
        "mine/collect",
        **{"ask-0": "How fluent = natural, is it?", "ask-1": second.partition("=")[2]},
    )
    assert (chosen / "mine" / "study.toml").read_bytes() == before
    save(client, "mine/collect", **{"ask-0": "", "ask-1": ""})
    assert "questions" not in said(chosen)


def test_names_with_commas_come_back_as_they_are(client, chosen):
    save(client, "mine/question", systems='"old, small", new')
    assert said(chosen)["systems"] == ["old, small", "new"]
    page = client.get("/study/mine/question").text
    assert "&#34;old, small&#34;, new" in page
    save(client, "mine/question", systems='"old, small", new', question="Another?")
    assert said(chosen)["systems"] == ["old, small", "new"]


def test_the_question_is_a_paragraph(client):
    assert '<textarea id="field-question"' in client.get("/study/mine/question").text


def test_money_has_its_currency(client):
    save(client, "mine/plan", budget="300")
    assert "300 USD" in client.get("/study/mine/question").text


def test_a_choice_that_nobody_has_made_is_an_invitation(client):
    assert FORMS["compare", "scores"].moves
    found = client.get("/live/compare/scores").json()
    assert re.search(r'Say <a href="#field-\w+">[^<]+</a>: the answer stands here then', found["html"])
    assert "missing" not in read(found["html"])
    assert found["problems"] == []
    asked = client.get("/run/compare/scores").text
    assert "This is missing." in asked  # who asks for an answer is told


def test_no_option_of_the_terminal_is_read_on_any_stage(client, chosen):
    fill(chosen)
    for stage in STAGES:
        for view in ("", *(f"?form={form}" for form in REPORTS if stage.key == "report")):
            text = read(client.get(f"/study/mine/{stage.key}{view}").text)
            assert not re.findall(r"(?<![\w-])--?[a-z][a-z-]*\b", text), (stage.key, view)


def test_of_several_systems_what_is_to_be_found_is_asked_with_the_size(client, chosen):
    assert 'id="field-goal"' not in client.get("/study/mine/size").text
    save(client, "mine/question", systems="a, b, c, d")
    page = client.get("/study/mine/size").text
    assert 'id="field-goal"' in page
    assert "as usual: A pair that differs is found" in page
    save(client, "mine/size", goal="best")
    assert said(chosen)["goal"] == "best"


@few_fast("platform", ["google-forms", "mturk", "qualtrics"])
def test_what_a_platform_gives_back_is_read_by_the_mapping_of_its_forms(client, chosen, platform):
    from tests.field import platform_crowd
    from tests.field.test_upload_decoded import EXPORTS, assigned

    mine = chosen / "mine"
    form, code_of = assigned(mine, platform, "1:5", ("quality",))
    (mine / "up").rename(mine / "forms")
    files = {path.name: path.read_text(encoding="utf-8") for path in (mine / "forms" / platform).iterdir()}
    answers = platform_crowd.answers_of(form)
    exports = [str(Path(path).relative_to(mine)) for path in EXPORTS[platform](files, form, answers, mine)]
    (mine / "study.toml").write_text(
        STUDY.replace('plan = "plan"\nratings', f"exports = {exports}\nratings")
        + f'[form]\nupload = ["{platform}"]\n'
    )
    page = client.get("/study/mine/collect").text
    assert "answers are in" in page, read(page)[-1500:]
    assert "Write a mapping" not in page
    client.post("/act/import/mine")
    with (mine / "ratings.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row.get("kind", "rating") in ("", "rating")]
    wanted = sorted(
        (*code_of[one.code], float(answers[one.slot, one.order, "quality"]))
        for one in form.shown
        if one.kind == "rating"
    )
    assert sorted((row["item"], row["system"], float(row["rating"])) for row in rows) == wanted


@pytest.mark.parametrize(
    ("plan", "named", "place"),
    [
        ("plan", "", "plan/plan.looks.jsonl"),
        ("plan.json", "", "plan.looks.jsonl"),
        ("plan", "mine/looks.jsonl", "mine/looks.jsonl"),
    ],
)
def test_looks_are_read_where_the_ledger_of_the_study_is(tmp_path, plan, named, place):
    (tmp_path / "plan").mkdir()
    (tmp_path / place).parent.mkdir(exist_ok=True)
    look = {"decision": "continue", "dropped": ["A"]}
    lines = [{"content": {"opened": 1}}, {"content": {"look": look}}]
    (tmp_path / place).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    files = f'plan = "{plan}"\n' + (f'ledger = "{named}"\n' if named else "")
    text = f'schema = "humeval_power/study/1"\n[files]\n{files}'
    study = OpenedStudy("", tmp_path, parsed_study("study.toml", text))
    assert looks_taken(study) == (look,)
