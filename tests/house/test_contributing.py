"""What CONTRIBUTING.md shows works as it stands there: an option, a scenario, a platform, a form, a command."""

import importlib.util
import json
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import numpy as np
import pytest
from cli import run, run_json
from places import ROOT
from scipy import stats

import humeval_power
from humeval_power.asking.options import made_of, option_of
from humeval_power.doors.terminal import main as program
from humeval_power.files.exports import platforms
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.report.config import ReportConfig
from humeval_power.studies.report.documents import CriterionDocuments
from humeval_power.study import FIELDS
from humeval_power.study_text import schema, study_text

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXPORT = """annotator_uid,segment,engine,score_100
u1,s1,A,50
u1,s1,B,70
u2,s1,A,40
u2,s1,B,90
u1,s2,A,20
u1,s2,B,30
u2,s2,A,60
u2,s2,B,80
"""


def loaded(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


ERRORS = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n" + "".join(
    f"{system}\td\t1\t{segment}\t{rater}\ts\tt\tAccuracy/Omission\tMajor\n"
    for system in "AB"
    for segment in (1, 2, 3)
    for rater in ("r1", "r2")
)
WALKS = {
    "power": "power --preset high --workers 12 --items 30 --effect 0.1 --method analytic",
    "fit": "fit {pilot} --scale 1:5",
    "plan": "plan --preset high --effect 0.3 --items 20:40:20 --workers 3:6 --cost-per-rating 0.1 --simulations 50",
    "analyze": "analyze {pilot} --scale 1:5",
    "import": "import {export}",
}


