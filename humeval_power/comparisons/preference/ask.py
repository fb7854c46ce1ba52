"""`humeval-power compare preference`: which of two outputs is preferred, by independent judges or by a panel."""

from __future__ import annotations

from dataclasses import replace

import click

from humeval_power.asking.calls import TypedValues, evaluated
from humeval_power.asking.declared import Calls, Declaration, Page, Part
from humeval_power.asking.expressions import Call, Code, Value, call
from humeval_power.asking.form import Next
from humeval_power.asking.study_file import PREFERENCES
from humeval_power.asking.vocabulary import (
    ALPHA,
    ITEM_SD_HELP,
    PAIR,
    REJECTED_ROWS,
    SIZE_OF_SAMPLE,
    TEST_HELP,
    TIE_RULE_HELP,
    TRUE_EFFECT,
)
from humeval_power.choices import ConditionalTest, Ties
from humeval_power.comparisons.preference.wording import WORDING
from humeval_power.comparisons.questions import Given, QuestionPage, Questions, Subject
from humeval_power.errors import InputError, Problem
from humeval_power.fields import own, real, text, whole, word
from humeval_power.study import FIELDS

_LINK = replace(
    FIELDS["link"],
    note=", of the strengths of a panel: normal (probit) or logistic (logit).",
    label="Scale of strengths",
    words={"probit": "probit", "logit": "logit (odds)"},
)
_COUNT = whole(0)


def _test(given: TypedValues, calls: Calls) -> None:
    table, wins, losses, systems = (given[name] for name in ("table", "wins", "losses", "systems"))
    if (table is None) == (wins is None or losses is None):
        raise click.UsageError("Give a TABLE, or --wins and --losses.")
    if table is None and systems is not None:
        raise click.UsageError("--systems names the systems of a TABLE.")
    ties, rejected_rows = given["ties"], given["rejected_rows"]
    judged = call("hp.preference.Judgements", wins=wins, ties=ties, losses=losses)
    if table is not None:
        judged = call("hp.preference.read_judgements", table, systems=systems, rejected_rows=rejected_rows)
    options = {name: given.given(name) for name in ("alpha", "link")}
    calls.let("result", call("hp.preference.test", calls.let("judgements", judged), **options))


_SEEN = {"tie-share": "comparisons.0.tie_share", "effect": "comparisons.0.effect"}
TEST = Declaration(
    ("preference", "test"),
    """Test a preference, with ties excluded, split or kept.

    From --wins, --ties and --losses; from a TABLE with those columns; or from a
    TABLE with a judgement a row: preference (B, A or tie), worker, item and perhaps
    position (which output was shown first, A or B). In columns system_a and
    system_b systems may change places: --systems says which is A and which B. Where workers or items repeat,
    a model of wins, ties and losses with their variation is fitted and tested.
    """,
    {
        "table": own(
            text(),
            "",
            "Table of judgements",
            page_help="A judgement a row: preference (B, A or tie), worker, item and perhaps position.",
        ),
        "wins": own(_COUNT, "Judgements that prefer B.", "B preferred", unit="judgements"),
        "ties": own(_COUNT, "Ties.", "No preference", unit="judgements", usual=0),
        "losses": own(_COUNT, "Judgements that prefer A.", "A preferred", unit="judgements"),
        "systems": replace(
            PAIR, label="A and B", page_help="Of a table that names the two systems of each row."
        ),
        "link": _LINK,
        "rejected_rows": REJECTED_ROWS,
        "alpha": ALPHA,
    },
    _test,
    Page(
        "Preferences of B over A",
        "Wins, ties and losses: is B preferred? With workers or items that repeat, a model with their variation.",
        (
            Part(
                "Counts",
                ("wins", "ties", "losses"),
                "For judgements that stand for themselves: each from another worker on another item.",
            ),
            Part("Or a table", ("table", "systems", "link", "rejected_rows")),
            Part("The test", ("alpha",)),
        ),
        (
            Next(
                ("preference", "power"),
                "Power of the next study",
                ("alpha",),
                fills={**_SEEN, "n": "comparisons.0.n_judgements"},
            ),
            Next(("preference", "size"), "Judgements that the next study needs", ("alpha",), fills=_SEEN),
        ),
        is_quick=True,
    ),
    arguments=("table",),
)


