"""NLPStatTest (Zhu et al. 2020): its simulations run again, its heat map, and what its procedure does to errors."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from paper import Paper, compared

import humeval_power as hp
from humeval_power.comparisons.scores.effect_sizes import TestSettings
from humeval_power.comparisons.scores.tests import run_test
from humeval_power.saying.figure_style import COLOURS, INK, QUIET, house_style

SIZES = (30, 100, 300, 1000, 3000, 10_000, 25_000)  # the paper's go from 30 to 25,000
ITERATIONS = 20  # the paper's
PANELS = {
    "a": ("normal, no difference", "t"),
    "b": ("normal, a difference", "t"),
    "c": ("Beta, no difference", "wilcoxon"),
    "d": ("Beta, a difference", "wilcoxon"),
}
SYSTEMS, SENTENCES, UNIT = 16, 2001, 15  # of WMT 2017, Chinese to English
STUDIES = 1000  # of the error rates of the procedure
QUICK = {"power_by": "formula", "n_resamples": 200}

paper = Paper(
    "nlpstattest_simulations",
    "NLPStatTest: its simulations",
    "H. Zhu, D. Mak, J. Gioannini, F. Xia (2020): NLPStatTest: a toolkit for comparing NLP system performance. "
    "Its sample and its formulas are on [a page of their own](nlpstattest.md).",
    introduction="The paper runs its tests on systems of a shared task and on drawn scores. Neither the data nor "
    "the distributions are printed: the same steps are taken on scores that are drawn here.",
)


def procedure() -> None:
    """What a recommender that looks at the data does to the error rate."""
    rng = np.random.default_rng(14)
    rejected = dict.fromkeys(("procedure", "t"), 0)
    for _ in range(STUDIES):
        table = pd.DataFrame({"A": np.zeros(100), "B": rng.exponential(size=100) - 1})
        for name, asked in (("procedure", {"procedure": "nlpstattest"}), ("t", {"question": "mean"})):
            rejected[name] += hp.compare.scores(table, **asked, **QUICK).comparison.significant
    chosen, asked = (100 * rejected[name] / STUDIES for name in ("procedure", "t"))
    paper.section("Section 2.2.1", "Choosing mean or median by the data changes the question")
    paper.text(
        f"Two systems with the same mean, 100 exponential differences, alpha 0.05: of {STUDIES} simulated "
        f"studies the paper's procedure rejects {chosen:.0f} %, the t test {asked:.0f} %. The differences are "
        "skewed, so that the procedure turns to the median, which is not 0; what it rejects is not what was "
        "asked. `compare scores` wants the `--question` first, shows what the data look like, and has the "
        "paper's own way as `--procedure nlpstattest`, with a warning."
    )
    paper.text(
        "Section 2.2.4 calls the type II error 'the probability that under H1, H1 is rejected'; it is the "
        "probability that H0 is not rejected. Section 6 names McNemar's test as the one that the toolkit lacks: "
        "for scores of 0 and 1 it is here, and recommended. The toolkit runs from a YAML configuration, this "
        "program from a TOML one: `--config`, `--write-config`."
    )


def figure_4() -> None:
    """The heat map of 16 systems: its machinery, for its data are not at hand."""
    paper.section(
        "Figure 4",
        "Sixteen systems in pairs",
        f"The BLEU scores of the {SYSTEMS} systems of WMT 2017 are not at hand. The same steps on "
        f"scores that are drawn: {SENTENCES:,} sentences in shuffled units of {UNIT}, Wilcoxon's test, Bonferroni.",
    )
    paper.command(
        "humeval-power compare scores systems.csv --question pseudomedian --unit-size 15 --shuffle-seed 1 "
        "--correction bonferroni -o map/  # a column for each system"
    )
    rng = np.random.default_rng(2017)
    hard, quality = rng.normal(0, 0.12, (SENTENCES, 1)), np.repeat(np.linspace(0.2, 0.32, 8), 2)
    scores = np.clip(quality + hard + rng.normal(0, 0.1, (SENTENCES, SYSTEMS)), 0, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "systems.csv"
        names = [f"S{place + 1:02d}" for place in range(SYSTEMS)]
        pd.DataFrame(np.round(scores, 4), columns=names).to_csv(path, index=False)
        tables = hp.compare.read_scores(path, unit_size=UNIT, shuffle_seed=1)
    result = hp.compare.scores(tables, question="pseudomedian", correction="bonferroni")
    paper.number("Pairs of systems", compared("120", len(result.found.pairs)))
    paper.picture(
        result.document().pictures[0].figure,
        "figure-4",
        f"Pairs of {SYSTEMS} drawn systems, each two of the same quality; p-values corrected by Bonferroni.",
    )
    n_units = result.found.n_items
    paper.text(
        f"{SENTENCES:,} sentences make {n_units} units of {UNIT}; {SENTENCES - UNIT * n_units} are left over and "
        "in no unit. Means of sentence scores in a unit are what the paper's second scenario has; BLEU of a "
        "unit is another number."
    )


def differences(panel: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """B less A of n pairs; the paper does not print its parameters."""
    if panel in "ab":
        return np.asarray(rng.normal(0.05 if panel == "b" else 0.0, math.sqrt(2), n))
    a = 5.2 if panel == "d" else 4.8
    return np.asarray(rng.beta(a, 4.8, n) - rng.beta(4.8, 4.8, n))


def figure_5() -> None:
    """p-values against the number of items, with and without a difference."""
    paper.section(
        "Figure 5",
        "p-values against the number of items",
        f"{ITERATIONS} studies of each size, two-sided: t for (a) and (b), Wilcoxon for (c) and (d). The paper "
        "does not print its distributions. Here: normal scores with SD 1, means apart by 0 and 0.05; Beta(4.8, "
        "4.8) against itself and against Beta(5.2, 4.8), chosen so that the variance of the differences is the "
        "paper's 0.046 and "
        "the medians are its 0.02 apart.",
    )
    rng, settings = np.random.default_rng(5), TestSettings()
    found = {
        panel: np.array(
            [
                [run_test(test, differences(panel, n, rng), settings).p_value for _ in range(ITERATIONS)]
                for n in SIZES
            ]
        )
        for panel, (_, test) in PANELS.items()
    }
    n_studies = ITERATIONS * len(SIZES)
    for panel in "ac":
        share = float((found[panel] < 0.05).mean())
        paper.number(
            f"({panel}) no difference: share of p below 0.05",
            compared(
                "0.05",
                share,
                within=3 * math.sqrt(0.05 * 0.95 / n_studies),
                because=f"three standard errors of {n_studies} simulated studies",
            ),
        )
        paper.number(f"({panel}) p ranges over (0, 1): smallest", compared("< 0.1", found[panel].min()))
        paper.number(f"({panel}) p ranges over (0, 1): largest", compared("> 0.9", found[panel].max()))
    for panel in "bd":
        paper.number(f"({panel}) 25,000 items: largest p", compared("< 0.05", found[panel][-1].max()))
    first = {panel: _all_found(found[panel]) for panel in "bd"}
    paper.number(
        "Items at which every p is below 0.05: (d) fewer than (b)",
        compared(f"< {first['b']:,}", first["d"]),
    )
    paper.picture(
        _panels(found), "figure-5", "Mean (line) and range (shaded) of p by number of items; dotted: 0.05."
    )
    paper.text(
        f"All {ITERATIONS} studies find the difference from {first['d']:,} items in (d) and from {first['b']:,} "
        "in (b). The paper names the small variance of (d), 0.046; what counts is the difference in SDs, 0.09 "
        "in (d) and 0.035 in (b)."
    )


def _all_found(p_values: np.ndarray) -> int:
    return next(n for n, row in zip(SIZES, p_values, strict=True) if row.max() < 0.05)


def _panels(found: dict[str, np.ndarray]) -> Figure:
    with house_style():
        figure = Figure(figsize=(7.0, 4.6), layout="constrained")
        for axes, (panel, (words, test)) in zip(
            figure.subplots(2, 2, sharex=True, sharey=True).ravel(), PANELS.items(), strict=True
        ):
            p_values = found[panel]
            axes.fill_between(
                SIZES, p_values.min(1), p_values.max(1), color=COLOURS[0], alpha=0.25, linewidth=0
            )
            axes.plot(SIZES, p_values.mean(1), color=COLOURS[0])
            axes.axhline(0.05, color=INK, linestyle=(0, (1, 2)), linewidth=1.0)
            axes.set_title(f"({panel}) {words}: {'t' if test == 't' else 'Wilcoxon'}", loc="left")
            axes.set_xscale("log")
            axes.set_xticks(SIZES, [f"{n:,}" for n in SIZES], rotation=30, color=QUIET)
            axes.set_ylim(0, 1)
        figure.supxlabel("Items", fontsize=8)
        figure.supylabel("p", fontsize=8)
    return figure


def left_out() -> None:
    """What the paper has and this page has not."""
    paper.skip(
        "Figure 4, WMT 2017",
        "the BLEU scores of the sixteen systems are not at hand; its steps are run above.",
    )


if __name__ == "__main__":
    procedure()
    figure_4()
    figure_5()
    left_out()
    paper.finish()
