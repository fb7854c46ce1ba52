"""Run the newest releases of tools whose logs are read, on a tiny task without any model, and read what they write.

    python .ci/check_tools.py [NAME ...]      all of them, without names

So a new format is seen the day it comes. Each tool has an environment of its own in build/tools; one that cannot be
installed is skipped with the reason. Ends with 1 where a log is refused, or its means are others than were written.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = Path(sys.executable).parent
PLACE = ROOT / "build" / "tools"
PATIENCE = 600  # seconds
NODE = 22
# Which of five questions the systems answer by "yes", which is right.
RIGHT = {"alpha": "10100", "beta": "11101"}
MEANS = {name: right.count("1") / len(right) for name, right in RIGHT.items()}

INSPECT = """
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import match
from inspect_ai.solver import solver

@solver
def answering(right):
    async def solve(state, generate):
        state.output = ModelOutput.from_content("mock", "yes" if right[int(state.sample_id[1:])] == "1" else "no")
        return state
    return solve

for name, right in RIGHT.items():
    samples = [Sample(id=f"q{n}", input=f"Bridge {n}?", target="yes") for n in range(5)]
    task = Task(dataset=samples, solver=answering(right), scorer=match(), name="bridges")
    (log,) = eval(task, model=f"mockllm/{name}", log_dir="logs", display="none")
    assert log.status == "success", log.error
"""
PYDANTIC_EVALS = """
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected
from pydantic_evals.reporting import EvaluationReportAdapter

cases = [Case(name=f"q{n}", inputs=f"Bridge {n}?", expected_output="yes") for n in range(5)]
dataset = Dataset(name="bridges", cases=cases, evaluators=[EqualsExpected()])
for name, right in RIGHT.items():
    def task(asked, right=right):
        return "yes" if right[int(asked.split()[1][:-1])] == "1" else "no"
    report = dataset.evaluate_sync(task, name=name, progress=False)
    open(f"logs/{name}.json", "wb").write(EvaluationReportAdapter.dump_json(report))
"""
DEEPEVAL = """
import os
os.environ |= {"DEEPEVAL_RESULTS_FOLDER": "logs", "DEEPEVAL_TELEMETRY_OPT_OUT": "YES"}
import time
from deepeval import evaluate
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

class Right(BaseMetric):
    threshold, async_mode = 0.5, False
    def measure(self, case, *args, **kwargs):
        self.score = float(case.actual_output == case.expected_output)
        self.success = self.score >= 0.5
        return self.score
    async def a_measure(self, case, *args, **kwargs):
        return self.measure(case)
    def is_successful(self):
        return self.success
    @property
    def __name__(self):
        return "Right"

for name, right in RIGHT.items():
    cases = [
        LLMTestCase(name=f"q{n}", input=f"Bridge {n}?", actual_output=answer, expected_output="yes")
        for n, answer in enumerate("yes" if mark == "1" else "no" for mark in right)
    ]
    evaluate(cases, [Right()], identifier=name)
    time.sleep(1.1)  # the files are named by the second
"""
LM_EVAL = """
import json, os, subprocess, sys
task = {
    "task": "bridges", "dataset_path": "json", "test_split": "test", "output_type": "multiple_choice",
    "dataset_kwargs": {"data_files": {"test": os.path.abspath("d.jsonl")}},
    "doc_to_text": "{{question}}", "doc_to_choice": ["no", "yes"], "doc_to_target": "{{answer}}",
    "metric_list": [{"metric": "acc"}],
}
open("bridges.yaml", "w").write(json.dumps(task))
rows = [{"question": f"Bridge {n}?", "answer": n % 2, "document": f"d{n // 2}"} for n in range(5)]
open("d.jsonl", "w").write("".join(json.dumps(row) + "\\n" for row in rows))
for seed, name in enumerate(RIGHT):
    words = ["--model", "dummy", "--model_args", f"pretrained={name}", "--tasks", "bridges", "--include_path", "."]
    words += ["--output_path", "logs", "--log_samples", "--seed", str(seed)]
    subprocess.run([os.path.join(os.path.dirname(sys.executable), "lm_eval"), *words], check=True)
