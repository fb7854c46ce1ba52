"""Make the golden file of the joint fit of several systems: simulated and real tables, fitted by lme4.

    python tests/oracles/make_many_systems.py --data ../shared/data

Needs Rscript with lme4, lmerTest, pbkrtest, jsonlite. Writes tests/golden/many_systems.json: simulated tables
with their rows, real ones without.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from real_tables import sha256

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "many_systems.json"
SEED = 71

# workers, items, systems, share of cells kept, ratings a cell, SDs of worker, worker:system, item,
# item:system and residual
DESIGNS = {
    "complete": (6, 10, 3, 1.0, 1, (0.10, 0.06, 0.12, 0.10, 0.20)),
    "complete_repeated": (4, 6, 4, 1.0, 2, (0.10, 0.06, 0.12, 0.10, 0.20)),
    "complete_singular": (5, 8, 3, 1.0, 1, (0.0, 0.0, 0.12, 0.0, 0.30)),
    "complete_without_slopes": (4, 9, 4, 1.0, 1, (0.15, 0.0, 0.15, 0.0, 0.20)),
    "missing_fifth": (8, 12, 4, 0.8, 1, (0.10, 0.06, 0.12, 0.10, 0.20)),
    "sparse": (12, 30, 5, 0.25, 1, (0.10, 0.08, 0.12, 0.10, 0.20)),
    "more_workers_than_items": (25, 6, 3, 0.5, 1, (0.12, 0.08, 0.05, 0.06, 0.20)),
    "singular_unbalanced": (6, 20, 3, 0.4, 1, (0.0, 0.0, 0.05, 0.0, 0.30)),
    "three_workers": (3, 15, 3, 0.7, 1, (0.05, 0.10, 0.10, 0.05, 0.20)),
}
REAL = {
    "vqeghd3": {"file": "vqeghd3.csv", "low": 1, "high": 5, "where": {}},
    "squality_overall": {
        "file": "squality.csv",
        "low": 0,
        "high": 100,
        "where": {"criterion": "overall"},
    },
    "wmt23_ende_three": {
        "file": "wmt23_sxs_mqm_ende.csv",
        "low": -25,
        "high": 0,
        "where": {"system": ["GPT4-5shot_with_ONLINE-W", "ONLINE-A", "ONLINE-W"]},
    },
    "nflx_public": {"file": "nflx_public.csv", "low": 1, "high": 5, "where": {}},
}


def simulated(number: int, name: str) -> dict:
    """Rows of one simulated table."""
    m, n, K, kept, repeats, sds = DESIGNS[name]
    rng = np.random.default_rng([SEED, number])
    worker, item, system, _ = np.indices((m, n, K, repeats)).reshape(4, -1)
    chosen = rng.random(len(worker)) < kept
    parts = (
        rng.normal(size=m)[worker] * sds[0],
        rng.normal(size=(m, K))[worker, system] * sds[1],
        rng.normal(size=n)[item] * sds[2],
        rng.normal(size=(n, K))[item, system] * sds[3],
        rng.normal(size=len(worker)) * sds[4],
    )
    rating = 0.5 + 0.05 * system + sum(parts)
    codes = {"worker": worker, "item": item, "system": system}
    rows = {key: np.unique(code[chosen], return_inverse=True)[1].tolist() for key, code in codes.items()}
    return {"name": name, **rows, "rating": np.round(rating[chosen], 4).tolist()}


def load_real(name: str, data: Path) -> dict[str, np.ndarray]:
    """Rows of a real table in file order; systems are numbered by name, ratings on [0, 1]."""
    how = REAL[name]
    table = pd.read_csv(data / how["file"], dtype=str, keep_default_na=False)
    for column, value in how["where"].items():
        table = table[table[column].isin(value if isinstance(value, list) else [value])]
    rating = (table["rating"].astype(float) - how["low"]) / (how["high"] - how["low"])
    codes = {
        key: np.unique(table[key].to_numpy(str), return_inverse=True)[1]
        for key in ("worker", "item", "system")
    }
    return {**codes, "rating": rating.to_numpy(float)}


def run_r(datasets: list[dict]) -> dict:
    """Fit the datasets with many_systems_oracle.R; returns its answer."""
    with tempfile.TemporaryDirectory() as folder:
        given, taken = Path(folder, "in.json"), Path(folder, "out.json")
        given.write_text(json.dumps({"datasets": datasets}))
        command = ["Rscript", str(HERE / "many_systems_oracle.R"), str(given), str(taken)]
        subprocess.run(command, check=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})
        return json.loads(taken.read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=HERE.parents[2] / "shared" / "data")
    data = parser.parse_args().data
    datasets = [simulated(number, name) for number, name in enumerate(DESIGNS)]
    records = list(datasets)
    for name in REAL:
        rows = load_real(name, data)
        datasets.append({"name": name} | {key: value.tolist() for key, value in rows.items()})
        records.append({"name": name, "sha256": sha256(data / REAL[name]["file"])})
    answer = run_r(datasets)
    tables = [record | {"lme4": result} for record, result in zip(records, answer["results"], strict=True)]
    meta = {
        "command": "python tests/oracles/make_many_systems.py",
        "model": "rating ~ 0 + system + (1|worker) + (1|worker:system) + (1|item) + (1|item:system), REML",
        "seed": SEED,
        "versions": answer["versions"],
    }
    lines = ",\n".join(json.dumps(table, separators=(",", ":")) for table in tables)
    GOLDEN.write_text(f'{{"meta": {json.dumps(meta, indent=1)},\n"tables": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
