"""Tools for assistants: their schemas come from the commands, they read files of one folder, and write nothing."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from humeval_power.doors.mcp.server import (
    HIDDEN,
    MOST_ANSWERED,
    TOOLS,
    answer,
    explained,
    in_words_of_tools,
    tools,
    work_of,
)
from humeval_power.doors.page.answers import Answer, Work
from humeval_power.doors.page.requests import NEVER, command_of, link_name
from humeval_power.doors.page.serving.chosen_folder import Folder
from humeval_power.doors.terminal.main import COMMANDS
from humeval_power.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
PILOT = (ROOT / "data" / "pilot.csv").read_bytes()
STUDY = """schema = "humeval_power/study/1"
[design]
workers = 10
items = 40
[variation]
preset = "high"
[effect]
effect = 0.1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """The folder of the server, with a secret beside it."""
    (tmp_path / "secret.csv").write_bytes(PILOT)
    chosen = tmp_path / "chosen"
    (chosen / "field").mkdir(parents=True)
    (chosen / "pilot.csv").write_bytes(PILOT)
    (chosen / "field" / "a name, and 'more'.csv").write_bytes(PILOT)
    (chosen / ".hidden.csv").write_bytes(PILOT)
    (chosen / "link.csv").symlink_to(tmp_path / "secret.csv")
    return Folder(chosen)


def call(folder: Folder, tool: str, **arguments: Any) -> Answer:
    return answer(work_of(tool, arguments, folder), lambda _told: None)


def asked_in_terminal(*words: str, folder: Path) -> dict[str, Any]:
    program = "from humeval_power.doors.terminal.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, *words, "--json", "-q"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def without_origin(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in ("created", "command", "sources")}


def test_the_schema_of_each_tool_names_options_of_its_command_and_nothing_else() -> None:
    for tool in tools():
        if tool.name == "explain":
            continue
        options = {link_name(one): one for one in command_of(TOOLS[tool.name]).params}
        names = {name.replace("_", "-") for name in tool.schema["properties"]} - {"study"}
        assert names <= options.keys(), tool.name
        assert not names & {*NEVER, *HIDDEN}, tool.name
        required = {name for name, one in options.items() if one.required}
        assert {name.replace("_", "-") for name in tool.schema["required"]} == required, tool.name
        assert "--" not in json.dumps(tool.schema), tool.name
        assert tool.help.endswith("."), tool.name
    assert len(json.dumps([[one.name, one.help, dict(one.schema)] for one in tools()])) < 32_000


def test_each_tool_is_a_command_that_publishes_nothing_and_takes_no_look() -> None:
    assert {path[0] for path in TOOLS.values()} <= COMMANDS.keys() - {
        "monitor",
        "release",
        "scenario",
        "page",
        "collect",
    }


def test_a_tool_says_the_first_lines_and_the_record_of_its_command(folder: Folder) -> None:
    found = call(folder, "check", ratings="pilot.csv", scale="1:5")
    assert found.exit_code == 0
    assert found.text.splitlines()[1].startswith("This table can be analysed: 360 ratings")
    record = json.loads(found.record)
    assert (record["n_ratings"], record["scale"]["high"]) == (360, 5)


@pytest.mark.slow
def test_the_record_is_the_one_of_the_terminal(folder: Folder) -> None:
    size = {"preset": "high", "workers": 10, "items": 40, "effect": 0.1, "method": "analytic"}
    typed = [word for name, value in size.items() for word in (f"--{name}", str(value))]
    asked = {
        ("power", *typed): call(folder, "power", **size),
        ("check", "pilot.csv", "--scale", "1:5"): call(folder, "check", ratings="pilot.csv", scale="1:5"),
        ("analyze", "pilot.csv", "--scale", "1:5"): call(
            folder, "analyze", ratings="pilot.csv", scale="1:5"
        ),
    }
    for words, found in asked.items():
        wanted = asked_in_terminal(*words, folder=folder.path)
        assert len(json.dumps(wanted)) < MOST_ANSWERED
        assert without_origin(json.loads(found.record)) == without_origin(wanted), words


