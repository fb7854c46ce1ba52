"""How good the work of each worker is: checks, repeats, time, straight lines, agreement. Blind to the systems.

What rules for leaving out workers do, in words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.rows import FlowStep
from humeval_power.errors import InputError, Problem
from humeval_power.exclusions import RULES, ExclusionRules, RuleName, rule_words
from humeval_power.ratings import Ratings
from humeval_power.saying.numbers import counted
from humeval_power.scales import RatingScale
from humeval_power.worker_statistics import (
    agreement_over_items,
    failed_share,
    mean_by,
    median_by,
    same_answer_share,
)

if TYPE_CHECKING:
    import pandas as pd


Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]

_NEEDED = ("worker", "item", "system", "rating")


@dataclass(frozen=True, slots=True, eq=False)
class WorkerQuality:
    """Statistics of each worker's work; arrays of shape (n_workers,), NaN where a statistic is not known.

    `failed_checks` is the share of the `checks` answered that were failed; `repeats` the mean absolute difference
    of a rating and its repeat on [0, 1], over `repeated` of them; `seconds` the median time for a rating;
    `same_answer` the share of the most frequent answer; `agreement` the correlation with the others over
    `shared_items` items. `columns` are those of the table that the statistics could be taken from.
    """

    workers: tuple[str, ...]
    ratings: Codes
    checks: Codes
    failed: Codes
    repeated: Codes
    shared_items: Codes
    failed_checks: Floats
    repeats: Floats
    seconds: Floats
    same_answer: Floats
    agreement: Floats
    columns: frozenset[str]

    @property
    def statistics(self) -> dict[RuleName, Floats]:
        """The statistic that each rule is about."""
        values = (self.failed_checks, self.repeats, self.seconds, self.same_answer, self.agreement)
        return dict(zip(RULES, values, strict=True))

    def to_frame(self) -> pd.DataFrame:
        """One row for each worker, sorted by name."""
        import pandas as pd

        counts = {"ratings": self.ratings, "checks": self.checks, "failed": self.failed}
        shown = {name.replace("-", "_"): values for name, values in self.statistics.items()}
        return pd.DataFrame({"worker": list(self.workers), **counts, **shown})


@dataclass(frozen=True, slots=True, eq=False)
class RuleOutcome:
    """What one rule does: its limit, `broken` by which workers, `unknown` for which (n_workers,), and which of
    the columns that it needs the table does not have."""

    name: RuleName
    limit: float
    broken: Mask
    unknown: Mask
    missing_columns: tuple[str, ...]


_COLUMNS: dict[RuleName, tuple[str, ...]] = {
    "failed-checks": ("kind", "passed"),
    "repeats": ("kind",),
    "seconds": ("seconds",),
    "same-answer": (),
    "agreement": (),
}


def apply_rules(rules: ExclusionRules, quality: WorkerQuality) -> tuple[RuleOutcome, ...]:
    """What each rule that is set does to these workers, in the order in which rules are applied."""
    return tuple(
        RuleOutcome(
            name,
            rules.limits[name],
            broken,
            np.isnan(quality.statistics[name]),
            tuple(column for column in _COLUMNS[name] if column not in quality.columns),
        )
        for name, broken in rules.broken(quality.statistics).items()
    )


def worker_quality(collected: pd.DataFrame, scale: RatingScale) -> WorkerQuality:
    """The statistics of every worker of a collected table, blind to the systems.

    The column of systems only tells the outputs of an item apart where there is no column of codes: exchanging the
    systems of any item, for that item only, changes nothing.

    Parameters
    ----------
    collected : one row for each answer with the columns worker, item, system and rating, and where known
        criterion, kind (rating, repeat or check), code, seconds and passed (of a check: 1 or 0). Ratings are
        numbers on `scale`, NaN where none was given; without a column of kinds all rows are ratings.
    scale : the scale the ratings were given on.

    Raises
    ------
    InputError
        Columns that are missing.
    """
    missing = [name for name in _NEEDED if name not in collected.columns]
    if missing:
        remedy = f"The table has the columns {', '.join(map(str, collected.columns))}."
        raise InputError([Problem(f"there is no column {', '.join(missing)}.", remedy, place="collected")])
    kind = _kinds(collected)
    worker, workers = _coded([collected["worker"].astype(str)])
    names = tuple(collected["worker"].astype(str).iloc[first] for first in workers)
    n = len(names)
    rating = scale.to_unit(collected["rating"].to_numpy(dtype=np.float64))
    rated, repeat = np.isfinite(rating) & (kind == "rating"), np.isfinite(rating) & (kind == "repeat")
    tested = set(_COLUMNS["failed-checks"]) <= set(collected.columns)
    checks, failed = _checks(collected, worker, kind, n) if tested else (np.zeros(n, np.int64),) * 2
    criterion = [collected["criterion"].astype(str)] if "criterion" in collected.columns else []
    item, _ = _coded([*criterion, collected["item"].astype(str)])
    output, _ = _coded([*criterion, collected["item"].astype(str), _within_item(collected)])
    stratum = _coded(criterion)[0] if criterion else np.zeros(len(collected), dtype=np.int64)
    at, difference = _repeats(worker, output, rating, rated, repeat)
    seconds = np.full(n, np.nan)
    if "seconds" in collected.columns:
        taken = collected["seconds"].to_numpy(dtype=np.float64)
        seconds = median_by(worker[kind == "rating"], taken[kind == "rating"], n)
    shared, agreement = agreement_over_items(
        worker[rated], item[rated], output[rated], rating[rated], n, stratum=stratum[rated]
    )
    return WorkerQuality(
        workers=names,
        ratings=np.bincount(worker[rated], minlength=n),
        checks=checks,
        failed=failed,
        repeated=np.bincount(at, minlength=n),
        shared_items=shared,
        failed_checks=failed_share(failed, checks),
        repeats=mean_by(at, difference, n),
        seconds=seconds,
        same_answer=same_answer_share(worker[rated], rating[rated], n),
        agreement=agreement,
        columns=frozenset(map(str, collected.columns)),
    )


def _kinds(collected: pd.DataFrame) -> NDArray[np.str_]:
    if "kind" not in collected.columns:
        return np.full(len(collected), "rating")
    return collected["kind"].to_numpy(dtype=np.str_)


def _within_item(collected: pd.DataFrame) -> pd.Series:
    """What tells the outputs of an item apart: their codes where all have one, else the names of the systems."""
    if "code" in collected.columns:
        code = collected["code"]
        if not (code.isna() | (code.astype(str) == "")).any():
            return code.astype(str)
    return collected["system"].astype(str)


def _checks(collected: pd.DataFrame, worker: Codes, kind: NDArray[np.str_], n: int) -> tuple[Codes, Codes]:
    passed = collected["passed"].to_numpy(dtype=np.float64)
    answered = (kind == "check") & np.isfinite(passed)
    seen = np.bincount(worker[answered], minlength=n)
    return seen, np.bincount(worker[answered & (passed == 0)], minlength=n)


def _repeats(
    worker: Codes, output: Codes, rating: Floats, rated: Mask, repeat: Mask
) -> tuple[Codes, Floats]:
    """The worker of each repeat with a first rating, and how far both lie apart on [0, 1]."""
    cell = worker * np.int64(output.max(initial=0) + 1) + output
    firsts, place = np.unique(cell[rated], return_inverse=True)
    if not len(firsts):
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    first = np.bincount(place, rating[rated]) / np.bincount(place)
    at = np.minimum(np.searchsorted(firsts, cell[repeat]), len(firsts) - 1)
    known = firsts[at] == cell[repeat]
    return worker[repeat][known], np.abs(rating[repeat][known] - first[at[known]])


def _coded(columns: list[pd.Series]) -> tuple[Codes, Codes]:
    """Codes of the different rows of some columns, sorted by their values, and the first row of each."""
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        _, more = np.unique(column.to_numpy(dtype=np.str_), return_inverse=True)
        _, code = np.unique(code * np.int64(more.max(initial=0) + 1) + more, return_inverse=True)
    _, first, code = np.unique(code, return_index=True, return_inverse=True)
    return code.astype(np.int64), first.astype(np.int64)


# Workers whom rules leave out of an analysis, and the ratings that remain.

LEFT_OUT = "worker left out by a rule"  # how the steps of the flow begin
_UNIT = RatingScale(0, 1)


@dataclass(frozen=True, slots=True, eq=False)
class WorkerExclusion:
    """What rules do to the workers of a study: decided once, from all of their answers, blind to the systems.

    `outcomes` say of each rule by whom it is broken, in the order of `workers`. `sealed` tells whether the rules
    were chosen before there were ratings.
    """

    rules: ExclusionRules
    workers: tuple[str, ...]
    outcomes: tuple[RuleOutcome, ...]
    sealed: bool = False

    @property
    def first_broken(self) -> dict[str, RuleName]:
        """The workers who are left out, and the first rule that each of them breaks."""
        name: dict[str, RuleName] = {}
        for outcome in self.outcomes:
            for place in np.flatnonzero(outcome.broken):
                name.setdefault(self.workers[place], outcome.name)
        return name

    @property
    def not_applied(self) -> tuple[RuleOutcome, ...]:
        """Rules for which the table lacks columns."""
        return tuple(one for one in self.outcomes if one.missing_columns)

    def remaining(self, ratings: Ratings) -> Ratings:
        """The ratings of the workers who stay, with a step of the flow for each rule.

        Raises InputError: fewer than two workers stay, or only one of the systems.
        """
        broken = self.first_broken
        rule = np.array([broken.get(name, "") for name in ratings.worker_names], dtype=object)[
            ratings.worker
        ]
        kept = rule == ""
        if kept.all():
            return ratings
        self._check(ratings, kept)
        steps = []
        for name, limit in self.rules.limits.items():
            mine = rule == name
            if mine.any():
                n = len(np.unique(ratings.worker[mine]))
                workers = "1 worker" if n == 1 else f"{n:,} workers"
                reason = f"{LEFT_OUT}: {rule_words(name, limit)} ({workers})"
                steps.append(FlowStep("dropped", int(mine.sum()), reason))
        flow = ratings.flow and (*ratings.flow[:-1], *steps, FlowStep("analysed", int(kept.sum())))
        return replace(ratings.of_rows(np.asarray(kept)), flow=flow)

    def _check(self, ratings: Ratings, kept: np.ndarray) -> None:
        stay = len(np.unique(ratings.worker[kept]))
        if stay >= 2 and len(np.unique(ratings.system[kept])) == ratings.n_systems:
            return
        counted = "; ".join(
            f"{int(one.broken.sum()):,} {rule_words(one.name, one.limit)}" for one in self.outcomes
        )
        left = "nobody" if stay == 0 else "1 worker" if stay == 1 else "ratings of too few systems"
        raise InputError(
            f"{ratings.source}: the rules for leaving out workers leave {left} of {ratings.n_workers:,} workers, "
            f"which no test can be made of ({counted}). Report this. An analysis without the rules is another "
            "one than was planned."
        )


def exclude_workers(
    answers: pd.DataFrame, rules: ExclusionRules, *, sealed: bool = False
) -> WorkerExclusion:
    """Apply rules to the workers of a table of answers.

    answers : as `worker_answers` gives them, ratings on [0, 1]: everything that the workers answered, of all
        systems and criteria, with repeats and attention checks.
    """
    quality = worker_quality(answers, _UNIT)
    return WorkerExclusion(rules, quality.workers, apply_rules(rules, quality), sealed)


def exclusion_words(exclusion: WorkerExclusion) -> str:
    """'The rules leave out 2 of 12 workers. Workers who ...: 1. Workers whose ...: 1.'"""
    out = len(exclusion.first_broken)
    said = f"The rules leave out {out or 'none'} of {counted(len(exclusion.workers), 'worker')}."
    return " ".join([said, *rule_lines(exclusion)])


def rule_lines(exclusion: WorkerExclusion) -> Iterator[str]:
    """Each rule with the number of workers beyond its limit, or why it was not applied."""
    for one in exclusion.outcomes:
        said = f"Workers {rule_words(one.name, one.limit)}: "
        if one.missing_columns:
            names = " and ".join(map(repr, one.missing_columns))
            yield f"{said}NOT APPLIED, for the table has no column {names}."
            continue
        unknown = int(one.unknown.sum())
        yield f"{said}{int(one.broken.sum()):,}" + (f"; not known of {unknown:,}." if unknown else ".")
