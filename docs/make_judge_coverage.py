"""Make the tables of coverage in docs/judge.md anew:

    python docs/make_judge_coverage.py [--quick] [--only TABLE]

Studies whose truth is known, analysed as `judge estimate` does and by the formulas of two other packages, written
here from their definition: PPI++ with the normal law (ppi_py 0.2.3), and MultiPPI (GLIDE, 2026), which divides the
labelled covariance by the pooled variance of the judges. The numbers depend on the seed alone. `--quick` uses a
twentieth of the studies and prints the tables without touching the page.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from make_calibration import insert
from numpy.typing import NDArray
from scipy import special

from humeval_power.comparisons.judge.assisted import (
    RatedItems,
    assisted_mean,
    label_mean,
    rated_means,
    regression,
)
from humeval_power.comparisons.judge.sampling import (
    active_probabilities,
    draw_strata,
    draw_systematic,
    inverse_weighted_mean,
    strata_of,
    stratified_mean,
)
from humeval_power.inference.item_sampling import allocate
from humeval_power.saying.result import versions

COMMAND = "python docs/make_judge_coverage.py"
DOCS = Path(__file__).parent
SEED, STUDIES, CROSSED_STUDIES, EXTRA = 39, 4_000, 400, 1_000
Z = float(special.ndtri(0.975))
NUMERIC = ((15, 1), (15, 3), (20, 5), (30, 1), (30, 5), (100, 1), (100, 5), (1000, 5))
BINARY = ((0.3, 20), (0.3, 30), (0.1, 30), (0.05, 50), (0.9, 30), (0.3, 100), (0.3, 1000))
CROSSED = ((3, 0.11), (5, 0.11), (10, 0.11), (3, 0.03), (5, 0.03), (10, 0.03))
DRAWN_STUDIES, POOL = 2_000, 2_000
DRAWN = (  # what the judge is like, labels, and how often people say yes
    ("calibrated", 40, 0.5),
    ("calibrated", 100, 0.5),
    ("calibrated", 100, 0.05),
    ("over-confident", 100, 0.5),
    ("over-confident", 100, 0.1),
    ("useless", 40, 0.3),
    ("calibrated", 1000, 0.5),
    ("sure and noisy, people divided", 100, 0.5),
)
CROSSED_ITEMS, TI, NOISE = 100, 0.14, 0.26
Floats = NDArray[np.float64]


def ppi(y: Floats, f: Floats, extra: Floats, *, pooled: bool) -> tuple[float, float]:
    """Estimate and standard error of PPI++ with several judges; `pooled` divides by the variance over all items."""
    n, more = len(y), len(extra)
    spread = np.cov((np.concatenate([f, extra]) if pooled else f).T).reshape(f.shape[1], -1)
    with_y = np.array([np.cov(y, column)[0, 1] for column in f.T])
    weights = np.linalg.solve(spread, with_y) / (1 + n / more)
    estimate = y.mean() - weights @ (f.mean(axis=0) - extra.mean(axis=0))
    error = np.var(y - f @ weights, ddof=1) / n + np.var(extra @ weights, ddof=1) / more
    return float(estimate), float(np.sqrt(error))


def held(ends: tuple[float, float], truth: float) -> bool:
    """Whether an interval holds the truth."""
    return ends[0] <= truth <= ends[1]


def around(found: tuple[float, float]) -> tuple[float, float]:
    """The interval by the normal law."""
    return found[0] - Z * found[1], found[0] + Z * found[1]


def numeric_row(n: int, n_judges: int, studies: int, rng: np.random.Generator) -> Floats:
    """Coverage and SD of MultiPPI, then of the regression: judges go .7 with people and .6 with each other."""
    cov = np.full((n_judges + 1, n_judges + 1), 0.6) + 0.4 * np.eye(n_judges + 1)
    cov[0, 1:] = cov[1:, 0] = 0.7
    root = np.linalg.cholesky(cov)
    hits, estimates = np.zeros(2), np.zeros((studies, 2))
    for place in range(studies):
        both = rng.standard_normal((n + EXTRA, n_judges + 1)) @ root.T
        y, f, extra = both[:n, 0], both[:n, 1:], both[n:, 1:]
        glide, ours = ppi(y, f, extra, pooled=True), regression(y, f, extra)
        hits += [held(around(glide), 0.0), held(ours.interval, 0.0)]
        estimates[place] = glide[0], ours.estimate
    return np.array([hits[0] / studies, estimates[:, 0].std(), hits[1] / studies, estimates[:, 1].std()])


def binary_row(rate: float, n: int, studies: int, rng: np.random.Generator) -> Floats:
    """Coverage of PPI++, of Student's interval of the regression, of the post-stratified one, with sensitivity .85
    and specificity .8; then the mean widths of the first and the last."""
    hits, widths = np.zeros(3), np.zeros(2)
    for _ in range(studies):
        truth = rng.random(n + EXTRA) < rate
        judge = np.where(truth, rng.random(n + EXTRA) < 0.85, rng.random(n + EXTRA) > 0.8).astype(float)[
            :, None
        ]
        y = truth[:n].astype(float)
        ours = assisted_mean(y, judge[:n], judge[n:]).interval
        if np.ptp(y) == 0 or np.ptp(judge[:n]) == 0:
            others = [(y.mean(), y.mean())] * 2
        else:
            others = [
                around(ppi(y, judge[:n], judge[n:], pooled=True)),
                regression(y, judge[:n], judge[n:]).interval,
            ]
        ends = [*others, ours]
        hits += [held(each, rate) for each in ends]
        widths += [ends[0][1] - ends[0][0], ends[2][1] - ends[2][0]]
    return np.concatenate([hits, widths]) / studies


def crossed_row(raters: int, tw: float, studies: int, rng: np.random.Generator) -> Floats:
    """Coverage of PPI++ on the means of items, of the model without the judge, and with it, for other raters."""
    n, hits = CROSSED_ITEMS, np.zeros(3)
    worker, item, system = (
        codes.ravel() for codes in np.meshgrid(range(raters), range(n), range(2), indexing="ij")
    )
    for _ in range(studies):
        truth = rng.standard_normal(n + EXTRA)
        judged = 0.8 * truth + 0.6 * rng.standard_normal(n + EXTRA)
        mean = (tw * rng.standard_normal(raters))[worker] + TI * truth[item]
        rating = mean * (system - 0.5) + NOISE * rng.standard_normal(len(worker))
        difference = rating.reshape(raters, n, 2) @ np.array([-1.0, 1.0])
        peers = ppi(difference.mean(axis=0), judged[:n, None], judged[n:, None], pooled=True)
        found = rated_means(
            RatedItems(worker, item, system, rating, np.stack([-judged, judged], axis=1) / 2)
        )
        ends = (around(peers), found.human.interval, found.judged.interval)
        hits += [held(each, 0.0) for each in ends]
    return hits / studies


def drawn_row(kind: str, n: int, rate: float, studies: int, rng: np.random.Generator) -> Floats:
    """Coverage and SD of the labels of a random part, of these with the judge's help, of strata by its score in
    proportion to size, and of outputs drawn one by one."""
    hits, estimates = np.zeros(4), np.zeros((studies, 4))
    total = 2 * POOL if n == POOL // 2 else POOL
    for place in range(studies):
        shape = 4.0 if "divided" in kind else 0.8
        chance = rng.beta(shape * rate, shape * (1 - rate), total)
        score = chance
        if kind.startswith(("over-confident", "sure")):
            factor, noise = (2, 1) if kind == "over-confident" else (5, 5)
            odds = np.log((chance + 1e-9) / (1 - chance + 1e-9))
            score = 1 / (1 + np.exp(-(factor * odds + noise * rng.standard_normal(total))))
        elif kind == "useless":
            score = rng.random(total)
        people = (rng.random(total) < chance).astype(float)
        order = rng.permutation(total)
        part, rest = order[:n], order[n:]
        strata = strata_of(score, n)
        chosen = draw_strata(strata, allocate(strata.size, n), rng)
        probability = active_probabilities(score, n)
        one = draw_systematic(probability, rng)
        found = (
            label_mean(people[part], binary=True),
            assisted_mean(people[part], score[part, None], score[rest, None]),
            stratified_mean(people[chosen], strata.code[chosen], strata.size, binary=True),
            inverse_weighted_mean(people[one], probability[one], score[one], score),
        )
        hits += [held(each.interval, rate) for each in found]
        estimates[place] = [each.estimate for each in found]
    return np.stack([hits / studies, estimates.std(axis=0)], axis=1).ravel()


def drawn_table(studies: int) -> str:
    """Outputs drawn with known probabilities."""
    rng = np.random.default_rng([SEED, 4])
    return "\n".join(
        [
            "| judge, rate, labels | labels alone | SD | random part, judge | SD | strata | SD | one by one | SD |",
            "|---|---|---|---|---|---|---|---|---|",
            *(
                f"| {kind}, {rate:g}, {n:,} | "
                + " | ".join(
                    f"{value:.3f}" if place % 2 == 0 else f"{value:.4f}" for place, value in enumerate(row)
                )
                + " |"
                for kind, n, rate in DRAWN
                for row in [drawn_row(kind, n, rate, studies if n < 1000 else studies // 4, rng)]
            ),
        ]
    )


def tables(divisor: int) -> tuple[str, str, str]:
    """The tables but for that of drawn outputs, in Markdown."""
    rng = np.random.default_rng(SEED)
    many, few = STUDIES // divisor, CROSSED_STUDIES // divisor
    first = [
        "| labels, judges | GLIDE's MultiPPI, z | SD | regression, t | SD |",
        "|---|---|---|---|---|",
        *(
            f"| {n:,}, {judges} | {row[0]:.3f} | {row[1]:.3f} | **{row[2]:.3f}** | {row[3]:.3f} |"
            for n, judges in NUMERIC
            for row in [numeric_row(n, judges, many if n < 1000 else many // 4, rng)]
        ),
    ]
    second = [
        "| rate, labels | PPI++, z | regression, t | post-stratified | widths |",
        "|---|---|---|---|---|",
        *(
            f"| {rate:g}, {n:,} | {row[0]:.3f} | {row[1]:.3f} | **{row[2]:.3f}** | {row[3]:.3f} / {row[4]:.3f} |"
            for rate, n in BINARY
            for row in [binary_row(rate, n, many, rng)]
        ),
    ]
    third = [
        "| raters, their SD | PPI++ on the means of items, z | people alone | with the judge |",
        "|---|---|---|---|",
        *(
            f"| {raters}, {tw:g} | {row[0]:.3f} | {row[1]:.3f} | **{row[2]:.3f}** |"
            for raters, tw in CROSSED
            for row in [crossed_row(raters, tw, few, rng)]
        ),
    ]
    return "\n".join(first), "\n".join(second), "\n".join(third)


def main() -> None:
    """Write the tables into the page, or print them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=("drawn",))
    asked = parser.parse_args()
    divisor = 20 if asked.quick else 1
    kinds = {"drawn": (drawn_table(DRAWN_STUDIES // divisor), DRAWN_STUDIES)}
    if asked.only is None:
        counts = (STUDIES, STUDIES, CROSSED_STUDIES)
        kinds |= dict(
            zip(("judges", "classes", "raters"), zip(tables(divisor), counts, strict=True), strict=True)
        )
    if asked.quick:
        print("\n\n".join(made for made, _ in kinds.values()))
        return
    page = (DOCS / "judge.md").read_text(encoding="utf-8")
    by = ", ".join(f"{name} {version}" for name, version in versions().items())
    for name, (made_table, studies) in kinds.items():
        note = f"Made by `{COMMAND}`, seed {SEED}, {studies:,} studies a row, with {by}."
        page = insert(page, name, f"{made_table}\n\n{note}")
    (DOCS / "judge.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
