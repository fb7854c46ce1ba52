"""What to enter at Prolific comes from the plan, and what the plan does not say is left blank."""

import csv
import io
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from humeval_power.costs import CostModel
from humeval_power.fees import PlatformFee
from humeval_power.studies.field.uploads import UPLOADERS
from tests.cli import run
from tests.field.form_cases import form_of

FEE = PlatformFee("prolific", share=Decimal("0.428"), confirmed=False)


def written(costs, **how):
    files = UPLOADERS["prolific"].write(replace(form_of(**how), costs=costs))
    rows = list(csv.DictReader(io.StringIO(files["places.csv"])))
    return " ".join(files["prolific.md"].split()), rows


def test_what_nobody_said_is_left_blank():
    said, rows = written(None)
    assert "| Places | 3, one for each worker slot |" in said
    assert "| Estimated time | `____` minutes" in said
    assert "| Reward | `____`" in said
    assert "| Completion code | `____`" in said
    assert [tuple(row.values()) for row in rows] == [
        ("w001", "7", "", "", "1"),
        ("w002", "8", "", "", "1"),
        ("w003", "7", "", "", "1"),
    ]


def test_pay_by_the_hour_gives_minutes_and_rewards_of_all_that_is_shown():
    costs = CostModel(pay_per_hour=Decimal(12), seconds_per_rating=Decimal(50), fee=FEE)
    said, rows = written(costs)
    # 8 outputs of 50 s: 6.67 minutes, at 12 an hour 1.3333; 7 outputs: 5.83 minutes and 1.1667
    assert [(row["minutes"], row["reward"]) for row in rows] == [
        ("6", "1.17"),
        ("7", "1.34"),
        ("6", "1.17"),
    ]
    assert "7 minutes for the 8 outputs of the slot with the most outputs" in said
    assert "| Reward | 1.34 USD, for the slot with the most outputs" in said
    assert "The pay is 12.00 USD an hour" in said
    assert "Rewards 4.02 USD + fee 1.72 USD = 5.74 USD" in said
    # a study for each slot: 1.17 + 1.34 + 1.17 = 3.68, of which 42.8 % are 1.575
    assert "after the rows of places.csv: Rewards 3.68 USD + fee 1.58 USD = 5.26 USD" in said
    assert "The fee of prolific (42.8 %) is not confirmed" in said
    assert "WARNING" not in said


@pytest.mark.parametrize(("currency", "low", "enough"), [("USD", "7.99", "8"), ("GBP", "5.99", "6")])
def test_pay_below_the_least_of_the_platform_is_warned_of(currency, low, enough):
    for pay, warned in ((low, True), (enough, False)):
        costs = CostModel(pay_per_hour=Decimal(pay), seconds_per_rating=Decimal(60), currency=currency)
        said, _ = written(costs, slots=2)
        assert (f"WARNING: {low} {currency} an hour is below Prolific's least" in said) == warned
        remarks = UPLOADERS["prolific"].remarks(replace(form_of(), costs=costs))
        assert bool(remarks) == warned
        assert "6.00 GBP or 8.00 USD an hour" in said


def test_a_price_without_a_time_says_how_long_the_work_may_take():
    said, rows = written(CostModel(price_per_rating=Decimal("0.10")), slots=1)
    # 7 outputs at 0.10 are 0.70; at 8 an hour that is 5.25 minutes
    assert [(row["minutes"], row["reward"]) for row in rows] == [("", "0.70")]
    assert "At this reward the work may take 5 minutes" in said
    assert "costed with the fee of none: Prolific's own is not in it" in said


def test_another_currency_is_not_compared():
    said, _ = written(CostModel(pay_per_hour=Decimal(1), seconds_per_rating=Decimal(60), currency="EUR"))
    assert "the plan is in EUR" in said
    assert "WARNING" not in said


def test_the_title_breaks_no_table():
    said, _ = written(None)
    assert "| Title of the study | A study \\</script> |" in said


