"""Qualtrics: surveys with a loop & merge block for each worker slot, as files that its import reads
(QSF)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from humeval_power.reporting.field.form import Content, RatingForm, Uploader
from humeval_power.reporting.field.uploads.mapping_text import (
    by_criterion,
    mapping_toml,
    question_names,
    readme,
)
from humeval_power.reporting.field.uploads.qualtrics_survey import Survey, fields_of
from humeval_power.safe_text import csv_text

_MOST_COLUMNS = (
    2_000  # of answers in one survey: a bound of ours, for an export that sheets and people can read
)
_PREVIEWS = ("Survey Preview", "Survey Test", "Offline Survey Preview", "1", "2", "17")


def qualtrics_files(form: RatingForm) -> Mapping[str, Content]:
    """The files of a study: one survey or more (survey-1.qsf, ...), slots.csv, loops.csv, mapping.toml and
    README.md.

    A survey holds as many slots as give at most 2,000 columns of answers, one at least.
    """
    groups = _groups(form)
    surveys = {f"survey-{number}.qsf": slots for number, slots in enumerate(groups, start=1)}
    return {
        **{name: Survey(form, name.removesuffix(".qsf"), slots).text() for name, slots in surveys.items()},
        "slots.csv": csv_text(
            ["survey", "slot", "outputs", "add to the link"],
            [
                [name, slot, str(len(form.of_slot(slot))), f"?slot={slot}"]
                for name, slots in surveys.items()
                for slot in slots
            ],
        ),
        "loops.csv": csv_text(
            ["survey", "slot", "loop", "code", "field 1", "field 2"], _loops(form, surveys)
        ),
        "mapping.toml": _mapping(form),
        "README.md": _readme(form, surveys),
    }


def _groups(form: RatingForm) -> list[list[str]]:
    """The slots of each survey, as even as can be."""
    n_columns = sum(len(form.of_slot(slot)) for slot in form.slots) * len(form.questions)
    n_surveys = min(-(-n_columns // _MOST_COLUMNS), len(form.slots))
    size = -(-len(form.slots) // n_surveys)
    return [list(form.slots[at : at + size]) for at in range(0, len(form.slots), size)]


def _loops(form: RatingForm, surveys: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    for name, slots in surveys.items():
        for slot in slots:
            for one in form.of_slot(slot):
                yield [name, slot, str(one.order), one.code, *fields_of(one)]


def _mapping(form: RatingForm) -> str:
    after = "_1" if form.is_slider else ""  # the only bar of a slider
    labelled = [(one, point) for one in form.questions for point in one.labels]
    return mapping_toml(
        "qualtrics",
        by_criterion(form, [f"{{slot}}_{name}{after}" for name in question_names(form)]),
        {
            "worker": "PROLIFIC_PID",
            "time_s": "Duration (in seconds)",
            "status": "Status",
            "timestamp": "RecordedDate",
        },
        split={"slot": "{order}_{slot}"},
        slots={f"{one.order}_{one.slot}": {"code": one.code} for one in form.shown},
        words={} if form.is_slider else {one.choice(point): point for one, point in labelled},
        drop_rows={"Status": _PREVIEWS},
    )


def _readme(form: RatingForm, surveys: Mapping[str, Sequence[str]]) -> str:
    several = len(surveys) > 1
    files = "each of survey-1.qsf, survey-2.qsf, ..." if several else "survey-1.qsf"
    return readme(
        "Qualtrics",
        (
            f"Make a new survey from a file (QSF) of {files}.",
            "Preview it: the text of an output stands in the box, and its questions below it. Then delete "
            "the preview's answers, or leave them: `import` leaves previews out.",
            "Where a recruiting platform wants people back, set the end of the survey to redirect to its "
            "address with the completion code.",
            "Publish. Give each worker the survey's link with the slot behind it, as slots.csv says it: "
            f"`{_LINK}?slot={form.slots[0]}`; from Prolific `{_LINK}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}`, "
            "then the survey draws the slot.",
            "When all is done, export the data as CSV, with numeric values.",
        ),
        exports="survey-1.csv survey-2.csv ..." if several else "survey-1.csv",
        notes=_NOTES,
    )


_LINK = "https://.../jfe/form/SV_..."
_NOTES = (
    "Each slot is a block with loop & merge: a loop for each output, in the order of the assignment "
    "(field 1 is the text, field 2 what stands above it). So a worker sees one output after the other, "
    "and the answers come back in columns such as 3_w01_q1: loop 3 of slot w01. mapping.toml says which "
    "code that was.",
    f"A survey holds as many slots as give at most {_MOST_COLUMNS:,} columns of answers, so that its "
    "export can be read; this bound is ours. One mapping reads all of them.",
    "Without a slot in the link, a randomizer draws one, evenly over those who *begin*. People who leave "
    "use one up: where each slot must be filled once, give the links of slots.csv, or watch who is "
    "missing and hand out those.",
    "Workers are told apart by PROLIFIC_PID. Without Prolific add any id to the link under that name, or "
    'write worker = "ResponseId" in mapping.toml.',
    "For the seconds on each output, add a timing question named w01_time, ... to each block before you "
    'publish, and seconds = "{slot}_time_Page Submit" under [columns].',
    "The files were made after surveys that Qualtrics exported (blocks, static loops, branches on "
    "embedded data, the randomizer); the format is not documented, and they were not tried in an account. "
    "If one is refused, loops.csv has what each loop shows, to be pasted into loop & merge by hand.",
)
QUALTRICS = Uploader("qualtrics", "Qualtrics", qualtrics_files, sliders=True)
