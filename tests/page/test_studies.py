"""A study on the page: what is saved and what never is, what is refused, and that its answers are the commands'."""

import html
import re
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("starlette")
from in_process_parts import a_client, said, save, version
from places import ROOT
from starlette.testclient import TestClient

from humeval_power.asking.study_file import parsed_study, with_values
from humeval_power.doors.page.answers import Answer
from humeval_power.doors.page.requests import on_page
from humeval_power.doors.page.serving.chosen_folder import Folder
from humeval_power.doors.page.views import Surroundings
from humeval_power.doors.page.workspace.stages import BY_KEY, FOLDED, STAGES
from humeval_power.doors.page.workspace.studies import Studies
from humeval_power.doors.page.workspace.views import StageShown, stage_page
from humeval_power.errors import InputError
from humeval_power.study import FIELDS

MINE = """schema = "humeval_power/study/1"
# My own remark.
[variation]
preset = "high"  # as Card et al.
[effect]
effect = 0.1
[design]
# Number of workers. (workers)
workers = 20
items = 50
ratings_per_item = 3
"""


@pytest.fixture
def chosen(tmp_path: Path) -> Path:
    folder = tmp_path / "chosen"
    (folder / "mine").mkdir(parents=True)
    (folder / "mine" / "study.toml").write_text(MINE, encoding="utf-8")
    return folder


@pytest.fixture
def client(tmp_path: Path, chosen: Path) -> TestClient:
    return a_client(tmp_path / "private", chosen)


def test_the_home_lists_studies_with_what_is_next(client, chosen):
    (chosen / "broken").mkdir()
    (chosen / "broken" / "study.toml").write_text("schema = 3\n")
    page = client.get("/").text
    assert 'href="/study/mine/question"' in page
    assert "say what is to be found out" in page
    assert "cannot be read" in page


def test_a_new_study_is_a_draft_until_it_has_a_name(client, chosen):
    first = client.post("/studies/new", data={"name": ""})
    second = client.post("/studies/new", data={"name": ""})
    assert first.headers["location"] == "/study/draft/question"
    assert second.headers["location"] == "/study/draft-2/question"
    assert "This study is a draft" in client.get("/study/draft/question").text
    named = client.post("/rename/draft", data={"name": "My études"})
    assert named.headers["location"] == "/study/My%20%C3%A9tudes/question"
    page = client.get(named.headers["location"]).text
    assert "This study is a draft" not in page
    assert not (chosen / "draft").exists()
    assert client.post("/rename/draft-2", data={"name": "My études"}).status_code == 422


def test_what_is_typed_is_saved_and_the_rest_of_the_file_stays(client, chosen):
    assert save(client, workers="30", scale="1:5").status_code == 303
    text = (chosen / "mine" / "study.toml").read_text()
    assert "# My own remark." in text
    assert 'preset = "high"  # as Card et al.' in text
    assert said(chosen) | {"workers": 30, "scale": "1:5"} == said(chosen)


def test_a_field_that_is_emptied_goes_with_the_remark_of_the_program_only(client, chosen):
    save(client, workers="", ratings_per_item="")
    text = (chosen / "mine" / "study.toml").read_text()
    assert "workers" not in text
    assert "ratings_per_item" not in text
    assert "# My own remark." in text


def test_to_look_writes_nothing(client, chosen):
    before = {
        path: (path.stat().st_mtime_ns, path.read_bytes()) for path in chosen.rglob("*") if path.is_file()
    }
    for stage in STAGES:
        assert client.get(f"/study/mine/{stage.key}").status_code == 200
        assert client.get(f"/study/mine/{stage.key}?workers=40&version=x").status_code == 200
    client.get("/")
    after = {
        path: (path.stat().st_mtime_ns, path.read_bytes()) for path in chosen.rglob("*") if path.is_file()
    }
    assert after == before


