"""Forms of the journey through scores: is one system better by a metric, by accuracy, by preference?"""

from __future__ import annotations

from humeval_power.interfaces.asking import accuracy, assessment, rank
from humeval_power.interfaces.asking.form import Control, Form, Group, Next
from humeval_power.interfaces.page.forms.corpora import FORMS as CORPORA
from humeval_power.interfaces.page.forms.judges import FORMS as JUDGES
from humeval_power.interfaces.page.forms.preferences import FORMS as PREFERENCES
from humeval_power.interfaces.page.forms.primers import FORMS as PRIMERS
from humeval_power.interfaces.page.forms.questions import (
    ALPHA,
    CLUSTER_OR_LINES,
    DIRECTION,
    TARGET,
    question_forms,
)
from humeval_power.interfaces.page.forms.runs import FORMS as RUNS

_TESTS = {
    "recommended": "the one that is recommended for such scores",
    "t": "paired t test",
    "bootstrap-t": "bootstrap-t test",
    "permutation": "permutation test of the mean",
    "bootstrap": "bootstrap test of the mean",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "sign test",
    "mcnemar": "McNemar's test",
    "bootstrap-median": "bootstrap test of the median",
    "permutation-median": "permutation test of the median",
    "primer": "the bootstrap primer's p",
}
_SCORES = Group(
    "The scores",
    (
        Control(
            "files",
            "File of scores",
            help="One row an item and one column a system; or columns item, system and score; or two columns of "
            "numbers; or a file for each of two systems with one number a line, A's first; or logs of a harness "
            "or a folder of them.",
            rows=2,
        ),
        Control(
            "systems",
            "Systems to compare",
            help="Their names with commas between, A first: the effect is B - A. Empty: all in the file; more "
            "than two are compared in pairs.",
        ),
        Control("score", "Metric", help="Where the file has several: the column of one. [the only one]"),
        CLUSTER_OR_LINES,
    ),
)
_DATA = Group(
    "Step 1: the data",
    (
        Control("unit-size", "Items in a unit", "items", (1, 50)),
        Control("unit-by", "Score of a unit", labels={"mean": "mean", "median": "median"}),
        Control("shuffle-seed", "Seed to shuffle items into units", help="Empty: adjacent items."),
        Control("normality-alpha", "Level of the test of normality"),
        Control("drop-missing", "Leave out items without a score of each system"),
    ),
    "Leave this as it is where each item stands for itself. Sentences of one document do not: name their clusters "
    "above, or make a unit of them. What the test of normality says is shown and decides nothing by itself.",
    folded=True,
)
_TEST = Group(
    "Step 2: the test",
    (
        Control(
            "question",
            "What is asked",
            start="mean",
            help="Decided before the scores are looked at. Recommended: the mean, which is what papers compare.",
            labels={
                "mean": "does B have the higher mean score?",
                "median": "is the middle difference other than 0?",
                "pseudomedian": "is the middle of all means of two differences other than 0?",
                "better": "is B better on more than half of the items, however much?",
            },
        ),
        Control(
            "test",
            "Test",
            start="recommended",
            labels=_TESTS,
            help="The answer lists every test with how well it suits the question and these scores, and why.",
        ),
        DIRECTION,
        ALPHA,
        Control("null", "Difference to test against", help="0 asks whether there is any difference."),
        Control(
            "resamples",
            "Resamples of bootstrap and permutation",
            help="10,000 where nothing is said: NLPStatTest's 500 leave a p-value uncertain in its second digit.",
        ),
        Control(
            "procedure",
            "Who chooses the question",
            labels={
                "question": "you, before looking (recommended)",
                "nlpstattest": "the data, as NLPStatTest does (leave the question empty)",
            },
        ),
    ),
)
_EFFECT = Group(
    "Step 3: the size of the effect",
    (
        Control(
            "margin",
            "Systems count as alike within",
            help="In the metric's units: tests for equivalence too, for 'not significant' is not 'alike'.",
        ),
    ),
    "Every effect size is shown with its interval: the difference itself, Cohen's d, Hedges' g, Wilcoxon's r, "
    "Hodges-Lehmann, and the share of items on which B is better.",
)
_POWER = Group(
    "Step 4: the power",
    (
        Control(
            "effect",
            "Smallest difference that matters",
            help="In the metric's units. Empty takes the observed difference, which only says the p-value again.",
        ),
        Control("power-target", "Power that is aimed at", slider=(0.5, 0.99), step=0.01),
        Control(
            "power-sizes",
            "Numbers of items",
            help="Such as 50:500:50. Empty: a quarter to four times those of the file.",
        ),
        Control(
            "power-by",
            "Simulated by",
            labels={
                "bootstrap": "resampling these differences (recommended)",
                "normal": "normal differences with their SD",
                "formula": "nothing: by formula alone",
            },
        ),
        Control("simulations", "Simulated studies for each number", help="1,000 where nothing is said."),
    ),
)
_MANY = Group(
    "More than two systems, or several data sets",
    (
        Control(
            "correction",
            "Correction for many pairs",
            labels={
                "holm": "Holm (suits every test)",
                "romano-wolf": "Romano and Wolf (more power, for means)",
                "max-t": "max-t (for means)",
                "bonferroni": "Bonferroni",
                "bh": "Benjamini and Hochberg (bounds the share of false ones)",
                "none": "none",
            },
        ),
        Control("baseline", "Compare all with this system only"),
        Control("dataset", "Column of the data set", help="Counts the data sets on which B is better."),
        Control("item", "Column of the item"),
        Control("system", "Column of the system"),
        Control("seed", "Seed of the random numbers"),
    ),
    folded=True,
)
_SD_OF_DIFFERENCES = {"sd": "data_analysis.difference.sd", "effect": "power.difference"}
SCORES = Form(
    ("compare", "scores"),
    "compare",
    "Two or more systems by a metric",
    "Scores of the same items: look at the data, test, say how large the difference is, and what power there was.",
    (_SCORES, _DATA, _TEST, _EFFECT, _POWER, _MANY),
    live={"power-by": "formula", "resamples": "1000"},
    next=(
        Next(
            ("compare", "power"),
            "Power of the next test set",
            carries=("direction", "alpha"),
            fills={**_SD_OF_DIFFERENCES, "n": "test.n"},
        ),
        Next(
            ("compare", "size"),
            "Items that the next test set needs",
            carries=("direction", "alpha"),
            fills=_SD_OF_DIFFERENCES,
        ),
    ),
)
_MEAN = Control(
    "mean",
    "Expected difference B - A",
    "in the metric's units",
    (0, 0.2),
    0.005,
    "0.02",
    "The mean over items, in the units of the metric.",
)
_SD = Control(
    "sd",
    "SD of the items' differences",
    "in the metric's units",
    (0.01, 1),
    0.01,
    "0.1",
    "From scores of systems like yours: the page of two systems shows it.",
)
PROSPECTIVE = Form(
    ("compare", "prospective"),
    "compare",
    "Items for a comparison by a metric",
    "Before there are scores: how large must the test set be?",
    (
        Group("What is expected", (_MEAN, _SD)),
        Group(
            "The test",
            (
                TARGET,
                DIRECTION,
                ALPHA,
                Control(
                    "margin",
                    "Show that they are alike within",
                    "in the metric's units",
                    help="Asks for equivalence in the place of a difference; the expected difference is then 0 "
                    "at best.",
                ),
            ),
        ),
    ),
    is_quick=True,
    next=(
        Next(
            ("compare", "power"),
            "Power with another number of items",
            carries=("sd", "direction", "alpha"),
            fills={"n": "n", "effect": "mean"},
        ),
    ),
)
_PLANNED_TEST = Control(
    "test",
    "Test",
    labels={"t": "paired t test (recommended)", "wilcoxon": "Wilcoxon signed-rank test"},
)
QUESTIONS = question_forms(
    "compare",
    name="a comparison by a metric",
    size=Control("n", "Items", "items", (10, 5000), 10, "200"),
    effect=Control("effect", "True difference B - A", "in the metric's units", (0, 0.2), 0.005, "0.02"),
    groups=(Group("The scores", (_SD,)), Group("The test", (_PLANNED_TEST, DIRECTION, ALPHA))),
    carries=("sd", "test", "direction", "alpha"),
)
FORMS = (
    SCORES,
    PROSPECTIVE,
    *QUESTIONS,
    *RUNS,
    *accuracy.SUBJECT.forms(),
    *PREFERENCES,
    *assessment.SUBJECT.forms(),
    *rank.SUBJECT.forms(),
    *CORPORA,
    *JUDGES,
    *PRIMERS,
)