def _comparison(n: Value, effect: Value, given: Given) -> Call:
    """n judgements; a panel where workers or items have several."""
    share = {"preference": effect, "tie_share": given["tie_share"]}
    how = {name: given[name] for name in ("position_bias", "sd_worker", "sd_item", "link")}
    alpha = given["alpha"]
    if not _is_panel(n, given):
        rule = {name: given[name] for name in ("ties", "test")}
        return call("hp.preference.Preference", n, **share, **rule, alpha=alpha)
    if problems := [*_missing(n, given), *_foreign()]:
        raise InputError(problems)
    workers, items, each = (given[name] for name in ("workers", "items", "judgements_per_item"))
    if each is not None:
        items = max(-(-n // each), 2) if isinstance(n, int) else Code(f"max(-(-{n} // {each}), 2)")
    return call(
        "hp.preference.PanelPreference",
        call("hp.preference.Panel", n, _at_most(workers, n), _at_most(items, n)),
        **share,
        **how,
        alpha=alpha,
    )


def _is_panel(n: Value, given: Given) -> bool:
    """Whether the options describe workers or items with several judgements."""
    if any(given[name] is not None for name in ("sd_worker", "sd_item", "position_bias")):
        return True
    counts = (given["workers"], given["items"])
    return (given["judgements_per_item"] or 1) > 1 or any(_is_fewer(count, n) for count in counts)


def _is_fewer(count: int | None, n: Value) -> bool:
    """Whether so many workers or items are fewer than n judgements; nobody knows it of an n that varies."""
    return count is not None and isinstance(n, int) and count < n


def _is_panel_if_large(given: Given) -> bool:
    """Whether many judgements are those of a panel."""
    from humeval_power.comparisons.preference.scenario import MOST_ENUMERATED

    return _is_panel(MOST_ENUMERATED, given)


def _at_most(count: Value, n: Value) -> Value:
    """So many workers or items, or where nobody says it or they are more, as many as judgements."""
    if count is None:
        return n
    return min(count, n) if isinstance(count, int) and isinstance(n, int) else call("min", count, n)


def _missing(n: Value, given: Given) -> list[Problem]:
    """Options without those that they need, or against those that they exclude."""
    if not isinstance(n, int):
        return []
    workers, items, each = (given[name] for name in ("workers", "items", "judgements_per_item"))
    several = {"worker": _is_fewer(workers, n), "item": _is_fewer(items, n) or (each or 1) > 1}
    names = {
        "worker": "--workers",
        "item": "--items or --judgements-per-item" if each is None else "--judgements-per-item",
    }
    problems = []
    if items is not None and each is not None:
        problems.append(Problem("--items and --judgements-per-item say the same.", "Give one of them."))
    if each is not None and workers is not None and each > workers:
        rule = f"--judgements-per-item {each}: an item is judged by different workers, and there are {workers}."
        problems.append(Problem(rule, "Take more workers, or fewer judgements of an item."))
    for role, name in names.items():
        if several[role] and given[f"sd_{role}"] is None:
            problems.append(
                Problem(
                    f"--sd-{role} must say how far {role}s differ where {name} gives each several judgements.",
                    "Take it from a pilot ('compare preference test' estimates it), or try 0.3 and 0.8.",
                )
            )
        elif given[f"sd_{role}"] is not None and (
            workers is None if role == "worker" else items is None and each is None
        ):
            rule = f"--sd-{role} says how {role}s differ, each of which has several judgements."
            problems.append(Problem(rule, f"Give {name} too."))
    if given["position_bias"] is not None and not any(several.values()) and not problems:
        rule = "--position-bias belongs to workers, or items, with several judgements."
        problems.append(Problem(rule, "Give --workers, --items or --judgements-per-item too."))
    return problems


def _foreign() -> list[Problem]:
    """Options of the sign test, which a panel has not."""
    ctx = click.get_current_context(silent=True)
    if ctx is None:
        return []
    return [
        Problem(
            f"--{option} belongs to the sign test of independent judgements.",
            "A panel is tested by its model of wins, ties and losses: leave it out.",
        )
        for name, option in (("ties", "tie-rule"), ("test", "test"))
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]


def _largest_effect(given: Given) -> float:
    """The preference if nobody preferred A; of a panel, whose strengths are finite, nearly that."""
    shares = {name: given[name] for name in ("tie_share", "ties")}
    if _is_panel_if_large(given):
        return 0.98 * (1 - float(shares["tie_share"])) / 2
    return float(
        evaluated(call("hp.preference.Preference", 2, preference=0.0, **shares)).largest_preference
    )


def _most_judgements(given: Given) -> int | None:
    """How many judgements so many workers and items can give; None where one of them grows with the study."""
    workers, items = given["workers"], given["items"]
    return None if workers is None or items is None else workers * items


_SD = real(0, 20)
QUESTIONS = Questions(
    "preference",
    WORDING,
    n=replace(
        SIZE_OF_SAMPLE,
        label="Judgements",
        note=": judgements.",
        unit="judgements",
        slider=(10, 2000),
        step=10,
        start="200",
    ),
    effect=replace(
        TRUE_EFFECT,
        label="Share that prefers B, minus 1/2",
        note=", as the share that prefers B, minus 1/2: 0.15 if 65 % do. Among judgements without a tie where ties "
        "are excluded, with ties counted half to each system otherwise and for a panel.",
        slider=(0, 0.5),
        step=0.01,
        start="0.1",
        page_help="0.1 where 60 % prefer B.",
    ),
    fields={
        "tie_share": own(
            real(),
            "Probability of a tie.",
            "Share of ties",
            unit="as a share",
            slider=(0, 0.6),
            step=0.01,
            usual=0.0,
        ),
        "ties": own(
            word(Ties),
            TIE_RULE_HELP,
            "Ties are",
            note=": they are left out, counted half to each system with the variance of a study without ties "
            "(cautious), or kept as 0 between -1 and +1.",
            words={
                "excluded": "left out (recommended)",
                "split": "counted half to each, cautiously",
                "kept": "kept as 0 between -1 and +1",
            },
            usual="excluded",
            option="tie-rule",
        ),
        "test": own(
            word(ConditionalTest),
            TEST_HELP,
            "Sign test",
            note=": the sign test, exact, with mid-p, or by the normal approximation.",
            words={"exact": "exact (recommended)", "mid-p": "mid-p", "asymptotic": "normal distribution"},
            usual="exact",
        ),
        "workers": own(
            whole(2),
            FIELDS["workers"].help,
            "Workers",
            note="If fewer than judgements: each judges several.",
            unit="workers",
        ),
        "items": own(
            whole(2),
            FIELDS["items"].help,
            "Items",
            note="If fewer than judgements: each is judged several times.",
            unit="items",
        ),
        "judgements_per_item": own(
            whole(1),
            "How often an item is judged, by different workers, in the place of the number of items.",
            "Judgements of an item",
        ),
        "sd_worker": own(
            _SD,
            "SD of workers' own preferences, beside a noise of 1 where it is normal (probit). At 0.5 two workers "
            "of three lie between 31 and 69 % for B where all together do not mind.",
            "SD of workers' preferences",
            slider=(0, 2),
            step=0.05,
        ),
        "sd_item": own(
            _SD,
            ITEM_SD_HELP,
            "SD of items' preferences",
            note=", their own preferences on the same scale.",
            slider=(0, 2),
            step=0.05,
        ),
        "position_bias": own(
            real(-0.5, 0.5, open="both"),
            "Share that prefers what is shown first if neither is better, minus 1/2.  [default: 0]",
            "Bias to what is shown first",
        ),
        "link": _LINK,
        "alpha": ALPHA,
    },
    comparison=_comparison,
    largest_effect=_largest_effect,
    effect_range=lambda _given: PREFERENCES,
    costed_as=lambda given: "panel" if _is_panel_if_large(given) else "preference",
    most=_most_judgements,
    page=QuestionPage(
        "a preference study",
        (
            Part("Ties", ("tie_share", "ties")),
            Part(
                "Who judges how often",
                (
                    "workers",
                    "items",
                    "judgements_per_item",
                    "sd_worker",
                    "sd_item",
                    "position_bias",
                    "link",
                ),
                "Where a worker judges several items, or an item is judged several times, the judgements hang "
                "together, and power is less.",
                folded=True,
            ),
            Part("The test", ("test", "alpha")),
        ),
    ),
)
SUBJECT = Subject(
    "preference",
    """Ask which of two outputs is better: head-to-head comparison.

    Power, minimum detectable effect and size: of the sign test for independent
    judgements with wins, losses and ties, and of a panel of workers who judge
    several items each. Tests of a finished comparison of either kind.
    """,
    (TEST, QUESTIONS),
)
command = SUBJECT.command()
