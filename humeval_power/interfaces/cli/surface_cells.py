"""The cells of a surface of any family: its sizes and effects under every combination of what is assumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.cli.family import Assumed, Family, Given
from humeval_power.scenarios.contract import Scenario

Labelled = tuple[Mapping[str, Any], Scenario]


def surface_cells(
    family: Family, sizes: Sequence[int], effects: Sequence[float], given: Given
) -> list[Labelled]:
    """Each with its labels: `n`, and what is assumed where several values of it were given.

    Raises
    ------
    InputError
        Of every combination that cannot be, the problems.
    """
    cells: list[Labelled] = []
    problems: list[Problem] = []
    for labels, one in _combinations(family, given):
        family.effect_range(one).check(effects)
        for n, effect in product(sizes, effects):
            try:
                cells.append(({**labels, "n": n}, family.build(n, effect, one)))
            except InputError as error:
                problems += error.problems
    if problems:
        raise InputError(list(dict.fromkeys(problems)))
    return cells


def without_lists_of_one(family: Family, given: Given) -> dict[str, Any]:
    """The options, with the value itself where a list has one."""
    single = {name: values[0] for name, values in _lists(family, given).items() if len(values) == 1}
    return {**given, **single}


def _lists(family: Family, given: Given) -> dict[str, tuple[float, ...]]:
    """What is assumed, and typed."""
    names = [each.name for each in family.options if isinstance(each, Assumed)]
    return {name: given[name] for name in names if given[name] is not None}


def _combinations(family: Family, given: Given) -> Iterator[tuple[dict[str, float], dict[str, Any]]]:
    """Labels, and the options with one value each."""
    lists = _lists(family, given)
    for values in product(*lists.values()):
        one = dict(zip(lists, values, strict=True))
        yield {name: one[name] for name in lists if len(lists[name]) > 1}, {**given, **one}
