"""Plans of several systems and criteria: the search, the seal, and the way from the plan to the analysis."""

import datetime
import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import few_fast

import humeval_power as hp
from humeval_power.costs import CostModel, cost_of
from humeval_power.errors import DesignError, InputError
from humeval_power.parameters import preset
from humeval_power.ratings import ratings_from_table
from humeval_power.rules import DEFAULT_RULE, ComparisonFamily
from humeval_power.saying.render.html import as_html
from humeval_power.saying.render.markdown import as_markdown
from humeval_power.scales import RatingScale
from humeval_power.studies.analyze.calls import analyze, analyze_criteria
from humeval_power.studies.analyze.family import family_deviations
from humeval_power.studies.plan.calls import assign_work, make_plan, systems_pilot
from humeval_power.studies.plan.candidates import SearchSpace
from humeval_power.studies.plan.files import amend_plan, parse_plan, read_plan
from humeval_power.studies.plan.plan import ParameterSource, Plan, PredictedPower
from humeval_power.studies.plan.planned_systems import (
    GoalShare,
    PlannedSystems,
    for_systems,
    goal_power,
    scaled,
    systems_of_deviations,
)
from humeval_power.studies.plan.result import plan_document
from humeval_power.studies.plan.sealed_content import plan_to_json
from humeval_power.studies.plan.systems_search import (
    GoalPower,
    cheapest,
    list_rows,
    most_powerful,
    smallest_effect,
)
from humeval_power.studies.power.required import design_of
from humeval_power.study_counts import StudyCounts
from humeval_power.systems import Goal, SystemsParameters

DAY = datetime.date(2026, 1, 2)
COSTS = CostModel(price_per_rating="0.10", cost_per_worker="2")
HOSTILE = ("gpt", "<b>b</b>", "ours, ``x``", "\U0001f600 $5_%")
JOINT = ComparisonFamily(model="joint")


def systems(
    n: int = 4, *, effect: float = 0.2, pattern: str = "one", name: str = "low"
) -> SystemsParameters:
    return SystemsParameters.of_parameters(preset(name), n).with_pattern(pattern, effect)  # type: ignore[arg-type]


def planned_for(**changes: object) -> PlannedSystems:
    fields = {"parameters": systems(), "family": ComparisonFamily(), "goal": "pair", **changes}
    return PlannedSystems(**fields)  # type: ignore[arg-type]


SPACE = SearchSpace(workers=range(3, 9), items=range(10, 61, 10), ratings_per_item=range(1, 9))


def every_design(space: SearchSpace, planned: PlannedSystems) -> list[tuple[int, float, StudyCounts]]:
    """Cost in cents, power and size of each design, one by one: the twin of the search."""
    n_systems = planned.parameters.n_systems
    found = []
    for m, n, k, paired in itertools.product(
        space.workers, space.items, space.ratings_per_item, space.pairings
    ):
        work = n * k * (1 if paired else n_systems)
        rests_on_few = 0 < work - m < 10 and 2 * (work - m) < m  # workers who do a second thing
        if k <= m <= work and not rests_on_few:
            counts = StudyCounts(m, n, k, paired, n_systems=n_systems)
            found.append((int(cost_of(counts, COSTS).total * 100), counts))
    return [(cents, goal_power(planned, counts, DEFAULT_RULE), counts) for cents, counts in found]


@few_fast(
    ("goal", "family", "pattern", "pairings"),
    [
        ("pair", ComparisonFamily(), "one", (True,)),
        ("all", JOINT, "one", (True,)),
        ("first", ComparisonFamily(), "steps", (True, False)),
        ("any", ComparisonFamily(comparisons="baseline", baseline="A"), "extremes", (True,)),
        ("best", ComparisonFamily(model="joint", variances="common", correction="max-t"), "one", (True,)),
    ],
    fast=1,
)
def test_the_search_finds_what_listing_every_design_finds(
    goal: Goal, family: ComparisonFamily, pattern: str, pairings: tuple[bool, ...]
) -> None:
    effect = 0.1 if goal == "first" else 0.25
    planned = planned_for(goal=goal, family=family, parameters=systems(effect=effect, pattern=pattern))
    space = replace(SPACE, pairings=pairings)
    rows = list_rows(space, COSTS, planned=planned, rule=DEFAULT_RULE)
    power = GoalPower({"low": planned}, DEFAULT_RULE)
    everything = every_design(space, planned)
    assert sum(map(len, rows)) == len(everything)
    for target in (0.5, 0.8):
        reaching = [(c, -round(p, 9), counts.n_workers) for c, p, counts in everything if p >= target]
        found = cheapest(rows, power, target=target)
        assert reaching, "a target that nothing reaches tries nothing"
        assert found is not None
        assert (found.cents, -round(found.power, 9), found.counts.n_workers) == min(reaching)
    budget = int(np.median([cents for cents, _, _ in everything]))
    within = [(-round(p, 9), c) for c, p, _ in everything if c <= budget]
    best = most_powerful(rows, power, budget_cents=budget)
    assert best is not None
    assert (-round(best.power, 9), best.cents) == min(within)


