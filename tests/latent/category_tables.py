"""Tables of ratings in categories, drawn from a latent variable."""

import numpy as np
import pandas as pd

from humeval_power.latent import Latent
from humeval_power.ratings import Ratings, ratings_from_table
from humeval_power.scales import RatingScale

FIVE = Latent(
    thresholds=(-1.5, -0.5, 0.5, 1.5),
    effect=0.6,
    sd_worker_intercept=0.5,
    sd_worker_slope=0.4,
    sd_item_intercept=0.6,
    sd_item_slope=0.5,
)


def drawn_frame(latent: Latent, n_workers: int, n_items: int, *, seed: int, low: int = 1) -> pd.DataFrame:
    """Every worker rates every item under A and B; ratings are whole numbers from `low` on."""
    rng = np.random.default_rng(seed)
    worker, item, system = (
        codes.ravel() for codes in np.meshgrid(range(n_workers), range(n_items), range(2), indexing="ij")
    )
    x = system - 0.5
    eta = latent.effect * x
    for codes, factor in ((worker, "worker"), (item, "item")):
        for part, column in (("intercept", np.ones(len(x))), ("slope", x)):
            effects = rng.normal(0, getattr(latent, f"sd_{factor}_{part}"), int(codes.max()) + 1)
            eta += effects[codes] * column
    noise = rng.normal(size=len(x)) if latent.link == "probit" else rng.logistic(size=len(x))
    return pd.DataFrame(
        {
            "worker": [f"w{code:02d}" for code in worker],
            "item": [f"i{code:03d}" for code in item],
            "system": np.where(system == 0, "base", "new"),
            "rating": np.searchsorted(latent.thresholds, eta + noise) + low,
        }
    )


def drawn_ratings(latent: Latent, n_workers: int, n_items: int, *, seed: int) -> Ratings:
    """The same, read: ratings 1 to the number of categories."""
    scale = RatingScale.parse(f"1:{len(latent.scores)}")
    return ratings_from_table(drawn_frame(latent, n_workers, n_items, seed=seed), scale=scale)
