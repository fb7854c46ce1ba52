"""The journey from nothing to a plan: its forms name what their commands have, and each leads to the next."""

import csv
import html
import io
import re
import zipfile
from urllib.parse import parse_qsl, urlsplit

import click
import pandas as pd
import pytest
from cases import each_case

pytest.importorskip("starlette", reason="The page needs the extra [page].")

from humeval_power.asking.form import Form
from humeval_power.asking.vocabulary import ENTRIES, TO_PLAN_FROM
from humeval_power.designs import k_per_item
from humeval_power.doors.page.requests import FORMS, NEVER, offered, request_of, words_of
from humeval_power.studies.plan.calls import assign_work
from humeval_power.studies.power.files import shipped_library

PLANNING = [form for form in FORMS.values() if form.journey == "plan"]
EACH_FORM = each_case("form", PLANNING, ids=lambda form: " ".join(form.command))
SMALL = "scale=1:5&effect-raw=0.6&workers=8&items=20"
PLAN = "preset=low&effect=0.15&items=20:40:20&max-workers=6&cost-per-rating=0.1&simulations=100"


def links(page: str) -> dict[str, dict[str, str]]:
    """The steps that an answer offers: the options of each, by its command."""
    nav = re.search(r'<nav class="next".*?</nav>', page, re.DOTALL)
    found = [html.unescape(link) for link in re.findall(r'href="([^"]+)"', nav[0] if nav else "")]
    return {urlsplit(link).path.strip("/"): dict(parse_qsl(urlsplit(link).query)) for link in found}


@EACH_FORM
def test_choices_have_words_for_values_that_there_are(form: Form) -> None:
    known = offered(form.command, form.hides)
    for control in (control for group in form.groups for control in group.controls):
        option = known[control.option]
        if isinstance(option.type, click.Choice):
            assert set(control.labels) <= {str(value) for value in option.type.choices}, control.option
        elif option.secondary_opts:
            assert set(control.labels) <= {"0", "1"}, control.option


@EACH_FORM
def test_options_that_exclude_each_other_stand_together(form: Form) -> None:
    for group in form.groups:
        assert set(group.one_of) <= {control.option for control in group.controls}
        started = [control.option for control in group.controls if control.start]
        assert len(set(started) & set(group.one_of)) <= 1


@EACH_FORM
def test_a_step_sets_and_carries_what_the_other_form_has(form: Form) -> None:
    for step in form.next:
        known = offered(step.command, FORMS[step.command].hides)
        assert set(step.sets) | set(step.brings) | set(step.may_bring) <= set(known)
        assert set(step.carries) & set(known) or not step.carries


@pytest.mark.parametrize("name", ["amend", "template", "output", "force"])
def test_no_form_offers_what_changes_files(name):
    assert name in NEVER
    assert all(name not in offered(form.command, form.hides) for form in PLANNING)


def test_the_settings_are_those_that_can_be_planned_from():
    shipped = shipped_library()
    assert {entry.name: entry.summary for entry in shipped} == ENTRIES
    assert {entry.name for entry in shipped if entry.use == "plan"} == set(TO_PLAN_FROM) - {"high", "low"}


def test_a_setting_is_chosen_in_plain_words(client_of_all):
    page = client_of_all.get(f"/power?preset=pplm-fluency-gradient&{SMALL}").text
    chosen = '<option value="pplm-fluency-gradient" selected>Fluency of continuations'
    assert chosen in page
    page = client_of_all.get(f"/power?preset=high,low&{SMALL}").text
    assert '<option value="high,low" selected>' in page


def test_no_pilot_and_no_setting_is_told_in_words(client_of_all):
    found = client_of_all.get(f"/live/power?{SMALL}").json()
    assert (
        "\u201cRatings like those of\u201d"
        in " ".join(each["text"] for each in found["problems"]) + found["html"]
    )


@pytest.mark.parametrize(
    "query",
    [
        f"preset=high&effect=0.1&{SMALL}",
        f"preset=high&values=sd_residual%3D0.2&{SMALL}",
        f"preset=high&n-systems=8&model=joint&documents=4&{SMALL}",
        f"preset=high&shares=.5,.6&{SMALL}",
    ],
)
def test_options_that_contradict_each_other_are_told(client_of_all, query):
    found = client_of_all.get(f"/live/power?{query}").json()
    assert 'class="document"' not in found["html"]
    assert found["problems"] or "cannot be answered" in found["html"]


def test_from_power_to_the_plan(client_of_all):
    page = client_of_all.get(f"/power?preset=low&{SMALL}&n-systems=2&ratings-per-item=2").text
    found = links(page)
    plan = found["plan"]
    assert plan["preset"] == "low"
    assert plan["effect-raw"] == "0.6"
    assert plan["items"] == "50:300:25"  # what a plan searches, not the one size of the power
    assert "workers" not in plan
    assert found["size"]["find"] == "workers"
    for command, options in found.items():
        path = tuple(command.split("/"))
        words_of(request_of(path, list(options.items()), FORMS[path].hides))