def test_what_was_changed_meanwhile_is_shown_and_not_written_over(client, chosen):
    old = version(client.get("/study/mine/size").text)
    save(client, workers="30")
    lost = client.post("/study/mine/size", data={"version": old, "workers": "20", "items": "70"})
    assert lost.status_code == 409
    assert said(chosen)["workers"] == 30
    rows = re.findall(r"<th scope=\"row\">(.*?)</th><td>(.*?)<input.*?</td><td>(.*?)</td>", lost.text)
    assert rows == [("Workers", "20", "30"), ("Items", "70", "50")]
    mine = {"version": version(lost.text), "workers": "20", "items": "70"}
    assert client.post("/study/mine/size", data=mine).status_code == 303
    assert (said(chosen)["workers"], said(chosen)["items"]) == (20, 70)


def test_a_script_gets_both_versions_too(client):
    accept = {"accept": "application/json"}
    lost = client.post("/study/mine/size", data={"version": "old", "workers": "21"}, headers=accept)
    assert "In the file now" in lost.json()["conflict"]


def test_what_a_field_cannot_hold_stands_beside_it_and_nothing_is_saved(client, chosen):
    page = save(client, workers="many", items="60").text
    assert re.search(r'id="field-workers-wrong"><p>[^<]+</p>', page)
    assert 'value="many"' in page
    assert (chosen / "mine" / "study.toml").read_text() == MINE


def test_an_alternative_takes_the_place_of_what_it_excludes(client, chosen):
    save(client, effect_raw="0.4", scale="1:5")
    assert "effect" not in said(chosen)
    with (ROOT / "data" / "pilot.csv").open("rb") as file:
        back = {"option": "pilot", "back": "/study/mine/size"}
        brought = client.post("/upload", params=back, files={"file": ("my pilot.csv", file)})
    page = client.get(brought.headers["location"]).text
    shown = r'<input type="checkbox" name="pilot" value="([^"]+)" checked> my pilot.csv'
    value = html.unescape(re.search(shown, page)[1])
    assert not (chosen / "mine" / "my pilot.csv").exists()  # to bring is not to save
    save(client, pilot=value)
    kept = said(chosen)["pilot"]
    assert (chosen / "mine" / kept).read_bytes() == (ROOT / "data" / "pilot.csv").read_bytes()
    assert "preset" not in said(chosen)


@pytest.mark.parametrize("path", ["../../secret.csv", "/etc/passwd", "../.hidden.csv", "nowhere.csv"])
def test_no_file_outside_the_folder_is_named(client, chosen, path):
    (chosen.parent / "secret.csv").write_text("SECRET")
    (chosen / ".hidden.csv").write_text("SECRET")
    page = save(client, pilot=path).text
    assert 'id="field-pilot-wrong"' in page
    assert "SECRET" not in page
    assert (chosen / "mine" / "study.toml").read_text() == MINE


def test_a_text_cannot_become_another_key(client, chosen):
    text = 'x"\n[files]\npilot = "/etc/passwd'
    save(client, "mine/question", question=text)
    assert said(chosen)["question"] == text
    assert "pilot" not in said(chosen)


def test_the_answer_is_that_of_the_command(client, chosen, monkeypatch):
    from click.testing import CliRunner

    from humeval_power.doors.terminal.main import main

    monkeypatch.chdir(chosen / "mine")
    for words, stage in (
        ("power study.toml --method analytic", "size"),
        ("size study.toml --find workers --method analytic", "size?open=workers"),
        ("mde study.toml --method analytic", "size?open=effect"),
    ):
        sentence = CliRunner().invoke(main, [*words.split(), "-q"]).output.split("\n\n")[0]
        _, *lead = sentence.splitlines()
        page = html.unescape(client.get(f"/study/mine/{stage}").text)
        assert " ".join(lead) in " ".join(
            re.search(r'class="answer">(.*?)</p>', page, re.DOTALL)[1].split()
        )
        assert f"humeval-power {words}" in page


