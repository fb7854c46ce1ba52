"""Assignments of many systems: as even as the numbers allow, and no help to whoever wants to guess a system."""

import hashlib
import re
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from cases import each_case, examples, few_fast
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from humeval_power.designs import crossed, from_table, k_per_item, with_documents
from humeval_power.errors import DesignError
from humeval_power.parameters import preset
from humeval_power.rules import DEFAULT_RULE
from humeval_power.studies.plan.assignment import assign, balance, replacement_table
from humeval_power.studies.plan.calls import assign_work
from humeval_power.studies.plan.plan import ParameterSource, Plan, PredictedPower
from humeval_power.studies.plan.session_order import (
    CHECK,
    RATING,
    REPEAT,
    alternated,
    steps_between,
    williams_rows,
)
from humeval_power.study_counts import StudyCounts

SEEDS = st.integers(0, 2**32)
ORDERS = st.sampled_from(["random", "blocked"])
SYSTEMS = st.one_of(st.integers(3, 9), st.just(20))
EITHER = st.booleans()


@st.composite
def complete(draw):
    size = st.integers(2, 12)
    return crossed(draw(size), draw(size), n_systems=draw(SYSTEMS))


@st.composite
def some_workers(draw, paired=EITHER):
    workers, items = draw(st.integers(2, 11)), draw(st.integers(2, 12))
    options = {"ratings_per_item": draw(st.integers(1, workers)), "n_systems": draw(SYSTEMS)}
    return k_per_item(workers, items, paired=draw(paired), seed=draw(st.integers(0, 9)), **options)


@st.composite
def tables(draw):
    """Any rows of three systems: sittings of one, two and three outputs, and outputs that are seen twice."""
    row = st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(0, 2))
    rows = [*draw(st.lists(row, max_size=60)), (0, 0, 0), (1, 1, 1), (1, 1, 2)]
    return from_table(*zip(*rows, strict=True), n_systems=3)


PAIRED = st.one_of(complete(), some_workers(st.just(True)))
DESIGNS = st.one_of(complete(), some_workers())


def rated(plan):
    """Worker, batch, order, item, system and place of every rating, in order, as plain numbers."""
    kept = plan.kind == RATING
    columns = (plan.worker, plan.batch, plan.order, plan.item, plan.system, plan.place)
    return list(zip(*(column[kept].tolist() for column in columns), strict=True))


def spread(counts):
    return max(counts) - min(counts)


def slow_balance(plan):
    """The worst differences counted one by one: for each kind of count by worker, by item and in all."""
    systems = range(len(plan.systems))
    others = [(a, b) for a in systems for b in systems if a != b]
    cells = {"system": systems, "next": others, "neighbour": others}
    tallies = defaultdict(Counter)
    rows = rated(plan)
    places = sorted({row[5] for row in rows})
    for worker, _, _, item, system, place in rows:
        for group in (("worker", worker), ("item", item), ("overall", 0)):
            tallies["system", group][system] += 1
            for other in places:
                tallies[f"place {other}", group][system] += other == place
    by_sitting = sorted(rows, key=lambda row: (row[0], row[3], row[5]))
    for name, ordered, same in (("next", by_sitting, (0, 3)), ("neighbour", rows, (0, 1))):
        for before, after in pairwise(ordered):
            for group in (("worker", before[0]), ("overall", 0)):
                tally = tallies[name, group]
                if all(before[at] == after[at] for at in same) and before[4] != after[4]:
                    tally[before[4], after[4]] += 1
    found = defaultdict(int)
    for (name, group), tally in tallies.items():
        of = cells.get(name, systems)
        key = (name.split()[0], group[0])
        found[key] = max(found[key], spread([tally[cell] for cell in of]))
    return {
        key: worst for key, worst in found.items() if len(places) > 1 or key[0] not in ("place", "next")
    }


def worst(plan):
    return {(one.counted, name): part.worst for one in balance(plan) for name, part in one.parts}


def allowed(plan):
    return {(one.counted, name): part.least for one in balance(plan) for name, part in one.parts}


@each_case("n_systems", range(2, 22))
def test_orders_of_a_williams_design_have_every_system_at_every_place_and_after_every_other(n_systems):
    rows = williams_rows(n_systems)
    squares = 1 + n_systems % 2
    assert rows.shape == (squares * n_systems, n_systems)
    for square in np.split(rows, squares):  # Latin: each system once in each row and column
        for lines in (square, square.T):
            assert (np.sort(lines, axis=1) == np.arange(n_systems)).all()
    follows = Counter((int(a), int(b)) for row in rows for a, b in pairwise(row))
    assert set(follows.values()) == {squares}
    assert len(follows) == n_systems * (n_systems - 1)


