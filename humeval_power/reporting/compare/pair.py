"""Two systems compared by per-item scores: what is said of them, and the record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.inference.compare.result import PairedTest, TestSettings
from humeval_power.inference.compare.score_table import ScoreTable
from humeval_power.planning.compare.pair import PairComparison
from humeval_power.planning.compare.power import CurvePoint
from humeval_power.planning.compare.retrospective import SIGN_TESTS, RetrospectivePower
from humeval_power.reporting.chart import Chart
from humeval_power.reporting.compare.advice_words import (
    advice_facts,
    advice_table,
    effect_advice,
    method_table,
    power_advice,
)
from humeval_power.reporting.compare.charts import differences_chart, retrospective_chart, scores_chart
from humeval_power.reporting.compare.item_clusters import (
    cluster_name,
    independence_of_pair,
)
from humeval_power.reporting.compare.paper import paper_paragraph
from humeval_power.reporting.compare.resamples import comparison_chart
from humeval_power.reporting.compare.signature import CompareSignature
from humeval_power.reporting.compare.words import (
    curve_table,
    effect_table,
    report_rows,
    shape_words,
    summary_table,
    verdict,
)
from humeval_power.reporting.document import Document, Fact, Facts, Paragraph, Points, Section
from humeval_power.reporting.independence import independence_record, independence_section
from humeval_power.reporting.records import Record, versions
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

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
