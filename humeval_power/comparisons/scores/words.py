"""Numbers and sentences of a comparison, the same in the terminal and in every report."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields

from humeval_power.choices import MOST_NEEDED
from humeval_power.comparisons.scores.advice import STANDINGS, Standing, TestAdvice
from humeval_power.comparisons.scores.answers import PairedTest
from humeval_power.comparisons.scores.comparison import PairComparison, has_two_pseudomedians
from humeval_power.comparisons.scores.power import CurvePoint
from humeval_power.comparisons.scores.tests import TESTS
from humeval_power.errors import InputError
from humeval_power.inference.clustered import Direction
from humeval_power.saying.answer_words import with_names
from humeval_power.saying.compared import Compared
from humeval_power.saying.document import Fact, Paragraph, Points, Table
from humeval_power.saying.numbers import (
    counted,
    interval_words,
    p_words,
    percent,
    significant,
    significant_interval,
)
from humeval_power.saying.result import DIGITS, NAME, named, short
from humeval_power.saying.values import share

QUESTION_WORDS = {
    "mean": "Is the mean difference of scores other than the null difference?",
    "median": "Is the median difference of scores other than the null difference?",
    "pseudomedian": "Is the pseudomedian of the differences (the median of all means of two) other than the null?",
    "better": "Is B better than A on more, or on fewer, than half of the items?",
}
DIRECTION_WORDS = {
    "two-sided": "two-sided",
    "greater": "one-sided, B better than A",
    "less": "one-sided, B worse than A",
}


def test_p_words(test: PairedTest) -> str:
    """The p-value, with the Monte Carlo interval of one that was drawn."""
    said = p_words(test.p_value)
    if test.p_value == 0 and test.p_interval is not None:
        return f"p < {test.p_interval[1]:.2g} (none of the resamples)"
    if test.p_interval is not None:
        return f"{said} (Monte Carlo {interval_words(*test.p_interval)})"
    return said


def verdict(comparison: PairComparison) -> str:
    """What is shown, and what is still possible; with a margin whether it holds."""
    found = comparison.equivalence
    if found is None:
        return _difference(comparison)
    shown = "shown" if found.is_equivalent else "not shown"
    return (
        f"{_difference(comparison)} That the means differ by less than {found.margin:g} is {shown} "
        f"({p_words(found.p_value)})."
    )


def _difference(comparison: PairComparison) -> str:
    test, settings, (a, b) = comparison.test, comparison.request.settings, comparison.names
    p, side, null = p_words(test.p_value), "above" if test.lead > 0 else "below", settings.null
    if not (comparison.data.n_helped or comparison.data.n_hurt):
        return f"{a} and {b} score the same on every item: no difference is shown ({p})."
    if comparison.question == "better":
        share, low, high = map(percent, (test.estimate, *test.interval))
        more = test.lead > 0 if settings.alternative == "two-sided" else settings.alternative == "greater"
        than = f"{'more' if more else 'fewer'} than half is {'' if comparison.significant else 'not '}shown"
        return (
            f"{b} scores higher than {a} on {share} of the items ({100 * test.confidence:g} % interval {low} to "
            f"{high}): {than} ({p})."
        )
    if comparison.significant and not (test.estimate - null) * test.lead > 0:
        return f"{b} - {a} is shown to be {side} {null:g} ({p}), though the {test.estimand} is {test.estimate:g}."
    asked = {
        "two-sided": f"{b} - {a} is other than {null:g}" if null else "",
        "greater": f"{b} - {a} is above {null:g}" if null else f"{b} scores higher than {a}",
        "less": f"{b} - {a} is below {null:g}" if null else f"{b} scores lower than {a}",
    }
    compared = Compared(
        comparison.names,
        test.estimate,
        test.interval,
        test.p_value,
        comparison.significant,
        test.confidence,
        ending={"mean": " on average", "median": " in the median"}.get(
            test.estimand, f" by the {test.estimand}"
        ),
        claim=f"a difference {side} {null:g}" if null else "a difference",
        asked=asked[settings.alternative],
    )
    return str(compared)


def report_rows(comparison: PairComparison) -> tuple[Fact, ...]:
    """What Zhu et al. (2020, section 2.3) want reported, and p: name and value."""
    settings, test, power = comparison.request.settings, comparison.test, comparison.power
    names = comparison.names
    rows = [
        ("Question", with_names(QUESTION_WORDS[comparison.question], names)),
        (
            "Test",
            f"{test.label}, {with_names(DIRECTION_WORDS[settings.alternative], names)}; {test.method}",
        ),
        ("Significance level", f"alpha = {settings.alpha:g}"),
        ("Null difference", f"{settings.null:g}"),
        ("Sample size", _sample_size(comparison)),
        *_changed(comparison),
        (
            f"Effect: {with_names(test.estimand, names)}{', i <= j' if has_two_pseudomedians(comparison) else ''}",
            f"{significant(test.estimate)}{_test_interval(test)}",
        ),
        ("Test statistic", f"{test.statistic_name} = {significant(test.statistic)}"),
        ("P-value", test_p_words(test)),
    ]
    standard = [one for one in comparison.effects if one.name in _STANDARD[comparison.question]]
    rows += [
        (
            f"Effect size: {one.label}",
            f"{significant(one.value)}, interval {significant_interval(one.low, one.high)}",
        )
        for one in standard
    ]
    if power is not None:
        interval = power.at.interval
        around = "" if interval is None else f" ({interval_words(*interval, digits=2)})"
        if math.isnan(power.at.power):
            around = ""
        whose = "observed" if power.is_observed else "stated"
        rows.append(
            (
                "Power",
                f"{'none' if math.isnan(power.at.power) else share(power.at.power)}{around} for the {whose} effect "
                f"{significant(power.effect)} ({with_names(power.effect_words, names)}); "
                f"{_simulated_test(comparison)}{power.method}",
            )
        )
    if comparison.equivalence is not None:
        rows.append(("Equivalence", equivalence_words(comparison)))
    return tuple(rows)


def _test_interval(test: PairedTest) -> str:
    """The interval that belongs to the test; some have none, and the effect sizes have theirs."""
    if math.isnan(test.interval[0]):
        return ""
    return f", {100 * test.confidence:g} % interval {significant_interval(*test.interval)}"


def _sample_size(comparison: PairComparison) -> str:
    clusters = comparison.table.clusters
    if clusters is None:
        return f"n = {comparison.test.n:,}"
    return f"n = {comparison.test.n:,} in {clusters.n_clusters:,} clusters ({clusters.name})"


def _changed(comparison: PairComparison) -> Iterator[Fact]:
    """The items that B helped and hurt, of scores 0 and 1; with how many both got right and wrong."""
    data = comparison.data
    if data.is_binary:
        a, b = comparison.names
        both = round(data.first.mean * data.first.n) - data.n_hurt
        yield (
            "Items changed",
            f"{data.n_helped:,} helped ({b} alone right), {data.n_hurt:,} hurt ({a} alone right); both right on "
            f"{both:,}, both wrong on {data.n_ties - both:,}",
        )


def _drawn(test: str) -> str:
    return {"t": "the differences", "wilcoxon": "the signed ranks"}.get(test, "the signs")


def _simulated_test(comparison: PairComparison) -> str:
    """Which test was simulated, where it is not the one that was run."""
    power = comparison.power
    if power is not None and power.unit == "clusters":
        return (
            ""
            if comparison.test.name == "t"
            else f"of the CR2 t test of {_drawn(power.test)} in its place; "
        )
    if power is None or power.test == comparison.test.name:
        return ""
    label = TESTS[power.test].label
    return f"of the {label[0].lower()}{label[1:]} in its place; "


_STANDARD = {
    "mean": ("cohens_d", "hedges_g", "hedges_g_as_published"),
    "median": ("wilcoxon_r", "hodges_lehmann", "hodges_lehmann_as_published"),
    "pseudomedian": ("wilcoxon_r",),
    "better": (),
}


def equivalence_words(comparison: PairComparison) -> str:
    """What two one-sided tests show of the margin."""
    found = comparison.equivalence
    if found is None:
        return ""
    a, b = comparison.names
    shown_words = "shown" if found.is_equivalent else "not shown"
    inferior = "shown" if found.is_not_inferior else "not shown"
    robust = "" if comparison.table.clusters is None else " with CR2 errors"
    return (
        f"|mean {b} - {a}| below {found.margin:g} {shown_words}: two one-sided t tests{robust}, "
        f"{p_words(found.p_value)}, {100 * (1 - 2 * found.alpha):g} % interval "
        f"{significant_interval(*found.interval)}; that {b} is worse by less than {found.margin:g} is {inferior}."
    )


def summary_table(comparison: PairComparison) -> Table:
    """n, mean, median, SD, minimum and maximum of A, B and B - A."""
    data = comparison.data
    rows = tuple(
        (
            one.name,
            f"{one.n:,}",
            *map(significant, (one.mean, one.median, one.sd, one.minimum, one.maximum)),
        )
        for one in (data.first, data.second, data.difference)
    )
    return Table(("scores", "n", "mean", "median", "sd", "min", "max"), rows)


def shape_words(comparison: PairComparison) -> list[str]:
    """Skewness, normality, ties, and what the paper's rule would make of them."""
    data = comparison.data
    said = [f"Skewness of the difference {significant(data.skewness)}: {data.skew} (thresholds 0.5 and 1)."]
    if data.shapiro_p is not None:
        passed = "normality is not rejected" if data.is_normal else "not normal"
        said.append(
            f"Shapiro-Wilk W = {data.shapiro_w:.4f}, {p_words(data.shapiro_p)}: {passed} at "
            f"{data.normality_alpha:g}."
        )
    elif comparison.table.clusters is not None:
        said.append("Shapiro-Wilk was not run: it takes items as independent, and these come in clusters.")
    elif data.skew == "roughly symmetric":
        said.append("Shapiro-Wilk was not run: its p-value is good for 3 to 5,000 items with a spread.")
    else:
        said.append("Shapiro-Wilk was not run: skewed differences are not normal.")
    said.append(
        f"Of {data.difference.n:,} items {comparison.names[1]} scores higher on {data.n_helped:,}, lower on "
        f"{data.n_hurt:,}, and the same on {data.n_ties:,}."
    )
    said.append(
        f"From this, NLPStatTest would test the {data.nlpstattest_statistic}. Here the question decides: "
        f"{comparison.question}."
        if comparison.request.question is not None
        else f"By NLPStatTest's rule the {data.nlpstattest_statistic} is tested."
    )
    return said


