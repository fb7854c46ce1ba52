"""`humeval-power agreement`: do raters agree, would others, and how many does it take?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from humeval_power.asking.calls import TypedValues
from humeval_power.asking.declared import Calls, CallStep, Declaration, Page, Part, chain, plain
from humeval_power.asking.expressions import call
from humeval_power.asking.form import Next
from humeval_power.asking.study_values import StudyValues
from humeval_power.asking.vocabulary import CONFIDENCE, HALF_WIDTH_HELP, RATINGS, SEED
from humeval_power.choices import MOST_OUTPUTS, MOST_RATERS, PLANNED_OUTPUTS, PLANNED_RATERS, PlannedMeasure
from humeval_power.comparisons.questions import Subject
from humeval_power.errors import InputError
from humeval_power.fields import MONEY, flag, listed, number_list, own, real, text, whole, word
from humeval_power.studies.resolve import (
    assumptions_of,
    effect_of,
    only_setting,
    source_needed_but_no_pilot,
)
from humeval_power.study import FIELDS, SYSTEM_NAMES

_COLUMNS = {name: one for name, one in RATINGS.items() if name != "systems"}
_RATINGS = own(
    text("RATINGS"),
    "",
    "Table of ratings",
    page_help="A rating a row: item, worker, rating, and system where there are several. Or a column a rater.",
    needed=True,
)
_RATERS = own(
    replace(SYSTEM_NAMES, metavar="A,B,..."),
    "Columns of the raters, where each has one and a row is an output.",
    "Columns of the raters",
    option="rater-columns",
    page_help="Names with commas between, where each rater has a column and a row is an output.",
)
REPORT = chain(
    ("agreement", "report"),
    """How far do raters agree, and how far would other raters?

    RATINGS has a row for each rating: 'item', 'worker', 'rating' and, where there
    are several, 'system'. Krippendorff's alpha, kappa, Gwet's AC1 and
    intraclass correlations, each for two claims: these raters on other outputs,
    and other raters like them. Intervals for other raters count that raters
    differ; those over outputs alone, which are usual, do not.
    """,
    CallStep(
        "ratings",
        "hp.agreement.read_rated",
        {"ratings": _RATINGS, "raters": _RATERS, **_COLUMNS},
        first="ratings",
    ),
    CallStep(
        "result",
        "hp.agreement.report",
        {
            "confidence": CONFIDENCE,
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
            Part("The ratings", ("ratings", "raters", "scale", "criterion", "rejected_rows")),
            Part("The interval", ("confidence", "compatible")),
        ),
        (Next(("check",), "What is in the table, and what is wrong with it?"),),
        journey="ratings",
    ),
)


def _plan(given: TypedValues, calls: Calls) -> None:
    if given["ratings"] is not None:
        if given["agreement"] is not None or given["rater_share"] is not None:
            raise InputError("Give a pilot, or --expected-agreement and --rater-share, not both.")
        named = {name: plain(given.given(name)) for name in ("rater_columns", *_COLUMNS)}
        named["raters"] = named.pop("rater_columns")
        if given["ratings"] == "-":
            calls.no_program("standard input is read once")
        ratings = calls.let("ratings", call("hp.agreement.read_rated", given["ratings"], **named))
        known: Any = calls.let("known", call("hp.agreement.pilot_reliability", ratings))
    elif given["agreement"] is None:
        raise InputError("Give --expected-agreement, what you expect, or a pilot with ratings.")
    else:
        given.refuse(("rater_columns", *_COLUMNS), "there is no table to read.")
        known = given["agreement"]
    options = {name: plain(given.given(name)) for name in (*_PLANNED, *_PRICES, "confidence", "seed")}
    calls.let("result", call("hp.agreement.plan", known, rater_share=given.given("rater_share"), **options))


_SIZES = listed(number_list(int, least=2, most=1_000_000), "LIST")
_PLANNED = {
    "measure": own(
        word(PlannedMeasure),
        "What agreement is measured by: alpha or ICC(2,1) of points or sliders; of categories kappa, Gwet's AC1 or "
        "nominal alpha.",
        "Measure",
        usual="alpha",
        words={
            "alpha": "Alpha, of points or a slider",
            "kappa": "Kappa, of categories",
            "ac1": "Gwet's AC1, of categories",
            "alpha-nominal": "Nominal alpha, of categories",
        },
    ),
    "shares": own(
        listed(number_list(float, least=0, most=1, repeats=True), "LIST"),
        FIELDS["shares"].help,
        "Shares of the categories",
        page_help="Of kappa, AC1 and nominal alpha: 0.7,0.3.",
        note=", which kappa, AC1 and nominal alpha need: 0.7,0.3.",
    ),
    "half_width": own(
        real(0, 0.5, open="both"),
        HALF_WIDTH_HELP,
        "Agreement to within",
        slider=(0.02, 0.3),
        step=0.01,
        start="0.1",
        usual=0.1,
        note="that is to be reached.",
    ),
    "assurance": own(
        real(0, 1, open="both"),
        FIELDS["assurance"].help,
        "In this share of studies",
        page_help="Empty: on average.",
        note=", as the share of studies whose interval is so narrow. [on average]",
    ),
    "raters": own(
        listed(number_list(int, least=2, most=MOST_RATERS), "LIST"),
        "Numbers of raters to look at.",
        "Raters",
        option="rater-counts",
        page_help="Several: 3,5,10 or 3:20:1.",
        usual=PLANNED_RATERS,
    ),
    "outputs": own(
        _SIZES,
        "Numbers of outputs in the table of widths.",
        "Outputs",
        page_help="Several: 30,100,300.",
        usual=PLANNED_OUTPUTS,
        option="output-counts",
    ),
    "ratings_per_output": own(
        whole(2, 1_000),
        "Ratings of each output. [one by every rater]",
        "Ratings of an output",
        page_help="Empty: every rater rates every output.",
    ),
    "max_outputs": own(whole(10, 1_000_000), "Most outputs to try.", "Most outputs", usual=MOST_OUTPUTS),
}
_PRICES = {
    "cost_per_rating": own(MONEY, FIELDS["cost_per_rating"].help, "Price of a rating", note="[1]"),
    "cost_per_rater": own(MONEY, "Price of a rater, such as training. [0]", "Price of a rater"),
    "cost_per_output": own(MONEY, FIELDS["cost_per_output"].help, "Price of an output", note="[0]"),
}
PLAN = Declaration(
    ("agreement", "plan"),
    """How many raters and outputs does it take to know agreement?

    RATINGS is a table of ratings as 'agreement report' reads it; without one say
    what you expect. With few raters no number of outputs will do: how raters
    differ is then not known. Tables of sizes that treat raters as given promise
    widths that a claim about other raters does not have.
    """,
    {
        "ratings": replace(_RATINGS, needed=False, label="Ratings of a pilot", kind=text("[RATINGS]")),
        "agreement": own(
            real(0, 1, open="both"),
            "Agreement that you expect, in the measure.",
            "Agreement that you expect",
            option="expected-agreement",
            slider=(0.05, 0.95),
            step=0.05,
            start="0.5",
        ),
        "rater_share": own(
            real(0, 1, open="high"),
            "Share of the variance of a rating that is strict and lenient raters. [0.1]",
            "Share of raters' levels in the variance",
            slider=(0, 0.5),
            step=0.01,
            page_help="How much of the variance of ratings is strict and lenient raters. [0.1]",
        ),
        **_PLANNED,
        **_PRICES,
        "confidence": CONFIDENCE,
        "rater_columns": replace(_RATERS, further=True),
        **{name: replace(one, further=True) for name, one in _COLUMNS.items()},
        "seed": SEED,
    },
    _plan,
    Page(
        "Raters and outputs for a known agreement",
        "How many raters and outputs does it take to know how far raters agree?",
        (
            Part(
                "What you expect",
                ("measure", "agreement", "shares", "rater_share", "ratings"),
                "A pilot says it, or you do.",
            ),
            Part("The width", ("half_width", "assurance", "confidence")),
            Part("What is possible", ("raters", "outputs", "ratings_per_output", "max_outputs")),
            Part("Prices", tuple(_PRICES), folded=True),
        ),
        (Next(("agreement", "report"), "What ratings say", ("ratings",)),),
        journey="plan",
    ),
    arguments=("ratings",),
)


def _study(given: TypedValues, calls: Calls) -> None:
    of = StudyValues.of(given.context)
    effect, assumed = effect_of(of), assumptions_of(of)
    setting, parameters = only_setting(assumed)
    known: Any = parameters
    sizes = {name: given[f"{name}_range"] for name in ("workers", "items")}
    named = ("ratings_per_item", "documents", "sd_systems", "n_systems", "cost_per_rating")
    expression = call(
        "hp.agreement.study",
        known,
        **sizes,
        **{name: given[name] for name in named},
        effect=None if effect is None else effect.one(assumed.scale).value,
        setting=setting,
    )
    calls.let("result", expression)


STUDY = Declaration(
    ("agreement", "study"),
    """How reliably would a study order systems, as it grows?

    Generalisability of a system's mean over raters, items, documents and
    repeated ratings: the share of true differences, the chance that two
    systems are put in the right order, and what more raters or items cannot
    reach. For two given systems name the difference, for many their SD.
    """,
    {
        "preset": replace(FIELDS["preset"], label="Published setting", start="low", words={}),
        **{
            name: FIELDS[name]
            for name in ("parameters", "allow_not_identified", "values", "scale", "lower_is_better")
        },
        "workers_range": replace(
            FIELDS["workers_range"],
            kind=_SIZES,
            needed=True,
            note=", such as 5,10 or 5:30:5.",
            start="5,10,20",
            page_help="Several: 5,10,20 or 5:40:5.",
        ),
        "items_range": replace(
            FIELDS["items_range"],
            kind=_SIZES,
            needed=True,
            note=", such as 50,100,500.",
            start="50,100,200",
            page_help="Several: 50,100 or 50:200:50.",
        ),
        "ratings_per_item": replace(FIELDS["ratings_per_item"], start=""),
        "documents": own(whole(2), FIELDS["documents"].help, "Documents"),
        "effect": own(
            real(),
            FIELDS["effect"].help,
            "Difference of two systems",
            note="on [0, 1], where two systems are given.",
        ),
        "effect_raw": own(real(), FIELDS["effect_raw"].help, "The same in points"),
        "sd_systems": own(
            real(0, 1, open="low"),
            "SD of the true means of many systems, on [0, 1].",
            "SD of many systems",
            start="0.1",
        ),
        "n_systems": own(
            whole(2), FIELDS["n_systems"].help, "Systems", note="that are rated, for the costs.", usual=2
        ),
        "cost_per_rating": own(
            MONEY, FIELDS["cost_per_rating"].help, "Price of a rating", note=", where costs are wanted."
        ),
    },
    _study,
    Page(
        "How reliably a study orders systems",
        "The share of true differences in what a study finds, as workers and items grow.",
        (
            Part("The systems", ("sd_systems", "effect", "effect_raw")),
            Part("The size", ("workers_range", "items_range", "ratings_per_item", "documents")),
            Part("What is known of such ratings", ("preset", "parameters", "scale", "lower_is_better")),
            Part("Prices", ("cost_per_rating", "n_systems"), folded=True),
        ),
        (Next(("surface",), "Power over these sizes"),),
        journey="plan",
        is_quick=True,
    ),
    needs=(source_needed_but_no_pilot,),
    of_study=True,
)
SUBJECT = Subject(
    "agreement",
    """Do raters agree, and would other raters?

    'report' says it of a table of ratings, 'plan' how many raters and outputs
    it takes to know it; 'study' how reliably a study orders systems.
    """,
    (REPORT, PLAN, STUDY),
)
command = SUBJECT.command()
