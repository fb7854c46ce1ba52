"""Forms of automatic judges: how many human ratings does one save?"""

from __future__ import annotations

from dataclasses import replace

from humeval_power.interfaces.asking.form import Control, Form, Group, Next
from humeval_power.interfaces.page.forms.questions import ALPHA, CLUSTER
from humeval_power.interfaces.page.forms.study_controls import TARGET, money

_EXTRA = Control("extra", "Items scored by the judge alone", "items", (0, 10000), 50, "1000")
_CORRELATION = Control(
    "correlation",
    "Correlation of the judge with people",
    slider=(-1, 1),
    step=0.01,
    start="0.7",
)
MEAN = Form(
    ("judge", "mean"),
    "compare",
    "A judge beside human values",
    "How precise is a mean of human values with a judge's help, and how many values does the judge save?",
    (
        Group(
            "The values",
            (
                Control("n", "Items with a human value", "items", (10, 2000), 10, "100"),
                _EXTRA,
                _CORRELATION,
                Control("sd", "SD of the human values", start="1"),
                Control("sd-judge", "SD of the judge's", help="Empty: as of people."),
            ),
            "For a comparison the values are differences B - A.",
        ),
    ),
    is_quick=True,
    next=(Next(("judge", "study"), "In a study of workers and items", ("extra", "correlation")),),
)
_KNOWN = Group(
    "What is known of such ratings",
    (
        Control("preset", "Published setting", start="high"),
        Control("parameters", "Parameters of your pilot"),
        Control("scale", "Scale that you rate on", help="Such as 1:5."),
        Control(
            "lower-is-better",
            "Direction of the scale",
            labels={"1": "lower is better", "0": "higher is better"},
        ),
    ),
)
STUDY = Form(
    ("judge", "study"),
    "compare",
    "A judge in a rating study",
    "How many ratings does a judge save where workers rate items?",
    (
        Group(
            "The study",
            (
                Control("workers", "Workers", "workers", (2, 100), start="20"),
                Control("items", "Items that the workers rate", "items", (5, 500), start="100"),
                Control("ratings-per-item", "Ratings of an item", "ratings", (1, 20)),
                Control("effect", "True difference B - A", "on [0, 1]", (0, 0.3), 0.005, "0.1"),
                Control("effect-raw", "The same in points of the scale"),
            ),
        ),
        Group("The judge", (_EXTRA, _CORRELATION)),
        _KNOWN,
        Group("The test", (ALPHA,)),
    ),
    is_quick=True,
    next=(
        Next(
            ("power",),
            "Power without a judge",
            ("workers", "items", "ratings-per-item", "effect", "preset", "parameters", "scale", "alpha"),
        ),
    ),
)
ESTIMATE = Form(
    ("judge", "estimate"),
    "compare",
    "An estimate with a judge's help",
    "From finished data: humans rated some outputs, the judge scored all.",
    (
        Group(
            "The data",
            (
                Control(
                    "file",
                    "Table",
                    help="A row each rating or output: item, judge, human (blank where no human rated it) and, "
                    "for a comparison, system.",
                ),
                Control(
                    "systems",
                    "Systems",
                    help="Names with commas between; the effect is B - A. Three or more: all pairs. [all]",
                ),
                Control("baseline", "Compare each with this one only"),
                Control(
                    "rejected-rows", "Rows of rejected work", labels={"drop": "leave out", "keep": "keep"}
                ),
            ),
        ),
        Group(
            "What belongs together",
            (
                Control(
                    "worker",
                    "Column of who rated",
                    help="With workers, the ratings are analysed by the rating model. [found by its name]",
                ),
                Control("average-workers", "Average the ratings of an output instead"),
                CLUSTER,
            ),
            "Items of one passage, and ratings of one worker, are alike.",
        ),
        Group("The interval", (Control("confidence", "Confidence", slider=(0.8, 0.99), step=0.01),)),
    ),
    next=(
        Next(("judge", "mean"), "How many values the judge saves"),
        Next(("judge", "agreement"), "How well it agrees with people", ("file", "worker", "cluster")),
    ),
)
PLAN = Form(
    ("judge", "plan"),
    "compare",
    "Human labels for a study with a judge",
    "How many human labels does it take, by how many workers, and at what cost? The cheapest study with the judge, "
    "and beside it the cheapest without.",
    (
        Group(
            "The difference to find",
            (
                Control("effect", "True difference B - A", "on [0, 1]", (0, 0.3), 0.005, "0.1"),
                Control("effect-raw", "The same in points of the scale"),
            ),
            one_of=("effect", "effect-raw"),
        ),
        Group(
            "The judge",
            (
                replace(_EXTRA, start=""),
                _CORRELATION,
                Control("cost-per-score", "Price of one of its scores", "USD"),
            ),
        ),
        Group(
            "What is possible",
            (
                TARGET,
                Control("min-workers", "Fewest workers", "workers"),
                Control("max-workers", "Most workers", "workers"),
                Control("max-ratings-per-item", "Most ratings of an item", "for each system"),
                Control("max-ratings-per-worker", "Most ratings of a worker", "ratings"),
            ),
        ),
        _KNOWN,
        *money(start="0.10"),
        Group(
            "The proof",
            (
                Control(
                    "simulations",
                    "Simulated studies that prove it",
                    help="400 where nothing is said.",
                ),
                Control("no-proof", "Leave the proof out"),
                Control("seed", "Seed of the random numbers"),
            ),
            folded=True,
        ),
    ),
)
_QUALITY = Group(
    "The data",
    (
        Control("file", "Table", help="A row for each rating: item, human, judge, and worker and system."),
        Control("rejected-rows", "Rows of rejected work", labels={"drop": "leave out", "keep": "keep"}),
        Control("worker", "Column of who rated"),
        CLUSTER,
    ),
)
_INTERVAL = Group("The interval", (Control("confidence", "Confidence", slider=(0.8, 0.99), step=0.01),))
AGREEMENT = Form(
    ("judge", "agreement"),
    "compare",
    "How well a judge agrees with people",
    "And how well people agree with each other: nobody agrees better with them than they do.",
    (
        _QUALITY,
        Group(
            "About what",
            (Control("systems", "Of the differences of these two systems", help="A,B. [of all]"),),
        ),
        _INTERVAL,
    ),
    next=(Next(("judge", "bias"), "Does it prefer its own family?", ("file", "worker", "cluster")),),
)
BIAS = Form(
    ("judge", "bias"),
    "compare",
    "A judge and its own family",
    "Does a judge score outputs of its own family higher than people make one expect?",
    (
        _QUALITY,
        Group(
            "The judge",
            (
                Control("own", "Systems of its own family", help="Names with commas between."),
                Control("same-scale", "It scored on the scale of the humans"),
            ),
        ),
        _INTERVAL,
    ),
    next=(Next(("judge", "agreement"), "How well it agrees with people", ("file", "worker", "cluster")),),
)
FORMS = (MEAN, STUDY, PLAN, ESTIMATE, AGREEMENT, BIAS)
