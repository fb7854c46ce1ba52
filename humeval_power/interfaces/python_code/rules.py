"""How a study decides, as a call: only what differs from the usual rule."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call, stated
from humeval_power.interfaces.python_code.typed import GapError, Typed
from humeval_power.rules import WITH_MARGIN

_PLAIN = ("estimator", "df", "alternative", "alpha", "analysis")


def rule_of(
    typed: Typed,
    scale: Code | None = None,
    *,
    family: str = "gaussian",
    link: str = "probit",
    finds_margin: bool = False,
) -> Call | None:
    """The rule that was typed; None for the usual one.

    scale : that a margin in points is of.
    family, link : as what the ratings arise, and are analysed where nothing else was typed.
    finds_margin : the command finds the margin itself, and starts from the widest.
    """
    named: dict[str, Value] = {name: typed.given(name) for name in _PLAIN}
    named["margin"] = _margin(typed, scale)
    if finds_margin and typed["alternative"] in WITH_MARGIN:
        named["margin"] = 1.0
    named.update(_family(typed, family, link))
    rule = stated(named)
    return call("hp.DecisionRule", **rule) if rule else None


def _margin(typed: Typed, scale: Code | None) -> Value:
    margin: float | None = typed["margin"]
    points = typed["margin_raw"]
    if points is None:
        return margin
    if scale is None:
        raise GapError("margin_raw: no scale is known")
    return Code(f"abs({scale}.effect_from_raw({points!r}))")


def _family(typed: Typed, family: str, link: str) -> dict[str, Value]:
    typed_family, typed_link = typed.given("family"), typed.given("link")
    if family == "gaussian":
        return {"family": typed_family, "link": typed_link}
    if typed.was_stated("family") or typed.given("analysis") == "differences":
        found_family = typed_family
    else:
        found_family = family
    found_link = typed["link"] if typed.was_stated("link") else link
    return {"family": found_family, "link": None if found_link == "probit" else found_link}
