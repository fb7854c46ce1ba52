"""We only have five experts: what can they show, and how many would it take?

Run: python examples/five_experts.py [FOLDER FOR THE PICTURE]
"""

import sys
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from humeval_power import RatingScale, fit, ratings_from_table
from humeval_power.saying.figure_style import figure_bytes, house_style
from humeval_power.studies.power.analytic import ceiling_with_items
from humeval_power.studies.power.assurance import safe_parameters
from humeval_power.studies.power.required import counts_power, required_size
from humeval_power.study_counts import StudyCounts

EXPERTS = Path(__file__).resolve().parent.parent / "data" / "experts.csv"
EFFECT = 0.06  # six points of a hundred


def main(folder: Path) -> None:
    ratings = ratings_from_table(
        pd.read_csv(EXPERTS), scale=RatingScale(0, 100), systems=("baseline", "new")
    )
    pilot = fit(ratings).fitted
    likely = pilot.parameters.with_difference(EFFECT)
    careful = safe_parameters(likely, pilot.uncertainty, confidence=0.8)
    numbers = range(3, 31)
    with house_style():
        figure = Figure(figsize=(5, 3.3), layout="constrained")
        axes = figure.subplots()
        for name, parameters, colour in (("estimated", likely, "#0072B2"), ("safe", careful, "#D55E00")):
            limit = ceiling_with_items(parameters, n_workers=5)
            print(f"As {name}, experts' own differences have SD {parameters.sd_worker_slope:.3f}.")
            print(
                f"  Five experts on 40 items: power {counts_power(parameters, StudyCounts(5, 40, 5)):.2f};"
            )
            print(f"  on any number of items at most {limit.power:.2f}, and nothing below an effect of")
            print(f"  {limit.detectable_effect:.3f} is found in 8 of 10 studies.")
            enough = required_size(parameters, "workers", items=100, n_simulations=1000, seed=1)
            print(f"  With 100 items it would take {enough.counts.n_workers} experts.")
            for items, dashes in ((40, ":"), (100, "-")):
                power = [counts_power(parameters, StudyCounts(m, items, m)) for m in numbers]
                axes.plot(numbers, power, dashes, color=colour, label=f"{name}, {items} items")
        axes.axhline(0.8, color="#595959", linewidth=0.8)
        axes.set(xlabel="Experts, all on every item", ylim=(0, 1.02))
        axes.set_ylabel(f"Power for a difference of {EFFECT:g}")
        axes.legend(loc="lower right")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "five_experts.png").write_bytes(figure_bytes(figure, "png"))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "example-output"))
