"""Two systems compared by per-item scores: what is said of them, and the record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.comparisons.scores.all_pairs import PairwiseScores
from humeval_power.comparisons.scores.answers import PairedTest, TestSettings, score_differences
from humeval_power.comparisons.scores.charts import differences_chart, retrospective_chart, scores_chart
from humeval_power.comparisons.scores.comparison import PairComparison
from humeval_power.comparisons.scores.power import SIGN_TESTS, CurvePoint, RetrospectivePower
from humeval_power.comparisons.scores.result_resamples import comparison_chart
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.comparisons.scores.words import (
    CompareSignature,
    advice_facts,
    advice_table,
    curve_table,
    effect_advice,
    effect_table,
    method_table,
    power_advice,
    report_rows,
    shape_words,
    summary_table,
    verdict,
)
from humeval_power.inference.clustered import clustered_mean
from humeval_power.saying.answer_words import with_names
from humeval_power.saying.chart import Chart
from humeval_power.saying.clustered_words import (
    Independence,
    assumed_items,
    clustered_items,
    independence_record,
    independence_section,
)
from humeval_power.saying.document import Document, Fact, Facts, Paragraph, Picture, Points, Section, Table
from humeval_power.saying.numbers import counted, p_cell, p_words, significant, significant_interval
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result, cluster_entry, versions

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# What a comparison by scores says of clusters of its items, and whether it took them into account.

_RESAMPLING = "Tests that resample or flip take whole clusters."


def cluster_name(table: ScoreTable) -> str | None:
    """'passage:40' for a signature."""
    if table.clusters is None:
        return None
    (entry,) = cluster_entry(table.clusters.name, table.clusters.n_clusters)
    return entry.partition(":")[2]


def items_words(table: ScoreTable) -> str:
    """'500 items', or '500 items in 40 clusters'."""
    items = counted(table.n_items, "item")
    return (
        items if table.clusters is None else f"{items} in {counted(table.clusters.n_clusters, 'cluster')}"
    )


def independence_of_pair(comparison: PairComparison) -> tuple[Independence, ...]:
    """Clusters of the items with what they do to the mean difference, or that there is none known."""
    table = comparison.table
    if table.clusters is None:
        return (assumed_items(table.n_items, table.suspects),)
    differences = score_differences(*(table.column(name) for name in table.systems))
    return (clustered_items(clustered_mean(differences, table.clusters), table.clusters.name),)


def independence_of_table(table: ScoreTable) -> tuple[Independence, ...]:
    """The same of several systems."""
    clusters = table.clusters
    if clusters is None:
        return (assumed_items(table.n_items, table.suspects),)
    sizes = clusters.sizes
    size = f"of {sizes[0]:,}" if sizes.min() == sizes.max() else f"of {sizes.min():,} to {sizes.max():,}"
    text = (
        f"The {table.n_items:,} items come in {clusters.n_clusters:,} clusters ({clusters.name}), {size}. Errors "
        f"of every pair are robust to whatever items of a cluster share. {_RESAMPLING}"
    )
    return (Independence("items", "accounted", text),)


def independence_of_sets(
    names: Sequence[str], comparisons: Sequence[PairComparison]
) -> tuple[Independence, ...]:
    """One answer for each set, or one for all that count their items as independent."""
    if all(one.table.clusters is None for one in comparisons):
        suspects = {each.column: each for one in comparisons for each in one.table.suspects}
        n = sum(one.table.n_items for one in comparisons)
        return (assumed_items(n, tuple(suspects.values())),)
    found = []
    for name, one in zip(names, comparisons, strict=True):
        for answer in independence_of_pair(one):
            found.append(Independence(answer.of, answer.state, f"{name}: {answer.text}"))
    return tuple(found)


# One paragraph that reports a comparison of systems by their scores.

_WHAT = {
    "mean": "mean difference",
    "median": "median difference",
    "pseudomedian": "pseudomedian of the differences",
}


def paper_paragraph(comparison: PairComparison) -> str:
    """Items and clusters, the test, the estimate with its interval, and the p-value."""
    test, settings, table = comparison.test, comparison.request.settings, comparison.table
    a, b = comparison.names
    clusters = table.clusters
    where = "" if clusters is None else f" in {clusters.n_clusters:,} clusters ({clusters.name})"
    named = test.label.startswith(("Wilcoxon", "McNemar"))
    label = test.label if named else f"{test.label[0].lower()}{test.label[1:]}"
    what = f"{_WHAT[test.estimand]} B - A" if test.estimand in _WHAT else test.estimand
    what = with_names(what, comparison.names)
    interval = ""
    if not math.isnan(test.interval[0]):
        interval = f", {100 * test.confidence:g} % interval {significant_interval(*test.interval)}"
    statistic = ""
    if test.name == "t":
        statistic = f" {test.statistic_name} = {significant(test.statistic)},"
    side = "two-sided" if settings.alternative == "two-sided" else "one-sided"
    return (
        f"We compared {b} with {a} by {table.metric} on the same {test.n:,} items{where}. The {what} was "
        f"{significant(test.estimate)}{interval} ({label}, {side},{statistic} {p_words(test.p_value)}, alpha "
        f"{settings.alpha:g}).{_changed(comparison)}"
    )


def _changed(comparison: PairComparison) -> str:
    """On how many items each was right alone, of scores 0 and 1."""
    data = comparison.data
    if not data.is_binary:
        return ""
    a, b = comparison.names
    return f" {b} alone was right on {counted(data.n_helped, 'item')}, {a} alone on {data.n_hurt:,}."


def many_paragraph(found: PairwiseScores, table: ScoreTable, *, alpha: float) -> str:
    """Systems, items and clusters, the test and its correction, and how many pairs differ."""
    label, n_pairs = found.pairs[0].test.label, len(found.pairs)
    n_significant = sum(pair.significant for pair in found.pairs)
    return (
        f"We compared {len(found.means)} systems by {table.metric} on the same {items_words(table)}: "
        f"{label} of {counted(n_pairs, 'pair')}, {_CORRECTED[found.correction]}. {n_significant} of "
        f"{counted(n_pairs, 'pair')} differ significantly at alpha {alpha:g}."
    )


_CORRECTED = {
    "none": "p-values not corrected for the number of pairs",
    "holm": "p-values corrected by Holm (1979)",
    "bonferroni": "p-values corrected by Bonferroni",
    "bh": "p-values corrected by Benjamini and Hochberg (1995)",
    "max-t": "p-values corrected by the largest t in joint resamples (Westfall and Young 1993)",
    "romano-wolf": "p-values corrected step by step in joint resamples (Romano and Wolf 2005)",
}


RESAMPLING_TESTS = (
    "permutation",
    "permutation-median",
    "bootstrap",
    "bootstrap-t",
    "bootstrap-median",
    "primer",
)


@dataclass(frozen=True, kw_only=True)
class PairResult(Result):
    """One pair of systems; the effect is B - A, A being the first system of the table."""

    schema: ClassVar[str] = "humeval_power/compare/2"

    comparison: PairComparison
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was noticed in reading the scores."""
        return notices_of(self.comparison.table)

    def body(self) -> Document:
        """The report of Zhu et al. (2020, section 2.3) first, then what it rests on."""
        found = self.comparison
        return Document(
            f"{compared(found.table)}: {found.table.metric}",
            lead=verdict(found),
            caveats=found.warnings,
            sections=(
                Section("What to report", (Facts(report_rows(found)),)),
                Section(
                    "Step 1: the data",
                    (summary_table(found), Points(tuple(shape_words(found))), *self._histograms()),
                ),
                Section("Step 2: the test", (Facts(advice_facts(found)), *comparison_chart(found))),
                Section("Every test for this question", (advice_table(found),), is_detail=True),
                Section("Step 3: the size of the effect", (effect_table(found), effect_advice(found))),
                Section("What the effect sizes are", (method_table(found),), is_detail=True),
                *self._power(),
                Section("For the paper", (Paragraph(paper_paragraph(found)),)),
                independence_section(independence_of_pair(found)),
            ),
            provenance=origin(found.table),
            signature=str(pair_signature(found)),
        )

    def _power(self) -> Iterator[Section]:
        curve = curve_table(self.comparison)
        if curve is not None:
            power = self.comparison.power
            assert power is not None
            blocks = (curve, retrospective_chart(power), power_advice(self.comparison))
            yield Section("Step 4: the power", blocks)

    def _histograms(self) -> tuple[Chart, ...]:
        return scores_chart(self.comparison), differences_chart(self.comparison)

    def content(self) -> Record:
        """The list of Zhu et al. (2020, section 2.3) and all that it rests on."""
        return pair_record(self.comparison)

    def table_rows(self) -> list[Record]:
        """One row, with the names that a comparison of several systems has."""
        found = self.comparison
        row = pair_row(found.table.systems, found.test)
        return [{**row, "significant": found.significant}]


