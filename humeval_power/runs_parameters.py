"""How scores of two systems vary when answers are generated several times, or several prompts are tried."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, get_args

from humeval_power.errors import ParametersError, Problem, field_problem

RunsKind = Literal["nested", "crossed"]
RunsFamily = Literal["gaussian", "binary"]

# Names of columns of runs, by the kind that they speak for.
PROMPTS = frozenset(
    {
        *(
            "prompt",
            "template",
            "instruction",
            "instructions",
            "persona",
            "phrasing",
            "paraphrase",
            "wording",
        ),
        *(
            "promptvariant",
            "prompttemplate",
            "variant",
            "fewshot",
            "shots",
            "demonstration",
            "demonstrations",
        ),
        *("seed", "checkpoint"),
    }
)
GENERATIONS = frozenset(
    {
        *(
            "generation",
            "gen",
            "sample",
            "completion",
            "attempt",
            "epoch",
            "repeat",
            "repetition",
            "replicate",
        ),
        *("rollout", "draw", "trial", "try", "iteration", "resample"),
    }
)

_DEVIATIONS = (
    "sd_item",
    "sd_run_a",
    "sd_run_b",
    "sd_prompt_slope",
    "sd_residual",
    "sd_item_level",
    "sd_prompt_level",
)
_OF_NESTED = ("sd_run_a", "sd_run_b")
_OF_CROSSED = ("sd_prompt_slope", "sd_residual", "sd_item_level", "sd_prompt_level")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsParameters:
    """Standard deviations of scores by item, system and run (a generation, a prompt or a seed).

    `nested`: each item's answers are generated anew, k times by each system. An item's true difference B - A
    varies by `sd_item`, and a generation about the item's own mean by `sd_run_a` or `sd_run_b`, all in the unit
    of the scores, for answers that are right or wrong too (there sd_run_a^2 is the mean of p (1 - p)).

    `crossed`: the same prompts (or seeds) for all items and both systems. A prompt's own difference varies by
    `sd_prompt_slope`, an item's by `sd_item`, a score by `sd_residual`; `sd_item_level` and `sd_prompt_level` are
    what both systems share, which cancels from differences of Gaussian scores. In the unit of the scores; of
    answers that are right or wrong on the scale of log odds, where sd_residual is zero.

    `icc` is the correlation of true differences of two items of one cluster. `baseline` is the mean score of both
    systems (of the binary family: the share that is right), `effect` the difference B - A that was seen.

    Examples
    --------
    >>> pilot = RunsParameters(kind="nested", sd_item=0.3, sd_run_a=0.4, sd_run_b=0.4)
    >>> round(pilot.error_variance(n_items=100, runs_a=4, runs_b=4) ** 0.5, 4)
    0.0412
    >>> round(pilot.removable_share(runs_a=4, runs_b=4), 3)
    0.471
    """

    kind: RunsKind
    family: RunsFamily = "gaussian"
    sd_item: float
    icc: float = 0.0
    sd_run_a: float = 0.0
    sd_run_b: float = 0.0
    sd_prompt_slope: float = 0.0
    sd_residual: float = 0.0
    sd_item_level: float = 0.0
    sd_prompt_level: float = 0.0
    baseline: float | None = None
    effect: float | None = None

    def __post_init__(self) -> None:
        problems = [
            field_problem(name, getattr(self, name), f"must be one of {', '.join(words)}.")
            for name, words in (("kind", get_args(RunsKind)), ("family", get_args(RunsFamily)))
            if getattr(self, name) not in words
        ]
        for name in (*_DEVIATIONS, "icc", "baseline", "effect"):
            value = getattr(self, name)
            if value is None and name in {"baseline", "effect"}:
                continue
            if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
                problems.append(field_problem(name, value, "must be a finite number."))
            elif name in _DEVIATIONS and value < 0:
                problems.append(field_problem(name, value, "a standard deviation cannot be negative."))
            elif name == "icc" and not 0 <= value <= 1:
                problems.append(field_problem(name, value, "must lie between 0 and 1."))
        if not problems:
            problems = [*self._foreign(), *self._of_binary()]
        if problems:
            raise ParametersError(problems)

    def _foreign(self) -> list[Problem]:
        foreign = _OF_CROSSED if self.kind == "nested" else _OF_NESTED
        rule = f"{self.kind} runs have no such parameter."
        return [field_problem(name, getattr(self, name), rule) for name in foreign if getattr(self, name)]

    def _of_binary(self) -> list[Problem]:
        if self.family != "binary":
            return []
        problems = []
        if self.baseline is None or not 0 < self.baseline < 1:
            problems.append(field_problem("baseline", self.baseline, "must be a share between 0 and 1."))
        if self.kind == "crossed" and self.sd_residual:
            rule = "right or wrong answers have none beside the log odds; leave it at 0."
            problems.append(field_problem("sd_residual", self.sd_residual, rule))
        return problems

    def error_variance(
        self,
        *,
        n_items: float,
        runs_a: float,
        runs_b: float | None = None,
        cluster_size: float = 1.0,
        cluster_cv: float = 0.0,
    ) -> float:
        """Variance of the estimated difference B - A, in the parameters' unit.

        n_items : items that both systems answer. runs_a, runs_b : generations of an item by each system, or the
        prompts (one number). cluster_size, cluster_cv : mean items in a cluster, and the sizes' coefficient of
        variation. Infinity of items or runs gives what is left without end of them.

        Nested: [sd_item^2 (1 + (c - 1) icc) + sd_run_a^2 / runs_a + sd_run_b^2 / runs_b] / n; crossed:
        sd_prompt_slope^2 / m + [sd_item^2 (1 + (c - 1) icc) + 2 sd_residual^2 / m] / n; c = size (1 + cv^2).
        """
        size = cluster_size * (1 + cluster_cv**2)
        between = self.sd_item**2 * (1 + (size - 1) * self.icc)
        if self.kind == "nested":
            noise = self.sd_run_a**2 / runs_a + self.sd_run_b**2 / (runs_a if runs_b is None else runs_b)
            return (between + noise) / n_items
        noise = 2 * self.sd_residual**2 / runs_a
        return self.sd_prompt_slope**2 / runs_a + (between + noise) / n_items

    def removable_share(
        self,
        *,
        runs_a: float,
        runs_b: float | None = None,
        cluster_size: float = 1.0,
        cluster_cv: float = 0.0,
        n_items: float = 1.0,
    ) -> float:
        """Share of the variance that more generations or prompts remove; of nested runs the same for any number
        of items. NaN where nothing varies."""

        def variance(a: float, b: float | None) -> float:
            return self.error_variance(
                n_items=n_items, runs_a=a, runs_b=b, cluster_size=cluster_size, cluster_cv=cluster_cv
            )

        now = variance(runs_a, runs_b)
        return 1 - variance(math.inf, math.inf) / now if now > 0 else math.nan

    def as_dict(self) -> dict[str, object]:
        """The names that every file uses; zeros and unknowns of the other kind are left out."""
        foreign = _OF_CROSSED if self.kind == "nested" else _OF_NESTED
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if name not in foreign and value is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> RunsParameters:
        """Read the names that `as_dict` writes; every problem is reported at once.

        Raises
        ------
        ParametersError
            Unknown names, missing ones, values that cannot be.
        """
        known = [field.name for field in fields(cls)]
        problems = [
            field_problem(name, value, f"is no parameter of runs; the names are {', '.join(known)}.")
            for name, value in values.items()
            if name not in known
        ]
        problems += [
            Problem(rule=f"parameter {name!r} is missing.", remedy="Give kind and sd_item at least.")
            for name in ("kind", "sd_item")
            if name not in values
        ]
        if problems:
            raise ParametersError(problems)
        return cls(**values)  # type: ignore[arg-type]  # checked in __post_init__
