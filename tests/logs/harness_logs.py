"""Small logs in the formats of the harnesses, made from one known table of scores.

No line is copied from a real log; names of fields and of files are facts, taken from
  lm-evaluation-harness 0.4.9: lm_eval/evaluator.py, lm_eval/loggers/evaluation_tracker.py
  lmms-eval 0.3: lmms_eval/evaluator.py, lmms_eval/loggers/evaluation_tracker.py
  Inspect 0.3: src/inspect_ai/log/_log.py, _recorders/eval.py, scorer/_metric.py
  HELM 0.5: src/helm/benchmark/metrics/metric.py, metric_name.py, statistic.py
  OpenAI evals 3.0: evals/record.py
and from files that these wrote: promptfoo 0.123, DeepEval 4.3, Pydantic Evals 2.62, ragas 0.4, MLflow 3.17.
"""

import csv
import hashlib
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from humeval_power.checking.logs.combined import LogTable
from humeval_power.files.logs.reading import read_logs

STAMP = "2026-03-01T10-00-00.123456"
Scores = Mapping[str, Sequence[float]]  # of each system, by item

SCORES: dict[str, list[int]] = {
    "acme/base-7b": [1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0],
    "acme/tuned-7b": [1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1],
}


def passage(item: int) -> str:
    """The passage that an item asks about: two items a passage; too long for the name of a cluster."""
    return f"Passage {item // 2}: " + "the river rose and the bridge was closed until spring. " * 3


def document(item: int) -> dict[str, Any]:
    """What the data set holds of an item."""
    return {"passage": passage(item), "question": f"Was bridge {item} open?", "answer": item % 2}


