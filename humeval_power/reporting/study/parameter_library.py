"""A library of parameters: what other studies found, where it comes from and what it is worth."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from humeval_power.checking.columns import close_to
from humeval_power.checking.rehearsed import NOTICE
from humeval_power.errors import InputError, Problem
from humeval_power.parameters import PARAMETER_NAMES, Parameters
from humeval_power.reporting.records import PARAMETERS_SCHEMA, Record
from humeval_power.reporting.values import words
from humeval_power.scales import RatingScale
from humeval_power.uncertainty import VarianceUncertainty

LIBRARY_SCHEMA = "humeval_power/parameter_library/1"
WORTH_OF_A_FIT = "honest fit of public ratings made with: {command}"
WORTH_OF_OWN = "fit of your own ratings, made with: {command}"
_TEXTS = ("name", "summary", "worker", "item", "paper", "data", "licence", "worth")
_FURTHER_TEXTS = ("caveat", "kind", "standing")


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """One setting. `document` is what `fit -o` writes, and None where there is nothing to plan from.

    `worker` and `item` say what these are in the study, `caveat` what its design does to the figures;
    `paper`, `data` and `licence` name the source. `published` holds figures as printed, for entries that
    are shown only. `kind` is what one judgement is ('points', 'slider', 'penalties', 'video'), `standing` where the
    entry lies among those of its kind ('typical', 'hopeful'), where one plans from it without a pilot.
    """

    name: str
    summary: str
    worth: str
    worker: str = ""
    item: str = ""
    paper: str = ""
    data: str = ""
    licence: str = ""
    caveat: str = ""
    kind: str = ""
    standing: str = ""
    document: Mapping[str, Any] | None = None
    published: Mapping[str, Any] = field(default_factory=dict)

    @property
    def plannable(self) -> bool:
        """Whether the figures are parameters of the model of this package."""
        return self.document is not None

    @property
    def parameters(self) -> Parameters | None:
        """The seven parameters, where there are any."""
        return None if self.document is None else Parameters.from_dict(self.document["parameters"])

    @property
    def not_identified(self) -> tuple[str, ...]:
        """The SDs that the table could not tell apart."""
        return tuple((self.document or {}).get("not_identified") or ())

    @property
    def whose(self) -> str:
        """Whose ratings these are: who rated what, and the paper."""
        document = self.document or {}
        who = (
            f"{document['n_workers']} workers, {document['n_items']} items" if "n_items" in document else ""
        )
        return "; ".join(part for part in (self.summary, who, self.paper) if part)

    @property
    def use(self) -> str:
        """In a few words: what the entry can be used for."""
        if not self.plannable:
            return "do not plan"
        return "partly known" if self.not_identified else "plan"

    def as_dict(self) -> Record:
        """For the file of a library; `use` and `plannable` are computed."""
        return {**asdict(self), "plannable": self.plannable, "use": self.use}


def entry_from_dict(values: object, *, place: str) -> LibraryEntry:
    """Read what `as_dict` writes.

    Raises
    ------
    InputError
        Every field that is missing or wrong.
    """
    if not isinstance(values, Mapping):
        raise InputError([Problem("an entry must be an object with a name.", "", place=place)])
    name = values.get("name")
    at = f"{place}, entry {name!r}"
    problems = [
        Problem("must be text.", "", at, column=text, value=values[text], has_value=True)
        for text in (*_TEXTS, *_FURTHER_TEXTS)
        if text in values and not isinstance(values[text], str)
    ]
    problems += [
        Problem(f"{text!r} is missing or blank.", "", at)
        for text in ("name", "summary", "worth")
        if not values.get(text)
    ]
    problems += _document_problems(values.get("document"), at)
    if not isinstance(values.get("published", {}), Mapping):
        problems.append(Problem("'published' must be an object.", "", at))
    if problems:
        raise InputError(problems)
    known = (*_TEXTS, *_FURTHER_TEXTS, "document", "published")
    return LibraryEntry(**{key: values[key] for key in known if key in values})


def usual_kind(scale: RatingScale | None) -> str:
    """The kind of judgement that a scale is usual for; few points where there is none."""
    if scale is None or scale.points is not None:
        return "points"
    return "penalties" if scale.low < scale.high == 0 else "slider"


def typical_name(scale: RatingScale) -> str:
    """The entry that comes along and is typical of ratings of texts on a scale like this one."""
    shipped = Path(__file__).with_name("parameter_library.json").read_text("utf-8")
    of_kind = [each for each in json.loads(shipped)["entries"] if each.get("kind") == usual_kind(scale)]
    return str(next(each["name"] for each in of_kind if each["standing"] == "typical"))


def library_record(entries: Sequence[LibraryEntry]) -> Record:
    """A library as a document."""
    return {"schema": LIBRARY_SCHEMA, "entries": [entry.as_dict() for entry in entries]}


def own_entry(
    document: Mapping[str, Any],
    *,
    name: str,
    summary: str = "",
    paper: str = "",
    data: str = "",
    licence: str = "",
) -> LibraryEntry:
    """An entry for a parameter document of one's own.

    What is not said is taken from `library` of the document, where it was exported from an entry: then the
    worth of the figures stays that of the study that they come from.
    """
    about = document.get("library")
    exported: Mapping[str, Any] = about if isinstance(about, Mapping) else {}
    table = document.get("data")
    source = str(table.get("source", "")) if isinstance(table, Mapping) else ""
    systems = " and ".join(map(str, document.get("systems") or []))
    made = {key: exported[key] for key in ("command", "versions") if key in exported}  # of the fit itself
    kept = {key: value for key, value in document.items() if key not in ("library", "sources")}
    command = str(document.get("command") or "humeval-power fit")
    return LibraryEntry(
        name=name,
        summary=summary
        or _told(exported, "summary")
        or f"{source or 'own ratings'}{f', {systems}' if systems else ''}",
        worth=_told(exported, "worth") or WORTH_OF_OWN.format(command=command),
        worker=_told(exported, "worker"),
        item=_told(exported, "item"),
        paper=paper or _told(exported, "paper"),
        data=data or _told(exported, "data") or source,
        licence=licence or _told(exported, "licence"),
        caveat=_told(exported, "caveat"),
        document={**kept, **made},
    )


def _told(exported: Mapping[str, Any], name: str) -> str:
    text = exported.get(name)
    return text if isinstance(text, str) else ""


def find_entry(name: str, entries: Sequence[LibraryEntry]) -> LibraryEntry:
    """The entry of a name.

    Raises
    ------
    InputError
        There is none.
    """
    for entry in entries:
        if entry.name == name:
            return entry
    known = [entry.name for entry in entries]
    raise InputError(f"There is no entry {name!r}. {close_to(name, known)}")


def parameters_document(entry: LibraryEntry) -> Record:
    """What `power --parameters` reads, with the source of the figures under `library`.

    Raises
    ------
    InputError
        An entry that nothing can be planned from.
    """
    if entry.document is None:
        raise InputError(f"{entry.name!r} cannot be planned from: {entry.worth}")
    about = {key: getattr(entry, key) for key in (*_TEXTS, "caveat")}
    return {**entry.document, "library": about}


def upper_worker_slope(entry: LibraryEntry, confidence: float) -> float | None:
    """Upper confidence limit of the SD of a worker's difference; None where the table says nothing."""
    from humeval_power.planning.plan.assurance import safe_parameters

    values = (entry.document or {}).get("uncertainty")
    if not isinstance(values, Mapping) or "sd_worker_slope" in entry.not_identified:
        return None
    uncertainty, parameters = VarianceUncertainty.from_dict(values), entry.parameters
    if parameters is not None and parameters.latent is not None:
        return safe_parameters(parameters, uncertainty, confidence=confidence).sd_worker_slope
    return math.sqrt(uncertainty.upper_worker_slope(confidence))


