"""When a study with several looks stops: the shape of its boundaries, futility, alpha and side, as one value."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, cast, get_args

from scipy import special

from humeval_power.choices import EFFICACY_WORDS, FUTILITY_WORDS
from humeval_power.errors import InputError
from humeval_power.rules import Alternative

# Spending functions: how much of an error probability may be used up by the time a share of the
# information is in.

SpendingFunction = Callable[[float, float], float]


@dataclass(frozen=True, slots=True)
class ObrienFlemingSpending:
    """Lan and DeMets' (1983) function in the manner of O'Brien and Fleming: almost nothing early."""

    def __call__(self, t: float, level: float) -> float:
        """Error spent by t: 2 - 2 Phi(z / sqrt t), z the normal quantile with level / 2 above it."""
        return float(2 * special.ndtr(special.ndtri(level / 2) / math.sqrt(t))) if t > 0 else 0.0

    def __str__(self) -> str:
        return "lan-demets-obrien-fleming"


@dataclass(frozen=True, slots=True)
class PocockSpending:
    """Lan and DeMets' (1983) function in the manner of Pocock: much early."""

    def __call__(self, t: float, level: float) -> float:
        """Error spent by t: level log(1 + (e - 1) t)."""
        return level * math.log1p((math.e - 1) * t)

    def __str__(self) -> str:
        return "lan-demets-pocock"


@dataclass(frozen=True, slots=True)
class HwangShihDeCani:
    """Hwang, Shih and DeCani's (1990) family: near O'Brien-Fleming at -4, near Pocock at 1, linear at 0."""

    gamma: float = -4.0

    def __post_init__(self) -> None:
        if not -40 <= self.gamma <= 40:
            raise InputError(
                f"The parameter of Hwang, Shih and DeCani must lie in -40 to 40; got {self.gamma:g}."
            )

    def __call__(self, t: float, level: float) -> float:
        """Error spent by t: level (1 - exp(-gamma t)) / (1 - exp(-gamma))."""
        if self.gamma == 0:
            return level * t
        return level * math.expm1(-self.gamma * t) / math.expm1(-self.gamma)

    def __str__(self) -> str:
        return f"hwang-shih-decani:{self.gamma:g}"


@dataclass(frozen=True, slots=True)
class PowerSpending:
    """Kim and DeMets' (1987) family level t^rho."""

    rho: float = 2.0

    def __post_init__(self) -> None:
        if not 0 < self.rho <= 50:
            raise InputError(f"The power of Kim and DeMets must lie between 0 and 50; got {self.rho:g}.")

    def __call__(self, t: float, level: float) -> float:
        """Error spent by t: level t^rho."""
        return float(level * t**self.rho)

    def __str__(self) -> str:
        return f"kim-demets:{self.rho:g}"


@dataclass(frozen=True, slots=True)
class TabulatedSpending:
    """Any spending function: shares of the error spent by given shares of the information, joined by
    straight lines from (0, 0) to (1, 1)."""

    times: tuple[float, ...]
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        times, shares = (0.0, *self.times), (0.0, *self.shares)
        rising = all(a < b for a, b in pairwise(times))
        never_falling = all(a <= b for a, b in pairwise(shares))
        ends_at_one = len(times) == len(shares) and times[-1] == shares[-1] == 1
        if not (rising and never_falling and ends_at_one):
            raise InputError(
                "A table of spending needs increasing shares of information, shares of the error that do not "
                f"fall, and 1 for both at the end; got {list(self.times)} and {list(self.shares)}."
            )

    def __call__(self, t: float, level: float) -> float:
        """Error spent by t, by linear interpolation."""
        left_time, left_share = 0.0, 0.0
        for time, share in zip(self.times, self.shares, strict=True):
            if t <= time:
                return level * (left_share + (share - left_share) * (t - left_time) / (time - left_time))
            left_time, left_share = time, share
        return level

    def __str__(self) -> str:
        pairs = zip(self.times, self.shares, strict=True)
        return "table:" + ",".join(f"{time:g}={share:g}" for time, share in pairs)


