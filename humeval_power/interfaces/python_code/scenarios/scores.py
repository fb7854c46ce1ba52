"""`compare`, as programs."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import Call, Value, call
from humeval_power.interfaces.python_code.runs import run_of
from humeval_power.interfaces.python_code.scenarios.questions import Kind
from humeval_power.interfaces.python_code.scenarios.runs import of_column
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import GapError, Typed


def _normal(typed: Typed, _source: Source, n: Value, effect: Value) -> Call:
    kept = {name: typed.given(name) for name in ("test", "direction", "alpha")}
    return call("hp.compare.NormalScores", n, effect, typed["sd"], **kept)


COMPARE = Kind(_normal, lambda typed, _comparison: 10.0 * float(typed["sd"]))

_READING = ("item", "system", "dataset", "unit_by", "shuffle_seed", "cluster")
_ASKED = ("question", "procedure", "test", "direction", "null", "alpha", "effect", "margin", "correction")


def scores(typed: Typed, source: Source) -> None:
    """Systems by a metric's scores of the same items."""
    typed.allow("config", "write_config")
    if typed["run_column"] is not None:
        of_column(typed, source)
        return
    if "-" in typed["files"]:
        raise GapError("standard input is read once")
    read = call(
        "hp.compare.read_scores",
        *typed["files"],
        **{name: typed.given(name) for name in _READING},
        scores=list(typed["score"]) or None,
        systems=list(typed["systems"]) or None,
        drop_missing=typed.given("drop_missing"),
        unit_size=typed.given("unit_size"),
    )
    tables = source.let("tables", read)
    found = call(
        "hp.compare.scores",
        tables,
        **{name: typed.given(name) for name in _ASKED},
        baseline=typed["baseline"],
        independent=True if typed["dataset"] is not None else None,
        n_resamples=typed["resamples"],
        normality_alpha=typed.given("normality_alpha"),
        power_by=typed.given("power_by"),
        **run_of(typed),
    )
    source.let("result", found)


def prospective(typed: Typed, source: Source) -> None:
    """How many items a comparison needs."""
    kept = {"power": typed.given("target"), **{name: typed.given(name) for name in ("direction", "alpha")}}
    found = call("hp.compare.prospective", typed["mean"], sd=typed["sd"], **kept, margin=typed["margin"])
    source.let("result", found)


def primer(typed: Typed, source: Source) -> None:
    """The bootstrap primer's p of counts."""
    found = call("hp.compare.primer", typed["n"], helped=typed["helped"], hurt=typed["hurt"])
    source.let("result", found)


def primer_table(typed: Typed, source: Source) -> None:
    """What the bootstrap primer would say."""
    sizes = typed.given("n")
    lists = {"effects": typed.given("effect"), "hurt": typed.given("hurt")}
    found = call(
        "hp.compare.primer_table",
        *(() if sizes is None else (list(sizes),)),
        **{name: None if one is None else list(one) for name, one in lists.items()},
    )
    source.let("result", found)
