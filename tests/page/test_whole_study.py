"""A whole study out of its plan: all of it in one file or a zip, and nothing of the key outside `private/`."""

import csv
import io
import json
import os
import re
import subprocess
import sys
import zipfile

import pytest

pytest.importorskip("starlette", reason="The page needs the extra [page].")

from humeval_power.doors.page.whole_study import KEY, PRIVATE, SEED, steps_of

PLAN = "preset=low&effect=0.2&items=20:40:20&max-workers=6&cost-per-rating=0.1&simulations=100"


@pytest.fixture(scope="module")
def taken(client_of_all):
    page = client_of_all.get(f"/whole/plan?{PLAN}").text
    key = re.search(r"/whole/take/(\w+)\.zip", page)
    assert key is not None, page
    archive = client_of_all.get(f"/whole/take/{key[1]}.zip").content
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        files = {name.removeprefix("study/"): opened.read(name) for name in opened.namelist()}
    return files, client_of_all.get(f"/whole/take/{key[1]}.html").text


def test_everything_is_in_it(taken):
    files, page = taken
    wanted = {"index.html", "run.sh", "plan/plan.json", "power/record.json", "assignment/table.csv"}
    wanted |= {KEY, SEED, "private/rehearsal/ratings.csv", "forms/osf/index.html"}
    assert wanted <= set(files)
    index = files["index.html"].decode()
    assert set(re.findall(r'href="([^"#]+)"', index)) >= set(files) - {"index.html"}
    assert "<h1>" in page
    assert all(
        "<code>sh run.sh --anyway</code> goes on" in " ".join(text.split()) for text in (index, page)
    )
    assert json.loads(files["plan/plan.json"])["checksum"] in page


def test_the_key_slips_into_nothing_that_is_published(taken):
    files, page = taken
    seed = files[SEED].decode().strip()
    first = next(csv.DictReader(io.StringIO(files[KEY].decode())))
    public = {name: content.decode() for name, content in files.items() if not _is_kept(name)}
    public["study.html"] = page
    for name, text in public.items():
        assert not re.search(rf"\b{seed}\b", text), name
        assert PRIVATE not in name
    table = list(csv.DictReader(io.StringIO(public["assignment/table.csv"])))
    assert "system" not in table[0]
    assert first["code"] in {row["code"] for row in table}


def _is_kept(name: str) -> bool:
    return name.startswith(f"{PRIVATE}/") or name.endswith(".png")


@pytest.mark.slow
def test_two_studies_have_two_secrets(client_of_all, taken):
    page = client_of_all.get(f"/whole/plan?{PLAN}&research-question=Another").text
    key = re.search(r"/whole/take/(\w+)\.zip", page)[1]
    with zipfile.ZipFile(io.BytesIO(client_of_all.get(f"/whole/take/{key}.zip").content)) as opened:
        assert opened.read(f"study/{SEED}") != taken[0][SEED]


def test_a_plan_that_cannot_be_made_says_so(client_of_all):
    page = client_of_all.get("/whole/plan?preset=low&items=20:40:20&cost-per-rating=0.1").text
    assert "\u201cSmallest difference that matters\u201d, the smallest effect" in page
    assert "/whole/take/" not in page


def test_what_is_not_there_is_told(client_of_all):
    assert client_of_all.get("/whole/take/0123.zip").status_code == 422
    assert client_of_all.get("/whole/plan?output=/etc/x").status_code == 422


def test_the_script_reads_the_seed_from_its_file():
    steps = steps_of(("plan", "--preset", "low"))
    lines = [step.line() for step in steps]
    assert f'--seed "$(cat {SEED})"' in " ".join(lines)
    assert all(" 4711" not in line for line in lines)
    assert "4711" in next(step for step in steps if step.folder == "assignment").words_with(4711)


@pytest.mark.long
@pytest.mark.slow
def test_the_script_writes_the_same_again(taken, tmp_path):
    files, _page = taken
    for name, content in files.items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if name in ("run.sh", SEED, KEY):
            place.write_bytes(content)
    program = tmp_path / "bin" / "humeval-power"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m humeval_power.doors.terminal.main "$@"\n')
    program.chmod(0o755)
    env = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
    subprocess.run(["sh", "run.sh"], cwd=tmp_path, env=env, check=True, capture_output=True)
    for name in (KEY, "assignment/table.csv", "private/rehearsal/ratings.csv"):
        assert (tmp_path / name).read_bytes() == files[name], name
    again = json.loads((tmp_path / "plan/plan.json").read_text())
    assert again["checksum"] == json.loads(files["plan/plan.json"])["checksum"]


@pytest.mark.slow
def test_the_forms_of_several_systems_take_the_power_from_the_plan(client_of_all):
    page = client_of_all.get(f"/whole/plan?{PLAN}&n-systems=3").text
    assert "not done" not in page
    key = re.search(r"/whole/take/(\w+)\.zip", page)
    assert key is not None, page
    with zipfile.ZipFile(io.BytesIO(client_of_all.get(f"/whole/take/{key[1]}.zip").content)) as opened:
        names = set(opened.namelist())
        script = opened.read("study/run.sh").decode()
    assert {f"study/forms/{form}/index.html" for form in ("osf", "aspredicted", "card2020")} <= names
    lines = [line for line in script.splitlines() if " report " in line]
    assert len(lines) == 3
    assert not [line for line in lines if "--power" in line]
