"""Numbers and sentences of a comparison, the same in the terminal and in every report."""

from __future__ import annotations

import math
from collections.abc import Iterator

from humeval_power.inference.compare.result import PairedTest
from humeval_power.inference.compare.tests import TESTS
from humeval_power.planning.compare.pair import PairComparison, has_two_pseudomedians
from humeval_power.planning.compare.power import CurvePoint
from humeval_power.reporting.compared import Compared
from humeval_power.reporting.document import Fact, Table
from humeval_power.reporting.numbers import (
    interval_words,
    p_words,
    percent,
    significant,
    significant_interval,
)
from humeval_power.reporting.pair_names import with_names
from humeval_power.reporting.values import share

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