def test_what_is_typed_moves_the_answer_before_it_is_saved(client, chosen):
    accept = {"accept": "application/json"}
    few = client.get("/study/mine/size?workers=5", headers=accept).json()["html"]
    many = client.get("/study/mine/size?workers=60", headers=accept).json()["html"]
    found = [int(re.search(r"Of 100 such studies, (\d+) would", text)[1]) for text in (few, many)]
    assert found[0] < found[1]
    assert said(chosen)["workers"] == 20


def test_the_size_that_was_open_can_be_taken(client, chosen):
    save(client, effect="0.2")
    page = client.get("/study/mine/size?open=workers").text
    found = re.search(r'name="workers" value="(\d+)">', page)
    assert f">Next: Plan, with {found[1]} workers</button>" in page
    assert "The study says 20 workers now: Next takes" in page
    taken = save(client, workers=found[1], next="plan")
    assert taken.headers["location"] == "/study/mine/plan"
    assert said(chosen)["workers"] == int(found[1])
    page = client.get("/study/mine/size?open=workers").text  # it says the same: there is nothing to take
    assert "Next takes" not in page
    assert re.search(r'<button form="take" name="next" value="plan" hidden>', page)


def test_the_budget_that_was_open_pays_for_workers_and_items_that_can_be_taken(client, chosen):
    save(client, cost_per_rating="0.1", effect="0.2")
    page = client.get("/study/mine/size?open=budget").text
    assert 'id="field-workers"' not in page
    assert re.search(r"<dt>Cost</dt><dd>[\d.]+ USD</dd>", page)
    taken = dict(re.findall(r'<input type="hidden" name="(workers|items)" value="(\d+)">', page))
    assert f">Next: Plan, with {taken['workers']} workers and {taken['items']} items</button>" in page
    save(client, **taken)
    assert {name: said(chosen)[name] for name in taken} == {name: int(n) for name, n in taken.items()}
    assert "Next takes" not in client.get("/study/mine/size?open=budget").text


def test_what_is_missing_is_asked_for_at_the_field_that_the_stage_has(client):
    save(client, effect="", cost_per_rating="0.1")
    page = client.get("/study/mine/size?open=budget").text
    assert '<a href="#field-effect_raw">' in page
    assert "Say the smallest difference that matters." in page
    assert 'class="more" open' not in page


def test_where_nothing_says_how_ratings_vary_or_what_they_cost_the_page_says_it_in_its_words(client):
    save(client, preset="")
    page = client.get("/study/mine/size").text
    assert (
        '<a href="#field-preset">How much ratings vary</a>: Choose one of the list, or bring a pilot'
        in page
    )
    save(client, preset="typical", effect="0.2")
    page = client.get("/study/mine/size?open=budget").text
    assert "Say what one rating costs." in page
    assert "pay per hour" not in page.partition('id="answer"')[2]


def test_a_problem_names_fields_as_the_page_does_and_leads_to_where_they_are_asked(client, chosen):
    save(client, "mine/size", scale="1:5", effect="", effect_raw="9")
    page = html.unescape(client.get("/study/mine/size").text)
    assert '<a href="#field-effect_raw">Smallest difference that matters</a>: on the scale 1 to 5' in page
    assert "\u201cScale that is rated on\u201d" in page
    save(client, effect_raw="0.5")
    save(client, "mine/question", systems="old, new")
    rows = "".join(f"w{row % 5},i{row // 10},{'xy'[row // 5 % 2]},{row * 7 % 5 + 1}\n" for row in range(60))
    (chosen / "mine" / "pilot.csv").write_text(f"worker,item,system,rating\n{rows}")
    save(client, preset="", pilot="pilot.csv")
    page = html.unescape(client.get("/study/mine/size").text)
    assert '<a href="/study/mine/question#field-systems">Names of the systems</a>: ' in page
    assert "name them in that order: \u201cNames of the systems\u201d x,y" in page


