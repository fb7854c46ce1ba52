"""The extension of Inspect: a run ends with the comparison of its tasks with their last logs by others."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import humeval_power as hp

pytestmark = pytest.mark.skipif(  # it is not imported here: it changes how this process reads archives
    find_spec("inspect_ai") is None, reason="Inspect is not installed: pip install inspect-ai"
)

# Samples are answered by a solver of their own: no model, no network.
RUN = """
import sys
from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import match
from inspect_ai.solver import solver
import humeval_power.doors.inspect_hooks

@solver
def said(right):
    async def solve(state, generate):
        number = int(state.sample_id[1:])
        state.output = ModelOutput.from_content("mock", "yes" if number % 7 < right else "no")
        return state
    return solve

@task
def bridges(right=3, n=42):
    samples = [Sample(id=f"q{n}", input=f"Was bridge {n} open?", target="yes") for n in range(n)]
    return Task(dataset=samples, solver=said(right), scorer=match())

for model, right, n in (("base", 3, 42), ("tuned", 5, 42), ("tuned", 6, 35), ("tuned", 6, 35)):
    eval(bridges(right=right, n=n), model=f"mockllm/{model}", log_dir="logs", display="none")
"""


@pytest.mark.slow
def test_each_run_is_compared_with_the_last_of_another_model_or_prompt(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN], cwd=tmp_path, capture_output=True, text=True, env={**os.environ}
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.split("humeval-power, bridges: ")[1:]
    assert len(said) == 3, done.stdout
    by_model, by_prompt, again = said
    assert by_model.startswith("mockllm/tuned beside mockllm/base, match on 42 items they share.")
    assert "mockllm/tuned scores 0.286 higher than mockllm/base on average" in by_model
    assert f"--folder {tmp_path / 'logs'}" in by_model
    assert by_prompt.startswith("right=6, n=35 beside right=5, n=42, match on 35 items they share.")
    assert again.startswith("right=6, n=35 beside right=5, n=42")  # the same again is no other
    logs = sorted((tmp_path / "logs").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    names = {str(logs[0]): "base", str(logs[1]): "tuned"}
    tables = hp.compare.read_scores(*names, names=names, systems=("base", "tuned"))
    found = hp.compare.scores(tables, question="mean", power_by="formula").content()
    assert f"{found['test']['estimate']:.3g}" == "0.286"


@pytest.mark.slow
def test_it_says_nothing_where_it_is_turned_off_or_has_nothing_beside(tmp_path: Path) -> None:
    one = RUN.replace(', ("tuned", 5, 42), ("tuned", 6, 35), ("tuned", 6, 35))', ",)")
    for code, env in ((one, {}), (RUN, {"HUMEVAL_POWER": "off"})):
        folder = tmp_path / str(len(env))
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=folder,
            capture_output=True,
            text=True,
            env={**os.environ, **env},
        )
        assert done.returncode == 0, done.stderr
        assert "humeval-power, bridges" not in done.stdout
