"""Costs add up to the cent, in one study and in thousands, and jump where the platform's rule jumps."""

import itertools
import json
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from cases import each_case, examples
from hypothesis import given
from hypothesis import strategies as st

from humeval_power.costs import CostModel, cost_of, costs_of_counts, money, split_advice
from humeval_power.designs import (
    both_nested,
    counterbalanced,
    crossed,
    from_table,
    items_nested,
    k_per_item,
    workers_nested,
)
from humeval_power.errors import InputError
from humeval_power.fees import NO_FEE, PlatformFee
from humeval_power.study_counts import StudyCounts

MTURK = PlatformFee(
    "mturk",
    share=Decimal("0.2"),
    minimum_per_assignment=Decimal("0.01"),
    extra_share=Decimal("0.2"),
    extra_from=10,
    charged_per="assignment",
)
CENTS = st.integers(0, 300).map(lambda cents: Decimal(cents) / 100)
FINE = st.integers(0, 40_000).map(lambda parts: Decimal(parts) / 10_000)
SHARE = st.integers(0, 45).map(lambda percent: Decimal(percent) / 100)
COUNT = st.integers(1, 30)


@st.composite
def fees(draw):
    if draw(st.booleans()):
        return PlatformFee("p", share=draw(SHARE), per_worker=draw(FINE))
    extra = draw(SHARE)
    return PlatformFee(
        "a",
        share=draw(SHARE),
        minimum_per_assignment=draw(CENTS),
        extra_share=extra,
        extra_from=draw(st.integers(2, 12)) if extra else None,
        per_worker=draw(CENTS),
        charged_per="assignment",
    )


@st.composite
def models(draw):
    by_hour = draw(st.booleans())
    return CostModel(
        price_per_rating=None if by_hour else draw(FINE),
        pay_per_hour=draw(CENTS) * 10 if by_hour else None,
        seconds_per_rating=draw(st.integers(1, 200)) if by_hour else None,
        cost_per_worker=draw(FINE),
        cost_per_item=draw(FINE),
        cost_per_output=draw(FINE),
        rejected_share=draw(SHARE),
        checks_per_rating=draw(SHARE),
        repeats_per_rating=draw(st.just(Decimal(0)) | SHARE),
        fee=draw(fees()),
        units_per_assignment=draw(st.integers(1, 7)),
        split_hits=draw(st.booleans()),
    )


counts = st.builds(StudyCounts, COUNT, COUNT, st.integers(1, 14), st.booleans(), st.integers(1, 2))


def up(amount):
    """Rounded up to the cent, from an exact fraction."""
    return Decimal(ceil(100 * amount)).quantize(Decimal(1)) / 100


def half_up(amount):
    exact = Decimal(amount.numerator) / Decimal(amount.denominator)  # far from a tie by 28 digits
    return exact.quantize(Decimal("0.01"), ROUND_HALF_UP)


def total_hit_by_hit(study, model):
    """The obvious twin: every HIT is published, every assignment paid, one after the other."""
    fee, price = model.fee, model.exact_price
    each, n_units = (2, study.n_items) if study.paired else (1, 2 * study.n_items)
    n_units *= study.n_repeats
    n_checks = ceil(n_units * Fraction(model.checks_per_rating))
    n_repeats = ceil(n_units * Fraction(model.repeats_per_rating))
    again = Fraction(model.rejected_share) / (1 - Fraction(model.rejected_share))
    k = study.ratings_per_item
    items = study.n_items * Fraction(model.cost_per_item) + 2 * study.n_items * Fraction(
        model.cost_per_output
    )
    total = up(study.n_workers * Fraction(model.cost_per_worker)) + up(items)
    total += up(study.n_workers * Fraction(fee.per_worker))
    if fee.charged_per == "study":
        planned, checks, repeats = (n * k * each for n in (n_units, n_checks, n_repeats))
        redone = ceil((planned + checks + repeats) * again)
        paid = sum(up(n * price) for n in (planned, checks, repeats, redone))
        return total + paid + half_up(Fraction(paid) * Fraction(fee.share))
    share = Fraction(fee.share)
    if fee.extra_from is not None and k >= fee.extra_from and not model.split_hits:
        share += Fraction(fee.extra_share)
    left, hits = n_units + n_checks + n_repeats, []
    while left > 0:
        hits.append(min(left, model.units_per_assignment))
        left -= hits[-1]
    assignments = [size for size in hits for _ in range(k)]
    assignments += [max(hits)] * ceil(len(assignments) * again)
    for size in assignments:
        reward = up(size * each * price)
        total += reward + max(fee.minimum_per_assignment, half_up(Fraction(reward) * share))
    return total


