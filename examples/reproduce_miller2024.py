"""Error bars of evaluations: Miller (2024), the R package evaluatellm and statsmodels beside this package.

    python examples/reproduce_miller2024.py

Miller, "Adding Error Bars to Evals" (arXiv 2411.00640), gives formulas for clustered errors, for repeated
generations and for the size of a test set. evaluatellm 0.1.0 (MIT) computes them in R and prints numbers in its
documentation; they are recomputed here from the formulas, and each is set beside what is printed there. The
clustered errors of statsmodels are computed on data/answers.csv in the same run.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels
import statsmodels.api as sm
from scipy import optimize, special, stats

import humeval_power as hp
from humeval_power.clusters import Clusters
from humeval_power.comparisons.judge.plan import PredictionPower
from humeval_power.comparisons.runs.scenario import RunsPlan, runs_scenario
from humeval_power.inference.clustered import clustered_mean
from humeval_power.runs_parameters import RunsParameters

DATA = Path(__file__).parents[1] / "data" / "answers.csv"
SEED, EVALUATIONS = 2024, 20_000
Z = special.ndtri(0.975) + special.ndtri(0.8)
_ROUNDED = 5e-5  # what the rounding of its variances can do
P_A, P_B, CORRELATION, ICC, SIZE = 0.72, 0.70, 0.7, 0.25, 8  # of its examples of planning


@dataclass(frozen=True, slots=True)
class Row:
    """A printed number, and the recomputed one; `margin` is what chance explains, `remark` why they may differ."""

    what: str
    printed: float
    found: float
    digits: int
    margin: float = 0.0
    remark: str = ""

    @property
    def differs(self) -> bool:
        """Whether the recomputed number rounds to another one than is printed, by more than chance explains."""
        return abs(self.found - self.printed) > self.margin + 0.5001 * 10**-self.digits


def show(title: str, rows: list[Row]) -> int:
    """Print the rows; how many differ and nobody knows why."""
    print(f"\n{title}\n\n  {'':<46} {'printed':>12} {'recomputed':>12}")
    for row in rows:
        mark = "  *" if row.differs else ""
        print(f"  {row.what:<46} {row.printed:>12,.{row.digits}f} {row.found:>12,.{row.digits}f}{mark}")
    for row in rows:
        if row.differs:
            print(f"\n  * {row.remark or f'{row.what}: no reason is known'}")
    return sum(row.differs and not row.remark for row in rows)


def planning() -> list[Row]:
    """Its minimum detectable effects and sizes: (z + z)^2 sd^2 / difference^2, times the design effect."""
    spread_a, spread_b = P_A * (1 - P_A), P_B * (1 - P_B)
    sd = math.sqrt(spread_a + spread_b - 2 * CORRELATION * math.sqrt(spread_a * spread_b))
    effect = 1 + (SIZE - 1) * ICC

    def detectable(n: int, design: float = 1.0) -> float:
        return Z * sd * math.sqrt(design / n)

    needed = math.ceil(Z**2 * sd**2 / 0.02**2 * effect)
    alone = math.ceil(needed - needed / effect)
    readme = (
        "The formula of its code and its reference page give 0.0730 for this very call; the\n"
        "    0.0552 of its README belongs to another design effect, 1.57."
    )
    return [
        Row("SD of a difference, accuracies .72 and .70", 0.3515, sd, 4),
        Row("MDE, 500 items", 0.0440, detectable(500), 4),
        Row("MDE, 500 items in eights, ICC .25 (reference)", 0.0730, detectable(500, effect), 4),
        Row("MDE, the same call (README)", 0.0552, detectable(500, effect), 4, remark=readme),
        Row("MDE, 400 items in eights, ICC .25", 0.0816, detectable(400, effect), 4),
        Row("items for a difference of .02", 6667, needed, 0),
        Row("  clusters of eight", 834, math.ceil(needed / SIZE), 0),
        Row("  more than without clusters", 4243, alone, 0),
    ]


def beside_t() -> None:
    """What this package answers to the same questions: CR2, noncentral t with the clusters' degrees of freedom."""
    sd = planning()[0].found
    print("\n  here, by noncentral t with the df of the clusters:")
    for n, size in ((500, 1), (500, SIZE), (400, SIZE), (80, SIZE)):
        parameters = RunsParameters(kind="nested", sd_item=sd, icc=ICC if size > 1 else 0.0)
        plan = RunsPlan(n_items=n, runs_a=1, runs_b=1, cluster_size=size)
        found = hp.mde(runs_scenario(parameters, plan, effect=0.05), largest=1.0)
        by_z = Z * sd * math.sqrt((1 + (size - 1) * parameters.icc) / n)
        print(f"    MDE, {n} items by {size}: {found.found.effect:.4f}; by z {by_z:.4f}")


