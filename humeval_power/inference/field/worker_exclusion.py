"""Workers whom rules leave out of an analysis, and the ratings that remain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from humeval_power.checking.rows import FlowStep
from humeval_power.errors import InputError
from humeval_power.exclusions import ExclusionRules, RuleName, rule_words
from humeval_power.inference.field.worker_quality import RuleOutcome, apply_rules, worker_quality
from humeval_power.ratings import Ratings
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    import pandas as pd

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
        found: dict[str, RuleName] = {}
        for outcome in self.outcomes:
            for place in np.flatnonzero(outcome.broken):
                found.setdefault(self.workers[place], outcome.name)
        return found

    @property
    def not_applied(self) -> tuple[RuleOutcome, ...]:
        """Rules for which the table lacks columns."""
        return tuple(one for one in self.outcomes if one.missing_columns)

    def remaining(self, ratings: Ratings) -> Ratings:
        """The ratings of the workers who stay, with a step of the flow for each rule.

        Raises
        ------
        InputError
            Fewer than two workers stay, or only one of the systems.
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
