"""`contingency`, as programs."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call
from humeval_power.interfaces.python_code.runs import seed_of
from humeval_power.interfaces.python_code.scenarios.questions import Kind
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import Typed

_FILES = ("gold", "system_a", "system_b")


def _contingency(typed: Typed, source: Source, n: Value, effect: Value) -> Call:
    tables = source.let("tables", _tables(typed, source))
    metric, label = typed["metric"], typed["positive"]
    positive: Value = None
    if label is not None or typed["gold"] is not None:
        place = call("hp.contingency.place_of_positive", metric, Code(f"{tables}.classes"), label)
        if label is None:
            place = call(
                "hp.contingency.place_of_positive", metric, Code(f"{tables}.classes"), Code("None")
            )
        positive = source.let("positive", place)
    study = call(
        "hp.contingency.ContingencyStudy",
        n,
        base=tables,
        metric=typed.given("metric"),
        positive=positive,
        n_flips=typed["flips"],
        alpha=typed.given("alpha"),
    )
    return study if effect == 0.0 else study.method("with_effect", effect)


def _tables(typed: Typed, source: Source) -> Call:
    files = [typed[name] for name in _FILES]
    agreement, correlation = typed["agreement"], typed["correlation"]
    binary = {name: typed[name] for name in ("prevalence", "recall", "precision")}
    shares, recalls = typed["class_shares"], typed["class_recalls"]
    if files[0] is not None:
        labels = call("hp.contingency.read_labels", *files)
        source.let("gold, system_a, system_b", labels)
        names = (Code("gold"), Code("system_a"), Code("system_b"))
        source.let("counts, classes", call("hp.contingency.counted", *names))
        return call("hp.contingency.observed_tables", Code("counts"), Code("classes"))
    how: Sequence[Value] = (shares and list(shares), recalls and list(recalls))
    if shares is None:
        rates = source.let("recalls", call("hp.contingency.binary_recalls", **binary))
        how = ([1 - binary["prevalence"], binary["prevalence"]], rates)
    if agreement is not None:
        return call("hp.contingency.equal_agreement", *how, agreement=agreement)
    return call("hp.contingency.correlated_errors", *how, correlation=correlation)


CONTINGENCY = Kind(_contingency, lambda _typed, comparison: Code(f"{comparison}.reach[1]"))


def contingency_test(typed: Typed, source: Source) -> None:
    """The randomisation test of F1 and the like."""
    labels, of_table = _labels(typed, source, cluster=typed["cluster"])
    asked: dict[str, Value] = {name: typed.given(name) for name in ("metric", "positive", "alpha")}
    if of_table:
        asked |= {name: Code(f"table.{name}") for name in ("clusters", "suspects")}
    elif typed["cluster"] is not None:
        read = call("hp.contingency.read_cluster_lines", typed["cluster"], Code("len(labels[0])"))
        asked["clusters"] = source.let("clusters", read)
    swaps, seed = typed.given("swaps"), seed_of(typed)
    source.let("result", call("hp.contingency.test", labels, **asked, n_swaps=swaps, seed=seed))


def contingency_estimate(typed: Typed, source: Source) -> None:
    """How two systems err together."""
    labels, _ = _labels(typed, source)
    source.let("result", call("hp.contingency.estimate", labels, positive=typed["positive"]))


def _labels(typed: Typed, source: Source, **more: Value) -> tuple[Code, bool]:
    """Three lists of labels, and whether they are of one table."""
    names = {name: typed[name] for name in _FILES}
    if typed["table"] is None:
        source.let("labels", call("hp.contingency.read_labels", *names.values()))
        return Code("*labels"), False
    source.let("table", call("hp.contingency.read_label_table", typed["table"], **names, **more))
    return Code("*table.labels"), True