def test_a_study_file_says_what_is_not_given(folder: Folder) -> None:
    (folder.path / "study.toml").write_text(STUDY)
    found = call(folder, "power", study="study.toml", workers=20, method="analytic")
    assert found.exit_code == 0, found.problems
    assert (
        json.loads(found.record)["study"] | {"workers": 20, "items": 40}
        == json.loads(found.record)["study"]
    )
    assert any("study.toml" in note and "workers" in note for note in found.notes)


def test_a_long_record_is_cut_and_says_what_it_leaves_out(folder: Folder) -> None:
    header = "item,A,B,C\n"
    rows = "".join(f"{n},{n % 7},{n % 5},{n % 3}\n" for n in range(300))
    (folder.path / "many.csv").write_text(header + rows)
    found = call(folder, "compare", files=["many.csv"], question="mean", simulations=100)
    assert found.exit_code == 0, found.problems
    assert len(found.record) <= MOST_ANSWERED + 1000
    record = json.loads(found.record)
    assert record["schema"].startswith("humeval_power/")


HOSTILE = (
    "../secret.csv",
    "link.csv",
    ".hidden.csv",
    "field/../../secret.csv",
    "/etc/passwd",
    "C:\\secret.csv",
    "~/secret.csv",
    "pilot.csv\0",
    "pilot.csv~0123456789abcdef",
    "-",
    "--json",
    "",
    "a" * 5000,
    "no.csv",
)


def test_no_path_leads_out_of_the_folder_and_nothing_is_written(folder: Folder) -> None:
    before = sorted(folder.path.rglob("*"))
    for path in HOSTILE:
        for tool, name in (
            ("check", "ratings"),
            ("compare", "files"),
            ("analyze", "plan"),
            ("power", "study"),
        ):
            own = {} if tool != "analyze" else {"ratings": "pilot.csv"}
            try:
                found = call(folder, tool, **own, **{name: path})
            except InputError:
                continue
            assert found.exit_code != 0 or (tool, path) == ("analyze", ""), (tool, path)
    assert sorted(folder.path.rglob("*")) == before
    odd = call(folder, "check", ratings="field/a name, and 'more'.csv")
    assert odd.exit_code == 0


def test_a_study_file_opens_nothing_outside_the_folder(folder: Folder) -> None:
    for place in ("../secret.csv", "link.csv", str(folder.path.parent / "secret.csv")):
        text = f'schema = "humeval_power/study/1"\n[files]\nratings = {json.dumps(place)}\n'
        (folder.path / "study.toml").write_text(text)
        with pytest.raises(InputError, match="folder"):
            work_of("check", {"study": "study.toml"}, folder)


def test_what_is_wrong_is_said_at_once_in_the_names_of_arguments(folder: Folder) -> None:
    with pytest.raises(InputError) as wrong:
        work_of("power", {"effct": 0.1, "effect": True, "lower_is_better": "yes"}, folder)
    text = str(wrong.value)
    assert all(part in text for part in ("'effct'", "Did you mean effect?", "effect:", "true or false"))
    found = call(folder, "power", preset="high", workers=1, items=40, effect=0.1)
    assert found.exit_code == 2
    told = in_words_of_tools(" ".join(one.text for one in found.problems))
    assert "workers" in told
    assert "--" not in told


def test_words_are_explained_from_the_glossary_and_the_declarations() -> None:
    assert "exaggerates" in explained("Type M")
    assert "ratings of each item" in explained("ratings_per_item").lower()
    assert "(a tool)" in explained("power")
    with pytest.raises(InputError, match="Did you mean type S"):
        explained("typ s")


def test_a_call_is_a_command_line_that_no_value_can_change(folder: Folder) -> None:
    work = work_of("check", {"ratings": "pilot.csv", "worker": "--output=x", "item": "-o"}, folder)
    assert work == Work(
        ("check", "pilot.csv", "--worker=--output=x", "--item=-o"),
        (("pilot.csv", str(folder.path / "pilot.csv")),),
    )
