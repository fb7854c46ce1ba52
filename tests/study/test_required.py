"""The smallest size that reaches a power: smallest, proved, or refused with the reason."""

import pytest
from cases import each_case, few_fast
from cli import run
from hypothesis import given
from hypothesis import strategies as st
from seven import seven

from humeval_power.errors import InputError
from humeval_power.parameters import preset
from humeval_power.saying.answer_words import of_hundred
from humeval_power.scales import RatingScale
from humeval_power.studies.power import required
from humeval_power.studies.power.analytic import ceiling_with_items
from humeval_power.studies.power.formula import analytic_power
from humeval_power.studies.power.questions import smallest_true
from humeval_power.studies.power.required import PRACTICAL, counts_power, design_of, required_size
from humeval_power.studies.power.workload import Workload
from humeval_power.study_counts import StudyCounts

LIKERT = seven(0.58, 0.08, 0.07, 0.05, 0.13, 0.15, 0.18)
QUESTIONS = {
    "workers, all on every item": ("workers", {"items": 40}),
    "workers, three on an item": ("workers", {"items": 150, "ratings_per_item": 3}),
    "items, all workers": ("items", {"workers": 8}),
    "items, three workers on each": ("items", {"workers": 20, "ratings_per_item": 3}),
    "ratings per item": ("ratings-per-item", {"workers": 20, "items": 60}),
}


def smaller(counts: StudyCounts, sought: str, fixed_k: int | None) -> StudyCounts:
    m, n, k = counts.n_workers, counts.n_items, counts.ratings_per_item
    if sought == "workers":
        return StudyCounts(m - 1, n, fixed_k or m - 1)
    return StudyCounts(m, n - 1, k) if sought == "items" else StudyCounts(m, n, k - 1)


@few_fast("name", QUESTIONS, fast=1)
@pytest.mark.parametrize("power", [0.6, 0.8])
def test_the_answer_reaches_the_target_and_one_less_does_not(name, power):
    sought, fixed = QUESTIONS[name]
    answer = required_size(LIKERT, sought, power=power, n_simulations=500, **fixed)
    assert answer.counts is not None
    assert counts_power(LIKERT, answer.counts) >= power
    one_less = smaller(answer.counts, sought, fixed.get("ratings_per_item"))
    assert counts_power(LIKERT, one_less) < power
    assert answer.analytic == pytest.approx(
        analytic_power(LIKERT, design_of(answer.counts)).power, rel=1e-9
    )
    assert answer.simulated is not None
    assert answer.simulated.interval[1] >= power
    assert answer.reason == ""


def test_the_fewest_workers_with_a_hundred_items_are_the_golden_fifteen():
    # the methods notes 9, calibration: truth Tw = .11, Ti = .14, s = .26, D = .1, n = 100 needs m = 15
    truth = seven(0.5, 0.1, 0.05, 0.11, 0.05, 0.14, 0.26)
    answer = required_size(truth, "workers", items=100, n_simulations=500)
    assert answer.counts is not None
    assert answer.counts.n_workers == 15


def test_more_items_than_could_help_are_refused_with_the_ceiling_and_the_workers_that_would_do():
    # the methods notes 2.5: with Tw = 0.22 and D = 0.15 endless items need 19 workers
    high = preset("high").with_difference(0.15)
    answer = required_size(high, "items", workers=5)
    assert answer.counts is None
    assert answer.simulated is None
    limit = ceiling_with_items(high, n_workers=5)
    found = f"{of_hundred(limit.power)} of 100 such studies find a difference of 0.15 at best"
    assert f"with 5 workers {found}" in answer.reason
    assert f"the smallest difference that 80 find is {limit.detectable_effect:.3g}." in answer.reason
    points = required_size(high, "items", workers=5, scale=RatingScale(1, 5)).reason
    assert "find a difference of 0.6 points at best" in points
    assert f"that 80 find is {4 * limit.detectable_effect:.3g} points." in points
    assert "At least 19 workers are needed; in practice 20 would do." in answer.reason


def test_more_workers_than_could_help_are_refused_with_the_items_that_would_do():
    parameters = seven(0.5, 0.1, 0.05, 0.02, 0.05, 0.3, 0.1)
    answer = required_size(parameters, "workers", items=20)
    assert answer.counts is None
    assert "with 20 items " in answer.reason
    needed = int(answer.reason.split("At least ")[1].split()[0])
    assert required_size(parameters, "workers", items=needed, n_simulations=20).counts is not None
    assert required_size(parameters, "workers", items=needed - 1).counts is None


