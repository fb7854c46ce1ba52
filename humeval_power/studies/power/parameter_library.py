"""A library of parameters: what other studies found, where it comes from and what it is worth."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from humeval_power.checking.columns import close_to
from humeval_power.checking.rehearsed import NOTICE
from humeval_power.errors import InputError, Problem
from humeval_power.parameters import PARAMETER_NAMES, Parameters
from humeval_power.saying.document import Document, Facts, Paragraph, Section, Table
from humeval_power.saying.numbers import interval_words
from humeval_power.saying.result import PARAMETERS_SCHEMA, UNKNOWN, Provenance, Record, Result
from humeval_power.saying.values import words
from humeval_power.scales import RatingScale
from humeval_power.uncertainty import VarianceUncertainty

if TYPE_CHECKING:
    import pandas as pd

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
    """Read what `as_dict` writes. Raises InputError: every field that is missing or wrong."""
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
        or _text_of(exported, "summary")
        or f"{source or 'own ratings'}{f', {systems}' if systems else ''}",
        worth=_text_of(exported, "worth") or WORTH_OF_OWN.format(command=command),
        worker=_text_of(exported, "worker"),
        item=_text_of(exported, "item"),
        paper=paper or _text_of(exported, "paper"),
        data=data or _text_of(exported, "data") or source,
        licence=licence or _text_of(exported, "licence"),
        caveat=_text_of(exported, "caveat"),
        document={**kept, **made},
    )


def _text_of(exported: Mapping[str, Any], name: str) -> str:
    text = exported.get(name)
    return text if isinstance(text, str) else ""


def find_entry(name: str, entries: Sequence[LibraryEntry]) -> LibraryEntry:
    """The entry of a name. Raises InputError: there is none."""
    for entry in entries:
        if entry.name == name:
            return entry
    known = [entry.name for entry in entries]
    raise InputError(f"There is no entry {name!r}. {close_to(name, known)}")


def parameters_document(entry: LibraryEntry) -> Record:
    """What `power --parameters` reads, with the source of the figures under `library`. Raises InputError: an
    entry that nothing can be planned from."""
    if entry.document is None:
        raise InputError(f"{entry.name!r} cannot be planned from: {entry.worth}")
    about = {key: getattr(entry, key) for key in (*_TEXTS, "caveat")}
    return {**entry.document, "library": about}


def upper_worker_slope(entry: LibraryEntry, confidence: float) -> float | None:
    """Upper confidence limit of the SD of a worker's difference; None where the table says nothing."""
    from humeval_power.studies.power.assurance import safe_parameters

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
    *(
        "parameters",
        "standard_errors",
        "intervals",
        "uncertainty",
        "estimator",
        "engine",
        "effect",
        "criterion",
    ),
    *(
        "n_ratings",
        "n_workers",
        "n_items",
        "design",
        "ratings_per_item",
        "converged",
        "message",
        "boundary",
    ),
    *("not_identified", "identified_combinations", "scale", "systems", "criterion_name", "flow", "data"),
    *("versions", "command"),
)
LONGEST_NAME = 28  # what the list of a library has room for


def library_export(study: Mapping[str, Any], texts: Mapping[str, str], *, name: str) -> Record:
    """The parameters of a study that was fitted or analysed, for `power`, `plan` and `more parameters add`.

    texts : the authors' answers; 'title', 'paper', 'data_link' and 'licence' are used.
    Raises InputError: there is no fit of two systems, or it did not converge.
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


# The library of parameters and its entries: what they say, and the documents that are planned from.

_CONFIDENCE = 0.8
_LIMIT = f"{100 * _CONFIDENCE:.0f} % upper limit"
_ABOUT = (
    "worker, item: SD of a worker's and of an item's own difference between the systems; upper: "
    f"{_LIMIT} of the worker's, to plan from where there are few; noise: SD of a single rating; all on [0, 1]. "
    "'partly known': some SDs could not be told apart."
)


@dataclass(frozen=True, kw_only=True)
class LibraryResult(Result):
    """The entries of a library."""

    schema: ClassVar[str] = LIBRARY_SCHEMA

    entries: tuple[LibraryEntry, ...]
    provenance: Provenance = UNKNOWN

    def entry(self, name: str) -> EntryResult:
        """The entry of a name, with its source and what it is worth. Raises InputError: no entry of that
        name."""
        return EntryResult(entry=find_entry(name, self.entries))

    def body(self) -> Document:
        """The entries as a table."""
        header = ("entry", "worker", "upper", "item", "noise", "workers", "use")
        table = Table(header, tuple(map(_row, self.entries)))
        return Document(
            "Parameters of other studies",
            lead=f"{sum(each.use == 'plan' for each in self.entries)} of {len(self.entries)} entries can be "
            "planned from; take one whose study is like yours.",
            sections=(Section("", (table,)), Section("", (Paragraph(_ABOUT),))),
        )

    def content(self) -> Record:
        """The entries, whole."""
        return {"entries": [each.as_dict() for each in self.entries]}

    def to_frame(self) -> pd.DataFrame:
        """A row for each entry: its parameters on [0, 1], workers, use and licence."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "entry": each.name,
                    **({} if each.parameters is None else _values(each)),
                    "workers": (each.document or {}).get("n_workers"),
                    "use": each.use,
                    "licence": each.licence,
                }
                for each in self.entries
            ]
        )


