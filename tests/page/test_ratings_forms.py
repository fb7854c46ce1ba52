"""The journey through ratings: its forms name what their commands have, and each leads to the next."""

import html
import json
import re
from pathlib import Path

import click
import pytest
from cases import each_case

pytest.importorskip("starlette", reason="The page needs the extra [page].")
from in_process_parts import brought, next_links

from humeval_power.asking.form import Form
from humeval_power.asking.options import takes_files
from humeval_power.doors.page.requests import FORMS, offered

PILOT = Path(__file__).parents[2] / "data" / "pilot.csv"
RATING_FORMS = [form for form in FORMS.values() if form.journey == "ratings"]
EACH_FORM = each_case("form", RATING_FORMS, ids=lambda form: " ".join(form.command))


def answered(client, command: str, **options: str) -> dict:
    found = client.post(f"/job/{command}", params=options).json()
    assert found["state"] == "done"
    return found


@EACH_FORM
def test_each_control_is_an_option_of_its_command(form: Form) -> None:
    known = offered(form.command, form.hides)
    named = [control.option for group in form.groups for control in group.controls]
    assert len(named) == len(set(named))
    assert set(named) <= set(known)
    whole = offered(form.command)
    assert set(form.hides) <= set(whole)
    for group in form.groups:
        for control in group.controls:
            option = known[control.option]
            if isinstance(option.type, click.Choice):
                assert set(control.labels) <= set(map(str, option.type.choices)), control.option
            else:
                assert set(control.labels) <= ({"0", "1"} if option.secondary_opts else set()), (
                    control.option
                )


@EACH_FORM
def test_each_next_step_leads_to_a_form_that_takes_what_it_is_given(form: Form) -> None:
    own = offered(form.command, form.hides)
    for step in form.next:
        other = FORMS[step.command]
        known = offered(other.command, other.hides)
        assert set(step.brings) | set(step.sets) <= set(known)
        assert all(takes_files(known[option]) for option in step.brings)
        for option in step.carries:
            assert option in own or option in known, option
        assert any(option in own for option in step.carries) or not step.carries or step.brings
        for option, value in step.sets.items():
            known[option].type.convert(value, known[option], None)


def test_a_pilot_leads_from_its_check_to_the_power_of_the_next_study(client_of_all) -> None:
    file = brought(client_of_all, "pilot.csv", PILOT.read_bytes())
    checked = answered(client_of_all, "check", ratings=file, scale="1:5")
    assert "Who rated what" in checked["html"]
    onward = next_links(checked)
    assert onward["fit"] == onward["analyze"] == {"ratings": file, "scale": "1:5"}
    fitted = answered(client_of_all, "fit", **onward["fit"], alternative="greater")
    to_power = next_links(fitted)["power"]
    assert to_power["parameters"].startswith("record.json~")
    assert (to_power["scale"], to_power["alternative"], to_power["workers"]) == ("1:5", "greater", "20")
    power = client_of_all.get("/live/power", params=to_power).json()
    assert power["problems"] == []
    assert "Power" in power["html"]


@pytest.mark.slow
def test_an_analysis_leads_to_forms_that_are_filled_from_it(client_of_all) -> None:
    file = brought(client_of_all, "pilot.csv", PILOT.read_bytes())
    found = answered(client_of_all, "analyze", ratings=file, scale="1:5")
    onward = next_links(found)["report"]
    assert onward["findings"].startswith("record.json~")
    for form in ("paper", "arr"):
        told = answered(client_of_all, "report", **{**onward, "form": form})
        assert told["problems"] == [], form
        assert '<div class="document">' in told["html"], form


def test_an_export_of_the_page_of_this_program_leads_to_its_check(client_of_all) -> None:
    file = brought(client_of_all, "export.csv", PILOT.read_bytes())
    found = answered(client_of_all, "import", exports=file, **{"from": "table"})
    assert next_links(found)["check"]["ratings"].startswith("ratings.csv~")


def test_what_is_wrong_with_a_file_is_all_told_with_row_column_value_and_remedy(client_of_all) -> None:
    rows = PILOT.read_text().splitlines()
    rows[3] = rows[3].rsplit(",", 1)[0] + ",seven"
    rows[9] = rows[9].rsplit(",", 1)[0] + ",9"
    file = brought(client_of_all, "bad.csv", "\n".join(rows).encode())
    found = client_of_all.post("/job/check", params={"ratings": file, "scale": "1:5"}).json()
    told = html.unescape(re.sub(r"<[^>]+>", " ", found["html"])) + json.dumps(found["problems"])
    for part in ("bad.csv", "row 4", "seven", "row 10", "9"):
        assert part in told, part


@pytest.mark.parametrize("form", ["check", "fit", "analyze"])
def test_a_file_that_is_no_table_is_refused_in_words(client_of_all, form: str) -> None:
    file = brought(
        client_of_all, "paper.csv", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\n"
    )
    found = client_of_all.post(f"/job/{form}", params={"ratings": file}).json()
    assert "paper.csv" in found["html"] + json.dumps(found["problems"])
    assert "Traceback" not in found["html"]


def test_many_systems_ask_for_two_names_beside_their_field(client_of_all) -> None:
    rows = [
        f"w{w},i{i},{s},{1 + (w + i + len(s)) % 5}"
        for w in range(4)
        for i in range(6)
        for s in ("a", "bb", "ccc")
    ]
    file = brought(client_of_all, "three.csv", ("worker,item,system,rating\n" + "\n".join(rows)).encode())
    found = client_of_all.post("/job/fit", params={"ratings": file}).json()
    assert [each["option"] for each in found["problems"]] == ["systems"]
    found = client_of_all.post("/job/analyze", params={"ratings": file}).json()
    assert [each["option"] for each in found["problems"]] == ["all-pairs"]
