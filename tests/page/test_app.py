"""The pages, without a browser: forms with their answers, problems beside fields, files that can be taken."""

import hashlib
import io
import json
import re
import zipfile

import pytest

pytest.importorskip("starlette", reason="The page needs the extra [page].")
from in_process_parts import in_process_parts
from starlette.testclient import TestClient

from humeval_power.doors.page.app import make_app

STUDY = "preset=high&workers=12&items=30&effect=0.1"


def test_a_link_is_answered_with_its_form(client):
    page = client.get(f"/power?{STUDY}").text
    assert re.search(r'name="workers" value="12"', page)
    assert "By formula, at once" in page
    command = f"humeval-power power {' '.join('--' + part.replace('=', ' ') for part in STUDY.split('&'))}"
    assert f"{command} --method analytic" in page


def test_problems_stand_beside_their_fields(client):
    found = client.get(f"/live/power?{STUDY}&method=nonsense").json()
    assert [
        each["option"] for each in found["problems"]
    ] == []  # the formula's page decides the method itself
    found = client.get("/live/power?preset=high&workers=x&items=30&effect=0.1").json()
    assert [each["option"] for each in found["problems"]] == ["workers"]
    page = client.get("/power?preset=high&workers=x&items=30&effect=0.1").text
    assert 'id="field-workers-wrong"' in page
    assert 'value="x"' in page


def test_a_field_with_a_problem_still_takes_a_file(client):
    page = client.get("/run/analyze?comparisons=all-pairs").text
    assert 'class="field file wrong" data-field="ratings"' in page


def test_an_answer_in_full_can_be_taken(client):
    found = client.post(f"/job/power?{STUDY}&simulations=200").json()
    assert found["state"] == "done"
    taken = client.get(f"/take/{found['key']}.zip")
    with zipfile.ZipFile(io.BytesIO(taken.content)) as archive:
        record = json.loads(archive.read("answer/record.json"))
        assert "answer/index.html" in archive.namelist()
    assert record["command"].startswith("humeval-power power --preset high")
    assert "answer" not in record["command"]
    page = client.get(f"/take/{found['key']}.html")
    assert page.headers["content-disposition"] == 'attachment; filename="power.html"'


@pytest.mark.parametrize(
    "back", ["//evil.example/x", "https://evil.example/", "/\\evil.example", "power?x=1"]
)
def test_the_way_back_stays_on_the_page(client, back):
    sent = client.post(
        "/upload",
        params={"back": back, "option": "parameters"},
        files={"file": ("p.json", b"{}")},
        follow_redirects=False,
    )
    assert sent.status_code == 303
    assert re.match(r"/(?![/\\])", sent.headers["location"])


def test_a_page_is_there_before_its_workers_are(tmp_path):
    parts = in_process_parts(tmp_path)
    parts.workers.readiness.live = False
    client = TestClient(make_app(parts))
    page = client.get(f"/power?{STUDY}").text
    assert "Getting ready" in page
    assert 'http-equiv="refresh"' in page
    assert client.get(f"/live/power?{STUDY}").json()["state"] == "starting"


def test_what_is_not_there_is_told(client):
    assert client.get("/nonsense").status_code == 404
    assert client.get("/scenario/power").status_code == 404
    assert client.get("/take/0123.zip").status_code == 422


def test_every_file_that_a_page_asks_for_is_there(client):
    head = client.get("/").text.partition("</head>")[0]
    asked = re.findall(r'(?:href|src)="(/static/[^"]+)"', head)
    assert len(asked) == 4
    for path in asked:  # which a browser keeps for an hour: another content has another link
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert path.endswith(f"?v={hashlib.sha256(answer.content).hexdigest()[:12]}")
    assert "--paper" in client.get("/static/document.css").text


@pytest.mark.parametrize("link", ["/plan", "/plan?preset=high&effect=0.1", "/surface", "/looks/study"])
def test_a_look_at_a_simulation_begins_none(tmp_path, link):
    parts = in_process_parts(tmp_path)
    page = TestClient(make_app(parts)).get(link).text
    assert 'data-state="idle"' in page
    assert "nothing is computed before" in page
    assert parts.workers.jobs == {}


def test_an_answer_that_was_begun_is_shown_when_its_link_is_opened_again(client):
    asked = "preset=high&workers=10,20&items=20&effect=0.1,0.2&simulations=20"
    begun = client.post(f"/job/surface?{asked}").json()
    assert begun["state"] == "done", begun["problems"]
    assert 'data-state="done"' in client.get(f"/surface?{asked}").text
    assert client.post(f"/job/{begun['key']}/leave").status_code == 204
