"""An assignment is its design and nothing else, and its order keeps every promise that it makes."""

import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from cases import each_case, examples
from hypothesis import given
from hypothesis import strategies as st

from humeval_power.designs import (
    both_nested,
    counterbalanced,
    crossed,
    from_table,
    items_nested,
    k_per_item,
    workers_nested,
)
from humeval_power.errors import DesignError
from humeval_power.studies.plan.assignment import (
    ASSIGNMENT_COLUMNS,
    assign,
    blinding_codes,
    replacement_table,
)
from humeval_power.studies.plan.session_order import CHECK, RATING, REPEAT

SEEDS = st.integers(0, 2**32)
RATES = st.sampled_from([0.0, 0.05, 0.1, 0.3])
ORDERS = st.sampled_from(["random", "blocked"])


@st.composite
def k_per_item_designs(draw):
    workers, items = draw(st.integers(2, 12)), draw(st.integers(2, 30))
    paired = draw(st.booleans())
    k = draw(st.integers(1, workers if paired else workers // 2))
    return k_per_item(workers, items, ratings_per_item=k, paired=paired, seed=draw(st.integers(0, 9)))


@st.composite
def whole_designs(draw):
    generator = draw(st.sampled_from([crossed, workers_nested, items_nested, both_nested, counterbalanced]))
    return generator(draw(st.integers(4, 9)), draw(st.integers(4, 15)))


@st.composite
def tables(draw):
    """Any rows: uneven loads, items under one system or both, outputs that are seen twice."""
    row = st.tuples(st.integers(0, 5), st.integers(0, 8), st.integers(0, 1))
    rows = [*draw(st.lists(row, max_size=60)), (0, 0, 0), (1, 1, 1)]
    return from_table(*zip(*rows, strict=True))


GENERATED = st.one_of(k_per_item_designs(), whole_designs())
DESIGNS = st.one_of(GENERATED, tables(), st.builds(crossed, st.just(3), st.just(5), n_repeats=st.just(2)))


@st.composite
def plans(draw, designs=GENERATED):
    """A plan, and the options that it was made with."""
    options = {
        "seed": draw(SEEDS),
        "batch_size": draw(st.one_of(st.none(), st.integers(3, 20))),
        "order": draw(ORDERS),
        "check_rate": draw(RATES),
        "repeat_rate": draw(RATES),
    }
    return assign(draw(designs), **options), options


def design_rows(design):
    rows = design.assignment
    return Counter(zip(rows.worker.tolist(), rows.item.tolist(), rows.system.tolist(), strict=True))


def plan_rows(plan, *kinds):
    kept = np.isin(plan.kind, kinds)
    columns = (plan.worker[kept], plan.item[kept], plan.system[kept])
    return Counter(zip(*(column.tolist() for column in columns), strict=True))


def workers_of(plan):
    """For each worker with work: the rows in order of presentation."""
    for worker in np.unique(plan.worker):
        yield np.flatnonzero(plan.worker == worker)


def batches_of(plan):
    for mine in workers_of(plan):
        for batch in np.unique(plan.batch[mine]):
            yield mine[plan.batch[mine] == batch]


def first_shown(plan):
    """Worker, item and first system (+1 for A, -1 for B) of each worker and item that saw both."""
    frame = pd.DataFrame({"worker": plan.worker, "item": plan.item, "system": plan.system})
    frame = frame[plan.kind == RATING]
    frame["both"] = frame.groupby(["worker", "item"])["system"].transform("nunique") == 2
    first = frame[frame["both"]].drop_duplicates(["worker", "item"])
    return first.assign(a=1 - 2 * first["system"])


@given(plans())
def test_ratings_are_those_of_the_design_and_each_is_shown_once(made):
    plan, _ = made
    shown = plan_rows(plan, RATING)
    assert shown == design_rows(plan.design)
    assert set(shown.values()) == {1}


@given(k_per_item_designs(), SEEDS)
def test_every_item_has_exactly_k_workers_under_each_system(design, seed):
    plan = assign(design, seed=seed, check_rate=0.1)
    workers = Counter((item, system) for _, item, system in plan_rows(plan, RATING))
    assert workers == {(i, s): design.ratings_per_item for i in range(design.n_items) for s in (0, 1)}


@given(DESIGNS, SEEDS, ORDERS)
def test_tables_and_repeated_designs_keep_their_rows_too(design, seed, order):
    plan = assign(design, seed=seed, order=order, check_rate=0.1)
    assert plan_rows(plan, RATING, REPEAT) == design_rows(design)
    assert set(plan_rows(plan, RATING).values()) == {1}
    for mine in workers_of(plan):
        seen = set()
        for row in mine[plan.kind[mine] != CHECK]:
            output = (plan.item[row], plan.system[row])
            assert (output in seen) == (plan.kind[row] == REPEAT)
            seen.add(output)


@given(plans(DESIGNS.filter(lambda design: max(design_rows(design).values()) == 1)))
def test_order_is_a_permutation_and_batches_follow_each_other(made):
    plan, _ = made
    for mine in workers_of(plan):
        assert plan.order[mine].tolist() == list(range(1, len(mine) + 1))
        assert plan.batch[mine[0]] == 1
        assert set(np.diff(plan.batch[mine])) <= {0, 1}


@given(plans())
def test_batches_keep_to_their_size_and_loads_differ_by_at_most_one_batch(made):
    plan, options = made
    limit = options["batch_size"]
    loads = plan.loads(RATING)
    if limit is None:
        assert plan.n_batches.max() == 1
        assert np.ptp(loads) <= 2
        return
    for rows in batches_of(plan):
        assert (plan.kind[rows] != CHECK).sum() <= limit
    assert np.ptp(loads) <= limit
    if options["repeat_rate"] == 0:
        assert np.ptp(plan.n_batches) <= 1


@given(plans())
def test_the_outputs_of_an_item_that_a_worker_rates_stay_in_one_batch(made):
    plan, _ = made
    ratings = plan.kind == RATING
    frame = pd.DataFrame({"worker": plan.worker, "item": plan.item, "batch": plan.batch})[ratings]
    assert (frame.groupby(["worker", "item"])["batch"].nunique() == 1).all()


@given(plans())
def test_repeats_come_at_the_asked_rate_half_a_batch_after_their_first_showing(made):
    plan, options = made
    rate, loads = options["repeat_rate"], plan.loads(RATING)
    expected = np.maximum(np.floor(rate * loads + 0.5), 1) * (rate > 0)
    np.testing.assert_array_equal(plan.loads(REPEAT), np.where(loads > 0, expected, 0))
    assert set(plan_rows(plan, REPEAT).values()) <= {1}
    for rows in batches_of(plan):
        rated = rows[plan.kind[rows] != CHECK]
        output = 2 * plan.item[rated] + plan.system[rated]
        for place in np.flatnonzero(plan.kind[rated] == REPEAT):
            earlier = np.flatnonzero(output[:place] == output[place])
            assert len(earlier) == 1
            assert 2 * (place - earlier[0]) >= len(rated)


@given(plans())
def test_checks_come_at_the_asked_rate_without_an_output_and_never_first(made):
    plan, options = made
    rate, loads = options["check_rate"], plan.loads(RATING)
    expected = np.maximum(np.floor(rate * loads + 0.5), 1) * (rate > 0)
    np.testing.assert_array_equal(plan.loads(CHECK), np.where(loads > 0, expected, 0))
    assert (plan.item[plan.kind == CHECK] == -1).all()
    for rows in batches_of(plan):
        assert plan.kind[rows[0]] != CHECK
    blank = plan.to_frame()[plan.kind == CHECK][["item", "system", "code"]]
    assert (blank == "").all(axis=None)


@given(plans(k_per_item_designs()))
def test_blocked_keeps_outputs_together_and_random_puts_them_half_a_batch_apart(made):
    plan, options = made
    for rows in batches_of(plan):
        if options["order"] == "random":  # among the ratings: repeats are put in between
            rows = rows[plan.kind[rows] == RATING]
        rating = plan.kind[rows] == RATING
        places: dict[int, list[int]] = {}
        for place in np.flatnonzero(rating):
            places.setdefault(int(plan.item[rows[place]]), []).append(int(place))
        for pair in places.values():
            if len(pair) == 2 and options["order"] == "random":
                assert pair[1] - pair[0] == len(rows) // 2
            elif len(pair) == 2:
                assert pair[1] - pair[0] == 1


def test_a_repeat_is_not_next_to_an_output_of_its_item():
    plan = assign(crossed(20, 40), seed=1, repeat_rate=0.05, batch_size=20)
    for rows in batches_of(plan):
        assert all(a != b for a, b in pairwise(plan.item[rows].tolist()))


@given(DESIGNS, SEEDS, ORDERS)
def test_which_system_comes_first_is_balanced_within_worker(design, seed, order):
    first = first_shown(assign(design, seed=seed, order=order))
    assert (first[first.duplicated("worker", keep=False)].groupby("worker")["a"].sum().abs() <= 1).all()


@given(st.integers(2, 9), st.integers(2, 20), SEEDS)
def test_which_system_comes_first_is_balanced_within_item_of_a_crossed_design(workers, items, seed):
    first = first_shown(assign(crossed(workers, items), seed=seed))
    assert first.groupby("worker")["a"].sum().abs().max() <= 1
    assert first.groupby("item")["a"].sum().abs().max() <= 1


@given(k_per_item_designs(), SEEDS)
def test_which_system_comes_first_is_nearly_balanced_within_item_of_any_paired_design(design, seed):
    first = first_shown(assign(design, seed=seed))
    if len(first):
        assert first.groupby("item")["a"].sum().abs().max() <= 3


def test_few_items_miss_their_balance_where_loads_are_real():
    first = first_shown(assign(k_per_item(30, 400, ratings_per_item=4), seed=2))
    missed = first.groupby("item")["a"].sum().abs()
    # Coins would leave 5 in 8 items out of balance.
    assert (missed == 0).mean() > 0.9
    assert missed.max() == 2


@given(st.integers(2, 6), st.integers(2, 12), SEEDS, RATES, ORDERS)
def test_another_worker_changes_nobody_elses_order(workers, items, seed, rate, order):
    options = {"seed": seed, "batch_size": 7, "check_rate": rate, "repeat_rate": rate, "order": order}
    fewer = assign(crossed(workers, items), **options).to_frame()
    more = assign(crossed(workers + 1, items), **options).to_frame()
    pd.testing.assert_frame_equal(more[: len(fewer)], fewer)


@given(tables(), SEEDS)
def test_a_worker_added_to_a_table_changes_nobody_elses_order(table, seed):
    rows = table.assignment
    new = np.arange(table.n_items)
    longer = from_table(
        np.append(rows.worker, np.full(table.n_items, table.n_workers)),
        np.append(rows.item, new),
        np.append(rows.system, new % 2),
    )
    before, after = assign(table, seed=seed), assign(longer, seed=seed)
    for name in ("worker", "batch", "order", "item", "system", "kind"):
        values = getattr(before, name)
        np.testing.assert_array_equal(getattr(after, name)[: len(values)], values)


@given(GENERATED, SEEDS, ORDERS)
def test_replacements_checks_and_repeats_leave_the_order_of_ratings_alone(design, seed, order):
    plain = assign(design, seed=seed, order=order).to_frame()
    rich = assign(
        design, seed=seed, order=order, replacement_slots=4, check_rate=0.3, repeat_rate=0.3
    ).to_frame()
    kept = rich[rich["kind"] == "rating"].drop(columns="order").reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, plain.drop(columns="order"))


@given(plans())
def test_the_same_seed_gives_the_same_bytes(made):
    plan, options = made
    again = assign(plan.design, **options)
    assert again.to_frame().to_csv() == plan.to_frame().to_csv()
    assert again.key().to_csv() == plan.key().to_csv()


def test_another_seed_gives_another_order_and_other_codes():
    one, two = (assign(crossed(3, 20), seed=seed) for seed in (1, 2))
    assert one.item.tolist() != two.item.tolist()
    assert not set(one.codes) & set(two.codes)


def test_the_seed_makes_the_order_alone_and_the_bits_the_codes_alone():
    one, other, later = (
        assign(crossed(3, 20), seed=seed, bits=bits_of(bits)) for seed, bits in ((1, 1), (1, 2), (2, 1))
    )
    shown = ["worker_slot", "batch", "order", "item", "place", "system", "kind"]
    assert one.to_frame()[shown].equals(other.to_frame()[shown])
    assert not set(one.codes) & set(other.codes)
    assert one.codes == later.codes
    assert one.item.tolist() != later.item.tolist()


def test_workers_have_orders_of_their_own():
    plan = assign(crossed(6, 20), seed=1)
    orders = {tuple(plan.item[mine][:20].tolist()) for mine in workers_of(plan)}
    assert len(orders) == 6


def test_batches_of_all_workers_go_through_the_items_together():
    plan = assign(crossed(5, 40), seed=1, batch_size=20)
    for batch in range(1, 5):
        shown = [set(plan.item[mine[plan.batch[mine] == batch]].tolist()) for mine in workers_of(plan)]
        assert len(shown[0]) == 10
        assert all(items == shown[0] for items in shown)
    assert sorted(set(plan.item[plan.batch == 1].tolist())) != list(range(10))


def bits_of(number):
    """128 bits that a test knows."""
    return number.to_bytes(16)


@examples(20)
@given(SEEDS, st.integers(1, 400), st.integers(1, 50))
def test_codes_are_unique_and_stay_when_items_are_added(seed, few, more):
    outputs, bits = (
        [(str(item), system) for item in range(few + more) for system in ("A", "B")],
        bits_of(seed),
    )
    codes = blinding_codes(outputs, bits=bits)
    assert len(set(codes)) == len(outputs)
    assert codes[: 2 * few] == blinding_codes(outputs[: 2 * few], bits=bits)
    assert all(re.fullmatch("[CDFGHJ-NP-TV-XZ][CDFGHJ-NP-TV-XZ2-9]{4}", code) for code in codes)


def test_a_collision_of_codes_is_resolved():
    # With 10 million codes, 20,000 outputs share one about 20 times.
    outputs = [(str(item), system) for item in range(10_000) for system in ("A", "B")]
    assert len(set(blinding_codes(outputs, bits=bits_of(1)))) == 20_000


def test_codes_do_not_depend_on_workers_or_on_the_order_of_items():
    names = [f"text {number}" for number in range(8)]
    options = {"seed": 5, "system_names": ("old", "new"), "bits": bits_of(5)}
    key = assign(crossed(2, 8), item_names=names, **options).key()
    other = assign(crossed(4, 8), item_names=names[::-1], **options).key()
    merged = key.merge(other, on=["item", "system"])
    assert len(merged) == 16
    assert (merged["code_x"] == merged["code_y"]).all()


def test_codes_do_not_betray_the_system():
    key = assign(crossed(2, 2000), seed=3, bits=bits_of(3)).key()
    counts = key.groupby("system")["code"].agg(lambda codes: Counter(code[0] for code in codes))
    # Letters are uniform under both systems: 2000 draws of 19 letters, within 5 standard deviations.
    share = 1 / 19
    band = 5 * np.sqrt(2000 * share * (1 - share))
    for letters in counts:
        assert len(letters) == 19
        assert all(abs(count - 2000 * share) < band for count in letters.values())


def test_the_table_and_the_key_speak_of_the_same_outputs_by_name():
    plan = assign(
        counterbalanced(4, 4), seed=1, system_names=("old", "new"), item_names=["a", "b", "c", "d"]
    )
    table = plan.to_frame()
    assert tuple(table.columns) == ASSIGNMENT_COLUMNS
    assert set(table["item"]) == {"a", "b", "c", "d"}
    joined = table.merge(plan.key(), on="code", suffixes=("", "_of_key"))
    assert len(joined) == len(table)
    assert (joined["item"] == joined["item_of_key"]).all()
    assert (joined["system"] == joined["system_of_key"]).all()


def test_the_key_has_only_outputs_that_are_shown():
    assert len(assign(items_nested(4, 6), seed=1).key()) == 6


def test_a_repeated_design_shows_everything_once_before_it_repeats():
    plan = assign(crossed(3, 6, n_repeats=2), seed=4)
    for mine in workers_of(plan):
        assert plan.kind[mine].tolist() == [RATING] * 12 + [REPEAT] * 12
        output = 2 * plan.item[mine] + plan.system[mine]
        for once in range(12):
            again = np.flatnonzero(output == output[once])[1]
            assert again - once >= 6  # the other system may come first the second time


@given(st.integers(1, 10), st.integers(0, 9), SEEDS)
def test_items_with_one_output_stand_between_those_with_two_without_drawing_them_together(
    n_pairs, n_singles, seed
):
    item = [*np.repeat(np.arange(n_pairs), 2), *range(n_pairs, n_pairs + n_singles)]
    system = [0, 1] * n_pairs + [0] * n_singles
    other = ([1, 1], [0, n_pairs + n_singles], [0, 1])  # a design has two workers and two items
    worker = [0] * len(item)
    plan = assign(
        from_table(worker + other[0], item + other[1], system + other[2]), seed=seed, order="random"
    )
    mine = plan.item[plan.worker == 0]
    for pair in range(n_pairs):
        first, second = np.flatnonzero(mine == pair)
        assert second - first == -(-len(mine) // 2)


@given(SEEDS)
def test_an_output_that_a_table_repeats_comes_early_and_again_at_the_end(seed):
    design = from_table([0] * 11 + [1, 1], [*range(10), 3, 0, 1], [0] * 11 + [0, 1])
    plan = assign(design, seed=seed)
    mine = plan.item[plan.worker == 0]
    assert np.flatnonzero(mine == 3).tolist() == [0, 10]


def test_a_worker_of_a_table_may_have_no_work():
    plan = assign(from_table([0, 2, 2], [0, 1, 0], [0, 1, 1]), seed=1, check_rate=0.1, repeat_rate=0.1)
    assert plan.loads().tolist() == [3, 0, 4]
    assert plan.n_batches.tolist() == [1, 0, 1]


def test_a_spare_slot_copies_the_work_of_the_slot_it_takes_over():
    plan = assign(
        k_per_item(6, 30, ratings_per_item=3), seed=1, batch_size=10, check_rate=0.1, replacement_slots=2
    )
    table = plan.to_frame()
    assert plan.replacements == ("r01", "r02")
    assert set(table["worker_slot"]) == {"w01", "w02", "w03", "w04", "w05", "w06"}
    taken = replacement_table(plan, "r02", "w04")
    assert (taken["worker_slot"] == "r02").all()
    assert (taken["replaces"] == "w04").all()
    columns = list(ASSIGNMENT_COLUMNS[1:])
    work = table[table["worker_slot"] == "w04"].reset_index(drop=True)
    pd.testing.assert_frame_equal(taken[columns], work[columns])
    rest = replacement_table(plan, "r01", "w04", first_batch=2)
    pd.testing.assert_frame_equal(rest[columns], work[work["batch"] >= 2][columns].reset_index(drop=True))


@pytest.mark.parametrize(
    ("spare", "slot", "batch", "expected"),
    [
        ("r03", "w01", 1, "'r03' is no replacement slot; the plan has r01, r02 (replacement_slots)."),
        ("r01", "w99", 1, "'w99' is no worker slot; the plan has w01 to w03."),
        ("r01", "w01", 3, "Slot w01 has the batches 1 to 2; got 3."),
        ("r01", "w01", 0, "Slot w01 has the batches 1 to 2; got 0."),
    ],
)
def test_a_replacement_that_cannot_be_is_refused(spare, slot, batch, expected):
    plan = assign(crossed(3, 4), seed=1, batch_size=4, replacement_slots=2)
    with pytest.raises(DesignError, match=re.escape(expected)):
        replacement_table(plan, spare, slot, first_batch=batch)


def test_a_plan_without_replacements_says_so():
    with pytest.raises(DesignError, match="the plan has none"):
        replacement_table(assign(crossed(3, 4), seed=1), "r01", "w01")


@given(plans())
def test_the_limit_counts_repeats_and_checks(made):
    plan, options = made
    heaviest = int(plan.loads().max())
    within = assign(plan.design, **options, max_ratings_per_worker=heaviest)
    np.testing.assert_array_equal(within.item, plan.item)
    with pytest.raises(DesignError, match=f"would be shown {heaviest} texts and checks"):
        assign(plan.design, **options, max_ratings_per_worker=heaviest - 1)


@each_case(
    ("options", "expected"),
    [
        ({"seed": -1}, "seed must be a whole number of at least 0; got -1."),
        ({"batch_size": 0}, "batch_size must be a whole number of at least 1; got 0."),
        ({"replacement_slots": -1}, "replacement_slots must be a whole number of at least 0; got -1."),
        ({"check_rate": 0.5}, "check_rate must be a share of the ratings from 0 to 0.3; got 0.5."),
        (
            {"repeat_rate": float("nan")},
            "repeat_rate must be a share of the ratings from 0 to 0.3; got nan.",
        ),
        ({"order": "sorted"}, "order must be one of random, blocked; got 'sorted'."),
        ({"system_names": ("A", "A")}, "The two systems need two names; got A, A."),
        ({"system_names": ("A", " ")}, "The two systems need two names; got A,  ."),
        ({"item_names": ["a", "b"]}, "The design has 4 items; 2 item names were given."),
        ({"item_names": ["a", "b", " ", "d"]}, "Item name 3 is blank."),
        ({"item_names": ["a", "b", "c", "b"]}, "Item names 2 and 4 are the same: 'b'."),
        (
            {"batch_size": 1},
            "batch_size must be at least 2 here, because the outputs of an item that one worker rates "
            "stay in one batch; got 1.",
        ),
        (
            {"batch_size": 2, "repeat_rate": 0.1},
            "batch_size must be at least 3 here, because the outputs of an item that one worker rates and "
            "a repeat stay in one batch; got 2.",
        ),
        (
            {"max_ratings_per_worker": 9, "check_rate": 0.1, "repeat_rate": 0.2},
            "Slot w01 would be shown 11 texts and checks (ratings: 8, repeats: 2, checks: 1), above the "
            "limit of 9 (max_ratings_per_worker). The ratings leave room for 1 more: lower the rates of "
            "repeats and checks, or give each worker fewer ratings.",
        ),
        (
            {"max_ratings_per_worker": 6},
            "Slot w01 would be shown 8 texts and checks (ratings: 8, repeats: 0, checks: 0), above the limit "
            "of 6 (max_ratings_per_worker). Let fewer workers rate each item (ratings_per_item), or use "
            "fewer items.",
        ),
    ],
)
def test_bad_options_are_refused_with_one_clear_error(options, expected):
    with pytest.raises(DesignError) as refused:
        assign(crossed(3, 4), **{"seed": 1, **options})
    assert str(refused.value) == expected


def test_all_bad_numbers_are_named_at_once():
    with pytest.raises(DesignError) as refused:
        assign(crossed(3, 4), seed=-1, batch_size=0, check_rate=2)
    assert len(refused.value.problems) == 3


def test_a_design_that_repeats_itself_takes_no_repeats():
    with pytest.raises(DesignError, match="repeats ratings itself: leave out repeat_rate"):
        assign(crossed(3, 4, n_repeats=2), seed=1, repeat_rate=0.1)


def test_a_worker_finishes_one_look_before_the_next():
    design = crossed(4, 30)
    looks = np.where(design.assignment.item < 10, 1, 2)
    plan = assign(design, seed=3, batch_size=8, check_rate=0.1, repeat_rate=0.1, looks=looks)
    table = plan.to_frame()
    for _, mine in table.groupby("worker_slot"):
        assert mine["look"].is_monotonic_increasing
        assert mine["order"].tolist() == list(range(1, len(mine) + 1))
        assert (mine.groupby("batch")["look"].nunique() == 1).all()
    rated = table[table["kind"] == "rating"]
    assert sorted(rated[rated["look"] == 1]["item"].unique()) == [f"i{n:02d}" for n in range(1, 11)]
    assert rated.groupby(["worker_slot", "item", "system"]).size().eq(1).all()
    assert len(rated) == design.n_ratings


def test_without_looks_there_is_no_such_column():
    assert "look" not in assign(crossed(3, 4), seed=1).to_frame()
