"""Measures of agreement as the plain values that an analysis document holds and the forms read."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.inference.agreement.agreement import Agreement
from humeval_power.inference.agreement.reliability import IntraclassCorrelation
from humeval_power.inference.agreement.repeatability import Repeatability
from humeval_power.inference.item_bootstrap import Measure

Entry = dict[str, object]


def agreement_record(
    between: Sequence[Agreement],
    repeats: Sequence[Repeatability] = (),
    correlations: Sequence[IntraclassCorrelation] = (),
) -> dict[str, object]:
    """'between' and 'within' workers: lists of {measure, value, interval, reason}; and `n_repeated`, the
    outputs that a worker rated more than once, None where nobody looked.

    The further measures are given for all systems together, Krippendorff's ordinal alpha also within each.
    """
    found: list[Entry] = []
    for one in between:
        place = "" if one.system is None else f" within {one.system}"
        found.append(_entry(f"Krippendorff's alpha, ordinal{place}", one.alpha_ordinal))
        if one.system is None:
            found += [
                _entry("Krippendorff's alpha, interval", one.alpha_interval),
                _entry("share of equal ratings of two workers", one.exact),
                _entry("share at most one point apart", one.within_one),
            ]
    found += [
        _entry(f"intraclass correlation, {one.definition}, {_mean_of(one.n_ratings)}", one.measure)
        for one in correlations
    ]
    overall = [one for one in repeats if one.system is None]
    within = [entry for one in overall if one.n_cells for entry in _repeat_entries(one)]
    n_repeated = overall[0].n_cells if overall else None
    return {"between": found, "within": within, "n_repeated": n_repeated}


def _repeat_entries(one: Repeatability) -> list[Entry]:
    return [
        _entry("share of equal ratings of an output by the same worker", one.equal),
        _entry("mean absolute difference on [0, 1]", one.mean_difference),
        _entry("correlation of first and second rating", one.correlation),
        _entry("intraclass correlation ICC(1,1)", one.icc),
    ]


def _mean_of(n_ratings: float) -> str:
    return "single rating" if n_ratings == 1 else f"mean of {n_ratings:.3g} ratings"


def _entry(name: str, value: Measure) -> Entry:
    return {
        "measure": name,
        "value": value.value if value.is_defined else None,
        "interval": [value.low, value.high] if value.is_defined else None,
        "reason": value.reason,
    }
