"""An extension of Inspect: after a run, each task is compared with its last log by another model or prompt.

Inspect finds it by the entry point of the package; HUMEVAL_POWER=off in the environment turns it off.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from inspect_ai.hooks import Hooks, RunEnd, hooks
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log, write_eval_log

from humeval_power.asking.output import say

_WHAT = "Compares each task with its last log by another model or prompt, item by item."
_LOOKED_AT = 200  # logs of a folder, the newest


@hooks(name="humeval_power", description=_WHAT)
class TaskComparison(Hooks):
    """Prints a comparison where there is something to compare with; what goes wrong is a line, never an error."""

    def enabled(self) -> bool:
        """Whether nobody has turned it off."""
        return os.environ.get("HUMEVAL_POWER", "").lower() != "off"

    async def on_run_end(self, data: RunEnd) -> None:
        """Compare each task of the run."""
        for log in data.logs if data.exception is None else ():
            if log.status != "success" or not log.location:
                continue
            try:
                said = compared(log)
            except Exception as error:  # an evaluation is never lost for this
                said = f"no comparison: {error}"
            if said:
                say(f"humeval-power, {log.eval.task}: {said}")


def compared(log: EvalLog) -> str:
    """The answer about a log and the last of its task by another model or prompt, in three lines; "" without one.
    Raises InputError: logs whose items or metrics do not fit together."""
    other = last_other(log)
    if other is None:
        return ""
    import humeval_power as hp

    before, now = names_of(other, log)
    metric = log.results.scores[0].name if log.results and log.results.scores else ""
    with tempfile.TemporaryDirectory(prefix="humeval-power-inspect-") as folder:
        paths = {}
        for number, (name, one) in enumerate(((before, other), (now, log))):
            path = str(Path(folder, f"{number}.json"))  # whatever format they are in, and wherever they lie
            write_eval_log(read_eval_log(one.location), path, format="json")
            paths[path] = name
        tables = hp.compare.read_scores(
            *paths, names=paths, scores=[metric] if metric else (), systems=(before, now), drop_missing=True
        )
    result: Any = hp.compare.scores(tables, question="mean", power_by="formula")
    first = result.body()
    table = next(iter(tables.values()))
    place = urlsplit(log.location)
    is_here = place.scheme in ("", "file")  # and not in a store of files elsewhere
    lines = (
        f"{now} beside {before}, {table.metric} on {table.n_items:,} items they share.",
        " ".join(first.lead.split()),
        *(
            [f"More: humeval-power page --folder {shlex.quote(str(Path(unquote(place.path)).parent))}"]
            if is_here
            else []
        ),
    )
    return "\n  ".join(lines)


def last_other(log: EvalLog) -> EvalLog | None:
    """The newest finished log of the same task beside this one that another model or prompt was asked for; its
    samples are not read."""
    folder = log.location.rsplit("/", 1)[0] or "."
    for info in list_eval_logs(folder, recursive=False)[:_LOOKED_AT]:
        if Path(info.name).name == Path(log.location).name or (
            info.task and info.task != _plain(log.eval.task)
        ):
            continue
        other = read_eval_log(info, header_only=True)
        is_same = other.eval.task == log.eval.task and other.status == "success"
        if (
            is_same
            and other.eval.task_id != log.eval.task_id
            and model_and_prompt(other) != model_and_prompt(log)
        ):
            return other
    return None


def model_and_prompt(log: EvalLog) -> dict[str, str]:
    """What a log says of its model and prompt: two that differ in it are two systems."""
    spec = log.eval
    said: dict[str, Any] = {"model": spec.model, "solver": spec.solver, **(spec.task_args_passed or {})}
    said |= spec.solver_args_passed or {}
    return {name: str(value) for name, value in said.items() if value is not None}


def names_of(before: EvalLog, now: EvalLog) -> tuple[str, str]:
    """What the two are called: by their models; by what else differs where that is one model."""
    if before.eval.model != now.eval.model:
        return before.eval.model, now.eval.model
    first, second = model_and_prompt(before), model_and_prompt(now)
    differ = [name for name in {**first, **second} if first.get(name) != second.get(name)]

    def named(said: dict[str, str]) -> Iterator[str]:
        for name in differ:
            yield f"{name}={said.get(name, 'none')[:40]}"

    return ", ".join(named(first)), ", ".join(named(second))


def _plain(task: str) -> str:
    """A task as the name of a file has it."""
    return task.rsplit("/", 1)[-1].replace("_", "-")
