"""`survey`, `resample` and the tables of `assessment`, as programs."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import Call, Code, call
from humeval_power.interfaces.python_code.runs import seed_of
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.tables import ratings_of
from humeval_power.interfaces.python_code.typed import GapError, Typed


def decompose(typed: Typed, source: Source) -> None:
    """Quality and noise in ratings."""
    ratings = ratings_of(typed, source, more={"require_pair": False})
    correlations = typed.given("correlation")
    found = call(
        "hp.assessment.decompose",
        ratings,
        correlations=None if correlations is None else list(correlations),
        resamples=typed["resamples"],
        seed=seed_of(typed),
    )
    source.let("result", found)


def observed_mde(typed: Typed, source: Source) -> None:
    """From which observed difference on comparisons were significant."""
    by = typed["by"]
    read = source.let(
        "observed", call("hp.assessment.read_observed", typed["file"], *((by,) if by else ()))
    )
    kept = {name: typed.given(name) for name in ("alpha", "share", "fewest_above")}
    found: Call = call(
        "hp.assessment.observed_mde",
        Code(f"{read}.difference"),
        Code(f"{read}.p_value"),
        groups=Code(f"{read}.groups") if by else None,
        **kept,
    )
    source.let("result", found)


def assessment_test(typed: Typed, source: Source) -> None:
    """Systems compared by independent ratings."""
    if typed["table"] == "-":
        raise GapError("standard input is read once")
    systems = typed["systems"]
    kept = ("by", "cluster", "criterion", "system", "rating", "worker", "item", "rejected_rows")
    read = call(
        "hp.assessment.read_rated",
        typed["table"],
        systems=list(systems) if systems else None,
        **{name: typed.given(name) for name in kept},
    )
    found = call(
        "hp.assessment.test",
        source.let("rated", read),
        **{name: typed.given(name) for name in ("test", "baseline", "alpha")},
        continuity=False if typed["no_continuity"] else None,
    )
    source.let("result", found)
