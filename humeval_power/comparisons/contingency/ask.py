"""`humeval-power compare contingency`: two classifiers by F1, MCC and other metrics of the confusion matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from humeval_power.asking.calls import TypedValues, evaluated
from humeval_power.asking.declared import Calls, Declaration, Page, Part
from humeval_power.asking.expressions import Call, Value, call
from humeval_power.asking.form import Next
from humeval_power.asking.study_file import EffectRange
from humeval_power.asking.vocabulary import (
    ALPHA,
    CLUSTER_OR_LINES,
    FLIPS,
    GOLD,
    METRIC_HELP,
    SEED,
    SIZE_OF_SAMPLE,
    SWAPS,
    TEST_ITEMS,
    TRUE_EFFECT,
)
from humeval_power.choices import METRIC_WORDS, ContingencyMetric
from humeval_power.comparisons.questions import Given, QuestionPage, Questions, Subject
from humeval_power.errors import InputError, refusal
from humeval_power.fields import listed, number_list, own, real, text, word
from humeval_power.studies.power.wording import Wording, higher

if TYPE_CHECKING:
    from humeval_power.comparisons.contingency.scenario import ContingencyStudy


def _metric(scenario: ContingencyStudy) -> str:
    return METRIC_WORDS.get(scenario.metric, scenario.metric)


def _words(scenario: ContingencyStudy) -> list[str]:
    from humeval_power.comparisons.contingency.scenario import DEFAULT_FLIPS

    flips = "exact p-values" if scenario.is_exact else f"{scenario.n_flips or DEFAULT_FLIPS:,} random swaps"
    return [
        f"{scenario.n_items:,} items of {len(scenario.tables.classes)} classes; the systems agree on "
        f"{100 * scenario.tables.agreement:.1f} %",
        f"{_metric(scenario)} of A {scenario.value_a:.4f}, of B {scenario.value_b:.4f}",
        f"randomisation test, alpha {scenario.alpha:g}, {flips}",
    ]


def _finding(scenario: ContingencyStudy) -> str:
    effect = scenario.true_effect
    return f"that the {_metric(scenario)} of B is {abs(effect):.4g} {higher(effect)} than that of A"


WORDING = Wording(
    "contingency",
    _words,
    said=lambda scenario: f"B - A = {scenario.true_effect:.4g} in {_metric(scenario)}",
    finding=_finding,
    sized="items",
)


_LABELS = {
    "gold": replace(GOLD, needed=True),
    **{
        f"system_{one.lower()}": own(
            GOLD.kind,
            f"Outputs of {one}.",
            f"Predictions of {one}",
            note=", its predictions: a file with one a line, or a column of the one table.",
            page_help=f"Of the same items{of}.",
            needed=True,
        )
        for one, of in (("A", ""), ("B", "; effects are B - A"))
    },
}
_DATA = {"table": own(text("[TABLE]"), ""), **_LABELS}
_METRIC = own(
    replace(word(ContingencyMetric), metavar="NAME"),
    METRIC_HELP,
    "Metric",
    note=": f1, precision or recall (of the positive class), accuracy, balanced-accuracy, mcc, macro-f1 or "
    "micro-f1.",
    start="f1",
    usual="f1",
)
_POSITIVE = own(
    text("LABEL"),
    "The positive class, for F1, precision and recall. [1]",
    "Positive class",
    page_help="For F1, precision and recall. [1]",
)
_NAMES = ", ".join(_LABELS)
_PREDICTIONS = Part("The predictions", tuple(_LABELS))


def _labels(
    given: TypedValues, calls: Calls, cluster: str | None = None
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Three lists of labels of a table or of files, and as arguments the clusters of their items."""
    places = {name: given[name] for name in _LABELS}
    if given["table"] is not None:
        read = call("hp.contingency.read_label_table", given["table"], **places, cluster=cluster)
        table = calls.let("table", read)
        known = {name: calls.attribute(table, name) for name in ("clusters", "suspects")}
        return calls.unpack(_NAMES, calls.attribute(table, "labels")), known
    labels = calls.unpack(_NAMES, call("hp.contingency.read_labels", *places.values()))
    if cluster is None:
        return labels, {}
    lines = call("hp.contingency.read_cluster_lines", cluster, call("len", labels[0]))
    return labels, {"clusters": calls.let("clusters", lines)}


def _estimate(given: TypedValues, calls: Calls) -> None:
    labels, _ = _labels(given, calls)
    calls.let("result", call("hp.contingency.estimate", *labels, positive=given["positive"]))


