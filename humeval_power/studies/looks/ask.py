"""`humeval-power looks`: studies that are looked at before their end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from humeval_power.asking.adapting import one_table
from humeval_power.asking.calls import Caller, TypedValues
from humeval_power.asking.command import Use
from humeval_power.asking.declared import Calls, Declaration, Fields, Page, Part, study_command
from humeval_power.asking.expressions import Call, Value, call
from humeval_power.asking.study_file import ACCURACIES, PREFERENCES, EffectRange, score_range
from humeval_power.asking.study_values import StudyValues, study_fields
from humeval_power.asking.vocabulary import (
    ACCURACY_DIFFERENCE,
    AGREEMENT,
    ALPHA,
    LONG_RUN,
    MEAN_OF_A,
    ONE_SCORE,
    RATING_DIFFERENCE,
    RATINGS,
    SAMPLE_SIZE,
    SCORE_SD,
    SYSTEM,
    TEST_HELP,
    TEST_ITEMS,
    TIE_RULE_HELP,
    TIE_SHARE,
    TWO,
    systems_typed,
    table_of,
)
from humeval_power.choices import POOL_BUDGETS, Ties
from humeval_power.comparisons.questions import Subject
from humeval_power.errors import InputError
from humeval_power.fields import day, listed, names, number_list, own, real, text, whole, word
from humeval_power.studies.looks.ask_study import command as study
from humeval_power.studies.resolve import look_shares
from humeval_power.study import EFFECT_HELP, FIELDS

if TYPE_CHECKING:
    from humeval_power.studies.looks.result_anytime import AnytimeResult

# `looks anytime`: an interval that holds after every worker, however many will come.


@study_command(
    ("looks", "anytime"),
    {
        "ratings": table_of(),
        **study_fields("alpha", instead=RATINGS),
        "narrowest_at": own(
            whole(3, 1000),
            "How many workers you expect: the interval is narrowest there, and right at any number. Decide it "
            "before the first look.",
            "Workers that you expect",
            usual=10,
        ),
    },
    arguments=("ratings",),
    use=Use(adapts=one_table),
    page=Page(
        "Look after every worker",
        "Workers come one by one, each with items of his own: an interval that may be looked at after each.",
        (Part("The ratings", ("ratings", "systems", "scale", "narrowest_at")),),
        journey="ratings",
    ),
)
def anytime(study: StudyValues, narrowest_at: int) -> AnytimeResult:
    """An interval that holds after every worker, at its price.

    RATINGS are all so far, in the order in which workers came, each of whom
    rated items that nobody else did, under both systems. The interval is the
    exact confidence sequence of normal means (t statistics, right-Haar
    mixture). It is wide: plan looks instead where you know how many workers
    there will be. Shared items, and sequences over items or ratings, are
    refused, with the error that they would have.
    """
    from humeval_power.studies.loading import load_ratings
    from humeval_power.studies.looks import calls

    ratings = load_ratings(study.ratings, study, tell=False)
    return calls.anytime(ratings, narrowest_at=narrowest_at, alpha=study.alpha)


# Looks at comparisons of other kinds.

_WHOLE_LIST = listed(number_list(int), "LIST")


_LOOKS = {
    "looks": replace(FIELDS["looks"], usual="3"),
    "efficacy": replace(
        FIELDS["efficacy"],
        usual="pocock",
        note="Pocock's where nothing is said, as in Wei et al. (2022): items bring equal information.",
    ),
    "futility": FIELDS["futility"],
    "alternative": replace(
        FIELDS["alternative"],
        kind=word(("two-sided",)),
        note=": a difference in either direction.",
    ),
    "alpha": ALPHA,
    "effects": LONG_RUN,
    "systems": own(
        names(systems_typed(TWO, exactly=2, distinct=True), "A,B"),
        FIELDS["systems"].help,
        note=", as the judgements will call them; the effect is B - A.",
        usual="A,B",
    ),
    "created": own(day(), "Date of the plan. [today]", option="date"),
}
_N = own(whole(), SAMPLE_SIZE, needed=True)
_EFFECT = own(real(), EFFECT_HELP, needed=True)
_TEST = own(
    word(("exact", "mid-p")),
    TEST_HELP,
    note="at each look; exact keeps its level for any number of decided judgements, mid-p on average.",
)


def _judgements(
    name: str,
    help: str,
    fields: Fields,
    source: str,
    made: Callable[[TypedValues], Call],
    allowed: Callable[[TypedValues], EffectRange],
) -> Declaration:
    """Looks at independent judgements: `made` is the study without looks, `source` the name of one with them."""

    def answer(given: TypedValues, calls: Calls) -> None:
        effects = None if given.given("effects") is None else list(given["effects"])
        allowed(given).check([given["effect"]])
        allowed(given).check(effects or (), name="--effects")
        looks = calls.let("looks", call(source, made(given), _shares(given["looks"], calls)))
        futility = given["futility"]
        rule = call(
            "hp.looks.StoppingRule",
            efficacy=call("hp.looks.efficacy_of", given["efficacy"]),
            futility=None if futility == "none" else call("hp.looks.futility_of", futility),
            alpha=given.given("alpha"),
            alternative=given.given("alternative"),
        )
        stopping = calls.let("rule", rule)
        if isinstance(calls, Caller):
            _check_and_announce(looks, stopping, given, calls)
        options = {"effect": given["effect"], "effects": effects, "systems": given.given("systems")}
        expression = call(
            "hp.looks.judgements",
            looks,
            stopping,
            **options,
            created=given["created"],
            **calls.run(given),
        )
        calls.let("result", expression)

    return Declaration(
        ("looks", name), help, {**fields, **_LOOKS}, answer, simulates=True, endings=(".json",)
    )


def _shares(typed: str, calls: Calls) -> Value:
    """The shares at which a study is looked at: those of so many equal looks, or as they were typed."""
    shares = look_shares(typed)
    if typed.strip().isdecimal():
        return calls.attribute(call("hp.looks.equal_looks", "items", int(typed)), "shares")
    return shares


def _check_and_announce(looks: Any, rule: Any, given: TypedValues, calls: Caller) -> None:
    """Refuse a rule that these looks cannot have, and say how long they will take to simulate."""
    from humeval_power.choices import DEFAULT_SIMULATIONS
    from humeval_power.studies.looks.stopping_rule import ConditionalPowerFutility
    from humeval_power.studies.power.typed import tell_work
    from humeval_power.studies.power.workload import comparison_workload

    if isinstance(rule.futility, ConditionalPowerFutility) and rule.futility.under == "design":
        raise InputError(
            "Conditional power under the design is for 'looks study'; use conditional-power:LIMIT:trend here."
        )
    n = given["simulations"] or DEFAULT_SIMULATIONS
    drawn = (2 + len(given["effects"] or ())) * n
    work = comparison_workload("assessment", looks.sizes[-1], n_simulations=drawn, n_jobs=calls.slots)
    tell_work(work, n_simulations=n)


SCORES = _judgements(
    "scores",
    "Direct assessment: independent scores, Mann and Whitney's U at each look.",
    {
        "n": replace(_N, kind=whole(2), note=": scores of each system at the end."),
        "effect": replace(_EFFECT, note=RATING_DIFFERENCE),
        "mean": own(real(), MEAN_OF_A, usual=75.0),
        "sd": replace(SCORE_SD, kind=real(0, 100, open="low"), usual=25.0),
    },
    "hp.looks.AssessmentLooks",
    lambda given: call(
        "hp.assessment.DirectAssessment",
        given["n"],
        effect=given["effect"],
        **{name: given.given(name) for name in ("mean", "sd", "alpha")},
    ),
    lambda given: score_range(given["mean"], 0.0, 100.0),
)
PREFERENCE = _judgements(
    "preference",
    "Head-to-head judgements: the sign test at each look.",
    {
        "n": replace(_N, note=": judgements at the end."),
        "effect": replace(
            _EFFECT, note=", as the share that prefers B among judgements without a tie, minus 1/2."
        ),
        "tie_share": TIE_SHARE,
        "ties": own(
            word(get_args(Ties), without=("split",)),
            TIE_RULE_HELP,
            note=": the effect is a share of judgements without them, or of all with ties counted half.",
            usual="excluded",
            option="tie-rule",
        ),
        "test": replace(_TEST, usual="exact"),
    },
    "hp.looks.PairedLooks",
    lambda given: call(
        "hp.preference.Preference",
        given["n"],
        preference=given["effect"],
        **{name: given.given(name) for name in ("tie_share", "ties", "test", "alpha")},
    ),
    lambda _given: PREFERENCES,
)
ACCURACY = _judgements(
    "accuracy",
    "Two systems on the same items: McNemar's test at each look.",
    {
        "n": replace(_N, note=TEST_ITEMS),
        "effect": replace(_EFFECT, note=ACCURACY_DIFFERENCE),
        "agreement": replace(AGREEMENT, needed=True),
        "test": replace(_TEST, usual="mid-p"),
    },
    "hp.looks.PairedLooks",
    lambda given: call(
        "hp.accuracy.PairedAccuracy",
        given["n"],
        difference=given["effect"],
        agreement=call("hp.accuracy.KnownAgreement", given["agreement"]),
        test=given["test"],
        alpha=given.given("alpha"),
    ),
    lambda _given: ACCURACIES,
)
_PER_PAIR = 1000  # bytes of a pair of systems in memory


def _pool(given: TypedValues, calls: Calls) -> None:
    file, simulated = given["table"], given["simulated"]
    if (file is None) == (simulated is None):
        raise InputError("Give a TABLE of past scores, or --simulated with a number of pairs.")
    budgets = tuple(given["budgets"] or POOL_BUDGETS)
    if file == "-":
        calls.no_program("standard input is read once")
    columns = {name: given.given(name) for name in ("system", "score", "rejected_rows")}
    laws = {"typical": given["typical_difference"], "mean": given["mean"], "sd": given["sd"]}
    if file is None and isinstance(calls, Caller):
        _announce_pool(simulated, budgets, given, calls)
    notices: Value = None
    if file is None:
        pairs: Any = calls.let("pairs", call("hp.looks.simulated_pool", simulated, **laws))
    else:
        pairs, notices = calls.unpack("pairs, notices", call("hp.looks.read_pool", file, **columns))
        if isinstance(calls, Caller):
            _announce_pool(len(pairs), budgets, given, calls)
    options = {"budgets": _written(given, "budgets"), "at": _written(given, "at")}
    options |= {"n_looks": given.given("looks"), "source": file or "simulated", "remarks": notices}
    calls.let("result", call("hp.looks.pool", pairs, **options, **calls.run(given)))


def _written(given: TypedValues, name: str) -> Value:
    return None if given.given(name) is None else list(given[name])


def _announce_pool(n_pairs: int, budgets: Sequence[int], given: TypedValues, calls: Caller) -> None:
    """Say how long the pool will take, or refuse it."""
    from humeval_power.studies.looks.calls import POOL_SIMULATIONS
    from humeval_power.studies.power.typed import tell_work
    from humeval_power.studies.power.workload import Workload, comparison_workload

    n_simulations = given["simulations"] or POOL_SIMULATIONS
    work = Workload(0.0, float(_PER_PAIR * n_pairs))
    for budget in budgets:
        each = comparison_workload("assessment", max(budget, 0), n_simulations=n_simulations)
        drawn = each.n_bytes * n_simulations  # they are drawn together
        work += Workload(each.seconds * n_pairs / calls.slots, drawn * calls.slots)
    tell_work(work, n_simulations=n_simulations)


POOL = Declaration(
    ("looks", "pool"),
    """Average power against budget over many pairs of systems.

    Scores are drawn with replacement from those in TABLE (a table with a column
    for the system and one for the score) for every pair of its systems, and
    tested by Mann and Whitney's U once, at Pocock's looks, and with a stop for
    futility at p > 0.5, as Wei, Kocmi and Federmann (2022) did.
    """,
    {
        "table": own(text("[TABLE]"), ""),
        "system": SYSTEM,
        "score": ONE_SCORE,
        "rejected_rows": FIELDS["rejected_rows"],
        "simulated": own(
            whole(2), "Instead of TABLE: this many pairs with Gamma scores and Laplace differences."
        ),
        "typical_difference": own(
            real(0, 20, open="low"),
            "Mean absolute true difference of the simulated pairs, in points.",
            usual=1.5,
        ),
        "mean": own(real(), MEAN_OF_A, usual=75.0),
        "sd": replace(SCORE_SD, kind=real(), usual=25.0),
        "budgets": own(
            _WHOLE_LIST,
            "Planned judgements of a comparison, both systems together. "
            f"[{','.join(map(str, POOL_BUDGETS))}]",
        ),
        "at": own(_WHOLE_LIST, "Budgets of a single look at which savings are told. [1200,3600]"),
        "looks": own(
            whole(2, 10), FIELDS["looks"].help, note=": a number of equal ones, Pocock's.", usual=3
        ),
    },
    _pool,
    arguments=("table",),
    simulates=True,
)
SUBJECT = Subject(
    "looks",
    """Stop a study early without fooling yourself: interim looks.

    Boundaries, false positives, power and expected cost of studies that are
    looked at before their end.
    """,
    (study, anytime, SCORES, PREFERENCE, ACCURACY, POOL),
)
command = SUBJECT.command()
