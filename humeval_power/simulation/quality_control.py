"""Rules for leaving workers out, applied to a simulated study with its checks, repeats and times."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import USUAL_PASSING, USUAL_SECONDS, Exclusion
from humeval_power.designs import Assignment, Codes, Design
from humeval_power.errors import InputError, Problem, field_problem
from humeval_power.exclusions import ExclusionRules, RuleName
from humeval_power.simulation.study import (
    AT_RANDOM,
    CAREFUL,
    STRAIGHT,
    CollectedRatings,
    Losses,
    careless_responses,
    collect,
)
from humeval_power.study_counts import share_of
from humeval_power.worker_statistics import (
    agreement_over_items,
    failed_share,
    mean_by,
    median_by,
    same_answer_share,
)

# What careful and careless workers do beside rating: attention checks and time. Their ratings are in
# `losses`.

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """How workers meet checks, and how fast they are.

    passing, careless_passing : chances to pass an attention check, of careful and careless workers.
    seconds : a careful worker's median time for a rating; times are lognormal, with these standard deviations of
        the logarithm over workers and over ratings. Careless workers take `careless_pace` of it.
    """

    passing: float = USUAL_PASSING
    careless_passing: float = 0.4
    seconds: float = USUAL_SECONDS
    sd_log_worker: float = 0.3
    sd_log_rating: float = 0.5
    careless_pace: float = 0.1

    def __post_init__(self) -> None:
        shares = ("passing", "careless_passing")
        problems = [
            field_problem(name, getattr(self, name), "must be a share from 0 to 1.")
            for name in shares
            if not 0 <= getattr(self, name) <= 1
        ]
        for name, rule, least in (
            ("seconds", "must be a number above 0.", math.ulp(0)),
            ("careless_pace", "must be a number above 0.", math.ulp(0)),
            ("sd_log_worker", "must be a number of at least 0.", 0.0),
            ("sd_log_rating", "must be a number of at least 0.", 0.0),
        ):
            if not least <= getattr(self, name) < math.inf:
                problems.append(field_problem(name, getattr(self, name), rule))
        if problems:
            raise InputError(problems)


USUAL_BEHAVIOUR = Behaviour()


def checks_failed(
    kind: Codes, checks: int | Codes, behaviour: Behaviour, rng: np.random.Generator
) -> Codes:
    """How many of their attention checks workers fail, shape (n_workers,); `kind` as `draw_workers` gives."""
    failing = np.where(kind == CAREFUL, 1 - behaviour.passing, 1 - behaviour.careless_passing)
    return rng.binomial(checks, failing)


def checks_passed(worker: Codes, kind: Codes, behaviour: Behaviour, uniform: Floats) -> Mask:
    """Whether a check is passed, by numbers that were drawn uniformly: of its worker and of each showing
    (n_rows,)."""
    passing = np.where(kind == CAREFUL, behaviour.passing, behaviour.careless_passing)
    return np.asarray(uniform < passing[worker])


def seconds_taken(worker: Codes, kind: Codes, behaviour: Behaviour, rng: np.random.Generator) -> Floats:
    """The time that each rating takes, shape (n_ratings,); `kind` (n_workers,) as `draw_workers` gives."""
    drawn = rng.standard_normal(len(kind)), rng.standard_normal(len(worker))
    return seconds_of(worker, kind, behaviour, *drawn)


def seconds_of(
    worker: Codes, kind: Codes, behaviour: Behaviour, of_worker: Floats, of_rating: Floats
) -> Floats:
    """The same by standard normal numbers that were drawn before: of each worker (n_workers,) and each rating
    (n_ratings,)."""
    pace = np.where(kind == CAREFUL, 1.0, behaviour.careless_pace)
    own = pace * np.exp(behaviour.sd_log_worker * of_worker)
    each = np.exp(behaviour.sd_log_rating * of_rating)
    return np.asarray(behaviour.seconds * own[worker] * each)


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityControl:
    """Rules for leaving workers out, and what they can be seen by: attention `checks` and `repeats` (outputs shown
    again) as shares of each worker's ratings, as they are assigned (`share_of`), and how workers behave."""

    rules: ExclusionRules
    checks: float = 0.0
    repeats: float = 0.0
    behaviour: Behaviour = USUAL_BEHAVIOUR

    def __post_init__(self) -> None:
        problems = [] if self.rules else [Problem("there is no rule.", "Set the limit of one at least.")]
        problems += [
            field_problem(name, getattr(self, name), "must be a share from 0 to 1.")
            for name in ("checks", "repeats")
            if not 0 <= getattr(self, name) <= 1
        ]
        shares: dict[RuleName, float] = {"failed-checks": self.checks, "repeats": self.repeats}
        problems += [
            Problem(
                f"the rule {name} needs {what}, and none are planned.", f"Plan for them: {option} SHARE."
            )
            for name, what, option in _SEEN_BY
            if name in self.rules.limits and shares[name] == 0
        ]
        if problems:
            raise InputError(problems)