def increments(function: SpendingFunction, shares: Sequence[float], level: float) -> list[float]:
    """Error that each look may spend, for shares of information in increasing order; beyond 1 counts as 1.
    Raises InputError: a function that falls, or spends more than `level`."""
    spent = [function(min(share, 1.0), level) for share in shares]
    steps = [after - before for before, after in pairwise([0.0, *spent])]
    if min(steps) < -1e-12 or spent[-1] > level * (1 + 1e-9):
        raise InputError(
            f"A spending function must not fall and must end at {level:g}; it gave "
            f"{', '.join(f'{value:.5g}' for value in spent)}."
        )
    return [max(step, 0.0) for step in steps]


# Reasons to stop because significance has become unlikely.

Future = Literal["design", "trend", "null"]


@dataclass(frozen=True, slots=True)
class PValueFutility:
    """Stop at a look, but the last, if p is above a limit: Wei, Kocmi and Federmann's (2022) rule is 0.5.

    Not binding unless `binding`: the boundaries of success are computed as if nobody stopped for futility,
    so that ignoring the rule does no harm.
    """

    above: float = 0.5
    binding: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.above < 1:
            raise InputError(f"The p-value of futility must lie between 0 and 1; got {self.above:g}.")

    def __str__(self) -> str:
        return f"p:{self.above:g}{':binding' if self.binding else ''}"


@dataclass(frozen=True, slots=True)
class ConditionalPowerFutility:
    """Stop if the chance of significance at the last look has fallen below a limit.

    The future effect is the one planned for ('design'), the one seen so far ('trend') or none ('null');
    the chance is that of passing the last boundary, and ignores looks between. Never binding.
    """

    below: float = 0.2
    under: Future = "design"

    def __post_init__(self) -> None:
        if not 0 < self.below < 1:
            raise InputError(f"A limit of conditional power must lie between 0 and 1; got {self.below:g}.")

    @property
    def binding(self) -> bool:
        """Never."""
        return False

    def __str__(self) -> str:
        return f"conditional-power:{self.below:g}:{self.under}"


@dataclass(frozen=True, slots=True)
class BetaSpendingFutility:
    """Spend the chance of missing the planned effect, `beta`, over the looks.

    The looks then fix the drift (planned effect over its standard error at the last look) at which the
    power is 1 - beta: the largest information has to be made large enough for it.
    """

    beta: float = 0.2
    function: SpendingFunction = ObrienFlemingSpending()
    binding: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.beta < 1:
            raise InputError(f"beta must lie between 0 and 1; got {self.beta:g}.")

    def __str__(self) -> str:
        return f"beta:{self.beta:g}:{self.function}{':binding' if self.binding else ''}"


Futility = PValueFutility | ConditionalPowerFutility | BetaSpendingFutility


def conditional_power(
    z: float, share: float, *, critical: float, under: Future = "design", drift: float = 0.0
) -> float:
    """Probability of Z >= `critical` at full information, given Z = `z` at a share of it below 1.

    drift : planned effect over its standard error at full information; used under 'design' alone
    Source: the B-values of Lan and Wittes (1988).
    """
    future = {"design": drift, "trend": z / math.sqrt(share), "null": 0.0}[under]
    reach = z * math.sqrt(share) + future * (1 - share) - critical
    return float(special.ndtr(reach / math.sqrt(1 - share)))


def conditional_power_bound(
    share: float, *, below: float, critical: float, under: Future = "design", drift: float = 0.0
) -> float:
    """The z at which the conditional power is `below`: a smaller one means futility."""
    reach = critical + float(special.ndtri(below)) * math.sqrt(1 - share)
    if under == "trend":
        return reach * math.sqrt(share)
    future = drift if under == "design" else 0.0
    return (reach - future * (1 - share)) / math.sqrt(share)


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

    function: SpendingFunction = PocockSpending()

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

    @property
    def words(self) -> str:
        """The rule for people; `str` names boundaries as options do."""
        stop = "no stop for futility" if self.futility is None else futility_words(self.futility)
        return f"{boundary_words(self.efficacy)}, {self.alternative}, alpha {self.alpha:g}, {stop}"


_IN_WORDS = {
    "pocock": "Pocock's boundaries",
    "obrien-fleming": "O'Brien and Fleming's boundaries",
    "wang-tsiatis": "Wang and Tsiatis' boundaries, delta",
    "haybittle-peto": "Haybittle and Peto's boundaries, early |z|",
    "lan-demets-pocock": "Lan and DeMets' spending of Pocock's type",
    "lan-demets-obrien-fleming": "Lan and DeMets' spending of O'Brien and Fleming's type",
    "hwang-shih-decani": "Hwang, Shih and DeCani's spending, gamma",
    "kim-demets": "Kim and DeMets' spending, rho",
    "table": "spending by a table,",
    "levels": "levels",
}


