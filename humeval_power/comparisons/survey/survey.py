"""A collection of published comparisons: what they report, and what they could have found.

After Card et al. (2020, section 5.1): effects are scaled to [0, 1], the number of items is the measure
of size, and Kendall's tau between the two looks for the trace of small studies that were published only
when their effect was large (Begg and Mazumdar 1994).

Tables of published comparisons, one a row, with blanks for what is not reported.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, stdev

import numpy as np

from humeval_power.checking.cells import MISSING_CODES
from humeval_power.checking.columns import Column, find_columns, listing, shortened
from humeval_power.errors import InputError, Problem
from humeval_power.files.tables import (
    Floats,
    NumberColumn,
    SourceTable,
    read_numbers_of,
    read_table,
    texts_of,
)
from humeval_power.inference.exact_comparison import rounded
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.studies.power.analytic import minimum_detectable_effect
from humeval_power.studies.power.formula import T_LAW_WORKERS, EffectPrecision, effect_precision, power_at
from humeval_power.studies.power.required import build_design

DETAILS = ("effect", "items", "workers", "ratings_per_item", "p_value", "scale")


@dataclass(frozen=True, slots=True)
class PublishedComparison:
    """One published comparison of two systems; None for what is not reported.

    `effect` is B - A in the units of the scale `low` to `high`; without a scale it is on [0, 1].
    `ratings_per_item` counts the ratings of an item under each system. `paper` is where it was published, `kind`
    what was asked (ratings, a choice), `tested` whether any test is reported, `bold` whether the best number is set
    in bold type or starred.
    """

    name: str
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    items: int | None = None
    workers: int | None = None
    ratings_per_item: int | None = None
    p_value: float | None = None
    paper: str | None = None
    kind: str | None = None
    tested: bool | None = None
    bold: bool | None = None

    @property
    def scaled_effect(self) -> float | None:
        """The effect on [0, 1]."""
        if self.effect is None:
            return None
        if self.low is None or self.high is None:
            return self.effect
        return self.effect / (self.high - self.low)

    def reports(self, detail: str) -> bool:
        """Whether a detail of DETAILS is known."""
        if detail == "scale":
            return self.low is not None and self.high is not None
        return getattr(self, detail) is not None


# What a collection of comparisons says of itself: effects, sizes, kinds, tests, bold type, tau.

SIZES = ("items", "workers", "ratings_per_item")
BANDS = (50, 100, 200)  # items


@dataclass(frozen=True, slots=True)
class PublishedEffects:
    """The scaled effects that are told: their number, mean, standard deviation (None for one) and range."""

    n: int
    mean: float
    sd: float | None
    low: float
    middle: float
    high: float


@dataclass(frozen=True, slots=True)
class Sizes:
    """A size that is told by `n` comparisons: its range, and the commonest one, the smallest of equals."""

    n: int
    low: int
    middle: float
    high: int
    commonest: int
    n_commonest: int


@dataclass(frozen=True, slots=True)
class Share:
    """Comparisons for which something holds, of those that tell."""

    count: int
    known: int


@dataclass(frozen=True, slots=True)
class KendallTau:
    """Rank correlation of effect and size over `n` comparisons, with the p-value of no correlation."""

    tau: float
    p_value: float
    n: int


@dataclass(frozen=True, slots=True)
class Description:
    """A collection in numbers; None, or nothing, where nobody tells.

    `sizes` by the names of SIZES; `up_to`, comparisons with at most so many items, by the limits of BANDS;
    `kinds`, the commonest first.
    """

    papers: int | None
    effects: PublishedEffects | None
    sizes: Mapping[str, Sizes]
    up_to: Mapping[int, Share]
    kinds: Mapping[str, int]
    tested: Share | None
    bold: Share | None


def describe(comparisons: Sequence[PublishedComparison]) -> Description:
    """The collection in numbers."""
    items = [each.items for each in comparisons if each.items is not None]
    papers = {each.paper for each in comparisons if each.paper is not None}
    kinds = Counter(each.kind for each in comparisons if each.kind is not None)
    return Description(
        papers=len(papers) or None,
        effects=_effects([each.scaled_effect for each in comparisons if each.scaled_effect is not None]),
        sizes={name: result for name in SIZES if (result := _sizes(comparisons, name)) is not None},
        up_to={most: Share(sum(n <= most for n in items), len(items)) for most in BANDS if items},
        kinds=dict(kinds.most_common()),
        tested=_share([each.tested for each in comparisons]),
        bold=_share([each.bold for each in comparisons]),
    )


def _effects(values: Sequence[float]) -> PublishedEffects | None:
    if not values:
        return None
    sd = stdev(values) if len(values) > 1 else None
    return PublishedEffects(len(values), mean(values), sd, min(values), median(values), max(values))


def _sizes(comparisons: Sequence[PublishedComparison], name: str) -> Sizes | None:
    values = [size for each in comparisons if (size := getattr(each, name)) is not None]
    if not values:
        return None
    counts = Counter(values)
    commonest = min(counts, key=lambda size: (-counts[size], size))
    return Sizes(len(values), min(values), median(values), max(values), commonest, counts[commonest])


def _share(values: Sequence[bool | None]) -> Share | None:
    known = [each for each in values if each is not None]
    return Share(sum(known), len(known)) if known else None


def kendall(comparisons: Sequence[PublishedComparison], *, absolute: bool) -> KendallTau | None:
    """Tau-b of scaled effect and items, by scipy; None below 3 comparisons, or where one of them does not vary."""
    pairs = [
        (abs(each.scaled_effect) if absolute else each.scaled_effect, each.items)
        for each in comparisons
        if each.scaled_effect is not None and each.items is not None
    ]
    if len(pairs) < 3:
        return None
    from scipy import stats

    effect, items = np.array(pairs, dtype=float).T
    effect = rounded(effect)
    if np.ptp(effect) == 0 or np.ptp(items) == 0:
        return None
    result = stats.kendalltau(effect, items)
    return KendallTau(float(result.statistic), float(result.pvalue), len(pairs))


TARGET = 0.8
_MOST_RATINGS = 400_000  # designs beyond are taken as fully reported but are not worked out


@dataclass(frozen=True, slots=True)
class SurveyedPower:
    """Power of one comparison under one setting of parameters.

    `assumed` names the details that were filled in; `workers` and `ratings_per_item` are those taken, assumed or
    not, None where they are unknown. `mde` is what it finds with power 0.8, on [0, 1];
    `power` that at its own reported effect, which flatters: reported effects are inflated; `power_at`
    that at given effects. NaN, and a `reason`, where it cannot be worked out. `is_rough` marks fewer
    than five workers, where the formula is a guide only.
    """

    comparison: PublishedComparison
    setting: str
    assumed: tuple[str, ...]
    mde: float
    power: float
    power_at: tuple[float, ...]
    is_rough: bool
    reason: str = ""
    workers: int | None = None
    ratings_per_item: int | None = None


@dataclass(frozen=True, slots=True)
class Survey:
    """What a collection reports and could have found.

    `reported` is the number of comparisons with each detail, `described` what they are; `signed` and `absolute`
    are tau of the scaled effect, with and without its sign, against items; None below 3 comparisons.
    """

    n: int
    reported: Mapping[str, int]
    described: Description
    signed: KendallTau | None
    absolute: KendallTau | None
    powers: tuple[SurveyedPower, ...]
    effects: tuple[float, ...]

    def share_underpowered(self, setting: str, effect: float | None = None) -> tuple[int, int]:
        """Comparisons with power below 0.8 under a setting, and those whose power is known; at one of
        `effects`, or at each one's own effect."""
        place = None if effect is None else self.effects.index(effect)
        powers = [
            each.power if place is None else each.power_at[place]
            for each in self.powers
            if each.setting == setting and not each.reason
        ]
        known = [power for power in powers if not math.isnan(power)]
        return sum(power < TARGET for power in known), len(known)


