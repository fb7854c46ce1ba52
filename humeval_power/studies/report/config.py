"""What only the authors know, from the [report] table of their answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from humeval_power.checking.columns import close_to
from humeval_power.errors import InputError, Problem
from humeval_power.safe_text import toml_text
from humeval_power.studies.report.fields import GIVEN, Given
from humeval_power.studies.report.heds.form import Chosen, HedsQuestion, heds_questions, read_choice

SOURCE = GIVEN
MEMORY = "remembered answers"  # the source of what the authors said of an earlier study
PERSON = ("name", "affiliation", "email")
# The texts that authors may give, and what each should say.
TEXTS = {
    "paper": "a link to the paper, or its reference",
    "experiment": "the section or table of the paper, and what was compared on what",
    "resources": "links to outputs, instructions and code",
    "data_link": "a link to the individual ratings, with ids of workers, items and systems",
    "code_link": "a link to the code of the analysis, and the version that was used",
    "licence": "of the ratings, such as CC BY 4.0",
    "anonymisation": "how names and ids of workers were taken out",
    "recruitment": "where workers came from, and what was required of them",
    "payment": "the pay per hour, and how it compares with the local minimum",
    "training": "how workers were trained or tested beforehand, or that they were not",
    "characteristics": "language, age, gender, education: what is known, with counts",
    "medium": "the platform or form through which ratings were given",
    "quality_assurance": "attention checks, time limits, rejected work, or that there were none",
    "interface_link": "a link to the page that workers saw, or to a screenshot",
    "interface": "what workers saw while rating: item, scale, instructions",
    "instructions": "what the workers read, word by word",
    "conditions": "how places, devices and times differed between workers",
    "consent": "what workers agreed to, and how",
    "ethics": "the board that approved the study and its number, or why none was needed",
    "impact_assessment": "of data protection or other risks, or that there was none",
    "personal_data": "which personal data are held, and how they are protected",
    "assistants": "which assistants were used for text or code, and what for",
    "title": "of the study",
    "hypothesis": "which system is expected to be better, and why",
    "existing_data": "whether ratings have been collected already, and who has seen them",
    "collection": "who collects the ratings, where, and from when to when",
    "blinding": "who knows which system an output is from",
    "follow_up": "analyses that are planned beside the main one",
    "other": "anything else that a reader of the preregistration should know",
}
PERSONS = tuple(f"{who}.{what}" for who in ("person", "contact") for what in PERSON)
CRITERION_TEXTS = {
    "name": "",
    "standard_name": "such as the one of QCET",
    "definition": "as workers read it, word by word",
    "task": "what workers did, and what was recorded",
    "question": "",
}
HINTS = {
    **TEXTS,
    **CRITERION_TEXTS,
    "preregistration": "a link between quotation marks, or false where there was none",
}
HedsAnswer = str | Chosen
# What describes a team and its tools rather than one study: only this is remembered.
REMEMBERED = (
    *PERSONS,
    "ethics",
    "impact_assessment",
    "consent",
    "recruitment",
    "payment",
    "medium",
    "anonymisation",
    "licence",
    "assistants",
)


@dataclass(frozen=True, slots=True)
class ReportConfig:
    """The authors' own answers. `texts` by the names above; persons by 'person.name' and the like.

    preregistration : a link, False where there is none and it is said, None where nothing is said.
    heds : answers by the number of a HEDS question: text, or the options that were chosen.
    criteria : for each criterion its texts, and its HEDS answers by number.
    remembered : the names of texts that come from an earlier study; nothing that is known of this one yields
        to them.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    preregistration: str | bool | None = None
    heds: Mapping[str, HedsAnswer] = field(default_factory=dict)
    criteria: Mapping[str, Mapping[str, HedsAnswer]] = field(default_factory=dict)
    remembered: Collection[str] = ()

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> ReportConfig:
        """Read the table; every problem is reported at once. An empty text or list is no answer.

        Raises
        ------
        InputError
            An unknown name, or a value of the wrong kind.
        """
        problems: list[Problem] = []
        texts: dict[str, str] = {}
        for name, value in _flat(values, problems):
            if name not in TEXTS and name not in PERSONS:
                problems.append(_unknown(name, value))
            elif not isinstance(value, str):
                problems.append(_problem(name, value, "must be text, between quotation marks."))
            elif value.strip():
                texts[name] = value
        registered = values.get("preregistration")
        if not isinstance(registered, str | bool | None) or registered is True:
            rule = "must be a link between quotation marks, or false where there was none."
            problems.append(_problem("preregistration", registered, rule))
        once = {one.number: one for one in heds_questions() if not one.is_per_criterion}
        each = {one.number: one for one in heds_questions() if one.is_per_criterion}
        heds = _answers(values.get("heds", {}), "heds", once, problems)
        criteria = {
            str(name): _answers(table, f"criteria.{toml_text(str(name), key=True)}", each, problems)
            for name, table in _table(values.get("criteria", {}), "criteria", problems).items()
        }
        if problems:
            raise InputError(problems)
        link = None if isinstance(registered, str) and not registered.strip() else registered
        return cls(texts, link, heds, {name: said for name, said in criteria.items() if said})

    def given(self, name: str, *, known: Given | None = None) -> Given | None:
        """The authors' text as an answer, None where they say nothing.

        known : what this study's files say; a remembered answer yields to it.
        """
        text = self.texts.get(name, "").strip()
        is_remembered = name in self.remembered
        if not text or (is_remembered and known is not None):
            return None
        return Given(text, MEMORY if is_remembered else SOURCE)

    def completed_by(self, other: ReportConfig) -> ReportConfig:
        """The same with the answers of another file, where these authors say nothing."""
        criteria = {
            name: {**other.criteria.get(name, {}), **self.criteria.get(name, {})}
            for name in dict.fromkeys((*self.criteria, *other.criteria))
        }
        registered = other.preregistration if self.preregistration is None else self.preregistration
        return ReportConfig(
            {**other.texts, **self.texts}, registered, {**other.heds, **self.heds}, criteria
        )

    def with_memory(self, memory: ReportConfig) -> ReportConfig:
        """The same with what an earlier study answered, where these authors say nothing."""
        missing = {
            name: text
            for name, text in memory.texts.items()
            if name in REMEMBERED and not self.texts.get(name, "").strip()
        }
        return replace(self, texts={**self.texts, **missing}, remembered=tuple(missing))

    def to_remember(self) -> ReportConfig:
        """The answers that hold for every study of a team, and no others."""
        own = {name: self.texts[name] for name in REMEMBERED if self.texts.get(name, "").strip()}
        return ReportConfig(own)


