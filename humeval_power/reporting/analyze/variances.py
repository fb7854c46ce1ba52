"""Variances of several systems in one fit: their words, their table, and the check by the other kind."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from humeval_power.reporting.document import Block, Paragraph, Table
from humeval_power.reporting.numbers import counted, p_words

if TYPE_CHECKING:
    from humeval_power.estimation.joint.fit import JointFit
    from humeval_power.inference.study.many_systems import ModelCheck, VariancesCheck

_BY_MODEL = {"pairwise": "By fits in pairs", "joint": "By one fit of all systems"}
VARIANCES_WORDS = {
    "common": "which takes it that workers and items differ alike between any two systems",
    "own": "in which each system has its own variances of workers and of items",
}
WARNING = "WARNING: "
_MOST_LISTED = 6


def sds_words(fitted: JointFit) -> str:
    """The SDs that are not of one system."""
    sds = ", ".join(
        f"{name.removeprefix('sd_').replace('_', ' x ')} {value:.4f}"
        for name, value in fitted.standard_deviations.items()
        if " of " not in name
    )
    difference = (
        "is 1.41 times worker x system"
        if fitted.variances == "common"
        else "is the root of the sum of their two squared SDs worker x system"
    )
    return f"SDs on [0, 1]: {sds}. That of a worker's difference between two systems {difference}."


def zeros_words(names: Sequence[str]) -> str:
    """SDs that were estimated as zero; those of single systems are counted, for their table names them."""
    shared = [name for name in names if " of " not in name]
    own = len(names) - len(shared)
    if own:
        shared.append(f"{counted(own, 'SD')} of single systems (see the table)")
    return listed(shared)


def system_sds(fitted: JointFit, called: Mapping[str, str]) -> Iterator[Block]:
    """How much workers and items differ about each system, from a fit with its own variances.

    called : what each system is called here, by its name
    """
    sds = fitted.standard_deviations
    yield Paragraph(
        "SDs on [0, 1] of what a worker, or an item, gives one system beyond what it gives all."
    )
    rows = [
        (
            shown,
            f"{sds[f'sd_worker_system of {name}']:.4f}",
            f"{sds[f'sd_item_system of {name}']:.4f}",
        )
        for name, shown in called.items()
    ]
    yield Table(("system", "worker x system", "item x system"), tuple(rows))


def check_words(check: VariancesCheck, called: Mapping[tuple[str, str], str]) -> str:
    """What the other kind of variances makes of the comparisons, which are `called` by first and second."""
    other = f"With {_kind(check)} variances, as a check that decides nothing,"
    if check.reason:
        return f"{other} there is no result: {check.reason}"
    return f"{other} {_outcome(check, called)}."


def other_model_words(check: ModelCheck, called: Mapping[tuple[str, str], str]) -> str:
    """What the other model makes of the comparisons, which are `called` by first and second."""
    if check.reason:
        return f"{_BY_MODEL[check.model]} there is no check: {check.reason}."
    return f"{_BY_MODEL[check.model]}, as a check that decides nothing, {_outcome(check, called)}."


def _outcome(check: VariancesCheck | ModelCheck, called: Mapping[tuple[str, str], str]) -> str:
    """How many comparisons come out otherwise, and which."""
    if not check.parted:
        return "every comparison comes out the same"
    corrected = {(one.first, one.second): one.corrected_p for one in check.results}
    pairs = [f"{called[pair]} ({p_words(corrected[pair])})" for pair in check.parted]
    of = counted(len(check.results), "comparison")
    come = "comes" if len(pairs) == 1 else "come"
    return f"{len(pairs)} of {of} {come} out otherwise (corrected p): {listed(pairs)}"


def ratio_words(check: VariancesCheck) -> Iterator[str]:
    """Whether the ratings tell own from common variances."""
    if not math.isnan(check.p_value):
        yield (
            f"Likelihood ratio of own against common variances: {check.statistic:.1f} on {check.df} df, "
            f"{p_words(check.p_value)}; asymptotic, and rough with few workers. It does not choose the model: "
            "chosen on the same ratings, the tests err more often than they say."
        )


def check_remarks(check: VariancesCheck | None) -> tuple[str, ...]:
    """A warning where decisions depend on the kind of variances."""
    if check is None or not check.parted:
        return ()
    return (
        f"{_depends(check)} on the variances: with {_kind(check)} ones the decision is another. See the notes.",
    )


def model_remarks(check: ModelCheck | None) -> tuple[str, ...]:
    """A warning where decisions depend on the model: fits in pairs, or one of all systems."""
    if check is None or not check.parted:
        return ()
    by = "fits in pairs" if check.model == "pairwise" else "one fit of all systems"
    return (f"{_depends(check)} on the model: by {by} the decision is another. See the notes.",)


def _depends(check: VariancesCheck | ModelCheck) -> str:
    of = counted(len(check.results), "comparison")
    return f"{WARNING}{len(check.parted)} of {of} {'depends' if len(check.parted) == 1 else 'depend'}"


def listed(names: Sequence[str]) -> str:
    """Names in a row, the first of many."""
    more = len(names) - _MOST_LISTED
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:_MOST_LISTED])} and {more} more"


def _kind(check: VariancesCheck) -> str:
    return "common" if check.variances == "common" else "each system's own"
