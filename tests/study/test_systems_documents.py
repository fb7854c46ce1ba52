"""Several systems of items that come out of documents: precision, power and simulation."""

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from cases import each_case, few_fast
from reference.dense_many_documents import covariance_of_means, covariance_of_ratings

from humeval_power.designs import Assignment, crossed, from_table, k_per_item, with_documents
from humeval_power.errors import InputError
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE, ComparisonFamily, DecisionRule
from humeval_power.simulation.rehearsal import draw_sums, draw_system_ratings
from humeval_power.studies.fit.max_t import pair_rows
from humeval_power.studies.power.formula import analytic_power
from humeval_power.studies.power.required import design_of
from humeval_power.studies.power.systems_power import systems_formula
from humeval_power.studies.power.systems_precision import systems_precision
from humeval_power.studies.power.systems_replication import SystemsReplication
from humeval_power.studies.power.systems_study import SystemsStudy
from humeval_power.study_counts import StudyCounts
from humeval_power.systems import SystemsParameters, system_names

PAIRS = ComparisonFamily()
TWO = Parameters(
    baseline=0.6,
    effect=0.15,
    sd_worker_intercept=0.1,
    sd_worker_slope=0.1,
    sd_item_intercept=0.1,
    sd_item_slope=0.1,
    sd_residual=0.25,
    sd_document_intercept=0.08,
    sd_document_slope=0.12,
)


def unlike(n_systems: int) -> SystemsParameters:
    """Systems about which workers, items and documents differ unlike, some of them not at all."""
    rng = np.random.default_rng(n_systems)
    own = [tuple(np.append(rng.uniform(0.02, 0.2, n_systems - 1), 0.0).tolist()) for _ in range(3)]
    names, means = system_names(n_systems), tuple(rng.uniform(0.4, 0.7, n_systems).tolist())
    return SystemsParameters(
        names, means, 0.1, own[0], 0.05, own[1], 0.2, sd_document=0.1, sd_document_system=own[2]
    )


def designs(n_systems: int):
    """Complete and not, of equal documents and of unequal ones, and one with ratings missing here and there."""
    yield with_documents(crossed(5, 12, n_systems=n_systems), 4)
    yield with_documents(crossed(4, 11, n_systems=n_systems), 3)
    yield with_documents(k_per_item(6, 12, ratings_per_item=2, n_systems=n_systems), 4)
    yield with_documents(k_per_item(6, 12, ratings_per_item=2, paired=False, n_systems=n_systems), 5)
    rows = with_documents(k_per_item(6, 12, ratings_per_item=3, n_systems=n_systems), 5).assignment
    left = np.random.default_rng(7).random(len(rows.worker)) > 0.2
    worker, item, system, document = (
        codes[left] for codes in (rows.worker, rows.item, rows.system, rows.document)
    )
    yield from_table(worker, item, system, document=document, n_systems=n_systems)


@few_fast("n_systems", [3, 8], fast=1)
def test_the_precision_of_each_pair_is_that_of_the_full_covariance_matrix(n_systems):
    parameters = unlike(n_systems)
    for design in designs(n_systems):
        found, rows = systems_precision(parameters, design, PAIRS), design.assignment
        known: dict[object, float] = {}
        for place, pair in enumerate(found.pairs):
            kept = pair_rows(design, *pair)
            kind = tuple(
                sorted(
                    (
                        parameters.sd_worker_system[one],
                        parameters.sd_item_system[one],
                        parameters.sd_document_system[one],
                    )
                    for one in pair
                )
            )
            if kind in known:
                continue
            known[kind] = found.standard_error[place]
            of_two = Assignment(rows.worker[kept], rows.item[kept], rows.system[kept], rows.document[kept])
            dense = covariance_of_means(parameters, of_two)
            variance = dense[0, 0] + dense[1, 1] - 2 * dense[0, 1]
            # a pair's fit takes the intercepts and slopes of two unlike systems as uncorrelated, which is exact
            # where they are alike or every worker rates everything in equal documents
            rel = 1e-9 if design.is_balanced else 0.02
            assert found.standard_error[place] == pytest.approx(np.sqrt(variance), rel=rel)