def effect_table(comparison: PairComparison) -> Table:
    """All effect sizes with their intervals."""
    rows = tuple(
        (
            with_names(one.label, comparison.names),
            significant(one.value),
            significant_interval(one.low, one.high),
        )
        for one in comparison.effects
    )
    caption = f"Intervals of {100 * comparison.request.settings.confidence:g} %."
    return Table(("effect size", "estimate", "interval"), rows, caption)


def curve_table(comparison: PairComparison) -> Table | None:
    """Power by number of items as simulated and by formula, None without a spread."""
    power = comparison.power
    if power is None:
        return None
    rows = tuple(
        (f"{point.n:,}" + (" (this study)" if point.n == power.at.n else ""), *_point_cells(point))
        for point in power.curve
    )
    simulated = ("simulated", "Monte Carlo interval") if power.at.simulated is not None else ()
    caption = f"Formula: {power.formula}."
    if any(math.isnan(point.power) for point in power.curve):
        caption += " Samples of so few are often all alike, and then have no test."
    if power.unit == "clusters":
        caption += f" A cluster has {significant(power.items_per_unit)} items on average."
    return Table((power.unit, *simulated, "by formula"), rows, caption)


def _point_cells(point: CurvePoint) -> tuple[str, ...]:
    formula = "" if point.formula is None else f"{point.formula:.3f}"
    if point.interval is None:
        return (formula,)
    simulated = "none" if math.isnan(point.power) else f"{point.power:.3f}"
    return (simulated, interval_words(*point.interval, digits=3), formula)


