"""The seven parameters of the rating model, their contrast coding, and published presets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from humeval_power.errors import ParametersError, Problem, field_problem

Coding = tuple[float, float]

DIFFERENCE_CODING: Coding = (-0.5, 0.5)
STANDARD_DEVIATIONS = (
    "sd_worker_intercept",
    "sd_worker_slope",
    "sd_item_intercept",
    "sd_item_slope",
    "sd_residual",
)
PARAMETER_NAMES = ("baseline", "effect", *STANDARD_DEVIATIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Parameters of rating = b0 + W0 + I0 + (b1 + W1 + I1) x + e on the [0, 1] scale.

    With the default coding (x = -1/2 for system A, +1/2 for B) `baseline` is the mean of the two
    systems, `effect` the difference B - A, and the slope SDs are the SDs of a worker's and of an
    item's own difference. Random effects are uncorrelated (Card et al. 2020, appendix H.3).
    `sd_worker_item`, an eighth that their model leaves out, is the SD of what a worker and an item share
    under both systems.

    Examples
    --------
    >>> values = Parameters(
    ...     baseline=0.6, effect=0.05, sd_worker_intercept=0.1, sd_worker_slope=0.05,
    ...     sd_item_intercept=0.1, sd_item_slope=0.1, sd_residual=0.2,
    ... )
    >>> values.difference
    0.05
    >>> round(values.with_difference(0.1).effect, 3)
    0.1
    """

    baseline: float
    effect: float
    sd_worker_intercept: float
    sd_worker_slope: float
    sd_item_intercept: float
    sd_item_slope: float
    sd_residual: float
    coding: Coding = DIFFERENCE_CODING
    sd_worker_item: float = 0.0

    def __post_init__(self) -> None:
        problems = []
        for name in (*PARAMETER_NAMES, "sd_worker_item"):
            value = getattr(self, name)
            if not _is_number(value):
                problems.append(field_problem(name, value, "must be a finite number."))
            elif abs(value) > _LARGEST:
                rule = f"must be at most {_LARGEST:,.0f} in size: it is stated on the [0, 1] scale."
                problems.append(field_problem(name, value, rule))
            elif name.startswith("sd_") and value < 0:
                problems.append(field_problem(name, value, "a standard deviation cannot be negative."))
        if not _is_coding(self.coding):
            problems.append(
                field_problem("coding", self.coding, "must be two different numbers, such as [-0.5, 0.5].")
            )
        if problems:
            raise ParametersError(problems)
        object.__setattr__(self, "coding", (float(self.coding[0]), float(self.coding[1])))

    @property
    def difference(self) -> float:
        """True difference B - A on [0, 1], whatever the coding."""
        return self.effect * (self.coding[1] - self.coding[0])

    def recoded(self, coding: Coding = DIFFERENCE_CODING) -> Parameters:
        """The same ratings described under another coding, with marginal SDs.

        Between symmetric codings nothing is lost. From or to another coding (0/1) an intercept and
        its slope become correlated; the SDs returned are the right marginal ones, the correlation is
        dropped. The SD of a worker's difference between systems, on which power depends, is exact.
        Source: substitution x' = a + b x in the model.
        """
        (old_a, old_b), (new_a, new_b) = self.coding, coding
        scale = (old_b - old_a) / (new_b - new_a)
        shift = old_a - scale * new_a
        return Parameters(
            baseline=self.baseline + shift * self.effect,
            effect=scale * self.effect,
            sd_worker_intercept=math.hypot(self.sd_worker_intercept, shift * self.sd_worker_slope),
            sd_worker_slope=abs(scale) * self.sd_worker_slope,
            sd_item_intercept=math.hypot(self.sd_item_intercept, shift * self.sd_item_slope),
            sd_item_slope=abs(scale) * self.sd_item_slope,
            sd_residual=self.sd_residual,
            coding=coding,
            sd_worker_item=self.sd_worker_item,
        )

    def with_difference(self, difference: float) -> Parameters:
        """The same study with a true difference B - A of `difference` on [0, 1]."""
        return replace(self, effect=difference / (self.coding[1] - self.coding[0]))

    def as_dict(self) -> dict[str, object]:
        """The seven parameters and the coding under the names that every file uses; the eighth only
        where it is not zero."""
        values: dict[str, object] = {name: getattr(self, name) for name in PARAMETER_NAMES}
        if self.sd_worker_item:
            values["sd_worker_item"] = self.sd_worker_item
        return {**values, "coding": list(self.coding)}

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Parameters:
        """Read the names that `as_dict` writes; every problem is reported at once."""
        known = {field.name for field in fields(cls)}
        problems = [
            field_problem(
                name, values[name], f"is not a parameter; the names are {', '.join(PARAMETER_NAMES)}."
            )
            for name in values
            if name not in known
        ]
        problems += [
            Problem(rule=f"parameter {name!r} is missing.", remedy="Give all seven parameters.")
            for name in PARAMETER_NAMES
            if name not in values
        ]
        if problems:
            raise ParametersError(problems)
        return cls(**values)  # type: ignore[arg-type]  # checked in __post_init__


def preset(name: str) -> Parameters:
    """Published settings of the variance parameters, without an effect.

    'high' and 'low' are Card et al. (2020), Table 16, stated under -1/+1 coding as in their script.
    Their baseline does not matter for power; 0.6 is typical of the intercepts in their Table 13.
    """
    if name not in PRESETS:
        raise ParametersError(f"There is no preset {name!r}; the presets are {', '.join(PRESETS)}.")
    return PRESETS[name]


_LARGEST = 1e6  # beyond it squares of variances lose digits, or overflow


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_coding(coding: object) -> bool:
    return (
        isinstance(coding, list | tuple)
        and len(coding) == 2
        and all(_is_number(code) for code in coding)
        and coding[0] != coding[1]
    )


PRESETS: Mapping[str, Parameters] = {
    "high": Parameters(
        baseline=0.6,
        effect=0.0,
        sd_worker_intercept=0.01,
        sd_worker_slope=0.11,
        sd_item_intercept=0.04,
        sd_item_slope=0.14,
        sd_residual=0.26,
        coding=(-1.0, 1.0),
    ),
    "low": Parameters(
        baseline=0.6,
        effect=0.0,
        sd_worker_intercept=0.01,
        sd_worker_slope=0.04,
        sd_item_intercept=0.01,
        sd_item_slope=0.13,
        sd_residual=0.16,
        coding=(-1.0, 1.0),
    ),
}
