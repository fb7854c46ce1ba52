"""Make the pilot studies that are shipped here. Run: python data/generate.py

Both are simulated from the rating model with the seeds below; no person's rating is in them.
"""

from pathlib import Path

from humeval_power.designs import crossed, k_per_item
from humeval_power.parameters import Parameters
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import simulate

HERE = Path(__file__).parent

# Variances of the size found in public fluency and summary ratings (workers differ by about half a
# point of five, items by more, and a worker's own difference between systems by a tenth of the scale).
LIKERT = Parameters(
    baseline=0.58,
    effect=0.06,
    sd_worker_intercept=0.07,
    sd_worker_slope=0.05,
    sd_item_intercept=0.13,
    sd_item_slope=0.15,
    sd_residual=0.18,
)
SLIDER = Parameters(
    baseline=0.62,
    effect=0.05,
    sd_worker_intercept=0.10,
    sd_worker_slope=0.04,
    sd_item_intercept=0.12,
    sd_item_slope=0.08,
    sd_residual=0.14,
)


def main() -> None:
    likert = simulate(
        LIKERT, k_per_item(10, 60, ratings_per_item=3, seed=3), seed=11, response="likert", points=5
    )
    table = likert.to_frame(RatingScale(1, 5, points=5)).replace({"system": {"A": "baseline", "B": "new"}})
    table["rating"] = table["rating"].round().astype(int)
    table.to_csv(HERE / "pilot.csv", index=False)
    slider = simulate(SLIDER, crossed(5, 40), seed=12, response="clipped")
    table = slider.to_frame(RatingScale(0, 100)).replace({"system": {"A": "baseline", "B": "new"}})
    table["rating"] = table["rating"].round().astype(int)
    table.to_csv(HERE / "experts.csv", index=False)


if __name__ == "__main__":
    main()
