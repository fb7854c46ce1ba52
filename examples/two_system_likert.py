"""Two systems on a five-point scale: from a pilot and prices to the cheapest study that is large enough.

Run: python examples/two_system_likert.py [FOLDER FOR THE PICTURE]
"""

import sys
from pathlib import Path

import pandas as pd

from humeval_power import RatingScale, assumptions_of, fit, ratings_from_table
from humeval_power.costs import CostModel
from humeval_power.saying.figure_style import figure_bytes
from humeval_power.studies.plan.candidates import SearchSpace
from humeval_power.studies.plan.request import PlanRequest
from humeval_power.studies.plan.result import front_figure
from humeval_power.studies.plan.search_and_prove import make_plan
from humeval_power.studies.power.outlook import bottleneck_words

PILOT = Path(__file__).resolve().parent.parent / "data" / "pilot.csv"


def main(folder: Path) -> None:
    scale = RatingScale(1, 5, points=5)
    ratings = ratings_from_table(pd.read_csv(PILOT), scale=scale, systems=("baseline", "new"))
    pilot = fit(ratings).fitted
    print(f"The pilot: {pilot.n_ratings} ratings by {pilot.n_workers} workers on {pilot.n_items} items.")

    effect = scale.effect_from_raw(0.4)  # four tenths of a point is what would make us switch systems
    request = PlanRequest(
        assumptions_of({"pilot": pilot.parameters}, uncertainty=pilot.uncertainty),
        effect=effect,
        space=SearchSpace(
            workers=range(6, 41),
            items=range(40, 301, 10),
            ratings_per_item=range(1, 7),
            max_ratings_per_worker=150,
        ),
        costs=CostModel(price_per_rating="0.12", cost_per_worker="4"),
    )
    plan = make_plan(request, n_simulations=1000, seed=1)
    counts, chosen, sure = plan.chosen.counts, plan.chosen, plan.assurance
    print(
        f"The cheapest of {plan.n_candidates:,} designs that finds {effect:g} in 8 of 10 studies: "
        f"{counts.n_workers} workers, {counts.n_items} items, {counts.ratings_per_item} ratings per item "
        f"and system, for {chosen.cost}."
    )
    low, high = chosen.simulated.interval
    print(f"Power by formula {chosen.powers['pilot']:.3f}, by simulation {low:.3f} to {high:.3f}.")
    print(bottleneck_words(plan.bottleneck, counts))
    print(f"The pilot is small: the power that counts on its uncertainty is {sure.expected:.2f}.")

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "two_system_likert.png").write_bytes(figure_bytes(front_figure(plan), "png"))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "example-output"))
