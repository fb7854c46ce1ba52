"""`humeval-power compare accuracy`: two systems on a test set, their power, and what was claimed of others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

from humeval_power.asking.calls import Caller, TypedValues, evaluated
from humeval_power.asking.declared import Calls, Declaration, Page, Part
from humeval_power.asking.expressions import Call, Code, Value, call
from humeval_power.asking.form import Next
from humeval_power.asking.study_file import ACCURACIES
from humeval_power.asking.vocabulary import (
    ACCURACY_DIFFERENCE,
    AGREEMENT,
    ALPHA,
    CLUSTER_OR_LINES,
    COMPAT_HELP,
    GOLD,
    RUN,
    SIZE_OF_SAMPLE,
    TARGET,
    TEST_HELP,
    TEST_ITEMS,
    TRUE_EFFECT,
    TWO_SYSTEMS,
)
from humeval_power.choices import RECOMMENDED, Compat, PairedTest, PowerOn, Prior
from humeval_power.comparisons.accuracy.wording import WORDING
from humeval_power.comparisons.questions import Given, QuestionPage, Questions, Subject
from humeval_power.comparisons.runs.ask import test_of_runs
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.fields import own, real, text, whole, word
from humeval_power.saying.numbers import counted

_TESTS = {
    "mid-p": "McNemar, mid-p (recommended)",
    "unconditional": "unconditional exact",
    "asymptotic": "McNemar, by the normal distribution",
    "exact": "McNemar, exact and cautious",
}
_N = replace(
    SIZE_OF_SAMPLE, label="Items in the test set", note=TEST_ITEMS, unit="items", slider=(50, 5000), step=10
)
_SIZE = replace(_N, start="1000", needed=True)
_BASELINE = own(
    real(),
    "Accuracy of A, the baseline, as a share.",
    "Accuracy of A",
    unit="as a share",
    slider=(0.5, 0.99),
    step=0.005,
    start="0.9",
    option="baseline-accuracy",
)
_OVERLAP = own(
    replace(word(Prior), or_file=".json"),
    "How the agreement of two systems is guessed where it is not known.",
    "Where the agreement is not known",
    words={
        "glue": "as systems on GLUE agree",
        "squad": "as systems on SQuAD 2.0 agree",
        "middle": "halfway of what is possible",
        "least": "the least that is possible (cautious)",
        "most": "the most that is possible",
    },
    note="From the baseline. Or FILE.json of 'compare accuracy overlap'.",
)
_PAIRED_TEST = own(
    word(PairedTest),
    TEST_HELP,
    "Test",
    words=_TESTS,
    usual=RECOMMENDED,
    note=": a version of McNemar's.",
)
_POWER_ON = own(
    word(PowerOn),
    "The set whose size the power is of. Card et al. (2020) took the validation set.",
    usual="test",
)
_PAIRS = own(
    text("FILE"),
    "On how many items of the validation set two submissions differ: a table with the columns first, second "
    "and differing.",
)
_N_VALIDATION = own(whole(2), "Items in the validation set, on which the pairs were counted.")
_FILES = own(
    text("[A B | TABLE]", many=True),
    "",
    "Predictions of A, then of B",
    page_help="A file each, with one prediction or 1 and 0 a line; or one table with a column for each system, or "
    "a row for each item and system; or the log of a harness.",
    rows=2,
)
_ANSWERS = {
    "gold": replace(GOLD, page_help=f"{GOLD.page_help} Empty: the files say 1 or 0."),
    "column": own(
        text("NAME"),
        "Column of the predictions in tables. [found by name]",
        "Column of the predictions",
        page_help="In tables. [found by name]",
    ),
    "systems": TWO_SYSTEMS,
    "cluster": CLUSTER_OR_LINES,
}
_FILE_PART = ("files", "gold", "systems", "cluster", "column")


def _steps(place: str) -> tuple[Next, ...]:
    """From two systems that were seen to a test set that is to be planned."""
    seen = {
        "effect": f"{place}difference",
        "baseline-accuracy": f"{place}accuracy_a",
        "agreement": f"{place}agreement",
    }
    items = {"n": f"{place}n_items"}
    return (
        Next(
            ("accuracy", "power"), "Power on a test set of this size", ("alpha",), fills={**seen, **items}
        ),
        Next(("accuracy", "size"), "Items that find this difference", ("alpha",), fills=seen),
        Next(("accuracy", "mde"), "Smallest difference that it finds", ("alpha",), fills=items),
    )


def _answers(given: TypedValues, calls: Calls) -> Any:
    if len(given["files"]) > 2:
        raise InputError("Name two files, or one table with a column for each system.")
    named = {name: given[name] for name in ("gold", "column", "cluster")}
    systems = list(given["systems"] or ()) or None
    return calls.let("answers", call("hp.accuracy.read_answers", *given["files"], systems=systems, **named))


def _test(given: TypedValues, calls: Calls) -> None:
    if given["run_column"] is not None:
        test_of_runs(given, calls)
        return
    files, counts = given["files"], {name: given[name] for name in ("only_b", "only_a", "n", "both")}
    if files and any(value is not None for value in counts.values()):
        raise InputError("Give files or counts, not both.")
    if len(files) > 1 or (files and _is_of_answers(given)):
        tested = _answers(given, calls)
    elif files:
        tested = calls.let("comparisons", call("hp.accuracy.read_counts", *files))
    else:
        both = counts.pop("both")
        if None in counts.values():
            raise InputError(
                "Give two files of predictions, one table, or --only-b, --only-a and --n. Two accuracies alone do "
                "not say how often only one system is right: 'compare accuracy bounds' says which difference so "
                "many items can show."
            )
        if given["cluster"] is not None:
            raise InputError("Counts do not say which items belong together: --cluster needs the answers.")
        given.allow(*_ANSWERS)
        numbers = (*counts.values(), *(() if both is None else (both,)))
        tested = calls.let("counts", call("hp.accuracy.PairedCounts", *numbers))
    calls.let("result", call("hp.accuracy.test", tested, alpha=given.given("alpha")))


def _is_of_answers(given: TypedValues) -> bool:
    """Whether one table holds answers and not counts: it was said so, or its columns say so."""
    from humeval_power.comparisons.accuracy.files import has_counts
    from humeval_power.files.tables import read_table

    return any(given[name] for name in _ANSWERS) or not has_counts(read_table(given["files"][0]))


_COUNT = whole(0)
TEST = Declaration(
    ("accuracy", "test"),
    """Test a difference of accuracy, the recommended test first.

    From two files of predictions, A's and B's, and --gold; from one TABLE of
    answers, with a column for each system and one of the right answers, or a
    row for each item and system; from --only-b, --only-a and --n; or from one
    TABLE with the columns b, c and n, where b counts the items that B alone got
    right, c those that A alone got right.

    With --cluster items of a passage or a template count as belonging together.
    """,
    {
        "files": _FILES,
        **_ANSWERS,
        "run_column": RUN,
        "only_b": own(_COUNT, "Items that B alone got right.", "B alone right", unit="items", also="b"),
        "only_a": own(_COUNT, "Items that A alone got right.", "A alone right", unit="items", also="c"),
        "n": replace(SIZE_OF_SAMPLE, kind=whole(1), label="Items in all", note=TEST_ITEMS, unit="items"),
        "both": own(_COUNT, "Items that both got right, if known.", "Both right, if known", unit="items"),
        "alpha": ALPHA,
    },
    _test,
    Page(
        "Accuracy of two classifiers",
        "Is B right more often than A on the same items? McNemar's tests, the recommended one first.",
        (
            Part(
                "Counts",
                ("only_b", "only_a", "n", "both"),
                "These four numbers are all that the test needs.",
            ),
            Part("Or files", _FILE_PART),
            Part("The test", ("alpha",)),
        ),
        _steps("comparisons.0."),
        is_quick=True,
    ),
    arguments=("files",),
)


def _estimate(given: TypedValues, calls: Calls) -> None:
    calls.let("result", call("hp.accuracy.estimate", _answers(given, calls)))


ESTIMATE = Declaration(
    ("accuracy", "estimate"),
    """Accuracies, difference and agreement of two systems.

    From two files of predictions, or one TABLE with a column for each system.
    The agreement on a validation set is what `compare accuracy power --agreement` needs
    for the test set. Without right answers the predictions must say right or
    wrong (1, 0).
    """,
    {"files": replace(_FILES, needed=True), **_ANSWERS},
    _estimate,
    Page(
        "Agreement of two classifiers",
        "What power depends on: how often two systems are right or wrong together, from a validation set.",
        (Part("Files", _FILE_PART),),
        _steps(""),
        is_quick=True,
    ),
    arguments=("files",),
)


def _agreement(given: Given) -> Value:
    known, prior = given["agreement"], given["overlap"]
    if known is not None:
        return call("hp.accuracy.KnownAgreement", known)
    if prior is None and given["baseline"] is None:
        raise InputError("Give --agreement, or --baseline-accuracy so that the agreement can be guessed.")
    return _predicted(prior or "middle")


def _predicted(prior: str) -> Value:
    """A prior by its word, or what `compare accuracy overlap` wrote."""
    return _in_file(prior) or Code(f'hp.accuracy.PRIORS["{prior}"]')


def _in_file(overlap: Any) -> Call | None:
    return call("hp.accuracy.read_overlap", overlap) if str(overlap).lower().endswith(".json") else None


def _comparison(n: Value, effect: Value, given: Given) -> Call:
    known, prior, baseline = (given[name] for name in ("agreement", "overlap", "baseline"))
    if given["test"] == "unpaired":
        if baseline is None:
            raise InputError("The unpaired test needs --baseline-accuracy.")
        if known is not None or prior is not None:
            raise InputError("Systems that answer different items have no agreement: leave it out.")
        return call("hp.accuracy.UnpairedAccuracy", n, effect, baseline=baseline, alpha=given["alpha"])
    if known is not None and prior is not None:
        raise InputError("Give --agreement or --overlap, not both.")
    return call(
        "hp.accuracy.PairedAccuracy",
        n,
        difference=effect,
        agreement=_agreement(given),
        baseline=baseline,
        test=given["test"],
        alpha=given["alpha"],
    )


def _remarks(given: Given) -> Iterator[str]:
    """What is assumed of the agreement, where it is not known."""
    if given["agreement"] is not None or given["test"] == "unpaired":
        return
    prior, baseline = given["overlap"], given["baseline"]
    if prior is None:
        if baseline is not None:
            yield (
                "No --agreement: half-way between the least and the most that the accuracies allow is assumed. "
                "'humeval-power compare accuracy bounds' shows how much that matters."
            )
        return
    chosen = evaluated(_predicted(prior))
    low, high = getattr(chosen, "seen", (None, None))
    if low is not None and baseline is not None and not low <= baseline <= high:
        yield (
            f"The regression on {chosen.name} systems has seen accuracies of {low:.4g} to {high:.4g} only; at "
            f"{baseline:g} it is a guess."
        )


def _largest_effect(given: Given) -> float:
    """The largest improvement that is possible."""
    baseline = given["baseline"]
    if given["test"] == "unpaired":
        return 1.0 if baseline is None else max(1.0 - baseline, 0.0)
    result = evaluated(call("hp.accuracy.largest_difference", _agreement(given), baseline=baseline))
    return float(result)


QUESTIONS = Questions(
    "accuracy",
    WORDING,
    n=_SIZE,
    effect=replace(
        TRUE_EFFECT,
        label="True difference B - A",
        note=ACCURACY_DIFFERENCE,
        unit="as a share",
        slider=(0, 0.1),
        step=0.001,
        start="0.02",
    ),
    fields={
        "baseline": _BASELINE,
        "agreement": AGREEMENT,
        "overlap": replace(
            _OVERLAP,
            note="From the accuracy of the baseline by a regression on GLUE or SQuAD 2.0 systems, or the least, "
            "the most, or the middle of what the accuracies allow. [middle] Or FILE.json of 'compare accuracy "
            "overlap'.",
        ),
        "test": own(
            word((*_TESTS, "unpaired")),
            TEST_HELP,
            "Test",
            note=": McNemar's in four versions; 'unpaired' if each system answers n items of its own.",
            words={**_TESTS, "unpaired": "unpaired: each system answers items of its own"},
            usual=RECOMMENDED,
        ),
        "alpha": ALPHA,
    },
    comparison=_comparison,
    largest_effect=_largest_effect,
    lists=("baseline", "agreement"),
    effect_range=lambda _given: ACCURACIES,
    remarks=_remarks,
    page=QuestionPage(
        "a comparison of accuracy",
        (Part("The systems", ("baseline", "agreement", "overlap")), Part("The test", ("test", "alpha"))),
        (
            Next(
                ("accuracy", "bounds"),
                "Where the agreement is not known",
                ("n", "baseline-accuracy", "alpha"),
                fills={"n": "found.n"},
            ),
        ),
    ),
)


def _shared(given: TypedValues) -> dict[str, Value]:
    return {name: given.given(name) for name in ("test", "power", "alpha")}


def _bounds(given: TypedValues, calls: Calls) -> None:
    options = {**_shared(given), "compat": given["compat"]}
    calls.let("result", call("hp.accuracy.bounds", given["n"], given["baseline"], **options))


BOUNDS = Declaration(
    ("accuracy", "bounds"),
    """The smallest improvement a test set can show, agreement not known.

    Under the least and the most agreement that the accuracies allow, half-way
    between them, and as regressions on GLUE and SQuAD 2.0 systems predict it.
    """,
    {
        "n": _SIZE,
        "baseline": replace(_BASELINE, needed=True),
        "test": _PAIRED_TEST,
        "power": TARGET,
        "alpha": ALPHA,
        "compat": own(
            word(Compat), COMPAT_HELP, note="The columns of their Tables 2 and 9, as they computed them."
        ),
    },
    _bounds,
    Page(
        "Smallest improvement that a test set shows",
        "Where nobody knows how often the systems agree: the least and the most that is possible.",
        (Part("The test set", ("n", "baseline")), Part("The test", ("power", "test", "alpha"))),
        (Next(("accuracy", "power"), "Power at an agreement", ("n", "baseline-accuracy", "alpha")),),
        is_quick=True,
    ),
)


def _percent(calls: Calls, in_percent: Any) -> list[str]:
    """What is said where accuracies are per cent; a program does not say it."""
    return (
        [] if not (isinstance(calls, Caller) and in_percent) else ["The accuracies are taken as per cent."]
    )


def _claims(given: TypedValues, calls: Calls) -> None:
    read = call("hp.accuracy.read_claims", given["table"], sizes=given["sizes"])
    claims, in_percent, n_left_out = calls.unpack("claims, in_percent, n_left_out", read)
    remarks = _percent(calls, in_percent)
    if isinstance(calls, Caller) and n_left_out:
        remarks.append(
            f"{counted(n_left_out, 'row')} left out: no claim of an improvement on the best so far."
        )
    options = {
        "overlap": _in_file(given.given("overlap")) or given.given("overlap"),
        **_shared(given),
        "remarks": remarks or None,
    }
    calls.let("result", call("hp.accuracy.claims", claims, **options))


_CLAIMED = Part("The test", ("overlap", "test", "power", "alpha"))
_JUDGED = {"test": _PAIRED_TEST, "power": TARGET, "alpha": ALPHA}
CLAIMS = Declaration(
    ("accuracy", "claims"),
    """Could test sets have shown the improvements that were claimed?

    TABLE has a row for each claim: task, n, baseline, improvement (or accuracy)
    and perhaps name. Rows with N under claimed or sota_comparison are left out.
    Each claim is compared with the smallest improvement that its test set finds,
    and with what a regression on all other claims expects.
    """,
    {
        "table": own(
            text(),
            "",
            "Table of claims",
            page_help="A row each: task, n, baseline, improvement (or accuracy) and perhaps name.",
            needed=True,
        ),
        "sizes": own(text("FILE"), "Items of each task's test set: a table with the columns task and n."),
        "overlap": replace(
            _OVERLAP, usual="glue", note=f"{_OVERLAP.note} Claims are mostly of GLUE's tasks."
        ),
        **_JUDGED,
    },
    _claims,
    Page(
        "Claims of improvement",
        "Could these test sets have shown the improvements that were claimed?",
        (Part("The claims", ("table",)), _CLAIMED),
    ),
    arguments=("table",),
)


def _leaderboard(given: TypedValues, calls: Calls) -> None:
    _together(given, ("--power-on validation", given["power_on"] == "validation"))
    if given["pairs"] is not None and given.was_stated("overlap"):
        raise refusal("is guessed, and --pairs counts it.", "Leave out one of them.", "--overlap")
    submissions, in_percent = _submissions(given, calls)
    pairs = None
    if given["pairs"] is not None:
        pairs = calls.let("pairs", _pairs(given, submissions))
    options = {
        "n": given["n"],
        "overlap": _in_file(given.given("overlap")) or given.given("overlap"),
        "pairs": pairs,
        **_shared(given),
    }
    options |= {"power_on": given.given("power_on"), "remarks": _percent(calls, in_percent) or None}
    calls.let("result", call("hp.accuracy.leaderboard", submissions, **options))


def _submissions(given: TypedValues, calls: Calls) -> Any:
    return calls.unpack("submissions, in_percent", call("hp.accuracy.read_leaderboard", given["table"]))


def _pairs(given: TypedValues, submissions: Value) -> Call:
    n_validation = given["n_validation"]
    return call("hp.accuracy.read_pairs", given["pairs"], submissions, n_validation=n_validation)


def _together(given: TypedValues, *others: tuple[str, bool]) -> None:
    """Refuse options that need each other, and stand alone; `others` need --pairs where they are given."""
    pairs, n_validation = given["pairs"], given["n_validation"]
    problems = []
    if pairs is not None and n_validation is None:
        problems.append(
            Problem("needs --n-validation.", "Add it: the items that the pairs were counted on.", "--pairs")
        )
    if pairs is None and n_validation is not None:
        problems.append(
            Problem("needs --pairs.", "Add the table, or leave the number out.", "--n-validation")
        )
    problems += [
        Problem("needs --pairs and --n-validation.", "Add both, or leave it out.", name)
        for name, is_given in others
        if is_given and pairs is None
    ]
    refuse(problems)


LEADERBOARD = Declaration(
    ("accuracy", "leaderboard"),
    """Which submissions to a leaderboard were improvements one can trust?

    TABLE has a row for each submission: system, date (2020-05-06), accuracy on
    the test set and perhaps validation, the accuracy on the validation set, and
    key, what the table of --pairs calls it.
    """,
    {
        "table": own(
            text(),
            "",
            "Table of submissions",
            page_help="A row each: system, date, accuracy and perhaps validation.",
            needed=True,
        ),
        "n": replace(_N, slider=None, step=1, needed=True),
        "overlap": replace(
            _OVERLAP, usual="squad", note=f"{_OVERLAP.note} Submissions are mostly to SQuAD 2.0."
        ),
        "pairs": _PAIRS,
        "n_validation": _N_VALIDATION,
        "power_on": _POWER_ON,
        **_JUDGED,
    },
    _leaderboard,
    Page(
        "A leaderboard",
        "Which submissions were improvements that one can trust?",
        (Part("The leaderboard", ("table", "n")), _CLAIMED),
    ),
    arguments=("table",),
)


def _overlap(given: TypedValues, calls: Calls) -> None:
    new_best, n = given["chosen"] == "new-best", given["n"]
    _together(given, ("--of new-best", new_best), ("--n", n is not None))
    if new_best != (n is not None):
        raise InputError("--of new-best and --n, the items of the test set, go together.")
    power_on = given.given("power_on")
    if given["pairs"] is None:
        read = call("hp.accuracy.read_system_pairs", given["table"])
        pairs, in_percent = calls.unpack("pairs, in_percent", read)
    else:
        submissions, in_percent = _submissions(given, calls)
        known = calls.let("counted", _pairs(given, submissions))
        chosen = {"new_best_of": n, "power_on": power_on}
        pairs = calls.let("pairs", call("hp.accuracy.pairs_of_leaderboard", submissions, known, **chosen))
    remarks = _percent(calls, in_percent) or None
    calls.let("result", call("hp.accuracy.overlap", pairs, remarks=remarks))


OVERLAP = Declaration(
    ("accuracy", "overlap"),
    """How often do two systems do alike? Fit a regression to your own pairs.

    TABLE has a row for each pair: baseline, improvement (or accuracy) and
    agreement; or it is a leaderboard whose pairs --pairs counts; --of new-best takes --n and
    --power-on. What -o
    FILE.json keeps is taken with --overlap of the other commands.
    """,
    {
        "table": own(text(), "", needed=True),
        "pairs": _PAIRS,
        "n_validation": _N_VALIDATION,
        "chosen": own(
            word(Literal["all", "new-best"]),
            "All pairs, or each new best with the best before, as 'compare accuracy leaderboard' does, with "
            "the items of the test set.",
            usual="all",
            option="of",
        ),
        "n": replace(SIZE_OF_SAMPLE, note=TEST_ITEMS),
        "power_on": _POWER_ON,
    },
    _overlap,
    arguments=("table",),
)
SUBJECT = Subject(
    "accuracy",
    """Compare two systems by accuracy on a test set.

    Power, minimum detectable effect and size for paired right-or-wrong answers
    (McNemar's test); tests of a finished comparison; claims of improvement in
    the literature. Accuracies and effects are shares: 0.972, 0.02.
    """,
    (BOUNDS, TEST, ESTIMATE, CLAIMS, LEADERBOARD, OVERLAP, QUESTIONS),
)
command = SUBJECT.command()
