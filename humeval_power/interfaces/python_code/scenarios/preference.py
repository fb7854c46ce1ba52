"""`preference`, as programs."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call, flat
from humeval_power.interfaces.python_code.scenarios.questions import Kind
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import Typed

_NEARLY = 0.98  # of the largest preference: where the search for an effect of a panel ends
_OF_PANEL = ("sd_worker", "sd_item", "position_bias")


def _is_panel(typed: Typed) -> bool:
    said = [typed[name] for name in _OF_PANEL]
    return any(one is not None for one in said)


def _build(typed: Typed, _source: Source, n: Value, effect: Value) -> Call:
    tie_share, alpha = typed.given("tie_share"), typed.given("alpha")
    if not _is_panel(typed):
        typed.allow("workers", "items", "judgements_per_item", "link")
        kept = {"ties": typed.given("ties"), "test": typed.given("test_name")}
        return call(
            "hp.preference.Preference", n, preference=effect, tie_share=tie_share, **kept, alpha=alpha
        )
    return call(
        "hp.preference.PanelPreference",
        _panel(typed, n),
        preference=effect,
        tie_share=tie_share,
        position_bias=typed["position_bias"] or None,
        sd_worker=typed["sd_worker"] or None,
        sd_item=typed["sd_item"] or None,
        link=typed.given("link"),
        alpha=alpha,
    )


def _panel(typed: Typed, n: Value) -> Call:
    """A panel of n judgements: fewer workers and items than those, or as many."""
    workers, items, each = typed["workers"], typed["items"], typed["judgements_per_item"]
    if isinstance(n, int):
        found = items if each is None else max(-(-n // each), 2)
        return call("hp.preference.Panel", n, min(workers or n, n), min(found or n, n))
    asked: Value = items
    if each is not None:
        asked = Code(f"max(-(-{flat(n)} // {each}), 2)")
    return call("hp.preference.Panel", n, _at_most(workers, n), _at_most(asked, n))


def _at_most(wanted: Value, n: Value) -> Value:
    return n if wanted is None else call("min", wanted, n)


def _largest(typed: Typed, comparison: Code) -> Value:
    if _is_panel(typed):
        return _NEARLY * (1 - float(typed["tie_share"])) / 2
    return Code(f"{comparison}.largest_preference")


def _most(typed: Typed) -> int | None:
    workers, items = typed["workers"], typed["items"]
    return None if workers is None or items is None else workers * items


PREFERENCE = Kind(_build, _largest, _most)


def test(typed: Typed, source: Source) -> None:
    """A finished comparison, from counts or a table."""
    asked = {"alpha": typed.given("alpha"), "link": typed.given("link")}
    if typed["table"] is None:
        typed.allow("rejected_rows", "systems")
        known: Value = call(
            "hp.preference.Judgements",
            wins=typed["wins"],
            ties=typed["ties"],
            losses=typed["losses"],
        )
    else:
        typed.allow("ties")
        rejected = typed["rejected_rows"]
        known = call(
            "hp.preference.read_judgements",
            typed["table"],
            systems=typed["systems"],
            rejected_rows=rejected,
        )
    source.let("result", call("hp.preference.test", source.let("judgements", known), **asked))