def compared(table: ScoreTable) -> str:
    """'GPT-2 compared with XLNet'."""
    a, b = table.systems
    return f"{b} compared with {a}"


def pair_record(comparison: PairComparison) -> Record:
    """One pair as plain values."""
    request, test = comparison.request, comparison.test
    return {
        "systems": list(comparison.table.systems),
        "metric": comparison.table.metric,
        "procedure": request.procedure,
        "question": comparison.question,
        "settings": settings_record(request.settings),
        "test": asdict(test),
        "significant": comparison.significant,
        "effect_sizes": [asdict(one) for one in comparison.effects],
        "power": None if comparison.power is None else _power(comparison.power),
        "equivalence": None if comparison.equivalence is None else _equivalence(comparison),
        "data_analysis": {
            **asdict(comparison.data),
            "is_normal": comparison.data.is_normal,
            "nlpstattest_statistic": comparison.data.nlpstattest_statistic,
        },
        "advice": [asdict(one) for one in comparison.advice],
        "warnings": list(comparison.warnings),
        "signature": str(pair_signature(comparison)),
        "notices": list(comparison.table.notices),
        "independence": independence_record(independence_of_pair(comparison)),
    }


def settings_record(settings: TestSettings) -> Record:
    """The settings without the seed, which stands in the envelope where something was drawn."""
    return {name: value for name, value in asdict(settings).items() if name != "seed"}


