"""Forms of looks before the end, and of the plan."""

from __future__ import annotations

from dataclasses import replace

from humeval_power.interfaces.asking.form import Control, Form, Group, Next
from humeval_power.interfaces.page.forms.study_controls import (
    DESIGN,
    DOCUMENTS,
    IN_DOCUMENTS,
    KIND,
    LOSSES,
    N_SYSTEMS,
    RUN,
    SYSTEMS,
    TARGET,
    TEST,
    but,
    difference,
    known,
    money,
    of,
)
from humeval_power.interfaces.page.forms.study_steps import CARRIED, SIZE_OF_STUDY, TO_PLAN, TO_POWER

_LOOKS = (
    Control(
        "looks", "Looks", start="3", help="How many, the last included; or shares of the study: 0.5,0.75,1."
    ),
    Control(
        "looks-by",
        "What comes in from look to look",
        labels={
            "items": "Items, for the same workers",
            "workers": "Workers, for the same items",
            "ratings": "More ratings of the same items",
            "blocks": "New workers with new items",
        },
    ),
    of("efficacy"),
    of("futility"),
)
_LOOKS_OF_A_PLAN = tuple(
    replace(
        each, start="", labels={value: words for value, words in each.labels.items() if value != "blocks"}
    )
    for each in _LOOKS
)
LOOKS = Form(
    ("looks", "study"),
    "plan",
    "Looks before the end",
    "May one stop early, when the answer is clear? Boundaries, and what they cost.",
    (
        SIZE_OF_STUDY,
        difference(),
        Group("The looks", _LOOKS),
        known(),
        *money(),
        SYSTEMS,
        KIND,
        IN_DOCUMENTS,
        DESIGN,
        Group(
            "The test",
            (
                Control(
                    "alternative",
                    "What to show",
                    labels={
                        "two-sided": "A difference, in either direction",
                        "greater": "B is better than A",
                    },
                ),
                *(each for each in TEST.controls if each.option == "alpha"),
            ),
            folded=True,
        ),
        but(RUN, "half-width", "method"),
    ),
    next=(
        TO_POWER,
        Next(
            ("plan",),
            "Plan a study with looks",
            (*CARRIED, "looks", "looks-by", "efficacy", "futility"),
            sets=TO_PLAN.sets,
        ),
    ),
)
_SEARCH = (
    Control(
        "items", "Items there are", "items", start="50:300:25", help="One number, or from : to : step."
    ),
    Control("max-workers", "Most workers", "workers", (2, 100), 1, "40"),
    Control("workers", "Or these numbers of workers", help="Such as 3:40; instead of the most."),
    Control("ratings-per-item", "Ratings of each item", help="Such as 1:10. Left empty, all are tried."),
    replace(N_SYSTEMS, help="Two, where nothing is given."),
    TARGET,
)
PLAN = Form(
    ("plan",),
    "plan",
    "The plan",
    "The cheapest design that finds the difference: searched by formula, proved by simulation, and sealed so that "
    "nobody can change it unseen.",
    (
        difference(),
        Group("What is possible", _SEARCH),
        known(
            Control(
                "file", "Or the ratings of your pilot", help="A table with worker, item, system and rating."
            ),
            note="Give one of them, or none: then the plan is for what is typical of public ratings.",
        ),
        *money(
            of("budget"),
            Control("spend-budget", "Spend all of it"),
            start="0.10",
        ),
        Group(
            "What the plan says",
            (
                of("question"),
                *map(of, ("criteria", "exclude_if", "exclusions")),
                Control("date", "Date of the plan"),
            ),
            folded=True,
        ),
        Group(
            "Caution",
            (
                Control("robust", "Reach the power under every setting"),
                Control("safe", "Plan at this upper limit of how workers differ", "", (0.5, 0.95), 0.05),
                Control(
                    "assurance",
                    "Reach the power with this probability",
                    "",
                    (0.5, 0.95),
                    0.05,
                    help="Given how little the pilot knows.",
                ),
                Control("observed-power", "Take the pilot's own estimate as the difference"),
            ),
            folded=True,
        ),
        Group("Looks before the end", _LOOKS_OF_A_PLAN, folded=True),
        Group(
            "Documents",
            (
                replace(DOCUMENTS, slider=None, help="Numbers that are possible: 10:40:5."),
                Control("max-documents", "Most documents", "documents"),
            ),
            folded=True,
        ),
        Group(
            "Columns of the pilot",
            tuple(
                Control(name)
                for name in (
                    *("worker", "item", "system", "rating", "criterion-column", "criterion", "missing"),
                    *("rejected-rows", "document", "covariate", "order-column", "seconds-column"),
                )
            ),
            folded=True,
        ),
        SYSTEMS,
        but(KIND, "response", "points"),
        Group(
            "Who rates what",
            (
                Control(
                    "pairing",
                    "Who sees both systems",
                    labels={
                        "paired": "The same workers",
                        "unpaired": "Other workers for each system",
                        "both": "Try both",
                    },
                ),
                Control("max-ratings-per-worker", "Most ratings of a worker", "ratings"),
            ),
            folded=True,
        ),
        LOSSES,
        but(TEST, "compat"),
        but(RUN, "half-width", "method"),
    ),
    next=(
        Next(
            ("assign",),
            "Say who rates what",
            ("plan",),
            {"plan": "plan.json"},
            sets={"key": "1"},
        ),
        Next(
            ("report",),
            "Preregister it (OSF)",
            ("plan",),
            {"plan": "plan.json"},
            sets={"form": "osf"},
        ),
        Next(
            ("report",),
            "Preregister it (AsPredicted)",
            ("plan",),
            {"plan": "plan.json"},
            sets={"form": "aspredicted"},
        ),
        Next(("power",), "Power of the planned study", ("plan",), {"plan": "plan.json"}),
    ),
)
