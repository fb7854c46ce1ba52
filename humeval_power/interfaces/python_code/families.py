"""Which tests of several systems are made together, as a call: only what differs from the usual family."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import Call, Value, call
from humeval_power.interfaces.python_code.typed import Typed

_CHOOSING = ("comparisons", "all_pairs", "baseline")


def family_of(typed: Typed) -> Call | None:
    """The family that was typed; None for the usual one."""
    comparisons, baseline = typed["comparisons"], typed["baseline"]
    if baseline is not None or comparisons == "baseline":
        kind: Value = "baseline"
    else:
        kind = None  # all pairs, as usual
    typed["all_pairs"]
    named: dict[str, Value] = {
        "comparisons": kind,
        "baseline": baseline,
        "model": typed["model"],
        "variances": typed["system_variances"],
        "correction": typed["correction"],
        "over": typed["correct_over"],
    }
    usual = {"model": "pairwise", "variances": "own", "correction": "holm", "over": "all"}
    found = {name: value for name, value in named.items() if value is not None and value != usual.get(name)}
    return call("hp.models.ComparisonFamily", **found) if found else None
