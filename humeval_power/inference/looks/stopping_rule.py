"""When a study with several looks stops: the shape of its boundaries, futility, alpha and side, as one value."""

from __future__ import annotations

from dataclasses import dataclass

from humeval_power.errors import InputError
from humeval_power.inference.looks.futility import Futility
from humeval_power.inference.looks.spending import PocockSpending, SpendingFunction
from humeval_power.rules import Alternative


@dataclass(frozen=True, slots=True)
class WangTsiatis:
    """Boundaries c t^(delta - 1/2) (Wang and Tsiatis 1987): Pocock's (1977) constant at delta 1/2, O'Brien
    and Fleming's (1979) at 0. The looks and their information have to be known beforehand."""

    delta: float = 0.5

    def __post_init__(self) -> None:
        if not -1 <= self.delta <= 1:
            raise InputError(f"delta of Wang and Tsiatis must lie in -1 to 1; got {self.delta:g}.")

    def __str__(self) -> str:
        return {0.5: "pocock", 0.0: "obrien-fleming"}.get(self.delta, f"wang-tsiatis:{self.delta:g}")


@dataclass(frozen=True, slots=True)
class HaybittlePeto:
    """|z| of `early` at every look but the last, which gets what is left (Haybittle 1971; Peto et al. 1976)."""

    early: float = 3.0

    def __post_init__(self) -> None:
        if not 0 < self.early <= 10:
            raise InputError(f"The early boundary must lie between 0 and 10; got {self.early:g}.")

    def __str__(self) -> str:
        return "haybittle-peto" if self.early == 3.0 else f"haybittle-peto:{self.early:g}"


@dataclass(frozen=True, slots=True)
class Spending:
    """Each look uses what a spending function allows by its information (Lan and DeMets 1983): the only
    boundaries that stay right when looks are moved or added."""

    function: SpendingFunction = PocockSpending()  # noqa: RUF009  a frozen value

    def __str__(self) -> str:
        return str(self.function)


@dataclass(frozen=True, slots=True)
class FixedLevels:
    """Nominal p-values given look by look: no promise about the whole unless they were calibrated."""

    levels: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.levels or not all(0 < level < 1 for level in self.levels):
            raise InputError(f"Nominal levels must lie between 0 and 1; got {self.levels}.")

    def __str__(self) -> str:
        return "levels:" + ",".join(f"{level:g}" for level in self.levels)


_ALTERNATIVES = ("two-sided", "greater")

Efficacy = WangTsiatis | HaybittlePeto | Spending | FixedLevels


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """The whole rule. `alpha` is the chance of a false positive over all looks."""

    efficacy: Efficacy = Spending()
    futility: Futility | None = None
    alpha: float = 0.05
    alternative: Alternative = "two-sided"

    def __post_init__(self) -> None:
        if self.alternative not in _ALTERNATIVES:
            raise InputError(
                f"Boundaries exist for the alternatives {' and '.join(_ALTERNATIVES)}; "
                f"got {self.alternative!r}."
            )
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha must lie between 0 and 1; got {self.alpha}.")
        if self.binding and isinstance(self.efficacy, FixedLevels):
            raise InputError("Fixed levels are not changed by futility: it cannot be binding for them.")

    @property
    def binding(self) -> bool:
        """Whether the boundaries of success count on futility being obeyed."""
        return self.futility is not None and self.futility.binding

    @property
    def side_level(self) -> float:
        """Chance of a false positive on one side."""
        return self.alpha / 2 if self.alternative == "two-sided" else self.alpha

    def __str__(self) -> str:
        futility = "none" if self.futility is None else str(self.futility)
        return f"{self.efficacy}, {self.alternative}, alpha {self.alpha:g}, futility {futility}"
