"""Tables of scores with runs: item, system, run and score, one of each a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from humeval_power.checking.cells import (
    LISTED,
    MISSING_CODES,
    cell_problems,
    read_cells,
    read_numbers,
)
from humeval_power.checking.columns import (
    ITEM_NUMBERS,
    ROLES,
    Column,
    absent_names,
    find_columns,
    listing,
    named_column,
    shortened,
)
from humeval_power.checking.suspects import cluster_suspects
from humeval_power.comparisons.runs.testing import RunTable
from humeval_power.errors import InputError, ParametersError, Problem, first_few, refusal, refuse
from humeval_power.files.file_bytes import read_object
from humeval_power.files.tables import SourceTable, clusters_of, read_table, with_metric
from humeval_power.runs_parameters import GENERATIONS, PROMPTS, RunsFamily, RunsKind, RunsParameters
from humeval_power.saying.numbers import counted

RUN = Column(("run", *sorted(GENERATIONS | PROMPTS)), option="--run", is_id=True)
ITEM = Column(
    ("item", "question", "task", *ROLES["item"].names[1:], *ITEM_NUMBERS), option="--item", is_id=True
)
SYSTEM = ROLES["system"]
SCORE = Column(
    (
        *("score", "value", "rating", "metric", "correct", "accuracy", "acc", "exactmatch", "em", "f1"),
        *("result", "reward", "passed", "iscorrect"),
    ),
    option="--score",
)

_UNNAMED: Mapping[str, str | None] = {}


def read_runs(
    path: str | Path,
    *,
    item: str | None = None,
    system: str | None = None,
    run: str | None = None,
    score: str | None = None,
    systems: Sequence[str] = (),
    cluster: str | None = None,
    drop_missing: bool = False,
) -> RunTable:
    """Read scores of systems on items in several runs, one a row.

    Parameters
    ----------
    path : a table with the columns item, system, run and score.
    item, system, run, score : these columns; found by their names if None.
    systems : those to keep, A first; all, as they come, if none is named.
    cluster : a column of clusters of items.
    drop_missing : leave out rows without a score, and items that then lack a system.

    Raises
    ------
    InputError
        All problems at once: columns, cells that are no numbers, scores that stand there twice, items that lack
        a system.
    """
    return run_table(
        read_table(path),
        named={"item": item, "system": system, "run": run, "score": score},
        systems=systems,
        cluster=cluster,
        drop_missing=drop_missing,
    )


def holds_runs(table: SourceTable) -> bool:
    """Whether a table is one of scores in several runs, which no worker gave."""
    columns = [str(name) for name in table.frame.columns]
    if any(ROLES["worker"].fits(name) for name in columns):
        return False
    try:
        find_columns(columns, [RUN, SYSTEM, ITEM, SCORE], source=table.source)
    except InputError:
        return False
    return True


def run_table(
    table: SourceTable,
    *,
    named: Mapping[str, str | None] = _UNNAMED,
    systems: Sequence[str] = (),
    cluster: str | None = None,
    drop_missing: bool = False,
) -> RunTable:
    """The same from a table that has been read; `named` are the columns of item, system, run and score."""
    columns = list(table.frame.columns)
    if cluster is not None:
        named_column(cluster, columns, option="--cluster", source=table.source)
    only = table.scores[0] if len(table.scores) == 1 else None  # the one metric of a log
    result = find_columns(
        columns,
        [RUN, SYSTEM, ITEM, SCORE],
        named={**named, "score": named.get("score") or only},
        source=table.source,
        taken=() if cluster is None else (cluster,),
    )
    of = result.of
    table = with_metric(table, of["score"], item=of["item"])
    notices = [*table.notices, *result.notices]
    rows, chosen = _of_systems(table, of["system"], systems)
    values, problems = _scores(rows, of["score"], drop_missing)
    texts = {}
    for role in ("item", "system", "run"):
        ids = rows.ids(of[role], role, problems, may_look_alike=True)
        texts[role] = np.array([*ids.names, ""], dtype=object)[ids.code]
    problems += _doubled(rows, texts)
    refuse(problems)
    here = np.isfinite(values)
    if n := int((~here).sum()):
        notices.append(f"Left out without a score: {counted(n, 'row')}.")
    here &= _complete(texts, here, chosen, table.source, drop_missing, notices)
    item, items = pd.factorize(texts["item"][here])
    run, runs = pd.factorize(texts["run"][here])
    return RunTable(
        item.astype(np.int64),
        np.array([chosen.index(name) for name in texts["system"][here]], dtype=np.int64),
        run.astype(np.int64),
        values[here],
        tuple(items),
        chosen,
        tuple(runs),
        run_column=of["run"],
        metric=of["score"],
        clusters=None
        if cluster is None
        else clusters_of(table, cluster, list(items), item_column=of["item"]),
        suspects=()
        if cluster is not None
        else cluster_suspects(table.frame, item=of["item"], taken=set(of.values())),
        source=table.source,
        sha256=table.sha256,
        notices=tuple(notices),
    )


def _of_systems(
    table: SourceTable, column: str, names: Sequence[str]
) -> tuple[SourceTable, tuple[str, ...]]:
    """The rows of the systems that are asked for, all if none is, and their names, A first."""
    cells = table.frame[column].fillna("").astype(str).str.strip()
    known = [name for name in dict.fromkeys(cells) if name]
    problems = absent_names(names, known, "system", place=table.source)
    if not problems and len(names or known) < 2:
        rule = f"two systems are needed; there is only {listing(names or known)}."
        problems = [Problem(rule, "", place=table.source, column=column)]
    refuse(problems)
    rows = table._replace(frame=table.frame[cells.isin(names)]) if names else table
    return rows, tuple(names or known)


def _scores(
    table: SourceTable, column: str, drop_missing: bool
) -> tuple[NDArray[np.float64], list[Problem]]:
    """The scores, NaN where there is none, and the cells that are no scores."""
    cells, at = read_cells(table.frame[column]), table.at(column)
    numbers = read_numbers(cells, missing=MISSING_CODES)
    bad = ~numbers.missing & ~np.isfinite(numbers.value)
    problems = cell_problems(bad, cells, at=at, rule="is no finite number.", remedy="Correct the cell.")
    if not drop_missing:
        rule, remedy = "the score is missing.", "Leave such rows out: --drop-missing."
        problems += cell_problems(numbers.missing, cells, at=at, rule=rule, remedy=remedy)
    return numbers.value, problems


def _doubled(table: SourceTable, texts: Mapping[str, NDArray[np.object_]]) -> list[Problem]:
    """Scores of one item, system and run that stand there twice."""
    doubled = np.flatnonzero(pd.DataFrame(dict(texts)).duplicated().to_numpy())
    problems = [
        Problem(
            f"item {shortened(texts['item'][row])!r} has a second score of system "
            f"{shortened(texts['system'][row])!r} in run {shortened(texts['run'][row])!r}.",
            "Keep one, average them first, or name the column that tells them apart: --run COLUMN.",
            place=table.source,
            row=int(table.frame.index[row]),
        )
        for row in doubled[:LISTED].tolist()
    ]
    return first_few(problems, most=LISTED, total=len(doubled))


def _complete(
    texts: Mapping[str, NDArray[np.object_]],
    here: NDArray[np.bool_],
    systems: Sequence[str],
    source: str,
    drop_missing: bool,
    notices: list[str],
) -> NDArray[np.bool_]:
    """The rows of items that have a score of every system; others are refused, or left out where that is asked."""
    seen = pd.DataFrame({"item": texts["item"][here], "system": texts["system"][here]}).drop_duplicates()
    n_systems = seen.groupby("item", sort=False).size()
    lacking = {item for item in texts["item"] if n_systems.get(item, 0) < len(systems)}
    if lacking and not drop_missing:
        of_first = next(item for item in texts["item"] if item in lacking)
        known = set(seen.loc[seen["item"] == of_first, "system"])
        absent = listing([name for name in systems if name not in known])
        items = f"{counted(len(lacking), 'item')}, such as {shortened(str(of_first))!r}"
        rule = f"lacks a system for {items} (no score of {absent})."
        remedy = "Leave such items out: --drop-missing; or name systems that answered all: --systems A,B."
        raise refusal(rule, remedy, place=source)
    if lacking:
        notices.append(f"Left out for want of a score of a system: {counted(len(lacking), 'item')}.")
    return np.array([item not in lacking for item in texts["item"]])


# What a pilot says of the scores of repeated runs: the record that `compare runs test` writes.

_HINT = "Write it by: humeval-power compare runs test TABLE -o pilot.json."


def read_pilot(
    path: str | Path,
    *,
    systems: Sequence[str] = (),
    kind: RunsKind | None = None,
    family: RunsFamily | None = None,
    **changed: Any,
) -> RunsParameters:
    """The parameters in the record of a pilot, or in a JSON file of parameters alone.

    systems : the two whose comparison is read, where the record has several.
    kind, family : what the pilot must be of.
    changed : parameters in place of the pilot's, such as `icc`.

    Raises
    ------
    InputError
        A file that is no such record, one of several pairs without a choice, a pair without parameters, or a
        pilot of another kind or family.
    ParametersError
        Values that cannot be.
    """
    result = _read(path, systems)
    options = {"kind": kind, "family": family}
    other = [name for name, one in options.items() if one not in (None, getattr(result, name))]
    if other:
        rule = f"holds {result.kind} runs, family {result.family}."
        remedy = f"It was asked about {options[other[0]]} ones: leave that out, or give another pilot."
        raise refusal(rule, remedy, place=str(path))
    return replace(result, **changed)


def _read(path: str | Path, systems: Sequence[str]) -> RunsParameters:
    place, result = str(path), read_object(path, hint=_HINT)
    if "sd_item" in result and "kind" in result:
        return _parameters(result, place)
    pairs = result.get("comparisons")
    if not str(result.get("schema", "")).startswith("humeval_power/runs_test/") or not isinstance(
        pairs, list
    ):
        raise refusal("is no record of a test of repeated runs.", _HINT, place=place)
    return _parameters(_chosen(pairs, systems, place), place)


def _chosen(pairs: list[Any], systems: Sequence[str], place: str) -> Any:
    names = [_names(pair, place) for pair in pairs]
    if systems:
        wanted = [pair for pair, of in zip(pairs, names, strict=True) if sorted(of) == sorted(systems)]
        if not wanted:
            raise refusal(f"has no pair of {_quoted(systems)}.", f"It has {_list(names)}.", place=place)
        turned = _names(wanted[0], place) != tuple(systems)
        return _turned(wanted[0]["parameters"]) if turned else wanted[0]["parameters"]
    if len(pairs) != 1:
        rule = f"has {len(pairs)} pairs of systems."
        raise refusal(rule, f"Choose one with --systems: {_list(names)}.", place=place)
    return pairs[0]["parameters"]


def _turned(parameters: Any) -> Any:
    """The parameters with A and B exchanged."""
    if not isinstance(parameters, dict):
        return parameters
    swapped = dict(parameters)
    for one, other in (("sd_run_a", "sd_run_b"), ("sd_run_b", "sd_run_a")):
        if other in parameters:
            swapped[one] = parameters[other]
    effect = parameters.get("effect")
    if isinstance(effect, int | float):
        swapped["effect"] = -effect
    return swapped


def _names(pair: Any, place: str) -> tuple[str, ...]:
    if not isinstance(pair, dict) or not isinstance(pair.get("systems"), list) or "parameters" not in pair:
        raise refusal("has a comparison without systems or parameters.", _HINT, place=place)
    return tuple(str(name) for name in pair["systems"])


def _parameters(values: Any, place: str) -> RunsParameters:
    if not isinstance(values, dict):
        rule = "has no parameters for this pair: its scores vary too little to say how."
        raise refusal(rule, "Take a larger pilot, or give the deviations by options.", place=place)
    try:
        return RunsParameters.from_dict(values)
    except ParametersError as error:
        raise refusal(str(error), _HINT, place=place) from None


def _quoted(names: Sequence[str]) -> str:
    return " and ".join(repr(name) for name in names)


def _list(pairs: Sequence[Sequence[str]]) -> str:
    return "; ".join(repr(",".join(of)) for of in pairs[:6])
