"""Documents, covariates, order and correlations as a user meets them: fit, analyze, and what is refused."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli import run

from humeval_power.errors import InputError
from humeval_power.files.tables import read_ratings
from humeval_power.rules import ComparisonFamily
from humeval_power.scales import RatingScale
from humeval_power.studies.analyze.calls import analyze
from humeval_power.studies.fit.calls import fit

SENTENCES = str(Path(__file__).parents[2] / "data" / "sentences.csv")


def test_a_fit_shows_the_effect_with_and_without_and_tests_every_covariate() -> None:
    shown = run("fit", SENTENCES, "--document", "document", "--order-column", "place", "-q")
    for words in (
        "48 items in 8 documents",
        "workers and items alone",
        "place: second - first",
        "A first - B first",
        "sd_document_slope",
        "Adjusted for 8 documents and place.",
    ):
        assert words in " ".join(shown.stdout.split())
    plain = run("fit", SENTENCES, "-q")
    assert "Adjustment" not in plain.stdout


def test_the_record_and_the_parameters_carry_documents_covariates_and_correlations(tmp_path: Path) -> None:
    written = tmp_path / "fit.json"
    options = ("--document", "document", "--covariate", "place", "--correlated", "worker")
    run("fit", SENTENCES, *options, "-o", str(written))
    record = json.loads(written.read_text())
    assert record["parameters"]["sd_document_intercept"] > 0
    assert -1 <= record["parameters"]["correlation_worker"] <= 1
    found = record["adjustment"]
    assert found["n_documents"] == 8
    assert [one["covariate"] for one in found["covariates"]] == ["place"]
    assert found["correlations"][0]["factor"] == "worker"
    alone = json.loads(run("fit", SENTENCES, "--json").stdout)
    assert found["unadjusted"]["p_value"] == pytest.approx(alone["effect"]["p_value"], rel=1e-9)
    assert "adjustment" not in alone


def test_a_finished_study_is_decided_by_the_same_fit() -> None:
    ratings = read_ratings(SENTENCES, document="document", covariates=("place",))
    fitted = fit(ratings)
    shown = run("analyze", SENTENCES, "--document", "document", "--covariate", "place", "--json")
    record = json.loads(shown.stdout)
    assert record["effect"]["p_value"] == pytest.approx(fitted.test.p_value, rel=1e-9)
    assert record["adjustment"]["n_documents"] == 8


def test_pairs_of_many_systems_have_their_documents_and_the_joint_model_refuses_them(
    tmp_path: Path,
) -> None:
    rows = pd.read_csv(SENTENCES)
    third = rows[rows["system"] == "new"].assign(system="third")
    third["rating"] = np.random.default_rng(1).integers(1, 6, len(third))
    path = tmp_path / "three.csv"
    pd.concat([rows, third]).to_csv(path, index=False)
    every = read_ratings(path, document="document", covariates=("place",), require_pair=False)
    found = analyze(every)
    alone = fit(read_ratings(path, systems=("baseline", "new"), document="document", covariates=("place",)))
    assert found.analysis.results[0].test.p_value == pytest.approx(alone.test.p_value, rel=1e-9)
    assert found.content()["adjusted_for"] == {"n_documents": 8, "covariates": ["place"]}
    with pytest.raises(InputError, match="no documents and no covariates"):
        analyze(every, family=ComparisonFamily(model="joint"))


def assigned(tmp_path: Path, *options: object) -> Path:
    """A table of `assign` for four systems, filled with ratings that fall by 0.25 points with every place."""
    drawn = run("assign", "--workers", 8, "--systems", "w,x,y,z", *options, "--format", "csv")
    rows = pd.read_csv(io.StringIO(drawn.stdout))
    rows = rows[rows["kind"] == "rating"]
    rng = np.random.default_rng(3)
    worker, item = (
        rng.normal(0, 0.4, 100)[pd.factorize(rows[name])[0]] for name in ("worker_slot", "item")
    )
    value = 3.5 + rows["system"].map({"w": 0, "x": 0.3, "y": 0.6, "z": 0.9}) + worker + item
    value += -0.25 * (rows["place"] - 1) + rng.normal(0, 0.6, len(rows))
    rows["rating"] = np.clip(np.rint(value * 10) / 10, 1, 5)
    path = tmp_path / "filled.csv"
    rows.to_csv(path, index=False)
    return path


def test_an_assignment_of_many_systems_is_read_back_with_its_places(tmp_path: Path) -> None:
    path = assigned(tmp_path, "--items", 40, "--ratings-per-item", 3, "--batch-size", 40)
    words = ("--worker", "worker_slot", "--scale", "1:5")
    shown = run("analyze", path, *words, "--all-pairs", "--order-column", "place", "--json")
    record = json.loads(shown.stdout)
    assert record["adjusted_for"]["covariates"] == ["place"]
    assert "places 1 to 4 of an item's outputs, as a number" in " ".join(shown.stderr.split())
    columns = {"worker": "worker_slot", "scale": RatingScale(1, 5)}
    by_place, by_number = (
        fit(read_ratings(path, systems=("w", "z"), **columns, **one))
        for one in ({"order_column": "place"}, {"covariates": ("place",)})
    )
    assert by_place.test.p_value == pytest.approx(by_number.test.p_value, rel=1e-9)
    (place,), (number,) = by_place.adjustment.covariates, by_number.adjustment.covariates
    assert place.label == "place: each place later"
    assert place.test.p_value == pytest.approx(number.test.p_value, rel=1e-6)
    low, high = place.test.interval
    assert low < -0.25 / 4 < high < 0
    seen = pd.read_csv(path).query("system in ('w', 'z')")["place"]
    assert place.test.estimate * seen.std(ddof=0) == pytest.approx(number.test.estimate, rel=1e-9)


def test_a_place_that_never_changes_explains_nothing(tmp_path: Path) -> None:
    path = assigned(tmp_path, "--items", 40, "--ratings-per-item", 2, "--unpaired")
    shown = run(
        *("analyze", path, "--worker", "worker_slot", "--scale", "1:5"),
        *("--all-pairs", "--order-column", "place"),
        code=2,
    )
    assert "it is 1 in every analysed row, so that it explains nothing" in " ".join(shown.stderr.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--document", "documents"), "Did you mean 'document'?"),
        (("--document", "item"), "it is the item, and cannot be what --document names as well"),
        (("--covariate", "rating"), "it is the rating"),
        (("--document", "document", "--engine", "lme4"), "Only the native engine fits documents"),
        (("--correlated", "worker", "--intervals", "profile"), "not offered for a fit with correlations"),
        (("--covariate", "place", "--intervals", "bootstrap"), "take profile"),
        (("--covariate", "place", "--df", "bootstrap"), "simulated without covariates"),
        (("--correlated", "document"), "name worker, item or both"),
    ],
)
def test_what_is_not_offered_is_refused_in_words(options: tuple[str, ...], words: str) -> None:
    shown = run("fit", SENTENCES, *options, "-q", code=2)
    assert words in " ".join(shown.stderr.split())
