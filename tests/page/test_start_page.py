"""The six questions on the page: they lead to pages that are filled in."""

import html
import re
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("starlette", reason="The page needs the extra [page].")
from places import ROOT


def links(page: str) -> list[str]:
    part = re.search(r'<nav class="next".*?</nav>', page, re.DOTALL)
    assert part is not None
    return [html.unescape(link) for link in re.findall(r'href="([^"]+)"', part[0])]


def test_all_questions_offer_the_six_questions(client):
    assert 'href="/all"' in client.get("/").text
    assert 'href="/start"' in client.get("/all").text


def test_whoever_has_nothing_gets_filled_pages_to_plan_on(client):
    page = client.get("/start?judgement=points&have=nothing&difference=0.5&limit=budget%3D500").text
    assert "nothing is computed yet" in page
    assert "Six questions" in page
    for number in range(1, 7):
        assert f"<legend>{number}. " in page
    found = {urlsplit(link).path: link for link in links(page)}
    assert {"/power", "/plan"} <= set(found)
    plan = parse_qs(urlsplit(found["/plan"]).query)
    assert (plan["budget"], plan["effect-raw"], plan["scale"]) == (["500"], ["0.5"], ["1:5"])


def test_a_file_that_was_brought_goes_along(client):
    content = (ROOT / "data" / "pilot.csv").read_bytes()
    sent = client.post("/upload", params={"option": "file"}, files={"file": ("pilot.csv", content)})
    reference = sent.json()["values"][0]
    page = client.get("/start", params={"have": "pilot", "file": reference}).text
    found = {urlsplit(link).path: parse_qs(urlsplit(link).query) for link in links(page)}
    assert found["/check"]["ratings"] == found["/plan"]["pilot"] == [reference]
    assert found["/check"]["scale"] == ["1:5"]
    assert "/assign" not in found  # its plan is not there yet


def test_what_cannot_be_stands_beside_its_question(client):
    page = client.get("/start?have=nothing&difference=9").text
    assert 'id="field-difference-wrong"' in page
