"""Whose samples a file holds: lm-evaluation-harness and lmms-eval say it in the file of results beside it, or by
the folder, which bears the model's name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from humeval_power.interfaces.formats.logs.raw import RawLog, number_of, texts_in

STAMP = r"\d{4}-?\d{2}-?\d{2}[T_]\d{2}-?\d{2}-?\d{2}(?:\.\d+)?"
_SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")
_MODEL_ARGS = re.compile(r"(?:^|,)(?:peft|delta|pretrained|model|model_version|path|engine)=([^,]+)")


@dataclass(frozen=True, slots=True)
class Beside:
    """What the files of results beside a file of samples say: the model, what to say of how it was found ('' where
    it is stated), the means of the task, and the seeds."""

    model: str
    said: str
    reported: dict[str, float]
    seeds: dict[str, str]


def beside(raw: RawLog, stamp: str, task: str) -> Beside:
    """The model of a file of samples, and what was reported of it."""
    results = list(_results(raw, stamp))
    stated = {name for one in results if (name := _model(one))}
    reported = _means(results[0], task) if len(results) == 1 else {}
    seeds = _seeds(results[0]) if len(results) == 1 else {}
    if len(stated) == 1:
        name = stated.pop()
        said = ""
        if _is_made_up(name, results):
            said = f"The arguments name no model, and the harness made {name!r} up: "
            said += "import --system-name NAME=FOLDER names it."
        return Beside(name, said, reported, seeds)
    folder = raw.path.resolve().parent.name
    if "__" in folder:  # how a model's name with a slash becomes a folder's
        return Beside(folder.replace("__", "/", 1), "", reported, seeds)
    said = f"The system is called as the folder, {folder!r}: no file of results beside it says the model."
    return Beside(folder, said, reported, seeds)


def _results(raw: RawLog, stamp: str) -> Iterator[dict[str, object]]:
    """The files of results of this stamp; without any, all of the folder.

    Raises
    ------
    InputError
        One that is no JSON: what the system is called cannot be known.
    """
    names = [
        other.name
        for other in sorted(raw.path.parent.glob("*results*.json"))
        if other.is_file() and other.resolve().parent == raw.path.resolve().parent
    ]
    for name in [name for name in names if stamp and stamp in name] or names:
        results = raw.beside(name).json
        if isinstance(results, dict):
            yield results


def _means(results: dict[str, object], task: str) -> dict[str, float]:
    of_tasks = results.get("results")
    found = of_tasks.get(task) if isinstance(of_tasks, dict) else None
    if not isinstance(found, dict):
        return {}
    return {str(name): number for name, value in found.items() if (number := number_of(value)) is not None}


def _seeds(results: dict[str, object]) -> dict[str, str]:
    config = results.get("config")
    found = texts_in(config)
    return {name: found[name] for name in _SEEDS if name in found}


def _is_made_up(name: str, results: list[dict[str, object]]) -> bool:
    """Whether a name is one of lm-evaluation-harness's eight letters, where its arguments name no model."""
    return re.fullmatch("[A-Za-z0-9]{8}", name) is not None and not any(map(_argument, results))


def _model(results: dict[str, object]) -> str:
    name = results.get("model_name")
    return name if isinstance(name, str) and name else _argument(results)


def _argument(results: dict[str, object]) -> str:
    """The argument that names the model."""
    config = results.get("config")
    arguments = config.get("model_args") if isinstance(config, dict) else None
    if isinstance(arguments, dict):
        named = [arguments.get(key) for key in ("peft", "delta", "pretrained", "model", "path", "engine")]
        return next((value for value in named if isinstance(value, str)), "")
    found = _MODEL_ARGS.search(arguments) if isinstance(arguments, str) else None
    return found[1] if found else ""
