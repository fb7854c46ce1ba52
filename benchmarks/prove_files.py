"""Bad files for every command and option that reads one: nothing ends in a traceback, and nothing is lost.

Good files are damaged in many ways (cut, turned, swapped value by value, in other encodings, nested, with huge
numbers), and the real command line reads them. Then every field of every JSON and TOML file that is read takes
every wrong kind and extreme, in an order that the seed makes (`prove_fields`), each in a child with limits of
memory and of seconds. A try is a *traceback* where an exception leaves the command, a
*loss* where it ends with 2 and a file has changed or come, a *wrong code* where it ends with anything but 0, 2, 3,
or 1 after a fit that failed, and a *hang* beyond the patience. All but the tries are 0.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import tomllib
import traceback
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from humeval_power.doors.terminal.main import main as program

PATIENCE = 60  # seconds for one try
MEMORY = 12 * 2**30  # bytes of address space
FULL, QUICK = 1500, 300


@dataclass
class Counts:
    """What happened; `details` says how to see each fault again."""

    tries: int = 0
    refused: int = 0
    tracebacks: int = 0
    losses: int = 0
    wrong_codes: int = 0
    hangs: int = 0
    details: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, int]:
        """The counts by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, int)}


@dataclass(frozen=True)
class Target:
    """A command that reads the file `name`; the other files that it needs lie beside it."""

    words: str
    name: str


RATINGS = (
    "check {}",
    "check {} --json",
    "fit {}",
    "analyze {}",
    "release {} -o out",
    "more assessment decompose {} --resamples 20",
    "plan {} --effect 0.1 --items 10:20:10 --max-workers 8 --simulations 20 --cost-per-rating 0.1 -o new.json",
    "monitor {} --plan plan.json",
    "resample {} --workers 4 --items 6 --simulations 20",
)
TARGETS = (
    *(Target(words, "ratings.csv") for words in RATINGS),
    *(Target(words, "ratings.jsonl") for words in RATINGS[:3]),
    *(Target(words, "ratings.xlsx") for words in RATINGS[:2]),
    *(Target(words, "ratings.parquet") for words in RATINGS[:2]),
    *(Target(words, "ratings.csv.gz") for words in RATINGS[:2]),
    Target("judge estimate {}", "judged.csv"),
    Target("looks pool {} --simulations 20", "ratings.csv"),
    Target("compare preference test {}", "votes.csv"),
    Target("survey {}", "survey.csv"),
    Target("more assessment observed-mde {}", "survey.csv"),
    Target("compare scores {} --question mean", "scores.csv"),
    Target("compare scores {} a.txt --question mean", "b.txt"),
    Target("compare accuracy test {} b.txt --gold gold.txt", "a.txt"),
    Target("compare accuracy test a.txt b.txt --gold {}", "gold.txt"),
    Target("compare accuracy claims {}", "claims.csv"),
    Target("compare accuracy leaderboard {}", "board.csv"),
    Target("compare contingency estimate --gold {} --system-a a.txt --system-b b.txt", "gold.txt"),
    Target("compare corpus estimate --system-a {} --system-b b.txt --reference gold.txt", "a.txt"),
    Target("assign --workers 4 --items 6 --item-names {} -o new.csv", "names.txt"),
    Target(
        "plan --parameters {} --effect 0.1 --items 10:20:10 --max-workers 8 --cost-per-rating 1",
        "parameters.json",
    ),
    Target("power --parameters {} --workers 4 --items 6 --effect 0.1 --simulations 10", "parameters.json"),
    Target("mde --parameters {} --workers 4 --items 6 --simulations 10", "parameters.json"),
    Target("more parameters add {} --library new.json", "parameters.json"),
    Target("more parameters list --library {}", "library.json"),
    Target("more parameters add parameters.json --library {}", "library.json"),
    Target("report --parameters {}", "parameters.json"),
    Target("report --findings {}", "analysis.json"),
    Target("report --findings {} --form heds -o new.md", "analysis.json"),
    Target("report --findings {} --form paper", "analysis.json"),
    Target("report --findings {} --form arr", "analysis.json"),
    Target("report --findings {} --form parameters", "analysis.json"),
    Target("report --findings analysis.json --power-file {}", "power.json"),
    Target("report --findings analysis.json --surface surface", "surface/record.json"),
    Target("report --findings analysis.json --plan {} --form osf", "plan.json"),
    Target("report --findings analysis.json --answers {} --form heds", "config.toml"),
    Target("report --findings analysis.json --form heds --into {} --json", "heds.json"),
    Target("report check {}", "heds.json"),
    Target("report check {}", "analysis.json"),
    Target("power --plan {} --simulations 10", "plan.json"),
    Target("assign --plan {}", "plan.json"),
    Target(
        "plan --parameters parameters.json --effect 0.1 --items 10:20:10 --max-workers 8 --cost-per-rating 0.1 "
        "--fee mturk --fees {}",
        "fees.toml",
    ),
    Target("analyze ratings.csv --plan {}", "plan.json"),
    Target("import {}", "log.eval"),
    Target("import {}", "ragas.csv"),
    Target("import {}", "mlflow.csv"),
    Target("import {}", "segments.txt"),
    Target("import {}", "whole.json"),
)