def test_a_target_beyond_all_designs_and_a_budget_below_all_find_nothing() -> None:
    planned = planned_for(parameters=systems(effect=0.01))
    rows = list_rows(SPACE, COSTS, planned=planned, rule=DEFAULT_RULE)
    power = GoalPower({"low": planned}, DEFAULT_RULE)
    assert cheapest(rows, power, target=0.9) is None
    assert most_powerful(rows, power, budget_cents=1) is None


def test_the_smallest_effect_has_the_power_asked_for() -> None:
    planned, counts = planned_for(), StudyCounts(8, 60, 8, n_systems=4)
    effect = smallest_effect(planned, counts, 0.8, DEFAULT_RULE)
    again = scaled(planned, effect / planned.parameters.stated_effect)
    assert goal_power(again, counts, DEFAULT_RULE) == pytest.approx(0.8, abs=0.01)


def test_more_criteria_cost_power_unless_each_is_a_family_by_itself() -> None:
    counts = StudyCounts(8, 40, 8, n_systems=4)
    one, three = planned_for(), planned_for(criteria=("a", "b", "c"))
    apart = replace(three, family=ComparisonFamily(over="criterion"))
    assert (one.n_tests, three.n_tests, apart.n_tests) == (6, 18, 6)
    alone = goal_power(one, counts, DEFAULT_RULE)
    assert goal_power(three, counts, DEFAULT_RULE) < alone - 0.02
    assert goal_power(apart, counts, DEFAULT_RULE) == alone


def sealed_plan(**changes: object) -> Plan:
    parameters = replace(systems(), names=HOSTILE)
    other = replace(systems(name="high"), names=HOSTILE)
    many = PlannedSystems(
        parameters,
        ComparisonFamily(comparisons="baseline", baseline=HOSTILE[1], model="joint"),
        "any",
        ("fluency", "adequacy"),
        shares=(GoalShare("first", 0.9, (0.85, 0.94)),),
        others=(("high", other),),
    )
    plan = Plan(
        question="Which is best?",
        systems=HOSTILE,
        effect=parameters.stated_effect,
        parameters=many.pair,
        source=ParameterSource("low"),
        counts=StudyCounts(8, 40, 8, n_systems=4),
        rule=DEFAULT_RULE,
        target_power=0.8,
        predicted=PredictedPower(math.nan, 0.7, (0.65, 0.75), 400),
        seed=3,
        scale=RatingScale(1, 5, points=5),
        many=many,
    )
    plan = replace(plan, **changes)  # type: ignore[arg-type]
    return replace(plan, predicted=replace(plan.predicted, analytic=plan.recomputed_power()))


def test_a_sealed_plan_of_several_systems_comes_back_as_it_was() -> None:
    plan = sealed_plan()
    assert parse_plan(plan_to_json(plan, created=DAY)).plan == plan


def test_the_study_of_a_plan_of_several_systems_has_its_power(tmp_path: Path) -> None:
    path, plan = tmp_path / "plan.json", sealed_plan()
    path.write_text(plan_to_json(plan, created=DAY), encoding="utf-8")
    study = hp.Study.read(str(path)).with_(criteria=None, correct_over=None)
    assert study.systems == HOSTILE
    one = replace(plan.many, criteria=()) if plan.many else None
    assert one is not None
    found = hp.power(study, method="analytic").content()
    assert found["power"] == pytest.approx(goal_power(one, plan.counts, plan.rule), abs=1e-6)


