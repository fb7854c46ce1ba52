"""Forms of metrics that belong to a whole test set: BLEU and chrF, F1 and the like."""

from __future__ import annotations

from dataclasses import replace

from humeval_power.interfaces.asking.form import Control, Form, Group, Next
from humeval_power.interfaces.page.forms.questions import ALPHA, question_forms

_OUTPUTS = Group(
    "The outputs",
    (
        Control("system-a", "Outputs of A", help="One segment a line."),
        Control("system-b", "Outputs of B", help="The same segments; the effect is B - A."),
        Control("reference", "References", help="One segment a line; more files for more references."),
    ),
)
_METRIC = Group(
    "The metric",
    (
        Control("metric", "Metric", labels={"bleu": "BLEU", "chrf": "chrF", "chrf++": "chrF++"}),
        Control("tokenizer", "Tokens of BLEU"),
        Control("lowercase", "Count upper and lower case alike"),
    ),
)
_SWAPS = {"p0": "swaps.zero_share", "b0": "swaps.matched_scale"}
_CLUSTER_LINES = Control(
    "cluster",
    "Clusters of items",
    help="A file with the name of a passage, document or template a line, in the order of the items.",
)
_SEED = Control("seed", "Seed of the random numbers")
TEST = Form(
    ("corpus", "test"),
    "compare",
    "BLEU or chrF of two systems",
    "Is B better than A? The paired randomisation test of a metric of the whole test set.",
    (
        _OUTPUTS,
        _METRIC,
        Group(
            "The test",
            (
                ALPHA,
                replace(
                    _CLUSTER_LINES,
                    label="Documents",
                    help="A file with the name of its document a line, in the order of the segments: whole "
                    "documents are then swapped.",
                ),
                Control("swaps", "Random swaps", help="10,000 where nothing is said."),
                _SEED,
            ),
        ),
    ),
    next=(Next(("corpus", "estimate"), "What power needs of these outputs"),),
)
ESTIMATE = Form(
    ("corpus", "estimate"),
    "compare",
    "What single sentences do to BLEU",
    "Swaps each sentence between the systems: the two numbers that power and size of a test set follow from.",
    (
        _OUTPUTS,
        _METRIC,
        Group("The check", (Control("subsets", "Random swaps of half the sentences"), _SEED)),
    ),
    next=(
        Next(("corpus", "power"), "Power of a test set", fills={**_SWAPS, "n": "n_sentences"}),
        Next(("corpus", "size"), "Sentences that a test set needs", fills=_SWAPS),
    ),
)
QUESTIONS = question_forms(
    "corpus",
    name="a comparison by BLEU",
    size=Control("n", "Sentences", "sentences", (100, 10000), 100, "2000"),
    effect=Control("effect", "True difference B - A", "points of the metric", (0, 5), 0.1, "1"),
    groups=(
        Group(
            "What swapping a sentence does",
            (
                Control(
                    "preset",
                    "Published setting",
                    start="card2020",
                    help="Card et al. (2020): card2020, wmt19-tf19-tf18, wmt18-tf18-tf16, wmt17-tf16-conv17, "
                    "wmt16-tf16-conv14 or card2020-appendix-g.",
                ),
                Control("p0", "Share of swaps that change nothing", slider=(0, 0.9), step=0.01),
                Control("b0", "Spread of the others (b0)"),
            ),
        ),
        Group(
            "The test",
            (
                ALPHA,
                Control(
                    "test",
                    "Simulated p-values",
                    labels={"normal": "normal distribution", "flips": "random flips"},
                ),
                Control("flips", "Random flips"),
            ),
        ),
    ),
    carries=("preset", "p0", "b0", "test", "flips", "alpha"),
)
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
FORMS = (TEST, ESTIMATE, *QUESTIONS, CONFUSION_TEST, CONFUSION_ESTIMATE, *CONFUSION_QUESTIONS)
