"""`compare` and `assessment`, as programs."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call
from humeval_power.interfaces.python_code.scenarios.questions import Kind
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import Typed

_NEARLY_ALL = 0.9  # of the way from A's mean to the top
_USUAL = (0.0, 100.0)


def _assessment(typed: Typed, _source: Source, n: Value, effect: Value) -> Call:
    low, high = (float(one) for one in str(typed["scale"]).split(":")[:2])
    return call(
        "hp.assessment.DirectAssessment",
        n,
        mean=typed.given("mean"),
        sd=typed.given("sd"),
        effect=effect if effect != 0.0 else None,
        sd_b=typed["sd_b"],
        test=typed.given("test"),
        below=typed.given("below"),
        low=None if low == _USUAL[0] else low,
        high=None if high == _USUAL[1] else high,
        alpha=typed.given("alpha"),
        continuity=False if typed["no_continuity"] else None,
    )


def _largest(typed: Typed, _comparison: Code) -> Value:
    high = float(str(typed["scale"]).split(":")[1])
    return _NEARLY_ALL * (high - float(typed["mean"]))


ASSESSMENT = Kind(_assessment, _largest)
