"""What power and surface documents say about the items on power."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.reporting.document import Table
from humeval_power.reporting.rule_words import margin_words
from humeval_power.reporting.values import (
    Document,
    bounds,
    cells,
    design_words,
    number,
    part,
    plain,
    rule_of,
    scale_of,
    share,
    signed,
    words,
)
from humeval_power.rules import claim

TARGET = 0.8
DESIGN = ("setting", "workers", "items", "ratings_per_item")
Cell = dict[str, Any]


class Answer(NamedTuple):
    """An answer, and whether it is the whole one."""

    text: str
    is_whole: bool = True
    table: Table | None = None


def stated_effect(parameters: Document, surface: Document, power: Document) -> Answer | None:
    """The difference that power was computed for: the power document's, or the surface's only one."""
    differences = sorted({cell["difference"] for cell in cells(power) or cells(surface)})
    if len(differences) != 1:
        return None
    raw = _raw(differences[0], parameters, power)
    rule = rule_of(power) or rule_of(surface)
    at = f"ower was computed for a true difference of {plain(differences[0])} on [0, 1]{raw}."
    if rule is not None and rule.margin is not None:
        scale = scale_of(parameters) or scale_of(power)
        return Answer(f"A margin of {margin_words(rule, scale)}; p{at}", False)
    return Answer(f"P{at}", False)


def power_of_design(parameters: Document, surface: Document, power: Document) -> Answer | None:
    """The power of the power document's design; without one, of the surface's designs.

    Open where a study was fitted and none of them is its design.
    """
    if cells(power):
        cell = cells(power)[0]
        is_own = not parameters or _is_own(cell, parameters)
        other = "" if is_own else f" The study has another design: {_own_design(parameters)}."
        text = _power_sentence(cell, parameters, power) + other
        return Answer(text, is_own, _power_table(cells(surface)))
    own = [cell for cell in cells(surface) if _is_own(cell, parameters)]
    shown = own or cells(surface)
    if not shown:
        return None
    powers, differences = [cell["power"] for cell in shown], sorted({cell["difference"] for cell in shown})
    over = (
        f"for the study's design, {_own_design(parameters)}" if own else "over the designs of the surface"
    )
    other = "" if own or not parameters else f" The study has another design: {_own_design(parameters)}."
    return Answer(
        f"From {share(min(powers))} to {share(max(powers))} {over}, for true differences of "
        f"{_listed(differences)} on [0, 1].{other}",
        not other,
        _power_table(cells(surface)),
    )


def smallest_found(parameters: Document, surface: Document) -> Answer | None:
    """Between which differences of the surface power reaches 0.8: for the study's design if it is there,
    else for each design. None under a rule with a margin, whose power falls with the difference."""
    rule = rule_of(surface)
    if rule is not None and rule.margin is not None:
        return None
    own = [cell for cell in cells(surface) if _is_own(cell, parameters)]
    designs = _by_design(own or cells(surface))
    brackets = {key: reached for key, of_key in designs.items() if (reached := _bracket(of_key))}
    if not brackets or all(len(of_key) < 2 for of_key in designs.values()):
        return None
    rows = [(*_design_cells(designs[key][0]), reached) for key, reached in brackets.items()]
    return Answer(
        "Read off the differences that the surface was computed for; true differences on [0, 1]."
        + ("" if own or not parameters else f" The study has another design: {_own_design(parameters)}."),
        bool(own) or not parameters,
        Table((*_design_header(), f"power {TARGET:g} is reached"), tuple(rows)),
    )


def assumptions(surface: Document, power: Document) -> Answer | None:
    """The parameters behind the power, one column for each setting."""
    settings = dict(part(surface, "settings"))
    if part(power, "parameters"):
        settings.setdefault(words(power, "setting") or "power", part(power, "parameters"))
    names = [name for name in settings if part(settings, name)]
    if not names:
        return None
    rows = [
        (name, *(_number_cell(part(settings, setting), name) for setting in names))
        for name in PARAMETER_NAMES
        if name != "effect"
    ]
    coding = ("coding", *(_coding(part(settings, setting)) for setting in names))
    return Answer(
        "On [0, 1]; the effect is varied. The SDs of the slopes belong to the coding given.",
        table=Table(("parameter", *names), (*rows, coding)),
    )


def _is_own(cell: Document, parameters: Document) -> bool:
    """Whether a cell has the size of the study that was fitted."""
    sizes = ((number(cell, name), number(parameters, f"n_{name}")) for name in ("workers", "items"))
    planned, had = number(cell, "ratings_per_item"), number(parameters, "ratings_per_item")
    same_load = planned is None or had is None or math.isclose(planned, had, rel_tol=0.01)
    return same_load and all(size is not None and size == own for size, own in sizes)


def _own_design(parameters: Document) -> str:
    sizes = {name: parameters.get(f"n_{name}") for name in ("workers", "items")}
    return design_words({**sizes, "ratings_per_item": parameters.get("ratings_per_item")})


def _power_sentence(cell: Cell, parameters: Document, power: Document) -> str:
    interval = ""
    low, high = number(cell, "power_low"), number(cell, "power_high")
    if low is not None and high is not None:
        interval = f" (Monte Carlo interval {low:.3f} to {high:.3f})"
    simulations = number(cell, "n_simulations")
    by = "" if simulations is None else f", by {simulations:,.0f} simulated studies"
    raw = _raw(cell["difference"], parameters, power)
    rule = rule_of(power)
    goal = "" if rule is None or rule.margin is None else f" to show {claim(rule)}"
    return (
        f"{cell['power']:.3f}{interval}{goal} for a true difference of {plain(cell['difference'])} on "
        f"[0, 1]{raw}, with {design_words(cell)}{by}."
    )


def _raw(difference: float, parameters: Document, power: Document) -> str:
    scale = scale_of(parameters) or scale_of(power)
    if scale is None:
        return ""
    return f" ({signed(scale.effect_to_raw(difference))} on the scale {scale.low:g} to {scale.high:g})"


def _by_design(found: Sequence[Cell]) -> dict[tuple[object, ...], list[Cell]]:
    designs: dict[tuple[object, ...], list[Cell]] = {}
    for cell in sorted(found, key=lambda cell: float(cell["difference"])):
        designs.setdefault(tuple(cell.get(name) for name in DESIGN), []).append(cell)
    order = {
        tuple(cell.get(name) for name in DESIGN): place for place, cell in reversed([*enumerate(found)])
    }
    return dict(sorted(designs.items(), key=lambda entry: order[entry[0]]))


def _power_table(found: Sequence[Cell]) -> Table | None:
    """One row for each design, one column for each difference, power in the cells."""
    if not found:
        return None
    differences = sorted({cell["difference"] for cell in found})
    rows = []
    for of_design in _by_design(found).values():
        by_difference = {cell["difference"]: share(cell["power"]) for cell in of_design}
        rows.append((*_design_cells(of_design[0]), *(by_difference.get(d, "") for d in differences)))
    spreads = [(cell.get("power_low"), cell.get("power_high"), cell["power"]) for cell in found]
    widest = max(
        (
            max(high - power, power - low)
            for low, high, power in spreads
            if low is not None and high is not None
        ),
        default=None,
    )
    error = "" if widest is None else f" Monte Carlo intervals reach at most {widest:.3f} to either side."
    return Table(
        (*_design_header(), *(f"at {plain(difference)}" for difference in differences)),
        tuple(rows),
        caption=f"Power at each true difference on [0, 1].{error}",
    )


def _design_header() -> tuple[str, ...]:
    return ("setting", "workers", "items", "ratings per item")


def _design_cells(cell: Cell) -> tuple[str, ...]:
    numbers = (number(cell, name) for name in DESIGN[1:])
    return (str(cell.get("setting", "")), *("" if value is None else f"{value:,.4g}" for value in numbers))


def _bracket(of_design: Sequence[Cell]) -> str:
    """Where power passes the target for good, between two differences of the grid."""
    above = [cell for cell in of_design if cell["difference"] > 0]
    if not above:
        return ""
    short = [place for place, cell in enumerate(above) if cell["power"] < TARGET]
    if not short:
        return f"at {plain(above[0]['difference'])} or less"
    if short[-1] == len(above) - 1:
        return f"above {plain(above[-1]['difference'])}"
    return (
        f"between {plain(above[short[-1]]['difference'])} and {plain(above[short[-1] + 1]['difference'])}"
    )


def _number_cell(values: Document, name: str) -> str:
    value = number(values, name)
    return "" if value is None else plain(value)


def _coding(values: Document) -> str:
    codes = bounds(values, "coding")
    return "" if codes is None else f"{codes[0]:g}, {codes[1]:g}"


def _listed(values: Sequence[float]) -> str:
    shown = [plain(value) for value in values]
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]
