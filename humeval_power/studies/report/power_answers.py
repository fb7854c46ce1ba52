"""Answers on power, looks and pay from documents; and forms of several criteria merged into one."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, NamedTuple

from humeval_power.costs import money
from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.rules import claim
from humeval_power.saying.document import Table
from humeval_power.saying.numbers import MINUS, in_words, minus_of_numbers, p_words
from humeval_power.saying.rule_words import margin_words
from humeval_power.saying.values import (
    JsonRecord,
    bounds,
    cells,
    design_words,
    estimated,
    listed,
    number,
    part,
    plain,
    rule_of,
    scale_of,
    share,
    signed,
    words,
)
from humeval_power.studies.looks.repeated import RepeatedResult
from humeval_power.studies.monitor.result import repeated_words
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.report.fields import Checklist, ChecklistItem, FormField

TARGET = 0.8
DESIGN = ("setting", "workers", "items", "ratings_per_item")
Cell = dict[str, Any]


class PowerAnswer(NamedTuple):
    """An answer, and whether it is the whole one."""

    text: str
    is_whole: bool = True
    table: Table | None = None


def stated_effect(parameters: JsonRecord, surface: JsonRecord, power: JsonRecord) -> PowerAnswer | None:
    """The difference that power was computed for: the power document's, the surface's only one, or that of
    interest to the analysis."""
    differences = sorted({cell["difference"] for cell in cells(power) or cells(surface)})
    interest = number(part(parameters, "power_at_interest"), "effect")
    if not differences and interest is not None:
        differences = [interest]
    if len(differences) != 1:
        return None
    raw = _raw(differences[0], parameters, power)
    rule = rule_of(power) or rule_of(surface) or rule_of(parameters)
    at = f"ower was computed for a true difference of {plain(differences[0])} on [0, 1]{raw}."
    if rule is not None and rule.margin is not None:
        scale = scale_of(parameters) or scale_of(power)
        return PowerAnswer(f"A margin of {margin_words(rule, scale)}; p{at}", False)
    return PowerAnswer(f"P{at}", False)


def power_of_design(parameters: JsonRecord, surface: JsonRecord, power: JsonRecord) -> PowerAnswer | None:
    """The power of the power document's design; without one, of the surface's designs.

    Open where a study was fitted and none of them is its design.
    """
    if cells(power):
        cell = cells(power)[0]
        is_own = not parameters or _is_own(cell, parameters)
        other = "" if is_own else f" The study has another design: {_own_design(parameters)}."
        text = _power_sentence(cell, parameters, power) + other
        return PowerAnswer(text, is_own, _power_table(cells(surface)))
    own = [cell for cell in cells(surface) if _is_own(cell, parameters)]
    shown = own or cells(surface)
    if not shown:
        return None
    powers, differences = [cell["power"] for cell in shown], sorted({cell["difference"] for cell in shown})
    over = (
        f"for the study's design, {_own_design(parameters)}" if own else "over the designs of the surface"
    )
    other = "" if own or not parameters else f" The study has another design: {_own_design(parameters)}."
    return PowerAnswer(
        f"From {share(min(powers))} to {share(max(powers))} {over}, for true differences of "
        f"{_listed(differences)} on [0, 1].{other}",
        not other,
        _power_table(cells(surface)),
    )


def smallest_shown(parameters: JsonRecord, surface: JsonRecord) -> PowerAnswer | None:
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
    return PowerAnswer(
        "Read off the differences that the surface was computed for; true differences on [0, 1]."
        + ("" if own or not parameters else f" The study has another design: {_own_design(parameters)}."),
        bool(own) or not parameters,
        Table((*_design_header(), f"power {TARGET:g} is reached"), tuple(rows)),
    )


def assumptions(surface: JsonRecord, power: JsonRecord) -> PowerAnswer | None:
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
    return PowerAnswer(
        "On [0, 1]; the effect is varied. The SDs of the slopes belong to the coding given.",
        table=Table(("parameter", *names), (*rows, coding)),
    )


def _is_own(cell: JsonRecord, parameters: JsonRecord) -> bool:
    """Whether a cell has the size of the study that was fitted."""
    sizes = ((number(cell, name), number(parameters, f"n_{name}")) for name in ("workers", "items"))
    planned, had = number(cell, "ratings_per_item"), number(parameters, "ratings_per_item")
    same_load = planned is None or had is None or math.isclose(planned, had, rel_tol=0.01)
    return same_load and all(size is not None and size == own for size, own in sizes)


def _own_design(parameters: JsonRecord) -> str:
    sizes = {name: parameters.get(f"n_{name}") for name in ("workers", "items")}
    return design_words({**sizes, "ratings_per_item": parameters.get("ratings_per_item")})


def _power_sentence(cell: Cell, parameters: JsonRecord, power: JsonRecord) -> str:
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


def _raw(difference: float, parameters: JsonRecord, power: JsonRecord) -> str:
    scale = scale_of(parameters) or scale_of(power)
    if scale is None:
        return ""
    return f" ({signed(scale.effect_to_raw(difference))} on the scale {scale.low:g} to {scale.high:g})"


def _by_design(cells: Sequence[Cell]) -> dict[tuple[object, ...], list[Cell]]:
    designs: dict[tuple[object, ...], list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: float(cell["difference"])):
        designs.setdefault(tuple(cell.get(name) for name in DESIGN), []).append(cell)
    order = {
        tuple(cell.get(name) for name in DESIGN): place for place, cell in reversed([*enumerate(cells)])
    }
    return dict(sorted(designs.items(), key=lambda entry: order[entry[0]]))


def _power_table(cells: Sequence[Cell]) -> Table | None:
    """One row for each design, one column for each difference, power in the cells."""
    if not cells:
        return None
    differences = sorted({cell["difference"] for cell in cells})
    rows = []
    for of_design in _by_design(cells).values():
        by_difference = {cell["difference"]: share(cell["power"]) for cell in of_design}
        rows.append((*_design_cells(of_design[0]), *(by_difference.get(d, "") for d in differences)))
    spreads = [(cell.get("power_low"), cell.get("power_high"), cell["power"]) for cell in cells]
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


def _number_cell(values: JsonRecord, name: str) -> str:
    value = number(values, name)
    return "" if value is None else plain(value)


def _coding(values: JsonRecord) -> str:
    codes = bounds(values, "coding")
    return "" if codes is None else f"{codes[0]:g}, {codes[1]:g}"


def _listed(values: Sequence[float]) -> str:
    shown = [plain(value) for value in values]
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


# Sentences on the looks of a study, and on its pay.

_ENDS = {
    "stop-success": "It was stopped there: the boundary was passed.",
    "stop-equivalence": "It was stopped there: the interval lay within the margin of equivalence.",
    "stop-half-width": "It was stopped there: the interval was as narrow as the plan asked.",
    "stop-futility": "It was stopped there for futility.",
    "end-success": "At its planned end the boundary was passed.",
    "end-half-width": "At its planned end the interval was as narrow as the plan asked; the study has not shown a "
    "difference, which does not show that there is none.",
    "end-equivalence": "At its planned end the interval lay within the margin of equivalence.",
    "end-nothing-shown": "At its planned end the boundary was not passed: the study has not shown a difference, "
    "which does not show that there is none.",
}


def sequential_sentence(study: JsonRecord) -> str | None:
    """How the study ended and what takes its looks into account; None for a study with one test."""
    sequential = part(study, "sequential")
    looks, inference = listed(sequential, "looks"), part(sequential, "inference")
    estimate, p_value = number(inference, "estimate"), number(inference, "p_value")
    ends, confidence = bounds(inference, "interval"), number(inference, "confidence")
    if not looks or estimate is None or p_value is None or ends is None or confidence is None:
        return None
    taken = (
        f"The data were tested at {len(looks)} looks"
        if len(looks) > 1
        else "The data were tested at 1 look"
    )
    low, high = map(_shown, ends)
    ended = f"{taken} ({words(sequential, 'rule')}). {_ENDS[str(sequential['decision'])]}"
    if "half_width" in inference:
        result = RepeatedResult(
            look=len(looks),
            p_value=p_value,
            estimate=estimate,
            interval=ends,
            confidence=confidence,
            half_width=(ends[1] - ends[0]) / 2,
            reason="end",
            bias=number(inference, "bias"),
        )
        systems = listed(study, "systems")
        a, b = map(str, systems if len(systems) == 2 else ("A", "B"))
        scale = scale_of(study)
        declared = scale if scale is not None and scale.source == "declared" else None
        said = minus_of_numbers(repeated_words(result, (a, b), declared))
        return f"{ended} {said.replace(f'{b} - {a}', f'{b} {MINUS} {a}', 1)}."
    return (
        f"{ended} "
        f"Taking the looks into account (stage-wise ordering), {p_words(p_value)}, the median-unbiased estimate "
        f"is {_shown(estimate)} and the {100 * confidence:g} % interval {low} to {high}."
    )


def _shown(value: float) -> str:
    return estimated(value).replace("-", "\u2212")


def pay_sentence(plan: Plan | None) -> str | None:
    """'0.12 USD for each rating, 10.80 USD an hour at 40 seconds a rating.' None where no pay is planned."""
    if plan is None or plan.costs is None or not plan.costs.exact_price:
        return None
    costs = plan.costs
    said = []
    if costs.price_per_rating is not None:
        said.append(f"{money(costs.price_per_rating, costs.currency)} for each rating")
    if costs.hourly_pay is not None and costs.seconds_per_rating is not None:
        said.append(
            f"{money(costs.hourly_pay, costs.currency)} an hour at {costs.seconds_per_rating:f} seconds a rating"
        )
    return f"Planned: {', '.join(said)}." if said else None


# One form from those of several criteria: what they share is said once, the rest of each criterion by its
# name.

_SENTENCE = re.compile(r"(?<=[.!?]) ")


def merged_text(names: Sequence[str], texts: Sequence[str | None]) -> str | None:
    """The text that all share, or what each says between the sentences with which all begin and end."""
    known = [(name, _SENTENCE.split(text)) for name, text in zip(names, texts, strict=True) if text]
    if not known:
        return None
    sentences = [said for _, said in known]
    if len(known) == len(texts):
        first = _n_alike(sentences)
        last = _n_alike([said[first:][::-1] for said in sentences])
    else:
        first = last = 0
    begin, end = sentences[0][:first], sentences[0][len(sentences[0]) - last :]
    between = [(name, " ".join(said[first : len(said) - last])) for name, said in known]
    parts = [f"{name}: {text}" for name, text in between if text]
    return " ".join([*begin, *parts, *end])


def _n_alike(sentences: Sequence[Sequence[str]]) -> int:
    """How many sentences all of them have in common from the first on."""
    return len([*takewhile(lambda same: len(set(same)) == 1, zip(*sentences, strict=False))])


def merged_notes(names: Sequence[str], notes: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The notes of every criterion, each once; one that not all share says whose it is."""
    return tuple(
        dict.fromkeys(
            text if all(text in other for other in notes) else f"{name}: {text}"
            for name, texts in zip(names, notes, strict=True)
            for text in texts
        )
    )