@dataclass(frozen=True, kw_only=True)
class EntryResult(Result):
    """One entry; its record is the document of parameters, which names its source under `library`."""

    schema: ClassVar[str] = PARAMETERS_SCHEMA

    entry: LibraryEntry
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The figures, the source, and what they are worth."""
        entry = self.entry
        named = ("worker", "item", "paper", "data", "licence", "worth")
        facts = (
            *_study(entry.document or {}),
            *((name.capitalize(), str(getattr(entry, name))) for name in named),
            ("Note", entry.caveat),
        )
        figures = _figures(entry) if entry.plannable else _published(entry.published)
        return Document(
            entry.name,
            lead=entry.summary,
            sections=(figures, Section("", (Facts(tuple(fact for fact in facts if fact[1])),))),
        )

    def content(self) -> Record:
        """The document of parameters; how the fit itself came about stands under `library`. Raises
        InputError: an entry that nothing can be planned from."""
        document = parameters_document(self.entry)
        fitted = {name: document.pop(name) for name in ("command", "versions") if name in document}
        document.pop("schema")
        about = document["library"]
        assert isinstance(about, dict)
        return {**document, "library": {**about, **fitted}}

    def to_frame(self) -> pd.DataFrame:
        """One row: the parameters on [0, 1]."""
        import pandas as pd

        return pd.DataFrame([{} if self.entry.parameters is None else _values(self.entry)])


def _values(entry: LibraryEntry) -> dict[str, float]:
    """The parameters that the entry knows."""
    return {
        name: getattr(entry.parameters, name)
        for name in PARAMETER_NAMES
        if name not in entry.not_identified
    }


def _row(entry: LibraryEntry) -> tuple[str, ...]:
    parameters = entry.parameters
    figures = ["-"] * 4
    if parameters is not None:
        limit = upper_worker_slope(entry, _CONFIDENCE)
        worker, item, residual = (
            "?" if name in entry.not_identified else f"{getattr(parameters.recoded(), name):.3f}"
            for name in ("sd_worker_slope", "sd_item_slope", "sd_residual")
        )
        figures = [worker, "?" if limit is None else f"{limit:.3f}", item, residual]
    workers = (entry.document or {}).get("n_workers", "-")
    return (entry.name, *figures, f"{workers}", entry.use)


def _figures(entry: LibraryEntry) -> Section:
    document, parameters = entry.document or {}, entry.parameters
    assert parameters is not None
    intervals = document.get("intervals") or {}
    rows = tuple(
        (
            name,
            f"{getattr(parameters, name):.4f}",
            "not identified" if name in entry.not_identified else _interval(intervals.get(name)),
        )
        for name in PARAMETER_NAMES
    )
    a, b = parameters.coding
    facts = [("Coding", f"x = {a:g} for A, {b:g} for B")]
    limit = upper_worker_slope(entry, _CONFIDENCE)
    if limit is not None:
        facts.append((_LIMIT, f"{limit:.4f}, of sd_worker_slope"))
    if document.get("identified_combinations"):
        facts.append(("Known", "; ".join(document["identified_combinations"])))
    return Section("Parameters", (Table(("", "on [0, 1]", "95 % interval"), rows), Facts(tuple(facts))))


def _interval(interval: object) -> str:
    if not isinstance(interval, list | tuple) or None in interval:
        return "-"
    return interval_words(*interval)


def _study(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not document:
        return
    a, b = (document.get("systems") or ["A", "B"])[:2]
    parts = [f"{b} against {a}"]
    if document.get("criterion_name"):
        parts.append(f"criterion {document['criterion_name']!r}")
    scale = document.get("scale") or {}
    if scale:
        parts.append(f"scale {scale['low']:g} to {scale['high']:g}")
    parts += [
        f"{document[f'n_{noun}']:,} {noun}"
        for noun in ("ratings", "workers", "items")
        if document.get(f"n_{noun}") is not None
    ]
    if document.get("boundary"):
        parts.append(f"estimated as zero: {', '.join(document['boundary'])}")
    yield "Study", "; ".join(parts)


def _published(published: Mapping[str, Any]) -> Section:
    facts = []
    for label, values in published.items():
        shown = f"{values}"
        if isinstance(values, Mapping):
            shown = ", ".join(
                f"{name} {value:g}" if isinstance(value, float | int) else f"{name} {value}"
                for name, value in values.items()
            )
        facts.append((label, shown))
    return Section("As published", (Facts(tuple(facts)),))
