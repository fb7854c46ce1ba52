"""How far do 500 dollars go? The best study that the money buys, on a platform that adds its fees.

Run: python examples/five_hundred_dollars.py [FOLDER FOR THE PICTURE]
"""

import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pandas as pd

from humeval_power import RatingScale, assumptions_of, fit, ratings_from_table
from humeval_power.costs import CostModel
from humeval_power.files.file_bytes import read_fee
from humeval_power.saying.figure_style import figure_bytes
from humeval_power.studies.plan.candidates import SearchSpace
from humeval_power.studies.plan.request import PlanRequest
from humeval_power.studies.plan.result import front_figure
from humeval_power.studies.plan.search_and_prove import make_plan
from humeval_power.studies.power.analytic import minimum_detectable_effect
from humeval_power.studies.power.required import counts_precision

PILOT = Path(__file__).resolve().parent.parent / "data" / "pilot.csv"


def main(folder: Path) -> None:
    scale = RatingScale(1, 5, points=5)
    ratings = ratings_from_table(pd.read_csv(PILOT), scale=scale, systems=("baseline", "new"))
    parameters = fit(ratings).parameters
    request = PlanRequest(
        assumptions_of({"pilot": parameters}),
        effect=0.05,
        space=SearchSpace(
            workers=range(5, 61), items=range(50, 501, 10), ratings_per_item=(1, 2, 3, 4, 6, 8, 9, 10, 12)
        ),
        costs=CostModel(
            pay_per_hour="15", seconds_per_rating="25", cost_per_worker="6", fee=read_fee("mturk")
        ),
    )
    for money in (100, 200, 300, 400, 500):
        asked = replace(request, budget=Decimal(money), spend_budget=True)
        plan = make_plan(asked, n_simulations=400, seed=1)
        counts = plan.chosen.counts
        smallest = minimum_detectable_effect(counts_precision(parameters, counts))
        print(
            f"{money} USD: {counts.n_workers} workers, {counts.n_items} items, "
            f"{counts.ratings_per_item} ratings each, {plan.chosen.cost}. Power for a difference of 0.05: "
            f"{plan.chosen.powers['pilot']:.2f}; found in 8 of 10 studies: {smallest:.3f}."
        )
    print("Of the last 500: " + ", ".join(f"{k} {v}" for k, v in plan.chosen.cost.parts.items() if v) + ".")
    print(f"{plan.reason} What would do: {'; or '.join(plan.would_do)}." if plan.would_do else "Enough.")

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "five_hundred_dollars.png").write_bytes(figure_bytes(front_figure(plan), "png"))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "example-output"))