NO_CONFIG = ReportConfig()
_TABLES = ("preregistration", "heds", "criteria")


def _flat(values: Mapping[str, Any], problems: list[Problem]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if name in ("person", "contact"):
            table = _table(value, name, problems)
            yield from ((f"{name}.{what}", said) for what, said in table.items())
        elif name not in _TABLES:
            yield name, value


def _table(value: object, name: str, problems: list[Problem]) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    problems.append(_problem(name, value, f"must be a table: write [report.{name}] and its answers below."))
    return {}


def _unknown(name: str, value: object) -> Problem:
    """The nearest name; a number of HEDS that stands outside its table is told where it belongs."""
    question = next((one for one in heds_questions() if one.number == name), None)
    table = "criteria.NAME" if question is not None and question.is_per_criterion else "heds"
    remedy = close_to(name, (*TEXTS, *PERSONS, *_TABLES))
    return _problem(
        toml_text(name, key=True) if name.count(".") != 1 or question else name,
        value,
        "is not known.",
        remedy if question is None else f'Write it as {table}."{name}".',
    )


def _answers(
    value: object, name: str, questions: Mapping[str, HedsQuestion], problems: list[Problem]
) -> dict[str, HedsAnswer]:
    """Answers by number, and the texts of a criterion by name."""
    is_criterion = name != "heds"
    texts = tuple(CRITERION_TEXTS) if is_criterion else ()
    answers: dict[str, HedsAnswer] = {}
    for number, said in _table(value, name, problems).items():
        place = f"{name}.{toml_text(number, key=True)}"
        question = questions.get(number)
        if number not in texts and question is None:
            where = "section 4, nor a text of a criterion" if is_criterion else "sections 1, 2, 3 and 5"
            rule = f"is no question of HEDS 3.0 in {where}."
            problems.append(_problem(place, said, rule, close_to(number, (*texts, *questions))))
            continue
        answer = _answer(question, said)
        if isinstance(answer, Problem):
            problems.append(_problem(place, said, answer.rule))
        elif answer is not None:
            answers[number] = answer
    return answers


def _answer(question: HedsQuestion | None, said: object) -> HedsAnswer | Problem | None:
    """A text or the chosen options, None where nothing is said; else the rule that is broken."""
    if said == [] or (isinstance(said, str) and not said.strip()):
        return None
    if question is not None and question.n_options:
        chosen = read_choice(question, said)
        return Problem(chosen, "") if isinstance(chosen, str) else chosen
    if question is not None and question.kind == "integer" and type(said) is int:
        return str(said)
    return said if isinstance(said, str) else Problem("must be text, between quotation marks.", "")


def _problem(name: str, value: object, rule: str, remedy: str = "") -> Problem:
    shown = not isinstance(value, Mapping)
    return Problem(rule, remedy, place="[report]", column=name, value=value, has_value=shown, noun="field")