@examples(200)
@given(counts, models())
def test_costs_equal_those_of_every_assignment_paid_by_itself(study, model):
    assert cost_of(study, model).total == total_hit_by_hit(study, model)


@examples(200)
@given(counts, models())
def test_the_total_is_the_sum_of_its_parts_to_the_cent(study, model):
    cost = cost_of(study, model)
    assert sum(cost.parts.values()) == cost.total == Decimal(cost.cents) / 100
    for part in cost.parts.values():
        assert part >= 0
        assert part == part.quantize(Decimal("0.01"))


@examples(200)
@given(st.lists(counts, min_size=1, max_size=20), models())
def test_thousands_are_priced_as_one_is(studies, model):
    names = ("n_workers", "n_items", "ratings_per_item", "paired", "n_repeats")
    columns = {name: [getattr(study, name) for study in studies] for name in names}
    priced = costs_of_counts(model, **columns)
    assert priced.dtype == np.int64
    assert priced.tolist() == [cost_of(study, model).cents for study in studies]


@examples(200)
@given(counts, models(), st.sampled_from(["n_workers", "n_items", "ratings_per_item", "n_repeats"]))
def test_more_of_anything_never_costs_less(study, model, name):
    more = replace(study, **{name: getattr(study, name) + 1})
    before, after = cost_of(study, model), cost_of(more, model)
    assert after.total >= before.total
    assert all(after.parts[part] >= before.parts[part] for part in ("ratings", "workers", "items"))


SHARES = ["rejected_share", "checks_per_rating", "repeats_per_rating"]
AMOUNTS = ["cost_per_worker", "cost_per_item", "cost_per_output", *SHARES]


@examples(200)
@given(counts, models(), st.sampled_from([*AMOUNTS, "price"]), st.integers(1, 500))
def test_a_higher_price_or_share_never_costs_less(study, model, name, step):
    if name == "price":
        name = "price_per_rating" if model.price_per_rating is not None else "pay_per_hour"
    dearer = replace(model, **{name: getattr(model, name) + Decimal(step) / 1000})
    assert cost_of(study, dearer).total >= cost_of(study, model).total


@given(counts, models(), st.sampled_from(["share", "per_worker"]), st.integers(1, 50))
def test_a_higher_fee_never_costs_less(study, model, name, step):
    fee = replace(model.fee, **{name: getattr(model.fee, name) + Decimal(step) / 1000})
    assert cost_of(study, replace(model, fee=fee)).total >= cost_of(study, model).total


def test_a_budget_worked_out_by_hand():
    # 100 items x 3 workers x 2 systems at 0.12: 72.00; 5 % lost: 300/0.95 -> 16 assignments of 0.24;
    # fee of each 0.24 x 0.2 = 0.048 -> 0.05, 316 times; 20 workers at 2.00; references at 0.35.
    model = CostModel(
        price_per_rating=Decimal("0.12"),
        cost_per_worker=Decimal(2),
        cost_per_item=Decimal("0.35"),
        rejected_share=Decimal("0.05"),
        fee=MTURK,
    )
    cost = cost_of(StudyCounts(20, 100, 3), model)
    expected = {
        "ratings": "72.00",
        "rejected_work": "3.84",
        "workers": "40.00",
        "items": "35.00",
        "fees": "15.80",
    }
    assert {name: str(cost.parts[name]) for name in expected} == expected
    assert str(cost) == "166.64 USD"
    assert (cost.n_ratings, cost.assignments_per_hit) == (600, 3)


def test_the_tenth_assignment_raises_the_fee_on_all_ten():
    model = CostModel(price_per_rating=Decimal("0.50"), fee=MTURK)
    nine, ten = (cost_of(StudyCounts(40, 100, k), model) for k in (9, 10))
    # reward 1.00; 900 x 0.20 and 1000 x 0.40
    assert (nine.fees, ten.fees) == (Decimal("180.00"), Decimal("400.00"))
    unpaired = cost_of(StudyCounts(40, 100, 9, paired=False), model)  # a HIT holds one output, not two
    assert unpaired.fees == Decimal("180.00")


