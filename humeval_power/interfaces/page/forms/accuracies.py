"""Forms of accuracy: right or wrong on the same test set, and metrics of a confusion matrix."""

from __future__ import annotations

from humeval_power.interfaces.page.forms.form import Control, Form, Group, Next
from humeval_power.interfaces.page.forms.questions import ALPHA, CLUSTER_OR_LINES, TARGET, question_forms

_TESTS = {
    "mid-p": "McNemar, mid-p (recommended)",
    "unconditional": "unconditional exact",
    "asymptotic": "McNemar, by the normal distribution",
    "exact": "McNemar, exact and cautious",
}
_UNPAIRED = {"unpaired": "unpaired: each system answers items of its own"}
_OVERLAP = Control(
    "overlap",
    "Where the agreement is not known",
    labels={
        "glue": "as systems on GLUE agree",
        "squad": "as systems on SQuAD 2.0 agree",
        "middle": "halfway of what is possible",
        "least": "the least that is possible (cautious)",
        "most": "the most that is possible",
    },
)
_ITEMS = Control("n", "Items in the test set", "items", (50, 5000), 10, "1000")
_BASELINE = Control("baseline", "Accuracy of A", "as a share", (0.5, 0.99), 0.005, "0.9")
_PAIRED_TEST = Control("test", "Test", labels=_TESTS)


def _steps(place: str) -> tuple[Next, ...]:
    """From two systems that were seen to a test set that is to be planned."""
    seen = {
        "effect": f"{place}difference",
        "baseline": f"{place}accuracy_a",
        "agreement": f"{place}agreement",
    }
    return (
        Next(
            ("accuracy", "power"),
            "Power on a test set of this size",
            carries=("alpha",),
            fills={**seen, "n": f"{place}n_items"},
        ),
        Next(("accuracy", "size"), "Items that find this difference", carries=("alpha",), fills=seen),
        Next(
            ("accuracy", "mde"),
            "Smallest difference that it finds",
            ("alpha",),
            fills={"n": f"{place}n_items"},
        ),
    )


_FILES = Control(
    "files",
    "Predictions of A, then of B",
    help="A file each, with one prediction or 1 and 0 a line; or one table with a column for each system, or a row "
    "for each item and system; or the log of a harness.",
    rows=2,
)
_PREDICTIONS = (
    Control(
        "labels",
        "Right answers",
        help="A file with one for each item, or their column in the one table. Empty: the files say 1 or 0.",
    ),
    Control(
        "systems", "Systems of one table", help="Names with commas between, A first. [found by their looks]"
    ),
    CLUSTER_OR_LINES,
    Control("column", "Column of the predictions", help="In tables. [found by name]"),
)
TEST = Form(
    ("accuracy", "test"),
    "compare",
    "Accuracy of two classifiers",
    "Is B right more often than A on the same items? McNemar's tests, the recommended one first.",
    (
        Group(
            "Counts",
            (
                Control("only-b", "B alone right", "items"),
                Control("only-a", "A alone right", "items"),
                Control("n", "Items in all", "items"),
                Control("both", "Both right, if known", "items"),
            ),
            "These four numbers are all that the test needs.",
        ),
        Group(
            "Or files",
            (
                _FILES,
                *_PREDICTIONS,
            ),
        ),
        Group("The test", (ALPHA,)),
    ),
    is_quick=True,
    next=_steps("comparisons.0."),
)
ESTIMATE = Form(
    ("accuracy", "estimate"),
    "compare",
    "Agreement of two classifiers",
    "What power depends on: how often two systems are right or wrong together, from a validation set.",
    (
        Group(
            "Files",
            (
                _FILES,
                *_PREDICTIONS,
            ),
        ),
    ),
    is_quick=True,
    next=_steps(""),
)
QUESTIONS = question_forms(
    "accuracy",
    name="a comparison of accuracy",
    size=_ITEMS,
    effect=Control("effect", "True difference B - A", "as a share", (0, 0.1), 0.001, "0.02"),
    groups=(
        Group(
            "The systems",
            (
                _BASELINE,
                Control(
                    "agreement",
                    "Agreement",
                    "as a share",
                    (0.5, 1),
                    0.005,
                    help="Share of items on which both are right or both wrong: it decides the power more than "
                    "anything else. From a validation set.",
                ),
                _OVERLAP,
            ),
        ),
        Group("The test", (Control("test", "Test", labels={**_TESTS, **_UNPAIRED}), ALPHA)),
    ),
    carries=("baseline", "agreement", "overlap", "test", "alpha"),
    after=(
        Next(
            ("accuracy", "bounds"),
            "Where the agreement is not known",
            ("n", "baseline", "alpha"),
            fills={"n": "found.n"},
        ),
    ),
)
BOUNDS = Form(
    ("accuracy", "bounds"),
    "compare",
    "Smallest improvement that a test set shows",
    "Where nobody knows how often the systems agree: the least and the most that is possible.",
    (
        Group("The test set", (_ITEMS, _BASELINE)),
        Group("The test", (TARGET, _PAIRED_TEST, ALPHA)),
    ),
    is_quick=True,
    next=(Next(("accuracy", "power"), "Power at an agreement", ("n", "baseline", "alpha")),),
)
_CLAIMED = (_OVERLAP, _PAIRED_TEST, Control("power", "Power that is aimed at"), ALPHA)
CLAIMS = Form(
    ("accuracy", "claims"),
    "compare",
    "Claims of improvement",
    "Could these test sets have shown the improvements that were claimed?",
    (
        Group(
            "The claims",
            (
                Control(
                    "table",
                    "Table of claims",
                    help="A row each: task, n, baseline, improvement (or accuracy) and perhaps name.",
                ),
            ),
        ),
        Group("The test", _CLAIMED),
    ),
)
LEADERBOARD = Form(
    ("accuracy", "leaderboard"),
    "compare",
    "A leaderboard",
    "Which submissions were improvements that one can trust?",
    (
        Group(
            "The leaderboard",
            (
                Control(
                    "table",
                    "Table of submissions",
                    help="A row each: system, date, accuracy and perhaps validation.",
                ),
                Control("n", "Items in the test set", "items"),
            ),
        ),
        Group("The test", _CLAIMED),
    ),
)
FORMS = (TEST, ESTIMATE, *QUESTIONS, BOUNDS, CLAIMS, LEADERBOARD)
