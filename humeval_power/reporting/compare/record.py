"""Comparisons of systems by per-item scores as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from humeval_power.inference.compare.all_pairs import PairwiseScores
from humeval_power.inference.compare.replicability import Replicability
from humeval_power.inference.compare.result import TestSettings
from humeval_power.inference.compare.score_table import ScoreTable
from humeval_power.planning.compare.pair import PairComparison
from humeval_power.planning.compare.power import CurvePoint
from humeval_power.planning.compare.primer import PrimerCell
from humeval_power.planning.compare.retrospective import RetrospectivePower
from humeval_power.reporting.compare.signature import CompareSignature
from humeval_power.reporting.records import Record, versions

COMPARE_SCHEMA = "humeval_power/compare/1"
COMPARE_MANY_SCHEMA = "humeval_power/compare_many/1"
COMPARE_SETS_SCHEMA = "humeval_power/compare_sets/1"
PRIMER_TABLE_SCHEMA = "humeval_power/primer_table/1"
PROSPECTIVE_SCHEMA = "humeval_power/compare_prospective/1"
RESAMPLING_TESTS = (
    "permutation",
    "permutation-median",
    "bootstrap",
    "bootstrap-t",
    "bootstrap-median",
    "primer",
)


def comparison_record(comparison: PairComparison, *, command: str = "") -> Record:
    """One pair: the list of Zhu et al. (2020, section 2.3) and all that it rests on."""
    request, test = comparison.request, comparison.test
    return {
        "schema": COMPARE_SCHEMA,
        "systems": list(comparison.table.systems),
        "metric": comparison.table.metric,
        "procedure": request.procedure,
        "question": comparison.question,
        "settings": asdict(request.settings),
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
        **_origin(comparison.table, command),
    }


def many_record(
    result: PairwiseScores, table: ScoreTable, settings: TestSettings, *, command: str = ""
) -> Record:
    """All pairs of several systems."""
    return {
        "schema": COMPARE_MANY_SCHEMA,
        "systems": list(result.means),
        "metric": table.metric,
        "means": dict(result.means),
        "question": result.question,
        "correction": result.correction,
        "settings": asdict(settings),
        "n_items": result.n_items,
        "pairs": [
            {
                "first": pair.first,
                "second": pair.second,
                **asdict(pair.test),
                "corrected_p_value": pair.corrected_p,
                "significant": pair.significant,
            }
            for pair in result.pairs
        ],
        "clusters": [list(cluster) for cluster in result.clusters],
        "signature": str(many_signature(result, table, settings)),
        **_origin(table, command),
    }


def sets_record(
    names: Sequence[str],
    comparisons: Sequence[PairComparison],
    found: Replicability,
    *,
    command: str = "",
) -> Record:
    """One pair on several data sets or by several metrics."""
    return {
        "schema": COMPARE_SETS_SCHEMA,
        "names": list(names),
        "replicability": {**asdict(found), "named": [names[place] for place in found.named]},
        "comparisons": [comparison_record(one) for one in comparisons],
        "versions": versions(),
        "command": command,
    }


def primer_record(cells: Sequence[PrimerCell], *, command: str = "") -> Record:
    """Expected p-values of the bootstrap primer."""
    return {
        "schema": PRIMER_TABLE_SCHEMA,
        "rows": [asdict(cell) for cell in cells],
        "versions": versions(),
        "command": command,
    }


def pair_signature(comparison: PairComparison) -> CompareSignature:
    """The signature of one pair."""
    settings, test = comparison.request.settings, comparison.test
    drawn = test.name in RESAMPLING_TESTS and not test.exact
    return CompareSignature(
        question=comparison.question if comparison.request.question else "nlpstattest",
        test=test.name,
        alpha=settings.alpha,
        direction=settings.direction,
        n_items=test.n,
        null=settings.null,
        version=versions()["humeval-power"],
        n_resamples=settings.n_resamples if drawn else None,
        seed=settings.seed if drawn else None,
        data_sha256=comparison.table.sha256 or None,
    )


def many_signature(result: PairwiseScores, table: ScoreTable, settings: TestSettings) -> CompareSignature:
    """The signature of all pairs."""
    test = result.pairs[0].test
    drawn = test.name in RESAMPLING_TESTS
    return CompareSignature(
        question=result.question,
        test=test.name,
        alpha=settings.alpha,
        direction=settings.direction,
        n_items=result.n_items,
        null=settings.null,
        version=versions()["humeval-power"],
        correction=result.correction,
        n_systems=len(result.means),
        n_resamples=settings.n_resamples if drawn else None,
        seed=settings.seed if drawn else None,
        data_sha256=table.sha256 or None,
    )


def _power(power: RetrospectivePower) -> Record:
    return {
        "effect": power.effect,
        "effect_is": power.effect_words,
        "is_observed": power.is_observed,
        "test": power.test,
        "method": power.method,
        **_point(power.at),
        "n_simulations": power.at.power.n_simulations,
        "curve": [_point(point) for point in power.curve],
    }


def _point(point: CurvePoint) -> Record:
    return {"n": point.n, "power": point.power.power, "power_interval": list(point.power.interval)}


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


def _origin(table: ScoreTable, command: str) -> Record:
    return {
        "notices": list(table.notices),
        "data": {"source": table.source, "sha256": table.sha256},
        "versions": versions(),
        "command": command,
    }
