"""`humeval-power power`: its pictures, what it costs, and the numbers behind both in its record."""

import re

import pytest
from cases import each_case
from cli import run, run_json

from humeval_power.designs import crossed
from humeval_power.parameters import Parameters
from humeval_power.studies.power.result_several import goals_chart, sizes_of, workers_chart
from humeval_power.studies.power.systems_study import SystemsStudy
from humeval_power.systems import GOAL_WORDS, SystemsParameters

STUDY = [
    *("power", "--preset", "high", "--workers", "20", "--items", "100", "--effect", "0.1"),
    *("--method", "analytic"),
]
PRICES = ["--cost-per-rating", "0.12", "--cost-per-worker", "3"]
NAMES = ["workers", "items", "power", "cost", "splits", "variance", "estimates", "winners_curse"]
PARAMETERS = Parameters(
    baseline=0.5,
    effect=0.15,
    sd_worker_intercept=0.15,
    sd_worker_slope=0.15,
    sd_item_intercept=0.15,
    sd_item_slope=0.2,
    sd_residual=0.2,
)


def titles(page: str) -> list[str]:
    return re.findall(r'<figure class="chart"><figcaption><strong>(.*?)</strong>', page)


def test_a_page_answers_eight_questions_and_draws_nothing_by_matplotlib():
    page = run(*STUDY, "--format", "html").stdout
    assert titles(page) == [
        "What would more workers bring?",
        "What would more items bring?",
        "What if the true difference is another?",
        "What does power cost?",
        "Workers or items, for 4,000 ratings?",
        "What holds this design back?",
        "What would be seen if there were no effect?",
        "How far do significant estimates exaggerate?",
    ]
    assert "<img" not in page
    assert len(page) < 70_000


@each_case(
    "more",
    [
        ["--ratings-per-item", "3"],
        ["--ratings-per-item", "3", "--unpaired"],
        ["--documents", "10"],
        ["--alternative", "greater"],
        ["--df", "normal"],
    ],
    ids=str,
)
def test_every_regular_design_has_all_of_them(more):
    assert len(titles(run(*STUDY, *more, "--format", "html").stdout)) == 8


@each_case(
    ("words", "pictures"),
    [
        ("--design counterbalanced --effect 0.1", 3),  # power over the effect, estimates, winner's curse
        ("--effect 0", 2),  # variance and estimates
        ("--effect -0.1", 8),
        ("--alternative equivalent --margin 0.2", 6),
        ("--alternative non-inferior --margin 0.2", 6),
        ("--ratings-per-item 1 --effect 0.1", 8),
        ("--effect 0.9", 8),
        ("--effect 0.0001", 8),
    ],
)
def test_others_have_what_there_is(words, pictures):
    known = "power --preset high --workers 20 --items 100 --method analytic --format html"
    assert len(titles(run(*known.split(), *words.split()).stdout)) == pictures


@each_case(
    ("size", "pictures"),
    [
        (("2", "2"), 7),  # eight ratings cannot be split in another way
        (("2", "5000"), 8),
        (("3000", "2"), 8),
        (("3000", "4000"), 8),
    ],
)
def test_the_smallest_and_the_largest_studies_are_drawn(size, pictures):
    words = ["power", "--preset", "low", "--effect", "0.1", "--method", "analytic", "--format", "html"]
    page = run(*words, "--workers", size[0], "--items", size[1]).stdout
    assert len(titles(page)) == pictures
    assert not any("nan" in path or "inf" in path for path in re.findall(r' d="[^"]*"', page))


def test_the_terminal_says_what_it_costs_and_leaves_the_pictures_out():
    said = " ".join(run(*STUDY, *PRICES, "--budget", "600").stdout.split())
    assert "Cost 540.00 USD" in said
    assert "Budget 600.00 USD: 60.00 USD of it left" in said
    assert re.search(
        r"Same sum \d+ workers and \d+ items would have power 0\.4\d\d for 59\d\.\d\d USD", said
    )
    assert "500.00 USD: 40.00 USD too little" in run(*STUDY, *PRICES, "--budget", "500").stdout
    plain = run(*STUDY).stdout
    assert "Cost" not in plain
    assert "What" not in plain
    small = " ".join(run(*STUDY, "--budget", "3000").stdout.split())
    assert "Budget 3,000 ratings: 1,000 ratings too little" in small