@examples(25)
@given(DESIGNS, SEEDS, ORDERS, st.one_of(st.none(), st.integers(22, 40)))
def test_ratings_are_those_of_the_design_and_places_count_them(design, seed, order, batch_size):
    plan = assign(design, seed=seed, order=order, batch_size=batch_size, check_rate=0.1, repeat_rate=0.1)
    rows = design.assignment
    wanted = Counter(zip(rows.worker.tolist(), rows.item.tolist(), rows.system.tolist(), strict=True))
    assert Counter((row[0], row[3], row[4]) for row in rated(plan)) == wanted
    sittings = defaultdict(list)
    for worker, batch, _, item, _, place in rated(plan):
        sittings[worker, item].append((batch, place))
    for seen in sittings.values():
        assert [place for _, place in seen] == list(range(1, len(seen) + 1))
        assert len({batch for batch, _ in seen}) == 1
    again = assign(design, seed=seed, order=order, batch_size=batch_size, check_rate=0.1, repeat_rate=0.1)
    assert again.to_frame().to_csv() == plan.to_frame().to_csv()


@examples(25)
@given(DESIGNS, SEEDS, ORDERS, st.one_of(st.none(), st.integers(26, 40)))
def test_balance_is_what_is_counted_one_by_one(design, seed, order, batch_size):
    plan = assign(design, seed=seed, order=order, batch_size=batch_size, check_rate=0.1, repeat_rate=0.2)
    assert worst(plan) == slow_balance(plan)


@examples(25)
@given(PAIRED, SEEDS)
def test_places_are_as_even_as_the_numbers_allow(design, seed):
    plan = assign(design, seed=seed)
    found, least = worst(plan), allowed(plan)
    even = design.n_systems % 2 == 0
    assert found["system", "worker"] == found["system", "item"] == found["system", "overall"] == 0
    assert found["place", "worker"] == least["place", "worker"] <= 1
    assert found["place", "item"] <= (1 if even or design.is_crossed else 2)
    assert found["next", "worker"] <= (1 if even else 2)
    if not design.is_crossed:
        assert found["place", "overall"] <= (1 if even else 2)
        assert found["next", "overall"] <= (1 if even else 4)


@each_case("n_systems", [3, 4, 7, 8])
@each_case("times", [1, 2])
def test_complete_designs_that_divide_are_balanced_without_rest(n_systems, times):
    """Whole Williams designs for each worker and each item: nothing is left but what an odd number leaves."""
    size = 2 * n_systems * times
    plan = assign(crossed(size, size, n_systems=n_systems), seed=3)
    found = worst(plan)
    for counted in ("system", "place", "next"):
        assert all(value == 0 for (name, _), value in found.items() if name == counted)


@examples(25)
@given(some_workers(st.just(False)), SEEDS, ORDERS)
def test_unpaired_workers_meet_each_system_equally_often_and_at_each_place(design, seed, order):
    found = worst(assign(design, seed=seed, order=order))
    assert max(found["system", of] for of in ("worker", "overall")) <= 1
    assert found["system", "item"] == 0
    per_item = design.ratings_per_item * design.n_systems / design.n_workers
    if per_item == int(per_item) and per_item not in (1, design.n_systems):
        assert found["place", "worker"] <= 1
        assert found["place", "overall"] <= 1
    elif 1 < per_item < 2:  # some items once, some twice: what is even among both is even among all
        assert found["place", "worker"] <= 2


@pytest.mark.parametrize("order", ["random", "blocked"])
@pytest.mark.parametrize("batch_size", [None, 20])
def test_unpaired_systems_follow_each_other_about_equally(order, batch_size):
    """Of 56 pairs 2,820 steps make 50 each; left to chance they would spread by about 32."""
    design = k_per_item(60, 120, ratings_per_item=3, paired=False, n_systems=8)
    plan = assign(design, seed=5, order=order, batch_size=batch_size)
    found = worst(plan)
    assert found["neighbour", "overall"] <= 8
    assert found["neighbour", "worker"] <= 4
    rows = rated(plan)
    same = sum(a[:2] == b[:2] and a[4] == b[4] for a, b in pairwise(rows))
    assert same <= 0.02 * len(rows)  # chance would be 12 %


