"""From score tables to what is printed and written: one pair, all pairs, one pair on several sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from humeval_power.errors import InputError
from humeval_power.inference.compare.all_pairs import PairwiseScores, compare_scores
from humeval_power.inference.compare.replicability import replicability
from humeval_power.inference.compare.score_table import ScoreTable
from humeval_power.interfaces.cli.compare.text import many_text, pair_text, sets_text
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.planning.compare.pair import PairComparison, Request, compare_pair
from humeval_power.reporting.compare.record import (
    comparison_record,
    many_record,
    many_signature,
    pair_signature,
    sets_record,
)
from humeval_power.safe_text import table_csv

Files = Mapping[str, str | bytes]


@dataclass(frozen=True, slots=True)
class Answer:
    """The text, the JSON document, and the files, which are made when they are asked for."""

    text: str
    json: str
    files: Callable[[], Files]


def pair_answer(
    table: ScoreTable, request: Request, *, n_jobs: int, command: str, everything: bool
) -> Answer:
    """Compare two systems."""
    comparison = compare_pair(table, request, n_jobs=n_jobs)
    signature = str(pair_signature(comparison))
    document = to_json(comparison_record(comparison, command=command))
    return Answer(
        pair_text(comparison, signature, everything=everything),
        document,
        lambda: _pair_files(comparison, signature, document, everything=everything),
    )


def many_answer(
    table: ScoreTable,
    request: Request,
    *,
    correction: Any,
    baseline: str | None,
    n_jobs: int,
    command: str,
) -> Answer:
    """Compare all pairs of several systems."""
    if request.question is None:
        raise InputError("The procedure 'nlpstattest' compares two systems: --systems A,B.")
    if request.margin is not None or request.effect is not None:
        raise InputError("--margin and --effect are for two systems: --systems A,B.")
    result = compare_scores(
        table,
        question=request.question,
        settings=request.settings,
        test=request.test,
        correction=correction,
        baseline=baseline,
        n_jobs=n_jobs,
    )
    signature = str(many_signature(result, table, request.settings))
    document = to_json(many_record(result, table, request.settings, command=command))
    return Answer(
        many_text(result, signature, table.metric),
        document,
        lambda: _many_files(result, table, signature, document, alpha=request.settings.alpha),
    )


def sets_answer(
    names: Sequence[str],
    tables: Sequence[ScoreTable],
    request: Request,
    *,
    is_dependent: bool,
    n_jobs: int,
    command: str,
) -> Answer:
    """Compare two systems on several data sets, or by several metrics of the same items."""
    if request.settings.direction == "two-sided" or request.question is None:
        raise InputError(
            "To count where B is better, ask a --question in one direction: --direction greater (or less)."
        )
    comparisons = [compare_pair(table, request, n_jobs=n_jobs) for table in tables]
    found = replicability(
        [one.test.p_value for one in comparisons],
        combination="bonferroni" if is_dependent else "fisher",
        alpha=request.settings.alpha,
    )
    document = to_json(sets_record(names, comparisons, found, command=command))
    return Answer(sets_text(names, comparisons, found), document, lambda: {"compare.json": document})


def _pair_files(
    comparison: PairComparison, signature: str, document: str, *, everything: bool
) -> dict[str, str | bytes]:
    from humeval_power.reporting.compare.document import (
        compare_html,
        compare_latex,
        compare_markdown,
        pair_document,
    )
    from humeval_power.reporting.compare.figures import histogram_figure, power_figure
    from humeval_power.reporting.figure_style import figure_bytes

    drawn = {"histograms": histogram_figure(comparison)}
    if comparison.power is not None:
        drawn["power"] = power_figure(comparison.power)
    svgs = {name: figure_bytes(figure, "svg").decode() for name, figure in drawn.items()}
    report = pair_document(comparison, signature, everything=everything)
    files: dict[str, str | bytes] = {
        "compare.json": document,
        "compare.md": compare_markdown(report),
        "compare.tex": compare_latex(report),
        "compare.html": compare_html(report, svgs),
    }
    for name, figure in drawn.items():
        files[f"{name}.png"] = figure_bytes(figure, "png")
        files[f"{name}.svg"] = svgs[name]
    return files


def _many_files(
    result: PairwiseScores, table: ScoreTable, signature: str, document: str, *, alpha: float
) -> dict[str, str | bytes]:
    import pandas as pd

    from humeval_power.reporting.compare.document import (
        compare_html,
        compare_latex,
        compare_markdown,
        many_document,
    )
    from humeval_power.reporting.compare.heat_map import heat_map_figure
    from humeval_power.reporting.figure_style import figure_bytes

    figure = heat_map_figure(result, alpha=alpha)
    svg = figure_bytes(figure, "svg").decode()
    report = many_document(result, table, signature)
    rows = [
        {
            "first": pair.first,
            "second": pair.second,
            "estimate": pair.test.estimate,
            "low": pair.test.interval[0],
            "high": pair.test.interval[1],
            "p_value": pair.test.p_value,
            "corrected_p_value": pair.corrected_p,
            "significant": pair.significant,
        }
        for pair in result.pairs
    ]
    return {
        "compare.json": document,
        "compare.md": compare_markdown(report),
        "compare.tex": compare_latex(report),
        "compare.html": compare_html(report, {"heat_map": svg}),
        "pairs.csv": table_csv(pd.DataFrame(rows), digits=10),
        "heat_map.png": figure_bytes(figure, "png"),
        "heat_map.svg": svg,
    }