def test_the_record_has_the_numbers_of_the_pictures():
    found = run_json(*STUDY, *PRICES, "--budget", "600")
    outlook = found["outlook"]
    workers = outlook["workers"]
    assert workers["power"][workers["sizes"].index(20)] == pytest.approx(found["power"])
    assert outlook["costs"]["cost"] == "540.00"
    assert outlook["costs"]["cost_parts"]["workers"] == "60.00"
    assert outlook["costs"]["budget"] == 600
    assert max(outlook["costs"]["splits"]["cost"]) <= 600
    assert sum(outlook["variance"].values()) == pytest.approx(found["analytic"]["standard_error"] ** 2)
    assert set(outlook) == {
        *("target_power", "workers", "items", "effects", "variance", "more", "costs", "estimates"),
        "winners_curse",
    }


def test_the_simulated_power_stands_in_the_pictures_with_its_interval():
    page = run(*STUDY[:-2], "--simulations", "200", "--format", "html").stdout
    assert (
        len(re.findall(r">simulated: \d+ \(\d+ to \d+\)", page)) == 4
    )  # over workers, items, effects and costs
    assert ">simulated: 1." in page  # type M


def test_prices_need_that_of_a_rating():
    assert (
        "--cost-per-worker needs the price of a rating"
        in run(*STUDY, "--cost-per-worker", "3", code=2).stderr
    )
    assert "--budget" in run(*STUDY, "--budget", "much", code=2).stderr
    assert "must be above 0" in run(*STUDY, "--budget", "0", code=2).stderr
    timed = run(*STUDY, "--pay-per-hour", "15", "--seconds-column", "s", code=2)
    assert "needs a PILOT" in timed.stderr


def test_a_file_is_the_picture_that_bears_its_name(tmp_path):
    run(*STUDY, "-o", tmp_path / "splits.svg")
    assert "Workers or items" in (tmp_path / "splits.svg").read_text(encoding="utf-8")
    run(*STUDY, "-o", tmp_path / "power.png")
    refused = run(*STUDY, "-o", tmp_path / "else.png", code=2).stderr
    assert all(name in refused for name in NAMES)
    assert not (tmp_path / "else.png").exists()


def test_mde_shows_what_else_the_study_finds():
    known = ["mde", "--preset", "high", "--workers", "20", "--items", "100", "--method", "analytic"]
    page = run(*known, "--format", "html").stdout
    assert titles(page) == ["What does this study find?"]
    assert ">by formula 0.16" in page
    assert "<img" not in page


def test_several_systems_have_their_goals_and_workers_drawn():
    words = ["power", "--preset", "high", "--workers", "12", "--items", "40", "--effect", "0.15"]
    page = run(*words, "--n-systems", "4", "--method", "analytic", "--format", "html").stdout
    assert titles(page) == [
        "What if the systems differ by more, or less?",
        "What would more workers bring?",
    ]
    assert all(f">{name}<" in page for name, *_ in GOAL_WORDS.values())
    assert "<img" not in page


def test_curves_of_several_systems_come_close_to_the_formula():
    parameters = SystemsParameters.of_parameters(PARAMETERS, 4, (0.15, 0.0, 0.0, 0.0))
    study = SystemsStudy(parameters, crossed(12, 40, n_systems=4))
    found = study.by_formula()
    chart = workers_chart(study, sizes_of(study), found, None)
    (line,) = chart.series
    assert line.y[line.x.index(12)] == pytest.approx(found.power, abs=0.02)
    assert line.y[0] < found.power < line.y[-1]
    goals = {each.name: each for each in goals_chart(study, found).series}
    for goal, share in found.shares.items():
        line = goals[GOAL_WORDS[goal].name]
        assert line.y[line.x.index(pytest.approx(study.effect))] == pytest.approx(share, abs=0.03)


def test_several_systems_have_their_price_and_budget():
    words = ["power", "--preset", "high", "--workers", "12", "--items", "40", "--effect", "0.15"]
    known = [*words, "--n-systems", "4", "--method", "analytic"]
    said = run(*known, *PRICES, "--budget", "300").stdout
    assert "266.40 USD" in said  # 1,920 ratings and 12 workers
    assert "300.00 USD: 33.60 USD of it left" in said
    assert run_json(*known, *PRICES)["costs"]["cost"] == "266.40"
    assert "costs" not in run_json(*known)