@examples(25)
@given(st.integers(2, 9), st.integers(2, 12), st.integers(3, 9), SEEDS)
def test_random_puts_the_outputs_of_an_item_a_kth_of_the_batch_apart(workers, items, n_systems, seed):
    plan = assign(crossed(workers, items, n_systems=n_systems), seed=seed, order="random")
    blocked = assign(crossed(workers, items, n_systems=n_systems), seed=seed, order="blocked")
    for one, distance in ((plan, items), (blocked, 1)):
        at = defaultdict(list)
        for worker, _, order, item, _, _ in rated(one):
            at[worker, item].append(order)
        assert all((np.diff(orders) == distance).all() for orders in at.values())


@examples(25)
@given(tables(), SEEDS, ORDERS)
def test_tables_with_sittings_of_any_size_keep_their_rows(design, seed, order):
    plan = assign(design, seed=seed, order=order, check_rate=0.1)
    rows = design.assignment
    wanted = Counter(zip(rows.worker.tolist(), rows.item.tolist(), rows.system.tolist(), strict=True))
    shown = plan.kind != CHECK
    columns = (plan.worker, plan.item, plan.system)
    assert Counter(zip(*(column[shown].tolist() for column in columns), strict=True)) == wanted
    assert (plan.kind == REPEAT).sum() == sum(number - 1 for number in wanted.values())
    assert worst(plan) == slow_balance(plan)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("order", ["random", "blocked"])
def test_documents_kept_together_are_shown_in_one_run(paired, order):
    design = k_per_item(9, 24, ratings_per_item=2, paired=paired, n_systems=4)
    plan = assign(with_documents(design, 6, together=True), seed=2, order=order)
    for worker in range(9):
        first = [row[3] // 4 for row in rated(plan) if row[0] == worker and row[5] == 1]
        runs = [a for a, b in zip(first, [None, *first], strict=False) if a != b]
        assert len(runs) == len(set(runs))
    assert worst(plan)["system", "worker"] <= 1


def test_turns_come_back_at_even_distances_and_no_step_is_taken_much_more_often():
    rng = np.random.default_rng(1)
    steps = steps_between(5, whole=False, together=True)
    turn = rng.permutation(np.repeat(np.arange(5), 16)).tolist()
    followed = np.zeros((5, 5), dtype=int)
    order = alternated(turn, steps, followed, rng)
    assert sorted(order) == list(range(80))
    shown = np.array(turn)[order]
    assert (np.sort(shown.reshape(16, 5), axis=1) == np.arange(5)).all()  # a round has each of them once
    assert (np.diff(shown) != 0).all()
    pairs = Counter(pairwise(shown.tolist()))
    counted = np.array([[pairs[a, b] for b in range(5)] for a in range(5)])
    np.testing.assert_array_equal(followed, counted)
    np.testing.assert_array_equal(steps.taken, counted)
    assert np.ptp(counted[~np.eye(5, dtype=bool)]) <= 3


@examples(25)
@given(DESIGNS, SEEDS, st.integers(4, 30), st.sampled_from([0.05, 0.3]))
def test_batches_keep_to_their_size_or_are_refused(design, seed, batch_size, rate):
    try:
        plan = assign(design, seed=seed, batch_size=batch_size, repeat_rate=rate)
    except DesignError as error:
        least = int(re.search("at least ([0-9]+) here", str(error)).group(1))
        assert least > batch_size
        plan, batch_size = assign(design, seed=seed, batch_size=least, repeat_rate=rate), least
    sizes = Counter(zip(plan.worker.tolist(), plan.batch.tolist(), strict=True))
    assert max(sizes.values()) <= batch_size


def test_a_spare_slot_does_what_the_slot_was_to_see():
    design = k_per_item(6, 12, ratings_per_item=3, n_systems=5)
    plan = assign(design, seed=1, batch_size=15, check_rate=0.1, repeat_rate=0.1, replacement_slots=1)
    table = plan.to_frame()
    taken = replacement_table(plan, "r01", "w04", first_batch=2)
    left = table[(table["worker_slot"] == "w04") & (table["batch"] >= 2)]
    assert len(left) > 0
    for column in ("batch", "order", "item", "place", "system", "code", "kind"):
        assert taken[column].tolist() == left[column].tolist()


def test_a_plan_brings_its_systems_and_its_design():
    plan = Plan(
        question="Which is best?",
        systems=("base", "small", "large"),
        effect=0.1,
        parameters=preset("low"),
        source=ParameterSource("low"),
        counts=StudyCounts(6, 10, 3, n_systems=3),
        rule=DEFAULT_RULE,
        target_power=0.8,
        predicted=PredictedPower(0.8, 0.8, (0.7, 0.9), 100),
        seed=17,
    )
    found = assign_work(plan)
    assert found.assignment.systems == ("base", "small", "large")
    assert len(found.to_frame()) == 90
    assert found.content()["balance"][0]["item"] == {"worst": 0, "least": 0}


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("a", "b"), "The 3 systems need 3 names: these are 2."),
        (("a", "b", "a"), "The 3 systems need 3 names: 'a' is there twice."),
        (("a", " ", "c"), "The 3 systems need 3 names: one is blank."),
    ],
)
def test_every_system_has_a_name_of_its_own(names, said):
    with pytest.raises(DesignError, match=said):
        assign(crossed(3, 4, n_systems=3), seed=1, system_names=names)


