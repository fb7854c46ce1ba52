"""Forms of the journey from nothing to a plan, its assignment, its preregistration and its rehearsal."""

from __future__ import annotations

from dataclasses import replace

from humeval_power.interfaces.page.forms.form import Control, Form, Group, Next
from humeval_power.interfaces.page.forms.study_controls import (
    DESIGN,
    DOCUMENTS,
    ENTRIES,
    IN_DOCUMENTS,
    ITEMS,
    KIND,
    LOSSES,
    N_SYSTEMS,
    PER_ITEM,
    RUN,
    SCALE,
    SYSTEMS,
    TARGET,
    TEST,
    WORKERS,
    but,
    difference,
    known,
    money,
)

_SIZE = Group("The size of the study", (WORKERS, ITEMS, PER_ITEM, N_SYSTEMS))
_CARRIED = (
    *(
        "preset",
        "parameters",
        "values",
        "scale",
        "lower-is-better",
        "effect-raw",
        "effect",
        "effect-latent",
    ),
    *("n-systems", "systems", "pattern", "system-means", "goal", "comparisons", "baseline", "model"),
    *(
        "correction",
        "system-variances",
        "family",
        "shares",
        "link",
        "lost",
        "quitting",
        "careless",
        "at-random",
    ),
    *("straight-lining", "exclusion", "alternative", "margin", "margin-raw", "alpha", "estimator", "df"),
    *(
        "analysis",
        "cost-per-rating",
        "pay-per-hour",
        "seconds-per-rating",
        "cost-per-worker",
        "cost-per-item",
    ),
    *("cost-per-document", "cost-per-output", "rejected", "checks", "repeats", "fee", "fees", "fee-share"),
    *("units-per-assignment", "split-hits", "currency", "power"),
)
_A_STUDY = {"workers": "20", "items": "100", "ratings-per-item": "3", "effect": "0.1"}
_TO_PLAN = Next(
    ("plan",),
    "Find the cheapest design, and seal the plan",
    carries=_CARRIED,
    sets={"items": "50:300:25", "max-workers": "40", "cost-per-rating": "0.10"},
)
_TO_POWER = Next(("power",), "Power of one size")
_TO_MDE = Next(("mde",), "What is the smallest difference that it finds?")
_TO_SIZE = Next(("size",), "How many workers are enough?", sets={"find": "workers"})
_TO_SURFACE = Next(
    ("surface",),
    "A picture over many sizes",
    carries=tuple(name for name in _CARRIED if name not in ("power",)),
    sets={"workers": "5:40:5", "items": "50,100,200"},
)
_TO_LOOKS = Next(("looks", "study"), "Look at the ratings before the end")