def test_no_word_that_stands_for_a_value_in_a_terminal_is_left_behind_a_label():
    said = "declare it with --scale LOW:HIGH, or with --system COLUMN; 'humeval-power fit --scale LOW:HIGH' is one."
    assert on_page(said) == (
        "declare it with \u201cScale that is rated on\u201d, or with \u201cColumn of the system\u201d; "
        "'humeval-power fit --scale LOW:HIGH' is one."
    )


def test_next_takes_as_many_workers_as_the_answer_says_to_take(client):
    save(client, preset="typical", effect="0.15", items="150")
    page = client.get("/study/mine/size?open=workers").text
    assert "<dt>Workers</dt><dd>3</dd>" in page
    assert "With fewer than 5 workers the test rejects more often than it says: take 5." in page
    assert ">Next: Plan, with 5 workers</button>" in page


def test_cards_say_that_the_items_are_those_of_the_study(client, chosen):
    shown = StageShown("done", answer=Answer(0, html="", ways=(("cheapest", _design()),)), act="search")

    def cards(**values: str) -> str:
        save(client, "mine/plan", **values)
        study = Studies(Folder(chosen)).open("mine")
        return stage_page(BY_KEY["plan"], study, {}, {}, shown, Surroundings("token"))

    assert "All have the 50 items of the study" in cards(cost_per_rating="0.1")
    assert "items of the study" not in cards(items_range="20:100")


def test_an_answer_begins_with_a_number_and_folds_its_method(client):
    page = client.get("/study/mine/size").text
    first, sentence, fold = (
        page.index(" of 100</dd>"),
        page.index('class="answer"'),
        page.index('class="folded"'),
    )
    assert first < sentence < page.index("What would change it") < fold
    assert fold < page.index("Numbers and method</summary>") < page.index("<dt>Test</dt>")


def test_a_plan_is_chosen_among_designs_and_sealed_in_the_folder(client, chosen):
    save(client, "mine/plan", cost_per_rating="0.1", max_workers="20")
    save(client, effect="0.3", items="15")
    assert client.post("/act/search/mine").status_code == 303
    page = client.get("/study/mine/plan").text
    assert not (chosen / "mine" / "plan").exists()
    cards = re.findall(r"<h2>([^<]+)</h2>\n<p class=\"first-number\">", page)
    assert cards[0] == "The cheapest near 80 of 100"  # 80 by formula, 76 as simulated
    assert f"<p>{len(cards)} designs to choose from." in page
    assert cards[-1] == "Your size: about as sure, 0.75 times the price"  # 78 for 9 USD, 76 for 12
    yours = re.sub(r"<[^>]*>|\s+", " ", page.rpartition("<h2>Your size")[2].partition("</li>")[0])
    assert re.search(r"People +20 .*Items +15 .*Ratings of each output +3 ", yours)
    assert re.search(r"Ratings in all \(15 \u00d7 2 systems \u00d7 3\) +90 ", yours)
    sizes = dict(
        re.findall(
            r'name="(workers|items|ratings-per-item)" value="(\d+)"', page.partition('class="cards"')[2]
        )
    )
    client.post("/act/seal/mine", data={**sizes, "documents": "--output=/tmp/x"})
    page = client.get("/study/mine/plan").text
    assert "Sealed" in page
    assert (chosen / "mine" / "plan" / "plan.json").is_file()
    assert "Collect" in client.get("/").text
    assert (said(chosen)["plan"], said(chosen)["workers"]) == ("plan", int(sizes["workers"]))


def test_a_card_says_the_risk_of_its_power_and_one_beyond_the_budget_is_not_sealed(client):
    client.post("/studies/summarisers")
    at = "two summarisers"
    save(client, f"{at}/plan", budget="100")
    assert client.post(f"/act/search/{at}").status_code == 303
    page = client.get(f"/study/{at}/plan").text
    cards = page.partition('class="cards"')[2].partition("</ul>")[0].split("<li")[1:]
    risk = r"[\w ]+ to [\w ]+ of 100 may find it, as the pilot is small\."
    assert all(re.search(risk, card) for card in cards)
    assert not any(" %" in card for card in cards)  # one reading of the risk
    assert all(("/act/seal/" in card) == ("More than" not in card) for card in cards)
    assert "More than" in cards[-1]  # 12 workers, 100 items and 3 ratings of each cost 108
    assert "More workers in the pilot would narrow what is possible." in page


