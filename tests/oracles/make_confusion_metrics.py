"""Metrics of random labels by scikit-learn: tests/golden/confusion_metrics.json.

python tests/oracles/make_confusion_metrics.py        (needs scikit-learn, which the package does not)
"""

import json
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn import metrics

SEED, N_TABLES = 20, 24
TARGET = Path(__file__).resolve().parents[1] / "golden" / "confusion_metrics.json"


def one(rng: np.random.Generator, n_classes: int) -> dict[str, object]:
    n_items = int(rng.integers(3, 60))
    chances = rng.dirichlet(np.full(n_classes * n_classes, 0.5))
    drawn = rng.multinomial(n_items, chances).reshape(n_classes, n_classes)
    true, predicted = (np.repeat(axis, drawn.ravel()) for axis in np.indices(drawn.shape).reshape(2, -1))
    of_class = {"labels": list(range(n_classes)), "average": None, "zero_division": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes without items, which are meant to be there
        found = {
            "accuracy": metrics.accuracy_score(true, predicted),
            "balanced-accuracy": metrics.balanced_accuracy_score(true, predicted),
            "mcc": metrics.matthews_corrcoef(true, predicted),
            "macro-f1": metrics.f1_score(true, predicted, **(of_class | {"average": "macro"})),
            "micro-f1": metrics.f1_score(true, predicted, **(of_class | {"average": "micro"})),
            "f1": metrics.f1_score(true, predicted, **of_class).tolist(),
            "precision": metrics.precision_score(true, predicted, **of_class).tolist(),
            "recall": metrics.recall_score(true, predicted, **of_class).tolist(),
        }
    return {"confusion": drawn.tolist(), **found}


def main() -> None:
    rng = np.random.default_rng(SEED)
    tables = [one(rng, 2 + place % 3) for place in range(N_TABLES)]
    meta = {
        "command": "python tests/oracles/make_confusion_metrics.py",
        "seed": SEED,
        "versions": {"scikit-learn": sklearn.__version__, "numpy": np.__version__},
    }
    lines = ",\n".join(json.dumps(table) for table in tables)
    TARGET.write_text(f'{{"meta": {json.dumps(meta)},\n"tables": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