# What is recommended at each of the four steps of a comparison, and what the numbers mean.

_STANDING_WORDS: dict[Standing, str] = {
    "preferred": "Recommended",
    "allowed": "As good",
    "less preferred": "Less good",
    "inappropriate": "Not for this question",
}
_HEDGES = "Hedges' g is the same without its bias in small samples"
_NO_HEDGES = "Hedges' g is left out, for its factor counts items"
_EFFECT_ADVICE = {
    "mean": "Report the mean difference with its interval, in the metric's own units. Cohen's d compares it with "
    f"other metrics; {_HEDGES}.",
    "median": "Report the median difference with its interval, in the metric's own units.",
    "pseudomedian": "Report the Hodges-Lehmann estimate with its interval, in the metric's own units; Wilcoxon's r "
    "compares it with other metrics.",
    "better": "Report the share of items on which B is better, with its interval.",
}
_EFFECT_WORDS = {
    "mean": "by how much B's mean is higher",
    "mean_bca": "the same, its interval without assuming a distribution",
    "median": "half of the items differ by more than this",
    "hodges_lehmann": "the middle of all means of two differences",
    "hodges_lehmann_as_published": "the middle of all means of two differences",
    "share_better": "on which share of items B is better, ties counted half",
    "cohens_d": "the mean difference in SDs of the differences",
    "hedges_g": "Cohen's d without its bias in small samples",
    "hedges_g_as_published": "Cohen's d by Zhu et al.'s (2020) factor",
    "wilcoxon_r": "-1 to 1: how consistently B's ranks are higher",
}


