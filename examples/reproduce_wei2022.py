"""The tables of Wei, Kocmi and Federmann (2022) recomputed, each cell beside the printed one.

    python examples/reproduce_wei2022.py [--pools 5]

"Searching for a higher power in the human evaluation of MT". Their collection of 4,004 comparisons is not
public, so Table 1 and Figure 3 are recomputed on simulated ratings; Table 3 follows from Table 2 by their
equation (2). Their interim tests (Figures 4 to 6) are another subject.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

from humeval_power.planning.assessment import observed_mde
from humeval_power.planning.judge.efficiency import data_efficiency
from humeval_power.planning.questions import required_n
from humeval_power.scenarios.assessment.gamma_scores import GammaScores
from humeval_power.scenarios.assessment.scenario import DirectAssessment, score_tests

# Table 1: pair, comparisons significant and not, observed MDE, median difference
TABLE_1 = (
    ("ENU-FRA", 30, 153, 3.8, 1.2),
    ("ENU-DEU", 19, 151, 3.5, 0.7),
    ("FRA-ENU", 3, 140, 2.4, 0.6),
    ("DEU-ENU", 27, 130, 1.9, 0.6),
    ("JPN-ENU", 78, 127, 2.9, 3.2),
    ("ENU-JPN", 40, 94, 3.8, 1.8),
    ("ITA-ENU", 2, 81, 2.8, 0.5),
    ("CHS-ENU", 30, 78, 2.6, 1.5),
    ("ENU-PTB", 28, 74, 1.0, 0.6),
    ("ENU-SVE", 31, 73, 4.4, 1.4),
)
# Table 2: data, variance of a judgement, reducible share; Table 3: data efficiency at rho = 1, .5, .2
TABLE_2 = (("WMT21", 866.2, 0.231), ("pSQM zh-en", 683.2, 0.098), ("pSQM en-de", 705.4, 0.534))
TABLE_3 = {
    "WMT21": (1.30, 1.06, 1.01),
    "pSQM zh-en": (1.20, 1.12, 1.11),
    "pSQM en-de": (4.33, 3.09, 2.94),
}
CORRELATIONS = (1.0, 0.5, 0.2)
N = 600  # judgements of each system in their comparisons
MEAN, SD = 75.0, 25.0  # of a judgement: typical of Direct Assessment, not in the paper
HALF = 0.6744897501960817  # the median size of a standard normal deviate


def table_3() -> None:
    """Table 3 from Table 2."""
    print("Tables 2 and 3: data efficiency (1 + gamma) / (1 - rho^2 + gamma)\n")
    print(f"  {'data':<11} {'reducible':>9} {'gamma':>6} {'rho':>4} {'ours':>7} {'paper':>6} {'diff':>7}")
    for name, _, share in TABLE_2:
        gamma = 1 / share - 1
        for rho, printed in zip(CORRELATIONS, TABLE_3[name], strict=True):
            found = data_efficiency(gamma, rho)
            mark = "" if round(found, 2) == printed else "  *"
            print(
                f"  {name:<11} {share:>9.3f} {gamma:>6.3f} {rho:>4.1f} {found:>7.3f} {printed:>6.2f} "
                f"{found - printed:>+7.3f}{mark}"
            )
    print(
        "\n  * The two pSQM columns do not follow from Table 2, nor from any gamma: at\n"
        f"    rho = 0.2 equation (2) is at most 1 / (1 - 0.04) = {data_efficiency(0.0, 0.2):.4f}, without noise.\n"
        "    The text below equation (1) calls its two terms by each other's name; gamma\n"
        "    in equation (3), annotators' noise over true quality, is used here.\n"
        "    'At least half of the variance is irreducible' (Table 2) fails for pSQM\n"
        "    en-de, of which 46.6 % is."
    )


def figure_3() -> None:
    """Judgements needed for 95 % power, Mann-Whitney on Gamma ratings."""
    print(f"\nFigure 3: judgements of both systems for 95 % power, mean {MEAN:g} (there: a curve)\n")
    deviations = (20.0, SD, round(math.sqrt(TABLE_2[0][1]), 1))
    heads = "".join(f"{f'SD {sd:g}':>10}" for sd in deviations)
    print(f"  points  {heads}   SD {SD:g}, t   SD {SD:g} x points^2")
    for effect in (0.5, 1.0, 1.5, 2.0, 3.0, 4.0):
        sizes = [_size(effect, sd, "mann-whitney") for sd in deviations]
        by_t = _size(effect, SD, "student")
        row = "".join(f"{2 * size:>10,}" for size in sizes)
        print(f"  {effect:>6.1f}  {row}{2 * by_t:>11,}{2 * sizes[1] * effect**2:>19,.0f}")
    print(
        "\n  Half the difference takes four times the judgements: the last column hardly\n"
        "  changes. The growth is quadratic, not exponential as the text has it. Mann-\n"
        "  Whitney needs fewer than t because Gamma errors of one SD differ in shape too."
    )


def _size(effect: float, sd: float, test: str) -> int:
    found = required_n(
        lambda n: DirectAssessment(n, mean=MEAN, sd=sd, effect=effect, test=test),  # type: ignore[arg-type]
        power=0.95,
    )
    assert found.n is not None
    return found.n


def table_1(pools: int) -> None:
    """Table 1's computation on simulated collections of the same sizes and median differences."""
    print(f"\nTable 1: its computation on {pools} simulated collections, {N} judgements a system\n")
    print("                   significant     median        observed MDE       stable")
    print("  pair       pairs  paper ours   paper ours  paper ours (from to)    ours   SD")
    noise_median = HALF * SD * math.sqrt(2 / N)
    below = sum(row[4] < noise_median for row in TABLE_1)
    for number, (pair, hits, misses, mde, median) in enumerate(TABLE_1):
        n, target = hits + misses, (median / HALF) ** 2
        noise = min(2 * SD**2 / N, target / 2)
        sd, spread = math.sqrt(noise * N / 2), math.sqrt(target - noise)
        found = [_collection(n, sd, spread, np.random.default_rng([number, pool])) for pool in range(pools)]
        first = [one.first.difference for one in found if one.first is not None]
        stable = [one.stable.difference for one in found if one.stable is not None]
        significant = np.mean([one.n_significant for one in found])
        middle = np.mean([one.median_difference for one in found])
        print(
            f"  {pair:<8} {n:>7} {hits:>6} {significant:>4.0f} {median:>7.1f} {middle:>4.1f} {mde:>6.1f}"
            f"{_shown(first)}{_middle(stable)}{sd:>5.1f}"
        )
    print(
        f"\n  {N} judgements of SD {SD:g} without any true difference have a median observed\n"
        f"  difference of {noise_median:.2f}. {below} of the printed medians are smaller, so those judgements\n"
        "  had a smaller SD, were more, or were paired; the column SD is what was\n"
        "  simulated instead, with normal true differences. The observed MDE is the\n"
        "  smallest difference with 95 % significant at or above it (3 or more above);\n"
        "  the paper does not say whether every larger one must do so too ('stable')."
    )