def test_a_plan_of_two_systems_says_nothing_of_several() -> None:
    parameters = preset("low").with_difference(0.1)
    plan = sealed_plan(
        systems=("A", "B"), parameters=parameters, counts=StudyCounts(8, 40, 8), many=None, effect=0.1
    )
    text = plan_to_json(plan, created=DAY)
    assert not {"goal", "comparisons", "correction"} & json.loads(text)["study"].keys()
    assert parse_plan(text).plan == plan


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"goal": "any"', '"goal": "all"'),
        ('"correction": "holm"', '"correction": "none"'),
        ('"fluency"', '"style"'),
        ('"baseline": "<b>b</b>"', '"baseline": "gpt"'),
    ],
)
def test_what_was_decided_of_several_systems_cannot_be_changed_unseen(
    tmp_path: Path, before: str, after: str
) -> None:
    path = tmp_path / "plan.json"
    text = plan_to_json(sealed_plan(), created=DAY)
    head, _, copy = text.rpartition('"sealed"')
    assert before in head
    path.write_text(head.replace(before, after, 1) + '"sealed"' + copy, encoding="utf-8")
    with pytest.raises(InputError, match="changed by hand"):
        read_plan(path)
    plan, _ = amend_plan(path, "a better idea", date=DAY)
    assert plan.predicted.analytic == pytest.approx(plan.recomputed_power(), abs=1e-9)
    assert math.isnan(plan.predicted.simulated)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"criteria": ("a", "a")}, "there twice"),
        ({"family": ComparisonFamily(comparisons="baseline", baseline="Z")}, "no system 'Z'"),
        ({"family": ComparisonFamily(model="joint", correction="max-t"), "criteria": ("a", "b")}, "max-t"),
    ],
)
def test_impossible_families_are_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        planned_for(**changes)


def test_pages_of_a_plan_show_hostile_names_as_text() -> None:
    document = plan_document(sealed_plan(), created=DAY)
    assert "<b>b</b>" not in as_html(document)
    assert "&lt;b&gt;b&lt;/b&gt;" in as_html(document)
    assert "fluency" in as_markdown(document)


def test_a_pilot_of_several_systems_gives_each_its_own_variances() -> None:
    deviations = {"sd_worker": 0.1, "sd_item": 0.2, "sd_residual": 0.3}
    deviations |= {f"sd_{factor}_system of {name}": value for factor in ("worker", "item")
                   for name, value in (("x", 0.1), ("y", 0.2), ("z", 0.3))}  # fmt: skip
    fitted = systems_of_deviations(("x", "y", "z"), (0.5, 0.6, 0.7), deviations)
    assert fitted.sd_worker_system == (0.1, 0.2, 0.3)
    assert for_systems(fitted, ("z", "x")).sd_worker_system == (0.3, 0.1)
    others = for_systems(fitted, ("x", "new"))
    assert others.sd_item_system == pytest.approx((math.sqrt(0.14 / 3),) * 2)
    assert "not the 3 that were fitted" in others.notes[-1]


def collected(plan: Plan, criteria: tuple[str, ...], seed: int = 5) -> pd.DataFrame:
    """Ratings of every criterion with the plan's own assignment, a row each."""
    rng = np.random.default_rng(seed)
    shown = assign_work(plan, seed=1).to_frame()
    shown = shown[shown.kind == "rating"]
    means = dict(zip(plan.systems, plan.means or (), strict=True))
    rows = []
    for criterion in criteria:
        noise = rng.normal(0, 0.15, len(shown))
        by_item = dict(
            zip(shown["item"].unique(), rng.normal(0, 0.1, shown["item"].nunique()), strict=True)
        )
        by_worker = dict(
            zip(shown.worker_slot.unique(), rng.normal(0, 0.1, shown.worker_slot.nunique()), strict=True)
        )
        value = (
            shown.system.map(means) + shown["item"].map(by_item) + shown.worker_slot.map(by_worker) + noise
        )
        table = shown[["worker_slot", "item", "system"]].rename(columns={"worker_slot": "worker"})
        rows.append(table.assign(criterion=criterion, rating=np.clip(np.round(value * 4) + 1, 1, 5)))
    return pd.concat(rows, ignore_index=True)


