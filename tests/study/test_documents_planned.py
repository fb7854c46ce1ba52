"""Power, sizes and limits of studies whose items come out of documents."""

import json
import re
from dataclasses import replace

import cli
import numpy as np
import pytest
from cases import each_case

from humeval_power.designs import crossed, k_per_item, with_documents
from humeval_power.errors import DesignError, InputError
from humeval_power.parameters import Parameters
from humeval_power.rules import DecisionRule
from humeval_power.studies.power.analytic import ceiling_with_both, ceiling_with_items, ceiling_with_workers
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.formula import (
    analytic_power,
    effect_precision,
    false_positives_without_documents,
)
from humeval_power.studies.power.outlook import without_documents
from humeval_power.studies.power.required import counts_precision, regular_precision, required_size
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.study_counts import Documents, StudyCounts

VALUES = Parameters(
    baseline=0.6,
    effect=0.1,
    sd_worker_intercept=0.1,
    sd_worker_slope=0.05,
    sd_item_intercept=0.1,
    sd_item_slope=0.1,
    sd_residual=0.2,
    sd_document_intercept=0.05,
    sd_document_slope=0.1,
)
TYPED = "baseline=0.6,sd_worker_intercept=0.1,sd_worker_slope=0.05,sd_item_intercept=0.1,sd_item_slope=0.1,"
TYPED += "sd_residual=0.2,sd_document_intercept=0.05,sd_document_slope=0.1"


def run(*arguments, code=0):
    return cli.run(*arguments, "--values", TYPED, code=code)


@each_case(
    ("m", "documents", "each", "k"),
    [(10, 10, 10, 3), (10, 20, 5, 3), (6, 12, 4, 5), (12, 4, 10, 3), (10, 10, 10, 1), (5, 8, 1, 5)],
)
@each_case("slopes", [(0.05, 0.1, 0.1), (0.1, 0.05, 0.05), (0.05, 0.2, 0.02)])
def test_the_precision_of_counts_is_that_of_the_assignment(m, documents, each, k, slopes):
    worker, item, document = slopes
    values = replace(VALUES, sd_worker_slope=worker, sd_item_slope=item, sd_document_slope=document)
    n = documents * each
    base = crossed(m, n) if k == m else k_per_item(m, n, ratings_per_item=k)
    exact = effect_precision(values, with_documents(base, documents))
    found = regular_precision(values, workers=m, items=n, ratings_per_item=k, documents=documents)
    assert found.variance == pytest.approx(exact.variance, rel=1e-9 if k in (1, m) else 1e-4)
    assert found.df == pytest.approx(exact.df, rel=1e-9 if k == m else 0.12)


def test_many_precisions_at_once_are_those_of_each():
    sizes = {"workers": [5, 8], "items": [20, 40], "ratings_per_item": [5, 3], "documents": [4, 10]}
    both = regular_precision(VALUES, **sizes)
    for place in (0, 1):
        one = regular_precision(VALUES, **{name: value[place] for name, value in sizes.items()})
        assert both.variance[place] == pytest.approx(float(one.variance))
        assert both.df[place] == pytest.approx(float(one.df))


def test_counts_without_their_documents_are_refused():
    with pytest.raises(DesignError, match="how many documents"):
        counts_precision(VALUES, StudyCounts(10, 100, 10))
    with pytest.raises(InputError, match="n_documents"):
        StudyCounts(10, 100, 10, n_documents=101)
    with pytest.raises(InputError, match="not both"):
        Documents(3, 4)


def test_documents_are_counted_by_number_or_by_their_items():
    assert Documents().of(100) == 0
    assert Documents(7).of(100) == 7
    assert Documents(items_each=10).of(101) == 11


