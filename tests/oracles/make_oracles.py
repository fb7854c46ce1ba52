"""Make the golden files of the fitters: real tables and random designs, fitted by lme4 and its friends.

    python tests/oracles/make_oracles.py --data ../shared/data

Needs Rscript with lme4, lmerTest, pbkrtest, jsonlite. Writes tests/golden/real_tables.json (results
without rows) and tests/golden/random_designs.json (results with rows). `--only` makes one of them.
"""

import argparse
import json
import os
import platform
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from random_designs import DESIGNS, generate
from real_tables import COMPARISONS, load, sha256

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden"
SEED = 20200
COMPONENTS = (
    "sd_worker_intercept",
    "sd_worker_slope",
    "sd_item_intercept",
    "sd_item_slope",
    "sd_residual",
)
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def run_r(datasets: list[dict]) -> dict:
    """Fit the datasets with fit_oracle.R; returns its answer."""
    with tempfile.TemporaryDirectory() as folder:
        given, taken = Path(folder, "in.json"), Path(folder, "out.json")
        given.write_text(json.dumps({"datasets": datasets}))
        command = ["Rscript", str(HERE / "fit_oracle.R"), str(given), str(taken)]
        subprocess.run(command, check=True, env=os.environ | ONE_THREAD)
        return json.loads(taken.read_text())


def not_identified(rows: dict) -> list[str]:
    """Names of the variance components that the table cannot tell apart, or not see at all.

    With M = I - X(X'X)^-1 X', component i acts through M G_i M, G_i = Z_i Z_i'. Components are
    identified if these matrices are linearly independent; their inner products are
    tr(M G_i M G_j) = ||Z_i' M Z_j||^2, of which the null space names those involved.
    """
    worker, item, x = (np.asarray(rows[key]) for key in ("worker", "item", "system"))
    x = x - 0.5
    columns = [dummies(worker), dummies(worker) * x[:, None], dummies(item), dummies(item) * x[:, None]]
    X = np.column_stack([np.ones_like(x), x])
    centred = [Z - X @ np.linalg.lstsq(X, Z, rcond=None)[0] for Z in columns]
    n_components = len(columns) + 1
    inner = np.empty((n_components, n_components))
    for i, left in enumerate(centred):
        for j, right in enumerate(centred):
            inner[i, j] = np.sum((left.T @ right) ** 2)
        inner[i, -1] = inner[-1, i] = np.sum(left**2)
    inner[-1, -1] = len(x) - np.linalg.matrix_rank(X)
    size = np.sqrt(np.diag(inner))
    values, vectors = np.linalg.eigh(inner / np.outer(size, size))
    null = vectors[:, values < 1e-10]
    return [name for name, row in zip(COMPONENTS, null, strict=True) if np.any(np.abs(row) > 1e-4)]


def dummies(codes: np.ndarray) -> np.ndarray:
    """One indicator column for each level, shape (N, levels)."""
    return (codes[:, None] == np.arange(codes.max() + 1)).astype(float)


def counts(rows: dict) -> dict[str, int]:
    return {
        "n_ratings": len(rows["rating"]),
        "n_workers": int(np.max(rows["worker"])) + 1,
        "n_items": int(np.max(rows["item"])) + 1,
    }


def real_tables(data: Path) -> dict:
    """Results on the published tables; the rows stay where they are."""
    records, datasets = [], []
    for comparison in COMPARISONS:
        record = comparison.as_dict()
        rows = load(record, data)
        record["sha256"] = sha256(data / comparison.file)
        records.append({**record, **counts(rows), "not_identified": not_identified(rows)})
        datasets.append({"name": comparison.name} | {key: value.tolist() for key, value in rows.items()})
    return finish(records, run_r(datasets), arguments="--only real")


def random_designs() -> dict:
    """Results on simulated tables, with their rows."""
    datasets = generate(SEED)
    records = [{**rows, **counts(rows), "not_identified": not_identified(rows)} for rows in datasets]
    document = finish(records, run_r(datasets), arguments="--only random")
    document["meta"]["seed"] = SEED
    return document


def finish(records: list[dict], answer: dict, *, arguments: str) -> dict:
    """Join records with R's results, and say how they were made."""
    comparisons = []
    for record, result in zip(records, answer["results"], strict=True):
        if record["name"] != result["name"]:
            raise RuntimeError(f"R answered {result['name']} where {record['name']} was asked.")
        comparisons.append({**record, "reml": result["reml"], "ml": result["ml"]})
    python = {"Python": platform.python_version(), "numpy": np.__version__, "pandas": pd.__version__}
    meta = {
        "command": f"python tests/oracles/make_oracles.py {arguments}",
        "model": "rating ~ x + (1|worker) + (0+x|worker) + (1|item) + (0+x|item), x = -1/2 (A), +1/2 (B)",
        "criterion": "lme4's REMLcrit (reml) and deviance (ml) of the ratings on [0, 1]",
        "optimisers": "bobyqa, NLOPT bobyqa and nlminb from several starts; the lowest is polished",
        "versions": answer["versions"] | python,
    }
    return {"meta": meta, "comparisons": comparisons}


def write(document: dict, path: Path) -> None:
    """One comparison a line, so that a change shows as a line."""
    lines = ",\n".join(json.dumps(record, separators=(",", ":")) for record in document["comparisons"])
    meta = json.dumps(document["meta"], indent=1)
    path.write_text(f'{{"meta": {meta},\n"comparisons": [\n{lines}\n]}}\n')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=HERE.parents[2] / "shared" / "data")
    parser.add_argument("--only", choices=("real", "random"))
    wanted = parser.parse_args()
    assert len(DESIGNS) == 50
    if wanted.only != "real":
        write(random_designs(), GOLDEN / "random_designs.json")
    if wanted.only != "random":
        write(real_tables(wanted.data), GOLDEN / "real_tables.json")


if __name__ == "__main__":
    main()
