"""`humeval-power agreement`: do raters agree, would others, and how many does it take?"""

from __future__ import annotations

from dataclasses import replace

from humeval_power.asking.declared import CallStep, Page, Part, chain
from humeval_power.asking.form import Next
from humeval_power.asking.vocabulary import RATINGS, SEED
from humeval_power.comparisons.questions import Subject
from humeval_power.fields import flag, own, real, text
from humeval_power.study import SYSTEM_NAMES

_CONFIDENCE = own(
    real(0, 1, open="both"),
    "Of the intervals.",
    "Confidence",
    slider=(0.8, 0.99),
    step=0.01,
    usual=0.95,
)
_COLUMNS = {name: one for name, one in RATINGS.items() if name != "systems"}
_FILE = own(
    text("FILE"),
    "",
    "Table of ratings",
    page_help="A rating a row: item, worker, rating, and system where there are several. Or a column a rater.",
    needed=True,
)
_RATERS = own(
    replace(SYSTEM_NAMES, metavar="A,B,..."),
    "Columns of the raters, where each has one and a row is an output.",
    "Columns of the raters",
    page_help="Names with commas between, where each rater has a column and a row is an output.",
)
REPORT = chain(
    ("agreement", "report"),
    """How far do raters agree, and how far would other raters?

    FILE has a row for each rating: 'item', 'worker', 'rating' and, where there
    are several, 'system'. Krippendorff's alpha, kappa, Gwet's AC1 and
    intraclass correlations, each for two claims: these raters on other outputs,
    and other raters like them. Intervals for other raters count that raters
    differ; those over outputs alone, which are usual, do not.
    """,
    CallStep(
        "ratings", "hp.agreement.read_rated", {"file": _FILE, "raters": _RATERS, **_COLUMNS}, first="file"
    ),
    CallStep(
        "result",
        "hp.agreement.report",
        {
            "confidence": _CONFIDENCE,
            "compatible": own(
                flag(),
                "Give the F interval of ICC(2,1) that other packages print as well; it holds too seldom with few "
                "raters.",
                "Show the F interval of other packages as well",
                usual=False,
            ),
            "seed": SEED,
        },
    ),
    page=Page(
        "How far raters agree",
        "Krippendorff's alpha, kappa and intraclass correlations: of these raters, and of others like them.",
        (
            Part("The ratings", ("file", "raters", "scale", "criterion", "rejected_rows")),
            Part("The interval", ("confidence", "compatible")),
        ),
        (Next(("check",), "What is in the table, and what is wrong with it?"),),
        journey="ratings",
    ),
)
SUBJECT = Subject(
    "agreement",
    """Do raters agree, and would other raters?

    'report' says it of a table of ratings.
    """,
    (REPORT,),
)
command = SUBJECT.command()
