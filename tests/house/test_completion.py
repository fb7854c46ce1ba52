"""Shells complete commands and options, by what `completion` prints."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli import run

PROGRAM = Path(sys.executable).with_name("humeval-power")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_for_the_shell_and_the_program(shell: str) -> None:
    result = run("completion", shell)
    assert f"_HUMEVAL_POWER_COMPLETE={shell}_complete" in result.stdout
    assert "humeval-power" in result.stdout


def test_another_shell_is_refused() -> None:
    assert "'tcsh' is not one of" in run("completion", "tcsh", code=2).stderr


@pytest.mark.skipif(
    shutil.which("bash") is None or not PROGRAM.exists(), reason="no bash, or not installed"
)
def test_bash_completes_commands_and_options(tmp_path: Path) -> None:
    script = tmp_path / "completion.sh"
    script.write_text(run("completion", "bash").stdout)
    ask = (
        f"source {script}; COMP_WORDS=(humeval-power compare accuracy le); COMP_CWORD=3; "
        '_humeval_power_completion humeval-power; echo "${COMPREPLY[@]}"; '
        "COMP_WORDS=(humeval-power fit --sys); COMP_CWORD=2; "
        '_humeval_power_completion humeval-power; echo "${COMPREPLY[@]}"'
    )
    environment = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.splitlines()[0] == "leaderboard"
    assert "--systems" in done.stdout.splitlines()[1].split()