def test_from_another_study_to_power(client_of_all):
    page = client_of_all.get("/run/parameters/show?entry=pplm-fluency-gradient").text
    options = links(page)["power"]
    assert options["parameters"].startswith("record.json~")
    power = client_of_all.get("/power", params=options).text
    assert "By formula" in power


def test_the_page_never_adds_to_a_library(client_of_all):
    assert client_of_all.get("/parameters/add").status_code == 404
    assert client_of_all.get("/run/parameters/add?file=x").status_code == 404


def test_from_the_plan_to_its_rehearsal(client_of_all):
    steps = links(client_of_all.get(f"/run/plan?{PLAN}").text)
    assert {"assign", "report", "power"} <= set(steps)
    assert steps["assign"]["key"] == "1"
    page = client_of_all.get("/run/assign", params={**steps["assign"], "seed": "77"}).text
    key = re.search(r"/take/(\w+)-private\.zip", page)
    assert key is not None
    assert client_of_all.get(f"/take/{key[1]}-private.zip").status_code == 200
    assert client_of_all.get(f"/take/{key[1]}-private.html").status_code == 404
    rehearsal = links(page)["simulate"]
    assert {"plan", "assignment", "key"} <= set(rehearsal)
    done = client_of_all.get("/run/simulate", params=rehearsal).text
    assert "rehears" in done.lower()
    assert "ratings.csv" in done


def test_a_spare_sees_the_codes_of_the_table_that_was_asked_for_without_it(client_of_all):
    asked = {"workers": "3", "items": "4", "replacements": "1", "key": "1", "seed": "77"}
    spare = {**asked, "replace": "r01=w02"}
    assert "A spare sees the codes of the study" in client_of_all.get("/run/assign", params=spare).text
    codes = []
    for options in ({**asked, "batch-size": "8"}, {**spare, "batch-size": "8"}):
        rows = _table_of(client_of_all, client_of_all.get("/run/assign", params=options).text)
        codes.append([row["code"] for row in rows if row["worker_slot"] in ("w02", "r01")])
    assert codes[0][: len(codes[1])] == codes[1]


def test_the_page_says_which_ratings_come_next(client_of_all):
    asked = {"workers": "4", "items": "6", "ratings-per-item": "2", "seed": "77"}
    rows = assign_work(k_per_item(4, 6, ratings_per_item=2), seed=77).to_frame()
    given = rows[rows["worker_slot"] != "w03"].rename(columns={"worker_slot": "slot"})
    given = given[["slot", "order", "code"]].assign(worker="p-" + given["slot"], rating=3)
    uploaded = {
        name: client_of_all.post(
            "/upload", files={"file": (f"{name}.csv", table.to_csv(index=False).encode())}
        ).json()["values"][0]
        for name, table in (("assignment", rows), ("exports", given))
    }
    asked = {**asked, **uploaded, "next": "4"}
    found = client_of_all.get("/run/assign", params={**asked, "dropouts": "w03", "new-workers": "1"}).text
    assert "The next 4 ratings: 4 by a new worker" in found
    refused = client_of_all.get("/run/assign", params={**asked, "dropouts": "w99"}).text
    assert "is no slot of the assignment" in refused


def test_what_comes_next_has_the_codes_of_the_table_that_was_asked_for_before(client_of_all):
    asked = {"workers": "4", "items": "6", "ratings-per-item": "2", "key": "1", "seed": "77"}
    page = client_of_all.get("/run/assign", params=asked).text
    rows = _table_of(client_of_all, page)
    given = [
        {
            "slot": row["worker_slot"],
            "order": row["order"],
            "code": row["code"],
            "worker": "p",
            "rating": "3",
        }
        for row in rows
        if row["worker_slot"] == "w01"
    ]
    uploaded = {
        name: client_of_all.post(
            "/upload", files={"file": (f"{name}.csv", pd.DataFrame(table).to_csv(index=False).encode())}
        ).json()["values"][0]
        for name, table in (("assignment", rows), ("exports", given))
    }
    later = {**asked, **uploaded, "next": "4", "dropouts": "w03", "new-workers": "1"}
    added = _table_of(client_of_all, client_of_all.get("/run/assign", params=later).text)
    assert {row["code"] for row in added} <= {row["code"] for row in rows}


def _table_of(client, page: str) -> list[dict[str, str]]:
    key = re.search(r"/take/(\w+)-private\.zip", page) or re.search(r"/take/(\w+)\.zip", page)
    assert key is not None, page
    with zipfile.ZipFile(io.BytesIO(client.get(f"/take/{key[1]}.zip").content)) as opened:
        (name,) = [one for one in opened.namelist() if one.endswith("table.csv")]
        return list(csv.DictReader(io.StringIO(opened.read(name).decode())))


def test_a_key_has_the_name_that_the_page_gives_it():
    asked = request_of(("assign",), [("workers", "4"), ("items", "6"), ("key", "/etc/passwd")])
    assert words_of(asked)[-2:] == ("--key", "key.csv")