def pair_row(systems: Sequence[str], test: PairedTest) -> Record:
    """A test of B - A, A being the first of the systems, as a row of a table."""
    return {
        "first": systems[0],
        "second": systems[1],
        "n": test.n,
        "estimate": test.estimate,
        "low": test.interval[0],
        "high": test.interval[1],
        "p_value": test.p_value,
    }


def is_drawn(comparison: PairComparison) -> bool:
    """Whether anything was simulated or resampled."""
    return comparison.power is not None or draws(comparison.test)


def draws(test: PairedTest) -> bool:
    """Whether the p-value of a test depends on a seed."""
    return test.name in RESAMPLING_TESTS and not test.exact


def notices_of(*tables: ScoreTable, with_suspects: bool = True) -> tuple[str, ...]:
    """What was noticed in reading the tables, each thing once, with the file's name; with the columns that look
    like clusters of items and are not known as such."""
    said = [
        f"{table.source}: {notice}" if table.source else notice
        for table in tables
        for notice in (
            *table.notices,
            *(each.sentence() for each in table.suspects if with_suspects),
        )
    ]
    return tuple(dict.fromkeys(said))


def origin(*tables: ScoreTable) -> tuple[Fact, ...]:
    """The same for readers of the document."""
    return tuple(("Scores", notice) for notice in notices_of(*tables, with_suspects=False))


def pair_signature(comparison: PairComparison) -> CompareSignature:
    """The signature of one pair."""
    settings, test = comparison.request.settings, comparison.test
    drawn = draws(test)
    return CompareSignature(
        question=comparison.question if comparison.request.question else "nlpstattest",
        test=test.name,
        alpha=settings.alpha,
        alternative=settings.alternative,
        n_items=test.n,
        null=settings.null,
        version=versions()["humeval-power"],
        n_resamples=settings.n_resamples if drawn else None,
        seed=settings.seed if drawn else None,
        data_sha256=comparison.table.sha256 or None,
        cluster=cluster_name(comparison.table),
    )


