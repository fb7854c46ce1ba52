"""What careful and careless workers do beside rating: attention checks and time. Their ratings are in `losses`.

Nothing here is estimated from data: it says what is assumed where checks and seconds are simulated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import USUAL_PASSING, USUAL_SECONDS
from humeval_power.designs import Codes
from humeval_power.errors import InputError, field_problem
from humeval_power.simulation.losses import CAREFUL

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