@pytest.mark.slow
def test_a_plan_is_followed_from_the_search_to_the_analysis_without_a_deviation() -> None:
    criteria = ("fluency", "adequacy")
    named = replace(systems(effect=0.25), names=HOSTILE)
    found = make_plan(
        {"low": named},
        items=[20, 30],
        workers=[6, 8],
        costs=COSTS,
        family=JOINT,
        criteria=criteria,
        created=DAY,
        n_simulations=10,
    )
    plan = parse_plan(found.sealed).plan
    assert plan == found.plan
    assert plan.systems == HOSTILE
    table = collected(plan, criteria).astype(str)
    scale = RatingScale(1, 5, points=5)
    by_name = {
        name: ratings_from_table(
            table[table.criterion == name].drop(columns="criterion"), scale=scale, require_pair=False
        )
        for name in criteria
    }
    assert plan.family is not None
    result = analyze_criteria(
        by_name, lambda ratings: analyze(ratings, plan=plan), family=plan.family, plan=plan
    )
    assert result.deviations == ()
    assert [one.deviations for one in result.results.values()] == [(), ()]
    assert result.tests.n_tests == found.plan.many.n_tests if found.plan.many else False
    first = by_name["fluency"]
    fewer = analyze(
        ratings_from_table(
            table[
                (table.criterion == "fluency") & (table.system != HOSTILE[0]) & (table.worker != "w01")
            ].drop(columns="criterion"),
            scale=scale,
            require_pair=False,
        ),
        plan=plan,
        family=ComparisonFamily(),
    )
    assert fewer.deviations is not None
    what = {one.what for one in fewer.deviations}
    assert {"systems that are missing", "workers", "ratings", "model"} <= what
    assert set(systems_pilot(first).parameters.names) == set(HOSTILE)


def test_deviations_of_a_family_are_named_one_by_one() -> None:
    plan = sealed_plan()
    other = ComparisonFamily(correction="bonferroni", over="criterion")
    said = {one.what: (one.planned, one.actual) for one in family_deviations(plan, other)}
    assert said["comparisons"] == ("every other system with <b>b</b>", "all pairs")
    assert said["correction"] == ("holm", "bonferroni")
    assert set(said) == {"comparisons", "model", "correction", "corrected over"}


def test_a_target_out_of_reach_says_what_would_do() -> None:
    found = make_plan(
        {"low": systems(effect=0.08)}, items=[20], workers=[5], costs=COSTS, created=DAY, n_simulations=5
    )
    assert found.target_missed
    assert any("a difference of" in way for way in found.found.would_do)
    assert "Not met" in as_markdown(found.body())


@pytest.mark.parametrize("workers", [5, 6])
def test_another_rating_that_no_design_could_have_is_worth_nothing_under_criteria_too(workers: int) -> None:
    found = make_plan(
        {"low": systems(2)},
        criteria=("fluency", "adequacy"),
        items=[30],
        workers=[workers],
        ratings_per_item=[2],
        pairing="unpaired",
        costs=COSTS,
        created=DAY,
        n_simulations=5,
    ).found
    one_more = replace(
        found.chosen.counts, ratings_per_item=3
    )  # by three workers of each of the two systems
    if workers == 5:
        assert found.bottleneck.more_ratings is None
        with pytest.raises(DesignError, match="6 different workers"):
            design_of(one_more)
    else:
        gain = goal_power(planned_for(parameters=systems(2), criteria=("a", "b")), one_more, DEFAULT_RULE)
        assert found.bottleneck.more_ratings == pytest.approx(gain - found.bottleneck.power)


def test_of_several_settings_the_plan_is_for_the_first() -> None:
    settings = {name: systems(3, effect=0.4, name=name) for name in ("low", "high")}
    from humeval_power.assumptions import Assumed, Assumptions

    known = Assumptions(tuple(Assumed(name, preset(name)) for name in settings), chosen="nothing was known")
    found = make_plan(
        settings, items=[30, 60], workers=[10, 12], costs=COSTS, created=DAY, n_simulations=5, sources=known
    )
    assert found.plan.source.name == "low"
    assert found.plan.many is not None
    assert [name for name, _ in found.plan.many.others] == ["high"]
    assert {one.name for one in found.found.alone} == {"low", "high"}