def survey(
    comparisons: Sequence[PublishedComparison],
    settings: Mapping[str, Parameters],
    *,
    effects: Sequence[float] = (0.05, 0.1, 0.2),
    if_missing: Mapping[str, int] | None = None,
    rule: DecisionRule = DEFAULT_RULE,
) -> Survey:
    """Look at a collection of comparisons.

    settings : parameters of the variation by name, under which power is worked out by formula.
    effects : differences on [0, 1] that a reader would want found.
    if_missing : what to assume where 'workers', 'items' or 'ratings_per_item' is not reported; without
        it such a comparison has no power. Ratings per item that are missing mean that every worker rated
        every item only if that is said: give the number.
    """
    if not comparisons:
        raise InputError("There are no comparisons to look at.")
    filled = dict(if_missing or {})
    unknown = set(filled) - {"workers", "items", "ratings_per_item"}
    if unknown:
        raise InputError(f"Only workers, items and ratings_per_item can be assumed; got {sorted(unknown)}.")
    known: dict[tuple[str, int, int, int], EffectPrecision | str] = {}
    powers = [
        _power(comparison, name, parameters, tuple(effects), filled, rule, known)
        for name, parameters in settings.items()
        for comparison in comparisons
    ]
    return Survey(
        n=len(comparisons),
        reported={detail: sum(each.reports(detail) for each in comparisons) for detail in DETAILS},
        described=describe(comparisons),
        signed=kendall(comparisons, absolute=False),
        absolute=kendall(comparisons, absolute=True),
        powers=tuple(powers),
        effects=tuple(effects),
    )