def merged_table(names: Sequence[str], tables: Sequence[Table | None]) -> Table | None:
    """One table with a column of criteria, or the table that all share."""
    known = [(name, table) for name, table in zip(names, tables, strict=True) if table is not None]
    if not known:
        return None
    if all((table.header, table.rows) == (known[0][1].header, known[0][1].rows) for _, table in known):
        return known[0][1]
    header = tuple(dict.fromkeys(column for _, table in known for column in table.header))
    rows = [
        (name, *(dict(zip(table.header, row, strict=True)).get(column, "") for column in header))
        for name, table in known
        for row in table.rows
    ]
    captions = [_SENTENCE.split(table.caption) for _, table in known]
    shared = [text for text in captions[0] if all(text in caption for caption in captions)]
    return Table(("criterion", *header), tuple(rows), caption=" ".join(shared))


def merged_fields(names: Sequence[str], of_each: Sequence[Sequence[FormField]]) -> tuple[FormField, ...]:
    """The fields of a form that asks once for all criteria; certain where it is for each of them."""
    return tuple(_merged_field(names, same) for same in zip(*of_each, strict=True))


def _merged_field(names: Sequence[str], same: Sequence[FormField]) -> FormField:
    answer = merged_text(names, [one.answer for one in same])
    if answer is None:
        return same[0]
    return replace(
        same[0],
        state="filled" if all(one.state == "filled" for one in same) else "suggested",
        answer=answer,
        source=_sources([one.source for one in same]),
    )


def merged_checklist(names: Sequence[str], of_each: Sequence[Checklist]) -> Checklist:
    """The items of all criteria; filled where every criterion's is."""
    return replace(
        of_each[0],
        title=of_each[0].title.removesuffix(names[0]) + in_words(tuple(dict.fromkeys(names))),
        items=tuple(
            _merged_item(names, same) for same in zip(*(one.items for one in of_each), strict=True)
        ),
        caveats=merged_notes(names, [one.caveats for one in of_each]),
    )


def _merged_item(names: Sequence[str], same: Sequence[ChecklistItem]) -> ChecklistItem:
    answer = merged_text(names, [one.answer for one in same])
    return replace(
        same[0],
        state="filled" if all(one.state == "filled" for one in same) else "open",
        answer=answer,
        source=_sources([one.source for one in same]) or None,
        advice=next((one.advice for one in same if one.advice), None),
        table=merged_table(names, [one.table for one in same]),
    )


def _sources(sources: Sequence[str | None]) -> str:
    """Each source once."""
    return "; ".join(dict.fromkeys(part for source in sources if source for part in source.split("; ")))