def test_what_was_proved_by_simulating_is_taken_along(client):
    client.post("/studies/summarisers")
    at = "two summarisers"
    begun = client.post(f"/act/prove/{at}", data={"open": "workers"})
    page = client.get(begun.headers["location"]).text
    workers = re.search(r"(\d+) workers would do[^:]*: then, by simulating", page)[1]
    assert f'<input type="hidden" name="workers" value="{workers}">' in page
    assert f"Next: Plan, with {workers} workers" in page


def test_where_no_size_will_do_there_are_ways_out_that_do(client, chosen):
    client.post("/studies/summarisers")
    at = "two summarisers"
    save(client, f"{at}/size", effect_raw="0.3", items="30")
    page = client.get(f"/study/{at}/size?open=workers").text
    assert "No number of workers will do" in page
    assert "on [0, 1]" not in page.partition("Numbers and method")[0].partition('id="answer"')[2]
    part = page.partition("What would do instead")[2].partition("</ul>")[0]
    ways = [
        dict(re.findall(r'name="(\w+)" value="([\w.]+)"', one))
        for one in part.split("<li>")
        if "post" in one
    ]
    assert ways
    before = said(chosen, at)
    for way in ways:
        sent = {**way, "version": version(client.get(f"/study/{at}/size").text)}
        taken = client.post(f"/study/{at}/size", data=sent)
        after = client.get(taken.headers["location"]).text
        found = re.search(r"Of 100 such studies, (\d+) would", after)
        assert int(found[1]) >= 80
        save(client, f"{at}/size", effect_raw=str(before["effect_raw"]), items=str(before["items"]))


def test_the_six_questions_begin_a_study(client, chosen):
    asked = {"judgement": "points", "have": "nothing", "difference": "0.5", "limit": "budget=500"}
    page = client.get("/start", params=asked).text
    sent = {
        name: html.unescape(
            re.search(rf'name="{name}" value="([^"]*)"', page.partition("/studies/answers")[2])[1]
        )
        for name in ("study", "file")
    }
    begun = client.post("/studies/answers", data={**sent, "name": "asked"})
    assert begun.headers["location"] == "/study/asked/question"
    assert {"effect_raw": 0.5, "scale": "1:5"}.items() <= said(chosen, "asked").items()
    assert said(chosen, "asked")["budget"] == 500
    assert client.post("/studies/answers", data={"study": "schema = 3"}).status_code == 422
    (chosen / "mine.csv").write_text("worker,item,system,rating\n")
    (chosen.parent / "secret.csv").write_text("secret")
    pilot = 'schema = "humeval_power/study/1"\n[files]\npilot = "mine.csv"\nratings = "ratings.csv"\n'
    client.post("/studies/answers", data={"study": pilot, "file": "mine.csv", "name": "piloted"})
    assert (chosen / "piloted" / "mine.csv").read_text().startswith("worker")
    assert (said(chosen, "piloted")["pilot"], said(chosen, "piloted")["ratings"]) == (
        "mine.csv",
        "ratings.csv",
    )
    (chosen / "before").mkdir()
    (chosen / "before" / "ratings.csv").write_text("worker,item,system,rating\n")
    client.post("/studies/answers", data={"study": pilot, "file": "before/ratings.csv", "name": "again"})
    assert (said(chosen, "again")["pilot"], said(chosen, "again")["ratings"]) == (
        "ratings.csv",
        "study-ratings.csv",
    )
    refused = client.post(
        "/studies/answers", data={"study": pilot, "file": "../secret.csv", "name": "evil"}
    )
    assert refused.status_code == 422
    assert not (chosen / "evil").exists()


