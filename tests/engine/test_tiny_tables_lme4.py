"""Tiny and singular tables against lme4, which searches from every corner and runs now."""

import json
import subprocess
from pathlib import Path

import pytest
from test_oracle_live import SCRIPT, rscript  # noqa: F401  (a fixture)
from tiny_tables import tiny_table

from humeval_power.errors import FitError
from humeval_power.estimation.fitting import fit

SEEDS = range(40, 64)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.r
def test_lme4_finds_no_lower_criterion_in_tiny_tables_and_the_same_where_it_ends_there(
    rscript: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    fits = {}
    for seed in SEEDS:
        try:
            fits[seed] = fit(tiny_table(seed))
        except FitError:
            continue  # lowest without a residual: lme4 prints numbers there all the same
    assert len(fits) >= 15
    given, taken = tmp_path / "in.json", tmp_path / "out.json"
    datasets = [
        {"name": str(seed), **{name: values.tolist() for name, values in vars(tiny_table(seed)).items()}}
        for seed in fits
    ]
    given.write_text(json.dumps({"datasets": datasets}))
    subprocess.run([rscript, str(SCRIPT), str(given), str(taken)], check=True, capture_output=True)
    same = 0
    for found in json.loads(taken.read_text())["results"]:
        ours, theirs = fits[int(found["name"])], found["reml"]
        if theirs.get("criterion") is None:
            continue
        assert ours.criterion <= theirs["criterion"] + 1e-5, found["name"]
        if abs(ours.criterion - theirs["criterion"]) < 1e-6 and not ours.not_identified:
            same += 1
            # where the criterion is flat to 1e-6, estimates differ by its square root
            assert ours.parameters.effect == pytest.approx(theirs["effect"], abs=2e-3), found["name"]
            assert ours.standard_error == pytest.approx(theirs["standard_error"], rel=2e-2), found["name"]
    assert same >= 10
