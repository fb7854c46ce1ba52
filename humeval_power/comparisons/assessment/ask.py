"""`humeval-power more assessment`: independent ratings on a long scale, their tests, power and noise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from humeval_power.asking.calls import Caller, TypedValues
from humeval_power.asking.declared import Calls, Declaration, Page, Part, plain
from humeval_power.asking.expressions import Call, Code, Value, call
from humeval_power.asking.form import Next
from humeval_power.asking.output import note
from humeval_power.asking.study_file import EffectRange, score_range
from humeval_power.asking.vocabulary import (
    ALPHA,
    BASELINE,
    CLUSTER,
    ITEM,
    MEAN_OF_A,
    RATING_DIFFERENCE,
    RATINGS,
    REJECTED_ROWS,
    RESAMPLES,
    SCORE_SD,
    SEED,
    SIZE_OF_SAMPLE,
    SYSTEM,
    TEST_HELP,
    TRUE_EFFECT,
    column,
)
from humeval_power.choices import (
    FEWEST_ABOVE,
    SHARE,
    USUAL_CORRELATIONS,
    USUAL_MEAN,
    USUAL_SD,
    Below,
    ScoreTest,
)
from humeval_power.comparisons.assessment.wording import WORDING
from humeval_power.comparisons.questions import Given, QuestionPage, Questions, Subject
from humeval_power.errors import InputError
from humeval_power.fields import flag, listed, number_list, own, real, text, whole, word
from humeval_power.scales import RatingScale
from humeval_power.study import COLUMN, FIELDS, SYSTEM_NAMES

_SCALE = "0:100"
_NEARLY_ALL = 0.9  # of the way from A's mean to the top: beyond, no Gamma law keeps the SD
_TEST = own(
    word(ScoreTest),
    TEST_HELP,
    "Test",
    note=": a two-sided one.",
    words={
        "mann-whitney": "Mann-Whitney (ranks)",
        "welch": "Welch's t (means)",
        "student": "Student's t (means, equal variances)",
    },
    usual="mann-whitney",
)
_CONTINUITY = own(
    flag("", "no-continuity"),
    "Mann-Whitney without the correction for continuity.",
    "Mann-Whitney without the correction for continuity",
    usual=True,
    option="no-continuity",
)
_BY = own(
    COLUMN,
    "Column of groups, such as language pairs: each by itself.",
    "Column of groups",
    page_help="Such as a language pair: each is tested by itself.",
)
_SD = replace(
    SCORE_SD,
    label="SD of single ratings",
    unit="points",
    slider=(1, 50),
    step=0.5,
    start="25",
    usual=USUAL_SD,
)


def _comparison(n: Value, effect: Value, given: Given) -> Call:
    scale = RatingScale.parse(given["scale"])
    return call(
        "hp.assessment.DirectAssessment",
        n,
        mean=given["mean"],
        sd=given["sd"],
        effect=effect or None,
        sd_b=given["sd_b"],
        test=given["test"],
        below=given["below"],
        alpha=given["alpha"],
        continuity=given["continuity"],
        **({} if given["scale"] == _SCALE else {"low": scale.low, "high": scale.high}),
    )


def _largest_effect(given: Given) -> float:
    scale = RatingScale.parse(given["scale"])
    if not given["mean"] < scale.high:
        raise InputError(
            f"A's mean rating must lie below the top of the scale {scale.low:g}:{scale.high:g}."
        )
    return _NEARLY_ALL * (scale.high - float(given["mean"]))


def _effect_range(given: Given) -> EffectRange:
    scale = RatingScale.parse(given["scale"])
    return score_range(float(given["mean"]), scale.low, scale.high)


_RULE = ("test", "continuity", "alpha")
QUESTIONS = Questions(
    "assessment",
    WORDING,
    n=replace(
        SIZE_OF_SAMPLE,
        label="Ratings of each system",
        note=": ratings of each system.",
        unit="ratings",
        slider=(50, 5000),
        step=50,
        start="1500",
    ),
    effect=replace(
        TRUE_EFFECT,
        label="True difference B - A",
        note=RATING_DIFFERENCE,
        unit="points of the scale",
        slider=(0, 10),
        step=0.1,
        start="2",
    ),
    fields={
        "mean": own(
            real(),
            MEAN_OF_A,
            "Mean rating of A",
            unit="points",
            slider=(0, 100),
            start="75",
            usual=USUAL_MEAN,
        ),
        "sd": _SD,
        "sd_b": own(_SD.kind, "The same of B. [as A]", "SD of B, if it is another", unit="points"),
        "scale": own(text("LOW:HIGH"), FIELDS["scale"].help, "Scale", start=_SCALE, usual=_SCALE),
        "test": _TEST,
        "below": own(
            word(Below),
            "What becomes of simulated ratings below the scale.",
            "Simulated ratings below the scale",
            words={"leave": "stay as they are", "clip": "become its end", "truncate": "are drawn again"},
            usual="leave",
        ),
        "continuity": _CONTINUITY,
        "alpha": ALPHA,
    },
    comparison=_comparison,
    largest_effect=_largest_effect,
    effect_range=_effect_range,
    page=QuestionPage(
        "a study by direct assessment",
        (Part("The ratings", ("mean", "sd", "sd_b", "scale", "below")), Part("The test", _RULE)),
    ),
)


def _test(given: TypedValues, calls: Calls) -> None:
    if given["table"] == "-":
        calls.no_program("standard input is read once")
    read = {
        name: plain(given.given(name))
        for name in ("systems", "by", "cluster", "criterion", *_COLUMNS, "rejected_rows")
    }
    rated = calls.let("rated", call("hp.assessment.read_rated", given["table"], **read))
    options = {name: given.given(name) for name in ("test", "baseline", "alpha", "continuity")}
    calls.let("result", call("hp.assessment.test", rated, **options))


_COLUMNS = ("system", "rating", "worker", "item")
_SEEN = {"mean": "pairs.0.mean_a", "sd": "pairs.0.sd_a", "effect": "pairs.0.difference"}
_KEPT = ("test", "no-continuity", "alpha")
TEST = Declaration(
    ("assessment", "test"),
    """Are systems rated differently? Each pair by all ratings, taken as independent.

    TABLE has a row for each rating, with its system. All pairs of systems are
    tested; '-o pairs.csv' is a table that 'more assessment observed-mde' reads.

    Nothing is paired, and workers have no level of their own: where the same
    workers rate many outputs the test is too bold. --cluster is robust to what
    ratings of one worker, or of one item, share; 'fit' and 'analyze' know both.
    """,
    {
        "table": own(
            text(), "", "Table of ratings", page_help="A rating a row, with its system.", needed=True
        ),
        "test": _TEST,
        "systems": own(
            replace(SYSTEM_NAMES, metavar="A,B,..."),
            FIELDS["systems"].help,
            "Systems to compare",
            note=": those to compare, A first. [all, by name]",
            page_help="With commas between, A first. Empty: all.",
        ),
        "baseline": BASELINE,
        "by": _BY,
        "cluster": own(
            COLUMN,
            CLUSTER.help,
            "Clusters of ratings",
            note="of ratings that belong together: the worker, item or document.",
            page_help="The column of what ratings share: the worker, the item or the document.",
        ),
        "criterion": own(text("NAME"), FIELDS["criterion"].help, "Criterion"),
        "system": SYSTEM,
        "rating": column("rating"),
        "worker": column("worker"),
        "item": ITEM,
        "rejected_rows": REJECTED_ROWS,
        "continuity": _CONTINUITY,
        "alpha": ALPHA,
    },
    _test,
    Page(
        "Ratings that stand for themselves",
        "Each rating from another worker on another output: are systems rated differently? All pairs of systems.",
        (
            Part(
                "The ratings",
                ("table", "systems", "baseline", "by", "criterion"),
                "Where the same workers rate many outputs, 'Analyse a study' knows them; this test does not.",
            ),
            Part("The test", (*_RULE, "cluster")),
            Part(
                "The columns",
                (*_COLUMNS, "rejected_rows"),
                "Found by their names where these say it.",
                folded=True,
            ),
        ),
        next=(
            Next(
                ("assessment", "power"),
                "Power of the next study",
                _KEPT,
                fills={**_SEEN, "n": "pairs.0.n_a"},
            ),
            Next(("assessment", "size"), "Ratings that the next study needs", _KEPT, fills=_SEEN),
        ),
        is_quick=True,
    ),
    arguments=("table",),
)


def _observed_mde(given: TypedValues, calls: Calls) -> None:
    by = given["by"]
    seen: Any = calls.let(
        "observed", call("hp.assessment.read_observed", given["table"], *((by,) if by else ()))
    )
    options = {name: given.given(name) for name in ("alpha", "share", "fewest_above")}
    expression = call(
        "hp.assessment.observed_mde",
        calls.attribute(seen, "difference"),
        calls.attribute(seen, "p_value"),
        groups=calls.attribute(seen, "groups") if by else None,
        **options,
        remarks=seen.notices if isinstance(calls, Caller) else None,
    )
    calls.let("result", expression)


OBSERVED_MDE = Declaration(
    ("assessment", "observed-mde"),
    """The observed difference from which comparisons were significant.

    TABLE has a row for each comparison of two systems, its
    observed difference ('difference' or 'diff') and its p-value ('p').
    """,
    {
        "table": own(text("TABLE"), "", needed=True),
        "by": _BY,
        "share": own(
            real(0, 1, open="both"),
            "Share of comparisons above the threshold that must be significant.",
            usual=SHARE,
        ),
        "fewest_above": own(
            whole(1),
            "Comparisons that must lie at or above a threshold for it to count.",
            usual=FEWEST_ABOVE,
        ),
        "alpha": ALPHA,
    },
    _observed_mde,
    arguments=("table",),
)


_READ = ("scale", "worker", "item", "system", "rating", "criterion_column", "criterion", "rejected_rows")


def _decompose(given: TypedValues, calls: Calls) -> None:
    path = str(given["ratings"])
    if path == "-":
        calls.no_program("standard input is read once")
    systems, missing = given["systems"], given["missing"]
    named: dict[str, Value] = {name: given[name] for name in _READ}
    named["systems"] = None if systems is None else list(systems)
    named["lower_is_better"] = True if given["lower_is_better"] else None
    named["missing"] = [Code("*hp.models.MISSING_CODES"), *missing] if missing else None
    ratings: Any = calls.let("ratings", call("hp.read_ratings", path, **named, require_pair=False))
    if isinstance(calls, Caller):
        for notice in ratings.notices:
            note(f"{ratings.source}: {notice}")
    options = {name: plain(given.given(name)) for name in ("correlations", "resamples", "seed")}
    calls.let("result", call("hp.assessment.decompose", ratings, **options))


DECOMPOSE = Declaration(
    ("assessment", "decompose"),
    """How much of the variance of ratings is quality, and how much is noise?

    RATINGS is a table as 'check' reads it, in which outputs were judged more
    than once. A metric can explain quality only: what is left limits how many
    ratings any metric can save.
    """,
    {
        "ratings": own(text("RATINGS"), "", needed=True),
        **RATINGS,
        "correlations": own(
            listed(number_list(float), "LIST"),
            "Correlations of a metric with true quality to look at.",
            usual=",".join(f"{each:g}" for each in USUAL_CORRELATIONS),
        ),
        "resamples": RESAMPLES,
        "seed": SEED,
    },
    _decompose,
    arguments=("ratings",),
)
SUBJECT = Subject(
    "assessment",
    """Direct assessment: how many ratings find a difference of a point or two?

    Ratings are taken to be independent. Where the same annotators rate many
    segments of both systems, plan with 'power' and 'plan' instead.
    """,
    (TEST, OBSERVED_MDE, DECOMPOSE, QUESTIONS),
)
command = SUBJECT.command()
