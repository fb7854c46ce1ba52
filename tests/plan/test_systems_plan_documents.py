"""Plans of several systems whose items come out of documents, and that lose ratings."""

import datetime
import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli import run

from humeval_power.costs import CostModel, cost_of
from humeval_power.designs import crossed, with_documents
from humeval_power.errors import InputError
from humeval_power.parameters import Parameters
from humeval_power.ratings import ratings_from_table
from humeval_power.rules import DEFAULT_RULE, ComparisonFamily
from humeval_power.saying.render.markdown import as_markdown
from humeval_power.simulation.rehearsal import draw_system_ratings
from humeval_power.simulation.study import Losses
from humeval_power.studies.analyze.calls import analyze
from humeval_power.studies.plan.calls import make_plan, systems_pilot
from humeval_power.studies.plan.candidates import SearchSpace
from humeval_power.studies.plan.files import parse_plan
from humeval_power.studies.plan.planned_systems import (
    PlannedSystems,
    WorkersOut,
    for_systems,
    goal_power,
    systems_of_pairs,
)
from humeval_power.studies.plan.result import plan_document
from humeval_power.studies.plan.systems_search import GoalPower, cheapest, list_rows
from humeval_power.studies.power.calls import study_size
from humeval_power.studies.power.systems_study import SystemsStudy
from humeval_power.study_counts import Documents, StudyCounts
from humeval_power.systems import SystemsParameters

COSTS = CostModel(price_per_rating="0.10", cost_per_worker="2", cost_per_document="1")
TWO = Parameters(
    baseline=0.5,
    effect=0.0,
    sd_worker_intercept=0.06,
    sd_worker_slope=0.08,
    sd_item_intercept=0.08,
    sd_item_slope=0.08,
    sd_residual=0.15,
    sd_document_intercept=0.06,
    sd_document_slope=0.08,
)


def systems(n: int = 3, effect: float = 0.2) -> SystemsParameters:
    return SystemsParameters.of_parameters(TWO, n).with_pattern("one", effect)


def planned() -> PlannedSystems:
    return PlannedSystems(systems(), ComparisonFamily(), "pair")


@pytest.mark.slow
def test_the_search_finds_what_listing_every_design_finds() -> None:
    space = SearchSpace(
        workers=range(4, 8), items=(12, 24, 36), ratings_per_item=range(1, 8), documents=(4, 6, 12)
    )
    everything = []
    for m, n, d, k in itertools.product(
        space.workers, space.items, space.documents, space.ratings_per_item
    ):
        rests_on_few = 0 < n * k - m < 10 and 2 * (n * k - m) < m
        if k <= m and n % d == 0 and not rests_on_few:
            counts = StudyCounts(m, n, k, n_documents=d, n_systems=3)
            cents = int(cost_of(counts, COSTS).total * 100)
            everything.append((cents, -round(goal_power(planned(), counts, DEFAULT_RULE), 9), m))
    rows = list_rows(space, COSTS, planned=planned(), rule=DEFAULT_RULE)
    assert sum(map(len, rows)) == len(everything)
    found = cheapest(rows, GoalPower({"low": planned()}, DEFAULT_RULE), target=0.7)
    assert found is not None
    assert (found.cents, -round(found.power, 9), found.counts.n_workers) == min(
        one for one in everything if -one[1] >= 0.7
    )


def test_a_plan_with_documents_is_sealed_and_says_what_holds_it_back() -> None:
    found = make_plan(
        {"typed": systems()},
        items=(24, 48),
        workers=(8,),
        ratings_per_item=(8,),
        documents=(6, 12),
        costs=COSTS,
        n_simulations=200,
        created=datetime.date(2026, 1, 2),
    )
    assert found.plan.counts.n_documents in (6, 12)
    assert found.found.bottleneck.more_documents is not None
    again = parse_plan(found.sealed).plan
    assert again.counts == found.plan.counts
    assert again.many is not None
    assert again.many.parameters == systems()
    text = as_markdown(plan_document(found.plan, created=found.created))
    assert "documents" in text
    assert "SD between documents" in text
    with pytest.raises(InputError, match="documents in its model"):
        analyze(table(of=12, documents=False), plan=found.plan)


def table(*, of: int, documents: bool = True, seed: int = 1, n_workers: int = 6):
    """Ratings of three systems, with or without the column of their documents."""
    design = with_documents(crossed(n_workers, 4 * of, n_systems=3), of)
    rows = design.assignment
    values = draw_system_ratings(systems(), design, np.random.default_rng(seed))[0]
    frame = pd.DataFrame(
        {
            "worker": [f"w{code}" for code in rows.worker],
            "item": [f"i{code:03d}" for code in rows.item],
            "system": np.array(["A", "B", "C"])[rows.system],
            "rating": values,
            "document": [f"d{code:02d}" for code in rows.document],
        }
    )
    return ratings_from_table(
        frame, scale="-5:5", document="document" if documents else None, require_pair=False
    )


