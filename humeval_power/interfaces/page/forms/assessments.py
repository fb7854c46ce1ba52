"""Forms of direct assessment: independent ratings of each system."""

from __future__ import annotations

from humeval_power.interfaces.asking.form import Control, Form, Group, Next
from humeval_power.interfaces.page.forms.questions import ALPHA, question_forms

_RULE = (
    Control(
        "test",
        "Test",
        labels={
            "mann-whitney": "Mann-Whitney (ranks)",
            "welch": "Welch's t (means)",
            "student": "Student's t (means, equal variances)",
        },
    ),
    Control("no-continuity", "Mann-Whitney without the correction for continuity"),
    ALPHA,
)
_SEEN = {"mean": "pairs.0.mean_a", "sd": "pairs.0.sd_a", "effect": "pairs.0.difference"}
TEST = Form(
    ("assessment", "test"),
    "compare",
    "Ratings that stand for themselves",
    "Each rating from another worker on another output: are systems rated differently? All pairs of systems.",
    (
        Group(
            "The ratings",
            (
                Control("table", "Table of ratings", help="A rating a row, with its system."),
                Control("systems", "Systems to compare", help="With commas between, A first. Empty: all."),
                Control("baseline", "Compare all with this system only"),
                Control(
                    "by", "Column of groups", help="Such as a language pair: each is tested by itself."
                ),
                Control("criterion", "Criterion"),
            ),
            "Where the same workers rate many outputs, 'Analyse a study' knows them; this test does not.",
        ),
        Group(
            "The test",
            (
                *_RULE,
                Control(
                    "cluster",
                    "Clusters of ratings",
                    help="The column of what ratings share: the worker, the item or the document.",
                ),
            ),
        ),
        Group(
            "The columns",
            (
                *(
                    Control(name, f"Column of the {name}")
                    for name in ("system", "rating", "worker", "item")
                ),
                Control(
                    "rejected-rows", "Rows of rejected work", labels={"drop": "leave out", "keep": "keep"}
                ),
            ),
            "Found by their names where these say it.",
            folded=True,
        ),
    ),
    is_quick=True,
    next=(
        Next(
            ("assessment", "power"),
            "Power of the next study",
            carries=("test", "no-continuity", "alpha"),
            fills={**_SEEN, "n": "pairs.0.n_a"},
        ),
        Next(
            ("assessment", "size"),
            "Ratings that the next study needs",
            carries=("test", "no-continuity", "alpha"),
            fills=_SEEN,
        ),
    ),
)
QUESTIONS = question_forms(
    "assessment",
    name="a study by direct assessment",
    size=Control("n", "Ratings of each system", "ratings", (50, 5000), 50, "1500"),
    effect=Control("effect", "True difference B - A", "points of the scale", (0, 10), 0.1, "2"),
    groups=(
        Group(
            "The ratings",
            (
                Control("mean", "Mean rating of A", "points", (0, 100), 1, "75"),
                Control("sd", "SD of single ratings", "points", (1, 50), 0.5, "25"),
                Control("sd-b", "SD of B, if it is another", "points"),
                Control("scale", "Scale", start="0:100"),
                Control(
                    "below",
                    "Simulated ratings below the scale",
                    labels={
                        "leave": "stay as they are",
                        "clip": "become its end",
                        "truncate": "are drawn again",
                    },
                ),
            ),
        ),
        Group("The test", _RULE),
    ),
    carries=("mean", "sd", "sd-b", "scale", "below", "test", "no-continuity", "alpha"),
)
FORMS = (TEST, *QUESTIONS)
