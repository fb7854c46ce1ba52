"""A look at a running study in words for the terminal."""

from __future__ import annotations

import math

from humeval_power.inference.looks.stagewise import stagewise_inference
from humeval_power.interfaces.cli.output import wrapped
from humeval_power.interfaces.cli.text import text_table
from humeval_power.planning.monitor.state import Decision, Monitoring, TakenLook
from humeval_power.planning.monitor.step import estimates, taken_boundaries
from humeval_power.planning.plan.plan import Plan
from humeval_power.reporting.numbers import NO_P, p_equals

_ROUNDING = 1e-9
_WHY_PUBLISH = "that no look is changed later is proved only by what others hold. For the preregistration:"
DECISIONS: dict[Decision, str] = {
    "continue": "Go on collecting.",
    "stop-success": "Stop: the boundary is passed.",
    "stop-futility": "Stop for futility: it has become unlikely that anything will be shown.",
    "end-success": "The study has ended, and its boundary is passed.",
    "end-nothing-shown": "The study has ended. Nothing is shown; that does not show that there is nothing.",
}


def look_text(state: Monitoring, look: TakenLook | None, plan: Plan, *, publish: str | None = None) -> str:
    """The looks so far and what the last one decided, at most 80 characters wide. `publish` seals the ledger."""
    if look is None:
        return _line("Looks", f"none taken; {len(state.shares)} planned, by {state.unit}: {_shares(state)}")
    facts = [
        ("Look", _which(state, look)),
        ("Data", _data(state, look, plan)),
        ("Estimate", _estimate(look, plan)),
        ("Boundary", _boundary(look)),
    ]
    if look.conditional_power:
        facts.append(("Chances", _chances(state, look)))
    facts += [("Remark", remark) for remark in look.remarks]
    if look.reason:
        facts.append(("Reason", look.reason))
    facts.append(("Decision", DECISIONS[look.decision]))
    if state.ended:
        facts.append(("Result", _result(state, plan)))
    elif state.next_planned is not None:
        facts.append(("Left", _left(state, look, plan)))
    if publish is not None:
        facts.append(("Publish", f"{_WHY_PUBLISH} {publish}"))
    return "\n".join(_line(label, text) for label, text in facts) + "\n\n" + _table(state)


def _which(state: Monitoring, look: TakenLook) -> str:
    if look.planned is None:
        return f"{look.number}, not planned"
    due = state.shares[look.planned - 1]
    when = "at" if look.data.share >= due - _ROUNDING else "due at"
    return f"{look.planned} of {len(state.shares)} planned, {when} {100 * due:.3g} % of the {state.unit}"


def _data(state: Monitoring, look: TakenLook, plan: Plan) -> str:
    data = look.data
    known = data.information / state.maximum_information
    return (
        f"{data.n_ratings:,} of {plan.design().n_ratings:,} ratings, {data.n_workers} workers, "
        f"{data.n_items} items; {100 * known:.1f} % of the planned information"
    )


def _estimate(look: TakenLook, plan: Plan) -> str:
    data = look.data
    a, b = plan.systems
    return f"{b} - {a} = {data.estimate:.4f} on [0, 1], SE {data.standard_error:.4f}, df {data.df:.1f}"


def _boundary(look: TakenLook) -> str:
    text = f"{p_equals(data_p(look.data.p_value))}; success needs p <= {look.nominal:.5f}"
    if look.futility < 1:
        text += f", futility is p > {look.futility:.3f}"
    return text


def data_p(p_value: float) -> str:
    """A p-value as people print it."""
    if math.isnan(p_value):
        return NO_P
    return "< 0.0001" if p_value < 0.0001 else f"{p_value:.4f}"


def _chances(state: Monitoring, look: TakenLook) -> str:
    power = look.conditional_power
    return (
        f"of success at the end: {power['design']:.2f} if the difference is {state.effect:g} as planned, "
        f"{power['trend']:.2f} if it is as estimated, {power['null']:.2f} if there is none"
    )


def _result(state: Monitoring, plan: Plan) -> str:
    found = stagewise_inference(estimates(state), taken_boundaries(state))
    low, high = found.interval
    a, b = plan.systems
    return (
        f"{b} - {a} = {found.estimate:.4f} ({100 * found.confidence:g} % interval {low:.4f} to {high:.4f}), "
        f"{p_equals(data_p(found.p_value))}, taking the looks into account (stage-wise ordering; median-unbiased); "
        f"the plain estimate is {found.naive:.4f}"
    )


def _left(state: Monitoring, look: TakenLook, plan: Plan) -> str:
    upcoming = state.next_planned
    assert upcoming is not None
    share = state.shares[upcoming - 1]
    rest = max(plan.design().n_ratings - look.data.n_ratings, 0)
    return f"look {upcoming} is due at {100 * share:.3g} % of the {state.unit}; {rest:,} ratings to the planned end"


def _shares(state: Monitoring) -> str:
    return ", ".join(f"{100 * share:.3g} %" for share in state.shares)


def _table(state: Monitoring) -> str:
    rows = [
        (
            f"{look.number}{'' if look.planned else '*'}".rjust(len("look")),
            f"{look.data.n_ratings:,}",
            f"{look.fraction:.3f}",
            f"{look.data.estimate:.4f}",
            data_p(look.data.p_value),
            f"{look.nominal:.5f}",
            look.decision,
        )
        for look in state.looks
    ]
    header = ("look", "ratings", "information", "estimate", "p", "needed", "decision")
    return text_table(header, rows, indent="")


def _line(label: str, text: str) -> str:
    return wrapped(text, bullet=f"{label:<10}")
