"""The last file of a study: all that a reader needs in one zip, with an index; keys, texts and ratings stay out."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from humeval_power.doors.page.serving.chosen_folder import Folder
from humeval_power.doors.page.views import rendered
from humeval_power.doors.page.workspace.stages import FORMS_FOLDER, has_newer_ratings, looks_taken, summary
from humeval_power.doors.page.workspace.studies import (
    MAPPING,
    MOST_FILES,
    REPORTS_FOLDER,
    SECRET_ENDING,
    OpenedStudy,
    Studies,
    beside,
    paths_of,
)
from humeval_power.files.private_files import private_kind
from humeval_power.saying import render
from humeval_power.saying.numbers import counted
from humeval_power.study import FILE_NAME

INDEX = "index.html"
_STYLE = Path(str(render.__file__)).with_name("templates") / "page.css"
_UNSEEN = re.compile(r"(?s)<(style|script|svg)\b.*?</\1>|<[^>]*>")  # what of a page nobody reads
_FORMS = re.compile(rf"{FORMS_FOLDER}(-\d+)?")  # no folder in which somebody keeps other files
_PAGE = re.compile(r"\.(html|json|csv|md|toml|txt|tex)$")


@dataclass(frozen=True, slots=True)
class ZipPart:
    """A part of the bundle: `files` are paths in the folder of the study, pages to begin with first."""

    title: str
    words: str
    files: tuple[str, ...]

    @property
    def first(self) -> str:
        """The page to begin with; "" where there is none."""
        return next((path for path in self.files if path.endswith(INDEX)), "")


@dataclass(frozen=True, slots=True)
class StudyZip:
    """What goes into the zip of a study.

    missing : what a reader would look for and is not there yet, each with what to do.
    kept : what stays with whoever runs the study, and why.
    named : the kind of personal id that the analysis names, for which it is left out; "" where it names none.
    """

    parts: tuple[ZipPart, ...]
    missing: tuple[str, ...]
    kept: tuple[str, ...]
    named: str

    @property
    def titles(self) -> tuple[str, ...]:
        """What the parts are, with their sizes."""
        return tuple(
            f"{one.title[0].lower()}{one.title[1:]} ({counted(len(one.files), 'file')})"
            for one in self.parts
        )

    def contents(self, study: OpenedStudy) -> dict[str, bytes]:
        """The files by their names, with the page that says what each is."""
        files = {path: _content(study, path) for one in self.parts for path in one.files}
        digests = [(path, hashlib.sha256(content).hexdigest()) for path, content in _ratings(study)]
        index = rendered(
            "bundle.html",
            style=Markup(_STYLE.read_text("utf-8")),
            title=study.title,
            question=study.file.values.get("question", ""),
            summary=summary(study),
            bundle=self,
            digests=[] if self.named else digests,
        )
        return {INDEX: index.encode(), **files}


def bundle_of(studies: Studies, study: OpenedStudy) -> StudyZip:
    """What of a study can be given away: nothing that tells who a worker is, or which system is which.
    Raises InputError: a path that leads outside the chosen folder, or a folder of too many files."""
    studies.files_of(study)  # all that it names lies within the chosen folder
    folder, values = studies.folder, study.file.values
    plans = tuple(paths_of(values.get("plan", ())))
    findings = tuple(paths_of(values.get("findings", ())))
    tables = tuple(paths_of(values.get("assignment", ())))
    stages = tuple(one for one in map(posixpath.dirname, tables) if _FORMS.fullmatch(one))
    private = {
        path
        for field in ("key", "ratings", "exports", "outputs", "pilot", "rehearsal", "answers")
        for path in paths_of(values.get(field, ()))
    }
    analysis = tuple(_there(folder, study, findings, private))
    named = _personal(study, analysis)
    parts = (
        ZipPart("The study", "Its question, systems, scale and sizes, as commands read it.", (FILE_NAME,)),
        ZipPart(
            "The plan",
            "As it was sealed before the ratings.",
            tuple(_there(folder, study, plans, private)),
        ),
        ZipPart(
            "Who rated what, and the rating forms",
            "By codes that name no system: what each worker saw.",
            tuple(_there(folder, study, (*tables, *stages, MAPPING), private)),
        ),
        ZipPart(
            "The analysis",
            "As a page, as numbers (record.json) and as a table. Workers are named as in the table of ratings.",
            () if named else analysis,
        ),
        ZipPart(
            "What is reported",
            "Checklists, datasheets and paragraphs, as they were written last.",
            tuple(_there(folder, study, (REPORTS_FOLDER,), private)),
        ),
    )
    return StudyZip(
        tuple(one for one in parts if one.files),
        tuple(_missing(study, parts, named)),
        tuple(_kept(study)),
        named,
    )


def _there(folder: Folder, study: OpenedStudy, paths: tuple[str, ...], private: set[str]) -> Iterator[str]:
    """The files of these paths and below them, without secrets, each once; pages to begin with first."""
    start = len(study.name) + 1 if study.name else 0
    files: set[str] = set()
    for path in paths:
        named = beside(study.name, path)
        around = [named, *folder.below(named, MOST_FILES)]
        files |= {one[start:] for one in around if (study.name == "" or one.startswith(f"{study.name}/"))}
    yield from sorted(
        (
            one
            for one in files
            if folder.is_file(beside(study.name, one))
            and one not in private
            and folder.resolve(beside(study.name, one)).is_relative_to(study.folder.resolve())
            and not one.endswith(SECRET_ENDING)
            and private_kind(_content(study, one)) is None
        ),
        key=lambda one: (not one.endswith(INDEX), one),
    )


def _content(study: OpenedStudy, path: str) -> bytes:
    """What stands in a file, with the names of exports as they are given away."""
    content = (study.folder / path).read_bytes()
    for name, given in _given_names(study).items():
        content = content.replace(name.encode(), given.encode())
    return content


def _given_names(study: OpenedStudy) -> Mapping[str, str]:
    """Other names for the exports that a person's id is part of the name of."""
    from humeval_power.studies.field.form import platform_of  # numpy, which the server can do without

    exports = enumerate(paths_of(study.file.values.get("exports", ())), start=1)
    return {
        name: f"export-{place}{Path(name).suffix}"
        for place, name in exports
        if platform_of(name) is not None
    }