def boundary_words(efficacy: Efficacy | SpendingFunction) -> str:
    """The boundaries of success, or how an error is spent, for people."""
    name, _, parameter = str(efficacy).partition(":")
    if name == "haybittle-peto":
        parameter = parameter or "3"
    return f"{_IN_WORDS[name]} {parameter}".strip()


def futility_words(futility: Futility) -> str:
    """When a study is given up for futility, for people."""
    if isinstance(futility, PValueFutility):
        stop = f"p > {futility.above:g}"
    elif isinstance(futility, ConditionalPowerFutility):
        under = {"design": "the planned effect", "trend": "the effect seen so far", "null": "no effect"}
        stop = f"conditional power below {futility.below:g} under {under[futility.under]}"
    else:
        stop = f"a beta of {futility.beta:g}, {boundary_words(futility.function)}"
    return f"futility at {stop}{', binding' if futility.binding else ''}"


# Boundaries and futility in the words that people and files use; `str` gives the words back.


def efficacy_of(text: str) -> Efficacy:
    """The boundary that words such as 'pocock' or 'hwang-shih-decani:-4' name; `str` gives them back.

    Raises
    ------
    InputError
        Words that name nothing, or a parameter that is no number.
    """
    name, _, argument = text.strip().lower().partition(":")
    if name == "levels":
        return FixedLevels(tuple(_number(part, text) for part in argument.split(",")))
    if name in ("haybittle-peto", "wang-tsiatis"):
        kind = HaybittlePeto if name == "haybittle-peto" else WangTsiatis
        return kind(_number(argument, text)) if argument else kind()
    if name in ("pocock", "obrien-fleming") and not argument:
        return WangTsiatis(0.5 if name == "pocock" else 0.0)
    return Spending(spending_of(text))


def spending_of(text: str) -> SpendingFunction:
    """The spending function that words name. Raises InputError: words that name no spending function."""
    name, _, argument = text.strip().lower().partition(":")
    if name == "table":
        pairs = [part.partition("=") for part in argument.split(",")]
        times = tuple(_number(time, text) for time, _, _ in pairs)
        return TabulatedSpending(times, tuple(_number(share, text) for _, _, share in pairs))
    if name in ("hwang-shih-decani", "kim-demets"):
        family = HwangShihDeCani if name == "hwang-shih-decani" else PowerSpending
        return family(_number(argument, text)) if argument else family()
    if name in ("lan-demets-pocock", "lan-demets-obrien-fleming") and not argument:
        return PocockSpending() if name.endswith("pocock") else ObrienFlemingSpending()
    raise InputError(f"There is no boundary {text!r}; there are {', '.join(EFFICACY_WORDS)}.")


def futility_of(text: str) -> Futility | None:
    """The futility rule that words such as 'p:0.5' or 'beta:0.2:lan-demets-pocock:binding' name.

    Raises
    ------
    InputError
        Words that name nothing.
    """
    name, _, argument = text.strip().lower().partition(":")
    parts = argument.split(":") if argument else []
    binding = bool(parts) and parts[-1] == "binding"
    parts = parts[:-1] if binding else parts
    if name == "none" and not argument:
        return None
    if name == "p" and len(parts) <= 1:
        return PValueFutility(_number(parts[0], text) if parts else 0.5, binding)
    if name == "conditional-power" and len(parts) <= 2 and not binding:
        under = parts[1] if len(parts) == 2 else "design"
        if under in get_args(Future):
            limit = _number(parts[0], text) if parts else 0.2
            return ConditionalPowerFutility(limit, cast(Future, under))
    if name == "beta":
        beta = _number(parts[0], text) if parts else 0.2
        function = spending_of(":".join(parts[1:])) if len(parts) > 1 else ObrienFlemingSpending()
        return BetaSpendingFutility(beta, function, binding)
    raise InputError(f"There is no futility rule {text!r}; there are {', '.join(FUTILITY_WORDS)}.")


def _number(text: str, whole: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"In {whole!r}, {text!r} is not a number.") from None
