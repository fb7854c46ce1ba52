"""Make the pilot studies and test sets that are shipped here. Run: python data/generate.py

All are simulated with the seeds below; no person's rating is in them.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from humeval_power.designs import crossed, k_per_item
from humeval_power.latent import Latent
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

# Sentences of eight documents, rated in five boxes; whatever is shown second is rated a little higher.
SENTENCES = Latent(
    thresholds=(-2.0, -1.2, -0.3, 0.9),
    effect=0.45,
    sd_worker_intercept=0.5,
    sd_worker_slope=0.2,
    sd_item_intercept=0.5,
    sd_item_slope=0.3,
    sd_document_intercept=0.3,
    sd_document_slope=0.3,
)
SECOND_PLACE = 0.2


def sentences(n_workers: int = 6, n_documents: int = 8, n_items: int = 6, *, seed: int) -> pd.DataFrame:
    """Every worker rates every sentence of every document under both systems, in an order drawn by chance."""
    rng = np.random.default_rng(seed)
    shape = (n_workers, n_documents, n_items)

    def effects(kind: str, *size: int) -> tuple[np.ndarray, np.ndarray]:
        parts = (getattr(SENTENCES, f"sd_{kind}_{part}") for part in ("intercept", "slope"))
        intercept, slope = (sd * rng.standard_normal(size) for sd in parts)
        return intercept, slope

    worker = [part[:, None, None] for part in effects("worker", n_workers)]
    document = [part[None, :, None] for part in effects("document", n_documents)]
    item = [part[None] for part in effects("item", n_documents, n_items)]
    intercept, slope = (sum(parts) for parts in zip(worker, document, item, strict=True))
    b_first = rng.random(shape) < 0.5
    tables = []
    for x, name in ((-0.5, "baseline"), (0.5, "new")):
        place = np.where(b_first == (x > 0), 1, 2)
        latent = intercept + (SENTENCES.effect + slope) * x + SECOND_PLACE * (place - 1.5)
        rating = 1 + np.searchsorted(np.array(SENTENCES.thresholds), latent + rng.standard_normal(shape))
        w, d, i = (index.ravel() + 1 for index in np.indices(shape))
        names = {"worker": [f"w{k}" for k in w], "document": [f"d{k}" for k in d]}
        names["item"] = [f"d{k}-s{j}" for k, j in zip(d, i, strict=True)]
        tables.append(
            pd.DataFrame({**names, "system": name, "place": place.ravel(), "rating": rating.ravel()})
        )
    return pd.concat(tables).sort_values(["worker", "document", "item", "place"], kind="stable")


def answers(n_passages: int = 24, n_questions: int = 5, n_runs: int = 4, *, seed: int) -> pd.DataFrame:
    """Three systems answer the questions of 24 passages four times each; `correct` is 1 or 0."""
    rng = np.random.default_rng(seed)
    skills = {"baseline": 0.4, "larger": 1.0, "tuned": 0.8}
    easy = rng.normal(0, 0.8, n_passages)[:, None] + rng.normal(0, 1.0, (n_passages, n_questions))
    tables = []
    for name, skill in skills.items():
        own = rng.normal(0, 0.6, (n_passages, 1)) + rng.normal(0, 0.5, (n_passages, n_questions))
        latent = (skill + easy + own)[:, :, None]
        correct = rng.random((n_passages, n_questions, n_runs)) < 1 / (1 + np.exp(-latent))
        p, q, r = (index.ravel() + 1 for index in np.indices(correct.shape))
        names = {"item": [f"p{i:02}-q{j}" for i, j in zip(p, q, strict=True)]}
        names["passage"] = [f"p{i:02}" for i in p]
        tables.append(
            pd.DataFrame({**names, "system": name, "generation": r, "correct": correct.ravel() * 1})
        )
    return pd.concat(tables)


def prompts(n_prompts: int = 6, n_items: int = 40, *, seed: int) -> pd.DataFrame:
    """Two systems answer 40 items under the same six prompts; `score` lies between 0 and 1."""
    rng = np.random.default_rng(seed)
    shape = (n_prompts, n_items)
    level = 0.55 + rng.normal(0, 0.04, (n_prompts, 1)) + rng.normal(0, 0.12, (1, n_items))
    difference = 0.05 + rng.normal(0, 0.04, (n_prompts, 1)) + rng.normal(0, 0.08, (1, n_items))
    tables = []
    for x, name in ((-0.5, "baseline"), (0.5, "tuned")):
        score = np.clip(level + x * difference + rng.normal(0, 0.07, shape), 0, 1)
        p, i = (index.ravel() + 1 for index in np.indices(shape))
        names = {"item": [f"i{k:02}" for k in i], "system": name, "prompt": [f"prompt{k}" for k in p]}
        tables.append(pd.DataFrame({**names, "score": score.ravel().round(3)}))
    return pd.concat(tables)


def main() -> None:
    answers(seed=14).to_csv(HERE / "answers.csv", index=False)
    prompts(seed=15).to_csv(HERE / "prompts.csv", index=False)
    sentences(seed=13).to_csv(HERE / "sentences.csv", index=False)
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
