"""`accuracy`, as programs."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call
from humeval_power.interfaces.python_code.scenarios.questions import Kind
from humeval_power.interfaces.python_code.scenarios.runs import of_column
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import Typed


def _build(typed: Typed, source: Source, n: Value, effect: Value) -> Call:
    if typed["test_name"] == "unpaired":
        alpha = typed.given("alpha")
        return call("hp.accuracy.UnpairedAccuracy", n, effect, baseline=typed["baseline"], alpha=alpha)
    agreement, is_listed = _agreement(typed), isinstance(typed["agreement"], Code)
    return call(
        "hp.accuracy.PairedAccuracy",
        n,
        difference=effect,
        agreement=agreement if is_listed else source.named("agreement", agreement),
        baseline=typed["baseline"],
        test=typed.given("test_name"),
        alpha=typed.given("alpha"),
    )


def _agreement(typed: Typed) -> Value:
    known, overlap = typed["agreement"], typed["overlap"]
    if known is not None:
        return call("hp.accuracy.KnownAgreement", known)
    if _is_file(overlap):
        return call("hp.accuracy.read_overlap", overlap)
    return Code(f'hp.accuracy.PRIORS["{overlap or "middle"}"]')


def _is_file(overlap: Value) -> bool:
    """Whether agreement is predicted by a regression that a file holds."""
    return str(overlap).lower().endswith(".json")


def _prior(typed: Typed) -> Value:
    """A word, or what a file holds."""
    overlap = typed.given("overlap")
    return call("hp.accuracy.read_overlap", overlap) if _is_file(overlap) else overlap


def _largest(typed: Typed, comparison: Code) -> Value:
    if typed["test_name"] == "unpaired":
        return max(1.0 - float(typed["baseline"]), 0.0)
    agreement = Code(f"{comparison}.agreement")
    return call("hp.accuracy.largest_difference", agreement, baseline=Code(f"{comparison}.baseline"))


ACCURACY = Kind(_build, _largest, lists=("baseline", "agreement"))


_OF_ANSWERS = ("labels", "column", "systems", "cluster")


def test(typed: Typed, source: Source) -> None:
    """A finished comparison, from files of predictions, a table of answers or of counts, or counts."""
    if typed["run_column"] is not None:
        of_column(typed, source)
        return
    files, alpha = typed["files"], typed.given("alpha")
    if files and (len(files) == 2 or _is_of_answers(typed)):
        tested: Value = _answers(typed, source)
    elif len(files) == 1:
        tested = source.let("comparisons", call("hp.accuracy.read_counts", files[0]))
    else:
        typed.allow(*_OF_ANSWERS)
        numbers = [typed[name] for name in ("only_b", "only_a", "n")]
        both = typed["both"]
        known = call("hp.accuracy.PairedCounts", *numbers, *(() if both is None else (both,)))
        tested = source.let("counts", known)
    source.let("result", call("hp.accuracy.test", tested, alpha=alpha))


def _is_of_answers(typed: Typed) -> bool:
    """Whether one table holds answers and not counts: it was said so, or its columns say so."""
    from humeval_power.interfaces.formats.accuracy.results import has_counts
    from humeval_power.interfaces.formats.tables import read_table

    asked = [typed[name] for name in _OF_ANSWERS]
    return any(asked) or not has_counts(read_table(typed["files"][0]))


def estimate(typed: Typed, source: Source) -> None:
    """Accuracies and agreement of two systems."""
    source.let("result", call("hp.accuracy.estimate", _answers(typed, source)))


def _answers(typed: Typed, source: Source) -> Code:
    asked = {name: typed[name] for name in ("labels", "column", "cluster")}
    systems = list(typed["systems"] or ()) or None
    return source.let(
        "answers", call("hp.accuracy.read_answers", *typed["files"], systems=systems, **asked)
    )


def bounds(typed: Typed, source: Source) -> None:
    """The smallest improvement that a test set can show."""
    asked = {**_shared(typed), "compat": typed["compat"]}
    found = call("hp.accuracy.bounds", typed["n"], typed["baseline"], **asked)
    source.let("result", found)


def claims(typed: Typed, source: Source) -> None:
    """Claims of improvement beside what their test sets can show."""
    read = call("hp.accuracy.read_claims", typed["table"], sizes=typed["sizes"])
    source.let("claims, in_percent, n_left_out", read)
    overlap = _prior(typed)
    source.let("result", call("hp.accuracy.claims", Code("claims"), overlap=overlap, **_shared(typed)))


def leaderboard(typed: Typed, source: Source) -> None:
    """Submissions to a leaderboard."""
    source.let("submissions, in_percent", call("hp.accuracy.read_leaderboard", typed["table"]))
    pairs: Value = None
    if typed["pairs"] is not None:
        n_validation = typed["n_validation"]
        read = call(
            "hp.accuracy.read_pairs", typed["pairs"], Code("submissions"), n_validation=n_validation
        )
        pairs = source.let("pairs", read)
    asked = {"n": typed["n"], "overlap": _prior(typed), "pairs": pairs, **_shared(typed)}
    asked["power_on"] = typed.given("power_on")
    source.let("result", call("hp.accuracy.leaderboard", Code("submissions"), **asked))


def overlap(typed: Typed, source: Source) -> None:
    """A regression of agreement on one's own pairs of systems."""
    if typed["pairs"] is None:
        source.let("pairs, in_percent", call("hp.accuracy.read_system_pairs", typed["table"]))
        source.let("result", call("hp.accuracy.overlap", Code("pairs")))
        return
    source.let("submissions, in_percent", call("hp.accuracy.read_leaderboard", typed["table"]))
    counted = call(
        "hp.accuracy.read_pairs", typed["pairs"], Code("submissions"), n_validation=typed["n_validation"]
    )
    known = source.let("counted", counted)
    chosen = {"new_best_of": typed["n"], "power_on": typed.given("power_on")}
    taken = call("hp.accuracy.pairs_of_leaderboard", Code("submissions"), known, **chosen)
    source.let("result", call("hp.accuracy.overlap", source.let("pairs", taken)))


def _shared(typed: Typed) -> dict[str, Value]:
    return {
        "test": typed.given("test_name"),
        "power": typed.given("target"),
        "alpha": typed.given("alpha"),
    }
