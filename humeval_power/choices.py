"""What options offer: their words, defaults and limits, where the module that does the work needs numpy.

They are said here once, so that `--help`, shell completion and wrong options import nothing heavy; the modules that
compute take them from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

# Simulations, and the questions asked of every scenario
DEFAULT_SIMULATIONS = 2000
DEFAULT_SEED = 1
DEFAULT_CONFIDENCE = 0.95  # of intervals
DEFAULT_POWER = 0.8  # to reach
Method = Literal["analytic", "simulate", "both"]
SearchMethod = Literal["analytic", "both"]  # of sizes, which are searched by formula and then proved
HIGHEST = 1_000_000  # where a search for a size ends

# Rating studies
ANONYMOUS = ("A", "B")  # two systems that nobody has named
HUMAN_MEAN = "Mean human value"  # what a judge helps to estimate where there is one system
Engine = Literal["native", "lme4", "statsmodels"]
DesignKind = Literal[
    "crossed",
    "k-per-item",
    "split",
    "workers-nested",
    "items-nested",
    "both-nested",
    "counterbalanced",
    "table",
]
# Those that a size alone describes.
DESIGN_KINDS: tuple[DesignKind, ...] = tuple(kind for kind in get_args(DesignKind) if kind != "table")
Response = Literal["gaussian", "clipped", "likert"]
Exclusion = Literal["none", "careless", "suspicious"]
SizeSought = Literal["workers", "items", "documents", "ratings-per-item"]
Sought = Literal[SizeSought, "budget"]
LookKind = Literal["items", "workers", "ratings", "blocks"]
# What a result is about: the pool that items were drawn from, or items like these.
Estimand = Literal["pool", "population"]
DEFAULT_ESTIMAND: Estimand = "pool"
EFFICACY_WORDS = (
    "pocock",
    "obrien-fleming",
    "wang-tsiatis:DELTA",
    "haybittle-peto[:Z]",
    "lan-demets-pocock",
    "lan-demets-obrien-fleming",
    "hwang-shih-decani[:GAMMA]",
    "kim-demets[:RHO]",
    "table:T=SHARE,...",
    "levels:P,P,...",
)
FUTILITY_WORDS = (
    "none",
    "p:LIMIT[:binding]",
    "conditional-power:LIMIT[:design|trend|null]",
    "beta:BETA[:SPENDING][:binding]",
)
POOL_BUDGETS = (300, 600, 900, 1200, 1800, 2400, 3600, 5400)

# Plans, assignments and rehearsals
LARGEST_COUNT = 100_000  # of anything that a plan counts: workers, items, ratings of a worker
MOST_WORKERS = 30  # that a search tries, where nobody says
UNITS_PER_ASSIGNMENT = 1
CURRENCY = "USD"
PresentationOrder = Literal["random", "blocked"]
MAX_RATE = 0.3  # of repeats and checks: a repeat needs an output that came half a batch before
USUAL_PASSING, USUAL_SECONDS = 0.97, 20.0  # of careful workers: checks passed, time for a rating

# Platforms, harnesses and forms
PlatformName = Literal[
    "collected",
    "mturk",
    "qualtrics",
    "prolific",
    "label-studio",
    "argilla",
    "potato",
    "pearmut",
    "appraise",
    "mqm",
    "google-forms",
    "table",
]
HarnessName = Literal[
    "lm-eval",
    "lmms-eval",
    "inspect",
    "helm",
    "openai-evals",
    "promptfoo",
    "deepeval",
    "pydantic-evals",
    "ragas",
    "mlflow",
    "sacrebleu",
    "mteb",
    "langsmith",
    "braintrust",
    "langfuse",
]
UploaderName = Literal[
    "html", "potato", "label-studio", "argilla", "qualtrics", "mturk", "google-forms", "prolific"
]
# Those that a link opens, with which Prolific sends people on.
WITH_PROLIFIC: tuple[UploaderName, ...] = ("html", "qualtrics", "potato", "google-forms")
# What people call them.
TITLES: Mapping[PlatformName | HarnessName | UploaderName, str] = {
    "collected": "the page of this program",
    "mturk": "Mechanical Turk",
    "qualtrics": "Qualtrics",
    "prolific": "Prolific",
    "label-studio": "Label Studio",
    "argilla": "Argilla",
    "potato": "Potato",
    "pearmut": "Pearmut",
    "appraise": "Appraise",
    "mqm": "MQM",
    "google-forms": "Google Forms",
    "table": "a table of your own",
    "html": "Rating form (HTML)",
    "lm-eval": "lm-evaluation-harness",
    "lmms-eval": "lmms-eval",
    "inspect": "Inspect",
    "helm": "HELM",
    "openai-evals": "OpenAI evals",
    "promptfoo": "promptfoo",
    "deepeval": "DeepEval",
    "pydantic-evals": "Pydantic Evals",
    "ragas": "ragas",
    "mlflow": "MLflow",
    "sacrebleu": "sacreBLEU",
    "mteb": "MTEB",
    "langsmith": "LangSmith",
    "braintrust": "Braintrust",
    "langfuse": "Langfuse",
}
DEFAULT_TITLE = "Rating texts"
DEFAULT_INSTRUCTIONS = (
    "Read each text, and answer what is asked below it. There are no right answers but yours; where a text says "
    "that it is an attention check, do what it says."
)
DEFAULT_CRITERION, DEFAULT_QUESTION_TEXT = "quality", "How good is this text?"

# Scores
Question = Literal["mean", "median", "pseudomedian", "better"]
QUESTIONS: Mapping[Question, str] = {
    "mean": "does B have the higher mean score?",
    "median": "is the middle difference B - A other than 0?",
    "pseudomedian": "is the middle of all means of two differences other than 0?",
    "better": "is B better on more than half of the items, however much?",
}
Procedure = Literal["question", "nlpstattest"]
DEFAULT_RESAMPLES = 10_000
CURVE_SIMULATIONS = 1000
ADVISED = "recommended"  # asks for the test that suits the question and the data best
ScoreCorrection = Literal["holm", "romano-wolf", "max-t", "bonferroni", "bh", "none"]


class CorrectionName(NamedTuple):
    """How a correction of p-values is called in a list and in a sentence, who is cited for it, and what it limits:
    the chance of 'any' untrue claim, the expected 'share' of untrue ones, or nothing ('')."""

    title: str
    words: str
    source: str
    limits: Literal["any", "share", ""]


CORRECTIONS: Mapping[ScoreCorrection, CorrectionName] = {
    "holm": CorrectionName("Holm", "Holm's correction", "Holm 1979", "any"),
    "romano-wolf": CorrectionName(
        "Romano and Wolf", "Romano and Wolf's correction", "Romano and Wolf 2005", "any"
    ),
    "max-t": CorrectionName(
        "Largest t (Dunnett, Tukey)", "the max-t correction", "Hothorn, Bretz and Westfall 2008", "any"
    ),
    "bonferroni": CorrectionName("Bonferroni", "Bonferroni's correction", "", "any"),
    "bh": CorrectionName(
        "Benjamini and Hochberg (false discovery rate)",
        "Benjamini and Hochberg's correction of the false discovery rate",
        "Benjamini and Hochberg 1995",
        "share",
    ),
    "none": CorrectionName("None", "no correction", "", ""),
}
NORMALITY_ALPHA = 0.05
PowerBy = Literal["bootstrap", "normal", "formula"]
MOST_NEEDED = 1_000_000  # items that are worth naming
MOST_PRIMER_ITEMS = 1_000_000
PRIMER_ITEMS = (100, 500, 2000, 10_000)
PRIMER_EFFECTS = (0.005, 0.01, 0.02, 0.05)
PRIMER_HURT = tuple(percent / 100 for percent in range(20))

# Accuracies and counts
LabelOrigin = Literal["unknown", "random", "apart"]  # how labelled outputs were chosen
PairedTest = Literal["mid-p", "unconditional", "asymptotic", "exact"]
RECOMMENDED: PairedTest = "mid-p"  # of McNemar's tests
PowerOn = Literal["test", "validation"]
Compat = Literal["card2020"]
Prior = Literal["glue", "squad", "middle", "least", "most"]
ContingencyMetric = Literal[
    "f1",
    "precision",
    "recall",
    "accuracy",
    "balanced-accuracy",
    "mcc",
    "macro-f1",
    "micro-f1",
]
METRIC_WORDS: Mapping[str, str] = {"f1": "F1", "mcc": "MCC", "macro-f1": "macro-F1", "micro-f1": "micro-F1"}

# Metrics of a corpus
CorpusMetric = Literal["bleu", "chrf", "chrf++"]
Tokenizer = Literal["13a", "intl", "zh", "char", "none"]
FlipTest = Literal["normal", "flips"]
DEFAULT_FLIPS = 1000
DEFAULT_SUBSETS = 1000
DEFAULT_SWAPS = 10_000  # of a randomisation test, of a corpus or of counts
# Share of zero effects and Laplace scale: Card et al. (2020), Table 3, WMT English-German, and appendix G.
PRESETS: dict[str, tuple[float, float]] = {
    "card2020": (0.13, 25.8),
    "wmt19-tf19-tf18": (0.19, 23.7),
    "wmt18-tf18-tf16": (0.09, 29.4),
    "wmt17-tf16-conv17": (0.12, 22.5),
    "wmt16-tf16-conv14": (0.10, 27.6),
    "card2020-appendix-g": (0.20, 26.0),
}

# Direct assessment
ScoreTest = Literal["mann-whitney", "welch", "student"]
Below = Literal["leave", "clip", "truncate"]
USUAL_MEAN, USUAL_SD = 75.0, 25.0  # of ratings, in points of a hundred
USUAL_CORRELATIONS = (1.0, 0.9, 0.7, 0.5, 0.2)
FEWEST_ABOVE = (
    20  # comparisons above a threshold: below this a share of 95 % is a matter of a single comparison
)
SHARE = 0.95  # of the comparisons above an observed threshold

# Preferences, and battles of ranked systems
ConditionalTest = Literal["mid-p", "asymptotic", "exact"]
Ties = Literal["excluded", "split", "kept"]
BattleTies = Literal["davidson", "rao-kupper"]
PairTest = Literal["holm", "max-t"]
BoardTest = Literal["holm", "max-t", "signs"]  # of scores
Tasks = Literal["sampled", "fixed"]
MOST_RANKED = 300  # systems

LEAST_DRAWN_ITEMS = 4  # from a pool
USUAL_METRIC_CORRELATION = 0.2  # of a text metric with people on one item, at its best
USUAL_POOL_WORKERS = 10  # for what a draw wins, where nobody says how many there will be
Allocation = Literal["proportional", "neyman"]  # of labels to strata
MOST_JUDGED = 1_000_000  # items that judges score alone: more leave nothing to gain
MOST_JUDGE_RUNS = 10
DEFAULT_JUDGE_RUNS = 5  # of a judge on an item, at most, where nobody says

# Plans of agreement: the numbers that are looked at, and the share of raters' levels in a rating's variance.
PLANNED_RATERS = (3, 4, 5, 6, 8, 10, 15, 20)
PLANNED_OUTPUTS = (30, 100, 300, 1_000)
PlannedMeasure = Literal["alpha", "kappa", "ac1", "alpha-nominal"]  # of agreement
MOST_RATERS, MOST_OUTPUTS = 1_000, 5_000  # that are looked at; of outputs where nothing else is said
DEFAULT_RATER_SHARE = 0.1
