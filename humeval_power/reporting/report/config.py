"""What only the authors know, from the [report] table of their configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from humeval_power.errors import InputError, Problem
from humeval_power.reporting.report.fields import Given
from humeval_power.reporting.report.items import GIVEN

SOURCE = GIVEN
PERSON = ("name", "affiliation", "email")
TEXTS = (
    "paper",
    "experiment",
    "resources",
    "data_link",
    "code_link",
    "licence",
    "anonymisation",
    "recruitment",
    "payment",
    "training",
    "characteristics",
    "medium",
    "quality_assurance",
    "interface_link",
    "interface",
    "instructions",
    "conditions",
    "consent",
    "ethics",
    "impact_assessment",
    "personal_data",
    "assistants",
    "title",
    "hypothesis",
    "existing_data",
    "collection",
    "blinding",
    "follow_up",
    "other",
)
CRITERION_TEXTS = ("name", "standard_name", "definition", "task", "question")
HedsAnswer = str | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReportConfig:
    """The authors' own answers. `texts` by the names above; persons by 'person.name' and the like.

    preregistration : a link, False where there is none and it is said, None where nothing is said.
    heds : answers by the number of a HEDS question: text, or the numbers of options.
    criteria : for each criterion its texts, and its HEDS answers by number.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    preregistration: str | bool | None = None
    heds: Mapping[str, HedsAnswer] = field(default_factory=dict)
    criteria: Mapping[str, Mapping[str, HedsAnswer]] = field(default_factory=dict)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> ReportConfig:
        """Read the table; every problem is reported at once.

        Raises
        ------
        InputError
            An unknown name, or a value of the wrong kind.
        """
        problems: list[Problem] = []
        texts: dict[str, str] = {}
        for name, value in _flat(values):
            if name in TEXTS or name in _PERSONS:
                _put(texts, name, value, problems)
            elif name not in _TABLES:
                known = ", ".join((*TEXTS, "person", "contact", *_TABLES))
                problems.append(_problem(name, value, f"is not known; the names are {known}."))
        registered = values.get("preregistration")
        if not isinstance(registered, str | bool | None) or registered is True:
            problems.append(_problem("preregistration", registered, "must be a link, or false."))
        heds = _answers(values.get("heds", {}), "heds", problems)
        criteria = {
            str(name): _answers(table, f"criteria.{name}", problems, texts=CRITERION_TEXTS)
            for name, table in _table(values.get("criteria", {}), "criteria", problems).items()
        }
        if problems:
            raise InputError(problems)
        return cls(texts, registered, heds, criteria)

    def given(self, name: str) -> Given | None:
        """The authors' text as an answer, None where they say nothing."""
        text = self.texts.get(name, "").strip()
        return Given(text, SOURCE) if text else None


NO_CONFIG = ReportConfig()
_PERSONS = tuple(f"{who}.{what}" for who in ("person", "contact") for what in PERSON)
_TABLES = ("preregistration", "heds", "criteria")


def _flat(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if name in ("person", "contact") and isinstance(value, Mapping):
            yield from ((f"{name}.{what}", said) for what, said in value.items())
        else:
            yield name, value


def _put(texts: dict[str, str], name: str, value: object, problems: list[Problem]) -> None:
    if isinstance(value, str):
        texts[name] = value
    else:
        problems.append(_problem(name, value, "must be text."))


def _table(value: object, name: str, problems: list[Problem]) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    problems.append(_problem(name, value, "must be a table."))
    return {}


def _answers(
    value: object, name: str, problems: list[Problem], *, texts: tuple[str, ...] = ()
) -> dict[str, HedsAnswer]:
    """Answers by number; a number or a list of numbers selects options."""
    found: dict[str, HedsAnswer] = {}
    for number, said in _table(value, name, problems).items():
        chosen = [said] if isinstance(said, int) and not isinstance(said, bool) else said
        if isinstance(said, str):
            found[number] = said
        elif number not in texts and isinstance(chosen, list) and chosen and all(map(_is_option, chosen)):
            found[number] = tuple(chosen)
        else:
            rule = "must be text." if number in texts else "must be text or the numbers of options, from 1."
            problems.append(_problem(f"{name}.{number}", said, rule))
    return found


def _is_option(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _problem(name: str, value: object, rule: str) -> Problem:
    return Problem(rule, "", place="[report]", column=name, value=value, has_value=True)