_SEEN_BY: tuple[tuple[RuleName, str, str], ...] = (
    ("failed-checks", "attention checks", "--checks"),
    ("repeats", "outputs that are shown again", "--repeats"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Again:
    """Outputs shown again: the `rows` of the design that are repeated, and what careful workers answer to them
    then; shape (n_repeats,)."""

    rows: Codes
    rating: Floats


def with_repeats(design: Design, repeats: float) -> tuple[Design, Codes]:
    """The design with a share of each worker's ratings, the first ones, once more at the end, and the rows that
    these repeat."""
    rows = design.assignment
    number = share_of(repeats, np.bincount(rows.worker, minlength=design.n_workers))
    order = np.argsort(rows.worker, kind="stable")
    place = np.arange(len(order)) - np.searchsorted(rows.worker[order], rows.worker[order])
    again = np.sort(order[place < number[rows.worker[order]]])
    both = np.concatenate([np.arange(len(rows.worker)), again])
    document = None if rows.document is None else rows.document[both]
    shown = Assignment(rows.worker[both], rows.item[both], rows.system[both], document)
    return replace(design, kind="table", explicit=shown), again


def control(
    how: QualityControl,
    back: CollectedRatings,
    again: Again,
    rows: Assignment,
    rng: np.random.Generator,
    *,
    losses: Losses,
    levels: Floats | None,
) -> CollectedRatings:
    """What came back without the workers whom the rules leave out.

    Who rates at random does so again where an output is shown again; who straight-lines gives the same answer.
    """
    kind, kept = back.kind, back.kept
    of = rows.worker[again.rows]
    anew = careless_responses(
        again.rating,
        of,
        np.where(kind == AT_RANDOM, AT_RANDOM, CAREFUL),
        rng,
        answers=losses.answers,
        levels=levels,
    )
    anew = np.where((kind == STRAIGHT)[of], back.rating[again.rows], anew)
    checks = share_of(how.checks, np.bincount(rows.worker, minlength=len(kind)))
    failed = failed_share(checks_failed(kind, checks, how.behaviour, rng), checks)
    seconds = seconds_taken(rows.worker, kind, how.behaviour, rng)
    known = _statistics(how, back, again.rows, anew, rows, failed, seconds)
    out = how.rules.left_out(known)
    return CollectedRatings(back.rating, kept & ~out[rows.worker], kind, out)


def own_rows(losses: Losses, exclusion: Exclusion | QualityControl) -> bool:
    """Whether each study has rows of its own: ratings get lost or workers are excluded."""
    by_rules = isinstance(exclusion, QualityControl)
    return losses.loses_rows or by_rules or (losses.careless > 0 and exclusion != "none")


def what_is_shown(design: Design, exclusion: Exclusion | QualityControl) -> tuple[Design, Codes]:
    """The design with outputs that are shown again at the end, and the rows that these repeat."""
    if not isinstance(exclusion, QualityControl) or not exclusion.repeats:
        return design, np.zeros(0, dtype=np.int64)
    return with_repeats(design, exclusion.repeats)


def come_back(
    given: Floats,
    design: Design,
    again: Codes,
    losses: Losses,
    exclusion: Exclusion | QualityControl,
    rng: np.random.Generator,
    *,
    levels: Floats | None,
) -> CollectedRatings:
    """What comes back from one study: its ratings, those that can be analysed, and who is left out.

    given : what careful workers would answer to all that `what_is_shown`, of which `again` are the repeated rows.
    """
    rows, n = design.assignment, design.n_ratings
    back = collect(
        given[:n],
        rows,
        losses,
        rng,
        n_workers=design.n_workers,
        levels=levels,
        exclusion="none" if isinstance(exclusion, QualityControl) else exclusion,
    )
    if not isinstance(exclusion, QualityControl):
        return back
    return control(exclusion, back, Again(again, given[n:]), rows, rng, losses=losses, levels=levels)


def _statistics(
    how: QualityControl,
    back: CollectedRatings,
    again: Codes,
    anew: Floats,
    rows: Assignment,
    failed: Floats,
    seconds: Floats,
) -> dict[RuleName, Floats]:
    """Those that the rules are about, (n_workers,) each."""
    kept, n_workers = back.kept, len(back.kind)
    worker, rating = rows.worker[kept], back.rating[kept]

    def agreement() -> Floats:
        output = rows.item[kept] * np.int64(rows.system.max() + 1) + rows.system[kept]
        return agreement_over_items(worker, rows.item[kept], output, rating, n_workers)[1]

    def repeats() -> Floats:
        seen = kept[again]
        apart = np.abs(anew - back.rating[again])[seen]
        return mean_by(rows.worker[again][seen], apart, n_workers)

    computed: dict[RuleName, Callable[[], Floats]] = {
        "failed-checks": lambda: failed,
        "repeats": repeats,
        "seconds": lambda: median_by(worker, seconds[kept], n_workers),
        "same-answer": lambda: same_answer_share(worker, rating, n_workers),
        "agreement": agreement,
    }
    return {name: computed[name]() for name in how.rules.limits}