def prove_files(n_tries: int, seed: int) -> Counts:
    """Damage good files `n_tries` times, the targets in turn, and count what comes of it."""
    counts, choose = Counts(), random.Random(seed)
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        try:
            os.chdir(name)
            good = write_good_files(Path(name))
            kept = {
                target.name: list(damaged(target.name, good[target.name], choose)) for target in TARGETS
            }
            for turn in range(n_tries):
                target = TARGETS[turn % len(TARGETS)]
                label, content = choose.choice(kept[target.name])
                _one(target, label, content, good, counts)
        finally:
            os.chdir(here)
    return counts


def _one(target: Target, label: str, content: bytes, good: dict[str, bytes], counts: Counts) -> None:
    """One damaged file and one command, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, original in good.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if name == target.name else original)
        before = _contents(Path(folder))
        words = target.words.format(target.name).split()
        counts.tries += 1
        said = f"{' '.join(words)} with {target.name}: {label}"
        code, told, fault = _run(words)
        os.chdir(Path(folder).parent)
        after = _contents(Path(folder))
    if fault is not None:
        is_hang = isinstance(fault, TimeoutError)
        counts.hangs += is_hang
        counts.tracebacks += not is_hang
        where = traceback.extract_tb(fault.__traceback__)[-1]
        counts.details.append(
            f"{said}: {type(fault).__name__}: {str(fault)[:90]} ({where.name}:{where.lineno})"
        )
    elif code == 2:
        counts.refused += 1
        if before != after:
            counts.losses += 1
            changed = sorted(name for name in before | after if before.get(name) != after.get(name))
            counts.details.append(f"{said}: files changed: {', '.join(changed)}")
    elif code not in (0, 3) and not (code == 1 and target.name.startswith(("ratings", "votes"))):
        counts.wrong_codes += 1
        counts.details.append(f"{said}: ended with {code}: {told[:120]}")


def _run(words: list[str]) -> tuple[int, str, BaseException | None]:
    """Exit code, what standard error says, and the exception that got out."""

    def too_long(_number: int, _frame: object) -> None:
        raise TimeoutError(f"more than {PATIENCE} s")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(PATIENCE)
    try:
        found = CliRunner().invoke(program, words)
    except TimeoutError as error:
        return 1, "", error
    finally:
        signal.alarm(0)
    fault = found.exception
    return found.exit_code, found.stderr, None if isinstance(fault, SystemExit) else fault


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def write_good_files(folder: Path) -> dict[str, bytes]:
    """The files that the commands read, by name, made by the commands where they have makers."""
    import pandas as pd

    rows = [
        (
            f"w{worker}",
            f"i{item}",
            system,
            1 + (worker + 2 * item + (3 * worker * item) % 4 + (system == "B")) % 5,
        )
        for worker in range(5)
        for item in range(6)
        for system in "AB"
    ]
    table = pd.DataFrame(rows, columns=["worker", "item", "system", "rating"])
    table.to_csv("ratings.csv", index=False)
    table.to_csv("ratings.csv.gz", index=False)
    table.to_json("ratings.jsonl", orient="records", lines=True)
    table.to_excel("ratings.xlsx", index=False)
    table.to_parquet("ratings.parquet")
    table.assign(human=table["rating"], judge=table["rating"] / 2).to_csv("judged.csv", index=False)
    texts = {
        "votes.csv": "preference,worker,item\n"
        + "".join(f"{'ABB'[i % 3]},w{i % 4},i{i % 5}\n" for i in range(20)),
        "survey.csv": "name,effect,items,workers,p\n"
        + "".join(f"c{i},0.{i}1,{40 + i},5,0.0{i}\n" for i in range(1, 8)),
        "scores.csv": "item,A,B\n" + "".join(f"i{i},{i % 7},{(i * 3) % 7}\n" for i in range(12)),
        "a.txt": "1\n0\n1\n1\n0\n1\n0\n1\n1\n0\n",
        "b.txt": "1\n1\n1\n0\n0\n1\n1\n1\n0\n0\n",
        "gold.txt": "1\n1\n1\n1\n0\n1\n0\n0\n1\n0\n",
        "claims.csv": "task,n,baseline,improvement\nx,500,0.8,0.02\ny,1000,0.7,0.01\n",
        "board.csv": "system,date,accuracy\na,2020-01-01,0.8\nb,2020-02-01,0.82\nc,2020-03-01,0.85\n",
        "ragas.csv": "user_input,response,reference,exact_match\n"
        + "".join(f"is {i} odd?,yes,no,{i % 2}\n" for i in range(8)),
        "mlflow.csv": "trace_id,request,response,right/value\n"
        + "".join(f"tr-{i},is {i} odd?,yes,{bool(i % 2)}\n" for i in range(8)),
        "segments.txt": "".join(
            f"BLEU|nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:2.6.0 = {i}.5 80.0/50.0\n"
            for i in range(8)
        ),
        "whole.json": '{"name": "BLEU", "score": 34.2, "signature": "nrefs:1|version:2.6.0", "nrefs": "1"}',
        "names.txt": "one\ntwo\nthree\nfour\nfive\nsix\n",
        "config.toml": '[report]\npayment = "12 USD"\n'
        '[report.person]\nname = "Ada"\n[report.heds]\n"3.2.2.1" = 2\n',
        "fees.toml": 'schema = "humeval_power/platform_fees/1"\n'
        '[mturk]\nshare = "0.2"\ncharged_per = "assignment"\n',
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    with zipfile.ZipFile("log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(INSPECTED))
        archive.writestr("summaries.json", json.dumps(INSPECTED["samples"]))
    made = (
        "fit ratings.csv --scale 1:5 -o parameters.json",
        "plan --parameters parameters.json --effect 0.2 --items 6:12:6 --max-workers 5 --max-ratings-per-worker 40 "
        "--simulations 20 --power 0.1 --cost-per-rating 0.1 -o plan.json",
        "analyze ratings.csv --scale 1:5 -o analysis.json",
        "power --parameters parameters.json --workers 5 --items 6 --effect 0.1 --simulations 20 --json "
        "-o power.json",
        "surface --parameters parameters.json --workers 5 --items 6 --effect 0.1 --simulations 20 -o surface",
        "more parameters add parameters.json --library library.json",
        "report --findings analysis.json --form heds -o heds.json --format json",
    )
    for words in made:
        code, told, fault = _run([*words.split(), *([] if words.startswith("parameters") else ["--force"])])
        if fault is not None or code not in (0, 3):
            raise SystemExit(f"{words}: {told or fault!r}")
    wanted = {target.name for target in TARGETS} | {"parameters.json"}
    return {name: (folder / name).read_bytes() for name in sorted(wanted)}


def damaged(name: str, content: bytes, choose: random.Random) -> Iterator[tuple[str, bytes]]:
    """Bad files made from a good one, each with what was done to it."""
    yield from _as_bytes(content, choose)
    if name.endswith(".json"):
        yield from _as_json(content, choose)
    elif _is_text(name):
        yield from _as_text(content.decode(), choose)


def _as_bytes(content: bytes, choose: random.Random) -> Iterator[tuple[str, bytes]]:
    size = len(content)
    for _ in range(25):
        at = choose.randrange(size)
        yield f"cut off after {at} bytes", content[:at]
        bit = 1 << choose.randrange(8)
        yield (
            f"bit {bit} of byte {at} turned",
            content[:at] + bytes([content[at] ^ bit]) + content[at + 1 :],
        )
        length = choose.randrange(1, 40)
        yield f"{length} bytes gone at {at}", content[:at] + content[at + length :]
        yield f"{length} bytes twice at {at}", content[: at + length] + content[at:]
        noise = bytes(choose.randrange(256) for _ in range(length))
        yield f"noise at {at}", content[:at] + noise + content[at + length :]
    yield "empty", b""
    yield "byte-order mark alone", b"\xef\xbb\xbf"
    yield "NUL bytes", b"\0" * 100
    yield "gzip", gzip.compress(content)
    yield "damaged gzip", gzip.compress(content)[:-9]
    yield "twice", content + content
    yield "zip", b"PK\x03\x04" + content
    yield "parquet", b"PAR1" + content + b"PAR1"
    yield "old excel", b"\xd0\xcf\x11\xe0" + content


def _as_text(text: str, choose: random.Random) -> Iterator[tuple[str, bytes]]:
    for encoding in ("utf-16", "utf-16-le", "utf-32", "cp1140"):
        yield encoding, text.encode(encoding)
    lines = text.split("\n")
    header = lines[0]
    values = (
        *(
            "",
            "nan",
            "inf",
            "-inf",
            "1e400",
            "1e308",
            "-1",
            "9" * 5000,
            "\u202e",
            "\x1b[31m",
            "=1+1",
            "\0",
            '"',
        ),
        *("''", "1,5", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "x" * 200_000),
    )
    for value in values:
        row = choose.randrange(1, len(lines))
        cells = lines[row].split(",")
        cells[choose.randrange(len(cells))] = value
        yield (
            f"cell {value[:12]!r} in row {row + 1}",
            "\n".join([*lines[:row], ",".join(cells), *lines[row + 1 :]]).encode("utf-8", "replace"),
        )
        yield (
            f"header {value[:12]!r}",
            "\n".join([f"{header},{value}", *lines[1:]]).encode("utf-8", "replace"),
        )
    yield "header alone", f"{header}\n".encode()
    yield "no header", "\n".join(lines[1:]).encode()
    yield "header twice in a row", "\n".join([f"{header},{header}", *lines[1:]]).encode()
    yield "200,000 characters of header", "\n".join([header + "," + "y" * 200_000, *lines[1:]]).encode()
    yield "3,000 columns", "\n".join([header + ",c" * 3000, *lines[1:]]).encode()
    yield "wide header over short rows", ("," * 100_000 + "\n" + "1\n" * 100_000).encode()
    yield "nested array", b"[" * 3000
    yield "object of 5,000 digits", b'{"worker": ' + b"9" * 5000 + b"}\n"
    yield "nested object", b'{"a":' * 3000 + b"1" + b"}" * 3000
    yield "lone surrogate", b'{"worker": "\\ud800", "item": 1, "system": "A", "rating": 2}\n' * 2
    yield "old line ends", text.replace("\n", "\r").encode()
    yield "semicolons", text.replace(",", ";").encode()


SWAPS = (
    "null",
    "true",
    "-1",
    "1e308",
    "1e400",
    '"x"',
    "[]",
    "{}",
    "NaN",
    "9" * 5000,
    '"\\ud800"',
    "0",
    "0.5",
    "[" * 200 + "]" * 200,
    '"' + "x" * 5000 + '"',
    "[null]",
    '{"a": 1}',
)


def _as_json(content: bytes, choose: random.Random) -> Iterator[tuple[str, bytes]]:
    document = json.loads(content)
    paths = list(_paths(document))
    for path in choose.sample(paths, min(len(paths), 120)):
        for swap in choose.sample(SWAPS, 4):
            yield (
                f"{_said(path)} is {swap[:20]}",
                _with(document, path, lambda _: "@@@").replace('"@@@"', swap).encode(),
            )
        yield f"{_said(path)} is gone", _without(document, path).encode()
    for text in (
        "[" * 3000,
        "{}",
        "[]",
        "null",
        "1",
        '"x"',
        '{"schema": null}',
        '{"schema": []}',
        "{" * 3000,
        "NaN",
    ):
        yield text[:12], text.encode()
    text = content.decode()
    yield "a name twice", text.replace("{", '{"schema": 1, "schema": 2,', 1).encode()


def _paths(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for name, part in inner:
        yield (*above, name)
        yield from _paths(part, (*above, name))


def _with(document: Any, path: tuple[Any, ...], change: Callable[[Any], Any]) -> str:
    copy = json.loads(json.dumps(document))
    part = copy
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = change(part[path[-1]])
    return json.dumps(copy)


def _without(document: Any, path: tuple[Any, ...]) -> str:
    copy = json.loads(json.dumps(document))
    part = copy
    for name in path[:-1]:
        part = part[name]
    del part[path[-1]]
    return json.dumps(copy)


def _said(path: tuple[Any, ...]) -> str:
    return ".".join(map(str, path))


@dataclass(frozen=True)
class FieldTarget:
    """A reader of JSON or TOML: a command that names the file `name`, good content of it, and the files beside."""

    words: str
    name: str
    content: str
    beside: dict[str, str] = field(default_factory=dict)


INSPECTED: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {"task": "t", "task_id": "i", "model": "m", "created": "2026"},
    "results": {"scores": [{"name": "s", "scorer": "s", "metrics": {"accuracy": {"value": 0.5}}}]},
    "samples": [
        {"id": "q1", "epoch": 1, "input": "?", "target": "yes", "scores": {"s": {"value": "C"}}},
        {"id": "q2", "epoch": 1, "input": "!", "target": ["no"], "scores": {"s": {"value": 0.5}}},
    ],
}
FIELD_SECONDS, FIELD_MEMORY = 5, 2 * 2**30  # of CPU, and of bytes beyond what the parent has
KINDS: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 0.5, 5, 1e308, -1e308, 5e-324, 2**63, 10**400, "", "x", "1e308", "nan"),
    *(
        "x" * 100_000,
        "a." * 20_000,
        "\u202e",
        "\ud800",
        "\0",
        "=1+1",
        [],
        {},
        [None],
        [5],
        ["x"],
        [[]],
        {"a": 1},
    ),
    *({"": None}, [{}], "[" * 5_000, "{" * 5_000, {f"k{n}": n for n in range(20_000)}, list(range(20_000))),
)


def field_targets() -> tuple[FieldTarget, ...]:
    """Every reader of JSON and TOML that no command of `TARGETS` writes a good file for."""
    lines = [
        {
            "doc_id": item,
            "doc": {"passage": f"p{item // 2}"},
            "target": "1",
            "resps": [["1"]],
            "filtered_resps": ["1"],
            "filter": "none",
            "metrics": ["acc"],
            "doc_hash": f"h{item}",
            "acc": item % 2,
        }
        for item in range(2)
    ]
    helm = [
        {
            "instance_id": "i1",
            "train_trial_index": 0,
            "stats": [{"name": {"name": "em", "split": "test"}, "count": 1, "mean": 1}],
        }
    ]
    spec = {"name": "boolq:model=a", "adapter_spec": {"model": "a"}}
    openai: list[dict[str, Any]] = [
        {"spec": {"completion_fns": ["m"], "eval_name": "e", "created_at": "2026"}},
        {"sample_id": "e.1", "type": "match", "data": {"correct": True, "expected": "y", "picked": "y"}},
        {"final_report": {"accuracy": 1.0}},
    ]
    asked = [
        {
            "promptIdx": 0,
            "testIdx": item,
            "vars": {"n": item},
            "provider": {"id": "echo", "label": "a"},
            "prompt": {"label": "plain", "raw": "x"},
            "response": {"output": "yes"},
            "namedScores": {"right": item},
            "score": 0.5,
            "success": True,
            "failureReason": 0,
            "testCase": {"description": f"q{item}", "assert": [], "metadata": {"kind": "x"}},
            "id": f"u{item}",
        }
        for item in range(2)
    ]
    sums = {"score": 1, "testPassCount": 2, "testFailCount": 0, "namedScores": {"right": 1}}
    promptfoo = {
        "evalId": "e",
        "results": {
            "version": 3,
            "prompts": [{"metrics": {**sums, "namedScoresCount": {"right": 2}}}],
            "results": asked,
        },
    }
    deepeval = {
        "testCases": [
            {
                "name": f"q{item}",
                "input": "?",
                "actualOutput": "yes",
                "expectedOutput": "no",
                "metricsData": [{"name": "Right", "score": item}],
                "metadata": {"passage": "p"},
            }
            for item in range(2)
        ],
        "metricsScores": [{"metric": "Right", "scores": [0, 1]}],
        "identifier": "a",
        "hyperparameters": {"model": "a"},
        "runDuration": 0.5,
    }
    case = {
        "name": "q0 [1/2]",
        "source_case_name": "q0",
        "inputs": "?",
        "metadata": {"passage": "p"},
        "expected_output": "yes",
        "output": "no",
        "scores": {"length": {"value": 0.5}},
        "assertions": {"right": {"value": True}},
        "labels": {"kind": {"value": "short"}},
    }
    report = {
        "name": "a",
        "cases": [case, {**case, "name": "q0 [2/2]"}],
        "failures": [{"name": "q1 [1/2]", "source_case_name": "q1"}],
        "dataset_name": "d",
    }
    ragas = {"user_input": ["?"], "response": "yes", "reference": "no", "exact_match": 1.0}
    langsmith = {
        "experiment_name": "a",
        "dataset_name": "d",
        "experiment_start_time": "2026-01-01",
        "results": [
            {
                "row_id": f"q{item}",
                "inputs": {"passage": "p"},
                "expected_outputs": {"answer": "yes"},
                "actual_outputs": {"answer": "no"},
                "evaluation_scores": [{"key": "right", "score": item}],
            }
            for item in range(2)
        ],
    }
    downloaded = {"inputs": {"q": 1}, "outputs": "no", "reference_outputs": "yes", "right": 1.0}
    braintrust = {
        "input": {"q": 1},
        "output": "no",
        "expected": "yes",
        "scores": {"right": 1.0},
        "metadata": {"passage": "p"},
        "is_root": True,
    }
    trace = {"trace_id": "t", "name": "right", "value": 1.0, "data_type": "NUMERIC", "source": "EVAL"}
    observed = {
        "id": "o",
        "trace_id": "t",
        "parent_observation_id": None,
        "provided_model_name": "m",
        "input": {"q": 1},
        "output": "no",
        "metadata": {"dataset_item_id": "d1"},
    }
    pearmut = {
        "annotation": [{"A": {"score": 50, "error_spans": []}, "B": {"sliders": {"fluency": 3}}}],
        "actions": [{"time": 1}],
        "item": [{"src": "x", "tgt": {"A": "a", "B": "b"}, "item_id": "d_0", "doc": "d"}],
        "validations": [],
        "user_id": "u",
        "item_i": 0,
    }
    task = {
        "id": 1,
        "data": {"item": "i1", "system": "A"},
        "annotations": [
            {
                "id": 7,
                "completed_by": {"id": 3},
                "was_cancelled": False,
                "lead_time": 2.5,
                "result": [{"from_name": "fluency", "value": {"rating": 4}}],
            }
        ],
    }
    short = {
        "annotation_id": 1,
        "annotator": 2,
        "lead_time": 3,
        "item": "i1",
        "system": "A",
        "f": [{"rating": 4}],
    }
    record = {
        "id": "r1",
        "item": "i1",
        "system": "A",
        "q.responses": [4],
        "q.responses.users": ["u1"],
        "q.responses.status": ["submitted"],
    }
    state = {
        "user_id": "u1",
        "instance_id_to_label_to_value": {"i1": [[{"schema": "fluency", "name": "4"}, "4"]]},
    }
    page = json.dumps([{"rating": {"1": 4}}]).replace('"', '""')
    mapping = (
        'schema = "humeval_power/mapping/1"\nplatform = "table"\nratings = "rating"\nmissing = ["no"]\n'
        'keep = ["batch"]\n[columns]\nworker = "worker"\nitem = "item"\nsystem = "system"\n[words]\ngood = 4\n'
    )
    sheet = "worker,item,system,rating,batch\nw,i,A,3,1\nw,i,B,4,1\n"
    log_mapping = (
        'schema = "humeval_power/log_mapping/1"\nitem = "id"\nsystem = "m"\n[scores]\nacc = "s"\n'
        '[fields]\npassage = "p"\n[words]\nright = 1\n'
    )
    logged = '{"id": 1, "m": "a", "s": "right", "p": "x"}\n{"id": 2, "m": "a", "s": 0, "p": "x"}\n'
    study = 'workers = 4\nitems = 6\neffect = 0.1\nsimulations = 10\nparameters = "parameters.json"\nalpha = 0.05\n'
    scores = "item,A,B\n" + "".join(f"i{i},{i % 7},{(i * 3) % 7}\n" for i in range(12))
    jsonl = "".join
    return (
        FieldTarget("rank scores {}", "samples_t.jsonl", jsonl(json.dumps(one) + "\n" for one in lines)),
        FieldTarget("import {}", "log.json", json.dumps(INSPECTED)),
        FieldTarget(
            "import {}", "per_instance_stats.json", json.dumps(helm), {"run_spec.json": json.dumps(spec)}
        ),
        FieldTarget(
            "import per_instance_stats.json",
            "run_spec.json",
            json.dumps(spec),
            {"per_instance_stats.json": json.dumps(helm)},
        ),
        FieldTarget("import {}", "openai.jsonl", jsonl(json.dumps(one) + "\n" for one in openai)),
        FieldTarget("import {}", "promptfoo.json", json.dumps(promptfoo)),
        FieldTarget("import {}", "promptfoo.jsonl", jsonl(json.dumps(one) + "\n" for one in asked)),
        FieldTarget("import {}", "test_run.json", json.dumps(deepeval)),
        FieldTarget("import {}", "report.json", json.dumps(report)),
        FieldTarget("import {}", "ragas.jsonl", json.dumps(ragas) + "\n"),
        FieldTarget("import {}", "experiment.json", json.dumps(langsmith)),
        FieldTarget("import {}", "langsmith.jsonl", json.dumps(downloaded) + "\n"),
        FieldTarget("import {}", "braintrust.json", json.dumps([braintrust])),
        FieldTarget(
            "import {}",
            "scores/s.jsonl",
            json.dumps(trace) + "\n",
            {"observations_v2/o.jsonl": json.dumps(observed) + "\n"},
        ),
        FieldTarget(
            "import scores",
            "observations_v2/o.jsonl",
            json.dumps(observed) + "\n",
            {"scores/s.jsonl": json.dumps(trace) + "\n"},
        ),
        FieldTarget("import {}", "pearmut.jsonl", json.dumps(pearmut) + "\n"),
        FieldTarget("import {}", "tasks.json", json.dumps([task, task])),
        FieldTarget("import {} --draft", "short.json", json.dumps([short])),
        FieldTarget("import {}", "records.json", json.dumps([record, record])),
        FieldTarget("import {}", "records.jsonl", json.dumps(record) + "\n"),
        FieldTarget("import annotation_output", "annotation_output/u1/user_state.json", json.dumps(state)),
        FieldTarget(
            "import {}",
            "mturk.csv",
            'HITId,AssignmentId,WorkerId,Input.item1,Input.system1,Answer.taskAnswers\nh,a,w,i,A,"'
            + page
            + '"\n',
        ),
        FieldTarget("import table.csv --map {}", "mapping.toml", mapping, {"table.csv": sheet}),
        FieldTarget(
            "import logged.jsonl --map {}", "log_mapping.toml", log_mapping, {"logged.jsonl": logged}
        ),
        FieldTarget("power {}", "study.toml", study),
        FieldTarget(
            "compare scores s.csv --config {}",
            "compare.toml",
            'question = "mean"\nalpha = 0.05\n',
            {"s.csv": scores},
        ),
    )


def prove_fields(n_tries: int | None, seed: int) -> Counts:
    """Every field of every JSON and TOML reader takes every wrong kind and extreme; of all such tries the first
    `n_tries` in the order of the seed, None for all."""
    counts, choose = Counts(), random.Random(seed)
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        try:
            os.chdir(name)
            good = {
                file: content.decode()
                for file, content in write_good_files(Path(name)).items()
                if _is_text(file)
            }
            made = [
                FieldTarget(target.words, target.name, good[target.name], good)
                for target in TARGETS
                if target.name.endswith((".json", ".toml"))
            ]
            known = {"parameters.json": good["parameters.json"]}
            own = [replace(one, beside={**known, **one.beside}) for one in field_targets()]
            tries = [
                (target, path, kind)
                for target in (*own, *made)
                for path in _fields(target)
                for kind in range(len(KINDS))
            ]
            choose.shuffle(tries)
            for target, path, kind in tries[:n_tries]:
                _one_field(target, path, KINDS[kind], counts)
        finally:
            os.chdir(here)
    return counts


def _is_text(name: str) -> bool:
    return not name.endswith((".xlsx", ".parquet", ".gz", ".eval"))


def _values(target: FieldTarget) -> list[Any]:
    """The documents in a file: one, or one a line; the JSON in a cell of a table."""
    if target.name.endswith(".toml"):
        return [tomllib.loads(target.content)]
    if target.name.endswith(".jsonl"):
        return [json.loads(line) for line in target.content.splitlines()]
    if target.name.endswith(".csv"):
        return [json.loads(target.content.rstrip().split(',"')[-1][:-1].replace('""', '"'))]
    return [json.loads(target.content)]


def _fields(target: FieldTarget) -> list[tuple[Any, ...]]:
    """The paths of all values in a file; the items of long lists by the first two."""
    every = list(_paths(_values(target)))
    return [path for path in every if not any(isinstance(name, int) and name > 1 for name in path)]


def _written(target: FieldTarget, values: list[Any]) -> str:
    """The file with these documents."""
    if target.name.endswith(".toml"):
        tables = "".join(f"{_toml(str(key))} = {_toml(value)}\n" for key, value in values[0].items())
        return tables if isinstance(values[0], dict) else "x"
    if target.name.endswith(".csv"):
        head = target.content.split(',"')[0]
        return head + ',"' + json.dumps(values[0]).replace('"', '""') + '"\n'
    return "".join(json.dumps(value) + "\n" for value in values)


def _toml(value: Any) -> str:
    """A value of TOML, on one line; null, which it does not have, as a bare word."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(str(key))} = {_toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def _one_field(target: FieldTarget, path: tuple[Any, ...], kind: Any, counts: Counts) -> None:
    """One value in the place of another, and the command in a child of its own."""
    values = json.loads(json.dumps(_values(target)))
    part = values
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = kind
    try:
        text = _written(target, values).encode("utf-8", "surrogatepass")
    except (AttributeError, ValueError):
        return  # a file of TOML is a table, whatever is in it
    words = target.words.format(target.name).split()
    said = f"{' '.join(words)} with {target.name}: {_said(path)} is {json.dumps(kind)[:20]}"
    counts.tries += 1
    with tempfile.TemporaryDirectory() as folder:
        for name, content in {**target.beside, target.name: ""}.items():
            place = Path(folder, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text if name == target.name else content.encode())
        before = _contents(Path(folder))
        ended, told = _in_child(words, Path(folder))
        after = _contents(Path(folder))
    if ended == "traceback":
        counts.tracebacks += 1
    elif ended == "hang":
        counts.hangs += 1
    elif ended == "2":
        counts.refused += 1
        counts.losses += before != after
    elif ended not in ("0", "1", "3"):
        counts.wrong_codes += 1
    if ended in ("traceback", "hang") or (ended == "2" and before != after) or ended not in "0123":
        counts.details.append(f"{said}: {ended}: {told}")