def test_two_copies_of_five_assignments_save_the_extra_fee():
    model = CostModel(price_per_rating=Decimal("0.50"), fee=MTURK)
    advice = split_advice(StudyCounts(40, 100, 10), model)
    assert advice is not None
    assert advice.copies == (5, 5)
    assert advice.saving == Decimal("200.00")
    assert "2 copies of 5 + 5 assignments instead of once with 10: this saves 200.00 USD" in str(advice)
    nineteen = split_advice(StudyCounts(40, 100, 19), model)
    assert nineteen is not None
    assert nineteen.copies == (7, 6, 6)


def test_no_copies_are_advised_where_they_save_nothing():
    assert split_advice(StudyCounts(40, 100, 9), CostModel(price_per_rating=1, fee=MTURK)) is None
    assert split_advice(StudyCounts(40, 100, 12), CostModel(price_per_rating=1)) is None
    # reward 0.02: 20 % and 40 % are both below the least fee of a cent
    assert split_advice(StudyCounts(40, 100, 12), CostModel(price_per_rating="0.01", fee=MTURK)) is None


@given(models(), st.integers(2, 14), st.integers(2, 20), st.data())
def test_a_design_costs_what_its_counts_cost(model, m, n, data):
    k = data.draw(st.integers(1, m))
    assert cost_of(k_per_item(m, n, ratings_per_item=k), model) == cost_of(StudyCounts(m, n, k), model)
    half = data.draw(st.integers(1, m // 2))
    design = k_per_item(m, n, ratings_per_item=half, paired=False)
    assert cost_of(design, model) == cost_of(StudyCounts(m, n, half, paired=False), model)
    assert cost_of(crossed(m, n, n_repeats=2), model) == cost_of(StudyCounts(m, n, m, n_repeats=2), model)


@given(models(), st.integers(4, 14), st.integers(4, 20), st.data())
def test_a_table_costs_what_the_design_it_was_made_from_costs(model, m, n, data):
    k = data.draw(st.integers(1, m // 2))
    for paired in (True, False):
        design = k_per_item(m, n, ratings_per_item=k, paired=paired)
        rows = design.assignment
        if len(np.unique(rows.worker)) == m:
            table = from_table(rows.worker, rows.item, rows.system)
            assert cost_of(table, model) == cost_of(design, model)


def test_a_repeat_in_a_table_is_another_hit():
    # worker 0 rates every output twice: 8 units with 3 workers, and the same 8 again with one
    rows = [(w, i, s) for w, i, s in itertools.product(range(3), range(4), (0, 1))]
    rows += [(0, i, s) for i, s in itertools.product(range(4), (0, 1))]
    cost = cost_of(from_table(*zip(*rows, strict=True)), CostModel(price_per_rating=1, fee=MTURK))
    assert cost.n_ratings == len(rows)
    assert cost.ratings == len(rows)
    assert cost.assignments_per_hit == 3


@pytest.mark.parametrize(
    ("design", "n_outputs", "largest"),
    [
        (counterbalanced(7, 9), 18, 4),
        (workers_nested(7, 9), 18, 4),
        (items_nested(7, 9), 9, 7),
        (both_nested(7, 9), 9, 4),
    ],
)
def test_nested_designs_are_priced_by_their_rows_and_outputs(design, n_outputs, largest):
    cost = cost_of(design, CostModel(price_per_rating=1, cost_per_output=10))
    assert cost.ratings == cost.n_ratings == design.n_ratings
    assert cost.items == 10 * n_outputs
    assert cost.assignments_per_hit == largest


def test_hourly_pay_is_exact_and_rounded_once():
    # 15 an hour and 20 seconds are 1/12 a rating: 600 of them cost 50, in whatever order one rounds
    model = CostModel(pay_per_hour=15, seconds_per_rating=20)
    assert cost_of(StudyCounts(20, 100, 3), model).total == 50
    assert model.hourly_pay == 15
    by_rating = CostModel(price_per_rating="0.10", seconds_per_rating=45)
    assert by_rating.hourly_pay == 8
    assert CostModel(price_per_rating=1).hourly_pay is None


def test_numbers_and_text_mean_the_decimal_they_show():
    exact = CostModel(price_per_rating=Decimal("0.1"))
    assert CostModel(price_per_rating=0.1) == CostModel(price_per_rating="0.1") == exact
    thirty = Decimal(30).quantize(Decimal(1), ROUND_CEILING)
    assert cost_of(StudyCounts(3, 50, 3), CostModel(price_per_rating=0.1)).total == thirty


def test_a_batch_of_small_units_pays_the_least_fee_once():
    one_by_one = CostModel(price_per_rating="0.01", fee=MTURK)
    in_tens = replace(one_by_one, units_per_assignment=10)
    study = StudyCounts(10, 100, 2)
    # 200 assignments of 0.02 at a cent each; 20 of 0.20 at 0.04
    assert cost_of(study, one_by_one).fees == Decimal("2.00")
    assert cost_of(study, in_tens).fees == Decimal("0.80")
    assert cost_of(study, in_tens).ratings == cost_of(study, one_by_one).ratings == 4


def test_an_unconfirmed_fee_is_said_with_every_cost():
    fee = PlatformFee("somewhere", share=Decimal("0.333"), confirmed=False)
    (note,) = cost_of(StudyCounts(4, 10, 2), CostModel(price_per_rating=1, fee=fee)).notes
    assert "somewhere (33.3 %) is not confirmed" in note
    assert cost_of(StudyCounts(4, 10, 2), CostModel(price_per_rating=1)).notes == ()


@given(models())
def test_a_cost_model_survives_a_document(model):
    assert CostModel.from_dict(json.loads(json.dumps(model.as_dict()))) == model


def test_every_problem_of_a_cost_model_is_reported_at_once():
    with pytest.raises(InputError) as caught:
        CostModel(
            price_per_rating=-1,
            pay_per_hour="ten",
            rejected_share=1,
            checks_per_rating=float("nan"),
            cost_per_item="1e-13",
            units_per_assignment=0,
            currency="dollars",
        )
    text = str(caught.value)
    assert "price_per_rating and pay_per_hour both say what a rating costs. Give one of them." in text
    assert "column 'price_per_rating': value -1: must be a number from 0 to 1,000,000,000" in text
    assert "column 'rejected_share': value 1: must be a share from 0 to below 1" in text
    for name in ("pay_per_hour", "checks_per_rating", "cost_per_item", "units_per_assignment", "currency"):
        assert f"column '{name}'" in text
    assert len(caught.value.problems) == 8


def test_a_cost_model_needs_a_price():
    with pytest.raises(InputError, match="nothing says what a rating costs"):
        CostModel()
    with pytest.raises(InputError, match="pay_per_hour needs seconds_per_rating"):
        CostModel(pay_per_hour=12)
    with pytest.raises(InputError, match=r"value Decimal.*must be above 0"):
        CostModel(pay_per_hour=12, seconds_per_rating=0)


def test_a_document_reports_unknown_names_and_the_fee_with_the_rest():
    with pytest.raises(InputError) as caught:
        CostModel.from_dict({"price": 3, "currency": "usd", "fee": {"name": "x", "share": 2}})
    text = str(caught.value)
    for piece in ("'price' is not known", "column 'share': value 2", "column 'currency'", "nothing says"):
        assert piece in text


@pytest.mark.parametrize("bad", [0, -3, 2.5])
def test_counts_are_whole_numbers_above_zero(bad):
    with pytest.raises(InputError, match="n_items"):
        StudyCounts(4, bad, 2)
    with pytest.raises(InputError, match="n_items"):
        costs_of_counts(CostModel(price_per_rating=1), n_workers=4, n_items=[10, bad], ratings_per_item=2)


def test_a_total_beyond_64_bits_is_refused_by_both_ways():
    model = CostModel(price_per_rating=10**9)
    with pytest.raises(InputError, match="64 bits"):
        cost_of(StudyCounts(10**6, 10**6, 10**6), model)
    with pytest.raises(InputError, match="64 bits"):
        costs_of_counts(model, n_workers=10**6, n_items=10**6, ratings_per_item=10**6)


def test_counts_broadcast():
    model = CostModel(price_per_rating=1, fee=NO_FEE)
    priced = costs_of_counts(model, n_workers=[[4], [5]], n_items=[10, 20, 30], ratings_per_item=2)
    assert priced.tolist() == [[4000, 8000, 12000]] * 2
    assert costs_of_counts(model, n_workers=4, n_items=10, ratings_per_item=2) == 4000


@each_case(
    ("amount", "said"),
    [
        (Decimal("1234.5"), "1,234.50 USD"),
        (Decimal("0.1"), "0.10 USD"),
        (Decimal("0.125"), "0.125 USD"),  # a price finer than a cent
        (Decimal("0"), "0.00 USD"),
        (93.0471, "93.05 USD"),  # an expectation
    ],
)
def test_money_is_said_to_the_cent(amount, said):
    assert money(amount, "USD") == said