def _power(power: RetrospectivePower) -> Record:
    return {
        "effect": power.effect,
        "effect_is": power.effect_words,
        "difference": None if power.test in SIGN_TESTS else power.effect,
        "is_observed": power.is_observed,
        "test": power.test,
        "method": power.method,
        "formula_by": power.formula,
        **_point(power.at),
        "n_simulations": 0 if power.at.simulated is None else power.at.simulated.n_simulations,
        "target_power": power.target,
        "n_for_target": power.needed,
        "curve": [_point(point) for point in power.curve],
        "unit": power.unit,
    }


def _point(point: CurvePoint) -> Record:
    interval = None if point.interval is None else list(point.interval)
    return {"n": point.n, "power": point.power, "power_interval": interval, "formula": point.formula}


def _equivalence(comparison: PairComparison) -> Record | None:
    found = comparison.equivalence
    if found is None:
        return None
    return {
        **asdict(found),
        "p_value": found.p_value,
        "is_equivalent": found.is_equivalent,
        "is_not_inferior": found.is_not_inferior,
    }


# All pairs of several systems, or every system against a baseline: what is said of them, and the record.

MOST_PAIRS = 60  # that a terminal lists without being asked

_CORRECTIONS = {
    "none": "The p-values are not corrected for the number of pairs: some pairs will be significant by chance.",
    "holm": "The p-values are corrected by Holm (1979): the chance of any false one is at most alpha.",
    "bonferroni": "The p-values are corrected by Bonferroni: the chance of any false one is at most alpha.",
    "bh": "The p-values are corrected by Benjamini and Hochberg (1995): on average at most a share alpha of the "
    "significant pairs is false; some of them may be.",
    "max-t": "The p-values are corrected by the largest t of all pairs in joint resamples of the items.",
    "romano-wolf": "The p-values are corrected step by step by joint resamples of the items (Romano and Wolf "
    "2005).",
}