"""
PROMPTFOO = {
    "prompts": ["{{n}}"],
    "providers": [{"id": f"file://{name}.cjs", "label": name} for name in RIGHT],
    "tests": [
        {
            "description": f"q{n}",
            "vars": {"n": str(n)},
            "assert": [{"type": "equals", "value": "yes", "metric": "right"}],
        }
        for n in range(5)
    ],
}
PROVIDER = """module.exports = class {{
  id() {{ return "{name}"; }}
  async callApi(prompt) {{ return {{ output: "{right}"[Number(prompt)] === "1" ? "yes" : "no" }}; }}
}};
"""
SACREBLEU = """
import json, subprocess, sys
import sacrebleu
texts = {name: open(f"{name}.txt").read().splitlines() for name in ("a", "b", "r")}
scores = [sacrebleu.corpus_bleu(texts[name], [texts["r"]]).score for name in "ab"]
segments = {n: [sacrebleu.sentence_chrf(one, [r]).score for one, r in zip(texts[n], texts["r"])] for n in "ab"}
means = {n: sum(own) / len(own) for n, own in segments.items()}
json.dump({"corpus": scores, "segments": means}, open("own.json", "w"))
for name in "ab":
    words = [sys.executable, "-m", "sacrebleu", "r.txt", "-i", f"{name}.txt", "-m", "chrf", "-sl", "-w", "12"]
    subprocess.run(words, check=True, stdout=open(f"logs/{name}.txt", "w"))
