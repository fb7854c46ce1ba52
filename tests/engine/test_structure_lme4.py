"""Documents, covariates and correlations against R: lme4's criterion, lmerTest's and pbkrtest's tests."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from reference.structured_tables import SHAPES, ratings

from humeval_power.estimation.fitting import fit

HERE = Path(__file__).parent
UNCORRELATED = "(1|worker) + (0+x|worker) + (1|item) + (0+x|item)"
DOCUMENTS = "(1|text) + (0+x|text)"
CASES = {
    "nested complete": (("length", "group"), ()),
    "nested unbalanced": (("length", "position"), ()),
    "crossed unbalanced": (("group",), ()),
    "more workers than items": (("position", "group"), ()),
    "singular": ((), ()),
    "correlated": (("length",), ("worker",)),
    "both correlated": ((), ("worker", "item")),
}


@pytest.fixture(scope="module")
def by_r(tmp_path_factory):
    """R's fits of all cases, by their names."""
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not installed")
    folder = tmp_path_factory.mktemp("structure")
    asked = {"file": [], "formula": []}
    for name, (covariates, correlated) in CASES.items():
        rated = _ratings(name, covariates)
        columns = {
            "worker": rated.worker,
            "item": rated.item,
            "x": rated.system - 0.5,
            "rating": rated.rating,
        }
        if rated.document is not None:
            columns["text"] = rated.document
        extra = {f"z{k}": column for k, column in enumerate(rated.covariate_columns.T)}
        path = folder / f"{name.replace(' ', '_')}.csv"
        table = np.column_stack([*columns.values(), *extra.values()])
        np.savetxt(
            path, table, delimiter=",", header=",".join([*columns, *extra]), comments="", fmt="%.17g"
        )
        random = UNCORRELATED
        for noun in correlated:
            random = random.replace(f"(1|{noun}) + (0+x|{noun})", f"(1+x|{noun})")
        terms = ["x", *extra, random, *([] if rated.document is None else [DOCUMENTS])]
        asked["file"].append(str(path))
        asked["formula"].append("rating ~ " + " + ".join(terms))
    (folder / "asked.json").write_text(json.dumps(asked))
    command = [
        "Rscript",
        str(HERE / "fit_structure.R"),
        str(folder / "asked.json"),
        str(folder / "out.json"),
    ]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip(f"R lacks lme4, lmerTest, pbkrtest, minqa or jsonlite: {found.stderr[-300:]}")
    return dict(zip(CASES, json.loads((folder / "out.json").read_text()), strict=True))


def _ratings(name, covariates):
    shape = SHAPES["crossed unbalanced" if "correlated" in name else name]
    return ratings(shape, seed=4, covariates=covariates, document="correlated" not in name)


@pytest.mark.r
@pytest.mark.parametrize("name", CASES)
def test_the_fit_is_that_of_lme4_and_its_tests_those_of_lmertest_and_pbkrtest(name, by_r):
    covariates, correlated = CASES[name]
    rated, theirs = _ratings(name, covariates), by_r[name]
    fitted = fit(rated, correlated=correlated)
    # A search ends within about 1e-7 of the lowest criterion; standard errors and df are then right to 1e-3.
    assert fitted.criterion == pytest.approx(theirs["criterion"], abs=2e-6)
    assert fitted.parameters.effect == pytest.approx(theirs["estimate"][1], abs=2e-5)
    assert fitted.standard_error == pytest.approx(theirs["se"][1], rel=1e-3)
    assert fitted.standard_error_adjusted == pytest.approx(theirs["adjusted"][1], rel=1e-3)
    assert fitted.df_kenward_roger == pytest.approx(theirs["df"][1], rel=3e-3)
    if not fitted.boundary:
        assert fitted.df_satterthwaite == pytest.approx(theirs["satterthwaite"][1], rel=1e-2)
    labels = {label for one in rated.covariates for label in one.labels}
    own = [one for one in fitted.covariates if one.label in labels]
    for place, one in enumerate(own, start=2):
        assert one.estimate == pytest.approx(theirs["estimate"][place], abs=2e-5)
        assert one.standard_error_adjusted == pytest.approx(theirs["adjusted"][place], rel=1e-3)
        assert one.df_kenward_roger == pytest.approx(theirs["df"][place], rel=3e-3)
