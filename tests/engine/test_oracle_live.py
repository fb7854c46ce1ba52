"""The golden files can be made again: R, run now, gives what they hold."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from places import TESTS

from humeval_power.parameters import STANDARD_DEVIATIONS

SCRIPT = TESTS / "oracles" / "fit_oracle.R"
GOLDEN = TESTS / "golden" / "random_designs.json"
PACKAGES = ("lme4", "lmerTest", "pbkrtest", "jsonlite", "minqa")
NUMBERS = ("09", "29", "45")  # tiny and singular; sparse; incomplete with two SDs at zero


@pytest.fixture(scope="module")
def rscript() -> str:
    """Path of Rscript; skips where it or a package is absent."""
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("Rscript is not installed")
    for package in PACKAGES:
        call = [program, "-e", f"stopifnot(requireNamespace('{package}', quietly = TRUE))"]
        if subprocess.run(call, capture_output=True, check=False).returncode != 0:
            pytest.skip(f"the R package {package} is not installed")
    return program


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.r
def test_running_the_oracle_again_gives_the_stored_results(rscript: str, tmp_path: Path) -> None:
    stored = [
        comparison
        for comparison in json.loads(GOLDEN.read_text())["comparisons"]
        if comparison["name"][:2] in NUMBERS
    ]
    columns = ("name", "worker", "item", "system", "rating")
    given, taken = tmp_path / "in.json", tmp_path / "out.json"
    given.write_text(json.dumps({"datasets": [{key: one[key] for key in columns} for one in stored]}))
    subprocess.run([rscript, str(SCRIPT), str(given), str(taken)], check=True, capture_output=True)
    answer = json.loads(taken.read_text())
    assert set(PACKAGES) - {"jsonlite"} <= set(answer["versions"])
    for expected, found in zip(stored, answer["results"], strict=True):
        assert found["name"] == expected["name"]
        for estimator in ("reml", "ml"):
            assert_reproduced(found[estimator], expected[estimator])


def assert_reproduced(found: dict, expected: dict) -> None:
    # The searches are deterministic; another version of R or BLAS may move the last digits.
    assert found["criterion"] == pytest.approx(expected["criterion"], abs=1e-7)
    assert found["boundary"] == expected["boundary"]
    for name in ("effect", "standard_error", *STANDARD_DEVIATIONS):
        assert found[name] == pytest.approx(expected[name], abs=1e-6), name
    # lmerTest and pbkrtest carry about five digits of the df.
    for name in ("df_satterthwaite", "df_kenward_roger"):
        if name in expected:
            assert found[name] == pytest.approx(expected[name], rel=1e-4), name