def _in_child(words: list[str], folder: Path) -> tuple[str, str]:
    """How a command ended, in a process with limits, and what it said."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.chdir(folder)
        size = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (size + FIELD_MEMORY,) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (FIELD_SECONDS, FIELD_SECONDS + 1))
        code, told, fault = _run(words)
        if fault is not None and not isinstance(fault, TimeoutError):
            where = traceback.extract_tb(fault.__traceback__)[-1]
            told = f"{type(fault).__name__}: {str(fault)[:90]} ({where.name}:{where.lineno})"
        ended = str(code) if fault is None else "hang" if isinstance(fault, TimeoutError) else "traceback"
        os.write(write, json.dumps([ended, told[-200:]]).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if not said:
        return "hang", f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(
            status
        ) else "said nothing"
    ended, told = json.loads(said)
    return str(ended), str(told)


def _writers(n_kills: int, seed: int) -> dict[str, int] | None:
    """The counts of `kill_writers`, None where it is not there."""
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        module = importlib.import_module("kill_writers")
    except ImportError:
        return None
    counts: dict[str, int] = module.prove_writers(n_kills, seed)
    return counts


def main() -> None:
    """Print the counts, and end with 1 where a fault was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} tries and 20 kills, for CI")
    parser.add_argument("--tries", type=int, help=f"damaged files [{FULL}]")
    parser.add_argument("--fields", type=int, help=f"values of the wrong kind [all; quick: {QUICK}]")
    parser.add_argument("--kills", type=int, help="killed writers [200]")
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    found = prove_files(wanted.tries or (QUICK if wanted.quick else FULL), wanted.seed)
    for line in found.details:
        print(line)
    print("files:  ", found.as_dict())
    begun = time.monotonic()
    of_fields = prove_fields(
        wanted.fields if wanted.fields is not None else QUICK if wanted.quick else None, wanted.seed
    )
    for line in of_fields.details:
        print(line)
    print("fields: ", of_fields.as_dict(), f"{time.monotonic() - begun:.0f} s")
    faults = sum(
        each.tracebacks + each.losses + each.wrong_codes + each.hangs for each in (found, of_fields)
    )
    n_kills = wanted.kills if wanted.kills is not None else 20 if wanted.quick else 200
    killed = _writers(n_kills, wanted.seed) if n_kills else None
    print("writers:", killed if killed is not None else "not looked at")
    bad = ("tracebacks", "losses", "torn")
    sys.exit(bool(faults or sum((killed or {}).get(name, 0) for name in bad)))


if __name__ == "__main__":
    main()
