"""Two systems compared by per-item scores: what is said of them, and the record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.choices import MOST_NEEDED
from humeval_power.comparisons.scores.advice import STANDINGS, Standing
from humeval_power.comparisons.scores.charts import (
    comparison_chart,
    differences_chart,
    retrospective_chart,
    scores_chart,
)
from humeval_power.comparisons.scores.comparison import PairComparison, has_two_pseudomedians
from humeval_power.comparisons.scores.effect_sizes import PairedTest, TestSettings, score_differences
from humeval_power.comparisons.scores.power import SIGN_TESTS, CurvePoint
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.comparisons.scores.tests import TESTS
from humeval_power.inference.clustered import clustered_mean
from humeval_power.saying.answer_words import TestedDifference, with_names
from humeval_power.saying.clustered_words import (
    Independence,
    assumed_items,
    clustered_items,
    in_clusters,
    independence_record,
)
from humeval_power.saying.document import Document, Fact, Facts, Paragraph, Points, Section
from humeval_power.saying.numbers import (
    POWER_LABEL,
    counted,
    interval_words,
    level_of,
    p_words,
    percent,
    power_words,
    significant,
    significant_interval,
)
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record
from humeval_power.saying.stated import PaperResult, data_entry, signature, table
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


_STANDARD = {
    "mean": ("cohens_d", "hedges_g", "hedges_g_as_published"),
    "median": ("wilcoxon_r", "hodges_lehmann", "hodges_lehmann_as_published"),
    "pseudomedian": ("wilcoxon_r",),
    "better": (),
}
_STANDING_WORDS: dict[Standing, str] = {
    "preferred": "Recommended",
    "allowed": "As good",
    "less preferred": "Less good",
    "inappropriate": "Not for this question",
}
_EFFECT_ADVICE = {
    "mean": "Report the mean difference with its interval, in the metric's own units. Cohen's d compares it with "
    "other metrics; Hedges' g is {hedges}.",
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


_WHAT = {
    "mean": "mean difference",
    "median": "median difference",
    "pseudomedian": "pseudomedian of the differences",
}
_SIDES = {"two-sided": "two", "greater": "one", "less": "less"}  # in a signature


def independence_of_pair(comparison: PairComparison) -> tuple[Independence, ...]:
    """Clusters of the items with what they do to the mean difference, or that there is none known."""
    table = comparison.table
    if table.clusters is None:
        return (assumed_items(table.n_items, table.suspects),)
    differences = score_differences(*(table.column(name) for name in table.systems))
    return (clustered_items(clustered_mean(differences, table.clusters), table.clusters.name),)


def settings_record(settings: TestSettings) -> Record:
    """The settings without the seed, which stands in the envelope where something was drawn."""
    return {name: value for name, value in asdict(settings).items() if name != "seed"}


def pair_row(systems: Sequence[str], test: PairedTest) -> Record:
    """A test of B - A, A being the first of the systems, as a row of a table."""
    low, high = test.interval
    named: Record = {"first": systems[0], "second": systems[1], **values(test, "n", "estimate")}
    return {**named, "low": low, "high": high, "p_value": test.p_value}


def draws(test: PairedTest) -> bool:
    """Whether the p-value of a test depends on a seed."""
    return test.name.startswith(("permutation", "bootstrap", "primer")) and not test.exact


def is_drawn(comparison: PairComparison) -> bool:
    """Whether anything was simulated or resampled."""
    return comparison.power is not None or draws(comparison.test)


def notices_of(*tables: ScoreTable, with_suspects: bool = True) -> tuple[str, ...]:
    """What was noticed in reading the tables, each thing once, with the file's name; with the columns that look
    like clusters of items and are not known as such."""
    said: dict[str, None] = {}
    for of in tables:
        suspects = [each.sentence() for each in of.suspects if with_suspects]
        for notice in (*of.notices, *suspects):
            said[f"{of.source}: {notice}" if of.source else notice] = None
    return tuple(said)


def origin(*tables: ScoreTable) -> tuple[Fact, ...]:
    """The same for readers of the document."""
    return tuple(("Scores", notice) for notice in notices_of(*tables, with_suspects=False))


def scores_signature(
    question: str,
    test: PairedTest,
    table: ScoreTable,
    settings: TestSettings,
    *,
    drawn: bool,
    n_systems: int | None = None,
    correction: str | None = None,
) -> str:
    """The line for a paper, of a pair or of all pairs of several systems."""
    return signature(
        model="paired",
        coding="b-a",
        q=question,
        test=test.name,
        null=settings.null or None,
        alpha=settings.alpha,
        **{_SIDES[settings.alternative]: True},
        n=test.n if n_systems is None else table.n_items,
        cluster=table.clusters,
        k=n_systems,
        corr=correction,
        draws=settings.n_resamples if drawn else None,
        seed=settings.seed if drawn else None,
        data=data_entry(table.sha256),
    )


def pair_signature(comparison: PairComparison) -> str:
    request, test = comparison.request, comparison.test
    question = comparison.question if request.question else "nlpstattest"
    return scores_signature(question, test, comparison.table, request.settings, drawn=draws(test))


def pair_record(comparison: PairComparison) -> Record:
    """One pair as plain values: the list of Zhu et al. (2020, section 2.3) and all that it rests on."""
    request, power, equivalence = comparison.request, comparison.power, comparison.equivalence
    return {
        "systems": list(comparison.table.systems),
        "metric": comparison.table.metric,
        "procedure": request.procedure,
        "settings": settings_record(request.settings),
        **values(comparison, "question", "test", "significant", "warnings"),
        "effect_sizes": [asdict(one) for one in comparison.effects],
        "power": power
        and {
            **values(power, "effect", "is_observed", "test", "method", "unit"),
            "effect_is": power.effect_words,
            "difference": None if power.test in SIGN_TESTS else power.effect,
            "formula_by": power.formula,
            **_point(power.at),
            "n_simulations": 0 if power.at.simulated is None else power.at.simulated.n_simulations,
            "target_power": power.target,
            "n_for_target": power.needed,
            "curve": [_point(point) for point in power.curve],
        },
        "equivalence": equivalence
        and {**asdict(equivalence), **values(equivalence, "p_value", "is_equivalent", "is_not_inferior")},
        "data_analysis": {
            **asdict(comparison.data),
            **values(comparison.data, "is_normal", "nlpstattest_statistic"),
        },
        "advice": [asdict(one) for one in comparison.advice],
        "signature": pair_signature(comparison),
        "notices": list(comparison.table.notices),
        "independence": independence_record(independence_of_pair(comparison)),
    }


def _point(point: CurvePoint) -> Record:
    return {**values(point, "n", "power", "formula"), "power_interval": point.interval}


@dataclass(frozen=True, kw_only=True)
class PairResult(PaperResult):
    """One pair of systems; the effect is B - A, A being the first system of the table."""

    schema: ClassVar[str] = "humeval_power/compare/2"

    comparison: PairComparison

    @property
    def remarks(self) -> tuple[str, ...]:
        return notices_of(self.comparison.table)

    def answer(self) -> Document:
        result = self.comparison
        a, b = result.table.systems
        data, names = result.data, result.names
        scores = table(
            (data.first, data.second, data.difference),
            {
                "scores": lambda one: one.name,
                "n": lambda one: f"{one.n:,}",
                "mean": lambda one: significant(one.mean),
                "median": lambda one: significant(one.median),
                "sd": lambda one: significant(one.sd),
                "min": lambda one: significant(one.minimum),
                "max": lambda one: significant(one.maximum),
            },
        )
        tests = table(
            result.advice,
            {
                "test": lambda one: one.name,
                "standing": lambda one: one.standing,
                "reason": lambda one: with_names(one.reason, names),
            },
            in_words=True,
        )
        label = {"effect size": lambda one: with_names(one.label, names)}
        effects = table(
            result.effects,
            {
                **label,
                "estimate": lambda one: significant(one.value),
                "interval": lambda one: significant_interval(one.low, one.high),
            },
            f"Intervals of {level_of(result.request.settings.confidence)}.",
        )
        meaning = table(
            result.effects,
            {
                **label,
                "what it says": lambda one: with_names(_EFFECT_WORDS[one.name], names),
                "interval by": lambda one: one.method,
            },
            in_words=True,
        )
        hedges = "the same without its bias in small samples"
        if result.table.clusters is not None:
            hedges = "left out, for its factor counts items"
        advice = _EFFECT_ADVICE[result.question].format(hedges=hedges)
        charts = scores_chart(result), differences_chart(result)
        return Document(
            f"{b} compared with {a}: {result.table.metric}",
            lead=_verdict(result),
            caveats=result.warnings,
            sections=(
                Section("What to report", (Facts(tuple(_reported(result))),)),
                Section("Step 1: the data", (scores, Points(tuple(_shape(result))), *charts)),
                Section("Step 2: the test", (Facts(tuple(_suits(result))), *comparison_chart(result))),
                Section("Every test for this question", (tests,), is_detail=True),
                Section("Step 3: the size of the effect", (effects, Paragraph(with_names(advice, names)))),
                Section("What the effect sizes are", (meaning,), is_detail=True),
                *_power_section(result),
            ),
            provenance=origin(result.table),
        )

    def independence(self) -> tuple[Independence, ...]:
        return independence_of_pair(self.comparison)

    def paper(self) -> tuple[str, ...]:
        comparison, test, settings = self.comparison, self.comparison.test, self.comparison.request.settings
        a, b = comparison.names
        named = test.label.startswith(("Wilcoxon", "McNemar"))
        label = test.label if named else f"{test.label[0].lower()}{test.label[1:]}"
        what = f"{_WHAT[test.estimand]} B - A" if test.estimand in _WHAT else test.estimand
        statistic = f" {test.statistic_name} = {significant(test.statistic)}," if test.name == "t" else ""
        side = "two-sided" if settings.alternative == "two-sided" else "one-sided"
        data, alone = comparison.data, ""
        if data.is_binary:
            helped = counted(data.n_helped, "item")
            alone = f" {b} alone was right on {helped}, {a} alone on {data.n_hurt:,}."
        return (
            f"We compared {b} with {a} by {comparison.table.metric} on the same {test.n:,} "
            f"items{in_clusters(comparison.table.clusters)}. The {with_names(what, comparison.names)} was "
            f"{significant(test.estimate)}{_interval(test)} ({label}, {side},{statistic} {p_words(test.p_value)}, "
            f"alpha {settings.alpha:g}).{alone}",
        )

    @property
    def signature(self) -> str:
        return pair_signature(self.comparison)

    def numbers(self) -> Record:
        return pair_record(self.comparison)

    def table_rows(self) -> list[Record]:
        result = self.comparison
        return [{**pair_row(result.table.systems, result.test), "significant": result.significant}]


def _verdict(comparison: PairComparison) -> str:
    """What is shown, and what is still possible; with a margin whether it holds."""
    said, equivalence = _difference(comparison), comparison.equivalence
    if equivalence is None:
        return said
    shown = f"{'' if equivalence.is_equivalent else 'not '}shown ({p_words(equivalence.p_value)})"
    return f"{said} That the means differ by less than {equivalence.margin:g} is {shown}."


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
            f"{b} scores higher than {a} on {share} of the items ({level_of(test.confidence)} interval {low} to "
            f"{high}): {than} ({p})."
        )
    if comparison.significant and not (test.estimate - null) * test.lead > 0:
        return f"{b} - {a} is shown to be {side} {null:g} ({p}), though the {test.estimand} is {test.estimate:g}."
    claims = {
        "two-sided": f"{b} - {a} is other than {null:g}" if null else "",
        "greater": f"{b} - {a} is above {null:g}" if null else f"{b} scores higher than {a}",
        "less": f"{b} - {a} is below {null:g}" if null else f"{b} scores lower than {a}",
    }
    endings = {"mean": " on average", "median": " in the median"}
    compared = TestedDifference(
        comparison.names,
        test.estimate,
        test.interval,
        test.p_value,
        comparison.significant,
        test.confidence,
        ending=endings.get(test.estimand, f" by the {test.estimand}"),
        claim=f"a difference {side} {null:g}" if null else "a difference",
        hypothesis=claims[settings.alternative],
    )
    return str(compared)


def _reported(comparison: PairComparison) -> Iterator[Fact]:
    """What Zhu et al. (2020, section 2.3) want reported, and p: name and value."""
    settings, test, power = comparison.request.settings, comparison.test, comparison.power
    data, names = comparison.data, comparison.names
    a, b = names
    yield "Question", with_names(QUESTION_WORDS[comparison.question], names)
    direction = with_names(DIRECTION_WORDS[settings.alternative], names)
    yield "Test", f"{test.label}, {direction}; {test.method}"
    yield "Significance level", f"alpha = {settings.alpha:g}"
    yield "Null difference", f"{settings.null:g}"
    yield "Sample size", f"n = {test.n:,}{in_clusters(comparison.table.clusters)}"
    if data.is_binary:
        both = round(data.first.mean * data.first.n) - data.n_hurt
        yield (
            "Items changed",
            f"{data.n_helped:,} helped ({b} alone right), {data.n_hurt:,} hurt ({a} alone right); both right on "
            f"{both:,}, both wrong on {data.n_ties - both:,}",
        )
    estimand = with_names(test.estimand, names) + (", i <= j" if has_two_pseudomedians(comparison) else "")
    yield f"Effect: {estimand}", f"{significant(test.estimate)}{_interval(test)}"
    yield "Test statistic", f"{test.statistic_name} = {significant(test.statistic)}"
    p = p_words(test.p_value)
    if test.p_interval is not None and test.p_value == 0:
        p = f"p < {test.p_interval[1]:.2g} (none of the resamples)"
    elif test.p_interval is not None:
        p = f"{p} (Monte Carlo {interval_words(*test.p_interval)})"
    yield "P-value", p
    for one in comparison.effects:
        if one.name in _STANDARD[comparison.question]:
            interval = significant_interval(one.low, one.high)
            yield f"Effect size: {one.label}", f"{significant(one.value)}, interval {interval}"
    if power is not None:
        known = "none" if math.isnan(power.at.power) else power_words(power.at.power, power.at.interval)
        effect = f"{'observed' if power.is_observed else 'stated'} effect {significant(power.effect)}"
        in_place = ""
        if power.unit == "clusters" and test.name != "t":
            drawn = {"t": "the differences", "wilcoxon": "the signed ranks"}.get(power.test, "the signs")
            in_place = f"of the CR2 t test of {drawn} in its place; "
        elif power.unit != "clusters" and power.test != test.name:
            label = TESTS[power.test].label
            in_place = f"of the {label[0].lower()}{label[1:]} in its place; "
        meaning = with_names(power.effect_words, names)
        yield POWER_LABEL, f"{known} for the {effect} ({meaning}); {in_place}{power.method}"
    equivalence = comparison.equivalence
    if equivalence is not None:
        shown = "shown" if equivalence.is_equivalent else "not shown"
        inferior = "shown" if equivalence.is_not_inferior else "not shown"
        robust = "" if comparison.table.clusters is None else " with CR2 errors"
        yield (
            "Equivalence",
            f"|mean {b} - {a}| below {equivalence.margin:g} {shown}: two one-sided t tests{robust}, "
            f"{p_words(equivalence.p_value)}, {level_of(1 - 2 * equivalence.alpha)} interval "
            f"{significant_interval(*equivalence.interval)}; that {b} is worse by less than "
            f"{equivalence.margin:g} is {inferior}.",
        )


def _interval(test: PairedTest) -> str:
    """The interval that belongs to the test; some have none, and the effect sizes have theirs."""
    if math.isnan(test.interval[0]):
        return ""
    return f", {level_of(test.confidence)} interval {significant_interval(*test.interval)}"


def _shape(comparison: PairComparison) -> Iterator[str]:
    """Skewness, normality, ties, and what the paper's rule would make of them."""
    data = comparison.data
    yield f"Skewness of the difference {significant(data.skewness)}: {data.skew} (thresholds 0.5 and 1)."
    if data.shapiro_p is not None:
        passed = "normality is not rejected" if data.is_normal else "not normal"
        yield (
            f"Shapiro-Wilk W = {data.shapiro_w:.4f}, {p_words(data.shapiro_p)}: {passed} at "
            f"{data.normality_alpha:g}."
        )
    elif comparison.table.clusters is not None:
        yield "Shapiro-Wilk was not run: it takes items as independent, and these come in clusters."
    elif data.skew == "roughly symmetric":
        yield "Shapiro-Wilk was not run: its p-value is good for 3 to 5,000 items with a spread."
    else:
        yield "Shapiro-Wilk was not run: skewed differences are not normal."
    yield (
        f"Of {data.difference.n:,} items {comparison.names[1]} scores higher on {data.n_helped:,}, lower on "
        f"{data.n_hurt:,}, and the same on {data.n_ties:,}."
    )
    statistic = data.nlpstattest_statistic
    if comparison.request.question is None:
        yield f"By NLPStatTest's rule the {statistic} is tested."
    else:
        decides = f"Here the question decides: {comparison.question}."
        yield f"From this, NLPStatTest would test the {statistic}. {decides}"