def test_variances_of_pairs_are_put_together_to_those_that_made_them() -> None:
    own = {"worker": (0.1, 0.2, 0.0), "item": (0.05, 0.1, 0.15), "document": (0.2, 0.0, 0.1)}
    truth = SystemsParameters(
        ("x", "y", "z"), (0.4, 0.5, 0.6), 0.1, own["worker"], 0.2, own["item"], 0.3,
        sd_document=0.1, sd_document_system=own["document"],
    )  # fmt: skip
    pairs = {pair: truth.pair(*pair) for pair in ((0, 1), (0, 2), (1, 2))}
    found, boundary = systems_of_pairs(truth.names, truth.means, pairs, variances="own")
    for factor in own:
        assert getattr(found, f"sd_{factor}") == pytest.approx(getattr(truth, f"sd_{factor}"), abs=1e-9)
        assert getattr(found, f"sd_{factor}_system") == pytest.approx(own[factor], abs=1e-7)
    assert found.sd_residual == pytest.approx(0.3)
    assert {"sd_worker_system of z", "sd_document_system of y"} >= set(boundary)
    assert SystemsParameters.from_dict(found.as_dict()) == found
    assert for_systems(found, ("z", "x")).sd_document_system == pytest.approx((0.1, 0.2), abs=1e-7)
    common, _ = systems_of_pairs(truth.names, truth.means, pairs, variances="common")
    assert len(set(common.sd_document_system)) == 1


def test_a_pilot_with_documents_knows_how_documents_vary() -> None:
    found = systems_pilot(table(of=40, n_workers=12), variances="common").parameters
    scaled = 1 / 10  # of ratings on a scale of width 10
    # 40 documents: a variance is known to a quarter or so
    assert found.sd_document_system[0] == pytest.approx(scaled * 0.08 / np.sqrt(2), rel=0.35)
    assert found.sd_residual == pytest.approx(scaled * 0.15, rel=0.1)


def test_documents_are_sought_of_so_many_items_each_or_of_all() -> None:
    study = SystemsStudy(systems(), with_documents(crossed(2, 4, n_systems=3), 2))
    each = Documents(items_each=4)
    by_each = study_size(
        study, "documents", workers=8, documents=each, power=0.7, method="analytic"
    ).found.counts
    assert by_each is not None
    assert by_each.n_items == 4 * by_each.n_documents
    fewer = replace(by_each, n_documents=by_each.n_documents - 1, n_items=by_each.n_items - 4)
    assert goal_power(planned(), by_each, DEFAULT_RULE) >= 0.7 > goal_power(planned(), fewer, DEFAULT_RULE)
    shared = study_size(study, "documents", workers=8, items=80, power=0.5, method="analytic")
    assert shared.found.counts is not None
    assert shared.found.counts.n_items == 80


def test_a_design_is_judged_by_what_losses_leave_of_it() -> None:
    counts = StudyCounts(10, 48, 4, n_documents=12, n_systems=3)
    whole = GoalPower({"low": planned()}, DEFAULT_RULE)
    nothing = GoalPower({"low": planned()}, DEFAULT_RULE, losses=Losses(missing=1e-15))
    # over Sobol points a power moves by steps where rounding moves the means
    assert nothing.exact(counts) == pytest.approx(whole.exact(counts), abs=0.002)
    quarter = GoalPower({"low": planned()}, DEFAULT_RULE, losses=Losses(missing=0.25))
    fewer = replace(counts, ratings_per_item=3)
    assert quarter.exact(counts) == pytest.approx(whole.exact(fewer), abs=0.002)
    careless = GoalPower({"low": planned()}, DEFAULT_RULE, losses=Losses(at_random=0.2))
    out = GoalPower(
        {"low": planned()}, DEFAULT_RULE, losses=Losses(at_random=0.2), out=WorkersOut(0.0, 1.0)
    )
    assert careless.exact(counts) < out.exact(counts) < whole.exact(counts)


def test_a_plan_with_losses_is_proved_by_studies_that_lose_as_much() -> None:
    how = {"items": (48,), "workers": (8,), "ratings_per_item": (8,), "costs": COSTS, "n_simulations": 60}
    alone = replace(systems(), sd_document=0.0, sd_document_system=())
    whole = make_plan({"typed": alone}, **how)
    lossy = make_plan({"typed": alone}, **how, losses=Losses(at_random=0.5))
    assert lossy.plan.predicted.simulated < whole.plan.predicted.simulated
    assert lossy.plan.predicted.analytic == whole.plan.predicted.analytic


STUDY = """schema = "humeval_power/study/1"
plan = "plan"
assignment = ["field/assignment.csv"]
key = "key.csv"
ratings = "ratings.csv"
rehearsal = "rehearsal.csv"
findings = "analysis"
scale = "1:5"
systems = ["base", "new", "other"]
criteria = ["fluency", "adequacy"]
effect_raw = 1.2
items_range = "24"
workers_range = "8"
ratings_per_item_range = "8"
documents_range = "6,12"
cost_per_rating = 0.1
[variation.values]
baseline = 0.5
effect = 0.0
sd_worker_intercept = 0.06
sd_worker_slope = 0.08
sd_item_intercept = 0.08
sd_item_slope = 0.08
sd_residual = 0.15
sd_document_intercept = 0.06
sd_document_slope = 0.08
"""


@pytest.mark.slow
def test_a_study_file_leads_from_the_plan_to_the_report_without_an_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY, encoding="utf-8")
    for command in ("plan", "assign", "simulate", "analyze", "report"):
        run(command)
    assert "documents = " in Path("study.toml").read_text(encoding="utf-8")
    plan = json.loads(Path("plan/plan.json").read_text(encoding="utf-8"))["study"]
    assert plan["documents"] in (6, 12)
    assert f'"documents": {plan["documents"]}' in Path("analysis/record.json").read_text(encoding="utf-8")