ESTIMATE = Declaration(
    ("contingency", "estimate"),
    """How do two systems err together: joint tables and every metric, from labels.

    Power depends on how often the systems differ, class by class. The commands
    power, mde, size and surface take these tables with the same three files.
    Of one TABLE the three options name columns.
    """,
    {**_DATA, "positive": _POSITIVE},
    _estimate,
    Page(
        "How two classifiers err together",
        "The joint tables of both systems in each class, and every metric of them.",
        (_PREDICTIONS, Part("The metric", ("positive",))),
        tuple(
            Next(("contingency", question), words, ("gold", "system-a", "system-b", "positive"))
            for question, words in (
                ("power", "Power of a test set"),
                ("size", "Items that find a difference"),
            )
        ),
    ),
    arguments=("table",),
)


def _test(given: TypedValues, calls: Calls) -> None:
    labels, clusters = _labels(given, calls, given["cluster"])
    what, how = (
        {name: given.given(name) for name in names}
        for names in (("metric", "positive", "alpha"), ("n_swaps", "seed"))
    )
    calls.let("result", call("hp.contingency.test", *labels, **what, **clusters, **how))


TEST = Declaration(
    ("contingency", "test"),
    """Is B better than A: the paired randomisation test of F1, MCC and the like.

    Exchanges the two predictions of a random half of the items and counts how
    often the systems then differ as much as A and B do. With two classes every
    exchange is counted, without drawing any. With --cluster whole clusters are
    exchanged: the items of a passage stay together. Of one TABLE the options name
    columns.
    """,
    {
        **_DATA,
        "metric": _METRIC,
        "positive": _POSITIVE,
        "n_swaps": SWAPS,
        "cluster": CLUSTER_OR_LINES,
        "alpha": ALPHA,
        "seed": SEED,
    },
    _test,
    Page(
        "F1, MCC and the like",
        "Metrics of a confusion matrix: is B better than A? By exchanging predictions of the same items.",
        (
            _PREDICTIONS,
            Part("The metric", ("metric", "positive")),
            Part("The test", ("alpha", "cluster", "n_swaps", "seed")),
        ),
        (
            Next(("contingency", "estimate"), "How the systems err together"),
            *(
                Next(
                    ("contingency", question),
                    words,
                    ("gold", "system-a", "system-b", "metric", "positive", "alpha"),
                )
                for question, words in (
                    ("power", "Power of another test set"),
                    ("size", "Items that find a difference"),
                )
            ),
        ),
    ),
    arguments=("table",),
)
_BINARY = ("prevalence", "recall", "precision")
_SEVERAL = ("class_shares", "class_recalls")
_WAYS = (
    "Say what is known of the systems: --gold, --system-a and --system-b (their labels on some data); or "
    "--prevalence, --recall and --precision; or --class-shares and --class-recalls."
)