def _document_problems(document: object, at: str) -> list[Problem]:
    if document is None:
        return []
    if not isinstance(document, Mapping) or document.get("schema") != PARAMETERS_SCHEMA:
        return [Problem(f"'document' must have the schema {PARAMETERS_SCHEMA!r}.", "", at)]
    values = document.get("parameters")
    if not isinstance(values, Mapping):
        return [Problem("'document' has no 'parameters'.", "", at)]
    try:
        Parameters.from_dict(values)
        if document.get("uncertainty") is not None:
            VarianceUncertainty.from_dict(document["uncertainty"])
    except InputError as error:
        return [
            Problem(p.rule, p.remedy, at, p.row, p.column, p.value, p.has_value) for p in error.problems
        ]
    names = document.get("not_identified") or []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        rule, column = "must be a list of names of parameters.", "document.not_identified"
        return [Problem(rule, "", at, column=column, value=names, has_value=True, noun="field")]
    unknown = set(names) - set(PARAMETER_NAMES)
    return [Problem(f"'not_identified' has {sorted(unknown)}.", "", at)] if unknown else []


# Neither notices, which can name workers, nor what only the analysis of this one study needs.
EXPORTED = (
    "parameters",
    "standard_errors",
    "intervals",
    "uncertainty",
    "estimator",
    "engine",
    "effect",
    "criterion",
    "n_ratings",
    "n_workers",
    "n_items",
    "design",
    "ratings_per_item",
    "converged",
    "message",
    "boundary",
    "not_identified",
    "identified_combinations",
    "scale",
    "systems",
    "criterion_name",
    "flow",
    "data",
    "versions",
    "command",
)
LONGEST_NAME = 28  # what the list of a library has room for


def library_export(study: Mapping[str, Any], texts: Mapping[str, str], *, name: str) -> Record:
    """The parameters of a study that was fitted or analysed, for `power`, `plan` and `parameters add`.

    texts : the authors' answers; 'title', 'paper', 'data_link' and 'licence' are used.

    Raises
    ------
    InputError
        There is no fit of two systems, or it did not converge.
    """
    if not isinstance(study.get("parameters"), Mapping):
        raise InputError(
            "There are no parameters to export: give --parameters or --findings of a study of two systems."
        )
    if study.get("converged") is False:
        raise InputError("The fit did not converge; nobody can plan from its parameters.")
    document = {
        "schema": PARAMETERS_SCHEMA,
        **{field: study[field] for field in EXPORTED if field in study},
    }
    rehearsed = [NOTICE] if NOTICE in (study.get("notices") or ()) else []
    entry = own_entry(
        document,
        name=name,
        summary=" ".join([*rehearsed, texts.get("title", "")]).strip(),
        paper=texts.get("paper", ""),
        data=texts.get("data_link", ""),
        licence=texts.get("licence", ""),
    )
    return parameters_document(entry)


def entry_name(study: Mapping[str, Any], fallback: str) -> str:
    """A name for the entry, such as 'pilot-fluency', by the table of ratings and the criterion."""
    data = study.get("data")
    source = (words(data, "source") if isinstance(data, Mapping) else None) or fallback
    stem = source.rsplit("/", 1)[-1].partition(".")[0]
    said = "-".join(filter(None, [stem, words(study, "criterion_name")]))
    plain = "-".join("".join(c if c.isalnum() else " " for c in said).lower().split())
    return plain[:LONGEST_NAME].strip("-") or "study"
