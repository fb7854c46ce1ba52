"""The words of answers, the same in every command: powers, shares and differences as everyone reads them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from humeval_power.choices import ANONYMOUS
from humeval_power.differences import Difference
from humeval_power.rules import Alternative, DecisionRule
from humeval_power.saying.document import Fact
from humeval_power.saying.numbers import interval_words, level_of, p_words, percent, without_rounding
from humeval_power.scales import RatingScale


def of_hundred(power: float, interval: tuple[float, float] | None = None) -> str:
    """How many of 100 such studies, with the interval where the power was simulated and it says more.

    >>> of_hundred(0.396), of_hundred(0.79, (0.768, 0.814)), of_hundred(0.9997, (0.996, 1.0))
    ('40', '79 (77 to 81)', 'more than 99')
    """
    number = "fewer than 1" if power < 0.01 else "more than 99" if power > 0.99 else _whole(power)
    low, high = (_whole(end) for end in interval or (power, power))
    return number if low == high else f"{number} ({low} to {high})"


def simulated_words(n: int, interval: tuple[float, float]) -> str:
    """How exactly simulated studies know how many of 100 it is, as a clause.

    >>> simulated_words(2000, (0.883, 0.91))
    '2,000 simulated studies put it between 88 and 91'
    """
    low, high = map(_whole, interval)
    return (
        f"{n:,} studies were simulated"
        if low == high
        else f"{n:,} simulated studies put it between {low} and {high}"
    )


def _whole(share: float) -> str:
    return f"{math.floor(100 * share + 0.5 + 1e-9)}"  # halves up, as in the decimals of tables


# What a first pilot should have at least: more workers help, more items hardly do.
PILOT_WORKERS, PILOT_ITEMS = 10, 30


def spread_words(low: float, high: float, known_from: Literal["assumed", "pilot"]) -> Iterator[str]:
    """How many of 100 such studies at both ends of what is possible of workers and items; nothing where that is one
    number.

    >>> next(spread_words(0.163, 0.881, "pilot")).partition(";")[0]
    'As the pilot is small, 16 to 88 of 100 may find it (80 % interval)'
    """
    if not (about := between_words(low, high)):
        return
    narrows = f"{narrowing_words(known_from)} would narrow that."
    if known_from == "pilot":
        yield f"As the pilot is small, {about} (80 % interval); {narrows}"
    else:
        yield f"How much workers and items vary is assumed: {about}, and {narrows}"


def between_words(low: float, high: float) -> str:
    """How many of 100 such studies may find it; nothing where that is one number.

    >>> between_words(0.163, 0.881), between_words(0.881, 0.882)
    ('16 to 88 of 100 may find it', '')
    """
    ends = of_hundred(low), of_hundred(high)
    return "" if ends[0] == ends[1] else f"{ends[0]} to {ends[1]} of 100 may find it"


def narrowing_words(known_from: Literal["assumed", "pilot"]) -> str:
    """What narrows the range of what is possible: the start of a sentence that ends in 'would narrow'.

    >>> narrowing_words("pilot")
    'more workers in the pilot'
    """
    wanted = f"a pilot of {PILOT_WORKERS} workers and {PILOT_ITEMS} items"
    return "more workers in the pilot" if known_from == "pilot" else wanted


def enough_work_words(least: int) -> str:
    """Which designs count where nothing says what one more worker costs; nothing where something does.

    >>> enough_work_words(20)
    'As nothing says what one more worker costs, only designs count in which each gives 20 ratings or more.'
    """
    counts = f"only designs count in which each gives {least} ratings or more."
    return f"As nothing says what one more worker costs, {counts}" if least else ""


def share_words(share: float) -> str:
    """A share in per cent: 'under 0.1 %' and 'over 99.9 %' where less than a tenth would be printed.

    >>> share_words(0.0003), share_words(0.0192), share_words(0.41)
    ('under 0.1 %', '1.9 %', '41 %')
    """
    return "under 0.1 %" if share < 0.001 else "over 99.9 %" if share > 0.999 else percent(share)


def rate_words(share: float, interval: tuple[float, float]) -> str:
    """A simulated rate in per cent, with its Monte Carlo interval.

    >>> rate_words(0.059, (0.046, 0.0754))
    '5.9 % (4.6 to 7.5)'
    """
    low, high = interval
    return f"{share_words(share)} ({100 * low:.1f} to {100 * high:.1f})"


def points_words(difference: float, scale: RatingScale | None, *, digits: int = 4) -> str:
    """The size of a difference on [0, 1] in points of its scale; on [0, 1] where there is none.

    >>> points_words(0.1, RatingScale(1, 5)), points_words(-0.25, RatingScale(1, 5)), points_words(0.1, None)
    ('0.4 points', '1 point', '0.1')
    """
    if scale is None:
        return f"{abs(difference):.{digits}g}"
    points = f"{abs(scale.effect_to_raw(difference)):.{digits}g}"
    return f"{points} point" if points == "1" else f"{points} points"


def as_points(difference: float, scale: RatingScale | None) -> str:
    """A difference on [0, 1] in points of its scale, to the digits of 4 decimals on [0, 1]; so where there is none.

    >>> as_points(0.08125, RatingScale(1, 5)), as_points(0.08125, RatingScale(0, 100)), as_points(0.08125, None)
    ('0.325', '8.12', '0.0813')
    """
    value, digits = (difference, 4) if scale is None else (scale.effect_to_raw(difference), _digits(scale))
    return f"{value:z.{digits}f}"


def as_points_interval(interval: tuple[float, float], scale: RatingScale | None) -> str:
    """The same of an interval, its lower end in points first: '0.003 to 0.639', 'none'."""
    if scale is None:
        return interval_words(*interval)
    low, high = sorted(map(scale.effect_to_raw, interval))
    return interval_words(low, high, digits=_digits(scale))


def in_points_too(
    estimate: float, interval: tuple[float, float], scale: RatingScale | None, *, interval_is: str
) -> str:
    """An estimate with its interval, in points and on [0, 1] beside; there alone without a scale.

    >>> in_points_too(0.0813, (0.0125, 0.15), RatingScale(1, 5), interval_is="95 % interval {}")
    '0.325 points (95 % interval 0.050 to 0.600; on [0, 1] 0.0813, 0.0125 to 0.1500)'
    >>> in_points_too(0.0813, (0.0125, 0.15), None, interval_is="95 % interval {}")
    '0.0813 (95 % interval 0.0125 to 0.1500)'
    """
    said = f"{as_points(estimate, scale)}{'' if scale is None else ' points'}"
    beside = "" if scale is None else f"; on [0, 1] {estimate:.4f}, {interval_words(*interval)}"
    return f"{said} ({interval_is.format(as_points_interval(interval, scale))}{beside})"


def _digits(scale: RatingScale) -> int:
    return max(0, 4 - math.ceil(math.log10(scale.width)))


def axis_unit(scale: RatingScale | None) -> tuple[float, str]:
    """What differences on [0, 1] are multiplied by in a picture, and in what they are then: points, where there is
    a scale."""
    return (1.0, "on [0, 1]") if scale is None else (scale.width, "in points")


def on_scale(scale: RatingScale | None) -> str:
    """'on a scale from 1 to 5'."""
    return "on a scale from 0 to 1" if scale is None else f"on a scale from {scale.low:g} to {scale.high:g}"


def better_words(
    difference: float, scale: RatingScale | None = None, systems: tuple[str, str] | None = ANONYMOUS
) -> str:
    """Which system is better, by how much; `systems` are the names of A and B, None for any two.

    >>> better_words(0.1, RatingScale(1, 5), ("baseline", "new"))
    'new is 0.4 points better than baseline'
    """
    a, b = systems or ("the other", "one system")
    if not difference:
        return f"{a} and {b} are equally good" if systems else "both systems are equally good"
    return f"{b} is {points_words(difference, scale)} {'better' if difference > 0 else 'worse'} than {a}"


def finding_words(said: Difference, rule: DecisionRule, scale: RatingScale | None = None) -> str:
    """What the studies find or show that the power counts: 'find that B is 0.1 better than A ...'.

    >>> finding_words(Difference(0.1), DecisionRule())
    'find that B is 0.1 better than A on a scale from 0 to 1'
    """
    scale = scale or said.scale
    a, b = said.systems or ("the other", "one system")
    truth = better_words(said.value, scale, said.systems)
    if rule.margin is not None:
        margin, on = points_words(rule.margin, scale), on_scale(scale)
        if rule.alternative == "equivalent":
            return f"show that {a} and {b} differ by less than {margin} {on}, if {truth}"
        return f"show that {b} is less than {margin} worse than {a} {on}, if {truth}"
    if said.value == 0 or (rule.alternative == "greater" and said.value < 0):
        return f"find that {b} is better than {a}, although {truth}"
    return f"find that {truth} {on_scale(scale)}"


def enough_words(n_enough: int, n: int, target: float) -> str:
    """How many studies of a grid have the power that was wanted, and the start of a sentence on one of them."""
    times = f"{of_hundred(target)} times in 100"
    if n == 1:
        return f"This study {'succeeds at least' if n_enough else 'does not succeed'} {times}. It"
    if not n_enough:
        return f"None of these {n} studies succeeds {times}. The nearest"
    if n_enough == 1:
        return f"One of these {n} studies succeeds at least {times}. It"
    return f"{n_enough} of these {n} studies succeed at least {times}. The smallest"


def estimated_words(difference: float, scale: RatingScale) -> str:
    """An estimated difference on [0, 1] in points: two decimals on a scale from 1 to 5, one from 0 to 100.

    >>> estimated_words(-0.0708, RatingScale(1, 5))
    '0.28 points'
    """
    return f"{_in_points(abs(difference), scale)} points"


def interval_in_points(interval: tuple[float, float], scale: RatingScale) -> str:
    """An interval on [0, 1] in points, the better side above 0: '-0.06 to 0.63'."""
    low, high = interval
    return f"{_in_points(low, scale)} to {_in_points(high, scale)}"


def possible_words(interval: tuple[float, float], scale: RatingScale) -> str:
    """The same for a system that may be better or worse.

    >>> possible_words((-0.0161, 0.1578), RatingScale(1, 5))
    'between 0.06 points worse and 0.63 points better'
    >>> possible_words((0.01, 0.1578), RatingScale(1, 5))
    'between 0.04 and 0.63 points better'
    """
    low, high = interval
    if low <= 0 <= high:
        return f"between {estimated_words(low, scale)} worse and {estimated_words(high, scale)} better"
    near, far = sorted((abs(low), abs(high)))
    word = "better" if low > 0 else "worse"
    return f"between {_in_points(near, scale)} and {estimated_words(far, scale)} {word}"


def decided_words(
    systems: tuple[str, str],
    values: tuple[float, float, float],
    scale: RatingScale,
    alternative: Alternative,
    *,
    shown: bool,
    p: str,
    level: str,
) -> str:
    """What a test without a margin decides; `found` is the difference and the ends of its interval.

    >>> decided_words(
    ...     ("old", "new"), (0.1, 0.05, 0.15), RatingScale(1, 5), "two-sided",
    ...     shown=True, p="p = 0.01", level="95 % interval",
    ... )
    'new is better than old by 0.40 points on a scale from 1 to 5 (95 % interval 0.20 to 0.60; p = 0.01).'
    """
    (a, b), (estimate, low, high) = systems, values
    if shown:
        better, worse = (b, a) if estimate > 0 else (a, b)
        reach = interval_in_points((low, high) if estimate > 0 else (-high, -low), scale)
        return (
            f"{better} is better than {worse} by {estimated_words(estimate, scale)} {on_scale(scale)} "
            f"({level} {reach}; {p})."
        )
    nothing = f"No difference is shown between {a} and {b}"
    if alternative == "greater":
        nothing = f"{b} is not shown to be better than {a}"
    return f"{nothing} ({p}): {b} may be {possible_words((low, high), scale)} {on_scale(scale)} ({level})."


def _in_points(difference: float, scale: RatingScale) -> str:
    digits = max(0, 3 - math.ceil(math.log10(scale.width)))
    return f"{without_rounding(round(difference * scale.width, digits)):.{digits}f}"


# An A that follows a small letter or a minus is no article.
_ROLES = re.compile(r"\bB\b|(?<=[a-z,] )A\b|(?<=[-\u2212] )A\b|^A(?= alone)")


def with_names(words: str, systems: tuple[str, str]) -> str:
    """Our own words, which say A and B, about these systems (A first); never words that hold names already.

    >>> with_names("The mean of B - A; B is better than A", ("old", "new"))
    'The mean of new - old; new is better than old'
    """
    return _ROLES.sub(lambda role: systems[role[0] == "B"], words)


def probe_sentences(probes: float, seed: float, largest: float, effect: float) -> str:
    """Monte Carlo errors of the SDs and of the effect, relative to their standard errors, and what is not
    available without a likelihood."""
    of_deviations, of_effect = (
        "less than 0.1 %" if error < 0.001 else f"{100 * error:.1f} %" for error in (largest, effect)
    )
    return (
        f"SDs by {probes:,.0f} fixed random probes (seed {seed:.0f}): "
        f"Monte Carlo error at most {of_deviations} of their standard errors, that of the effect {of_effect} of "
        "its own. A table of this size is fitted without evaluating its likelihood: profile intervals, "
        "likelihood ratio tests and a count of its peaks are not available."
    )


def swap_facts(swaps: str, interval: tuple[float, float] | None) -> tuple[Fact, ...]:
    """How the p-value was found, and how far one that was drawn can be trusted."""
    facts = [("Test", f"paired randomisation, {swaps}")]
    if interval is not None:
        facts.append(("", "with endless swaps p lies between {:.4g} and {:.4g} (95 %)".format(*interval)))
    return tuple(facts)


def three_digits(value: float) -> str:
    """A number in a sentence; its table has more digits."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