def test_ratings_become_a_study_that_decides(client):
    with (ROOT / "data" / "pilot.csv").open("rb") as file:
        brought = client.post(
            "/upload", params={"option": "ratings", "back": "/have"}, files={"file": ("r.csv", file)}
        )
    asked = client.get(brought.headers["location"]).text
    upload = html.unescape(re.search(r'name="ratings" value="([^"]+)"', asked)[1])
    begun = client.post("/studies/ratings", data={"ratings": upload, "name": "have"})
    assert begun.headers["location"] == "/study/have/decide?table=open"
    assert "This table can be analysed: 360 ratings" in client.get("/study/have/decide").text


def test_each_worked_example_opens(client, chosen):
    for kind, name in (
        ("summarisers", "two summarisers"),
        ("eight", "eight systems"),
        ("seeds", "a metric with seeds"),
    ):
        first = client.post(f"/studies/{kind}")
        assert first.status_code == 303
        parsed_study("study.toml", (chosen / name / "study.toml").read_text())
    assert client.post("/studies/eight").headers["location"] == "/study/eight%202/size".replace(
        "eight", "eight%20systems"
    )
    page = client.get("/study/two%20summarisers/size").text
    assert "such studies" in page
    assert "Of 100" in client.get("/study/eight%20systems/size").text or "of 100" in page


def test_no_stage_asks_more_than_six_fields_and_none_twice():
    names = [name for stage in STAGES for name in stage.fields]
    assert len(set(names)) == len(names)
    assert all(len(stage.fields) <= 6 for stage in STAGES)
    assert sum(len(set(stage.fields) - set(FOLDED)) for stage in STAGES[:3]) <= 12
    assert all(FIELDS[name].label for name in names)


def test_no_option_of_the_terminal_stands_on_a_stage(client, chosen):
    (chosen / "mine" / "study.toml").write_text(
        MINE.replace("effect = 0.1\n", "").replace("items = 50\n", "")
    )
    for stage in STAGES:
        page = client.get(f"/study/mine/{stage.key}").text
        seen = re.sub(r'<details class="same".*?</details>|<[^>]+>', " ", page, flags=re.DOTALL)
        assert re.findall(r"(?<!\w)--[a-z][a-z-]+", seen) == []


def test_a_value_that_goes_takes_nothing_else_along():
    made = with_values(MINE, {"workers": None, "preset": None, "scale": None})
    assert tomllib.loads(made) == {
        "schema": "humeval_power/study/1",
        "variation": {},
        "effect": {"effect": 0.1},
        "design": {"items": 50, "ratings_per_item": 3},
    }
    assert "Number of workers" not in made
    assert "# My own remark." in made


def test_the_seed_of_an_assignment_is_drawn_once_and_no_file_of_ones_own_is_taken_for_it(chosen):
    studies = Studies(Folder(chosen))
    study, place = studies.open("mine"), chosen / "mine" / "seed.txt"
    assert study.seed == ""
    studies.keep_seed(study)
    first = study.seed
    assert first.isdecimal()
    assert place.stat().st_mode & 0o077 == 0
    studies.keep_seed(study)
    assert study.seed == first
    place.write_text("my notes on seeds")
    with pytest.raises(InputError, match="holds no seed"):
        studies.keep_seed(study)
    assert place.read_text() == "my notes on seeds"
    place.unlink()
    place.symlink_to(chosen.parent / "outside.txt")
    (chosen.parent / "outside.txt").write_text("123")
    assert study.seed == ""


@pytest.mark.parametrize(
    ("costs", "offers"),
    [({}, True), ({"cost_per_worker": "2"}, False), ({"fees": "fees.toml", "fee": "ours"}, False)],
)
def test_fewer_workers_are_offered_where_one_more_costs_nothing(client, chosen, costs, offers):
    (chosen / "mine" / "fees.toml").write_text(
        'schema = "humeval_power/platform_fees/1"\n[ours]\nshare = 0.0\nper_worker = 2\nsource = "us"\n'
    )
    save(client, cost_per_rating="0.1", effect="0.12", preset="typical", **costs)
    page = client.get("/study/mine/size?open=budget").text
    assert re.search(r"<dt>Cost</dt><dd>[\d.]+ USD</dd>", page), page
    assert ("Or fewer people, with more to rate each" in page) is offers


