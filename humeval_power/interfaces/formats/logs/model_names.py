"""Whose samples a file holds: lm-evaluation-harness and lmms-eval say it in the file of results beside it, or by
the folder, which bears the model's name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from humeval_power.errors import InputError
from humeval_power.interfaces.formats.logs.raw import RawLog

STAMP = r"\d{4}-?\d{2}-?\d{2}[T_]\d{2}-?\d{2}-?\d{2}(?:\.\d+)?"
_MODEL_ARGS = re.compile(r"(?:^|,)(?:peft|delta|pretrained|model|model_version|path|engine)=([^,]+)")


def model_beside(raw: RawLog, stamp: str) -> tuple[str, str]:
    """The model of a file of samples, and what to say of how it was found ('' where it is stated)."""
    stated = {name for name in _stated(raw, stamp) if name}
    if len(stated) == 1:
        return stated.pop(), ""
    folder = raw.path.resolve().parent.name
    if "__" in folder:  # how a model's name with a slash becomes a folder's
        return folder.replace("__", "/", 1), ""
    why = "no file of results beside it says the model"
    return folder, f"The system is called as the folder, {folder!r}: {why}."


def _stated(raw: RawLog, stamp: str) -> Iterator[str]:
    """The models in the files of results of this stamp; without any, in all of the folder."""
    names = [
        other.name
        for other in sorted(raw.path.parent.glob("*results*.json"))
        if other.is_file() and other.resolve().parent == raw.path.resolve().parent
    ]
    for name in [name for name in names if stamp and stamp in name] or names:
        try:
            results = raw.beside(name).json
        except InputError:
            continue
        yield _model(results) if isinstance(results, dict) else ""


def _model(results: dict[str, object]) -> str:
    name = results.get("model_name")
    if isinstance(name, str) and name:
        return name
    config = results.get("config")
    arguments = config.get("model_args") if isinstance(config, dict) else None
    if isinstance(arguments, dict):
        named = [arguments.get(key) for key in ("pretrained", "model", "path", "engine")]
        return next((value for value in named if isinstance(value, str)), "")
    found = _MODEL_ARGS.search(arguments) if isinstance(arguments, str) else None
    return found[1] if found else ""