def advice_facts(comparison: PairComparison) -> tuple[Fact, ...]:
    """The test that was run and what speaks for it, then the others by how well they suit."""
    advice = comparison.advice
    used = next((one for one in advice if one.name == comparison.test.name), None)
    why = "" if used is None else f". {with_names(used.reason, comparison.names)}"
    lines: list[Fact] = [("Used", comparison.test.label + why)]
    for standing in STANDINGS:
        names = [_label(one) for one in advice if one.standing == standing]
        if names:
            lines.append((_STANDING_WORDS[standing], "; ".join(names)))
    return tuple(lines)


def _label(advice: TestAdvice) -> str:
    label = TESTS[advice.name].label
    return f"{label} ({advice.name})"


def advice_table(comparison: PairComparison) -> Table:
    """Which tests suit the question, with reasons."""
    rows = tuple(
        (one.name, one.standing, with_names(one.reason, comparison.names)) for one in comparison.advice
    )
    return Table(("test", "standing", "reason"), rows, in_words=True)


def effect_advice(comparison: PairComparison) -> Paragraph:
    """Which effect size answers the question."""
    said = _EFFECT_ADVICE[comparison.question]
    if comparison.table.clusters is not None:
        said = said.replace(_HEDGES, _NO_HEDGES)
    return Paragraph(with_names(said, comparison.names))


def method_table(comparison: PairComparison) -> Table:
    """What each effect size says, and how its interval was made."""
    names = comparison.names
    rows = tuple(
        (with_names(one.label, names), with_names(_EFFECT_WORDS[one.name], names), one.method)
        for one in comparison.effects
    )
    return Table(("effect size", "what it says", "interval by"), rows, in_words=True)


def power_advice(comparison: PairComparison) -> Points:
    """What the next study needs, and which effect the power should be for."""
    power = comparison.power
    assert power is not None
    effect = f"{'the observed' if power.is_observed else 'this'} effect of {significant(power.effect)}"
    if power.needed is None:
        most = f"No number of {power.unit} up to {MOST_NEEDED:,}"
        needed = f"{most} gives a power of {share(power.target)} for {effect}."
    else:
        about = counted(power.needed, power.unit.removesuffix("s"))
        needed = f"By formula, about {about} give a power of {share(power.target)} for {effect}."
    said = [needed]
    if power.is_observed:
        said.append("For the next study, name the smallest difference that would matter instead.")
    return Points(tuple(said))


