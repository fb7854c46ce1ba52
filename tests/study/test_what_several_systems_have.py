"""What a study of two systems can ask, three and eight can too, or are told why not."""

from typing import NamedTuple

import pytest
from cases import each_case
from cli import refusal_of, run_json

QUICK = "--seed 3 --simulations 20 -q"
DOCUMENTS = "--values sd_worker_slope=.05,sd_item_slope=.1,sd_document_slope=.1,sd_residual=.2"
POWER = f"power --preset low --workers 8 --items 16 {QUICK}"
PLAN = f"plan --preset low --items 40:60:20 --max-workers 8 --cost-per-rating 0.1 --date 2026-01-01 {QUICK}"
LOOKS = f"looks study --preset low --workers 12 --items 16 {QUICK} --calibrate never"


class Asked(NamedTuple):
    """A command line, and why it is refused where there are more than two systems, or where there are two."""

    words: str
    of_two: str = ""
    of_more: str = ""


ASKED = (
    Asked(f"power --workers 8 --items 16 --effect .2 {DOCUMENTS} --documents 4 --method analytic"),
    Asked(f"{POWER} --effect .2 --lost .1 --quitting .1 --careless .1 --exclusion careless"),
    Asked(f"{POWER} --alternative equivalent --margin .1"),
    Asked(f"{POWER} --alternative non-inferior --margin .1"),
    Asked(f"{POWER} --alternative greater --effect .2"),
    Asked(f"{POWER} --effect .2 --half-width .2"),
    Asked(f"{POWER} --effect .2 --cost-per-rating .1 --budget 300"),
    Asked(f"{POWER} --effect .2 --df bootstrap", "would take hours", "one for each comparison"),
    Asked(f"{POWER} --effect .2 --design workers-nested", "", "one half for each of two systems"),
    Asked(f"{POWER} --effect .2 --compat card2020", "", "is of two systems"),
    Asked(
        f"mde --preset low --workers 8 --items 16 --alternative equivalent {QUICK}",
        "",
        "depends on the margin",
    ),
    Asked(
        "size --preset low --items 16 --find workers --alternative equivalent --margin .3 --method analytic"
    ),
    Asked(f"surface --preset low --workers 4 --items 16 --alternative equivalent --margin .2 {QUICK}"),
    Asked(f"more calibrate --preset low --workers 4 --items 8 {QUICK}"),
    Asked(f"more calibrate --preset low --workers 4 --items 8 --p .03 {QUICK}", "", "judged for one test"),
    Asked(
        f"more calibrate --preset low --workers 4 --items 8 --alternative equivalent --margin .1 {QUICK}",
        *("", "at the margin of each other"),
    ),
    Asked(f"{LOOKS} --effect .2 --looks 2 --alternative greater"),
    Asked(f"{LOOKS} --effect .2 --looks 2 --futility p:0.5"),
    Asked(f"{LOOKS} --effect .2 --looks 2 --futility p:0.5:binding", "", "cannot bind among several"),
    Asked(f"{LOOKS} --effect .2 --looks 2 --drop-systems", "of two, one look ends", "always calibrated"),
    Asked(f"{PLAN} --effect .2 --looks 2 --drop-systems", "of two, one look ends"),
    Asked(f"{PLAN} --effect .2 --looks 2 --stop-when decision", "", "one interval, of one difference"),
    Asked(f"{PLAN} --effect .2 --assurance .8", "--assurance", "by its mean squares"),
)


@pytest.mark.parametrize("n_systems", [2, 3, pytest.param(8, marks=pytest.mark.slow)])
@each_case("asked", ASKED)
def test_what_two_systems_can_ask_more_can_too_or_are_told_why_not(asked, n_systems):
    words = (*asked.words.split(), "--no-study", "--n-systems", n_systems)
    refused = asked.of_two if n_systems == 2 else asked.of_more
    if refused:
        assert refused in refusal_of(*words)
    else:
        assert run_json(*words)["schema"].startswith("humeval_power/")
