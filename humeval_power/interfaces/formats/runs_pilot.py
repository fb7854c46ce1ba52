"""What a pilot says of the scores of repeated runs: the record that `runs test` writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from humeval_power.errors import InputError, ParametersError, Problem
from humeval_power.interfaces.formats.json_text import read_object
from humeval_power.runs_parameters import RunsFamily, RunsKind, RunsParameters

_HINT = "Write it by: humeval-power runs test TABLE -o pilot.json."


def read_pilot(
    path: str | Path,
    *,
    systems: Sequence[str] = (),
    kind: RunsKind | None = None,
    family: RunsFamily | None = None,
    **changed: Any,
) -> RunsParameters:
    """The parameters in the record of a pilot, or in a JSON file of parameters alone.

    systems : the two whose comparison is read, where the record has several.
    kind, family : what the pilot must be of.
    changed : parameters in place of the pilot's, such as `icc`.

    Raises
    ------
    InputError
        A file that is no such record, one of several pairs without a choice, a pair without parameters, or a
        pilot of another kind or family.
    ParametersError
        Values that cannot be.
    """
    found = _read(path, systems)
    asked = {"kind": kind, "family": family}
    other = [name for name, one in asked.items() if one not in (None, getattr(found, name))]
    if other:
        rule = f"holds {found.kind} runs, family {found.family}."
        remedy = f"It was asked about {asked[other[0]]} ones: leave that out, or give another pilot."
        raise InputError([Problem(rule, remedy, place=str(path))])
    return replace(found, **changed)


def _read(path: str | Path, systems: Sequence[str]) -> RunsParameters:
    place, found = str(path), read_object(path, hint=_HINT)
    if "sd_item" in found and "kind" in found:
        return _parameters(found, place)
    pairs = found.get("comparisons")
    if not str(found.get("schema", "")).startswith("humeval_power/runs_test/") or not isinstance(
        pairs, list
    ):
        raise InputError([Problem("is no record of a test of repeated runs.", _HINT, place=place)])
    return _parameters(_chosen(pairs, systems, place), place)


def _chosen(pairs: list[Any], systems: Sequence[str], place: str) -> Any:
    names = [_names(pair, place) for pair in pairs]
    if systems:
        wanted = [pair for pair, of in zip(pairs, names, strict=True) if sorted(of) == sorted(systems)]
        if not wanted:
            raise InputError(
                [Problem(f"has no pair of {_told(systems)}.", f"It has {_list(names)}.", place=place)]
            )
        turned = _names(wanted[0], place) != tuple(systems)
        return _turned(wanted[0]["parameters"]) if turned else wanted[0]["parameters"]
    if len(pairs) != 1:
        rule = f"has {len(pairs)} pairs of systems."
        raise InputError([Problem(rule, f"Choose one by --systems: {_list(names)}.", place=place)])
    return pairs[0]["parameters"]


def _turned(parameters: Any) -> Any:
    """The parameters with A and B exchanged."""
    if not isinstance(parameters, dict):
        return parameters
    swapped = dict(parameters)
    for one, other in (("sd_run_a", "sd_run_b"), ("sd_run_b", "sd_run_a")):
        if other in parameters:
            swapped[one] = parameters[other]
    effect = parameters.get("effect")
    if isinstance(effect, int | float):
        swapped["effect"] = -effect
    return swapped


def _names(pair: Any, place: str) -> tuple[str, ...]:
    if not isinstance(pair, dict) or not isinstance(pair.get("systems"), list) or "parameters" not in pair:
        raise InputError([Problem("has a comparison without systems or parameters.", _HINT, place=place)])
    return tuple(str(name) for name in pair["systems"])


def _parameters(values: Any, place: str) -> RunsParameters:
    if not isinstance(values, dict):
        rule = "has no parameters for this pair: its scores vary too little to say how."
        raise InputError(
            [Problem(rule, "Take a larger pilot, or give the deviations by options.", place=place)]
        )
    try:
        return RunsParameters.from_dict(values)
    except ParametersError as error:
        raise InputError([Problem(str(error), _HINT, place=place)]) from None


def _told(names: Sequence[str]) -> str:
    return " and ".join(repr(name) for name in names)


def _list(pairs: Sequence[Sequence[str]]) -> str:
    return "; ".join(repr(",".join(of)) for of in pairs[:6])