POWER = Form(
    ("power",),
    "plan",
    "Power of a study",
    "How often would a study of this size find a difference of this size? Drag, and the answer moves.",
    (
        known(),
        _SIZE,
        difference(),
        *money(Control("budget", "What may be spent", "USD")),
        SYSTEMS,
        KIND,
        IN_DOCUMENTS,
        DESIGN,
        LOSSES,
        TEST,
        RUN,
    ),
    live={"method": "analytic"},
    next=(_TO_PLAN, _TO_MDE, _TO_SIZE, _TO_SURFACE, _TO_LOOKS),
)
MDE = Form(
    ("mde",),
    "plan",
    "Smallest difference found",
    "Which difference does a study of this size find, with the power that you want?",
    (
        Group("The size of the study", (WORKERS, ITEMS, PER_ITEM, N_SYSTEMS, TARGET, SCALE)),
        known(),
        SYSTEMS,
        KIND,
        IN_DOCUMENTS,
        DESIGN,
        but(TEST, "margin", "margin-raw", "compat"),
        Group(
            "The true difference, where a margin is sought",
            (
                Control("effect-raw", "In points of the scale", "points"),
                Control("effect", "Or on [0, 1]", "of the scale"),
            ),
            "Only to show that two systems are equivalent, or one not inferior.",
            folded=True,
            one_of=("effect-raw", "effect"),
        ),
        but(RUN, "precision"),
    ),
    live={"method": "analytic"},
    next=(Next(("power",), "Power of one size", sets={"effect": "0.1"}), _TO_SIZE, _TO_PLAN),
)
SIZE = Form(
    ("size",),
    "plan",
    "Smallest study",
    "How many workers, items or ratings of each item does it take to find a difference?",
    (
        Group(
            "The study",
            (
                Control(
                    "find",
                    "What to find",
                    start="workers",
                    labels={
                        "workers": "The fewest workers",
                        "items": "The fewest items",
                        "documents": "The fewest documents",
                        "ratings-per-item": "The fewest ratings of each item",
                    },
                ),
                TARGET,
                replace(WORKERS, start=""),
                ITEMS,
                PER_ITEM,
                N_SYSTEMS,
            ),
            "Leave empty what is to be found, and give the others.",
        ),
        difference(),
        known(),
        SYSTEMS,
        KIND,
        IN_DOCUMENTS,
        DESIGN,
        but(TEST, "compat"),
        but(RUN, "precision"),
    ),
    live={"method": "analytic"},
    next=(_TO_POWER, _TO_PLAN),
)
SURFACE = Form(
    ("surface",),
    "plan",
    "Power over many sizes",
    "Power over workers, items and differences: a table and a picture. It is simulated, and takes a while.",
    (
        Group(
            "The sizes",
            (
                Control("workers", "Workers", start="5,10,20,40", help="Several: 5,10,20 or 5:40:5."),
                Control("items", "Items", start="50,100,200", help="Several: 50,100 or 50:200:50."),
                PER_ITEM,
                N_SYSTEMS,
            ),
        ),
        Group(
            "The differences to find",
            (
                SCALE,
                Control("effect-raw", "In points of the scale", start="0.4,0.6", help="Several: 0.2,0.4."),
                Control("effect", "Or on [0, 1]", help="Several: 0.05,0.1 or 0.05:0.2:0.05."),
                Control("effect-latent", "Or on the latent scale", help="For ordered categories only."),
            ),
            "Give one of them.",
            one_of=("effect-raw", "effect", "effect-latent"),
        ),
        known(),
        SYSTEMS,
        KIND,
        IN_DOCUMENTS,
        DESIGN,
        TEST,
        but(RUN, "method"),
    ),
    next=(Next(("power",), "Power of one size", carries=tuple(n for n in _CARRIED if "effect" not in n)),),
)
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
    Control("efficacy", "When success is declared"),
    Control("futility", "When to give up"),
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
        but(_SIZE, "n-systems"),
        difference(),
        Group("The looks", _LOOKS),
        known(),
        *money(),
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
        but(RUN, "precision", "method"),
    ),
    next=(
        _TO_POWER,
        Next(
            ("plan",),
            "Plan a study with looks",
            (*_CARRIED, "looks", "looks-by", "efficacy", "futility"),
            sets=_TO_PLAN.sets,
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
            note="Give one of them, or none: then the plan holds for the hardest published setting.",
        ),
        *money(
            Control(
                "budget",
                "What may be spent",
                "USD",
                help="Then the most powerful design for this is found.",
            ),
            start="0.10",
        ),
        Group(
            "What the plan says",
            (
                Control("question", "The question that the study answers"),
                Control("criteria", "Criteria", help="What is rated: fluency,adequacy."),
                Control(
                    "exclude-if",
                    "Workers who are left out",
                    help="failed-checks=0.34,repeats=0.3,seconds=2,same-answer=0.95.",
                ),
                Control("exclude", "Other rules for leaving out, in words"),
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
                    "confidence",
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
        but(RUN, "precision", "method"),
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
ASSIGN = Form(
    ("assign",),
    "plan",
    "Who rates what",
    "A table that says which worker rates what when, in an order that is fair to the systems.",
    (
        Group(
            "The study",
            (
                Control(
                    "plan", "The sealed plan", help="What the page 'The plan' writes; it says the size."
                ),
                Control("workers", "Or so many workers", "workers"),
                Control("items", "items", "items"),
                Control("ratings-per-item", "Ratings of each item", "for each system"),
                Control("n-systems", "Systems", "systems"),
            ),
            "A plan, or the size of a study without one.",
        ),
        Group(
            "How it is laid out",
            (
                Control(
                    "key",
                    "Workers see codes, not systems",
                    start="1",
                    help="What the codes stand for is then written apart, for you alone. Give a seed of your own: "
                    "it makes the codes.",
                ),
                Control("seed", "Seed", help="Any whole number that nobody guesses; keep it with the key."),
                Control("systems", "Names of the systems", help="Such as A,B,C."),
                Control("item-names", "Names of the items", help="A file with one in each line."),
                Control("batch-size", "Most ratings in a batch", "ratings", (5, 200), 5),
                Control(
                    "order",
                    "Outputs of an item are shown",
                    labels={"random": "far apart", "blocked": "one after the other"},
                ),
                Control("replacements", "Spare slots", "slots", help="For workers who drop out."),
                Control("checks", "Attention checks", "as a share", (0, 0.3), 0.01),
                Control("repeats", "Outputs shown once more", "as a share", (0, 0.3), 0.01),
                Control(
                    "replace", "A spare stands in", help="Such as r01=w07, or r01=w07:3 from batch 3 on."
                ),
            ),
        ),
        Group(
            "Without a plan",
            (
                Control(
                    "paired",
                    "Who sees all systems",
                    labels={"1": "The same workers", "0": "Other workers for each system"},
                ),
                Control("design"),
                Control("max-ratings-per-worker", "Most that a worker is shown", "ratings"),
                Control("documents", "Documents", "documents"),
                Control("items-per-document", "Items of each document", "items"),
                Control(
                    "documents-together",
                    "A document is given",
                    labels={"1": "as a whole", "0": "item by item"},
                ),
            ),
            folded=True,
        ),
    ),
    next=(
        Next(
            ("simulate",), "Rehearse the study", ("plan",), {"assignment": "table.csv"}, {"key": "key.csv"}
        ),
    ),
)
SIMULATE = Form(
    ("simulate",),
    "plan",
    "Rehearsal",
    "Ratings of nobody: draw a study as it is planned, to try everything that follows before anyone is paid.",
    (
        Group(
            "A planned study",
            (
                Control("plan", "The sealed plan"),
                Control(
                    "assignment", "Who rates what", help="The table that the page 'Who rates what' writes."
                ),
                Control("key", "What its codes stand for"),
                Control("passing", "Careful workers who pass a check", "as a share", (0.5, 1), 0.01),
                Control("seconds", "Seconds for an output", "seconds"),
                Control("look", "Only up to this look"),
                Control("coded", "What a platform gives back: codes, no systems"),
            ),
        ),
        Group(
            "Or a study without a plan",
            (
                *(
                    replace(each, start="", slider=None)
                    for each in (*known().controls, SCALE, WORKERS, ITEMS, PER_ITEM, N_SYSTEMS)
                ),
            ),
            folded=True,
            one_of=known().one_of,
        ),
        Group(
            "The true difference",
            tuple(replace(each, start="", slider=None) for each in but(difference(), "scale").controls),
            "Left empty, it is that of the plan.",
            one_of=difference().one_of,
        ),
        LOSSES,
        but(SYSTEMS, "comparisons", "baseline", "model", "correction"),
        but(KIND, "family"),
        IN_DOCUMENTS,
        DESIGN,
    ),
)
LIST = Form(
    ("parameters", "list"),
    "plan",
    "What other studies found",
    "How much workers and items differed elsewhere: to plan from, where there is no pilot yet.",
    (
        Group(
            "Where to look",
            (Control("library", "Your own library", help="Beside what comes with the package."),),
        ),
    ),
    next=(Next(("parameters", "show"), "One of them", sets={"entry": "pplm-fluency-gradient"}),),
)
SHOW = Form(
    ("parameters", "show"),
    "plan",
    "One other study",
    "Where these figures come from and what they are worth.",
    (
        Group(
            "The study",
            (
                Control("entry", "Study", start="pplm-fluency-gradient", labels=ENTRIES),
                Control("library", "Your own library"),
            ),
        ),
    ),
    next=(Next(("power",), "Plan from it", ("scale",), {"parameters": "record.json"}, sets=_A_STUDY),),
)
FORMS = (POWER, MDE, SIZE, SURFACE, LOOKS, PLAN, ASSIGN, SIMULATE, LIST, SHOW)
