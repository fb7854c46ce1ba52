"""The seven parameters of the rating model, their contrast coding, and published presets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from humeval_power.errors import ParametersError, Problem, field_problem
from humeval_power.latent import Latent, is_number
from humeval_power.roots import root_between

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
# What the model of two factors leaves out, each zero unless it is said
FURTHER_DEVIATIONS = ("sd_worker_item", "sd_document_intercept", "sd_document_slope")
CORRELATIONS = ("correlation_worker", "correlation_item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Parameters of rating = b0 + W0 + I0 + (b1 + W1 + I1) x + e on the [0, 1] scale.

    With the default coding (x = -1/2 for system A, +1/2 for B) `baseline` is the mean of the two
    systems, `effect` the difference B - A, and the slope SDs are the SDs of a worker's and of an
    item's own difference. Random effects are uncorrelated (Card et al. 2020, appendix H.3).
    `sd_worker_item`, an eighth that their model leaves out, is the SD of what a worker and an item share
    under both systems. `sd_document_intercept` and `sd_document_slope` are those of the documents that items
    are taken from, `correlation_worker` and `correlation_item` those of an intercept with its slope.

    `latent` says that ratings arise in categories; the others are then what it means on [0, 1]: expected
    ratings, and the standard deviations of a rating as its covariances with others have them. `of_latent`
    makes such parameters.

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
    sd_document_intercept: float = 0.0
    sd_document_slope: float = 0.0
    correlation_worker: float = 0.0
    correlation_item: float = 0.0
    latent: Latent | None = None

    def __post_init__(self) -> None:
        problems = []
        for name in (*PARAMETER_NAMES, *FURTHER_DEVIATIONS, *CORRELATIONS):
            value = getattr(self, name)
            if not is_number(value):
                problems.append(field_problem(name, value, "must be a finite number."))
            elif abs(value) > _LARGEST:
                rule = f"must be at most {_LARGEST:,.0f} in size: it is stated on the [0, 1] scale."
                problems.append(field_problem(name, value, rule))
            elif name.startswith("sd_") and value < 0:
                problems.append(field_problem(name, value, "a standard deviation cannot be negative."))
            elif name.startswith("correlation_") and abs(value) > 1:
                problems.append(field_problem(name, value, "a correlation lies between -1 and 1."))
        coding: object = self.coding
        is_pair = isinstance(coding, list | tuple) and len(coding) == 2 and all(map(is_number, coding))
        if not is_pair or self.coding[0] == self.coding[1]:
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
        if tuple(coding) == self.coding:
            return self
        if self.latent is not None:
            raise ParametersError("Ratings in categories are stated under the coding -1/2, +1/2 alone.")
        (old_a, old_b), (new_a, new_b) = self.coding, coding
        scale = (old_b - old_a) / (new_b - new_a)
        shift = old_a - scale * new_a
        worker, item, document = (
            _recoded_factor(intercept, slope, correlation, scale, shift)
            for intercept, slope, correlation in (
                (self.sd_worker_intercept, self.sd_worker_slope, self.correlation_worker),
                (self.sd_item_intercept, self.sd_item_slope, self.correlation_item),
                (self.sd_document_intercept, self.sd_document_slope, 0.0),
            )
        )
        return replace(
            self,
            baseline=self.baseline + shift * self.effect,
            effect=scale * self.effect,
            sd_worker_intercept=worker[0],
            sd_worker_slope=worker[1],
            sd_item_intercept=item[0],
            sd_item_slope=item[1],
            sd_document_intercept=document[0],
            sd_document_slope=document[1],
            correlation_worker=worker[2],
            correlation_item=item[2],
            coding=coding,
        )

    def with_difference(self, difference: float) -> Parameters:
        """The same study with a true difference B - A of `difference` on [0, 1].

        Raises
        ------
        ParametersError
            A difference beyond -1 or 1; of ratings in categories one that no effect makes.
        """
        if not abs(difference) <= 1:
            raise ParametersError(
                f"difference must be between -1 and 1: B - A on [0, 1]; got {difference:g}. Points of a scale are "
                f"divided by its width: RatingScale.parse('1:5').effect_from_raw({difference:g})."
            )
        if self.latent is not None:
            return Parameters.of_latent(self.latent.with_difference(difference))
        return replace(self, effect=difference / (self.coding[1] - self.coding[0]))

    def with_worker_slope(self, deviation: float) -> Parameters:
        """The same under difference coding with another SD of the workers' own differences B - A on [0, 1];
        of ratings in categories the latent SD that means it, or 0 where the categories alone make more."""
        if self.latent is None:
            return replace(self.recoded(), sd_worker_slope=deviation)
        latent = self.latent

        def other(latent_deviation: float) -> Parameters:
            return Parameters.of_latent(latent.with_deviations(sd_worker_slope=latent_deviation))

        def gap(latent_deviation: float) -> float:
            return other(latent_deviation).sd_worker_slope - deviation

        if gap(0.0) >= 0:
            return other(0.0)
        most = 1.0
        while gap(most) < 0:
            most *= 2  # ends in an error at the largest latent deviation
        return other(root_between(gap, 0.0, most, xtol=1e-10))

    def as_dict(self) -> dict[str, object]:
        """The seven parameters and the coding under the names that every file uses; what goes beyond them
        only where it is there."""
        values: dict[str, object] = {name: getattr(self, name) for name in PARAMETER_NAMES}
        further = {name: getattr(self, name) for name in (*FURTHER_DEVIATIONS, *CORRELATIONS)}
        values.update({name: value for name, value in further.items() if value})
        values["coding"] = list(self.coding)
        if self.latent is not None:
            values["latent"] = self.latent.as_dict()
        return values

    @classmethod
    def of_latent(cls, latent: Latent) -> Parameters:
        """What ratings in categories are like on [0, 1].

        The covariances of two ratings that share a worker, an item or a document (or two, or all) are those
        of the latent variable's scores; intercepts, slopes and the rest follow from them. The variance of a
        mean difference in a complete paired study is exact, that of other designs approximate: an intercept
        and its slope are correlated a little where the categories are uneven.
        """
        from humeval_power.kernels.latent.moments import score_covariance

        systems = latent.moments(0), latent.moments(1)
        total = latent.variance or 1.0

        def covariances(*factors: str) -> tuple[float, float, float]:
            """Of ratings that share these factors alone: A with A, B with B, A with B."""
            return tuple(  # type: ignore[return-value]  # three of them
                score_covariance(
                    systems[first],
                    systems[second],
                    latent.shared(factors, same_system=first == second) / total,
                )
                for first, second in ((0, 0), (1, 1), (0, 1))
            )

        def deviations(a: float, b: float, across: float) -> tuple[float, float]:
            return (
                math.sqrt(max(0.0, (a + b + 2 * across) / 4)),
                math.sqrt(max(0.0, a + b - 2 * across)),
            )

        by_factor = {factor: covariances(factor) for factor in ("worker", "item", "document")}
        # an item is always met with its document: what the two add up to beyond the document is the item's
        with_item = covariances("item", "document")
        by_factor["item"] = _less(with_item, by_factor["document"])
        all_three = covariances("worker", "item", "document")
        pair = _less(_less(all_three, with_item), by_factor["worker"])
        worker, item, document = (deviations(*by_factor[factor]) for factor in by_factor)
        noise = sum(system.variance for system in systems) / 2 - (all_three[0] + all_three[1]) / 2
        return cls(
            baseline=(systems[0].mean + systems[1].mean) / 2,
            effect=systems[1].mean - systems[0].mean,
            sd_worker_intercept=worker[0],
            sd_worker_slope=worker[1],
            sd_item_intercept=item[0],
            sd_item_slope=item[1],
            sd_document_intercept=document[0],
            sd_document_slope=document[1],
            sd_residual=math.sqrt(noise + max(0.0, (pair[0] + pair[1]) / 2 - pair[2])),
            sd_worker_item=math.sqrt(max(0.0, pair[2])),
            latent=latent,
        )

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
        if values.get("latent") is None:
            return cls(**values)  # type: ignore[arg-type]  # checked in __post_init__
        return cls._of_latent_record(values)

    @classmethod
    def _of_latent_record(cls, values: Mapping[str, object]) -> Parameters:
        """Parameters from the latent ones of a record, whose others must be what these mean."""
        latent = values["latent"]
        if not isinstance(latent, Mapping):
            raise ParametersError(
                [field_problem("latent", latent, "must be a table of latent parameters.")]
            )
        parameters = cls.of_latent(Latent.from_dict(latent))
        problems = [
            field_problem(name, value, f"is not what the latent parameters mean, {expected:.6g}.")
            for name, expected in ((name, getattr(parameters, name)) for name in PARAMETER_NAMES)
            for value in (values[name],)
            if not (is_number(value) and abs(float(value) - expected) <= _AGREEMENT)  # type: ignore[arg-type]
        ]
        if problems:
            raise ParametersError(problems)
        return parameters


def preset(name: str) -> Parameters:
    """Published settings of the variance parameters, without an effect.

    'high' and 'low' are Card et al. (2020), Table 16, stated under -1/+1 coding as in their script.
    Their baseline does not matter for power; 0.6 is typical of the intercepts in their Table 13.
    """
    if name not in PRESETS:
        raise ParametersError(f"There is no preset {name!r}; the presets are {', '.join(PRESETS)}.")
    return PRESETS[name]


_AGREEMENT = 1e-6  # of numbers in a record with what its latent parameters mean
_LARGEST = 1e6  # beyond it squares of variances lose digits, or overflow


def _recoded_factor(
    intercept: float, slope: float, correlation: float, scale: float, shift: float
) -> tuple[float, float, float]:
    """Marginal SDs of a factor's intercept and slope under x' = shift + scale x, and their correlation, which
    is left out where there was none."""
    shifted = shift * slope
    if not correlation:
        return math.hypot(intercept, shifted), abs(scale) * slope, 0.0
    moved = math.sqrt(max(0.0, intercept**2 + shifted**2 + 2 * correlation * intercept * shifted))
    if not moved * slope:
        return moved, abs(scale) * slope, 0.0
    shared = math.copysign(1.0, scale) * (correlation * intercept + shifted) / moved
    return moved, abs(scale) * slope, min(1.0, max(-1.0, shared))


def _less(first: tuple[float, ...], second: tuple[float, ...]) -> tuple[float, float, float]:
    a, b, across = (one - other for one, other in zip(first, second, strict=True))
    return a, b, across


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