def _power(
    comparison: PublishedComparison,
    setting: str,
    parameters: Parameters,
    effects: tuple[float, ...],
    filled: Mapping[str, int],
    rule: DecisionRule,
    known: dict[tuple[str, int, int, int], EffectPrecision | str],
) -> SurveyedPower:
    sizes, assumed, missing = [], [], []
    for name in ("workers", "items", "ratings_per_item"):
        value = getattr(comparison, name)
        if value is None and name in filled:
            value = filled[name]
            assumed.append(name)
        if value is None:
            missing.append(name.replace("_", " "))
        sizes.append(value or 0)
    workers, items, per_item = sizes
    key = (setting, workers, items, per_item)
    precision: EffectPrecision | str = f"{', '.join(missing)} not reported"
    if not missing:
        if key not in known:
            known[key] = _precision(parameters, workers, items, per_item)
        precision = known[key]
    if isinstance(precision, str):
        unknown = (math.nan,) * len(effects)
        return SurveyedPower(
            comparison, setting, tuple(assumed), math.nan, math.nan, unknown, False, precision
        )
    own = comparison.scaled_effect
    return SurveyedPower(
        comparison,
        setting,
        tuple(assumed),
        mde=minimum_detectable_effect(precision, power=TARGET, rule=rule),
        power=math.nan if own is None or own == 0 else power_at(abs(own), precision, rule=rule).power,
        power_at=tuple(power_at(effect, precision, rule=rule).power for effect in effects),
        is_rough=workers < T_LAW_WORKERS,
        workers=workers,
        ratings_per_item=per_item,
    )


def _precision(parameters: Parameters, workers: int, items: int, per_item: int) -> EffectPrecision | str:
    """Precision of the estimated difference; or, in words, why there is none."""
    if 2 * items * per_item > _MOST_RATINGS:
        return "too large to work out"
    try:
        design = build_design(workers, items, None if per_item == workers else per_item)
    except InputError as error:
        return f"no such design: {error}"
    return effect_precision(parameters, design)


_UNREPORTED = ("unspecified", "not specified", "not reported", "unreported", "unknown", "unclear", "n.a.")
_NOTHING = frozenset(word.casefold() for word in (*MISSING_CODES, *_UNREPORTED))
_YES = frozenset({"yes", "y", "true", "1", "1.0", "x"})
_NO = frozenset({"no", "n", "false", "0", "0.0"})
_NAME = Column(("name", "comparison", "id"), required=False)
_PAPER = Column(("paper", "link", "study"), required=False)
_KIND = Column(("type", "kind", "response"), required=False)
_TESTED = Column(("tested", "has test", "significance test"), required=False)
_BOLD = Column(("bold", "bold text", "starred"), required=False)
_WORDS = (_NAME, _PAPER, _KIND, _TESTED, _BOLD)


def _optional(
    *names: str, low: float = -math.inf, high: float = math.inf, whole: bool = False
) -> NumberColumn:
    return NumberColumn(
        names, low=low, high=high, whole=whole, required=False, may_be_blank=True, blanks=_UNREPORTED
    )


_COLUMNS = (
    _optional("effect", "difference", "diff"),
    _optional("low", "scale low", "scale min"),
    _optional("high", "scale high", "scale max"),
    _optional(
        "items", "n items", "n", "number of items", "examples", "number of examples", low=2, whole=True
    ),
    _optional(
        "workers", "n workers", "number of workers", "annotators", "raters", "tot ann", low=1, whole=True
    ),
    _optional("ratings_per_item", "ratings", "annotations per item", "ann per ex", low=1, whole=True),
    _optional("p", "p value", low=0, high=1),
)


def read_comparisons(path: str | Path) -> tuple[list[PublishedComparison], tuple[str, ...]]:
    """The comparisons of a table, and what was assumed in reading it.

    Raises
    ------
    InputError
        A table without any of the columns, or every cell that breaks a rule, with its row.
    """
    table = read_table(path)
    empty = (table.frame.isna() | (table.frame.astype(str).map(str.strip) == "")).all(axis=1)
    table = table._replace(frame=table.frame[~empty])
    columns = find_columns(table.frame.columns, (*_COLUMNS, *_WORDS), source=table.source).of
    _refuse_strange(table, columns)
    fields = {column.name: texts_of(table, columns.get(column.name)) for column in _WORDS}
    problems: list[Problem] = []
    answers = {}
    for column in (_TESTED, _BOLD):
        answers[column.name], wrong = _answers(table, columns.get(column.name))
        problems += wrong
    numbers = _numbers(table, problems)
    comparisons = [
        _comparison(
            {name: float(values[row]) for name, values in numbers.items()},
            {name: None if texts is None else _word(texts[row]) for name, texts in fields.items()},
            {name: given[row] for name, given in answers.items()},
            label=f"row {label}",
        )
        for row, label in enumerate(table.frame.index)
    ]
    blank = (f"Blank rows are left out: {int(empty.sum()):,}.",) if empty.any() else ()
    return comparisons, tuple(f"{table.source}: {notice}" for notice in (*blank, *_notices(table, columns)))


