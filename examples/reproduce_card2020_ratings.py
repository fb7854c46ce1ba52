"""Card et al. (2020): Fig. 1 (preferences) and Fig. 6 (ratings), computed again.

Run: python examples/reproduce_card2020_ratings.py
"""

import csv
import math
from pathlib import Path

from humeval_power import CARD2020, preset
from humeval_power.planning.study.surface import list_cells, run_surface
from humeval_power.scenarios.preference.independent import Preference

HERE = Path(__file__).resolve().parent
REPLICATES = 200  # theirs, in every cell of Fig. 6


def figure_1() -> None:
    """A system that 65 % of people prefer, by the exact binomial test."""
    print("Figure 1: 65 % prefer the better system (published: about 30 % with 25, over 80 % with 100)")
    for n in (25, 100):
        computed = Preference(n, preference=0.15).computed()
        print(f"  n {n:3}: power {computed.power:.4f}, type M {computed.type_m:.2f}")


def figure_6() -> None:
    """Power of the 48 cells; the paper's coefficient under -1/+1 coding is half the difference."""
    published = {
        (row["variance"], int(row["workers"]), int(row["items"]), float(row["effect"])): float(row["power"])
        for row in csv.DictReader((HERE / "card2020_figure6.csv").read_text().splitlines())
    }
    cells = list_cells(
        {name: preset(name) for name in ("high", "low")},
        workers=[3, 10],
        items=[50, 100, 500],
        effects=[0.1, 0.2, 0.3, 0.4],
        rule=CARD2020,
    )
    print(
        "\nFigure 6: maximum likelihood and t > 1.96, published, ours, the difference in its own errors (z)"
    )
    worst = 0.0
    for result in run_surface(cells, n_simulations=10_000, seed=1):
        design, estimate = result.cell.study.design, result.estimate
        key = (result.cell.setting, design.n_workers, design.n_items, round(estimate.true_effect / 2, 10))
        error = math.sqrt(max(estimate.power * (1 - estimate.power), 1e-4) / REPLICATES)
        z = (published[key] - estimate.power) / error
        worst = max(worst, abs(z))
        cell = f"  {key[0]:<5}{key[1]:3} x {key[2]:3}, {key[3]:.2f}"
        print(f"{cell}: {published[key]:.3f} {estimate.power:.3f} {z:+.1f}")
    false = list_cells({"high": preset("high")}, workers=[3], items=[100], effects=[0.0], rule=CARD2020)
    rate = run_surface(false, n_simulations=100_000, seed=2)[0].estimate.power
    print(f"  largest |z| {worst:.1f}: all cells reproduce, if the effect is read as half the difference.")
    print(
        f"  Without an effect that rule finds one in {100 * rate:.1f} % of studies of 3 x 100 (high variance)."
    )
    print("\nTables 13 to 16: 'humeval-power parameters list' has them, and why they are not for planning.")


if __name__ == "__main__":
    figure_1()
    figure_6()
