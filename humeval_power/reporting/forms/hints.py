"""Where an open field of a form can be answered: a line of the configuration, a file, or the form itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from humeval_power.reporting.forms import arr, heds_criterion, heds_study, prereg
from humeval_power.reporting.forms.fields import FormField
from humeval_power.reporting.forms.heds_form import heds_questions
from humeval_power.safe_text import toml_text

Form = Literal["heds", "arr", "aspredicted", "osf"]

_HEDS_NAMES = {
    **heds_study.FROM_CONFIG,
    "1.1.1": "paper",
    "1.2": "resources",
    "3.3.1": "preregistration",
}
_NAMES: dict[str, Mapping[str, str]] = {
    "heds": _HEDS_NAMES,
    "arr": {**arr.FROM_CONFIG, "D2": "recruitment"},
    "aspredicted": prereg.ASPREDICTED_FROM_CONFIG,
    "osf": prereg.OSF_FROM_CONFIG,
}
_STUDY, _POWER = "--analysis or --parameters", "--plan or --power"
_FILES: dict[str, Mapping[str, str]] = {
    "heds": {
        "3.1.1": _STUDY,
        "3.1.3.1": _POWER,
        "3.1.3.2": _POWER,
        "3.1.3.3": _POWER,
        "3.2.1": _STUDY,
        "3.2.2.2": "--plan",
        "4.3.3": _STUDY,
        "4.3.4": _STUDY,
        "4.3.9": _STUDY,
        "4.3.10": _STUDY,
        "4.3.11.1": "--analysis",
        "4.3.11.2": "--analysis",
        "4.3.12.1": "--analysis",
        "4.3.12.2": "--analysis",
    },
    "arr": {"B6": _STUDY, "C3": _STUDY, "C4": _STUDY},
    "aspredicted": {},
    "osf": {},
}
_ITSELF = "Answer it in the form itself."


def hint(form: Form, field: FormField) -> str:
    """What to do about a field that is open or only suggested; nothing for one that is filled."""
    if field.state == "filled":
        return ""
    if field.state == "suggested":
        return f"Is this right? {field.answer}"
    said = []
    if field.number in _FILES[form]:
        said.append(f"Give {_FILES[form][field.number]}.")
    line = _line(form, field)
    if line:
        said.append(f"In --config: {line}")
    return " ".join(said) or _ITSELF


def _line(form: Form, field: FormField) -> str:
    """A line of TOML; its table comes first."""
    name = _NAMES[form].get(field.number)
    if name is not None and field.criterion is None:
        table, _, key = name.rpartition(".")
        return f'[report{f".{table}" if table else ""}] {key} = "..."'
    if form != "heds":
        return ""
    own = heds_criterion.FROM_CONFIG.get(field.number) if field.criterion is not None else None
    question = next(one for one in heds_questions() if one.element_id == field.key)
    if own is not None:
        key, value = own, '"..."'
    else:
        value = f"NUMBER, 1 to {question.n_options}" if question.kind == "radio" else '"..."'
        value = f"[NUMBERS, 1 to {question.n_options}]" if question.kind == "check" else value
        key = f'"{field.number}"'
    table = "heds" if field.criterion is None else f"criteria.{toml_text(field.criterion, key=True)}"
    return f"[report.{table}] {key} = {value}"