@few_fast("n_systems", [3, 8], fast=1)
def test_of_systems_that_differ_alike_it_is_so_to_the_last_digits(n_systems):
    parameters = SystemsParameters.of_parameters(TWO, n_systems)
    for design in designs(n_systems):
        found, rows = systems_precision(parameters, design, PAIRS), design.assignment
        kept = pair_rows(design, 0, 1)
        dense = covariance_of_means(
            parameters,
            Assignment(rows.worker[kept], rows.item[kept], rows.system[kept], rows.document[kept]),
        )
        variance = dense[0, 0] + dense[1, 1] - 2 * dense[0, 1]
        assert found.standard_error == pytest.approx(np.sqrt(variance), rel=1e-9)
        assert found.true_error == pytest.approx(np.sqrt(variance), rel=1e-9)


def test_two_systems_have_the_numbers_of_a_study_of_two():
    parameters = SystemsParameters.of_parameters(TWO, 2, means=(0.525, 0.675))
    for rule in (DEFAULT_RULE, DecisionRule(df="min"), DecisionRule(alternative="equivalent", margin=0.3)):
        for design in designs(2):
            said = analytic_power(TWO, design, rule=rule)
            found = systems_formula(parameters, design, PAIRS, rule)
            assert found.power == pytest.approx(said.power, rel=1e-6)
            assert found.df[0] == pytest.approx(said.precision.df, rel=1e-9)
            assert found.standard_error[0] == pytest.approx(said.precision.standard_error, rel=1e-12)


def test_counts_have_the_precision_of_their_design_where_that_is_complete():
    parameters = unlike(4)
    counts = StudyCounts(7, 20, 7, n_documents=5, n_systems=4)
    by_counts = systems_precision(parameters, counts, PAIRS)
    by_design = systems_precision(parameters, design_of(counts), PAIRS)
    assert by_counts.standard_error == pytest.approx(by_design.standard_error, rel=1e-12)
    assert by_counts.df == pytest.approx(by_design.df, rel=1e-9)
    assert by_counts.smallest == by_design.smallest == 4


@pytest.mark.slow
def test_ratings_have_the_covariances_of_the_model():
    parameters = unlike(3)
    design = with_documents(crossed(2, 4, n_systems=3), 2)
    rng = np.random.default_rng(1)
    drawn = draw_system_ratings(parameters, design, rng, 200_000)
    # four standard errors of a covariance of 200,000 draws with variances of about 0.1
    assert np.cov(drawn.T) == pytest.approx(covariance_of_ratings(parameters, design.assignment), abs=1e-3)


def test_sums_of_complete_studies_have_the_law_of_the_sums_of_their_ratings():
    parameters = unlike(3)
    design = with_documents(crossed(4, 12, n_systems=3), 4)
    n = 20_000
    study = SystemsReplication(parameters, design, PAIRS, ((0, 1),), DEFAULT_RULE)
    drawn = draw_sums(parameters, design, np.random.default_rng(1), n)
    table = draw_system_ratings(parameters, design, np.random.default_rng(2), n)
    summed = type(drawn).of_ratings(table.reshape(n, *study._size), design.document_of_item)
    for one, other in zip(drawn, summed, strict=True):
        error = np.hypot(one.std(axis=0), other.std(axis=0)) / np.sqrt(n)
        assert np.abs(one.mean(axis=0) - other.mean(axis=0)).max() <= (4 * error).max()
        assert one.std(axis=0) == pytest.approx(other.std(axis=0), rel=0.05, abs=1e-6)


def test_sums_are_fitted_as_the_ratings_are():
    parameters, design = unlike(3), with_documents(crossed(5, 12, n_systems=3), 4)
    pairs = ((0, 1), (0, 2), (1, 2))
    study = SystemsReplication(parameters, design, PAIRS, pairs, DEFAULT_RULE)
    assert study.by_sums
    ratings = draw_system_ratings(parameters, design, np.random.default_rng(3), 20)
    sums = type(draw_sums(parameters, design, np.random.default_rng(1), 1)).of_ratings(
        ratings.reshape(20, *study._size), design.document_of_item
    )
    by_sums = study.fit_sums(sums).contrasts
    rows = design.assignment
    listed = from_table(rows.worker, rows.item, rows.system, document=rows.document, n_systems=3)
    by_search = SystemsReplication(
        parameters, replace(listed, kind="table", explicit=rows), PAIRS, pairs, DEFAULT_RULE
    ).fit_rows(ratings)
    assert by_sums.estimate == pytest.approx(by_search.contrasts.estimate, abs=1e-12)
    # the search stops where a further step would lower the criterion by 1e-8
    assert by_sums.standard_error == pytest.approx(by_search.contrasts.standard_error, rel=1e-3)
    assert by_sums.kenward_roger == pytest.approx(by_search.contrasts.kenward_roger, rel=1e-2)


