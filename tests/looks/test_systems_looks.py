"""Looks at several systems: rpact's values at shares of alpha, slow twins, errors, and two systems."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import each_case, few_fast
from cli import text_of
from scipy import stats

from humeval_power.choices import LookKind
from humeval_power.designs import Design, crossed, k_per_item, with_documents
from humeval_power.errors import InputError
from humeval_power.kernels.growing_table import growing_products
from humeval_power.ratings import ratings_from_table
from humeval_power.rules import ComparisonFamily, Correction
from humeval_power.simulation.rehearsal import CompleteSums, draw_system_ratings
from humeval_power.studies.fit.many_systems import fit_and_test
from humeval_power.studies.looks.replicates import Looks, RatingLooks, stop
from humeval_power.studies.looks.stopping_rule import Spending, StoppingRule, efficacy_of, futility_of
from humeval_power.studies.looks.systems_looks import (
    StepwiseBoundaries,
    SystemsLooks,
    adjusted_p,
    hardest_place,
    null_ratios,
    null_sets,
    one_of_several,
    plan_systems_looks,
    sequential_level,
    stepwise_boundaries,
    walk,
)
from humeval_power.systems import SystemsParameters, system_names

SHARES = (0.35, 0.7, 1.0)
THIRDS = (1 / 3, 2 / 3, 1.0)
# rpact 3.3.4: getDesignGroupSequential(kMax = 3, alpha = 0.05 / left, sided = 2, typeOfDesign = ..., gammaA = 2 for
# asKD, informationRates = c(0.35, 0.7, 1))$criticalValues, which has six digits after its search.
RPACT = {
    ("lan-demets-pocock", 3): (2.658542, 2.700251, 2.738804),
    ("lan-demets-pocock", 28): (3.338985, 3.401454, 3.451979),
    ("lan-demets-obrien-fleming", 6): (4.703641, 3.231768, 2.654836),
    ("lan-demets-obrien-fleming", 28): (5.494602, 3.802576, 3.131796),
    ("kim-demets:2", 6): (3.284721, 2.933898, 2.757408),
    ("pocock", 28): (3.391411, 3.391411, 3.391411),
    ("obrien-fleming", 3): (4.097061, 2.897060, 2.423854),
}
RISING = (
    *("lan-demets-pocock", "lan-demets-obrien-fleming", "kim-demets:2", "hwang-shih-decani:-4"),
    *("pocock", "obrien-fleming", "haybittle-peto:4", "table:0.3=0.1,0.6=0.4,1=1"),
)


def parameters(n_systems: int, *, slope: float = 0.06, document: float = 0.0) -> SystemsParameters:
    return SystemsParameters(
        names=system_names(n_systems),
        means=(0.5,) * n_systems,
        sd_worker=0.1,
        sd_worker_system=(slope,) * n_systems,
        sd_item=0.12,
        sd_item_system=(0.08,) * n_systems,
        sd_residual=0.2,
        sd_document=document,
        sd_document_system=(document,) * n_systems,
    )


def looks_of(
    n_systems: int, design: Design, kind: LookKind = "workers", **more: ComparisonFamily
) -> SystemsLooks:
    return SystemsLooks(parameters(n_systems), design, Looks(kind, THIRDS), **more)


@each_case(("case", "expected"), list(RPACT.items()))
def test_boundaries_at_a_share_of_alpha_are_those_of_rpact(
    case: tuple[str, int], expected: tuple[float, ...]
) -> None:
    words, left = case
    found = one_of_several(StoppingRule(efficacy_of(words)), SHARES, left, 30, "holm")
    assert found.efficacy == pytest.approx(expected, abs=1e-6)


@each_case("words", RISING)
def test_levels_rise_with_alpha_at_every_look(words: str) -> None:
    # The condition of Maurer and Bretz (2013) under which steps are a closed test.
    levels = [
        one_of_several(StoppingRule(efficacy_of(words)), SHARES, left, 12, "holm").nominal
        for left in range(12, 0, -1)
    ]
    assert (np.diff(levels, axis=0) >= 0).all()


def test_one_comparison_is_walked_as_two_systems_are() -> None:
    rng = np.random.default_rng(5)
    study = RatingLooks(parameters(2).pair(0, 1), crossed(9, 12), Looks("workers", THIRDS))
    looks = study.draw_looks(500, seed=3)
    rule = StoppingRule(Spending(), futility_of("p:0.5"))
    bounds = stepwise_boundaries(rule, [SHARES])
    alone = one_of_several(rule, SHARES, 1, 1, "holm")
    stopped, walked = stop(looks, alone), walk(looks.p_value[:, :, None], bounds)
    assert np.array_equal(stopped.look, walked.look)
    assert np.array_equal(stopped.significant, walked.shown[:, 0])
    assert rng.random() < 1


@each_case(
    ("design", "kind"),
    [
        (crossed(6, 10), "workers"),
        (crossed(6, 9), "items"),
        (k_per_item(9, 20, ratings_per_item=4), "workers"),
        (k_per_item(8, 20, ratings_per_item=3), "ratings"),
    ],
)
def test_two_of_several_are_tested_as_two_systems(design: Design, kind: LookKind) -> None:
    several = looks_of(2, design, kind)
    two = RatingLooks(parameters(2).pair(0, 1), design, Looks(kind, THIRDS))
    ratings = draw_system_ratings(parameters(2), design, np.random.default_rng(8), 12)
    one, other = several.from_ratings(ratings), two.from_responses(ratings)
    # where studies are fitted by iteration two batches stop within 1e-5 of each other
    assert one.p_value[:, :, 0] == pytest.approx(other.p_value, abs=1e-5)
    assert one.estimate[:, :, 0] == pytest.approx(other.estimate, abs=1e-6)


@few_fast(
    ("design", "kind"),
    [
        (with_documents(k_per_item(9, 22, ratings_per_item=4, n_systems=3), 6), "ratings"),  # unbalanced
        (with_documents(crossed(5, 12, n_systems=3), 6), "items"),
        (with_documents(crossed(6, 12, n_systems=3), 4), "workers"),
    ],
)
def test_items_in_documents_are_tested_at_each_look_as_their_table_is(
    design: Design, kind: LookKind
) -> None:
    values = parameters(3, document=0.07)
    several = SystemsLooks(values, design, Looks(kind, THIRDS))
    assert not several.by_sums
    drawn = draw_system_ratings(values, design, np.random.default_rng(4), 3)
    drawn[2] = np.random.default_rng(6).random(drawn.shape[1])  # noise alone: singular fits
    looks = several.from_ratings(drawn)
    rows = design.assignment
    for study, ratings in enumerate(drawn):
        for look, there in enumerate(several.nested.rows):
            frame = pd.DataFrame(
                {
                    "worker": rows.worker[there],
                    "item": rows.item[there],
                    "system": np.array(values.names)[rows.system[there]],
                    "document": rows.document[there],
                    "rating": ratings[there],
                }
            ).astype({"worker": str, "item": str, "document": str})
            table = ratings_from_table(frame, document="document", scale="-2:3", require_pair=False)
            for pair, (first, second) in enumerate(several.family.pairs(values.names)):
                _, test = fit_and_test(table.pair(first, second), several.rule)
                if test.reason:
                    continue
                assert looks.estimate[study, look, pair] == pytest.approx(5 * test.estimate, abs=1e-5)
                assert looks.p_value[study, look, pair] == pytest.approx(test.p_value, abs=2e-4)


def test_documents_that_no_fit_has_are_refused_at_looks() -> None:
    design = with_documents(crossed(5, 12, n_systems=3), 6)
    looks, joint = Looks("items", THIRDS), ComparisonFamily(model="joint")
    with pytest.raises(InputError, match="no document effects"):
        SystemsLooks(parameters(3), design, looks, joint)
    with pytest.raises(InputError, match="the study has none"):
        SystemsLooks(parameters(3, document=0.1), crossed(5, 12, n_systems=3), looks)


def walked_slowly(p_values: np.ndarray, bounds: StepwiseBoundaries) -> tuple[int, dict[int, int]]:
    """One study (looks, comparisons), a step at a time: the smallest p over its level goes first."""
    n_looks, n = p_values.shape
    shown: dict[int, int] = {}
    for look in range(n_looks):
        while True:
            open_ = [one for one in range(n) if one not in shown]
            ratios = {
                one: p_values[look, one] / bounds.nominal[look, bounds.row[one], len(open_) - 1]
                for one in open_
            }
            first = min(ratios, key=lambda one: ratios[one], default=None)
            if first is None or ratios[first] > 1:
                break
            shown[first] = look
        limit = [bounds.futility_p[look, bounds.row[one], len(open_) - 1] for one in open_]
        if all(p_values[look, one] > limit[k] for k, one in enumerate(open_)):
            return look, shown
    return n_looks - 1, shown


@each_case(("correction", "futility"), [("holm", "none"), ("holm", "p:0.3"), ("bonferroni", "none")])
def test_many_studies_are_walked_as_each_by_itself(correction: Correction, futility: str) -> None:
    rng = np.random.default_rng(11)
    p_values = rng.beta(0.12, 1.0, (400, 3, 5))
    information = [(0.3 + 0.02 * place, 0.7, 1.0) for place in range(5)]
    rule = StoppingRule(efficacy_of("lan-demets-obrien-fleming"), futility_of(futility))
    bounds = stepwise_boundaries(rule, information, correction=correction)
    walked = walk(p_values, bounds)
    for study in range(400):
        look, shown = walked_slowly(p_values[study], bounds)
        assert walked.look[study] == look
        expected = [shown.get(one, 3) for one in range(5)]
        assert walked.shown_at[study].tolist() == expected


def test_a_comparison_is_shown_exactly_where_its_p_over_the_looks_is_at_most_alpha() -> None:
    rng = np.random.default_rng(2)
    rule = StoppingRule(Spending())
    bounds = stepwise_boundaries(rule, [SHARES] * 4)
    p_values = rng.beta(0.3, 3.0, (25, 3, 4))
    walked = walk(p_values, bounds)
    assert 20 < walked.shown.sum() < 90
    for study in range(10):
        levels = [
            [
                sequential_level(
                    lambda alpha, look=look: float(
                        one_of_several(StoppingRule(Spending(), None, alpha), SHARES, 1, 1, "none").nominal[
                            look
                        ]
                    ),
                    p_values[study, look, place],
                )
                for place in range(4)
            ]
            for look in range(3)
        ]
        found = adjusted_p(np.array(levels), "holm")
        assert np.array_equal(found <= 0.05, walked.shown[study])


def test_p_over_one_look_is_that_of_holm() -> None:
    levels = np.array([[0.01, 0.04, 0.03, 0.005]])
    # Holm (1979): 4 x 0.005, 3 x 0.01, 2 x 0.03, and 0.04 raised to the one before it.
    assert adjusted_p(levels, "holm") == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert adjusted_p(levels, "bonferroni") == pytest.approx([0.04, 0.16, 0.12, 0.02])
    assert adjusted_p(levels, "none") == pytest.approx([0.01, 0.04, 0.03, 0.005])


@each_case("groups", [(4,), (2, 2), (3, 1), (2, 1, 1)])
def test_z_values_claim_a_difference_between_equal_systems_at_most_at_alpha(
    groups: tuple[int, ...],
) -> None:
    # Means that grow with independent increments: no estimated variance, so alpha holds exactly or is not reached.
    rng, n = np.random.default_rng(sum(groups) + len(groups)), 20_000
    group = np.repeat(np.arange(len(groups)), groups)
    steps = rng.standard_normal((n, 3, 4)) * np.sqrt(np.diff(SHARES, prepend=0.0))[None, :, None]
    sums = np.cumsum(steps, axis=1) + 40 * np.array(SHARES)[None, :, None] * group
    first, second = np.triu_indices(4, 1)
    z = (sums[:, :, second] - sums[:, :, first]) / np.sqrt(2 * np.array(SHARES))[None, :, None]
    shown = walk(
        2 * stats.norm.sf(np.abs(z)), stepwise_boundaries(StoppingRule(Spending()), [SHARES] * 6)
    ).shown
    false = shown[:, group[first] == group[second]].any(axis=1).sum()
    assert false <= stats.binom.ppf(0.999, n, 0.05)
    if groups == (2, 1, 1):  # one true null is left at all of alpha
        assert false >= stats.binom.ppf(0.001, n, 0.05)


def test_sums_of_growing_tables_have_the_law_of_those_of_ratings() -> None:
    n, K, m, items = 3000, 3, (2, 5), 4
    values = SystemsParameters(
        names=system_names(K),
        means=(0.0,) * K,
        sd_worker=0.4,
        sd_worker_system=(0.2, 0.5, 0.3),
        sd_item=0.3,
        sd_item_system=(0.6, 0.1, 0.4),
        sd_residual=0.7,
    )
    design = crossed(m[-1], items, n_systems=K, n_repeats=2)
    ratings = draw_system_ratings(values, design, np.random.default_rng(1), n)
    table = ratings.reshape(n, m[-1], items, K, 2)
    expected = [CompleteSums.of_ratings(table[:, :count]) for count in m]
    found = growing_products(
        np.random.default_rng(2),
        n_fixed=items,
        blocks=[2, 3],
        roots=tuple(  # type: ignore[arg-type]
            np.column_stack([np.full(K, shared), np.diag(own)])
            for shared, own in (
                (values.sd_item, values.sd_item_system),
                (values.sd_worker, values.sd_worker_system),
            )
        ),
        residual_sd=values.sd_residual,
        n_repeats=2,
        n_replicates=n,
    )
    for look, sums in enumerate(expected):
        pairs = [
            (found.growing[look], sums.workers),
            (found.fixed[look], sums.items),
            (found.residual[look], sums.residual),
            (found.means[look] ** 2, sums.means**2),
            (found.means[0] * found.means[look], expected[0].means * sums.means),
            (found.residual[0] * found.residual[look], expected[0].residual * sums.residual),
        ]
        for one, other in pairs:
            error = np.sqrt((one.var(axis=0) + other.var(axis=0)) / n)
            # 4.5 standard errors: about 150 numbers are compared
            assert (np.abs(one.mean(axis=0) - other.mean(axis=0)) < 4.5 * error).all()


def test_portions_and_jobs_change_no_study() -> None:
    study = looks_of(3, crossed(6, 8, n_systems=3))
    whole = study.draw_looks(300, seed=4)
    part = study.draw_looks(100, seed=4, first=200, n_jobs=2)
    assert np.array_equal(whole.p_value[200:], part.p_value)


def test_true_nulls_are_inside_groups_of_equal_systems() -> None:
    study = looks_of(4, crossed(6, 8, n_systems=4))
    pairs = study.pairs
    named = [{pairs[place] for place in places} for places in null_sets(study)]
    assert len(named[0]) == 6
    assert {(0, 1), (2, 3)} in named
    assert {(0, 1)} in named
    baseline = ComparisonFamily(comparisons="baseline", baseline="A")
    against = looks_of(4, crossed(6, 8, n_systems=4), family=baseline)
    assert [len(places) for places in null_sets(against)] == [3, 2, 1]


def test_few_workers_calibrate_the_levels_so_that_fresh_studies_keep_to_alpha() -> None:
    study = looks_of(3, crossed(9, 20, n_systems=3))
    plan = plan_systems_looks(study, StoppingRule(Spending()), n_simulations=2000, seed=1)
    assert plan.calibration is not None
    assert plan.calibration.used <= 1
    fresh = study.draw_looks(4000, seed=77)
    false = walk(fresh.p_value, plan.bounds).shown.any(axis=1).sum()
    assert false <= stats.binom.ppf(0.999, 4000, 0.055)  # the factor is from 2,000 studies
    ratios = null_ratios(fresh, plan.bounds, null_sets(study))
    assert ((ratios[:, 0] <= 1).sum()) == false
    assert plan.errors[0].rate <= plan.errors[-1].rate


def test_the_long_run_counts_goals_by_looks_and_ends_where_all_is_shown() -> None:
    study = looks_of(3, crossed(15, 40, n_systems=3))
    source = SystemsLooks(
        study.parameters.with_pattern("steps", 0.3), study.design, study.looks, study.family
    )
    plan = plan_systems_looks(
        source,
        StoppingRule(Spending()),
        place=hardest_place(source),
        calibration="never",
        n_simulations=500,
    )
    sure, none = plan.at([0.3, 0.0], goal="all")
    assert sure.power > 0.99
    assert sure.stopping[0] > 0.9  # every comparison is shown at once
    assert sure.expected_size < 0.4 * source.sizes[-1]
    assert list(sure.reached) == sorted(sure.reached)
    assert np.isnan(none.power)
    assert none.found.false_claim < 0.08


@each_case(
    ("rule", "correction", "words"),
    [
        (StoppingRule(efficacy_of("levels:0.01,0.02,0.04")), "holm", "look by look"),
        (StoppingRule(Spending(), futility_of("p:0.5:binding")), "holm", "cannot bind"),
        (StoppingRule(), "max-t", "joint law"),
        (StoppingRule(), "bh", "false discovery"),
    ],
)
def test_what_several_comparisons_have_no_boundaries_for_is_refused(
    rule: StoppingRule, correction: Correction, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        stepwise_boundaries(rule, [SHARES] * 3, correction=correction)


def test_looks_at_several_systems_say_the_difference_in_points_of_the_scale() -> None:
    words = "--n-systems 3 --preset low --workers 10 --items 12 --looks 2 --effect-raw 0.8 --scale 1:5"
    said = text_of("looks", "study", *words.split(), "--simulations", 20, "--calibrate", "never")
    assert "find a given pair that is 0.8 points apart on a scale from 1 to 5 with 2 looks" in said


def test_the_picture_leaves_out_what_no_study_can_find(tmp_path: Path) -> None:
    words = "--n-systems 3 --preset low --workers 10 --items 12 --looks 2 --effect 0.2 --goal best"
    page = tmp_path / "looks.html"
    text_of("looks", "study", *words.split(), "--simulations", 20, "--calibrate", "never", "-o", page)
    assert "What do looks save?" in page.read_text()  # without an effect no system is the best