def _collection(n: int, sd: float, spread: float, rng: np.random.Generator):  # type: ignore[no-untyped-def]
    ratings = [
        [GammaScores(mean, sd).draw(rng, (1, N)) for mean in (MEAN, MEAN + spread * rng.normal())]
        for _ in range(n)
    ]
    a, b = (np.concatenate([pair[system] for pair in ratings]) for system in (0, 1))
    tested = score_tests(a, b, test="mann-whitney")
    return observed_mde(tested.estimate, tested.p_value, fewest_above=3)


def _shown(values: list[float]) -> str:
    if not values:
        return f"{'none':>16}"
    reach = f"({min(values):.1f} {max(values):.1f})"
    return f"{np.median(values):>5.1f} {reach:>10}"


def _middle(values: list[float]) -> str:
    return f"{np.median(values):>8.1f}" if values else f"{'none':>8}"


def sentences() -> None:
    """Numbers in the text."""
    print("\nIn the text\n")
    print(f"  footnote 3: 1 - .95^20 = {1 - 0.95**20:.4f}; the paper has 0.63")
    print(f"  section 3: (1 - alpha)(1 - beta) = {0.95**2:.4f} is called an accuracy of 0.9.")
    print("  Where half of the null hypotheses are true, the share of right conclusions is")
    print("  the mean of 1 - alpha and the power, 0.95, and not their product.")
    at_2, at_3 = (
        DirectAssessment(N, mean=MEAN, sd=SD, effect=effect).computed().power for effect in (2.0, 3.0)
    )
    print("  section 1: 'reliably detect up to 2-3 point': by formula the power is")
    print(f"  {at_2:.2f} at 2 and {at_3:.2f} at 3 points, if the SD is {SD:g}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pools", type=int, default=5, help="simulated collections for Table 1")
    pools = parser.parse_args().pools
    table_3()
    figure_3()
    table_1(pools)
    sentences()


if __name__ == "__main__":
    main()