def hashed(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def lines(records: Sequence[object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def lm_eval_samples(
    scores: Sequence[float], *, metric: str = "acc", filters: Sequence[str] = ("none",), shift: int = 0
) -> list[dict[str, Any]]:
    """Lines of samples_TASK_DATE.jsonl; `shift` makes another version of the data set."""
    return [
        {
            "doc_id": item,
            "doc": document(item + shift),
            "target": str(item % 2),
            "arguments": {"gen_args_0": {"arg_0": passage(item), "arg_1": " yes"}},
            "resps": [[["-Infinity" if item == 0 else -1.5, "False"]]],
            "filtered_resps": [str(item % 2)],
            "filter": one,
            "metrics": [metric],
            "doc_hash": hashed(document(item + shift)),
            "prompt_hash": hashed(item),
            "target_hash": hashed(item % 2),
            metric: score if one != "flexible-extract" else 1.0,
        }
        for one in filters
        for item, score in enumerate(scores)
    ]


def write_lm_eval(
    folder: Path,
    scores: Scores = SCORES,
    *,
    task: str = "bridges",
    stamp: str = STAMP,
    seeds: Mapping[str, int] | None = None,
    **options: Any,
) -> Path:
    """A folder for each model, with samples and results; the results of the first say the model. With `seeds` the
    arguments of the model are an object, as newer versions have them."""
    for system, own in scores.items():
        place = folder / system.replace("/", "__")
        place.mkdir(parents=True, exist_ok=True)
        samples = lm_eval_samples(own, **options)
        (place / f"samples_{task}_{stamp}.jsonl").write_text(lines(samples))
        metric, filters = options.get("metric", "acc"), options.get("filters", ("none",))
        reported = {f"{metric},{one}": sum(own) / len(own) for one in filters if one != "flexible-extract"}
        results = {
            "results": {task: {"alias": task, **reported}},
            "configs": {task: {"task": task}},
            "config": {"model": "hf", "model_args": f"pretrained={system},dtype=float16"},
            "model_name": system,
        }
        if seeds is not None:
            results["config"] = {"model": "hf", "model_args": {"pretrained": system}, **seeds}
        (place / f"results_{stamp}.json").write_text(json.dumps(results, indent=2))
    return folder


def write_lmms_eval(folder: Path, scores: Scores = SCORES, *, stamp: str = "20260301_100000") -> Path:
    """DATE_samples_TASK.jsonl and DATE_results.json; the metric is an object, as many of its tasks have it."""
    for system, own in scores.items():
        place = folder / system.replace("/", "__")
        place.mkdir(parents=True, exist_ok=True)
        samples = [
            {
                "doc_id": item,
                "target": "yes",
                "filtered_resps": ["yes"],
                "doc_hash": hashed(item),
                "input": f"<image> Question {item}",
                "chart_score": {"question_id": item, "category": f"chart {item // 2}", "score": score},
            }
            for item, score in enumerate(own)
        ]
        (place / f"{stamp}_samples_charts.jsonl").write_text(lines(samples))
        (place / f"{stamp}_results.json").write_text(
            json.dumps(
                {"results": {"charts": {"chart_score,none": sum(own) / len(own)}}, "model_name": system}
            )
        )
    return folder


def inspect_header(system: str, *, status: str = "success", task: str = "bridges") -> dict[str, Any]:
    about = {"task": task, "model": system, "created": "2026-03-01T10:00:00+00:00", "run_id": "r1"}
    return {"version": 2, "status": status, "eval": about, "plan": {}, "stats": {}}


def inspect_results(scores: Sequence[float]) -> dict[str, Any]:
    accuracy = {"name": "accuracy", "value": sum(scores) / len(scores)}
    return {"scores": [{"name": "match", "scorer": "match", "metrics": {"accuracy": accuracy}}]}


def inspect_samples(scores: Sequence[float], *, epochs: int = 1) -> list[dict[str, Any]]:
    word = {1: "C", 0: "I", 0.5: "P"}
    return [
        {
            "id": f"q{item}",
            "epoch": epoch,
            "input": f"Was bridge {item} open?",
            "target": "yes",
            "metadata": {"passage_id": f"p{item // 2}"},
            "scores": {"match": {"value": word[score], "answer": "yes", "metadata": {}}},
        }
        for epoch in range(1, epochs + 1)
        for item, score in enumerate(scores)
    ]


def write_inspect(
    folder: Path, scores: Scores = SCORES, *, packed: bool = False, summed: bool = True, epochs: int = 1
) -> Path:
    """A log for each model, as JSON, or packed as .eval, with its summaries or without."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (system, own) in enumerate(scores.items()):
        header = {**inspect_header(system), "results": inspect_results(own)}
        samples = inspect_samples(own, epochs=epochs)
        name = f"2026-03-01T10-0{number}-00_bridges_{hashed(system)[:8]}"
        if not packed:
            (folder / f"{name}.json").write_text(json.dumps({**header, "samples": samples}, indent=2))
            continue
        with zipfile.ZipFile(folder / f"{name}.eval", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": header["eval"]}))
            for one in samples:
                archive.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
            if summed:
                archive.writestr("summaries.json", json.dumps(samples))
            archive.writestr("header.json", json.dumps(header))
    return folder


def write_zstandard(
    path: Path, members: Mapping[str, str], *, packed: Mapping[str, bytes] | None = None
) -> None:
    """A zip whose members are packed by Zstandard, as Inspect packs them and Python's zip cannot before 3.14;
    `packed` are other bytes in the place of a member's own."""
    import zstandard

    body, directory = b"", b""
    for name, text in members.items():
        plain, place = text.encode(), len(body)
        bytes_of = (packed or {}).get(name) or zstandard.ZstdCompressor().compress(plain)
        sizes = struct.pack("<LLLHH", zlib.crc32(plain), len(bytes_of), len(plain), len(name), 0)
        version = struct.pack("<HHHHH", 63, 0, 93, 0, 0x21)
        body += b"PK\x03\x04" + version + sizes + name.encode() + bytes_of
        rest = struct.pack("<HHHLL", 0, 0, 0, 0, place) + name.encode()
        directory += b"PK\x01\x02" + struct.pack("<H", 63) + version + sizes + rest
    counts = (0, 0, len(members), len(members), len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\x05\x06" + struct.pack("<HHHHLLH", *counts))


def helm_stat(name: str, mean: float, **more: Any) -> dict[str, Any]:
    named = {"name": name, "split": "test", **more}
    return {
        "name": named,
        "count": 1,
        "sum": mean,
        "sum_squared": mean**2,
        "min": mean,
        "max": mean,
        "mean": mean,
    }


def write_helm(folder: Path, scores: Scores = SCORES, *, trials: int = 1) -> Path:
    """runs/SUITE/RUN/per_instance_stats.json beside run_spec.json; one perturbed instance a run."""
    for system, own in scores.items():
        run = f"boolq:only=bridges,model={system.replace('/', '_')}"
        place = folder / "v1" / run
        place.mkdir(parents=True)
        instances = [
            {
                "instance_id": f"id{item}",
                "train_trial_index": trial,
                "stats": [helm_stat("num_references", 2), helm_stat("exact_match", score)],
            }
            for trial in range(trials)
            for item, score in enumerate(own)
        ]
        typos = {"name": "typos"}
        perturbed = {
            **instances[0],
            "perturbation": typos,
            "stats": [helm_stat("exact_match", 0, perturbation=typos)],
        }
        (place / "per_instance_stats.json").write_text(json.dumps([*instances, perturbed], indent=2))
        spec = {"name": run, "adapter_spec": {"method": "generation", "model": system}}
        (place / "run_spec.json").write_text(json.dumps(spec, indent=2))
        (place / "stats.json").write_text(json.dumps([helm_stat("exact_match", sum(own) / len(own))]))
    return folder


def write_openai(folder: Path, scores: Scores = SCORES, *, finished: bool = True) -> Path:
    """A file for each model: the specification, an event a line, the final report."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (system, own) in enumerate(scores.items()):
        spec = {
            "completion_fns": [system],
            "eval_name": "bridges.dev.v0",
            "created_at": f"2026-03-0{number + 1}",
        }
        events: list[dict[str, Any]] = [{"spec": spec}]
        for item, score in enumerate(own):
            about = {
                "run_id": "r",
                "sample_id": f"bridges.dev.{item}",
                "created_by": "",
                "created_at": "2026",
            }
            events.append({**about, "event_id": 2 * item, "type": "sampling", "data": {"sampled": ["yes"]}})
            found = {"correct": bool(score), "expected": "yes", "picked": "yes"}
            events.append({**about, "event_id": 2 * item + 1, "type": "match", "data": found})
        if finished:
            events.append({"final_report": {"accuracy": sum(own) / len(own)}})
        (folder / f"260301_{number}.jsonl").write_text(lines(events))
    return folder


def promptfoo_results(
    scores: Scores, *, repeats: int = 1, prompts: Sequence[str] = ("plain",)
) -> list[dict[str, Any]]:
    """Each test for every provider and prompt; a repetition is a test of its own, as the program numbers them."""
    return [
        {
            "promptIdx": len(prompts) * place + at,
            "testIdx": item * repeats + repeat,
            "vars": {"question": f"Was bridge {item} open?", "passage": f"p{item // 2}"},
            "provider": {"id": "echo", "label": system},
            "prompt": {"label": prompt, "raw": f"{prompt}: {item}"},
            "response": {"output": "yes"},
            "namedScores": {"right": own[item]},
            "score": own[item] / 2,
            "success": bool(own[item]),
            "failureReason": int(not own[item]),
            "testCase": {
                "description": f"q{item}",
                "assert": [{"metric": "right"}],
                "metadata": {"kind": "x"},
            },
            "id": f"{item} {repeat} {place} {at}",
        }
        for item in range(len(next(iter(scores.values()))))
        for repeat in range(repeats)
        for place, (system, own) in enumerate(scores.items())
        for at, prompt in enumerate(prompts)
    ]


def write_promptfoo(
    folder: Path, scores: Scores = SCORES, *, repeats: int = 1, prompts: Sequence[str] = ("plain",)
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    results = promptfoo_results(scores, repeats=repeats, prompts=prompts)
    sums = []
    for own in scores.values():
        n, right = repeats * len(own), repeats * sum(own)
        named = {"namedScores": {"right": right}, "namedScoresCount": {"right": n}}
        counts = {"testPassCount": right, "testFailCount": n - right, "testErrorCount": 0}
        sums += [{"metrics": {"score": right / 2, **counts, **named}} for _ in prompts]
    whole = {"version": 3, "timestamp": "2026-03-01T10:00:00Z", "prompts": sums, "results": results}
    (folder / "results.json").write_text(json.dumps({"evalId": "eval-1", "results": whole}, indent=1))
    return folder


def write_deepeval(folder: Path, scores: Scores = SCORES) -> Path:
    """A test run for each model; the metrics stand in another order in every second case."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (system, own) in enumerate(scores.items()):
        cases = []
        for item, score in enumerate(own):
            metrics = [{"name": "Right", "score": score}, {"name": "Length [GEval]", "score": 0.5}]
            cases.append(
                {
                    "name": f"q{item}",
                    "input": f"Was bridge {item} open?",
                    "actualOutput": "yes",
                    "expectedOutput": "yes",
                    "metricsData": metrics[:: 1 if item % 2 else -1],
                    "metadata": {"passage": f"p{item // 2}"},
                }
            )
        run = {
            "testCases": cases,
            "conversationalTestCases": [],
            "metricsScores": [{"metric": "Right", "scores": list(own)}],
            "identifier": system,
            "runDuration": 0.5 + number,
        }
        (folder / f"test_run_20260301_10000{number}.json").write_text(json.dumps(run))
    return folder


def write_pydantic_evals(folder: Path, scores: Scores = SCORES, *, repeats: int = 1) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, (system, own) in enumerate(scores.items()):
        cases = []
        for item, score in enumerate(own):
            for repeat in range(1, repeats + 1):
                again = {"name": f"q{item} [{repeat}/{repeats}]", "source_case_name": f"q{item}"}
                about = again if repeats > 1 else {"name": f"q{item}", "source_case_name": None}
                cases.append(
                    {
                        **about,
                        "inputs": f"Was bridge {item} open?",
                        "metadata": {"passage": f"p{item // 2}"},
                        "expected_output": "yes",
                        "output": "yes",
                        "scores": {"length": {"name": "length", "value": 0.5}},
                        "assertions": {"right": {"name": "right", "value": bool(score)}},
                        "labels": {},
                        "task_duration": 0.1,
                    }
                )
        report = {"name": system, "cases": cases, "failures": [], "dataset_name": "bridges"}
        (folder / f"report_{number}.json").write_text(json.dumps(report, indent=1))
    return folder


def write_rows(
    folder: Path, scores: Scores, name: str, row: Callable[[int, float], Mapping[str, object]]
) -> Path:
    """A table in a folder for each model, which nothing else names."""
    for system, own in scores.items():
        place = folder / system.split("/")[-1]
        place.mkdir(parents=True)
        rows = [row(item, score) for item, score in enumerate(own)]
        with (place / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    return folder


def write_ragas(folder: Path, scores: Scores = SCORES) -> Path:
    def row(item: int, score: float) -> Mapping[str, object]:
        return {
            "user_input": f"Was it open: bridge {item}",
            "retrieved_contexts": f"['Passage {item // 2}']",
            "response": "yes",
            "reference": "yes",
            "exact_match": float(score),
        }

    return write_rows(folder, scores, "result", row)


def write_mlflow(folder: Path, scores: Scores = SCORES) -> Path:
    def row(item: int, score: float) -> Mapping[str, object]:
        return {
            "trace_id": f"tr-{item}-{score}",
            "request": str({"passage": f"p{item // 2}", "question": f"Was it open, bridge {item}"}),
            "response": "yes",
            "right/value": bool(score),
            "right/rationale": "so, or not",
            "year/value": 1800 + item,
            "assessments": str(
                [
                    {"assessment_name": "right", "feedback": {"value": bool(score)}},
                    {
                        "assessment_name": "year",
                        "source": {"source_type": "HUMAN"},
                        "expectation": {"value": 1800},
                    },
                ]
            ),
        }

    return write_rows(folder, scores, "evaluation", row)


def write_mteb(folder: Path, scores: Scores = SCORES) -> Path:
    """A folder for each model and its revision, and in it a file with the subsets of one task."""
    for system, of_items in scores.items():
        run = folder / system.replace("/", "__") / "a1b2c3"
        run.mkdir(parents=True)
        (run / "model_meta.json").write_text(json.dumps({"name": system, "revision": "a1b2c3"}))
        subsets = [
            {"accuracy": score, "hf_subset": f"q{item}", "languages": ["eng-Latn"], "main_score": score}
            for item, score in enumerate(of_items)
        ]
        task = {"dataset_revision": "d4", "evaluation_time": 1.5, "kg_co2_emissions": None}
        task |= {"mteb_version": "1.12.41", "scores": {"test": subsets}, "task_name": "Bridges"}
        (run / "Bridges.json").write_text(json.dumps(task, indent=2))
    return folder


def write_langsmith(folder: Path, scores: Scores = SCORES) -> Path:
    """Experiments as they are uploaded; by the documentation, as are the next two."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (system, own) in enumerate(scores.items()):
        rows = [
            {
                "row_id": f"q{item}",
                "inputs": {"passage": f"p{item // 2}", "question": f"Was bridge {item} open?"},
                "expected_outputs": {"answer": "yes"},
                "actual_outputs": {"answer": "no"},
                "evaluation_scores": [{"key": "right", "score": score, "comment": None}],
                "error": None,
            }
            for item, score in enumerate(own)
        ]
        about = {"experiment_name": system, "dataset_name": "bridges", "experiment_start_time": STAMP}
        (folder / f"experiment-{number}.json").write_text(json.dumps({**about, "results": rows}, indent=2))
    return folder


def langsmith_row(item: int, score: float) -> Mapping[str, object]:
    """A row of the table that the view of an experiment downloads."""
    return {
        "id": f"run{item}",
        "inputs": json.dumps({"passage": f"p{item // 2}", "question": f"bridge {item}"}),
        "outputs": json.dumps({"answer": "no"}),
        "reference_outputs": json.dumps({"answer": "yes"}),
        "latency": 0.5,
        "right": score,
    }


def braintrust_row(item: int, score: float) -> dict[str, Any]:
    return {
        "id": f"row{item}",
        "input": {"question": f"Was it open: bridge {item}"},
        "output": "no",
        "expected": "yes",
        "scores": {"right": score, "style": None},
        "metadata": {"passage": f"p{item // 2}"},
    }


def write_braintrust(folder: Path, scores: Scores = SCORES) -> Path:
    for system, own in scores.items():
        place = folder / system.split("/")[-1]
        place.mkdir(parents=True)
        rows = [braintrust_row(item, score) for item, score in enumerate(own)]
        (place / "experiment.jsonl").write_text(lines(rows))
    return folder


def write_langfuse(folder: Path, scores: Scores = SCORES) -> Path:
    """An export for each system; a trace is a span with a generation below it."""
    for number, (system, own) in enumerate(scores.items()):
        place = folder / f"export-{number}"
        for name in ("scores", "observations_v2"):
            (place / name).mkdir(parents=True)
        traces = [hashed([system, item])[:12] for item in range(len(own))]
        of_traces = [
            {
                "trace_id": trace,
                "name": name,
                "value": value,
                "data_type": kind,
                "source": "EVAL",
            }
            for trace, score in zip(traces, own, strict=True)
            for name, value, kind in (("right", score, "NUMERIC"), ("tone", None, "CATEGORICAL"))
        ]
        observed = [
            row
            for item, trace in enumerate(traces)
            for row in (
                {
                    "id": f"{trace}b",
                    "trace_id": trace,
                    "parent_observation_id": trace,
                    "type": "GENERATION",
                    "provided_model_name": system,
                    "input": "the whole prompt",
                },
                {
                    "id": trace,
                    "trace_id": trace,
                    "parent_observation_id": None,
                    "type": "SPAN",
                    "input": {"question": f"Was it open: bridge {item}"},
                    "output": "no",
                    "metadata": {"passage": f"p{item // 2}"},
                },
            )
        ]
        (place / "scores" / "2026-03-01.jsonl").write_text(lines(of_traces))
        (place / "observations_v2" / "2026-03-01.jsonl").write_text(lines(observed))
    return folder


def write_sacrebleu(folder: Path, scores: Scores = SCORES) -> Path:
    for system, own in scores.items():
        place = folder / system.split("/")[-1]
        place.mkdir(parents=True)
        (place / "segments.txt").write_text("".join(sacrebleu_line(score) for score in own))
    return folder


def sacrebleu_line(score: float, tokens: str = "13a") -> str:
    return (
        f"BLEU|nrefs:1|case:mixed|eff:yes|tok:{tokens}|smooth:exp|version:2.6.0 = {score:.1f} "
        "80.0/50.0/33.3/25.0 (BP = 1.000 ratio = 1.000 hyp_len = 5 ref_len = 5)\n"
    )


WRITERS = {
    "lm-eval": write_lm_eval,
    "lmms-eval": write_lmms_eval,
    "inspect": write_inspect,
    "helm": write_helm,
    "openai-evals": write_openai,
    "promptfoo": write_promptfoo,
    "deepeval": write_deepeval,
    "pydantic-evals": write_pydantic_evals,
    "ragas": write_ragas,
    "mlflow": write_mlflow,
    "sacrebleu": write_sacrebleu,
    "mteb": write_mteb,
    "langsmith": write_langsmith,
    "braintrust": write_braintrust,
    "langfuse": write_langfuse,
}
METRIC = {
    "lm-eval": "acc",
    "lmms-eval": "chart_score",
    "inspect": "match",
    "helm": "exact_match",
    "openai-evals": "correct",
    "promptfoo": "right",
    "deepeval": "Right",
    "pydantic-evals": "right",
    "ragas": "exact_match",
    "mlflow": "right",
    "sacrebleu": "BLEU",
    "mteb": "main_score",
    "langsmith": "right",
    "braintrust": "right",
    "langfuse": "right",
}
DOCUMENTED = ("langsmith", "braintrust", "langfuse")  # no file of these has been seen
NAMELESS = ("ragas", "mlflow", "sacrebleu", "braintrust")  # their files name no system


def table_in(*paths: Path, **options: Any) -> LogTable:
    """The table that is read of logs, which there must be."""
    found = read_logs(*paths, **options)
    assert found is not None
    return found