def test_a_table_from_windows_is_saved_anew_in_excel(client, chosen):
    lines = "worker,item,system,rating\n" + "".join(f"w{k},Stück,{s},3\n" for k in range(9) for s in "AB")
    (chosen / "mine" / "old.csv").write_bytes(lines.encode("cp1252"))
    for field, stage in (("ratings", "decide"), ("outputs", "collect")):
        save(client, f"mine/{stage}", **{field: "old.csv"})
        page = html.unescape(client.get(f"/study/mine/{stage}").text)
        assert "(0xfc) is not UTF-8 text. Save it as UTF-8: Excel has “CSV UTF-8”" in page, stage
        assert "iconv" not in page, stage


def _design(**said: object) -> dict[str, object]:
    usual = {"n_workers": 10, "n_items": 30, "ratings_per_item": 1, "n_documents": 0, "n_ratings": 240}
    further = {"shown_power": 0.95, "power_spread": None, "is_recommended": False}
    return {**usual, "cost": "28.80", **further, **said}


@pytest.mark.parametrize(("recommended", "filled"), [(True, ["", "first"]), (False, ["", ""])])
def test_a_design_stands_out_where_the_plan_recommends_it(client, chosen, recommended, filled):
    save(client, "mine/plan", cost_per_rating="0.12")
    save(client, effect="0.3", systems="A, B, C, D, E, F, G, H")
    two = _design(
        ratings_per_item=3, n_ratings=720, cost="40.00", shown_power=0.97, is_recommended=recommended
    )
    study = Studies(Folder(chosen)).open("mine")
    answered = Answer(0, html="<p>A plan.</p>", ways=(("cheapest", _design()), ("yours", two)))
    shown = StageShown("done", answer=answered, act="search")
    page = stage_page(BY_KEY["plan"], study, {}, {}, shown, Surroundings("token"))
    cards = page.partition('class="cards"')[2].partition("</ul>")[0].split("<li")[1:]
    assert [re.match(r'(?: class="(\w+)")?>', card)[1] or "" for card in cards] == filled
    assert ["agree cannot be measured" in card for card in cards] == [True, False]
    assert ['<button class="quiet">' in card for card in cards] == [not one for one in filled]
    assert "such studies would find a given pair that is 0.3 on [0, 1] apart" in page
    assert "Ratings in all (30 \u00d7 8 systems \u00d7 3)" in cards[1]


def test_a_large_difference_is_called_large_and_another_is_not(client):
    save(client, scale="1:5", effect="", effect_raw="1.2")
    page = client.get("/study/mine/size").text
    assert "1.2 of 4 points is a large difference" in page  # more than a quarter of 1 to 5
    assert (
        "is a large difference" not in client.get("/study/mine/size?open=effect").text
    )  # it is worked out
    save(client, effect_raw="1")
    assert "is a large difference" not in client.get("/study/mine/size").text


def test_looks_that_are_not_planned_are_no_stage_on_the_way(client, chosen):
    assert "not planned" not in client.get("/study/mine/question").text
    file = chosen / "mine" / "study.toml"
    file.write_text(file.read_text() + '[files]\nplan = "plan.json"\n')
    (chosen / "mine" / "plan.json").write_text("{}")
    page = client.get("/study/mine/collect").text
    assert ">Next: Decide</a>" in page
    assert re.search(r"Stop early\?</span><span class=\"tag\">not planned</span>", page)
    assert ">Next: Report</a>" in client.get("/study/mine/decide").text
    file.write_text(file.read_text() + '[looks]\nlooks = "2"\n')
    page = client.get("/study/mine/collect").text
    assert ">Next: Stop early?</a>" in page
    assert "not planned" not in page
