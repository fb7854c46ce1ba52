"""What lies in the folder of a study: each file with what it is for, keys apart from what others may have.

What a worker will see first: the first task as the study has it now, before any form is written.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from humeval_power.choices import DEFAULT_INSTRUCTIONS, DEFAULT_TITLE, TITLES
from humeval_power.doors.page.requests import by_labels, study_labels
from humeval_power.doors.page.workspace.stages import REPORTS, WHOLE, pseudonyms_secret, withdrawn_of
from humeval_power.doors.page.workspace.studies import (
    REPORTS_FOLDER,
    SEED,
    OpenedStudy,
    as_typed,
    criteria_of,
    paths_of,
    question_about,
    usual_question,
)
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.doors.page.workspace.reading import TextsRead


_README = "README.md"
_MOST = 20_000  # bytes of one that is shown
_TITLES = {str(name): title for name, title in TITLES.items()}
_PAGES = "Pages on a server of yours"  # as what is to be entered calls rating forms in HTML
_ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)  # of a table of what is to be entered


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file of a study, or a folder that is taken as a zip.

    path : from the folder of the study. words : what it is for.
    is_secret : whether it tells who a worker is, or which system is which. steps : what to do with it.
    enters : what is to be entered where, where a table of it says so.
    """

    path: str
    words: str
    is_secret: bool = False
    steps: str = ""
    is_folder: bool = False
    enters: tuple[tuple[str, str], ...] = ()


def in_plain_words(markdown: str) -> str:
    """Instructions without marks of Markdown, and without what is for a terminal."""
    text = re.sub(r"\s+In a terminal: `[^`]*`[^.]*\.| \(`--[^`]*`\)", "", markdown)
    text = re.sub(r"`|\*\*|^#+ +", "", text, flags=re.MULTILINE)
    return by_labels(text, study_labels())


def written_at(stage: str, study: OpenedStudy) -> tuple[WrittenFile, ...]:
    """The files that are there at a stage, those that are handed out first."""
    found = _STAGES[stage](study) if stage in _STAGES else ()
    return tuple(one for one in found if is_within(study, one.path))


def written_by_path(study: OpenedStudy, path: str) -> WrittenFile | None:
    """The file of a study that is listed at one of its stages by this path; None where none is."""
    return next((one for stage in _STAGES for one in written_at(stage, study) if one.path == path), None)


def is_within(study: OpenedStudy, path: str) -> bool:
    """Whether a file, or a folder, is there and lies within the study."""
    place = study.folder / path
    return place.exists() and place.resolve().is_relative_to(study.folder.resolve())


def _named(study: OpenedStudy, field: str) -> str:
    """The one path of a field; "" where it names none."""
    return next(iter(paths_of(study.file.values.get(field, ()))), "")


def _plan(study: OpenedStudy) -> Iterator[WrittenFile]:
    plan = _named(study, "plan") or "plan"
    yield WrittenFile(f"{plan}/index.html", "The plan as one page: to read, to print, to send along.")
    yield WrittenFile(f"{plan}/plan.json", "The sealed plan itself: what a registry or a reviewer checks.")


def _collected(study: OpenedStudy) -> Iterator[WrittenFile]:
    platforms = paths_of(study.file.values.get("upload", ()))
    others = {_PAGES if name == "html" else _TITLES.get(name, name) for name in platforms}
    tables = paths_of(study.file.values.get("assignment", ()))
    folders = dict.fromkeys(posixpath.dirname(path) for path in reversed(tables))  # the last stage first
    for folder, name in ((f"{stage}/{name}", name) for stage in folders for name in platforms):
        title = _TITLES.get(name, name)
        entered = tuple(_entered(_text(study, f"{folder}/{name}.md"), others))
        yield WrittenFile(
            folder,
            f"{title}: {'what to enter there' if entered else 'what the platform, or each worker, gets'}.",
            steps=in_plain_words(_text(study, f"{folder}/{_README}")),
            is_folder=True,
            enters=entered,
        )
    for path in tables:
        yield WrittenFile(path, "Who rates what and when, by codes that name no system.")
    ratings = _named(study, "ratings")
    if ratings:
        yield WrittenFile(ratings, "The ratings that were taken in, one a row; workers have made-up names.")
    key = _named(study, "key")
    if key:
        yield WrittenFile(key, "The key: which item and which system each code is.", is_secret=True)
    yield WrittenFile(SEED, "The seed of the order, from which the key can be worked out.", is_secret=True)
    if ratings:
        words = "The secret by which workers got their made-up names."
        yield WrittenFile(pseudonyms_secret(study), words, is_secret=True)
    for path in withdrawn_of(study):
        yield WrittenFile(path, "Who withdrew: they are kept out of the ratings.", is_secret=True)