# A line that says in a paper how systems were compared by per-item scores, and that can be read back.

_SIDES: dict[str, Direction] = {"two": "two-sided", "one": "greater", "less": "less"}
_HASH = re.compile(r"sha256:([0-9a-f]{1,64})")


@dataclass(frozen=True, slots=True)
class CompareSignature:
    """What the line says; the hash is cut to its first digits."""

    question: str
    test: str
    alpha: float
    alternative: Direction
    n_items: int
    null: float = 0.0
    version: str | None = None
    correction: str | None = None
    n_systems: int | None = None
    n_resamples: int | None = None
    seed: int | None = None
    data_sha256: str | None = None
    cluster: str | None = None

    def __post_init__(self) -> None:
        if self.data_sha256 is not None:
            object.__setattr__(self, "data_sha256", self.data_sha256[:DIGITS] or None)

    def __str__(self) -> str:
        side = next(word for word, meant in _SIDES.items() if meant == self.alternative)
        entries = [
            NAME,
            *named("v", self.version),
            "model:paired",
            "coding:b-a",
            f"q:{self.question}",
            f"test:{self.test}",
            *([f"null:{short(self.null)}"] if self.null else []),
            f"alpha:{short(self.alpha)}",
            side,
            f"n:{self.n_items}",
            *named("cluster", self.cluster),
            *named("k", self.n_systems),
            *named("corr", self.correction),
            *named("draws", self.n_resamples),
            *named("seed", self.seed),
            *named("data", None if self.data_sha256 is None else f"sha256:{self.data_sha256}"),
        ]
        return "|".join(entries)


def parse_compare_signature(text: str) -> CompareSignature:
    """The signature of a line, also with blanks around it.

    Raises
    ------
    InputError
        A line that is not one, or an entry that is not known, twice there or impossible.
    """
    name, *entries = text.strip().split("|")
    found: dict[str, str] = {}
    for entry in entries:
        key, _, value = ("side", "", entry) if entry in _SIDES else entry.partition(":")
        if key not in _KNOWN or not value or key in found:
            raise InputError(f"{entry!r} is no entry of a signature, or is there twice.")
        found[key] = value
    if name != NAME or found.get("model") != "paired" or found.get("coding") != "b-a":
        raise InputError(f"A signature of paired scores starts with {NAME}| and has model:paired.")
    try:
        return _signature(found)
    except (KeyError, ValueError) as error:
        raise InputError(f"The signature cannot be read: {error}.") from None


_KNOWN = {
    "v": "version",
    "model": "",
    "coding": "",
    "q": "question",
    "test": "test",
    "null": "null",
    "alpha": "alpha",
    "side": "alternative",
    "n": "n_items",
    "cluster": "cluster",
    "k": "n_systems",
    "corr": "correction",
    "draws": "n_resamples",
    "seed": "seed",
    "data": "data_sha256",
}


def _signature(found: dict[str, str]) -> CompareSignature:
    digest = found.get("data")
    matched = _HASH.fullmatch(digest) if digest else None
    if digest and matched is None:
        raise ValueError(f"{digest!r} is not a SHA-256")
    values: dict[str, object] = {}
    kinds = {field.name: str(field.type) for field in fields(CompareSignature)}
    for key, text in found.items():
        name = _KNOWN[key]
        if name:
            values[name] = _typed(text, kinds[name])
    values["alternative"] = _SIDES[found["side"]]
    values["data_sha256"] = matched[1] if matched else None
    missing = {"question", "test", "alpha", "n_items"} - set(values)
    if missing:
        raise ValueError(f"it lacks {', '.join(sorted(missing))}")
    return CompareSignature(**values)  # type: ignore[arg-type]


def _typed(text: str, kind: str) -> object:
    if kind.startswith("int"):
        return int(text)
    return float(text) if kind.startswith("float") else text