def _personal(study: OpenedStudy, analysis: tuple[str, ...]) -> str:
    """The kind of personal id that can be read in the files of an analysis; "" where there is none."""
    from humeval_power.studies.field.form import platform_of  # numpy, which the server can do without

    for path in analysis:
        if _PAGE.search(path):
            text = _content(study, path).decode(errors="replace")
            kind = platform_of(_UNSEEN.sub(" ", text) if path.endswith(".html") else text)
            if kind is not None:
                return kind
    return ""


def _missing(study: OpenedStudy, parts: tuple[ZipPart, ...], named: str) -> Iterator[str]:
    *_, analysis, reports = parts
    if named:
        yield (
            f"The analysis, as it names {named}: take the ratings in at Collect, where workers get made-up names, "
            "and analyse these."
        )
    elif not analysis.files:
        yield "An analysis: make it at Decide."
    elif has_newer_ratings(study):
        yield "An analysis of the ratings as they are now: this one is of those before. Analyse again at Decide."
    if not reports.files:
        yield "The paper text and checklists: write them at Report."


def _kept(study: OpenedStudy) -> Iterator[str]:
    reasons: Mapping[str, str] = {
        "key": "says which system each code is",
        "ratings": "has the ratings of people; its digest tells whether another is the same",
        "exports": "is what the platform gave back, with the names that it knows",
        "outputs": "has the texts by their systems",
        "answers": "has your own answers, with names and addresses",
    }
    for field, why in reasons.items():
        if study.is_there(field):
            paths = list(paths_of(study.file.values[field]))
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            yield f"{_given_names(study).get(paths[0], paths[0])}{more}: {why}"
    if looks_taken(study):
        yield "The ledger of looks and its secret: what the looks found stands in the analysis"
    if study.seed:
        yield "The seed of the order, from which the key can be worked out"


def _ratings(study: OpenedStudy) -> Iterator[tuple[str, bytes]]:
    if study.is_there("ratings"):
        for path in paths_of(study.file.values["ratings"]):
            yield path, (study.folder / path).read_bytes()