@pytest.mark.long
@pytest.mark.slow
@each_case("design", [crossed(12, 80, n_systems=4), k_per_item(16, 80, ratings_per_item=6, n_systems=4)])
def test_formula_and_simulation_agree(design):
    parameters = SystemsParameters.of_parameters(TWO, 4).with_pattern("one", 0.13)
    study = SystemsStudy(
        parameters,
        with_documents(design, 20),
        family=ComparisonFamily(correction="none"),
        rule=DEFAULT_RULE,
    )
    formula, simulated = study.by_formula(), study.simulated(n_simulations=2_000)
    for goal, share in formula.shares.items():
        low, high = simulated.interval_of(simulated.shares[goal])
        # the law takes the estimated variances of pairs as correlated chi-squares: right to about .02
        assert low - 0.02 <= share <= high + 0.02, goal


def test_documents_widen_the_interval_and_leaving_them_out_is_refused():
    parameters = SystemsParameters.of_parameters(TWO, 4).with_pattern("one", 0.2)
    with pytest.raises(InputError, match="vary between documents"):
        systems_precision(parameters, StudyCounts(10, 40, 3, n_systems=4), PAIRS)
    few = systems_precision(parameters, StudyCounts(10, 40, 3, n_documents=4, n_systems=4), PAIRS)
    many = systems_precision(parameters, StudyCounts(10, 40, 3, n_documents=40, n_systems=4), PAIRS)
    assert (few.standard_error > many.standard_error).all()


def test_the_joint_model_has_no_documents():
    parameters = SystemsParameters.of_parameters(TWO, 4).with_pattern("one", 0.2)
    study = SystemsStudy(
        parameters,
        with_documents(crossed(10, 40, n_systems=4), 4),
        family=ComparisonFamily(model="joint"),
    )
    for ask in (study.by_formula, study.simulated):
        with pytest.raises(InputError, match="joint model of all systems has no document effects"):
            ask()


LME4 = """
suppressPackageStartupMessages(library(lmerTest))
d <- read.csv("ratings.csv")
for (place in unique(d$pair)) {
  m <- lmer(rating ~ x + (1 | worker) + (0 + x | worker) + (1 | item) + (0 + x | item) +
            (1 | document) + (0 + x | document), d[d$pair == place, ])
  found <- coef(summary(m, ddf = "Kenward-Roger"))["x", c("Estimate", "Std. Error", "df")]
  cat(found, "\\n")
}
"""


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.r
def test_lme4_fits_every_pair_the_same(tmp_path):
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("Rscript is not installed")
    parameters = unlike(3)
    design = with_documents(k_per_item(8, 48, ratings_per_item=3, n_systems=3), 12)
    pairs, rows = ((0, 1), (0, 2), (1, 2)), design.assignment
    study = SystemsReplication(parameters, design, PAIRS, pairs, DEFAULT_RULE)
    ratings = study.ratings(range(1), seed=4)
    found = study.fit_rows(ratings).contrasts
    parts = []
    for place, (first, second) in enumerate(pairs):
        kept = pair_rows(design, first, second)
        x = np.where(rows.system[kept] == second, 0.5, -0.5)
        columns = (rows.worker[kept], rows.item[kept], rows.document[kept], x, ratings[0, kept])
        parts.append(np.column_stack([np.full(len(kept), place), *columns]))
    header = "pair,worker,item,document,x,rating"
    np.savetxt(tmp_path / "ratings.csv", np.concatenate(parts), delimiter=",", header=header, comments="")
    call = [program, "-e", LME4]
    done = subprocess.run(call, cwd=tmp_path, check=True, capture_output=True, text=True)
    said = np.array([line.split() for line in done.stdout.splitlines()], dtype=float)
    # lme4 stops with SDs right to about three digits
    assert found.estimate[0] == pytest.approx(said[:, 0], abs=1e-4)
    assert found.adjusted[0] == pytest.approx(said[:, 1], rel=5e-3)
    assert found.kenward_roger[0] == pytest.approx(said[:, 2], rel=2e-2)
