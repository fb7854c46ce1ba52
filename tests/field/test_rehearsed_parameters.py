"""Parameters out of a rehearsal say that nobody gave the ratings they are of."""

import csv
import json

import pytest

from humeval_power.checking.rehearsed import NOTICE, rehearsed_worker
from humeval_power.parameters import PARAMETER_NAMES
from tests.cli import run
from tests.places import ROOT


def exported(folder, worker_of):
    table, fitted, path = folder / "ratings.csv", folder / "fit.json", folder / "parameters.json"
    with (ROOT / "data" / "pilot.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows([row | {"worker": worker_of(row["worker"])} for row in rows])
    run("fit", table, "--scale", "1:5", "-o", fitted, "--force")
    run("report", fitted, "--form", "parameters", "-o", path, "--force")
    return json.loads(path.read_text())


def test_the_summary_of_rehearsed_parameters_says_so_and_the_numbers_are_the_same(tmp_path):
    real, drawn = exported(tmp_path, str), exported(tmp_path, rehearsed_worker)
    assert drawn["library"]["summary"].startswith(NOTICE)
    assert NOTICE not in json.dumps(real)
    estimates = [{name: one["parameters"][name] for name in PARAMETER_NAMES} for one in (drawn, real)]
    assert estimates[0] == pytest.approx(estimates[1], rel=1e-9)
