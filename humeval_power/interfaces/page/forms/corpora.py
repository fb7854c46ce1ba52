"""Forms of F1 and the like."""

from __future__ import annotations

from humeval_power.interfaces.asking.form import Control, Form, Group, Next
from humeval_power.interfaces.page.forms.questions import ALPHA, question_forms

_CLUSTER_LINES = Control(
    "cluster",
    "Clusters of items",
    help="A file with the name of a passage, document or template a line, in the order of the items.",
)
_SEED = Control("seed", "Seed of the random numbers")
_LABELS = Group(
    "The predictions",
    (
        Control("gold", "True labels", help="One a line."),
        Control("system-a", "Predictions of A", help="One label a line."),
        Control("system-b", "Predictions of B", help="The same items; effects are B - A."),
    ),
)
_MATRIX_METRIC = Control("metric", "Metric", start="f1")
_POSITIVE = Control("positive", "Positive class", help="For F1, precision and recall. [1]")
CONFUSION_TEST = Form(
    ("contingency", "test"),
    "compare",
    "F1, MCC and the like",
    "Metrics of a confusion matrix: is B better than A? By exchanging predictions of the same items.",
    (
        _LABELS,
        Group("The metric", (_MATRIX_METRIC, _POSITIVE)),
        Group("The test", (ALPHA, _CLUSTER_LINES, Control("swaps", "Random swaps"), _SEED)),
    ),
    next=(
        Next(("contingency", "estimate"), "How the systems err together"),
        Next(
            ("contingency", "power"),
            "Power of another test set",
            ("gold", "system-a", "system-b", "metric", "positive", "alpha"),
        ),
        Next(
            ("contingency", "size"),
            "Items that find a difference",
            ("gold", "system-a", "system-b", "metric", "positive", "alpha"),
        ),
    ),
)
CONFUSION_ESTIMATE = Form(
    ("contingency", "estimate"),
    "compare",
    "How two classifiers err together",
    "The joint tables of both systems in each class, and every metric of them.",
    (_LABELS, Group("The metric", (_POSITIVE,))),
    next=(
        Next(("contingency", "power"), "Power of a test set", ("gold", "system-a", "system-b", "positive")),
        Next(
            ("contingency", "size"),
            "Items that find a difference",
            ("gold", "system-a", "system-b", "positive"),
        ),
    ),
)
CONFUSION_QUESTIONS = question_forms(
    "contingency",
    name="a comparison by F1 and the like",
    size=Control("n", "Items in the test set", "items", (50, 10000), 50, "1000"),
    effect=Control(
        "effect", "True difference of the metric B - A", slider=(0, 0.2), step=0.005, start="0.02"
    ),
    groups=(
        Group("The metric", (_MATRIX_METRIC, _POSITIVE)),
        Group(
            "Two classes, from what is reported",
            (
                Control(
                    "prevalence", "Share of positive items", slider=(0.01, 0.99), step=0.01, start="0.3"
                ),
                Control("recall", "Recall, between A and B", slider=(0.01, 1), step=0.01, start="0.8"),
                Control(
                    "precision", "Precision, between A and B", slider=(0.01, 1), step=0.01, start="0.8"
                ),
                Control("agreement", "Both give the same label", "as a share", (0.5, 1), 0.005, "0.9"),
                Control("correlation", "Or: correlation of being right"),
            ),
        ),
        Group(
            "More classes",
            (
                Control("class-shares", "Shares of the classes"),
                Control("class-recalls", "Recall in each class"),
            ),
            folded=True,
        ),
        Group("Or from the predictions of two systems", _LABELS.controls, folded=True),
        Group("The test", (ALPHA, Control("flips", "Random swaps for each p-value"))),
    ),
    carries=(
        "metric",
        "positive",
        "prevalence",
        "recall",
        "precision",
        "agreement",
        "correlation",
        "class-shares",
        "class-recalls",
        "gold",
        "system-a",
        "system-b",
        "flips",
        "alpha",
    ),
)
FORMS = (CONFUSION_TEST, CONFUSION_ESTIMATE, *CONFUSION_QUESTIONS)
