"""What holds a design back, in numbers and in words."""

from dataclasses import replace
from functools import partial

import pytest
from seven import seven

from humeval_power.parameters import preset
from humeval_power.rules import DEFAULT_RULE
from humeval_power.studies.power.analytic import ceiling_with_items
from humeval_power.studies.power.outlook import bottleneck_words, find_bottleneck, pair_ceilings
from humeval_power.studies.power.required import counts_power
from humeval_power.study_counts import StudyCounts

LIKERT = seven(0.58, 0.08, 0.07, 0.05, 0.13, 0.15, 0.18)


def bottleneck(parameters, counts, *, target=0.8):
    ceilings = pair_ceilings(parameters, counts, target=target, rule=DEFAULT_RULE)
    return find_bottleneck(counts, power_of=partial(counts_power, parameters), ceilings=ceilings)


def test_the_gains_are_differences_of_power_between_neighbouring_designs():
    counts = StudyCounts(10, 60, 3)
    found = bottleneck(LIKERT, counts)
    power = counts_power(LIKERT, counts)
    assert found.power == power
    assert found.more_workers == counts_power(LIKERT, replace(counts, n_workers=11)) - power
    assert found.more_items == counts_power(LIKERT, replace(counts, n_items=66)) - power
    assert found.more_ratings == counts_power(LIKERT, replace(counts, ratings_per_item=4)) - power


def test_one_more_worker_of_a_complete_design_rates_every_item_too():
    found = bottleneck(LIKERT, StudyCounts(5, 60, 5))
    power = counts_power(LIKERT, StudyCounts(5, 60, 5))
    assert found.more_workers == counts_power(LIKERT, StudyCounts(6, 60, 6)) - power
    assert found.more_ratings is None  # every worker rates every item already


@pytest.mark.parametrize(("m", "k", "fits"), [(6, 2, True), (5, 2, False)])
def test_another_unpaired_rating_needs_two_more_workers_on_an_item(m, k, fits):
    found = bottleneck(LIKERT, StudyCounts(m, 30, k, paired=False))
    assert (found.more_ratings is not None) == fits


def test_few_workers_who_differ_much_are_the_bottleneck_whatever_the_number_of_items():
    # the methods notes 2.5: with Tw = 0.22, three workers and D = 0.4 the ceiling is 0.414
    high = preset("high").with_difference(0.4)
    counts = StudyCounts(3, 100, 3)
    found = bottleneck(high, counts)
    assert found.factor == "workers"
    assert found.with_endless_items.power == pytest.approx(0.414, abs=5e-4)
    text = bottleneck_words(found, counts)
    assert text.startswith(
        "Workers are what is missing: with 3 of them no number of items takes the power above 0.41."
    )
    assert f"the next worker is worth {found.more_workers:+.3f}" in text
    assert f"10 more items {found.more_items:+.3f}" in text
    assert "another rating" not in text


def test_few_items_that_differ_much_are_the_bottleneck_whatever_the_number_of_workers():
    parameters = seven(0.5, 0.1, 0.05, 0.02, 0.05, 0.3, 0.1)
    counts = StudyCounts(30, 12, 10)
    found = bottleneck(parameters, counts)
    assert found.factor == "items"
    assert (
        f"with 12 of them no number of workers takes the power above {found.with_endless_workers.power:.2f}"
        in (bottleneck_words(found, counts))
    )


def test_where_either_would_do_the_largest_step_is_named():
    counts = StudyCounts(12, 120, 1)
    found = bottleneck(LIKERT, counts)
    gains = {
        "workers": found.more_workers,
        "items": found.more_items,
        "ratings per item": found.more_ratings,
    }
    assert found.with_endless_items.reachable
    assert found.with_endless_workers.reachable
    assert found.factor == max(gains, key=gains.get)
    assert bottleneck_words(found, counts).startswith(
        f"The next step that helps most is more {found.factor}."
    )


def test_no_paired_design_of_five_or_more_workers_has_more_power_than_endless_items():
    for parameters in (LIKERT, preset("high").with_difference(0.2), preset("low").with_difference(0.05)):
        for m in (5, 8, 20):
            limit = ceiling_with_items(parameters, n_workers=m).power
            # 0.01: with few items the residual lends the t law some df, for a moment
            assert all(
                counts_power(parameters, StudyCounts(m, n, m)) <= limit + 0.01 for n in (5, 20, 80, 2000)
            )


def test_no_design_is_said_to_have_more_power_than_any_number_of_items_could_give():
    # Two workers who hardly differ, items that do: at 107 items 0.846 of 4,000 simulated studies find
    # the effect, at 5,000 items 0.564; more items can cost power, because the df fall to m - 1.
    parameters = seven(0.5, 0.3895, 0.29, 0.0574, 0.109, 0.2956, 0.0334)
    counts = StudyCounts(2, 107, 2)
    found = bottleneck(parameters, counts)
    assert found.power > 0.8
    text = bottleneck_words(found, counts)
    if "no number of items takes the power above" in text:
        assert found.power <= float(text.split("above ")[1].split(". ")[0]) + 0.01
