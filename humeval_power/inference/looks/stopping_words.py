"""Boundaries and futility in the words that people and files use; `str` gives the words back."""

from __future__ import annotations

from typing import cast, get_args

from humeval_power.choices import EFFICACY_WORDS as EFFICACY_WORDS
from humeval_power.choices import FUTILITY_WORDS
from humeval_power.errors import InputError
from humeval_power.inference.looks.futility import (
    BetaSpendingFutility,
    ConditionalPowerFutility,
    Futility,
    Future,
    PValueFutility,
)
from humeval_power.inference.looks.spending import (
    HwangShihDeCani,
    ObrienFlemingSpending,
    PocockSpending,
    PowerSpending,
    SpendingFunction,
    TabulatedSpending,
)
from humeval_power.inference.looks.stopping_rule import (
    Efficacy,
    FixedLevels,
    HaybittlePeto,
    Spending,
    WangTsiatis,
)


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
    """The spending function that words name.

    Raises
    ------
    InputError
        Words that name no spending function.
    """
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