@pytest.mark.parametrize("name", WALKS)
def test_a_command_goes_the_way_that_is_written(name: str, tmp_path: Path) -> None:
    (block,) = re.findall(r"```text\n(power .*?)```", TEXT, re.DOTALL)
    (way,) = re.findall(rf"^{name} +(.*?)(?=^\w|\Z)", block, re.MULTILINE | re.DOTALL)
    steps = [tuple(step.split()) for step in way.split(">")]
    (tmp_path / "export.tsv").write_text(ERRORS, encoding="utf-8")
    line = WALKS[name].format(pilot=ROOT / "data" / "pilot.csv", export=tmp_path / "export.tsv")
    entered: list[tuple[str, str]] = []

    def enter(frame: Any, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and "/humeval_power/" in code.co_filename:
            entered.append((code.co_filename.rpartition("/humeval_power/")[2], code.co_name))

    sys.setprofile(enter)
    try:
        run(*line.split(), code=None)
    finally:
        sys.setprofile(None)
    at = 0
    for step in steps:
        assert step in entered[at:], (name, step, entered[-1])
        at = entered.index(step, at)


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """The code below a heading, as a module."""

    def module(heading: str) -> ModuleType:
        (section,) = re.findall(rf"^## {heading}$(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
        code = "\n\n".join(re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL))
        name = f"contributed_{heading.split()[-1]}"
        (tmp_path / f"{name}.py").write_text(code)
        monkeypatch.setitem(sys.modules, name, ModuleType(name))  # taken away again afterwards
        return loaded(tmp_path / f"{name}.py", name)

    return module


def test_a_field_is_an_option_a_key_and_an_entry_of_the_schema(
    shown: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "max_items_per_worker"
    monkeypatch.setitem(FIELDS, name, getattr(shown("An option of a study"), name).metadata["said"])
    option = made_of(option_of(name, FIELDS[name]))
    assert option.opts == ["--max-items-per-worker"]
    assert option.help == FIELDS[name].help
    assert schema()["properties"]["design"]["properties"][name]["minimum"] == 1
    assert study_text({name: 12}).splitlines()[-1] == f"{name} = 12"
    with pytest.raises(click.BadParameter):
        option.type.convert("0", option, None)


def test_the_scenario_keeps_the_promises_of_the_contract(
    shown: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "conformance_of_the_contributed"
    monkeypatch.setitem(sys.modules, name, ModuleType(name))
    promises = loaded(ROOT / "tests/study/test_scenario_conformance.py", name)
    (make,) = shown("A scenario").ROW.values()
    kept = 0
    for title, promise in vars(promises).items():
        if title.startswith("test_"):
            with suppress(pytest.skip.Exception):
                promise(make())
                kept += 1
    assert kept >= 4


def test_the_scenario_has_the_power_of_its_test(shown: Any) -> None:
    study = shown("A scenario").ErrorCounts(20, effect=0.5)
    counts = np.arange(80)
    a, b = np.meshgrid(counts, counts, indexing="ij")
    chance = stats.poisson.pmf(a, 10) * stats.poisson.pmf(b, 20)
    p_value = np.minimum(1.0, 2 * stats.binom.cdf(np.minimum(a, b), a + b, 0.5))  # two-sided, of one half
    for i, j in ((3, 3), (0, 5), (12, 4), (31, 50)):
        assert p_value[i, j] == pytest.approx(stats.binomtest(i, i + j).pvalue, rel=1e-9)
    power = chance[p_value <= 0.05].sum()
    # 4,000 studies: inside this band with probability 0.9999
    assert estimate_power(study, n_simulations=4000, seed=1).power == pytest.approx(power, abs=0.031)


def test_the_platform_becomes_ratings(shown: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platforms, "PLATFORMS", (*platforms.PLATFORMS, shown("A platform").MARKER))
    (tmp_path / "export.csv").write_text(EXPORT)
    exported = platforms.read_export(tmp_path / "export.csv")
    assert exported.platform == "marker"
    run("import", tmp_path / "export.csv", "-o", tmp_path / "ratings.csv")
    rows = (tmp_path / "ratings.csv").read_text().splitlines()
    assert len(rows) == 9
    read = [dict(zip(rows[0].split(","), row.split(","), strict=True)) for row in rows[1:]]
    found = {(row["item"], row["system"]) for row in read}
    assert found == {("s1", "A"), ("s1", "B"), ("s2", "A"), ("s2", "B")}
    assert [float(row["rating"]) for row in read] == [50, 70, 40, 90, 20, 30, 60, 80]
    assert len({row["worker"] for row in read}) == 2


def test_the_form_is_filled_with_what_is_known_and_open_where_nothing_is(
    shown: Any, tmp_path: Path
) -> None:
    path = tmp_path / "parameters.json"
    run("fit", ROOT / "data" / "pilot.csv", "--scale", "1:5", "-o", path)
    documents = CriterionDocuments(parameters=json.loads(path.read_text()))
    size, consent = shown("A form").label_page(documents).fields
    assert size.state == "filled"
    assert "10 workers gave 360 ratings of 60 items" in size.answer
    assert consent.state == "open"
    said = ReportConfig({"consent": "Every worker agreed to the release."})
    assert shown("A form").label_page(documents, said).fields[1].state == "filled"
    empty = shown("A form").label_page(CriterionDocuments())
    assert [field.state for field in empty.fields] == ["open", "open"]


def test_the_command_answers_is_kept_and_refuses(
    shown: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = shown("A command")
    monkeypatch.setitem(sys.modules, "humeval_power.asking.hours", module)
    monkeypatch.setitem(program.COMMANDS, "hours", ("asking.hours", "How long will the ratings take?"))
    monkeypatch.setattr(humeval_power, "hours", module.hours, raising=False)
    assert re.search(r"Work +16\.7 hours", run("hours", "--ratings", 2000).output)
    record = run_json("hours", "--ratings", 2000)
    assert record["schema"] == "humeval_power/hours/1"
    assert record["hours"] == pytest.approx(2000 * 30 / 3600)
    run("hours", "--ratings", 2000, "-o", tmp_path / "hours.md")
    assert "16.7 hours" in (tmp_path / "hours.md").read_text()
    told = run("hours", "--ratings", -1, "--seconds", 0, "-o", tmp_path / "none.md", code=2).output
    assert "--ratings" in told
    assert "--seconds" in told
    assert not (tmp_path / "none.md").exists()
    written = run("hours", "--ratings", 2000, "--seconds", 20, "--code", "python").stdout
    assert "result = hp.hours(ratings=2000, seconds=20.0)" in written
    (group,) = module.DECLARED.form().groups
    assert [control.label for control in group.controls] == ["Ratings", "Seconds of each"]


def test_the_paths_and_commands_that_are_named_exist() -> None:
    named = re.findall(
        r"`((?:humeval_power|tests|docs|asking|saying|files|studies|comparisons|doors)/[\w./]*)`", TEXT
    )
    assert len(named) > 12
    for path in named:
        assert (ROOT / path).exists() or (ROOT / "humeval_power" / path).exists(), path
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"^make (\w+)", TEXT, re.MULTILINE)) <= set(targets)