"""


class Skipped(Exception):  # noqa: N818
    """A tool that is not here, with the reason."""


@dataclass(frozen=True)
class Tool:
    """A tool in an environment of its own.

    metric : the name of what is right. means : of each system, as the tool has them; None: those that it reports.
    """

    name: str
    package: str
    code: str
    metric: str
    means: Mapping[str, float] | None = field(default_factory=lambda: MEANS)


TOOLS = (
    Tool(
        "inspect", "inspect-ai", INSPECT, "match", {f"mockllm/{name}": mean for name, mean in MEANS.items()}
    ),
    Tool("pydantic-evals", "pydantic-evals", PYDANTIC_EVALS, "EqualsExpected"),
    Tool("deepeval", "deepeval", DEEPEVAL, "Right"),
    Tool("lm-eval", "lm-eval", LM_EVAL, "acc", None),
)


def ran(words: list[str | Path], folder: Path, what: str) -> str:
    """What a program prints.

    Raises
    ------
    RuntimeError
        It fails, or takes too long.
    """
    try:
        done = subprocess.run(
            list(map(str, words)), cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{what}: more than {PATIENCE} s") from None
    except OSError as error:
        raise RuntimeError(f"{what}: {error}") from None
    if done.returncode:
        raise RuntimeError(f"{what}: {' '.join((done.stderr or done.stdout).split())[-600:]}")
    return done.stdout


def environment(tool: str, package: str) -> tuple[Path, str]:
    """The Python that has the newest release of a package, and its version; a wheel is needed."""
    place = PLACE / tool
    python = place / "bin" / "python"
    uv = HERE / "uv"
    try:
        if not python.exists():
            ran([sys.executable, "-m", "venv", "--without-pip", place], ROOT, "venv")
        wheels = ["--only-binary", package, "--upgrade"]
        ran([uv, "pip", "install", "--quiet", "--python", python, *wheels, package], ROOT, "install")
    except RuntimeError as error:
        raise Skipped(str(error)) from None
    version = f"from importlib.metadata import version; print(version({package!r}))"
    return python, ran([python, "-c", version], ROOT, "version").strip()


def means_read(folder: Path) -> dict[str, dict[str, float]]:
    """The means that `import` finds in a folder of logs; those that the tool reports have to be the same."""
    record = json.loads(ran([HERE / "humeval-power", "import", "logs", "--json"], folder, "import"))
    for log in record["logs"]:
        for one in log["reported"]:
            if abs(one["mean"] - one["reported"]) > 1e-6:
                raise RuntimeError(f"{one} of {log['source']} is not the mean of its samples")
    means: dict[str, dict[str, float]] = record["means"]
    return means


def check(tool: Tool, folder: Path) -> str:
    """The version whose logs were read right."""
    python, version = environment(tool.name, tool.package)
    (folder / "logs").mkdir()
    ran([python, "-c", f"RIGHT = {RIGHT!r}\n{tool.code}"], folder, f"{tool.package} {version}")
    found = {system: means.get(tool.metric) for system, means in means_read(folder).items()}
    if tool.means is None:
        if len(found) != len(RIGHT) or None in found.values():
            raise RuntimeError(f"{version}: read {found}")
    elif found != dict(tool.means):
        raise RuntimeError(f"{version}: read {found}, and {dict(tool.means)} was written")
    return version


def check_promptfoo(folder: Path) -> str:
    """The same for promptfoo, which npm installs."""
    npm = shutil.which("npm")
    if npm is None:
        raise Skipped("npm is not installed")
    place = PLACE / "promptfoo"
    place.mkdir(parents=True, exist_ok=True)
    program = place / "node_modules" / ".bin" / "promptfoo"
    words = ["--no-audit", "--no-fund", "--silent", "--prefix", place]
    node = f"node@{NODE}"  # a Node of its own: the newest promptfoo runs on no older one
    os.environ |= {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
    try:
        ran([npm, "install", *words, "promptfoo@latest", node], place, "npm")
        os.environ["PATH"] = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
        ran([program, "--version"], place, "promptfoo")
    except RuntimeError as error:
        raise Skipped(str(error)) from None
    version: str = json.loads((place / "node_modules/promptfoo/package.json").read_text())["version"]
    for name, right in RIGHT.items():
        (folder / f"{name}.cjs").write_text(PROVIDER.format(name=name, right=right))
    (folder / "promptfooconfig.json").write_text(json.dumps(PROMPTFOO))
    (folder / "logs").mkdir()
    os.environ |= {"PROMPTFOO_CONFIG_DIR": str(folder / "config"), "PROMPTFOO_FAILED_TEST_EXIT_CODE": "0"}
    words = [
        "eval",
        "-c",
        "promptfooconfig.json",
        "--no-cache",
        "--no-progress-bar",
        "-o",
        "logs/results.json",
    ]
    ran([program, *words], folder, f"promptfoo {version}")
    found = {system: means.get("right") for system, means in means_read(folder).items()}
    if found != MEANS:
        raise RuntimeError(f"{version}: read {found}, and {MEANS} was written")
    return version


def check_sacrebleu(folder: Path) -> str:
    """BLEU of two systems by the newest sacrebleu and by `compare corpus test`, which may have another release; and
    the scores of segments that it prints."""
    python, version = environment("sacrebleu", "sacrebleu")
    texts = {
        "r": "the river rose until spring",
        "a": "the river was closed until spring",
        "b": "the river rose in spring",
    }
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text("".join(f"{text} of bridge {n} .\n" for n in range(5)))
    (folder / "logs").mkdir()
    ran([python, "-c", SACREBLEU], folder, f"sacrebleu {version}")
    own = json.loads((folder / "own.json").read_text())
    wanted, segments = own["corpus"], own["segments"]
    means = {system: means["chrF2"] for system, means in means_read(folder).items()}
    if any(abs(means[system] - mean) > 1e-6 for system, mean in segments.items()):
        raise RuntimeError(f"{version}: segments {segments}, and {means} was read")
    words = [
        "compare",
        "corpus",
        "test",
        "--system-a",
        "a.txt",
        "--system-b",
        "b.txt",
        "--reference",
        "r.txt",
        "--json",
    ]
    record = json.loads(ran([HERE / "humeval-power", *words], folder, "compare corpus test"))
    found = [record["system_a"], record["system_b"]]
    if any(abs(one - other) > 1e-6 for one, other in zip(found, wanted, strict=True)):
        raise RuntimeError(f"{version}: BLEU {wanted}, and {found} was read")
    return version


def main() -> int:
    """Check all tools, or those that are named."""
    checks = {tool.name: lambda folder, tool=tool: check(tool, folder) for tool in TOOLS}
    checks |= {"sacrebleu": check_sacrebleu, "promptfoo": check_promptfoo}
    if unknown := [name for name in sys.argv[1:] if name not in checks]:
        sys.exit(f"There is no check of {', '.join(unknown)}; there are {', '.join(checks)}.")
    failed = False
    for name in sys.argv[1:] or checks:
        with tempfile.TemporaryDirectory() as folder:
            try:
                print(f"{name}: {checks[name](Path(folder))} is read right", flush=True)
            except Skipped as reason:
                print(f"{name}: skipped: {reason}", flush=True)
            except RuntimeError as error:
                failed = True
                print(f"{name}: {error}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
