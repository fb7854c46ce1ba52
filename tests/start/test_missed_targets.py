"""Nothing is built on a target that was missed, unless whoever runs the script says so."""

import os
import subprocess
from pathlib import Path
from typing import cast

import pytest
from cli import run
from places import ROOT

from humeval_power.doors.page.answers import Answer
from humeval_power.doors.page.whole_study import StudyPart, WholeStudy, steps_of

# In the place of the program: it writes down what is run and what -o names, and misses the target of a plan.
PROGRAM = """#!/bin/sh
echo "$*" >> log.txt
command=$1; code=0
while [ $# -gt 0 ]; do [ "$1" = -o ] && touch "${2%/}"; shift; done
[ $command = plan ] && [ ! -e rich ] && code=3
exit $code
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "bin" / "humeval-power"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(*words: str) -> tuple[int, str, list[str]]:
    """Exit code, what standard error says, and the commands that ran."""
    Path("log.txt").unlink(missing_ok=True)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return (
        done.returncode,
        done.stderr,
        [line.split()[0] for line in Path("log.txt").read_text().splitlines()],
    )


def test_the_script_of_start_stops_before_what_rests_on_a_missed_target(here: Path) -> None:
    (here / "pilot.csv").write_bytes((ROOT / "data" / "pilot.csv").read_bytes())
    run("start", "--have", "pilot", "--file", "pilot.csv", "--limit", "budget=20", "-o", "start.sh")
    for again in (False, True):
        code, said, commands = ran("bash", "start.sh")
        assert code == 3
        assert "Ends with 3: the target was missed by: humeval-power plan pilot.csv" in said
        assert "--anyway" in said
        assert ("plan" in commands) is not again
        assert "assign" not in commands
    code, _, commands = ran("bash", "start.sh", "--anyway")
    assert (code, "assign" in commands) == (0, True)
    (here / "plan").unlink()
    (here / "rich").touch()
    code, said, commands = ran("bash", "start.sh")
    assert (code, said, "plan" in commands) == (0, "", True)
    assert not (here / "plan.missed").exists()


def test_the_script_of_a_study_on_the_page_does_too(here: Path) -> None:
    steps = steps_of(("plan", "pilot.csv", "--date", "2026-01-02"))
    answer = cast(Answer, None)  # the script looks at the steps alone
    whole = WholeStudy(tuple(StudyPart(step, answer, {}) for step in steps), {}, 7)
    for folder in ("private", "forms"):
        (here / folder).mkdir()
    (here / "private" / "seed.txt").write_text("7\n")
    (here / "run.sh").write_text(whole.script)
    code, said, commands = ran("sh", "run.sh")
    assert (code, commands) == (3, ["plan"])
    assert "the target was missed by: humeval-power plan pilot.csv" in said
    code, _, commands = ran("sh", "run.sh", "--anyway")
    assert (code, commands[1:3]) == (3, ["power", "assign"])
    (here / "rich").touch()
    code, said, commands = ran("sh", "run.sh")
    assert (code, said, len(commands)) == (0, "", len(steps))
