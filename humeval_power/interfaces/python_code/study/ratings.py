"""`check` and `fit`, as programs."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import call
from humeval_power.interfaces.python_code.rules import rule_of
from humeval_power.interfaces.python_code.runs import run_of
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.tables import (
    path_of,
    ratings_of,
    rule_scale,
    terms_of,
    with_terms,
)
from humeval_power.interfaces.python_code.typed import Typed


def check(typed: Typed, source: Source) -> None:
    """What is in a table of ratings, and what a model would leave out of it."""
    ratings = ratings_of(typed, source, reader="hp.study.read_each_criterion")
    table = call("hp.study.read_rating_table", path_of(typed, "file")).attribute("frame")
    source.let("result", call("hp.check", ratings, table=table))


def fit(typed: Typed, source: Source) -> None:
    """The parameters of a table, and the test of its effect."""
    rule = rule_of(typed, rule_scale(typed, source))
    ratings = ratings_of(typed, source)
    terms, spread = terms_of(typed)
    path = typed["assumed"]
    found = call(
        "hp.fit",
        ratings,
        rule=None if rule is None else source.named("rule", rule),
        engine=typed.given("engine"),
        **terms,
        intervals=typed.given("intervals"),
        assumed=None if path is None else call("hp.study.read_assumed", path).attribute("parameters"),
        **run_of(typed, "strict", "check_families"),
    )
    source.let("result", with_terms(found, spread))