def _suits(comparison: PairComparison) -> Iterator[Fact]:
    """The test that was run and what speaks for it, then the others by how well they suit."""
    advice = comparison.advice
    used = next((one for one in advice if one.name == comparison.test.name), None)
    why = "" if used is None else f". {with_names(used.reason, comparison.names)}"
    yield "Used", comparison.test.label + why
    for standing in STANDINGS:
        names = [f"{TESTS[one.name].label} ({one.name})" for one in advice if one.standing == standing]
        if names:
            yield _STANDING_WORDS[standing], "; ".join(names)


def _power_section(comparison: PairComparison) -> Iterator[Section]:
    """Power by number of items as simulated and by formula, and what the next study needs."""
    power = comparison.power
    if power is None:
        return
    columns = {
        power.unit: lambda point: f"{point.n:,}" + (" (this study)" if point.n == power.at.n else ""),
        "simulated": lambda point: "none" if math.isnan(point.power) else f"{point.power:.3f}",
        "Monte Carlo interval": lambda point: interval_words(*point.interval, digits=3),
        "by formula": lambda point: "" if point.formula is None else f"{point.formula:.3f}",
    }
    if power.at.simulated is None:
        del columns["simulated"], columns["Monte Carlo interval"]
    caption = f"Formula: {power.formula}."
    if any(math.isnan(point.power) for point in power.curve):
        caption += " Samples of so few are often all alike, and then have no test."
    if power.unit == "clusters":
        caption += f" A cluster has {significant(power.items_per_unit)} items on average."
    effect = f"{'the observed' if power.is_observed else 'this'} effect of {significant(power.effect)}"
    enough = f"No number of {power.unit} up to {MOST_NEEDED:,} gives"
    if power.needed is not None:
        enough = f"By formula, about {counted(power.needed, power.unit.removesuffix('s'))} give"
    advice = [f"{enough} a power of {share(power.target)} for {effect}."]
    if power.is_observed:
        advice.append("For the next study, name the smallest difference that would matter instead.")
    shown = table(power.curve, columns, caption)
    yield Section("Step 4: the power", (shown, retrospective_chart(power), Points(tuple(advice))))