def _tables(given: Given, calls: Calls) -> Call:
    """The joint tables that the options describe."""
    ways = [way for way in (tuple(_LABELS), _BINARY, _SEVERAL) if any(given[name] for name in way)]
    if len(ways) != 1:
        raise InputError(_WAYS)
    known = {name: given[name] for name in ways[0]}
    missing = [f"--{name.replace('_', '-')}" for name, value in known.items() if not value]
    if missing:
        raise InputError(f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing. {_WAYS}")
    agreement, correlation = given["agreement"], given["correlation"]
    if "gold" in known:
        if agreement is not None or correlation is not None:
            raise InputError(
                "The files show how often the systems agree: leave out --label-agreement and "
                "--correctness-correlation."
            )
        read = call("hp.contingency.read_labels", *known.values())
        labels = calls.unpack(_NAMES, read)
        return call(
            "hp.contingency.observed_tables",
            *calls.unpack("counts, classes", call("hp.contingency.counted", *labels)),
        )
    if "prevalence" in known:
        shares = [1 - known["prevalence"], known["prevalence"]]
        recalls = calls.let("recalls", call("hp.contingency.binary_recalls", **known))
    else:
        shares, recalls = known.values()
    if (agreement is None) == (correlation is None):
        remedy = "0 means that errors are independent; systems of one family have 0.5 and more."
        rule = (
            "Give --label-agreement or --correctness-correlation, one of them: power depends much on how often "
            "both err alike."
        )
        raise refusal(rule, remedy)
    if agreement is not None:
        return call("hp.contingency.equal_agreement", shares, recalls, agreement=agreement)
    return call("hp.contingency.correlated_errors", shares, recalls, correlation=correlation)


def _before(given: Given, calls: Calls) -> Mapping[str, Any]:
    """The tables, and where their positive class is; of what is assumed that is 1, unless it is said."""
    tables, metric, label = calls.let("tables", _tables(given, calls)), given["metric"], given["positive"]
    if label is None and given["gold"] is None:
        return {"tables": tables, "place": None}
    classes = calls.attribute(tables, "classes")
    place = call("hp.contingency.place_of_positive", metric, classes, label)
    return {"tables": tables, "place": calls.let("positive", place)}


def _study(n: Value, given: Given) -> Call:
    how = {name: given[name] for name in ("n_flips", "alpha")}
    what = {"base": given["tables"], "metric": given["metric"], "positive": given["place"]}
    return call("hp.contingency.ContingencyStudy", n, **what, **how)


def _reach(given: Given) -> tuple[float, float]:
    """The smallest and the largest difference that is possible."""
    low, high = evaluated(_study(2, given)).reach
    return low, high


def _range(given: Given) -> EffectRange:
    low, high = _reach(given)
    return EffectRange(
        low,
        high,
        f"with these systems and this agreement a difference of {given['metric']} lies between {low:.4g} and "
        f"{high:.4g}.",
        "Assume less agreement or a smaller effect.",
    )


def _remarks(given: Given) -> Iterable[str]:
    """Labels that systems alone give."""
    if given["gold"] is None:
        return ()
    from humeval_power.comparisons.contingency.scenario import foreign_labels

    tables = given["tables"]
    return foreign_labels(tables.probability, tables.classes)


_SHARE = replace(real(), metavar="SHARE")
_NUMBERS = listed(number_list(float, repeats=True), "LIST")  # classes can have the same share
_RATE: dict[str, Any] = {"step": 0.01, "slider": (0.01, 1), "start": "0.8"}
QUESTIONS = Questions(
    "contingency",
    WORDING,
    n=replace(
        SIZE_OF_SAMPLE,
        label="Items in the test set",
        note=TEST_ITEMS,
        unit="items",
        slider=(50, 10000),
        step=50,
        start="1000",
    ),
    effect=replace(
        TRUE_EFFECT,
        label="True difference of the metric B - A",
        note="of the metric, such as 0.02.",
        slider=(0, 0.2),
        step=0.005,
        start="0.02",
    ),
    fields={
        "metric": _METRIC,
        "positive": _POSITIVE,
        **{
            name: replace(one, note=": a file with one a line.", page_help="", needed=False)
            for name, one in _LABELS.items()
        },
        "prevalence": own(
            _SHARE,
            "Two classes: share of positive items.",
            "Share of positive items",
            slider=(0.01, 0.99),
            step=0.01,
            start="0.3",
        ),
        "recall": own(
            _SHARE,
            "Two classes: recall of the systems, halfway between A and B.",
            "Recall, between A and B",
            **_RATE,
        ),
        "precision": own(
            _SHARE,
            "Two classes: precision of the systems, halfway between them.",
            "Precision, between A and B",
            **_RATE,
        ),
        "class_shares": own(_NUMBERS, "Shares of the classes.", "Shares of the classes"),
        "class_recalls": own(_NUMBERS, "Recall in each class.", "Recall in each class"),
        "agreement": own(
            _SHARE,
            "Both systems give the same label, alike in every class.",
            "Both give the same label",
            option="label-agreement",
            unit="as a share",
            slider=(0.5, 1),
            step=0.005,
            start="0.9",
        ),
        "correlation": own(
            replace(real(), metavar="R"),
            "Or: correlation of being right, alike in every class; 0 is independent.",
            "Or: correlation of being right",
            option="correctness-correlation",
        ),
        "n_flips": replace(FLIPS, page_help="None with two classes, which are exact; else 1,000."),
        "alpha": ALPHA,
    },
    before=_before,
    comparison=lambda n, effect, given: _study(n, given).method("with_effect", effect),
    largest_effect=lambda given: _reach(given)[1],
    effect_range=_range,
    remarks=_remarks,
    page=QuestionPage(
        "a comparison by F1 and the like",
        (
            Part("The metric", ("metric", "positive")),
            Part("Two classes, from what is reported", (*_BINARY, "agreement", "correlation")),
            Part("More classes", _SEVERAL, folded=True),
            Part("Or from the predictions of two systems", tuple(_LABELS), folded=True),
            Part("The test", ("alpha", "n_flips")),
        ),
    ),
)
SUBJECT = Subject(
    "contingency",
    """Compare two classifiers by F1, MCC, balanced accuracy and the like.

    Such a metric depends on the whole confusion matrix, so power needs the
    joint table of both systems' predictions in each class: from labels of two
    systems like yours, or from what is usually reported and an assumption on
    how often they agree.

    Another effect is made by giving B a share of the items that A alone has
    right, the same share in every class: agreement stays as it is.
    """,
    (ESTIMATE, TEST, QUESTIONS),
)
command = SUBJECT.command()