def _numbers(table: SourceTable, problems: Sequence[Problem]) -> dict[str, Floats]:
    """The columns of numbers, NaN where nothing is told."""
    try:
        result = read_numbers_of(table, _COLUMNS)
    except InputError as error:
        raise InputError([*error.problems, *problems]) from None
    absent = np.full(len(table.frame), math.nan)
    numbers = {column.name: result.get(column.name, absent) for column in _COLUMNS}
    wrong = _scale_problems(table, numbers["effect"], numbers["low"], numbers["high"])
    if wrong or problems:
        raise InputError([*wrong, *problems])
    return numbers


def _refuse_strange(table: SourceTable, columns: Mapping[str, str]) -> None:
    """Refuse a table of something else: without a column that says what a comparison found or how large it was."""
    if set(columns) - {_NAME.name, _PAPER.name}:
        return
    names = ", ".join(column.name for column in (*_COLUMNS, _KIND, _TESTED, _BOLD))
    raise InputError(
        f"{table.source}: no column tells anything of a comparison. Name some {names}; there are: "
        f"{listing([str(name) for name in table.frame.columns])}."
    )


def _notices(table: SourceTable, columns: Mapping[str, str]) -> list[str]:
    """What was noticed in reading, and the columns that say nothing here."""
    unused = [str(name) for name in table.frame.columns if str(name) not in columns.values()]
    said = [f"Not used: {listing(unused, limit=6)}."] if unused else []
    read_as = [
        f"Column {shortened(values)!r} is read as {name}."
        for name, values in columns.items()
        if values != name
    ]
    if unused and "effect" not in columns:
        said.append(
            "There is no column 'effect': the difference of the two means, B - A, in points of the scale."
        )
    return [*table.notices, *read_as, *said]


def _word(text: str) -> str | None:
    return None if text.casefold() in _NOTHING else text


def _answers(table: SourceTable, column: str | None) -> tuple[list[bool | None], list[Problem]]:
    """Yes, no, or not told, for each row."""
    texts = texts_of(table, column)
    if texts is None:
        return [None] * len(table.frame), []
    words = [text.casefold() for text in texts]
    problems = [
        table.problem("must be yes or no.", "Correct it, or leave the cell blank.", row, str(column), text)
        for row, text, word in zip(table.frame.index, texts, words, strict=True)
        if word not in _YES | _NO | _NOTHING
    ]
    return [True if word in _YES else False if word in _NO else None for word in words], problems


def _scale_problems(table: SourceTable, effect: Floats, low: Floats, high: Floats) -> list[Problem]:
    rows = table.frame.index.to_numpy()
    width = np.where(np.isfinite(low) & np.isfinite(high), high - low, 1.0)
    problems = [
        Problem("high must be above low.", "Correct the scale.", place=table.source, row=int(rows[at]))
        for at in np.flatnonzero(width <= 0)
    ]
    with np.errstate(invalid="ignore"):
        outside = np.flatnonzero((width > 0) & (np.abs(effect) > width))
    return problems + [
        table.problem(
            f"the effect is larger than its scale is wide, {width[at]:g}.",
            "Give the scale in columns low and high, or the effect on [0, 1].",
            *(rows[at], "effect", float(effect[at])),
        )
        for at in outside
    ]


def _comparison(
    values: dict[str, float],
    words: dict[str, str | None],
    answers: dict[str, bool | None],
    *,
    label: str,
) -> PublishedComparison:
    known = {name: value if math.isfinite(value) else None for name, value in values.items()}

    def count(name: str) -> int | None:
        value = known[name]
        return None if value is None else int(value)

    return PublishedComparison(
        words["name"] or words["paper"] or label,
        effect=known["effect"],
        low=known["low"],
        high=known["high"],
        items=count("items"),
        workers=count("workers"),
        ratings_per_item=count("ratings_per_item"),
        p_value=known["p"],
        paper=words["paper"],
        kind=words["type"],
        tested=answers["tested"],
        bold=answers["bold"],
    )