def generations() -> list[Row]:
    """Its table of repeated responses, from the two variances that it prints."""
    between, within, n = 0.0462, 0.171, 200
    rows: list[Row] = []
    for k, printed in (
        (1, 0.0329),
        (2, 0.0257),
        (4, 0.0211),
        (8, 0.0184),
        (16, 0.0169),
        (math.inf, 0.0152),
    ):
        found = math.sqrt((between + within / k) / n)
        name = "endless" if math.isinf(k) else f"{k:g}"
        rows.append(Row(f"standard error, {name} responses to each of 200", printed, found, 4, _ROUNDED))
    return rows


def judge() -> list[Row]:
    """Its human labels beside a judge: prediction-powered inference with the best weight."""
    total, correlation, sd, target = 20_000, 0.8, 0.5, 0.01

    def spare(n: float) -> float:
        explained = correlation**2 * (total - n) / total
        return sd**2 / n * (1 - explained) - target**2

    labels = math.ceil(optimize.brentq(spare, 10, total - 1))
    found = PredictionPower(labels, total - labels, correlation, sd, sd)
    return [
        Row("human labels for a standard error of .01", 979, labels, 0),
        Row("  without a judge", 2500, (sd / target) ** 2, 0),
        Row("  weight of the judge", 0.761, found.weight, 3),
    ]


def coverage() -> list[Row]:
    """Its coverage of 95 % intervals: 30 passages of 10 questions.

    How its evaluations were drawn is not printed. The share of right answers and the spread of passages are taken
    such that both mean widths come out as printed; coverage is then no longer free. It printed 1,500 evaluations:
    two standard errors of chance are 1.1 and 2.3 points.
    """
    n_clusters, size = 30, 10
    n = n_clusters * size
    t_clusters, t_items = stats.t.ppf(0.975, n_clusters - 1), stats.t.ppf(0.975, n - 1)
    sd = 0.112 / 2 / t_items * math.sqrt(n)
    effect = (0.191 / 2 / t_clusters * math.sqrt(n) / sd) ** 2
    share, icc = 0.5 + math.sqrt(0.25 - sd**2), (effect - 1) / (size - 1)
    rng = np.random.default_rng(SEED)
    # Passages' shares of right answers from a beta law have this mean and this intraclass correlation.
    weight = 1 / icc - 1
    of_passage = rng.beta(share * weight, (1 - share) * weight, (EVALUATIONS, n_clusters))
    right = rng.binomial(size, of_passage)
    means = right.sum(axis=1) / n
    sums = right - size * means[:, None]
    robust = np.sqrt((sums**2).sum(axis=1) * n_clusters / (n_clusters - 1)) / n
    alone = np.sqrt(means * (1 - means) / (n - 1))
    off = np.abs(means - share)
    return [
        Row("coverage, clusters known (%)", 95.1, 100 * np.mean(off <= t_clusters * robust), 1, 1.1),
        Row("  mean width", 0.191, np.mean(2 * t_clusters * robust), 3, 0.002),
        Row("coverage, items independent (%)", 74.5, 100 * np.mean(off <= t_items * alone), 1, 2.3),
        Row("  mean width", 0.112, np.mean(2 * t_items * alone), 3),
    ]


def beside_statsmodels() -> list[Row]:
    """The clustered error of statsmodels, its z test, and what this package says of the same answers."""
    wide = pd.read_csv(DATA).pivot_table(index=["item", "passage"], columns="system", values="correct")
    passages = wide.index.get_level_values("passage")
    differences = (wide["larger"] - wide["baseline"]).to_numpy()
    clusters = Clusters.of(list(passages), name="passage")
    fitted = sm.OLS(differences, np.ones(len(differences))).fit(
        cov_type="cluster", cov_kwds={"groups": clusters.codes, "df_correction": False}
    )
    n, n_clusters = len(differences), clusters.n_clusters
    clustered = float(fitted.bse[0])
    found = clustered_mean(differences, clusters)
    print(
        f"\n  larger - baseline = {found.estimate:.4f} on {n} items in {n_clusters} passages\n"
        f"  statsmodels {statsmodels.__version__}, clustered, z:   SE {clustered:.5f}, "
        f"p = {float(fitted.pvalues[0]):.4f}\n"
        f"  here, CR2, t with {found.df:.1f} df:        SE {found.standard_error:.5f}, p = {found.p_value():.4f}\n"
        f"  items independent, t:            SE {found.independent_error:.5f}, "
        f"p = {clustered_mean(differences, None).p_value():.5f}"
    )
    return [Row("standard error by CR1, statsmodels and here", clustered, found.cr1_error, 10)]


def main() -> int:
    """Print all parts; 1 where a number that held no longer does."""
    print("evaluatellm 0.1.0 as documented, and its formulas recomputed")
    wrong = show("Planning: ev_mde and ev_power", planning())
    beside_t()
    wrong += show("Repeated responses: ev_resample", generations())
    wrong += show("Labels beside a judge: ev_judge_power", judge())
    wrong += show(f"Coverage of 95 % intervals, {EVALUATIONS:,} evaluations here", coverage())
    wrong += show("Clustered errors on data/answers.csv", beside_statsmodels())
    print(
        f"\n{'All numbers hold, or their reason is said.' if not wrong else f'{wrong} numbers do not hold.'}"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