@dataclass(frozen=True, kw_only=True)
class ManyResult(Result):
    """Systems by their mean, the tests of their pairs with corrected p-values, and clusters."""

    schema: ClassVar[str] = "humeval_power/compare_many/2"

    found: PairwiseScores
    table: ScoreTable
    settings: TestSettings
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was noticed in reading the scores."""
        return notices_of(self.table)

    def body(self) -> Document:
        """Systems and clusters, the heat map, each pair."""
        found = self.found
        n_significant = sum(pair.significant for pair in found.pairs)
        return Document(
            f"{len(found.means)} systems compared: {self.table.metric}",
            lead=f"{next(iter(found.means))} has the highest mean; in {n_significant} of "
            f"{counted(len(found.pairs), 'pair')} a difference is shown (alpha {self.settings.alpha:g}). "
            f"{found.pairs[0].test.label}, {items_words(self.table)}.",
            caveats=_caveats(found, self.table),
            sections=(
                Section("Systems", (_means(found), *_groups(found), self._picture())),
                Section(
                    "Each pair",
                    (_pairs(found, self.settings.alpha, counts=self.table.is_binary),),
                    is_detail=len(found.pairs) > MOST_PAIRS,
                ),
                Section(
                    "For the paper",
                    (Paragraph(many_paragraph(found, self.table, alpha=self.settings.alpha)),),
                ),
                independence_section(independence_of_table(self.table)),
            ),
            provenance=origin(self.table),
            signature=str(many_signature(found, self.table, self.settings)),
        )

    def _picture(self) -> Picture:
        words = (
            "Corrected p-values of all pairs as a map: blue where the row's system is better, orange worse."
        )
        return Picture("heat_map", self._figure, words=words)

    def _figure(self) -> Figure:
        from humeval_power.comparisons.scores.figures import heat_map_figure

        return heat_map_figure(self.found, alpha=self.settings.alpha)

    def content(self) -> Record:
        """Means, pairs and clusters."""
        found = self.found
        return {
            "systems": list(found.means),
            "metric": self.table.metric,
            "means": dict(found.means),
            "question": found.question,
            "correction": found.correction,
            "settings": settings_record(self.settings),
            "n_items": found.n_items,
            "pairs": [
                {
                    "first": pair.first,
                    "second": pair.second,
                    **asdict(pair.test),
                    "n_helped": pair.n_helped,
                    "n_hurt": pair.n_hurt,
                    "corrected_p_value": pair.corrected_p,
                    "significant": pair.significant,
                }
                for pair in found.pairs
            ],
            "clusters": [list(cluster) for cluster in found.clusters],
            "signature": str(many_signature(found, self.table, self.settings)),
            "notices": list(self.table.notices),
            "independence": independence_record(independence_of_table(self.table)),
        }

    def table_rows(self) -> list[Record]:
        """A row for each pair."""
        return [
            {
                **pair_row((pair.first, pair.second), pair.test),
                "n_helped": pair.n_helped,
                "n_hurt": pair.n_hurt,
                "corrected_p_value": pair.corrected_p,
                "significant": pair.significant,
            }
            for pair in self.found.pairs
        ]


def are_drawn(found: PairwiseScores) -> bool:
    """Whether anything was resampled."""
    return any(draws(pair.test) for pair in found.pairs)


def many_signature(result: PairwiseScores, table: ScoreTable, settings: TestSettings) -> CompareSignature:
    """The signature of all pairs."""
    test = result.pairs[0].test
    drawn = are_drawn(result)
    return CompareSignature(
        question=result.question,
        test=test.name,
        alpha=settings.alpha,
        alternative=settings.alternative,
        n_items=result.n_items,
        null=settings.null,
        version=versions()["humeval-power"],
        correction=result.correction,
        n_systems=len(result.means),
        n_resamples=settings.n_resamples if drawn else None,
        seed=settings.seed if drawn else None,
        data_sha256=table.sha256 or None,
        cluster=cluster_name(table),
    )


def _caveats(result: PairwiseScores, table: ScoreTable) -> tuple[str, ...]:
    """What must be read before the pairs."""
    resampled = "the items" if table.clusters is None else "whole clusters of items"
    return (
        _CORRECTIONS[result.correction].replace("the items", resampled),
        "A pair that is not significant is not shown to be alike; intervals are of each pair by itself.",
    )


def _means(result: PairwiseScores) -> Table:
    """Systems by mean, best first, with their group where there are any."""
    if not result.clusters:
        return Table(
            ("system", "mean"), tuple((name, significant(mean)) for name, mean in result.means.items())
        )
    cluster = {name: place for place, names in enumerate(result.clusters, start=1) for name in names}
    rows = tuple((name, significant(mean), str(cluster[name])) for name, mean in result.means.items())
    return Table(("system", "mean", "group"), rows)


def _groups(result: PairwiseScores) -> Iterator[Paragraph]:
    """What a group is, for systems of one group may well differ."""
    if result.clusters:
        yield Paragraph(
            "A group ends where every system above differs significantly from every one below. Systems of one "
            "group may differ from each other: see the pairs."
        )


def _pairs(result: PairwiseScores, alpha: float, *, counts: bool) -> Table:
    """One row for each pair; of scores 0 and 1 with the items on which either system alone is right."""
    rows = tuple(
        (
            f"{pair.second} - {pair.first}",
            *((f"{pair.n_helped:,} : {pair.n_hurt:,}",) if counts else ()),
            significant(pair.test.estimate),
            significant_interval(*pair.test.interval),
            p_cell(pair.test.p_value),
            p_cell(pair.corrected_p) + (" *" if pair.significant else "  "),
        )
        for pair in result.pairs
    )
    estimand = result.pairs[0].test.estimand
    changed = ("helped : hurt",) if counts else ()
    said = (
        " helped : hurt: items on which the first of the pair alone is right, and the second."
        if counts
        else ""
    )
    return Table(
        ("pair", *changed, estimand.split()[0], "interval", "p", "corrected"),
        rows,
        f"The {estimand}; * significant at alpha {alpha:g} after the correction.{said}",
    )