@pytest.mark.parametrize("items_each", [10])
def test_the_documents_found_are_the_fewest(items_each):
    found = required_size(
        VALUES,
        "documents",
        workers=10,
        items=None if items_each else 40,
        documents=Documents(items_each=items_each),
        power=0.7,
        n_simulations=500,
    )
    counts = found.counts
    items = counts.n_documents * items_each if items_each else 40
    assert counts.n_items == items
    fewer = replace(counts, n_documents=counts.n_documents - 1, n_items=items - (items_each or 0))
    power = [
        analytic_power(VALUES, with_documents(crossed(10, one.n_items), one.n_documents)).power
        for one in (fewer, counts)
    ]
    assert power[0] < 0.7 <= power[1]


def test_documents_that_are_sought_need_their_items():
    with pytest.raises(InputError, match="items of each document"):
        required_size(VALUES, "documents", workers=10, documents=Documents(5))
    with pytest.raises(InputError, match="items of each document"):
        required_size(VALUES, "documents", workers=10, items=40, documents=Documents(items_each=4))


def test_ceilings_are_the_limits_of_the_formula():
    def power(m, n, documents):
        return analytic_power(VALUES, with_documents(crossed(m, n), documents)).power

    items = ceiling_with_items(VALUES, n_workers=10, n_documents=10)
    workers = ceiling_with_workers(VALUES, n_items=100, n_documents=10)
    both = ceiling_with_both(VALUES, n_documents=10)
    assert items.power == pytest.approx(power(10, 1_000_000, 10), abs=1e-3)
    assert workers.power == pytest.approx(power(1_000_000, 100, 10), abs=1e-3)
    assert both.power == pytest.approx(power(100_000, 1_000_000, 10), abs=1e-3)
    assert power(10, 100, 10) < items.power < both.power
    assert both.grows == "items and workers"
    alone = replace(VALUES, sd_document_slope=0.0)
    assert ceiling_with_items(alone, n_workers=10, n_documents=50).power == pytest.approx(
        ceiling_with_items(alone, n_workers=10).power
    )


@each_case(
    ("size", "slopes"),
    [
        ((10, 10, 10), (0.05, 0.1, 0.1)),
        ((10, 4, 25), (0.02, 0.05, 0.1)),
        ((20, 30, 3), (0.1, 0.05, 0.05)),
        ((5, 20, 5), (0.05, 0.1, 0.0)),
    ],
)
@each_case("alternative", ["two-sided", "greater"])
def test_the_formula_says_what_leaving_documents_out_does(size, slopes, alternative):
    m, documents, each = size
    worker, item, document = slopes
    values = replace(
        VALUES, effect=0.0, sd_worker_slope=worker, sd_item_slope=item, sd_document_slope=document
    )
    design = with_documents(crossed(m, documents * each), documents)
    rule = DecisionRule(alternative=alternative)
    study = RatingStudy(values, design, rule=rule, ignore_documents=True)
    simulated = estimate_power(study, n_simulations=20_000).rejection_rate
    assert false_positives_without_documents(values, design, rule=rule) == pytest.approx(
        simulated, abs=0.015
    )


def test_leaving_documents_out_of_an_incomplete_study_is_told_by_formula():
    """Beside it, the studies themselves, fitted one by one."""
    design = with_documents(k_per_item(8, 40, ratings_per_item=3), 8)
    study = RatingStudy(VALUES, design)
    told = without_documents(study)
    assert told.n_simulations == 0
    null = replace(study, ignore_documents=True).with_effect(0.0)
    found = estimate_power(null, n_simulations=1500)
    assert told.rate == pytest.approx(found.rejection_rate, abs=0.03)
    assert (
        without_documents(
            RatingStudy(replace(VALUES, sd_document_slope=0, sd_document_intercept=0), crossed(4, 8))
        )
        is None
    )