def test_two_systems_keep_their_bytes():
    digest = hashlib.sha256()
    for design in (
        crossed(5, 20),
        k_per_item(7, 25, ratings_per_item=2, paired=False),
        with_documents(k_per_item(5, 24, ratings_per_item=2), 6, together=True),
    ):
        for order in ("random", "blocked"):
            plan = assign(design, seed=11, order=order, batch_size=12, repeat_rate=0.1, check_rate=0.1)
            digest.update(plan.to_frame().to_csv().encode() + plan.key().to_csv().encode())
    assert digest.hexdigest() == "d3f0bf6eac90133b4e91e2f3fb1a469ec80f7a46bcc39a78baa376175366eabe"


# What a blind table shows - codes, places, order, batches, items - is to say nothing of the system.


def chi_squared(first, second):
    """The p-value of a table of counts of two columns."""
    codes = [np.unique(column, return_inverse=True)[1] for column in (first, second)]
    table = np.zeros([one.max() + 1 for one in codes])
    np.add.at(table, tuple(codes), 1)
    return stats.chi2_contingency(table).pvalue


def test_neither_codes_nor_order_nor_place_go_with_the_system():
    design = k_per_item(30, 800, ratings_per_item=3, n_systems=8)
    plan = assign(design, seed=7, batch_size=40, bits=bytes(range(16)))
    key = plan.key().sort_values("code").reset_index(drop=True)
    for place in range(5):
        assert chi_squared(key["code"].str[place], key["system"]) > 1e-4
    assert chi_squared(key.index // 400, key["system"]) > 1e-4  # in the order of the codes
    by_code = key.groupby("item")["code"].rank().astype(int)  # the order of codes within an item
    assert chi_squared(by_code, key["system"]) > 1e-4
    table = plan.to_frame()
    for seen in (table["place"], table["order"] // 40, table["batch"]):
        assert chi_squared(seen, table["system"]) > 1e-4


@few_fast("paired", [True, False], fast=1)
def test_whatever_stands_first_is_any_system_equally_often(paired):
    """Over seeds: the first row of the table, the first code of an item, the second output of a worker."""
    first, second, lowest = Counter(), Counter(), Counter()
    design = k_per_item(6, 9, ratings_per_item=2, paired=paired, n_systems=5)
    for seed in range(90):
        plan = assign(design, seed=seed, bits=seed.to_bytes(16))
        first[plan.system[0]] += 1
        second[(plan.system[1] - plan.system[0]) % 5] += 1
        lowest[min(range(5), key=lambda one: plan.codes[one])] += 1
    assert stats.chisquare([first[one] for one in range(5)]).pvalue > 1e-4
    assert stats.chisquare([lowest[one] for one in range(5)]).pvalue > 1e-4
    assert stats.chisquare([second[one] for one in range(1, 5)]).pvalue > 1e-4


def test_who_knows_one_order_of_systems_does_not_know_another_workers():
    """Two items of a worker that begin with the same system go on with any of the others over seeds."""
    goes_on = Counter()
    for seed in range(90):
        rows = rated(assign(crossed(4, 8, n_systems=4), seed=seed, order="blocked"))
        begins = {row[3]: row[4] for row in rows if row[0] == 0 and row[5] == 1}
        second = {row[3]: row[4] for row in rows if row[0] == 0 and row[5] == 2}
        goes_on[(second[0] - begins[0]) % 4] += 1
    assert stats.chisquare([goes_on[one] for one in range(1, 4)]).pvalue > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
def test_a_thousand_workers_are_as_even(paired):
    design = k_per_item(1000, 2000, ratings_per_item=3, paired=paired, n_systems=8)
    plan = assign(design, seed=1, batch_size=40, check_rate=0.05)
    assert len(plan.to_frame()) == len(plan.item) > 48_000
    assert worst(plan)["system", "worker"] <= 1