def test_all_workers_on_every_item_may_not_be_enough():
    answer = required_size(LIKERT.with_difference(0.01), "ratings-per-item", workers=10, items=50)
    assert answer.counts is None
    assert answer.reason.startswith("Even with all 10 workers on every item 5 of 100 such studies find")


@each_case(
    ("sought", "sizes", "message"),
    [
        ("workers", {}, "Give the number of items"),
        ("items", {}, "Give the number of workers"),
        ("ratings-per-item", {"workers": 5}, "Give the number of items"),
        ("items", {"workers": 1}, "must be at least 2; got 1"),
        ("workers", {"items": 0}, "must be at least 2; got 0"),
    ],
)
def test_a_missing_or_impossible_size_is_named(sought, sizes, message):
    with pytest.raises(InputError, match=message):
        required_size(LIKERT, sought, **sizes)


@pytest.mark.parametrize("effect", [0.0, -0.05])
def test_no_size_finds_an_effect_that_is_not_positive(effect):
    with pytest.raises(InputError, match="positive difference"):
        required_size(LIKERT.with_difference(effect), "items", workers=5)


@pytest.mark.parametrize("effect", [0.02, 0.5])
def test_more_ratings_per_item_than_workers_are_refused_whether_or_not_the_target_is_in_reach(effect):
    with pytest.raises(InputError, match="5 different workers"):
        required_size(LIKERT.with_difference(effect), "items", workers=3, ratings_per_item=5)


@pytest.mark.parametrize(("sought", "sizes"), [("workers", {"items": 50}), ("items", {"workers": 10})])
def test_unpaired_designs_need_a_number_of_ratings_per_item(sought, sizes):
    with pytest.raises(InputError, match=r"needs? (a|the) number of ratings per item"):
        required_size(LIKERT, sought, paired=False, **sizes)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(-5, 130))
def test_smallest_true_is_what_a_loop_finds(lowest, width, threshold):
    highest = lowest + width
    loop = next((value for value in range(lowest, highest + 1) if value >= threshold), None)
    assert smallest_true(lambda value: value >= threshold, lowest, highest) == loop


def test_a_target_at_what_no_number_of_items_exceeds_is_answered_by_the_workers_that_would_do():
    # 40 workers: power .80050 with endless items, so that .8 takes 76,000; half as many have .7995
    high = preset("high").with_difference(0.1)
    answer = required_size(high, "items", workers=40, ratings_per_item=3)
    assert answer.counts is None
    assert answer.simulated is None
    limit = ceiling_with_items(high, n_workers=40).power
    assert 0 < limit - 0.8 < 0.001
    assert "No practical number of items will do: with 40 workers" in answer.reason
    assert f"cannot pass {limit:.4f}" in answer.reason
    would_do = int(answer.reason.split(" workers would do")[0].split()[-1])
    found = required_size(high, "items", workers=would_do, ratings_per_item=3, proves=False)
    assert found.counts is not None
    assert found.counts.n_items < PRACTICAL


def test_more_than_the_search_goes_to_is_told_with_the_workers_that_would_do():
    high = preset("high").with_difference(0.1)
    power = ceiling_with_items(high, n_workers=40).power - 1e-5
    answer = required_size(high, "items", workers=40, ratings_per_item=3, power=power)
    assert "takes more than 100,000" in answer.reason
    assert "41 workers would do." in answer.reason


def test_a_long_proof_is_made_only_where_its_simulations_were_asked_for(monkeypatch):
    monkeypatch.setattr(required, "measured_workload", lambda *_, **__: Workload(61.0, 0.0))
    fixed = {"workers": 20, "ratings_per_item": 3}
    answer = required_size(LIKERT, "items", **fixed)
    assert answer.counts is not None
    assert (answer.simulated, answer.proof_seconds) == (None, 61.0)
    told: list[Workload] = []
    proved = required_size(LIKERT, "items", **fixed, n_simulations=50, ahead=told.append)
    assert proved.counts == answer.counts
    assert proved.simulated is not None
    assert [work.seconds for work in told] == [61.0]


def test_a_proof_tells_of_itself_and_not_of_all_that_there_could_be():
    heard: list[tuple[int, int]] = []
    required_size(
        LIKERT,
        "items",
        workers=20,
        ratings_per_item=3,
        n_simulations=40,
        progress=lambda *how: heard.append(how),
    )
    assert heard[0] == (8, 40)
    assert heard[-1] == (40, 40)


def test_the_command_ends_with_3_and_the_reason_before_anything_is_simulated():
    line = "size --preset high --find items --workers 40 --ratings-per-item 3 --effect 0.1"
    result = run(*line.split(), code=3)
    assert "No practical number of items will do" in " ".join(result.stdout.split())