@dataclass(frozen=True, slots=True)
class TestedDifference:
    """A tested difference B - A, to be said in a sentence; `systems` are A and B.

    `verbs` say what B does and did; `more` and `less` follow a number with its
    `unit`, for which `amount` may be said, and `ending` follows A. `claim` is what is
    shown, `hypothesis` what is not where that is no difference of either sign. An interval without two ends is left
    out.
    """

    systems: tuple[str, str]
    estimate: float
    interval: tuple[float, float]
    p_value: float
    shown: bool
    confidence: float
    verbs: tuple[str, str] = ("scores", "scored")
    more: str = "higher"
    less: str = "lower"
    ending: str = ""
    claim: str = "a difference"
    hypothesis: str = ""
    amount: str = ""
    unit: str = ""

    def __str__(self) -> str:
        a, b = self.systems
        p, is_known = p_words(self.p_value), all(map(math.isfinite, self.interval))
        if self.shown:
            interval = f" ({level_of(self.confidence)} interval {self._range(is_short=True)})"
            than = f"{self.amount or self._amount(self.estimate)} than {a}{self.ending}"
            return f"{b} {self.verbs[0]} {than}{interval if is_known else ''}: {self.claim} is shown ({p})."
        nothing = f"No difference between {b} and {a} is shown"
        if self.hypothesis:
            nothing = f"It is not shown that {self.hypothesis}"
        amount = self.amount or "the same"
        if without_rounding(self.estimate):
            amount = f"{self.amount or self._amount(self.estimate)}{self.ending}"
        possible = f"; anything from {self._range()} is still possible" if is_known else ""
        return f"{nothing} ({p}): {b} {self.verbs[1]} {amount}{possible}."

    def _amount(self, value: float) -> str:
        return f"{three_digits(abs(value))}{self.unit} {self.more if value > 0 else self.less}"

    def _range(self, *, is_short: bool = False) -> str:
        """'0.01 lower to 0.03 higher', or '0.01 to 0.03 higher', without the last word where it was said before."""
        low, high = map(without_rounding, self.interval)
        if low < 0 < high:
            return f"{self._amount(low)} to {self._amount(high)}"
        near, far = sorted((low, high), key=abs)
        end = f"{three_digits(abs(far))}{self.unit}" if is_short else self._amount(far)
        return f"{three_digits(abs(near))} to {end}"
