"""MQM annotations: a row for each error, of which the rating of an output is minus the sum of its weights."""

from __future__ import annotations

import json
from collections.abc import Mapping as MappingType

import pandas as pd

from humeval_power.checking.exports.export import Export
from humeval_power.checking.exports.mapping import Mapping, RatingColumns
from humeval_power.checking.exports.templates import Template
from humeval_power.checking.rows import ROW_INDEX, FlowStep
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.exports.platform import Platform
from humeval_power.interfaces.formats.exports.raw import RawExport

COLUMNS = ("system", "doc", "seg_id", "rater", "category", "severity")
WEIGHTS: MappingType[str, float] = {
    "major": 5.0,
    "critical": 5.0,
    "minor": 1.0,
    "neutral": 0.0,
    "no-error": 0.0,
}
NON_TRANSLATION = 25.0  # Freitag et al. (2021), Table 2
MINOR_PUNCTUATION = 0.1
MOST_ERRORS = 5  # that annotators were asked to mark in a segment
_NO_ERROR = ("no-error", "no error", "no_error", "noerror")


def weight_of(category: str, severity: str) -> float | None:
    """The weight of an error by Freitag et al. (2021, Table 2): major 5, minor 1, minor punctuation .1, a segment
    that is no translation 25; None for a severity that is none of theirs."""
    kind, degree = category.strip().casefold(), severity.strip().casefold()
    if kind in _NO_ERROR or degree in _NO_ERROR:
        return 0.0
    if kind.startswith("non-translation"):
        return NON_TRANSLATION
    if degree == "minor" and kind.startswith("fluency/punctuation"):
        return MINOR_PUNCTUATION
    return WEIGHTS.get(degree)


def _known_by(found: RawExport) -> str | None:
    if set(COLUMNS) <= set(found.head.split("\n", 1)[0].rstrip("\r").split("\t")):
        return f"its columns are {', '.join(COLUMNS)}: a row for each error"
    return None


def _read(found: RawExport, why: str) -> Export:
    table = found.tab_table
    pairs = pd.Series(list(zip(table["category"], table["severity"], strict=True)), index=table.index)
    weights = {pair: weight_of(*map(str, pair)) for pair in pairs.unique()}
    unknown = [pair for pair, weight in weights.items() if weight is None]
    if unknown:
        rows = table.index[pairs.isin(unknown)]
        rule = f"no weight is known for the severity {unknown[0][1]!r}; there are {', '.join(WEIGHTS)}."
        remedy = "Change it, or give scores instead of errors."
        raise InputError([Problem(rule, remedy, found.source, int(rows[0]), "severity")])
    keys = ["rater", "system", "doc", "seg_id"]
    sums = table.assign(weight=pairs.map(weights).astype(float)).groupby(keys, sort=False)["weight"].sum()
    first = table.assign(row=table.index).groupby(keys, sort=False)["row"].first()
    frame = sums.reset_index()
    frame["item"] = frame["doc"].astype(str) + ":" + frame["seg_id"].astype(str)
    frame["rating"] = [f"{-weight + 0.0:.12g}" for weight in frame["weight"]]
    frame.index = pd.Index(first.to_numpy(), name=ROW_INDEX)
    return Export(
        platform="mqm",
        why=why,
        source=found.source,
        frame=frame.drop(columns="weight").astype(str),
        mapping=Mapping(
            ratings=(RatingColumns(Template("rating")),),
            columns={"worker": Template("rater"), "item": Template("item"), "system": Template("system")},
            keep=("doc",),
        ),
        flow=(FlowStep("read", len(table), f"errors and segments without any, of {len(frame):,} outputs"),),
        notices=(
            *found.notices,
            f"Errors are weighed: {json.dumps(dict(WEIGHTS))}, minor punctuation {MINOR_PUNCTUATION:g}, no "
            f"translation {NON_TRANSLATION:g} (Freitag et al. 2021); a rating is minus their sum, so that higher "
            "is better.",
        ),
        person="rater",
    )


MQM = Platform("mqm", "MQM", _known_by, _read)
