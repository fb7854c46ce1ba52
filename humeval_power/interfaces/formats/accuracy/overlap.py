"""Tables of pairs of systems, and the record of a regression that was fitted to them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from humeval_power.checking.columns import find_columns
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.accuracy.results import (
    ACCURACY,
    BASELINE,
    IMPROVEMENT,
    ROUNDED,
    check_accuracies,
    unit_of,
)
from humeval_power.interfaces.formats.columns import NumberColumn, read_numbers_of
from humeval_power.interfaces.formats.json_text import read_object
from humeval_power.interfaces.formats.tables import read_table
from humeval_power.planning.accuracy.overlap import SystemPair
from humeval_power.scenarios.accuracy.agreement import OverlapRegression

_AGREEMENT = NumberColumn(
    ("agreement", "overlap", "agree", "observed_agreement"), low=0, may_be_percent=True
)
_HINT = "Write it by: humeval-power accuracy overlap TABLE -o overlap.json."


def read_system_pairs(path: str | Path) -> tuple[list[SystemPair], bool]:
    """Pairs from a table with the columns baseline, improvement (or accuracy) and agreement, and whether it was in
    per cent (a number above 1).

    Raises
    ------
    InputError
        Missing or ambiguous columns, cells that are no numbers, pairs that cannot be; all of them.
    """
    table = read_table(path)
    names = list(map(str, table.frame.columns))
    tells_gain = any(map(IMPROVEMENT.fits, names))
    tells_score = any(map(ACCURACY.fits, names))
    wanted = [BASELINE, IMPROVEMENT if tells_gain or not tells_score else ACCURACY, _AGREEMENT]
    found = find_columns(names, wanted, source=table.source).of
    values = read_numbers_of(table, wanted)
    unit = unit_of(table, values, BASELINE, _AGREEMENT)
    baseline, agreement = values["baseline"] / unit, values["agreement"] / unit
    gain = values["improvement"] / unit if "improvement" in values else values["accuracy"] / unit - baseline
    check_accuracies(table, baseline, gain, column=found["baseline"])
    pairs, problems = [], []
    for row, before, by, alike in zip(table.frame.index, baseline, gain, agreement, strict=True):
        pairs.append(SystemPair(float(min(before, before + by)), float(abs(by)), float(alike)))
        least, most = abs(2 * before + by - 1) - 2 * ROUNDED, 1 - abs(by) + 1e-9
        if not least <= alike <= most:
            rule = f"the accuracies are {abs(by):.4g} apart, so that at most {1 - abs(by):.4g} can agree."
            if alike < least:
                rule = f"with accuracies of {before:.4g} and {before + by:.4g} at least {least:.4g} agree."
            problems.append(
                Problem(
                    rule,
                    "Correct the row.",
                    table.source,
                    int(row),
                    found["agreement"],
                    alike,
                    has_value=True,
                )
            )
    if problems:
        raise InputError(problems)
    return pairs, unit != 1


def read_overlap(path: str | Path) -> OverlapRegression:
    """The regression in a record that `accuracy overlap` wrote.

    Raises
    ------
    InputError
        A file that is no such record, or whose numbers are none.
    """
    place, found = str(path), read_object(path, hint=_HINT)
    kept = found.get("overlap")
    if not str(found.get("schema", "")).startswith("humeval_power/accuracy_overlap/") or not isinstance(
        kept, dict
    ):
        raise InputError([Problem("is no record of a regression of agreement.", _HINT, place=place)])
    seen = kept.get("seen")
    ends = seen if isinstance(seen, list) and len(seen) == 2 else [None, None]
    fields = ("constant", "per_accuracy", "per_difference")
    named: dict[str, Any] = {
        **{name: kept.get(name) for name in fields},
        "seen from": ends[0],
        "seen to": ends[1],
    }
    problems = [
        Problem(
            "must be a finite number.",
            _HINT,
            place,
            None,
            f"overlap.{name}",
            value,
            has_value=True,
            noun="field",
        )
        for name, value in named.items()
        if not _is_number(value)
    ]
    if problems:
        raise InputError(problems)
    constant, per_accuracy, per_difference, low, high = (float(value) for value in named.values())
    return OverlapRegression(Path(path).stem, constant, per_accuracy, per_difference, (low, high))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
