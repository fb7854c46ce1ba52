"""How well a table determines its variances: strata with degrees of freedom, and draws from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.errors import InputError, Problem, field_problem, refuse
from humeval_power.magnitudes import LARGEST, is_computable
from humeval_power.parameters import STANDARD_DEVIATIONS

Floats = NDArray[np.float64]

_KNOWN = 1e12  # degrees of freedom of a variance that is given
_LEAST_STRATUM = 1e-12


class Stratum(NamedTuple):
    """A mean square of a component: `value` = its variance + `residual_weight` x residual variance,
    estimated on `df` degrees of freedom and independently of the residual variance."""

    value: float
    df: float
    residual_weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceUncertainty:
    """What a table says about the four variance components and the residual variance.

    In a complete balanced table the strata are its mean squares, and the draws below are exact; in any
    other they match the asymptotic covariance of the estimates (inverse expected information).
    """

    strata: tuple[Stratum, Stratum, Stratum, Stratum]  # worker intercept, slope, item intercept, slope
    residual: float
    residual_df: float

    @classmethod
    def of_information(cls, information: Floats, variances: Floats) -> VarianceUncertainty:
        """From the expected information of the variances (q + 1, q + 1) at their estimates (q + 1,), the
        residual's last; those of documents are taken as estimated."""
        scale = np.sqrt(np.diag(information))
        covariance = np.linalg.pinv(information / np.outer(scale, scale), rcond=1e-9, hermitian=True)
        covariance = covariance / np.outer(scale, scale)
        residual = float(variances[-1])
        spread = float(covariance[-1, -1])
        strata = []
        for k in range(4):
            weight = -covariance[k, -1] / spread
            value = variances[k] + weight * residual
            own = covariance[k, k] - covariance[k, -1] ** 2 / spread
            strata.append(Stratum(float(value), float(2 * value**2 / own), float(weight)))
        first, second, third, fourth = strata
        return cls(
            strata=(first, second, third, fourth),
            residual=residual,
            residual_df=float(2 * residual**2 / spread),
        )

    @classmethod
    def of_latent_information(
        cls, information: Floats, variances: Floats, *, n_workers: int, n_items: int
    ) -> VarianceUncertainty:
        """From the expected information of the four latent variances (4, 4) at their estimates (4,).

        Each stratum has the degrees of freedom of its workers or items and the variance of the estimate; what
        it holds beyond the component stands beside a residual of 1 that is as good as known.
        """
        scale = np.sqrt(np.maximum(np.diag(information), np.finfo(float).tiny))
        covariance = np.linalg.pinv(information / np.outer(scale, scale), rcond=1e-9, hermitian=True)
        spread = np.diag(covariance) / scale**2
        strata = []
        for k, levels in enumerate((n_workers, n_workers, n_items, n_items)):
            df = levels - 1.0
            value = max(float(np.sqrt(spread[k] * df / 2)), float(variances[k]), _LEAST_STRATUM)
            strata.append(Stratum(value, df, value - float(variances[k])))
        first, second, third, fourth = strata
        return cls(strata=(first, second, third, fourth), residual=1.0, residual_df=_KNOWN)

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Draws of the five variances (5, n): generalised (fiducial) draws, stratum x df / chi-square,
        cut at zero (Weerahandi 1993)."""
        residual = self.residual * self.residual_df / rng.chisquare(self.residual_df, n)
        draws = [
            np.maximum(value * df / rng.chisquare(df, n) - weight * residual, 0.0)
            for value, df, weight in self.strata
        ]
        return np.stack([*draws, residual])

    def upper_worker_slope(self, confidence: float) -> float:
        """Upper confidence limit of the variance of a worker's difference (Browne 1995): finite and
        positive even where it was estimated as zero."""
        if not 0 < confidence < 1:
            raise InputError(f"A confidence must lie between 0 and 1; got {confidence:g}.")
        value, df, weight = self.strata[1]
        limit = value * df / (2 * float(special.gammaincinv(df / 2, 1 - confidence)))
        return max(limit - weight * self.residual, 0.0)

    def as_dict(self) -> dict[str, object]:
        """For a document."""
        named = zip(STANDARD_DEVIATIONS[:4], self.strata, strict=True)
        return {
            "strata": {name: stratum._asdict() for name, stratum in named},
            "residual": self.residual,
            "residual_df": self.residual_df,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> VarianceUncertainty:
        """Read what `as_dict` writes."""
        try:
            parts = values["strata"]
            assert isinstance(parts, Mapping)
            a, b, c, d = (Stratum(**parts[name]) for name in STANDARD_DEVIATIONS[:4])
            read = cls(strata=(a, b, c, d), residual=values["residual"], residual_df=values["residual_df"])  # type: ignore[arg-type]
        except (KeyError, TypeError, AssertionError) as error:
            raise InputError(f"The uncertainty of the parameters cannot be read: {error!r}.") from None
        problems = read._problems()
        refuse(problems)
        return read

    def _problems(self) -> list[Problem]:
        """Numbers that are none, and degrees of freedom that are not positive."""
        given: dict[str, object] = {"residual": self.residual, "residual_df": self.residual_df}
        for name, stratum in zip(STANDARD_DEVIATIONS[:4], self.strata, strict=True):
            given |= {f"strata.{name}.{part}": value for part, value in stratum._asdict().items()}
        return [
            field_problem(
                name,
                value,
                f"must be a number of at most {LARGEST:g}."
                if not _is_finite(value)
                else "must be above 0.",
            )
            for name, value in given.items()
            if not _is_finite(value) or (name.endswith("df") and float(value) <= 0)  # type: ignore[arg-type]
        ]


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and is_computable(value)


def worker_multiplier(n_workers: int, confidence: float) -> float:
    """By how much the upper limit of a worker mean square exceeds its estimate with a pilot of
    `n_workers`: (m - 1) / chi-square quantile (Browne 1995)."""
    df = n_workers - 1
    return df / (2 * float(special.gammaincinv(df / 2, 1 - confidence)))