def test_power_says_what_leaving_documents_out_would_do():
    shown = run("power", "--workers", "10", "--items", "100", "--documents", "10", "--effect", "0.1")
    text = " ".join(shown.output.split())
    assert "100 items in 10 documents" in text
    assert "raise false positives from 5 % to 22 %" in text
    assert re.search(r"With 10 documents it is at most \d+, whatever the items and workers", text)
    record = json.loads(
        run(
            *("power", "--workers", "10", "--items", "100", "--items-per-document", "10"),
            *("--effect", "0.1", "--method", "analytic", "--format", "json"),
        ).stdout
    )
    assert record["documents"] == 10
    assert record["without_documents"]["rate"] == pytest.approx(0.22, abs=0.02)
    assert "sd_document_slope" in record["analytic"] or record["parameters"]["sd_document_slope"] == 0.1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("power", "--workers", "5", "--items", "20", "--effect", "0.1"), "how many documents"),
        (
            ("power", "--workers", "5", "--items", "20", "--effect", "0.1", "--documents", "21"),
            "cannot come out of 21 documents",
        ),
        (
            (
                *("power", "--workers", "5", "--items", "20", "--effect", "0.1"),
                *("--documents", "2", "--items-per-document", "3"),
            ),
            "not both",
        ),
        (("size", "--find", "documents", "--workers", "5", "--effect", "0.1"), "items of each document"),
    ],
)
def test_documents_that_make_no_sense_are_refused(arguments, said):
    assert said in " ".join(run(*arguments, code=2).output.split())


def test_a_surface_has_a_column_of_documents():
    shown = run(
        *("surface", "--workers", "5,10", "--items", "20,40", "--items-per-document", "5"),
        *("--effect", "0.1", "--simulations", "50", "--format", "csv"),
    )
    lines = shown.stdout.strip().splitlines()
    header = next(line for line in lines if line.startswith("setting"))
    assert header.split(",")[:4] == ["setting", "workers", "items", "documents"]
    assert np.array([row.split(",")[3] for row in lines[-4:]]).tolist() == ["4", "8", "4", "8"]


def test_a_calibration_has_the_test_that_leaves_documents_out():
    shown = run("calibrate", "--workers", "8", "--items", "40", "--documents", "8", "--simulations", "300")
    row = next(line for line in shown.output.splitlines() if "documents left out" in line)
    own = next(line for line in shown.output.splitlines() if "Kenward-Roger *" in line)
    rate, kept = (
        float(next(word for word in line.split() if word.startswith("0."))) for line in (row, own)
    )
    assert rate > 2 * kept
    assert "too bold" in row


def test_looks_know_the_documents_that_are_there():
    """By items, the first look has half of the documents; its information is that of its own design."""
    from humeval_power.studies.looks.rating_looks import look_information
    from humeval_power.studies.looks.replicates import Looks, nested_designs

    design = with_documents(crossed(6, 40), 8)
    looks = Looks("items", (0.5, 1.0))
    first, last = nested_designs(design, looks).designs
    assert (first.n_documents, last.n_documents) == (4, 8)
    share = effect_precision(VALUES, last).variance / effect_precision(VALUES, first).variance
    assert look_information(VALUES, design, looks).fractions[0] == pytest.approx(share)
    with pytest.raises(InputError, match="one document"):
        nested_designs(with_documents(crossed(6, 40), 2), looks)


def test_looks_at_documents_keep_their_level():
    from humeval_power.studies.looks.replicates import Looks, RatingLooks

    study = RatingLooks(
        VALUES.with_difference(0.0), with_documents(crossed(6, 40), 8), Looks("items", (0.5, 1.0))
    )
    assert not study.by_mean_squares
    drawn = study.draw_looks(600, seed=2)
    assert (drawn.p_value <= 0.05).mean(axis=0) == pytest.approx([0.05, 0.05], abs=0.03)


def test_bootstrap_intervals_have_the_documents():
    from humeval_power.ratings import ratings_from_table
    from humeval_power.simulation.study import simulate
    from humeval_power.studies.fit.calls import fit

    table = simulate(VALUES, with_documents(crossed(6, 24), 6), seed=2).to_frame()
    result = fit(ratings_from_table(table, document="document"), intervals="bootstrap", n_simulations=200)
    low, high = result.intervals["sd_document_slope"]
    assert low <= result.parameters.sd_document_slope <= high
    assert set(result.intervals) > {"sd_document_intercept", "sd_residual", "baseline"}