def test_a_hit_of_mechanical_turk_is_paid_by_the_plan_too():
    costs = CostModel(price_per_rating=Decimal("0.125"))
    form = replace(form_of(slots=2, batches=2), costs=costs)  # HITs of 4 and of 3 outputs
    said = " ".join(UPLOADERS["mturk"].write(form)["README.md"].split())
    assert "the time for 3 to 4 outputs (by the plan 0.50 USD for 4; all are paid the same)" in " ".join(
        said.split()
    )
    assert "by the plan" not in UPLOADERS["mturk"].write(form_of())["README.md"]


def test_the_prices_of_a_plan_reach_what_is_uploaded(tmp_path):
    pilot = Path(__file__).parents[2] / "data" / "pilot.csv"
    sizes = "--effect 0.4 --items 6 --max-workers 6 --ratings-per-item 1 --scale 1:5"
    prices = "--pay-per-hour 7 --seconds-per-rating 60 --fee prolific"
    run("plan", pilot, *f"{sizes} {prices}".split(), "-o", tmp_path / "plan.json", code=None)
    outputs = tmp_path / "outputs.csv"
    outputs.write_text("item,baseline,new\n" + "".join(f"s{at},a{at},b{at}\n" for at in range(6)))
    told = run(
        *("assign", "--plan", tmp_path / "plan.json", "--outputs", outputs, "--upload", "prolific"),
        *("--key", tmp_path / "key.csv", "-o", tmp_path / "up"),
    )
    warned = "WARNING: 7.00 USD an hour is below Prolific's least"
    assert warned in " ".join(told.stderr.split())
    assert warned in (tmp_path / "up" / "prolific" / "prolific.md").read_text()


def test_plan_and_sheet_name_the_same_total_where_slots_are_uneven(tmp_path):
    # 5 slots of 22 outputs and 2 of 20, at 12 an hour and 50 s: 3.6667 and 3.3333
    design = "--effect 0.1 --scale 1:5 --workers 7 --items 25 --ratings-per-item 3"
    prices = "--pay-per-hour 12 --seconds-per-rating 50 --fee prolific-academic"
    values = "--values sd_worker_slope=0.05,sd_residual=0.2,sd_item_intercept=0.1"
    planned = run(
        "plan",
        *f"{design} {prices} {values} --simulations 100".split(),
        "-o",
        tmp_path / "plan.json",
        code=None,
    )
    outputs = tmp_path / "outputs.csv"
    outputs.write_text("item,A,B\n" + "".join(f"s{at},a{at},b{at}\n" for at in range(25)))
    run(
        *("assign", "--plan", tmp_path / "plan.json", "--outputs", outputs, "--upload", "prolific"),
        *("--key", tmp_path / "key.csv", "-o", tmp_path / "up"),
    )
    sheet = (tmp_path / "up" / "prolific" / "prolific.md").read_text()
    said = " ".join(planned.stdout.split())
    assert "Total cost 33.33 USD" in said  # 150 ratings at 1/6: 25.00, and a third of it
    assert "one study of 7 places at 3.67 USD, for 22 outputs, costs 34.24 USD with the fee" in said
    assert "where the total has 33.33 USD; a study for each slot costs 33.36 USD" in said
    assert "= 34.24 USD, if each place is filled once" in sheet  # 7 x 3.67 = 25.69, and 8.55
    assert "Rewards 25.03 USD + fee 8.33 USD = 33.36 USD" in sheet  # 5 x 3.67 + 2 x 3.34


def test_the_files_name_a_page_of_the_study_and_what_shows_the_texts():
    form = form_of()
    made = {name: UPLOADERS[name].write(form) for name in ("prolific", "html")}
    page = f"{form.slots[0]}.html"
    assert page in made["html"]
    assert f"https://.../{page}?PROLIFIC_PID=" in made["prolific"]["prolific.md"]
    assert f"`{page}?worker=Ann`" in made["html"]["README.md"]
    assert (
        "Make the study itself too, as Rating form (HTML) (`--upload html`)"
        in made["prolific"]["README.md"]
    )
