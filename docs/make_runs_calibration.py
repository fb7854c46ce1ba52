"""How often tests of repeated runs find what is not there: the table in docs/runs.md.

python docs/make_runs_calibration.py      about six minutes on one core
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from runs.tables import crossed_scores, nested_scores, table_of  # noqa: E402

from humeval_power.comparisons.runs.testing import RunsRule, compare_pair  # noqa: E402

GAUSSIAN, BINARY = 4000, 1000
START, END = "<!-- sizes -->", "<!-- end -->"


def _rates(name: str, tables: list, averaged: list, rule: RunsRule) -> str:
    tests = [[compare_pair(table, rule) for table in tables]]
    tests.append([compare_pair(table, RunsRule(kind="nested")) for table in averaged])
    shares = [100 * np.mean([found.p_value <= 0.05 for found in each]) for each in tests]
    refused = sum(bool(found.reason) for found in tests[0])
    df = np.nanmedian([found.df for found in tests[0]])
    return f"| {name} | {df:.1f} | {shares[0]:.1f} % | {shares[1]:.1f} % | {refused} of {len(tables):,} |"


def _binary(rng: np.random.Generator, prompts: int) -> np.ndarray:
    x = np.array([-0.5, 0.5])[None, :, None]
    slope = rng.normal(0, 0.5, (1, 1, prompts)) + rng.normal(0, 0.5, (60, 1, 1))
    eta = 0.5 + rng.normal(0, 0.4, (1, 1, prompts)) + rng.normal(0, 1, (60, 1, 1)) + slope * x
    return (rng.random((60, 2, prompts)) < 1 / (1 + np.exp(-eta))).astype(float)


def main() -> None:
    """Write the table."""
    rng = np.random.default_rng(21)
    nested, crossed = RunsRule(kind="nested"), RunsRule(kind="crossed")
    lines = [
        "| studies | df (median) | `compare runs test` | runs averaged first | refused |",
        "|---|--:|--:|--:|--:|",
    ]
    scores = [nested_scores(rng, n=40) for _ in range(GAUSSIAN)]
    tables = [table_of(each) for each in scores]
    lines.append(_rates("nested, 40 items x 3 generations", tables, tables, nested))
    for n_clusters in (8, 20):
        clusters = np.repeat(np.arange(n_clusters), 5)
        scores = [nested_scores(rng, n=len(clusters), clusters=clusters, icc=0.6) for _ in range(GAUSSIAN)]
        lines.append(
            _rates(
                f"nested, {n_clusters} passages of 5 items x 3 generations",
                [table_of(each, clusters=clusters) for each in scores],
                [table_of(each) for each in scores],
                nested,
            )
        )
    for prompts in (3, 5, 10):
        scores = [crossed_scores(rng, n=40, prompts=prompts) for _ in range(GAUSSIAN)]
        tables = [table_of(each, column="prompt") for each in scores]
        lines.append(_rates(f"crossed, 40 items x {prompts} prompts", tables, tables, crossed))
    binary = RunsRule(kind="crossed", family="binary")
    for prompts in (5, 10):
        scores = [_binary(rng, prompts) for _ in range(BINARY)]
        tables = [table_of(each, column="prompt") for each in scores]
        lines.append(
            _rates(f"crossed, right or wrong, 60 items x {prompts} prompts", tables, tables, binary)
        )
    page = HERE / "runs.md"
    text = page.read_text()
    head, tail = text[: text.index(START)], text[text.index(END) :]
    page.write_text(head + START + "\n\n" + "\n".join(lines) + "\n\n" + tail)


if __name__ == "__main__":
    main()
