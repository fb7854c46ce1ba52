"""Every command that any way through the questions gives is run, on small files and with few simulations."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from cases import few_fast
from cli import run, run_json
from start_paths import paths, write_files
from test_start import command_of

from humeval_power.asking.command_groups import without_group

PATHS = paths()
# One of each kind that differs most; the others are slow only because they are many.
FEW = ("preference pilot items=40", "correct pilot nothing", "score results", "corpus nothing items=60")
MISSED = 3


def carry_out(name: str, folder: Path) -> None:
    """Run the commands of a way in order; what is still to come is made up in the place of the field. Ways that
    differ in their limit alone are gone up to their plan."""
    is_alike = "=" in name and "budget" not in name
    for row in run_json(*PATHS[name])["rows"]:
        if is_alike and "plan" in row["needs"] + [row["writes"] if row["phase"] == "later" else ""]:
            break
        words = list(without_group(row["command"][1:]))
        if words[0] == "import":
            made_up = (
                "--plan plan --assignment assignment.csv --key key.csv --coded --effect 0.1 -o answers.csv"
            )
            run("simulate", *made_up.split())
        if words[:2] == ["preference", "test"] and not Path("preferences.csv").exists():
            shutil.copy(folder / "choices.csv", "preferences.csv")
        for word in words:  # what the study will bring is here what the pilot brought
            if word.startswith("study-") and not Path(word).exists():
                shutil.copy(folder / word.removeprefix("study-"), word)
        command, _ = command_of(words)
        options = {o for p in command.params if isinstance(p, click.Option) for o in p.opts}
        few = [
            word
            for option, n in (("--simulations", "20"), ("--jobs", "1"), ("--swaps", "200"))
            if option in options
            for word in (option, n)
        ]
        ended = run(*words, *few, code=None)
        assert ended.exit_code in ((0, MISSED) if words[0] == "plan" else (0,)), f"{words}\n{ended.output}"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@few_fast("name", FEW, fast=1)
def test_the_commands_of_a_way_run(name: str, here: Path) -> None:
    carry_out(name, here)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PATHS if name not in FEW])
def test_the_commands_of_every_way_run(name: str, here: Path) -> None:
    carry_out(name, here)


@pytest.mark.long
@pytest.mark.slow
def test_the_script_runs_stops_where_something_is_to_come_and_goes_on(here: Path) -> None:
    run("start", "--have", "pilot", "--file", "pilot.csv", "--limit", "items=40", "-o", "start.sh")
    bin_folder = here / "bin"
    bin_folder.mkdir()
    program = bin_folder / "humeval-power"
    program.write_text(
        f'#!/bin/sh\n[ "$1" = power ] || [ "$1" = plan ] && set -- "$@" --simulations 20 --jobs 1\n'
        f'exec "{sys.executable}" -m humeval_power.doors.terminal.main "$@"\n'
    )
    program.chmod(0o755)
    path = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    go = ["bash", "start.sh"]
    first = subprocess.run(go, capture_output=True, text=True, env=path, check=True)
    assert "Waiting for answers.csv" in first.stdout
    assert (here / "rehearsal.csv").exists()
    coded = "simulate --plan plan --assignment assignment.csv --key key.csv --coded -o answers.csv"
    run(*coded.split())
    kept = (here / "plan" / "plan.json").read_bytes()
    subprocess.run(go, capture_output=True, text=True, env=path, check=True)
    assert (here / "plan" / "plan.json").read_bytes() == kept
    assert (here / "report" / "index.html").exists()
