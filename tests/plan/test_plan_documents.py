"""Plans whose items come out of documents: the search, the price, the ceiling, the sealed file."""

import json
from dataclasses import replace
from decimal import Decimal
from functools import partial

import pytest
from cli import run

from humeval_power.costs import CostModel, cost_of, costs_of_counts
from humeval_power.designs import crossed, with_documents
from humeval_power.errors import DesignError, InputError
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE
from humeval_power.studies.plan.candidates import SearchSpace, list_candidates
from humeval_power.studies.power.outlook import bottleneck_words, find_bottleneck, pair_ceilings
from humeval_power.studies.power.required import counts_power
from humeval_power.study_counts import StudyCounts

VALUES = Parameters(
    baseline=0.6,
    effect=0.15,
    sd_worker_intercept=0.1,
    sd_worker_slope=0.05,
    sd_item_intercept=0.1,
    sd_item_slope=0.1,
    sd_residual=0.2,
    sd_document_slope=0.1,
)
TYPED = (
    "sd_worker_intercept=0.1,sd_worker_slope=0.05,sd_item_intercept=0.1,sd_item_slope=0.1,sd_residual=0.2,"
)
TYPED += "sd_document_slope=0.1"
PRICES = CostModel(price_per_rating=Decimal("0.1"), cost_per_document=Decimal("2.5"))
SPACE = SearchSpace(workers=(4, 6), items=(20, 24, 30), ratings_per_item=(2, 4), documents=(4, 5, 6))


def test_every_candidate_is_a_design_of_equal_documents_with_its_own_power_and_price():
    found = list_candidates({"one": VALUES}, SPACE, PRICES)
    seen = {(int(n), int(d)) for n, d in zip(found.items, found.documents, strict=True)}
    assert seen == {(20, 4), (20, 5), (24, 4), (24, 6), (30, 5), (30, 6)}
    for place in range(len(found)):
        counts = found.counts(place)
        assert found.cents[place] == cost_of(counts, PRICES).cents
        assert found.power[0, place] == pytest.approx(counts_power(VALUES, counts), abs=1e-9)


def test_documents_are_paid_once_each():
    counts = StudyCounts(4, 20, 4, n_documents=5)
    cost = cost_of(counts, PRICES)
    assert cost.parts["documents"] == Decimal("12.50")
    assert cost.total == Decimal("16.00") + Decimal("12.50")
    assert cost_of(with_documents(crossed(4, 20), 5), PRICES).total == cost.total
    same = costs_of_counts(PRICES, n_workers=4, n_items=20, ratings_per_item=4, n_documents=[0, 5])
    assert same.tolist() == [1600, 2850]


def test_a_search_that_cannot_be_is_refused():
    with pytest.raises(DesignError, match="how many documents"):
        list_candidates({"one": VALUES}, replace(SPACE, documents=()), PRICES)
    with pytest.raises(InputError, match="in equal shares"):
        list_candidates({"one": VALUES}, replace(SPACE, documents=(7, 9)), PRICES)
    with pytest.raises(InputError, match="at least 2"):
        replace(SPACE, documents=(1, 2))


def test_too_few_documents_are_the_bottleneck():
    weak = VALUES.with_difference(0.06)
    counts = StudyCounts(20, 100, 20, n_documents=10)
    ceilings = pair_ceilings(weak, counts, target=0.8, rule=DEFAULT_RULE)
    held = find_bottleneck(counts, power_of=partial(counts_power, weak), ceilings=ceilings)
    assert held.factor == "documents"
    assert held.more_documents > held.more_workers
    wider = replace(counts, n_items=110, n_documents=11)
    assert held.more_documents == pytest.approx(counts_power(weak, wider) - counts_power(weak, counts))
    said = bottleneck_words(held, counts)
    assert "with 10 of them no number of items and workers takes the power above" in said


def test_the_plan_is_made_sealed_and_followed(tmp_path):
    plan = tmp_path / "plan.json"
    run(
        *("plan", "--values", TYPED, "--effect", 0.15, "--items", "24,30,36", "--documents", "4,6,12"),
        *("--workers", "5:8", "--ratings-per-item", 5, "--cost-per-rating", 0.1),
        *("--cost-per-document", 1, "--simulations", 300, "-o", plan),
    )
    sealed = json.loads(plan.read_text())
    assert sealed["study"]["documents"] in (4, 6, 12)
    assert sealed["study"]["cost_per_document"] == 1
    assert sealed["study"]["values"]["sd_document_slope"] == 0.1
    power = run("power", "--plan", plan, "--method", "analytic")
    assert f"in {sealed['study']['documents']} documents" in " ".join(power.output.split())
    table = run("assign", "--plan", plan, "--format", "csv")
    assert table.stdout.splitlines()[0].split(",")[3] == "document"


def test_the_most_documents_there_are_limit_the_search():
    shown = run(
        *("plan", "--values", TYPED, "--effect", 0.06, "--items", "40", "--max-documents", 8),
        *("--workers", "6,8", "--ratings-per-item", 6, "--cost-per-rating", 0.1, "--simulations", 100),
        code=3,
    )
    text = " ".join(shown.output.split())
    assert "Documents 8" in text
    assert "Documents are what is missing" in text
    assert "documents of 5 items" in text


def test_an_analysis_by_the_plan_has_its_documents(tmp_path):
    plan, table = tmp_path / "plan.json", tmp_path / "ratings.csv"
    run(
        *("plan", "--values", TYPED, "--effect", 0.15, "--items", "24", "--documents", "6"),
        *("--workers", "6", "--ratings-per-item", 6, "--cost-per-rating", 0.1),
        *("--simulations", 100, "-o", plan),
        code=None,
    )
    run(
        *("simulate", "--values", TYPED, "--effect", 0.15, "--workers", 6, "--items", 24),
        *("--documents", 6, "--response", "clipped", "-o", table),
    )
    refused = run("analyze", table, "--plan", plan, "--scale", "0:1", code=2)
    assert "6 documents in its model" in " ".join(refused.output.split())
    followed = run(
        "analyze", table, "--plan", plan, "--scale", "0:1", "--document", "document", "--format", "json"
    )
    assert not [one for one in json.loads(followed.stdout)["deviations"] if one["what"] == "documents"]