def _text(study: OpenedStudy, path: str) -> str:
    """What is written in a file of the study; "" where there is none."""
    if not is_within(study, path):
        return ""
    return (study.folder / path).read_bytes()[:_MOST].decode(errors="replace")


def _entered(text: str, places: Collection[str]) -> Iterator[tuple[str, str]]:
    """What is to be entered at a platform, by its fields, with the addresses of the places where the forms are."""
    are_addresses = False
    for field, value in _ROW.findall(text):
        if value in ("Enter", "URL", "see below"):  # headers, and what points to the rows after it
            are_addresses |= value == "URL"
        elif not are_addresses or field in places:
            yield (
                "URL of the study" if are_addresses else field,
                value.replace("`____`", "\u2026").replace("`", ""),
            )


def _decided(study: OpenedStudy) -> Iterator[WrittenFile]:
    findings = _named(study, "findings") or "analysis"
    yield WrittenFile(f"{findings}/index.html", "The analysis as one page, with its pictures.")
    yield WrittenFile(f"{findings}/table.csv", "Its numbers as a table, for a spreadsheet.")


def _reported(_study: OpenedStudy) -> Iterator[WrittenFile]:
    for key, words in REPORTS.items():
        name = "index" if key == WHOLE else key
        yield WrittenFile(f"{REPORTS_FOLDER}/{name}.html", f"{words}, as it was written last.")
    yield WrittenFile(f"{REPORTS_FOLDER}/heds.json", "The datasheet, as the web form of HEDS reads it.")
    yield WrittenFile(f"{REPORTS_FOLDER}/paper.tex", "The paragraphs and tables, to input into a paper.")


_STAGES: Mapping[str, Callable[[OpenedStudy], Iterator[WrittenFile]]] = {
    "plan": _plan,
    "collect": _collected,
    "decide": _decided,
    "report": _reported,
}


_LONGEST = 20_000  # bytes of instructions that are shown
_FEWEST_LABELLED = 2  # points that need words for a rater to know which end is good


@dataclass(frozen=True, slots=True)
class Preview:
    """The first task of a worker.

    points : of the scale, with their words; of a slider its ends.
    usual : what nobody has said and stands there as usual, each with the field that says it otherwise.
    """

    title: str
    instructions: str
    above: str
    text: str
    questions: tuple[str, ...]
    points: tuple[str, ...]
    is_slider: bool
    usual: tuple[tuple[str, str], ...]


def preview_of(study: OpenedStudy, texts: TextsRead) -> Preview | None:
    """The first task that the forms of a study would show; None where its scale is none that workers can choose
    from, which the forms say themselves."""
    from humeval_power.errors import InputError
    from humeval_power.scales import RatingScale
    from humeval_power.studies.field.form import needs_slider

    values = study.file.values
    try:
        scale = RatingScale.parse(str(values["scale"]))
    except (KeyError, InputError):
        return None
    low, high = round(scale.low), round(scale.high)
    is_slider = needs_slider(scale)
    labels: Mapping[int, str] = FIELDS["labels"].kind.read(values["labels"]) if study.has("labels") else {}
    criteria, instructions = criteria_of(study), _instructions(study)
    unworded = [one for one in criteria if not question_about(study, one)]
    usual = [
        ("title", "the title") if not study.has("title") else None,
        ("instructions", "the instructions") if not instructions else None,
        ("ask-0", "the question" if len(criteria) == 1 else f"the questions about {', '.join(unworded)}")
        if unworded
        else None,
        ("labels", "no words for the points of the scale") if len(labels) < _FEWEST_LABELLED else None,
    ]
    return Preview(
        title=str(values.get("title") or DEFAULT_TITLE),
        instructions=instructions or DEFAULT_INSTRUCTIONS,
        above=texts.first[0],
        text=texts.first[1],
        questions=tuple(question_about(study, one) or usual_question(one) for one in criteria),
        points=tuple(
            f"{point} {labels.get(point, '')}".strip()
            for point in ((low, high) if is_slider else range(low, high + 1))
        ),
        is_slider=is_slider,
        usual=tuple(one for one in usual if one is not None),
    )


def _instructions(study: OpenedStudy) -> str:
    """What somebody wrote; "" where nobody did, or not in the folder of the study."""
    path = as_typed(study.file.values.get("instructions"))
    if not path or not is_within(study, path) or not (study.folder / path).is_file():
        return ""
    with (study.folder / path).open("rb") as file:
        return file.read(_LONGEST).decode(errors="replace").strip()
